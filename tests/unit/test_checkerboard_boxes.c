/* checkerboard in boxes that change: the chain in a box is the one of a run that began in it, and a
 * change of the box alone leaves every particle where it is among the cells. */
#include "testing.h"

#include "movers.h"

#include "../plugins/movers/checkerboard/random_choices.h"

enum { SWEEPS = 60 };

/* Particles of one system, in two boxes that are cut into as many cells. */
typedef struct scenario {
    int dimension;
    double first[3], second[3]; /* edges */
    int cells[3];
    int lattice[3]; /* columns, rows, layers */
    double diameter[2];
    double strength, cutoff; /* of a soft potential; 0: none */
    int hard;
    double step;
    const char *options;
} scenario;

static const scenario scenarios[] = {
    {2, {8.9, 9.1}, {9.3, 8.8}, {8, 8}, {7, 7}, {1, 1}, 0, 0, 1, 0.2, ""},
    {2, {8.9, 9.1}, {9.3, 8.8}, {8, 8}, {7, 8}, {1, 0.8}, 0, 0, 1, 0.2, ""},
    {2, {9.1, 9.1}, {9.5, 9.6}, {6, 6}, {7, 7}, {1, 0.9}, 2, 1.5, 1, 0.3, ""},
    {3, {4.9, 5.1, 5.2}, {5.3, 4.6, 4.8}, {4, 4, 4}, {4, 4, 4}, {1, 1}, 0, 0, 1, 0.2, ""},
    {3, {5.2, 5.1, 5.4}, {5.3, 5.8, 5.1}, {2, 2, 2}, {5, 4, 5}, {1, 1}, 2, 2.5, 0, 0.3, ""},
    {2, {9.1, 9.2}, {9.3, 9.6}, {4, 4}, {7, 7}, {1, 1}, 0, 0, 1, 0.2, "cell=2.2"},
};

static void begin(bench *b, const scenario *s, const double length[3], int walkers, int changing)
{
    char settings[96];
    const int64_t n = s->lattice[0] * s->lattice[1] * (s->dimension == 3 ? s->lattice[2] : 1);
    bench_begin(b, s->dimension, length, walkers, 99);
    b->system.changes = changing ? PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_POSITION : 0;
    bench_species(b, "A", n / 2, s->diameter[0], 1);
    bench_species(b, "B", n - n / 2, s->diameter[1], 1.5);
    if (s->hard) bench_potential(b, "hard_disk", "");
    snprintf(settings, sizeof settings, "strength=%.17g cutoff=%.17g", s->strength, s->cutoff);
    if (s->strength > 0) bench_potential(b, TEST_SOFT_DISK, settings);
}

static test_mover mover_of(bench *b, const scenario *s)
{
    char settings[96];
    snprintf(settings, sizeof settings, "step=%.17g %s", s->step, s->options);
    return mover_new(b, "checkerboard", settings);
}

/* The lattice, somewhere else in each walker, as part of the edges. */
static void place(const bench *b, const scenario *s, int w, const double length[3], double *r)
{
    for (int64_t i = 0; i < b->system.particles; i++) {
        const int64_t at[3] = {i % s->lattice[0], i / s->lattice[0] % s->lattice[1],
                               i / s->lattice[0] / s->lattice[1]};
        for (int a = 0; a < 3; a++)
            r[3 * i + a] =
                a < s->dimension
                    ? fmod((double)at[a] / s->lattice[a] + 0.3 * w + 0.0123, 1) * length[a]
                    : 0;
    }
}

/* Takes positions in these boxes [walkers][3]. */
static int takes(bench *b, const test_mover *mover, double *positions, const double (*length)[3],
                 uint32_t changed)
{
    plugmc_box boxes[2];
    lent l = {positions, boxes};
    for (int w = 0; w < b->system.walkers; w++) {
        boxes[w] = b->system.box;
        boxes[w].volume = 1;
        for (int a = 0; a < b->system.box.dimension; a++) {
            boxes[w].length[a] = length[w][a];
            boxes[w].volume *= length[w][a];
        }
    }
    const plugmc_state state = {.size = sizeof state,
                                .walkers = b->system.walkers,
                                .capacity = b->system.particles,
                                .array = lent_array,
                                .core = &l};
    return mover->calls->driver->load(mover->instance, &b->host, &state, changed);
}

