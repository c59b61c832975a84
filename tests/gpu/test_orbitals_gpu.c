/* Orbitals on the GPU against those on the CPU: B-splines of all precisions, layouts and awkward
 * sizes, sorted and not; plane waves and Slater functions; launches recorded in a graph. Skipped
 * without a GPU. */
#include "testing.h"

#include "on_gpu.h"
#include "orbitals.h"
#include "orbital_files.h"
#include "../unit/scratch.h"

static char folder[] = "/tmp/plugmc-test-orbitals-gpu-XXXXXX";
static const char silicon[] = TEST_DATA "/qmc/si-2x2x2.bwfn.data.b1";
static const char diamond[] = TEST_DATA "/qmc/diamondC.pwscf.h5";

static const char *made_path(void)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/made.data", folder);
    return path;
}

/* Largest difference over the largest number. */
static double apart(const double complex *a, const double complex *b, int64_t n)
{
    double worst = 0, largest = 1e-300;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(cabs(a[i]))) return INFINITY;
        worst = fmax(worst, cabs(a[i] - b[i]));
        largest = fmax(largest, cabs(b[i]));
    }
    return worst / largest;
}

/* All that a request can ask for, on both sides; `single`: what results in float may be off besides. */
static void compare_to(orbital_bench *b, const char *name, int64_t points, double tolerance,
                       double single)
{
    for (int species = 0; species < b->system.species_count; species++)
        for (int real_size = 4; real_size <= 8; real_size += 4) {
            double *r = bench_points(&b->system.box, points, 91);
            evaluated host = bench_evaluate(b, species, r, points, 8, 1, 0);
            evaluated all = bench_evaluate(b, species, r, points, real_size, 1, 1);
            evaluated values = bench_evaluate(b, species, r, points, real_size, 0, 1);
            const int64_t n = points * host.count;
            const double allowed = tolerance + (real_size == 4 ? single : 0);
            const double found[4] = {apart(values.values, host.values, n),
                                     apart(all.values, host.values, n),
                                     apart(all.gradients, host.gradients, 3 * n),
                                     apart(all.laplacians, host.laplacians, n)};
            printf("%s, species %d, results of %d bytes: values %.2g and %.2g, gradients %.2g, "
                   "Laplacians "
                   "%.2g (allowed %.2g)\n",
                   name, species, real_size, found[0], found[1], found[2], found[3], allowed);
            for (int q = 0; q < 4; q++)
                if (!(found[q] <= allowed))
                    fail_msg("%s: quantity %d is %g apart", name, q, found[q]);
            evaluated_free(&host);
            evaluated_free(&all);
            evaluated_free(&values);
            free(r);
        }
}

static void compare(orbital_bench *b, const char *name, int64_t points, double tolerance)
{
    compare_to(b, name, points, tolerance, 1e-6);
}

static void check_made(const int grid[3], int real, int bands, int64_t points, const char *more,
                       double tolerance)
{
    static const double twist[1][3] = {{0.21, -0.4, 0.07}};
    char settings[1024], name[256];
    made_file m = made_random(grid, real, 1, 1, real ? NULL : twist, bands, 2 * bands, 17);
    made_write(&m, made_path(), 0);
    orbital_bench *b = bench_new((const double(*)[3])m.lattice, bands, bands, 1, device);
    snprintf(settings, sizeof settings, "file = %s\n%s", made_path(), more);
    snprintf(name, sizeof name, "%d %s orbitals, grid %d %d %d, %s", bands,
             real ? "real" : "complex", grid[0], grid[1], grid[2], more);
    for (char *c = name; *c; c++)
        if (*c == '\n') *c = ' ';
    bench_open(b, "bspline_orbitals", settings);
    compare(b, name, points, tolerance);
    bench_free(b);
    made_free(&m);
}

