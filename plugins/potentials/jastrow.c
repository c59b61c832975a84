/* jastrow: a Jastrow factor exp(-J) of a many-electron wave function,
 *
 *     J = sum_{i<j} u(r_ij) + sum_{i,I} chi(r_iI),
 *
 * as a term of -ln |Psi|^2: the energy over kT of a pair is 2 u, that of an electron 2 chi.
 *
 * u (one function for like and one for unlike spins, which are species) and chi are cubic B-splines
 * of the distance with evenly spaced knots, and vanish smoothly at their cutoffs (J. Kim et al.,
 * J. Phys.: Condens. Matter 30, 195901 (2018), section 5). n coefficients p_0 ... p_{n-1} sit at
 * the knots 0 ... n-1 of spacing cutoff / (n + 1); one more before the origin is chosen so that the
 * slope there is the cusp of T. Kato, Commun. Pure Appl. Math. 10, 151 (1957): du/dr = -1/4 for
 * like and -1/2 for unlike spins in atomic units. So coefficients can be taken over from QMCPACK.
 *
 * chi belongs to one kind of ion; give one section for each kind (plugin = jastrow). It is summed
 * over all periodic images of an ion, which are listed once: those that are within the cutoff of
 * the cell. Electrons have to be in the cell, as all movers have them.
 *
 * On the CPU and on the GPU a spline is a table of cubic polynomials, one a knot interval, and a
 * last row of zeros for everything beyond the cutoff.
 */
#include <plugmc/potential.h>
#include <plugmc/tally.h>

typedef struct parameters {
    plugmc_list like, unlike, chi;         /* coefficients */
    real like_cusp, unlike_cusp, chi_cusp; /* 1/length */
    real u_cutoff, chi_cutoff;             /* length */
    plugmc_list ions, tile;                /* [ions][3] length; [3] */
    const char *file;
    plugmc_list u_table;                     /* [like, unlike][intervals + 1][4] */
    plugmc_list chi_table;                   /* [intervals + 1][4] */
    plugmc_list centres;                     /* [images of ions][3], length */
    real u_reach, u_intervals, u_per_length; /* length, 1, 1/length */
    real chi_intervals, chi_per_length;      /* 1, 1/length */
    double u_spacing, chi_spacing;           /* length, between knots; for the host alone */
} parameters;

/* Where in a table the polynomial of x = r/spacing begins, and how far x is into its interval. */
PLUGMC_FN int32_t interval(real x, real intervals, real *t)
{
    real inside = x < intervals ? x : intervals;
    int32_t k = (int32_t)inside;
    *t = inside - (real)k;
    return 4 * k;
}

PLUGMC_FN real cubic(const real *c, real t) { return c[0] + t * (c[1] + t * (c[2] + t * c[3])); }

/* Slope over r and curvature; d is 1/spacing. */
PLUGMC_FN void cubic_slopes(const real *c, real t, real r, real d, real *first, real *second)
{
    real floor = (real)1e-30;
    *first = d * (c[1] + t * (2 * c[2] + t * 3 * c[3])) / (r > floor ? r : floor);
    *second = d * d * (2 * c[2] + t * 6 * c[3]);
}

PLUGMC_FN int32_t u_of(const parameters *p, plugmc_site a, plugmc_site b)
{
    return a.species == b.species ? 0 : 4 * ((int32_t)p->u_intervals + 1);
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    real t;
    int32_t k = interval(plugmc_sqrt(s.r2) * p->u_per_length, p->u_intervals, &t);
    return cubic(p->u_table.values + u_of(p, a, b) + k, t);
}

PLUGMC_FN real pair_range(const parameters *p) { return p->u_reach; }

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    real t, r = plugmc_sqrt(s.r2);
    int32_t k = interval(r * p->u_per_length, p->u_intervals, &t);
    cubic_slopes(p->u_table.values + u_of(p, a, b) + k, t, r, p->u_per_length, first, second);
}

/* From image number i / 3 of an ion. */
PLUGMC_FN plugmc_separation from_ion(const parameters *p, plugmc_position r, int32_t i)
{
    plugmc_separation s;
    s.x = r.x - p->centres.values[i];
    s.y = r.y - p->centres.values[i + 1];
    s.z = r.z - p->centres.values[i + 2];
    s.r2 = s.x * s.x + s.y * s.y + s.z * s.z;
    return s;
}

