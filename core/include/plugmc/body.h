/* plugmc/body.h: makes the body facet (plugmc_body), for hard bodies and energies that depend on orientations. Include it
 * after the body functions of a potential.
 *
 * PLUGMC_BODY is the sum of the functions that the author has written. `p` are the parameters, `s` is the separation a - b
 * of the centres, A and B are the axes of the two bodies in space (plugmc/orientation.h).
 *
 *     PLUGMC_BODY_OVERLAP     int body_overlap(const parameters *p, plugmc_separation s,
 *                                              const plugmc_pose *A, const plugmc_pose *B,
 *                                              plugmc_site a, plugmc_site b)
 *                                 0 only if the two are surely apart, which has to be shown: by an axis onto which their
 *                                 projections are apart by more than rounding, say (PLUGMC_SURELY)
 *     PLUGMC_BODY_ENERGY      real body_energy(const parameters *p, plugmc_separation s,
 *                                              const plugmc_pose *A, const plugmc_pose *B,
 *                                              plugmc_site a, plugmc_site b)
 *                             real body_range(const parameters *p)
 *                                 the distance of centres from which the energy is exactly 0
 *     PLUGMC_BODY_PATH        real body_path(const parameters *p, plugmc_separation s,
 *                                            const plugmc_pose *A, const plugmc_pose *B,
 *                                            plugmc_site a, plugmc_site b, int32_t axis)
 *                                 how far a can go along +axis (0, 1, 2) before it touches b; PLUGMC_NO_RANGE: it does
 *                                 not meet it. For the pressure
 *     PLUGMC_BODY_STEPS       int32_t body_steps(const parameters *p, plugmc_separation s,
 *                                                const plugmc_pose *A, const plugmc_pose *B,
 *                                                plugmc_site a, plugmc_site b, int32_t axis, real *out)
 *                                 for energies that are constant but for steps: where along +axis, before a or behind it, the
 *                                 energy can change as a goes there; in any order, and more places than needed do no harm.
 *                                 Returns how many, at most PLUGMC_MOST_STEPS. For the pressure
 *     PLUGMC_BODY_GAP         real body_gap(const parameters *p, plugmc_separation s,
 *                                           const plugmc_pose *A, const plugmc_pose *B,
 *                                           plugmc_site a, plugmc_site b, real enough, real axis[3])
 *                                 for convex bodies, in place of OVERLAP and PATH: the width of an empty slab between the
 *                                 two and its normal, a unit vector from a to b. The widest slab, which is as wide as the
 *                                 two are distant; or any that is wider than `enough`. Not above 0 if they overlap
 *
 *     PLUGMC_BODY_SHAPE       static int body_shape(const void *instance, const plugmc_particle *a,
 *                                                   char *json, size_t size)
 *                                 plugmc_body.shape, behind this header under #if PLUGMC_HOST: how a is drawn
 *
 *     PLUGMC_BODY_LANES       body_overlap_lanes: see plugmc/body_pairs.h
 *
 *     PLUGMC_BODY_APART       int body_apart(const parameters *p, plugmc_separation s, const real *x_a,
 *                                            const real *x_b, plugmc_site a, plugmc_site b)
 *                                 for long bodies, by their axes x alone (A->x and B->x): a few operations that find most of
 *                                 those which are apart. 1 only where body_overlap would return 0. Beside it, for speed
 *
 * OVERLAP, ENERGY or GAP is required. Always:
 *
 *     real body_reach(const parameters *p, plugmc_site a)    radius of the sphere around the centre that holds the body;
 *                                                            0: a does not belong to the potential
 *     real body_core(const parameters *p, plugmc_site a)     radius of a sphere inside of it, or 0
 *     real body_volume(const parameters *p, plugmc_site a)   area in two dimensions
 *
 * Spheres are compared first. Bodies overlap if their inscribed spheres do, and are apart if their circumscribed ones are.
 * The two are always handed over in the same order, so the answer does not depend on which of them moves. */
