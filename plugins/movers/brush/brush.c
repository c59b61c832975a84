/* brush: sequential Metropolis sweeps of particles that all interact, exact for every N.
 *
 * The algorithm of Y. Liang, X. Xing, Y. Li, J. Comput. Phys. 338, 252 (2017): one sweep offers a
 * trial move to every particle, in the order of their numbers, and each decision knows the outcome
 * of all before it. Nearly all of the N^2 pair terms of a sweep do not depend on decisions that are
 * still open, and are summed in parallel; the few that do are precomputed for both outcomes (the
 * paper evaluates them one after the other), so that a decision costs an addition, a comparison and
 * a broadcast. Trial moves and random numbers are those of movers/serial in sequential order
 * (trial.h), and so are the decisions, up to rounding.
 *
 * precision = single sums pairs in float, over short runs of particles that are then added in fixed
 * point or double; places are multiples of a quantum that float holds exactly, so that separations
 * are exact. precision = double takes decisions as movers/serial does, and keeps the running energy
 * to 1e-12; in single it drifts by some 1e-7 in 10^4 sweeps and is replaced by a fresh sum in double
 * every `refresh` sweeps, when it is asked for.
 *
 * GPU: brush.cu says how. CPU: particles are taken in groups; threads share the sums of a group's
 * particles with all others, then one thread decides.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/plugin.h>

#include "trial.h"

PLUGMC_EMBED(state_text, BRUSH_STATE_FILE);
PLUGMC_EMBED(trial_text, BRUSH_TRIAL_FILE);
PLUGMC_EMBED(propose_text, BRUSH_PROPOSE_FILE);
PLUGMC_EMBED(sweep_text, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(energy_text, BRUSH_ENERGY_FILE);

enum { SINGLE, DOUBLE };

/* Geometry of the kernels, see brush.cu. */
enum { PANEL = 128, TEAMS = 8, CHUNK = 16, BLOCK = PANEL * TEAMS, TILE = BLOCK, ROW = 32 };
enum { LONGEST_INTERVAL = 4096, RECORDED = 16 };

static const double unit = 4294967296.0; /* fixed-point units of a kT */

/* A pair or field term that is sampled. */
typedef struct term {
    const plugmc_term *of;
    const plugmc_pair *pair;   /* of the precision chosen; NULL without */
    const plugmc_field *field; /* double precision; NULL without */
    const void *instance;      /* of pair */
} term;

/* Particles of a walker on the CPU: real is float or double. */
typedef struct arrays {
    void *x, *y, *z;       /* real[particles] */
    void *nx, *ny, *nz;    /* real[particles]: trial moves of the group */
    void *charge, *diameter;
    int32_t *species;
} arrays;

/* A group of particles on its way to being decided. [group] and [group][group]: of i and j. */
typedef struct group {
    double *change, *threshold;
    void *rejected, *accepted; /* real: what j's outcome changes for i */
    void *term;                /* real[threads][group]: of one term */
} group;

/* Mirrors brush_state of brush.cu. */
typedef struct device_state {
    plugmc_device_pointer place, moved, trial, sum, hit, done, decided, ticket, role, failed,
        accepted, energy, sweep, step;
    int32_t particles, padded, panels, walkers, interval, intervals, blocks, species;
    plugmc_device_pointer first;
} device_state;

typedef struct brush {
    int32_t precision;
    real step, target_acceptance;
    int64_t group_size, refresh;

    const plugmc_system *system;
    brush_domain domain;
    term *terms;
    int term_count;
    size_t real_size;
    plugmc_counts counts;
    double *energy;       /* [walkers]: running, kT; on a GPU without what the device has added */
    int32_t energy_known;
    uint64_t sweeps_since; /* the energy was summed afresh */
    double drift;          /* largest relative difference found when it was */

    arrays *walkers; /* [walkers], on the CPU */
    group *groups;   /* [threads] if walkers are shared among threads, else [1] */

    device_state d;
    plugmc_device_pointer d_positions, d_rows;
    plugmc_kernel *k_propose, *k_sweep, *k_store, *k_energy;
    plugmc_graph *graph;
    char *texts[3]; /* propose, sweep, energy */
    char defines[8][48];
    const char *define_list[9];
    uint64_t device_trials;
} brush;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        int try_code = (call);                                                                     \
        if (try_code) return try_code;                                                             \
    } while (0)

static int sweep_on_device(brush *, const plugmc_host *, uint64_t first, uint64_t n);
static int sweep_on_host(brush *, const plugmc_host *, uint64_t first, uint64_t n);

static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    brush *me = instance;
    me->sweeps_since += n;
    me->counts.trials += n * (uint64_t)(me->system->particles * me->system->walkers);
    return host->gpu ? sweep_on_device(me, host, first, n) : sweep_on_host(me, host, first, n);
}

/* ---- Arrays of float or double ---------------------------------------------------------------- */

static double get(const brush *me, const void *array, int64_t i)
{
    return me->real_size == 4 ? ((const float *)array)[i] : ((const double *)array)[i];
}

static void set(const brush *me, void *array, int64_t i, double x)
{
    if (me->real_size == 4)
        ((float *)array)[i] = (float)x;
    else
        ((double *)array)[i] = x;
}

