/* Error bars and correlation times against processes whose answers are known. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "run/statistics.h"

/* ---- Random series with a fixed seed -------------------------------------------------------- */

static double uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(2 * M_PI * uniform(state));
}

/* Stationary x[i] = phi x[i - 1] + noise of variance 1 and integrated autocorrelation time tau. */
static void ar1(uint64_t *state, double tau, double *x, int64_t n)
{
    double phi = (2 * tau - 1) / (2 * tau + 1), noise = sqrt(1 - phi * phi);
    x[0] = normal(state);
    for (int64_t i = 1; i < n; i++) x[i] = phi * x[i - 1] + noise * normal(state);
}

/* Exact variance of the mean of n such samples. */
static double ar1_mean_variance(double tau, int64_t n)
{
    double phi = (2 * tau - 1) / (2 * tau + 1), power = 1, sum = 1;
    for (int64_t k = 1; k < n; k++) {
        power *= phi;
        sum += 2 * (1 - (double)k / (double)n) * power;
    }
    return sum / (double)n;
}

/* ---- Blocking ------------------------------------------------------------------------------- */

enum { REALISATIONS = 300 };

/* The squared error is right on average, and deviations of the mean from the true one have the
 * spread that the errors say. Relative noise of the first, over realisations, is measured; the
 * second has (2 / realisations)^(1/2). Limits are 4 standard errors beside the stated bias:
 * a false alarm in 16,000 for each check, for another seed than this. */
static void check_errors(double tau, int64_t n, int walkers, uint64_t seed, double bias)
{
    double *x = malloc((size_t)(n * walkers) * sizeof *x);
    double sum = 0, squares = 0, z_squares = 0, tau_sum = 0;
    int converged = 0;
    for (int r = 0; r < REALISATIONS; r++) {
        for (int w = 0; w < walkers; w++) ar1(&seed, tau, x + w * n, n);
        estimate e = estimate_series(x, n, walkers);
        double relative = e.error * e.error / (ar1_mean_variance(tau, n) / walkers);
        sum += relative;
        squares += relative * relative;
        z_squares += e.mean * e.mean / (e.error * e.error);
        tau_sum += e.correlation_time;
        converged += e.converged;
    }
    free(x);
    double mean = sum / REALISATIONS, z_mean = z_squares / REALISATIONS;
    double noise = sqrt((squares / REALISATIONS - mean * mean) / REALISATIONS);
    double z_noise = sqrt(2.0 / REALISATIONS);
    printf("tau %g, n %d, %d walkers: error^2/exact %.3f +- %.3f, <z^2> %.3f +- %.3f, "
           "tau measured %.2f, converged %d of %d\n",
           tau, (int)n, walkers, mean, noise, z_mean, z_noise, tau_sum / REALISATIONS, converged,
           REALISATIONS);
    assert_true(converged >= REALISATIONS - 3); /* some see a slow part where there is none */
    assert_close(mean, 1, 0, bias + 4 * noise);
    assert_close(z_mean, 1, 0, bias + 4 * z_noise);
    double effective = 0.5 * (double)n * ar1_mean_variance(tau, n); /* tau for n >> tau */
    assert_close(tau_sum / REALISATIONS, effective, bias + 4 * noise, 0.03);
}

static void white_noise_has_the_naive_error(void **state)
{
    (void)state;
    check_errors(0.5, 1 << 13, 1, 11, 0.01);
    check_errors(0.5, 1000, 1, 12, 0.03);
}

static void correlated_series_have_the_right_error(void **state)
{
    (void)state;
    check_errors(2, 1 << 14, 1, 21, 0.03);
    check_errors(10, 1 << 15, 1, 22, 0.04);
    check_errors(10, 20000, 1, 23, 0.04); /* not a power of 2 */
    check_errors(30, 1 << 15, 1, 24, 0.06);
}

static void walkers_are_combined(void **state)
{
    (void)state;
    check_errors(5, 3000, 8, 31, 0.05);
    /* Each walker is far too short for itself, but 200 of them know their spread. */
    check_errors(20, 100, 200, 32, 0.01);
}

