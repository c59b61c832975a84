/* Kinds of rigid molecules that movers are told by name. */
#ifndef MOLECULE_KIND_H
#define MOLECULE_KIND_H

#include <math.h>
#include <plugmc/everything.h>
#include <string.h>

/* -1: there is none of this name. */
static inline int32_t molecule_named(const plugmc_system *system, const char *name)
{
    const plugmc_molecules *all = system->molecules;
    for (int32_t k = 0; all && k < all->kinds; k++)
        if (!strcmp(plugmc_kind_of_molecule(all, k)->name, name)) return k;
    return -1;
}

/* One of which there may be more than at the start; `key` is where it is named. */
static inline int find_molecules_that_change(const plugmc_host *host, const char *key,
                                             const char *name, int32_t *number)
{
    *number = molecule_named(host->system, name);
    if (*number < 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s = %s: there is no [molecule %s]",
                          key, name, name);
    const plugmc_molecule *kind = plugmc_kind_of_molecule(host->system->molecules, *number);
    if (!kind->changes || kind->capacity <= kind->count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s = %s: [molecule %s] needs max_count, the largest number in a walker, "
                          "above count = %lld",
                          key, name, name, (long long)kind->count);
    return PLUGMC_OK;
}

/* One that has an activity, too. */
static inline int find_molecules_of_reservoir(const plugmc_host *host, const char *key,
                                              const char *name, int32_t *number)
{
    const int32_t k = *number = molecule_named(host->system, name);
    if (k >= 0 && isnan(plugmc_kind_of_molecule(host->system->molecules, k)->mu))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s = %s: [molecule %s] needs a reservoir: its activity, mu, "
                          "chemical_potential, fugacity or pressure",
                          key, name, name);
    if (k >= 0 && PLUGMC_HAS(host, reservoir))
        host->reservoir(host->context, host->system->species_count + k);
    return find_molecules_that_change(host, key, name, number);
}

/* Whether the two names are those of kinds of molecules; both have to be, or none. */
static inline int both_are_alike(const plugmc_host *host, const char *a, const char *b,
                                 int32_t *of_molecules)
{
    const int first = molecule_named(host->system, a) >= 0,
              second = molecule_named(host->system, b) >= 0;
    *of_molecules = first && second;
    if (first == second) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "a = %s, b = %s: %s is a kind of molecule, and there is no [molecule %s]", a,
                      b, first ? a : b, first ? b : a);
}

/* The kind with sites of this species whose number may change, or any one with such sites; NULL: there are none. */
static inline const plugmc_molecule *molecule_with_sites(const plugmc_system *system,
                                                         int32_t species)
{
    const plugmc_molecules *all = system->molecules;
    const plugmc_molecule *found = NULL;
    for (int32_t k = 0; all && k < all->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(all, k);
        for (int32_t a = 0; a < kind->sites; a++)
            if (kind->species[a] == species && (!found || (kind->changes && !found->changes)))
                found = kind;
    }
    return found;
}

/* For what counts, or changes, the number of particles of a species. */
static inline int refuse_sites(const plugmc_host *host, const char *key, int32_t species)
{
    const plugmc_molecule *kind = molecule_with_sites(host->system, species);
    if (!kind) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s = %s: rigid molecules have sites of this species, so its number cannot "
                      "change by itself; name the molecule: %s = %s",
                      key, plugmc_species_at(host->system, species)->name, key, kind->name);
}

/* A kind of molecule, or a species of which there are particles in no molecule. */
static inline int find_particles_or_molecules(const plugmc_host *host, const char *key,
                                              const char *name, int32_t *number)
{
    const plugmc_molecules *all = host->system->molecules;
    int64_t sites = 0;
    *number = molecule_named(host->system, name);
    if (*number >= 0) return PLUGMC_OK;
    const int code = plugmc_find_species(host, key, name, number);
    for (int32_t k = 0; all && k < all->kinds && !code; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(all, k);
        for (int32_t a = 0; a < kind->sites; a++)
            sites += kind->species[a] == *number ? kind->count : 0;
    }
    /* of molecules that come later there may be no site yet */
    if (code || !molecule_with_sites(host->system, *number) ||
        sites < plugmc_species_at(host->system, *number)->count)
        return code;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s = %s: all particles of this species are sites of rigid molecules", key,
                      name);
}

/* More positions and orientations of a molecule than one trial can have. */
static inline int choices_are_too_many(const plugmc_host *host, int64_t positions,
                                       int64_t orientations)
{
    const int64_t all = positions * orientations;
    if (all <= PLUGMC_MOST_TRIAL_POSITIONS) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "trial_positions = %lld with trial_orientations = %lld each are %lld, and at "
                      "most %d are possible",
                      (long long)positions, (long long)orientations, (long long)all,
                      PLUGMC_MOST_TRIAL_POSITIONS);
}

#endif
