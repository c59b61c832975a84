/* Neighbours on the CPU, against a double loop: in boxes of all kinds, with one cell along an axis to many, while particles
 * come, go and move. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"
#include "energy/cell_arrays.h"
#include "energy/cell_pairs.h"

enum { MOST = 600 };

typedef struct place {
    double r[3];
    bool there;
} place;

static double uniform(void) { return drand48(); }

static plugmc_box rectangular(int dimension, double a, double b, double c)
{
    plugmc_box box = {
        .domain = PLUGMC_DOMAIN_PERIODIC, .dimension = dimension, .length = {a, b, c}};
    box.volume = a * b * c;
    for (int d = 0; d < 3; d++) {
        box.vector[d][d] = box.length[d];
        box.inverse[d][d] = 1 / box.length[d];
    }
    return box;
}

static plugmc_box oblique(int dimension, double edge)
{
    plugmc_box box = rectangular(dimension, edge, edge, dimension == 2 ? 1 : edge);
    plugmc_shear_box(&box, 1, 0, 0.4);
    if (dimension == 3) plugmc_shear_box(&box, 2, 1, -0.3);
    box.oblique = 1;
    return box;
}

static plugmc_box sphere(double radius)
{
    plugmc_box box = rectangular(3, 2 * radius, 2 * radius, 2 * radius);
    box.domain = PLUGMC_DOMAIN_SPHERE;
    box.radius = radius;
    return box;
}

static void anywhere(const plugmc_box *box, double r[3])
{
    double f[3] = {uniform(), uniform(), box->dimension == 3 ? uniform() : 0};
    for (int d = 0; d < 3; d++) {
        r[d] = f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
        if (box->domain == PLUGMC_DOMAIN_SPHERE) r[d] -= box->radius;
    }
    plugmc_wrap(box, r);
}

static double square_between(const plugmc_box *box, const double a[3], const double b[3])
{
    plugmc_images images;
    const int mode = plugmc_images_of(box, box->domain == PLUGMC_DOMAIN_PERIODIC, &images);
    return plugmc_separate(a[0] - b[0], a[1] - b[1], a[2] - b[2], &images, mode).r2;
}

/* All within reach of one position or the other are found, each once, and nobody who is not there. */
static void check(const cell_arrays *c, const plugmc_box *box, const place *all, int n,
                  const double at[3], const double *to)
{
    static int32_t slots[MOST + CELL_LANES];
    int times[MOST] = {0};
    const int64_t found = cells_near(c, box, at, to, slots);
    for (int64_t k = 0; k < found; k++) {
        const int32_t i = c->particle[slots[k]];
        assert_in_range(i, 0, n - 1);
        times[i]++;
        assert_true(c->x[slots[k]] == all[i].r[0] && c->y[slots[k]] == all[i].r[1] &&
                    c->z[slots[k]] == all[i].r[2]);
    }
    for (int i = 0; i < n; i++) {
        const double reach = c->reach * c->reach;
        const bool near = square_between(box, at, all[i].r) < reach ||
                          (to && square_between(box, to, all[i].r) < reach);
        assert_true(times[i] <= all[i].there);
        if (all[i].there && near) assert_int_equal(times[i], 1);
    }
}

