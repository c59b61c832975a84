/* checkerboard: massively parallel Monte Carlo for pair potentials of finite range.
 *
 * J. A. Anderson, E. Jankowski, T. L. Grubb, M. Engel, S. C. Glotzer, J. Comput. Phys. 254, 27
 * (2013), Algorithm 1. The box is divided into cells at least as wide as the range. A sweep goes
 * through the 4 (8 in three dimensions) checkerboard sets in random order; all cells of a set are
 * updated at the same time, each making `trials` trial moves of its particles in random order;
 * a move that leaves the cell is rejected. Then the cells are shifted by a random distance along
 * a random axis. Every sweep has exactly one inverse, so detailed balance holds sweep by sweep.
 *
 * The cells are the store: a particle is three floats relative to the centre of its cell, in a
 * slot of that cell. Coordinates are integer multiples of 2^-23 of the cell edge, which makes all
 * sums of coordinates exact (see checkerboard.cu); CPU and GPU then take the same decisions. The
 * CPU treats 16 cells of a row at once, a lane each.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugmc/plugin.h"

#include "../../join_texts.h"

#include "checkerboard.cu"

PLUGMC_EMBED(checkerboard_kernels, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(checkerboard_wide, CHECKERBOARD_WIDE_FILE);
PLUGMC_EMBED(checkerboard_disks, CHECKERBOARD_DISKS_FILE);

enum {
    LANES = PLUGMC_LANE_BLOCK,
    PAD = 8,           /* words left of a half row: the last is the periodic image of its end */
    MOST = 64,         /* slots a cell, at most */
    MANY = 64,         /* more particles near a cell than this: see `wide` */
    WARP = 32,
    CHUNK = 256,       /* sweeps between looks at the overflow flag */
    BATCH = 32         /* sweeps a CUDA graph: even, since a sweep swaps the two stores */
};

typedef struct store {
    float *coordinate; /* [walker][axis][slot][z][y][x % 2][row]; empty slots: PLUGMC_NOWHERE in x */
    uint32_t *id;      /* [walker][slot][z][y][x % 2][row] */
    uint8_t *count;    /* [walker][z][y][x % 2][row] */
} store;

typedef struct device_store {
    plugmc_device_pointer coordinate, id, count;
} device_store;

/* How the whole sweep of a system of disks is shared out: see disks.cu. */
typedef struct patch {
    int x, y, threads; /* cells that a block makes the sweep of; 0 if no block does */
    int resident;      /* blocks for which a multiprocessor has to have room */
    int chosen;        /* 1: random numbers are drawn before the sweep before has ended */
} patch;

typedef struct checkerboard {
    /* parameters */
    int64_t trials;
    real step, target_acceptance, cell;
    int32_t shuffle_particles, shuffle_sets, shift_cells, identities;

    /* geometry */
    const plugmc_system *system;
    int dimension, walkers, species, capacity, ids, energies;
    int near;    /* room for particles within the range of a cell, on the GPU */
    int wide;    /* many are expected there: a warp takes a cell, and energies are added in its order */
    float reach; /* square of the range in units of width[0] */
    int bounded; /* geometry rules out more than `capacity` and `near` */
    int m[3];        /* cells, even */
    double width[3]; /* cell edges, length */
    int half, row;   /* cells in half a row, its stride in words */
    int64_t plane, axis, walker; /* words of a slot, of an axis, of a walker */
    float scale, ratio[3];
    float *contact;          /* [species][species]: squares in units of width[0] */
    float *charge, *diameter; /* [species] */

    /* state */
    store now, next;
    int64_t *origin; /* [walkers][3]: of the cells, in quanta */
    plugmc_counts counts;

    /* GPU */
    device_store on_now, on_next, snapshot;
    plugmc_device_pointer d_origin, d_plans, d_base, d_step, d_counts, d_overflow, d_offset;
    plugmc_device_pointer d_saved_origin, d_saved_counts; /* of the snapshot */
    plugmc_kernel *k_plan, *k_advance, *k_subsweep, *k_shift, *k_sweep, *k_number, *k_store;
    patch patch;
    plugmc_graph *graph[2]; /* of BATCH sweeps, starting from either store */
    int swapped;            /* which store is `now`: index into graph */
    char defines_text[28][48];
    const char *defines[31];
} checkerboard;

/* ---- Geometry -------------------------------------------------------------------------------- */

static int64_t word_of(const checkerboard *me, int x, int y, int z)
{
    return (((int64_t)z * me->m[1] + y) * 2 + (x & 1)) * me->row + PAD + (x >> 1);
}

static int species_of(const checkerboard *me, uint32_t id)
{
    int s = 0;
    while (s + 1 < me->species && id >= me->system->first[s + 1]) s++;
    return s;
}

static plugmc_particle particle_of(const plugmc_system *system, int s)
{
    return (plugmc_particle){.charge = system->species[s].charge,
                             .diameter = system->species[s].diameter,
                             .species = s};
}

/* Contact distance of two species: the largest of all sampled terms. */
static double contact_distance(const plugmc_system *system, int a, int b)
{
    double contact = 0;
    plugmc_particle pa = particle_of(system, a), pb = particle_of(system, b);
    for (int t = 0; t < system->term_count; t++) {
        const plugmc_term *term = &system->terms[t];
        const plugmc_pair *pair = term->plugin->potential->pair;
        if (term->sampled && pair) contact = fmax(contact, pair->contact(term->instance, &pa, &pb));
    }
    return contact;
}

/* Smallest contact distance of any two particles; 0 if some do not have a hard core. */
static double smallest_contact(const plugmc_system *system)
{
    double least = INFINITY;
    for (int a = 0; a < system->species_count; a++)
        for (int b = 0; b < system->species_count; b++)
            least = fmin(least, contact_distance(system, a, b));
    return isfinite(least) ? least : 0;
}

/* Cells in each direction: even, edges at least the range. In two dimensions hard disks take
 * cells just below sqrt(2) diameters where they can, the widest that hold at most four (figure 3
 * of the paper); else cells are as small as the range allows. The key `cell` overrules this. */
static int divide(checkerboard *me, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    double core = smallest_contact(system), range = system->range;
    if (me->cell > 0 && me->cell < range)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "cell = %g must be at least the range %g of the potential",
                          (double)me->cell, range);
    if (me->cell > 0) range = me->cell;
    for (int a = 0; a < 3; a++) {
        if (a >= me->dimension) {
            me->m[a] = 1;
            me->width[a] = 1;
            continue;
        }
        double edge = system->box.length[a];
        double most = 2 * floor(edge / (2 * range)); /* narrowest cells allowed */
        double wide = 2 * floor(edge / (2 * 1.41421 * core)) + 2;
        double m = me->dimension == 2 && core > 0 && wide <= most ? wide : most;
        if (me->cell > 0) m = most;
        if (range <= 0) /* nothing interacts: a particle a cell */
            m = 2 * fmax(1, floor(edge / 2 * pow((double)system->particles / system->box.volume,
                                                 1.0 / me->dimension)));
        if (m < 2) {
            for (int b = 0; b < me->dimension; b++) edge = fmin(edge, system->box.length[b]);
            double smallest = (double)system->particles * pow(2 * range / edge, me->dimension);
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the box edge %g is below twice the %s %g%s, so "
                              "there is no checkerboard of cells; at this density the smallest "
                              "system has N = %.0f particles (mover 'serial' takes any)",
                              edge, me->cell > 0 ? "cell" : "range", range,
                              me->cell > 0 ? "" : " of the potential", ceil(smallest));
        }
        if (m > 1 << 15) m = 1 << 15;
        me->m[a] = (int)m;
        me->width[a] = edge / m;
    }
    return PLUGMC_OK;
}

/* Most points a distance 1 apart in a convex region of the plane of this area and boundary: Oler,
 * Acta Math. 105, 19 (1961). */
static double most_points(double area, double boundary)
{
    return floor(2 / sqrt(3) * area + 0.5 * boundary + 1);
}

/* Hard particles that fit into one cell; infinite where we know of no bound. */
static double most_in_cell(const checkerboard *me, double core, double widest)
{
    if (core <= 0) return INFINITY;
    /* a fifth disk needs a diagonal of 2, a ninth sphere one of 2, in units of the diameter */
    if (me->dimension == 2 && widest < 1.41421 * core) return 4;
    if (me->dimension == 3) return widest < 1.15470 * core ? 8 : INFINITY;
    double x = me->width[0] / core, y = me->width[1] / core;
    return most_points(x * y, 2 * (x + y));
}

/* Slots a cell, and room for particles near one. Where geometry bounds the number of hard particles
 * by no more than we would guess, that is enough for ever; else a guess, which grows when it is
 * exceeded. */
static void guess_capacity(checkerboard *me)
{
    const plugmc_system *system = me->system;
    double core = smallest_contact(system), cell = 1, widest = 0;
    for (int a = 0; a < me->dimension; a++) {
        cell *= me->width[a];
        widest = fmax(widest, me->width[a]);
    }
    double mean = (double)system->particles * cell / system->box.volume;
    double guess = fmin(ceil(mean + 4 * sqrt(mean) + 3), MOST);
    double bound = most_in_cell(me, core, widest);
    me->capacity = (int)fmin(guess, bound);
    me->bounded = me->dimension == 2 && bound <= guess;

    /* Within the range r of a cell: area w^2 + 4 w r + pi r^2, boundary 4 w + 2 pi r. One more
     * entry marks the end. */
    double w = widest, r = system->range;
    double region = me->dimension == 2 ? w * w + 4 * w * r + M_PI * r * r
                                       : w * w * w + 6 * w * w * r + 3 * M_PI * w * r * r +
                                             4 * M_PI / 3 * r * r * r;
    mean = (double)system->particles * region / system->box.volume;
    int all = me->capacity * (me->dimension == 2 ? 9 : 27);
    me->near = (int)ceil(mean + 4 * sqrt(mean) + 4);
    if (me->bounded)
        me->near = (int)most_points(region / (core * core), (4 * w + 2 * M_PI * r) / core) + 1;
    if (me->near > all + 1) me->near = all + 1;

    /* A thread of the GPU that takes a cell keeps these particles in a column of shared memory. With
     * more than 64 of them, less than 9 warps fit on a multiprocessor, too few to hide latencies; and
     * a warp that takes a cell has two a lane or more. This is decided once and for all, since the
     * order in which energies are added hangs on it: `near` may grow later. */
    me->wide = me->near > MANY;
}

static void set_strides(checkerboard *me)
{
    me->half = me->m[0] / 2;
    me->row = (PAD + (me->half + LANES - 1) / LANES * LANES + LANES + 31) / 32 * 32;
    me->plane = (int64_t)me->m[1] * me->m[2] * 2 * me->row;
    me->axis = me->capacity * me->plane;
    me->walker = me->dimension * me->axis;
}

/* Kernels count the slots of a walker in int. */
static int check_slots(const checkerboard *me, const plugmc_host *host)
{
    if ((double)me->plane * me->walkers * me->capacity <= 2e9) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%d walkers of %lld particles need more than 2^31 cell slots, with %d in each of "
                      "%d x %d x %d cells",
                      me->walkers, (long long)me->system->particles, me->capacity, me->m[0], me->m[1],
                      me->m[2]);
}

/* Whether cells of `mean` particles can hold them, and what would help if not: a box with room for two
 * more cells along its shortest edge has narrower ones, unless those would be crowded too. */
