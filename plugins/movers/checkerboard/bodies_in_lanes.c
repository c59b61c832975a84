/* bodies_in_lanes.c: sub-sweeps on the CPU of hard bodies: LANES cells at a time, each of which has a lane of the vectors.
 * bodies.c has those of bodies with energies, and says which random numbers a trial move has; decisions are the same.
 *
 * A trial move in every lane is made in three steps: proposals; distances from what is near, in vectors, which show who is too far
 * away to be met, and who is so near that the spheres inside overlap; and the answers of the potentials for what is left:
 * nothing of disks and spheres, or nearly so. In two dimensions these pairs of all lanes are in one list, so that no lane
 * is idle while another has more neighbours, and potentials look at LANES of them at a time (plugmc/body_pairs.h).
 */
#include "near_bodies.h"

enum {
    LISTED = 16 * LANES /* pairs that are looked at together, at most */
};

/* A trial move a lane. */
typedef struct trial_lanes {
    int32_t own[LANES], kind[LANES], turns[LANES], possible[LANES];
    float x[LANES], y[LANES], z[LANES], to_x[LANES], to_y[LANES], to_z[LANES];
    int32_t part[4][LANES]; /* of the orientation after it */
} trial_lanes;

/* Pairs of a trial move and a body near it, in two dimensions. */
typedef struct pair_list {
    int n;
    _Alignas(64) float x[LISTED + LANES];
    float y[LISTED + LANES];
    int32_t moved[LISTED + LANES], other[LISTED + LANES]; /* angles */
    uint8_t kind[LISTED + LANES], other_kind[LISTED + LANES], lane[LISTED + LANES],
        overlap[LISTED + LANES];
} pair_list;

/* Those that the trial move of a lane looks at, in three dimensions, as potentials take them. */
typedef struct close_list {
    float x[MOST_NEAR], y[MOST_NEAR], z[MOST_NEAR], charge[MOST_NEAR], diameter[MOST_NEAR];
    int32_t species[MOST_NEAR];
    plugmc_orientation orientation[MOST_NEAR];
} close_list;

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
        for (int l = 0; l < LANES; l++) {
            if (k >= c->n[l]) continue;
            const uint32_t j = plugmc_below(words[k & 3][l], (uint32_t)k + 1);
            const int32_t last = c->order[k][l];
            c->order[k][l] = c->order[j][l];
            c->order[j][l] = last;
        }
    }
}

/* ---- Proposals --------------------------------------------------------------------------------------- */

/* Whose turn it is. Its entry is nowhere until `decide`, so that it does not meet itself. */
PLUGMC_FN void choose(body_lanes *c, trial_lanes *t, const variant v)
{
    near_bodies *near = &c->near;
    EACH_LANE(l) t->own[l] = 0;
    for (int k = 0; k < near->own; k++)
        EACH_LANE(l) t->own[l] = c->turn[l] == k ? c->order[k][l] : t->own[l];
    for (int k = 0; k < near->own; k++) {
        near_slot *slot = &near->slot[k];
        EACH_LANE(l) {
            const int mine = t->own[l] == k;
            const float x = slot->x[l], y = slot->y[l], z = v.dim == 3 ? slot->z[l] : 0;
            t->x[l] = mine ? x : t->x[l];
            t->y[l] = mine ? y : t->y[l];
            if (v.dim == 3) t->z[l] = mine ? z : t->z[l];
            slot->x[l] = mine ? PLUGMC_NOWHERE : x;
            if (v.many) {
                const int32_t species = near->species[k][l];
                t->kind[l] = mine ? species : t->kind[l];
            }
        }
        for (int d = 0; d < (v.dim == 3 ? 4 : 1); d++)
            EACH_LANE(l) {
                const int32_t part = near->part[d][k][l];
                t->part[d][l] = t->own[l] == k ? part : t->part[d][l];
            }
    }
    EACH_LANE(l) {
        const int32_t next = c->turn[l] + 1;
        c->turn[l] = next < c->n[l] ? next : 0;
    }
}

