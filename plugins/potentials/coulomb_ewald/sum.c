/* The waves of an Ewald sum: energy, forces and virial of whole configurations.
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
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sum_parts.h"

/* A thread that has a walker to itself asks for no others. */
static int threads_of(const ewald_sum *s) { return s->alone ? 1 : s->system->threads; }

/* ---- Phases ---------------------------------------------------------------------------------- */

/* Of those that are there: where numbers change the others have no place. */
int all_finite(const ewald_sum *s, const plugmc_view *view)
{
    const int64_t n = s->system->particles * plugmc_walkers_of(view, s->system);
    for (int64_t i = 0; i < n; i++) {
        const double *r = &view->positions[3 * i];
        if (s->numbers_change && isnan(r[0]) && isnan(r[1])) continue;
        if (isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2])) continue;
        return s->host->fail(s->host->context, PLUGMC_ERROR_STATE,
                             "particle %lld of walker %lld is at (%g, %g, %g)",
                             (long long)(i % s->system->particles),
                             (long long)(i / s->system->particles), r[0], r[1], r[2]);
    }
    return PLUGMC_OK;
}

double fractional(const plugmc_box *box, const double r[3], int d)
{
    return r[0] * box->inverse[0][d] + r[1] * box->inverse[1][d] + r[2] * box->inverse[2][d];
}

