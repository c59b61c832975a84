/* rigid_step.h: the motion of one rigid molecule in a trajectory, for the CPU and, behind integers.h, in front of hmc.cu.
 * Why it is as it is, rigid.h says.
 *
 * All of it is in double, in the same order on both, so that CPU and GPU differ by the rounding of forces alone.
 *
 * `o` is an orientation as the core has it, `turning` the angular momentum along the principal axes, `m` the number of a
 * molecule within its kind. */
#ifndef PLUGMC_HMC_RIGID_STEP_H
#define PLUGMC_HMC_RIGID_STEP_H

typedef struct hmc_kind hmc_kind;
typedef struct hmc_member hmc_member;

#if PLUGMC_HOST || HMC_RIGID
#include <plugmc/molecule.h>

/* On a GPU of two copies of an expression one may be contracted in another way ([run] fast_math), and a step would not be
 * undone by its reverse. So there is one. */
#ifdef __CUDACC_RTC__
#define HMC_ONE_COPY static __device__ __noinline__
#else
#define HMC_ONE_COPY PLUGMC_FN
#endif

/* What a particle is to a trajectory. */
enum { HMC_FREE, HMC_FIRST_SITE, HMC_SECOND_SITE, HMC_OTHER_SITE };

struct hmc_kind {
    const plugmc_molecule *sites;
    double mass, centre[3]; /* of mass, seen from the first site at rest, length */
    /* About the principal axes, mass length^2. About the axis of a linear molecule, where nothing turns, that of the
     * other two. */
    double inertia[3];
    /* tan of a quarter of the Euler angles about z, x, z that turn the frame at rest into the principal axes, in 2^-30. */
    int32_t tangent[3];
};

/* Of a particle, on a GPU. */
struct hmc_member {
    int32_t role, kind; /* -1: of a particle in no molecule */
    int32_t molecule;   /* of all kinds, as in plugmc_system; -1 likewise */
    int32_t within;     /* the same within its kind */
};

/* ---- Turns --------------------------------------------------------------------------------------- */

/* Turns the body about axis k of its frame by 4 atan(tangent / 2^30); undone by the opposite tangent. */
PLUGMC_FN void hmc_turn_frame(plugmc_orientation *o, int k, int32_t tangent)
{
    const double t = (double)tangent * 0x1p-30, exact = 2 * t / (1 + t * t) * 0x1p30;
    const int32_t sine = (int32_t)rint(exact);
    const int l = k == 2 ? 0 : k + 1, m = k == 0 ? 2 : k - 1;
    plugmc_shear_plane(&o->part[0], &o->part[1 + k], tangent, sine);
    plugmc_shear_plane(&o->part[1 + m], &o->part[1 + l], tangent, sine);
}

PLUGMC_FN void hmc_add_part(int64_t *x, double factor, int64_t y)
{
    *x = (int64_t)((uint64_t)*x + (uint64_t)hmc_nearest(factor * (double)y));
}

/* The angular momentum, constant in space, as it is seen from that body: turned the other way. */
PLUGMC_FN void hmc_turn_momentum(int64_t turning[3], int k, int32_t tangent)
{
    const double quarter = (double)tangent * 0x1p-30, half = 2 * quarter / (1 - quarter * quarter),
                 sine = 2 * half / (1 + half * half);
    int64_t *x = &turning[k == 2 ? 0 : k + 1], *y = &turning[k == 0 ? 2 : k - 1];
    hmc_add_part(x, half, *y);
    hmc_add_part(y, -sine, *x);
    hmc_add_part(x, half, *y);
}

/* Tangent of a quarter of an angle of at most 1, in 2^-30: an odd function of it, by its series. */
PLUGMC_FN int32_t hmc_tangent_of_quarter(double angle)
{
    const double x = 0.25 * angle, g = x * x;
    double sum = 62.0 / 2835 + g * (1382.0 / 155925 + g * (21844.0 / 6081075));
    sum = 1 + g * (1.0 / 3 + g * (2.0 / 15 + g * (17.0 / 315 + g * sum)));
    return (int32_t)hmc_nearest(x * sum * 0x1p30);
}

/* Free motion about one principal axis, whose angular momentum stays. Angles that no sensible time step gives are cut. */
PLUGMC_FN void hmc_spin(const hmc_kind *kind, plugmc_orientation *o, int64_t turning[3], int k,
                        double time)
{
    const double most = 64,
                 free = (double)turning[k] * (time / kind->inertia[k] / HMC_MOMENTUM_UNIT),
                 angle = free > most ? most : (free < -most ? -most : free);
    const int32_t pieces = 1 + (int32_t)fabs(angle),
                  tangent = hmc_tangent_of_quarter(angle / pieces);
    for (int32_t n = 0; n < pieces; n++) {
        hmc_turn_frame(o, k, tangent);
        hmc_turn_momentum(turning, k, tangent);
    }
}

/* To the frame of the principal axes, and back. */
PLUGMC_FN void hmc_to_axes(const hmc_kind *kind, plugmc_orientation *o)
{
    PLUGMC_UNROLL
    for (int k = 0; k < 3; k++) hmc_turn_frame(o, k == 1 ? 0 : 2, kind->tangent[k]);
}

PLUGMC_FN void hmc_from_axes(const hmc_kind *kind, plugmc_orientation *o)
{
    PLUGMC_UNROLL
    for (int k = 2; k >= 0; k--) hmc_turn_frame(o, k == 1 ? 0 : 2, -kind->tangent[k]);
}

/* ---- Motion -------------------------------------------------------------------------------------- */

