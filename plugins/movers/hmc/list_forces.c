/* Forces and energies of pairs from lists.
 *
 * What a pair contributes to a force is rounded to a multiple of a quantum, about 2^-30 kT over the range of the
 * pairs: as fine as what momenta, multiples of 2^-40, resolve in a usual time step. It is added to one particle and
 * subtracted from the other as an integer. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "lists.h"
#include "masks.h"

/* A double between 2^52 and 2^53 has units of 1, so adding this rounds what is smaller than `most` to an integer, in
 * the last bits. */
#define ROUNDER 6755399441055744.0 /* 1.5 * 2^52 */
static const double most = 0x1p50;

/* Three components, as integers, and one that is 0. */
typedef uint64_t four __attribute__((vector_size(32), may_alias));

/* Pairs of two species within reach, one row of a list after the other. */
typedef struct batch {
    int32_t n, rows;
    int32_t row[HMC_BATCH], end[HMC_BATCH];          /* slot, and where its pairs end */
    int32_t other[HMC_BATCH];                        /* slot */
    double x[HMC_BATCH], y[HMC_BATCH], z[HMC_BATCH]; /* length: separations from the others */
    double slope[HMC_BATCH];                         /* du/dr / r, energy/length^2 */
    double energy[HMC_BATCH];
    four gradient[HMC_BATCH]; /* quanta */
} batch;

/* What is done by one thread: pairs of species a <= b in rows of slots at ... end - 1 of a walker. */
typedef struct task {
    const hmc *h;
    int32_t walker;
    const hmc_list *list;
    const hmc_list_work *slots; /* where positions are */
    hmc_list_work *own;
    int with_energy;
    int32_t a, b;
    int64_t at, end;
    int32_t offset;                             /* in the row of slot `at` */
    double length[3], inverse[3], reach_square; /* of the box, length and 1/length; length^2 */
    int wide;                                   /* append_by_masks is possible */
} task;

/* The part of a row that has the partners of slot k among species a and b. */
PLUGMC_FN int32_t part_of_row(const task *t, int64_t k, const int32_t **part)
{
    const int32_t species = t->h->system->species_count, own = t->list->species[k];
    const int32_t wanted = own == t->a ? t->b : t->a, *length = t->list->length + k * species;
    *part = t->list->row[k];
    if (own != t->a && own != t->b) return 0;
    for (int32_t s = 0; s < wanted; s++) *part += length[s];
    return length[wanted];
}

/* Appends those of n others that are within reach of slot k. n is a multiple of HMC_LANES, at most HMC_CHUNK, and
 * there is room. */
PLUGMC_FN void append(const task *t, int64_t k, const int32_t *others, int32_t n, batch *b)
{
    const double *restrict sx = t->slots->x, *restrict sy = t->slots->y, *restrict sz = t->slots->z;
    const double lx = t->length[0], ly = t->length[1], lz = t->length[2], px = t->inverse[0],
                 py = t->inverse[1], pz = t->inverse[2], rx = sx[k], ry = sy[k], rz = sz[k],
                 reach_square = t->reach_square;
    int32_t found = b->n;
    for (int32_t begin = 0; begin < n; begin += HMC_LANES) {
        double x[HMC_LANES], y[HMC_LANES], z[HMC_LANES], square[HMC_LANES];
        const int32_t *restrict other = others + begin;
        for (int m = 0; m < HMC_LANES; m++) {
            const int32_t j = other[m];
            double dx = rx - sx[j], dy = ry - sy[j], dz = rz - sz[j];
            dx -= lx * rint(dx * px);
            dy -= ly * rint(dy * py);
            dz -= lz * rint(dz * pz);
            x[m] = dx;
            y[m] = dy;
            z[m] = dz;
            square[m] = dx * dx + dy * dy + dz * dz;
        }
        for (int m = 0; m < HMC_LANES; m++) { /* without a branch, which nobody could predict */
            b->other[found] = other[m];
            b->x[found] = x[m];
            b->y[found] = y[m];
            b->z[found] = z[m];
            found += square[m] < reach_square;
        }
    }
    b->n = found;
}

#if HMC_HAS_MASKS
/* The same. The position of a slot is loaded as a whole, and eight are transposed, which takes half the time of three
 * gathers. */
