/* brush on the CPU: decision for decision the sequential Metropolis sweep, whatever the size of a
 * group and the number of threads; single precision against double in the same situations; energies
 * that are kept; restarts; exact distributions; what it refuses. */
#include "testing.h"

#include "movers.h"
#include "forces.h"
#include "brush.h"

static plugmc_counts counts_of(bench *b, test_mover *mover)
{
    plugmc_counts counts;
    bench_expect(b, mover_counts(mover, &b->host, &counts, 1));
    return counts;
}

static test_mover brush_with(bench *b, const char *precision, int64_t group, double step)
{
    char settings[200];
    snprintf(settings, sizeof settings, "precision=%s group_size=%lld step=%.17g refresh=0",
             precision, (long long)group, step);
    return mover_new(b, "brush", settings);
}

static test_mover serial_with(bench *b, double step)
{
    char settings[100];
    snprintf(settings, sizeof settings, "order=sequential step=%.17g", step);
    return mover_new(b, "serial", settings);
}

static size_t bytes_of(const bench *b)
{
    return (size_t)(3 * b->system.particles * b->system.walkers) * sizeof(double);
}

/* ---- Double precision: the decisions of serial ----------------------------------------------- */

enum { LOOKS = 2 };

/* Places of serial after each number of sweeps. */
static void serial_chain(const electrolyte *e, const int sweeps[LOOKS], double *start,
                         double *chain[LOOKS], double *acceptance)
{
    bench b;
    electrolyte_begin(&b, e, 1, 1);
    double *places = random_places(&b);
    memcpy(start, places, bytes_of(&b));
    test_mover mover = serial_with(&b, e->step);
    mover_load(&b, &mover, places);
    for (int k = 0; k < LOOKS; k++) {
        const int done = k ? sweeps[k - 1] : 0;
        mover_sweep(&b, &mover, (uint64_t)done, (uint64_t)(sweeps[k] - done));
        mover_store(&b, &mover, chain[k]);
    }
    const plugmc_counts counts = counts_of(&b, &mover);
    *acceptance = (double)counts.accepted / (double)counts.trials;
    free(places);
    electrolyte_end(&b);
}

/* Places are equal only if every decision was; the same to the bit, since no place is rounded. */
static void brush_takes(const electrolyte *e, const int64_t *groups, int group_count,
                        int most_threads, const int sweeps[LOOKS])
{
    static double start[3072], expected[LOOKS][3072], got[3072];
    double *chain[LOOKS] = {expected[0], expected[1]}, acceptance;
    serial_chain(e, sweeps, start, chain, &acceptance);
    printf("%s: %.3f accepted\n", e->name, acceptance);
    assert_true(acceptance > 0.05 && acceptance < 0.95);
    for (int g = 0; g < group_count; g++)
        for (int threads = 1; threads <= most_threads; threads++) {
            bench b;
            electrolyte_begin(&b, e, 1, threads);
            test_mover mover = brush_with(&b, "double", groups[g], e->step);
            mover_load(&b, &mover, start);
            for (int k = 0; k < (threads == 1 ? LOOKS : 1); k++) {
                const int done = k ? sweeps[k - 1] : 0;
                mover_sweep(&b, &mover, (uint64_t)done, (uint64_t)(sweeps[k] - done));
                mover_store(&b, &mover, got);
                if (memcmp(got, expected[k], bytes_of(&b)))
                    fail_msg("%s, groups of %lld, %d threads: not serial's places after sweep %d",
                             e->name, (long long)groups[g], threads, sweeps[k]);
            }
            electrolyte_end(&b);
        }
}

static void decisions_are_those_of_serial_in_a_sphere(void **state)
{
    (void)state;
    const int64_t groups[] = {1, 7, 64, 333, 1000, 4096};
    brush_takes(&in_a_sphere, groups, 6, 3, (const int[]){1, 100});
}

