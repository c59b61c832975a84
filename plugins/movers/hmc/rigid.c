/* See rigid.h. */
#include "rigid.h"

#include <math.h>
#include <string.h>

#include "cpu.h"

/* ---- Turns --------------------------------------------------------------------------------------- */

/* Turns the body about axis k of its frame by 4 atan(tangent / 2^30); undone by the opposite tangent. */
static void turn_frame(plugmc_orientation *o, int k, int32_t tangent)
{
    const double t = (double)tangent * 0x1p-30, exact = 2 * t / (1 + t * t) * 0x1p30;
    const int32_t sine = (int32_t)rint(exact);
    const int l = k == 2 ? 0 : k + 1, m = k == 0 ? 2 : k - 1;
    plugmc_shear_plane(&o->part[0], &o->part[1 + k], tangent, sine);
    plugmc_shear_plane(&o->part[1 + m], &o->part[1 + l], tangent, sine);
}

static void add_part(int64_t *x, double factor, int64_t y)
{
    *x = (int64_t)((uint64_t)*x + (uint64_t)hmc_nearest(factor * (double)y));
}

/* The angular momentum, constant in space, as it is seen from that body: turned the other way. */
static void turn_momentum(int64_t momentum[3], int k, int32_t tangent)
{
    const double quarter = (double)tangent * 0x1p-30, half = 2 * quarter / (1 - quarter * quarter),
                 sine = 2 * half / (1 + half * half);
    int64_t *x = &momentum[k == 2 ? 0 : k + 1], *y = &momentum[k == 0 ? 2 : k - 1];
    add_part(x, half, *y);
    add_part(y, -sine, *x);
    add_part(x, half, *y);
}

/* Tangent of a quarter of an angle of at most 1, in 2^-30: an odd function of it, by its series. */
static int32_t tangent_of_quarter(double angle)
{
    const double x = 0.25 * angle, g = x * x;
    double sum = 62.0 / 2835 + g * (1382.0 / 155925 + g * (21844.0 / 6081075));
    sum = 1 + g * (1.0 / 3 + g * (2.0 / 15 + g * (17.0 / 315 + g * sum)));
    return (int32_t)hmc_nearest(x * sum * 0x1p30);
}

/* Free motion about one principal axis, whose angular momentum stays. Angles that no sensible time step gives are cut. */
static void spin(const hmc_kind *kind, plugmc_orientation *o, int64_t momentum[3], int k,
                 double time)
{
    const double most = 64,
                 free = (double)momentum[k] * (time / kind->inertia[k] / HMC_MOMENTUM_UNIT),
                 angle = free > most ? most : (free < -most ? -most : free);
    const int32_t pieces = 1 + (int32_t)fabs(angle), tangent = tangent_of_quarter(angle / pieces);
    for (int32_t n = 0; n < pieces; n++) {
        turn_frame(o, k, tangent);
        turn_momentum(momentum, k, tangent);
    }
}

/* To the frame of the principal axes, and back. */
static void to_axes(const hmc_kind *kind, plugmc_orientation *o)
{
    for (int k = 0; k < 3; k++) turn_frame(o, k == 1 ? 0 : 2, kind->tangent[k]);
}

static void from_axes(const hmc_kind *kind, plugmc_orientation *o)
{
    for (int k = 2; k >= 0; k--) turn_frame(o, k == 1 ? 0 : 2, -kind->tangent[k]);
}

/* ---- Motion -------------------------------------------------------------------------------------- */

/* Adds to a place the vector from the first site to the centre of mass, `times` 1 or -1. */
static void add_centre(const hmc_kind *kind, const plugmc_box *box, const plugmc_orientation *o,
                       int times, uint64_t place[3])
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

/* Number of the second site of the molecule with first site i. */
static int64_t second_of(const hmc *h, int64_t i)
{
    const plugmc_molecule *sites = h->rigid->with[i]->sites;
    return plugmc_site_number(sites, h->system->molecule[i] - sites->number, 1);
}

void hmc_rigid_drift(hmc *h, int32_t w, int64_t i, double time)
{
    static const int order[5] = {2, 1, 0, 1, 2};
    const hmc_kind *kind = h->rigid->with[i];
    const plugmc_box *box = &h->box[w];
    const int64_t walker = w * h->system->particles;
    plugmc_orientation *o = &h->rigid->turned[walker + i];
    uint64_t *place = h->cpu->place + 3 * (walker + i);
    int64_t *turning = h->cpu->momentum + 3 * (walker + second_of(h, i));
    add_centre(kind, box, o, 1, place);
    to_axes(kind, o);
    for (int k = 0; k < 5; k++) spin(kind, o, turning, order[k], order[k] ? 0.5 * time : time);
    from_axes(kind, o);
    hmc_drift(box, time / kind->mass, h->cpu->momentum + 3 * (walker + i), place);
    add_centre(kind, box, o, -1, place);
}

