/* tabulated: pair energies from files with two columns, r and u, one file for all pairs of species or
 * one a pair.
 *
 *     r < first r       1e30, so that nobody comes there; or, with inside = extrapolate, the straight
 *                       line that goes on from the first point
 *     between           the monotone piecewise cubic through all points (interpolant.c)
 *     r >= last r       0
 *
 * Nearer than `guard` it is 1e30, too, whatever the table has there.
 *
 * Forces are the derivative of that very function. shift = yes takes the last energy of each file off
 * all of it. F. N. Fritsch, R. E. Carlson, SIAM J. Numer. Anal. 17, 238 (1980).
 *
 * What is forbidden is no hard core (pair_contact), which whatever follows forces refuses. And it is
 * finite, so that a start with particles too near is left, one after the other, and no difference of
 * two energies is undefined.
 */
#include <plugmc/potential.h>

/* Columns of `pairs`, `knots`. Places in other tables are whole numbers, exact in float. */
enum { FORBIDDEN, SQUARE, BEGIN, PER_LENGTH, FIRST_BIN, LAST_BIN, LAST_KNOT, PAIR_COLUMNS };
enum { KNOT, OVER, CUBIC, KNOT_COLUMNS = CUBIC + 4 };

typedef struct parameters {
    const char *files, *species;
    int32_t inside, shift;
    int64_t kinds;  /* number of species */
    int64_t stride; /* of the search in a bin: a power of two; 0 if each bin has one interval */
    plugmc_list
        pairs; /* [kinds][kinds][PAIR_COLUMNS]: squares of the distance below which nobody can
                          be and of the last r; first r, bins per length; first and last place in
                          `bins`, last in `knots` */
    plugmc_list bins;  /* places in `knots` */
    plugmc_list knots; /* [][KNOT_COLUMNS]: r of the left point, 1 / width, coefficients */
    real range;        /* length: largest of the last r */
    plugmc_list guard; /* length, one or one a pair of species; 0: none */
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->range; }

PLUGMC_FN const real *pair_of(const parameters *p, plugmc_site a, plugmc_site b)
{
    return p->pairs.values + (a.species * (int32_t)p->kinds + b.species) * (int32_t)PAIR_COLUMNS;
}

/* The interval of r, or one next to it where rounding decides: the function is smooth there. */
PLUGMC_FN const real *interval_of(const parameters *p, const real *pair, real r)
{
    real most = pair[LAST_BIN] - pair[FIRST_BIN], x = (r - pair[BEGIN]) * pair[PER_LENGTH];
    real inside = x > (real)0 ? (x < most ? x : most) : (real)0;
    int32_t last = (int32_t)pair[LAST_KNOT];
    int32_t i = (int32_t)p->bins.values[(int32_t)pair[FIRST_BIN] + (int32_t)inside];
    for (int32_t step = (int32_t)p->stride; step > 0; step /= 2) {
        int32_t next = i + step < last ? i + step : last;
        i = p->knots.values[next * (int32_t)KNOT_COLUMNS + (int32_t)KNOT] <= r ? next : i;
    }
    return p->knots.values + i * (int32_t)KNOT_COLUMNS;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    const real *pair = pair_of(p, a, b);
    real r = plugmc_sqrt(s.r2);
    const real *k = interval_of(p, pair, r), *c = k + CUBIC;
    real t = (r - k[KNOT]) * k[OVER], bent = t > (real)0 ? t : (real)0;
    real u = c[0] + t * c[1] + bent * bent * (c[2] + bent * c[3]);
    u = s.r2 < pair[FORBIDDEN] ? (real)1e30 : u;
    return s.r2 < pair[SQUARE] ? u : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    const real least = (real)1e-30; /* two particles on one place have no direction */
    const real *pair = pair_of(p, a, b);
    real r = plugmc_sqrt(s.r2);
    const real *k = interval_of(p, pair, r), *c = k + CUBIC;
    real t = (r - k[KNOT]) * k[OVER], bent = t > (real)0 ? t : (real)0;
    real u1 = k[OVER] * (c[1] + bent * (2 * c[2] + bent * 3 * c[3])) / (r > least ? r : least);
    real u2 = k[OVER] * k[OVER] * (2 * c[2] + bent * 6 * c[3]);
    int there = s.r2 < pair[SQUARE] && s.r2 >= pair[FORBIDDEN];
    *first = there ? u1 : (real)0;
    *second = there && t >= (real)0 ? u2 : (real)0;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include <stdlib.h>
#include <string.h>

#include "../charged_species.h"
#include "../ends_of_energies.h"
#include "interpolant.h"

enum { FORBID, EXTRAPOLATE };
enum { MOST_ROWS = 100000 }; /* of all tables: they travel in the text of kernels */
enum { MOST_SPECIES = 32, MOST_PAIRS = MOST_SPECIES * (MOST_SPECIES + 1) / 2 };
/* What movers keep apart by their energies alone: exp(-10) is below what errors of runs are. */
static const double high_energy = 10;

/* The files as they are read. */
typedef struct tables {
    int32_t count;
    const char *path[MOST_PAIRS];
    table_file table[MOST_PAIRS];
    interpolant curve[MOST_PAIRS];
    int32_t of_pair[MOST_PAIRS]; /* table of the pair in the order of plugmc/species_pairs.h */
} tables;

static int refuse(const plugmc_host *host, const char *what, const char *word)
{
    return host->fail(host->context, PLUGMC_ERROR_INPUT, what, word);
}

/* Both precisions are configured alike; what is said is said once. */
static int speaks(void) { return sizeof(real) == sizeof(double); }

/* ---- Which file is whose --------------------------------------------------------------------- */

/* Place of the pair that a word such as "A-B" names; names may have hyphens themselves. */
static int find_pair(const plugmc_host *host, const char *word, int32_t *place)
{
    const plugmc_system *system = host->system;
    const int32_t n = system->species_count;
    int found = 0;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            const char *first = plugmc_species_at(system, a)->name;
            const size_t length = strlen(first);
            if (strncmp(word, first, length) || word[length] != '-' ||
                strcmp(word + length + 1, plugmc_species_at(system, b)->name))
                continue;
            const int32_t here = plugmc_species_pair_index(n, a, b);
            if (found && *place != here)
                return refuse(host, "species = ...: '%s' can be read as two pairs of species",
                              word);
            *place = here;
            found = 1;
        }
    return found ? PLUGMC_OK
                 : refuse(host, "species = ...: '%s' is not a pair of species, such as A-B", word);
}

