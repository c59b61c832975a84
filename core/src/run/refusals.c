/* Where the answers of plugins are checked, and in whose name they are refused. */
#include "run/refusals.h"

#include "run/floors.h"

#include <stdio.h>

#include "base/crash.h"
#include "plugin/answers.h"
#include "plugin/hidden_inputs.h"
#include "plugin/probe.h"
#include "plugin/probe_vectors.h"

enum { WHY = 768 };

int refuse_answer(instance *instance, enum exit_code code, const char *why)
{
    plugmc_context *context = &instance->context;
    context_failed(context);
    return report_error(context->report, code, context->file, context->line, "[%s] %s",
                        context->section, why);
}

instance *instance_of_term(simulation *sim, const plugmc_term *term)
{
    for (int i = 0; i < sim->instance_count; i++)
        if (sim->instances[i].data == term->instance) return &sim->instances[i];
    return NULL; /* terms are made of instances */
}

int check_pairs(simulation *sim)
{
    int first_error = 0;
    for (int t = 0; t < sim->system.term_count; t++) {
        const plugmc_term *term = &sim->terms[t];
        char why[WHY];
        sentence room = {why, sizeof why};
        instance *owner = instance_of_term(sim, term);
        context_calling(&owner->context, "range"); /* and the others of the facet */
        const bool good = check_hidden_inputs(&sim->system, term, room) &&
                          check_distances(&sim->system, term, room) &&
                          probe_pair(&sim->system, term, room) &&
                          probe_vectors(&sim->system, term, room);
        crash_called();
        if (good) continue;
        int code = refuse_answer(owner, EXIT_PLUGIN, why);
        if (!first_error) first_error = code;
    }
    return first_error;
}

/* " where hs.coupling = -1", or nothing without a ladder. */
static const char *words_of_rung(const ladder *l, int32_t rung, char words[256])
{
    int used = 0;
    words[0] = 0;
    for (int d = 0; d < l->rank && used < 256; d++)
        used += snprintf(words + used, 256 - (size_t)used, "%s%s = %.9g", d ? " and " : " where ",
                         l->keys[d], l->values[rung * l->rank + d]);
    return words;
}

int check_floors(simulation *sim)
{
    bottomless_pair p;
    char where[256];
    if (!floors_find_none(&sim->system, &sim->ladder, &p)) return 0;
    const instance *owner = instance_of_term(sim, &sim->terms[p.term]);
    const plugmc_context *context = &owner->context;
    const ini_entry *coupling = ini_get(owner->section->section, "coupling");
    const bool turned = sim->ladder.multipliers[p.rung * sim->ladder.width + p.term] < 0;
    return report_error(
        sim->report, EXIT_INPUT, context->file, turned && coupling ? coupling->line : context->line,
        "[%s] the energy of '%s' and '%s' has no lower bound%s: it goes to %.3g kT at r = %.6g, and "
        "nothing keeps them apart%s",
        context->section, plugmc_species_at(&sim->system, p.a)->name,
        plugmc_species_at(&sim->system, p.b)->name, words_of_rung(&sim->ladder, p.rung, where),
        p.energy, p.at,
        turned ? ". A coupling below 0 turns repulsion into attraction: give one of at least 0, or "
                 "add a potential with a core, such as hard_sphere with diameters above 0"
               : ": add a potential with a core, such as hard_sphere with diameters above 0");
}

int check_prepared(simulation *sim, instance *instance)
{
    char why[WHY];
    sentence room = {why, sizeof why};
    bool good = true;
    context_calling(&instance->context, "count"); /* and others: answers.c says which */
    for (int t = 0; t < sim->system.term_count; t++)
        if (sim->terms[t].instance == instance->data)
            good = check_potential_answers(&sim->system, &sim->terms[t], room);
    if (instance->plugin->kind == PLUGMC_MOVER)
        good = check_mover_answers(instance->plugin, instance->data, room);
    crash_called();
    return good ? 0 : refuse_answer(instance, EXIT_PLUGIN, why);
}

int check_sample(simulation *sim, const measurement *m)
{
    int64_t wrong = first_not_finite(m->values, sim->system.walkers * m->width), at;
    char why[WHY];
    if (wrong < 0) return 0;
    at = wrong % m->width;
    int k = m->first_quantity;
    while (at >= sim->output.quantities[k].length) at -= sim->output.quantities[k++].length;
    snprintf(why, sizeof why, "'%s' is %g in walker %lld: such a value has no average",
             sim->output.quantities[k].name, m->values[wrong], (long long)(wrong / m->width));
    return refuse_answer(m->instance, EXIT_INTERNAL, why);
}
