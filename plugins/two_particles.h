/* two_particles: contact and energy of two particles of given species, of all sampled pair potentials together. */
#ifndef PLUGMC_TWO_PARTICLES_H
#define PLUGMC_TWO_PARTICLES_H

#include <math.h>

#include <plugmc/everything.h>

static inline plugmc_particle pair_particle(const plugmc_system *system, int32_t species, double x)
{
    return (plugmc_particle){.x = x,
                             .charge = plugmc_species_at(system, species)->charge,
                             .diameter = plugmc_species_at(system, species)->diameter,
                             .species = species};
}

/* The largest contact distance of all terms; 0 without a hard core. */
static inline double pair_contact_of(const plugmc_system *system, int32_t a, int32_t b)
{
    const plugmc_particle one = pair_particle(system, a, 0), other = pair_particle(system, b, 0);
    double contact = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_pair *pair = term->sampled ? term->plugin->potential->pair : NULL;
        if (pair) contact = fmax(contact, pair->contact(term->instance, &one, &other));
    }
    return contact;
}

/* Energy at distance r over kT, each term times its coupling on a rung, without hard cores. */
static inline double pair_energy_on(const plugmc_system *system, int32_t rung, int32_t a, int32_t b,
                                    double r)
{
    const plugmc_particle one = pair_particle(system, a, 0), other = pair_particle(system, b, r);
    const plugmc_particles others = {
        1, &other.x, &other.y, &other.z, &other.charge, &other.diameter, &other.species};
    double energy = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_pair *pair = term->sampled ? term->plugin->potential->pair : NULL;
        double own = 0;
        if (!pair || !(pair->functions & PLUGMC_PAIR_ENERGY)) continue;
        pair->energy(term->instance, &system->box, 0, &one, &others, &own);
        const double multiplier = system->weighted
                                      ? system->of_rungs[rung * system->multipliers + t]
                                      : 1 / system->temperature;
        if (multiplier != 0) energy += multiplier * own; /* else it may be infinite */
    }
    return energy;
}

#endif
