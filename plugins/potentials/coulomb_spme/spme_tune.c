/* spme_tune.c: how large the errors of smooth particle-mesh Ewald are, the alpha and the grid that
 * keep a tolerance, and the influence function.
 *
 * Charges are taken to be uncorrelated; their errors then add up in squares, and relative to the
 * force between two of them at their mean distance neither l_B nor their size matters.
 *
 * Pairs: the force f(r) = -(d/dr) erfc(alpha r) / r of all pairs beyond the cutoff is missing, so
 *     <dF^2> = z_i^2 sum_j z_j^2 / V * integral_rc^inf 4 pi r^2 f(r)^2 dr,
 * of which the well-known 4 exp(-2 alpha^2 rc^2) / (rc V) is the limit for a large alpha rc: J.
 * Kolafa, J. W. Perram, Mol. Simul. 9, 351 (1992).
 *
 * Grid: a wave p of the charges appears with all its aliases p + 2 pi m / h. The pair force of the
 * grid has the Fourier coefficients i G W_m W_m' k_m between k_m and k_m' (W is the transform of
 * the spline, k_m = k + 2 pi m / h), the true one i phi k_m, phi = 4 pi exp(-k^2 / 4 alpha^2) /
 * k^2, and by Parseval's theorem, averaged over both places, <dF^2> = z_i^2 sum_j z_j^2 / V
 * integral_BZ d3k / (2 pi)^3 X(k), X = sum_{m,m'} |G W_m W_m' k_m - delta phi k_m|^2. The influence
 * function G that makes X smallest is phi W_0^2 k^2 / (sum W_m^2 sum W_m^2 k_m^2) but for aliases
 * of phi: R. W. Hockney, J. W. Eastwood, Computer Simulation Using Particles (1988), section 8; V.
 * Ballenegger, J. J. Cerda, C. Holm, J. Chem. Theory Comput. 8, 936 (2012). A charge also feels its
 * own image on the grid, which along axis d is A_d sin(2 pi x / h_d): <dF^2> = z_i^4 / 2 sum_d
 * A_d^2, A_d = (2 pi / h_d) integral_BZ d3k / (2 pi)^3 G sum_m W_m W_m+1 (neighbours along d). Both
 * integrals are taken by the midpoint rule over an octant of the Brillouin zone; W are products of
 * factors of one axis, so tables of one axis do.
 */
#include <math.h>
#include <string.h>

#include "spme.h"

enum { ALIASES = 4 }; /* on each side; they fall as m^-n and faster */

/* Particles of a species at the start or, where they come and go, as many as there can be. */
static int64_t most_of(const plugmc_system *system, int32_t s)
{
    const plugmc_species *species = plugmc_species_at(system, s);
    return system->changes & PLUGMC_CHANGED_COUNT ? species->capacity : species->count;
}

spme_charges spme_charges_of(const plugmc_system *system)
{
    spme_charges c = {.volume = 1};
    for (int32_t s = 0; s < system->species_count; s++) {
        const double z = plugmc_species_at(system, s)->charge, n = (double)most_of(system, s);
        if (z == 0) continue;
        c.count += n;
        c.net += n * z;
        c.square += n * z * z;
        c.fourth += n * z * z * z * z;
    }
    for (int d = 0; d < 3; d++) {
        c.length[d] = system->box.length[d];
        c.volume *= c.length[d];
    }
    return c;
}

/* ---- Pairs ------------------------------------------------------------------------------- */

double spme_pair_error(const spme_charges *charges, double cutoff, double alpha)
{
    enum { INTERVALS = 200 };
    /* beyond the end f^2 is smaller by exp(-40) */
    const double end = sqrt(cutoff * cutoff + 20 / (alpha * alpha)),
                 step = (end - cutoff) / INTERVALS;
    double sum = 0;
    for (int i = 0; i <= INTERVALS; i++) { /* Simpson's rule */
        double r = cutoff + step * i, x = alpha * r;
        double force = erfc(x) / (r * r) + M_2_SQRTPI * alpha * exp(-x * x) / r;
        double weight = i == 0 || i == INTERVALS ? 1 : i % 2 ? 4 : 2;
        sum += weight * 4 * M_PI * r * r * force * force;
    }
    return sqrt(sum * step / 3) * pow(charges->count / charges->volume, -1.0 / 6);
}

/* The alpha that gives the error to the pairs. */
static double alpha_of(const spme_charges *charges, double cutoff, double error)
{
    double low = 1e-3 / cutoff, high = 20 / cutoff;
    for (int i = 0; i < 60; i++) {
        double middle = sqrt(low * high);
        if (spme_pair_error(charges, cutoff, middle) > error)
            low = middle;
        else
            high = middle;
    }
    return sqrt(low * high);
}

/* ---- Influence function ------------------------------------------------------------------ */

/* Sums over the aliases of one axis at k h = theta in [-pi, pi], W_0 = (sin(theta/2) / (theta/2))^n
 * and W_m = W_0 (k / k_m)^n. */
