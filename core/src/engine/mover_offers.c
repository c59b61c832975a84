#include "engine/mover_offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "energy/on_device.h"
#include "parallel/team.h"
#include "plugin/movers_there.h"

bool is_clear_gain(double on_cpu, double on_gpu)
{
    enum { CLEAR_GAIN = 2 };
    return on_gpu < INFINITY && on_cpu > CLEAR_GAIN * on_gpu;
}

static double seconds_or_none(double seconds)
{
    return seconds > 0 && isfinite(seconds) ? seconds : INFINITY;
}

/* Of one for whose trial moves the core computes energies, the core knows what a GPU would give. */
static bool ask_speed(const plugmc_system *system, const char *path, const plugmc_mover *mover,
                      const void *data, plugmc_speed *out)
{
    *out = (plugmc_speed){.size = sizeof *out};
    if (!PLUGMC_HAS(mover, speed) || !mover->speed) return false;
    const crash_record outer = crash_calling(path, "speed");
    const int code = mover->speed(data, system, out);
    crash_called_within(outer);
    if (code != PLUGMC_OK || !(out->trials > 0) || !isfinite(out->trials)) return false;
    out->seconds = mover->needs & PLUGMC_RUNS_ON_CPU ? seconds_or_none(out->seconds) : INFINITY;
    if (!mover->driver) out->gpu_seconds = on_device_walk_seconds(system);
    out->gpu_seconds =
        mover->needs & PLUGMC_RUNS_ON_GPU ? seconds_or_none(out->gpu_seconds) : INFINITY;
    return out->seconds < INFINITY || out->gpu_seconds < INFINITY;
}

bool speed_of_mover(const engine *engine, const mover_slot *m, plugmc_speed *out)
{
    return ask_speed(&engine->system, m->instance->loaded.path, m->mover, m->instance->data, out);
}

/* Its instance with the defaults of all keys; NULL if one has none. */
static void *with_defaults(const engine *engine, const plugmc_plugin *plugin)
{
    for (int i = 0; i < plugin->parameter_count; i++) {
        const plugmc_parameter *p = plugmc_parameter_at(plugin, i);
        if (!p->derived && !p->fallback) return NULL;
    }
    report silent = {.quiet = true};
    ini_section none = {.name = "", .kind = "mover", .label = ""};
    void *data = checked(calloc(1, plugin->instance_size + 1));
    if (!parameters_fill(plugin->parameters, plugin->parameter_count, plugin->real_size, data,
                         engine->config.ini.path, &none, &silent))
        return data;
    free(data);
    return NULL;
}

/* The mover of the run that is this plugin; NULL if none is. */
static const mover_slot *slot_of(const engine *engine, const char *path)
{
    for (int k = 0; k < engine->mover_count; k++)
        if (!strcmp(engine->movers[k].instance->loaded.path, path)) return &engine->movers[k];
    return NULL;
}

/* The one move of single particles, as PLUGMC_DISPLACEMENT writes it. */
static bool moves_single_particles(const plugmc_mover *mover)
{
    const plugmc_move *move = mover->moves;
    return mover->move_count == 1 && mover->changes == PLUGMC_CHANGED_POSITION && !mover->couples &&
           PLUGMC_HAS(mover, speed) && mover->speed && mover->same_moves && move->step_unit &&
           !strcmp(move->step_unit, "length") && move->step_key && move->target_key;
}

/* Movers that make their own decisions do not know such weights. Before anything is prepared it is not known what the
 * weights are of. */
static bool weights_may_be_of_energies(const engine *engine)
{
    if (engine->weighing)
        return PLUGMC_HAS(engine->macrostates, of_energy) && engine->macrostates->of_energy != 0;
    for (int k = 0; k < engine->mover_count; k++)
        if (engine->movers[k].mover->changes & PLUGMC_CHANGED_WEIGHT) return true;
    return false;
}

static void find_fault(const engine *engine, const plugmc_mover *mover, const mover_slot *but,
                       mover_offer *o)
{
    char words[MISFIT];
    const char *why = misfit_of(engine, mover, but, words);
    if (!why && team_now()->ranks > engine->processes.all_walkers &&
        !(mover->needs & PLUGMC_DECOMPOSES_DOMAIN))
        why = "cannot divide a walker among processes";
    if (!why && mover->driver && weights_may_be_of_energies(engine))
        why = "makes decisions without the weights of macrostates";
    if (why) snprintf(o->why_not, sizeof o->why_not, "%s", why);
}

static void describe(const engine *engine, const plugmc_system *system, const loaded *mover,
                     const mover_slot *but, mover_offer *o)
{
    const plugmc_plugin *plugin = mover->plugin;
    const mover_slot *own = slot_of(engine, mover->path);
    plugmc_speed speed;
    o->needs = plugin->mover->needs;
    o->by_core = !plugin->mover->driver;
    o->single = moves_single_particles(plugin->mover);
    o->on_cpu = o->on_gpu = INFINITY;
    if (o->single) {
        snprintf(o->step_key, sizeof o->step_key, "%s", plugin->mover->moves->step_key);
        snprintf(o->target_key, sizeof o->target_key, "%s", plugin->mover->moves->target_key);
    }
    if (!own)
        find_fault(engine, plugin->mover, but, o); /* else the run has it, which has been checked */
    if (*o->why_not) return;
    void *data = own ? NULL : with_defaults(engine, plugin);
    if ((own || data) &&
        ask_speed(system, mover->path, plugin->mover, own ? own->instance->data : data, &speed)) {
        o->known = true;
        o->on_cpu = speed.seconds;
        o->on_gpu = speed.gpu_seconds;
        o->trials = speed.trials;
    }
    free(data);
}

/* Whether this word is one of those, which have blanks between them. */
static bool is_word_of(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
    return false;
}

/* Those of these names that there are, words between blanks, not opened yet. */
static plugin_names movers_among(const char *words)
{
    plugin_names all = plugin_list(0), found = {0};
    found.names = checked(calloc((size_t)all.count + 1, sizeof *found.names));
    found.paths = checked(calloc((size_t)all.count + 1, sizeof *found.paths));
    for (int i = 0; i < all.count; i++) {
        if (!is_word_of(words, all.names[i])) continue;
        found.names[found.count] = checked(strdup(all.names[i]));
        found.paths[found.count++] = checked(strdup(all.paths[i]));
    }
    plugin_names_free(&all);
    return found;
}

mover_offers offers_of_movers(const engine *engine, const mover_slot *but, int threads,
                              const char *among)
{
    plugin_names names = among ? movers_among(among) : movers_there();
    mover_offers offers = {.all = checked(calloc((size_t)names.count + 1, sizeof *offers.all))};
    plugmc_system system = engine->system;
    system.walkers = engine->processes.all_walkers;
    system.threads = threads;
    for (int i = 0; i < names.count; i++) {
        mover_offer *o = &offers.all[offers.count];
        char why[1024];
        loaded mover;
        if (!plugin_open(names.paths[i], PLUGMC_MOVER, &mover, why, sizeof why)) continue;
        if (displaces(mover.plugin->mover)) {
            o->name = checked(strdup(names.names[i]));
            describe(engine, &system, &mover, but, o);
            offers.count++;
        }
        plugin_unload(&mover);
    }
    plugin_names_free(&names);
    return offers;
}

void mover_offers_free(mover_offers *offers)
{
    for (int i = 0; i < offers->count; i++) free(offers->all[i].name);
    free(offers->all);
    *offers = (mover_offers){0};
}
