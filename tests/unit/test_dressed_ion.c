/* dressed_ion on pair counts made from tails that are known: what is fitted has to come out, within
 * the errors that the jackknife says where there is noise.
 *
 * Couplings are weak (a Bjerrum length of 1/200 of the Debye length), so that -ln g and 1 - g, from
 * which u and rho are made, are the same to 1e-4, and the tails given are those of both. */
#include "observing.h"

#include "statistics/statistics.h"

static const double debye = 10, l_b = 0.05; /* bare */
static const double debye_r = 9, q_r = 3.9; /* renormalised; the other charge is by eq. 8 */
static const double eps_r = 0.93;

/* q_+^R - q_-^R = 4 (kappa_R / kappa)^2 for charges 3 and -1 */
static double other_charge(void) { return q_r - 4 * debye * debye / (debye_r * debye_r); }

/* n ions of 3:-1 electrolyte in a sphere with that Debye length. */
static bench *electrolyte(int64_t n)
{
    const double density = 1 / (debye * debye * 4 * M_PI * l_b * 3);
    const double volume = (double)n / density, radius = cbrt(3 * volume / (4 * M_PI));
    bench *b = bench_new(3, 2 * radius, 2 * radius, 2 * radius, 1);
    b->system.box.domain = PLUGMC_DOMAIN_SPHERE;
    b->system.box.radius = radius;
    b->system.box.volume = volume;
    add_species(b, "cation", n / 4, 1, 3);
    add_species(b, "anion", 3 * n / 4, 1, -1);
    observe(b, "dressed_ion");
    *(double *)parameter(b, "bjerrum_length") = l_b;
    return b;
}

typedef struct random_source {
    uint64_t counter;
} random_source;

static double normal(random_source *s)
{
    plugmc_random r =
        plugmc_draw((plugmc_seed){20250101}, s->counter++, 0, 0, PLUGMC_PURPOSE_OBSERVABLE, 0);
    double u = plugmc_uniform_double(r.word[0], r.word[1]) + 0x1p-54;
    return sqrt(-2 * log(u)) * cos(2 * M_PI * plugmc_uniform_double(r.word[2], r.word[3]));
}

/* Counts of one sample that is as good as `samples` configurations; NULL: without noise. `second`
 * is the amplitude of exp(-2 kappa_R r) relative to exp(-kappa_R r). */
static void make_counts(bench *b, double second, double samples, random_source *noise, double *raw)
{
    const double kappa = 1 / debye_r, q[2] = {q_r, other_charge()};
    plugmc_quantity axis = {.size = sizeof axis};
    place(b, "pairs_cation-cation", &axis);
    const double width = axis.abscissa[0][1] - axis.abscissa[0][0];
    const double inner = b->system.box.radius - *(double *)parameter(b, "margin");
    const double volume = 4 * M_PI / 3 * inner * inner * inner;
    const int64_t at[3] = {place(b, "pairs_cation-cation", NULL),
                           place(b, "pairs_cation-anion", NULL),
                           place(b, "pairs_anion-anion", NULL)};
    double references[2];
    for (int a = 0; a < 2; a++) {
        references[a] = (double)b->species[a].count * volume / b->system.box.volume;
        raw[place(b, a ? "references_anion" : "references_cation", NULL)] = references[a];
    }
    for (int row = 0; row < 3; row++) {
        const int i = row / 2, j = (row + 1) / 2;
        for (int64_t k = 0; k < axis.shape[0]; k++) {
            const double r = axis.abscissa[0][k], low = r - width / 2, high = r + width / 2;
            const double shell = 4 * M_PI / 3 * (high * high * high - low * low * low);
            const double decay = exp(-kappa * r);
            const double u = l_b * q[i] * q[j] / eps_r * decay * (1 + second * decay) / r;
            /* every pair counts twice, since most ions are references */
            const double all = (double)b->system.particles;
            double pairs = (all - 1) / all * references[i] * references[j] * shell / volume *
                           exp(-u) * (i == j ? 0.5 : 1);
            if (noise) pairs += sqrt(pairs / samples) * normal(noise);
            raw[at[row] + k] = 2 * pairs;
        }
    }
}

/* Number of a derived quantity, all before it being scalars. */
static int64_t derived_at(bench *b, const char *name)
{
    plugmc_quantity q = {.size = sizeof q};
    int64_t at = 0;
    for (int k = 0; b->observable->derived(b->instance, k, &q); k++) {
        if (!strcmp(q.name, name)) return at;
        at += plugmc_quantity_length(&q);
    }
    fail_msg("no derived quantity %s", name);
    return 0;
}

static int64_t derived_width(bench *b)
{
    plugmc_quantity q = {.size = sizeof q};
    int64_t width = 0;
    for (int k = 0; b->observable->derived(b->instance, k, &q); k++)
        width += plugmc_quantity_length(&q);
    return width;
}

