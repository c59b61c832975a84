/* Orbitals with a twist: plane waves k = G + theta against their formula and exact energies, B-splines of
 * files that have the k points of several twists, and what is refused. */
#include "testing.h"

#include "orbitals.h"

#include "orbital_files.h"

#include "scratch.h"

static char folder[] = "/tmp/plugmc-test-twists-XXXXXX";
static const char diamond[] = TEST_DATA "/qmc/diamondC.pwscf.h5";
static const char silicon[] = TEST_DATA "/qmc/si-2x2x2.bwfn.data.b1";

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

/* ---- Plane waves ----------------------------------------------------------------------------- */

/* Edge of the cube of n electrons with r_s = 1 bohr. */
static double edge_of(int n) { return cbrt(4 * M_PI / 3 * n); }

static orbital_bench *open_gas(int up, int down, double edge, const char *settings)
{
    const double cube[3][3] = {{edge, 0, 0}, {0, edge, 0}, {0, 0, edge}};
    orbital_bench *b = bench_new(cube, up, down, 1, NULL);
    bench_open(b, "plane_waves", settings);
    return b;
}

/* Kinetic energy of the orbitals of a species: each is an eigenfunction, at whatever place. */
static double kinetic_of(orbital_bench *b, int species)
{
    const double r[3] = {0.3, -1.1, 2.7};
    double sum = 0;
    evaluated e = bench_evaluate(b, species, r, 1, 8, 1, 0);
    for (int64_t l = 0; l < e.count; l++) sum -= creal(e.laplacians[l] / e.values[l]) / 2;
    evaluated_free(&e);
    return sum;
}

/* exp(i k.r) with k = n_d b_d, |k| from the smallest on, each with the twist's fraction. */
static void twisted_waves_are_exponentials_in_the_order_of_their_energy(void **state)
{
    (void)state;
    enum { POINTS = 6, L = 19 };
    const double a[3][3] = {{5, 0.4, 0}, {-0.7, 6, 0.3}, {0.2, 0.5, 7}};
    const double twist[3] = {0.1, -0.35, 0.25};
    orbital_bench *b = bench_new(a, L, L, 1, NULL);
    bench_open(b, "plane_waves", "twist = 0.1 -0.35 0.25");
    assert_true(b->orbitals->complex_valued(b->instance));
    double *r = bench_points(&b->system.box, POINTS, 17);
    evaluated e = bench_evaluate(b, 0, r, POINTS, 8, 1, 0);
    evaluated f = bench_evaluate(b, 1, r, POINTS, 4, 1, 0);
    double last = 0;
    for (int l = 0; l < L; l++) {
        double k[3], square = 0;
        for (int d = 0; d < 3; d++) {
            k[d] = cimag(e.gradients[d * L + l] / e.values[l]);
            square += k[d] * k[d];
        }
        for (int d = 0; d < 3; d++) {
            double turns = 0;
            for (int c = 0; c < 3; c++) turns += k[c] * a[d][c] / (2 * M_PI);
            assert_close(turns - twist[d], rint(turns - twist[d]), 0, 1e-12);
        }
        assert_true(square >= last * (1 - 1e-12));
        last = square;
        for (int i = 0; i < POINTS; i++) {
            const int64_t at = i * L + l;
            const double phase = k[0] * r[3 * i] + k[1] * r[3 * i + 1] + k[2] * r[3 * i + 2];
            assert_close(cabs(e.values[at] - cexp(I * phase)), 0, 0, 1e-12);
            assert_close(cabs(f.values[at] - cexp(I * phase)), 0, 0, 1e-6);
            for (int d = 0; d < 3; d++)
                assert_close(cabs(e.gradients[(3 * i + d) * L + l] - I * k[d] * e.values[at]), 0, 0,
                             1e-12);
            assert_close(cabs(e.laplacians[at] + square * e.values[at]), 0, 0, 1e-11);
        }
    }
    evaluated_free(&e);
    evaluated_free(&f);
    free(r);
    bench_free(b);
}

