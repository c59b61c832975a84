/* Orbitals on the CPU: B-splines against their definition and against plane-wave sums, derivatives
 * against differences, every file format against the others, what files are refused for, damaged
 * copies of each format; plane waves and Slater functions against formulas. */
#include "testing.h"

#include "orbitals.h"

#include "orbital_files.h"

#include "scratch.h"

static const char silicon[] = TEST_DATA "/qmc/si-2x2x2.bwfn.data.b1";
static const char diamond[] = TEST_DATA "/qmc/diamondC.pwscf.h5";
static const double silicon_edge = 5.1315, diamond_edge = 3.37316115; /* bohr, half of the cube */
static char folder[] = "/tmp/plugmc-test-orbitals-XXXXXX";

/* ---- Cells ----------------------------------------------------------------------------------- */

static void silicon_cell(int n, double a[3][3])
{
    const double e = n * silicon_edge;
    const double of[3][3] = {{-e, 0, e}, {0, e, e}, {-e, e, 0}};
    memcpy(a, of, sizeof of);
}

static void cell_of(const made_file *m, const int tile[3], double a[3][3])
{
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) a[d][e] = tile[d] * m->lattice[d][e];
}

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static const char *settings_of(const char *path, const char *more)
{
    static char text[1024];
    snprintf(text, sizeof text, "file = %s\n%s", path, more);
    return text;
}

static orbital_bench *open_silicon(int up, int down, const char *more)
{
    double a[3][3];
    silicon_cell(2, a);
    orbital_bench *b = bench_new((const double(*)[3])a, up, down, 1, NULL);
    bench_open(b, "bspline_orbitals", settings_of(silicon, more));
    return b;
}

/* Lattice of the diamond file, which has more digits than the constant above. */
static void diamond_cell(double a[3][3])
{
    hid_t file = H5Fopen(diamond, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "/supercell/primitive_vectors", H5P_DEFAULT);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, a) >= 0);
    H5Dclose(set);
    H5Fclose(file);
    assert_close(a[0][0], diamond_edge, 1e-6, 0);
}

/* ---- Against the definition ------------------------------------------------------------------ */

typedef struct made_order {
    double eigenvalue;
    int k, band;
} made_order;

static int by_eigenvalue(const void *a, const void *b)
{
    const made_order *x = a, *y = b;
    return x->eigenvalue < y->eigenvalue ? -1 : x->eigenvalue > y->eigenvalue;
}

/* Orbitals of a spin, lowest first; their number. */
static int order_of(const made_file *m, int spin, made_order *out)
{
    int n = 0;
    for (int k = 0; k < m->k_points; k++)
        for (int band = 0; band < m->bands; band++)
            out[n++] =
                (made_order){m->eigenvalue[(k * m->spins + spin) * m->bands + band], k, band};
    qsort(out, (size_t)n, sizeof *out, by_eigenvalue);
    return n;
}

/* Each orbital of the plugin is that of the file, at some points. */
static void compare_with_definition(orbital_bench *b, const made_file *m, int species,
                                    int real_size, double tolerance)
{
    enum { POINTS = 7 };
    static made_order order[4096];
    const int spin = m->spins == 2 ? species : 0;
    order_of(m, spin, order);
    double *r = bench_points(&b->system.box, POINTS, 11 + (uint64_t)species);
    evaluated e = bench_evaluate(b, species, r, POINTS, real_size, 1, 0);
    evaluated v = bench_evaluate(b, species, r, POINTS, real_size, 0, 0);
    assert_int_equal(e.count, b->species[species].count);
    for (int i = 0; i < POINTS; i++)
        for (int l = 0; l < e.count; l++) {
            double complex expected[5];
            made_evaluate(m, order[l].k, spin, order[l].band, r + 3 * i, expected);
            const double scale = m->grid[0] + m->grid[1] + m->grid[2];
            const int64_t at = i * e.count + l;
            assert_close(cabs(e.values[at] - expected[0]), 0, 0, tolerance);
            assert_close(cabs(v.values[at] - expected[0]), 0, 0, tolerance);
            for (int d = 0; d < 3; d++)
                assert_close(cabs(e.gradients[(3 * i + d) * e.count + l] - expected[1 + d]), 0, 0,
                             tolerance * scale);
            assert_close(cabs(e.laplacians[at] - expected[4]), 0, 0, tolerance * scale * scale);
        }
    evaluated_free(&e);
    evaluated_free(&v);
    free(r);
}

static void check_made(const int grid[3], int real, int spins, int k_points, const double (*k)[3],
                       const int tile[3], int bands, const char *more, double tolerance)
{
    double a[3][3];
    const char *path = in_folder("made.data");
    const int64_t orbitals = (int64_t)k_points * bands;
    made_file m =
        made_random(grid, real, spins, k_points, k, bands, 2 * bands, 5 + (uint64_t)bands);
    made_write(&m, path, bands % 2);
    cell_of(&m, tile, a);
    orbital_bench *b = bench_new((const double(*)[3])a, orbitals, orbitals, 1, NULL);
    bench_open(b, "bspline_orbitals", settings_of(path, more));
    assert_int_equal(!b->orbitals->complex_valued(b->instance), real);
    compare_with_definition(b, &m, 0, 8, tolerance);
    compare_with_definition(b, &m, 1, 4, tolerance + 1e-5);
    bench_free(b);
    made_free(&m);
}

