/* Observables of bodies: the pressure of round ones is that of disks and spheres; order of orientations that are known, and
 * of random ones. Orientations as files have them. */
#include "observing.h"

#include "formats/orientations.h"

/* ---- Round bodies ------------------------------------------------------------------------------ */

static double radius(const void *instance, const plugmc_particle *a)
{
    (void)instance;
    return a->diameter / 2;
}

static double no_range(const void *instance)
{
    (void)instance;
    return 0;
}

static int64_t never_asked(const void *instance, const plugmc_box *box, int periodic,
                           const plugmc_particle *probe, const plugmc_orientation *turned,
                           const plugmc_particles *others, const plugmc_orientation *orientations,
                           double *energy)
{
    (void)instance, (void)box, (void)periodic, (void)probe, (void)turned, (void)others;
    (void)orientations, (void)energy;
    fail_msg("pressures and order need no energies");
    return 0;
}

static void paths(const void *instance, int32_t dimension, int32_t axis,
                  const plugmc_particle *probe, const plugmc_orientation *turned,
                  const plugmc_particles *others, const plugmc_orientation *orientations,
                  double *out)
{
    (void)instance, (void)dimension, (void)turned, (void)orientations;
    for (int64_t j = 0; j < others->n; j++) {
        const double r[3] = {((const double *)others->x)[j] - probe->x,
                             ((const double *)others->y)[j] - probe->y,
                             ((const double *)others->z)[j] - probe->z};
        const double touch = (probe->diameter + ((const double *)others->diameter)[j]) / 2;
        double half = touch * touch + r[axis] * r[axis];
        for (int d = 0; d < 3; d++) half -= r[d] * r[d];
        half = half > 0 ? sqrt(half) : NAN;
        out[j] = r[axis] + half > 0 ? fmax(0, r[axis] - half) : INFINITY;
    }
}

static const plugmc_body round_facet = {.size = sizeof round_facet,
                                        .functions = PLUGMC_BODY_OVERLAP | PLUGMC_BODY_PATH,
                                        .reach = radius,
                                        .core = radius,
                                        .volume = radius,
                                        .range = no_range,
                                        .energy = never_asked,
                                        .paths = paths};
static const plugmc_extension offers[] = {{PLUGMC_BODY_FACET, &round_facet}, {NULL, NULL}};
static const plugmc_potential nothing_else = {.size = sizeof nothing_else};
static const plugmc_plugin round_bodies = {.size = sizeof round_bodies,
                                           .kind = PLUGMC_POTENTIAL,
                                           .name = "round_bodies",
                                           .potential = &nothing_else,
                                           .extensions = offers};

/* Two species in two or three dimensions. */
static bench *bench_of(int dimension, double length, int64_t large, int64_t small)
{
    bench *b = bench_new(dimension, length, 1.1 * length, dimension == 3 ? length : 1, 1);
    b->system.bodies = 1;
    add_species(b, "large", large, 1, 0);
    if (small) add_species(b, "small", small, 0.6, 0);
    return b;
}

static plugmc_orientation *with_orientations(bench *b)
{
    plugmc_orientation *o =
        keep_memory(&b->context, (size_t)b->system.particles * sizeof(plugmc_orientation));
    for (int64_t i = 0; i < b->system.particles; i++)
        o[i] = plugmc_upright(b->system.box.dimension);
    b->view.orientations = o;
    return o;
}

/* ---- Pressure ---------------------------------------------------------------------------------- */

/* Bodies that are round by one potential, or by two: some by a hard core. */
static void compare_pressures(int dimension, double length, int64_t large, int64_t small)
{
    bench *round = bench_of(dimension, length, large, small),
          *hard = bench_of(dimension, length, large, small);
    double values[2][64];
    add_term(round, "round_bodies", &round_bodies, 1);
    add_term(hard, "hard_disk", open_plugin("hard_disk"), 1);
    hard->system.bodies = 0;
    observe(round, "body_pressure");
    observe(hard, "hard_pressure");
    *(int32_t *)parameter(hard, "fit") = 2; /* no */
    with_orientations(round);
    ready(round);
    ready(hard);
    for (int k = 0; k < 5; k++) {
        place_at_random(round, 1);
        memcpy(hard->positions, round->positions,
               3 * sizeof(double) * (size_t)round->system.particles);
        measure(round, values[0]);
        measure(hard, values[1]);
        for (int d = 0; d <= dimension; d++) {
            static const char *const names[] = {"pressure", "pressure_x", "pressure_y",
                                                "pressure_z"};
            const double own = values[0][place(round, names[d], NULL)],
                         theirs = values[1][place(hard, names[d], NULL)];
            if (!(fabs(own - theirs) <= 1e-6 * theirs))
                fail_msg("%s of %lld and %lld in %d dimensions: %.12g, and of hard_pressure %.12g",
                         names[d], (long long)large, (long long)small, dimension, own, theirs);
        }
    }
    bench_free(round);
    bench_free(hard);
}

