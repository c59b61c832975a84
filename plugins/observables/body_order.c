/* body_order: how much bodies point the same way.
 *
 * In two dimensions, with theta_i the angle of body i and k = `fold`,
 *
 *     psi = 1/N sum_i exp(i k theta_i),
 *
 * k = 2: nematic order, k = 4: tetratic, of squares; k = 6: of hexagons. A body is upright at theta = 0. The susceptibility
 * N (<|psi|^2> - <|psi|>^2) is derived from the averages. Order of bonds is measured by hexatic_order.
 *
 * In three dimensions, with u_i the unit vector along the body's own x, y or z axis (`axis`; rods lie along x), the nematic
 * order is described by the tensor
 *
 *     Q = 1/N sum_i (3 u_i u_i^T - 1) / 2,
 *
 * whose largest eigenvalue is the order parameter S, with the director as its eigenvector (P. G. de Gennes, J. Prost, The
 * Physics of Liquid Crystals, section 2.1). S of N independent bodies of random orientations is not 0 but about 1/sqrt(N);
 * `order_squared`, (2/3) sum_ab Q_ab^2, which is S^2 where the order is uniaxial, is then 1/N on the average, exactly, as
 * |psi|^2 is in two dimensions.
 */
#include <stdlib.h>
#include <string.h>

#include <plugmc/everything.h>

#include "is_body.h"

typedef struct body_order {
    /* parameters */
    int64_t fold;
    int32_t axis;
    const char *species;

    const plugmc_system *system;
    int32_t flat; /* two dimensions */
    char *counts; /* [species] 1: its bodies are looked at */
} body_order;

enum { MODULUS, SQUARED, REAL, IMAGINARY, IN_THE_PLANE };
enum { ORDER, ORDER_SQUARED, TENSOR, IN_SPACE = TENSOR + 6 };

static const plugmc_listing listing[] = {
    {"psi_modulus", "", "modulus of psi; in two dimensions", 0, 0},
    {"psi_squared", "", "its square", 0, 0},
    {"psi_real", "", "real part of psi", 0, 0},
    {"psi_imaginary", "", "imaginary part of psi", 0, 0},
    {"order", "", "S, the largest eigenvalue of Q; in three dimensions", 0, 0},
    {"order_squared", "", "(2/3) sum_ab Q_ab^2", 0, 0},
    {"Q_<axis><axis>", "", "element of the order tensor", 0, 0},
    {"susceptibility", "", "N times the variance of the modulus of psi", 0, 1},
};

/* ---- Sums over bodies ----------------------------------------------------------------------- */

/* Adds (cos k theta, sin k theta). */
static void add_angle(const body_order *b, const plugmc_orientation *o, double sum[2])
{
    /* whole turns of the multiple are dropped while it is an integer */
    const int32_t multiple = (int32_t)(((int64_t)o->part[0] * b->fold) & (PLUGMC_WHOLE_TURN - 1));
    const double angle = multiple * (2 * M_PI / PLUGMC_WHOLE_TURN);
    sum[0] += cos(angle);
    sum[1] += sin(angle);
}

/* Adds xx, yy, zz, xy, xz, yz of (3 u u^T - 1) / 2. */
static void add_axis(const body_order *b, const plugmc_orientation *o, double sum[6])
{
    const plugmc_pose pose = plugmc_pose_of(o, 3);
    const double *u = b->axis == 0 ? pose.x : b->axis == 1 ? pose.y : pose.z;
    for (int d = 0; d < 3; d++) sum[d] += 1.5 * u[d] * u[d] - 0.5;
    sum[3] += 1.5 * u[0] * u[1];
    sum[4] += 1.5 * u[0] * u[2];
    sum[5] += 1.5 * u[1] * u[2];
}

/* The largest eigenvalue of a symmetric tensor without trace, as the largest root of its characteristic polynomial. */
static double largest_eigenvalue(const double q[6], double squares)
{
    const double p = sqrt(squares / 6);
    const double determinant = q[0] * (q[1] * q[2] - q[5] * q[5]) -
                               q[3] * (q[3] * q[2] - q[5] * q[4]) +
                               q[4] * (q[3] * q[5] - q[1] * q[4]);
    if (!(p > 0)) return 0;
    return 2 * p * cos(acos(fmax(-1, fmin(1, determinant / (2 * p * p * p)))) / 3);
}

