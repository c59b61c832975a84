/* expression: a pair potential whose energy is a formula of r in the INI file.
 *
 *     [potential expression]
 *     energy = 4*epsilon*((sigma/r)^12 - (sigma/r)^6)
 *     epsilon = 1
 *     sigma = 1 0.9 0.8
 *     cutoff = 2.5
 *     shift = yes
 *
 * u(r) is the formula for r < cutoff, less its value there if shifted, and 0 else. Any other key is a
 * name for the formula: one number for all, one a pair of species (1-1, 1-2, ... 2-2, ...), or one a species,
 * of which the formula has sigma1 and sigma2; it says itself how they mix. q1, q2 are the charges of the two
 * particles, d1, d2 their diameters.
 *
 * The formula becomes a graph (formula.c, graph.c), which is differentiated, and its graph becomes steps for
 * many pairs at once on the CPU (program.c, evaluate.h) and text for kernels: the same operations in the
 * same order, so that both are equal, but for functions of libm.
 *
 * As r goes to 0 a formula may overflow, and inf - inf is no number. Nearer than the distance where the
 * energy is 1e25, or its derivatives are not finite, the energy stays what it is there.
 *
 * Nearer than `guard` the energy is 1e30, so that no particle comes there: for formulas that have no floor. It is
 * no contact distance, which movers that follow forces would refuse, and it is finite, so that a start with
 * particles too near is left.
 */
#include <plugmc/potential.h>
#include <plugmc/functions.h>

typedef struct parameters {
    const char *energy, *numbers;
    real cutoff; /* length; 0: none */
    int32_t shift;
    int64_t kinds, columns; /* species; of `table` */
    plugmc_list table; /* [kinds][kinds][columns]: the square of the distance below which the energy
                                 stays what it is, then what the text reads */
    real range, square;      /* length, length^2: cutoff or infinity, and its square */
    const char *text;        /* of formula_energy, formula_slopes and formula_guard */
    struct machine *machine; /* the CPU's */
    plugmc_list guard; /* length, one or one a pair of species: nearer is forbidden; 0: none */
} parameters;

/* ---- Functions of formulas --------------------------------------------------------------------- */

PLUGMC_FN real exponential_of(real x)
{
    if (sizeof(real) == 4) return (real)plugmc_exp((float)x);
    real e = plugmc_exp_of_negative(x < (real)0 ? -x : x), u = x < (real)0 ? e : (real)1 / e;
    return x == x ? u : x;
}
PLUGMC_FN real logarithm_of(real x)
{
    return sizeof(real) == 4 ? (real)logf((float)x) : (real)log((double)x);
}
PLUGMC_FN real sine_of(real x)
{
    return sizeof(real) == 4 ? (real)sinf((float)x) : (real)sin((double)x);
}
PLUGMC_FN real cosine_of(real x)
{
    return sizeof(real) == 4 ? (real)cosf((float)x) : (real)cos((double)x);
}
PLUGMC_FN real tangent_of(real x) /* hyperbolic */
{
    return sizeof(real) == 4 ? (real)tanhf((float)x) : (real)tanh((double)x);
}
PLUGMC_FN real error_of(real x)
{
    return sizeof(real) == 4 ? (real)erff((float)x) : (real)erf((double)x);
}
PLUGMC_FN real complement_of(real x)
{
    return sizeof(real) == 4 ? (real)erfcf((float)x) : (real)erfc((double)x);
}
PLUGMC_FN real power_of(real x, real y)
{
    return sizeof(real) == 4 ? (real)powf((float)x, (float)y) : (real)pow((double)x, (double)y);
}
PLUGMC_FN real size_of(real x) { return x < (real)0 ? -x : x; }
PLUGMC_FN real sign_of(real x)
{
    return x > (real)0 ? (real)1 : (x < (real)0 ? (real)-1 : (real)0);
}

/* ---- On a GPU ---------------------------------------------------------------------------------- */

#if !PLUGMC_HOST
/* Written by configure: u, and u' / r and u'', from s = r^2; with a guard 1e30 for u where it is nearer. */
PLUGMC_FN real formula_energy(real s, const real *row);
PLUGMC_FN void formula_slopes(real s, const real *row, real *first, real *second);
PLUGMC_FN real formula_guard(real u, int nearer);

PLUGMC_FN const real *row_of(const parameters *p, plugmc_site a, plugmc_site b)
{
    return p->table.values + (a.species * (int32_t)p->kinds + b.species) * (int32_t)p->columns;
}

