/* cpu.c: the sequential Metropolis sweep on the CPU.
 *
 * Particles are taken in groups. Threads share the sums of a group's particles with all others, and
 * what each of the group changes for those after it, for both outcomes; then one thread decides.
 * Hard cores are looked up in cells before any energy is summed: an overlap, found in a few pairs,
 * spares N of them. A sum depends on the group's size in its last bits, but not on threads. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "sequential.h"

enum { TILE = 8192 }; /* particles that stay in the cache */

/* Particles of a walker: real is float or double. */
typedef struct arrays {
    int32_t walker;
    grid grid;
    void *x, *y, *z;         /* real[particles] */
    void *nx, *ny, *nz;      /* real[particles]: trial moves of the sweep */
    void *charge, *diameter; /* diameters with the margin of contacts */
    int32_t *species;
    double *change, *threshold; /* [particles]: of energy, and below what it is accepted, kT */
    int32_t *head, *next;       /* [cells], [particles]: lists of the cells, -1 at the end */
} arrays;

/* A group of particles on its way to being decided. [group] and [group][group]: of i and j. */
typedef struct group {
    void *rejected, *accepted; /* real: what j's outcome changes for i */
    void *term;                /* real[threads][group]: of one term */
    char *taken;               /* [group]: the decisions */
    int64_t lost; /* particle whose change is not a number; it has moved all the same */
} group;

/* ---- Particles as the batch functions take them ---------------------------------------------- */

static const void *from(const sequential *me, const void *array, int64_t i)
{
    return (const char *)array + (size_t)i * me->real_size;
}

static plugmc_particles old_places(const sequential *me, const arrays *a, int64_t begin,
                                   int64_t end)
{
    return (plugmc_particles){
        end - begin,           from(me, a->x, begin),      from(me, a->y, begin),
        from(me, a->z, begin), from(me, a->charge, begin), from(me, a->diameter, begin),
        a->species + begin};
}

static plugmc_particles new_places(const sequential *me, const arrays *a, int64_t begin,
                                   int64_t end)
{
    plugmc_particles p = old_places(me, a, begin, end);
    p.x = from(me, a->nx, begin);
    p.y = from(me, a->ny, begin);
    p.z = from(me, a->nz, begin);
    return p;
}

static plugmc_particle particle_at(const sequential *me, const arrays *a, int64_t i)
{
    return (plugmc_particle){get(me, a->x, i),      get(me, a->y, i),        get(me, a->z, i),
                             get(me, a->charge, i), get(me, a->diameter, i), a->species[i]};
}

/* ---- Hard cores: cells ----------------------------------------------------------------------- */

static int32_t *cell_at(const arrays *a, const double r[3])
{
    const grid *g = &a->grid;
    int32_t c[3];
    cell_coordinates(g, r, c);
    return &a->head[c[0] + g->count[0] * (c[1] + (int64_t)g->count[1] * c[2])];
}

static void put_into_cell(const sequential *me, arrays *a, int64_t i)
{
    if (!a->grid.cells) return;
    const double r[3] = {get(me, a->x, i), get(me, a->y, i), get(me, a->z, i)};
    int32_t *head = cell_at(a, r);
    a->next[i] = *head;
    *head = (int32_t)i;
}

static void take_from_cell(const sequential *me, arrays *a, int64_t i)
{
    if (!a->grid.cells) return;
    const double r[3] = {get(me, a->x, i), get(me, a->y, i), get(me, a->z, i)};
    int32_t *link = cell_at(a, r);
    while (*link != i) link = &a->next[*link];
    *link = a->next[i];
}

/* Particle i goes where it tried to. */
static void move(const sequential *me, arrays *a, int64_t i)
{
    take_from_cell(me, a, i);
    set(me, a->x, i, get(me, a->nx, i));
    set(me, a->y, i, get(me, a->ny, i));
    set(me, a->z, i, get(me, a->nz, i));
    put_into_cell(me, a, i);
}

