/* The checkerboard mover against a naive reading of Algorithm 1 (tests/naive_checkerboard.h),
 * decision by decision: positions are equal, not close, after every sweep. Then what the mover
 * promises around the chain: any number of threads, checkpoints, cells that grow, contact. */
#include "testing.h"

#include "movers.h"
#include "naive_checkerboard.h"

/* What is simulated, and how. */
typedef struct scenario {
    int dimension;
    double length[3];
    int cells[3];     /* the mover must find these */
    int lattice[3];   /* particles of the start along each axis; in 2-D odd rows lie half between */
    double extent;    /* of the lattice, in units of the box edges; 0: all of it */
    int64_t count[2]; /* particles of the species; [1] may be 0 */
    double diameter[2], charge[2];
    int hard;
    double strength, cutoff; /* of a soft potential; strength 0: none */
    int64_t trials;
    double step;
    int walkers;
    const char *options; /* further parameters of the mover */
    int sweeps;
    int wide, cold; /* of the reference */
} scenario;

static void bench_of(bench *b, const scenario *s)
{
    bench_begin(b, s->dimension, s->length, s->walkers ? s->walkers : 1, 20130901);
    bench_species(b, "large", s->count[0], s->diameter[0], s->charge[0] ? s->charge[0] : 1);
    if (s->count[1]) bench_species(b, "small", s->count[1], s->diameter[1], s->charge[1]);
    char settings[128];
    if (s->hard) bench_potential(b, "hard_disk", "");
    snprintf(settings, sizeof settings, "strength=%.17g cutoff=%.17g", s->strength, s->cutoff);
    if (s->strength != 0) bench_potential(b, TEST_SOFT_DISK, settings);
}

static test_mover mover_of(bench *b, const scenario *s)
{
    char settings[256];
    snprintf(settings, sizeof settings, "trials=%lld step=%.17g %s", (long long)s->trials, s->step,
             s->options ? s->options : "");
    return mover_new(b, "checkerboard", settings);
}

/* A lattice, another corner of it for each walker: [walkers][particles][3]. */
static double *lattice_of(const bench *b, const scenario *s)
{
    double *positions = bench_positions(b), *p = positions;
    int columns = s->lattice[0], rows = s->lattice[1];
    for (int w = 0; w < b->system.walkers; w++)
        for (int64_t i = 0; i < b->system.particles; i++, p += 3) {
            int64_t row = i / columns % rows, layer = i / columns / rows;
            double between = s->dimension == 2 ? 0.5 * (double)(row % 2) : 0;
            p[0] = ((double)(i % columns) + between) / columns;
            p[1] = (double)row / rows;
            p[2] = s->dimension == 3 ? (double)layer / s->lattice[2] : 0;
            for (int a = 0; a < s->dimension; a++) {
                p[a] = fmod(p[a] * (s->extent > 0 ? s->extent : 1) + 0.0618034 + 0.381966 * w, 1) *
                       s->length[a];
                if (p[a] >= s->length[a]) p[a] = 0;
            }
        }
    return positions;
}

static int has_option(const scenario *s, const char *option)
{
    return s->options && strstr(s->options, option);
}

static naive naive_of(const bench *b, const scenario *s, int walker, const double *positions)
{
    naive v = {.system = &b->system,
               .walker = walker,
               .cells = {s->cells[0], s->cells[1], s->cells[2]},
               .trials = s->trials,
               .step = s->step,
               .shuffle_particles = !has_option(s, "shuffle_particles=no"),
               .shuffle_sets = !has_option(s, "shuffle_sets=no"),
               .shift_cells = !has_option(s, "shift_cells=no"),
               .strength = s->strength,
               .cutoff = s->cutoff,
               .hard = s->hard,
               .wide = s->wide,
               .cold = s->cold};
    naive_load(&v, positions + 3 * walker * b->system.particles);
    return v;
}

static void assert_same_positions(const bench *b, const double *got, const double *expected,
                                  const char *when, int64_t sweep)
{
    for (int64_t i = 0; i < 3 * b->system.particles * b->system.walkers; i++)
        if (memcmp(&got[i], &expected[i], sizeof(double)))
            fail_msg("%s %lld: walker %lld, particle %lld, axis %lld: %.17g, not %.17g", when,
                     (long long)sweep, (long long)(i / 3 / b->system.particles),
                     (long long)(i / 3 % b->system.particles), (long long)(i % 3), got[i],
                     expected[i]);
}

/* Runs mover and reference side by side. Sweeps start from a large number, since it is a counter
 * of random numbers with more than 32 bits. */
