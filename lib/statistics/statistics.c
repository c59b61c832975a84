/* Means, error bars and correlation times of correlated samples. The rule for error bars is in
 * blocking.c; here are the blocks that it is applied to: those of series, of arrays, and what the
 * jackknife makes of both for derived numbers. */
#include "statistics/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "statistics/blocking.h"

/* A full set has 64 to 127 blocks a walker; of many walkers fewer, so that the jackknife ends. */
enum { B = 64, MOST_BLOCKS = 4096 };

/* ---- Blocks of series ----------------------------------------------------------------------- */

int block_means_init(block_means *out, int64_t count, int64_t walkers, int64_t length)
{
    const size_t blocks = (size_t)((count + 1) * walkers), width = (size_t)length;
    *out = (block_means){.count = count, .walkers = walkers, .length = length};
    out->block = calloc(blocks * width + 1, sizeof(double));
    out->mean = calloc(width + 1, sizeof(double));
    if (out->block && out->mean) return 0;
    block_means_free(out);
    return 1;
}

void block_means_free(block_means *b)
{
    free(b->block);
    free(b->mean);
    *b = (block_means){0};
}

/* Mean of a [n][walkers] series; from the first sample, so that constants are exact. */
static double mean_of(const double *series, int64_t n, int64_t walkers)
{
    double shift = 0;
    for (int64_t i = 0; i < n * walkers; i++) shift += series[i] - series[0];
    return n * walkers > 0 ? series[0] + shift / (double)(n * walkers) : NAN;
}

int block_means_of_series(block_means *out, const double *const *series, int64_t length, int64_t n,
                          int64_t walkers)
{
    int64_t per_block = 1;
    while (n / per_block >= 2 * B || (n / per_block > 1 && n / per_block * walkers > MOST_BLOCKS))
        per_block *= 2;
    if (block_means_init(out, n / per_block, walkers, length)) return 1;
    for (int64_t k = 0; k < length; k++) {
        out->mean[k] = mean_of(series[k], n, walkers);
        for (int64_t i = 0; i < out->count * per_block; i++)
            for (int64_t w = 0; w < walkers; w++) /* sums of deviations lose fewer digits */
                out->block[(i / per_block * walkers + w) * length + k] +=
                    (series[k][i * walkers + w] - out->mean[k]) / (double)per_block;
        for (int64_t b = 0; b < out->count * walkers; b++)
            out->block[b * length + k] += out->mean[k];
    }
    return 0;
}

/* ---- Series --------------------------------------------------------------------------------- */

static double variance_of(const double *series, int64_t count, double mean)
{
    double squares = 0;
    for (int64_t i = 0; i < count; i++) squares += (series[i] - mean) * (series[i] - mean);
    return count < 2 ? NAN : squares / (double)(count - 1);
}

int estimate_interleaved(const double *series, int64_t n, int walkers, int64_t so_many,
                         estimate *out, autocorrelation *correlation)
{
    *out = (estimate){NAN, NAN, NAN, NAN, n * walkers, false};
    *correlation = (autocorrelation){.time = NAN};
    if (n < 1) return 0;
    block_means blocks;
    if (block_means_of_series(&blocks, &series, 1, n, walkers)) return 1;
    out->mean = blocks.mean[0];
    out->variance = variance_of(series, n * walkers, out->mean);
    const block_error found = error_of_blocks(blocks.block, blocks.count, walkers, so_many);
    block_means_free(&blocks);
    out->error = found.error;
    out->converged = found.converged;
    if (isnan(out->variance)) return 0;
    if (autocorrelation_make(correlation, series, n, walkers)) return 1;
    out->correlation_time = correlation->count ? fmax(0.5, correlation->time) : NAN;
    return 0;
}

double difference_of_halves(const double *series, int64_t n, int walkers)
{
    const int64_t half = n / 2;
    const double *const part[2] = {series, series + (n - half) * walkers};
    double mean[2], square = 0;
    bool known = half > 0;
    for (int k = 0; k < 2 && known; k++) {
        block_means blocks;
        if (block_means_of_series(&blocks, &part[k], 1, half, walkers)) return NAN;
        mean[k] = blocks.mean[0];
        const block_error e = error_of_blocks(blocks.block, blocks.count, walkers, 0);
        block_means_free(&blocks);
        square += e.error * e.error;
        known = e.converged && e.error > 0;
    }
    return known ? (mean[1] - mean[0]) / sqrt(square) : NAN;
}

