/* energy_density: where in space the energy of electrons and ions is.
 *
 * The local energy of a configuration is dealt out to its particles: a kinetic energy -1/2 (laplace_i Psi) / Psi belongs to
 * electron i, half of an interaction to each of the two that interact (of a pseudopotential, the electron and the ion). What
 * is reported is the mean energy of the particles in each of several cells, in Hartree, so that the sum over all cells is the
 * energy, and how many electrons are there. This division is a convention: the energy density of a quantum system is
 * unique only up to a divergence (J. T. Krogel, M. Yu, J. Kim, D. M. Ceperley, Phys. Rev. B 88, 035137 (2013)).
 *
 * Cells are those of a grid over the box, or of each ion what is nearer to it than to others (Voronoi cells; with the nearest
 * images in a periodic box). Energies come from the plugin that computes local energies, on the CPU.
 */
#include <math.h>
#include <string.h>

#include <plugmc/everything.h>

#include "quantity_axes.h"
#include "bring_to_host.h"

enum { GRID, VORONOI };

typedef struct energy_density {
    int32_t cells; /* parameters */
    plugmc_list grid, corner;

    plugmc_ions ions;
    int64_t count[3], all; /* cells along each vector of the grid, and in all */
    double *middle[3];     /* [count] of the cells along each vector, as a fraction of it */
    double *number;        /* [all] 1, 2, ... of the ions */
    double *shares;        /* [walkers][particles + ions][2] */
    double *positions;     /* from a GPU; NULL: not needed */
    double origin[3];      /* corner of the grid, length */
    double inverse[3][3];  /* fractions of the grid's vectors are (r - origin) . inverse */
    int32_t periodic;
} energy_density;

/* ---- Cells ------------------------------------------------------------------------------------- */

/* Fractions of the grid's vectors; in a periodic box in [0, 1). */
static void fractions_of(const energy_density *d, const double r[3], double f[3])
{
    for (int k = 0; k < 3; k++) {
        f[k] = 0;
        for (int e = 0; e < 3; e++) f[k] += (r[e] - d->origin[e]) * d->inverse[e][k];
        if (d->periodic) f[k] -= floor(f[k]);
    }
}

/* In a sphere the grid covers all of it. */
static int64_t cell_of_grid(const energy_density *d, const double r[3])
{
    double f[3];
    int64_t cell = 0;
    fractions_of(d, r, f);
    for (int k = 0; k < 3; k++) {
        int64_t at = (int64_t)floor(f[k] * (double)d->count[k]);
        if (at < 0) at = 0;
        if (at >= d->count[k]) at = d->count[k] - 1;
        cell = cell * d->count[k] + at;
    }
    return cell;
}

/* The square of the distance of the nearest image: one of those around that with fractions within 1/2. */
static double nearest_square(const plugmc_box *box, const double s[3])
{
    double at[3] = {s[0], s[1], s[2]}, least = INFINITY;
    for (int k = 0; k < 3; k++) {
        double f = 0;
        for (int e = 0; e < 3; e++) f += s[e] * box->inverse[e][k];
        for (int e = 0; e < 3; e++) at[e] -= rint(f) * box->vector[k][e];
    }
    for (int image = 0; image < 27; image++) {
        const int n[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
        double square = 0;
        for (int e = 0; e < 3; e++) {
            const double x = at[e] + n[0] * box->vector[0][e] + n[1] * box->vector[1][e] +
                             n[2] * box->vector[2][e];
            square += x * x;
        }
        least = fmin(least, square);
    }
    return least;
}

static int64_t cell_of_ion(const energy_density *d, const plugmc_box *box, const double r[3])
{
    int64_t nearest = 0;
    double least = INFINITY;
    for (int32_t i = 0; i < d->ions.count; i++) {
        const double *q = d->ions.positions[i], s[3] = {r[0] - q[0], r[1] - q[1], r[2] - q[2]};
        const double square =
            d->periodic ? nearest_square(box, s) : s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
        if (square < least) {
            least = square;
            nearest = i;
        }
    }
    return nearest;
}

static int64_t cell_of(const energy_density *d, const plugmc_box *box, const double r[3])
{
    return d->cells == GRID ? cell_of_grid(d, r) : cell_of_ion(d, box, r);
}

/* ---- Measuring --------------------------------------------------------------------------------- */

/* values [3][cells] of a walker: kinetic, potential energies, electrons. */
static void fill(const energy_density *d, const plugmc_system *system, const double *positions,
                 const double *shares, double *values)
{
    const int64_t n = system->particles;
    memset(values, 0, 3 * (size_t)d->all * sizeof *values);
    for (int64_t i = 0; i < n + d->ions.count; i++) {
        const double *r = i < n ? positions + 3 * i : d->ions.positions[i - n];
        const int64_t cell = cell_of(d, &system->box, r);
        values[cell] += shares[2 * i];
        values[d->all + cell] += shares[2 * i + 1];
        values[2 * d->all + cell] += i < n;
    }
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const energy_density *d = instance;
    const plugmc_system *system = host->system;
    plugmc_view here = {.size = sizeof here};
    int code = view->on_device ? bring_to_host(host, view, d->positions, &here) : PLUGMC_OK;
    if (code) return code;
    const plugmc_view *seen = view->on_device ? &here : view;
    const plugmc_local_energy_request request = {
        .size = sizeof request, .walkers = system->walkers, .view = seen, .shares = d->shares};
    code = plugmc_local_energies_of(host)->local_energy(host->context, &request);
    for (int32_t w = 0; w < system->walkers && !code; w++)
        fill(d, system, seen->positions + 3 * w * system->particles,
             d->shares + 2 * w * (system->particles + d->ions.count), values + 3 * w * d->all);
    return code;
}

/* ---- Preparation ------------------------------------------------------------------------------- */

static int no_memory(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for densities of energy");
}

/* Of the sampled potential with orbitals, on which that which computes local energies insists. */
static int find_ions(energy_density *d, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    d->ions = (plugmc_ions){.size = sizeof d->ions};
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_orbitals *orbitals = plugmc_orbitals_of(term->plugin);
        if (!term->sampled || !orbitals || !PLUGMC_HAS(orbitals, ions) || !orbitals->ions) continue;
        return orbitals->ions(term->instance, &d->ions);
    }
    return PLUGMC_OK;
}