static void splines_are_what_their_definition_says(void **state)
{
    (void)state;
    static const int one[3] = {1, 1, 1}, odd[3] = {5, 7, 9}, prime[3] = {11, 4, 13};
    static const double gamma[1][3] = {{0, 0, 0}}, twist[1][3] = {{0.21, -0.4, 0.07}};
    static const struct {
        const int *grid;
        int real, bands;
        const double (*k)[3];
        const char *more;
        double tolerance;
    } cases[] = {
        {odd, 1, 1, gamma, "", 1e-10},
        {odd, 0, 1, twist, "", 1e-10},
        {prime, 0, 13, twist, "", 1e-10},
        {prime, 1, 13, gamma, "precision = float", 1e-5},
        {odd, 0, 13, twist, "precision = float", 1e-5},
        {odd, 0, 13, twist, "precision = float\nlayout = plain", 1e-5},
        {odd, 0, 13, twist, "layout = plain", 1e-10},
        {odd, 1, 13, gamma, "layout = plain", 1e-10},
        {odd, 1, 513, gamma, "", 1e-10},
        {odd, 0, 513, twist, "precision = float", 1e-5},
        {odd, 1, 1025, gamma, "precision = float", 1e-5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_made(cases[i].grid, cases[i].real, 1, 1, cases[i].k, one, cases[i].bands,
                   cases[i].more, cases[i].tolerance);
}

static void k_points_and_spins_are_told_apart(void **state)
{
    (void)state;
    static const int grid[3] = {6, 5, 8}, tile[3] = {2, 1, 3};
    static const double k[6][3] = {{0, 0, 0},         {0.5, 0, 0},         {0, 0, 1.0 / 3},
                                   {0.5, 0, 1.0 / 3}, {-0.5, 0, -1.0 / 3}, {0, 0, 2.0 / 3}};
    check_made(grid, 0, 1, 6, k, tile, 4, "", 1e-11);
    check_made(grid, 0, 2, 6, k, tile, 3, "tile = 2 1 3", 1e-11);
    static const double shifted[4][3] = {
        {0.25, 0.1, 0}, {0.75, 0.1, 0}, {0.25, 0.1, 0.5}, {0.75, 0.1, 0.5}};
    static const int twice[3] = {2, 1, 2};
    check_made(grid, 0, 2, 4, shifted, twice, 2, "", 1e-11);
}

static void fewer_electrons_take_the_lowest_orbitals(void **state)
{
    (void)state;
    static const int grid[3] = {6, 5, 8}, one[3] = {1, 1, 1};
    double a[3][3];
    made_file m = made_random(grid, 1, 1, 1, NULL, 9, 10, 77);
    for (int i = 0; i < 9; i++) m.eigenvalue[i] = fmod(i * 5 + 3, 9); /* not in order */
    made_write(&m, in_folder("made.data"), 0);
    cell_of(&m, one, a);
    orbital_bench *b = bench_new((const double(*)[3])a, 3, 7, 1, NULL);
    bench_open(b, "bspline_orbitals", settings_of(in_folder("made.data"), ""));
    assert_int_equal(b->warnings, 0);
    compare_with_definition(b, &m, 0, 8, 1e-11);
    compare_with_definition(b, &m, 1, 8, 1e-11);
    bench_free(b);
    made_free(&m);
}

static void time_reversal_supplies_the_k_points_left_out(void **state)
{
    (void)state;
    static const int grid[3] = {6, 5, 8}, tile[3] = {3, 1, 1};
    static const double k[2][3] = {{0, 0, 0}, {1.0 / 3, 0, 0}};
    double a[3][3];
    made_file m = made_random(grid, 0, 1, 2, k, 2, 4, 9);
    made_write(&m, in_folder("made.data"), 0);
    cell_of(&m, tile, a);
    orbital_bench *b = bench_new((const double(*)[3])a, 6, 6, 1, NULL);
    bench_open(b, "bspline_orbitals", settings_of(in_folder("made.data"), ""));
    double *r = bench_points(&b->system.box, 5, 3);
    evaluated e = bench_evaluate(b, 0, r, 5, 8, 1, 0);
    /* lowest first: k0 b0, k1 b0 and its conjugate, k0 b1, k1 b1 and its conjugate */
    static const struct {
        int k, band, conjugate;
    } expected[6] = {{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 1, 0}, {1, 1, 0}, {1, 1, 1}};
    for (int i = 0; i < 5; i++)
        for (int l = 0; l < 6; l++) {
            double complex v[5];
            made_evaluate(&m, expected[l].k, 0, expected[l].band, r + 3 * i, v);
            for (int q = 0; q < 5 && expected[l].conjugate; q++) v[q] = conj(v[q]);
            assert_close(cabs(e.values[6 * i + l] - v[0]), 0, 0, 1e-11);
            for (int d = 0; d < 3; d++)
                assert_close(cabs(e.gradients[6 * (3 * i + d) + l] - v[1 + d]), 0, 0, 1e-10);
            assert_close(cabs(e.laplacians[6 * i + l] - v[4]), 0, 0, 1e-9);
        }
    evaluated_free(&e);
    free(r);
    bench_free(b);
    made_free(&m);
}

/* ---- Physics of real files ------------------------------------------------------------------- */

static void derivatives_agree_with_differences(void **state)
{
    (void)state;
    enum { POINTS = 12 };
    const double h = 1e-3;
    orbital_bench *b = open_silicon(32, 32, "precision = double");
    double *r = bench_points(&b->system.box, POINTS, 21);
    evaluated e = bench_evaluate(b, 0, r, POINTS, 8, 1, 0);
    const int64_t n = e.count;
    for (int i = 0; i < POINTS; i++) {
        double moved[13 * 3];
        for (int s = 0; s < 13; s++) memcpy(moved + 3 * s, r + 3 * i, 24);
        for (int d = 0; d < 3; d++)
            for (int s = 0; s < 4; s++)
                moved[3 * (1 + 4 * d + s) + d] += h * (s < 2 ? s - 2 : s - 1);
        evaluated m = bench_evaluate(b, 0, moved, 13, 8, 0, 0);
        for (int64_t l = 0; l < n; l++) {
            double complex laplacian = 0;
            for (int d = 0; d < 3; d++) {
                const double complex *v = m.values + (1 + 4 * d) * n + l; /* -2h -h h 2h, pitch n */
                double complex slope = (v[0] - 8 * v[n] + 8 * v[2 * n] - v[3 * n]) / (12 * h);
                laplacian += (v[n] - 2 * m.values[l] + v[2 * n]) / (h * h);
                assert_close(cabs(slope - e.gradients[(3 * i + d) * n + l]), 0, 0, 1e-8);
            }
            /* second derivatives of a cubic spline have corners: only the order of h */
            assert_close(cabs(laplacian - e.laplacians[i * n + l]), 0, 0, 2e-2);
        }
        evaluated_free(&m);
    }
    evaluated_free(&e);
    free(r);
    bench_free(b);
}

/* Means over the primitive cell, by two points of Gauss and Legendre along each edge of each cell
 * of the grid of 24^3: |psi|^2 is 1 for each orbital, and the kinetic energy of all of them is that
 * of the header, from Laplacians and from gradients. */
static void norms_and_kinetic_energy_are_those_of_the_header(void **state)
{
    (void)state;
    enum { M = 48, ORBITALS = 32 };
    orbital_bench *b = open_silicon(32, 32, "");
    double at[M], a[3][3], norm[ORBITALS] = {0}, gradients = 0, laplacians = 0;
    double *r = malloc(3 * M * M * sizeof *r);
    plugmc_ions ions = {.size = sizeof ions};
    assert_int_equal(b->orbitals->ions(b->instance, &ions), PLUGMC_OK);
    assert_string_equal(ions.energy_names[1], "kinetic");
    silicon_cell(1, a);
    for (int i = 0; i < M; i++) at[i] = (i / 2 + 0.5 + (i % 2 - 0.5) / sqrt(3)) / (M / 2);
    for (int x = 0; x < M; x++) {
        for (int i = 0; i < M * M; i++)
            for (int e = 0; e < 3; e++)
                r[3 * i + e] = at[x] * a[0][e] + at[i / M] * a[1][e] + at[i % M] * a[2][e];
        evaluated v = bench_evaluate(b, 0, r, M * M, 8, 1, 0);
        for (int64_t i = 0; i < M * M * ORBITALS; i++) {
            const double complex psi = v.values[i];
            norm[i % ORBITALS] += creal(psi * conj(psi)) / (M * M * M);
            laplacians -= creal(conj(psi) * v.laplacians[i]) / 2;
            for (int d = 0; d < 3; d++) {
                double complex g = v.gradients[(3 * (i / ORBITALS) + d) * ORBITALS + i % ORBITALS];
                gradients += creal(g * conj(g)) / 2;
            }
        }
        evaluated_free(&v);
    }
    for (int l = 0; l < ORBITALS; l++) assert_close(norm[l], 1, 1e-5, 0);
    const double share = 2.0 / 8 / (M * M * M); /* both spins, a primitive cell */
    printf("kinetic energy from gradients %.6f, from Laplacians %.6f, header %.6f\n",
           gradients * share, laplacians * share, ions.energies[1]);
    assert_close(gradients * share, ions.energies[1], 0, 5e-4);
    assert_close(laplacians * share, ions.energies[1], 0, 5e-4);
    free(r);
    bench_free(b);
}

static void orbitals_repeat_with_the_cell_by_blochs_theorem(void **state)
{
    (void)state;
    enum { POINTS = 6 };
    orbital_bench *b = open_silicon(32, 32, "");
    double *r = bench_points(&b->system.box, POINTS, 5), a[3][3];
    int distinct = 0;
    silicon_cell(1, a);
    evaluated e = bench_evaluate(b, 0, r, POINTS, 8, 1, 0);
    for (int d = 0; d < 3; d++) {
        double moved[2][3 * POINTS];
        for (int i = 0; i < 3 * POINTS; i++) {
            moved[0][i] = r[i] + a[d][i % 3];
            moved[1][i] = r[i] - 2 * a[d][i % 3];
        }
        evaluated once = bench_evaluate(b, 0, moved[0], POINTS, 8, 1, 0);
        evaluated twice = bench_evaluate(b, 0, moved[1], POINTS, 8, 1, 0);
        for (int l = 0; l < 32; l++) {
            /* by the k points of a 2 x 2 x 2 cell the sign changes, or not */
            double complex factor = once.values[l] / e.values[l];
            assert_close(fabs(creal(factor)), 1, 1e-9, 0);
            assert_close(cimag(factor), 0, 0, 1e-9);
            distinct += creal(factor) < 0;
            for (int i = 0; i < POINTS; i++) {
                const int64_t at = 32 * i + l;
                assert_close(cabs(once.values[at] - factor * e.values[at]), 0, 0, 1e-10);
                assert_close(cabs(once.laplacians[at] - factor * e.laplacians[at]), 0, 0, 1e-8);
                assert_close(cabs(twice.values[at] - e.values[at]), 0, 0, 1e-10);
            }
        }
        evaluated_free(&once);
        evaluated_free(&twice);
    }
    assert_int_equal(distinct, 3 * 16); /* half of the k points along each direction */
    evaluated_free(&e);
    free(r);
    bench_free(b);
}

static void ions_are_those_of_the_simulation_cell(void **state)
{
    (void)state;
    static const char *const names[] = {"total",    "kinetic",           "local",
                                        "nonlocal", "electron-electron", "ion-ion"};
    static const double energies[] = {-7.8288218, 3.2988434, -2.6516087,
                                      1.7265721,  0.6263392, -8.3980092};
    orbital_bench *b = open_silicon(32, 32, "");
    plugmc_ions ions = {.size = sizeof ions};
    assert_int_equal(b->orbitals->ions(b->instance, &ions), PLUGMC_OK);
    assert_int_equal(ions.count, 16);
    assert_int_equal(ions.primitive_cells, 8);
    assert_int_equal(ions.energy_count, 6);
    double nearest = INFINITY;
    for (int i = 0; i < 6; i++) {
        assert_string_equal(ions.energy_names[i], names[i]);
        assert_close(ions.energies[i], energies[i], 0, 1e-6);
    }
    for (int i = 0; i < 16; i++) {
        assert_int_equal(ions.atomic_number[i], 14);
        assert_true(ions.valence[i] == 4);
        for (int j = 0; j < i; j++) {
            double r2 = 0, s[3], x[3];
            for (int d = 0; d < 3; d++) {
                s[d] = 0;
                for (int e = 0; e < 3; e++)
                    s[d] +=
                        (ions.positions[i][e] - ions.positions[j][e]) * b->system.box.inverse[e][d];
                s[d] -= rint(s[d]);
            }
            for (int e = 0; e < 3; e++) {
                x[e] = 0;
                for (int d = 0; d < 3; d++) x[e] += s[d] * b->system.box.vector[d][e];
                r2 += x[e] * x[e];
            }
            nearest = fmin(nearest, sqrt(r2));
        }
    }
    assert_close(nearest, sqrt(3) / 2 * silicon_edge, 1e-9, 0);
    bench_free(b);
}

/* ---- Plane waves of a file ------------------------------------------------------------------- */

/* The ES-HDF file as the test reads it. */
typedef struct waves {
    int n, states;
    double b[3][3]; /* reciprocal vectors, rows */
    int (*g)[3];
    double complex *c; /* [states][n] */
    double *eigenvalue;
} waves;

static void read_set(hid_t file, const char *path, hid_t type, void *out)
{
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    H5Dclose(set);
}

static waves read_diamond(const plugmc_box *box)
{
    waves w = {.states = 8};
    hid_t file = H5Fopen(diamond, H5F_ACC_RDONLY, H5P_DEFAULT);
    read_set(file, "/electrons/kpoint_0/number_of_gvectors", H5T_NATIVE_INT, &w.n);
    w.g = malloc((size_t)w.n * sizeof *w.g);
    w.c = malloc((size_t)(w.n * w.states) * sizeof *w.c);
    w.eigenvalue = malloc((size_t)w.states * sizeof *w.eigenvalue);
    read_set(file, "/electrons/kpoint_0/gvectors", H5T_NATIVE_INT, w.g);
    read_set(file, "/electrons/kpoint_0/spin_0/eigenvalues", H5T_NATIVE_DOUBLE, w.eigenvalue);
    for (int s = 0; s < w.states; s++) {
        char path[128];
        snprintf(path, sizeof path, "/electrons/kpoint_0/spin_0/state_%d/psi_g", s);
        read_set(file, path, H5T_NATIVE_DOUBLE, w.c + s * w.n);
    }
    H5Fclose(file);
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) w.b[d][e] = 2 * M_PI * box->inverse[e][d];
    return w;
}

static void waves_free(waves *w)
{
    free(w->g);
    free(w->c);
    free(w->eigenvalue);
}

/* Root mean square differences of values, gradients, Laplacians from the sums over plane waves,
 * over the root mean squares of those. */
static void compare_with_waves(const char *more, int with_all, double error[3])
{
    enum { POINTS = 60, STATES = 4 };
    double a[3][3], difference[3] = {0}, size[3] = {0};
    diamond_cell(a);
    orbital_bench *b = bench_new((const double(*)[3])a, STATES, STATES, 1, NULL);
    bench_open(b, "bspline_orbitals", settings_of(diamond, more));
    assert_int_equal(b->warnings, 0);
    waves w = read_diamond(&b->system.box);
    double *r = bench_points(&b->system.box, POINTS, 31);
    evaluated e = bench_evaluate(b, 0, r, POINTS, 8, with_all, 0);
    for (int i = 0; i < POINTS; i++)
        for (int s = 0; s < STATES; s++) {
            double complex sum[5] = {0};
            for (int g = 0; g < w.n; g++) {
                double q[3] = {0}, phase = 0, square = 0;
                for (int x = 0; x < 3; x++) {
                    for (int d = 0; d < 3; d++) q[x] += w.g[g][d] * w.b[d][x];
                    phase += q[x] * r[3 * i + x];
                    square += q[x] * q[x];
                }
                double complex t = w.c[s * w.n + g] * cexp(I * phase);
                sum[0] += t;
                for (int x = 0; x < 3; x++) sum[1 + x] += I * q[x] * t;
                sum[4] -= square * t;
            }
            const double complex found[5] = {
                e.values[i * STATES + s], e.gradients[3 * i * STATES + s],
                e.gradients[(3 * i + 1) * STATES + s], e.gradients[(3 * i + 2) * STATES + s],
                e.laplacians[i * STATES + s]};
            for (int q = 0; q < 5; q++) {
                const int kind = q == 0 ? 0 : q == 4 ? 2 : 1;
                difference[kind] += pow(cabs(found[q] - sum[q]), 2);
                size[kind] += pow(cabs(sum[q]), 2);
            }
        }
    for (int k = 0; k < 3; k++) error[k] = sqrt(difference[k] / size[k]);
    evaluated_free(&e);
    waves_free(&w);
    free(r);
    bench_free(b);
}

static void splines_approach_the_sum_of_plane_waves(void **state)
{
    (void)state;
    double coarse[3], fine[3], single[3];
    compare_with_waves("", 1, coarse);
    compare_with_waves("multiplicity = 4", 1, fine);
    compare_with_waves("precision = float", 1, single);
    printf("relative errors of values, gradients, Laplacians: %.2g %.2g %.2g; on a grid twice as "
           "fine: "
           "%.2g %.2g %.2g\n",
           coarse[0], coarse[1], coarse[2], fine[0], fine[1], fine[2]);
    assert_true(coarse[0] < 1e-4 && coarse[1] < 1e-3 && coarse[2] < 3e-2);
    /* errors of the fourth, third and second power of the spacing */
    assert_true(fine[0] < coarse[0] / 8 && fine[1] < coarse[1] / 4 && fine[2] < coarse[2] / 2.5);
    for (int k = 0; k < 3; k++) assert_close(single[k], coarse[k], 0.2, 2e-6);
}

/* ---- The other formats ----------------------------------------------------------------------- */

static made_file made_of_diamond(void)
{
    double a[3][3];
    diamond_cell(a);
    const plugmc_box box = bench_box((const double(*)[3])a);
    waves w = read_diamond(&box);
    made_file m = {.atoms = 2,
                   .atomic_number = {6, 206},
                   .electrons = 8,
                   .cutoff = 100,
                   .position = {{0, 0, 0}, {a[0][0] / 2, a[0][0] / 2, a[0][0] / 2}},
                   .pseudopotential = "BFD",
                   .spins = 1,
                   .k_points = 1,
                   .bands = w.states,
                   .eigenvalue = w.eigenvalue,
                   .waves = w.n,
                   .coefficients = w.c};
    memcpy(m.lattice, a, sizeof a);
    m.wave = malloc((size_t)w.n * sizeof *m.wave);
    for (int g = 0; g < w.n; g++)
        for (int e = 0; e < 3; e++) {
            m.wave[g][e] = 0;
            for (int d = 0; d < 3; d++) m.wave[g][e] += w.g[g][d] * w.b[d][e];
        }
    free(w.g);
    return m;
}

/* The binary file as text, from its records as the reference describes them. */
static made_file made_of_silicon(void)
{
    enum { NK = 8, NB = 4, N = 24 * 24 * 24 };
    bytes file = bytes_read(silicon);
    const unsigned char *record2 = file.data + 588 + 8 + 4;
    made_file m = {.atoms = 2,
                   .atomic_number = {14, 14},
                   .electrons = 8,
                   .cutoff = 10,
                   .pseudopotential = "unknown",
                   .spins = 1,
                   .k_points = NK,
                   .bands = NB,
                   .grid = {24, 24, 24}};
    memcpy(m.energy, file.data + 4 + 412, 48);
    memcpy(m.lattice, file.data + 4 + 588 - 80, 72);
    memcpy(m.k, record2, NK * 24);
    memcpy(m.position, record2 + 80 * NK + 8, 48);
    m.eigenvalue = malloc(NK * NB * sizeof *m.eigenvalue);
    memcpy(m.eigenvalue, record2 + 80 * NK + 8 + 48 + 8 * NK, NK * NB * sizeof *m.eigenvalue);
    m.coefficients = malloc((size_t)NK * NB * N * sizeof *m.coefficients);
    const size_t each = N * sizeof(double complex);
    const unsigned char *first = file.data + file.n - (each + 8) * NK * NB;
    for (int o = 0; o < NK * NB; o++)
        for (int i = 0; i < N; i++) { /* x fastest -> z fastest */
            const int x = i / 576, y = i / 24 % 24, z = i % 24;
            memcpy(m.coefficients + (size_t)o * N + i,
                   first + (size_t)o * (each + 8) + 4 + (size_t)((z * 24 + y) * 24 + x) * 16, 16);
        }
    free(file.data);
    return m;
}

/* Values of the orbitals of two runs are the same up to rounding. */
static void compare_runs(orbital_bench *a, orbital_bench *b, double tolerance)
{
    enum { POINTS = 20 };
    double *r = bench_points(&a->system.box, POINTS, 41);
    evaluated x = bench_evaluate(a, 0, r, POINTS, 8, 1, 0),
              y = bench_evaluate(b, 0, r, POINTS, 8, 1, 0);
    assert_int_equal(x.count, y.count);
    for (int64_t i = 0; i < POINTS * x.count; i++) {
        assert_close(cabs(x.values[i] - y.values[i]), 0, 0, tolerance);
        assert_close(cabs(x.laplacians[i] - y.laplacians[i]), 0, 0, 1e3 * tolerance);
    }
    evaluated_free(&x);
    evaluated_free(&y);
    free(r);
}

static void text_blips_are_those_of_the_binary_file(void **state)
{
    (void)state;
    double a[3][3];
    made_file m = made_of_silicon();
    made_write(&m, in_folder("si.bwfn.data"), 0);
    silicon_cell(2, a);
    orbital_bench *binary = open_silicon(32, 32, "");
    orbital_bench *text = bench_new((const double(*)[3])a, 32, 32, 1, NULL);
    bench_open(text, "bspline_orbitals", settings_of(in_folder("si.bwfn.data"), ""));
    compare_runs(binary, text, 1e-13);
    plugmc_ions x = {.size = sizeof x}, y = {.size = sizeof y};
    binary->orbitals->ions(binary->instance, &x);
    text->orbitals->ions(text->instance, &y);
    for (int i = 0; i < 6; i++) assert_true(x.energies[i] == y.energies[i]);
    bench_free(binary);
    bench_free(text);
    made_free(&m);
}

static void text_plane_waves_are_those_of_eshdf(void **state)
{
    (void)state;
    double a[3][3];
    diamond_cell(a);
    made_file m = made_of_diamond();
    for (int other = 0; other < 2; other++) {
        made_write(&m, in_folder("c.pwfn.data"), other);
        orbital_bench *hdf = bench_new((const double(*)[3])a, 4, 4, 1, NULL);
        orbital_bench *text = bench_new((const double(*)[3])a, 4, 4, 1, NULL);
        bench_open(hdf, "bspline_orbitals", settings_of(diamond, ""));
        bench_open(text, "bspline_orbitals", settings_of(in_folder("c.pwfn.data"), ""));
        compare_runs(hdf, text, 1e-12);
        plugmc_ions ions = {.size = sizeof ions};
        text->orbitals->ions(text->instance, &ions);
        assert_int_equal(ions.atomic_number[1], 6); /* written as 206 */
        assert_true(ions.valence[1] == 4);
        bench_free(hdf);
        bench_free(text);
    }
    made_free(&m);
}

/* Half of the waves, one of each pair, with real orbitals: what gamma-point codes write. */
static void half_a_sphere_of_waves_makes_real_orbitals(void **state)
{
    (void)state;
    double a[3][3];
    uint64_t seed = 8;
    made_file m = made_of_diamond();
    const plugmc_box box = bench_box((const double(*)[3])m.lattice);
    int half = 0;
    m.bands = 4;
    for (int g = 0; g < m.waves; g++) {
        double s = 1e6 * m.wave[g][0] + 1e3 * m.wave[g][1] + m.wave[g][2];
        if (s >= -1e-9) memmove(m.wave[half++], m.wave[g], sizeof m.wave[0]);
    }
    m.waves = half;
    for (int band = 0; band < 4; band++) {
        double sum = 0;
        double complex *c = made_orbital(&m, 0, 0, band);
        for (int g = 0; g < half; g++) {
            double q2 = m.wave[g][0] * m.wave[g][0] + m.wave[g][1] * m.wave[g][1] +
                        m.wave[g][2] * m.wave[g][2];
            c[g] = (bench_uniform(&seed) - 0.5 + I * (q2 > 0 ? bench_uniform(&seed) - 0.5 : 0)) *
                   exp(-q2 / 20);
            sum += (q2 > 0 ? 2 : 1) * creal(c[g] * conj(c[g]));
        }
        for (int g = 0; g < half; g++) c[g] /= sqrt(sum);
    }
    made_write(&m, in_folder("half.pwfn.data"), 0);
    memcpy(a, m.lattice, sizeof a);
    orbital_bench *b = bench_new((const double(*)[3])a, 4, 4, 1, NULL);
    bench_open(b, "bspline_orbitals", settings_of(in_folder("half.pwfn.data"), "multiplicity = 3"));
    assert_int_equal(b->orbitals->complex_valued(b->instance), 0);
    double *r = bench_points(&box, 10, 51);
    evaluated e = bench_evaluate(b, 0, r, 10, 8, 0, 0);
    for (int i = 0; i < 10; i++)
        for (int band = 0; band < 4; band++) {
            double sum = 0;
            for (int g = 0; g < half; g++) {
                const double *q = m.wave[g];
                double phase = q[0] * r[3 * i] + q[1] * r[3 * i + 1] + q[2] * r[3 * i + 2];
                double twice = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] > 0 ? 2 : 1;
                sum += twice * creal(made_orbital(&m, 0, 0, band)[g] * cexp(I * phase));
            }
            assert_close(creal(e.values[4 * i + band]), sum, 0, 2e-4);
        }
    evaluated_free(&e);
    free(r);
    bench_free(b);
    made_free(&m);
}

