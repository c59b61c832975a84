/* Tuning the step of a mover during equilibration. */
#include "run/tuning.h"

#include <math.h>

#include "crash.h"
#include "run/checkpointing.h"

double target_acceptance(const simulation *sim)
{
    const plugmc_mover *m = sim->mover->plugin->mover;
    if (!m->target_acceptance || !m->step || !m->set_step) return 0;
    context_calling(&sim->mover->context, "target_acceptance");
    const double target = m->target_acceptance(sim->mover->data);
    crash_called();
    return target;
}

/* A mover has a largest step, beyond which its moves mean nothing: half a box, half a cell, what an
 * integrator can follow. Where nearly all moves are accepted at that, the target stays out of
 * reach; so it does where hardly any is, however small the step has become. */
static void say_what_is_missed(simulation *sim, double acceptance, double target, double wanted)
{
    const instance *mover = sim->mover;
    const double step = checkpoint_step(sim);
    const plugmc_context *context = &mover->context;
    if (step < wanted * (1 - 1e-9) && acceptance > target + 0.05)
        report_warning(sim->report, context->file, context->line,
                       "[%s] acceptance is %.3g at the largest step there is, %.4g: target_acceptance = "
                       "%g is out of reach", context->section, acceptance, step, target);
    else if (acceptance < 0.5 * target)
        report_warning(sim->report, context->file, context->line,
                       "[%s] acceptance is still %.3g at the end of equilibration, with a step of %.4g, and "
                       "target_acceptance = %g: equilibrate for longer, or begin with another step",
                       context->section, acceptance, step, target);
}

int tune_step(simulation *sim, plugmc_counts counts, double target, int last)
{
    instance *mover = sim->mover;
    if (!counts.trials) return 0;
    const double acceptance = (double)counts.accepted / (double)counts.trials;
    const double factor = fmin(2, fmax(0.5, acceptance / target));
    const double wanted = checkpoint_step(sim) * factor;
    context_calling(&mover->context, "set_step");
    const int code = mover->plugin->mover->set_step(mover->data, &mover->host, wanted);
    const int ended = context_exit_code(&mover->context, code, "setting the step");
    if (!ended && last) say_what_is_missed(sim, acceptance, target, wanted);
    return ended;
}
