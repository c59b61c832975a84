#include "run/borrowing.h"

#include "crash.h"

int borrowing_take(simulation *sim)
{
    instance *mover = sim->mover;
    const uint32_t changed = state_changes(&sim->state, sim->seen);
    if (!changed) return 0;
    context_calling(&mover->context, "take");
    const int code = mover->plugin->mover->take(mover->data, &mover->host, &sim->state.face, changed);
    sim->ahead = true; /* it may have rounded what it took */
    return context_exit_code(&mover->context, code, "taking the configuration");
}

int borrowing_give(simulation *sim)
{
    instance *mover = sim->mover;
    if (!sim->ahead) return PLUGMC_OK;
    context_calling(&mover->context, "give");
    const int code = mover->plugin->mover->give(mover->data, &mover->host, &sim->state.face);
    crash_called();
    sim->ahead = code != PLUGMC_OK;
    if (!code) state_changes(&sim->state, sim->seen); /* it knows what it has written itself */
    return code;
}

int borrowing_positions(simulation *sim, int side, const double **out)
{
    int code = borrowing_give(sim);
    if (!code) *out = state_positions(&sim->state, side, PLUGMC_READ, &code);
    return context_exit_code(&sim->mover->context, code, "giving the configuration back");
}

static int on_host(simulation *sim, int access, double **out)
{
    int code;
    instance *asking = sim->mover ? sim->mover : sim->instances;
    *out = state_positions(&sim->state, PLUGMC_ON_HOST, access, &code);
    return context_exit_code(&asking->context, code, "taking memory for positions");
}

int borrowing_read(simulation *sim, const double **out)
{
    return on_host(sim, PLUGMC_READ, (double **)out);
}

int borrowing_write(simulation *sim, double **out) { return on_host(sim, PLUGMC_WRITE, out); }
