/* How fast the movers of single particles are: formulas fitted to times of Lennard-Jones liquids, hard spheres and hard
 * disks on a core of a Xeon with AVX-512 and on an H200 (bench/results/2026-11-29-speeds-of-movers.md), within a factor
 * of two. Terms are seconds. They decide which mover [mover auto] is: a change of a number here may change the chain of
 * an input that leaves the choice to plugmc. */
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

/* The many-body energy of a term, where single moves need it: it follows positions, and pairs and fields do not do. */
static inline const plugmc_total *many_body_of(const plugmc_term *term)
{
    const plugmc_potential *p = term->plugin->potential;
    const int needed = term->sampled && p->total && plugmc_follows_positions(p->total) &&
                       (p->total->beside_parts || !(p->pair || p->field));
    return needed ? p->total : NULL;
}

/* How long many-body energies take is not known. */
static inline int any_many_body(const plugmc_system *system)
{
    for (int32_t t = 0; t < system->term_count; t++)
        if (many_body_of(plugmc_term_at(system, t))) return 1;
    return 0;
}

/* One trial move after the other: the energy with all particles near, at the old place and at the new one. Threads
 * share the walkers. */
static inline double seconds_one_by_one(const plugmc_system *system)
{
    const double pairs = pairs_have_energies(system) ? 2e-7 + 1.2e-9 * particles_near(system) : 0;
    const double far = least_of(1e-6, 1.2e-11 * (double)system->particles); /* beyond the caches */
    return (4e-7 + pairs + far) / least_of(system->threads, system->walkers);
}

/* plugmc_mover.speed of that, where a sweep has as many trial moves as there are particles. */
static inline int speed_one_by_one(const void *instance, const plugmc_system *system,
                                   plugmc_speed *out)
{
    (void)instance;
    if (any_many_body(system)) return PLUGMC_UNANSWERED;
    out->seconds = seconds_one_by_one(system);
    out->trials = (double)(system->particles * system->walkers);
    return PLUGMC_OK;
}

/* A group of trial moves side by side, with all particles of the system. */
static inline double seconds_in_groups(const plugmc_system *system, int in_double)
{
    const double each = (in_double ? 2.8e-9 : 1e-9) * (double)system->particles;
    return (5.5e-7 + (pairs_have_energies(system) ? each : 0)) / system->threads;
}

/* The same on a GPU: one block takes all decisions of a walker, and the others work out the pairs. Measured are single
 * walkers of 8,192 particles and more; for fewer the start of a sweep is added, an estimate, and walkers are taken to be
 * swept one after the other, which they are not. */
static inline double seconds_in_groups_on_gpu(const plugmc_system *system)
{
    const double n = (double)system->particles, start = 3e-5 / n;
    return fmax(5.1e-8 + start, 8.6e-13 * n);
}

/* plugmc_mover.speed on a GPU, where each trial move is a sum over waves: 1,000, 4,500 and 32,500 charges
 * (bench/results/2026-11-29-small-systems-h200.md). Launches of a trial move are those of all walkers. */
static inline int speed_of_waves(const void *instance, const plugmc_system *system,
                                 plugmc_speed *out)
{
    int waves = 0;
    (void)instance;
    if (system->molecules) return PLUGMC_UNANSWERED; /* not measured */
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_total *total = many_body_of(plugmc_term_at(system, t));
        if (total && !(PLUGMC_HAS(total, waves) && total->waves)) return PLUGMC_UNANSWERED;
        waves |= total != NULL;
    }
    if (!waves) return PLUGMC_UNANSWERED;
    out->trials = (double)(system->particles * system->walkers);
    if (PLUGMC_HAS(out, gpu_seconds))
        out->gpu_seconds = fmax(1.5e-6 / system->walkers, 2.2e-10 * (double)system->particles);
    return PLUGMC_OK;
}

#endif