static void assert_cells(bench *b, test_mover *mover, const int cells[3])
{
    test_archive archive;
    mover_save(b, mover, &archive);
    const int32_t *shape = archive.blob[0].data;
    for (int a = 0; a < b->system.box.dimension; a++) assert_int_equal(shape[a], cells[a]);
    archive_end(&archive);
}

/* Two walkers, one in each box; began in a third. Each goes where it goes in a run in its box alone. */
static void chains_are_those_of_the_box(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scenarios / sizeof *scenarios; k++) {
        const scenario *s = &scenarios[k];
        const double lengths[2][3] = {{s->first[0], s->first[1], s->first[2]},
                                      {s->second[0], s->second[1], s->second[2]}};
        double third[3];
        for (int a = 0; a < 3; a++) third[a] = 1.5 * s->first[a];
        bench b;
        begin(&b, s, third, 2, 1);
        test_mover mover = mover_of(&b, s);
        const int64_t n = 3 * b.system.particles;
        double *got = bench_positions(&b), *expected = bench_positions(&b);
        for (int w = 0; w < 2; w++) place(&b, s, w, lengths[w], got + n * w);
        bench_expect(&b,
                     takes(&b, &mover, got, lengths, PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_POSITION));
        mover_sweep(&b, &mover, 7, SWEEPS);
        mover_store(&b, &mover, got);
        assert_cells(&b, &mover, s->cells);
        for (int w = 0; w < 2; w++) {
            bench fixed;
            begin(&fixed, s, lengths[w], 2, 0);
            test_mover reference = mover_of(&fixed, s);
            for (int v = 0; v < 2; v++) place(&fixed, s, v, lengths[w], expected + n * v);
            mover_load(&fixed, &reference, expected);
            mover_sweep(&fixed, &reference, 7, SWEEPS);
            mover_store(&fixed, &reference, expected);
            assert_cells(&fixed, &reference, s->cells);
            if (memcmp(got + n * w, expected + n * w, (size_t)n * sizeof *got))
                fail_msg("case %zu: walker %d is elsewhere", k, w);
            mover_end(&reference);
            bench_end(&fixed);
        }
        mover_end(&mover);
        bench_end(&b);
        free(got);
        free(expected);
    }
}

/* Quanta of a position of walker w, from the corner of the box. */
static int64_t quanta(double x, double length, int cells)
{
    return llrint(x / length * cells * CB_QUANTA);
}

/* The box grows and shrinks by factors that have many digits, a hundred times, with some sweeps every now
 * and then: particles stay at their integer places. */
static void a_change_of_the_box_alone_moves_nobody(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scenarios / sizeof *scenarios; k++) {
        const scenario *s = &scenarios[k];
        double lengths[1][3] = {{s->first[0], s->first[1], s->first[2]}};
        bench b;
        begin(&b, s, lengths[0], 1, 1);
        test_mover mover = mover_of(&b, s);
        const int64_t n = 3 * b.system.particles;
        double *before = bench_positions(&b), *after = bench_positions(&b);
        place(&b, s, 0, lengths[0], before);
        const uint32_t changed = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_POSITION;
        bench_expect(&b, takes(&b, &mover, before, lengths, changed));
        for (int step = 0; step < 100; step++) {
            if (step % 10 == 0) mover_sweep(&b, &mover, 100 + (uint64_t)step, 3);
            mover_store(&b, &mover, before);
            double larger[1][3] = {{0, 0, 1}};
            for (int a = 0; a < s->dimension; a++)
                larger[0][a] = lengths[0][a] * (1 + 0.002 * sin(3.3 * step + a));
            for (int64_t i = 0; i < n; i++)
                after[i] = before[i] * (larger[0][i % 3] / lengths[0][i % 3]);
            if (s->dimension == 2)
                for (int64_t i = 2; i < n; i += 3) after[i] = 0;
            bench_expect(&b, takes(&b, &mover, after, larger, changed));
            mover_store(&b, &mover, after);
            for (int64_t i = 0; i < n; i++) {
                const int a = (int)(i % 3);
                if (a >= s->dimension) continue;
                assert_int_equal(quanta(after[i], larger[0][a], s->cells[a]),
                                 quanta(before[i], lengths[0][a], s->cells[a]));
            }
            memcpy(lengths, larger, sizeof lengths);
        }
        assert_cells(&b, &mover, s->cells);
        mover_end(&mover);
        bench_end(&b);
        free(before);
        free(after);
    }
}

