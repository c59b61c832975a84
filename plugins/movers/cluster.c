/* cluster: many particles at once are reflected at a point; nothing is rejected.
 *
 * A place c and a particle are drawn. The particle goes from r to 2c - r, and takes with it each of those that it
 * leaves or meets with probability
 *
 *     1 - exp(-D / kT),     D = v(2c - r_i, r_j) - v(r_i, r_j) > 0,
 *
 * so all that it would overlap; these go on in the same way. What is left has the weight that it had: the geometric
 * cluster move (C. Dress, W. Krauth, J. Phys. A 28, L597 (1995); J. Liu, E. Luijten, Phys. Rev. Lett. 92, 035504
 * (2004)). It is for particles of unlike size, for dilute ones that stick, and to change the composition of boxes
 * that demix; where particles are dense nearly all of them go together, which changes nothing. A reflection at a
 * point maps each periodic box to itself, so boxes may have any shape.
 *
 * The same file, compiled with CLUSTER_BODIES, is the mover cluster_bodies, for particles with orientations: they make
 * half-turns, in two dimensions about c, which turns each of them by half a turn; in three about an axis through c that is
 * parallel to x, y or z, each as probable as the others, and either way round. On quaternions these permute the four integers
 * and change signs (plugmc/orientation.h), so nothing is rounded. They map rectangular boxes to themselves.
 *
 * Whether two are tied is the same seen from either, and is decided by a number that belongs to the two. So a cluster
 * does not depend on the order in which it is found, nor on how particles are sorted.
 *
 * Cluster k of sweep s in walker w draws with D(index, purpose, draw) = plugmc_draw(seed, s clusters + k, w, index,
 * purpose, draw): the particle, species by species, by word 0 of D(0, ORDER, 0); the place by
 * fractional coordinates as plugmc_draw_position. The number of i < j is that of words 0 and 1 of
 * plugmc_draw(own, s clusters + k, w, j, ACCEPT, 0), own = words 0 and 1 of D(i, ACCEPT, 0). The axis of half-turns is by
 * word 1 of D(0, ORDER, 0), their sense by the lowest bit of word 2.
 */
#include <math.h>
#include <plugmc/everything.h>
#include <stdio.h>
#include <string.h>

#include "half_turns.h"

#ifndef CLUSTER_BODIES
#define CLUSTER_BODIES 0
#endif

enum { MOST_AROUND = 27 };

/* A walker. */
typedef struct flock {
    plugmc_box box;
    int64_t count;            /* particles that are there */
    int32_t *number;          /* [count]: of these */
    double *x, *y, *z;        /* [capacity] */
    int32_t cells[3];         /* in each direction */
    int32_t *head;            /* [cells]: first particle, -1: none */
    int32_t *next, *previous; /* [capacity]; -1: none */
    uint8_t *moved;           /* [capacity] */
    int32_t *waiting;         /* [capacity]: moved, and its neighbours not looked at yet */
    int32_t *near;            /* [capacity]: of one particle, here and there */
    double *near_x[5];        /* [capacity]: x, y, z, charge, diameter of these */
    int32_t *near_species;
    plugmc_orientation *orientation; /* [capacity], of bodies */
    double *change, *sum;            /* [capacity]: of a term, of all */
    const double *multiplier;        /* [terms] */
    int64_t clusters;                /* of this call */
    int64_t measured_clusters;       /* since the last measurement */
    double reflected;                /* likewise: sum of the shares of particles that went along */
    int32_t lost;                    /* 1: an energy was not a number */
    uint64_t lost_sweep;
    int32_t lost_particle;
} flock;

typedef struct cluster {
    int64_t clusters; /* parameter */
    int32_t asked;    /* 1: measured before */
    const plugmc_system *system;
    double reach, range; /* of pairs; that half of the box must hold, 0 without bodies; length */
    flock *flocks;
    int64_t rooms;             /* cells that `head` has room for */
    double *charge, *diameter; /* [capacity] */
    const int32_t *species;    /* [capacity] */
    plugmc_counts *counts;     /* [rungs] */
    int32_t *rung;             /* [walkers] */
    double *multipliers;       /* [walkers][width] */
} cluster;

/* ---- Cells ----------------------------------------------------------------------------------------- */

