/* geometry.c: how the box is divided into cells, and how many particles they hold. */
#include "checkerboard.h"

static plugmc_particle particle_of(const plugmc_system *system, int s)
{
    return (plugmc_particle){.charge = plugmc_species_at(system, s)->charge,
                             .diameter = plugmc_species_at(system, s)->diameter,
                             .species = s};
}

/* Contact distance of two species of points: the largest of all sampled terms. */
static double contact_of_points(const plugmc_system *system, int a, int b)
{
    double contact = 0;
    plugmc_particle pa = particle_of(system, a), pb = particle_of(system, b);
    for (int t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_pair *pair = term->plugin->potential->pair;
        if (term->sampled && pair) contact = fmax(contact, pair->contact(term->instance, &pa, &pb));
    }
    return contact;
}

/* Distance of the centres of two bodies below which they overlap however they are turned: the largest of all sampled terms. */
static double core_distance(const plugmc_system *system, int a, int b)
{
    double core = 0;
    plugmc_particle pa = particle_of(system, a), pb = particle_of(system, b);
    for (int t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_body *body = plugmc_body_of(term->plugin);
        if (!term->sampled || !body || !(body->functions & PLUGMC_BODY_OVERLAP)) continue;
        if (body->reach(term->instance, &pa) > 0 && body->reach(term->instance, &pb) > 0)
            core = fmax(core, body->core(term->instance, &pa) + body->core(term->instance, &pb));
    }
    return core;
}

static double contact_distance(const plugmc_system *system, int a, int b)
{
    return CB_BODIES ? core_distance(system, a, b) : contact_of_points(system, a, b);
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

/* Where one edge is too short for a checkerboard. */
static int refuse_edge(const checkerboard *me, const plugmc_host *host, const char *which,
                       double edge, double range, double smallest)
{
    char system[96];
    snprintf(system, sizeof system,
             "at this density the smallest possible system has N = "
             "%.0f particles",
             ceil(smallest));
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s %g is below twice the %s %g%s, so "
                      "there is no checkerboard of cells%s%s (mover 'serial' takes any)",
                      which, edge, me->set.cell > 0 ? "cell" : "range", range,
                      me->set.cell > 0 ? "" : " of the potential", me->each.resized ? "" : "; ",
                      me->each.resized ? "" : system);
}

/* Of all walkers: the shortest edges, the longest ones, and the largest volume. */
typedef struct extent {
    double shortest[3], longest[3], volume;
} extent;

static extent extent_of(const checkerboard *me)
{
    extent e = {{INFINITY, INFINITY, INFINITY}, {0}, 0};
    for (int w = 0; w < me->cells.walkers; w++) {
        for (int a = 0; a < 3; a++) {
            e.shortest[a] = fmin(e.shortest[a], me->each.of[w].length[a]);
            e.longest[a] = fmax(e.longest[a], me->each.of[w].length[a]);
        }
        e.volume = fmax(e.volume, me->each.of[w].volume);
    }
    return e;
}

/* Cells in a direction, below 2 where there is no checkerboard. */
static double cells_along(const checkerboard *me, const extent *boxes, int a)
{
    const double core = smallest_contact(me->system);
    const double range = me->set.cell > 0 ? (double)me->set.cell : range_of(me);
    const double edge = boxes->shortest[a], most = 2 * floor(edge / (2 * range)),
                 wide = 2 * floor(boxes->longest[a] / (2 * 1.41421 * core)) + 2;
    double m = me->cells.dimension == 2 && core > 0 && wide <= most ? wide : most;
    if (me->set.cell > 0) m = most;
    if (range <= 0) /* nothing interacts: a particle a cell */
        m = 2 * fmax(1, floor(edge / 2 *
                              pow((double)me->system->particles / boxes->volume,
                                  1.0 / me->cells.dimension)));
    return fmin(m, 1 << 15);
}

/* Cells in each direction: even, edges at least the range in every walker. In two dimensions hard disks
 * take cells just below sqrt(2) diameters where they can, the widest that hold at most four (figure 3
 * of the paper); else cells are as small as the range allows. The key `cell` overrules this. It all
 * follows from the boxes as they are. */
