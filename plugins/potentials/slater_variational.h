/* Exponents and coefficients of slater_orbitals.c as variational parameters (plugmc/wave.h): included by it.
 *
 * The derivative of an orbital by a coefficient is the function that it stands at, f = N r^(n-1) exp(-zeta r) Y; that by an
 * exponent is the sum over the functions of its shell of c df/dzeta, df/dzeta = ((n + 1/2) / zeta - r) f, as N is proportional to
 * zeta^(n + 1/2) (without the first term where functions have no norm). So derivatives of a determinant by all coefficients of f
 * and of df/dzeta (determinants/orbital_changes.h) are summed. */
#ifndef SLATER_VARIATIONAL_H
#define SLATER_VARIATIONAL_H

#include <complex.h>

#include "../determinants/orbital_changes.h"

enum { OPTIMISE_NO, OPTIMISE_ZETA, OPTIMISE_COEFFICIENTS, OPTIMISE_ALL };

static int64_t count_zeta(const slater_orbitals *p)
{
    return p->optimise == OPTIMISE_ZETA || p->optimise == OPTIMISE_ALL ? p->zeta.count : 0;
}

static int64_t count_coefficients(const slater_orbitals *p)
{
    return p->optimise >= OPTIMISE_COEFFICIENTS ? p->coefficients.count : 0;
}

/* Exponents, then coefficients. */
static int64_t variational_count(const void *instance)
{
    return count_zeta(instance) + count_coefficients(instance);
}

static int variational_number(const void *instance, int64_t k, plugmc_variational_parameter *out)
{
    const int64_t before = count_zeta(instance);
    out->key = k < before ? "zeta" : "coefficients";
    out->place = k < before ? k : k - before;
    return PLUGMC_OK;
}

static int variational_get(const void *instance, double *values)
{
    const slater_orbitals *p = instance;
    for (int64_t k = 0; k < count_zeta(p); k++) *values++ = (double)p->zeta.values[k];
    for (int64_t k = 0; k < count_coefficients(p); k++)
        *values++ = (double)p->coefficients.values[k];
    return PLUGMC_OK;
}

static int variational_set(void *instance, const double *values)
{
    slater_orbitals *p = instance;
    const formulas *f = &p->formulas;
    real *zeta = (real *)p->zeta.values, *coefficients = (real *)p->coefficients.values;
    for (int64_t k = 0; k < count_zeta(p); k++) zeta[k] = (real)*values++;
    for (int64_t k = 0; k < count_coefficients(p); k++) coefficients[k] = (real)*values++;
    fill_orbitals(p);
    return f->host->gpu ? f->host->gpu->upload(f->host->context, f->device_orbitals, f->orbitals,
                                               (size_t)f->count * sizeof *f->orbitals)
                        : PLUGMC_OK;
}

/* Lists of the section that may be written to; after configure. */
static int variational_prepare(slater_orbitals *p, const plugmc_host *host)
{
    plugmc_list *const lists[] = {&p->zeta, &p->coefficients};
    if (p->optimise == OPTIMISE_NO) return PLUGMC_OK;
    if (p->optimise != OPTIMISE_ZETA && !p->coefficients.count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "optimise: there are no coefficients; exponents alone are `zeta`");
    for (int k = 0; k < 2; k++) {
        real *own = host->allocate(host->context, ((size_t)lists[k]->count + 1) * sizeof *own);
        if (!own) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for orbitals");
        for (int32_t i = 0; i < lists[k]->count; i++) own[i] = lists[k]->values[i];
        lists[k]->values = own;
    }
    return orbital_changes_alone(host, "optimise");
}

/* ---- Rows: orbitals, functions, and their derivatives by exponents ---------------------------------- */

/* Value, gradient and Laplacian at r of function k, with norm if there are coefficients, and of its derivative. */
static void function_values(const slater_orbitals *p, int32_t k, const double *r, double f[5],
                            double by_zeta[5])
{
    orbital own = p->functions[k];
    own.coefficient = p->coefficients.count ? norm_of(&own) : 1;
    memset(f, 0, 5 * sizeof *f);
    memset(by_zeta, 0, 5 * sizeof *by_zeta);
    add_function(&own, r, f);
    const double n = own.power + own.l + 1,
                 of_norm = p->coefficients.count ? (n + 0.5) / own.zeta : 0;
    own.power++;
    own.coefficient = -own.coefficient;
    add_function(&own, r, by_zeta);
    for (int e = 0; e < 5; e++) by_zeta[e] += of_norm * f[e];
}

/* Entry `at` of a row, and of rows of derivatives (or NULL). */
static void put_entry(const orbital_changes *s, int64_t at, const double v[5], double *values,
                      double *gradients, double *laplacians)
{
    values[at] = v[0];
    for (int e = 0; e < 3 && gradients; e++) gradients[e * s->pitch + at] = v[1 + e];
    if (laplacians) laplacians[at] = v[4];
}

/* A row of s of an electron at r. */
static void fill_row(const slater_orbitals *p, const orbital_changes *s, const double *r,
                     double *values, double *gradients, double *laplacians)
{
    const int64_t n = s->n, functions = s->v / 2;
    double v[5], by_zeta[5];
    for (int64_t k = 0; k < n; k++) {
        orbital_values(p->formulas.orbitals + k, NULL, r, v);
        put_entry(s, k, v, values, gradients, laplacians);
    }
    for (int64_t k = 0; k < functions; k++) {
        function_values(p, (int32_t)k, r, v, by_zeta);
        put_entry(s, n + k, v, values, gradients, laplacians);
        put_entry(s, n + functions + k, by_zeta, values, gradients, laplacians);
    }
}

