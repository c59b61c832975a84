/* crashing_orbitals: 1, cos, sin, ... of x as orbitals, see crashing.h. */
#include <math.h>

#include <plugmc/everything.h>

#include "crashing.h"

typedef struct crashing_orbitals {
    const plugmc_system *system;
} crashing_orbitals;

static int64_t count(const void *instance, int32_t species)
{
    const crashing_orbitals *p = instance;
    here("orbitals.count");
    return plugmc_species_at(p->system, species)->count;
}

static int32_t complex_valued(const void *instance)
{
    (void)instance;
    here("orbitals.complex_valued");
    return 0;
}

static int evaluate(void *instance, const plugmc_orbital_request *q)
{
    const crashing_orbitals *p = instance;
    const int64_t n = plugmc_species_at(p->system, q->species)->count;
    here("orbitals.evaluate");
    for (int64_t i = 0; i < q->points; i++)
        for (int64_t k = 0; k < n && q->real_size == sizeof(double); k++) {
            const double x =
                2 * M_PI * (double)((k + 1) / 2) * q->positions[3 * i] / p->system->box.length[0];
            ((double *)q->values)[i * q->pitch + k] = k % 2 || !k ? cos(x) : sin(x);
        }
    return PLUGMC_OK;
}

static int ions(const void *instance, plugmc_ions *out)
{
    (void)instance, (void)out;
    here("orbitals.ions");
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    ((crashing_orbitals *)instance)->system = host->system;
    return PLUGMC_OK;
}

static const plugmc_orbitals orbitals = {.size = sizeof orbitals,
                                         .count = count,
                                         .complex_valued = complex_valued,
                                         .evaluate = evaluate,
                                         .ions = ions};
static const plugmc_potential potential = {.size = sizeof potential};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "crashing_orbitals", .summary = "crashes",
              .reference = "", .instance_size = sizeof(crashing_orbitals),
              PLUGMC_OFFERS({PLUGMC_ORBITALS, &orbitals}), .prepare = prepare,
              .potential = &potential)