static __attribute__((HMC_WIDE)) void append_by_masks(const task *t, int64_t k,
                                                      const int32_t *others, int32_t n, batch *b)
{
    const double(*position)[4] = (const double(*)[4])t->slots->position;
    const __m512d lx = _mm512_set1_pd(t->length[0]), ly = _mm512_set1_pd(t->length[1]),
                  lz = _mm512_set1_pd(t->length[2]), px = _mm512_set1_pd(t->inverse[0]),
                  py = _mm512_set1_pd(t->inverse[1]), pz = _mm512_set1_pd(t->inverse[2]),
                  rx = _mm512_set1_pd(position[k][0]), ry = _mm512_set1_pd(position[k][1]),
                  rz = _mm512_set1_pd(position[k][2]),
                  reach_square = _mm512_set1_pd(t->reach_square);
    int32_t found = b->n;
    for (const int32_t *o = others; o < others + n; o += HMC_LANES) {
        const __m512d r02 = hmc_two_of(position, o[0], o[2]),
                      r13 = hmc_two_of(position, o[1], o[3]),
                      r46 = hmc_two_of(position, o[4], o[6]),
                      r57 = hmc_two_of(position, o[5], o[7]), xz = _mm512_unpacklo_pd(r02, r13),
                      more_xz = _mm512_unpacklo_pd(r46, r57), y0 = _mm512_unpackhi_pd(r02, r13),
                      more_y0 = _mm512_unpackhi_pd(r46, r57);
        const __m512d x = hmc_nearest_images(rx - _mm512_shuffle_f64x2(xz, more_xz, 0x88), lx, px),
                      y = hmc_nearest_images(ry - _mm512_shuffle_f64x2(y0, more_y0, 0x88), ly, py),
                      z = hmc_nearest_images(rz - _mm512_shuffle_f64x2(xz, more_xz, 0xdd), lz, pz);
        const __mmask8 near = _mm512_cmp_pd_mask(x * x + y * y + z * z, reach_square, _CMP_LT_OQ);
        const __m256i other = _mm256_loadu_si256((const __m256i_u *)o);
        _mm256_storeu_si256((__m256i_u *)(b->other + found),
                            _mm256_maskz_compress_epi32(near, other));
        _mm512_storeu_pd(b->x + found, _mm512_maskz_compress_pd(near, x));
        _mm512_storeu_pd(b->y + found, _mm512_maskz_compress_pd(near, y));
        _mm512_storeu_pd(b->z + found, _mm512_maskz_compress_pd(near, z));
        found += __builtin_popcount(near);
    }
    b->n = found;
}
#endif

/* Fills a batch; returns whether it has any pairs. */
static PLUGMC_TARGETS int fill(task *t, batch *b)
{
    b->n = b->rows = 0;
    for (; t->at < t->end; t->at++, t->offset = 0) {
        const int32_t *part, length = part_of_row(t, t->at, &part);
        while (t->offset < length) {
            const int32_t left = length - t->offset, n = left < HMC_CHUNK ? left : HMC_CHUNK;
            if (b->n + n > HMC_BATCH) return 1;
#if HMC_HAS_MASKS
            if (t->wide) append_by_masks(t, t->at, part + t->offset, n, b);
#endif
            if (!t->wide) append(t, t->at, part + t->offset, n, b);
            t->offset += n;
            b->row[b->rows] = (int32_t)t->at;
            b->end[b->rows++] = b->n;
            if (b->rows == HMC_BATCH && t->offset < length) return 1;
        }
        if (b->rows == HMC_BATCH) {
            t->at++;
            t->offset = 0;
            return 1;
        }
    }
    return b->n > 0;
}

/* Slopes of all terms, and energies. */
static void find_slopes(const task *t, batch *b)
{
    const hmc *h = t->h;
    const plugmc_species *sa = plugmc_species_at(h->system, t->a),
                         *sb = plugmc_species_at(h->system, t->b);
    const plugmc_particle pa = {0, 0, 0, sa->charge, sa->diameter, t->a},
                          pb = {0, 0, 0, sb->charge, sb->diameter, t->b};
    double slope[HMC_BATCH], energy[HMC_BATCH];
    const int alone = h->sampled.pair_count == 1 && !h->ladder.weight;
    if (!alone) {
        memset(b->slope, 0, (size_t)b->n * sizeof *b->slope);
        memset(b->energy, 0, (size_t)b->n * sizeof *b->energy);
    }
    for (int k = 0; k < h->sampled.pair_count; k++) {
        const plugmc_term *term = h->sampled.pairs[k];
        const double weight = hmc_weight(h, t->walker, term);
        if (weight == 0) continue; /* it may be infinite */
        term->plugin->potential->pair->slopes(term->instance, &pa, &pb, b->n, b->x, b->y, b->z,
                                              alone ? b->slope : slope,
                                              t->with_energy ? (alone ? b->energy : energy) : NULL);
        for (int32_t m = 0; m < b->n && !alone; m++) b->slope[m] += weight * slope[m];
        for (int32_t m = 0; m < b->n && !alone && t->with_energy; m++)
            b->energy[m] += weight * energy[m];
    }
}

