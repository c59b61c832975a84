/* hard_pressure against exact results: one and two particles in boxes of any size, rods on a ring
 * (the gas of L. Tonks, Phys. Rev. 50, 955 (1936)), a plain loop over all images, and the model
 * distribution by which the parameters of the extrapolation are chosen.
 *
 * Statistical tests: fixed seeds, |z| <= 4, a false alarm in 16 000 for each z printed. */
#include "observing.h"

static bench *hard_bench(int dimension, double x, double y, double z)
{
    bench *b = bench_new(dimension, x, y, z, 1);
    add_term(b, "core", open_plugin("hard_disk"), 1);
    return b;
}

static void choose(bench *b, int fit) { *(int32_t *)parameter(b, "fit") = fit; }

enum { AUTO, YES, NO };

static void a_lone_particle_is_an_ideal_gas(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench *b = hard_bench(dimension, 3, 4, dimension == 3 ? 5 : 1);
        double values[8];
        add_species(b, "disk", 1, 0.5, 0);
        observe(b, "hard_pressure");
        choose(b, NO);
        ready(b);
        place_at_random(b, 0);
        measure(b, values);
        for (int i = 0; i <= dimension; i++)
            assert_close(values[i], 1 / b->system.box.volume, 1e-14, 0);
        bench_free(b);
    }
}

/* The reduced pressure stands beside it, in units of the contact distance, whatever the species. */
static void the_reduced_pressure_is_in_contact_distances(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench *b = hard_bench(dimension, 30, 40, dimension == 3 ? 50 : 1);
        plugmc_quantity pressure = {.size = sizeof pressure}, reduced = pressure, fit = pressure;
        add_species(b, "a", 20, 2.5, 0);
        add_species(b, "b", 30, 2.5, 0);
        observe(b, "hard_pressure");
        ready(b);
        place_at_random(b, 1);
        double *values = calloc((size_t)place(b, NULL, NULL), sizeof *values);
        measure(b, values);
        const int64_t at = place(b, "reduced_pressure", &reduced);
        assert_int_equal(0, place(b, "pressure", &pressure));
        assert_true(values[0] > 50 / b->system.box.volume);
        assert_close(values[at], values[0] * pow(2.5, dimension), 1e-14, 0);
        assert_int_equal(1, b->observable->derived(b->instance, 0, &fit));
        assert_string_equal(dimension == 2 ? "kT/length^2" : "kT/length^3", pressure.unit);
        assert_string_equal(pressure.unit, fit.unit);
        assert_string_equal("", reduced.unit);
        free(values);
        bench_free(b);
    }
}

/* Two disks: Z = V (V - A), A the area within contact of a disk, cut by half the edges. Scaling
 * along x: beta P_x V = 1 + (V - L_x dA/dL_x) / (V - A). */
static double two_disks(const double length[2], double s, int axis)
{
    double area = M_PI * s * s, slope = 0, volume = length[0] * length[1];
    for (int a = 0; a < 2; a++) {
        double h = length[a] / 2;
        if (h >= s) continue;
        area -= 2 * (s * s * acos(h / s) - h * sqrt(s * s - h * h));
        if (a == axis) slope = 2 * sqrt(s * s - h * h);
    }
    return 1 + (volume - length[axis] * slope) / (volume - area);
}

static void check_two_disks(double x, double y, const double diameters[2], int samples_wanted)
{
    bench *b = hard_bench(2, x, y, 1);
    samples along[2] = {{0}};
    double values[4], s = (diameters[0] + diameters[1]) / 2;
    add_species(b, "a", 1, diameters[0], 0);
    add_species(b, "b", 1, diameters[1], 0);
    observe(b, "hard_pressure");
    choose(b, NO);
    ready(b);
    for (int i = 0; i < samples_wanted; i++) {
        place_at_random(b, 1);
        measure(b, values);
        add_sample(&along[0], values[1] * x * y);
        add_sample(&along[1], values[2] * x * y);
    }
    for (int a = 0; a < 2; a++) {
        char name[80];
        snprintf(name, sizeof name, "two disks, %g x %g, axis %d", x, y, a);
        assert_z(name, mean_of(&along[a]), error_of(&along[a]),
                 two_disks(b->system.box.length, s, a), 4);
    }
    bench_free(b);
}

