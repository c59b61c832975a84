/* transition_matrix: how probable each number of particles is, with weights that make all of them equally so.
 *
 * Each trial of the other movers tells with which probability it would have changed the number of particles,
 * taken or not. From these follow ln p(N) (flat_histogram.h), and that is the weight: what has not been seen yet
 * is soon seen, and a system crosses the gap between two phases as if there were none (J. R. Errington,
 * J. Chem. Phys. 118, 9915 (2003)). Weights change all the time; ln p(N) does not hang on them.
 *
 * With of = energy the bins are of the potential energy of all that is sampled, couplings included, and the
 * trials those of the movers that leave decisions to the core, as serial: ln p + U / kT is ln of the density of
 * states up to a constant.
 *
 * Insertions and removals are for another mover of the run, such as `insert`. Coexistence of two phases comes
 * with it: ln z, densities and pressure where both have the same weight.
 */
#include "flat_histogram.h"

typedef struct transition_matrix {
    macrostate m; /* first: it holds the parameters */
} transition_matrix;

static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    macrostate *m = instance;
    double *weight = m->states.weight;
    (void)host, (void)first, (void)n;
    /* where nothing is known yet it goes on level, so that each window is learned by itself */
    for (int64_t b = 0; b + 1 < m->bins; b++) {
        const double step = macrostate_step((const double(*)[4])m->states.collected, b);
        weight[b + 1] = weight[b] + (isnan(step) ? 0 : step);
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    macrostate *m = instance;
    m->by_steps = 1;
    if (!strcmp(m->of, "volume"))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "of = volume: it counts steps to the next number of particles; for the "
                          "volume there is wang_landau");
    return macrostate_prepare(m, host);
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    (void)host;
    return macrostate_archive(instance, a);
}

static const plugmc_parameter table[] = {MACROSTATE_KEYS};

static const plugmc_observable observable = MACROSTATE_OBSERVABLE;

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
    .changes = PLUGMC_CHANGED_WEIGHT,
    .follows = PLUGMC_CHANGED_COUNT,
    .sweep = sweep,
};

PLUGMC_PLUGIN(
        .kind = PLUGMC_MOVER, .name = "transition_matrix",
        .summary =
            "probabilities of numbers of particles or of energies, each visited equally often",
        .reference = "Errington, J. Chem. Phys. 118, 9915 (2003)",
        .instance_size = sizeof(transition_matrix), .parameters = table,
        .parameter_count = PLUGMC_COUNT(table), .mover = &mover, .observable = &observable,
        .prepare = prepare, .archive = archive)
