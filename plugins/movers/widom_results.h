/* What test insertions of more than one particle give, as movers measure it: means over test insertions in each walker, and the
 * chemical potentials that follow (B. Widom, J. Chem. Phys. 39, 2808 (1963)). */
#ifndef WIDOM_RESULTS_H
#define WIDOM_RESULTS_H

#include <math.h>
#include <plugmc/everything.h>
#include <stdio.h>

/* What is measured, in this order, and what follows. */
enum {
    WIDOM_FACTOR,
    WIDOM_NUMERATOR,
    WIDOM_DENOMINATOR,
    WIDOM_OCCUPIED,
    WIDOM_MEASURED,
};
enum { WIDOM_MU_EXCESS, WIDOM_LN_ACTIVITY, WIDOM_MU, WIDOM_FUGACITY, WIDOM_DERIVED };

/* Walkers of different temperature have no unit of energy in common but kT. */
static inline double widom_temperature(const plugmc_system *system)
{
    return isnan(system->temperature) ? 1 : system->temperature;
}

static inline const char *widom_energy_unit(const plugmc_system *system)
{
    return isnan(system->temperature) ? "kT" : plugmc_energy_unit(system);
}

/* One walker: the mean of exp(-dU/kT), w (0 where there is no room), and whether one could be taken away. */
static inline void widom_put(double values[WIDOM_MEASURED], double factor, double weight,
                             int occupied)
{
    values[WIDOM_FACTOR] = factor;
    values[WIDOM_NUMERATOR] = weight * factor;
    values[WIDOM_DENOMINATOR] = weight;
    values[WIDOM_OCCUPIED] = occupied;
}

static inline int widom_derive(const plugmc_system *system, const double *means, double *out)
{
    const double kT = widom_temperature(system);
    if (!(means[WIDOM_NUMERATOR] > 0)) return 1;
    out[WIDOM_MU_EXCESS] = kT * log(means[WIDOM_DENOMINATOR] / means[WIDOM_NUMERATOR]);
    out[WIDOM_LN_ACTIVITY] =
        means[WIDOM_OCCUPIED] > 0 ? log(means[WIDOM_OCCUPIED] / means[WIDOM_NUMERATOR]) : NAN;
    out[WIDOM_MU] = kT * out[WIDOM_LN_ACTIVITY];
    return 0;
}

/* The mean of exp(-dU/kT) over what `changes` asks for in one walker, insertions with `change` and `forbidden`; multipliers
 * [terms] are those of its rung. */
static inline int widom_factor(const plugmc_host *host, const plugmc_changes *changes,
                               const double *multipliers, double *factor)
{
    const plugmc_hamiltonian *core = plugmc_hamiltonian_of(host);
    const int32_t terms = host->system->term_count;
    const int64_t n = changes->per_walker, none = -1;
    int code = core->energies(host->context, changes);
    if (!code) code = core->settle(host->context, changes, &none);
    *factor = 0;
    for (int64_t j = 0; j < n && !code; j++) {
        double sum = 0;
        for (int32_t t = 0; t < terms; t++)
            if (multipliers[t] != 0) sum += multipliers[t] * changes->change[j * terms + t];
        if (!changes->forbidden[j]) *factor += exp(-sum) / (double)n;
    }
    return code;
}

#endif
