/* QMCPACK's XML: <pseudo> with a <header>, and a <semilocal> element with one <vps> for each l. */
#include "pseudopotential.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char letters[] = "spdfg", digits[] = "01234"; /* of l = 0 ... MOST_L */

static double number_of(const element *e, const char *name, double missing)
{
    const char *value = find_attribute(e, name);
    return value ? strtod(value, NULL) : missing;
}

static const char *word_of(const element *e, const char *name, const char *missing)
{
    const char *value = find_attribute(e, name);
    return value ? value : missing;
}

/* A number that is meant to be a whole one; -1 if it is none that fits. */
static int whole_of(const element *e, const char *name, double missing)
{
    const double value = number_of(e, name, missing);
    return value >= 0 && value <= 1e6 ? (int)value : -1;
}

/* l by its letter or its number; -1: neither. */
static int momentum_of(const char *name)
{
    const char *letter = name[0] && !name[1] ? strchr(letters, name[0]) : NULL,
               *digit = name[0] && !name[1] ? strchr(digits, name[0]) : NULL;
    return letter ? (int)(letter - letters) : digit ? (int)(digit - digits) : -1;
}

/* Radii [n] of a <grid>, or NULL. QMCPACK takes one without a type for a logarithmic one; its authors may have meant
 * another. */
static double *grid_of(const file_text *file, const element *grid, int64_t *n)
{
    static const char *const steps[] = {"scale", "step", "ascale", "astep"};
    const char *type = word_of(grid, "type", "");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (find_attribute(grid, steps[i])) {
            pseudopotential_fault(
                file,
                "has a grid by its '%s', which is not known here: it has to be by ri, rf and npts",
                steps[i]);
            return NULL;
        }
    const double first = number_of(grid, "ri", NAN), last = number_of(grid, "rf", NAN),
                 points = number_of(grid, "npts", 0);
    const int logarithmic = strcmp(type, "log") == 0;
    if (!(points >= 4 && points <= 1e7 && last > first && first >= 0 && isfinite(last)) ||
        (logarithmic ? first <= 0 : strcmp(type, "linear") != 0)) {
        pseudopotential_fault(file, "has a grid of type '%s' with %g points from %g to %g", type,
                              points, first, last);
        return NULL;
    }
    *n = (int64_t)points;
    double *r = malloc((size_t)*n * sizeof *r);
    for (int64_t i = 0; i < *n && r; i++) {
        const double part = (double)i / (double)(*n - 1);
        r[i] = logarithmic ? first * pow(last / first, part) : first + part * (last - first);
    }
    return r;
}

/* One <vps>: r v(r) in the units of the file, on its own grid or that of the file. */
static int read_channel(const file_text *file, const element *all, const element *vps, double **r,
                        int64_t *n, double **r_v)
{
    const element *grid = find_element(vps, NULL, "grid"), *data = find_element(vps, NULL, "data");
    int64_t points = 0;
    if (!grid) grid = find_element(all, NULL, "grid");
    if (!grid) return pseudopotential_fault(file, "has no grid");
    double *radii = grid_of(file, grid, &points);
    if (!radii) return PLUGMC_ERROR_INPUT;
    int code = PLUGMC_OK;
    if (!*r) {
        *r = radii;
        *n = points;
    } else {
        if (points != *n || memcmp(radii, *r, (size_t)points * sizeof *radii))
            code = pseudopotential_fault(file, "has different grids for different l");
        free(radii);
    }
    if (!code && !data) code = pseudopotential_fault(file, "has a potential without data");
    char *at = code ? NULL : data->text;
    if (!code && !(*r_v = read_numbers(file, "a potential", &at, *n))) code = PLUGMC_ERROR_INPUT;
    return code;
}

static int convert(const file_text *file, const element *semilocal, int64_t n, const double *r,
                   double *const *r_v, int count)
{
    const char *units = word_of(semilocal, "units", "hartree"),
               *format = word_of(semilocal, "format", "r*V");
    const double unit = !strcasecmp(units, "hartree")   ? 1
                        : !strcasecmp(units, "rydberg") ? 0.5
                        : !strcasecmp(units, "eV")      ? 1 / 27.211386245988
                                                        : 0;
    const int times_r = strcmp(format, "r*V") == 0;
    if (!unit) return pseudopotential_fault(file, "has potentials in units of '%s'", units);
    if (!times_r && strcmp(format, "V") != 0)
        return pseudopotential_fault(file, "has potentials as '%s'", format);
    for (int l = 0; l < count; l++)
        for (int64_t i = 0; i < n; i++) r_v[l][i] *= times_r ? unit : unit * r[i];
    return PLUGMC_OK;
}