/* To the nearest integer; what is not a number counts as the largest, and is marked in `strange`. */
PLUGMC_FN int64_t rounded(double g, int64_t *strange)
{
    union {
        double value;
        int64_t bits;
    } sum, rounder = {ROUNDER};
    *strange |= g != g;
    g = g < most ? g : most;
    g = g > -most ? g : -most;
    sum.value = g + ROUNDER;
    return sum.bits - rounder.bits;
}

/* Gradients as integers; returns whether one is not a number. */
static PLUGMC_TARGETS int round_gradients(batch *b, double over_quantum)
{
    const double *restrict x = b->x, *restrict y = b->y, *restrict z = b->z,
                           *restrict slope = b->slope;
    int64_t *restrict out = (int64_t *)b->gradient, strange = 0;
    for (int32_t m = 0; m < b->n; m++) {
        const double scaled = slope[m] * over_quantum;
        out[4 * m] = rounded(scaled * x[m], &strange);
        out[4 * m + 1] = rounded(scaled * y[m], &strange);
        out[4 * m + 2] = rounded(scaled * z[m], &strange);
        out[4 * m + 3] = 0;
    }
    return strange != 0;
}

#if HMC_HAS_MASKS
/* The same. */
static __attribute__((HMC_WIDE)) int round_gradients_by_masks(batch *b, double over_quantum)
{
    __mmask8 strange = 0;
    for (int32_t m = 0; m < b->n; m += HMC_LANES) {
        const __m512d scaled = _mm512_loadu_pd(b->slope + m) * _mm512_set1_pd(over_quantum),
                      x = scaled * _mm512_loadu_pd(b->x + m),
                      y = scaled * _mm512_loadu_pd(b->y + m),
                      z = scaled * _mm512_loadu_pd(b->z + m);
        const __mmask8 there = (__mmask8)(b->n - m < 8 ? (1 << (b->n - m)) - 1 : 0xff);
        strange |= there & (_mm512_cmp_pd_mask(x, y, _CMP_UNORD_Q) |
                            _mm512_cmp_pd_mask(z, z, _CMP_UNORD_Q));
        hmc_store_vectors((int64_t(*)[4])(b->gradient + m), hmc_rounded(x, most, ROUNDER),
                          hmc_rounded(y, most, ROUNDER), hmc_rounded(z, most, ROUNDER));
    }
    return strange != 0;
}
#endif

static int find_gradients(const task *t, batch *b, double over_quantum)
{
#if HMC_HAS_MASKS
    if (t->wide) return round_gradients_by_masks(b, over_quantum);
#endif
    (void)t;
    return round_gradients(b, over_quantum);
}

/* What is not a number counts as 0, and its particles are remembered. */
static void find_broken(const task *t, batch *b, double over_quantum)
{
    int32_t m = 0;
    for (int32_t r = 0; r < b->rows; r++)
        for (; m < b->end[r]; m++) {
            const double way[3] = {b->x[m], b->y[m], b->z[m]};
            for (int d = 0; d < 3; d++) {
                if (!isnan(b->slope[m] * over_quantum * way[d])) continue;
                b->gradient[m][d] = 0;
                t->own->broken[b->row[r]] = t->own->broken[b->other[m]] = 1;
            }
        }
}

static PLUGMC_TARGETS void add_gradients(four *restrict gradient, const batch *restrict b)
{
    int32_t m = 0;
    for (int32_t r = 0; r < b->rows; r++) {
        four sum = {0};
        for (; m < b->end[r]; m++) {
            sum += b->gradient[m];
            gradient[b->other[m]] -= b->gradient[m];
        }
        gradient[b->row[r]] += sum;
    }
}

static void pairs_of_species(task *t, batch *b, double over_quantum)
{
    while (fill(t, b)) {
        find_slopes(t, b);
        if (find_gradients(t, b, over_quantum)) find_broken(t, b, over_quantum);
        add_gradients((four *)t->own->gradient, b);
        for (int32_t m = 0; m < b->n && t->with_energy; m++)
            exact_add(&t->own->energy, b->energy[m]);
    }
}

/* A power of 2, energy/length. It follows from the temperature of the walker's own rung, so that its chain is the one
 * of a run at that temperature. */
