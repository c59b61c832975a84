/* QMCPACK's lists of determinants in XML:
 *
 *     <detlist size="3" type="DETS" nca="0" ncb="0" nea="2" neb="2" nstates="4" cutoff="1e-10">
 *       <ci id="CIcoeff_0" coeff="0.95" alpha="1100" beta="1100"/>
 *       ...
 *
 * nca (nc0), ncb (nc1): orbitals below those of the strings that every term occupies; occ0 and occ1 are newer names of
 * alpha and beta, <configuration> is an older one of <ci>. Of type CSF a list has configuration state functions, each a sum
 * of determinants with coefficients that the symmetry fixes:
 *
 *       <csf id="CSFcoeff_0" coeff="0.8">
 *         <det id="csf_0-0" coeff="0.7071" alpha="1100" beta="1010"/>
 *         ...
 *
 * A term is a determinant, its coefficient the product of both; `size` counts the functions. */
#define _GNU_SOURCE /* strtod_l */
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../determinants/complex_numbers.h"
#include "../../files/markup.h"
#include "../../files/text_file.h"
#include "terms.h"

typedef struct reader {
    const plugmc_host *host;
    const char *path;
    locale_t c; /* numbers have points */
} reader;

#define fault(r, e, ...) markup_fault((r)->host, (r)->path, e, __VA_ARGS__)

/* The first of two names that there is; *which: its name. */
static const char *attribute_of(const element *e, const char *now, const char *before,
                                const char **which)
{
    const char *value = find_attribute(e, now);
    *which = value ? now : before;
    return value ? value : find_attribute(e, before);
}

/* An attribute that is a number of size up to `most`; `missing` where there is none. */
static int number_of(const reader *r, const element *e, const char *name, const char *text,
                     double missing, double most, double *out)
{
    char *end;
    *out = missing;
    if (!text) return PLUGMC_OK;
    *out = strtod_l(text, &end, r->c);
    end += strspn(end, " \t\r\n");
    if (end != text && !*end && fabs(*out) <= most) return PLUGMC_OK;
    return fault(r, e, "has %s = '%.40s', where a number should be", name, text);
}

static int whole_of(const reader *r, const element *e, const char *now, const char *before,
                    int64_t missing, int64_t *out)
{
    const char *which, *text = attribute_of(e, now, before, &which);
    double value;
    const int code = number_of(r, e, which, text, (double)missing, MOST_TERMS, &value);
    if (code) return code;
    *out = (int64_t)value;
    return value == (double)*out && value >= 0
               ? PLUGMC_OK
               : fault(r, e, "has %s = %g, which is no number of things", which, value);
}

/* ---- A term ------------------------------------------------------------------------------------ */

/* Orbitals of a string of 0 and 1 behind `core` orbitals that are occupied, n of them. */
static int read_string(const reader *r, const element *e, int spin, int64_t core, int64_t states,
                       int64_t n, int32_t *out)
{
    const char *name,
        *text = attribute_of(e, spin ? "occ1" : "occ0", spin ? "beta" : "alpha", &name);
    int64_t found = core;
    if (!text) return fault(r, e, "has no attribute %s", name);
    const int64_t length = (int64_t)strlen(text);
    if (length != states)
        return fault(r, e, "has a string %s of %lld orbitals, but nstates is %lld", name,
                     (long long)length, (long long)states);
    for (int64_t i = 0; i < core && i < n; i++) out[i] = (int32_t)i;
    for (int64_t i = 0; i < length; i++) {
        if (text[i] != '0' && text[i] != '1')
            return fault(r, e, "has '%c' in its string %s, where 0 or 1 should be", text[i], name);
        if (text[i] == '0') continue;
        if (found < n) out[found] = (int32_t)(core + i);
        found++;
    }
    return found == n ? PLUGMC_OK
                      : fault(r, e,
                              "occupies %lld orbitals by %s, but the run has %lld electrons of "
                              "that spin",
                              (long long)found, name, (long long)n);
}

static int read_coefficient(const reader *r, const element *e, double complex *out)
{
    const char *which, *text = attribute_of(e, "coeff", "coeff_real", &which);
    double real, imaginary;
    int code = text ? PLUGMC_OK : fault(r, e, "has no attribute coeff");
    if (!code) code = number_of(r, e, which, text, 0, 1e100, &real);
    if (!code)
        code = number_of(r, e, "coeff_imag", find_attribute(e, "coeff_imag"), 0, 1e100, &imaginary);
    *out = code ? 0 : CMPLX(real, imaginary);
    return code;
}

typedef struct header {
    int64_t core[2], states, size;
    double cutoff;
    int functions; /* 1: terms are determinants of configuration state functions */
} header;

static int is_term(const header *h, const element *e)
{
    if (h->functions) return !strcmp(e->name, "det");
    return !strcmp(e->name, "ci") || !strcmp(e->name, "configuration");
}

/* What `size` counts. */
static int is_counted(const header *h, const element *e)
{
    return h->functions ? !strcmp(e->name, "csf") : is_term(h, e);
}

/* ---- The list ------------------------------------------------------------------------------------ */

