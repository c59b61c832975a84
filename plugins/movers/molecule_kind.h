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

#endif