static void fill_rows(const slater_orbitals *p, const orbital_changes *s, const double *positions,
                      int derivatives)
{
    for (int64_t e = 0; e < s->n; e++)
        fill_row(p, s, positions + 3 * e, s->values + e * s->pitch,
                 derivatives ? s->gradients + 3 * e * s->pitch : NULL,
                 derivatives ? s->laplacians + e * s->pitch : NULL);
}

/* ---- Derivatives ------------------------------------------------------------------------------------ */

/* Adds to the parameters what belongs to functions [n][2 functions] of the orbitals of a spin. */
static void add_to_parameters(const slater_orbitals *p, const orbital_changes *s, const double *of,
                              double *row)
{
    const int64_t functions = s->v / 2;
    double *coefficients = row + count_zeta(p);
    for (int64_t o = 0; o < s->n; o++, of += s->v) {
        for (int64_t k = 0; k < functions && count_coefficients(p); k++)
            coefficients[o * functions + k] += of[k];
        for (int64_t shell = 0, k = 0; shell < count_zeta(p); shell++)
            for (const int64_t end = k + 2 * momentum_of(p, (int32_t)shell) + 1; k < end; k++) {
                const double c = p->coefficients.count
                                     ? (double)p->coefficients.values[o * functions + k]
                                     : k == o;
                row[shell] += c * of[functions + k];
            }
    }
}

static int64_t electrons_of(const plugmc_host *host, int spin)
{
    const plugmc_system *system = host->system;
    return spin < system->species_count ? plugmc_species_at(system, spin)->count : 0;
}

/* Also room for one row more, and for the numbers of its functions. */
static int changes_make(const slater_orbitals *p, int64_t n, orbital_changes *s, double **work)
{
    const int64_t functions = count_functions(p);
    int code = orbital_changes_make(s, n, 2 * functions, 0);
    *work = code ? NULL : calloc((size_t)(s->pitch + n * s->v), sizeof **work);
    if (!code && !*work) code = PLUGMC_ERROR_MEMORY;
    return code;
}

static int derive_spin(const slater_orbitals *p, orbital_changes *s, double *of,
                       const plugmc_variational_request *q, int32_t walker, int64_t first)
{
    const int64_t particles = p->formulas.host->system->particles;
    fill_rows(p, s, q->view->positions + 3 * ((q->first + walker) * particles + first),
              q->kinetic != NULL);
    const int code = orbital_changes_find(s);
    if (code) return code;
    for (int64_t k = 0; k < s->n * s->v; k++) of[k] = creal(s->ratio[k]);
    if (q->derivatives) add_to_parameters(p, s, of, q->derivatives + walker * q->row);
    if (!q->kinetic) return PLUGMC_OK;
    memset(of, 0, (size_t)(s->n * s->v) * sizeof *of);
    orbital_changes_kinetic(s, q->drift + 3 * (walker * particles + first), of);
    add_to_parameters(p, s, of, q->kinetic + walker * q->row);
    return PLUGMC_OK;
}

static int variational_derivatives(const void *instance, const plugmc_host *host,
                                   const plugmc_variational_request *q)
{
    const slater_orbitals *p = instance;
    int code = PLUGMC_OK;
    for (int spin = 0; spin < 2 && !code; spin++) {
        orbital_changes s = {0};
        double *work = NULL;
        if (!electrons_of(host, spin)) continue;
        code = changes_make(p, electrons_of(host, spin), &s, &work);
        for (int32_t w = 0; w < q->walkers && !code; w++)
            code = derive_spin(p, &s, work + s.pitch, q, w, host->system->first[spin]);
        free(work);
        orbital_changes_free(&s);
    }
    return orbital_changes_report(host, code, "optimise");
}

static int variational_at_points(const void *instance, const plugmc_host *host,
                                 const plugmc_variational_points *q)
{
    const slater_orbitals *p = instance;
    const plugmc_system *system = host->system;
    const int spin = system->species_count > 1 && q->particle >= system->first[1];
    const int64_t first = system->first[spin];
    orbital_changes s = {0};
    double *row = NULL;
    int code = changes_make(p, electrons_of(host, spin), &s, &row);
    if (!code) {
        fill_rows(p, &s, q->view->positions + 3 * (q->walker * system->particles + first), 0);
        code = orbital_changes_find(&s);
    }
    for (int64_t k = 0; k < q->points && !code; k++) {
        double *of = row + s.pitch;
        memset(of, 0, (size_t)(s.n * s.v) * sizeof *of);
        fill_row(p, &s, q->position[k], row, NULL, NULL);
        orbital_changes_there(&s, q->particle - first, row, 1, of);
        add_to_parameters(p, &s, of, q->changes + k * q->row);
    }
    free(row);
    orbital_changes_free(&s);
    return orbital_changes_report(host, code, "optimise");
}

/* Kernels read orbitals from memory that `set` writes, so nothing is compiled again. */
static const char *const variational_tables[] = {NULL};

static const plugmc_variational variational = {.size = sizeof variational,
                                               .count = variational_count,
                                               .number = variational_number,
                                               .get = variational_get,
                                               .set = variational_set,
                                               .derivatives = variational_derivatives,
                                               .at_points = variational_at_points,
                                               .tables = variational_tables,
                                               .on_main_thread = 1};

#endif
