/* polynomial_jastrow: values against the formula of Drummond, Towler and Needs written out with all images, from a file
 * of CASINO and from numbers; derivatives against differences; no cusps where there are to be none; the two
 * precisions; what is refused. */
#include "testing.h"

#include "quantum.h"

#define CASINO_FILE TEST_DATA "/casino/correlation.data"

enum { C = 3, ORDER = 2, COLUMNS = 18, FREE = 8, MOST = 8 };

/* What the file says of set 1, as CASINO has it. */
static const double alpha[2][4] = {{3.1e-2, 0, -1.2e-2, 5e-3}, {6.2e-2, 0, 2.3e-2, -7e-3}},
                    beta[5] = {-4.1e-2, 0, 1.7e-2, -9e-3, 2e-3}, u_length = 1.9, chi_length = 1.7,
                    f_length = 0.95;
static const int names[FREE][3] = {{1, 1, 0}, {2, 1, 0}, {2, 2, 0}, {0, 0, 2},
                                   {1, 0, 2}, {1, 1, 2}, {2, 1, 2}, {2, 2, 2}};
static const double gammas[2][FREE] = {{13, -21, 34, 7, -19, 26, -8, 11},
                                       {-17, 29, -14, 6, 12, -23, 9, 16}};
static const double oblique[3][3] = {{4.0, 0.3, 0.2}, {1.1, 4.2, -0.4}, {-0.7, 0.9, 4.5}};
static const double ions[2][3] = {{0.3, 0.4, 0.5}, {2.5, 2.6, 2.7}};

/* ---- The formula ------------------------------------------------------------------------------- */

static int is_named(int l, int m, int n)
{
    for (int k = 0; k < FREE; k++)
        if (names[k][0] == l && names[k][1] == m && names[k][2] == n) return k;
    return -1;
}

/* The conditions that an f of these coefficients has no cusps, as sums. */
enum { MEET = 2 * ORDER + 1, CONDITIONS = MEET + 2 * ORDER + 1 };
static void conditions(double g[ORDER + 1][ORDER + 1][ORDER + 1], double length, double out[])
{
    for (int k = 0; k < CONDITIONS; k++) out[k] = 0;
    for (int l = 0; l <= ORDER; l++)
        for (int m = 0; m <= ORDER; m++) out[l + m] += g[l][m][1];
    for (int m = 0; m <= ORDER; m++)
        for (int n = 0; n <= ORDER; n++) out[MEET + m + n] += C * g[0][m][n] - length * g[1][m][n];
}

/* All gamma_lmn: those that the file names, and the others from least squares of the conditions. */
static void complete(const double *named, double length, double g[ORDER + 1][ORDER + 1][ORDER + 1])
{
    int unknown[COLUMNS][3], count = 0;
    double rest[CONDITIONS], of[COLUMNS][CONDITIONS];
    double complex matrix[COLUMNS * COLUMNS], right[COLUMNS];
    memset(g, 0, sizeof(double) * 27);
    for (int n = 0; n <= ORDER; n++)
        for (int m = 0; m <= ORDER; m++)
            for (int l = m; l <= ORDER; l++) {
                const int k = is_named(l, m, n);
                if (k >= 0)
                    g[l][m][n] = g[m][l][n] = named[k];
                else
                    memcpy(unknown[count++], (int[]){l, m, n}, sizeof unknown[0]);
            }
    conditions(g, length, rest);
    for (int i = 0; i < count; i++) {
        double one[ORDER + 1][ORDER + 1][ORDER + 1] = {0};
        one[unknown[i][0]][unknown[i][1]][unknown[i][2]] =
            one[unknown[i][1]][unknown[i][0]][unknown[i][2]] = 1;
        conditions(one, length, of[i]);
    }
    for (int i = 0; i < count; i++) {
        right[i] = 0;
        for (int k = 0; k < CONDITIONS; k++) right[i] -= of[i][k] * rest[k];
        for (int j = 0; j < count; j++) {
            matrix[i * count + j] = 0;
            for (int k = 0; k < CONDITIONS; k++) matrix[i * count + j] += of[i][k] * of[j][k];
        }
    }
    invert_in_place(matrix, count);
    for (int i = 0; i < count; i++) {
        double complex x = 0;
        for (int j = 0; j < count; j++) x += matrix[i * count + j] * right[j];
        g[unknown[i][0]][unknown[i][1]][unknown[i][2]] =
            g[unknown[i][1]][unknown[i][0]][unknown[i][2]] = creal(x);
    }
    conditions(g, length, rest);
    for (int k = 0; k < CONDITIONS; k++) assert_true(fabs(rest[k]) < 1e-10);
}