/* A quantity that forgets itself at once, but for a small part that takes long: of variance `part` and
 * correlation time `tau`, in series of length n. Blocks that suit the first alone give a squared error of
 * 0.17 to 0.7 of the exact one in these cases. What is asked for, `low`, is 3 standard errors of the
 * mean or more below what is found. */
static void check_slow_part(double part, double tau, int64_t n, int walkers, uint64_t seed,
                            double low)
{
    double *x = malloc((size_t)(n * walkers) * sizeof *x), *slow = malloc((size_t)n * sizeof *slow);
    double sum = 0, squares = 0, z_squares = 0;
    int converged = 0;
    for (int r = 0; r < REALISATIONS; r++) {
        for (int w = 0; w < walkers; w++) {
            ar1(&seed, 1, x + w * n, n);
            ar1(&seed, tau, slow, n);
            for (int64_t i = 0; i < n; i++) x[w * n + i] += sqrt(part) * slow[i];
        }
        estimate e = estimate_series(x, n, walkers);
        double exact = (ar1_mean_variance(1, n) + part * ar1_mean_variance(tau, n)) / walkers;
        double relative = e.error * e.error / exact;
        sum += relative;
        squares += relative * relative;
        z_squares += e.mean * e.mean / (e.error * e.error);
        converged += e.converged;
    }
    free(x);
    free(slow);
    double mean = sum / REALISATIONS;
    double noise = sqrt((squares / REALISATIONS - mean * mean) / REALISATIONS);
    printf("part %g of tau %g, n %d, %d walkers: error^2/exact %.3f +- %.3f, <z^2> %.3f, converged "
           "%d of %d\n", part, tau, (int)n, walkers, mean, noise, z_squares / REALISATIONS,
           converged, REALISATIONS);
    assert_true(mean > low);
}

static void a_slow_part_is_not_missed(void **state)
{
    (void)state;
    check_slow_part(0.02, 300, 1 << 17, 1, 35, 0.65);
    check_slow_part(0.1, 300, 1 << 17, 1, 36, 0.65);
    check_slow_part(0.005, 1000, 1 << 17, 1, 37, 0.5);
    check_slow_part(0.005, 1000, 1 << 15, 8, 38, 0.65);
    check_slow_part(0.02, 1000, 1 << 14, 8, 39, 0.6);
}

static void a_short_run_is_not_converged(void **state)
{
    (void)state;
    uint64_t seed = 41;
    double x[2000];
    for (int r = 0; r < 100; r++) {
        ar1(&seed, 100, x, 2000);
        assert_false(estimate_series(x, 2000, 1).converged);
        ar1(&seed, 10, x, 100);
        estimate e = estimate_series(x, 100, 1);
        assert_false(e.converged);
        assert_true(e.error > 0 && e.correlation_time >= 0.5);
    }
}

static void walkers_that_disagree_have_a_large_error(void **state)
{
    (void)state;
    uint64_t seed = 51;
    double x[4][1000];
    for (int w = 0; w < 4; w++)
        for (int i = 0; i < 1000; i++) x[w][i] = w % 2 + 0.01 * normal(&seed);
    estimate e = estimate_series(x[0], 1000, 4);
    assert_close(e.mean, 0.5, 0, 0.01);
    assert_close(e.error, sqrt(1.0 / 3 / 4), 0.01, 0); /* standard error of 0, 1, 0, 1 */
    assert_false(e.converged);
}

static void interleaved_walkers_give_the_same(void **state)
{
    (void)state;
    uint64_t seed = 61;
    double apart[3][700], interleaved[700][3];
    for (int w = 0; w < 3; w++)
        for (int i = 0; i < 700; i++) interleaved[i][w] = apart[w][i] = normal(&seed);
    estimate a = estimate_series(apart[0], 700, 3);
    estimate b = estimate_interleaved(interleaved[0], 700, 3);
    assert_true(a.mean == b.mean && a.error == b.error && a.variance == b.variance);
    assert_true(a.correlation_time == b.correlation_time && a.converged == b.converged);
    assert_int_equal(a.samples, 2100);
}