/* Of all pairs within reach each is found once, and no pair twice. */
static void check_pairs(cell_arrays *c, const plugmc_box *box, const place *all, int n)
{
    static uint8_t times[MOST][MOST];
    memset(times, 0, sizeof times);
    for (int64_t cell = 0; cell < c->cells; cell++) {
        const int64_t candidates = cells_gather(c, box, cell);
        for (int64_t k = 0; k < c->n[cell]; k++) {
            const int32_t i = c->candidates.particle[k];
            const int64_t found = cells_pick(c, box, k, candidates);
            for (int64_t m = 0; m < found; m++) {
                const int32_t j = c->candidates.near_particle[m];
                assert_true(i != j && all[i].there && all[j].there);
                for (int d = 0; d < 3; d++) assert_true(c->candidates.near[d][m] == all[j].r[d]);
                times[i < j ? i : j][i < j ? j : i]++;
            }
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            const bool near = square_between(box, all[i].r, all[j].r) < c->reach * c->reach;
            assert_true(times[i][j] <= 1);
            if (all[i].there && all[j].there && near) assert_int_equal(times[i][j], 1);
        }
}

/* One particle comes, goes, or moves; most moves are short. */
static void change(cell_arrays *c, const plugmc_box *box, place *all, int i)
{
    double to[3];
    anywhere(box, to);
    if (!all[i].there) {
        memcpy(all[i].r, to, sizeof to);
        assert_int_equal(cells_add(c, box, i, to), 0);
        all[i].there = true;
    } else if (uniform() < 0.3) {
        assert_int_equal(cells_remove(c, box, i, all[i].r), 0);
        all[i].there = false;
    } else {
        if (uniform() < 0.7 && box->domain == PLUGMC_DOMAIN_PERIODIC) {
            for (int d = 0; d < box->dimension; d++)
                to[d] = all[i].r[d] + c->reach * (uniform() - 0.5);
            plugmc_wrap(box, to);
        }
        if (cells_are_adjacent(c, box, all[i].r, to)) check(c, box, all, MOST, all[i].r, to);
        const int code = cells_move_within(c, box, i, all[i].r, to);
        assert_in_range(code, 0, 1);
        if (code) {
            assert_int_equal(cells_remove(c, box, i, all[i].r), 0);
            assert_int_equal(cells_add(c, box, i, to), 0);
        }
        memcpy(all[i].r, to, sizeof to);
    }
}

static void try_box(const plugmc_box *box, double reach, int n)
{
    static place all[MOST];
    cell_arrays c = {.reach = reach};
    memset(all, 0, sizeof all);
    for (int round = 0; round < 2; round++) { /* and arranged anew */
        memset(all, 0, sizeof all);
        assert_int_equal(cells_arrange(&c, box, n), 0);
        for (int k = 0; k < 4000; k++) change(&c, box, all, (int)(uniform() * n));
        for (int k = 0; k < 300; k++) {
            double at[3];
            anywhere(box, at);
            check(&c, box, all, MOST, at, NULL);
        }
        check_pairs(&c, box, all, n);
        assert_int_equal(cells_remove(&c, box, MOST + 1, all[0].r), -1);
    }
    cells_free(&c);
}

static void neighbours_are_those_of_a_double_loop(void **state)
{
    (void)state;
    const double edges[] = {2.01, 2.6, 3.01, 3.9, 4.2, 5.7, 9.3};
    srand48(5);
    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) {
        const double e = edges[k];
        const plugmc_box boxes[] = {
            rectangular(3, e, e, e), rectangular(2, e, 1.3 * e, 1), rectangular(3, e, 2 * e, 3 * e),
            oblique(3, 1.6 * e),     oblique(2, 1.6 * e),           sphere(e / 2)};
        for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
            try_box(&boxes[b], 1, 40);
            try_box(&boxes[b], 1, MOST);
        }
    }
}

/* All in one corner: cells are enlarged. */
static void many_in_one_cell(void **state)
{
    (void)state;
    const plugmc_box box = rectangular(3, 8, 8, 8);
    cell_arrays c = {.reach = 1};
    static place all[MOST];
    srand48(6);
    assert_int_equal(cells_arrange(&c, &box, MOST), 0);
    for (int i = 0; i < MOST; i++) {
        for (int d = 0; d < 3; d++) all[i].r[d] = 0.5 * uniform();
        all[i].there = true;
        assert_int_equal(cells_add(&c, &box, i, all[i].r), 0);
    }
    check(&c, &box, all, MOST, all[0].r, NULL);
    check_pairs(&c, &box, all, MOST);
    cells_free(&c);
}

/* The order of neighbours depends on where particles are, not on how they came there. */
static void the_order_has_no_history(void **state)
{
    (void)state;
    const plugmc_box box = rectangular(3, 4.5, 5, 5.5);
    static place all[MOST];
    static int32_t slots[MOST + CELL_LANES];
    int32_t order[2][MOST];
    int64_t n[2];
    cell_arrays c[2] = {{.reach = 1}, {.reach = 1}};
    srand48(7);
    for (int k = 0; k < 2; k++) assert_int_equal(cells_arrange(&c[k], &box, MOST), 0);
    for (int k = 0; k < 5000; k++) change(&c[0], &box, all, (int)(uniform() * MOST));
    for (int i = 0; i < MOST; i++)
        if (all[i].there) assert_int_equal(cells_add(&c[1], &box, i, all[i].r), 0);
    for (int i = 0; i < MOST; i++) {
        for (int k = 0; k < 2; k++) {
            n[k] = cells_near(&c[k], &box, all[i].r, NULL, slots);
            for (int64_t s = 0; s < n[k]; s++) order[k][s] = c[k].particle[slots[s]];
        }
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(order[0], order[1], (size_t)n[0] * sizeof order[0][0]);
    }
    cells_free(&c[0]), cells_free(&c[1]);
}

TEST_MAIN(cmocka_unit_test(neighbours_are_those_of_a_double_loop),
          cmocka_unit_test(many_in_one_cell), cmocka_unit_test(the_order_has_no_history))
