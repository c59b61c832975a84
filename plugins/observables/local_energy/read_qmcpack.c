/* QMCPACK's XML: <pseudo> with a <header>, and a <semilocal> element with one <vps> for each l. */
#include "markup.h"
#include "pseudopotential.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "spdfg"; /* of l = 0 ... MOST_L */

static double number_of(const element *e, const char *name, double missing)
{
    char value[64];
    return find_attribute(e, name, value) ? strtod(value, NULL) : missing;
}

/* Radii [n] of a <grid>, or NULL. */
static double *grid_of(const file_text *file, const element *grid, int64_t *n)
{
    char type[64] = "linear";
    const double first = number_of(grid, "ri", NAN), last = number_of(grid, "rf", NAN),
                 points = number_of(grid, "npts", 0);
    find_attribute(grid, "type", type);
    const int logarithmic = strcmp(type, "log") == 0;
    if (!(points >= 4 && points <= 1e7 && last > first && first >= 0) ||
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
    element grid, data;
    int64_t points = 0;
    if (!find_element(vps->content, vps->end, "grid", &grid) &&
        !find_element(all->content, all->end, "grid", &grid))
        return pseudopotential_fault(file, "has no grid");
    double *radii = grid_of(file, &grid, &points);
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
    if (!code && !find_element(vps->content, vps->end, "data", &data))
        code = pseudopotential_fault(file, "has a potential without data");
    char *at = code ? NULL : data.content;
    if (!code && !(*r_v = read_numbers(file, "a potential", &at, *n))) code = PLUGMC_ERROR_INPUT;
    return code;
}

static int convert(const file_text *file, const element *semilocal, int64_t n, const double *r,
                   double *const *r_v, int count)
{
    char units[64] = "hartree", format[64] = "r*V";
    find_attribute(semilocal, "units", units);
    find_attribute(semilocal, "format", format);
    const double unit = !strcmp(units, "hartree")   ? 1
                        : !strcmp(units, "rydberg") ? 0.5
                        : !strcmp(units, "eV")      ? 1 / 27.211386245988
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
    element vps;
    for (char *at = semilocal->content; !code && find_element(at, semilocal->end, "vps", &vps);
         at = vps.end) {
        char name[64] = "?";
        const char *letter = find_attribute(&vps, "l", name) ? strchr(letters, name[0]) : NULL;
        if (!letter || !name[0])
            code = pseudopotential_fault(file, "has a potential for l = '%s'", name);
        else if (r_v[letter - letters])
            code = pseudopotential_fault(file, "has two potentials for l = '%s'", name);
        else
            code = read_channel(file, all, &vps, &r, &n, &r_v[letter - letters]);
        if (!code) count++;
    }
    for (int l = 0; l < count && !code; l++)
        if (!r_v[l]) code = pseudopotential_fault(file, "has no potential for l = %c", letters[l]);
    if (!code && !count) code = pseudopotential_fault(file, "has no potentials");
    const int local = (int)number_of(semilocal, "l-local", count - 1);
    if (!code && (local < 0 || local >= count))
        code =
            pseudopotential_fault(file, "has l-local = %d, for which there is no potential", local);
    if (!code) code = convert(file, semilocal, n, r, r_v, count);
    if (!code) code = semilocal_channels(p, file, n, r, count, r_v, local, tolerance);
    for (int l = 0; l <= MOST_L; l++) free(r_v[l]);
    free(r);
    return code;
}

int read_qmcpack(pseudopotential *p, const file_text *file, double tolerance)
{
    element all, header, semilocal;
    char *text = file->text, *end = text + strlen(text);
    if (!find_element(text, end, "pseudo", &all) ||
        !find_element(all.content, all.end, "header", &header) ||
        !find_element(all.content, all.end, "semilocal", &semilocal))
        return pseudopotential_fault(file, "lacks its end, its header or its semilocal potentials");
    p->atomic_number = (int32_t)number_of(&header, "atomic-number", 0);
    p->valence = number_of(&header, "zval", 0);
    return read_potentials(p, file, &all, &semilocal, tolerance);
}