static void a_constant_has_no_error(void **state)
{
    (void)state;
    double x[1000];
    for (int i = 0; i < 1000; i++) x[i] = 0.1;
    estimate e = estimate_series(x, 1000, 1);
    assert_true(e.mean == 0.1 && e.error == 0 && e.variance == 0 && e.correlation_time == 0.5);
    assert_true(e.converged);
    e = estimate_series(x, 100, 10);
    assert_true(e.mean == 0.1 && e.error == 0);
    e = estimate_series(x, 3, 1);
    assert_true(e.error == 0 && !e.converged);
}

static void few_samples_are_handled(void **state)
{
    (void)state;
    const double x[3] = {1, 2, 6};
    estimate e = estimate_series(x, 0, 1);
    assert_true(isnan(e.mean) && isnan(e.error) && !e.converged && e.samples == 0);
    e = estimate_series(x, 1, 1);
    assert_true(e.mean == 1 && isnan(e.error) && isnan(e.variance) && !e.converged);
    e = estimate_series(x, 2, 1);
    assert_close(e.mean, 1.5, 1e-15, 0);
    assert_close(e.variance, 0.5, 1e-15, 0);
    assert_close(e.error, 0.5, 1e-15, 0);
    assert_true(e.correlation_time == 0.5 && !e.converged && e.samples == 2);
    e = estimate_series(x, 3, 1);
    assert_close(e.mean, 3, 1e-15, 0);
    assert_close(e.variance, 7, 1e-15, 0);
    assert_close(e.error, sqrt(7.0 / 3), 1e-15, 0);
    assert_false(e.converged);
    e = estimate_series(x, 1, 3); /* one sample of three walkers */
    assert_close(e.error, sqrt(7.0 / 3), 1e-15, 0);
}

static void a_large_offset_costs_no_digits(void **state)
{
    (void)state;
    uint64_t seed = 71;
    double x[4096], y[4096];
    for (int i = 0; i < 4096; i++) {
        y[i] = 1e12 + (double)(int)(1000 * normal(&seed));
        x[i] = y[i] - 1e12;
    }
    estimate small = estimate_series(x, 4096, 1), large = estimate_series(y, 4096, 1);
    assert_close(large.error, small.error, 1e-6, 0);
    assert_close(large.mean - 1e12, small.mean, 0, 2e-4);
}

static void a_nan_is_not_hidden(void **state)
{
    (void)state;
    double x[100] = {0};
    x[50] = NAN;
    estimate e = estimate_series(x, 100, 1);
    assert_true(isnan(e.mean) && isnan(e.error) && !e.converged);
}

/* ---- Autocorrelation ------------------------------------------------------------------------ */

/* C_k by its definition. */
static double plain_correlation(const double *x, int64_t n, int walkers, int64_t k)
{
    double mean = 0, sum[2] = {0, 0};
    for (int64_t i = 0; i < n * walkers; i++) mean += x[i] / (double)(n * walkers);
    for (int zero = 0; zero < 2; zero++) {
        const int64_t lag = zero ? 0 : k;
        for (int64_t i = 0; i < n - lag; i++)
            for (int w = 0; w < walkers; w++)
                sum[zero] += (x[i * walkers + w] - mean) * (x[(i + lag) * walkers + w] - mean) /
                             (double)(n - lag);
    }
    return sum[0] / sum[1];
}

static void autocorrelations_are_those_of_the_definition(void **state)
{
    (void)state;
    const int64_t lengths[] = {1, 7, 50, 3000};
    for (int l = 0; l < 4; l++) {
        for (int walkers = 1; walkers <= 3; walkers++) {
            const int64_t n = lengths[l];
            uint64_t seed = 121;
            double *x = malloc((size_t)(n * walkers) * sizeof *x), one[3000];
            for (int w = 0; w < walkers; w++) {
                ar1(&seed, 12, one, n);
                for (int64_t i = 0; i < n; i++) x[i * walkers + w] = 100 + one[i];
            }
            autocorrelation a;
            assert_int_equal(autocorrelation_make(&a, x, n, walkers), 0);
            assert_int_equal(a.count > 0, n * walkers > 1);
            double time = 0.5;
            for (int64_t i = 0; i < a.count; i++) {
                assert_true(a.lag[i] <= n / 10 && (i == 0 ? a.lag[i] == 0 : a.lag[i] > a.lag[i - 1]));
                assert_close(a.value[i], plain_correlation(x, n, walkers, a.lag[i]), 1e-10, 1e-12);
                time += i && a.lag[i] <= 64 ? a.value[i] : 0;
            }
            if (a.count && a.lag[a.count - 1] <= 64) assert_close(a.time, time, 1e-12, 0);
            autocorrelation_free(&a);
            free(x);
        }
    }
}

