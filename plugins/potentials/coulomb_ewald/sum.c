/* The waves of an Ewald sum: energy, forces and virial of whole configurations, and the change when
 * one particle moves.
 *
 * Only half of the waves are kept, since S(-k) is the conjugate of S(k). They are sorted in rows:
 * all waves of a row have the same n_x and n_y and successive n_z, so the phase factor
 * exp(i k.r) = X[n_x] Y[n_y] Z[n_z] costs one complex product, in a loop that vectorises. Sums run
 * in a fixed order and in a fixed number of partial sums: results depend neither on the number of
 * threads nor on the instruction set.
 *
 * Where movers change boxes, alpha and the vectors n stay, and what belongs to k = 2 pi n / L follows
 * the box of each walker. Weights of the box at the start are kept for all walkers that have it.
 */
#include "sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8, BLOCK = 64 /* particles whose forces are found together */ };

/* Waves first ... first + n - 1: n_z = low, low + 1, ... */
typedef struct row {
    int32_t x, y, low, n;
    int64_t first;
} row;

typedef struct complex_table {
    double *re, *im;
} complex_table;

/* The trial move that waits for settle. */
typedef struct trial {
    int32_t walker;
    int64_t particle; /* -1: none */
    double position[3];
} trial;

/* What the waves are in one box. */
typedef struct spectrum {
    double *weight;    /* [waves] kT: energy is sum of weight |S|^2, both halves counted */
    double *k[3];      /* [waves] 1/length */
    double *virial[3]; /* [waves] virial / energy, along each axis */
    double back;       /* kT: energy of the background, which also counts in the virial */
} spectrum;

struct ewald_sum {
    const plugmc_host *host;
    const plugmc_system *system;
    double bjerrum_length, alpha; /* length, 1/length */
    int32_t most[3];              /* largest |n_d| */
    int32_t row_count;
    row *rows;
    int64_t waves;
    int32_t (*wave)[3];     /* [waves] n */
    spectrum common;        /* in the box of the start */
    double self, net;       /* kT: constant energy of a walker; sum of the charges */
    double *charge;         /* [particles] */
    complex_table phase[3]; /* [most + 1][particles], of the walker at hand */
    complex_table fresh;    /* [waves] S of the walker at hand */
    /* Single moves: */
    int started;
    double *structure; /* [walkers][2][waves] S, real parts and imaginary parts */
    double *positions; /* [walkers][particles][3] */
    double *shift;     /* [2][waves] change of S by the trial move */
    trial trial;
    /* Where movers change boxes; else NULL: */
    spectrum other;     /* in the box of the walker at hand */
    plugmc_box *box;    /* [walkers] for single moves */
    double *own_weight; /* [walkers][waves] in that box, where it is not that of the start */
    int64_t n_square;   /* as in ewald_waves */
    double shortest;    /* 1/length: of the waves left out, in the box of the start */
    double wanted;      /* error of the forces, */
    double allowed;     /* and what it is at the start, if that is more */
};

/* ---- Phases ---------------------------------------------------------------------------------- */

static int all_finite(const ewald_sum *s, const double *positions)
{
    const int64_t n = s->system->particles * s->system->walkers;
    for (int64_t i = 0; i < n; i++) {
        const double *r = &positions[3 * i];
        if (isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2])) continue;
        return s->host->fail(s->host->context, PLUGMC_ERROR_STATE,
                             "particle %lld of walker %lld is at (%g, %g, %g)",
                             (long long)(i % s->system->particles),
                             (long long)(i / s->system->particles), r[0], r[1], r[2]);
    }
    return PLUGMC_OK;
}

static double fractional(const plugmc_box *box, const double r[3], int d)
{
    return r[0] * box->inverse[0][d] + r[1] * box->inverse[1][d] + r[2] * box->inverse[2][d];
}

/* Factors exp(2 pi i n f) of all particles, n = 0 ... most, each from the one before. */
static void take_phases(const ewald_sum *s, const plugmc_box *box, const double *positions)
{
    const int64_t n = s->system->particles;
#pragma omp parallel for schedule(static) num_threads(s->system->threads)
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            double *re = s->phase[d].re + i, *im = s->phase[d].im + i;
            double angle = 2 * M_PI * fractional(box, &positions[3 * i], d);
            double c = cos(angle), e = sin(angle);
            re[0] = 1;
            im[0] = 0;
            for (int64_t m = 1; m <= s->most[d]; m++) {
                re[m * n] = re[(m - 1) * n] * c - im[(m - 1) * n] * e;
                im[m * n] = re[(m - 1) * n] * e + im[(m - 1) * n] * c;
            }
        }
}