static void decisions_are_those_of_serial_elsewhere(void **state)
{
    (void)state;
    const struct {
        const electrolyte *e;
        int sweeps[LOOKS];
    } cases[] = {{&in_a_box, {2, 12}},
                 {&in_a_disk, {2, 12}},
                 {&in_a_square, {2, 12}},
                 {&in_an_oblique_box, {1, 3}},
                 {&of_finite_range, {2, 12}},
                 {&in_a_field, {2, 12}},
                 {&of_a_table_that_ends, {2, 12}}};
    const int64_t groups[] = {64, 333};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        brush_takes(cases[k].e, groups, 2, 2, cases[k].sweeps);
}

static void one_particle_moves_as_with_serial(void **state)
{
    (void)state;
    const electrolyte alone = {
        .name = "one ion",
        .dimension = 3,
        .radius = 3,
        .species = {{1, 1, 2}},
        .potential = {{"hard_disk", ""}, {"coulomb", "bjerrum_length=2"}, {"spherical_wall", ""}},
        .step = 1.5};
    const int64_t groups[] = {1, 64};
    brush_takes(&alone, groups, 2, 3, (const int[]){50, 500});
    bench b;
    electrolyte_begin(&b, &alone, 1, 1);
    test_mover mover = brush_with(&b, "single", 64, alone.step);
    double *places = bench_positions(&b), energy = NAN;
    mover_load(&b, &mover, places);
    mover_sweep(&b, &mover, 0, 500);
    mover_store(&b, &mover, places);
    bench_expect(&b, mover.calls->driver->running_energy(mover.instance, &b.host, &energy));
    assert_true(energy == 0);
    assert_true(places[0] != 0 && hypot(hypot(places[0], places[1]), places[2]) <= 2.5);
    free(places);
    electrolyte_end(&b);
}

/* ---- Single precision ------------------------------------------------------------------------ */

static void is_on_the_quanta(const bench *b, const brush_domain *domain, const double *places)
{
    for (int64_t i = 0; i < 3 * b->system.particles * b->system.walkers; i++)
        if (rint(places[i] / domain->quantum) * domain->quantum != places[i])
            fail_msg("coordinate %lld is %.17g: no multiple of %g", (long long)i, places[i],
                     domain->quantum);
    assert_no_overlaps(b, places);
}

/* A change of energy in float is right to some 1e-5 kT; of 1e5 decisions about one has its
 * threshold so near, since the density of change - threshold at 0 is some 0.3. Four or more that
 * differ are expected in one of 50 cases at worst; seeds are fixed. */
static void follows(const electrolyte *e, int64_t group, int threads, int sweeps)
{
    bench b;
    tally seen = {0};
    electrolyte_begin(&b, e, 1, threads);
    const brush_domain domain = domain_with(&b, 1);
    double *before = random_places(&b), *after = bench_positions(&b), energy;
    test_mover first = serial_with(&b, e->step), mover = brush_with(&b, "single", group, e->step);
    mover_load(&b, &first, before); /* from random places to usual energies */
    mover_sweep(&b, &first, 1000, (uint64_t)sweeps);
    mover_store(&b, &first, before);
    mover_load(&b, &mover, before);
    mover_store(&b, &mover, before);
    is_on_the_quanta(&b, &domain, before);
    bench_expect(&b, mover.calls->driver->running_energy(mover.instance, &b.host, &energy));
    for (uint64_t s = 0; s < (uint64_t)sweeps; s++) {
        mover_sweep(&b, &mover, s, 1);
        mover_store(&b, &mover, after);
        follow(&b, &domain, e->step, s, 0, 1, before, after, 1e-4, &seen);
    }
    is_on_the_quanta(&b, &domain, after);
    const plugmc_counts counts = counts_of(&b, &mover);
    assert_int_equal(counts.trials, seen.trials);
    assert_int_equal(counts.accepted, seen.accepted);
    const double fresh = energy_of_places(&b, after);
    bench_expect(&b, mover.calls->driver->running_energy(mover.instance, &b.host, &energy));
    printf("%s: %lld of %lld decisions differ, at most %.1e kT; %.3f accepted; energy %.6f, drift "
           "%.1e\n",
           e->name, (long long)seen.ambiguous, (long long)seen.trials, seen.farthest,
           (double)seen.accepted / (double)seen.trials, fresh, energy - fresh);
    assert_true(seen.ambiguous <= 3);
    /* rounding of a change, some 1e-5 kT, added up at random over the moves accepted */
    assert_close(energy, fresh, 0, 3e-6 * sqrt((double)seen.accepted) + 1e-9 * fabs(fresh));
    free(before), free(after);
    electrolyte_end(&b);
}

