#include "engine/kernels.h"

#include <stdlib.h>

#include "base/crash.h"
#include "energy/on_device.h"
#include "engine/refusals.h"
#include "plugin/answers.h"

/* As ask_gpu_source. */
static int next_source(instance *instance, int index, plugmc_gpu_source *out, sentence why)
{
    context_calling(&instance->context, "gpu_source");
    const int more =
        ask_gpu_source(instance->plugin, instance->data, &instance->host, index, out, why);
    crash_called();
    return more;
}

static int sources_of(engine *engine, instance *instance,
                      int (*each)(void *, const plugmc_gpu_source *), void *data)
{
    plugmc_gpu_source source;
    char why[512];
    int more, code = 0;
    for (int k = 0; (more = next_source(instance, k, &source, (sentence){why, sizeof why})); k++) {
        if (more < 0) return refuse_answer(instance, EXIT_PLUGIN, why);
        code = each(data, &source);
        if (code) return code;
    }
    return engine->report->errors ? engine->report->code : 0;
}

/* Energies for movers that ask the core on a GPU, and the trial moves of each, unless a run on a GPU has so few walkers that it
 * makes them on the host. */
static int sources_of_core(engine *engine, int (*each)(void *, const plugmc_gpu_source *),
                           void *data)
{
    const bool few = engine->device.gpu && on_device_has_few(&engine->system);
    bool done = false; /* energies */
    int code = 0;
    for (int k = 0; k < 2 * engine->mover_count && !code; k++) {
        const mover_slot *m = &engine->movers[k / 2];
        const plugmc_plugin *plugin = k % 2 ? m->instance->plugin : NULL;
        plugmc_gpu_source source;
        char *joined;
        if (!m->by_core || !(m->mover->needs & PLUGMC_RUNS_ON_GPU)) continue;
        if (plugin ? few || !plugin->source : done) continue;
        done = true;
        code =
            on_device_text(plugin, on_device_beside(&engine->system), &source, &joined)
                ? report_error(engine->report, EXIT_MEMORY, NULL, 0, "no memory for a GPU source")
                : each(data, &source);
        free(joined);
    }
    return code;
}

int gpu_sources(engine *engine, int (*each)(void *, const plugmc_gpu_source *), void *data)
{
    for (int i = 0; i < engine->instance_count; i++) {
        const int code = sources_of(engine, &engine->instances[i], each, data);
        if (code) return code;
    }
    return sources_of_core(engine, each, data);
}

static int begin_compiling(void *gpu, const plugmc_gpu_source *source)
{
    gpu_compile_ahead(gpu, source);
    return 0;
}

int compile_gpu_sources(engine *engine)
{
    return engine->device.gpu ? gpu_sources(engine, begin_compiling, engine->device.gpu) : 0;
}
