/* rdf: the radial distribution functions g(r) of all pairs of species.
 *
 * pair_histogram.h says what is counted and how it is normalised. Of M particles of a species each
 * has only M - 1 others, so g of like particles is M / (M - 1) times that, which makes g = 1 for
 * independent particles whatever their number (M. P. Allen, D. J. Tildesley, Computer Simulation of
 * Liquids, section 8.2).
 *
 * In a periodic box every sample is a g, with the volume of the moment if a mover changes it, and r may go up
 * to half the smallest edge, where shells are no longer whole. In a sphere, whose bulk density is only known
 * on average, samples are numbers of pairs and of references, and g is derived from their means. Where particles
 * come and go it is
 *
 *     g_ab(r) = < n_ab(r) > / (v(r) < 2 N_a N_b / V >),     g_aa(r) = < n_aa(r) > / (v(r) < N_a (N_a - 1) / V >),
 *
 * n the ordered pairs in a shell of volume v: the pairs that there are over those of independent particles in
 * the same numbers, so that it is 1 for an ideal gas.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pair_histogram.h"

typedef struct rdf {
    real r_max, margin; /* parameters, length */
    int64_t bins;       /* parameter */
    int32_t method;     /* parameter, PAIR_* */
    const char *pairs;  /* parameter: "A-A A-B"; "": all */

    pair_histogram histogram;
    int32_t derives; /* g follows from means; else it is measured */
    int32_t numbers; /* ... of pairs and of those of independent particles, since numbers change */
    char **ideal;    /* [rows]: names of the latter */
    double *raw;     /* [walkers][histogram.width] */
} rdf;

/* g of all rows, [rows][bins], from raw values or their means. */
static int all_rows(const pair_histogram *h, const double *raw, double volume, double *g)
{
    int code = 0;
    for (int64_t row = 0; row < h->rows && !code; row++) {
        const double all = (double)plugmc_species_at(h->system, h->first[row])->count;
        const double factor = h->first[row] == h->second[row] ? all / (all - 1) : 1;
        code = pair_histogram_g(h, raw, row, volume, g + row * h->bins);
        for (int64_t k = 0; k < h->bins; k++) g[row * h->bins + k] *= factor;
    }
    return code;
}

/* Where numbers change: values [rows][bins], then [rows]. */
static int measure_numbers(rdf *g, const plugmc_host *host, const plugmc_view *view, double *values)
{
    pair_histogram *h = &g->histogram;
    const int64_t pairs = h->rows * h->bins, width = pairs + h->rows;
    const int code = pair_histogram_measure(h, host, view, g->raw);
    for (int32_t w = 0; w < h->system->walkers && !code; w++) {
        const double *raw = g->raw + w * h->width, *number = raw + pairs;
        memcpy(values + w * width, raw, (size_t)pairs * sizeof *values);
        for (int64_t row = 0; row < h->rows; row++) {
            const double a = number[h->first[row]], b = number[h->second[row]];
            values[w * width + pairs + row] =
                (h->first[row] == h->second[row] ? a * (a - 1) : 2 * a * b) / view->box[w].volume;
        }
    }
    return code;
}

/* values [walkers][rows][bins]: g or, where it is measured, first the pairs in each bin, which it follows from. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    rdf *g = instance;
    pair_histogram *h = &g->histogram;
    if (g->numbers) return measure_numbers(g, host, view, values);
    if (g->derives) return pair_histogram_measure(h, host, view, values);
    const int64_t pairs = h->rows * h->bins;
    const int code = pair_histogram_measure(h, host, view, g->raw);
    for (int32_t w = 0; w < h->system->walkers && !code; w++)
        memcpy(values + w * pairs, g->raw + w * h->width, (size_t)pairs * sizeof *values);
    return code;
}

static int is_in_parts(const rdf *g) { return !g->numbers && !g->derives; }

/* g from the pairs of all particles, each of which is a reference. */
static void complete(void *instance, const plugmc_view *view, double *values)
{
    rdf *g = instance;
    const pair_histogram *h = &g->histogram;
    const int64_t pairs = h->rows * h->bins;
    for (int32_t w = 0; w < h->system->walkers && is_in_parts(g); w++) {
        double *out = values + w * pairs;
        memcpy(g->raw, out, (size_t)pairs * sizeof *out);
        for (int32_t s = 0; s < h->system->species_count; s++)
            g->raw[pairs + s] = (double)plugmc_species_at(h->system, s)->count;
        all_rows(h, g->raw, view->box[w].volume, out);
    }
}

