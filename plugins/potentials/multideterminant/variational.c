/* Coefficients of determinants as variational parameters (plugmc/wave.h). With D_k the products of determinants and Phi
 * their sum, O_k = Re D_k / Phi, and with a = grad Phi / Phi and b_i = Re a_i - drift_i, half the gradient of the energy
 * of the other factors,
 *
 *     -1/2 lap O_k - drift . grad O_k = Re [h_k - (D_k / Phi) sum_j c_j h_j],
 *     h_k = sum_i (-1/2 lap_i D_k + b_i . grad_i D_k) / Phi.
 *
 * For one spin h_k is the sum over its electrons of determinants in which the orbitals of one electron are replaced by a
 * vector: spin_table_along. The coefficient of the first term is fixed, as the norm of Psi does not matter. */
#include "multideterminant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../determinants/complex_numbers.h"
#include "../../determinants/spin_table.h"

enum { GROUP_BYTES = 32 << 20 }; /* of orbitals of walkers that are evaluated together */

static int64_t count(const void *instance)
{
    return ((const multideterminant *)instance)->list.terms - 1;
}

static int number(const void *instance, int64_t k, plugmc_variational_parameter *out)
{
    (void)instance;
    out->key = "coefficients";
    out->place = k;
    return PLUGMC_OK;
}

static int get_values(const void *instance, double *values)
{
    const multideterminant *m = instance;
    memcpy(values, m->list.coefficients + 1, (size_t)count(m) * sizeof *values);
    return PLUGMC_OK;
}

static int set_values(void *instance, const double *values)
{
    multideterminant *m = instance;
    for (int64_t k = 0; k < count(m); k++) {
        m->list.coefficients[k + 1] = values[k];
        m->values[k + 1] = values[k] * m->list.sign[k + 1];
    }
    return PLUGMC_OK;
}

/* ---- A walker --------------------------------------------------------------------------------------- */

/* Both spins, the ratios to their references of each determinant and of its derivative, and work. */
typedef struct wave {
    const multideterminant *m;
    slater spin[2];
    void *tables;
    double *along[2]; /* [determinants] */
    double *vectors;  /* [electrons of a spin][pitch] */
    double *work;
    double complex over; /* 1 / S */
} wave;

static int64_t numbers(const multideterminant *m, int64_t n) { return m->is_complex ? 2 * n : n; }

static int64_t electrons_of(const multideterminant *m, int spin)
{
    return m->expansion.spin[spin].electrons;
}

static int64_t most_electrons(const multideterminant *m)
{
    const int64_t up = electrons_of(m, 0), down = electrons_of(m, 1);
    return up > down ? up : down;
}

static double complex number_at(const multideterminant *m, const double *from, int64_t k)
{
    return m->is_complex ? from[2 * k] + I * from[2 * k + 1] : from[k];
}

static void wave_free(wave *w)
{
    free(w->tables);
    free(w->along[0]);
}

static int wave_make(const multideterminant *m, wave *w)
{
    const expansion *e = &m->expansion;
    const int64_t determinants = (int64_t)e->spin[0].determinants + e->spin[1].determinants,
                  most = most_electrons(m), orbitals = m->pitch,
                  all = numbers(m, determinants + most * orbitals + 2 * most * orbitals);
    *w = (wave){.m = m,
                .tables = aligned_alloc(64, spin_tables_bytes(e, m->pitch, m->is_complex, 1))};
    w->along[0] = calloc((size_t)all, sizeof(double));
    if (!w->tables || !w->along[0]) {
        wave_free(w);
        *w = (wave){0};
        return PLUGMC_ERROR_MEMORY;
    }
    w->along[1] = w->along[0] + numbers(m, e->spin[0].determinants);
    w->vectors = w->along[0] + numbers(m, determinants);
    w->work = w->vectors + numbers(m, most * orbitals);
    spin_tables_prepare(w->spin, w->tables, e, m->pitch, m->is_complex, 1);
    return PLUGMC_OK;
}

