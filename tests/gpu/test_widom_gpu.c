/* widom on a GPU: the means of the CPU to rounding, the same bits each time, and how many test particles
 * it tries a second in a dense fluid. Skipped without a GPU. */
#include "testing.h"

#include "widom_systems.h"

static void means_are_those_of_the_cpu(void **state)
{
    (void)state;
    static const char *const settings[] = {"insertions=20000", "insertions=20000 placement=cells",
                                           "insertions=37", "insertions=37 placement=cells"};
    for (int k = 0; k < WIDOM_SYSTEMS; k++)
        for (int i = 0; i < 8; i++) {
            const widom_system *s = &widom_systems[k];
            const char *species = i % 2 ? "B" : "A";
            double found[3][WIDOM_WALKERS];
            if (s->shape == BALL && i / 2 % 2) continue;
            for (int where = 0; where < 3; where++) { /* CPU, GPU, GPU again */
                static widom_run run;
                widom_begin_run(&run, s, species, settings[i / 2], 2, where > 0);
                widom_measure(&run, found[where]);
                widom_end_run(&run);
            }
            for (int w = 0; w < WIDOM_WALKERS; w++)
                assert_close(found[1][w], found[0][w], 1e-10, 1e-30);
            assert_memory_equal(found[1], found[2], sizeof found[1]);
            printf("%s, %s, %s: %.6g %.6g %.6g\n", s->name, species, settings[i / 2], found[1][0],
                   found[1][1], found[1][2]);
        }
}

/* 32,000 particles at density 0.8, three walkers. */
static void a_dense_fluid_is_fast(void **state)
{
    (void)state;
    static const char *const settings[] = {"insertions=8000000",
                                           "insertions=8000000 placement=cells"};
    const widom_system s = {"dense", 3, BRICK, 32.586, {31999, 1}, 0, 1, {WIDOM_LJ}, 0};
    for (int k = 0; k < 2; k++) {
        static widom_run run;
        double found[WIDOM_WALKERS];
        widom_begin_run(&run, &s, "A", settings[k], 2, 1);
        widom_measure(&run, found); /* takes memory */
        const double begin = seconds();
        widom_measure(&run, found);
        const double taken = seconds() - begin;
        printf("%s: %.3g insertions/s, %.4f s\n", settings[k], 8e6 * WIDOM_WALKERS / taken, taken);
        assert_true(found[0] > 0);
        widom_end_run(&run);
    }
}

GPU_TEST_MAIN(cmocka_unit_test(means_are_those_of_the_cpu), cmocka_unit_test(a_dense_fluid_is_fast))
