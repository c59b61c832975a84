/* Cells: every particle in one, neighbours in the cells around, each of which is visited once. */
#include "boxes.h"
#include "small_system.h"

/* Points at random places, some of them outside of the box, where a box is periodic. */
static small points(int dimension, int shape, int64_t n, int walkers)
{
    small s = small_new(dimension, n);
    s.species[0].diameter = 0;
    s.config.box.shape = shape;
    s.config.run.walkers = walkers;
    if (shape == SPHERE) s.config.box.radius = 2.5;
    if (shape == RECTANGLE) s.config.box.lx = 3, s.config.box.ly = 5;
    if (shape == RECTANGLE && dimension == 3) s.config.box.lz = 7;
    assert_int_equal(small_build(&s), EXIT_DONE);
    s.positions = calloc(3 * (size_t)(n * walkers), sizeof(double));
    for (int64_t i = 0; i < n * walkers; i++) {
        double *r = &s.positions[3 * i], r2 = INFINITY;
        for (uint32_t draw = 0; shape == SPHERE ? r2 > 6.25 : draw == 0; draw++) {
            plugmc_random random = plugmc_draw((plugmc_seed){1}, 0, 0, (uint32_t)i, 0, draw);
            r2 = 0;
            for (int d = 0; d < dimension; d++) {
                double u = plugmc_uniform_double(random.word[d], random.word[3]);
                r[d] = shape == SPHERE ? 5 * u - 2.5 : s.system.box.length[d] * (3 * u - 1);
                r2 += r[d] * r[d];
            }
        }
    }
    return s;
}

/* An entry of a cell: wrapped, by whole edges, and in the cell that the rule says. */
static void assert_in_cell(const small *s, const plugmc_cells *cells, const double *from,
                           const double *r, int64_t cell)
{
    const plugmc_box *box = &s->system.box;
    int64_t own[3];
    for (int d = 0; d < 3; d++) {
        double moved = from[d] - r[d], lower = 0;
        if (box->domain == PLUGMC_DOMAIN_PERIODIC) {
            assert_true(r[d] >= 0 && r[d] < box->length[d]);
            moved -= box->length[d] * round(moved / box->length[d]);
        } else if (d < box->dimension) {
            lower = -box->radius;
        }
        assert_close(moved, 0, 0, 1e-14);
        own[d] = (int64_t)((r[d] - lower) / (box->length[d] / cells->count[d]));
        if (own[d] >= cells->count[d]) own[d] = cells->count[d] - 1;
    }
    assert_int_equal(own[0] + cells->count[0] * (own[1] + cells->count[1] * own[2]), cell);
}

/* Their positions are NaN. */
static void who_is_not_there_is_in_no_cell(void **state)
{
    (void)state;
    enum { N = 200 };
    for (int k = 0; k < 4; k++) {
        small s = points(2 + k % 2, k / 2 % 2 ? SPHERE : RECTANGLE, N, 3);
        plugmc_cells cells;
        s.system.threads = k % 2 ? 2 : 7;
        double *positions = (double *)s.positions;
        for (int i = 0; i < 3 * N; i++)
            for (int d = 0; d < 3 && i % 7 == 2; d++) positions[3 * i + d] = NAN;
        assert_int_equal(host_cells_build(&s.system, boxes_of(&s.system), s.positions, 0.7, &cells),
                         PLUGMC_OK);
        for (int w = 0; w < 3; w++) {
            const uint32_t *start = cells.start + w * (cells.cells + 1);
            uint32_t there = 0;
            for (int i = 0; i < N; i++) there += (w * N + i) % 7 != 2;
            assert_int_equal(start[cells.cells], there);
            for (uint32_t e = 0; e < there; e++) {
                const uint32_t i = cells.order[w * N + (int)e];
                assert_true((w * N + (int)i) % 7 != 2);
                assert_false(isnan(cells.positions[3 * (w * N + (int)e)]));
            }
        }
        host_cells_free(&cells);
        small_free(&s);
    }
}

static void every_particle_is_in_its_cell(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        enum { N = 200 };
        small s = points(2 + k % 2, k / 2 % 2 ? SPHERE : RECTANGLE, N, 3);
        plugmc_cells cells;
        s.system.threads = k < 4 ? 2 : 7; /* walkers side by side, or threads side by side */
        assert_int_equal(host_cells_build(&s.system, boxes_of(&s.system), s.positions, 0.7, &cells),
                         PLUGMC_OK);
        assert_int_equal(cells.cells,
                         cell_grid_make(&s.system.box, 1, s.system.particles, 0.7).cells);
        for (int w = 0; w < 3; w++) {
            const uint32_t *start = cells.start + w * (cells.cells + 1);
            const uint32_t *order = cells.order + w * N;
            char seen[N] = {0};
            assert_int_equal(start[0], 0);
            assert_int_equal(start[cells.cells], N);
            for (int64_t c = 0; c < cells.cells; c++)
                for (uint32_t e = start[c]; e < start[c + 1]; e++) {
                    assert_in_cell(&s, &cells, &s.positions[3 * (w * N + order[e])],
                                   &cells.positions[3 * (w * N + e)], c);
                    if (e > start[c]) assert_true(order[e] > order[e - 1]);
                    assert_false(seen[order[e]]++);
                }
        }
        host_cells_free(&cells);
        small_free(&s);
    }
}

