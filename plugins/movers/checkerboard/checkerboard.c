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
 * CPU treats 16 cells at once, a lane each (row.c), or, where many particles are near a cell, 32
 * particles near one cell at once (wide.c).
 *
 * The same files, compiled with CB_BODIES, are the mover checkerboard_bodies, for particles with orientations: bodies.c.
 */
#include "checkerboard.h"

#include "../speeds.h"

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    checkerboard *me = (checkerboard *)instance;
    if (index > 1 || (!me->system && geometry(me, host))) return 0;
    return (index ? describe_load : describe_kernels)(me, host, out) == PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    checkerboard *me = (checkerboard *)instance;
    if (!me->system) TRY(geometry(me, host));
    me->seed = host->seed;
    if (CB_BODIES) TRY(prepare_bodies(me, host));
    me->origin = (int64_t *)host->allocate(host->context, sizeof(int64_t) * 3 * me->cells.walkers);
    if (!me->origin || !allocate_store(me, &me->now) || !allocate_store(me, &me->next))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the cells (%.0f MiB)",
                          2 * (double)(coordinate_bytes(me) + id_bytes(me)) / 1048576);
    return host->gpu ? prepare_on_gpu(me, host) : PLUGMC_OK;
}

/* By way of the host. Cells stay as far shifted as they are: in ones that begin at the corner of the box
 * after every take, nobody would ever leave a cell where each sweep is followed by one. */
static int take_on_host(checkerboard *me, const plugmc_host *host, const plugmc_state *state)
{
    const int slots = me->cells.capacity;
    double *positions;
    if (host->gpu)
        TRY(host->gpu->download(host->context, me->origin, me->device.origin,
                                sizeof(int64_t) * 3 * me->cells.walkers));
    TRY(plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ, &positions));
    TRY(load_cells(me, host, positions));
    if (!host->gpu) return PLUGMC_OK;
    if (me->cells.capacity != slots) TRY(rebuild_on_device(me, host));
    return upload_state(me, host);
}

static int take(void *instance, const plugmc_host *host, const plugmc_state *state,
                uint32_t changed)
{
    checkerboard *me = (checkerboard *)instance;
    const uint32_t of_no_place =
        PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG | PLUGMC_CHANGED_ORIENTATION;
    const int again = me->taken;
    int laid_out = 0, loaded = 0;
    double *positions;
    TRY(take_conditions(me, state, changed));
    if (CB_BODIES && changed & (PLUGMC_CHANGED_ORIENTATION | PLUGMC_CHANGED_COUNT))
        TRY(take_orientations(me, host, state));
    if (!(changed & ~of_no_place)) return PLUGMC_OK;
    if (me->each.boxes_change && changed & PLUGMC_CHANGED_BOX) TRY(fit_cells(me, host, &laid_out));
    if (laid_out && host->gpu) TRY(rebuild_on_device(me, host));
    me->taken = 1;
    if (host->gpu && again) { /* the first time nothing is there yet */
        TRY(plugmc_state_positions(state, PLUGMC_ON_DEVICE, PLUGMC_READ, &positions));
        TRY(load_on_gpu(me, host, (plugmc_device_pointer)(uintptr_t)positions, &loaded));
    }
    return loaded ? PLUGMC_OK : take_on_host(me, host, state);
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    uint64_t first = sweeps->first, n = sweeps->n;
    checkerboard *me = (checkerboard *)instance;
    int other = plugmc_update_steps(sweeps, me->system->rungs, me->each.steps);
    for (int32_t r = 0; CB_BODIES && r < me->system->rungs; r++) {
        const real turn = (real)sweeps->step[me->system->rungs + r];
        other |= me->each.turns[r] != turn;
        me->each.turns[r] = turn;
    }
    if (other) set_steps(me);
    while (n > 0) {
        uint64_t some = n < CHUNK || me->cells.bounded ? n : CHUNK;
        TRY(host->gpu ? sweep_on_gpu(me, host, first, some) : sweep_or_grow(me, host, first, some));
        if (stops_here(me, host)) return PLUGMC_STOPPED; /* it may have been cut short */
        first += some;
        n -= some;
    }
    return PLUGMC_OK;
}

