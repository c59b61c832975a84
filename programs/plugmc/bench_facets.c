/* `plugmc bench`, time = total and time = orbitals: how long a facet of a potential takes, without
 * a mover. Evaluations follow one another, and the clock stops when the last is done. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "base/crash.h"
#include "engine/sync.h"
#include "initial/initial.h"

/* A potential that is ready, alone in its run. */
static int open_potential(const benchmark *b, const bench_case *c, const subject *s,
                          bench_section *section, session *session, timing *t)
{
    const double begin = bench_now();
    int code = bench_configure(b, c, s, section, &session->engine.config);
    if (!code) code = session_open(session);
    if (!code) code = session_prepare(session);
    if (!code) code = initial_begin(&session->engine);
    t->prepare = bench_now() - begin;
    t->walkers = session->engine.system.walkers;
    return code;
}

/* Memory where a facet works: of the GPU if `on_device`. Both zeroed. */
static int take(instance *potential, bool on_device, size_t bytes, void **out)
{
    const plugmc_host *host = &potential->host;
    plugmc_device_pointer at = 0;
    int code = PLUGMC_OK;
    if (on_device) {
        code = host->gpu->allocate(host->context, bytes, &at);
        *out = (void *)(uintptr_t)at;
    } else if (!(*out = host->allocate(host->context, bytes))) {
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu bytes", bytes);
    }
    return context_exit_code(&potential->context, code, "allocating memory for results");
}

static int put(instance *potential, bool on_device, void *to, const void *from, size_t bytes)
{
    const plugmc_host *host = &potential->host;
    if (!on_device) {
        memcpy(to, from, bytes);
        return EXIT_DONE;
    }
    int code = host->gpu->upload(host->context, (plugmc_device_pointer)(uintptr_t)to, from, bytes);
    return context_exit_code(&potential->context, code, "copying positions");
}

/* Waits until an evaluation is done. */
static int finish(instance *potential, int code)
{
    const plugmc_host *host = &potential->host;
    if (!code && host->gpu) code = host->gpu->synchronize(host->context);
    return context_exit_code(&potential->context, code, "being evaluated");
}

static void note(const bench_clock *clock, timing *t)
{
    t->calls = clock->calls;
    t->repeat = clock->repeat;
    t->seconds = clock->seconds;
    t->spread = clock->spread;
}

/* Times calls of another kind than before, of which the first says how many there is time for. */
static int time_calls(const bench_section *section, bench_calls *call, void *what,
                      bench_clock *clock)
{
    const double begin = bench_now();
    int code = call(what, clock->next++, 1);
    return code ? code : bench_measure(section, bench_now() - begin, call, what, clock);
}

/* ---- Energy and forces of whole configurations ----------------------------------------------- */

typedef struct total_run {
    instance *potential;
    bool on_device;
    const double *positions; /* [walkers][particles][3] */
    double *energy, *forces; /* [walkers], [walkers][particles][3] */
    bool wants_energy, wants_forces;
} total_run;

/* Each call has a view of its own, as in a run, where the positions are others each time. */
static int evaluate_total(void *what, uint64_t first, uint64_t n)
{
    const total_run *r = what;
    const plugmc_host *host = &r->potential->host;
    const plugmc_total *total = r->potential->plugin->potential->total;
    int code = PLUGMC_OK;
    (void)first;
    context_calling(&r->potential->context, "energy");
    for (uint64_t i = 0; i < n && !code; i++) {
        plugmc_view view = {.size = sizeof view};
        code = host->view(host->context, r->positions, r->on_device, &view);
        const plugmc_total_request request = {.size = sizeof request,
                                              .view = &view,
                                              .energy = r->wants_energy ? r->energy : NULL,
                                              .forces = r->wants_forces ? r->forces : NULL};
        if (!code) code = total->energy(r->potential->data, &request);
    }
    return finish(r->potential, code);
}

static int prepare_total(session *session, total_run *r)
{
    const size_t walkers = (size_t)session->engine.system.walkers,
                 numbers = 3 * walkers * (size_t)session->engine.system.particles;
    void *positions, *energy = NULL, *forces = NULL;
    const double *initial;
    r->potential = &session->engine.instances[0];
    r->on_device = session->engine.device.gpu && r->potential->plugin->potential->total->on_device;
    int code = take(r->potential, r->on_device, numbers * sizeof(double), &positions);
    if (!code) code = take(r->potential, r->on_device, walkers * sizeof(double), &energy);
    if (!code) code = take(r->potential, r->on_device, numbers * sizeof(double), &forces);
    if (!code) code = sync_read(&session->engine, &initial);
    if (!code) code = put(r->potential, r->on_device, positions, initial, numbers * sizeof(double));
    r->positions = positions;
    r->energy = energy;
    r->forces = forces;
    return code;
}

