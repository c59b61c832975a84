/* Host services for plugins: messages, memory, and what the core does for movers. */
#include "engine/services.h"

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/guarded_memory.h"
#include "energy/on_device.h"
#include "energy/bias.h"
#include "plugin/copy.h"
#include "base/rehearsal.h"
#include "engine/apart.h"
#include "engine/replica_table.h"
#include "engine/reservoirs.h"
#include "engine/local_energies.h"
#include "engine/not_a_number.h"
#include "engine/on_host.h"
#include "engine/engine.h"
#include "base/stop.h"
#include "parallel/decomposition.h"
#include "parallel/team.h"
#include "plugmc/reservoir.h"

/* A sentence that begins with a key of the section and a colon is about that key. */
static const ini_entry *entry_of(const plugmc_context *context, const char *sentence)
{
    const size_t length = strcspn(sentence, ":");
    for (int k = 0; context->keys && sentence[length] && k < context->keys->count; k++) {
        const ini_entry *entry = &context->keys->entries[k];
        if (strlen(entry->key) == length && !strncmp(entry->key, sentence, length)) return entry;
    }
    return NULL;
}

static const char *file_of(const plugmc_context *context, const ini_entry *entry)
{
    return entry && !entry->line ? "--set" : context->file;
}

static int line_of(const plugmc_context *context, const ini_entry *entry)
{
    return entry ? entry->line : context->line;
}

static int host_fail(plugmc_context *context, int code, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (context->tried) return code;
    const ini_entry *entry = entry_of(context, sentence);
    report_error(context->report, context_exit_code_of(code), file_of(context, entry),
                 line_of(context, entry), "[%s] %s", context->section, sentence);
    context_failed(context);
    return code;
}

static void host_warn(plugmc_context *context, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    const ini_entry *entry = entry_of(context, sentence);
    report_warning(context->report, file_of(context, entry), line_of(context, entry), "[%s] %s",
                   context->section, sentence);
}

/* By calloc, which does not touch large blocks: plugmc check of 10^9 particles would spend half a
 * minute on zeroing what it does not use. */
static void *host_allocate(plugmc_context *context, size_t bytes)
{
    enum { ALIGNMENT = 64 };
    const size_t more = guarded_memory_guards() ? 0 : ALIGNMENT; /* a guarded block is aligned */
    char *memory = bytes <= SIZE_MAX - ALIGNMENT
                       ? guarded_allocate(bytes + more, ALIGNMENT, "memory that it allocated")
                       : NULL;
    void **list =
        realloc(context->allocations, sizeof(void *) * (size_t)(context->allocation_count + 1));
    if (!memory || !list) {
        guarded_free(memory);
        if (list) context->allocations = list;
        return NULL;
    }
    context->allocations = list;
    list[context->allocation_count++] = memory;
    return memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT) % ALIGNMENT;
}

/* A plugin may know fewer members than we do, or more. */
static int host_view(plugmc_context *context, const double *positions, int32_t on_device,
                     plugmc_view *out)
{
    plugmc_view whole;
    const uint32_t room = out->size;
    if (room < VIEW_2_0)
        return host_fail(context, PLUGMC_ERROR_STATE,
                         "a view of %u bytes is asked for: a plugin says its size, %d at least, "
                         "before",
                         room, VIEW_2_0);
    view_clear(context->stage);
    context->stage->gpu = context->gpu;
    context->stage->without_orientations = room <= offsetof(plugmc_view, orientations);
    const int code = view_of(context->stage, positions, on_device, 0, &whole);
    if (room < whole.size) whole.size = room;
    memcpy(out, &whole, whole.size);
    return code;
}

static int host_rehearse(plugmc_context *context, const char *path)
{
    char reason[REHEARSAL_REASON];
    int code = apart_rehearse(path, context->plugin, reason);
    if (!code) return PLUGMC_OK;
    return host_fail(context, context_plugin_code_of(code), "%s: %s", path, reason);
}

static int host_stopping(plugmc_context *context)
{
    if (stop_given_up()) return 1;
    /* other threads than the main one have no device, and nothing was launched for them */
    if (!context->gpu || omp_in_parallel() || !stop_expects_slow()) return 0;
    gpu_throttle(context->gpu);
    return stop_given_up();
}

/* ---- The Hamiltonian: movers without a configuration of their own ---------------------------- */