#include "plugmc/placed.h"

#if PLUGMC_BODY & PLUGMC_BODY_BY_GAP
/* By how much a slab has to be wider than 0 to be there in spite of rounding. */
PLUGMC_FN real plugmc_margin(const parameters *p, plugmc_site a, plugmc_site b)
{
    return (PLUGMC_SURELY - 1) * (body_reach(p, a) + body_reach(p, b));
}

PLUGMC_FN int body_overlap(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                           const plugmc_pose *B, plugmc_site a, plugmc_site b)
{
    real axis[3];
    const real margin = plugmc_margin(p, a, b);
    return !(body_gap(p, s, A, B, a, b, margin, axis) > margin);
}

/* Slabs that are wider than this times the sum of the radii are good enough for the first steps. */
#define PLUGMC_WIDE_SLAB ((real)0.01)

/* Up to the far side of an empty slab a body cannot touch the other one. From there the next slab is looked for: with the widest
 * ones these are Newton's steps on the distance of the two, which is a convex function of the way, so they never go too far. */
PLUGMC_FN real body_path(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                         const plugmc_pose *B, plugmc_site a, plugmc_site b, int32_t along)
{
    const real margin = plugmc_margin(p, a, b),
               wide = PLUGMC_WIDE_SLAB * (body_reach(p, a) + body_reach(p, b));
    real way = 0, axis[3];
    for (int step = 0; step < 64; step++) {
        const real x = along == 0 ? s.x + way : s.x, y = along == 1 ? s.y + way : s.y,
                   z = along == 2 ? s.z + way : s.z;
        const plugmc_separation now = {x, y, z, x * x + y * y + z * z};
        const real gap = body_gap(p, now, A, B, a, b, step < 8 ? wide : PLUGMC_NO_RANGE, axis);
        if (axis[along] <= 0 && gap > -margin) return PLUGMC_NO_RANGE;
        if (!(gap > margin)) break;
        way += gap / axis[along];
    }
    return way;
}
#endif

/* Two spheres, around or inside, whose radii have these sums: -1 if they are surely apart, 1 if they surely overlap, 0 if the
 * bodies have to be looked at. */
PLUGMC_FN int plugmc_compare_spheres(real r2, real around, real inside)
{
    return r2 > around * around * PLUGMC_SURELY ? -1 : r2 < inside * inside;
}

PLUGMC_FN int plugmc_spheres_meet(const parameters *p, plugmc_separation s, plugmc_site a,
                                  plugmc_site b)
{
    return plugmc_compare_spheres(s.r2, body_reach(p, a) + body_reach(p, b),
                                  body_core(p, a) + body_core(p, b));
}

#if PLUGMC_BODY & PLUGMC_BODY_APART
#if !PLUGMC_HOST
static __host__ __device__ constexpr int plugmc_looks_quickly(const parameters *) { return 1; }
#endif

/* Whether two bodies, whose spheres have been compared, are apart by a quick look at their axes x. */
PLUGMC_FN int plugmc_quickly_apart(const parameters *p, plugmc_separation s, const real *x_a,
                                   const real *x_b, plugmc_site a, plugmc_site b)
{
    return body_apart(p, s, x_a, x_b, a, b);
}
#endif

/* Whether two bodies overlap, whose spheres have been compared. */
PLUGMC_FN int plugmc_bodies_overlap(const parameters *p, plugmc_separation s,
                                    const plugmc_placed *a, const plugmc_placed *b)
{
#if PLUGMC_BODY & PLUGMC_BODY_OVERLAP
    const plugmc_in_order o = plugmc_ordered(s, a, b);
    return body_overlap(p, o.s, &o.a.pose, &o.b.pose, o.a.site, o.b.site);
#else
    (void)p, (void)s, (void)a, (void)b;
    return 0;
#endif
}