/* The sum over the bodies of a walker; returns how many there are. */
static int64_t sum_of_walker(const body_order *b, const plugmc_view *view, int32_t w, double sum[6])
{
    const plugmc_system *system = b->system;
    int64_t n = 0;
    memset(sum, 0, 6 * sizeof *sum);
    for (int32_t s = 0; s < system->species_count; s++) {
        const int64_t present = view->count[(int64_t)w * system->species_count + s];
        const plugmc_orientation *o = view->orientations + w * system->particles + system->first[s];
        for (int64_t i = 0; i < present && b->counts[s]; i++, n++)
            if (b->flat)
                add_angle(b, &o[i], sum);
            else
                add_axis(b, &o[i], sum);
    }
    return n;
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const body_order *b = instance;
    const int32_t width = b->flat ? IN_THE_PLANE : IN_SPACE;
    (void)host;
    for (int32_t w = 0; w < b->system->walkers; w++) {
        double q[6], *out = values + w * width;
        const int64_t n = sum_of_walker(b, view, w, q);
        for (int k = 0; k < 6; k++) q[k] /= n > 0 ? (double)n : 1;
        if (b->flat) {
            out[REAL] = q[0];
            out[IMAGINARY] = q[1];
            out[SQUARED] = q[0] * q[0] + q[1] * q[1];
            out[MODULUS] = sqrt(out[SQUARED]);
        } else {
            const double squares = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] +
                                   2 * (q[3] * q[3] + q[4] * q[4] + q[5] * q[5]);
            out[ORDER] = largest_eigenvalue(q, squares);
            out[ORDER_SQUARED] = squares * (2.0 / 3);
            memcpy(out + TENSOR, q, sizeof q);
        }
    }
    return PLUGMC_OK;
}

/* ---- What is measured ----------------------------------------------------------------------- */

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    static const char *const tensor[] = {"Q_xx", "Q_yy", "Q_zz", "Q_xy", "Q_xz", "Q_yz"};
    const body_order *b = instance;
    if (index >= (b->flat ? IN_THE_PLANE : IN_SPACE)) return 0;
    const plugmc_listing *one = &listing[b->flat          ? index
                                         : index < TENSOR ? IN_THE_PLANE + index
                                                          : IN_THE_PLANE + TENSOR];
    return plugmc_scalar(out, !b->flat && index >= TENSOR ? tensor[index - TENSOR] : one->name, "",
                         one->doc);
}

/* Where numbers change there is no N. */
static int derived(void *instance, int index, plugmc_quantity *out)
{
    const body_order *b = instance;
    if (index > 0 || !b->flat || b->system->changes & PLUGMC_CHANGED_COUNT) return 0;
    return plugmc_scalar(out, "susceptibility", "", "N times the variance of the modulus of psi");
}

static int derive(void *instance, const double *means, double *out)
{
    const body_order *b = instance;
    int64_t n = 0;
    for (int32_t s = 0; s < b->system->species_count; s++)
        if (b->counts[s]) n += b->system->first[s + 1] - b->system->first[s];
    *out = (double)n * (means[SQUARED] - means[MODULUS] * means[MODULUS]);
    return 0;
}

/* ---- Preparation ---------------------------------------------------------------------------- */

static int prepare(void *instance, const plugmc_host *host)
{
    body_order *b = instance;
    const plugmc_system *system = b->system = host->system;
    int found = 0;
    b->flat = system->box.dimension == 2;
    if (!system->bodies)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "no potential of the run depends on orientations, so particles have none");
    b->counts = host->allocate(host->context, (size_t)system->species_count);
    if (!b->counts)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d species",
                          system->species_count);
    for (int32_t s = 0; s < system->species_count; s++) {
        const char *name = plugmc_species_at(system, s)->name;
        b->counts[s] = *b->species ? !strcmp(b->species, name) : is_body(system, s);
        if (*b->species && b->counts[s] && !is_body(system, s))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "species = %.80s: no potential gives it a shape", b->species);
        found |= b->counts[s];
    }
    if (found) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "species = %.80s: there is no such species", b->species);
}

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(body_order, fold, "2", 1, 64, "",
                       "k of psi, in two dimensions: 2 nematic, 4 tetratic"),
    PLUGMC_CHOICE_KEY(
        body_order, axis, "x", "x|y|z",
        "axis of the body whose order is measured, in three dimensions; rods lie along x"),
    PLUGMC_TEXT_KEY(body_order, species, "",
                    "the only species that is measured; empty: all bodies"),
};

PLUGMC_PLUGIN(.name = "body_order", .summary = "orientational order of bodies",
              .reference = "de Gennes, Prost, The Physics of Liquid Crystals, section 2.1",
              PLUGMC_KEYS(body_order, table),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .derived = derived,
                                     .derive = derive, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_ORIENTATION),
              .prepare = prepare)
