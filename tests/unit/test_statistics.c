/* Error bars and correlation times against processes whose answers are known. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "statistics/statistics.h"

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

/* ---- Error bars of series ------------------------------------------------------------------- */

/* Of walkers one after another, [walkers][n]. */
static estimate estimate_series(const double *x, int64_t n, int walkers)
{
    double *turned = malloc((size_t)(n * walkers + 1) * sizeof *turned);
    for (int w = 0; w < walkers; w++)
        for (int64_t i = 0; i < n; i++) turned[i * walkers + w] = x[w * n + i];
    estimate out;
    autocorrelation correlation;
    assert_int_equal(estimate_interleaved(turned, n, walkers, 0, &out, &correlation), 0);
    autocorrelation_free(&correlation);
    free(turned);
    return out;
}

enum { REALISATIONS = 300 };

/* Deviations of the mean from the true one have the spread that the errors say: <z^2> of 300 has a
 * noise of 0.082, a little more by the noise of the errors; limits are 4 of 0.09 beside 0.95, so a
 * false alarm in 16,000 for another seed. The squared error itself is larger by what Student's t asks
 * for and by the choice of the largest: 1.05 to 1.35 on average. tau within 4 standard errors and the
 * stated bias. */
static void check_errors(double tau, int64_t n, int walkers, uint64_t seed, double bias)
{
    double *x = malloc((size_t)(n * walkers) * sizeof *x);
    double sum = 0, z_squares = 0, tau_sum = 0, tau_squares = 0;
    int converged = 0;
    for (int r = 0; r < REALISATIONS; r++) {
        for (int w = 0; w < walkers; w++) ar1(&seed, tau, x + w * n, n);
        estimate e = estimate_series(x, n, walkers);
        sum += e.error * e.error / (ar1_mean_variance(tau, n) / walkers);
        z_squares += e.mean * e.mean / (e.error * e.error);
        tau_sum += e.correlation_time;
        tau_squares += e.correlation_time * e.correlation_time;
        converged += e.converged;
    }
    free(x);
    double mean = sum / REALISATIONS, z_mean = z_squares / REALISATIONS;
    double tau_mean = tau_sum / REALISATIONS;
    double noise = sqrt((tau_squares / REALISATIONS - tau_mean * tau_mean) / REALISATIONS);
    printf("tau %g, n %d, %d walkers: error^2/exact %.3f, <z^2> %.3f, tau measured %.3f +- %.3f, "
           "converged %d of %d\n",
           tau, (int)n, walkers, mean, z_mean, tau_mean, noise, converged, REALISATIONS);
    assert_true(converged >= 0.95 * REALISATIONS);
    assert_true(mean > 1 && mean < 1.4);
    assert_close(z_mean, 0.95, 0, 4 * 0.09);
    assert_close(tau_mean, tau, bias, 4 * noise);
}

/* tau is never below 1/2, so its noise makes it larger than that on average. */
static void white_noise_has_the_naive_error(void **state)
{
    (void)state;
    check_errors(0.5, 1 << 13, 1, 11, 0.03);
    check_errors(0.5, 1000, 1, 12, 0.07);
}

static void correlated_series_have_the_right_error(void **state)
{
    (void)state;
    check_errors(2, 1 << 14, 1, 21, 0.02);
    check_errors(10, 1 << 15, 1, 22, 0.02);
    check_errors(10, 20000, 1, 23, 0.03); /* not a power of 2 */
    check_errors(30, 1 << 15, 1, 24, 0.04);
}

static void walkers_are_combined(void **state)
{
    (void)state;
    check_errors(5, 3000, 8, 31, 0.02);
    /* Each walker is far too short for itself, but 200 of them know their spread. Their time cannot
     * be seen: lags end at a tenth of a walker. */
    double x[200 * 100], z_squares = 0;
    uint64_t seed = 32;
    for (int r = 0; r < REALISATIONS; r++) {
        for (int w = 0; w < 200; w++) ar1(&seed, 20, x + w * 100, 100);
        estimate e = estimate_series(x, 100, 200);
        assert_true(e.converged);
        assert_close(e.error * e.error, ar1_mean_variance(20, 100) / 200, 0.5, 0);
        z_squares += e.mean * e.mean / (e.error * e.error);
    }
    assert_z("<z^2> of 200 short walkers", z_squares / REALISATIONS, sqrt(2.0 / REALISATIONS), 1,
             4);
}

/* ---- One rule for series, arrays and derived numbers ---------------------------------------- */

enum { SEEDS = 400, SAMPLES = 10000 };
static const double OFFSET = 20;

