/* structure_factor: crystals, ideal gases, and its definition. */
#include "boxes.h"
#include "testing.h"

#include "movers.h"
#include "forces.h"

typedef struct factor {
    const plugmc_plugin *plugin;
    const plugmc_observable *calls;
    void *instance;
} factor;

static int try_factor(bench *b, const char *settings, factor *out)
{
    out->plugin = open_plugin("structure_factor");
    out->calls = out->plugin->observable;
    out->instance = bench_allocate(b->host.context, out->plugin->instance_size);
    set_all(b, out->plugin, out->instance, settings);
    return out->plugin->prepare(out->instance, &b->host);
}

static factor new_factor(bench *b, const char *settings)
{
    factor f;
    bench_expect(b, try_factor(b, settings, &f));
    return f;
}

static void measure(bench *b, const factor *f, const double *positions, double *values)
{
    plugmc_view view = {.size = sizeof view, .positions = positions, .box = boxes_of(&b->system)};
    bench_expect(b, f->calls->measure(f->instance, &b->host, &view, values));
}

static plugmc_quantity row_of(const factor *f, int index, const char *name)
{
    plugmc_quantity q = {.size = sizeof q};
    assert_int_equal(f->calls->quantity(f->instance, index, &q), 1);
    assert_string_equal(q.name, name);
    return q;
}

