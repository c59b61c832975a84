/* read_markup.c: inputs of QMCPACK, XML, whose <basisset> and <coefficient>s have the numbers themselves, as convert4qmc
 * writes them on request. What an input takes from others by <include href> is read, too. Conventions are those of
 * read_qmcpack.c; norm and order of functions are the same in both formats.
 *
 * Of an input are read: the <particleset> of the ions (that which `source` names, ion0 otherwise), numbers of electrons, the
 * one <basisset>, and the <sposet>s that the <determinant>s, or spo_up and spo_dn of a <multideterminant>, name. */
#define _GNU_SOURCE /* strtod_l */
#include "qmcpack_basis.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../files/element_symbols.h"
#include "../../files/markup.h"
#include "../../files/text_file.h"

enum { MOST_DOCUMENTS = 16, LONGEST_PATH = 4096 };

typedef struct document {
    char path[LONGEST_PATH];
    element *outermost;
} document;

typedef struct reader {
    molecule *m;
    document *documents; /* [count] */
    int count;
    locale_t c; /* numbers have points */
} reader;

/* ---- Words ---------------------------------------------------------------------------------- */

static int fault(const reader *r, const element *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fault(const reader *r, const element *e, const char *format, ...)
{
    char words[400];
    const char *path = r->m->file.path;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    for (int i = 0; i < r->count; i++)
        for (const element *at = r->documents[i].outermost; at; at = at->next)
            if (at == e) path = r->documents[i].path;
    const plugmc_host *host = r->m->file.host;
    return host->fail(host->context, PLUGMC_ERROR_INPUT, "file '%.200s', line %lu: <%.40s> %s",
                      path, e->line, e->name, words);
}

static const char *word_of(const element *e, const char *name, const char *missing)
{
    const char *value = find_attribute(e, name);
    return value ? value : missing;
}

/* The next element of that name after `last` in all documents, or NULL. */
static const element *next_of(const reader *r, const element *last, const char *name)
{
    bool after = !last;
    for (int i = 0; i < r->count; i++)
        for (const element *e = r->documents[i].outermost; e; e = e->next) {
            if (after && !strcmp(e->name, name)) return e;
            after = after || e == last;
        }
    return NULL;
}

/* The numbers of a text, to be freed; NULL after a message. */
static double *numbers_of(const reader *r, const element *e, int64_t most, int64_t *count)
{
    double *values = malloc(((size_t)most + 1) * sizeof *values);
    char *at = e->text, *end;
    *count = 0;
    if (!values) {
        molecule_no_memory(r->m, (size_t)most * sizeof *values);
        return NULL;
    }
    for (;; at = end) {
        const double value = strtod_l(at, &end, r->c);
        if (end == at) break;
        if (*count == most) {
            fault(r, e, "has more than %lld numbers", (long long)most);
            free(values);
            return NULL;
        }
        values[(*count)++] = value;
    }
    at += strspn(at, " \t\r\n");
    if (!*at) return values;
    fault(r, e, "has '%.*s' among its numbers", (int)strcspn(at, " \t\r\n") % 30, at);
    free(values);
    return NULL;
}

/* An attribute that is a number; `missing` where there is none. */
static int number_of(const reader *r, const element *e, const char *name, double missing,
                     double *out)
{
    const char *text = find_attribute(e, name);
    char *end;
    *out = missing;
    if (!text) return PLUGMC_OK;
    *out = strtod_l(text, &end, r->c);
    end += strspn(end, " \t\r\n");
    return end != text && !*end && isfinite(*out)
               ? PLUGMC_OK
               : fault(r, e, "has %s = '%.40s', where a number should be", name, text);
}

/* <parameter name=...> of an element; `missing` where there is none. */
static int parameter_of(const reader *r, const element *in, const char *name, double missing,
                        double *out)
{
    *out = missing;
    for (const element *p = NULL; (p = find_element(in, p, "parameter"));) {
        char *end;
        if (strcasecmp(word_of(p, "name", ""), name) != 0) continue;
        *out = strtod_l(p->text, &end, r->c);
        if (end == p->text || !isfinite(*out))
            return fault(r, p, "of name %s is '%.40s', where a number should be", name, p->text);
        return PLUGMC_OK;
    }
    return PLUGMC_OK;
}

/* ---- Documents ------------------------------------------------------------------------------ */

/* Reads a file to the end of the list. */
static int add_document(reader *r, const char *path)
{
    const plugmc_host *host = r->m->file.host;
    char what[LONGEST_PATH + 16];
    document *d = &r->documents[r->count];
    if (r->count == MOST_DOCUMENTS)
        return hdf5_damaged(&r->m->file, "it includes more than %d files", MOST_DOCUMENTS - 1);
    if (snprintf(d->path, sizeof d->path, "%s", path) >= (int)sizeof d->path)
        return hdf5_damaged(&r->m->file, "the path of a file that it includes is too long");
    snprintf(what, sizeof what, "file '%s',", path);
    const char *text = text_file_read(host, path);
    const int code = text ? markup_read(host, what, text, &d->outermost) : PLUGMC_ERROR_INPUT;
    r->count += !code;
    return code;
}

static int read_documents(reader *r)
{
    int code = add_document(r, r->m->file.path);
    for (int i = 0; i < r->count && !code; i++)
        for (const element *e = r->documents[i].outermost; e && !code; e = e->next) {
            char path[2 * LONGEST_PATH];
            const char *href = find_attribute(e, "href");
            if (strcmp(e->name, "include") != 0) continue;
            if (!href || !*href) return fault(r, e, "does not say by href what it includes");
            const char *slash = strrchr(r->documents[i].path, '/');
            const int folder = slash && *href != '/' ? (int)(slash - r->documents[i].path) + 1 : 0;
            snprintf(path, sizeof path, "%.*s%s", folder, r->documents[i].path, href);
            code = add_document(r, path);
        }
    return code;
}

/* ---- Ions and electrons --------------------------------------------------------------------- */

static int read_group(const reader *r, const element *group, basis_element *out)
{
    double number;
    const char *name = word_of(group, "name", "");
    snprintf(out->name, sizeof out->name, "%s", name);
    int code = parameter_of(r, group, "atomicnumber", element_of(name), &number);
    if (!code) code = parameter_of(r, group, "charge", number, &out->charge);
    if (!code && !(number >= 1 && number <= 118 && number == floor(number)))
        code =
            fault(r, group, "of ions '%.30s' has no atomic number, nor is that an element", name);
    out->atomic_number = code ? 0 : (int32_t)number;
    return code;
}

/* <attrib name="position"> within an element, and whether its numbers are lengths. */
static int read_positions(reader *r, const element *in, int32_t from, int32_t to)
{
    for (const element *a = NULL; (a = find_element(in, a, "attrib"));) {
        int64_t count;
        if (strcmp(word_of(a, "name", ""), "position") != 0) continue;
        if (strcmp(word_of(a, "condition", "0"), "0") != 0)
            return fault(r, a,
                         "has positions in units of a cell (condition=\"1\"), which are not "
                         "read here");
        double *values = numbers_of(r, a, 3 * (int64_t)MOST_NUCLEI, &count);
        if (!values) return PLUGMC_ERROR_INPUT;
        for (int32_t i = from; i < to && count == 3 * (int64_t)(to - from); i++)
            for (int d = 0; d < 3; d++) r->m->position[i][d] = values[3 * (i - from) + d];
        free(values);
        return count == 3 * (int64_t)(to - from)
                   ? PLUGMC_OK
                   : fault(r, a, "has %lld numbers, but there are %d positions", (long long)count,
                           to - from);
    }
    return fault(r, in, "has no <attrib name=\"position\">");
}

/* Names of ions, one after the other: `ionid`. */
static int read_names(const reader *r, const element *set, const basis_element *elements,
                      int32_t groups, int32_t *element_of_ion)
{
    const element *a = NULL;
    int32_t n = 0;
    while ((a = find_element(set, a, "attrib")) && strcmp(word_of(a, "name", ""), "ionid") != 0) {}
    if (!a) {
        memset(element_of_ion, 0, (size_t)r->m->nuclei * sizeof *element_of_ion);
        return groups == 1 ? PLUGMC_OK
                           : fault(r, set, "does not say by ionid of which group its ions are");
    }
    for (const char *at = a->text + strspn(a->text, " \t\r\n"); *at; n++) {
        const size_t length = strcspn(at, " \t\r\n");
        int32_t e = 0;
        while (e < groups &&
               (strlen(elements[e].name) != length || strncmp(elements[e].name, at, length) != 0))
            e++;
        if (e == groups)
            return fault(r, a, "names a group '%.*s' that there is not", (int)(length % 30), at);
        if (n == r->m->nuclei) return fault(r, a, "has more names than there are ions");
        element_of_ion[n] = e;
        at += length + strspn(at + length, " \t\r\n");
    }
    return n == r->m->nuclei ? PLUGMC_OK : fault(r, a, "has %d names for %d ions", n, r->m->nuclei);
}

/* Ions whose number is that of the set, with their names and positions in lists; or of the groups, which then have
 * positions of their own. */
static int place_ions(reader *r, const element *set, const basis_element *elements, int32_t groups,
                      const int32_t *sizes, int32_t *element_of_ion)
{
    const bool lists = find_attribute(set, "size") || !find_element(set, NULL, "group") ||
                       !find_attribute(find_element(set, NULL, "group"), "size");
    int32_t from = 0, g = 0;
    int code = PLUGMC_OK;
    if (lists) {
        code = read_names(r, set, elements, groups, element_of_ion);
        return code ? code : read_positions(r, set, 0, r->m->nuclei);
    }
    for (const element *e = NULL; (e = find_element(set, e, "group")) && !code; g++) {
        for (int32_t i = from; i < from + sizes[g]; i++) element_of_ion[i] = g;
        code = read_positions(r, e, from, from + sizes[g]);
        from += sizes[g];
    }
    return code;
}

static int size_of(const reader *r, const element *e, int32_t missing, int32_t *out)
{
    double value;
    const int code = number_of(r, e, "size", missing, &value);
    *out = 0;
    if (code) return code;
    if (!(value >= 0 && value <= MOST_NUCLEI && value == floor(value)))
        return fault(r, e, "has size = %g", value);
    *out = (int32_t)value;
    return PLUGMC_OK;
}

static int read_ions(reader *r, const element *set, basis_element **elements, int32_t *groups,
                     int32_t **element_of_ion)
{
    molecule *m = r->m;
    int32_t *sizes, sum = 0, g = 0;
    *groups = 0;
    for (const element *e = NULL; (e = find_element(set, e, "group"));) ++*groups;
    if (!*groups) return fault(r, set, "has no <group> of ions");
    *elements = molecule_take(m, (size_t)*groups, sizeof **elements);
    sizes = molecule_take(m, (size_t)*groups, sizeof *sizes);
    if (!*elements || !sizes) return PLUGMC_ERROR_MEMORY;
    int code = PLUGMC_OK;
    for (const element *e = NULL; (e = find_element(set, e, "group")) && !code; g++) {
        code = read_group(r, e, *elements + g);
        if (!code) code = size_of(r, e, 0, &sizes[g]);
        sum += sizes[g];
    }
    if (!code) code = size_of(r, set, sum, &m->nuclei);
    if (code) return code;
    if (m->nuclei < 1 || m->nuclei > MOST_NUCLEI)
        return fault(r, set, "does not say how many ions there are");
    const size_t n = (size_t)m->nuclei;
    m->atomic_number = molecule_take(m, n, sizeof *m->atomic_number);
    m->charge = molecule_take(m, n, sizeof *m->charge);
    m->position = molecule_take(m, n, sizeof *m->position);
    *element_of_ion = molecule_take(m, n, sizeof **element_of_ion);
    if (!m->atomic_number || !m->charge || !m->position || !*element_of_ion)
        return PLUGMC_ERROR_MEMORY;
    code = place_ions(r, set, *elements, *groups, sizes, *element_of_ion);
    for (int32_t i = 0; i < m->nuclei && !code; i++) {
        m->atomic_number[i] = (*elements)[(*element_of_ion)[i]].atomic_number;
        m->charge[i] = (*elements)[(*element_of_ion)[i]].charge;
    }
    return code;
}

/* Numbers of electrons, where a <particleset> has groups u and d. */
static int read_electrons(const reader *r)
{
    for (const element *set = NULL; (set = next_of(r, set, "particleset"));) {
        if (strcmp(word_of(set, "name", ""), "e") != 0) continue;
        r->m->electrons[0] = r->m->electrons[1] = 0;
        for (const element *g = NULL; (g = find_element(set, g, "group"));) {
            const int down = !strcmp(word_of(g, "name", ""), "d");
            const int code = size_of(r, g, 0, &r->m->electrons[down]);
            if (code) return code;
        }
    }
    return PLUGMC_OK;
}

/* ---- Basis ---------------------------------------------------------------------------------- */

static int read_shell(const reader *r, const element *group, const basis_element *of,
                      basis_shells *list)
{
    const char *type = word_of(group, "type", "Gaussian");
    double l;
    int code = basis_grow(r->m, list);
    if (!code && strcmp(type, "Gaussian") != 0 && strcmp(type, "GTO") != 0)
        code = fault(r, group, "is of type '%.20s'; only Gaussian functions are read", type);
    if (!code) code = number_of(r, group, "l", 0, &l);
    if (!code && !(l >= 0 && l <= MOST_L && l == floor(l)))
        code = fault(r, group, "has l = %g, and up to %d is read", l, MOST_L);
    if (code) return code;
    gaussian_shell shell = {0, (int32_t)l, of->cartesian, list->primitives, 0, 0};
    for (const element *f = NULL; (f = find_element(group, f, "radfunc")) && !code;) {
        double p[2];
        code = basis_grow(r->m, list);
        if (!code) code = number_of(r, f, "exponent", 0, &p[0]);
        if (!code) code = number_of(r, f, "contraction", 1, &p[1]);
        if (!code && !(p[0] > 0)) code = fault(r, f, "has the exponent %g", p[0]);
        if (code) return code;
        if (!of->has_norm) p[1] *= radial_norm(shell.l, p[0]);
        memcpy(list->primitive[list->primitives++], p, sizeof p);
        shell.primitives++;
    }
    if (!shell.primitives) return fault(r, group, "has no <radfunc>");
    list->shell[list->count++] = shell;
    return code;
}

static int read_basis(const reader *r, const element *set, basis_element *elements, int32_t groups,
                      basis_shells *list)
{
    int code = PLUGMC_OK;
    for (const element *e = NULL; (e = find_element(set, e, "atomicBasisSet")) && !code;) {
        const char *name = word_of(e, "elementType", "");
        int32_t which = 0;
        while (which < groups && strcmp(elements[which].name, name) != 0) which++;
        if (which == groups) return fault(r, e, "is for '%.30s', and no ions are", name);
        basis_element *of = &elements[which];
        if (of->shells) return fault(r, e, "is the second one for '%.30s'", name);
        snprintf(of->expansion, sizeof of->expansion, "%s", word_of(e, "expandYlm", "gaussian"));
        of->has_norm = !strcmp(word_of(e, "normalized", "yes"), "yes");
        of->first = list->count;
        code =
            basis_check_expansion(r->m, "atomicBasisSet", word_of(e, "angular", "spherical"), of);
        for (const element *g = NULL; !code && (g = find_element(e, g, "basisGroup"));)
            code = read_shell(r, g, of, list);
        of->shells = list->count - of->first;
    }
    for (int32_t i = 0; i < groups && !code; i++)
        if (!elements[i].shells) code = fault(r, set, "has no basis of '%.30s'", elements[i].name);
    return code;
}

/* ---- Orbitals ------------------------------------------------------------------------------- */

/* The <coefficient> of the orbitals that are called `name`. */
static const element *coefficients_of(const reader *r, const char *name)
{
    for (const element *s = NULL; (s = next_of(r, s, "sposet"));)
        if (!strcmp(word_of(s, "name", word_of(s, "id", "")), name))
            return find_element(s, NULL, "coefficient");
    return NULL;
}

static int check_occupation(const reader *r, const element *in)
{
    const element *o = find_element(in, NULL, "occupation");
    if (!o || !strcmp(word_of(o, "mode", "ground"), "ground")) return PLUGMC_OK;
    return fault(r, o,
                 "has the mode '%.20s'; occupied_up and occupied_down say here which orbitals "
                 "are occupied",
                 word_of(o, "mode", ""));
}

/* Those of spin up and of spin down. */
static int find_coefficients(const reader *r, const element *found[2])
{
    const element *many = next_of(r, NULL, "multideterminant"), *e = NULL;
    found[0] = found[1] = NULL;
    for (int s = 0; s < 2; s++) {
        if (many) {
            found[s] = coefficients_of(r, word_of(many, s ? "spo_dn" : "spo_up", ""));
            if (!found[s]) return fault(r, many, "names no <sposet> with a <coefficient>");
            continue;
        }
        e = next_of(r, e, "determinant");
        if (!e) break;
        found[s] = find_element(e, NULL, "coefficient");
        const int code = check_occupation(r, e);
        if (code) return code;
        if (!found[s]) found[s] = coefficients_of(r, word_of(e, "sposet", word_of(e, "id", "")));
        if (!found[s]) return fault(r, e, "has no <coefficient>, nor does an <sposet> of its name");
    }
    if (!found[0])
        return hdf5_damaged(&r->m->file, "it has no <determinant>, which would say which orbitals "
                                         "are occupied");
    if (!found[1]) found[1] = found[0];
    for (const element *s = NULL; (s = next_of(r, s, "sposet"));) {
        const int code = check_occupation(r, s);
        if (code) return code;
    }
    return PLUGMC_OK;
}

static int read_spin(const reader *r, const element *e, molecule_spin *out)
{
    molecule *m = r->m;
    int64_t count;
    double *values = numbers_of(r, e, 10000000, &count);
    if (!values) return PLUGMC_ERROR_INPUT;
    int code = PLUGMC_OK;
    if (count < m->functions || count % m->functions)
        code = fault(r, e, "has %lld numbers, which is no number of orbitals of %d functions",
                     (long long)count, m->functions);
    out->orbitals = code ? 0 : (int32_t)(count / m->functions);
    if (!code) code = molecule_arrange(m, "coefficient", values, out->orbitals, NULL, &out->real);
    free(values);
    return code;
}

static int read_orbitals(const reader *r)
{
    const element *found[2];
    molecule *m = r->m;
    int code = find_coefficients(r, found);
    if (!code) code = read_spin(r, found[0], &m->spin[0]);
    m->spin[1] = m->spin[0];
    if (code || found[1] == found[0]) return code;
    m->spin[1] = (molecule_spin){0};
    code = read_spin(r, found[1], &m->spin[1]);
    m->unrestricted = code || m->spin[0].orbitals != m->spin[1].orbitals ||
                      memcmp(m->spin[0].real, m->spin[1].real,
                             (size_t)m->spin[0].orbitals * (size_t)m->functions * sizeof(double));
    return code;
}

/* ---- The whole ------------------------------------------------------------------------------ */

/* The name of the particles that the basis belongs to. */
static const char *source_of(const reader *r)
{
    static const char *const places[] = {"sposet_collection", "sposet_builder", "determinantset",
                                         "basisset"};
    for (int k = 0; k < PLUGMC_COUNT(places); k++)
        for (const element *e = NULL; (e = next_of(r, e, places[k]));)
            if (find_attribute(e, "source")) return find_attribute(e, "source");
    return "ion0";
}

static int find_parts(const reader *r, const element **ions, const element **basis)
{
    *ions = NULL;
    *basis = next_of(r, NULL, "basisset");
    for (const element *e = NULL; !*basis && (e = next_of(r, e, "sposet_collection"));)
        if (find_attribute(e, "href"))
            return fault(r, e, "has its orbitals in the file '%.100s': name that file instead",
                         find_attribute(e, "href"));
    if (!*basis)
        return hdf5_damaged(&r->m->file, "this XML has no <basisset>, so it is no input of QMCPACK "
                                         "with orbitals of Gaussian functions");
    if (next_of(r, *basis, "basisset"))
        return fault(r, next_of(r, *basis, "basisset"), "is the second one");
    for (const element *e = NULL; (e = next_of(r, e, "particleset"));)
        if (!strcmp(word_of(e, "name", word_of(e, "id", "")), source_of(r))) *ions = e;
    if (!*ions)
        return hdf5_damaged(&r->m->file,
                            "it has no <particleset name=\"%.30s\">, the ions; the whole input "
                            "is wanted here, not what it includes",
                            source_of(r));
    for (const element *e = NULL; (e = next_of(r, e, "parameter"));)
        if (!strcmp(word_of(e, "name", ""), "bconds") && strchr(e->text, 'p'))
            return fault(r, e,
                         "asks for a periodic cell, which is not supported for orbitals in "
                         "XML");
    return PLUGMC_OK;
}

static int read_parts(reader *r)
{
    const element *ions, *basis;
    basis_element *elements = NULL;
    basis_shells list = {0};
    int32_t groups, *element_of_ion = NULL;
    int code = find_parts(r, &ions, &basis);
    if (!code) code = read_ions(r, ions, &elements, &groups, &element_of_ion);
    if (!code) code = read_electrons(r);
    if (!code) code = read_basis(r, basis, elements, groups, &list);
    if (!code) code = basis_copy_shells(r->m, elements, element_of_ion, &list);
    if (!code) code = read_orbitals(r);
    free(list.shell);
    free(list.primitive);
    return code;
}

int read_markup(molecule *m)
{
    reader r = {.m = m, .documents = calloc(MOST_DOCUMENTS, sizeof *r.documents)};
    r.c = newlocale(LC_ALL_MASK, "C", NULL);
    int code = r.documents && r.c ? PLUGMC_OK : molecule_no_memory(m, sizeof *r.documents);
    m->format = "QMCPACK's XML";
    if (!code) code = read_documents(&r);
    if (!code) code = read_parts(&r);
    for (int i = 0; i < r.count; i++) markup_free(r.documents[i].outermost);
    free(r.documents);
    if (r.c) freelocale(r.c);
    return code;
}