static const void *from(const brush *me, const void *array, int64_t i)
{
    return (const char *)array + (size_t)i * me->real_size;
}

static plugmc_particles old_places(const brush *me, const arrays *a, int64_t begin, int64_t end)
{
    return (plugmc_particles){end - begin,
                              from(me, a->x, begin),
                              from(me, a->y, begin),
                              from(me, a->z, begin),
                              from(me, a->charge, begin),
                              from(me, a->diameter, begin),
                              a->species + begin};
}

static plugmc_particles new_places(const brush *me, const arrays *a, int64_t begin, int64_t end)
{
    plugmc_particles p = old_places(me, a, begin, end);
    p.x = from(me, a->nx, begin);
    p.y = from(me, a->ny, begin);
    p.z = from(me, a->nz, begin);
    return p;
}

static plugmc_particle particle_at(const brush *me, const arrays *a, int64_t i)
{
    return (plugmc_particle){get(me, a->x, i),      get(me, a->y, i),        get(me, a->z, i),
                             get(me, a->charge, i), get(me, a->diameter, i), a->species[i]};
}

/* ---- Sweeps on the CPU -------------------------------------------------------------------------- */

static int sweep_group(const brush *, const arrays *, group *, int32_t w, uint64_t sweep,
                       int64_t begin, int64_t end, int threads, uint64_t *accepted, double *energy);

/* Threads share the walkers, or the particles of a group where there are fewer walkers. */
static int sweep_on_host(brush *me, const plugmc_host *host, uint64_t first, uint64_t n)
{
    const plugmc_system *system = me->system;
    const int threads = system->threads, shared = system->walkers >= threads;
    uint64_t accepted = 0;
    int failed = 0;
#pragma omp parallel for num_threads(threads) if (shared) reduction(+ : accepted, failed) schedule(static)
    for (int32_t w = 0; w < system->walkers; w++)
        for (uint64_t s = first; s < first + n; s++)
            for (int64_t begin = 0; begin < system->particles; begin += me->group_size) {
                int64_t end = begin + me->group_size;
                if (end > system->particles) end = system->particles;
                failed += sweep_group(me, &me->walkers[w],
                                      &me->groups[shared ? omp_get_thread_num() : 0], w, s, begin,
                                      end, shared ? 1 : threads, &accepted, &me->energy[w]);
            }
    me->counts.accepted += accepted;
    if (failed)
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "the energy change of a trial move is not a number or minus infinity: "
                          "do particles attract without a hard core?");
    return PLUGMC_OK;
}

static double fields_at(const brush *me, const plugmc_particle *p, int64_t *forbidden)
{
    double energy = 0;
    const plugmc_particles one = {1, &p->x, &p->y, &p->z, &p->charge, &p->diameter, &p->species};
    for (int t = 0; t < me->term_count; t++)
        if (me->terms[t].field)
            *forbidden += me->terms[t].field->energy(me->terms[t].of->instance, &one, &energy);
    return energy;
}

/* The trial move of particle i and the change of energy with all outside of the group, and with
 * those of the group for both outcomes. */
static void prepare_particle(const brush *me, const arrays *a, group *g, int64_t begin, int64_t end,
                             int64_t i, void *one_term)
{
    const plugmc_box *box = &me->system->box;
    const int periodic = me->domain.periodic;
    const int64_t k = i - begin, size = me->group_size;
    const plugmc_particle probe = particle_at(me, a, i);
    const double moved[3] = {get(me, a->nx, i), get(me, a->ny, i), get(me, a->nz, i)};
    plugmc_particle there = probe;
    int64_t overlaps = 0, unused = 0;
    there.x = moved[0], there.y = moved[1], there.z = moved[2];
    double change = 0;
    if (isinf(g->change[k])) return; /* outside of the domain */
    change = fields_at(me, &there, &overlaps) - fields_at(me, &probe, &unused);
    for (int64_t j = 0; j < end - begin; j++) {
        set(me, g->rejected, k * size + j, 0);
        set(me, g->accepted, k * size + j, 0);
    }
    for (int t = 0; t < me->term_count && !overlaps; t++) {
        const plugmc_pair *pair = me->terms[t].pair;
        const void *instance = me->terms[t].instance;
        if (!pair) continue;
        const plugmc_particles before = old_places(me, a, 0, begin),
                               after = old_places(me, a, end, me->system->particles),
                               old = old_places(me, a, begin, end), new = new_places(me, a, begin, i);
        overlaps += pair->change(instance, box, periodic, &probe, moved, &before, &change);
        overlaps += pair->change(instance, box, periodic, &probe, moved, &after, &change);
        pair->changes(instance, box, periodic, &probe, moved, &old, one_term);
        for (int64_t j = 0; j < end - begin; j++)
            if (j != k)
                set(me, g->rejected, k * size + j,
                    get(me, g->rejected, k * size + j) + get(me, one_term, j));
        pair->changes(instance, box, periodic, &probe, moved, &new, one_term);
        for (int64_t j = 0; j < k; j++)
            set(me, g->accepted, k * size + j,
                get(me, g->accepted, k * size + j) + get(me, one_term, j));
    }
    for (int64_t j = k + 1; j < end - begin; j++) change += get(me, g->rejected, k * size + j);
    g->change[k] = overlaps ? INFINITY : change;
}

