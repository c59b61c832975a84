/* bodies_in_lanes.c: sub-sweeps on the CPU of hard bodies in two dimensions: LANES cells at a time, each of which has a lane of
 * the vectors. bodies.c has the others, and says which random numbers a trial move has; decisions are the same.
 *
 * A trial move in every lane is made in three steps: proposals; the pairs that are near enough to be looked at, of all
 * lanes in one list, so that no lane is idle while another has more neighbours; and the answers of the potentials, of LANES
 * pairs at a time (plugmc/body_pairs.h).
 */
#include "checkerboard.h"

enum {
    FLAT_NEAR = 9 * NARROW, /* bodies near a cell, at most */
    LISTED = 16 * LANES     /* pairs that are looked at together, at most */
};

/* Bodies near the cells, [entry][lane], those of the cell itself first; behind the last one of a lane x is PLUGMC_NOWHERE. */
typedef struct near_lanes {
    _Alignas(64) float x[FLAT_NEAR][LANES];
    float y[FLAT_NEAR][LANES];
    int32_t angle[FLAT_NEAR][LANES];
    uint8_t species[FLAT_NEAR][LANES];
    int32_t n[LANES], m[LANES]; /* of the cell itself, and of all */
    int own, most;              /* the largest of these */
} near_lanes;

/* LANES cells at work. */
typedef struct body_lanes {
    const checkerboard *me;
    const conditions *of;
    uint64_t sweep;
    int walker, many;                 /* many: species */
    int filled;                       /* lanes that have a cell */
    plugmc_orientation *orientations; /* of the walker */
    float *coordinate;                /* likewise */
    const uint32_t *id;
    const uint8_t *count;
    int64_t word[LANES];
    uint32_t cell[LANES];
    int32_t counts[LANES]; /* 1: trial moves are counted here, not by another process */
    int32_t order[NARROW][LANES], turn[LANES];
    int32_t tried[2][LANES], accepted[2][LANES]; /* by kind */
    near_lanes near;
} body_lanes;

/* A trial move a lane, of entry `own`. */
typedef struct trial_lanes {
    int32_t own[LANES], turns[LANES], possible[LANES];
    float x[LANES], y[LANES];
    int32_t angle[LANES];
} trial_lanes;

/* Pairs of a trial move and a body near it. */
typedef struct pair_list {
    int n;
    _Alignas(64) float x[LISTED + LANES];
    float y[LISTED + LANES];
    int32_t moved[LISTED + LANES], other[LISTED + LANES]; /* angles */
    uint8_t kind[LISTED + LANES], other_kind[LISTED + LANES], lane[LISTED + LANES],
        overlap[LISTED + LANES];
} pair_list;

/* ---- What is near the cells ---------------------------------------------------------------------- */

PLUGMC_FN int kind_of(const checkerboard *me, uint32_t id)
{
    int s = 0;
    while (s + 1 < me->cells.species && id >= me->system->first[s + 1]) s++;
    return s;
}

/* Bodies of the cell at `word`, which is at (sx, sy) from that of lane l; m are there already. Returns how many there are then. */
PLUGMC_FN int gather_cell(body_lanes *c, int l, int64_t word, int sx, int sy, int m)
{
    const checkerboard *me = c->me;
    near_lanes *near = &c->near;
    const int itself = !sx && !sy, n = c->count[word];
    for (int k = 0; k < n; k++) {
        const int64_t at = place_of(me, word, k);
        const float x = c->coordinate[at] + (float)sx,
                    y = c->coordinate[me->cells.axis + at] + (float)sy;
        const float outside =
            cb_square_outside(2, x, y, 0, sx, sy, 0, c->of->ratio[1], c->of->ratio[2]);
        /* it is written in any case, and again if it is not near */
        near->x[m][l] = x;
        near->y[m][l] = y;
        near->angle[m][l] = c->orientations[c->id[at]].part[0];
        near->species[m][l] = (uint8_t)(c->many ? kind_of(me, c->id[at]) : 0);
        m += itself | (outside < c->of->reach);
    }
    return m;
}

PLUGMC_FN int wrapped(int x, int m) { return x < 0 ? x + m : x >= m ? x - m : x; }

