/* A lattice for long bodies, all upright: as far apart along each axis as they are long. See initial.h. */
#include <math.h>

#include "initial/initial.h"
#include "system/system.h"

enum { STEPS = 1024 }; /* in which the distance of two bodies is searched, from far away on */

/* Whether upright bodies of two species overlap, that far apart along an axis. */
static bool overlap_along(const plugmc_system *system, int32_t a, int32_t b, int axis,
                          double distance)
{
    const plugmc_species *of_a = plugmc_species_at(system, a), *of_b = plugmc_species_at(system, b);
    const plugmc_orientation upright = plugmc_upright(system->box.dimension);
    const double zero = 0, at[3] = {axis == 0 ? distance : 0, axis == 1 ? distance : 0,
                                    axis == 2 ? distance : 0};
    const plugmc_particle one = {at[0], at[1], at[2], of_a->charge, of_a->diameter, a};
    const plugmc_particles other = {1, &zero, &zero, &zero, &of_b->charge, &of_b->diameter, &b};
    int64_t overlaps = 0;
    double unused = 0;
    for (int32_t t = 0; t < system->term_count && !overlaps; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_body *body = plugmc_body_of(term->plugin);
        if (body && term->sampled)
            overlaps = body->energy(term->instance, &system->box, 0, &one, &upright, &other,
                                    &upright, &unused);
    }
    return overlaps > 0;
}

/* The distance along an axis from which upright bodies of any two species do not overlap; at most `most`, at which none do. */
static double extent_along(const plugmc_system *system, int axis, double most)
{
    int step = STEPS;
    for (int32_t a = 0; a < system->species_count; a++)
        for (int32_t b = a; b < system->species_count; b++) {
            int own = STEPS;
            while (own > 1 && !overlap_along(system, a, b, axis, most * (own - 1) / STEPS)) own--;
            step = (a == 0 && b == 0) || own > step ? own : step;
        }
    return most * step / STEPS;
}

/* Twice the radius of the largest body. */
static double widest(const plugmc_system *system)
{
    double reach = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_body *body = plugmc_body_of(term->plugin);
        for (int32_t s = 0; s < system->species_count && body && term->sampled; s++) {
            const plugmc_species *of = plugmc_species_at(system, s);
            const plugmc_particle one = {0, 0, 0, of->charge, of->diameter, s};
            reach = fmax(reach, body->reach(term->instance, &one));
        }
    }
    return 2 * reach;
}

int body_lattice(const plugmc_system *system, const plugmc_orientation *upright, double *sites,
                 double nearest)
{
    const int dimension = system->box.dimension;
    const double most = widest(system);
    int64_t pair[2];
    if (nearest >= most || system->box.domain != PLUGMC_DOMAIN_PERIODIC || system->box.oblique)
        return EXIT_DONE;
    const int overlap = find_bodies_overlap(system, sites, upright, pair);
    if (overlap <= 0) return overlap < 0 ? EXIT_MEMORY : EXIT_DONE;
    plugmc_box box = system->box;
    double extent[3] = {1, 1, 1}, shrunk[3] = {1, 1, 1};
    for (int d = 0; d < dimension; d++) {
        extent[d] = extent_along(system, d, most);
        shrunk[d] = 1 / extent[d];
    }
    plugmc_scale_box(&box, shrunk);
    if (lattice_sites(&box, dimension == 2 ? LATTICE_SQUARE : LATTICE_SC, system->particles, sites,
                      &nearest))
        return EXIT_MEMORY;
    for (int64_t i = 0; i < system->particles; i++) {
        for (int d = 0; d < dimension; d++) sites[3 * i + d] *= extent[d];
        plugmc_wrap(&system->box, &sites[3 * i]);
    }
    return EXIT_DONE;
}