static double reach(void *instance)
{
    const rdf *g = instance;
    return is_in_parts(g) ? pair_histogram_reach(&g->histogram) : INFINITY;
}

static int function(const rdf *g, int index, plugmc_quantity *out)
{
    const pair_histogram *h = &g->histogram;
    if (index >= h->rows) return 0;
    return plugmc_array(out, h->names[index], "", "radial distribution function", h->bins, "r",
                        h->radius);
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const rdf *g = instance;
    const pair_histogram *h = &g->histogram;
    if (g->numbers && index >= h->rows)
        return index < 2 * h->rows &&
               plugmc_scalar(out, g->ideal[index - h->rows],
                             h->system->box.dimension == 2 ? "length^-2" : "length^-3",
                             "pairs of independent particles, over the volume");
    return g->derives ? pair_histogram_quantity(h, index, out) : function(g, index, out);
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    const rdf *g = instance;
    return g->derives && function(g, index, out);
}

static int derive(void *instance, const double *means, double *out)
{
    const rdf *g = instance;
    const pair_histogram *h = &g->histogram;
    const double *ideal = means + h->rows * h->bins;
    if (!g->numbers) return all_rows(h, means, h->volume, out);
    for (int64_t k = 0; k < h->rows * h->bins; k++)
        out[k] =
            ideal[k / h->bins] > 0 ? means[k] / (ideal[k / h->bins] * h->shell[k % h->bins]) : NAN;
    return 0;
}

/* ---- Which pairs ---------------------------------------------------------------------------- */

static int is_called(const char *word, size_t length, const char *a, const char *b)
{
    return length == strlen(a) + 1 + strlen(b) && !strncmp(word, a, strlen(a)) &&
           word[strlen(a)] == '-' && !strncmp(word + strlen(a) + 1, b, strlen(b));
}

/* Marks the pair that a word names, either species first, in wanted [species][species]. */
static int want(const plugmc_host *host, const char *word, size_t length, unsigned char *wanted)
{
    const plugmc_system *system = host->system;
    const int32_t n = system->species_count;
    int found = 0;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            const char *one = plugmc_species_at(system, a)->name,
                       *other = plugmc_species_at(system, b)->name;
            if (!is_called(word, length, one, other)) continue;
            wanted[a * n + b] = wanted[b * n + a] = 1;
            found = 1;
        }
    return found ? PLUGMC_OK
                 : host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "pairs: '%.*s' is not a pair of species, such as %s-%s",
                              (int)(length < 80 ? length : 80), word,
                              plugmc_species_at(system, 0)->name,
                              plugmc_species_at(system, n - 1)->name);
}

/* NULL in *wanted: all pairs. */
static int find_wanted(const rdf *g, const plugmc_host *host, unsigned char **wanted)
{
    const size_t n = (size_t)host->system->species_count;
    const char *word = g->pairs;
    int code = PLUGMC_OK;
    *wanted = NULL;
    if (!*word) return PLUGMC_OK;
    *wanted = host->allocate(host->context, n * n);
    if (!*wanted) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for pairs");
    while (*(word += strspn(word, " \t")) && !code) {
        const size_t length = strcspn(word, " \t");
        code = want(host, word, length, *wanted);
        word += length;
    }
    return code;
}

/* As many as an observable may have in all. */
enum { MOST_QUANTITIES = 1000 };

