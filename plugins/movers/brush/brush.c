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

enum { CPU_TILE = 8192, HANDFUL = 64, FARTHEST_QUANTA = 8 };

static const double unit = 4294967296.0; /* fixed-point units of a kT */

/* A pair or field term that is sampled. */
typedef struct term {
    const plugmc_term *of;
    const plugmc_pair *pair;   /* of the precision chosen; NULL without */
    const plugmc_field *field; /* double precision; NULL without */
    const void *instance;      /* of pair */
} term;

/* Cells for hard cores, at least as wide as the largest contact. A sphere is cut as a cube. */
typedef struct grid {
    int32_t count[3];
    double width[3], origin;
    int64_t cells; /* 0: there are no hard cores */
} grid;

/* Particles of a walker on the CPU: real is float or double. */
typedef struct arrays {
    void *x, *y, *z;       /* real[particles] */
    void *nx, *ny, *nz;    /* real[particles]: trial moves of the sweep */
    void *charge, *diameter;
    int32_t *species;
    double *change, *threshold; /* [particles]: of energy, and below what it is accepted, kT */
    int32_t *head, *next;  /* [cells], [particles]: lists of the cells, -1 at the end */
} arrays;

/* A group of particles on its way to being decided. [group] and [group][group]: of i and j. */
typedef struct group {
    void *rejected, *accepted; /* real: what j's outcome changes for i */
    void *term;                /* real[threads][group]: of one term */
    char *taken;               /* [group]: the decisions */
} group;

/* Mirrors brush_state of brush.cu. */
typedef struct device_state {
    plugmc_device_pointer place, moved, trial, sum, hit, done, decided, ticket, role, failed,
        accepted, energy, sweep, step;
    int32_t particles, padded, panels, walkers, interval, intervals, blocks;
} device_state;

typedef struct brush {
    int32_t precision;
    real step, target_acceptance;
    int64_t group_size, refresh;

    const plugmc_system *system;
    brush_domain domain;
    term *terms;
    int term_count, hard_count; /* the first ones have no pair energy */
    size_t real_size;
    plugmc_counts counts;
    double *energy;       /* [walkers]: running, kT; on a GPU without what the device has added */
    int32_t energy_known;
    uint64_t sweeps_since; /* the energy was summed afresh */
    double drift;          /* largest relative difference found when it was */

    /* On the CPU. */
    int64_t group;   /* group_size, at most N */
    grid grid;
    arrays *walkers; /* [walkers] */
    group *groups;   /* [threads] if walkers are shared among threads, else [1] */

    device_state d;
    plugmc_device_pointer d_positions, d_rows;
    plugmc_kernel *k_propose, *k_sweep, *k_store, *k_energy;
    plugmc_graph *graph;
    char *texts[3]; /* propose, sweep, energy */
    char defines[6][48];
    const char *define_list[7];
} brush;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        int try_code = (call);                                                                     \
        if (try_code) return try_code;                                                             \
    } while (0)

static int sweep_on_device(brush *, const plugmc_host *, uint64_t first, uint64_t n);
static int sweep_on_host(brush *, const plugmc_host *, uint64_t first, uint64_t n);

static int refuse_energy(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_STATE,
                      "the energy change of a trial move is not a number or minus infinity: do "
                      "particles attract without a hard core?");
}

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

/* ---- Hard cores ---------------------------------------------------------------------------------- */

/* Largest distance at which two particles overlap, in double precision. */
static double largest_contact(const plugmc_system *system)
{
    double contact = 0;
    for (int32_t k = 0; k < system->species_count * system->species_count; k++) {
        const int32_t a = k / system->species_count, b = k % system->species_count;
        const plugmc_species *s = system->species;
        const plugmc_particle pa = {0, 0, 0, s[a].charge, s[a].diameter, a},
                              pb = {0, 0, 0, s[b].charge, s[b].diameter, b};
        for (int32_t t = 0; t < system->term_count; t++) {
            const plugmc_pair *pair = system->terms[t].plugin->potential->pair;
            if (system->terms[t].sampled && pair)
                contact = fmax(contact, pair->contact(system->terms[t].instance, &pa, &pb));
        }
    }
    return contact;
}

