/* is_body: whether the particles of a species have a shape, for observables of bodies. */
#ifndef PLUGMC_IS_BODY_H
#define PLUGMC_IS_BODY_H

#include <plugmc/everything.h>

static inline int is_body(const plugmc_system *system, int32_t s)
{
    const plugmc_species *species = plugmc_species_at(system, s);
    const plugmc_particle one = {
        .charge = species->charge, .diameter = species->diameter, .species = s};
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_body *body = plugmc_body_of(term->plugin);
        if (body && body->reach(term->instance, &one) > 0) return 1;
    }
    return 0;
}

#endif
