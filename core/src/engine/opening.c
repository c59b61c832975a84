/* From a configuration to plugins that fit together. preparing.c goes on. */
#include <math.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/guarded_memory.h"
#include "engine/apart.h"
#include "engine/engine.h"
#include "engine/matching.h"
#include "engine/mover_choice.h"
#include "engine/refusals.h"
#include "engine/share.h"
#include "engine/services.h"
#include "input/former_keys.h"
#include "plugmc/former_keys.h"
#include "plugmc/orbitals.h"
#include "system/system.h"
#include "plugin/search.h"

static int load_instances(engine *);
static int configure_instances(engine *);

/* Small systems lose more by waiting for threads than these save. Results do not depend on it. */
static int threads_worth_while(const plugmc_system *system, int offered)
{
    enum { PARTICLES_A_THREAD = 1024 };
    int64_t most = system->particles * system->walkers / PARTICLES_A_THREAD;
    return most < 1 ? 1 : most < offered ? (int)most : offered;
}

static bool loads_bodies(const engine *engine)
{
    for (int i = 0; i < engine->instance_count; i++) {
        const plugmc_plugin *plugin = engine->instances[i].plugin;
        if (plugin && plugin->kind == PLUGMC_POTENTIAL && plugmc_body_of(plugin)) return true;
    }
    return false;
}

int engine_configure(engine *engine)
{
    bool tried = engine->in_child;
    int code = engine->report->errors
                   ? engine->report->code
                   : system_build(&engine->config, &engine->system, engine->report);
    if (!engine->device.offer.threads) engine->device.offer = threads_offered("");
    engine->system.threads =
        engine->config.run.threads
            ? (int32_t)engine->config.run.threads
            : threads_worth_while(&engine->system, engine->device.offer.threads);
    if (code)
        engine->device.leaves_out_choice = true; /* there is none to be found: not told as well */
    else
        code = choose_movers(engine);
    if (!code && !tried) code = apart_try(engine, false, &tried);
    int loading = load_instances(engine);
    if (!code) code = loading;
    if (!code && !loads_bodies(engine))
        code = check_density_of_spheres(&engine->config, &engine->system, engine->report);
    if (!code && !tried) code = apart_try(engine, true, &tried);
    if (!code && !engine->device.leaves_out_choice) code = share_walkers(engine);
    return code ? code : configure_instances(engine);
}

int engine_open(engine *engine)
{
    int code = engine_configure(engine);
    if (!code)
        code = ladder_build(&engine->ladder, &engine->config, engine->processes.all_walkers,
                            &engine->system, engine->report);
    if (!code) code = choice_is_made(engine);
    if (!code) share_system(engine);
    if (!code) code = check_packing(engine);
    if (!code && !engine->pairs_known) code = check_pairs(engine);
    if (!code) code = check_room(engine);
    if (!code) code = match(engine);
    return code;
}

/* ---- Loading ----------------------------------------------------------------------------------- */

static bool writes_trajectory(const plugmc_plugin *plugin)
{
    return plugin->observable && plugin->observable->writes_trajectory;
}

static const char *const *core_keys(const plugmc_plugin *plugin)
{
    return plugin->kind == PLUGMC_POTENTIAL ? potential_keys
           : plugin->kind == PLUGMC_MOVER   ? mover_keys
           : writes_trajectory(plugin)      ? writer_keys
                                            : observable_keys;
}

static int fill(const plugmc_plugin *plugin, const config *config, ini_section *section,
                void **data, report *report)
{
    *data = guarded_allocate(plugin->instance_size, alignof(max_align_t), "its struct");
    if (!*data) return report_error(report, EXIT_MEMORY, NULL, 0, "no memory for a plugin");
    return parameters_fill(plugin->parameters, plugin->parameter_count, plugin->real_size, *data,
                           config->ini.path, section, report);
}

/* Old names in the section of a plugin become those that its parameters have now. */
static int rename_former_keys(const plugmc_plugin *plugin, const config *config,
                              ini_section *section, report *report)
{
    const plugmc_former_keys *former = plugmc_offered(plugin, PLUGMC_FORMER_KEYS);
    if (!former) return 0;
    for (const plugmc_former_key *key = former->keys; key->before; key++)
        former_key_add(section, key->before, key->now);
    const int code = former_keys_rename(&config->ini, section, report);
    former_keys_warn(&config->ini, section, report);
    return code;
}

static int load_instance(engine *engine, instance *instance, const plugin_section *section)
{
    const char *path = engine->config.ini.path,
               *source = ini_source(&engine->config.ini, section->section);
    instance->section = section;
    int code = plugin_load(section->plugin, section->kind, source, section->section->line,
                           &instance->loaded, engine->report);
    if (code) return code;
    apart_loaded(&instance->loaded);
    instance->plugin = instance->loaded.plugin;
    instance->context = (plugmc_context){.report = engine->report,
                                         .file = source,
                                         .line = section->section->line,
                                         .section = section->section->name,
                                         .keys = section->section,
                                         .plugin = instance->loaded.path,
                                         .any_failed = &engine->plugin_failed};
    code = rename_former_keys(instance->plugin, &engine->config, section->section, engine->report);
    if (code) return code;
    code =
        fill(instance->plugin, &engine->config, section->section, &instance->data, engine->report);
    int unused =
        parameters_unused(instance->plugin->parameters, instance->plugin->parameter_count,
                          core_keys(instance->plugin), path, section->section, engine->report);
    if (!code) code = unused;
    if (!code && section->kind == PLUGMC_OBSERVABLE && writes_trajectory(instance->plugin))
        code = parameters_fill(trajectory_table, trajectory_count, sizeof(real),
                               &instance->trajectory, path, section->section, engine->report);
    const ini_entry *period = ini_get(section->section, "period");
    if (!code && period && section->kind == PLUGMC_MOVER && !instance->plugin->observable)
        code = report_error(engine->report, EXIT_INPUT, source, period->line,
                            "[%s] period: this mover does not measure anything",
                            section->section->name);
    /* The float descriptor has the same table, so its errors have been reported already. */
    if (!code && instance->plugin->single)
        code = fill(instance->plugin->single, &engine->config, section->section,
                    &instance->data_single, engine->report);
    return code;
}

