/* The movers of variational Monte Carlo and the Jastrow factor: the documented chain against one by
 * brute force, exact densities, inverse matrices, checkpoints, refusals; derivatives by
 * differences. */
#include "testing.h"

#include "quantum.h"

#include "../../plugins/determinants/blas.h"
#include "../../plugins/movers/vmc/vmc.h"

static const char *const movers[] = {"particle_by_particle", "quasi_simultaneous", "configuration"};
static const char jastrow[] = "like=0.28 0.22 0.17 0.12 0.08 0.05 0.03 0.012; "
                              "unlike=0.46 0.36 0.26 0.18 0.12 0.08 0.04 0.017; "
                              "chi=-0.2 -0.16 -0.14 -0.12 -0.1 -0.07 -0.04 -0.02; "
                              "ions=0.3 0.4 0.5 2.5 2.6 2.7";

/* n_up and n_down electrons in an orthorhombic box, or an oblique one. */
static void gas(bench *b, test_orbitals *t, int kind, int up, int down, int oblique, int walkers)
{
    const double length[3] = {4.1, 4.4, 4.7};
    const double vector[3][3] = {{4.0, 0.3, 0.2}, {1.1, 4.2, -0.4}, {-0.7, 0.9, 4.5}};
    quantum_begin(b, length, walkers, 4242);
    if (oblique) box_of_vectors(b, vector, 1);
    bench_species(b, "up", up, 0, -1);
    if (down) bench_species(b, "down", down, 0, -1);
    fill_waves(t, b, kind, up > down ? up : down);
    add_orbitals(b, t);
}

static test_mover vmc_mover(bench *b, const char *name, const char *settings)
{
    test_mover mover = mover_new(b, name, settings);
    return mover;
}

/* ---- The documented chain, a second time ----------------------------------------------------- */

static void displaced(const bench *b, int kind, double step, uint64_t sweep, int walker, int e,
                      double r[3])
{
    double v[3], square = 2;
    for (uint32_t draw = 0; square > 1; draw++) {
        plugmc_random u = plugmc_draw(b->system.seed, sweep, (uint32_t)walker, (uint32_t)e,
                                      PLUGMC_PURPOSE_TRIAL, draw);
        for (int d = 0; d < 3; d++) v[d] = (u.word[d] + 0.5) / 2147483648.0 - 1;
        square = kind == VMC_BALL ? v[0] * v[0] + v[1] * v[1] + v[2] * v[2] : 0;
        if (kind == VMC_GAUSSIAN) {
            double big[4];
            for (int k = 0; k < 4; k++) big[k] = (u.word[k] + (k % 2 ? 0 : 0.5)) / 4294967296.0;
            v[0] = sqrt(-2 * log(big[0])) * cos(2 * M_PI * big[1]);
            v[1] = sqrt(-2 * log(big[0])) * sin(2 * M_PI * big[1]);
            v[2] = sqrt(-2 * log(big[2])) * cos(2 * M_PI * big[3]);
        }
    }
    for (int d = 0; d < 3; d++) r[d] += step * v[d];
    plugmc_wrap(&b->system.box, r);
}

static double acceptance_number(const bench *b, uint64_t sweep, int walker, int e)
{
    plugmc_random u =
        plugmc_draw(b->system.seed, sweep, (uint32_t)walker, (uint32_t)e, PLUGMC_PURPOSE_ACCEPT, 0);
    return plugmc_uniform_double(u.word[0], u.word[1]);
}

enum { WAY_SEQUENTIAL, WAY_CONFIGURATION, WAY_SIMULTANEOUS };

/* Moves of one electron after the other that are forbidden, or allowed, only because another has
 * moved before in the sweep. */
static int barred, freed;

static void note_change_of_mind(const bench *b, const double *old, const double *trial, int e)
{
    double *first = malloc(3 * (size_t)b->system.particles * sizeof *first);
    memcpy(first, old, 3 * (size_t)b->system.particles * sizeof *first);
    memcpy(first + 3 * e, trial + 3 * e, 3 * sizeof *first);
    const int before = isinf(brute_energy(b, first)), now = isinf(brute_energy(b, trial));
    barred += now && !before;
    freed += before && !now;
    free(first);
}

/* Sweeps of one walker at x [particles][3]; returns the number of moves accepted. */
static int replay(const bench *b, int way, int kind, double step, int walker, uint64_t sweeps,
                  double *x)
{
    const int n = (int)b->system.particles;
    double *old = calloc((size_t)n, 3 * sizeof *old), *trial = calloc((size_t)n, 3 * sizeof *trial);
    int accepted = 0;
    for (uint64_t sweep = 0; sweep < sweeps; sweep++) {
        memcpy(old, x, 3 * (size_t)n * sizeof *x);
        for (int e = 0; e < n; e++) {
            const double *from = way == WAY_SEQUENTIAL ? x : old;
            if (way != WAY_CONFIGURATION || e == 0) memcpy(trial, from, 3 * (size_t)n * sizeof *x);
            displaced(b, kind, step, sweep, walker, e, trial + 3 * e);
            if (way == WAY_CONFIGURATION && e + 1 < n) continue;
            if (way == WAY_SEQUENTIAL) note_change_of_mind(b, old, trial, e);
            const double ratio = exp(brute_energy(b, from) - brute_energy(b, trial));
            const int number = way == WAY_CONFIGURATION ? 0 : e;
            if (acceptance_number(b, sweep, walker, number) >= ratio) continue;
            accepted++;
            if (way == WAY_CONFIGURATION)
                memcpy(x, trial, 3 * (size_t)n * sizeof *x);
            else
                memcpy(x + 3 * e, trial + 3 * e, 3 * sizeof *x);
        }
    }
    free(old);
    free(trial);
    return accepted;
}

