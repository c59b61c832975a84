/* Orbitals of Gaussian functions: derivatives against differences, points alone and together, what files that are read in
 * two formats have in common, cusps, refusals. With `print FILE ELECTRONS POINTS [SETTINGS]` it prints what it evaluates,
 * for tests/cross_checks/gaussian_orbitals.py. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>

#include "orbitals.h"

#define DATA TEST_DATA "/lcao/"

/* Opened with so many electrons of each spin; `vector`: the cell of a solid. */
static orbital_bench *open_file(const char *file, const double vector[3][3], int64_t up,
                                int64_t down, const char *settings)
{
    char text[1024];
    orbital_bench *b = bench_new(vector, up, down, 1, NULL);
    snprintf(text, sizeof text, "file = %s\n%s", file, settings);
    bench_open(b, "gaussian_orbitals", text);
    return b;
}

/* ---- For other programs ----------------------------------------------------------------------- */

/* Of hydrogen in tests/data/lcao/make.py. */
static const double cell[3][3] = {{4.0, 0.5, 0.0}, {0.0, 4.2, 0.3}, {0.4, 0.0, 4.1}};

/* A line a point and orbital: x y z, then value, gradient and Laplacian, each re im, in full. */
static int print_orbitals(int argc, char **argv)
{
    const int64_t points = argc > 4 ? atoll(argv[4]) : 0, up = argc > 3 ? atoll(argv[3]) : 0;
    if (points < 1 || up < 1) return 2;
    char file[1024];
    const int periodic = strstr(argv[2], "gamma") || strstr(argv[2], "twist");
    orbital_bench *b = bench_new(periodic ? cell : NULL, up, periodic ? up : 0, 1, NULL);
    snprintf(file, sizeof file, "file = %s\n%s", argv[2], argc > 5 ? argv[5] : "");
    if (bench_try(b, "gaussian_orbitals", file)) {
        fprintf(stderr, "%s\n", b->message);
        return 1;
    }
    double *r = bench_points(&b->system.box, points, 7);
    evaluated e = bench_evaluate(b, 0, r, points, sizeof(double), 1, 0);
    for (int64_t i = 0; i < points; i++)
        for (int64_t o = 0; o < e.count; o++) {
            printf("%.17g %.17g %.17g", r[3 * i], r[3 * i + 1], r[3 * i + 2]);
            const double complex v[5] = {
                e.values[i * e.count + o], e.gradients[(3 * i + 0) * e.count + o],
                e.gradients[(3 * i + 1) * e.count + o], e.gradients[(3 * i + 2) * e.count + o],
                e.laplacians[i * e.count + o]};
            for (int k = 0; k < 5; k++) printf(" %.17g %.17g", creal(v[k]), cimag(v[k]));
            printf("\n");
        }
    evaluated_free(&e);
    free(r);
    bench_free(b);
    return 0;
}

/* ---- Derivatives, batches --------------------------------------------------------------------- */

/* Central differences of values, along each axis. */
static void derivatives_are_those_of_values(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int solid;
        int64_t electrons;
    } cases[] = {{DATA "shells.h5", 0, 64}, {DATA "cartesian.h5", 0, 98}, {DATA "twist.h5", 1, 2}};
    enum { POINTS = 20 };
    const double h = 1e-4;
    for (int k = 0; k < 3; k++) {
        const int64_t n = cases[k].electrons;
        orbital_bench *b = open_file(cases[k].file, cases[k].solid ? cell : NULL, n,
                                     cases[k].solid ? n : 0, "cusp = no\n");
        double r[3 * POINTS], moved[3 * POINTS];
        uint64_t random = 5;
        for (int i = 0; i < 3 * POINTS; i++) r[i] = 3 * bench_uniform(&random) - 1.5;
        evaluated here = bench_evaluate(b, 0, r, POINTS, sizeof(double), 1, 0);
        double complex *second = calloc((size_t)(POINTS * n), sizeof *second);
        for (int d = 0; d < 3; d++) {
            evaluated side[2];
            for (int s = 0; s < 2; s++) {
                memcpy(moved, r, sizeof r);
                for (int i = 0; i < POINTS; i++) moved[3 * i + d] += s ? h : -h;
                side[s] = bench_evaluate(b, 0, moved, POINTS, sizeof(double), 0, 0);
            }
            for (int64_t i = 0; i < POINTS * n; i++) {
                const double complex slope = (side[1].values[i] - side[0].values[i]) / (2 * h);
                const double complex own = here.gradients[(i / n * 3 + d) * n + i % n];
                assert_close(cabs(slope - own), 0, 0, 1e-6);
                second[i] += (side[1].values[i] + side[0].values[i] - 2 * here.values[i]) / (h * h);
            }
            evaluated_free(&side[0]);
            evaluated_free(&side[1]);
        }
        for (int64_t i = 0; i < POINTS * n; i++)
            assert_close(cabs(second[i] - here.laplacians[i]), 0, 0, 2e-5);
        free(second);
        evaluated_free(&here);
        bench_free(b);
    }
}