static int read_potentials(pseudopotential *p, const file_text *file, const element *all,
                           const element *semilocal, double tolerance)
{
    double *r = NULL, *r_v[MOST_L + 1] = {NULL};
    int64_t n = 0;
    int code = PLUGMC_OK, count = 0;
    for (const element *vps = NULL; !code && (vps = find_element(semilocal, vps, "vps"));) {
        const char *name = word_of(vps, "l", "");
        const int l = momentum_of(name);
        if (l < 0)
            code = pseudopotential_fault(file, "has a potential for l = '%s'", name);
        else if (r_v[l])
            code = pseudopotential_fault(file, "has two potentials for l = '%s'", name);
        else
            code = read_channel(file, all, vps, &r, &n, &r_v[l]);
        if (!code) count++;
    }
    for (int l = 0; l < count && !code; l++)
        if (!r_v[l]) code = pseudopotential_fault(file, "has no potential for l = %c", letters[l]);
    if (!code && !count) code = pseudopotential_fault(file, "has no potentials");
    const int local = whole_of(semilocal, "l-local", count - 1);
    if (!code && (local < 0 || local >= count))
        code =
            pseudopotential_fault(file, "has l-local = %d, for which there is no potential", local);
    if (!code) code = convert(file, semilocal, n, r, r_v, count);
    if (!code) code = semilocal_channels(p, file, n, r, count, r_v, local, tolerance);
    for (int l = 0; l <= MOST_L; l++) free(r_v[l]);
    free(r);
    return code;
}

/* Whether a name is among some, which NULL ends. */
static int is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(name, *names)) names++;
    return *names != NULL;
}

/* What would be left out of the Hamiltonian: an element with numbers in it that nobody reads here, or a local potential
 * as a sum of Gaussian functions, which go by their attributes (an empty one is that of a bare charge). */
static int check_parts(const file_text *file, const element *all, const element *semilocal)
{
    static const char *const known[] = {"header", "grid", "semilocal", "vps", NULL},
                             /* of the atom that it was made for, and points of a quadrature */
        *const others[] = {"pseudowave-functions", "valence-charge", "pseudocore-charge",
                           "sphericalGrid", NULL};
    const plugmc_host *host = file->host;
    int spin_orbit = number_of(semilocal, "npots-so", 0) > 0;
    for (const element *e = all->next; e; e = e->next) {
        const int below = e->depth - all->depth;
        if (!strcmp(e->name, "L2"))
            return pseudopotential_fault(file, "has an L2 potential, which is not known here: take "
                                               "one that is semilocal alone");
        spin_orbit |= !strcmp(e->name, "vps_so");
        if (below > 2 || !strcmp(e->name, "vps_so") || is_one_of(e->name, known) ||
            is_one_of(e->name, others) ||
            (!find_element(e, NULL, "data") && strcmp(e->name, "local") != 0))
            continue;
        const element *parent = e; /* "pswf" belongs to one of the others */
        for (const element *p = all->next; p != e; p = p->next)
            if (p->depth == e->depth - 1) parent = p;
        if (parent != e && is_one_of(parent->name, others)) continue;
        return pseudopotential_fault(file, "has a part '%s', which is not known here", e->name);
    }
    if (spin_orbit)
        host->warn(host->context,
                   "pseudopotential '%s' has spin-orbit potentials, which are left out: orbitals "
                   "here have one component of spin",
                   file->path);
    return PLUGMC_OK;
}

int read_qmcpack(pseudopotential *p, const file_text *file, double tolerance)
{
    element *all;
    int code = pseudopotential_markup(file, &all);
    if (code) return code;
    const element *header = find_element(all, NULL, "header"),
                  *semilocal = find_element(all, NULL, "semilocal");
    if (!header || !semilocal) {
        code = pseudopotential_fault(file, "lacks its header or its semilocal potentials");
    } else {
        p->atomic_number = whole_of(header, "atomic-number", 0);
        /* some programs write 0 */
        if (!p->atomic_number) p->atomic_number = element_of(word_of(header, "symbol", ""));
        p->valence = number_of(header, "zval", 0);
        code = check_parts(file, all, semilocal);
        if (!code) code = read_potentials(p, file, all, semilocal, tolerance);
    }
    markup_free(all);
    return code;
}
