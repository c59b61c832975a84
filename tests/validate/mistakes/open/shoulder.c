/* mistake: the width of the shoulder is taken from particle a alone, so that u(a, b) differs from
 * u(b, a) */
/* a user would see: in mixtures the energy depends on who is moved: no detailed balance, energies
 * that depend on the mover */
/* shoulder: a repulsive step of the energy around each particle, wider for larger ones. */
#include <plugmc/potential.h>

typedef struct parameters {
    real height, ratio, largest;
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->ratio * p->largest; }

PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
    (void)p;
    return (real)0.5 * (a.diameter + b.diameter);
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)b;
    real width = p->ratio * a.diameter;
    return s.r2 < width * width ? p->height : (real)0;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_CONTACT)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    for (int32_t s = 0; s < host->system->species_count; s++) {
        const real diameter = (real)plugmc_species_at(host->system, s)->diameter;
        if (diameter > p->largest) p->largest = diameter;
    }
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, height, "1", -1e9, 1e9, "kT", "energy of the shoulder"),
    PLUGMC_REAL_KEY(parameters, ratio, "1.6", -1e9, 1e9, "", "width over diameter"),
    PLUGMC_REAL_DERIVED(parameters, largest, "largest diameter"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "shoulder",
              .summary = "hard core with a repulsive shoulder", .reference = "",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