static int crowded(const checkerboard *me, const plugmc_host *host, double mean)
{
    const plugmc_system *system = host->system;
    const double range = me->cell > 0 ? me->cell : system->range;
    const double density = (double)system->particles / system->box.volume;
    int shortest = 0;
    char remedy[160];
    for (int a = 1; a < me->dimension; a++)
        if (me->m[a] < me->m[shortest]) shortest = a;
    const double edge = (me->m[shortest] + 2) * range;
    if (mean <= MOST && mean + 2 * sqrt(mean) <= MOST) return PLUGMC_OK;
    if (density * pow(range, me->dimension) > MOST / 2)
        snprintf(remedy, sizeof remedy, "at this density the %s %g%s is too large",
                 me->cell > 0 ? "cell" : "range", range, me->cell > 0 ? "" : " of the potential");
    else
        snprintf(remedy, sizeof remedy,
                 "edges of %g or more (N = %.0f in %s at this density) have narrower cells", edge,
                 ceil(density * pow(edge, me->dimension) * (1 - 1e-9)),
                 me->dimension == 2 ? "a square" : "a cube");
    if (mean > MOST)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%.0f particles on average in a cell of edge %g are more than the %d that "
                          "mover 'checkerboard' takes: %s",
                          mean, me->width[shortest], MOST, remedy);
    host->warn(host->context,
               "%.0f particles on average in a cell of edge %g are close to the %d that mover "
               "'checkerboard' takes, and the run ends when one has more: %s",
               mean, me->width[shortest], MOST, remedy);
    return PLUGMC_OK;
}

static int geometry(checkerboard *me, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    me->system = system;
    me->dimension = system->box.dimension;
    me->walkers = system->walkers;
    me->species = system->species_count;
    me->ids = me->identities || me->species > 1;
    int code = divide(me, host);
    if (code) return code;
    for (int a = 0; a < me->dimension; a++)
        if (me->step >= 0.5 * me->width[a])
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "step = %g must be below half a cell, which is %g here", (double)me->step,
                              0.5 * me->width[a]);
    if (me->dimension == 3 && me->trials > 256) /* plugmc_draw has as many: one a trial move */
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "trials = %lld must be at most 256 in three dimensions",
                          (long long)me->trials);
    double mean = (double)system->particles / me->m[0] / me->m[1] / me->m[2];
    code = crowded(me, host, mean);
    if (code) return code;
    if (!me->capacity) guess_capacity(me);
    set_strides(me);
    code = check_slots(me, host);
    if (code) return code;

    me->scale = (float)me->width[0];
    /* the margin covers the rounding of distances to the cell */
    me->reach = (float)(system->range * system->range / (me->width[0] * me->width[0]) * 1.00001);
    for (int a = 0; a < 3; a++)
        me->ratio[a] = a < me->dimension ? (float)(me->width[a] / me->width[0]) : 1;
    int s = me->species;
    me->contact = (float *)host->allocate(host->context, sizeof(float) * s * s);
    me->charge = (float *)host->allocate(host->context, sizeof(float) * s);
    me->diameter = (float *)host->allocate(host->context, sizeof(float) * s);
    if (!me->contact || !me->charge || !me->diameter)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d species", s);
    for (int a = 0; a < s; a++) {
        me->charge[a] = (float)system->species[a].charge;
        me->diameter[a] = (float)system->species[a].diameter;
        for (int b = 0; b < s; b++) {
            /* A margin of 2^-22 covers the rounding of r^2 in float: what passes for apart is
             * apart in exact arithmetic. */
            double c = contact_distance(system, a, b) / me->width[0];
            me->contact[a * s + b] = c > 0 ? nextafterf((float)(c * c * (1 + 0x1p-22)), INFINITY) : 0;
        }
    }
    me->energies = 0;
    for (int t = 0; t < system->term_count; t++) {
        const plugmc_term *term = &system->terms[t];
        const plugmc_pair *pair = term->plugin->potential->pair;
        if (term->sampled && pair && pair->functions & PLUGMC_PAIR_ENERGY) me->energies++;
    }
    return PLUGMC_OK;
}

/* ---- A sub-sweep on the CPU: one row of active cells, LANES cells at a time ------------------ */

/* Loops over lanes carry nothing from one lane to the next. The word for it keeps the compiler from
 * unrolling short ones before it looks for vectors; long ones do without it. */
#define EACH_LANE(l) _Pragma("omp simd") for (int l = 0; l < LANES; l++)

/* Which cells of the row's neighbourhood, as in the kernel: c = dx + 3 dy + 9 dz. */
typedef struct row_view {
    const float *coordinate[3]; /* of the walker, by axis */
    const uint32_t *id;
    const uint8_t *count;
    int64_t word[27];   /* of lane 0 of the whole row, for each neighbouring cell */
    float offset[27][3]; /* of its centre from that of the cell in the middle */
    int cells;
} row_view;

typedef struct row_task {
    uint64_t sweep;
    int walker, x0, y, z; /* x0: parity of the set along x */
} row_task;

static row_view look_around(const checkerboard *me, const store *s, row_task task)
{
    row_view v;
    v.cells = me->dimension == 3 ? 27 : 9;
    for (int a = 0; a < 3; a++)
        v.coordinate[a] = s->coordinate + task.walker * me->walker +
                          (a < me->dimension ? a : 0) * me->axis;
    v.id = s->id + task.walker * me->axis;
    v.count = s->count + task.walker * me->plane;
    for (int c = 0; c < v.cells; c++) {
        int dx = c % 3 - 1, dy = c / 3 % 3 - 1, dz = me->dimension == 3 ? c / 9 - 1 : 0;
        int y = (task.y + dy + me->m[1]) % me->m[1], z = (task.z + dz + me->m[2]) % me->m[2];
        /* half-row index of cell x0 + dx: the image beyond either end lies in the padding */
        int x = task.x0 + dx;
        const float offset[3] = {(float)dx, (float)dy, (float)dz};
        memcpy(v.offset[c], offset, sizeof offset);
        int64_t base = (((int64_t)z * me->m[1] + y) * 2 + (x & 1)) * me->row + PAD;
        v.word[c] = base + (x < 0 ? -1 : x >> 1);
    }
    return v;
}

PLUGMC_FN void draw_lanes(const checkerboard *me, row_task task, uint32_t cell0, uint32_t purpose,
                          uint32_t draw, uint32_t words[4][LANES])
{
    for (int l = 0; l < LANES; l++) {
        plugmc_random r = plugmc_draw(me->system->seed, task.sweep, (uint32_t)task.walker,
                                      cell0 + 2 * (uint32_t)l, purpose, draw);
        for (int k = 0; k < 4; k++) words[k][l] = r.word[k];
    }
}

/* A slot of the cells around LANES active cells: where its particles are, relative to the centres
 * of the active cells, which is exact (see checkerboard.cu). */
typedef struct near_slot {
    _Alignas(64) float x[LANES];
    float y[LANES], z[LANES];
} near_slot;

/* The slots around LANES cells, those of the cells themselves first, then those of their
 * neighbours in the order of cells: as many of each as one of the lanes needs. */
typedef struct surroundings {
    near_slot slot[27 * MOST];
    uint8_t species[27 * MOST][LANES];
    int own, slots;
} surroundings;

PLUGMC_FN int largest_of_lanes(const uint8_t *count)
{
    uint8_t most = 0;
    for (int l = 0; l < LANES; l++) {
        const uint8_t there = count[l];
        most = there > most ? there : most;
    }
    return most;
}

/* Species of the particles in a slot of LANES cells; at: of the first of them. */
PLUGMC_FN void kinds_of(const checkerboard *me, const row_view *view, int64_t at, uint8_t *species)
{
    int32_t kind[LANES] = {0};
    for (int b = 1; b < me->species; b++) {
        const uint32_t first = (uint32_t)me->system->first[b];
        EACH_LANE(l) kind[l] += view->id[at + l] >= first;
    }
    EACH_LANE(l) species[l] = (uint8_t)kind[l];
}

/* After the active cells' own, those within the range of each lane's cell, one after the other and
 * filled up with nobody: slot 0 of all cells, in their order, then slot 1, and so on. */
PLUGMC_FN void gather_within_range(const checkerboard *me, const row_view *view, int q0,
                                   const int dim, const int many, surroundings *near)
{
    const int centre = view->cells / 2;
    const float ratio_y = me->ratio[1], ratio_z = me->ratio[2], reach = me->reach;
    const int lanes = me->half - q0 < LANES ? me->half - q0 : LANES; /* of the row */
    int32_t filled[LANES];
    int most[27], deepest = 0;
    for (int l = 0; l < LANES; l++) filled[l] = near->own;
    for (int c = 0; c < view->cells; c++) {
        most[c] = c == centre ? 0 : largest_of_lanes(view->count + view->word[c] + q0);
        deepest = most[c] > deepest ? most[c] : deepest;
    }
    for (int k = 0; k < deepest; k++)
        for (int c = 0; c < view->cells; c++) {
            if (k >= most[c]) continue;
            const float *d = view->offset[c];
            const int64_t at = k * me->plane + view->word[c] + q0;
            const float *x = view->coordinate[0] + at, *y = view->coordinate[1] + at;
            const float *z = view->coordinate[2] + at;
            const uint8_t *count = view->count + view->word[c] + q0;
            near_slot from = {0};
            uint8_t species[LANES] = {0};
            int32_t is_near[LANES];
            EACH_LANE(l) {
                from.x[l] = x[l] + d[0];
                from.y[l] = y[l] + d[1];
                if (dim == 3) from.z[l] = z[l] + d[2];
                const float square =
                    cb_square_outside(dim, from.x[l], from.y[l], from.z[l], (int)d[0], (int)d[1],
                                      (int)d[2], ratio_y, ratio_z);
                is_near[l] = (k < count[l]) & (square < reach);
            }
            if (many) kinds_of(me, view, at, species);
            for (int l = 0; l < lanes; l++) { /* the next overwrites whoever is not near */
                near_slot *to = &near->slot[filled[l]];
                to->x[l] = from.x[l];
                to->y[l] = from.y[l];
                if (dim == 3) to->z[l] = from.z[l];
                if (many) near->species[filled[l]][l] = species[l];
                filled[l] += is_near[l];
            }
        }
    near->slots = near->own;
    for (int l = 0; l < LANES; l++)
        near->slots = filled[l] > near->slots ? filled[l] : near->slots;
    for (int l = 0; l < LANES; l++)
        for (int e = filled[l]; e < near->slots; e++) {
            near->slot[e].x[l] = PLUGMC_NOWHERE;
            near->slot[e].y[l] = near->slot[e].z[l] = 0;
            near->species[e][l] = 0;
        }
}

/* n [LANES]: particles of the active cells. */
PLUGMC_FN void gather_surroundings(const checkerboard *me, const row_view *view, int q0,
                                   const int32_t *n, const int dim, const int many,
                                   const int wide, surroundings *near)
{
    const int centre = view->cells / 2;
    int slots = 0;
    for (int nth = 0; nth < (wide ? 1 : view->cells); nth++) {
        const int c = nth == 0 ? centre : nth <= centre ? nth - 1 : nth;
        const float dx = view->offset[c][0], dy = view->offset[c][1], dz = view->offset[c][2];
        const int most = largest_of_lanes(view->count + view->word[c] + q0);
        for (int k = 0; k < most; k++) {
            const int64_t at = k * me->plane + view->word[c] + q0;
            const float *x = view->coordinate[0] + at, *y = view->coordinate[1] + at;
            const float *z = view->coordinate[2] + at;
            near_slot *to = &near->slot[slots];
            EACH_LANE(l) {
                to->x[l] = x[l] + dx;
                to->y[l] = y[l] + dy;
                if (dim == 3) to->z[l] = z[l] + dz;
            }
            /* lanes past the end of the row must not move the particle of a periodic image */
            if (c == centre)
                EACH_LANE(l) {
                    const float there = to->x[l];
                    to->x[l] = k < n[l] ? there : PLUGMC_NOWHERE;
                }
            if (many) kinds_of(me, view, at, near->species[slots]);
            slots++;
        }
        if (c == centre) near->own = slots;
    }
    near->slots = slots;
    if (wide) gather_within_range(me, view, q0, dim, many, near);
}

