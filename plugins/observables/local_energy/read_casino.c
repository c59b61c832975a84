/* CASINO's tabulated pseudopotentials: labels and numbers in turn,
 *
 *     title / Atomic number and pseudo-charge: Z z / Energy units (rydberg/hartree/ev): word /
 *     Angular momentum of local component: l / NLRULE override: two integers /
 *     Number of grid points: n / R(i) in atomic units: n numbers /
 *     r*potential (L=0) in Ry: n numbers / (L=1) ...
 */
#include "pseudopotential.h"

#include <stdlib.h>
#include <string.h>

/* The line after the first one that holds a label, or NULL with a message. */
static char *line_after(const file_text *file, char *from, const char *label)
{
    char *at = strstr(from, label);
    char *end = at ? strchr(at, '\n') : NULL;
    if (!end) pseudopotential_fault(file, "has no '%s'", label);
    return end ? end + 1 : NULL;
}

static double unit_of(const char *at)
{
    static const struct {
        const char *word;
        double hartree;
    } units[] = {{"rydberg", 0.5}, {"hartree", 1}, {"ev", 1 / 27.211386245988}};
    at += strspn(at, " \t");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (!strncmp(at, units[i].word, strlen(units[i].word))) return units[i].hartree;
    return 0;
}

/* One whole number after a label, at most `most`; -1 with a message. */
static int64_t whole_after(const file_text *file, const char *label, int64_t most)
{
    char *at = line_after(file, file->text, label), *end;
    if (!at) return -1;
    const int64_t value = strtoll(at, &end, 10);
    if (end != at && value >= 0 && value <= most) return value;
    pseudopotential_fault(file, "has no number from 0 to %lld after '%s'", (long long)most, label);
    return -1;
}

static int read_all_l(const file_text *file, char *at, int64_t n, double unit, double **r_v,
                      int *count)
{
    while ((at = strstr(at, "potential (L="))) {
        const int l = atoi(at + strlen("potential (L="));
        char *numbers = line_after(file, at, "potential (L=");
        if (!numbers) return PLUGMC_ERROR_INPUT;
        if (l != *count || l > MOST_L)
            return pseudopotential_fault(file, "has a potential for L = %d after %d others", l,
                                         *count);
        at = numbers;
        if (!(r_v[l] = read_numbers(file, "a potential", &at, n))) return PLUGMC_ERROR_INPUT;
        for (int64_t i = 0; i < n; i++) r_v[l][i] *= unit;
        ++*count;
    }
    return *count ? PLUGMC_OK : pseudopotential_fault(file, "has no potentials");
}

int read_casino(pseudopotential *p, const file_text *file, double tolerance)
{
    char *head = line_after(file, file->text, "Atomic number and pseudo-charge");
    char *units = line_after(file, file->text, "Energy units");
    double *z = head ? read_numbers(file, "its charges", &head, 2) : NULL,
           *r_v[MOST_L + 1] = {NULL};
    if (!z || !units) {
        free(z);
        return PLUGMC_ERROR_INPUT;
    }
    p->atomic_number = z[0] >= 0 && z[0] <= MOST_ATOMIC_NUMBER ? (int32_t)z[0] : -1;
    p->valence = z[1];
    free(z);
    const double unit = unit_of(units);
    if (!unit) return pseudopotential_fault(file, "has energies in units that are not known");
    const int64_t local = whole_after(file, "Angular momentum of local component", MOST_L);
    const int64_t n = local < 0 ? -1 : whole_after(file, "Number of grid points", 10000000);
    char *at = n < 0 ? NULL : line_after(file, file->text, "R(i)");
    if (n < 4 && at) return pseudopotential_fault(file, "has %lld grid points", (long long)n);
    double *r = at ? read_numbers(file, "its grid", &at, n) : NULL;
    int count = 0, code = r ? read_all_l(file, at, n, unit, r_v, &count) : PLUGMC_ERROR_INPUT;
    if (!code && local >= count)
        code = pseudopotential_fault(file, "has no potential for the local component, L = %lld",
                                     (long long)local);
    if (!code) code = semilocal_channels(p, file, n, r, count, r_v, (int)local, tolerance);
    for (int l = 0; l <= MOST_L; l++) free(r_v[l]);
    free(r);
    return code;
}
