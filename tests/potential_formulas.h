/* Potentials between pairs in both precisions, their formulas written down once more, and particles for them. Include it
 * after movers.h. */
#ifndef PLUGMC_TEST_POTENTIAL_FORMULAS_H
#define PLUGMC_TEST_POTENTIAL_FORMULAS_H

/* ---- Potentials in both precisions ----------------------------------------------------------- */

enum { DOUBLE, SINGLE };

typedef struct pair_potential {
    const plugmc_plugin *plugin[2]; /* [DOUBLE], [SINGLE] */
    void *instance[2];
    const plugmc_pair *pair[2];
} pair_potential;

/* Reads "key = value" lines as an INI file has them, and configures; returns the code of that. */
static inline int potential_try(bench *b, const char *name, const char *keys, pair_potential *out)
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

static inline pair_potential potential_new(bench *b, const char *name, const char *keys)
{
    pair_potential out;
    bench_expect(b, potential_try(b, name, keys, &out));
    return out;
}

/* ---- The formulas, once more ----------------------------------------------------------------- */

/* Three species, and what they are: charge, diameter. */
static const double charge_of[3] = {2, -1, 0.5}, diameter_of[3] = {0.8, 1.1, 0.6};

static inline double coulomb_energy(double r, int a, int b)
{
    return 1.7 * charge_of[a] * charge_of[b] / r;
}

static inline double yukawa_open(double r, int a, int b)
{
    return 1.7 * charge_of[a] * charge_of[b] * exp(-0.8 * r) / r;
}

static inline double yukawa_shifted(double r, int a, int b)
{
    double shift = exp(-0.8 * 2.9) / 2.9;
    return r < 2.9 ? 1.7 * charge_of[a] * charge_of[b] * (exp(-0.8 * r) / r - shift) : 0;
}

static inline double twelve_six(double r, double epsilon, double sigma)
{
    return 4 * epsilon * (pow(sigma / r, 12) - pow(sigma / r, 6));
}

static inline double lj_cut(double r, int a, int b)
{
    (void)a, (void)b;
    return r < 2.9 ? twelve_six(r, 0.7, 0.95) : 0;
}

/* One value a species: the rules of Lorentz and Berthelot. */
static inline double lj_mixed(double r, int a, int b)
{
    const double epsilon[3] = {1, 0.25, 0.64}, sigma[3] = {1, 0.8, 1.1};
    double e = sqrt(epsilon[a] * epsilon[b]), s = (sigma[a] + sigma[b]) / 2;
    return r < 2.9 ? twelve_six(r, e, s) - twelve_six(2.9, e, s) : 0;
}

/* One a pair: 11, 12, 13, 22, 23, 33. */
static const double pair_epsilon[3][3] = {{1, 2, 3}, {2, 4, 5}, {3, 5, 6}};
static const double pair_sigma[3][3] = {{1, 0.9, 1.1}, {0.9, 0.8, 0.7}, {1.1, 0.7, 1.2}};

static inline double lj_force_shifted(double r, int a, int b)
{
    double e = pair_epsilon[a][b], s = pair_sigma[a][b], rc = 2.9;
    double slope = 4 * e * (6 * pow(s / rc, 6) - 12 * pow(s / rc, 12)) / rc;
    return r < rc ? twelve_six(r, e, s) - twelve_six(rc, e, s) - (r - rc) * slope : 0;
}

static inline double exp_six_eight(double r, int a, int b)
{
    double e = pair_epsilon[a][b], s = pair_sigma[a][b];
    return 10 * e * exp(4 * (s - r)) - e / pow(r, 6) - 0.3 * s / pow(r, 8);
}

static inline double bm_cut(double r, int a, int b) { return r < 2.9 ? exp_six_eight(r, a, b) : 0; }

static inline double bm_force_shifted(double r, int a, int b)
{
    double e = pair_epsilon[a][b], s = pair_sigma[a][b], rc = 2.9;
    double slope = -40 * e * exp(4 * (s - rc)) + 6 * e / pow(rc, 7) + 2.4 * s / pow(rc, 9);
    return r < rc ? exp_six_eight(r, a, b) - exp_six_eight(rc, a, b) - (r - rc) * slope : 0;
}

/* A cutoff and a truncation for each pair. */
static const double pair_cutoff[3][3] = {{2.9, 2.5, 2}, {2.5, 2.7, 2.2}, {2, 2.2, 2.6}};
static inline double end_of_pair(int a, int b) { return pair_cutoff[a][b]; }

static inline double lj_by_pair(double r, int a, int b)
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

static inline double n_to_m(double r, double e, double s, double n, double m)
{
    return n / (n - m) * pow(n / m, m / (n - m)) * e * (pow(s / r, n) - pow(s / r, m));
}

