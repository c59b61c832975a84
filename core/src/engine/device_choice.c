/* On which device a run goes. */
#include "engine/device_choice.h"

#include "base/crash.h"
#include "energy/on_device.h"
#include "parallel/team.h"

/* The first mover with a configuration of its own does most of the work and decides; one that needs a
 * GPU has it. Others that know the CPU alone then work there, beside it. Where the core makes all trial
 * moves it is the gain, of which a factor of two may be an error. */
static bool wants_gpu(const engine *engine)
{
    enum { CLEAR_GAIN = 2 };
    const mover_slot *first = NULL;
    bool wanted = false;
    for (int k = engine->mover_count - 1; k >= 0; k--) {
        if (!engine->movers[k].by_core) first = &engine->movers[k];
        wanted |= !(engine->movers[k].mover->needs & PLUGMC_RUNS_ON_CPU);
    }
    if (wanted || !engine->mover_count) return true;
    return first ? first->mover->needs & PLUGMC_RUNS_ON_GPU
                 : engine->device.gain_on_gpu > CLEAR_GAIN;
}

/* A mover that knows only the other device; NULL if there is none. `all`: every mover does. */
static const instance *knows_only_other(const engine *engine, uint32_t device, bool all)
{
    const instance *found = NULL;
    for (int k = 0; k < engine->mover_count; k++) {
        if (engine->movers[k].mover->needs & device) {
            if (all) return NULL;
        } else if (!found) {
            found = engine->movers[k].instance;
        }
    }
    return found;
}

/* How many times as many trial moves a second a GPU makes, where the core makes all of them: by what the first mover
 * says of processors that knows, and what was measured of a GPU. 0: not known. */
static double gain_on_gpu(const engine *engine)
{
    const double there = on_device_walk_seconds(&engine->system);
    for (int k = 0; k < engine->mover_count; k++) {
        const mover_slot *m = &engine->movers[k];
        plugmc_speed here = {.size = sizeof here};
        if (!m->by_core || !(m->mover->needs & PLUGMC_RUNS_ON_GPU)) return 0;
        if (!PLUGMC_HAS(m->mover, speed) || !m->mover->speed) continue;
        context_calling(&m->instance->context, "speed");
        const int code = m->mover->speed(m->instance->data, &engine->system, &here);
        crash_called();
        if (code == PLUGMC_OK && here.seconds > 0) return here.seconds / there;
    }
    return 0;
}

/* Why the core does not look for a GPU. */
static void explain_cpu(engine *engine)
{
    const instance *no_gpu = knows_only_other(engine, PLUGMC_RUNS_ON_GPU, false);
    if (no_gpu)
        snprintf(engine->device.why_no_gpu, sizeof engine->device.why_no_gpu,
                 "mover '%s' runs on the CPU only", no_gpu->loaded.name);
    else if (engine->device.gain_on_gpu > 0)
        snprintf(
            engine->device.why_no_gpu, sizeof engine->device.why_no_gpu,
            "a GPU would make about %.2g times as many trial moves a second: [run] device = gpu",
            engine->device.gain_on_gpu);
    else
        snprintf(engine->device.why_no_gpu, sizeof engine->device.why_no_gpu,
                 "for many walkers a GPU may be faster: [run] device = gpu");
}

/* Of many processes on a host each has its own, beginning with that of [run] gpu; where the launcher shows each
 * process one alone, it is that one. */
static int index_of_gpu(const engine *engine)
{
    char why[512];
    int driver;
    const int first = (int)engine->config.run.gpu, local = team_now()->local_rank,
              there = local ? gpu_count(&driver, why) : 0;
    return there > 0 ? (first + local) % there : first;
}

int choose_device(engine *engine)
{
    const run_section *run = &engine->config.run;
    const instance *no_gpu = knows_only_other(engine, PLUGMC_RUNS_ON_GPU, true),
                   *no_cpu = knows_only_other(engine, PLUGMC_RUNS_ON_CPU, false);
    if (run->device == DEVICE_GPU && no_gpu)
        return report_error(engine->report, EXIT_INPUT, no_gpu->context.file, no_gpu->context.line,
                            "mover '%s' runs on the CPU only, but [run] device = gpu",
                            no_gpu->loaded.name);
    if (run->device == DEVICE_CPU && no_cpu)
        return report_error(engine->report, EXIT_INPUT, no_cpu->context.file, no_cpu->context.line,
                            "mover '%s' runs on a GPU only, but [run] device = cpu",
                            no_cpu->loaded.name);
    if (engine->system.bodies && run->device == DEVICE_GPU)
        return report_error(
            engine->report, EXIT_INPUT, engine->config.ini.path,
            config_line(&engine->config, "run", "device"),
            "[run] device = gpu: particles with orientations are moved on the CPU only");
    engine->device.gain_on_gpu = gain_on_gpu(engine);
    if (engine->system.bodies)
        snprintf(engine->device.why_no_gpu, sizeof engine->device.why_no_gpu,
                 "particles with orientations are moved on the CPU only");
    else if (run->device == DEVICE_CPU)
        snprintf(engine->device.why_no_gpu, sizeof engine->device.why_no_gpu, "[run] device = cpu");
    else if (run->device == DEVICE_AUTO && !wants_gpu(engine))
        explain_cpu(engine);
    else
        engine->device.gpu =
            gpu_open(index_of_gpu(engine), run->fast_math != 0, engine->device.why_no_gpu);
    if (!engine->device.gpu && (run->device == DEVICE_GPU || no_cpu))
        return report_error(engine->report, EXIT_DEVICE, engine->config.ini.path, 0,
                            "no GPU to run on: %s", engine->device.why_no_gpu);
    if (engine->device.gpu) gpu_bind(engine->device.gpu, &engine->system, engine->report);
    return 0;
}

const char *gain_words(const engine *engine, char words[160])
{
    words[0] = 0;
    if (engine->device.gpu && engine->device.gain_on_gpu > 0 &&
        engine->config.run.device == DEVICE_AUTO)
        snprintf(words, 160, "; about %.2g times as many trial moves a second as with %d thread%s",
                 engine->device.gain_on_gpu, engine->system.threads,
                 engine->system.threads == 1 ? "" : "s");
    return words;
}
