#include "engine/sync.h"

#include <string.h>

#include "base/crash.h"

/* Movers that keep no configuration have the one of the Hamiltonian in common. */
static uint64_t *seen_by(engine *engine, mover_slot *m)
{
    return m->by_core ? engine->current.hamiltonian_seen : m->seen;
}

/* ---- Giving -------------------------------------------------------------------------------------- */

/* One that can be asked about other boxes holds on to the configuration beside movers that ask the core:
 * it gives when somebody reads what it has changed, see `fetch`. */
static bool holds_on(const mover_slot *m) { return m->mover->driver && m->mover->driver->rescale; }

/* Whoever is ahead of the state writes into it, and knows what it has written. */
int sync_store(engine *engine)
{
    mover_slot *m = engine->current.ahead;
    uint64_t before[STATE_ARRAYS] = {0}, *seen = m ? m->seen : engine->current.hamiltonian_seen;
    int code;
    if (!m && !hamiltonian_is_newer(&engine->current.hamiltonian)) return PLUGMC_OK;
    engine->current.ahead = NULL; /* what it reads while it gives is what it writes */
    state_changes(&engine->current.state, before);
    if (m) {
        const crash_record outer = crash_calling(m->instance->context.section, "store");
        code = m->mover->driver->store(m->instance->data, &m->instance->host,
                                       &engine->current.state.face);
        crash_called_within(outer);
    } else {
        engine->current.giving = true;
        code = hamiltonian_store(&engine->current.hamiltonian, &engine->current.state.face);
        engine->current.giving = false;
    }
    if (code) return code;
    for (int k = 0; k < STATE_ARRAYS; k++)
        if (engine->current.state.arrays[k].version != before[k])
            seen[k] = engine->current.state.arrays[k].version;
    return PLUGMC_OK;
}

/* Of what movers that ask the core have changed. */
static int give_what_is_asked(engine *engine, int what)
{
    const uint64_t before = engine->current.state.arrays[what].version;
    hamiltonian *h = &engine->current.hamiltonian;
    const plugmc_state *state = &engine->current.state.face;
    int code = PLUGMC_OK;
    if (!h->walkers) return code;
    engine->current.giving = true;
    if (what == PLUGMC_STATE_BOX) code = hamiltonian_store_boxes(h, state);
    if (what == PLUGMC_STATE_COUNT) code = hamiltonian_store_counts(h, state);
    if (what == PLUGMC_STATE_POSITION) code = hamiltonian_store_positions(h, state);
    if (what == PLUGMC_STATE_ORIENTATION) code = hamiltonian_store_orientations(h, state);
    engine->current.giving = false;
    if (engine->current.state.arrays[what].version != before)
        engine->current.hamiltonian_seen[what] = engine->current.state.arrays[what].version;
    return code;
}

/* state.fetch */
static int fetch(void *from, int what)
{
    engine *engine = from;
    const mover_slot *m = engine->current.ahead;
    if (m) return m->mover->changes & 1u << what ? sync_store(engine) : PLUGMC_OK;
    return engine->current.giving ? PLUGMC_OK : give_what_is_asked(engine, what);
}

/* `next` is to sweep, or NULL: somebody wants to see the state. */
static int give_to(engine *engine, const mover_slot *next)
{
    mover_slot *m = engine->current.ahead;
    instance *giving = m ? m->instance : engine_asking(engine);
    if (m && (m == next || (next && next->by_core && holds_on(m)))) return 0;
    if (!m && next && next->by_core) return 0;
    return context_exit_code(&giving->context, sync_store(engine), "loading the configuration");
}

/* ---- Taking -------------------------------------------------------------------------------------- */