/* The mean over realisations against phi^k, corrected for the mean being that of the series:
 * <C_k> = phi^k - (1 - phi^k) 2 tau / n to first order. Errors are from the realisations; |z| <= 4. */
static void check_autocorrelation(double tau, int64_t n, int times, uint64_t seed)
{
    enum { CHECKED = 6 };
    const double phi = (2 * tau - 1) / (2 * tau + 1);
    double sum[CHECKED + 1] = {0}, squares[CHECKED + 1] = {0}, *x = malloc((size_t)n * sizeof *x);
    const double reach[CHECKED] = {1, 0.3 * tau, 0.7 * tau, tau, 2 * tau, 4 * tau};
    int64_t lag[CHECKED] = {0};
    for (int r = 0; r < times; r++) {
        autocorrelation a;
        ar1(&seed, tau, x, n);
        assert_int_equal(autocorrelation_make(&a, x, n, 1), 0);
        assert_true(a.value[0] == 1 && a.lag[0] == 0);
        assert_true((double)a.lag[a.count - 1] > 4 * tau); /* far enough */
        assert_true((double)a.lag[a.count - 1] < 25 * tau + 2 && a.count < 400); /* and no farther */
        for (int k = 0, i = 0; k <= CHECKED; k++) {
            while (k < CHECKED && (double)a.lag[i] < reach[k]) i++;
            if (k < CHECKED && r == 0) lag[k] = a.lag[i];
            const double value = k < CHECKED ? a.value[i] : a.time;
            if (k < CHECKED) assert_int_equal(lag[k], a.lag[i]);
            sum[k] += value / times;
            squares[k] += value * value / times;
        }
        autocorrelation_free(&a);
    }
    free(x);
    for (int k = 0; k <= CHECKED; k++) {
        const double error = sqrt((squares[k] - sum[k] * sum[k]) / (times - 1));
        const double exact = pow(phi, (double)lag[k < CHECKED ? k : 0]);
        const double bias = k < CHECKED ? -(1 - exact) * 2 * tau / (double)n
                                        : -2 * tau / (double)n * 10 * tau;
        char name[64];
        snprintf(name, sizeof name, k < CHECKED ? "AR(1), tau %g, C at lag %g" : "AR(1), tau %g, time",
                 tau, k < CHECKED ? (double)lag[k] : 0.0);
        assert_z(name, sum[k], error, (k < CHECKED ? exact : tau) + bias, 4);
    }
}

static void autocorrelations_decay_as_they_should(void **state)
{
    (void)state;
    check_autocorrelation(2.3, 20000, 200, 131);
    check_autocorrelation(40, 50000, 100, 132); /* lags that are not one after another */
}

static void a_series_that_does_not_vary_has_no_autocorrelation(void **state)
{
    (void)state;
    double x[100] = {0};
    autocorrelation a;
    assert_int_equal(autocorrelation_make(&a, x, 100, 1), 0);
    assert_true(a.count == 0 && isnan(a.time));
    autocorrelation_free(&a);
    x[3] = NAN;
    assert_int_equal(autocorrelation_make(&a, x, 100, 1), 0);
    assert_true(a.count == 0 && isnan(a.time));
    autocorrelation_free(&a);
    assert_int_equal(autocorrelation_make(&a, x, 0, 1), 0);
    assert_true(a.count == 0);
    autocorrelation_free(&a);
}

