/* plugmc reweight: what runs on a ladder, or several runs, say together, also at values between theirs.
 *
 * Each configuration that was measured tells how probable it is at other temperatures, pressures, chemical
 * potentials and couplings. From all of them follow free energies of the rungs, averages and distributions at
 * any point in reach, and where two phases coexist (mbar.c). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/beside.h"
#include "reweight.h"
#include "records/results.h"

static const char help[] =
    "usage: plugmc reweight FILE.h5... [--at KEY=VALUE,...]... [--scan KEY=FROM:TO:POINTS]\n"
    "                       [--histogram NAME[:BINS] | --coexistence NAME] [--along KEY]\n"
    "                       [--from SWEEP] [--csv]\n"
    "\n"
    "Averages and free energies at any temperature, pressure, chemical potential or coupling, from the\n"
    "configurations of all rungs of a ladder and of several runs of one system (MBAR). Without --at or\n"
    "--scan they are printed for the rungs and values of the files. For a run with weights of macrostates\n"
    "(transition_matrix, wang_landau, umbrella): free energy, mean and variance of the biased variable.\n"
    "\n"
    "  --at KEY=VALUE,...  a point: keys as in [ladder] (run.temperature, run.pressure, SPECIES.mu,\n"
    "                      LABEL.coupling), the others as in the first file. May be repeated\n"
    "  --scan KEY=FROM:TO:POINTS  equidistant points, each with the keys of --at\n"
    "  --histogram NAME[:BINS]    distribution of a quantity (OBSERVABLE.NAME) at the point\n"
    "  --coexistence NAME  the point at which both peaks of this distribution have the same weight\n"
    "  --along KEY         key that is varied to find coexistence: SPECIES.mu, run.pressure, ...; default:\n"
    "                      that of the ladder\n"
    "  --from SWEEP        use only measurements after this sweep\n"
    "  --csv               prints the table as CSV\n"
    "\n"
    "exit codes: 0 done, 2 command line, 3 input, 4 plugin, 5 output, 6 a file that cannot be read,\n"
    "8 memory\n";

enum { MOST_POINTS = 1000 };

typedef struct arguments {
    char **files;
    int count;
    point points[MOST_POINTS];
    int point_count;
    const char *scan, *histogram, *coexistence, *along;
    long long from;
    bool csv;
} arguments;

static int usage_error(const char *format, const char *word)
{
    fputs("plugmc reweight: ", stderr);
    fprintf(stderr, format, word);
    fputs("; see --help\n", stderr);
    return EXIT_USAGE;
}

static bool read_number(const char *text, const char *end_at, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return end != text && end == end_at && isfinite(*out);
}

static bool has_key(const point *p, const char *key)
{
    for (int i = 0; i < p->count; i++)
        if (!strcmp(p->key[i], key)) return true;
    return false;
}

/* "KEY=VALUE,KEY=VALUE"; the text is cut into pieces, which points keep. */
static bool read_point(char *text, point *p)
{
    for (char *next, *piece = text; piece && *piece; piece = next) {
        next = strchr(piece, ',');
        if (next) *next++ = 0;
        char *equals = strrchr(piece, '=');
        if (!equals || equals == piece || p->count == MOST_KEYS - 2) return false;
        *equals = 0;
        if (has_key(p, piece)) return false;
        p->key[p->count] = piece;
        const char *value = equals + 1;
        if (!read_number(value, value + strlen(value), &p->value[p->count++])) return false;
    }
    return p->count > 0;
}

/* "KEY=FROM:TO:POINTS" beside the keys of a point. */
static int add_scan(arguments *a, char *text)
{
    const point base = a->point_count ? a->points[0] : (point){0};
    char *equals = strrchr(text, '='), *to = equals ? strchr(equals, ':') : NULL,
         *points = to ? strchr(to + 1, ':') : NULL;
    double low, high, count;
    if (!points || a->point_count > 1 || !read_number(equals + 1, to, &low) ||
        !read_number(to + 1, points, &high) ||
        !read_number(points + 1, points + strlen(points), &count) || count < 2 ||
        count > MOST_POINTS || count != floor(count))
        return usage_error("%s needs KEY=FROM:TO:POINTS, with at most one --at", "--scan");
    *equals = 0;
    if (has_key(&base, text)) return usage_error("%s is also the key of --at", text);
    a->point_count = (int)count;
    for (int k = 0; k < a->point_count; k++) {
        a->points[k] = base;
        a->points[k].key[base.count] = text;
        a->points[k].value[base.count] = low + k * (high - low) / (count - 1);
        a->points[k].count++;
    }
    return 0;
}

