/* Hybrid Monte Carlo: exact results for oscillators, reversal bit for bit, threads, resumption, and
 * a liquid against single moves. Statistical tests have fixed seeds; one at 4 standard errors
 * raises a false alarm in 1 of 16,000 cases. */
#include "testing.h"

#include "movers.h"
#include "forces.h"
#include "liquids.h"
#include "../../plugins/movers/hmc/exact_sum.h"
#include "../../plugins/movers/hmc/hmc.h"

/* ---- Oscillators: a field made here ---------------------------------------------------------- */

typedef struct well {
    double stiffness; /* kT/length^2 */
    double centre;    /* of each coordinate */
    int lying;        /* 1: forces depend on how often one asks */
    int asked;
} well;

static int64_t well_energy(const void *instance, const plugmc_particles *p, double *energy)
{
    const well *w = instance;
    const double *axes[3] = {p->x, p->y, p->z};
    for (int64_t i = 0; i < p->n; i++)
        for (int d = 0; d < 3; d++) *energy += w->stiffness / 2 * pow(axes[d][i] - w->centre, 2);
    return 0;
}

static int well_derivatives(const void *instance, const plugmc_particle *p, plugmc_derivatives *out)
{
    well *w = (well *)instance;
    const double r[3] = {p->x - w->centre, p->y - w->centre, p->z - w->centre};
    const double wrong = w->lying && ++w->asked % 1000 == 0 ? 1e-9 : 0;
    for (int d = 0; d < 3; d++) {
        out->energy += w->stiffness / 2 * r[d] * r[d];
        out->gradient[d] += w->stiffness * r[d] + wrong;
    }
    return p->x > 19; /* a wall that nobody comes to */
}

static const plugmc_field well_field = {sizeof well_field,
                                        PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE, well_energy,
                                        well_derivatives};
static const plugmc_potential well_potential = {sizeof well_potential, NULL, &well_field, NULL};
static const plugmc_plugin well_plugin = {.real_size = sizeof(double),
                                          .kind = PLUGMC_POTENTIAL,
                                          .name = "well",
                                          .potential = &well_potential};

enum { WELLS = 100 };

static void begin_wells(bench *b, well *w)
{
    static const double masses[2] = {1, 4};
    bench_begin(b, 3, (double[3]){20, 20, 20}, 1, 5);
    bench_cube(b, 20);
    bench_species(b, "light", WELLS / 2, 0, 0);
    bench_species(b, "heavy", WELLS / 2, 0, 0);
    bench_masses(b, masses);
    b->terms[b->system.term_count++] =
        (plugmc_term){.label = "well", .plugin = &well_plugin, .instance = w, .sampled = 1};
}

/* State of walker 0. */
static hmc_state state_of(bench *b, test_mover *mover)
{
    hmc_state state;
    test_archive archive;
    mover_save(b, mover, &archive);
    for (int k = 0; k < archive.blobs; k++)
        if (!strcmp(archive.blob[k].name, "states"))
            memcpy(&state, archive.blob[k].data, sizeof state);
    archive_end(&archive);
    return state;
}

/* Of all walkers, so far. */
static uint64_t accepted_by(bench *b, test_mover *mover)
{
    plugmc_counts counts;
    bench_expect(b, mover->calls->counts(mover->instance, &b->host, &counts, 0));
    return counts.accepted;
}

/* Mean change of H of n leapfrog steps, from its matrix M on (x sqrt(k), p / sqrt(m)): half of
 * |M|^2 - 2, a degree of freedom. */
static double exact_change(double frequency, double step, int n)
{
    const double a = frequency * step;
    double m[2][2] = {{1, 0}, {0, 1}};
    for (int k = 0; k < n; k++)
        for (int c = 0; c < 2; c++) {
            double x = m[0][c], p = m[1][c];
            p -= a / 2 * x;
            x += a * p;
            p -= a / 2 * x;
            m[0][c] = x;
            m[1][c] = p;
        }
    return (m[0][0] * m[0][0] + m[0][1] * m[0][1] + m[1][0] * m[1][0] + m[1][1] * m[1][1] - 2) / 2;
}

typedef struct tally {
    double n, sum, squares;
} tally;