/* The square of a distance from which chi is exactly 0, whatever the rounding: most images are beyond it. */
PLUGMC_FN real chi_reach_square(const parameters *p)
{
    const real reach = p->chi_intervals / p->chi_per_length;
    return (real)1.0001 * reach * reach;
}

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    const real far = chi_reach_square(p);
    real sum = 0;
    (void)a, (void)outside;
    for (int32_t i = 0; i < p->centres.count; i += 3) {
        const plugmc_separation s = from_ion(p, r, i);
        real t;
        if (s.r2 >= far) continue;
        int32_t k = interval(plugmc_sqrt(s.r2) * p->chi_per_length, p->chi_intervals, &t);
        sum += cubic(p->chi_table.values + k, t);
    }
    return sum;
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    const real far = chi_reach_square(p);
    (void)a;
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
    for (int32_t i = 0; i < p->centres.count; i += 3) {
        const plugmc_separation s = from_ion(p, r, i);
        real t, first, second;
        if (s.r2 >= far) continue;
        real distance = plugmc_sqrt(s.r2);
        int32_t k = interval(distance * p->chi_per_length, p->chi_intervals, &t);
        cubic_slopes(p->chi_table.values + k, t, distance, p->chi_per_length, &first, &second);
        gradient[0] += first * s.x;
        gradient[1] += first * s.y;
        gradient[2] += first * s.z;
        *laplacian += second + 2 * first;
    }
}

/* ---- What coefficients have to do with it ---- */

/* Adds the four B-splines that are not 0 at r to the sums of their coefficients, of which there are `count` from
 * `first` on; `d` is 1/spacing. J is linear in them, so d ln Psi / dp is minus a sum of these. The knot before the
 * origin takes part in the coefficient at 1 and keeps the cusp as it is. */
PLUGMC_FN void add_splines(const plugmc_tally *t, int32_t first, int32_t count, real d, real r,
                           int32_t electrons, real along)
{
    const real x = r * d, floor = (real)1e-30;
    if (count < 2 || !(x < (real)(count + 1))) return;
    const int32_t k = (int32_t)x;
    const real s = x - (real)k, u = 1 - s, over = d / (r > floor ? r : floor);
    const real value[4] = {u * u * u / 6, (s * s * (3 * s - 6) + 4) / 6,
                           (u * u * (3 * u - 6) + 4) / 6, s * s * s / 6};
    const real slope[4] = {-u * u / 2, s * (3 * s - 4) / 2, -u * (3 * u - 4) / 2, s * s / 2};
    const real curvature[4] = {u, 3 * s - 2, 3 * u - 2, s};
    for (int32_t j = 0; j < 4; j++) {
        const int32_t knot = k - 1 + j;
        if (knot < count)
            plugmc_tally_radial(t, first + (knot < 0 ? 1 : knot), electrons, along, -value[j],
                                -slope[j] * over, -curvature[j] * d * d);
    }
}

/* Coefficients are numbered through like, unlike and chi. */
PLUGMC_FN void pair_variational(const parameters *p, plugmc_position at, plugmc_separation s,
                                plugmc_site a, plugmc_site b, const plugmc_tally *t)
{
    const int same = a.species == b.species;
    (void)at;
    add_splines(t, same ? 0 : p->like.count, same ? p->like.count : p->unlike.count,
                p->u_per_length, plugmc_sqrt(s.r2), 2, plugmc_tally_along(t, s));
}