/* Factor on contact distances, so that places that do not overlap in float do not overlap in double
 * either: the rounding of a distance, and in a periodic box the difference between its edges and
 * what float makes of them. */
static double contact_margin(const plugmc_system *system, int precision)
{
    const plugmc_box *box = &system->box;
    const double contact = largest_contact(system);
    double edges = 0;
    if (precision != SINGLE || !(contact > 0)) return 1;
    for (int d = 0; d < box->dimension && box->domain == PLUGMC_DOMAIN_PERIODIC; d++)
        edges += fabs(box->length[d] - (double)(float)box->length[d]);
    return 1 + 0x1p-22 + edges / contact;
}

/* Cells on the CPU: no more than 4 N + 8 cells; one in an oblique box, whose cells would be oblique too. */
static grid grid_of(const plugmc_system *system, double reach)
{
    const plugmc_box *box = &system->box;
    const double most = 4.0 * (double)system->particles + 8;
    grid g = {.origin = box->domain == PLUGMC_DOMAIN_SPHERE ? -box->radius : 0};
    double width = box->oblique ? INFINITY : reach, cells;
    if (!(reach > 0)) return g;
    do {
        cells = 1;
        for (int d = 0; d < box->dimension; d++) cells *= fmax(1, floor(box->length[d] / width));
        if (cells > most) width *= 1.1;
    } while (cells > most);
    for (int d = 0; d < 3; d++) {
        g.count[d] = d < box->dimension ? (int32_t)fmax(1, floor(box->length[d] / width)) : 1;
        g.width[d] = box->length[d] / g.count[d];
    }
    g.cells = (int64_t)cells;
    return g;
}

static void cell_coordinates(const grid *g, const double r[3], int32_t c[3])
{
    for (int d = 0; d < 3; d++) {
        const double at = g->count[d] > 1 ? (r[d] - g->origin) / g->width[d] : 0;
        c[d] = at < g->count[d] ? (int32_t)at : g->count[d] - 1;
    }
}

static int32_t *cell_at(const grid *g, const arrays *a, const double r[3])
{
    int32_t c[3];
    cell_coordinates(g, r, c);
    return &a->head[c[0] + g->count[0] * (c[1] + (int64_t)g->count[1] * c[2])];
}

static void put_into_cell(const brush *me, arrays *a, int64_t i)
{
    if (!me->grid.cells) return;
    const double r[3] = {get(me, a->x, i), get(me, a->y, i), get(me, a->z, i)};
    int32_t *head = cell_at(&me->grid, a, r);
    a->next[i] = *head;
    *head = (int32_t)i;
}

static void take_from_cell(const brush *me, arrays *a, int64_t i)
{
    if (!me->grid.cells) return;
    const double r[3] = {get(me, a->x, i), get(me, a->y, i), get(me, a->z, i)};
    int32_t *link = cell_at(&me->grid, a, r);
    while (*link != i) link = &a->next[*link];
    *link = a->next[i];
}

/* Particle i goes where it tried to. */
static void move(const brush *me, arrays *a, int64_t i)
{
    take_from_cell(me, a, i);
    set(me, a->x, i, get(me, a->nx, i));
    set(me, a->y, i, get(me, a->ny, i));
    set(me, a->z, i, get(me, a->nz, i));
    put_into_cell(me, a, i);
}

/* The cells around a place, each once. */
static int cells_around(const grid *g, int periodic, const double r[3], int64_t out[27])
{
    int32_t c[3], line[3][3];
    int n[3] = {0, 0, 0}, found = 0;
    cell_coordinates(g, r, c);
    for (int d = 0; d < 3; d++)
        for (int32_t k = c[d] - 1; k <= c[d] + 1; k++)
            if ((periodic && g->count[d] >= 3) || (k >= 0 && k < g->count[d]))
                line[d][n[d]++] = (k + g->count[d]) % g->count[d];
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                out[found++] = line[0][x] + g->count[0] * (line[1][y] + (int64_t)g->count[1] * line[2][z]);
    return found;
}

