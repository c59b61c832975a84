/* The local energy: exact cases, differences, Ewald sums, pseudopotentials and their files. */
#include <unistd.h>

#include "boxes.h"
#include "testing.h"

#include "quantum.h"

enum { TOTAL, KINETIC, REPULSION, LOCAL, NONLOCAL, IONS, SQUARED, DRIFT, QUANTITIES };

typedef struct test_observable {
    const plugmc_plugin *plugin;
    void *instance;
} test_observable;

/* Those that were made since the last `end`, prepared or not. */
static test_observable made[8];
static int made_count;

static int try_observable(bench *b, test_observable *o, const char *settings)
{
    o->plugin = open_plugin("local_energy");
    o->instance = bench_allocate(b->host.context, o->plugin->instance_size);
    assert_in_range(made_count, 0, 7);
    made[made_count++] = *o;
    quantum_parameters(b, o->plugin, o->instance, settings);
    return o->plugin->prepare(o->instance, &b->host);
}

static void end(bench *b)
{
    while (made_count > 0) {
        const test_observable *o = &made[--made_count];
        o->plugin->release(o->instance);
    }
    bench_end(b);
}

static test_observable new_observable(bench *b, const char *settings)
{
    test_observable o;
    bench_expect(b, try_observable(b, &o, settings));
    return o;
}

/* values [walkers][QUANTITIES] */
static void measure(bench *b, test_observable *o, const double *positions, uint64_t sweep,
                    double *values)
{
    plugmc_view view = {
        .size = sizeof view, .sweep = sweep, .positions = positions, .box = boxes_of(&b->system)};
    bench_expect(b, o->plugin->observable->measure(o->instance, &b->host, &view, values));
}

/* ---- Averages -------------------------------------------------------------------------------- */

typedef struct average {
    double mean[QUANTITIES], error[QUANTITIES], variance;
} average;

enum { MOST_WALKERS = 64 };

/* Means over walkers, each over `samples` of it that are `stride` sweeps apart; errors from the
 * spread of the walkers, which are independent. */
static average sample(bench *b, test_mover *mover, test_observable *o, int samples, int stride)
{
    static double sums[MOST_WALKERS][QUANTITIES], values[MOST_WALKERS][QUANTITIES];
    const int walkers = b->system.walkers;
    double *x = random_positions(b, 1);
    average out = {0};
    memset(sums, 0, sizeof sums);
    mover_load(b, mover, x);
    mover_sweep(b, mover, 0, 50);
    for (int k = 0; k < samples; k++) {
        mover_sweep(b, mover, 50 + (uint64_t)(k * stride), (uint64_t)stride);
        mover_store(b, mover, x);
        measure(b, o, x, 50 + (uint64_t)((k + 1) * stride), values[0]);
        for (int w = 0; w < walkers; w++)
            for (int q = 0; q < QUANTITIES; q++) sums[w][q] += values[w][q] / samples;
    }
    for (int q = 0; q < QUANTITIES; q++) {
        double squares = 0;
        for (int w = 0; w < walkers; w++) out.mean[q] += sums[w][q] / walkers;
        for (int w = 0; w < walkers; w++) squares += pow(sums[w][q] - out.mean[q], 2) / walkers;
        out.error[q] = sqrt(squares / (walkers - 1));
    }
    out.variance = out.mean[SQUARED] - out.mean[TOTAL] * out.mean[TOTAL];
    free(x);
    return out;
}

/* ---- Atoms ----------------------------------------------------------------------------------- */

static void atom(bench *b, test_orbitals *t, int electrons, double exponent, int z, int walkers)
{
    quantum_sphere(b, 40, walkers, 31);
    bench_species(b, "up", 1, 0, -1);
    if (electrons == 2) bench_species(b, "down", 1, 0, -1);
    *t = (test_orbitals){.kind = EXPONENTIALS,
                         .count = 1,
                         .k = {{exponent}},
                         .ion_count = 1,
                         .atomic_number = {z},
                         .valence = {z}};
    add_orbitals(b, t);
}

static void hydrogen_has_no_variance(void **state)
{
    (void)state;
    bench b;
    test_orbitals t;
    atom(&b, &t, 1, 1, 1, 16);
    test_mover mover = mover_new(&b, "particle_by_particle", "step=1");
    test_observable o = new_observable(&b, "");
    average a = sample(&b, &mover, &o, 100, 1);
    printf("energy %.15g, variance %.2g\n", a.mean[TOTAL], a.variance);
    assert_close(a.mean[TOTAL], -0.5, 1e-12, 0);
    assert_true(a.variance < 1e-12);
    assert_z("kinetic energy", a.mean[KINETIC], a.error[KINETIC], 0.5, 4);
    end(&b);
}