static inline double mie_cut(double r, int a, int b)
{
    (void)a, (void)b;
    return r < 2.9 ? n_to_m(r, 0.7, 0.95, 14, 7) : 0;
}

static inline double mie_by_pair(double r, int a, int b)
{
    double e = pair_epsilon[a][b], s = pair_sigma[a][b], rc = pair_cutoff[a][b];
    double n = pair_n[a][b], m = pair_m[a][b], c = n / (n - m) * pow(n / m, m / (n - m));
    double slope = c * e * (m * pow(s / rc, m) - n * pow(s / rc, n)) / rc;
    return r < rc ? n_to_m(r, e, s, n, m) - n_to_m(rc, e, s, n, m) - (r - rc) * slope : 0;
}

static inline double end_of_wca(int a, int b) { return pow(2, 1.0 / 6) * pair_sigma[a][b]; }

static inline double repulsive(double r, int a, int b)
{
    double e = pair_epsilon[a][b], s = pair_sigma[a][b];
    return r < end_of_wca(a, b) ? twelve_six(r, e, s) + e : 0;
}

/* Without attraction between 1 and 3. */
static const double pair_c[3][3] = {{1, 2, 0}, {2, 4, 5}, {0, 5, 6}};

static inline double exp_six(double r, int a, int b)
{
    return 2000 * pair_epsilon[a][b] * exp(-5 * pair_sigma[a][b] * r) - pair_c[a][b] / pow(r, 6);
}

static inline double buckingham_cut(double r, int a, int b)
{
    return r < 2.9 ? exp_six(r, a, b) : 0;
}

static inline double buckingham_by_pair(double r, int a, int b)
{
    double rc = pair_cutoff[a][b], steep = 5 * pair_sigma[a][b];
    double slope =
        -2000 * pair_epsilon[a][b] * steep * exp(-steep * rc) + 6 * pair_c[a][b] / pow(rc, 7);
    return r < rc ? exp_six(r, a, b) - exp_six(rc, a, b) - (r - rc) * slope : 0;
}

static inline double lj_whole(double r, int a, int b)
{
    return twelve_six(r, pair_epsilon[a][b], pair_sigma[a][b]);
}

static inline double mie_whole(double r, int a, int b)
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
static inline double uniform(void) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (double)(random_state * 2685821657736338717u >> 11) * 0x1p-53;
}

static inline void in_single(particles *p)
{
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < MANY; i++) {
            p->f[k][i] = (float)p->d[k][i];
            p->d[k][i] = (double)p->f[k][i]; /* the same particles in both */
        }
}

/* Anywhere in the cube [0, edge)^3, of species 0, 1, 2 in turn, or all of one species. */
static inline particles random_particles(double edge, int one_species)
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

static inline plugmc_particles first_of(const particles *p, int precision, int64_t n)
{
    if (precision == SINGLE)
        return (plugmc_particles){n, p->f[0], p->f[1], p->f[2], p->f[3], p->f[4], p->species};
    return (plugmc_particles){n, p->d[0], p->d[1], p->d[2], p->d[3], p->d[4], p->species};
}

static inline plugmc_particle probe_at(double x, double y, double z, int species)
{
    return (plugmc_particle){(float)x, (float)y, (float)z, charge_of[species], diameter_of[species],
                             species};
}

static inline void three_species(bench *b, const double edges[3])
{
    bench_begin(b, 3, edges, 1, 1);
    for (int k = 0; k < 3; k++) {
        b->system.box.vector[k][k] = b->system.box.length[k];
        b->system.box.inverse[k][k] = 1 / b->system.box.length[k];
        bench_species(b, (const char *[]){"A", "B", "C"}[k], 10, diameter_of[k], charge_of[k]);
    }
}

/* Every formula is tried beside a hard core, which keeps opposite charges apart. */
static inline pair_potential formula_new(bench *b, const struct formula *f)
{
    three_species(b, (const double[]){20, 20, 20});
    potential_new(b, "hard_disk", "");
    return potential_new(b, f->name, f->keys);
}

static const plugmc_box no_box = {.domain = PLUGMC_DOMAIN_SPHERE, .dimension = 3, .radius = 1e3};

static inline double end_of(const struct formula *f, int a, int b)
{
    return f->end ? f->end(a, b) : f->range;
}

/* The energy of two particles at a distance along a direction that has no zeros. */
static inline double at_distance(const pair_potential *p, int precision, double r, int a, int b,
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
static inline double typical(const struct formula *f, int a, int b)
{
    double largest = f->energy == repulsive ? pair_epsilon[a][b] : 0;
    for (double r = 1; r < 3; r += 0.01) largest = fmax(largest, fabs(f->energy(r, a, b)));
    return largest;
}

#endif
