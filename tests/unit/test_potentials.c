/* The potentials between pairs and the wall: every one against its formula written down here once
 * more, derivatives against differences, the fluid of NIST; and the loops of plugmc/pair.h against
 * plain ones. */
#include "testing.h"

#include "input/parameters.h"
#include "movers.h"

/* ---- A potential of our own, with energy, core, factor and derivative ------------------------ */

typedef struct parameters {
    double strength, cutoff;
} parameters;

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a;
    return s.r2 < p->cutoff * p->cutoff ? b.charge / (1 + s.r2) : 0;
}
PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }
PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
    (void)p;
    return 0.5 * (a.diameter + b.diameter);
}
PLUGMC_FN real pair_factor(const parameters *p, plugmc_site a) { return p->strength * a.charge; }
PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a;
    double over = 1 / (1 + s.r2), near = s.r2 < p->cutoff * p->cutoff;
    *first = -2 * near * b.charge * over * over;
    *second = near * b.charge * (8 * s.r2 * over - 2) * over * over;
}
#define PLUGMC_PAIR                                                                                \
    (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_CONTACT | PLUGMC_PAIR_FACTOR | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

/* ---- Potentials in both precisions ----------------------------------------------------------- */

enum { DOUBLE, SINGLE };

typedef struct pair_potential {
    const plugmc_plugin *plugin[2]; /* [DOUBLE], [SINGLE] */
    void *instance[2];
    const plugmc_pair *pair[2];
} pair_potential;

/* Reads "key = value" lines as an INI file has them, and configures; returns the code of that. */
static int potential_try(bench *b, const char *name, const char *keys, pair_potential *out)
{
    char text[2048];
    report report = {0};
    ini_file ini;
    snprintf(text, sizeof text, "[potential %s]\n%s", name, keys);
    if (ini_read_text("test.ini", text, &ini, &report)) fail_msg("cannot read: %s", text);
    *out = (pair_potential){{open_plugin(name), open_plugin(name)->single}, {NULL}, {NULL}};
    plugmc_term *term = &b->terms[b->system.term_count++];
    *term = (plugmc_term){.label = name,
                          .plugin = out->plugin[DOUBLE],
                          .plugin_single = out->plugin[SINGLE],
                          .sampled = 1,
                          .host = &b->host};
    for (int k = 0; k < 2 && out->plugin[k]; k++) {
        const plugmc_plugin *plugin = out->plugin[k];
        out->pair[k] = plugin->potential->pair;
        out->instance[k] = bench_allocate(b->host.context, plugin->instance_size);
        if (parameters_fill(plugin->parameters, plugin->parameter_count, plugin->real_size,
                            out->instance[k], "test.ini", &ini.sections[0], &report) ||
            parameters_unused(plugin->parameters, plugin->parameter_count, NULL, "test.ini",
                              &ini.sections[0], &report))
            fail_msg("parameters of %s", name);
    }
    term->instance = out->instance[DOUBLE];
    term->instance_single = out->instance[SINGLE];
    ini_free(&ini);
    int code = PLUGMC_OK;
    for (int k = 0; k < 2 && !code && out->plugin[k]; k++)
        if (out->plugin[k]->configure) code = out->plugin[k]->configure(out->instance[k], &b->host);
    if (!code && out->plugin[DOUBLE]->prepare)
        code = out->plugin[DOUBLE]->prepare(out->instance[DOUBLE], &b->host);
    return code;
}

static pair_potential potential_new(bench *b, const char *name, const char *keys)
{
    pair_potential out;
    bench_expect(b, potential_try(b, name, keys, &out));
    return out;
}

/* ---- The formulas, once more ----------------------------------------------------------------- */

/* Three species, and what they are: charge, diameter. */
static const double charge_of[3] = {2, -1, 0.5}, diameter_of[3] = {0.8, 1.1, 0.6};

static double coulomb_energy(double r, int a, int b)
{
    return 1.7 * charge_of[a] * charge_of[b] / r;
}

static double yukawa_open(double r, int a, int b)
{
    return 1.7 * charge_of[a] * charge_of[b] * exp(-0.8 * r) / r;
}

static double yukawa_shifted(double r, int a, int b)
{
    double shift = exp(-0.8 * 2.9) / 2.9;
    return r < 2.9 ? 1.7 * charge_of[a] * charge_of[b] * (exp(-0.8 * r) / r - shift) : 0;
}

static double twelve_six(double r, double epsilon, double sigma)
{
    return 4 * epsilon * (pow(sigma / r, 12) - pow(sigma / r, 6));
}

static double lj_cut(double r, int a, int b)
{
    (void)a, (void)b;
    return r < 2.9 ? twelve_six(r, 0.7, 0.95) : 0;
}

/* One value a species: the rules of Lorentz and Berthelot. */
static double lj_mixed(double r, int a, int b)
{
    const double epsilon[3] = {1, 0.25, 0.64}, sigma[3] = {1, 0.8, 1.1};
    double e = sqrt(epsilon[a] * epsilon[b]), s = (sigma[a] + sigma[b]) / 2;
    return r < 2.9 ? twelve_six(r, e, s) - twelve_six(2.9, e, s) : 0;
}

/* One a pair: 11, 12, 13, 22, 23, 33. */
static const double pair_epsilon[3][3] = {{1, 2, 3}, {2, 4, 5}, {3, 5, 6}};
static const double pair_sigma[3][3] = {{1, 0.9, 1.1}, {0.9, 0.8, 0.7}, {1.1, 0.7, 1.2}};

static double lj_force_shifted(double r, int a, int b)
{
    double e = pair_epsilon[a][b], s = pair_sigma[a][b], rc = 2.9;
    double slope = 4 * e * (6 * pow(s / rc, 6) - 12 * pow(s / rc, 12)) / rc;
    return r < rc ? twelve_six(r, e, s) - twelve_six(rc, e, s) - (r - rc) * slope : 0;
}

static double exp_six_eight(double r, int a, int b)
{
    double e = pair_epsilon[a][b], s = pair_sigma[a][b];
    return 10 * e * exp(4 * (s - r)) - e / pow(r, 6) - 0.3 * s / pow(r, 8);
}

static double bm_cut(double r, int a, int b) { return r < 2.9 ? exp_six_eight(r, a, b) : 0; }

static double bm_force_shifted(double r, int a, int b)
{
    double e = pair_epsilon[a][b], s = pair_sigma[a][b], rc = 2.9;
    double slope = -40 * e * exp(4 * (s - rc)) + 6 * e / pow(rc, 7) + 2.4 * s / pow(rc, 9);
    return r < rc ? exp_six_eight(r, a, b) - exp_six_eight(rc, a, b) - (r - rc) * slope : 0;
}

/* A cutoff and a truncation for each pair. */
static const double pair_cutoff[3][3] = {{2.9, 2.5, 2}, {2.5, 2.7, 2.2}, {2, 2.2, 2.6}};
static double end_of_pair(int a, int b) { return pair_cutoff[a][b]; }

static double lj_by_pair(double r, int a, int b)
{
    static const int how[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};
    double e = pair_epsilon[a][b], s = pair_sigma[a][b], rc = pair_cutoff[a][b];
    double slope = 4 * e * (6 * pow(s / rc, 6) - 12 * pow(s / rc, 12)) / rc;
    double off = how[a][b] > 0 ? twelve_six(rc, e, s) : 0;
    if (how[a][b] > 1) off += (r - rc) * slope;
    return r < rc ? twelve_six(r, e, s) - off : 0;
}

/* Exponents of the pairs: 11, 12, ... */
static const double pair_n[3][3] = {{12, 14, 12.5}, {14, 36, 9.3}, {12.5, 9.3, 50}};
static const double pair_m[3][3] = {{6, 6, 6.2}, {6, 6, 5.5}, {6.2, 5.5, 6}};

static double n_to_m(double r, double e, double s, double n, double m)
{
    return n / (n - m) * pow(n / m, m / (n - m)) * e * (pow(s / r, n) - pow(s / r, m));
}

static double mie_cut(double r, int a, int b)
{
    (void)a, (void)b;
    return r < 2.9 ? n_to_m(r, 0.7, 0.95, 14, 7) : 0;
}

static double mie_by_pair(double r, int a, int b)
{
    double e = pair_epsilon[a][b], s = pair_sigma[a][b], rc = pair_cutoff[a][b];
    double n = pair_n[a][b], m = pair_m[a][b], c = n / (n - m) * pow(n / m, m / (n - m));
    double slope = c * e * (m * pow(s / rc, m) - n * pow(s / rc, n)) / rc;
    return r < rc ? n_to_m(r, e, s, n, m) - n_to_m(rc, e, s, n, m) - (r - rc) * slope : 0;
}

static double end_of_wca(int a, int b) { return pow(2, 1.0 / 6) * pair_sigma[a][b]; }

static double repulsive(double r, int a, int b)
{
    double e = pair_epsilon[a][b], s = pair_sigma[a][b];
    return r < end_of_wca(a, b) ? twelve_six(r, e, s) + e : 0;
}

/* Without attraction between 1 and 3. */
static const double pair_c[3][3] = {{1, 2, 0}, {2, 4, 5}, {0, 5, 6}};

static double exp_six(double r, int a, int b)
{
    return 2000 * pair_epsilon[a][b] * exp(-5 * pair_sigma[a][b] * r) - pair_c[a][b] / pow(r, 6);
}

static double buckingham_cut(double r, int a, int b) { return r < 2.9 ? exp_six(r, a, b) : 0; }

static double buckingham_by_pair(double r, int a, int b)
{
    double rc = pair_cutoff[a][b], steep = 5 * pair_sigma[a][b];
    double slope =
        -2000 * pair_epsilon[a][b] * steep * exp(-steep * rc) + 6 * pair_c[a][b] / pow(rc, 7);
    return r < rc ? exp_six(r, a, b) - exp_six(rc, a, b) - (r - rc) * slope : 0;
}

static double lj_whole(double r, int a, int b)
{
    return twelve_six(r, pair_epsilon[a][b], pair_sigma[a][b]);
}

static double mie_whole(double r, int a, int b)
{
    return n_to_m(r, pair_epsilon[a][b], pair_sigma[a][b], pair_n[a][b], pair_m[a][b]);
}

#define LJ_PAIRS "epsilon = 1 2 3 4 5 6\nsigma = 1 0.9 1.1 0.8 0.7 1.2\n"
#define BM_PAIRS                                                                                   \
    "a = 10 20 30 40 50 60\nb = 4\nsigma = 1 0.9 1.1 0.8 0.7 1.2\nc = 1 2 3 4 5 6\n"               \
    "d = 0.3 0.27 0.33 0.24 0.21 0.36\n"

#define CUTOFFS "cutoff = 2.9 2.5 2 2.7 2.2 2.6\n"
#define MIE_PAIRS LJ_PAIRS "n = 12 14 12.5 36 9.3 50\nm = 6 6 6.2 6 5.5 6\n"
#define BUCKINGHAM_PAIRS                                                                           \
    "a = 2000 4000 6000 8000 10000 12000\nb = 5 4.5 5.5 4 3.5 6\nc = 1 2 0 4 5 6\n"

static const struct formula {
    const char *name, *keys;
    double (*energy)(double r, int a, int b);
    double range;
    double least; /* distance from which the formula is right: outside of the top of a barrier */
    double (*end)(int a,
                  int b); /* where the energy of a pair ends, if that is not the range of all */
} formulas[] = {
    {"coulomb", "bjerrum_length = 1.7\nminimum_image = yes\n", coulomb_energy, INFINITY, 0},
    {"yukawa", "bjerrum_length = 1.7\nkappa = 0.8\n", yukawa_open, INFINITY, 0},
    {"yukawa", "bjerrum_length = 1.7\nkappa = 0.8\ncutoff = 2.9\nshift = yes\n", yukawa_shifted,
     2.9, 0},
    {"lennard_jones", "epsilon = 0.7\nsigma = 0.95\ncutoff = 2.9\n", lj_cut, 2.9, 0},
    {"lennard_jones",
     "epsilon = 1 0.25 0.64\nsigma = 1 0.8 1.1\ncutoff = 2.9\ntruncation = shift\n", lj_mixed, 2.9,
     0},
    {"lennard_jones", LJ_PAIRS "cutoff = 2.9\ntruncation = force_shift\n", lj_force_shifted, 2.9,
     0},
    {"lennard_jones", LJ_PAIRS CUTOFFS "truncation = cut shift force_shift force_shift cut shift\n",
     lj_by_pair, 2.9, 0, end_of_pair},
    {"mie", "epsilon = 0.7\nsigma = 0.95\nn = 14\nm = 7\ncutoff = 2.9\n", mie_cut, 2.9, 0},
    {"mie", MIE_PAIRS CUTOFFS "truncation = force_shift\n", mie_by_pair, 2.9, 0, end_of_pair},
    {"wca", LJ_PAIRS, repulsive, 1.3469544579712476, 0, end_of_wca},
    {"buckingham", BUCKINGHAM_PAIRS "cutoff = 2.9\n", buckingham_cut, 2.9, 0.5},
    {"buckingham", BUCKINGHAM_PAIRS CUTOFFS "truncation = force_shift\n", buckingham_by_pair, 2.9,
     0.5, end_of_pair},
    {"born_mayer", BM_PAIRS "cutoff = 2.9\n", bm_cut, 2.9, 0.62},
    {"born_mayer", BM_PAIRS "cutoff = 2.9\ntruncation = force_shift\n", bm_force_shifted, 2.9,
     0.62},
};

/* ---- Particles ------------------------------------------------------------------------------- */

enum { MANY = 800 };

typedef struct particles {
    double d[5][MANY]; /* x, y, z, charge, diameter */
    float f[5][MANY];
    int32_t species[MANY];
} particles;

static uint64_t random_state;
static double uniform(void) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (double)(random_state * 2685821657736338717u >> 11) * 0x1p-53;
}