static int64_t handful_overlaps(const sequential *me, int32_t w, handful *h,
                                const plugmc_particle *probe, const double moved[3])
{
    const plugmc_particles others = {h->n, h->x, h->y, h->z, h->charge, h->diameter, h->species};
    int64_t overlaps = 0;
    double unused = 0;
    for (int t = 0; t < me->hard_count; t++)
        if (me->terms[t].pair)
            overlaps +=
                me->terms[t].pair->change(me->terms[t].instance, &me->now.box[w],
                                          me->domain.periodic, probe, moved, &others, &unused);
    h->n = 0;
    return overlaps;
}

/* Does the new place of particle i overlap with anyone outside of begin ... end - 1? */
static int overlaps_outside(const sequential *me, const arrays *a, int64_t begin, int64_t end,
                            int64_t i)
{
    const double moved[3] = {get(me, a->nx, i), get(me, a->ny, i), get(me, a->nz, i)};
    const plugmc_particle probe = particle_at(me, a, i);
    int64_t cells[27];
    handful h = {0};
    const int count = a->grid.cells ? cells_around(&a->grid, me->domain.periodic, moved, cells) : 0;
    for (int c = 0; c < count; c++)
        for (int32_t j = a->head[cells[c]]; j >= 0; j = a->next[j]) {
            if (j >= begin && j < end) continue;
            set(me, h.x, h.n, get(me, a->x, j));
            set(me, h.y, h.n, get(me, a->y, j));
            set(me, h.z, h.n, get(me, a->z, j));
            set(me, h.charge, h.n, get(me, a->charge, j));
            set(me, h.diameter, h.n, get(me, a->diameter, j));
            h.species[h.n++] = a->species[j];
            if (h.n == HANDFUL && handful_overlaps(me, a->walker, &h, &probe, moved)) return 1;
        }
    return h.n > 0 && handful_overlaps(me, a->walker, &h, &probe, moved) > 0;
}

/* ---- Sweeps ---------------------------------------------------------------------------------- */

static void sweep_walker(const sequential *, const plugmc_host *, group *, int32_t w,
                         uint64_t sweep, int threads, uint64_t *accepted, double *energy);

/* Threads share the walkers, or the particles of a group where there are fewer walkers. */
int cpu_sweep(sequential *me, const plugmc_host *host, uint64_t first, uint64_t n)
{
    const plugmc_system *system = me->system;
    const int threads = system->threads, shared = system->walkers >= threads;
    plugmc_not_a_number where = {.size = sizeof where, .walker = -1};
#pragma omp parallel for num_threads(threads) if (shared) schedule(static)
    for (int32_t w = 0; w < system->walkers; w++) {
        group *g = &me->groups[shared ? omp_get_thread_num() : 0];
        g->lost = -1;
        me->now.accepted[w] = 0;
        for (uint64_t s = first; s < first + n && g->lost < 0; s++) {
            sweep_walker(me, host, g, w, s, shared ? 1 : threads, &me->now.accepted[w],
                         &me->now.energy[w]);
#pragma omp critical(brush_lost)
            if (g->lost >= 0) where.walker = w, where.particle = g->lost, where.sweep = s;
        }
    }
    for (int32_t w = 0; w < system->walkers; w++)
        me->counts[me->now.on_rung[w]].accepted += me->now.accepted[w];
    if (where.walker >= 0) return host->not_a_number(host->context, &where);
    return host->stopping(host->context) ? PLUGMC_STOPPED : PLUGMC_OK;
}

static void propose(const sequential *, arrays *, int32_t w, uint64_t sweep, int64_t i);
static void prepare_group(const sequential *, const arrays *, group *, int64_t begin, int64_t end,
                          int threads);
static void decide(const sequential *, arrays *, group *, int64_t begin, int64_t end,
                   uint64_t *accepted, double *energy);