static void single_precision_decides_like_double(void **state)
{
    (void)state;
    follows(&in_a_sphere, 64, 1, 20);
    follows(&in_a_sphere, 333, 2, 20);
    follows(&in_a_box, 64, 1, 20);
    follows(&in_a_disk, 7, 3, 5);
    follows(&in_a_square, 1000, 1, 20);
    follows(&in_an_oblique_box, 64, 1, 2);
    follows(&of_finite_range, 64, 1, 20);
    follows(&in_a_field, 64, 2, 20);
}

static void the_chain_does_not_depend_on_threads_or_calls(void **state)
{
    (void)state;
    double *first = NULL;
    for (int way = 0; way < 4; way++) {
        const int threads = (const int[]){1, 3, 8, 2}[way]; /* 8 share the particles of 5 walkers */
        bench b;
        electrolyte_begin(&b, &in_a_sphere, 5, threads);
        double *x = random_places(&b);
        test_mover mover = brush_with(&b, "single", 50, in_a_sphere.step);
        mover_load(&b, &mover, x);
        for (uint64_t s = 0; s < 6; s += way == 3 ? 2 : 6)
            mover_sweep(&b, &mover, s, way == 3 ? 2 : 6);
        mover_store(&b, &mover, x);
        if (!first) {
            first = x;
            for (int w = 1; w < 5; w++) assert_memory_not_equal(x, x + 3000 * w, 3000 * sizeof *x);
        } else {
            assert_memory_equal(first, x, bytes_of(&b));
            free(x);
        }
        electrolyte_end(&b);
    }
    free(first);
}

/* ---- Energy ---------------------------------------------------------------------------------- */

static void the_running_energy_is_a_fresh_sum(void **state)
{
    (void)state;
    const electrolyte *cases[] = {&in_a_sphere, &in_a_box, &in_a_field};
    for (int k = 0; k < 3; k++) {
        bench b;
        double running[2], fresh, first[2];
        electrolyte_begin(&b, cases[k], 2, 1);
        double *x = random_places(&b);
        test_mover mover = brush_with(&b, "double", 64, 3 * cases[k]->step); /* many rejections */
        mover_load(&b, &mover, x);
        bench_expect(&b, mover.calls->driver->running_energy(mover.instance, &b.host, first));
        mover_sweep(&b, &mover, 0, 40);
        mover_store(&b, &mover, x);
        bench_expect(&b, mover.calls->driver->running_energy(mover.instance, &b.host, running));
        const plugmc_counts counts = counts_of(&b, &mover);
        const double acceptance = (double)counts.accepted / (double)counts.trials;
        for (int w = 0; w < 2; w++) {
            fresh = energy_of_places(&b, x + 3 * b.system.particles * w);
            printf("%s: %.17g after %.17g, a fresh sum %+.1e more; %.3f accepted\n", cases[k]->name,
                   running[w], first[w], fresh - running[w], acceptance);
            assert_close(running[w], fresh, 1e-12, 0);
            assert_true(fabs(first[w] - fresh) > 1 && acceptance < 0.7);
        }
        free(x);
        electrolyte_end(&b);
    }
}