static void decide_alike(const scenario *s)
{
    const uint64_t first = ((uint64_t)3 << 32) - 20;
    bench b;
    bench_of(&b, s);
    test_mover mover = mover_of(&b, s);
    double *got = lattice_of(&b, s), *expected = bench_positions(&b);
    mover_load(&b, &mover, got);
    mover_store(&b, &mover, got);

    naive reference[8];
    for (int w = 0; w < b.system.walkers; w++) reference[w] = naive_of(&b, s, w, got);
    int by_cell = has_option(s, "identities=no");
    for (int i = 0; i < s->sweeps; i++) {
        mover_sweep(&b, &mover, first + (uint64_t)i, 1);
        mover_store(&b, &mover, got);
        for (int w = 0; w < b.system.walkers; w++) {
            naive_sweep(&reference[w], first + (uint64_t)i);
            naive_store(&reference[w], expected + 3 * w * b.system.particles, by_cell);
        }
        assert_same_positions(&b, got, expected, "after sweep", i);
    }

    plugmc_counts counts, sum = {0, 0};
    int64_t close_calls = 0;
    bench_expect(&b, mover_counts(&mover, &b.host, &counts, 1));
    for (int w = 0; w < b.system.walkers; w++) {
        sum.trials += reference[w].counts.trials;
        sum.accepted += reference[w].counts.accepted;
        close_calls += reference[w].close_calls;
        naive_end(&reference[w]);
    }
    printf("%lld particles, %d x %d x %d cells, %llu trials, %.3f accepted, %lld close calls\n",
           (long long)b.system.particles, s->cells[0], s->cells[1], s->cells[2] ? s->cells[2] : 1,
           (unsigned long long)sum.trials, (double)sum.accepted / (double)sum.trials,
           (long long)close_calls);
    assert_int_equal(counts.trials, sum.trials);
    assert_int_equal(counts.accepted, sum.accepted);
    assert_true(sum.accepted > sum.trials / 50 && sum.accepted < sum.trials);
    assert_true((double)close_calls < 1 + 1e-3 * (double)sum.trials); /* else nothing is tested */
    bench_expect(&b, mover_counts(&mover, &b.host, &counts, 0));
    assert_int_equal(counts.trials, 0);

    mover_end(&mover);
    bench_end(&b);
    free(got);
    free(expected);
}

/* ---- Decision by decision -------------------------------------------------------------------- */

/* L for a packing fraction of 0.69: the square root of N pi / 4 / 0.69. */
static const scenario disks_72 = {.dimension = 2,
                                  .length = {9.0529, 9.0529},
                                  .cells = {8, 8},
                                  .lattice = {9, 8},
                                  .count = {72},
                                  .diameter = {1},
                                  .hard = 1,
                                  .trials = 4,
                                  .step = 0.16,
                                  .sweeps = 300};
static const scenario disks_224 = {.dimension = 2,
                                   .length = {15.968, 15.968},
                                   .cells = {12, 12},
                                   .lattice = {14, 16},
                                   .count = {224},
                                   .diameter = {1},
                                   .hard = 1,
                                   .trials = 4,
                                   .step = 0.16,
                                   .sweeps = 300};
static const scenario spheres = {.dimension = 3,
                                 .length = {4.5, 6.7, 4.9},
                                 .cells = {4, 6, 4},
                                 .lattice = {4, 6, 4},
                                 .count = {96},
                                 .diameter = {1},
                                 .hard = 1,
                                 .trials = 4,
                                 .step = 0.2,
                                 .sweeps = 150};
static const scenario mixture = {.dimension = 2,
                                 .length = {8.6, 7.3},
                                 .cells = {8, 6},
                                 .lattice = {8, 7},
                                 .count = {30, 26},
                                 .diameter = {1, 0.7},
                                 .charge = {1, 2},
                                 .hard = 1,
                                 .trials = 4,
                                 .step = 0.2,
                                 .walkers = 2,
                                 .sweeps = 300};
static const scenario soft = {.dimension = 2,
                              .length = {9.1, 7.7},
                              .cells = {6, 4},
                              .lattice = {8, 7},
                              .count = {56},
                              .diameter = {1},
                              .trials = 4,
                              .step = 0.4,
                              .strength = 3,
                              .cutoff = 1.5,
                              .sweeps = 300};

/* So many particles near a cell that energies are added in the order of a warp: 13 particles in one. */
static const scenario crowded = {.dimension = 3,
                                 .length = {5.1, 5.3, 5.2},
                                 .cells = {2, 2, 2},
                                 .lattice = {5, 4, 5},
                                 .count = {100},
                                 .diameter = {1},
                                 .trials = 6,
                                 .step = 0.3,
                                 .strength = 2,
                                 .cutoff = 2.5,
                                 .sweeps = 100,
                                 .wide = 1};

static void disks_72_decide_alike(void **state)
{
    (void)state;
    decide_alike(&disks_72);
}

static void disks_224_decide_alike(void **state)
{
    (void)state;
    decide_alike(&disks_224);
}

