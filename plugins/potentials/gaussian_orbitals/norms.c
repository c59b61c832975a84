/* norms.c: whether orbitals of a molecule have norm 1, as those of all programs have. If not, norms, signs or the order of
 * functions in the file are others than its format says, and so would be every energy.
 *
 * Overlaps of primitives are products of integrals over x, y and z by the recursion of S. Obara, A. Saika, J. Chem. Phys. 84,
 * 3963 (1986); solid harmonics are expanded in powers of x, y and z (H. B. Schlegel, M. J. Frisch, Int. J. Quantum Chem. 54,
 * 83 (1995)). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gaussian_orbitals.h"

enum {
    MOST_POWERS = (MOST_L + 1) * (MOST_L + 2) / 2,
    MOST_LOOKED_AT = 16 /* orbitals of a spin */
};

/* Every function of a shell as a sum of powers, [function][place_of_powers]. */
typedef double expansion[MOST_POWERS][MOST_POWERS];

static double choose(int n, int k) { return tgamma(n + 1) / (tgamma(k + 1) * tgamma(n - k + 1)); }

/* r^l P_l^|m| times cos(m phi), or sin(|m| phi) for m < 0. */
static void expand_harmonic(int l, int m, double out[MOST_POWERS])
{
    static const int cosine[4] = {1, 0, -1, 0}, sine[4] = {0, 1, 0, -1};
    const int n = abs(m);
    for (int k = 0; 2 * k <= l - n; k++) {
        const double legendre = (k % 2 ? -1 : 1) * pow(2, -l) * choose(l, k) *
                                choose(2 * l - 2 * k, l) * tgamma(l - 2 * k + 1) /
                                tgamma(l - 2 * k - n + 1);
        for (int p = 0; p <= n; p++) {
            const double angle = choose(n, p) * (m < 0 ? sine : cosine)[p % 4];
            for (int i = 0; i <= k; i++)
                for (int j = 0; j <= k - i; j++) /* r^(2 k) */
                    out[place_of_powers(l, n - p + 2 * i, p + 2 * j)] +=
                        legendre * angle * choose(k, i) * choose(k - i, j);
        }
    }
}

static void expand_shell(int l, int cartesian, expansion out)
{
    for (int f = 0; f < MOST_POWERS; f++)
        for (int i = 0; i < MOST_POWERS; i++) out[f][i] = cartesian && f == i;
    for (int m = -l; m <= l && !cartesian; m++) expand_harmonic(l, m, out[place_of_m(l, m)]);
}

/* Integrals over one coordinate of (x - A)^i (x - B)^j exp(-a (x - A)^2 - b (x - B)^2), less the factor
 * exp(-a b (A - B)^2 / (a + b)). */
static void line_overlaps(double a, double b, double distance, int i_most, int j_most,
                          double s[MOST_L + 1][MOST_L + 1])
{
    const double p = a + b, from_a = -b / p * distance, from_b = a / p * distance;
    s[0][0] = sqrt(M_PI / p);
    for (int i = 0; i <= i_most; i++)
        for (int j = 0; j <= j_most; j++) {
            if (i + j == 0) continue;
            if (i > 0)
                s[i][j] = from_a * s[i - 1][j] + ((i > 1 ? (i - 1) * s[i - 2][j] : 0) +
                                                  (j > 0 ? j * s[i - 1][j - 1] : 0)) /
                                                     (2 * p);
            else
                s[i][j] = from_b * s[i][j - 1] + (j > 1 ? (j - 1) * s[i][j - 2] : 0) / (2 * p);
        }
}

/* Overlaps of powers of two shells, primitives summed; 0: all are tiny. */
static int power_overlaps(const molecule *m, const gaussian_shell *a, const gaussian_shell *b,
                          double out[MOST_POWERS][MOST_POWERS])
{
    double d[3], square = 0, line[3][MOST_L + 1][MOST_L + 1];
    int any = 0;
    for (int e = 0; e < 3; e++) {
        d[e] = m->position[a->nucleus][e] - m->position[b->nucleus][e];
        square += d[e] * d[e];
    }
    for (int32_t k = a->first; k < a->first + a->primitives; k++)
        for (int32_t n = b->first; n < b->first + b->primitives; n++) {
            const double *u = m->primitive[k], *v = m->primitive[n];
            const double decay = u[0] * v[0] / (u[0] + v[0]) * square;
            if (decay > 50) continue;
            if (!any++) memset(out, 0, MOST_POWERS * sizeof *out);
            const double factor = u[1] * v[1] * exp(-decay);
            for (int e = 0; e < 3; e++) line_overlaps(u[0], v[0], d[e], a->l, b->l, line[e]);
            for (int x = a->l; x >= 0; x--)
                for (int y = a->l - x; y >= 0; y--)
                    for (int i = b->l; i >= 0; i--)
                        for (int j = b->l - i; j >= 0; j--)
                            out[place_of_powers(a->l, x, y)][place_of_powers(b->l, i, j)] +=
                                factor * line[0][x][i] * line[1][y][j] *
                                line[2][a->l - x - y][b->l - i - j];
        }
    return any;
}

