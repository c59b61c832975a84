/* plugmc/species_pairs.h: parameters that differ between pairs of species, and the energy of two particles of given
 * species. For the host alone: a potential includes it inside `#if PLUGMC_HOST`.
 *
 * In the INI file such a parameter is a list: one value for all pairs; or one per pair of species, in the order 1-1,
 * 1-2, ... 1-n, 2-2, 2-3, ... n-n, with species numbered as their sections follow each other; or, where a mixing rule
 * makes that meaningful, one per species. `configure` of the potential
 *
 *     1. checks the number of values (plugmc_check_species_list),
 *     2. allocates a derived list [n][n][columns] (plugmc_species_table),
 *     3. fills it in, with the value for each pair (plugmc_species_pair_value, plugmc_mixed_well),
 *
 * and the functions for the CPU and the GPU look up values [a.species * n + b.species]. docs/plugins/potential.md has an
 * example. */
#ifndef PLUGMC_SPECIES_PAIRS_H
#define PLUGMC_SPECIES_PAIRS_H

#include <math.h>
#include <stdio.h>

#include "plugmc/facets.h"

/* ---- Lists ---------------------------------------------------------------------------------- */

/* What a list may have a value for, beside one value for all: each pair of species, each species or each pair, or each
 * species alone. */
enum { PLUGMC_PER_PAIR, PLUGMC_PER_PAIR_OR_SPECIES, PLUGMC_PER_SPECIES };

/* Checks how many values a list has: 1, or n (n + 1) / 2 for n species, or n, as `per` allows. Otherwise reports an error
 * that names the key `name`, and returns PLUGMC_ERROR_INPUT. The values of a list per species are plugmc_species_value, on
 * the host; for GPU source `configure` copies them into a derived list [n]. */
static inline int plugmc_check_species_list(const plugmc_host *host, const char *name,
                                            const plugmc_list *list, int per)
{
    const int32_t n = host->system->species_count, pairs = n * (n + 1) / 2;
    const int mixed = per == PLUGMC_PER_PAIR_OR_SPECIES;
    if (list->count == 1 || (per != PLUGMC_PER_SPECIES && list->count == pairs)) return PLUGMC_OK;
    if (per != PLUGMC_PER_PAIR && list->count == n) return PLUGMC_OK;
    if (n == 1)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s has %d numbers: for 1 species there must be 1", name, list->count);
    if (per == PLUGMC_PER_SPECIES)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "%s has %d numbers: for %d species there must be 1 or %d (one per species)", name,
            list->count, n, n);
    char species[32] = "";
    if (mixed) snprintf(species, sizeof species, ", %d (one per species)", n);
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s has %d numbers: for %d species there must be 1%s or %d (one per "
                      "pair of species)",
                      name, list->count, n, species, pairs);
}

/* Index of the pair a, b in a list with one value per pair of n species. */
static inline int32_t plugmc_species_pair_index(int32_t n, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    return low * n - low * (low - 1) / 2 + (high - low);
}

/* The value for species a and b, of a checked list with one value or one per pair. */
static inline double plugmc_species_pair_value(const plugmc_list *list, int32_t n, int32_t a,
                                               int32_t b)
{
    return (double)list->values[list->count == 1 ? 0 : plugmc_species_pair_index(n, a, b)];
}

/* Whether a checked list has one value per species. With one species that is the same as one for all. */
static inline int plugmc_is_per_species(const plugmc_list *list, int32_t n)
{
    return list->count == n && n > 1;
}

/* The value for two particles of species a, however a checked list is given. */
static inline double plugmc_species_value(const plugmc_list *list, int32_t n, int32_t a)
{
    return plugmc_is_per_species(list, n) ? (double)list->values[a]
                                          : plugmc_species_pair_value(list, n, a, a);
}

/* Makes *out, a derived list, a table of zeros [n][n][columns], and returns it for being filled in. NULL after an
 * error, which has been reported; `configure` then returns PLUGMC_ERROR_MEMORY. */
static inline real *plugmc_species_table(const plugmc_host *host, plugmc_list *out, int32_t columns)
{
    const int32_t n = host->system->species_count;
    real *values =
        (real *)host->allocate(host->context, (size_t)(n * n * columns) * sizeof *values);
    out->values = values;
    out->count = values ? n * n * columns : 0;
    if (!values) host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d species", n);
    return values;
}

/* ---- Mixing rules --------------------------------------------------------------------------- */

/* How energy epsilon and distance sigma of unlike species follow from those of like ones. J. Delhommelle, P. Millie,
 * Mol. Phys. 99, 619 (2001), compare the rules; M. Waldman, A. T. Hagler, J. Comput. Chem. 14, 1077 (1993). */
enum { PLUGMC_LORENTZ_BERTHELOT, PLUGMC_GEOMETRIC, PLUGMC_WALDMAN_HAGLER };