/* With refresh = 1 what is said is the fresh sum, to the bit. */
static void the_energy_is_summed_afresh_when_it_is_old(void **state)
{
    (void)state;
    bench b;
    double energy, again;
    electrolyte_begin(&b, &in_a_sphere, 1, 2);
    double *x = random_places(&b);
    test_mover mover = mover_new(&b, "brush", "step=4 refresh=3"),
               other = mover_new(&b, "brush", "step=4");
    mover_load(&b, &mover, x);
    for (uint64_t s = 0; s < 6; s++) {
        bench_expect(&b, mover.calls->driver->running_energy(mover.instance, &b.host, &energy));
        mover_store(&b, &mover, x);
        mover_load(&b, &other, x);
        bench_expect(&b, other.calls->driver->running_energy(other.instance, &b.host, &again));
        if (s % 3 == 0)
            assert_true(energy == again);
        else
            assert_true(energy != again && fabs(energy - again) < 1e-3);
        mover_sweep(&b, &mover, s, 1);
    }
    free(x);
    electrolyte_end(&b);
}

/* ---- In and out ------------------------------------------------------------------------------ */

static void resumes(const electrolyte *e, const char *precision)
{
    bench b;
    test_archive archive;
    double energy[2][2];
    electrolyte_begin(&b, e, 2, 1);
    double *x = random_places(&b), *y = bench_positions(&b);
    test_mover mover = brush_with(&b, precision, 64, 0.1),
               other = brush_with(&b, precision, 64, 0.1);
    mover_load(&b, &mover, x);
    mover_set_step(&b, &mover, e->step);
    bench_expect(&b, mover.calls->driver->running_energy(mover.instance, &b.host, energy[0]));
    for (uint64_t stop = 3; stop < 12; stop += 5) {
        mover_sweep(&b, &mover, stop - 3, 3);
        mover_store(&b, &mover, x);
        mover_save(&b, &mover, &archive);
        mover_load(&b, &other, x);
        mover_store(&b, &other, y);
        assert_memory_equal(x, y, bytes_of(&b)); /* a second rounding does nothing */
        mover_restore(&b, &other, &archive);
        mover_sweep(&b, &mover, stop, 2);
        mover_sweep(&b, &other, stop, 2);
        mover_store(&b, &mover, x);
        mover_store(&b, &other, y);
        assert_memory_equal(x, y, bytes_of(&b));
        assert_true(other.steps[0] == e->step);
        bench_expect(&b, mover.calls->driver->running_energy(mover.instance, &b.host, energy[0]));
        bench_expect(&b, other.calls->driver->running_energy(other.instance, &b.host, energy[1]));
        assert_memory_equal(energy[0], energy[1], sizeof energy[0]);
        archive_end(&archive);
    }
    free(x), free(y);
    electrolyte_end(&b);
}

static void a_resumed_chain_is_the_one_never_stopped(void **state)
{
    (void)state;
    resumes(&in_a_sphere, "single");
    resumes(&in_a_sphere, "double");
    resumes(&in_a_box, "single");
    resumes(&in_a_square, "single");
    resumes(&in_a_field, "single");
}

/* Places a hair below the faces of an oblique box are rounded beyond them, and brought back; those
 * that are in the box on quanta stay what they are. */
static void rounding_stays_in_an_oblique_box(void **state)
{
    (void)state;
    electrolyte e = in_an_oblique_box;
    e.potential[0].name = e.potential[1].name; /* no cores: places may coincide */
    e.potential[0].settings = e.potential[1].settings;
    e.potential[1].name = NULL;
    e.species[1].charge = 1;
    bench b;
    electrolyte_begin(&b, &e, 1, 1);
    const brush_domain domain = domain_with(&b, 1);
    double *x = bench_positions(&b), *y = bench_positions(&b), *z = bench_positions(&b);
    for (int64_t i = 0; i < b.system.particles; i++) {
        double f[3];
        for (int d = 0; d < 3; d++) {
            const uint32_t word =
                plugmc_draw((plugmc_seed){3}, 0, 0, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0).word[d];
            f[d] = word % 3 == 0 ? 0 : word % 3 == 1 ? 1 - 0x1p-53 : word * 0x1p-32;
        }
        for (int d = 0; d < 3; d++)
            for (int k = 0; k < 3; k++) x[3 * i + d] += f[k] * e.vector[k][d];
    }
    test_mover mover = brush_with(&b, "single", 64, 1);
    mover_load(&b, &mover, x);
    mover_store(&b, &mover, y);
    mover_load(&b, &mover, y);
    mover_store(&b, &mover, z);
    assert_memory_equal(y, z, bytes_of(&b));
    int changed = 0;
    for (int64_t i = 0; i < b.system.particles; i++) {
        double wrapped[3];
        memcpy(wrapped, &y[3 * i], sizeof wrapped);
        plugmc_wrap(&b.system.box, wrapped);
        assert_memory_equal(wrapped, &y[3 * i], sizeof wrapped);
        changed += memcmp(&x[3 * i], &y[3 * i], sizeof wrapped) != 0;
        for (int d = 0; d < 3; d++)
            assert_true(rint(y[3 * i + d] / domain.quantum) * domain.quantum == y[3 * i + d]);
    }
    assert_true(changed > 100);
    free(x), free(y), free(z);
    electrolyte_end(&b);
}