/* Between groups the run may be stopped. */
static void sweep_walker(const sequential *me, const plugmc_host *host, group *g, int32_t w,
                         uint64_t sweep, int threads, uint64_t *accepted, double *energy)
{
    const int64_t n = me->system->particles;
    arrays *a = &me->walkers[w];
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t i = 0; i < n; i++) propose(me, a, w, sweep, i);
    for (int64_t begin = 0; begin < n && g->lost < 0 && !host->stopping(host->context);
         begin += me->group) {
        const int64_t end = begin + me->group < n ? begin + me->group : n;
        prepare_group(me, a, g, begin, end, threads);
        decide(me, a, g, begin, end, accepted, energy);
    }
}

/* The trial move, and the change of energy by fields: infinite where the particle may not be. */
static void propose(const sequential *me, arrays *a, int32_t w, uint64_t sweep, int64_t i)
{
    const plugmc_particle old = particle_at(me, a, i);
    plugmc_particle new = old;
    const plugmc_seed seed = me->seed;
    double to[3] = {old.x, old.y, old.z}, change = 0;
    int64_t forbidden = 0, unused = 0;
    const brush_walker *of = &me->now.of[w];
    if (!brush_displace(&of->domain, seed, sweep, (uint32_t)w, (uint32_t)i, of->step, to))
        forbidden = 1;
    new.x = to[0], new.y = to[1], new.z = to[2];
    if (!forbidden)
        change =
            sequential_fields(me, w, &new, &forbidden) - sequential_fields(me, w, &old, &unused);
    set(me, a->nx, i, to[0]);
    set(me, a->ny, i, to[1]);
    set(me, a->nz, i, to[2]);
    a->change[i] = forbidden ? INFINITY : change;
    a->threshold[i] = of->kT * brush_threshold(seed, sweep, (uint32_t)w, (uint32_t)i);
}

/* Adds the change by a term and some others; whether the new place overlaps with one of them. Where the term does
 * not count its energy may be infinite. */
static int add_change(const sequential *me, int32_t w, const term *t, const plugmc_particle *probe,
                      const double moved[3], const plugmc_particles *others, double *change)
{
    double own = 0, *sum = me->now.weight ? &own : change;
    const int64_t overlaps = t->pair->change(t->instance, &me->now.box[w], me->domain.periodic,
                                             probe, moved, others, sum);
    const double weight = weight_of(me, w, t);
    if (me->now.weight && weight != 0) *change += weight * own;
    return overlaps > 0;
}

/* Changes by the energies of those outside of the group, tile by tile, so that the places of a tile
 * stay in the cache for all `first` ... `last` - 1. */
static void add_outside(const sequential *me, const arrays *a, int64_t begin, int64_t end,
                        int64_t first, int64_t last)
{
    const int64_t n = me->system->particles;
    for (int64_t tile = 0; tile < n; tile += TILE) {
        const int64_t after = tile + TILE < n ? tile + TILE : n;
        const int64_t low = after < begin ? after : begin, high = tile > end ? tile : end;
        const plugmc_particles part[2] = {old_places(me, a, tile, low),
                                          old_places(me, a, high, after)};
        for (int64_t i = first; i < last; i++) {
            const plugmc_particle probe = particle_at(me, a, i);
            const double moved[3] = {get(me, a->nx, i), get(me, a->ny, i), get(me, a->nz, i)};
            double *change = &a->change[i];
            for (int t = me->hard_count; t < me->term_count; t++)
                for (int side = 0; side < 2 && *change < INFINITY; side++)
                    if (part[side].n > 0 && add_change(me, a->walker, &me->terms[t], &probe, moved,
                                                       &part[side], change))
                        *change = INFINITY;
        }
    }
}

/* What a term's energy of one pair counts; hard cores are not multiplied. */
static double weighed(const sequential *me, int32_t w, const term *t, double energy)
{
    if (!me->now.weight || (energy == INFINITY && t->pair->functions & PLUGMC_PAIR_CONTACT))
        return energy;
    const double weight = weight_of(me, w, t);
    return weight == 0 ? 0 : weight * energy;
}

/* What each decision of the group changes for particle i, for both outcomes: of those after i only
 * that they have not moved counts, and that goes into the change at once. */
