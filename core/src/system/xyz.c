/* Extended XYZ, as OVITO, ASE and VMD read and write it:
 *
 *     2
 *     Lattice="10 0 0 0 10 0 0 0 10" Properties=species:S:1:pos:R:3:charge:R:1 pbc="T T T"
 *     A 0.5 1.0 2.0 1
 *     B 3.5 1.0 2.0 -1
 *
 * Only the first frame is read. Whatever does not fit the run is refused at its line: nothing is
 * guessed about a state that a long run starts from.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "system/initial.h"

typedef struct xyz {
    const char *path;
    FILE *file;
    char *text; /* the line */
    size_t capacity;
    int line;
    const plugmc_system *system;
    report *report;
    int species, position, charge; /* columns, from 0; charge is -1 if there is none */
    int coordinates;               /* columns of the position: 2 or 3 */
    int columns;                   /* in all */
    int64_t *filled;               /* [species]: particles so far */
} xyz;

#define refuse(x, ...) report_error((x)->report, EXIT_INPUT, (x)->path, (x)->line, __VA_ARGS__)

static int read_frame(xyz *, double *positions);

int xyz_read(const char *path, const plugmc_system *system, double *positions, report *report)
{
    xyz x = {.path = path, .system = system, .report = report};
    const char *why;
    int fd = open_regular(path, &why);
    if (fd < 0) return refuse(&x, "cannot be opened: %s", why);
    x.file = fdopen(fd, "r");
    if (!x.file) close(fd);
    if (!x.file) return report_error(report, EXIT_MEMORY, path, 0, "not enough memory");
    x.filled = calloc((size_t)system->species_count, sizeof *x.filled);
    int code = x.filled ? read_frame(&x, positions)
                        : report_error(report, EXIT_MEMORY, path, 0, "not enough memory");
    free(x.filled);
    free(x.text);
    fclose(x.file);
    return code;
}

static int next_line(xyz *x, const char *expected)
{
    errno = 0;
    ssize_t length = getline(&x->text, &x->capacity, x->file);
    x->line++;
    if (length < 0)
        return errno ? refuse(x, "cannot be read: %s", strerror(errno))
                     : refuse(x, "the file ends where %s should be", expected);
    if (strlen(x->text) != (size_t)length) return refuse(x, "there is a zero byte in this line");
    return EXIT_DONE;
}

static int read_header(xyz *);
static int read_particle(xyz *, double *positions);

static int read_frame(xyz *x, double *positions)
{
    const plugmc_system *system = x->system;
    long long count;
    char rest;
    int code = next_line(x, "the number of particles");
    if (code) return code;
    if (sscanf(x->text, "%lld %c", &count, &rest) != 1)
        return refuse(x, "the first line of an XYZ file is the number of particles");
    if (count != system->particles)
        return refuse(x, "the file has %lld particles, the run has %lld", count,
                      (long long)system->particles);
    code = next_line(x, "the line with Lattice and Properties");
    if (!code) code = read_header(x);
    for (int64_t i = 0; i < system->particles && !code; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "particle %lld of %lld", (long long)i + 1, count);
        code = next_line(x, expected);
        if (!code) code = read_particle(x, positions);
    }
    return code;
}

/* ---- The second line ---- */

/* Value of `key` in the line of key=value and key="value" pairs, as malloc'ed text; NULL if it is
 * not there. */
static char *header_value(const char *line, const char *key)
{
    const size_t length = strlen(key);
    while (*(line += strspn(line, " \t\r\n"))) {
        size_t name = strcspn(line, "= \t\r\n");
        int wanted = name == length && !strncmp(line, key, length);
        line += name;
        if (*line != '=') continue;
        line++;
        const char quote = *line == '"' || *line == '\'' ? *line++ : 0;
        const char end[2] = {quote, 0};
        size_t value = strcspn(line, quote ? end : " \t\r\n");
        if (wanted) return strndup(line, value);
        line += value + (quote && line[value]);
    }
    return NULL;
}

static int read_lattice(xyz *x, const char *text)
{
    const plugmc_box *box = &x->system->box;
    double a[9];
    char rest;
    if (sscanf(text, "%lf %lf %lf %lf %lf %lf %lf %lf %lf %c", &a[0], &a[1], &a[2], &a[3], &a[4],
               &a[5], &a[6], &a[7], &a[8], &rest) != 9)
        return refuse(x, "Lattice=\"%s\" is not nine numbers", text);
    for (int k = 0; k < 9 && box->oblique; k++)
        if (!(fabs(a[k] - box->vector[k / 3][k % 3]) <= 1e-6 * box->length[k / 3]))
            return refuse(x, "Lattice=\"%s\" is not that of the run's box", text);
    if (box->oblique) return EXIT_DONE;
    for (int k = 0; k < 9; k++)
        if (k % 4 && a[k] != 0) return refuse(x, "Lattice=\"%s\" is not orthorhombic", text);
    for (int d = 0; d < box->dimension; d++)
        if (!(fabs(a[4 * d] - box->length[d]) <= 1e-6 * box->length[d]))
            return refuse(x, "the file's box is %.10g long in %c, the run's %.10g", a[4 * d],
                          "xyz"[d], box -> length[d]);
    return EXIT_DONE;
}