/* Adds to a place the vector from the first site to the centre of mass, `times` 1 or -1. */
HMC_ONE_COPY void hmc_add_centre(const hmc_kind *kind, const plugmc_box *box,
                                 const plugmc_orientation *o, int times, uint64_t place[3])
{
    double v[3];
    plugmc_turn_vector(o, kind->centre, v);
    for (int d = 0; d < 3; d++) {
        double f = v[d] * box->inverse[d][d];
        if (box->oblique)
            f = v[0] * box->inverse[0][d] + v[1] * box->inverse[1][d] + v[2] * box->inverse[2][d];
        const uint64_t change = (uint64_t)hmc_nearest(f * HMC_PLACE_UNIT) << 16;
        place[d] += times > 0 ? change : -change;
    }
}

/* A step of orientation, angular momentum and place of the first site; momentum is that of the centre of mass. */
PLUGMC_FN void hmc_drift_molecule(const hmc_kind *kind, const plugmc_box *box, double time,
                                  const int64_t momentum[3], int64_t turning[3],
                                  plugmc_orientation *o, uint64_t place[3])
{
    hmc_add_centre(kind, box, o, 1, place);
    hmc_to_axes(kind, o);
    PLUGMC_UNROLL
    for (int k = 0; k < 5; k++) { /* about 2, 1, 0, 1, 2 */
        const int axis = k < 2 ? 2 - k : k - 2;
        hmc_spin(kind, o, turning, axis, axis ? 0.5 * time : time);
    }
    hmc_from_axes(kind, o);
    hmc_drift(box, time / kind->mass, momentum, place);
    hmc_add_centre(kind, box, o, -1, place);
}

/* Positions and places of all sites but the first one, from its position. Arrays [particles][3] of the walker. */
PLUGMC_FN void hmc_place_sites(const hmc_kind *kind, const plugmc_box *box, int64_t m,
                               const plugmc_orientation *o, double *positions, uint64_t *place)
{
    const plugmc_molecule *sites = kind->sites;
    const double *first = positions + 3 * plugmc_site_number(sites, m, 0);
    for (int32_t a = 1; a < sites->sites; a++) {
        const int64_t at = 3 * plugmc_site_number(sites, m, a);
        plugmc_place_site(sites, o, box, first, a, positions + at);
        hmc_place_of(box, positions + at, place + at);
    }
}

/* The force on a molecule, and its torque about the centre of mass along the principal axes, from those on sites
 * [particles][3] of the walker. */
PLUGMC_FN void hmc_sum_forces(const hmc_kind *kind, int64_t m, const plugmc_orientation *o,
                              const double *of_sites, double force[3], double along[3])
{
    const plugmc_molecule *sites = kind->sites;
    double torque[3] = {0, 0, 0};
    for (int d = 0; d < 3; d++) force[d] = 0;
    for (int32_t a = 0; a < sites->sites; a++) {
        const double *f = of_sites + 3 * plugmc_site_number(sites, m, a);
        double rest[3], r[3];
        for (int d = 0; d < 3; d++) rest[d] = sites->place[a][d] - kind->centre[d];
        plugmc_turn_vector(o, rest, r);
        PLUGMC_UNROLL
        for (int d = 0; d < 3; d++) {
            const int e = d == 2 ? 0 : d + 1, g = d == 0 ? 2 : d - 1;
            force[d] += f[d];
            torque[d] += r[e] * f[g] - r[g] * f[e];
        }
    }
    plugmc_orientation axes = *o;
    hmc_to_axes(kind, &axes);
    PLUGMC_UNROLL
    for (int k = 0; k < 3; k++) {
        const double unit[3] = {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
        double axis[3];
        plugmc_turn_vector(&axes, unit, axis);
        along[k] = axis[0] * torque[0] + axis[1] * torque[1] + axis[2] * torque[2];
    }
}

/* Whether an orientation has left the shell in which they may be; see plugmc_turn_in_space. */
PLUGMC_FN int hmc_lost_shape(const plugmc_orientation *o)
{
    double square = 0;
    for (int k = 0; k < 4; k++) square += (double)o->part[k] * (double)o->part[k];
    square *= 0x1p-60;
    return !(square > 0.98 && square < 1.02);
}

/* ---- Momenta ------------------------------------------------------------------------------------- */

/* Momenta kept at particle i: of the molecule, if it is the first or second site of one. `mass` is that of a particle in
 * none. */
PLUGMC_FN void hmc_draw_member(plugmc_seed seed, uint64_t sweep, uint32_t walker, uint32_t i,
                               int role, const hmc_kind *kind, double mass, double kT,
                               int64_t momentum[3])
{
    const int second = role == HMC_SECOND_SITE;
    for (int d = 0; d < 3; d++) momentum[d] = 0;
    if (role == HMC_OTHER_SITE) return;
    const double of_all = !kind ? mass : second ? 1 : kind->mass;
    hmc_momentum(seed, sweep, walker, i, 3, of_all * kT, momentum);
    for (int d = 0; d < 3 && second; d++)
        momentum[d] = hmc_nearest((double)momentum[d] * sqrt(kind->inertia[d]));
}

/* Kinetic energy of these. */
PLUGMC_FN double hmc_kinetic_of_member(int role, const hmc_kind *kind, double mass,
                                       const int64_t momentum[3])
{
    double sum = 0;
    if (!kind) return 0.5 * hmc_square(momentum) / mass;
    if (role == HMC_FIRST_SITE) return 0.5 * hmc_square(momentum) / kind->mass;
    for (int d = 0; d < 3; d++) {
        const double turning = (double)momentum[d] / HMC_MOMENTUM_UNIT;
        sum += 0.5 * turning * turning / kind->inertia[d];
    }
    return sum;
}

#endif
#endif