/* The name of a pair for people. */
static void name_pair(const plugmc_system *system, int32_t place, char out[160])
{
    const int32_t n = system->species_count;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = a; b < n; b++)
            if (plugmc_species_pair_index(n, a, b) == place)
                snprintf(out, 160, "%.64s-%.64s", plugmc_species_at(system, a)->name,
                         plugmc_species_at(system, b)->name);
}

/* Reads `species`: a pair for each file. */
static int assign_by_name(const parameters *p, const plugmc_host *host, char *words, tables *t)
{
    const int32_t n = host->system->species_count, pairs = n * (n + 1) / 2;
    int32_t count = 0, place = 0;
    char *rest = words, *word, name[160] = "";
    for (int32_t i = 0; i < pairs; i++) t->of_pair[i] = -1;
    for (; (word = strtok_r(rest, " \t", &rest)); count++) {
        const int code = find_pair(host, word, &place);
        if (code) return code;
        if (t->of_pair[place] >= 0)
            return refuse(host, "species = ...: the pair '%s' is repeated", word);
        t->of_pair[place] = count;
    }
    if (count != t->count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "species = %s has %d pairs for %d files: give one for each", p->species,
                          count, t->count);
    for (int32_t i = 0; i < pairs; i++) {
        if (t->of_pair[i] >= 0) continue;
        name_pair(host->system, i, name);
        return refuse(host, "species = ...: the pair '%s' is missing", name);
    }
    return PLUGMC_OK;
}

static int assign_in_order(const plugmc_host *host, tables *t)
{
    const int32_t n = host->system->species_count, pairs = n * (n + 1) / 2;
    if (t->count != 1 && t->count != pairs)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "files has %d names: for %d species there must be 1 or %d (one per "
                          "pair of species)",
                          t->count, n, pairs);
    for (int32_t i = 0; i < pairs; i++) t->of_pair[i] = t->count == 1 ? 0 : i;
    return PLUGMC_OK;
}

static int assign(const parameters *p, const plugmc_host *host, tables *t)
{
    if (host->system->species_count > MOST_SPECIES)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "there are more than %d species",
                          MOST_SPECIES);
    char *words = host->allocate(host->context, strlen(p->files) + strlen(p->species) + 2);
    if (!words) return refuse(host, "%s", "no memory for the names of files");
    char *rest = strcpy(words, p->files), *path;
    while ((path = strtok_r(rest, "\n", &rest))) {
        if (t->count == MOST_PAIRS) return refuse(host, "%s", "files has too many names");
        t->path[t->count++] = path;
    }
    if (!t->count)
        return refuse(host, "%s",
                      "files is empty: give a table, or one per pair "
                      "of species");
    if (!*p->species) return assign_in_order(host, t);
    return assign_by_name(p, host, strcpy(words + strlen(p->files) + 1, p->species), t);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int check_end(const plugmc_host *host, const char *path, const interpolant *curve)
{
    const double half = plugmc_half_box(&host->system->box);
    if (curve->end <= half * (1 + 1e-12)) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s: the table ends at r = %g, beyond half the box, %g: pairs would be "
                      "missed",
                      path, curve->end, half);
}