static void random_places(const bench *b, uint64_t sample, double *positions)
{
    const plugmc_box *box = &b->system.box;
    for (int64_t i = 0; i < b->system.particles * b->system.walkers; i++) {
        const plugmc_random r =
            plugmc_draw((plugmc_seed){4}, sample, 0, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
        for (int e = 0; e < 3; e++) {
            positions[3 * i + e] = 0;
            for (int d = 0; d < box->dimension; d++)
                positions[3 * i + e] += r.word[d] * 0x1p-32 * box->vector[d][e];
        }
    }
}

/* Simple cubic: N at the waves of the reciprocal lattice, 0 at all others. */
static void a_crystal_has_peaks(void **state)
{
    (void)state;
    bench b;
    double r[64 * 3], values[200];
    bench_begin(&b, 3, (double[3]){1, 1, 1}, 1, 1);
    bench_cube(&b, 4);
    bench_species(&b, "A", 64, 0, 0);
    bench_lattice(&b, 4, 0, r);
    factor f = new_factor(&b, "k_max=6.5");
    const plugmc_quantity q = row_of(&f, 0, "A-A");
    assert_close(q.abscissa[0][0], M_PI / 2, 1e-12, 0);
    measure(&b, &f, r, values);
    int peaks = 0;
    for (int64_t s = 0; s < q.shape[0]; s++) {
        const double n2 = pow(q.abscissa[0][s] / (M_PI / 2), 2);
        if (fabs(n2 - 16) > 1e-6) {
            assert_close(values[s], 0, 0, 1e-20);
            continue;
        }
        peaks++; /* all six waves of n = (4, 0, 0) */
        assert_close(values[s], 64, 1e-12, 0);
    }
    assert_int_equal(peaks, 1);
    bench_end(&b);
}

/* Means of S_aa are 1, of S_ab 0; z beyond 4 in 1 of 16,000 cases, a dozen of them here. */
static void an_ideal_gas_has_none(void **state)
{
    (void)state;
    enum { SAMPLES = 4000 };
    bench b;
    double r[30 * 3];
    bench_begin(&b, 2, (double[3]){1, 1, 1}, 1, 1);
    bench_vectors(&b, (double[3][3]){{3, 0, 0}, {0, 4, 0}, {0, 0, 1}});
    bench_species(&b, "A", 10, 0, 0);
    bench_species(&b, "B", 20, 0, 0);
    factor f = new_factor(&b, "k_max=8 shells=4");
    const int64_t n = row_of(&f, 0, "A-A").shape[0];
    row_of(&f, 1, "A-B");
    row_of(&f, 2, "B-B");
    assert_true(n > 1 && n <= 4);
    double sum[12] = {0}, squares[12] = {0}, values[12];
    for (int s = 0; s < SAMPLES; s++) {
        random_places(&b, (uint64_t)s, r);
        measure(&b, &f, r, values);
        for (int64_t i = 0; i < 3 * n; i++) {
            sum[i] += values[i] / SAMPLES;
            squares[i] += values[i] * values[i] / SAMPLES;
        }
    }
    for (int64_t i = 0; i < 3 * n; i++)
        assert_z("S", sum[i], sqrt((squares[i] - sum[i] * sum[i]) / SAMPLES), i / n == 1 ? 0 : 1,
                 4);
    bench_end(&b);
}

/* Every wave with |k| up to k_max and its opposite, by the sum over all pairs of particles. */
static void its_definition(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b, 3, (double[3]){1, 1, 1}, 2, 1);
    bench_vectors(&b, (double[3][3]){{3, 0, 0}, {1, 3, 0}, {-1, 0.5, 4}});
    bench_species(&b, "A", 5, 0, 0);
    bench_species(&b, "B", 9, 0, 0);
    factor f = new_factor(&b, "k_max=6 shells=3");
    double *r = bench_positions(&b), values[3][2 * 9], expected[3][3] = {{0}}, waves[3] = {0};
    random_places(&b, 1, r);
    for (int t = 0; t < 3; t++) {
        b.system.threads = t + 1;
        measure(&b, &f, r, values[t]);
        assert_memory_equal(values[t], values[0], sizeof values[0]);
    }
    const plugmc_box *box = &b.system.box;
    for (int wave = 0; wave < 21 * 21 * 21; wave++) {
        const int n[3] = {wave % 21 - 10, wave / 21 % 21 - 10, wave / 441 - 10};
        double k[3], k2 = 0;
        for (int e = 0; e < 3; e++) {
            k[e] =
                2 * M_PI *
                (n[0] * box->inverse[e][0] + n[1] * box->inverse[e][1] + n[2] * box->inverse[e][2]);
            k2 += k[e] * k[e];
        }
        if (k2 == 0 || k2 > 36) continue;
        const int shell = (int)(sqrt(k2) / 2);
        waves[shell]++;
        for (int i = 0; i < 14; i++)
            for (int j = 0; j < 14; j++) {
                double phase = 0;
                for (int e = 0; e < 3; e++)
                    phase += k[e] * (r[3 * (14 + i) + e] - r[3 * (14 + j) + e]);
                if (i < 5 && j < 5) expected[0][shell] += cos(phase) / 5;
                if (i < 5 && j >= 5) expected[1][shell] += cos(phase) / sqrt(45);
                if (i >= 5 && j >= 5) expected[2][shell] += cos(phase) / 9;
            }
    }
    assert_int_equal(row_of(&f, 0, "A-A").shape[0], 3);
    for (int row = 0; row < 3; row++)
        for (int s = 0; s < 3; s++)
            assert_close(values[0][9 + 3 * row + s], expected[row][s] / waves[s], 1e-11, 1e-11);
    free(r);
    bench_end(&b);
}

/* ---- Corrections for the size of the box -------------------------------------------------------- */

/* 54 electrons with r_s, unlike numbers of both spins. */
static void electrons(bench *b, double rs, double charge)
{
    bench_begin(b, 3, (double[3]){1, 1, 1}, 1, 1);
    bench_cube(b, rs * cbrt(4 * M_PI / 3 * 54));
    bench_species(b, "up", 36, 0, charge);
    bench_species(b, "down", 18, 0, charge);
}

/* Those of the gas, an electron of 54: w / (4 N) both, 0.008019 at r_s = 1 and 0.000717 at 5. */
static void corrections_of_the_gas_are_known(void **state)
{
    (void)state;
    static const double known[2][2] = {{1, 0.008019}, {5, 0.000717}};
    for (int i = 0; i < 2; i++) {
        bench b;
        double out[4], means[30] = {0};
        electrons(&b, known[i][0], -1);
        factor f = new_factor(&b, i ? "k_max=0.5 finite_size=gas" : "k_max=3 finite_size=gas");
        assert_int_equal(f.calls->derive(f.instance, means, out), PLUGMC_OK);
        assert_close(out[0], 1 / (2 * sqrt(3 / pow(known[i][0], 3))), 1e-12, 0);
        assert_close(out[1] / 54, known[i][1], 0, 5e-7);
        assert_close(out[2] / 54, known[i][1], 0, 5e-7);
        assert_null(f.calls->lacking(f.instance, means));
        bench_end(&b);
    }
}

