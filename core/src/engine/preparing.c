/* From plugins that fit together to movers that are ready to sweep. */
#include <stdlib.h>

#include "base/crash.h"
#include "base/guarded_memory.h"
#include "engine/replica_table.h"
#include "engine/sync.h"
#include "engine/device_choice.h"
#include "engine/echo.h"
#include "engine/engine.h"
#include "engine/kernels.h"
#include "engine/matching.h"
#include "engine/molecules.h"
#include "engine/moves.h"
#include "engine/refusals.h"
#include "engine/services.h"
#include "parallel/decomposition.h"
#include "system/system.h"
#include "energy/bias.h"

/* All but movers that know the CPU alone. */
static bool runs_on_gpu(const plugmc_plugin *plugin)
{
    return plugin->kind != PLUGMC_MOVER || plugin->mover->needs & PLUGMC_RUNS_ON_GPU;
}

/* The first mover has the seed of the run, mover number k that seed and k stirred into another key,
 * by the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), which is one to one. */
static plugmc_seed seed_of(const engine *engine, const instance *instance)
{
    uint64_t k = 0;
    while ((int)k < engine->mover_count && engine->movers[k].instance != instance) k++;
    if (!k || (int)k == engine->mover_count) return engine->system.seed;
    uint64_t z = engine->system.seed.key + k * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (plugmc_seed){.key = z ^ (z >> 31), .first_walker = engine->system.seed.first_walker};
}

/* What plugins keep of their host when they tell their GPU sources, and when they prepare, is that of the run. */
static void complete_hosts(engine *engine)
{
    for (int i = 0; i < engine->instance_count; i++) {
        instance *instance = &engine->instances[i];
        const plugmc_plugin *plugin = instance->plugin;
        instance->context.gpu = runs_on_gpu(plugin) ? engine->device.gpu : NULL;
        instance->context.engine = engine;
        instance->context.stage->state = &engine->current.state.face;
        instance->host = context_host(&instance->context, &engine->system);
        instance->host.seed = seed_of(engine, instance);
        instance->host.state = &engine->current.state.face;
        if (plugin->kind == PLUGMC_MOVER) instance->host.every = instance->section->every;
    }
}

/* Potentials with orbitals come before others, which may ask them where their ions are. */
static bool has_orbitals(const plugmc_plugin *plugin)
{
    return plugin->kind == PLUGMC_POTENTIAL && plugmc_orbitals_of(plugin);
}

static int prepare_kind(engine *engine, int kind, bool orbitals)
{
    for (int i = 0; i < engine->instance_count; i++) {
        instance *instance = &engine->instances[i];
        const plugmc_plugin *plugin = instance->plugin;
        int code = 0;
        if (plugin->kind != kind || has_orbitals(plugin) != orbitals) continue;
        struct answers *before = engine->tests_plugin ? NULL : before_prepare(engine, instance);
        context_calling(&instance->context, "prepare");
        if (plugin->prepare) code = plugin->prepare(instance->data, &instance->host);
        if (!code && plugin->kind == PLUGMC_MOVER && !plugin->mover->driver)
            code = hamiltonian_open(&engine->current.hamiltonian, &instance->host);
        code = context_exit_code(&instance->context, code, "preparing");
        if (code) free(before);
        if (code) return code;
        code = check_prepared(engine, instance, before);
        if (code) return code;
    }
    return 0;
}

/* Each mover that can change a macrostate has to leave its decisions to the core. */
static int begin_weighing(engine *engine)
{
    const uint32_t of = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT;
    instance *weighing = engine->weighing->instance;
    for (int k = 0; k < engine->mover_count; k++) {
        const mover_slot *m = &engine->movers[k];
        const char *why = m->mover->couples ? "couples several walkers in one decision"
                                            : "keeps a configuration of its own";
        if ((m->by_core || !(m->mover->changes & of)) && !m->mover->couples) continue;
        return report_error(engine->report, EXIT_INPUT, weighing->context.file,
                            weighing->context.line,
                            "mover '%s' assigns weights to macrostates, but mover '%s' %s",
                            weighing->loaded.name, m->instance->loaded.name, why);
    }
    const int code = bias_open(&engine->current.hamiltonian, engine->macrostates);
    return context_exit_code(&weighing->context, code, "preparing");
}

