/* Orientations: turns that come back to the bit, poses, and the uniform measure. */
#include "testing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "plugmc/everything.h"

static const plugmc_seed seed = {20261129, 0, 0};

static bool same(const plugmc_orientation *a, const plugmc_orientation *b)
{
    return !memcmp(a, b, sizeof *a);
}

/* ---- Turns ------------------------------------------------------------------------------------ */

typedef struct turn {
    int32_t axis, tangent, taken;
} turn;

/* Turns of one largest angle, some of them rejected at the shell, and all of them back. The body begins near the shell. */
static void check_way_back(double step, int n)
{
    turn *turns = malloc((size_t)n * sizeof *turns);
    const plugmc_orientation start = {{(int32_t)(sqrt(1.02) * 0x1p30) - 20, 3, -5, 7}};
    plugmc_orientation o = start;
    int rejected = 0;
    for (int k = 0; k < n; k++) {
        const plugmc_random r = plugmc_draw(seed, (uint64_t)k, 0, 0, PLUGMC_PURPOSE_TRIAL, 0);
        plugmc_orientation there = o;
        turns[k].axis = (int32_t)(r.word[0] % 3);
        turns[k].tangent = (int32_t)lrint(tan(step / 4) * 0x1p30 *
                                          (2 * plugmc_uniform_double(r.word[1], r.word[2]) - 1));
        turns[k].taken = plugmc_turn_in_space(&there, turns[k].axis, turns[k].tangent);
        if (turns[k].taken) o = there;
        rejected += !turns[k].taken;
    }
    printf("%d turns by up to %g, of which %d leave the shell\n", n, step, rejected);
    assert_false(same(&o, &start));
    assert_true(rejected > 0);
    for (int k = n - 1; k >= 0; k--)
        if (turns[k].taken) assert_true(plugmc_turn_in_space(&o, turns[k].axis, -turns[k].tangent));
    assert_true(same(&o, &start));
    free(turns);
}

static void test_turns_come_back(void **unused)
{
    (void)unused;
    check_way_back(1e-4, 2000000);
    check_way_back(0.3, 2000000);
    check_way_back(M_PI, 2000000);
}

/* The pose turns about the axis of space, counter-clockwise, by the angle that is meant. */
static void test_turns_are_rotations(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; k++) {
        plugmc_orientation o = plugmc_draw_orientation(seed, 5, 0, (uint32_t)k, 3);
        const plugmc_pose before = plugmc_pose_of(&o, 3);
        const int32_t tangent = 123456789 - 200000000 * (k == 1);
        const double angle = 4 * atan((double)tangent * 0x1p-30), c = cos(angle), s = sin(angle);
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        assert_true(plugmc_turn_in_space(&o, k, tangent));
        const plugmc_pose after = plugmc_pose_of(&o, 3);
        const double *from[3] = {before.x, before.y, before.z},
                     *to[3] = {after.x, after.y, after.z};
        for (int a = 0; a < 3; a++) {
            assert_close(to[a][k], from[a][k], 0, 1e-8);
            assert_close(to[a][l], c * from[a][l] - s * from[a][m], 0, 1e-8);
            assert_close(to[a][m], s * from[a][l] + c * from[a][m], 0, 1e-8);
        }
    }
}

static void test_angles(void **unused)
{
    (void)unused;
    double worst = 0;
    for (int32_t angle = 0; angle < PLUGMC_WHOLE_TURN; angle += 7) {
        const long double exact =
            2 * 3.14159265358979323846264338327950288L * angle / PLUGMC_WHOLE_TURN;
        double s, c;
        plugmc_sincos_of(angle, &s, &c);
        worst = fmax(worst, fmax(fabs(s - (double)sinl(exact)), fabs(c - (double)cosl(exact))));
    }
    printf("largest error of sine and cosine: %g\n", worst);
    assert_true(worst < 3e-16);
    plugmc_orientation o = {{5, 0, 0, 0}};
    plugmc_turn_in_plane(&o, -12);
    assert_int_equal(o.part[0], PLUGMC_WHOLE_TURN - 7);
    plugmc_turn_in_plane(&o, 12);
    assert_int_equal(o.part[0], 5);
}

static void test_poses_are_orthonormal(void **unused)
{
    (void)unused;
    for (uint32_t k = 0; k < 10000; k++) {
        const int32_t dimension = k % 2 ? 2 : 3;
        const plugmc_orientation o = plugmc_draw_orientation(seed, 7, 0, k, dimension);
        const plugmc_pose p = plugmc_pose_of(&o, dimension);
        const double *axes[3] = {p.x, p.y, p.z};
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                double dot = 0;
                for (int d = 0; d < 3; d++) dot += axes[a][d] * axes[b][d];
                assert_close(dot, a == b, 0, 1e-14);
            }
        assert_close(p.x[0] * (p.y[1] * p.z[2] - p.y[2] * p.z[1]) -
                         p.x[1] * (p.y[0] * p.z[2] - p.y[2] * p.z[0]) +
                         p.x[2] * (p.y[0] * p.z[1] - p.y[1] * p.z[0]),
                     1, 0, 1e-14);
    }
}

/* ---- The measure -------------------------------------------------------------------------------- */

enum { MOMENTS = 6, BLOCKS = 64 };

/* <q_k^2> = 1/4 and <q_k^4> = 1/8 of two components, <R_zz^2> = 1/3, <R_zz^4> = 1/5. */
static const double haar[MOMENTS] = {0.25, 0.25, 0.125, 0.125, 1.0 / 3, 0.2};

