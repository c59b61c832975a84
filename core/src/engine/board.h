/* The walkers of all processes on the rungs of the ladder, for movers that know them all (PLUGMC_GLOBAL_WALKERS). Each
 * process holds the same and decides the same; configurations stay where they are. */
#ifndef PLUGMC_RUN_BOARD_H
#define PLUGMC_RUN_BOARD_H

#include "engine/engine.h"

typedef struct board {
    bool filled;       /* as the walkers are, until the mover's sweeps end */
    int32_t *rung;     /* [all walkers] */
    double *extensive; /* [all walkers][multipliers]: what multipliers multiply */
} board;

/* Are there other processes, and does this mover know of their walkers? */
bool board_is_used(const moving *);
/* All, in the same sweep; nothing is asked if it is filled. PLUGMC_* codes, as below. `host`: the mover's. */
int board_fill(engine *, const plugmc_host *);
/* As plugmc_rungs.exchange_growth and exchange_rungs, of walkers by their number among all. */
int board_growth(const engine *, int32_t a, int32_t b, double *growth);
int board_exchange(engine *, int32_t a, int32_t b);
/* The mover has made its sweeps: configurations may be others from now on. */
void board_forget(engine *);
void board_free(engine *);
#endif
