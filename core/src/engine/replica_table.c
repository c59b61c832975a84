#include "engine/replica_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "parallel/team.h"

static int borrow(const engine *engine, int what, int access, void **out, size_t *row)
{
    return engine->current.state.face.array(&engine->current.state.face, what, PLUGMC_ON_HOST,
                                            access, out, row);
}

/* Multipliers times these are -ln p: of the walkers here, into their place among all. */
static int fill_own(engine *engine, const plugmc_host *host)
{
    const int32_t width = engine->system.multipliers;
    void *rung;
    int code = borrow(engine, PLUGMC_STATE_RUNG, PLUGMC_READ, &rung, NULL);
    if (code) return code;
    memcpy(engine->processes.replica_table->rung + engine->processes.first_walker, rung,
           (size_t)engine->system.walkers * sizeof(int32_t));
    for (int32_t w = 0; w < engine->system.walkers && !code; w++) {
        const double *energy;
        code = hamiltonian_energy(&engine->current.hamiltonian, host, w, &energy);
        if (!code)
            memcpy(engine->processes.replica_table->extensive +
                       (size_t)(engine->processes.first_walker + w) * (size_t)width,
                   energy, (size_t)width * sizeof *energy);
    }
    return code;
}

/* Everybody's, where each has its own by now, or a PLUGMC_* code. */
static int join(engine *engine, plugmc_context *context, int own)
{
    const size_t first = (size_t)engine->processes.first_walker,
                 here = (size_t)engine->system.walkers, all = (size_t)engine->processes.all_walkers,
                 width = (size_t)engine->system.multipliers;
    replica_table *b = engine->processes.replica_table;
    int code = own ? context_exit_code(context, own, "finding energies") : 0;
    code =
        team_share(code, b->rung + first, here * sizeof *b->rung, b->rung, all * sizeof *b->rung);
    code = team_share(code, b->extensive + first * width, here * width * sizeof *b->extensive,
                      b->extensive, all * width * sizeof *b->extensive);
    if (code == TEAM_GAVE_UP) {
        stop_give_up();
        return PLUGMC_STOPPED;
    }
    if (code) context_failed(context); /* it has been said */
    return own ? own : code ? PLUGMC_ERROR_STATE : PLUGMC_OK;
}

bool replica_table_is_used(const mover_slot *m)
{
    return team_now()->ranks > 1 && m->mover->needs & PLUGMC_GLOBAL_WALKERS;
}

int replica_table_fill(engine *engine, const plugmc_host *host)
{
    const size_t all = (size_t)engine->processes.all_walkers,
                 width = (size_t)engine->system.multipliers;
    if (!engine->processes.replica_table) {
        engine->processes.replica_table =
            checked(calloc(1, sizeof *engine->processes.replica_table));
        engine->processes.replica_table->rung =
            checked(calloc(all, sizeof *engine->processes.replica_table->rung));
        engine->processes.replica_table->extensive =
            checked(calloc(all * width, sizeof *engine->processes.replica_table->extensive));
    }
    if (engine->processes.replica_table->filled) return PLUGMC_OK;
    const int code = join(engine, host->context, fill_own(engine, host));
    engine->processes.replica_table->filled = !code;
    return code;
}

int replica_table_delta(const engine *engine, int32_t a, int32_t b, double *delta)
{
    const replica_table *all = engine->processes.replica_table;
    const size_t width = (size_t)engine->system.multipliers;
    const double *ma = engine->ladder.multipliers + (size_t)all->rung[a] * width,
                 *mb = engine->ladder.multipliers + (size_t)all->rung[b] * width,
                 *xa = all->extensive + (size_t)a * width, *xb = all->extensive + (size_t)b * width;
    *delta = 0;
    for (size_t k = 0; k < width; k++)
        if (ma[k] != mb[k]) *delta -= (ma[k] - mb[k]) * (xa[k] - xb[k]);
    return PLUGMC_OK;
}

/* One of the run's walkers, if it is here. */
static int climb(engine *engine, int32_t walker, int32_t to)
{
    const int32_t here = walker - engine->processes.first_walker;
    void *rung, *multiplier;
    size_t row;
    engine->processes.replica_table->rung[walker] = to;
    if (here < 0 || here >= engine->system.walkers) return PLUGMC_OK;
    int code = borrow(engine, PLUGMC_STATE_RUNG, PLUGMC_READ | PLUGMC_WRITE, &rung, NULL);
    if (!code)
        code =
            borrow(engine, PLUGMC_STATE_MULTIPLIER, PLUGMC_READ | PLUGMC_WRITE, &multiplier, &row);
    if (!code)
        hamiltonian_set_rung(&engine->current.hamiltonian, here,
                             engine->ladder.multipliers +
                                 (size_t)to * (size_t)engine->system.multipliers);
    if (!code) ((int32_t *)rung)[here] = to;
    if (!code)
        memcpy((char *)multiplier + (size_t)here * row,
               engine->ladder.multipliers + (size_t)to * (size_t)engine->system.multipliers,
               (size_t)engine->system.multipliers * sizeof(double));
    return code;
}

int replica_table_exchange(engine *engine, int32_t a, int32_t b)
{
    const int32_t to = engine->processes.replica_table->rung[b];
    const int code = climb(engine, b, engine->processes.replica_table->rung[a]);
    return code ? code : climb(engine, a, to);
}

void replica_table_forget(engine *engine)
{
    if (engine->processes.replica_table) engine->processes.replica_table->filled = false;
}

void replica_table_free(engine *engine)
{
    if (engine->processes.replica_table)
        free(engine->processes.replica_table->rung),
            free(engine->processes.replica_table->extensive);
    free(engine->processes.replica_table);
    engine->processes.replica_table = NULL;
}