/* A half row that is one cell, a few cells, and not a multiple of the 16 of a vector. */
static void any_number_of_cells_decides_alike(void **state)
{
    (void)state;
    static const scenario sizes[] = {
        {.length = {2.5, 2.1}, .cells = {2, 2}, .lattice = {2, 2}, .count = {3}, .step = 0.5},
        {.length = {2.6, 5.1}, .cells = {2, 4}, .lattice = {2, 4}, .count = {8}, .step = 0.4},
        {.length = {5.4, 4.3}, .cells = {4, 4}, .lattice = {5, 4}, .count = {19}, .step = 0.2},
        {.length = {8.3, 6.1}, .cells = {6, 6}, .lattice = {7, 6}, .count = {41}, .step = 0.3},
        {.length = {46.5, 5.3}, .cells = {34, 4}, .lattice = {41, 5}, .count = {203}, .step = 0.2},
        {.length = {5.3, 43.7}, .cells = {4, 32}, .lattice = {4, 40}, .count = {160}, .step = 0.2},
        {.length = {89.1, 4.2}, .cells = {64, 4}, .lattice = {72, 4}, .count = {288}, .step = 0.2},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        scenario s = sizes[i];
        s.dimension = 2;
        s.diameter[0] = s.hard = 1;
        s.trials = 4;
        s.sweeps = s.count[0] < 50 ? 1000 : 100;
        decide_alike(&s);
    }
}

static void any_number_of_trials_decides_alike(void **state)
{
    (void)state;
    static const int64_t trials[] = {1, 2, 7, 33};
    for (int i = 0; i < 4; i++) {
        scenario s = disks_72;
        s.trials = trials[i];
        s.sweeps = 100;
        s.length[1] = 10.7;
        decide_alike(&s);
    }
}

static void walkers_decide_alike(void **state)
{
    (void)state;
    scenario s = disks_72;
    s.walkers = 3;
    s.sweeps = 100;
    decide_alike(&s);
}

static void options_decide_alike(void **state)
{
    (void)state;
    static const char *const options[] = {"shuffle_particles=no", "shuffle_sets=no",
                                          "shift_cells=no", "identities=no",
                                          "shuffle_particles=no shuffle_sets=no shift_cells=no"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        scenario s = disks_72;
        s.options = options[i];
        s.sweeps = 100;
        s.walkers = 2;
        decide_alike(&s);
    }
}

/* Cells as wide as asked for: up to 11 disks in one, up to 33, and up to 27 spheres. */
static void wide_cells_decide_alike(void **state)
{
    (void)state;
    scenario s = disks_72;
    s.options = "cell=2.2";
    s.cells[0] = s.cells[1] = 4;
    decide_alike(&s);
    s.options = "cell=2.2 shuffle_particles=no";
    s.trials = 1;
    decide_alike(&s);
    s.options = "cell=4.5 identities=no";
    s.cells[0] = s.cells[1] = 2;
    s.trials = 7;
    decide_alike(&s);
    s = spheres;
    s.options = "cell=2";
    s.cells[0] = s.cells[2] = 2;
    s.cells[1] = 2;
    s.sweeps = 100;
    decide_alike(&s);
    s = soft;
    s.options = "cell=3.5";
    s.cells[0] = s.cells[1] = 2;
    s.sweeps = 100;
    decide_alike(&s);
}

static void spheres_decide_alike(void **state)
{
    (void)state;
    decide_alike(&spheres);
    scenario s = spheres;
    s.options = "identities=no";
    s.trials = 7;
    s.walkers = 2;
    s.sweeps = 40;
    decide_alike(&s);
    s = (scenario){.dimension = 3,
                   .length = {2.3, 2.2, 2.4},
                   .cells = {2, 2, 2},
                   .lattice = {2, 2, 2},
                   .count = {5},
                   .diameter = {1},
                   .hard = 1,
                   .trials = 3,
                   .step = 0.4,
                   .sweeps = 500};
    decide_alike(&s);
}

static void mixtures_decide_alike(void **state)
{
    (void)state;
    decide_alike(&mixture);
    scenario s = spheres;
    s.count[0] = 50;
    s.count[1] = 46;
    s.diameter[1] = 0.8;
    s.sweeps = 60;
    decide_alike(&s);
}

static void soft_disks_decide_alike(void **state)
{
    (void)state;
    decide_alike(&soft);
    scenario s = soft;
    s.trials = 7;
    s.walkers = 2;
    s.sweeps = 100;
    s.options = "identities=no";
    decide_alike(&s);
    s = (scenario){.dimension = 2,
                   .length = {3.1, 3},
                   .cells = {2, 2},
                   .lattice = {3, 2},
                   .count = {5},
                   .diameter = {1},
                   .trials = 5,
                   .step = 0.6,
                   .strength = 2,
                   .cutoff = 1.5,
                   .sweeps = 500};
    decide_alike(&s);
}

static void soft_spheres_decide_alike(void **state)
{
    (void)state;
    scenario s = spheres;
    s.hard = 0;
    s.strength = 4;
    s.cutoff = 1.1;
    s.sweeps = 60;
    decide_alike(&s);
}

static void crowded_cells_decide_alike(void **state)
{
    (void)state;
    decide_alike(&crowded);
    scenario s =
        crowded; /* up to some 40 in a cell, some of them in the second round of the warp */
    s.options = "identities=no trials=70 cell=2.5";
    s.trials = 70;
    s.count[0] = 250;
    s.lattice[0] = s.lattice[2] = 7;
    s.lattice[1] = 6;
    s.walkers = 2;
    s.sweeps = 8;
    decide_alike(&s);
    s = crowded; /* in two dimensions, half rows longer than a vector, two species */
    s.dimension = 2;
    s.length[0] = 144;
    s.length[1] = 8.2;
    s.cells[0] = 34;
    s.cells[2] = 0;
    s.lattice[0] = 108;
    s.lattice[1] = 8;
    s.count[0] = 400;
    s.count[1] = 464;
    s.charge[0] = 1;
    s.charge[1] = 1.5;
    s.diameter[1] = 1;
    s.cutoff = 4.1;
    s.sweeps = 12;
    decide_alike(&s);
    s.hard = 1; /* and a core */
    s.diameter[0] = s.diameter[1] = 0.8;
    decide_alike(&s);
}

