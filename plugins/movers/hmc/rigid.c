/* See rigid.h. */
#include "rigid.h"

#include <math.h>
#include <string.h>

#include "cpu.h"

/* ---- Motion -------------------------------------------------------------------------------------- */

/* Number of the molecule of site i within its kind. */
static int64_t number_of(const hmc *h, int64_t i)
{
    return h->system->molecule[i] - h->rigid->with[i]->sites->number;
}

/* Number of the second site of the molecule with first site i. */
static int64_t second_of(const hmc *h, int64_t i)
{
    return plugmc_site_number(h->rigid->with[i]->sites, number_of(h, i), 1);
}

void hmc_rigid_drift(hmc *h, int32_t w, int64_t i, double time)
{
    const int64_t walker = w * h->system->particles;
    hmc_drift_molecule(h->rigid->with[i], &h->box[w], time, h->cpu->momentum + 3 * (walker + i),
                       h->cpu->momentum + 3 * (walker + second_of(h, i)),
                       &h->rigid->turned[walker + i], h->cpu->place + 3 * (walker + i));
}

void hmc_rigid_place(const hmc *h)
{
    const hmc_cpu *c = h->cpu;
    const int64_t n = h->system->particles;
#pragma omp parallel for collapse(2) num_threads(c->threads) schedule(static)
    for (int32_t w = 0; w < h->system->walkers; w++)
        for (int64_t i = 0; i < n; i++)
            if (h->rigid->role[i] == HMC_FIRST_SITE)
                hmc_place_sites(h->rigid->with[i], &h->box[w], number_of(h, i),
                                &h->rigid->turned[w * n + i], c->positions + 3 * w * n,
                                c->place + 3 * w * n);
}

/* The forces on the sites of the molecule with first site i become that on the molecule and its torque. */
static void gather(const hmc *h, int64_t walker, int64_t i)
{
    const hmc_kind *kind = h->rigid->with[i];
    double *forces = h->cpu->force + 3 * walker, force[3], along[3];
    const int64_t m = number_of(h, i);
    hmc_sum_forces(kind, m, &h->rigid->turned[walker + i], forces, force, along);
    for (int32_t a = 0; a < kind->sites->sites; a++)
        memset(forces + 3 * plugmc_site_number(kind->sites, m, a), 0, 3 * sizeof *forces);
    memcpy(forces + 3 * i, force, sizeof force);
    memcpy(forces + 3 * second_of(h, i), along, sizeof along);
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
    for (int64_t i = 0; i < n; i++)
        lost |= h->rigid->role[i] == HMC_FIRST_SITE && hmc_lost_shape(&h->rigid->turned[w * n + i]);
    return lost;
}

/* ---- Momenta ------------------------------------------------------------------------------------- */

void hmc_rigid_draw(const hmc *h, uint64_t sweep, int32_t w, int64_t i, int64_t momentum[3])
{
    hmc_draw_member(h->seed, sweep, (uint32_t)w, (uint32_t)i, h->rigid->role[i], h->rigid->with[i],
                    h->mass[h->cpu->species[i]], h->ladder.rung[w].kT, momentum);
}

double hmc_rigid_kinetic(const hmc *h, int64_t i, const int64_t momentum[3])
{
    return hmc_kinetic_of_member(h->rigid->role[i], h->rigid->with[i], h->mass[h->cpu->species[i]],
                                 momentum);
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
        const int64_t m = number_of(h, i);
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