static int read_boundary(xyz *x, const char *text)
{
    char flag[3];
    if (sscanf(text, " %c %c %c", &flag[0], &flag[1], &flag[2]) != 3)
        return refuse(x, "pbc=\"%s\" is not three of T and F", text);
    for (int d = 0; d < x->system->box.dimension; d++)
        if (flag[d] != 'T' && flag[d] != '1')
            return refuse(x, "the file is not periodic in %c, the run is", "xyz"[d]);
    return EXIT_DONE;
}

/* NAME:TYPE:COLUMNS, one after another. */
static int read_properties(xyz *x, char *text)
{
    char *all = strdup(text), *rest = text, *name;
    int code = all ? EXIT_DONE : EXIT_MEMORY;
    x->species = x->position = x->charge = -1;
    x->columns = 0;
    while (!code && (name = strsep(&rest, ":"))) {
        char *type = strsep(&rest, ":"), *columns = strsep(&rest, ":");
        int n = columns ? atoi(columns) : 0;
        if (!type || n < 1 || n > 1000) {
            code = refuse(x, "Properties=%s is not a list of NAME:TYPE:COLUMNS", all);
            break;
        }
        if (!strcmp(name, "species") && *type == 'S' && n == 1) x->species = x->columns;
        if (!strcmp(name, "charge") && *type == 'R' && n == 1) x->charge = x->columns;
        if (!strcmp(name, "pos") && *type == 'R' && (n == 3 || n == x->system->box.dimension)) {
            x->position = x->columns;
            x->coordinates = n;
        }
        x->columns += n;
    }
    if (!code && (x->species < 0 || x->position < 0))
        code = refuse(x, "Properties=%s has no species:S:1 or no pos:R:3", all);
    free(all);
    return code;
}

static int read_header(xyz *x)
{
    const int periodic = x->system->box.domain == PLUGMC_DOMAIN_PERIODIC;
    char *lattice = header_value(x->text, "Lattice"),
         *properties = header_value(x->text, "Properties"), *pbc = header_value(x->text, "pbc");
    int code = EXIT_DONE;
    if (periodic && !lattice)
        code = refuse(x, "there is no Lattice=\"...\" in the second line of the file");
    else if (!properties)
        code = refuse(x, "there is no Properties=... in the second line of the file");
    if (!code && lattice && periodic) code = read_lattice(x, lattice);
    if (!code && pbc && periodic) code = read_boundary(x, pbc);
    if (!code) code = read_properties(x, properties);
    free(lattice);
    free(properties);
    free(pbc);
    return code;
}

/* ---- Particles ---- */

static int read_number(xyz *x, const char *word, double *out)
{
    char *end;
    *out = strtod(word, &end);
    if (*end || !isfinite(*out)) return refuse(x, "'%s' is not a finite number", word);
    return EXIT_DONE;
}

static int place(xyz *x, int32_t species, const double at[3], double *positions)
{
    const plugmc_box *box = &x->system->box;
    const plugmc_species *s = plugmc_species_at(x->system, species);
    if (x->filled[species] == s->count)
        return refuse(x, "this is particle %lld of species %s, but the run has only %lld",
                      (long long)s->count + 1, s->name, (long long)s->count);
    if (box->dimension == 2 && at[2] != 0)
        return refuse(x, "z is %g, but the run is in two dimensions", at[2]);
    if (far_away(box, at))
        return refuse(x, "(%g, %g, %g) is too far from the box to have a place in it", at[0], at[1],
                      at[2]);
    double *to = &positions[3 * (x->system->first[species] + x->filled[species]++)];
    memcpy(to, at, 3 * sizeof *to);
    plugmc_wrap(box, to);
    return EXIT_DONE;
}

static int read_particle(xyz *x, double *positions)
{
    const plugmc_system *system = x->system;
    double at[3] = {0}, charge = 0;
    int32_t species = -1;
    int column = 0, code = EXIT_DONE;
    char *rest = x->text, *word;
    while (!code && (word = strsep(&rest, " \t\r\n"))) {
        if (!*word) continue;
        if (column == x->species) {
            for (int32_t s = 0; s < system->species_count; s++)
                if (!strcmp(word, plugmc_species_at(system, s)->name)) species = s;
            if (species < 0) code = refuse(x, "the run has no species '%s'", word);
        }
        if (column == x->charge) code = read_number(x, word, &charge);
        if (column >= x->position && column < x->position + x->coordinates)
            code = read_number(x, word, &at[column - x->position]);
        column++;
    }
    if (code) return code;
    if (column != x->columns)
        return refuse(x, "there are %d columns, Properties has %d", column, x->columns);
    const double own = plugmc_species_at(system, species)->charge;
    if (x->charge >= 0 && fabs(charge - own) > 1e-6 * fmax(1, fabs(own)))
        return refuse(x, "the charge is %g, that of species %s in the run is %g", charge,
                      plugmc_species_at(system, species)->name, own);
    return place(x, species, at, positions);
}