static void touching_particles_are_parted_by_a_few_quanta(void **state)
{
    (void)state;
    bench b;
    electrolyte_begin(&b, &touching_in_a_sphere, 1, 1);
    const brush_domain domain = domain_with(&b, 1);
    double *x = touching_places(&b), *y = bench_positions(&b);
    test_mover mover = brush_with(&b, "single", 64, 1);
    mover_load(&b, &mover, x);
    mover_store(&b, &mover, y);
    is_on_the_quanta(&b, &domain, y); /* without overlaps in double precision */
    double farthest = 0;
    for (int i = 0; i < 3 * 340; i++) farthest = fmax(farthest, fabs(x[i] - y[i]) / domain.quantum);
    printf("parted by %.2f quanta at most\n", farthest);
    assert_true(farthest > 0.5 && farthest < 4);
    free(x), free(y);
    electrolyte_end(&b);
}

/* With a step of some quanta touching particles try places where float cannot tell contact from
 * overlap. What it accepts does not overlap in double, and stays what it is when it is loaded. */
static void hard_cores_hold_in_double_precision(void **state)
{
    (void)state;
    const electrolyte *cases[] = {&touching_in_a_sphere, &touching_in_a_box};
    for (int k = 0; k < 2; k++) {
        bench b;
        electrolyte_begin(&b, cases[k], 1, 1);
        const brush_domain domain = domain_with(&b, 1);
        double *start = touching_places(&b), *x = bench_positions(&b), *y = bench_positions(&b);
        test_mover mover = brush_with(&b, "single", 64, 4 * domain.quantum);
        for (uint64_t s = 0; s < 60; s++) {
            mover_load(&b, &mover, start);
            mover_sweep(&b, &mover, 4 * s, 4);
            mover_store(&b, &mover, x);
            is_on_the_quanta(&b, &domain, x);
            mover_load(&b, &mover, x);
            mover_store(&b, &mover, y);
            assert_memory_equal(x, y, bytes_of(&b));
        }
        const plugmc_counts counts = counts_of(&b, &mover);
        printf("%s: %.3f accepted\n", cases[k]->name,
               (double)counts.accepted / (double)counts.trials);
        assert_true(counts.accepted < 0.9 * counts.trials);
        free(start);
        free(x), free(y);
        electrolyte_end(&b);
    }
}

static void what_cannot_be_parted_is_refused(void **state)
{
    (void)state;
    const electrolyte e = {.name = "pair",
                           .dimension = 2,
                           .vector = {{10, 0, 0}, {0, 10, 0}, {0, 0, 1}},
                           .species = {{3, 1, 0}},
                           .potential = {{"hard_disk", ""}},
                           .step = 1};
    bench b;
    electrolyte_begin(&b, &e, 1, 1);
    const double x[9] = {1, 1, 0, 5.3, 5.1, 0, 5.3, 6.0999, 0};
    test_mover mover = brush_with(&b, "single", 64, 1);
    assert_int_equal(mover_take(&mover, &b.host, x), PLUGMC_ERROR_INPUT);
    assert_string_equal(
        b.message,
        "particle 1 of walker 0 overlaps, or is in a forbidden region, when positions are "
        "rounded to 9.53674e-07: use precision = double");
    electrolyte_end(&b);
}