static int64_t cell_of(const flock *f, int64_t i)
{
    const double r[3] = {f->x[i], f->y[i], f->z[i]};
    int64_t cell = 0;
    for (int d = f->box.dimension - 1; d >= 0; d--) {
        double s = 0;
        for (int e = 0; e < 3; e++) s += r[e] * f->box.inverse[e][d];
        s -= floor(s);
        int32_t k = (int32_t)(s * f->cells[d]);
        if (k >= f->cells[d]) k = f->cells[d] - 1;
        cell = cell * f->cells[d] + k;
    }
    return cell;
}

static void put(flock *f, int32_t i)
{
    int32_t *head = &f->head[cell_of(f, i)];
    f->previous[i] = -1;
    f->next[i] = *head;
    if (*head >= 0) f->previous[*head] = i;
    *head = i;
}

static void pick(flock *f, int32_t i)
{
    if (f->previous[i] >= 0)
        f->next[f->previous[i]] = f->next[i];
    else
        f->head[cell_of(f, i)] = f->next[i];
    if (f->next[i] >= 0) f->previous[f->next[i]] = f->previous[i];
}

/* Cells not narrower than the reach, as many as there is room for. */
static void lay_out(const cluster *c, flock *f)
{
    int64_t all = 1;
    for (int d = 0; d < 3; d++) {
        const double fits = d < f->box.dimension ? floor(plugmc_height(&f->box, d) / c->reach) : 1;
        const double most = floor(pow((double)c->rooms, 1.0 / f->box.dimension) + 1e-9);
        f->cells[d] = (int32_t)fmax(1, fmin(fits, d < f->box.dimension ? most : 1));
        all *= f->cells[d];
    }
    for (int64_t k = 0; k < all; k++) f->head[k] = -1;
    for (int64_t k = 0; k < f->count; k++) put(f, f->number[k]);
}

/* Cells around particle i, each once. */
static int around(const flock *f, int64_t i, int64_t out[MOST_AROUND])
{
    const int64_t own = cell_of(f, i), nx = f->cells[0], ny = f->cells[1], nz = f->cells[2];
    const int64_t at[3] = {own % nx, own / nx % ny, own / nx / ny}, n[3] = {nx, ny, nz};
    int64_t along[3][3];
    int many[3], found = 0;
    for (int d = 0; d < 3; d++) {
        many[d] = n[d] < 3 ? (int)n[d] : 3;
        for (int k = 0; k < many[d]; k++)
            along[d][k] = many[d] < 3 ? k : (at[d] + k - 1 + n[d]) % n[d];
    }
    for (int z = 0; z < many[2]; z++)
        for (int y = 0; y < many[1]; y++)
            for (int x = 0; x < many[0]; x++)
                out[found++] = along[0][x] + nx * (along[1][y] + ny * along[2][z]);
    return found;
}

/* Those around the place of i that have not moved, behind the first n in f->near. */
static int64_t gather(const cluster *c, flock *f, int64_t i, int64_t n)
{
    int64_t cells[MOST_AROUND];
    const int many = around(f, i, cells);
    for (int k = 0; k < many; k++)
        for (int32_t j = f->head[cells[k]]; j >= 0; j = f->next[j]) {
            if (f->moved[j]) continue;
            f->moved[j] = 2; /* found: not again at the other place */
            f->near[n] = j;
            f->near_x[0][n] = f->x[j], f->near_x[1][n] = f->y[j], f->near_x[2][n] = f->z[j];
            f->near_x[3][n] = c->charge[j], f->near_x[4][n] = c->diameter[j];
            f->near_species[n++] = c->species[j];
        }
    return n;
}

/* ---- A cluster ------------------------------------------------------------------------------------- */

/* Adds to f->sum [n] what a term of bodies does: INFINITY where i would overlap. Two that overlap as they are, nearer to each
 * other than rounding could tell, are not tied. */
static void add_changes_of_bodies(flock *f, const plugmc_term *term, double multiplier,
                                  const plugmc_particle *from, const plugmc_orientation turned[2],
                                  const double to[3], int64_t n)
{
    const plugmc_body *body = plugmc_body_of(term->plugin);
    plugmc_particle there = *from;
    there.x = to[0], there.y = to[1], there.z = to[2];
    for (int64_t k = 0; k < n; k++) {
        const plugmc_particles one = {1,
                                      f->near_x[0] + k,
                                      f->near_x[1] + k,
                                      f->near_x[2] + k,
                                      f->near_x[3] + k,
                                      f->near_x[4] + k,
                                      f->near_species + k};
        const plugmc_orientation *own = &f->orientation[f->near[k]];
        double before = 0, after = 0;
        const int64_t overlapped = body->energy(term->instance, &f->box, 1, from, &turned[0], &one,
                                                own, &before),
                      overlaps = body->energy(term->instance, &f->box, 1, &there, &turned[1], &one,
                                              own, &after);
        if (overlaps)
            f->sum[k] = overlapped ? f->sum[k] : INFINITY;
        else if (!overlapped)
            f->sum[k] += multiplier * (after - before);
    }
}