PLUGMC_FN void field_variational(const parameters *p, plugmc_position r, plugmc_site a,
                                 const plugmc_tally *t)
{
    const real far = chi_reach_square(p);
    (void)a;
    for (int32_t i = 0; i < p->centres.count; i += 3) {
        const plugmc_separation s = from_ion(p, r, i);
        if (s.r2 < far)
            add_splines(t, p->like.count + p->unlike.count, p->chi.count, p->chi_per_length,
                        plugmc_sqrt(s.r2), 1, plugmc_tally_along(t, s));
    }
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>
#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
#include <plugmc/everything.h>
#include <plugmc/species_pairs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "box_default.h"
#include "ions_of_orbitals.h"

/* ---- A file with coefficients --------------------------------------------------------------- */

static int lacks_memory(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the Jastrow factor");
}

/* Appends the numbers of a line to a list; returns what is wrong with them, or NULL. */
static const char *append_numbers(const plugmc_host *host, char *text, plugmc_list *list)
{
    const size_t most = (size_t)list->count + strlen(text) / 2 + 1;
    real *values = host->allocate(host->context, most * sizeof *values);
    char *rest = text, *word, *end;
    if (!values) return "needs more memory than there is";
    for (int32_t i = 0; i < list->count; i++) values[i] = list->values[i];
    list->values = values;
    while ((word = strtok_r(rest, " \t\r\n", &rest))) {
        double value = strtod(word, &end);
        if (*end || !isfinite(value)) return "has something that is not a number";
        values[list->count++] = (real)value;
    }
    return NULL;
}

/* Lines "like ...", "unlike ...", "chi ..." with coefficients and "ions ..." with positions, each
 * as often as wanted; # begins a comment. */
static int read_file(parameters *p, const plugmc_host *host)
{
    plugmc_list *const lists[] = {&p->like, &p->unlike, &p->chi, &p->ions};
    static const char *const names[] = {"like", "unlike", "chi", "ions"};
    enum { KINDS = 4 };
    int given[KINDS], number = 0, code = PLUGMC_OK;
    char *line = NULL;
    size_t size = 0;
    FILE *in = fopen(p->file, "r");
    if (!in)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "file '%s' cannot be opened", p->file);
    for (int k = 0; k < KINDS; k++) given[k] = lists[k]->count > 0;
    while (!code && getline(&line, &size, in) >= 0) {
        char *rest = line, *comment = strchr(line, '#'), *word;
        int kind = 0;
        const char *wrong = NULL;
        number++;
        if (comment) *comment = 0;
        if (!(word = strtok_r(rest, " \t\r\n", &rest))) continue;
        while (kind < KINDS && strcmp(names[kind], word)) kind++;
        if (kind == KINDS)
            wrong = "does not begin with like, unlike, chi or ions";
        else if (given[kind])
            wrong = "repeats a list of this section";
        else
            wrong = append_numbers(host, rest, lists[kind]);
        if (wrong)
            code = host->fail(host->context, PLUGMC_ERROR_INPUT, "file '%s', line %d %s", p->file,
                              number, wrong);
    }
    free(line);
    fclose(in);
    return code;
}

/* ---- Tables --------------------------------------------------------------------------------- */

/* Twice the spline as polynomials of t in [0, 1) on each of the n + 1 intervals. A cubic B-spline
 * with coefficients a, b, c, d around an interval is (a (1-t)^3 + b (3t^3 - 6t^2 + 4) + c (-3t^3 +
 * 3t^2 + 3t + 1) + d t^3) / 6. */
static void fill_table(const plugmc_list *coefficients, double cusp, double spacing, real *out)
{
    const int32_t n = coefficients->count;
    if (!n) return;
    for (int32_t k = 0; k <= n; k++) {
        double q[4];
        for (int j = 0; j < 4; j++) {
            const int32_t at = k - 1 + j; /* knot of the coefficient */
            q[j] = at < 0   ? (double)coefficients->values[1] - 2 * spacing * cusp
                   : at < n ? (double)coefficients->values[at]
                            : 0;
        }
        out[4 * k] = (real)((q[0] + 4 * q[1] + q[2]) / 3);
        out[4 * k + 1] = (real)(q[2] - q[0]);
        out[4 * k + 2] = (real)(q[0] - 2 * q[1] + q[2]);
        out[4 * k + 3] = (real)((q[3] - q[0]) / 3 + q[1] - q[2]);
    }
}

/* Once the tables and their spacings are there; and again, when coefficients have changed. The tables are our
 * own memory. */
static void fill_tables(parameters *p)
{
    real *u = (real *)p->u_table.values;
    fill_table(&p->like, (double)p->like_cusp, p->u_spacing, u);
    fill_table(&p->unlike, (double)p->unlike_cusp, p->u_spacing, u + p->u_table.count / 2);
    fill_table(&p->chi, (double)p->chi_cusp, p->chi_spacing, (real *)p->chi_table.values);
}

static int choose_cutoff(const plugmc_host *host, const char *key, real given, double *out)
{
    const double radius = plugmc_half_box(&host->system->box);
    *out = given > 0 ? (double)given : radius;
    if (!isfinite(*out))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s must be given, since the box is not periodic", key);
    char what[32];
    snprintf(what, sizeof what, "%s = 0", key);
    return given > 0 ? PLUGMC_OK : box_default_check(host, what, "give a length");
}

static int too_few(const plugmc_host *host, const char *key, const plugmc_list *list)
{
    if (list->count == 0 || list->count >= 2) return 0;
    return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s needs at least two coefficients", key);
}