static int give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    checkerboard *me = (checkerboard *)instance;
    const int side = host->gpu ? PLUGMC_ON_DEVICE : PLUGMC_ON_HOST;
    /* places where nobody is stay what they are */
    const int access = me->each.counts_change ? PLUGMC_READ | PLUGMC_WRITE : PLUGMC_WRITE;
    double *positions;
    TRY(bring_all(me, host));
    if (CB_BODIES) TRY(give_orientations(me, host, state));
    TRY(plugmc_state_positions(state, side, access, &positions));
    return host->gpu
               ? store_on_gpu(me, host, all_layers(me), (plugmc_device_pointer)(uintptr_t)positions)
               : store_on_host(me, host, all_layers(me), positions);
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    checkerboard *me = (checkerboard *)instance;
    if (host->gpu) TRY(counts_on_gpu(me, host, clear));
    memcpy(out, me->counts, counts_bytes(me));
    if (clear) memset(me->counts, 0, counts_bytes(me));
    return PLUGMC_OK;
}

/* The cells of a checkpoint, where boxes change, may be those of a box that was there before; then they
 * are filled from the state before they are swept. */
static int take_shape(checkerboard *me, const plugmc_host *host, const int32_t shape[5],
                      int *laid_out)
{
    int odd = 0, same = 1;
    for (int a = 0; a < 3; a++) {
        const int least = a < me->cells.dimension ? 2 : 1,
                  most = a < me->cells.dimension ? 1 << 15 : 1;
        odd |= shape[a] < least || shape[a] > most || shape[a] % least;
        same &= shape[a] == me->cells.m[a];
    }
    if (shape[4] != me->cells.ids || (!same && (odd || !me->each.boxes_change)))
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "the stored cells are %d x %d x %d, those of this run %d x %d x %d",
                          shape[0], shape[1], shape[2], me->cells.m[0], me->cells.m[1],
                          me->cells.m[2]);
    *laid_out = me->each.boxes_change && (!same || shape[3] != me->cells.capacity);
    if (*laid_out && shape[3] >= 1 && shape[3] <= most_slots(me)) {
        memcpy(me->cells.m, shape, sizeof me->cells.m);
        me->cells.capacity = shape[3];
        set_units(me);
        return lay_out(me, host);
    }
    while (me->cells.capacity < shape[3]) TRY(grow(me, host));
    if (me->cells.capacity != shape[3])
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "the stored cells have %d slots, those of this run %d", shape[3],
                          me->cells.capacity);
    return PLUGMC_OK;
}

/* Cells as output files of format 3 have them: coordinates [walker][axis][slot][z][y][x % 2][row], id and count without
 * axes or slots, with these strides. */
typedef struct whole_cells {
    int64_t pad, row, plane; /* words */
    float *coordinate;
    uint32_t *id;
    uint8_t *count;
} whole_cells;

static int read_whole_cells(const checkerboard *me, const plugmc_host *host, plugmc_archive *a,
                            whole_cells *c)
{
    enum { OLD_PAD = 8 };
    c->pad = OLD_PAD;
    c->row = (OLD_PAD + (me->cells.half + LANES - 1) / LANES * LANES + LANES + 31) / 32 * 32;
    c->plane = (int64_t)me->cells.m[1] * me->cells.m[2] * 2 * c->row;
    const size_t plane = (size_t)c->plane, slots = plane * (size_t)me->cells.capacity,
                 words = slots * (size_t)me->cells.dimension, walkers = (size_t)me->cells.walkers;
    c->coordinate = (float *)malloc(walkers * words * sizeof *c->coordinate);
    c->id = (uint32_t *)malloc(walkers * slots * sizeof *c->id);
    c->count = (uint8_t *)malloc(walkers * plane);
    if (!c->coordinate || !c->id || !c->count)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the checkpoint");
    TRY(plugmc_archive_walkers(a, "coordinate", c->coordinate, words * sizeof *c->coordinate));
    TRY(plugmc_archive_walkers(a, "id", c->id, slots * sizeof *c->id));
    return plugmc_archive_walkers(a, "count", c->count, plane);
}

