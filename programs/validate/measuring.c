/* See measuring.h. */
#include "measuring.h"

#include <math.h>

#include "base/crash.h"
#include "engine/view.h"

const char not_finite[] = "results are NaN or infinite: see the check 'results'";

static const plugmc_measures_shares *shares_of(const subject *o)
{
    return plugmc_offered(o->s->own->plugin, PLUGMC_MEASURES_SHARES);
}

/* What an observable does on a GPU without waiting, if it does; its measurement then sees boxes and counts alone. */
static int launch(subject *o, plugmc_view *view)
{
    const plugmc_host *host = &o->s->own->host;
    const plugmc_measures_later *later = plugmc_offered(o->s->own->plugin, PLUGMC_MEASURES_LATER);
    if (!later) return PLUGMC_OK;
    context_calling(&o->s->own->context, "launch");
    int code = later->launch(o->s->own->data, host, view);
    if (!code) code = host->gpu->arrive(host->context);
    view->positions = NULL;
    view->cells = NULL;
    return code;
}

int measure(subject *o, const double *positions, bool on_device, uint64_t sweep, double *values)
{
    engine *engine = &o->s->session.engine;
    view_stage stage = {.system = &engine->system,
                        .gpu = engine->device.gpu,
                        .state = &engine->current.state.face,
                        .elsewhere = o->edges};
    plugmc_view view;
    const mover_slot *ahead = engine->mover_count ? &engine->movers[0] : NULL;
    if (ahead && ahead->mover->driver && !o->boxes) {
        stage.driver = ahead->mover->driver;
        stage.mover_instance = ahead->instance->data;
        stage.mover_host = &ahead->instance->host;
    }
    int code = view_of(&stage, positions, on_device, sweep, &view);
    if (o->boxes) view.box = o->boxes, view.count = o->counts;
    for (int64_t k = 0; k < engine->system.walkers * o->width; k++) values[k] = NAN;
    const plugmc_measures_shares *shares = shares_of(o);
    if (!code && shares) shares->reach(o->s->own->data);
    if (!code && on_device) code = launch(o, &view);
    context_calling(&o->s->own->context, "measure");
    if (!code) code = o->observable->measure(o->s->own->data, &o->s->own->host, &view, values);
    if (!code && shares && PLUGMC_HAS(shares, complete) && shares->complete)
        shares->complete(o->s->own->data, &view, values);
    view_clear(&stage);
    return context_exit_code(&o->s->own->context, code, "measuring");
}

bool all_finite(const subject *o, const double *values)
{
    for (int64_t k = 0; k < o->s->session.engine.system.walkers * o->width; k++)
        if (!isfinite(values[k])) return false;
    return true;
}

const plugmc_quantity *quantity_at(const subject *o, int64_t k, int64_t *at)
{
    int q = 0;
    for (*at = k; *at >= plugmc_quantity_length(&o->quantities[q]); q++)
        *at -= plugmc_quantity_length(&o->quantities[q]);
    return &o->quantities[q];
}