static void add(tally *t, double x)
{
    t->n++;
    t->sum += x;
    t->squares += x * x;
}
static double mean(const tally *t) { return t->sum / t->n; }
static double error(const tally *t)
{
    return sqrt((t->squares / t->n - mean(t) * mean(t)) / (t->n - 1));
}

/* Of `sweeps` trajectories. */
typedef struct oscillation {
    tally change, weight, accepted, square[2];
} oscillation;

static oscillation oscillate(double step, int steps, int sweeps)
{
    bench b;
    well w = {.stiffness = 4, .centre = 10};
    char settings[64];
    oscillation out = {0};
    static double r[3 * WELLS];
    begin_wells(&b, &w);
    snprintf(settings, sizeof settings, "time_step=%.17g steps=%d", step, steps);
    test_mover mover = mover_new(&b, "hmc", settings);
    for (int i = 0; i < 3 * WELLS; i++) r[i] = 10 + 0.5 * (i % 3 - 1);
    mover_load(&b, &mover, r);
    uint64_t accepted = 0;
    for (int s = 0; s < sweeps + 20; s++) {
        mover_sweep(&b, &mover, (uint64_t)s, 1);
        const hmc_state state = state_of(&b, &mover);
        const uint64_t before = accepted;
        accepted = accepted_by(&b, &mover);
        if (s < 20) continue;
        add(&out.change, state.change);
        add(&out.weight, exp(-state.change));
        add(&out.accepted, (double)(accepted - before));
        mover_store(&b, &mover, r);
        double square[2] = {0};
        for (int i = 0; i < 3 * WELLS; i++) square[i >= 3 * WELLS / 2] += pow(r[i] - 10, 2);
        for (int k = 0; k < 2; k++) add(&out.square[k], square[k] / (3 * WELLS / 2));
    }
    bench_end(&b);
    return out;
}

/* Frequencies are 2 and 1; a trajectory lasts about a quarter of the mean period, so that each is
 * nearly independent of the last; errors of x^2 are doubled for the rejected ones. */
static void oscillators_are_exact(void **state)
{
    (void)state;
    const double step = 0.32;
    double change[2];
    for (int half = 0; half < 2; half++) {
        const double h = half ? step / 2 : step;
        const int steps = half ? 8 : 4;
        const double exact = 150 * (exact_change(2, h, steps) + exact_change(1, h, steps));
        oscillation o = oscillate(h, steps, half ? 8000 : 4000);
        change[half] = mean(&o.change);
        assert_z("<change of H>", mean(&o.change), error(&o.change), exact, 4);
        assert_z("<exp(-change of H)>", mean(&o.weight), error(&o.weight), 1, 4);
        assert_z("acceptance, erfc(sqrt(<change>)/2)", mean(&o.accepted), error(&o.accepted),
                 erfc(sqrt(exact) / 2), 4);
        for (int k = 0; k < 2; k++)
            assert_z("<x^2>", mean(&o.square[k]), 2 * error(&o.square[k]), 0.25, 4);
    }
    printf("half the time step: <change of H> is %.2f times smaller, fourth order 16\n",
           change[0] / change[1]);
    assert_true(change[0] / change[1] > 11 && change[0] / change[1] < 21);
}

static void momenta_are_gaussian(void **state)
{
    (void)state;
    enum { N = 100000 };
    tally moment[4] = {{0}};
    for (uint32_t i = 0; i < N; i++) {
        int64_t p[3];
        hmc_momentum((plugmc_seed){1}, 0, 0, i, 3, 9, p);
        for (int d = 0; d < 3; d++) {
            const double x = (double)p[d] / HMC_MOMENTUM_UNIT / 3;
            add(&moment[0], x);
            add(&moment[1], x * x);
            add(&moment[2], x * x * x * x);
        }
        add(&moment[3], (double)p[0] * (double)p[1] / HMC_MOMENTUM_UNIT / HMC_MOMENTUM_UNIT / 9);
    }
    const double expected[4] = {0, 1, 3, 0};
    for (int k = 0; k < 4; k++)
        assert_z("moment", mean(&moment[k]), error(&moment[k]), expected[k], 4);
    for (int k = 1; k < 100000; k++) { /* the functions behind them */
        double s, c, t = k / 100000.0;
        hmc_sincos(t, &s, &c);
        assert_close(s, sin(2 * M_PI * t), 0, 4e-16 + 1e-15);
        assert_close(c, cos(2 * M_PI * t), 0, 4e-16 + 1e-15);
        assert_close(hmc_log(t), log(t), 1e-15, 0);
    }
}

