/* Averages of samples with weights: means, errors and correlation with the weights, of scalars, arrays and what is
 * derived of both (archive/averages.h). */
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include "plugmc/device.h"
#include "archive/averages.h"

enum { SAMPLES = 640, LENGTH = 3 };

static double uniform(uint64_t seed, uint32_t index)
{
    const plugmc_random u =
        plugmc_draw((plugmc_seed){seed}, 0, 0, index, PLUGMC_PURPOSE_INITIAL, 0);
    return plugmc_uniform_double(u.word[0], u.word[1]);
}

typedef struct run {
    output_data data;
    quantity_record quantities[3];
    double x[SAMPLES], w[SAMPLES];
} run;

/* A scalar x, an array of x, 2 x and 1, and weights that hang together with x. */
static void begin(run *r, uint64_t seed, int64_t samples, int alike)
{
    memset(r, 0, sizeof *r);
    block_average blocks;
    assert_int_equal(block_average_init(&blocks, LENGTH), 0);
    for (int64_t k = 0; k < samples; k++) {
        r->x[k] = uniform(seed, (uint32_t)(2 * k)) - 0.3;
        r->w[k] = alike ? 1 : exp(0.8 * r->x[k] + uniform(seed, (uint32_t)(2 * k + 1)));
        const double sample[LENGTH] = {r->w[k] * r->x[k], 2 * r->w[k] * r->x[k], r->w[k]};
        block_average_add(&blocks, sample);
    }
    const quantity_record all[3] = {
        {.observable = "o", .name = "x", .walkers = 1, .length = 1, .period = 1, .series = r->x},
        {.observable = "o",
         .name = "array",
         .walkers = 1,
         .length = LENGTH,
         .period = 1,
         .blocks = blocks},
        {.observable = "o",
         .name = "weight",
         .walkers = 1,
         .length = 1,
         .period = 1,
         .series = r->w,
         .weighs = true}};
    memcpy(r->quantities, all, sizeof all);
    for (int k = 0; k < 3; k++) r->quantities[k].samples = samples;
    r->data = (output_data){.quantities = r->quantities, .quantity_count = 3, .joined = true};
    assert_int_equal(averages_find(&r->data), 0);
}

static void end(run *r)
{
    block_average_free(&r->quantities[1].blocks);
    for (int k = 0; k < 3; k++) averages_free(&r->quantities[k]);
}

/* sum w x / sum w, with whatever number of samples is in the last block. */
static void means_are_weighted(void **state)
{
    (void)state;
    static run r;
    for (int64_t samples = 100; samples < SAMPLES; samples += 77) {
        double sum = 0, all = 0;
        begin(&r, 1, samples, 0);
        for (int64_t k = 0; k < samples; k++) sum += r.w[k] * r.x[k], all += r.w[k];
        const quantity_result *array = &r.quantities[1].found;
        assert_close(r.quantities[0].found.scalar.mean, sum / all, 1e-13, 0);
        assert_close(array->means[0], sum / all, 1e-13, 0);
        assert_close(array->means[1], 2 * sum / all, 1e-13, 0);
        assert_close(array->means[2], 1, 1e-13, 0);
        assert_close(array->errors[2], 0, 0, 1e-13);
        assert_close(array->errors[1], 2 * array->errors[0], 1e-10, 0);
        assert_close(r.quantities[2].found.scalar.mean, all / (double)samples, 1e-13, 0);
        end(&r);
    }
}

/* Errors against the scatter of 2,000 runs around the exact mean, which is that of x under the density exp(0.8 x):
 * chi^2 of 2,000 is known to 3 %, and the rule says errors that are 8 % too large on average, to 25 % (16 and more of
 * squares). Means |z| <= 4. */
static void errors_are_those_of_the_ratio(void **state)
{
    (void)state;
    enum { RUNS = 2000 };
    static run r;
    const double a = -0.3, b = 0.7, c = 0.8,
                 exact = (b * exp(c * b) - a * exp(c * a)) / (exp(c * b) - exp(c * a)) - 1 / c;
    double sum = 0, squares = 0, chi = 0, chi_of_array = 0;
    for (uint64_t k = 0; k < RUNS; k++) {
        begin(&r, 100 + k, SAMPLES, 0);
        const double d = r.quantities[0].found.scalar.mean - exact;
        sum += d;
        squares += d * d;
        chi += pow(d / r.quantities[0].found.scalar.error, 2) / RUNS;
        chi_of_array += pow(d / r.quantities[1].found.errors[0], 2) / RUNS;
        end(&r);
    }
    assert_z("mean", sum / RUNS, sqrt(squares) / RUNS, 0, 4);
    printf("chi^2 %.3f of scalars, %.3f of arrays\n", chi, chi_of_array);
    assert_true(chi > 0.8 && chi < 1.15 && chi_of_array > 0.8 && chi_of_array < 1.15);
}

/* Weights of 1 are none: the same bits of the series, the same means of arrays. */
static void weights_of_one_change_nothing(void **state)
{
    (void)state;
    static run with, without;
    begin(&with, 3, SAMPLES, 1);
    begin(&without, 3, SAMPLES, 1);
    without.data.quantity_count = 2;
    assert_int_equal(averages_find(&without.data), 0);
    const quantity_result *a = &with.quantities[0].found, *b = &without.quantities[0].found;
    assert_close(a->scalar.mean, b->scalar.mean, 1e-14, 0);
    assert_close(a->scalar.error, b->scalar.error, 1e-10, 0);
    for (int i = 0; i < LENGTH; i++) {
        assert_close(with.quantities[1].found.means[i], without.quantities[1].found.means[i], 1e-14,
                     0);
        assert_close(with.quantities[1].found.errors[i], without.quantities[1].found.errors[i],
                     1e-9, 1e-15);
    }
    end(&with);
    end(&without);
}

TEST_MAIN(cmocka_unit_test(means_are_weighted), cmocka_unit_test(errors_are_those_of_the_ratio),
          cmocka_unit_test(weights_of_one_change_nothing))
