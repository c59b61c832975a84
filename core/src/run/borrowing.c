#include "run/borrowing.h"

#include <string.h>

#include "base/crash.h"

/* Movers that keep no configuration have the one of the Hamiltonian in common. */
static uint64_t *seen_by(simulation *sim, moving *m)
{
    return m->by_core ? sim->hamiltonian_seen : m->seen;
}

/* ---- Giving -------------------------------------------------------------------------------------- */

/* One that can be asked about other boxes holds on to the configuration beside movers that ask the core:
 * it gives when somebody reads what it has changed, see `fetch`. */
static bool holds_on(const moving *m) { return m->mover->rescale != NULL; }

/* Whoever is ahead of the state writes into it, and knows what it has written. */
int borrowing_give(simulation *sim)
{
    moving *m = sim->ahead;
    uint64_t before[STATE_ARRAYS] = {0}, *seen = m ? m->seen : sim->hamiltonian_seen;
    int code;
    if (!m && !hamiltonian_is_ahead(&sim->hamiltonian)) return PLUGMC_OK;
    sim->ahead = NULL; /* what it reads while it gives is what it writes */
    state_changes(&sim->state, before);
    if (m) {
        const crash_record outer = crash_calling(m->instance->context.section, "give");
        code = m->mover->give(m->instance->data, &m->instance->host, &sim->state.face);
        crash_called_within(outer);
    } else {
        sim->giving = true;
        code = hamiltonian_give(&sim->hamiltonian, &sim->state.face);
        sim->giving = false;
    }
    if (code) return code;
    for (int k = 0; k < STATE_ARRAYS; k++)
        if (sim->state.arrays[k].version != before[k]) seen[k] = sim->state.arrays[k].version;
    return PLUGMC_OK;
}

/* Of what movers that ask the core have changed. */
static int give_what_is_asked(simulation *sim, int what)
{
    const uint64_t before = sim->state.arrays[what].version;
    hamiltonian *h = &sim->hamiltonian;
    const plugmc_state *state = &sim->state.face;
    int code = PLUGMC_OK;
    if (!h->walkers) return code;
    sim->giving = true;
    if (what == PLUGMC_STATE_BOX) code = hamiltonian_give_boxes(h, state);
    if (what == PLUGMC_STATE_COUNT) code = hamiltonian_give_counts(h, state);
    if (what == PLUGMC_STATE_POSITION) code = hamiltonian_give_places(h, state);
    sim->giving = false;
    if (sim->state.arrays[what].version != before)
        sim->hamiltonian_seen[what] = sim->state.arrays[what].version;
    return code;
}

/* state.fetch */
static int fetch(void *from, int what)
{
    simulation *sim = from;
    const moving *m = sim->ahead;
    if (m) return m->mover->changes & 1u << what ? borrowing_give(sim) : PLUGMC_OK;
    return sim->giving ? PLUGMC_OK : give_what_is_asked(sim, what);
}

/* `next` is to sweep, or NULL: somebody wants to see the state. */
static int give_to(simulation *sim, const moving *next)
{
    moving *m = sim->ahead;
    instance *giving = m ? m->instance : simulation_asking(sim);
    if (m && (m == next || (next && next->by_core && holds_on(m)))) return 0;
    if (!m && next && next->by_core) return 0;
    return context_exit_code(&giving->context, borrowing_give(sim),
                             "giving the configuration back");
}

/* ---- Taking -------------------------------------------------------------------------------------- */

int borrowing_take(simulation *sim, moving *m)
{
    const plugmc_host *host = &m->instance->host;
    const int before = give_to(sim, m);
    uint32_t changed = before ? 0 : state_changes(&sim->state, seen_by(sim, m));
    if (m->by_core && sim->ahead) changed |= sim->ahead->mover->changes;
    if (!changed || before) return before;
    context_calling(&m->instance->context, "take");
    const int code = m->by_core
                         ? hamiltonian_take(&sim->hamiltonian, host, &sim->state.face, changed)
                         : m->mover->take(m->instance->data, host, &sim->state.face, changed);
    if (!m->by_core) sim->ahead = m; /* it may have rounded what it took */
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
    if (code || !sim->hamiltonian.has_totals) return code;
    instance *asking = simulation_asking(sim); /* totals look now: their archive comes after that */
    return context_exit_code(&asking->context, hamiltonian_bring(&sim->hamiltonian, &asking->host),
                             "taking the configuration");
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
    const uint32_t changed = state_changes(&sim->state, seen);
    return m->by_core && sim->hamiltonian.left_out ? changed | PLUGMC_CHANGED_POSITION : changed;
}

