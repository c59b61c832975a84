/* Macrostates: bins of particle number, volume or energy, each with a weight (flat-histogram sampling).
 *
 * A mover that declares macrostates biases all other movers: -ln p of a walker is increased by the weight of its
 * bin, so that rare states are visited. The core records every trial that may lead from one bin to another. The
 * mover computes results and new weights from these records. */
#ifndef PLUGMC_MACROSTATES_H
#define PLUGMC_MACROSTATES_H

#include "plugmc/plugin.h"

/* Columns of `collected`. */
enum { PLUGMC_DOWN, PLUGMC_DOWN_TRIALS, PLUGMC_UP, PLUGMC_UP_TRIALS };

/* A walker with volume V, N_s particles of species s and energies U_t has the variable
 *
 *     x = of_volume V + sum_s of_count[s] N_s + of_energy sum_t m_t U_t.
 *
 * It is in bin b if low + b width <= x < low + (b + 1) width. Arrays belong to the mover and live as long as the
 * run. */
typedef struct plugmc_macrostates {
    uint32_t size;
    int32_t bins;
    double of_volume;
    const double *of_count; /* [species] */
    double low, width;
    /* [walkers][2] first and last bin of each walker; NULL: all. Trials that would lead out of the window are
     * rejected; a walker outside may move nearer. */
    const int32_t (*window)[2];
    /* [bins] added to -ln p. Below the first bin and above the last, their weights apply. */
    double *weight;
    /* Records of the trials of movers that can change x. The core adds to them before the mover sweeps and before
     * it is measured; the mover may clear them. */
    double *visits; /* [bins] bin of the walker after each trial */
    /* [bins] for the bin before the trial. PLUGMC_DOWN: sum of the acceptance probabilities without weights of
     * trials to the next lower bin; PLUGMC_DOWN_TRIALS: their number. PLUGMC_UP, PLUGMC_UP_TRIALS: the same for the
     * next higher bin. Trials that would lead out of the window are included. Trials that skip a bin, e.g. groups
     * with two particles of a species, are not. */
    double (*collected)[4];
    /* m_t U_t are energies over kT, including couplings. With energies every trial may change x, by any number of
     * bins. The sums of probabilities are then those of trials to the next bin below or above, and both numbers of
     * trials are those of all trials from the bin. Only for movers whose trials the core decides, at fixed particle
     * numbers, without many-body terms that depend on positions; other many-body terms need plugmc_total.of_counts. */
    double of_energy;
} plugmc_macrostates;

/* The core's extension for the mover that declares macrostates. */
#define PLUGMC_MACROSTATES "plugmc.macrostates/1"
typedef struct plugmc_weighing {
    uint32_t size;
    /* Called in prepare: weights for the movers of the run. Only one mover of a run may declare them. Returns a
     * code. */
    int (*declare)(plugmc_context *, plugmc_macrostates *);
} plugmc_weighing;

static inline const plugmc_weighing *plugmc_weighing_of(const plugmc_host *host)
{
    return (const plugmc_weighing *)host->extension(host->context, PLUGMC_MACROSTATES);
}

#endif
