/* Pair energies from tables: the interpolant goes through the points, is monotone between them, has
 * the derivatives that it gives, in both precisions and on grids of every kind; what is nearer and
 * farther than the table; which table belongs to which pair; and what is refused. */
#include "testing.h"

#include <unistd.h>

#include "input/parameters.h"
#include "movers.h"
#include "plugin/probe.h"

enum { DOUBLE, SINGLE, MOST = 3000 };

typedef struct points {
    int n;
    double r[MOST], u[MOST];
} points;

typedef struct tabulated {
    bench b;
    plugmc_term *term;
} tabulated;

static uint64_t random_state = 1;
static double uniform(void) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (double)(random_state * 2685821657736338717u >> 11) * 0x1p-53;
}

/* ---- Tables and files ------------------------------------------------------------------------ */

enum { EQUIDISTANT, ROUNDED, LOGARITHMIC, RANDOM, GRIDS };

static void choose_grid(points *p, int grid, int n, double first, double last)
{
    p->n = n;
    for (int i = 0; i < n; i++) {
        const double part = i / (n - 1.0), even = first + part * (last - first);
        p->r[i] = grid == LOGARITHMIC ? first * pow(last / first, part) : even;
        if (grid == ROUNDED) p->r[i] = rint(even * 1e5) / 1e5;
        if (grid == RANDOM && i > 0 && i < n - 1)
            p->r[i] += (uniform() - 0.5) * 0.98 * (last - first) / (n - 1);
    }
}

static double twelve_six(double r) { return 4 * (pow(r, -12) - pow(r, -6)); }

static double decay(double r) { return 5 * exp(-2 * r) / r; }

/* Flat pieces, steps up and down by anything from 1e-3 to 10, as no formula has them. */
static void choose_steps(points *p)
{
    p->u[p->n - 1] = 0;
    for (int i = p->n - 2; i >= 0; i--) {
        const double kind = uniform();
        const double step = pow(10, 4 * uniform() - 3) * (uniform() < 0.5 ? -1 : 1);
        p->u[i] = kind < 0.2 ? p->u[i + 1] : p->u[i + 1] + step;
    }
}

static char folder[] = "/tmp/plugmc_tabulated_XXXXXX";

