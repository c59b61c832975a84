/* PLUGIN_NAME: hard rectangles in two dimensions, which turn about their centres.
 *
 * What is above `#if PLUGMC_HOST` is compiled for the CPU, in double and in float, and for the GPU. `s` is the way from
 * body b to body a; `A` and `B` are their axes in space, unit vectors. Spheres around and inside are compared first, so they
 * have to be right. */
#include <plugmc/potential.h>

typedef struct parameters {
    real length, width; /* length */
} parameters;

/* Radius of the sphere that holds a body, and of one inside of it. */
PLUGMC_FN real body_reach(const parameters *p, plugmc_site a)
{
    (void)a;
    return plugmc_sqrt(p->length * p->length + p->width * p->width) / 2 * PLUGMC_SURELY;
}

PLUGMC_FN real body_core(const parameters *p, plugmc_site a)
{
    (void)a;
    return (p->length < p->width ? p->length : p->width) / 2 / PLUGMC_SURELY;
}

/* Area, in two dimensions. */
PLUGMC_FN real body_volume(const parameters *p, plugmc_site a)
{
    (void)a;
    return p->length * p->width;
}

/* Whether lines along the sides of A part the two. */
PLUGMC_FN int parts(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                    const plugmc_pose *B)
{
    const real h = p->length / 2, w = p->width / 2;
    real c = A->x[0] * B->x[0] + A->x[1] * B->x[1], d = A->x[0] * B->x[1] - A->x[1] * B->x[0],
         u = s.x * A->x[0] + s.y * A->x[1], v = s.y * A->x[0] - s.x * A->x[1];
    c = c < 0 ? -c : c, d = d < 0 ? -d : d, u = u < 0 ? -u : u, v = v < 0 ? -v : v;
    return u > (h + h * c + w * d) * PLUGMC_SURELY || v > (w + h * d + w * c) * PLUGMC_SURELY;
}

/* 0 only if the two are surely apart, in spite of rounding. */
PLUGMC_FN int body_overlap(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                           const plugmc_pose *B, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    return !parts(p, s, A, B) && !parts(p, s, B, A);
}

#define PLUGMC_BODY PLUGMC_BODY_OVERLAP
#include <plugmc/body.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    (void)instance;
    if (host->system->box.dimension != 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "rectangles need dimension = 2");
    return PLUGMC_OK;
}

/* Key, default (NULL: required), smallest and largest value, unit, meaning. */
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, length, "2", 1e-6, 1e6, "length", "of a side"),
    PLUGMC_REAL_KEY(parameters, width, "1", 1e-6, 1e6, "length", "of the other side"),
};

PLUGMC_PLUGIN(.name = "PLUGIN_NAME", .summary = "hard rectangles", .reference = "",
              PLUGMC_KEYS(parameters, table), PLUGMC_BODIES_ALONE, .configure = configure);
#endif