/* ---- Liquids --------------------------------------------------------------------------------- */

static const char liquid[] = "epsilon=0.9 cutoff=2 truncation=force_shift";

static const shape shapes[] = {
    {"cube", 3, 4, 2, {{4.4, 0, 0}, {0, 4.4, 0}, {0, 0, 4.4}}},
    {"brick with many cells", 3, 5, 1, {{6.1, 0, 0}, {0, 6.5, 0}, {0, 0, 8.2}}},
    {"oblique", 3, 5, 1, {{6.1, 0, 0}, {1.5, 6.3, 0}, {-1.2, 0.8, 6.6}}},
    {"square", 2, 8, 1, {{9, 0, 0}, {0, 9, 0}, {0, 0, 1}}},
    {"cells in the middle", 3, 10, 1, {{11.5, 0, 0}, {0, 12, 0}, {0, 0, 13}}},
};

static test_mover start_liquid(bench *b, const shape *s, const char *settings, double **positions)
{
    bench_liquid(b, s);
    bench_expect(b, bench_configured(b, "lennard_jones", liquid));
    test_mover mover = mover_new(b, "hmc", settings);
    *positions = bench_positions(b);
    bench_lattice(b, s->side, 0.02, *positions);
    mover_load(b, &mover, *positions);
    return mover;
}

static size_t position_bytes(const bench *b)
{
    return (size_t)(3 * b->system.particles * b->system.walkers) * sizeof(double);
}

/* The mover checks it itself, positions and momenta, to the last bit; and what it does besides is
 * not changed by the check. */
static void trajectories_lead_back(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        bench b, plain;
        double *r, *same;
        test_mover mover =
            start_liquid(&b, &shapes[k], "steps=10 time_step=0.01 check_reversal=yes", &r);
        mover_sweep(&b, &mover, 0, 10);
        mover_store(&b, &mover, r);
        test_mover other = start_liquid(&plain, &shapes[k], "steps=10 time_step=0.01", &same);
        mover_sweep(&plain, &other, 0, 4);
        mover_sweep(&plain, &other, 4, 6);
        mover_store(&plain, &other, same);
        plugmc_counts counts;
        bench_expect(&b, mover_counts(&mover, &b.host, &counts, 0));
        printf("%s: %d of %d accepted\n", shapes[k].name, (int)counts.accepted, (int)counts.trials);
        assert_int_equal(counts.trials, 10 * shapes[k].walkers);
        assert_true(counts.accepted > 0);
        assert_memory_equal(r, same, position_bytes(&b));
        free(r), free(same);
        bench_end(&b), bench_end(&plain);
    }
}

static void forces_that_lie_are_noticed(void **state)
{
    (void)state;
    bench b;
    well w = {.stiffness = 4, .centre = 10, .lying = 1};
    static double r[3 * WELLS];
    begin_wells(&b, &w);
    test_mover mover = mover_new(&b, "hmc", "time_step=0.1 check_reversal=yes");
    for (int i = 0; i < 3 * WELLS; i++) r[i] = 10;
    mover_load(&b, &mover, r);
    assert_int_not_equal(mover_sweeps(&mover, &b.host, 0, 1), PLUGMC_OK);
    assert_non_null(strstr(b.message, "is not reversible"));
    bench_end(&b);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        double *r[3], energy[3][2];
        for (int t = 0; t < 3; t++) {
            bench b;
            bench_liquid(&b, &shapes[k]);
            b.system.threads = t + 1;
            bench_expect(&b, bench_configured(&b, "lennard_jones", liquid));
            test_mover mover = mover_new(&b, "hmc", "steps=7 time_step=0.01");
            r[t] = bench_positions(&b);
            bench_lattice(&b, shapes[k].side, 0.02, r[t]);
            mover_load(&b, &mover, r[t]);
            mover_sweep(&b, &mover, 0, 8);
            mover_store(&b, &mover, r[t]);
            bench_expect(&b,
                         mover.calls->driver->running_energy(mover.instance, &b.host, energy[t]));
            assert_memory_equal(r[t], r[0], position_bytes(&b));
            assert_memory_equal(energy[t], energy[0], (size_t)shapes[k].walkers * sizeof(double));
            bench_end(&b);
        }
        for (int t = 0; t < 3; t++) free(r[t]);
    }
}

