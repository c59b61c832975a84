/* brush and parallel_reduction on a GPU: decision for decision the sequential Metropolis sweep of
 * movers/serial in double precision, and that of double precision in the same situations in single;
 * any number of particles and walkers; energies; restarts. Skipped without a GPU. */
#include "testing.h"

#include "movers.h"
#include "forces.h"
#include "brush.h"
#include "brush_gpu.h"

static const char *const movers[] = {"brush", "parallel_reduction"};
enum { MOVERS = 2 };

/* The electrolyte in a sphere with another number of ions at the same density. */
static electrolyte with_particles(int64_t n)
{
    electrolyte e = in_a_sphere;
    e.radius *= cbrt((double)n / 1000);
    if (e.radius < 2.2) e.radius = 2.2;
    e.step = e.radius / 3;
    e.species[0].count = n / 4;
    e.species[1].count = n / 2;
    e.species[2].count = n - n / 4 - n / 2;
    return e;
}

/* Places after some sweeps of serial from places at random: the usual energies. */
static double *usual_places(const electrolyte *e, int walkers, int sweeps)
{
    bench b;
    char settings[100];
    electrolyte_begin(&b, e, walkers, 2);
    double *x = random_places(&b);
    snprintf(settings, sizeof settings, "order=sequential step=%.17g", e->step);
    test_mover mover = mover_new(&b, "serial", settings);
    mover_load(&b, &mover, x);
    mover_sweep(&b, &mover, 1000, (uint64_t)sweeps);
    mover_store(&b, &mover, x);
    electrolyte_end(&b);
    return x;
}

/* ---- Double precision ------------------------------------------------------------------------ */

/* Places are equal only if every decision was. The second sweeps are enough for recorded launches.
 */
static void is_serial_from(const double *start_places, const electrolyte *e, int walkers,
                           int sweeps)
{
    bench b;
    char settings[100];
    electrolyte_begin(&b, e, walkers, 2);
    double *x = bench_positions(&b), *y = bench_positions(&b);
    snprintf(settings, sizeof settings, "order=sequential step=%.17g", e->step);
    test_mover serial = mover_new(&b, "serial", settings);
    mover_load(&b, &serial, start_places);
    mover_sweep(&b, &serial, 0, (uint64_t)sweeps);
    mover_store(&b, &serial, x);
    for (int m = 0; m < MOVERS; m++) {
        static place gpu;
        start_electrolyte(&gpu, e, walkers, movers[m], "double", e->step);
        mover_load(&gpu.b, &gpu.mover, start_places);
        mover_sweep(&gpu.b, &gpu.mover, 0, 1);
        mover_sweep(&gpu.b, &gpu.mover, 1, (uint64_t)sweeps - 1);
        fetch(&gpu, y);
        const plugmc_counts counts = counts_of(&gpu);
        printf("%s, %s: N = %lld, %d walkers, %d sweeps, %.3f accepted\n", movers[m], e->name,
               (long long)b.system.particles, walkers, sweeps,
               (double)counts.accepted / (double)counts.trials);
        assert_int_equal(counts.trials, b.system.particles * walkers * sweeps);
        assert_true(counts.accepted > 0 && counts.accepted < counts.trials);
        if (memcmp(x, y, bytes_of(&b)))
            fail_msg("%s, %s: not the places of serial", movers[m], e->name);
        finish(&gpu);
    }
    free(x), free(y);
    electrolyte_end(&b);
}

static void is_serial(const electrolyte *e, int walkers, int sweeps)
{
    bench b;
    electrolyte_begin(&b, e, walkers, 1);
    double *x = random_places(&b);
    electrolyte_end(&b);
    is_serial_from(x, e, walkers, sweeps);
    free(x);
}

static void decisions_are_those_of_serial(void **state)
{
    (void)state;
    is_serial(&in_a_sphere, 1, 100);
    is_serial(&in_a_box, 1, 20);
    is_serial(&in_a_disk, 1, 20);
    is_serial(&in_a_square, 1, 20);
    is_serial(&in_an_oblique_box, 1, 3);
    is_serial(&of_finite_range, 1, 20);
    is_serial(&in_a_field, 1, 20);
    is_serial(&of_a_table_that_ends, 2, 40);
}

static void any_number_of_particles_and_walkers_will_do(void **state)
{
    (void)state;
    const int64_t particles[] = {1, 2, 31, 33, 127, 129, 257, 1025};
    for (size_t k = 0; k < sizeof particles / sizeof particles[0]; k++) {
        const electrolyte e = with_particles(particles[k]);
        is_serial(&e, 1, 40);
        is_serial(&e, 3, 20);
    }
    const electrolyte small = with_particles(33); /* more walkers than multiprocessors */
    is_serial(&small, 300, 20);
}