/* Determinants of a spin from values [electrons][pitch]. */
static int take_spin(wave *w, int spin, const double *values)
{
    return slater_invert(&w->spin[spin], values, NULL) ? PLUGMC_OK : PLUGMC_ERROR_STATE;
}

/* After both spins. */
static int settle(wave *w)
{
    if (!slater_settle(w->spin)) return PLUGMC_ERROR_STATE;
    w->over = 1 / spin_table_sum(w->spin[0].sum);
    return PLUGMC_OK;
}

/* Adds factor times Re of (of up in term k) x (of down in term k) / S to row [terms - 1], for numbers of each spin's
 * determinants. */
static void add_terms(const wave *w, const double *up, const double *down, double complex factor,
                      double *row)
{
    const multideterminant *m = w->m;
    const expansion *e = &m->expansion;
    for (int64_t k = 1; k < e->terms; k++)
        row[k - 1] += m->list.sign[k] * creal(factor * w->over * number_at(m, up, e->of[0][k]) *
                                              number_at(m, down, e->of[1][k]));
}

/* sum_k c_k (of up) (of down) / S. */
static double complex mean_of(const wave *w, const double *up, const double *down)
{
    const expansion *e = &w->m->expansion;
    double complex sum = 0;
    for (int64_t k = 0; k < e->terms; k++)
        sum += CMPLX(e->coefficients[k], e->imaginary ? e->imaginary[k] : 0) *
               number_at(w->m, up, e->of[0][k]) * number_at(w->m, down, e->of[1][k]);
    return sum * w->over;
}

static const double *minors_of(const wave *w, int spin) { return w->spin[spin].sum->minors; }

/* -1/2 lap + b . grad of the orbitals of a spin's electrons, to w->vectors; drift [electrons][3] of the spin. */
static void make_vectors(wave *w, int spin, const double *gradients, const double *laplacians,
                         const double *drift)
{
    const int64_t row = numbers(w->m, w->m->pitch);
    for (int64_t e = 0; e < electrons_of(w->m, spin); e++) {
        double *to = w->vectors + e * row;
        for (int64_t o = 0; o < row; o++) to[o] = -0.5 * laplacians[e * row + o];
        for (int d = 0; d < 3; d++) {
            const double *slope = gradients + (3 * e + d) * row,
                         b = creal(slater_product(&w->spin[spin], e, slope)) - drift[3 * e + d];
            for (int64_t o = 0; o < row; o++) to[o] += b * slope[o];
        }
    }
}

/* Orbitals of all electrons of a group of walkers, of both spins. */
typedef struct group_orbitals {
    double *memory, *points, *values[2], *gradients[2], *laplacians[2];
} group_orbitals;

static void derive_walker(wave *w, const plugmc_variational_request *q, int32_t walker,
                          const group_orbitals *g, int32_t place, int *code)
{
    const multideterminant *m = w->m;
    const int64_t row = numbers(m, m->pitch), up = electrons_of(m, 0);
    for (int spin = 0; spin < 2 && !*code; spin++)
        if (electrons_of(m, spin))
            *code = take_spin(w, spin, g->values[spin] + place * electrons_of(m, spin) * row);
    if (!*code) *code = settle(w);
    if (*code) return;
    const double *d[2] = {minors_of(w, 0), minors_of(w, 1)};
    if (q->derivatives) add_terms(w, d[0], d[1], 1, q->derivatives + walker * q->row);
    if (!q->kinetic) return;
    for (int spin = 0; spin < 2; spin++) {
        const int64_t first = place * electrons_of(m, spin);
        if (!electrons_of(m, spin)) continue;
        make_vectors(w, spin, g->gradients[spin] + 3 * first * row,
                     g->laplacians[spin] + first * row,
                     q->drift + 3 * (walker * m->host->system->particles + (spin ? up : 0)));
        spin_table_along(w->spin[spin].sum, w->vectors, w->work, w->along[spin]);
    }
    double *kinetic = q->kinetic + walker * q->row;
    double complex mean = 0;
    if (up) {
        add_terms(w, w->along[0], d[1], 1, kinetic);
        mean += mean_of(w, w->along[0], d[1]);
    }
    if (electrons_of(m, 1)) {
        add_terms(w, d[0], w->along[1], 1, kinetic);
        mean += mean_of(w, d[0], w->along[1]);
    }
    add_terms(w, d[0], d[1], -mean, kinetic);
}

