/* Species that particles come from a reservoir of, for movers that change how many there are. */
#ifndef RESERVOIR_H
#define RESERVOIR_H

#include <math.h>
#include <plugmc/plugin.h>
#include <string.h>

/* The number of a species, which must have an activity and room for more; `key` is where it is named. */
static inline int find_reservoir(const plugmc_host *host, const char *key, const char *name,
                                 int32_t *number)
{
    const plugmc_system *system = host->system;
    int32_t found = 0;
    while (found < system->species_count && strcmp(plugmc_species_at(system, found)->name, name))
        found++;
    if (found == system->species_count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s = %s: there is no such species",
                          key, name);
    const plugmc_species *species = plugmc_species_at(system, found);
    if (isnan(species->mu))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s = %s: [species %s] needs mu or activity, of the reservoir", key, name,
                          name);
    if (species->most <= species->count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s = %s: [species %s] needs most, the largest number that a walker can "
                          "have, above count = %lld",
                          key, name, name, (long long)species->count);
    *number = found;
    return PLUGMC_OK;
}

#endif
