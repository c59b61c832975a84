/* Sweeps of all movers of a run. */
#include "base/crash.h"
#include "engine/replica_table.h"
#include "engine/sync.h"
#include "engine/engine.h"
#include "engine/moves.h"
#include "base/stop.h"
#include "energy/bias.h"

/* Sweeps first ... first + n - 1 of one mover. */
static int sweep_mover(engine *engine, mover_slot *m, uint64_t first, uint64_t n)
{
    instance *mover = m->instance;
    int code = sync_load(engine, m);
    if (code) return code;
    if (!m->by_core) engine->current.ahead = m;
    if (m == engine->weighing) code = bias_gather(&engine->current.hamiltonian, &mover->host);
    const plugmc_sweeps sweeps = {sizeof sweeps, first, n, moves_told(engine, m)};
    context_calling(&mover->context, "sweep");
    if (!code) code = m->mover->sweep(mover->data, &mover->host, &sweeps);
    crash_called();
    replica_table_forget(engine);
    if (code == PLUGMC_STOPPED && stop_given_up()) return SWEEP_GIVEN_UP;
    code = context_exit_code(&mover->context, code, "sweeping");
    return code || !m->by_core ? code : sync_swept(engine, m);
}

/* Sweeps that a mover has to make, one after the other: they are asked for in one call, when another
 * mover's turn comes, so that a fast mover is not called for every sweep. */
typedef struct pending {
    mover_slot *mover; /* NULL: none */
    uint64_t first, n;
} pending;

static int finish(engine *engine, pending *p)
{
    const int code = p->mover ? sweep_mover(engine, p->mover, p->first, p->n) : 0;
    p->mover = NULL;
    return code;
}

static int append(engine *engine, pending *p, mover_slot *m, uint64_t sweep)
{
    if (p->mover == m && p->first + p->n == sweep) {
        p->n++;
        return 0;
    }
    const int code = finish(engine, p);
    *p = (pending){m, sweep, 1};
    return code;
}

int engine_sweep(engine *engine, uint64_t first, uint64_t n, bool waits)
{
    pending p = {NULL, 0, 0};
    int code = 0;
    if (engine->mover_count == 1 && engine->movers[0].every == 1) {
        p = (pending){engine->movers, first, n};
    } else {
        for (uint64_t sweep = first; sweep < first + n && !code; sweep++)
            for (int k = 0; k < engine->mover_count && !code; k++)
                if ((sweep + 1) % engine->movers[k].every == 0)
                    code = append(engine, &p, &engine->movers[k], sweep);
    }
    if (!code) code = finish(engine, &p);
    const plugmc_host *host = &engine->current.state_host;
    if (code || !host->gpu || !waits) return code;
    instance *asking = engine_asking(engine);
    return context_exit_code(&asking->context, host->gpu->synchronize(host->context), "sweeping");
}