static void put_whole_cells(checkerboard *me, const whole_cells *c)
{
    const int64_t cells = (int64_t)me->cells.m[0] * me->cells.m[1] * me->cells.m[2],
                  axis = me->cells.capacity * c->plane;
    for (int w = 0; w < me->cells.walkers; w++)
        for (int64_t n = 0; n < cells; n++) {
            const int x = (int)(n % me->cells.m[0]);
            const int64_t row = n / me->cells.m[0],
                          word = word_of(me, x, (int)(row % me->cells.m[1]),
                                         (int)(row / me->cells.m[1])),
                          old = (row * 2 + (x & 1)) * c->row + c->pad + (x >> 1);
            me->now.count[w * me->cells.plane + word] = c->count[w * c->plane + old];
            for (int k = 0; k < me->cells.capacity; k++) {
                const int64_t there = k * c->plane + old, here = place_of(me, word, k);
                me->now.id[w * me->cells.axis + here] = c->id[w * axis + there];
                for (int d = 0; d < me->cells.dimension; d++)
                    me->now.coordinate[w * me->cells.walker + d * me->cells.axis + here] =
                        c->coordinate[(w * me->cells.dimension + d) * axis + there];
            }
        }
    normalise(me, &me->now);
}

static int take_whole_cells(checkerboard *me, const plugmc_host *host, plugmc_archive *a)
{
    whole_cells c;
    const int code = read_whole_cells(me, host, a, &c);
    if (!code) put_whole_cells(me, &c);
    free(c.coordinate), free(c.id), free(c.count);
    return code;
}

/* Positions are in the checkpoint. If another mover has changed them since, cells are filled anew before they are swept. */
static int take_slots(checkerboard *me, const plugmc_host *host, const plugmc_archive *a,
                      const uint8_t *slots)
{
    double *positions;
    if (CB_BODIES) TRY(take_orientations(me, host, a->state));
    if (a->changed & ~(uint32_t)(PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG)) return PLUGMC_OK;
    TRY(plugmc_state_positions(a->state, PLUGMC_ON_HOST, PLUGMC_READ, &positions));
    if (!fill_slots(me, positions, slots))
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "the stored slots are not those of the stored positions");
    normalise(me, &me->now);
    return PLUGMC_OK;
}

static int archive_slots(checkerboard *me, const plugmc_host *host, plugmc_archive *a)
{
    const size_t particles = (size_t)me->system->particles;
    uint8_t *slots = NULL;
    int code = PLUGMC_OK;
    if (me->cells.ids) { /* else particles are numbered in the order of their cells and slots */
        slots = (uint8_t *)malloc(particles * (size_t)me->cells.walkers + 1);
        if (!slots)
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the checkpoint");
        if (!a->reading && host->gpu) code = find_slots_on_gpu(me, host, slots);
        if (!a->reading && !host->gpu) find_slots(me, slots);
        if (!code) code = plugmc_archive_walkers(a, "slot", slots, particles);
    }
    if (!code && a->reading) code = take_slots(me, host, a, slots);
    free(slots);
    return code;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    checkerboard *me = (checkerboard *)instance;
    int32_t shape[5] = {me->cells.m[0], me->cells.m[1], me->cells.m[2], me->cells.capacity,
                        me->cells.ids};
    if (!a->reading) TRY(bring_all(me, host));
    if (host->gpu && !a->reading)
        TRY(host->gpu->download(host->context, me->origin, me->device.origin,
                                sizeof(int64_t) * 3 * me->cells.walkers));
    TRY(a->bytes(a, "shape", shape, sizeof shape));
    int slots = me->cells.capacity, laid_out = 0;
    if (a->reading) TRY(take_shape(me, host, shape, &laid_out));
    TRY(plugmc_archive_walkers(a, "origin", me->origin, 3 * sizeof *me->origin));
    TRY(a->reading && a->has(a, "coordinate") ? take_whole_cells(me, host, a)
                                              : archive_slots(me, host, a));
    if (!host->gpu || !a->reading) return PLUGMC_OK;
    if (laid_out || me->cells.capacity != slots) TRY(rebuild_on_device(me, host));
    return upload_state(me, host);
}