/* The cell (x, y) into the next lane. */
PLUGMC_FN void fill_lane(body_lanes *c, int x, int y, int counts)
{
    const checkerboard *me = c->me;
    const int *m = me->cells.m, l = c->filled++;
    near_lanes *near = &c->near;
    int64_t words[9];
    for (int k = 0; k < 9; k++)
        words[k] = word_of(me, wrapped(x + k % 3 - 1, m[0]), wrapped(y + k / 3 - 1, m[1]), 0);
    c->word[l] = words[4];
    c->cell[l] = (uint32_t)(y * m[0] + x);
    c->counts[l] = counts;
    near->n[l] = near->m[l] = gather_cell(c, l, words[4], 0, 0, 0);
    for (int k = 0; k < 9; k++)
        if (k != 4) near->m[l] = gather_cell(c, l, words[k], k % 3 - 1, k / 3 - 1, near->m[l]);
}

/* Lanes without a cell have one with nothing near it, and a body that no trial move reaches. */
PLUGMC_FN void end_lists(body_lanes *c)
{
    near_lanes *near = &c->near;
    near->own = near->most = 1;
    for (int l = 0; l < LANES; l++) {
        if (l >= c->filled) {
            c->cell[l] = 0;
            near->n[l] = near->m[l] = c->counts[l] = 0;
            near->angle[0][l] = near->species[0][l] = 0;
            near->y[0][l] = 0;
        }
        c->turn[l] = 0;
        if (near->n[l] > near->own) near->own = near->n[l];
        if (near->m[l] > near->most) near->most = near->m[l];
    }
    for (int l = 0; l < LANES; l++)
        for (int k = near->m[l]; k < near->most; k++) {
            near->x[k][l] = PLUGMC_NOWHERE;
            near->y[k][l] = 0;
        }
}

/* ---- Random numbers ---------------------------------------------------------------------------------- */

PLUGMC_FN void draw_lanes(const body_lanes *c, uint32_t purpose, uint32_t draw,
                          uint32_t words[4][LANES])
{
    EACH_LANE(l) {
        const plugmc_random r =
            plugmc_draw(c->me->seed, c->sweep, (uint32_t)c->walker, c->cell[l], purpose, draw);
        words[0][l] = r.word[0];
        words[1][l] = r.word[1];
        words[2][l] = r.word[2];
        words[3][l] = r.word[3];
    }
}

/* Bodies of each cell in the order of its trials: a random permutation of the first n. */
PLUGMC_FN void draw_order(body_lanes *c)
{
    uint32_t words[4][LANES];
    for (int k = 0; k < c->near.own; k++)
        EACH_LANE(l) c->order[k][l] = k;
    if (!c->me->set.shuffle_particles) return;
    for (int k = c->near.own - 1, drawn = -1; k > 0; k--) { /* Fisher-Yates */
        if (drawn != k >> 2) draw_lanes(c, PLUGMC_PURPOSE_ORDER, (uint32_t)k >> 2, words);
        drawn = k >> 2;
        for (int l = 0; l < c->filled; l++) {
            if (k >= c->near.n[l]) continue;
            const uint32_t j = plugmc_below(words[k & 3][l], (uint32_t)k + 1);
            const int32_t last = c->order[k][l];
            c->order[k][l] = c->order[j][l];
            c->order[j][l] = last;
        }
    }
}

/* ---- Trial moves ------------------------------------------------------------------------------------- */

/* Whose turn it is. */
PLUGMC_FN void choose(body_lanes *c, trial_lanes *t)
{
    const near_lanes *near = &c->near;
    EACH_LANE(l) t->own[l] = 0;
    for (int k = 0; k < near->own; k++)
        EACH_LANE(l) t->own[l] = c->turn[l] == k ? c->order[k][l] : t->own[l];
    for (int k = 0; k < near->own; k++)
        EACH_LANE(l) {
            const int mine = t->own[l] == k;
            const float x = near->x[k][l], y = near->y[k][l];
            const int32_t angle = near->angle[k][l];
            t->x[l] = mine ? x : t->x[l];
            t->y[l] = mine ? y : t->y[l];
            t->angle[l] = mine ? angle : t->angle[l];
        }
    EACH_LANE(l) {
        const int32_t next = c->turn[l] + 1;
        c->turn[l] = next < near->n[l] ? next : 0;
    }
}