/* Kinetic energy of the wave k of determinants with a Jastrow factor, those of S_0 = s k for small k; less beyond
 * `most`, so that sums and integrals end. */
static double kinetic_energy(double k, double w, double s, double most)
{
    const double alone = tanh(s * k), both = 1 / sqrt(pow(alone, -2) + 4 * w * w / pow(k, 4));
    return k * k * pow(both - alone, 2) / (8 * both * alone * alone) * exp(-pow(1.5 * k / most, 8));
}

/* The integral of that over all k, less the sum over the waves that fit into the box. */
static double lacking_in_a_box(const plugmc_box *box, double w, double s, double most)
{
    enum { STEPS = 100000, REACH = 50 };
    double out = 0;
    for (int i = 0; i < STEPS; i++) {
        const double step = most / STEPS, k = (i + 0.5) * step;
        out += box->volume / (2 * M_PI * M_PI) * k * k * step * kinetic_energy(k, w, s, most);
    }
    for (int x = -REACH; x <= REACH; x++)
        for (int y = -REACH; y <= REACH; y++)
            for (int z = -REACH; z <= REACH; z++) {
                double square = 0;
                for (int e = 0; e < 3; e++)
                    square += pow(2 * M_PI *
                                      (x * box->inverse[e][0] + y * box->inverse[e][1] +
                                       z * box->inverse[e][2]),
                                  2);
                if (square > 0 && square < most * most)
                    out -= kinetic_energy(sqrt(square), w, s, most);
            }
    return out;
}

/* By definition, in a cube and in an oblique box, to 2 % of the second order. */
static void both_kinetic_orders_are_what_the_waves_of_a_box_lack(void **state)
{
    (void)state;
    for (int oblique = 0; oblique < 2; oblique++) {
        bench b;
        double out[4], means[300] = {0};
        electrons(&b, 5, -1);
        if (oblique) bench_vectors(&b, (const double[3][3]){{26, 0, 0}, {-8, 30, 0}, {5, 12, 36}});
        const plugmc_box *box = &b.system.box;
        factor f = new_factor(&b, "k_max=0.5 finite_size=gas");
        assert_int_equal(f.calls->derive(f.instance, means, out), PLUGMC_OK);
        double s = 0;
        for (int spin = 0; spin < 2; spin++) {
            const double n = spin ? 18 : 36;
            s += n / 54 * 3 / (4 * cbrt(6 * M_PI * M_PI * n / box->volume));
        }
        const double exact = lacking_in_a_box(box, sqrt(4 * M_PI * 54 / box->volume), s, 6);
        print_message("%s: lacking %.6f, first order %.6f, second %.6f\n",
                      oblique ? "oblique box" : "cube", exact, out[2], out[3]);
        assert_close(out[2] + out[3], exact, 0, -0.02 * out[3]);
        bench_end(&b);
    }
}

/* S = k^2 / (2 w(k)) of all electrons, w(k)^2 = w^2 + a k^2 + k^4 / 4, in some parts of the two spins: the fit
 * finds b = 1 / (2 w); one shell has S / k^2. */
