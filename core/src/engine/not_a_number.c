/* When a mover meets an energy, a force or a probability that is not a number, or an energy of minus
 * infinity, it only says where, as far as it knows (plugmc_host.not_a_number). Who it was is found here,
 * for all movers: each sampled potential is asked by itself for the positions as they are, pair by pair
 * where pairs have energies; in double precision, and if all is well there, in single. */
#include "engine/not_a_number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "engine/sync.h"
#include "engine/columns.h"
#include "system/molecule_kinds.h"
#include "system/system.h"

enum facet { PAIR, FIELD, TOTAL, ORBITALS };

/* What was found. */
typedef struct culprit {
    const plugmc_term *term; /* NULL: nothing */
    enum facet facet;
    int force;    /* not the energy but its derivatives */
    int single;   /* only in single precision */
    double value; /* NaN or infinite */
    int32_t walker;
    int64_t i,
        j; /* particles; -1 where there is none. Energy of a whole configuration: who moved */
    double at[3], distance;
} culprit;

/* What is looked for, in one walker. */
typedef struct search {
    engine *engine;
    const double *positions; /* [particles][3], host */
    const plugmc_box *box;
    int32_t walker;
    int64_t only;  /* -1, or the particle that it must be */
    int infinite;  /* energies of plus infinity are looked for as well */
    culprit found; /* of the smallest i */
} search;

static int wrong(const search *s, double value)
{
    return !(value > -INFINITY) || (s->infinite && isinf(value));
}

static int needs_forces(const engine *engine)
{
    uint32_t needs = 0;
    for (int k = 0; k < engine->mover_count; k++) needs |= engine->movers[k].mover->needs;
    return (needs & PLUGMC_NEEDS_FORCES) != 0;
}

/* Keeps the one with the smallest number; called from several threads. */
static void note(search *s, culprit c)
{
    c.walker = s->walker;
#pragma omp critical(plugmc_not_a_number)
    if (!s->found.term || c.i < s->found.i || (c.i == s->found.i && c.j < s->found.j)) s->found = c;
}

/* ---- Pairs ------------------------------------------------------------------------------------- */

/* A pair term in one of its precisions. */
typedef struct pair_term {
    const plugmc_term *term;
    const plugmc_pair *pair;
    const void *instance;
    int single;
} pair_term;

/* 0, 1: wrong energy, 2: wrong derivatives of `probe` with the others. */
static int pair_is_wrong(const search *s, const pair_term *t, const plugmc_particle *probe,
                         const plugmc_particles *others, double *value)
{
    const plugmc_box *box = s->box;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    plugmc_derivatives derivatives = {0};
    *value = 0;
    if (others->n < 1) return 0;
    /* the energy of particles that overlap means nothing; they are told apart one by one */
    if (t->pair->energy(t->instance, box, periodic, probe, others, value))
        return others->n > 1 ? 1 : 0;
    if (wrong(s, *value)) return 1;
    if (!needs_forces(s->engine) || !t->pair->derivatives || t->single) return 0;
    t->pair->derivatives(t->instance, box, periodic, 0, probe, others, &derivatives);
    for (int d = 0; d < 3; d++)
        if (isnan(derivatives.gradient[d])) return 2;
    return 0;
}

static double distance_between(const plugmc_box *box, const double a[3], const double b[3])
{
    double u[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]}, r[3] = {u[0], u[1], u[2]};
    if (box->domain == PLUGMC_DOMAIN_PERIODIC)
        for (int d = 0; d < 3; d++) {
            double turns = 0;
            for (int e = 0; e < 3; e++) turns += u[e] * box->inverse[e][d];
            for (int e = 0; e < 3; e++) r[e] -= rint(turns) * box->vector[d][e];
        }
    return sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
}