/* X[n_x] Y[n_y] of particles begin ... begin + n - 1. */
static inline void plane_phases(const ewald_sum *s, const row *row, int64_t begin, int64_t n,
                                double *re, double *im)
{
    const int64_t x = row->x * s->system->particles + begin,
                  y = abs(row->y) * s->system->particles + begin;
    const double *xr = s->phase[0].re + x, *xi = s->phase[0].im + x;
    const double *yr = s->phase[1].re + y, *yi = s->phase[1].im + y;
    const double sign = row->y < 0 ? -1 : 1;
    for (int64_t i = 0; i < n; i++) {
        re[i] = xr[i] * yr[i] - sign * xi[i] * yi[i];
        im[i] = xi[i] * yr[i] + sign * xr[i] * yi[i];
    }
}

/* ---- Structure factors ----------------------------------------------------------------------- */

static double sum_of_lanes(const double lane[LANES])
{
    double all = 0;
    for (int l = 0; l < LANES; l++) all += lane[l];
    return all;
}

/* S of one row of waves; plane [2][particles] is room to work in. */
static PLUGMC_TARGETS void row_factors(const ewald_sum *s, const row *row, double *plane,
                                       complex_table out)
{
    const int64_t n = s->system->particles, whole = n / LANES * LANES;
    double *pr = plane, *pi = plane + n;
    plane_phases(s, row, 0, n, pr, pi);
    for (int64_t i = 0; i < n; i++) {
        pr[i] *= s->charge[i];
        pi[i] *= s->charge[i];
    }
    for (int32_t w = 0; w < row->n; w++) {
        const int32_t z = row->low + w;
        const double *zr = s->phase[2].re + abs(z) * n, *zi = s->phase[2].im + abs(z) * n;
        const double sign = z < 0 ? -1 : 1;
        double re[LANES] = {0}, im[LANES] = {0};
        for (int64_t i = 0; i < whole; i += LANES)
            for (int l = 0; l < LANES; l++) {
                re[l] += pr[i + l] * zr[i + l] - sign * pi[i + l] * zi[i + l];
                im[l] += pi[i + l] * zr[i + l] + sign * pr[i + l] * zi[i + l];
            }
        for (int64_t i = whole; i < n; i++) {
            re[i - whole] += pr[i] * zr[i] - sign * pi[i] * zi[i];
            im[i - whole] += pi[i] * zr[i] + sign * pr[i] * zi[i];
        }
        out.re[row->first + w] = sum_of_lanes(re);
        out.im[row->first + w] = sum_of_lanes(im);
    }
}

