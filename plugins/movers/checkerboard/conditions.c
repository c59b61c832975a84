/* conditions.c: boxes and rungs of walkers: where they differ or change, sweeps ask here. */
#include "checkerboard.h"

/* In units of the cells of this walker. */
static void set_units_of(const checkerboard *me, conditions *of)
{
    const double range = range_of(me);
    for (int a = 0; a < 3; a++)
        of->width[a] = a < me->cells.dimension ? of->length[a] / me->cells.m[a] : 1;
    of->scale = (float)of->width[0];
    /* the margin covers the rounding of distances to the cell */
    of->reach = (float)(range * range / (of->width[0] * of->width[0]) * 1.00001);
    for (int a = 0; a < 3; a++)
        of->ratio[a] = a < me->cells.dimension ? (float)(of->width[a] / of->width[0]) : 1;
    for (int pair = 0; pair < me->cells.species * me->cells.species; pair++) {
        /* A margin of 2^-22 covers the rounding of r^2 in float: what passes for apart is
         * apart in exact arithmetic. What is nearer than the spheres inside of bodies has not to be looked at: potentials
         * would find an overlap, too, which the margin of 2^-15 sees to. */
        const double c = me->distance[pair] / of->width[0];
        if (CB_BODIES)
            of->contact[pair] = (float)(c * c * (1 - 0x1p-15));
        else
            of->contact[pair] = c > 0 ? nextafterf((float)(c * c * (1 + 0x1p-22)), INFINITY) : 0;
    }
}

/* In cells that have become narrow the step is what fits into half of one, for as long as they are. */
void set_steps(checkerboard *me)
{
    for (int w = 0; w < me->cells.walkers; w++) {
        conditions *of = &me->each.of[w];
        double step = (double)me->each.steps[of->rung], narrowest = of->width[0];
        for (int a = 1; a < me->cells.dimension; a++) narrowest = fmin(narrowest, of->width[a]);
        if (!(step < 0.5 * narrowest)) step = 0.49 * narrowest;
        for (int a = 0; a < 3; a++) of->step[a] = (float)(step / of->width[a]);
        of->turn = plugmc_largest_turn(me->cells.dimension, (double)me->each.turns[of->rung]);
    }
}

void set_units(checkerboard *me)
{
    for (int w = 0; w < me->cells.walkers; w++) set_units_of(me, &me->each.of[w]);
    set_steps(me);
}

static void set_box(conditions *of, const plugmc_box *box)
{
    memcpy(of->length, box->length, sizeof of->length);
    of->volume = box->volume;
}

int begin_conditions(checkerboard *me, const plugmc_host *host)
{
    const plugmc_system *system = me->system;
    const size_t walkers = (size_t)me->cells.walkers, rungs = (size_t)system->rungs,
                 pairs = (size_t)(me->cells.species * me->cells.species);
    me->each.alike = !system->weighted && system->rungs == 1 && !me->each.boxes_change;
    me->each.of = (conditions *)host->allocate(host->context, sizeof *me->each.of * 2 * walkers);
    me->each.proposed = me->each.of + walkers;
    me->each.multiplier = (double *)host->allocate(
        host->context, sizeof *me->each.multiplier * walkers * (size_t)system->term_count);
    me->each.steps = (real *)host->allocate(host->context, sizeof *me->each.steps * 2 * rungs);
    me->each.turns = me->each.steps + rungs;
    me->counts = (plugmc_counts *)host->allocate(host->context, counts_bytes(me));
    me->saved_counts = (plugmc_counts *)host->allocate(host->context, counts_bytes(me));
    float *contact = (float *)host->allocate(host->context, sizeof *contact * 2 * walkers * pairs);
    if (!me->each.of || !me->each.multiplier || !me->each.steps || !me->counts ||
        !me->saved_counts || !contact)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d walkers",
                          me->cells.walkers);
    for (int w = 0; w < me->cells.walkers; w++) {
        me->each.of[w].contact = contact + (size_t)w * pairs;
        me->each.proposed[w].contact = contact + (size_t)(w + me->cells.walkers) * pairs;
        if (system->weighted)
            me->each.of[w].multiplier =
                me->each.multiplier + (size_t)w * (size_t)system->term_count;
        set_box(&me->each.of[w], &system->box);
    }
    for (size_t r = 0; r < rungs; r++) {
        me->each.steps[r] = me->set.step;
        me->each.turns[r] = me->set.turn;
    }
    return PLUGMC_OK;
}