/* Particle k of the columns with numbers first ... end - 1 of them. */
static void look_at_pairs(search *s, const pair_term *t, const columns *c, int64_t k, int64_t first,
                          int64_t end)
{
    const plugmc_particle probe = column_particle(c, k);
    plugmc_particles others = column_slice(c, first, end);
    double value;
    if (!pair_is_wrong(s, t, &probe, &others, &value)) return;
    for (int64_t m = first; m < end; m++) {
        if (in_same_molecule(&s->engine->system, c->number[k], c->number[m])) continue;
        others = column_slice(c, m, m + 1);
        const int how = pair_is_wrong(s, t, &probe, &others, &value);
        if (!how) continue;
        const int64_t i = c->number[k], j = c->number[m];
        culprit found = {.term = t->term,
                         .facet = PAIR,
                         .force = how == 2,
                         .single = t->single,
                         .value = how == 1 ? value : NAN,
                         .i = i < j ? i : j,
                         .j = i < j ? j : i};
        found.distance = distance_between(s->box, s->positions + 3 * i, s->positions + 3 * j);
        note(s, found);
        return;
    }
}

/* A cell whose particles are the first `own` of those in and around it. */
static void look_at_cell(search *s, const pair_term *t, const columns *c, int64_t own)
{
    for (int64_t k = 0; k < own; k++) {
        if (s->only >= 0 && c->number[k] != s->only) continue;
        if (s->only >= 0) look_at_pairs(s, t, c, k, 0, k);
        look_at_pairs(s, t, c, k, k + 1, c->n);
    }
}

/* How far apart pairs are looked at: as far as there is an energy, unless there are too many. */
static double look_range(const search *s, const pair_term *t)
{
    const plugmc_system *system = &s->engine->system;
    const double most = 1e10, spacing = pow(s->box->volume / (double)system->particles,
                                            1.0 / system->box.dimension);
    const double range = t->pair->range(t->instance);
    if (isfinite(range) || s->only >= 0) return range;
    return (double)system->particles * (double)system->particles > most ? 3 * spacing : range;
}

static int look_at_term(search *s, const pair_term *t)
{
    plugmc_system one = s->engine->system;
    plugmc_cells cells = {0};
    one.walkers = 1;
    one.box = *s->box;
    if (one.particles < FEW_FOR_THREADS) one.threads = 1;
    crash_calling_potential(t->term->label, "range");
    double range = look_range(s, t);
    if (!(range > 0)) return 0;
    crash_calling_its(needs_forces(s->engine) ? "energy or derivatives" : "energy");
    if (!isfinite(range)) range = 4 * (one.box.length[0] + one.box.length[1] + one.box.length[2]);
    if (host_cells_build(&one, &one.box, s->positions, range, &cells)) return EXIT_MEMORY;
    const cell_grid grid = cell_grid_make(&one.box, 1, one.particles, range);
    int short_of_memory = 0;
#pragma omp parallel num_threads(one.threads > 0 ? one.threads : 1) reduction(| : short_of_memory)
    {
        columns c;
        short_of_memory |= !columns_take(&c, one.particles, t->single);
#pragma omp for schedule(dynamic, 16)
        for (int64_t cell = 0; cell < cells.cells; cell++) {
            if (short_of_memory || cells.start[cell] == cells.start[cell + 1]) continue;
            const int64_t own = columns_gather(&c, &one, &cells, &grid, cell);
            look_at_cell(s, t, &c, own);
        }
        columns_free(&c);
    }
    host_cells_free(&cells);
    return short_of_memory ? EXIT_MEMORY : 0;
}

static int look_at_all_pairs(search *s, int single)
{
    const plugmc_system *system = &s->engine->system;
    int code = 0;
    for (int k = 0; k < system->term_count && !s->found.term && !code; k++) {
        const plugmc_term *term = plugmc_term_at(system, k);
        const plugmc_plugin *plugin = single ? term->plugin_single : term->plugin;
        const plugmc_pair *pair = plugin ? plugin->potential->pair : NULL;
        if (!term->sampled || !pair || !(pair->functions & PLUGMC_PAIR_ENERGY)) continue;
        const pair_term t = {term, pair, single ? term->instance_single : term->instance, single};
        code = look_at_term(s, &t);
    }
    return code;
}

/* ---- Fields ------------------------------------------------------------------------------------ */