static void add_inside(const sequential *me, const arrays *a, const group *g, int64_t begin,
                       int64_t end, int64_t i, void *one_term)
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
            me->terms[t].pair->changes(me->terms[t].instance, &me->now.box[a->walker],
                                       me->domain.periodic, &probe, moved, others, one_term);
            for (int64_t j = 0; j < others->n; j++) {
                const double before = get(me, sum, row + j);
                /* an overlap stays one, whatever the energy */
                if (before < INFINITY)
                    set(me, sum, row + j,
                        before + weighed(me, a->walker, &me->terms[t], get(me, one_term, j)));
            }
        }
    }
    for (int64_t j = i - begin + 1; j < n && a->change[i] < INFINITY; j++)
        a->change[i] += get(me, g->rejected, row + j);
}

/* Particles first ... last - 1 of the group, one thread. */
static void prepare_some(const sequential *me, const arrays *a, const group *g, int64_t begin,
                         int64_t end, int64_t first, int64_t last, void *one_term)
{
    for (int64_t i = first; i < last; i++)
        if (a->change[i] < INFINITY && overlaps_outside(me, a, begin, end, i))
            a->change[i] = INFINITY;
    add_outside(me, a, begin, end, first, last);
    for (int64_t i = first; i < last; i++)
        if (a->change[i] < INFINITY) add_inside(me, a, g, begin, end, i, one_term);
}

/* Particles are handed to the threads a few at a time, since the work of those rejected at once is
 * little; how many makes no difference to the result. */
static void prepare_group(const sequential *me, const arrays *a, group *g, int64_t begin,
                          int64_t end, int threads)
{
    const int64_t n = end - begin, share = n / (4 * threads) > 0 ? n / (4 * threads) : 1;
    const int64_t shares = (n + share - 1) / share;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(dynamic, 1)
    for (int64_t s = 0; s < shares; s++) {
        const int64_t first = begin + s * share, last = first + share < end ? first + share : end;
        void *one_term =
            (char *)g->term + (size_t)(omp_get_thread_num() * me->group) * me->real_size;
        prepare_some(me, a, g, begin, end, first, last, one_term);
    }
}

/* Up to the first whose change is not a number, or minus infinity: it goes there, so that it is found. */
static void decide(const sequential *me, arrays *a, group *g, int64_t begin, int64_t end,
                   uint64_t *accepted, double *energy)
{
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = (i - begin) * me->group;
        double change = a->change[i];
        for (int64_t j = 0; j < i - begin && change < INFINITY; j++)
            change += get(me, g->taken[j] ? g->accepted : g->rejected, row + j);
        if (!(change > -INFINITY)) {
            g->lost = i;
            move(me, a, i);
            break;
        }
        g->taken[i - begin] = change < a->threshold[i];
        if (!g->taken[i - begin]) continue;
        move(me, a, i);
        *accepted += 1;
        *energy += change;
    }
}

/* ---- Places in and out, and memory ----------------------------------------------------------- */

void cpu_load(sequential *me, const double *positions)
{
    const plugmc_system *system = me->system;
    const int64_t n = system->particles;
    for (int32_t w = 0; w < system->walkers; w++) {
        arrays *a = &me->walkers[w];
        for (int64_t c = 0; c < a->grid.cells; c++) a->head[c] = -1;
        for (int64_t i = 0; i < n; i++) {
            const double *r = &positions[3 * (w * n + i)];
            set(me, a->x, i, r[0]);
            set(me, a->y, i, r[1]);
            set(me, a->z, i, r[2]);
            put_into_cell(me, a, i);
        }
    }
}

void cpu_store(const sequential *me, double *positions)
{
    const int64_t n = me->system->particles;
    for (int32_t w = 0; w < me->system->walkers; w++)
        for (int64_t i = 0; i < n; i++) {
            double *r = &positions[3 * (w * n + i)];
            r[0] = get(me, me->walkers[w].x, i);
            r[1] = get(me, me->walkers[w].y, i);
            r[2] = get(me, me->walkers[w].z, i);
        }
}