int sync_load(engine *engine, mover_slot *m)
{
    const plugmc_host *host = &m->instance->host;
    const int before = give_to(engine, m);
    uint32_t changed = before ? 0 : state_changes(&engine->current.state, seen_by(engine, m));
    if (m->by_core && engine->current.ahead) changed |= engine->current.ahead->mover->changes;
    if (!changed || before) return before;
    context_calling(&m->instance->context, "load");
    const int code = m->by_core ? hamiltonian_load(&engine->current.hamiltonian, host,
                                                   &engine->current.state.face, changed)
                                : m->mover->driver->load(m->instance->data, host,
                                                         &engine->current.state.face, changed);
    if (!m->by_core) engine->current.ahead = m; /* it may have rounded what it took */
    return context_exit_code(&m->instance->context, code, "storing the configuration");
}

int sync_load_all(engine *engine)
{
    int code = 0;
    for (int k = engine->mover_count - 1; k >= 0 && !code; k--)
        code = sync_load(engine, &engine->movers[k]);
    return code;
}

int sync_load_checkpoint(engine *engine)
{
    int code = 0;
    for (int k = 0; k < engine->mover_count && !code; k++) {
        engine->current.ahead = NULL;
        code = sync_load(engine, &engine->movers[k]);
    }
    engine->current.ahead = NULL;
    if (code || !engine->current.hamiltonian.has_totals) return code;
    instance *asking = engine_asking(engine); /* totals look now: their archive comes after that */
    return context_exit_code(&asking->context,
                             hamiltonian_refresh(&engine->current.hamiltonian, &asking->host),
                             "storing the configuration");
}

void sync_resumed(engine *engine, mover_slot *m, uint32_t changed)
{
    uint64_t *seen = seen_by(engine, m);
    state_changes(&engine->current.state, seen);
    for (int k = 0; k < STATE_ARRAYS; k++)
        if (changed & 1u << k) seen[k] = 0; /* nothing */
}

uint32_t sync_changes(const engine *engine, const mover_slot *m)
{
    uint64_t seen[STATE_ARRAYS];
    memcpy(seen, m->by_core ? engine->current.hamiltonian_seen : m->seen, sizeof seen);
    const uint32_t changed = state_changes(&engine->current.state, seen);
    return m->by_core && engine->current.hamiltonian.stale ? changed | PLUGMC_CHANGED_POSITION
                                                           : changed;
}

int sync_positions(engine *engine, int side, const double **out)
{
    instance *asking = engine_asking(engine);
    int code = give_to(engine, NULL);
    if (code) return code;
    *out = state_positions(&engine->current.state, side, PLUGMC_READ, &code);
    return context_exit_code(&asking->context, code, "copying positions");
}

/* The mover that has the configuration as it is, whether or not it has given it, and can give a share of it. */
static mover_slot *sharer(engine *engine)
{
    const uint32_t places = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION;
    for (int k = 0; k < engine->mover_count; k++) {
        mover_slot *m = &engine->movers[k];
        uint64_t seen[STATE_ARRAYS];
        if (!plugmc_offered(m->instance->plugin, PLUGMC_GIVES_SHARES)) continue;
        if (engine->current.ahead) return m == engine->current.ahead ? m : NULL;
        memcpy(seen, m->seen, sizeof seen);
        const bool same = !(state_changes(&engine->current.state, seen) & places);
        return same && !hamiltonian_is_newer(&engine->current.hamiltonian) ? m : NULL;
    }
    return NULL;
}

static int make_room_for_share(engine *engine, instance *asking)
{
    const size_t bytes = sizeof(double) * 3 * (size_t)engine->system.particles;
    if (engine->current.of_share) return 0;
    if (!engine->device.gpu) {
        engine->current.of_share = asking->host.allocate(asking->host.context, bytes);
        return engine->current.of_share
                   ? 0
                   : report_error(engine->report, EXIT_MEMORY, NULL, 0,
                                  "no memory for the positions of %lld particles",
                                  (long long)engine->system.particles);
    }
    plugmc_device_pointer memory = 0;
    const int code = asking->host.gpu->allocate(asking->host.context, bytes, &memory);
    engine->current.of_share = (double *)(uintptr_t)memory;
    return context_exit_code(&asking->context, code, "allocating memory for positions");
}