/* ---- Averages of arrays --------------------------------------------------------------------- */

static void array_averages_equal_those_of_kept_samples(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 2000; n = n * 2 + 1) {
        uint64_t seed = 81;
        block_average average;
        assert_int_equal(block_average_init(&average, 2), 0);
        double sum[2] = {0}, *kept = calloc((size_t)n, 2 * sizeof *kept);
        for (int64_t i = 0; i < n; i++) {
            kept[2 * i] = 3 + normal(&seed);
            kept[2 * i + 1] = 7;
            block_average_add(&average, kept + 2 * i);
            for (int c = 0; c < 2; c++) sum[c] += kept[2 * i + c];
        }
        assert_true(average.blocks < 128);
        assert_int_equal(average.blocks * average.per_block + average.in_last, n);
        double mean[2], error[2];
        bool converged[2];
        block_average_result(&average, mean, error, converged);
        for (int c = 0; c < 2; c++) assert_close(mean[c], sum[c] / (double)n, 1e-13, 0);

        int64_t m = average.blocks;
        double total = 0, squares = 0;
        for (int64_t b = 0; b < m; b++) {
            double block = 0;
            for (int64_t i = 0; i < average.per_block; i++)
                block += kept[2 * (b * average.per_block + i)] / (double)average.per_block;
            total += block;
            squares += block * block;
        }
        if (m < 2)
            assert_true(isnan(error[0]) && isnan(error[1]));
        else {
            double variance = (squares - total * total / (double)m) / (double)(m - 1);
            assert_close(error[0], sqrt(variance / (double)m), 1e-9, 0);
            assert_close(error[1], 0, 0, 1e-14);
        }
        assert_true(converged[0] == (m >= 16) && converged[1] == (m >= 16));
        free(kept);
        block_average_free(&average);
    }
}

static void array_errors_cover_the_truth(void **state)
{
    (void)state;
    uint64_t seed = 91;
    enum { LENGTH = 400, SAMPLES = 5000 };
    block_average average;
    assert_int_equal(block_average_init(&average, LENGTH), 0);
    double phi = 0.6, x[LENGTH], mean[LENGTH], error[LENGTH], z_squares = 0;
    bool converged[LENGTH];
    for (int i = 0; i < LENGTH; i++) x[i] = normal(&seed);
    for (int s = 0; s < SAMPLES; s++) {
        for (int i = 0; i < LENGTH; i++) x[i] = phi * x[i] + sqrt(1 - phi * phi) * normal(&seed);
        block_average_add(&average, x);
    }
    block_average_result(&average, mean, error, converged);
    for (int i = 0; i < LENGTH; i++) z_squares += mean[i] * mean[i] / (error[i] * error[i]);
    block_average_free(&average);
    /* 78 blocks of 64: Student's t adds 2/76, blocks still correlated 2 %. Limit 4: one false
     * alarm in 16,000. */
    assert_z("<z^2> of array averages", z_squares / LENGTH, sqrt(2.0 / LENGTH), 1.04, 4);
}

static void a_continued_average_equals_one_never_stopped(void **state)
{
    (void)state;
    uint64_t seed = 101;
    block_average whole, stopped, resumed;
    assert_int_equal(block_average_init(&whole, 3), 0);
    assert_int_equal(block_average_init(&stopped, 3), 0);
    assert_int_equal(block_average_init(&resumed, 3), 0);
    for (int i = 0; i < 1000; i++) {
        double x[3] = {normal(&seed), normal(&seed), normal(&seed)};
        block_average_add(&whole, x);
        block_average_add(i < 317 ? &stopped : &resumed, x);
        if (i != 316) continue;
        double *sums = resumed.sums;
        resumed = stopped;
        resumed.sums = memcpy(sums, stopped.sums, 129 * 3 * sizeof(double));
    }
    assert_true(whole.per_block == resumed.per_block && whole.blocks == resumed.blocks &&
                whole.in_last == resumed.in_last);
    assert_memory_equal(whole.sums, resumed.sums, 129 * 3 * sizeof(double));
    block_average_free(&whole);
    block_average_free(&stopped);
    block_average_free(&resumed);
}