static int divide(checkerboard *me, const plugmc_host *host)
{
    const extent boxes = extent_of(me);
    double range = range_of(me);
    if (me->set.cell > 0 && me->set.cell < range)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "cell = %g must be at least the range %g of the potential",
                          (double)me->set.cell, range);
    if (me->set.cell > 0) range = me->set.cell;
    for (int a = 0; a < 3; a++) {
        if (a >= me->cells.dimension) {
            me->cells.m[a] = 1;
            continue;
        }
        double edge = boxes.shortest[a];
        const double m = cells_along(me, &boxes, a);
        if (m < 2) {
            for (int b = 0; b < me->cells.dimension; b++) edge = fmin(edge, boxes.shortest[b]);
            return refuse_edge(
                me, host,
                me->each.resized ? "a box has become so small that its edge" : "the box edge", edge,
                range, (double)me->system->particles * pow(2 * range / edge, me->cells.dimension));
        }
        me->cells.m[a] = (int)m;
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
static double most_in_cell(const checkerboard *me, double core, const double width[3],
                           double widest)
{
    if (core <= 0) return INFINITY;
    /* a fifth disk needs a diagonal of 2, a ninth sphere one of 2, in units of the diameter */
    if (me->cells.dimension == 2 && widest < 1.41421 * core) return 4;
    if (me->cells.dimension == 3) return widest < 1.15470 * core ? 8 : INFINITY;
    double x = width[0] / core, y = width[1] / core;
    return most_points(x * y, 2 * (x + y));
}

/* Slots a cell, and room for particles near one. Where geometry bounds the number of hard particles
 * by no more than we would guess, that is enough for ever; else a guess, which grows when it is
 * exceeded. */
typedef struct room {
    int capacity, near, bounded;
} room;

/* In the box of one walker. */
static room room_in(const checkerboard *me, const conditions *of)
{
    const plugmc_system *system = me->system;
    const double *width = of->width;
    double core = smallest_contact(system), cell = 1, widest = 0;
    room room;
    for (int a = 0; a < me->cells.dimension; a++) {
        cell *= width[a];
        widest = fmax(widest, width[a]);
    }
    double mean = (double)system->particles * cell / of->volume;
    double guess = fmin(ceil(mean + 4 * sqrt(mean) + 3), MOST);
    double bound = most_in_cell(me, core, width, widest);
    room.capacity = (int)fmin(guess, bound);
    room.bounded = me->cells.dimension == 2 && bound <= guess;

    /* Within the range r of a cell: area w^2 + 4 w r + pi r^2, boundary 4 w + 2 pi r. One more
     * entry marks the end. */
    double w = widest, r = range_of(me);
    double region = me->cells.dimension == 2 ? w * w + 4 * w * r + M_PI * r * r
                                             : w * w * w + 6 * w * w * r + 3 * M_PI * w * r * r +
                                                   4 * M_PI / 3 * r * r * r;
    mean = (double)system->particles * region / of->volume;
    int all = room.capacity * (me->cells.dimension == 2 ? 9 : 27);
    room.near = (int)ceil(mean + 4 * sqrt(mean) + 4);
    if (room.bounded)
        room.near = (int)most_points(region / (core * core), (4 * w + 2 * M_PI * r) / core) + 1;
    if (room.near > all + 1) room.near = all + 1;
    return room;
}

/* In all boxes. */
static room room_needed(const checkerboard *me)
{
    room most = {0, 0, 1};
    for (int w = 0; w < (me->each.boxes_change ? me->cells.walkers : 1); w++) {
        const room one = room_in(me, &me->each.of[w]);
        if (one.capacity > most.capacity) most.capacity = one.capacity;
        if (one.near > most.near) most.near = one.near;
        most.bounded &= one.bounded;
    }
    return most;
}

static void limit_room(checkerboard *me)
{
    if (me->cells.capacity > most_slots(me)) me->cells.capacity = most_slots(me);
    if (me->cells.near > most_near(me)) me->cells.near = most_near(me);
}

static void guess_capacity(checkerboard *me)
{
    const room needed = room_needed(me);
    me->cells.capacity = needed.capacity;
    me->cells.near = needed.near;
    me->cells.bounded = needed.bounded;

    /* A thread of the GPU that takes a cell keeps these particles in a column of shared memory. With
     * more than 64 of them, less than 9 warps fit on a multiprocessor, too few to hide latencies; and
     * a block that takes a cell has two a lane or more. This is decided once and for all, since the
     * order in which energies are added depends on it: `near` may grow later. */
    me->cells.wide = !CB_BODIES && me->cells.near > MANY;
    limit_room(me);
}

int most_slots(const checkerboard *me) { return me->cells.wide ? MOST : NARROW; }

void set_strides(checkerboard *me)
{
    me->cells.half = me->cells.m[0] / 2;
    const int blocks = (me->cells.half + LANES - 1) / LANES; /* of lanes, for half a row */
    me->cells.packed = me->cells.half < 0.8 * LANES * blocks;
    /* LANES floats that begin or end within half a row do not reach the images of another */
    me->cells.row = me->cells.wide ? PAD + me->cells.half + 1
                                   : (PAD + me->cells.half + 1 + LANES - 1) / LANES * LANES;
    me->cells.plane = (int64_t)me->cells.m[1] * me->cells.m[2] * 2 * me->cells.row;
    me->cells.axis = me->cells.capacity * me->cells.plane;
    me->cells.to_cell = me->cells.wide ? me->cells.capacity : 1;
    me->cells.to_slot = me->cells.wide ? 1 : me->cells.plane;
    me->cells.walker = me->cells.dimension * me->cells.axis;
}

int check_slots(const checkerboard *me, const plugmc_host *host)
{
    if ((double)me->cells.plane * me->cells.walkers * me->cells.capacity <= 2e9) return PLUGMC_OK;
    return host->fail(
        host->context, PLUGMC_ERROR_INPUT,
        "%d walkers of %lld particles need more than 2^31 cell slots, with %d in each of "
        "%d x %d x %d cells",
        me->cells.walkers, (long long)me->system->particles, me->cells.capacity, me->cells.m[0],
        me->cells.m[1], me->cells.m[2]);
}

/* Whether cells of `mean` particles can hold them, and what would help if not: a box with room for two
 * more cells along its shortest edge has narrower ones, unless those would be crowded too. */
static int crowded(const checkerboard *me, const plugmc_host *host, double mean)
{
    const plugmc_system *system = host->system;
    const double range = me->set.cell > 0 ? me->set.cell : range_of(me);
    const double density = (double)system->particles / system->box.volume;
    int shortest = 0;
    char remedy[160];
    for (int a = 1; a < me->cells.dimension; a++)
        if (me->cells.m[a] < me->cells.m[shortest]) shortest = a;
    const double edge = (me->cells.m[shortest] + 2) * range;
    const int most = CB_BODIES ? NARROW : MOST;
    if (mean <= most && mean + 2 * sqrt(mean) <= most) return PLUGMC_OK;
    if (density * pow(range, me->cells.dimension) > most / 2)
        snprintf(remedy, sizeof remedy, "at this density the %s %g%s is too large",
                 me->set.cell > 0 ? "cell" : "range", range,
                 me->set.cell > 0 ? "" : " of the potential");
    else
        snprintf(remedy, sizeof remedy,
                 "edges of %g or more (N = %.0f in %s at this density) have narrower cells", edge,
                 ceil(density * pow(edge, me->cells.dimension) * (1 - 1e-9)),
                 me->cells.dimension == 2 ? "a square" : "a cube");
    if (mean > most)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "%.0f particles on average in a cell of edge %g are more than the %d that "
            "mover '" CB_NAME "' takes: %s",
            mean, me->each.of[0].width[shortest], most, remedy);
    host->warn(host->context,
               "%.0f particles on average in a cell of edge %g are close to the %d that mover "
               "'" CB_NAME "' takes, and the run ends when one has more: %s",
               mean, me->each.of[0].width[shortest], most, remedy);
    return PLUGMC_OK;
}