void hmc_rigid_place(const hmc *h)
{
    const hmc_cpu *c = h->cpu;
    const int64_t n = h->system->particles;
#pragma omp parallel for collapse(2) num_threads(c->threads) schedule(static)
    for (int32_t w = 0; w < h->system->walkers; w++)
        for (int64_t i = 0; i < n; i++) {
            if (h->rigid->role[i] != HMC_FIRST_SITE) continue;
            const plugmc_molecule *sites = h->rigid->with[i]->sites;
            const int64_t m = h->system->molecule[i] - sites->number, walker = w * n;
            for (int32_t a = 1; a < sites->sites; a++) {
                const int64_t at = 3 * (walker + plugmc_site_number(sites, m, a));
                plugmc_place_site(sites, &h->rigid->turned[walker + i], &h->box[w],
                                  c->positions + 3 * (walker + i), a, c->positions + at);
                hmc_place_of(&h->box[w], c->positions + at, c->place + at);
            }
        }
}

/* The force on the molecule with first site i, and the torque about its centre of mass along its principal axes. */
static void gather(const hmc *h, int64_t walker, int64_t i)
{
    const hmc_kind *kind = h->rigid->with[i];
    const plugmc_molecule *sites = kind->sites;
    const plugmc_orientation *o = &h->rigid->turned[walker + i];
    const int64_t m = h->system->molecule[i] - sites->number;
    double sum[3] = {0}, torque[3] = {0};
    for (int32_t a = 0; a < sites->sites; a++) {
        double *f = h->cpu->force + 3 * (walker + plugmc_site_number(sites, m, a)), rest[3], r[3];
        for (int d = 0; d < 3; d++) rest[d] = sites->place[a][d] - kind->centre[d];
        plugmc_turn_vector(o, rest, r);
        for (int d = 0; d < 3; d++) {
            const int e = d == 2 ? 0 : d + 1, g = d == 0 ? 2 : d - 1;
            sum[d] += f[d];
            torque[d] += r[e] * f[g] - r[g] * f[e];
        }
        for (int d = 0; d < 3; d++) f[d] = 0;
    }
    double *force = h->cpu->force + 3 * (walker + i),
           *along = h->cpu->force + 3 * (walker + second_of(h, i));
    plugmc_orientation axes = *o;
    to_axes(kind, &axes);
    for (int k = 0; k < 3; k++) {
        const double unit[3] = {k == 0, k == 1, k == 2};
        double axis[3];
        plugmc_turn_vector(&axes, unit, axis);
        force[k] = sum[k];
        along[k] = axis[0] * torque[0] + axis[1] * torque[1] + axis[2] * torque[2];
    }
}

void hmc_rigid_gather(const hmc *h)
{
    const int64_t n = h->system->particles;
#pragma omp parallel for collapse(2) num_threads(h->cpu->threads) schedule(static)
    for (int32_t w = 0; w < h->system->walkers; w++)
        for (int64_t i = 0; i < n; i++)
            if (h->rigid->role[i] == HMC_FIRST_SITE) gather(h, w * n, i);
}

int hmc_rigid_lost_shape(const hmc *h, int32_t w)
{
    const int64_t n = h->system->particles;
    int lost = 0;
    for (int64_t i = 0; i < n; i++) {
        const plugmc_orientation *o = &h->rigid->turned[w * n + i];
        double square = 0;
        if (h->rigid->role[i] != HMC_FIRST_SITE) continue;
        for (int k = 0; k < 4; k++) square += (double)o->part[k] * (double)o->part[k];
        square *= 0x1p-60;
        lost |= !(square > 0.98 && square < 1.02);
    }
    return lost;
}

/* ---- Momenta ------------------------------------------------------------------------------------- */

void hmc_rigid_draw(const hmc *h, uint64_t sweep, int32_t w, int64_t i, int64_t momentum[3])
{
    const double kT = h->ladder.rung[w].kT;
    const hmc_kind *kind = h->rigid->with[i];
    const int second = h->rigid->role[i] == HMC_SECOND_SITE;
    memset(momentum, 0, 3 * sizeof *momentum);
    if (h->rigid->role[i] == HMC_OTHER_SITE) return;
    const double mass = !kind ? h->mass[h->cpu->species[i]] : second ? 1 : kind->mass;
    hmc_momentum(h->seed, sweep, (uint32_t)w, (uint32_t)i, 3, mass * kT, momentum);
    for (int d = 0; d < 3 && second; d++)
        momentum[d] = hmc_nearest((double)momentum[d] * sqrt(kind->inertia[d]));
}