static void two_disks_have_the_exact_pressure_in_boxes_of_any_size(void **state)
{
    (void)state;
    const double equal[2] = {1, 1}, unequal[2] = {1.4, 0.6}, small[2] = {0.3, 1.5};
    check_two_disks(1.6, 1.6, equal, 40000);   /* met on both sides at once */
    check_two_disks(1.7, 2.4, equal, 40000);   /* one cell by two */
    check_two_disks(2.2, 2.2, equal, 40000);   /* two by two */
    check_two_disks(3.3, 2.1, unequal, 40000); /* a mixture */
    check_two_disks(5.0, 3.5, small, 40000);   /* three cells by two */
}

static void two_spheres_have_the_exact_pressure(void **state)
{
    (void)state;
    bench *b = hard_bench(3, 2.1, 2.3, 3.2);
    samples all = {0};
    double values[4], volume = b->system.box.volume;
    add_species(b, "sphere", 2, 1, 0);
    observe(b, "hard_pressure");
    ready(b);
    double *full = calloc((size_t)place(b, NULL, NULL), sizeof *full);
    for (int i = 0; i < 40000; i++) {
        place_at_random(b, 1);
        measure(b, full);
        memcpy(values, full, sizeof values);
        assert_close(values[0], (values[1] + values[2] + values[3]) / 3, 1e-14, 0);
        add_sample(&all, values[0]);
    }
    assert_z("two spheres", mean_of(&all), error_of(&all),
             (1 + volume / (volume - 4 * M_PI / 3)) / volume, 4);
    free(full);
    bench_free(b);
}

/* Disks in a row whose heights y are fixed and differ too little to pass: a ring of rods, touching
 * at x_i = sqrt(1 - (y_i+1 - y_i)^2). All states are equally likely, so the gaps are uniform on a
 * simplex: drawn directly, no Markov chain. beta P_x V = 1 + (N - 1) L / (L - sum x_i). */
static void check_rods(int n, double length, double spread, int samples_wanted)
{
    bench *b = hard_bench(2, length, 3, 1);
    samples along = {0};
    double touch[64], gap[64], values[4], filled = 0;
    add_species(b, "rod", n, 1, 0);
    observe(b, "hard_pressure");
    choose(b, NO);
    ready(b);
    for (int i = 0; i < n; i++) b->positions[3 * i + 1] = 1 + spread * uniform(b);
    for (int i = 0; i < n; i++) {
        double dy = b->positions[3 * ((i + 1) % n) + 1] - b->positions[3 * i + 1];
        filled += touch[i] = n > 1 ? sqrt(1 - dy * dy) : 0;
    }
    for (int s = 0; s < samples_wanted; s++) {
        double x = length * uniform(b), sum = 0;
        for (int i = 0; i < n; i++) sum += gap[i] = -log(1 - uniform(b));
        for (int i = 0; i < n; i++) {
            b->positions[3 * i] = x - length * floor(x / length);
            x += touch[i] + gap[i] / sum * (length - filled);
        }
        measure(b, values);
        add_sample(&along, values[1] * length * 3);
    }
    char name[80];
    snprintf(name, sizeof name, "%d rods, length %g, spread %g", n, length, spread);
    if (n == 2) { /* the rift is what both leave free, in every state */
        assert_close(mean_of(&along), 1 + length / (length - filled), 1e-7, 0);
        bench_free(b);
        return;
    }
    assert_z(name, mean_of(&along), error_of(&along), 1 + (n - 1) * length / (length - filled), 4);
    printf("     variance of one sample, over mean^2 and times N: %.3g\n",
           variance_of(&along) / pow(mean_of(&along), 2) * n);
    bench_free(b);
}

static void rods_on_a_ring_have_the_pressure_of_tonks(void **state)
{
    (void)state;
    check_rods(2, 2.7, 0.3, 100);
    check_rods(3, 3.6, 0, 50000);
    check_rods(7, 9, 0, 50000);
    check_rods(7, 8, 0.4, 50000);
    check_rods(40, 50, 0.4, 10000);
}

