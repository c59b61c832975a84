/* bond_order: how much the bonds between neighbours point in the same n directions, in two dimensions.
 *
 *     psi_n(j) = 1/n_j sum over the n_j neighbours k of j of exp(i n theta_jk)
 *     psi_n    = 1/N sum_j psi_n(j)
 *
 * theta_jk is the angle of the bond from j to k with the x axis; neighbours are all particles closer than `cutoff`, and a
 * particle without neighbours gives 0. n = `fold`: 4 for squares, whose bonds form a square lattice, 6 for hexagons. For n = 6
 * and disks it is what hexatic_order measures, also on a GPU (D. R. Nelson, B. I. Halperin, Phys. Rev. B 19, 2457 (1979)).
 * local_modulus is the mean of |psi_n(j)|, which is large in every crystalline domain. The susceptibility
 * N (<|psi_n|^2> - <|psi_n|>^2) is derived from the averages.
 */
#include <math.h>
#include <string.h>

#include <plugmc/everything.h>

#include "near_pairs.h"
#include "walker_boxes.h"

typedef struct bond_order {
    /* parameters */
    real cutoff;
    int64_t fold;

    const plugmc_system *system;
    double (*local)[2]; /* [particles] psi_n of one */
    int32_t *neighbours;
} bond_order;

enum { MODULUS, SQUARED, REAL, IMAGINARY, LOCAL_MODULUS, NEIGHBOURS, SCALARS };

static const plugmc_listing listing[] = {
    {"psi_modulus", "", "modulus of psi", 0, 0},
    {"psi_squared", "", "its square", 0, 0},
    {"psi_real", "", "real part of psi", 0, 0},
    {"psi_imaginary", "", "imaginary part of psi", 0, 0},
    {"local_modulus", "", "mean modulus of psi of one particle", 0, 0},
    {"neighbours", "", "mean number of neighbours", 0, 0},
    {"susceptibility", "", "N times the variance of the modulus of psi", 0, 1},
};

/* One particle. */
typedef struct bonds {
    double fold, sum[2];
    int32_t count;
} bonds;

static void add_bond(void *data, uint32_t i, uint32_t j, const double r[3], double square)
{
    bonds *b = data;
    const double angle = b->fold * atan2(r[1], r[0]);
    (void)i, (void)j, (void)square;
    b->sum[0] += cos(angle);
    b->sum[1] += sin(angle);
    b->count++;
}

static void measure_walker(const bond_order *b, const near_pairs *pairs, double out[SCALARS])
{
    const uint32_t n = near_pairs_entries(pairs);
    double sum[2] = {0, 0}, moduli = 0, neighbours = 0;
#pragma omp parallel for num_threads(b->system->threads) schedule(dynamic, 64)
    for (uint32_t k = 0; k < n; k++) {
        bonds one = {.fold = (double)b->fold};
        near_pairs_visit(pairs, k, add_bond, &one);
        for (int c = 0; c < 2; c++) b->local[k][c] = one.count ? one.sum[c] / one.count : 0;
        b->neighbours[k] = one.count;
    }
    for (uint32_t k = 0; k < n; k++) {
        for (int c = 0; c < 2; c++) sum[c] += b->local[k][c] / n;
        moduli += hypot(b->local[k][0], b->local[k][1]);
        neighbours += b->neighbours[k];
    }
    out[REAL] = sum[0];
    out[IMAGINARY] = sum[1];
    out[SQUARED] = sum[0] * sum[0] + sum[1] * sum[1];
    out[MODULUS] = sqrt(out[SQUARED]);
    out[LOCAL_MODULUS] = n ? moduli / n : 0;
    out[NEIGHBOURS] = n ? neighbours / n : 0;
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const bond_order *b = instance;
    plugmc_cells cells = {.size = sizeof cells};
    int code = check_reach(host, view, (double)b->cutoff, "cutoff");
    if (!code) code = view->cells(view, (double)b->cutoff, &cells);
    for (int32_t w = 0; w < b->system->walkers && !code; w++) {
        const near_pairs pairs =
            near_pairs_of(view, &cells, w, w * b->system->particles, (double)b->cutoff);
        measure_walker(b, &pairs, values + w * SCALARS);
    }
    return code;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index < SCALARS && plugmc_scalar(out, listing[index].name, "", listing[index].doc);
}

/* Where numbers change there is no N. */
static int derived(void *instance, int index, plugmc_quantity *out)
{
    const bond_order *b = instance;
    if (index > 0 || b->system->changes & PLUGMC_CHANGED_COUNT) return 0;
    return plugmc_scalar(out, listing[SCALARS].name, "", listing[SCALARS].doc);
}

static int derive(void *instance, const double *means, double *out)
{
    const bond_order *b = instance;
    *out = (double)b->system->particles * (means[SQUARED] - means[MODULUS] * means[MODULUS]);
    return 0;
}

static int prepare(void *instance, const plugmc_host *host)
{
    bond_order *b = instance;
    const plugmc_system *system = b->system = host->system;
    const plugmc_box *box = &system->box;
    if (box->dimension != 2 || box->domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "psi of bonds needs a periodic box of two dimensions");
    if (2 * (double)b->cutoff > narrowest(box))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "cutoff = %g is more than half of the box, which is %g wide",
                          (double)b->cutoff, narrowest(box));
    b->local = host->allocate(host->context, (size_t)system->particles * sizeof *b->local);
    b->neighbours =
        host->allocate(host->context, (size_t)system->particles * sizeof *b->neighbours);
    return b->local && b->neighbours
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld particles",
                            (long long)system->particles);
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(bond_order, cutoff, "1.45", 1e-6, 1e300, "length",
                    "particles closer than this are neighbours, such as the first minimum of g(r)"),
    PLUGMC_INTEGER_KEY(bond_order, fold, "6", 1, 64, "", "n of psi"),
};

PLUGMC_PLUGIN(.name = "bond_order",
              .summary = "order of the directions of bonds, psi_n, in two dimensions",
              .reference = "Nelson, Halperin, Phys. Rev. B 19, 2457 (1979)",
              PLUGMC_KEYS(bond_order, table),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .derived = derived,
                                     .derive = derive, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_ORIENTATION),
              .prepare = prepare)