static double u_of(double r, int unlike)
{
    const double *a = alpha[unlike], gamma = unlike ? 0.5 : 0.25;
    double sum = a[0] + (gamma / pow(-u_length, C) + a[0] * C / u_length) * r;
    for (int l = 2; l <= 3; l++) sum += a[l] * pow(r, l);
    return r < u_length ? pow(r - u_length, C) * sum : 0;
}

static double chi_of(double r)
{
    double sum = beta[0] + beta[0] * C / chi_length * r;
    for (int l = 2; l <= 4; l++) sum += beta[l] * pow(r, l);
    return r < chi_length ? pow(r - chi_length, C) * sum : 0;
}

static double f_of(double a, double b, double ab, double g[ORDER + 1][ORDER + 1][ORDER + 1])
{
    double sum = 0;
    if (a >= f_length || b >= f_length) return 0;
    for (int l = 0; l <= ORDER; l++)
        for (int m = 0; m <= ORDER; m++)
            for (int n = 0; n <= ORDER; n++) sum += g[l][m][n] * pow(a, l) * pow(b, m) * pow(ab, n);
    return pow(a - f_length, C) * pow(b - f_length, C) * sum;
}

static double distance(const double a[3], const double b[3], double out[3])
{
    double square = 0;
    for (int d = 0; d < 3; d++) {
        out[d] = a[d] - b[d];
        square += out[d] * out[d];
    }
    return sqrt(square);
}

/* Image k of 27 around, or of one in open space. */
static void image(const plugmc_box *box, const double r[3], int k, double out[3])
{
    const int n[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
    for (int d = 0; d < 3; d++) {
        out[d] = r[d];
        for (int e = 0; e < 3 && box->domain == PLUGMC_DOMAIN_PERIODIC; e++)
            out[d] += n[e] * box->vector[e][d];
    }
}

/* J of a configuration [particles][3], with all images. *f_alone: the part of f. */
static double formula(const plugmc_system *s, const double *x, double *f_alone)
{
    const plugmc_box *box = &s->box;
    const int images = box->domain == PLUGMC_DOMAIN_PERIODIC ? 27 : 1, n = (int)s->particles;
    double g[2][ORDER + 1][ORDER + 1][ORDER + 1], sum = 0, at[3], other[3], v[3];
    for (int unlike = 0; unlike < 2; unlike++) complete(gammas[unlike], f_length, g[unlike]);
    *f_alone = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            const int unlike = (i < s->first[1]) != (j < s->first[1]);
            for (int k = 0; k < images; k++) {
                image(box, x + 3 * i, k, at);
                sum += u_of(distance(at, x + 3 * j, v), unlike);
            }
            for (int ion = 0; ion < 2; ion++)
                for (int k = 0; k < images * images; k++) {
                    image(box, x + 3 * i, k % images, at);
                    image(box, x + 3 * j, k / images, other);
                    *f_alone += f_of(distance(at, ions[ion], v), distance(other, ions[ion], v),
                                     distance(at, other, v), g[unlike]);
                }
        }
        for (int ion = 0; ion < 2; ion++)
            for (int k = 0; k < images; k++) {
                image(box, x + 3 * i, k, at);
                sum += chi_of(distance(at, ions[ion], v));
            }
    }
    return sum + *f_alone;
}

/* ---- The plugin -------------------------------------------------------------------------------- */