/* ---- Against a plain loop over all particles and images -------------------------------------- */

/* Free path of particle i along an axis, others and their images fixed; 1e300 if it is endless. */
static double plain_path(const bench *b, int64_t i, int axis, int sign, double *reach)
{
    const double *length = b->system.box.length, *r = b->positions;
    double best = 1e300;
    const int last = b->system.box.dimension == 3 ? 1 : 0;
    for (int64_t j = 0; j < b->system.particles; j++) {
        if (j == i) continue;
        for (int image = 0; image < 27; image++) {
            int shift[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
            double across = 0, ahead = 0;
            if (abs(shift[2]) > last) continue;
            for (int a = 0; a <= 1 + last; a++) {
                double d = r[3 * j + a] - r[3 * i + a] + shift[a] * length[a];
                if (a == axis)
                    ahead = sign * d;
                else
                    across += d * d;
            }
            double s = contact(b, i, j);
            if (across >= s * s || ahead < 0) continue;
            double x = sqrt(s * s - across);
            if (ahead - x < best) {
                best = ahead - x;
                *reach = x;
            }
        }
    }
    return best;
}

static double plain_pressure(const bench *b, int axis)
{
    double sum = 0;
    for (int64_t i = 0; i < b->system.particles; i++) {
        double up, down;
        double rift = plain_path(b, i, axis, 1, &up) + plain_path(b, i, axis, -1, &down);
        if (rift < 1e299) sum += (up + down) / rift;
    }
    return (double)b->system.particles + sum / 2;
}

static void check_plain(bench *b, int tries)
{
    observe(b, "hard_pressure");
    choose(b, NO);
    ready(b);
    double values[5];
    for (int t = 0; t < tries; t++) {
        place_at_random(b, 1);
        measure(b, values);
        for (int a = 0; a < b->system.box.dimension; a++)
            assert_close(values[1 + a], plain_pressure(b, a) / b->system.box.volume, 1e-6, 0);
    }
    bench_free(b);
}

static void rifts_are_those_of_a_loop_over_all_images(void **state)
{
    (void)state;
    const struct {
        int dimension;
        double x, y, z;
        int64_t a, b;
        double diameter_a, diameter_b;
        int tries;
    } cases[] = {
        {2, 2.6, 2.3, 1, 3, 0, 1, 1, 300},    /* two cells an edge, or fewer */
        {2, 1.9, 4.2, 1, 2, 1, 1, 0.7, 300},  /* one by four */
        {2, 11, 3.1, 1, 18, 0, 1, 1, 50},     /* many by three */
        {2, 20, 17, 1, 200, 0, 1, 1, 4},      /* a fluid */
        {2, 25, 25, 1, 30, 150, 1.6, 0.8, 4}, /* a mixture */
        {2, 40, 40, 1, 30, 0, 1, 1, 20},      /* a dilute gas: long paths */
        {3, 2.4, 2.9, 3.3, 4, 0, 1, 1, 100},  /* three dimensions, small */
        {3, 6, 7, 8, 60, 60, 1.1, 0.9, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench *b = hard_bench(cases[i].dimension, cases[i].x, cases[i].y, cases[i].z);
        b->random = 1000 * i + 1;
        add_species(b, "a", cases[i].a, cases[i].diameter_a, 0);
        if (cases[i].b > 0) add_species(b, "b", cases[i].b, cases[i].diameter_b, 0);
        check_plain(b, cases[i].tries);
    }
}

static void distances_near_contact_are_all_counted(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench *b = hard_bench(dimension, 12, 13, dimension == 3 ? 4 : 1);
        plugmc_quantity g = {.size = sizeof g};
        add_species(b, "disk", 80, 1, 0);
        observe(b, "hard_pressure");
        *(double *)parameter(b, "fit_range") = 0.2;
        *(double *)parameter(b, "delta_r") = 0.01;
        ready(b);
        place_at_random(b, 1);
        double *values = calloc((size_t)place(b, NULL, NULL), sizeof *values);
        measure(b, values);
        int64_t at = place(b, "g_contact", &g);
        assert_int_equal(20, g.shape[0]);
        double pairs[20] = {0}, counted = 0;
        for (int64_t i = 0; i < 80; i++) {
            for (int64_t j = 0; j < i; j++) {
                double r = distance(b, b->positions + 3 * i, b->positions + 3 * j);
                if (r < 1.2) pairs[(int)((r - 1) / 0.01)]++;
            }
        }
        for (int k = 0; k < 20; k++) {
            /* eq. 5, ring and shell as they are */
            double low = 1 + 0.01 * k, high = low + 0.01;
            double shell = dimension == 2 ? M_PI * (high * high - low * low)
                                          : 4 * M_PI / 3 * (pow(high, 3) - pow(low, 3));
            double expected = 2 * pairs[k] * b->system.box.volume / (80.0 * 80.0 * shell);
            assert_close(values[at + k], expected, 1e-9, 0);
            assert_true(g.abscissa[0][k] > low && g.abscissa[0][k] < high);
            counted += pairs[k];
        }
        assert_true(counted > 10);
        free(values);
        bench_free(b);
    }
}

/* ---- The extrapolation ----------------------------------------------------------------------- */

/* Section 4 of the paper: n(r) = 30 exp(-30 (r - 1)), default parameters, error below 1e-5. */
static void the_fit_has_no_bias_on_the_model_distribution(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench *b = hard_bench(dimension, 20, 20, dimension == 3 ? 20 : 1);
        plugmc_quantity g = {.size = sizeof g};
        double n = 300, density = n / b->system.box.volume, pressure;
        add_species(b, "disk", (int64_t)n, 1, 0);
        observe(b, "hard_pressure");
        ready(b);
        double *means = calloc((size_t)place(b, NULL, NULL), sizeof *means);
        int64_t at = place(b, "g_contact", &g);
        assert_int_equal(200, g.shape[0]);
        for (int k = 0; k < 200; k++) {
            double low = 1e-4 * k, pairs = exp(-30 * low) - exp(-30 * (low + 1e-4));
            double r = g.abscissa[0][k];
            double shell = (dimension == 2 ? 2 * M_PI * r : 4 * M_PI * r * r) * 1e-4;
            means[at + k] = pairs / (n * density * shell);
        }
        double exact = 30 / (n * density * (dimension == 2 ? 2 : 4) * M_PI);
        double slope = density * density * (dimension == 2 ? M_PI / 2 : 2 * M_PI / 3);
        assert_int_equal(0, b->observable->derive(b->instance, means, &pressure));
        double fitted = (pressure - density) / slope;
        printf("bias of the fit, %d dimensions: %.1e\n", dimension, fitted / exact - 1);
        assert_close(fitted, exact, 1e-5, 0);

        double all_there = pressure; /* what rounding keeps from contact does not matter */
        means[at] *= 0.999;
        assert_int_equal(0, b->observable->derive(b->instance, means, &pressure));
        assert_true(pressure == all_there);

        for (int k = 0; k < 200; k++) means[at + k] = 0;
        assert_int_not_equal(0, b->observable->derive(b->instance, means, &pressure));
        free(means);
        bench_free(b);
    }
}