static void add_moments(const plugmc_orientation *o, double sums[MOMENTS])
{
    const plugmc_pose p = plugmc_pose_of(o, 3);
    double square = 0, q[4];
    for (int k = 0; k < 4; k++) square += (double)o->part[k] * o->part[k];
    for (int k = 0; k < 4; k++) q[k] = (double)o->part[k] / sqrt(square);
    const double all[MOMENTS] = {q[0] * q[0],  q[2] * q[2],     pow(q[0], 4),
                                 pow(q[2], 4), p.z[2] * p.z[2], pow(p.z[2], 4)};
    for (int k = 0; k < MOMENTS; k++) sums[k] += all[k];
}

/* The largest deviation from Haar's averages, in standard errors of the means over blocks. */
static double largest_z(double sums[BLOCKS][MOMENTS], double in_block)
{
    double worst = 0;
    for (int k = 0; k < MOMENTS; k++) {
        double mean = 0, square = 0;
        for (int b = 0; b < BLOCKS; b++) mean += sums[b][k] / in_block / BLOCKS;
        for (int b = 0; b < BLOCKS; b++) square += pow(sums[b][k] / in_block - mean, 2);
        const double error = sqrt(square / BLOCKS / (BLOCKS - 1)), z = (mean - haar[k]) / error;
        printf("  %.6f (%.1e), exactly %.6f: z = %.2f\n", mean, error, haar[k], z);
        worst = fmax(worst, fabs(z));
    }
    return worst;
}

/* Six numbers, 63 degrees of freedom: beyond 5 with a probability of 3e-5. */
enum { LARGEST_Z = 5, IN_BLOCK = 40000 };

static void test_drawn_orientations_are_uniform(void **unused)
{
    double sums[BLOCKS][MOMENTS] = {{0}};
    (void)unused;
    for (int b = 0; b < BLOCKS; b++)
        for (uint32_t k = 0; k < IN_BLOCK; k++) {
            const plugmc_orientation o = plugmc_draw_orientation(seed, (uint64_t)b, 0, k, 3);
            add_moments(&o, sums[b]);
        }
    assert_true(largest_z(sums, IN_BLOCK) < LARGEST_Z);
}

/* A step of trials, as `rotate` makes them, all of which are accepted. */
static void turn_as_movers_do(plugmc_orientation *o, uint64_t sweep, uint32_t k)
{
    plugmc_orientation there = *o;
    if (plugmc_draw_turn(seed, sweep, 0, k, 3, 2.5, &there)) *o = there;
}

static void test_turns_leave_the_measure(void **unused)
{
    double sums[BLOCKS][MOMENTS] = {{0}};
    (void)unused;
    for (int b = 0; b < BLOCKS; b++) {
        plugmc_orientation o = plugmc_upright(3);
        for (uint32_t k = 0; k < 1000; k++) turn_as_movers_do(&o, 1000 + (uint64_t)b, k);
        for (uint32_t k = 1000; k < 1000 + IN_BLOCK; k++) {
            turn_as_movers_do(&o, 1000 + (uint64_t)b, k);
            add_moments(&o, sums[b]);
        }
    }
    assert_true(largest_z(sums, IN_BLOCK) < LARGEST_Z);
}

/* A fault that is often made: steps of Euler's angles that are uniform. The test finds it. */
static void test_steps_of_euler_angles_are_found(void **unused)
{
    double sums[BLOCKS][MOMENTS] = {{0}};
    (void)unused;
    for (int b = 0; b < BLOCKS; b++)
        for (uint32_t k = 0; k < IN_BLOCK; k++) {
            const plugmc_random r =
                plugmc_draw(seed, (uint64_t)b, 0, k, PLUGMC_PURPOSE_OBSERVABLE, 0);
            const double u = 2 * M_PI * plugmc_uniform_double(r.word[0], r.word[1]),
                         theta = M_PI * plugmc_uniform_double(r.word[2], r.word[3]), one = 1 << 30;
            const plugmc_orientation o = {{(int32_t)(one * cos(theta / 2) * cos(u / 2)),
                                           (int32_t)(one * sin(theta / 2) * cos(u / 2)),
                                           (int32_t)(one * sin(theta / 2) * sin(u / 2)),
                                           (int32_t)(one * cos(theta / 2) * sin(u / 2))}};
            add_moments(&o, sums[b]);
        }
    assert_true(largest_z(sums, IN_BLOCK) > 3 * LARGEST_Z);
}

/* Turns of one sense alone are no reversible trials: there are as many of both. */
static void test_senses_are_equally_probable(void **unused)
{
    int forward[2] = {0}, n = 200000;
    (void)unused;
    for (int k = 0; k < n; k++)
        for (int flat = 0; flat < 2; flat++) {
            plugmc_orientation o = plugmc_upright(flat ? 2 : 3);
            assert_true(plugmc_draw_turn(seed, 9, 0, (uint32_t)k, flat ? 2 : 3, 0.1, &o));
            forward[flat] +=
                flat ? o.part[0] < PLUGMC_WHOLE_TURN / 2 : o.part[1] + o.part[2] + o.part[3] > 0;
        }
    for (int flat = 0; flat < 2; flat++) {
        const double z = (forward[flat] - n / 2.0) / sqrt(n / 4.0);
        printf("dimension %d: z = %.2f\n", flat ? 2 : 3, z);
        assert_true(fabs(z) < 5);
    }
}

TEST_MAIN(cmocka_unit_test(test_turns_come_back), cmocka_unit_test(test_turns_are_rotations),
          cmocka_unit_test(test_angles), cmocka_unit_test(test_poses_are_orthonormal),
          cmocka_unit_test(test_drawn_orientations_are_uniform),
          cmocka_unit_test(test_turns_leave_the_measure),
          cmocka_unit_test(test_steps_of_euler_angles_are_found),
          cmocka_unit_test(test_senses_are_equally_probable))