/* Pairs that are wanted and cannot be are refused, and more than can be told. */
static int check_rows(const rdf *g, const plugmc_host *host, const unsigned char *wanted)
{
    const plugmc_system *system = host->system;
    const pair_histogram *h = &g->histogram;
    const int32_t n = system->species_count;
    const char *first = plugmc_species_at(system, 0)->name,
               *last = plugmc_species_at(system, n - 1)->name;
    for (int32_t k = 0; wanted && k < n * n; k++)
        if (wanted[k] && h->row[k / n * (n + 1) + k % n] == h->rows)
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT, "pairs: there are no two particles for %s-%s",
                plugmc_species_at(system, k / n)->name, plugmc_species_at(system, k % n)->name);
    const int64_t others = g->derives && !g->numbers ? n : 0, each = g->numbers ? 2 : 1,
                  most = (MOST_QUANTITIES - others) / each;
    if (h->rows <= most) return PLUGMC_OK;
    return host->fail(
        host->context, PLUGMC_ERROR_INPUT,
        "%lld pairs of %d species are more than the %lld of one section: name those that are wanted, "
        "such as pairs = %s-%s %s-%s, in several sections if need be",
        (long long)h->rows, n, (long long)most, first, first, first, last);
}

static int prepare(void *instance, const plugmc_host *host)
{
    rdf *g = instance;
    const plugmc_system *system = host->system;
    unsigned char *wanted;
    int code = find_wanted(g, host, &wanted);
    if (code) return code;
    code = pair_histogram_prepare(&g->histogram, host, g->r_max, g->bins, g->margin, g->method,
                                  wanted);
    if (code) return code;
    const int sphere = system->box.domain == PLUGMC_DOMAIN_SPHERE;
    g->numbers = (system->changes & PLUGMC_CHANGED_COUNT) != 0;
    g->derives = sphere || g->numbers;
    if (g->numbers && sphere)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "in a sphere it needs a fixed number of particles, but a mover "
                          "changes it");
    if ((code = check_rows(g, host, wanted))) return code;
    g->ideal = host->allocate(host->context, (size_t)(g->histogram.rows + 1) * sizeof *g->ideal);
    for (int64_t row = 0; row < g->histogram.rows && g->ideal; row++) {
        const size_t bytes = strlen(g->histogram.names[row]) + sizeof "ideal_";
        g->ideal[row] = host->allocate(host->context, bytes);
        if (g->ideal[row]) snprintf(g->ideal[row], bytes, "ideal_%s", g->histogram.names[row]);
    }
    g->raw = host->allocate(host->context,
                            (size_t)system->walkers * (size_t)g->histogram.width * sizeof *g->raw);
    return g->raw ? PLUGMC_OK
                  : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld counts",
                               (long long)g->histogram.width);
}

static const plugmc_parameter table[] = {
    PAIR_HISTOGRAM_KEYS(rdf, PAIR_HISTOGRAM_R_MAX, "200", PAIR_HISTOGRAM_MARGIN),
    PLUGMC_TEXT_KEY(rdf, pairs, "",
                    "pairs of species, such as A-A A-B; empty: all, 1000 functions at most"),
};

/* All that it can give. */
static const plugmc_listing listing[] = {
    {"<species>-<species>", "", "radial distribution function against r", 1, 0},
    {"pairs_<species>-<species>", "",
     "pairs in a bin against r, counted once per reference particle; in a sphere, or if "
     "particle numbers change",
     1, 0},
    {"references_<species>", "", "number of reference particles; in a sphere", 0, 0},
    {"ideal_<species>-<species>", "length^-<dimension>",
     "pairs of independent particles, over the volume; where numbers change", 0, 0},
    {"<species>-<species>", "",
     "radial distribution function against r; in a sphere, or where numbers change", 1, 1},
};

static const plugmc_measures_shares shares = {
    .size = sizeof shares, .reach = reach, .complete = complete};

PLUGMC_PLUGIN(.name = "rdf", .summary = "radial distribution functions of all pairs of species",
              .reference = "Allen, Tildesley, Computer Simulation of Liquids, section 8.2",
              PLUGMC_KEYS(rdf, table), PLUGMC_OFFERS({PLUGMC_MEASURES_SHARES, &shares}),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .derived = derived, .derive = derive, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_ORIENTATION |
                                                PLUGMC_CHANGED_MOLECULE |
                                                PLUGMC_CHANGED_WALKER_WEIGHT),
              .prepare = prepare, .gpu_source = pair_histogram_gpu_source)