static mover_slot *mover_of(const plugmc_context *context)
{
    struct engine *engine = context->engine;
    for (int k = 0; engine && k < engine->mover_count; k++)
        if (&engine->movers[k].instance->context == context && engine->movers[k].by_core)
            return &engine->movers[k];
    return NULL;
}

static int not_for(plugmc_context *context, const char *service)
{
    return host_fail(context, PLUGMC_ERROR_STATE, "%s is for movers without 'load' and 'store'",
                     service);
}

static int host_energies(plugmc_context *context, const plugmc_changes *changes)
{
    const mover_slot *m = mover_of(context);
    return m ? hamiltonian_energies(&context->engine->current.hamiltonian, &m->instance->host,
                                    changes)
             : not_for(context, "energies");
}

static int host_settle(plugmc_context *context, const plugmc_changes *changes, const int64_t *taken)
{
    const mover_slot *m = mover_of(context);
    if (!m) return not_for(context, "settle");
    if (bias_concerns(&context->engine->current.hamiltonian, m->mover->changes))
        return host_fail(context, PLUGMC_ERROR_STATE,
                         "it accepts trial moves itself, so the weights of mover '%s' would "
                         "be ignored",
                         context->engine->weighing->instance->loaded.name);
    hamiltonian *h = &context->engine->current.hamiltonian;
    /* whatever the mover has made of `change` meanwhile is no running energy */
    for (int32_t k = 0; k < changes->walkers; k++)
        h->walkers[changes->first + k].running.known = false;
    return hamiltonian_settle(h, &m->instance->host, changes, taken);
}

static int host_energy(plugmc_context *context, int32_t walker, const double **out)
{
    const mover_slot *m = mover_of(context);
    return m ? hamiltonian_energy(&context->engine->current.hamiltonian, &m->instance->host, walker,
                                  out)
             : not_for(context, "energy");
}

static int host_exchange_delta(plugmc_context *context, int32_t a, int32_t b, double *delta)
{
    const mover_slot *m = mover_of(context);
    if (!m) return not_for(context, "exchange_delta");
    if (replica_table_is_used(m)) return replica_table_delta(context->engine, a, b, delta);
    return hamiltonian_exchange_delta(&context->engine->current.hamiltonian, &m->instance->host, a,
                                      b, delta);
}

static int host_exchange_rungs(plugmc_context *context, int32_t a, int32_t b)
{
    const mover_slot *m = mover_of(context);
    if (!m) return not_for(context, "exchange_rungs");
    if (replica_table_is_used(m)) return replica_table_exchange(context->engine, a, b);
    return hamiltonian_exchange_rungs(&context->engine->current.hamiltonian, a, b);
}

/* Rungs [walkers] as they are; NULL where there is one alone, or no memory. */
static const int32_t *rungs_of(struct engine *engine)
{
    void *out = NULL;
    const plugmc_state *state = &engine->current.state.face;
    if (engine->system.rungs > 1)
        state->array(state, PLUGMC_STATE_RUNG, PLUGMC_ON_HOST, PLUGMC_READ, &out, NULL);
    return out;
}

static double host_step(plugmc_context *context, int32_t move, int32_t walker)
{
    const mover_slot *m = mover_of(context);
    const int32_t *rungs = m ? rungs_of(context->engine) : NULL;
    return m ? context->engine->moves[m->first_move + move].steps[rungs ? rungs[walker] : 0] : 0;
}

static void host_count(plugmc_context *context, int32_t move, int32_t walker, int taken)
{
    const mover_slot *m = mover_of(context);
    const int32_t *rungs = m ? rungs_of(context->engine) : NULL;
    if (!m) return;
    plugmc_counts *made =
        &m->made[move * context->engine->system.rungs + (rungs ? rungs[walker] : 0)];
    made->trials++;
    made->accepted += taken != 0;
}

static int host_decide(plugmc_context *context, const plugmc_decision *decision)
{
    const mover_slot *m = mover_of(context);
    if (!m) return not_for(context, "decide");
    if (decision->move < 0 || decision->move >= m->mover->move_count)
        return host_fail(context, PLUGMC_ERROR_STATE, "its table has no move %d", decision->move);
    struct engine *engine = context->engine;
    return hamiltonian_decide(&engine->current.hamiltonian, &m->instance->host, decision,
                              m->mover->changes, rungs_of(engine),
                              &m->made[decision->move * engine->system.rungs]);
}