static void splines_of_all_sizes_agree(void **state)
{
    (void)state;
    static const int odd[3] = {5, 7, 9}, prime[3] = {11, 4, 13}, even[3] = {12, 8, 10};
    static const struct {
        const int *grid;
        int real, bands;
        int64_t points;
    } cases[] = {{odd, 1, 1, 1},     {odd, 0, 1, 3},    {prime, 1, 2, 100}, {prime, 0, 3, 100},
                 {even, 1, 13, 257}, {odd, 0, 13, 255}, {prime, 0, 33, 64}, {even, 1, 513, 20},
                 {odd, 0, 513, 33},  {odd, 1, 1025, 9}, {odd, 0, 1025, 7},  {even, 0, 64, 3000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_made(cases[i].grid, cases[i].real, cases[i].bands, cases[i].points,
                   "precision = float", 3e-6);
        check_made(cases[i].grid, cases[i].real, cases[i].bands, cases[i].points,
                   "precision = double", 1e-12);
    }
}

static void sorting_and_layout_change_nothing(void **state)
{
    (void)state;
    static const int grid[3] = {9, 14, 11};
    check_made(grid, 0, 29, 2000, "precision = float\nsort = yes", 3e-6);
    check_made(grid, 0, 29, 2000, "precision = float\nsort = no", 3e-6);
    check_made(grid, 1, 29, 1, "precision = float\nsort = yes", 3e-6);
    check_made(grid, 1, 29, 300, "precision = double\nsort = yes", 1e-12);
    check_made(grid, 0, 29, 200, "precision = float\nlayout = plain", 3e-6);
    check_made(grid, 1, 29, 200, "precision = double\nlayout = plain", 1e-12);
    check_made(grid, 0, 5, 500, "precision = float\nresident = 2", 3e-6);
    check_made(grid, 0, 5, 500, "precision = float\nresident = 8", 3e-6);
}

static void more_points_than_a_batch_are_evaluated(void **state)
{
    (void)state;
    static const int grid[3] = {9, 14, 11};
    check_made(grid, 1, 2, 150001, "precision = float\nsort = yes", 3e-6);
    check_made(grid, 0, 1, 70000, "precision = double\nsort = no", 1e-12);
}

static void real_files_agree(void **state)
{
    (void)state;
    const double e = 2 * 5.1315, a[3][3] = {{-e, 0, e}, {0, e, e}, {-e, e, 0}};
    static const char *const precision[] = {"float", "double"};
    static const double tolerance[] = {2e-5, 1e-12};
    char settings[512];
    for (int p = 0; p < 2; p++) {
        orbital_bench *b = bench_new(a, 32, 32, 1, device);
        snprintf(settings, sizeof settings, "file = %s\nprecision = %s", silicon, precision[p]);
        bench_open(b, "bspline_orbitals", settings);
        compare(b, "silicon", 3000, tolerance[p]);
        bench_free(b);
    }
    double c[3][3];
    hid_t file = H5Fopen(diamond, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "/supercell/primitive_vectors", H5P_DEFAULT);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, c) >= 0);
    H5Dclose(set);
    H5Fclose(file);
    orbital_bench *b = bench_new((const double(*)[3])c, 4, 4, 1, device);
    snprintf(settings, sizeof settings, "file = %s", diamond);
    bench_open(b, "bspline_orbitals", settings);
    compare(b, "diamond", 500, 2e-5);
    bench_free(b);
}

/* One cell of silicon with one k point of the file, and a pair of cells with two of them. */
static void splines_with_a_twist_agree(void **state)
{
    (void)state;
    const double e = 5.1315;
    char settings[512];
    for (int n = 1; n <= 2; n++) {
        const double a[3][3] = {{-n * e, 0, n * e}, {0, e, e}, {-e, e, 0}};
        orbital_bench *b = bench_new(a, 4 * n, 4 * n, 1, device);
        snprintf(settings, sizeof settings, "file = %s\ntile = %d 1 1\ntwist = 0 0.5 0.5", silicon,
                 n);
        bench_open(b, "bspline_orbitals", settings);
        compare(b, "silicon with a twist", 500, 2e-5);
        bench_free(b);
    }
}