/* A few particles from anywhere, as the batch functions take them. */
typedef struct handful {
    int64_t n;
    double x[HANDFUL], y[HANDFUL], z[HANDFUL], charge[HANDFUL], diameter[HANDFUL]; /* room for real */
    int32_t species[HANDFUL];
} handful;

static int64_t handful_overlaps(const brush *me, handful *h, const plugmc_particle *probe,
                                const double moved[3])
{
    const plugmc_particles others = {h->n, h->x, h->y, h->z, h->charge, h->diameter, h->species};
    int64_t overlaps = 0;
    double unused = 0;
    for (int t = 0; t < me->hard_count; t++)
        if (me->terms[t].pair)
            overlaps += me->terms[t].pair->change(me->terms[t].instance, &me->system->box,
                                                  me->domain.periodic, probe, moved, &others, &unused);
    h->n = 0;
    return overlaps;
}

/* Does the new place of particle i overlap with anyone outside of begin ... end - 1? */
static int overlaps_outside(const brush *me, const arrays *a, int64_t begin, int64_t end, int64_t i)
{
    const double moved[3] = {get(me, a->nx, i), get(me, a->ny, i), get(me, a->nz, i)};
    const plugmc_particle probe = particle_at(me, a, i);
    int64_t cells[27];
    handful h = {0};
    const int count = me->grid.cells ? cells_around(&me->grid, me->domain.periodic, moved, cells) : 0;
    for (int c = 0; c < count; c++)
        for (int32_t j = a->head[cells[c]]; j >= 0; j = a->next[j]) {
            if (j >= begin && j < end) continue;
            set(me, h.x, h.n, get(me, a->x, j));
            set(me, h.y, h.n, get(me, a->y, j));
            set(me, h.z, h.n, get(me, a->z, j));
            set(me, h.charge, h.n, get(me, a->charge, j));
            set(me, h.diameter, h.n, get(me, a->diameter, j));
            h.species[h.n++] = a->species[j];
            if (h.n == HANDFUL && handful_overlaps(me, &h, &probe, moved)) return 1;
        }
    return h.n > 0 && handful_overlaps(me, &h, &probe, moved) > 0;
}

/* ---- Sweeps on the CPU -------------------------------------------------------------------------- */

static int sweep_walker(const brush *, group *, int32_t w, uint64_t sweep, int threads,
                        uint64_t *accepted, double *energy);

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
            failed += sweep_walker(me, &me->groups[shared ? omp_get_thread_num() : 0], w, s,
                                   shared ? 1 : threads, &accepted, &me->energy[w]);
    me->counts.accepted += accepted;
    return failed ? refuse_energy(host) : PLUGMC_OK;
}

static void propose(const brush *, arrays *, int32_t w, uint64_t sweep, int64_t i);
static void prepare_group(const brush *, const arrays *, group *, int64_t begin, int64_t end, int threads);
static int decide(const brush *, arrays *, const group *, int64_t begin, int64_t end,
                  uint64_t *accepted, double *energy);

static int sweep_walker(const brush *me, group *g, int32_t w, uint64_t sweep, int threads,
                        uint64_t *accepted, double *energy)
{
    const int64_t n = me->system->particles;
    arrays *a = &me->walkers[w];
    int failed = 0;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t i = 0; i < n; i++) propose(me, a, w, sweep, i);
    for (int64_t begin = 0; begin < n; begin += me->group) {
        const int64_t end = begin + me->group < n ? begin + me->group : n;
        prepare_group(me, a, g, begin, end, threads);
        failed |= decide(me, a, g, begin, end, accepted, energy);
    }
    return failed;
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

