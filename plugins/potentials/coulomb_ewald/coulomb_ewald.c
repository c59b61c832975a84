/* coulomb_ewald: charges in a periodic box with all their images, by the plain Ewald sum.
 *
 *     U / l_B = sum_{i<j} z_i z_j erfc(alpha r_ij) / r_ij                    pairs, r < cutoff
 *             + (2 pi / V) sum_{k != 0} exp(-k^2 / 4 alpha^2) / k^2 |S(k)|^2  waves
 *             - alpha / sqrt(pi) sum_i z_i^2 - pi / (2 alpha^2 V) (sum_i z_i)^2
 *
 * with the valences z, the Bjerrum length l_B and S(k) = sum_i z_i exp(i k.r_i): P. P. Ewald, Ann.
 * Phys. 369, 253 (1921); S. W. de Leeuw, J. W. Perram, E. R. Smith, Proc. R. Soc. A 373, 27 (1980),
 * with a conductor around the images (tin-foil). The last term is a uniform background that
 * neutralises a charged box. Pairs within rigid molecules are left out: the waves count them, so
 * - sum z_i z_j erf(alpha r_ij) / r_ij over these is added, a constant of the run. Boxes may be oblique. Where movers change them, cutoff,
 * alpha and the n of the waves k = 2 pi n / L stay as they are at the start, so that the energy of a box is one function of its
 * configuration and detailed balance holds; `growth` has them suffice for larger boxes.
 *
 * The pairs are the pair facet, so movers treat them with their other pairs; the rest (sum.c) is
 * the total facet and comes on top. When one particle moves, the change of the waves costs one
 * operation a wave, from the structure factors S(k) that are kept. Exact as it stands, and slow for
 * many particles: the cost of a whole configuration grows as N^(3/2) at best. Ions may come and go.
 */
#include <plugmc/potential.h>
#include <plugmc/functions.h>

typedef struct parameters {
    real bjerrum_length; /* length */
    real permittivity;   /* relative; with [units] in place of bjerrum_length */
    real cutoff;         /* length; 0: as far as nearest images go */
    real alpha;          /* 1/length; 0: from the tolerance */
    int64_t k_max;       /* 0: from the tolerance */
    int64_t n_square;    /* 0: no limit */
    real k_cutoff;       /* 1/length; 0: from the tolerance, or with k_max: no limit */
    real growth;    /* of edges that the waves suffice for, where they follow from the tolerance */
    real tolerance; /* relative error of forces */
    real reach, splitting; /* cutoff and alpha that are used */
    struct ewald_sum *sum; /* the waves; in the double precision instance */
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->reach; }

PLUGMC_FN real pair_factor(const parameters *p, plugmc_site a)
{
    return p->bjerrum_length * a.charge;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a;
    real gauss, over, u = b.charge * plugmc_screened(p->splitting, s.r2, &gauss, &over);
    return s.r2 < p->reach * p->reach ? u : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a;
    real gauss, over, u = b.charge * plugmc_screened(p->splitting, s.r2, &gauss, &over);
    real g = b.charge * (real)1.1283791670955126 * p->splitting * gauss; /* 2 alpha/sqrt(pi) */
    real slope = (u + g) * over * over;
    real inside = s.r2 < p->reach * p->reach ? (real)1 : (real)0;
    *first = -inside * slope;                                               /* u' / r */
    *second = inside * (real)2 * (slope + g * p->splitting * p->splitting); /* u'' */
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_FACTOR | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include <plugmc/everything.h>
#include <plugmc/species_pairs.h>
#include "../box_default.h"
#include "../charged_species.h"
#include "sum.h"

static int check_box(const parameters *p, const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC || box->dimension != 3)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "an Ewald sum needs a three-dimensional periodic box, but [box] is %s: use "
            "'coulomb'",
            box->dimension == 2 ? "two-dimensional" : "a sphere");
    if (!(box->volume > 0) || !isfinite(box->volume))
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "the box has a volume of %g",
                          box->volume);
    const double farthest = plugmc_half_box(box);
    if ((double)p->cutoff > farthest * (1 + 1e-6))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "cutoff = %g exceeds half the shortest distance from a particle to "
                          "its image, %g: only nearest images of pairs are included",
                          (double)p->cutoff, farthest);
    return PLUGMC_OK;
}

/* Forces are wrong by about 2 exp(-(alpha cutoff)^2) relative to their size where the pairs end,
 * and by as much where the waves end at k = 2 alpha sqrt(-ln(2 tolerance)). */
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    int code = charges_strength(host, &p->bjerrum_length, p->permittivity);
    if (!code) code = check_box(p, host);
    if (!code && p->cutoff == 0) code = box_default_check(host, "cutoff = 0", "give a cutoff");
    if (code) return code;
    p->reach = p->cutoff > 0 ? p->cutoff : (real)plugmc_half_box(&host->system->box);
    p->splitting =
        p->alpha > 0 ? p->alpha : (real)(sqrt(-log(2 * (double)p->tolerance)) / (double)p->reach);
    if (sizeof(real) == sizeof(float)) return PLUGMC_OK; /* said once is enough */
    if (p->n_square > 0 && p->k_max == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "n_square needs k_max");
    return charges_are_there(host);
}

#ifndef PLUGMC_FLOAT_UNIT
static void warn_of_background(const plugmc_host *host)
{
    const double net = net_charge(host->system);
    if (net != 0)
        host->warn(
            host->context,
            "the box has a charge of %g: a uniform background neutralises it, with the energy "
            "-pi l_B charge^2 / (2 alpha^2 V)",
            net);
}

