/* plugmc/species_pairs.h: parameters that differ between pairs of species, and the energy of two particles of given
 * species. For the host alone: a potential includes it inside `#if PLUGMC_HOST`.
 *
 * In the INI file such a parameter is a list: one value for all pairs; or one per pair of species, in the order 1-1,
 * 1-2, ... 1-n, 2-2, 2-3, ... n-n, with species numbered as their sections follow each other; or, where a mixing rule
 * makes that meaningful, one per species. `configure` of the potential
 *
 *     1. checks the number of values (plugmc_check_species_list),
 *     2. allocates a derived list [n][n][columns] (plugmc_species_table),
 *     3. fills it in, with the value for each pair (plugmc_species_pair_value, plugmc_well_of),
 *
 * and the functions for the CPU and the GPU look up values [a.species * n + b.species]. docs/plugins/potential.md has an
 * example. */
#ifndef PLUGMC_SPECIES_PAIRS_H
#define PLUGMC_SPECIES_PAIRS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- Numbers under the name of a species (PLUGMC_NUMBERS_KEY) -------------------------------- */

/* The numbers under the name of a species, up to `most` into out. Returns how many, 0 if there are none. */
static inline int plugmc_numbers_of_species(const char *lines, const char *species, double *out,
                                            int most)
{
    const size_t length = strlen(species);
    for (const char *line = lines; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, species, length) || line[length] != ' ') continue;
        char *at = (char *)line + length, *end = at;
        int n = 0;
        for (; n < most; n++, at = end) {
            if (*at == '\n') break;
            out[n] = strtod(at, &end);
            if (end == at) break;
        }
        return n;
    }
    return 0;
}

/* Checks that each key is the name of a species. Otherwise reports an error and returns PLUGMC_ERROR_INPUT. */
static inline int plugmc_check_names_of_species(const plugmc_host *host, const char *lines)
{
    for (const char *line = lines; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const size_t length = strcspn(line, " \n");
        int known = !length;
        for (int32_t s = 0; s < host->system->species_count && !known; s++) {
            const char *name = plugmc_species_at(host->system, s)->name;
            known = strlen(name) == length && !strncmp(name, line, length);
        }
        if (!known)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%.*s is neither a key nor the name of a species", (int)length, line);
    }
    return PLUGMC_OK;
}

/* ---- Mixing rules --------------------------------------------------------------------------- */

/* How energy epsilon and distance sigma of unlike species follow from those of like ones. J. Delhommelle, P. Millie,
 * Mol. Phys. 99, 619 (2001), compare the rules; M. Waldman, A. T. Hagler, J. Comput. Chem. 14, 1077 (1993); C. L. Kong,
 * J. Chem. Phys. 59, 2464 (1973). */
enum { PLUGMC_LORENTZ_BERTHELOT, PLUGMC_GEOMETRIC, PLUGMC_WALDMAN_HAGLER, PLUGMC_KONG };

/* The key `mixing`, an int32_t member of the struct. */
#define PLUGMC_MIXING_KEY(type)                                                                    \
    PLUGMC_CHOICE_KEY(type, mixing, "lorentz_berthelot",                                           \
                      "lorentz_berthelot|geometric|waldman_hagler|kong",                           \
                      "mixing rule for values per species. lorentz_berthelot: arithmetic "         \
                      "mean of sigma, geometric mean of epsilon; geometric: geometric mean "       \
                      "of both; waldman_hagler: arithmetic mean of sigma^6, geometric mean "       \
                      "of epsilon sigma^6; kong: geometric mean of epsilon sigma^6, arithmetic "   \
                      "mean of (epsilon sigma^n)^(1/(n+1)), n the exponent of the repulsion")

/* The key `k_ij`, a plugmc_list member. */
#define PLUGMC_K_IJ_KEY(type, what)                                                                \
    PLUGMC_LIST_KEY(type, k_ij, 0, "0", -10, 1, "",                                                \
                    "deviation from the mixing rule: " what                                        \
                    " of unlike species is multiplied by 1 - k_ij; one value, or one per pair of " \
                    "unlike species (1-2, 1-3, ... 2-3, ...)")

/* k_ij of species a and b of a checked list; 0 for like ones. */
static inline double plugmc_k_ij(const plugmc_list *k_ij, int32_t n, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b;
    if (!k_ij || a == b) return 0;
    return (double)
        k_ij->values[k_ij->count == 1 ? 0 : plugmc_species_pair_index(n, a, b) - low - 1];
}

/* Checks how many values k_ij has, and that there is something for it to change: `mixed` is whether energies are given
 * per species, under the key `name`. */
static inline int plugmc_check_k_ij(const plugmc_host *host, const plugmc_list *k_ij, int mixed,
                                    const char *name)
{
    const int32_t n = host->system->species_count, pairs = n * (n - 1) / 2;
    int zero = 1;
    for (int32_t k = 0; k < k_ij->count; k++) zero &= k_ij->values[k] == 0;
    if (k_ij->count != 1 && k_ij->count != pairs)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "k_ij has %d numbers: for %d species there must be 1 or %d (one per pair of "
            "unlike species)",
            k_ij->count, n, pairs);
    if (!zero && !mixed)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "k_ij changes what a mixing rule gives, but no %s is mixed: give one value "
            "of %s per species",
            name, name);
    return PLUGMC_OK;
}

