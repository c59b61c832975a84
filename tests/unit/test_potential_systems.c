/* The fluid of NIST, integrals beyond cutoffs, the wall, and what potentials say of the system. */
#include "testing.h"

#include "input/parameters.h"
#include "movers.h"
#include "potential_formulas.h"

/* ---- Lennard-Jones fluid of NIST ------------------------------------------------------------- */

/* Positions [particles][3] of a file; box edges. */
static int read_configuration(const char *name, double (*r)[3], double edges[3])
{
    char path[4096];
    int n;
    snprintf(path, sizeof path, "%s/nist/%s", TEST_DATA, name);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("cannot open %s", path);
    assert_int_equal(fscanf(file, "%d cell: %lf %lf %lf", &n, &edges[0], &edges[1], &edges[2]), 4);
    for (int i = 0; i < n; i++)
        assert_int_equal(fscanf(file, "%*s %lf %lf %lf", &r[i][0], &r[i][1], &r[i][2]), 3);
    fclose(file);
    return n;
}

/* What NIST gives, and half a unit of its last digit. */
static const struct nist {
    const char *file;
    double cutoff;
    const char *truncation;
    double energy, energy_error, virial, virial_error, tail, tail_error;
} nist[] = {
    {"lj-1.xyz", 3, "cut", -4351.5, 0.05, -568.67, 0.005, -198.49, 0.005},
    {"lj-1.xyz", 4, "cut", -4467.5, 0.05, -1263.9, 0.05, -83.769, 0.0005},
    {"lj-1.xyz", 3, "force_shift", -3870.9, 0.05, 317.54, 0.005, 0, 0},
    {"lj-4.xyz", 3, "cut", -16.790321304625856, 5e-14, -46.249, 0.0005, -0.54517, 5e-6},
    {"lj-4.xyz", 4, "cut", -17.060, 0.0005, -47.869, 0.0005, -0.23008, 5e-6},
    {"lj-4.xyz", 3, "force_shift", -15.001, 0.0005, -43.096, 0.0005, 0, 0},
};

static void compare_with_nist(const struct nist *c)
{
    static double r[MANY][3];
    double edges[3], energy = 0, virial = 0, error = 0;
    char keys[128];
    bench b;
    int n = read_configuration(c->file, r, edges);
    bench_begin(&b, 3, edges, 1, 1);
    for (int k = 0; k < 3; k++) b.system.box.vector[k][k] = edges[k];
    bench_species(&b, "atom", n, 1, 0);
    snprintf(keys, sizeof keys, "epsilon = 1\ncutoff = %g\ntruncation = %s\n", c->cutoff,
             c->truncation);
    pair_potential p = potential_new(&b, "lennard_jones", keys);
    particles others = {0};
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) others.d[d][i] = r[i][d];
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < n; i++) others.f[k][i] = (float)others.d[k][i];
    for (int i = 0; i < n; i++) {
        plugmc_particle probe = {r[i][0], r[i][1], r[i][2], 0, 1, 0};
        plugmc_particles before = first_of(&others, DOUBLE, i);
        plugmc_particles single = first_of(&others, SINGLE, i);
        plugmc_derivatives d = {0};
        p.pair[DOUBLE]->energy(p.instance[DOUBLE], &b.system.box, 1, &probe, &before, &energy);
        p.pair[DOUBLE]->derivatives(p.instance[DOUBLE], &b.system.box, 1, 0, &probe, &before, &d);
        p.pair[SINGLE]->energy(p.instance[SINGLE], &b.system.box, 1, &probe, &single, &error);
        virial += d.virial[0] + d.virial[1] + d.virial[2];
    }
    error -= energy;
    printf("%s, r_c = %g, %s: energy %.14g (float off by %.1e), virial %.8g\n", c->file, c->cutoff,
           c->truncation, energy, error, virial);
    assert_close(energy, c->energy, 0, c->energy_error);
    assert_close(virial, c->virial, 0, c->virial_error);
    assert_close(energy + error, energy, 2e-6, 0);
    if (c->tail != 0) {
        pair_potential tail = potential_new(&b, "tail_correction", "");
        const plugmc_total *total = tail.plugin[DOUBLE]->potential->total;
        double extra = 1, pressure[3] = {1, 2, 3};
        const plugmc_view view = {
            .size = sizeof view, .box = &b.system.box, .count = numbers_of(&b.system)};
        plugmc_total_request ask = {
            .size = sizeof ask, .view = &view, .energy = &extra, .virial = pressure};
        bench_expect(&b, total->energy(tail.instance[DOUBLE], &ask));
        assert_close(extra - 1, c->tail, 0, c->tail_error);
        /* its pressure is -dU/dV: (8 pi / 3) rho^2 (1/3 r_c^-9 - r_c^-3) */
        double rho = n / b.system.box.volume, rc = c->cutoff;
        double expected = 8 * M_PI / 3 * rho * rho * (1.0 / 3 * pow(rc, -9) - pow(rc, -3));
        for (int d = 0; d < 3; d++)
            assert_close((pressure[d] - 1 - d) / b.system.box.volume, expected, 1e-12, 0);
    }
    bench_end(&b);
}