/* The trial move, and the change of energy by the fields; infinite where the particle may not be. */
static void propose(const brush *me, arrays *a, int32_t w, uint64_t sweep, int64_t i)
{
    const plugmc_particle old = particle_at(me, a, i);
    plugmc_particle new = old;
    const uint64_t seed = me->system->seed;
    double to[3] = {old.x, old.y, old.z}, change = 0;
    int64_t forbidden = 0, unused = 0;
    if (!brush_displace(&me->domain, seed, sweep, (uint32_t)w, (uint32_t)i, me->step, to)) forbidden = 1;
    new.x = to[0], new.y = to[1], new.z = to[2];
    if (!forbidden) change = fields_at(me, &new, &forbidden) - fields_at(me, &old, &unused);
    set(me, a->nx, i, to[0]);
    set(me, a->ny, i, to[1]);
    set(me, a->nz, i, to[2]);
    a->change[i] = forbidden ? INFINITY : change;
    a->threshold[i] = brush_threshold(seed, sweep, (uint32_t)w, (uint32_t)i);
}

/* Changes by the energies of those outside of the group, tile by tile, so that the places of a tile
 * stay in the cache for all `first` ... `last` - 1. */
static void add_outside(const brush *me, const arrays *a, int64_t begin, int64_t end, int64_t first,
                        int64_t last)
{
    const int64_t n = me->system->particles;
    for (int64_t tile = 0; tile < n; tile += CPU_TILE) {
        const int64_t after = tile + CPU_TILE < n ? tile + CPU_TILE : n;
        const int64_t low = after < begin ? after : begin, high = tile > end ? tile : end;
        const plugmc_particles part[2] = {old_places(me, a, tile, low), old_places(me, a, high, after)};
        for (int64_t i = first; i < last; i++) {
            const plugmc_particle probe = particle_at(me, a, i);
            const double moved[3] = {get(me, a->nx, i), get(me, a->ny, i), get(me, a->nz, i)};
            double *change = &a->change[i];
            for (int t = me->hard_count; t < me->term_count; t++)
                for (int side = 0; side < 2 && *change < INFINITY; side++)
                    if (part[side].n > 0 &&
                        me->terms[t].pair->change(me->terms[t].instance, &me->system->box,
                                                  me->domain.periodic, &probe, moved, &part[side], change))
                        *change = INFINITY;
        }
    }
}

/* What each decision of the group changes for particle i, for both outcomes: of those after i only
 * that they have not moved counts, and that goes into the change at once. */
static void add_inside(const brush *me, const arrays *a, const group *g, int64_t begin, int64_t end,
                       int64_t i, void *one_term)
{
    const int64_t n = end - begin, row = (i - begin) * me->group;
    const plugmc_particle probe = particle_at(me, a, i);
    const double moved[3] = {get(me, a->nx, i), get(me, a->ny, i), get(me, a->nz, i)};
    const plugmc_particles old = old_places(me, a, begin, end), new = new_places(me, a, begin, i);
    for (int64_t j = 0; j < n; j++) {
        set(me, g->rejected, row + j, 0);
        set(me, g->accepted, row + j, 0);
    }
    for (int t = 0; t < me->term_count; t++) {
        if (!me->terms[t].pair) continue;
        for (int outcome = 0; outcome < 2; outcome++) {
            const plugmc_particles *others = outcome ? &new : &old;
            void *sum = outcome ? g->accepted : g->rejected;
            me->terms[t].pair->changes(me->terms[t].instance, &me->system->box, me->domain.periodic,
                                       &probe, moved, others, one_term);
            for (int64_t j = 0; j < others->n; j++) { /* an overlap stays one, whatever the energy */
                const double before = get(me, sum, row + j);
                if (before < INFINITY) set(me, sum, row + j, before + get(me, one_term, j));
            }
        }
    }
    for (int64_t j = i - begin + 1; j < n && a->change[i] < INFINITY; j++)
        a->change[i] += get(me, g->rejected, row + j);
}

