/* Correlations of bodies and of their bonds against sums over all pairs, in which spherical harmonics are complex functions
 * of angles in the frame of the pair; an identity between them; lattices, whose order is known. */
#include "observing.h"

#include <complex.h>

/* Bodies that do nothing but be there. */
static double radius(const void *instance, const plugmc_particle *a)
{
    (void)instance;
    return a->diameter / 2;
}

static const plugmc_body round_facet = {
    .size = sizeof round_facet, .reach = radius, .core = radius, .volume = radius};
static const plugmc_extension offers[] = {{PLUGMC_BODY_FACET, &round_facet}, {NULL, NULL}};
static const plugmc_potential nothing_else = {.size = sizeof nothing_else};
static const plugmc_plugin round_bodies = {.size = sizeof round_bodies,
                                           .kind = PLUGMC_POTENTIAL,
                                           .name = "round_bodies",
                                           .potential = &nothing_else,
                                           .extensions = offers};

static bench *bench_of(const char *observable, int dimension, double length, int64_t n)
{
    bench *b = bench_new(dimension, length, 1.1 * length, dimension == 3 ? 1.2 * length : 1, 1);
    b->system.bodies = 1;
    add_species(b, "body", n, 1, 0);
    add_term(b, "round_bodies", &round_bodies, 1);
    observe(b, observable);
    plugmc_orientation *o = keep_memory(&b->context, (size_t)n * sizeof(plugmc_orientation));
    for (int64_t i = 0; i < n; i++)
        o[i] = plugmc_draw_orientation((plugmc_seed){3}, 0, 0, (uint32_t)i, dimension);
    b->view.orientations = o;
    return b;
}

static void separate(const bench *b, int64_t i, int64_t j, double r[3])
{
    for (int d = 0; d < 3; d++)
        r[d] = d < b->system.box.dimension
                   ? shortest(b->positions[3 * j + d] - b->positions[3 * i + d],
                              b->system.box.length[d])
                   : 0;
}

/* ---- Correlations ----------------------------------------------------------------------------- */

/* Y_lm, with Condon and Shortley's phase. */
static double complex harmonic(int l, int m, double theta, double phi)
{
    const double c = cos(theta), s = sin(theta);
    const double complex e = cexp(I * m * phi);
    if (l == 0) return sqrt(0.25 / M_PI);
    if (l == 1) return m == 0 ? sqrt(0.75 / M_PI) * c : -sqrt(0.375 / M_PI) * s * e;
    return m == 0   ? sqrt(5 / (16 * M_PI)) * (3 * c * c - 1)
           : m == 1 ? -sqrt(15 / (8 * M_PI)) * s * c * e
                    : sqrt(15 / (32 * M_PI)) * s * s * e;
}

/* Polar angles of u in a frame whose z axis is along r. */
static void polar(const double u[3], const double r[3], double *theta, double *phi)
{
    const double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    const double z[3] = {r[0] / length, r[1] / length, r[2] / length};
    double x[3] = {z[1] - z[2], z[2] - z[0], z[0] - z[1]}, y[3]; /* perpendicular to z */
    const double size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int d = 0; d < 3; d++) x[d] /= size;
    for (int d = 0; d < 3; d++)
        y[d] = z[(d + 1) % 3] * x[(d + 2) % 3] - z[(d + 2) % 3] * x[(d + 1) % 3];
    double a = 0, b = 0, c = 0;
    for (int d = 0; d < 3; d++) a += u[d] * x[d], b += u[d] * y[d], c += u[d] * z[d];
    *theta = acos(fmax(-1, fmin(1, c)));
    *phi = atan2(b, a);
}

static double of_pair(const bench *b, const char *name, int64_t i, int64_t j, const double r[3])
{
    const plugmc_orientation *o = b->view.orientations;
    const plugmc_pose p = plugmc_pose_of(&o[i], 3), q = plugmc_pose_of(&o[j], 3);
    double theta[2], phi[2], dot = 0;
    if (b->system.box.dimension == 2) {
        const double s = 2 * M_PI * o[i].part[0] / PLUGMC_WHOLE_TURN,
                     t = 2 * M_PI * o[j].part[0] / PLUGMC_WHOLE_TURN, way = atan2(r[1], r[0]);
        return !strcmp(name, "g_difference")  ? cos(3 * (s - t))
               : !strcmp(name, "g_direction") ? cos(3 * (s - way))
               : !strcmp(name, "g_sum")       ? cos(3 * (s + t - 2 * way))
                                              : 1;
    }
    for (int d = 0; d < 3; d++) dot += p.y[d] * q.y[d]; /* axis = y */
    if (!strcmp(name, "g_P1")) return dot;
    if (!strcmp(name, "g_P2")) return 1.5 * dot * dot - 0.5;
    if (!strcmp(name, "g")) return 1;
    polar(p.y, r, &theta[0], &phi[0]);
    polar(q.y, r, &theta[1], &phi[1]);
    const int l = name[2] - '0', m = name[3] - '0', n = name[4] - '0';
    return 4 * M_PI *
           creal(harmonic(l, n, theta[0], phi[0]) * conj(harmonic(m, n, theta[1], phi[1])));
}