/* S of all waves from the phases that have been taken. */
static int structure_factors(const ewald_sum *s, complex_table out)
{
    int short_of_memory = 0;
#pragma omp parallel num_threads(s->system->threads) reduction(| : short_of_memory)
    {
        double *plane = malloc((size_t)s->system->particles * 2 * sizeof *plane);
        short_of_memory = plane == NULL;
#pragma omp for schedule(dynamic)
        for (int32_t r = 0; r < s->row_count; r++)
            if (plane) row_factors(s, &s->rows[r], plane, out);
        free(plane);
    }
    return short_of_memory ? s->host->fail(s->host->context, PLUGMC_ERROR_MEMORY,
                                           "no memory for the phases of the particles")
                           : PLUGMC_OK;
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

static void wave_vector(const plugmc_box *box, const int32_t n[3], double k[3])
{
    for (int e = 0; e < 3; e++)
        k[e] = 2 * M_PI *
               (n[0] * box->inverse[e][0] + n[1] * box->inverse[e][1] + n[2] * box->inverse[e][2]);
}

static double square(const double v[3]) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

static void weigh_waves(const ewald_sum *s, const plugmc_box *box, spectrum *out)
{
    const double alpha = s->alpha, factor = 2 * 2 * M_PI * s->bjerrum_length / box->volume;
    out->back = -s->bjerrum_length * M_PI / (2 * alpha * alpha * box->volume) * s->net * s->net;
#pragma omp parallel for schedule(static) num_threads(s->system->threads)
    for (int64_t w = 0; w < s->waves; w++) {
        double k[3];
        wave_vector(box, s->wave[w], k);
        const double k2 = square(k), spread = k2 / (4 * alpha * alpha);
        out->weight[w] = factor * exp(-spread) / k2;
        for (int d = 0; d < 3; d++) {
            out->k[d][w] = k[d];
            out->virial[d][w] = 1 - 2 * k[d] * k[d] / k2 * (1 + spread);
        }
    }
}

static const plugmc_box *box_of(const ewald_sum *s, const plugmc_view *view, int32_t walker)
{
    return s->box ? &view->box[walker] : &s->system->box;
}

static int is_new(const ewald_sum *s, const plugmc_box *box)
{
    const plugmc_box *old = &s->system->box;
    return memcmp(box->vector, old->vector, sizeof old->vector) ||
           memcmp(box->inverse, old->inverse, sizeof old->inverse);
}

/* How much longer the box has made the vector that it has stretched most, by power iteration on the
 * map from the old places to the new. */
static double largest_stretch(const plugmc_box *old, const plugmc_box *box)
{
    double map[3][3] = {{0}}, v[3] = {1, 0.7, 0.4}, square_stretch = 1;
    for (int i = 0; i < 27; i++)
        map[i / 9][i % 3] += old->inverse[i / 9][i / 3 % 3] * box->vector[i / 3 % 3][i % 3];
    for (int step = 0; step < 50; step++) {
        double there[3] = {0}, back[3] = {0};
        for (int i = 0; i < 9; i++) there[i % 3] += v[i / 3] * map[i / 3][i % 3];
        for (int i = 0; i < 9; i++) back[i / 3] += there[i % 3] * map[i / 3][i % 3];
        square_stretch = sqrt(square(back) / square(v));
        for (int d = 0; d < 3; d++) v[d] = back[d] / square_stretch;
    }
    return sqrt(square_stretch);
}

/* What is left out where the waves end, relative to the forces. */
static double error_beyond(const ewald_sum *s, double k)
{
    return exp(-k * k / (4 * s->alpha * s->alpha)) / 2;
}

/* No wave gets shorter than by the largest stretch. */
static int check_accuracy(const ewald_sum *s, const plugmc_box *box, int32_t walker)
{
    const double error = error_beyond(s, s->shortest / largest_stretch(&s->system->box, box));
    if (error <= 2 * s->allowed) return PLUGMC_OK;
    const double k = 2 * s->alpha * sqrt(-log(2 * s->wanted));
    double most = 0;
    for (int d = 0; d < 3; d++)
        most = fmax(most, ceil(k * sqrt(square(box->vector[d])) / (2 * M_PI)));
    return s->host->fail(
        s->host->context, PLUGMC_ERROR_INPUT,
        "the box of walker %d has grown so large, a volume of %g, that forces of the waves chosen "
        "at the start are wrong by about %.1e, more than twice the %.1e allowed: set k_max = %.0f "
        "or more%s",
        walker, box->volume, error, s->allowed, most,
        s->n_square > 0 ? ", and n_square accordingly" : "");
}

/* The waves in a walker's box, which live until the next call. */
static int spectrum_of(ewald_sum *s, const plugmc_box *box, int32_t walker, const spectrum **out)
{
    *out = &s->common;
    if (!s->box || !is_new(s, box)) return PLUGMC_OK;
    const int code = check_accuracy(s, box, walker);
    if (code) return code;
    weigh_waves(s, box, &s->other);
    *out = &s->other;
    return PLUGMC_OK;
}

/* ---- Whole configurations -------------------------------------------------------------------- */

static void add_energy(const ewald_sum *s, const spectrum *in, double *energy, double *virial)
{
    double sum = 0, along[3] = {0};
    for (int64_t w = 0; w < s->waves; w++) {
        const double re = s->fresh.re[w], im = s->fresh.im[w];
        const double e = in->weight[w] * (re * re + im * im);
        sum += e;
        for (int d = 0; d < 3; d++) along[d] += e * in->virial[d][w];
    }
    if (energy) *energy += sum + s->self + in->back;
    for (int d = 0; d < 3 && virial; d++) virial[d] += along[d] + in->back;
}

/* Forces on particles begin ... begin + n - 1: 2 z sum_k weight k Im(conj(S) exp(i k.r)). */
static PLUGMC_TARGETS void add_block_forces(const ewald_sum *s, const spectrum *in, int64_t begin,
                                            int n, double *forces)
{
    double re[BLOCK], im[BLOCK], f[3][BLOCK] = {{0}};
    for (int32_t r = 0; r < s->row_count; r++) {
        const row *row = &s->rows[r];
        plane_phases(s, row, begin, n, re, im);
        for (int32_t w = 0; w < row->n; w++) {
            const int32_t z = row->low + w;
            const int64_t at = row->first + w, table = abs(z) * s->system->particles + begin;
            const double *zr = s->phase[2].re + table, *zi = s->phase[2].im + table;
            const double sign = z < 0 ? -1 : 1;
            const double sr = 2 * in->weight[at] * s->fresh.re[at],
                         si = 2 * in->weight[at] * s->fresh.im[at];
            const double kx = in->k[0][at], ky = in->k[1][at], kz = in->k[2][at];
            for (int i = 0; i < n; i++) {
                const double er = re[i] * zr[i] - sign * im[i] * zi[i],
                             ei = im[i] * zr[i] + sign * re[i] * zi[i];
                const double slope = sr * ei - si * er;
                f[0][i] += kx * slope;
                f[1][i] += ky * slope;
                f[2][i] += kz * slope;
            }
        }
    }
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) forces[3 * (begin + i) + d] += s->charge[begin + i] * f[d][i];
}