/* The slots of each cell in the order of its trials: order[turn][lane], a random permutation of the
 * first n. */
PLUGMC_FN void draw_order(const checkerboard *me, row_task task, uint32_t cell0, const int32_t *n,
                          int own, int32_t order[][LANES])
{
    uint32_t words[4][LANES];
    int32_t j[LANES];
    for (int k = 0; k < own; k++)
        EACH_LANE(l) order[k][l] = k;
    if (!me->shuffle_particles) return;
    for (int k = own - 1; k > 0; k--) { /* Fisher-Yates in every lane */
        if (k == own - 1 || (k & 3) == 3)
            draw_lanes(me, task, cell0, PLUGMC_PURPOSE_ORDER, (uint32_t)k >> 2, words);
        EACH_LANE(l) {
            const int32_t drawn = (int32_t)plugmc_below(words[k & 3][l], (uint32_t)k + 1);
            j[l] = k < n[l] ? drawn : k;
        }
        for (int i = 0; i < k; i++)
            EACH_LANE(l) {
                const int32_t a = order[i][l], b = order[k][l];
                order[i][l] = j[l] == i ? b : a;
                order[k][l] = j[l] == i ? a : b;
            }
    }
}

/* Rejects the lanes in which the new position overlaps a particle. */
PLUGMC_FN void reject_overlaps(const checkerboard *me, const surroundings *near, const int dim,
                               const int many, const float *new_x, const float *new_y,
                               const float *new_z, const int32_t *kind, int32_t *reject)
{
    const float ratio_y = me->ratio[1], ratio_z = me->ratio[2];
    const float *contact = me->contact;
    const int slots = near->slots, species = me->species;
    int32_t overlap[LANES] = {0};
    for (int e = 0; e < slots; e++) {
        const near_slot *j = &near->slot[e];
        EACH_LANE(l) {
            const float ux = new_x[l] - j->x[l], uy = (new_y[l] - j->y[l]) * ratio_y;
            float r2 = fmaf(uy, uy, ux * ux);
            if (dim == 3) {
                const float uz = (new_z[l] - j->z[l]) * ratio_z;
                r2 = fmaf(uz, uz, r2);
            }
            const int pair = many ? kind[l] * species + near->species[e][l] : 0;
            overlap[l] |= r2 < contact[pair];
        }
    }
    EACH_LANE(l) reject[l] |= overlap[l];
}

/* The slots in the order in which their energies are added: in one part, or, where a warp of the GPU
 * takes a cell, in a part for each of its lanes. */
typedef struct slot_order {
    const float *x[27 * MOST], *y[27 * MOST], *z[27 * MOST];
    const uint8_t *species[27 * MOST];
    int first[WARP + 1]; /* of each part */
    int parts;
} slot_order;

PLUGMC_FN void order_slots(const surroundings *near, const int dim, const int wide,
                           slot_order *order)
{
    static const float flat[LANES]; /* z in two dimensions */
    const int parts = wide ? WARP : 1;
    int n = 0;
    for (int part = 0; part < parts; part++) {
        order->first[part] = n;
        for (int outside = 0; outside < 2; outside++)
            for (int e = part + outside * near->own; e < (outside ? near->slots : near->own);
                 e += parts, n++) {
                order->x[n] = near->slot[e].x;
                order->y[n] = near->slot[e].y;
                order->z[n] = dim == 3 ? near->slot[e].z : flat;
                order->species[n] = near->species[e];
            }
    }
    order->first[parts] = n;
    order->parts = parts;
}

/* Changes of energy by the trial moves of `move`, in whose `change` they are found. Sums of parts are
 * added like the leaves of a tree, as in wide.cu. */
PLUGMC_FN void change_energies(const checkerboard *me, const slot_order *order, plugmc_lanes move)
{
    float change[WARP][LANES];
    const int many = move.species != NULL;
    float *total = move.change;
    for (int part = 0; part < order->parts; part++) {
        const int first = order->first[part];
        EACH_LANE(l) change[part][l] = 0;
        move.x = order->x + first;
        move.y = order->y + first;
        move.z = order->z + first;
        move.species = many ? order->species + first : NULL;
        move.slots = order->first[part + 1] - first;
        move.change = change[part];
        for (int i = 0; i < me->system->term_count; i++) {
            const plugmc_term *term = &me->system->terms[i];
            if (!term->sampled) continue;
            const plugmc_pair *pair = term->plugin_single->potential->pair;
            if (pair->functions & PLUGMC_PAIR_ENERGY) pair->lanes(term->instance_single, &move);
        }
    }
    for (int half = order->parts / 2; half > 0; half /= 2)
        for (int part = 0; part < half; part++)
            EACH_LANE(l) change[part][l] += change[part + half][l];
    EACH_LANE(l) total[l] = change[0][l];
}

/* Trial moves of the cells of one row. dim, many (species), energies and wide are constants once this
 * is inlined into the variants below. */
PLUGMC_FN plugmc_counts update_row(const checkerboard *me, const store *s, row_task task,
                                   const int dim, const int many, const int energies,
                                   const int wide)
{
    const row_view view = look_around(me, s, task);
    const int centre = view.cells / 2;
    const float step[3] = {(float)(me->step / me->width[0]), (float)(me->step / me->width[1]),
                           (float)(me->step / me->width[2])};
    const int half = me->half;
    plugmc_counts counts = {0, 0};
    surroundings near;
    slot_order summed;

    for (int q0 = 0; q0 < half; q0 += LANES) {
        const uint32_t cell0 =
            (uint32_t)((task.z * me->m[1] + task.y) * me->m[0] + task.x0 + 2 * q0);
        const uint8_t *count = view.count + view.word[centre] + q0;
        int32_t n[LANES], order[MOST][LANES], turn[LANES] = {0}, accepted[LANES] = {0};
        uint32_t words[4][LANES], accept_words[4][LANES];
        int busy = 0; /* cells with particles */
#pragma omp simd reduction(+ : busy)
        for (int l = 0; l < LANES; l++) {
            const int32_t there = count[l];
            n[l] = q0 + l < half ? there : 0;
            busy += n[l] > 0;
        }
        if (!busy) continue;
        gather_surroundings(me, &view, q0, n, dim, many, wide, &near);
        if (energies) order_slots(&near, dim, wide, &summed);
        const int own_slots = near.own;
        draw_order(me, task, cell0, n, own_slots, order);

        for (int t = 0; t < me->trials; t++) {
            int32_t slot[LANES] = {0}, kind[LANES] = {0}, reject[LANES];
            float old_x[LANES] = {0}, old_y[LANES] = {0}, old_z[LANES] = {0};
            float new_x[LANES], new_y[LANES], new_z[LANES] = {0};

            for (int k = 0; k < own_slots; k++)
                EACH_LANE(l) {
                    const int32_t at = order[k][l];
                    slot[l] = turn[l] == k ? at : slot[l];
                }
            EACH_LANE(l) {
                const int32_t next = turn[l] + 1;
                turn[l] = next < n[l] ? next : 0;
            }
            for (int k = 0; k < own_slots; k++) {
                near_slot *own = &near.slot[k];
                EACH_LANE(l) {
                    const int mine = slot[l] == k;
                    const float x = own->x[l], y = own->y[l];
                    old_x[l] = mine ? x : old_x[l];
                    old_y[l] = mine ? y : old_y[l];
                    own->x[l] = mine ? PLUGMC_NOWHERE : x; /* not to meet itself */
                    if (dim == 3) {
                        const float z = own->z[l];
                        old_z[l] = mine ? z : old_z[l];
                    }
                    if (many) {
                        const int32_t species = near.species[k][l];
                        kind[l] = mine ? species : kind[l];
                    }
                }
            }
            if (dim == 2) {
                if (t % 4 == 0)
                    draw_lanes(me, task, cell0, PLUGMC_PURPOSE_TRIAL, (uint32_t)t / 4, words);
                EACH_LANE(l) {
                    float dx, dy;
                    cb_displacement_2(words[t % 4][l], step[0], step[1], &dx, &dy);
                    new_x[l] = old_x[l] + dx;
                    new_y[l] = old_y[l] + dy;
                }
            } else {
                draw_lanes(me, task, cell0, PLUGMC_PURPOSE_TRIAL, (uint32_t)t, words);
                EACH_LANE(l) {
                    float dx, dy, dz;
                    plugmc_random r = {{words[0][l], words[1][l], words[2][l], words[3][l]}};
                    cb_displacement_3(r, step[0], step[1], step[2], &dx, &dy, &dz);
                    new_x[l] = old_x[l] + dx;
                    new_y[l] = old_y[l] + dy;
                    new_z[l] = old_z[l] + dz;
                }
            }
            EACH_LANE(l) {
                const float x = new_x[l], y = new_y[l], z = new_z[l];
                reject[l] = (x < -0.5f) | (x >= 0.5f) | (y < -0.5f) | (y >= 0.5f);
                if (dim == 3) reject[l] |= (z < -0.5f) | (z >= 0.5f);
            }
            reject_overlaps(me, &near, dim, many, new_x, new_y, new_z, kind, reject);

            if (energies) {
                float change[LANES];
                uint8_t kinds[LANES];
                static const float nothing[27 * MOST][3]; /* they are relative to this cell */
                EACH_LANE(l) kinds[l] = (uint8_t)kind[l];
                const plugmc_lanes move = {
                    .size = sizeof move, .lanes = LANES, .scale = me->scale,
                    .ratio = {1, me->ratio[1], me->ratio[2]}, .offset = nothing,
                    .species = many ? summed.species : NULL, .charge = me->charge,
                    .diameter = me->diameter, .old_x = old_x, .old_y = old_y,
                    .old_z = dim == 3 ? old_z : new_z, .new_x = new_x, .new_y = new_y, .new_z = new_z,
                    .probe_species = many ? kinds : NULL, .change = change};
                change_energies(me, &summed, move);
                if (t % 4 == 0)
                    draw_lanes(me, task, cell0, PLUGMC_PURPOSE_ACCEPT, (uint32_t)t / 4, accept_words);
                EACH_LANE(l)
                    reject[l] |= !(plugmc_uniform_float(accept_words[t % 4][l]) <
                                   plugmc_exp(-change[l]));
            }

            EACH_LANE(l) {
                const float x = new_x[l], y = new_y[l], z = new_z[l];
                accepted[l] += 1 - reject[l];
                const float from_x = old_x[l], from_y = old_y[l], from_z = old_z[l];
                new_x[l] = reject[l] ? from_x : x;
                new_y[l] = reject[l] ? from_y : y;
                if (dim == 3) new_z[l] = reject[l] ? from_z : z;
            }
            for (int k = 0; k < own_slots; k++) {
                near_slot *own = &near.slot[k];
                EACH_LANE(l) {
                    const int mine = slot[l] == k;
                    const float x = own->x[l], y = own->y[l], to_x = new_x[l], to_y = new_y[l];
                    own->x[l] = mine ? to_x : x;
                    own->y[l] = mine ? to_y : y;
                    if (dim == 3) {
                        const float z = own->z[l], to_z = new_z[l];
                        own->z[l] = mine ? to_z : z;
                    }
                }
            }
        }
        counts.trials += (uint64_t)busy * (uint64_t)me->trials;
        for (int l = 0; l < LANES; l++) counts.accepted += (uint64_t)accepted[l];
        for (int k = 0; k < own_slots; k++) {
            const int64_t at = k * me->plane + view.word[centre] + q0;
            memcpy((float *)view.coordinate[0] + at, near.slot[k].x, sizeof near.slot[k].x);
            memcpy((float *)view.coordinate[1] + at, near.slot[k].y, sizeof near.slot[k].y);
            if (dim == 3)
                memcpy((float *)view.coordinate[2] + at, near.slot[k].z, sizeof near.slot[k].z);
        }
    }
    return counts;
}

