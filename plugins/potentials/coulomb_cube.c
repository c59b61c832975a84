/* coulomb_cube: charges in a periodic cube with all their images, as an energy of pairs.
 *
 *     U / l_B = sum_{i<j} z_i z_j psi(r_ij / L) / L + xi / (2 L) sum_i z_i^2,   xi = lim psi(x) - 1 / |x|
 *
 * psi is the potential of a unit charge, of its images in a cube of edge 1 and of the uniform background that
 * neutralises them, with a conductor around all (tin-foil), and xi = -2.837297 what a charge has from its own
 * images: the energy of coulomb_ewald (S. G. Brush, H. L. Sahlin, E. Teller, J. Chem. Phys. 45, 2102 (1966)). A
 * cube is always the same but for its size, so psi(x) - 1 / |x|, which is smooth in the cell around the charge,
 * is fitted once and for all: with cubic symmetry it is a polynomial in
 *
 *     a = x^2 + y^2 + z^2,   b = x^4 + y^4 + z^4,   c = x^2 y^2 z^2,
 *
 * here of degree 20, right to 6e-6 (double precision) everywhere (D. J. Adams, G. S. Dubey, J. Comput. Phys. 72, 156
 * (1987), have such series). There are no waves, so trials among few ions are fast, and are made wherever those of
 * pairs are, as on a GPU. It gives no forces, and needs a cube that stays as it is.
 */
#include <plugmc/potential.h>

enum { DEGREE = 20, TERMS = 67 }; /* of the polynomial; products a^i b^j c^k up to that degree */

typedef struct parameters {
    real bjerrum_length; /* length */
    real permittivity;   /* relative; with [units] in place of bjerrum_length */
    real over_length;    /* 1 over the edge */
    real self;           /* energy of a unit charge in its own images */
    plugmc_list
        series; /* [TERMS] by descending powers of c, then of b, then of a, in units of L / 2 */
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

/* n powers of a, the largest first; n is a constant once inlined. */
PLUGMC_FN real row(const real *coefficient, int n, real a)
{
    real sum = coefficient[0];
    PLUGMC_UNROLL
    for (int i = 1; i < n; i++) sum = plugmc_fma(sum, a, coefficient[i]);
    return sum;
}

/* psi(x) - 1 / |x| of the unit cube, at x = s / L. */
PLUGMC_FN real of_images(const parameters *p, plugmc_separation s)
{
    const real scale = 2 * p->over_length, *t = p->series.values;
    const real x = s.x * scale, y = s.y * scale, z = s.z * scale;
    const real xx = x * x, yy = y * y, zz = z * z;
    const real a = xx + yy + zz, b = plugmc_fma(xx, xx, plugmc_fma(yy, yy, zz * zz)),
               c = xx * yy * zz;
    real k2 = row(t + 2, 1, a), k1 = row(t + 11, 2, a), k0 = row(t + 31, 1, a);
    k2 = plugmc_fma(k2, b, row(t + 3, 3, a));
    k2 = plugmc_fma(k2, b, row(t + 6, 5, a));
    k1 = plugmc_fma(k1, b, row(t + 13, 4, a));
    k1 = plugmc_fma(k1, b, row(t + 17, 6, a));
    k1 = plugmc_fma(k1, b, row(t + 23, 8, a));
    k0 = plugmc_fma(k0, b, row(t + 32, 3, a));
    k0 = plugmc_fma(k0, b, row(t + 35, 5, a));
    k0 = plugmc_fma(k0, b, row(t + 40, 7, a));
    k0 = plugmc_fma(k0, b, row(t + 47, 9, a));
    k0 = plugmc_fma(k0, b, row(t + 56, 11, a));
    return plugmc_fma(plugmc_fma(plugmc_fma(row(t, 2, a), c, k2), c, k1), c, k0);
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a;
    return b.charge * (plugmc_rsqrt(s.r2) + p->over_length * of_images(p, s));
}

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    (void)r, (void)outside;
    return p->self * a.charge * a.charge;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_FACTOR)
#include <plugmc/pair.h>
#include <plugmc/field.h>

#if PLUGMC_HOST
#include <stdlib.h>

#include <plugmc/state.h>

#include "charged_species.h"

/* ---- The series ------------------------------------------------------------------------------------- */

/* The Ewald sum with alpha = sqrt(pi) / L, where pairs and waves end together; what is left out is below 1e-13. Without
 * 1 / |x|, whose place erfc(s) / s leaves to -erf(s) / s. */
static double ewald(const double x[3])
{
    enum { IMAGES = 3, WAVES = 4 };
    const double alpha = sqrt(M_PI);
    double sum = -1, wave[3][WAVES + 1];
    for (int n = 0; n < (2 * IMAGES + 1) * (2 * IMAGES + 1) * (2 * IMAGES + 1); n++) {
        const int e = 2 * IMAGES + 1,
                  at[3] = {n % e - IMAGES, n / e % e - IMAGES, n / e / e - IMAGES};
        double r2 = 0;
        for (int d = 0; d < 3; d++) r2 += (x[d] + at[d]) * (x[d] + at[d]);
        const double r = sqrt(r2);
        if (at[0] || at[1] || at[2])
            sum += erfc(alpha * r) / r;
        else
            sum -= r > 0 ? erf(alpha * r) / r : 2; /* 2 alpha / sqrt(pi) */
    }
    for (int d = 0; d < 3; d++)
        for (int n = 0; n <= WAVES; n++) wave[d][n] = (n ? 2 : 1) * cos(2 * M_PI * n * x[d]);
    for (int i = 0; i <= WAVES; i++)
        for (int j = 0; j <= WAVES; j++)
            for (int k = i || j ? 0 : 1; k <= WAVES; k++) {
                const double n2 = i * i + j * j + k * k;
                sum += exp(-M_PI * n2) / (M_PI * n2) * wave[0][i] * wave[1][j] * wave[2][k];
            }
    return sum;
}