/* A step that prepare takes is below half of a cell. */
static double limit(const void *instance, int32_t rung, double step)
{
    const double narrowest = ((const checkerboard *)instance)->cells.narrowest;
    (void)rung;
    return step < 0.5 * narrowest ? step : 0.49 * narrowest;
}

static void release(void *instance)
{
    checkerboard *me = (checkerboard *)instance;
    free_store(&me->now);
    free_store(&me->next);
}

#if !CB_BODIES
/* ---- Speed ---------------------------------------------------------------------------------------- */

/* Cells in each direction before anything is prepared, as geometry.c makes them. */
static int cells_expected(const checkerboard *me, const plugmc_system *system, double m[3])
{
    const double range = (double)me->set.cell > 0 ? (double)me->set.cell : system->range;
    const int disks =
        system->box.dimension == 2 && !pairs_have_energies(system) && !(me->set.cell > 0);
    m[0] = m[1] = m[2] = 2;
    for (int a = 0; a < system->box.dimension && range > 0; a++) {
        m[a] = 2 * floor(system->box.length[a] / (2 * range));
        if (disks) m[a] = least_of(m[a], 2 * floor(m[a] / (2 * M_SQRT2)) + 2);
        if (m[a] < 2) return 0;
    }
    return range > 0;
}

/* What the times of a sweep depend on. */
typedef struct expected {
    double rows, cells; /* of a set of a walker */
    double near;        /* particles that can reach a cell */
    double sets;        /* of a sweep */
    double
        images; /* a box of two cells meets the images of what is near, too: factor of the work */
    int wide;   /* cells are taken one after the other on the CPU, and by a block each on a GPU */
} expected;

/* A box that changes must not become as narrow as two ranges, which ends a run. One that begins with four of them is no
 * advice. */
static int may_become_too_narrow(const plugmc_system *system)
{
    const int changes = (system->changes & PLUGMC_CHANGED_BOX) != 0;
    int narrow = 0;
    for (int a = 0; a < system->box.dimension; a++)
        narrow |= system->box.length[a] < 4 * system->range;
    return changes && narrow;
}

static int expect(const checkerboard *me, const plugmc_system *system, expected *e)
{
    const int dimension = system->box.dimension;
    const double r = system->range;
    double m[3], w = 0;
    if (!cells_expected(me, system, m) || may_become_too_narrow(system)) return 0;
    e->images = 1;
    for (int a = 0; a < dimension; a++) {
        w = fmax(w, system->box.length[a] / m[a]);
        if (m[a] < 3) e->images *= 1.6;
    }
    const double region = dimension == 2
                              ? w * w + 4 * w * r + M_PI * r * r
                              : w * w * w + 6 * w * w * r + 3 * M_PI * w * r * r + 4.19 * r * r * r;
    e->near = (double)system->particles / system->box.volume * region;
    e->rows = m[1] / 2 * (dimension == 3 ? m[2] / 2 : 1);
    e->cells = e->rows * m[0] / 2;
    e->sets = dimension == 3 ? 8 : 4;
    e->wide = e->near + 4 * sqrt(e->near) + 4 > MANY;
    return 1;
}

