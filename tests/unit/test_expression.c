/* Pair energies as formulas: values against libm and against random trees that are evaluated here,
 * derivatives against differences, many pairs against one, names of species and of pairs, what is near r = 0,
 * and what is refused. */
#include "testing.h"

#include "input/parameters.h"
#include "movers.h"
#include "plugin/probe.h"

enum { DOUBLE, SINGLE };

typedef struct formula {
    bench b;
    plugmc_term *term;
} formula;

static uint64_t random_state = 1;
static double uniform(void) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (double)(random_state * 2685821657736338717u >> 11) * 0x1p-53;
}

/* ---- The potential --------------------------------------------------------------------------- */

static void *new_instance(formula *f, const plugmc_plugin *plugin, ini_file *ini)
{
    report report = {0};
    void *instance = bench_allocate(f->b.host.context, plugin->instance_size);
    if (parameters_fill(plugin->parameters, plugin->parameter_count, plugin->real_size, instance,
                        "test.ini", &ini->sections[0], &report))
        fail_msg("parameters");
    return instance;
}

/* Two species with charges 2 and -1 and diameters 1 and 0.5 in a box of 20; returns the code of configuring. */
static int try_keys(formula *f, const char *keys)
{
    const plugmc_plugin *plugin = open_plugin("expression");
    char *text = NULL;
    ini_file ini;
    report report = {0};
    bench_begin(&f->b, 3, (const double[]){20, 20, 20}, 1, 1);
    for (int k = 0; k < 3; k++) {
        f->b.system.box.vector[k][k] = 20;
        f->b.system.box.inverse[k][k] = 1.0 / 20;
    }
    bench_species(&f->b, "A", 10, 1, 2);
    bench_species(&f->b, "B", 10, 0.5, -1);
    if (asprintf(&text, "[potential expression]\n%s", keys) < 0) abort();
    if (ini_read_text("test.ini", text, &ini, &report)) fail_msg("cannot read: %s", text);
    free(text);
    f->term = &f->b.terms[f->b.system.term_count++];
    *f->term = (plugmc_term){.label = "expression",
                             .plugin = plugin,
                             .plugin_single = plugin->single,
                             .sampled = 1,
                             .host = &f->b.host};
    f->term->instance = new_instance(f, plugin, &ini);
    f->term->instance_single = new_instance(f, plugin->single, &ini);
    ini_free(&ini);
    int code = plugin->configure(f->term->instance, &f->b.host);
    return code ? code : plugin->single->configure(f->term->instance_single, &f->b.host);
}

static formula *open_keys(const char *keys)
{
    formula *f = calloc(1, sizeof *f);
    assert_non_null(f);
    if (try_keys(f, keys)) fail_msg("%s: %s", keys, f->b.message);
    return f;
}

static formula *open_formula(const char *text, const char *more)
{
    char *keys = NULL;
    if (asprintf(&keys, "energy = %s\n%s", text, more) < 0) abort();
    formula *f = open_keys(keys);
    free(keys);
    return f;
}

static void close_formula(formula *f)
{
    bench_end(&f->b);
    free(f);
}

static const plugmc_box no_box = {.domain = PLUGMC_DOMAIN_SPHERE, .dimension = 3, .radius = 1e3};

