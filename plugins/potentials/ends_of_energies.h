/* Keys that say where a pair energy ends: included inside the PLUGMC_HOST part of a potential. */
#ifndef PLUGMC_ENDS_OF_ENERGIES_H
#define PLUGMC_ENDS_OF_ENERGIES_H

#include <plugmc/species_pairs.h>

/* The separation below which nobody may be, for energies that have no floor. */
#define SPECIES_GUARD_KEY(type)                                                                    \
    PLUGMC_LIST_KEY(type, guard, 0, "0", 0, 1e9, "length",                                         \
                    "distance below which pairs are forbidden, one value or one per pair of "      \
                    "species; 0: none")

/* Whether each is below `end`, where the energy ends. */
static inline int guard_check(const plugmc_host *host, const plugmc_list *guard, double end)
{
    const int code = plugmc_check_species_list(host, "guard", guard, PLUGMC_PER_PAIR);
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
    if (cutoff > 0) return plugmc_check_cutoff(host, cutoff);
    if (!cut)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "without a cutoff there is nothing to shift: set truncation = cut");
    if (host->system->box.domain == PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "cutoff = 0 (none) needs a box without periodic images; here the "
                          "limit is half the box, %g",
                          plugmc_half_box(&host->system->box));
    return PLUGMC_OK;
}

#endif
