/* cpu.c: sweeps on the CPU: sub-sweeps, and the cell shift. */
#include "checkerboard.h"

/* Into how many tasks the rows of a walker are divided. */
static int parts_of_walker(const checkerboard *me, int rows)
{
    const int threads = me->system->threads;
    if (threads == 1 || me->cells.walkers >= 4 * threads) return 1;
    return threads < rows ? threads : rows;
}

/* The sweep is number `at` of those for which cells of others are here. Returns 1 if a change of energy was not a number. */
static int subsweep(checkerboard *me, uint64_t number, int at, const cb_plan *plans, int part)
{
    const int rows = rows_of_layer(me) * window_of(me, plans, at, part).active;
    /* A thread has one task of many rows, in which row.c fills its lanes, or several walkers. */
    const int each = parts_of_walker(me, rows), tasks = each * me->cells.walkers;
    const int rungs = me->system->rungs, counters = CB_KINDS * rungs;
    uint64_t trials[counters], accepted[counters];
    int lost = 0;
    memset(trials, 0, sizeof trials);
    memset(accepted, 0, sizeof accepted);
#pragma omp parallel for schedule(static) reduction(+ : trials[:counters], accepted[:counters])     \
    reduction(| : lost) num_threads(me->system->threads)
    for (int i = 0; i < tasks; i++) {
        const int w = i / each, k = i % each;
        const rows_task task = {number,
                                w,
                                plans[w].set[part],
                                window_of(me, &plans[w], at, part),
                                (int)((int64_t)rows * k / each),
                                (int)((int64_t)rows * (k + 1) / each)};
        const rows_result r = CB_BODIES        ? update_rows_of_bodies(me, &me->now, &task)
                              : me->cells.wide ? update_wide_rows(me, &me->now, &task)
                                               : update_rows(me, &me->now, &task);
        for (int kind = 0; kind < CB_KINDS; kind++) {
            trials[kind * rungs + me->each.of[w].rung] += r.counts[kind].trials;
            accepted[kind * rungs + me->each.of[w].rung] += r.counts[kind].accepted;
        }
        lost |= r.lost;
    }
    for (int k = 0; k < counters; k++) {
        me->counts[k].trials += trials[k];
        me->counts[k].accepted += accepted[k];
    }
    return lost;
}

/* ---- The cell shift on the CPU --------------------------------------------------------------- */

/* A half row of new cells, LANES at a time: particles of the old cells at the same place, then
 * those that come over from the cells at `there`. here, there: words of the first of them. Returns
 * the largest number of particles in a cell, which may exceed the capacity. */
static PLUGMC_TARGETS int shift_row(const checkerboard *me, int walker, const cb_plan *p,
                                    int64_t here, int64_t there)
{
    const float *from = me->now.coordinate + walker * me->cells.walker;
    float *to = me->next.coordinate + walker * me->cells.walker;
    const uint32_t *from_id = me->now.id + walker * me->cells.axis;
    uint32_t *to_id = me->next.id + walker * me->cells.axis;
    const uint8_t *from_count = me->now.count + walker * me->cells.plane;
    uint8_t *to_count = me->next.count + walker * me->cells.plane;
    const float s = (float)(p->sign * p->quanta) * CB_QUANTUM, edge = p->sign > 0 ? 1.0f : -1.0f;
    const int half = me->cells.half, dim = me->cells.dimension, capacity = me->cells.capacity,
              ids = me->cells.ids;
    int largest = 0;
    for (int q0 = 0; q0 < half; q0 += LANES) {
        float cell[3][MOST][LANES];
        uint32_t number[MOST][LANES];
        int32_t filled[LANES] = {0};
        int used = 0; /* slots that may be filled */
        for (int source = 0; source < 2; source++) {
            const int64_t word = (source ? there : here) + q0;
            const int most = largest_of_lanes(from_count + word);
            int32_t n[LANES];
            EACH_LANE(l) n[l] = from_count[word + l];
            for (int k = 0; k < most; k++) {
                float v[3][LANES];
                uint32_t id[LANES];
                int32_t slot[LANES]; /* where it goes; -1: elsewhere */
                for (int a = 0; a < dim; a++)
                    memcpy(v[a], from + a * me->cells.axis + k * me->cells.plane + word,
                           sizeof v[a]);
                if (ids) memcpy(id, from_id + k * me->cells.plane + word, sizeof id);
                float *along = v[p->axis];
                EACH_LANE(l) {
                    const float c = along[l] - s;
                    const int32_t leaves = (c < -0.5f) | (c >= 0.5f), there_is = k < n[l];
                    const int32_t comes = there_is & (leaves == source), next = filled[l];
                    along[l] = source ? c + edge : c;
                    slot[l] = comes ? next : -1;
                    filled[l] = next + comes;
                }
                if (used < capacity) {
                    for (int a = 0; a < dim; a++)
                        EACH_LANE(l) cell[a][used][l] = a ? 0 : PLUGMC_NOWHERE;
                    if (ids) memset(number[used], 0, sizeof number[used]);
                    used++;
                }
                for (int i = 0; i < used; i++) {
                    for (int a = 0; a < dim; a++)
                        EACH_LANE(l) {
                            const float new = v[a][l], old = cell[a][i][l];
                            cell[a][i][l] = slot[l] == i ? new : old;
                        }
                    if (!ids) continue;
                    EACH_LANE(l) {
                        const uint32_t new = id[l], old = number[i][l];
                        number[i][l] = slot[l] == i ? new : old;
                    }
                }
            }
        }
        for (int k = 0; k < capacity; k++) {
            const int64_t at = k * me->cells.plane + here + q0;
            if (k >= used)
                EACH_LANE(l) cell[0][k][l] = PLUGMC_NOWHERE;
            memcpy(to + at, cell[0][k], sizeof cell[0][k]);
            if (k >= used) continue;
            for (int a = 1; a < dim; a++)
                memcpy(to + a * me->cells.axis + at, cell[a][k], sizeof cell[a][k]);
            if (ids) memcpy(to_id + at, number[k], sizeof number[k]);
        }
        for (int l = 0; l < LANES && q0 + l < half; l++) {
            largest = filled[l] > largest ? filled[l] : largest;
            to_count[here + q0 + l] = (uint8_t)(filled[l] < capacity ? filled[l] : capacity);
        }
    }
    return largest;
}