static void look_at_field(search *s, const plugmc_term *term, int64_t i, int32_t species)
{
    const plugmc_species *kind = plugmc_species_at(&s->engine->system, species);
    const plugmc_field *field = term->plugin->potential->field;
    double r[3] = {s->positions[3 * i], s->positions[3 * i + 1], s->positions[3 * i + 2]};
    double energy = 0;
    plugmc_wrap(s->box, r);
    const plugmc_particle one = {r[0], r[1], r[2], kind->charge, kind->diameter, species};
    const plugmc_particles others = {1,           &one.x,        &one.y,      &one.z,
                                     &one.charge, &one.diameter, &one.species};
    plugmc_derivatives derivatives = {0};
    crash_calling_its("energy");
    if (field->energy(term->instance, &others, &energy)) return; /* it may not be there */
    int force = 0;
    if (!wrong(s, energy) && needs_forces(s->engine) && field->derivatives) {
        crash_calling_its("derivatives");
        field->derivatives(term->instance, &one, &derivatives);
        for (int d = 0; d < 3; d++) force |= isnan(derivatives.gradient[d]) != 0;
    }
    if (!wrong(s, energy) && !force) return;
    culprit found = {.term = term,
                     .facet = FIELD,
                     .force = force,
                     .value = force ? NAN : energy,
                     .i = i,
                     .j = -1};
    memcpy(found.at, r, sizeof r);
    note(s, found);
}

static void look_at_all_fields(search *s)
{
    const plugmc_system *system = &s->engine->system;
    for (int k = 0; k < system->term_count && !s->found.term; k++) {
        const plugmc_term *term = plugmc_term_at(system, k);
        if (!term->sampled || !term->plugin->potential->field) continue;
        crash_calling_potential(term->label, "energy");
        for (int32_t a = 0; a < system->species_count; a++)
            for (int64_t i = system->first[a]; i < system->first[a + 1]; i++)
                if (s->only < 0 || s->only == i) look_at_field(s, term, i, a);
    }
}

/* ---- Whole configurations ---------------------------------------------------------------------- */

/* positions [walkers][particles][3], host; numbers [walkers] of energy and, if the mover needs
 * them, [walkers][particles][3] of forces behind them. */
static int total_of(engine *engine, const plugmc_term *term, const double *positions,
                    double *numbers)
{
    const plugmc_system *system = &engine->system;
    const plugmc_total *total = term->plugin->potential->total;
    const size_t places = 3 * (size_t)system->walkers * (size_t)system->particles,
                 bytes = ((size_t)system->walkers + places) * sizeof(double),
                 room = bytes + places * sizeof(double); /* the positions behind what it gives */
    const plugmc_host *host = &engine_asking(engine)->host;
    const plugmc_gpu *gpu = total->on_device ? host->gpu : NULL;
    plugmc_device_pointer there = 0;
    plugmc_view view = {.size = sizeof view};
    int code = PLUGMC_OK;
    if (gpu) {
        code = gpu->allocate(host->context, room, &there);
        if (!code) code = gpu->upload(host->context, there + bytes, positions, room - bytes);
        positions = (const double *)(uintptr_t)(there + bytes);
    }
    double *out = gpu ? (double *)(uintptr_t)there : numbers;
    if (!code) code = host->view(host->context, positions, gpu != NULL, &view);
    const plugmc_total_request request = {.size = sizeof request,
                                          .view = &view,
                                          .energy = out,
                                          .forces =
                                              needs_forces(engine) ? out + system->walkers : NULL};
    if (!code) code = total->energy(term->instance, &request);
    if (gpu && !code) code = gpu->download(host->context, numbers, there, bytes);
    if (gpu && there) gpu->release(host->context, there);
    return code;
}