/* ---- Two ions in a sphere -------------------------------------------------------------------- */

enum { BINS = 20, WALKERS = 64 };

/* Weight of the distance r of two centres in a ball of radius R: r^2 times the volume in which the
 * first can be if the second is at r from it, times the Boltzmann factor of valences of product zz
 * at Bjerrum length l. */
static double weight_of(double r, double R, double zz, double l)
{
    return r * r * (1 - 0.75 * r / R + r * r * r / (16 * R * R * R)) * exp(-zz * l / r);
}

/* Histograms of independent walkers against the exact distribution: chi^2 of 20 bins whose errors
 * come from 64 walkers is above 50 in one of 3000 seeds, some |z| above 4.5 in one of 1500. */
static void two_ions(const char *name, double first_charge, double second_charge)
{
    static double counts[WALKERS][BINS];
    const electrolyte e = {.name = name,
                           .dimension = 3,
                           .radius = 3,
                           .species = {{1, 0.9, first_charge}, {1, 1.1, second_charge}},
                           .potential = {{"hard_disk", ""}, {"coulomb", "bjerrum_length=1.5"}},
                           .step = 2.5};
    enum { SAMPLES = 1200, APART = 4 };
    double exact[BINS] = {0}, sum = 0, chi2 = 0, worst = 0;
    bench b;
    electrolyte_begin(&b, &e, WALKERS, 1);
    double *x = random_places(&b);
    test_mover mover = brush_with(&b, "single", 64, e.step);
    mover_load(&b, &mover, x);
    memset(counts, 0, sizeof counts);
    mover_sweep(&b, &mover, 0, 100);
    for (uint64_t k = 0; k < SAMPLES; k++) {
        mover_sweep(&b, &mover, 100 + APART * k, APART);
        mover_store(&b, &mover, x);
        for (int w = 0; w < WALKERS; w++) {
            const double *p = &x[6 * w];
            const double r = sqrt((p[0] - p[3]) * (p[0] - p[3]) + (p[1] - p[4]) * (p[1] - p[4]) +
                                  (p[2] - p[5]) * (p[2] - p[5]));
            const int bin = (int)((r - 1) / 5 * BINS);
            assert_true(r >= 1 && r <= 6);
            counts[w][bin < BINS ? bin : BINS - 1]++;
        }
    }
    for (int k = 0; k < 1000 * BINS; k++)
        exact[k / 1000] +=
            weight_of(1 + 5 * (k + 0.5) / (1000 * BINS), 3, first_charge * second_charge, 1.5);
    for (int k = 0; k < BINS; k++) sum += exact[k];
    int used = 0;
    for (int k = 0; k < BINS; k++) {
        double mean = 0, square = 0;
        for (int w = 0; w < WALKERS; w++) {
            mean += counts[w][k] / SAMPLES / WALKERS;
            square += counts[w][k] / SAMPLES * counts[w][k] / SAMPLES / WALKERS;
        }
        if (exact[k] / sum < 1e-4) continue;
        const double z = (mean - exact[k] / sum) / sqrt((square - mean * mean) / (WALKERS - 1));
        chi2 += z * z;
        used++;
        if (fabs(z) > fabs(worst)) worst = z;
    }
    printf("z = %+.2f at most, chi^2 = %.1f in %d bins  %s\n", worst, chi2, used, name);
    if (!(fabs(worst) < 4.5) || !(chi2 < 50))
        fail_msg("%s: distances are not as they should be", name);
    free(x);
    electrolyte_end(&b);
}

static void two_ions_in_a_sphere_have_the_exact_distances(void **state)
{
    (void)state;
    two_ions("two ions that attract each other", 2, -1);
    two_ions("two ions that repel each other", 1, 2);
}

/* ---- What it refuses ------------------------------------------------------------------------- */

typedef struct parameters {
    double energy; /* kT, within 1 */
} parameters;

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a, (void)b;
    return s.r2 < 1 ? p->energy : 0;
}

PLUGMC_FN real pair_range(const parameters *p)
{
    (void)p;
    return 1;
}