PLUGMC_FN real pair_range(const parameters *p) { return p->range; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    const real *row = row_of(p, a, b);
    real u = formula_energy(s.r2 < row[0] ? row[0] : s.r2, row);
    u = formula_guard(u, s.r2 < row[0]);
    return s.r2 < p->square ? u : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    const real *row = row_of(p, a, b);
    real u1, u2;
    formula_slopes(s.r2 < row[0] ? row[0] : s.r2, row, &u1, &u2);
    int there = s.r2 < p->square && s.r2 >= row[0];
    *first = there ? u1 : (real)0;
    *second = there ? u2 : (real)0;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>
#endif

/* ---- On the CPU -------------------------------------------------------------------------------- */

#if PLUGMC_HOST
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../charged_species.h"
#include "../ends_of_energies.h"
#include "evaluate.h"
#include "formula.h"
#include "program.h"

enum { MOST_SPECIES = 32, MOST_NAMES = 64, FIXED_NAMES = 4 };
/* What energies may be, and in how many halvings of the cutoff a distance is looked for where they are. */
static const double most_energy = 1e25;
enum { HALVINGS = 50, POINTS_A_HALVING = 8 };

/* A parameter as it is written, and the names that it gives to the formula. */
typedef struct given {
    char name[64];
    const double *numbers;
    int32_t count;
} given;

/* All that configure works with. */
typedef struct work {
    parameters *p;
    const plugmc_host *host;
    int32_t kinds, pairs; /* pairs: kinds^2, in order */
    given given[MOST_NAMES];
    int32_t count;
    formula_name names[FIXED_NAMES + 3 * MOST_NAMES];
    int32_t names_count;
    graph g;
    int32_t energy, first, second; /* nodes: u, u' / r, u'' */
    constants constants, columns;  /* of programs, of texts */
} work;

static int no_memory(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a formula");
}

/* ---- Names ------------------------------------------------------------------------------------- */

enum { OF_FIRST, OF_SECOND, OF_PAIR };

/* Values of a list by pairs of species, those of the first, of the second, or of the pair. */
static const double *spread(work *w, const double *list, int32_t count, int of)
{
    double *out = w->host->allocate(w->host->context, sizeof *out * (size_t)w->pairs);
    for (int32_t k = 0; out && k < w->pairs; k++) {
        const int32_t a = k / w->kinds, b = k % w->kinds;
        const int32_t place = of == OF_PAIR    ? plugmc_species_pair_index(w->kinds, a, b)
                              : of == OF_FIRST ? a
                                               : b;
        out[k] = list[count == 1 ? 0 : place];
    }
    return out;
}

static const char *sentence(work *w, const char *format, const char *name)
{
    const size_t size = strlen(format) + 4 * strlen(name) + 1;
    char *out = w->host->allocate(w->host->context, size);
    if (out) snprintf(out, size, format, name, name, name);
    return out ? out : "it cannot be used here";
}

static void add_name(work *w, const char *name, const double *values, const char *why)
{
    w->names[w->names_count++] = (formula_name){name, values, why, 0};
}

static int name_species(work *w)
{
    static const char *const fixed[FIXED_NAMES] = {"q1", "q2", "d1", "d2"};
    double list[MOST_SPECIES];
    for (int i = 0; i < FIXED_NAMES; i++) {
        for (int32_t k = 0; k < w->kinds; k++) {
            const plugmc_species *s = plugmc_species_at(w->host->system, k);
            list[k] = i < 2 ? s->charge : s->diameter;
        }
        const double *values = spread(w, list, w->kinds, i % 2 ? OF_SECOND : OF_FIRST);
        if (!values) return no_memory(w->host);
        add_name(w, fixed[i], values, NULL);
    }
    return PLUGMC_OK;
}

static int check_given(work *w, const given *it)
{
    const int32_t n = w->kinds, pairs = n * (n + 1) / 2;
    const plugmc_host *host = w->host;
    int taken = formula_takes(it->name);
    for (int k = 0; k < FIXED_NAMES; k++) taken |= !strcmp(it->name, w->names[k].name);
    if (!formula_can_name(it->name))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s: this is neither a key of the plugin nor a valid name for the "
                          "formula (letters, digits and _)",
                          it->name);
    if (taken)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s: this name has a meaning in formulas: choose another", it->name);
    if (it->count == 1 || it->count == n || it->count == pairs) return PLUGMC_OK;
    if (n == 1)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s: there are %d numbers: for 1 species there must be 1", it->name,
                          it->count);
    return host->fail(
        host->context, PLUGMC_ERROR_INPUT,
        "%s: there are %d numbers: for %d species there must be 1, %d (one per species) or "
        "%d (one per pair of species)",
        it->name, it->count, n, n, pairs);
}