/* ---- What is refused, and what is warned of -------------------------------------------------- */

static void assert_says(const orbital_bench *b, const char *words)
{
    if (!strstr(b->message, words)) fail_msg("'%s' is not in: %s", words, b->message);
}

/* A run of a made file that must end with a sentence. */
static void refused(made_file *m, const int tile[3], int up, int down, const char *more,
                    const char *words)
{
    double a[3][3];
    made_write(m, in_folder("refused.data"), 0);
    cell_of(m, tile, a);
    orbital_bench *b = bench_new((const double(*)[3])a, up, down, 1, NULL);
    int code = bench_try(b, "bspline_orbitals", settings_of(in_folder("refused.data"), more));
    if (code != PLUGMC_ERROR_INPUT) fail_msg("'%s': not refused, code %d", words, code);
    assert_says(b, words);
    bench_free(b);
}

static void what_is_inconsistent_is_refused_with_the_reason(void **state)
{
    (void)state;
    static const int grid[3] = {6, 5, 8}, tile[3] = {2, 1, 1}, one[3] = {1, 1, 1},
                     three[3] = {3, 1, 1};
    static const double k[2][3] = {{0, 0, 0}, {0.5, 0, 0}};
    made_file m = made_random(grid, 0, 1, 2, k, 3, 6, 3);
    refused(&m, tile, 5, 5, "",
            "2 primitive cells of 6 electrons make 12, but the first two species (spin up and "
            "down) have 10 particles");
    refused(
        &m, tile, 8, 4, "",
        "it has 6 orbitals for spin up, but the run has 8 such electrons: it has too few bands");
    refused(
        &m, one, 6, 6, "",
        "the box of the run differs from its simulation cell of 2 x 1 x 1 primitive cells, which is "
        "[box] dimension = 3, shape = oblique, a = 10.2 0.6 0.4, b = -0.4 6.2 0.7");
    refused(&m, one, 3, 3, "tile = 1 1 1", "k point 2, (0.5 ");
    refused(&m, three, 9, 9, "tile = 3 1 1", "does not belong to a cell of 3 x 1 x 1");
    refused(&m, tile, 12, 12, "tile = 4 1 1",
            "a cell of 4 x 1 x 1 primitive cells has 4 k points, but the file has 2, and time "
            "reversal adds 0");
    refused(&m, tile, 6, 6, "tile = 2 1", "tile has 2 numbers");
    refused(&m, tile, 6, 6, "valence = 3 3", "valence has 2 numbers, but the file has 1 elements");
    refused(&m, tile, 6, 6, "valence = 3",
            "the atoms have 3 valence charges, but there are 6 electrons");

    made_file n = m;
    memcpy(n.k[1], n.k[0], sizeof n.k[0]);
    refused(&n, tile, 6, 6, "", "k points 1 and 2 are the same");
    n = m;
    n.pseudopotential = "";
    refused(
        &n, tile, 6, 6, "",
        "there are 6 electrons for nuclei of charge 14, but the header names no pseudopotential");
    n = m;
    n.atoms = 2;
    n.atomic_number[1] = 8;
    memcpy(n.position[1], n.position[0], sizeof n.position[0]);
    refused(&n, tile, 6, 6, "", "atoms 1 and 2 are only 0 bohr apart");
    n.position[1][0] += 2;
    refused(&n, tile, 6, 6, "", "what valence charges its 2 elements have");
    n = m;
    n.lattice[2][0] = n.lattice[1][0];
    n.lattice[2][1] = n.lattice[1][1];
    n.lattice[2][2] = n.lattice[1][2];
    refused(&n, tile, 6, 6, "", "span no cell");
    for (int64_t i = 0; i < made_values(&m); i++) made_orbital(&m, 1, 0, 1)[i] *= 1.02;
    refused(&m, tile, 6, 6, "", "k point 2, spin 1, band 2: the norm of the orbital is 1.0404");
    for (int64_t i = 0; i < made_values(&m); i++) made_orbital(&m, 1, 0, 1)[i] = 0;
    refused(&m, tile, 6, 6, "", "k point 2, spin 1, band 2: the norm of the orbital is 0");
    m.k_points = 1;
    m.real = 1;
    memcpy(m.k[0], m.k[1], sizeof m.k[0]);
    refused(&m, one, 3, 3, "", "real orbitals belong to k = 0");
    made_free(&m);
}