/* Electrons that are promoted to the real and the imaginary part of an orbital of k = 1/4, whose opposite belongs to the cell. */
static void parts_of_orbitals_agree(void **state)
{
    (void)state;
    static const double k[3][3] = {{0, 0, 0}, {0.25, 0, 0}, {0.5, 0, 0}};
    double a[3][3];
    char settings[1024];
    made_file m = made_random((const int[]){12, 10, 16}, 0, 1, 3, k, 3, 2, 5);
    made_write(&m, made_path(), 0);
    for (int e = 0; e < 3; e++) {
        a[0][e] = 4 * m.lattice[0][e];
        a[1][e] = m.lattice[1][e];
        a[2][e] = m.lattice[2][e];
    }
    orbital_bench *b = bench_new((const double(*)[3])a, 4, 4, 1, device);
    snprintf(settings, sizeof settings,
             "file = %s\npromote_up = 1:1>2:2:imaginary 3:1>2:2:real\npromote_down = "
             "2:1>-2:3:imaginary",
             made_path());
    bench_open(b, "bspline_orbitals", settings);
    compare(b, "parts", 500, 2e-5);
    bench_free(b);
    made_free(&m);
}

static void analytic_orbitals_agree(void **state)
{
    (void)state;
    const double a[3][3] = {{5, 0.4, 0}, {-0.7, 6, 0.3}, {0.2, 0.5, 7}};
    orbital_bench *b = bench_new(a, 57, 33, 1, device);
    bench_open(b, "plane_waves", "");
    compare(b, "plane waves", 1000, 1e-11);
    bench_free(b);
    b = bench_new(a, 57, 33, 1, device);
    bench_open(b, "plane_waves", "twist = 0.25 -0.1 0.4");
    compare(b, "plane waves with a twist", 1000, 1e-11);
    bench_free(b);
    b = bench_new(NULL, 2, 1, 1, device);
    bench_open(b, "slater_orbitals", "nuclei = 0 0 0.5 1  1 2 3 2\nzeta = 1.1 1.6875\non = 1 2");
    compare(b, "Slater functions", 1000, 1e-11);
    bench_free(b);
    b = bench_new(NULL, 2, 1, 1, device);
    bench_open(b, "slater_orbitals",
               "nuclei = 0 0 0.5 4  1 -1 0.2 2\nzeta = 3.5 1.1 1.3 0.9 2\nn = 1 2 2 3 3\n"
               "l = 0 0 1 2 1\non = 1 1 1 1 2\ncoefficients = 2 -1  0 3 0  0 1 0 0.2 0.5  0 0 -1  "
               "1 0  0.2 0 0  0 0 0.4 0 0  0.1 0 0");
    compare(b, "contracted Slater functions", 1000, 1e-11);
    bench_free(b);
}

/* Every kind of shell, cusps, images and phases. Sums of some ten terms of either sign are rounded more than splines: those of
 * cartesian.h5 cancel, and are 7e-6 off in single precision by lanes, 1.2e-5 by tensor cores. */
static void gaussians_agree(void **state)
{
    (void)state;
    const double a[3][3] = {{4.0, 0.5, 0.0}, {0.0, 4.2, 0.3}, {0.4, 0.0, 4.1}};
    static const struct {
        const char *file;
        int solid;
        int64_t up, down, points;
    } cases[] = {{"water.h5", 0, 5, 5, 5000},  {"o2.trexio.h5", 0, 9, 7, 37},
                 {"shells.h5", 0, 64, 3, 500}, {"cartesian.h5", 0, 98, 65, 500},
                 {"gamma.h5", 1, 2, 2, 100},   {"twist.h5", 1, 2, 2, 100}};
    for (int k = 0; k < 6; k++) {
        char settings[512];
        orbital_bench *b =
            bench_new(cases[k].solid ? a : NULL, cases[k].up, cases[k].down, 1, device);
        snprintf(settings, sizeof settings, "file = " TEST_DATA "/lcao/%s", cases[k].file);
        bench_open(b, "gaussian_orbitals", settings);
        compare_to(b, cases[k].file, cases[k].points, 1e-11, 2e-5);
        bench_free(b);
    }
}

