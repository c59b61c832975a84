/* Species that movers name in their keys. */
#ifndef SPECIES_OF_H
#define SPECIES_OF_H

#include <plugmc/plugin.h>
#include <string.h>

/* The number of a species; `key` is where it is named. */
static inline int find_species(const plugmc_host *host, const char *key, const char *name,
                               int32_t *number)
{
    const plugmc_system *system = host->system;
    int32_t found = 0;
    while (found < system->species_count && strcmp(plugmc_species_at(system, found)->name, name))
        found++;
    *number = found;
    return found < system->species_count
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_INPUT, "%s = %s: there is no such species",
                            key, name);
}

#endif