/* ---- Jackknife ------------------------------------------------------------------------------ */

static int first_mean(void *unused, const double *mean, double *out)
{
    (void)unused;
    out[0] = mean[0];
    return 0;
}

static int ratio(void *calls, const double *mean, double *out)
{
    ++*(int *)calls;
    out[0] = mean[0] / mean[1];
    out[1] = 2 * mean[0];
    return 0;
}

static int never(void *unused, const double *mean, double *out)
{
    (void)unused, (void)mean, (void)out;
    return 5;
}

static int only_once(void *calls, const double *mean, double *out)
{
    out[0] = mean[0];
    return ++*(int *)calls > 1;
}

static void jackknife_of_a_mean_is_its_standard_error(void **state)
{
    (void)state;
    uint64_t seed = 111;
    block_average average;
    assert_int_equal(block_average_init(&average, 2), 0);
    for (int i = 0; i < 777; i++) {
        double common = normal(&seed);
        double sample[2] = {10 + common, 5 + 0.5 * common + 0.1 * normal(&seed)};
        block_average_add(&average, sample);
    }
    double mean[2], error[2], value, jackknife, two[2], two_errors[2];
    bool converged[2];
    int calls = 0;
    block_average_result(&average, mean, error, converged);
    assert_int_equal(block_average_jackknife(&average, first_mean, NULL, 1, &value, &jackknife,
                                             converged), 0);
    assert_close(value, mean[0], 1e-15, 0);
    assert_close(jackknife, error[0], 1e-10, 0);

    assert_int_equal(block_average_jackknife(&average, ratio, &calls, 2, two, two_errors, converged), 0);
    assert_int_equal(calls, 1 + average.blocks);
    assert_close(two[0], mean[0] / mean[1], 1e-15, 0);
    /* The common part cancels: x/y varies by 2 * 0.1/5 a sample, not by 0.1 and 0.1. */
    assert_close(two_errors[0], 0.04 / sqrt(777), 0.3, 0);
    assert_close(two_errors[1], 2 * error[0], 1e-10, 0);

    assert_int_equal(block_average_jackknife(&average, never, NULL, 1, &value, &jackknife,
                                             converged), 5);
    assert_true(isnan(value) && isnan(jackknife) && !converged[0]);
    calls = 0;
    int code = block_average_jackknife(&average, only_once, &calls, 1, &value, &jackknife,
                                       converged);
    assert_int_equal(code, 0);
    assert_true(value == mean[0] && isnan(jackknife) && !converged[0]);
    block_average_free(&average);
}

static void jackknife_needs_samples_and_two_blocks(void **state)
{
    (void)state;
    block_average average;
    double value, error, sample = 4;
    bool converged = true;
    assert_int_equal(block_average_init(&average, 1), 0);
    assert_int_not_equal(block_average_jackknife(&average, first_mean, NULL, 1, &value, &error,
                                                 &converged), 0);
    assert_true(isnan(value) && isnan(error) && !converged);
    block_average_add(&average, &sample);
    converged = true;
    assert_int_equal(block_average_jackknife(&average, first_mean, NULL, 1, &value, &error,
                                             &converged), 0);
    assert_true(value == 4 && isnan(error) && !converged);
    block_average_free(&average);
}

/* ---- Blocks that are correlated ------------------------------------------------------------- */

enum { SERIES = 2000, PER_BLOCK = 8 };
static const double OFFSET = 20;

static int logarithms(void *unused, const double *mean, double *out)
{
    (void)unused;
    for (int i = 0; i < SERIES; i++) out[i] = log(mean[i]);
    return 0;
}

/* What SERIES averages, or their logarithms, say of their errors. */
typedef struct block_errors {
    double mean, noise; /* of the squared error over the exact one, and of that mean */
    double joined, marked; /* shares with another error than that of the blocks alone, with a mark */
} block_errors;