/* All particles that can reach a cell are gathered, then each trial move meets all of them: for LANES cells at a
 * time, or for one where these are many. Threads share the rows. */
static double seconds_on_cpu(const expected *e, const plugmc_system *system, double trials)
{
    const double each = pairs_have_energies(system) ? 3.6e-8 : 1.15e-8;
    const double of_set = e->wide ? e->cells * (9e-7 + e->near * (3.3e-9 + 1e-9 * trials))
                                  : ceil(e->cells / LANES) * e->near * (8.5e-8 + each * trials);
    return of_set / (e->cells * trials) / least_of(system->threads, e->rows * system->walkers);
}

/* Each set is a launch, which takes as long as one cell does, or as all cells together if they keep the GPU busy. Sweeps
 * of hard disks are one launch. */
static double seconds_on_gpu(const expected *e, const plugmc_system *system, double trials)
{
    const double cells = e->cells * system->walkers;
    const int hard = !pairs_have_energies(system);
    if (e->wide)
        return (5e-6 + 6.5e-9 * e->near * trials +
                cells * e->near * e->images * (5.7e-12 + 2.9e-12 * trials)) /
               (cells * trials);
    const double launch = hard && system->box.dimension == 2 ? 1.6e-6 : 2.6e-6;
    return launch / (cells * trials) + e->near * (hard ? 2e-12 : 6e-12);
}

static int speed(const void *instance, const plugmc_system *system, plugmc_speed *out)
{
    const checkerboard *me = instance;
    const double trials = (double)me->set.trials;
    expected e;
    if (!expect(me, system, &e)) return PLUGMC_UNANSWERED;
    out->seconds = seconds_on_cpu(&e, system, trials);
    out->trials = e.sets * e.cells * trials * system->walkers;
    if (PLUGMC_HAS(out, gpu_seconds)) out->gpu_seconds = seconds_on_gpu(&e, system, trials);
    return PLUGMC_OK;
}
#endif

/* ---- Table ---------------------------------------------------------------------------------------- */

_Static_assert(offsetof(checkerboard, set) == 0, "keys are told of checkerboard_settings");

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(checkerboard_settings, trials, "4", 1, 1024, "",
                       "trial moves per cell and sub-sweep, n_M of the paper"),
    PLUGMC_REAL_KEY(checkerboard_settings, step, "0.16", 1e-9, 1e9, "length",
                    "radius of the disk or ball in which a trial displacement is uniform"),
    PLUGMC_REAL_KEY(checkerboard_settings, target_acceptance, "0", 0, 0.95, "",
                    "target acceptance of the tuning of step during equilibration; 0: fixed "
                    "step"),
    PLUGMC_REAL_KEY(checkerboard_settings, cell, "0", 0, 1e9, "length",
                    "smallest edge of a cell, at least the range of the potential; 0: chosen "
                    "for speed"),
    PLUGMC_FLAG_KEY(checkerboard_settings, shuffle_particles, "yes",
                    "visit the particles of a cell in random order; without it sampling is wrong"),
    PLUGMC_FLAG_KEY(checkerboard_settings, shuffle_sets, "yes",
                    "visit the checkerboard sets in random order; detailed balance needs it"),
    PLUGMC_FLAG_KEY(checkerboard_settings, shift_cells, "yes",
                    "shift the cells at random after each sweep; without it sampling is wrong"),
#if CB_BODIES
    PLUGMC_REAL_KEY(checkerboard_settings, turn, "0.2", 1e-6, 3.141592653589793, "rad",
                    "largest angle of a trial rotation"),
    PLUGMC_REAL_KEY(checkerboard_settings, rotations, "0.5", 0, 1, "",
                    "share of trial moves that are rotations"),
#else
    PLUGMC_FLAG_KEY(checkerboard_settings, identities, "yes",
                    "keep the identity of particles; otherwise particles of one species are "
                    "renumbered by cell, which is faster"),