/* Particles first ... last - 1 of the group, one thread. */
static void prepare_some(const brush *me, const arrays *a, const group *g, int64_t begin, int64_t end,
                         int64_t first, int64_t last, void *one_term)
{
    for (int64_t i = first; i < last; i++)
        if (a->change[i] < INFINITY && overlaps_outside(me, a, begin, end, i)) a->change[i] = INFINITY;
    add_outside(me, a, begin, end, first, last);
    for (int64_t i = first; i < last; i++)
        if (a->change[i] < INFINITY) add_inside(me, a, g, begin, end, i, one_term);
}

/* Particles are handed to the threads a few at a time, since the work of those rejected at once is
 * little; how many makes no difference to the result. */
static void prepare_group(const brush *me, const arrays *a, group *g, int64_t begin, int64_t end,
                          int threads)
{
    const int64_t n = end - begin, share = n / (4 * threads) > 0 ? n / (4 * threads) : 1;
    const int64_t shares = (n + share - 1) / share;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(dynamic, 1)
    for (int64_t s = 0; s < shares; s++) {
        const int64_t first = begin + s * share, last = first + share < end ? first + share : end;
        void *one_term = (char *)g->term + (size_t)(omp_get_thread_num() * me->group) * me->real_size;
        prepare_some(me, a, g, begin, end, first, last, one_term);
    }
}

static int decide(const brush *me, arrays *a, const group *g, int64_t begin, int64_t end,
                  uint64_t *accepted, double *energy)
{
    int failed = 0;
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = (i - begin) * me->group;
        double change = a->change[i];
        for (int64_t j = 0; j < i - begin && change < INFINITY; j++)
            change += get(me, g->taken[j] ? g->accepted : g->rejected, row + j);
        failed |= isnan(change) || change == -INFINITY;
        g->taken[i - begin] = change < a->threshold[i];
        if (!g->taken[i - begin]) continue;
        move(me, a, i);
        *accepted += 1;
        *energy += change;
    }
    return failed;
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
    return !code && failed ? refuse_energy(host) : code;
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

static int part_touching(const brush *, const plugmc_host *, const char *rounded, double *positions);