enum { WALKERS = 2 };

/* A mover over what there is, from positions x, which are freed. */
static void follow_chain(bench *b, const char *mover_name, const char *settings, int way, int kind,
                         double step, double *x)
{
    enum { SWEEPS = 12 };
    test_mover mover = vmc_mover(b, mover_name, settings);
    double *y = bench_positions(b), energy[WALKERS];
    const int64_t n = b->system.particles;
    mover_load(b, &mover, x);
    mover_sweep(b, &mover, 0, 5);
    mover_sweep(b, &mover, 5, SWEEPS - 5);
    mover_store(b, &mover, y);
    bench_expect(b, mover.calls->driver->running_energy(mover.instance, &b->host, energy));
    int accepted = 0;
    for (int w = 0; w < WALKERS; w++) {
        accepted += replay(b, way, kind, step, w, SWEEPS, x + 3 * n * w);
        for (int64_t i = 0; i < 3 * n; i++)
            assert_close(y[3 * n * w + i], x[3 * n * w + i], 0, 1e-12);
        assert_close(energy[w], brute_energy(b, y + 3 * n * w), 1e-10, 1e-10);
    }
    plugmc_counts counts;
    mover_counts(&mover, &b->host, &counts, 1);
    assert_int_equal(counts.accepted, accepted);
    assert_int_equal(counts.trials, SWEEPS * WALKERS * (way == WAY_CONFIGURATION ? 1 : n));
    assert_in_range(accepted, counts.trials / 10, counts.trials * 9 / 10);
    free(x), free(y);
}

static void check_chain(int orbitals, int oblique, int down, const char *mover_name,
                        const char *settings, int way, int kind, double step)
{
    bench b;
    test_orbitals t;
    gas(&b, &t, orbitals, 5, down, oblique, WALKERS);
    quantum_term(&b, "jastrow", jastrow, 1);
    follow_chain(&b, mover_name, settings, way, kind, step, random_positions(&b, 1));
    bench_end(&b);
}

static void electrons_follow_the_documented_chain(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        check_chain(PLANE_WAVES, 0, 3, movers[m], "moves=gaussian step=0.9", WAY_SEQUENTIAL,
                    VMC_GAUSSIAN, 0.9);
        check_chain(PLANE_WAVES, 1, 4, movers[m], "moves=ball step=2 block=2 refresh=5",
                    WAY_SEQUENTIAL, VMC_BALL, 2);
        check_chain(STANDING_WAVES, 0, 5, movers[m], "moves=cube step=1.5 block=1 refresh=1000",
                    WAY_SEQUENTIAL, VMC_CUBE, 1.5);
        check_chain(STANDING_WAVES, 1, 0, movers[m], "moves=gaussian step=0.9 block=3",
                    WAY_SEQUENTIAL, VMC_GAUSSIAN, 0.9);
    }
}

/* An expansion in determinants of the orbitals beside it. */
static plugmc_term *add_sum(bench *b, const char *terms)
{
    plugmc_term *sum = quantum_term(b, "multideterminant", terms, 1);
    bench_expect(b, sum->plugin->prepare(sum->instance, &b->host));
    return sum;
}

/* 5 and `down` electrons in 9 orbitals. */
static void sum_of_waves(bench *b, test_orbitals *t, int kind, int oblique, int down)
{
    gas(b, t, kind, 5, down, oblique, WALKERS);
    fill_waves(t, b, kind, 9);
    add_sum(b, down == 0 ? "excitations=5>6/- 4>7,5>8/- 2>9,3>6,5>7/-; coefficients=-0.6 0.7 0.8"
                         : "excitations=5>6/3>4 4>7/- -/3>5,2>9 5>8,4>9/1>4 3>6,4>8,5>9/- 5>6/3>5; "
                           "coefficients=-0.4 0.3 0.7 0.2 -0.5 0.9");
}