static int read_table(const parameters *p, const plugmc_host *host, tables *t, int32_t i)
{
    table_file *table = &t->table[i];
    int code = table_read(host, t->path[i], table);
    if (code) return code;
    const double last = table->u[table->rows - 1];
    for (int32_t k = 0; k < table->rows && p->shift; k++) table->u[k] -= last;
    if (!interpolant_make(table, &t->curve[i]))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the table %s",
                          t->path[i]);
    if (last != 0 && !p->shift && speaks())
        host->warn(host->context,
                   "%s: the energy jumps from %g to 0 at the end of the table, r = %g; shift "
                   "= yes subtracts it everywhere",
                   t->path[i], last, t->curve[i].end);
    return check_end(host, t->path[i], &t->curve[i]);
}

/* Each pair's table has to go on outside of its guard. */
static int check_guard(const parameters *p, const plugmc_host *host, const tables *t)
{
    double end = INFINITY;
    for (int32_t i = 0; i < t->count; i++) end = fmin(end, t->curve[i].end);
    return guard_check(host, &p->guard, end);
}

/* ---- What kernels look at -------------------------------------------------------------------- */

static real *new_list(const plugmc_host *host, size_t count, plugmc_list *list)
{
    real *values = host->allocate(host->context, count * sizeof *values);
    *list = (plugmc_list){values, (int32_t)count};
    return values;
}

static void put_curve(const interpolant *curve, int32_t first_knot, real *bins, real *knots)
{
    for (int32_t k = 0; k < curve->bins; k++) bins[k] = (real)(first_knot + curve->first[k]);
    for (int32_t i = 0; i < curve->intervals; i++, knots += KNOT_COLUMNS) {
        knots[KNOT] = (real)curve->interval[i].begin;
        knots[OVER] = (real)curve->interval[i].over;
        for (int d = 0; d < 4; d++) knots[CUBIC + d] = (real)curve->interval[i].c[d];
    }
}

static void put_pair(const parameters *p, const interpolant *curve, double guard, int32_t bin,
                     int32_t knot, real *pair)
{
    const real begin = (real)curve->begin, end = (real)curve->end;
    const real least = p->inside == FORBID ? begin : 0;
    const real nearest = (real)guard > least ? (real)guard : least;
    pair[FORBIDDEN] = nearest * nearest;
    pair[SQUARE] = end * end;
    pair[BEGIN] = begin;
    pair[PER_LENGTH] = (real)curve->bins_per_length;
    pair[FIRST_BIN] = (real)bin;
    pair[LAST_BIN] = (real)(bin + curve->bins - 1);
    pair[LAST_KNOT] = (real)(knot + curve->intervals - 1);
}

static int put_tables(parameters *p, const plugmc_host *host, const tables *t)
{
    const int32_t n = host->system->species_count;
    int32_t bin[MOST_PAIRS], knot[MOST_PAIRS], bins = 0, knots = 0, most = 0;
    for (int32_t i = 0; i < t->count; i++) {
        bin[i] = bins;
        knot[i] = knots;
        bins += t->curve[i].bins;
        knots += t->curve[i].intervals;
        most = t->curve[i].most > most ? t->curve[i].most : most;
        p->range = (real)fmax((double)p->range, t->curve[i].end);
    }
    if (knots > MOST_ROWS)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the tables have %d intervals in total: the limit is %d", knots,
                          MOST_ROWS);
    p->stride = most > 0;
    while (most > 0 && 2 * p->stride <= most) p->stride *= 2;
    p->kinds = n;
    real *pair = new_list(host, (size_t)(n * n) * PAIR_COLUMNS, &p->pairs);
    real *all_bins = new_list(host, (size_t)bins, &p->bins);
    real *all_knots = new_list(host, (size_t)knots * KNOT_COLUMNS, &p->knots);
    if (!pair || !all_bins || !all_knots)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for tables of %d rows",
                          knots);
    for (int32_t i = 0; i < t->count; i++)
        put_curve(&t->curve[i], knot[i], all_bins + bin[i], all_knots + knot[i] * KNOT_COLUMNS);
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            const int32_t i = t->of_pair[plugmc_species_pair_index(n, a, b)];
            const double guard = plugmc_species_pair_value(&p->guard, n, a, b);
            put_pair(p, &t->curve[i], guard, bin[i], knot[i], &pair[(a * n + b) * PAIR_COLUMNS]);
        }
    return PLUGMC_OK;
}

