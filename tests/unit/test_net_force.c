/* net_force against sums over the forces of the potentials; what balances, and what it refuses. */
#include "testing.h"

#include "movers.h"
#include "forces.h"

enum { IONS = 64, WALKERS = 2 };

static int try_net_force(bench *b, const double *positions, double *values)
{
    const plugmc_plugin *plugin = open_plugin("net_force");
    void *instance = bench_allocate(b->host.context, plugin->instance_size);
    const plugmc_view view = {.size = sizeof view, .positions = positions};
    int code = plugin->prepare(instance, &b->host);
    return code ? code : plugin->observable->measure(instance, &b->host, &view, values);
}

static void begin(bench *b, const char *potential, const char *settings)
{
    static const double mass[2] = {1, 1};
    bench_begin(b, 3, (double[3]){1, 1, 1}, WALKERS, 1);
    bench_cube(b, 8);
    bench_species(b, "A", IONS / 2, 1, 1);
    bench_species(b, "B", IONS / 2, 1, -1);
    bench_masses(b, mass);
    bench_expect(b, bench_configured(b, "lennard_jones", "epsilon=1 cutoff=2.5"));
    if (potential) bench_expect(b, bench_configured(b, potential, settings));
    bench_expect(b, bench_prepare(b));
}

/* [WALKERS][4] of net_force, and the same from the potential's own forces. */
static void measure(const char *potential, const char *settings, double values[], double wanted[])
{
    bench b;
    double forces[3 * WALKERS * IONS] = {0};
    begin(&b, potential, settings);
    double *r = bench_positions(&b);
    bench_lattice(&b, 4, 0.2, r);
    bench_expect(&b, try_net_force(&b, r, values));
    const plugmc_view view = {.size = sizeof view, .positions = r};
    const plugmc_total_request request = {.size = sizeof request, .view = &view, .forces = forces};
    const plugmc_term *term = &b.terms[1];
    bench_expect(&b, term->plugin->potential->total->energy(term->instance, &request));
    for (int w = 0; w < WALKERS; w++) {
        double net[3] = {0}, squares = 0;
        for (int i = 0; i < IONS; i++)
            for (int d = 0; d < 3; d++) {
                const double f = forces[3 * (IONS * w + i) + d];
                net[d] += f;
                squares += f * f;
            }
        wanted[4 * w] = sqrt((net[0] * net[0] + net[1] * net[1] + net[2] * net[2]) / squares);
        for (int d = 0; d < 3; d++) wanted[4 * w + 1 + d] = net[d] / IONS;
    }
    if (term->plugin->release) term->plugin->release(term->instance);
    free(r);
    bench_end(&b);
}

static void shows_the_error_of_a_mesh(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "bjerrum_length=2 cutoff=4 alpha=0.8 order=4 grid=16 tolerance=0.1",
        "bjerrum_length=2 cutoff=4 alpha=0.8 order=6 grid=32 tolerance=0.1",
        "bjerrum_length=2 cutoff=4 alpha=0.8 order=4 grid=16 tolerance=0.1 balance_forces=yes"};
    double values[3][4 * WALKERS], wanted[4 * WALKERS];
    for (int k = 0; k < 3; k++) {
        measure("coulomb_spme", settings[k], values[k], wanted);
        printf("%s: %.2e %.2e\n", settings[k], values[k][0], values[k][4]);
        for (int i = 0; i < 4 * WALKERS; i++) assert_close(values[k][i], wanted[i], 1e-9, 1e-15);
    }
    for (int w = 0; w < WALKERS; w++) {
        assert_true(values[0][4 * w] > 1e-4 && values[0][4 * w] < 1e-1); /* 16 points, order 4 */
        assert_true(values[1][4 * w] < 0.05 * values[0][4 * w]);
        assert_true(values[2][4 * w] < 1e-13);
    }
}

static void is_nothing_for_a_plain_ewald_sum(void **state)
{
    (void)state;
    double values[4 * WALKERS], wanted[4 * WALKERS];
    measure("coulomb_ewald", "bjerrum_length=2 tolerance=1e-6", values, wanted);
    for (int w = 0; w < WALKERS; w++) assert_true(values[4 * w] < 1e-13);
}

static void needs_a_sum_over_the_configuration(void **state)
{
    (void)state;
    bench b;
    double values[4 * WALKERS];
    begin(&b, NULL, NULL);
    double *r = bench_positions(&b);
    bench_lattice(&b, 4, 0.2, r);
    assert_int_equal(try_net_force(&b, r, values), PLUGMC_ERROR_INPUT);
    assert_non_null(strstr(b.message, "no potential of this run is a many-body term"));
    free(r);
    bench_end(&b);
}

TEST_MAIN(cmocka_unit_test(shows_the_error_of_a_mesh),
          cmocka_unit_test(is_nothing_for_a_plain_ewald_sum),
          cmocka_unit_test(needs_a_sum_over_the_configuration))
