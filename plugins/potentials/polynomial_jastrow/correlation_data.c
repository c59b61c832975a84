/* See correlation_data.h. A label stands on a line of its own and what it asks for on the next one; lists of
 * parameters have a number, whether it may be optimised, and perhaps its name behind a "!" on each line. Labels are
 * told by how they begin. What this factor does not have is refused, never left out. */
#define _GNU_SOURCE /* strcasestr, open_memstream */
#include "correlation_data.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum term { NO_TERM, U_TERM, CHI_TERM, F_TERM };

typedef struct reader {
    const plugmc_host *host;
    const char *path, *text; /* what is not read yet */
    char *line;              /* without blanks at its ends */
    size_t room;
    int number; /* of the line; at the end of the file the last one */
    int no_memory;
    int inside; /* START JASTROW ... END JASTROW */
    enum term term;
    int labelling; /* of the term */
    int set;       /* 0: outside of sets */
    correlation_ions ions;
    /* of the set at hand; -1: not told */
    int order, spins, cusp, most_l, most_n, without_u, without_chi, has_cutoff, has_values;
    double cutoff;
    correlation_data *out;
} reader;

static const char *const term_names[] = {"", "U", "CHI", "F"};

/* ---- Lines ------------------------------------------------------------------------------------- */

#define FAIL(r, ...) fail_at(r, (r)->number, __VA_ARGS__)