static void propose(const brush *me, const arrays *a, group *g, int32_t w, uint64_t sweep,
                    int64_t begin, int64_t i)
{
    double to[3] = {get(me, a->x, i), get(me, a->y, i), get(me, a->z, i)};
    const uint64_t seed = me->system->seed;
    int inside = brush_displace(&me->domain, seed, sweep, (uint32_t)w, (uint32_t)i, me->step, to);
    set(me, a->nx, i, to[0]);
    set(me, a->ny, i, to[1]);
    set(me, a->nz, i, to[2]);
    g->change[i - begin] = inside ? 0 : INFINITY;
    g->threshold[i - begin] = brush_threshold(seed, sweep, (uint32_t)w, (uint32_t)i);
}

static int decide(const brush *me, const arrays *a, group *g, int64_t begin, int64_t end,
                  uint64_t *accepted, double *energy)
{
    const int64_t size = me->group_size;
    int failed = 0;
    char taken[4096];
    for (int64_t k = 0; k < end - begin; k++) {
        double change = g->change[k];
        for (int64_t j = 0; j < k && change < INFINITY; j++)
            change += get(me, taken[j] ? g->accepted : g->rejected, k * size + j);
        failed |= isnan(change) || change == -INFINITY;
        taken[k] = change < g->threshold[k];
        if (!taken[k]) continue;
        set(me, a->x, begin + k, get(me, a->nx, begin + k));
        set(me, a->y, begin + k, get(me, a->ny, begin + k));
        set(me, a->z, begin + k, get(me, a->nz, begin + k));
        *accepted += 1;
        *energy += change;
    }
    return failed;
}

static int sweep_group(const brush *me, const arrays *a, group *g, int32_t w, uint64_t sweep,
                       int64_t begin, int64_t end, int threads, uint64_t *accepted, double *energy)
{
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        void *one_term = (char *)g->term + (size_t)(omp_get_thread_num() * me->group_size) * me->real_size;
#pragma omp for schedule(static)
        for (int64_t i = begin; i < end; i++) propose(me, a, g, w, sweep, begin, i);
#pragma omp for schedule(dynamic, 4)
        for (int64_t i = begin; i < end; i++)
            prepare_particle(me, a, g, begin, end, i, one_term);
    }
    return decide(me, a, g, begin, end, accepted, energy);
}

/* ---- Sweeps on the GPU ---------------------------------------------------------------------------- */

static uint32_t shared_bytes(const brush *me)
{
    const size_t place = 4 * me->real_size, ring = 4 * PANEL;
    const size_t desk =
        ring * (2 * place + 16 + 2 * 8 + 4) + 3 * ROW * (ROW + 1) * 2 * me->real_size + 64;
    return (uint32_t)(TILE * place > desk ? TILE * place : desk);
}

static int launch_sweep(brush *me, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    unsigned long long seed = me->system->seed;
    const uint32_t walkers = (uint32_t)me->system->walkers;
    const uint32_t proposers[3] = {(uint32_t)(me->system->particles + 255) / 256, walkers, 1};
    const uint32_t sweepers[3] = {(uint32_t)me->d.blocks * walkers, 1, 1};
    const uint32_t threads[3] = {256, 1, 1}, block[3] = {BLOCK, 1, 1};
    void *propose_arguments[] = {&me->d, &me->domain, &seed}, *sweep_arguments[] = {&me->d};
    TRY(gpu->launch(host->context, me->k_propose, proposers, threads, 0, propose_arguments));
    return gpu->launch(host->context, me->k_sweep, sweepers, block, shared_bytes(me), sweep_arguments);
}

static int sweep_on_device(brush *me, const plugmc_host *host, uint64_t first, uint64_t n)
{
    const plugmc_gpu *gpu = host->gpu;
    TRY(gpu->upload(host->context, me->d.sweep, &first, sizeof first));
    if (!me->graph && n >= RECORDED) {
        TRY(gpu->graph_begin(host->context));
        int code = PLUGMC_OK;
        for (int i = 0; i < RECORDED && !code; i++) code = launch_sweep(me, host);
        int ended = gpu->graph_end(host->context, &me->graph);
        TRY(code ? code : ended);
    }
    for (; n >= RECORDED; n -= RECORDED) TRY(gpu->graph_launch(host->context, me->graph));
    for (; n > 0; n--) TRY(launch_sweep(me, host));
    return PLUGMC_OK;
}

/* What the device has added up since it was last asked. */
static int take_sums(brush *me, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    const int32_t walkers = me->system->walkers;
    uint64_t accepted = 0;
    uint32_t failed = 0;
    if (!gpu) return PLUGMC_OK;
    int64_t *energy = malloc((size_t)walkers * sizeof *energy);
    if (!energy) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for energies");
    int code = gpu->download(host->context, &accepted, me->d.accepted, sizeof accepted);
    if (!code) code = gpu->download(host->context, &failed, me->d.failed, sizeof failed);
    if (!code) code = gpu->download(host->context, energy, me->d.energy, (size_t)walkers * sizeof *energy);
    if (!code) code = gpu->fill(host->context, me->d.accepted, 0, sizeof accepted);
    if (!code) code = gpu->fill(host->context, me->d.energy, 0, (size_t)walkers * sizeof *energy);
    for (int32_t w = 0; w < walkers && !code; w++) me->energy[w] += (double)energy[w] / unit;
    me->counts.accepted += accepted;
    free(energy);
    if (!code && failed)
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "the energy change of a trial move is not a number or minus infinity: "
                          "do particles attract without a hard core?");
    return code;
}

