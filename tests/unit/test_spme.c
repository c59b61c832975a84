/* coulomb_spme on the CPU: crystals, water, its own derivatives, a plain Ewald sum, the tolerance
 * that is asked for, and what is said about input that cannot be used. */
#include "testing.h"

#include "spme_system.h"

#include "gpu/toolkit.h"

/* e^2 / (4 pi eps0 k_B) in K Angstrom, CODATA 2018. */
#define COULOMB_CONSTANT                                                                           \
    (1.602176634e-19 * 1.602176634e-19 / (4 * M_PI * 8.8541878128e-12 * 1.380649e-23) * 1e10)

static double energy_of(spme_system *s)
{
    double energy = 0;
    assert_int_equal(mesh_of(s, s->charges.positions, &energy, NULL, NULL), PLUGMC_OK);
    return energy;
}

static char *settings_of(char text[512], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static char *settings_of(char text[512], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, 512, format, arguments);
    va_end(arguments);
    return text;
}

/* ---- Known energies ---------------------------------------------------------------------- */

/* Energy a formula unit of a crystal, which is moved so that no ion is on a point of the grid. */
static double lattice_energy(charges c, const double (*basis)[3], int sites, int cells, double edge,
                             int formula_units)
{
    spme_system s;
    fill_crystal(&c, basis, sites, cells, edge);
    for (int64_t k = 0; k < 3 * charge_count(&c); k++)
        c.positions[k] += 0.1234 + 0.0717 * (double)(k % 3);
    spme_new(&s, c, "bjerrum_length = 1\ncutoff = 3.9\ntolerance = 1e-7\norder = 8\n");
    double energy = energy_of(&s) + pairs_of(&s, c.positions, NULL, NULL);
    spme_end(&s);
    return energy / formula_units;
}

static void crystals_have_their_madelung_constants(void **state)
{
    (void)state;
    static const double salt[8][3] = {{0, 0, 0},  {.5, .5, 0}, {.5, 0, .5}, {0, .5, .5},
                                      {.5, 0, 0}, {0, .5, 0},  {0, 0, .5},  {.5, .5, .5}};
    static const double cesium[2][3] = {{0, 0, 0}, {.5, .5, .5}};
    static const double fluorite[12][3] = {{0, 0, 0},       {.5, .5, 0},     {.5, 0, .5},
                                           {0, .5, .5},     {.25, .25, .25}, {.75, .75, .25},
                                           {.75, .25, .75}, {.25, .75, .75}, {.75, .75, .75},
                                           {.25, .25, .75}, {.25, .75, .25}, {.75, .25, .25}};
    const double cubic = 2 / sqrt(3), diamond = 4 / sqrt(3);
    const double a[3] = {8, 8, 8}, b[3] = {8 * cubic, 8 * cubic, 8 * cubic},
                 d[3] = {4 * diamond, 4 * diamond, 4 * diamond};
    assert_close(lattice_energy(new_charges(a, 1, 256, 1, 256, -1, 0, 0), salt, 8, 4, 2, 256),
                 -1.747564594633, 1e-6, 0);
    assert_close(lattice_energy(new_charges(b, 1, 512, 1, 512, -1, 0, 0), cesium, 2, 8, cubic, 512),
                 -1.762674773071, 1e-6, 0);
    assert_close(
        lattice_energy(new_charges(d, 1, 256, 1, 256, -1, 0, 0), fluorite, 8, 4, diamond, 256),
        -1.638055053389, 1e-6, 0);
    assert_close(
        lattice_energy(new_charges(d, 1, 256, 2, 512, -1, 0, 0), fluorite, 12, 4, diamond, 256),
        -5.038784879849, 1e-6, 0);
}

static void a_lone_charge_has_the_energy_of_its_lattice_in_a_background(void **state)
{
    (void)state;
    spme_system s;
    charges c = new_charges((double[3]){5, 5, 5}, 1, 1, -2, 0, 0, 0, 0);
    for (int d = 0; d < 3; d++) c.positions[d] = 0.37 + d;
    spme_begin(&s, c, NULL, 1);
    messages m;
    messages_begin(&m);
    int code = spme_try(&s, "bjerrum_length = 3\ncutoff = 2.5\ntolerance = 1e-9\norder = 8\n");
    const char *said = messages_end(&m);
    assert_int_equal(code, PLUGMC_OK);
    assert_says(said,
                "the box has a charge of -2: a uniform background neutralises it, with the energy "
                "-pi l_B charge^2 / (2 alpha^2 V)");
    assert_close(energy_of(&s), -3 * 4 * 2.837297479481 / (2 * 5), 1e-7, 0);
    spme_end(&s);
}