static int load_on_host(brush *me, const double *positions)
{
    const plugmc_system *system = me->system;
    const int64_t n = system->particles;
    for (int32_t w = 0; w < system->walkers; w++) {
        arrays *a = &me->walkers[w];
        for (int64_t c = 0; c < me->grid.cells; c++) a->head[c] = -1;
        for (int64_t i = 0; i < n; i++) {
            const double *r = &positions[3 * (w * n + i)];
            set(me, a->x, i, r[0]);
            set(me, a->y, i, r[1]);
            set(me, a->z, i, r[2]);
            put_into_cell(me, a, i);
        }
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
    double *places = malloc(3 * count * sizeof *places);
    char *rounded = malloc(count); /* [walkers][particles]: 1 if the place has changed */
    int code = PLUGMC_OK;
    if (!places || !rounded)
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
    for (size_t i = 0; i < count && !code; i++) {
        double *r = &places[3 * i];
        memcpy(r, &positions[3 * i], 3 * sizeof *r);
        brush_wrap(&me->domain, r);
        brush_round(&me->domain, r);
        rounded[i] = memcmp(r, &positions[3 * i], 3 * sizeof *r) != 0;
    }
    if (!code && me->domain.quantum > 0) code = part_touching(me, host, rounded, places);
    if (!code) code = host->gpu ? load_on_device(me, host, places) : load_on_host(me, places);
    me->energy_known = 0;
    free(places);
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

static int32_t species_of(const plugmc_system *system, int64_t i)
{
    int32_t s = 0;
    while (i >= system->first[s + 1]) s++;
    return s;
}

static plugmc_particle particle_there(const brush *me, int64_t i, const double r[3])
{
    const int32_t s = species_of(me->system, i);
    const plugmc_species *species = &me->system->species[s];
    return (plugmc_particle){r[0], r[1], r[2], species->charge, species->diameter, s};
}

/* With how many of a handful a particle overlaps, in double precision. */
static int64_t overlaps_with(const brush *me, const plugmc_particle *p, const handful *h)
{
    const plugmc_particles others = {h->n, h->x, h->y, h->z, h->charge, h->diameter, h->species};
    int64_t overlaps = 0;
    double unused = 0;
    for (int t = 0; t < me->term_count; t++) {
        const plugmc_term *of = me->terms[t].of;
        if (me->terms[t].pair)
            overlaps += of->plugin->potential->pair->energy(of->instance, &me->system->box,
                                                            me->domain.periodic, p, &others, &unused);
    }
    return overlaps;
}

/* May particle i be at r, as far as those in the cells around are concerned? The cells were made
 * before anybody was parted, and are wider than contact by more than anybody was moved. */
static int is_free(const brush *me, const plugmc_cells *cells, int32_t w, int64_t i,
                   const plugmc_particle *p, const double *positions)
{
    const uint32_t *start = cells->start + w * (cells->cells + 1);
    const uint32_t *order = cells->order + w * me->system->particles;
    const grid g = {{cells->count[0], cells->count[1], cells->count[2]},
                    {cells->width[0], cells->width[1], cells->width[2]},
                    me->domain.periodic ? 0 : -me->system->box.radius,
                    cells->cells};
    const double r[3] = {p->x, p->y, p->z};
    int64_t around[27], overlaps = 0;
    handful h = {0};
    const int count = cells_around(&g, me->domain.periodic, r, around);
    for (int c = 0; c < count && !overlaps; c++)
        for (uint32_t e = start[around[c]]; e < start[around[c] + 1] && !overlaps; e++) {
            const int64_t j = order[e];
            if (j == i) continue;
            const plugmc_particle q = particle_there(me, j, &positions[3 * j]);
            h.x[h.n] = q.x, h.y[h.n] = q.y, h.z[h.n] = q.z;
            h.charge[h.n] = q.charge, h.diameter[h.n] = q.diameter, h.species[h.n++] = q.species;
            if (h.n < HANDFUL) continue;
            overlaps = overlaps_with(me, p, &h);
            h.n = 0;
        }
    return !overlaps && (h.n == 0 || !overlaps_with(me, p, &h));
}

/* May particle i be at r? cells: NULL if there are no hard cores. */
static int fits(const brush *me, const plugmc_cells *cells, int32_t w, int64_t i, const double r[3],
                const double *positions)
{
    int64_t forbidden = 0;
    if (!me->domain.periodic && r[0] * r[0] + r[1] * r[1] + r[2] * r[2] > me->domain.radius2) return 0;
    const plugmc_particle p = particle_there(me, i, r);
    fields_at(me, &p, &forbidden);
    return !forbidden && (!cells || is_free(me, cells, w, i, &p, positions));
}

/* Particle i goes to the nearest place of a few quanta where it fits; 0 if there is none. */
static int find_place(const brush *me, const plugmc_cells *cells, int32_t w, int64_t i,
                      double *positions)
{
    const double q = me->domain.quantum;
    double *here = positions + 3 * i, r[3];
    const int flat = me->domain.dimension == 2;
    for (int reach = 0; reach <= FARTHEST_QUANTA; reach++)
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
 * to the nearest quanta where they fit. Those that rounding has left alone stay where they are, so
 * that a resumed run begins with the places that it ended with, whatever the last bit of a distance
 * says about them. */
static int part_touching(const brush *me, const plugmc_host *host, const char *rounded,
                         double *positions)
{
    const plugmc_system *system = me->system;
    const double contact = largest_contact(system);
    const int64_t n = system->particles;
    plugmc_view view;
    plugmc_cells cells = {.size = sizeof cells};
    if (contact > 0) {
        TRY(host->view(host->context, positions, 0, &view));
        TRY(view.cells(&view, contact + 4 * FARTHEST_QUANTA * me->domain.quantum, &cells));
    }
    for (int32_t w = 0; w < system->walkers; w++)
        for (int64_t i = 0; i < n; i++)
            if (rounded[w * n + i] &&
                !find_place(me, contact > 0 ? &cells : NULL, w, i, positions + 3 * w * n))
                return host->fail(host->context, PLUGMC_ERROR_INPUT,
                                  "particle %lld of walker %d overlaps, or is where it may not be, when "
                                  "places are rounded to %g: use precision = double",
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

/* Terms without a pair energy first: hard cores on the CPU are looked up in cells. */
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
            if (!energies) me->hard_count = me->term_count;
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
    snprintf(me->defines[4], sizeof me->defines[4], "BRUSH_MARGIN=%.17g",
             pow(contact_margin(host->system, me->precision), 2));
    snprintf(me->defines[5], sizeof me->defines[5], "BRUSH_DOUBLE=1");
    const int count = me->precision == SINGLE ? 5 : 6;
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
        .double_precision = index != SWEEP || me->precision == DOUBLE,
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
                  {&me->d_positions, 3 * n * walkers * 8},
                  {&me->d_rows, n * walkers * 8}};
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++)
        TRY(gpu->allocate(host->context, wanted[k].bytes, wanted[k].to));
    double step = me->step;
    return gpu->upload(host->context, d->step, &step, sizeof step);
}

static int prepare_walkers(brush *me, const plugmc_host *host)
{
    const plugmc_system *system = me->system;
    const size_t n = (size_t)system->particles, size = me->real_size, cells = (size_t)me->grid.cells;
    char *charge = host->allocate(host->context, n * size), *diameter = host->allocate(host->context, n * size);
    int32_t *species = host->allocate(host->context, n * sizeof *species);
    me->walkers = host->allocate(host->context, (size_t)system->walkers * sizeof *me->walkers);
    const double margin = contact_margin(system, me->precision);
    int enough = charge && diameter && species && me->walkers;
    for (int32_t w = 0; w < system->walkers && enough; w++) {
        char *places = host->allocate(host->context, 6 * n * size);
        double *changes = host->allocate(host->context, 2 * n * sizeof *changes);
        int32_t *lists = host->allocate(host->context, (cells + n) * sizeof *lists);
        me->walkers[w] = (arrays){places,           places + n * size,     places + 2 * n * size,
                                  places + 3 * n * size, places + 4 * n * size, places + 5 * n * size,
                                  charge,           diameter,              species,
                                  changes,          changes + n,           lists,
                                  lists + cells};
        enough = places && changes && lists;
    }
    if (!enough)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d walkers of %zu particles",
                          system->walkers, n);
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            set(me, charge, i, system->species[s].charge);
            set(me, diameter, i, system->species[s].diameter * margin);
            species[i] = s;
        }
    return PLUGMC_OK;
}

