/* Rigid molecules at random: reference points at random, not too near to each other, orientations at random. See initial.h.
 *
 * Where sites have cores (cores.c) the box is so large at first that there is room, and then shrinks while trial moves go on, as in
 * bodies.c: a trial move is accepted if the molecule then overlaps with no other site, or with fewer than before. If molecules
 * come to rest before the box has its size, they begin again with smaller cores. */
#include "initial/initial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "energy/configuration.h"
#include "system/molecule_kinds.h"
#include "system/system.h"

/* Reference points at random are at least this part of their mean distance apart, so that no charge comes to lie on another. */
static const double apart = 0.7;

enum {
    PATIENCE = 60, /* rounds until all are apart again, or the box has shrunk too much */
    REPAIRS = 12   /* of a round: trial moves of those that overlap */
};
#define LARGEST_GROWTH 0.02 /* relative, each time */
#define SMALLEST_GROWTH 1e-5
#define MARGIN 1e-6                  /* grown by so much more, so that rounding leaves no overlap */
#define MOLECULE_SWEEPS (1ull << 42) /* in the counter of random numbers: above those of bodies.c */
#define TURNING_SWEEPS (1ull << 43)  /* above those */

/* Trial moves are a quarter, a sixteenth and so on of the largest ones, in turn. */
static const double sizes[4] = {1, 0.25, 0.0625, 0.015625};

/* ---- Insertion ---------------------------------------------------------------------------------- */

typedef struct insertion {
    const plugmc_system *system;
    const contacts *contacts;
    cell_arrays cells;
    double distance; /* least distance of reference points, length */
    int32_t *slots;  /* [particles + CELL_LANES] */
} insertion;

static double square_of_distance(const plugmc_box *box, const double a[3], const double b[3])
{
    double u[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]}, r[3] = {u[0], u[1], u[2]};
    for (int d = 0; d < 3; d++) {
        const double f =
            u[0] * box->inverse[0][d] + u[1] * box->inverse[1][d] + u[2] * box->inverse[2][d];
        for (int e = 0; e < 3; e++) r[e] -= rint(f) * box->vector[d][e];
    }
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
}

static bool is_centre(const plugmc_system *system, int64_t i)
{
    return system->molecule[i] < 0 || is_first_site(system, i);
}

/* Whether there is room for particle i at a position. */
static bool has_room(const insertion *x, int64_t i, const double at[3])
{
    const plugmc_system *system = x->system;
    const double *between = x->contacts->between + species_of(system, i) * x->contacts->species;
    const int64_t n = cells_near(&x->cells, &system->box, at, NULL, x->slots);
    for (int64_t k = 0; k < n; k++) {
        const int32_t slot = x->slots[k];
        const int64_t j = x->cells.particle[slot];
        const double there[3] = {x->cells.x[slot], x->cells.y[slot], x->cells.z[slot]};
        double least = between[species_of(system, j)];
        if (is_centre(system, i) && is_centre(system, j)) least = fmax(least, x->distance);
        if (square_of_distance(&system->box, at, there) < least * least) return false;
    }
    return true;
}

/* Draws a position and an orientation for particle i, which is free or the first site of a molecule. Returns how many particles it has
 * put, 0: there was no room. */
static int32_t try_at_random(insertion *x, uint32_t walker, int64_t i, uint64_t attempt,
                             double (*at)[3], int64_t *number, plugmc_orientation *o)
{
    const plugmc_system *system = x->system;
    const plugmc_box *box = &system->box;
    double first[3] = {0};
    int32_t n = 1;
    for (int k = 0; k < 3; k++) {
        const plugmc_random random = plugmc_draw(system->seed, attempt, walker, (uint32_t)i,
                                                 PLUGMC_PURPOSE_INITIAL, (uint32_t)k);
        const double f = plugmc_uniform_double(random.word[0], random.word[1]);
        for (int d = 0; d < 3; d++) first[d] += f * box->vector[k][d];
    }
    plugmc_wrap(box, first);
    memcpy(at[0], first, sizeof first);
    number[0] = i;
    *o = plugmc_draw_orientation(system->seed, attempt, walker, (uint32_t)i, box->dimension);
    if (system->molecule[i] >= 0) n = place_sites(system, box, i, first, o, at, number);
    for (int32_t a = 0; a < n; a++)
        if (!has_room(x, number[a], at[a])) return 0;
    return n;
}