/* The first evaluation; its energies must be numbers, or there would be nothing to time. */
static int first_total(session *session, total_run *r, timing *t)
{
    const plugmc_host *host = &r->potential->host;
    const size_t bytes = (size_t)session->engine.system.walkers * sizeof(double);
    double *energy = checked(malloc(bytes));
    r->wants_energy = r->wants_forces = true;
    const double begin = bench_now();
    int code = evaluate_total(r, 0, 1);
    t->first = bench_now() - begin;
    if (!code && r->on_device)
        code = finish(r->potential,
                      host->gpu->download(host->context, energy,
                                          (plugmc_device_pointer)(uintptr_t)r->energy, bytes));
    else if (!code)
        memcpy(energy, r->energy, bytes);
    for (int32_t w = 0; w < session->engine.system.walkers && !code; w++)
        if (!isfinite(energy[w]))
            code = report_error(session->engine.report, EXIT_INPUT, r->potential->context.file,
                                r->potential->context.line,
                                "[%s] the energy of the initial state is %g",
                                r->potential->section->section->name, energy[w]);
    free(energy);
    return code;
}

int bench_time_total(const benchmark *b, const bench_case *c, subject *s, timing *t)
{
    session session = {.engine.report = b->report};
    bench_section section;
    bench_clock clock = {.next = 1};
    total_run r = {0};
    int code = open_potential(b, c, s, &section, &session, t);
    if (!code) code = prepare_total(&session, &r);
    if (!code) code = first_total(&session, &r, t);
    t->particles = (long long)session.engine.system.particles;
    t->on_gpu = r.on_device;
    if (!code) code = bench_measure(&section, t->first, evaluate_total, &r, &clock);
    note(&clock, t);
    if (!code)
        code = bench_profile(&section, session.engine.device.gpu, evaluate_total, &r, &clock, t);
    r.wants_energy = false;
    if (!code) code = time_calls(&section, evaluate_total, &r, &clock);
    t->forces = clock.seconds;
    r.wants_energy = true;
    r.wants_forces = false;
    if (!code) code = time_calls(&section, evaluate_total, &r, &clock);
    t->energy = clock.seconds;
    session_close(&session);
    return code;
}

/* ---- Orbitals -------------------------------------------------------------------------------- */

enum { MOST_SPECIES = 255 };

/* Of a species; it is the same all the time. */
static int64_t count_orbitals(const instance *potential, int32_t species)
{
    context_calling(&potential->context, "count");
    const int64_t count = plugmc_orbitals_of(potential->plugin)->count(potential->data, species);
    crash_called();
    return count;
}

typedef struct orbital_run {
    instance *potential;
    bool on_device, one_by_one, with_derivatives;
    int32_t real_size, parts, walkers;
    int32_t species_count;
    int64_t points[MOST_SPECIES]; /* of a species, all walkers */
    double *at[MOST_SPECIES];     /* [points][3]: walker the faster index if one_by_one */
    char *values, *gradients, *laplacians;
} orbital_run;

/* Places first ... first + n - 1 of a species. */
static int request_orbitals(const orbital_run *r, int32_t species, int64_t first, int64_t n)
{
    const plugmc_orbitals *orbitals = plugmc_orbitals_of(r->potential->plugin);
    crash_calling_its("count");
    const int64_t pitch = orbitals->count(r->potential->data, species),
                  offset = first * pitch * r->parts * r->real_size;
    const plugmc_orbital_request request = {
        .size = sizeof request,
        .on_device = r->on_device,
        .species = species,
        .real_size = r->real_size,
        .points = n,
        .positions = r->at[species] + 3 * first,
        .pitch = pitch,
        .values = r->values + offset,
        .gradients = r->with_derivatives ? r->gradients + 3 * offset : NULL,
        .laplacians = r->with_derivatives ? r->laplacians + offset : NULL,
    };
    crash_calling_its("evaluate");
    return orbitals->evaluate(r->potential->data, &request);
}

static int evaluate_orbitals(void *what, uint64_t unused, uint64_t n)
{
    const orbital_run *r = what;
    int code = PLUGMC_OK;
    (void)unused;
    context_calling(&r->potential->context, "count");
    for (uint64_t i = 0; i < n; i++)
        for (int32_t s = 0; s < r->species_count; s++) {
            const int64_t step = r->one_by_one ? r->walkers : r->points[s];
            for (int64_t first = 0; first < r->points[s] && !code; first += step)
                code = request_orbitals(r, s, first, step);
        }
    return finish(r->potential, code);
}

/* A place in the cell, from the random numbers of the seed. */
static void random_place(const plugmc_system *system, int32_t walker, int64_t index, double r[3])
{
    const plugmc_random u =
        plugmc_draw(system->seed, 0, (uint32_t)walker, (uint32_t)index, PLUGMC_PURPOSE_INITIAL, 0);
    for (int e = 0; e < 3; e++) r[e] = 0;
    for (int d = 0; d < system->box.dimension; d++)
        for (int e = 0; e < 3; e++)
            r[e] += ((double)u.word[d] + 0.5) * 0x1p-32 * system->box.vector[d][e];
}