/* Of all walkers; `positions` as above. Totals that fail have said so. */
static int look_at_totals(search *s, const double *positions)
{
    const plugmc_system *system = &s->engine->system;
    const size_t walkers = (size_t)system->walkers,
                 count = walkers + 3 * walkers * (size_t)system->particles;
    for (int k = 0; k < system->term_count && !s->found.term && s->engine->mover_count; k++) {
        const plugmc_term *term = plugmc_term_at(system, k);
        if (!term->sampled || !term->plugin->potential->total) continue;
        crash_calling_potential(term->label, "energy");
        double *numbers = calloc(count, sizeof *numbers);
        if (!numbers) return EXIT_MEMORY;
        const int failed = total_of(s->engine, term, positions, numbers);
        for (size_t m = 0; m < count && !failed && !s->found.term; m++) {
            const size_t n = (m + walkers) % count; /* forces first, which tell the particle */
            const int force = n >= walkers;
            if (force ? !isnan(numbers[n]) : !wrong(s, numbers[n])) continue;
            const int64_t i = force ? (int64_t)(n - walkers) / 3 : -1;
            s->found = (culprit){.term = term,
                                 .facet = TOTAL,
                                 .force = force,
                                 .value = numbers[n],
                                 .j = -1,
                                 .walker = (int32_t)(force ? i / system->particles : (int64_t)n),
                                 .i = force ? i % system->particles : -1};
        }
        free(numbers);
        if (failed) return failed;
    }
    return 0;
}

/* ---- Orbitals ---------------------------------------------------------------------------------- */

/* At the places of the electrons of one species. */
static int look_at_orbitals_of(search *s, const plugmc_term *term, int32_t species)
{
    const plugmc_system *system = &s->engine->system;
    const plugmc_orbitals *orbitals = plugmc_orbitals_of(term->plugin);
    const int64_t n = plugmc_species_at(system, species)->count, first = system->first[species];
    crash_calling_its("count");
    const int64_t count = orbitals->count(term->instance, species);
    crash_calling_its("complex_valued");
    const int64_t each = count * (orbitals->complex_valued(term->instance) ? 2 : 1);
    if (n < 1 || count < 1) return 0;
    double *values = calloc((size_t)(n * each), sizeof *values);
    if (!values) return EXIT_MEMORY;
    const plugmc_orbital_request request = {.size = sizeof request,
                                            .species = species,
                                            .real_size = sizeof(double),
                                            .points = n,
                                            .positions = s->positions + 3 * first,
                                            .pitch = count,
                                            .values = values};
    crash_calling_its("evaluate");
    const int code = orbitals->evaluate(term->instance, &request);
    for (int64_t k = 0; k < n * each && !code; k++) {
        const int64_t i = first + k / each;
        if (isfinite(values[k]) || (s->only >= 0 && s->only != i)) continue;
        culprit found = {.term = term, .facet = ORBITALS, .value = values[k], .i = i, .j = -1};
        memcpy(found.at, s->positions + 3 * i, sizeof found.at);
        note(s, found);
        break;
    }
    free(values);
    return code;
}

static int look_at_orbitals(search *s)
{
    const plugmc_system *system = &s->engine->system;
    int code = 0;
    for (int k = 0; k < system->term_count && !s->found.term; k++) {
        const plugmc_term *term = plugmc_term_at(system, k);
        if (!term->sampled || !plugmc_orbitals_of(term->plugin)) continue;
        crash_calling_potential(term->label, "count");
        for (int32_t a = 0; a < system->species_count && !code; a++)
            code = look_at_orbitals_of(s, term, a);
    }
    return code;
}

/* ---- All together ------------------------------------------------------------------------------ */

/* Pairs, fields and orbitals of one walker. */
static int look_at_walker(search *s)
{
    int code = look_at_all_pairs(s, 0);
    if (!code && !s->found.term) look_at_all_fields(s);
    if (!code && !s->found.term) code = look_at_orbitals(s);
    if (!code && !s->found.term && !s->infinite) code = look_at_all_pairs(s, 1);
    return code;
}

/* Pairs, fields and orbitals of one walker that has not all the particles there is room for: they are
 * looked at as a system of their own. counts [species]. */
