/* Algorithm 1 of J. A. Anderson et al., J. Comput. Phys. 254, 27 (2013), as one would write it
 * down: one walker, lists of particles for every cell, integer positions in the box, all other
 * particles looked at for each trial move, distances and energies in double precision. It shares
 * with the mover under test only its random choices (random_choices.h) and, where double precision
 * finds a decision closer than single precision can tell (a "close call"), the rounding that the
 * mover documents.
 *
 * It can be told to make one of the mistakes of section 2.4 of the paper. */
#ifndef PLUGMC_NAIVE_CHECKERBOARD_H
#define PLUGMC_NAIVE_CHECKERBOARD_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plugmc/everything.h"

#include "../plugins/movers/checkerboard/random_choices.h"

enum naive_mistake {
    NAIVE_CORRECT,
    NAIVE_LEAVES,     /* particles may leave their cells; they join the end of the other list */
    NAIVE_NO_SHUFFLE, /* the particles of a cell are taken in the order of its list */
    NAIVE_NO_SHIFT,   /* the cells stay where they are */
    NAIVE_BIAS        /* displacements only go forward along each axis */
};

typedef struct naive {
    /* What is simulated: to be set by the test. */
    const plugmc_system *system;
    int walker, cells[3];
    int64_t trials;
    double step;
    int shuffle_particles, shuffle_sets, shift_cells;
    double strength, cutoff; /* of test_soft_disk; strength 0: none */
    int hard;                /* contact at the mean of the diameters */
    int wide;                /* many particles near a cell: energies are added lane by lane */
    int cold; /* energies so large that rounding decides: always in single precision */
    enum naive_mistake mistake;

    /* State. */
    int64_t (*at)[3];  /* [particles], in quanta, in [0, edge) */
    int64_t edge[3];   /* of the box, in quanta */
    int64_t origin[3]; /* of the cells, in quanta, in [0, edge) */
    double quantum[3]; /* length */
    int *length;       /* [cells]: particles in each */
    int *list;         /* [cells][particles] */
    plugmc_counts counts;
    int64_t close_calls;
} naive;

static inline int64_t naive_modulo(int64_t a, int64_t n) { return (a % n + n) % n; }

static inline int naive_dimension(const naive *v) { return v->system->box.dimension; }

static inline int naive_cell_count(const naive *v)
{
    return v->cells[0] * v->cells[1] * v->cells[2];
}

static inline int naive_species(const naive *v, int64_t i)
{
    int s = 0;
    while (i >= v->system->first[s + 1]) s++;
    return s;
}

/* Position within the cells along an axis: cell number and, in *local, the distance in quanta from
 * its lower edge. */
static inline int naive_cell_along(const naive *v, int64_t i, int a, int64_t *local)
{
    int64_t from_origin = naive_modulo(v->at[i][a] - v->origin[a], v->edge[a]);
    *local = from_origin % CB_QUANTA;
    return (int)(from_origin / CB_QUANTA);
}

static inline int naive_cell_of(const naive *v, int64_t i)
{
    int64_t local;
    int cell = 0;
    for (int a = naive_dimension(v) - 1; a >= 0; a--)
        cell = cell * v->cells[a] + naive_cell_along(v, i, a, &local);
    return cell;
}

static inline void naive_append(naive *v, int cell, int particle)
{
    v->list[cell * v->system->particles + v->length[cell]++] = particle;
}

/* positions [particles][3]. `cells` and the parameters must be set. */
static inline void naive_load(naive *v, const double *positions)
{
    const plugmc_system *s = v->system;
    if (naive_dimension(v) == 2) v->cells[2] = 1;
    v->at = (int64_t(*)[3])calloc((size_t)s->particles, sizeof *v->at);
    v->length = (int *)calloc((size_t)naive_cell_count(v), sizeof(int));
    v->list = (int *)calloc((size_t)(naive_cell_count(v) * s->particles), sizeof(int));
    for (int a = 0; a < naive_dimension(v); a++) {
        v->edge[a] = (int64_t)CB_QUANTA * v->cells[a];
        v->quantum[a] = s->box.length[a] / v->cells[a] / CB_QUANTA;
        v->origin[a] = 0;
    }
    for (int64_t i = 0; i < s->particles; i++) {
        for (int a = 0; a < naive_dimension(v); a++)
            v->at[i][a] = naive_modulo(llrint(positions[3 * i + a] / v->quantum[a]), v->edge[a]);
        naive_append(v, naive_cell_of(v, i), (int)i);
    }
}