/* Charges of one sign need no hard cores. */
static const electrolyte without_cores = {.name = "like charges without cores",
                                          .dimension = 3,
                                          .radius = 8,
                                          .species = {{257, 1, 1}},
                                          .potential = {{"yukawa", "bjerrum_length=20 kappa=2"}},
                                          .step = 2};

/* A cubic lattice in the sphere, particle `at_origin` exactly there. All are at multiples of the
 * quantum, so that loading leaves them alone. */
static double *places_around_the_origin(const electrolyte *e, int64_t at_origin)
{
    enum { SIDE = 9, SITES = SIDE * SIDE * SIDE };
    bench b;
    electrolyte_begin(&b, e, 1, 1);
    double *x = bench_positions(&b);
    int64_t n = 0;
    for (int k = 0; k < SITES; k++) {
        const int site = (k + SITES / 2) % SITES; /* from the middle on */
        const int c[3] = {site % SIDE - 4, site / SIDE % SIDE - 4, site / SIDE / SIDE - 4};
        if (c[0] * c[0] + c[1] * c[1] + c[2] * c[2] > 16) continue;
        assert_true(n < b.system.particles);
        for (int d = 0; d < 3; d++) x[3 * n + d] = 1.25 * c[d];
        n++;
    }
    assert_int_equal(n, b.system.particles);
    memcpy(x, x + 3 * at_origin, 3 * sizeof *x);
    memset(x + 3 * at_origin, 0, 3 * sizeof *x);
    assert_no_overlaps(&b, x);
    electrolyte_end(&b);
    return x;
}

/* Lanes of the last panel that have no particle have their places at the origin. The energy of a
 * pair of one of them with a particle there is no number, which would end the run. They would meet
 * if that particle is some panels before them, its move in the first sweep is rejected and no hard
 * core makes an overlap of it. */
static void a_particle_at_the_origin_meets_nobody_there(void **state)
{
    (void)state;
    const electrolyte *e = &without_cores;
    enum { AT_ORIGIN = 5 };
    const double origin[3] = {0, 0, 0};
    double *x = places_around_the_origin(e, AT_ORIGIN);
    is_serial_from(x, e, 1, 20);
    for (int m = 0; m < MOVERS; m++) {
        static place gpu;
        tally seen = {0};
        start_electrolyte(&gpu, e, 1, movers[m], "single", e->step);
        const brush_domain domain = domain_with(&gpu.b, 1);
        double *before = bench_positions(&gpu.b), *after = bench_positions(&gpu.b);
        mover_load(&gpu.b, &gpu.mover, x);
        fetch(&gpu, before);
        assert_memory_equal(before, x, bytes_of(&gpu.b));
        mover_sweep(&gpu.b, &gpu.mover, 0, 1);
        fetch(&gpu, after);
        assert_int_equal(counts_of(&gpu).trials, gpu.b.system.particles);
        assert_memory_equal(after + 3 * AT_ORIGIN, origin, sizeof origin);
        follow(&gpu.b, &domain, e->step, 0, 0, 1, before, after, 1e-4, &seen);
        assert_int_equal(seen.ambiguous, 0);
        free(before), free(after);
        finish(&gpu);
    }
    free(x);
}

/* ---- Single precision ------------------------------------------------------------------------ */

/* A change of energy in float is right to some 1e-5 kT; of 1e5 decisions about one has its
 * threshold so near. More than three that differ are expected in one of 50 cases at worst; seeds
 * are fixed. */