/* The same to the last bit, however many points come together; values alone, too, and floats as rounded. */
static void points_together_are_points_alone(void **state)
{
    (void)state;
    for (int solid = 0; solid < 2; solid++) {
        orbital_bench *b = solid ? open_file(DATA "twist.h5", cell, 2, 2, "")
                                 : open_file(DATA "water.h5", NULL, 5, 5, "");
        enum { POINTS = 37 };
        double *r = bench_points(&b->system.box, POINTS, 3);
        evaluated all = bench_evaluate(b, 0, r, POINTS, sizeof(double), 1, 0),
                  values = bench_evaluate(b, 0, r, POINTS, sizeof(double), 0, 0),
                  floats = bench_evaluate(b, 0, r, POINTS, sizeof(float), 1, 0);
        for (int64_t i = 0; i < POINTS; i++) {
            evaluated one = bench_evaluate(b, 0, r + 3 * i, 1, sizeof(double), 1, 0);
            for (int64_t o = 0; o < one.count; o++) {
                const int64_t at = i * one.count + o;
                assert_true(one.values[o] == all.values[at] && values.values[at] == all.values[at]);
                assert_true(one.laplacians[o] == all.laplacians[at]);
                assert_true((float)creal(all.values[at]) == creal(floats.values[at]));
                for (int d = 0; d < 3; d++)
                    assert_true(one.gradients[d * one.count + o] ==
                                all.gradients[(3 * i + d) * one.count + o]);
            }
            evaluated_free(&one);
        }
        evaluated_free(&all);
        evaluated_free(&values);
        evaluated_free(&floats);
        free(r);
        bench_free(b);
    }
}

/* psi(r + a) = exp(2 pi i turns) psi(r). */
static void twisted_orbitals_gain_their_phase(void **state)
{
    (void)state;
    orbital_bench *b = open_file(DATA "twist.h5", cell, 2, 2, "");
    double turns[3];
    b->orbitals->twist(b->instance, turns);
    const double expected[3] = {0.2, -0.15, 0.35};
    for (int d = 0; d < 3; d++) {
        double r[6] = {0.7, 1.1, 0.4};
        assert_close(turns[d], expected[d], 0, 1e-6);
        for (int e = 0; e < 3; e++) r[3 + e] = r[e] + cell[d][e];
        evaluated v = bench_evaluate(b, 0, r, 2, sizeof(double), 0, 0);
        for (int64_t o = 0; o < v.count; o++)
            assert_close(cabs(v.values[v.count + o] - v.values[o] * cexp(2 * M_PI * I * turns[d])),
                         0, 0, 1e-11);
        evaluated_free(&v);
    }
    bench_free(b);
}

/* ---- Files ------------------------------------------------------------------------------------ */