/* Energies so large that some decisions in 10^5 depend on the order in which they are added: it is that of
 * the reference, with few neighbours and with many. */
static void cold_particles_decide_alike(void **state)
{
    (void)state;
    scenario s = soft;
    s.cold = 1;
    s.strength = 3e5;
    s.step = 1e-2;
    decide_alike(&s);
    s = crowded;
    s.cold = 1;
    s.strength = 3e5;
    s.step = 1e-2;
    s.trials = 60;
    decide_alike(&s);
    s.count[0] = 55;
    s.count[1] = 45;
    s.charge[0] = 1;
    s.charge[1] = 1.5;
    decide_alike(&s);
}

/* Two terms, two species that differ in charge and diameter: a hard core in a soft shell. */
static void a_core_in_a_shell_decides_alike(void **state)
{
    (void)state;
    scenario s = mixture;
    s.strength = 1.5;
    s.cutoff = 1.8;
    s.cells[0] = s.cells[1] = 4;
    decide_alike(&s);
}

/* Particles that the shift puts exactly on an edge of a cell, or one quantum beside it: with a step
 * too short to move, the cells alone move, and the numbering by cells shows who is where. */
static void particles_on_the_edge_belong_to_one_cell(void **state)
{
    (void)state;
    const scenario s = {.dimension = 2,
                        .length = {5.6, 5.6},
                        .cells = {4, 4},
                        .count = {16},
                        .diameter = {1},
                        .hard = 1,
                        .trials = 1,
                        .step = 1e-9,
                        .options = "identities=no"};
    const double quantum = s.length[0] / s.cells[0] / CB_QUANTA;
    bench b;
    bench_of(&b, &s);
    double *got = bench_positions(&b), *expected = bench_positions(&b);
    for (uint64_t sweep = 0; sweep < 64; sweep++) {
        test_mover mover = mover_of(&b, &s); /* a new one, whose cells have not been shifted */
        cb_plan plan = cb_make_plan(b.system.seed, sweep, 0, 2, 1, 1);
        for (int i = 0; i < 16; i++) {
            int64_t beside = i / 4 == 1 ? -1 : i / 4 == 2 ? 1 : 0;
            int64_t along = plan.sign * plan.quanta + (int64_t)CB_QUANTA * (i % 4) + beside;
            got[3 * i + plan.axis] = (double)naive_modulo(along, 4 * (int64_t)CB_QUANTA) * quantum;
            got[3 * i + !plan.axis] = (i / 4 + 0.375) * CB_QUANTA * quantum;
        }
        mover_load(&b, &mover, got);
        naive reference = naive_of(&b, &s, 0, got);
        mover_sweep(&b, &mover, sweep, 1);
        naive_sweep(&reference, sweep);
        mover_store(&b, &mover, got);
        naive_store(&reference, expected, 1);
        assert_same_positions(&b, got, expected, "after sweep", (int64_t)sweep);
        naive_end(&reference);
        mover_end(&mover);
    }
    bench_end(&b);
    free(got);
    free(expected);
}

/* ---- Around the chain ------------------------------------------------------------------------ */

/* Positions after n sweeps in one call, to be freed. */
static double *run_once(const scenario *s, int threads, uint64_t n, plugmc_counts *counts)
{
    bench b;
    bench_of(&b, s);
    b.system.threads = threads;
    test_mover mover = mover_of(&b, s);
    double *positions = lattice_of(&b, s);
    mover_load(&b, &mover, positions);
    mover_sweep(&b, &mover, 0, n);
    mover_store(&b, &mover, positions);
    bench_expect(&b, mover_counts(&mover, &b.host, counts, 0));
    mover_end(&mover);
    bench_end(&b);
    return positions;
}

static void any_number_of_threads_gives_the_same_chain(void **state)
{
    (void)state;
    const scenario *cases[] = {&disks_224, &spheres, &mixture, &soft, &crowded};
    for (int i = 0; i < 5; i++) {
        bench b;
        bench_of(&b, cases[i]);
        plugmc_counts one, more;
        double *expected = run_once(cases[i], 1, 60, &one);
        for (int threads = 2; threads <= 3; threads++) {
            double *got = run_once(cases[i], threads, 60, &more);
            assert_same_positions(&b, got, expected, "threads", threads);
            assert_int_equal(one.accepted, more.accepted);
            assert_int_equal(one.trials, more.trials);
            free(got);
        }
        free(expected);
        bench_end(&b);
    }
}