/* ---- Requests ----------------------------------------------------------------------------------------- */

static int evaluate(const multideterminant *m, int spin, int64_t points, const double *positions,
                    double *values, double *gradients, double *laplacians)
{
    const plugmc_orbital_request request = {.size = sizeof request,
                                            .species = spin,
                                            .real_size = sizeof(double),
                                            .points = points,
                                            .positions = positions,
                                            .pitch = m->pitch,
                                            .values = values,
                                            .gradients = gradients,
                                            .laplacians = laplacians};
    return plugmc_orbitals_of(m->orbitals->plugin)->evaluate(m->orbitals->instance, &request);
}

static int make_group(const multideterminant *m, int64_t walkers, int derivatives,
                      group_orbitals *g)
{
    const int64_t row = numbers(m, m->pitch), arrays = derivatives ? 5 : 1,
                  particles = m->host->system->particles;
    *g = (group_orbitals){
        .memory = calloc((size_t)(walkers * particles * (3 + arrays * row)) + 1, sizeof(double))};
    double *next = g->points = g->memory;
    if (!next) return PLUGMC_ERROR_MEMORY;
    next += 3 * walkers * particles;
    for (int spin = 0; spin < 2; spin++) {
        const int64_t n = walkers * electrons_of(m, spin) * row;
        g->values[spin] = next;
        g->gradients[spin] = derivatives ? next + n : NULL;
        g->laplacians[spin] = derivatives ? next + 4 * n : NULL;
        next += arrays * n;
    }
    return PLUGMC_OK;
}

/* Orbitals of walkers first ... first + n - 1 of a view. */
static int fill_group(const multideterminant *m, const plugmc_view *view, int32_t first, int32_t n,
                      const group_orbitals *g)
{
    const plugmc_system *system = m->host->system;
    int code = PLUGMC_OK;
    for (int spin = 0; spin < system->species_count && !code; spin++) {
        const int64_t electrons = electrons_of(m, spin);
        for (int32_t k = 0; k < n; k++)
            memcpy(g->points + 3 * k * electrons,
                   view->positions + 3 * ((first + k) * system->particles + system->first[spin]),
                   3 * (size_t)electrons * sizeof *g->points);
        if (electrons)
            code = evaluate(m, spin, n * electrons, g->points, g->values[spin], g->gradients[spin],
                            g->laplacians[spin]);
    }
    return code;
}

/* Walkers of a group, each with tables of its own. */
static int derive_group(const multideterminant *m, const plugmc_variational_request *q,
                        int32_t first, int32_t n, const group_orbitals *g)
{
    const int threads = m->host->system->threads > 0 ? m->host->system->threads : 1;
    int failed = fill_group(m, q->view, q->first + first, n, g);
    if (failed) return failed;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        wave w;
        int code = wave_make(m, &w);
#pragma omp for schedule(dynamic)
        for (int32_t k = 0; k < n; k++)
            if (!code) derive_walker(&w, q, first + k, g, k, &code);
        if (code)
#pragma omp atomic write
            failed = code;
        wave_free(&w);
    }
    return failed;
}

static int report(const plugmc_host *host, int code)
{
    if (code == PLUGMC_ERROR_MEMORY)
        return host->fail(host->context, code, "no memory for derivatives by the coefficients");
    if (code == PLUGMC_ERROR_STATE)
        return host->fail(host->context, code,
                          "the sum of determinants is zero at a sampled configuration");
    return code;
}

