/* density_matrix: the one-body density matrix of each spin in the basis of the orbitals of the wave function,
 *
 *     n_ij = < sum_e phi_j(r_e) / Psi(r_e) integral dr' phi_i(r')^* Psi(r') >,
 *
 * Psi(r') being Psi with electron e at r', averaged over |Psi|^2 (W. L. McMillan, Phys. Rev. 138, A442 (1965)). Eigenvalues
 * are the occupations of natural orbitals. The integral is a sum over a uniform grid in the periodic box that is shifted at
 * random for each walker and sample, which makes it right on average, and exact for plane waves that the grid resolves.
 * Without a Jastrow factor n_ij of occupied orbitals is 1 or 0 in every sample. Real parts are reported.
 *
 * Random numbers: shift = plugmc_draw(seed, sweep, walker, 0, OBSERVABLE, 1). Everything is found on the CPU from positions.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/everything.h>

#include "../determinants/blas.h"
#include "../determinants/slater.h"
#include "../determinants/spin_table.h"
#include "../determinants/wave_function.h"
#include "quantity_axes.h"
#include "bring_to_host.h"

enum { NORM_GRID = 24 }; /* points along each edge, for the norms of orbitals */

typedef struct density_matrix {
    int64_t grid, orbitals; /* parameters */

    const plugmc_host *host;
    wave_function wave;
    int64_t points;    /* of the grid */
    int64_t count[2];  /* orbitals of each spin that are the basis; 0: no electrons */
    double *norm[2];   /* [count] 1 / root of the integral of |phi|^2 */
    double *number;    /* [most count] 1, 2, ... */
    slater spin[2];    /* of one walker */
    double *x, *y, *z; /* [electrons] of it */
    double *at;        /* [points][3] of the grid */
    double *values;    /* [points][numbers] orbitals there */
    double *here;      /* [electrons of both spins][numbers] */
    double *positions; /* from a GPU; NULL: not needed */
} density_matrix;

/* ---- The wave function ------------------------------------------------------------------------- */

static int evaluate(const density_matrix *d, int spin, int64_t n, const double *points,
                    double *values)
{
    const plugmc_host *host = d->host;
    const plugmc_term *term = d->wave.orbitals;
    const plugmc_orbital_request request = {.size = sizeof request,
                                            .species = spin,
                                            .real_size = sizeof(double),
                                            .points = n,
                                            .positions = points,
                                            .pitch = d->wave.pitch,
                                            .values = values};
    const int code = plugmc_orbitals_of(term->plugin)->evaluate(term->instance, &request);
    return code ? host->fail(host->context, code, "potential '%s' could not evaluate its orbitals",
                             term->label)
                : PLUGMC_OK;
}

static double *here_of(const density_matrix *d, int spin)
{
    return d->here + d->host->system->first[spin] * d->wave.numbers;
}

/* Positions r [electrons][3] of a walker, orbitals at them, and determinants. */
static int take_walker(density_matrix *d, int32_t walker, const double *r)
{
    const plugmc_host *host = d->host;
    const plugmc_system *system = host->system;
    int good = 1;
    for (int64_t i = 0; i < system->particles; i++) {
        d->x[i] = r[3 * i];
        d->y[i] = r[3 * i + 1];
        d->z[i] = r[3 * i + 2];
    }
    for (int spin = 0; spin < system->species_count && good; spin++) {
        const int64_t n = plugmc_species_at(system, spin)->count;
        const int code =
            n ? evaluate(d, spin, n, r + 3 * system->first[spin], here_of(d, spin)) : PLUGMC_OK;
        if (code) return code;
        if (n) good = slater_invert(&d->spin[spin], here_of(d, spin), NULL);
    }
    if (good && slater_settle(d->spin)) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_STATE,
                      "the wave function is zero at the electrons of walker %d", walker);
}

/* ---- Measuring ----------------------------------------------------------------------------------- */

static double complex number_at(const density_matrix *d, const double *row, int64_t k)
{
    return d->wave.is_complex ? row[2 * k] + I * row[2 * k + 1] : row[k];
}

/* Points of a grid of n along each edge, by a shift in units of its spacing. */
static void place_grid(const plugmc_box *box, int64_t n, const double shift[3], double *out)
{
    for (int64_t i = 0; i < n * n * n; i++, out += 3) {
        const double f[3] = {((double)(i / (n * n)) + shift[0]) / (double)n,
                             ((double)(i / n % n) + shift[1]) / (double)n,
                             ((double)(i % n) + shift[2]) / (double)n};
        for (int e = 0; e < 3; e++)
            out[e] = f[0] * box->vector[0][e] + f[1] * box->vector[1][e] + f[2] * box->vector[2][e];
        plugmc_wrap(box, out);
    }
}