static int logarithm(void *unused, const double *mean, double *out)
{
    (void)unused;
    out[0] = log(OFFSET + mean[0]);
    return 0;
}

/* Of a fast part with tau = 2 and a slow one with `share` times its part of the squared error, of
 * which `times` correlation times fit into the series; share < 0: the slow one alone. The exact
 * squared error of the mean is returned. */
static double mixture(uint64_t *seed, double share, double times, double *x)
{
    static double slow[SAMPLES];
    const double tau = SAMPLES / times, fast_error = ar1_mean_variance(2, SAMPLES),
                 slow_error = ar1_mean_variance(tau, SAMPLES);
    ar1(seed, tau, slow, SAMPLES);
    if (share < 0) {
        memcpy(x, slow, sizeof slow);
        return slow_error;
    }
    ar1(seed, 2, x, SAMPLES);
    for (int i = 0; i < SAMPLES; i++) x[i] += sqrt(share * fast_error / slow_error) * slow[i];
    return (1 + share) * fast_error;
}

/* The same series as a scalar, an array of one element and a logarithm of its mean, to first order
 * (mean + OFFSET) log(...): the same error and the same star. */
static void check_one_rule(const double *x, const estimate *scalar)
{
    block_average average;
    double mean, error, value, jackknife_error;
    bool converged;
    assert_int_equal(block_average_init(&average, 1), 0);
    for (int i = 0; i < SAMPLES; i++) block_average_add(&average, &x[i]);
    block_average_result(&average, 0, &mean, &error, &converged);
    assert_close(error, scalar->error, 1e-9, 0);
    assert_int_equal(converged, scalar->converged);
    assert_int_equal(
        block_average_jackknife(&average, logarithm, NULL, 1, &value, &jackknife_error, &converged),
        0);
    assert_close(jackknife_error * (OFFSET + mean), error, 0.03, 0);
    block_average_free(&average);
}

/* chi^2 per degree of freedom of errors without a star is in 0.8 ... 1.25. Of 400 seeds it is known
 * to 0.08, and it is 0.88 to 1.1 over many seeds: with others than these, one of these cases in 20
 * would fail. In 2,000 correlation times of the slow part at most 5 % have a star: 1 % have. */
static void check_mixture(double share, double times, uint64_t seed)
{
    static double x[SAMPLES];
    double z_squares = 0;
    int sound = 0;
    for (int s = 0; s < SEEDS; s++) {
        mixture(&seed, share, times, x);
        estimate e = estimate_series(x, SAMPLES, 1);
        if (s < 20) check_one_rule(x, &e);
        if (!e.converged) continue;
        sound++;
        z_squares += e.mean * e.mean / (e.error * e.error);
    }
    printf("slow part %g of the fast one, %g times: chi^2/dof %.3f of %d errors without a star\n",
           share, times, z_squares / sound, sound);
    assert_true(z_squares / sound > 0.8 && z_squares / sound < 1.25);
    if (times >= 2000) assert_true(sound >= 0.95 * SEEDS);
    assert_true(sound > 0.5 * SEEDS);
}

static void errors_without_a_star_are_right(void **state)
{
    (void)state;
    const double share[4] = {0.5, 2, 8, -1}, times[3] = {150, 400, 2000};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) check_mixture(share[i], times[k], 400 + (uint64_t)(3 * i + k));
}

