/* Where the answers of plugins are checked, and in whose name they are refused. */
#include "run/refusals.h"

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
