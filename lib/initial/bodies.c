/* Initial states of bodies: upright on a lattice, or grown at random; and the search for bodies that overlap. See initial.h.
 *
 * At random, bodies are placed with random orientations where they are as small as [initial] random_fraction asks, and then
 * grow while trial moves go on. As in compress.c some may overlap while they grow: a trial move is accepted if the body
 * then overlaps with no other, or with fewer than before, so none goes deeper into another. The last few of many that overlap
 * take more sweeps the more bodies there are: these sweeps are made around them alone. Instead of the bodies, which a
 * potential knows in one size, the box shrinks: bodies of size f in a box are bodies of size 1 in a box 1/f as large. */
#include "initial/initial.h"

#include <math.h>
#include <stdlib.h>

#include "energy/configuration.h"
#include "system/system.h"

enum {
    /* If fewer than 1 / FEW of the bodies overlap, they and those around them move alone. */
    FEW = 300,
    /* Sweeps until all are apart again, or growth has been too large. */
    PATIENCE = 200,
    /* So many sweeps around a few count as one. */
    LOCAL = 8
};
#define LARGEST_GROWTH 0.02 /* relative, each time */
#define SMALLEST_GROWTH 1e-5
#define MARGIN 1e-6 /* grown by so much more, so that rounding to float leaves no overlap */
#define BODY_SWEEPS (1ull << 41) /* in the counter of random numbers: above those of compress.c */

/* Trial moves are a quarter, a sixteenth and so on of the largest ones, in turn. */
static const double sizes[4] = {1, 0.25, 0.0625, 0.015625};

typedef struct growth {
    const plugmc_system *system;
    configuration now;
    /* Of the bodies; coordinates of `now` are those of the run divided by it. */
    double scale;
    /* Of a sphere of the volume of a typical body: sets the sizes of moves. */
    double radius;
    /* [particles]: overlaps with no other, surely. */
    bool *apart;
    /* [particles]: takes part in sweeps around a few. */
    bool *moves;
    uint32_t walker;
    uint64_t sweep;
} growth;

/* ---- Overlaps ---- */

/* Bodies and hard cores that overlap with particle i, if it is at a position with an orientation; with those whose index is
 * larger than `after` alone. */
static int64_t overlaps_of(const plugmc_system *system, configuration *c, int64_t i, int64_t after,
                           const double at[3], const plugmc_orientation *turned)
{
    const int periodic = c->box.domain == PLUGMC_DOMAIN_PERIODIC;
    const plugmc_particle one = configuration_particle(c, c->all.species[i], at);
    const plugmc_particles near = configuration_near(c, i, -1, after, at, NULL);
    int64_t overlaps = 0;
    double unused = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_body *body = plugmc_body_of(term->plugin);
        const plugmc_pair *pair = term->plugin->potential->pair;
        if (!term->sampled) continue;
        if (body)
            overlaps += body->energy(term->instance, &c->box, periodic, &one, turned, &near,
                                     c->near.orientation, &unused);
        if (pair && pair->functions & PLUGMC_PAIR_CONTACT)
            overlaps += pair->energy(term->instance, &c->box, periodic, &one, &near, &unused);
    }
    return overlaps;
}

/* Largest distance of two centres that overlap, and of the energies of bodies. */
static double reach_of_all(const plugmc_system *system)
{
    double reach = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_pair *pair = term->plugin->potential->pair;
        if (!term->sampled ||
            !(plugmc_body_of(term->plugin) || (pair && pair->functions & PLUGMC_PAIR_CONTACT)))
            continue;
        const double of_term = reach_of_term(system, term);
        if (isfinite(of_term)) reach = fmax(reach, of_term);
    }
    return reach;
}