/* Components as the site gives them; the Fourier part against the sum over all waves. */
static void water_has_the_energies_of_nist(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        double real, fourier, self, intra;
    } expected[] = {{"spce-1.xyz", -5.58889e5, 6277.98288, -2.84469e6, 2.80999e6},
                    {"spce-2.xyz", -1.19295e6, 6050.01595, -5.68938e6, 5.61998e6}};
    for (int k = 0; k < 2; k++) {
        char text[512];
        spme_system with, without;
        settings_of(text,
                    "bjerrum_length = %.15g\ncutoff = 10\nalpha = 0.28\ngrid = 48\norder = 8\n",
                    COULOMB_CONSTANT);
        spme_new(&without, water(expected[k].file), text);
        strcat(text, "molecule = 1 2\n");
        spme_new(&with, water(expected[k].file), text);
        const double self = COULOMB_CONSTANT * ewald_constant(&with.charges, 0.28);
        const double pairs = pairs_of(&with, with.charges.positions, NULL, NULL);
        const double mesh = energy_of(&without), excluded = energy_of(&with) - mesh;
        printf("%s: self %.6g, Fourier %.9g, real and intra %.6g\n", expected[k].file, self,
               mesh - self, pairs + excluded);
        assert_close(self, expected[k].self, 2e-6, 0);
        assert_close(mesh - self, expected[k].fourier, 2e-7, 0);
        assert_close(pairs + excluded, expected[k].real + expected[k].intra, 0, 10);
        spme_end(&with);
        spme_end(&without);
    }
}

/* ---- Pairs ------------------------------------------------------------------------------- */

/* erfc to rounding in double, to 5e-7 in float; and the derivatives. */
static void pairs_are_screened_by_erfc(void **state)
{
    (void)state;
    spme_system s;
    const double alpha = 0.5, box = 30;
    spme_new(&s, new_charges((double[3]){box, box, box}, 1, 1, 2, 1, -1, 0, 0),
             "bjerrum_length = 3\ncutoff = 12\nalpha = 0.5\ngrid = 32\ntolerance = 0.1\n");
    const plugmc_pair *single = s.plugin->single->potential->pair;
    assert_true(s.pair->range(s.instance) == 12);
    for (double r = 0.01; r < 13; r *= 1.07) {
        const double x[1] = {1 + r}, zero[1] = {1}, charge[1] = {-1}, diameter[1] = {0};
        const float fx[1] = {(float)(1 + r)}, fzero[1] = {1}, fcharge[1] = {-1}, fdiameter[1] = {0};
        const int32_t species[1] = {1};
        const plugmc_particles other = {1, x, zero, zero, charge, diameter, species};
        const plugmc_particles float_other = {1, fx, fzero, fzero, fcharge, fdiameter, species};
        const plugmc_particle probe = {1, 1, 1, 2, 0, 0};
        const double away = x[0] - 1, float_away = (double)(fx[0] - 1.0f), inside = away < 12;
        const double gauss = M_2_SQRTPI * alpha * exp(-pow(alpha * away, 2));
        double energy = 0, float_energy = 0;
        plugmc_derivatives slopes = {0};
        s.pair->energy(s.instance, &s.system.box, 1, &probe, &other, &energy);
        single->energy(s.single, &s.system.box, 1, &probe, &float_other, &float_energy);
        s.pair->derivatives(s.instance, &s.system.box, 1, 1, &probe, &other, &slopes);
        const double u = -6 * inside * erfc(alpha * away) / away, g = -6 * inside * gauss;
        assert_close(energy, u, 4e-15, 0);
        assert_close(float_energy, -6 * inside * erfc(alpha * float_away) / float_away, 3e-6, 6e-7);
        assert_close(slopes.energy, u, 4e-15, 0);
        assert_close(slopes.gradient[0], (u + g / 1) / away, 6e-15, 0); /* -u' along -x */
        assert_close(slopes.virial[0], u + g, 6e-15, 0);
        assert_close(slopes.laplacian, 2 * alpha * alpha * g, 1e-12,
                     3e-14 * fabs(u) / (away * away));
    }
    spme_end(&s);
}

/* ---- Derivatives ------------------------------------------------------------------------- */

