/* rdf, energy, hexatic_order and trajectory on the CPU, against plain loops over all pairs and
 * configurations whose values are known.
 *
 * The one statistical test (ideal gas) has a fixed seed; |z| <= 4, a false alarm in 16 000. */
#include "observing.h"

/* ---- rdf ------------------------------------------------------------------------------------- */

static void an_ideal_gas_has_g_of_one(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench *b = bench_new(dimension, 4, 5, dimension == 3 ? 6 : 1, 40000);
        samples first = {0}, last = {0}, all = {0};
        plugmc_quantity q = {.size = sizeof q};
        add_species(b, "gas", 5, 1, 0);
        observe(b, "rdf");
        *(int64_t *)parameter(b, "bins") = 4;
        ready(b);
        place_at_random(b, 0);
        double *values = calloc((size_t)(40000 * place(b, NULL, NULL)), sizeof *values);
        measure(b, values);
        assert_int_equal(1, b->observable->quantity(b->instance, 0, &q));
        assert_int_equal(0, b->observable->quantity(b->instance, 1, &q));
        assert_string_equal("gas-gas", q.name);
        assert_close(q.abscissa[0][3], 1.75, 1e-15, 0); /* half of the smallest edge is 2 */
        for (int w = 0; w < 40000; w++) {
            add_sample(&first, values[4 * w]);
            add_sample(&last, values[4 * w + 3]);
            add_sample(&all, (values[4 * w + 1] + values[4 * w + 2]) / 2);
        }
        assert_z("ideal gas, first bin", mean_of(&first), error_of(&first), 1, 4);
        assert_z("ideal gas, middle", mean_of(&all), error_of(&all), 1, 4);
        assert_z("ideal gas, last bin", mean_of(&last), error_of(&last), 1, 4);
        free(values);
        bench_free(b);
    }
}

/* g of one pair of species, bin by bin, from all pairs. */
static void check_plain_rdf(bench *b, const double *values, int a, int c, double width, int bins)
{
    double pairs[64] = {0}, all = 0;
    for (int64_t i = b->first[a]; i < b->first[a + 1]; i++) {
        for (int64_t j = b->first[c]; j < b->first[c + 1]; j++) {
            if (a == c && j <= i) continue;
            double r = distance(b, b->positions + 3 * i, b->positions + 3 * j);
            if (r < width * bins) pairs[(int)(r / width)]++;
            all++;
        }
    }
    for (int k = 0; k < bins; k++) {
        double low = width * k, high = width * (k + 1);
        double shell = b->system.box.dimension == 2
                           ? M_PI * (high * high - low * low)
                           : 4 * M_PI / 3 * (high * high * high - low * low * low);
        assert_close(values[k], pairs[k] * b->system.box.volume / (all * shell), 1e-12, 1e-12);
    }
}

static void pairs_of_species_are_counted_apart(void **state)
{
    (void)state;
    const double r_max[] = {0, 1.0, 2.0}; /* two, many, three or more cells an edge */
    for (int dimension = 2; dimension <= 3; dimension++) {
        for (int k = 0; k < 3; k++) {
            bench *b = bench_new(dimension, 6.5, 7, dimension == 3 ? 8 : 1, 1);
            add_species(b, "up", 150, 1, 0);
            add_species(b, "down", 120, 1, 0);
            add_species(b, "ion", 1, 1, 0);
            observe(b, "rdf");
            *(double *)parameter(b, "r_max") = r_max[k];
            *(int64_t *)parameter(b, "bins") = 40;
            ready(b);
            place_at_random(b, 0);
            double *values = calloc((size_t)place(b, NULL, NULL), sizeof *values);
            measure(b, values);
            double width = (r_max[k] > 0 ? r_max[k] : 3.25) / 40;
            check_plain_rdf(b, values + place(b, "up-up", NULL), 0, 0, width, 40);
            check_plain_rdf(b, values + place(b, "up-down", NULL), 0, 1, width, 40);
            check_plain_rdf(b, values + place(b, "down-down", NULL), 1, 1, width, 40);
            check_plain_rdf(b, values + place(b, "up-ion", NULL), 0, 2, width, 40);
            check_plain_rdf(b, values + place(b, "down-ion", NULL), 1, 2, width, 40);
            assert_int_equal(5 * 40, place(b, NULL, NULL)); /* no ion-ion: there is one ion */
            free(values);
            bench_free(b);
        }
    }
}

