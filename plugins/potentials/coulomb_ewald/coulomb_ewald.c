/* coulomb_ewald: charges in a periodic box with all their images, by the plain Ewald sum.
 *
 *     U / l_B = sum_{i<j} z_i z_j erfc(alpha r_ij) / r_ij                    pairs, r < cutoff
 *             + (2 pi / V) sum_{k != 0} exp(-k^2 / 4 alpha^2) / k^2 |S(k)|^2  waves
 *             - alpha / sqrt(pi) sum_i z_i^2 - pi / (2 alpha^2 V) (sum_i z_i)^2
 *
 * with the valences z, the Bjerrum length l_B and S(k) = sum_i z_i exp(i k.r_i): P. P. Ewald, Ann.
 * Phys. 369, 253 (1921); S. W. de Leeuw, J. W. Perram, E. R. Smith, Proc. R. Soc. A 373, 27 (1980),
 * with a conductor around the images (tin-foil). The last term is a uniform background that
 * neutralises a charged box. Boxes may be oblique.
 *
 * The pairs are the pair facet, so movers treat them with their other pairs; the rest (sum.c) is
 * the total facet and comes on top. When one particle moves, the change of the waves costs one
 * operation a wave, from the structure factors S(k) that are kept. Exact as it stands, and slow for
 * many particles: the cost of a whole configuration grows as N^(3/2) at best.
 */
#include <plugmc/potential.h>

typedef struct parameters {
    real bjerrum_length;   /* length */
    real cutoff;           /* length; 0: as far as nearest images go */
    real alpha;            /* 1/length; 0: from the tolerance */
    int64_t k_max;         /* 0: from the tolerance */
    int64_t n_square;      /* 0: no limit */
    real tolerance;        /* relative error of forces */
    real reach, splitting; /* cutoff and alpha that are used */
    struct ewald_sum *sum; /* the waves; in the double precision instance */
} parameters;

/* exp(-y) for y >= 0; plugmc_exp in float, and as good in double. Both vectorise. */
PLUGMC_FN real falling_exponential(real y)
{
    if (sizeof(real) == 4) return (real)plugmc_exp((float)-y);
    union {
        double value;
        uint64_t bits;
    } shifted, scale;
    const double magic = 6755399441055744.0; /* 3 * 2^51 leaves an integer in the last bits */
    double x = y < (real)700 ? -(double)y : -700.0;
    shifted.value = x * 1.4426950408889634 + magic;
    double n = shifted.value - magic;
    double f = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10;
    double p = 1.6059043836821613e-10; /* 1 / 13! */
    p = p * f + 2.08767569878681e-9;
    p = p * f + 2.505210838544172e-8;
    p = p * f + 2.755731922398589e-7;
    p = p * f + 2.7557319223985893e-6;
    p = p * f + 2.48015873015873e-5;
    p = p * f + 1.984126984126984e-4;
    p = p * f + 1.388888888888889e-3;
    p = p * f + 8.333333333333333e-3;
    p = p * f + 4.1666666666666664e-2;
    p = p * f + 1.6666666666666666e-1;
    p = p * f + 0.5;
    p = p * f * f + f + 1.0;
    scale.bits = (shifted.bits + 1023) << 52;
    return (real)(p * scale.value);
}

/* (1 + 2 x) exp(x^2) erfc(x) by Chebyshev fits over 0 <= x <= 8, relative error 2e-8 in float and
 * 2e-17 in double before rounding: a polynomial in (x - c) / (x + c). */
PLUGMC_FN real scaled_erfc_float(real t)
{
    real p = (real)-0.0004373535792;
    p = p * t + (real)-0.001295899417;
    p = p * t + (real)0.001312889406;
    p = p * t + (real)0.00867978928;
    p = p * t + (real)-0.008048071465;
    p = p * t + (real)-0.05421559418;
    p = p * t + (real)0.1640525157;
    p = p * t + (real)-0.1660305276;
    p = p * t + (real)-0.09276384292;
    return p * t + (real)1.276978381;
}