static void test_pressure_of_round_bodies_is_that_of_disks_and_spheres(void **state)
{
    (void)state;
    compare_pressures(2, 14, 70, 60);
    compare_pressures(3, 6, 40, 60);
    compare_pressures(2, 2.2, 2, 0); /* cells are not smaller than the box */
    compare_pressures(2, 4, 3, 2);
    compare_pressures(3, 2.5, 3, 2);
    compare_pressures(2, 40, 3, 0); /* nothing in the way, mostly */
}

/* Two potentials, whose bodies are the same: the nearer contact counts, and it is the same. */
static void test_hard_cores_stop_bodies(void **state)
{
    (void)state;
    double values[2][64];
    for (int both = 0; both < 2; both++) {
        bench *b = bench_of(2, 9, 20, 15);
        add_term(b, "round_bodies", &round_bodies, 1);
        if (both) {
            add_term(b, "hard_disk", open_plugin("hard_disk"), 1);
            b->terms[0].sampled = 1;
        }
        observe(b, "body_pressure");
        with_orientations(b);
        ready(b);
        place_at_random(b, 1);
        measure(b, values[both]);
        bench_free(b);
    }
    for (int k = 0; k < 4; k++) assert_true(fabs(values[0][k] / values[1][k] - 1) < 1e-12);
}

static void refuse(const char *observable, const plugmc_plugin *other, const char *sentence)
{
    bench *b = bench_of(2, 9, 20, 15);
    add_term(b, "other", other ? other : open_plugin("hard_disk"), 1);
    observe(b, observable);
    with_orientations(b);
    assert_int_equal(PLUGMC_ERROR_INPUT, prepare(b));
    if (!strstr(b->context.message, sentence)) fail_msg("%s", b->context.message);
    bench_free(b);
}

/* Who does not see bodies does not measure beside them. */
static void test_other_runs_are_refused(void **state)
{
    (void)state;
    plugmc_body blind = round_facet, soft = round_facet;
    const plugmc_extension offers_blind[] = {{PLUGMC_BODY_FACET, &blind}, {NULL, NULL}},
                           offers_soft[] = {{PLUGMC_BODY_FACET, &soft}, {NULL, NULL}};
    plugmc_plugin no_paths = round_bodies, with_energy = round_bodies;
    blind.paths = NULL;
    soft.functions |= PLUGMC_BODY_ENERGY;
    no_paths.extensions = offers_blind;
    with_energy.extensions = offers_soft;
    refuse("body_pressure", NULL, "hard_pressure");
    refuse("body_pressure", &no_paths, "body_path");
    refuse("body_pressure", &with_energy, "'other' is sampled too");
    refuse("hard_pressure", &round_bodies, "body_pressure");
}

/* ---- Order ------------------------------------------------------------------------------------- */

static bench *order_of(int dimension, int64_t n, int64_t fold)
{
    bench *b = bench_of(dimension, 10, n, 0);
    add_term(b, "round_bodies", &round_bodies, 1);
    observe(b, "body_order");
    *(int64_t *)parameter(b, "fold") = fold;
    ready(b);
    return b;
}

/* Mean of a quantity over random orientations. */
static samples of_random(bench *b, const char *name, int count)
{
    plugmc_orientation *o = with_orientations(b);
    samples s = {0};
    double values[16];
    for (int k = 0; k < count; k++) {
        for (int64_t i = 0; i < b->system.particles; i++)
            o[i] = plugmc_draw_orientation((plugmc_seed){5}, (uint64_t)k, 0, (uint32_t)i,
                                           b->system.box.dimension);
        measure(b, values);
        add_sample(&s, values[place(b, name, NULL)]);
    }
    return s;
}

static double value(bench *b, const char *name)
{
    double values[16];
    measure(b, values);
    return values[place(b, name, NULL)];
}

/* 5 standard errors: once in 10^6. */
static void test_order_of_independent_bodies(void **state)
{
    (void)state;
    static const int64_t n[] = {1, 2, 7, 40};
    for (int k = 0; k < 4; k++)
        for (int dimension = 2; dimension <= 3; dimension++) {
            bench *b = order_of(dimension, n[k], k + 1);
            const samples s = of_random(b, dimension == 2 ? "psi_squared" : "order_squared", 20000);
            const double error = fmax(error_of(&s), 1e-7);
            if (!(fabs(mean_of(&s) - 1 / (double)n[k]) < 5 * error))
                fail_msg("%lld bodies in %d dimensions: %g +- %g", (long long)n[k], dimension,
                         mean_of(&s), error);
            bench_free(b);
        }
}

/* <S> goes as 1 / sqrt(N). */
static void test_order_falls_with_the_number_of_bodies(void **state)
{
    (void)state;
    bench *few = order_of(3, 100, 2), *many = order_of(3, 400, 2);
    const samples one = of_random(few, "order", 2000), other = of_random(many, "order", 2000);
    const double ratio = mean_of(&one) / mean_of(&other);
    assert_true(fabs(ratio - 2) < 0.06);
    bench_free(few);
    bench_free(many);
}

