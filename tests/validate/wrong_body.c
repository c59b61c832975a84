/* wrong_body: hard balls (disks in two dimensions) beside the centre of the particle, with one of many faults; `fault = none`
 * has none. */
#include <plugmc/potential.h>

enum {
    NONE,
    SMALL_REACH,
    LARGE_CORE,
    SMALL_VOLUME,
    WRONG_AXIS,
    LOPSIDED,
    LARGE_VOLUME,
    MIRRORED,
    NARROW_REACH
};

typedef struct parameters {
    /* of the ball, and of its centre from that of the particle along x of the body; length */
    real radius, offset;
    int32_t fault;
    int64_t dimension;
} parameters;

PLUGMC_FN real body_reach(const parameters *p, plugmc_site a)
{
    (void)a;
    const real reach = p->radius + p->offset;
    return (p->fault == SMALL_REACH    ? p->radius
            : p->fault == NARROW_REACH ? (real)0.97 * reach
                                       : reach) *
           PLUGMC_SURELY;
}

PLUGMC_FN real body_core(const parameters *p, plugmc_site a)
{
    (void)a;
    return (p->fault == LARGE_CORE ? p->radius + p->offset : p->radius - p->offset) / PLUGMC_SURELY;
}

PLUGMC_FN real body_volume(const parameters *p, plugmc_site a)
{
    const real r = p->radius, disk = (real)3.141592653589793 * r * r;
    (void)a;
    if (p->fault == SMALL_VOLUME) return (real)0.01 * disk;
    if (p->fault == LARGE_VOLUME) return (real)1.3 * (p->dimension == 2 ? disk : disk * r * 4 / 3);
    return p->dimension == 2 ? disk : disk * r * 4 / 3;
}

PLUGMC_FN real body_gap(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                        const plugmc_pose *B, plugmc_site a, plugmc_site b, real enough,
                        real axis[3])
{
    const real of_b = p->fault == LOPSIDED ? p->offset / 2 : p->offset,
               sign = p->fault == WRONG_AXIS ? (real)-1 : (real)1;
    real square = 0;
    (void)a, (void)b, (void)enough;
    axis[0] = -s.x + of_b * B->x[0] - p->offset * A->x[0];
    axis[1] = -s.y + (p->fault == MIRRORED ? -of_b : of_b) * B->x[1] -
              (p->fault == MIRRORED ? -p->offset : p->offset) * A->x[1];
    axis[2] = -s.z + of_b * B->x[2] - p->offset * A->x[2];
    for (int d = 0; d < 3; d++) square += axis[d] * axis[d];
    const real distance = plugmc_sqrt(square);
    for (int d = 0; d < 3; d++) axis[d] = distance > 0 ? sign * axis[d] / distance : (real)(d == 0);
    return distance - 2 * p->radius;
}

#define PLUGMC_BODY PLUGMC_BODY_GAP
#include <plugmc/body.h>

#if PLUGMC_HOST
static int configure(void *instance, const plugmc_host *host)
{
    ((parameters *)instance)->dimension = host->system->box.dimension;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, radius, "0.35", 1e-6, 1e6, "length", "of the ball"),
    PLUGMC_REAL_KEY(parameters, offset, "0.2", 0, 1e6, "length", "of its centre"),
    PLUGMC_CHOICE_KEY(
        parameters, fault, "none",
        "none|small_reach|large_core|small_volume|wrong_axis|lopsided|large_volume|mirrored|"
        "narrow_reach",
        "what is wrong"),
    PLUGMC_INTEGER_DERIVED(parameters, dimension, "of the box"),
};

PLUGMC_PLUGIN(.name = "wrong_body", .summary = "a hard body with a fault", .reference = "",
              PLUGMC_KEYS(parameters, table), PLUGMC_BODIES_ALONE, .configure = configure);
#endif