static void corrections_follow_from_the_structure_factor(void **state)
{
    (void)state;
    static const char *const settings[] = {"k_max=3 finite_size=measured fit=2",
                                           "k_max=3 finite_size=measured fit=4",
                                           "k_max=3 finite_size=measured"};
    for (int i = 0; i < 3; i++) {
        bench b;
        double means[3][64] = {{0}}, out[3], packed[3 * 64], one = 0;
        electrons(&b, 1, -1);
        factor f = new_factor(&b, settings[i]);
        const plugmc_quantity q = row_of(&f, 0, "up-up");
        const double w = 1.3, density = 54 / b.system.box.volume;
        const int64_t n = q.shape[0];
        assert_in_range(n, 4, 64);
        for (int64_t s = 0; s < n; s++) {
            const double k2 = pow(q.abscissa[0][s], 2),
                         total = k2 / (2 * sqrt(w * w + 0.7 * k2 + k2 * k2 / 4));
            if (s == 0) one = total / k2;
            means[0][s] = 0.6 * total + 0.1;  /* up-up */
            means[2][s] = 0.3 * total - 0.05; /* down-down */
            means[1][s] = (54 * total - 36 * means[0][s] - 18 * means[2][s]) /
                          (2 * sqrt(36 * 18)); /* up-down */
        }
        for (int row = 0; row < 3; row++)
            for (int64_t s = 0; s < n; s++) packed[row * n + s] = means[row][s];
        assert_int_equal(f.calls->derive(f.instance, packed, out), PLUGMC_OK);
        assert_close(out[0], i == 2 ? one : 1 / (2 * w), 1e-11, 0);
        assert_close(out[1], 2 * M_PI * density * out[0], 1e-12, 0);
        assert_close(out[2], 1 / (8 * out[0]), 1e-12, 0);
        plugmc_quantity derived = {.size = sizeof derived};
        assert_int_equal(f.calls->derived(f.instance, 1, &derived), 1);
        assert_string_equal(derived.name, "finite_size_potential");
        assert_int_equal(f.calls->derived(f.instance, 3, &derived), 0);
        bench_end(&b);
    }
}

/* S that stays finite, as that of particles that do not know of each other: no b. */
static void no_corrections_follow_where_s_stays_finite(void **state)
{
    (void)state;
    bench b;
    double packed[3 * 64] = {0}, out[3];
    electrons(&b, 1, -1);
    factor f = new_factor(&b, "k_max=3 finite_size=measured fit=2");
    const plugmc_quantity q = row_of(&f, 0, "up-up");
    for (int64_t s = 0; s < q.shape[0]; s++) packed[s] = packed[2 * q.shape[0] + s] = 0.5;
    assert_int_not_equal(f.calls->derive(f.instance, packed, out), PLUGMC_OK);
    assert_non_null(strstr(f.calls->lacking(f.instance, packed), "k^2"));
    bench_end(&b);
}

static void corrections_are_of_electrons_in_a_box(void **state)
{
    (void)state;
    bench b;
    factor f;
    electrons(&b, 1, 1);
    assert_int_not_equal(try_factor(&b, "k_max=3 finite_size=gas", &f), PLUGMC_OK);
    assert_non_null(strstr(b.message, "finite_size: the corrections are for electrons"));
    bench_end(&b);
    electrons(&b, 1, -1);
    assert_int_not_equal(try_factor(&b, "k_max=1.5 finite_size=measured fit=3", &f), PLUGMC_OK);
    assert_non_null(strstr(
        b.message, "fit: the 3 smallest |k| are needed, but up to k_max = 1.5 there are only 2"));
    bench_end(&b);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    bench b;
    factor f;
    bench_begin(&b, 3, (double[3]){1, 1, 1}, 1, 1);
    bench_cube(&b, 3);
    bench_species(&b, "A", 5, 0, 0);
    assert_int_not_equal(try_factor(&b, "k_max=1", &f), PLUGMC_OK);
    assert_non_null(strstr(b.message, "no wave"));
    assert_int_not_equal(try_factor(&b, "k_max=1000", &f), PLUGMC_OK);
    assert_non_null(strstr(b.message, "but the limit is"));
    b.system.box.domain = PLUGMC_DOMAIN_SPHERE;
    assert_int_not_equal(try_factor(&b, "k_max=3", &f), PLUGMC_OK);
    assert_non_null(strstr(b.message, "a sphere"));
    bench_end(&b);
}

TEST_MAIN(cmocka_unit_test(a_crystal_has_peaks), cmocka_unit_test(an_ideal_gas_has_none),
          cmocka_unit_test(its_definition), cmocka_unit_test(corrections_of_the_gas_are_known),
          cmocka_unit_test(both_kinetic_orders_are_what_the_waves_of_a_box_lack),
          cmocka_unit_test(corrections_follow_from_the_structure_factor),
          cmocka_unit_test(no_corrections_follow_where_s_stays_finite),
          cmocka_unit_test(corrections_are_of_electrons_in_a_box),
          cmocka_unit_test(refuses_what_cannot_be))
