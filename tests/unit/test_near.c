/* plugmc/near.h: who is near a position, in boxes of all kinds, by looking at all images. */
#include <plugmc/near.h>

#include "boxes.h"
#include "testing.h"

#include "movers.h"
#include "forces.h"

enum { PARTICLES = 300, OF_FIRST = 110, PLACES = 40 };

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Of the difference r, with the images around it; without them in a sphere. */
static double nearest_by_hand(const plugmc_box *box, const double r[3])
{
    const int far = box->domain == PLUGMC_DOMAIN_PERIODIC ? 3 : 0;
    double least = INFINITY;
    for (int i = -far; i <= far; i++)
        for (int j = -far; j <= far; j++)
            for (int k = -far; k <= far; k++) {
                double square = 0;
                for (int d = 0; d < 3; d++) {
                    const double x = r[d] + i * box->vector[0][d] + j * box->vector[1][d] +
                                     k * box->vector[2][d];
                    square += x * x;
                }
                least = fmin(least, square);
            }
    return sqrt(least);
}

typedef struct crowd {
    double x[3][PARTICLES];
    int64_t first[2], count[2];
    plugmc_trial trial;
} crowd;

static void fill(crowd *c, const plugmc_box *box, uint64_t *random)
{
    for (int i = 0; i < PARTICLES; i++) {
        double f[3];
        for (int d = 0; d < 3; d++) f[d] = uniform(random);
        for (int d = 0; d < 3; d++)
            c->x[d][i] =
                box->domain == PLUGMC_DOMAIN_PERIODIC
                    ? f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d]
                    : box->radius * (1.1 * f[d] - 0.55);
    }
    c->count[0] = c->first[1] = OF_FIRST;
    c->count[1] = PARTICLES - OF_FIRST;
    c->trial = (plugmc_trial){.size = sizeof c->trial,
                              .dimension = 3,
                              .particles = PARTICLES,
                              .first = c->first,
                              .count = c->count,
                              .x = c->x[0],
                              .y = c->x[1],
                              .z = c->x[2],
                              .box = box};
}

/* Returns how many are near one of the places. */
static int64_t look(crowd *c, const double place[3], double radius)
{
    int32_t list[PARTICLES], expected[PARTICLES];
    int64_t n = 0, of_second = 0;
    for (int i = 0; i < PARTICLES; i++) {
        const double r[3] = {c->x[0][i] - place[0], c->x[1][i] - place[1], c->x[2][i] - place[2]};
        if (nearest_by_hand(c->trial.box, r) > radius) continue;
        of_second += i >= OF_FIRST;
        expected[n++] = i;
    }
    assert_int_equal(plugmc_list_near(&c->trial, 2, place, radius, list, PARTICLES), n);
    assert_memory_equal(list, expected, (size_t)n * sizeof *list);
    int32_t who = -1;
    assert_int_equal(plugmc_count_near(&c->trial, 1, place, radius, NULL, 0, 0, &who), of_second);
    assert_int_equal(who, of_second ? expected[n - of_second] : -1);
    return n;
}

static int64_t look_around(const plugmc_box *box, double radius)
{
    static crowd c;
    uint64_t random = 11;
    int64_t found = 0;
    fill(&c, box, &random);
    for (int p = 0; p < PLACES; p++) {
        const int i = (int)(PARTICLES * uniform(&random));
        found += look(&c, (double[3]){c.x[0][i], c.x[1][i], c.x[2][i]}, radius);
    }
    return found;
}

static void neighbours_are_found_in_boxes_of_all_kinds(void **state)
{
    (void)state;
    static const double boxes[][3][3] = {{{5, 0, 0}, {0, 6, 0}, {0, 0, 7}},
                                         {{5, 0, 0}, {2.4, 6, 0}, {0, 0, 7}},
                                         {{5, 0.5, 0}, {-2, 6, 0.3}, {1.5, -2.8, 7}}};
    for (int k = 0; k < PLUGMC_COUNT(boxes); k++)
        for (double radius = 1; radius < 4; radius++) {
            bench b;
            bench_begin(&b, 3, (double[3]){1, 1, 1}, 1, 1);
            bench_vectors(&b, boxes[k]);
            assert_true(look_around(&b.system.box, radius) > 2 * PLACES);
            bench_end(&b);
        }
    const plugmc_box sphere = {
        .domain = PLUGMC_DOMAIN_SPHERE, .dimension = 3, .length = {5, 5, 5}, .radius = 5};
    for (double radius = 1; radius < 4; radius++)
        assert_true(look_around(&sphere, radius) > PLACES);
}

TEST_MAIN(cmocka_unit_test(neighbours_are_found_in_boxes_of_all_kinds))