static block_errors summary(const block_average *average, const double *error,
                            const bool *converged, double exact)
{
    block_errors out = {0};
    double squares = 0;
    for (int i = 0; i < SERIES; i++) {
        double sum = 0, deviations = 0;
        const double relative = error[i] * error[i] / exact, n = (double)average->blocks;
        for (int64_t b = 0; b < average->blocks; b++) sum += average->sums[b * SERIES + i];
        for (int64_t b = 0; b < average->blocks; b++)
            deviations += pow((average->sums[b * SERIES + i] - sum / n) / PER_BLOCK, 2);
        out.joined += fabs(relative * exact * n * (n - 1) / deviations - 1) > 0.05;
        out.marked += !converged[i];
        out.mean += relative;
        squares += relative * relative;
    }
    out.mean /= SERIES;
    out.joined /= SERIES;
    out.marked /= SERIES;
    out.noise = sqrt((squares / SERIES - out.mean * out.mean) / SERIES);
    return out;
}

/* Averages of AR(1) series with the correlation time of `tau` blocks. out: of the mean, and of its
 * logarithm, whose exact error is that of the mean over OFFSET (to 1e-4). */
static void errors_of_blocks(double tau, int blocks, uint64_t seed, block_errors out[2])
{
    static double x[SERIES], mean[SERIES], error[SERIES];
    static bool converged[SERIES];
    const double sweeps = fmax(0.5, tau * PER_BLOCK), phi = (2 * sweeps - 1) / (2 * sweeps + 1);
    const double exact = ar1_mean_variance(sweeps, blocks * PER_BLOCK);
    block_average average;
    assert_int_equal(block_average_init(&average, SERIES), 0);
    for (int i = 0; i < SERIES; i++) x[i] = OFFSET + normal(&seed);
    for (int s = 0; s < blocks * PER_BLOCK; s++) {
        block_average_add(&average, x);
        for (int i = 0; i < SERIES; i++)
            x[i] = OFFSET + phi * (x[i] - OFFSET) + sqrt(1 - phi * phi) * normal(&seed);
    }
    assert_true(average.blocks == blocks && average.per_block == PER_BLOCK);
    block_average_result(&average, mean, error, converged);
    out[0] = summary(&average, error, converged, exact);
    assert_int_equal(block_average_jackknife(&average, logarithms, NULL, SERIES, mean, error,
                                             converged), 0);
    for (int i = 0; i < SERIES; i++) error[i] *= exp(mean[i]); /* the slope of the logarithm */
    out[1] = summary(&average, error, converged, exact);
    block_average_free(&average);
    for (int k = 0; k < 2; k++)
        printf("tau %g blocks of %d, %s: error^2/exact %.3f +- %.3f, joined %.3f, marked %.4f\n",
               tau, blocks, k ? "logarithm" : "mean", out[k].mean, out[k].noise, out[k].joined,
               out[k].marked);
}

/* Of independent blocks 2 % are taken for correlated, which makes squared errors 1 % larger. Limits
 * are 4 standard errors beside the stated bias: a false alarm in 16,000 for each check. */
static void blocks_of_white_noise_have_the_naive_error(void **state)
{
    (void)state;
    for (int blocks = 64; blocks <= 127; blocks += 21) {
        block_errors e[2];
        errors_of_blocks(0, blocks, 141 + (uint64_t)blocks, e);
        for (int k = 0; k < 2; k++) {
            assert_close(e[k].mean, 1.01, 0, 0.01 + 4 * e[k].noise);
            assert_close(e[k].joined, 0.02, 0, 0.005 + 4 * sqrt(0.02 / SERIES));
            assert_true(e[k].marked <= 0.003);
        }
    }
}

/* Expected squared errors over exact ones are those of 20,000 realisations of another seed, written
 * down independently of the program. Without joining they would be 0.72, 0.57, 0.37, 0.21, 0.11 for
 * these five times. From two blocks on, where errors are a tenth too small, half of them are marked. */
