/* plugmc extrapolate: numbers of runs that differ in one key of their INI files, taken to where that key is 0, as
 * energies of diffusion Monte Carlo are taken to time step 0; and mixed estimators, 2 DMC - VMC.
 *
 * Least squares with weights 1 / error^2 of polynomials in the key. Errors of what is found follow from those of
 * the runs, which are independent. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/beside.h"
#include "input/comparison.h"
#include "input/ini.h"
#include "archive/averages.h"
#include "records/numbers.h"
#include "records/results.h"

static const char help[] =
    "usage: plugmc extrapolate FILE.h5... [--of NAME] [--along SECTION.KEY] [--order N] [--vmc FILE.h5]\n"
    "\n"
    "Extrapolates results of several runs to zero of an input parameter, for example the time step, by\n"
    "polynomial fits. Each run is a point of the fit.\n"
    "\n"
    "  --of NAME            the result, OBSERVABLE.NAME of the table; default: local_energy.energy\n"
    "  --along SECTION.KEY  the input parameter; default: mover diffusion.tau\n"
    "  --order N            order of the polynomial, 0 to 3; default: 1 and 2, if there are enough runs\n"
    "  --vmc FILE.h5        a variational Monte Carlo run with the same wave function: prints also the\n"
    "                       extrapolated estimator 2 DMC - VMC, for operators that do not commute\n"
    "                       with H. A single FILE.h5 is then enough, and is not fitted\n"
    "\n"
    "exit codes: 0 done, 2 command line, 3 input, 6 a file that cannot be read, 8 memory\n";

enum { MOST_ORDER = 3 };

typedef struct arguments {
    char **files;
    int count, order; /* order -1: not given */
    const char *of, *along, *vmc;
} arguments;

typedef struct point {
    double x, y, error;
    bool converged;
} point;

/* ---- Fitting --------------------------------------------------------------------------------- */

/* Solves a [n][n] x = b in place, by elimination with the largest pivot; returns 0 where it cannot. */
static int solve(double a[MOST_ORDER + 1][MOST_ORDER + 1], double *b, int n)
{
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int i = c; i < n; i++)
            if (fabs(a[i][c]) > fabs(a[best][c])) best = i;
        if (!(fabs(a[best][c]) > 1e-12)) return 0;
        for (int j = 0; j < n; j++) {
            const double swap = a[c][j];
            a[c][j] = a[best][j];
            a[best][j] = swap;
        }
        const double swap = b[c];
        b[c] = b[best];
        b[best] = swap;
        for (int i = 0; i < n; i++) {
            const double factor = i == c ? 0 : a[i][c] / a[c][c];
            for (int j = c; j < n && factor != 0; j++) a[i][j] -= factor * a[c][j];
            b[i] -= factor * b[c];
        }
    }
    for (int i = 0; i < n; i++) b[i] /= a[i][i];
    return 1;
}