static int prepare_u(parameters *p, const plugmc_host *host)
{
    const plugmc_list *like = &p->like, *unlike = &p->unlike;
    const double radius = plugmc_half_box(&host->system->box);
    const int32_t n = like->count > unlike->count ? like->count : unlike->count;
    double cutoff = 0;
    int code = too_few(host, "like", like);
    if (!code) code = too_few(host, "unlike", unlike);
    if (!code && n) code = choose_cutoff(host, "u_cutoff", p->u_cutoff, &cutoff);
    if (code) return code;
    if (like->count && unlike->count && like->count != unlike->count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "like has %d coefficients but unlike has %d: the numbers must be "
                          "equal",
                          like->count, unlike->count);
    if (cutoff > radius * (1 + 1e-6))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "u_cutoff = %g exceeds the distance to the nearest image, %g", cutoff,
                          radius);
    const int32_t rows = n ? n + 2 : 1;
    real *table = host->allocate(host->context, 8 * (size_t)rows * sizeof *table);
    if (!table) return lacks_memory(host);
    p->u_table.values = table;
    p->u_table.count = 8 * rows;
    p->u_intervals = (real)(rows - 1);
    p->u_spacing = cutoff / (n + 1);
    p->u_per_length = (real)(n ? 1 / p->u_spacing : 0);
    p->u_reach = (real)cutoff;
    return PLUGMC_OK;
}

/* Distance between the lattice planes that d counts. */
static double plane_distance(const plugmc_box *box, int d)
{
    double square = 0;
    for (int e = 0; e < 3; e++) square += box->inverse[e][d] * box->inverse[e][d];
    return 1 / sqrt(square);
}

/* Images with fractional coordinates between -reach and 1 + reach, counted, and written if out is
 * given. `from` is the ion, fractional in [0, 1). */
static int64_t images_of(const plugmc_box *box, const double from[3], const double reach[3],
                         real *out)
{
    int64_t count = 0;
    int low[3], high[3];
    for (int d = 0; d < 3; d++) {
        low[d] = (int)ceil(-reach[d] - from[d]);
        high[d] = (int)floor(1 + reach[d] - from[d]);
    }
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            for (int k = low[2]; k <= high[2]; k++, count++) {
                const double f[3] = {from[0] + i, from[1] + j, from[2] + k};
                for (int d = 0; d < 3 && out; d++)
                    out[3 * count + d] =
                        (real)(f[0] * box->vector[0][d] + f[1] * box->vector[1][d] +
                               f[2] * box->vector[2][d]);
            }
    return count;
}

/* Fractional coordinates in [0, 1) of ion i of copy c of the primitive cell, which is the
 * simulation cell over `tile`. */
static void place_ion(const parameters *p, const plugmc_box *box, int32_t i, int32_t c, double f[3])
{
    const int32_t tile[3] = {(int32_t)p->tile.values[0], (int32_t)p->tile.values[1],
                             (int32_t)p->tile.values[2]};
    const int32_t copy[3] = {c % tile[0], c / tile[0] % tile[1], c / tile[0] / tile[1]};
    for (int d = 0; d < 3; d++) {
        f[d] = (double)copy[d] / tile[d];
        for (int e = 0; e < 3; e++) f[d] += (double)p->ions.values[3 * i + e] * box->inverse[e][d];
        f[d] -= floor(f[d]);
    }
}

/* The places of all ions that can be within the cutoff of a point of the cell; a thousandth of the
 * cell more, since electrons may be beyond its faces by rounding. */
static int prepare_centres(parameters *p, const plugmc_host *host, double cutoff)
{
    const plugmc_box *box = &host->system->box;
    const int32_t ions = p->ions.count / 3;
    const int32_t copies = (int32_t)(p->tile.values[0] * p->tile.values[1] * p->tile.values[2]);
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) {
        p->centres = p->ions;
        return PLUGMC_OK;
    }
    double reach[3], f[3];
    int64_t count = 0, filled = 0;
    for (int d = 0; d < 3; d++) reach[d] = cutoff / plane_distance(box, d) + 1e-3;
    for (int32_t i = 0; i < ions * copies; i++) {
        place_ion(p, box, i / copies, i % copies, f);
        count += images_of(box, f, reach, NULL);
    }
    real *centres = host->allocate(host->context, 3 * (size_t)count * sizeof *centres);
    if (!centres || count > INT32_MAX / 3) return lacks_memory(host);
    for (int32_t i = 0; i < ions * copies; i++) {
        place_ion(p, box, i / copies, i % copies, f);
        filled += images_of(box, f, reach, centres + 3 * filled);
    }
    p->centres.values = centres;
    p->centres.count = (int32_t)(3 * count);
    return PLUGMC_OK;
}