/* ---- Energy ------------------------------------------------------------------------------------------ */

static double fields_of_all(const brush *me, const double *positions)
{
    const plugmc_system *system = me->system;
    double energy = 0;
    int64_t unused = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            plugmc_particle p = {positions[3 * i], positions[3 * i + 1], positions[3 * i + 2],
                                 system->species[s].charge, system->species[s].diameter, s};
            energy += fields_at(me, &p, &unused);
        }
    return energy;
}

/* Sum over pairs in double, row by row, in order. rows [particles] is scratch. */
static double pairs_of_all(const brush *me, const double *positions, double *rows, double *soa,
                           int32_t *species)
{
    const plugmc_system *system = me->system;
    const int64_t n = system->particles;
    double sum = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            for (int d = 0; d < 3; d++) soa[d * n + i] = positions[3 * i + d];
            soa[3 * n + i] = system->species[s].charge;
            soa[4 * n + i] = system->species[s].diameter;
            species[i] = s;
        }
#pragma omp parallel for num_threads(system->threads) schedule(dynamic, 16)
    for (int64_t i = 0; i < n; i++) {
        const plugmc_particle probe = {soa[i],         soa[n + i],     soa[2 * n + i],
                                       soa[3 * n + i], soa[4 * n + i], species[i]};
        const int64_t j = i + 1;
        const plugmc_particles others = {n - j,           soa + j,         soa + n + j, soa + 2 * n + j,
                                         soa + 3 * n + j, soa + 4 * n + j, species + j};
        rows[i] = 0;
        for (int t = 0; t < me->term_count; t++) {
            const plugmc_term *of = me->terms[t].of;
            if (!me->terms[t].pair || !(me->terms[t].pair->functions & PLUGMC_PAIR_ENERGY)) continue;
            of->plugin->potential->pair->energy(of->instance, &system->box, me->domain.periodic, &probe,
                                                &others, &rows[i]);
        }
    }
    for (int64_t i = 0; i < n; i++) sum += rows[i];
    return sum;
}

static int store(void *instance, const plugmc_host *host, double *positions);

/* The energy of every walker as it is, in double precision. */
static int fresh_energy(brush *me, const plugmc_host *host, double *energy)
{
    const plugmc_system *system = me->system;
    const size_t n = (size_t)system->particles, walkers = (size_t)system->walkers;
    double *positions = malloc(3 * n * walkers * sizeof *positions), *rows = malloc(n * walkers * sizeof *rows);
    double *soa = malloc(5 * n * sizeof *soa);
    int32_t *species = malloc(n * sizeof *species);
    int code = positions && rows && soa && species
                   ? PLUGMC_OK
                   : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the energy of %zu particles", n);
    if (host->gpu && !code) {
        const uint32_t block[3] = {128, 1, 1};
        const uint32_t grid[3] = {(uint32_t)((n + 127) / 128 + 1) / 2, (uint32_t)walkers, 1};
        void *arguments[] = {&me->d.place, &me->d.particles, &me->d.padded, &me->d_rows};
        code = host->gpu->launch(host->context, me->k_energy, grid, block, 0, arguments);
        if (!code) code = store(me, host, (double *)(uintptr_t)me->d_positions);
        if (!code) code = host->gpu->download(host->context, rows, me->d_rows, n * walkers * sizeof *rows);
        if (!code)
            code = host->gpu->download(host->context, positions, me->d_positions,
                                       3 * n * walkers * sizeof *positions);
    } else if (!code) {
        code = store(me, host, positions);
    }
    for (size_t w = 0; w < walkers && !code; w++) {
        energy[w] = fields_of_all(me, positions + 3 * n * w);
        if (host->gpu)
            for (size_t i = 0; i < n; i++) energy[w] += rows[w * n + i];
        else
            energy[w] += pairs_of_all(me, positions + 3 * n * w, rows, soa, species);
    }
    free(positions);
    free(rows);
    free(soa);
    free(species);
    return code;
}

static int refresh_energy(brush *me, const plugmc_host *host)
{
    const size_t walkers = (size_t)me->system->walkers;
    double *fresh = malloc(walkers * sizeof *fresh);
    int code = fresh ? fresh_energy(me, host, fresh)
                     : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for energies");
    for (size_t w = 0; w < walkers && !code; w++) {
        if (me->energy_known && fresh[w] != 0)
            me->drift = fmax(me->drift, fabs(me->energy[w] / fresh[w] - 1));
        me->energy[w] = fresh[w];
    }
    me->energy_known = 1;
    me->sweeps_since = 0;
    free(fresh);
    return code;
}

static int running_energy(void *instance, const plugmc_host *host, double *energy)
{
    brush *me = instance;
    TRY(take_sums(me, host));
    if (!me->energy_known || (me->refresh > 0 && me->sweeps_since >= (uint64_t)me->refresh))
        TRY(refresh_energy(me, host));
    memcpy(energy, me->energy, (size_t)me->system->walkers * sizeof *energy);
    return PLUGMC_OK;
}