static int fail_at(const reader *r, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail_at(const reader *r, int line, const char *format, ...)
{
    char words[400];
    va_list values;
    va_start(values, format);
    vsnprintf(words, sizeof words, format, values);
    va_end(values);
    return r->host->fail(r->host->context, PLUGMC_ERROR_INPUT, "file '%s', line %d: %s", r->path,
                         line, words);
}

/* Copies a line without blanks at its ends; 0: there is no memory. */
static int keep_line(reader *r, const char *line, size_t length)
{
    while (length && isspace((unsigned char)line[length - 1])) length--;
    while (length && isspace((unsigned char)*line)) line++, length--;
    if (length + 1 > r->room) {
        char *more = realloc(r->line, 2 * length + 80);
        if (!more) return 0;
        r->line = more;
        r->room = 2 * length + 80;
    }
    memcpy(r->line, line, length);
    r->line[length] = 0;
    return 1;
}

/* The next line that is not empty; 0 at the end of the file. */
static int next(reader *r)
{
    while (*r->text) {
        const size_t length = strcspn(r->text, "\n");
        const char *line = r->text;
        r->text += length + (line[length] != 0);
        r->number++;
        if (!keep_line(r, line, length)) {
            r->no_memory = 1;
            return 0;
        }
        if (*r->line) return 1;
    }
    if (r->line) *r->line = 0;
    return 0;
}

static int begins(const char *text, const char *with)
{
    return strncasecmp(text, with, strlen(with)) == 0;
}

/* Whole numbers of the line after a label. */
static int read_whole(reader *r, const char *what, int count, const int least, const int most,
                      int *out)
{
    char *rest, *end;
    if (!next(r)) return FAIL(r, "the file ends where %s should be", what);
    rest = r->line;
    for (int k = 0; k < count; k++, rest = end) {
        const long value = strtol(rest, &end, 10);
        if (end == rest || (*end && !isspace((unsigned char)*end)))
            return FAIL(r, "'%.40s' is not %s", r->line, what);
        if (value < least || value > most)
            return FAIL(r, "%s is %ld, and %d to %d is known here", what, value, least, most);
        out[k] = (int)value;
    }
    return PLUGMC_OK;
}

/* The number at the beginning of the line that was read, followed by 0 or 1. */
static int number_of_line(const reader *r, const char *what, double *out)
{
    char *end, *flag;
    *out = strtod(r->line, &end);
    if (end == r->line || !isspace((unsigned char)*end) || !isfinite(*out))
        return FAIL(r, "'%.40s' is not %s and 0 or 1", r->line, what);
    const long free = strtol(end, &flag, 10);
    if (flag == end || free < 0 || free > 1)
        return FAIL(r, "behind %s there has to be 0 or 1 (may it be optimised?)", what);
    return PLUGMC_OK;
}

/* ---- Parameters -------------------------------------------------------------------------------- */

/* "! gamma_1,0,2,1,1" behind a number says which one it is, where it is there. */
static int check_name(const reader *r, const int32_t power[3])
{
    const char *name = strstr(r->line, "gamma_");
    int found[3];
    if (!name || sscanf(name, "gamma_%d,%d,%d", &found[0], &found[1], &found[2]) != 3 ||
        (found[0] == power[0] && found[1] == power[1] && found[2] == power[2]))
        return PLUGMC_OK;
    return FAIL(r, "this is gamma_%d,%d,%d where gamma_%d,%d,%d is the next that is free", found[0],
                found[1], found[2], power[0], power[1], power[2]);
}

/* `count` numbers of each spin, or none at all, which are zeros then. `form` of f. */
static int read_values(reader *r, int count, const f_form *form, double **out)
{
    const int all = count * r->spins, first = r->number;
    double *values = r->host->allocate(r->host->context, ((size_t)all + 1) * sizeof *values);
    if (!values)
        return r->host->fail(r->host->context, PLUGMC_ERROR_MEMORY, "no memory for '%s'", r->path);
    *out = values;
    for (int k = 0; k < all; k++) {
        if (!next(r)) return FAIL(r, "the file ends after %d of %d parameters", k, all);
        if (begins(r->line, "END SET") && k == 0) return PLUGMC_OK;
        if (begins(r->line, "END SET"))
            return FAIL(r, "the set ends after %d of %d parameters", k, all);
        int code = number_of_line(r, "a parameter", &values[k]);
        if (!code && form) code = check_name(r, form->power[form->free_column[k % count]]);
        if (code) return code;
    }
    if (!next(r)) return FAIL(r, "the file ends within a set");
    return begins(r->line, "END SET")
               ? PLUGMC_OK
               : FAIL(r,
                      "there are more than the %d parameters that these orders have, which begin "
                      "behind line %d",
                      all, first);
}

static int read_radial(reader *r, correlation_radial *out)
{
    if (r->order < 0) return FAIL(r, "the expansion order of this set is not told before");
    *out = (correlation_radial){.given = 1,
                                .spins = r->spins,
                                .order = r->order,
                                .cusp = r->cusp == 1,
                                .cutoff = r->cutoff,
                                .ions = r->ions};
    return read_values(r, r->order, NULL, &out->values);
}

static int read_f(reader *r, correlation_f *out)
{
    if (r->most_l < 0 || r->most_n < 0)
        return FAIL(r, "the expansion orders of this set are not told before");
    *out = (correlation_f){.given = 1, .spins = r->spins, .cutoff = r->cutoff, .ions = r->ions};
    out->form = f_form_make(r->host, F_ORDER_CASINO, r->most_l, r->most_n, r->out->truncation,
                            r->without_u, r->without_chi);
    if (!out->form) return PLUGMC_ERROR_MEMORY;
    return read_values(r, out->form->free, out->form, &out->values);
}

static int read_parameters(reader *r)
{
    correlation_data *out = r->out;
    if (r->spins < 1 || !r->has_cutoff)
        return FAIL(r, "the spin dependence and the cutoff have to stand before the parameters");
    if (out->truncation < 0)
        return FAIL(r, "the truncation order has to stand before the parameters");
    if (r->ions.count && !r->ions.labels)
        return FAIL(r, "the labels of the ions have to stand before the parameters");
    r->has_values = 1;
    if (r->term == U_TERM) return read_radial(r, &out->u);
    if (r->term == F_TERM) {
        if (out->f[r->set - 1].given) return FAIL(r, "set %d of f is there twice", r->set);
        if (r->set > out->f_sets) out->f_sets = r->set;
        return read_f(r, &out->f[r->set - 1]);
    }
    if (r->spins > 1) return FAIL(r, "chi depends on the spin, which is not supported");
    if (out->chi[r->set - 1].given) return FAIL(r, "set %d of chi is there twice", r->set);
    if (r->set > out->chi_sets) out->chi_sets = r->set;
    return read_radial(r, &out->chi[r->set - 1]);
}

/* ---- Labels ------------------------------------------------------------------------------------ */

static int read_cutoff(reader *r)
{
    if (!next(r)) return FAIL(r, "the file ends where a cutoff should be");
    const int code = number_of_line(r, "a cutoff", &r->cutoff);
    if (code) return code;
    r->has_cutoff = 1;
    return r->cutoff > 0 ? PLUGMC_OK : FAIL(r, "the cutoff is %g: it must be above 0", r->cutoff);
}

/* 0: uu = dd = ud; 1: uu = dd /= ud. */
static int read_spins(reader *r)
{
    int kind = 0;
    const int code = read_whole(r, "the spin dependence", 1, 0, 2, &kind);
    if (!code && kind == 2)
        return FAIL(r, "the functions of up and down spins differ (spin dependence 2), which "
                       "is not supported");
    r->spins = 1 + kind;
    return code;
}

static int skip_line(reader *r)
{
    return next(r) ? PLUGMC_OK : FAIL(r, "the file ends behind a label");
}

static int read_title(reader *r)
{
    const int code = skip_line(r);
    if (!code) snprintf(r->out->title, sizeof r->out->title, "%s", r->line);
    return code;
}

/* "2 1": sets, and what ions are counted by. */
static int read_sets(reader *r)
{
    int sets = 0, labelling = LABELS_OF_SUPERCELL;
    if (!next(r)) return FAIL(r, "the file ends behind a label");
    if (sscanf(r->line, "%d %d", &sets, &labelling) < 1 || sets < 0 || sets > CORRELATION_MOST_SETS)
        return FAIL(r, "'%.40s' is not a number of sets, up to %d", r->line, CORRELATION_MOST_SETS);
    if (labelling < LABELS_OF_SUPERCELL || labelling > LABELS_OF_SPECIES)
        return FAIL(r, "ions are labelled by %d, and 1 to 3 is known here", labelling);
    r->labelling = labelling;
    return PLUGMC_OK;
}

static int read_ion_count(reader *r)
{
    enum { MOST_IONS = 100000 };
    r->ions = (correlation_ions){.labelling = r->labelling};
    return read_whole(r, "the number of ions of the set", 1, 0, MOST_IONS, &r->ions.count);
}

/* As many as the set has, on one line or several. */
static int read_ion_labels(reader *r)
{
    const int count = r->ions.count;
    int32_t *labels = r->host->allocate(r->host->context, ((size_t)count + 1) * sizeof *labels);
    if (!labels)
        return r->host->fail(r->host->context, PLUGMC_ERROR_MEMORY, "no memory for '%s'", r->path);
    if (count < 1) return FAIL(r, "the number of ions of this set is not told before their labels");
    for (int k = 0; k < count;) {
        if (!next(r)) return FAIL(r, "the file ends after %d of %d labels", k, count);
        char *at = r->line, *end;
        for (; k < count; k++, at = end) {
            const long label = strtol(at, &end, 10);
            if (end == at) break;
            if (label < 1 || label > INT32_MAX) return FAIL(r, "an ion is labelled %ld", label);
            labels[k] = (int32_t)label;
        }
        if (*at && !isspace((unsigned char)*at))
            return FAIL(r, "'%.40s' is not %d labels of ions", r->line, count);
    }
    r->ions.labels = labels;
    return PLUGMC_OK;
}

static int read_harmonic(reader *r)
{
    int lm[2] = {0, 0};
    const int code = read_whole(r, "the spherical harmonic", 2, -100, 100, lm);
    return code || (!lm[0] && !lm[1])
               ? code
               : FAIL(r, "the spherical harmonic %d %d is none of a distance", lm[0], lm[1]);
}

/* Within a set. */
static int read_label(reader *r)
{
    const char *line = r->line;
    enum { MOST = CORRELATION_MOST_ORDER - 1, MOST_F = CORRELATION_MOST_F };
    if (begins(line, "Spherical harmonic")) return read_harmonic(r);
    if (begins(line, "Number of atoms") || begins(line, "Number of species"))
        return read_ion_count(r);
    if (begins(line, "Label")) return read_ion_labels(r);
    if (begins(line, "Impose electron-nucleus cusp"))
        return read_whole(r, "whether there is a cusp", 1, 0, 1, &r->cusp);
    if (begins(line, "Prevent duplication of u"))
        return read_whole(r, "whether u is left out", 1, 0, 1, &r->without_u);
    if (begins(line, "Prevent duplication of chi"))
        return read_whole(r, "whether chi is left out", 1, 0, 1, &r->without_chi);
    if (begins(line, "Expansion order"))
        return read_whole(r, "the expansion order", 1, 1, MOST, &r->order);
    if (begins(line, "Electron-nucleus expansion"))
        return read_whole(r, "the electron-nucleus expansion order", 1, 1, MOST_F, &r->most_l);
    if (begins(line, "Electron-electron expansion"))
        return read_whole(r, "the electron-electron expansion order", 1, 1, MOST_F, &r->most_n);
    if (begins(line, "Spin dep")) return read_spins(r);
    if (begins(line, "Cutoff")) return read_cutoff(r);
    if (begins(line, "Parameter values")) {
        const int code = read_parameters(r);
        r->set = 0;
        return code;
    }
    return FAIL(r, "'%.60s' is not known in a set of the %s term", line, term_names[r->term]);
}

static int begin_set(reader *r)
{
    if (sscanf(r->line + strlen("START SET"), "%d", &r->set) != 1 || r->set < 1 ||
        r->set > CORRELATION_MOST_SETS)
        return FAIL(r, "'%.40s' has no number of a set, up to %d", r->line, CORRELATION_MOST_SETS);
    if (r->term == U_TERM && r->set > 1)
        return FAIL(r, "u has more than one set, which is not supported");
    r->ions = (correlation_ions){.labelling = r->labelling};
    r->order = r->spins = r->cusp = r->most_l = r->most_n = -1;
    r->without_u = r->without_chi = r->has_cutoff = r->has_values = 0;
    return PLUGMC_OK;
}

static int begin_term(reader *r)
{
    for (int t = U_TERM; t <= F_TERM; t++) {
        char start[32];
        snprintf(start, sizeof start, "START %s TERM", term_names[t]);
        if (strcasecmp(r->line, start)) continue;
        r->term = (enum term)t;
        r->labelling = LABELS_OF_SUPERCELL;
        return PLUGMC_OK;
    }
    return FAIL(r, "'%.60s' is not among the terms that are known here: u, chi and f", r->line);
}

/* Within START JASTROW ... END JASTROW. */
static int read_line(reader *r)
{
    if (r->set) return read_label(r);
    if (r->term) {
        if (begins(r->line, "START SET")) return begin_set(r);
        if (begins(r->line, "Number of sets")) return read_sets(r);
        if (!begins(r->line, "END "))
            return FAIL(r, "'%.60s' is not known in the %s term", r->line, term_names[r->term]);
        r->term = NO_TERM;
        return PLUGMC_OK;
    }
    if (begins(r->line, "Title")) return read_title(r);
    if (begins(r->line, "Truncation order"))
        return read_whole(r, "the truncation order", 1, 2, 6, &r->out->truncation);
    if (begins(r->line, "START ")) return begin_term(r);
    if (!begins(r->line, "END JASTROW"))
        return FAIL(r, "'%.60s' is not known in a Jastrow factor", r->line);
    r->inside = 0;
    return PLUGMC_OK;
}

/* ---- The file ---------------------------------------------------------------------------------- */

/* Outside of a Jastrow factor headers and titles may stand, and nothing else that belongs to a wave function. */
static int read_outside(reader *r, int *found)
{
    if (begins(r->line, "START JASTROW")) {
        if (*found) return FAIL(r, "a second Jastrow factor begins here");
        *found = r->inside = 1;
        return PLUGMC_OK;
    }
    if (begins(r->line, "START BACKFLOW") || begins(r->line, "START MDET") ||
        begins(r->line, "START GJASTROW"))
        return FAIL(r, "'%.60s': a Jastrow factor alone is read here", r->line);
    return PLUGMC_OK;
}

int correlation_data_is(const char *text) { return strcasestr(text, "START JASTROW") != NULL; }

int correlation_data_parse(const plugmc_host *host, const char *path, const char *text,
                           correlation_data *out)
{
    reader r = {.host = host, .path = path, .text = text, .out = out};
    int code = PLUGMC_OK, found = 0;
    *out = (correlation_data){.truncation = -1};
    while (!code && next(&r)) code = r.inside ? read_line(&r) : read_outside(&r, &found);
    if (r.no_memory)
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for '%s'", path);
    if (!code && !found) code = FAIL(&r, "there is no START JASTROW");
    if (!code && r.inside) code = FAIL(&r, "the file ends within the Jastrow factor");
    if (!code && out->truncation < 0) code = FAIL(&r, "the truncation order is missing");
    free(r.line);
    return code;
}
