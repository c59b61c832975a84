/* mistake: the wave number is waves / L, without 2 pi */
/* a user would see: the substrate does not fit the periodic box: the energy jumps at its edges,
 * and its wavelength is 2 pi too long */
/* egg_carton: a substrate, u = -strength (cos(k x) + cos(k y)) with a whole number of waves in the box. */
#include <plugmc/potential.h>

typedef struct parameters {
    real strength, k;
    int64_t waves;
} parameters;

PLUGMC_FN real cosine(real x)
{
    return sizeof(real) == 4 ? (real)cosf((float)x) : (real)cos((double)x);
}

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    (void)a, (void)outside;
    return -p->strength * (cosine(p->k * r.x) + cosine(p->k * r.y));
}

#include <plugmc/field.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    p->k = (real)((double)p->waves / host->system->box.length[0]);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, strength, "2", -1e9, 1e9, "kT", "of the substrate"),
    PLUGMC_INTEGER_KEY(parameters, waves, "4", 1, 1e9, "", "wavelengths in the box"),
    PLUGMC_REAL_DERIVED(parameters, k, "wave number"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "egg_carton", .summary = "periodic substrate",
              .reference = "", PLUGMC_KEYS(parameters, table), .configure = configure,
              .potential = &potential);
#endif