/* Moves them, by the words of trial move number `trial` and by the words that say which of them turn. */
PLUGMC_FN void propose(const body_lanes *c, uint32_t trial, const uint32_t *kinds, trial_lanes *t)
{
    const uint64_t threshold = rotations_threshold(c->me);
    const float step_x = c->of->step[0], step_y = c->of->step[1];
    const double largest = c->of->turn;
    uint32_t words[4][LANES];
    draw_lanes(c, PLUGMC_PURPOSE_TRIAL, trial, words);
    EACH_LANE(l) {
        const int32_t turns = kinds[l] < threshold;
        const plugmc_random random = {{words[0][l], words[1][l], 0, 0}};
        plugmc_orientation turned = {{t->angle[l], 0, 0, 0}};
        float dx, dy;
        plugmc_turn_by(random, 2, largest, &turned);
        cb_displacement_2(words[0][l], step_x, step_y, &dx, &dy);
        const float x = turns ? t->x[l] : t->x[l] + dx, y = turns ? t->y[l] : t->y[l] + dy;
        t->turns[l] = turns;
        t->angle[l] = turns ? turned.part[0] : t->angle[l];
        t->x[l] = x;
        t->y[l] = y;
        t->possible[l] = (x >= -0.5f) & (x < 0.5f) & (y >= -0.5f) & (y < 0.5f);
    }
}

/* Trials of the lanes that overlap with the other body of a listed pair are impossible. The list is empty afterwards. */
PLUGMC_FN void look_at_pairs(const body_lanes *c, pair_list *list, trial_lanes *t)
{
    const checkerboard *me = c->me;
    const plugmc_pairs_of_bodies pairs = {
        .size = sizeof pairs,
        .dimension = 2,
        .n = list->n,
        .x = list->x,
        .y = list->y,
        .turned_a = {list->moved},
        .turned_b = {list->other},
        .species_a = c->many ? list->kind : NULL,
        .species_b = c->many ? list->other_kind : NULL,
        .charge = me->charge,
        .diameter = me->diameter,
    };
    for (int b = 0; b < me->bodies.count && list->n > 0; b++) {
        me->bodies.pairs[b]->overlap(me->bodies.instance[b], &pairs, list->overlap);
        for (int k = 0; k < list->n; k++) t->possible[list->lane[k]] &= !list->overlap[k];
    }
    list->n = 0;
}

/* Lists the lanes in which entry k is within the reach of the trial move. */
PLUGMC_FN void list_near(const body_lanes *c, const trial_lanes *t, int k, pair_list *list)
{
    const near_lanes *near = &c->near;
    const float ratio_y = c->of->ratio[1], scale = c->of->scale, reach = c->of->reach;
    float x[LANES], y[LANES];
    int32_t in_reach[LANES];
    uint8_t bytes[LANES];
    uint64_t eight[LANES / 8];
    EACH_LANE(l) {
        const float ux = t->x[l] - near->x[k][l], uy = (t->y[l] - near->y[k][l]) * ratio_y;
        x[l] = ux * scale;
        y[l] = uy * scale;
        in_reach[l] = (fmaf(uy, uy, ux * ux) < reach) & (t->own[l] != k) & t->possible[l];
    }
    EACH_LANE(l) bytes[l] = (uint8_t)in_reach[l];
    memcpy(eight, bytes, sizeof eight);
    int n = list->n;
    for (int half = 0; half < LANES / 8; half++)
        for (uint64_t left = eight[half]; left; left &= left - 1, n++) {
            const int l = 8 * half + __builtin_ctzll(left) / 8;
            list->x[n] = x[l];
            list->y[n] = y[l];
            list->moved[n] = t->angle[l];
            list->other[n] = near->angle[k][l];
            list->lane[n] = (uint8_t)l;
            if (!c->many) continue;
            list->kind[n] = near->species[t->own[l]][l];
            list->other_kind[n] = near->species[k][l];
        }
    list->n = n;
}

/* Trial moves that overlap with a body near them are impossible. */
PLUGMC_FN void meet(const body_lanes *c, pair_list *list, trial_lanes *t)
{
    for (int k = 0; k < c->near.most; k++) {
        list_near(c, t, k, list);
        if (list->n > LISTED - LANES) look_at_pairs(c, list, t);
    }
    look_at_pairs(c, list, t);
}