/* Reads a line of `numbers`. */
static int read_given(work *w, char *line)
{
    const plugmc_host *host = w->host;
    if (w->count == MOST_NAMES)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "there are more than %d names",
                          MOST_NAMES);
    given *it = &w->given[w->count++];
    double *numbers = host->allocate(host->context, sizeof *numbers * (strlen(line) / 2 + 1));
    char *rest = line, *word = strtok_r(rest, " ", &rest);
    if (!numbers) return no_memory(host);
    snprintf(it->name, sizeof it->name, "%s", word);
    while ((word = strtok_r(rest, " ", &rest))) numbers[it->count++] = strtod(word, NULL);
    it->numbers = numbers;
    return check_given(w, it);
}

/* sigma, sigma1 and sigma2, as far as there are numbers for them. The names that are written come first: a
 * parameter c1 is itself, whatever c is. */
static int name_given(work *w)
{
    for (int32_t k = 0; k < w->count; k++) {
        const given *it = &w->given[k];
        const int of_species = it->count == w->kinds && it->count > 1;
        const double *values = of_species ? NULL : spread(w, it->numbers, it->count, OF_PAIR);
        if (!of_species && !values) return no_memory(w->host);
        add_name(w, it->name, values,
                 sentence(w, "%s has one number per species: write %s1 and %s2", it->name));
    }
    for (int32_t k = 0; k < w->count; k++)
        for (int of = OF_FIRST; of <= OF_SECOND; of++) {
            const given *it = &w->given[k];
            const int of_pairs = it->count != w->kinds && it->count > 1;
            const double *values = of_pairs ? NULL : spread(w, it->numbers, it->count, of);
            if (!of_pairs && !values) return no_memory(w->host);
            add_name(w, sentence(w, of == OF_FIRST ? "%s1" : "%s2", it->name), values,
                     sentence(w, "%s has one number per pair of species: write %s", it->name));
        }
    return PLUGMC_OK;
}

static int find_names(work *w)
{
    const plugmc_host *host = w->host;
    if (w->kinds > MOST_SPECIES)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "there are more than %d species",
                          MOST_SPECIES);
    int code = name_species(w);
    char *copy = host->allocate(host->context, strlen(w->p->numbers) + 1), *rest = copy, *line;
    if (!copy) return no_memory(host);
    strcpy(copy, w->p->numbers);
    while (!code && (line = strtok_r(rest, "\n", &rest))) code = read_given(w, line);
    return code ? code : name_given(w);
}

/* A key that is misspelt is a name that nobody uses. */
static int check_used(const work *w)
{
    for (int32_t k = 0; k < w->count; k++) {
        const formula_name *own = &w->names[FIXED_NAMES + k];
        const formula_name *of_species = &w->names[FIXED_NAMES + w->count + 2 * k];
        if (own->used || of_species[0].used || of_species[1].used) continue;
        return w->host->fail(w->host->context, PLUGMC_ERROR_INPUT,
                             "%s: this is neither a key of the plugin nor a name in the "
                             "formula",
                             own->name);
    }
    return PLUGMC_OK;
}

/* ---- Nodes ------------------------------------------------------------------------------------- */

static int check_graph(const work *w)
{
    const plugmc_host *host = w->host;
    if (w->g.full)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "energy: the formula, or its derivatives, are too large");
    if (w->g.undefined)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "energy: the formula has derivatives that are not finite");
    return PLUGMC_OK;
}

/* Takes the energy at the cutoff off. */
static int shift(work *w)
{
    const plugmc_host *host = w->host;
    const double rc = (double)w->p->cutoff;
    double *values = host->allocate(host->context, sizeof *values * (size_t)w->pairs);
    if (!values) return no_memory(host);
    for (int32_t k = 0; k < w->pairs; k++) {
        values[k] = graph_value(&w->g, w->energy, rc * rc, k);
        if (!isfinite(values[k]))
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "energy: the formula is not finite at the cutoff, r = %g, of '%s' and "
                "'%s'",
                rc, plugmc_species_at(host->system, k / w->kinds)->name,
                plugmc_species_at(host->system, k % w->kinds)->name);
    }
    w->energy = graph_two(&w->g, GRAPH_SUB, w->energy, graph_column(&w->g, values));
    return PLUGMC_OK;
}