int borrowing_positions(simulation *sim, int side, const double **out)
{
    instance *asking = simulation_asking(sim);
    int code = give_to(sim, NULL);
    if (code) return code;
    *out = state_positions(&sim->state, side, PLUGMC_READ, &code);
    return context_exit_code(&asking->context, code, "bringing positions where they are needed");
}

/* The mover that has the configuration as it is, whether or not it has given it, and can give a share of it. */
static moving *sharer(simulation *sim)
{
    const uint32_t places = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION;
    for (int k = 0; k < sim->mover_count; k++) {
        moving *m = &sim->movers[k];
        uint64_t seen[STATE_ARRAYS];
        if (!PLUGMC_HAS(m->mover, give_share) || !m->mover->give_share) continue;
        if (sim->ahead) return m == sim->ahead ? m : NULL;
        memcpy(seen, m->seen, sizeof seen);
        const bool same = !(state_changes(&sim->state, seen) & places);
        return same && !hamiltonian_is_ahead(&sim->hamiltonian) ? m : NULL;
    }
    return NULL;
}

static int make_room_for_share(simulation *sim, instance *asking)
{
    const size_t bytes = sizeof(double) * 3 * (size_t)sim->system.particles;
    if (sim->of_share) return 0;
    if (!sim->gpu) {
        sim->of_share = asking->host.allocate(asking->host.context, bytes);
        return sim->of_share ? 0
                             : report_error(sim->report, EXIT_MEMORY, NULL, 0,
                                            "no memory for the positions of %lld particles",
                                            (long long)sim->system.particles);
    }
    plugmc_device_pointer memory = 0;
    const int code = asking->host.gpu->allocate(asking->host.context, bytes, &memory);
    sim->of_share = (double *)(uintptr_t)memory;
    return context_exit_code(&asking->context, code, "taking memory for positions");
}

int borrowing_share(simulation *sim, double reach, const double **out, plugmc_share *share)
{
    moving *m = sharer(sim);
    *out = NULL;
    if (!m) return 0;
    int code = make_room_for_share(sim, m->instance);
    if (code) return code;
    const crash_record outer = crash_calling(m->instance->context.section, "give_share");
    code = m->mover->give_share(m->instance->data, &m->instance->host, reach, sim->of_share, share);
    crash_called_within(outer);
    *out = sim->of_share;
    return context_exit_code(&m->instance->context, code, "giving its share of the configuration");
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

int borrowing_swept(simulation *sim, moving *m)
{
    static const int own[] = {PLUGMC_STATE_BOX, PLUGMC_STATE_COUNT, PLUGMC_STATE_POSITION};
    const int code = hamiltonian_give_boxes(&sim->hamiltonian, &sim->state.face);
    if (code) return context_exit_code(&m->instance->context, code, "giving boxes back");
    /* of the mover's sweep it knows all, whoever wrote it: where it was behind, it still says so */
    for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
        sim->hamiltonian_seen[own[k]] = sim->state.arrays[own[k]].version;
    return borrowing_take(sim, m);
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

/* ---- Another box, asked of who holds the configuration ------------------------------------------- */

/* The mover that has the configuration as it is, and can say what another box does to it: whether it has
 * also given it back makes no difference, since that hangs on when somebody looks. NULL: none. */
static moving *holder(simulation *sim)
{
    const uint32_t places = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION;
    if (sim->ahead) return holds_on(sim->ahead) ? sim->ahead : NULL;
    if (hamiltonian_is_ahead(&sim->hamiltonian)) return NULL;
    for (int k = 0; k < sim->mover_count; k++) {
        moving *m = &sim->movers[k];
        uint64_t seen[STATE_ARRAYS];
        memcpy(seen, m->seen, sizeof seen);
        if (!m->by_core && holds_on(m) && !(state_changes(&sim->state, seen) & places)) return m;
    }
    return NULL;
}

static int ask_holder(void *of, const plugmc_changes *changes, const int64_t *taken)
{
    simulation *sim = of;
    moving *m = taken ? sim->rescaling : holder(sim);
    if (!m) return PLUGMC_UNANSWERED;
    const crash_record outer = crash_calling(m->instance->context.section, "rescale");
    const int code = m->mover->rescale(m->instance->data, &m->instance->host, changes, taken);
    crash_called_within(outer);
    sim->rescaling = m;
    if (!taken || code) return code;
    m->seen[PLUGMC_STATE_BOX] = sim->state.arrays[PLUGMC_STATE_BOX].version;
    sim->ahead = m; /* places are others now */
    return PLUGMC_OK;
}

void borrowing_begin(simulation *sim)
{
    sim->state.fetch = fetch;
    sim->state.fetched_from = sim;
    sim->hamiltonian.ask_holder = ask_holder;
    sim->hamiltonian.holder = sim;
}