/* No wave is left out, or there twice: those of the plugin are the lowest of a list that is long enough. */
static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double lowest_sum(const double twist[3], int count, double edge)
{
    double all[11 * 11 * 11], sum = 0;
    int n = 0;
    for (int x = -5; x <= 5; x++)
        for (int y = -5; y <= 5; y++)
            for (int z = -5; z <= 5; z++)
                all[n++] = pow(x + twist[0], 2) + pow(y + twist[1], 2) + pow(z + twist[2], 2);
    qsort(all, (size_t)n, sizeof *all, ascending);
    for (int i = 0; i < count; i++) sum += all[i] * pow(2 * M_PI / edge, 2) / 2;
    return sum;
}

static void twisted_free_electrons_have_their_exact_energy(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double energy; /* an electron, N = 14, r_s = 1 */
    } known[] = {{"", 1.120913}, {"twist = 0 0 0", 1.120913}, {"twist = 0.25 0.25 0.25", 1.085884}};
    for (int i = 0; i < 3; i++) {
        orbital_bench *b = open_gas(7, 7, edge_of(14), known[i].settings);
        assert_int_equal(b->warnings, 0);
        assert_int_equal(b->orbitals->complex_valued(b->instance), i == 2);
        assert_close((kinetic_of(b, 0) + kinetic_of(b, 1)) / 14, known[i].energy, 0, 5e-7);
        bench_free(b);
    }
}

/* The mean over a Monkhorst-Pack grid of 48^3 twists, with as many electrons at each: over those that the
 * symmetry of the cube leaves. */
static void the_canonical_mean_of_a_fine_grid_is_known(void **state)
{
    (void)state;
    enum { Q = 48 };
    double sum = 0, weights = 0;
    for (int x = 0; x < Q / 2; x++)
        for (int y = x; y < Q / 2; y++)
            for (int z = y; z < Q / 2; z++) {
                const int orders = x == y && y == z ? 1 : x == y || y == z ? 3 : 6;
                const double twist[3] = {(2 * x + 1) / (2.0 * Q), (2 * y + 1) / (2.0 * Q),
                                         (2 * z + 1) / (2.0 * Q)};
                char settings[200];
                snprintf(settings, sizeof settings, "twist = %.17g %.17g %.17g", twist[0], twist[1],
                         twist[2]);
                orbital_bench *b = open_gas(7, 0, edge_of(14), settings);
                const double energy = kinetic_of(b, 0);
                assert_close(energy, lowest_sum(twist, 7, edge_of(14)), 1e-12, 0);
                sum += orders * energy / 7;
                weights += orders;
                bench_free(b);
            }
    assert_close(weights, Q * Q * Q / 8, 0, 0);
    assert_close(sum / weights, 1.11569, 0, 5e-6);
}

static void species_of_unlike_numbers_share_the_list(void **state)
{
    (void)state;
    const double twist[3] = {0.25, 0.25, 0.25}, edge = edge_of(14);
    orbital_bench *b = open_gas(7, 4, edge, "twist = 0.25 0.25 0.25");
    assert_close(kinetic_of(b, 0), lowest_sum(twist, 7, edge), 1e-12, 0);
    assert_close(kinetic_of(b, 1), lowest_sum(twist, 4, edge), 1e-12, 0);
    assert_int_equal(b->warnings, 0);
    bench_free(b);
    b = open_gas(3, 2, edge, "twist = 0.25 0.25 0.25"); /* shells of 1, 3, 3, ... */
    assert_int_equal(b->warnings, 2);
    assert_says(b, "2 electrons of species 'down' do not fill a shell");
    bench_free(b);
}

static void twists_of_the_wrong_number_are_refused(void **state)
{
    (void)state;
    const double cube[3][3] = {{5, 0, 0}, {0, 5, 0}, {0, 0, 5}};
    orbital_bench *b = bench_new(cube, 7, 7, 1, NULL);
    assert_int_equal(bench_try(b, "plane_waves", "twist = 0.5 0.5"), PLUGMC_ERROR_INPUT);
    assert_says(b, "twist has 2 numbers but needs 3");
    bench_free(b);
    b = bench_new(cube, 7, 7, 1, NULL);
    char text[400];
    snprintf(text, sizeof text, "file = %s\ntwist = 0.5 0.5", diamond);
    assert_int_equal(bench_try(b, "bspline_orbitals", text), PLUGMC_ERROR_INPUT);
    assert_says(b, "twist has 2 numbers but needs 3");
    bench_free(b);
}

