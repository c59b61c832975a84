/* plane_wave_jastrow: a Jastrow factor of plane waves of a periodic cell, Psi = exp(J) D,
 *
 *     J = sum_i chi(r_i) + sum_{i<j} u(r_i - r_j),
 *     chi(r) = sum_G [c_G cos(G.r) + s_G sin(G.r)],    u(r) = sum_G c_G cos(G.r),    G = n1 b1 + n2 b2 + n3 b3,
 *
 * b the reciprocal lattice vectors, 2 pi included: the terms p and q of N. D. Drummond, M. D. Towler, R. J. Needs, Phys.
 * Rev. B 70, 235119 (2004), with a coefficient for each G instead of one for each star. They have the symmetry of the crystal
 * and reach into the corners of the cell, as functions of distances do not, and have no cusp. -ln |Psi|^2 is -2 J.
 * With G also -G is there, so that each pair of them is given once. */
#include <plugmc/potential.h>

typedef struct parameters {
    plugmc_list u_waves, chi_waves; /* n1 n2 n3 c; n1 n2 n3 c s */
    plugmc_list u_table, chi_table; /* G (1/length), then -2 c; -2 c, -2 s */
} parameters;

/* In double precision, whatever the other numbers have: phases of electrons that are not in the first cell are large. */
PLUGMC_FN real cosine(real x) { return (real)cos((double)x); }
PLUGMC_FN real sine(real x) { return (real)sin((double)x); }

enum { U_NUMBERS = 4, CHI_NUMBERS = 5 };

PLUGMC_FN real pair_energy_at(const parameters *p, plugmc_position at, plugmc_separation s,
                              plugmc_site a, plugmc_site b)
{
    real sum = 0;
    (void)at, (void)a, (void)b;
    for (int32_t k = 0; k < p->u_table.count; k += U_NUMBERS) {
        const real *g = p->u_table.values + k;
        sum += g[3] * cosine(g[0] * s.x + g[1] * s.y + g[2] * s.z);
    }
    return sum;
}

PLUGMC_FN void pair_derivative_at(const parameters *p, plugmc_position at, plugmc_separation s,
                                  plugmc_site a, plugmc_site b, real gradient[3], real *laplacian)
{
    (void)at, (void)a, (void)b;
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
    for (int32_t k = 0; k < p->u_table.count; k += U_NUMBERS) {
        const real *g = p->u_table.values + k, x = g[0] * s.x + g[1] * s.y + g[2] * s.z;
        const real slope = -g[3] * sine(x);
        for (int d = 0; d < 3; d++) gradient[d] += slope * g[d];
        *laplacian -= (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * g[3] * cosine(x);
    }
}

PLUGMC_FN real pair_range(const parameters *p)
{
    (void)p;
    return PLUGMC_NO_RANGE;
}

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real sum = 0;
    (void)a, (void)outside;
    for (int32_t k = 0; k < p->chi_table.count; k += CHI_NUMBERS) {
        const real *g = p->chi_table.values + k, x = g[0] * r.x + g[1] * r.y + g[2] * r.z;
        sum += g[3] * cosine(x) + g[4] * sine(x);
    }
    return sum;
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    (void)a;
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
    for (int32_t k = 0; k < p->chi_table.count; k += CHI_NUMBERS) {
        const real *g = p->chi_table.values + k, x = g[0] * r.x + g[1] * r.y + g[2] * r.z;
        const real c = cosine(x), s = sine(x), slope = g[4] * c - g[3] * s;
        for (int d = 0; d < 3; d++) gradient[d] += slope * g[d];
        *laplacian -= (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * (g[3] * c + g[4] * s);
    }
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE | PLUGMC_PAIR_POSITIONS)
#include <plugmc/pair.h>
#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
#include <string.h>

/* Reciprocal lattice vectors of a periodic box as rows, 2 pi included. */
static void reciprocal(const plugmc_box *box, double out[3][3])
{
    const double(*a)[3] = box->vector;
    for (int k = 0; k < 3; k++) {
        const double *b = a[(k + 1) % 3], *c = a[(k + 2) % 3];
        const double cross[3] = {b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2],
                                 b[0] * c[1] - b[1] * c[0]};
        const double volume = a[k][0] * cross[0] + a[k][1] * cross[1] + a[k][2] * cross[2];
        for (int d = 0; d < 3; d++) out[k][d] = 2 * M_PI * cross[d] / volume;
    }
}