static void sums_of_determinants_follow_the_documented_chain(void **state)
{
    (void)state;
    static const struct {
        int mover, kind, oblique, down, way, moves;
        const char *settings;
        double step;
    } cases[] = {
        {0, PLANE_WAVES, 0, 3, WAY_SEQUENTIAL, VMC_GAUSSIAN, "moves=gaussian step=0.9", 0.9},
        {1, PLANE_WAVES, 1, 3, WAY_SEQUENTIAL, VMC_BALL, "moves=ball step=2 block=2 refresh=5", 2},
        {1, STANDING_WAVES, 0, 3, WAY_SEQUENTIAL, VMC_CUBE,
         "moves=cube step=1.5 block=1 refresh=1000", 1.5},
        {0, STANDING_WAVES, 1, 0, WAY_SEQUENTIAL, VMC_GAUSSIAN, "moves=gaussian step=0.9 block=3",
         0.9},
        {2, PLANE_WAVES, 1, 3, WAY_CONFIGURATION, VMC_GAUSSIAN, "moves=gaussian step=0.25", 0.25},
        {2, STANDING_WAVES, 0, 3, WAY_CONFIGURATION, VMC_BALL, "moves=ball step=0.5 refresh=3",
         0.5},
        {1, STANDING_WAVES, 1, 3, WAY_SIMULTANEOUS, VMC_BALL,
         "acceptance=simultaneous moves=ball step=1.1", 1.1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        bench b;
        test_orbitals t;
        sum_of_waves(&b, &t, cases[k].kind, cases[k].oblique, cases[k].down);
        quantum_term(&b, "jastrow", jastrow, 1);
        follow_chain(&b, movers[cases[k].mover], cases[k].settings, cases[k].way, cases[k].moves,
                     cases[k].step, random_positions(&b, 1));
        bench_end(&b);
    }
}

static void configurations_follow_the_documented_chain(void **state)
{
    (void)state;
    check_chain(PLANE_WAVES, 1, 3, movers[2], "moves=gaussian step=0.25", WAY_CONFIGURATION,
                VMC_GAUSSIAN, 0.25);
    check_chain(STANDING_WAVES, 0, 5, movers[2], "moves=ball step=0.5 refresh=3", WAY_CONFIGURATION,
                VMC_BALL, 0.5);
}

static void simultaneous_acceptance_looks_at_the_old_configuration(void **state)
{
    (void)state;
    check_chain(PLANE_WAVES, 0, 3, movers[1], "acceptance=simultaneous moves=cube step=0.8",
                WAY_SIMULTANEOUS, VMC_CUBE, 0.8);
    check_chain(STANDING_WAVES, 1, 4, movers[1], "acceptance=simultaneous moves=ball step=1.1",
                WAY_SIMULTANEOUS, VMC_BALL, 1.1);
}

/* Where electrons one above the other are nearer than 1.4 the energy is infinite. */
static void infinite_energies_are_rejected_exactly(void **state)
{
    (void)state;
    static const struct {
        int mover, orbitals, oblique, way;
        const char *settings;
        double step;
    } cases[] = {
        {0, PLANE_WAVES, 0, WAY_SEQUENTIAL, "step=0.9", 0.9},
        {1, PLANE_WAVES, 0, WAY_SEQUENTIAL, "step=0.9", 0.9},
        {1, STANDING_WAVES, 1, WAY_SEQUENTIAL, "step=0.7 block=3", 0.7},
        {2, STANDING_WAVES, 0, WAY_CONFIGURATION, "step=0.15", 0.15},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        bench b;
        test_orbitals t;
        gas(&b, &t, cases[k].orbitals, 7, 5, cases[k].oblique, WALKERS);
        quantum_term(&b, "jastrow", jastrow, 1);
        quantum_term(&b, TEST_OWN_PLUGINS "/test_hole",
                     "strength=0.5; cutoff=1.8; hole=1.4; inside=infinity", 1);
        barred = freed = 0;
        follow_chain(&b, movers[cases[k].mover], cases[k].settings, cases[k].way, VMC_GAUSSIAN,
                     cases[k].step, allowed_positions(&b, 1));
        printf("%d moves barred by those before, %d made free\n", barred, freed);
        if (cases[k].way == WAY_SEQUENTIAL) assert_true(barred > 3 && freed > 3);
        bench_end(&b);
    }
}

/* Out of a sphere a move is rejected, whatever orbitals and pair energies are there: the chain is that of
 * orbitals and pairs that have numbers everywhere. */
static void what_is_no_number_outside_is_never_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *mover, *settings;
    } cases[] = {{"particle_by_particle", "step=0.8"},
                 {"quasi_simultaneous", "step=0.8 block=3 refresh=5"},
                 {"quasi_simultaneous", "acceptance=simultaneous step=0.6"},
                 {"configuration", "step=0.3"}};
    enum { UP = 5, DOWN = 4, SWEEPS = 20 };
    const double radius = 1.6;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double x[2][3 * (UP + DOWN) * WALKERS];
        for (int ends = 0; ends < 2; ends++) {
            bench b;
            test_orbitals t;
            plugmc_counts counts;
            gas(&b, &t, PLANE_WAVES, UP, DOWN, 0, WALKERS);
            b.system.box.domain = PLUGMC_DOMAIN_SPHERE;
            b.system.box.radius = radius;
            quantum_term(&b, TEST_OWN_PLUGINS "/test_hole",
                         ends ? "strength=0.5; cutoff=9; hole=0; beyond=3.2"
                              : "strength=0.5; cutoff=9; hole=0",
                         1);
            if (ends) t.beyond = radius;
            test_mover mover = vmc_mover(&b, cases[k].mover, cases[k].settings);
            double *start = random_positions(&b, 2);
            mover_load(&b, &mover, start);
            mover_sweep(&b, &mover, 0, SWEEPS);
            mover_store(&b, &mover, x[ends]);
            mover_counts(&mover, &b.host, &counts, 1);
            assert_true(counts.accepted > 0 && counts.accepted < counts.trials);
            free(start);
            bench_end(&b);
        }
        assert_memory_equal(x[0], x[1], sizeof x[0]);
    }
}

