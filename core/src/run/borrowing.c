#include "run/borrowing.h"

#include <string.h>

#include "crash.h"

int borrowing_give(simulation *sim)
{
    moving *m = sim->ahead;
    if (!m) return PLUGMC_OK;
    context_calling(&m->instance->context, "give");
    const int code = m->mover->give(m->instance->data, &m->instance->host, &sim->state.face);
    crash_called();
    if (code) return code;
    sim->ahead = NULL;
    state_changes(&sim->state, m->seen); /* it knows what it has written itself */
    return PLUGMC_OK;
}

static int give_to(simulation *sim, const moving *next)
{
    moving *m = sim->ahead;
    if (!m || m == next) return 0;
    return context_exit_code(&m->instance->context, borrowing_give(sim),
                             "giving the configuration back");
}

int borrowing_take(simulation *sim, moving *m)
{
    const int before = give_to(sim, m);
    const uint32_t changed = before ? 0 : state_changes(&sim->state, m->seen);
    if (!changed) return before;
    context_calling(&m->instance->context, "take");
    const int code = m->mover->take(m->instance->data, &m->instance->host, &sim->state.face, changed);
    sim->ahead = m; /* it may have rounded what it took */
    return context_exit_code(&m->instance->context, code, "taking the configuration");
}

int borrowing_take_all(simulation *sim)
{
    int code = 0;
    for (int k = sim->mover_count - 1; k >= 0 && !code; k--)
        code = borrowing_take(sim, &sim->movers[k]);
    return code;
}

int borrowing_take_up(simulation *sim)
{
    int code = 0;
    for (int k = 0; k < sim->mover_count && !code; k++) {
        sim->ahead = NULL;
        code = borrowing_take(sim, &sim->movers[k]);
    }
    sim->ahead = NULL;
    return code;
}

void borrowing_resume(simulation *sim, moving *m, bool current)
{
    memset(m->seen, 0, sizeof m->seen); /* versions begin with 1 */
    if (current) state_changes(&sim->state, m->seen);
}

bool borrowing_is_current(const simulation *sim, const moving *m)
{
    uint64_t seen[PLUGMC_STATE_ARRAYS];
    memcpy(seen, m->seen, sizeof seen);
    return sim->ahead == m || (!sim->ahead && !state_changes(&sim->state, seen));
}

int borrowing_positions(simulation *sim, int side, const double **out)
{
    instance *asking = simulation_asking(sim);
    int code = give_to(sim, NULL);
    if (code) return code;
    *out = state_positions(&sim->state, side, PLUGMC_READ, &code);
    return context_exit_code(&asking->context, code, "bringing positions where they are needed");
}

static int on_host(simulation *sim, int access, double **out)
{
    int code;
    *out = state_positions(&sim->state, PLUGMC_ON_HOST, access, &code);
    return context_exit_code(&simulation_asking(sim)->context, code, "taking memory for positions");
}

int borrowing_read(simulation *sim, const double **out)
{
    return on_host(sim, PLUGMC_READ, (double **)out);
}

int borrowing_write(simulation *sim, double **out) { return on_host(sim, PLUGMC_WRITE, out); }