static void in_single(particles *p)
{
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < MANY; i++) {
            p->f[k][i] = (float)p->d[k][i];
            p->d[k][i] = (double)p->f[k][i]; /* the same particles in both */
        }
}

/* Anywhere in the cube [0, edge)^3, of species 0, 1, 2 in turn, or all of one species. */
static particles random_particles(double edge, int one_species)
{
    particles p;
    for (int i = 0; i < MANY; i++) {
        for (int d = 0; d < 3; d++) p.d[d][i] = edge * uniform();
        p.species[i] = one_species ? 1 : i * 7 % 3;
        p.d[3][i] = charge_of[p.species[i]];
        p.d[4][i] = diameter_of[p.species[i]];
    }
    in_single(&p);
    return p;
}

static plugmc_particles first_of(const particles *p, int precision, int64_t n)
{
    if (precision == SINGLE)
        return (plugmc_particles){n, p->f[0], p->f[1], p->f[2], p->f[3], p->f[4], p->species};
    return (plugmc_particles){n, p->d[0], p->d[1], p->d[2], p->d[3], p->d[4], p->species};
}

static plugmc_particle probe_at(double x, double y, double z, int species)
{
    return (plugmc_particle){(float)x, (float)y, (float)z, charge_of[species], diameter_of[species],
                             species};
}