static void nist_fluid_has_its_energies_and_virials(void **state)
{
    (void)state;
    for (int i = 0; i < PLUGMC_COUNT(nist); i++) compare_with_nist(&nist[i]);
}

/* Fluids with a tail, by pairs of species. */
static const struct tail_of {
    const char *name, *keys;
    double (*energy)(double r, int a, int b); /* without a cutoff */
    const double (*cutoff)[3];
    double error; /* of the rule: a power of 1/r that is no integer is rough at 0 */
} tails[] = {
    {"lennard_jones", LJ_PAIRS "cutoff = 2.9\n", lj_whole, NULL, 1e-9},
    {"lennard_jones", LJ_PAIRS CUTOFFS, lj_whole, pair_cutoff, 1e-9},
    {"mie", MIE_PAIRS CUTOFFS, mie_whole, pair_cutoff, 1e-7},
    {"buckingham", BUCKINGHAM_PAIRS CUTOFFS, exp_six, pair_cutoff, 1e-9},
};

/* Simpson's rule in t = 1/r, from the cutoff to infinity. */
static double integral_beyond(const struct tail_of *t, int dimension, int a, int b)
{
    enum { STEPS = 4000 };
    const double rc = t->cutoff ? t->cutoff[a][b] : 2.9;
    double sum = 0;
    for (int i = 1; i <= STEPS; i++) {
        double r = rc * STEPS / i, weight = (i == STEPS ? 1 : i % 2 ? 4 : 2) / (3.0 * STEPS * rc);
        sum += weight * pow(r, dimension + 1) * t->energy(r, a, b);
    }
    return sum;
}

/* The tail of a mixture is the integral of its pairs beyond the cutoffs, in two and three
 * dimensions. Its virial is what it changes by with the box. */
static void check_tail(const struct tail_of *t, int dimension)
{
    bench b;
    bench_begin(&b, dimension, (const double[]){20, 21, 22}, 1, 1);
    for (int k = 0; k < 3; k++) b.system.box.vector[k][k] = b.system.box.length[k];
    const char *const names[] = {"A", "B", "C"};
    for (int k = 0; k < 3; k++) bench_species(&b, names[k], 10 + 5 * k, 1, 0);
    potential_new(&b, t->name, t->keys);
    char keys[64];
    snprintf(keys, sizeof keys, "of = %s\n", t->name);
    pair_potential tail = potential_new(&b, "tail_correction", keys);
    double energy = 0, larger = 0, virial[3] = {0}, expected = 0;
    const plugmc_view view = {
        .size = sizeof view, .box = &b.system.box, .count = numbers_of(&b.system)};
    plugmc_total_request ask = {
        .size = sizeof ask, .view = &view, .energy = &energy, .virial = virial};
    const plugmc_total *total = tail.plugin[DOUBLE]->potential->total;
    bench_expect(&b, total->energy(tail.instance[DOUBLE], &ask));
    for (int k = 0; k < 9; k++) {
        double pairs = (10 + 5 * (k % 3)) * (10 + 5 * (k / 3)) / (2 * b.system.box.volume);
        expected += (dimension == 2 ? 2 * M_PI : 4 * M_PI) * pairs *
                    integral_beyond(t, dimension, k % 3, k / 3);
    }
    assert_close(energy, expected, t->error, 0);
    /* W is -D V dU/dV */
    b.system.box.volume *= 1 + 1e-6;
    ask.energy = &larger;
    ask.virial = NULL;
    bench_expect(&b, total->energy(tail.instance[DOUBLE], &ask));
    for (int d = 0; d < 3; d++)
        assert_close(virial[d], d < dimension ? (energy - larger) * 1e6 : 0, 2e-6, 0);
    bench_end(&b);
}

static void tails_are_integrals_beyond_the_cutoff(void **state)
{
    (void)state;
    for (int i = 0; i < PLUGMC_COUNT(tails); i++)
        for (int dimension = 2; dimension <= 3; dimension++) check_tail(&tails[i], dimension);
}

/* ---- The wall -------------------------------------------------------------------------------- */

static void sphere_begin(bench *b, double radius)
{
    bench_begin(b, 3, (const double[]){2 * radius, 2 * radius, 2 * radius}, 1, 1);
    b->system.box.domain = PLUGMC_DOMAIN_SPHERE;
    b->system.box.radius = radius;
}

