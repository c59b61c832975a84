/* Orbitals that are mixed, and derivatives by their coefficients (mixing.h): functions that are added to the occupied orbitals
 * are the `virtual` ones (determinants/orbital_changes.h). */
#include "mixing.h"

#include <stdlib.h>
#include <string.h>

#include "../../determinants/orbital_changes.h"

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
    if (!g->keys.mixing.count) return PLUGMC_OK;
    const int code = orbital_changes_alone(host, "mixing");
    if (code) return code;
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

/* ---- Derivatives --------------------------------------------------------------------------------- */

static int one_spin_make(const gaussian_orbitals *g, int spin, orbital_changes *s)
{
    return orbital_changes_make(s, g->electrons[spin], g->keys.beyond, g->tables.parts == 2);
}

static void evaluate(const gaussian_orbitals *g, int spin, const orbital_changes *s, int64_t points,
                     const double *positions, double *values, double *gradients, double *laplacians)
{
    const plugmc_orbital_request request = {.size = sizeof request,
                                            .species = spin,
                                            .real_size = sizeof(double),
                                            .points = points,
                                            .positions = positions,
                                            .pitch = s->pitch,
                                            .values = values,
                                            .gradients = gradients,
                                            .laplacians = laplacians};
    gaussian_on_host(g, &request);
}

static int derive_spin(const gaussian_orbitals *g, int spin, orbital_changes *s,
                       const plugmc_variational_request *q, int32_t walker)
{
    const plugmc_system *system = g->host->system;
    const int64_t at_first = system->first[spin], first = spin ? count_of(g, 0) : 0;
    const double *x = q->view->positions + 3 * ((q->first + walker) * system->particles + at_first);
    evaluate(g, spin, s, s->n, x, s->values, q->kinetic ? s->gradients : NULL,
             q->kinetic ? s->laplacians : NULL);
    const int code = orbital_changes_find(s);
    if (code) return code;
    for (int64_t k = 0; k < s->n * s->v && q->derivatives; k++)
        q->derivatives[walker * q->row + first + k] += creal(s->ratio[k]);
    if (q->kinetic)
        orbital_changes_kinetic(s, q->drift + 3 * (walker * system->particles + at_first),
                                q->kinetic + walker * q->row + first);
    return PLUGMC_OK;
}

static int derivatives(const void *instance, const plugmc_host *host,
                       const plugmc_variational_request *q)
{
    const gaussian_orbitals *g = instance;
    int code = PLUGMC_OK;
    for (int spin = 0; spin < 2 && !code; spin++) {
        orbital_changes s = {0};
        if (!count_of(g, spin)) continue;
        code = one_spin_make(g, spin, &s);
        for (int32_t w = 0; w < q->walkers && !code; w++) code = derive_spin(g, spin, &s, q, w);
        orbital_changes_free(&s);
    }
    return orbital_changes_report(host, code, "mixing");
}

static int at_points(const void *instance, const plugmc_host *host,
                     const plugmc_variational_points *q)
{
    const gaussian_orbitals *g = instance;
    const plugmc_system *system = host->system;
    const int spin = system->species_count > 1 && q->particle >= system->first[1];
    orbital_changes s = {0};
    if (!count_of(g, spin)) return PLUGMC_OK;
    int code = one_spin_make(g, spin, &s);
    const int64_t row = s.pitch * g->tables.parts;
    double *values = calloc((size_t)(q->points * row) + 1, sizeof *values);
    if (!code && !values) code = PLUGMC_ERROR_MEMORY;
    if (!code) {
        const int64_t at_first = q->walker * system->particles + system->first[spin];
        evaluate(g, spin, &s, s.n, q->view->positions + 3 * at_first, s.values, NULL, NULL);
        code = orbital_changes_find(&s);
    }
    if (!code) evaluate(g, spin, &s, q->points, &q->position[0][0], values, NULL, NULL);
    for (int64_t k = 0; k < q->points && !code; k++)
        orbital_changes_there(
            &s, q->particle - system->first[spin], values + k * row,
            PLUGMC_HAS(q, phases) && q->phases ? q->phases[k][0] + I * q->phases[k][1] : 1,
            q->changes + k * q->row + (spin ? count_of(g, 0) : 0));
    free(values);
    orbital_changes_free(&s);
    return orbital_changes_report(host, code, "mixing");
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
