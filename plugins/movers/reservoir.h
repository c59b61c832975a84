/* Species that come from a reservoir. */
#ifndef RESERVOIR_H
#define RESERVOIR_H

#include <math.h>
#include <plugmc/plugin.h>

/* One that must have an activity and room for more; `key` is where it is named. */
static inline int find_reservoir(const plugmc_host *host, const char *key, const char *name,
                                 int32_t *number)
{
    const plugmc_system *system = host->system;
    const int code = plugmc_find_species(host, key, name, number);
    if (code) return code;
    const plugmc_species *species = plugmc_species_at(system, *number);
    if (isnan(species->mu))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s = %s: [species %s] needs a reservoir: its activity, mu, "
                          "chemical_potential, fugacity or pressure",
                          key, name, name);
    if (PLUGMC_HAS(host, reservoir)) host->reservoir(host->context, *number);
    if (species->capacity <= species->count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s = %s: [species %s] needs max_count, the largest number in a "
                          "walker, above count = %lld",
                          key, name, name, (long long)species->count);
    return PLUGMC_OK;
}

#endif
