/* energy: the potential energy over kT and particle, of all terms and of each.
 *
 * Terms that are sampled and terms that are only measured are both summed. A term's energy is that
 * of its total facet where that stands for the whole configuration; else the sum of its
 * pair energies, over cells where its range is finite and over all pairs where it is not, and of
 * its one-body energies. A hard core has no energy, so hard particles give 0; whether they
 * overlap is not asked here. Sums run in a fixed order: the same for any number of threads.
 */
#include <stdlib.h>
#include <string.h>

#include <plugmc/plugin.h>

/* Particles sorted by cell, or as they are numbered, one walker at a time. */
typedef struct sorted_particles {
    double *x, *y, *z, *charge, *diameter; /* [particles] */
    int32_t *species;                      /* [particles] */
} sorted_particles;

typedef struct energy {
    char none; /* no parameters */

    int32_t terms; /* of the system that have an energy */
    int32_t *term; /* [terms] their number in the system */
    char **names;  /* [terms] "energy_LABEL" */
    sorted_particles sorted;
    double *share; /* [particles] energy of a particle with those after it */
} energy;

static int has_pair_energy(const plugmc_potential *p)
{
    return p->pair && (p->pair->functions & PLUGMC_PAIR_ENERGY);
}

static int has_energy(const plugmc_potential *p) { return p->pair || p->field || p->total; }

/* ---- One walker ---------------------------------------------------------------------------- */

/* Particles in the order given by `order`, or as numbered if it is NULL. */
static void take_particles(const energy *e, const plugmc_system *system, const uint32_t *order,
                           const double *positions)
{
    const sorted_particles *s = &e->sorted;
#pragma omp parallel for num_threads(system->threads) schedule(static)
    for (int64_t k = 0; k < system->particles; k++) {
        const int64_t i = order ? order[k] : k;
        int32_t species = 0;
        while (i >= system->first[species + 1]) species++;
        s->x[k] = positions[3 * k];
        s->y[k] = positions[3 * k + 1];
        s->z[k] = positions[3 * k + 2];
        s->charge[k] = system->species[species].charge;
        s->diameter[k] = system->species[species].diameter;
        s->species[k] = species;
    }
}

static plugmc_particles particles_from(const sorted_particles *s, int64_t first, int64_t n)
{
    return (plugmc_particles){n,
                              s->x + first,
                              s->y + first,
                              s->z + first,
                              s->charge + first,
                              s->diameter + first,
                              s->species + first};
}