/* All of them, molecules and large things first. Returns how many of the particles have found a place, or -1 without memory. */
static int64_t insert_all(insertion *x, uint32_t walker, int64_t attempts, double *positions,
                          plugmc_orientation *orientations)
{
    const plugmc_system *system = x->system;
    double at[PLUGMC_MOST_SITES][3];
    int64_t number[PLUGMC_MOST_SITES], inserted = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < system->particles; i++) {
            int32_t n = 0;
            plugmc_orientation o;
            if (!is_centre(system, i) || (system->molecule[i] < 0) != pass) continue;
            for (int64_t attempt = 0; attempt < attempts && !n; attempt++)
                n = try_at_random(x, walker, i, (uint64_t)attempt, at, number, &o);
            if (!n) return inserted;
            for (int32_t a = 0; a < n; a++) {
                memcpy(&positions[3 * number[a]], at[a], sizeof at[a]);
                if (cells_add(&x->cells, &system->box, number[a], at[a])) return -1;
            }
            if (!pass) orientations[i] = o;
            inserted += n;
        }
    return inserted;
}

/* All in the box of the system. Returns how many particles have found a place, -1 without memory. */
static int64_t insert(const plugmc_system *system, const contacts *contacts, int64_t attempts,
                      uint32_t walker, double *positions, plugmc_orientation *orientations)
{
    insertion x = {.system = system, .contacts = contacts};
    x.distance = apart * cbrt(system->box.volume / (double)centres_in(system));
    x.cells.reach = fmax(x.distance, contacts->largest);
    x.slots = malloc((size_t)(system->particles + CELL_LANES) * sizeof *x.slots);
    int64_t inserted = -1;
    if (x.slots && !cells_arrange(&x.cells, &system->box, system->particles))
        inserted = insert_all(&x, walker, attempts, positions, orientations);
    cells_free(&x.cells);
    free(x.slots);
    return inserted;
}

/* ---- Growing ------------------------------------------------------------------------------------ */

typedef struct growth {
    plugmc_system system; /* in a box 1/scale as large */
    const contacts *contacts;
    plugmc_box full;
    configuration now;
    double scale;
    double radius;   /* of a typical molecule: sets the sizes of moves; length */
    bool turns_only; /* reference points stay where they are */
    int64_t *list; /* [particles]: first sites of molecules, and free particles, that are to move */
    uint32_t walker;
    uint64_t sweep;
} growth;

/* A molecule or a free particle, and where it would be. */
typedef struct placed {
    int32_t n;
    int64_t number[PLUGMC_MOST_SITES];
    double at[PLUGMC_MOST_SITES][3];
    plugmc_orientation turned;
} placed;

static void place(const growth *g, int64_t i, const double first[3],
                  const plugmc_orientation *turned, placed *out)
{
    out->n = 1;
    out->number[0] = i;
    out->turned = *turned;
    memcpy(out->at[0], first, sizeof out->at[0]);
    plugmc_wrap(&g->system.box, out->at[0]);
    if (g->system.molecule[i] >= 0)
        out->n = place_sites(&g->system, &g->system.box, i, first, turned, out->at, out->number);
}

/* Whether sites of a species have a core with any other. */
static bool has_core(const contacts *contacts, int32_t species)
{
    double largest = 0;
    for (int32_t s = 0; s < contacts->species; s++)
        largest = fmax(largest, contacts->between[species * contacts->species + s]);
    return largest > 0;
}

/* Pairs of cores of other molecules and of this one that overlap; at `enough` of them it stops. */
static int64_t overlaps_of(growth *g, const placed *p, int64_t enough)
{
    int64_t overlaps = 0;
    for (int32_t a = 0; a < p->n && overlaps < enough; a++) {
        const int32_t species = g->now.all.species[p->number[a]];
        const double *between = g->contacts->between + species * g->contacts->species;
        if (!has_core(g->contacts, species)) continue;
        const plugmc_particles near = configuration_near(&g->now, -1, -1, -1, p->at[a], NULL);
        for (int64_t k = 0; k < near.n && overlaps < enough; k++) {
            const double *x = near.x, *y = near.y, *z = near.z, there[3] = {x[k], y[k], z[k]},
                         contact = between[near.species[k]];
            overlaps += square_of_distance(&g->system.box, p->at[a], there) < contact * contact;
        }
    }
    return overlaps;
}

