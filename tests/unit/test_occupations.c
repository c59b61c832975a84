/* Which orbitals of a file a run has: cells by any matrix of primitive vectors, lists of bands, promotions, charged cells;
 * each orbital against its definition, and what is refused. */
#include "testing.h"

#include "orbitals.h"

#include "orbital_files.h"

#include "scratch.h"

static char folder[] = "/tmp/plugmc-test-occupations-XXXXXX";
static const int grid[3] = {6, 5, 8};

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void assert_says(const orbital_bench *b, const char *words)
{
    if (!strstr(b->message, words)) fail_msg("'%s' is not in: %s", words, b->message);
}

/* The file, in a box whose edges are the rows of the matrix in primitive vectors. */
static orbital_bench *try_cell(const made_file *m, const int t[3][3], int up, int down,
                               const char *more, int *code)
{
    double a[3][3] = {{0}};
    char text[1024];
    made_write(m, in_folder("made.data"), 0);
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++)
            for (int g = 0; g < 3; g++) a[d][e] += t[d][g] * m->lattice[g][e];
    orbital_bench *b = bench_new((const double(*)[3])a, up, down, 1, NULL);
    snprintf(text, sizeof text, "file = %s\n%s", in_folder("made.data"), more);
    *code = bench_try(b, "bspline_orbitals", text);
    return b;
}

typedef struct expected_orbital {
    int k, band, conjugate, part; /* 0: whole; 1: real, 2: imaginary */
} expected_orbital;

/* The orbitals of a species are those of the file, or their conjugates, in this order. */
static void has(orbital_bench *b, const made_file *m, int species, const expected_orbital *expected,
                int count)
{
    double *r = bench_points(&b->system.box, 5, 3);
    evaluated e = bench_evaluate(b, species, r, 5, 8, 1, 0);
    assert_int_equal(e.count, count);
    for (int i = 0; i < 5; i++)
        for (int l = 0; l < count; l++) {
            double complex v[5];
            made_evaluate(m, expected[l].k, 0, expected[l].band, r + 3 * i, v);
            for (int q = 0; q < 5 && expected[l].conjugate; q++) v[q] = conj(v[q]);
            for (int q = 0; q < 5 && expected[l].part; q++)
                v[q] = sqrt(2) * (expected[l].part == 1 ? creal(v[q]) : cimag(v[q]));
            assert_close(cabs(e.values[count * i + l] - v[0]), 0, 0, 1e-11);
            assert_close(cabs(e.laplacians[count * i + l] - v[4]), 0, 0, 1e-9);
            for (int d = 0; d < 3; d++)
                assert_close(cabs(e.gradients[(3 * i + d) * count + l] - v[1 + d]), 0, 0, 1e-10);
        }
    evaluated_free(&e);
    free(r);
}