/* ---- B-splines ------------------------------------------------------------------------------- */

static const int grid[3] = {6, 5, 8};

static orbital_bench *try_made(const made_file *m, const int tile[3], int electrons,
                               const char *more, int *code)
{
    double a[3][3];
    char text[1024];
    made_write(m, in_folder("made.data"), 0);
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) a[d][e] = tile[d] * m->lattice[d][e];
    orbital_bench *b = bench_new((const double(*)[3])a, electrons, electrons, 1, NULL);
    snprintf(text, sizeof text, "file = %s\n%s", in_folder("made.data"), more);
    *code = bench_try(b, "bspline_orbitals", text);
    return b;
}

typedef struct expected_orbital {
    int k, band, conjugate;
} expected_orbital;

/* The orbitals of a cell with this twist are those of the file, or their conjugates, in this order. */
static void holds(const made_file *m, const int tile[3], const char *more,
                  const expected_orbital *expected, int count)
{
    int code;
    orbital_bench *b = try_made(m, tile, count, more, &code);
    if (code) fail_msg("%s: %s", more, b->message);
    double *r = bench_points(&b->system.box, 5, 3);
    evaluated e = bench_evaluate(b, 0, r, 5, 8, 1, 0);
    assert_int_equal(e.count, count);
    for (int i = 0; i < 5; i++)
        for (int l = 0; l < count; l++) {
            double complex v[5];
            made_evaluate(m, expected[l].k, 0, expected[l].band, r + 3 * i, v);
            for (int q = 0; q < 5 && expected[l].conjugate; q++) v[q] = conj(v[q]);
            assert_close(cabs(e.values[count * i + l] - v[0]), 0, 0, 1e-11);
            for (int d = 0; d < 3; d++)
                assert_close(cabs(e.gradients[count * (3 * i + d) + l] - v[1 + d]), 0, 0, 1e-10);
            assert_close(cabs(e.laplacians[count * i + l] - v[4]), 0, 0, 1e-9);
        }
    evaluated_free(&e);
    free(r);
    bench_free(b);
}

static void not_held(const made_file *m, const int tile[3], int electrons, const char *more,
                     const char *words)
{
    int code;
    orbital_bench *b = try_made(m, tile, electrons, more, &code);
    if (code != PLUGMC_ERROR_INPUT) fail_msg("'%s': not refused, code %d", words, code);
    assert_says(b, words);
    bench_free(b);
}