static void valence_charges_are_given_by_element(void **state)
{
    (void)state;
    static const int grid[3] = {6, 5, 8}, one[3] = {1, 1, 1};
    double a[3][3];
    made_file m = made_random(grid, 0, 1, 1, NULL, 8, 16, 3);
    const int numbers[4] = {22, 8, 8, 22};
    m.atoms = 4;
    for (int i = 0; i < 4; i++) {
        m.atomic_number[i] = numbers[i];
        m.position[i][0] = 1.2 * i;
    }
    made_write(&m, in_folder("made.data"), 0);
    cell_of(&m, one, a);
    orbital_bench *b = bench_new((const double(*)[3])a, 8, 8, 1, NULL);
    bench_open(b, "bspline_orbitals", settings_of(in_folder("made.data"), "valence = 4 4"));
    bench_free(b);
    m.electrons = 14;
    made_write(&m, in_folder("made.data"), 0);
    b = bench_new((const double(*)[3])a, 7, 7, 1, NULL);
    bench_open(b, "bspline_orbitals", settings_of(in_folder("made.data"), "valence = 4 3"));
    plugmc_ions ions = {.size = sizeof ions};
    b->orbitals->ions(b->instance, &ions);
    assert_true(ions.valence[0] == 4 && ions.valence[1] == 3 && ions.valence[2] == 3 &&
                ions.valence[3] == 4);
    bench_free(b);
    made_free(&m);
}

