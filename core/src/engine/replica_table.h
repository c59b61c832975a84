/* A table of the walkers of all processes and their rungs, for movers that need all of them (PLUGMC_GLOBAL_WALKERS).
 * Every process holds the same table and makes the same decisions. Configurations stay in their processes. */
#ifndef PLUGMC_REPLICA_TABLE_H
#define PLUGMC_REPLICA_TABLE_H

#include "engine/engine.h"

typedef struct replica_table {
    /* The table agrees with the walkers, until the sweeps of the mover end. */
    bool filled;
    int32_t *rung; /* [all walkers] */
    /* [all walkers][multipliers]: energies, volume and particle counts, which the multipliers multiply in -ln p. */
    double *extensive;
} replica_table;

/* Whether there are other processes and this mover needs their walkers. */
bool replica_table_is_used(const mover_slot *);
/* Collective, in the same sweep. Does nothing if the table is filled already. Returns a PLUGMC_* code, as the next two
 * do. `host` is that of the mover. */
int replica_table_fill(engine *, const plugmc_host *);
/* As plugmc_rungs.exchange_delta and exchange_rungs. Walkers are numbered among those of all processes. */
int replica_table_delta(const engine *, int32_t a, int32_t b, double *delta);
int replica_table_exchange(engine *, int32_t a, int32_t b);
/* The mover has made its sweeps. The table is invalid from now on, since configurations may change. */
void replica_table_forget(engine *);
void replica_table_free(engine *);
#endif