static void follows(const electrolyte *e, int walkers, int sweeps, int64_t every)
{
    for (int m = 0; m < MOVERS; m++) {
        static place gpu;
        tally seen = {0};
        start_electrolyte(&gpu, e, walkers, movers[m], "single", e->step);
        const bench *b = &gpu.b;
        const int64_t n = b->system.particles;
        const brush_domain domain = domain_with(b, 1);
        double *before = every > 1 ? random_places(b) : usual_places(e, walkers, sweeps);
        double *after = bench_positions(b), *energy = bench_positions(b),
               *fresh = bench_positions(b);
        mover_load(&gpu.b, &gpu.mover, before);
        fetch(&gpu, before);
        energy_of(&gpu, energy);
        for (uint64_t s = 0; s < (uint64_t)sweeps; s++) {
            mover_sweep(&gpu.b, &gpu.mover, s, 1);
            fetch(&gpu, after);
            for (int32_t w = 0; w < walkers; w++)
                follow(b, &domain, e->step, s, w, every, before + 3 * n * w, after + 3 * n * w,
                       1e-4, &seen);
        }
        const plugmc_counts counts = counts_of(&gpu);
        assert_int_equal(counts.trials, seen.trials);
        assert_int_equal(counts.accepted, seen.accepted);
        assert_no_overlaps(b, after);
        energy_of(&gpu, energy);
        double drift = 0;
        for (int32_t w = 0; w < walkers; w++) {
            const double *places = after + 3 * n * w;
            for (int64_t i = 0; i < 3 * n; i++)
                assert_true(rint(places[i] / domain.quantum) * domain.quantum == places[i]);
            fresh[w] = every > 1 ? energy[w] : energy_of_places(b, places);
            drift = fmax(drift, fabs(energy[w] - fresh[w]));
            assert_close(energy[w], fresh[w], 1e-9,
                         1e-5 * sqrt((double)seen.accepted / walkers) + 1e-6);
        }
        printf("%s, %s: N = %lld, %d walkers: %lld of %lld decisions differ, at most %.1e kT; %.3f "
               "accepted; drift %.1e kT of %.1f\n",
               movers[m], e->name, (long long)n, walkers, (long long)seen.ambiguous,
               (long long)seen.trials, seen.farthest, (double)seen.accepted / (double)seen.trials,
               drift, energy[0]);
        assert_true(seen.ambiguous <= 3);
        free(before), free(after), free(energy), free(fresh);
        finish(&gpu);
    }
}

static void single_precision_decides_like_double(void **state)
{
    (void)state;
    follows(&in_a_sphere, 1, 40, 1);
    follows(&in_a_box, 1, 20, 1);
    follows(&in_a_disk, 1, 10, 1);
    follows(&in_a_square, 1, 20, 1);
    follows(&in_an_oblique_box, 1, 3, 1);
    follows(&of_finite_range, 1, 20, 1);
    follows(&in_a_field, 2, 20, 1);
    follows(&of_a_table_that_ends, 2, 20, 1);
    const electrolyte small = with_particles(129), large = with_particles(70001);
    follows(&small, 7, 20, 1);
    follows(&large, 1, 2, 50); /* tasks of several tiles */
}

/* With a step of some quanta touching particles try places where float cannot tell contact from
 * overlap. */
static void hard_cores_hold_in_double_precision(void **state)
{
    (void)state;
    const electrolyte *cases[] = {&touching_in_a_sphere, &touching_in_a_box};
    for (int m = 0; m < MOVERS; m++)
        for (int k = 0; k < 2; k++) {
            static place gpu;
            start_electrolyte(&gpu, cases[k], 1, movers[m], "single", 1);
            const brush_domain domain = domain_with(&gpu.b, 1);
            double *at_first = touching_places(&gpu.b), *x = bench_positions(&gpu.b);
            mover_set_step(&gpu.b, &gpu.mover, 4 * domain.quantum);
            for (uint64_t s = 0; s < 60; s++) {
                mover_load(&gpu.b, &gpu.mover, at_first);
                mover_sweep(&gpu.b, &gpu.mover, 4 * s, 4);
                fetch(&gpu, x);
                assert_no_overlaps(&gpu.b, x);
            }
            const plugmc_counts counts = counts_of(&gpu);
            assert_true(counts.accepted > 0 && counts.accepted < 0.9 * counts.trials);
            free(at_first), free(x);
            finish(&gpu);
        }
}

/* ---- The chain ------------------------------------------------------------------------------- */

/* Blocks a walker, and so the order of all sums, follow from the number of walkers; and sums that
 * many blocks add to come in another order every time. Positions must not show it. */
static void the_chain_does_not_depend_on_the_number_of_blocks(void **state)
{
    (void)state;
    const electrolyte e = with_particles(9001);
    for (int m = 0; m < MOVERS; m++) {
        double *first = NULL;
        for (int way = 0; way < 4; way++) {
            static place gpu;
            const int walkers = (const int[]){1, 1, 3, 40}[way], sweeps = 5;
            start_electrolyte(&gpu, &e, walkers, movers[m], "single", e.step);
            double *x = random_places(&gpu.b);
            mover_load(&gpu.b, &gpu.mover, x);
            mover_sweep(&gpu.b, &gpu.mover, 0, sweeps);
            fetch(&gpu, x);
            if (!first)
                first = x;
            else
                assert_memory_equal(first, x, (size_t)(3 * gpu.b.system.particles) * sizeof *x);
            if (x != first) free(x);
            finish(&gpu);
        }
        free(first);
    }
}