/* f->sum [n]: by how much -ln p grows between i and each of those near, when i alone goes to `to` (and, a body, turns from
 * the first to the second of `turned`). */
static void find_changes(const cluster *c, flock *f, int32_t i, const double to[3],
                         const plugmc_orientation turned[2], int64_t n)
{
    const plugmc_particle probe = {f->x[i],      f->y[i],        f->z[i],
                                   c->charge[i], c->diameter[i], c->species[i]};
    const plugmc_particles near = {
        n, f->near_x[0], f->near_x[1], f->near_x[2], f->near_x[3], f->near_x[4], f->near_species};
    memset(f->sum, 0, (size_t)n * sizeof *f->sum);
    for (int32_t t = 0; t < c->system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(c->system, t);
        const plugmc_pair *pair = term->plugin->potential->pair;
        if (term->sampled && CLUSTER_BODIES && plugmc_body_of(term->plugin))
            add_changes_of_bodies(f, term, f->multiplier[t], &probe, turned, to, n);
        if (!term->sampled || !pair) continue;
        pair->changes(term->instance, &f->box, 1, &probe, to, &near, f->change);
        for (int64_t k = 0; k < n; k++)
            f->sum[k] += f->change[k] == INFINITY ? INFINITY : f->multiplier[t] * f->change[k];
    }
}

static double number_of_pair(const plugmc_host *host, uint64_t s, uint32_t w, uint32_t i,
                             uint32_t j)
{
    const plugmc_random first =
        plugmc_draw(host->seed, s, w, i < j ? i : j, PLUGMC_PURPOSE_ACCEPT, 0);
    const plugmc_seed own = {.key = (uint64_t)first.word[0] << 32 | first.word[1],
                             .first_walker = host->seed.first_walker};
    const plugmc_random second = plugmc_draw(own, s, w, i < j ? j : i, PLUGMC_PURPOSE_ACCEPT, 0);
    return plugmc_uniform_double(second.word[0], second.word[1]);
}

/* Reflects or turns particle i, and has those that it takes with it wait. Returns how many wait. */
static int64_t reflect(const cluster *c, const plugmc_host *host, flock *f, uint64_t s, uint32_t w,
                       const symmetry *how, int32_t i, int64_t waiting)
{
    const double from[3] = {f->x[i], f->y[i], f->z[i]};
    double to[3];
    plugmc_orientation turned[2] = {{{0}}, {{0}}};
    map_place(&f->box, how, from, to);
    if (CLUSTER_BODIES) {
        turned[0] = turned[1] = f->orientation[i];
        turn_half(how, &turned[1]);
    }
    pick(f, i);
    int64_t n = gather(c, f, i, 0);
    f->x[i] = to[0], f->y[i] = to[1], f->z[i] = to[2];
    n = gather(c, f, i, n);
    f->x[i] = from[0], f->y[i] = from[1], f->z[i] = from[2];
    find_changes(c, f, i, to, turned, n);
    if (CLUSTER_BODIES) f->orientation[i] = turned[1];
    f->x[i] = to[0], f->y[i] = to[1], f->z[i] = to[2];
    put(f, i);
    for (int64_t k = 0; k < n; k++) {
        const int32_t j = f->near[k];
        f->moved[j] = 0;
        if (isnan(f->sum[k]) || f->sum[k] == -INFINITY) f->lost = 1, f->lost_particle = i;
        if (!(f->sum[k] > 0)) continue;
        if (f->sum[k] < INFINITY &&
            number_of_pair(host, s, w, (uint32_t)i, (uint32_t)j) >= -expm1(-f->sum[k]))
            continue;
        f->moved[j] = 1;
        f->waiting[waiting++] = j;
    }
    return waiting;
}