/* false alarms below 1e-4 */
static void helium_has_the_energy_of_its_variational_charge(void **state)
{
    (void)state;
    const double charge = 27.0 / 16;
    bench b;
    test_orbitals t;
    atom(&b, &t, 2, charge, 2, 64);
    test_mover mover = mover_new(&b, "quasi_simultaneous", "step=0.6");
    test_observable o = new_observable(&b, "");
    average a = sample(&b, &mover, &o, 2500, 2);
    assert_z("helium", a.mean[TOTAL], a.error[TOTAL], -2.84765625, 4);
    assert_z("kinetic", a.mean[KINETIC], a.error[KINETIC], charge * charge, 4);
    assert_z("repulsion", a.mean[REPULSION], a.error[REPULSION], 0.625 * charge, 4);
    assert_z("attraction", a.mean[LOCAL], a.error[LOCAL], -4 * charge, 4);
    assert_true(a.error[TOTAL] < 2e-2);
    end(&b);
}

/* ---- The electron gas ------------------------------------------------------------------------ */

static void electron_gas(bench *b, test_orbitals *t, int kind, double rs, int walkers, int box)
{
    const double edge = cbrt(14 * 4 * M_PI / 3) * rs;
    const double length[3] = {edge, edge, edge};
    /* the same lattice by other vectors */
    const double other[3][3] = {{edge, 0, 0}, {edge, edge, 0}, {0, -edge, edge}};
    quantum_begin(b, length, walkers, 17);
    bench_species(b, "up", 7, 0, -1);
    bench_species(b, "down", 7, 0, -1);
    fill_waves(t, b, kind, 7);
    if (box) box_of_vectors(b, other, 1);
    add_orbitals(b, t);
}

/* Slater only, exact energies; |z| <= 3.5 of three, false alarms below 2e-3. */
static void the_gas_of_14_electrons_has_its_exact_energy(void **state)
{
    (void)state;
    static const double cases[][3] = {
        {1, 15.692780, 8.491481}, {2, 3.923195, 0.322545}, {5, 0.627711, -0.812549}};
    for (int k = 0; k < 3; k++) {
        bench b;
        test_orbitals t;
        char settings[64];
        electron_gas(&b, &t, k ? PLANE_WAVES : STANDING_WAVES, cases[k][0], 32, k == 1);
        snprintf(settings, sizeof settings, "step=%g", 0.7 * cases[k][0]);
        test_mover mover = mover_new(&b, "quasi_simultaneous", settings);
        test_observable o = new_observable(&b, "");
        average a = sample(&b, &mover, &o, 300, 4);
        assert_close(a.mean[KINETIC], cases[k][1], 1e-6, 0);
        assert_true(a.error[KINETIC] < 1e-10);
        assert_z("14 electrons", a.mean[TOTAL], a.error[TOTAL], cases[k][2], 3.5);
        assert_true(a.error[TOTAL] < 0.04 / cases[k][0]);
        assert_true(fabs(a.mean[DRIFT]) < 1e-9);
        end(&b);
    }
}

/* u = A/r (1 - exp(-r/F)) with 1/A the plasma frequency and F from the cusp, to 0 at half the edge.
 */
static const char *gas_jastrow(double rs, char out[512])
{
    enum { KNOTS = 7 };
    const double cutoff = 0.5 * cbrt(14 * 4 * M_PI / 3) * rs, a = sqrt(rs * rs * rs / 3);
    char *at = out;
    for (int unlike = 0; unlike < 2; unlike++) {
        at += sprintf(at, unlike ? "; unlike=" : "like=");
        for (int k = 0; k < KNOTS; k++) {
            const double r = cutoff * (k + 0.05) / (KNOTS + 1), f = sqrt(unlike ? a : 2 * a),
                         end = a / cutoff * (1 - exp(-cutoff / f)), x = r / cutoff;
            at += sprintf(at, " %.6f", (a / r * (1 - exp(-r / f)) - end) * (1 - x * x * x));
        }
    }
    return out;
}

static void a_jastrow_factor_lowers_energy_and_variance(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const double rs = k ? 5 : 1, exact = k ? -0.812549 : 8.491481;
        bench b;
        test_orbitals t;
        char jastrow[512], settings[64];
        average a[2];
        for (int with = 0; with < 2; with++) {
            electron_gas(&b, &t, PLANE_WAVES, rs, 16, 0);
            if (with) quantum_term(&b, "jastrow", gas_jastrow(rs, jastrow), 1);
            snprintf(settings, sizeof settings, "step=%g", 0.7 * rs);
            test_mover mover = mover_new(&b, "quasi_simultaneous", settings);
            test_observable o = new_observable(&b, "");
            a[with] = sample(&b, &mover, &o, 60, 4);
            end(&b);
        }
        printf("rs %g: %.5f(%.5f), variance %.5f; with: %.5f(%.5f), %.5f\n", rs, a[0].mean[TOTAL],
               a[0].error[TOTAL], a[0].variance, a[1].mean[TOTAL], a[1].error[TOTAL],
               a[1].variance);
        assert_true(a[1].mean[TOTAL] + 5 * a[1].error[TOTAL] < exact);
        assert_true(a[1].variance < 0.5 * a[0].variance);
    }
}