/* Trial moves that are possible are accepted. */
PLUGMC_FN void decide(body_lanes *c, const trial_lanes *t)
{
    near_lanes *near = &c->near;
    for (int k = 0; k < near->own; k++)
        EACH_LANE(l) {
            const int moved = (t->own[l] == k) & t->possible[l];
            const float x = near->x[k][l], y = near->y[k][l];
            const int32_t angle = near->angle[k][l];
            near->x[k][l] = moved ? t->x[l] : x;
            near->y[k][l] = moved ? t->y[l] : y;
            near->angle[k][l] = moved ? t->angle[l] : angle;
        }
    EACH_LANE(l) {
        const int32_t turned = c->counts[l] & t->turns[l], displaced = c->counts[l] & !t->turns[l];
        c->tried[CB_TURNED][l] += turned;
        c->tried[CB_DISPLACED][l] += displaced;
        c->accepted[CB_TURNED][l] += turned & t->possible[l];
        c->accepted[CB_DISPLACED][l] += displaced & t->possible[l];
    }
}

/* Into the counts of the run, and from 0 again. */
PLUGMC_FN void count_trials(body_lanes *c, rows_result *result)
{
    for (int kind = CB_DISPLACED; kind < CB_KINDS; kind++)
        for (int l = 0; l < LANES; l++) {
            result->counts[kind].trials += (uint64_t)c->tried[kind][l];
            result->counts[kind].accepted += (uint64_t)c->accepted[kind][l];
            c->tried[kind][l] = c->accepted[kind][l] = 0;
        }
}

/* What the cells hold after their trial moves. */
PLUGMC_FN void write_back(const body_lanes *c)
{
    const near_lanes *near = &c->near;
    for (int l = 0; l < c->filled; l++)
        for (int k = 0; k < near->n[l]; k++) {
            const int64_t at = place_of(c->me, c->word[l], k);
            c->coordinate[at] = near->x[k][l];
            c->coordinate[c->me->cells.axis + at] = near->y[k][l];
            c->orientations[c->id[at]].part[0] = near->angle[k][l];
        }
}

PLUGMC_FN void make_trials(body_lanes *c, pair_list *list, rows_result *result)
{
    uint32_t kinds[4][LANES];
    end_lists(c);
    draw_order(c);
    for (uint32_t trial = 0; trial < (uint32_t)c->me->set.trials; trial++) {
        trial_lanes t;
        if (trial % 4 == 0) draw_lanes(c, PLUGMC_PURPOSE_ORIENTATION, trial / 4, kinds);
        choose(c, &t);
        propose(c, trial, kinds[trial % 4], &t);
        meet(c, list, &t);
        decide(c, &t);
    }
    count_trials(c, result);
    write_back(c);
    c->filled = 0;
}

static PLUGMC_TARGETS void sweep_rows(body_lanes *c, const store *s, const rows_task *task,
                                      rows_result *result)
{
    const checkerboard *me = c->me;
    pair_list list = {.n = 0};
    for (int r = task->first; r < task->end; r++) {
        const active_row row = row_of(me, task, r);
        for (int x = row.x0; x < me->cells.m[0]; x += 2) {
            if (!c->count[word_of(me, x, row.y, row.z)]) continue;
            fill_lane(c, x, row.y, row.counts);
            if (c->filled == LANES) make_trials(c, &list, result);
        }
    }
    if (c->filled) make_trials(c, &list, result);
    for (int r = task->first; r < task->end; r++) {
        const active_row row = row_of(me, task, r);
        refresh_images(me, s, task->walker, word_of(me, row.x0, row.y, row.z) - PAD);
    }
}

rows_result update_rows_in_lanes(const checkerboard *me, const store *s, const rows_task *task)
{
    const int w = task->walker;
    rows_result result = {{{0, 0}}, 0};
    body_lanes lanes;
    lanes.me = me;
    lanes.of = &me->each.of[w];
    lanes.sweep = task->sweep;
    lanes.walker = w;
    lanes.many = me->cells.species > 1;
    lanes.filled = 0;
    memset(lanes.tried, 0, sizeof lanes.tried);
    memset(lanes.accepted, 0, sizeof lanes.accepted);
    lanes.orientations = me->bodies.orientation + (int64_t)w * me->system->particles;
    lanes.coordinate = s->coordinate + w * me->cells.walker;
    lanes.id = s->id + w * me->cells.axis;
    lanes.count = s->count + w * me->cells.plane;
    sweep_rows(&lanes, s, task, &result);
    return result;
}