#define PLUGMC_PAIR PLUGMC_PAIR_ENERGY
#include <plugmc/pair.h>

static const plugmc_potential hole_potential = {.size = sizeof hole_potential,
                                                .pair = &plugmc_pair_facet};
static const plugmc_plugin hole = {
    .size = sizeof hole, .kind = PLUGMC_POTENTIAL, .name = "hole", .potential = &hole_potential};

static void an_energy_that_is_no_number_ends_the_run(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        parameters p = {(const double[]){NAN, -INFINITY, -5}[way]};
        bench b;
        bench_begin(&b, 3, (double[3]){4, 4, 4}, 2, 3);
        b.system.threads = 2;
        bench_species(&b, "point", 40, 0, 0);
        b.terms[b.system.term_count++] = (plugmc_term){.label = "hole",
                                                       .plugin = &hole,
                                                       .plugin_single = &hole,
                                                       .instance = &p,
                                                       .instance_single = &p,
                                                       .sampled = 1};
        double *x = bench_positions(&b);
        for (int i = 0; i < 240; i++)
            x[i] = plugmc_draw((plugmc_seed){1}, 0, 0, (uint32_t)i, 1, 0).word[0] * 4 * 0x1p-32;
        test_mover mover = brush_with(&b, "double", 16, 1);
        mover_load(&b, &mover, x);
        const int code = mover_sweeps(&mover, &b.host, 0, 20);
        assert_int_equal(code, way < 2 ? PLUGMC_ERROR_STATE : PLUGMC_OK);
        if (way < 2) assert_non_null(strstr(b.message, "not a number: walker "));
        free(x);
        bench_end(&b);
    }
}

static void the_step_stays_within_the_box(void **state)
{
    (void)state;
    bench b;
    electrolyte_begin(&b, &in_a_sphere, 1, 1);
    test_mover mover = brush_with(&b, "single", 64, 1);
    mover_set_step(&b, &mover, 100);
    assert_true(mover.steps[0] == 12.3);
    assert_true(parameter_real(mover.plugin, mover.instance, "target_acceptance") == 0);
    electrolyte_end(&b);
}

/* A 0 without a message would be taken for the end of the texts. */
static void a_kernel_text_without_memory_is_an_error(void **state)
{
    (void)state;
    bench b;
    plugmc_gpu_source text = {.size = sizeof text};
    electrolyte_begin(&b, &in_a_sphere, 1, 1);
    test_mover mover = brush_with(&b, "single", 64, 1);
    const int blocks = b.block_count;
    b.block_count = RECORDED_BLOCKS;
    assert_int_equal(mover.plugin->gpu_source(mover.instance, &b.host, 0, &text), 0);
    assert_string_equal(b.message, "no memory for a GPU source");
    b.block_count = blocks;
    electrolyte_end(&b);
}

TEST_MAIN(cmocka_unit_test(decisions_are_those_of_serial_in_a_sphere),
          cmocka_unit_test(decisions_are_those_of_serial_elsewhere),
          cmocka_unit_test(one_particle_moves_as_with_serial),
          cmocka_unit_test(single_precision_decides_like_double),
          cmocka_unit_test(the_chain_does_not_depend_on_threads_or_calls),
          cmocka_unit_test(the_running_energy_is_a_fresh_sum),
          cmocka_unit_test(the_energy_is_summed_afresh_when_it_is_old),
          cmocka_unit_test(a_resumed_chain_is_the_one_never_stopped),
          cmocka_unit_test(rounding_stays_in_an_oblique_box),
          cmocka_unit_test(touching_particles_are_parted_by_a_few_quanta),
          cmocka_unit_test(hard_cores_hold_in_double_precision),
          cmocka_unit_test(what_cannot_be_parted_is_refused),
          cmocka_unit_test(two_ions_in_a_sphere_have_the_exact_distances),
          cmocka_unit_test(an_energy_that_is_no_number_ends_the_run),
          cmocka_unit_test(the_step_stays_within_the_box),
          cmocka_unit_test(a_kernel_text_without_memory_is_an_error))