/* Pairs and fields of all, in either precision. */
static double energy(const bench *b, const plugmc_term *term, const double *x)
{
    const plugmc_potential *p = term->plugin->potential;
    const int64_t n = b->system.particles;
    double sum = 0, xs[3][MOST], zero[MOST] = {0};
    int32_t species[MOST];
    for (int i = 0; i < n; i++) {
        for (int d = 0; d < 3; d++) xs[d][i] = x[3 * i + d];
        species[i] = i >= b->system.first[1];
    }
    for (int i = 0; i < n; i++) {
        const plugmc_particle probe = {x[3 * i], x[3 * i + 1], x[3 * i + 2], 0, 0, species[i]};
        const plugmc_particles before = {i, xs[0], xs[1], xs[2], zero, zero, species};
        const plugmc_particles one = {1,        &xs[0][i], &xs[1][i],  &xs[2][i],
                                      &zero[i], &zero[i],  &species[i]};
        p->pair->energy(term->instance, &b->system.box,
                        b->system.box.domain == PLUGMC_DOMAIN_PERIODIC, &probe, &before, &sum);
        p->field->energy(term->instance, &one, &sum);
    }
    return sum;
}

#define ALL_IONS "ions=0.3 0.4 0.5 2.5 2.6 2.7; "

static void begin(bench *b, int open)
{
    if (open)
        quantum_sphere(b, 20, 1, 3);
    else
        quantum_begin(b, (double[]){4, 4, 4}, 1, 3);
    if (!open) box_of_vectors(b, oblique, 1);
    bench_species(b, "up", 4, 0, -1);
    bench_species(b, "down", 3, 0, -1);
}

/* In clusters around the ions, so that f matters; in open space and in the box. */
static double *clustered(const bench *b, uint64_t seed)
{
    double *x = bench_positions(b);
    for (int64_t i = 0; i < b->system.particles; i++) {
        for (int d = 0; d < 3; d++)
            x[3 * i + d] =
                ions[i % 2][d] + 1.1 * (random_number(seed, (uint32_t)(3 * i + d)) - 0.5);
        plugmc_wrap(&b->system.box, x + 3 * i);
    }
    return x;
}

static void values_are_those_of_the_formula(void **state)
{
    (void)state;
    int matters = 0;
    for (int k = 0; k < 24; k++) {
        bench b;
        double f_alone;
        begin(&b, k % 2);
        const plugmc_term *term =
            quantum_term(&b, "polynomial_jastrow", ALL_IONS "file=" CASINO_FILE, 1);
        double *x = clustered(&b, (uint64_t)(10 + k));
        const double expected = formula(&b.system, x, &f_alone);
        matters += fabs(f_alone) > 1e-3;
        assert_close(energy(&b, term, x), -2 * expected, 1e-12, 1e-12);
        free(x);
        bench_end(&b);
    }
    assert_true(matters > 16);
}

/* Lists of the section come before those of the file; sets can be chosen, and the slope at a nucleus. */
static void sets_and_lists_are_chosen(void **state)
{
    (void)state;
    bench b;
    double x[21] = {0}, with, without;
    begin(&b, 1);
    for (int i = 0; i < 21; i++) x[i] = 3 + 3 * i; /* apart from each other and from the ion */
    x[0] = x[1] = x[2] = 0.001;
    const plugmc_term *second =
        quantum_term(&b, "polynomial_jastrow",
                     "ions=0 0 0; chi_set=2; f_set=2; chi_cusp=2; file=" CASINO_FILE, 1);
    const double r = 0.001 * sqrt(3), beta_0 = -0.2, length = 1.5;
    const double sum = beta_0 + (-2 / pow(-length, C) + beta_0 * C / length) * r + 0.03 * r * r;
    assert_close(energy(&b, second, x), -2 * pow(r - length, C) * sum, 1e-12, 0);
    const plugmc_term *given = quantum_term(
        &b, "polynomial_jastrow",
        "chi=0; f_set=0; ions=0 0 0; u_like=0.5; u_unlike=0.25 1 2; file=" CASINO_FILE, 1);
    assert_close(energy(&b, given, x), 0, 0, 0);
    x[3] = x[4] = x[5] = 0.2; /* like spins: u = (1 - x)^3 (0.5 + (3 0.5 + L / 4) x), x = r / L */
    const double ratio = 0.199 * sqrt(3) / 1.9;
    assert_close(energy(&b, given, x), -2 * pow(1 - ratio, 3) * (0.5 + (1.5 + 1.9 / 4) * ratio),
                 1e-12, 0);
    const plugmc_term *none =
        quantum_term(&b, "polynomial_jastrow", "chi_set=0; f_set=0; file=" CASINO_FILE, 1);
    with = energy(&b, none, x);
    x[3] = x[4] = x[5] = 0.3;
    without = energy(&b, none, x);
    assert_close(with, -2 * u_of(0.199 * sqrt(3), 0), 1e-12, 0);
    assert_close(without, -2 * u_of(0.299 * sqrt(3), 0), 1e-12, 0);
    bench_end(&b);
}