static void the_fit_reproduces_polynomials_up_to_its_degree(void **state)
{
    (void)state;
    bench *b = hard_bench(2, 40, 40, 1);
    plugmc_quantity g = {.size = sizeof g};
    double pressure;
    add_species(b, "disk", 300, 2, 0);
    observe(b, "hard_pressure");
    ready(b);
    double *means = calloc((size_t)place(b, NULL, NULL), sizeof *means);
    int64_t at = place(b, "g_contact", &g);
    for (int k = 0; k < g.shape[0]; k++) {
        double t = (g.abscissa[0][k] / 2 - 1) / 0.02;
        means[at + k] = 7 - 3 * t + 2 * t * t - pow(t, 3) + 4 * pow(t, 4) - 5 * pow(t, 5);
    }
    assert_int_equal(0, b->observable->derive(b->instance, means, &pressure));
    assert_close(pressure, 0.75 / 4 * (1 + M_PI / 2 * 0.75 * 7), 1e-10, 0);
    free(means);
    bench_free(b);
}

/* The histogram of two disks, sampled and extrapolated, against their exact pressure. */
static void the_fit_agrees_with_the_exact_pressure_of_two_disks(void **state)
{
    (void)state;
    bench *b = hard_bench(2, 2.2, 2.2, 1);
    samples blocks = {0};
    add_species(b, "disk", 2, 1, 0);
    observe(b, "hard_pressure");
    ready(b);
    const int64_t n = place(b, NULL, NULL);
    double *values = calloc((size_t)n, sizeof *values), *means = calloc((size_t)n, sizeof *means);
    for (int block = 0; block < 40; block++) {
        double pressure;
        for (int64_t i = 0; i < n; i++) means[i] = 0;
        for (int s = 0; s < 4000; s++) {
            place_at_random(b, 1);
            measure(b, values);
            for (int64_t i = 0; i < n; i++) means[i] += values[i] / 4000;
        }
        assert_int_equal(0, b->observable->derive(b->instance, means, &pressure));
        add_sample(&blocks, pressure);
    }
    double volume = 2.2 * 2.2;
    assert_z("fit, two disks", mean_of(&blocks), error_of(&blocks),
             (1 + volume / (volume - M_PI)) / volume, 4);
    free(values);
    free(means);
    bench_free(b);
}