static void blocks_shorter_than_the_correlation_time_are_joined(void **state)
{
    (void)state;
    const double tau[5] = {0.3, 0.5, 1, 2, 4};
    const double expected[3][5] = {{0.870, 0.924, 0.898, 0.796, 0.636},
                                   {0.909, 0.967, 0.937, 0.843, 0.692},
                                   {0.932, 0.992, 0.963, 0.871, 0.717}};
    const int blocks[3] = {64, 96, 127};
    for (int b = 0; b < 3; b++)
        for (int t = 0; t < 5; t++) {
            block_errors e[2];
            errors_of_blocks(tau[t], blocks[b], 151 + (uint64_t)(5 * b + t), e);
            for (int k = 0; k < 2; k++) {
                assert_close(e[k].mean, expected[b][t], 0, 0.01 + 4 * e[k].noise);
                if (tau[t] <= 0.5) assert_true(e[k].marked < 0.04);
                if (tau[t] == 2) assert_true(e[k].marked > 0.4);
                if (tau[t] == 4) assert_true(e[k].marked > 0.85);
            }
        }
}

static int both_means(void *unused, const double *mean, double *out)
{
    (void)unused;
    memcpy(out, mean, 2 * sizeof *mean);
    return 0;
}

/* One output drifts, the other does not: only the first is marked. Its error is above that of
 * independent blocks. */
static void a_drift_is_marked(void **state)
{
    (void)state;
    for (int n = 20; n <= 5000; n *= 4) {
        uint64_t seed = 171;
        block_average average;
        double mean[2], error[2];
        bool converged[2];
        assert_int_equal(block_average_init(&average, 2), 0);
        for (int i = 0; i < n; i++)
            block_average_add(&average, (double[]){(i + 0.5) / n, normal(&seed)});
        for (int jackknife = 0; jackknife < 2; jackknife++) {
            if (jackknife)
                assert_int_equal(block_average_jackknife(&average, both_means, NULL, 2, mean, error,
                                                         converged), 0);
            else
                block_average_result(&average, mean, error, converged);
            assert_true(!converged[0] && converged[1]);
            assert_true(error[0] > 1.5 / sqrt(12.0 * (double)average.blocks) && error[0] < 0.5);
        }
        block_average_free(&average);
    }
}

/* 15 samples cannot be 16 blocks, correlated or not. */
static void few_blocks_are_marked(void **state)
{
    (void)state;
    uint64_t seed = 181;
    block_average average;
    double mean, error;
    bool converged;
    assert_int_equal(block_average_init(&average, 1), 0);
    for (int n = 1; n <= 20; n++) {
        block_average_add(&average, (double[]){normal(&seed)});
        block_average_result(&average, &mean, &error, &converged);
        assert_int_equal(converged, n >= 16);
    }
    block_average_free(&average);
}

TEST_MAIN(cmocka_unit_test(white_noise_has_the_naive_error),
          cmocka_unit_test(correlated_series_have_the_right_error),
          cmocka_unit_test(walkers_are_combined), cmocka_unit_test(a_slow_part_is_not_missed),
          cmocka_unit_test(a_short_run_is_not_converged),
          cmocka_unit_test(walkers_that_disagree_have_a_large_error),
          cmocka_unit_test(interleaved_walkers_give_the_same),
          cmocka_unit_test(a_constant_has_no_error), cmocka_unit_test(few_samples_are_handled),
          cmocka_unit_test(a_large_offset_costs_no_digits), cmocka_unit_test(a_nan_is_not_hidden),
          cmocka_unit_test(autocorrelations_are_those_of_the_definition),
          cmocka_unit_test(autocorrelations_decay_as_they_should),
          cmocka_unit_test(a_series_that_does_not_vary_has_no_autocorrelation),
          cmocka_unit_test(array_averages_equal_those_of_kept_samples),
          cmocka_unit_test(array_errors_cover_the_truth),
          cmocka_unit_test(a_continued_average_equals_one_never_stopped),
          cmocka_unit_test(jackknife_of_a_mean_is_its_standard_error),
          cmocka_unit_test(jackknife_needs_samples_and_two_blocks),
          cmocka_unit_test(blocks_of_white_noise_have_the_naive_error),
          cmocka_unit_test(blocks_shorter_than_the_correlation_time_are_joined),
          cmocka_unit_test(a_drift_is_marked), cmocka_unit_test(few_blocks_are_marked))
