/* pressure against exact results: two hard particles that attract or repel, whose partition function
 * is an integral; pairs that attract so strongly that g falls within a thousandth of a diameter; the
 * ideal gas; and what it refuses.
 *
 * Statistical tests: fixed seeds, |z| <= 4, a false alarm in 16 000 for each z printed. */
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

typedef struct meter {
    bench *b;
    const plugmc_plugin *plugin;
    void *instance;
    int64_t width, derived;
} meter;

static int try_meter(meter *m, bench *b, const char *settings)
{
    *m = (meter){.b = b, .plugin = open_plugin("pressure")};
    m->instance = bench_allocate(b->host.context, m->plugin->instance_size);
    set_parameters(m->plugin, m->instance, settings);
    viewed = b;
    int code = m->plugin->prepare(m->instance, &b->host);
    if (code) return code;
    plugmc_quantity q = {.size = sizeof q};
    for (int i = 0; m->plugin->observable->quantity(m->instance, i, &q); i++)
        m->width += plugmc_quantity_length(&q);
    for (int i = 0; m->plugin->observable->derived(m->instance, i, &q); i++)
        m->derived += plugmc_quantity_length(&q);
    return PLUGMC_OK;
}

static void look(const meter *m, const double *positions, double *values)
{
    plugmc_view view = {.size = sizeof view,
                        .positions = positions,
                        .cells = view_cells,
                        .box = boxes_of(&m->b->system)};
    bench_expect(m->b, m->plugin->observable->measure(m->instance, &m->b->host, &view, values));
}

static double uniform(uint64_t *state)
{
    const uint64_t n = (*state)++;
    const plugmc_random r = plugmc_draw((plugmc_seed){5}, n, 0, 0, PLUGMC_PURPOSE_INITIAL, 0);
    return plugmc_uniform_double(r.word[0], r.word[1]);
}

/* ---- Two particles --------------------------------------------------------------------------- */

typedef struct pair_case {
    const char *name;
    int dimension;
    double edge, diameters[2], charges[2], bjerrum_length, kappa, cutoff;
    const char *settings;
} pair_case;

/* Shifted, so that nothing jumps at the cutoff. */
static double energy_of(const pair_case *c, double r)
{
    return r < c->cutoff ? c->bjerrum_length * c->charges[0] * c->charges[1] *
                               (exp(-c->kappa * r) / r - exp(-c->kappa * c->cutoff) / c->cutoff)
                         : 0;
}

/* All within half the box: Z = V (V - B), B the integral of 1 - exp(-u), so that
 * P V = 1 + V / (V - B), which is exact to all orders, and N + N^2 B / 2 V of the virial expansion in a
 * large box. */
static double exact_pressure(const pair_case *c)
{
    const int steps = 200000, d = c->dimension;
    const double contact = (c->diameters[0] + c->diameters[1]) / 2,
                 surface = d == 2 ? 2 * M_PI : 4 * M_PI, volume = pow(c->edge, d),
                 width = (c->cutoff - contact) / steps;
    double b = surface * pow(contact, d) / d;
    for (int i = 0; i < steps; i++) {
        const double r = contact + (i + 0.5) * width;
        b += surface * pow(r, d - 1) * (1 - exp(-energy_of(c, r))) * width;
    }
    return (1 + volume / (volume - b)) / volume;
}

/* Independent states: the second particle anywhere, kept with probability exp(-u), where `highest` is
 * the largest that exp(-u) becomes. */
static void draw_pair(const pair_case *c, uint64_t *random, double *positions)
{
    const double contact = (c->diameters[0] + c->diameters[1]) / 2,
                 highest = fmax(1, exp(-energy_of(c, contact)));
    for (;;) {
        double square = 0;
        for (int d = 0; d < c->dimension; d++) {
            positions[d] = c->edge * uniform(random);
            const double s = c->edge * (uniform(random) - 0.5);
            positions[3 + d] = positions[d] + s - c->edge * floor((positions[d] + s) / c->edge);
            square += s * s;
        }
        const double r = sqrt(square);
        if (r > contact && uniform(random) * highest < exp(-energy_of(c, r))) return;
    }
}