static PLUGMC_TARGETS plugmc_counts update_row_disks(const checkerboard *me, const store *s, row_task t)
{
    return update_row(me, s, t, 2, 0, 0, 0);
}

static PLUGMC_TARGETS plugmc_counts update_row_spheres(const checkerboard *me, const store *s, row_task t)
{
    return update_row(me, s, t, 3, 0, 0, 0);
}

static PLUGMC_TARGETS plugmc_counts update_row_any(const checkerboard *me, const store *s, row_task t)
{
    return me->dimension == 2 ? update_row(me, s, t, 2, me->species > 1, me->energies > 0, 0)
                              : update_row(me, s, t, 3, me->species > 1, me->energies > 0, 0);
}

static PLUGMC_TARGETS plugmc_counts update_row_wide(const checkerboard *me, const store *s, row_task t)
{
    return me->dimension == 2 ? update_row(me, s, t, 2, me->species > 1, 1, 1)
                              : update_row(me, s, t, 3, me->species > 1, 1, 1);
}

/* The periodic images at both ends of one half row, all slots. */
static void refresh_images(const checkerboard *me, const store *s, int walker, int64_t base)
{
    int64_t first = base + PAD, last = base + PAD + me->half - 1;
    for (int a = 0; a < me->dimension; a++)
        for (int k = 0; k < me->capacity; k++) {
            float *v = s->coordinate + walker * me->walker + a * me->axis + k * me->plane;
            v[first - 1] = v[last];
            v[last + 1] = v[first];
        }
    for (int k = 0; k < me->capacity; k++) {
        uint32_t *v = s->id + walker * me->axis + k * me->plane;
        v[first - 1] = v[last];
        v[last + 1] = v[first];
    }
    uint8_t *v = s->count + walker * me->plane;
    v[first - 1] = v[last];
    v[last + 1] = v[first];
}

static void subsweep(checkerboard *me, uint64_t number, const cb_plan *plans, int part)
{
    const int rows_y = me->m[1] / 2, rows_z = me->dimension == 3 ? me->m[2] / 2 : 1;
    const int rows = rows_y * rows_z, tasks = rows * me->walkers;
    uint64_t trials = 0, accepted = 0;
#pragma omp parallel for schedule(static) reduction(+ : trials, accepted) num_threads(me->system->threads)
    for (int i = 0; i < tasks; i++) {
        int w = i / rows, r = i % rows, set = plans[w].set[part];
        row_task task = {number, w, set & 1, 2 * (r % rows_y) + (set >> 1 & 1),
                         me->dimension == 3 ? 2 * (r / rows_y) + (set >> 2) : 0};
        plugmc_counts c = me->wide && me->energies        ? update_row_wide(me, &me->now, task)
                          : me->species > 1 || me->energies ? update_row_any(me, &me->now, task)
                          : me->dimension == 2              ? update_row_disks(me, &me->now, task)
                                                          : update_row_spheres(me, &me->now, task);
        trials += c.trials;
        accepted += c.accepted;
        refresh_images(me, &me->now, w,
                       (((int64_t)task.z * me->m[1] + task.y) * 2 + task.x0) * me->row);
    }
    me->counts.trials += trials;
    me->counts.accepted += accepted;
}

/* ---- The cell shift on the CPU --------------------------------------------------------------- */

/* A half row of new cells, LANES at a time: particles of the old cells at the same place, then
 * those that come over from the cells at `there`. here, there: words of the first of them. Returns
 * the largest number of particles in a cell, which may exceed the capacity. */
static PLUGMC_TARGETS int shift_row(const checkerboard *me, int walker, const cb_plan *p,
                                    int64_t here, int64_t there)
{
    const float *from = me->now.coordinate + walker * me->walker;
    float *to = me->next.coordinate + walker * me->walker;
    const uint32_t *from_id = me->now.id + walker * me->axis;
    uint32_t *to_id = me->next.id + walker * me->axis;
    const uint8_t *from_count = me->now.count + walker * me->plane;
    uint8_t *to_count = me->next.count + walker * me->plane;
    const float s = (float)(p->sign * p->quanta) * CB_QUANTUM, edge = p->sign > 0 ? 1.0f : -1.0f;
    const int half = me->half, dim = me->dimension, capacity = me->capacity, ids = me->ids;
    int largest = 0;
    for (int q0 = 0; q0 < half; q0 += LANES) {
        float cell[3][MOST][LANES];
        uint32_t number[MOST][LANES];
        int32_t filled[LANES] = {0};
        int used = 0; /* slots that may be filled */
        for (int source = 0; source < 2; source++) {
            const int64_t word = (source ? there : here) + q0;
            const int most = largest_of_lanes(from_count + word);
            int32_t n[LANES];
            EACH_LANE(l) n[l] = from_count[word + l];
            for (int k = 0; k < most; k++) {
                float v[3][LANES];
                uint32_t id[LANES];
                int32_t slot[LANES]; /* where it goes; -1: elsewhere */
                for (int a = 0; a < dim; a++)
                    memcpy(v[a], from + a * me->axis + k * me->plane + word, sizeof v[a]);
                if (ids) memcpy(id, from_id + k * me->plane + word, sizeof id);
                float *along = v[p->axis];
                EACH_LANE(l) {
                    const float c = along[l] - s;
                    const int32_t leaves = (c < -0.5f) | (c >= 0.5f), there_is = k < n[l];
                    const int32_t comes = there_is & (leaves == source), next = filled[l];
                    along[l] = source ? c + edge : c;
                    slot[l] = comes ? next : -1;
                    filled[l] = next + comes;
                }
                if (used < capacity) {
                    for (int a = 0; a < dim; a++)
                        EACH_LANE(l) cell[a][used][l] = a ? 0 : PLUGMC_NOWHERE;
                    if (ids) memset(number[used], 0, sizeof number[used]);
                    used++;
                }
                for (int i = 0; i < used; i++) {
                    for (int a = 0; a < dim; a++)
                        EACH_LANE(l) {
                            const float new = v[a][l], old = cell[a][i][l];
                            cell[a][i][l] = slot[l] == i ? new : old;
                        }
                    if (!ids) continue;
                    EACH_LANE(l) {
                        const uint32_t new = id[l], old = number[i][l];
                        number[i][l] = slot[l] == i ? new : old;
                    }
                }
            }
        }
        for (int k = 0; k < capacity; k++) {
            const int64_t at = k * me->plane + here + q0;
            if (k >= used) EACH_LANE(l) cell[0][k][l] = PLUGMC_NOWHERE;
            memcpy(to + at, cell[0][k], sizeof cell[0][k]);
            if (k >= used) continue;
            for (int a = 1; a < dim; a++)
                memcpy(to + a * me->axis + at, cell[a][k], sizeof cell[a][k]);
            if (ids) memcpy(to_id + at, number[k], sizeof number[k]);
        }
        for (int l = 0; l < LANES && q0 + l < half; l++) {
            largest = filled[l] > largest ? filled[l] : largest;
            to_count[here + q0 + l] = (uint8_t)(filled[l] < capacity ? filled[l] : capacity);
        }
    }
    return largest;
}

/* Returns 1 if a cell overflowed. */
static int shift(checkerboard *me, const cb_plan *plans)
{
    const int rows = me->m[1] * me->m[2], tasks = rows * me->walkers;
    int overflow = 0;
#pragma omp parallel for schedule(static) reduction(| : overflow) num_threads(me->system->threads)
    for (int i = 0; i < tasks; i++) {
        int w = i / rows, y = i % rows % me->m[1], z = i % rows / me->m[1];
        const cb_plan *p = &plans[w];
        int ny = y, nz = z;
        if (p->axis == 1) ny = (y + p->sign + me->m[1]) % me->m[1];
        if (p->axis == 2) nz = (z + p->sign + me->m[2]) % me->m[2];
        for (int parity = 0; parity < 2; parity++) {
            const int64_t half_rows = (int64_t)(z * me->m[1] + y) * 2;
            const int64_t here = (half_rows + parity) * me->row;
            int64_t there = ((int64_t)(nz * me->m[1] + ny) * 2 + parity) * me->row;
            if (p->axis == 0) /* the other half row, whose images close the circle */
                there = (half_rows + 1 - parity) * me->row +
                        (p->sign > 0 ? (parity ? 1 : 0) : (parity ? 0 : -1));
            int filled = shift_row(me, w, p, here + PAD, there + PAD);
            overflow |= filled > me->capacity;
            refresh_images(me, &me->next, w, here);
        }
    }
    store t = me->now;
    me->now = me->next;
    me->next = t;
    return overflow;
}

/* ---- Memory ----------------------------------------------------------------------------------- */

static size_t coordinate_bytes(const checkerboard *me) { return sizeof(float) * me->walkers * me->walker; }
static size_t id_bytes(const checkerboard *me) { return sizeof(uint32_t) * me->walkers * me->axis; }
static size_t count_bytes(const checkerboard *me) { return (size_t)me->walkers * me->plane; }

static void free_store(store *s)
{
    free(s->coordinate);
    free(s->id);
    free(s->count);
    *s = (store){0};
}

/* All of it or, if it returns 0, nothing. */
static int allocate_store(const checkerboard *me, store *s)
{
    *s = (store){(float *)calloc(coordinate_bytes(me), 1), (uint32_t *)calloc(id_bytes(me), 1),
                 (uint8_t *)calloc(count_bytes(me), 1)};
    if (s->coordinate && s->id && s->count) return 1;
    free_store(s);
    return 0;
}

static void copy_store(const checkerboard *me, store *to, const store *from)
{
    memcpy(to->coordinate, from->coordinate, coordinate_bytes(me));
    memcpy(to->id, from->id, id_bytes(me));
    memcpy(to->count, from->count, count_bytes(me));
}

/* What slots past the count hold, the padding and the periodic images: a function of the rest. */
static void normalise(const checkerboard *me, store *s)
{
    const int end = PAD + me->half;
    for (int w = 0; w < me->walkers; w++)
        for (int64_t row = 0; row < (int64_t)me->m[1] * me->m[2] * 2; row++) {
            for (int k = 0; k < me->capacity; k++) {
                const int64_t at = k * me->plane + row * me->row + end;
                const size_t words = (size_t)(me->row - end);
                for (int a = 0; a < me->dimension; a++)
                    memset(s->coordinate + w * me->walker + a * me->axis + at, 0,
                           sizeof(float) * words);
                memset(s->id + w * me->axis + at, 0, sizeof(uint32_t) * words);
            }
            for (int q = 0; q < me->half; q++) {
                int64_t word = row * me->row + PAD + q;
                for (int k = s->count[w * me->plane + word]; k < me->capacity; k++) {
                    for (int a = 0; a < me->dimension; a++)
                        s->coordinate[w * me->walker + a * me->axis + k * me->plane + word] =
                            a ? 0 : PLUGMC_NOWHERE;
                    s->id[w * me->axis + k * me->plane + word] = 0;
                }
            }
            refresh_images(me, s, w, row * me->row);
        }
}

