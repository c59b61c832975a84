/* Energies of the homogeneous electron gas without a Jastrow factor against the exact ones, with
 * errors of at most 2e-4 Hartree an electron. |z| <= 3 of five: false alarms 1.4 %. A quarter of an
 * hour on one core. */
#include "testing.h"

#include <omp.h>

#include "quantum.h"

enum { WALKERS = 64, QUANTITIES = 8 };

typedef struct gas {
    int electrons;
    double rs, kinetic, total;
    int samples; /* of a walker */
} gas;

/* Mean of the energy of each walker. */
static void sample(bench *b, const gas *g, double energy[WALKERS], double *kinetic)
{
    static double values[WALKERS][QUANTITIES];
    char settings[64];
    const plugmc_plugin *plugin = open_plugin("local_energy");
    void *instance = bench_allocate(b->host.context, plugin->instance_size);
    snprintf(settings, sizeof settings, "step=%g", 0.7 * g->rs);
    test_mover mover = mover_new(b, "quasi_simultaneous", settings);
    quantum_parameters(b, plugin, instance, "");
    bench_expect(b, plugin->prepare(instance, &b->host));
    double *x = random_positions(b, 1);
    mover_load(b, &mover, x);
    mover_sweep(b, &mover, 0, 100);
    *kinetic = 0;
    for (int w = 0; w < WALKERS; w++) energy[w] = 0;
    for (int k = 0; k < g->samples; k++) {
        const plugmc_view view = {.size = sizeof view, .positions = x};
        mover_sweep(b, &mover, 100 + 4 * (uint64_t)k, 4);
        mover_store(b, &mover, x);
        bench_expect(b, plugin->observable->measure(instance, &b->host, &view, values[0]));
        for (int w = 0; w < WALKERS; w++) {
            energy[w] += values[w][0] / g->samples;
            *kinetic += values[w][1] / g->samples / WALKERS;
        }
    }
    free(x);
    plugin->release(instance);
}

static void check(const gas *g)
{
    bench b;
    test_orbitals t;
    const double edge = cbrt(g->electrons * 4 * M_PI / 3) * g->rs, length[3] = {edge, edge, edge};
    double energy[WALKERS], kinetic, mean = 0, squares = 0;
    quantum_begin(&b, length, WALKERS, 2013);
    b.system.threads = omp_get_max_threads();
    bench_species(&b, "up", g->electrons / 2, 0, -1);
    bench_species(&b, "down", g->electrons / 2, 0, -1);
    fill_waves(&t, &b, STANDING_WAVES, g->electrons / 2);
    add_orbitals(&b, &t);
    sample(&b, g, energy, &kinetic);
    for (int w = 0; w < WALKERS; w++) mean += energy[w] / WALKERS;
    for (int w = 0; w < WALKERS; w++) squares += pow(energy[w] - mean, 2);
    const double error = sqrt(squares / WALKERS / (WALKERS - 1));
    printf("%d electrons, rs = %g: kinetic %.6f\n", g->electrons, g->rs, kinetic);
    assert_close(kinetic, g->kinetic, 0, 1e-6);
    assert_z("total energy", mean, error, g->total, 3);
    assert_true(error < 2e-4 * g->electrons);
    bench_end(&b);
}

static void gases_of_14_electrons(void **state)
{
    static const gas gases[] = {{14, 1, 15.692780, 8.491481, 14000},
                                {14, 2, 3.923195, 0.322545, 4000},
                                {14, 5, 0.627711, -0.812549, 1000}};
    (void)state;
    for (int k = 0; k < 3; k++) check(&gases[k]);
}

static void gases_of_54_electrons(void **state)
{
    static const gas gases[] = {{54, 1, 57.424680, 30.739215, 4000},
                                {54, 5, 2.296987, -3.040106, 400}};
    (void)state;
    for (int k = 0; k < 2; k++) check(&gases[k]);
}

TEST_MAIN(cmocka_unit_test(gases_of_14_electrons), cmocka_unit_test(gases_of_54_electrons))