/* Four k points along the first direction: four twists of one primitive cell, or two of a pair. */
static void a_file_serves_the_twists_of_its_k_points(void **state)
{
    (void)state;
    static const int one[3] = {1, 1, 1}, two[3] = {2, 1, 1}, four[3] = {4, 1, 1};
    static const double k[4][3] = {{0, 0, 0}, {0.25, 0, 0}, {0.5, 0, 0}, {0.75, 0, 0}};
    made_file m = made_random(grid, 0, 1, 4, k, 2, 4, 9);
    holds(&m, one, "tile = 1 1 1\ntwist = 0 0 0", (expected_orbital[]){{0, 0, 0}, {0, 1, 0}}, 2);
    holds(&m, one, "tile = 1 1 1\ntwist = 0.25 0 0", (expected_orbital[]){{1, 0, 0}, {1, 1, 0}}, 2);
    holds(&m, one, "tile = 1 1 1\ntwist = -0.5 0 0", (expected_orbital[]){{2, 0, 0}, {2, 1, 0}}, 2);
    holds(&m, one, "tile = 1 1 1\ntwist = -0.25 0 1", (expected_orbital[]){{3, 0, 0}, {3, 1, 0}},
          2);
    holds(&m, two, "tile = 2 1 1\ntwist = 0.5 0 0",
          (expected_orbital[]){{1, 0, 0}, {3, 0, 0}, {1, 1, 0}, {3, 1, 0}}, 4);
    holds(&m, two, "tile = 2 1 1\ntwist = 0 0 0",
          (expected_orbital[]){{0, 0, 0}, {2, 0, 0}, {0, 1, 0}, {2, 1, 0}}, 4);
    holds(
        &m, four, "twist = 0 0 0",
        (expected_orbital[]){
            {0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {3, 1, 0}},
        8);
    not_held(&m, one, 2, "tile = 1 1 1\ntwist = 0.125 0 0",
             "does not hold (0.125 0 0); of a cell of 1 x 1 x 1 primitive cells it holds (0 0 0), "
             "(0.25 0 0), (-0.25 0 0), (0.5 0 0)");
    not_held(&m, two, 4, "tile = 2 1 1\ntwist = 0.25 0 0", "it holds (0 0 0), (0.5 0 0)");
    not_held(&m, four, 8, "twist = 0.5 0 0", "4 x 1 x 1 primitive cells it holds (0 0 0)");
    not_held(&m, one, 2, "tile = 1 3 1\ntwist = 0 0 0",
             "it holds no twist with all of its k points");
    not_held(&m, one, 2, "tile = 1 1 1", "'twist' says which");
    made_free(&m);
}

/* The conjugates of the orbitals of k are those of -k, so of +-theta one is enough. */
static void time_reversal_supplies_the_opposite_twist(void **state)
{
    (void)state;
    static const int one[3] = {1, 1, 1}, two[3] = {2, 1, 1};
    static const double k[3][3] = {{0, 0, 0}, {1.0 / 3, 0, 0}, {1.0 / 3 - 0.5, 0, 0}};
    made_file m = made_random(grid, 0, 1, 3, k, 2, 4, 19);
    holds(&m, one, "tile = 1 1 1\ntwist = -0.333333333 0 0",
          (expected_orbital[]){{1, 0, 1}, {1, 1, 1}}, 2);
    holds(&m, two, "tile = 2 1 1\ntwist = 0.666666667 0 0",
          (expected_orbital[]){{1, 0, 0}, {2, 0, 0}, {1, 1, 0}, {2, 1, 0}}, 4);
    holds(&m, two, "tile = 2 1 1\ntwist = 0.333333333 0 0",
          (expected_orbital[]){{1, 0, 1}, {2, 0, 1}, {1, 1, 1}, {2, 1, 1}}, 4);
    not_held(&m, one, 2, "tile = 1 1 1\ntwist = 0.5 0 0",
             "it holds (0 0 0), (0.333333 0 0), (-0.333333 0 0), (-0.166667 0 0), (0.166667 0 0)");
    made_free(&m);
}

/* Eight k points of a 2 x 2 x 2 grid are eight twists of the primitive cell; their mean kinetic energy is that
 * of the density functional calculation in the header. Two points of Gauss and Legendre along each edge of
 * each cell of the grid. */
static void twists_of_silicon_make_its_kinetic_energy(void **state)
{
    (void)state;
    enum { M = 48 };
    const double e = 5.1315, a[3][3] = {{-e, 0, e}, {0, e, e}, {-e, e, 0}};
    double *r = malloc(3 * M * M * sizeof *r), at[M], kinetic = 0;
    for (int i = 0; i < M; i++) at[i] = (i / 2 + 0.5 + (i % 2 - 0.5) / sqrt(3)) / (M / 2);
    for (int t = 0; t < 8; t++) {
        char text[400];
        snprintf(text, sizeof text, "file = %s\ntile = 1 1 1\ntwist = %g %g %g", silicon,
                 0.5 * (t & 1), 0.5 * (t >> 1 & 1), 0.5 * (t >> 2));
        orbital_bench *b = bench_new(a, 4, 4, 1, NULL);
        bench_open(b, "bspline_orbitals", text);
        for (int x = 0; x < M; x++) {
            for (int i = 0; i < M * M; i++)
                for (int c = 0; c < 3; c++)
                    r[3 * i + c] = at[x] * a[0][c] + at[i / M] * a[1][c] + at[i % M] * a[2][c];
            evaluated v = bench_evaluate(b, 0, r, M * M, 8, 1, 0);
            for (int64_t i = 0; i < M * M * v.count; i++) /* of both spins */
                kinetic -= creal(conj(v.values[i]) * v.laplacians[i]) / (M * M * M);
            evaluated_free(&v);
        }
        bench_free(b);
    }
    assert_close(kinetic / 8, 3.2988434, 0, 5e-4);
    free(r);
}

/* The file of diamond, and a copy of it whose k point is another: as if its orbitals were those of that k. */
static orbital_bench *try_diamond(const char *path, const char *twist, int *code)
{
    double a[3][3];
    char text[600];
    hid_t file = H5Fopen(diamond, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "/supercell/primitive_vectors", H5P_DEFAULT);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, a) >= 0);
    H5Dclose(set);
    H5Fclose(file);
    snprintf(text, sizeof text, "file = %s\n%s", path, twist);
    orbital_bench *b = bench_new((const double(*)[3])a, 4, 4, 1, NULL);
    *code = bench_try(b, "bspline_orbitals", text);
    return b;
}

