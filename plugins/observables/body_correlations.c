/* body_correlations: how bodies at a distance r are turned towards each other.
 *
 * g(r) is the radial distribution function of the centres, and <...> below the average over the pairs at r. What is measured
 * are products with g; averages are derived as their quotients, and are 0 where there is nobody.
 *
 * In two dimensions, with theta_i the angle of body i, phi that of the way from i to j, and k = `fold`:
 *
 *     g_difference = g <cos k (theta_i - theta_j)>
 *     g_direction  = g <cos k (theta_i - phi)>
 *     g_sum        = g <cos k (theta_i + theta_j - 2 phi)>
 *
 * and derived from them order = <cos k (theta_i - theta_j)>, the correlation of orientations, whose limit at large r is
 * |<exp(i k theta)>|^2.
 *
 * In three dimensions, with u_i the unit vector along the body's own x, y or z axis (`axis`), there are the coefficients of g
 * in spherical harmonics, in a frame whose z axis is the way from i to j,
 *
 *     g_lmn = 4 pi g <Y_l,n(u_i) Y_m,n(u_j)*>,   l, m <= 2, l >= m
 *
 * (M. P. Allen, D. J. Tildesley, Computer Simulation of Liquids, section 2.6; g_200 = sqrt(5) g <P_2(cos theta_i)>, for one),
 * and derived P1 = <u_i . u_j> and P2 = <(3 (u_i . u_j)^2 - 1) / 2>, whose limits at large r are the squares of the polar and
 * of the nematic order.
 *
 * g is normalised by N (N - 1) pairs, N being the number of bodies of the moment, and by the volume of the moment. Sums are
 * kept in integers, so they do not depend on the number of threads.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/everything.h>

#include "is_body.h"
#include "near_pairs.h"
#include "walker_boxes.h"

enum { FLAT = 4, SPATIAL = 12, MOST = SPATIAL, FIRST_LEGENDRE = 10 };

typedef struct body_correlations {
    /* parameters */
    real r_max;
    int64_t bins, fold;
    int32_t axis;
    const char *species;

    const plugmc_system *system;
    int32_t flat, columns; /* columns: of sums, the first of which is the number of pairs */
    double range;
    double *radius, *shell; /* [bins] middle of the bin, length; its volume */
    char *counts;           /* [particles] 1: looked at */
    int64_t *sums;          /* [threads][bins][columns], in 2^-30 */
    double (*axes)[3];      /* [particles], in three dimensions */
} body_correlations;

/* A thread of one walker. */
typedef struct task {
    const body_correlations *b;
    const plugmc_orientation *orientations; /* [particles] */
    int64_t *sums;                          /* [bins][columns] */
} task;

static const char *const flat_names[FLAT] = {"g", "g_difference", "g_direction", "g_sum"};
static const char *const flat_docs[FLAT] = {
    "radial distribution function", "g <cos k (theta_i - theta_j)>", "g <cos k (theta_i - phi)>",
    "g <cos k (theta_i + theta_j - 2 phi)>"};
static const char *const spatial_names[SPATIAL] = {"g",     "g_100", "g_110", "g_111",
                                                   "g_200", "g_210", "g_211", "g_220",
                                                   "g_221", "g_222", "g_P1",  "g_P2"};

static const plugmc_listing listing[] = {
    {"g", "", "radial distribution function against r", 1, 0},
    {"g_difference", "", "g <cos k (theta_i - theta_j)>; in two dimensions", 1, 0},
    {"g_direction", "", "g <cos k (theta_i - phi)>", 1, 0},
    {"g_sum", "", "g <cos k (theta_i + theta_j - 2 phi)>", 1, 0},
    {"g_<l><m><n>", "", "coefficient of g in spherical harmonics; in three dimensions", 1, 0},
    {"g_P<l>", "", "g <P_l(u_i . u_j)>", 1, 0},
    {"order", "", "<cos k (theta_i - theta_j)>; in two dimensions", 1, 1},
    {"P<l>", "", "<P_l(u_i . u_j)>; in three dimensions", 1, 1},
};

/* ---- Pairs ---------------------------------------------------------------------------------- */

static double second_legendre(double x) { return 1.5 * x * x - 0.5; }

/* cos k theta of an angle in 2^-24 turns. */
static double cosine_of_multiple(int64_t angle, int64_t fold)
{
    return cos((double)((angle * fold) & (PLUGMC_WHOLE_TURN - 1)) * (2 * M_PI / PLUGMC_WHOLE_TURN));
}

