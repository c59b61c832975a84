/* On which device a run goes. */
#include "run/device_choice.h"

#include "base/crash.h"
#include "energy/on_device.h"
#include "parallel/team.h"

/* The first mover with a configuration of its own does most of the work and decides; one that needs a
 * GPU has it. Others that know the CPU alone then work there, beside it. Where the core makes all trial
 * moves it is the gain, of which a factor of two may be an error. */
static bool wants_gpu(const simulation *sim)
{
    enum { CLEAR_GAIN = 2 };
    const moving *first = NULL;
    bool wanted = false;
    for (int k = sim->mover_count - 1; k >= 0; k--) {
        if (!sim->movers[k].by_core) first = &sim->movers[k];
        wanted |= !(sim->movers[k].mover->needs & PLUGMC_RUNS_ON_CPU);
    }
    if (wanted || !sim->mover_count) return true;
    return first ? first->mover->needs & PLUGMC_RUNS_ON_GPU : sim->gain_on_gpu > CLEAR_GAIN;
}

/* A mover that knows only the other device; NULL if there is none. `all`: every mover does. */
static const instance *knows_only_other(const simulation *sim, uint32_t device, bool all)
{
    const instance *found = NULL;
    for (int k = 0; k < sim->mover_count; k++) {
        if (sim->movers[k].mover->needs & device) {
            if (all) return NULL;
        } else if (!found) {
            found = sim->movers[k].instance;
        }
    }
    return found;
}

/* How many times as many trial moves a second a GPU makes, where the core makes all of them: by what the first mover
 * says of processors that knows, and what was measured of a GPU. 0: not known. */
static double gain_on_gpu(const simulation *sim)
{
    const double there = on_device_walk_seconds(&sim->system);
    for (int k = 0; k < sim->mover_count; k++) {
        const moving *m = &sim->movers[k];
        plugmc_speed here = {.size = sizeof here};
        if (!m->by_core || !(m->mover->needs & PLUGMC_RUNS_ON_GPU)) return 0;
        if (!PLUGMC_HAS(m->mover, speed) || !m->mover->speed) continue;
        context_calling(&m->instance->context, "speed");
        const int code = m->mover->speed(m->instance->data, &sim->system, &here);
        crash_called();
        if (code == PLUGMC_OK && here.seconds > 0) return here.seconds / there;
    }
    return 0;
}

/* Why the core does not look for a GPU. */
static void explain_cpu(simulation *sim)
{
    const instance *no_gpu = knows_only_other(sim, PLUGMC_RUNS_ON_GPU, false);
    if (no_gpu)
        snprintf(sim->why_no_gpu, sizeof sim->why_no_gpu, "mover '%s' runs on the CPU only",
                 no_gpu->loaded.name);
    else if (sim->gain_on_gpu > 0)
        snprintf(
            sim->why_no_gpu, sizeof sim->why_no_gpu,
            "a GPU would make about %.2g times as many trial moves a second: [run] device = gpu",
            sim->gain_on_gpu);
    else
        snprintf(sim->why_no_gpu, sizeof sim->why_no_gpu,
                 "of many walkers a GPU may be faster: [run] device = gpu");
}

/* Of many processes on a host each has its own, beginning with that of [run] gpu; where the launcher shows each
 * process one alone, it is that one. */
static int index_of_gpu(const simulation *sim)
{
    char why[512];
    int driver;
    const int first = (int)sim->config.run.gpu, local = team_now()->local_rank,
              there = local ? gpu_count(&driver, why) : 0;
    return there > 0 ? (first + local) % there : first;
}

int choose_device(simulation *sim)
{
    const run_section *run = &sim->config.run;
    const instance *no_gpu = knows_only_other(sim, PLUGMC_RUNS_ON_GPU, true),
                   *no_cpu = knows_only_other(sim, PLUGMC_RUNS_ON_CPU, false);
    if (run->device == DEVICE_GPU && no_gpu)
        return report_error(sim->report, EXIT_INPUT, no_gpu->context.file, no_gpu->context.line,
                            "mover '%s' runs on the CPU only, but [run] device = gpu",
                            no_gpu->loaded.name);
    if (run->device == DEVICE_CPU && no_cpu)
        return report_error(sim->report, EXIT_INPUT, no_cpu->context.file, no_cpu->context.line,
                            "mover '%s' runs on a GPU only, but [run] device = cpu",
                            no_cpu->loaded.name);
    sim->gain_on_gpu = gain_on_gpu(sim);
    if (run->device == DEVICE_CPU)
        snprintf(sim->why_no_gpu, sizeof sim->why_no_gpu, "[run] device = cpu");
    else if (run->device == DEVICE_AUTO && !wants_gpu(sim))
        explain_cpu(sim);
    else
        sim->gpu = gpu_open(index_of_gpu(sim), run->fast_math != 0, sim->why_no_gpu);
    if (!sim->gpu && (run->device == DEVICE_GPU || no_cpu))
        return report_error(sim->report, EXIT_DEVICE, sim->config.ini.path, 0,
                            "no GPU to run on: %s", sim->why_no_gpu);
    if (sim->gpu) gpu_bind(sim->gpu, &sim->system, sim->report);
    return 0;
}

const char *gain_words(const simulation *sim, char words[160])
{
    words[0] = 0;
    if (sim->gpu && sim->gain_on_gpu > 0 && sim->config.run.device == DEVICE_AUTO)
        snprintf(words, 160, "; about %.2g times as many trial moves a second as with %d thread%s",
                 sim->gain_on_gpu, sim->system.threads, sim->system.threads == 1 ? "" : "s");
    return words;
}