/* The key `mixing`, an int32_t member of the struct. */
#define PLUGMC_MIXING_KEY(type)                                                                    \
    PLUGMC_CHOICE_KEY(type, mixing, "lorentz_berthelot",                                           \
                      "lorentz_berthelot|geometric|waldman_hagler",                                \
                      "mixing rule for values per species. lorentz_berthelot: arithmetic "         \
                      "mean of sigma, geometric mean of epsilon; geometric: geometric mean "       \
                      "of both; waldman_hagler: arithmetic mean of sigma^6, geometric mean "       \
                      "of epsilon sigma^6")

/* *depth and *size are epsilon and sigma of species a and b, of two checked lists. The rule is for what is given per
 * species. */
static inline void plugmc_mixed_well(const plugmc_list *epsilon, const plugmc_list *sigma,
                                     int mixing, int32_t n, int32_t a, int32_t b, double *depth,
                                     double *size)
{
    const double ea = plugmc_species_value(epsilon, n, a), eb = plugmc_species_value(epsilon, n, b);
    const double sa = plugmc_species_value(sigma, n, a), sb = plugmc_species_value(sigma, n, b);
    const double sixth_a = pow(sa, 6), sixth_b = pow(sb, 6);
    const int hagler = mixing == PLUGMC_WALDMAN_HAGLER;
    if (!plugmc_is_per_species(sigma, n))
        *size = plugmc_species_pair_value(sigma, n, a, b);
    else if (mixing == PLUGMC_LORENTZ_BERTHELOT || a == b)
        *size = (sa + sb) / 2;
    else
        *size = hagler ? pow((sixth_a + sixth_b) / 2, 1.0 / 6) : sqrt(sa * sb);
    if (!plugmc_is_per_species(epsilon, n))
        *depth = plugmc_species_pair_value(epsilon, n, a, b);
    else
        *depth = sqrt(ea * eb) *
                 (hagler && a != b ? 2 * sqrt(sixth_a * sixth_b) / (sixth_a + sixth_b) : 1);
}

/* ---- Cutoffs -------------------------------------------------------------------------------- */

/* Half the shortest lattice vector, length: up to there a pair has one image at most, the nearest one. INFINITY in a
 * domain without images. It is the radius of the largest sphere in the Wigner-Seitz cell, whose points have fractional
 * coordinates up to 3/2 in the boxes that [box] accepts; so lattice vectors are tried up to three times each edge. */
static inline double plugmc_half_box(const plugmc_box *box)
{
    double shortest = INFINITY;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) return INFINITY;
    for (int i = 0; i < 343; i++) {
        const int n[3] = {i % 7 - 3, i / 7 % 7 - 3, i / 49 - 3};
        double square = 0;
        if (i == 171 || (box->dimension == 2 && n[2])) continue;
        for (int d = 0; d < box->dimension; d++) {
            double x =
                n[0] * box->vector[0][d] + n[1] * box->vector[1][d] + n[2] * box->vector[2][d];
            square += x * x;
        }
        shortest = fmin(shortest, square);
    }
    return 0.5 * sqrt(shortest);
}

/* Checks that a cutoff, length, is at most half the box. Otherwise reports an error and returns PLUGMC_ERROR_INPUT. */
static inline int plugmc_check_cutoff(const plugmc_host *host, double cutoff)
{
    const double half = plugmc_half_box(&host->system->box);
    if (cutoff <= half * (1 + 1e-12)) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "cutoff = %g exceeds half the box, %g: pairs would be missed", cutoff, half);
}

/* ---- Two particles -------------------------------------------------------------------------- */

/* A particle of a species at (x, 0, 0). */
static inline plugmc_particle plugmc_particle_of_species(const plugmc_system *system,
                                                         int32_t species, double x)
{
    const plugmc_species *s = plugmc_species_at(system, species);
    const plugmc_particle particle = {
        .x = x, .charge = s->charge, .diameter = s->diameter, .species = species};
    return particle;
}

/* The distance below which particles of species a and b overlap, the largest of all sampled potentials; 0 without a
 * hard core. Call it after configure, as the next one. */
static inline double plugmc_contact_of_species(const plugmc_system *system, int32_t a, int32_t b)
{
    const plugmc_particle one = plugmc_particle_of_species(system, a, 0),
                          other = plugmc_particle_of_species(system, b, 0);
    double contact = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_pair *pair = term->sampled ? term->plugin->potential->pair : NULL;
        if (pair) contact = fmax(contact, pair->contact(term->instance, &one, &other));
    }
    return contact;
}

/* Energy over kT of particles of species a and b at distance r on a rung of the ladder, by all sampled pair potentials
 * without their hard cores. */
static inline double plugmc_energy_of_species(const plugmc_system *system, int32_t rung, int32_t a,
                                              int32_t b, double r)
{
    const plugmc_particle one = plugmc_particle_of_species(system, a, 0),
                          other = plugmc_particle_of_species(system, b, r);
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