/* The bias that was measured at cubes of edge 8 bohr, rs = 5 (energy -0.72576(55)), and none for
 * sequential acceptance. |z| <= 4: false alarms below 2e-4. */
static void simultaneous_acceptance_has_its_known_bias(void **state)
{
    (void)state;
    static const char *const settings[] = {"moves=cube step=4",
                                           "moves=cube step=4 acceptance=simultaneous"};
    for (int biased = 0; biased < 2; biased++) {
        bench b;
        test_orbitals t;
        electron_gas(&b, &t, PLANE_WAVES, 5, 64, 0);
        test_mover mover = mover_new(&b, "quasi_simultaneous", settings[biased]);
        assert_int_equal(b.warnings, biased);
        test_observable o = new_observable(&b, "");
        average a = sample(&b, &mover, &o, 150, 2);
        plugmc_counts counts;
        mover_counts(&mover, &b.host, &counts, 1);
        printf("acceptance %.2f\n", (double)counts.accepted / (double)counts.trials);
        assert_z(biased ? "simultaneous" : "sequential", a.mean[TOTAL],
                 hypot(a.error[TOTAL], biased ? 0.00055 : 0), biased ? -0.72576 : -0.812549, 4);
        assert_true(a.error[TOTAL] < 0.01);
        end(&b);
    }
}

/* ---- By differences -------------------------------------------------------------------------- */

/* Psi over its value at x0, with complex determinants. */
static double complex wave(const bench *b, const test_orbitals *t, const double *x)
{
    const double complex psi = brute_determinants(b, t, x);
    bench rest = *b;
    rest.system.terms = rest.terms + 1; /* without the orbitals */
    rest.system.term_count--;
    return psi * exp(-0.5 * brute_energy(&rest, x));
}

static void kinetic_energies_equal_differences(void **state)
{
    (void)state;
    static const char jastrow[] =
        "like=0.28 0.22 0.17 0.12 0.08 0.05; unlike=0.46 0.36 0.26 0.18 0.1 0.05;"
        " chi=-0.2 -0.16 -0.14 -0.12 -0.1 -0.05; ions=0.3 0.4 0.5 2.5 2.6 2.7";
    static const char polynomials[] = /* with f, of two electrons and an ion */
        "u_like=0.2 -0.3 0.1; u_unlike=0.3 0.2; chi=-0.4 0.3 -0.2; "
        "f_like=0.6 1 -2 1.5 -1 0.8 1.2 -0.5; f_unlike=1 -1 2 0.5 -1.5 0.7 0.4 0.9; "
        "ions=0.3 0.4 0.5 2.5 2.6 2.7 1.4 3 1.1";
    const double vector[3][3] = {{4.0, 0.3, 0.2}, {1.1, 4.2, -0.4}, {-0.7, 0.9, 4.5}};
    static const char terms[] = /* of determinants */
        "excitations=5>6/3>4 4>7/- -/3>5,2>9 5>8,4>9/1>4 3>6,4>8,5>9/- 5>6/3>5; "
        "coefficients=-0.4 0.3 0.7 0.2 -0.5 0.9";
    for (int kind = 0; kind < 6; kind++) {
        bench b;
        test_orbitals t;
        const double length[3] = {4, 4, 4}, h = 1e-3;
        double values[QUANTITIES], laplacian = 0;
        quantum_begin(&b, length, 1, 1);
        box_of_vectors(&b, vector, 1);
        bench_species(&b, "up", 5, 0, -1);
        bench_species(&b, "down", 3, 0, -1);
        fill_waves(&t, &b, kind % 2 ? STANDING_WAVES : PLANE_WAVES, kind < 4 ? 5 : 9);
        add_orbitals(&b, &t);
        if (kind < 2 || kind >= 4) quantum_term(&b, "jastrow", jastrow, 1);
        if (kind == 2 || kind == 3) quantum_term(&b, "polynomial_jastrow", polynomials, 1);
        plugmc_term *sum = kind >= 4 ? quantum_term(&b, "multideterminant", terms, 1) : NULL;
        if (sum) bench_expect(&b, sum->plugin->prepare(sum->instance, &b.host));
        test_observable o = new_observable(&b, "electron_electron=no");
        double *x = random_positions(&b, 6);
        measure(&b, &o, x, 0, values);
        const double complex here = wave(&b, &t, x);
        for (int i = 0; i < 8; i++)
            for (int d = 0; d < 3; d++) {
                double complex sum = -30 * here;
                for (int k = -2; k <= 2; k++) {
                    double r[3];
                    if (!k) continue;
                    memcpy(r, x + 3 * i, sizeof r);
                    x[3 * i + d] += k * h;
                    plugmc_wrap(&b.system.box, x + 3 * i);
                    sum += (k == 1 || k == -1 ? 16 : -1) * wave(&b, &t, x);
                    memcpy(x + 3 * i, r, sizeof r);
                }
                laplacian += creal(sum / here) / (12 * h * h);
            }
        assert_close(values[KINETIC], -0.5 * laplacian, 1e-5, 1e-5);
        assert_true(values[REPULSION] == 0 && values[LOCAL] == 0);
        free(x);
        end(&b);
    }
}