static void flat_values(const task *t, uint32_t i, uint32_t j, const double r[3], double out[MOST])
{
    const int32_t a = t->orientations[i].part[0], b = t->orientations[j].part[0];
    const double k = (double)t->b->fold, phi = atan2(r[1], r[0]),
                 turn = 2 * M_PI / PLUGMC_WHOLE_TURN;
    out[1] = cosine_of_multiple((int64_t)a - b, t->b->fold);
    out[2] = cos(k * (a * turn - phi));
    out[3] = cos(k * ((a + (double)b) * turn - 2 * phi));
}

static void spatial_values(const double u[3], const double v[3], const double r[3], double distance,
                           double out[MOST])
{
    double a = 0, b = 0, both = 0; /* cosines with r, and of the two */
    for (int d = 0; d < 3; d++) {
        a += u[d] * r[d] / distance;
        b += v[d] * r[d] / distance;
        both += u[d] * v[d];
    }
    /* sines times the cosine of the difference of azimuths; squares of sines */
    const double across = both - a * b, sines = (1 - a * a) * (1 - b * b), p = second_legendre(a),
                 q = second_legendre(b);
    const double values[SPATIAL] = {1,
                                    sqrt(3) * a,
                                    3 * a * b,
                                    1.5 * across,
                                    sqrt(5) * p,
                                    sqrt(15) * p * b,
                                    1.5 * sqrt(5) * a * across,
                                    5 * p * q,
                                    7.5 * a * b * across,
                                    1.875 * (2 * across * across - sines),
                                    both,
                                    second_legendre(both)};
    memcpy(out, values, sizeof values);
}

static void add_pair(void *data, uint32_t i, uint32_t j, const double r[3], double square)
{
    const task *t = data;
    const body_correlations *b = t->b;
    const double distance = sqrt(square);
    const int64_t bin = (int64_t)(distance / b->range * (double)b->bins);
    double values[MOST] = {1};
    if (!b->counts[j] || bin >= b->bins || !(distance > 0)) return;
    if (b->flat)
        flat_values(t, i, j, r, values);
    else
        spatial_values(b->axes[i], b->axes[j], r, distance, values);
    int64_t *sums = t->sums + bin * b->columns;
    sums[0]++;
    for (int32_t c = 1; c < b->columns; c++) sums[c] += llrint(values[c] * 0x1p30);
}

/* ---- Walkers -------------------------------------------------------------------------------- */

static void find_axes(const body_correlations *b, const plugmc_orientation *o)
{
    for (int64_t i = 0; i < b->system->particles && !b->flat; i++) {
        const plugmc_pose pose = plugmc_pose_of(&o[i], 3);
        memcpy(b->axes[i],
               b->axis == 0   ? pose.x
               : b->axis == 1 ? pose.y
                              : pose.z,
               sizeof b->axes[i]);
    }
}

/* out [columns][bins] */
static void sum_walker(const body_correlations *b, const near_pairs *pairs,
                       const plugmc_orientation *o, double *out)
{
    const int32_t threads = b->system->threads;
    const int64_t size = b->bins * b->columns;
    int64_t n = 0;
    find_axes(b, o);
    memset(b->sums, 0, (size_t)(threads * size) * sizeof *b->sums);
#pragma omp parallel num_threads(threads)
    {
        task t = {b, o, b->sums + omp_get_thread_num() * size};
#pragma omp for schedule(dynamic, 64)
        for (uint32_t k = 0; k < near_pairs_entries(pairs); k++)
            if (b->counts[pairs->order[k]]) near_pairs_visit(pairs, k, add_pair, &t);
    }
    for (int32_t k = 1; k < threads; k++)
        for (int64_t m = 0; m < size; m++) b->sums[m] += b->sums[k * size + m];
    for (uint32_t k = 0; k < near_pairs_entries(pairs); k++) n += b->counts[pairs->order[k]];
    const double each = n > 1 ? pairs->box->volume / ((double)n * (double)(n - 1)) : 0;
    for (int64_t bin = 0; bin < b->bins; bin++)
        for (int32_t c = 0; c < b->columns; c++)
            out[c * b->bins + bin] =
                (double)b->sums[bin * b->columns + c] * (c ? 0x1p-30 : 1) * each / b->shell[bin];
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const body_correlations *b = instance;
    plugmc_cells cells = {.size = sizeof cells};
    int code = check_reach(host, view, b->range, "r_max");
    if (!code) code = view->cells(view, b->range, &cells);
    for (int32_t w = 0; w < b->system->walkers && !code; w++) {
        const int64_t first = w * b->system->particles;
        const near_pairs pairs = near_pairs_of(view, &cells, w, first, b->range);
        sum_walker(b, &pairs, view->orientations + first, values + w * b->bins * b->columns);
    }
    return code;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const body_correlations *b = instance;
    if (index >= b->columns) return 0;
    return plugmc_array(out, b->flat ? flat_names[index] : spatial_names[index], "",
                        b->flat                  ? flat_docs[index]
                        : index == 0             ? "radial distribution function"
                        : index < FIRST_LEGENDRE ? "coefficient of g in spherical harmonics"
                                                 : "g <P_l(u_i . u_j)>",
                        b->bins, "r", b->radius);
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    const body_correlations *b = instance;
    static const char *const names[] = {"P1", "P2"};
    if (index >= (b->flat ? 1 : 2)) return 0;
    return plugmc_array(out, b->flat ? "order" : names[index], "", "correlation of orientations",
                        b->bins, "r", b->radius);
}