/* What epsilon and sigma of all pairs of species follow from. */
typedef struct plugmc_wells {
    const plugmc_list *epsilon,
        *sigma;              /* one value, one per pair, or one per species, which are mixed */
    const plugmc_list *k_ij; /* NULL: 0 */
    int32_t mixing;          /* PLUGMC_LORENTZ_BERTHELOT, ... */
    double repulsion;        /* the n of a repulsion r^-n, for PLUGMC_KONG */
} plugmc_wells;

/* Checks the lists of wells. */
static inline int plugmc_check_wells(const plugmc_host *host, const plugmc_wells *w)
{
    const int32_t n = host->system->species_count;
    int code = plugmc_check_species_list(host, "epsilon", w->epsilon, PLUGMC_PER_PAIR_OR_SPECIES);
    if (!code)
        code = plugmc_check_species_list(host, "sigma", w->sigma, PLUGMC_PER_PAIR_OR_SPECIES);
    if (code) return code;
    const int mixed = plugmc_is_per_species(w->epsilon, n);
    if (w->mixing == PLUGMC_KONG && n > 1 && !(mixed && plugmc_is_per_species(w->sigma, n)))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "mixing = kong needs one epsilon and one sigma per species");
    return w->k_ij ? plugmc_check_k_ij(host, w->k_ij, mixed, "epsilon") : PLUGMC_OK;
}

/* The rule of Kong: dispersion epsilon sigma^6 is a geometric mean; the repulsion epsilon sigma^n is that of two atoms
 * each of which gives way until both press alike. A species without a well has none with others. */
static inline void plugmc_mixed_by_kong(double ea, double sa, double eb, double sb, double n,
                                        double *depth, double *size)
{
    const double dispersion = sqrt(ea * pow(sa, 6) * eb * pow(sb, 6));
    const double pressed =
        (pow(ea * pow(sa, n), 1 / (n + 1)) + pow(eb * pow(sb, n), 1 / (n + 1))) / 2;
    *size = dispersion > 0 ? pow(pow(pressed, n + 1) / dispersion, 1 / (n - 6)) : (sa + sb) / 2;
    *depth = dispersion / pow(*size, 6);
}

/* *depth and *size are epsilon and sigma of species a and b, of wells that have been checked. The rule is for what is
 * given per species. */
static inline void plugmc_well_of(const plugmc_wells *w, int32_t n, int32_t a, int32_t b,
                                  double *depth, double *size)
{
    const plugmc_list *epsilon = w->epsilon, *sigma = w->sigma;
    const double ea = plugmc_species_value(epsilon, n, a), eb = plugmc_species_value(epsilon, n, b);
    const double sa = plugmc_species_value(sigma, n, a), sb = plugmc_species_value(sigma, n, b);
    const double sixth_a = pow(sa, 6), sixth_b = pow(sb, 6);
    const int hagler = w->mixing == PLUGMC_WALDMAN_HAGLER;
    if (!plugmc_is_per_species(sigma, n))
        *size = plugmc_species_pair_value(sigma, n, a, b);
    else if (w->mixing == PLUGMC_LORENTZ_BERTHELOT || a == b)
        *size = (sa + sb) / 2;
    else
        *size = hagler ? pow((sixth_a + sixth_b) / 2, 1.0 / 6) : sqrt(sa * sb);
    if (!plugmc_is_per_species(epsilon, n))
        *depth = plugmc_species_pair_value(epsilon, n, a, b);
    else
        *depth = sqrt(ea * eb) *
                 (hagler && a != b ? 2 * sqrt(sixth_a * sixth_b) / (sixth_a + sixth_b) : 1);
    if (w->mixing == PLUGMC_KONG && a != b)
        plugmc_mixed_by_kong(ea, sa, eb, sb, w->repulsion, depth, size);
    *depth *= 1 - plugmc_k_ij(w->k_ij, n, a, b);
}

/* The same of a 12-6 potential whose lists have been checked, without k_ij. */
static inline void plugmc_mixed_well(const plugmc_list *epsilon, const plugmc_list *sigma,
                                     int mixing, int32_t n, int32_t a, int32_t b, double *depth,
                                     double *size)
{
    const plugmc_wells wells = {
        .epsilon = epsilon, .sigma = sigma, .mixing = mixing, .repulsion = 12};
    plugmc_well_of(&wells, n, a, b, depth, size);
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
    if (cutoff <= half * (1 + 1e-6)) return PLUGMC_OK; /* it may be a float */
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "cutoff = %g exceeds half the box, %g: pairs would be missed", cutoff, half);
}

/* ---- Truncation ----------------------------------------------------------------------------- */