static int take_rungs(checkerboard *me, const plugmc_state *state)
{
    void *rung;
    TRY(state->array(state, PLUGMC_STATE_RUNG, PLUGMC_ON_HOST, PLUGMC_READ, &rung, NULL));
    for (int w = 0; w < me->cells.walkers; w++) me->each.of[w].rung = ((const int32_t *)rung)[w];
    return PLUGMC_OK;
}

static int take_multipliers(checkerboard *me, const plugmc_state *state)
{
    const size_t terms = (size_t)me->system->term_count;
    void *rows;
    size_t row;
    TRY(state->array(state, PLUGMC_STATE_MULTIPLIER, PLUGMC_ON_HOST, PLUGMC_READ, &rows, &row));
    for (size_t w = 0; w < (size_t)me->cells.walkers; w++)
        memcpy(me->each.multiplier + w * terms, (const char *)rows + w * row,
               terms * sizeof *me->each.multiplier);
    return PLUGMC_OK;
}

static int take_boxes(checkerboard *me, const plugmc_state *state)
{
    void *boxes;
    TRY(state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &boxes, NULL));
    for (int w = 0; w < me->cells.walkers; w++)
        set_box(&me->each.of[w], (const plugmc_box *)boxes + w);
    return PLUGMC_OK;
}

int take_conditions(checkerboard *me, const plugmc_state *state, uint32_t changed)
{
    if (me->system->rungs > 1 && changed & PLUGMC_CHANGED_RUNG) TRY(take_rungs(me, state));
    if (me->system->weighted && changed & PLUGMC_CHANGED_MULTIPLIER)
        TRY(take_multipliers(me, state));
    if (me->each.boxes_change && changed & PLUGMC_CHANGED_BOX) TRY(take_boxes(me, state));
    set_steps(me);
    return PLUGMC_OK;
}

void propose_box(checkerboard *me, int w, const plugmc_box *box)
{
    conditions *of = &me->each.proposed[w];
    float *contact = of->contact;
    *of = me->each.of[w];
    of->contact = contact;
    set_box(of, box);
    set_units_of(me, of);
}

void take_box(checkerboard *me, int w, const plugmc_box *box)
{
    set_box(&me->each.of[w], box);
    set_units_of(me, &me->each.of[w]);
}

/* ---- For kernels -------------------------------------------------------------------------------- */

static size_t contact_bytes(const checkerboard *me)
{
    return me->each.boxes_change ? sizeof(float) * (size_t)(me->cells.species * me->cells.species)
                                 : 0;
}

/* Of a walker on the device, see cb_walker in checkerboard.cu. */
static size_t packed_bytes(const checkerboard *me)
{
    if (me->each.alike) return CB_BODIES ? sizeof(double) + 4 * sizeof(float) : 3 * sizeof(float);
    return sizeof(cb_head) + sizeof(double) * (size_t)me->system->term_count +
           (contact_bytes(me) + 7) / 8 * 8;
}

size_t conditions_bytes(const checkerboard *me)
{
    return packed_bytes(me) * (size_t)(me->each.alike ? 1 : me->cells.walkers);
}

void pack_conditions(const checkerboard *me, const conditions *all, void *packed)
{
    if (me->each.alike) {
        char *to = packed;
        if (CB_BODIES) memcpy(to, &all[0].turn, sizeof all[0].turn), to += sizeof all[0].turn;
        memcpy(to, all[0].step, sizeof all[0].step);
        return;
    }
    for (int w = 0; w < me->cells.walkers; w++) {
        const conditions *of = &all[w];
        char *to = (char *)packed + (size_t)w * packed_bytes(me);
        const size_t multipliers = sizeof(double) * (size_t)me->system->term_count;
        const cb_head head = {
            {of->width[0] / CB_QUANTA, of->width[1] / CB_QUANTA, of->width[2] / CB_QUANTA},
            {of->step[0], of->step[1], of->step[2]},
            of->rung,
            of->scale,
            of->ratio[1],
            of->ratio[2],
            of->reach,
#if CB_BODIES
            of->turn
#endif
        };
        memcpy(to, &head, sizeof head);
        if (of->multiplier) memcpy(to + sizeof head, of->multiplier, multipliers);
        memcpy(to + sizeof head + multipliers, of->contact, contact_bytes(me));
    }
}
