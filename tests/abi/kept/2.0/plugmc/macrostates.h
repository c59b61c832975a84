/* Macrostates: bins of how many particles there are, how large the box is, or how much energy there is, with a
 * weight for each.
 *
 * A mover that declares them (PLUGMC_MACROSTATES) steers all others: the weight of the bin in which a
 * walker is comes on top of its -ln p, so that states are visited that would hardly ever come by
 * themselves. The core keeps the books of every trial that may lead from one bin to another; what
 * follows from these books, and new weights, are the mover's business. */
#ifndef PLUGMC_MACROSTATES_H
#define PLUGMC_MACROSTATES_H

#include "plugmc/plugin.h"

/* Columns of `collected`. */
enum { PLUGMC_DOWN, PLUGMC_DOWN_TRIALS, PLUGMC_UP, PLUGMC_UP_TRIALS };

/* The variable of a walker with volume V and N_s particles of species s is
 *
 *     x = of_volume V + sum_s of_count[s] N_s + of_energy sum_t m_t U_t,
 *
 * and it is in bin b if low + b width <= x < low + (b + 1) width. Arrays are the mover's, and live as long
 * as the run. */
typedef struct plugmc_macrostates {
    uint32_t size;
    int32_t bins;
    double of_volume;
    const double *of_count; /* [species] */
    double low, width;
    /* [walkers][2]: first and last bin of each walker, or NULL: all. What would lead a walker out is
     * rejected; one that is outside may come nearer. */
    const int32_t (*window)[2];
    double *weight; /* [bins]: added to -ln p; before the first bin and behind the last as there */
    /* The books, to which the core adds before the mover sweeps and before it is measured; the mover may
     * clear them. Of each trial of a mover that can change x: */
    double *visits; /* [bins]: in which bin the walker was after it */
    /* [bins of before]: of trials to the next lower bin, the sum of the probabilities without weights to be
     * accepted, and how many they were; the same of trials to the next higher bin. Also of those that would lead
     * out. Trials that pass a bin over, as of groups with two of a kind, tell nothing of neighbours. */
    double (*collected)[4];
    /* m_t U_t are energies over kT, with couplings. With energies every trial may change x, by any number of
     * bins: the sums of probabilities are of those alone that lead to the next bin below or above, and both
     * numbers of trials are all that were made from the bin. Such weights are for movers whose trials the core
     * decides, with as many particles as there are, and without totals that positions change. */
    double of_energy;
} plugmc_macrostates;

/* What the core has for the mover that declares them. */
#define PLUGMC_MACROSTATES "plugmc.macrostates/1"
typedef struct plugmc_weighing {
    uint32_t size;
    /* In prepare: weights for the movers of the run. One mover of a run may. */
    int (*declare)(plugmc_context *, plugmc_macrostates *);
} plugmc_weighing;

static inline const plugmc_weighing *plugmc_weighing_of(const plugmc_host *host)
{
    return (const plugmc_weighing *)host->extension(host->context, PLUGMC_MACROSTATES);
}

#endif