/* How the energy u(r) of a pair ends at its cutoff r_c:
 *
 *     cut            v(r)
 *     shift          v(r) - v(r_c)
 *     force_shift    v(r) - v(r_c) - (r - r_c) v'(r_c), so that energy and force are continuous
 *
 * and 0 from r_c on, where v is the energy without truncation. */
enum { PLUGMC_CUT, PLUGMC_SHIFT, PLUGMC_FORCE_SHIFT };

/* The keys `cutoff`, a plugmc_list member, and `truncation`, a const char *. */
#define PLUGMC_TRUNCATION_KEYS(type)                                                               \
    PLUGMC_LIST_KEY(type, cutoff, 0, NULL, 0, 1e9, "length",                                       \
                    "distance from which the energy is 0: one value, or one per pair of "          \
                    "species; 0: none"),                                                           \
        PLUGMC_TEXT_KEY(type, truncation, "cut",                                                   \
                        "cut: plain truncation; shift: the energy is continuous at the cutoff; "   \
                        "force_shift: the force too; one word, or one per pair of species")

/* Word k of a text of words between blanks, and its length; NULL after the last. */
static inline const char *plugmc_word(const char *text, int32_t k, size_t *length)
{
    const char *const blanks = " \t\n";
    text += strspn(text, blanks);
    for (; k > 0 && *text; k--) {
        text += strcspn(text, blanks);
        text += strspn(text, blanks);
    }
    *length = strcspn(text, blanks);
    return *length ? text : NULL;
}

/* The truncation of species a and b: PLUGMC_CUT, ...; -1 if the word is none of these. */
static inline int plugmc_truncation_of(const char *truncation, int32_t n, int32_t a, int32_t b)
{
    static const char *const names[] = {"cut", "shift", "force_shift"};
    size_t length, more;
    const char *word = plugmc_word(truncation, 0, &length);
    if (plugmc_word(truncation, 1, &more))
        word = plugmc_word(truncation, plugmc_species_pair_index(n, a, b), &length);
    for (int k = 0; word && k < 3; k++)
        if (strlen(names[k]) == length && !strncmp(names[k], word, length)) return k;
    return -1;
}

/* Checks the values of both keys, and that no cutoff exceeds half the box. */
static inline int plugmc_check_truncation(const plugmc_host *host, const plugmc_list *cutoff,
                                          const char *truncation)
{
    const int32_t n = host->system->species_count, pairs = n * (n + 1) / 2;
    int32_t words = 0;
    size_t length;
    int code = plugmc_check_species_list(host, "cutoff", cutoff, PLUGMC_PER_PAIR);
    while (plugmc_word(truncation, words, &length)) words++;
    if (!code && words != 1 && words != pairs)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "truncation has %d words: for %d species there must be 1 or %d (one per "
                          "pair of species)",
                          words, n, pairs);
    for (int32_t a = 0; a < n && !code; a++)
        for (int32_t b = a; b < n && !code; b++) {
            const double rc = plugmc_species_pair_value(cutoff, n, a, b);
            const int how = plugmc_truncation_of(truncation, n, a, b);
            if (how < 0)
                code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                                  "truncation = %s: must be cut, shift or force_shift", truncation);
            else if (rc > 0)
                code = plugmc_check_cutoff(host, rc);
            else if (how != PLUGMC_CUT)
                code =
                    host->fail(host->context, PLUGMC_ERROR_INPUT,
                               "without a cutoff there is nothing to shift: set truncation = cut");
            else if (host->system->box.domain == PLUGMC_DOMAIN_PERIODIC)
                code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                                  "cutoff = 0 (none) needs a box without periodic images; here the "
                                  "limit is half the box, %g",
                                  plugmc_half_box(&host->system->box));
        }
    return code;
}

/* Whether the force of some pair is shifted. */
static inline int plugmc_shifts_a_force(const char *truncation, int32_t n)
{
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = a; b < n; b++)
            if (plugmc_truncation_of(truncation, n, a, b) == PLUGMC_FORCE_SHIFT) return 1;
    return 0;
}

/* The longest of the cutoffs, for pair_range. */
static inline real plugmc_longest_cutoff(const plugmc_list *cutoff)
{
    real longest = 0;
    for (int32_t k = 0; k < cutoff->count; k++) {
        if (cutoff->values[k] == 0) return (real)INFINITY;
        longest = cutoff->values[k] > longest ? cutoff->values[k] : longest;
    }
    return longest;
}

/* How the energy of a pair ends, as four columns of a table in this order: the energy is
 *
 *     r^2 < end ? v(r) - offset - slope (r - cutoff) : 0.
 *
 * v and slope are v(cutoff) and v'(cutoff). */
typedef struct plugmc_ending {
    real cutoff, end, offset, slope;
} plugmc_ending;

static inline plugmc_ending plugmc_ending_of(real cutoff, int truncation, double v, double slope)
{
    const real range = cutoff > 0 ? cutoff : (real)INFINITY;
    return (plugmc_ending){cutoff, range * range, truncation == PLUGMC_CUT ? 0 : (real)v,
                           truncation == PLUGMC_FORCE_SHIFT ? (real)slope : 0};
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