/* ---- Positions in and out ------------------------------------------------------------------------------ */

static int part_touching(const brush *, const plugmc_host *, double *positions);

static int load_on_host(brush *me, const double *positions)
{
    const plugmc_system *system = me->system;
    const int64_t n = system->particles;
    for (int32_t w = 0; w < system->walkers; w++)
        for (int64_t i = 0; i < n; i++) {
            const double *r = &positions[3 * (w * n + i)];
            set(me, me->walkers[w].x, i, r[0]);
            set(me, me->walkers[w].y, i, r[1]);
            set(me, me->walkers[w].z, i, r[2]);
        }
    return PLUGMC_OK;
}

static int load_on_device(brush *me, const plugmc_host *host, const double *positions)
{
    const plugmc_system *system = me->system;
    const size_t padded = (size_t)me->d.padded, bytes = padded * (size_t)system->walkers * 4 * me->real_size;
    void *places = calloc(1, bytes);
    if (!places) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t s = 0; s < system->species_count; s++)
            for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
                const int64_t at = 4 * ((int64_t)padded * w + i);
                for (int d = 0; d < 3; d++)
                    set(me, places, at + d, positions[3 * (w * system->particles + i) + d]);
                set(me, places, at + 3, s);
            }
    int code = host->gpu->upload(host->context, me->d.place, places, bytes);
    free(places);
    return code;
}

static int load(void *instance, const plugmc_host *host, const double *positions)
{
    brush *me = instance;
    const plugmc_system *system = me->system;
    const size_t count = (size_t)(system->particles * system->walkers);
    double *rounded = malloc(3 * count * sizeof *rounded);
    if (!rounded) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
    for (size_t i = 0; i < count; i++) {
        double *r = &rounded[3 * i];
        memcpy(r, &positions[3 * i], 3 * sizeof *r);
        brush_wrap(&me->domain, r);
        brush_round(&me->domain, r);
    }
    int code = me->domain.quantum > 0 ? part_touching(me, host, rounded) : PLUGMC_OK;
    if (!code) code = host->gpu ? load_on_device(me, host, rounded) : load_on_host(me, rounded);
    me->energy_known = 0;
    free(rounded);
    return code;
}

static int store(void *instance, const plugmc_host *host, double *positions)
{
    brush *me = instance;
    const plugmc_system *system = me->system;
    const int64_t n = system->particles;
    if (host->gpu) {
        const uint32_t grid[3] = {(uint32_t)(n + 255) / 256, (uint32_t)system->walkers, 1};
        const uint32_t block[3] = {256, 1, 1};
        plugmc_device_pointer to = (plugmc_device_pointer)(uintptr_t)positions;
        void *arguments[] = {&me->d, &to};
        return host->gpu->launch(host->context, me->k_store, grid, block, 0, arguments);
    }
    for (int32_t w = 0; w < system->walkers; w++)
        for (int64_t i = 0; i < n; i++) {
            double *r = &positions[3 * (w * n + i)];
            r[0] = get(me, me->walkers[w].x, i);
            r[1] = get(me, me->walkers[w].y, i);
            r[2] = get(me, me->walkers[w].z, i);
        }
    return PLUGMC_OK;
}

/* ---- Places that touch after rounding --------------------------------------------------------------- */

/* Contact distance of two species, with the margin that the float test keeps. */
static double contact_of(const brush *me, int32_t a, int32_t b)
{
    const plugmc_species *s = me->system->species;
    const plugmc_particle pa = {0, 0, 0, s[a].charge, s[a].diameter, a},
                          pb = {0, 0, 0, s[b].charge, s[b].diameter, b};
    double contact = 0;
    for (int t = 0; t < me->term_count; t++) {
        const plugmc_term *of = me->terms[t].of;
        if (me->terms[t].pair)
            contact = fmax(contact, of->plugin->potential->pair->contact(of->instance, &pa, &pb));
    }
    return contact * (1 + 0x1p-22);
}

static int32_t species_of(const plugmc_system *system, int64_t i)
{
    int32_t s = 0;
    while (i >= system->first[s + 1]) s++;
    return s;
}

static double distance2(const brush *me, const double a[3], const double b[3])
{
    double square = 0;
    for (int d = 0; d < 3; d++) {
        double x = a[d] - b[d];
        if (me->domain.periodic && d < me->domain.dimension)
            x -= me->domain.edge[d] * rint(x / me->domain.edge[d]);
        square += x * x;
    }
    return square;
}

/* May particle i be at r? Neighbours come from cells that were made before anybody was parted; they
 * are a few quanta wider than contact. */