static int take_option(arguments *a, const char *word, char *next)
{
    if (!next) return usage_error("%s needs a value", word);
    if (!strcmp(word, "--at")) {
        if (a->point_count == MOST_POINTS) return usage_error("%s", "too many points");
        if (!read_point(next, &a->points[a->point_count++]))
            return usage_error("%s needs KEY=VALUE,..., with each key once", word);
    } else if (!strcmp(word, "--scan")) {
        a->scan = next;
    } else if (!strcmp(word, "--histogram")) {
        a->histogram = next;
    } else if (!strcmp(word, "--coexistence")) {
        a->coexistence = next;
    } else if (!strcmp(word, "--along")) {
        a->along = next;
    } else if (!strcmp(word, "--from")) {
        char *end;
        a->from = strtoll(next, &end, 10);
        if (!*next || *end || a->from < 1) return usage_error("%s needs a sweep", word);
    } else {
        return usage_error("unknown option '%s'", word);
    }
    return 0;
}

/* Files are moved to the front of argv. */
static int parse(int argc, char **argv, arguments *a)
{
    int code = 0;
    a->files = argv;
    for (int i = 0; i < argc && !code; i++) {
        if (!strcmp(argv[i], "--csv"))
            a->csv = true;
        else if (argv[i][0] == '-' && i + 1 >= argc)
            code = usage_error("%s: unknown, or needs a value", argv[i]);
        else if (argv[i][0] == '-')
            code = take_option(a, argv[i], argv[i + 1]), i++;
        else
            argv[a->count++] = argv[i];
    }
    if (code) return code;
    if (!a->count) return usage_error("%s", "which file?");
    if (a->scan) code = add_scan(a, (char *)a->scan);
    if (code) return code;
    if (a->histogram && a->coexistence)
        return usage_error("%s", "--histogram and --coexistence are different tables");
    if ((a->histogram || a->coexistence) && a->point_count > 1)
        return usage_error("%s", "--histogram and --coexistence are for one point");
    return a->along && !a->coexistence ? usage_error("%s", "--along belongs to --coexistence") : 0;
}

/* ---- Tables -------------------------------------------------------------------------------------------- */

static void put_name(const point *p, const char *otherwise, const char *between)
{
    if (!p && otherwise) fputs(otherwise, stdout);
    for (int k = 0; p && k < p->count; k++)
        printf("%s%s=%.10g", k ? between : "", p->key[k], p->value[k]);
}

static void put_line(const point *p, const char *otherwise, const char *name, const answer *a,
                     const char *unit, double effective, bool csv)
{
    char text[64];
    if (!csv) {
        printf("  %-28s %-20s %s\n", name, with_error(a->value, a->error, a->converged, text),
               unit);
        return;
    }
    putchar('"');
    put_name(p, otherwise, ",");
    printf("\",%s,%.17g,%.17g,%d,%.1f,%s\n", name, a->value, a->error, !a->converged, effective,
           unit);
}

/* Below this many samples of a point its averages are those of a few configurations. */
enum { FEW = 30 };

static int print_point(const mixture *m, const double *multipliers, const point *p,
                       const char *name, bool csv, report *r)
{
    reweighted w;
    const int code = reweighted_make(&w, m, multipliers, r);
    if (code) return code;
    if (!csv) {
        fputs("at ", stdout);
        put_name(p, name, ", ");
        printf(": %.0f effective samples\n", w.effective);
    }
    if (w.effective < FEW)
        report_warning(r, NULL, 0,
                       "%s%s has only %.1f effective samples: this point is too far from the "
                       "sampled ones",
                       p ? p->key[0] : name, p ? " ..." : "", w.effective);
    const answer f = reweighted_free_energy(&w);
    put_line(p, name, "free_energy", &f, "kT", w.effective, csv);
    for (int k = 0; k < m->of->quantity_count; k++) {
        const measured *q = &m->of->quantities[k];
        const answer a = reweighted_mean(&w, q->value, NULL);
        put_line(p, name, q->name, &a, q->unit, w.effective, csv);
    }
    reweighted_free(&w);
    return 0;
}

