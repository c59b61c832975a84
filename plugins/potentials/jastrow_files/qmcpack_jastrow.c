/* See qmcpack_jastrow.h. */
#define _GNU_SOURCE /* strtod_l, open_memstream */
#include "qmcpack_jastrow.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../files/element_symbols.h"
#include "../../files/markup.h"

typedef struct reader {
    const plugmc_host *host;
    const char *path;
    const element *outermost;
    locale_t c; /* numbers have points */
    qmcpack_jastrow *out;
} reader;

/* ---- Words ------------------------------------------------------------------------------------- */

#define fault(r, e, ...) markup_fault((r)->host, (r)->path, e, __VA_ARGS__)

static const char *word_of(const element *e, const char *name, const char *missing)
{
    const char *value = find_attribute(e, name);
    return value ? value : missing;
}

/* An attribute that is a number from `least` to `most`; `missing` where there is none. */
static int number_of(const reader *r, const element *e, const char *name, double missing,
                     double least, double most, double *out)
{
    const char *text = find_attribute(e, name);
    char *end;
    *out = missing;
    if (!text) return PLUGMC_OK;
    *out = strtod_l(text, &end, r->c);
    end += strspn(end, " \t\r\n");
    if (end != text && !*end && *out >= least && *out <= most) return PLUGMC_OK;
    return fault(r, e, "has %s = '%.40s', where a number from %g to %g should be", name, text,
                 least, most);
}

static int whole_of(const reader *r, const element *e, const char *name, int least, int most,
                    int *out)
{
    double value;
    const int code = number_of(r, e, name, NAN, least, most, &value);
    if (code) return code;
    if (isnan(value)) return fault(r, e, "does not have the attribute %s", name);
    *out = (int)value;
    return value == *out ? PLUGMC_OK : fault(r, e, "has %s = %g, which is not whole", name, value);
}

/* ---- Species ----------------------------------------------------------------------------------- */

/* The atomic number that a <group> of ions says it has; 0: none. */
static int32_t number_of_group(const reader *r, const char *name)
{
    for (const element *g = NULL; (g = find_element(r->outermost, g, "group"));) {
        if (strcmp(word_of(g, "name", ""), name) != 0) continue;
        for (const element *p = NULL; (p = find_element(g, p, "parameter"));) {
            if (strcasecmp(word_of(p, "name", ""), "atomicnumber") != 0) continue;
            const double z = strtod_l(p->text, NULL, r->c);
            return z >= 1 && z <= 118 ? (int32_t)z : 0;
        }
    }
    return 0;
}

/* Ions are named by their element, or as a group of the file that has an atomic number. */
static int read_ion(const reader *r, const element *e, const char *name, int32_t *out)
{
    *out = element_of(name);
    if (!*out) *out = number_of_group(r, name);
    if (*out) return PLUGMC_OK;
    return fault(r, e,
                 "is for ions '%.40s', which is neither an element nor a group of ions with an "
                 "atomic number in this file",
                 name);
}

/* 1: like spins, 2: unlike ones, 0: told. */
static int read_spins(const reader *r, const element *e, const char *a, const char *b, int *code)
{
    *code = PLUGMC_OK;
    const char *const both[2] = {a, b};
    for (int k = 0; k < 2; k++)
        if (strcmp(both[k], "u") != 0 && strcmp(both[k], "d") != 0) {
            *code = fault(r, e,
                          "is for species '%.40s': those of electrons are u and d, spin up and "
                          "down",
                          both[k]);
            return 0;
        }
    return strcmp(a, b) ? 2 : 1;
}

/* ---- Coefficients ------------------------------------------------------------------------------ */

/* Names the first word of a text as none of the numbers that should be there. */
static int no_number(const reader *r, const element *e, const char *text)
{
    text += strspn(text, " \t\r\n");
    const size_t length = strcspn(text, " \t\r\n");
    return fault(r, e, "has '%.*s' among its numbers", length < 30 ? (int)length : 30, text);
}