/* Loops are short, so that each becomes vectors. */
PLUGMC_FN void propose_in_plane(const body_lanes *c, uint32_t words[4][LANES],
                                const uint32_t *kinds, trial_lanes *t)
{
    const uint64_t threshold = rotations_threshold(c->me);
    const float step_x = c->of->step[0], step_y = c->of->step[1];
    const double largest = c->of->turn;
    float dx[LANES], dy[LANES];
    EACH_LANE(l) t->turns[l] = kinds[l] < threshold;
    EACH_LANE(l) {
        float x, y;
        cb_displacement_2(words[0][l], step_x, step_y, &x, &y);
        dx[l] = x;
        dy[l] = y;
    }
    EACH_LANE(l) {
        const float x = t->turns[l] ? 0 : dx[l], y = t->turns[l] ? 0 : dy[l];
        t->to_x[l] = t->x[l] + x;
        t->to_y[l] = t->y[l] + y;
    }
    EACH_LANE(l) {
        const float x = t->to_x[l], y = t->to_y[l];
        t->possible[l] = (x >= -0.5f) & (x < 0.5f) & (y >= -0.5f) & (y < 0.5f);
    }
    if (!threshold) return;
    EACH_LANE(l) {
        const plugmc_random random = {{words[0][l], words[1][l], 0, 0}};
        plugmc_orientation turned = {{t->part[0][l], 0, 0, 0}};
        plugmc_turn_by(random, 2, largest, &turned);
        t->part[0][l] = t->turns[l] ? turned.part[0] : t->part[0][l];
    }
}

PLUGMC_FN void propose_in_space(const body_lanes *c, uint32_t words[4][LANES],
                                const uint32_t *kinds, trial_lanes *t)
{
    const uint64_t threshold = rotations_threshold(c->me);
    const float *step = c->of->step;
    float dx[LANES], dy[LANES], dz[LANES];
    EACH_LANE(l) t->turns[l] = kinds[l] < threshold;
    EACH_LANE(l) {
        const plugmc_random random = {{words[0][l], words[1][l], words[2][l], words[3][l]}};
        float x, y, z;
        cb_displacement_3(random, step[0], step[1], step[2], &x, &y, &z);
        dx[l] = x;
        dy[l] = y;
        dz[l] = z;
    }
    EACH_LANE(l) {
        const float x = t->turns[l] ? 0 : dx[l], y = t->turns[l] ? 0 : dy[l],
                    z = t->turns[l] ? 0 : dz[l];
        t->to_x[l] = t->x[l] + x;
        t->to_y[l] = t->y[l] + y;
        t->to_z[l] = t->z[l] + z;
    }
    EACH_LANE(l) {
        const float x = t->to_x[l], y = t->to_y[l], z = t->to_z[l];
        t->possible[l] =
            (x >= -0.5f) & (x < 0.5f) & (y >= -0.5f) & (y < 0.5f) & (z >= -0.5f) & (z < 0.5f);
    }
    for (int l = 0; l < LANES; l++) {
        if (!t->turns[l] || !t->possible[l]) continue;
        const plugmc_random random = {{words[0][l], words[1][l], words[2][l], words[3][l]}};
        plugmc_orientation turned = {{t->part[0][l], t->part[1][l], t->part[2][l], t->part[3][l]}};
        t->possible[l] = plugmc_turn_by(random, 3, c->of->turn, &turned);
        for (int d = 0; d < 4; d++) t->part[d][l] = turned.part[d];
    }
}

/* ---- Who is met --------------------------------------------------------------------------------------- */

/* Trial moves whose sphere inside overlaps with one near them are impossible. near.close says whom the others have to look at;
 * returns 0 if that is nobody. */