PLUGMC_FN real plugmc_energy_of_bodies(const parameters *p, plugmc_separation s,
                                       const plugmc_placed *a, const plugmc_placed *b)
{
#if PLUGMC_BODY & PLUGMC_BODY_ENERGY
    const plugmc_in_order o = plugmc_ordered(s, a, b);
    return body_energy(p, o.s, &o.a.pose, &o.b.pose, o.a.site, o.b.site);
#else
    (void)p, (void)s, (void)a, (void)b;
    return 0;
#endif
}

PLUGMC_FN real plugmc_range_of_bodies(const parameters *p)
{
#if PLUGMC_BODY & PLUGMC_BODY_ENERGY
    return body_range(p);
#else
    (void)p;
    return 0;
#endif
}

/* Two bodies, of which the pose of a is known. Returns 1 if they overlap, else 0, and their energy is added to *energy. */
PLUGMC_FN int plugmc_bodies_meet(const parameters *p, plugmc_separation s, const plugmc_placed *a,
                                 plugmc_placed *b, int32_t dimension, real *energy)
{
    const real range = plugmc_range_of_bodies(p);
    const int near = s.r2 < range * range;
#if PLUGMC_BODY & PLUGMC_BODY_OVERLAP
    const int meet = plugmc_spheres_meet(p, s, a->site, b->site);
#else
    const int meet = -1;
#endif
    if ((meet < 0 && !near) || !(body_reach(p, b->site) > 0)) return 0;
    if (meet > 0) return 1;
    b->pose = plugmc_pose_of(&b->orientation, dimension);
/* not on a GPU, where threads would wait for those that have to look on */
#if PLUGMC_HOST && PLUGMC_BODY & PLUGMC_BODY_APART
    const int look = meet == 0 && !body_apart(p, s, a->pose.x, b->pose.x, a->site, b->site);
#else
    const int look = meet == 0;
#endif
    if (look && plugmc_bodies_overlap(p, s, a, b)) return 1;
    if (near) *energy += plugmc_energy_of_bodies(p, s, a, b);
    return 0;
}

#if PLUGMC_HOST
#include "plugmc/body_pairs.h"

PLUGMC_FN plugmc_site plugmc_site_of_body(const plugmc_particle *a)
{
    return (plugmc_site){(real)a->charge, (real)a->diameter, a->species};
}

PLUGMC_FN plugmc_site plugmc_site_of_other(const plugmc_particles *o, int64_t j)
{
    return (plugmc_site){((const real *)o->charge)[j], ((const real *)o->diameter)[j],
                         o->species[j]};
}

static double plugmc_body_reach(const void *instance, const plugmc_particle *a)
{
    return (double)body_reach((const parameters *)instance, plugmc_site_of_body(a));
}

static double plugmc_body_core(const void *instance, const plugmc_particle *a)
{
    return (double)body_core((const parameters *)instance, plugmc_site_of_body(a));
}

static double plugmc_body_volume(const void *instance, const plugmc_particle *a)
{
    return (double)body_volume((const parameters *)instance, plugmc_site_of_body(a));
}

static double plugmc_body_range(const void *instance)
{
    return (double)plugmc_range_of_bodies((const parameters *)instance);
}

static PLUGMC_TARGETS int64_t plugmc_body_energy(const void *instance, const plugmc_box *box,
                                                 int periodic, const plugmc_particle *probe,
                                                 const plugmc_orientation *turned,
                                                 const plugmc_particles *others,
                                                 const plugmc_orientation *orientations,
                                                 double *energy)
{
    const parameters *p = (const parameters *)instance;
    const plugmc_placed a = {plugmc_site_of_body(probe), *turned,
                             plugmc_pose_of(turned, box->dimension)};
    const real at[3] = {(real)probe->x, (real)probe->y, (real)probe->z};
    plugmc_images images;
    const int mode = plugmc_images_of(box, periodic, &images);
    int64_t overlaps = 0;
    double sum = 0;
    if (!(body_reach(p, a.site) > 0)) return 0;
    for (int64_t j = 0; j < others->n; j++) {
        const plugmc_separation s = plugmc_separate(
            at[0] - ((const real *)others->x)[j], at[1] - ((const real *)others->y)[j],
            at[2] - ((const real *)others->z)[j], &images, mode);
        plugmc_placed b = {plugmc_site_of_other(others, j), orientations[j], {{0}, {0}, {0}}};
        real u = 0;
        overlaps += plugmc_bodies_meet(p, s, &a, &b, box->dimension, &u);
        sum += (double)u;
    }
    *energy += sum;
    return overlaps;
}