/* 150 sweeps at once, and 73, a checkpoint, 77 by a new instance with other threads. */
static void a_restored_chain_continues_bit_for_bit(void **state)
{
    (void)state;
    const scenario *cases[] = {&disks_224, &spheres, &mixture, &soft, &crowded};
    for (int i = 0; i < 5; i++) {
        plugmc_counts counts;
        double *expected = run_once(cases[i], 1, 150, &counts);
        bench b, again;
        bench_of(&b, cases[i]);
        bench_of(&again, cases[i]);
        again.system.threads = 2;
        test_mover before = mover_of(&b, cases[i]);
        double *positions = lattice_of(&b, cases[i]);
        mover_load(&b, &before, positions);
        mover_sweep(&b, &before, 0, 73);
        test_archive archive;
        mover_save(&b, &before, &archive);
        mover_end(&before);
        bench_end(&b);

        test_mover after = mover_of(&again, cases[i]);
        mover_restore(&again, &after, &archive);
        mover_sweep(&again, &after, 73, 77);
        mover_store(&again, &after, positions);
        assert_same_positions(&again, positions, expected, "case", i);
        mover_end(&after);
        bench_end(&again);
        archive_end(&archive);
        free(positions);
        free(expected);
    }
}

/* Restoring sets the step again: that must not change it, wherever it is allowed. */
static void setting_the_step_to_itself_changes_nothing(void **state)
{
    (void)state;
    static const double steps[] = {1e-3, 0.16, 0.5, 0.555, 5};
    for (int i = 0; i < 5; i++) {
        bench b;
        bench_of(&b, &disks_72);
        scenario s = disks_72;
        s.step = i < 4 ? steps[i] : 0.16; /* half a cell is 0.566; more can only be set */
        test_mover mover = mover_of(&b, &s);
        mover_set_step(&b, &mover, steps[i]);
        double step = mover.steps[0];
        assert_true(i < 4 ? step == steps[i] : step < 0.566 && step > 0.5);
        mover_set_step(&b, &mover, step);
        assert_true(mover.steps[0] == step);
        mover_end(&mover);
        bench_end(&b);
    }
}

/* Positions are rounded once, to 2^-23 of a cell edge; then they stay what they are. */
static void loading_what_was_stored_changes_nothing(void **state)
{
    (void)state;
    const scenario *cases[] = {&disks_224, &spheres, &mixture, &soft, &crowded};
    for (int i = 0; i < 5; i++) {
        const scenario *s = cases[i];
        bench b;
        bench_of(&b, s);
        test_mover mover = mover_of(&b, s);
        double *start = lattice_of(&b, s);
        double *once = bench_positions(&b), *twice = bench_positions(&b);
        mover_load(&b, &mover, start);
        mover_store(&b, &mover, once);
        for (int64_t k = 0; k < 3 * b.system.particles * b.system.walkers; k++) {
            int a = (int)(k % 3);
            if (a >= s->dimension) continue;
            double difference = remainder(once[k] - start[k], s->length[a]);
            assert_true(fabs(difference) <= 0.5000001 * s->length[a] / s->cells[a] / CB_QUANTA);
        }
        mover_sweep(&b, &mover, 0, 50);
        mover_store(&b, &mover, once);
        mover_load(&b, &mover, once);
        mover_store(&b, &mover, twice);
        assert_same_positions(&b, twice, once, "case", i);
        mover_end(&mover);
        bench_end(&b);
        free(start);
        free(once);
        free(twice);
    }
}

/* In double precision and without tolerance. */
static void nothing_overlaps_in_2000_sweeps(void **state)
{
    (void)state;
    scenario denser = spheres; /* packing fraction 0.49 */
    denser.length[0] = denser.length[2] = 4.15;
    denser.length[1] = 6.2;
    denser.step = 0.1;
    const scenario *cases[] = {&disks_72, &disks_224, &denser, &mixture};
    for (int i = 0; i < 4; i++) {
        bench b;
        bench_of(&b, cases[i]);
        test_mover mover = mover_of(&b, cases[i]);
        double *positions = lattice_of(&b, cases[i]), closest = INFINITY;
        mover_load(&b, &mover, positions);
        for (uint64_t sweep = 0; sweep < 2000; sweep += 20) {
            mover_sweep(&b, &mover, sweep, 20);
            mover_store(&b, &mover, positions);
            closest = fmin(closest, closest_pair(&b, positions));
        }
        printf("closest pair of 100 configurations: %.2g above contact\n", sqrt(closest) - 1);
        assert_true(closest >= 1);
        assert_true(closest < 1.001); /* they do meet */
        mover_end(&mover);
        free(positions);
        bench_end(&b);
    }
}

/* ---- Cells that overflow --------------------------------------------------------------------- */

/* Attracting particles: 24 of them crowd into few cells. */
static const scenario crowd = {.dimension = 2,
                               .length = {9, 7.5},
                               .cells = {6, 4},
                               .lattice = {6, 4},
                               .count = {24},
                               .diameter = {1},
                               .trials = 4,
                               .step = 0.5,
                               .strength = -6,
                               .cutoff = 1.5,
                               .walkers = 2,
                               .sweeps = 400};