int find_bodies_overlap(const plugmc_system *system, const double *positions,
                        const plugmc_orientation *orientations, int64_t pair[2])
{
    configuration now = {0};
    int64_t count[system->species_count + 1];
    int found = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        count[s] = system->first[s + 1] - system->first[s];
    int failed = configuration_make(&now, system, reach_of_all(system)) ||
                 configuration_fill(&now, &system->box, count, positions, orientations);
    for (int64_t i = 0; i < system->particles && !failed && !found; i++) {
        double at[3];
        configuration_place(&now, i, at);
        if (!overlaps_of(system, &now, i, i, at, &now.all.orientation[i])) continue;
        pair[0] = i;
        for (pair[1] = i + 1; pair[1] < system->particles - 1;
             pair[1]++) /* the last one it is then */
            if (overlaps_of(system, &now, i, pair[1], at, &now.all.orientation[i]) == 0) break;
        found = 1;
    }
    configuration_free(&now);
    return failed ? -1 : found;
}

/* ---- Growing ---- */

/* Coordinates in a box 1/scale as large. Returns -1 without memory. */
static int set_scale(growth *g, double scale)
{
    const int64_t n = g->system->particles;
    const plugmc_box *box = &g->system->box;
    const double ratio = g->scale / scale, larger[3] = {1 / scale, 1 / scale, 1 / scale};
    double *places = malloc((size_t)(3 * n + 1) * sizeof *places);
    if (!places) return -1;
    for (int64_t i = 0; i < n; i++) {
        double *at = &places[3 * i];
        configuration_place(&g->now, i, at);
        for (int d = 0; d < box->dimension; d++) at[d] *= ratio;
    }
    plugmc_box scaled = *box;
    if (box->domain == PLUGMC_DOMAIN_PERIODIC)
        plugmc_scale_box(&scaled, larger);
    else
        scaled.radius /= scale,
            scaled.length[0] = scaled.length[1] = scaled.length[2] = 2 * scaled.radius;
    g->scale = scale;
    for (int64_t i = 0; i < n; i++) g->apart[i] = false;
    const int code =
        configuration_fill(&g->now, &scaled, g->now.counts, places, g->now.all.orientation);
    free(places);
    return code;
}

/* A number in (-1, 1), symmetric about 0. */
static double symmetric(uint32_t word) { return ((double)word + 0.5) * 0x1p-31 - 1; }

/* Bodies near a position may overlap with one that has come there. */
static void look_again(growth *g, const double at[3])
{
    const cell_arrays *cells = &g->now.cells;
    const int64_t n = cells_near(cells, &g->now.box, at, NULL, g->now.slots);
    for (int64_t k = 0; k < n; k++) g->apart[cells->particle[g->now.slots[k]]] = false;
}

/* One body tries to move and to turn. Returns with how many it overlaps afterwards. */
static int64_t try_to_move(growth *g, int64_t i, double size)
{
    const plugmc_system *system = g->system;
    const plugmc_random random =
        plugmc_draw(system->seed, g->sweep, g->walker, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
    plugmc_orientation turned = g->now.all.orientation[i];
    double at[3], to[3];
    configuration_place(&g->now, i, at);
    const int64_t before = g->apart[i] ? 0 : overlaps_of(system, &g->now, i, -1, at, &turned);
    g->apart[i] = before == 0;
    for (int d = 0; d < 3; d++)
        to[d] = d < system->box.dimension
                    ? at[d] + size * 0.5 * g->radius * symmetric(random.word[d])
                    : at[d];
    plugmc_wrap(&g->now.box, to);
    const int turns = plugmc_draw_turn(system->seed, g->sweep, g->walker, (uint32_t)i,
                                       system->box.dimension, size * 1.0, &turned);
    if (!turns || !configuration_inside(&g->now, to)) return before;
    const int64_t after = overlaps_of(system, &g->now, i, -1, to, &turned);
    if (after && after >= before) return before;
    configuration_move(&g->now, i, to);
    configuration_turn(&g->now, i, &turned);
    if (after) look_again(g, to);
    g->apart[i] = after == 0;
    return after;
}

/* Notes places and orientations of all bodies. */
static void keep(const growth *g, double *places, plugmc_orientation *turned)
{
    for (int64_t i = 0; i < g->system->particles; i++) {
        configuration_place(&g->now, i, &places[3 * i]);
        turned[i] = g->now.all.orientation[i];
    }
}

/* Notes in `moves` [particles] who may overlap, and who is near to one of these. Returns how many may overlap. */
static int64_t choose_around(growth *g)
{
    const cell_arrays *cells = &g->now.cells;
    const int64_t n = g->system->particles;
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) g->moves[i] = false;
    for (int64_t i = 0; i < n; i++) {
        double at[3];
        if (g->apart[i]) continue;
        configuration_place(&g->now, i, at);
        const int64_t near = cells_near(cells, &g->now.box, at, NULL, g->now.slots);
        for (int64_t k = 0; k < near; k++) g->moves[cells->particle[g->now.slots[k]]] = true;
        found++;
    }
    return found;
}