/* Factors exp(2 pi i n f) of all particles, n = 0 ... most, each from the one before. Who is not there has 0. */
void take_phases(const ewald_sum *s, const plugmc_box *box, const double *positions)
{
    const int64_t n = s->system->particles;
#pragma omp parallel for schedule(static) num_threads(threads_of(s))
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            double *re = s->phase[d].re + i, *im = s->phase[d].im + i;
            double angle = 2 * M_PI * fractional(box, &positions[3 * i], d);
            double c = cos(angle), e = sin(angle);
            const int there = !isnan(angle);
            re[0] = there;
            im[0] = 0;
            if (!there) c = e = 0;
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

double sum_of_lanes(const double lane[LANES])
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
int structure_factors(const ewald_sum *s, complex_table out)
{
    int short_of_memory = 0;
#pragma omp parallel num_threads(threads_of(s)) reduction(| : short_of_memory)
    {
        double *plane = malloc((size_t)s->system->particles * 2 * sizeof *plane);
        short_of_memory = plane == NULL;
#pragma omp for schedule(dynamic)
        for (int32_t r = 0; r < s->row_count; r++)
            if (plane) row_factors(s, &s->rows[r], plane, out);
        free(plane);
    }
    return short_of_memory ? PLUGMC_ERROR_MEMORY : PLUGMC_OK;
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

void wave_vector(const plugmc_box *box, const int32_t n[3], double k[3])
{
    for (int e = 0; e < 3; e++)
        k[e] = 2 * M_PI *
               (n[0] * box->inverse[e][0] + n[1] * box->inverse[e][1] + n[2] * box->inverse[e][2]);
}

double square(const double v[3]) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

void weigh_waves(const ewald_sum *s, const plugmc_box *box, spectrum *out)
{
    const double alpha = s->alpha, factor = 2 * 2 * M_PI * s->bjerrum_length / box->volume;
    out->back = background(s, box);
#pragma omp parallel for schedule(static) num_threads(threads_of(s))
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

const plugmc_box *box_of(const ewald_sum *s, const plugmc_view *view, int32_t walker)
{
    return s->other.box ? &view->box[walker] : &s->system->box;
}

int is_new(const ewald_sum *s, const plugmc_box *box)
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
double error_beyond(const ewald_sum *s, double k)
{
    return exp(-k * k / (4 * s->alpha * s->alpha)) / 2;
}

/* What to write where a box has outgrown the waves: with some room beyond it. */
static void remedy(const ewald_sum *s, const plugmc_box *box, double stretch, char out[128])
{
    const double k = 2 * s->alpha * sqrt(-log(2 * s->other.wanted));
    double most = 0;
    for (int d = 0; d < 3; d++)
        most = fmax(most, ceil(k * sqrt(square(box->vector[d])) / (2 * M_PI)));
    if (s->other.follow)
        snprintf(out, 128, "set growth = %.2f or more", ceil(20 * stretch + 1) / 20);
    else
        snprintf(out, 128, "set k_max = %.0f or more%s", most,
                 s->other.limited ? ", and n_square or k_cutoff accordingly" : "");
}

/* No wave gets shorter than by the largest stretch. */
int waves_suffice(const ewald_sum *s, const plugmc_box *box, int32_t walker)
{
    if (!is_new(s, box)) return PLUGMC_OK;
    const double stretch = largest_stretch(&s->system->box, box),
                 error = error_beyond(s, s->other.shortest / stretch);
    char set[128];
    if (error <= 2 * s->other.allowed) return PLUGMC_OK;
    remedy(s, box, stretch, set);
    return s->host->fail(
        s->host->context, PLUGMC_ERROR_INPUT,
        "the box of walker %d has grown to a volume of %g: the error of the forces with the "
        "waves of the start, in a volume of %g, is about %.1e, more than twice the allowed %.1e: %s",
        walker, box->volume, s->system->box.volume, error, s->other.allowed, set);
}

void spectrum_of(ewald_sum *s, const plugmc_box *box, const spectrum **out)
{
    *out = &s->common;
    if (!s->other.box || !is_new(s, box)) return;
    weigh_waves(s, box, &s->other.spectrum);
    *out = &s->other.spectrum;
}

/* ---- Whole configurations -------------------------------------------------------------------- */

void charges_of(const ewald_sum *s, const int64_t *count, double *squares, double *net)
{
    *squares = *net = 0;
    for (int32_t a = 0; a < s->system->species_count; a++) {
        const double charge = plugmc_species_at(s->system, a)->charge;
        *net += charge * (double)count[a];
        *squares += charge * charge * (double)count[a];
    }
}

double self_energy(const ewald_sum *s, double squares)
{
    return -s->bjerrum_length * s->alpha / sqrt(M_PI) * squares;
}

double excluded_energy(const ewald_sum *s, const int64_t *count)
{
    const plugmc_molecules *all = s->system->molecules;
    double sum = 0;
    for (int32_t k = 0; s->excluded && k < all->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(all, k);
        const int64_t n = count ? plugmc_molecules_of_kind(kind, count) : kind->count;
        sum += s->excluded[k] * (double)n;
    }
    return -s->bjerrum_length * sum;
}

double background(const ewald_sum *s, const plugmc_box *box)
{
    return -s->bjerrum_length * M_PI / (2 * s->alpha * s->alpha * box->volume);
}

/* count [species], or NULL: as at the start. */
static void add_energy(const ewald_sum *s, const spectrum *in, const int64_t *count, double *energy,
                       double *virial)
{
    double sum = 0, along[3] = {0}, self = s->self, net = s->net, squares;
    if (count) {
        charges_of(s, count, &squares, &net);
        self = self_energy(s, squares);
    }
    const double back = in->back * net * net;
    for (int64_t w = 0; w < s->waves; w++) {
        const double re = s->fresh.re[w], im = s->fresh.im[w];
        const double e = in->weight[w] * (re * re + im * im);
        sum += e;
        for (int d = 0; d < 3; d++) along[d] += e * in->virial[d][w];
    }
    if (energy) *energy += sum + self + back + excluded_energy(s, count);
    for (int d = 0; d < 3 && virial; d++) virial[d] += along[d] + back;
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
#pragma omp parallel for schedule(dynamic) num_threads(threads_of(s))
    for (int64_t begin = 0; begin < n; begin += BLOCK)
        add_block_forces(s, in, begin, n - begin < BLOCK ? (int)(n - begin) : BLOCK, forces);
}

/* That of a walker, and what else was asked for. */
static int energy_of_walker(ewald_sum *s, const void *what, int32_t w)
{
    const plugmc_total_request *request = what;
    const int64_t n = 3 * s->system->particles;
    const plugmc_box *box = box_of(s, request->view, w);
    const spectrum *in;
    spectrum_of(s, box, &in);
    take_phases(s, box, request->view->positions + w * n);
    const int code = structure_factors(s, s->fresh);
    if (code) return code;
    add_energy(s, in,
               s->numbers_change ? request->view->count + w * s->system->species_count : NULL,
               request->energy ? request->energy + w : NULL,
               request->virial ? request->virial + 3 * w : NULL);
    if (request->forces) add_forces(s, in, request->forces + w * n);
    return PLUGMC_OK;
}

int ewald_sum_energy(ewald_sum *s, const plugmc_total_request *request)
{
    return request->view->on_device
               ? ewald_device_energy(s, request)
               : ewald_each_walker(s, request->view, energy_of_walker, request);
}

/* Boxes that change are looked at by the host, counts are sent by it. */
int ewald_sum_recordable(const ewald_sum *s) { return !s->other.box && !s->numbers_change; }