static int slots_of(bench *b, test_mover *mover)
{
    test_archive archive;
    mover_save(b, mover, &archive);
    assert_string_equal(archive.blob[0].name, "shape");
    int32_t shape[5];
    assert_int_equal(archive.blob[0].bytes, sizeof shape);
    memcpy(shape, archive.blob[0].data, sizeof shape);
    archive_end(&archive);
    return shape[3];
}

/* The reference has no slots. */
static void crowding_particles_decide_alike(void **state)
{
    (void)state;
    decide_alike(&crowd);
}

/* So few hard particles a cell that four slots are the guess, though more fit: not a bound. */
static void a_dilute_cluster_decides_alike(void **state)
{
    (void)state;
    const scenario s = {.dimension = 2,
                        .length = {60, 60},
                        .cells = {12, 12},
                        .lattice = {4, 2},
                        .extent = 0.08,
                        .count = {8},
                        .diameter = {1},
                        .hard = 1,
                        .trials = 4,
                        .step = 0.5,
                        .strength = -3,
                        .cutoff = 5,
                        .walkers = 2,
                        .sweeps = 200};
    decide_alike(&s);
}

/* All sweeps in one call, so that some are done twice, against a mover that has had the slots from
 * the beginning, because it once held a configuration with all particles in one place. */
static void growing_cells_do_not_change_the_chain(void **state)
{
    (void)state;
    bench b;
    bench_of(&b, &crowd);
    test_mover narrow = mover_of(&b, &crowd), wide = mover_of(&b, &crowd);
    double *start = lattice_of(&b, &crowd), *grown = bench_positions(&b);
    double *expected = bench_positions(&b);
    int slots = slots_of(&b, &narrow);

    mover_load(&b, &narrow, start);
    assert_int_equal(slots_of(&b, &narrow), slots);
    mover_sweep(&b, &narrow, 0, 600);
    mover_store(&b, &narrow, grown);
    assert_true(slots_of(&b, &narrow) > slots);

    mover_load(&b, &wide, expected); /* everyone at the origin */
    assert_true(slots_of(&b, &wide) >= 24);
    mover_load(&b, &wide, start);
    mover_sweep(&b, &wide, 0, 600);
    mover_store(&b, &wide, expected);
    printf("slots a cell: %d, grown to %d; %d from the beginning\n", slots, slots_of(&b, &narrow),
           slots_of(&b, &wide));
    assert_same_positions(&b, grown, expected, "after sweep", 600);
    plugmc_counts one, other;
    bench_expect(&b, mover_counts(&narrow, &b.host, &one, 0));
    bench_expect(&b, mover_counts(&wide, &b.host, &other, 0));
    assert_int_equal(one.trials, other.trials);
    assert_int_equal(one.accepted, other.accepted);

    /* a checkpoint with grown cells is read by a mover that starts with few slots */
    test_archive archive;
    test_mover restored = mover_of(&b, &crowd);
    mover_save(&b, &narrow, &archive);
    mover_restore(&b, &restored, &archive);
    mover_sweep(&b, &narrow, 600, 50);
    mover_sweep(&b, &restored, 600, 50);
    mover_store(&b, &narrow, grown);
    mover_store(&b, &restored, expected);
    assert_same_positions(&b, grown, expected, "after sweep", 650);

    archive_end(&archive);
    mover_end(&narrow);
    mover_end(&wide);
    mover_end(&restored);
    bench_end(&b);
    free(start);
    free(grown);
    free(expected);
}

static void cells_grow_up_to_64_slots(void **state)
{
    (void)state;
    scenario s = crowd;
    s.count[0] = 64; /* slots come in steps of half their number, the last one shorter */
    bench b;
    bench_of(&b, &s);
    test_mover mover = mover_of(&b, &s);
    double *origin = bench_positions(&b);
    mover_load(&b, &mover, origin);
    assert_int_equal(slots_of(&b, &mover), 64);
    mover_sweep(&b, &mover, 0, 3);
    mover_store(&b, &mover, origin);
    mover_end(&mover);
    bench_end(&b);
    free(origin);
}

static void a_collapsed_system_is_refused(void **state)
{
    (void)state;
    static const int64_t count[] = {70, 300};
    static const char *const message[] = {"more than 64 particles in one cell",
                                          "start in one cell"};
    for (int i = 0; i < 2; i++) {
        scenario s = crowd;
        s.count[0] = count[i];
        bench b;
        bench_of(&b, &s);
        test_mover mover = mover_of(&b, &s);
        double *origin = bench_positions(&b);
        assert_int_not_equal(mover_take(&mover, &b.host, origin), PLUGMC_OK);
        if (!strstr(b.message, message[i])) fail_msg("%s", b.message);
        mover_end(&mover);
        bench_end(&b);
        free(origin);
    }
}

/* ---- Starting positions ---------------------------------------------------------------------- */

/* Chains of touching disks in many directions: rounding makes about half of them overlap. They
 * are parted by less than 1e-6 and then move. */