static void refused(const made_file *m, const int t[3][3], int up, int down, const char *more,
                    const char *words)
{
    int code;
    orbital_bench *b = try_cell(m, t, up, down, more, &code);
    if (code != PLUGMC_ERROR_INPUT) fail_msg("'%s': not refused, code %d", words, code);
    assert_says(b, words);
    bench_free(b);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Ions are those of the primitive cell at as many lattice vectors, no two of which are equal in the cell. */
static void ions_are_copies(orbital_bench *b, const made_file *m, int cells)
{
    const plugmc_box *box = &b->system.box;
    plugmc_ions ions = {.size = sizeof ions};
    assert_int_equal(b->orbitals->ions(b->instance, &ions), PLUGMC_OK);
    assert_int_equal(ions.count, cells * m->atoms);
    assert_int_equal(ions.primitive_cells, cells);
    const plugmc_box primitive = bench_box((const double(*)[3])m->lattice);
    for (int i = 0; i < ions.count; i++) {
        double apart = 0;
        for (int d = 0; d < 3; d++) {
            double f = 0;
            for (int e = 0; e < 3; e++)
                f +=
                    (ions.positions[i][e] - m->position[i % m->atoms][e]) * primitive.inverse[e][d];
            apart = fmax(apart, fabs(f - rint(f)));
        }
        assert_close(apart, 0, 0, 1e-9);
        for (int j = 0; j < i; j++) {
            double differ = 0;
            for (int d = 0; d < 3; d++) {
                double f = 0;
                for (int e = 0; e < 3; e++)
                    f += (ions.positions[i][e] - ions.positions[j][e]) * box->inverse[e][d];
                differ = fmax(differ, fabs(f - rint(f)));
            }
            assert_true(differ > 1e-3);
        }
    }
}

/* Rows make the edges. The first is that of a test of QMCPACK, with a determinant of -1. */
static void cells_are_made_by_any_matrix(void **state)
{
    (void)state;
    static const struct {
        int t[3][3], k_points;
        double k[4][3];
    } cases[] = {
        {{{1, 0, 0}, {1, 0, 1}, {1, 1, 0}}, 1, {{0, 0, 0}}},
        {{{1, 1, 0}, {-1, 1, 0}, {0, 0, 1}}, 2, {{0, 0, 0}, {0.5, 0.5, 0}}},
        {{{-1, 1, 0}, {1, 1, 0}, {0, 0, 1}}, 2, {{0, 0, 0}, {0.5, -0.5, 0}}},
        {{{1, 1, 0}, {-1, 1, 0}, {0, 0, 1}}, 2, {{0.25, 0, 0.5}, {0.75, 0.5, 0.5}}}, /* a twist */
        {{{-1, 1, 1}, {1, -1, 1}, {1, 1, -1}},
         4,
         {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}}},
        {{{0, 0, 2}, {2, 0, 0}, {0, 1, 0}},
         4,
         {{0, 0, 0}, {0.5, 0, 0}, {0, 0, 0.5}, {0.5, 0, 0.5}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int n = cases[i].k_points, (*t)[3] = cases[i].t;
        made_file m = made_random(grid, 0, 1, n, cases[i].k, 2, 4, 9 + i);
        expected_orbital expected[8];
        char tile[100];
        int code;
        m.atoms = 2;
        m.atomic_number[1] = m.atomic_number[0];
        memcpy(m.position[1], (double[]){2.5, 2.25, 2.125}, sizeof m.position[1]);
        for (int l = 0; l < 2 * n; l++) expected[l] = (expected_orbital){l % n, l / n, 0};
        snprintf(tile, sizeof tile, "tile = %d %d %d %d %d %d %d %d %d", t[0][0], t[0][1], t[0][2],
                 t[1][0], t[1][1], t[1][2], t[2][0], t[2][1], t[2][2]);
        orbital_bench *b = try_cell(&m, t, 2 * n, 2 * n, tile, &code);
        if (code) fail_msg("%s: %s", tile, b->message);
        has(b, &m, 0, expected, 2 * n);
        ions_are_copies(b, &m, n);
        bench_free(b);
        made_free(&m);
    }
}

static void matrices_that_make_no_cell_are_refused(void **state)
{
    (void)state;
    static const int one[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                     two[3][3] = {{1, 1, 0}, {-1, 1, 0}, {0, 0, 1}};
    made_file m = made_random(grid, 0, 1, 1, NULL, 2, 4, 9);
    refused(&m, one, 2, 2, "tile = 1 0 0 0 1 0 1 1 0", "the determinant of tile is 0");
    refused(&m, one, 2, 2, "tile = 1 0 0 0 1 0 0 0.5 1", "tile: 0.5 is not a whole number");
    refused(&m, one, 2, 2, "tile = 1 0 0 0", "tile has 4 numbers");
    refused(&m, one, 2, 2, "tile = 1 1 -1", "numbers of cells, 1 or more");
    refused(&m, two, 4, 4, "tile = 1 1 0 -1 1 0 0 0 1",
            "a cell of (1 1 0, -1 1 0, 0 0 1) primitive cells has 2 k points");
    refused(&m, one, 2, 2, "tile = 1 0 0 0 0 1 0 1 0", "the box of the run differs");
    made_free(&m);
}

/* ---- Occupations ----------------------------------------------------------------------------- */

static const int four[3][3] = {{4, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* k = 0, 1/4, 1/2 of four cells, whose k = -1/4 is left to time reversal; 3 bands, 2 of which make the electrons. */
static made_file four_cells(void)
{
    static const double k[3][3] = {{0, 0, 0}, {0.25, 0, 0}, {0.5, 0, 0}};
    return made_random(grid, 0, 1, 3, k, 3, 2, 5);
}

static void listed_orbitals_are_occupied(void **state)
{
    (void)state;
    int code;
    made_file m = four_cells();
    orbital_bench *b = try_cell(&m, four, 4, 4, "occupied_up = 3:1 2:2,1 -2:3", &code);
    if (code) fail_msg("%s", b->message);
    has(b, &m, 0, (expected_orbital[]){{2, 0, 0}, {1, 1, 0}, {1, 0, 0}, {1, 2, 1}}, 4);
    has(b, &m, 1, (expected_orbital[]){{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {2, 0, 0}}, 4);
    bench_free(b);
    b = try_cell(&m, four, 4, 4, "occupied_up = 1:1-3 2:1\noccupied_down = 1:2-3 2:1 3:2", &code);
    if (code) fail_msg("%s", b->message);
    has(b, &m, 0, (expected_orbital[]){{0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {1, 0, 0}}, 4);
    has(b, &m, 1, (expected_orbital[]){{0, 1, 0}, {0, 2, 0}, {1, 0, 0}, {2, 1, 0}}, 4);
    bench_free(b);
    made_free(&m);
}

static void promoted_electrons_are_in_another_band(void **state)
{
    (void)state;
    int code;
    made_file m = four_cells();
    orbital_bench *b = try_cell(&m, four, 4, 4, "promote_down = 3:1>1:2", &code);
    if (code) fail_msg("%s", b->message);
    has(b, &m, 0, (expected_orbital[]){{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {2, 0, 0}}, 4);
    has(b, &m, 1, (expected_orbital[]){{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 1, 0}}, 4);
    bench_free(b);
    b = try_cell(&m, four, 4, 4, "promote_up = -2:1>3:2 1:1>-2:2:complex", &code);
    if (code) fail_msg("%s", b->message);
    has(b, &m, 0, (expected_orbital[]){{1, 1, 1}, {1, 0, 0}, {2, 1, 0}, {2, 0, 0}}, 4);
    bench_free(b);
    b = try_cell(&m, four, 4, 4,
                 "promote_up = 1:1>2:2:imaginary 3:1>2:2:real\npromote_down = 2:1>-2:3:imaginary",
                 &code);
    if (code) fail_msg("%s", b->message);
    has(b, &m, 0, (expected_orbital[]){{1, 1, 0, 2}, {1, 0, 0}, {1, 0, 1}, {1, 1, 0, 1}}, 4);
    has(b, &m, 1, (expected_orbital[]){{0, 0, 0}, {1, 2, 1, 2}, {1, 0, 1}, {2, 0, 0}}, 4);
    bench_free(b);
    made_free(&m);
}

/* With one electron more or less, and with spins flipped. */
static void numbers_of_electrons_may_be_others(void **state)
{
    (void)state;
    int code;
    made_file m = four_cells();
    const char *const more[] = {"charge = 1", "charge = -1", ""};
    const int up[] = {4, 5, 5};
    const int down[] = {3, 4, 3};
    for (int i = 0; i < 3; i++) {
        orbital_bench *b = try_cell(&m, four, up[i], down[i], more[i], &code);
        if (code) fail_msg("%s", b->message);
        const expected_orbital lowest[] = {{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {2, 0, 0}, {0, 1, 0}};
        plugmc_ions ions = {.size = sizeof ions};
        has(b, &m, 0, lowest, up[i]);
        has(b, &m, 1, lowest, down[i]);
        assert_int_equal(b->orbitals->ions(b->instance, &ions), PLUGMC_OK);
        assert_close(ions.charge, i == 0 ? 1 : i == 1 ? -1 : 0, 0, 0);
        bench_free(b);
    }
    refused(&m, four, 4, 3, "", "a cell with more or fewer needs its charge");
    refused(&m, four, 4, 4, "charge = 1", "make 8 less the charge of the cell, but the first two");
    made_free(&m);
}

static void wrong_rules_are_refused(void **state)
{
    (void)state;
    made_file m = four_cells();
    static const char *const rows[][2] = {
        {"occupied_up = 1:1-3", "occupied_up: it has 3 orbitals, but there are 4 electrons"},
        {"occupied_up = 1:1-3 2:1-2", "it has more than the 4 orbitals"},
        {"occupied_down = 1:1-3 2:4", "occupied_down: k point 2 has no band 4"},
        {"occupied_up = 1:1-3 1:2", "band 2 of k point 1 is there twice"},
        {"occupied_up = 4:1-4", "there is no k point 4: the file has 3"},
        {"occupied_up = 0:1-4", "there is no k point 0"},
        {"occupied_up = -3:1-3 1:1", "k point -3 is none of this cell and twist"},
        {"occupied_up = 1:3-1", "bands 3 to 1 are no bands"},
        {"occupied_up = 1 2", "':' should stand before"},
        {"occupied_up = a:1", "'a:1' does not begin with a number"},
        {"occupied_up = 1:1x", "'x' stands behind a band"},
        {"promote_up = 1:2>3:2", "band 2 of k point 1 is not occupied"},
        {"promote_up = 1:1>3:1", "band 1 of k point 3 is occupied already"},
        {"promote_up = 1:1>2:2", "write 2:2:complex, :real or :imaginary"},
        {"promote_up = 1:1>3:2:real", "k point 3 has no opposite in this cell"},
        {"promote_up = 1:1>2:2:real 3:1>2:2:real", "band 2 of k point 2 is occupied already"},
        {"promote_up = 1:1>2:2:real 3:1>2:2:complex", "band 2 of k point 2 is occupied already"},
        {"promote_up = 1:1", "'>' should stand before"},
        {"promote_up = 1:1>3:2,3", "stands behind a promotion"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refused(&m, four, 4, 4, rows[i][0], rows[i][1]);
    made_free(&m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_made_by_any_matrix),
        cmocka_unit_test(matrices_that_make_no_cell_are_refused),
        cmocka_unit_test(listed_orbitals_are_occupied),
        cmocka_unit_test(promoted_electrons_are_in_another_band),
        cmocka_unit_test(numbers_of_electrons_may_be_others),
        cmocka_unit_test(wrong_rules_are_refused),
    };
    if (!mkdtemp(folder)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_folder(folder);
    return failed != 0;
}
