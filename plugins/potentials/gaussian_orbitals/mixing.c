/* Orbitals that are mixed, and derivatives by their coefficients (mixing.h). With A[e][o] the occupied orbitals at the
 * electrons of a spin, B[e][a] the others and M the transposed inverse of A, the logarithm of a determinant has the
 * derivatives
 *
 *     D_ia = R_ia,    R_ia = sum_e M[e][i] B[e][a],
 *
 * the ratio of the determinant in which a stands for i. With operators h_e = -1/2 lap_e + b_e . grad_e on each electron (b_e:
 * half of the gradient of the energy of the other factors of Psi) and W_ip = sum_e M[e][i] h_e psi_p(r_e), the derivative of
 * the determinant A + eps h A by eps gives
 *
 *     -1/2 lap O_ia - drift . grad O_ia = Re (W_ia - sum_p W_ip R_pa),    p occupied,
 *
 * and where electron e goes to where orbitals are u, q_e being the ratio of the determinants, R_ia changes by
 *
 *     M[e][i] (u_a - sum_p u_p R_pa) / q_e.
 *
 * O are real parts. */
#include "mixing.h"

#include <stdlib.h>
#include <string.h>

#include "../../determinants/expansion.h"
#include "../../determinants/slater.h"

/* ---- Which there are --------------------------------------------------------------------------- */

static int64_t count_of(const gaussian_orbitals *g, int spin)
{
    return g->keys.mixing.count ? (int64_t)g->electrons[spin] * g->keys.beyond : 0;
}

static int64_t count(const void *instance) { return count_of(instance, 0) + count_of(instance, 1); }

static int number(const void *instance, int64_t k, plugmc_variational_parameter *out)
{
    (void)instance;
    out->key = "mixing";
    out->place = k;
    return PLUGMC_OK;
}

static int get_values(const void *instance, double *values)
{
    const gaussian_orbitals *g = instance;
    for (int64_t k = 0; k < count(g); k++) values[k] = g->mixing[k];
    return PLUGMC_OK;
}

static int set_values(void *instance, const double *values)
{
    gaussian_orbitals *g = instance;
    for (int64_t k = 0; k < count(g); k++) g->mixing[k] = values[k];
    gaussian_fill_coefficients(g);
    return PLUGMC_OK;
}

int mixing_check(const gaussian_orbitals *g)
{
    const plugmc_host *host = g->host;
    if (!g->keys.mixing.count) return PLUGMC_OK;
    if (!g->keys.beyond)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "mixing: there are no orbitals to mix in; their number is `virtual`");
    if (g->keys.mixing.count != count(g))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "mixing has %d numbers: give %lld, %lld for each occupied orbital of "
                          "spin up, then of spin down",
                          g->keys.mixing.count, (long long)count(g), (long long)g->keys.beyond);
    return PLUGMC_OK;
}

int mixing_prepare(gaussian_orbitals *g)
{
    const plugmc_host *host = g->host;
    const plugmc_system *system = host->system;
    if (!g->keys.mixing.count) return PLUGMC_OK;
    for (int32_t t = 0; t < system->term_count; t++)
        if (plugmc_offered(plugmc_term_at(system, t)->plugin, PLUGMC_EXPANSION))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "mixing goes with one determinant a spin, and not with potential "
                              "'%s'",
                              plugmc_term_at(system, t)->label);
    if (g->keys.cusp == CUSP_YES)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "mixing goes with cusp = no: functions at nuclei belong to orbitals as "
                          "they are");
    g->keys.cusp = CUSP_NO;
    g->mixing = host->allocate(host->context, (size_t)count(g) * sizeof *g->mixing);
    if (!g->mixing) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for mixing");
    for (int64_t k = 0; k < count(g); k++) g->mixing[k] = (double)g->keys.mixing.values[k];
    return PLUGMC_OK;
}

void mixing_add(const gaussian_orbitals *g, int spin, double *coefficients)
{
    const int64_t n = g->electrons[spin], v = g->keys.beyond, pitch = g->spin[spin].pitch;
    const int parts = g->tables.parts;
    if (!count_of(g, spin)) return;
    const double *t = g->mixing + (spin ? count_of(g, 0) : 0);
    for (int32_t row = 0; row < g->rows; row++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t a = 0; a < v; a++)
                for (int c = 0; c < parts; c++)
                    coefficients[row * pitch + i * parts + c] +=
                        t[i * v + a] * coefficients[row * pitch + (n + a) * parts + c];
}

/* ---- A determinant ------------------------------------------------------------------------------ */