typedef struct expected {
    const char *name;
    double value;
} expected;

enum { EXPECTED = 17 };

static void expect(expected out[EXPECTED])
{
    const double left = debye * debye / (debye_r * debye_r), q = other_charge();
    const expected all[EXPECTED] = {{"debye_length", debye},
                                    {"debye_length_R", debye_r},
                                    {"kappa", 1 / debye},
                                    {"kappa_R", 1 / debye_r},
                                    {"kappa_R_around_cation", 1 / debye_r},
                                    {"kappa_R_around_anion", 1 / debye_r},
                                    {"q_R_cation_around_cation", q_r},
                                    {"q_R_cation_around_anion", q_r},
                                    {"q_R_anion_around_cation", q},
                                    {"q_R_anion_around_anion", q},
                                    {"q_R_cation_difference", 0},
                                    {"q_R_anion_difference", 0},
                                    {"eps_R_around_cation", eps_r},
                                    {"eps_R_around_anion", eps_r},
                                    {"eq8_left", left},
                                    {"eq8_right", left},
                                    {"eq8_difference", 0}};
    memcpy(out, all, sizeof all);
}

static void the_renormalised_numbers_are_those_of_the_tails(void **state)
{
    (void)state;
    for (int terms = 1; terms <= 2; terms++) {
        bench *b = electrolyte(200000);
        expected numbers[EXPECTED];
        expect(numbers);
        *(double *)parameter(b, "margin") = 100;
        *(int64_t *)parameter(b, "terms") = terms;
        ready(b);
        double *raw = calloc((size_t)place(b, NULL, NULL), sizeof *raw);
        double *out = calloc((size_t)derived_width(b), sizeof *out);
        make_counts(b, terms == 2 ? 0.8 : 0, 1, NULL, raw);
        assert_int_equal(0, b->observable->derive(b->instance, raw, out));
        for (int k = 0; k < EXPECTED; k++) {
            printf("%d terms, %s: %.8f, given %.8f\n", terms, numbers[k].name,
                   out[derived_at(b, numbers[k].name)], numbers[k].value);
            /* shells are thick: (kappa width)^2 / 24; and u^2 / 2 of ln g */
            assert_close(out[derived_at(b, numbers[k].name)], numbers[k].value, 1e-3, 1e-3);
        }
        free(raw);
        free(out);
        bench_free(b);
    }
}

/* Errors are those of 64 blocks; |z| <= 4, a false alarm in 16 000 each. */
static void noise_is_in_the_errors(void **state)
{
    (void)state;
    for (int terms = 1; terms <= 2; terms++) {
        enum { BLOCKS = 64 };
        bench *b = electrolyte(200000);
        expected numbers[EXPECTED];
        random_source noise = {0};
        block_average blocks;
        expect(numbers);
        *(double *)parameter(b, "margin") = 100;
        *(int64_t *)parameter(b, "terms") = terms;
        ready(b);
        const int64_t width = place(b, NULL, NULL), found = derived_width(b);
        double *raw = calloc((size_t)width, sizeof *raw),
               *value = calloc((size_t)found, sizeof *value),
               *error = calloc((size_t)found, sizeof *error);
        bool *converged = calloc((size_t)found, sizeof *converged);
        assert_int_equal(0, block_average_init(&blocks, width));
        for (int k = 0; k < BLOCKS; k++) {
            make_counts(b, terms == 2 ? 0.8 : 0, 2e5, &noise, raw);
            block_average_add(&blocks, raw);
        }
        assert_int_equal(0, block_average_jackknife(&blocks, b->observable->derive, b->instance,
                                                    found, value, error, converged));
        for (int k = 0; k < EXPECTED; k++) {
            const int64_t at = derived_at(b, numbers[k].name);
            char name[96];
            if (!strcmp(numbers[k].name, "kappa") || !strcmp(numbers[k].name, "debye_length"))
                continue; /* without noise here */
            snprintf(name, sizeof name, "%d terms, %s", terms, numbers[k].name);
            assert_true(error[at] > 1e-4 * fabs(numbers[k].value)); /* above the bias of the form */
            assert_z(name, value[at], error[at], numbers[k].value, 4);
        }
        const int64_t at = derived_at(b, "debye_length_R");
        assert_true(error[at] < 0.05 * debye_r);
        block_average_free(&blocks);
        free(raw), free(value), free(error), free(converged);
        bench_free(b);
    }
}

