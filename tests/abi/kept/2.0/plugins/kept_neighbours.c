/* kept_neighbours: the energy by all pairs, and how many neighbours particles have.
 *
 * An observable as it was written for version 2.0 of the interface: scalars, an array with an axis, and a
 * number derived from means, which has to be that of a scalar.
 */
#include <plugmc/facets.h>
#include <plugmc/observable.h>
#include <string.h>

enum { MOST = 24 }; /* neighbours */

typedef struct neighbours {
    real range; /* parameter, length */
    double number[MOST];
    double *x, *y, *z, *charge, *diameter; /* [particles] */
    int32_t *species;                      /* [particles] */
} neighbours;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const neighbours *n = instance;
    if (index == 0) return plugmc_scalar(out, "all_pairs", "kT", "energy a particle, by all pairs");
    if (index == 1) return plugmc_scalar(out, "neighbours", "", "mean number within range");
    return index == 2 ? plugmc_array(out, "share", "", "of particles with k neighbours", MOST, "k",
                                     n->number)
                      : 0;
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 ? plugmc_scalar(out, "from_share", "", "sum of k times the share of k") : 0;
}

static int derive(void *instance, const double *means, double *out)
{
    (void)instance;
    *out = 0;
    for (int k = 0; k < MOST; k++) *out += k * means[2 + k];
    return 0;
}

static void energy_of(const neighbours *n, const plugmc_system *system, double *energy)
{
    for (int64_t i = 0; i + 1 < system->particles; i++) {
        const plugmc_particle probe = {n->x[i],      n->y[i],        n->z[i],
                                       n->charge[i], n->diameter[i], n->species[i]};
        const plugmc_particles others = {
            system->particles - i - 1, &n->x[i + 1],        &n->y[i + 1],      &n->z[i + 1],
            &n->charge[i + 1],         &n->diameter[i + 1], &n->species[i + 1]};
        for (int32_t t = 0; t < system->term_count; t++) {
            const plugmc_term *term = plugmc_term_at(system, t);
            term->plugin->potential->pair->energy(term->instance, &system->box, 1, &probe, &others,
                                                  energy);
        }
    }
}

/* Others within range of entry k of the cells of a walker. */
static int around(const neighbours *n, const plugmc_box *box, const plugmc_cells *c,
                  const uint32_t *start, const double *r, uint32_t k, int64_t cell)
{
    const int32_t at[2] = {(int32_t)(cell % c->count[0]), (int32_t)(cell / c->count[0])};
    int found = 0;
    for (int i = 0; i < plugmc_cells_around(c->count[0]); i++)
        for (int j = 0; j < plugmc_cells_around(c->count[1]); j++) {
            const int64_t other = plugmc_cell_around(at[0], i, c->count[0]) +
                                  (int64_t)c->count[0] * plugmc_cell_around(at[1], j, c->count[1]);
            for (uint32_t l = start[other]; l < start[other + 1]; l++) {
                const double dx = plugmc_nearest_image(r[3 * l] - r[3 * k], box->length[0]),
                             dy = plugmc_nearest_image(r[3 * l + 1] - r[3 * k + 1], box->length[1]);
                found += l != k && dx * dx + dy * dy < (double)(n->range * n->range);
            }
        }
    return found;
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    neighbours *n = instance;
    const plugmc_system *system = host->system;
    const int64_t particles = system->particles;
    plugmc_cells cells = {.size = sizeof cells};
    const int code = view->cells(view, (double)n->range, &cells);
    memset(values, 0, sizeof(double) * (size_t)system->walkers * (2 + MOST));
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        const double *r = view->positions + 3 * w * particles;
        const double *sorted = cells.positions + 3 * w * particles;
        const uint32_t *start = cells.start + w * (cells.cells + 1);
        double *out = values + (int64_t)w * (2 + MOST);
        for (int64_t i = 0; i < particles; i++) {
            n->x[i] = r[3 * i];
            n->y[i] = r[3 * i + 1];
            n->z[i] = r[3 * i + 2];
        }
        energy_of(n, system, out);
        out[0] /= (double)particles;
        for (int64_t cell = 0; cell < cells.cells; cell++)
            for (uint32_t k = start[cell]; k < start[cell + 1]; k++) {
                const int found = around(n, &view->box[w], &cells, start, sorted, k, cell);
                out[1] += (double)found / (double)particles;
                if (found < MOST) out[2 + found] += 1 / (double)particles;
            }
    }
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    neighbours *n = instance;
    const plugmc_system *system = host->system;
    const size_t bytes = (size_t)system->particles * sizeof(double);
    if (system->box.dimension != 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "there are %d dimensions: expected 2",
                          system->box.dimension);
    double **arrays[] = {&n->x, &n->y, &n->z, &n->charge, &n->diameter};
    n->species = host->allocate(host->context, bytes);
    for (int k = 0; k < PLUGMC_COUNT(arrays); k++)
        if (!(*arrays[k] = host->allocate(host->context, bytes)) || !n->species)
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for particles");
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            n->charge[i] = plugmc_species_at(system, s)->charge;
            n->diameter[i] = plugmc_species_at(system, s)->diameter;
            n->species[i] = s;
        }
    for (int k = 0; k < MOST; k++) n->number[k] = k;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(neighbours, range, "1.4", 1e-6, 1e6, "length", "who is a neighbour"),
};

static const plugmc_listing listing[] = {
    {"all_pairs", "kT", "energy a particle, by all pairs", 0, 0},
    {"neighbours", "", "mean number within range", 0, 0},
    {"share", "", "of particles with k neighbours", 1, 0},
    {"from_share", "", "sum of k times the share of k", 0, 1},
};

static const plugmc_observable observable = {
    .size = sizeof observable,
    .quantity = quantity,
    .measure = measure,
    .derived = derived,
    .derive = derive,
    .listing = listing,
    .listing_count = PLUGMC_COUNT(listing),
    .listing_size = sizeof(plugmc_listing),
};

PLUGMC_PLUGIN(.kind = PLUGMC_OBSERVABLE, .name = "kept_neighbours",
              .summary = "the energy by all pairs, and how many neighbours particles have",
              .reference = "", .instance_size = sizeof(neighbours), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .observable = &observable, .prepare = prepare)