static const char *path_of(const char *name)
{
    static char path[8][96];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void put_text(const char *name, const char *text, size_t bytes)
{
    FILE *f = fopen(path_of(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    fclose(f);
}

static void put_points(const char *name, const points *p)
{
    FILE *f = fopen(path_of(name), "w");
    assert_non_null(f);
    for (int i = 0; i < p->n; i++) fprintf(f, "%.17g\t%.17g\n", p->r[i], p->u[i]);
    fclose(f);
}

/* ---- The potential --------------------------------------------------------------------------- */

static void *new_instance(tabulated *t, const plugmc_plugin *plugin, ini_file *ini)
{
    report report = {0};
    void *instance = bench_allocate(t->b.host.context, plugin->instance_size);
    if (parameters_fill(plugin->parameters, plugin->parameter_count, plugin->real_size, instance,
                        "test.ini", &ini->sections[0], &report))
        fail_msg("parameters");
    return instance;
}

/* Three species in a box of 20; returns the code of configuring. */
static int try_keys(tabulated *t, const char *keys)
{
    const plugmc_plugin *plugin = open_plugin("tabulated");
    const char *names[] = {"A", "B", "A-B"};
    char text[1024];
    ini_file ini;
    report report = {0};
    bench_begin(&t->b, 3, (const double[]){20, 20, 20}, 1, 1);
    for (int k = 0; k < 3; k++) {
        t->b.system.box.vector[k][k] = 20;
        t->b.system.box.inverse[k][k] = 1.0 / 20;
        bench_species(&t->b, names[k], 10, 0, 0);
    }
    snprintf(text, sizeof text, "[potential tabulated]\n%s", keys);
    if (ini_read_text("test.ini", text, &ini, &report)) fail_msg("cannot read: %s", text);
    t->term = &t->b.terms[t->b.system.term_count++];
    *t->term = (plugmc_term){.label = "tabulated",
                             .plugin = plugin,
                             .plugin_single = plugin->single,
                             .sampled = 1,
                             .host = &t->b.host};
    t->term->instance = new_instance(t, plugin, &ini);
    t->term->instance_single = new_instance(t, plugin->single, &ini);
    ini_free(&ini);
    int code = plugin->configure(t->term->instance, &t->b.host);
    if (!code) code = plugin->single->configure(t->term->instance_single, &t->b.host);
    return code ? code : plugin->prepare(t->term->instance, &t->b.host);
}

static tabulated *open_keys(const char *keys)
{
    tabulated *t = calloc(1, sizeof *t);
    assert_non_null(t);
    if (try_keys(t, keys)) fail_msg("%s: %s", keys, t->b.message);
    return t;
}

/* One table for all pairs. */
static tabulated *open_points(const points *p, const char *more)
{
    char keys[256];
    put_points("table", p);
    snprintf(keys, sizeof keys, "files = %s\n%s", path_of("table"), more);
    return open_keys(keys);
}

static void close_tabulated(tabulated *t)
{
    bench_end(&t->b);
    free(t);
}

/* Energy, and u' and u'', of two particles of species a and b. */
static double both(const tabulated *t, int single, double r, int a, int b, double slope[2])
{
    const plugmc_box no_box = {.domain = PLUGMC_DOMAIN_SPHERE, .dimension = 3, .radius = 1e3};
    const plugmc_pair *pair = (single ? t->term->plugin_single : t->term->plugin)->potential->pair;
    void *instance = single ? t->term->instance_single : t->term->instance;
    double zero = 0, energy = 0;
    float zero_single = 0;
    const void *at = single ? (const void *)&zero_single : &zero;
    const int32_t species = b;
    const plugmc_particle probe = {.x = r, .species = a};
    const plugmc_particles other = {1, at, at, at, at, at, &species};
    plugmc_derivatives d = {0};
    pair->energy(instance, &no_box, 0, &probe, &other, &energy);
    if (!slope) return energy;
    pair->derivatives(instance, &no_box, 0, 1, &probe, &other, &d);
    assert_true(d.energy == energy);
    slope[0] = d.gradient[0];
    slope[1] = d.laplacian - 2 * d.gradient[0] / r;
    return energy;
}

static double energy(const tabulated *t, double r) { return both(t, DOUBLE, r, 0, 0, NULL); }

static double slope(const tabulated *t, double r)
{
    double s[2];
    both(t, DOUBLE, r, 0, 0, s);
    return s[0];
}

/* ---- The interpolant ------------------------------------------------------------------------- */

static double largest(const points *p)
{
    double most = 0;
    for (int i = 0; i < p->n; i++) most = fmax(most, fabs(p->u[i]));
    return most;
}

/* Random tables on all grids, from two points on. */
static tabulated *random_table(points *p, int trial)
{
    const int n = trial < 2 * GRIDS ? 2 + trial / GRIDS : 3 + (int)(60 * uniform());
    choose_grid(p, trial % GRIDS, n, 0.3 + uniform(), 2 + 3 * uniform());
    choose_steps(p);
    return open_points(p, "inside = extrapolate\n");
}

static void it_goes_through_all_points(void **state)
{
    (void)state;
    points p;
    for (int trial = 0; trial < 100; trial++) {
        tabulated *t = random_table(&p, trial);
        const double size = largest(&p);
        for (int i = 0; i < p.n; i++) {
            const double steep = fabs(slope(t, p.r[i])) * p.r[i];
            if (i == p.n - 1) continue; /* 0 from there on */
            assert_close(energy(t, p.r[i]), p.u[i], 0, 1e-12 * size);
            assert_close(both(t, SINGLE, p.r[i], 0, 0, NULL), p.u[i], 0,
                         1e-6 * size + 3e-7 * steep);
        }
        close_tabulated(t);
    }
}

static void it_is_monotone_between_points(void **state)
{
    (void)state;
    points p;
    for (int trial = 0; trial < 100; trial++) {
        tabulated *t = random_table(&p, trial);
        const double slack = 1e-13 * largest(&p);
        for (int i = 0; i + 1 < p.n; i++) {
            const double sign = p.u[i + 1] > p.u[i] ? 1 : p.u[i + 1] < p.u[i] ? -1 : 0;
            double before = p.u[i];
            for (int k = 1; k < 40; k++) {
                const double u = energy(t, p.r[i] + (p.r[i + 1] - p.r[i]) * k / 40);
                if (sign == 0) assert_close(u, p.u[i], 0, slack);
                assert_true(sign * (u - before) >= -slack);
                assert_true(sign * (p.u[i + 1] - u) >= -slack);
                before = u;
            }
        }
        close_tabulated(t);
    }
}

static void derivatives_are_those_of_the_interpolant(void **state)
{
    (void)state;
    points p;
    for (int trial = 0; trial < 100; trial++) {
        tabulated *t = random_table(&p, trial);
        for (int i = 0; i + 1 < p.n; i++)
            for (int k = 1; k < 8; k++) {
                /* of a cubic, these differences have no error but rounding */
                const double h = p.r[i + 1] - p.r[i], d = 0.02 * h, r = p.r[i] + h * k / 8;
                const double u[5] = {energy(t, r - 2 * d), energy(t, r - d), energy(t, r),
                                     energy(t, r + d), energy(t, r + 2 * d)};
                const double size = 1e-14 * largest(&p);
                double s[2];
                both(t, DOUBLE, r, 0, 0, s);
                assert_close(s[0], (8 * (u[3] - u[1]) - u[4] + u[0]) / (12 * d), 1e-9, size / d);
                assert_close(s[1], (u[3] - 2 * u[2] + u[1]) / (d * d), 1e-9, 10 * size / (d * d));
            }
        close_tabulated(t);
    }
}

/* Energy and derivative are the same on both sides of each point. */
static void it_is_smooth_at_points(void **state)
{
    (void)state;
    points p;
    for (int trial = 0; trial < 100; trial++) {
        tabulated *t = random_table(&p, trial);
        for (int i = 0; i + 1 < p.n; i++) {
            const double r = p.r[i], e = 1e-9 * r;
            const double h = fmin(p.r[i + 1] - r, i ? r - p.r[i - 1] : 1);
            const double size = largest(&p) / h;
            assert_close(energy(t, r - e), energy(t, r + e), 0, 10 * size * e);
            assert_close(slope(t, r - e), slope(t, r + e), 0, 100 * size * e / h);
        }
        close_tabulated(t);
    }
}

/* Largest error between r = 1 and 2 of a table of `n` points from 0.8 to 2.5. */
static double error_of(double (*formula)(double), int grid, int n)
{
    points p;
    double most = 0;
    choose_grid(&p, grid, n, 0.8, 2.5);
    for (int i = 0; i < n; i++) p.u[i] = formula(p.r[i]);
    tabulated *t = open_points(&p, "");
    for (double r = 1; r < 2; r += 1.7e-4) most = fmax(most, fabs(energy(t, r) - formula(r)));
    close_tabulated(t);
    return most;
}

/* Errors go with the fourth power of the spacing, where there is no minimum. */
static void errors_are_of_fourth_order(void **state)
{
    (void)state;
    const double coarse = error_of(decay, EQUIDISTANT, 41), fine = error_of(decay, EQUIDISTANT, 81);
    assert_true(coarse < 1e-6 && coarse / fine > 13 && coarse / fine < 19);
    assert_true(error_of(decay, LOGARITHMIC, 41) / error_of(decay, LOGARITHMIC, 81) > 13);
    assert_true(error_of(decay, RANDOM, 81) < 1e-6);
}

/* At the minimum the slope is 0 at a point that is near it: second order. */
static void lennard_jones_of_2000_points_is_right_to_a_millionth(void **state)
{
    (void)state;
    const double error = error_of(twelve_six, EQUIDISTANT, 2000);
    printf("largest error with 2000 points: %.2g epsilon\n", error);
    assert_true(error < 5e-6);
}

/* What the program tries before a run: float and double, derivatives and differences. */
static void tables_stand_the_trial_of_pair_potentials(void **state)
{
    (void)state;
    points p;
    char words[512] = "";
    const sentence why = {words, sizeof words};
    for (int trial = 0; trial < 400; trial++) {
        const int n = trial % 2 ? 20 + (int)(uniform() * 2500) : 10 + (int)(uniform() * 100);
        choose_grid(&p, trial / 2 % GRIDS, n, 0.5 + 0.5 * uniform(), 2 + uniform());
        for (int i = 0; i < n; i++) p.u[i] = trial % 3 ? twelve_six(p.r[i]) : decay(p.r[i]);
        tabulated *t = open_points(&p, trial % 5 ? "" : "shift = yes\ninside = extrapolate\n");
        if (!probe_pair(&t->b.system, t->term, why)) fail_msg("%d points: %s", n, words);
        close_tabulated(t);
    }
}

/* ---- Nearer and farther ---------------------------------------------------------------------- */

static void nearer_than_the_first_point(void **state)
{
    (void)state;
    points p = {4, {0.5, 1, 1.5, 2}, {20, 5, 1, 0}};
    double s[2];
    tabulated *t = open_points(&p, "");
    for (int single = 0; single < 2; single++) {
        assert_close(both(t, single, 0.499, 0, 0, s), 1e30, 1e-6, 0);
        assert_true(s[0] == 0 && s[1] == 0);
        assert_close(both(t, single, 0.5, 0, 0, NULL), 20, 1e-6, 0);
    }
    assert_int_equal(t->b.warnings, 0);
    close_tabulated(t);
    t = open_points(&p, "inside = extrapolate\n");
    const double first = slope(t, 0.5);
    assert_true(first < -30);
    for (double r = 0.01; r < 0.5; r += 0.01) {
        assert_close(both(t, DOUBLE, r, 0, 0, s), 20 + first * (r - 0.5), 1e-13, 0);
        assert_close(s[0], first, 1e-12, 0);
        assert_close(s[1], 0, 0, 1e-9);
        assert_close(both(t, SINGLE, r, 0, 0, NULL), 20 + first * (r - 0.5), 1e-6, 0);
    }
    close_tabulated(t);
    p.u[0] = 6;
    t = open_points(&p, "");
    assert_int_equal(t->b.warnings, 1);
    assert_string_equal(
        t->b.message,
        "a table begins at r = 0.5 with an energy of only 6 kT: the wall there contributes no "
        "force, so pressures use pairs near it");
    close_tabulated(t);
}

static double range_of(const tabulated *t)
{
    return t->term->plugin->potential->pair->range(t->term->instance);
}

static void farther_than_the_last_point(void **state)
{
    (void)state;
    points p = {4, {0.5, 1, 1.5, 2}, {20, 5, 1, -0.25}};
    tabulated *t = open_points(&p, "");
    char expected[256];
    snprintf(expected, sizeof expected,
             "%s: the energy jumps from -0.25 to 0 at the end of the table, r = 2; shift = yes "
             "subtracts it everywhere",
             path_of("table"));
    assert_int_equal(t->b.warnings, 1);
    assert_string_equal(t->b.message, expected);
    assert_close(energy(t, 2 - 1e-9), -0.25, 1e-6, 0);
    assert_true(energy(t, 2) == 0 && energy(t, 1e6) == 0 && slope(t, 2) == 0);
    assert_true(both(t, SINGLE, 2, 0, 0, NULL) == 0 && both(t, SINGLE, 1e9, 0, 0, NULL) == 0);
    assert_true(range_of(t) == 2);
    close_tabulated(t);
    t = open_points(&p, "shift = yes\n");
    assert_int_equal(t->b.warnings, 0);
    assert_close(energy(t, 1), 5.25, 1e-14, 0);
    assert_close(energy(t, 2 - 1e-9), 0, 0, 1e-8);
    close_tabulated(t);
    points zeros = {6, {0.5, 1, 1.5, 2, 3, 100}, {20, 5, 1, 0, 0, 0}};
    t = open_points(&zeros, "");
    assert_true(range_of(t) == 2);
    assert_int_equal(t->b.warnings, 0);
    assert_close(slope(t, 2 - 1e-9), 0, 0, 1e-7);
    close_tabulated(t);
}

/* ---- Pairs of species ------------------------------------------------------------------------ */

/* Tables whose energy at r = 1 is their number. */
static void put_numbered(int count)
{
    for (int k = 1; k <= count; k++) {
        points p = {3, {0.5, 1, 2}, {20, k, 0}};
        put_points((const char *[]){"1", "2", "3", "4", "5", "6"}[k - 1], &p);
    }
}

static void keys_of(char keys[1024], const char *names, const char *more)
{
    char copy[64], *rest = copy, *name;
    size_t length = (size_t)snprintf(keys, 1024, "files =");
    snprintf(copy, sizeof copy, "%s", names);
    while ((name = strtok_r(rest, " ", &rest)))
        length += (size_t)snprintf(keys + length, 1024 - length, " %s", path_of(name));
    snprintf(keys + length, 1024 - length, "\n%s", more);
}

static void check_pairs(const char *names, const char *more, const int expected[3][3])
{
    char keys[1024];
    put_numbered(6);
    keys_of(keys, names, more);
    tabulated *t = open_keys(keys);
    for (int single = 0; single < 2; single++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                assert_close(both(t, single, 1, a, b, NULL), expected[a][b], 1e-6, 0);
    close_tabulated(t);
}

static void each_pair_has_its_table(void **state)
{
    (void)state;
    const int one[3][3] = {{4, 4, 4}, {4, 4, 4}, {4, 4, 4}};
    const int ordered[3][3] = {{1, 2, 3}, {2, 4, 5}, {3, 5, 6}};
    const int named[3][3] = {{6, 4, 3}, {4, 2, 1}, {3, 1, 5}};
    check_pairs("4", "", one);
    check_pairs("1 2 3 4 5 6", "", ordered);
    check_pairs("1 2 3 4 5 6", "species = B-A-B B-B A-A-B B-A A-B-A-B A-A\n", named);
}

static void refused_keys(const char *names, const char *more, const char *message)
{
    char keys[1024];
    tabulated *t = calloc(1, sizeof *t);
    assert_non_null(t);
    put_numbered(6);
    keys_of(keys, names, more);
    assert_int_equal(try_keys(t, keys), PLUGMC_ERROR_INPUT);
    assert_string_equal(t->b.message, message);
    close_tabulated(t);
}

static void pairs_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    refused_keys("1 2", "",
                 "files has 2 names: for 3 species there must be 1 or 6 (one per pair of species)");
    refused_keys("1 2 3 4 5 6", "species = A-A B-B\n",
                 "species = A-A B-B has 2 pairs for 6 files: give one for each");
    refused_keys("1 2 3 4 5 6", "species = A-A B-B C-A\n",
                 "species = ...: 'C-A' is not a pair of species, such as A-B");
    refused_keys("1 2 3 4 5 6", "species = A-A B-B A-B B-A\n",
                 "species = ...: the pair 'B-A' is repeated");
    refused_keys("1 2 3 4 5", "species = A-A B-B A-B B-A-B A-A-B\n",
                 "species = ...: the pair 'A-B-A-B' is missing");
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void refused_text(const char *text, size_t bytes, const char *message)
{
    char keys[256], expected[256];
    tabulated *t = calloc(1, sizeof *t);
    assert_non_null(t);
    put_text("bad", text, bytes);
    snprintf(keys, sizeof keys, "files = %s\n", path_of("bad"));
    snprintf(expected, sizeof expected, "%s%s", path_of("bad"), message);
    assert_int_equal(try_keys(t, keys), PLUGMC_ERROR_INPUT);
    assert_string_equal(t->b.message, expected);
    close_tabulated(t);
}

static void bad_files_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", ": a table needs at least two rows, but here are none"},
        {"# nothing\n\n", ": a table needs at least two rows, but here are none"},
        {"1 2", ": a table needs at least two rows, but here is one"},
        {"1 2\n2 x\n", ":2: a row must be two numbers, r and u"},
        {"1 2\n2\n", ":2: a row must be two numbers, r and u"},
        {"1 2\n2 3,4\n", ":2: a row must be two numbers, r and u"},
        {"1 2\n2 3 4 5\n", ":2: a row must be two numbers, r and u"},
        {"1 2\n\n# a\n2 nan\n", ":4: r and u must be finite numbers"},
        {"1 2\n2 1D\n", ":2: a row must be two numbers, r and u"},
        {"1 2\n2 D3\n", ":2: a row must be two numbers, r and u"},
        {"1 2\n2 1D+3D\n", ":2: a row must be two numbers, r and u"},
        {"1 2\n2 infD3\n", ":2: a row must be two numbers, r and u"},
        {"1 2\n\xef\xbb\xbf"
         "2 1\n",
         ":2: a row must be two numbers, r and u"},
        {"\xff\xfe"
         "1 2\n2 3\n",
         ":1: this is UTF-16 text: save it as UTF-8"},
        {"1 2\n2 inf\n", ":2: r and u must be finite numbers"},
        {"1 2\n2 1e999\n", ":2: r and u must be finite numbers"},
        {"-1 2\n", ":1: r is negative"},
        {"1 2\n1 3\n", ":2: r does not increase"},
        {"1 2\n2 3\n1.5 3\n", ":3: r does not increase"},
        {"1 2\n1.0000001 3\n",
         ":2: r increases by less than a millionth, which single precision cannot resolve"},
        {"1 2\n2e9 3\n", ":2: r is beyond 1e-9 ... 1e9"},
        {"0 2\n1e-200 3\n", ":2: r is beyond 1e-9 ... 1e9"},
        {"1 2\n2 -1e26\n", ":2: u is beyond -1e25 ... 1e25"},
        {"1 0\n11 0\n12 1\n",
         ": the table ends at r = 12, beyond half the box, 10: pairs would be missed"},
    };
    for (size_t i = 0; i < PLUGMC_COUNT(cases); i++)
        refused_text(cases[i].text, strlen(cases[i].text), cases[i].message);
    refused_text("1 2\n2 \0 1\n", 10, ":2: this is not a text file: it has a zero byte");
    char *line = malloc(5000);
    assert_non_null(line);
    memset(line, '1', 5000);
    refused_text(line, 5000, ":1: the line is too long for a row of a table");
    free(line);
}

static void tables_of_more_rows_than_kernels_take(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    assert_non_null(f);
    for (int i = 0; i <= 20000; i++) fprintf(f, "%g 0\n", 1 + 1e-4 * i);
    fclose(f);
    refused_text(text, bytes, ":20001: there are more than 20000 rows");
    free(text);
}

/* A comment behind a row, blanks in front, tabs, a third column, ends of line of other systems. */
static void what_a_file_may_look_like(void **state)
{
    (void)state;
    const char *text = "# r u f\r\n\t 0 4 -1 # first\r\n\r\n1.0\t+2e0\t-3\r\n2   0";
    char keys[256];
    put_text("good", text, strlen(text));
    snprintf(keys, sizeof keys, "files = %s\n", path_of("good"));
    tabulated *t = open_keys(keys);
    assert_close(energy(t, 1e-12), 4, 1e-9, 0);
    assert_close(energy(t, 1), 2, 1e-14, 0);
    assert_close(energy(t, 0.5), 3, 1e-14, 0);
    close_tabulated(t);
}

/* Exponents as Fortran writes them, behind a byte order mark. */
static void tables_of_fortran_and_of_other_systems(void **state)
{
    (void)state;
    const char *text = "\xef\xbb\xbf# r u\n0.D0 4.0D+00 -1d0\n1.0D0 2.0d-01\n20.D-1 0";
    char keys[256];
    put_text("good", text, strlen(text));
    snprintf(keys, sizeof keys, "files = %s\n", path_of("good"));
    tabulated *t = open_keys(keys);
    assert_close(energy(t, 1e-12), 4, 1e-9, 0);
    assert_close(energy(t, 1), 0.2, 1e-14, 0);
    close_tabulated(t);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_all(void **state)
{
    (void)state;
    const char *names[] = {"table", "bad", "good", "1", "2", "3", "4", "5", "6"};
    for (size_t i = 0; i < PLUGMC_COUNT(names); i++) unlink(path_of(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_goes_through_all_points),
        cmocka_unit_test(it_is_monotone_between_points),
        cmocka_unit_test(derivatives_are_those_of_the_interpolant),
        cmocka_unit_test(it_is_smooth_at_points),
        cmocka_unit_test(errors_are_of_fourth_order),
        cmocka_unit_test(lennard_jones_of_2000_points_is_right_to_a_millionth),
        cmocka_unit_test(tables_stand_the_trial_of_pair_potentials),
        cmocka_unit_test(nearer_than_the_first_point),
        cmocka_unit_test(farther_than_the_last_point),
        cmocka_unit_test(each_pair_has_its_table),
        cmocka_unit_test(pairs_that_do_not_fit_are_refused),
        cmocka_unit_test(bad_files_are_refused_with_their_line),
        cmocka_unit_test(tables_of_more_rows_than_kernels_take),
        cmocka_unit_test(what_a_file_may_look_like),
        cmocka_unit_test(tables_of_fortran_and_of_other_systems),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_all) != 0;
}
