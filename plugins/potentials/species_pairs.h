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

enum { SPECIES_MIXED_NOT, SPECIES_MIXED };
/* Rules for the depth and the size of unlike pairs of which one number a species is given. */
enum { MIXING_LORENTZ_BERTHELOT, MIXING_GEOMETRIC, MIXING_WALDMAN_HAGLER };
#define SPECIES_MIXING_KEY(type)                                                                   \
    PLUGMC_CHOICE_KEY(type, mixing, "lorentz_berthelot",                                           \
                      "lorentz_berthelot|geometric|waldman_hagler",                                \
                      "mixing rule for values per species. lorentz_berthelot: arithmetic "         \
                      "mean of sigma, geometric mean of epsilon; geometric: geometric mean "       \
                      "of both; waldman_hagler: arithmetic mean of sigma^6, geometric mean "       \
                      "of epsilon sigma^6")

/* Place of a, b in the list of pairs of n species. */
static inline int32_t species_pair_place(int32_t n, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    return low * n - low * (low - 1) / 2 + (high - low);
}

/* The value for species a and b, of a list that is not mixed; it has been checked. */
static inline double species_pair_value(const plugmc_list *list, int32_t n, int32_t a, int32_t b)
{
    return (double)list->values[list->count == 1 ? 0 : species_pair_place(n, a, b)];
}

/* Whether a list has one number a species, which are mixed. */
static inline int species_are_mixed(const plugmc_list *list, int32_t n)
{
    return list->count == n && n > 1;
}

/* That of a pair of one species, however the list is given. */
static inline double species_own_value(const plugmc_list *list, int32_t n, int32_t a)
{
    return species_are_mixed(list, n) ? (double)list->values[a] : species_pair_value(list, n, a, a);
}

/* epsilon and sigma of species a and b. J. Delhommelle, P. Millie, Mol. Phys. 99, 619 (2001), compare the rules;
 * M. Waldman, A. T. Hagler, J. Comput. Chem. 14, 1077 (1993). */
static inline void species_well(const plugmc_list *epsilon, const plugmc_list *sigma, int mixing,
                                int32_t n, int32_t a, int32_t b, double *depth, double *size)
{
    const double ea = species_own_value(epsilon, n, a), eb = species_own_value(epsilon, n, b);
    const double sa = species_own_value(sigma, n, a), sb = species_own_value(sigma, n, b);
    const double sixth_a = pow(sa, 6), sixth_b = pow(sb, 6);
    const int hagler = mixing == MIXING_WALDMAN_HAGLER;
    if (!species_are_mixed(sigma, n))
        *size = species_pair_value(sigma, n, a, b);
    else if (mixing == MIXING_LORENTZ_BERTHELOT || a == b)
        *size = (sa + sb) / 2;
    else
        *size = hagler ? pow((sixth_a + sixth_b) / 2, 1.0 / 6) : sqrt(sa * sb);
    if (!species_are_mixed(epsilon, n))
        *depth = species_pair_value(epsilon, n, a, b);
    else
        *depth = sqrt(ea * eb) *
                 (hagler && a != b ? 2 * sqrt(sixth_a * sixth_b) / (sixth_a + sixth_b) : 1);
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
    if (mixed) snprintf(species, sizeof species, ", %d (one per species)", n);
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s has %d numbers: for %d species there must be 1%s or %d (one per "
                      "pair of species)",
                      name, list->count, n, species, pairs);
}

/* Only the nearest image of a pair is looked at, so others must be out of reach. */
static inline int cutoff_check(const plugmc_host *host, double cutoff)
{
    const double half = half_box(&host->system->box);
    if (cutoff <= half * (1 + 1e-12)) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "cutoff = %g exceeds half the box, %g: pairs would be missed", cutoff, half);
}

/* The separation below which nobody may be, for energies that have no floor. */
#define SPECIES_GUARD_KEY(type)                                                                    \
    PLUGMC_LIST_KEY(type, guard, 0, "0", 0, 1e9, "length",                                         \
                    "distance below which pairs are forbidden, one value or one per pair of "      \
                    "species; 0: none")

/* Whether each is below `end`, where the energy ends. */
static inline int guard_check(const plugmc_host *host, const plugmc_list *guard, double end)
{
    const int code = species_pair_check(host, "guard", guard, SPECIES_MIXED_NOT);
    for (int32_t k = 0; k < guard->count && !code; k++)
        if (!((double)guard->values[k] < end))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "guard = %g must be less than r = %g, where the energy ends",
                              (double)guard->values[k], end);
    return code;
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
                          "cutoff = 0 (none) needs a box without periodic images; here the "
                          "limit is half the box, %g",
                          half_box(&host->system->box));
    return PLUGMC_OK;
}

#endif