double hmc_rigid_kinetic(const hmc *h, int64_t i, const int64_t momentum[3])
{
    const hmc_kind *kind = h->rigid->with[i];
    double sum = 0;
    if (!kind) return 0.5 * hmc_square(momentum) / h->mass[h->cpu->species[i]];
    if (h->rigid->role[i] == HMC_FIRST_SITE) return 0.5 * hmc_square(momentum) / kind->mass;
    for (int d = 0; d < 3; d++) {
        const double turning = (double)momentum[d] / HMC_MOMENTUM_UNIT;
        sum += 0.5 * turning * turning / kind->inertia[d];
    }
    return sum;
}

double hmc_rigid_mass(const hmc *h, int32_t species)
{
    const plugmc_system *system = h->system;
    double least = INFINITY;
    if (!h->rigid) return h->mass[species];
    for (int64_t i = system->first[species]; i < system->first[species + 1]; i++)
        least = fmin(least, h->rigid->with[i] ? h->rigid->with[i]->mass : h->mass[species]);
    return least;
}

double hmc_rigid_period(const hmc *h, double kT)
{
    double least = INFINITY;
    for (int32_t k = 0; h->rigid && k < h->system->molecules->kinds; k++)
        for (int d = 0; d < 3; d++) least = fmin(least, h->rigid->kind[k].inertia[d]);
    return sqrt(least / kT);
}

/* ---- The state ----------------------------------------------------------------------------------- */

int hmc_rigid_load(hmc *h, const plugmc_state *state)
{
    void *out;
    const int code =
        state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_HOST, PLUGMC_READ, &out, NULL);
    if (!code)
        memcpy(h->rigid->turned, out,
               (size_t)(h->system->walkers * h->system->particles) * sizeof *h->rigid->turned);
    return code;
}

/* Sites go where the core would put them, from the first ones, which are there already. */
int hmc_rigid_store(const hmc *h, const plugmc_state *state, double *positions)
{
    const int64_t n = h->system->particles;
    void *out;
    const int code = state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_HOST,
                                  PLUGMC_READ | PLUGMC_WRITE, &out, NULL);
    for (int64_t at = 0; at < h->system->walkers * n && !code; at++) {
        const int64_t i = at % n;
        if (h->rigid->role[i] != HMC_FIRST_SITE) continue;
        const plugmc_molecule *sites = h->rigid->with[i]->sites;
        const int64_t m = h->system->molecule[i] - sites->number;
        ((plugmc_orientation *)out)[at] = h->rigid->turned[at];
        for (int32_t a = 1; a < sites->sites; a++)
            plugmc_place_site(sites, &h->rigid->turned[at], &h->box[at / n], positions + 3 * at, a,
                              positions + 3 * (at - i + plugmc_site_number(sites, m, a)));
    }
    return code;
}

/* ---- Principal axes ------------------------------------------------------------------------------ */

static void inertia_at_rest(const hmc *h, hmc_kind *kind, double out[3][3])
{
    const plugmc_molecule *sites = kind->sites;
    for (int32_t a = 0; a < sites->sites; a++) {
        const double mass = h->mass[sites->species[a]];
        kind->mass += mass;
        for (int d = 0; d < 3; d++) kind->centre[d] += mass * sites->place[a][d];
    }
    for (int d = 0; d < 3; d++) kind->centre[d] /= kind->mass;
    memset(out, 0, 9 * sizeof(double));
    for (int32_t a = 0; a < sites->sites; a++) {
        const double mass = h->mass[sites->species[a]];
        double r[3], square = 0;
        for (int d = 0; d < 3; d++) {
            r[d] = sites->place[a][d] - kind->centre[d];
            square += r[d] * r[d];
        }
        for (int d = 0; d < 3; d++)
            for (int e = 0; e < 3; e++) out[d][e] += mass * ((d == e) * square - r[d] * r[e]);
    }
}

/* Jacobi's rotations until the tensor is diagonal; columns of `axes` are its axes. */
static void diagonalise(double tensor[3][3], double axes[3][3])
{
    memset(axes, 0, 9 * sizeof(double));
    for (int d = 0; d < 3; d++) axes[d][d] = 1;
    for (int round = 0; round < 60; round++) {
        const int p = round % 3 == 2 ? 1 : 0, q = round % 3 == 0 ? 1 : 2;
        if (tensor[p][q] == 0) continue;
        const double ratio = (tensor[q][q] - tensor[p][p]) / (2 * tensor[p][q]),
                     t = copysign(1, ratio) / (fabs(ratio) + sqrt(1 + ratio * ratio)),
                     c = 1 / sqrt(1 + t * t), s = t * c;
        for (int d = 0; d < 3; d++) {
            const double x = tensor[d][p], y = tensor[d][q], u = axes[d][p], v = axes[d][q];
            tensor[d][p] = c * x - s * y;
            tensor[d][q] = s * x + c * y;
            axes[d][p] = c * u - s * v;
            axes[d][q] = s * u + c * v;
        }
        for (int d = 0; d < 3; d++) {
            const double x = tensor[p][d], y = tensor[q][d];
            tensor[p][d] = c * x - s * y;
            tensor[q][d] = s * x + c * y;
        }
    }
}