/* Disks in contact: the box shrinks until they touch, to the last bit of double. The run goes on, and a
 * disk that floats take for overlapping moves away and never comes back. */
static void touching_disks_do_not_end_the_run(void **state)
{
    (void)state;
    const double lengths[1][3] = {{4, 4, 1}};
    bench b;
    bench_begin(&b, 2, lengths[0], 1, 3);
    b.system.changes = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_POSITION;
    bench_species(&b, "disk", 6, 1, 1);
    bench_potential(&b, "hard_disk", "");
    test_mover mover = mover_new(&b, "checkerboard", "step=0.3");
    double positions[18] = {0.1, 0.1, 0, 1.1, 0.1, 0, 2.1, 0.1, 0,
                            0.1, 2.1, 0, 1.1, 2.1, 0, 2.1, 2.1};
    bench_expect(
        &b, takes(&b, &mover, positions, lengths, PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_POSITION));
    double start[18];
    mover_store(&b, &mover, start);
    assert_true(closest_pair(&b, start) < 1 + 1e-7);
    for (uint64_t sweep = 0; sweep < 400; sweep++) mover_sweep(&b, &mover, sweep, 1);
    mover_store(&b, &mover, positions);
    for (int i = 0; i < 18; i++)
        if (i % 3 < 2) assert_true(positions[i] != start[i]);
    assert_true(closest_pair(&b, positions) >= 1);
    mover_end(&mover);
    bench_end(&b);
}

/* A step beyond half a cell is what fits into the cells that there are, and itself again when they are
 * wide again; what the core is told stays. */
static void the_step_fits_into_narrow_cells(void **state)
{
    (void)state;
    const scenario s = {2, {12, 12}, {8.1, 8.1}, {8, 8}, {5, 5},  {0.5, 0.5},
                        0, 0,        1,          0.8,    "cell=2"};
    const double narrow[1][3] = {{8.1, 8.1, 1}}, wide[1][3] = {{11.9, 11.9, 1}};
    plugmc_counts counts;
    bench b;
    begin(&b, &s, s.first, 1, 1);
    test_mover mover = mover_of(&b, &s);
    double *positions = bench_positions(&b), *moved = bench_positions(&b);
    mover_set_step(&b, &mover, 1e3);
    const double most = mover.steps[0];
    assert_true(fabs(most - 0.49 * 12 / 6) < 1e-12);
    place(&b, &s, 0, narrow[0], positions);
    bench_expect(
        &b, takes(&b, &mover, positions, narrow, PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_POSITION));
    assert_true(mover.steps[0] == most);
    for (uint64_t sweep = 0; sweep < 50; sweep++) {
        mover_store(&b, &mover, positions);
        mover_sweep(&b, &mover, sweep, 1);
        mover_store(&b, &mover, moved);
        for (int64_t i = 0; i < 3 * b.system.particles; i++)
            assert_true(fabs(remainder(moved[i] - positions[i], 8.1)) <= 4 * 0.49 * 8.1 / 4);
    }
    bench_expect(&b, mover_counts(&mover, &b.host, &counts, 0));
    assert_true(counts.accepted > 0);
    for (int64_t i = 0; i < 3 * b.system.particles; i++) positions[i] = moved[i] * (11.9 / 8.1);
    bench_expect(&b,
                 takes(&b, &mover, positions, wide, PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_POSITION));
    assert_true(mover.steps[0] == most);
    mover_end(&mover);
    bench_end(&b);
    free(positions);
    free(moved);
}

TEST_MAIN(cmocka_unit_test(chains_are_those_of_the_box),
          cmocka_unit_test(a_change_of_the_box_alone_moves_nobody),
          cmocka_unit_test(touching_disks_do_not_end_the_run),
          cmocka_unit_test(the_step_fits_into_narrow_cells))