/* Where the orbitals of a species are wanted, in the order of the requests. */
static int fill_places(session *session, const orbital_run *r, const bench_section *section,
                       int32_t species, double *out)
{
    const plugmc_system *system = &session->engine.system;
    const int32_t walkers = system->walkers;
    const int64_t n = r->points[species] / walkers;
    const double *positions;
    int code = sync_read(&session->engine, &positions);
    if (code) return code;
    for (int32_t w = 0; w < walkers; w++)
        for (int64_t i = 0; i < n; i++) {
            double *to = out + 3 * (r->one_by_one ? i * walkers + w : w * n + i);
            const double *from =
                &positions[3 * (w * system->particles + system->first[species] + i)];
            if (section->places)
                random_place(system, w, i, to);
            else
                memcpy(to, from, 3 * sizeof *to);
        }
    return 0;
}

static int place_points(session *session, orbital_run *r, const bench_section *section,
                        int32_t species)
{
    const int64_t count = count_orbitals(r->potential, species);
    void *at;
    r->points[species] = 0;
    if (count < 1 || (section->places && species > 0)) return EXIT_DONE;
    const int64_t each = section->places
                             ? section->places
                             : plugmc_species_at(&session->engine.system, species)->count;
    r->points[species] = each * r->walkers;
    const size_t bytes = 3 * (size_t)r->points[species] * sizeof(double);
    double *places = checked(malloc(bytes));
    fill_places(session, r, section, species, places);
    int code = take(r->potential, r->on_device, bytes, &at);
    if (!code) code = put(r->potential, r->on_device, at, places, bytes);
    r->at[species] = at;
    free(places);
    return code;
}

/* Room for the results of one species after the other. */
static int take_results(orbital_run *r)
{
    void *values = NULL, *gradients = NULL, *laplacians = NULL;
    int64_t most = 0;
    for (int32_t s = 0; s < r->species_count; s++) {
        const int64_t numbers = r->points[s] * count_orbitals(r->potential, s) * r->parts;
        if (numbers > most) most = numbers;
    }
    const size_t bytes = (size_t)most * (size_t)r->real_size;
    int code = take(r->potential, r->on_device, bytes, &values);
    if (!code) code = take(r->potential, r->on_device, 3 * bytes, &gradients);
    if (!code) code = take(r->potential, r->on_device, bytes, &laplacians);
    r->values = values;
    r->gradients = gradients;
    r->laplacians = laplacians;
    return code;
}

static int prepare_orbitals(const benchmark *b, session *session, const bench_section *section,
                            const subject *s, orbital_run *r)
{
    r->potential = &session->engine.instances[0];
    const plugmc_orbitals *orbitals = plugmc_orbitals_of(r->potential->plugin);
    if (section->places && session->engine.system.box.domain != PLUGMC_DOMAIN_PERIODIC)
        return report_error(session->engine.report, EXIT_INPUT, session->engine.config.ini.path, 0,
                            "[%s] places = %lld: random positions need a periodic box", b->name,
                            (long long)section->places);
    r->on_device = session->engine.device.gpu && orbitals->on_device;
    r->one_by_one = s->one_by_one;
    r->real_size = r->on_device || s->single ? sizeof(float) : sizeof(double);
    context_calling(&r->potential->context, "complex_valued");
    r->parts = orbitals->complex_valued(r->potential->data) ? 2 : 1;
    crash_called();
    r->walkers = session->engine.system.walkers;
    r->species_count = session->engine.system.species_count;
    int code = EXIT_DONE;
    for (int32_t k = 0; k < r->species_count && !code; k++)
        code = place_points(session, r, section, k);
    return code ? code : take_results(r);
}

int bench_time_orbitals(const benchmark *b, const bench_case *c, subject *s, timing *t)
{
    session session = {.engine.report = b->report};
    bench_section section;
    bench_clock clock = {.next = 1};
    static orbital_run r;
    r = (orbital_run){0};
    int code = open_potential(b, c, s, &section, &session, t);
    if (!code) code = prepare_orbitals(b, &session, &section, s, &r);
    t->on_gpu = r.on_device;
    for (int32_t k = 0; k < r.species_count && !code; k++)
        t->particles += (long long)(r.points[k] / r.walkers);
    if (!code) t->orbitals = (long long)count_orbitals(r.potential, 0);
    const double begin = bench_now();
    if (!code) code = evaluate_orbitals(&r, 0, 1);
    t->first = bench_now() - begin;
    if (!code) code = bench_measure(&section, t->first, evaluate_orbitals, &r, &clock);
    note(&clock, t);
    if (!code)
        code = bench_profile(&section, session.engine.device.gpu, evaluate_orbitals, &r, &clock, t);
    r.with_derivatives = true;
    if (!code) code = time_calls(&section, evaluate_orbitals, &r, &clock);
    t->derivatives = clock.seconds;
    session_close(&session);
    return code;
}