/* (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / 12 h */
static double slope_of(const double f[4], double h)
{
    return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h);
}
static const double steps[4] = {-2, -1, 1, 2};

static charges small_electrolyte(void)
{
    charges c = new_charges((double[3]){9, 10, 12}, 1, 30, 1, 14, -2, 0, 0);
    scatter(&c, 0.8, 12345);
    return c;
}

static const char *const ways[] = {
    "order = 4\n", "order = 5\n", "order = 6\ninfluence = optimal\n",
    "order = 7\n", "order = 8\n", "order = 5\ninfluence = optimal\n"};

static void forces_are_the_gradient_of_the_energy(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        char text[512];
        spme_system s;
        spme_new(&s, small_electrolyte(),
                 settings_of(text,
                             "bjerrum_length = 2\ncutoff = 4.5\nalpha = 0.7\ngrid = 15 16 20\n"
                             "tolerance = 0.1\nmolecule = 15 7\n%s",
                             ways[k]));
        double *forces = new_forces(&s.charges), *r = s.charges.positions, worst = 0;
        mesh_of(&s, r, NULL, forces, NULL);
        pairs_of(&s, r, forces, NULL);
        const double scale = rms(forces, NULL, charge_count(&s.charges));
        for (int64_t i = 0; i < 3 * charge_count(&s.charges); i += 7) {
            const double at = r[i], h = 2e-4;
            double energy[4];
            for (int j = 0; j < 4; j++) {
                r[i] = at + h * steps[j];
                energy[j] = energy_of(&s) + pairs_of(&s, r, NULL, NULL);
            }
            r[i] = at;
            worst = fmax(worst, fabs(forces[i] + slope_of(energy, h)) / scale);
        }
        printf("%.9s: largest difference %.1e of the rms force\n", ways[k], worst);
        assert_true(worst < 1e-8);
        free(forces);
        spme_end(&s);
    }
}

/* The same box and positions stretched along one axis. */
static double stretched(int axis, double factor, const char *settings)
{
    spme_system s;
    charges c = small_electrolyte();
    for (int64_t i = 0; i < charge_count(&c); i++) c.positions[3 * i + axis] *= factor;
    c.length[axis] *= factor;
    spme_new(&s, c, settings);
    double energy = energy_of(&s);
    spme_end(&s);
    return energy;
}

static void the_virial_is_the_derivative_by_strain(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        char text[512];
        spme_system s;
        settings_of(text,
                    "bjerrum_length = 2\ncutoff = 4\nalpha = 0.7\ngrid = 15 16 20\n"
                    "tolerance = 0.1\nmolecule = 15 0\n%s",
                    ways[k]);
        spme_new(&s, small_electrolyte(), text);
        double virial[3] = {0}, energy[4];
        mesh_of(&s, s.charges.positions, NULL, NULL, virial);
        for (int d = 0; d < 3; d++) {
            for (int j = 0; j < 4; j++) energy[j] = stretched(d, 1 + 1e-4 * steps[j], text);
            assert_close(virial[d], -slope_of(energy, 1e-4), 1e-8, 1e-8);
        }
        spme_end(&s);
    }
}

/* ---- Errors of the method ---------------------------------------------------------------- */

/* A melt like that of the table of reference values (NaCl, 894 ions in 30.06^3; rms errors over rms
 * forces, alpha = 0.3289): another configuration, so the same within a factor 2. */
static void errors_fall_with_order_and_grid(void **state)
{
    (void)state;
    static const int orders[4] = {4, 5, 6, 8};
    static const struct {
        double spacing; /* alpha h */
        double error[4];
    } expected[] = {{0.309, {7.5e-4, 1.5e-4, 4.0e-5, 3.6e-6}},
                    {0.206, {1.7e-4, 1.9e-5, 3.2e-6, 9.6e-8}},
                    {0.155, {5.7e-5, 4.5e-6, 5.9e-7, 9.0e-9}},
                    {0.103, {1.5e-5, 7.3e-7, 6.4e-8, 4.0e-10}}};
    const double alpha = 0.3289;
    charges c = melt(447, 3);
    const int64_t n = charge_count(&c);
    double *all = new_forces(&c), *waves = new_forces(&c), *forces = new_forces(&c);
    ewald(&c, c.positions, all);
    ewald_waves(&c, c.positions, alpha, waves, NULL);
    for (int k = 0; k < 4; k++)
        for (int o = 0; o < 4; o++) {
            char text[512];
            spme_system s;
            const int grid = (int)rint(alpha * c.length[0] / expected[k].spacing);
            charges copy = c;
            copy.positions = new_forces(&c);
            memcpy(copy.positions, c.positions, 3 * (size_t)n * sizeof(double));
            spme_new(&s, copy,
                     settings_of(text,
                                 "bjerrum_length = 1\ncutoff = 10\nalpha = %.17g\n"
                                 "grid = %d\norder = %d\ntolerance = 0.1\n",
                                 alpha, grid, orders[o]));
            memset(forces, 0, 3 * (size_t)n * sizeof *forces);
            mesh_of(&s, copy.positions, NULL, forces, NULL);
            const double error = rms(forces, waves, n) / rms(all, NULL, n);
            printf("alpha h = %.3f, order %d: %.1e, reference %.1e\n", expected[k].spacing,
                   orders[o], error, expected[k].error[o]);
            assert_in_range((int)(1000 * error / expected[k].error[o]), 500, 2000);
            spme_end(&s);
        }
    free(c.positions);
    free(all);
    free(waves);
    free(forces);
}