/* Movers record their sweeps: nothing may be allocated or waited for. */
static void evaluation_can_be_recorded_in_a_graph(void **state)
{
    (void)state;
    enum { POINTS = 5000 };
    const double e = 2 * 5.1315, a[3][3] = {{-e, 0, e}, {0, e, e}, {-e, e, 0}};
    char settings[512];
    orbital_bench *b = bench_new(a, 32, 32, 1, device);
    snprintf(settings, sizeof settings, "file = %s\nsort = yes", silicon);
    bench_open(b, "bspline_orbitals", settings);
    const plugmc_gpu *gpu = b->host.gpu;
    plugmc_context *c = b->host.context;
    plugmc_device_pointer at, out;
    plugmc_graph *graph = NULL;
    const size_t bytes = POINTS * 32 * 8;
    double *first = bench_points(&b->system.box, POINTS, 1),
           *second = bench_points(&b->system.box, POINTS, 2);
    float *values = malloc(bytes);
    double complex *unpacked = malloc(POINTS * 32 * sizeof *unpacked);
    assert_int_equal(gpu->allocate(c, 24 * POINTS, &at), 0);
    assert_int_equal(gpu->allocate(c, bytes, &out), 0);
    assert_int_equal(gpu->upload(c, at, first, 24 * POINTS), 0);
    plugmc_orbital_request q = {.size = sizeof q,
                                .on_device = 1,
                                .real_size = 4,
                                .points = POINTS,
                                .positions = (const double *)(uintptr_t)at,
                                .pitch = 32,
                                .values = (void *)(uintptr_t)out};
    assert_int_equal(gpu->graph_begin(c), 0);
    assert_int_equal(b->orbitals->evaluate(b->instance, &q), 0);
    assert_int_equal(gpu->graph_end(c, &graph), 0);
    for (int turn = 0; turn < 3; turn++) {
        const double *r = turn == 1 ? second : first;
        assert_int_equal(gpu->upload(c, at, r, 24 * POINTS), 0);
        assert_int_equal(gpu->graph_launch(c, graph), 0);
        assert_int_equal(gpu->download(c, values, out, bytes), 0);
        evaluated host = bench_evaluate(b, 0, r, POINTS, 8, 0, 0);
        unpack(values, unpacked, POINTS, 32, 32, 2, 4);
        assert_true(apart(unpacked, host.values, POINTS * 32) < 3e-6);
        evaluated_free(&host);
    }
    assert_int_equal(gpu->release(c, at), 0);
    assert_int_equal(gpu->release(c, out), 0);
    free(first);
    free(second);
    free(values);
    free(unpacked);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splines_of_all_sizes_agree),
        cmocka_unit_test(sorting_and_layout_change_nothing),
        cmocka_unit_test(more_points_than_a_batch_are_evaluated),
        cmocka_unit_test(real_files_agree),
        cmocka_unit_test(splines_with_a_twist_agree),
        cmocka_unit_test(parts_of_orbitals_agree),
        cmocka_unit_test(analytic_orbitals_agree),
        cmocka_unit_test(gaussians_agree),
        cmocka_unit_test(evaluation_can_be_recorded_in_a_graph),
    };
    if (!mkdtemp(folder)) return 1;
    setenv("PLUGMC_CACHE_DIR", folder, 1);
    const int without = device_open();
    const int failed = without ? without : cmocka_run_group_tests(tests, NULL, NULL) != 0;
    if (device) gpu_close(device);
    remove_folder(folder);
    return failed;
}