typedef struct aliases {
    double first;          /* W_0^2 */
    double others, stress; /* sum over m != 0 of W_m^2, and of W_m^2 (k_m h)^2 */
    double own;            /* sum over neighbours of W_m W_m+1: of the force on itself */
    double lift;           /* sum over m != 0 of W_m / W_0 */
} aliases;

static aliases aliases_of(double theta, int order)
{
    aliases a = {.first = 1};
    if (theta == 0) return a;
    const double w = pow(sin(theta / 2) / (theta / 2), order);
    double before = 0;
    a.first = w * w;
    for (int m = -ALIASES; m <= ALIASES; m++) {
        double shifted = theta + 2 * M_PI * m, ratio = 1, r = theta / shifted;
        for (int i = 0; i < order; i++) ratio *= r;
        if (m != 0) {
            a.lift += ratio;
            a.others += w * w * ratio * ratio;
            a.stress += w * w * ratio * ratio * shifted * shifted;
        }
        a.own += w * w * ratio * before; /* times the difference of the two waves, 2 pi */
        before = ratio;
    }
    return a;
}

/* b^2 = 1 / |sum_j M_n(j) exp(i theta j)|^2. For odd n the sum is 0 at theta = pi: there b is set
 * to 0, as that wave cannot be told from the next. */
static double essmann_factor(double theta, int order)
{
    double m[SPME_MOST_ORDER + 1] = {0, 1}, re = 0, im = 0; /* M_k(j), from M_2(1) = 1 */
    for (int k = 3; k <= order; k++)
        for (int j = k - 1; j > 0; j--) m[j] = (j * m[j] + (k - j) * m[j - 1]) / (k - 1);
    for (int j = 1; j < order; j++) {
        re += m[j] * cos(theta * j);
        im += m[j] * sin(theta * j);
    }
    const double square = re * re + im * im;
    return square < 1e-20 ? 0 : 1 / square;
}

void spme_fill_table(const spme_table *table, int points, double length, double alpha, int order,
                     int influence)
{
    for (int i = 0; i < points; i++) {
        const int n = i <= points / 2 ? i : i - points;
        const double k = 2 * M_PI * n / length, h = length / points;
        const aliases a = aliases_of(2 * M_PI * n / points, order);
        const double all = a.first + a.others;
        const double gauss = exp(-k * k / (4 * alpha * alpha));
        table->strain[i] = k * k / (2 * alpha * alpha);
        if (influence == SPME_OPTIMAL) {
            /* W_0^2 k^2 / (A B), with A the product of `all`, B = A sum of stress over all */
            table->weight[i] = gauss * a.first / (all * all);
            table->square[i] = (a.first * k * k + a.stress / (h * h)) / all;
        } else {
            table->weight[i] = gauss * essmann_factor(2 * M_PI * n / points, order);
            table->square[i] = k * k;
        }
    }
}

void spme_stretch_table(const spme_table *from, int points, double x, const spme_table *to)
{
    for (int i = 0; i < points; i++) {
        to->weight[i] = from->weight[i] * exp(from->strain[i] * (1 - x) / 2);
        to->square[i] = from->square[i] * x;
        to->strain[i] = from->strain[i] * x;
    }
}

/* ---- Grid -------------------------------------------------------------------------------- */

enum { NODES = 20 };

/* One axis of the octant: nodes k > 0 of the midpoint rule. */
typedef struct axis {
    double k[NODES], weight; /* 1/length */
    double h;                /* length */
    aliases at[NODES];
} axis;

static void axis_fill(axis *x, double h, double alpha, int order)
{
    const double end = fmin(M_PI / h, 7 * alpha); /* X falls as exp(-k^2 / 2 alpha^2) */
    x->h = h;
    x->weight = end / NODES;
    for (int i = 0; i < NODES; i++) {
        x->k[i] = end * (i + 0.5) / NODES;
        x->at[i] = aliases_of(x->k[i] * h, order);
    }
}

/* What the three axes give together at one node. */
typedef struct node {
    double k2, phi;       /* 1/length^2, length^2 */
    double first, others; /* products of W_0^2; sum over all other aliases of W_m^2 */
    double stress;        /* sum over all other aliases of W_m^2 k_m^2 */
    double influence;     /* G */
    double miss;          /* G W_0^2 / phi - 1 */
} node;

