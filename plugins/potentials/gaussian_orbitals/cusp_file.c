/* cusp_file.c: the functions of cusp.c as QMCPACK writes them, for each spin in a file of its own:
 *
 *     <sposet name="spo-up">
 *       <center num="0">
 *         <orbital num="0" C="0" sg="-1" rc="0.09" a1="0.957" a2="-3.002" a3="0.377" a4="-1.965" a5="11.3"/>
 *
 * is the nucleus 0 of the particle set, the orbital 0 of the file of orbitals, and C + sg exp(a1 + a2 r + ... + a5 r^4)
 * in place of its s functions there, where r < rc (bohr). With the parameters that QMCPACK used a wave function is the same
 * as there. */
#define _GNU_SOURCE /* strtod_l */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../files/markup.h"
#include "../../files/text_file.h"
#include "cusp_file.h"

/* Within r_c no function may exceed exp of the first, whatever its polynomial does, looked at in so many points. */
enum { LARGEST_POWER = 200, LOOKED_AT = 64 };

typedef struct reader {
    const plugmc_host *host;
    const char *path;
    locale_t c; /* numbers have points */
} reader;

#define fault(r, e, ...) markup_fault((r)->host, (r)->path, e, __VA_ARGS__)

static int number_of(const reader *r, const element *e, const char *name, double *out)
{
    const char *text = find_attribute(e, name);
    char *end;
    if (!text) return fault(r, e, "has no attribute %s", name);
    *out = strtod_l(text, &end, r->c);
    end += strspn(end, " \t\r\n");
    return end != text && !*end && isfinite(*out)
               ? PLUGMC_OK
               : fault(r, e, "has %s = '%.40s', where a number should be", name, text);
}

static int index_of(const reader *r, const element *e, int64_t *out)
{
    double value;
    const int code = number_of(r, e, "num", &value);
    *out = code ? -1 : (int64_t)fmin(fmax(value, -1), INT32_MAX);
    return code || (value >= 0 && value == (double)*out)
               ? code
               : fault(r, e, "has num = %g, where a number from 0 on should be", value);
}

/* The largest exponent within r_c. */
static double largest_power(const gaussian_cusp *c)
{
    double most = c->p[0];
    for (int i = 1; i <= LOOKED_AT; i++) {
        const double r = i * c->radius / LOOKED_AT;
        const double power = c->p[0] + r * (c->p[1] + r * (c->p[2] + r * (c->p[3] + r * c->p[4])));
        most = fmax(most, isfinite(power) ? power : INFINITY);
    }
    return most;
}

static int read_function(const reader *r, const element *e, double largest_radius,
                         gaussian_cusp *out)
{
    static const char *const power[] = {"a1", "a2", "a3", "a4", "a5"};
    int code = number_of(r, e, "rc", &out->radius);
    if (!code) code = number_of(r, e, "C", &out->shift);
    if (!code) code = number_of(r, e, "sg", &out->sign);
    for (int k = 0; k < PLUGMC_COUNT(power) && !code; k++)
        code = number_of(r, e, power[k], &out->p[k]);
    if (code) return code;
    if (out->radius < 0 || out->radius > largest_radius)
        return fault(r, e, "has rc = %g, but only %.4g bohr are free around that nucleus",
                     out->radius, largest_radius);
    if (out->sign != 1 && out->sign != -1)
        return fault(r, e, "has sg = %g, where 1 or -1 should be", out->sign);
    if (largest_power(out) <= LARGEST_POWER && fabs(out->shift) < 1e100) return PLUGMC_OK;
    return fault(r, e, "has coefficients with which the function overflows within rc");
}

/* The element `name` of that number within `in`; of two the first. */
static int find_numbered(const reader *r, const element *in, const char *name, int64_t wanted,
                         const element **out)
{
    int64_t number;
    for (const element *e = NULL; (e = find_element(in, e, name));) {
        const int code = index_of(r, e, &number);
        if (code) return code;
        if (number != wanted) continue;
        *out = e;
        return PLUGMC_OK;
    }
    return fault(r, in, "has no <%s> of num = %lld", name, (long long)wanted);
}

static int read_center(const reader *r, const element *set, const cusp_wanted *w, int32_t nucleus,
                       double largest_radius, gaussian_cusp *out)
{
    const element *center, *orbital;
    int code = find_numbered(r, set, "center", nucleus, &center);
    for (int64_t i = 0; i < w->orbitals && !code; i++) {
        code = find_numbered(r, center, "orbital", w->orbital[i], &orbital);
        if (!code) code = read_function(r, orbital, largest_radius, &out[i]);
    }
    return code;
}

int cusp_file_read(const plugmc_host *host, const char *path, const cusp_wanted *w,
                   gaussian_cusp *out)
{
    char what[1100];
    element *outermost = NULL;
    reader r = {.host = host, .path = path};
    snprintf(what, sizeof what, "file '%.1000s',", path);
    const char *text = text_file_read(host, path);
    if (!text) return PLUGMC_ERROR_INPUT;
    if (!(r.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a locale");
    int code = markup_read(host, what, text, &outermost);
    if (!code) {
        const element *set = strcmp(outermost->name, "sposet") == 0
                                 ? outermost
                                 : find_element(outermost, NULL, "sposet");
        if (!set)
            code = fault(&r, outermost, "has no <sposet>: that is no file of QMCPACK's cusps");
        for (int32_t i = 0; i < w->nuclei && !code; i++)
            code =
                read_center(&r, set, w, w->nucleus[i], w->largest_radius[i], out + i * w->orbitals);
    }
    markup_free(outermost);
    freelocale(r.c);
    return code;
}
