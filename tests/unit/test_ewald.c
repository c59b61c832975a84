/* coulomb_ewald against lattice sums, its own derivatives and itself after many single moves. The NIST
 * configurations of water are in test_water.c. */
#include "boxes.h"
#include "testing.h"

#include "movers.h"
#include "forces.h"

typedef struct ewald {
    const plugmc_plugin *plugin;
    const plugmc_total *total;
    const plugmc_pair *pair;
    void *instance, *single;
} ewald;

/* ---- A box and the potential in it ----------------------------------------------------------- */

static void begin_box(bench *b, const double v[3][3])
{
    bench_begin(b, 3, (double[3]){1, 1, 1}, 1, 7);
    bench_vectors(b, v);
}

static void begin_cube(bench *b, double edge)
{
    begin_box(b, (double[3][3]){{edge, 0, 0}, {0, edge, 0}, {0, 0, edge}});
}

/* The code of what fails first. */
static int try_ewald(bench *b, const char *settings, ewald *out)
{
    bench_potential(b, "coulomb_ewald", settings);
    const plugmc_term *term = &b->terms[b->system.term_count - 1];
    *out = (ewald){term->plugin, term->plugin->potential->total, term->plugin->potential->pair,
                   term->instance, term->instance_single};
    int code = out->plugin->configure(out->instance, &b->host);
    if (!code) code = out->plugin->single->configure(out->single, &b->host);
    return code ? code : out->plugin->prepare(out->instance, &b->host);
}

static ewald new_ewald(bench *b, const char *settings)
{
    ewald e;
    bench_expect(b, try_ewald(b, settings, &e));
    return e;
}

static plugmc_view view_at(const bench *b, const double *positions)
{
    return (plugmc_view){
        .size = sizeof(plugmc_view), .positions = positions, .box = boxes_of(&b->system)};
}

static double charge_of(const bench *b, int64_t i)
{
    int s = 0;
    while (i >= b->first[s + 1]) s++;
    return b->species[s].charge;
}

/* Energy of all pairs; their forces and virial are added where wanted. */
static double pairs(const bench *b, const ewald *e, const double *positions, double *forces,
                    double virial[3])
{
    const int64_t n = b->system.particles;
    double *column = calloc((size_t)(5 * n), sizeof *column);
    int32_t *species = calloc((size_t)n, sizeof *species);
    for (int64_t i = 0; i < n; i++) {
        for (int d = 0; d < 3; d++) column[d * n + i] = positions[3 * i + d];
        column[3 * n + i] = charge_of(b, i);
    }
    double energy = 0;
    for (int64_t i = 0; i < n; i++) {
        plugmc_particle probe = {
            positions[3 * i], positions[3 * i + 1], positions[3 * i + 2], charge_of(b, i), 0, 0};
        plugmc_derivatives sum = {0};
        for (int half = 0; half < 2; half++) {
            const int64_t first = half ? i + 1 : 0, count = half ? n - i - 1 : i;
            plugmc_particles others = {count,
                                       column + first,
                                       column + n + first,
                                       column + 2 * n + first,
                                       column + 3 * n + first,
                                       column + 4 * n + first,
                                       species};
            e->pair->derivatives(e->instance, &b->system.box, 1, 0, &probe, &others, &sum);
        }
        energy += sum.energy / 2;
        for (int d = 0; d < 3 && forces; d++) forces[3 * i + d] -= sum.gradient[d];
        for (int d = 0; d < 3 && virial; d++) virial[d] += sum.virial[d] / 2;
    }
    free(column);
    free(species);
    return energy;
}

static double waves(const bench *b, const ewald *e, const double *positions, double *forces,
                    double virial[3])
{
    double energy = 0;
    plugmc_view view = view_at(b, positions);
    plugmc_total_request request = {sizeof request, &view, &energy, forces, virial};
    assert_int_equal(e->total->energy(e->instance, &request), PLUGMC_OK);
    return energy;
}

static double all_energy(const bench *b, const ewald *e, const double *positions)
{
    return pairs(b, e, positions, NULL, NULL) + waves(b, e, positions, NULL, NULL);
}

