/* Which oblique boxes are taken: those in which the nearest image of every pair is found. */
#include "../../core/src/system/skew.h"

#include "boxes.h"
#include "testing.h"

#include "movers.h"
#include "forces.h"

enum { LATTICES = 400, PAIRS = 3000, FAR = 4 };

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static double square(const double r[3]) { return r[0] * r[0] + r[1] * r[1] + r[2] * r[2]; }

/* By looking at all images around, from reduced vectors. */
static double nearest_by_hand(const double v[3][3], const double r[3])
{
    double least = INFINITY;
    for (int i = -FAR; i <= FAR; i++)
        for (int j = -FAR; j <= FAR; j++)
            for (int k = -FAR; k <= FAR; k++) {
                double x[3];
                for (int d = 0; d < 3; d++) x[d] = r[d] + i * v[0][d] + j * v[1][d] + k * v[2][d];
                least = fmin(least, square(x));
            }
    return least;
}

/* Vectors of some lattice, and what is added to them at random. */
static void draw(uint64_t *state, double v[3][3])
{
    const int turns = (int)(5 * uniform(state));
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++) v[i][d] = (i == d ? 4 : 0) + 2 * uniform(state) - 1;
    for (int t = 0; t < turns; t++) {
        const int i = (int)(3 * uniform(state)), j = (i + 1 + (int)(2 * uniform(state))) % 3;
        const double times = uniform(state) < 0.5 ? -1 : 1;
        for (int d = 0; d < 3; d++) v[i][d] += times * v[j][d];
    }
}

static double determinant(const double v[3][3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++)
        sum += v[0][d] *
               (v[1][(d + 1) % 3] * v[2][(d + 2) % 3] - v[1][(d + 2) % 3] * v[2][(d + 1) % 3]);
    return sum;
}

/* Of boxes that are taken all pairs are right; of the others some are wrong, if pairs are many enough. */
static void boxes_are_taken_where_nearest_images_are_found(void **state)
{
    (void)state;
    uint64_t random = 3;
    int taken = 0, refused = 0, found_out = 0;
    for (int n = 0; n < LATTICES; n++) {
        double v[3][3], reduced[3][3];
        int wrong = 0;
        bench b;
        bench_begin(&b, 3, (double[3]){1, 1, 1}, 1, 1);
        draw(&random, v);
        bench_vectors(&b, v);
        memcpy(reduced, v, sizeof v);
        reduce_vectors(reduced);
        assert_close(determinant(reduced), determinant(v), 1e-9, 0);
        plugmc_images images;
        const int mode = plugmc_images_of(&b.system.box, 1, &images);
        for (int p = 0; p < PAIRS && wrong < 1; p++) {
            double r[3] = {0};
            for (int i = 0; i < 3; i++) {
                const double f = 2 * uniform(&random) - 1;
                for (int d = 0; d < 3; d++) r[d] += f * v[i][d];
            }
            const plugmc_separation s = plugmc_separate(r[0], r[1], r[2], &images, mode);
            wrong += s.r2 > nearest_by_hand(reduced, (double[3]){s.x, s.y, s.z}) * (1 + 1e-9);
        }
        if (finds_nearest_images(&b.system.box)) {
            taken++;
            assert_int_equal(wrong, 0);
        } else {
            refused++;
            found_out += wrong;
        }
        bench_end(&b);
    }
    print_message("%d taken, %d refused, wrong pairs in %d of these\n", taken, refused, found_out);
    assert_in_range(refused, 40, 300);
    assert_in_range(found_out, refused * 3 / 4, refused);
}

/* Reduced vectors are as short as any: no lattice point is nearer than the shortest of them. */
static void reduced_vectors_are_the_shortest(void **state)
{
    (void)state;
    double v[3][3] = {{9, 0, 0}, {18, 9, 0}, {0, -27, 9}};
    reduce_vectors(v);
    for (int i = 0; i < 3; i++) assert_close(square(v[i]), 81, 1e-12, 0);
}

TEST_MAIN(cmocka_unit_test(boxes_are_taken_where_nearest_images_are_found),
          cmocka_unit_test(reduced_vectors_are_the_shortest))