#endif
    PLUGMC_INTEGER_KEY(checkerboard_settings, exchange_every, "0", 0, BATCH, "",
                       "with domain decomposition: number of sweeps between exchanges of "
                       "boundary cells; 0: automatic"),
};

static const plugmc_move moves[] = {{.name = "displacement",
                                     .doc = "displaces one particle",
                                     .step_unit = "length",
                                     .step_key = "step",
                                     .target_key = "target_acceptance",
                                     .largest = INFINITY,
                                     .limit = limit},
#if CB_BODIES
                                    {.name = "rotation",
                                     .doc = "one particle turns about its centre",
                                     .step_unit = "rad",
                                     .step_key = "turn",
                                     .target_key = "target_acceptance",
                                     .largest = 3.141592653589793}
#endif
};

static const plugmc_driver driver = {
    .size = sizeof driver, .load = take, .store = give, .rescale = CB_BODIES ? NULL : rescale};

static const plugmc_fills_cells fills_cells = {.size = sizeof fills_cells,
                                               .fill_cells = lend_cells};

static const plugmc_gives_shares gives_shares = {.size = sizeof gives_shares,
                                                 .give_share = give_share};

#if CB_BODIES
PLUGMC_PLUGIN(.name = CB_NAME,
              .summary = "massively parallel sweeps of bodies over a checkerboard of cells",
              .reference = "Anderson, Irrgang, Glotzer, Comput. Phys. Commun. 204, 21 (2016)",
              PLUGMC_KEYS(checkerboard, table),
              PLUGMC_OFFERS({PLUGMC_FILLS_CELLS, &fills_cells},
                            {PLUGMC_GIVES_SHARES, &gives_shares}),
              .release = release,
              PLUGMC_MOVER_WITH(moves,
                                .needs = PLUGMC_USES_BODY | PLUGMC_NEEDS_FINITE_RANGE |
                                         PLUGMC_NEEDS_PERIODIC | PLUGMC_NEEDS_RECTANGULAR |
                                         PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU |
                                         PLUGMC_DECOMPOSES_DOMAIN,
                                .changes = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_ORIENTATION,
                                .follows = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_ORIENTATION |
                                           PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_BOX |
                                           PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG,
                                .sweep = sweep, .counts = counts,
                                .good_for = "thousands of bodies or more, above all on a GPU",
                                .driver = &driver),
              .prepare = prepare, .gpu_source = gpu_source, .archive = archive)
#else
PLUGMC_PLUGIN(
        .name = CB_NAME, .summary = "massively parallel sweeps over a checkerboard of cells",
        .reference = "Anderson, Jankowski, Grubb, Engel, Glotzer, J. Comput. Phys. 254, 27 (2013)",
        PLUGMC_KEYS(checkerboard, table),
        PLUGMC_OFFERS({PLUGMC_FILLS_CELLS, &fills_cells}, {PLUGMC_GIVES_SHARES, &gives_shares}),
        .release = release,
        PLUGMC_MOVER_WITH(
            moves,
            .needs = PLUGMC_USES_PAIR | PLUGMC_NEEDS_FINITE_RANGE | PLUGMC_NEEDS_PERIODIC |
                     PLUGMC_NEEDS_RECTANGULAR | PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU |
                     PLUGMC_DECOMPOSES_DOMAIN,
            .changes = PLUGMC_CHANGED_POSITION,
            .follows = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_BOX |
                       PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG,
            .sweep = sweep, .counts = counts,
            .good_for =
                "thousands of particles or more with short-range forces, above all on a GPU; "
                "with few cells most of the GPU is idle, and with many particles per cell "
                "more `trials` are faster",
            .same_moves = "serial brush", .speed = speed, .driver = &driver),
        .prepare = prepare, .gpu_source = gpu_source, .archive = archive)
#endif