static void optimal_influence_lowers_the_error(void **state)
{
    (void)state;
    const char *const settings =
        "bjerrum_length = 1\ncutoff = 6\nalpha = 0.5\ngrid = 24\ntolerance = 0.1\n"
        "order = 4\n";
    double error[2];
    for (int k = 0; k < 2; k++) {
        char text[512];
        spme_system s;
        charges c = new_charges((double[3]){20, 20, 20}, 1, 300, 1, 300, -1, 0, 0);
        scatter(&c, 0, 4);
        spme_new(&s, c, settings_of(text, "%sinfluence = %s\n", settings, k ? "optimal" : "spme"));
        double *waves = new_forces(&c), *forces = new_forces(&c);
        ewald_waves(&c, c.positions, 0.5, waves, NULL);
        mesh_of(&s, c.positions, NULL, forces, NULL);
        error[k] = rms(forces, waves, charge_count(&c));
        free(waves);
        free(forces);
        spme_end(&s);
    }
    printf("rms error %.3e, optimal %.3e\n", error[0], error[1]);
    assert_true(error[1] < error[0]);
}

/* Rms error of all forces, pairs and mesh, in the unit of `tolerance`. */
static double relative_error(charges c, const double *exact, const char *settings)
{
    spme_system s;
    const int64_t n = charge_count(&c);
    double *forces = new_forces(&c), square = 0, charged = 0;
    spme_new(&s, c, settings);
    mesh_of(&s, c.positions, NULL, forces, NULL);
    pairs_of(&s, c.positions, forces, NULL);
    for (int64_t i = 0; i < n; i++) {
        square += pow(charge_of(&c, i), 2);
        charged += charge_of(&c, i) != 0;
    }
    const double unit =
        square / charged * pow(charged / (c.length[0] * c.length[1] * c.length[2]), 2.0 / 3);
    const double error = rms(forces, exact, n) * sqrt((double)n / charged) / unit;
    free(forces);
    s.charges.positions = NULL;
    spme_end(&s);
    return error;
}

/* Within a factor 2, whatever the system. */
static void the_error_got_is_the_tolerance_asked_for(void **state)
{
    (void)state;
    charges systems[5] = {new_charges((double[3]){20, 20, 20}, 1, 400, 1, 400, -1, 0, 0),
                          melt(300, 5), water("spce-1.xyz"),
                          new_charges((double[3]){22, 22, 22}, 1, 100, 2, 200, -1, 100, 0),
                          new_charges((double[3]){16, 20, 33}, 1, 150, 1, 50, -3, 0, 0)};
    static const char *const names[5] = {"ions anywhere", "salt melt", "water",
                                         "2:1 salt in a solvent", "3:1 salt in a long box"};
    static const double cutoff[5] = {6, 8, 9, 8, 7.5};
    scatter(&systems[0], 0, 3);
    scatter(&systems[3], 2, 9);
    scatter(&systems[4], 1.5, 11);
    for (int k = 0; k < 5; k++) {
        double *exact = new_forces(&systems[k]);
        ewald(&systems[k], systems[k].positions, exact);
        for (int order = 4; order <= 6; order++)
            for (double tolerance = 1e-3; tolerance > 5e-6; tolerance /= 10) {
                char text[512];
                settings_of(text, "bjerrum_length = 1\ncutoff = %g\norder = %d\ntolerance = %g\n",
                            cutoff[k], order, tolerance);
                const double got = relative_error(systems[k], exact, text) / tolerance;
                printf("%s, order %d, tolerance %.0e: got %.2f of it\n", names[k], order, tolerance,
                       got);
                assert_true(got > 0.5 && got < 2);
            }
        free(exact);
        free(systems[k].positions);
    }
}

