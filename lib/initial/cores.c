/* Cores of soft sites: the distances that a random start keeps between sites of different molecules. See initial.h. */
#include "initial/initial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/probe.h"

/* Energies of a pair at the distance of its core, kT. The first one at which molecules fit into the box is taken. At the last a
 * Lennard-Jones site is still 0.75 sigma from others, too far to be among the sites of another molecule for good. */
static const double of_a_pair[CORE_LEVELS] = {3, 10, 30, 100};

/* Distances that are tried, down from the largest one. A multiple of a step is a core, not the root of an equation, so the last digit of an
 * energy has no influence on the chain. */
enum { DISTANCES = 4096 };

/* A copy of the species, without charges: what keeps charges apart is the cores of their molecules. NULL: no memory. */
static plugmc_species *without_charges(const plugmc_system *system)
{
    const size_t stride = system->species_size;
    char *copy = malloc((size_t)system->species_count * stride);
    for (int32_t s = 0; copy && s < system->species_count; s++) {
        plugmc_species *one = (plugmc_species *)(void *)(copy + (size_t)s * stride);
        memcpy(one, plugmc_species_at(system, s), stride);
        one->charge = 0;
    }
    return (plugmc_species *)(void *)copy;
}

/* The lowest of a ladder: cores are largest there. */
static double lowest_temperature(const plugmc_system *system)
{
    double lowest = system->temperatures ? INFINITY : system->temperature;
    for (int32_t k = 0; system->temperatures && k < system->rungs; k++)
        lowest = fmin(lowest, system->temperatures[k]);
    return lowest;
}

/* The pair facet of a term of -ln p that depends on the distance alone and has an energy; NULL for others. */
static const plugmc_pair *energy_of_distance(const plugmc_term *term)
{
    const plugmc_potential *potential = term->sampled ? term->plugin->potential : NULL;
    const plugmc_pair *pair = potential ? potential->pair : NULL;
    return pair && pair->functions & PLUGMC_PAIR_ENERGY &&
                   !(pair->functions & PLUGMC_PAIR_POSITIONS)
               ? pair
               : NULL;
}

/* The range of all such terms, or half of the smallest height of the box if that is less; 0: there is none. */
static double farthest(const plugmc_system *system)
{
    double range = 0, height = INFINITY;
    for (int t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_pair *pair = energy_of_distance(term);
        if (pair) range = fmax(range, pair->range(term->instance));
    }
    for (int d = 0; d < system->box.dimension; d++)
        height = fmin(height, plugmc_height(&system->box, d));
    return fmin(range, height / 2);
}

/* Energy of a pair of sites, in units of the potentials; +infinity if their hard cores overlap. */
static double pair_energy(const plugmc_system *system, int32_t a, int32_t b, double r)
{
    double sum = 0;
    for (int t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        if (energy_of_distance(term)) sum += probe_energy(system, term, a, b, r);
    }
    return sum;
}

/* From outside, the first distance at which a pair has more than the energy of a level: wells within do not count. */
static void find_cores(const plugmc_system *system, double range, double kT, int32_t a, int32_t b,
                       cores *out)
{
    for (int k = DISTANCES, level = 0; k > 0 && level < CORE_LEVELS; k--) {
        const double r = range * k / DISTANCES, energy = pair_energy(system, a, b, r) / kT;
        for (; level < CORE_LEVELS && energy > of_a_pair[level]; level++) {
            contacts *at = &out->at[level];
            double *ab = &at->between[a * at->species + b], *ba = &at->between[b * at->species + a];
            *ab = *ba = fmax(*ab, r);
            at->largest = fmax(at->largest, *ab);
        }
    }
}

static bool equal(const contacts *a, const contacts *b)
{
    const size_t n = (size_t)a->species * (size_t)a->species;
    return !memcmp(a->between, b->between, n * sizeof *a->between);
}

int cores_make(const plugmc_system *system, const contacts *hard, cores *out)
{
    const size_t n = (size_t)hard->species * (size_t)hard->species;
    const double range = farthest(system), kT = lowest_temperature(system);
    plugmc_system bare = *system;
    plugmc_species *species = without_charges(system);
    *out = (cores){.levels = CORE_LEVELS};
    bare.species = species;
    int code = species ? EXIT_DONE : EXIT_MEMORY;
    for (int level = 0; level < CORE_LEVELS; level++) {
        contacts *at = &out->at[level];
        *at = *hard;
        at->between = malloc(n * sizeof *at->between);
        if (!at->between) code = EXIT_MEMORY;
        if (at->between) memcpy(at->between, hard->between, n * sizeof *at->between);
        out->energy[level] = of_a_pair[level];
    }
    for (int32_t a = 0; a < hard->species && range > 0 && !code; a++)
        for (int32_t b = a; b < hard->species; b++) find_cores(&bare, range, kT, a, b, out);
    /* without soft cores there is nothing to give way */
    if (!code && equal(hard, &out->at[0])) out->levels = 1, out->energy[0] = INFINITY;
    free(species);
    return code;
}

void cores_free(cores *c)
{
    for (int level = 0; level < CORE_LEVELS; level++) contacts_free(&c->at[level]);
}