PLUGMC_FN int look_around(body_lanes *c, trial_lanes *t, const variant v)
{
    near_bodies *near = &c->near;
    const float ratio_y = c->of->ratio[1], ratio_z = c->of->ratio[2], reach = c->of->reach,
                *core = c->of->contact, one_core = core[0];
    const int species = c->me->cells.species, most = near->most;
    int32_t overlap[LANES] = {0}, left = 0;
    uint32_t any[LANES] = {0};
    for (int first = 0; first < most; first += 32) {
        uint32_t close[LANES] = {0};
        for (int k = first; k < most && k < first + 32; k++) {
            const near_slot *j = &near->slot[k];
            const uint32_t bit = 1u << (k - first);
            EACH_LANE(l) {
                const float ux = t->to_x[l] - j->x[l], uy = (t->to_y[l] - j->y[l]) * ratio_y;
                float r2 = fmaf(uy, uy, ux * ux);
                if (v.dim == 3) {
                    const float uz = (t->to_z[l] - j->z[l]) * ratio_z;
                    r2 = fmaf(uz, uz, r2);
                }
                const float inner =
                    v.many ? core[t->kind[l] * species + near->species[k][l]] : one_core;
                overlap[l] |= r2 < inner;
                close[l] |= -(uint32_t)(r2 < reach) & bit;
            }
        }
        memcpy(near->close[first / 32], close, sizeof close);
        EACH_LANE(l) any[l] |= close[l];
    }
#pragma omp simd reduction(| : left)
    for (int l = 0; l < LANES; l++) {
        const int32_t possible = t->possible[l] & !overlap[l];
        t->possible[l] = possible;
        left |= possible & (any[l] != 0);
    }
    return left;
}

/* Trials of the lanes that overlap with the other body of a listed pair are impossible. The list is empty afterwards. */
PLUGMC_FN void look_at_pairs(const body_lanes *c, pair_list *list, trial_lanes *t, const variant v)
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
        .species_a = v.many ? list->kind : NULL,
        .species_b = v.many ? list->other_kind : NULL,
        .charge = me->charge,
        .diameter = me->diameter,
    };
    for (int b = 0; b < me->bodies.count && list->n > 0; b++) {
        me->bodies.pairs[b]->overlap(me->bodies.instance[b], &pairs, list->overlap);
        for (int k = 0; k < list->n; k++) t->possible[list->lane[k]] &= !list->overlap[k];
    }
    list->n = 0;
}

/* What is left to look at, in two dimensions. */
PLUGMC_FN void meet_in_plane(const body_lanes *c, pair_list *list, trial_lanes *t, const variant v)
{
    const near_bodies *near = &c->near;
    const float ratio_y = c->of->ratio[1], scale = c->of->scale;
    for (int l = 0; l < LANES; l++)
        for (int first = 0; first < near->most && t->possible[l]; first += 32)
            for (uint32_t left = near->close[first / 32][l]; left; left &= left - 1) {
                const int k = first + __builtin_ctz(left), n = list->n++;
                list->x[n] = (t->to_x[l] - near->slot[k].x[l]) * scale;
                list->y[n] = (t->to_y[l] - near->slot[k].y[l]) * ratio_y * scale;
                list->moved[n] = t->part[0][l];
                list->other[n] = orientation_of(c, k, l, v).part[0];
                list->kind[n] = v.many ? (uint8_t)t->kind[l] : 0;
                list->other_kind[n] = v.many ? near->species[k][l] : 0;
                list->lane[n] = (uint8_t)l;
                if (list->n == LISTED) look_at_pairs(c, list, t, v);
            }
    look_at_pairs(c, list, t, v);
}