/* Movers may call potentials, observables may look at both. */
static int prepare_instances(engine *engine)
{
    int code = prepare_kind(engine, PLUGMC_POTENTIAL, true);
    if (!code) code = prepare_kind(engine, PLUGMC_POTENTIAL, false);
    if (!code && !engine->tests_plugin) code = check_floors(engine);
    if (!code) code = molecules_find(engine);
    if (!code) code = prepare_kind(engine, PLUGMC_MOVER, false);
    if (!code) code = moves_begin(engine);
    if (!code) code = match_reservoirs(engine);
    if (!code && engine->weighing) code = begin_weighing(engine);
    if (!code) code = prepare_kind(engine, PLUGMC_OBSERVABLE, false);
    return code;
}

int engine_prepare(engine *engine)
{
    current_state *own = &engine->current;
    int code = choose_device(engine);
    instance *asking = engine_asking(engine);
    if (code) return code;
    code = spread_begin(engine->device.gpu, engine->report);
    if (code) return code;
    complete_hosts(engine);
    code = compile_gpu_sources(engine);
    if (code) return code;
    own->state_host = asking->host;
    own->state_host.gpu = engine->device.gpu ? gpu_services(engine->device.gpu) : NULL;
    state_begin(&own->state, &engine->system, &engine->ladder, &own->state_host,
                engine->processes.first_walker, engine->processes.all_walkers);
    engine->keys = effective_ini(engine); /* as it was read, whatever plugins do to it */
    code = prepare_instances(engine);
    if (code) return code;
    sync_begin(engine);
    state_positions(&own->state, PLUGMC_ON_HOST, 0, &code);
    if (!code && engine->device.gpu) state_positions(&own->state, PLUGMC_ON_DEVICE, 0, &code);
    return context_exit_code(&asking->context, code, "allocating memory for positions");
}

instance *engine_asking(engine *engine)
{
    for (int k = 0; k < engine->mover_count; k++)
        if (!engine->device.gpu || runs_on_gpu(engine->movers[k].instance->plugin))
            return engine->movers[k].instance;
    return engine->instances;
}

/* ---- Release -------------------------------------------------------------------------------- */

void engine_release(engine *engine)
{
    for (int i = 0; i < engine->instance_count; i++) {
        instance *instance = &engine->instances[i];
        const plugmc_plugin *both[2] = {instance->plugin,
                                        instance->plugin ? instance->plugin->single : NULL};
        void *data[2] = {instance->data, instance->data_single};
        for (int k = 0; k < 2; k++) {
            context_calling(&instance->context, "release");
            if (both[k] && both[k]->release && data[k]) both[k]->release(data[k]);
            crash_called();
            guarded_free(data[k]);
        }
        context_release(&instance->context);
    }
    spread_end();
    if (engine->device.gpu) gpu_close(engine->device.gpu);
}

void engine_close(engine *engine)
{
    for (int i = 0; i < engine->instance_count; i++)
        if (engine->instances[i].plugin) plugin_unload(&engine->instances[i].loaded);
    for (int i = 0; i < engine->mover_count; i++)
        free(engine->movers[i].counted), free(engine->movers[i].made), free(engine->movers[i].told);
    hamiltonian_close(&engine->current.hamiltonian);
    replica_table_free(engine);
    move_records_free(engine->moves, engine->move_count);
    free(engine->processes.by_rung), free(engine->molecule), free(engine->keys);
    free(engine->reservoirs), free(engine->device.choice);
    free(engine->movers);
    free(engine->instances);
    free(engine->terms);
    state_end(&engine->current.state);
    ladder_free(&engine->ladder);
    system_free(&engine->system);
    config_free(&engine->config);
}