/* From the main thread, for all walkers of the request. */
static int derivatives(const void *instance, const plugmc_host *host,
                       const plugmc_variational_request *q)
{
    const multideterminant *m = instance;
    const int64_t each =
        5 * host->system->particles * numbers(m, m->pitch) * (int64_t)sizeof(double);
    const int32_t fits = each < GROUP_BYTES ? (int32_t)(GROUP_BYTES / each) : 1,
                  together = fits < q->walkers ? fits : q->walkers;
    group_orbitals g;
    int code = make_group(m, together, q->kinetic != NULL, &g);
    for (int32_t first = 0; first < q->walkers && !code; first += together) {
        const int32_t left = q->walkers - first;
        code = derive_group(m, q, first, left < together ? left : together, &g);
    }
    free(g.memory);
    return report(host, code);
}

/* Re (q (D_k / Phi there - D_k / Phi)) / Re q, with electron `own` of a spin where its orbitals are `values` and Psi is q
 * times what it was, added to row. */
static void add_change(wave *w, int spin, int64_t own, const double *values, double complex phase,
                       double *row)
{
    const multideterminant *m = w->m;
    const int64_t length = numbers(m, m->pitch);
    const double *d[2] = {minors_of(w, 0), minors_of(w, 1)};
    memset(w->vectors, 0, (size_t)(electrons_of(m, spin) * length) * sizeof *w->vectors);
    memcpy(w->vectors + own * length, values, (size_t)length * sizeof *values);
    spin_table_along(w->spin[spin].sum, w->vectors, w->work, w->along[spin]);
    const double *there[2] = {spin == 0 ? w->along[0] : d[0], spin == 1 ? w->along[1] : d[1]};
    const double complex q = phase * mean_of(w, there[0], there[1]);
    if (creal(q) == 0) return; /* what it is multiplied by is 0, too */
    add_terms(w, there[0], there[1], phase / creal(q), row);
    add_terms(w, d[0], d[1], -q / creal(q), row);
}

static int at_points(const void *instance, const plugmc_host *host,
                     const plugmc_variational_points *q)
{
    const multideterminant *m = instance;
    const plugmc_system *system = host->system;
    const int spin = system->species_count > 1 && q->particle >= system->first[1];
    const int64_t row = numbers(m, m->pitch);
    group_orbitals g = {0};
    wave w = {0};
    double *values = calloc((size_t)(q->points * row) + 1, sizeof *values);
    int code = values ? wave_make(m, &w) : PLUGMC_ERROR_MEMORY;
    if (!code) code = make_group(m, 1, 0, &g);
    if (!code) code = fill_group(m, q->view, q->walker, 1, &g);
    for (int k = 0; k < 2 && !code; k++)
        if (electrons_of(m, k)) code = take_spin(&w, k, g.values[k]);
    if (!code) code = settle(&w);
    if (!code) code = evaluate(m, spin, q->points, &q->position[0][0], values, NULL, NULL);
    for (int64_t i = 0; i < q->points && !code; i++)
        add_change(&w, spin, q->particle - system->first[spin], values + i * row,
                   PLUGMC_HAS(q, phases) && q->phases ? q->phases[i][0] + I * q->phases[i][1] : 1,
                   q->changes + i * q->row);
    free(values);
    free(g.memory);
    wave_free(&w);
    return report(host, code);
}

/* Kernels read coefficients from memory that movers fill, so nothing is compiled again when they change. */
static const char *const tables[] = {NULL};

const plugmc_variational multideterminant_variational = {.size =
                                                             sizeof multideterminant_variational,
                                                         .count = count,
                                                         .number = number,
                                                         .get = get_values,
                                                         .set = set_values,
                                                         .derivatives = derivatives,
                                                         .at_points = at_points,
                                                         .keys_before_files = 1,
                                                         .tables = tables,
                                                         .on_main_thread = 1};
