/* walkers.c: the box, the temperature, the couplings and the step of each walker: see sequential.h. */
#include <math.h>
#include <string.h>

#include "sequential.h"

static void set_box(sequential *me, int32_t w, const plugmc_box *box)
{
    me->box[w] = *box;
    me->of[w].domain = domain_of(box, me->precision);
    me->margin[w] = pow(contact_margin(me->system, box, me->precision), 2);
}

static void set_rungs(sequential *me)
{
    for (int32_t w = 0; w < me->system->walkers; w++) {
        const int32_t rung = me->on_rung[w];
        me->of[w].step = (double)me->steps[rung];
        me->of[w].kT = me->rungs > 1 || me->system->weighted ? me->system->temperatures[rung]
                                                             : me->system->temperature;
    }
}

int walkers_upload(const sequential *me, const plugmc_host *host)
{
    const size_t walkers = (size_t)me->system->walkers, terms = (size_t)me->system->term_count;
    if (!host->gpu || !me->d.walker) return PLUGMC_OK;
    int code = host->gpu->upload(host->context, me->d.walker, me->of, walkers * sizeof *me->of);
    if (!code)
        code = host->gpu->upload(host->context, me->d.margin, me->margin,
                                 walkers * sizeof *me->margin);
    if (!code)
        code = host->gpu->upload(host->context, me->d.boxes, me->box, walkers * sizeof *me->box);
    if (!code && me->weight && terms)
        code = host->gpu->upload(host->context, me->d.weight, me->weight,
                                 walkers * terms * sizeof *me->weight);
    return code;
}

int walkers_prepare(sequential *me, const plugmc_host *host)
{
    const plugmc_system *system = me->system;
    const size_t walkers = (size_t)system->walkers, terms = (size_t)system->term_count;
    me->rungs = system->rungs > 1 ? system->rungs : 1;
    me->box = host->allocate(host->context, walkers * sizeof *me->box);
    me->of = host->allocate(host->context, walkers * sizeof *me->of);
    me->margin = host->allocate(host->context, walkers * sizeof *me->margin);
    me->on_rung = host->allocate(host->context, walkers * sizeof *me->on_rung);
    me->accepted = host->allocate(host->context, walkers * sizeof *me->accepted);
    me->steps = host->allocate(host->context, (size_t)me->rungs * sizeof *me->steps);
    me->counts = host->allocate(host->context, (size_t)me->rungs * sizeof *me->counts);
    if (system->weighted)
        me->weight = host->allocate(host->context, walkers * terms * sizeof *me->weight);
    if (!me->box || !me->of || !me->margin || !me->on_rung || !me->accepted || !me->steps ||
        !me->counts || (system->weighted && !me->weight))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers", walkers);
    for (int32_t w = 0; w < system->walkers; w++) set_box(me, w, &system->box);
    for (int32_t r = 0; r < me->rungs; r++) me->steps[r] = me->step;
    set_rungs(me);
    return PLUGMC_OK;
}

static int take_boxes(sequential *me, const plugmc_state *state)
{
    void *boxes;
    TRY(state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &boxes, NULL));
    for (int32_t w = 0; w < me->system->walkers; w++) set_box(me, w, (const plugmc_box *)boxes + w);
    return PLUGMC_OK;
}

static int take_rungs(sequential *me, const plugmc_state *state)
{
    const int64_t terms = me->system->term_count;
    void *rungs, *rows;
    size_t row;
    TRY(state->array(state, PLUGMC_STATE_RUNG, PLUGMC_ON_HOST, PLUGMC_READ, &rungs, NULL));
    TRY(state->array(state, PLUGMC_STATE_MULTIPLIER, PLUGMC_ON_HOST, PLUGMC_READ, &rows, &row));
    for (int32_t w = 0; w < me->system->walkers; w++) {
        const double *m = (const double *)((const char *)rows + (size_t)w * row);
        me->on_rung[w] = ((const int32_t *)rungs)[w];
        for (int64_t t = 0; t < terms && me->weight; t++)
            me->weight[w * terms + t] = m[t] * me->system->temperatures[me->on_rung[w]];
    }
    set_rungs(me);
    return PLUGMC_OK;
}

int walkers_take(sequential *me, const plugmc_host *host, const plugmc_state *state,
                 uint32_t changed)
{
    const plugmc_system *system = me->system;
    const uint32_t of_rungs = PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG;
    if (system->changes & PLUGMC_CHANGED_BOX && changed & PLUGMC_CHANGED_BOX)
        TRY(take_boxes(me, state));
    if ((system->weighted || me->rungs > 1) && changed & of_rungs) TRY(take_rungs(me, state));
    return walkers_upload(me, host);
}

int walkers_take_steps(sequential *me, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    if (!plugmc_update_steps(sweeps, me->rungs, me->steps)) return PLUGMC_OK;
    set_rungs(me);
    if (!host->gpu) return PLUGMC_OK;
    TRY(walkers_upload(me, host));
    return host->gpu->upload(host->context, me->d.step, me->steps, sizeof *me->steps);
}