/* The value at 0, its error and chi^2; returns 0 where points do not suffice. x is scaled by its largest value. */
static int fit(const point *points, int count, int order, double *value, double *error, double *chi)
{
    const int n = order + 1;
    double largest = 0, normal[MOST_ORDER + 1][MOST_ORDER + 1] = {0},
           again[MOST_ORDER + 1][MOST_ORDER + 1], right[MOST_ORDER + 1] = {0},
           unit[MOST_ORDER + 1] = {1}, least = INFINITY;
    for (int k = 0; k < count; k++) largest = fmax(largest, fabs(points[k].x));
    for (int k = 0; k < count; k++) least = fmin(least, points[k].error);
    for (int k = 0; k < count; k++) {
        const double weight = pow(least / points[k].error, 2), x = points[k].x / largest;
        for (int i = 0; i < n; i++) {
            right[i] += weight * pow(x, i) * (points[k].y - points[0].y);
            for (int j = 0; j < n; j++) normal[i][j] += weight * pow(x, i + j);
        }
    }
    memcpy(again, normal, sizeof again);
    if (count < n || !solve(normal, right, n) || !solve(again, unit, n)) return 0;
    *value = points[0].y + right[0];
    *error = least * sqrt(unit[0]); /* the first element of the inverse */
    *chi = 0;
    for (int k = 0; k < count; k++) {
        double y = points[0].y;
        for (int i = 0; i < n; i++) y += right[i] * pow(points[k].x / largest, i);
        *chi += pow((points[k].y - y) / points[k].error, 2);
    }
    return 1;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* "SECTION.KEY" of the INI that a run had. */
static int key_of(const char *path, const ini_file *ini, const char *along, double *out, report *r)
{
    const char *dot = strrchr(along, '.');
    char section[256], *end;
    snprintf(section, sizeof section, "%.*s", (int)(dot - along), along);
    const ini_section *s = ini_section_named(ini, section);
    const ini_entry *entry = s ? ini_get(s, dot + 1) : NULL;
    if (!entry) return report_error(r, EXIT_INPUT, path, 0, "the run has no key '%s'", along);
    *out = strtod(entry->value, &end);
    if (end != entry->value) return 0;
    return report_error(r, EXIT_INPUT, path, 0, "'%s' = %s is not a number", along, entry->value);
}

/* What is told of two runs. */
typedef struct difference {
    const arguments *a;
    const char *path;
    report *report;
    int code;
} difference;

/* Runs in other boxes, of other particles, or by other potentials (wave functions too) have no common fit. */
static void look_at(void *argument, const char *section, const char *key, const char *one,
                    const char *other)
{
    difference *d = argument;
    char name[512];
    snprintf(name, sizeof name, "%s.%s", section, key);
    if (d->code || !strcmp(name, d->a->along) ||
        (strcmp(section, "box") && strncmp(section, "species ", 8) &&
         strncmp(section, "potential ", 10)))
        return;
    d->code = report_error(d->report, EXIT_INPUT, d->path, 0,
                           "a run of another system than %s: [%s] %s is %s there, but %s here",
                           d->a->files[0], section, key, one ? one : "not given",
                           other ? other : "not given");
}

/* What the INI file of a run says, against that of the first one. */
static int read_ini(const char *path, const output_data *data, const arguments *a, bool with_key,
                    point *out, ini_file *first, report *r)
{
    ini_file ini = {0};
    difference d = {a, path, r, 0};
    int code = ini_read_archived(path, data->origin.effective_ini, &ini, r);
    if (!code && with_key) code = key_of(path, &ini, a->along, &out->x, r);
    if (!code && first->count) {
        ini_compare(first, &ini, look_at, &d);
        code = d.code;
    }
    if (!code && !first->count)
        *first = ini;
    else
        ini_free(&ini);
    return code;
}

static int read_point(const char *path, const arguments *a, bool with_key, point *out,
                      ini_file *first, report *r)
{
    output_data data = {0};
    int count = 0, code = output_read(path, &data, r);
    const bool is_vmc = a->vmc && !strcmp(path, a->vmc);
    if (code) return code;
    if (averages_find(&data))
        code = report_error(r, EXIT_MEMORY, NULL, 0, "no memory for averages");
    number *all = code ? NULL : numbers_of(&data, &count);
    bool found = false;
    for (int i = 0; i < count && !code; i++) {
        char name[256];
        snprintf(name, sizeof name, "%s.%s", all[i].observable, all[i].name);
        if (is_vmc && !strcmp(all[i].name, "weight"))
            code = report_error(r, EXIT_INPUT, path, 0,
                                "its walkers have weights: it is not a run of variational Monte "
                                "Carlo");
        if (strcmp(name, a->of)) continue;
        *out = (point){NAN, all[i].value, all[i].error, all[i].converged};
        found = true;
    }
    if (!code && !found)
        code = report_error(r, EXIT_INPUT, path, 0, "the run has no quantity '%s'", a->of);
    if (!code && !(isfinite(out->y) && out->error > 0))
        code = report_error(r, EXIT_INPUT, path, 0, "'%s' has no value with an error", a->of);
    if (!code) code = read_ini(path, &data, a, with_key, out, first, r);
    for (int i = 0; i < data.quantity_count; i++) averages_free(&data.quantities[i]);
    free(all);
    output_free(&data);
    return code;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void print_fit(const point *points, int count, int order)
{
    static const char *const names[] = {"constant", "linear", "quadratic", "cubic"};
    double value, error, chi;
    char text[64];
    bool converged = true;
    for (int k = 0; k < count; k++) converged &= points[k].converged;
    if (!fit(points, count, order, &value, &error, &chi)) return;
    printf("%-12s %-22s", names[order], with_error(value, error, converged, text));
    if (count > order + 1)
        printf(" chi^2 %.3g of %d degrees of freedom\n", chi, count - order - 1);
    else
        printf(" as many runs as coefficients\n");
}

static int enough(const arguments *a, const point *points, report *r)
{
    const int needed = a->order >= 0 ? a->order + 1 : 2;
    int different = 0;
    for (int k = 0; k < a->count; k++) {
        int before = 0;
        while (before < k && points[before].x != points[k].x) before++;
        different += before == k;
    }
    if (different >= needed) return 0;
    return report_error(r, EXIT_INPUT, NULL, 0,
                        "%d values of '%s' are too few: a fit needs at least %d", different,
                        a->along, needed);
}

/* One run twice would count as two that are independent. Two chains do not agree in all digits, but where there
 * is no variance at all. */
static int check_different(const arguments *a, const point *points, report *r)
{
    for (int k = 0; k < a->count; k++)
        for (int i = 0; i < k; i++)
            if (points[i].x == points[k].x && points[i].y == points[k].y &&
                points[i].error == points[k].error && points[i].error > 0)
                return report_error(r, EXIT_INPUT, a->files[k], 0, "is the same chain as %s",
                                    a->files[i]);
    return 0;
}

static int run(const arguments *a, report *r)
{
    point *points = checked(calloc((size_t)a->count + 1, sizeof *points)), vmc = {0};
    const bool alone = a->vmc && a->count == 1;
    char text[64];
    bool starred = false;
    ini_file first = {0};
    int code = 0;
    for (int k = 0; k < a->count && !code; k++)
        code = read_point(a->files[k], a, !alone, &points[k], &first, r);
    if (!code && a->vmc) code = read_point(a->vmc, a, false, &vmc, &first, r);
    ini_free(&first);
    if (!code && !alone) code = check_different(a, points, r);
    if (!code && !alone) code = enough(a, points, r);
    if (code) {
        free(points);
        return code;
    }
    printf("%s\n%-12s %s\n", a->of, alone ? "" : strrchr(a->along, '.') + 1, "mean(error)");
    for (int k = 0; k < a->count; k++) {
        point *p = &points[k];
        if (a->vmc) { /* the same for all: its error is no scatter, but belongs to each */
            p->y = 2 * p->y - vmc.y;
            p->error = alone ? hypot(2 * p->error, vmc.error) : 2 * p->error;
            p->converged &= vmc.converged;
        }
        starred |= !p->converged;
        if (alone)
            printf("%-12s %s\n", "2 DMC - VMC", with_error(p->y, p->error, p->converged, text));
        else
            printf("%-12.6g %s\n", p->x, with_error(p->y, p->error, p->converged, text));
    }
    if (a->vmc && !alone)
        printf(
            "2 DMC - VMC, with the errors of the DMC runs; that of VMC, %.2g, is common to all\n",
            vmc.error);
    for (int order = 1; order <= 2 && !alone && a->order < 0; order++)
        print_fit(points, a->count, order);
    if (!alone && a->order >= 0) print_fit(points, a->count, a->order);
    if (starred) printf("* a run is too short for its error bar: it is a lower bound\n");
    free(points);
    return EXIT_DONE;
}

/* ---- The command line ------------------------------------------------------------------------ */

static int usage_error(const char *format, const char *word)
{
    fputs("plugmc extrapolate: ", stderr);
    fprintf(stderr, format, word);
    fputs("; see --help\n", stderr);
    return EXIT_USAGE;
}

static int parse(int argc, char **argv, arguments *a)
{
    *a = (arguments){
        .files = argv, .order = -1, .of = "local_energy.energy", .along = "mover diffusion.tau"};
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        const bool takes = !strcmp(word, "--of") || !strcmp(word, "--along") ||
                           !strcmp(word, "--order") || !strcmp(word, "--vmc");
        if (takes && !next) return usage_error("%s needs a value", word);
        if (!strcmp(word, "--of")) a->of = next;
        if (!strcmp(word, "--along")) a->along = next;
        if (!strcmp(word, "--vmc")) a->vmc = next;
        if (!strcmp(word, "--order")) {
            if (next[0] < '0' || next[0] > '0' + MOST_ORDER || next[1])
                return usage_error("--order must be 0, 1, 2 or 3, not %s", next);
            a->order = next[0] - '0';
        }
        if (takes)
            i++;
        else if (word[0] == '-')
            return usage_error("unknown option '%s'", word);
        else
            argv[a->count++] = argv[i];
    }
    if (!a->count) return usage_error("%s", "which files?");
    if (!strrchr(a->along, '.'))
        return usage_error("--along must be SECTION.KEY, not %s", a->along);
    return 0;
}

static int command(int argc, char **argv)
{
    arguments a;
    const int code = parse(argc, argv, &a);
    report r = {0};
    return code ? code : run(&a, &r);
}

int main(int argc, char **argv) { return beside_main(argc, argv, help, command); }