/* The grid lies along the edges of the box; in a sphere over the cube around it. */
static int prepare_grid(energy_density *d, const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    d->periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    memcpy(d->inverse, box->inverse, sizeof d->inverse);
    if (d->corner.count && d->corner.count != 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "corner has %d numbers: give x y z",
                          d->corner.count);
    for (int k = 0; k < 3; k++) {
        const double n = (double)d->grid.values[k];
        if (n != rint(n))
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "grid: %g is no number of cells",
                              n);
        d->count[k] = (int64_t)n;
        d->origin[k] = d->corner.count ? (double)d->corner.values[k] : 0;
        if (d->periodic) continue;
        for (int e = 0; e < 3; e++) d->inverse[e][k] = e == k ? 0.5 / box->radius : 0;
        if (!d->corner.count) d->origin[k] = -box->radius;
    }
    d->all = d->count[0] * d->count[1] * d->count[2];
    for (int k = 0; k < 3; k++) {
        d->middle[k] = host->allocate(host->context, (size_t)d->count[k] * sizeof *d->middle[k]);
        if (!d->middle[k]) return no_memory(host);
        for (int64_t i = 0; i < d->count[k]; i++)
            d->middle[k][i] = ((double)i + 0.5) / (double)d->count[k];
    }
    return PLUGMC_OK;
}

static int prepare_cells_of_ions(energy_density *d, const plugmc_host *host)
{
    d->periodic = host->system->box.domain == PLUGMC_DOMAIN_PERIODIC;
    d->all = d->ions.count;
    if (!d->all)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "cells = voronoi: there are no ions; use cells = grid");
    d->number = host->allocate(host->context, (size_t)d->all * sizeof *d->number);
    if (!d->number) return no_memory(host);
    for (int64_t i = 0; i < d->all; i++) d->number[i] = (double)(i + 1);
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    energy_density *d = instance;
    const plugmc_system *system = host->system;
    int code = plugmc_local_energies_of(host)->local_energy(host->context, NULL);
    if (!code) code = find_ions(d, host);
    if (!code) code = d->cells == GRID ? prepare_grid(d, host) : prepare_cells_of_ions(d, host);
    if (code) return code;
    const size_t walkers = (size_t)system->walkers, particles = (size_t)system->particles;
    d->shares = host->allocate(host->context, 2 * walkers * (particles + (size_t)d->ions.count) *
                                                  sizeof *d->shares);
    if (host->gpu)
        d->positions = host->allocate(host->context, 3 * walkers * particles * sizeof(double));
    return d->shares && (d->positions || !host->gpu) ? PLUGMC_OK : no_memory(host);
}

/* ---- The descriptor ------------------------------------------------------------------------------ */

static const plugmc_listing listing[] = {
    {"kinetic", "hartree", "kinetic energy of the electrons in each cell", 1, 0},
    {"potential", "hartree", "potential energy of the electrons and ions in each cell", 1, 0},
    {"electrons", "", "number of electrons in each cell", 1, 0},
};

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    static const char *const axis[3] = {"a", "b", "c"};
    const energy_density *d = instance;
    if (index >= PLUGMC_COUNT(listing)) return 0;
    const plugmc_listing *l = &listing[index];
    if (d->cells == VORONOI)
        return plugmc_array(out, l->name, l->unit, l->doc, d->all, "ion", d->number);
    plugmc_scalar(out, l->name, l->unit, l->doc);
    put_axes(out, 3, (const int64_t[]){d->count[0], d->count[1], d->count[2]}, axis,
             (const double *const[]){d->middle[0], d->middle[1], d->middle[2]});
    return 1;
}

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(energy_density, cells, "grid", "grid|voronoi",
                      "cells of a grid, or of each ion what is nearest to it"),
    PLUGMC_LIST_KEY(energy_density, grid, 3, "10 10 10", 1, 1000, "",
                    "number of cells along each edge of the box"),
    PLUGMC_LIST_KEY(energy_density, corner, 0, "", -1e6, 1e6, "length",
                    "where the first cell of the grid begins; empty: the origin, in a sphere the "
                    "corner of the cube around it"),
};

PLUGMC_PLUGIN(.name = "energy_density",
              .summary = "kinetic and potential energy of electrons and ions in parts of space",
              .reference = "Krogel, Yu, Kim, Ceperley, Phys. Rev. B 88, 035137 (2013)",
              PLUGMC_KEYS(energy_density, table),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .listing = listing, .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_WALKER_WEIGHT),
              .prepare = prepare)
