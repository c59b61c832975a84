/* crashing_constant: an energy that positions do not change, 0, see crashing.h. */
#include <plugmc/everything.h>

#include "crashing.h"

static int energy(void *instance, const plugmc_total_request *q)
{
    (void)instance, (void)q;
    here("constant.energy");
    return PLUGMC_OK;
}

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .unchanged_by = PLUGMC_CHANGED_POSITION};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "crashing_constant", .summary = "crashes",
              .reference = "", .potential = &potential)