static int prepare_groups(brush *me, const plugmc_host *host)
{
    const plugmc_system *system = me->system;
    const size_t size = me->real_size, g = (size_t)me->group, threads = (size_t)system->threads;
    const int groups = system->walkers >= system->threads ? system->threads : 1;
    me->groups = host->allocate(host->context, (size_t)groups * sizeof *me->groups);
    int enough = me->groups != NULL;
    for (int k = 0; k < groups && enough; k++) {
        char *pairs = host->allocate(host->context, (2 * g + threads) * g * size);
        char *taken = host->allocate(host->context, g);
        me->groups[k] = (group){pairs, pairs + g * g * size, pairs + 2 * g * g * size, taken};
        enough = pairs && taken;
    }
    return enough ? PLUGMC_OK
                  : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for groups of %zu", g);
}

static int prepare_on_host(brush *me, const plugmc_host *host)
{
    const int64_t n = me->system->particles;
    me->group = me->group_size < n ? me->group_size : n;
    /* a hair more, for what float makes of distances */
    me->grid = grid_of(me->system, largest_contact(me->system) *
                                       contact_margin(me->system, me->precision) * (1 + 1e-6));
    TRY(prepare_walkers(me, host));
    return prepare_groups(me, host);
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
    TRY(take_sums(me, host)); /* when reading: so that nothing from before is added later */
    TRY(archive->bytes(archive, "step", &me->step, sizeof me->step));
    if (archive->reading && host->gpu)
        TRY(host->gpu->upload(host->context, me->d.step, &me->step, sizeof me->step));
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
