/* kern_frenkel: hard spheres or disks with attractive patches.
 *
 *     u = -epsilon  where r < lambda contact and a patch of each sphere looks at the other,
 *
 * that is, where the angle between the direction of the patch and the line of the centres is at most `half_angle`; else 0.
 * contact is the mean of the two diameters. N. Kern, D. Frenkel, J. Chem. Phys. 118, 9882 (2003), eqs. 2 to 4. All species
 * have the same patches. With patches that cover a share chi of a sphere (n (1 - cos half_angle) / 2 for n of them) the
 * second virial coefficient is that of hard spheres times 1 - chi^2 (lambda^3 - 1) (exp(epsilon / kT) - 1).
 */
#include <plugmc/potential.h>

typedef struct parameters {
    plugmc_list directions; /* as given: [patches][3] */
    plugmc_list patches;    /* [patches][3] unit vectors in the frame of the body */
    real half_angle, cosine, lambda, epsilon;
    real largest; /* diameter of a species */
    real flat;    /* 1 in two dimensions */
} parameters;

PLUGMC_FN real body_reach(const parameters *p, plugmc_site a)
{
    (void)p;
    return a.diameter / 2;
}
PLUGMC_FN real body_core(const parameters *p, plugmc_site a)
{
    (void)p;
    return a.diameter / 2;
}
PLUGMC_FN real body_range(const parameters *p) { return p->lambda * p->largest; }

PLUGMC_FN real body_volume(const parameters *p, plugmc_site a)
{
    const real square = a.diameter * a.diameter;
    return p->flat > 0 ? (real)0.7853981633974483 * square
                       : (real)0.5235987755982988 * square * a.diameter;
}

PLUGMC_FN int body_overlap(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                           const plugmc_pose *B, plugmc_site a, plugmc_site b)
{
    const real contact = (a.diameter + b.diameter) / 2;
    (void)p, (void)A, (void)B;
    return !(s.r2 > contact * contact * PLUGMC_SURELY);
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
    const real range = p->lambda * (a.diameter + b.diameter) / 2;
    if (s.r2 >= range * range) return 0;
    const real r = plugmc_sqrt(s.r2);
    return looks_along(p, A, -s.x, -s.y, -s.z, r) && looks_along(p, B, s.x, s.y, s.z, r)
               ? -p->epsilon
               : 0;
}

PLUGMC_FN real body_path(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                         const plugmc_pose *B, plugmc_site a, plugmc_site b, int32_t axis)
{
    const real contact = (a.diameter + b.diameter) / 2,
               ahead = -(axis == 0 ? s.x : (axis == 1 ? s.y : s.z)),
               square = contact * contact - (s.r2 - ahead * ahead);
    (void)p, (void)A, (void)B;
    if (!(square > 0)) return PLUGMC_NO_RANGE;
    const real half = plugmc_sqrt(square);
    if (!(ahead + half > 0)) return PLUGMC_NO_RANGE;
    return ahead > half ? ahead - half : 0;
}

/* Adds the roots of a x^2 + 2 b x + c. */
PLUGMC_FN int32_t add_roots(real a, real b, real c, real *out, int32_t n)
{
    const real square = b * b - a * c;
    if (!(square >= 0)) return n;
    const real q = -(b + (b < 0 ? -plugmc_sqrt(square) : plugmc_sqrt(square)));
    if (a != 0) out[n++] = q / a;
    if (q != 0) out[n++] = c / q;
    return n;
}

/* At the ends of the range, and where the direction of a patch is at half_angle, or pi less that, from the line of centres. */
PLUGMC_FN int32_t body_steps(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                             const plugmc_pose *B, plugmc_site a, plugmc_site b, int32_t axis,
                             real *out)
{
    const real range = p->lambda * (a.diameter + b.diameter) / 2, r[3] = {s.x, s.y, s.z},
               cosines = p->cosine * p->cosine;
    int32_t n = add_roots(1, r[axis], s.r2 - range * range, out, 0);
    for (int32_t k = 0; 3 * k < p->patches.count; k++)
        for (int which = 0; which < 2; which++) {
            const plugmc_pose *P = which ? B : A;
            const real *u = p->patches.values + 3 * k;
            const real e = u[0] * P->x[axis] + u[1] * P->y[axis] + u[2] * P->z[axis],
                       along = u[0] * plugmc_dot(P->x, r) + u[1] * plugmc_dot(P->y, r) +
                               u[2] * plugmc_dot(P->z, r);
            n = add_roots(e * e - cosines, along * e - cosines * r[axis],
                          along * along - cosines * s.r2, out, n);
        }
    return n;
}

#define PLUGMC_BODY                                                                                \
    (PLUGMC_BODY_OVERLAP | PLUGMC_BODY_ENERGY | PLUGMC_BODY_PATH | PLUGMC_BODY_STEPS |             \
     PLUGMC_BODY_SHAPE)
#include <plugmc/body.h>

#if PLUGMC_HOST
#include <stdio.h>

#include "patches.h"

/* Patches have no shape in GSD's schema. */
static int body_shape(const void *instance, const plugmc_particle *a, char *json, size_t size)
{
    (void)instance;
    return snprintf(json, size, "{\"type\": \"Sphere\", \"diameter\": %.9g}", a->diameter);
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t n = p->directions.count / 3;
    const int code = patches_find(host, &p->directions, &p->patches);
    if (code) return code;
    if (2 + 4 * n > PLUGMC_MOST_STEPS)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "directions has %d patches: %d are possible", n,
                          (PLUGMC_MOST_STEPS - 2) / 4);
    p->cosine = (real)cos((double)p->half_angle);
    p->flat = host->system->box.dimension == 2;
    for (int32_t s = 0; s < host->system->species_count; s++)
        p->largest = (real)fmax((double)p->largest, plugmc_species_at(host->system, s)->diameter);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PATCHES_KEYS(parameters),
    PLUGMC_REAL_KEY(parameters, lambda, "1.5", 1, 1e3, "",
                    "range of the patches over the contact distance"),
    PLUGMC_REAL_KEY(parameters, epsilon, "1", 0, 1e3, "energy", "depth of the attraction"),
    PATCHES_DERIVED(parameters),
    PLUGMC_REAL_DERIVED(parameters, largest, "largest diameter of a species"),
    PLUGMC_REAL_DERIVED(parameters, flat, "1 in two dimensions"),
};

PLUGMC_PLUGIN(.name = "kern_frenkel", .summary = "hard spheres or disks with attractive patches",
              .reference = "Kern, Frenkel, J. Chem. Phys. 118, 9882 (2003)",
              PLUGMC_KEYS(parameters, table), PLUGMC_BODIES_ALONE, .configure = configure);
#endif