static void move_cluster(const cluster *c, const plugmc_host *host, flock *f, uint64_t s,
                         uint32_t w)
{
    const plugmc_trial draws = {.size = sizeof draws,
                                .walker = w,
                                .seed = host->seed,
                                .sweep = s,
                                .dimension = f->box.dimension,
                                .box = &f->box};
    const plugmc_random random = plugmc_draw(host->seed, s, w, 0, PLUGMC_PURPOSE_ORDER, 0);
    symmetry how = {.axis = 3};
    plugmc_draw_position(&draws, how.center);
    if (CLUSTER_BODIES && f->box.dimension == 3) {
        how.axis = (int32_t)plugmc_below(random.word[1], 3);
        how.backward = random.word[2] & 1;
    }
    f->measured_clusters++;
    if (!f->count) return;
    f->waiting[0] = f->number[plugmc_below(random.word[0], (uint32_t)f->count)];
    f->moved[f->waiting[0]] = 1;
    int64_t reflected = 0;
    for (int64_t waiting = 1; waiting > 0 && !f->lost; reflected++)
        waiting = reflect(c, host, f, s, w, &how, f->waiting[waiting - 1], waiting - 1);
    for (int64_t k = 0; k < f->count; k++) f->moved[f->number[k]] = 0;
    f->reflected += (double)reflected / (double)f->count;
    f->clusters++;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    cluster *c = instance;
    const int32_t walkers = c->system->walkers, threads = c->system->threads;
    int stopped = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)                   \
    reduction(|                                                                                    \
              : stopped)
    for (int32_t w = 0; w < walkers; w++) {
        flock *f = &c->flocks[w];
        for (uint64_t k = 0; k < n * (uint64_t)c->clusters && !f->lost && !stopped; k++) {
            stopped |= host->stopping(host->context);
            f->lost_sweep = first + k / (uint64_t)c->clusters;
            if (!stopped) move_cluster(c, host, f, first * (uint64_t)c->clusters + k, (uint32_t)w);
        }
    }
    for (int32_t w = 0; w < walkers; w++) {
        c->counts[c->rung[w]].trials += (uint64_t)c->flocks[w].clusters;
        c->counts[c->rung[w]].accepted += (uint64_t)c->flocks[w].clusters;
        c->flocks[w].clusters = 0;
    }
    for (int32_t w = 0; w < walkers; w++) {
        const flock *f = &c->flocks[w];
        const plugmc_not_a_number where = {.size = sizeof where,
                                           .walker = w,
                                           .particle = f->lost_particle,
                                           .sweep = f->lost_sweep};
        if (f->lost) return host->not_a_number(host->context, &where);
    }
    return stopped ? PLUGMC_STOPPED : PLUGMC_OK;
}

/* ---- The configuration ------------------------------------------------------------------------------ */

static void fill(const cluster *c, flock *f, const int64_t *count, const double *positions)
{
    const plugmc_system *system = c->system;
    f->count = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s] + count[s]; i++) {
            f->x[i] = positions[3 * i];
            f->y[i] = positions[3 * i + 1];
            f->z[i] = positions[3 * i + 2];
            f->number[f->count++] = (int32_t)i;
        }
    lay_out(c, f);
}

static int take(void *instance, const plugmc_host *host, const plugmc_state *state,
                uint32_t changed)
{
    cluster *c = instance;
    const int kinds[] = {PLUGMC_STATE_BOX,        PLUGMC_STATE_COUNT, PLUGMC_STATE_POSITION,
                         PLUGMC_STATE_MULTIPLIER, PLUGMC_STATE_RUNG,  PLUGMC_STATE_ORIENTATION};
    void *arrays[6];
    size_t row[6];
    int code = PLUGMC_OK;
    (void)changed;
    for (int k = 0; k < 5 + CLUSTER_BODIES && !code; k++)
        code = state->array(state, kinds[k], PLUGMC_ON_HOST, PLUGMC_READ, &arrays[k], &row[k]);
    for (int32_t w = 0; w < c->system->walkers && !code; w++) {
        flock *f = &c->flocks[w];
        double shortest = INFINITY;
        f->box = ((const plugmc_box *)arrays[0])[w];
        for (int d = 0; d < f->box.dimension; d++)
            shortest = fmin(shortest, plugmc_height(&f->box, d));
        if (2 * c->range > shortest) /* hard cores take the nearest image */
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the range %g of the potentials is more than half of the box of "
                              "walker %d, which is %g wide",
                              c->range, w, shortest);
        memcpy(c->multipliers + w * c->system->multipliers, (char *)arrays[3] + (size_t)w * row[3],
               (size_t)c->system->multipliers * sizeof(double));
        f->multiplier = c->multipliers + w * c->system->multipliers;
        c->rung[w] = ((const int32_t *)arrays[4])[w];
        if (CLUSTER_BODIES)
            memcpy(f->orientation, (char *)arrays[5] + (size_t)w * row[5],
                   (size_t)c->system->particles * sizeof *f->orientation);
        fill(c, f, (const int64_t *)((char *)arrays[1] + (size_t)w * row[1]),
             (const double *)((char *)arrays[2] + (size_t)w * row[2]));
    }
    return code;
}