static int fits(const brush *me, const plugmc_cells *cells, int32_t w, int64_t i, const double r[3],
                const double *positions)
{
    const plugmc_system *system = me->system;
    const int32_t a = species_of(system, i);
    const uint32_t *start = cells->start + w * (cells->cells + 1);
    const uint32_t *order = cells->order + w * system->particles;
    const double origin = me->domain.periodic ? 0 : -system->box.radius;
    int64_t c[3], forbidden = 0;
    if (!me->domain.periodic && r[0] * r[0] + r[1] * r[1] + r[2] * r[2] > me->domain.radius2) return 0;
    plugmc_particle p = {r[0], r[1], r[2], system->species[a].charge, system->species[a].diameter, a};
    fields_at(me, &p, &forbidden);
    if (forbidden) return 0;
    for (int d = 0; d < 3; d++) {
        c[d] = cells->count[d] > 1 ? (int64_t)((r[d] - origin) / cells->width[d]) : 0;
        if (c[d] >= cells->count[d]) c[d] = cells->count[d] - 1;
        if (c[d] < 0) c[d] = 0;
    }
    for (int q = 0; q < 27; q++) {
        int64_t k[3], step[3] = {q % 3 - 1, q / 3 % 3 - 1, q / 9 - 1};
        int skip = 0;
        for (int d = 0; d < 3; d++) {
            k[d] = c[d] + step[d];
            if (me->domain.periodic && cells->count[d] >= 3)
                k[d] = (k[d] + cells->count[d]) % cells->count[d];
            skip |= k[d] < 0 || k[d] >= cells->count[d];
        }
        if (skip) continue;
        const int64_t cell = k[0] + cells->count[0] * (k[1] + (int64_t)cells->count[1] * k[2]);
        for (uint32_t e = start[cell]; e < start[cell + 1]; e++) {
            const int64_t j = order[e];
            const double contact = j == i ? 0 : contact_of(me, a, species_of(system, j));
            if (j != i && distance2(me, r, positions + 3 * j) < contact * contact) return 0;
        }
    }
    return 1;
}

/* The nearest place of a few quanta where particle i fits; 0 if there is none. */
static int find_place(const brush *me, const plugmc_cells *cells, int32_t w, int64_t i,
                      double *positions)
{
    const double q = me->domain.quantum;
    double *here = positions + 3 * i, r[3];
    const int flat = me->domain.dimension == 2;
    for (int reach = 0; reach <= 8; reach++)
        for (int x = -reach; x <= reach; x++)
            for (int y = -reach; y <= reach; y++)
                for (int z = flat ? 0 : -reach; z <= (flat ? 0 : reach); z++) {
                    if (abs(x) < reach && abs(y) < reach && abs(z) < reach) continue;
                    r[0] = here[0] + x * q;
                    r[1] = here[1] + y * q;
                    r[2] = here[2] + z * q;
                    brush_wrap(&me->domain, r);
                    brush_round(&me->domain, r);
                    if (!fits(me, cells, w, i, r, positions)) continue;
                    memcpy(here, r, sizeof r);
                    return 1;
                }
    return 0;
}

/* Rounding may bring together what just did not touch, or push out of the domain: such particles go
 * to the nearest quanta where they fit. */
static int part_touching(const brush *me, const plugmc_host *host, double *positions)
{
    const plugmc_system *system = me->system;
    double widest = 0;
    plugmc_view view;
    plugmc_cells cells = {.size = sizeof cells};
    for (int32_t a = 0; a < system->species_count; a++)
        for (int32_t b = 0; b < system->species_count; b++) widest = fmax(widest, contact_of(me, a, b));
    if (!(widest > 0) && me->domain.periodic) return PLUGMC_OK;
    TRY(host->view(host->context, positions, 0, &view));
    TRY(view.cells(&view, fmax(widest, system->box.length[0] / 64) + 32 * me->domain.quantum, &cells));
    for (int32_t w = 0; w < system->walkers; w++)
        for (int64_t i = 0; i < system->particles; i++)
            if (!find_place(me, &cells, w, i, positions + 3 * w * system->particles))
                return host->fail(host->context, PLUGMC_ERROR_INPUT,
                                  "particle %lld of walker %d overlaps when places are rounded to %g: "
                                  "use precision = double",
                                  (long long)i, w, me->domain.quantum);
    return PLUGMC_OK;
}

/* ---- Preparation ---------------------------------------------------------------------------------------- */

static brush_domain domain_of(const plugmc_box *box, int precision)
{
    brush_domain d = {.radius2 = box->radius * box->radius,
                      .dimension = box->dimension,
                      .periodic = box->domain == PLUGMC_DOMAIN_PERIODIC,
                      .oblique = box->oblique};
    double extent = 0; /* of the coordinates on either side of their middle */
    memcpy(d.edge, box->length, sizeof d.edge);
    memcpy(d.vector, box->vector, sizeof d.vector);
    memcpy(d.inverse, box->inverse, sizeof d.inverse);
    for (int k = 0; k < box->dimension; k++) extent += box->oblique ? box->length[k] : 0;
    for (int k = 0; k < box->dimension; k++) extent = fmax(extent, 0.5 * box->length[k]);
    if (precision == SINGLE) d.quantum = exp2(ceil(log2(extent)) - 23);
    return d;
}

/* Hard cores first: who overlaps needs no energy. */
static int sort_terms(brush *me, const plugmc_host *host)
{
    const plugmc_system *system = me->system;
    me->terms = host->allocate(host->context, (size_t)(system->term_count + 1) * sizeof *me->terms);
    if (!me->terms) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for terms");
    for (int energies = 0; energies < 2; energies++)
        for (int32_t t = 0; t < system->term_count; t++) {
            const plugmc_term *of = &system->terms[t];
            const int single = me->precision == SINGLE;
            const plugmc_pair *pair = of->plugin->potential->pair;
            if (!of->sampled || (pair && pair->functions & PLUGMC_PAIR_ENERGY) != energies) continue;
            const plugmc_plugin *plugin = single ? of->plugin_single : of->plugin;
            me->terms[me->term_count++] =
                (term){of, plugin->potential->pair, of->plugin->potential->field,
                       single ? of->instance_single : of->instance};
        }
    return PLUGMC_OK;
}