/* Sweeps until no bodies overlap. Returns how many it took, or PATIENCE if some still do. */
static int take_apart(growth *g)
{
    const int64_t n = g->system->particles, few = n / FEW;
    bool around = false;
    for (int sweeps = LOCAL; sweeps < LOCAL * PATIENCE; sweeps += around ? 1 : LOCAL) {
        int64_t overlapping = 0;
        g->sweep++;
        for (int64_t i = 0; i < n; i++)
            if (!around || g->moves[i]) overlapping += try_to_move(g, i, sizes[g->sweep % 4]) > 0;
        if (!overlapping) return sweeps / LOCAL;
        around = overlapping <= few && choose_around(g) <= 2 * few;
    }
    return PATIENCE;
}

/* Grows to the full size: each time that no bodies overlap, by as much as can be undone within some sweeps. Returns the scale
 * at which it has come to rest, or one of 1 or more. */
static double grow(growth *g, int *failed)
{
    const int64_t n = g->system->particles;
    double *places = malloc((size_t)(3 * n + 1) * sizeof *places), by = LARGEST_GROWTH;
    plugmc_orientation *turned = malloc((size_t)(n + 1) * sizeof *turned);
    *failed = !places || !turned;
    while (!*failed && g->scale < 1 && by > SMALLEST_GROWTH) {
        const double before = g->scale;
        const plugmc_box box = g->now.box;
        keep(g, places, turned);
        *failed = set_scale(g, fmin(1 + MARGIN, before * (1 + by)));
        const int sweeps = *failed ? 0 : take_apart(g);
        by = sweeps > PATIENCE / 8 ? by / 2 : fmin(LARGEST_GROWTH, by * 1.5);
        if (*failed || sweeps < PATIENCE) continue;
        g->scale = before; /* it was too much */
        by /= 2;
        *failed = configuration_fill(&g->now, &box, g->now.counts, places, turned);
        for (int64_t i = 0; i < n; i++) g->apart[i] = false;
    }
    free(places), free(turned);
    return g->scale;
}

