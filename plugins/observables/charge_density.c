/* charge_density: the mean density of charge around an ion of each species, the ion itself left
 * out:
 *
 *     rho_a(r) = sum_b q_b n_b g_ab(r)
 *
 * in elementary charges over volume, eq. 12 of Y. Liang, X. Xing, Y. Li, "A GPU-based large-scale
 * Monte Carlo simulation method for systems with long-range interactions". Its integral is -q_a.
 * The functions g and the densities n of the bulk are those of pair_histogram.h. Where ions come and go it is
 * sum_b q_b < n_ab(r) > / (v(r) < N_a >) of the ordered pairs n in a shell of volume v: the numbers of a reservoir
 * fluctuate as those of any part of a bulk do, so nothing is lacking that a factor would have to make good.
 */
#include "pair_histogram.h"

typedef struct charge_density {
    real r_max, margin; /* parameters, length */
    int64_t bins;       /* parameter */
    int32_t method;     /* parameter, PAIR_* */

    pair_histogram pairs;
} charge_density;

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    charge_density *c = instance;
    return pair_histogram_measure(&c->pairs, host, view, values);
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const charge_density *c = instance;
    return pair_histogram_quantity(&c->pairs, index, out);
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    const charge_density *c = instance;
    const pair_histogram *h = &c->pairs;
    if (index >= h->system->species_count) return 0;
    return plugmc_array(out, plugmc_species_at(h->system, index)->name, "e/length^3",
                        "charge density around a particle of this species", h->bins, "r",
                        h->radius);
}

static int derive(void *instance, const double *means, double *out)
{
    const charge_density *c = instance;
    const pair_histogram *h = &c->pairs;
    int code = 0;
    for (int32_t a = 0; a < h->system->species_count && !code; a++)
        code = pair_histogram_charge(h, means, a, out + a * h->bins);
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    charge_density *c = instance;
    const plugmc_system *system = host->system;
    int charged = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        charged |= plugmc_species_at(system, s)->charge != 0;
    if (!charged)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no species has a charge: set `charge` in [species ...]");
    if (system->changes & PLUGMC_CHANGED_COUNT && system->box.domain == PLUGMC_DOMAIN_SPHERE)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "in a sphere it needs a fixed number of particles, but a mover "
                          "changes it");
    return pair_histogram_prepare(&c->pairs, host, c->r_max, c->bins, c->margin, c->method, NULL);
}

static const plugmc_parameter table[] = {
    PAIR_HISTOGRAM_KEYS(charge_density, PAIR_HISTOGRAM_R_MAX, "200", PAIR_HISTOGRAM_MARGIN),
};

/* All that it can give. */
static const plugmc_listing listing[] = {
    {"pairs_<species>-<species>", "",
     "pairs in a bin against r, counted once per reference "
     "particle",
     1, 0},
    {"references_<species>", "", "number of reference particles", 0, 0},
    {"<species>", "e/length^3", "charge density against r around a particle of this species", 1, 1},
};

PLUGMC_PLUGIN(.name = "charge_density",
              .summary = "density of charge around an ion of each species",
              .reference = "Liang, Xing, Li, GPU-based Monte Carlo with long-range interactions",
              PLUGMC_KEYS(charge_density, table),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .derived = derived, .derive = derive, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_WALKER_WEIGHT),
              .prepare = prepare, .gpu_source = pair_histogram_gpu_source)