/* n1 n2 n3 and `numbers` - 3 coefficients of each wave, no wave twice. */
static int check_waves(const plugmc_host *host, const char *key, const plugmc_list *list,
                       int numbers)
{
    if (list->count % numbers)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s has %d numbers, but each wave has %d: three whole numbers, then %s",
                          key, list->count, numbers,
                          numbers == U_NUMBERS ? "a coefficient" : "those of cosine and sine");
    for (int32_t k = 0; k < list->count; k += numbers) {
        const real *n = list->values + k;
        for (int d = 0; d < 3; d++)
            if (n[d] != floor(n[d]) || fabs(n[d]) > 1000)
                return host->fail(
                    host->context, PLUGMC_ERROR_INPUT,
                    "%s: wave %d has %g, where a whole number of a reciprocal lattice "
                    "vector should be",
                    key, k / numbers + 1, (double)n[d]);
        if (n[0] == 0 && n[1] == 0 && n[2] == 0)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%s: wave %d is 0 0 0, which is a constant", key, k / numbers + 1);
        for (int32_t j = 0; j < k; j += numbers)
            for (int sign = -1; sign < 2; sign += 2) {
                const real *m = list->values + j;
                if (n[0] == sign * m[0] && n[1] == sign * m[1] && n[2] == sign * m[2])
                    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                                      "%s: waves %d and %d are the same, or opposite", key,
                                      j / numbers + 1, k / numbers + 1);
            }
    }
    return PLUGMC_OK;
}

static int fill(const plugmc_host *host, const plugmc_list *waves, int numbers, plugmc_list *out)
{
    double b[3][3];
    reciprocal(&host->system->box, b);
    real *values = host->allocate(host->context, ((size_t)waves->count + 1) * sizeof *values);
    if (!values) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for waves");
    for (int32_t k = 0; k < waves->count; k += numbers) {
        const real *n = waves->values + k;
        for (int d = 0; d < 3; d++)
            values[k + d] =
                (real)((double)n[0] * b[0][d] + (double)n[1] * b[1][d] + (double)n[2] * b[2][d]);
        for (int i = 3; i < numbers; i++) values[k + i] = -2 * n[i];
    }
    *out = (plugmc_list){.values = values, .count = waves->count};
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const plugmc_box *box = &host->system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC || box->dimension != 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "plane waves need a periodic box in three dimensions");
    int code = check_waves(host, "u_waves", &p->u_waves, U_NUMBERS);
    if (!code) code = check_waves(host, "chi_waves", &p->chi_waves, CHI_NUMBERS);
    if (!code && !p->u_waves.count && !p->chi_waves.count)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there are no waves: give u_waves, chi_waves or both");
    if (!code) code = fill(host, &p->u_waves, U_NUMBERS, &p->u_table);
    return code ? code : fill(host, &p->chi_waves, CHI_NUMBERS, &p->chi_table);
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(
        parameters, u_waves, 0, "", -1e6, 1e6, "",
        "waves between two electrons: for each n1 n2 n3, the multiples of the reciprocal "
        "lattice vectors, and the coefficient of cos(G.r)"),
    PLUGMC_LIST_KEY(parameters, chi_waves, 0, "", -1e6, 1e6, "",
                    "waves of the cell: for each n1 n2 n3 and the coefficients of cos(G.r) and "
                    "sin(G.r)"),
    PLUGMC_LIST_DERIVED(parameters, u_table, "vectors and coefficients of u"),
    PLUGMC_LIST_DERIVED(parameters, chi_table, "those of chi"),
};

static const plugmc_potential potential = {
    .size = sizeof potential, .pair = &plugmc_pair_facet, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "plane_wave_jastrow",
              .summary = "Jastrow factor of a wave function in plane waves of the cell",
              .reference = "Drummond, Towler, Needs, Phys. Rev. B 70, 235119 (2004)",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