/* Adds what electron e, number `own` of its spin, has: phi_j there times the integrals of phi_i. */
static void add_electron(density_matrix *d, int spin, int64_t own, double *matrix)
{
    const plugmc_system *system = d->host->system;
    const int64_t n = d->count[spin], e = system->first[spin] + own;
    const double volume = system->box.volume / (double)d->points;
    const double *here = here_of(d, spin) + own * d->wave.numbers;
    for (int64_t k = 0; k < d->points; k++) {
        const double *row = d->values + k * d->wave.numbers;
        const double change =
            wave_function_change(&d->wave, system, d->x, d->y, d->z, e, d->at + 3 * k);
        const double complex q =
            slater_product(&d->spin[spin], own, row) * exp(-0.5 * change) * volume;
        for (int64_t i = 0; i < n; i++) {
            const double complex left = conj(number_at(d, row, i)) * q * d->norm[spin][i];
            for (int64_t j = 0; j < n; j++)
                matrix[i * n + j] += creal(left * number_at(d, here, j)) * d->norm[spin][j];
        }
    }
}

static int measure_walker(density_matrix *d, const plugmc_view *view, int32_t walker,
                          double *values)
{
    const plugmc_system *system = d->host->system;
    const plugmc_random random =
        plugmc_draw(system->seed, view->sweep, (uint32_t)walker, 0, PLUGMC_PURPOSE_OBSERVABLE, 1);
    double shift[3];
    for (int k = 0; k < 3; k++) shift[k] = ((double)random.word[k] + 0.5) * 0x1p-32;
    int code = take_walker(d, walker, view->positions + 3 * walker * system->particles);
    place_grid(&system->box, d->grid, shift, d->at);
    for (int spin = 0; spin < system->species_count && !code; spin++) {
        if (!d->count[spin]) continue;
        code = evaluate(d, spin, d->points, d->at, d->values);
        slater_rows(&d->spin[spin]);
        for (int64_t own = 0; own < plugmc_species_at(system, spin)->count && !code; own++)
            add_electron(d, spin, own, values);
        values += d->count[spin] * d->count[spin];
    }
    return code;
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    density_matrix *d = instance;
    const int64_t width = d->count[0] * d->count[0] + d->count[1] * d->count[1];
    plugmc_view here = {.size = sizeof here};
    d->host = host;
    int code = view->on_device ? bring_to_host(host, view, d->positions, &here) : PLUGMC_OK;
    memset(values, 0, (size_t)(host->system->walkers * width) * sizeof *values);
    for (int32_t w = 0; w < host->system->walkers && !code; w++)
        code = measure_walker(d, view->on_device ? &here : view, w, values + w * width);
    return code;
}

/* ---- Preparation ----------------------------------------------------------------------------------- */

static int no_memory(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the density matrix");
}

/* By a grid that resolves orbitals of solids. */
static int find_norms(density_matrix *d, int spin)
{
    const plugmc_host *host = d->host;
    const plugmc_box *box = &host->system->box;
    static const double shift[3] = {0.31, 0.17, 0.43};
    const int64_t n = d->count[spin], all = NORM_GRID * NORM_GRID * NORM_GRID;
    double *at = malloc(3 * (size_t)all * sizeof *at),
           *values = malloc((size_t)(all * d->wave.numbers) * sizeof *values);
    int code = at && values ? PLUGMC_OK : no_memory(host);
    if (!code) place_grid(box, NORM_GRID, shift, at);
    if (!code) code = evaluate(d, spin, all, at, values);
    for (int64_t i = 0; i < n && !code; i++) {
        double sum = 0;
        for (int64_t k = 0; k < all; k++) {
            const double complex z = number_at(d, values + k * d->wave.numbers, i);
            sum += creal(z) * creal(z) + cimag(z) * cimag(z);
        }
        d->norm[spin][i] = 1 / sqrt(sum * box->volume / (double)all);
    }
    free(at);
    free(values);
    return code;
}