/* ---- The two sequential movers --------------------------------------------------------------- */

static void proposals_evaluated_before_give_the_same_decisions(void **state)
{
    (void)state;
    enum { WALKERS = 5, UP = 27, DOWN = 19, SWEEPS = 30 };
    double *x[2];
    plugmc_counts counts[2];
    for (int m = 0; m < 2; m++) {
        bench b;
        test_orbitals t;
        gas(&b, &t, PLANE_WAVES, UP, DOWN, 0, WALKERS);
        quantum_term(&b, "jastrow", jastrow, 1);
        b.system.threads = 1 + m;
        test_mover mover = vmc_mover(&b, movers[m], "step=0.4 block=8 refresh=16");
        double *start = random_positions(&b, 2);
        mover_load(&b, &mover, start);
        t.calls = 0;
        mover_sweep(&b, &mover, 0, SWEEPS);
        if (m) assert_int_equal(t.calls, 2 * SWEEPS + 2 * (SWEEPS / 16));
        x[m] = bench_positions(&b);
        mover_store(&b, &mover, x[m]);
        mover_counts(&mover, &b.host, &counts[m], 1);
        free(start);
        bench_end(&b);
    }
    assert_memory_equal(x[0], x[1], 3 * WALKERS * (UP + DOWN) * sizeof(double));
    assert_int_equal(counts[0].accepted, counts[1].accepted);
    printf("%llu of %llu accepted\n", (unsigned long long)counts[0].accepted,
           (unsigned long long)counts[0].trials);
    free(x[0]), free(x[1]);
}

/* In single precision decisions may differ only where a ratio is within 1e-6 of its number. */
static void orbitals_in_single_precision_take_nearly_the_same_chain(void **state)
{
    (void)state;
    double *x[2];
    for (int m = 0; m < 2; m++) {
        bench b;
        test_orbitals t;
        gas(&b, &t, PLANE_WAVES, 7, 7, 0, 1);
        test_mover mover = vmc_mover(&b, movers[1], m ? "precision=single" : "precision=double");
        double *start = random_positions(&b, 2);
        mover_load(&b, &mover, start);
        mover_sweep(&b, &mover, 0, 20);
        x[m] = bench_positions(&b);
        mover_store(&b, &mover, x[m]);
        double energy;
        mover.calls->driver->running_energy(mover.instance, &b.host, &energy);
        assert_close(energy, brute_energy(&b, x[m]), 0, m ? 1e-4 : 1e-10);
        if (m) assert_true(fabs(energy - brute_energy(&b, x[m])) > 1e-9);
        free(start);
        bench_end(&b);
    }
    assert_memory_equal(x[0], x[1], 3 * 14 * sizeof(double));
    free(x[0]), free(x[1]);
}

/* ---- The inverse ----------------------------------------------------------------------------- */

static void kept_inverses_equal_fresh_ones(void **state)
{
    (void)state;
    static const char *const blocks[] = {"block=1", "block=4", "block=32"};
    for (int way = 0; way < 6; way++) {
        bench b;
        test_orbitals t;
        char settings[64];
        gas(&b, &t, way % 2 ? PLANE_WAVES : STANDING_WAVES, 27, 19, 0, 1);
        snprintf(settings, sizeof settings, "step=0.6 refresh=100000 %s", blocks[way / 2]);
        test_mover mover = vmc_mover(&b, movers[way % 2], settings);
        double *x = random_positions(&b, 3);
        mover_load(&b, &mover, x);
        mover_sweep(&b, &mover, 0, 40);
        mover_store(&b, &mover, x);
        const vmc *v = mover.instance;
        for (int spin = 0; spin < 2; spin++) {
            const slater *s = &v->walkers[0].spin[spin];
            double complex fresh[27 * 27];
            double largest = 0, difference = 0;
            const int n = (int)s->n;
            orbital_matrix(&t, x + 3 * b.first[spin], n, fresh);
            const double ln_square = 2 * log(cabs(invert_in_place(fresh, n)));
            for (int e = 0; e < n; e++)
                for (int o = 0; o < n; o++) {
                    const int at = e * n + o;
                    const double complex kept =
                        s->is_complex ? s->inverse[2 * at] + I * s->inverse[2 * at + 1]
                                      : s->inverse[at];
                    difference = fmax(difference, cabs(kept - fresh[o * n + e]));
                    largest = fmax(largest, cabs(kept));
                }
            printf("%s, %s: %.1g of %.1g\n", blocks[way / 2], way % 2 ? "complex" : "real",
                   difference, largest);
            assert_true(difference < 1e-10 * largest);
            assert_close(s->ln_square, ln_square, 1e-11, 1e-10);
        }
        free(x);
        bench_end(&b);
    }
}

