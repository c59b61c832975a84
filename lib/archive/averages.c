/* Averages and errors of all quantities, and what one of them says about the others.
 *
 * All quantities of a run are functions of one chain. Where one of them is slow, a part of any other
 * may be: what acts along x in a small box of disks follows the orientation of the crystal in it,
 * and a run of ten of its correlation times has too small an error for it, since it looks fast
 * and cannot know. So the largest correlation time among the scalars of a run is compared with its
 * length. */
#include "archive/averages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "statistics/blocking.h"
#include "archive/frozen.h"

/* Correlation times of the slowest scalar that a run has to be long, as measured; in short runs
 * that measures too small a time. */
static const double LONG_ENOUGH = 30;
/* Of a run of n such times the blocks are n/64 to n/127 of one long, so they miss the more of a slow
 * part the smaller n is: squared errors are larger by 1 + MISSED/n (docs/statistics.md). */
static const double MISSED = 6;
/* What varies by less than this share of the largest number beside it is its rounding errors, which
 * may walk for ever. */
static const double ROUNDING = 1e-10;

void averages_free(quantity_record *q)
{
    autocorrelation_free(&q->found.correlation);
    free(q->found.means), free(q->found.errors), free(q->found.each_converged);
    q->found = (quantity_result){0};
}

double *averages_over_walkers(const quantity_record *q)
{
    double *mean = calloc((size_t)q->samples + 1, sizeof *mean);
    for (int64_t i = 0; mean && i < q->samples * q->walkers; i++)
        mean[i / q->walkers] += q->series[i] / q->walkers;
    return mean;
}

/* The weights of the samples of a quantity; NULL: they count alike. */
static const quantity_record *weights_of(const output_data *data, const quantity_record *q)
{
    for (int i = 0; i < data->quantity_count && !q->weighs; i++) {
        const quantity_record *other = &data->quantities[i];
        if (other->weighs && !strcmp(other->observable, q->observable)) return other;
    }
    return NULL;
}

static double *weighted_series(const quantity_record *q, const quantity_record *weights)
{
    const double *x = q->series, *w = weights->series;
    double *out = malloc(((size_t)q->samples + 1) * sizeof *out), sum = 0, shift = 0;
    for (int64_t i = 0; i < q->samples; i++) {
        sum += w[i];
        shift += w[i] * (x[i] - x[0]); /* from the first sample, so that constants are exact */
    }
    const double mean = q->samples ? x[0] + shift / sum : NAN;
    for (int64_t i = 0; out && i < q->samples; i++)
        out[i] = mean + w[i] / sum * (double)q->samples * (x[i] - mean);
    return out;
}

const double *averages_series(const output_data *data, const quantity_record *q, int *walkers)
{
    const quantity_record *weights = weights_of(data, q);
    *walkers = data->joined ? 1 : q->walkers;
    if (weights) return weighted_series(q, weights);
    return data->joined && q->walkers > 1 ? averages_over_walkers(q) : q->series;
}

bool averages_blocks(const output_data *data, const quantity_record *q, block_average *out,
                     int *code)
{
    const quantity_record *weights = weights_of(data, q);
    *out = q->blocks;
    *code = 0;
    if (!weights) return false;
    const int64_t rows = q->blocks.blocks + 1, each = q->blocks.per_block;
    double *of_row = calloc((size_t)rows, sizeof *of_row), all = 0;
    *code = !of_row || block_average_init(out, q->length);
    if (*code) {
        free(of_row);
        return false;
    }
    out->per_block = each, out->blocks = q->blocks.blocks, out->in_last = q->blocks.in_last;
    for (int64_t s = 0; s < weights->samples; s++) {
        of_row[s / each < rows ? s / each : rows - 1] += weights->series[s];
        all += weights->series[s];
    }
    for (int64_t i = 0; i < q->length; i++) {
        double mean = 0;
        for (int64_t b = 0; b < rows; b++) mean += q->blocks.sums[b * q->length + i] / all;
        for (int64_t b = 0; b < rows; b++) {
            const double samples = (double)(b < rows - 1 ? each : q->blocks.in_last);
            out->sums[b * q->length + i] =
                samples * mean + (q->blocks.sums[b * q->length + i] - of_row[b] * mean) / all *
                                     (double)weights->samples;
        }
    }
    free(of_row);
    return true;
}

void averages_so_far(const output_data *data, const quantity_record *q, estimate *out)
{
    int walkers;
    const double *series = averages_series(data, q, &walkers);
    block_means blocks;
    *out = (estimate){NAN, NAN, NAN, NAN, 0, false};
    if (series && q->samples && !block_means_of_series(&blocks, &series, 1, q->samples, walkers)) {
        const double all = blocks.mean[0];
        const block_error e = error_of_blocks(blocks.block, blocks.count, walkers, 0);
        *out = (estimate){all, e.error, NAN, NAN, q->samples * walkers, e.converged};
        if (frozen_any(data)) frozen_doubt(all, &out->error, &out->converged);
        block_means_free(&blocks);
    }
    if (series != q->series) free((void *)series);
}