/* The Lennard-Jones potential of a bench as one without `slopes`, whose pairs are computed twice, from cells. */
typedef struct without_slopes {
    plugmc_plugin plugin;
    plugmc_potential potential;
    plugmc_pair pair;
} without_slopes;

static void take_slopes_away(bench *b, without_slopes *w)
{
    w->plugin = *b->terms[0].plugin;
    w->potential = *w->plugin.potential;
    w->pair = *w->potential.pair;
    w->pair.slopes = NULL;
    w->potential.pair = &w->pair;
    w->plugin.potential = &w->potential;
    b->terms[0].plugin = &w->plugin;
}

/* Rounding of forces, and the order of sums, are all that differs. */
static void forces_from_lists_are_those_from_cells(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        double *r[2], energy[2][2], farthest = 0;
        int64_t coordinates = 0;
        for (int cells = 0; cells < 2; cells++) {
            bench b;
            without_slopes w;
            bench_liquid(&b, &shapes[k]);
            bench_expect(&b, bench_configured(&b, "lennard_jones", liquid));
            assert_non_null(b.terms[0].plugin->potential->pair->slopes);
            if (cells) take_slopes_away(&b, &w);
            test_mover mover = mover_new(&b, "hmc", "steps=40 time_step=0.004");
            r[cells] = bench_positions(&b);
            bench_lattice(&b, shapes[k].side, 0.02, r[cells]);
            mover_load(&b, &mover, r[cells]);
            mover_sweep(&b, &mover, 0, 1);
            mover_store(&b, &mover, r[cells]);
            bench_expect(
                &b, mover.calls->driver->running_energy(mover.instance, &b.host, energy[cells]));
            coordinates = (int64_t)(position_bytes(&b) / sizeof(double));
            assert_int_equal(accepted_by(&b, &mover), shapes[k].walkers);
            bench_end(&b);
        }
        for (int64_t i = 0; i < coordinates; i++)
            farthest = fmax(farthest, fabs(r[0][i] - r[1][i]));
        printf("%s: positions differ by %.2g, energies by %.2g\n", shapes[k].name, farthest,
               energy[0][0] - energy[1][0]);
        assert_true(farthest < 1e-7);
        for (int w = 0; w < shapes[k].walkers; w++)
            assert_close(energy[0][w], energy[1][w], 1e-9, 1e-6);
        free(r[0]), free(r[1]);
    }
}

/* A list that has become too narrow is made anew, and what had been in it before is no matter. */
static void where_lists_were_made_does_not_matter(void **state)
{
    (void)state;
    const shape *s = &shapes[PLUGMC_COUNT(shapes) - 1];
    double *r, *same;
    bench b, fresh;
    test_mover mover = start_liquid(&b, s, "steps=3 time_step=0.01", &r);
    for (int k = 0; k < 12; k++) {
        mover_sweep(&b, &mover, (uint64_t)k, 1);
        test_archive archive;
        mover_save(&b, &mover, &archive);
        test_mover other = start_liquid(&fresh, s, "steps=3 time_step=0.01", &same);
        mover_restore(&fresh, &other, &archive);
        mover_sweep(&b, &mover, 100, 1);
        mover_sweep(&fresh, &other, 100, 1);
        mover_store(&b, &mover, r);
        mover_store(&fresh, &other, same);
        assert_memory_equal(r, same, position_bytes(&b));
        archive_end(&archive);
        free(same);
        bench_end(&fresh);
    }
    free(r);
    bench_end(&b);
}