static int load_instances(engine *engine)
{
    const config *config = &engine->config;
    int first_error = 0;
    engine->instance_count = config->plugin_count;
    engine->instances =
        checked(calloc((size_t)config->plugin_count + 1, sizeof *engine->instances));
    engine->movers = checked(calloc((size_t)config->plugin_count + 1, sizeof *engine->movers));
    for (int i = 0; i < config->plugin_count; i++) {
        instance *instance = &engine->instances[i];
        if (!*config->plugins[i].plugin) continue; /* a section without a name: told already */
        if (engine->device.leaves_out_choice && is_left_to_choice(&config->plugins[i])) {
            instance->section = &config->plugins[i];
            continue;
        }
        apart_tell(APART_LOADS, i);
        int code = load_instance(engine, instance, &config->plugins[i]);
        if (!first_error) first_error = code;
        if (config->plugins[i].kind == PLUGMC_MOVER && instance->plugin)
            engine->movers[engine->mover_count++] =
                (mover_slot){.instance = instance,
                             .mover = instance->plugin->mover,
                             .by_core = !instance->plugin->mover->driver,
                             .every = (uint64_t)config->plugins[i].every};
    }
    return first_error;
}

/* ---- Configuration ------------------------------------------------------------------------------ */

static int configure(const engine *engine, instance *instance)
{
    instance->host = context_host(&instance->context, &engine->system);
    const plugmc_plugin *both[2] = {instance->plugin, instance->plugin->single};
    void *data[2] = {instance->data, instance->data_single};
    for (int i = 0; i < 2; i++) {
        if (!both[i] || !both[i]->configure) continue;
        context_calling(&instance->context, "configure");
        int code = both[i]->configure(data[i], &instance->host);
        code = context_exit_code(&instance->context, code, "checking its parameters");
        if (code) return code;
    }
    return 0;
}

/* When a plugin is configured: orbitals first, of whose ions other potentials may make use, then these, then movers and
 * observables, which may look at potentials. */
enum { ORBITALS_PASS, POTENTIALS_PASS, OTHERS_PASS, PASSES };

static int pass_of(const instance *instance)
{
    if (instance->section->kind != PLUGMC_POTENTIAL) return OTHERS_PASS;
    return plugmc_orbitals_of(instance->plugin) ? ORBITALS_PASS : POTENTIALS_PASS;
}

static int configure_instances(engine *engine)
{
    int terms = 0, first_error = 0;
    engine->terms = checked(calloc((size_t)engine->instance_count + 1, sizeof *engine->terms));
    for (int i = 0; i < engine->instance_count; i++) {
        instance *instance = &engine->instances[i];
        if (instance->section->kind != PLUGMC_POTENTIAL) continue;
        engine->terms[terms++] = (plugmc_term){.label = instance->section->section->label,
                                               .plugin = instance->plugin,
                                               .instance = instance->data,
                                               .plugin_single = instance->plugin->single,
                                               .instance_single = instance->data_single,
                                               .sampled = instance->section->sampled,
                                               .host = &instance->host};
    }
    engine->system.terms = engine->terms;
    engine->system.term_size = sizeof *engine->terms;
    engine->system.term_count = terms;
    /* 1 in every run: a plugin that is tested finds another one, to see whether it reads what it cannot know yet */
    const plugmc_list *kT = &engine->config.run.temperature;
    if (engine->tests_plugin && kT->count == 1 && kT->values[0] > 0)
        engine->system.temperature = kT->values[0];
    engine->system.together = 1;
    engine->system.bodies = engine->system.molecules != NULL;
    for (int t = 0; t < terms; t++)
        if (plugmc_body_of(engine->terms[t].plugin)) engine->system.bodies = 1;
    for (int k = 0; k < engine->mover_count; k++) {
        const plugmc_mover *mover = engine->movers[k].mover;
        engine->system.changes |= mover->changes & ~(uint32_t)PLUGMC_CHANGED_POSITION;
        if (PLUGMC_HAS(mover, together) && mover->together > engine->system.together)
            engine->system.together = mover->together;
    }
    for (int pass = 0; pass < PASSES; pass++) {
        for (int i = 0; i < engine->instance_count; i++) {
            instance *instance = &engine->instances[i];
            if (!instance->plugin || pass_of(instance) != pass) continue; /* left out, or not yet */
            apart_tell(APART_CONFIGURES, i);
            int code = configure(engine, instance);
            if (!first_error) first_error = code;
        }
        if (first_error) return first_error;
        if (pass == ORBITALS_PASS) continue;
        apart_tell(APART_CHECKS, 0);
        engine->system.range = 0;
        for (int t = 0; t < terms; t++)
            if (engine->terms[t].sampled && (engine->terms[t].plugin->potential->pair ||
                                             plugmc_body_of(engine->terms[t].plugin)))
                engine->system.range =
                    fmax(engine->system.range, reach_of_term(&engine->system, &engine->terms[t]));
    }
    return 0;
}