/* Uniform numbers of a fixed sequence. */
static double uniform(uint64_t *state)
{
    plugmc_random r =
        plugmc_draw((plugmc_seed){20240607}, ++*state, 0, 0, PLUGMC_PURPOSE_INITIAL, 0);
    return plugmc_uniform_double(r.word[0], r.word[1]);
}

static void random_positions(const bench *b, uint64_t *state, double *positions)
{
    const plugmc_box *box = &b->system.box;
    for (int64_t i = 0; i < b->system.particles; i++) {
        const double f[3] = {uniform(state), uniform(state), uniform(state)};
        for (int d = 0; d < 3; d++)
            positions[3 * i + d] =
                f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
    }
}

/* ---- Lattices -------------------------------------------------------------------------------- */

typedef struct lattice {
    const char *name;
    double edge; /* of the cube, with nearest neighbours at distance 1 */
    double charge[2];
    int count[2], units;
    double place[12][3]; /* in units of the edge */
    double energy;       /* of a formula unit */
} lattice;

#define FCC                                                                                        \
    {0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, { .5, .5, 0 }
static const lattice lattices[] = {
    {"NaCl",
     2,
     {1, -1},
     {4, 4},
     4,
     {FCC, {.5, 0, 0}, {0, .5, 0}, {0, 0, .5}, {.5, .5, .5}},
     -1.747564594633},
    {"CsCl", 1.1547005383792517, {1, -1}, {1, 1}, 1, {{0, 0, 0}, {.5, .5, .5}}, -1.762674773071},
    {"ZnS",
     2.3094010767585034,
     {1, -1},
     {4, 4},
     4,
     {FCC, {.25, .25, .25}, {.25, .75, .75}, {.75, .25, .75}, {.75, .75, .25}},
     -1.638055053389},
    {"CaF2",
     2.3094010767585034,
     {2, -1},
     {4, 8},
     4,
     {FCC,
      {.25, .25, .25},
      {.25, .75, .75},
      {.75, .25, .75},
      {.75, .75, .25},
      {.75, .75, .75},
      {.75, .25, .25},
      {.25, .75, .25},
      {.25, .25, .75}},
     -5.038784879849},
};

static void energies_of_lattices(void **state)
{
    (void)state;
    for (size_t l = 0; l < sizeof lattices / sizeof lattices[0]; l++) {
        const lattice *c = &lattices[l];
        bench b;
        begin_cube(&b, c->edge);
        bench_species(&b, "A", c->count[0], 0, c->charge[0]);
        bench_species(&b, "B", c->count[1], 0, c->charge[1]);
        bench_potential(&b, "hard_disk", ""); /* opposite charges need a core */
        b.species[0].diameter = b.species[1].diameter = 0.5;
        ewald e = new_ewald(&b, "bjerrum_length=1 tolerance=1e-13");
        double positions[12 * 3];
        for (int64_t i = 0; i < 3 * b.system.particles; i++)
            positions[i] = c->edge * c->place[i / 3][i % 3];
        const double energy = all_energy(&b, &e, positions) / c->units;
        printf("%s: %.13f\n", c->name, energy);
        assert_close(energy, c->energy, 1e-10, 0);
        bench_end(&b);
    }
}

/* The same crystal from its primitive cell of two ions. */
static void oblique_cells(void **state)
{
    (void)state;
    bench b;
    begin_box(&b, (double[3][3]){{0, 1, 1}, {1, 0, 1}, {1, 1, 0}});
    bench_species(&b, "Na", 1, 0.5, 1);
    bench_species(&b, "Cl", 1, 0.5, -1);
    bench_potential(&b, "hard_disk", "");
    ewald e = new_ewald(&b, "bjerrum_length=1 tolerance=1e-13");
    const double positions[6] = {0.1, 0.2, 0.3, 1.1, 0.2, 0.3};
    assert_close(all_energy(&b, &e, positions), lattices[0].energy, 1e-10, 0);
    bench_end(&b);
}

static void a_lone_charge_in_its_background(void **state)
{
    (void)state;
    bench b;
    begin_cube(&b, 3);
    bench_species(&b, "ion", 1, 0, 1);
    ewald e = new_ewald(&b, "bjerrum_length=2 tolerance=1e-13");
    assert_close(all_energy(&b, &e, (double[3]){1, 2, 0.5}), -2 * 2.837297479481 / (2 * 3), 1e-10,
                 0);
    assert_int_equal(b.warnings, 1);
    assert_non_null(strstr(b.message, "background"));
    bench_end(&b);
}

/* ---- Derivatives ----------------------------------------------------------------------------- */

static const double brick[3][3] = {{3, 0, 0}, {0, 3.5, 0}, {0, 0, 4}};
static const double slanted[3][3] = {{3, 0, 0}, {1, 3.2, 0}, {-0.8, 0.7, 3.6}};

/* 12 ions that do not touch their neighbours. */
static ewald ions_in(bench *b, const double v[3][3], const char *settings)
{
    begin_box(b, v);
    bench_species(b, "A", 4, 1e-3, 2);
    bench_species(b, "B", 8, 1e-3, -1);
    bench_potential(b, "hard_disk", "");
    return new_ewald(b, settings);
}

/* What it tells movers is the energy that it finds itself. */
static void waves_that_are_told_add_up(void **state)
{
    (void)state;
    for (int oblique = 0; oblique < 2; oblique++) {
        bench b;
        ewald e = ions_in(&b, oblique ? slanted : brick, "bjerrum_length=0.7 tolerance=1e-6");
        uint64_t sequence = 5;
        double r[36];
        plugmc_waves told = {.size = sizeof told};
        random_positions(&b, &sequence, r);
        assert_int_equal(e.total->waves(e.instance, &told), PLUGMC_OK);
        double energy = told.constant;
        for (int64_t k = 0; k < told.count; k++) {
            double re = 0, im = 0;
            for (int64_t i = 0; i < 12; i++) {
                double phase = 0;
                for (int d = 0; d < 3; d++)
                    for (int x = 0; x < 3; x++)
                        phase +=
                            2 * M_PI * told.n[k][d] * r[3 * i + x] * b.system.box.inverse[x][d];
                re += charge_of(&b, i) * cos(phase);
                im += charge_of(&b, i) * sin(phase);
            }
            energy += told.weight[k] * (re * re + im * im);
        }
        printf("%lld waves: %.15g\n", (long long)told.count, energy);
        assert_true(told.count > 100);
        assert_close(energy, waves(&b, &e, r, NULL, NULL), 1e-12, 0);
        bench_end(&b);
    }
}

/* Waves of a setting, each with its length at most `longest` and components at most `most`; with their mirror images. */
static int64_t waves_within(const char *settings, double longest, int most)
{
    bench b;
    ewald e = ions_in(&b, slanted, settings);
    plugmc_waves told = {.size = sizeof told};
    int64_t expected = 0;
    assert_int_equal(e.total->waves(e.instance, &told), PLUGMC_OK);
    for (int i = 0; i < 21 * 21 * 21; i++) {
        const int n[3] = {i % 21 - 10, i / 21 % 21 - 10, i / 441 - 10};
        double square = 0;
        for (int x = 0; x < 3; x++) {
            double k = 0;
            for (int d = 0; d < 3; d++) k += 2 * M_PI * n[d] * b.system.box.inverse[x][d];
            square += k * k;
        }
        expected += i != 4630 && square <= longest * longest && abs(n[0]) <= most &&
                    abs(n[1]) <= most && abs(n[2]) <= most;
    }
    assert_int_equal(2 * told.count, expected);
    bench_end(&b);
    return expected;
}

static void the_longest_wave_is_chosen(void **state)
{
    (void)state;
    const int64_t ball = waves_within("bjerrum_length=0.7 k_cutoff=9", 9, 10),
                  cell = waves_within("bjerrum_length=0.7 k_max=4", INFINITY, 4),
                  both = waves_within("bjerrum_length=0.7 k_max=4 k_cutoff=9", 9, 4);
    printf("%lld waves up to 9, %lld with |n| <= 4, %lld with both\n", (long long)ball,
           (long long)cell, (long long)both);
    assert_true(both < ball && both < cell);
}

static void forces_are_the_gradient(void **state)
{
    (void)state;
    for (int oblique = 0; oblique < 2; oblique++) {
        bench b;
        ewald e = ions_in(&b, oblique ? slanted : brick, "bjerrum_length=0.7 tolerance=1e-14");
        uint64_t sequence = 3;
        double r[36], forces[36] = {0}, worst = 0, largest = 0;
        random_positions(&b, &sequence, r);
        pairs(&b, &e, r, forces, NULL);
        waves(&b, &e, r, forces, NULL);
        for (int i = 0; i < 36; i++) {
            static const double step[6] = {-3, -2, -1, 1, 2, 3};
            static const double share[6] = {-1. / 60, 9. / 60,  -45. / 60,
                                            45. / 60, -9. / 60, 1. / 60};
            const double h = 2e-3, at = r[i];
            double slope = 0;
            for (int k = 0; k < 6; k++) {
                r[i] = at + step[k] * h;
                slope += share[k] * all_energy(&b, &e, r) / h;
            }
            r[i] = at;
            worst = fmax(worst, fabs(slope + forces[i]));
            largest = fmax(largest, fabs(forces[i]));
        }
        printf("forces up to %g, differences off by %g\n", largest, worst);
        assert_true(worst <= 1e-8 * largest);
        bench_end(&b);
    }
}

static void virial_is_the_change_with_the_box(void **state)
{
    (void)state;
    for (int oblique = 0; oblique < 2; oblique++) {
        const double(*v)[3] = oblique ? slanted : brick;
        static const char settings[] = "bjerrum_length=0.7 alpha=3.6 cutoff=1.49 k_max=22";
        bench b;
        ewald e = ions_in(&b, v, settings);
        b.species[0].charge = 2.5; /* with a background */
        e = new_ewald(&b, settings);
        uint64_t sequence = 3;
        double r[36], virial[3] = {0};
        random_positions(&b, &sequence, r);
        const double energy = pairs(&b, &e, r, NULL, virial) + waves(&b, &e, r, NULL, virial);
        /* the energy of a box x times as large is 1/x of it */
        assert_close(virial[0] + virial[1] + virial[2], energy, 1e-9, 0);
        for (int d = 0; d < 3; d++) {
            double ends[2];
            for (int side = 0; side < 2; side++) {
                const double scale = 1 + (side ? 1e-4 : -1e-4);
                double w[3][3], s[36];
                for (int a = 0; a < 9; a++)
                    w[a / 3][a % 3] = v[a / 3][a % 3] * (a % 3 == d ? scale : 1);
                for (int i = 0; i < 36; i++) s[i] = r[i] * (i % 3 == d ? scale : 1);
                bench stretched;
                ions_in(&stretched, w, settings);
                stretched.species[0].charge = 2.5;
                ewald other = new_ewald(&stretched, settings);
                ends[side] = all_energy(&stretched, &other, s);
                bench_end(&stretched);
            }
            assert_close(virial[d], (ends[0] - ends[1]) / 2e-4, 1e-6, 0);
        }
        bench_end(&b);
    }
}

static void float_is_as_good_as_float(void **state)
{
    (void)state;
    bench b;
    ewald e = ions_in(&b, (double[3][3]){{30, 0, 0}, {0, 30, 0}, {0, 0, 30}},
                      "bjerrum_length=2 tolerance=1e-6");
    double worst[2] = {0};
    const plugmc_pair *single = e.plugin->single->potential->pair;
    for (int i = 1; i < 1400; i++) {
        const float x = 0.01f * (float)i, none = 0, one = 1;
        const double x2 = x, none2 = 0, one2 = 1;
        const int32_t species = 0;
        const plugmc_particle probe = {0, 0, 0, 1, 0, 0};
        plugmc_derivatives f = {0}, d = {0};
        single->derivatives(e.single, &b.system.box, 1, 0, &probe,
                            &(plugmc_particles){1, &x, &none, &none, &one, &none, &species}, &f);
        e.pair->derivatives(e.instance, &b.system.box, 1, 0, &probe,
                            &(plugmc_particles){1, &x2, &none2, &none2, &one2, &none2, &species},
                            &d);
        const double a = sqrt(-log(2e-6)) / 15, exact = 2 * erfc(a * x2) / x2,
                     slope = exact / x2 + 4 * a / sqrt(M_PI) * exp(-a * a * x2 * x2) / x2;
        assert_close(d.energy, exact, 1e-13, 0);
        assert_close(fabs(d.gradient[0]), slope, 1e-13, 0);
        worst[0] = fmax(worst[0], fabs(f.energy - exact) * x2 / 2);
        worst[1] = fmax(worst[1], fabs(fabs(f.gradient[0]) - slope) * x2 * x2 / 2);
    }
    printf("float: energies off by %.2g, forces by %.2g of 1/r and 1/r^2\n", worst[0], worst[1]);
    assert_true(worst[0] < 3e-7 && worst[1] < 5e-7);
    bench_end(&b);
}

/* What is asked for is what is got, for forces in a disordered system: not worse than twice, and
 * not better than a tenth. */
static void the_tolerance_is_the_error(void **state)
{
    (void)state;
    static const double tolerances[] = {1e-3, 1e-5, 1e-7};
    for (int t = 0; t < 3; t++) {
        double r[36], forces[2][36] = {{0}}, squares = 0, errors = 0;
        for (int exact = 0; exact < 2; exact++) {
            bench b;
            char settings[128];
            snprintf(settings, sizeof settings, "bjerrum_length=1 tolerance=%g",
                     exact ? 1e-14 : tolerances[t]);
            ewald e = ions_in(&b, brick, settings);
            uint64_t sequence = 11;
            random_positions(&b, &sequence, r);
            pairs(&b, &e, r, forces[exact], NULL);
            waves(&b, &e, r, forces[exact], NULL);
            bench_end(&b);
        }
        for (int i = 0; i < 36; i++) {
            squares += forces[1][i] * forces[1][i];
            errors += (forces[0][i] - forces[1][i]) * (forces[0][i] - forces[1][i]);
        }
        printf("tolerance %g: error %.2g\n", tolerances[t], sqrt(errors / squares));
        assert_true(sqrt(errors / squares) < 2 * tolerances[t]);
        assert_true(sqrt(errors / squares) > 0.01 * tolerances[t]);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    bench b;
    ewald e = ions_in(&b, slanted, "bjerrum_length=0.7 tolerance=1e-6");
    uint64_t sequence = 5;
    double r[36], forces[3][36] = {{0}}, energy[3];
    random_positions(&b, &sequence, r);
    for (int k = 0; k < 3; k++) {
        b.system.threads = k + 1;
        energy[k] = waves(&b, &e, r, forces[k], NULL);
        assert_memory_equal(&energy[k], &energy[0], sizeof energy[0]);
        assert_memory_equal(forces[k], forces[0], sizeof forces[0]);
    }
    bench_end(&b);
}

/* ---- Single moves ---------------------------------------------------------------------------- */

static void kept_energy_after_many_moves(void **state)
{
    (void)state;
    enum { MOVES = 100000 };
    bench b;
    ewald e = ions_in(&b, slanted, "bjerrum_length=0.7 tolerance=1e-4");
    uint64_t sequence = 17;
    int64_t rejected = 0;
    double r[36];
    random_positions(&b, &sequence, r);
    plugmc_view view = view_at(&b, r);
    assert_int_equal(e.total->start(e.instance, &view), PLUGMC_OK);
    double kept = waves(&b, &e, r, NULL, NULL), to[3], change, before;
    for (int m = 0; m < MOVES; m++) {
        const int64_t i = (int64_t)(12 * uniform(&sequence));
        for (int d = 0; d < 3; d++) to[d] = r[3 * i + d] + 1.5 * (uniform(&sequence) - 0.5);
        plugmc_wrap(&b.system.box, to);
        before = change = 0;
        if (m % 1000 == 0) before = waves(&b, &e, r, NULL, NULL);
        assert_int_equal(e.total->change(e.instance, 0, i, to, &change), PLUGMC_OK);
        if (m % 1000 == 0) { /* against two whole sums */
            double moved[36];
            memcpy(moved, r, sizeof r);
            memcpy(moved + 3 * i, to, sizeof to);
            assert_close(change, waves(&b, &e, moved, NULL, NULL) - before, 1e-9, 1e-9);
        }
        const int accepted = uniform(&sequence) < exp(-change);
        assert_int_equal(e.total->settle(e.instance, 0, accepted), PLUGMC_OK);
        rejected += !accepted;
        if (!accepted) continue;
        memcpy(r + 3 * i, to, sizeof to);
        kept += change;
    }
    const double fresh = waves(&b, &e, r, NULL, NULL);
    printf("%d moves, %lld rejected: %.15g kept, %.15g fresh\n", MOVES, (long long)rejected, kept,
           fresh);
    assert_true(rejected > MOVES / 20 && rejected < MOVES * 19 / 20);
    assert_close(kept, fresh, 1e-10, 0);
    assert_int_not_equal(e.total->settle(e.instance, 0, 1), PLUGMC_OK); /* nothing has moved */
    bench_end(&b);
}

/* A crystal of 64 ions, two walkers. */
static test_mover start_salt(bench *b, ewald *e, double *positions)
{
    begin_cube(b, 8);
    b->system.walkers = 2;
    bench_species(b, "A", 32, 1, 1);
    bench_species(b, "B", 32, 1, -1);
    bench_potential(b, "hard_disk", "");
    *e = new_ewald(b, "bjerrum_length=3 cutoff=3 tolerance=1e-4");
    for (int i = 0; i < 128; i++) {
        const int site = i % 32, x = site % 4, y = site / 4 % 4, layer = site / 16,
                  z = 2 * layer + (i % 64 < 32 ? (x + y) % 2 : (x + y + 1) % 2);
        positions[3 * i] = 2 * x;
        positions[3 * i + 1] = 2 * y;
        positions[3 * i + 2] = 2 * z;
    }
    return mover_new(b, "serial", "step=1");
}

static void a_resumed_run_goes_on(void **state)
{
    (void)state;
    static double first[384], middle[384], straight[384], resumed[384];
    bench b;
    ewald e;
    test_mover mover = start_salt(&b, &e, first);
    mover_load(&b, &mover, first);
    mover_sweep(&b, &mover, 0, 20);
    mover_store(&b, &mover, middle);
    test_archive of_mover, of_sum = archive_begin(&b);
    mover_save(&b, &mover, &of_mover);
    bench_expect(&b, e.plugin->archive(e.instance, &b.host, &of_sum.base));
    mover_sweep(&b, &mover, 20, 20);
    mover_store(&b, &mover, straight);
    test_archive at_end = archive_begin(&b);
    bench_expect(&b, e.plugin->archive(e.instance, &b.host, &at_end.base));
    bench_end(&b);

    mover = start_salt(&b, &e, first);
    mover_load(&b, &mover, middle);
    test_archive fresh = archive_begin(&b);
    bench_expect(&b, e.plugin->archive(e.instance, &b.host, &fresh.base));
    assert_memory_not_equal(fresh.blob[0].data, of_sum.blob[0].data, of_sum.blob[0].bytes);
    mover_restore(&b, &mover, &of_mover);
    of_sum.base.reading = 1;
    bench_expect(&b, e.plugin->archive(e.instance, &b.host, &of_sum.base));
    mover_sweep(&b, &mover, 20, 20);
    mover_store(&b, &mover, resumed);
    test_archive again = archive_begin(&b);
    bench_expect(&b, e.plugin->archive(e.instance, &b.host, &again.base));
    assert_memory_equal(resumed, straight, sizeof resumed);
    assert_memory_not_equal(resumed, middle, sizeof resumed);
    assert_memory_equal(again.blob[0].data, at_end.blob[0].data, at_end.blob[0].bytes);
    bench_end(&b);
    archive_end(&of_mover), archive_end(&of_sum), archive_end(&at_end);
    archive_end(&fresh), archive_end(&again);
}

/* ---- What cannot be -------------------------------------------------------------------------- */

static void refuses(bench *b, const char *settings, const char *says)
{
    ewald e;
    if (try_ewald(b, settings, &e) == PLUGMC_OK) fail_msg("%s: accepted", settings);
    if (!strstr(b->message, says)) fail_msg("'%s' is not in: %s", says, b->message);
    bench_end(b);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    bench b;
    begin_cube(&b, 4);
    bench_species(&b, "ion", 2, 0, 1);
    refuses(&b, "bjerrum_length=1 cutoff=2.1", "half the shortest distance");
    begin_cube(&b, 4);
    bench_species(&b, "ion", 2, 0, 1);
    b.system.box.dimension = 2;
    refuses(&b, "bjerrum_length=1", "two-dimensional");
    begin_cube(&b, 4);
    bench_species(&b, "ion", 2, 0, 1);
    b.system.box.domain = PLUGMC_DOMAIN_SPHERE;
    refuses(&b, "bjerrum_length=1", "a sphere");
    begin_cube(&b, 0);
    bench_species(&b, "ion", 2, 0, 1);
    refuses(&b, "bjerrum_length=1", "volume");
    begin_cube(&b, 4);
    bench_species(&b, "ion", 2, 0, 0);
    refuses(&b, "bjerrum_length=1", "no species has a charge");
    begin_cube(&b, 4);
    bench_species(&b, "A", 1, 0, 1);
    bench_species(&b, "B", 1, 0, -1);
    refuses(&b, "bjerrum_length=1", "attract each other");
    begin_cube(&b, 4);
    bench_species(&b, "ion", 2, 0, 1);
    refuses(&b, "bjerrum_length=1 n_square=3", "n_square needs k_max");
    begin_cube(&b, 4);
    bench_species(&b, "ion", 2, 0, 1);
    refuses(&b, "bjerrum_length=1 k_max=3 k_cutoff=1.5", "no wave is shorter than 1.5");
    begin_cube(&b, 4);
    bench_species(&b, "ion", 2, 0, 1);
    refuses(&b, "bjerrum_length=1 k_cutoff=2000", "k_cutoff needs 1273 waves along an edge");
    begin_cube(&b, 400);
    bench_species(&b, "ion", 2, 0, 1);
    refuses(&b, "bjerrum_length=1 cutoff=0.5", "larger cutoff");
}

static void positions_that_are_not_numbers(void **state)
{
    (void)state;
    bench b;
    begin_cube(&b, 4);
    bench_species(&b, "ion", 2, 0, 1);
    ewald e = new_ewald(&b, "bjerrum_length=1");
    double r[6] = {1, 1, 1, 2, NAN, 2}, energy = 0;
    plugmc_view view = view_at(&b, r);
    plugmc_total_request request = {sizeof request, &view, &energy, NULL, NULL};
    assert_int_not_equal(e.total->energy(e.instance, &request), PLUGMC_OK);
    assert_non_null(strstr(b.message, "particle 1 of walker 0"));
    assert_int_not_equal(e.total->start(e.instance, &view), PLUGMC_OK);
    bench_end(&b);
}

TEST_MAIN(cmocka_unit_test(energies_of_lattices), cmocka_unit_test(oblique_cells),
          cmocka_unit_test(a_lone_charge_in_its_background),
          cmocka_unit_test(waves_that_are_told_add_up),
          cmocka_unit_test(the_longest_wave_is_chosen), cmocka_unit_test(forces_are_the_gradient),
          cmocka_unit_test(virial_is_the_change_with_the_box),
          cmocka_unit_test(float_is_as_good_as_float), cmocka_unit_test(the_tolerance_is_the_error),
          cmocka_unit_test(threads_do_not_matter), cmocka_unit_test(kept_energy_after_many_moves),
          cmocka_unit_test(a_resumed_run_goes_on), cmocka_unit_test(refuses_what_cannot_be),
          cmocka_unit_test(positions_that_are_not_numbers))