static void test_order_of_bodies_that_are_upright_is_1(void **state)
{
    (void)state;
    bench *flat = order_of(2, 30, 4), *deep = order_of(3, 30, 2);
    plugmc_orientation *o = with_orientations(flat);
    assert_true(fabs(value(flat, "psi_modulus") - 1) < 1e-12);
    for (int i = 0; i < 30; i++) plugmc_turn_in_plane(&o[i], i % 4 * (PLUGMC_WHOLE_TURN / 4));
    assert_true(fabs(value(flat, "psi_real") - 1) < 1e-12); /* quarter turns */
    for (int i = 0; i < 30; i++) plugmc_turn_in_plane(&o[i], PLUGMC_WHOLE_TURN / 8);
    assert_true(fabs(value(flat, "psi_real") + 1) < 1e-12);
    o = with_orientations(deep);
    assert_true(fabs(value(deep, "order") - 1) < 1e-12);
    assert_true(fabs(value(deep, "Q_xx") - 1) < 1e-12); /* rods lie along x */
    assert_true(fabs(value(deep, "Q_zz") + 0.5) < 1e-12);
    for (int i = 0; i < 30; i++) /* all by one turn, and some about their own axis */
        for (int k = 0; k < 3; k++) assert_true(plugmc_turn_in_space(&o[i], k, 200000000));
    assert_true(fabs(value(deep, "order") - 1) < 1e-12);
    assert_true(fabs(value(deep, "order_squared") - 1) < 1e-12);
    assert_true(value(deep, "Q_xx") < 0.9);
    bench_free(flat);
    bench_free(deep);
}

/* In planes without a direction S is 1/4, and the smallest eigenvalue -1/2. */
static void test_order_is_that_of_the_axis(void **state)
{
    (void)state;
    bench *b = order_of(3, 4, 2);
    plugmc_orientation *o = with_orientations(b);
    for (int i = 0; i < 4; i++) /* about z, by 0, 45, 90, 135 degrees */
        for (int k = 0; k < i; k++)
            assert_true(plugmc_turn_in_space(&o[i], 2, (int32_t)(tan(M_PI / 16) * 0x1p30)));
    assert_true(fabs(value(b, "order") - 0.25) < 1e-8);
    assert_true(fabs(value(b, "Q_zz") + 0.5) < 1e-12);
    bench_free(b);
}

/* ---- Files ------------------------------------------------------------------------------------- */

static void check_way_back(const plugmc_orientation *o, int dimension)
{
    double q[4];
    plugmc_orientation back;
    quaternion_of(o, q);
    assert_null(orientation_of_quaternion(q, dimension, &back));
    assert_memory_equal(o, &back, sizeof back);
    /* of another length, and rounded to float, it is the same up to rounding */
    for (int k = 0; k < 4; k++) q[k] = (float)(-3 * q[k]);
    assert_null(orientation_of_quaternion(q, dimension, &back));
    double other[4];
    quaternion_of(&back, other);
    assert_true(same_orientation(q, other));
    if (dimension == 2)
        plugmc_turn_in_plane(&back, 30);
    else
        plugmc_turn_in_space(&back, 1, 3000);
    quaternion_of(&back, other);
    assert_false(same_orientation(q, other)); /* 1e-5 rad more */
}

static void test_quaternions_lead_back(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        plugmc_orientation o = plugmc_upright(dimension);
        check_way_back(&o, dimension);
        for (uint64_t k = 0; k < 20000; k++) {
            o = plugmc_draw_orientation((plugmc_seed){7}, k, 0, 0, dimension);
            for (uint32_t turn = 0; turn < 20; turn++)
                plugmc_draw_turn((plugmc_seed){7}, k, 1, turn, dimension, 3, &o);
            check_way_back(&o, dimension);
        }
    }
}

static void test_quaternions_that_are_none(void **state)
{
    (void)state;
    plugmc_orientation o;
    assert_non_null(orientation_of_quaternion((double[4]){0, 0, 0, 0}, 3, &o));
    assert_non_null(orientation_of_quaternion((double[4]){1, NAN, 0, 0}, 3, &o));
    assert_non_null(orientation_of_quaternion((double[4]){INFINITY, 0, 0, 0}, 2, &o));
    assert_non_null(orientation_of_quaternion((double[4]){1, 0.1, 0, 0}, 2, &o));
    assert_null(orientation_of_quaternion((double[4]){1, 0.1, 0, 0}, 3, &o));
    assert_null(orientation_of_quaternion((double[4]){0, 0, 0, -2}, 2, &o));
    assert_int_equal(PLUGMC_WHOLE_TURN / 2, o.part[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pressure_of_round_bodies_is_that_of_disks_and_spheres),
        cmocka_unit_test(test_hard_cores_stop_bodies),
        cmocka_unit_test(test_other_runs_are_refused),
        cmocka_unit_test(test_order_of_independent_bodies),
        cmocka_unit_test(test_order_falls_with_the_number_of_bodies),
        cmocka_unit_test(test_order_of_bodies_that_are_upright_is_1),
        cmocka_unit_test(test_order_is_that_of_the_axis),
        cmocka_unit_test(test_quaternions_lead_back),
        cmocka_unit_test(test_quaternions_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