static void drift_beyond_what_is_allowed_ends_the_run(void **state)
{
    (void)state;
    bench b;
    test_orbitals t;
    gas(&b, &t, PLANE_WAVES, 7, 7, 0, 1);
    test_mover mover = vmc_mover(&b, movers[0], "refresh=4 max_error=1e-300");
    double *x = random_positions(&b, 3);
    mover_load(&b, &mover, x);
    assert_int_equal(mover_sweeps(&mover, &b.host, 0, 10), PLUGMC_ERROR_STATE);
    assert_non_null(strstr(b.message, "has grown to"));
    free(x);
    bench_end(&b);
}

/* One number of one matrix of the first of three walkers, whatever comes after it. */
static void an_inverse_that_is_not_a_number_ends_the_run(void **state)
{
    (void)state;
    bench b;
    test_orbitals t;
    gas(&b, &t, PLANE_WAVES, 7, 7, 0, 3);
    test_mover mover = vmc_mover(&b, movers[0], "refresh=4");
    double *x = random_positions(&b, 3);
    mover_load(&b, &mover, x);
    mover_sweep(&b, &mover, 0, 4);
    const vmc *v = mover.instance;
    v->walkers[0].spin[0].inverse[0] = NAN;
    assert_int_equal(mover_sweeps(&mover, &b.host, 4, 1), PLUGMC_ERROR_STATE);
    assert_non_null(strstr(b.message, "of walker 0 has grown to inf"));
    free(x);
    bench_end(&b);
}

/* ---- The density ----------------------------------------------------------------------------- */

/* Two electrons of one spin in exp(0) and exp(i k x): |Psi|^2 goes as 1 - cos k(x_1 - x_2). Each
 * bin is within 4.5 errors from independent walkers: 10 bins, 3 movers; false alarms below 2e-3. */