static void rdf_refuses_distances_beyond_half_the_box(void **state)
{
    (void)state;
    bench *b = bench_new(2, 6, 5, 1, 1);
    add_species(b, "disk", 3, 1, 0);
    observe(b, "rdf");
    *(double *)parameter(b, "r_max") = 2.6;
    assert_int_equal(PLUGMC_ERROR_INPUT, prepare(b));
    assert_non_null(strstr(b->context.message, "half the smallest edge"));
    bench_free(b);
}

/* ---- energy ---------------------------------------------------------------------------------- */

/* u(r) = q_a q_b (c - r)^2 below c, and without a cutoff q_a q_b / (1 + r^2). */
static double pair_value(double cutoff, double qq, double r)
{
    if (isinf(cutoff)) return qq / (1 + r * r);
    return r < cutoff ? qq * (cutoff - r) * (cutoff - r) : 0;
}

static double test_range(const void *instance) { return *(const double *)instance; }

static int64_t test_pair(const void *instance, const plugmc_box *box, int periodic,
                         const plugmc_particle *probe, const plugmc_particles *others,
                         double *energy)
{
    const double *x = others->x, *y = others->y, *z = others->z, *charge = others->charge;
    for (int64_t j = 0; j < others->n; j++) {
        double d[3] = {probe->x - x[j], probe->y - y[j], probe->z - z[j]};
        for (int a = 0; a < 3 && periodic; a++) d[a] = shortest(d[a], box->length[a]);
        *energy += pair_value(*(const double *)instance, probe->charge * charge[j],
                              sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    return 0;
}

static int64_t test_field(const void *instance, const plugmc_particles *all, double *energy)
{
    (void)instance;
    for (int64_t i = 0; i < all->n; i++)
        *energy += ((const double *)all->x)[i] * ((const double *)all->charge)[i];
    return 0;
}

/* The instance of this total is the system. */
static int test_total(void *instance, const plugmc_total_request *request)
{
    const plugmc_system *system = *(const plugmc_system **)instance;
    assert_null(request->forces);
    assert_null(request->virial);
    for (int w = 0; w < system->walkers; w++)
        request->energy[w] += 100 * w + request->view->positions[3 * w * system->particles];
    return PLUGMC_OK;
}

static const plugmc_parameter test_table[] = {
    {"cutoff", PLUGMC_TYPE_REAL, 0, 0, "0", 0, INFINITY, "length", NULL, "range", 0}};
static const plugmc_pair test_pair_facet = {.size = sizeof test_pair_facet,
                                            .functions = PLUGMC_PAIR_ENERGY,
                                            .range = test_range,
                                            .energy = test_pair};
static const plugmc_field test_field_facet = {.size = sizeof test_field_facet,
                                              .energy = test_field};
static const plugmc_total test_total_facet = {.size = sizeof test_total_facet,
                                              .energy = test_total};
static const plugmc_potential with_pair = {.pair = &test_pair_facet},
                              with_pair_and_field = {.pair = &test_pair_facet,
                                                     .field = &test_field_facet},
                              with_total = {.total = &test_total_facet, .pair = &test_pair_facet},
                              with_nothing = {.size = 0};

#define TEST_POTENTIAL(facets)                                                                     \
    {                                                                                              \
        .kind = PLUGMC_POTENTIAL, .name = "test", .instance_size = sizeof(double),                 \
        .parameters = test_table, .parameter_count = 1, .potential = &facets                       \
    }
static const plugmc_plugin pair_plugin = TEST_POTENTIAL(with_pair),
                           both_plugin = TEST_POTENTIAL(with_pair_and_field),
                           total_plugin = TEST_POTENTIAL(with_total),
                           empty_plugin = TEST_POTENTIAL(with_nothing);

static double plain_energy(const bench *b, int walker, double cutoff)
{
    const double *r = b->positions + 3 * walker * b->system.particles;
    double sum = 0;
    for (int64_t i = 0; i < b->system.particles; i++) {
        for (int64_t j = 0; j < i; j++) {
            double qq = b->species[species_at(b, i)].charge * b->species[species_at(b, j)].charge;
            sum += pair_value(cutoff, qq, distance(b, r + 3 * i, r + 3 * j));
        }
    }
    return sum;
}

static double plain_field(const bench *b, int walker)
{
    double sum = 0;
    for (int64_t i = 0; i < b->system.particles; i++)
        sum += b->positions[3 * (walker * b->system.particles + i)] *
               b->species[species_at(b, i)].charge;
    return sum;
}

static void energies_are_those_of_a_loop_over_all_pairs(void **state)
{
    (void)state;
    const double cutoffs[] = {0.9, 1.9, 2.6, INFINITY}; /* many cells, three, two by two, none */
    for (int dimension = 2; dimension <= 3; dimension++) {
        for (int c = 0; c < 4; c++) {
            bench *b = bench_new(dimension, 6, 5.5, dimension == 3 ? 7 : 1, 2);
            double values[10];
            add_species(b, "plus", 40, 1, 1.5);
            add_species(b, "minus", 35, 1, -1);
            add_term(b, "soft", &pair_plugin, 1);
            add_term(b, "wall", &both_plugin, 0);
            add_term(b, "whole", &total_plugin, 1);
            const plugmc_system *system = &b->system;
            memcpy(b->instances[2], &system, sizeof system);
            add_term(b, "core", open_plugin("hard_disk"), 1);
            *(double *)b->instances[0] = cutoffs[c];
            *(double *)b->instances[1] = 1.2;
            observe(b, "energy");
            ready(b);
            place_at_random(b, 0);
            measure(b, values);
            assert_int_equal(5, place(b, NULL, NULL));
            for (int w = 0; w < 2; w++) {
                const double *v = values + 5 * w;
                double soft = plain_energy(b, w, cutoffs[c]) / 75;
                double wall = (plain_energy(b, w, 1.2) + plain_field(b, w)) / 75;
                double whole = (100 * w + b->positions[3 * 75 * w]) / 75;
                assert_close(v[place(b, "energy_soft", NULL)], soft, 1e-11, 1e-12);
                assert_close(v[place(b, "energy_wall", NULL)], wall, 1e-11, 1e-12);
                assert_close(v[place(b, "energy_whole", NULL)], whole, 1e-14, 0);
                assert_true(v[place(b, "energy_core", NULL)] == 0);
                assert_close(v[place(b, "energy", NULL)], soft + wall + whole, 1e-11, 1e-12);
            }
            bench_free(b);
        }
    }
}

static void a_run_without_any_energy_is_refused(void **state)
{
    (void)state;
    bench *b = bench_new(2, 6, 6, 1, 1);
    add_species(b, "disk", 3, 1, 0);
    add_term(b, "nothing", &empty_plugin, 1);
    observe(b, "energy");
    assert_int_equal(PLUGMC_ERROR_INPUT, prepare(b));
    bench_free(b);
}

static int running(const plugmc_view *view, double *energy)
{
    (void)view;
    energy[0] = 30;
    energy[1] = -60;
    return PLUGMC_OK;
}

static void the_running_energy_is_taken_from_the_mover(void **state)
{
    (void)state;
    bench *b = bench_new(2, 6, 6, 1, 2);
    double values[2];
    add_species(b, "disk", 6, 1, 0);
    add_term(b, "core", open_plugin("hard_disk"), 1);
    observe(b, "energy");
    *(int32_t *)parameter(b, "source") = 1;
    ready(b);
    assert_int_equal(1, place(b, NULL, NULL)); /* the sum alone: the mover knows no terms */
    assert_int_equal(PLUGMC_ERROR_INPUT, try_measure(b, values));
    assert_non_null(strstr(b->context.message, "the mover of this run has no running energy"));
    b->view.running_energy = running;
    measure(b, values);
    assert_true(values[0] == 5 && values[1] == -10);
    b->view.size = offsetof(plugmc_view, running_energy); /* a core that does not know it */
    assert_int_equal(PLUGMC_ERROR_INPUT, try_measure(b, values));
    bench_free(b);
}

/* ---- hexatic_order --------------------------------------------------------------------------- */

/* A triangular lattice of m x m particles, bonds along x (turned 0) or along y (1). */
static bench *triangular(int m, int turned)
{
    double edges[2] = {m, m * sqrt(3) / 2};
    bench *b = bench_new(2, edges[turned], edges[1 - turned], 1, 1);
    add_species(b, "disk", (int64_t)m * m, 0.95, 0);
    observe(b, "hexatic_order");
    for (int i = 0; i < m * m; i++) {
        b->positions[3 * i + turned] = i % m + (i / m % 2 ? 0.5 : 0);
        b->positions[3 * i + 1 - turned] = (i / m + 0.25) * sqrt(3) / 2;
    }
    return b;
}

static void a_triangular_lattice_has_modulus_one_and_the_phase_of_its_bonds(void **state)
{
    (void)state;
    for (int m = 4; m <= 20; m += 2) {
        for (int turned = 0; turned < 2; turned++) {
            bench *b = triangular(m, turned);
            double values[4];
            ready(b);
            measure(b, values);
            assert_close(values[place(b, "psi6_real", NULL)], turned ? -1 : 1, 1e-9, 0);
            assert_close(values[place(b, "psi6_imaginary", NULL)], 0, 0, 1e-9);
            assert_close(values[place(b, "psi6_modulus", NULL)], 1, 1e-9, 0);
            assert_close(values[place(b, "psi6_squared", NULL)], 1, 1e-9, 0);
            bench_free(b);
        }
    }
}

static void hexatic_order_is_that_of_a_loop_over_all_pairs(void **state)
{
    (void)state;
    const double edges[] = {3.2, 4.5, 17}; /* two, three and many cells */
    for (int k = 0; k < 3; k++) {
        bench *b = bench_new(2, edges[k], edges[k] + 0.3, 1, 2);
        double values[8], derived;
        add_species(b, "large", 3 + 40 * (k == 2), 1, 0);
        add_species(b, "small", 5 + 60 * (k == 2), 0.5, 0);
        observe(b, "hexatic_order");
        ready(b);
        place_at_random(b, 0);
        measure(b, values);
        const int64_t n = b->system.particles;
        for (int w = 0; w < 2; w++) {
            const double *r = b->positions + 3 * n * w;
            double re = 0, im = 0;
            for (int64_t i = 0; i < n; i++) {
                double x = 0, y = 0, neighbours = 0;
                for (int64_t j = 0; j < n; j++) {
                    if (j == i || distance(b, r + 3 * i, r + 3 * j) >= 1.45) continue;
                    double angle =
                        atan2(shortest(r[3 * j + 1] - r[3 * i + 1], b->system.box.length[1]),
                              shortest(r[3 * j] - r[3 * i], b->system.box.length[0]));
                    x += cos(6 * angle);
                    y += sin(6 * angle);
                    neighbours++;
                }
                re += neighbours > 0 ? x / neighbours / (double)n : 0;
                im += neighbours > 0 ? y / neighbours / (double)n : 0;
            }
            assert_close(values[4 * w], re, 0, 1e-10);
            assert_close(values[4 * w + 1], im, 0, 1e-10);
            assert_close(values[4 * w + 2], hypot(re, im), 0, 1e-10);
            assert_close(values[4 * w + 3], re * re + im * im, 0, 1e-10);
        }
        const double means[4] = {0, 0, 0.5, 0.29};
        assert_int_equal(0, b->observable->derive(b->instance, means, &derived));
        assert_close(derived, 0.04 * (double)n, 1e-12, 0);
        bench_free(b);
    }
}

static void hexatic_order_refuses_what_it_is_not_defined_for(void **state)
{
    (void)state;
    const struct {
        int dimension;
        double edge, diameter;
        const char *reason;
    } cases[] = {{3, 9, 1, "two dimensions"}, {2, 2.8, 1, "half the edge"}, {2, 9, 0, "diameter"}};
    for (int i = 0; i < 3; i++) {
        const double z = cases[i].dimension == 3 ? 9 : 1;
        bench *b = bench_new(cases[i].dimension, 9, cases[i].edge, z, 1);
        add_species(b, "disk", 3, cases[i].diameter, 0);
        observe(b, "hexatic_order");
        assert_int_equal(PLUGMC_ERROR_INPUT, prepare(b));
        assert_non_null(strstr(b->context.message, cases[i].reason));
        bench_free(b);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static void trajectory_measures_nothing_and_asks_for_the_positions(void **state)
{
    (void)state;
    bench *b = bench_new(2, 6, 6, 1, 1);
    add_species(b, "disk", 3, 1, 0);
    observe(b, "trajectory");
    assert_int_equal(1, b->observable->writes_trajectory);
    assert_int_equal(1, b->observable->on_device);
    assert_null(b->observable->quantity);
    assert_null(b->observable->measure);
    bench_free(b);
}

static void the_number_of_threads_changes_no_bit(void **state)
{
    (void)state;
    const char *names[] = {"rdf", "energy", "hexatic_order"};
    for (int k = 0; k < 3; k++) {
        double *values[2];
        size_t bytes = 0;
        for (int run = 0; run < 2; run++) {
            bench *b = bench_new(2, 15, 14, 1, 2);
            add_species(b, "plus", 300, 1, 1);
            add_species(b, "minus", 299, 1, -1);
            add_term(b, "soft", &pair_plugin, 1);
            add_term(b, "far", &pair_plugin, 1);
            *(double *)b->instances[0] = 1.7;
            *(double *)b->instances[1] = INFINITY;
            b->system.threads = run == 0 ? 1 : 5;
            observe(b, names[k]);
            ready(b);
            place_at_random(b, 0);
            bytes = 2 * (size_t)place(b, NULL, NULL) * sizeof(double);
            values[run] = calloc(1, bytes);
            measure(b, values[run]);
            bench_free(b);
        }
        assert_memory_equal(values[0], values[1], bytes);
        free(values[0]);
        free(values[1]);
    }
}

static void device_texts_are_offered_once(void **state)
{
    (void)state;
    const char *names[] = {"rdf", "hexatic_order"};
    const char *kernels[] = {" all_pairs(", " order_sums("};
    for (int k = 0; k < 2; k++) {
        bench *b = bench_new(2, 9, 9, 1, 1);
        plugmc_gpu_source text = {.size = sizeof text};
        add_species(b, "disk", 2, 1, 0);
        observe(b, names[k]);
        assert_int_equal(1, b->plugin->gpu_source(b->instance, &b->host, 0, &text));
        assert_non_null(strstr(text.source, kernels[k]));
        assert_int_equal(0, b->plugin->gpu_source(b->instance, &b->host, 1, &text));
        bench_free(b);
    }
}

TEST_MAIN(cmocka_unit_test(an_ideal_gas_has_g_of_one),
          cmocka_unit_test(pairs_of_species_are_counted_apart),
          cmocka_unit_test(rdf_refuses_distances_beyond_half_the_box),
          cmocka_unit_test(energies_are_those_of_a_loop_over_all_pairs),
          cmocka_unit_test(a_run_without_any_energy_is_refused),
          cmocka_unit_test(the_running_energy_is_taken_from_the_mover),
          cmocka_unit_test(a_triangular_lattice_has_modulus_one_and_the_phase_of_its_bonds),
          cmocka_unit_test(hexatic_order_is_that_of_a_loop_over_all_pairs),
          cmocka_unit_test(hexatic_order_refuses_what_it_is_not_defined_for),
          cmocka_unit_test(trajectory_measures_nothing_and_asks_for_the_positions),
          cmocka_unit_test(the_number_of_threads_changes_no_bit),
          cmocka_unit_test(device_texts_are_offered_once))
