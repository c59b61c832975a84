/* See orbital_changes.h. */
#include "orbital_changes.h"

#include <stdlib.h>
#include <string.h>

#include "expansion.h"

double complex orbital_changes_at(const orbital_changes *s, const double *row, int64_t k)
{
    return s->is_complex ? row[2 * k] + I * row[2 * k + 1] : row[k];
}

static const double *row_of(const orbital_changes *s, const double *from, int64_t row)
{
    return from + row * s->pitch * (s->is_complex ? 2 : 1);
}

static double complex inverse_at(const orbital_changes *s, int64_t e, int64_t o)
{
    return orbital_changes_at(s, s->det.inverse, e * s->n + o);
}

void orbital_changes_free(orbital_changes *s)
{
    free(s->memory);
    free(s->values);
    free(s->ratio);
}

int orbital_changes_make(orbital_changes *s, int64_t n, int64_t v, int is_complex)
{
    const int64_t pitch = n + v;
    *s = (orbital_changes){.is_complex = is_complex, .n = n, .v = v, .pitch = pitch};
    const size_t reals = (size_t)(n * pitch * (is_complex ? 2 : 1));
    s->memory = aligned_alloc(64, slater_bytes(n, is_complex, 1));
    s->values = calloc(5 * reals, sizeof *s->values);
    s->ratio = calloc((size_t)(n * v + n * pitch), sizeof *s->ratio);
    if (!s->memory || !s->values || !s->ratio) {
        orbital_changes_free(s);
        *s = (orbital_changes){0};
        return PLUGMC_ERROR_MEMORY;
    }
    s->gradients = s->values + reals;
    s->laplacians = s->values + 4 * reals;
    s->w = s->ratio + n * v;
    slater_prepare(&s->det, s->memory, n, pitch, is_complex, 1);
    return PLUGMC_OK;
}

int orbital_changes_find(orbital_changes *s)
{
    if (!slater_invert(&s->det, s->values, NULL)) return PLUGMC_ERROR_STATE;
    memset(s->ratio, 0, (size_t)(s->n * s->v) * sizeof *s->ratio);
    for (int64_t e = 0; e < s->n; e++)
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t a = 0; a < s->v; a++)
                s->ratio[i * s->v + a] +=
                    inverse_at(s, e, i) * orbital_changes_at(s, row_of(s, s->values, e), s->n + a);
    return PLUGMC_OK;
}

/* sum_o M[e][o] of the orbitals of a row. */
static double complex with_row(const orbital_changes *s, int64_t e, const double *row)
{
    double complex sum = 0;
    for (int64_t o = 0; o < s->n; o++) sum += inverse_at(s, e, o) * orbital_changes_at(s, row, o);
    return sum;
}

static void find_w(orbital_changes *s, const double *drift)
{
    memset(s->w, 0, (size_t)(s->n * s->pitch) * sizeof *s->w);
    for (int64_t e = 0; e < s->n; e++) {
        double b[3];
        for (int d = 0; d < 3; d++)
            b[d] = creal(with_row(s, e, row_of(s, s->gradients, 3 * e + d))) - drift[3 * e + d];
        for (int64_t p = 0; p < s->pitch; p++) {
            double complex h = -0.5 * orbital_changes_at(s, row_of(s, s->laplacians, e), p);
            for (int d = 0; d < 3; d++)
                h += b[d] * orbital_changes_at(s, row_of(s, s->gradients, 3 * e + d), p);
            for (int64_t i = 0; i < s->n; i++) s->w[i * s->pitch + p] += inverse_at(s, e, i) * h;
        }
    }
}

void orbital_changes_kinetic(orbital_changes *s, const double *drift, double *out)
{
    find_w(s, drift);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t a = 0; a < s->v; a++) {
            double complex sum = s->w[i * s->pitch + s->n + a];
            for (int64_t p = 0; p < s->n; p++)
                sum -= s->w[i * s->pitch + p] * s->ratio[p * s->v + a];
            out[i * s->v + a] += creal(sum);
        }
}

void orbital_changes_there(const orbital_changes *s, int64_t own, const double *row,
                           double complex phase, double *out)
{
    const double over = creal(phase * with_row(s, own, row));
    if (over == 0) return; /* what it is multiplied by is 0, too */
    for (int64_t a = 0; a < s->v; a++) {
        double complex rest = orbital_changes_at(s, row, s->n + a);
        for (int64_t p = 0; p < s->n; p++)
            rest -= orbital_changes_at(s, row, p) * s->ratio[p * s->v + a];
        for (int64_t i = 0; i < s->n; i++)
            out[i * s->v + a] += creal(phase * inverse_at(s, own, i) * rest) / over;
    }
}

int orbital_changes_alone(const plugmc_host *host, const char *what)
{
    const plugmc_system *system = host->system;
    for (int32_t t = 0; t < system->term_count; t++)
        if (plugmc_offered(plugmc_term_at(system, t)->plugin, PLUGMC_EXPANSION))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%s goes with one determinant a spin, and not with potential '%s'",
                              what, plugmc_term_at(system, t)->label);
    return PLUGMC_OK;
}

int orbital_changes_report(const plugmc_host *host, int code, const char *what)
{
    if (code == PLUGMC_ERROR_MEMORY)
        return host->fail(host->context, code, "no memory for derivatives by `%s`", what);
    if (code == PLUGMC_ERROR_STATE)
        return host->fail(host->context, code, "a determinant is zero at a sampled configuration");
    return code;
}
