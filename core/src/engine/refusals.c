/* Where the answers of plugins are checked, and in whose name they are refused. */
#include "engine/refusals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/crash.h"
#include "plugmc/species_pairs.h"
#include "engine/floors.h"
#include "plugin/answers.h"
#include "plugin/hidden_inputs.h"
#include "plugin/probe.h"
#include "plugin/probe_bodies.h"
#include "plugin/probe_vectors.h"
#include "system/geometry.h"
#include "system/system.h"

enum { WHY = 768 };

int refuse_answer(instance *instance, enum exit_code code, const char *why)
{
    plugmc_context *context = &instance->context;
    context_failed(context);
    return report_error(context->report, code, context->file, context->line, "[%s] %s",
                        context->section, why);
}

instance *instance_of_term(engine *engine, const plugmc_term *term)
{
    for (int i = 0; i < engine->instance_count; i++)
        if (engine->instances[i].data == term->instance) return &engine->instances[i];
    return NULL; /* terms are made of instances */
}

/* A body must not meet two images of another one. */
static bool bodies_fit(const engine *engine, const plugmc_term *term, sentence why)
{
    const plugmc_box *box = &engine->system.box;
    double shortest = INFINITY;
    if (!plugmc_body_of(term->plugin) || box->domain != PLUGMC_DOMAIN_PERIODIC) return true;
    for (int d = 0; d < box->dimension; d++) shortest = fmin(shortest, plugmc_height(box, d));
    const double reach = reach_of_term(&engine->system, term);
    return 2 * reach <= shortest ||
           why_not(
               why,
               "its bodies reach each other at a distance of %.9g, which must be at most %.9g, half "
               "of the smallest height of the box",
               reach, shortest / 2);
}

/* Beyond half of the box a particle would meet several images of another one, of which it is told the nearest. A potential
 * may mean that; one that has forgotten to look at the box does not. Slits are looked at in lib/session/walls.c. */
static void warn_of_images(const engine *engine, const instance *owner, const plugmc_term *term)
{
    const plugmc_pair *pair = term->plugin->potential->pair;
    const plugmc_box *box = &engine->system.box;
    if (!pair || box->domain != PLUGMC_DOMAIN_PERIODIC || box->closed[0] || box->closed[1] ||
        box->closed[2])
        return;
    const double range = pair->range(term->instance), half = plugmc_half_box(box);
    if (isfinite(range) && range > half * (1 + 1e-9))
        report_warning(
            engine->report, owner->context.file, owner->context.line,
            "[%s] its range, %.6g, is more than half of the box, %.6g: of all images of a particle the "
            "nearest one alone is counted",
            owner->context.section, range, half);
}

/* The box is made by the diameters of species, before potentials are there. */
int check_packing(engine *engine)
{
    const plugmc_system *system = &engine->system;
    const double wanted = engine->config.box.packing_fraction;
    double particles = 0, by_diameters = 0, volume = 0;
    if (!(wanted > 0) || !any_bodies(system)) return 0;
    for (int32_t s = 0; s < system->species_count; s++) {
        const plugmc_species *species = plugmc_species_at(system, s);
        particles += (double)species->count;
        by_diameters +=
            (double)species->count * ball_volume(system->box.dimension, species->diameter);
        volume += (double)species->count * particle_volume(system, s);
    }
    if (fabs(volume - by_diameters) <= 1e-6 * by_diameters) return 0;
    return report_error(engine->report, EXIT_INPUT, engine->config.ini.path,
                        config_line(&engine->config, "box", "packing_fraction"),
                        "[box] packing_fraction = %.9g is that of the species' diameters, but "
                        "bodies have shapes of their own: their packing fraction is %.9g at "
                        "density = %.9g",
                        wanted, wanted, wanted * particles / volume);
}