/* Contact distances and what energies need of species. */
static int describe_species(checkerboard *me, const plugmc_host *host)
{
    const plugmc_system *system = me->system;
    const int s = me->cells.species;
    me->distance = (double *)host->allocate(host->context, sizeof(double) * s * s);
    me->charge = (float *)host->allocate(host->context, sizeof(float) * s);
    me->diameter = (float *)host->allocate(host->context, sizeof(float) * s);
    if (!me->distance || !me->charge || !me->diameter)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d species", s);
    for (int a = 0; a < s; a++) {
        me->charge[a] = (float)plugmc_species_at(system, a)->charge;
        me->diameter[a] = (float)plugmc_species_at(system, a)->diameter;
        for (int b = 0; b < s; b++) me->distance[a * s + b] = contact_distance(system, a, b);
    }
    me->cells.energies = 0;
    for (int t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_pair *pair = term->plugin->potential->pair;
        const plugmc_body *body = CB_BODIES ? plugmc_body_of(term->plugin) : NULL;
        if (term->sampled && pair && pair->functions & PLUGMC_PAIR_ENERGY) me->cells.energies++;
        if (term->sampled && body && body->functions & PLUGMC_BODY_ENERGY) me->cells.energies++;
    }
    return PLUGMC_OK;
}

int geometry(checkerboard *me, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    if (CB_BODIES && !system->bodies)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "no potential of the run depends on orientations, so there is nothing to turn");
    me->system = system;
    me->cells.dimension = system->box.dimension;
    me->cells.walkers = system->walkers;
    me->cells.species = system->species_count;
    me->cells.ids = CB_BODIES || me->set.identities || me->cells.species > 1;
    me->each.boxes_change = (system->changes & PLUGMC_CHANGED_BOX) != 0;
    me->each.counts_change = (system->changes & PLUGMC_CHANGED_COUNT) != 0;
    TRY(describe_species(me, host));
    TRY(begin_conditions(me, host));
    TRY(divide(me, host));
    set_units(me);
    me->cells.narrowest = me->each.of[0].width[0];
    for (int a = 0; a < me->cells.dimension; a++) {
        const double width = me->each.of[0].width[a];
        me->cells.narrowest = fmin(me->cells.narrowest, width);
        if (me->set.step >= 0.5 * width)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "step = %g must be below half a cell, which is %g here",
                              (double)me->set.step, 0.5 * width);
    }
    /* plugmc_draw has as many. In the plane one serves four displacements of points. */
    if ((CB_BODIES || me->cells.dimension == 3) && me->set.trials > 256)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "trials = %lld must be at most 256 %s",
                          (long long)me->set.trials,
                          CB_BODIES ? "of bodies" : "in three dimensions");
    TRY(crowded(me, host,
                (double)system->particles / me->cells.m[0] / me->cells.m[1] / me->cells.m[2]));
    if (!me->cells.capacity) guess_capacity(me);
    set_strides(me);
    TRY(check_domains(me, host));
    return check_slots(me, host);
}