/* ---- ES-HDF of other programs ----------------------------------------------------------------- */

static void put_set(hid_t file, const char *path, hid_t type, hsize_t count, const void *data)
{
    H5Ldelete(file, path, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

/* As h5py and convertpw4qmc write it: counts as reals, texts of variable length, a name of the species alone. */
static hid_t other_eshdf(const char *name)
{
    bytes whole = bytes_read(diamond);
    bytes_write(in_folder("other.h5"), whole.data, whole.n);
    free(whole.data);
    hid_t file = H5Fopen(in_folder("other.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t text = H5Tcopy(H5T_C_S1);
    assert_true(file >= 0 && text >= 0);
    H5Tset_size(text, H5T_VARIABLE);
    put_set(file, "/electrons/number_of_electrons", H5T_NATIVE_DOUBLE, 2, (double[]){4, 4});
    put_set(file, "/electrons/kpoint_0/spin_0/number_of_states", H5T_NATIVE_FLOAT, 1, (float[]){8});
    put_set(file, "/atoms/species_ids", H5T_NATIVE_FLOAT, 2, (float[]){0, 0});
    put_set(file, "/format", text, 1, &(const char *){"ES-HDF"});
    put_set(file, "/atoms/species_0/name", text, 1, &name);
    H5Ldelete(file, "/atoms/species_0/atomic_number", H5P_DEFAULT);
    H5Ldelete(file, "/atoms/species_0/valence_charge", H5P_DEFAULT);
    H5Tclose(text);
    return file;
}

static void other_refused(const char *keys, const char *words)
{
    double a[3][3];
    diamond_cell(a);
    orbital_bench *b = bench_new((const double(*)[3])a, 4, 4, 1, NULL);
    assert_int_equal(bench_try(b, "bspline_orbitals", settings_of(in_folder("other.h5"), keys)),
                     PLUGMC_ERROR_INPUT);
    assert_says(b, words);
    bench_free(b);
}

static void eshdf_of_other_programs_is_read(void **state)
{
    (void)state;
    static const char *const keys[] = {"", "valence = 4"}, *const names[] = {"C", "c_pbe", "C12"};
    double a[3][3];
    diamond_cell(a);
    for (size_t i = 0; i < 3; i++) {
        H5Fclose(other_eshdf(names[i]));
        orbital_bench *b = bench_new((const double(*)[3])a, 4, 4, 1, NULL);
        bench_open(b, "bspline_orbitals", settings_of(in_folder("other.h5"), keys[i % 2]));
        plugmc_ions ions = {.size = sizeof ions};
        b->orbitals->ions(b->instance, &ions);
        for (int k = 0; k < 2; k++) assert_true(ions.atomic_number[k] == 6 && ions.valence[k] == 4);
        bench_free(b);
    }
    other_refused("valence = 3", "the atoms have 6 valence charges, but there are 8 electrons");
    H5Fclose(other_eshdf("Qq"));
    other_refused("",
                  "/atoms/species_0: it has no atomic_number, and its name, 'Qq', does not begin "
                  "with the symbol of an element");
    hid_t file = other_eshdf("C");
    put_set(file, "/electrons/number_of_electrons", H5T_NATIVE_DOUBLE, 2, (double[]){4.5, 3.5});
    H5Fclose(file);
    other_refused("", "/electrons/number_of_electrons: 4.5 is not a whole number");
}

/* GPAW's converter gives atomic numbers as valence charges, which pseudopotentials make wrong; programs with spinors
 * write no count of electrons that are down. */
static void valence_goes_before_that_of_the_file(void **state)
{
    (void)state;
    double a[3][3];
    diamond_cell(a);
    hid_t file = other_eshdf("C");
    put_set(file, "/atoms/species_0/valence_charge", H5T_NATIVE_FLOAT, 1, (float[]){6});
    H5Fclose(file);
    other_refused(
        "",
        "the atoms have 12 valence charges, but there are 8 electrons a primitive cell: give the right "
        "charges as 'valence'");
    orbital_bench *b = bench_new((const double(*)[3])a, 4, 4, 1, NULL);
    bench_open(b, "bspline_orbitals", settings_of(in_folder("other.h5"), "valence = 4"));
    plugmc_ions ions = {.size = sizeof ions};
    b->orbitals->ions(b->instance, &ions);
    for (int k = 0; k < 2; k++) assert_true(ions.atomic_number[k] == 6 && ions.valence[k] == 4);
    bench_free(b);
    file = other_eshdf("C");
    put_set(file, "/electrons/has_spinors", H5T_NATIVE_INT, 1, (int[]){1});
    put_set(file, "/electrons/number_of_electrons", H5T_NATIVE_INT, 2, (int[]){8, -1});
    H5Fclose(file);
    other_refused("", "its orbitals are spinors");
}

static void coarse_grids_and_cut_shells_are_warned_of(void **state)
{
    (void)state;
    static const int grid[3] = {6, 5, 8}, one[3] = {1, 1, 1};
    double a[3][3];
    made_file m = made_random(grid, 1, 1, 1, NULL, 4, 6, 13);
    m.cutoff = 4;
    made_write(&m, in_folder("made.data"), 0);
    cell_of(&m, one, a);
    orbital_bench *b = bench_new((const double(*)[3])a, 3, 3, 1, NULL);
    bench_open(b, "bspline_orbitals", settings_of(in_folder("made.data"), ""));
    assert_int_equal(b->warnings, 1);
    assert_says(b, "its blip grid of 6 x 5 x 8 is only ");
    bench_free(b);
    m.cutoff = 0.1;
    m.eigenvalue[3] = m.eigenvalue[2] + 1e-7;
    made_write(&m, in_folder("made.data"), 0);
    b = bench_new((const double(*)[3])a, 3, 3, 1, NULL);
    bench_open(b, "bspline_orbitals", settings_of(in_folder("made.data"), ""));
    assert_int_equal(b->warnings, 1);
    assert_says(b, "the 3 orbitals of lowest eigenvalue for spin up end inside of a shell");
    bench_free(b);
    made_free(&m);
}

static void what_is_no_file_of_orbitals_is_refused(void **state)
{
    (void)state;
    double a[3][3];
    silicon_cell(1, a);
    static const struct {
        const char *path, *words;
    } cases[] = {{"/nonexistent/orbitals", "the file cannot be opened"},
                 {TEST_DATA "/qmc/Si.pz-vbc.UPF", "this is no file of orbitals"},
                 {"/tmp", "this is no file of orbitals"},
                 {"/dev/null", "this is no file of orbitals"}};
    for (int i = 0; i < 4; i++) {
        orbital_bench *b = bench_new((const double(*)[3])a, 4, 4, 1, NULL);
        assert_int_equal(bench_try(b, "bspline_orbitals", settings_of(cases[i].path, "")),
                         PLUGMC_ERROR_INPUT);
        assert_says(b, cases[i].words);
        bench_free(b);
    }
}

/* ---- Damaged copies -------------------------------------------------------------------------- */

/* Either a sentence, or orbitals that are finite and normalised. */
static int survives(const char *path, const double a[3][3], int electrons, int *loaded)
{
    enum { M = 6 };
    orbital_bench *b = bench_new(a, electrons, electrons, 1, NULL);
    int code = bench_try(b, "bspline_orbitals", settings_of(path, ""));
    if (code != PLUGMC_OK) {
        const size_t n = strlen(b->message);
        if (n < strlen(path) + 10 || b->message[n - 1] == '\n' ||
            strncmp(b->message, path, strlen(path)))
            fail_msg("%s: no sentence with the file: '%s'", path, b->message);
        bench_free(b);
        return code;
    }
    ++*loaded;
    double r[3 * M * M * M], norm = 0;
    for (int i = 0; i < M * M * M; i++)
        for (int e = 0; e < 3; e++)
            r[3 * i + e] =
                (i / (M * M) * a[0][e] + i / M % M * a[1][e] + i % M * a[2][e]) / M + 0.1;
    evaluated v = bench_evaluate(b, 0, r, M * M * M, 8, 1, 0);
    for (int64_t i = 0; i < M * M * M * v.count; i++) {
        assert_true(isfinite(cabs(v.values[i])) && isfinite(cabs(v.laplacians[i])));
        norm += creal(v.values[i] * conj(v.values[i])) / (double)(M * M * M * v.count);
    }
    assert_close(norm, 1, 0.2, 0);
    evaluated_free(&v);
    bench_free(b);
    return code;
}

static void survive_damage(const char *name, const char *path, size_t head, const double a[3][3],
                           int electrons, int copies)
{
    bytes whole = bytes_read(path);
    int loaded = 0;
    const char *copy = in_folder("damaged");
    for (int i = 0; i < copies; i++) {
        damage(&whole, i, 2024, head < whole.n ? head : whole.n / 2, copy);
        survives(copy, a, electrons, &loaded);
    }
    printf("%s: %d damaged copies, %d of them harmless, %d refused\n", name, copies, loaded,
           copies - loaded);
    assert_true(copies - loaded >= copies / 2);
    free(whole.data);
}

static int damaged_copies(void)
{
    const char *asked = getenv("PLUGMC_TEST_DAMAGED"); /* more of them, by hand */
    return asked ? atoi(asked) : 20;
}

/* Single words of the binary file changed: what is wrong, and where. */
static void binary_files_are_refused_with_the_place(void **state)
{
    (void)state;
    enum { INTEGERS = 4 + 460, RECORD_2 = 596, ORBITALS = 596 + 1160 + 12 + 1032 };
    static const struct {
        size_t at;
        int32_t value;
        const char *words;
    } cases[] = {
        {592, 587,
         "byte 592: record 1 (header) ends with a mark of 587 bytes, but begins with one of 588"},
        {INTEGERS, -8, "record 1 (header): the number of electrons is -8"},
        {INTEGERS + 4, 0, "record 1 (header): the number of atoms is 0"},
        {INTEGERS + 12, 1 << 30, "record 1 (header): the number of k points is 1073741824"},
        {INTEGERS + 16, INT32_MAX, "record 1 (header): an edge of the blip grid is 2147483647"},
        {INTEGERS + 20, 25, "on a grid of 24 x 25 x 24 and makes a file of"},
        {INTEGERS + 28, 5, "speaks of 40 orbitals on a grid of 24 x 24 x 24 and makes a file of"},
        {INTEGERS + 40, 1, "it has localized orbitals"},
        {4 + 408, 1, "speaks of 64 orbitals"},
        {RECORD_2, 1151,
         "byte 596: record 2 (k points, atoms, eigenvalues) says that it has 1151 bytes, but by "
         "the header it has 1152"},
        {RECORD_2 + 4 + 24 + 4, 0x3fe00000, "record 2: k point 2"},
        {RECORD_2 + 4 + 648 + 48, 3, "record 2: k point 1 has 3 bands, but the header says 4"},
        {RECORD_2 + 1160 + 4, 7, "record 3: the flag of single precision is 7"},
        {ORBITALS, 221185,
         "the record of k point 1, spin 1, band 1 says that it has 221185 bytes, but by the header "
         "it has 221184"},
        {ORBITALS + 4 + 5004, 0x7ff00000, "k point 1, spin 1, band 1: the norm of the orbital is"},
    };
    double a[3][3];
    silicon_cell(2, a);
    bytes file = bytes_read(silicon);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t kept;
        memcpy(&kept, file.data + cases[i].at, 4);
        memcpy(file.data + cases[i].at, &cases[i].value, 4);
        bytes_write(in_folder("wrong.b1"), file.data, file.n);
        memcpy(file.data + cases[i].at, &kept, 4);
        orbital_bench *b = bench_new((const double(*)[3])a, 32, 32, 1, NULL);
        int code = bench_try(b, "bspline_orbitals", settings_of(in_folder("wrong.b1"), ""));
        if (code != PLUGMC_ERROR_INPUT)
            fail_msg("'%s': not refused, code %d", cases[i].words, code);
        assert_says(b, cases[i].words);
        bench_free(b);
    }
    free(file.data);
}

static void damaged_binary_files_are_survived(void **state)
{
    (void)state;
    double a[3][3];
    silicon_cell(2, a);
    survive_damage("bwfn.data.b1", silicon, 2800, (const double(*)[3])a, 32, damaged_copies());
}

static void damaged_eshdf_files_are_survived(void **state)
{
    (void)state;
    double a[3][3];
    diamond_cell(a);
    survive_damage("ES-HDF", diamond, 40000, (const double(*)[3])a, 4, damaged_copies());
}

static void damaged_text_files_are_survived(void **state)
{
    (void)state;
    static const int grid[3] = {6, 5, 8}, tile[3] = {2, 1, 1};
    static const double k[2][3] = {{0, 0, 0}, {0.5, 0, 0}};
    double a[3][3];
    made_file m = made_random(grid, 0, 1, 2, k, 3, 6, 3);
    made_write(&m, in_folder("whole.bwfn.data"), 0);
    cell_of(&m, tile, a);
    survive_damage("bwfn.data", in_folder("whole.bwfn.data"), 1600, (const double(*)[3])a, 6,
                   damaged_copies());
    made_free(&m);
    m = made_of_diamond();
    made_write(&m, in_folder("whole.pwfn.data"), 0);
    survive_damage("pwfn.data", in_folder("whole.pwfn.data"), 2000, (const double(*)[3])m.lattice,
                   4, damaged_copies());
    made_free(&m);
}

/* ---- Orbitals with formulas ------------------------------------------------------------------ */

/* Gradients and Laplacians of any orbitals against differences of their values, and the eigenvalue
 * of the kinetic energy if `kinetic` is given. */
static void check_differences(orbital_bench *b, int species, double tolerance)
{
    enum { POINTS = 10 };
    const double h = 1e-3;
    double *r = bench_points(&b->system.box, POINTS, 61);
    evaluated e = bench_evaluate(b, species, r, POINTS, 8, 1, 0);
    const int64_t n = e.count;
    for (int i = 0; i < POINTS; i++) {
        double moved[7 * 3];
        for (int s = 0; s < 7; s++) memcpy(moved + 3 * s, r + 3 * i, 24);
        for (int d = 0; d < 3; d++) {
            moved[3 * (1 + 2 * d) + d] -= h;
            moved[3 * (2 + 2 * d) + d] += h;
        }
        evaluated m = bench_evaluate(b, species, moved, 7, 8, 0, 0);
        for (int64_t l = 0; l < n; l++) {
            double laplacian = 0;
            for (int d = 0; d < 3; d++) {
                double low = creal(m.values[(1 + 2 * d) * n + l]),
                       high = creal(m.values[(2 + 2 * d) * n + l]);
                assert_close(creal(e.gradients[(3 * i + d) * n + l]), (high - low) / (2 * h), 0,
                             tolerance);
                laplacian += (low + high - 2 * creal(m.values[l])) / (h * h);
            }
            assert_close(creal(e.laplacians[i * n + l]), laplacian, 0, 10 * tolerance);
        }
        evaluated_free(&m);
    }
    evaluated_free(&e);
    free(r);
}

static void plane_waves_fill_shells(void **state)
{
    (void)state;
    const double edge = 5.3, cube[3][3] = {{edge, 0, 0}, {0, edge, 0}, {0, 0, edge}};
    static const int shells[] = {1, 7, 19, 27, 33, 57};
    static const int squares[] = {0, 1, 2, 3, 4, 5};
    for (int s = 0; s < 6; s++) {
        orbital_bench *b = bench_new(cube, shells[s], shells[s], 1, NULL);
        bench_open(b, "plane_waves", "");
        assert_int_equal(b->warnings, 0);
        double *r = bench_points(&b->system.box, 4, 71);
        evaluated e = bench_evaluate(b, 1, r, 4, 8, 1, 0);
        for (int l = 0; l < shells[s]; l++) {
            int shell = 0;
            while (l >= shells[shell]) shell++;
            const double g2 = squares[shell] * pow(2 * M_PI / edge, 2);
            for (int i = 0; i < 4; i++)
                assert_close(creal(e.laplacians[i * e.count + l]),
                             -g2 * creal(e.values[i * e.count + l]), 1e-12, 1e-12);
        }
        check_differences(b, 0, 1e-4);
        evaluated_free(&e);
        free(r);
        bench_free(b);
    }
    orbital_bench *b = bench_new(cube, 8, 7, 1, NULL);
    bench_open(b, "plane_waves", "");
    assert_int_equal(b->warnings, 1);
    assert_says(b, "8 electrons of species 'up' do not fill a shell");
    bench_free(b);
}

/* Orthonormal over the box, by a sum over a grid that is exact for them; a skewed box. */
static void plane_waves_are_orthonormal(void **state)
{
    (void)state;
    enum { M = 8, L = 15 };
    const double a[3][3] = {{5, 0.4, 0}, {-0.7, 6, 0.3}, {0.2, 0.5, 7}};
    orbital_bench *b = bench_new(a, L, L, 1, NULL);
    bench_open(b, "plane_waves", "");
    double r[M * M * M][3];
    for (int i = 0; i < M * M * M; i++)
        for (int e = 0; e < 3; e++)
            r[i][e] =
                (i / (M * M) * a[0][e] + i / M % M * a[1][e] + i % M * a[2][e]) / M - 3 * a[1][e];
    evaluated v = bench_evaluate(b, 0, r[0], M * M * M, 8, 0, 0);
    for (int l = 0; l < L; l++)
        for (int m = 0; m <= l; m++) {
            double sum = 0;
            for (int i = 0; i < M * M * M; i++)
                sum += creal(v.values[i * L + l] * v.values[i * L + m]);
            assert_close(sum / (M * M * M), l == m, 0, 1e-12);
        }
    evaluated_free(&v);
    check_differences(b, 1, 1e-4);
    bench_free(b);
}

/* s, p and d shells of two nuclei: values of a contraction written out, derivatives against differences, squares
 * that integrate to 1, functions of an atom that are orthogonal. */
static void contracted_slater_functions_have_their_formula(void **state)
{
    (void)state;
    static const char shells[] = "nuclei = 0 0 0.5 4  1 -1 0.2 2\nzeta = 3.5 1.1 1.3 0.9 2\n"
                                 "n = 1 2 2 3 3\nl = 0 0 1 2 1\non = 1 1 1 1 2\n";
    enum { FUNCTIONS = 1 + 1 + 3 + 5 + 3 };
    char settings[1024];
    /* 2 s1 - s2 + 3 y of nucleus 1 + half of 3 z^2 - r^2 there - z of nucleus 2; and s1 alone */
    snprintf(settings, sizeof settings,
             "%scoefficients = 2 -1  0 3 0  0 0 0 0 0.5  0 0 -1   1 0  0 0 0  0 0 0 0 0  0 0 0",
             shells);
    orbital_bench *b = bench_new(NULL, 2, 1, 1, NULL);
    bench_open(b, "slater_orbitals", settings);
    double *r = bench_points(&b->system.box, 10, 81);
    evaluated e = bench_evaluate(b, 0, r, 10, 8, 0, 0);
    for (int i = 0; i < 10; i++) {
        const double x = r[3 * i], y = r[3 * i + 1], z = r[3 * i + 2] - 0.5,
                     d = sqrt(x * x + y * y + z * z), u = r[3 * i + 2] - 0.2,
                     v = sqrt((x - 1) * (x - 1) + (y + 1) * (y + 1) + u * u);
        const double s1 = pow(7, 1.5) / sqrt(2) / sqrt(4 * M_PI) * exp(-3.5 * d),
                     s2 = pow(2.2, 2.5) / sqrt(24) / sqrt(4 * M_PI) * d * exp(-1.1 * d),
                     p = pow(2.6, 2.5) / sqrt(24) * sqrt(3 / (4 * M_PI)) * y * exp(-1.3 * d),
                     q = pow(1.8, 3.5) / sqrt(720) * sqrt(5 / (16 * M_PI)) * (3 * z * z - d * d) *
                         exp(-0.9 * d),
                     other = pow(4, 3.5) / sqrt(720) * sqrt(3 / (4 * M_PI)) * u * v * exp(-2 * v);
        assert_close(creal(e.values[2 * i]), 2 * s1 - s2 + 3 * p + 0.5 * q - other, 1e-13, 1e-15);
        assert_close(creal(e.values[2 * i + 1]), s1, 1e-13, 0);
    }
    check_differences(b, 0, 1e-4);
    evaluated_free(&e);
    bench_free(b);

    double overlap[FUNCTIONS - 3][FUNCTIONS - 3] = {0};
    const double h = 0.3;
    snprintf(settings, sizeof settings,
             "nuclei = 0 0 0 4\nzeta = 1.5 1.1 1.3 0.9\nn = 1 2 2 3\nl = 0 0 1 2\ncoefficients =");
    for (int k = 0; k < 100; k++)
        snprintf(settings + strlen(settings), sizeof settings - strlen(settings), " %d",
                 k % 11 == 0);
    b = bench_new(NULL, 10, 1, 1, NULL);
    bench_open(b, "slater_orbitals", settings);
    for (int i = -45; i < 45; i++)
        for (int j = -45; j < 45; j++) {
            double line[90 * 3];
            for (int k = 0; k < 90; k++)
                memcpy(line + 3 * k, (double[]){(i + 0.5) * h, (j + 0.5) * h, (k - 44.5) * h},
                       3 * sizeof *line);
            e = bench_evaluate(b, 0, line, 90, 8, 0, 0);
            for (int k = 0; k < 90; k++)
                for (int m = 0; m < 10; m++)
                    for (int n = 0; n <= m; n++)
                        overlap[m][n] +=
                            h * h * h * creal(e.values[10 * k + m] * e.values[10 * k + n]);
            evaluated_free(&e);
        }
    for (int m = 0; m < 10; m++)
        for (int n = 0; n <= m; n++)
            if (m == n || m > 1) assert_close(overlap[m][n], m == n, 2e-3, 2e-3);
    free(r);
    bench_free(b);
}

static void slater_functions_have_their_formula(void **state)
{
    (void)state;
    orbital_bench *b = bench_new(NULL, 2, 1, 1, NULL);
    bench_open(b, "slater_orbitals", "nuclei = 0 0 0.5 1  1 2 3 2\nzeta = 1.1 1.6875\non = 1 2");
    assert_int_equal(b->warnings, 0);
    double *r = bench_points(&b->system.box, 10, 81);
    evaluated e = bench_evaluate(b, 0, r, 10, 8, 1, 0);
    const double centre[2][3] = {{0, 0, 0.5}, {1, 2, 3}}, zeta[2] = {1.1, 1.6875};
    for (int i = 0; i < 10; i++)
        for (int l = 0; l < 2; l++) {
            double d = 0;
            for (int x = 0; x < 3; x++) d += pow(r[3 * i + x] - centre[l][x], 2);
            d = sqrt(d);
            assert_close(creal(e.values[2 * i + l]), exp(-zeta[l] * d), 1e-14, 0);
            assert_close(creal(e.laplacians[2 * i + l]),
                         zeta[l] * (zeta[l] - 2 / d) * exp(-zeta[l] * d), 1e-13, 0);
        }
    plugmc_ions ions = {.size = sizeof ions};
    b->orbitals->ions(b->instance, &ions);
    assert_int_equal(ions.count, 2);
    assert_true(ions.valence[1] == 2 && ions.atomic_number[1] == 2 && ions.positions[1][2] == 3);
    check_differences(b, 0, 1e-4);
    evaluated_free(&e);
    free(r);
    bench_free(b);

    static const struct {
        const char *settings, *words;
    } cases[] = {
        {"nuclei = 0 0 0\nzeta = 1", "nuclei has 3 numbers"},
        {"nuclei = 0 0 0 1\nzeta = 1",
         "species 'up' has 2 electrons, but there are only 1 orbitals"},
        {"nuclei = 0 0 0 1\nzeta = 1 1\non = 1 2",
         "shell 2 is on nucleus 2, but there are nuclei 1 to 1"},
        {"nuclei = 0 0 0 1\nzeta = 1 0", "zeta 2 is 0"},
        {"nuclei = 0 0 0 1\nzeta = 1 1\nn = 1", "n has 1 numbers for 2 exponents of zeta"},
        {"nuclei = 0 0 0 1\nzeta = 1 1\nn = 1 1\nl = 0 1",
         "shell 2 has n = 1 and l = 1, but n must exceed l"},
        {"nuclei = 0 0 0 1\nzeta = 1 1\nn = 1 1.5", "n 2 is 1.5, which is not a whole number"},
        {"nuclei = 0 0 0 1\nzeta = 1 1\nl = 0 1\ncoefficients = 1 1",
         "coefficients has 2 numbers: give one for each of the 4 functions of all shells"}};
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        b = bench_new(NULL, 2, 1, 1, NULL);
        assert_int_equal(bench_try(b, "slater_orbitals", cases[i].settings), PLUGMC_ERROR_INPUT);
        assert_says(b, cases[i].words);
        bench_free(b);
    }
}

/* Wave functions of molecules from the same programs: said to be what they are, and not damaged. */
static void orbitals_of_functions_around_atoms_are_refused_as_such(void **state)
{
    (void)state;
    static const double box[3][3] = {{8, 0, 0}, {0, 8, 0}, {0, 0, 8}};
    static const char gaussians[] =
        "hydrogen\n\nBASIC INFO\n----------\nGenerated by:\n nobody\nMethod:\n RHF\n"
        "DFT functional:\n none\nPeriodicity:\n 0\nSpin unrestricted:\n .false.\n";
    const struct {
        const char *name, *words;
    } files[] = {{"gwfn.data", "functions around atoms (CASINO's gwfn.data or stowfn.data)"},
                 {"lcao.h5", "functions around atoms (/basisset: QMCPACK's LCAO)"}};
    bytes_write(in_folder("gwfn.data"), (const unsigned char *)gaussians, sizeof gaussians - 1);
    hid_t file = H5Fcreate(in_folder("lcao.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "basisset", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(file);
    for (int k = 0; k < 2; k++) {
        orbital_bench *b = bench_new(box, 1, 1, 1, NULL);
        const int code =
            bench_try(b, "bspline_orbitals", settings_of(in_folder(files[k].name), ""));
        assert_int_equal(code, PLUGMC_ERROR_INPUT);
        assert_says(b, files[k].words);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splines_are_what_their_definition_says),
        cmocka_unit_test(k_points_and_spins_are_told_apart),
        cmocka_unit_test(fewer_electrons_take_the_lowest_orbitals),
        cmocka_unit_test(time_reversal_supplies_the_k_points_left_out),
        cmocka_unit_test(derivatives_agree_with_differences),
        cmocka_unit_test(norms_and_kinetic_energy_are_those_of_the_header),
        cmocka_unit_test(orbitals_repeat_with_the_cell_by_blochs_theorem),
        cmocka_unit_test(ions_are_those_of_the_simulation_cell),
        cmocka_unit_test(splines_approach_the_sum_of_plane_waves),
        cmocka_unit_test(text_blips_are_those_of_the_binary_file),
        cmocka_unit_test(text_plane_waves_are_those_of_eshdf),
        cmocka_unit_test(half_a_sphere_of_waves_makes_real_orbitals),
        cmocka_unit_test(what_is_inconsistent_is_refused_with_the_reason),
        cmocka_unit_test(valence_charges_are_given_by_element),
        cmocka_unit_test(eshdf_of_other_programs_is_read),
        cmocka_unit_test(valence_goes_before_that_of_the_file),
        cmocka_unit_test(coarse_grids_and_cut_shells_are_warned_of),
        cmocka_unit_test(what_is_no_file_of_orbitals_is_refused),
        cmocka_unit_test(binary_files_are_refused_with_the_place),
        cmocka_unit_test(damaged_binary_files_are_survived),
        cmocka_unit_test(damaged_eshdf_files_are_survived),
        cmocka_unit_test(damaged_text_files_are_survived),
        cmocka_unit_test(plane_waves_fill_shells),
        cmocka_unit_test(plane_waves_are_orthonormal),
        cmocka_unit_test(slater_functions_have_their_formula),
        cmocka_unit_test(contracted_slater_functions_have_their_formula),
        cmocka_unit_test(orbitals_of_functions_around_atoms_are_refused_as_such),
    };
    if (!mkdtemp(folder)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_folder(folder);
    return failed != 0;
}