/* Whether the trial move of lane l overlaps with one of those that it looks at, in three dimensions. */
PLUGMC_FN int lane_meets(const body_lanes *c, close_list *list, const trial_lanes *t, int l,
                         const variant v)
{
    const checkerboard *me = c->me;
    const near_bodies *near = &c->near;
    const float ratio_y = c->of->ratio[1], ratio_z = c->of->ratio[2], scale = c->of->scale;
    const int kind = v.many ? t->kind[l] : 0;
    int n = 0, overlap = 0;
    const plugmc_orientation turned = {
        {t->part[0][l], t->part[1][l], t->part[2][l], t->part[3][l]}};
    const plugmc_particle probe = {.charge = (double)me->charge[kind],
                                   .diameter = (double)me->diameter[kind],
                                   .species = kind};
    for (int first = 0; first < near->most; first += 32)
        for (uint32_t left = near->close[first / 32][l]; left; left &= left - 1, n++) {
            const int k = first + __builtin_ctz(left), other = v.many ? near->species[k][l] : 0;
            list->x[n] = (t->to_x[l] - near->slot[k].x[l]) * scale;
            list->y[n] = (t->to_y[l] - near->slot[k].y[l]) * ratio_y * scale;
            list->z[n] = (t->to_z[l] - near->slot[k].z[l]) * ratio_z * scale;
            list->species[n] = other;
            list->charge[n] = me->charge[other];
            list->diameter[n] = me->diameter[other];
            list->orientation[n] = orientation_of(c, k, l, v);
        }
    const plugmc_particles others = {
        n, list->x, list->y, list->z, list->charge, list->diameter, list->species};
    for (int b = 0; b < me->bodies.count && n && !overlap; b++) {
        float none = 0;
        overlap = me->bodies.facet[b]->meet(me->bodies.instance[b], 3, &probe, &turned, &others,
                                            list->orientation, &none);
    }
    return overlap;
}

/* What is left to look at, in three dimensions. */
PLUGMC_FN void meet_in_space(const body_lanes *c, close_list *list, trial_lanes *t, const variant v)
{
    for (int l = 0; l < LANES; l++)
        if (t->possible[l] && lane_meets(c, list, t, l, v)) t->possible[l] = 0;
}

/* ---- Trial moves ------------------------------------------------------------------------------------- */

