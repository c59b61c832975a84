/* What the waves of an Ewald sum, or its mesh, have of the pairs within rigid molecules: they are taken off, since such pairs
 * have no energy (docs/architecture/molecules.md). Molecules are rigid, so it is a constant of each. */
#ifndef PLUGMC_RIGID_EXCLUSIONS_H
#define PLUGMC_RIGID_EXCLUSIONS_H

#include <math.h>

#include <plugmc/everything.h>

/* Sum over the pairs of sites of q q' erf(alpha r) / r, in 1/length; of two sites at one place 2 alpha / sqrt(pi). */
static inline double smooth_part_within(const plugmc_system *system, const plugmc_molecule *kind,
                                        double alpha)
{
    double sum = 0;
    for (int32_t a = 0; a < kind->sites; a++)
        for (int32_t b = 0; b < a; b++) {
            const double *p = kind->place[a], *q = kind->place[b], x = p[0] - q[0], y = p[1] - q[1],
                         z = p[2] - q[2], r = sqrt(x * x + y * y + z * z);
            sum += plugmc_species_at(system, kind->species[a])->charge *
                   plugmc_species_at(system, kind->species[b])->charge *
                   (r > 0 ? erf(alpha * r) / r : 2 * alpha / sqrt(M_PI));
        }
    return sum;
}

#endif
