/* What each mover of the search path would give a run: whether it fits, and how fast it says it is. */
#ifndef PLUGMC_MOVER_OFFERS_H
#define PLUGMC_MOVER_OFFERS_H

#include "engine/engine.h"
#include "engine/fitting.h"

typedef struct mover_offer {
    char *name;
    /* One that displaces single particles and says how fast it is: [mover auto] chooses among these. */
    bool single;
    /* Why it does not fit; "" if it does. */
    char why_not[MISFIT];
    uint32_t needs;
    bool by_core;
    /* It has said how fast it is here. */
    bool known;
    /* Seconds per trial move of all walkers together. INFINITY: not known, or it does not run there. */
    double on_cpu, on_gpu;
    /* Trial moves of a sweep of all walkers; 0: not known. */
    double trials;
    /* Keys of its section for its step and for the acceptance that this is tuned to; "": none. */
    char step_key[64], target_key[64];
} mover_offer;

typedef struct mover_offers {
    mover_offer *all;
    int count;
} mover_offers;

/* Movers of the search path that displace particles, by name, each in the place of `but`, a mover of the run or
 * NULL. Movers of the run have their keys, others their defaults. `threads`: those that the CPU is assumed to have. among:
 * names with blanks between them; NULL: all. Call it once the plugins are configured and the ladder is built. */
mover_offers offers_of_movers(const engine *, const mover_slot *but, int threads,
                              const char *among);
void mover_offers_free(mover_offers *);

/* Seconds per trial move and trial moves per sweep of a mover of the run. False: not known. */
bool speed_of_mover(const engine *, const mover_slot *, plugmc_speed *out);
/* Whether a GPU is clearly faster: formulas are good to a factor of two. */
bool is_clear_gain(double on_cpu, double on_gpu);
#endif