/* Ordered pairs within the range, by looking at the cells around each particle. */
static int64_t pairs_by_cells(const small *s, const plugmc_cells *cells, double range)
{
    const cell_grid grid = cell_grid_make(&s->system.box, 1, s->system.particles, range);
    int64_t pairs = 0;
    for (int64_t c = 0; c < cells->cells; c++) {
        int64_t around[27];
        int found = cells_around(&grid, c, around);
        for (int a = 0; a < found; a++) {
            const int64_t other = around[a];
            for (int b = 0; b < a; b++) assert_true(around[b] != other);
            for (uint32_t e = cells->start[c]; e < cells->start[c + 1]; e++)
                for (uint32_t f = cells->start[other]; f < cells->start[other + 1]; f++)
                    pairs += e != f && small_distance(&s->system.box, &cells->positions[3 * e],
                                                      &cells->positions[3 * f]) < range;
        }
    }
    return pairs;
}

static int64_t pairs_by_pairs(const small *s, double range)
{
    int64_t pairs = 0;
    for (int64_t i = 0; i < s->system.particles; i++)
        for (int64_t j = 0; j < s->system.particles; j++)
            pairs += i != j && small_distance(&s->system.box, &s->positions[3 * i],
                                              &s->positions[3 * j]) < range;
    return pairs;
}

/* In boxes of many and of few cells. */
static void neighbours_are_in_the_cells_around(void **state)
{
    (void)state;
    const double ranges[] = {0.35, 0.9, 1.2, 1.6, 2.4, 2.6, 9, INFINITY};
    for (int k = 0; k < 4; k++)
        for (size_t l = 0; l < sizeof ranges / sizeof *ranges; l++) {
            small s = points(2 + k % 2, k < 2 ? RECTANGLE : SPHERE, 150, 1);
            plugmc_cells cells;
            assert_int_equal(
                host_cells_build(&s.system, &s.system.box, s.positions, ranges[l], &cells), 0);
            int64_t pairs = pairs_by_pairs(&s, ranges[l]);
            assert_int_equal(pairs_by_cells(&s, &cells, ranges[l]), pairs);
            assert_true(pairs > 0);
            for (int d = 0; d < 3; d++)
                if (cells.count[d] > 1)
                    assert_true(s.system.box.length[d] / cells.count[d] >= ranges[l]);
            host_cells_free(&cells);
            small_free(&s);
        }
}

static void number_of_cells_follows_that_of_particles(void **state)
{
    (void)state;
    small s = points(3, RECTANGLE, 100, 1);
    const double ranges[] = {0, 1e-300, 1e-9, 0.1};
    for (int k = 0; k < 4; k++) {
        cell_grid grid = cell_grid_make(&s.system.box, 1, s.system.particles, ranges[k]);
        assert_true(grid.cells <= 4 * 100 + 8 && grid.cells > 50);
    }
    cell_grid grid = cell_grid_make(&s.system.box, 1, s.system.particles, 1);
    assert_int_equal(grid.count[0], 3);
    assert_int_equal(grid.count[1], 5);
    assert_int_equal(grid.count[2], 7);
    assert_int_equal(cell_grid_make(&s.system.box, 1, s.system.particles, INFINITY).cells, 1);
    small_free(&s);
}

static void wrapping_ends_in_the_box_and_keeps_what_is_there(void **state)
{
    (void)state;
    assert_true(plugmc_wrapped(-1e-20, 10) == 0);
    assert_true(plugmc_wrapped(10, 10) == 0);
    assert_true(plugmc_wrapped(nextafter(10, 0), 10) == nextafter(10, 0));
    assert_true(plugmc_wrapped(0, 10) == 0);
    assert_close(plugmc_wrapped(-1, 10), 9, 1e-15, 0);
    assert_close(plugmc_wrapped(1e6 + 3, 10), 3, 1e-9, 0);
}

TEST_MAIN(cmocka_unit_test(every_particle_is_in_its_cell),
          cmocka_unit_test(who_is_not_there_is_in_no_cell),
          cmocka_unit_test(neighbours_are_in_the_cells_around),
          cmocka_unit_test(number_of_cells_follows_that_of_particles),
          cmocka_unit_test(wrapping_ends_in_the_box_and_keeps_what_is_there))