static int look_at_present(search *s, const int64_t *counts)
{
    engine *engine = s->engine;
    const plugmc_system *system = &engine->system;
    const int32_t species = system->species_count;
    int64_t first[species + 1], number = s->only;
    struct engine packed = *engine;
    double *places = malloc(3 * sizeof *places * (size_t)system->particles);
    if (!places) return EXIT_MEMORY;
    first[0] = 0;
    for (int32_t k = 0; k < species; k++) {
        const int64_t begin = system->first[k];
        first[k + 1] = first[k] + counts[k];
        memcpy(places + 3 * first[k], s->positions + 3 * begin,
               3 * sizeof *places * (size_t)counts[k]);
        if (s->only >= begin && s->only < begin + counts[k]) number = first[k] + s->only - begin;
    }
    packed.system.first = first;
    packed.system.particles = first[species];
    search own = *s;
    own.engine = &packed;
    own.only = number;
    own.positions = places;
    const int code = look_at_walker(&own);
    s->found = own.found;
    free(places);
    return code;
}

/* Whether a walker is as the one before it, as all are that begin on a lattice. NaN is compared by its bits. */
static bool is_as_before(const plugmc_system *system, const double *positions,
                         const plugmc_box *boxes, const int64_t *counts, int32_t w)
{
    const size_t places = 3 * (size_t)system->particles, species = (size_t)system->species_count;
    const double *own = positions + (size_t)w * places;
    const int64_t *there = counts + (size_t)w * species;
    return w > 0 && !memcmp(own, own - places, places * sizeof *own) &&
           !memcmp(boxes + w, boxes + w - 1, sizeof *boxes) &&
           !memcmp(there, there - species, species * sizeof *there);
}

/* positions [walkers][particles][3]. walker, particle: -1 if not known. */
static culprit look(engine *engine, const double *positions, int32_t walker, int64_t particle,
                    int infinite)
{
    const plugmc_system *system = &engine->system;
    const plugmc_state *state = &engine->current.state.face;
    const bool come_and_go = system->changes & PLUGMC_CHANGED_COUNT;
    search s = {.engine = engine, .only = particle, .infinite = infinite};
    const plugmc_box *boxes = NULL;
    void *counts = NULL;
    int code = sync_boxes(engine, &boxes);
    if (!code)
        code = state->array(state, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST, PLUGMC_READ, &counts, NULL);
    for (int32_t w = 0; w < system->walkers && !s.found.term && !code; w++) {
        if (walker >= 0 && w != walker) continue;
        if (walker < 0 && is_as_before(system, positions, boxes, counts, w)) continue;
        s.walker = w;
        s.positions = positions + 3 * w * system->particles;
        s.box = boxes + w;
        code = come_and_go ? look_at_present(&s, (int64_t *)counts + w * system->species_count)
                           : look_at_walker(&s);
    }
    if (!code && !s.found.term) look_at_totals(&s, positions);
    return s.found;
}

/* ---- What is said ------------------------------------------------------------------------------ */

/* The instance behind a term. */
static const instance *owner_of(const engine *engine, const plugmc_term *term)
{
    for (int i = 0; i < engine->instance_count; i++)
        if (engine->instances[i].data == term->instance) return &engine->instances[i];
    return engine->instances;
}

/* "the energy of particles 3 and 8 of walker 0, 0.93 apart, is not a number" */
static void describe(const engine *engine, const culprit *c, char *out, size_t room)
{
    const char *what = c->facet == ORBITALS ? "an orbital" : c->force ? "the force" : "the energy";
    const char *how = isnan(c->value) ? "not a number"
                      : c->value > 0  ? "infinite"
                                      : "minus infinity";
    const char *precision = c->single ? " in single precision" : "";
    if (c->facet == PAIR)
        snprintf(out, room, "%s of particles %lld and %lld of walker %d, %.6g apart, is %s%s", what,
                 (long long)c->i, (long long)c->j, c->walker, c->distance, how, precision);
    else if (c->facet == TOTAL && c->i < 0)
        snprintf(out, room, "%s of walker %d is %s", what, c->walker, how);
    else if (c->facet == TOTAL && !c->force)
        snprintf(out, room, "%s of walker %d, with particle %lld moved to %.6g %.6g %.6g, is %s",
                 what, c->walker, (long long)c->i, c->at[0], c->at[1], c->at[2], how);
    else if (c->facet == TOTAL)
        snprintf(out, room, "%s on particle %lld of walker %d is %s", what, (long long)c->i,
                 c->walker, how);
    else
        snprintf(out, room,
                 "%s of particle %lld of walker %d, of species '%s' at %.6g %.6g %.6g, is %s", what,
                 (long long)c->i, c->walker,
                 plugmc_species_at(&engine->system, species_of(&engine->system, c->i))->name,
                 c->at[0], c->at[1], c->at[2], how);
}