/* ---- Derivatives ------------------------------------------------------------------------------- */

/* Of the energy of electron e with all others. */
static plugmc_derivatives derivatives(const bench *b, const plugmc_term *term, const double *x,
                                      int e)
{
    const plugmc_potential *p = term->plugin->potential;
    plugmc_derivatives out = {0};
    const plugmc_particle probe = {x[3 * e], x[3 * e + 1],           x[3 * e + 2], 0,
                                   0,        e >= b->system.first[1]};
    for (int j = 0; j < b->system.particles; j++) {
        const double zero = 0;
        const int32_t species = j >= b->system.first[1];
        const plugmc_particles other = {1,     &x[3 * j], &x[3 * j + 1], &x[3 * j + 2],
                                        &zero, &zero,     &species};
        if (j != e)
            p->pair->derivatives(term->instance, &b->system.box,
                                 b->system.box.domain == PLUGMC_DOMAIN_PERIODIC, 1, &probe, &other,
                                 &out);
    }
    p->field->derivatives(term->instance, &probe, &out);
    return out;
}

static void derivatives_are_differences(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        bench b;
        const double h = 1e-4;
        begin(&b, k % 2);
        const plugmc_term *term =
            quantum_term(&b, "polynomial_jastrow", ALL_IONS "file=" CASINO_FILE, 1);
        double *x = clustered(&b, (uint64_t)(70 + k));
        const double middle = energy(&b, term, x);
        for (int e = 0; e < b.system.particles; e++) {
            const plugmc_derivatives found = derivatives(&b, term, x, e);
            double laplacian = 0;
            for (int d = 0; d < 3; d++) {
                const double kept = x[3 * e + d];
                double side[2];
                for (int s = 0; s < 2; s++) {
                    x[3 * e + d] = kept + (s ? h : -h);
                    side[s] = energy(&b, term, x);
                }
                x[3 * e + d] = kept;
                assert_close(found.gradient[d], (side[1] - side[0]) / (2 * h), 1e-5, 1e-5);
                laplacian += (side[0] - 2 * middle + side[1]) / (h * h);
            }
            assert_close(found.laplacian, laplacian, 1e-4, 1e-3);
        }
        free(x);
        bench_end(&b);
    }
}

/* f has no slope where electrons meet, nor where one meets the ion, whatever the others do: derivatives
 * over the distance stay finite. u has its cusp. */
static void cusps_are_those_of_u_alone(void **state)
{
    (void)state;
    bench b;
    double x[21];
    begin(&b, 1);
    const plugmc_term *term = quantum_term(
        &b, "polynomial_jastrow",
        "ions=0 0 0; f_like=0.6 1 -2 1.5 -1 0.8 1.2 -0.5; f_unlike=1 -1 2 0.5 -1.5 0.7 0.4 0.9; "
        "f_cutoff=3",
        1);
    const plugmc_term *cusped =
        quantum_term(&b, "polynomial_jastrow", "u_like=0.3; u_unlike=0.2 1; u_cutoff=3", 1);
    for (int i = 0; i < 21; i++) x[i] = 4 + 0.3 * i; /* out of reach */
    for (int other = 1; other < 5; other += 3) {     /* like, then unlike */
        const double apart = 1e-6, slope = other == 1 ? 0.25 : 0.5;
        memcpy(x, (double[]){0.5, 0.6, 0.7}, 3 * sizeof *x);
        memcpy(x + 3 * other, (double[]){0.5 + apart, 0.6, 0.7}, 3 * sizeof *x);
        const plugmc_derivatives at = derivatives(&b, term, x, 0),
                                 u = derivatives(&b, cusped, x, 0);
        assert_true(fabs(at.laplacian) < 20); /* a slope s would be 2 s / 1e-6 */
        assert_close(u.gradient[0], 2 * slope, 1e-5, 0);
        memcpy(x, (double[]){1e-6, 0, 0}, 3 * sizeof *x); /* at the ion, the other in its reach */
        assert_true(fabs(derivatives(&b, term, x, 0).laplacian) < 20);
        for (int d = 0; d < 3; d++) x[3 * other + d] = 4 + d;
    }
    bench_end(&b);
}