/* Of the angle with this cosine and sine, from -pi to pi, in 2^-30. */
static int32_t tangent_of_direction(double cosine, double sine)
{
    const double length = sqrt(cosine * cosine + sine * sine),
                 half = length + cosine > 1e-12 * length ? sine / (length + cosine) : 1e12,
                 quarter = half / (1 + sqrt(1 + half * half));
    return length > 0 ? (int32_t)hmc_nearest(quarter * 0x1p30) : 0;
}

/* axes = Z(a) X(b) Z(c), a rotation: third column (sin a sin b, -cos a sin b, cos b), third row (sin b sin c, sin b cos c, cos b). */
static void find_angles(hmc_kind *kind, double axes[3][3])
{
    const double across = sqrt(axes[0][2] * axes[0][2] + axes[1][2] * axes[1][2]);
    kind->tangent[1] = tangent_of_direction(axes[2][2], across);
    if (across > 1e-9) {
        kind->tangent[0] = tangent_of_direction(-axes[1][2], axes[0][2]);
        kind->tangent[2] = tangent_of_direction(axes[2][1], axes[2][0]);
    } else { /* only a + c, or a - c, is determined */
        kind->tangent[0] = tangent_of_direction(axes[0][0], axes[1][0]);
        kind->tangent[2] = 0;
    }
}

static void find_axes(const hmc *h, hmc_kind *kind)
{
    const double least = 1e-9; /* of the largest: that of a linear molecule is 0 but for rounding */
    double tensor[3][3], axes[3][3], most = 0;
    inertia_at_rest(h, kind, tensor);
    diagonalise(tensor, axes);
    const double volume = axes[0][0] * (axes[1][1] * axes[2][2] - axes[2][1] * axes[1][2]) -
                          axes[1][0] * (axes[0][1] * axes[2][2] - axes[2][1] * axes[0][2]) +
                          axes[2][0] * (axes[0][1] * axes[1][2] - axes[1][1] * axes[0][2]);
    for (int d = 0; d < 3 && volume < 0; d++) axes[d][0] = -axes[d][0];
    for (int d = 0; d < 3; d++) most = fmax(most, tensor[d][d]);
    for (int d = 0; d < 3; d++)
        kind->inertia[d] = tensor[d][d] > least * most ? tensor[d][d] : most;
    find_angles(kind, axes);
}

int hmc_rigid_prepare(hmc *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    const plugmc_molecules *all = system->molecules;
    const size_t n = (size_t)system->particles, of_walkers = n * (size_t)system->walkers;
    int code = PLUGMC_OK;
    if (!all) return PLUGMC_OK;
    hmc_rigid *r = h->rigid = hmc_cpu_take(host, 1, sizeof *r, &code);
    if (code) return code;
    r->kind = hmc_cpu_take(host, (size_t)all->kinds, sizeof *r->kind, &code);
    r->role = hmc_cpu_take(host, n, sizeof *r->role, &code);
    r->with = hmc_cpu_take(host, n, sizeof *r->with, &code);
    r->turned = hmc_cpu_take(host, of_walkers, sizeof *r->turned, &code);
    r->before = hmc_cpu_take(host, of_walkers, sizeof *r->before, &code);
    r->checked = hmc_cpu_take(host, h->check_reversal ? of_walkers : 1, sizeof *r->checked, &code);
    for (int32_t k = 0; k < all->kinds && !code; k++) {
        hmc_kind *kind = &r->kind[k];
        kind->sites = plugmc_kind_of_molecule(all, k);
        find_axes(h, kind);
        for (int64_t m = 0; m < kind->sites->count; m++)
            for (int32_t a = 0; a < kind->sites->sites; a++) {
                const int64_t i = plugmc_site_number(kind->sites, m, a);
                r->role[i] = (int8_t)(a == 0   ? HMC_FIRST_SITE
                                      : a == 1 ? HMC_SECOND_SITE
                                               : HMC_OTHER_SITE);
                r->with[i] = kind;
            }
    }
    return code;
}
