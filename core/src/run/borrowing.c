#include "run/borrowing.h"

#include <string.h>

#include "crash.h"

/* Movers that keep no configuration have the one of the Hamiltonian in common. */
static uint64_t *seen_by(simulation *sim, moving *m)
{
    return m->by_core ? sim->hamiltonian_seen : m->seen;
}

static bool have_the_same(const moving *a, const moving *b)
{
    return a == b || (a && b && a->by_core && b->by_core);
}

int borrowing_give(simulation *sim)
{
    moving *m = sim->ahead;
    if (!m) return PLUGMC_OK;
    context_calling(&m->instance->context, "give");
    const int code = m->by_core
                         ? hamiltonian_give(&sim->hamiltonian, &sim->state.face)
                         : m->mover->give(m->instance->data, &m->instance->host, &sim->state.face);
    crash_called();
    if (code) return code;
    sim->ahead = NULL;
    state_changes(&sim->state, seen_by(sim, m)); /* it knows what it has written itself */
    return PLUGMC_OK;
}

static int give_to(simulation *sim, const moving *next)
{
    moving *m = sim->ahead;
    if (!m || have_the_same(m, next)) return 0;
    return context_exit_code(&m->instance->context, borrowing_give(sim),
                             "giving the configuration back");
}

int borrowing_take(simulation *sim, moving *m)
{
    const plugmc_host *host = &m->instance->host;
    const int before = give_to(sim, m);
    const uint32_t changed = before ? 0 : state_changes(&sim->state, seen_by(sim, m));
    if (!changed) return before;
    context_calling(&m->instance->context, "take");
    const int code = m->by_core
                         ? hamiltonian_take(&sim->hamiltonian, host, &sim->state.face, changed)
                         : m->mover->take(m->instance->data, host, &sim->state.face, changed);
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

void borrowing_resume(simulation *sim, moving *m, uint32_t changed)
{
    uint64_t *seen = seen_by(sim, m);
    state_changes(&sim->state, seen);
    for (int k = 0; k < STATE_ARRAYS; k++)
        if (changed & 1u << k) seen[k] = 0; /* nothing */
}

uint32_t borrowing_changes(const simulation *sim, const moving *m)
{
    uint64_t seen[STATE_ARRAYS];
    memcpy(seen, m->by_core ? sim->hamiltonian_seen : m->seen, sizeof seen);
    if (have_the_same(sim->ahead, m)) return 0;
    return sim->ahead ? (1u << STATE_ARRAYS) - 1 : state_changes(&sim->state, seen);
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

int borrowing_boxes(simulation *sim, moving *m)
{
    const int code = hamiltonian_give_boxes(&sim->hamiltonian, &sim->state.face);
    if (!code) state_changes(&sim->state, sim->hamiltonian_seen);
    return context_exit_code(&m->instance->context, code, "giving boxes back");
}

int borrowing_boxes_of(simulation *sim, const plugmc_box **out)
{
    void *boxes = NULL;
    const plugmc_state *state = &sim->state.face;
    int code = give_to(sim, NULL);
    if (code) return code;
    code = state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &boxes, NULL);
    *out = boxes;
    return context_exit_code(&simulation_asking(sim)->context, code, "reading boxes");
}
