/* virial_pressure against NIST's Lennard-Jones configuration, against sums over all pairs, and
 * against itself with other threads. */
#include "boxes.h"
#include "testing.h"

#include "movers.h"
#include "forces.h"
#include "system/system.h"

static bench *viewed; /* the system that cells are made of */
static plugmc_cells held;

static int view_cells(const plugmc_view *view, double range, plugmc_cells *out)
{
    host_cells_free(&held);
    int code = host_cells_build(&viewed->system, view->box, view->positions, range, &held);
    *out = held;
    return code;
}

/* Returns the code of prepare, or of the measurement; values [walkers][1 + dimension], and one more where energies jump. */
static int try_pressure(bench *b, const double *positions, double *values)
{
    const plugmc_plugin *plugin = open_plugin("virial_pressure");
    void *instance = bench_allocate(b->host.context, plugin->instance_size);
    plugmc_view view = {.size = sizeof view,
                        .positions = positions,
                        .cells = view_cells,
                        .count = numbers_of(&b->system),
                        .box = boxes_of(&b->system)};
    viewed = b;
    set_parameters(plugin, instance, "");
    int code = plugin->prepare(instance, &b->host);
    if (!code) code = plugin->observable->measure(instance, &b->host, &view, values);
    plugmc_quantity q = {.size = sizeof q};
    for (int i = 0; !code && plugin->observable->quantity(instance, i, &q); i++)
        assert_int_equal(q.rank, 0);
    return code;
}

static void pressure(bench *b, const double *positions, double *values)
{
    bench_expect(b, try_pressure(b, positions, values));
}

static void a_configuration_of_nist(void **state)
{
    (void)state;
    static double r[800 * 3];
    const double mass = 1;
    double values[5];
    char path[4096];
    snprintf(path, sizeof path, "%s/nist/lj-1.xyz", TEST_DATA);
    FILE *in = fopen(path, "r");
    int n = 0;
    double edge;
    if (!in || fscanf(in, "%d cell: %lf %*f %*f", &n, &edge) != 2) fail_msg("cannot read %s", path);
    assert_int_equal(n, 800);
    for (int i = 0; i < n; i++)
        if (fscanf(in, "%*s %lf %lf %lf", r + 3 * i, r + 3 * i + 1, r + 3 * i + 2) != 3)
            fail_msg("%s: atom %d", path, i);
    fclose(in);
    for (int i = 0; i < 3 * n; i++) r[i] -= edge * floor(r[i] / edge);
    static const struct {
        const char *settings;
        double virial;
    } cases[] = {{"epsilon=1 cutoff=3", -568.67},
                 {"epsilon=1 cutoff=4", -1263.9},
                 {"epsilon=1 cutoff=3 truncation=force_shift", 317.54}};
    for (int k = 0; k < 3; k++) {
        bench b;
        bench_begin(&b, 3, (double[3]){1, 1, 1}, 1, 1);
        bench_cube(&b, edge);
        bench_species(&b, "A", n, 1, 0);
        bench_masses(&b, &mass);
        bench_expect(&b, bench_configured(&b, "lennard_jones", cases[k].settings));
        values[4] = 0;
        pressure(&b, r, values);
        /* NIST's virials are those without the jump at the cutoff */
        assert_true((values[4] != 0) == (k < 2));
        const double virial = 3 * ((values[0] - values[4]) * b.system.box.volume - n);
        printf("virial %.6g, expected %.5g\n", virial, cases[k].virial);
        assert_close(virial, cases[k].virial, 0.51e-4, 0);
        assert_close(values[0], (values[1] + values[2] + values[3]) / 3, 1e-14, 0);
        bench_end(&b);
    }
}

/* Pairs and waves of charges, in boxes of all shapes, two walkers; by every pair in turn. */
static void sums_over_all_pairs(void **state)
{
    (void)state;
    static const struct {
        int dimension, side;
        double vector[3][3];
    } shapes[] = {{3, 4, {{6, 0, 0}, {0, 7, 0}, {0, 0, 8}}},
                  {3, 4, {{6, 0, 0}, {1, 6, 0}, {-1, 0.5, 7}}},
                  {2, 8, {{12, 0, 0}, {0, 13, 0}, {0, 0, 1}}}};
    static const double mass[2] = {1, 1};
    for (int s = 0; s < 3; s++) {
        bench b;
        const int n = 64, dimension = shapes[s].dimension;
        double values[3][8];
        bench_begin(&b, dimension, (double[3]){1, 1, 1}, 2, 1);
        bench_vectors(&b, shapes[s].vector);
        bench_species(&b, "A", n / 2, 1, 1);
        bench_species(&b, "B", n / 2, 1, -1);
        bench_masses(&b, mass);
        bench_expect(
            &b, bench_configured(&b, "lennard_jones", "epsilon=1 cutoff=2.5 truncation=shift"));
        if (dimension == 3) /* neither of them jumps at its cutoff */
            bench_expect(&b, bench_configured(&b, "coulomb_ewald",
                                              "bjerrum_length=2 cutoff=2.9 tolerance=1e-10"));
        bench_expect(&b, bench_prepare(&b));
        double *r = bench_positions(&b);
        bench_lattice(&b, shapes[s].side, 0.1, r);
        for (int t = 0; t < 3; t++) {
            b.system.threads = t + 1;
            pressure(&b, r, values[t]);
            assert_memory_equal(values[t], values[0],
                                (size_t)(2 * (1 + dimension)) * sizeof(double));
        }
        b.system.walkers = 1; /* a walker at a time */
        for (int w = 0; w < 2; w++) {
            double virial[3] = {0};
            bench one = b;
            bench_energy(&one, r + 3 * n * w, NULL, virial);
            for (int d = 0; d < dimension; d++)
                assert_close(values[0][w * (1 + dimension) + 1 + d],
                             (n + virial[d]) / b.system.box.volume, 1e-12, 1e-12);
        }
        free(r);
        bench_end(&b);
    }
}

static void says_what_has_no_virial(void **state)
{
    (void)state;
    bench b;
    double r[6] = {0}, values[4];
    bench_begin(&b, 3, (double[3]){1, 1, 1}, 1, 1);
    bench_cube(&b, 5);
    bench_species(&b, "A", 2, 1, 0);
    bench_expect(&b, bench_configured(&b, "hard_disk", ""));
    assert_int_not_equal(try_pressure(&b, r, values), PLUGMC_OK);
    assert_non_null(strstr(b.message, "hard core"));
    b.terms[0].sampled = 0; /* it is not part of the system then */
    r[3] = 2;
    pressure(&b, r, values);
    assert_close(values[0], 2 / 125.0, 1e-15, 0);
    b.system.box.domain = PLUGMC_DOMAIN_SPHERE;
    assert_int_not_equal(try_pressure(&b, r, values), PLUGMC_OK);
    assert_non_null(strstr(b.message, "a sphere"));
    bench_end(&b);
    host_cells_free(&held);
}

TEST_MAIN(cmocka_unit_test(a_configuration_of_nist), cmocka_unit_test(sums_over_all_pairs),
          cmocka_unit_test(says_what_has_no_virial))