static void three_species(bench *b, const double edges[3])
{
    bench_begin(b, 3, edges, 1, 1);
    for (int k = 0; k < 3; k++) {
        b->system.box.vector[k][k] = b->system.box.length[k];
        b->system.box.inverse[k][k] = 1 / b->system.box.length[k];
        bench_species(b, (const char *[]){"A", "B", "C"}[k], 10, diameter_of[k], charge_of[k]);
    }
}

/* Every formula is tried beside a hard core, which keeps opposite charges apart. */
static pair_potential formula_new(bench *b, const struct formula *f)
{
    three_species(b, (const double[]){20, 20, 20});
    potential_new(b, "hard_disk", "");
    return potential_new(b, f->name, f->keys);
}

static const plugmc_box no_box = {.domain = PLUGMC_DOMAIN_SPHERE, .dimension = 3, .radius = 1e3};

static double end_of(const struct formula *f, int a, int b)
{
    return f->end ? f->end(a, b) : f->range;
}

/* The energy of two particles at a distance along a direction that has no zeros. */
static double at_distance(const pair_potential *p, int precision, double r, int a, int b,
                          plugmc_derivatives *out)
{
    const double u[3] = {0.48, -0.6, 0.64};
    double energy = 0, zero = 0, charge = charge_of[b], diameter = diameter_of[b];
    float zerof = 0, chargef = (float)charge, diameterf = (float)diameter;
    int32_t species = b;
    plugmc_particle probe = {r * u[0], r * u[1], r * u[2], charge_of[a], diameter_of[a], a};
    plugmc_particles other = {1, &zero, &zero, &zero, &charge, &diameter, &species};
    if (precision == SINGLE)
        other = (plugmc_particles){1, &zerof, &zerof, &zerof, &chargef, &diameterf, &species};
    if (out) {
        *out = (plugmc_derivatives){0};
        p->pair[precision]->derivatives(p->instance[precision], &no_box, 0, 1, &probe, &other, out);
        return out->energy;
    }
    p->pair[precision]->energy(p->instance[precision], &no_box, 0, &probe, &other, &energy);
    return energy;
}

/* Largest energy at distances from 1 to 3: what roundings of floats are compared with. The energy of wca is a small
 * difference there. */
static double typical(const struct formula *f, int a, int b)
{
    double largest = f->energy == repulsive ? pair_epsilon[a][b] : 0;
    for (double r = 1; r < 3; r += 0.01) largest = fmax(largest, fabs(f->energy(r, a, b)));
    return largest;
}

/* ---- One pair -------------------------------------------------------------------------------- */

static void energies_are_those_of_the_formulas(void **state)
{
    (void)state;
    random_state = 1;
    for (int i = 0; i < PLUGMC_COUNT(formulas); i++) {
        const struct formula *f = &formulas[i];
        bench b;
        pair_potential p = formula_new(&b, f);
        const double range = p.pair[DOUBLE]->range(p.instance[DOUBLE]);
        assert_true(range == f->range || (f->end && fabs(range - f->range) < 1e-15));
        assert_true(p.pair[SINGLE]->range(p.instance[SINGLE]) == (double)(float)f->range);
        for (int trial = 0; trial < 3000; trial++) {
            double r = f->least + 0.3 + 4 * uniform();
            int ka = trial % 3, kb = trial / 3 % 3;
            double expected = f->energy(r, ka, kb), scale = typical(f, ka, kb);
            if (fabs(r - end_of(f, ka, kb)) < 1e-5) continue; /* which side a float is on */
            assert_close(at_distance(&p, DOUBLE, r, ka, kb, NULL), expected, 1e-12, 1e-14 * scale);
            /* a float knows r to some 1e-7, which a steep energy magnifies */
            double steep = (f->energy(1.00001 * r, ka, kb) - f->energy(0.99999 * r, ka, kb)) / 2e-5;
            if (fabs(r - end_of(f, ka, kb)) < 1e-4) continue;
            assert_close(at_distance(&p, SINGLE, r, ka, kb, NULL), expected, 1e-6,
                         3e-7 * (scale + fabs(steep)));
            assert_true(at_distance(&p, DOUBLE, r, ka, kb, NULL) ==
                        at_distance(&p, DOUBLE, r, kb, ka, NULL));
            assert_close(at_distance(&p, SINGLE, r, ka, kb, NULL),
                         at_distance(&p, SINGLE, r, kb, ka, NULL), 3e-7, 0);
        }
        bench_end(&b);
    }
}