/* Returns 1 if a cell overflowed. */
static int shift(checkerboard *me, int at, const cb_plan *plans)
{
    const cb_window window = window_of(me, plans, at, CB_OF_SHIFT);
    const int rows_y = me->cells.dimension == 3 ? me->cells.m[1] : 1; /* of a layer */
    const int rows = window.active * rows_y, tasks = rows * me->cells.walkers;
    int overflow = 0;
#pragma omp parallel for schedule(static) reduction(| : overflow) num_threads(me->system->threads)
    for (int i = 0; i < tasks; i++) {
        const int w = i / rows;
        const int row = (window.first * rows_y + i % rows) % (me->cells.m[1] * me->cells.m[2]);
        const int y = row % me->cells.m[1], z = row / me->cells.m[1];
        const cb_plan *p = &plans[w];
        int ny = y, nz = z;
        if (p->axis == 1) ny = (y + p->sign + me->cells.m[1]) % me->cells.m[1];
        if (p->axis == 2) nz = (z + p->sign + me->cells.m[2]) % me->cells.m[2];
        for (int parity = 0; parity < 2; parity++) {
            const int64_t half_rows = (int64_t)(z * me->cells.m[1] + y) * 2;
            const int64_t here = (half_rows + parity) * me->cells.row;
            int64_t there = ((int64_t)(nz * me->cells.m[1] + ny) * 2 + parity) * me->cells.row;
            int ahead = 0;    /* of the cell in the same place there */
            if (p->axis == 0) /* the other half row, whose images close the circle */
                there = (half_rows + 1 - parity) * me->cells.row,
                ahead = p->sign > 0 ? (parity ? 1 : 0) : (parity ? 0 : -1);
            int filled = me->cells.wide ? shift_wide_row(me, w, p, here + PAD, there + PAD, ahead)
                                        : shift_row(me, w, p, here + PAD, there + PAD + ahead);
            overflow |= filled > me->cells.capacity;
            refresh_images(me, &me->next, w, here);
        }
    }
    store t = me->now;
    me->now = me->next;
    me->next = t;
    return overflow;
}

/* ---- Sweeps on the CPU ------------------------------------------------------------------------- */

int report_lost(const checkerboard *me, const plugmc_host *host)
{
    const plugmc_not_a_number where = {
        .size = sizeof where, .walker = -1, .particle = -1, .sweep = me->lost};
    return host->not_a_number(host->context, &where);
}

/* How a try at some sweeps ended: all were made, a cell overflowed, or a change of energy was not a
 * number in sweep me->lost. */
enum outcome { MADE, OVERFLOWED, LOST };