static double quantum_of(const hmc *h, int32_t w)
{
    int exponent;
    frexp(h->ladder.rung[w].kT / h->sampled.reach, &exponent);
    return ldexp(1, exponent - 30);
}

/* Gradients and energies of the pairs in the rows of one thread. */
static void pairs_of_thread(const hmc *h, int32_t w, int32_t thread, int with_energy,
                            const hmc_list_work *slots, hmc_list_work *own)
{
    const hmc_list *list = &h->cpu->lists->list[w];
    const int64_t n = h->system->particles, begin = list->bound[thread],
                  end = list->bound[thread + 1];
    const double quantum = quantum_of(h, w);
    batch b;
    memset(own->gradient, 0, 4 * (size_t)n * sizeof *own->gradient);
    memset(&own->energy, 0, sizeof own->energy);
    for (int32_t a = 0; a < h->system->species_count; a++)
        for (int32_t c = a; c < h->system->species_count; c++) {
            task t = {.h = h,
                      .walker = w,
                      .list = list,
                      .slots = slots,
                      .own = own,
                      .with_energy = with_energy,
                      .a = a,
                      .b = c,
                      .at = begin,
                      .end = end,
                      .wide = hmc_masks(),
                      .reach_square = h->sampled.reach * h->sampled.reach * (1 + 1e-9)};
            for (int d = 0; d < 3; d++) {
                t.length[d] = h->box[w].length[d];
                t.inverse[d] = 1 / t.length[d];
            }
            pairs_of_species(&t, &b, 1 / quantum);
        }
}

/* Sums over threads, to force. */
static void gather_forces(const hmc *h, int32_t w, int32_t threads, hmc_list_work *work)
{
    const hmc_cpu *c = h->cpu;
    const hmc_list *list = &c->lists->list[w];
    const int64_t n = h->system->particles;
    const double quantum = quantum_of(h, w);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = w * n + list->number[k];
        uint64_t sum[3] = {0};
        int32_t broken = 0;
        for (int32_t t = 0; t < threads; t++) {
            for (int d = 0; d < 3; d++) sum[d] += (uint64_t)work[t].gradient[4 * k + d];
            broken |= work[t].broken[k];
            work[t].broken[k] = 0;
        }
        for (int d = 0; d < 3; d++)
            c->force[3 * i + d] = d >= h->dimension ? 0
                                  : broken          ? NAN
                                                    : -(double)(int64_t)sum[d] * quantum;
    }
}

/* Adds forces and energies of fields. */
static void add_fields(const hmc *h, int32_t w, int32_t threads)
{
    const hmc_cpu *c = h->cpu;
    const int64_t n = h->system->particles;
    if (!h->sampled.field_count) return;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = w * n + k;
        const double *r = c->positions + 3 * i;
        const plugmc_species *species = plugmc_species_at(h->system, c->species[k]);
        const plugmc_particle probe = {r[0],         r[1], r[2], species->charge, species->diameter,
                                       c->species[k]};
        plugmc_derivatives sum = {0};
        const int forbidden = hmc_cpu_add_fields(h, w, &probe, &sum);
        for (int d = 0; d < h->dimension; d++) c->force[3 * i + d] -= sum.gradient[d];
        c->share[i] = forbidden ? INFINITY : sum.energy;
    }
}

/* Returns 0 if there is no room for the list. */
static int walker_forces(const hmc *h, int32_t w, int32_t threads, hmc_list_work *work,
                         int with_energy)
{
    hmc_list *list = &h->cpu->lists->list[w];
    const double farthest = list->made ? hmc_list_fill(h, w, work) : INFINITY;
    const int holds = farthest < 0.25 * list->skin * list->skin * (1 - 1e-9);
    if ((!holds || list->threads != threads) && !hmc_list_make(h, w, threads, work)) return 0;
    list->served++;
#pragma omp parallel num_threads(threads)
    {
        const int32_t t = omp_get_thread_num();
        pairs_of_thread(h, w, t, with_energy, &work[0], &work[t]);
    }
    for (int32_t t = 1; t < threads && with_energy; t++)
        exact_merge(&work[0].energy, &work[t].energy);
    if (with_energy) h->cpu->pair_energy[w] = exact_total(&work[0].energy);
    gather_forces(h, w, threads, work);
    add_fields(h, w, threads);
    return 1;
}

/* Many walkers are shared among threads, few are worked on by all threads, one after the other. Walkers whose lists
 * have no room come again when there is. */