static grid grid_of(const plugmc_system *system, const plugmc_box *box, double reach)
{
    grid g = {.origin = box->domain == PLUGMC_DOMAIN_SPHERE ? -box->radius : 0};
    if (reach > 0) g.cells = plugmc_choose_cells(box, system->particles, reach, g.count, g.width);
    return g;
}

/* Cells and diameters follow from the box. */
static void set_box(sequential *me, arrays *a)
{
    const plugmc_system *system = me->system;
    const plugmc_box *box = &me->now.box[a->walker];
    const double margin = contact_margin(system, box, me->precision);
    /* a hair more, for what float makes of distances */
    a->grid = grid_of(system, box, largest_contact(system) * margin * (1 + 1e-6));
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++)
            set(me, a->diameter, i, plugmc_species_at(system, s)->diameter * margin);
}

void cpu_boxes(sequential *me)
{
    for (int32_t w = 0; w < me->system->walkers; w++) set_box(me, &me->walkers[w]);
}

/* Cells of a walker at most: boxes that change may be cut into more. */
static size_t most_cells(const sequential *me)
{
    const plugmc_system *system = me->system;
    const double reach =
        largest_contact(system) * contact_margin(system, &system->box, me->precision) * (1 + 1e-6);
    return system->changes & PLUGMC_CHANGED_BOX
               ? 4 * (size_t)system->particles + 8
               : (size_t)grid_of(system, &system->box, reach).cells;
}

static int prepare_walkers(sequential *me, const plugmc_host *host)
{
    const plugmc_system *system = me->system;
    const size_t n = (size_t)system->particles, size = me->real_size, cells = most_cells(me);
    char *charge = host->allocate(host->context, n * size);
    int32_t *species = host->allocate(host->context, n * sizeof *species);
    me->walkers = host->allocate(host->context, (size_t)system->walkers * sizeof *me->walkers);
    int enough = charge && species && me->walkers;
    for (int32_t w = 0; w < system->walkers && enough; w++) {
        char *places = host->allocate(host->context, 7 * n * size);
        double *changes = host->allocate(host->context, 2 * n * sizeof *changes);
        int32_t *lists = host->allocate(host->context, (cells + n) * sizeof *lists);
        enough = places && changes && lists;
        if (!enough) break;
        me->walkers[w] = (arrays){
            .walker = w,
            .x = places,
            .y = places + n * size,
            .z = places + 2 * n * size,
            .nx = places + 3 * n * size,
            .ny = places + 4 * n * size,
            .nz = places + 5 * n * size,
            .charge = charge,
            .diameter = places + 6 * n * size,
            .species = species,
            .change = changes,
            .threshold = changes + n,
            .head = lists,
            .next = lists + cells,
        };
    }
    if (!enough)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY,
                          "no memory for %d walkers of %zu particles", system->walkers, n);
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            set(me, charge, i, plugmc_species_at(system, s)->charge);
            species[i] = s;
        }
    cpu_boxes(me);
    return PLUGMC_OK;
}

static int prepare_groups(sequential *me, const plugmc_host *host)
{
    const plugmc_system *system = me->system;
    const size_t size = me->real_size, g = (size_t)me->group, threads = (size_t)system->threads;
    const int groups = system->walkers >= system->threads ? system->threads : 1;
    me->groups = host->allocate(host->context, (size_t)groups * sizeof *me->groups);
    int enough = me->groups != NULL;
    for (int k = 0; k < groups && enough; k++) {
        char *pairs = host->allocate(host->context, (2 * g + threads) * g * size);
        char *taken = host->allocate(host->context, g);
        enough = pairs && taken;
        if (!enough) break;
        me->groups[k] = (group){pairs, pairs + g * g * size, pairs + 2 * g * g * size, taken, -1};
    }
    if (enough) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for groups of %zu", g);
}

int cpu_prepare(sequential *me, const plugmc_host *host)
{
    const int64_t n = me->system->particles;
    me->group = me->group_size < n ? me->group_size : n;
    TRY(prepare_walkers(me, host));
    return prepare_groups(me, host);
}