static void touching_particles_are_parted(void **state)
{
    (void)state;
    enum { CHAINS = 12, LINKS = 4 };
    const scenario s = {.dimension = 2,
                        .length = {24.3, 25.7},
                        .cells = {18, 20},
                        .count = {CHAINS * LINKS},
                        .diameter = {1},
                        .hard = 1,
                        .trials = 4,
                        .step = 0.2};
    bench b;
    bench_of(&b, &s);
    test_mover mover = mover_of(&b, &s);
    double *start = bench_positions(&b), *parted = bench_positions(&b);
    for (int c = 0; c < CHAINS; c++)
        for (int k = 0; k < LINKS; k++) {
            double angle = 0.05 + M_PI * c / CHAINS, *p = start + 3 * (c * LINKS + k);
            p[0] = fmod(24.3 + 6.1 * (c % 4) + k * cos(angle), 24.3);
            p[1] = 1 + 8.3 * (c / 4) + k * sin(angle);
        }
    double rounded = INFINITY; /* what rounding alone would do */
    for (int64_t i = 0; i < 3 * b.system.particles; i++) {
        double quantum = s.length[i % 3 == 0 ? 0 : 1] / s.cells[i % 3 == 0 ? 0 : 1] / CB_QUANTA;
        parted[i] = i % 3 == 2 ? 0 : rint(start[i] / quantum) * quantum;
    }
    rounded = closest_pair(&b, parted);
    assert_true(rounded < 1);

    mover_load(&b, &mover, start);
    mover_store(&b, &mover, parted);
    double closest = closest_pair(&b, parted), farthest = 0;
    for (int64_t i = 0; i < 3 * b.system.particles; i++)
        farthest = fmax(farthest, fabs(remainder(parted[i] - start[i], s.length[i % 3 != 0])));
    printf("contact %+.2g, rounded %+.2g, parted %+.2g, moved by at most %.2g\n",
           sqrt(closest_pair(&b, start)) - 1, sqrt(rounded) - 1, sqrt(closest) - 1, farthest);
    assert_true(closest >= 1);
    assert_true(farthest < 2e-6);
    mover_sweep(&b, &mover, 0, 100);
    mover_store(&b, &mover, parted);
    assert_true(closest_pair(&b, parted) >= 1);
    plugmc_counts counts;
    bench_expect(&b, mover_counts(&mover, &b.host, &counts, 0));
    assert_true(counts.accepted > counts.trials / 4);
    mover_end(&mover);
    bench_end(&b);
    free(start);
    free(parted);
}

/* Disks at close packing have no room for a quantum. */
static void a_jammed_start_is_refused(void **state)
{
    (void)state;
    const scenario s = {.dimension = 2,
                        .length = {8, 4 * 1.7320508075688772},
                        .cells = {6, 6},
                        .lattice = {8, 8},
                        .count = {64},
                        .diameter = {1},
                        .hard = 1,
                        .trials = 4,
                        .step = 0.2};
    bench b;
    bench_of(&b, &s);
    test_mover mover = mover_of(&b, &s);
    double *start = lattice_of(&b, &s);
    assert_int_equal(mover_take(&mover, &b.host, start), PLUGMC_ERROR_INPUT);
    if (!strstr(b.message, "so dense")) fail_msg("%s", b.message);
    mover_end(&mover);
    bench_end(&b);
    free(start);
}

/* ---- Systems it cannot take ------------------------------------------------------------------ */

static void assert_refused(const scenario *s, const char *expected)
{
    bench b;
    bench_of(&b, s);
    char settings[128];
    snprintf(settings, sizeof settings, "trials=%lld step=%.17g %s", (long long)s->trials, s->step,
             s->options ? s->options : "");
    test_mover mover = {0};
    int code = mover_try(&b, &mover, "checkerboard", settings);
    assert_int_equal(code, PLUGMC_ERROR_INPUT);
    if (!strstr(b.message, expected)) fail_msg("expected '%s' in '%s'", expected, b.message);
    mover_end(&mover);
    bench_end(&b);
}

static void cells_below_the_range_are_refused(void **state)
{
    (void)state;
    scenario s = disks_72;
    s.options = "cell=0.9";
    assert_refused(&s, "cell = 0.9 must be at least the range 1");
    s.options = "cell=4.6"; /* the box is 9.05 wide */
    assert_refused(&s, "below twice the cell 4.6");
}

static void more_particles_in_a_cell_than_slots_are_refused(void **state)
{
    (void)state;
    scenario s = crowded;
    s.count[0] = 1600; /* in 8 cells */
    assert_refused(&s,
                   "200 particles on average in a cell of edge 2.55 are more than the 192 that");
    assert_refused(&s, "the range 2.5 of the potential is too large");
    s = disks_224;
    s.options = "cell=7.9";
    s.count[0] = 800; /* in 4 */
    assert_refused(&s, "at this density the cell 7.9 is too large");
}

static void more_slots_than_an_int_counts_are_refused(void **state)
{
    (void)state;
    const scenario s = {.dimension = 2,
                        .length = {4e4, 4e4},
                        .count = {5},
                        .diameter = {1},
                        .hard = 1,
                        .trials = 4,
                        .step = 0.1};
    assert_refused(&s, "1 walkers of 5 particles need more than 2^31 cell slots, with 4 in each of "
                       "28286 x 28286 x 1 cells");
}

