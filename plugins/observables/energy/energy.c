/* energy: the potential energy over kT and particle, of all terms and of each.
 *
 * source = running takes the energy that the mover keeps while it sweeps: that of all sampled terms
 * together, at no cost. source = fresh adds it up anew, in double precision (sums.h). Terms that are sampled and
 * terms that are only measured are both summed.
 *
 * Where particles come and go it is U / N of each configuration, and U of an empty box (0, unless a potential has an
 * energy there): U / max(N, 1), so that whoever needs U, as reweighting does, finds it by max(N, 1). */
#include <stdlib.h>
#include <string.h>

#include "../walker_boxes.h"
#include "sums.h"

enum { FRESH, RUNNING }; /* source */

typedef struct observed_energy {
    int32_t source; /* parameter */
    const char *unit;
    energy sums;
} observed_energy;

/* A particle's share of the energy of a walker; that of an empty box is its own. */
static double share_of(double sum, int64_t particles)
{
    return particles > 0 ? sum / (double)particles : sum;
}

static int measure_running(const plugmc_host *host, const plugmc_view *view, double *values)
{
    if (!PLUGMC_HAS(view, running_energy) || !view->running_energy)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "source = running, but the mover of this run has no running "
                          "energy: use source = fresh");
    int code = view->running_energy(view, values);
    for (int32_t w = 0; w < host->system->walkers; w++)
        values[w] = share_of(values[w], particles_of(host->system, view, w));
    return code;
}

/* values [walkers][1 + terms]: the sum, then the terms. With source = running the sum alone. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    observed_energy *e = instance;
    const plugmc_system *system = host->system;
    const int64_t terms = e->sums.terms, row = 1 + terms;
    if (e->source == RUNNING) return measure_running(host, view, values);
    double *found = malloc((size_t)(system->walkers * terms) * sizeof *found);
    int code = found ? energy_sums_measure(&e->sums, host, view, found)
                     : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d energies",
                                  system->walkers);
    memset(values, 0, (size_t)(system->walkers * row) * sizeof *values);
    for (int64_t w = 0; w < system->walkers && !code; w++)
        for (int64_t t = 0; t < terms; t++) {
            const double share = share_of(found[w * terms + t], particles_of(system, view, w));
            values[w * row + 1 + t] = share;
            values[w * row] += share;
        }
    free(found);
    return code;
}

static double reach(void *instance)
{
    observed_energy *e = instance;
    return e->source == FRESH ? energy_sums_reach(&e->sums) : INFINITY;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    observed_energy *e = instance;
    if (index > e->sums.terms) return 0;
    if (index > 0)
        return plugmc_scalar(out, e->sums.names[index - 1], e->unit,
                             "energy per particle, one term");
    return plugmc_scalar(out, "energy", e->unit,
                         e->source == RUNNING ? "energy per particle, as the mover keeps it"
                                              : "energy per particle, all terms");
}

static int prepare(void *instance, const plugmc_host *host)
{
    observed_energy *e = instance;
    e->unit = plugmc_energy_unit(host->system);
    return e->source == RUNNING ? PLUGMC_OK : energy_sums_prepare(&e->sums, host);
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    return ((const observed_energy *)instance)->source == FRESH &&
           energy_sums_gpu_source(host, index, out);
}

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(observed_energy, source, "fresh", "fresh|running",
                      "fresh: recomputed, in total and for each term; running: the running "
                      "energy of the mover"),
};

/* All that it can give. */
static const plugmc_listing listing[] = {
    {"energy", "<energy>", "energy per particle, all terms", 0, 0},
    {"energy_<potential>", "<energy>", "energy per particle, one term", 0, 0},
};

static const plugmc_measures_shares shares = {.size = sizeof shares, .reach = reach};

PLUGMC_PLUGIN(.name = "energy",
              .summary = "potential energy per particle, in total and for each potential",
              .reference = "", PLUGMC_KEYS(observed_energy, table),
              PLUGMC_OFFERS({PLUGMC_MEASURES_SHARES, &shares}),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .listing = listing, .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_WALKER_WEIGHT |
                                                PLUGMC_CHANGED_ORIENTATION |
                                                PLUGMC_CHANGED_MOLECULE),
              .prepare = prepare, .gpu_source = gpu_source)