/* ---- The same for any number of threads -------------------------------------------------- */

static void results(int threads, int walkers, double *out)
{
    spme_system s;
    charges c = new_charges((double[3]){12, 13, 14}, walkers, 200, 1, 100, -2, 0, 0);
    scatter(&c, 0, 77);
    spme_begin(&s, c, NULL, threads);
    assert_int_equal(
        spme_try(&s, "bjerrum_length = 2\ncutoff = 5\nbalance_forces = yes\nmolecule = 2 1\n"), 0);
    memset(out, 0, (size_t)walkers * (4 + 900) * sizeof *out);
    assert_int_equal(mesh_of(&s, c.positions, out, out + 4 * walkers, out + walkers), PLUGMC_OK);
    double again = 0, first = out[0];
    if (walkers == 1) { /* and alone, without forces */
        mesh_of(&s, c.positions, &again, NULL, NULL);
        assert_true(memcmp(&again, &first, sizeof again) == 0);
    }
    spme_end(&s);
}

static void results_do_not_depend_on_threads(void **state)
{
    (void)state;
    for (int walkers = 1; walkers <= 4; walkers += 3) {
        const size_t bytes = (size_t)walkers * (4 + 900) * sizeof(double);
        double *one = malloc(bytes), *other = malloc(bytes);
        results(1, walkers, one);
        for (int threads = 1; threads <= 3; threads++) {
            results(threads, walkers, other);
            assert_memory_equal(one, other, bytes);
        }
        free(one);
        free(other);
    }
}

static void walkers_do_not_see_each_other(void **state)
{
    (void)state;
    enum { N = 300, W = 3 };
    const char *const settings = "bjerrum_length = 2\ncutoff = 5\n";
    spme_system all;
    charges c = new_charges((double[3]){12, 13, 14}, W, 200, 1, 100, -2, 0, 0);
    scatter(&c, 0, 78);
    spme_new(&all, c, settings);
    double energy[W] = {0}, *forces = new_forces(&c);
    mesh_of(&all, c.positions, energy, forces, NULL);
    for (int w = 0; w < W; w++) {
        spme_system one;
        charges alone = new_charges(c.length, 1, 200, 1, 100, -2, 0, 0);
        memcpy(alone.positions, c.positions + 3 * N * w, 3 * N * sizeof(double));
        spme_new(&one, alone, settings);
        double own = 0, *own_forces = new_forces(&alone);
        mesh_of(&one, alone.positions, &own, own_forces, NULL);
        assert_true(own == energy[w]);
        assert_memory_equal(own_forces, forces + 3 * N * w, 3 * N * sizeof(double));
        free(own_forces);
        spme_end(&one);
    }
    free(forces);
    spme_end(&all);
}

static void results_are_added_to_what_is_there(void **state)
{
    (void)state;
    spme_system s;
    spme_new(&s, small_electrolyte(), "bjerrum_length = 2\ncutoff = 4.5\n");
    double energy[2] = {0, 10}, virial[2][3] = {{0}, {5, 5, 5}};
    for (int k = 0; k < 2; k++) mesh_of(&s, s.charges.positions, &energy[k], NULL, virial[k]);
    assert_close(energy[1], energy[0] + 10, 1e-15, 0);
    for (int d = 0; d < 3; d++) assert_close(virial[1][d], virial[0][d] + 5, 1e-14, 0);
    spme_end(&s);
}

static void balanced_forces_add_up_to_nothing(void **state)
{
    (void)state;
    double net[2][3] = {{0}}, *forces[2], shift = 0;
    for (int k = 0; k < 2; k++) {
        char text[512];
        spme_system s;
        charges c = small_electrolyte();
        spme_new(&s, c,
                 settings_of(text,
                             "bjerrum_length = 2\ncutoff = 4.5\norder = 4\nbalance_forces = %s\n",
                             k ? "yes" : "no"));
        forces[k] = new_forces(&c);
        mesh_of(&s, c.positions, NULL, forces[k], NULL);
        for (int64_t i = 0; i < 3 * charge_count(&c); i++) net[k][i % 3] += forces[k][i];
        spme_end(&s);
    }
    const int64_t n = 44;
    for (int d = 0; d < 3; d++) {
        assert_true(fabs(net[0][d]) > 1e-9); /* there is something to take off */
        assert_close(net[1][d], 0, 0, 1e-13);
        for (int64_t i = 0; i < n; i++) {
            shift = forces[0][3 * i + d] - forces[1][3 * i + d];
            assert_close(shift, net[0][d] / n, 0, 1e-14);
        }
    }
    free(forces[0]);
    free(forces[1]);
}