/* With s = r^2 and D = s d/ds: u' / r = 2 Du / s, u'' = (4 DDu - 2 Du) / s. */
static int make_nodes(work *w)
{
    graph *g = &w->g;
    char why[FORMULA_WHY];
    w->energy = formula_read(w->p->energy, w->names, w->names_count, g, why);
    if (w->energy < 0)
        return w->host->fail(w->host->context, PLUGMC_ERROR_INPUT, "energy: %s", why);
    int code = check_used(w);
    if (!code && w->p->shift) code = shift(w);
    if (code) return code;
    const int32_t s = graph_square(g), two = graph_number(g, 2), four = graph_number(g, 4);
    const int32_t d = graph_derivative(g, w->energy), dd = graph_derivative(g, d);
    const int32_t twice = graph_two(g, GRAPH_MUL, two, d);
    const int32_t curved = graph_two(g, GRAPH_SUB, graph_two(g, GRAPH_MUL, four, dd), twice);
    w->first = graph_two(g, GRAPH_DIV, twice, s);
    w->second = graph_two(g, GRAPH_DIV, curved, s);
    w->energy = graph_expanded(g, w->energy);
    w->first = graph_expanded(g, w->first);
    w->second = graph_expanded(g, w->second);
    return check_graph(w);
}

/* ---- Programs and tables ----------------------------------------------------------------------- */

static int too_large_for_float(const work *w)
{
    return w->host->fail(w->host->context, PLUGMC_ERROR_INPUT,
                         "energy: numbers in the formula are beyond the range of single "
                         "precision");
}

/* The numbers of the pairs of species, from column `first` of rows of `width`. */
static int put_constants(const work *w, const constants *c, int32_t first, int32_t width, real *out)
{
    for (int32_t pair = 0; pair < w->pairs; pair++)
        for (int32_t k = 0; k < c->count; k++) {
            const real value = (real)graph_constant(&w->g, c->node[k], pair);
            if (!isfinite(value)) return too_large_for_float(w);
            out[pair * width + first + k] = value;
        }
    return PLUGMC_OK;
}

static int make_program(work *w, int outputs, int kind, program *out)
{
    const plugmc_host *host = w->host;
    const int32_t roots[] = {w->energy, w->first, w->second};
    step *steps, *kept;
    const int failed = program_make(&w->g, roots, outputs, kind, &w->constants, &steps, out);
    const size_t bytes = sizeof *steps * (size_t)(failed ? 0 : out->count);
    if (!failed && (kept = host->allocate(host->context, bytes + 1))) {
        memcpy(kept, steps, bytes);
        out->steps = kept;
        free(steps);
        return PLUGMC_OK;
    }
    free(steps);
    if (failed <= 0) return no_memory(host);
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "energy: the formula has more than %d intermediate results at once",
                      PROGRAM_MOST_REGISTERS);
}

static int has_guard(const parameters *p)
{
    int any = 0;
    for (int32_t k = 0; k < p->guard.count; k++) any |= p->guard.values[k] > (real)0;
    return any;
}

static int make_machine(work *w)
{
    const plugmc_host *host = w->host;
    machine *m = host->allocate(host->context, sizeof *m);
    int code = m ? PLUGMC_OK : no_memory(host);
    for (int outputs = 1; outputs <= PROGRAM_MOST_OUTPUTS; outputs++)
        for (int kind = PROGRAM_UNIFORM; kind <= PROGRAM_MIXED && !code; kind++)
            code = make_program(w, outputs, kind, &m->programs[outputs - 1][kind]);
    if (code) return code;
    m->width = w->constants.count;
    m->costly = calls_libm(&m->programs[0][PROGRAM_UNIFORM]);
    real *rows = host->allocate(host->context, sizeof *rows * (size_t)(w->pairs * m->width + 1));
    m->core = host->allocate(host->context, sizeof *m->core * (size_t)w->pairs);
    if (!rows || !m->core) return no_memory(host);
    m->constants = rows;
    m->kinds = w->kinds;
    m->guarded = has_guard(w->p);
    w->p->machine = m;
    return put_constants(w, &w->constants, 0, m->width, rows);
}

static int put_text(work *w)
{
    const char *const energy[] = {"real u"}, *const slopes[] = {"*first", "*second"};
    char *one = program_text(&w->g, &w->energy, 1, &w->columns, 1, energy);
    char *two =
        program_text(&w->g, (const int32_t[]){w->first, w->second}, 2, &w->columns, 1, slopes);
    const char *const format = "PLUGMC_FN real formula_energy(real s, const real *row)\n{\n%s"
                               "    return u;\n}\nPLUGMC_FN void formula_slopes(real s, const real "
                               "*row, real *first, real *second)\n{\n%s}\n"
                               "PLUGMC_FN real formula_guard(real u, int nearer)\n{\n"
                               "    (void)nearer;\n    return %s;\n}\n";
    const char *const guarded = w->p->machine->guarded ? "nearer ? (real)1e30 : u" : "u";
    const size_t size =
        one && two ? strlen(one) + strlen(two) + strlen(format) + strlen(guarded) : 0;
    char *text = size ? w->host->allocate(w->host->context, size) : NULL;
    if (text) snprintf(text, size, format, one, two, guarded);
    w->p->text = text;
    free(one);
    free(two);
    return text ? PLUGMC_OK : no_memory(w->host);
}

