/* plugmc_host.board and climb: the walkers of all processes on the rungs of the ladder. */
#ifndef PLUGMC_RUN_BOARD_H
#define PLUGMC_RUN_BOARD_H

#include "run/simulation.h"

typedef struct board {
    int32_t *rung;     /* [all walkers] */
    double *extensive; /* [all walkers][multipliers] */
} board;

/* PLUGMC_* codes; all processes. `host`: of the mover that asks. */
int board_fill(simulation *, const plugmc_host *, plugmc_board *out);
int board_climb(simulation *, const plugmc_board *);
void board_free(simulation *);
#endif