/* One spin of a walker. Complex numbers in any case: they are few. */
typedef struct one_spin {
    const gaussian_orbitals *g;
    int spin, is_complex;
    int64_t n, v, pitch;
    slater det;
    void *memory;
    double *values, *gradients, *laplacians; /* [n][pitch], [n][3][pitch], [n][pitch] */
    double complex *ratio, *w;               /* R [n][v], W [n][n + v] */
} one_spin;

static double complex at(const one_spin *s, const double *from, int64_t k)
{
    return s->is_complex ? from[2 * k] + I * from[2 * k + 1] : from[k];
}

static const double *row_of(const one_spin *s, const double *from, int64_t row)
{
    return from + row * s->pitch * (s->is_complex ? 2 : 1);
}

static double complex inverse_at(const one_spin *s, int64_t e, int64_t o)
{
    return at(s, s->det.inverse, e * s->n + o);
}

static void one_spin_free(one_spin *s)
{
    free(s->memory);
    free(s->values);
    free(s->ratio);
}

static int one_spin_make(const gaussian_orbitals *g, int spin, one_spin *s)
{
    const int64_t n = g->electrons[spin], v = g->keys.beyond, pitch = n + v;
    *s = (one_spin){
        .g = g, .spin = spin, .is_complex = g->tables.parts == 2, .n = n, .v = v, .pitch = pitch};
    const size_t reals = (size_t)(n * pitch * g->tables.parts);
    s->memory = aligned_alloc(64, slater_bytes(n, s->is_complex, 1));
    s->values = calloc(5 * reals, sizeof *s->values);
    s->ratio = calloc((size_t)(n * v + n * pitch), sizeof *s->ratio);
    if (!s->memory || !s->values || !s->ratio) {
        one_spin_free(s);
        *s = (one_spin){0};
        return PLUGMC_ERROR_MEMORY;
    }
    s->gradients = s->values + reals;
    s->laplacians = s->values + 4 * reals;
    s->w = s->ratio + n * v;
    slater_prepare(&s->det, s->memory, n, pitch, s->is_complex, 1);
    return PLUGMC_OK;
}

static void evaluate(const one_spin *s, int64_t points, const double *positions, double *values,
                     double *gradients, double *laplacians)
{
    const plugmc_orbital_request request = {.size = sizeof request,
                                            .species = s->spin,
                                            .real_size = sizeof(double),
                                            .points = points,
                                            .positions = positions,
                                            .pitch = s->pitch,
                                            .values = values,
                                            .gradients = gradients,
                                            .laplacians = laplacians};
    gaussian_on_host(s->g, &request);
}

/* M and R of electrons at positions [n][3]. */
static int find_ratios(one_spin *s, const double *positions, int derivatives)
{
    evaluate(s, s->n, positions, s->values, derivatives ? s->gradients : NULL,
             derivatives ? s->laplacians : NULL);
    if (!slater_invert(&s->det, s->values, NULL)) return PLUGMC_ERROR_STATE;
    memset(s->ratio, 0, (size_t)(s->n * s->v) * sizeof *s->ratio);
    for (int64_t e = 0; e < s->n; e++)
        for (int64_t i = 0; i < s->n; i++)
            for (int64_t a = 0; a < s->v; a++)
                s->ratio[i * s->v + a] +=
                    inverse_at(s, e, i) * at(s, row_of(s, s->values, e), s->n + a);
    return PLUGMC_OK;
}

/* sum_o M[e][o] of the occupied ones of a row of numbers. */
static double complex with_row(const one_spin *s, int64_t e, const double *row)
{
    double complex sum = 0;
    for (int64_t o = 0; o < s->n; o++) sum += inverse_at(s, e, o) * at(s, row, o);
    return sum;
}

/* W; drift [n][3] of this spin's electrons. */
static void find_w(one_spin *s, const double *drift)
{
    memset(s->w, 0, (size_t)(s->n * s->pitch) * sizeof *s->w);
    for (int64_t e = 0; e < s->n; e++) {
        double b[3];
        for (int d = 0; d < 3; d++)
            b[d] = creal(with_row(s, e, row_of(s, s->gradients, 3 * e + d))) - drift[3 * e + d];
        for (int64_t p = 0; p < s->pitch; p++) {
            double complex h = -0.5 * at(s, row_of(s, s->laplacians, e), p);
            for (int d = 0; d < 3; d++) h += b[d] * at(s, row_of(s, s->gradients, 3 * e + d), p);
            for (int64_t i = 0; i < s->n; i++) s->w[i * s->pitch + p] += inverse_at(s, e, i) * h;
        }
    }
}