int cells_hold(const checkerboard *me, const conditions *other)
{
    const double range = me->set.cell > 0 ? (double)me->set.cell : range_of(me);
    for (int a = 0; a < me->cells.dimension; a++)
        if (range > 0 && me->cells.m[a] > 2 * floor(other->length[a] / (2 * range))) return 0;
    return 1;
}

void bound_room(checkerboard *me)
{
    const room needed = room_needed(me);
    me->cells.bounded =
        needed.bounded && needed.capacity <= me->cells.capacity && needed.near <= me->cells.near;
}

int finer_cells_fit(const checkerboard *me)
{
    const extent boxes = extent_of(me);
    int finer = 0;
    for (int a = 0; a < me->cells.dimension; a++)
        finer |= 10 * cells_along(me, &boxes, a) > 11 * me->cells.m[a];
    return finer;
}

/* Slots and room that are there are kept where they are enough, since more of them change nothing. */
int fit_cells(checkerboard *me, const plugmc_host *host, int *laid_out)
{
    const int m[3] = {me->cells.m[0], me->cells.m[1], me->cells.m[2]};
    const int capacity = me->cells.capacity, near = me->cells.near;
    me->each.resized = 1;
    TRY(divide(me, host));
    TRY(check_domains(me, host));
    set_units(me);
    const room needed = room_needed(me);
    const int same = !memcmp(m, me->cells.m, sizeof m);
    me->cells.bounded = needed.bounded;
    *laid_out = !same || (me->cells.bounded && (needed.capacity > capacity || needed.near > near));
    if (!*laid_out) return PLUGMC_OK;
    me->cells.capacity = needed.capacity;
    me->cells.near = needed.near;
    limit_room(me);
    return lay_out(me, host);
}