static void sweeps_in_one_call_or_many_are_the_same(void **state)
{
    (void)state;
    for (int m = 0; m < MOVERS; m++) {
        double *result[2];
        for (int way = 0; way < 2; way++) {
            static place gpu;
            start_electrolyte(&gpu, &in_a_field, 2, movers[m], "single", in_a_field.step);
            double *x = result[way] = random_places(&gpu.b);
            mover_load(&gpu.b, &gpu.mover, x);
            if (way == 0)
                mover_sweep(&gpu.b, &gpu.mover, 100, 70); /* recorded, and some that are not */
            else
                for (uint64_t s = 100; s < 170; s += 7) mover_sweep(&gpu.b, &gpu.mover, s, 7);
            fetch(&gpu, x);
            if (way) assert_memory_equal(result[0], result[1], bytes_of(&gpu.b));
            finish(&gpu);
        }
        free(result[0]), free(result[1]);
    }
}

static void a_resumed_chain_is_the_one_never_stopped(void **state)
{
    (void)state;
    const electrolyte *cases[] = {&in_a_sphere, &in_a_box, &in_a_field};
    for (int m = 0; m < MOVERS; m++)
        for (int k = 0; k < 6; k++) {
            static place one, later;
            const electrolyte *e = cases[k % 3];
            const char *precision = k < 3 ? "single" : "double";
            test_archive archive;
            double energy[2][2];
            start_electrolyte(&one, e, 2, movers[m], precision, 0.1);
            double *x = random_places(&one.b), *y = bench_positions(&one.b);
            mover_load(&one.b, &one.mover, x);
            mover_set_step(&one.b, &one.mover, e->step);
            energy_of(&one, energy[0]);
            mover_sweep(&one.b, &one.mover, 0, 20);
            fetch(&one, x);
            mover_save(&one.b, &one.mover, &archive);
            mover_sweep(&one.b, &one.mover, 20, 20);
            start_electrolyte(&later, e, 2, movers[m], precision, 0.1);
            mover_load(&later.b, &later.mover, x);
            fetch(&later, y);
            assert_memory_equal(x, y, bytes_of(&one.b));
            mover_restore(&later.b, &later.mover, &archive);
            mover_sweep(&later.b, &later.mover, 20, 20);
            fetch(&one, x);
            fetch(&later, y);
            assert_memory_equal(x, y, bytes_of(&one.b));
            energy_of(&one, energy[0]);
            energy_of(&later, energy[1]);
            assert_memory_equal(energy[0], energy[1], sizeof energy[0]);
            archive_end(&archive);
            free(x), free(y);
            finish(&one), finish(&later);
        }
}

/* ---- Energy ---------------------------------------------------------------------------------- */

static void the_energy_kernel_sums_like_the_cpu(void **state)
{
    (void)state;
    const int64_t particles[] = {1, 2, 127, 129, 300, 1000, 5003};
    for (int k = 0; k < 9; k++)
        for (int single = 0; single < 2; single++) {
            static place gpu;
            const electrolyte e = k < 7    ? with_particles(particles[k])
                                  : k == 7 ? in_a_box
                                           : of_finite_range;
            double energy[3];
            start_electrolyte(&gpu, &e, 3, "brush", single ? "single" : "double", e.step);
            double *x = random_places(&gpu.b);
            mover_load(&gpu.b, &gpu.mover, x);
            fetch(&gpu, x);
            energy_of(&gpu, energy);
            for (int w = 0; w < 3; w++)
                assert_close(energy[w],
                             energy_of_places(&gpu.b, x + 3 * gpu.b.system.particles * w), 1e-12,
                             1e-9);
            free(x);
            finish(&gpu);
        }
}

/* In fixed point a change is right to some 1e-9 kT. */
static void the_running_energy_is_a_fresh_sum(void **state)
{
    (void)state;
    for (int m = 0; m < MOVERS; m++) {
        static place gpu;
        double energy[2];
        start_electrolyte(&gpu, &in_a_sphere, 2, movers[m], "double", in_a_sphere.step);
        double *x = random_places(&gpu.b);
        mover_load(&gpu.b, &gpu.mover, x);
        energy_of(&gpu, energy);
        mover_sweep(&gpu.b, &gpu.mover, 0, 500);
        fetch(&gpu, x);
        energy_of(&gpu, energy);
        for (int w = 0; w < 2; w++) {
            const double fresh = energy_of_places(&gpu.b, x + 3000 * w);
            printf("%s: %.12g, a fresh sum %+.1e more\n", movers[m], energy[w], fresh - energy[w]);
            assert_close(energy[w], fresh, 1e-9, 0);
        }
        free(x);
        finish(&gpu);
    }
}

/* ---- What it refuses ------------------------------------------------------------------------- */