static void check_pair(const pair_case *c)
{
    enum { BLOCKS = 40, SAMPLES = 4000 };
    bench b;
    meter m;
    char settings[128];
    uint64_t random = 0;
    double sum[4] = {0}, squares[4] = {0}, positions[6] = {0}, values[512], out[8];
    bench_begin(&b, c->dimension, (double[3]){c->edge, c->edge, c->edge}, 1, 1);
    bench_vectors(&b, (const double[3][3]){{c->edge, 0, 0},
                                           {0, c->edge, 0},
                                           {0, 0, c->dimension == 3 ? c->edge : 1}});
    bench_species(&b, "a", 1, c->diameters[0], c->charges[0]);
    bench_species(&b, "b", 1, c->diameters[1], c->charges[1]);
    bench_expect(&b, bench_configured(&b, "hard_disk", ""));
    snprintf(settings, sizeof settings, "bjerrum_length=%g kappa=%g cutoff=%g shift=yes",
             c->bjerrum_length, c->kappa, c->cutoff);
    bench_expect(&b, bench_configured(&b, "yukawa", settings));
    bench_expect(&b, try_meter(&m, &b, c->settings));
    assert_true(m.width <= 512 && m.derived == 4); /* the third: one pair of species */
    for (int block = 0; block < BLOCKS; block++) {
        double means[512] = {0};
        for (int s = 0; s < SAMPLES; s++) {
            draw_pair(c, &random, positions);
            look(&m, positions, values);
            for (int64_t i = 0; i < m.width; i++) means[i] += values[i] / SAMPLES;
        }
        assert_int_equal(m.plugin->observable->derive(m.instance, means, out), 0);
        assert_close(out[1], out[0] * b.system.box.volume / 2, 1e-14, 0);
        assert_close(out[0], means[0] + out[2], 1e-14, 0);
        for (int i = 0; i < 4; i++) sum[i] += out[i], squares[i] += out[i] * out[i];
    }
    double error[4];
    for (int i = 0; i < 4; i++) {
        sum[i] /= BLOCKS;
        error[i] = sqrt((squares[i] / BLOCKS - sum[i] * sum[i]) / (BLOCKS - 1));
    }
    assert_z(c->name, sum[0], error[0], exact_pressure(c), 4);
    /* and it is the contacts and the forces that make it so, either alone is seen to be wrong */
    printf("     contacts %.6g +- %.2g\n", sum[2], error[2]);
    assert_true(fabs(sum[0] - sum[2] - exact_pressure(c)) > 8 * error[0]);
    bench_end(&b);
    host_cells_free(&held);
}

