/* How fast the movers of single particles are on processors: formulas fitted to times of Lennard-Jones liquids, hard
 * spheres and hard disks on a core of an EPYC (bench/results/2026-11-28-movers-cpu.md), within a factor of two.
 * Terms are seconds. Used for plugmc_mover.speed alone: no chain depends on it. */
#ifndef PLUGMC_SPEEDS_H
#define PLUGMC_SPEEDS_H

#include <plugmc/everything.h>

/* Are there energies of pairs, or hard cores alone? */
static inline int pairs_have_energies(const plugmc_system *system)
{
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_pair *pair = term->plugin->potential->pair;
        if (term->sampled && pair && pair->functions & PLUGMC_PAIR_ENERGY) return 1;
    }
    return 0;
}

/* Particles in the cells around one, where cells are as narrow as the range allows. */
static inline double particles_near(const plugmc_system *system)
{
    double near = (double)system->particles;
    for (int d = 0; d < system->box.dimension && system->range > 0; d++) {
        const double cells = floor(system->box.length[d] / system->range);
        if (cells > 3) near *= 3 / cells;
    }
    return system->range > 0 ? near : 0;
}

static inline double least_of(double a, double b) { return a < b ? a : b; }

/* One trial move after the other: the energy with all particles near, at the old place and at the new one. Threads
 * share the walkers. */
static inline double seconds_one_by_one(const plugmc_system *system)
{
    return (4e-7 + 2 * 7e-9 * particles_near(system)) / least_of(system->threads, system->walkers);
}

/* plugmc_mover.speed of that, where a sweep has as many trial moves as there are particles. */
static inline int speed_one_by_one(const void *instance, const plugmc_system *system,
                                   plugmc_speed *out)
{
    (void)instance;
    out->seconds = seconds_one_by_one(system);
    out->trials = (double)(system->particles * system->walkers);
    return PLUGMC_OK;
}

/* A group of trial moves side by side, with all particles of the system. */
static inline double seconds_in_groups(const plugmc_system *system, int in_double)
{
    const double each = (in_double ? 4.5e-9 : 1.9e-9) * (double)system->particles;
    return (9e-7 + (pairs_have_energies(system) ? each : 0)) / system->threads;
}

#endif