static int derive(void *instance, const double *means, double *out)
{
    const body_correlations *b = instance;
    for (int k = 0; k < (b->flat ? 1 : 2); k++)
        for (int64_t bin = 0; bin < b->bins; bin++)
            out[k * b->bins + bin] =
                means[bin] > 0
                    ? means[(b->flat ? 1 : FIRST_LEGENDRE + k) * b->bins + bin] / means[bin]
                    : 0;
    return 0;
}

/* ---- Preparation ---------------------------------------------------------------------------- */

static int choose_particles(body_correlations *b, const plugmc_host *host)
{
    const plugmc_system *system = b->system;
    int found = 0;
    for (int32_t s = 0; s < system->species_count; s++) {
        const int wanted = *b->species ? !strcmp(b->species, plugmc_species_at(system, s)->name)
                                       : is_body(system, s);
        if (*b->species && wanted && !is_body(system, s))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "species = %.80s: no potential gives it a shape", b->species);
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++)
            b->counts[i] = (char)wanted;
        found |= wanted;
    }
    if (found) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "species = %.80s: there is no such species", b->species);
}

static int choose_range(body_correlations *b, const plugmc_host *host)
{
    const plugmc_box *box = &b->system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC || box->oblique)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "correlations of bodies need a periodic, rectangular box");
    if (!(b->r_max > 0) && boxes_change(b->system))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "r_max must be given, as a mover changes the box");
    b->range = b->r_max > 0 ? (double)b->r_max : narrowest(box) / 2;
    if (2 * b->range <= narrowest(box) * (1 + 1e-12)) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "r_max = %g is more than half of the box, which is %g wide", b->range,
                      narrowest(box));
}

static int prepare(void *instance, const plugmc_host *host)
{
    body_correlations *b = instance;
    const plugmc_system *system = b->system = host->system;
    b->flat = system->box.dimension == 2;
    b->columns = b->flat ? FLAT : SPATIAL;
    if (!system->bodies)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "no potential of the run depends on orientations, so particles have none");
    const size_t bins = (size_t)b->bins, n = (size_t)system->particles;
    b->radius = host->allocate(host->context, bins * sizeof *b->radius);
    b->shell = host->allocate(host->context, bins * sizeof *b->shell);
    b->counts = host->allocate(host->context, n);
    b->axes = host->allocate(host->context, n * sizeof *b->axes);
    b->sums = host->allocate(host->context,
                             (size_t)system->threads * bins * (size_t)b->columns * sizeof *b->sums);
    if (!b->radius || !b->shell || !b->counts || !b->axes || !b->sums)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld bins",
                          (long long)b->bins);
    int code = choose_range(b, host);
    if (!code) code = choose_particles(b, host);
    for (int64_t k = 0; k < b->bins && !code; k++) {
        const double width = b->range / (double)b->bins, in = width * (double)k, out = in + width;
        b->radius[k] = in + width / 2;
        b->shell[k] = b->flat ? M_PI * (out * out - in * in)
                              : 4 * M_PI / 3 * (out * out * out - in * in * in);
    }
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(body_correlations, r_max, "0", 0, 1e300, "length",
                    "largest distance; 0: half the smallest edge of a fixed box"),
    PLUGMC_INTEGER_KEY(body_correlations, bins, "100", 1, 100000, "",
                       "number of bins of each function"),
    PLUGMC_INTEGER_KEY(body_correlations, fold, "2", 1, 64, "",
                       "k, in two dimensions: 2 nematic, 4 tetratic, 6 of hexagons"),
    PLUGMC_CHOICE_KEY(
        body_correlations, axis, "x", "x|y|z",
        "axis of the body whose direction is looked at, in three dimensions; rods lie along "
        "x"),
    PLUGMC_TEXT_KEY(body_correlations, species, "",
                    "the only species that is looked at; empty: all bodies"),
};

PLUGMC_PLUGIN(.name = "body_correlations",
              .summary =
                  "g(r) of bodies with its angular coefficients, correlation of orientations",
              .reference = "Allen, Tildesley, Computer Simulation of Liquids, section 2.6",
              PLUGMC_KEYS(body_correlations, table),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .derived = derived,
                                     .derive = derive, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_ORIENTATION),
              .prepare = prepare)