PLUGMC_FN real scaled_erfc_double(real t)
{
    real p = (real)2.20195685806192933e-9;
    p = p * t + (real)-3.12353545918517969e-8;
    p = p * t + (real)-2.74660320035300947e-7;
    p = p * t + (real)-6.21653138245827398e-7;
    p = p * t + (real)4.46037084837097342e-7;
    p = p * t + (real)3.52630153167339025e-6;
    p = p * t + (real)-7.44266280877024442e-7;
    p = p * t + (real)-0.0000201229826027039201;
    p = p * t + (real)4.94635321007805203e-6;
    p = p * t + (real)0.000125103353358496252;
    p = p * t + (real)-0.000105158530509411493;
    p = p * t + (real)-0.000779832620309751151;
    p = p * t + (real)0.00188869018615567073;
    p = p * t + (real)0.00252939182914967828;
    p = p * t + (real)-0.023770514907180717;
    p = p * t + (real)0.0683080273439185005;
    p = p * t + (real)-0.119273663415672634;
    p = p * t + (real)0.129645158702755171;
    p = p * t + (real)-0.0475622943534463034;
    p = p * t + (real)-0.135621106124581125;
    return p * t + (real)1.25300805826972964;
}

/* erfc(x), and exp(-x^2) with it. */
PLUGMC_FN real complement(real x, real *gauss)
{
    const real c = sizeof(real) == 4 ? (real)2 : (real)3;
    real line = (real)1 + (real)2 * x, inverse = (real)1 / (line * (x + c));
    real t = (x - c) * line * inverse;
    *gauss = falling_exponential(x * x);
    real scaled = sizeof(real) == 4 ? scaled_erfc_float(t) : scaled_erfc_double(t);
    return *gauss * scaled * (x + c) * inverse;
}

PLUGMC_FN real pair_range(const parameters *p) { return p->reach; }

PLUGMC_FN real pair_factor(const parameters *p, plugmc_site a)
{
    return p->bjerrum_length * a.charge;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a;
    real r = plugmc_sqrt(s.r2), gauss;
    real u = b.charge * complement(p->splitting * r, &gauss) / r;
    return r < p->reach ? u : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a;
    real r = plugmc_sqrt(s.r2), over = (real)1 / s.r2, gauss;
    real u = b.charge * complement(p->splitting * r, &gauss) / r;
    real g = b.charge * (real)1.1283791670955126 * p->splitting * gauss; /* 2 alpha/sqrt(pi) */
    real inside = r < p->reach ? (real)1 : (real)0;
    *first = inside * -(u + g) * over; /* u' / r */
    *second = inside * (real)2 * ((u + g) * over + g * p->splitting * p->splitting); /* u'' */
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_FACTOR | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include "../charged_species.h"
#include "sum.h"

/* Half of the shortest lattice vector: as far as every image within is the nearest one. */
static double nearest_reach(const plugmc_box *box)
{
    double shortest = INFINITY;
    for (int i = 0; i < 125; i++) {
        const int n[3] = {i % 5 - 2, i / 5 % 5 - 2, i / 25 - 2};
        double square = 0;
        for (int d = 0; d < 3; d++) {
            double v =
                n[0] * box->vector[0][d] + n[1] * box->vector[1][d] + n[2] * box->vector[2][d];
            square += v * v;
        }
        if (n[0] || n[1] || n[2]) shortest = fmin(shortest, square);
    }
    return sqrt(shortest) / 2;
}

static int check_box(const parameters *p, const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC || box->dimension != 3)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "an Ewald sum is over the images of a three-dimensional periodic box, and "
            "[box] is %s: 'coulomb' needs no images",
            box->dimension == 2 ? "two-dimensional" : "a sphere");
    if (!(box->volume > 0) || !isfinite(box->volume))
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "the box has a volume of %g",
                          box->volume);
    const double farthest = nearest_reach(box);
    if ((double)p->cutoff > farthest * (1 + 1e-6))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "cutoff = %g is more than half the shortest way from a particle to its "
                          "image, %g: pairs are taken with their nearest image only",
                          (double)p->cutoff, farthest);
    return PLUGMC_OK;
}