static const int32_t *host_by_rung(plugmc_context *context)
{
    struct engine *engine = context->engine;
    const mover_slot *m = mover_of(context);
    const bool all = m && replica_table_is_used(m);
    if (all && replica_table_fill(engine, &m->instance->host)) return NULL;
    const int32_t walkers = all ? engine->processes.all_walkers : engine->system.walkers,
                  each = walkers / engine->system.rungs,
                  *rungs = all ? engine->processes.replica_table->rung : rungs_of(engine);
    int32_t filled[engine->system.rungs];
    memset(filled, 0, sizeof filled);
    if (!engine->processes.by_rung)
        engine->processes.by_rung =
            calloc((size_t)engine->processes.all_walkers, sizeof *engine->processes.by_rung);
    if (!engine->processes.by_rung || (engine->system.rungs > 1 && !rungs)) {
        host_fail(context, PLUGMC_ERROR_MEMORY, "no memory for the order of walkers");
        return NULL;
    }
    for (int32_t w = 0; w < walkers; w++) {
        const int32_t rung = rungs ? rungs[w] : 0;
        engine->processes.by_rung[rung * each + filled[rung]++] = w;
    }
    return engine->processes.by_rung;
}

static void host_reservoir(plugmc_context *context, int32_t species)
{
    engine *engine = context->engine;
    const size_t n = (size_t)reservoir_owners(&engine->config);
    for (int k = 0; k < engine->mover_count && species == -1; k++)
        if (&engine->movers[k].instance->context == context) engine->movers[k].takes_volume = true;
    if (species == -1) return;
    if (!engine->reservoirs) engine->reservoirs = checked(calloc(n + 1, 1));
    if (species >= 0 && (size_t)species < n) engine->reservoirs[species] = 1;
}

/* Weights of energies: every change of a configuration has to be decided by the core, and each trial to know the
 * energy that there is. */
static int check_energy_weights(plugmc_context *context)
{
    struct engine *engine = context->engine;
    for (int k = 0; k < engine->mover_count; k++)
        if (!engine->movers[k].by_core)
            return host_fail(context, PLUGMC_ERROR_INPUT,
                             "weights of energies need movers whose trial moves the core "
                             "accepts, such as serial: '%s' accepts them itself",
                             engine->movers[k].instance->loaded.name);
    if (engine->system.changes & PLUGMC_CHANGED_COUNT)
        return host_fail(context, PLUGMC_ERROR_INPUT,
                         "weights of energies need a fixed number of particles");
    for (int t = 0; t < engine->system.term_count; t++) {
        const plugmc_total *total = engine->terms[t].plugin->potential->total;
        if (engine->terms[t].sampled && total &&
            (plugmc_follows_positions(total) || !PLUGMC_HAS(total, of_counts) || !total->of_counts))
            return host_fail(
                context, PLUGMC_ERROR_INPUT,
                "weights of energies need pair energies and fields: '%s' is a many-body term",
                engine->terms[t].label);
    }
    return PLUGMC_OK;
}

static int host_declare(plugmc_context *context, plugmc_macrostates *macrostates)
{
    struct engine *engine = context->engine;
    const char *why = bias_refused(macrostates);
    mover_slot *m = mover_of(context);
    if (!m) return not_for(context, "declare");
    if (why)
        return host_fail(context, PLUGMC_ERROR_STATE, "macrostates cannot be declared: %s", why);
    if (engine->weighing && engine->weighing != m)
        return host_fail(context, PLUGMC_ERROR_INPUT,
                         "mover '%s' assigns weights to macrostates already: a run can have "
                         "one such mover",
                         engine->weighing->instance->loaded.name);
    if (engine->system.rungs > 1)
        return host_fail(context, PLUGMC_ERROR_INPUT,
                         "weights of macrostates cannot be combined with a ladder");
    if (team_now()->ranks > 1)
        return host_fail(
            context, PLUGMC_ERROR_INPUT,
            "weights of macrostates are common to all walkers, which are distributed over %d "
            "processes: start one process",
            team_now()->ranks);
    if (PLUGMC_HAS(macrostates, of_energy) && macrostates->of_energy != 0 &&
        check_energy_weights(context))
        return PLUGMC_ERROR_INPUT;
    engine->weighing = m;
    engine->macrostates = macrostates;
    return PLUGMC_OK;
}

