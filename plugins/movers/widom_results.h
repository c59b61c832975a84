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

/* What one walker gives: the mean of exp(-dU/kT) of its test insertions (`factor`, left at 0 where there is no room), the weight w,
 * and whether one could be taken away. `multipliers` [terms] are those of its rung. */
typedef struct widom_walker {
    double factor, weight;
    int occupied;
} widom_walker;
typedef int widom_one(void *instance, const plugmc_host *, const plugmc_view *, int32_t w,
                      const double *multipliers, widom_walker *out);

static inline void widom_put(double values[WIDOM_MEASURED], const widom_walker *of)
{
    values[WIDOM_FACTOR] = of->factor;
    values[WIDOM_NUMERATOR] = of->weight * of->factor;
    values[WIDOM_DENOMINATOR] = of->weight;
    values[WIDOM_OCCUPIED] = of->occupied;
}

/* plugmc_observable.measure by a function for one walker: values [walkers][WIDOM_MEASURED]. */
static inline int widom_measure(void *instance, const plugmc_host *host, const plugmc_view *view,
                                widom_one *one, double *values)
{
    void *multipliers;
    size_t row;
    int code = host->state->array(host->state, PLUGMC_STATE_MULTIPLIER, PLUGMC_ON_HOST, PLUGMC_READ,
                                  &multipliers, &row);
    for (int32_t w = 0; w < host->system->walkers && !code; w++) {
        widom_walker found = {0};
        code = one(instance, host, view, w,
                   (const double *)((const char *)multipliers + (size_t)w * row), &found);
        widom_put(values + WIDOM_MEASURED * w, &found);
    }
    return code;
}

/* plugmc_mover.sweep: test insertions move nothing. */
static inline int widom_sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    (void)instance, (void)host, (void)sweeps;
    return PLUGMC_OK;
}

/* plugmc_observable.lacking, with a sentence for each reason. */
static inline const char *widom_lacking(const double *means, const char *never_inserted,
                                        const char *never_there)
{
    if (!(means[WIDOM_NUMERATOR] > 0)) return never_inserted;
    return means[WIDOM_OCCUPIED] > 0 ? NULL : never_there;
}

#endif