/* A function in every bin against the sum over all pairs. */
static void compare(bench *b, const char *name, const double *values, int bins, double range)
{
    const int64_t n = b->system.particles;
    double sums[32] = {0};
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double r[3];
            separate(b, i, j, r);
            const double distance = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
            if (i == j || distance >= range) continue;
            sums[(int)(distance / range * bins)] += of_pair(b, name, i, j, r);
        }
    for (int k = 0; k < bins; k++) {
        const double in = range / bins * k, out = range / bins * (k + 1),
                     shell = b->system.box.dimension == 2
                                 ? M_PI * (out * out - in * in)
                                 : 4 * M_PI / 3 * (out * out * out - in * in * in),
                     wanted = sums[k] * b->system.box.volume / (double)(n * (n - 1)) / shell,
                     found = values[place(b, name, NULL) + k];
        if (!(fabs(found - wanted) <= 1e-5 * (1 + fabs(wanted))))
            fail_msg("%s in bin %d: %.9g, by all pairs %.9g", name, k, found, wanted);
    }
}

static void test_correlations_are_those_of_all_pairs(void **state)
{
    (void)state;
    static const char *const flat[] = {"g", "g_difference", "g_direction", "g_sum"},
                             *const spatial[] = {"g",     "g_100", "g_110", "g_111",
                                                 "g_200", "g_210", "g_211", "g_220",
                                                 "g_221", "g_222", "g_P1",  "g_P2"};
    for (int which = 0; which < 4; which++) {
        const int dimension = 2 + which % 2, bins = 12;
        bench *b = bench_of("body_correlations", dimension, which < 2 ? 9 : 3, 60);
        double values[12 * 12];
        *(int64_t *)parameter(b, "bins") = bins;
        *(int64_t *)parameter(b, "fold") = 3;
        *(int32_t *)parameter(b, "axis") = 1;
        *(double *)parameter(b, "r_max") = which < 2 ? 2.5 : 0;
        ready(b);
        place_at_random(b, 0);
        measure(b, values);
        for (int k = 0; k < (dimension == 2 ? 4 : 12); k++)
            compare(b, dimension == 2 ? flat[k] : spatial[k], values, bins, which < 2 ? 2.5 : 1.5);
        bench_free(b);
    }
}

/* By the addition theorem, P_l of two axes is a sum over their harmonics. */
static void test_harmonics_add_up(void **state)
{
    (void)state;
    bench *b = bench_of("body_correlations", 3, 5, 80);
    double v[12 * 10];
    *(int64_t *)parameter(b, "bins") = 10;
    ready(b);
    place_at_random(b, 0);
    measure(b, v);
    for (int k = 0; k < 10; k++) {
        const double first = v[place(b, "g_110", NULL) + k] + 2 * v[place(b, "g_111", NULL) + k],
                     second = v[place(b, "g_220", NULL) + k] + 2 * v[place(b, "g_221", NULL) + k] +
                              2 * v[place(b, "g_222", NULL) + k];
        assert_true(fabs(first - 3 * v[place(b, "g_P1", NULL) + k]) < 1e-6);
        assert_true(fabs(second - 5 * v[place(b, "g_P2", NULL) + k]) < 1e-6);
    }
    bench_free(b);
}

/* ---- Bonds ------------------------------------------------------------------------------------- */

static void test_bonds_are_those_of_all_pairs(void **state)
{
    (void)state;
    for (int fold = 1; fold < 8; fold++) {
        bench *b = bench_of("bond_order", 2, fold < 4 ? 3.2 : 11, 50);
        double complex sum = 0;
        double values[16], moduli = 0, neighbours = 0;
        *(int64_t *)parameter(b, "fold") = fold;
        *(double *)parameter(b, "cutoff") = 1.45;
        ready(b);
        place_at_random(b, 0);
        measure(b, values);
        for (int64_t i = 0; i < 50; i++) {
            double complex own = 0;
            int count = 0;
            for (int64_t j = 0; j < 50; j++) {
                double r[3];
                separate(b, i, j, r);
                if (i == j || hypot(r[0], r[1]) >= 1.45) continue;
                own += cpow((r[0] + I * r[1]) / hypot(r[0], r[1]), fold);
                count++;
            }
            sum += count ? own / count / 50 : 0;
            moduli += count ? cabs(own) / count / 50 : 0;
            neighbours += count / 50.0;
        }
        assert_true(fabs(values[place(b, "psi_real", NULL)] - creal(sum)) < 1e-10);
        assert_true(fabs(values[place(b, "psi_imaginary", NULL)] - cimag(sum)) < 1e-10);
        assert_true(fabs(values[place(b, "psi_modulus", NULL)] - cabs(sum)) < 1e-10);
        assert_true(fabs(values[place(b, "psi_squared", NULL)] - pow(cabs(sum), 2)) < 1e-10);
        assert_true(fabs(values[place(b, "local_modulus", NULL)] - moduli) < 1e-10);
        assert_true(fabs(values[place(b, "neighbours", NULL)] - neighbours) < 1e-10);
        bench_free(b);
    }
}

/* A square lattice: psi_4 is 1, psi_6 is 0. */
static void test_bonds_of_a_square_lattice(void **state)
{
    (void)state;
    for (int fold = 2; fold <= 8; fold += 2) {
        bench *b = bench_of("bond_order", 2, 10, 110);
        double values[16];
        *(int64_t *)parameter(b, "fold") = fold;
        *(double *)parameter(b, "cutoff") = 1.2;
        ready(b);
        for (int i = 0; i < 110; i++)
            b->positions[3 * i] = i % 10 + 0.5, b->positions[3 * i + 1] = i / 10 + 0.5;
        measure(b, values);
        assert_true(fabs(values[place(b, "psi_modulus", NULL)] - (fold % 4 == 0)) < 1e-12);
        assert_true(fabs(values[place(b, "neighbours", NULL)] - 4) < 1e-12);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_correlations_are_those_of_all_pairs),
        cmocka_unit_test(test_harmonics_add_up),
        cmocka_unit_test(test_bonds_are_those_of_all_pairs),
        cmocka_unit_test(test_bonds_of_a_square_lattice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