static int prepare_chi(parameters *p, const plugmc_host *host)
{
    const int32_t n = p->chi.count;
    double cutoff = 0;
    int code = too_few(host, "chi", &p->chi);
    if (!code && n) code = choose_cutoff(host, "chi_cutoff", p->chi_cutoff, &cutoff);
    if (!code && n) code = box_default_check(host, "the place of ions", "omit chi");
    if (code) return code;
    if (p->ions.count % 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "ions has %d numbers, which is not a multiple of three", p->ions.count);
    if (!n != !p->ions.count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s",
                          n ? "chi needs the positions of the ions that it belongs to: give ions"
                            : "ions are given, but no chi of the distance to them");
    for (int d = 0; d < 3; d++)
        if (p->tile.values[d] != floor((double)p->tile.values[d]))
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "tile needs three whole numbers");
    real *table = host->allocate(host->context, 4 * ((size_t)n + 2) * sizeof *table);
    if (!table) return lacks_memory(host);
    p->chi_table.values = table;
    p->chi_table.count = n ? 4 * (n + 2) : 4;
    p->chi_intervals = (real)(n ? n + 1 : 0);
    p->chi_spacing = cutoff / (n + 1);
    p->chi_per_length = (real)(n ? 1 / p->chi_spacing : 0);
    return n ? prepare_centres(p, host, cutoff) : PLUGMC_OK;
}

/* Copies that may be written to. */
static int own_coefficients(parameters *p, const plugmc_host *host)
{
    plugmc_list *const lists[] = {&p->like, &p->unlike, &p->chi};
    for (int k = 0; k < 3; k++) {
        real *own = host->allocate(host->context, ((size_t)lists[k]->count + 1) * sizeof *own);
        if (!own) return lacks_memory(host);
        for (int32_t i = 0; i < lists[k]->count; i++) own[i] = lists[k]->values[i];
        lists[k]->values = own;
    }
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    int code = *p->file ? read_file(p, host) : PLUGMC_OK;
    if (!code && !p->like.count && !p->unlike.count && !p->chi.count)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there are no coefficients: give like, unlike, chi or a file with them");
    if (!code) code = prepare_u(p, host);
    if (!code) code = prepare_chi(p, host);
    if (!code) code = own_coefficients(p, host);
    if (!code) fill_tables(p);
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    const parameters *p = instance;
    const plugmc_box *box = &host->system->box;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const int32_t copies =
        periodic ? (int32_t)(p->tile.values[0] * p->tile.values[1] * p->tile.values[2]) : 1;
    ion_comparison comparison = ion_comparison_begin(host);
    for (int32_t i = 0; i < p->ions.count / 3 * copies; i++) {
        double f[3], r[3];
        if (periodic) place_ion(p, box, i / copies, i % copies, f);
        for (int e = 0; e < 3; e++)
            r[e] = periodic ? f[0] * box->vector[0][e] + f[1] * box->vector[1][e] +
                                  f[2] * box->vector[2][e]
                            : (double)p->ions.values[3 * i + e];
        ion_comparison_add(&comparison, r);
    }
    ion_comparison_end(&comparison);
    return PLUGMC_OK;
}

/* ---- Coefficients as variational parameters ------------------------------------------------------------- */

/* The three lists one after the other. */
static int64_t variational_count(const void *instance)
{
    const parameters *p = instance;
    return (int64_t)p->like.count + p->unlike.count + p->chi.count;
}

static int free_number(const void *instance, int64_t k, plugmc_variational_parameter *out)
{
    const parameters *p = instance;
    const int64_t unlike = p->like.count, chi = unlike + p->unlike.count;
    out->key = k < unlike ? "like" : k < chi ? "unlike" : "chi";
    out->place = k < unlike ? k : k < chi ? k - unlike : k - chi;
    return PLUGMC_OK;
}

static int free_get(const void *instance, double *values)
{
    const parameters *p = instance;
    const plugmc_list *const lists[] = {&p->like, &p->unlike, &p->chi};
    for (int k = 0; k < 3; k++)
        for (int32_t i = 0; i < lists[k]->count; i++) *values++ = (double)lists[k]->values[i];
    return PLUGMC_OK;
}