static void add_forces(const ewald_sum *s, const spectrum *in, double *forces)
{
    const int64_t n = s->system->particles;
#pragma omp parallel for schedule(dynamic) num_threads(s->system->threads)
    for (int64_t begin = 0; begin < n; begin += BLOCK)
        add_block_forces(s, in, begin, n - begin < BLOCK ? (int)(n - begin) : BLOCK, forces);
}

int ewald_sum_energy(ewald_sum *s, const plugmc_total_request *request)
{
    const int64_t n = 3 * s->system->particles;
    const double *positions = request->view->positions;
    int code = all_finite(s, positions);
    for (int32_t w = 0; w < s->system->walkers && !code; w++) {
        const plugmc_box *box = box_of(s, request->view, w);
        const spectrum *in;
        code = spectrum_of(s, box, w, &in);
        if (code) return code;
        take_phases(s, box, positions + w * n);
        code = structure_factors(s, s->fresh);
        if (code) return code;
        add_energy(s, in, request->energy ? request->energy + w : NULL,
                   request->virial ? request->virial + 3 * w : NULL);
        if (request->forces) add_forces(s, in, request->forces + w * n);
    }
    return code;
}

/* ---- One particle moves ---------------------------------------------------------------------- */

static complex_table structure_of(const ewald_sum *s, int32_t walker)
{
    double *at = s->structure + 2 * walker * s->waves;
    return (complex_table){at, at + s->waves};
}

static const plugmc_box *box_now(const ewald_sum *s, int32_t walker)
{
    return s->box ? &s->box[walker] : &s->system->box;
}

static const double *weights_now(const ewald_sum *s, int32_t walker)
{
    return s->box && is_new(s, &s->box[walker]) ? s->own_weight + walker * s->waves
                                                : s->common.weight;
}

/* Keeps a walker's box and the weights in it. */
static int take_box(ewald_sum *s, const plugmc_box *box, int32_t walker)
{
    const spectrum *in;
    if (!s->box) return PLUGMC_OK;
    const int code = spectrum_of(s, box, walker, &in);
    if (code) return code;
    s->box[walker] = *box;
    if (in == &s->other)
        memcpy(s->own_weight + walker * s->waves, in->weight,
               (size_t)s->waves * sizeof *in->weight);
    return PLUGMC_OK;
}

int ewald_sum_start(ewald_sum *s, const plugmc_view *view)
{
    const int64_t n = 3 * s->system->particles;
    int code = all_finite(s, view->positions);
    for (int32_t w = 0; w < s->system->walkers && !code; w++) {
        code = take_box(s, box_of(s, view, w), w);
        if (code) return code;
        take_phases(s, box_now(s, w), view->positions + w * n);
        code = structure_factors(s, structure_of(s, w));
    }
    memcpy(s->positions, view->positions, (size_t)(n * s->system->walkers) * sizeof *s->positions);
    s->trial.particle = -1;
    s->started = 1;
    return code;
}

enum { MOST = 1000 }; /* the largest |n_d| that the table of parameters lets through */