/* Places may be told by any image of them, and float is double but for its rounding. */
static void images_and_precisions_agree(void **state)
{
    (void)state;
    bench b;
    begin(&b, 0);
    const plugmc_term *term =
        quantum_term(&b, "polynomial_jastrow", ALL_IONS "file=" CASINO_FILE, 1);
    const plugmc_pair *pair = term->plugin->potential->pair,
                      *single = term->plugin_single->potential->pair;
    int near = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        double *x = clustered(&b, 500 + seed), far[3];
        float y[3];
        const double zero = 0;
        const float none = 0;
        const int32_t species = 1;
        double here = 0, there = 0, rough = 0;
        image(&b.system.box, x + 6, (int)(seed % 27), far);
        for (int d = 0; d < 3; d++) y[d] = (float)x[d];
        const plugmc_particle probe = {x[6], x[7], x[8], 0, 0, 0},
                              shifted = {far[0], far[1], far[2], 0, 0, 0};
        const plugmc_particles other = {1, x, x + 1, x + 2, &zero, &zero, &species},
                               rounded = {1, y, y + 1, y + 2, &none, &none, &species};
        pair->energy(term->instance, &b.system.box, 1, &probe, &other, &here);
        pair->energy(term->instance, &b.system.box, 1, &shifted, &other, &there);
        single->energy(term->instance_single, &b.system.box, 1, &probe, &rounded, &rough);
        near += fabs(here) > 0.05;
        assert_close(here, there, 1e-11, 1e-11);
        assert_close(here, rough, 2e-5, 2e-5);
        free(x);
    }
    assert_true(near > 30);
    bench_end(&b);
}

/* A mover that asks the core: what it has kept of pairs and fields over many moves is the formula's. */
static void energies_that_the_core_keeps_are_those_of_the_formula(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        bench b;
        double f_alone;
        const double *kept;
        begin(&b, open);
        quantum_term(&b, "polynomial_jastrow", ALL_IONS "file=" CASINO_FILE, 1);
        double *x = clustered(&b, 90);
        test_mover serial = mover_new(&b, "serial", "step=0.2");
        mover_load(&b, &serial, x);
        mover_sweep(&b, &serial, 0, 50);
        mover_store(&b, &serial, x);
        const double expected = formula(&b.system, x, &f_alone);
        bench_expect(&b, hamiltonian_energy(&serial.core->hamiltonian, &b.host, 0, &kept));
        assert_close(kept[0], -2 * expected, 1e-10, 1e-10);
        plugmc_counts counts;
        bench_expect(&b, mover_counts(&serial, &b.host, &counts, 1));
        assert_true(counts.accepted > 100);
        free(x);
        bench_end(&b);
    }
}

/* Which coefficients of an f of powers 3 and 3 stand in files of CASINO 2.13, in their order (Konjkov/pycasino,
 * examples/stowfn). A file with these names is read, and no other order is. */
static void coefficients_of_f_are_those_of_casino(void **state)
{
    (void)state;
    static const char *const lmn[] = {"110", "210", "310", "220", "320", "330", "111", "221", "002",
                                      "102", "202", "112", "212", "312", "222", "322", "332", "003",
                                      "103", "203", "113", "213", "313", "223", "323", "333"};
    enum { NAMES = sizeof lmn / sizeof lmn[0] };
    for (int swapped = 0; swapped < 2; swapped++) {
        char path[] = "/tmp/correlation.XXXXXX", settings[200];
        FILE *out = fdopen(mkstemp(path), "w");
        assert_non_null(out);
        fputs("START JASTROW\nTruncation order C\n3\nSTART F TERM\nSTART SET 1\n"
              "Electron-nucleus expansion order N_f_eN\n3\n"
              "Electron-electron expansion order N_f_ee\n3\nSpin dep\n0\nCutoff\n1.4 1\n"
              "Parameter values\n",
              out);
        for (int k = 0; k < NAMES; k++) {
            const char *name = lmn[swapped && k >= 8 && k < 10 ? 17 - k : k];
            fprintf(out, "%g 1 ! gamma_%c,%c,%c,1,1\n", 0.1 * k, name[0], name[1], name[2]);
        }
        fputs("END SET 1\nEND F TERM\nEND JASTROW\n", out);
        fclose(out);
        bench b;
        begin(&b, 1);
        snprintf(settings, sizeof settings, "ions=0 0 0; chi_set=0; file=%s", path);
        const int code = try_term(&b, "polynomial_jastrow", settings, 1);
        assert_int_equal(code, swapped ? PLUGMC_ERROR_INPUT : PLUGMC_OK);
        if (swapped)
            assert_non_null(strstr(b.message, "line 23: this is gamma_1,0,2 where gamma_0,0,2 is "
                                              "the next that is free"));
        else
            assert_int_equal(plugmc_variational_of(b.terms[0].plugin)->count(b.terms[0].instance),
                             2 * NAMES);
        remove(path);
        bench_end(&b);
    }
}