static int give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    cluster *c = instance;
    double *positions;
    void *orientations = NULL;
    size_t row = 0;
    int code =
        plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ | PLUGMC_WRITE, &positions);
    if (!code && CLUSTER_BODIES)
        code = state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_HOST,
                            PLUGMC_READ | PLUGMC_WRITE, &orientations, &row);
    (void)host;
    for (int32_t w = 0; w < c->system->walkers && !code; w++) {
        const flock *f = &c->flocks[w];
        for (int64_t k = 0; k < f->count; k++) {
            const int64_t i = f->number[k];
            double *to = positions + 3 * (w * c->system->particles + i);
            to[0] = f->x[i], to[1] = f->y[i], to[2] = f->z[i];
        }
        if (CLUSTER_BODIES)
            memcpy((char *)orientations + (size_t)w * row, f->orientation,
                   (size_t)c->system->particles * sizeof *f->orientation);
    }
    return code;
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    cluster *c = instance;
    const size_t bytes = (size_t)host->system->rungs * sizeof *out;
    memcpy(out, c->counts, bytes);
    if (clear) memset(c->counts, 0, bytes);
    return PLUGMC_OK;
}

/* ---- Memory ----------------------------------------------------------------------------------------- */

/* Boxes may grow: more cells than particles would be empty. */
static int make_flock(const cluster *c, const plugmc_host *host, flock *f)
{
    const size_t n = (size_t)c->system->particles;
    const struct {
        void **at;
        size_t bytes;
    } arrays[] = {{(void **)&f->number, n * sizeof(int32_t)},
                  {(void **)&f->x, n * sizeof(double)},
                  {(void **)&f->y, n * sizeof(double)},
                  {(void **)&f->z, n * sizeof(double)},
                  {(void **)&f->head, (size_t)c->rooms * sizeof(int32_t)},
                  {(void **)&f->next, n * sizeof(int32_t)},
                  {(void **)&f->previous, n * sizeof(int32_t)},
                  {(void **)&f->moved, n},
                  {(void **)&f->waiting, n * sizeof(int32_t)},
                  {(void **)&f->near, n * sizeof(int32_t)},
                  {(void **)&f->near_x[0], n * sizeof(double)},
                  {(void **)&f->near_x[1], n * sizeof(double)},
                  {(void **)&f->near_x[2], n * sizeof(double)},
                  {(void **)&f->near_x[3], n * sizeof(double)},
                  {(void **)&f->near_x[4], n * sizeof(double)},
                  {(void **)&f->near_species, n * sizeof(int32_t)},
                  {(void **)&f->change, n * sizeof(double)},
                  {(void **)&f->sum, n * sizeof(double)},
                  {(void **)&f->orientation, n * sizeof(plugmc_orientation)}};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        if (!(*arrays[k].at = host->allocate(host->context, arrays[k].bytes)))
            return PLUGMC_ERROR_MEMORY;
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    cluster *c = instance;
    const plugmc_system *system = c->system = host->system;
    const size_t n = (size_t)system->particles, walkers = (size_t)system->walkers;
    int32_t *species = host->allocate(host->context, n * sizeof *species);
    if (CLUSTER_BODIES && !system->bodies)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "no potential of the run is of bodies: for particles without orientations "
            "there is 'cluster'");
    if (CLUSTER_BODIES && system->box.oblique)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "half-turns need a rectangular box");
    c->range = CLUSTER_BODIES ? system->range : 0;
    c->reach = system->range > 0 ? system->range : 1e300; /* nobody meets anybody */
    c->rooms = system->particles > 64 ? system->particles : 64;
    c->species = species;
    c->flocks = host->allocate(host->context, walkers * sizeof *c->flocks);
    c->charge = host->allocate(host->context, n * sizeof *c->charge);
    c->diameter = host->allocate(host->context, n * sizeof *c->diameter);
    c->counts = host->allocate(host->context, (size_t)system->rungs * sizeof *c->counts);
    c->rung = host->allocate(host->context, walkers * sizeof *c->rung);
    c->multipliers = host->allocate(host->context,
                                    walkers * (size_t)system->multipliers * sizeof *c->multipliers);
    int code =
        species && c->flocks && c->charge && c->diameter && c->counts && c->rung && c->multipliers
            ? PLUGMC_OK
            : PLUGMC_ERROR_MEMORY;
    for (int32_t s = 0; s < system->species_count && !code; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            species[i] = s;
            c->charge[i] = plugmc_species_at(system, s)->charge;
            c->diameter[i] = plugmc_species_at(system, s)->diameter;
        }
    for (size_t w = 0; w < walkers && !code; w++) code = make_flock(c, host, &c->flocks[w]);
    return code ? host->fail(host->context, code, "no memory for %zu particles", n * walkers)
                : PLUGMC_OK;
}

