/* angular_step: a pair energy between particles whose patches look at each other.
 *
 *     u = v(r)  where r < cutoff and a patch of each particle looks at the other one,
 *
 * that is, where the angle between the direction of the patch and the line of the centres is at most `half_angle`; else 0. v is
 *
 *     step             -epsilon
 *     lennard_jones    4 epsilon ((sigma / r)^12 - (sigma / r)^6)
 *     yukawa           -epsilon exp(-kappa (r - sigma)) sigma / r, and -epsilon for r < sigma
 *
 * less v(cutoff) if it is shifted. There is no hard core: any hard body may be a potential beside it. All species have the same
 * patches. For one patch on each side that covers chi of a sphere, this is N. Kern, D. Frenkel, J. Chem. Phys. 118, 9882
 * (2003), eqs. 2 to 4, with another well.
 */
#include <plugmc/potential.h>
#include <plugmc/functions.h>

enum { STEP, LENNARD_JONES, YUKAWA };

typedef struct parameters {
    plugmc_list directions; /* as given: [patches][3] */
    plugmc_list patches;    /* [patches][3] unit vectors in the frame of the body */
    real half_angle, cosine, epsilon, sigma, kappa, cutoff, offset;
    int32_t pair, shift;
} parameters;

/* A particle is a point: nothing but the energy reaches farther. */
PLUGMC_FN real body_reach(const parameters *p, plugmc_site a)
{
    (void)a;
    return p->cutoff / 2;
}
PLUGMC_FN real body_core(const parameters *p, plugmc_site a)
{
    (void)p, (void)a;
    return 0;
}
PLUGMC_FN real body_volume(const parameters *p, plugmc_site a)
{
    (void)p, (void)a;
    return 0;
}
PLUGMC_FN real body_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real well(const parameters *p, real r)
{
    const real over = p->sigma / r;
    if (p->pair == LENNARD_JONES) {
        const real sixth = over * over * over * over * over * over;
        return (real)4 * p->epsilon * (sixth * (sixth - (real)1));
    }
    if (p->pair == YUKAWA && r > p->sigma)
        return -p->epsilon * over * plugmc_exp_of_negative(p->kappa * (r - p->sigma));
    return -p->epsilon;
}

/* Whether a patch of a body looks along (x, y, z), a vector of length r. */
PLUGMC_FN int looks_along(const parameters *p, const plugmc_pose *A, real x, real y, real z, real r)
{
    const real v[3] = {x, y, z};
    const real u[3] = {plugmc_dot(A->x, v), plugmc_dot(A->y, v), plugmc_dot(A->z, v)};
    int looks = 0;
    for (int32_t k = 0; 3 * k < p->patches.count; k++)
        looks |= plugmc_dot(p->patches.values + 3 * k, u) >= p->cosine * r;
    return looks;
}

PLUGMC_FN real body_energy(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                           const plugmc_pose *B, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    if (s.r2 >= p->cutoff * p->cutoff) return 0;
    const real r = plugmc_sqrt(s.r2);
    return looks_along(p, A, -s.x, -s.y, -s.z, r) && looks_along(p, B, s.x, s.y, s.z, r)
               ? well(p, r) - p->offset
               : (real)0;
}

#define PLUGMC_BODY PLUGMC_BODY_ENERGY
#include <plugmc/body.h>

#if PLUGMC_HOST
#include "patches.h"

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int code = patches_find(host, &p->directions, &p->patches);
    if (code) return code;
    if (p->pair == LENNARD_JONES && p->epsilon < 0)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "epsilon = %g: the energy of pair = lennard_jones would have no lower bound",
            (double)p->epsilon);
    if (p->shift && (p->pair == STEP || (p->pair == YUKAWA && p->cutoff <= p->sigma)))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "shift = yes: v(r) is the same up to the cutoff, so without v(cutoff) "
                          "nothing would be left of it");
    p->cosine = (real)cos((double)p->half_angle);
    p->offset = p->shift ? well(p, p->cutoff) : (real)0;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PATCHES_KEYS(parameters),
    PLUGMC_CHOICE_KEY(parameters, pair, "step", "step|lennard_jones|yukawa", "v(r)"),
    PLUGMC_REAL_KEY(parameters, epsilon, "1", -1e3, 1e3, "energy",
                    "depth of the well, of yukawa at sigma; below 0: a repulsion"),
    PLUGMC_REAL_KEY(parameters, sigma, "1", 1e-6, 1e6, "length", "of lennard_jones and yukawa"),
    PLUGMC_REAL_KEY(parameters, kappa, "1", 0, 1e6, "1/length", "of yukawa"),
    PLUGMC_REAL_KEY(parameters, cutoff, NULL, 1e-6, 1e6, "length", "the energy is 0 from there on"),
    PLUGMC_FLAG_KEY(parameters, shift, "no",
                    "v(cutoff) is taken off: the well ends without a step"),
    PATCHES_DERIVED(parameters),
    PLUGMC_REAL_DERIVED(parameters, offset, "v(cutoff) if it is taken off"),
};

PLUGMC_PLUGIN(.name = "angular_step",
              .summary = "a pair energy between particles whose patches look at each other",
              .reference = "Kern, Frenkel, J. Chem. Phys. 118, 9882 (2003)",
              PLUGMC_KEYS(parameters, table), PLUGMC_BODIES_ALONE, .configure = configure);
#endif