static void exact_sums_know_no_order(void **state)
{
    enum { TERMS = 1000 };
    double x[TERMS], first = 0;
    uint64_t random = 1;
    (void)state;
    for (int k = 0; k < TERMS; k++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        x[k] = ldexp((double)(int64_t)random, (int)(random >> 40 & 255) - 128);
    }
    x[0] = 5e-324, x[1] = -0.0, x[2] = 1e300, x[3] = -1e300, x[4] = 1e308, x[5] = -1e308;
    for (int step = 1; step < TERMS; step += 2) {
        if (step % 5 == 0) continue; /* such steps do not come to all terms */
        exact_sum part[2] = {0};
        for (int k = 0; k < TERMS; k++) exact_add(&part[k % 3 == 0], x[k * step % TERMS]);
        exact_merge(&part[0], &part[1]);
        const double total = exact_total(&part[0]);
        if (step == 1) first = total;
        assert_memory_equal(&total, &first, sizeof total);
    }
    exact_sum s = {0};
    exact_add(&s, 1e300), exact_add(&s, 1), exact_add(&s, -1e300), exact_add(&s, 0x1p-1074);
    assert_true(exact_total(&s) == 1);
    exact_add(&s, INFINITY);
    assert_true(exact_total(&s) == INFINITY);
    exact_add(&s, -INFINITY);
    assert_true(isnan(exact_total(&s)));
}

static void a_resumed_run_goes_on(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        static const char settings[] = "length=0.08 time_step=0.02";
        bench b, later;
        double *straight, *middle, *unused;
        test_archive archive, ends[2];
        test_mover mover = start_liquid(&b, &shapes[k], settings, &straight);
        mover_sweep(&b, &mover, 0, 5);
        mover_set_step(&b, &mover, 0.0123);
        mover_sweep(&b, &mover, 5, 5);
        middle = bench_positions(&b);
        mover_store(&b, &mover, middle);
        mover_save(&b, &mover, &archive);
        mover_sweep(&b, &mover, 10, 10);
        mover_store(&b, &mover, straight);
        plugmc_counts cleared; /* when they are is the core's, and no part of the state */
        bench_expect(&b, mover.calls->counts(mover.instance, &b.host, &cleared, 1));
        mover_save(&b, &mover, &ends[0]);

        test_mover again = start_liquid(&later, &shapes[k], settings, &unused);
        mover_load(&later, &again, middle);
        mover_restore(&later, &again, &archive);
        assert_close(again.steps[0], 0.0123, 0, 0);
        mover_sweep(&later, &again, 10, 10);
        mover_store(&later, &again, unused);
        mover_save(&later, &again, &ends[1]);
        assert_memory_equal(unused, straight, position_bytes(&b));
        assert_memory_not_equal(unused, middle, position_bytes(&b));
        for (int blob = 0; blob < ends[0].blobs; blob++) /* energies and changes of H among them */
            assert_memory_equal(ends[0].blob[blob].data, ends[1].blob[blob].data,
                                ends[0].blob[blob].bytes);
        archive_end(&archive), archive_end(&ends[0]), archive_end(&ends[1]);
        free(straight), free(middle), free(unused);
        bench_end(&b), bench_end(&later);
    }
}

/* The running energy is that of the positions, and so are the forces: a short trajectory conserves
 * H as the square of the time step says. */
static void energies_and_forces_belong_together(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        bench b;
        double *r, energy[2], change[2];
        for (int half = 0; half < 2; half++) {
            test_mover mover =
                start_liquid(&b, &shapes[k],
                             half ? "steps=40 time_step=0.00025" : "steps=20 time_step=0.0005", &r);
            mover_sweep(&b, &mover, 0, 1);
            mover_store(&b, &mover, r);
            bench_expect(&b, mover.calls->driver->running_energy(mover.instance, &b.host, energy));
            if (accepted_by(&b, &mover))
                assert_close(energy[0], bench_energy(&b, r, NULL, NULL), 1e-12, 1e-12);
            change[half] = state_of(&b, &mover).change;
            free(r);
            bench_end(&b);
        }
        printf("%s: change of H %.3g, with half the time step %.3g\n", shapes[k].name, change[0],
               change[1]);
        assert_true(fabs(change[0]) < 1e-3);
        assert_close(change[0] / change[1], 4, 0.1, 0);
    }
}