static void wall_keeps_particles_or_centres_in(void **state)
{
    (void)state;
    const struct {
        const char *keys;
        double most; /* distance from the origin, for a diameter of 0.5 */
    } walls[] = {{"radius = 4\n", 3.75}, {"", 4.75}, {"radius = 4\nkeeps = centres\n", 4}};
    for (int i = 0; i < PLUGMC_COUNT(walls); i++)
        for (int precision = 0; precision < 2; precision++) {
            bench b;
            sphere_begin(&b, 5);
            bench_species(&b, "ion", 10, 0.5, 1);
            pair_potential p = potential_new(&b, "spherical_wall", walls[i].keys);
            const plugmc_field *field = p.plugin[precision]->potential->field;
            for (int beyond = 0; beyond < 2; beyond++) {
                double x = walls[i].most * (beyond ? 1 + 1e-6 : 1), zero = 0, energy = 0.5;
                float xf = (float)x, zerof = 0;
                double charge = 1, diameter = 0.5;
                float chargef = 1, diameterf = 0.5f;
                int32_t species = 0;
                plugmc_particles one = {1, &zero, &x, &zero, &charge, &diameter, &species};
                if (precision == SINGLE)
                    one =
                        (plugmc_particles){1, &zerof, &xf, &zerof, &chargef, &diameterf, &species};
                assert_int_equal(field->energy(p.instance[precision], &one, &energy), beyond);
                plugmc_particle at = {0, x, 0, 1, 0.5, 0};
                plugmc_derivatives d = {.laplacian = 3};
                assert_int_equal(field->derivatives(p.instance[precision], &at, &d), beyond);
                assert_true(energy == 0.5 && d.energy == 0 && d.gradient[1] == 0);
                assert_true(d.laplacian == 3);
            }
            assert_int_equal(b.warnings, 0);
            bench_end(&b);
        }
}

/* ---- What they say of the system ------------------------------------------------------------- */

/* The potential in an open box with one hard core, and the last thing that it said. */
static void check_charges(double first, double second, double diameter, const char *name,
                          const char *keys, int code, int warnings, const char *message)
{
    bench b;
    pair_potential p;
    sphere_begin(&b, 10);
    bench_species(&b, "one", 20, diameter, first);
    bench_species(&b, "two", 20, diameter, second);
    potential_new(&b, "hard_disk", "");
    assert_int_equal(potential_try(&b, name, keys, &p), code);
    assert_int_equal(b.warnings, warnings);
    assert_string_equal(b.message, message);
    bench_end(&b);
}

static void charges_are_looked_at_once(void **state)
{
    (void)state;
    const char *coulomb = "bjerrum_length = 1\n", *yukawa = "bjerrum_length = 1\nkappa = 1\n";
    const char *falls = "species 'one' and 'two' attract each other without a core, so they would "
                        "collapse: add a potential with a core, such as hard_sphere with diameters "
                        "above 0";
    const char *none = "no species has a charge: set 'charge' in [species ...], or remove this "
                       "potential";
    check_charges(1, -1, 1, "coulomb", coulomb, PLUGMC_OK, 0, "");
    check_charges(1, -2, 1, "coulomb", coulomb, PLUGMC_OK, 1,
                  "the charges of all particles add up to -20, not to 0");
    check_charges(1, 0, 1, "yukawa", yukawa, PLUGMC_OK, 1,
                  "species 'two' has charge 0, so this potential does not affect it");
    check_charges(0, 0, 1, "coulomb", coulomb, PLUGMC_ERROR_INPUT, 0, none);
    check_charges(0, 0, 1, "yukawa", yukawa, PLUGMC_ERROR_INPUT, 0, none);
    check_charges(1, -1, 0, "coulomb", coulomb, PLUGMC_ERROR_INPUT, 0, falls);
    check_charges(1, -1, 0, "yukawa", yukawa, PLUGMC_ERROR_INPUT, 0, falls);
    check_charges(1, 1, 0, "yukawa", yukawa, PLUGMC_OK, 0, "");
}

/* A measured term moves nobody, so that nothing has to keep its charges apart. */
static void measured_charges_need_no_core(void **state)
{
    (void)state;
    bench b;
    pair_potential p;
    sphere_begin(&b, 10);
    bench_species(&b, "one", 20, 0, 1);
    bench_species(&b, "two", 20, 0, -1);
    assert_int_equal(potential_try(&b, "coulomb", "bjerrum_length = 1\n", &p), PLUGMC_ERROR_INPUT);
    b.terms[0].sampled = 0;
    bench_expect(&b, p.plugin[DOUBLE]->prepare(p.instance[DOUBLE], &b.host));
    bench_end(&b);
}

TEST_MAIN(cmocka_unit_test(nist_fluid_has_its_energies_and_virials),
          cmocka_unit_test(tails_are_integrals_beyond_the_cutoff),
          cmocka_unit_test(wall_keeps_particles_or_centres_in),
          cmocka_unit_test(charges_are_looked_at_once),
          cmocka_unit_test(measured_charges_need_no_core))