static PLUGMC_TARGETS int plugmc_body_meet(const void *instance, int32_t dimension,
                                           const plugmc_particle *probe,
                                           const plugmc_orientation *turned,
                                           const plugmc_particles *others,
                                           const plugmc_orientation *orientations, void *energy)
{
    const parameters *p = (const parameters *)instance;
    const plugmc_placed a = {plugmc_site_of_body(probe), *turned,
                             plugmc_pose_of(turned, dimension)};
    real u = 0;
    if (!(body_reach(p, a.site) > 0)) return 0;
    for (int64_t j = 0; j < others->n; j++) {
        const real x = ((const real *)others->x)[j], y = ((const real *)others->y)[j],
                   z = ((const real *)others->z)[j];
        const plugmc_separation s = {x, y, z, x * x + y * y + z * z};
        plugmc_placed b = {plugmc_site_of_other(others, j), orientations[j], {{0}, {0}, {0}}};
        if (plugmc_bodies_meet(p, s, &a, &b, dimension, &u)) return 1;
    }
    *(real *)energy += u;
    return 0;
}

#include "plugmc/body_pairs_facet.h"

#if PLUGMC_BODY & PLUGMC_BODY_OVERLAP
static int plugmc_body_overlap(const void *instance, int32_t dimension, const double *apart,
                               const plugmc_particle *a, const plugmc_orientation *turned_a,
                               const plugmc_particle *b, const plugmc_orientation *turned_b)
{
    const real x = (real)apart[0], y = (real)apart[1], z = (real)apart[2];
    const plugmc_separation s = {x, y, z, x * x + y * y + z * z};
    const plugmc_placed one = {plugmc_site_of_body(a), *turned_a,
                               plugmc_pose_of(turned_a, dimension)},
                        other = {plugmc_site_of_body(b), *turned_b,
                                 plugmc_pose_of(turned_b, dimension)};
    return plugmc_bodies_overlap((const parameters *)instance, s, &one, &other) != 0;
}
#else
#define plugmc_body_overlap NULL
#endif

#if PLUGMC_BODY & PLUGMC_BODY_PATH
static PLUGMC_TARGETS void plugmc_body_paths(const void *instance, int32_t dimension, int32_t axis,
                                             const plugmc_particle *probe,
                                             const plugmc_orientation *turned,
                                             const plugmc_particles *others,
                                             const plugmc_orientation *orientations, double *out)
{
    const parameters *p = (const parameters *)instance;
    const plugmc_site a = plugmc_site_of_body(probe);
    const plugmc_pose pose = plugmc_pose_of(turned, dimension);
    const real at[3] = {(real)probe->x, (real)probe->y, (real)probe->z};
    for (int64_t j = 0; j < others->n; j++) {
        const real x = at[0] - ((const real *)others->x)[j],
                   y = at[1] - ((const real *)others->y)[j],
                   z = at[2] - ((const real *)others->z)[j];
        const plugmc_separation s = {x, y, z, x * x + y * y + z * z};
        const plugmc_site b = plugmc_site_of_other(others, j);
        const real along = axis == 0   ? x
                           : axis == 1 ? y
                                       : z,
                   around = body_reach(p, a) + body_reach(p, b);
        out[j] = INFINITY;
        if (!(body_reach(p, a) > 0) || !(body_reach(p, b) > 0) || along > around ||
            s.r2 - along * along > around * around)
            continue;
        const plugmc_pose other = plugmc_pose_of(&orientations[j], dimension);
        out[j] = (double)body_path(p, s, &pose, &other, a, b, axis);
    }
}
#else
#define plugmc_body_paths NULL
#endif