static void tails_without_pairs_leave_the_functions(void **state)
{
    (void)state;
    bench *b = electrolyte(200000);
    *(double *)parameter(b, "margin") = 100;
    ready(b);
    double *raw = calloc((size_t)place(b, NULL, NULL), sizeof *raw);
    double *out = calloc((size_t)derived_width(b), sizeof *out);
    assert_int_not_equal(0, b->observable->derive(b->instance, raw, out)); /* no references */
    assert_non_null(strstr(b->observable->lacking(b->instance, raw), "farther than margin"));
    make_counts(b, 0, 1, NULL, raw);
    assert_null(b->observable->lacking(b->instance, raw));
    raw[place(b, "pairs_cation-cation", NULL) + 200] = 0;
    assert_int_equal(0, b->observable->derive(b->instance, raw, out));
    assert_true(isnan(out[derived_at(b, "kappa_R")]));
    assert_true(isnan(out[derived_at(b, "eq8_difference")]));
    assert_true(isfinite(out[derived_at(b, "u_cation-cation") + 100]));
    assert_true(isfinite(out[derived_at(b, "rho_anion") + 100]));
    const char *sentence = b->observable->lacking(b->instance, raw);
    assert_non_null(strstr(sentence, "1 of the "));
    assert_non_null(strstr(sentence, "bins of the tail of u_cation-cation"));
    free(raw);
    free(out);
    bench_free(b);
}

static void defaults_are_multiples_of_the_debye_length(void **state)
{
    (void)state;
    bench *b = electrolyte(200000);
    plugmc_quantity q = {.size = sizeof q};
    ready(b);
    place(b, "pairs_cation-anion", &q);
    assert_close(q.abscissa[0][239] + q.abscissa[0][0], 8 * debye, 1e-12, 0); /* r_max */
    bench_free(b);
}

static void the_bjerrum_length_is_that_of_the_potential(void **state)
{
    (void)state;
    for (int there = 0; there < 2; there++) {
        bench *b = electrolyte(200000);
        const plugmc_plugin *coulomb = open_plugin("coulomb");
        *(double *)parameter(b, "bjerrum_length") = 0;
        b->terms[0] = (plugmc_term){"coulomb", coulomb, b->instances[0], NULL, NULL, there};
        for (int k = 0; k < coulomb->parameter_count; k++)
            if (!strcmp(coulomb->parameters[k].name, "bjerrum_length"))
                *(double *)(b->instances[0] + coulomb->parameters[k].offset) = 2 * l_b;
        b->system.term_count = 1;
        assert_int_equal(there ? PLUGMC_OK : PLUGMC_ERROR_INPUT, prepare(b));
        if (there) {
            plugmc_quantity q = {.size = sizeof q};
            place(b, "pairs_cation-anion", &q); /* r_max = 8 Debye lengths */
            assert_close(q.abscissa[0][239] + q.abscissa[0][0], 8 * debye / sqrt(2), 1e-12, 0);
        } else {
            assert_non_null(strstr(b->context.message, "no unique bjerrum_length"));
        }
        bench_free(b);
    }
}

static void what_is_no_electrolyte_is_refused(void **state)
{
    (void)state;
    enum { FLAT, ALIKE, THREE, SMALL, NARROW, BEYOND, CASES };
    static const char *const reasons[CASES] = {
        "three dimensions",           "opposite charge",   "opposite charge",
        "leaves nothing of a sphere", "too few for a fit", "fit_to = 60 is more than r_max = 50"};
    for (int k = 0; k < CASES; k++) {
        bench *b = k == FLAT ? bench_new(2, 10, 10, 1, 1) : electrolyte(k == SMALL ? 400 : 200000);
        if (k == FLAT) {
            add_species(b, "cation", 2, 1, 3);
            add_species(b, "anion", 6, 1, -1);
            observe(b, "dressed_ion");
            *(double *)parameter(b, "bjerrum_length") = l_b;
        }
        if (k == ALIKE) b->species[1].charge = 1;
        if (k == THREE) add_species(b, "neutral", 2, 1, 0);
        if (k == NARROW) *(double *)parameter(b, "fit_from") = 79;
        if (k == BEYOND) {
            *(double *)parameter(b, "fit_to") = 60;
            *(double *)parameter(b, "r_max") = 50;
        }
        assert_int_equal(PLUGMC_ERROR_INPUT, prepare(b));
        if (!strstr(b->context.message, reasons[k]))
            fail_msg("'%s' is not in: %s", reasons[k], b->context.message);
        bench_free(b);
    }
}

TEST_MAIN(cmocka_unit_test(the_renormalised_numbers_are_those_of_the_tails),
          cmocka_unit_test(noise_is_in_the_errors),
          cmocka_unit_test(tails_without_pairs_leave_the_functions),
          cmocka_unit_test(defaults_are_multiples_of_the_debye_length),
          cmocka_unit_test(the_bjerrum_length_is_that_of_the_potential),
          cmocka_unit_test(what_is_no_electrolyte_is_refused))