/* ---- Autocorrelation ------------------------------------------------------------------------ */

enum { CONSECUTIVE = 64, MOST_LAGS = CONSECUTIVE * 32, WINDOW = 10 };

/* The series is that of deviations from the mean. */
static double covariance(const double *series, int64_t n, int walkers, int64_t lag)
{
    double total = 0;
    for (int64_t first = 0; first < n - lag; first += 4096) { /* sums of sums lose fewer digits */
        int64_t end = first + 4096 < n - lag ? first + 4096 : n - lag;
        double sum = 0;
        for (int64_t i = first * walkers; i < end * walkers; i++)
            sum += series[i] * series[i + lag * walkers];
        total += sum;
    }
    return total / ((double)(n - lag) * walkers);
}

/* Deviations from the mean, malloc'ed; NULL without memory. */
static double *deviations(const double *series, int64_t count)
{
    double *out = malloc(((size_t)count + 1) * sizeof *out), shift = 0;
    if (!out) return NULL;
    for (int64_t i = 0; i < count; i++) shift += series[i] - series[0];
    for (int64_t i = 0; i < count; i++) out[i] = series[i] - series[0] - shift / (double)count;
    return out;
}

int autocorrelation_make(autocorrelation *out, const double *series, int64_t n, int n_walkers)
{
    *out = (autocorrelation){.time = NAN};
    if (n < 1) return 0;
    double *x = deviations(series, n * n_walkers);
    out->lag = malloc(MOST_LAGS * sizeof *out->lag);
    out->value = malloc(MOST_LAGS * sizeof *out->value);
    if (!x || !out->lag || !out->value) {
        free(x);
        autocorrelation_free(out);
        return 1;
    }
    const double variance = covariance(x, n, n_walkers, 0);
    double time = 0.5, before = 1;
    int64_t lag = 0, step = 0;
    while (variance > 0 && isfinite(variance) && out->count < MOST_LAGS) {
        const double value = covariance(x, n, n_walkers, lag) / variance;
        /* lags in between on a straight line */
        time += (double)step * before + (value - before) * 0.5 * (double)(step + 1) * (step > 0);
        before = value;
        out->lag[out->count] = lag;
        out->value[out->count++] = value;
        step = 1;
        while (step * 2 * CONSECUTIVE <= lag + step) step *= 2;
        lag += step;
        if (lag > n / 10 || (double)lag > WINDOW * fmax(time, 0.5)) break;
    }
    if (out->count) out->time = time;
    free(x);
    return 0;
}

void autocorrelation_free(autocorrelation *a)
{
    free(a->lag);
    free(a->value);
    *a = (autocorrelation){.time = NAN};
}

/* ---- Averages of arrays ---------------------------------------------------------------------
 * Samples are not kept, only sums over blocks. */

int block_average_init(block_average *average, int64_t length)
{
    *average = (block_average){.length = length, .per_block = 1};
    if (length < 0) return 1;
    average->sums = calloc(length ? (size_t)length : 1, (2 * B + 1) * sizeof(double));
    return average->sums == NULL;
}

void block_average_free(block_average *average)
{
    free(average->sums);
    *average = (block_average){0};
}

static double *row(const block_average *average, int64_t block)
{
    return average->sums + block * average->length;
}

/* Rows past the one being filled stay zero, so that equal runs have equal states. */
static void merge_pairs(block_average *average)
{
    for (int64_t block = 0; block < B; block++)
        for (int64_t i = 0; i < average->length; i++)
            row(average, block)[i] = row(average, 2 * block)[i] + row(average, 2 * block + 1)[i];
    memset(row(average, B), 0, (size_t)((B + 1) * average->length) * sizeof(double));
    average->blocks = B;
    average->per_block *= 2;
}

void block_average_add(block_average *average, const double *sample)
{
    double *sum = row(average, average->blocks);
    for (int64_t i = 0; i < average->length; i++) sum[i] += sample[i];
    if (++average->in_last < average->per_block) return;
    average->in_last = 0;
    if (++average->blocks == 2 * B) merge_pairs(average);
}

static int64_t samples_of(const block_average *average)
{
    return average->blocks * average->per_block + average->in_last;
}

/* Sum over rows 0 ... rows - 1, [length]. */
static void sum_rows(const block_average *average, int64_t rows, double *sum)
{
    memset(sum, 0, (size_t)average->length * sizeof *sum);
    for (int64_t block = 0; block < rows; block++)
        for (int64_t i = 0; i < average->length; i++) sum[i] += row(average, block)[i];
}