static void two_particles_have_the_exact_pressure(void **state)
{
    (void)state;
    static const pair_case cases[] = {
        {"attracting spheres", 3, 4.2, {1, 1}, {1, -1}, 3, 1, 2, ""},
        {"repelling spheres", 3, 3.4, {1, 1}, {1, 1}, 1, 1, 1.6, ""},
        {"spheres, 20 kT at contact", 3, 3, {1, 1}, {2, -2}, 10, 2, 1.4, ""},
        {"attracting disks", 2, 5, {1, 1}, {1, -1}, 2, 0.5, 2.4, ""},
        {"unlike repelling disks", 2, 4, {1.4, 0.6}, {1, 2}, 0.5, 1, 1.9, ""},
        {"a straight line is enough",
         2,
         4,
         {1, 1},
         {1, -1},
         4,
         2,
         1.8,
         "fit_range=0.02 delta_r=1e-3 degree=1"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check_pair(&cases[k]);
}

/* ---- The extrapolation ----------------------------------------------------------------------- */

/* Mean counts of a gas with g = exp(-u) f, f a factor that varies slowly, in place of sampled ones. */
static void steep_contacts_are_extrapolated_without_bias(void **state)
{
    (void)state;
    for (int valence = 1; valence <= 4; valence++) {
        bench b;
        meter m;
        double means[512] = {0}, out[8];
        char settings[64];
        bench_begin(&b, 3, (double[3]){1, 1, 1}, 1, 1);
        bench_cube(&b, 20);
        bench_species(&b, "cation", 50, 1, valence);
        bench_species(&b, "anion", 50, 1, -valence);
        bench_expect(&b, bench_configured(&b, "hard_disk", ""));
        snprintf(settings, sizeof settings, "bjerrum_length=1.68 cutoff=6 tolerance=1e-4");
        bench_expect(&b, bench_configured(&b, "coulomb_ewald", settings));
        bench_expect(&b, bench_prepare(&b));
        bench_expect(&b, try_meter(&m, &b, ""));
        const plugmc_observable *observable = m.plugin->observable;
        plugmc_quantity q = {.size = sizeof q};
        for (int pair = 0, at = 1; pair < 3; pair++) { /* ++, +-, -- */
            const double product = (pair == 1 ? -1.0 : 1.0) * valence * valence;
            assert_int_equal(observable->quantity(m.instance, 1 + pair, &q), 1);
            for (int64_t k = 0; k < q.shape[0]; k++, at++) {
                const double r =
                    q.abscissa[0][k]; /* the bare charge: slopes differ from Ewald's pairs */
                means[at] = exp(-1.68 * product * (1 / r - 1)) * (1 - 2 * (r - 1));
            }
        }
        assert_int_equal(observable->derive(m.instance, means, out), 0);
        for (int pair = 0; pair < 3; pair++) {
            printf("valence %d, pair %d: bias %.1e\n", valence, pair, out[3 + pair] - 1);
            assert_close(out[3 + pair], 1, 2e-5, 0);
        }
        /* all contact values 1: 2 pi / 3 rho^2 of 100 particles */
        assert_close(out[2], 2 * M_PI / 3 * pow(100 / 8000.0, 2), 2e-5, 0);
        bench_end(&b);
    }
}

/* ---- Simple cases ---------------------------------------------------------------------------- */

static void without_cores_it_is_the_virial_pressure(void **state)
{
    (void)state;
    bench b;
    meter m;
    double values[4], virial[3] = {0}, out[8];
    static const double mass = 1;
    bench_begin(&b, 3, (double[3]){1, 1, 1}, 1, 1);
    bench_cube(&b, 6);
    bench_species(&b, "A", 64, 1, 0);
    bench_masses(&b, &mass);
    bench_expect(&b,
                 bench_configured(&b, "lennard_jones", "epsilon=1 cutoff=2.5 truncation=shift"));
    double *r = bench_positions(&b);
    bench_lattice(&b, 4, 0.1, r);
    bench_expect(&b, try_meter(&m, &b, ""));
    assert_int_equal(m.width, 1);
    look(&m, r, values);
    assert_int_equal(m.plugin->observable->derive(m.instance, values, out), 0);
    bench_energy(&b, r, NULL, virial);
    assert_close(out[0], (64 + (virial[0] + virial[1] + virial[2]) / 3) / 216, 1e-12, 0);
    assert_true(out[2] == 0);
    free(r);
    bench_end(&b);
    host_cells_free(&held);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    double values[2][512];
    for (int run = 0; run < 2; run++) {
        bench b;
        meter m;
        bench_begin(&b, 3, (double[3]){1, 1, 1}, 1, 1);
        bench_cube(&b, 6);
        bench_species(&b, "a", 32, 1, 1);
        bench_species(&b, "b", 32, 1, -1);
        bench_expect(&b, bench_configured(&b, "hard_disk", ""));
        bench_expect(&b, bench_configured(&b, "yukawa", "bjerrum_length=2 kappa=1 cutoff=2.5"));
        b.system.threads = 1 + 2 * run;
        bench_expect(&b, try_meter(&m, &b, "fit_range=0.6 delta_r=0.006"));
        double *r = bench_positions(&b);
        bench_lattice(&b, 4, 0.1, r);
        look(&m, r, values[run]);
        double counted = 0;
        for (int64_t i = 1; i < m.width; i++) counted += values[run][i];
        assert_true(counted > 0);
        if (run) assert_memory_equal(values[0], values[1], (size_t)m.width * sizeof(double));
        free(r);
        bench_end(&b);
    }
    host_cells_free(&held);
}

static void what_it_cannot_measure_is_said(void **state)
{
    (void)state;
    static const struct {
        double edge;
        const char *potential, *settings, *says;
        int sphere;
    } cases[] = {
        {2.05, "hard_disk", "", "less than twice 1.05", 0},
        {9, "hard_disk", "degree=12 delta_r=0.01", "give 5 bins", 0},
        {9, "spherical_wall", "", "is a field", 0},
        {9, "hard_disk", "", "a sphere", 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bench b;
        meter m;
        bench_begin(&b, 3, (double[3]){1, 1, 1}, 1, 1);
        bench_cube(&b, cases[k].edge);
        bench_species(&b, "A", 2, 1, 0);
        b.system.box.domain = PLUGMC_DOMAIN_SPHERE; /* where a wall is at home */
        b.system.box.radius = 5;
        bench_expect(&b, bench_configured(&b, cases[k].potential, ""));
        if (!cases[k].sphere) b.system.box.domain = PLUGMC_DOMAIN_PERIODIC;
        assert_int_equal(try_meter(&m, &b, cases[k].settings), PLUGMC_ERROR_INPUT);
        if (!strstr(b.message, cases[k].says)) fail_msg("said: %s", b.message);
        bench_end(&b);
    }
}

static void overlaps_are_an_error(void **state)
{
    (void)state;
    bench b;
    meter m;
    double values[512];
    const double positions[6] = {0.1, 0.1, 0.1, 8.4, 0.1, 0.1}; /* across the edge */
    bench_begin(&b, 3, (double[3]){1, 1, 1}, 1, 1);
    bench_cube(&b, 9);
    bench_species(&b, "A", 2, 1, 0);
    bench_expect(&b, bench_configured(&b, "hard_disk", ""));
    bench_expect(&b, try_meter(&m, &b, ""));
    plugmc_view view = {.size = sizeof view,
                        .sweep = 77,
                        .positions = positions,
                        .cells = view_cells,
                        .box = boxes_of(&b.system)};
    assert_int_equal(m.plugin->observable->measure(m.instance, &b.host, &view, values),
                     PLUGMC_ERROR_STATE);
    assert_non_null(strstr(b.message, "sweep 77"));
    bench_end(&b);
    host_cells_free(&held);
}

TEST_MAIN(cmocka_unit_test(two_particles_have_the_exact_pressure),
          cmocka_unit_test(steep_contacts_are_extrapolated_without_bias),
          cmocka_unit_test(without_cores_it_is_the_virial_pressure),
          cmocka_unit_test(threads_change_no_bit), cmocka_unit_test(what_it_cannot_measure_is_said),
          cmocka_unit_test(overlaps_are_an_error))