static int host_trials(plugmc_context *context, const plugmc_proposal *proposal, uint64_t first,
                       uint64_t n)
{
    mover_slot *m = mover_of(context);
    if (!m) return not_for(context, "trials");
    const int32_t moves = m->mover->move_count;
    if (moves > MOST_MOVES)
        return host_fail(context, PLUGMC_ERROR_STATE, "it has more than %d kinds of move",
                         MOST_MOVES);
    if (proposal->move < 0 || proposal->move >= moves)
        return host_fail(context, PLUGMC_ERROR_STATE, "its table has no move %d", proposal->move);
    hamiltonian *h = &context->engine->current.hamiltonian;
    const plugmc_system *system = &context->engine->system;
    const move_record *record = &context->engine->moves[m->first_move + proposal->move];
    const int32_t *rungs = rungs_of(context->engine);
    for (int32_t w = 0; w < system->walkers; w++)
        h->walkers[w].step = record->steps[rungs ? rungs[w] : 0];
    const plugmc_host *host = &m->instance->host;
    int code = on_device_trials(h, host, m->instance->plugin, proposal, first, n);
    if (code == PLUGMC_UNANSWERED) note_made_on_host(context->engine, m, proposal);
    if (code == PLUGMC_UNANSWERED && !(PLUGMC_HAS(proposal, partner) && proposal->partner))
        code = hamiltonian_trials(h, host, m->mover, proposal, first, n);
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t k = 0; k < moves; k++) {
            plugmc_counts *made = &m->made[k * system->rungs + (rungs ? rungs[w] : 0)],
                          *own = &h->walkers[w].counts[k];
            made->trials += own->trials;
            made->accepted += own->accepted;
            *own = (plugmc_counts){0, 0};
        }
    return code;
}

/* ---- Extensions ---------------------------------------------------------------------------------- */

static int host_local_energy(plugmc_context *context, const plugmc_local_energy_request *request)
{
    const plugmc_host host = context_host(context, context->stage->system);
    return local_energies(&host, request);
}

static const void *host_extension(plugmc_context *context, const char *name)
{
    static const plugmc_hamiltonian hamiltonian = {.size = sizeof hamiltonian,
                                                   .energies = host_energies,
                                                   .settle = host_settle,
                                                   .energy = host_energy,
                                                   .step = host_step,
                                                   .count = host_count,
                                                   .decide = host_decide};
    static const plugmc_rungs rungs = {.size = sizeof rungs,
                                       .by_rung = host_by_rung,
                                       .exchange_delta = host_exchange_delta,
                                       .exchange_rungs = host_exchange_rungs};
    static const plugmc_weighing weighing = {.size = sizeof weighing, .declare = host_declare};
    static const plugmc_local_energies local_energies = {.size = sizeof local_energies,
                                                         .local_energy = host_local_energy};
    const plugmc_extension known[] = {{PLUGMC_HAMILTONIAN, &hamiltonian},
                                      {PLUGMC_RUNGS, &rungs},
                                      {PLUGMC_MACROSTATES, &weighing},
                                      {PLUGMC_LOCAL_ENERGIES, &local_energies},
                                      {PLUGMC_DOMAIN_DECOMPOSITION, spread_services()},
                                      {PLUGMC_RESERVOIRS, reservoir_services()}};
    (void)context;
    for (int k = 0; k < PLUGMC_COUNT(known); k++)
        if (!strcmp(name, known[k].name)) return known[k].table;
    return NULL;
}

plugmc_host context_host(plugmc_context *context, const plugmc_system *system)
{
    if (!context->stage) context->stage = checked(calloc(1, sizeof *context->stage));
    context->stage->system = system;
    return (plugmc_host){.size = sizeof(plugmc_host),
                         .abi_major = PLUGMC_ABI_MAJOR,
                         .abi_minor = PLUGMC_ABI_MINOR,
                         .context = context,
                         .seed = system ? system->seed : (plugmc_seed){0},
                         .every = 1,
                         .fail = host_fail,
                         .warn = host_warn,
                         .allocate = host_allocate,
                         .gpu = context->gpu ? gpu_services(context->gpu) : NULL,
                         .system = system,
                         .view = host_view,
                         .rehearse = host_rehearse,
                         .stopping = host_stopping,
                         .not_a_number = host_not_a_number,
                         .extension = host_extension,
                         .trials = host_trials,
                         .reservoir = host_reservoir};
}

void context_release(plugmc_context *context)
{
    if (context->stage) view_clear(context->stage);
    free(context->stage);
    context->stage = NULL;
    if (context->gpu) gpu_forget_downloads(context->gpu);
    for (int i = 0; i < context->allocation_count; i++) guarded_free(context->allocations[i]);
    free(context->allocations);
    context->allocations = NULL;
    context->allocation_count = 0;
}
