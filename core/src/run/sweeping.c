/* Sweeps of all movers of a run. */
#include "base/crash.h"
#include "run/board.h"
#include "run/borrowing.h"
#include "run/simulation.h"
#include "base/stop.h"

/* Sweeps first ... first + n - 1 of one mover. */
static int sweep_mover(simulation *sim, moving *m, uint64_t first, uint64_t n)
{
    instance *mover = m->instance;
    int code = borrowing_take(sim, m);
    if (code) return code;
    if (!m->by_core) sim->ahead = m;
    if (m == sim->weighing) code = bias_gather(&sim->hamiltonian, &mover->host);
    context_calling(&mover->context, "sweep");
    if (!code) code = m->mover->sweep(mover->data, &mover->host, first, n);
    crash_called();
    board_forget(sim);
    if (code == PLUGMC_STOPPED && stop_given_up()) return SWEEP_GIVEN_UP;
    code = context_exit_code(&mover->context, code, "sweeping");
    return code || !m->by_core ? code : borrowing_swept(sim, m);
}

/* Sweeps that a mover has to make, one after the other: they are asked for in one call, when another
 * mover's turn comes, so that a fast mover is not called for every sweep. */
typedef struct pending {
    moving *mover; /* NULL: none */
    uint64_t first, n;
} pending;

static int finish(simulation *sim, pending *p)
{
    const int code = p->mover ? sweep_mover(sim, p->mover, p->first, p->n) : 0;
    p->mover = NULL;
    return code;
}

static int append(simulation *sim, pending *p, moving *m, uint64_t sweep)
{
    if (p->mover == m && p->first + p->n == sweep) {
        p->n++;
        return 0;
    }
    const int code = finish(sim, p);
    *p = (pending){m, sweep, 1};
    return code;
}

int simulation_sweep(simulation *sim, uint64_t first, uint64_t n, bool waits)
{
    pending p = {NULL, 0, 0};
    int code = 0;
    if (sim->mover_count == 1 && sim->movers[0].every == 1) {
        p = (pending){sim->movers, first, n};
    } else {
        for (uint64_t sweep = first; sweep < first + n && !code; sweep++)
            for (int k = 0; k < sim->mover_count && !code; k++)
                if ((sweep + 1) % sim->movers[k].every == 0)
                    code = append(sim, &p, &sim->movers[k], sweep);
    }
    if (!code) code = finish(sim, &p);
    const plugmc_host *host = &sim->state_host;
    if (code || !host->gpu || !waits) return code;
    instance *asking = simulation_asking(sim);
    return context_exit_code(&asking->context, host->gpu->synchronize(host->context), "sweeping");
}
