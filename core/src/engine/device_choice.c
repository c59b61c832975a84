/* On which device a run goes. */
#include "engine/device_choice.h"

#include <math.h>

#include "engine/fitting.h"
#include "engine/mover_offers.h"
#include "parallel/team.h"
#include "system/system.h"

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

/* The mover that does most of the work: the first one with a configuration of its own or, if the core makes all trial
 * moves, the first one that knows its speed. NULL: none of these, or one of them knows the CPU alone. */
static const mover_slot *working(const engine *engine)
{
    const mover_slot *first = NULL;
    plugmc_speed speed;
    for (int k = 0; k < engine->mover_count; k++)
        if (!engine->movers[k].by_core) return &engine->movers[k];
    for (int k = 0; k < engine->mover_count; k++) {
        const mover_slot *m = &engine->movers[k];
        if (!(m->mover->needs & PLUGMC_RUNS_ON_GPU)) return NULL;
        if (!first && speed_of_mover(engine, m, &speed)) first = m;
    }
    return first;
}

double device_gain(const engine *engine)
{
    const mover_slot *m = working(engine);
    plugmc_speed speed;
    if (!m || !speed_of_mover(engine, m, &speed)) return 0;
    if (!isfinite(speed.seconds)) return 0;
    return isfinite(speed.gpu_seconds) ? speed.seconds / speed.gpu_seconds : 0;
}

static bool any_on_gpu(const engine *engine)
{
    for (int k = 0; k < engine->mover_count; k++)
        if (engine->movers[k].mover->needs & PLUGMC_RUNS_ON_GPU) return true;
    return false;
}

/* The name of a mover that moves rigid molecules without the core, and on the CPU only. NULL: there is none. */
static const char *moves_molecules(const engine *engine)
{
    for (int k = 0; k < engine->mover_count && engine->system.molecules; k++)
        if (!engine->movers[k].by_core && !(engine->movers[k].mover->needs & PLUGMC_RUNS_ON_GPU))
            return engine->movers[k].instance->loaded.name;
    return NULL;
}

/* Whether particles with orientations, bodies or rigid molecules, can be on a GPU: the core moves them there, and movers that
 * say so. */
static bool keeps_bodies_there(const engine *engine)
{
    if (any_bodies(&engine->system)) return any_on_gpu(engine);
    return !engine->system.molecules || !moves_molecules(engine);
}

/* A many-body term whose forces a mover follows, and that is evaluated on the CPU only. NULL: there is none. */
static const plugmc_term *follows_on_cpu(const engine *engine)
{
    bool follows = false;
    for (int k = 0; k < engine->mover_count; k++)
        follows |= (needs_of(engine->movers[k].mover) & PLUGMC_NEEDS_FORCES) != 0;
    for (int t = 0; t < engine->system.term_count && follows; t++) {
        const plugmc_term *term = &engine->terms[t];
        const plugmc_total *total = term->plugin->potential->total;
        if (term->sampled && total && plugmc_follows_positions(total) && !total->on_device)
            return term;
    }
    return NULL;
}

/* One that needs a GPU has it, and others that know the CPU alone then work there, beside it. */
bool device_wants_gpu(const engine *engine, double gain)
{
    const mover_slot *m = working(engine);
    if (engine->system.bodies && !keeps_bodies_there(engine)) return false;
    for (int k = 0; k < engine->mover_count; k++)
        if (!(engine->movers[k].mover->needs & PLUGMC_RUNS_ON_CPU)) return true;
    if (!engine->mover_count) return true;
    if (follows_on_cpu(engine)) return false;
    if (m && !m->by_core && !(m->mover->needs & PLUGMC_RUNS_ON_GPU)) return false;
    return gain > 0 ? is_clear_gain(gain, 1) : m && !m->by_core;
}

/* Why the core does not look for a GPU. */
static void explain_cpu(engine *engine)
{
    const instance *no_gpu = knows_only_other(engine, PLUGMC_RUNS_ON_GPU, false);
    const plugmc_term *followed = follows_on_cpu(engine);
    if (no_gpu)
        snprintf(engine->device.why_no_gpu, sizeof engine->device.why_no_gpu,
                 "mover '%s' runs on the CPU only", no_gpu->loaded.name);
    else if (followed)
        snprintf(engine->device.why_no_gpu, sizeof engine->device.why_no_gpu,
                 "potential '%s' is evaluated on the CPU only", followed->label);
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

/* Of a run with orientations. */
static void explain_bodies(const engine *engine, char words[256])
{
    const char *mover = moves_molecules(engine);
    if (mover)
        snprintf(words, 256, "mover '%s' moves rigid molecules on the CPU only", mover);
    else
        snprintf(words, 256,
                 "the movers of this run turn and displace particles with orientations on the CPU "
                 "only");
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
    const bool bodies_on_cpu = engine->system.bodies && !keeps_bodies_there(engine);
    char bodies[256];
    explain_bodies(engine, bodies);
    if (bodies_on_cpu && run->device == DEVICE_GPU)
        return report_error(engine->report, EXIT_INPUT, engine->config.ini.path,
                            config_line(&engine->config, "run", "device"),
                            "%s, but [run] device = gpu", bodies);
    engine->device.gain_on_gpu = device_gain(engine);
    if (bodies_on_cpu)
        snprintf(engine->device.why_no_gpu, sizeof engine->device.why_no_gpu, "%s", bodies);
    else if (run->device == DEVICE_CPU)
        snprintf(engine->device.why_no_gpu, sizeof engine->device.why_no_gpu, "[run] device = cpu");
    else if (run->device == DEVICE_AUTO && !device_wants_gpu(engine, engine->device.gain_on_gpu))
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