/* More slots for every cell of `now`, whose state is kept. */
static int grow(checkerboard *me, const plugmc_host *host)
{
    checkerboard wider = *me;
    wider.capacity += wider.capacity / 2 > 2 ? wider.capacity / 2 : 2;
    if (wider.capacity > MOST) wider.capacity = MOST;
    if (me->capacity == MOST) {
        char depth[32] = "";
        if (me->dimension == 3) snprintf(depth, sizeof depth, " x %g", me->width[2]);
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "more than %d particles in one cell of %g x %g%s, where the average is %.3g: the "
                          "system has collapsed, or the cells or the range of the potential are too large "
                          "for mover 'checkerboard'",
                          MOST, me->width[0], me->width[1], depth,
                          (double)me->system->particles / me->m[0] / me->m[1] / me->m[2]);
    }
    set_strides(&wider);
    int code = check_slots(&wider, host);
    if (code) return code;
    const int now = allocate_store(&wider, &wider.now), next = allocate_store(&wider, &wider.next);
    if (!now || !next) {
        free_store(&wider.now);
        free_store(&wider.next);
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d slots a cell",
                          wider.capacity);
    }
    memcpy(wider.now.count, me->now.count, count_bytes(me));
    for (int w = 0; w < me->walkers; w++) {
        for (int a = 0; a < me->dimension; a++)
            memcpy(wider.now.coordinate + w * wider.walker + a * wider.axis,
                   me->now.coordinate + w * me->walker + a * me->axis, sizeof(float) * me->axis);
        memcpy(wider.now.id + w * wider.axis, me->now.id + w * me->axis, sizeof(uint32_t) * me->axis);
    }
    free_store(&me->now);
    free_store(&me->next);
    *me = wider;
    normalise(me, &me->now);
    return PLUGMC_OK;
}

/* ---- Positions in and out ---------------------------------------------------------------------- */

/* How many particles overlap with particle k of a cell, if it were at `at`, as the sweep sees it;
 * away is the separation from one of them. */
static int cell_overlaps(const checkerboard *me, int walker, int x, int y, int z, int k,
                         const float at[3], float away[3])
{
    const store *s = &me->now;
    int64_t own = word_of(me, x, y, z);
    int kind = species_of(me, s->id[walker * me->axis + k * me->plane + own]);
    int cells = me->dimension == 3 ? 27 : 9, overlaps = 0;
    for (int c = 0; c < cells; c++) {
        int d[3] = {c % 3 - 1, c / 3 % 3 - 1, me->dimension == 3 ? c / 9 - 1 : 0};
        int64_t word = word_of(me, (x + d[0] + me->m[0]) % me->m[0], (y + d[1] + me->m[1]) % me->m[1],
                               (z + d[2] + me->m[2]) % me->m[2]);
        for (int j = 0; j < s->count[walker * me->plane + word]; j++) {
            if (c == cells / 2 && j == k) continue;
            float u[3] = {0}, r2 = 0;
            for (int a = 0; a < me->dimension; a++) {
                u[a] = ((at[a] - (float)d[a]) -
                        s->coordinate[walker * me->walker + a * me->axis + j * me->plane + word]) *
                       me->ratio[a];
                r2 = a ? fmaf(u[a], u[a], r2) : u[a] * u[a];
            }
            int other = species_of(me, s->id[walker * me->axis + j * me->plane + word]);
            if (r2 < me->contact[kind * me->species + other]) {
                overlaps++;
                for (int a = 0; a < me->dimension; a++) away[a] = u[a];
            }
        }
    }
    return overlaps;
}

/* Rounding to quanta may bring touching particles to overlap by 1e-7: they are pushed apart by
 * single quanta. */
static int part_touching(checkerboard *me, const plugmc_host *host)
{
    for (int w = 0; w < me->walkers; w++) {
        int64_t touching = 1;
        for (int pass = 0; touching && pass < 1000; pass++) {
            touching = 0;
            for (int z = 0; z < me->m[2]; z++)
                for (int y = 0; y < me->m[1]; y++)
                    for (int x = 0; x < me->m[0]; x++) {
                        int64_t word = word_of(me, x, y, z);
                        for (int k = 0; k < me->now.count[w * me->plane + word]; k++) {
                            float at[3] = {0}, away[3] = {0}, *v[3];
                            for (int a = 0; a < me->dimension; a++) {
                                v[a] = me->now.coordinate + w * me->walker + a * me->axis +
                                       k * me->plane + word;
                                at[a] = *v[a];
                            }
                            if (!cell_overlaps(me, w, x, y, z, k, at, away)) continue;
                            touching++;
                            for (int a = 0; a < me->dimension; a++) {
                                float moved = at[a] + (away[a] > 0) * CB_QUANTUM - (away[a] < 0) * CB_QUANTUM;
                                if (moved >= -0.5f && moved < 0.5f) *v[a] = moved;
                            }
                        }
                    }
        }
        if (touching)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the starting positions of walker %d are so dense that rounding to "
                              "%.1e of a cell makes %lld particles overlap",
                              w, (double)CB_QUANTUM, (long long)touching);
    }
    return PLUGMC_OK;
}

/* Puts positions into cells; returns the largest number in one, which may exceed the capacity. */
static int fill_cells(checkerboard *me, const double *positions)
{
    const int64_t particles = me->system->particles;
    int largest = 0;
    memset(me->now.count, 0, count_bytes(me));
    for (int w = 0; w < me->walkers; w++) {
        for (int64_t i = 0; i < particles; i++) {
            int cell[3] = {0};
            float local[3] = {0};
            for (int a = 0; a < me->dimension; a++) {
                int64_t edge = (int64_t)CB_QUANTA * me->m[a];
                int64_t at = llrint(positions[3 * (w * particles + i) + a] / me->width[a] * CB_QUANTA);
                at = ((at - me->origin[3 * w + a]) % edge + edge) % edge;
                cell[a] = (int)(at / CB_QUANTA);
                local[a] = (float)(at % CB_QUANTA - CB_QUANTA / 2) * CB_QUANTUM;
            }
            int64_t word = word_of(me, cell[0], cell[1], cell[2]);
            int k = me->now.count[w * me->plane + word]++;
            largest = k + 1 > largest ? k + 1 : largest;
            if (k >= me->capacity) continue;
            for (int a = 0; a < me->dimension; a++)
                me->now.coordinate[w * me->walker + a * me->axis + k * me->plane + word] = local[a];
            me->now.id[w * me->axis + k * me->plane + word] = (uint32_t)i;
        }
    }
    return largest;
}

static int load(void *instance, const plugmc_host *host, const double *positions)
{
    checkerboard *me = (checkerboard *)instance;
    memset(me->origin, 0, sizeof(int64_t) * 3 * me->walkers);
    int largest;
    while ((largest = fill_cells(me, positions)) > me->capacity) {
        int code = largest > 255 ? host->fail(host->context, PLUGMC_ERROR_INPUT,
                                              "%d particles start in one cell", largest)
                                 : grow(me, host);
        if (code) return code;
    }
    int code = part_touching(me, host);
    if (code) return code;
    normalise(me, &me->now);
    return PLUGMC_OK;
}

/* Number of the first particle of every cell, in row-major order of cells, for runs that do not
 * keep identities. */
static void number_cells(const checkerboard *me, const uint8_t *count, uint32_t *offset)
{
    int64_t cells = (int64_t)me->m[0] * me->m[1] * me->m[2];
    for (int w = 0; w < me->walkers; w++) {
        uint32_t sum = 0;
        for (int64_t c = 0; c < cells; c++) {
            int x = (int)(c % me->m[0]), y = (int)(c / me->m[0] % me->m[1]);
            offset[w * cells + c] = sum;
            sum += count[w * me->plane + word_of(me, x, y, (int)(c / me->m[0] / me->m[1]))];
        }
    }
}

static void store_on_host(const checkerboard *me, const uint32_t *offset, double *positions)
{
    const int64_t particles = me->system->particles;
    const int64_t cells = (int64_t)me->m[0] * me->m[1] * me->m[2];
#pragma omp parallel for schedule(static) num_threads(me->system->threads)
    for (int64_t i = 0; i < cells * me->walkers; i++) {
        int w = (int)(i / cells);
        int64_t c = i % cells;
        int at[3] = {(int)(c % me->m[0]), (int)(c / me->m[0] % me->m[1]), (int)(c / me->m[0] / me->m[1])};
        int64_t word = word_of(me, at[0], at[1], at[2]);
        for (int k = 0; k < me->now.count[w * me->plane + word]; k++) {
            int64_t number = me->ids ? me->now.id[w * me->axis + k * me->plane + word]
                                     : offset[w * cells + c] + k;
            double *out = positions + 3 * (w * particles + number);
            out[2] = 0;
            for (int a = 0; a < me->dimension; a++) {
                int64_t edge = (int64_t)CB_QUANTA * me->m[a];
                int64_t q = (int64_t)CB_QUANTA * at[a] + CB_QUANTA / 2 +
                            (int64_t)(me->now.coordinate[w * me->walker + a * me->axis +
                                                         k * me->plane + word] * (float)CB_QUANTA);
                q = ((q + me->origin[3 * w + a]) % edge + edge) % edge;
                out[a] = (double)q * (me->width[a] / CB_QUANTA);
            }
        }
    }
}

/* ---- Sweeps on the CPU ------------------------------------------------------------------------- */

/* One try at n sweeps; 1 if a cell overflowed on the way. */
static int sweep_on_host(checkerboard *me, uint64_t first, uint64_t n)
{
    cb_plan *plans = (cb_plan *)malloc(sizeof(cb_plan) * me->walkers);
    int overflow = 0;
    for (uint64_t s = first; s < first + n && !overflow; s++) {
        for (int w = 0; w < me->walkers; w++)
            plans[w] = cb_make_plan(me->system->seed, s, (uint32_t)w, me->dimension,
                                    me->shuffle_sets, me->shift_cells);
        for (int part = 0; part < 1 << me->dimension; part++) subsweep(me, s, plans, part);
        if (!me->shift_cells) continue;
        overflow = shift(me, plans);
        for (int w = 0; w < me->walkers; w++)
            me->origin[3 * w + plans[w].axis] += plans[w].sign * plans[w].quanta;
    }
    free(plans);
    return overflow;
}

/* Sweeps with a copy to go back to: if a cell overflows, cells grow and the same sweeps are done
 * again, so the chain does not know. */
static int sweep_or_grow(checkerboard *me, const plugmc_host *host, uint64_t first, uint64_t n)
{
    if (me->bounded)
        return sweep_on_host(me, first, n)
                   ? host->fail(host->context, PLUGMC_ERROR_STATE,
                                "a cell holds more than %d hard particles: they overlap", me->capacity)
                   : PLUGMC_OK;
    store copy;
    if (!allocate_store(me, &copy))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a copy of the cells");
    int64_t *origin = (int64_t *)malloc(sizeof(int64_t) * 3 * me->walkers);
    plugmc_counts counts = me->counts;
    memcpy(origin, me->origin, sizeof(int64_t) * 3 * me->walkers);
    copy_store(me, &copy, &me->now);
    int code = PLUGMC_OK;
    while (sweep_on_host(me, first, n)) {
        copy_store(me, &me->now, &copy);
        memcpy(me->origin, origin, sizeof(int64_t) * 3 * me->walkers);
        me->counts = counts;
        code = grow(me, host);
        if (code) break;
        free_store(&copy);
        if (!allocate_store(me, &copy)) {
            code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a copy of the cells");
            break;
        }
        copy_store(me, &copy, &me->now);
    }
    free(origin);
    free_store(&copy);
    return code;
}

