/* yukawa: charges in an electrolyte that is not simulated itself, or in a plasma.
 *
 *     u(r) = l_B z_a z_b (exp(-kappa r) / r - shift),  r < cutoff;  0 else
 *
 * with the valences z of the species, the Bjerrum length l_B and the screening length 1/kappa.
 * Without a cutoff every pair counts; shift is exp(-kappa cutoff) / cutoff if asked for, else 0.
 * B. Derjaguin, L. Landau, Acta Physicochim. URSS 14, 633 (1941).
 */
#include <plugmc/potential.h>

typedef struct parameters {
    real bjerrum_length;  /* length */
    real permittivity;    /* relative; with [units] in place of bjerrum_length */
    real kappa;           /* 1/length */
    real cutoff;          /* length; 0: none */
    int32_t shift;        /* yes or no */
    real range, constant; /* length, 1/length: cutoff or infinity, what is taken off */
} parameters;

PLUGMC_FN real exponential(real x)
{
    return sizeof(real) == 4 ? (real)plugmc_exp((float)x) : (real)exp((double)x);
}

PLUGMC_FN real pair_range(const parameters *p) { return p->range; }

PLUGMC_FN real pair_factor(const parameters *p, plugmc_site a)
{
    return p->bjerrum_length * a.charge;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a;
    real r = plugmc_sqrt(s.r2);
    real u = b.charge * (exponential(-p->kappa * r) * plugmc_rsqrt(s.r2) - p->constant);
    return r < p->range ? u : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a;
    real r = plugmc_sqrt(s.r2), x = p->kappa * r;
    real over = plugmc_rsqrt(s.r2), u = b.charge * exponential(-x) * (over * over * over);
    u = r < p->range ? u : (real)0;
    *first = -u * ((real)1 + x);                 /* u' / r */
    *second = u * ((real)2 + x * ((real)2 + x)); /* u'' */
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_FACTOR | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>

#include "box_default.h"
#include "charged_species.h"

static int check(const parameters *p, const plugmc_host *host)
{
    const double half = plugmc_half_box(&host->system->box);
    if (p->shift && p->cutoff == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "shift = yes needs a cutoff");
    if (p->cutoff == 0 && isfinite(half)) {
        const int code = box_default_check(host, "cutoff = 0", "give a cutoff");
        if (code) return code;
        host->warn(host->context,
                   "there is no cutoff: every pair counts once, by its nearest image; beyond "
                   "half the box, %g, the omitted energy is screened by exp(-kappa r) = %.1e",
                   half, exp(-(double)p->kappa * half));
    }
    int code = p->cutoff > 0 ? plugmc_check_cutoff(host, (double)p->cutoff) : PLUGMC_OK;
    return code ? code : charges_are_there(host);
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int code = charges_strength(host, &p->bjerrum_length, p->permittivity);
    if (code) return code;
    p->range = p->cutoff > 0 ? p->cutoff : PLUGMC_NO_RANGE;
    const double cutoff = (double)p->cutoff, kappa = (double)p->kappa;
    p->constant = p->shift ? (real)(exp(-kappa * cutoff) / cutoff) : 0;
    return sizeof(real) == sizeof(float) ? PLUGMC_OK : check(p, host);
}

static int prepare(void *instance, const plugmc_host *host)
{
    return charges_cannot_collapse(instance, host);
}

static const plugmc_parameter table[] = {
    CHARGES_KEYS(parameters),
    PLUGMC_REAL_KEY(parameters, kappa, NULL, 0, 1e9, "1/length", "inverse screening length"),
    PLUGMC_REAL_KEY(parameters, cutoff, "0", 0, 1e9, "length",
                    "distance from which the energy is 0; 0: none"),
    PLUGMC_FLAG_KEY(parameters, shift, "no", "makes the energy continuous at the cutoff"),
    PLUGMC_REAL_DERIVED(parameters, range, "cutoff, or infinity"),
    PLUGMC_REAL_DERIVED(parameters, constant, "exp(-kappa cutoff) / cutoff if shifted"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "yukawa",
              .summary = "screened Coulomb (Yukawa) interaction, with or without a cutoff",
              .reference = "Derjaguin, Landau, Acta Physicochim. URSS 14, 633 (1941)",
              PLUGMC_KEYS(parameters, table), .configure = configure, .prepare = prepare,
              .potential = &potential);
#endif