static int take_memory(density_matrix *d)
{
    const plugmc_host *host = d->host;
    const plugmc_system *system = host->system;
    const size_t particles = (size_t)system->particles, row = (size_t)d->wave.numbers,
                 points = (size_t)d->points, most = (size_t)d->wave.pitch;
    double *each = host->allocate(
        host->context,
        (3 * particles + 3 * points + (points + particles) * row + 3 * most) * sizeof *each);
    if (host->gpu)
        d->positions = host->allocate(host->context, 3 * (size_t)system->walkers * particles *
                                                         sizeof *d->positions);
    size_t bytes =
        d->wave.sum ? spin_tables_bytes(d->wave.sum, d->wave.pitch, d->wave.is_complex, 1) : 0;
    for (int s = 0; s < system->species_count && !d->wave.sum; s++)
        if (plugmc_species_at(system, s)->count)
            bytes += slater_bytes(plugmc_species_at(system, s)->count, d->wave.is_complex, 1);
    char *matrices = host->allocate(host->context, bytes);
    if (!each || !matrices || (host->gpu && !d->positions)) return no_memory(host);
    d->x = each;
    d->y = d->x + particles;
    d->z = d->y + particles;
    d->at = d->z + particles;
    d->values = d->at + 3 * points;
    d->here = d->values + points * row;
    d->number = d->here + particles * row;
    for (size_t i = 0; i < most; i++) d->number[i] = (double)(i + 1);
    for (int s = 0; s < 2; s++) d->norm[s] = d->number + (size_t)(s + 1) * most;
    if (d->wave.sum)
        spin_tables_prepare(d->spin, matrices, d->wave.sum, d->wave.pitch, d->wave.is_complex, 1);
    for (int s = 0; s < system->species_count && !d->wave.sum; s++) {
        const int64_t n = plugmc_species_at(system, s)->count;
        if (!n) continue;
        slater_prepare(&d->spin[s], matrices, n, d->wave.pitch, d->wave.is_complex, 1);
        matrices += slater_bytes(n, d->wave.is_complex, 1);
    }
    return PLUGMC_OK;
}

static int choose_basis(density_matrix *d)
{
    const plugmc_host *host = d->host;
    const plugmc_term *term = d->wave.orbitals;
    for (int s = 0; s < host->system->species_count; s++) {
        if (!plugmc_species_at(host->system, s)->count) continue;
        const int64_t all = plugmc_orbitals_of(term->plugin)->count(term->instance, s);
        if (d->orbitals > all)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "orbitals = %lld, but potential '%s' has %lld of species '%s'; its "
                              "key virtual gives more",
                              (long long)d->orbitals, term->label, (long long)all,
                              plugmc_species_at(host->system, s)->name);
        d->count[s] = d->orbitals ? d->orbitals : all;
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    density_matrix *d = instance;
    const plugmc_system *system = host->system;
    d->host = host;
    blas_begin();
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC || system->box.dimension != 3 ||
        system->species_count > 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "it needs electrons with one or two species, one for each spin, in a "
                          "periodic box in three dimensions");
    d->points = d->grid * d->grid * d->grid;
    int code = slater_find_orbitals(host, &d->wave.orbitals);
    if (!code) code = wave_function_measures(&d->wave, host);
    if (!code) code = wave_function_terms(&d->wave, host);
    if (!code) code = wave_function_electrons(&d->wave, host);
    if (!code) code = choose_basis(d);
    if (!code) code = take_memory(d);
    for (int s = 0; s < 2 && !code; s++)
        if (d->count[s]) code = find_norms(d, s);
    return code;
}

/* ---- The descriptor --------------------------------------------------------------------------------- */

static const plugmc_listing listing[] = {
    {"<species>", "", "one-body density matrix of this species, real part", 1, 0},
};

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const density_matrix *d = instance;
    int spin = 0;
    while (spin < 2 && (!d->count[spin] || index > 0)) index -= d->count[spin++] > 0;
    if (spin == 2) return 0;
    plugmc_scalar(out, plugmc_species_at(d->host->system, spin)->name, "", listing[0].doc);
    put_axes(out, 2, (const int64_t[]){d->count[spin], d->count[spin]},
             (const char *const[]){"i", "j"}, (const double *const[]){d->number, d->number});
    return 1;
}

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(density_matrix, grid, "6", 2, 64, "",
                       "points of the grid of the integral along each edge of the box"),
    PLUGMC_INTEGER_KEY(
        density_matrix, orbitals, "0", 0, 4096, "",
        "number of orbitals of each spin that are the basis, occupied ones first; 0: "
        "all that the potential gives, with those of its key virtual"),
};

PLUGMC_PLUGIN(.name = "density_matrix",
              .summary = "one-body density matrix of electrons in the basis of their orbitals",
              .reference = "McMillan, Phys. Rev. 138, A442 (1965)",
              PLUGMC_KEYS(density_matrix, table),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .listing = listing, .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_WALKER_WEIGHT),
              .prepare = prepare)
