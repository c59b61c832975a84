/* Parameters that belong to pairs of species: included inside the PLUGMC_HOST part of a potential.
 *
 * In the INI file such a parameter is a list: one number for all pairs, or one a pair in the order
 * 1-1, 1-2, ... 1-n, 2-2, 2-3, ... n-n, with the species numbered as their sections follow one
 * another; or, where there is a rule of mixing, one a species.
 */
#ifndef PLUGMC_SPECIES_PAIRS_H
#define PLUGMC_SPECIES_PAIRS_H

#include <stdio.h>

#include "half_box.h"

enum { SPECIES_MIXED_NOT, SPECIES_MIXED_ARITHMETIC, SPECIES_MIXED_GEOMETRIC };

/* Place of a, b in the list of pairs of n species. */
static inline int32_t species_pair_place(int32_t n, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    return low * n - low * (low - 1) / 2 + (high - low);
}

/* The value for species a and b; the list has been checked. */
static inline double species_pair_value(const plugmc_list *list, int32_t n, int mixed, int32_t a,
                                        int32_t b)
{
    if (list->count == 1) return (double)list->values[0];
    if (list->count == n && mixed) {
        double va = (double)list->values[a], vb = (double)list->values[b];
        return mixed == SPECIES_MIXED_ARITHMETIC ? (va + vb) / 2 : sqrt(va * vb);
    }
    return (double)list->values[species_pair_place(n, a, b)];
}

static inline int species_pair_check(const plugmc_host *host, const char *name,
                                     const plugmc_list *list, int mixed)
{
    const int32_t n = host->system->species_count, pairs = n * (n + 1) / 2;
    if (list->count == 1 || list->count == pairs || (mixed && list->count == n)) return PLUGMC_OK;
    if (n == 1)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s has %d numbers: for 1 species there must be 1", name, list->count);
    char species[32] = "";
    if (mixed) snprintf(species, sizeof species, "%d (one a species) or ", n);
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s has %d numbers: for %d species there must be 1, %s%d (one a pair of "
                      "species)",
                      name, list->count, n, species, pairs);
}

/* Only the nearest image of a pair is looked at, so others must be out of reach. */
static inline int cutoff_check(const plugmc_host *host, double cutoff)
{
    const double half = half_box(&host->system->box);
    if (cutoff <= half * (1 + 1e-12)) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "cutoff = %g is over half the box, %g: pairs would be missed", cutoff, half);
}

/* The cutoff of a potential that may be cut at it (`cut`) or shifted. */
static inline int truncation_check(const plugmc_host *host, double cutoff, int cut)
{
    if (cutoff > 0) return cutoff_check(host, cutoff);
    if (!cut)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "without a cutoff there is nothing to shift: set truncation = cut");
    if (host->system->box.domain == PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "cutoff = 0, which is none, needs a box without images; here half the "
                          "box, %g, is the most",
                          half_box(&host->system->box));
    return PLUGMC_OK;
}

#endif