/* In a sphere, which holds the centres, bodies may be partly outside. */
int check_room(engine *engine)
{
    const plugmc_system *system = &engine->system;
    const plugmc_box *box = &system->box;
    double volume = 0;
    if (!any_bodies(system) || box->domain != PLUGMC_DOMAIN_PERIODIC) return 0;
    for (int32_t s = 0; s < system->species_count; s++)
        volume += (double)plugmc_species_at(system, s)->count * particle_volume(system, s);
    if (volume <= box->volume * (1 + 1e-9)) return 0;
    return report_error(engine->report, EXIT_INPUT, engine->config.ini.path,
                        config_line(&engine->config, "box", "density"),
                        "[box] the volumes of all particles together are %.6g times that of the "
                        "box; give particles without a body or a hard core diameter = 0",
                        volume / box->volume);
}

int check_pairs(engine *engine)
{
    int first_error = 0;
    for (int t = 0; t < engine->system.term_count; t++) {
        const plugmc_term *term = &engine->terms[t];
        char why[WHY];
        sentence room = {why, sizeof why};
        instance *owner = instance_of_term(engine, term);
        context_calling(&owner->context, "range"); /* and the others of the facet */
        const bool good = check_hidden_inputs(&engine->system, term, room) &&
                          check_distances(&engine->system, term, room) &&
                          probe_pair(&engine->system, term, room) &&
                          probe_vectors(&engine->system, term, room) &&
                          probe_bodies(&engine->system, term, room);
        const bool fits = !good || bodies_fit(engine, term, room);
        context_calling(&owner->context, "range");
        if (good && fits) warn_of_images(engine, owner, term);
        crash_called();
        if (good && fits) continue;
        int code = refuse_answer(owner, good ? EXIT_INPUT : EXIT_PLUGIN, why);
        if (!first_error) first_error = code;
    }
    return first_error;
}

int check_floors(engine *engine)
{
    bottomless_pair p;
    char where[LADDER_WHERE];
    const ladder *l = &engine->ladder;
    if (!floors_find_none(&engine->system, l, &p)) return 0;
    const instance *owner = instance_of_term(engine, &engine->terms[p.term]);
    const plugmc_context *context = &owner->context;
    const ini_entry *coupling = ini_get(owner->section->section, "coupling");
    const bool turned = l->multipliers[p.rung * l->width + p.term] < 0;
    return report_error(
        engine->report, EXIT_INPUT, context->file,
        turned && coupling ? coupling->line : context->line,
        "[%s] the energy of '%s' and '%s' has no lower bound%s: it falls to %.3g kT at r = "
        "%.6g, and no hard core keeps them apart%s",
        context->section, plugmc_species_at(&engine->system, p.a)->name,
        plugmc_species_at(&engine->system, p.b)->name,
        ladder_where(l->rank, l->keys, l->values + p.rung * l->rank, where), p.energy, p.at,
        turned ? ". A negative coupling turns repulsion into attraction: choose a coupling "
                 "of at least 0, or add a potential with a core, such as hard_sphere with "
                 "diameters above 0"
               : ": add a potential with a core, such as hard_sphere with diameters above 0");
}

struct answers *before_prepare(engine *engine, instance *instance)
{
    struct answers *before = NULL;
    context_calling(&instance->context, "energy");
    for (int t = 0; t < engine->system.term_count && !before; t++)
        if (engine->terms[t].instance == instance->data)
            before = answers_before_prepare(&engine->system, &engine->terms[t]);
    crash_called();
    return before;
}

int check_prepared(engine *engine, instance *instance, struct answers *before)
{
    char why[WHY];
    sentence room = {why, sizeof why};
    bool good = true;
    context_calling(&instance->context, "count"); /* and others: answers.c says which */
    for (int t = 0; t < engine->system.term_count && good; t++)
        if (engine->terms[t].instance == instance->data)
            good =
                check_potential_answers(&engine->system, &engine->terms[t], room) &&
                (!before || check_prepare_keeps(&engine->system, &engine->terms[t], before, room));
    if (instance->plugin->kind == PLUGMC_MOVER)
        good = check_mover_answers(instance->plugin, instance->data, room);
    crash_called();
    free(before);
    return good ? 0 : refuse_answer(instance, EXIT_PLUGIN, why);
}