/* Puts all bodies at random positions without overlap. Returns how many found one within so many attempts. */
static int64_t insert(growth *g, int64_t attempts)
{
    const plugmc_system *system = g->system;
    const plugmc_box *box = &g->now.box;
    configuration *c = &g->now;
    for (int64_t i = 0; i < system->particles; i++) {
        int64_t attempt = 0;
        double at[3] = {0};
        plugmc_orientation turned = plugmc_upright(box->dimension);
        for (; attempt < attempts; attempt++) {
            const plugmc_random random = plugmc_draw(system->seed, (uint64_t)attempt, g->walker,
                                                     (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
            turned = plugmc_draw_orientation(system->seed, (uint64_t)attempt, g->walker,
                                             (uint32_t)i, box->dimension);
            double f[3] = {0};
            for (int d = 0; d < box->dimension; d++) f[d] = (symmetric(random.word[d]) + 1) / 2;
            for (int d = 0; d < 3; d++)
                at[d] = box->domain == PLUGMC_DOMAIN_PERIODIC
                            ? f[0] * box->vector[0][d] + f[1] * box->vector[1][d] +
                                  f[2] * box->vector[2][d]
                            : (d < box->dimension ? box->radius * (2 * f[d] - 1) : 0);
            if (box->dimension == 2) at[2] = 0;
            plugmc_wrap(box, at);
            if (configuration_inside(c, at) && !overlaps_of(system, c, i, -1, at, &turned)) break;
        }
        if (attempt == attempts) return i;
        configuration_insert(c, c->all.species[i], at, &turned);
    }
    return system->particles;
}

/* Volumes of all particles of the run: of the spheres around them, and their own, where hard cores count as bodies. */
typedef struct volumes {
    double around, own;
} volumes;

static volumes volumes_of(const growth *g)
{
    const plugmc_system *system = g->system;
    volumes all = {0, 0};
    for (int32_t s = 0; s < system->species_count; s++) {
        double radius = 0, own = 0;
        const int64_t n = system->first[s + 1] - system->first[s];
        const plugmc_particle one = configuration_particle(&g->now, s, (const double[3]){0});
        for (int32_t t = 0; t < system->term_count; t++) {
            const plugmc_term *term = plugmc_term_at(system, t);
            const plugmc_body *body = plugmc_body_of(term->plugin);
            const plugmc_pair *pair = term->plugin->potential->pair;
            if (!term->sampled) continue;
            if (body) {
                radius = fmax(radius, body->reach(term->instance, &one));
                own = fmax(own, body->volume(term->instance, &one));
            }
            if (pair) {
                const double contact = pair->contact(term->instance, &one, &one);
                radius = fmax(radius, contact / 2);
                own = fmax(own, ball_volume(system->box.dimension, contact));
            }
        }
        all.around += (double)n * ball_volume(system->box.dimension, 2 * radius);
        all.own += (double)n * own;
    }
    return all;
}

random_outcome random_bodies(const plugmc_system *system, double random_fraction, int64_t attempts,
                             uint32_t walker, double *positions, plugmc_orientation *orientations)
{
    random_outcome out = {EXIT_DONE, 0, 1};
    int64_t none[system->species_count + 1];
    growth g = {.system = system, .scale = 1, .walker = walker, .sweep = BODY_SWEEPS};
    g.apart = calloc(2 * (size_t)system->particles + 1, sizeof *g.apart);
    g.moves = g.apart + system->particles;
    int failed = configuration_make(&g.now, system, reach_of_all(system)) || !g.apart;
    for (int32_t s = 0; s < system->species_count; s++) none[s] = 0;
    if (!failed) {
        g.now.box = system->box;
        const volumes all = volumes_of(&g);
        const double fraction = all.around / system->box.volume,
                     of_one = fmax(all.own, 1e-300) / (double)system->particles;
        g.radius =
            0.5 * pow(of_one / ball_volume(system->box.dimension, 1), 1.0 / system->box.dimension);
        out.fraction = fmin(fraction, random_fraction);
        for (int64_t i = 0; i < 3 * system->particles; i++) positions[i] = 0;
        failed = configuration_fill(&g.now, &system->box, none, positions, g.now.all.orientation);
        g.scale = 1;
        if (!failed)
            failed = set_scale(&g, fmin(1 + MARGIN, pow(random_fraction / fmax(fraction, 1e-300),
                                                        1.0 / system->box.dimension)));
    }
    if (!failed) out.inserted = insert(&g, attempts);
    if (!failed && out.inserted == system->particles) out.scale = grow(&g, &failed);
    for (int64_t i = 0; i < (failed ? 0 : system->particles); i++) {
        double *at = &positions[3 * i];
        configuration_place(&g.now, i, at);
        for (int d = 0; d < system->box.dimension; d++) at[d] *= g.scale;
        plugmc_wrap(&system->box, at);
        orientations[i] = g.now.all.orientation[i];
    }
    configuration_free(&g.now);
    free(g.apart);
    out.code = failed                                              ? EXIT_MEMORY
               : out.inserted < system->particles || out.scale < 1 ? EXIT_INPUT
                                                                   : EXIT_DONE;
    return out;
}