/* ---- The plugin ------------------------------------------------------------------------------ */

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    tables *t = calloc(1, sizeof *t);
    if (!t) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for tables");
    int code = assign(p, host, t);
    for (int32_t i = 0; i < t->count && !code; i++) code = read_table(p, host, t, i);
    if (!code) code = check_guard(p, host, t);
    if (!code) code = put_tables(p, host, t);
    for (int32_t i = 0; i < t->count; i++) {
        table_free(&t->table[i]);
        interpolant_free(&t->curve[i]);
    }
    free(t);
    return code;
}

/* A force knows nothing of the push where the energy goes to infinity at once; and an energy that has fallen too
 * far where particles are nearest cannot be sampled. Other terms must be configured. */
static int prepare(void *instance, const plugmc_host *host)
{
    const double no_end = -1e4; /* kT */
    const parameters *p = instance;
    const plugmc_system *system = host->system;
    const plugmc_term *own = term_of(system, instance);
    const double t = system->temperature, kT = isfinite(t) ? t : 1;
    const char *unit = plugmc_energy_unit(system);
    int warned = 0;
    for (int32_t a = 0; a < p->kinds; a++)
        for (int32_t b = a; b < p->kinds; b++) {
            const plugmc_species *sa = plugmc_species_at(system, a),
                                 *sb = plugmc_species_at(system, b);
            const real *pair = p->pairs.values + (a * p->kinds + b) * PAIR_COLUMNS;
            const plugmc_site of_a = {.species = a}, of_b = {.species = b};
            const plugmc_separation nearest = {.r2 = pair[FORBIDDEN]};
            const double r = sqrt((double)pair[FORBIDDEN]);
            const double u = (double)pair_energy(p, nearest, of_a, of_b);
            if (own && own->sampled && sa->capacity >= 1 && sb->capacity >= (a == b ? 2 : 1) &&
                u < no_end * kT && !kept_apart(system, own, a, b))
                return host->fail(host->context, PLUGMC_ERROR_INPUT,
                                  "the table of '%s' and '%s' falls to %g %s at r = %g, so "
                                  "they would collapse: set guard to the distance below "
                                  "which pairs are forbidden, or add a potential with a "
                                  "core, such as hard_sphere with diameters above 0",
                                  sa->name, sb->name, u, unit, r);
            if (r == 0 || u >= high_energy * kT || warned) continue;
            host->warn(host->context,
                       "a table begins at r = %g with an energy of only %g %s: the wall "
                       "there contributes no force, so pressures use pairs near it",
                       r, u, unit);
            warned = 1;
        }
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_FILES_KEY(parameters, files, NULL,
                     "tables of r and u: one for all, or one per pair of species"),
    PLUGMC_TEXT_KEY(parameters, species, "",
                    "pairs of species of these files, such as A-A A-B B-B; empty: in the order 1-1 "
                    "1-2 ... 2-2 ..."),
    PLUGMC_CHOICE_KEY(parameters, inside, "forbidden", "forbidden|extrapolate",
                      "below the first r: forbidden, or linear extrapolation"),
    PLUGMC_FLAG_KEY(parameters, shift, "no", "makes the energy continuous at the last r"),
    SPECIES_GUARD_KEY(parameters),
    PLUGMC_INTEGER_DERIVED(parameters, kinds, "number of species"),
    PLUGMC_INTEGER_DERIVED(parameters, stride, "first step of the search in a bin"),
    PLUGMC_LIST_DERIVED(parameters, pairs, "a row a pair: where its tables are"),
    PLUGMC_LIST_DERIVED(parameters, bins, "first interval of each bin"),
    PLUGMC_LIST_DERIVED(parameters, knots, "r, 1 / width and cubic of each interval"),
    PLUGMC_REAL_DERIVED(parameters, range, "largest of the last r"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "tabulated",
              .summary = "pair energies from tables in files",
              .reference = "Fritsch, Carlson, SIAM J. Numer. Anal. 17, 238 (1980)",
              PLUGMC_KEYS(parameters, table), .configure = configure, .prepare = prepare,
              .potential = &potential);
#endif