static int read_header(const reader *r, const element *list, double cutoff, header *h)
{
    const char *type = find_attribute(list, "type"), *href = find_attribute(list, "href");
    if (href)
        return fault(r, list, "has its terms in the file '%.200s': name that file instead", href);
    h->functions = type && !strcmp(type, "CSF");
    if (type && !h->functions && strcmp(type, "DETS") != 0 && strcmp(type, "Determinants") != 0)
        return fault(r, list,
                     "is of type '%.40s', but determinants (DETS) and configuration state "
                     "functions (CSF) are what is supported",
                     type);
    if (!h->functions && find_element(list, NULL, "csf"))
        return fault(r, find_element(list, NULL, "csf"),
                     "stands in a list that is not of type CSF");
    int code = whole_of(r, list, "nc0", "nca", 0, &h->core[0]);
    if (!code) code = whole_of(r, list, "nc1", "ncb", 0, &h->core[1]);
    if (!code) code = whole_of(r, list, "nstates", "nstates", 0, &h->states);
    if (!code) code = whole_of(r, list, "size", "size", -1, &h->size);
    if (!code)
        code = number_of(r, list, "cutoff", find_attribute(list, "cutoff"), 0, 1e100, &h->cutoff);
    if (cutoff > 0) h->cutoff = cutoff;
    if (!code && (h->states < 1 || h->states + h->core[0] > MOST_ORBITALS ||
                  h->states + h->core[1] > MOST_ORBITALS))
        code = fault(r, list, "has nstates = %lld, where 1 to %d orbitals should be",
                     (long long)h->states, MOST_ORBITALS);
    return code;
}

/* One term behind `kept` others; `factor`: the coefficient of its configuration state function, or 1. */
static int read_term(const reader *r, const header *h, const element *e, double complex factor,
                     const int64_t electrons[2], int64_t *kept, term_list *out)
{
    double complex coefficient;
    int code = read_coefficient(r, e, &coefficient);
    for (int spin = 0; spin < 2 && !code; spin++)
        code = read_string(r, e, spin, h->core[spin], h->states, electrons[spin],
                           out->occupied[spin] + *kept * electrons[spin]);
    /* the cutoff is that of functions where there are such */
    if (!code && cabs(h->functions ? factor : coefficient) >= h->cutoff) {
        out->imaginary[*kept] = cimag(factor * coefficient);
        out->coefficients[(*kept)++] = creal(factor * coefficient);
    }
    return code;
}

static int read_list(const reader *r, const element *list, double cutoff,
                     const int64_t electrons[2], term_list *out)
{
    header h = {.size = -1};
    int64_t terms = 0, counted = 0, kept = 0;
    double complex factor = 1;
    int code = read_header(r, list, cutoff, &h);
    if (code) return code;
    for (const element *e = list->next; e && e->depth > list->depth; e = e->next) {
        terms += is_term(&h, e);
        counted += is_counted(&h, e);
    }
    if (terms == 0) return fault(r, list, "has no terms");
    if (counted != h.size)
        return fault(r, list, "has size = %lld, but there are %lld %s", (long long)h.size,
                     (long long)counted, h.functions ? "functions" : "terms");
    code = term_list_make(out, r->host, terms, electrons);
    for (const element *e = list->next; e && e->depth > list->depth && !code; e = e->next) {
        if (h.functions && is_counted(&h, e)) code = read_coefficient(r, e, &factor);
        if (!code && is_term(&h, e)) code = read_term(r, &h, e, factor, electrons, &kept, out);
    }
    out->terms = kept;
    return code;
}

int terms_read_xml(term_list *list, const plugmc_host *host, const char *path, double cutoff,
                   const int64_t electrons[2])
{
    char what[300];
    element *outermost = NULL;
    reader r = {host, path, newlocale(LC_ALL_MASK, "C", NULL)};
    const char *text = text_file_read(host, path);
    snprintf(what, sizeof what, "file '%.250s',", path);
    int code = text ? markup_read(host, what, text, &outermost) : PLUGMC_ERROR_INPUT;
    if (!code) {
        const element *first = !strcmp(outermost->name, "detlist")
                                   ? outermost
                                   : find_element(outermost, NULL, "detlist");
        if (!first)
            code = fault(&r, outermost, "has no <detlist> with terms of an expansion");
        else if (first != outermost && find_element(outermost, first, "detlist"))
            code = fault(&r, find_element(outermost, first, "detlist"),
                         "is the second one: a file with several lists is not supported");
        else
            code = read_list(&r, first, cutoff, electrons, list);
    }
    markup_free(outermost);
    freelocale(r.c);
    return code;
}

int terms_read_qmcpack(term_list *list, const plugmc_host *host, const char *path, int64_t state,
                       double cutoff, const int64_t electrons[2])
{
    static const char hdf5[8] = {(char)0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    char head[sizeof hdf5] = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0) close(fd);
    if (n == (ssize_t)sizeof head && !memcmp(head, hdf5, sizeof head))
        return terms_read_hdf5(list, host, path, state, cutoff, electrons);
    if (state > 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "state = %lld: file '%s' is XML, which has the coefficients of one state",
                          (long long)state, path);
    return terms_read_xml(list, host, path, cutoff, electrons);
}