enum { PROPOSE, SWEEP, ENERGY, TEXTS };

static int make_texts(brush *me, const plugmc_host *host)
{
    static const char *const parts[TEXTS][3] = {
        [PROPOSE] = {state_text, trial_text, propose_text},
        [SWEEP] = {state_text, sweep_text, ""},
        [ENERGY] = {energy_text, "", ""},
    };
    for (int k = 0; k < TEXTS; k++) {
        const char *const *p = parts[k];
        size_t bytes = strlen(p[0]) + strlen(p[1]) + strlen(p[2]) + 1;
        me->texts[k] = host->allocate(host->context, bytes);
        if (!me->texts[k])
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a kernel text");
        snprintf(me->texts[k], bytes, "%s%s%s", p[0], p[1], p[2]);
    }
    snprintf(me->defines[0], sizeof me->defines[0], "BRUSH_PANEL=%d", PANEL);
    snprintf(me->defines[1], sizeof me->defines[1], "BRUSH_TEAMS=%d", TEAMS);
    snprintf(me->defines[2], sizeof me->defines[2], "BRUSH_CHUNK=%d", CHUNK);
    snprintf(me->defines[3], sizeof me->defines[3], "BRUSH_STORED=%s",
             me->precision == SINGLE ? "float" : "double");
    snprintf(me->defines[4], sizeof me->defines[4], "BRUSH_DOUBLE=1");
    const int count = me->precision == SINGLE ? 4 : 5;
    for (int k = 0; k < count; k++) me->define_list[k] = me->defines[k];
    return PLUGMC_OK;
}

static int kernel_text(void *instance, const plugmc_host *host, int index, plugmc_kernel_text *out)
{
    static const char *const names[TEXTS] = {"brush propose.cu", "brush.cu", "brush energy.cu"};
    brush *me = instance;
    if (index >= TEXTS) return 0;
    if (!me->texts[0] && make_texts(me, host)) return 0;
    *out = (plugmc_kernel_text){
        .size = sizeof *out,
        .name = names[index],
        .text = me->texts[index],
        .defines = me->define_list,
        .fuse = PLUGMC_FUSE_SAMPLED,
        .double_precision = index == ENERGY || me->precision == DOUBLE,
        .contract = index != PROPOSE,
    };
    return 1;
}

static int prepare_on_device(brush *me, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    const plugmc_system *system = me->system;
    const size_t n = (size_t)system->particles, walkers = (size_t)system->walkers;
    device_state *d = &me->d;
    plugmc_kernel_text text;
    const struct {
        int text;
        const char *name;
        plugmc_kernel **to;
    } kernels[] = {{PROPOSE, "brush_propose", &me->k_propose},
                   {PROPOSE, "brush_store", &me->k_store},
                   {SWEEP, "brush_sweep", &me->k_sweep},
                   {ENERGY, "brush_energy", &me->k_energy}};
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        if (!kernel_text(me, host, kernels[k].text, &text))
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a kernel text");
        TRY(gpu->kernel(host->context, &text, kernels[k].name, kernels[k].to));
    }

    d->particles = (int32_t)n;
    d->walkers = (int32_t)walkers;
    d->species = system->species_count;
    d->panels = (int32_t)((n + PANEL - 1) / PANEL);
    d->interval = (int32_t)((n / 64 + TILE - 1) / TILE * TILE);
    if (d->interval < TILE) d->interval = TILE;
    if (d->interval > LONGEST_INTERVAL) d->interval = LONGEST_INTERVAL;
    d->intervals = (int32_t)((n + (size_t)d->interval - 1) / (size_t)d->interval);
    d->padded = d->intervals * d->interval + TILE;
    d->blocks = gpu->multiprocessors / (int32_t)walkers;
    if (d->blocks < 2) d->blocks = 2;
    const size_t places = (size_t)d->padded * walkers;
    const struct {
        plugmc_device_pointer *to;
        size_t bytes;
    } wanted[] = {{&d->place, places * 4 * me->real_size},
                  {&d->moved, places * 4 * me->real_size},
                  {&d->trial, places * 16},
                  {&d->sum, places * 8},
                  {&d->hit, places * 4},
                  {&d->done, (size_t)d->panels * walkers * 4},
                  {&d->decided, walkers * 4},
                  {&d->ticket, walkers * 4},
                  {&d->role, 4},
                  {&d->failed, 4},
                  {&d->accepted, 8},
                  {&d->energy, walkers * 8},
                  {&d->sweep, 8},
                  {&d->step, 8},
                  {&d->first, ((size_t)system->species_count + 1) * 4},
                  {&me->d_positions, 3 * n * walkers * 8},
                  {&me->d_rows, n * walkers * 8}};
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++)
        TRY(gpu->allocate(host->context, wanted[k].bytes, wanted[k].to));
    double step = me->step;
    return gpu->upload(host->context, d->step, &step, sizeof step);
}