/* Relative error of the forces where the pairs end, as `configure` has it. */
static double pair_error(const parameters *p)
{
    return exp(-p->splitting * p->splitting * p->reach * p->reach) / 2;
}

static int prepare(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int follow = p->k_cutoff == 0 && p->k_max == 0;
    /* A box that is `growth` times as long has the same k at n as many times larger. */
    const double growth = host->system->changes & PLUGMC_CHANGED_BOX ? (double)p->growth : 1,
                 longest = p->k_cutoff > 0 ? p->k_cutoff
                           : p->k_max > 0
                               ? INFINITY
                               : growth * 2 * p->splitting * sqrt(-log(2 * p->tolerance));
    const ewald_waves waves = {
        longest, p->k_max, p->n_square, p->k_cutoff, fmax(p->tolerance, pair_error(p)), follow};
    warn_of_background(host);
    int code = charges_cannot_collapse(instance, host);
    return code ? code : ewald_sum_prepare(host, p->bjerrum_length, p->splitting, &waves, &p->sum);
}

static int energy(void *instance, const plugmc_total_request *request)
{
    return ewald_sum_energy(((parameters *)instance)->sum, request);
}

static int start(void *instance, const plugmc_view *view)
{
    return ewald_sum_start(((parameters *)instance)->sum, view);
}

static int change(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *change)
{
    return ewald_sum_change(((parameters *)instance)->sum, walker, particle, position, change);
}

static int displace(void *instance, int32_t walker, const plugmc_displacements *what,
                    double *change)
{
    return ewald_sum_displace(((parameters *)instance)->sum, walker, what, change);
}

static int insert_remove(void *instance, int32_t walker, const plugmc_insert_remove *what,
                         double *change)
{
    return ewald_sum_insert_remove(((parameters *)instance)->sum, walker, what, change);
}

static int settle(void *instance, int32_t walker, int accepted)
{
    return ewald_sum_settle(((parameters *)instance)->sum, walker, accepted);
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *archive)
{
    (void)host;
    return ewald_sum_archive(((parameters *)instance)->sum, archive);
}

static int list_waves(const void *instance, plugmc_waves *out)
{
    return ewald_sum_waves(((const parameters *)instance)->sum, out);
}

static int weights(void *instance, const plugmc_box *box, int32_t walker, double *weight)
{
    return ewald_sum_weights(((parameters *)instance)->sum, box, walker, weight);
}

static double of_counts(const void *instance, const plugmc_box *box, const int64_t *count)
{
    return ewald_sum_of_counts(((const parameters *)instance)->sum, box, count);
}

static int32_t recordable(const void *instance)
{
    return ewald_sum_recordable(((const parameters *)instance)->sum);
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance;
    return index == 0 && !ewald_sum_gpu_source(host, out);
}

static const plugmc_total total = {
    .size = sizeof total,
    .on_device = 1,
    .beside_parts = 1,
    .energy = energy,
    .start = start,
    .change = change,
    .settle = settle,
    .waves = list_waves,
    .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_MOLECULE,
    .insert_remove = insert_remove,
    .displace = displace,
    .of_counts = of_counts,
    .weights = weights,
    .recordable = recordable,
};
#define WAVES .total = &total
#define CALLBACKS .prepare = prepare, .archive = archive, .gpu_source = gpu_source
#else
#define WAVES .total = NULL
#define CALLBACKS .prepare = NULL
#endif

static const plugmc_parameter table[] = {
    CHARGES_KEYS(parameters),
    PLUGMC_REAL_KEY(
        parameters, tolerance, "1e-6", 1e-15, 0.1, "",
        "relative error of the forces; determines cutoff, alpha and the waves where they "
        "are not given"),
    PLUGMC_REAL_KEY(parameters, cutoff, "0", 0, 1e9, "length",
                    "cutoff of the real-space sum; 0: half the shortest distance from a "
                    "particle to its image"),
    PLUGMC_REAL_KEY(parameters, alpha, "0", 0, 1e9, "1/length",
                    "splitting parameter of real-space and reciprocal sums; 0: from the "
                    "tolerance at the cutoff"),
    PLUGMC_INTEGER_KEY(parameters, k_max, "0", 0, 1000, "",
                       "largest component of n in k = 2 pi n / L; 0: from the tolerance"),
    PLUGMC_INTEGER_KEY(parameters, n_square, "0", 0, 1000000, "",
                       "with k_max: largest n^2; 0: no limit"),
    PLUGMC_REAL_KEY(
        parameters, k_cutoff, "0", 0, 1e9, "1/length",
        "largest length of k, alone or beside k_max, in the box of the start; 0: from the "
        "tolerance, with k_max: no limit"),
    PLUGMC_REAL_KEY(
        parameters, growth, "1.1", 1, 100, "",
        "where movers change boxes: waves from the tolerance suffice until edges are so "
        "many times as long as at the start; they are growth^3 times as many; no effect "
        "with k_max or k_cutoff"),
    PLUGMC_REAL_DERIVED(parameters, reach, "cutoff that is used"),
    PLUGMC_REAL_DERIVED(parameters, splitting, "alpha that is used"),
};

static const plugmc_potential potential = {
    .size = sizeof potential, .pair = &plugmc_pair_facet, WAVES};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "coulomb_ewald",
              .summary = "Coulomb interaction with all periodic images, by plain Ewald "
                         "summation",
              .reference = "de Leeuw, Perram, Smith, Proc. R. Soc. A 373, 27 (1980)",
              PLUGMC_KEYS(parameters, table), .configure = configure, CALLBACKS,
              .potential = &potential);
#endif