static plugmc_particle particle_at(const sorted_particles *s, int64_t k)
{
    return (plugmc_particle){s->x[k],      s->y[k],        s->z[k],
                             s->charge[k], s->diameter[k], s->species[k]};
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

/* Energy of particle k of `cell` with those after it in the cells around. */
static double energy_in_cells(const energy *e, const plugmc_system *system, const plugmc_term *term,
                              const plugmc_cells *cells, const uint32_t *start, int64_t cell,
                              int64_t k)
{
    const plugmc_particle probe = particle_at(&e->sorted, k);
    int64_t x[3], y[3], z[3];
    const int nx = cells_along(cell % cells->count[0], cells->count[0], x);
    const int ny = cells_along(cell / cells->count[0] % cells->count[1], cells->count[1], y);
    const int nz = cells_along(cell / cells->count[0] / cells->count[1], cells->count[2], z);
    const plugmc_pair *pair = term->plugin->potential->pair;
    double sum = 0;
    for (int i = 0; i < nx * ny * nz; i++) {
        int64_t c = (z[i / (nx * ny)] * cells->count[1] + y[i / nx % ny]) * cells->count[0] +
                    x[i % nx];
        int64_t first = start[c] > k ? start[c] : k + 1;
        if (first >= start[c + 1]) continue;
        plugmc_particles others = particles_from(&e->sorted, first, start[c + 1] - first);
        pair->energy(term->instance, &system->box, 1, &probe, &others, &sum);
    }
    return sum;
}

static double sum_in_order(const double *share, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += share[i];
    return sum;
}

static double pair_energy_by_cells(const energy *e, const plugmc_system *system,
                                   const plugmc_term *term, const plugmc_cells *cells,
                                   int64_t walker)
{
    const uint32_t *start = cells->start + walker * (cells->cells + 1);
    take_particles(e, system, cells->order + walker * system->particles,
                   cells->positions + 3 * walker * system->particles);
#pragma omp parallel for num_threads(system->threads) schedule(dynamic, 16)
    for (int64_t cell = 0; cell < cells->cells; cell++)
        for (int64_t k = start[cell]; k < start[cell + 1]; k++)
            e->share[k] = energy_in_cells(e, system, term, cells, start, cell, k);
    return sum_in_order(e->share, system->particles);
}

static double pair_energy_of_all(const energy *e, const plugmc_system *system,
                                 const plugmc_term *term, const double *positions)
{
    const plugmc_pair *pair = term->plugin->potential->pair;
    const int periodic = system->box.domain == PLUGMC_DOMAIN_PERIODIC;
    take_particles(e, system, NULL, positions);
#pragma omp parallel for num_threads(system->threads) schedule(dynamic, 16)
    for (int64_t k = 0; k < system->particles; k++) {
        plugmc_particle probe = particle_at(&e->sorted, k);
        plugmc_particles others = particles_from(&e->sorted, k + 1, system->particles - k - 1);
        e->share[k] = 0;
        pair->energy(term->instance, &system->box, periodic, &probe, &others, &e->share[k]);
    }
    return sum_in_order(e->share, system->particles);
}

static double field_energy(const energy *e, const plugmc_system *system, const plugmc_term *term,
                           const double *positions)
{
    double sum = 0;
    take_particles(e, system, NULL, positions);
    plugmc_particles all = particles_from(&e->sorted, 0, system->particles);
    term->plugin->potential->field->energy(term->instance, &all, &sum);
    return sum;
}

/* ---- All walkers --------------------------------------------------------------------------- */

static int add_pairs(const energy *e, const plugmc_host *host, const plugmc_view *view,
                     const plugmc_term *term, double *sums)
{
    const plugmc_system *system = host->system;
    const double range = term->plugin->potential->pair->range(term->instance);
    const int by_cells = isfinite(range) && system->box.domain == PLUGMC_DOMAIN_PERIODIC;
    plugmc_cells cells = {.size = sizeof cells};
    int code = by_cells ? view->cells(view, range, &cells) : PLUGMC_OK;
    for (int64_t w = 0; w < system->walkers && !code; w++)
        sums[w] += by_cells ? pair_energy_by_cells(e, system, term, &cells, w)
                            : pair_energy_of_all(e, system, term,
                                                 view->positions + 3 * w * system->particles);
    return code;
}

/* Adds the energy of one term in every walker to sums [walkers]. */
static int add_term(const energy *e, const plugmc_host *host, const plugmc_view *view,
                    const plugmc_term *term, double *sums)
{
    const plugmc_system *system = host->system;
    const plugmc_potential *p = term->plugin->potential;
    const plugmc_total_request request = {.size = sizeof request, .view = view, .energy = sums};
    int code = p->total ? p->total->energy(term->instance, &request) : PLUGMC_OK;
    if (code || (p->total && !p->total->beside_parts)) return code;
    code = has_pair_energy(p) ? add_pairs(e, host, view, term, sums) : PLUGMC_OK;
    for (int64_t w = 0; w < system->walkers && p->field && !code; w++)
        sums[w] += field_energy(e, system, term, view->positions + 3 * w * system->particles);
    return code;
}

/* values [walkers][1 + terms]: the sum, then the terms. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const energy *e = instance;
    const plugmc_system *system = host->system;
    const int64_t row = 1 + e->terms;
    double *sums = malloc((size_t)system->walkers * sizeof *sums);
    int code = sums ? PLUGMC_OK
                    : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d energies",
                                 system->walkers);
    memset(values, 0, (size_t)(system->walkers * row) * sizeof *values);
    for (int32_t t = 0; t < e->terms && !code; t++) {
        memset(sums, 0, (size_t)system->walkers * sizeof *sums);
        code = add_term(e, host, view, &system->terms[e->term[t]], sums);
        for (int64_t w = 0; w < system->walkers; w++) {
            values[w * row + 1 + t] = sums[w] / (double)system->particles;
            values[w * row] += sums[w] / (double)system->particles;
        }
    }
    free(sums);
    return code;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const energy *e = instance;
    if (index > e->terms) return 0;
    *out = index == 0
               ? (plugmc_quantity){"energy", 1, "kT", "energy per particle, all terms", NULL, NULL}
               : (plugmc_quantity){e->names[index - 1], 1, "kT", "energy per particle, one term",
                                   NULL, NULL};
    return 1;
}

/* ---- Preparation --------------------------------------------------------------------------- */

static int find_terms(energy *e, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    e->term = host->allocate(host->context, (size_t)system->term_count * sizeof *e->term);
    e->names = host->allocate(host->context, (size_t)system->term_count * sizeof *e->names);
    if (!e->term || !e->names)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d terms",
                          system->term_count);
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = &system->terms[t];
        if (!has_energy(term->plugin->potential)) continue;
        const size_t bytes = strlen(term->label) + sizeof "energy_";
        char *name = host->allocate(host->context, bytes);
        if (!name) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a name");
        strcpy(name, "energy_");
        strcat(name, term->label);
        e->names[e->terms] = name;
        e->term[e->terms++] = t;
    }
    return e->terms > 0 ? PLUGMC_OK
                        : host->fail(host->context, PLUGMC_ERROR_INPUT,
                                     "no potential of this run has an energy to measure");
}

static int prepare(void *instance, const plugmc_host *host)
{
    energy *e = instance;
    const size_t n = (size_t)host->system->particles;
    sorted_particles *s = &e->sorted;
    s->x = host->allocate(host->context, n * sizeof *s->x);
    s->y = host->allocate(host->context, n * sizeof *s->y);
    s->z = host->allocate(host->context, n * sizeof *s->z);
    s->charge = host->allocate(host->context, n * sizeof *s->charge);
    s->diameter = host->allocate(host->context, n * sizeof *s->diameter);
    s->species = host->allocate(host->context, n * sizeof *s->species);
    e->share = host->allocate(host->context, n * sizeof *e->share);
    if (!s->x || !s->y || !s->z || !s->charge || !s->diameter || !s->species || !e->share)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu particles", n);
    return find_terms(e, host);
}

static const plugmc_observable observable = {
    .size = sizeof observable,
    .on_device = 0, /* potentials are evaluated on the host */
    .quantity = quantity,
    .measure = measure,
};

PLUGMC_PLUGIN(.kind = PLUGMC_OBSERVABLE, .name = "energy",
              .summary = "potential energy per particle, in all and of each potential",
              .reference = "", .instance_size = sizeof(energy), .observable = &observable,
              .prepare = prepare)
