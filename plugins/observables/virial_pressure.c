/* virial_pressure: the pressure over kT from forces,
 *
 *     P_d = N / V + (1 / V) < sum_i r_i,d f_i,d >,    P = mean of P_d over the directions d,
 *
 * of all sampled potentials: pairs by their derivatives, whole-configuration sums by their own
 * virial. M. P. Allen, D. J. Tildesley, Computer Simulation of Liquids, section 2.4; for Ewald sums
 * D. M. Heyes, Phys. Rev. B 49, 755 (1994).
 *
 * A pair energy that jumps at its cutoff pushes there, which its derivative does not show: the
 * pressure is that of the shifted potential then. What is beyond the cutoff of a homogeneous fluid
 * is a potential of its own (lennard_jones_tail). Hard cores push by their contacts, see
 * hard_pressure. Sums run in a fixed order: the same for any number of threads.
 */
#include <math.h>
#include <string.h>

#include <plugmc/plugin.h>

/* Particles sorted by cell, one walker at a time. */
typedef struct sorted_particles {
    double *x, *y, *z, *charge, *diameter; /* [particles] */
    int32_t *species;                      /* [particles] */
} sorted_particles;

typedef struct virial_pressure {
    char none; /* no parameters */

    const plugmc_system *system;
    int pair_count, total_count;
    const plugmc_term **pairs, **totals;
    sorted_particles sorted;
    double (*share)[3]; /* [particles] kT: virial of a particle's pairs with those after it */
    double (*virial)[3]; /* [walkers] kT */
    char unit[16];
} virial_pressure;

/* ---- Pairs of one walker --------------------------------------------------------------------- */

static void take_particles(const virial_pressure *v, const plugmc_cells *cells, int64_t walker)
{
    const plugmc_system *system = v->system;
    const sorted_particles *s = &v->sorted;
    const uint32_t *order = cells->order + walker * system->particles;
    const double *positions = cells->positions + 3 * walker * system->particles;
#pragma omp parallel for num_threads(system->threads) schedule(static)
    for (int64_t k = 0; k < system->particles; k++) {
        int32_t species = 0;
        while (order[k] >= system->first[species + 1]) species++;
        s->x[k] = positions[3 * k];
        s->y[k] = positions[3 * k + 1];
        s->z[k] = positions[3 * k + 2];
        s->charge[k] = system->species[species].charge;
        s->diameter[k] = system->species[species].diameter;
        s->species[k] = species;
    }
}

/* Cells around `cell` in one direction, each once. */
static int cells_along(int64_t cell, int64_t count, int64_t out[3])
{
    if (count < 3) {
        for (int64_t c = 0; c < count; c++) out[c] = c;
        return (int)count;
    }
    for (int64_t n = 0; n < 3; n++) out[n] = (cell + n + count - 1) % count;
    return 3;
}

/* Virial of particle k of `cell` with those after it in the cells around. */
static void virial_in_cells(const virial_pressure *v, const plugmc_term *term,
                            const plugmc_cells *cells, const uint32_t *start, int64_t cell,
                            int64_t k)
{
    const sorted_particles *s = &v->sorted;
    const plugmc_particle probe = {s->x[k],      s->y[k],        s->z[k],
                                   s->charge[k], s->diameter[k], s->species[k]};
    int64_t x[3], y[3], z[3];
    const int nx = cells_along(cell % cells->count[0], cells->count[0], x);
    const int ny = cells_along(cell / cells->count[0] % cells->count[1], cells->count[1], y);
    const int nz = cells_along(cell / cells->count[0] / cells->count[1], cells->count[2], z);
    plugmc_derivatives sum = {0};
    for (int i = 0; i < nx * ny * nz; i++) {
        const int64_t c = (z[i / (nx * ny)] * cells->count[1] + y[i / nx % ny]) * cells->count[0] +
                          x[i % nx];
        const int64_t first = start[c] > k ? start[c] : k + 1, n = start[c + 1] - first;
        if (n <= 0) continue;
        const plugmc_particles others = {n,
                                         s->x + first,
                                         s->y + first,
                                         s->z + first,
                                         s->charge + first,
                                         s->diameter + first,
                                         s->species + first};
        term->plugin->potential->pair->derivatives(term->instance, &v->system->box, 1, 0, &probe,
                                                   &others, &sum);
    }
    memcpy(v->share[k], sum.virial, sizeof sum.virial);
}