/* Energy, and u' and u'', of two particles of species a and b. */
static double both(const formula *f, int single, double r, int a, int b, double slope[2])
{
    const plugmc_pair *pair = (single ? f->term->plugin_single : f->term->plugin)->potential->pair;
    void *instance = single ? f->term->instance_single : f->term->instance;
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

static double energy(const formula *f, double r) { return both(f, DOUBLE, r, 0, 0, NULL); }

/* ---- Values and derivatives ------------------------------------------------------------------ */

static double of_exp(double r) { return exp(-2 * r) / r; }
static double of_exp_up(double r) { return exp(3 * r); }
static double of_log(double r) { return log(r) + log(2); }
static double of_roots(double r) { return sqrt(1 + r) - pow(r, 1.5) + pow(r, -2.5); }
static double of_power(double r) { return pow(r, 0.3) * pow(1.7, r) + pow(r, r); }
static double of_trigonometry(double r) { return sin(3 * r) * cos(r * r); }
static double of_tanh(double r) { return tanh(r - 1); }
static double of_errors(double r) { return erf(r) + 3 * erfc(2 * r) / r; }
static double of_sizes(double r) { return fabs(r - 1.234) + fmin(r, 0.7) * fmax(r * r, 2); }
static double of_lennard_jones(double r) { return 4 * (pow(r, -12) - pow(r, -6)); }
static double of_signs(double r) { return -r * r + 2e-1 * 512 - -r - (1 - (2 - r)) + +r; }
static double of_circle(double r) { return 2 * 3.14159265358979323846 * r / 3 / 4; }
static double of_odd(double r) { return pow(r, 7) - pow(r / 2, -3) + pow(1 + r, 5) + r * r * r; }
static double of_three(double r)
{
    (void)r;
    return 3;
}

static const struct {
    const char *text;
    double (*value)(double);
} known[] = {
    {"exp(-2*r)/r", of_exp},
    {"exp(3*r)", of_exp_up},
    {"log(r) + log(2)", of_log},
    {"sqrt(1+r) - r^1.5 + r^-2.5", of_roots},
    {"r^0.3*pow(1.7, r) + r^r", of_power},
    {"sin(3*r)*cos(r^2)", of_trigonometry},
    {"tanh(r-1)", of_tanh},
    {"erf(r) + 3*erfc(2*r)/r", of_errors},
    {"abs(r-1.234) + min(r,0.7)*max(r*r, 2)", of_sizes},
    {"4*((1/r)^12 - (1/r)^6)", of_lennard_jones},
    {"4*(r^-12 - r**-6)", of_lennard_jones},
    {"4/r^6*(1/r^6 - 1)", of_lennard_jones},
    {"-r^2 + 2e-1*2^3^2 - -r-(1-(2-r)) + +r", of_signs},
    {"\t2*pi*r / 3/4 ", of_circle},
    {"r^7 - (r/2)^-3 + (1+r)^5 + r*r*r", of_odd},
    {"3 + 0*r", of_three},
};

/* Largest of |u| near r, which rounding is relative to. */
static double size_near(double (*value)(double), double r)
{
    return fabs(value(r)) + fabs(value(0.7 * r)) + fabs(value(1.4 * r)) + 1;
}

static void values_are_those_of_libm(void **state)
{
    (void)state;
    char words[512] = "";
    const sentence why = {words, sizeof words};
    for (int k = 0; k < (int)(sizeof known / sizeof known[0]); k++) {
        formula *f = open_formula(known[k].text, "cutoff = 2.5\n");
        for (double r = 0.3; r < 2.5; r += 0.0123) {
            const double expected = known[k].value(r), size = size_near(known[k].value, r);
            assert_close(energy(f, r), expected, 0, 1e-14 * size);
            assert_close(both(f, SINGLE, r, 0, 0, NULL), expected, 0, 3e-6 * size);
        }
        assert_true(energy(f, 2.5) == 0 && energy(f, 1e6) == 0);
        assert_true(both(f, SINGLE, 2.5, 0, 0, NULL) == 0 && both(f, SINGLE, 1e9, 0, 0, NULL) == 0);
        if (!probe_pair(&f->b.system, f->term, why)) fail_msg("%s: %s", known[k].text, words);
        close_formula(f);
    }
}

/* By values of the formula itself in libm, five points; bends are left out. */
static void derivatives_are_those_of_differences(void **state)
{
    (void)state;
    for (int k = 0; k < (int)(sizeof known / sizeof known[0]); k++) {
        formula *f = open_formula(known[k].text, "cutoff = 2.5\n");
        double (*const u)(double) = known[k].value;
        for (double r = 0.4; r < 2.4; r += 0.0317) {
            const double h = 2e-3 * r, size = size_near(u, r);
            const double first =
                (8 * (u(r + h) - u(r - h)) - u(r + 2 * h) + u(r - 2 * h)) / (12 * h);
            const double second =
                (16 * (u(r + h) + u(r - h)) - u(r + 2 * h) - u(r - 2 * h) - 30 * u(r)) /
                (12 * h * h);
            double s[2], single[2];
            if (u == of_sizes && (fabs(r - 1.234) < 2.1 * h || fabs(r - 0.7) < 2.1 * h ||
                                  fabs(r - sqrt(2)) < 2.1 * h))
                continue;
            both(f, DOUBLE, r, 0, 0, s);
            both(f, SINGLE, r, 0, 0, single);
            assert_close(s[0], first, 0, 1e-6 * size / r);
            assert_close(s[1], second, 0, 2e-5 * size / (r * r));
            assert_close(single[0], s[0], 0, 2e-4 * size / r);
            assert_close(single[1], s[1], 0, 2e-3 * size / (r * r));
        }
        close_formula(f);
    }
}

/* ---- Random trees ---------------------------------------------------------------------------- */

/* A tree of the test's own, with its text and its value and derivative by dual numbers. */
typedef struct tree {
    int kind;
    double number;
    struct tree *part[2];
} tree;

enum { NUMBER, VARIABLE, PLUS, MINUS, TIMES, OVER, SQUARE, EXP, SINE, ROOT, TANH, ERROR, KINDS };

static tree *random_tree(int depth)
{
    tree *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->kind = depth == 0 ? (uniform() < 0.6 ? VARIABLE : NUMBER)
                         : PLUS + (int)(uniform() * (KINDS - PLUS));
    t->number = rint(100 * (0.1 + 2 * uniform())) / 100;
    for (int k = 0; k < 2 && t->kind >= PLUS; k++)
        if (!k || t->kind <= OVER) t->part[k] = random_tree(uniform() < 0.2 ? 0 : depth - 1);
    return t;
}

static void free_tree(tree *t)
{
    if (!t) return;
    free_tree(t->part[0]);
    free_tree(t->part[1]);
    free(t);
}

static void write_tree(FILE *f, const tree *t)
{
    /* 2 + x^2 keeps divisors and roots away from 0; exponents are small */
    static const char *const words[KINDS][3] = {
        [PLUS] = {"(", " + ", ")"},  [MINUS] = {"(", "-", ")"},
        [TIMES] = {"(", "*", ")"},   [OVER] = {"(", "/(2 + (", ")^2))"},
        [SQUARE] = {"(", ")^2", ""}, [EXP] = {"exp(-(", ")^2)", ""},
        [SINE] = {"sin(", ")", ""},  [ROOT] = {"sqrt(2 + (", ")^2)", ""},
        [TANH] = {"tanh(", ")", ""}, [ERROR] = {"erf(", ")", ""},
    };
    if (t->kind == NUMBER) {
        fprintf(f, "%g", t->number);
    } else if (t->kind == VARIABLE) {
        fputs("r", f);
    } else {
        fputs(words[t->kind][0], f);
        write_tree(f, t->part[0]);
        fputs(words[t->kind][1], f);
        if (t->part[1]) write_tree(f, t->part[1]);
        fputs(words[t->kind][2], f);
    }
}

/* Value and derivative by r. */
typedef struct dual {
    double u, d;
} dual;

static dual value_of(const tree *t, double r)
{
    const dual a = t->part[0] ? value_of(t->part[0], r) : (dual){0, 0};
    const dual b = t->part[1] ? value_of(t->part[1], r) : (dual){0, 0};
    switch (t->kind) {
    case NUMBER: return (dual){t->number, 0};
    case VARIABLE: return (dual){r, 1};
    case PLUS: return (dual){a.u + b.u, a.d + b.d};
    case MINUS: return (dual){a.u - b.u, a.d - b.d};
    case TIMES: return (dual){a.u * b.u, a.d * b.u + a.u * b.d};
    case OVER: {
        const double q = 2 + b.u * b.u;
        return (dual){a.u / q, a.d / q - a.u * 2 * b.u * b.d / (q * q)};
    }
    case SQUARE: return (dual){a.u * a.u, 2 * a.u * a.d};
    case EXP: return (dual){exp(-a.u * a.u), -2 * a.u * a.d * exp(-a.u * a.u)};
    case SINE: return (dual){sin(a.u), cos(a.u) * a.d};
    case ROOT: return (dual){sqrt(2 + a.u * a.u), a.u * a.d / sqrt(2 + a.u * a.u)};
    case TANH: return (dual){tanh(a.u), a.d / (cosh(a.u) * cosh(a.u))};
    default: return (dual){erf(a.u), 2 / sqrt(3.14159265358979323846) * exp(-a.u * a.u) * a.d};
    }
}

static void random_formulas_and_their_slopes(void **state)
{
    (void)state;
    int tried = 0;
    for (int trial = 0; trial < 400; trial++) {
        tree *t = random_tree(1 + trial % 4);
        char *text = NULL, *keys = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        write_tree(out, t);
        fclose(out);
        if (asprintf(&keys, "energy = %s\ncutoff = 3\n", text) < 0) abort();
        formula *f = open_keys(keys);
        for (double r = 0.2; r < 3; r += 0.173) {
            const dual expected = value_of(t, r);
            double s[2], scale = 1;
            if (fabs(expected.u) > 1e6 || fabs(expected.d) > 1e6) continue;
            for (double x = 0.2; x < 3; x += 0.173) scale = fmax(scale, fabs(value_of(t, x).u));
            if (scale > 1e6) continue;
            tried++;
            both(f, DOUBLE, r, 0, 0, s);
            if (!(fabs(energy(f, r) - expected.u) < 1e-11 * scale) ||
                !(fabs(s[0] - expected.d) < 1e-9 * (scale + fabs(expected.d)) / r))
                fail_msg("%s at r = %g: %.17g and %.17g, not %.17g and %.17g", text, r,
                         energy(f, r), s[0], expected.u, expected.d);
        }
        close_formula(f);
        free_tree(t);
        free(text);
        free(keys);
    }
    printf("%d values and slopes\n", tried);
    assert_true(tried > 4000);
}

/* ---- Many pairs ------------------------------------------------------------------------------ */

enum { MANY = 700 };

/* 700 others of two species, few or most of them within the cutoff: sums, differences, each alone. */
static void many_pairs_are_the_sum_of_single_ones(void **state)
{
    (void)state;
    formula *f = open_formula("epsilon*exp(-r/width)/r + q1*q2*log(1+r)",
                              "epsilon = 1 2 3\nwidth = 0.5\ncutoff = 2\n");
    const plugmc_pair *pair = f->term->plugin->potential->pair;
    static double x[MANY], zero[MANY], each[MANY];
    static int32_t species[MANY];
    for (int trial = 0; trial < 60; trial++) {
        const int n = trial < 20 ? trial : 20 + (int)(uniform() * (MANY - 20)), a = trial % 2;
        const double length = trial % 3 ? 20 : 2.5;
        const plugmc_particles others = {n, x, zero, zero, zero, zero, species};
        const plugmc_particle probe = {.x = 0.01, .species = a};
        const double moved[3] = {0.3, 0, 0};
        double sum = 0, change = 0, expected = 0, difference = 0, slopes = 0, slope[2];
        plugmc_derivatives d = {0};
        for (int j = 0; j < n; j++) {
            x[j] = 0.5 + length * uniform();
            species[j] = trial % 4 ? (int)(2 * uniform()) : 1;
            const double before = both(f, DOUBLE, x[j] - 0.01, a, species[j], slope);
            expected += before;
            slopes -= slope[0];
            difference += both(f, DOUBLE, x[j] - 0.3, a, species[j], NULL) - before;
        }
        pair->energy(f->term->instance, &no_box, 0, &probe, &others, &sum);
        pair->change(f->term->instance, &no_box, 0, &probe, moved, &others, &change);
        pair->changes(f->term->instance, &no_box, 0, &probe, moved, &others, each);
        pair->derivatives(f->term->instance, &no_box, 0, 1, &probe, &others, &d);
        assert_close(sum, expected, 1e-12, 1e-12);
        assert_close(change, difference, 1e-10, 1e-10);
        assert_close(d.energy, expected, 1e-12, 1e-12);
        assert_close(d.gradient[0], slopes, 1e-11, 1e-11);
        for (int j = 0; j < n; j++)
            assert_close(each[j],
                         both(f, DOUBLE, x[j] - 0.3, a, species[j], NULL) -
                             both(f, DOUBLE, x[j] - 0.01, a, species[j], NULL),
                         1e-11, 1e-11);
    }
    close_formula(f);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void names_of_all_pairs_and_species(void **state)
{
    (void)state;
    formula *f =
        open_formula("all*r + 10*pair + 100*(own1 + own2) + 1000*q1*q2 + 1e4*(d1+d2) + c1*c",
                     "all = 2\npair = 1 2 3\nown = 5 7\nc1 = 1/4\nc = 2\ncutoff = 2\n");
    static const double expected[2][2] = {
        {2 + 10 + 1000 + 4000 + 2e4 + 0.5, 2 + 20 + 1200 - 2000 + 1.5e4 + 0.5},
        {2 + 20 + 1200 - 2000 + 1.5e4 + 0.5, 2 + 30 + 1400 + 1000 + 1e4 + 0.5}};
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            assert_close(both(f, DOUBLE, 1, a, b, NULL), expected[a][b], 1e-15, 0);
            assert_close(both(f, SINGLE, 1, a, b, NULL), expected[a][b], 1e-7, 0);
        }
    close_formula(f);
}

static void what_is_shifted_ends_at_zero(void **state)
{
    (void)state;
    formula *f = open_formula("epsilon/r", "epsilon = 1 2 3\ncutoff = 2\nshift = true\n");
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            assert_close(both(f, DOUBLE, 1, a, b, NULL), (1 + a + b) * 0.5, 1e-15, 0);
    assert_close(energy(f, 2 - 1e-9), 0, 0, 1e-9);
    close_formula(f);
}

/* Terms that overflow one against the other, roots and quotients of 0: never NaN. */
static void nothing_is_undefined_near_zero(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "4*((1/r)^12 - (1/r)^6)", "4*(r^-6 - r^-9)", "q1*q2/r",       "sin(r)/r",
        "(1-exp(-r))/r",          "0*log(r)/r",      "r^-60 - r^-50", "erfc(r)/r - 1/r",
        "exp(1/r)/exp(2/r)"};
    for (int k = 0; k < (int)(sizeof texts / sizeof texts[0]); k++) {
        formula *f = open_formula(texts[k], "cutoff = 2.5\n");
        for (int single = 0; single < 2; single++)
            for (double r = 2; r > 1e-45; r = r > 1e-40 ? r * 0.83 : 0) {
                double s[2];
                const double u = both(f, single, r, 0, 1, s);
                if (isnan(u) || isnan(s[0])) fail_msg("%s at r = %g is not a number", texts[k], r);
                if (r == 0) break;
            }
        close_formula(f);
    }
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refuse(const char *keys, const char *expected)
{
    formula f = {0};
    const int code = try_keys(&f, keys);
    if (code != PLUGMC_ERROR_INPUT || strcmp(f.b.message, expected))
        fail_msg("%s: %d, '%s', not '%s'", keys, code, f.b.message, expected);
    bench_end(&f.b);
}

#define KNOWN                                                                                      \
    "exp(), log(), sqrt(), abs(), sin(), cos(), tanh(), erf(), erfc(), pow(), min(), max()"

static void bad_formulas_are_refused_where_they_are_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } bad[] = {
        {"", "character 1, at the end: a number, a name or '(' is expected here"},
        {"1 +", "character 4, at the end: a number, a name or '(' is expected here"},
        {"1 + * r", "character 5, '* r': a number, a name or '(' is expected here"},
        {"(1 + r", "character 1, '(1 + r': this parenthesis is not closed"},
        {"1 + r)", "character 6, ')': there is no '(' for it"},
        {"2r", "character 2, 'r': an operation (+ - * / ^) is expected here"},
        {"1.2.3*r", "character 1, '1.2.3*r': this is not a number"},
        {"1e999*r", "character 1, '1e999*r': this number is beyond double precision"},
        {"r + epsilo/r^2",
         "character 5, 'epsilo/r^2': there is no 'epsilo'; there are r, pi, q1, q2, d1, d2, " KNOWN},
        {"exp r", "character 1, 'exp r': exp is a function: its argument goes in parentheses"},
        {"min(r)", "character 1, 'min(r)': min takes 2 arguments, not 1"},
        {"exp(r, 1)", "character 1, 'exp(r, 1)': exp takes 1 argument, not 2"},
        {"exp(r", "character 6, at the end: ')' is missing behind exp("},
        {"r/(2-2)", "character 1, 'r/(2-2)': this is not a finite number"},
        {"r + log(0-1)", "character 5, 'log(0-1)': this is not a finite number"},
        {"\xc3\xa4 + 1", "character 1, '\xc3\xa4 + 1': a number, a name or '(' is expected here"},
        {"r*\xc3\xa4", "character 3, '\xc3\xa4': a number, a name or '(' is expected here"},
    };
    for (int k = 0; k < (int)(sizeof bad / sizeof bad[0]); k++) {
        char keys[256], expected[512];
        snprintf(keys, sizeof keys, "energy = %s\ncutoff = 2\n", bad[k].text);
        snprintf(expected, sizeof expected, "energy: %s", bad[k].what);
        refuse(keys, expected);
    }
}