/* exp(2 pi i n f) for |n| <= most, at [MOST + n]. */
static void axis_phases(double f, int32_t most, double *re, double *im)
{
    const double c = cos(2 * M_PI * f), e = sin(2 * M_PI * f);
    re += MOST;
    im += MOST;
    re[0] = 1;
    im[0] = 0;
    for (int32_t m = 1; m <= most; m++) {
        re[m] = re[m - 1] * c - im[m - 1] * e;
        im[m] = re[m - 1] * e + im[m - 1] * c;
        re[-m] = re[m];
        im[-m] = -im[m];
    }
}

typedef struct place_phases {
    double re[3][2 * MOST + 1], im[3][2 * MOST + 1];
} place_phases;

static void phases_at(const ewald_sum *s, const plugmc_box *box, const double r[3],
                      place_phases *out)
{
    for (int d = 0; d < 3; d++)
        axis_phases(fractional(box, r, d), s->most[d], out->re[d], out->im[d]);
}

/* shift = charge (exp(i k.to) - exp(i k.from)); returns the change of energy,
 * sum of weight (|S + shift|^2 - |S|^2). */
static PLUGMC_TARGETS double shift_waves(const ewald_sum *s, const double *weights,
                                         complex_table structure, double charge,
                                         const place_phases *from, const place_phases *to)
{
    double *shift_re = s->shift, *shift_im = s->shift + s->waves, all = 0;
    for (int32_t r = 0; r < s->row_count; r++) {
        const row *row = &s->rows[r];
        const int x = MOST + row->x, y = MOST + row->y;
        const double fr = charge *
                          (from->re[0][x] * from->re[1][y] - from->im[0][x] * from->im[1][y]),
                     fi = charge *
                          (from->im[0][x] * from->re[1][y] + from->re[0][x] * from->im[1][y]),
                     tr = charge * (to->re[0][x] * to->re[1][y] - to->im[0][x] * to->im[1][y]),
                     ti = charge * (to->im[0][x] * to->re[1][y] + to->re[0][x] * to->im[1][y]);
        const double *from_re = from->re[2] + MOST + row->low,
                     *from_im = from->im[2] + MOST + row->low;
        const double *to_re = to->re[2] + MOST + row->low, *to_im = to->im[2] + MOST + row->low;
        const double *weight = weights + row->first;
        const double *sr = structure.re + row->first, *si = structure.im + row->first;
        double *dr = shift_re + row->first, *di = shift_im + row->first, lane[LANES] = {0};
        for (int32_t begin = 0; begin < row->n; begin += LANES) {
            const int32_t n = row->n - begin < LANES ? row->n - begin : LANES;
            for (int32_t l = 0; l < n; l++) {
                const int32_t w = begin + l;
                dr[w] = (tr * to_re[w] - ti * to_im[w]) - (fr * from_re[w] - fi * from_im[w]);
                di[w] = (ti * to_re[w] + tr * to_im[w]) - (fi * from_re[w] + fr * from_im[w]);
                lane[l] += weight[w] * (dr[w] * (2 * sr[w] + dr[w]) + di[w] * (2 * si[w] + di[w]));
            }
        }
        all += sum_of_lanes(lane);
    }
    return all;
}

int ewald_sum_change(ewald_sum *s, int32_t walker, int64_t particle, const double position[3],
                     double *change)
{
    place_phases from, to;
    const double charge = s->charge[particle];
    s->trial = (trial){walker, particle, {position[0], position[1], position[2]}};
    if (charge == 0) return PLUGMC_OK;
    const plugmc_box *box = box_now(s, walker);
    phases_at(s, box, &s->positions[3 * (walker * s->system->particles + particle)], &from);
    phases_at(s, box, position, &to);
    *change += shift_waves(s, weights_now(s, walker), structure_of(s, walker), charge, &from, &to);
    return PLUGMC_OK;
}

/* A rejected move has touched nothing. */
int ewald_sum_settle(ewald_sum *s, int32_t walker, int accepted)
{
    const trial t = s->trial;
    if (t.particle < 0 || t.walker != walker)
        return s->host->fail(s->host->context, PLUGMC_ERROR_STATE,
                             "no particle of walker %d has been moved", walker);
    s->trial.particle = -1;
    if (!accepted) return PLUGMC_OK;
    double *structure = structure_of(s, walker).re;
    for (int64_t w = 0; w < 2 * s->waves && s->charge[t.particle] != 0; w++)
        structure[w] += s->shift[w];
    memcpy(&s->positions[3 * (walker * s->system->particles + t.particle)], t.position,
           sizeof t.position);
    return PLUGMC_OK;
}

