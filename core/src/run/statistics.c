/* Means, error bars and correlation times of correlated samples.
 *
 * Blocking (H. Flyvbjerg, H. G. Petersen, J. Chem. Phys. 91, 461 (1989)): samples are averaged in
 * pairs, the averages again in pairs, and so on. With blocks of B samples the squared error of
 * the mean is estimated as B s_B^2 / n, s_B^2 being the variance of block means; it grows with B
 * until blocks are longer than the correlation time.
 *
 * Which block length is taken: the shortest with B^3 > 2 n R_B^2, where R_B is the squared error
 * at B over that at B = 1, an estimate of 2 tau. There the bias from blocks that are still
 * correlated, about 2 tau / B, is as large as the noise of the estimate, about (2 B / n)^(1/2)
 * (U. Wolff, Comput. Phys. Commun. 156, 143 (2004); R. M. Lee et al., Phys. Rev. E 83, 066706
 * (2011)). A run in which fewer than ENOUGH_BLOCKS such blocks fit is too short to know its error.
 * Tests of the blocks for remaining correlation (M. Jonsson, Phys. Rev. E 98, 043304 (2018)) stop
 * at shorter blocks and were found to underestimate errors of AR(1) series by 5 to 20 %.
 *
 * That takes correlations to decay on one scale. Where a quantity also follows something slow a
 * little (the pressure the order of a crystal), the squared error stops growing with B, and grows
 * again where B comes near the slow time. So longer blocks, and the means of walkers, must not have
 * a larger spread than chance allows: else the search goes on.
 */
#include "run/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 62, ENOUGH_BLOCKS = 16, FEW_BLOCKS = 4, B = 64 };
static const double CORRELATION_AT_END = 0.5;

/* Sums over the blocks of 2^k samples of all walkers, of deviations from the mean. */
typedef struct level {
    int64_t blocks;
    double sum, squares;
    double first_half; /* of a block of the next level */
    bool has_half;
} level;

static estimate estimate_strided(const double *series, int64_t n, int walkers,
                                 int64_t sample_stride, int64_t walker_stride);

estimate estimate_series(const double *series, int64_t n, int n_walkers)
{
    return estimate_strided(series, n, n_walkers, 1, n);
}

estimate estimate_interleaved(const double *series, int64_t n, int n_walkers)
{
    return estimate_strided(series, n, n_walkers, n_walkers, 1);
}

static void add_block(level *levels, double mean)
{
    for (level *at = levels;; at++) {
        at->blocks++;
        at->sum += mean;
        at->squares += mean * mean;
        at->has_half = !at->has_half;
        if (at->has_half) {
            at->first_half = mean;
            return;
        }
        mean = 0.5 * (at->first_half + mean);
    }
}

static double sample_variance(int64_t count, double sum, double squares)
{
    if (count < 2) return NAN;
    double variance = (squares - sum * sum / (double)count) / (double)(count - 1);
    return variance < 0 ? 0 : variance;
}

/* Squared error of the mean of `total` samples from blocks of 2^k. Samples at the end of a walker
 * that fill no block count into the mean, hence total and not blocks 2^k. */
static double error_square(const level *levels, int k, int64_t total)
{
    const level *at = &levels[k];
    return sample_variance(at->blocks, at->sum, at->squares) * ldexp(1, k) / (double)total;
}

/* What a variance from n numbers is of the true one, at most, unless by a chance of 1 in 200: chi
 * squared of n - 1 degrees of freedom, by E. B. Wilson, M. M. Hilferty, Proc. Natl. Acad. Sci. 17,
 * 684 (1931). */
static double most_by_chance(int64_t n)
{
    const double quantile = 2.576, d = 2.0 / (9.0 * (double)(n - 1));
    return pow(1 - d + quantile * sqrt(d), 3);
}

/* Whether blocks longer than 2^k, or the walkers' means, have a larger squared error than `here`. */
static bool grows_later(const level *levels, int k, int64_t total, double here, int walkers,
                        double walker_error)
{
    if (walkers >= FEW_BLOCKS && walker_error > here * most_by_chance(walkers)) return true;
    for (int longer = k + 1; longer < LEVELS && levels[longer].blocks >= ENOUGH_BLOCKS; longer++)
        if (error_square(levels, longer, total) > here * most_by_chance(levels[longer].blocks))
            return true;
    return false;
}