/* Products a^i b^j c^k in the order of the series; the last one is 1. x: in units of L / 2. */
static void products(const double x[3], double out[TERMS])
{
    double a = 0, b = 0, c = 1;
    int at = 0;
    for (int d = 0; d < 3; d++) {
        const double square = x[d] * x[d];
        a += square, b += square * square, c *= square;
    }
    for (int k = DEGREE / 6; k >= 0; k--)
        for (int j = (DEGREE - 6 * k) / 4; j >= 0; j--)
            for (int i = (DEGREE - 6 * k - 4 * j) / 2; i >= 0; i--)
                out[at++] = pow(a, i) * pow(b, j) * pow(c, k);
}

enum { EACH = 12, PLACES = EACH * (EACH + 1) * (EACH + 2) / 6, UNKNOWNS = TERMS - 1 };
typedef double equation[UNKNOWNS + 1]; /* the last number is the right side */

/* Least squares by reflections (A. S. Householder, J. ACM 5, 339 (1958)). */
static void solve(equation *q, double x[UNKNOWNS])
{
    for (int k = 0; k < UNKNOWNS; k++) {
        double square = 0;
        for (int i = k; i < PLACES; i++) square += q[i][k] * q[i][k];
        const double pivot = q[k][k], length = pivot > 0 ? -sqrt(square) : sqrt(square);
        q[k][k] -= length;
        const double half =
            square - pivot * length; /* half the square of the vector to reflect by */
        for (int j = k + 1; j <= UNKNOWNS; j++) {
            double along = 0;
            for (int i = k; i < PLACES; i++) along += q[i][k] * q[i][j];
            for (int i = k; i < PLACES; i++) q[i][j] -= along / half * q[i][k];
        }
        x[k] = length; /* the diagonal */
    }
    for (int k = UNKNOWNS - 1; k >= 0; k--) {
        double rest = q[k][UNKNOWNS];
        for (int j = k + 1; j < UNKNOWNS; j++) rest -= q[k][j] * x[j];
        x[k] = rest / x[k];
    }
}

/* At places x <= y <= z of the cell, denser towards its faces, where the others follow by symmetry. */
static int fit(const plugmc_host *host, real series[TERMS])
{
    equation *all = calloc(PLACES, sizeof *all);
    double found[UNKNOWNS];
    const double self = ewald((double[3]){0, 0, 0});
    int at = 0;
    if (!all) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the series");
    for (int k = 0; k < EACH; k++)
        for (int j = 0; j <= k; j++)
            for (int i = 0; i <= j; i++) {
                const int n[3] = {i, j, k};
                double x[3], half[3];
                for (int d = 0; d < 3; d++) {
                    x[d] = sin(M_PI / 2 * n[d] / (EACH - 1));
                    half[d] = x[d] / 2;
                }
                products(x, all[at]);
                all[at++][UNKNOWNS] = ewald(half) - self;
            }
    solve(all, found);
    for (int k = 0; k < UNKNOWNS; k++) series[k] = (real)found[k];
    series[UNKNOWNS] = (real)self;
    free(all);
    return PLUGMC_OK;
}

/* ---- Preparation ------------------------------------------------------------------------------------ */

static int check(const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    const double *e = box->length, net = net_charge(host->system);
    if (box->domain != PLUGMC_DOMAIN_PERIODIC || box->dimension != 3 || box->oblique ||
        e[1] != e[0] || e[2] != e[0])
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "its series is for a periodic cube, but [box] is not one: use "
                          "'coulomb_ewald'");
    if (host->system->changes & PLUGMC_CHANGED_BOX)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "its series is for a cube of fixed size, but a mover of this run "
                          "changes boxes: use 'coulomb_ewald'");
    const int code = charges_are_there(host);
    if (!code && net != 0)
        host->warn(host->context, "the box has a charge of %g: a uniform background neutralises it",
                   net);
    return code;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    int code = charges_strength(host, &p->bjerrum_length, p->permittivity);
    if (!code && sizeof(real) == sizeof(double)) code = check(host);
    real *series = host->allocate(host->context, TERMS * sizeof *series);
    if (!code && !series)
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the series");
    if (!code) code = fit(host, series);
    if (code) return code;
    p->series = (plugmc_list){series, TERMS};
    p->over_length = (real)(1 / host->system->box.length[0]);
    p->self = p->bjerrum_length * p->over_length * series[TERMS - 1] / 2;
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    return charges_cannot_collapse(instance, host);
}

static const plugmc_parameter table[] = {
    CHARGES_KEYS(parameters),
    PLUGMC_REAL_DERIVED(parameters, over_length, "1 over the edge of the cube"),
    PLUGMC_REAL_DERIVED(parameters, self, "energy of a unit charge in its own images"),
    PLUGMC_LIST_DERIVED(parameters, series, "coefficients of the polynomial"),
};

static const plugmc_potential potential = {
    .size = sizeof potential, .pair = &plugmc_pair_facet, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "coulomb_cube",
              .summary = "Coulomb interaction with all periodic images in a cube, as a pair "
                         "energy",
              .reference = "Brush, Sahlin, Teller, J. Chem. Phys. 45, 2102 (1966)",
              PLUGMC_KEYS(parameters, table), .configure = configure, .prepare = prepare,
              .potential = &potential);
#endif