/* Sixth-order differences of the energy: gradient and Laplacian of one pair, and its virial. */
static void derivatives_are_slopes_of_the_energy(void **state)
{
    (void)state;
    random_state = 2;
    for (int i = 0; i < PLUGMC_COUNT(formulas); i++) {
        const struct formula *f = &formulas[i];
        bench b;
        pair_potential p = formula_new(&b, f);
        for (int trial = 0; trial < 1000; trial++) {
            const double u[3] = {0.48, -0.6, 0.64};
            double r = f->least + 0.3 + 4 * uniform(), h = 1e-3 * r, e[7];
            int ka = trial % 3, kb = trial / 3 % 3;
            if (fabs(r - end_of(f, ka, kb)) < 4 * h) continue;
            for (int k = 0; k < 7; k++)
                e[k] = at_distance(&p, DOUBLE, r + (k - 3) * h, ka, kb, NULL);
            double first = (45 * (e[4] - e[2]) - 9 * (e[5] - e[1]) + (e[6] - e[0])) / (60 * h);
            double second =
                (270 * (e[4] + e[2]) - 27 * (e[5] + e[1]) + 2 * (e[6] + e[0]) - 490 * e[3]) /
                (180 * h * h);
            double slope = fabs(first) + fabs(e[3]) / r; /* scales of what may cancel */
            double bend = fabs(second) + slope / r;
            plugmc_derivatives d;
            assert_true(at_distance(&p, DOUBLE, r, ka, kb, &d) == e[3]);
            for (int k = 0; k < 3; k++) {
                assert_close(d.gradient[k], first * u[k], 0, 1e-8 * slope);
                assert_close(d.virial[k], -r * first * u[k] * u[k], 0, 1e-8 * slope * r);
            }
            assert_close(d.laplacian, second + 2 * first / r, 0, 1e-8 * bend);
            plugmc_derivatives s;
            at_distance(&p, SINGLE, r, ka, kb, &s);
            assert_close(s.energy, d.energy, 1e-6, 3e-7 * (typical(f, ka, kb) + slope * r));
            double scale = 3e-7 * typical(f, ka, kb) / r;
            for (int k = 0; k < 3; k++)
                assert_close(s.gradient[k], d.gradient[k], 0, 1e-6 * (slope + bend * r) + scale);
            assert_close(s.laplacian, d.laplacian, 0, 1e-5 * bend + scale / r);
        }
        bench_end(&b);
    }
}

static void energies_are_exactly_zero_beyond_the_range(void **state)
{
    (void)state;
    for (int i = 0; i < PLUGMC_COUNT(formulas); i++) {
        const struct formula *f = &formulas[i];
        if (isinf(f->range)) continue;
        bench b;
        pair_potential p = formula_new(&b, f);
        for (int precision = 0; precision < 2; precision++)
            for (double r = f->range * (1 + 1e-6); r < 1e9; r *= 1.3)
                for (int k = 0; k < 9; k++) {
                    plugmc_derivatives d;
                    assert_true(at_distance(&p, precision, r, k % 3, k / 3, &d) == 0);
                    assert_true(d.gradient[0] == 0 && d.laplacian == 0 && d.virial[2] == 0);
                }
        bench_end(&b);
    }
}

/* Two particles on one point: infinite, with the sign of the interaction, and a number; or a finite repulsion, and what
 * forbids distances, 1e30. */
static void coinciding_points_have_an_infinite_energy(void **state)
{
    (void)state;
    for (int i = 0; i < PLUGMC_COUNT(formulas); i++) {
        bench b;
        pair_potential p = formula_new(&b, &formulas[i]);
        for (int precision = 0; precision < 2; precision++)
            for (int k = 0; k < 9; k++) {
                double energy = at_distance(&p, precision, 0, k % 3, k / 3, NULL);
                double sign = at_distance(&p, precision, 0.01, k % 3, k / 3, NULL);
                if (!strcmp(formulas[i].name, "buckingham"))
                    assert_true(pair_c[k % 3][k / 3] > 0 ? energy == (precision ? 1e30f : 1e30)
                                                         : energy > 1000 && energy < 10000);
                else
                    assert_true(isinf(energy) && energy * sign > 0);
            }
        bench_end(&b);
    }
}

/* ---- Barriers of born_mayer ------------------------------------------------------------------ */

static void born_mayer_rises_inside_its_barrier(void **state)
{
    (void)state;
    bench b;
    three_species(&b, (const double[]){20, 20, 20});
    pair_potential p = potential_new(&b, "born_mayer", BM_PAIRS "cutoff = 2.9\n");
    for (int k = 0; k < 9; k++) {
        int ka = k % 3, kb = k / 3;
        double before = 0, widest = 0;
        for (double r = 2; r > 1e-3; r *= 0.999) {
            double energy = at_distance(&p, DOUBLE, r, ka, kb, NULL);
            double step = fabs(energy - before);
            if (r < 1.2) assert_true(energy > before); /* no way down */
            if (r < 1.9) widest = fmax(widest, step / fmax(1, fabs(energy)));
            before = energy;
        }
        assert_true(widest < 0.02); /* and no jump */
    }
    bench_end(&b);
}

/* ---- The guard of buckingham ------------------------------------------------------------------ */

/* Outside of it the energy falls, inside it is 1e30; without attraction there is none. */
static void buckingham_forbids_what_is_inside_its_maximum(void **state)
{
    (void)state;
    bench b;
    three_species(&b, (const double[]){20, 20, 20});
    pair_potential p = potential_new(&b, "buckingham", BUCKINGHAM_PAIRS "cutoff = 2.9\n");
    for (int precision = 0; precision < 2; precision++)
        for (int k = 0; k < 9; k++) {
            const int ka = k % 3, kb = k / 3;
            double r = 1e-3, guard;
            plugmc_derivatives d;
            while (at_distance(&p, precision, r, ka, kb, NULL) > 1e29) r += 1e-3;
            guard = r;
            if (pair_c[ka][kb] == 0) {
                assert_true(guard == 1e-3);
                continue;
            }
            assert_true(guard > 0.05 && guard < 0.7);
            /* the maximum of the formula */
            assert_true(exp_six(guard + 2e-3, ka, kb) < exp_six(guard + 1e-3, ka, kb));
            assert_true(exp_six(guard - 3e-3, ka, kb) < exp_six(guard - 2e-3, ka, kb));
            assert_close(at_distance(&p, precision, guard, ka, kb, &d), exp_six(guard, ka, kb),
                         1e-5, 0);
            at_distance(&p, precision, guard - 2e-3, ka, kb, &d);
            assert_true(d.gradient[0] == 0 && d.laplacian == 0);
        }
    bench_end(&b);
}

/* ---- Mixing rules ----------------------------------------------------------------------------- */