static inline void naive_end(naive *v)
{
    free(v->at);
    free(v->length);
    free(v->list);
}

/* Positions [particles][3] by number of the particle, or by cell and place in its list. */
static inline void naive_store(const naive *v, double *positions, int by_cell)
{
    int64_t n = 0;
    for (int c = 0; c < naive_cell_count(v); c++)
        for (int k = 0; k < v->length[c]; k++, n++) {
            int i = v->list[c * v->system->particles + k];
            double *out = positions + 3 * (by_cell ? n : i);
            out[2] = 0;
            for (int a = 0; a < naive_dimension(v); a++)
                out[a] = (double)v->at[i][a] * v->quantum[a];
        }
}

/* Minimum image of a - b in quanta. */
static inline int64_t naive_nearest(const naive *v, int a, int64_t difference)
{
    int64_t d = naive_modulo(difference, v->edge[a]);
    return 2 * d > v->edge[a] ? d - v->edge[a] : d;
}

/* Separation of position `at` from particle j, in quanta; returns its square in units of length. */
static inline double naive_separation(const naive *v, const int64_t at[3], int64_t j, int64_t d[3])
{
    double r2 = 0;
    for (int a = 0; a < naive_dimension(v); a++) {
        d[a] = naive_nearest(v, a, at[a] - v->at[j][a]);
        double x = (double)d[a] * v->quantum[a];
        r2 += x * x;
    }
    return r2;
}

/* As rounded by the mover: the square in units of the cell edge along x. */
static inline float naive_float_r2(const naive *v, const int64_t d[3])
{
    float r2 = 0;
    for (int a = 0; a < naive_dimension(v); a++) {
        float u = (float)d[a] * CB_QUANTUM * (float)(v->quantum[a] / v->quantum[0]);
        r2 = a ? fmaf(u, u, r2) : u * u;
    }
    return r2;
}

static inline int naive_overlaps(naive *v, int64_t i, const int64_t at[3])
{
    for (int64_t j = 0; v->hard && j < v->system->particles; j++) {
        if (j == i) continue;
        int64_t d[3];
        double r2 = naive_separation(v, at, j, d);
        double contact = 0.5 * (plugmc_species_at(v->system, naive_species(v, i))->diameter +
                                plugmc_species_at(v->system, naive_species(v, j))->diameter);
        if (fabs(r2 / (contact * contact) - 1) < 1e-6) {
            double c = contact / (v->quantum[0] * CB_QUANTA);
            v->close_calls++;
            float limit = nextafterf((float)(c * c * (1 + 0x1p-22)), INFINITY);
            if (naive_float_r2(v, d) < limit) return 1;
        } else if (r2 < contact * contact) {
            return 1;
        }
    }
    return 0;
}

static inline double naive_energy(const naive *v, int64_t i, const int64_t at[3])
{
    double energy = 0;
    for (int64_t j = 0; j < v->system->particles; j++) {
        int64_t d[3];
        double r = sqrt(naive_separation(v, at, j, d)), t = 1 - r / v->cutoff;
        if (j != i && r < v->cutoff)
            energy += plugmc_species_at(v->system, naive_species(v, j))->charge * t * t;
    }
    return energy * v->strength * plugmc_species_at(v->system, naive_species(v, i))->charge;
}