/* Those that are looked at: every so many of a spin, the first among them. */
static int32_t stride_of(const gaussian_orbitals *g, int s)
{
    return (g->wanted[s] + MOST_LOOKED_AT - 1) / MOST_LOOKED_AT;
}

/* Adds what two shells contribute to the norms of the occupied orbitals. */
static void add_pair(const gaussian_orbitals *g, const expansion expanded[2][MOST_L + 1],
                     const gaussian_shell *a, const gaussian_shell *b, double *norm[2])
{
    const molecule *m = &g->source;
    const double twice = a == b ? 1 : 2;
    double powers[MOST_POWERS][MOST_POWERS];
    if (!power_overlaps(m, a, b, powers)) return;
    for (int32_t f = 0; f < functions_of_shell(a->l, a->cartesian); f++)
        for (int32_t h = 0; h < functions_of_shell(b->l, b->cartesian); h++) {
            double overlap = 0;
            for (int i = 0; i < functions_of_shell(a->l, 1); i++)
                for (int j = 0; j < functions_of_shell(b->l, 1); j++)
                    overlap += expanded[a->cartesian][a->l][f][i] *
                               expanded[b->cartesian][b->l][h][j] * powers[i][j];
            for (int s = 0; s < 2; s++)
                for (int32_t o = 0; o < g->wanted[s]; o += stride_of(g, s)) {
                    const double *c =
                        m->spin[s].real + (size_t)g->occupied[s][o] * (size_t)m->functions;
                    norm[s][o] += twice * c[a->function + f] * c[b->function + h] * overlap;
                }
        }
}

static void say_worst(const gaussian_orbitals *g, double *norm[2])
{
    double worst = 1e-3;
    int at[2] = {0, -1};
    for (int s = 0; s < 2; s++)
        for (int32_t o = 0; o < g->wanted[s]; o += stride_of(g, s))
            if (fabs(norm[s][o] - 1) > worst) {
                worst = fabs(norm[s][o] - 1);
                at[0] = s, at[1] = o;
            }
    if (at[1] < 0) return;
    g->host->warn(g->host->context,
                  "%s: orbital %d of spin %s has norm %.4g and not 1: are norms and order of "
                  "functions in the file those of its format (docs/vmc.md)?",
                  g->keys.file, g->occupied[at[0]][at[1]] + 1, at[0] ? "down" : "up",
                  norm[at[0]][at[1]]);
}

int gaussian_check_norms(const gaussian_orbitals *g)
{
    const molecule *m = &g->source;
    const size_t count[2] = {(size_t)g->wanted[0], (size_t)g->wanted[1]};
    int code = PLUGMC_OK;
    if (m->periodic || m->spin[0].imaginary) return PLUGMC_OK;
    expansion(*expanded)[MOST_L + 1] = malloc(2 * sizeof *expanded);
    double *norm[2] = {calloc(count[0] + 1, sizeof **norm), calloc(count[1] + 1, sizeof **norm)};
    if (!expanded || !norm[0] || !norm[1])
        code = g->host->fail(g->host->context, PLUGMC_ERROR_MEMORY, "no memory for overlaps");
    for (int k = 0; k < 2 && !code; k++)
        for (int l = 0; l <= MOST_L; l++) expand_shell(l, k, expanded[k][l]);
    for (int32_t a = 0; a < m->shells && !code; a++)
        for (int32_t b = 0; b <= a; b++)
            add_pair(g, (const expansion(*)[MOST_L + 1]) expanded, &m->shell[a], &m->shell[b],
                     norm);
    if (!code) say_worst(g, norm);
    free(expanded);
    free(norm[0]);
    free(norm[1]);
    return code;
}