static int add_pairs(const virial_pressure *v, const plugmc_view *view, const plugmc_term *term)
{
    const plugmc_system *system = v->system;
    const double range = term->plugin->potential->pair->range(term->instance);
    plugmc_cells cells = {.size = sizeof cells};
    int code = view->cells(view, fmin(range, 1e300), &cells);
    for (int64_t w = 0; w < system->walkers && !code; w++) {
        const uint32_t *start = cells.start + w * (cells.cells + 1);
        take_particles(v, &cells, w);
#pragma omp parallel for num_threads(system->threads) schedule(dynamic, 16)
        for (int64_t cell = 0; cell < cells.cells; cell++)
            for (int64_t k = start[cell]; k < start[cell + 1]; k++)
                virial_in_cells(v, term, &cells, start, cell, k);
        for (int64_t k = 0; k < system->particles; k++)
            for (int d = 0; d < 3; d++) v->virial[w][d] += v->share[k][d];
    }
    return code;
}

/* ---- All walkers ----------------------------------------------------------------------------- */

/* values [walkers][1 + dimension]: the mean, then along each axis. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const virial_pressure *v = instance;
    const plugmc_box *box = &v->system->box;
    const plugmc_total_request request = {
        .size = sizeof request, .view = view, .virial = v->virial[0]};
    int code = PLUGMC_OK;
    (void)host;
    memset(v->virial, 0, (size_t)v->system->walkers * sizeof *v->virial);
    for (int t = 0; t < v->total_count && !code; t++)
        code = v->totals[t]->plugin->potential->total->energy(v->totals[t]->instance, &request);
    for (int t = 0; t < v->pair_count && !code; t++) code = add_pairs(v, view, v->pairs[t]);
    for (int64_t w = 0; w < v->system->walkers && !code; w++) {
        double *row = values + w * (1 + box->dimension);
        row[0] = 0;
        for (int d = 0; d < box->dimension; d++) {
            row[1 + d] = ((double)v->system->particles + v->virial[w][d]) / box->volume;
            row[0] += row[1 + d] / box->dimension;
        }
    }
    return code;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    static const char *const names[] = {"pressure", "pressure_x", "pressure_y", "pressure_z"};
    static const char *const docs[] = {"pressure over kT", "along x", "along y", "along z"};
    const virial_pressure *v = instance;
    if (index > v->system->box.dimension) return 0;
    *out = (plugmc_quantity){names[index], 1, v->unit, docs[index], NULL, NULL};
    return 1;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

/* What is in the way of the virial of a term; NULL if nothing is. */
static const char *lacks(const plugmc_potential *p)
{
    if (p->total && !p->total->beside_parts) return NULL;
    if (p->field) return "is a field, in which the pressure is not the same everywhere";
    if (p->pair && p->pair->functions & PLUGMC_PAIR_CONTACT)
        return "has a hard core, whose pressure hard_pressure measures";
    if (p->pair && !(p->pair->functions & PLUGMC_PAIR_DERIVATIVE))
        return "gives no derivative of its pair energy";
    return p->pair || p->total ? NULL : "gives no forces";
}

static int sort_terms(virial_pressure *v, const plugmc_host *host)
{
    const plugmc_system *system = v->system;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = &system->terms[t];
        const plugmc_potential *p = term->plugin->potential;
        if (!term->sampled) continue;
        if (lacks(p))
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "potential '%s' %s", term->label,
                              lacks(p));
        if (p->total) v->totals[v->total_count++] = term;
        if (p->pair && !(p->total && !p->total->beside_parts)) v->pairs[v->pair_count++] = term;
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    virial_pressure *v = instance;
    const plugmc_system *system = v->system = host->system;
    const size_t n = (size_t)system->particles, terms = (size_t)system->term_count + 1;
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the pressure is that of a periodic box, and [box] is a sphere");
    double *column = host->allocate(host->context, 5 * n * sizeof *column);
    v->sorted = (sorted_particles){
        column,         column + n,
        column + 2 * n, column + 3 * n,
        column + 4 * n, host->allocate(host->context, n * sizeof *v->sorted.species)};
    v->share = host->allocate(host->context, n * sizeof *v->share);
    v->virial = host->allocate(host->context, (size_t)system->walkers * sizeof *v->virial);
    v->pairs = host->allocate(host->context, terms * sizeof *v->pairs);
    v->totals = host->allocate(host->context, terms * sizeof *v->totals);
    if (!column || !v->sorted.species || !v->share || !v->virial || !v->pairs || !v->totals)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu particles", n);
    strcpy(v->unit, system->box.dimension == 2 ? "length^-2" : "length^-3");
    return sort_terms(v, host);
}

static const plugmc_observable observable = {
    .size = sizeof observable,
    .on_device = 0, /* potentials are evaluated on the host */
    .quantity = quantity,
    .measure = measure,
};

PLUGMC_PLUGIN(.kind = PLUGMC_OBSERVABLE, .name = "virial_pressure",
              .summary = "pressure from the forces of all sampled potentials",
              .reference = "Allen, Tildesley, Computer Simulation of Liquids, section 2.4",
              .instance_size = sizeof(virial_pressure), .observable = &observable,
              .prepare = prepare)