/* ---- Cutoffs and refusals ---------------------------------------------------------------------- */

static void cutoffs_come_from_the_cell(void **state)
{
    (void)state;
    bench b;
    quantum_begin(&b, (double[]){6, 7, 8}, 1, 3);
    bench_species(&b, "up", 1, 0, -1);
    bench_species(&b, "down", 1, 0, -1);
    const plugmc_term *u = quantum_term(&b, "polynomial_jastrow", "u_unlike=1", 1),
                      *f = quantum_term(&b, "polynomial_jastrow", "ions=1 1 1; f_unlike=0", 1);
    assert_close(u->plugin->potential->pair->range(u->instance), 3, 1e-15, 0);
    assert_close(f->plugin->potential->pair->range(f->instance), 3, 1e-15, 0); /* 2 L, L = 3 / 2 */
    assert_int_equal(plugmc_variational_of(f->plugin)->count(f->instance), FREE);
    bench_end(&b);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *message;
    } wrong[] = {
        {"ions=0 0 0; f_unlike=1 2 3",
         "f_unlike has 3 numbers, but f of these orders has 8 independent coefficients (a single "
         "0: all are 0)"},
        {"u_unlike=1; u_cutoff=3.5", "u_cutoff = 3.5 is too large for this box: at most 3"},
        {"ions=0 0 0; f_unlike=0; f_cutoff=2",
         "f_cutoff = 2 is too large for this box: at most 1.5"},
        {"f_unlike=0", "chi and f need the positions of the ions that they belong to: give ions"},
        {"u_like=1; ions=0 0 0", "ions are given, but neither chi nor f, which depend on them"},
        {"chi=1; ions=0 0", "ions has 2 numbers, which is not a multiple of three"},
        {"", "there are no coefficients: give u_like, u_unlike, chi, f_like, f_unlike or a "
             "file with them"},
        {"ions=0 0 0; chi_set=2; file=" CASINO_FILE,
         "file '" CASINO_FILE "' gives chi the cusp of the nucleus: chi_cusp needs its charge"},
        {"ions=0 0 0; f_set=3; file=" CASINO_FILE,
         "file '" CASINO_FILE "' has no set 3 of f (f_set = 0 takes none)"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        bench b;
        quantum_begin(&b, (double[]){6, 7, 8}, 1, 3);
        bench_species(&b, "up", 1, 0, -1);
        bench_species(&b, "down", 1, 0, -1);
        assert_int_equal(try_term(&b, "polynomial_jastrow", wrong[k].settings, 1),
                         PLUGMC_ERROR_INPUT);
        assert_string_equal(b.message, wrong[k].message);
        bench_end(&b);
    }
}

TEST_MAIN(cmocka_unit_test(values_are_those_of_the_formula),
          cmocka_unit_test(sets_and_lists_are_chosen),
          cmocka_unit_test(derivatives_are_differences),
          cmocka_unit_test(cusps_are_those_of_u_alone),
          cmocka_unit_test(images_and_precisions_agree),
          cmocka_unit_test(energies_that_the_core_keeps_are_those_of_the_formula),
          cmocka_unit_test(coefficients_of_f_are_those_of_casino),
          cmocka_unit_test(cutoffs_come_from_the_cell), cmocka_unit_test(what_cannot_be_is_refused))