static void add_kinetic(const one_spin *s, double *row)
{
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t a = 0; a < s->v; a++) {
            double complex sum = s->w[i * s->pitch + s->n + a];
            for (int64_t p = 0; p < s->n; p++)
                sum -= s->w[i * s->pitch + p] * s->ratio[p * s->v + a];
            row[i * s->v + a] += creal(sum);
        }
}

/* ---- Requests ------------------------------------------------------------------------------------ */

static int report(const plugmc_host *host, int code)
{
    if (code == PLUGMC_ERROR_MEMORY)
        return host->fail(host->context, code, "no memory for derivatives by `mixing`");
    if (code == PLUGMC_ERROR_STATE)
        return host->fail(host->context, code, "a determinant is zero at a sampled configuration");
    return code;
}

static int derive_spin(one_spin *s, const plugmc_variational_request *q, int32_t walker,
                       int64_t first)
{
    const plugmc_system *system = s->g->host->system;
    const int64_t at_first = system->first[s->spin];
    const double *x = q->view->positions + 3 * ((q->first + walker) * system->particles + at_first);
    const int code = find_ratios(s, x, q->kinetic != NULL);
    if (code) return code;
    if (q->derivatives)
        for (int64_t k = 0; k < s->n * s->v; k++)
            q->derivatives[walker * q->row + first + k] += creal(s->ratio[k]);
    if (!q->kinetic) return PLUGMC_OK;
    find_w(s, q->drift + 3 * (walker * system->particles + at_first));
    add_kinetic(s, q->kinetic + walker * q->row + first);
    return PLUGMC_OK;
}

static int derivatives(const void *instance, const plugmc_host *host,
                       const plugmc_variational_request *q)
{
    const gaussian_orbitals *g = instance;
    int code = PLUGMC_OK;
    for (int spin = 0; spin < 2 && !code; spin++) {
        one_spin s = {0};
        if (!count_of(g, spin)) continue;
        code = one_spin_make(g, spin, &s);
        for (int32_t w = 0; w < q->walkers && !code; w++)
            code = derive_spin(&s, q, w, spin ? count_of(g, 0) : 0);
        one_spin_free(&s);
    }
    return report(host, code);
}

/* Re (q (R there - R)) / Re q at each point, of electron `own` of the spin; values [points][pitch]. */
static void add_changes(const one_spin *s, const plugmc_variational_points *q, int64_t own,
                        const double *values, int64_t first)
{
    for (int64_t k = 0; k < q->points; k++) {
        const double *u = row_of(s, values, k);
        const double complex phase =
            PLUGMC_HAS(q, phases) && q->phases ? q->phases[k][0] + I * q->phases[k][1] : 1;
        const double over = creal(phase * with_row(s, own, u));
        if (over == 0) continue; /* what it is multiplied by is 0, too */
        for (int64_t a = 0; a < s->v; a++) {
            double complex rest = at(s, u, s->n + a);
            for (int64_t p = 0; p < s->n; p++) rest -= at(s, u, p) * s->ratio[p * s->v + a];
            for (int64_t i = 0; i < s->n; i++)
                q->changes[k * q->row + first + i * s->v + a] +=
                    creal(phase * inverse_at(s, own, i) * rest) / over;
        }
    }
}

static int at_points(const void *instance, const plugmc_host *host,
                     const plugmc_variational_points *q)
{
    const gaussian_orbitals *g = instance;
    const plugmc_system *system = host->system;
    const int spin = system->species_count > 1 && q->particle >= system->first[1];
    one_spin s = {0};
    if (!count_of(g, spin)) return PLUGMC_OK;
    int code = one_spin_make(g, spin, &s);
    double *values = calloc((size_t)(q->points * s.pitch * g->tables.parts) + 1, sizeof *values);
    if (!code && !values) code = PLUGMC_ERROR_MEMORY;
    if (!code)
        code = find_ratios(
            &s, q->view->positions + 3 * (q->walker * system->particles + system->first[spin]), 0);
    if (!code) {
        evaluate(&s, q->points, &q->position[0][0], values, NULL, NULL);
        add_changes(&s, q, q->particle - system->first[spin], values, spin ? count_of(g, 0) : 0);
    }
    free(values);
    one_spin_free(&s);
    return report(host, code);
}

const plugmc_variational mixing_variational = {.size = sizeof mixing_variational,
                                               .count = count,
                                               .number = number,
                                               .get = get_values,
                                               .set = set_values,
                                               .derivatives = derivatives,
                                               .at_points = at_points,
                                               .keys_before_files = 1,
                                               .on_main_thread = 1};