static void both_formats_give_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *one, *other;
        int64_t up, down;
    } cases[] = {{DATA "water.h5", DATA "water.trexio.h5", 5, 5},
                 {DATA "o2.h5", DATA "o2.trexio.h5", 9, 7},
                 {DATA "shells.h5", DATA "shells.trexio.h5", 64, 0}};
    for (int k = 0; k < 3; k++) {
        orbital_bench *b[2] = {open_file(cases[k].one, NULL, cases[k].up, cases[k].down, ""),
                               open_file(cases[k].other, NULL, cases[k].up, cases[k].down, "")};
        double *r = bench_points(&b[0]->system.box, 50, 3);
        for (int s = 0; s < 2 && (s ? cases[k].down : cases[k].up); s++) {
            evaluated v[2];
            for (int i = 0; i < 2; i++) v[i] = bench_evaluate(b[i], s, r, 50, sizeof(double), 1, 0);
            for (int64_t i = 0; i < 50 * v[0].count; i++) {
                assert_close(creal(v[0].values[i]), creal(v[1].values[i]), 1e-8, 1e-10);
                assert_close(creal(v[0].laplacians[i]), creal(v[1].laplacians[i]), 1e-6, 1e-8);
            }
            for (int i = 0; i < 2; i++) evaluated_free(&v[i]);
        }
        plugmc_ions ions[2] = {{.size = sizeof *ions}, {.size = sizeof *ions}};
        for (int i = 0; i < 2; i++) b[i]->orbitals->ions(b[i]->instance, &ions[i]);
        assert_int_equal(ions[0].count, ions[1].count);
        for (int32_t i = 0; i < ions[0].count; i++) {
            assert_int_equal(ions[0].atomic_number[i], ions[1].atomic_number[i]);
            assert_close(ions[0].valence[i], ions[1].valence[i], 0, 0);
        }
        free(r);
        bench_free(b[0]);
        bench_free(b[1]);
    }
}

/* Spins of an unrestricted calculation have orbitals of their own, and lists of occupied ones are followed. */
static void orbitals_are_chosen(void **state)
{
    (void)state;
    const double r[3] = {0.3, -0.4, 0.9};
    orbital_bench *b = open_file(DATA "o2.h5", NULL, 9, 7, "");
    evaluated up = bench_evaluate(b, 0, r, 1, sizeof(double), 0, 0),
              down = bench_evaluate(b, 1, r, 1, sizeof(double), 0, 0);
    assert_true(up.count == 9 && down.count == 7);
    assert_true(fabs(creal(up.values[2] - down.values[2])) > 1e-4);
    orbital_bench *c = open_file(DATA "o2.h5", NULL, 3, 7, "occupied_up = 3, 1-2\n");
    evaluated chosen = bench_evaluate(c, 0, r, 1, sizeof(double), 0, 0);
    const int order[3] = {2, 0, 1};
    for (int o = 0; o < 3; o++) assert_true(chosen.values[o] == up.values[order[o]]);
    evaluated_free(&up);
    evaluated_free(&down);
    evaluated_free(&chosen);
    bench_free(b);
    bench_free(c);
}

/* ---- Cusps ------------------------------------------------------------------------------------ */

/* The local energy of one electron in orbital o on a line through nucleus n: -lap psi / (2 psi) - sum Z / r. */
static double energy_at(const plugmc_ions *ions, const evaluated *v, const double *r, int64_t o)
{
    double energy = creal(-0.5 * v->laplacians[o] / v->values[o]);
    for (int32_t i = 0; i < ions->count; i++) {
        double r2 = 0;
        for (int d = 0; d < 3; d++) r2 += pow(r[d] - ions->positions[i][d], 2);
        energy -= ions->valence[i] / sqrt(r2);
    }
    return energy;
}

/* On lines through every nucleus and for every orbital that is not 0 there: with cusps the mean of both sides stays as it
 * is from 1e-2/Z to 1e-6/Z; without it diverges as Z/r. Where the correction ends values, gradients and Laplacians are
 * continuous. */
