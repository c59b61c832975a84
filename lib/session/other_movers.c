#include "other_movers.h"

#include <math.h>

#include "engine/mover_offers.h"
#include "parallel/team.h"

/* Formulas are good to a factor of two. Nobody wants advice on a run that is over soon. */
enum { SEVERAL = 3, LEAST_SECONDS = 10 };

static double seconds_on(double on_cpu, double on_gpu, const engine *engine)
{
    return engine->device.gpu && isfinite(on_gpu) ? on_gpu : on_cpu;
}

static void advise_other(const engine *engine, const mover_slot *m)
{
    const plugmc_mover *mover = m->mover;
    const double sweeps = (double)(engine->config.run.equilibrate + engine->config.run.sweeps);
    plugmc_speed speed;
    if (!mover->same_moves || !speed_of_mover(engine, m, &speed)) return;
    const double own = seconds_on(speed.seconds, speed.gpu_seconds, engine);
    if (own * speed.trials * sweeps / (double)m->every < LEAST_SECONDS) return;
    mover_offers offers = offers_of_movers(engine, m, engine->system.threads, mover->same_moves);
    const mover_offer *best = NULL;
    double least = INFINITY;
    for (int i = 0; i < offers.count; i++) {
        const mover_offer *o = &offers.all[i];
        const double seconds = seconds_on(o->on_cpu, o->on_gpu, engine);
        if (*o->why_not || !(seconds < least)) continue;
        least = seconds;
        best = o;
    }
    if (best && own >= SEVERAL * least && isfinite(own))
        report_note(
            engine->report,
            "mover '%s' makes some %.1g trial moves a second here, and '%s' about %.0f times "
            "as many of the same kind: see plugmc info %s",
            m->instance->loaded.name, 1 / own, best->name, own / least, best->name);
    mover_offers_free(&offers);
}

void advise_other_movers(const engine *engine)
{
    if (team_now()->parts > 1) return;
    for (int k = 0; k < engine->mover_count; k++) advise_other(engine, &engine->movers[k]);
}