/* Two halves of a series that relaxes differ, of one that does not they do so once in a thousand. */
static void a_run_that_is_not_in_equilibrium_is_seen(void **state)
{
    (void)state;
    static double x[SAMPLES];
    uint64_t seed = 45;
    int false_alarms = 0, seen = 0;
    for (int s = 0; s < SEEDS; s++) {
        mixture(&seed, s % 2 ? 2 : 0.5, 400, x);
        false_alarms += fabs(difference_of_halves(x, SAMPLES, 1)) > 4;
        for (int i = 0; i < SAMPLES; i++) x[i] += 1.0 * (i < SAMPLES / 2);
        seen += difference_of_halves(x, SAMPLES, 1) < -4;
    }
    printf("halves differ in %d of %d without a reason, in %d with one\n", false_alarms, SEEDS,
           seen);
    assert_true(false_alarms <= 4); /* of 0.4 expected: once in 6,000 other seeds */
    assert_true(seen > 0.9 * SEEDS);
    assert_true(isnan(difference_of_halves(x, 1, 1)) && isnan(difference_of_halves(x, 20, 1)));
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

static void a_constant_has_no_error(void **state)
{
    (void)state;
    double x[1000];
    for (int i = 0; i < 1000; i++) x[i] = 0.1;
    estimate e = estimate_series(x, 1000, 1);
    assert_true(e.mean == 0.1 && e.error == 0 && e.variance == 0 && isnan(e.correlation_time));
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
                assert_true(a.lag[i] <= n / 10 &&
                            (i == 0 ? a.lag[i] == 0 : a.lag[i] > a.lag[i - 1]));
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
        assert_true((double)a.lag[a.count - 1] < 25 * tau + 2 &&
                    a.count < 400); /* and no farther */
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
        const double bias =
            k < CHECKED ? -(1 - exact) * 2 * tau / (double)n : -2 * tau / (double)n * 10 * tau;
        char name[64];
        snprintf(name, sizeof name,
                 k < CHECKED ? "AR(1), tau %g, C at lag %g" : "AR(1), tau %g, time", tau,
                 k < CHECKED ? (double)lag[k] : 0.0);
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
        block_average_result(&average, 0, mean, error, converged);
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
            assert_close(error[0], sqrt(variance / (double)m), m < 16 ? 0.6 : 0.5, 0);
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
    enum { LENGTH = 400, TAKEN = 5000 };
    block_average average;
    assert_int_equal(block_average_init(&average, LENGTH), 0);
    double phi = 0.6, x[LENGTH], mean[LENGTH], error[LENGTH], z_squares = 0;
    bool converged[LENGTH];
    for (int i = 0; i < LENGTH; i++) x[i] = normal(&seed);
    for (int s = 0; s < TAKEN; s++) {
        for (int i = 0; i < LENGTH; i++) x[i] = phi * x[i] + sqrt(1 - phi * phi) * normal(&seed);
        block_average_add(&average, x);
    }
    block_average_result(&average, 0, mean, error, converged);
    for (int i = 0; i < LENGTH; i++) z_squares += mean[i] * mean[i] / (error[i] * error[i]);
    block_average_free(&average);
    /* Limit 4: one false alarm in 16,000. */
    assert_z("<z^2> of array averages", z_squares / LENGTH, sqrt(2.0 / LENGTH), 0.95, 4);
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
    block_average_result(&average, 0, mean, error, converged);
    assert_int_equal(
        block_average_jackknife(&average, first_mean, NULL, 1, &value, &jackknife, converged), 0);
    assert_close(value, mean[0], 1e-15, 0);
    assert_close(jackknife, error[0], 1e-10, 0);

    assert_int_equal(
        block_average_jackknife(&average, ratio, &calls, 2, two, two_errors, converged), 0);
    assert_int_equal(calls, 1 + average.blocks);
    assert_close(two[0], mean[0] / mean[1], 1e-15, 0);
    /* The common part cancels: x/y varies by 2 * 0.1/5 a sample, not by 0.1 and 0.1. */
    assert_close(two_errors[0], 0.04 / sqrt(777), 0.3, 0);
    assert_close(two_errors[1], 2 * error[0], 1e-10, 0);

    assert_int_equal(
        block_average_jackknife(&average, never, NULL, 1, &value, &jackknife, converged), 5);
    assert_true(isnan(value) && isnan(jackknife) && !converged[0]);
    calls = 0;
    int code =
        block_average_jackknife(&average, only_once, &calls, 1, &value, &jackknife, converged);
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
    assert_int_not_equal(
        block_average_jackknife(&average, first_mean, NULL, 1, &value, &error, &converged), 0);
    assert_true(isnan(value) && isnan(error) && !converged);
    block_average_add(&average, &sample);
    converged = true;
    assert_int_equal(
        block_average_jackknife(&average, first_mean, NULL, 1, &value, &error, &converged), 0);
    assert_true(value == 4 && isnan(error) && !converged);
    block_average_free(&average);
}

/* ---- Runs that are too short ---------------------------------------------------------------- */

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
                assert_int_equal(
                    block_average_jackknife(&average, both_means, NULL, 2, mean, error, converged),
                    0);
            else
                block_average_result(&average, 0, mean, error, converged);
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
        block_average_result(&average, 0, &mean, &error, &converged);
        assert_int_equal(converged, n >= 16);
    }
    block_average_free(&average);
}

TEST_MAIN(cmocka_unit_test(white_noise_has_the_naive_error),
          cmocka_unit_test(correlated_series_have_the_right_error),
          cmocka_unit_test(walkers_are_combined), cmocka_unit_test(errors_without_a_star_are_right),
          cmocka_unit_test(a_run_that_is_not_in_equilibrium_is_seen),
          cmocka_unit_test(a_short_run_is_not_converged),
          cmocka_unit_test(walkers_that_disagree_have_a_large_error),
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
          cmocka_unit_test(a_drift_is_marked), cmocka_unit_test(few_blocks_are_marked))
