/* transition_matrix: how probable each number of particles is, with weights that make all of them equally so.
 *
 * Each trial of the other movers tells with which probability it would have changed the number of particles,
 * taken or not. From these follow ln p(N) (flat_histogram.h), and that is the weight: what has not been seen yet
 * is soon seen, and a system crosses the gap between two phases as if there were none (J. R. Errington,
 * J. Chem. Phys. 118, 9915 (2003)). Weights change all the time; ln p(N) does not depend on them.
 *
 * Walkers that have just come to a number are not as those that have been there for long: ions that were put
 * anywhere are not bound yet, and are removed all too easily. A weight that believes so keeps walkers from
 * coming back to find out better. So in the weights trial n from a number counts n times, and those of the
 * beginning are soon forgotten; in ln p(N) all of production count alike.
 *
 * For the same reason a step gets a weight only when trials of both ways have probabilities that add up to 1. The first trials from a
 * number may all have a probability of 1e-20, as insertions into a liquid: a weight from those alone would keep all walkers
 * away for good, and nobody would find out better.
 *
 * With variable = energy the bins are of the potential energy of all that is sampled, couplings included, and the
 * trials those of the movers that leave decisions to the core, as serial: ln p + U / kT is ln of the density of
 * states up to a constant.
 *
 * Insertions and removals are for another mover of the run, such as `insert`. Coexistence of two phases comes
 * with it: ln z, densities and pressure where both have the same weight.
 */
#include <stdbool.h>

#include "flat_histogram.h"

typedef struct transition_matrix {
    macrostate m;        /* first: it holds the parameters */
    double (*seen)[4];   /* [bins]: counts at the last iteration */
    double (*recent)[4]; /* [bins]: the same, trial n of N counting n / N */
} transition_matrix;

static void learn(transition_matrix *t)
{
    const double(*collected)[4] = (const double(*)[4])t->m.states.collected;
    for (int64_t b = 0; b < t->m.bins; b++)
        for (int k = 0; k < 4; k += 2) {
            const double *now = &collected[b][k];
            double *seen = &t->seen[b][k], *recent = &t->recent[b][k];
            const double kept = now[1] > 0 ? seen[1] / now[1] : 0;
            for (int l = 0; l < 2; l++) {
                recent[l] = recent[l] * kept + (now[l] - seen[l]);
                seen[l] = now[l];
            }
        }
}

/* Whether recent trials tell the step from bin b to the next one. */
static bool is_known(const transition_matrix *t, int64_t b)
{
    return t->recent[b][PLUGMC_UP] >= 1 && t->recent[b + 1][PLUGMC_DOWN] >= 1;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    transition_matrix *t = instance;
    double *weight = t->m.states.weight;
    (void)host, (void)sweeps;
    learn(t);
    /* where little is known yet it goes on level, so that each window is learned by itself */
    for (int64_t b = 0; b + 1 < t->m.bins; b++) {
        const double step = is_known(t, b) ? macrostate_step((const double(*)[4])t->recent, b) : 0;
        weight[b + 1] = weight[b] + step;
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    transition_matrix *t = instance;
    macrostate *m = &t->m;
    m->by_steps = 1;
    if (!strcmp(m->variable, "volume"))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "variable = volume: transition_matrix supports only particle "
                          "numbers and energies; use wang_landau");
    const int code = macrostate_prepare(m, host);
    if (code) return code;
    t->seen = host->allocate(host->context, (size_t)m->bins * sizeof *t->seen);
    t->recent = host->allocate(host->context, (size_t)m->bins * sizeof *t->recent);
    return t->seen && t->recent ? PLUGMC_OK
                                : host->fail(host->context, PLUGMC_ERROR_MEMORY,
                                             "no memory for %lld bins", (long long)m->bins);
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    transition_matrix *t = instance;
    const size_t bins = (size_t)t->m.bins;
    (void)host;
    int code = macrostate_archive(&t->m, a);
    if (!code) code = a->bytes(a, "seen", t->seen, bins * sizeof *t->seen);
    return code ? code : a->bytes(a, "recent", t->recent, bins * sizeof *t->recent);
}

static const plugmc_parameter table[] = {MACROSTATE_KEYS_OF(
    "species or molecule whose number it is, or energy", "smallest number or energy",
    "bins of the energy; particle numbers have one each")};

static const plugmc_observable observable = MACROSTATE_OBSERVABLE;

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU | PLUGMC_KEEPS_RIGID,
    .changes = PLUGMC_CHANGED_WEIGHT,
    .follows = PLUGMC_CHANGED_COUNT,
    .sweep = sweep,
    .good_for = "weights and free energies from acceptance probabilities; combine it with movers "
                "that change the variable"};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "transition_matrix",
              .summary =
                  "flat-histogram sampling of particle numbers or energies by transition matrix",
              .reference = "Errington, J. Chem. Phys. 118, 9915 (2003)",
              PLUGMC_KEYS(transition_matrix, table),
              PLUGMC_OFFERS({PLUGMC_FORMER_KEYS, &macrostate_former_keys}), .mover = &mover,
              .observable = &observable, .prepare = prepare, .archive = archive)
