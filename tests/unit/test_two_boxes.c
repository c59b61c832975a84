/* Observables where a mover changes boxes: in two walkers of different boxes, neither of which is that
 * at the start, each gives what it gives in a run whose fixed box is that of the walker. And what it
 * refuses. */
#include "testing.h"

#include "two_boxes.h"

static int place_of(const found *f, const char *name)
{
    for (int i = 0; i < f->count; i++)
        if (!strcmp(f->name[i], name)) return i;
    fail_msg("no quantity %s", name);
    return -1;
}

static void walkers_have_the_values_of_their_boxes(void **state)
{
    (void)state;
    for (int k = 0; k < EXAMPLES; k++) {
        static found both, one;
        const example *e = &examples[k];
        measure_example(e, 2, 0, 0, &both);
        for (int w = 0; w < 2; w++) {
            double largest = 0, differs = 0;
            measure_example(e, 1, w, 0, &one);
            for (int i = 0; i < both.count; i++) {
                const int p = place_of(&one, both.name[i]), n = both.at[i + 1] - both.at[i];
                assert_int_equal(n, one.at[p + 1] - one.at[p]);
                for (int j = 0; j < n; j++) {
                    const double x = both.values[w][both.at[i] + j],
                                 y = one.values[0][one.at[p] + j];
                    if (!(fabs(x - y) <= 1e-12 * (1 + fabs(y))))
                        fail_msg("%s %s.%s[%d] of walker %d is %.17g, not %.17g", e->observable,
                                 e->settings, both.name[i], j, w, x, y);
                    differs += fabs(x - both.values[1 - w][both.at[i] + j]);
                    largest = fmax(largest, fabs(y));
                }
            }
            assert_true(largest > 0 && differs > 0); /* the boxes make a difference */
        }
        printf("%s in %d dimensions%s: %d quantities\n", e->observable, e->dimension,
               e->oblique ? ", oblique" : "", both.count);
    }
}

/* A run of `e` whose box becomes a tenth as long along x ends with this sentence. */
static void expect_too_small(const example *e, const char *sentence)
{
    static bench b;
    static double values[2 * NUMBERS_MOST];
    const plugmc_box start = box_at_start(e);
    plugmc_box boxes[2] = {start, start};
    void *instance;
    plugmc_view view = {.size = sizeof view};
    if (set_up(&b, e, &start, 1, 2, 0, &instance)) fail_msg("%s", b.message);
    double *r = bench_positions(&b);
    plugmc_scale_box(&boxes[1], (const double[3]){0.1, 1, 1});
    keep_boxes(&b, boxes);
    for (int w = 0; w < 2; w++) place_in(e, &boxes[w], w, r + 3 * b.system.particles * w);
    bench_expect(&b, b.host.view(b.host.context, r, 0, &view));
    const plugmc_observable *calls = open_plugin(e->observable)->observable;
    assert_int_equal(calls->measure(instance, &b.host, &view, values), PLUGMC_ERROR_INPUT);
    if (!strstr(b.message, sentence)) fail_msg("said: %s", b.message);
    free(r);
    tear_down(&b);
}

static void a_box_that_becomes_too_small_ends_the_run(void **state)
{
    (void)state;
    static const struct {
        example e;
        const char *sentence;
    } cases[] = {
        {{"rdf", "r_max=1.7", 0, 2, 0, 1, {HARD}},
         "the box of walker 1 has shrunk to a width of 1.92: r_max, 1.7, exceeds half of it"},
        {{"hexatic_order", "", 0, 2, 0, 1, {HARD}}, "the cutoff of neighbours, 1.45, exceeds"},
        {{"pressure", "", 0, 2, 0, 1, {HARD}},
         "the distance that contacts are looked for in, 1.05,"},
        {{"hard_pressure", "", 0, 2, 0, 1, {HARD}},
         "the reach of the fit (fit = no does without), 1.02,"},
        {{"energy", "", 0, 2, 0, 1, {LENNARD_JONES}}, "the range of a potential, 2.5, exceeds"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        expect_too_small(&cases[k].e, cases[k].sentence);
}

static void half_of_a_box_is_no_range_that_stays(void **state)
{
    (void)state;
    static bench b;
    const example e = {"rdf", "", 0, 2, 0, 1, {HARD}};
    const plugmc_box start = box_at_start(&e);
    void *instance;
    assert_int_equal(set_up(&b, &e, &start, 1, 2, 0, &instance), PLUGMC_ERROR_INPUT);
    assert_string_equal(b.message, "r_max must be given, since a mover changes the box");
    tear_down(&b);
}

TEST_MAIN(cmocka_unit_test(walkers_have_the_values_of_their_boxes),
          cmocka_unit_test(a_box_that_becomes_too_small_ends_the_run),
          cmocka_unit_test(half_of_a_box_is_no_range_that_stays))