/* One pair in single precision: separation in units of length, then the energy of a unit factor. */
static inline float naive_float_pair(const naive *v, const int64_t d[3], float charge)
{
    float x[3] = {0}, scale = (float)(v->quantum[0] * CB_QUANTA), cutoff = (float)v->cutoff;
    for (int a = 0; a < naive_dimension(v); a++)
        x[a] = (float)d[a] * CB_QUANTUM * (a ? (float)(v->quantum[a] / v->quantum[0]) : 1) * scale;
    float r2 = fmaf(x[2], x[2], fmaf(x[1], x[1], x[0] * x[0]));
    float t = 1.0f - sqrtf(r2) / cutoff;
    return r2 < cutoff * cutoff ? charge * (t * t) : 0.0f;
}

/* Displacement of neighbouring cell c = dx + 3 dy + 9 dz, and that cell. */
static inline int naive_neighbour(const naive *v, int cell, int c, int d[3])
{
    int x = cell % v->cells[0], y = cell / v->cells[0] % v->cells[1];
    int z = cell / v->cells[0] / v->cells[1];
    d[0] = c % 3 - 1;
    d[1] = c / 3 % 3 - 1;
    d[2] = naive_dimension(v) == 3 ? c / 9 - 1 : 0;
    return (int)((naive_modulo(z + d[2], v->cells[2]) * v->cells[1] +
                  naive_modulo(y + d[1], v->cells[1])) *
                     v->cells[0] +
                 naive_modulo(x + d[0], v->cells[0]));
}

/* The change of energy of a pair in single precision, without the factor of the test particle. Relative to the
 * centre of the image of the cell at d, not the nearest image: with two cells in a row each is a
 * neighbour on both sides. */
static inline float naive_float_difference(const naive *v, int64_t i, int64_t j, const int d[3],
                                           const int64_t to[3])
{
    int64_t before[3] = {0}, after[3] = {0};
    for (int a = 0; a < naive_dimension(v); a++) {
        int64_t li, lj;
        naive_cell_along(v, i, a, &li);
        naive_cell_along(v, j, a, &lj);
        before[a] = li - lj - (int64_t)d[a] * CB_QUANTA;
        after[a] = before[a] + naive_nearest(v, a, to[a] - v->at[i][a]);
    }
    float charge = (float)plugmc_species_at(v->system, naive_species(v, j))->charge;
    return naive_float_pair(v, after, charge) - naive_float_pair(v, before, charge);
}

/* Summed cell by cell in the order of the mover. */
static inline float naive_float_sum(const naive *v, int64_t i, int cell, const int64_t to[3])
{
    const int around = naive_dimension(v) == 3 ? 27 : 9;
    float sum = 0;
    for (int nth = 0; nth < around; nth++) {
        int d[3], c = nth == 0            ? around / 2
                      : nth <= around / 2 ? nth - 1
                                          : nth; /* own cell first */
        int other = naive_neighbour(v, cell, c, d);
        for (int k = 0; k < v->length[other]; k++) {
            int j = v->list[other * v->system->particles + k];
            if (j != i) sum += naive_float_difference(v, i, j, d, to);
        }
    }
    return sum;
}

/* Whether particle j of the cell at d is within the range of the cell in the middle, as rounded by the
 * mover: numbers of particles depend on it. */
static inline int naive_is_near(const naive *v, int64_t j, const int d[3])
{
    float x[3] = {0}, ratio[3];
    const double range = v->system->range / (v->quantum[0] * CB_QUANTA);
    for (int a = 0; a < naive_dimension(v); a++) {
        int64_t local;
        naive_cell_along(v, j, a, &local);
        x[a] = (float)(local - CB_QUANTA / 2 + (int64_t)d[a] * CB_QUANTA) * CB_QUANTUM;
        ratio[a] = (float)(v->quantum[a] / v->quantum[0]);
    }
    return cb_square_outside(naive_dimension(v), x[0], x[1], x[2], d[0], d[1], d[2], ratio[1],
                             ratio[2]) < (float)(range * range * 1.00001);
}

/* The same in the order of cells with many particles near: number k of the cell's own, and number k of
 * the others, count for lane k modulo 32. */