/* epsilon 1 and 0.25, sigma 1 and 0.8; what the rules give for the unlike pair, worked out apart. */
static void rules_mix_what_their_papers_say(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *k_ij;
        double epsilon, sigma;
    } rules[] = {{"lorentz_berthelot", "0", 0.5, 0.9},
                 {"lorentz_berthelot", "0.1", 0.45, 0.9},
                 {"geometric", "0", 0.5, 0.894427190999916},
                 {"waldman_hagler", "0", 0.405658942244308, 0.926146774553325},
                 {"waldman_hagler", "-0.5", 0.608488413366462, 0.926146774553325},
                 {"kong", "0", 0.426853411592173, 0.918318925553935}};
    for (int k = 0; k < PLUGMC_COUNT(rules); k++) {
        const char *const names[] = {"lennard_jones", "wca", "mie"};
        for (int i = 0; i < 3; i++) {
            char keys[256];
            bench b;
            bench_begin(&b, 3, (const double[]){20, 20, 20}, 1, 1);
            for (int d = 0; d < 3; d++) b.system.box.vector[d][d] = 20;
            bench_species(&b, "A", 10, 1, 0);
            bench_species(&b, "B", 10, 1, 0);
            snprintf(keys, sizeof keys,
                     "epsilon = 1 0.25\nsigma = 1 0.8\nmixing = %s\nk_ij = %s\n%s", rules[k].rule,
                     rules[k].k_ij, i == 1 ? "" : "cutoff = 5\n");
            pair_potential p = potential_new(&b, names[i], keys);
            const double e = rules[k].epsilon, s = rules[k].sigma;
            const double rest = i == 1 ? e : 0; /* of the repulsion alone */
            for (double r = 0.7; r < 1.01; r += 0.1) {
                const double expected = twelve_six(r, e, s) + rest;
                assert_close(at_distance(&p, DOUBLE, r, 0, 1, NULL), expected, 1e-12, 1e-12);
                assert_close(at_distance(&p, DOUBLE, r, 1, 0, NULL), expected, 1e-12, 1e-12);
                /* like ones are as they were given */
                const double like =
                    r < pow(2, 1.0 / 6) * 0.8 ? twelve_six(r, 0.25, 0.8) + rest / e * 0.25 : 0;
                if (like != 0 || i != 1)
                    assert_close(at_distance(&p, DOUBLE, r, 1, 1, NULL),
                                 i == 1 ? like : twelve_six(r, 0.25, 0.8), 1e-12, 1e-12);
            }
            bench_end(&b);
        }
    }
}

/* With n = 14 the exponent of Kong is 1/15. */
static void kong_takes_the_exponent_of_the_repulsion(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b, 3, (const double[]){20, 20, 20}, 1, 1);
    for (int d = 0; d < 3; d++) b.system.box.vector[d][d] = 20;
    bench_species(&b, "A", 10, 1, 0);
    bench_species(&b, "B", 10, 1, 0);
    pair_potential p = potential_new(
        &b, "mie", "epsilon = 1 0.25\nsigma = 1 0.8\nn = 14\nmixing = kong\ncutoff = 5\n");
    for (double r = 0.8; r < 2; r += 0.1)
        assert_close(at_distance(&p, DOUBLE, r, 0, 1, NULL),
                     n_to_m(r, 0.440513650869838, 0.913510266134979, 14, 6), 1e-12, 1e-12);
    bench_end(&b);
}

/* a = 1000 and 4000, b = 4 and 5, c = 1 and 4. */
static void exponentials_mix(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        double a, b, c;
    } rules[] = {{"geometric\nk_ij = 0.25", 2000, 4.5, 1.5},
                 {"geometric", 2000, 4.5, 2},
                 {"kong", 1840.33058860331, 4.444444444444445, 2}};
    for (int k = 0; k < PLUGMC_COUNT(rules); k++) {
        char keys[256];
        bench b;
        bench_begin(&b, 3, (const double[]){20, 20, 20}, 1, 1);
        for (int d = 0; d < 3; d++) b.system.box.vector[d][d] = 20;
        bench_species(&b, "A", 10, 1, 0);
        bench_species(&b, "B", 10, 1, 0);
        snprintf(keys, sizeof keys, "a = 1000 4000\nb = 4 5\nc = 1 4\ncutoff = 5\nmixing = %s\n",
                 rules[k].rule);
        pair_potential p = potential_new(&b, "buckingham", keys);
        for (double r = 0.8; r < 2; r += 0.1) {
            const double expected = rules[k].a * exp(-rules[k].b * r) - rules[k].c / pow(r, 6);
            assert_close(at_distance(&p, DOUBLE, r, 0, 1, NULL), expected, 1e-12, 1e-12);
            assert_close(at_distance(&p, DOUBLE, r, 1, 1, NULL), 4000 * exp(-5 * r) - 4 / pow(r, 6),
                         1e-12, 1e-12);
        }
        bench_end(&b);
    }
}

/* ---- Square wells ------------------------------------------------------------------------------ */

/* Cores and ends of the wells of a mixture. */
static void check_wells(const char *keys, const double core[3][3], const double end[3][3],
                        const double depth[3][3])
{
    bench b;
    three_species(&b, (const double[]){20, 20, 20});
    pair_potential p = potential_new(&b, "square_well", keys);
    for (int precision = 0; precision < 2; precision++)
        for (int k = 0; k < 9; k++) {
            const int a = k % 3, c = k / 3;
            plugmc_particle pa = {.diameter = diameter_of[a], .species = a},
                            pc = {.diameter = diameter_of[c], .species = c};
            plugmc_derivatives d;
            assert_close(p.pair[precision]->contact(p.instance[precision], &pa, &pc), core[a][c],
                         1e-7, 0);
            assert_close(at_distance(&p, precision, end[a][c] * (1 - 1e-5), a, c, &d), -depth[a][c],
                         1e-7, 0);
            assert_true(d.gradient[0] == 0 && d.laplacian == 0);
            assert_true(at_distance(&p, precision, end[a][c] * (1 + 1e-5), a, c, NULL) == 0);
        }
    bench_end(&b);
}

static void wells_have_their_cores_and_ends(void **state)
{
    (void)state;
    const double one[3][3] = {{0.7, 0.7, 0.7}, {0.7, 0.7, 0.7}, {0.7, 0.7, 0.7}};
    double sizes[3][3], ends[3][3], own[3][3];
    for (int k = 0; k < 9; k++) {
        sizes[k % 3][k / 3] = (diameter_of[k % 3] + diameter_of[k / 3]) / 2;
        own[k % 3][k / 3] = ((double[]){1, 0.8, 1.1}[k % 3] + (double[]){1, 0.8, 1.1}[k / 3]) / 2;
    }
    for (int k = 0; k < 9; k++) ends[k % 3][k / 3] = 1.5 * sizes[k % 3][k / 3];
    check_wells("epsilon = 0.7\n", sizes, ends, one);
    for (int k = 0; k < 9; k++) ends[k % 3][k / 3] = 1.7 * own[k % 3][k / 3];
    check_wells("epsilon = 1 2 3 4 5 6\nsigma = 1 0.8 1.1\nlambda = 1.7\n", own, ends,
                pair_epsilon);
    for (int k = 0; k < 9; k++)
        ends[k % 3][k / 3] = pair_cutoff[k % 3][k / 3] * pair_sigma[k % 3][k / 3];
    check_wells("epsilon = 0.7\n"
                "sigma = 1 0.9 1.1 0.8 0.7 1.2\nlambda = 2.9 2.5 2 2.7 2.2 2.6\n",
                pair_sigma, ends, one);
}

/* kJ/mol and Angstrom, as the head of born_mayer.c has them. The crystal of rock salt: the lattice
 * sum of what is not electrostatic, and Madelung's constant for what is. */