typedef struct hole {
    double energy;
} hole;
typedef struct hole_single {
    float energy;
} hole_single;

static const char hole_text[] = "typedef struct parameters { real energy; } parameters;\n"
                                "PLUGMC_FN real pair_range(const parameters *p) { return 1; }\n"
                                "PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation "
                                "s, plugmc_site a, plugmc_site b)\n"
                                "{\n    real zero = s.r2 < 1 ? 0 : 1;\n    return p->energy * "
                                "(zero - 1) / zero * 0 + zero - 1;\n}\n"
                                "#define PLUGMC_PAIR PLUGMC_PAIR_ENERGY\n"
                                "#include <plugmc/pair.h>\n";

static double hole_range(const void *instance)
{
    (void)instance;
    return 1;
}
static double no_contact(const void *instance, const plugmc_particle *a, const plugmc_particle *b)
{
    (void)instance, (void)a, (void)b;
    return 0;
}
static int64_t hole_energy(const void *instance, const plugmc_box *box, int periodic,
                           const plugmc_particle *probe, const plugmc_particles *others,
                           double *energy)
{
    (void)instance, (void)box, (void)periodic, (void)probe, (void)others, (void)energy;
    return 0;
}
static const plugmc_pair hole_pair = {.size = sizeof hole_pair,
                                      .functions = PLUGMC_PAIR_ENERGY,
                                      .range = hole_range,
                                      .contact = no_contact,
                                      .energy = hole_energy};
static const plugmc_potential hole_potential = {.size = sizeof hole_potential, .pair = &hole_pair};
static const plugmc_parameter hole_table[] = {
    PLUGMC_REAL_KEY(hole, energy, NULL, -1e9, 1e9, "", "")};
static const plugmc_parameter hole_table_single[] = {
    PLUGMC_REAL_KEY(hole_single, energy, NULL, -1e9, 1e9, "", "")};
#define HOLE(size_of_real, list)                                                                   \
    {                                                                                              \
        .size = sizeof(plugmc_plugin), .real_size = size_of_real, .kind = PLUGMC_POTENTIAL,        \
        .name = "hole", .potential = &hole_potential, .parameters = list, .parameter_count = 1,    \
        .parameter_size = sizeof(plugmc_parameter), .source = hole_text,                           \
        .source_end = hole_text + sizeof hole_text - 1, .source_name = "hole"                      \
    }
static const plugmc_plugin hole_plugin = HOLE(sizeof(double), hole_table),
                           hole_plugin_single = HOLE(sizeof(float), hole_table_single);

/* A pair nearer than 1 has an energy that is not a number. */
static void an_energy_that_is_no_number_ends_the_run(void **state)
{
    (void)state;
    static hole parameters = {1};
    static hole_single single = {1};
    const electrolyte e = {
        .name = "points", .dimension = 3, .radius = 3, .species = {{200, 0, 0}}, .step = 2};
    for (int m = 0; m < MOVERS; m++)
        for (int k = 0; k < 2; k++) {
            static place gpu;
            bench *b = &gpu.b;
            electrolyte_begin(b, &e, 1, 1);
            b->terms[b->system.term_count++] = (plugmc_term){.label = "hole",
                                                             .plugin = &hole_plugin,
                                                             .instance = &parameters,
                                                             .plugin_single = &hole_plugin_single,
                                                             .instance_single = &single,
                                                             .sampled = 1};
            double *x = random_places(b);
            start_mover(&gpu, movers[m], k ? "double" : "single", e.step);
            mover_load(b, &gpu.mover, x);
            assert_int_equal(mover_sweeps(&gpu.mover, &b->host, 0, 2), PLUGMC_ERROR_STATE);
            assert_true(device_messages.errors > 0); /* what it says is on standard error */
            free(x);
            finish(&gpu);
        }
}

GPU_TEST_MAIN(cmocka_unit_test(decisions_are_those_of_serial),
              cmocka_unit_test(any_number_of_particles_and_walkers_will_do),
              cmocka_unit_test(a_particle_at_the_origin_meets_nobody_there),
              cmocka_unit_test(single_precision_decides_like_double),
              cmocka_unit_test(hard_cores_hold_in_double_precision),
              cmocka_unit_test(the_chain_does_not_depend_on_the_number_of_blocks),
              cmocka_unit_test(sweeps_in_one_call_or_many_are_the_same),
              cmocka_unit_test(a_resumed_chain_is_the_one_never_stopped),
              cmocka_unit_test(the_energy_kernel_sums_like_the_cpu),
              cmocka_unit_test(the_running_energy_is_a_fresh_sum),
              cmocka_unit_test(an_energy_that_is_no_number_ends_the_run))