/* Fresh structure factors would be rounded otherwise than those that went through all moves. */
int ewald_sum_archive(ewald_sum *s, plugmc_archive *archive)
{
    if (!s->started || !s->waves) return PLUGMC_OK; /* no single moves in this run */
    return plugmc_archive_walkers(archive, "structure factors", s->structure,
                                  (size_t)(2 * s->waves) * sizeof *s->structure);
}

int ewald_sum_waves(const ewald_sum *s, plugmc_waves *out)
{
    out->count = s->waves;
    out->n = (const int32_t(*)[3])s->wave;
    out->weight = s->common.weight;
    out->constant = s->self + s->common.back;
    return PLUGMC_OK;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static int is_summed(const plugmc_box *box, const ewald_waves *waves, const int32_t n[3])
{
    double k[3];
    if (waves->k_max > 0)
        return waves->n_square == 0 || n[0] * n[0] + n[1] * n[1] + n[2] * n[2] <= waves->n_square;
    wave_vector(box, n, k);
    return square(k) <= waves->cutoff * waves->cutoff;
}

/* k.a_d = 2 pi n_d, so |n_d| <= |k| |a_d| / 2 pi. */
static int find_limits(ewald_sum *s, const ewald_waves *waves)
{
    for (int d = 0; d < 3; d++) {
        double most =
            waves->k_max > 0
                ? (double)waves->k_max
                : floor(waves->cutoff * sqrt(square(s->system->box.vector[d])) / (2 * M_PI));
        if (most > MOST)
            return s->host->fail(s->host->context, PLUGMC_ERROR_INPUT,
                                 "the tolerance at this cutoff needs %.0f waves along an edge, and "
                                 "there can be %d: take a larger cutoff",
                                 most, MOST);
        s->most[d] = (int32_t)most;
    }
    return PLUGMC_OK;
}

/* Rows of the half that begins with (0, 0, 1); with rows == NULL they are only counted. */
static void list_rows(const ewald_sum *s, const ewald_waves *waves, row *rows, int32_t *count,
                      int64_t *total)
{
    *count = 0;
    *total = 0;
    for (int32_t x = 0; x <= s->most[0]; x++)
        for (int32_t y = x ? -s->most[1] : 0; y <= s->most[1]; y++) {
            row row = {.x = x, .y = y, .first = *total};
            for (int32_t z = x || y ? -s->most[2] : 1; z <= s->most[2]; z++) {
                if (!is_summed(&s->system->box, waves, (int32_t[3]){x, y, z})) continue;
                if (row.n == 0) row.low = z;
                row.n++;
            }
            if (row.n == 0) continue;
            if (rows) rows[*count] = row;
            ++*count;
            *total += row.n;
        }
}

static void number_waves(ewald_sum *s)
{
    for (int32_t r = 0; r < s->row_count; r++)
        for (int32_t w = 0; w < s->rows[r].n; w++) {
            const int32_t n[3] = {s->rows[r].x, s->rows[r].y, s->rows[r].low + w};
            memcpy(s->wave[s->rows[r].first + w], n, sizeof n);
        }
}

static void take_charges(ewald_sum *s)
{
    double squares = 0;
    for (int32_t a = 0; a < s->system->species_count; a++) {
        const plugmc_species *species = plugmc_species_at(s->system, a);
        for (int64_t i = s->system->first[a]; i < s->system->first[a + 1]; i++)
            s->charge[i] = species->charge;
        s->net += species->charge * (double)species->count;
        squares += species->charge * species->charge * (double)species->count;
    }
    s->self = -s->bjerrum_length * s->alpha / sqrt(M_PI) * squares;
}

/* Of all waves left out, the first that is longer than those summed: what a larger box loses. */
static double shortest_left_out(const ewald_sum *s, const ewald_waves *waves)
{
    double least = INFINITY, k[3];
    for (int32_t x = 0; x <= s->most[0] + 1; x++)
        for (int32_t y = -s->most[1] - 1; y <= s->most[1] + 1; y++)
            for (int32_t z = -s->most[2] - 1; z <= s->most[2] + 1; z++) {
                const int32_t n[3] = {x, y, z};
                const int within = x <= s->most[0] && abs(y) <= s->most[1] && abs(z) <= s->most[2];
                if (within && is_summed(&s->system->box, waves, n)) continue;
                wave_vector(&s->system->box, n, k);
                least = fmin(least, square(k));
            }
    return sqrt(least);
}

/* Settings that were worse than what is wanted from the beginning are the user's. */
static int follow_boxes(ewald_sum *s, const ewald_waves *waves)
{
    s->box = s->host->allocate(s->host->context, (size_t)s->system->walkers * sizeof *s->box);
    if (!s->box) return s->host->fail(s->host->context, PLUGMC_ERROR_MEMORY, "no memory for boxes");
    for (int32_t w = 0; w < s->system->walkers; w++) s->box[w] = s->system->box;
    s->n_square = waves->n_square;
    s->shortest = shortest_left_out(s, waves);
    s->wanted = waves->wanted;
    s->allowed = fmax(waves->wanted, error_beyond(s, s->shortest));
    return PLUGMC_OK;
}

/* Numbers of doubles that each array holds. */
static int allocate(ewald_sum *s)
{
    const size_t n = (size_t)s->system->particles, walkers = (size_t)s->system->walkers,
                 waves = (size_t)s->waves,
                 others = s->system->changes & PLUGMC_CHANGED_BOX ? waves : 0;
    const struct {
        double **array;
        size_t numbers;
    } arrays[] = {
        {&s->common.weight, waves},
        {&s->common.k[0], waves},
        {&s->common.k[1], waves},
        {&s->common.k[2], waves},
        {&s->common.virial[0], waves},
        {&s->common.virial[1], waves},
        {&s->common.virial[2], waves},
        {&s->other.weight, others},
        {&s->other.k[0], others},
        {&s->other.k[1], others},
        {&s->other.k[2], others},
        {&s->other.virial[0], others},
        {&s->other.virial[1], others},
        {&s->other.virial[2], others},
        {&s->own_weight, others * walkers},
        {&s->fresh.re, waves},
        {&s->fresh.im, waves},
        {&s->shift, 2 * waves},
        {&s->structure, 2 * waves * walkers},
        {&s->positions, 3 * n * walkers},
        {&s->charge, n},
        {&s->phase[0].re, n * (size_t)(s->most[0] + 1)},
        {&s->phase[0].im, n * (size_t)(s->most[0] + 1)},
        {&s->phase[1].re, n * (size_t)(s->most[1] + 1)},
        {&s->phase[1].im, n * (size_t)(s->most[1] + 1)},
        {&s->phase[2].re, n * (size_t)(s->most[2] + 1)},
        {&s->phase[2].im, n * (size_t)(s->most[2] + 1)},
    };
    for (int i = 0; i < PLUGMC_COUNT(arrays); i++) {
        if (arrays[i].numbers == 0) continue;
        *arrays[i].array = s->host->allocate(s->host->context, arrays[i].numbers * sizeof(double));
        if (!*arrays[i].array)
            return s->host->fail(s->host->context, PLUGMC_ERROR_MEMORY,
                                 "no memory for %zu waves of %zu particles", waves, n);
    }
    return PLUGMC_OK;
}

int ewald_sum_prepare(const plugmc_host *host, double bjerrum_length, double alpha,
                      const ewald_waves *waves, ewald_sum **out)
{
    ewald_sum *s = *out = host->allocate(host->context, sizeof *s);
    if (!s) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for an Ewald sum");
    s->host = host;
    s->system = host->system;
    s->bjerrum_length = bjerrum_length;
    s->alpha = alpha;
    s->trial.particle = -1;
    int code = find_limits(s, waves);
    if (code) return code;
    list_rows(s, waves, NULL, &s->row_count, &s->waves);
    s->rows = host->allocate(host->context, (size_t)s->row_count * sizeof *s->rows);
    if (!s->rows) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the waves");
    list_rows(s, waves, s->rows, &s->row_count, &s->waves);
    s->wave = host->allocate(host->context, (size_t)s->waves * sizeof *s->wave);
    if (!s->wave) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the waves");
    code = allocate(s);
    if (code) return code;
    number_waves(s);
    take_charges(s);
    weigh_waves(s, &s->system->box, &s->common);
    return s->system->changes & PLUGMC_CHANGED_BOX ? follow_boxes(s, waves) : PLUGMC_OK;
}