static double rock_salt(const pair_potential *p, double nearest)
{
    const double coulomb = 1389.35458; /* e^2 N_A / (4 pi eps_0) in kJ/mol Angstrom */
    enum { REACH = 12 };
    double sum[2] = {0, 0};
    for (int ion = 0; ion < 2; ion++)
        for (int x = -REACH; x <= REACH; x++)
            for (int y = -REACH; y <= REACH; y++)
                for (int z = -REACH; z <= REACH; z++) {
                    double r = nearest * sqrt(x * x + y * y + z * z);
                    int other = (ion + x + y + z) & 1;
                    if (r > 0) sum[ion] += at_distance(p, DOUBLE, r, ion, other, NULL);
                }
    return (sum[0] + sum[1]) / 2 - 1.747564594633 * coulomb / nearest;
}

/* Measured: 2.789 Angstrom at 0 K (extrapolated), and a lattice energy of -786 kJ/mol from the
 * Born-Haber cycle. The model's own, without zero-point motion, is a few per cent off. */
static void sodium_chloride_has_its_crystal(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b, 3, (double[]){200, 200, 200}, 1, 1);
    for (int k = 0; k < 3; k++) b.system.box.vector[k][k] = 200;
    bench_species(&b, "Na", 10, 0, 1);
    bench_species(&b, "Cl", 10, 0, -1);
    pair_potential p = potential_new(&b, "born_mayer",
                                     "a = 25.4435 20.3548 15.2661\nb = 3.1546\n"
                                     "sigma = 2.340 2.755 3.170\nc = 101.1719 674.4793 6985.6786\n"
                                     "d = 48.1771 837.0770 14031.5785\ncutoff = 100\n");
    double best = INFINITY, place = 0;
    for (double r = 2.5; r < 3.1; r += 0.005) {
        double energy = rock_salt(&p, r);
        if (energy < best) place = r;
        best = fmin(best, energy);
    }
    printf("rock salt: nearest neighbours at %.3f Angstrom, %.1f kJ/mol\n", place, best);
    assert_close(place, 2.789, 0.02, 0);
    assert_close(best, -786, 0.03, 0);
    bench_end(&b);
}

/* ---- The loops of plugmc/pair.h -------------------------------------------------------------- */

enum { OPEN, CUBOID, FLAT, OBLIQUE, BOXES };

/* Edges as rows, length; lattice vectors that are reduced. */
static plugmc_box box_of(int kind)
{
    static const double edges[BOXES][3][3] = {
        [OPEN] = {{9, 0, 0}, {0, 9, 0}, {0, 0, 9}},
        [CUBOID] = {{6.1, 0, 0}, {0, 7.3, 0}, {0, 0, 9.2}},
        [FLAT] = {{6.1, 0, 0}, {0, 7.3, 0}, {0, 0, 1}},
        [OBLIQUE] = {{8, 0, 0}, {-3.9, 7.5, 0}, {2.4, -3, 7}},
    };
    plugmc_box box = {.domain = kind == OPEN ? PLUGMC_DOMAIN_SPHERE : PLUGMC_DOMAIN_PERIODIC,
                      .dimension = kind == FLAT ? 2 : 3,
                      .oblique = kind == OBLIQUE,
                      .radius = 9};
    const double(*v)[3] = edges[kind];
    memcpy(box.vector, v, sizeof box.vector);
    double determinant = 0;
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        box.length[k] = sqrt(v[k][0] * v[k][0] + v[k][1] * v[k][1] + v[k][2] * v[k][2]);
        determinant += v[0][k] * (v[1][l] * v[2][m] - v[1][m] * v[2][l]);
    }
    for (int d = 0; d < 3; d++) /* cofactors: fractional d of r is sum_e r_e inverse[e][d] */
        for (int e = 0; e < 3; e++) {
            int d1 = (d + 1) % 3, d2 = (d + 2) % 3, e1 = (e + 1) % 3, e2 = (e + 2) % 3;
            box.inverse[e][d] = (v[d1][e1] * v[d2][e2] - v[d1][e2] * v[d2][e1]) / determinant;
        }
    box.volume = fabs(determinant);
    return box;
}

/* The shortest of the images of a - b, looked for four boxes far. */
static double nearest_image(const plugmc_box *box, const double a[3], const double b[3],
                            double out[3])
{
    double best = INFINITY;
    const int far = box->domain == PLUGMC_DOMAIN_PERIODIC ? 4 : 0;
    for (int i = -far; i <= far; i++)
        for (int j = -far; j <= far; j++)
            for (int k = -far; k <= far; k++) {
                double s[3], r2 = 0;
                if (box->dimension == 2 && k) continue;
                for (int d = 0; d < 3; d++) {
                    s[d] = a[d] - b[d] + i * box->vector[0][d] + j * box->vector[1][d] +
                           k * box->vector[2][d];
                    r2 += s[d] * s[d];
                }
                if (r2 < best) {
                    best = r2;
                    memcpy(out, s, 3 * sizeof *s);
                }
            }
    return sqrt(best);
}

/* Anywhere in the box, or in the ball of radius 9. */
static void place(const plugmc_box *box, double r[3])
{
    double f[3] = {uniform(), uniform(), box->dimension == 2 ? 0 : uniform()};
    for (int d = 0; d < 3; d++)
        r[d] = box->domain == PLUGMC_DOMAIN_SPHERE
                   ? 10 * f[d] - 5
                   : f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
}

/* What a plain loop over the pairs of one particle gives. */
typedef struct plain {
    double energy, magnitude; /* of the energies, and of their absolute values */
    double gradient[3], virial[3], laplacian, slopes, bends; /* likewise */
    int64_t overlaps;
} plain;

/* Energy, u'/r and u'' of a pair, a potential's by its own functions for two particles alone. */
typedef void one_pair(const void *, double r, int a, int b, double *energy, double *first,
                      double *second);

static void pair_of_potential(const void *potential, double r, int a, int b, double *energy,
                              double *first, double *second)
{
    plugmc_derivatives d;
    *energy = at_distance(potential, DOUBLE, r, a, b, &d);
    *first = d.gradient[0] / (0.48 * r);
    *second = d.laplacian - 2 * *first;
}

/* One pair: the probe of a species at a place and other particle j. */
static plain plain_pair(const plugmc_box *box, const void *potential, one_pair *pair, double core,
                        const particles *p, int64_t j, const double at[3], int species)
{
    const double b[3] = {p->d[0][j], p->d[1][j], p->d[2][j]};
    double s[3], r = nearest_image(box, at, b, s), energy, first, second;
    pair(potential, r, species, p->species[j], &energy, &first, &second);
    plain one = {.energy = energy, .magnitude = fabs(energy)};
    for (int d = 0; d < 3; d++) {
        one.gradient[d] = first * s[d];
        one.virial[d] = -first * s[d] * s[d];
    }
    one.laplacian = second + (box->dimension - 1) * first;
    one.slopes = fabs(first * r);
    one.bends = fabs(second) + 2 * fabs(first);
    one.overlaps = r < core * (diameter_of[species] + diameter_of[p->species[j]]) / 2;
    return one;
}

