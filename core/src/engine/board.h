/* A table of the walkers of all processes and their rungs, for movers that need all of them (PLUGMC_GLOBAL_WALKERS).
 * Every process holds the same table and makes the same decisions. Configurations stay in their processes. */
#ifndef PLUGMC_RUN_BOARD_H
#define PLUGMC_RUN_BOARD_H

#include "engine/engine.h"

typedef struct board {
    /* The table agrees with the walkers, until the sweeps of the mover end. */
    bool filled;
    int32_t *rung; /* [all walkers] */
    /* [all walkers][multipliers]: energies, volume and particle counts, which the multipliers multiply in -ln p. */
    double *extensive;
} board;

/* Whether there are other processes and this mover needs their walkers. */
bool board_is_used(const moving *);
/* Collective, in the same sweep. Does nothing if the table is filled already. Returns a PLUGMC_* code, as the next two
 * do. `host` is that of the mover. */
int board_fill(engine *, const plugmc_host *);
/* As plugmc_rungs.exchange_growth and exchange_rungs. Walkers are numbered among those of all processes. */
int board_growth(const engine *, int32_t a, int32_t b, double *growth);
int board_exchange(engine *, int32_t a, int32_t b);
/* The mover has made its sweeps. The table is invalid from now on, since configurations may change. */
void board_forget(engine *);
void board_free(engine *);
#endif