/* `count` numbers of <coefficients> of a <correlation>, or none at all. */
static int read_values(const reader *r, const element *correlation, int count, qmcpack_values *out)
{
    const element *e = find_element(correlation, NULL, "coefficients");
    if (!e) return fault(r, correlation, "has no <coefficients>");
    if (find_element(correlation, e, "coefficients"))
        return fault(r, correlation, "has <coefficients> more than once");
    out->values = r->host->allocate(r->host->context, ((size_t)count + 1) * sizeof(double));
    if (!out->values)
        return r->host->fail(r->host->context, PLUGMC_ERROR_MEMORY, "no memory for '%s'", r->path);
    char *at = e->text, *end;
    for (out->count = 0;; out->count++, at = end) {
        const double value = strtod_l(at, &end, r->c);
        if (end == at) break;
        if (!isfinite(value) || (*end && !strchr(" \t\r\n", *end))) return no_number(r, e, at);
        if (out->count == count)
            return fault(r, e, "has more than %d coefficients, which is what its size asks for",
                         count);
        out->values[out->count] = value;
    }
    if (at[strspn(at, " \t\r\n")]) return no_number(r, e, at);
    if (out->count && out->count != count)
        return fault(r, e, "has %d coefficients, but its size asks for %d", out->count, count);
    out->given = 1;
    out->fixed = strcasecmp(word_of(e, "optimize", "yes"), "no") == 0;
    out->content = e->content, out->close = e->close, out->end = e->end;
    out->behind = correlation->end;
    return PLUGMC_OK;
}

/* ---- Splines ----------------------------------------------------------------------------------- */

static int read_spline(const reader *r, const element *e, double cusp, qmcpack_spline *out)
{
    if (out->at.given) return fault(r, e, "is for what an earlier one is for, too");
    int code = whole_of(r, e, "size", 2, QMCPACK_MOST_SIZE, &out->size);
    if (!code)
        code = number_of(r, e, find_attribute(e, "rcut") ? "rcut" : "cutoff", 0, 1e-6, 1e6,
                         &out->at.cutoff);
    if (!code) code = number_of(r, e, "cusp", cusp, -1e5, 1e5, &out->cusp);
    return code ? code : read_values(r, e, out->size, &out->at);
}

static int read_pairs(const reader *r, const element *jastrow)
{
    qmcpack_jastrow *out = r->out;
    int up_up = 0, down_down = 0, code = PLUGMC_OK;
    for (const element *e = NULL; !code && (e = find_element(jastrow, e, "correlation"));) {
        const char *type = word_of(e, "pairType", "");
        char pair[2][40] = {"u", "u"};
        for (int k = 0; k < 2; k++)
            snprintf(pair[k], sizeof pair[k], "%.*s", strlen(type) == 2 ? 1 : 39,
                     strlen(type) == 2 ? type + k : word_of(e, k ? "speciesB" : "speciesA", "u"));
        const int spins = read_spins(r, e, pair[0], pair[1], &code);
        if (code) return code;
        up_up |= spins == 1 && *pair[0] == 'u';
        down_down |= spins == 1 && *pair[0] == 'd';
        if (up_up && down_down)
            return fault(r, e,
                         "gives pairs of spin down a function of their own, which is not "
                         "supported: here like spins have one");
        code = read_spline(r, e, spins == 1 ? -0.25 : -0.5, &out->pair[spins - 1]);
    }
    /* QMCPACK takes that of two electrons of spin up for all pairs without one */
    out->shared = up_up && !out->pair[1].at.given;
    return code;
}

