#include "other_movers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "plugin/search.h"
#include "engine/matching.h"
#include "parallel/team.h"

/* Formulas are good to a factor of two. Nobody wants advice on a run that is over soon. */
enum { SEVERAL = 3, LEAST_SECONDS = 10 };

static bool knows_speed(const plugmc_mover *mover)
{
    return PLUGMC_HAS(mover, speed) && mover->speed;
}

/* Seconds a trial move and trial moves a sweep; false: not known. */
static bool ask_speed(const engine *engine, const char *path, const plugmc_mover *mover,
                      const void *data, plugmc_speed *out)
{
    *out = (plugmc_speed){.size = sizeof *out};
    if (!knows_speed(mover)) return false;
    crash_calling(path, "speed");
    const int code = mover->speed(data, &engine->system, out);
    crash_called();
    return code == PLUGMC_OK && out->seconds > 0 && isfinite(out->seconds) && out->trials > 0;
}

/* Its instance with the defaults of all keys; NULL if one has none. */
static void *with_defaults(const engine *engine, const plugmc_plugin *plugin)
{
    for (int i = 0; i < plugin->parameter_count; i++)
        if (!plugin->parameters[i].derived && !plugin->parameters[i].fallback) return NULL;
    report silent = {.quiet = true};
    ini_section none = {.name = "", .kind = "mover", .label = ""};
    void *data = checked(calloc(1, plugin->instance_size + 1));
    if (!parameters_fill(plugin->parameters, plugin->parameter_count, plugin->real_size, data,
                         engine->config.ini.path, &none, &silent))
        return data;
    free(data);
    return NULL;
}

/* Seconds a trial move of the mover called `name` in the place of m; INFINITY: it is not there, does not fit or does
 * not know. */
static double seconds_with(const engine *engine, const mover_slot *m, const char *name)
{
    char why[1024], *path = find_plugin(name);
    double seconds = INFINITY;
    loaded other;
    if (!path) return INFINITY;
    if (plugin_open(path, PLUGMC_MOVER, &other, why, sizeof why)) {
        const plugmc_mover *mover = other.plugin->mover;
        const bool fits = knows_speed(mover) && mover_fits(engine, mover) &&
                          mover_follows(engine, mover, m) && mover->needs & PLUGMC_RUNS_ON_CPU;
        void *data = fits ? with_defaults(engine, other.plugin) : NULL;
        plugmc_speed speed;
        if (data && ask_speed(engine, path, mover, data, &speed)) seconds = speed.seconds;
        free(data);
        plugin_unload(&other);
    }
    free(path);
    return seconds;
}

static void advise_other(const engine *engine, const mover_slot *m)
{
    const plugmc_mover *mover = m->mover;
    const double sweeps = (double)(engine->config.run.equilibrate + engine->config.run.sweeps);
    plugmc_speed own;
    if (!PLUGMC_HAS(mover, same_moves) || !mover->same_moves) return;
    if (!ask_speed(engine, m->instance->loaded.path, mover, m->instance->data, &own)) return;
    if (own.seconds * own.trials * sweeps / (double)m->every < LEAST_SECONDS) return;
    char *words = checked(strdup(mover->same_moves)), *rest = words, *word;
    const char *best = NULL;
    double least = INFINITY;
    while ((word = strsep(&rest, " "))) {
        const double seconds = *word ? seconds_with(engine, m, word) : INFINITY;
        if (!(seconds < least)) continue;
        least = seconds;
        best = word;
    }
    if (own.seconds >= SEVERAL * least)
        report_note(
            engine->report,
            "mover '%s' makes some %.1g trial moves a second here, and '%s' about %.0f times "
            "as many of the same kind: see plugmc info %s",
            m->instance->loaded.name, 1 / own.seconds, best, own.seconds / least, best);
    free(words);
}

void advise_other_movers(const engine *engine)
{
    if (engine->device.gpu || team_now()->parts > 1) return;
    for (int k = 0; k < engine->mover_count; k++) advise_other(engine, &engine->movers[k]);
}
