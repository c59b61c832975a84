/* coulomb: charges, every pair, nothing left out.
 *
 *     u(r) = l_B z_a z_b / r
 *
 * with the valences z of the species and the Bjerrum length l_B = e^2 / (4 pi eps kT), at which two
 * elementary charges have the energy kT. Ions need cores as well (hard_sphere), or opposite ones
 * fall into one another. In a periodic box the sum over images depends on the order in which it is
 * taken, so this potential is for a sphere; `minimum_image = yes` counts every pair once, by its
 * nearest image, as small systems were studied before Ewald sums were cheap: D. N. Card,
 * J. P. Valleau, J. Chem. Phys. 52, 6232 (1970).
 */
#include <plugmc/potential.h>

typedef struct parameters {
    real bjerrum_length; /* length (times energy over kT where a temperature is given) */
    real permittivity;   /* relative; with [units] in place of bjerrum_length */
    int32_t minimum_image;
} parameters;

PLUGMC_FN real pair_range(const parameters *p)
{
    (void)p;
    return PLUGMC_NO_RANGE;
}

PLUGMC_FN real pair_factor(const parameters *p, plugmc_site a)
{
    return p->bjerrum_length * a.charge;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)p, (void)a;
    return b.charge * plugmc_rsqrt(s.r2);
}

/* A CPU has a fast root but no fast reciprocal one: there both terms share one division. */
PLUGMC_FN real pair_change(const parameters *p, plugmc_separation from, plugmc_separation to,
                           plugmc_site a, plugmc_site b)
{
    (void)p, (void)a;
#ifdef __CUDACC_RTC__
    return b.charge * (plugmc_rsqrt(to.r2) - plugmc_rsqrt(from.r2));
#else
    real before = plugmc_sqrt(from.r2), after = plugmc_sqrt(to.r2);
    return b.charge * ((before - after) / (before * after));
#endif
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)p, (void)a;
    real over = plugmc_rsqrt(s.r2);
    real cube = b.charge * (over * over * over);
    *first = -cube;           /* u' / r */
    *second = (real)2 * cube; /* u'' */
}

#define PLUGMC_PAIR                                                                                \
    (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_CHANGE | PLUGMC_PAIR_FACTOR | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include "charged_species.h"

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    int code = charges_strength(host, &p->bjerrum_length, p->permittivity);
    if (code || sizeof(real) == sizeof(float)) return code; /* the rest is said once */
    if (host->system->box.domain == PLUGMC_DOMAIN_PERIODIC && !p->minimum_image)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "in a periodic box the bare sum over all images does not converge: "
                          "use an Ewald sum, a sphere ([box] shape = sphere), or "
                          "minimum_image = yes to count every pair once, by its nearest image");
    code = charges_are_there(host);
    if (!code) charges_warn_net(host);
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    return charges_cannot_collapse(instance, host);
}

static const plugmc_parameter table[] = {
    CHARGES_KEYS(parameters),
    PLUGMC_FLAG_KEY(parameters, minimum_image, "no",
                    "in a periodic box: count every pair once, by its nearest image"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "coulomb",
              .summary = "Coulomb interaction of all pairs, without approximation",
              .reference = "Card, Valleau, J. Chem. Phys. 52, 6232 (1970), for minimum_image",
              PLUGMC_KEYS(parameters, table), .configure = configure, .prepare = prepare,
              .potential = &potential);
#endif