/* A liquid whose edge is below four times the cutoff of 4 has two cells along it, where 1360 particles
 * fit on average and not always, and 1700 never; 3113 in the smallest box with four. */
static void crowded_cells_are_told_with_the_box_that_has_narrower_ones(void **state)
{
    (void)state;
    static const char remedy[] =
        "edges of 16 or more (N = 3113 in a cube at this density) have narrower";
    scenario s = crowded;
    s.cutoff = 4;
    for (int a = 0; a < 3; a++) s.length[a] = cbrt(1700 / 0.76);
    s.count[0] = 1700;
    assert_refused(&s, remedy);

    for (int a = 0; a < 3; a++) s.length[a] = cbrt(1360 / 0.76);
    s.count[0] = 1360;
    bench b;
    bench_of(&b, &s);
    test_mover mover = mover_of(&b, &s);
    assert_int_equal(b.warnings, 1);
    if (!strstr(b.message, "170 particles on average in a cell of edge 6.07"))
        fail_msg("%s", b.message);
    if (!strstr(b.message, remedy)) fail_msg("%s", b.message);
    mover_end(&mover);
    bench_end(&b);
}

/* At the density of 5 disks in 1.6 x 1.25, edges of 2 need (2 / 1.25)^2 as many: 12.8. */
static void a_box_below_two_ranges_is_refused_with_the_smallest_system(void **state)
{
    (void)state;
    scenario s = {.dimension = 2,
                  .length = {1.6, 1.25},
                  .count = {5},
                  .diameter = {1},
                  .hard = 1,
                  .trials = 4,
                  .step = 0.1};
    assert_refused(&s, "N = 13 ");
    s = (scenario){.dimension = 3,
                   .length = {4, 2, 4},
                   .count = {6},
                   .diameter = {1},
                   .strength = 1,
                   .cutoff = 1.25,
                   .trials = 4,
                   .step = 0.1};
    assert_refused(&s, "N = 12 "); /* 6 (2.5 / 2)^3 = 11.7 */
}

static void a_step_of_half_a_cell_is_refused(void **state)
{
    (void)state;
    scenario s = disks_72;
    s.step = 0.5 * s.length[0] / s.cells[0];
    assert_refused(&s, "step = 0.565806 must be below half a cell");
    s = disks_72;
    s.length[1] = 8.6; /* half a cell is now 0.5375 along y */
    s.step = 0.55;
    assert_refused(&s, "which is 0.5375 here");
}

/* A trial move in three dimensions takes a block of random numbers, of which there are 256. */
static void more_trials_than_random_numbers_are_refused(void **state)
{
    (void)state;
    scenario s = spheres;
    s.trials = 257;
    assert_refused(&s, "at most 256");
}

TEST_MAIN(
    cmocka_unit_test(disks_72_decide_alike), cmocka_unit_test(disks_224_decide_alike),
    cmocka_unit_test(any_number_of_cells_decides_alike),
    cmocka_unit_test(any_number_of_trials_decides_alike), cmocka_unit_test(walkers_decide_alike),
    cmocka_unit_test(options_decide_alike), cmocka_unit_test(wide_cells_decide_alike),
    cmocka_unit_test(spheres_decide_alike), cmocka_unit_test(mixtures_decide_alike),
    cmocka_unit_test(soft_disks_decide_alike), cmocka_unit_test(soft_spheres_decide_alike),
    cmocka_unit_test(a_core_in_a_shell_decides_alike), cmocka_unit_test(crowded_cells_decide_alike),
    cmocka_unit_test(cold_particles_decide_alike),
    cmocka_unit_test(particles_on_the_edge_belong_to_one_cell),
    cmocka_unit_test(crowding_particles_decide_alike),
    cmocka_unit_test(a_dilute_cluster_decides_alike),
    cmocka_unit_test(any_number_of_threads_gives_the_same_chain),
    cmocka_unit_test(a_restored_chain_continues_bit_for_bit),
    cmocka_unit_test(setting_the_step_to_itself_changes_nothing),
    cmocka_unit_test(loading_what_was_stored_changes_nothing),
    cmocka_unit_test(nothing_overlaps_in_2000_sweeps),
    cmocka_unit_test(growing_cells_do_not_change_the_chain),
    cmocka_unit_test(cells_grow_up_to_64_slots), cmocka_unit_test(a_collapsed_system_is_refused),
    cmocka_unit_test(touching_particles_are_parted), cmocka_unit_test(a_jammed_start_is_refused),
    cmocka_unit_test(a_box_below_two_ranges_is_refused_with_the_smallest_system),
    cmocka_unit_test(cells_below_the_range_are_refused),
    cmocka_unit_test(more_particles_in_a_cell_than_slots_are_refused),
    cmocka_unit_test(more_slots_than_an_int_counts_are_refused),
    cmocka_unit_test(crowded_cells_are_told_with_the_box_that_has_narrower_ones),
    cmocka_unit_test(a_step_of_half_a_cell_is_refused),
    cmocka_unit_test(more_trials_than_random_numbers_are_refused))