void block_average_mean(const block_average *average, double *mean)
{
    const int64_t samples = samples_of(average);
    sum_rows(average, average->blocks + 1, mean);
    for (int64_t i = 0; i < average->length; i++)
        mean[i] = samples ? mean[i] / (double)samples : NAN;
}

/* x [blocks] of one element, without the samples of the block being filled. */
static void column_of(const block_average *average, int64_t i, double *x)
{
    for (int64_t block = 0; block < average->blocks; block++)
        x[block] = row(average, block)[i] / (double)average->per_block;
}

void block_average_result(const block_average *average, int64_t blocks, double *mean, double *error,
                          bool *converged)
{
    double x[2 * B]; /* blocks < 2 B, and one more */
    for (int64_t i = 0; i < average->length; i++) {
        column_of(average, i, x);
        const block_error e = error_of_blocks(x, average->blocks, 1, blocks);
        error[i] = e.error;
        converged[i] = e.converged;
    }
    block_average_mean(average, mean);
}

/* ---- Jackknife ------------------------------------------------------------------------------
 *
 * The values without block b are linear in the mean of b, as far as the function is linear over
 * the distance that one block moves it, which every jackknife takes for granted: up to a constant
 * they are -1/(n - 1) times what b itself says (the pseudo-values of J. W. Tukey, Ann. Math. Stat.
 * 29, 614 (1958)). So they are treated as the blocks of a mean are. Leaving out joined blocks anew
 * would differ by terms of second order, in which the jackknife is not right anyway. */

/* Values [blocks of all walkers][outputs] without one block each; non-zero where derive cannot. */
static int leave_out(const block_means *b, derive_function derive, void *argument, int64_t outputs,
                     double *total, double *mean, double *values)
{
    const int64_t blocks = b->count * b->walkers;
    for (int64_t k = 0; k < blocks; k++)
        for (int64_t i = 0; i < b->length; i++) total[i] += b->block[k * b->length + i];
    for (int64_t k = 0; k < blocks; k++) {
        for (int64_t i = 0; i < b->length; i++)
            mean[i] = (total[i] - b->block[k * b->length + i]) / (double)(blocks - 1);
        int code = derive(argument, mean, values + k * outputs);
        if (code) return code;
    }
    return 0;
}

int jackknife(const block_means *b, derive_function derive, void *argument, int64_t outputs,
              int64_t so_many, double *value, double *error, bool *converged)
{
    const int64_t blocks = b->count * b->walkers;
    for (int64_t i = 0; i < outputs; i++) {
        value[i] = error[i] = NAN;
        converged[i] = false;
    }
    const size_t length = (size_t)b->length;
    double *work = calloc(2 * length + (size_t)(blocks * (outputs + 1) + b->walkers), sizeof *work);
    if (!work) return 1;
    double *mean = work, *total = work + length, *values = total + length;
    double *x = values + blocks * outputs;
    int code = derive(argument, b->mean, value);
    if (code) {
        for (int64_t i = 0; i < outputs; i++) value[i] = NAN;
    } else if (blocks >= 2 && !leave_out(b, derive, argument, outputs, total, mean, values)) {
        for (int64_t i = 0; i < outputs; i++) {
            for (int64_t k = 0; k < blocks; k++)
                x[k] = (double)(blocks - 1) * values[k * outputs + i];
            const block_error e = error_of_blocks(x, b->count, b->walkers, so_many);
            error[i] = e.error;
            converged[i] = e.converged;
        }
    }
    free(work);
    return code;
}

int block_average_jackknife(const block_average *average, derive_function derive, void *argument,
                            int64_t outputs, double *value, double *error, bool *converged)
{
    block_means blocks;
    for (int64_t i = 0; i < outputs; i++) {
        value[i] = error[i] = NAN;
        converged[i] = false;
    }
    if (samples_of(average) == 0) return 1;
    if (block_means_init(&blocks, average->blocks, 1, average->length)) return 1;
    for (int64_t k = 0; k < average->blocks * average->length; k++)
        blocks.block[k] = average->sums[k] / (double)average->per_block;
    block_average_mean(average, blocks.mean);
    int code = jackknife(&blocks, derive, argument, outputs, 0, value, error, converged);
    block_means_free(&blocks);
    return code;
}