static node node_at(const axis x[3], const int i[3], double alpha, int influence)
{
    node n = {.first = 1};
    double lift = 0;
    for (int d = 0; d < 3; d++) {
        const aliases *a = &x[d].at[i[d]];
        const double k = x[d].k[i[d]], square = a->first * k * k,
                     more = a->stress / (x[d].h * x[d].h);
        /* what is left of a product without its m = 0, in sums of positive numbers */
        n.stress = n.stress * (a->first + a->others) + n.k2 * n.first * a->others +
                   (n.first + n.others) * more + n.others * square;
        n.others = n.others * (a->first + a->others) + n.first * a->others;
        n.first *= a->first;
        n.k2 += k * k;
        lift += log1p(a->lift);
    }
    n.phi = 4 * M_PI * exp(-n.k2 / (4 * alpha * alpha)) / n.k2;
    if (influence == SPME_OPTIMAL) {
        /* A B = (W_0^2 + others) (W_0^2 k^2 + stress) */
        const double product = (n.first + n.others) * (n.first * n.k2 + n.stress);
        const double more = n.others * (n.first * n.k2 + n.stress) + n.first * n.stress;
        n.influence = n.phi * n.first * n.k2 / product;
        n.miss = -more / product;
    } else {
        n.miss = expm1(-2 * lift);
        n.influence = n.phi * (1 + n.miss) / n.first;
    }
    return n;
}

double spme_grid_error(const spme_charges *charges, double alpha, int order, int influence,
                       const int32_t grid[3])
{
    axis x[3];
    double missing = 0, own[3] = {0, 0, 0};
    for (int d = 0; d < 3; d++) axis_fill(&x[d], charges->length[d] / grid[d], alpha, order);
    for (int at = 0; at < NODES * NODES * NODES; at++) {
        const int i[3] = {at % NODES, at / NODES % NODES, at / NODES / NODES};
        const node n = node_at(x, i, alpha, influence);
        const double g = n.influence;
        missing += n.phi * n.phi * n.k2 * n.miss * n.miss +
                   g * g * (n.others * (n.first * n.k2 + n.stress) + n.first * n.stress);
        for (int d = 0; d < 3; d++) {
            const aliases *a = &x[d].at[i[d]];
            own[d] +=
                g * (n.first + n.others) / (a->first + a->others) * a->own * 2 * M_PI / x[d].h;
        }
    }
    const double octant = x[0].weight * x[1].weight * x[2].weight;
    const double volume = 8 * octant / (8 * M_PI * M_PI * M_PI);
    const double density = charges->count / charges->volume;
    /* and the waves that the grid does not have */
    const double end = M_PI / fmax(x[0].h, fmax(x[1].h, x[2].h));
    const double lost = 8 * alpha * sqrt(M_PI / 2) * erfc(end / (M_SQRT2 * alpha));
    double square = density * (missing * volume + lost);
    for (int d = 0; d < 3; d++) /* an amplitude of own / 2 for each of the waves +-2 pi / h */
        square += charges->fourth * charges->count / (charges->square * charges->square) *
                  pow(own[d] * volume, 2) / 2;
    return sqrt(square) * pow(density, -2.0 / 3);
}

/* The next number from n on that has no factors but 2, 3, 5, 7 and is even: what transforms do
 * best. */
static int32_t good_size(double n)
{
    int32_t size = (int32_t)ceil(n / 2 - 1e-9) * 2;
    for (;; size += 2) {
        int32_t rest = size;
        for (int32_t factor = 2; factor <= 7; factor++)
            while (rest % factor == 0) rest /= factor;
        if (rest == 1) return size;
    }
}

/* The coarsest grid with at most this error; 0 if there is none. */
static int choose_grid(const spme_charges *charges, double alpha, int order, int influence,
                       double error, int32_t grid[3])
{
    enum { LARGEST = 4096 };
    const double longest = fmax(charges->length[0], fmax(charges->length[1], charges->length[2]));
    for (int32_t size = good_size(order); size <= LARGEST; size = good_size(size + 2)) {
        for (int d = 0; d < 3; d++)
            grid[d] = good_size(fmax(order, size * charges->length[d] / longest));
        if (spme_grid_error(charges, alpha, order, influence, grid) <= error) return 1;
    }
    return 0;
}

/* The grid gets the smaller share, as correlations between charges lower its error more than that
 * of the pairs. What the chosen grid leaves of its own goes to the pairs: alpha is lowered until
 * both together are the tolerance. */
int spme_tune(const spme_charges *charges, double cutoff, double tolerance, int order,
              int influence, double *alpha, int32_t grid[3])
{
    const int alpha_given = *alpha > 0, grid_given = grid[0] > 0;
    if (!alpha_given) *alpha = alpha_of(charges, cutoff, 0.8 * tolerance);
    if (grid_given) return 1;
    if (!choose_grid(charges, *alpha, order, influence, 0.6 * tolerance, grid)) return 0;
    double low = alpha_given ? *alpha : alpha_of(charges, cutoff, tolerance), high = *alpha;
    for (int i = 0; i < 30 && !alpha_given; i++) {
        *alpha = (low + high) / 2;
        const double pairs = spme_pair_error(charges, cutoff, *alpha);
        const double mesh = spme_grid_error(charges, *alpha, order, influence, grid);
        if (pairs * pairs + mesh * mesh > tolerance * tolerance)
            low = *alpha;
        else
            high = *alpha;
    }
    return 1;
}