int sync_share(engine *engine, double reach, const double **out, plugmc_share *share)
{
    mover_slot *m = sharer(engine);
    *out = NULL;
    if (!m) return 0;
    int code = make_room_for_share(engine, m->instance);
    if (code) return code;
    const crash_record outer = crash_calling(m->instance->context.section, "give_share");
    const plugmc_gives_shares *gives = plugmc_offered(m->instance->plugin, PLUGMC_GIVES_SHARES);
    code = gives->give_share(m->instance->data, &m->instance->host, reach, engine->current.of_share,
                             share);
    crash_called_within(outer);
    *out = engine->current.of_share;
    return context_exit_code(&m->instance->context, code, "storing its share of the configuration");
}

static int on_host(engine *engine, int access, double **out)
{
    int code;
    *out = state_positions(&engine->current.state, PLUGMC_ON_HOST, access, &code);
    return context_exit_code(&engine_asking(engine)->context, code,
                             "allocating memory for positions");
}

int sync_read(engine *engine, const double **out)
{
    return on_host(engine, PLUGMC_READ, (double **)out);
}

int sync_write(engine *engine, double **out) { return on_host(engine, PLUGMC_WRITE, out); }

int sync_swept(engine *engine, mover_slot *m)
{
    static const int own[] = {PLUGMC_STATE_BOX, PLUGMC_STATE_COUNT, PLUGMC_STATE_POSITION};
    const int code =
        hamiltonian_store_boxes(&engine->current.hamiltonian, &engine->current.state.face);
    if (code) return context_exit_code(&m->instance->context, code, "loading the boxes");
    /* of the mover's sweep it knows all, whoever wrote it: where it was behind, it still says so */
    for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
        engine->current.hamiltonian_seen[own[k]] = engine->current.state.arrays[own[k]].version;
    return sync_load(engine, m);
}

int sync_boxes(engine *engine, const plugmc_box **out)
{
    void *boxes = NULL;
    const plugmc_state *state = &engine->current.state.face;
    int code = give_to(engine, NULL);
    if (code) return code;
    code = state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &boxes, NULL);
    *out = boxes;
    return context_exit_code(&engine_asking(engine)->context, code, "reading boxes");
}

/* ---- Another box, asked of who holds the configuration ------------------------------------------- */

/* The mover that has the configuration as it is, and can say what another box does to it: whether it has
 * also given it back makes no difference, since that depends on when somebody looks. NULL: none. */
static mover_slot *holder(engine *engine)
{
    const uint32_t places = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION;
    if (engine->current.ahead)
        return holds_on(engine->current.ahead) ? engine->current.ahead : NULL;
    if (hamiltonian_is_newer(&engine->current.hamiltonian)) return NULL;
    for (int k = 0; k < engine->mover_count; k++) {
        mover_slot *m = &engine->movers[k];
        uint64_t seen[STATE_ARRAYS];
        memcpy(seen, m->seen, sizeof seen);
        if (!m->by_core && holds_on(m) && !(state_changes(&engine->current.state, seen) & places))
            return m;
    }
    return NULL;
}

static int ask_holder(void *of, const plugmc_changes *changes, const int64_t *taken)
{
    engine *engine = of;
    mover_slot *m = taken ? engine->current.rescaling : holder(engine);
    if (!m) return PLUGMC_UNANSWERED;
    const crash_record outer = crash_calling(m->instance->context.section, "rescale");
    const int code =
        m->mover->driver->rescale(m->instance->data, &m->instance->host, changes, taken);
    crash_called_within(outer);
    engine->current.rescaling = m;
    if (!taken || code) return code;
    m->seen[PLUGMC_STATE_BOX] = engine->current.state.arrays[PLUGMC_STATE_BOX].version;
    engine->current.ahead = m; /* places are others now */
    return PLUGMC_OK;
}

void sync_begin(engine *engine)
{
    engine->current.state.fetch = fetch;
    engine->current.state.fetched_from = engine;
    engine->current.hamiltonian.holder.rescale = ask_holder;
    engine->current.hamiltonian.holder.holder = engine;
}