/* Mean energy and pressure of a liquid, in blocks. */
static void sample_liquid(const char *name, const char *settings, int skip, int sweeps, int every,
                          tally out[2])
{
    enum { BLOCKS = 20 };
    static const double mass = 1;
    bench b;
    double *r;
    bench_begin(&b, 3, (double[3]){4.3, 4.3, 4.3}, 1, 3);
    bench_cube(&b, 4.3);
    bench_species(&b, "A", 64, 1, 0);
    bench_masses(&b, &mass);
    bench_expect(&b,
                 bench_configured(&b, "lennard_jones", "epsilon=0.8 cutoff=2.1 truncation=shift"));
    test_mover mover = mover_new(&b, name, settings);
    r = bench_positions(&b);
    bench_lattice(&b, 4, 0, r);
    mover_load(&b, &mover, r);
    mover_sweep(&b, &mover, 0, (uint64_t)skip);
    const int samples = sweeps / every / BLOCKS;
    uint64_t at = (uint64_t)skip;
    for (int block = 0; block < BLOCKS; block++) {
        double sum[2] = {0};
        for (int s = 0; s < samples; s++) {
            double virial[3] = {0};
            mover_sweep(&b, &mover, at, (uint64_t)every);
            at += (uint64_t)every;
            mover_store(&b, &mover, r);
            sum[0] += bench_energy(&b, r, NULL, virial) / 64;
            sum[1] += 64 / b.system.box.volume +
                      (virial[0] + virial[1] + virial[2]) / (3 * b.system.box.volume);
        }
        add(&out[0], sum[0] / samples);
        add(&out[1], sum[1] / samples);
    }
    plugmc_counts counts;
    bench_expect(&b, mover_counts(&mover, &b.host, &counts, 0));
    printf("%s: energy %.4f(%.0f), pressure %.4f(%.0f), acceptance %.2f\n", name, mean(&out[0]),
           1e4 * error(&out[0]), mean(&out[1]), 1e4 * error(&out[1]),
           (double)counts.accepted / (double)counts.trials);
    free(r);
    bench_end(&b);
}

static void a_liquid_is_that_of_single_moves(void **state)
{
    (void)state;
    tally one[2] = {{0}}, all[2] = {{0}};
    sample_liquid("hmc", "time_step=0.015 steps=14", 100, 1400, 2, all);
    sample_liquid("serial", "step=0.2", 1000, 20000, 20, one);
    for (int k = 0; k < 2; k++)
        assert_z(k ? "pressure" : "energy", mean(&all[k]), hypot(error(&all[k]), error(&one[k])),
                 mean(&one[k]), 4);
}

/* ---- What cannot be, and tuning -------------------------------------------------------------- */

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    bench b;
    well w = {.stiffness = 4, .centre = 10};
    test_mover mover = {0};
    begin_wells(&b, &w);
    b.species[1].mass = 0;
    assert_int_not_equal(mover_try(&b, &mover, "hmc", ""), PLUGMC_OK);
    assert_non_null(strstr(b.message, "'heavy' has mass 0"));
    assert_int_not_equal(mover_try(&b, &mover, "hmc", "length=10 time_step=1e-6"), PLUGMC_OK);
    assert_non_null(strstr(b.message, "more than a million"));
    b.species[1].mass = 1;
    mover = mover_new(&b, "hmc", "");
    static double r[3 * WELLS];
    w.stiffness = NAN;
    assert_int_not_equal(mover_take(&mover, &b.host, r), PLUGMC_OK);
    assert_non_null(strstr(b.message, "not a number"));
    bench_end(&b);
}

/* What the core does in equilibration: the time step times acceptance over target. */
static void the_time_step_is_tuned(void **state)
{
    (void)state;
    bench b;
    well w = {.stiffness = 4, .centre = 10};
    static double r[3 * WELLS];
    begin_wells(&b, &w);
    test_mover mover = mover_new(&b, "hmc", "time_step=0.01 length=1");
    for (int i = 0; i < 3 * WELLS; i++) r[i] = 10 + 0.5 * (i % 3 - 1);
    mover_load(&b, &mover, r);
    const double target = parameter_real(mover.plugin, mover.instance, "target_acceptance");
    assert_close(target, 0.65, 0, 0);
    plugmc_counts counts;
    for (int round = 0; round < 20; round++) {
        mover_sweep(&b, &mover, (uint64_t)(200 * round), 200);
        bench_expect(&b, mover_counts(&mover, &b.host, &counts, 1));
        assert_int_equal(counts.trials, 200);
        const double factor = (double)counts.accepted / 200 / target;
        mover_set_step(&b, &mover, mover.steps[0] * fmin(2, fmax(0.5, factor)));
    }
    mover_sweep(&b, &mover, 4000, 2000);
    bench_expect(&b, mover_counts(&mover, &b.host, &counts, 1));
    printf("time step %.3g, acceptance %.3f\n", mover.steps[0], counts.accepted / 2000.0);
    assert_close(counts.accepted / 2000.0, 0.65, 0, 0.08);
    bench_end(&b);
}