static void local_energies_are_finite_at_nuclei(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int64_t electrons;
    } cases[] = {{DATA "he.h5", 1},
                 {DATA "h2.h5", 1},
                 {DATA "lih.h5", 2},
                 {DATA "h2o.h5", 5},
                 {DATA "water.trexio.h5", 5}};
    int64_t checked = 0;
    for (int k = 0; k < 5; k++) {
        const int64_t n = cases[k].electrons;
        orbital_bench *with = open_file(cases[k].file, NULL, n, n, "cusp = yes\n"),
                      *without = open_file(cases[k].file, NULL, n, n, "cusp = no\n");
        plugmc_ions ions = {.size = sizeof ions};
        with->orbitals->ions(with->instance, &ions);
        for (int32_t nucleus = 0; nucleus < ions.count; nucleus++) {
            const double z = ions.valence[nucleus], *at = ions.positions[nucleus];
            evaluated there = bench_evaluate(with, 0, at, 1, sizeof(double), 0, 0);
            for (int64_t o = 0; o < n; o++) {
                double mean[2][3] = {{0}};
                if (fabs(creal(there.values[o])) < 0.02) continue;
                for (int distance = 0; distance < 3; distance++)
                    for (int side = 0; side < 2; side++) {
                        const double far = (side ? -1 : 1) * pow(10, -2 * (distance + 1)) / z;
                        const double r[3] = {at[0] + far * 0.36, at[1] + far * 0.48,
                                             at[2] + far * 0.8};
                        orbital_bench *b[2] = {with, without};
                        for (int i = 0; i < 2; i++) {
                            evaluated v = bench_evaluate(b[i], 0, r, 1, sizeof(double), 1, 0);
                            mean[i][distance] += energy_at(&ions, &v, r, o) / 2;
                            evaluated_free(&v);
                        }
                    }
                checked++;
                assert_close(mean[0][1], mean[0][0], 0, 0.4 * z * z);
                assert_close(mean[0][2], mean[0][1], 0, 0.02 * z * z);
                assert_true(mean[1][2] < -0.9 * z * z * 1e6);
            }
            evaluated_free(&there);
        }
        bench_free(with);
        bench_free(without);
    }
    assert_true(checked >= 20);
}

/* Along a line away from a nucleus, in small steps: no jump beyond what derivatives tell. */
static void corrections_are_joined_smoothly(void **state)
{
    (void)state;
    enum { STEPS = 4000 };
    orbital_bench *b = open_file(DATA "water.h5", NULL, 5, 5, "cusp = yes\n");
    plugmc_ions ions = {.size = sizeof ions};
    b->orbitals->ions(b->instance, &ions);
    double *r = malloc(3 * STEPS * sizeof *r);
    const double h = 0.6 / STEPS, u[3] = {0.36, 0.48, 0.8};
    for (int i = 0; i < STEPS; i++)
        for (int d = 0; d < 3; d++) r[3 * i + d] = ions.positions[0][d] + (0.02 + i * h) * u[d];
    evaluated v = bench_evaluate(b, 0, r, STEPS, sizeof(double), 1, 0);
    for (int i = 1; i < STEPS; i++)
        for (int64_t o = 0; o < 5; o++) {
            double slope = 0;
            for (int d = 0; d < 3; d++)
                slope +=
                    u[d] *
                    creal(v.gradients[(3 * i + d) * 5 + o] + v.gradients[(3 * i - 3 + d) * 5 + o]) /
                    2;
            /* the second derivative is below 2000 there */
            assert_close(creal(v.values[i * 5 + o] - v.values[(i - 1) * 5 + o]), slope * h, 0,
                         1e-7);
            assert_close(creal(v.laplacians[i * 5 + o]), creal(v.laplacians[(i - 1) * 5 + o]), 0.05,
                         0.5);
        }
    free(r);
    evaluated_free(&v);
    bench_free(b);
}

/* ---- Cusps from files of QMCPACK -------------------------------------------------------------- */

static char cusps[] = "/tmp/plugmc-cusps-XXXXXX";