/* ---- The GPU ------------------------------------------------------------------------------------ */

static void define(checkerboard *me, int *n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void define(checkerboard *me, int *n, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(me->defines_text[*n], sizeof me->defines_text[*n], format, arguments);
    va_end(arguments);
    me->defines[*n] = me->defines_text[*n];
    (*n)++;
}

/* "NAME={a,b,...}" in memory of the core's. */
static const char *table_define(const plugmc_host *host, const char *name, int n,
                                const char *(*item)(const checkerboard *, int, char[48]),
                                const checkerboard *me)
{
    size_t room = strlen(name) + 8 + (size_t)n * 48;
    char *text = (char *)host->allocate(host->context, room), one[48];
    if (!text) return NULL;
    size_t used = (size_t)snprintf(text, room, "%s={", name);
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? "," : "", item(me, i, one));
    snprintf(text + used, room - used, "}");
    return text;
}

static const char *contact_item(const checkerboard *me, int i, char text[48])
{
    snprintf(text, 48, "%af", (double)me->contact[i]);
    return text;
}

static const char *first_item(const checkerboard *me, int i, char text[48])
{
    snprintf(text, 48, "%lluu", (unsigned long long)me->system->first[i]);
    return text;
}

static int pitch(const checkerboard *me);
static uint32_t blocks_for(int64_t threads, int block) { return (uint32_t)((threads + block - 1) / block); }

/* One kind of hard disks, at most four a cell, has a kernel of its own, which is worth while if a
 * block finds enough cells in a row. */
static int tiled(const checkerboard *me)
{
    return me->dimension == 2 && me->capacity == 4 && me->species == 1 && !me->energies &&
           me->half >= 24 && me->trials <= 8; /* trials are unrolled */
}

static int64_t active_cells(const checkerboard *me)
{
    return (int64_t)me->m[0] * me->m[1] * me->m[2] * me->walkers >> me->dimension;
}

/* Whether all cells of a set run at the same time, so that latencies count more than throughput. */
static int at_once(const checkerboard *me) { return active_cells(me) < 1 << 16; }

/* Cells of a set that a patch sweeps, at most: its own, and those around that matter, which the
 * shift makes one more on its axis. */
static int most_tasks(int x, int y)
{
    const int a = (x / 2 + 4) * (y / 2 + 3), b = (x / 2 + 3) * (y / 2 + 4);
    return a > b ? a : b;
}

/* Of a block: cells and what is around them, and beside them what is chosen or made by a thread. */
static int shared_bytes(const checkerboard *me, const patch *p)
{
    enum { WORD = 4, DISK = 8, ALIGNMENT = 8 };
    const int places = 2 * ((p->x + CB_AROUND + 1) / 2) * (p->y + CB_AROUND);
    const int made = 4 * DISK + (me->ids ? 4 : 1) * WORD;
    const int chosen = p->chosen ? 4 * (2 * (int)me->trials + 1) * WORD : 0;
    return places * (4 * DISK + 1) + ALIGNMENT + p->threads * (chosen > made ? chosen : made);
}

/* Whether there are no more such patches than `blocks`, and each fits into a multiprocessor. */
static int suits(const checkerboard *me, const patch *p, int64_t blocks)
{
    const int64_t count = (int64_t)blocks_for(me->m[0], p->x) * blocks_for(me->m[1], p->y) * me->walkers;
    return count <= blocks && shared_bytes(me, p) <= 48 << 10;
}

/* The patches of the smallest systems are as small as leaves one for each multiprocessor, and random
 * numbers are drawn before the sweep before has ended. In larger ones a multiprocessor has one of
 * 24 x 24 cells or up to four of 18 x 18, which is what it has registers for. Beyond, sub-sweeps of all
 * cells are faster, which sweep none twice. Measured: bench/results/2026-11-22-hard-disk-h200.md. */
static patch choose_patch(const checkerboard *me, int multiprocessors)
{
    enum { LEAST_ROWS = 6 }; /* so that cells around a patch are not beyond the next image of the box */
    const patch none = {0, 0, 0, 0, 0}, one = {24, 24, 192, 2, 0}, four = {18, 18, 128, 4, 0};
    if (!tiled(me) || !me->shift_cells || me->m[1] < LEAST_ROWS) return none;
    for (patch p = {8, 8, 0, 2, 1}; p.y <= four.y; *(p.x > p.y ? &p.y : &p.x) += 2) {
        p.threads = (most_tasks(p.x, p.y) + WARP - 1) / WARP * WARP;
        if (p.threads < 128) p.threads = 128; /* which read the cells sooner */
        if (suits(me, &p, multiprocessors)) return p;
    }
    if (suits(me, &one, multiprocessors)) return one;
    return suits(me, &four, 4 * multiprocessors) ? four : none;
}

/* Of a particle near a cell, in shared memory. */
static int near_bytes(const checkerboard *me) { return 4 * me->dimension + (me->species > 1); }

/* Threads a block: fewer where the particles near a cell take much shared memory, and where
 * large blocks would leave multiprocessors or threads idle. */
static int block_size(const checkerboard *me)
{
    const int bytes = me->near * near_bytes(me);
    if (me->patch.x) return me->patch.threads;
    if (me->wide) return active_cells(me) < 1 << 13 ? WARP : 2 * WARP;
    if (active_cells(me) < 1 << 17 || me->half <= 32) return 32;
    if (tiled(me)) { /* Few threads beyond the ends of rows; five blocks of 96 leave a warp's room. */
        static const struct {
            int block, warps; /* warps: of a multiprocessor at a time, which has registers for 16 */
        } choice[] = {{128, 16}, {64, 16}, {96, 15}};
        int best = 0;
        for (int i = 1; i < PLUGMC_COUNT(choice); i++)
            if (blocks_for(me->half, choice[i].block) * choice[i].block * choice[best].warps <
                blocks_for(me->half, choice[best].block) * choice[best].block * choice[i].warps)
                best = i;
        return choice[best].block;
    }
    return bytes * 128 <= 48 << 10 ? 128 : bytes * 64 <= 48 << 10 ? 64 : 32;
}

/* Blocks of disks for which a multiprocessor has to have room, as the kernel is compiled. Sub-sweeps
 * are best with the registers of 16 warps; but if 20 warps, with a fifth of them in memory, are one
 * round of blocks instead of two, that is faster by 8 %. */
static int resident(const checkerboard *me, int multiprocessors)
{
    const int64_t warps = (int64_t)blocks_for(me->half, WARP) * (me->m[1] / 2) * me->walkers;
    if (me->patch.x) return me->patch.resident;
    const int at_a_time = warps > 16 * multiprocessors && warps <= 20 * multiprocessors ? 20 : 16;
    return at_a_time * WARP / block_size(me);
}

/* Threads of a block that take a cell, where a thread does. All, unless so many particles have come
 * near one cell that shared memory does not hold 32 columns of them, as when a gas condenses: slow, but
 * the chain goes on as it was begun. 64 a cell and two columns fit always. */
static int columns(const checkerboard *me)
{
    int n = block_size(me);
    while (n > 1 && me->near * near_bytes(me) * n > 48 << 10) n /= 2;
    return n;
}

/* Cells that a block takes. */
static int cells_a_block(const checkerboard *me)
{
    return me->wide ? block_size(me) / WARP : tiled(me) ? block_size(me) : columns(me);
}

/* Everything that is fixed for the run becomes a constant of the kernels. */
static int describe_kernels(checkerboard *me, const plugmc_host *host, plugmc_kernel_text *out)
{
    const int multiprocessors = host->gpu ? host->gpu->multiprocessors : 132; /* H100, H200 */
    int n = 0;
    me->patch = choose_patch(me, multiprocessors);
    define(me, &n, "CB_MX=%d", me->m[0]);
    define(me, &n, "CB_MY=%d", me->m[1]);
    define(me, &n, "CB_MZ=%d", me->m[2]);
    define(me, &n, "CB_PITCH=%d", pitch(me));
    define(me, &n, "CB_CAP=%d", me->capacity);
    define(me, &n, "CB_TRIALS=%lld", (long long)me->trials);
    define(me, &n, "CB_WALKERS=%d", me->walkers);
    define(me, &n, "CB_SHUFFLE=%d", me->shuffle_particles);
    define(me, &n, "CB_SHUFFLE_SETS=%d", me->shuffle_sets);
    define(me, &n, "CB_SHIFT=%d", me->shift_cells);
    define(me, &n, "CB_IDS=%d", me->ids);
    define(me, &n, "CB_SCALE=%af", (double)me->scale);
    define(me, &n, "CB_RATIO_Y=%af", (double)me->ratio[1]);
    define(me, &n, "CB_RATIO_Z=%af", (double)me->ratio[2]);
    define(me, &n, "CB_BLOCK=%d", block_size(me));
    define(me, &n, "CB_TILED=%d", tiled(me));
    define(me, &n, "CB_AT_ONCE=%d", at_once(me));
    define(me, &n, "CB_PATCH=%d", me->patch.x > 0);
    define(me, &n, "CB_PATCH_X=%d", me->patch.x);
    define(me, &n, "CB_PATCH_Y=%d", me->patch.y);
    define(me, &n, "CB_CHOSEN=%d", me->patch.chosen);
    define(me, &n, "CB_RESIDENT=%d", resident(me, multiprocessors));
    define(me, &n, "CB_NEAR=%d", me->near);
    define(me, &n, "CB_WIDE=%d", me->wide);
    define(me, &n, "CB_COLUMNS=%d", columns(me));
    define(me, &n, "CB_REACH=%af", (double)me->reach);
    me->defines[n++] = table_define(host, "CB_CONTACTS", me->species * me->species, contact_item, me);
    me->defines[n++] = table_define(host, "CB_FIRST", me->species, first_item, me);
    me->defines[n] = NULL;
    const char *more = me->wide ? checkerboard_wide : tiled(me) ? checkerboard_disks : NULL;
    const char *const parts[] = {checkerboard_kernels, more, NULL};
    const char *text = join_texts(host, parts);
    if (!text) return PLUGMC_ERROR_MEMORY;
    if (!me->defines[n - 1] || !me->defines[n - 2])
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the kernel's tables");
    *out = (plugmc_kernel_text){.size = sizeof(plugmc_kernel_text), .name = "checkerboard.cu",
                                .text = text, .defines = me->defines, .fuse = 1, .overlap = 1};
    return PLUGMC_OK;
}

static int kernel_text(void *instance, const plugmc_host *host, int index, plugmc_kernel_text *out)
{
    checkerboard *me = (checkerboard *)instance;
    if (index > 0) return 0;
    if (!me->system && geometry(me, host)) return 0;
    return describe_kernels(me, host, out) == PLUGMC_OK;
}

/* Does a step of a sequence of calls unless one before has failed. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        int try_code = (call);                                                                     \
        if (try_code) return try_code;                                                             \
    } while (0)

/* The layout on the device, see checkerboard.cu. */
static int pitch(const checkerboard *me) { return (me->half + 31) / 32 * 32; }
static int64_t device_cells(const checkerboard *me)
{
    return (int64_t)me->m[1] * me->m[2] * 2 * pitch(me);
}
static int vector_floats(const checkerboard *me) { return me->dimension == 3 ? 4 : 2; }
static size_t device_coordinate_bytes(const checkerboard *me)
{
    return sizeof(float) * vector_floats(me) * me->walkers * device_cells(me) * me->capacity;
}
static int device_ids(const checkerboard *me) { return me->ids && me->dimension == 2; }
static size_t device_id_bytes(const checkerboard *me)
{
    return device_ids(me) ? sizeof(uint32_t) * me->walkers * device_cells(me) * me->capacity : 4;
}
static size_t device_count_bytes(const checkerboard *me) { return (size_t)me->walkers * device_cells(me); }