/* ---- Ewald sums ------------------------------------------------------------------------------ */

static void a_lone_electron_feels_its_images(void **state)
{
    (void)state;
    for (int box = 0; box < 2; box++) {
        bench b;
        test_orbitals t;
        const double length[3] = {3, 3, 3}, other[3][3] = {{3, 0, 0}, {3, 3, 0}, {-3, 3, 3}};
        double values[QUANTITIES], x[3] = {0.5, 1, 2};
        quantum_begin(&b, length, 1, 1);
        if (box) box_of_vectors(&b, other, 1);
        bench_species(&b, "up", 1, 0, -1);
        fill_waves(&t, &b, PLANE_WAVES, 1);
        add_orbitals(&b, &t);
        test_observable o = new_observable(&b, "");
        measure(&b, &o, x, 0, values);
        assert_close(values[REPULSION], -2.837297479481 / 6, 1e-10, 0);
        assert_true(values[KINETIC] == 0);
        end(&b);
    }
}

/* Ions and electrons as rock salt of nearest distance 1, in a cube of 2 and its primitive cell. */
static void electrons_and_ions_in_rock_salt_have_its_lattice_energy(void **state)
{
    (void)state;
    for (int box = 0; box < 2; box++) {
        bench b;
        test_orbitals t;
        const int n = box ? 1 : 4;
        const double length[3] = {2, 2, 2}, primitive[3][3] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
        double values[QUANTITIES], x[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
        quantum_begin(&b, length, 1, 1);
        if (box) box_of_vectors(&b, primitive, 1);
        bench_species(&b, "up", n, 0, -1);
        fill_waves(&t, &b, PLANE_WAVES, n);
        for (int e = 0; e < n; e++) t.k[e][0] = e, t.k[e][1] = 0.5 * e * e, t.k[e][2] = 0.2 * e;
        t.ion_count = n;
        for (int i = 0; i < n; i++) {
            t.atomic_number[i] = 1;
            for (int d = 0; d < 3 && i; d++) t.ion[i][d] = d + 1 != i;
        }
        add_orbitals(&b, &t);
        test_observable o = new_observable(&b, "");
        measure(&b, &o, x, 0, values);
        assert_close(values[REPULSION] + values[LOCAL] + values[IONS], -n * 1.747564594633, 1e-9,
                     0);
        end(&b);
    }
}

/* ---- Pseudopotentials ------------------------------------------------------------------------ */

/* Of an ion with Z = 1 for atomic number 3, in Hartree:
 * r v_0 = -1 + 2 exp(-r^2) + r 3 exp(-2 r^2), r v_1 (local) = -1 + 2 exp(-r^2). */
static double example_local(double r) { return -1 + 2 * exp(-r * r); }
static double example_channel(double r) { return 3 * exp(-2 * r * r); }

static void put_numbers(FILE *out, const double *values, int n)
{
    for (int i = 0; i < n; i++) fprintf(out, "%.15e%s", values[i], i % 4 == 3 ? "\n" : " ");
    fputs("\n", out);
}

enum { POINTS = 1201 };

/* The example in a format; UPF with projectors beta = dv chi, chi = r exp(-r), "upf from 0" with a first point at 0,
 * "upf whole" also with potentials of l = 0 and 1 as they are. The path is left in `path`. */
static void write_example(const char *format, char path[64])
{
    static double r[POINTS], zero[POINTS], one[POINTS], beta[POINTS], chi[POINTS], weight[POINTS];
    double overlap = 0;
    strcpy(path, "/tmp/plugmc_pseudo_XXXXXX");
    FILE *out = fdopen(mkstemp(path), "w");
    const int upf = strncmp(format, "upf", 3) == 0, from_0 = strstr(format, "from 0") != NULL;
    for (int i = 0; i < POINTS; i++) {
        r[i] = upf ? 1e-3 * exp(i * log(1e4) / (POINTS - 1)) : i * 0.01;
        if (from_0 && i == 0) r[i] = 0;
        weight[i] = upf ? r[i] * log(1e4) / (POINTS - 1) : 0.01;
        one[i] = example_local(r[i]);
        zero[i] = one[i] + r[i] * example_channel(r[i]);
        chi[i] = r[i] * exp(-r[i]);
        beta[i] = 2 * example_channel(r[i]) * chi[i];
        overlap += weight[i] * beta[i] * chi[i];
    }
    if (!strcmp(format, "casino")) {
        fprintf(out,
                "An example\nAtomic number and pseudo-charge\n 3 1.0\n"
                "Energy units (rydberg/hartree/ev):\nrydberg\n"
                "Angular momentum of local component (0=s,1=p,2=d..)\n 1\n"
                "NLRULE override (1) VMC/DMC (2) config gen (0 ==> input/default value)\n 0 0\n"
                "Number of grid points\n %d\nR(i) in atomic units\n",
                POINTS);
        for (int i = 0; i < POINTS; i++) zero[i] *= 2, one[i] *= 2;
        put_numbers(out, r, POINTS);
        fputs("r*potential (L=0) in Ry\n", out);
        put_numbers(out, zero, POINTS);
        fputs("r*potential (L=1) in Ry\n", out);
        put_numbers(out, one, POINTS);
    } else if (!upf) {
        fprintf(out,
                "<?xml version=\"1.0\"?>\n<pseudo version=\"0.5\">\n<header symbol=\"Li\" "
                "atomic-number=\"3\" zval=\"1\"/>\n<semilocal units=\"hartree\" format=\"r*V\" "
                "l-local=\"1\">\n");
        for (int l = 0; l < 2; l++) {
            fprintf(
                out,
                "<vps l=\"%c\" cutoff=\"1\"><radfunc>\n<grid type=\"linear\" ri=\"0\" rf=\"12\" "
                "npts=\"%d\"/>\n<data>\n",
                "sp"[l], POINTS);
            put_numbers(out, l ? one : zero, POINTS);
            fputs("</data></radfunc></vps>\n", out);
        }
        fputs("</semilocal>\n</pseudo>\n", out);
    } else {
        for (int i = 0; i < POINTS; i++) one[i] *= r[i] > 0 ? 2 / r[i] : 0;
        for (int i = 0; i < POINTS; i++) zero[i] *= r[i] > 0 ? 2 / r[i] : 0;
        fprintf(out,
                "<UPF version=\"2.0.1\">\n<PP_HEADER element=\"Li\" pseudo_type=\"NC\"\n"
                "is_ultrasoft=\"false\" z_valence=\"1.0\" number_of_proj=\"1\" />\n"
                "<PP_MESH mesh=\"%d\">\n<PP_R>\n",
                POINTS);
        put_numbers(out, r, POINTS);
        fputs("</PP_R>\n<PP_RAB>\n", out);
        put_numbers(out, weight, POINTS);
        fputs("</PP_RAB></PP_MESH>\n<PP_LOCAL>\n", out);
        put_numbers(out, one, POINTS);
        fputs("</PP_LOCAL>\n<PP_NONLOCAL><PP_BETA.1 angular_momentum=\"0\">\n", out);
        put_numbers(out, beta, POINTS);
        fprintf(
            out,
            "</PP_BETA.1><PP_DIJ>\n%.15e\n</PP_DIJ></PP_NONLOCAL>\n<PP_PSWFC><PP_CHI.1 l=\"0\">\n",
            1 / overlap);
        put_numbers(out, chi, POINTS);
        fputs("</PP_CHI.1></PP_PSWFC>\n", out);
        if (strstr(format, "whole")) {
            fputs("<PP_SEMILOCAL><PP_VNL.1 L=\"0\">\n", out);
            put_numbers(out, zero, POINTS);
            fputs("</PP_VNL.1><PP_VNL.2 L=\"1\">\n", out);
            put_numbers(out, one, POINTS);
            fputs("</PP_VNL.2></PP_SEMILOCAL>\n", out);
        }
        fputs("</UPF>\n", out);
    }
    fclose(out);
}

/* One electron in (1 + k.r) exp(-r^2/2) around an ion. */
static void polarised_ion(bench *b, test_orbitals *t, int walkers)
{
    quantum_sphere(b, 20, walkers, 3);
    bench_species(b, "up", 1, 0, -1);
    *t = (test_orbitals){.kind = POLARISED,
                         .count = 1,
                         .k = {{0.5, -0.3, 0.2}},
                         .centre = {{0.1, 0.2, 0.3}},
                         .ion_count = 1,
                         .ion = {{0.1, 0.2, 0.3}},
                         .atomic_number = {3}};
    add_orbitals(b, t);
}

/* Projections are exact with any of the quadratures: v_loc + dv_0 / (1 + k.r). */
static void pseudopotentials_of_all_formats_act_as_they_should(void **state)
{
    (void)state;
    static const char *const formats[] = {"casino",     "qmcpack",   "upf",
                                          "upf from 0", "upf whole", "upf whole from 0"},
                             *const rules[] = {"6", "12", "26", "6", "12", "26"};
    for (int f = 0; f < PLUGMC_COUNT(formats); f++) {
        bench b;
        test_orbitals t;
        char path[64], settings[160];
        write_example(formats[f], path);
        polarised_ion(&b, &t, 1);
        snprintf(settings, sizeof settings, "pseudopotentials=%s; quadrature=%s; tolerance=1e-9",
                 path, rules[f]);
        test_observable o = new_observable(&b, settings);
        for (uint32_t i = 0; i < 50; i++) {
            double x[3], values[QUANTITIES], square = 0, along = 1;
            for (uint32_t d = 0; d < 3; d++) {
                const double from = 2.4 * random_number(8, 3 * i + d) - 1.2;
                x[d] = t.ion[0][d] + from;
                square += from * from;
                along += t.k[0][d] * from;
            }
            measure(&b, &o, x, i, values);
            const double r = sqrt(square);
            assert_close(values[LOCAL], example_local(r) / r, 1e-6, 1e-6);
            assert_close(values[NONLOCAL], example_channel(r) / along, 1e-5, 1e-5);
        }
        remove(path);
        end(&b);
    }
}

/* D beta(r)/r <beta | Psi>_s / Psi, the integral done here by the trapezoidal rule: by projections
 * of the orbital, and by quadrature where there is a Jastrow factor (one that is 1 everywhere). */
static void separable_pseudopotentials_project_on_their_functions(void **state)
{
    (void)state;
    for (int jastrow = 0; jastrow < 2; jastrow++) {
        bench b;
        test_orbitals t;
        char path[64], settings[160];
        double overlap = 0, integral = 0;
        for (int i = 1; i < 10000; i++) {
            const double r = i * 1e-3, chi = r * exp(-r), beta = example_channel(r) * chi;
            overlap += 1e-3 * beta * chi;
            integral += 1e-3 * beta * r * exp(-0.5 * r * r);
        }
        write_example("upf", path);
        polarised_ion(&b, &t, 1);
        if (jastrow) quantum_term(&b, "jastrow", "like=0 0; like_cusp=0; u_cutoff=3", 1);
        snprintf(settings, sizeof settings,
                 "pseudopotentials=%s; nonlocal=separable; radial_points=16", path);
        test_observable o = new_observable(&b, settings);
        for (uint32_t i = 0; i < 50; i++) {
            double x[3], values[QUANTITIES], square = 0, along = 1;
            for (uint32_t d = 0; d < 3; d++) {
                const double from = 2 * random_number(8, 3 * i + d) - 1;
                x[d] = t.ion[0][d] + from;
                square += from * from;
                along += t.k[0][d] * from;
            }
            measure(&b, &o, x, i, values);
            const double r = sqrt(square), psi = along * exp(-0.5 * square);
            assert_close(values[NONLOCAL], example_channel(r) * exp(-r) / overlap * integral / psi,
                         2e-5, 2e-5);
        }
        remove(path);
        end(&b);
    }
}

/* Silicon's projectors become the channels they were made from: beta over chi of three points of
 * the file, in Hartree, and its local potential there. */
static void channels_of_a_real_file_are_those_of_its_projectors(void **state)
{
    static const double points[][4] = {
        {0.194162987747, 14.275437541778071, 7.529162230581736, -8.97362904465},
        {0.5277897213519999, 9.276270942758615, 5.383895796474839, -7.42924232865},
        {0.87017814005, 3.877330025622214, 2.7169834514658917, -5.33349430385}};
    (void)state;
    bench b;
    test_orbitals t;
    polarised_ion(&b, &t, 1);
    t.atomic_number[0] = 14;
    test_observable o = new_observable(&b, "pseudopotentials=" TEST_DATA "/qmc/Si.pz-vbc.UPF");
    for (int k = 0; k < 3; k++) {
        const double r = points[k][0], *at = t.ion[0], along = t.k[0][0] * r;
        double x[3] = {at[0] + r, at[1], at[2]}, values[QUANTITIES];
        measure(&b, &o, x, 0, values);
        assert_close(values[LOCAL], points[k][3], 1e-9, 0);
        assert_close(values[NONLOCAL], (points[k][1] + along * points[k][2]) / (1 + along), 1e-9,
                     0);
    }
    end(&b);
}

/* The one-body energies of orbitals from a file are in its header, Hartree of 8 primitive cells;
 * the orbitals are B-splines of the real thing. |z| <= 4 of three, twice: false alarms below 4e-4.
 */
static void silicon_has_the_energies_of_its_header(void **state)
{
    (void)state;
    static const char *const forms[] = {"separable", "semilocal"};
    static const double header[] = {3.2988434, -2.6516087, 1.7265721, -8.3980092};
    for (int form = 0; form < 2; form++) {
        bench b;
        const double length[3] = {14, 14, 14}, a = 10.263,
                     vector[3][3] = {{-a, 0, a}, {0, a, a}, {-a, a, 0}};
        char settings[160];
        quantum_begin(&b, length, 16, 23);
        box_of_vectors(&b, vector, 1);
        bench_species(&b, "up", 32, 0, -1);
        bench_species(&b, "down", 32, 0, -1);
        plugmc_term *term =
            quantum_term(&b, "bspline_orbitals", "file=" TEST_DATA "/qmc/si-2x2x2.bwfn.data.b1", 1);
        bench_expect(&b, term->plugin->prepare(term->instance, &b.host));
        assert_int_equal(b.warnings, 0); /* though it calls the pseudopotential "unknown" */
        test_mover mover = mover_new(&b, "quasi_simultaneous", "step=0.9");
        snprintf(settings, sizeof settings,
                 "pseudopotentials=" TEST_DATA "/qmc/Si.pz-vbc.UPF; nonlocal=%s", forms[form]);
        test_observable o = new_observable(&b, settings);
        average e = sample(&b, &mover, &o, 20, 4);
        assert_z("kinetic", e.mean[KINETIC] / 8, e.error[KINETIC] / 8, header[0], 4);
        assert_z("local", e.mean[LOCAL] / 8, e.error[LOCAL] / 8, header[1], 4);
        assert_z(forms[form], e.mean[NONLOCAL] / 8, e.error[NONLOCAL] / 8, header[2], 4);
        assert_close(e.mean[IONS] / 8, header[3], 0, 1e-7);
        assert_true(e.error[NONLOCAL] / 8 < 0.15);
        plugmc_quantity q = {.size = sizeof q};
        const plugmc_observable *calls = o.plugin->observable;
        assert_true(calls->derived(o.instance, 4, &q) && !strcmp(q.name, "ion_ion_less_file"));
        double derived[5];
        assert_int_equal(calls->derive(o.instance, e.mean, derived), 0);
        assert_close(derived[1], e.mean[KINETIC] - 8 * header[0], 0, 1e-6);
        if (term->plugin->release) term->plugin->release(term->instance);
        end(&b);
    }
}

static void damaged_pseudopotentials_are_refused(void **state)
{
    (void)state;
    static const char *const formats[] = {"casino", "qmcpack", "upf"};
    int refused = 0;
    for (int f = 0; f < 3; f++) {
        char path[64], settings[160];
        write_example(formats[f], path);
        FILE *in = fopen(path, "r");
        fseek(in, 0, SEEK_END);
        const long size = ftell(in);
        char *text = malloc((size_t)size), *copy = malloc((size_t)size);
        rewind(in);
        assert_int_equal(fread(text, 1, (size_t)size, in), size);
        fclose(in);
        for (uint32_t damage = 0; damage < 20; damage++) {
            bench b;
            test_orbitals t;
            test_observable o;
            long length = size;
            memcpy(copy, text, (size_t)size);
            if (damage < 8) {
                length = (long)((damage + 1) / 9.0 * (double)size);
            } else {
                const long at = (long)(random_number(damage, 1) * (double)size);
                for (long k = at; k < size && k < at + 40; k++) copy[k] = "x-Q\0"[damage % 4];
            }
            FILE *out = fopen(path, "w");
            fwrite(copy, 1, (size_t)length, out);
            fclose(out);
            polarised_ion(&b, &t, 1);
            snprintf(settings, sizeof settings, "pseudopotentials=%s", path);
            const int code = try_observable(&b, &o, settings);
            if (code && !strstr(b.message, "pseudopotential '")) fail_msg("%s", b.message);
            refused += code == PLUGMC_ERROR_INPUT;
            assert_true(code == PLUGMC_OK || code == PLUGMC_ERROR_INPUT);
            if (damage < 8) assert_int_equal(code, PLUGMC_ERROR_INPUT);
            end(&b);
        }
        free(text), free(copy);
        remove(path);
    }
    printf("%d of 60 refused\n", refused);
    assert_true(refused >= 55);
}

/* Replaces `from` in the example by `to`, and reads it. */
static int read_edited(bench *b, const char *format, const char *from, const char *to)
{
    char path[64], settings[160], *at;
    static char text[400000], edited[500000];
    write_example(format, path);
    FILE *f = fopen(path, "r+");
    const size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = 0;
    at = strstr(text, from);
    assert_non_null(at);
    const int length =
        snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    rewind(f);
    assert_int_equal(fwrite(edited, 1, (size_t)length, f), length);
    assert_int_equal(ftruncate(fileno(f), length), 0);
    fclose(f);
    test_orbitals t;
    test_observable o;
    polarised_ion(b, &t, 1);
    snprintf(settings, sizeof settings, "pseudopotentials=%s", path);
    const int code = try_observable(b, &o, settings);
    remove(path);
    return code;
}

/* What generators of pseudopotentials leave in a UPF file is no XML. */
static void input_in_upf_files_is_passed_over(void **state)
{
    (void)state;
    bench b;
    assert_int_equal(read_edited(&b, "upf", "<PP_HEADER",
                                 "<PP_INFO>\na < b & c\n<PP_INPUTFILE>\n &input\n  title='Li',\n"
                                 "  zed=3., <x\n /\n</PP_INPUTFILE>\n</PP_INFO>\n<PP_HEADER"),
                     PLUGMC_OK);
    end(&b);
    assert_int_equal(read_edited(&b, "upf", "<PP_HEADER",
                                 "<PP_INPUTFILE>\n&input <PP_R> 1 2 3 4 </PP_R>\n"
                                 "</PP_INPUTFILE><PP_HEADER"),
                     PLUGMC_OK);
    end(&b);
    /* Lines are those of the file. */
    assert_int_equal(
        read_edited(&b, "upf", "<PP_HEADER", "<PP_INFO>\n&\n&\n</PP_INFO>\n</PP_WRONG><PP_HEADER"),
        PLUGMC_ERROR_INPUT);
    assert_non_null(strstr(b.message, "line 6: is not XML as it should be: mismatched tag"));
    end(&b);
}

static void xml_that_grows_is_refused(void **state)
{
    (void)state;
    bench b;
    static char many[120000];
    assert_int_equal(read_edited(&b, "qmcpack", "<pseudo",
                                 "<!DOCTYPE pseudo [<!ENTITY a \"aaaaaaaaaa\">"
                                 "<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>\n<pseudo"),
                     PLUGMC_ERROR_INPUT);
    assert_non_null(strstr(b.message, "it declares an entity"));
    end(&b);
    many[0] = 0;
    for (int i = 0; i < 40; i++) strcat(many, "<deep>");
    strcat(many, "<header");
    assert_int_equal(read_edited(&b, "qmcpack", "<header", many), PLUGMC_ERROR_INPUT);
    assert_non_null(strstr(b.message, "more elements than such a file can have"));
    end(&b);
    for (size_t i = 0; i < sizeof many - 12; i += 4) memcpy(many + i, "<a/>", 5);
    strcpy(many + sizeof many - 12, "<header");
    assert_int_equal(read_edited(&b, "qmcpack", "<header", many), PLUGMC_ERROR_INPUT);
    assert_non_null(strstr(b.message, "more elements than such a file can have"));
    end(&b);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void ions_without_their_pseudopotential_are_refused(void **state)
{
    (void)state;
    bench b;
    test_orbitals t;
    test_observable o;
    char path[64], settings[160];
    polarised_ion(&b, &t, 1);
    t.valence[0] = 1;
    assert_int_equal(try_observable(&b, &o, ""), PLUGMC_ERROR_INPUT);
    assert_non_null(strstr(b.message, "ion 1 (atomic number 3) has 1 valence electrons"));
    t.valence[0] = 2;
    write_example("casino", path);
    snprintf(settings, sizeof settings, "pseudopotentials=%s", path);
    assert_int_equal(try_observable(&b, &o, settings), PLUGMC_ERROR_INPUT);
    assert_non_null(
        strstr(b.message, "has 2 valence electrons in the file of its orbitals, but 1 in"));
    snprintf(settings, sizeof settings, "pseudopotentials=%s %s", path, path);
    assert_int_equal(try_observable(&b, &o, settings), PLUGMC_ERROR_INPUT);
    assert_non_null(strstr(b.message, "both have atomic number 3"));
    snprintf(settings, sizeof settings, "pseudopotentials=%s; nonlocal=separable", path);
    assert_int_equal(try_observable(&b, &o, settings), PLUGMC_ERROR_INPUT);
    assert_non_null(strstr(b.message, "has no projectors"));
    remove(path);
    end(&b);
    electron_gas(&b, &t, PLANE_WAVES, 1, 1, 0);
    t.ion_count = 1;
    t.atomic_number[0] = 18;
    assert_int_equal(try_observable(&b, &o, ""), PLUGMC_ERROR_INPUT);
    assert_non_null(strstr(b.message,
                           "the ions have a charge of 18, but there are 14 electrons; no "
                           "pseudopotentials are given"));
    end(&b);
}

TEST_MAIN(cmocka_unit_test(hydrogen_has_no_variance),
          cmocka_unit_test(helium_has_the_energy_of_its_variational_charge),
          cmocka_unit_test(the_gas_of_14_electrons_has_its_exact_energy),
          cmocka_unit_test(a_jastrow_factor_lowers_energy_and_variance),
          cmocka_unit_test(simultaneous_acceptance_has_its_known_bias),
          cmocka_unit_test(kinetic_energies_equal_differences),
          cmocka_unit_test(a_lone_electron_feels_its_images),
          cmocka_unit_test(electrons_and_ions_in_rock_salt_have_its_lattice_energy),
          cmocka_unit_test(pseudopotentials_of_all_formats_act_as_they_should),
          cmocka_unit_test(separable_pseudopotentials_project_on_their_functions),
          cmocka_unit_test(channels_of_a_real_file_are_those_of_its_projectors),
          cmocka_unit_test(silicon_has_the_energies_of_its_header),
          cmocka_unit_test(damaged_pseudopotentials_are_refused),
          cmocka_unit_test(input_in_upf_files_is_passed_over),
          cmocka_unit_test(xml_that_grows_is_refused),
          cmocka_unit_test(ions_without_their_pseudopotential_are_refused))