/* What tuning comes to if it asks for more. */
static double largest_step(bench *b, const char *settings)
{
    test_mover mover = mover_new(b, "hmc", settings);
    mover_set_step(b, &mover, 1e6);
    return mover.steps[0];
}

/* A Lennard-Jones pair with kT = t epsilon above its least energy is at x = (sigma / r)^6 = (1 + sqrt(t)) / 2
 * at the nearest, where its energy has the second derivative 4 epsilon (156 x^2 - 42 x) x^(1/3). The
 * program looks at places that are 0.00125 apart, which is a hundredth of the step. */
static void the_largest_step_knows_masses_and_temperature(void **state)
{
    (void)state;
    static const struct {
        double kT, epsilon, masses[2];
    } of[] = {{1, 1, {1, 1}}, {4, 1, {1, 1}},   {0.25, 1, {1, 1}},
              {4, 4, {1, 1}}, {0.3, 2, {9, 5}}, {2, 2, {3, 7}}};
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        bench b;
        char settings[96];
        const double light = fmin(of[k].masses[0], of[k].masses[1]);
        const double x = (1 + sqrt(of[k].kT / of[k].epsilon)) / 2,
                     second = 4 * of[k].epsilon * (156 * x * x - 42 * x) * cbrt(x),
                     expected = 1 / sqrt(second * 2 / light);
        bench_begin(&b, 3, (double[3]){20, 20, 20}, 1, 5);
        bench_cube(&b, 20);
        b.system.temperature = of[k].kT;
        bench_species(&b, "A", 1, 1, 0);
        bench_species(&b, "B", 1, 1, 0);
        bench_masses(&b, of[k].masses);
        snprintf(settings, sizeof settings, "epsilon=%g cutoff=2.5 truncation=shift",
                 of[k].epsilon);
        bench_expect(&b, bench_configured(&b, "lennard_jones", settings));
        const double found = largest_step(&b, "");
        printf("kT %g, epsilon %g: %g, expected %g\n", of[k].kT, of[k].epsilon, found, expected);
        assert_close(found, expected, 0.01, 0);
        assert_close(largest_step(&b, "length=1e-3"), 5e-4, 1e-12, 0);
        bench_end(&b);
    }
    for (double kT = 0.25; kT <= 4; kT *= 4) { /* nobody meets anybody */
        bench b;
        well w = {.stiffness = 4, .centre = 10};
        begin_wells(&b, &w);
        b.system.temperature = kT;
        assert_close(largest_step(&b, ""), 0.05 * 20 * sqrt(1 / kT), 1e-12, 0);
        bench_end(&b);
    }
}

TEST_MAIN(cmocka_unit_test(momenta_are_gaussian), cmocka_unit_test(oscillators_are_exact),
          cmocka_unit_test(trajectories_lead_back), cmocka_unit_test(forces_that_lie_are_noticed),
          cmocka_unit_test(threads_do_not_matter),
          cmocka_unit_test(forces_from_lists_are_those_from_cells),
          cmocka_unit_test(where_lists_were_made_does_not_matter),
          cmocka_unit_test(exact_sums_know_no_order), cmocka_unit_test(a_resumed_run_goes_on),
          cmocka_unit_test(energies_and_forces_belong_together),
          cmocka_unit_test(a_liquid_is_that_of_single_moves),
          cmocka_unit_test(refuses_what_cannot_be), cmocka_unit_test(the_time_step_is_tuned),
          cmocka_unit_test(the_largest_step_knows_masses_and_temperature))