/* All sub-sweeps of a sweep; its cells are not shifted if that is LOST, for all processes. */
static int make_trials(checkerboard *me, const plugmc_host *host, const cb_plan *plans, uint64_t s,
                       int at, enum outcome *outcome)
{
    int64_t lost = 0;
    for (int part = 0; part < 1 << me->cells.dimension && !lost && !stops_here(me, host); part++)
        lost = subsweep(me, s, at, plans, part);
    if (me->cells.energies) TRY(of_all(me, host, &lost, 1));
    *outcome = lost ? LOST : MADE;
    return PLUGMC_OK;
}

/* One try at n sweeps, or fewer if the run has to stop. plans [walkers]: room for them. */
static int sweep_on_host(checkerboard *me, const plugmc_host *host, cb_plan *plans, uint64_t first,
                         uint64_t n, enum outcome *outcome)
{
    *outcome = MADE;
    for (uint64_t s = first; s < first + n && *outcome == MADE && !stops_here(me, host); s++) {
        const uint64_t left = first + n - s, most = (uint64_t)me->others.at_once;
        const int at = (int)((s - first) % most);
        int64_t overflow = 0;
        for (int w = 0; w < me->cells.walkers; w++) plans[w] = plan_of(me, s, w);
        if (at == 0) TRY(bring_around(me, host, s, (int)(left < most ? left : most)));
        me->lost = s;
        TRY(make_trials(me, host, plans, s, at, outcome));
        if (!me->set.shift_cells || *outcome == LOST) continue;
        overflow = shift(me, at, plans);
        if (!me->cells.bounded) TRY(of_all(me, host, &overflow, 1));
        *outcome = overflow ? OVERFLOWED : MADE;
        for (int w = 0; w < me->cells.walkers; w++)
            me->origin[3 * w + plans[w].axis] += plans[w].sign * plans[w].quanta;
    }
    return PLUGMC_OK;
}

static int no_copy(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a copy of the cells");
}

/* Sweeps with a copy to go back to: if a cell overflows, cells grow and the same sweeps are done
 * again, so the chain does not know. origin [walkers][3]: room for them. */
static int sweep_with_copy(checkerboard *me, const plugmc_host *host, cb_plan *plans,
                           int64_t *origin, uint64_t first, uint64_t n)
{
    enum outcome outcome = MADE;
    store copy;
    if (!allocate_store(me, &copy)) return no_copy(host);
    memcpy(me->saved_counts, me->counts, counts_bytes(me));
    memcpy(origin, me->origin, sizeof(int64_t) * 3 * me->cells.walkers);
    copy_store(me, &copy, &me->now);
    if (CB_BODIES) TRY(copy_orientations(me, host, 0));
    int code;
    while (!(code = sweep_on_host(me, host, plans, first, n, &outcome)) && outcome == OVERFLOWED) {
        copy_store(me, &me->now, &copy);
        if (CB_BODIES) TRY(copy_orientations(me, host, 1));
        memcpy(me->origin, origin, sizeof(int64_t) * 3 * me->cells.walkers);
        memcpy(me->counts, me->saved_counts, counts_bytes(me));
        code = grow(me, host);
        if (code) break;
        free_store(&copy);
        if (!allocate_store(me, &copy)) {
            code = no_copy(host);
            break;
        }
        copy_store(me, &copy, &me->now);
    }
    free_store(&copy);
    return !code && outcome == LOST ? report_lost(me, host) : code;
}

/* Sweeps where geometry rules out that a cell overflows. */
static int sweep_bounded(checkerboard *me, const plugmc_host *host, cb_plan *plans, uint64_t first,
                         uint64_t n)
{
    enum outcome outcome;
    TRY(sweep_on_host(me, host, plans, first, n, &outcome));
    if (outcome == OVERFLOWED)
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "a cell contains more than %d hard particles: they overlap",
                          me->cells.capacity);
    return outcome == LOST ? report_lost(me, host) : PLUGMC_OK;
}

int sweep_or_grow(checkerboard *me, const plugmc_host *host, uint64_t first, uint64_t n)
{
    cb_plan *plans = malloc(sizeof *plans * (size_t)me->cells.walkers);
    int64_t *origin = malloc(sizeof *origin * 3 * (size_t)me->cells.walkers);
    int code;
    if (!plans || !origin)
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the plans of sweeps");
    else if (!me->cells.bounded)
        code = sweep_with_copy(me, host, plans, origin, first, n);
    else
        code = sweep_bounded(me, host, plans, first, n);
    free(plans);
    free(origin);
    return code;
}