static void two_electrons_have_the_exact_density(void **state)
{
    (void)state;
    enum { WALKERS = 64, BINS = 10, SWEEPS = 800, EVERY = 2 };
    for (int m = 0; m < 3; m++) {
        bench b;
        test_orbitals t = {.kind = PLANE_WAVES, .count = 2};
        static double counts[BINS][WALKERS];
        const double length[3] = {3, 4, 5};
        quantum_begin(&b, length, WALKERS, 77 + m);
        bench_species(&b, "up", 2, 0, -1);
        t.k[1][0] = 2 * M_PI / 3;
        add_orbitals(&b, &t);
        test_mover mover = vmc_mover(&b, movers[m], "moves=ball step=1.2");
        double *x = random_positions(&b, 3);
        memset(counts, 0, sizeof counts);
        mover_load(&b, &mover, x);
        mover_sweep(&b, &mover, 0, 30);
        for (uint64_t s = 0; s < SWEEPS; s += EVERY) {
            mover_sweep(&b, &mover, 30 + s, EVERY);
            mover_store(&b, &mover, x);
            for (int w = 0; w < WALKERS; w++) {
                const double d = (x[6 * w] - x[6 * w + 3]) / 3;
                counts[(int)((d - floor(d)) * BINS) % BINS][w]++;
            }
        }
        for (int k = 0; k < BINS; k++) {
            double sum = 0, squares = 0;
            const double low = 2 * M_PI * k / BINS, high = 2 * M_PI * (k + 1) / BINS;
            const double exact = (high - low - sin(high) + sin(low)) / (2 * M_PI);
            for (int w = 0; w < WALKERS; w++) {
                sum += counts[k][w] * EVERY / SWEEPS;
                squares += counts[k][w] * counts[k][w] * EVERY * EVERY / SWEEPS / SWEEPS;
            }
            const double mean = sum / WALKERS,
                         error = sqrt((squares / WALKERS - mean * mean) / (WALKERS - 1));
            assert_z(movers[m], mean, error, exact, 4.5);
        }
        free(x);
        bench_end(&b);
    }
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

static void a_resumed_chain_is_the_one_never_stopped(void **state)
{
    (void)state;
    static const char *const settings[] = {"step=0.5 refresh=7 block=3",
                                           "step=0.5 refresh=7 block=3", "step=0.1 refresh=7"};
    for (int m = 0; m < 3; m++) {
        bench b;
        test_orbitals t;
        test_archive archive;
        gas(&b, &t, PLANE_WAVES, 7, 5, 0, 2);
        quantum_term(&b, "jastrow", jastrow, 1);
        test_mover mover = vmc_mover(&b, movers[m], settings[m]),
                   other = vmc_mover(&b, movers[m], settings[m]);
        double *x = random_positions(&b, 5), *y = bench_positions(&b), e[2][2];
        mover_load(&b, &mover, x);
        for (uint64_t stop = 0; stop < 33; stop += 11) {
            mover_sweep(&b, &mover, stop, 5);
            mover_set_step(&b, &mover, 0.4 - 0.01 * stop);
            mover_sweep(&b, &mover, stop + 5, 5);
            mover_store(&b, &mover, x);
            mover_save(&b, &mover, &archive);
            mover_load(&b, &other, x);
            mover_restore(&b, &other, &archive);
            mover_sweep(&b, &mover, stop + 10, 1);
            mover_sweep(&b, &other, stop + 10, 1);
            mover_store(&b, &mover, x);
            mover_store(&b, &other, y);
            assert_memory_equal(x, y, 2 * 36 * sizeof(double));
            mover.calls->driver->running_energy(mover.instance, &b.host, e[0]);
            other.calls->driver->running_energy(other.instance, &b.host, e[1]);
            assert_memory_equal(e[0], e[1], sizeof e[0]);
            assert_true(other.steps[0] == mover.steps[0]);
            archive_end(&archive);
        }
        assert_int_equal(b.warnings, 0);
        free(x), free(y);
        bench_end(&b);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void expect_refusal(bench *b, const char *words)
{
    test_mover mover = {0};
    assert_int_equal(mover_try(b, &mover, movers[1], ""), PLUGMC_ERROR_INPUT);
    if (!strstr(b->message, words)) fail_msg("'%s' is not in: %s", words, b->message);
    bench_end(b);
}

static void what_cannot_be_sampled_is_refused(void **state)
{
    (void)state;
    bench b;
    test_orbitals t;
    const plugmc_total total = {.size = sizeof total};
    const plugmc_potential whole = {.size = sizeof whole, .total = &total};
    const plugmc_plugin plugin = {.size = sizeof plugin, .potential = &whole};
    gas(&b, &t, PLANE_WAVES, 7, 7, 0, 1);
    b.system.term_count = 0;
    expect_refusal(&b, "no potential has orbitals");
    gas(&b, &t, PLANE_WAVES, 7, 7, 0, 1);
    bench_species(&b, "muon", 1, 0, -1);
    expect_refusal(&b, "electrons need two species, one for each spin, but there are 3");
    gas(&b, &t, PLANE_WAVES, 7, 5, 0, 1);
    t.count = 6;
    expect_refusal(&b, "has only 6 orbitals for species 'up', which has 7 electrons");
    gas(&b, &t, PLANE_WAVES, 7, 5, 0, 1);
    b.system.box.dimension = 2;
    expect_refusal(&b, "three dimensions");
    gas(&b, &t, PLANE_WAVES, 7, 5, 0, 1);
    b.terms[b.system.term_count++] = (plugmc_term){"ewald", &plugin, NULL, NULL, NULL, 1};
    expect_refusal(&b, "potential 'ewald' is a many-body term");
}

static void dependent_orbitals_are_refused(void **state)
{
    (void)state;
    bench b;
    test_orbitals t;
    gas(&b, &t, PLANE_WAVES, 7, 5, 0, 1);
    test_mover mover = vmc_mover(&b, movers[0], "");
    double *x = random_positions(&b, 5);
    memcpy(x + 3, x, 3 * sizeof *x);
    assert_int_equal(mover_take(&mover, &b.host, x), PLUGMC_ERROR_INPUT);
    assert_non_null(strstr(b.message, "species 'up' are linearly dependent"));
    free(x);
    bench_end(&b);
}

/* ---- The Jastrow factor ---------------------------------------------------------------------- */

static void the_spline_has_its_cusp_and_ends_smoothly(void **state)
{
    (void)state;
    bench b;
    const double length[3] = {8, 8, 8};
    quantum_begin(&b, length, 1, 1);
    plugmc_term *term =
        quantum_term(&b, "jastrow", "like=0.5 0.3 0.2 0.1; unlike=0.6 0.4 0.2 0.1", 1);
    const plugmc_pair *pair = term->plugin->potential->pair;
    assert_close(pair->range(term->instance), 4, 1e-15, 0);
    for (int unlike = 0; unlike < 2; unlike++) {
        const double zero = 0;
        const int32_t kind = unlike;
        double r[] = {0, 1e-5, 4 - 1e-4, 3.9, 1.6}, y[] = {0, 0, 0, 3.9, 0}, energy[5] = {0};
        for (int k = 0; k < 5; k++) {
            const plugmc_particle probe = {0, 0, 0, -1, 0, 0};
            const plugmc_particles other = {1, &r[k], &y[k], &zero, &zero, &zero, &kind};
            pair->energy(term->instance, &b.system.box, 1, &probe, &other, &energy[k]);
        }
        /* (E(1e-5) - E(0)) / 1e-5 is twice the cusp of u */
        assert_close((energy[1] - energy[0]) / 1e-5, unlike ? -1.0 : -0.5, 1e-4, 0);
        assert_true(energy[2] > 0 && energy[2] < 1e-11 && energy[3] == 0);
        /* the third knot: (p1 + 4 p2 + p3) / 6, twice */
        assert_close(energy[4], unlike ? (0.4 + 0.8 + 0.1) / 3 : (0.3 + 0.8 + 0.1) / 3, 1e-14, 0);
    }
    bench_end(&b);
}

/* Central differences of step h have errors of order h^2. */
static void jastrow_derivatives_equal_differences(void **state)
{
    (void)state;
    for (int oblique = 0; oblique < 2; oblique++) {
        bench b;
        test_orbitals t;
        gas(&b, &t, PLANE_WAVES, 7, 5, oblique, 1);
        plugmc_term *term = quantum_term(&b, "jastrow", jastrow, 1);
        const plugmc_pair *pair = term->plugin->potential->pair;
        const plugmc_field *field = term->plugin->potential->field;
        double *x = random_positions(&b, 9), zeros[12] = {0}, soa[3][12];
        int32_t species[12];
        for (int i = 0; i < 12; i++) {
            species[i] = i >= 7;
            for (int d = 0; d < 3; d++) soa[d][i] = x[3 * i + d];
        }
        for (int i = 0; i < 12; i++) {
            const plugmc_particles others = {i, soa[0], soa[1], soa[2], zeros, zeros, species};
            const double h = 1e-4;
            plugmc_derivatives out = {0};
            double energy[7] = {0}, laplacian = 0;
            plugmc_particle probe = {x[3 * i], x[3 * i + 1], x[3 * i + 2], 0, 0, species[i]};
            pair->derivatives(term->instance, &b.system.box, 1, 1, &probe, &others, &out);
            field->derivatives(term->instance, &probe, &out);
            for (int k = 0; k < 7; k++) {
                double r[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
                if (k < 6) r[k / 2] += k % 2 ? -h : h;
                plugmc_wrap(&b.system.box, r);
                const plugmc_particle p = {r[0], r[1], r[2], 0, 0, species[i]};
                const plugmc_particles self = {1, r, r + 1, r + 2, zeros, zeros, species + i};
                pair->energy(term->instance, &b.system.box, 1, &p, &others, &energy[k]);
                field->energy(term->instance, &self, &energy[k]);
            }
            for (int d = 0; d < 3; d++) {
                assert_close(out.gradient[d], (energy[2 * d] - energy[2 * d + 1]) / (2 * h), 1e-5,
                             1e-6);
                laplacian += (energy[2 * d] + energy[2 * d + 1] - 2 * energy[6]) / (h * h);
            }
            assert_close(out.energy, energy[6], 1e-13, 0);
            assert_close(out.laplacian, laplacian, 1e-3, 2e-3);
        }
        free(x);
        bench_end(&b);
    }
}

/* chi of an ion and all its images, whatever the place of the ion in the cell, and tiled. */
static void ions_are_summed_over_their_images(void **state)
{
    (void)state;
    bench b;
    const double vector[3][3] = {{4.0, 0.3, 0.2}, {1.1, 4.2, -0.4}, {-0.7, 0.9, 4.5}};
    const double length[3] = {4, 4, 4};
    quantum_begin(&b, length, 1, 1);
    box_of_vectors(&b, vector, 1);
    const char *settings[] = {"chi=-0.3 -0.2 -0.1; chi_cutoff=7; ions=0.1 0.2 0.3",
                              "chi=-0.3 -0.2 -0.1; chi_cutoff=7; ions=-3.9 -0.1 0.1",
                              "chi=-0.3 -0.2 -0.1; chi_cutoff=1.3; tile=2 1 1; ions=0.1 0.2 0.3",
                              "chi=-0.3 -0.2 -0.1; chi_cutoff=1.3; ions=0.1 0.2 0.3 2.1 0.35 0.4"};
    plugmc_term *terms[4];
    for (int k = 0; k < 4; k++) terms[k] = quantum_term(&b, "jastrow", settings[k], 1);
    for (uint32_t i = 0; i < 20; i++) {
        double energy[4] = {0}, direct = 0, zero = 0, r[3] = {0};
        int32_t species = 0;
        for (int d = 0; d < 3; d++)
            for (int e = 0; e < 3; e++)
                r[e] += random_number(3, 3 * i + (uint32_t)d) * vector[d][e];
        const plugmc_particles self = {1, r, r + 1, r + 2, &zero, &zero, &species};
        for (int k = 0; k < 4; k++)
            terms[k]->plugin->potential->field->energy(terms[k]->instance, &self, &energy[k]);
        for (int m = 0; m < 729; m++) {
            const double n[3] = {m % 9 - 4, m / 9 % 9 - 4, m / 81 - 4};
            double square = 0;
            for (int e = 0; e < 3; e++) {
                double d = r[e] - (double[]){0.1, 0.2, 0.3}[e] - n[0] * vector[0][e] -
                           n[1] * vector[1][e] - n[2] * vector[2][e];
                square += d * d;
            }
            const double q[7] = {-0.2, -0.3, -0.2, -0.1, 0, 0, 0}, s = sqrt(square) * 4 / 7;
            const int j = (int)s;
            const double u = s - j;
            if (j > 3) continue;
            direct +=
                (q[j] * (1 - u) * (1 - u) * (1 - u) + q[j + 1] * (3 * u * u * u - 6 * u * u + 4) +
                 q[j + 2] * (-3 * u * u * u + 3 * u * u + 3 * u + 1) + q[j + 3] * u * u * u) /
                3;
        }
        assert_close(energy[0], direct, 1e-12, 0);
        assert_close(energy[1], direct, 1e-12, 0);
        assert_close(energy[2], energy[3], 1e-12, 1e-15);
    }
    bench_end(&b);
}

static void jastrow_factors_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "there are no coefficients"},
        {"like=0.1", "like needs at least two coefficients"},
        {"like=0.1 0.2; unlike=0.1 0.2 0.3", "like has 2 coefficients but unlike has 3"},
        {"like=0.1 0.2; u_cutoff=5", "u_cutoff = 5 exceeds the distance to the nearest image, 4"},
        {"chi=0.1 0.2", "give ions"},
        {"chi=0.1 0.2; ions=1 2", "ions has 2 numbers"},
        {"like=0.1 0.2; ions=1 2 3", "but no chi"},
        {"chi=0.1 0.2; ions=1 2 3; tile=1 2 1.5", "three whole numbers"},
        {"file=/nowhere/at/all", "cannot be opened"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        bench b;
        const double length[3] = {8, 8, 9};
        quantum_begin(&b, length, 1, 1);
        assert_int_equal(try_term(&b, "jastrow", cases[k][0], 1), PLUGMC_ERROR_INPUT);
        if (!strstr(b.message, cases[k][1])) fail_msg("'%s' is not in: %s", cases[k][1], b.message);
        bench_end(&b);
    }
    bench b;
    quantum_sphere(&b, 5, 1, 1);
    assert_int_equal(try_term(&b, "jastrow", "like=0.1 0.2", 1), PLUGMC_ERROR_INPUT);
    assert_non_null(strstr(b.message, "u_cutoff must be given"));
    bench_end(&b);
}

static void coefficients_come_from_a_file_too(void **state)
{
    (void)state;
    bench b;
    char path[] = "/tmp/plugmc_jastrow_XXXXXX", settings[64];
    const double length[3] = {8, 8, 8};
    FILE *out = fdopen(mkstemp(path), "w");
    fprintf(out,
            "# u of like spins\nlike 0.5 0.3\nlike 0.2 0.1 # the rest\n\nunlike 0.6 0.4 0.2 0.1\n");
    fclose(out);
    snprintf(settings, sizeof settings, "file=%s", path);
    quantum_begin(&b, length, 1, 1);
    plugmc_term *a = quantum_term(&b, "jastrow", settings, 1),
                *c = quantum_term(&b, "jastrow", "like=0.5 0.3 0.2 0.1; unlike=0.6 0.4 0.2 0.1", 1);
    for (int k = 0; k < 40; k++) {
        double r = 0.11 * k, zero = 0, energy[2] = {0};
        const int32_t kind = k % 2;
        const plugmc_particle probe = {0, 0, 0, -1, 0, 0};
        const plugmc_particles other = {1, &r, &zero, &zero, &zero, &zero, &kind};
        a->plugin->potential->pair->energy(a->instance, &b.system.box, 1, &probe, &other,
                                           &energy[0]);
        c->plugin->potential->pair->energy(c->instance, &b.system.box, 1, &probe, &other,
                                           &energy[1]);
        assert_true(energy[0] == energy[1]);
    }
    out = fopen(path, "a");
    fprintf(out, "chi 0.1 0.2x\n");
    fclose(out);
    assert_int_equal(try_term(&b, "jastrow", settings, 1), PLUGMC_ERROR_INPUT);
    assert_non_null(strstr(b.message, "line 6 has something that is not a number"));
    remove(path);
    bench_end(&b);
}

static void a_processor_that_openblas_does_not_know_is_told(void **state)
{
    (void)state;
    assert_string_equal(blas_better_kernels("Prescott", 1, 1), "SKYLAKEX");
    assert_string_equal(blas_better_kernels("PRESCOTT", 1, 0), "HASWELL");
    assert_null(blas_better_kernels("Prescott", 0, 0)); /* it is one */
    assert_null(blas_better_kernels("Haswell", 1, 1));
    assert_null(blas_better_kernels("SapphireRapids", 1, 1));
}

TEST_MAIN(cmocka_unit_test(electrons_follow_the_documented_chain),
          cmocka_unit_test(sums_of_determinants_follow_the_documented_chain),
          cmocka_unit_test(configurations_follow_the_documented_chain),
          cmocka_unit_test(simultaneous_acceptance_looks_at_the_old_configuration),
          cmocka_unit_test(infinite_energies_are_rejected_exactly),
          cmocka_unit_test(what_is_no_number_outside_is_never_asked_for),
          cmocka_unit_test(proposals_evaluated_before_give_the_same_decisions),
          cmocka_unit_test(orbitals_in_single_precision_take_nearly_the_same_chain),
          cmocka_unit_test(kept_inverses_equal_fresh_ones),
          cmocka_unit_test(drift_beyond_what_is_allowed_ends_the_run),
          cmocka_unit_test(an_inverse_that_is_not_a_number_ends_the_run),
          cmocka_unit_test(two_electrons_have_the_exact_density),
          cmocka_unit_test(a_resumed_chain_is_the_one_never_stopped),
          cmocka_unit_test(what_cannot_be_sampled_is_refused),
          cmocka_unit_test(dependent_orbitals_are_refused),
          cmocka_unit_test(the_spline_has_its_cusp_and_ends_smoothly),
          cmocka_unit_test(jastrow_derivatives_equal_differences),
          cmocka_unit_test(ions_are_summed_over_their_images),
          cmocka_unit_test(jastrow_factors_that_cannot_be_are_refused),
          cmocka_unit_test(coefficients_come_from_a_file_too),
          cmocka_unit_test(a_processor_that_openblas_does_not_know_is_told))