static void bad_names_are_refused(void **state)
{
    (void)state;
    refuse("energy = 1/r\ncutoff = 2\ncutof = 3\n",
           "cutof: this is neither a key of the plugin nor a name in the formula");
    refuse(
        "energy = s/r\ncutoff = 2\ns = 1 2 3 4\n",
        "s: there are 4 numbers: for 2 species there must be 1, 2 (one per species) or 3 (one per pair "
        "of species)");
    refuse("energy = s/r\ncutoff = 2\ns = 1 2\n",
           "energy: character 1, 's/r': s has one number per species: write s1 and s2");
    refuse("energy = s1/r\ncutoff = 2\ns = 1 2 3\n",
           "energy: character 1, 's1/r': s has one number per pair of species: write s");
    refuse("energy = 1/r\ncutoff = 2\nq1 = 2\n",
           "q1: this name has a meaning in formulas: choose another");
    refuse("energy = 1/r\ncutoff = 2\nexp = 2\n",
           "exp: this name has a meaning in formulas: choose another");
    refuse("energy = 1/r\ncutoff = 2\na-b = 2\n",
           "a-b: this is neither a key of the plugin nor a valid name for the formula (letters, "
           "digits and _)");
    refuse("energy = 1/(r-1)\ncutoff = 1\nshift = yes\n",
           "energy: the formula is not finite at the cutoff, r = 1, of 'A' and 'A'");
    refuse("energy = sqrt(r-1)\ncutoff = 2\n",
           "energy: the formula is not a number at r = 0.957603 of 'A' and 'A'");
    refuse("energy = d1/r\ncutoff = 2\n",
           "energy: the formula is another one when the particles change places at r = 1.91521 of "
           "'A' and 'B'");
    refuse("energy = 1e39*r\ncutoff = 1\n",
           "energy: numbers in the formula are beyond the range of single precision");
    refuse("energy = 1/r\ncutoff = 0\nshift = yes\n",
           "shift: without a cutoff there is nothing to shift");
}