static int free_set(void *instance, const double *values)
{
    parameters *p = instance;
    const plugmc_list *const lists[] = {&p->like, &p->unlike, &p->chi};
    for (int k = 0; k < 3; k++) {
        real *own = (real *)lists[k]->values;
        for (int32_t i = 0; i < lists[k]->count; i++) own[i] = (real)*values++;
    }
    fill_tables(p);
    return PLUGMC_OK;
}

/* Numbers of the three lists; they are the sums. */
static int64_t variational_sums(const parameters *p) { return variational_count(p); }

static void variational_combine(const parameters *p, const double *sums, double *row)
{
    for (int64_t k = 0; k < variational_count(p); k++) row[k] += sums[k];
}

#define PLUGMC_VARIATIONAL (PLUGMC_VARIATIONAL_PAIR | PLUGMC_VARIATIONAL_FIELD)
#include <plugmc/variational.h>

static const char *const free_tables[] = {"like", "unlike", "chi", "u_table", "chi_table", NULL};

static const plugmc_variational free_facet = {.size = sizeof free_facet,
                                              .count = variational_count,
                                              .number = free_number,
                                              .get = free_get,
                                              .set = free_set,
                                              PLUGMC_VARIATIONAL_MEMBERS,
                                              .tables = free_tables};

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, like, 0, "", -1e6, 1e6, "",
                    "B-spline coefficients of u, like spins"),
    PLUGMC_LIST_KEY(parameters, unlike, 0, "", -1e6, 1e6, "",
                    "B-spline coefficients of u, unlike spins"),
    PLUGMC_LIST_KEY(parameters, chi, 0, "", -1e6, 1e6, "", "B-spline coefficients of chi"),
    PLUGMC_REAL_KEY(parameters, like_cusp, "-0.25", -1e6, 1e6, "1/length",
                    "slope of u at contact, like spins"),
    PLUGMC_REAL_KEY(parameters, unlike_cusp, "-0.5", -1e6, 1e6, "1/length",
                    "slope of u at contact, unlike spins"),
    PLUGMC_REAL_KEY(
        parameters, chi_cusp, "0", -1e6, 1e6, "1/length",
        "slope of chi at an ion: its charge, if it is bare and the orbitals have no cusp"),
    PLUGMC_REAL_KEY(parameters, u_cutoff, "0", 0, 1e12, "length",
                    "cutoff of u; 0: the radius of the largest sphere in the Wigner-Seitz "
                    "cell"),
    PLUGMC_REAL_KEY(parameters, chi_cutoff, "0", 0, 1e12, "length", "cutoff of chi; 0: likewise"),
    PLUGMC_LIST_KEY(parameters, ions, 0, "", -1e12, 1e12, "length",
                    "x y z of the ions that chi belongs to"),
    PLUGMC_LIST_KEY(parameters, tile, 3, "1 1 1", 1, 1000, "",
                    "copies of the ions along a, b and c that fill the cell"),
    PLUGMC_FILE_KEY(parameters, file, "",
                    "file with lines 'like ...', 'unlike ...', 'chi ...', 'ions ...'"),
    PLUGMC_LIST_DERIVED(parameters, u_table, "polynomials of 2 u"),
    PLUGMC_LIST_DERIVED(parameters, chi_table, "polynomials of 2 chi"),
    PLUGMC_LIST_DERIVED(parameters, centres, "places of ions"),
    PLUGMC_REAL_DERIVED(parameters, u_reach, "cutoff of u"),
    PLUGMC_REAL_DERIVED(parameters, u_intervals, "knot intervals of u"),
    PLUGMC_REAL_DERIVED(parameters, u_per_length, "1 / spacing of the knots of u"),
    PLUGMC_REAL_DERIVED(parameters, chi_intervals, "knot intervals of chi"),
    PLUGMC_REAL_DERIVED(parameters, chi_per_length, "1 / spacing of the knots of chi"),
};

static const plugmc_potential potential = {
    .size = sizeof potential, .pair = &plugmc_pair_facet, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(
        .kind = PLUGMC_POTENTIAL, .name = "jastrow",
        .summary = "Jastrow factor of a wave function: u and chi as B-splines of the distance",
        .reference = "Kim et al., J. Phys.: Condens. Matter 30, 195901 (2018)",
        PLUGMC_KEYS(parameters, table), PLUGMC_OFFERS({PLUGMC_VARIATIONAL_PARAMETERS, &free_facet}),
        .configure = configure, .prepare = prepare, .potential = &potential);
#endif