static void eshdf_files_hold_their_twist(void **state)
{
    (void)state;
    const double k[3] = {0.25, 0, -0.5};
    const char *copy = in_folder("moved.h5");
    int code;
    orbital_bench *b = try_diamond(diamond, "twist = 0.5 0 0", &code);
    assert_int_equal(code, PLUGMC_ERROR_INPUT);
    assert_says(b,
                "does not hold (0.5 0 0); of a cell of 1 x 1 x 1 primitive cells it holds (0 0 0)");
    bench_free(b);
    bytes all = bytes_read(diamond);
    bytes_write(copy, all.data, all.n);
    free(all.data);
    hid_t file = H5Fopen(copy, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "/electrons/kpoint_0/reduced_k", H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, k) >= 0);
    H5Dclose(set);
    H5Fclose(file);
    static const char *const held[] = {"", "twist = 0.25 0 0.5", "twist = -0.25 1 0.5"};
    for (int i = 0; i < 3; i++) {
        b = try_diamond(copy, held[i], &code);
        if (code) fail_msg("%s: %s", held[i], b->message);
        /* by Bloch's theorem: a step along edge d is a phase */
        double r[12] = {0.3, 0.1, -0.2};
        for (int d = 0; d < 3; d++)
            for (int e = 0; e < 3; e++) r[3 + 3 * d + e] = r[e] + b->system.box.vector[d][e];
        evaluated v = bench_evaluate(b, 0, r, 4, 8, 0, 0);
        for (int d = 0; d < 3; d++)
            for (int64_t l = 0; l < v.count; l++) {
                const double turns = i == 2 ? -k[d] : k[d];
                assert_close(cabs(v.values[(1 + d) * v.count + l] -
                                  cexp(2 * M_PI * I * turns) * v.values[l]),
                             0, 0, 1e-9);
            }
        evaluated_free(&v);
        bench_free(b);
    }
    b = try_diamond(copy, "twist = 0 0 0", &code);
    assert_int_equal(code, PLUGMC_ERROR_INPUT);
    assert_says(b, "it holds (0.25 0 0.5), (-0.25 0 0.5)");
    bench_free(b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(twisted_waves_are_exponentials_in_the_order_of_their_energy),
        cmocka_unit_test(twisted_free_electrons_have_their_exact_energy),
        cmocka_unit_test(the_canonical_mean_of_a_fine_grid_is_known),
        cmocka_unit_test(species_of_unlike_numbers_share_the_list),
        cmocka_unit_test(twists_of_the_wrong_number_are_refused),
        cmocka_unit_test(a_file_serves_the_twists_of_its_k_points),
        cmocka_unit_test(time_reversal_supplies_the_opposite_twist),
        cmocka_unit_test(twists_of_silicon_make_its_kinetic_energy),
        cmocka_unit_test(eshdf_files_hold_their_twist),
    };
    if (!mkdtemp(folder)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_folder(folder);
    return failed != 0;
}