static int read_ones(const reader *r, const element *jastrow)
{
    qmcpack_jastrow *out = r->out;
    int code = PLUGMC_OK;
    if (strcasecmp(word_of(jastrow, "spin", "no"), "yes") == 0)
        return fault(r, jastrow, "depends on the spin (spin=\"yes\"), which is not supported");
    for (const element *e = NULL; !code && (e = find_element(jastrow, e, "correlation"));) {
        int32_t number, k = 0;
        if (find_attribute(e, "speciesB"))
            return fault(r, e, "depends on the spin (speciesB), which is not supported");
        code = read_ion(r, e, word_of(e, "elementType", word_of(e, "speciesA", "")), &number);
        while (!code && k < out->elements && out->one[k].at.element != number) k++;
        if (!code && k == QMCPACK_MOST_ELEMENTS)
            return fault(r, e, "is for one more element than the %d that are possible", k);
        if (!code) code = read_spline(r, e, 0, &out->one[k]);
        if (code) return code;
        out->one[k].at.element = number;
        out->elements += k == out->elements;
    }
    return code;
}

/* ---- Polynomials ------------------------------------------------------------------------------- */

/* Independent coefficients of a polynomial of these orders: all with l >= m, less the conditions. */
static int count_free(int isize, int esize)
{
    return (isize + 1) * (isize + 2) / 2 * (esize + 1) - (2 * isize + 1) - (isize + esize + 1);
}

static int read_polynomial(const reader *r, const element *e, qmcpack_polynomial *out)
{
    enum { MOST_POWER = 9 };
    double cusps[2];
    if (out->at.given) return fault(r, e, "is for what an earlier one is for, too");
    int code = whole_of(r, e, "isize", 1, MOST_POWER, &out->isize);
    if (!code) code = whole_of(r, e, "esize", 1, MOST_POWER, &out->esize);
    if (!code) code = number_of(r, e, "rcut", 0, 0, 1e6, &out->at.cutoff);
    if (!code) code = number_of(r, e, "ecusp", 0, -1e5, 1e5, &cusps[0]);
    if (!code) code = number_of(r, e, "icusp", 0, -1e5, 1e5, &cusps[1]);
    if (!code && (cusps[0] != 0 || cusps[1] != 0))
        code = fault(r, e, "asks for a cusp of its own, which no function of this form has");
    if (!code && count_free(out->isize, out->esize) < 1)
        code = fault(r, e, "has isize = %d and esize = %d, for which conditions leave nothing free",
                     out->isize, out->esize);
    return code ? code : read_values(r, e, count_free(out->isize, out->esize), &out->at);
}

static int read_threes(const reader *r, const element *jastrow)
{
    qmcpack_jastrow *out = r->out;
    int code = PLUGMC_OK;
    for (const element *e = NULL; !code && (e = find_element(jastrow, e, "correlation"));) {
        int32_t number, k = 0;
        const int spins =
            read_spins(r, e, word_of(e, "especies1", "u"), word_of(e, "especies2", "u"), &code);
        if (!code) code = read_ion(r, e, word_of(e, "ispecies", ""), &number);
        if (!code && spins == 1 && !strcmp(word_of(e, "especies1", "u"), "d"))
            code = fault(r, e,
                         "gives pairs of spin down a function of their own, which is not "
                         "supported: here like spins have one");
        while (!code && k < out->three_elements && out->three[k][0].at.element != number) k++;
        if (!code && k == QMCPACK_MOST_ELEMENTS)
            return fault(r, e, "is for one more element than the %d that are possible", k);
        if (!code) code = read_polynomial(r, e, &out->three[k][spins - 1]);
        if (code) return code;
        out->three[k][0].at.element = out->three[k][1].at.element = number;
        snprintf(out->three[k][0].at.ion, sizeof out->three[k][0].at.ion, "%s",
                 word_of(e, "ispecies", ""));
        out->three_elements += k == out->three_elements;
    }
    for (int k = 0; k < out->three_elements && !code; k++) {
        if (!out->three[k][0].at.given)
            code = fault(r, jastrow, "has no function of like spins (u, u) for ions of %s",
                         element_symbol(out->three[k][0].at.element));
        out->three_shared[k] = !out->three[k][1].at.given;
    }
    return code;
}