static int prepare_on_host(brush *me, const plugmc_host *host)
{
    const plugmc_system *system = me->system;
    const size_t n = (size_t)system->particles, size = me->real_size, g = (size_t)me->group_size;
    const int threads = system->threads, groups = system->walkers >= threads ? threads : 1;
    char *charge = host->allocate(host->context, n * size), *diameter = host->allocate(host->context, n * size);
    int32_t *species = host->allocate(host->context, n * sizeof *species);
    me->walkers = host->allocate(host->context, (size_t)system->walkers * sizeof *me->walkers);
    me->groups = host->allocate(host->context, (size_t)groups * sizeof *me->groups);
    int short_of = !charge || !diameter || !species || !me->walkers || !me->groups;
    for (int32_t w = 0; w < system->walkers && !short_of; w++) {
        char *places = host->allocate(host->context, 6 * n * size);
        me->walkers[w] = (arrays){places,           places + n * size,     places + 2 * n * size,
                                  places + 3 * n * size, places + 4 * n * size, places + 5 * n * size,
                                  charge,           diameter,              species};
        short_of |= !places;
    }
    for (int k = 0; k < groups && !short_of; k++) {
        double *numbers = host->allocate(host->context, 2 * g * sizeof *numbers);
        me->groups[k] = (group){numbers, numbers + g, host->allocate(host->context, g * g * size),
                                host->allocate(host->context, g * g * size),
                                host->allocate(host->context, g * size * (size_t)threads)};
        short_of |= !numbers || !me->groups[k].rejected || !me->groups[k].accepted || !me->groups[k].term;
    }
    if (short_of)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d walkers of %zu particles",
                          system->walkers, n);
    /* in float a contact is a hair wider, so that what does not overlap there does not in double */
    const double margin = me->precision == SINGLE ? 1 + 0x1p-22 : 1;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            set(me, charge, i, system->species[s].charge);
            set(me, diameter, i, system->species[s].diameter * margin);
            species[i] = s;
        }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    brush *me = instance;
    me->system = host->system;
    me->real_size = me->precision == SINGLE ? sizeof(float) : sizeof(double);
    me->domain = domain_of(&host->system->box, me->precision);
    me->energy = host->allocate(host->context, (size_t)host->system->walkers * sizeof *me->energy);
    if (!me->energy) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for energies");
    TRY(sort_terms(me, host));
    return host->gpu ? prepare_on_device(me, host) : prepare_on_host(me, host);
}

/* ---- The rest --------------------------------------------------------------------------------------------- */

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    brush *me = instance;
    TRY(take_sums(me, host));
    *out = me->counts;
    if (clear) me->counts = (plugmc_counts){0, 0};
    return PLUGMC_OK;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *archive)
{
    brush *me = instance;
    if (!archive->reading) TRY(take_sums(me, host));
    TRY(archive->bytes(archive, "step", &me->step, sizeof me->step));
    TRY(archive->bytes(archive, "energy", me->energy, (size_t)me->system->walkers * sizeof *me->energy));
    TRY(archive->bytes(archive, "energy_known", &me->energy_known, sizeof me->energy_known));
    TRY(archive->bytes(archive, "sweeps_since", &me->sweeps_since, sizeof me->sweeps_since));
    return archive->bytes(archive, "drift", &me->drift, sizeof me->drift);
}

static double get_step(const void *instance) { return ((const brush *)instance)->step; }

/* Beyond half of the box a larger step changes nothing in a periodic one, and leaves a sphere. */
static int set_step(void *instance, const plugmc_host *host, double step)
{
    brush *me = instance;
    double largest = 0;
    for (int d = 0; d < host->system->box.dimension; d++)
        largest = fmax(largest, 0.5 * host->system->box.length[d]);
    if (!(step > 0))
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "a step of %g is not possible", step);
    me->step = fmin(step, largest);
    return host->gpu ? host->gpu->upload(host->context, me->d.step, &me->step, sizeof me->step) : PLUGMC_OK;
}

static double target(const void *instance) { return ((const brush *)instance)->target_acceptance; }

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(brush, step, "0.1", 1e-12, 1e12, "length",
                    "largest displacement of a trial move, uniform in the disk or ball"),
    PLUGMC_REAL_KEY(brush, target_acceptance, "0", 0, 1, "",
                    "acceptance to tune step to during equilibration; 0: step stays as it is"),
    PLUGMC_CHOICE_KEY(brush, precision, "single", "single|double",
                      "of the energies of pairs; single: places are multiples of a quantum"),
    PLUGMC_INTEGER_KEY(brush, group_size, "64", 1, 4096, "",
                       "on the CPU: particles whose trial moves are prepared side by side"),
    PLUGMC_INTEGER_KEY(brush, refresh, "1", 0, 1e9, "sweeps",
                       "the running energy is summed afresh when it is asked for and so many sweeps "
                       "old; 0: never"),
};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD | PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
    .load = load,
    .sweep = sweep,
    .store = store,
    .counts = counts,
    .step = get_step,
    .set_step = set_step,
    .target_acceptance = target,
    .running_energy = running_energy,
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "brush",
              .summary = "sequential Metropolis sweeps of particles that all interact, in parallel",
              .reference = "Liang, Xing, Li, J. Comput. Phys. 338, 252 (2017)",
              .instance_size = sizeof(brush), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .mover = &mover, .prepare = prepare,
              .kernel_text = kernel_text, .archive = archive)