/* Trial moves that are possible are accepted. */
PLUGMC_FN void decide(body_lanes *c, trial_lanes *t, const variant v)
{
    near_bodies *near = &c->near;
    EACH_LANE(l) {
        const int32_t possible = t->possible[l];
        const float x = t->to_x[l], y = t->to_y[l], z = v.dim == 3 ? t->to_z[l] : 0;
        t->x[l] = possible ? x : t->x[l];
        t->y[l] = possible ? y : t->y[l];
        if (v.dim == 3) t->z[l] = possible ? z : t->z[l];
    }
    for (int k = 0; k < near->own; k++) {
        near_slot *slot = &near->slot[k];
        EACH_LANE(l) {
            const int mine = t->own[l] == k;
            const float x = slot->x[l], y = slot->y[l], z = v.dim == 3 ? slot->z[l] : 0;
            slot->x[l] = mine ? t->x[l] : x;
            slot->y[l] = mine ? t->y[l] : y;
            if (v.dim == 3) slot->z[l] = mine ? t->z[l] : z;
        }
        for (int d = 0; d < (v.dim == 3 ? 4 : 1); d++)
            EACH_LANE(l) {
                const int32_t part = near->part[d][k][l];
                near->part[d][k][l] = (t->own[l] == k) & t->possible[l] ? t->part[d][l] : part;
            }
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

/* Of the cells in all lanes, of which some may be empty. */
PLUGMC_FN void make_trials(body_lanes *c, pair_list *pairs, close_list *list, const variant v,
                           rows_result *result)
{
    uint32_t kinds[4][LANES], words[4][LANES];
    trial_lanes t = {.own = {0}};
    EACH_LANE(l) {
        c->turn[l] = 0;
        c->counts[l] &= c->n[l] > 0;
    }
    carry_parts(c, 0, v);
    draw_order(c);
    for (uint32_t trial = 0; trial < (uint32_t)c->me->set.trials; trial++) {
        if (trial % 4 == 0) draw_lanes(c, PLUGMC_PURPOSE_ORIENTATION, trial / 4, kinds);
        draw_lanes(c, PLUGMC_PURPOSE_TRIAL, trial, words);
        choose(c, &t, v);
        (v.dim == 3 ? propose_in_space : propose_in_plane)(c, words, kinds[trial % 4], &t);
        if (look_around(c, &t, v)) {
            if (v.dim == 3)
                meet_in_space(c, list, &t, v);
            else
                meet_in_plane(c, pairs, &t, v);
        }
        decide(c, &t, v);
    }
    count_trials(c, result);
    write_back(c, v);
}

/* The next cells of a task that are not empty: side by side, or one by one. */
typedef struct cell_source {
    lanes_view view;
    int row, at; /* of the task; in the row */
} cell_source;

/* Return 0 if there are no more. */
PLUGMC_FN int next_side_by_side(body_lanes *c, cell_source *from, const rows_task *task,
                                const variant v)
{
    int busy;
    do busy = fill_lanes(c->me, task, &from->row, &from->at, &from->view, c->cell, c->counts, c->n);
    while (!busy);
    if (busy < 0) return 0;
    gather_side_by_side(c, &from->view, v);
    return 1;
}

PLUGMC_FN int next_one_by_one(body_lanes *c, cell_source *from, const rows_task *task,
                              const variant v)
{
    const checkerboard *me = c->me;
    c->filled = 0;
    for (; from->row < task->end && c->filled < LANES; from->row++) {
        const active_row row = row_of(me, task, from->row);
        for (; from->at < me->cells.half && c->filled < LANES; from->at++) {
            const int x = row.x0 + 2 * from->at;
            if (c->count[word_of(me, x, row.y, row.z)]) fill_lane(c, x, row, v);
        }
        if (from->at < me->cells.half) break;
        from->at = 0;
    }
    if (!c->filled) return 0;
    end_lists(c);
    return 1;
}

/* Whether cells are taken side by side: few are empty, and few bodies are near one that are not near enough. */
static int is_dense(const checkerboard *me)
{
    const double cells = (double)me->cells.m[0] * me->cells.m[1] * me->cells.m[2],
                 mean = (double)me->system->particles / cells;
    return mean >= 0.7 && mean <= 4;
}

PLUGMC_FN rows_result sweep_rows(const checkerboard *me, const store *s, const rows_task *task,
                                 const variant v)
{
    const int w = task->walker;
    rows_result result = {{{0, 0}}, 0};
    body_lanes c;
    cell_source from;
    pair_list pairs;
    close_list list;
    const int dense = is_dense(me);
    look_at(me, s, w, &from.view);
    from.row = task->first;
    from.at = 0;
    pairs.n = 0;
    c.me = me;
    c.of = from.view.of;
    c.sweep = task->sweep;
    c.walker = w;
    memset(c.tried, 0, sizeof c.tried);
    memset(c.accepted, 0, sizeof c.accepted);
    c.orientations = me->bodies.orientation + (int64_t)w * me->system->particles;
    c.coordinate = s->coordinate + w * me->cells.walker;
    c.id = from.view.id;
    c.count = from.view.count;
    while (dense ? next_side_by_side(&c, &from, task, v) : next_one_by_one(&c, &from, task, v))
        make_trials(&c, &pairs, &list, v, &result);
    for (int r = task->first; r < task->end; r++) {
        const active_row row = row_of(me, task, r);
        refresh_images(me, s, w, word_of(me, row.x0, row.y, row.z) - PAD);
    }
    return result;
}

static PLUGMC_TARGETS rows_result sweep_flat(const checkerboard *me, const store *s,
                                             const rows_task *task)
{
    return sweep_rows(me, s, task, (variant){2, 0, 0});
}

static PLUGMC_TARGETS rows_result sweep_solid(const checkerboard *me, const store *s,
                                              const rows_task *task)
{
    return sweep_rows(me, s, task, (variant){3, 0, 0});
}

static PLUGMC_TARGETS rows_result sweep_mixture(const checkerboard *me, const store *s,
                                                const rows_task *task)
{
    return me->cells.dimension == 2 ? sweep_rows(me, s, task, (variant){2, 1, 0})
                                    : sweep_rows(me, s, task, (variant){3, 1, 0});
}

rows_result update_rows_in_lanes(const checkerboard *me, const store *s, const rows_task *task)
{
    return me->cells.species > 1      ? sweep_mixture(me, s, task)
           : me->cells.dimension == 2 ? sweep_flat(me, s, task)
                                      : sweep_solid(me, s, task);
}