/* The squared error at the shortest block that is long enough; without one the largest, which is
 * the least wrong, and *converged is false. Once it was seen to grow later than the rule says, four
 * times as many blocks are asked for, so that two more lengths are looked at. walker_error: from
 * the spread of the walkers' means, which are independent however long the correlation. */
static double choose(const level *levels, int64_t total, int walkers, double walker_error,
                     bool *converged)
{
    double uncorrelated = error_square(levels, 0, total), largest = uncorrelated;
    int64_t enough = ENOUGH_BLOCKS;
    for (int k = 0; k < LEVELS && levels[k].blocks >= FEW_BLOCKS; k++) {
        double here = error_square(levels, k, total), ratio = here / uncorrelated;
        if (levels[k].blocks >= enough && ldexp(1, 3 * k) > 2 * (double)total * ratio * ratio) {
            *converged = !grows_later(levels, k, total, here, walkers, walker_error);
            if (*converged) return here;
            enough = 4 * ENOUGH_BLOCKS;
        }
        if (here > largest) largest = here;
    }
    *converged = walkers >= ENOUGH_BLOCKS;
    if (walkers >= FEW_BLOCKS) largest = fmax(largest, walker_error);
    return *converged ? walker_error : largest;
}

static estimate estimate_strided(const double *series, int64_t n, int walkers,
                                 int64_t sample_stride, int64_t walker_stride)
{
    int64_t total = n * walkers;
    estimate out = {NAN, NAN, NAN, NAN, total, false};
    if (total < 1) return out;

    double shift = 0; /* from the first sample, so that constants are exact */
    for (int w = 0; w < walkers; w++)
        for (int64_t i = 0; i < n; i++)
            shift += series[w * walker_stride + i * sample_stride] - series[0];
    out.mean = series[0] + shift / (double)total;

    level levels[LEVELS] = {0};
    double walker_sum = 0, walker_squares = 0;
    for (int w = 0; w < walkers; w++) {
        for (int k = 0; k < LEVELS; k++) levels[k].has_half = false;
        double before = levels[0].sum;
        for (int64_t i = 0; i < n; i++)
            add_block(levels, series[w * walker_stride + i * sample_stride] - out.mean);
        double walker_mean = (levels[0].sum - before) / (double)n;
        walker_sum += walker_mean;
        walker_squares += walker_mean * walker_mean;
    }
    out.variance = sample_variance(total, levels[0].sum, levels[0].squares);
    if (isnan(out.variance)) return out;
    if (out.variance == 0) {
        out.error = 0;
        out.correlation_time = 0.5;
        out.converged = total >= ENOUGH_BLOCKS;
        return out;
    }
    double walker_error = sample_variance(walkers, walker_sum, walker_squares) / walkers;
    double square = choose(levels, total, walkers, walker_error, &out.converged);
    out.error = sqrt(square);
    out.correlation_time = fmax(0.5, 0.5 * square * (double)total / out.variance);
    return out;
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
 *
 * Samples are not kept, so the choice of a block length starts from 64 to 127 blocks that a short
 * run may have made shorter than the correlation time. Neighbours are tested: while their
 * autocorrelation r is above 2/n^(1/2), they are joined in pairs, down to ENOUGH_BLOCKS. (The
 * squared error of pairs is 1 + r times that of singles, so this asks whether it still grows, as
 * Flyvbjerg and Petersen do.) Of independent blocks 2 % are taken for correlated.
 *
 * The test stops too early, where r is lost in noise though the squared error s^2/n is still short
 * by about 2 r: of AR(1) series in 96 blocks of two correlation times by 20 %. What is missing
 * falls as 1/length, so it can be had from two lengths, and s^2 (1 + 2 r)/n, the sum over both
 * neighbours, is the limit. It is taken at the longest blocks found correlated: then it is 3 %.
 * Blocks not found correlated keep s^2/n, whose noise is smaller.
 *
 * Converged: the last test passed, and blocks before the last joining had r <= 1/2. With a larger r
 * a block is shorter than 1.1 decay times of an exponential, and the limit, too, is short by more
 * than a fifth. */

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

/* Of n values and, among neighbours, their autocorrelation. 1/n is added to that, since
 * deviations from the values' own mean make it -1/n on average where there is none. */
static double variance_of(const double *x, int64_t n, double *correlation)
{
    double mean = 0, squares = 0, products = 0, before = 0;
    for (int64_t i = 0; i < n; i++) mean += (x[i] - x[0]) / (double)n; /* constants are exact */
    for (int64_t i = 0; i < n; i++) {
        double deviation = x[i] - x[0] - mean;
        squares += deviation * deviation;
        products += before * deviation;
        before = deviation;
    }
    *correlation = products / squares + 1 / (double)n; /* NaN of a constant: compares as none */
    return squares / (double)(n - 1);
}

/* Standard error of the mean of n blocks, which are overwritten. */
static double error_of_blocks(double *x, int64_t n, bool *converged)
{
    *converged = false;
    if (n < 2) return NAN;
    double correlation, variance = variance_of(x, n, &correlation), square = variance / (double)n;
    if (n < ENOUGH_BLOCKS || isnan(square)) return sqrt(square);
    *converged = true;
    for (int64_t m = n, joined = 1; correlation > 2 / sqrt((double)m); joined *= 2) {
        square = variance * (1 + 2 * correlation) * (double)joined / (double)n;
        *converged = m >= 4 * ENOUGH_BLOCKS ||
                     (m >= 2 * ENOUGH_BLOCKS && correlation <= CORRELATION_AT_END);
        if (m < 2 * ENOUGH_BLOCKS) break;
        m /= 2;
        for (int64_t i = 0; i < m; i++) x[i] = 0.5 * (x[2 * i] + x[2 * i + 1]);
        variance = variance_of(x, m, &correlation);
    }
    return sqrt(square);
}

void block_average_result(const block_average *average, double *mean, double *error,
                          bool *converged)
{
    const int64_t n = average->blocks;
    double x[2 * B];
    for (int64_t i = 0; i < average->length; i++) {
        for (int64_t block = 0; block < n; block++)
            x[block] = row(average, block)[i] / (double)average->per_block;
        error[i] = error_of_blocks(x, n, &converged[i]);
    }
    block_average_mean(average, mean);
}

/* Values [blocks][outputs] without one block each; non-zero where derive cannot. */
static int leave_out(const block_average *average, int (*derive)(void *, const double *, double *),
                     void *argument, int64_t outputs, double *total, double *mean, double *values)
{
    sum_rows(average, average->blocks, total);
    double samples = (double)(average->per_block * (average->blocks - 1));
    for (int64_t block = 0; block < average->blocks; block++) {
        for (int64_t i = 0; i < average->length; i++)
            mean[i] = (total[i] - row(average, block)[i]) / samples;
        int code = derive(argument, mean, values + block * outputs);
        if (code) return code;
    }
    return 0;
}

/* The values without block b are linear in the mean of b, as far as the function is linear over
 * the distance that one block moves it, which every jackknife takes for granted: up to a constant
 * they are -1/(n - 1) times what b itself says (the pseudo-values of J. W. Tukey, Ann. Math. Stat.
 * 29, 614 (1958)). So these are joined and tested as the blocks of a mean are. Leaving out joined
 * blocks anew would differ by terms of second order, in which the jackknife is not right anyway. */
static double jackknife_error(const double *values, int64_t n, int64_t outputs, int64_t output,
                              bool *converged)
{
    double x[2 * B];
    for (int64_t block = 0; block < n; block++)
        x[block] = (double)(n - 1) * values[block * outputs + output];
    return error_of_blocks(x, n, converged);
}

int block_average_jackknife(const block_average *average,
                            int (*derive)(void *, const double *, double *), void *argument,
                            int64_t outputs, double *value, double *error, bool *converged)
{
    int64_t n = average->blocks;
    for (int64_t i = 0; i < outputs; i++) {
        value[i] = error[i] = NAN;
        converged[i] = false;
    }
    if (samples_of(average) == 0) return 1;
    size_t length = (size_t)average->length;
    double *work = calloc(2 * length + (size_t)(n * outputs) + 1, sizeof *work);
    if (!work) return 1;
    double *mean = work, *total = work + length, *values = total + length;

    block_average_mean(average, mean);
    int code = derive(argument, mean, value);
    if (code) {
        for (int64_t i = 0; i < outputs; i++) value[i] = NAN;
    } else if (n >= 2 && !leave_out(average, derive, argument, outputs, total, mean, values)) {
        for (int64_t i = 0; i < outputs; i++)
            error[i] = jackknife_error(values, n, outputs, i, &converged[i]);
    }
    free(work);
    return code;
}
