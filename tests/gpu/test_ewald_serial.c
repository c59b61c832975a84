/* Single moves in sums over waves on a GPU: the same chain as the mover serial on the CPU, move by
 * move; energies that are kept; resumption; how fast it is. Skipped without a GPU. */
#include "testing.h"

#include "place.h"

/* ---- Ions ------------------------------------------------------------------------------------ */

typedef struct shape {
    const char *name;
    int side, walkers, cores;
    double vector[3][3];
} shape;

/* 64 is one whole batch, 125 one and a part, 27 less than one. */
static const shape shapes[] = {
    {"64 ions with cores, 2 walkers", 4, 2, 1, {{8, 0, 0}, {0, 8, 0}, {0, 0, 8}}},
    {"125 ions, a brick", 5, 1, 1, {{9, 0, 0}, {0, 10, 0}, {0, 0, 11}}},
    {"27 ions", 3, 1, 1, {{5, 0, 0}, {0, 5, 0}, {0, 0, 5}}},
    {"125 soft ions, oblique", 5, 1, 0, {{9, 0, 0}, {2, 9, 0}, {-1.5, 1, 9}}},
};

static void begin_ions(place *p, const shape *s)
{
    bench *b = &p->b;
    const int n = s->side * s->side * s->side;
    bench_begin(b, 3, (double[3]){1, 1, 1}, s->walkers, 17);
    bench_vectors(b, s->vector);
    bench_species(b, "A", n / 2, 1, 1);
    bench_species(b, "B", n - n / 2, 1, -1);
    if (s->cores) bench_expect(b, bench_configured(b, "hard_disk", ""));
    bench_expect(b, bench_configured(b, "lennard_jones", "epsilon=0.5 cutoff=2.2"));
    bench_expect(
        b, bench_configured(b, "coulomb_ewald", "bjerrum_length=2 cutoff=2.4 tolerance=1e-4"));
}

/* Decisions are the same unless a random number lies within rounding of its limit. */
static void the_chain_is_that_of_serial(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        static place cpu, gpu;
        begin_ions(&cpu, &shapes[k]);
        begin_ions(&gpu, &shapes[k]);
        double *r = bench_positions(&cpu.b), *q = bench_positions(&cpu.b);
        bench_lattice(&cpu.b, shapes[k].side, 0, r);
        start(&cpu, "serial", "order=sequential step=0.5", 0, r);
        start(&gpu, "ewald_serial", "step=0.5", 1, r);
        mover_sweep(&cpu.b, &cpu.mover, 0, 30);
        mover_sweep(&gpu.b, &gpu.mover, 0, 1);
        mover_sweep(&gpu.b, &gpu.mover, 1, 29);
        fetch(&cpu, r);
        fetch(&gpu, q);
        printf("%s: %llu of %llu accepted\n", shapes[k].name,
               (unsigned long long)counts_of(&gpu).accepted,
               (unsigned long long)counts_of(&gpu).trials);
        assert_int_equal(counts_of(&gpu).trials, counts_of(&cpu).trials);
        assert_int_equal(counts_of(&gpu).accepted, counts_of(&cpu).accepted);
        assert_true(counts_of(&gpu).accepted < counts_of(&gpu).trials * 9 / 10);
        assert_memory_equal(q, r, count_of(&cpu.b) * sizeof(double));
        free(r), free(q);
        finish(&cpu), finish(&gpu);
    }
}

/* 10^5 moves; then the energy that was kept is that of the positions, and a run that was stopped is
 * the run. */
static void energies_are_kept_and_runs_resumed(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        static place one, later;
        test_archive archive;
        double energy[2], again[2];
        begin_ions(&one, &shapes[k]);
        begin_ions(&later, &shapes[k]);
        double *r = bench_positions(&one.b), *middle = bench_positions(&one.b);
        bench_lattice(&one.b, shapes[k].side, 0, r);
        const uint64_t half = 50000 / (uint64_t)one.b.system.particles;
        start(&one, "ewald_serial", "step=0.5", 1, r);
        mover_sweep(&one.b, &one.mover, 0, half);
        fetch(&one, middle);
        mover_save(&one.b, &one.mover, &archive);
        mover_sweep(&one.b, &one.mover, half, half);
        fetch(&one, r);
        bench_expect(&one.b, one.mover.calls->driver->running_energy(one.mover.instance,
                                                                     &one.b.host, energy));
        one.b.system.walkers = 1; /* one at a time */
        for (int w = 0; w < shapes[k].walkers; w++) {
            const double fresh =
                bench_energy(&one.b, r + 3 * one.b.system.particles * w, NULL, NULL);
            printf("%s: energy %.14g kept, %.14g fresh\n", shapes[k].name, energy[w], fresh);
            assert_close(energy[w], fresh, 1e-10, 0);
        }
        one.b.system.walkers = shapes[k].walkers;

        start(&later, "ewald_serial", "step=0.5", 1, middle);
        mover_restore(&later.b, &later.mover, &archive);
        mover_sweep(&later.b, &later.mover, half, half);
        fetch(&later, middle);
        bench_expect(&later.b, later.mover.calls->driver->running_energy(later.mover.instance,
                                                                         &later.b.host, again));
        assert_memory_equal(middle, r, count_of(&one.b) * sizeof(double));
        assert_memory_equal(again, energy, (size_t)shapes[k].walkers * sizeof(double));
        archive_end(&archive);
        free(r), free(middle);
        finish(&one), finish(&later);
    }
}

static void trial_moves_a_second(void **state)
{
    (void)state;
    static const int sides[] = {10, 16, 24};
    for (int k = 0; k < 3; k++) {
        static place p;
        const int n = sides[k] * sides[k] * sides[k];
        char settings[128];
        bench_begin(&p.b, 3, (double[3]){1, 1, 1}, 1, 17);
        bench_cube(&p.b, 2.5 * sides[k]);
        bench_species(&p.b, "A", n / 2, 1, 1);
        bench_species(&p.b, "B", n / 2, 1, -1);
        bench_expect(&p.b, bench_configured(&p.b, "hard_disk", ""));
        snprintf(settings, sizeof settings, "bjerrum_length=2 cutoff=%g tolerance=1e-4",
                 0.6 * sides[k]);
        bench_expect(&p.b, bench_configured(&p.b, "coulomb_ewald", settings));
        double *r = bench_positions(&p.b);
        bench_lattice(&p.b, sides[k], 0, r);
        start(&p, "ewald_serial", "step=0.8", 1, r);
        mover_sweep(&p.b, &p.mover, 0, 2);
        double begin = seconds();
        mover_sweep(&p.b, &p.mover, 2, 10);
        printf("%d ions: %.3g trial moves/s\n", n, 10 * n / (seconds() - begin));
        assert_int_equal(counts_of(&p).trials, 12 * n);
        free(r);
        finish(&p);
    }
}

GPU_TEST_MAIN(cmocka_unit_test(the_chain_is_that_of_serial),
              cmocka_unit_test(energies_are_kept_and_runs_resumed),
              cmocka_unit_test(trial_moves_a_second))