static int print_tables(const arguments *a, const mixture *m, report *r)
{
    const samples *s = m->of;
    int code = 0;
    if (a->csv)
        puts("at,quantity,value,error,error_is_lower_bound,independent_samples,unit");
    else
        printf("%d file%s, %d state%s, %lld samples; free energies over kT, that of %s is 0\n",
               a->count, a->count > 1 ? "s" : "", s->states, s->states > 1 ? "s" : "",
               (long long)s->count, s->names[0]);
    for (int k = 0; k < a->point_count && !code; k++)
        code = print_point(m, a->points[k].multipliers, &a->points[k], NULL, a->csv, r);
    for (int k = 0; k < s->states && !a->point_count && !code; k++)
        code = print_point(m, &s->multipliers[k * s->width], NULL, s->names[k], a->csv, r);
    return code;
}

static int print_one_histogram(const arguments *a, const mixture *m, report *r)
{
    char *name = checked(strdup(a->histogram)), *colon = strrchr(name, ':');
    int bins = 0;
    if (colon) {
        *colon = 0;
        bins = atoi(colon + 1);
    }
    int code = 0, found = -1;
    if (colon && (bins < 2 || bins > 10000))
        code = usage_error("%s: 2 to 10000 bins", a->histogram);
    if (!code) found = samples_find(m->of, name, r);
    if (!code && found < 0) code = r->code;
    reweighted w = {0};
    if (!code)
        code = reweighted_make(&w, m,
                               a->point_count ? a->points[0].multipliers : m->of->multipliers, r);
    if (!code) code = print_histogram(&w, &m->of->quantities[found], bins, r);
    reweighted_free(&w);
    free(name);
    return code;
}

static int print_two_phases(const arguments *a, const analysed *first, const mixture *m, report *r)
{
    static const point none = {0};
    const int found = samples_find(m->of, a->coexistence, r);
    const char *key = a->along ? a->along : first->session.engine.ladder.keys[0];
    if (found < 0) return r->code;
    if (!key) return report_error(r, EXIT_INPUT, first->path, 0, "coexistence needs a ladder");
    return print_coexistence(first, m, &m->of->quantities[found], key,
                             a->point_count ? &a->points[0] : &none, a->csv, r);
}

/* A run with a histogram of what it weighs. */
static int reweight_histogram(arguments *a, const analysed *run, report *r)
{
    int code = points_fill(&run->session, a->points, a->point_count, r);
    if (!code && a->coexistence)
        code = report_error(r, EXIT_INPUT, run->path, 0,
                            "has weights of macrostates: `coexistence = yes` in the mover's "
                            "section finds coexistence");
    if (!code)
        code = reweigh_histogram(run, a->points, a->point_count, a->histogram != NULL, a->csv, r);
    return code;
}

static int reweight(arguments *a, analysed *runs, report *r)
{
    samples s = {0};
    mixture m = {0};
    int code = 0;
    for (int i = 0; i < a->count && !code; i++) code = analysed_open(&runs[i], a->files[i], r);
    if (!code && a->count == 1 && runs[0].session.engine.weighing) {
        code = reweight_histogram(a, &runs[0], r);
        for (int k = 0; k < a->point_count; k++) free(a->points[k].multipliers);
        return code;
    }
    if (!code) code = samples_gather(&s, runs, a->count, a->points, a->point_count, a->from, r);
    if (!code) code = mixture_solve(&m, &s, r);
    if (!code) {
        if (a->histogram)
            code = print_one_histogram(a, &m, r);
        else if (a->coexistence)
            code = print_two_phases(a, &runs[0], &m, r);
        else
            code = print_tables(a, &m, r);
    }
    for (int k = 0; k < a->point_count; k++) free(a->points[k].multipliers);
    mixture_free(&m);
    samples_free(&s);
    return code;
}

static int command(int argc, char **argv)
{
    static arguments a;
    int code = parse(argc, argv, &a);
    if (code) return code;
    report r = {0};
    analysed *runs = checked(calloc((size_t)a.count, sizeof *runs));
    code = reweight(&a, runs, &r);
    for (int i = 0; i < a.count; i++) analysed_close(&runs[i]);
    free(runs);
    return code;
}

int main(int argc, char **argv) { return beside_main(argc, argv, help, command); }