int hmc_lists_forces(hmc *h, const plugmc_host *host, int with_energy)
{
    const hmc_cpu *c = h->cpu;
    const int32_t walkers = (int32_t)h->system->walkers;
    const int32_t teams = walkers >= c->threads ? c->threads : 1,
                  threads = teams > 1 ? 1 : c->threads;
    int missing = 1, code = PLUGMC_OK;
    for (int32_t w = 0; w < walkers; w++) c->lists->list[w].done = 0;
    while (missing && !code) {
#pragma omp parallel for num_threads(teams) schedule(dynamic, 1)
        for (int32_t w = 0; w < walkers; w++) {
            hmc_list_work *work = &c->lists->work[teams > 1 ? omp_get_thread_num() : 0];
            hmc_list *list = &c->lists->list[w];
            if (!list->done) list->done = walker_forces(h, w, threads, work, with_energy);
        }
        missing = 0;
        for (int32_t w = 0; w < walkers && !code; w++)
            if (!c->lists->list[w].done) {
                missing = 1;
                code = hmc_list_enlarge(h, host, w);
            }
    }
    return code;
}

/* ---- Preparation --------------------------------------------------------------------------------- */

int hmc_lists_serve(const hmc *h)
{
    int serve = !h->system->box.oblique && h->sampled.pair_count > 0 &&
                isfinite(h->sampled.reach) && h->sampled.reach > 0;
    for (int t = 0; t < h->sampled.pair_count; t++) {
        const plugmc_pair *pair = h->sampled.pairs[t]->plugin->potential->pair;
        serve = serve && PLUGMC_HAS(pair, slopes) && pair->slopes;
    }
    return serve;
}

void hmc_lists_boxes(hmc *h)
{
    for (int32_t w = 0; w < h->system->walkers; w++) h->cpu->lists->list[w].made = 0;
}

static int take_list(hmc_list *list, const plugmc_host *host, const plugmc_system *system,
                     size_t threads)
{
    const size_t n = (size_t)system->particles, species = (size_t)system->species_count;
    int code = PLUGMC_OK;
    list->reference = hmc_cpu_take(host, 3 * n, sizeof *list->reference, &code);
    list->number = hmc_cpu_take(host, n, sizeof *list->number, &code);
    list->species = hmc_cpu_take(host, n, sizeof *list->species, &code);
    list->row = hmc_cpu_take(host, n, sizeof *list->row, &code);
    list->length = hmc_cpu_take(host, n * species, sizeof *list->length, &code);
    list->entry = hmc_cpu_take(host, threads, sizeof *list->entry, &code);
    list->capacity = hmc_cpu_take(host, threads, sizeof *list->capacity, &code);
    list->used = hmc_cpu_take(host, threads, sizeof *list->used, &code);
    list->bound = hmc_cpu_take(host, threads + 1, sizeof *list->bound, &code);
    return code;
}

static int take_work(hmc_list_work *work, const plugmc_host *host, size_t n)
{
    int code = PLUGMC_OK;
    double **columns[] = {&work->x,  &work->y,  &work->z,     &work->cx,
                          &work->cy, &work->cz, &work->square};
    int32_t **integers[] = {&work->cell, &work->candidate, &work->near, &work->broken};
    for (int k = 0; k < PLUGMC_COUNT(columns); k++)
        *columns[k] = hmc_cpu_take(host, n + 1, sizeof(double), &code);
    double *position = hmc_cpu_take(host, 4 * (n + 2), sizeof *position, &code);
    work->position = (double *)(((uintptr_t)position + 31) & ~(uintptr_t)31);
    for (int k = 0; k < PLUGMC_COUNT(integers); k++)
        *integers[k] = hmc_cpu_take(host, n + HMC_LANES, sizeof(int32_t), &code);
    work->start = hmc_cpu_take(host, 4 * n + 16, sizeof *work->start, &code);
    work->gradient = hmc_cpu_take(host, 4 * n, sizeof *work->gradient, &code);
    return code;
}

int hmc_lists_prepare(hmc *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    const size_t walkers = (size_t)system->walkers, threads = (size_t)h->cpu->threads;
    int code = PLUGMC_OK;
    hmc_lists *lists = h->cpu->lists = hmc_cpu_take(host, 1, sizeof *lists, &code);
    if (code) return code;
    lists->list = hmc_cpu_take(host, walkers, sizeof *lists->list, &code);
    lists->work = hmc_cpu_take(host, threads, sizeof *lists->work, &code);
    for (size_t w = 0; w < walkers && !code; w++)
        code = take_list(&lists->list[w], host, system, walkers >= threads ? 1 : threads);
    for (size_t t = 0; t < threads && !code; t++)
        code = take_work(&lists->work[t], host, (size_t)system->particles);
    return code;
}