/* Refused without running out of stack; what is just within the limits is not. */
static void enormous_formulas_are_refused(void **state)
{
    (void)state;
    static const char *const opens[] = {"(", "-", "2^", "exp(", "+"};
    for (int k = 0; k < 5; k++) {
        static char keys[8192];
        char expected[300];
        size_t length = (size_t)sprintf(keys, "energy = ");
        for (int i = 0; i < 700; i++) length += (size_t)sprintf(keys + length, "%s", opens[k]);
        sprintf(keys + length, "r\ncutoff = 2\n");
        formula f = {0};
        assert_int_equal(try_keys(&f, keys), PLUGMC_ERROR_INPUT);
        snprintf(expected, sizeof expected,
                 "more than 100 parentheses, signs and exponents are within each other");
        assert_non_null(strstr(f.b.message, expected));
        bench_end(&f.b);
    }
    static char keys[8192];
    size_t length = (size_t)sprintf(keys, "energy = r");
    while (length < 4020) length += (size_t)sprintf(keys + length, "+r");
    sprintf(keys + length, "\ncutoff = 2\n");
    refuse(keys, "energy: the formula has 4011 characters: the limit is 4000");
    length = (size_t)sprintf(keys, "energy = sin(1*r)");
    for (int k = 2; length < 4000; k++) length += (size_t)sprintf(keys + length, "*sin(%d*r)", k);
    sprintf(keys + length, "\ncutoff = 2\n");
    refuse(keys, "energy: the formula, or its derivatives, are too large");
    length = (size_t)sprintf(keys, "energy = 1/(1+r)");
    for (int k = 2; k < 120; k++) length += (size_t)sprintf(keys + length, "+1/(%d+r)", k);
    sprintf(keys + length, "\ncutoff = 2\n");
    refuse(keys, "energy: the formula has more than 128 intermediate results at once");
    length = (size_t)sprintf(keys, "energy = 1/(1+r)");
    for (int k = 2; k < 40; k++) length += (size_t)sprintf(keys + length, "+1/(%d+r)", k);
    sprintf(keys + length, "\ncutoff = 2\n");
    formula *f = open_keys(keys);
    double sum = 0;
    for (int k = 1; k < 40; k++) sum += 1 / (k + 0.75);
    assert_close(energy(f, 0.75), sum, 1e-14, 0);
    close_formula(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_libm),
        cmocka_unit_test(derivatives_are_those_of_differences),
        cmocka_unit_test(random_formulas_and_their_slopes),
        cmocka_unit_test(many_pairs_are_the_sum_of_single_ones),
        cmocka_unit_test(names_of_all_pairs_and_species),
        cmocka_unit_test(what_is_shifted_ends_at_zero),
        cmocka_unit_test(nothing_is_undefined_near_zero),
        cmocka_unit_test(bad_formulas_are_refused_where_they_are_wrong),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(enormous_formulas_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