/* Forces are wrong by about 2 exp(-(alpha cutoff)^2) relative to their size where the pairs end,
 * and by as much where the waves end at k = 2 alpha sqrt(-ln(2 tolerance)). */
static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    int code = check_box(p, host);
    if (code) return code;
    p->reach = p->cutoff > 0 ? p->cutoff : (real)nearest_reach(&host->system->box);
    p->splitting = p->alpha > 0 ? p->alpha
                                : (real)(sqrt(-log(2 * (double)p->tolerance)) / (double)p->reach);
    if (sizeof(real) == sizeof(float)) return PLUGMC_OK; /* said once is enough */
    if (p->n_square > 0 && p->k_max == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "n_square needs k_max");
    return charges_are_there(host);
}

#ifndef PLUGMC_FLOAT_UNIT
static void warn_of_background(const plugmc_host *host)
{
    double net = 0, gross = 0;
    for (int32_t k = 0; k < host->system->species_count; k++) {
        const plugmc_species *s = &host->system->species[k];
        net += s->charge * (double)s->count;
        gross += fabs(s->charge) * (double)s->count;
    }
    if (fabs(net) > 1e-9 * gross)
        host->warn(
            host->context,
            "the box has a charge of %g: a uniform background neutralises it, with the energy "
            "-pi l_B charge^2 / (2 alpha^2 V)",
            net);
}

static int prepare(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const ewald_waves waves = {2 * p->splitting * sqrt(-log(2 * p->tolerance)), p->k_max,
                               p->n_square};
    warn_of_background(host);
    int code = charges_cannot_collapse(instance, host);
    return code ? code
                : ewald_sum_prepare(host, p->bjerrum_length, p->splitting, &waves, &p->sum);
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

static const plugmc_total total = {
    .size = sizeof total,
    .beside_parts = 1,
    .energy = energy,
    .start = start,
    .change = change,
    .settle = settle,
    .waves = list_waves,
};
#define WAVES .total = &total
#define CALLBACKS .prepare = prepare, .archive = archive
#else
#define WAVES .total = NULL
#define CALLBACKS .prepare = NULL
#endif

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, bjerrum_length, NULL, 0, 1e9, "length",
                    "distance at which two elementary charges have the energy kT"),
    PLUGMC_REAL_KEY(parameters, tolerance, "1e-6", 1e-15, 0.1, "",
                    "relative error of the forces, for what is not given of the next three"),
    PLUGMC_REAL_KEY(parameters, cutoff, "0", 0, 1e9, "length",
                    "where pairs end; 0: half the shortest way from a particle to its image"),
    PLUGMC_REAL_KEY(parameters, alpha, "0", 0, 1e9, "1/length",
                    "share of pairs and waves; 0: pairs have the tolerance at the cutoff"),
    PLUGMC_INTEGER_KEY(parameters, k_max, "0", 0, 1000, "",
                       "largest component of n in k = 2 pi n / L; 0: from the tolerance"),
    PLUGMC_INTEGER_KEY(parameters, n_square, "0", 0, 1000000, "",
                       "with k_max: largest square of n; 0: no limit"),
    PLUGMC_REAL_DERIVED(parameters, reach, "cutoff that is used"),
    PLUGMC_REAL_DERIVED(parameters, splitting, "alpha that is used"),
};

static const plugmc_potential potential = {
    .size = sizeof potential, .pair = &plugmc_pair_facet, WAVES};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "coulomb_ewald",
              .summary = "charges with all periodic images, by the plain Ewald sum",
              .reference = "de Leeuw, Perram, Smith, Proc. R. Soc. A 373, 27 (1980)",
              .instance_size = sizeof(parameters), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .configure = configure, CALLBACKS,
              .potential = &potential);
#endif