static inline float naive_float_sum_of_lanes(const naive *v, int64_t i, int cell,
                                             const int64_t to[3])
{
    const int around = naive_dimension(v) == 3 ? 27 : 9;
    const int64_t n = v->system->particles;
    float lane[32] = {0};
    int d[3] = {0}, number = 0, more = 1;
    for (int k = 0; k < v->length[cell]; k++) {
        int j = v->list[cell * n + k];
        if (j != i) lane[k % 32] += naive_float_difference(v, i, j, d, to);
    }
    for (int k = 0; more; k++) {
        more = 0;
        for (int c = 0; c < around; c++) {
            int other = naive_neighbour(v, cell, c, d);
            if (c == around / 2 || k >= v->length[other]) continue;
            int j = v->list[other * n + k];
            more = 1;
            if (naive_is_near(v, j, d))
                lane[number++ % 32] += naive_float_difference(v, i, j, d, to);
        }
    }
    const float factor =
        (float)v->strength * (float)plugmc_species_at(v->system, naive_species(v, i))->charge;
    for (int l = 0; l < 32; l++) lane[l] *= factor;
    for (int half = 16; half > 0; half /= 2)
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

static inline float naive_float_change(const naive *v, int64_t i, int cell, const int64_t to[3])
{
    if (v->wide) return naive_float_sum_of_lanes(v, i, cell, to);
    const double charge = plugmc_species_at(v->system, naive_species(v, i))->charge;
    return naive_float_sum(v, i, cell, to) * ((float)v->strength * (float)charge);
}

static inline int naive_metropolis(naive *v, int64_t i, int cell, const int64_t to[3],
                                   uint32_t word)
{
    double uniform = plugmc_uniform_float(word);
    if (v->cold) return uniform < plugmc_exp(-naive_float_change(v, i, cell, to));
    double probability = exp(naive_energy(v, i, v->at[i]) - naive_energy(v, i, to));
    if (fabs(uniform - probability) > 2e-4) return uniform < probability;
    v->close_calls++;
    return uniform < plugmc_exp(-naive_float_change(v, i, cell, to));
}

/* The displacement of trial move number t of a cell, in quanta. */
static inline void naive_displacement(const naive *v, uint64_t sweep, uint32_t cell, uint32_t t,
                                      int64_t d[3])
{
    plugmc_seed seed = v->system->seed;
    uint32_t w = (uint32_t)v->walker;
    float step[3] = {0}, x[3] = {0};
    for (int a = 0; a < naive_dimension(v); a++)
        step[a] = (float)(v->step / (v->system->box.length[a] / v->cells[a]));
    if (naive_dimension(v) == 2) {
        plugmc_random r = plugmc_draw(seed, sweep, w, cell, PLUGMC_PURPOSE_TRIAL, t / 4);
        cb_displacement_2(r.word[t % 4], step[0], step[1], &x[0], &x[1]);
    } else {
        cb_displacement_3(plugmc_draw(seed, sweep, w, cell, PLUGMC_PURPOSE_TRIAL, t), step[0],
                          step[1], step[2], &x[0], &x[1], &x[2]);
    }
    for (int a = 0; a < 3; a++) d[a] = (int64_t)((double)x[a] * CB_QUANTA);
}

/* Line 8 and 9: one trial move of particle i of a cell. */
static inline int naive_trial(naive *v, uint64_t sweep, int cell, uint32_t t, int64_t i)
{
    int64_t d[3], to[3] = {0}, local;
    naive_displacement(v, sweep, (uint32_t)cell, t, d);
    for (int a = 0; a < naive_dimension(v); a++) {
        naive_cell_along(v, i, a, &local);
        if (v->mistake == NAIVE_BIAS) d[a] = llabs(d[a]);
        if (v->mistake != NAIVE_LEAVES && (local + d[a] < 0 || local + d[a] >= CB_QUANTA)) return 0;
        to[a] = naive_modulo(v->at[i][a] + d[a], v->edge[a]);
    }
    if (naive_overlaps(v, i, to)) return 0;
    if (v->strength != 0) {
        plugmc_random r = plugmc_draw(v->system->seed, sweep, (uint32_t)v->walker, (uint32_t)cell,
                                      PLUGMC_PURPOSE_ACCEPT, t / 4);
        if (!naive_metropolis(v, i, cell, to, r.word[t % 4])) return 0;
    }
    memcpy(v->at[i], to, sizeof to);
    return 1;
}

/* Those that left a cell join the end of the lists of the cells they are in: only by mistake. */
static inline void naive_expel(naive *v, int cell)
{
    int *list = v->list + cell * v->system->particles, kept = 0;
    for (int k = 0; k < v->length[cell]; k++) {
        int now = naive_cell_of(v, list[k]);
        if (now == cell)
            list[kept++] = list[k];
        else
            naive_append(v, now, list[k]);
    }
    v->length[cell] = kept;
}

/* Lines 5 to 12. */
static inline void naive_update_cell(naive *v, uint64_t sweep, int cell)
{
    const int *list = v->list + cell * v->system->particles, n = v->length[cell];
    if (n == 0) return;
    int order[n];
    for (int k = 0; k < n; k++) order[k] = list[k];
    if (v->shuffle_particles && v->mistake != NAIVE_NO_SHUFFLE)
        for (int k = n - 1; k > 0; k--) {
            plugmc_random r = plugmc_draw(v->system->seed, sweep, (uint32_t)v->walker,
                                          (uint32_t)cell, PLUGMC_PURPOSE_ORDER, (uint32_t)k / 4);
            int j = (int)plugmc_below(r.word[k % 4], (uint32_t)k + 1), swapped = order[k];
            order[k] = order[j];
            order[j] = swapped;
        }
    for (int64_t t = 0; t < v->trials; t++) {
        v->counts.trials++;
        v->counts.accepted += (uint64_t)naive_trial(v, sweep, cell, (uint32_t)t, order[t % n]);
    }
    if (v->mistake == NAIVE_LEAVES) naive_expel(v, cell);
}

/* Line 17: in the new cell first come those that stay, then those from the cell next to it, as in
 * Algorithm 4. */
static inline void naive_shift(naive *v, int axis, int sign, int64_t quanta)
{
    const int64_t n = v->system->particles;
    const int cells = naive_cell_count(v);
    int *old_length = (int *)malloc(sizeof(int) * (size_t)cells);
    int *old_list = (int *)malloc(sizeof(int) * (size_t)(cells * n));
    memcpy(old_length, v->length, sizeof(int) * (size_t)cells);
    memcpy(old_list, v->list, sizeof(int) * (size_t)(cells * n));
    v->origin[axis] = naive_modulo(v->origin[axis] + sign * quanta, v->edge[axis]);
    for (int c = 0; c < cells; c++) {
        int at[3] = {c % v->cells[0], c / v->cells[0] % v->cells[1], c / v->cells[0] / v->cells[1]};
        at[axis] = (int)naive_modulo(at[axis] + sign, v->cells[axis]);
        int sources[2] = {c, (at[2] * v->cells[1] + at[1]) * v->cells[0] + at[0]};
        v->length[c] = 0;
        for (int s = 0; s < 2; s++)
            for (int k = 0; k < old_length[sources[s]]; k++) {
                int i = old_list[sources[s] * n + k];
                if (naive_cell_of(v, i) == c) naive_append(v, c, i);
            }
    }
    free(old_length);
    free(old_list);
}

static inline void naive_sweep(naive *v, uint64_t sweep)
{
    int shift = v->shift_cells && v->mistake != NAIVE_NO_SHIFT;
    cb_plan plan = cb_make_plan(v->system->seed, sweep, (uint32_t)v->walker, naive_dimension(v),
                                v->shuffle_sets, shift);
    for (int part = 0; part < 1 << naive_dimension(v); part++)
        for (int c = 0; c < naive_cell_count(v); c++) {
            int x = c % v->cells[0], y = c / v->cells[0] % v->cells[1];
            int z = c / v->cells[0] / v->cells[1];
            int set = (x % 2) + 2 * (y % 2) + 4 * (z % 2);
            if (set == plan.set[part]) naive_update_cell(v, sweep, c);
        }
    if (shift) naive_shift(v, plan.axis, plan.sign, plan.quanta);
}
#endif