/* A number in (-1, 1), symmetric about 0. */
static double symmetric(uint32_t word) { return ((double)word + 0.5) * 0x1p-31 - 1; }

/* A molecule or free particle tries to move and to turn. Returns how many overlaps it has afterwards. */
static int64_t try_to_move(growth *g, int64_t i, double size)
{
    const plugmc_random random =
        plugmc_draw(g->system.seed, g->sweep, g->walker, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
    plugmc_orientation turned = g->now.all.orientation[i];
    placed before, after;
    double at[3];
    configuration_place(&g->now, i, at);
    place(g, i, at, &turned, &before);
    for (int d = 0; d < 3 && !g->turns_only; d++)
        at[d] += size * 0.5 * g->radius * symmetric(random.word[d]);
    const int turns =
        plugmc_draw_turn(g->system.seed, g->sweep, g->walker, (uint32_t)i, 3, size, &turned);
    place(g, i, at, turns ? &turned : &before.turned, &after);
    int64_t sorted[PLUGMC_MOST_SITES] = {i};
    const int32_t n = sites_with(&g->system, i, sorted);
    configuration_hide(&g->now, sorted, n ? n : 1);
    const int64_t old = overlaps_of(g, &before, INT64_MAX), least = old > 1 ? old : 1,
                  new = overlaps_of(g, &after, least);
    configuration_show(&g->now);
    if (new >= least) return old;
    for (int32_t a = 0; a < after.n; a++) configuration_move(&g->now, after.number[a], after.at[a]);
    configuration_turn(&g->now, i, &after.turned);
    return new;
}

/* A trial move of each molecule in the list, those that overlap afterwards stay in it. Returns how many do. */
static int64_t try_list(growth *g, int64_t n)
{
    int64_t left = 0;
    for (int64_t k = 0; k < n; k++)
        if (try_to_move(g, g->list[k], sizes[g->sweep % 4]) > 0) g->list[left++] = g->list[k];
    g->sweep++;
    return left;
}

/* Rounds until none overlap: a sweep of all, which makes room, and some of those that overlap. Returns how many it took, or PATIENCE
 * if some still do. */
static int take_apart(growth *g)
{
    for (int rounds = 1; rounds < PATIENCE; rounds++) {
        int64_t n = 0;
        for (int64_t i = 0; i < g->system.particles; i++)
            if (is_centre(&g->system, i)) g->list[n++] = i;
        for (int repair = 0; repair <= REPAIRS && n; repair++) n = try_list(g, n);
        if (!n) return rounds;
    }
    return PATIENCE;
}

/* Reference points with their fractional coordinates in a box 1/scale as large. Returns -1 without memory. */
static int set_scale(growth *g, double scale, const double *from, const plugmc_orientation *turned)
{
    const int64_t n = g->system.particles;
    const double ratio = g->scale / scale, larger[3] = {1 / scale, 1 / scale, 1 / scale};
    double *places = malloc((size_t)(3 * n + 1) * sizeof *places);
    int64_t counts[g->system.species_count + 1];
    placed p;
    if (!places) return -1;
    g->system.box = g->full;
    plugmc_scale_box(&g->system.box, larger);
    g->scale = scale;
    for (int64_t i = 0; i < n; i++) {
        if (!is_centre(&g->system, i)) continue;
        const double first[3] = {from[3 * i] * ratio, from[3 * i + 1] * ratio,
                                 from[3 * i + 2] * ratio};
        place(g, i, first, &turned[i], &p);
        for (int32_t a = 0; a < p.n; a++) memcpy(&places[3 * p.number[a]], p.at[a], sizeof p.at[a]);
    }
    for (int32_t s = 0; s < g->system.species_count; s++)
        counts[s] = g->system.first[s + 1] - g->system.first[s];
    const int code = configuration_fill(&g->now, &g->system.box, counts, places, turned);
    free(places);
    return code;
}

static void keep(const growth *g, double *places, plugmc_orientation *turned)
{
    for (int64_t i = 0; i < g->system.particles; i++) {
        configuration_place(&g->now, i, &places[3 * i]);
        turned[i] = g->now.all.orientation[i];
    }
}

/* Shrinks the box to its size: each time that none overlap, by as much as can be undone within some rounds. places and turned are
 * the state to begin with, and in the end the last one without overlaps. Returns -1 without memory. */
static int grow(growth *g, double *places, plugmc_orientation *turned)
{
    double by = LARGEST_GROWTH;
    while (g->scale < 1 && by > SMALLEST_GROWTH) {
        const double before = g->scale;
        if (set_scale(g, fmin(1 + MARGIN, before * (1 + by)), places, turned)) return -1;
        const int rounds = take_apart(g);
        by = rounds > PATIENCE / 8 ? by / 2 : fmin(LARGEST_GROWTH, by * 1.5);
        if (rounds < PATIENCE) {
            keep(g, places, turned);
            continue;
        }
        g->scale = before; /* it was too much */
        by /= 2;
    }
    return 0;
}

/* The volume of spheres around the molecules, and the radius of a typical one. */
static double volume_of_spheres(const plugmc_system *system, const contacts *contacts,
                                double *radius)
{
    double sum = 0, sum_of_radii = 0;
    for (int64_t i = 0; i < system->particles; i++) {
        double at[PLUGMC_MOST_SITES][3], own = 0;
        int64_t number[PLUGMC_MOST_SITES] = {i};
        const double origin[3] = {0};
        const plugmc_orientation upright = plugmc_upright(3);
        if (!is_centre(system, i)) continue;
        int32_t n = 1;
        memcpy(at[0], origin, sizeof origin);
        if (system->molecule[i] >= 0)
            n = place_sites(system, &system->box, i, origin, &upright, at, number);
        for (int32_t a = 0; a < n; a++) {
            const int32_t s = species_of(system, number[a]);
            own = fmax(own, sqrt(square_of_distance(&system->box, at[a], origin)) +
                                contacts->between[s * contacts->species + s] / 2);
        }
        sum += ball_volume(3, 2 * own);
        sum_of_radii += own;
    }
    *radius = sum_of_radii / (double)centres_in(system);
    return sum;
}

/* With cores of one level: from random places, or from those that are given, in the box of the run. */
static random_outcome grown(const plugmc_system *system, const contacts *contacts,
                            double random_fraction, int64_t attempts, bool given, uint32_t walker,
                            double *positions, plugmc_orientation *orientations)
{
    random_outcome out = {EXIT_DONE, 0, 1};
    growth g = {.system = *system,
                .contacts = contacts,
                .full = system->box,
                .walker = walker,
                .sweep = MOLECULE_SWEEPS};
    const double spheres = volume_of_spheres(system, contacts, &g.radius),
                 scale = fmin(1 + MARGIN, cbrt(random_fraction * system->box.volume / spheres));
    plugmc_scale_box(&g.system.box, (const double[3]){1 / scale, 1 / scale, 1 / scale});
    out.inserted = given ? system->particles
                         : insert(&g.system, contacts, attempts, walker, positions, orientations);
    g.list = malloc((size_t)(system->particles + 1) * sizeof *g.list);
    int failed =
        !g.list || out.inserted < 0 || configuration_make(&g.now, &g.system, contacts->largest);
    g.scale = given ? 1 : scale;
    if (!failed && given) failed = set_scale(&g, scale, positions, orientations);
    if (!failed && given) keep(&g, positions, orientations);
    if (!failed && out.inserted == system->particles) failed = grow(&g, positions, orientations);
    out.scale = g.scale;
    for (int64_t i = 0; i < (failed ? 0 : system->particles); i++) { /* in the box of the run */
        placed p;
        if (!is_centre(system, i)) continue;
        const double first[3] = {positions[3 * i] * g.scale, positions[3 * i + 1] * g.scale,
                                 positions[3 * i + 2] * g.scale};
        g.system.box = g.full;
        place(&g, i, first, &orientations[i], &p);
        for (int32_t a = 0; a < p.n; a++)
            memcpy(&positions[3 * p.number[a]], p.at[a], sizeof p.at[a]);
    }
    configuration_free(&g.now);
    free(g.list);
    out.code = failed                                              ? EXIT_MEMORY
               : out.inserted < system->particles || out.scale < 1 ? EXIT_INPUT
                                                                   : EXIT_DONE;
    return out;
}

/* ---- Turning ------------------------------------------------------------------------------------ */

/* Whether cores of two molecules overlap. */
static bool any_overlaps(growth *g)
{
    bool any = false;
    for (int64_t i = 0; i < g->system.particles && !any; i++) {
        placed p;
        double at[3];
        int64_t sites[PLUGMC_MOST_SITES] = {i};
        if (!is_centre(&g->system, i)) continue;
        configuration_place(&g->now, i, at);
        place(g, i, at, &g->now.all.orientation[i], &p);
        const int32_t n = sites_with(&g->system, i, sites);
        configuration_hide(&g->now, sites, n ? n : 1);
        any = overlaps_of(g, &p, 1) > 0;
        configuration_show(&g->now);
    }
    return any;
}

/* By cores of one level. *apart: whether none overlap now; else positions and orientations are what they were. */
static int turn_by(const plugmc_system *system, const contacts *contacts, uint32_t walker,
                   double *positions, plugmc_orientation *orientations, bool *apart)
{
    growth g = {.system = *system,
                .contacts = contacts,
                .full = system->box,
                .scale = 1,
                .walker = walker,
                .turns_only = true,
                .sweep = TURNING_SWEEPS};
    g.list = malloc((size_t)(system->particles + 1) * sizeof *g.list);
    const bool failed = !g.list || configuration_make(&g.now, &g.system, contacts->largest) ||
                        set_scale(&g, 1, positions, orientations);
    if (!failed) {
        const bool crowded = any_overlaps(&g);
        *apart = !crowded || take_apart(&g) < PATIENCE;
        if (crowded && *apart) keep(&g, positions, orientations);
    }
    configuration_free(&g.now);
    free(g.list);
    return failed ? EXIT_MEMORY : EXIT_DONE;
}

/* Soft cores of one level: from the lattice, in a larger box, as from random places. */
static int grow_by(const plugmc_system *system, const contacts *contacts, double random_fraction,
                   uint32_t walker, double *positions, plugmc_orientation *orientations,
                   bool *apart)
{
    const size_t n = (size_t)system->particles;
    double *own = malloc(3 * n * sizeof *own + 1);
    plugmc_orientation *turned = malloc(n * sizeof *turned + 1);
    int code = own && turned ? EXIT_DONE : EXIT_MEMORY;
    if (!code) {
        memcpy(own, positions, 3 * n * sizeof *own);
        memcpy(turned, orientations, n * sizeof *turned);
        const random_outcome out =
            grown(system, contacts, random_fraction, 0, true, walker, own, turned);
        *apart = out.code == EXIT_DONE;
        if (out.code == EXIT_MEMORY) code = EXIT_MEMORY;
    }
    if (!code && *apart) {
        memcpy(positions, own, 3 * n * sizeof *own);
        memcpy(orientations, turned, n * sizeof *turned);
    }
    free(own), free(turned);
    return code;
}

int lattice_apart(const plugmc_system *system, const cores *cores, double random_fraction,
                  uint32_t walker, double *positions, plugmc_orientation *orientations)
{
    int code = EXIT_DONE;
    bool apart = cores->at[0].largest == 0;
    for (int level = 0; level < cores->levels && !apart && !code; level++)
        code = turn_by(system, &cores->at[level], walker, positions, orientations, &apart);
    for (int level = 0; level < cores->levels && cores->levels > 1 && !apart && !code; level++)
        code = grow_by(system, &cores->at[level], random_fraction, walker, positions, orientations,
                       &apart);
    return code;
}

/* ---- Any start ---------------------------------------------------------------------------------- */

/* With cores of one level. */
static random_outcome at_random(const plugmc_system *system, const contacts *contacts,
                                double random_fraction, int64_t attempts, uint32_t walker,
                                double *positions, plugmc_orientation *orientations)
{
    if (contacts->largest > 0)
        return grown(system, contacts, random_fraction, attempts, false, walker, positions,
                     orientations);
    const int64_t inserted = insert(system, contacts, attempts, walker, positions, orientations);
    return (random_outcome){inserted < 0                   ? EXIT_MEMORY
                            : inserted < system->particles ? EXIT_INPUT
                                                           : EXIT_DONE,
                            inserted < 0 ? 0 : inserted, 1};
}

random_outcome random_molecules(const plugmc_system *system, const cores *cores,
                                double random_fraction, int64_t attempts, uint32_t walker,
                                double *positions, plugmc_orientation *orientations)
{
    random_outcome out;
    for (int level = 0; level < cores->levels; level++) {
        out = at_random(system, &cores->at[level], random_fraction, attempts, walker, positions,
                        orientations);
        const bool jammed = out.code == EXIT_INPUT && out.inserted == system->particles;
        if (!jammed) break;
    }
    return out;
}