static int allocate_on_device(checkerboard *me, const plugmc_host *host, device_store *s)
{
    TRY(host->gpu->allocate(host->context, device_coordinate_bytes(me), &s->coordinate));
    TRY(host->gpu->allocate(host->context, device_id_bytes(me), &s->id));
    TRY(host->gpu->allocate(host->context, device_count_bytes(me), &s->count));
    return PLUGMC_OK;
}

static int release_on_device(const plugmc_host *host, device_store *s)
{
    TRY(host->gpu->release(host->context, s->coordinate));
    TRY(host->gpu->release(host->context, s->id));
    TRY(host->gpu->release(host->context, s->count));
    return PLUGMC_OK;
}

static int copy_on_device(const checkerboard *me, const plugmc_host *host, const device_store *to,
                          const device_store *from)
{
    TRY(host->gpu->copy(host->context, to->coordinate, from->coordinate, device_coordinate_bytes(me)));
    TRY(host->gpu->copy(host->context, to->id, from->id, device_id_bytes(me)));
    TRY(host->gpu->copy(host->context, to->count, from->count, device_count_bytes(me)));
    return PLUGMC_OK;
}

/* The store as laid out on the device, on the host. */
typedef struct staging {
    float *coordinate;
    uint32_t *id;
    uint8_t *count;
} staging;

static int allocate_staging(const checkerboard *me, const plugmc_host *host, staging *s)
{
    *s = (staging){(float *)calloc(device_coordinate_bytes(me), 1), (uint32_t *)calloc(device_id_bytes(me), 1),
                   (uint8_t *)calloc(device_count_bytes(me), 1)};
    if (s->coordinate && s->id && s->count) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory to exchange cells with the GPU");
}

static void free_staging(staging *s)
{
    free(s->coordinate);
    free(s->id);
    free(s->count);
}

/* Copies `now` to the staging layout, or back from it. */
static void rearrange(checkerboard *me, staging *s, int back)
{
    const int width = vector_floats(me), rows = me->m[1] * me->m[2] * 2;
    for (int w = 0; w < me->walkers; w++)
        for (int row = 0; row < rows; row++)
            for (int q = 0; q < me->half; q++) {
                const int64_t word = (int64_t)row * me->row + PAD + q;
                const int64_t cell = (int64_t)row * pitch(me) + q;
                uint8_t *count = &s->count[w * device_cells(me) + cell];
                uint8_t *host_count = &me->now.count[w * me->plane + word];
                if (back)
                    *host_count = *count;
                else
                    *count = *host_count;
                for (int k = 0; k < (back ? *host_count : me->capacity); k++) { /* empty ones too */
                    const int64_t slot = ((w * device_cells(me) / pitch(me) + row) * me->capacity + k) *
                                             pitch(me) + q;
                    uint32_t *id = &me->now.id[w * me->axis + k * me->plane + word];
                    uint32_t *there = device_ids(me) ? &s->id[slot] : NULL;
                    if (me->dimension == 3) there = (uint32_t *)&s->coordinate[slot * 4 + 3];
                    for (int a = 0; a < me->dimension; a++) {
                        float *v = &me->now.coordinate[w * me->walker + a * me->axis + k * me->plane + word];
                        float *u = &s->coordinate[slot * width + a];
                        if (back)
                            *v = *u;
                        else
                            *u = *v;
                    }
                    if (!there) continue;
                    if (back)
                        memcpy(id, there, sizeof *id);
                    else
                        memcpy(there, id, sizeof *id);
                }
            }
}

static int upload_state(checkerboard *me, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    staging s;
    TRY(allocate_staging(me, host, &s));
    rearrange(me, &s, 0);
    int code = gpu->upload(host->context, me->on_now.coordinate, s.coordinate, device_coordinate_bytes(me));
    if (!code) code = gpu->upload(host->context, me->on_now.id, s.id, device_id_bytes(me));
    if (!code) code = gpu->upload(host->context, me->on_now.count, s.count, device_count_bytes(me));
    if (!code) code = gpu->upload(host->context, me->d_origin, me->origin, sizeof(int64_t) * 3 * me->walkers);
    if (!code) code = gpu->synchronize(host->context);
    free_staging(&s);
    return code;
}

static int download_state(checkerboard *me, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    staging s;
    TRY(allocate_staging(me, host, &s));
    int code = gpu->download(host->context, s.coordinate, me->on_now.coordinate, device_coordinate_bytes(me));
    if (!code) code = gpu->download(host->context, s.id, me->on_now.id, device_id_bytes(me));
    if (!code) code = gpu->download(host->context, s.count, me->on_now.count, device_count_bytes(me));
    if (!code) code = gpu->download(host->context, me->origin, me->d_origin, sizeof(int64_t) * 3 * me->walkers);
    if (!code) {
        rearrange(me, &s, 1);
        normalise(me, &me->now);
    }
    free_staging(&s);
    return code;
}

/* Kernels and stores for the present number of slots. */
static int build_on_device(checkerboard *me, const plugmc_host *host)
{
    plugmc_kernel_text text;
    TRY(describe_kernels(me, host, &text));
    TRY(host->gpu->kernel(host->context, &text, "cb_plan_batch", &me->k_plan));
    TRY(host->gpu->kernel(host->context, &text, "cb_advance", &me->k_advance));
    if (me->patch.x) {
        TRY(host->gpu->kernel(host->context, &text, "cb_sweep", &me->k_sweep));
    } else {
        TRY(host->gpu->kernel(host->context, &text, "cb_subsweep", &me->k_subsweep));
        TRY(host->gpu->kernel(host->context, &text, "cb_shift", &me->k_shift));
    }
    TRY(host->gpu->kernel(host->context, &text, "cb_number", &me->k_number));
    TRY(host->gpu->kernel(host->context, &text, "cb_store", &me->k_store));
    TRY(allocate_on_device(me, host, &me->on_now));
    TRY(allocate_on_device(me, host, &me->on_next));
    me->graph[0] = me->graph[1] = NULL;
    return PLUGMC_OK;
}

/* The stores change places. */
static void swap_on_device(checkerboard *me)
{
    device_store t = me->on_now;
    me->on_now = me->on_next;
    me->on_next = t;
    me->swapped = !me->swapped;
}

/* Sweep i of a batch of n, block by block. */
static int launch_patches(checkerboard *me, const plugmc_host *host, int n, int i)
{
    uint64_t seed = me->system->seed;
    const uint32_t block[3] = {(uint32_t)block_size(me), 1, 1};
    const uint32_t patches[3] = {blocks_for(me->m[0], me->patch.x), blocks_for(me->m[1], me->patch.y),
                                 (uint32_t)me->walkers};
    void *arguments[] = {&seed,       &me->d_base,        &me->d_plans,
                         &n,          &i,                 &me->d_step,
                         &me->on_now.coordinate, &me->on_now.id, &me->on_now.count,
                         &me->on_next.coordinate, &me->on_next.id, &me->on_next.count,
                         &me->d_counts, &me->d_overflow};
    TRY(host->gpu->launch(host->context, me->k_sweep, patches, block, 0, arguments));
    swap_on_device(me);
    return PLUGMC_OK;
}

/* Sweep i of a batch of n, sub-sweep by sub-sweep, and the cell shift. */
static int launch_subsweeps(checkerboard *me, const plugmc_host *host, int n, int i)
{
    const plugmc_gpu *gpu = host->gpu;
    uint64_t seed = me->system->seed;
    const int threads = block_size(me);
    const uint32_t block[3] = {(uint32_t)threads, 1, 1};
    const uint32_t flat[3] = {blocks_for(active_cells(me), cells_a_block(me)), 1, 1};
    const uint32_t rows[3] = {blocks_for(me->half, threads), (uint32_t)me->m[1] / 2, (uint32_t)me->walkers};
    const uint32_t *active = tiled(me) ? rows : flat;
    const uint32_t all[3] = {(uint32_t)pitch(me) / 32, (uint32_t)((me->m[1] * me->m[2] + 3) / 4), (uint32_t)me->walkers};
    const uint32_t shifters[3] = {256, 1, 1};
    for (int part = 0; part < 1 << me->dimension; part++) {
        void *arguments[] = {&seed,       &me->d_base,           &me->d_plans,
                             &n,          &i,                    &part,
                             &me->d_step, &me->on_now.coordinate, &me->on_now.id,
                             &me->on_now.count, &me->d_counts, &me->d_overflow};
        TRY(gpu->launch(host->context, me->k_subsweep, active, block, 0, arguments));
    }
    if (!me->shift_cells) return PLUGMC_OK;
    void *arguments[] = {&me->d_plans,         &n,
                         &i,                   &me->on_now.coordinate,
                         &me->on_now.id,       &me->on_now.count,
                         &me->on_next.coordinate, &me->on_next.id,
                         &me->on_next.count,   &me->d_overflow};
    TRY(gpu->launch(host->context, me->k_shift, all, shifters, 0, arguments));
    swap_on_device(me);
    return PLUGMC_OK;
}

/* Launches of `n` sweeps; n is even or 1, and after an odd number the stores have changed places. */
static int launch_sweeps(checkerboard *me, const plugmc_host *host, int n)
{
    const plugmc_gpu *gpu = host->gpu;
    uint64_t seed = me->system->seed, advance = (uint64_t)n;
    const uint32_t walkers[3] = {(uint32_t)me->walkers, 1, 1}, batch[3] = {(uint32_t)n, 1, 1};
    const uint32_t one[3] = {1, 1, 1};
    void *plan[] = {&seed, &me->d_base, &me->d_plans, &me->d_origin};
    TRY(gpu->launch(host->context, me->k_plan, walkers, batch, 0, plan));
    for (int i = 0; i < n; i++)
        TRY(me->patch.x ? launch_patches(me, host, n, i) : launch_subsweeps(me, host, n, i));
    void *advance_by[] = {&me->d_base, &advance};
    return gpu->launch(host->context, me->k_advance, one, one, 0, advance_by);
}

static int sweep_on_device(checkerboard *me, const plugmc_host *host, uint64_t first, uint64_t n,
                           int32_t *overflow)
{
    const plugmc_gpu *gpu = host->gpu;
    const float step[3] = {(float)(me->step / me->width[0]), (float)(me->step / me->width[1]),
                           (float)(me->step / me->width[2])};
    *overflow = 0;
    TRY(gpu->upload(host->context, me->d_base, &first, sizeof first));
    TRY(gpu->upload(host->context, me->d_step, step, sizeof step));
    for (; n >= BATCH; n -= BATCH) {
        plugmc_graph **graph = &me->graph[me->swapped];
        if (!*graph) {
            TRY(gpu->graph_begin(host->context));
            TRY(launch_sweeps(me, host, BATCH));
            TRY(gpu->graph_end(host->context, graph));
        }
        TRY(gpu->graph_launch(host->context, *graph));
    }
    for (; n > 0; n--) TRY(launch_sweeps(me, host, 1));
    return gpu->download(host->context, overflow, me->d_overflow, sizeof *overflow);
}

static const size_t counter_bytes = sizeof(uint64_t) * 2 * CB_COUNTERS;