/* Walkers that hang together give one sample at a time. */
static int find_scalar(const output_data *data, quantity_record *q)
{
    int walkers;
    const double *series = averages_series(data, q, &walkers);
    if (!series && q->samples) return 1;
    q->found.halves = difference_of_halves(series, q->samples, walkers);
    q->found.still = series == q->series ? frozen_walkers(series, q->samples, walkers) : 0;
    const int code = estimate_interleaved(series, q->samples, walkers, data->blocks,
                                          &q->found.scalar, &q->found.correlation);
    if (series != q->series) free((void *)series);
    return code;
}

static int find_array(const output_data *data, quantity_record *q)
{
    const size_t length = (size_t)q->length;
    q->found.means = calloc(length, sizeof(double));
    q->found.errors = calloc(length, sizeof(double));
    q->found.each_converged = calloc(length, sizeof(bool));
    if (!q->found.means || !q->found.errors || !q->found.each_converged) return 1;
    block_average blocks;
    int code;
    const bool own = averages_blocks(data, q, &blocks, &code);
    if (code) return 1;
    block_average_result(&blocks, data->blocks, q->found.means, q->found.errors,
                         q->found.each_converged);
    if (own) block_average_free(&blocks);
    return 0;
}

static bool is_rounding(const output_data *data, const quantity_record *q)
{
    double largest = 0;
    for (int i = 0; i < data->quantity_count; i++) {
        const quantity_record *other = &data->quantities[i];
        if (other->length == 1 && !strcmp(other->observable, q->observable))
            largest = fmax(largest, fabs(other->found.scalar.mean));
    }
    return sqrt(q->found.scalar.variance) <= ROUNDING * largest;
}

static double sweeps_of(const quantity_record *q)
{
    return q->found.scalar.correlation_time * (double)q->period;
}

static const quantity_record *slowest_of(const output_data *data)
{
    const quantity_record *slowest = NULL;
    for (int i = 0; i < data->quantity_count; i++) {
        const quantity_record *q = &data->quantities[i];
        if (q->weighs) continue; /* what weights do to averages is in their own series */
        if (q->length == 1 && q->found.scalar.correlation_time > 0.5 && !is_rounding(data, q) &&
            (!slowest || sweeps_of(q) > sweeps_of(slowest)))
            slowest = q;
    }
    return slowest;
}

run_length averages_run_length(const output_data *data, bool by_walker)
{
    if (!data->slowest || data->blocks) return (run_length){.enough = true, .widening = 1};
    const quantity_record *q = data->slowest;
    const double samples = (double)(by_walker ? q->samples : q->found.scalar.samples),
                 times = samples / q->found.scalar.correlation_time;
    return (run_length){.enough = times >= LONG_ENOUGH, .widening = sqrt(1 + MISSED / times)};
}

/* Walkers that all stand still know nothing of the error, some of them make it too small. */
static void doubt_scalar(quantity_record *q, bool enough, bool frozen)
{
    estimate *e = &q->found.scalar;
    if (q->found.still && q->found.still == q->walkers) e->error = NAN;
    if (q->found.still || (!enough && e->error > 0)) e->converged = false;
    if (frozen && q->samples) frozen_doubt(e->mean, &e->error, &e->converged);
}

static void doubt_array(quantity_record *q, bool enough, bool frozen)
{
    quantity_result *f = &q->found;
    for (int64_t k = 0; k < q->length; k++) {
        if (!enough && f->errors[k] > 0) f->each_converged[k] = false;
        if (frozen) frozen_doubt(f->means[k], &f->errors[k], &f->each_converged[k]);
    }
}

/* Of a scalar with a star; 0 without one. */
static double times_longer(const quantity_record *q)
{
    enum { FEWEST = 16 }; /* blocks below which none is long enough: statistics/blocking.c */
    const estimate *e = &q->found.scalar;
    if (q->length != 1 || !q->samples || e->converged || !(e->error > 0)) return 0;
    const double samples = (double)e->samples;
    return fmax(LONG_ENOUGH * e->correlation_time / samples, FEWEST / samples);
}

double averages_times_longer(const output_data *data)
{
    enum { LEAST = 2 };
    double most = LEAST;
    if (data->slowest)
        most = fmax(most, LONG_ENOUGH * data->slowest->found.scalar.correlation_time /
                              (double)data->slowest->samples);
    for (int i = 0; i < data->quantity_count; i++)
        most = fmax(most, times_longer(&data->quantities[i]));
    const double unit = pow(10, floor(log10(most)) - 1);
    return most < 100 ? ceil(most) : ceil(most / unit) * unit;
}

int averages_find(output_data *data)
{
    const bool frozen = frozen_any(data);
    for (int i = 0; i < data->quantity_count; i++) {
        quantity_record *q = &data->quantities[i];
        averages_free(q);
        if (q->length == 1 ? find_scalar(data, q) : find_array(data, q)) return 1;
    }
    data->slowest = slowest_of(data);
    for (int i = 0; i < data->quantity_count; i++) {
        quantity_record *q = &data->quantities[i];
        const run_length run = averages_run_length(data, q->length > 1);
        if (q->length == 1 && is_rounding(data, q)) q->found.halves = NAN;
        q->found.scalar.error *= run.widening;
        for (int64_t k = 0; q->length > 1 && k < q->length; k++) q->found.errors[k] *= run.widening;
        if (q->length == 1)
            doubt_scalar(q, run.enough, frozen);
        else
            doubt_array(q, run.enough, frozen);
    }
    return 0;
}