#if PLUGMC_BODY & PLUGMC_BODY_BY_GAP
static PLUGMC_TARGETS double plugmc_body_slab(const void *instance, int32_t dimension,
                                              const double *apart, const plugmc_particle *a,
                                              const plugmc_orientation *turned_a,
                                              const plugmc_particle *b,
                                              const plugmc_orientation *turned_b, double normal[3])
{
    const parameters *p = (const parameters *)instance;
    const real x = (real)apart[0], y = (real)apart[1], z = (real)apart[2];
    const plugmc_separation s = {x, y, z, x * x + y * y + z * z};
    const plugmc_pose A = plugmc_pose_of(turned_a, dimension),
                      B = plugmc_pose_of(turned_b, dimension);
    const plugmc_site one = plugmc_site_of_body(a), other = plugmc_site_of_body(b);
    real axis[3] = {0, 0, 0};
    if (!(body_reach(p, one) > 0) || !(body_reach(p, other) > 0)) return 0;
    const real enough = PLUGMC_WIDE_SLAB * (body_reach(p, one) + body_reach(p, other)),
               gap = body_gap(p, s, &A, &B, one, other, enough, axis);
    for (int d = 0; d < 3; d++) normal[d] = (double)axis[d];
    return gap > plugmc_margin(p, one, other) ? (double)gap : 0;
}
#else
#define plugmc_body_slab NULL
#endif

#if PLUGMC_BODY & PLUGMC_BODY_STEPS
static PLUGMC_TARGETS int32_t plugmc_body_steps(const void *instance, int32_t dimension,
                                                int32_t axis, const double *apart,
                                                const plugmc_particle *a,
                                                const plugmc_orientation *turned_a,
                                                const plugmc_particle *b,
                                                const plugmc_orientation *turned_b, double *out)
{
    const real x = (real)apart[0], y = (real)apart[1], z = (real)apart[2];
    const plugmc_separation s = {x, y, z, x * x + y * y + z * z};
    const plugmc_pose A = plugmc_pose_of(turned_a, dimension),
                      B = plugmc_pose_of(turned_b, dimension);
    real steps[PLUGMC_MOST_STEPS];
    const int32_t n = body_steps((const parameters *)instance, s, &A, &B, plugmc_site_of_body(a),
                                 plugmc_site_of_body(b), axis, steps);
    for (int32_t k = 0; k < n; k++) out[k] = (double)steps[k];
    return n;
}
#else
#define plugmc_body_steps NULL
#endif

#if PLUGMC_BODY & PLUGMC_BODY_SHAPE
static int body_shape(const void *instance, const plugmc_particle *, char *json, size_t size);
#else
#define body_shape NULL
#endif

static const plugmc_body plugmc_body_facet = {.size = sizeof(plugmc_body),
                                              .functions = PLUGMC_BODY,
                                              .reach = plugmc_body_reach,
                                              .core = plugmc_body_core,
                                              .volume = plugmc_body_volume,
                                              .range = plugmc_body_range,
                                              .energy = plugmc_body_energy,
                                              .meet = plugmc_body_meet,
                                              .overlap = plugmc_body_overlap,
                                              .paths = plugmc_body_paths,
                                              .shape = body_shape,
                                              .steps = plugmc_body_steps,
                                              .slab = plugmc_body_slab};
/* For the descriptor of a potential that has bodies alone. */
#define PLUGMC_BODIES_ALONE                                                                        \
    .kind = PLUGMC_POTENTIAL,                                                                      \
    .potential = &(const plugmc_potential){.size = sizeof(plugmc_potential)},                      \
    PLUGMC_OFFERS({PLUGMC_BODY_FACET, &plugmc_body_facet},                                         \
                  {PLUGMC_BODY_PAIRS, &plugmc_body_pairs_facet})
#endif