/* Copies the state to the snapshot, or back from it. */
static int snapshot(checkerboard *me, const plugmc_host *host, int back)
{
    const plugmc_gpu *gpu = host->gpu;
    size_t origin = sizeof(int64_t) * 3 * me->walkers;
    TRY(back ? copy_on_device(me, host, &me->on_now, &me->snapshot)
             : copy_on_device(me, host, &me->snapshot, &me->on_now));
    TRY(gpu->copy(host->context, back ? me->d_origin : me->d_saved_origin,
                  back ? me->d_saved_origin : me->d_origin, origin));
    return gpu->copy(host->context, back ? me->d_counts : me->d_saved_counts,
                     back ? me->d_saved_counts : me->d_counts, counter_bytes);
}

/* Stores and kernels for another number of slots. */
static int rebuild_on_device(checkerboard *me, const plugmc_host *host)
{
    TRY(release_on_device(host, &me->on_now));
    TRY(release_on_device(host, &me->on_next));
    TRY(release_on_device(host, &me->snapshot));
    TRY(build_on_device(me, host));
    return allocate_on_device(me, host, &me->snapshot);
}

/* More room for what overflowed: 1 slots a cell, 2 particles near a cell; the state is kept. */
static int grow_on_gpu(checkerboard *me, const plugmc_host *host, int what)
{
    TRY(download_state(me, host));
    if (what == 1)
        TRY(grow(me, host));
    else
        me->near = me->near + me->near / 2 < 27 * MOST ? me->near + me->near / 2 : 27 * MOST + 1;
    TRY(rebuild_on_device(me, host));
    TRY(upload_state(me, host));
    return host->gpu->fill(host->context, me->d_overflow, 0, sizeof(int32_t));
}

/* As sweep_or_grow, on the device. */
static int sweep_on_gpu(checkerboard *me, const plugmc_host *host, uint64_t first, uint64_t n)
{
    int32_t overflow = 1;
    if (!me->bounded) TRY(snapshot(me, host, 0));
    while (overflow) {
        TRY(sweep_on_device(me, host, first, n, &overflow));
        if (!overflow) break;
        if (me->bounded)
            return host->fail(host->context, PLUGMC_ERROR_STATE,
                              "a cell holds more hard particles than fit: they overlap");
        TRY(snapshot(me, host, 1));
        TRY(grow_on_gpu(me, host, overflow));
        TRY(snapshot(me, host, 0));
    }
    return PLUGMC_OK;
}

static int store_on_gpu(checkerboard *me, const plugmc_host *host, plugmc_device_pointer positions)
{
    const plugmc_gpu *gpu = host->gpu;
    int64_t cells = (int64_t)me->m[0] * me->m[1] * me->m[2] * me->walkers;
    if (!me->ids) {
        const uint32_t walkers[3] = {(uint32_t)me->walkers, 1, 1}, scan[3] = {512, 1, 1};
        void *arguments[] = {&me->on_now.count, &me->d_offset};
        TRY(gpu->launch(host->context, me->k_number, walkers, scan, 0, arguments));
    }
    double quantum[3];
    for (int a = 0; a < 3; a++) quantum[a] = me->width[a] / CB_QUANTA;
    long long particles = me->system->particles;
    const uint32_t grid[3] = {blocks_for(cells, 128), 1, 1}, block[3] = {128, 1, 1};
    void *arguments[] = {&me->on_now.coordinate, &me->on_now.id, &me->on_now.count, &me->d_origin,
                         &me->d_offset, &positions, &particles, &quantum[0], &quantum[1], &quantum[2]};
    return gpu->launch(host->context, me->k_store, grid, block, 0, arguments);
}

/* ---- Callbacks ----------------------------------------------------------------------------------- */

static int prepare(void *instance, const plugmc_host *host)
{
    checkerboard *me = (checkerboard *)instance;
    if (!me->system) TRY(geometry(me, host));
    me->origin = (int64_t *)host->allocate(host->context, sizeof(int64_t) * 3 * me->walkers);
    if (!me->origin || !allocate_store(me, &me->now) || !allocate_store(me, &me->next))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the cells (%.0f MiB)",
                          2 * (double)(coordinate_bytes(me) + id_bytes(me)) / 1048576);
    if (!host->gpu) return PLUGMC_OK;
    const plugmc_gpu *gpu = host->gpu;
    int64_t cells = (int64_t)me->m[0] * me->m[1] * me->m[2] * me->walkers;
    TRY(gpu->allocate(host->context, sizeof(int64_t) * 3 * me->walkers, &me->d_origin));
    TRY(gpu->allocate(host->context, sizeof(cb_plan) * BATCH * me->walkers, &me->d_plans));
    TRY(gpu->allocate(host->context, sizeof(uint64_t), &me->d_base));
    TRY(gpu->allocate(host->context, sizeof(float) * 3, &me->d_step));
    TRY(gpu->allocate(host->context, counter_bytes, &me->d_counts));
    TRY(gpu->allocate(host->context, sizeof(int32_t), &me->d_overflow));
    TRY(gpu->allocate(host->context, me->ids ? 4 : sizeof(uint32_t) * cells, &me->d_offset));
    TRY(gpu->allocate(host->context, sizeof(int64_t) * 3 * me->walkers, &me->d_saved_origin));
    TRY(gpu->allocate(host->context, counter_bytes, &me->d_saved_counts));
    TRY(build_on_device(me, host));
    return me->bounded ? PLUGMC_OK : allocate_on_device(me, host, &me->snapshot);
}

static int load_anywhere(void *instance, const plugmc_host *host, const double *positions)
{
    checkerboard *me = (checkerboard *)instance;
    int slots = me->capacity;
    TRY(load(me, host, positions));
    if (!host->gpu) return PLUGMC_OK;
    if (me->capacity != slots) TRY(rebuild_on_device(me, host));
    return upload_state(me, host);
}

static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    checkerboard *me = (checkerboard *)instance;
    while (n > 0) {
        uint64_t some = n < CHUNK || me->bounded ? n : CHUNK;
        TRY(host->gpu ? sweep_on_gpu(me, host, first, some) : sweep_or_grow(me, host, first, some));
        first += some;
        n -= some;
    }
    return PLUGMC_OK;
}

static int store_positions(void *instance, const plugmc_host *host, double *positions)
{
    checkerboard *me = (checkerboard *)instance;
    if (host->gpu) return store_on_gpu(me, host, (plugmc_device_pointer)(uintptr_t)positions);
    uint32_t *offset = NULL;
    if (!me->ids) {
        offset = (uint32_t *)malloc(sizeof(uint32_t) * me->walkers * me->m[0] * me->m[1] * me->m[2]);
        if (!offset) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for cell offsets");
        number_cells(me, me->now.count, offset);
    }
    store_on_host(me, offset, positions);
    free(offset);
    return PLUGMC_OK;
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    checkerboard *me = (checkerboard *)instance;
    if (host->gpu) {
        uint64_t counters[CB_COUNTERS][2];
        TRY(host->gpu->download(host->context, counters, me->d_counts, counter_bytes));
        me->counts = (plugmc_counts){0, 0};
        for (int i = 0; i < CB_COUNTERS; i++) {
            me->counts.trials += counters[i][0];
            me->counts.accepted += counters[i][1];
        }
        if (clear) TRY(host->gpu->fill(host->context, me->d_counts, 0, counter_bytes));
    }
    *out = me->counts;
    if (clear) me->counts = (plugmc_counts){0, 0};
    return PLUGMC_OK;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    checkerboard *me = (checkerboard *)instance;
    int32_t shape[5] = {me->m[0], me->m[1], me->m[2], me->capacity, me->ids};
    if (host->gpu && !a->reading) TRY(download_state(me, host));
    if (!a->reading) normalise(me, &me->now);
    if (!me->ids) memset(me->now.id, 0, id_bytes(me)); /* of no meaning then */
    TRY(a->bytes(a, "shape", shape, sizeof shape));
    if (shape[0] != me->m[0] || shape[1] != me->m[1] || shape[2] != me->m[2] || shape[4] != me->ids)
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "the stored cells are %d x %d x %d, those of this run %d x %d x %d", shape[0],
                          shape[1], shape[2], me->m[0], me->m[1], me->m[2]);
    int slots = me->capacity;
    while (me->capacity < shape[3]) TRY(grow(me, host));
    if (me->capacity != shape[3])
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "the stored cells have %d slots, those of this run %d", shape[3], me->capacity);
    TRY(a->bytes(a, "coordinate", me->now.coordinate, coordinate_bytes(me)));
    TRY(a->bytes(a, "id", me->now.id, id_bytes(me)));
    TRY(a->bytes(a, "count", me->now.count, count_bytes(me)));
    TRY(a->bytes(a, "origin", me->origin, sizeof(int64_t) * 3 * me->walkers));
    if (!host->gpu || !a->reading) return PLUGMC_OK;
    if (me->capacity != slots) TRY(rebuild_on_device(me, host));
    return upload_state(me, host);
}

static double get_step(const void *instance) { return (double)((const checkerboard *)instance)->step; }

static int set_step(void *instance, const plugmc_host *host, double step)
{
    checkerboard *me = (checkerboard *)instance;
    (void)host;
    double narrowest = me->width[0];
    for (int a = 1; a < me->dimension; a++) narrowest = fmin(narrowest, me->width[a]);
    /* any step that prepare takes is kept as it is: a checkpoint sets it again */
    me->step = (real)(step < 0.5 * narrowest ? step : 0.49 * narrowest);
    return PLUGMC_OK;
}

static double target(const void *instance)
{
    return (double)((const checkerboard *)instance)->target_acceptance;
}

static void release(void *instance)
{
    checkerboard *me = (checkerboard *)instance;
    free_store(&me->now);
    free_store(&me->next);
}

/* ---- Table ---------------------------------------------------------------------------------------- */

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(checkerboard, trials, "4", 1, 1024, "",
                       "trial moves a cell and sub-sweep, n_M of the paper"),
    PLUGMC_REAL_KEY(checkerboard, step, "0.16", 1e-9, 1e9, "length",
                    "radius of the disk or ball in which a trial displacement is uniform"),
    PLUGMC_REAL_KEY(checkerboard, target_acceptance, "0", 0, 0.95, "",
                    "acceptance to which the step is tuned during equilibration; 0: step is kept"),
    PLUGMC_REAL_KEY(checkerboard, cell, "0", 0, 1e9, "length",
                    "smallest edge of a cell, at least the range of the potential; 0: chosen so "
                    "that sweeps are fast"),
    PLUGMC_FLAG_KEY(checkerboard, shuffle_particles, "yes",
                    "visit the particles of a cell in random order; without it sampling is wrong"),
    PLUGMC_FLAG_KEY(checkerboard, shuffle_sets, "yes",
                    "visit the checkerboard sets in random order; detailed balance needs it"),
    PLUGMC_FLAG_KEY(checkerboard, shift_cells, "yes",
                    "shift the cells at random after each sweep; without it sampling is wrong"),
    PLUGMC_FLAG_KEY(checkerboard, identities, "yes",
                    "keep particle numbers; without them particles of one species are numbered by "
                    "cell, and sweeps move less memory"),
};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_USES_PAIR | PLUGMC_NEEDS_FINITE_RANGE | PLUGMC_NEEDS_PERIODIC |
             PLUGMC_NEEDS_RECTANGULAR | PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
    .load = load_anywhere, .sweep = sweep, .store = store_positions, .counts = counts,
    .step = get_step, .set_step = set_step, .target_acceptance = target,
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "checkerboard",
              .summary = "massively parallel sweeps over a checkerboard of cells",
              .reference = "Anderson, Jankowski, Grubb, Engel, Glotzer, J. Comput. Phys. 254, 27 (2013)",
              .instance_size = sizeof(checkerboard), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .release = release, .mover = &mover,
              .prepare = prepare, .kernel_text = kernel_text, .archive = archive)