int check_initial_energy(engine *engine, const double *positions)
{
    return check_energy(engine, positions, "the initial state");
}

int check_energy(engine *engine, const double *positions, const char *where)
{
    const int before = engine->report->code;
    const culprit c = look(engine, positions, -1, -1, 1);
    char what[400];
    crash_called();
    /* A term that failed has said why. */
    if (!c.term) return engine->report->code == before ? 0 : engine->report->code;
    const plugmc_context *owner = &owner_of(engine, c.term)->context;
    describe(engine, &c, what, sizeof what);
    return report_error(engine->report, isinf(c.value) ? EXIT_INPUT : EXIT_INTERNAL, owner->file,
                        owner->line, "[%s] %s in %s", owner->section, what, where);
}

/* Particle `i` of a walker alone, in the place where it is. */
static culprit look_at_one(engine *engine, const double *positions, int32_t walker, int64_t i)
{
    culprit c = look(engine, positions, walker, i, 0);
    if (c.facet != TOTAL || c.i >= 0) return c;
    c.i = i;
    memcpy(c.at, positions + 3 * (walker * engine->system.particles + i), sizeof c.at);
    return c;
}

/* The particle at the place that it tried, then where it is, then everyone. */
static culprit find(engine *engine, const plugmc_not_a_number *where)
{
    culprit c = {0};
    int code = sync_store(engine);
    double *positions =
        code ? NULL : state_positions(&engine->current.state, PLUGMC_ON_HOST, PLUGMC_READ, &code);
    if (code) return c;
    const int known = where->walker >= 0 && where->particle >= 0;
    double *own =
        known ? positions + 3 * (where->walker * engine->system.particles + where->particle) : NULL;
    if (known && where->trial) {
        double kept[3];
        memcpy(kept, own, sizeof kept);
        memcpy(own, where->trial, sizeof kept);
        c = look_at_one(engine, positions, where->walker, where->particle);
        memcpy(own, kept, sizeof kept);
    }
    if (known && !c.term) c = look_at_one(engine, positions, where->walker, where->particle);
    return c.term ? c : look(engine, positions, where->walker, -1, 0);
}

int host_not_a_number(plugmc_context *context, const plugmc_not_a_number *where)
{
    engine *engine = context->engine;
    char what[400], who[80] = "";
    context_failed(context);
    const crash_record outer = crash_calling(context->section, "store");
    const culprit c = engine ? find(engine, where) : (culprit){0};
    crash_called_within(outer);
    if (c.term) {
        const plugmc_context *owner = &owner_of(engine, c.term)->context;
        describe(engine, &c, what, sizeof what);
        report_error(context->report, EXIT_INTERNAL, owner->file, owner->line,
                     "[%s] %s: found by [%s] in sweep %llu", owner->section, what, context->section,
                     (unsigned long long)where->sweep);
        return PLUGMC_ERROR_STATE;
    }
    if (where->particle >= 0)
        snprintf(who, sizeof who, " of particle %lld of walker %d", (long long)where->particle,
                 where->walker);
    report_error(
        context->report, EXIT_INTERNAL, context->file, context->line,
        "[%s] the energy change of a trial move%s in sweep %llu is not a number, minus infinity, "
        "or a larger drop than the mover's sums can hold, although each potential is finite at the "
        "present positions: if particles overlap at the start, begin from another state",
        context->section, who, (unsigned long long)where->sweep);
    return PLUGMC_ERROR_STATE;
}