static void write_cusps(const char *text)
{
    FILE *f = fopen(cusps, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

#define CUSP_FILE(orbital)                                                                         \
    "<?xml version=\"1.0\"?>\n<qmcsystem><sposet name=\"up\">\n"                                   \
    "<center num=\"0\">" orbital "</center></sposet></qmcsystem>\n"
#define CUSP_OF_HELIUM                                                                             \
    "<orbital num=\"0\" C=\"0.3\" sg=\"-1\" rc=\"0.2\" a1=\"0.4\" a2=\"-2\" a3=\"0.7\" a4=\"-5\" a5=\"9\"/>"

/* The orbital of helium within r_c is what the file says, with derivatives, and beyond it what it is without. */
static void cusps_of_a_file_are_used(void **state)
{
    (void)state;
    char settings[256];
    const int fd = mkstemp(cusps);
    assert_true(fd >= 0);
    close(fd);
    write_cusps(CUSP_FILE(CUSP_OF_HELIUM));
    snprintf(settings, sizeof settings, "cusp_files = %s\n", cusps);
    orbital_bench *with = open_file(DATA "he.h5", NULL, 1, 1, settings),
                  *without = open_file(DATA "he.h5", NULL, 1, 1, "cusp = no\n");
    for (int i = 1; i <= 30; i++) {
        const double r = 0.01 * i, at[3] = {0.36 * r, -0.48 * r, 0.8 * r};
        evaluated found = bench_evaluate(with, i % 2, at, 1, sizeof(double), 1, 0);
        evaluated plain = bench_evaluate(without, i % 2, at, 1, sizeof(double), 1, 0);
        if (r < 0.1999) {
            const double e = -exp(0.4 + r * (-2 + r * (0.7 + r * (-5 + r * 9))));
            const double slope = -2 + r * (1.4 + r * (-15 + r * 36)),
                         bent = 1.4 + r * (-30 + r * 108);
            assert_close(creal(found.values[0]), 0.3 + e, 0, 1e-12);
            assert_close(creal(found.gradients[2]), 0.8 * e * slope, 0, 1e-11);
            assert_close(creal(found.laplacians[0]), e * (bent + slope * slope + 2 * slope / r), 0,
                         1e-9);
        } else if (r > 0.2001) {
            assert_close(creal(found.values[0]), creal(plain.values[0]), 0, 1e-13);
            assert_close(creal(found.laplacians[0]), creal(plain.laplacians[0]), 0, 1e-11);
        }
        evaluated_free(&found);
        evaluated_free(&plain);
    }
    bench_free(with);
    bench_free(without);
    unlink(cusps);
}

/* ---- Refusals --------------------------------------------------------------------------------- */

static char changed[] = "/tmp/plugmc-gaussian-XXXXXX";

/* A copy of a file, to be changed and closed. */
static hid_t copy_of(const char *file)
{
    char command[2048];
    snprintf(command, sizeof command, "cp '%s' '%s' && chmod u+w '%s'", file, changed, changed);
    assert_int_equal(system(command), 0);
    hid_t f = H5Fopen(changed, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(f >= 0);
    return f;
}

static void put(hid_t file, const char *path, hid_t type, hsize_t count, const void *data)
{
    H5Ldelete(file, path, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

static void refused(const char *file, const double vector[3][3], int64_t electrons,
                    const char *settings, const char *words)
{
    char text[1024];
    orbital_bench *b = bench_new(vector, electrons, electrons, 1, NULL);
    snprintf(text, sizeof text, "file = %s\n%s", file, settings);
    assert_int_equal(bench_try(b, "gaussian_orbitals", text), PLUGMC_ERROR_INPUT);
    if (!strstr(b->message, words)) fail_msg("'%s' does not say '%s'", b->message, words);
    bench_free(b);
}

static void damaged_files_are_refused_with_a_sentence(void **state)
{
    (void)state;
    const int fd = mkstemp(changed);
    const double nothing = 0, far = 1e300;
    const int32_t seven = 7;
    assert_true(fd >= 0);
    close(fd);
    hid_t f = copy_of(DATA "water.h5");
    put(f, "/basisset/atomicBasisSet0/basisGroup0/l", H5T_NATIVE_INT32, 1, &seven);
    H5Fclose(f);
    refused(changed, NULL, 5, "",
            "/basisset/atomicBasisSet0/basisGroup0/l: it is 7, which is not between 0 and 5");
    f = copy_of(DATA "water.h5");
    put(f, "/basisset/atomicBasisSet0/basisGroup0/radfunctions/DataRad0/exponent",
        H5T_NATIVE_DOUBLE, 1, &nothing);
    H5Fclose(f);
    refused(changed, NULL, 5, "", "shell 1 has the exponent 0");
    f = copy_of(DATA "water.h5");
    put(f, "/atoms/species_ids", H5T_NATIVE_INT32, 3, (int32_t[]){0, 0, 0});
    H5Fclose(f);
    refused(changed, NULL, 5, "",
            "/Super_Twist/eigenset_0: it is of 43 orbitals of 43 functions, but the atoms have 93");
    f = copy_of(DATA "water.h5");
    H5Ldelete(f, "/Super_Twist/eigenset_0", H5P_DEFAULT);
    H5Fclose(f);
    refused(changed, NULL, 5, "", "/KPTS_0/eigenset_0: there is no such data set");
    f = copy_of(DATA "water.trexio.h5");
    put(f, "/nucleus/nucleus_coord", H5T_NATIVE_DOUBLE, 9, (double[9]){0, 0, 0, 0, 0, 0, far});
    H5Fclose(f);
    refused(changed, NULL, 5, "", "nuclei 1 and 2 are only 0 bohr apart");
    f = copy_of(DATA "water.trexio.h5");
    put(f, "/ao/ao_shell", H5T_NATIVE_INT32, 1, &seven);
    H5Fclose(f);
    refused(changed, NULL, 5, "", "/ao/ao_shell: it has 1 numbers instead of 43");
    f = copy_of(DATA "water.trexio.h5");
    H5Adelete_by_name(f, "/basis", "basis_shell_num", H5P_DEFAULT);
    H5Fclose(f);
    refused(changed, NULL, 5, "", "/basis, attribute basis_shell_num: there is none");
    assert_int_equal(truncate(changed, 20000), 0);
    refused(changed, NULL, 5, "", "HDF5 cannot open it: it is truncated or damaged");
    refused(TEST_DATA "/qmc/diamondC.pwscf.h5", NULL, 5, "", "it has neither /basisset");
    refused(DATA "README.md", NULL, 5, "", "this is no HDF5 file");
    refused(TEST_DATA "/lcao", NULL, 5, "", "it is a folder: TREXIO's text format is not read");
    unlink(changed);
}

/* Coefficients of functions that are normalised otherwise than the file says. */
static void orbitals_without_norm_are_told(void **state)
{
    (void)state;
    char text[1024];
    const int fd = mkstemp(strcpy(changed, "/tmp/plugmc-gaussian-XXXXXX"));
    assert_true(fd >= 0);
    close(fd);
    for (int k = 0; k < 2; k++) {
        hid_t f = copy_of(DATA "water.h5"), type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, 3);
        if (k) put(f, "/basisset/atomicBasisSet0/normalized", type, 1, "yes");
        H5Tclose(type);
        H5Fclose(f);
        orbital_bench *b = bench_new(NULL, 5, 5, 1, NULL);
        snprintf(text, sizeof text, "file = %s", changed);
        bench_open(b, "gaussian_orbitals", text);
        assert_true(!strstr(b->message, "has norm") == !k);
        bench_free(b);
    }
    unlink(changed);
}

static void damaged_files_of_cusps_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *words;
    } damages[] = {
        {"<sposet", "<spin", "<qmcsystem> has no <sposet>: that is no file of QMCPACK's cusps"},
        {"center num=\"0\"", "center num=\"1\"", "line 2: <sposet> has no <center> of num = 0"},
        {"orbital num=\"0\"", "orbital num=\"7\"", "line 3: <center> has no <orbital> of num = 0"},
        {"num=\"0\" C", "num=\"-1\" C", "has num = -1, where a number from 0 on should be"},
        {"num=\"0\" C", "num=\"1e99\" C", "where a number from 0 on should be"},
        {"sg=\"-1\"", "sg=\"0\"", "<orbital> has sg = 0, where 1 or -1 should be"},
        {"a3=\"0.7\"", "", "<orbital> has no attribute a3"},
        {"a3=\"0.7\"", "a3=\"nan\"", "has a3 = 'nan', where a number should be"},
        {"a4=\"-5\"", "a4=\"5 5\"", "has a4 = '5 5', where a number should be"},
        {"rc=\"0.2\"", "rc=\"-1\"", "has rc = -1, but only"},
        {"rc=\"0.2\"", "rc=\"30\"", "has rc = 30, but only 1 bohr are free around that nucleus"},
        {"a1=\"0.4\"", "a1=\"999\"", "with which the function overflows within rc"},
        {"a5=\"9\"", "a5=\"9e307\"", "with which the function overflows within rc"},
        {"</center>", "", "mismatched tag"}};
    const char *sound = CUSP_FILE(CUSP_OF_HELIUM);
    char settings[256], text[2048];
    const int fd = mkstemp(strcpy(cusps, "/tmp/plugmc-cusps-XXXXXX"));
    assert_true(fd >= 0);
    close(fd);
    snprintf(settings, sizeof settings, "cusp_files = %s\n", cusps);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const char *at = strstr(sound, damages[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - sound), sound, damages[i].to,
                 at + strlen(damages[i].from));
        if (i == 0) memcpy(strstr(text, "</sposet>"), "</spin>  ", 9);
        write_cusps(text);
        refused(DATA "he.h5", NULL, 1, settings, damages[i].words);
    }
    write_cusps(sound);
    snprintf(text, sizeof text, "%scusp = no\n", settings);
    refused(DATA "he.h5", NULL, 1, text, "cusp = no is given beside cusp_files");
    snprintf(text, sizeof text, "cusp_files = %s %s %s\n", cusps, cusps, cusps);
    refused(DATA "he.h5", NULL, 1, text, "cusp_files: one file for both spins, or one for each");
    refused(DATA "water.h5", NULL, 5, settings, "has no <orbital> of num = 1");
    unlink(cusps);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    const double other[3][3] = {{4.0, 0.5, 0.0}, {0.0, 4.3, 0.3}, {0.4, 0.0, 4.1}};
    refused(DATA "water.h5", cell, 5, "", "is of a molecule, which needs open space");
    refused(DATA "gamma.h5", other, 2, "", "a = 4 0.5 0, b = 0 4.2 0.3, c = 0.4 0 4.1");
    refused(DATA "gamma.h5", cell, 3, "", "the cell has charge -2, with 6 electrons");
    refused(DATA "twist.h5", cell, 2, "cusp = yes\n", "are complex, for which cusps");
    refused(DATA "water.h5", NULL, 5, "occupied_up = 1-4\n", "has 4 orbitals for 5 electrons");
    refused(DATA "water.h5", NULL, 5, "occupied_up = 1-4,4\n", "names orbital 4 twice");
    refused(DATA "water.h5", NULL, 5, "occupied_up = 1-4,44\n", "names orbital 44, but");
    refused(DATA "water.h5", NULL, 5, "occupied_down = 1 to 5\n", "is not a list such as");
    refused(DATA "water.h5", NULL, 44, "", "has 43 orbitals of spin up for 44 electrons");
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "print")) return print_orbitals(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives_are_those_of_values),
                                       cmocka_unit_test(points_together_are_points_alone),
                                       cmocka_unit_test(twisted_orbitals_gain_their_phase),
                                       cmocka_unit_test(both_formats_give_the_same),
                                       cmocka_unit_test(orbitals_are_chosen),
                                       cmocka_unit_test(local_energies_are_finite_at_nuclei),
                                       cmocka_unit_test(corrections_are_joined_smoothly),
                                       cmocka_unit_test(cusps_of_a_file_are_used),
                                       cmocka_unit_test(damaged_files_of_cusps_are_refused),
                                       cmocka_unit_test(damaged_files_are_refused_with_a_sentence),
                                       cmocka_unit_test(orbitals_without_norm_are_told),
                                       cmocka_unit_test(what_does_not_fit_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