static void plain_add(plain *sum, const plain *one)
{
    sum->energy += one->energy;
    sum->magnitude += one->magnitude;
    for (int d = 0; d < 3; d++) {
        sum->gradient[d] += one->gradient[d];
        sum->virial[d] += one->virial[d];
    }
    sum->laplacian += one->laplacian;
    sum->slopes += one->slopes;
    sum->bends += one->bends;
    sum->overlaps += one->overlaps;
}

static plain plainly(const plugmc_box *box, const void *potential, one_pair *pair, double core,
                     const particles *p, int64_t n, const double at[3], int species)
{
    plain sum = {0};
    for (int64_t j = 0; j < n; j++) {
        plain one = plain_pair(box, potential, pair, core, p, j, at, species);
        plain_add(&sum, &one);
    }
    return sum;
}

/* Numbers of others around the sizes of the blocks that the loops are cut into. */
static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 33, 255, 256, 257, 600};

/* Others that are not so near that one energy outweighs all. */
static particles others_for(const plugmc_box *box, const double at[2][3], double least, int one)
{
    particles p = random_particles(1, one);
    for (int j = 0; j < MANY; j++) {
        double r[3], s[3];
        do place(box, r);
        while (nearest_image(box, at[0], r, s) < least || nearest_image(box, at[1], r, s) < least);
        for (int d = 0; d < 3; d++) p.d[d][j] = r[d];
    }
    in_single(&p);
    return p;
}

typedef struct tolerance {
    double energy, slope, bend; /* relative to the sums of magnitudes */
    double place;               /* error of a separation, length; and of an energy, kT */
} tolerance;

/* Pairs of the probe with n others one by one, species by species. */
static void compare_slopes(const plugmc_pair *pair, const void *instance, int precision,
                           const plugmc_box *box, const void *potential, one_pair *one, double core,
                           const particles *p, int64_t n, const double at[3], int species,
                           tolerance t)
{
    const plugmc_particle probe = probe_at(0, 0, 0, species);
    static double s[MANY][3];
    static union {
        double in_double[MANY + 1];
        float single[MANY + 1];
    } way[3], first, energy;
    for (int b = 0; b < 3; b++) {
        const plugmc_particle other = probe_at(0, 0, 0, b);
        int64_t found = 0;
        static int64_t who[MANY];
        for (int64_t j = 0; j < n; j++) {
            const double place[3] = {p->d[0][j], p->d[1][j], p->d[2][j]};
            if (p->species[j] != b) continue;
            nearest_image(box, at, place, s[found]);
            for (int d = 0; d < 3; d++)
                if (precision == SINGLE)
                    way[d].single[found] = (float)s[found][d];
                else
                    way[d].in_double[found] = s[found][d];
            who[found++] = j;
        }
        first.in_double[found] = 12345; /* for numbers of either size */
        if (precision == SINGLE) first.single[found] = 12345;
        pair->slopes(instance, &probe, &other, found, &way[0], &way[1], &way[2], &first, &energy);
        assert_true(precision == SINGLE ? first.single[found] == 12345
                                        : first.in_double[found] == 12345);
        for (int64_t k = 0; k < found; k++) {
            const plain expected = plain_pair(box, potential, one, core, p, who[k], at, species);
            const double slope = precision == SINGLE ? (double)first.single[k] : first.in_double[k],
                         u = precision == SINGLE ? (double)energy.single[k] : energy.in_double[k];
            assert_int_equal(u == INFINITY, expected.overlaps);
            if (!expected.overlaps)
                assert_close(u, expected.energy, 0,
                             t.energy * expected.magnitude + t.place * (1 + expected.slopes));
            for (int d = 0; d < 3; d++)
                assert_close(slope * s[k][d], expected.gradient[d], 0,
                             t.slope * expected.slopes + t.place * (1 + expected.bends));
        }
        pair->slopes(instance, &probe, &other, found, &way[0], &way[1], &way[2], &energy, NULL);
        assert_memory_equal(&energy, &first,
                            (size_t)found * (precision == SINGLE ? sizeof(float) : sizeof(double)));
    }
}

/* All batch functions of one precision. */
static void compare_loops(const plugmc_pair *pair, const void *instance, int precision,
                          const plugmc_box *box, const void *potential, one_pair *one, double core,
                          const particles *p, int64_t n, const double at[2][3], int species,
                          tolerance t)
{
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const plugmc_particle probe = probe_at(at[0][0], at[0][1], at[0][2], species);
    const plugmc_particles others = first_of(p, precision, n);
    static plain old[MANY], new[MANY];
    plain before = {0}, after = {0};
    for (int64_t j = 0; j < n; j++) {
        old[j] = plain_pair(box, potential, one, core, p, j, at[0], species);
        new[j] = plain_pair(box, potential, one, core, p, j, at[1], species);
        plain_add(&before, &old[j]);
        plain_add(&after, &new[j]);
    }
    const double slack = t.place * (1 + before.slopes + after.slopes);
    double energy = 0.25, change = 0.5; /* all add to what is there */

    assert_int_equal(pair->energy(instance, box, periodic, &probe, &others, &energy),
                     before.overlaps);
    assert_close(energy - 0.25, before.energy, 0, t.energy * before.magnitude + slack);
    assert_int_equal(pair->change(instance, box, periodic, &probe, at[1], &others, &change),
                     after.overlaps);
    assert_close(change - 0.5, after.energy - before.energy, 0,
                 t.energy * (before.magnitude + after.magnitude) + slack);

    double each[MANY + 1], sum = 0;
    float single[MANY + 1];
    each[n] = single[n] = 12345;
    pair->changes(instance, box, periodic, &probe, at[1], &others,
                  precision == SINGLE ? (void *)single : (void *)each);
    assert_true(precision == SINGLE ? single[n] == 12345 : each[n] == 12345);
    int64_t infinite = 0;
    for (int64_t j = 0; j < n; j++) {
        if (precision == SINGLE) each[j] = (double)single[j];
        infinite += each[j] == INFINITY;
        assert_int_equal(new[j].overlaps, each[j] == INFINITY);
        if (!new[j].overlaps)
            assert_close(each[j], new[j].energy - old[j].energy, 0,
                         t.energy * (old[j].magnitude + new[j].magnitude) +
                             t.place * (1 + old[j].slopes + new[j].slopes));
        sum += each[j];
    }
    assert_int_equal(infinite, after.overlaps);
    if (!infinite)
        assert_close(sum, change - 0.5, 0,
                     2 * (t.energy * (before.magnitude + after.magnitude) + slack));

    if (PLUGMC_HAS(pair, slopes) && pair->slopes)
        compare_slopes(pair, instance, precision, box, potential, one, core, p, n, at[0], species,
                       t);
    for (int second = 0; pair->derivatives && second < 2; second++) {
        plugmc_derivatives d = {
            .energy = 1, .gradient = {1, 2, 3}, .laplacian = 4, .virial = {5, 6, 7}};
        assert_int_equal(pair->derivatives(instance, box, periodic, second, &probe, &others, &d),
                         before.overlaps);
        assert_close(d.energy - 1, before.energy, 0, t.energy * before.magnitude + slack);
        for (int k = 0; k < 3; k++) {
            const double slope = t.slope * before.slopes + t.place * (1 + before.bends);
            assert_close(d.gradient[k] - 1 - k, before.gradient[k], 0, slope);
            assert_close(d.virial[k] - 5 - k, before.virial[k], 0, 9 * slope); /* r is below 9 */
        }
        if (second)
            assert_close(d.laplacian - 4, before.laplacian, 0, t.bend * before.bends + t.place);
        else
            assert_true(d.laplacian == 4);
    }
}