static void a_pair_that_rounding_put_below_contact_is_in_the_first_bin(void **state)
{
    (void)state;
    bench *b = hard_bench(2, 8, 8, 1);
    add_species(b, "disk", 2, 1, 0);
    observe(b, "hard_pressure");
    ready(b);
    double *values = calloc((size_t)place(b, NULL, NULL), sizeof *values);
    b->positions[0] = 0.5;
    b->positions[3] = 0.5 + (1 - 1e-7);
    measure(b, values);
    assert_true(values[place(b, "g_contact", NULL)] > 0);
    free(values);
    bench_free(b);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void overlapping_particles_are_an_error(void **state)
{
    (void)state;
    bench *b = hard_bench(2, 8, 8, 1);
    double values[4];
    add_species(b, "disk", 2, 1, 0);
    observe(b, "hard_pressure");
    choose(b, NO);
    ready(b);
    b->positions[0] = 7.8;
    b->positions[3] = 0.7; /* across the edge */
    b->view.sweep = 77;
    assert_int_equal(PLUGMC_ERROR_STATE, try_measure(b, values));
    assert_non_null(strstr(b->context.message, "sweep 77"));
    bench_free(b);
}

static void the_fit_is_left_out_where_it_means_nothing(void **state)
{
    (void)state;
    const char *reasons[] = {"several contact distances", "too small"};
    for (int small = 0; small < 2; small++) {
        for (int fit = AUTO; fit <= YES; fit++) {
            bench *b = hard_bench(2, small ? 1.9 : 9, 9, 1);
            plugmc_quantity q = {.size = sizeof q};
            add_species(b, "a", 2, 1, 0);
            add_species(b, "b", 2, small ? 1 : 1.3, 0);
            observe(b, "hard_pressure");
            choose(b, fit);
            assert_int_equal(fit == AUTO ? PLUGMC_OK : PLUGMC_ERROR_INPUT, prepare(b));
            assert_int_equal(0, b->context.warnings);
            if (fit == YES) assert_non_null(strstr(b->context.message, reasons[small]));
            if (fit == AUTO) {
                assert_int_equal(small ? 4 : 3, place(b, NULL, NULL));
                assert_int_equal(0, b->observable->derived(b->instance, 0, &q));
            }
            bench_free(b);
        }
    }
}

static double no_range(const void *instance)
{
    (void)instance;
    return INFINITY;
}

static void systems_without_only_hard_cores_are_refused(void **state)
{
    (void)state;
    static const plugmc_pair force = {
        .size = sizeof force, .functions = PLUGMC_PAIR_ENERGY, .range = no_range};
    static const plugmc_potential potential = {.size = sizeof potential, .pair = &force};
    static const plugmc_plugin soft = {
        .kind = PLUGMC_POTENTIAL, .name = "soft", .potential = &potential};
    struct {
        int core, soft, sampled, sphere;
        const char *reason;
    } cases[] = {
        {1, 1, 1, 0, "'soft' is sampled too"},
        {1, 1, 0, 0, NULL}, /* only measured */
        {0, 0, 0, 0, "hard core"},
        {1, 0, 0, 1, "sphere"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench *b = bench_new(2, 9, 9, 1, 1);
        if (cases[i].core) add_term(b, "core", open_plugin("hard_disk"), 1);
        if (cases[i].soft) add_term(b, "soft", &soft, cases[i].sampled);
        if (cases[i].sphere) b->system.box.domain = PLUGMC_DOMAIN_SPHERE;
        add_species(b, "disk", 2, 1, 0);
        observe(b, "hard_pressure");
        assert_int_equal(cases[i].reason ? PLUGMC_ERROR_INPUT : PLUGMC_OK, prepare(b));
        if (cases[i].reason) assert_non_null(strstr(b->context.message, cases[i].reason));
        bench_free(b);
    }
}

static void the_number_of_threads_changes_no_bit(void **state)
{
    (void)state;
    double *values[2];
    size_t bytes = 0;
    for (int run = 0; run < 2; run++) {
        bench *b = bench_new(2, 30, 30, 1, 3);
        add_term(b, "core", open_plugin("hard_disk"), 1);
        add_species(b, "disk", 500, 1, 0);
        b->system.threads = run == 0 ? 1 : 5;
        observe(b, "hard_pressure");
        ready(b);
        place_at_random(b, 1);
        bytes = 3 * (size_t)place(b, NULL, NULL) * sizeof(double);
        values[run] = calloc(1, bytes);
        measure(b, values[run]);
        bench_free(b);
    }
    assert_true(values[0][0] > 0);
    assert_memory_equal(values[0], values[1], bytes);
    free(values[0]);
    free(values[1]);
}

static void its_device_text_is_offered_once(void **state)
{
    (void)state;
    bench *b = hard_bench(2, 9, 9, 1);
    plugmc_gpu_source text = {.size = sizeof text};
    add_species(b, "disk", 2, 1, 0);
    observe(b, "hard_pressure");
    assert_int_equal(1, b->plugin->gpu_source(b->instance, &b->host, 0, &text));
    assert_non_null(strstr(text.source, "__global__ void rifts"));
    assert_int_equal(0, b->plugin->gpu_source(b->instance, &b->host, 1, &text));
    bench_free(b);
}

TEST_MAIN(cmocka_unit_test(a_lone_particle_is_an_ideal_gas),
          cmocka_unit_test(the_reduced_pressure_is_in_contact_distances),
          cmocka_unit_test(two_disks_have_the_exact_pressure_in_boxes_of_any_size),
          cmocka_unit_test(two_spheres_have_the_exact_pressure),
          cmocka_unit_test(rods_on_a_ring_have_the_pressure_of_tonks),
          cmocka_unit_test(rifts_are_those_of_a_loop_over_all_images),
          cmocka_unit_test(distances_near_contact_are_all_counted),
          cmocka_unit_test(the_fit_has_no_bias_on_the_model_distribution),
          cmocka_unit_test(the_fit_reproduces_polynomials_up_to_its_degree),
          cmocka_unit_test(the_fit_agrees_with_the_exact_pressure_of_two_disks),
          cmocka_unit_test(a_pair_that_rounding_put_below_contact_is_in_the_first_bin),
          cmocka_unit_test(overlapping_particles_are_an_error),
          cmocka_unit_test(the_fit_is_left_out_where_it_means_nothing),
          cmocka_unit_test(systems_without_only_hard_cores_are_refused),
          cmocka_unit_test(the_number_of_threads_changes_no_bit),
          cmocka_unit_test(its_device_text_is_offered_once))
