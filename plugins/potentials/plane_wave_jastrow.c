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
#include <plugmc/tally.h>

typedef struct parameters {
    plugmc_list u_vectors, chi_vectors; /* n1 n2 n3 of each wave */
    plugmc_list u, chi;                 /* c of each wave; c s */
    plugmc_list u_table, chi_table;     /* G (1/length), then -2 c; -2 c, -2 s */
} parameters;

/* In double precision, whatever the other numbers have: phases of electrons that are not in the first cell are large. */
PLUGMC_FN real cosine(real x) { return (real)cos((double)x); }
PLUGMC_FN real sine(real x) { return (real)sin((double)x); }

enum { U_NUMBERS = 4, CHI_NUMBERS = 5 }; /* of a wave in the tables */

PLUGMC_FN real square_of(const real *g) { return g[0] * g[0] + g[1] * g[1] + g[2] * g[2]; }

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
        *laplacian -= square_of(g) * g[3] * cosine(x);
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
        *laplacian -= square_of(g) * (g[3] * c + g[4] * s);
    }
}

/* O_k = cos(G.s), of whose Laplacian both electrons have a part. */
PLUGMC_FN void pair_variational(const parameters *p, plugmc_position at, plugmc_separation s,
                                plugmc_site a, plugmc_site b, const plugmc_tally *t)
{
    (void)at, (void)a, (void)b;
    for (int32_t k = 0; k < p->u_table.count / U_NUMBERS; k++) {
        const real *g = p->u_table.values + U_NUMBERS * k;
        const real x = g[0] * s.x + g[1] * s.y + g[2] * s.z, c = cosine(x);
        double along = 0;
        for (int d = 0; d < 3; d++) along += (t->drift_a[d] - t->drift_b[d]) * (double)g[d];
        plugmc_tally_add(t, k, c, square_of(g) * c + (real)along * sine(x));
    }
}

PLUGMC_FN void field_variational(const parameters *p, plugmc_position r, plugmc_site a,
                                 const plugmc_tally *t)
{
    const int32_t first = p->u_table.count / U_NUMBERS;
    (void)a;
    for (int32_t k = 0; k < p->chi_table.count / CHI_NUMBERS; k++) {
        const real *g = p->chi_table.values + CHI_NUMBERS * k;
        const real x = g[0] * r.x + g[1] * r.y + g[2] * r.z, c = cosine(x), s = sine(x),
                   half = square_of(g) / 2;
        double along = 0;
        for (int d = 0; d < 3; d++) along += t->drift_a[d] * (double)g[d];
        plugmc_tally_add(t, first + 2 * k, c, half * c + (real)along * s);
        plugmc_tally_add(t, first + 2 * k + 1, s, half * s - (real)along * c);
    }
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE | PLUGMC_PAIR_POSITIONS)
#include <plugmc/pair.h>
#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
#include <string.h>

#include <plugmc/wave.h>

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

/* Vectors of whole numbers, none twice, and `each` coefficients of every wave; a single 0 stands for zeros. */
static int check_waves(const plugmc_host *host, const char *name, const plugmc_list *vectors,
                       const plugmc_list *list, int each)
{
    const int32_t waves = vectors->count / 3;
    if (vectors->count % 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s_vectors has %d numbers, but each wave has three", name,
                          vectors->count);
    if (list->count != each * waves && !(list->count == 1 && list->values[0] == 0 && waves))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s has %d numbers, but %d waves need %d (a single 0 stands for zeros)",
                          name, list->count, waves, each * waves);
    for (int32_t k = 0; k < waves; k++) {
        const real *n = vectors->values + 3 * k;
        for (int d = 0; d < 3; d++)
            if (n[d] != floor(n[d]))
                return host->fail(
                    host->context, PLUGMC_ERROR_INPUT,
                    "%s_vectors: wave %d has %g, where a whole number of a reciprocal "
                    "lattice vector should be",
                    name, k + 1, (double)n[d]);
        if (n[0] == 0 && n[1] == 0 && n[2] == 0)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%s_vectors: wave %d is 0 0 0, which is a constant", name, k + 1);
        for (int32_t j = 0; j < k; j++)
            for (int sign = -1; sign < 2; sign += 2) {
                const real *m = vectors->values + 3 * j;
                if (n[0] == sign * m[0] && n[1] == sign * m[1] && n[2] == sign * m[2])
                    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                                      "%s_vectors: waves %d and %d are the same, or opposite", name,
                                      j + 1, k + 1);
            }
    }
    return PLUGMC_OK;
}

/* Coefficients go to the tables. */
static void fill_tables(parameters *p)
{
    real *u = (real *)p->u_table.values, *chi = (real *)p->chi_table.values;
    for (int32_t k = 0; k < p->u.count; k++) u[U_NUMBERS * k + 3] = -2 * p->u.values[k];
    for (int32_t k = 0; k < p->chi.count; k++)
        chi[CHI_NUMBERS * (k / 2) + 3 + k % 2] = -2 * p->chi.values[k];
}