/* ---- The file ---------------------------------------------------------------------------------- */

static int holds(const char *text, const char *word)
{
    for (; *text; text++)
        if (!strncasecmp(text, word, strlen(word))) return 1;
    return 0;
}

/* As QMCPACK tells them: by words within the type. */
static int read_jastrow(const reader *r, const element *e)
{
    const char *type = word_of(e, "type", ""), *function = word_of(e, "function", "");
    static const struct {
        const char *word, *function;
        int (*read)(const reader *, const element *);
    } known[] = {{"eei", "polynomial", read_threes},
                 {"one", "bspline", read_ones},
                 {"two", "bspline", read_pairs}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (!holds(type, known[k].word)) continue;
        if (k == 0 && !*function) function = known[k].function;
        if (!strcasecmp(function, known[k].function)) return known[k].read(r, e);
        return fault(r, e, "of type '%.40s' has the function '%.40s', and %s is read here", type,
                     function, known[k].function);
    }
    return fault(r, e,
                 "is of type '%.40s', and One-Body, Two-Body and eeI are read here: a wave "
                 "function without it would be another one",
                 type);
}

int qmcpack_is_markup(const char *text)
{
    text += strspn(text, " \t\r\n");
    return !strncmp(text, "\xef\xbb\xbf", 3) || *text == '<';
}

int qmcpack_jastrow_parse(const plugmc_host *host, const char *path, const char *text,
                          qmcpack_jastrow *out)
{
    char what[512];
    element *outermost = NULL;
    *out = (qmcpack_jastrow){0};
    snprintf(what, sizeof what, "file '%.400s',", path);
    int code = markup_read(host, what, text, &outermost), found = 0;
    if (code) return code;
    reader r = {host, path, outermost, newlocale(LC_ALL_MASK, "C", NULL), out};
    if (!r.c) code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for '%s'", path);
    for (const element *e = outermost; e && !code; e = e->next)
        if (!strcmp(e->name, "jastrow")) found++, code = read_jastrow(&r, e);
    if (!code && !found)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "file '%s' is XML without a <jastrow>: an input of QMCPACK has it in "
                          "its <wavefunction>",
                          path);
    if (r.c) freelocale(r.c);
    markup_free(outermost);
    return code;
}

/* ---- Other coefficients ------------------------------------------------------------------------ */

static size_t place_of(const qmcpack_change *c)
{
    return c->before ? c->at->behind : c->at->content;
}

static int by_place(const void *a, const void *b)
{
    const size_t x = place_of(a), y = place_of(b);
    return (x > y) - (x < y);
}

/* Writes text from `from` up to a change and the change; where the text goes on. */
static size_t write_change(FILE *out, const char *text, size_t from, const qmcpack_change *c)
{
    const qmcpack_values *at = c->at;
    const int empty = !c->before && at->content == at->end; /* <coefficients/> */
    size_t to = place_of(c);
    if (empty)
        while (text[to] != '/') to--;
    fwrite(text + from, 1, to - from, out);
    fputs(c->before ? c->before : empty ? ">" : "", out);
    for (int k = 0; k < c->count; k++) fprintf(out, " %.12g", c->values[k]);
    fputs(c->before ? c->after : empty ? " </coefficients>" : " ", out);
    return c->before ? to : empty ? at->end : at->close;
}

char *qmcpack_jastrow_rewrite(const char *text, qmcpack_change *changes, int count)
{
    char *made = NULL;
    size_t size, from = 0;
    FILE *out = open_memstream(&made, &size);
    if (!out) return NULL;
    qsort(changes, (size_t)count, sizeof *changes, by_place);
    for (int k = 0; k < count; k++) from = write_change(out, text, from, &changes[k]);
    fputs(text + from, out);
    const int bad = ferror(out);
    if (!fclose(out) && !bad) return made;
    free(made);
    return NULL;
}