/* Moves that cross the box, and in a periodic one may end in a neighbouring image of it. */
static void both_ends(const plugmc_box *box, double at[2][3])
{
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    for (int k = 0; k < 2; k++) {
        place(box, at[k]);
        for (int v = 0; periodic && v < box->dimension; v++) {
            int image = (int)(3 * uniform()) - 1;
            for (int d = 0; d < 3; d++) at[k][d] += image * box->vector[v][d];
        }
        for (int d = 0; d < 3; d++) at[k][d] = (float)at[k][d];
    }
}

static void loops_agree_with_plain_ones(void **state)
{
    (void)state;
    random_state = 3;
    for (int i = 0; i < PLUGMC_COUNT(formulas); i++) {
        bench b;
        pair_potential p = formula_new(&b, &formulas[i]);
        for (int kind = 0; kind < BOXES; kind++)
            for (int k = 0; k < PLUGMC_COUNT(sizes); k++) {
                const plugmc_box box = box_of(kind);
                double at[2][3];
                both_ends(&box, at);
                particles others = others_for(&box, at, 0.7, k % 4 == 3);
                compare_loops(p.pair[DOUBLE], p.instance[DOUBLE], DOUBLE, &box, &p,
                              pair_of_potential, 0, &others, sizes[k], at, k % 3,
                              (tolerance){1e-12, 1e-11, 1e-11, 1e-14});
                /* separations are good to some 1e-6 in boxes this large */
                compare_loops(p.pair[SINGLE], p.instance[SINGLE], SINGLE, &box, &p,
                              pair_of_potential, 0, &others, sizes[k], at, k % 3,
                              (tolerance){1e-6, 1e-5, 2e-4, 4e-6});
            }
        bench_end(&b);
    }
}

/* Our own potential: overlaps counted beside energies. */
static void pair_of_ours(const void *potential, double r, int a, int b, double *energy,
                         double *first, double *second)
{
    const parameters *p = potential;
    double factor = p->strength * charge_of[a] * charge_of[b], over = 1 / (1 + r * r);
    double near = r < p->cutoff ? factor : 0;
    *energy = near * over;
    *first = -2 * near * over * over;
    *second = near * (8 * r * r * over - 2) * over * over;
}

static void loops_count_overlaps_beside_energies(void **state)
{
    (void)state;
    random_state = 4;
    const parameters p = {1.3, 3.0};
    int64_t seen = 0;
    for (int kind = 0; kind < BOXES; kind++)
        for (int repeat = 0; repeat < 5; repeat++)
            for (int k = 0; k < PLUGMC_COUNT(sizes); k++) {
                const plugmc_box box = box_of(kind);
                double at[2][3];
                both_ends(&box, at);
                particles others = others_for(&box, at, 0, 0);
                seen +=
                    plainly(&box, &p, pair_of_ours, 1, &others, sizes[k], at[1], k % 3).overlaps;
                compare_loops(&plugmc_pair_facet, &p, DOUBLE, &box, &p, pair_of_ours, 1, &others,
                              sizes[k], at, k % 3, (tolerance){1e-12, 1e-11, 1e-11, 1e-14});
            }
    printf("%lld overlaps\n", (long long)seen);
    assert_true(seen > 100);
}

/* Only cores: nothing is added to the energy. */
static void loops_count_overlaps_of_hard_cores(void **state)
{
    (void)state;
    random_state = 5;
    bench b;
    three_species(&b, (const double[]){20, 20, 20});
    pair_potential p = potential_new(&b, "hard_disk", "");
    int64_t seen = 0;
    for (int kind = 0; kind < BOXES; kind++)
        for (int k = 0; k < 3 * PLUGMC_COUNT(sizes); k++) {
            const plugmc_box box = box_of(kind);
            const int64_t n = sizes[k / 3];
            double at[2][3], energy = 0.25, change = 0.5;
            both_ends(&box, at);
            particles others = others_for(&box, at, 0, 0);
            const parameters none = {0, 0};
            plain before = plainly(&box, &none, pair_of_ours, 1, &others, n, at[0], k % 3);
            plain after = plainly(&box, &none, pair_of_ours, 1, &others, n, at[1], k % 3);
            for (int precision = 0; precision < 2; precision++) {
                plugmc_particle probe = probe_at(at[0][0], at[0][1], at[0][2], k % 3);
                plugmc_particles list = first_of(&others, precision, n);
                const void *instance = p.instance[precision];
                assert_int_equal(
                    p.pair[precision]->energy(instance, &box, kind != OPEN, &probe, &list, &energy),
                    before.overlaps);
                assert_int_equal(p.pair[precision]->change(instance, &box, kind != OPEN, &probe,
                                                           at[1], &list, &change),
                                 after.overlaps);
                assert_true(energy == 0.25 && change == 0.5);
            }
            seen += before.overlaps;
        }
    assert_true(seen > 100);
    bench_end(&b);
}

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

TEST_MAIN(cmocka_unit_test(energies_are_those_of_the_formulas),
          cmocka_unit_test(derivatives_are_slopes_of_the_energy),
          cmocka_unit_test(energies_are_exactly_zero_beyond_the_range),
          cmocka_unit_test(coinciding_points_have_an_infinite_energy),
          cmocka_unit_test(born_mayer_rises_inside_its_barrier),
          cmocka_unit_test(buckingham_forbids_what_is_inside_its_maximum),
          cmocka_unit_test(rules_mix_what_their_papers_say),
          cmocka_unit_test(kong_takes_the_exponent_of_the_repulsion),
          cmocka_unit_test(exponentials_mix), cmocka_unit_test(wells_have_their_cores_and_ends),
          cmocka_unit_test(sodium_chloride_has_its_crystal),
          cmocka_unit_test(loops_agree_with_plain_ones),
          cmocka_unit_test(loops_count_overlaps_beside_energies),
          cmocka_unit_test(loops_count_overlaps_of_hard_cores),
          cmocka_unit_test(nist_fluid_has_its_energies_and_virials),
          cmocka_unit_test(tails_are_integrals_beyond_the_cutoff),
          cmocka_unit_test(wall_keeps_particles_or_centres_in),
          cmocka_unit_test(charges_are_looked_at_once),
          cmocka_unit_test(measured_charges_need_no_core))