/* ---- How large clusters are --------------------------------------------------------------------------- */

static const plugmc_listing listing[] = {
    {"cluster_size", "", "fraction of the particles in a cluster", 0, 0}};

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 && plugmc_scalar(out, listing[0].name, "", listing[0].doc);
}

/* Since the last measurement, of which there has to be something. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    cluster *c = instance;
    (void)view;
    for (int32_t w = 0; w < c->system->walkers; w++) {
        flock *f = &c->flocks[w];
        if (!f->measured_clusters && c->asked)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "no cluster was made since the last measurement: period must "
                              "be a multiple of every");
        values[w] = f->measured_clusters ? f->reflected / (double)f->measured_clusters : 0;
        f->reflected = 0;
        f->measured_clusters = 0;
    }
    c->asked = 1;
    return PLUGMC_OK;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    cluster *c = instance;
    int code = a->bytes(a, "asked", &c->asked, sizeof c->asked);
    (void)host;
    for (int32_t w = 0; w < c->system->walkers && !code; w++) {
        flock *f = &c->flocks[w];
        double both[2] = {f->reflected, (double)f->measured_clusters};
        code = plugmc_archive_walker(a, "reflected", w, both, sizeof both);
        f->reflected = both[0], f->measured_clusters = (int64_t)both[1];
    }
    return code;
}

#if CLUSTER_BODIES
#define NAME "cluster_bodies"
#define SUMMARY "clusters of bodies make half-turns, without rejection"
#define TURNS PLUGMC_CHANGED_ORIENTATION
#define USES (PLUGMC_USES_PAIR | PLUGMC_USES_BODY)
#else
#define NAME "cluster"
#define SUMMARY "clusters of particles are reflected at a point, without rejection"
#define TURNS 0
#define USES PLUGMC_USES_PAIR
#endif
static const plugmc_observable observable = {
    .size = sizeof observable,
    .on_device = 1,
    .quantity = quantity,
    .measure = measure,
    .listing = listing,
    .listing_count = PLUGMC_COUNT(listing),
    .listing_size = sizeof(plugmc_listing),
    .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_WEIGHT | TURNS,
    .depends_on = PLUGMC_ON_HISTORY,
    /* clusters of the sweeps before, by the energies of the run */};

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(cluster, clusters, "1", 1, 1e9, "", "clusters per walker and sweep"),
};

static const plugmc_move moves[] = {
    {.name = "cluster",
     .doc = CLUSTER_BODIES ? "turns bodies by half a turn, without rejection"
                           : "reflects particles at a point, without rejection"}};

static const plugmc_driver driver = {.size = sizeof driver, .load = take, .store = give};

PLUGMC_PLUGIN(
        .name = NAME, .summary = SUMMARY,
        .reference = "Liu, Luijten, Phys. Rev. Lett. 92, 035504 (2004)",
        PLUGMC_KEYS(cluster, table),
        PLUGMC_MOVER_WITH(
            moves,
            .needs = USES | PLUGMC_NEEDS_FINITE_RANGE | PLUGMC_NEEDS_PERIODIC | PLUGMC_RUNS_ON_CPU,
            .changes = PLUGMC_CHANGED_POSITION | TURNS,
            .follows = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                       PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG | TURNS,
            .sweep = sweep, .counts = counts,
            .good_for = "particles of very different size, dilute sticky particles, demixing; not "
                        "for dense systems, where a cluster contains all particles",
            .driver = &driver),
        .observable = &observable, .prepare = prepare, .archive = archive)