/* ---- The smallest distance --------------------------------------------------------------------- */

#include "nearest.h"

static int make_table(work *w)
{
    parameters *p = w->p;
    const plugmc_host *host = w->host;
    p->kinds = w->kinds;
    p->columns = 1 + w->columns.count;
    p->table.count = (int32_t)(w->pairs * p->columns);
    real *table = host->allocate(host->context, sizeof *table * (size_t)p->table.count);
    if (!table) return no_memory(host);
    p->machine->uniform = 1;
    for (int32_t k = 0; k < w->pairs; k++) {
        const int code = find_core(w, k);
        if (code) return code;
        table[k * p->columns] = p->machine->core[k];
        p->machine->uniform &= p->machine->core[k] == p->machine->core[0];
    }
    p->machine->uniform &= w->columns.count == 0;
    p->table.values = table;
    return put_constants(w, &w->columns, 1, (int32_t)p->columns, table);
}

/* ---- The plugin -------------------------------------------------------------------------------- */

static int check_cutoff(const parameters *p, const plugmc_host *host)
{
    if (p->cutoff > 0) return plugmc_check_cutoff(host, (double)p->cutoff);
    if (p->shift)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "shift: without a cutoff there is nothing to shift");
    if (host->system->box.domain == PLUGMC_DOMAIN_PERIODIC)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "cutoff = 0 (none) needs a box without periodic images; here the limit is half "
            "the box, %g",
            plugmc_half_box(&host->system->box));
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t n = host->system->species_count;
    int code = check_cutoff(p, host);
    if (!code) code = guard_check(host, &p->guard, p->cutoff > 0 ? (double)p->cutoff : INFINITY);
    if (code) return code;
    p->range = p->cutoff > 0 ? p->cutoff : PLUGMC_NO_RANGE;
    p->square = p->range * p->range;
    work *w = calloc(1, sizeof *w);
    if (!w) return no_memory(host);
    *w = (work){.p = p, .host = host, .kinds = n, .pairs = n * n};
    code = graph_make(&w->g, w->pairs) ? no_memory(host) : find_names(w);
    if (!code) code = make_nodes(w);
    if (!code) code = make_machine(w);
    if (!code) code = put_text(w);
    if (!code) code = make_table(w);
    graph_free(&w->g);
    free(w);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(
        parameters, energy, NULL,
        "a formula of the distance r with + - * / ^, parentheses, numbers, pi, exp, log, "
        "sqrt, abs, sin, cos, tanh, erf, erfc, pow(,), min(,), max(,), charges q1 and "
        "q2, diameters d1 and d2, and names of your own"),
    PLUGMC_REAL_KEY(parameters, cutoff, NULL, 0, 1e9, "length",
                    "distance from which the energy is 0; 0: none"),
    PLUGMC_FLAG_KEY(parameters, shift, "no", "makes the energy continuous at the cutoff"),
    SPECIES_GUARD_KEY(parameters),
    PLUGMC_NUMBERS_KEY(parameters, numbers, -1e300, 1e300,
                       "any name in the formula: one value, one per pair of species, or one "
                       "per species, which the formula calls NAME1 and NAME2"),
    PLUGMC_INTEGER_DERIVED(parameters, kinds, "number of species"),
    PLUGMC_INTEGER_DERIVED(parameters, columns, "columns of the table"),
    PLUGMC_LIST_DERIVED(
        parameters, table,
        "square of the distance below which the energy stays what it is, numbers of "
        "the formula, a pair of species"),
    PLUGMC_REAL_DERIVED(parameters, range, "cutoff, or infinity"),
    PLUGMC_REAL_DERIVED(parameters, square, "its square"),
    PLUGMC_SOURCE_DERIVED(parameters, text, "the formula for a GPU"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &expression_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "expression",
              .summary = "a pair energy that is a formula in the INI file", .reference = "",
              PLUGMC_KEYS(parameters, table), .configure = configure, .prepare = prepare,
              .potential = &potential);
#endif