/* Memory of our own for coefficients, and a table with the vectors. */
static int make_table(const plugmc_host *host, const plugmc_list *vectors, plugmc_list *list,
                      int each, plugmc_list *out)
{
    const int32_t waves = vectors->count / 3;
    double b[3][3];
    reciprocal(&host->system->box, b);
    real *own = host->allocate(host->context, ((size_t)(each * waves) + 1) * sizeof *own),
         *values =
             host->allocate(host->context, ((size_t)((each + 3) * waves) + 1) * sizeof *values);
    if (!own || !values)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for waves");
    for (int32_t k = 0; k < each * waves; k++)
        own[k] = list->count == each * waves ? list->values[k] : 0;
    for (int32_t k = 0; k < waves; k++)
        for (int d = 0; d < 3; d++)
            for (int i = 0; i < 3; i++)
                values[(each + 3) * k + d] += (real)((double)vectors->values[3 * k + i] * b[i][d]);
    *list = (plugmc_list){.values = own, .count = each * waves};
    *out = (plugmc_list){.values = values, .count = (each + 3) * waves};
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const plugmc_box *box = &host->system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC || box->dimension != 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "plane waves need a periodic box in three dimensions");
    int code = check_waves(host, "u", &p->u_vectors, &p->u, 1);
    if (!code) code = check_waves(host, "chi", &p->chi_vectors, &p->chi, 2);
    if (!code && !p->u_vectors.count && !p->chi_vectors.count)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there are no waves: give u_vectors, chi_vectors or both");
    if (!code) code = make_table(host, &p->u_vectors, &p->u, 1, &p->u_table);
    if (!code) code = make_table(host, &p->chi_vectors, &p->chi, 2, &p->chi_table);
    if (!code) fill_tables(p);
    return code;
}

/* ---- Variational parameters ------------------------------------------------------------------ */

static int64_t variational_count(const void *instance)
{
    const parameters *p = instance;
    return (int64_t)p->u.count + p->chi.count;
}

static int variational_number(const void *instance, int64_t k, plugmc_variational_parameter *out)
{
    const int64_t chi = ((const parameters *)instance)->u.count;
    out->key = k < chi ? "u" : "chi";
    out->place = k < chi ? k : k - chi;
    return PLUGMC_OK;
}

static int variational_get(const void *instance, double *values)
{
    const parameters *p = instance;
    for (int32_t k = 0; k < p->u.count; k++) *values++ = (double)p->u.values[k];
    for (int32_t k = 0; k < p->chi.count; k++) *values++ = (double)p->chi.values[k];
    return PLUGMC_OK;
}

static int variational_set(void *instance, const double *values)
{
    parameters *p = instance;
    for (int32_t k = 0; k < p->u.count; k++) ((real *)p->u.values)[k] = (real)*values++;
    for (int32_t k = 0; k < p->chi.count; k++) ((real *)p->chi.values)[k] = (real)*values++;
    fill_tables(p);
    return PLUGMC_OK;
}

/* They are the sums. */
static int64_t variational_sums(const parameters *p) { return variational_count(p); }

static void variational_combine(const parameters *p, const double *sums, double *row)
{
    for (int64_t k = 0; k < variational_count(p); k++) row[k] += sums[k];
}

#define PLUGMC_VARIATIONAL (PLUGMC_VARIATIONAL_PAIR | PLUGMC_VARIATIONAL_FIELD)
#include <plugmc/variational.h>

static const char *const variational_tables[] = {"u", "chi", "u_table", "chi_table", NULL};

static const plugmc_variational variational = {.size = sizeof variational,
                                               .count = variational_count,
                                               .number = variational_number,
                                               .get = variational_get,
                                               .set = variational_set,
                                               PLUGMC_VARIATIONAL_MEMBERS,
                                               .tables = variational_tables};

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, u_vectors, 0, "", -1000, 1000, "",
                    "waves between two electrons: n1 n2 n3 of each, multiples of the reciprocal "
                    "lattice vectors"),
    PLUGMC_LIST_KEY(parameters, u, 0, "", -1e6, 1e6, "",
                    "coefficients of cos(G.r), one a wave; a single 0 stands for zeros"),
    PLUGMC_LIST_KEY(parameters, chi_vectors, 0, "", -1000, 1000, "",
                    "waves of the cell: n1 n2 n3 of each"),
    PLUGMC_LIST_KEY(
        parameters, chi, 0, "", -1e6, 1e6, "",
        "coefficients of cos(G.r) and sin(G.r), two a wave; a single 0 stands for zeros"),
    PLUGMC_LIST_DERIVED(parameters, u_table, "vectors and coefficients of u"),
    PLUGMC_LIST_DERIVED(parameters, chi_table, "those of chi"),
};

static const plugmc_potential potential = {
    .size = sizeof potential, .pair = &plugmc_pair_facet, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "plane_wave_jastrow",
              .summary = "Jastrow factor of a wave function in plane waves of the cell",
              .reference = "Drummond, Towler, Needs, Phys. Rev. B 70, 235119 (2004)",
              PLUGMC_KEYS(parameters, table),
              PLUGMC_OFFERS({PLUGMC_VARIATIONAL_PARAMETERS, &variational}), .configure = configure,
              .potential = &potential);
#endif