/* ---- Exclusions -------------------------------------------------------------------------- */

static const char *written(const char *name, const char *text)
{
    static char path[256];
    snprintf(path, sizeof path, "/tmp/plugmc-spme-%d-%s", (int)getpid(), name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static charges six_charges(void)
{
    charges c = new_charges((double[3]){10, 10, 10}, 1, 2, -0.8, 4, 0.4, 0, 0);
    scatter(&c, 1.5, 21);
    return c;
}

/* Mesh and pairs less the interaction of the pairs that are named, by the plain sum. */
static void excluded_pairs_do_not_interact(void **state)
{
    (void)state;
    static const struct {
        const char *key, *text;
        int pairs, pair[6][2];
    } cases[] = {
        {"molecule = 1 2\n", NULL, 6, {{0, 2}, {0, 3}, {2, 3}, {1, 4}, {1, 5}, {4, 5}}},
        {"molecules", "7 # the first\n7\n\n-1\n-1\n3\n3\n", 2, {{0, 1}, {4, 5}}},
        {"exclusions", "# bonds\n0 5\n5 0\n1 2 # twice is once\n", 2, {{0, 5}, {1, 2}}},
    };
    for (int k = 0; k < 3; k++)
        for (double cutoff = 1.2; cutoff < 5;
             cutoff += 3.7) { /* excluded pairs beyond, and within */
            char text[512];
            spme_system s;
            charges c = six_charges();
            const char *path = cases[k].text ? written(cases[k].key, cases[k].text) : NULL;
            settings_of(text,
                        "bjerrum_length = 3\ncutoff = %g\nalpha = %g\ngrid = 60\norder = 8\n"
                        "tolerance = 0.1\n%s%s%s\n",
                        cutoff, 5.5 / cutoff / (cutoff < 2 ? 1.6 : 1), cases[k].key,
                        path ? " = " : "", path ? path : "");
            spme_new(&s, c, text);
            double expected = 3 * ewald(&c, c.positions, NULL);
            for (int p = 0; p < cases[k].pairs; p++) {
                const int i = cases[k].pair[p][0], j = cases[k].pair[p][1];
                double r2 = 0;
                for (int d = 0; d < 3; d++) {
                    double x = c.positions[3 * i + d] - c.positions[3 * j + d];
                    x -= 10 * rint(x / 10);
                    r2 += x * x;
                }
                expected -= 3 * charge_of(&c, i) * charge_of(&c, j) / sqrt(r2);
            }
            const double got = energy_of(&s) + pairs_of(&s, c.positions, NULL, NULL);
            assert_close(got, expected, cutoff < 2 ? 2e-3 : 1e-7, 0);
            if (path) unlink(path);
            spme_end(&s);
        }
}

/* ---- Input that cannot be used ----------------------------------------------------------- */

/* What is said when the potential is prepared; the code it must return. */
static void expect_refusal(void (*change)(spme_system *), const char *settings, int expected,
                           const char *words)
{
    spme_system s;
    messages m;
    spme_begin(&s, small_electrolyte(), NULL, 1);
    if (change) change(&s);
    messages_begin(&m);
    const int code = spme_try(&s, settings);
    const char *said = messages_end(&m);
    if (code != expected) fail_msg("code %d with %s: %s", code, settings, said);
    assert_says(said, words);
    spme_end(&s);
}

static void make_sphere(spme_system *s) { s->system.box.domain = PLUGMC_DOMAIN_SPHERE; }
static void make_flat(spme_system *s) { s->system.box.dimension = 2; }
static void make_oblique(spme_system *s) { s->system.box.oblique = 1; }
static void make_empty(spme_system *s) { s->system.box.length[1] = 0; }
static void make_nan(spme_system *s) { s->system.box.length[2] = NAN; }
static void make_neutral(spme_system *s)
{
    s->charges.species[0].charge = s->charges.species[1].charge = 0;
}

static void input_that_cannot_be_used_is_refused(void **state)
{
    (void)state;
    const char *const usual = "bjerrum_length = 2\ncutoff = 4\n";
    const int input = PLUGMC_ERROR_INPUT;
    char text[512], bad_pair[300], bad_word[300], few[300];
    expect_refusal(make_sphere, usual, input,
                   "needs a three-dimensional, rectangular, periodic box, but [box] is a sphere");
    expect_refusal(make_flat, usual, input, "but [box] is two-dimensional");
    expect_refusal(make_oblique, usual, input, "but [box] is oblique: use 'coulomb_ewald'");
    expect_refusal(make_empty, usual, input,
                   "the box is 0 long in y: an edge must be above 0 and finite");
    expect_refusal(make_nan, usual, input, "the box is nan long in z");
    expect_refusal(make_neutral, usual, input, "no species has a charge");
    expect_refusal(NULL, "bjerrum_length = 2\ncutoff = 4.6\n", input,
                   "cutoff = 4.6 exceeds half the shortest edge of the box, 4.5");
    expect_refusal(NULL, "bjerrum_length = 2\ncutoff = 4\ngrid = 5\norder = 6\n", input,
                   "grid = 5 is too coarse: a spline of order 6 spans 6 points");
    expect_refusal(NULL, "bjerrum_length = 2\ncutoff = 4\ngrid = 16 16\n", input,
                   "grid has 2 numbers");
    expect_refusal(NULL, "bjerrum_length = 2\ncutoff = 4\ngrid = 16 16 0\n", input,
                   "grid = 16 16 0: give all three, or none");
    expect_refusal(NULL, "bjerrum_length = 2\ncutoff = 4\ngrid = 16.5\n", input,
                   "grid = 16.5: must be a whole number");
    expect_refusal(
        NULL, "bjerrum_length = 2\ncutoff = 4\ngrid = 1200 12 12\nspreading = gather\n", input,
        "spreading = gather supports at most 1024 grid points along x, but 1200 are needed");
    expect_refusal(NULL, "bjerrum_length = 2\ncutoff = 0.01\ntolerance = 1e-12\norder = 4\n", input,
                   "needs more than 4096 grid points along an edge: increase order or cutoff");
    expect_refusal(NULL, "bjerrum_length = 2\ncutoff = 4\nmolecule = 1\n", input,
                   "molecule has 1 numbers for 2 species");
    expect_refusal(
        NULL, "bjerrum_length = 2\ncutoff = 4\nmolecule = 1 2\n", input,
        "14 particles of species 'B' do not make whole molecules with 2 of them in each");
    expect_refusal(NULL, "bjerrum_length = 2\ncutoff = 4\nmolecule = 1.5 1\n", input,
                   "molecule = 1.5: must be");
    expect_refusal(NULL, "bjerrum_length = 2\ncutoff = 4\nexclusions = /no/such/file\n", input,
                   "cannot read '/no/such/file': No such file");
    snprintf(bad_pair, sizeof bad_pair, "%s", written("pair", "0 1\n\n3 44\n"));
    expect_refusal(NULL, settings_of(text, "%sexclusions = %s\n", usual, bad_pair), input,
                   ":3: 3 and 44 are not two particles of 0 ... 43");
    snprintf(bad_word, sizeof bad_word, "%s", written("word", "0 one\n"));
    expect_refusal(NULL, settings_of(text, "%sexclusions = %s\n", usual, bad_word), input,
                   ":1: the indices of two particles are expected");
    snprintf(few, sizeof few, "%s", written("few", "1\n1\n2\n"));
    expect_refusal(NULL, settings_of(text, "%smolecules = %s\n", usual, few), input,
                   "lists 3 particles, but there are 44");
    unlink(bad_pair);
    unlink(bad_word);
    unlink(few);
}

static void settings_worse_than_the_tolerance_are_warned_of(void **state)
{
    (void)state;
    expect_refusal(NULL, "bjerrum_length = 2\ncutoff = 4\nalpha = 0.9\ngrid = 10\n", PLUGMC_OK,
                   "from the grid of 10 x 10 x 10, which exceeds tolerance = 0.0001");
}

static void a_position_that_is_none_is_named(void **state)
{
    (void)state;
    spme_system s;
    messages m;
    charges c = new_charges((double[3]){9, 9, 9}, 2, 4, 1, 4, -1, 0, 0);
    scatter(&c, 0, 2);
    c.positions[3 * (8 + 5) + 1] = NAN;
    spme_new(&s, c, "bjerrum_length = 2\ncutoff = 4\n");
    double energy[2] = {0};
    messages_begin(&m);
    const int code = mesh_of(&s, c.positions, energy, NULL, NULL);
    const char *said = messages_end(&m);
    assert_int_equal(code, PLUGMC_ERROR_STATE);
    assert_says(said, "particle 5 of walker 1 is at (");
    assert_says(said, "nan");
    assert_says(said, "which is not a valid position");
    spme_end(&s);
}

/* ---- cuFFT ------------------------------------------------------------------------------- */

/* Services of a GPU that is not there, but for a library. */
static void *offered_library;

static int no_library(plugmc_context *c, const char *stem, void **handle)
{
    (void)c;
    assert_string_equal(stem, "cufft");
    *handle = offered_library;
    return offered_library ? PLUGMC_OK : PLUGMC_ERROR_DEVICE;
}
static int no_memory(plugmc_context *c, size_t bytes, plugmc_device_pointer *out)
{
    (void)c, (void)bytes;
    *out = 4096;
    return PLUGMC_OK;
}
static int no_upload(plugmc_context *c, plugmc_device_pointer to, const void *from, size_t bytes)
{
    (void)c, (void)to, (void)from, (void)bytes;
    return PLUGMC_OK;
}
static int no_kernel(plugmc_context *c, const plugmc_gpu_source *t, const char *name,
                     plugmc_kernel **out)
{
    (void)c, (void)name;
    assert_true(t->size == sizeof *t);
    *out = NULL;
    return PLUGMC_OK;
}
static void *no_stream(plugmc_context *c)
{
    (void)c;
    return NULL;
}

static const plugmc_gpu no_gpu = {.size = sizeof no_gpu,
                                  .allocate = no_memory,
                                  .upload = no_upload,
                                  .kernel = no_kernel,
                                  .stream = no_stream,
                                  .library = no_library};

static void take_no_gpu(spme_system *s) { s->host.gpu = &no_gpu; }

static void a_cufft_that_is_missing_or_fails_is_reported(void **state)
{
    (void)state;
    char why[512];
    int version;
    const char *const usual = "bjerrum_length = 2\ncutoff = 4\ngrid = 12 14 16\n";
    spme_system s; /* the core says what is missing: here nothing is added */
    spme_begin(&s, small_electrolyte(), NULL, 1);
    take_no_gpu(&s);
    offered_library = NULL;
    assert_int_equal(spme_try(&s, usual), PLUGMC_ERROR_DEVICE);
    spme_end(&s);

    offered_library = dlopen("libm.so.6", RTLD_NOW);
    assert_non_null(offered_library);
    expect_refusal(take_no_gpu, usual, PLUGMC_ERROR_DEVICE, "the cuFFT found has no 'cufftCreate'");

    offered_library = toolkit_library("", "cufft", why);
    if (!offered_library || gpu_count(&version, why) > 0) skip(); /* one that fails is needed */
    expect_refusal(take_no_gpu, usual, PLUGMC_ERROR_DEVICE, "cuFFT fails to ");
}

TEST_MAIN(cmocka_unit_test(crystals_have_their_madelung_constants),
          cmocka_unit_test(a_lone_charge_has_the_energy_of_its_lattice_in_a_background),
          cmocka_unit_test(water_has_the_energies_of_nist),
          cmocka_unit_test(pairs_are_screened_by_erfc),
          cmocka_unit_test(forces_are_the_gradient_of_the_energy),
          cmocka_unit_test(the_virial_is_the_derivative_by_strain),
          cmocka_unit_test(errors_fall_with_order_and_grid),
          cmocka_unit_test(optimal_influence_lowers_the_error),
          cmocka_unit_test(the_error_got_is_the_tolerance_asked_for),
          cmocka_unit_test(results_do_not_depend_on_threads),
          cmocka_unit_test(walkers_do_not_see_each_other),
          cmocka_unit_test(results_are_added_to_what_is_there),
          cmocka_unit_test(balanced_forces_add_up_to_nothing),
          cmocka_unit_test(excluded_pairs_do_not_interact),
          cmocka_unit_test(input_that_cannot_be_used_is_refused),
          cmocka_unit_test(settings_worse_than_the_tolerance_are_warned_of),
          cmocka_unit_test(a_position_that_is_none_is_named),
          cmocka_unit_test(a_cufft_that_is_missing_or_fails_is_reported))
