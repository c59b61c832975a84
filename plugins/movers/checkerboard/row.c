/* row.c: a sub-sweep on the CPU where few particles are near a cell: LANES active cells at a time, of as many rows
 * as that takes. wide.c has the others. */
#include "row_lanes.h"

/* LANES cells while they make their trial moves. */
typedef struct lanes {
    const checkerboard *me;
    const conditions *of;
    uint64_t sweep;
    int walker;
    float step[3];
    uint32_t cell[LANES];
    int32_t counts[LANES]; /* 1: trial moves are counted here, not by another process */
    int32_t n[LANES], order[NARROW][LANES], turn[LANES], accepted[LANES];
    int32_t lost[LANES]; /* 1: a change of energy was not a number; it was the last move accepted */
    uint32_t words[4][LANES], accept_words[4][LANES];
} lanes;

PLUGMC_FN void draw_lanes(const lanes *at, uint32_t purpose, uint32_t draw,
                          uint32_t words[4][LANES])
{
    for (int l = 0; l < LANES; l++) {
        plugmc_random r =
            plugmc_draw(at->me->seed, at->sweep, (uint32_t)at->walker, at->cell[l], purpose, draw);
        for (int k = 0; k < 4; k++) words[k][l] = r.word[k];
    }
}

/* The slots around LANES cells, those of the cells themselves first, then those of their
 * neighbours in the order of cells: as many of each as one of the lanes needs. */
typedef struct surroundings {
    near_slot slot[27 * NARROW];
    uint8_t species[27 * NARROW][LANES];
    int own, slots;
} surroundings;

PLUGMC_FN void gather_surroundings(const lanes *at, const lanes_view *view, const variant v,
                                   surroundings *near)
{
    const int centre = view->cells / 2;
    near->slots = near->own = 0;
    for (int nth = 0; nth < view->cells; nth++) {
        const int c = nth == 0 ? centre : nth <= centre ? nth - 1 : nth;
        uint8_t counts[LANES];
        counts_of(view, c, counts);
        const int most = largest_of_lanes(counts);
        for (int k = 0; k < most; k++, near->slots++)
            gather_slot(at->me, view, c, k, v, &near->slot[near->slots],
                        near->species[near->slots]);
        if (c != centre) continue;
        near->own = near->slots;
        /* a lane without a cell must not move the particle of another or of a periodic image */
        for (int k = 0; k < near->own; k++)
            EACH_LANE(l) {
                const float there = near->slot[k].x[l];
                near->slot[k].x[l] = k < at->n[l] ? there : PLUGMC_NOWHERE;
            }
    }
}

/* The slots of each cell in the order of its trials: order[turn][lane], a random permutation of the
 * first n. */
PLUGMC_FN void draw_order(lanes *at, int own)
{
    int32_t(*order)[LANES] = at->order;
    const int32_t *n = at->n;
    uint32_t words[4][LANES];
    int32_t j[LANES];
    for (int k = 0; k < own; k++)
        EACH_LANE(l) order[k][l] = k;
    if (!at->me->set.shuffle_particles) return;
    for (int k = own - 1; k > 0; k--) { /* Fisher-Yates in every lane */
        if (k == own - 1 || (k & 3) == 3)
            draw_lanes(at, PLUGMC_PURPOSE_ORDER, (uint32_t)k >> 2, words);
        EACH_LANE(l) {
            const int32_t drawn = (int32_t)plugmc_below(words[k & 3][l], (uint32_t)k + 1);
            j[l] = k < n[l] ? drawn : k;
        }
        for (int i = 0; i < k; i++)
            EACH_LANE(l) {
                const int32_t a = order[i][l], b = order[k][l];
                order[i][l] = j[l] == i ? b : a;
                order[k][l] = j[l] == i ? a : b;
            }
    }
}

/* Rejects the lanes in which the new position overlaps a particle. */
PLUGMC_FN void reject_overlaps(const checkerboard *me, const conditions *of,
                               const surroundings *near, const int dim, const int many,
                               const float *new_x, const float *new_y, const float *new_z,
                               const int32_t *kind, int32_t *reject)
{
    const float ratio_y = of->ratio[1], ratio_z = of->ratio[2];
    const float *contact = of->contact;
    const int slots = near->slots, species = me->cells.species;
    int32_t overlap[LANES] = {0};
    for (int e = 0; e < slots; e++) {
        const near_slot *j = &near->slot[e];
        EACH_LANE(l) {
            const float ux = new_x[l] - j->x[l], uy = (new_y[l] - j->y[l]) * ratio_y;
            float r2 = fmaf(uy, uy, ux * ux);
            if (dim == 3) {
                const float uz = (new_z[l] - j->z[l]) * ratio_z;
                r2 = fmaf(uz, uz, r2);
            }
            const int pair = many ? kind[l] * species + near->species[e][l] : 0;
            overlap[l] |= r2 < contact[pair];
        }
    }
    EACH_LANE(l) reject[l] |= overlap[l];
}

/* The slots as potentials take them. */
typedef struct slot_list {
    const float *x[27 * NARROW], *y[27 * NARROW], *z[27 * NARROW];
    const uint8_t *species[27 * NARROW];
} slot_list;

PLUGMC_FN void list_slots(const surroundings *near, const int dim, slot_list *list)
{
    static const float flat[LANES]; /* z in two dimensions */
    for (int e = 0; e < near->slots; e++) {
        list->x[e] = near->slot[e].x;
        list->y[e] = near->slot[e].y;
        list->z[e] = dim == 3 ? near->slot[e].z : flat;
        list->species[e] = near->species[e];
    }
}

/* Changes of energy by the trial moves of `move`, in whose `change` they are found; each term times its
 * multiplier, where there are any. */
PLUGMC_FN void change_energies(const checkerboard *me, const double *multiplier, plugmc_lanes move)
{
    float *change = move.change, of_term[LANES];
    EACH_LANE(l) change[l] = 0;
    for (int i = 0; i < me->system->term_count; i++) {
        const plugmc_term *term = plugmc_term_at(me->system, i);
        if (!term->sampled || !term->plugin_single) continue; /* a constant has no float unit */
        const plugmc_pair *pair = term->plugin_single->potential->pair;
        if (!(pair->functions & PLUGMC_PAIR_ENERGY)) continue;
        if (multiplier && multiplier[i] == 0) continue; /* it may be infinite */
        if (multiplier) {
            EACH_LANE(l) of_term[l] = 0;
            move.change = of_term;
        }
        pair->lanes(term->instance_single, &move);
        if (!multiplier) continue;
        const float weight = (float)multiplier[i];
        EACH_LANE(l) change[l] += of_term[l] * weight;
    }
}

/* A trial move a lane. */
typedef struct lane_trials {
    int32_t slot[LANES], kind[LANES], reject[LANES];
    float old_x[LANES], old_y[LANES], old_z[LANES], new_x[LANES], new_y[LANES], new_z[LANES];
} lane_trials;

/* Whose turn it is in every lane. Its place in `near` is nowhere until put_back, so that it does not
 * meet itself. */
PLUGMC_FN void take_out(lanes *at, surroundings *near, lane_trials *move, const variant v)
{
    for (int k = 0; k < near->own; k++)
        EACH_LANE(l) {
            const int32_t there = at->order[k][l];
            move->slot[l] = at->turn[l] == k ? there : move->slot[l];
        }
    EACH_LANE(l) {
        const int32_t next = at->turn[l] + 1;
        at->turn[l] = next < at->n[l] ? next : 0;
    }
    for (int k = 0; k < near->own; k++) {
        near_slot *own = &near->slot[k];
        EACH_LANE(l) {
            const int mine = move->slot[l] == k;
            const float x = own->x[l], y = own->y[l];
            move->old_x[l] = mine ? x : move->old_x[l];
            move->old_y[l] = mine ? y : move->old_y[l];
            own->x[l] = mine ? PLUGMC_NOWHERE : x;
            if (v.dim == 3) {
                const float z = own->z[l];
                move->old_z[l] = mine ? z : move->old_z[l];
            }
            if (v.many) {
                const int32_t species = near->species[k][l];
                move->kind[l] = mine ? species : move->kind[l];
            }
        }
    }
}

/* Displacements of trial t; those that leave the cell are rejected. */
PLUGMC_FN void displace(lanes *at, int t, lane_trials *move, const variant v)
{
    const float *step = at->step;
    if (v.dim == 2) {
        if (t % 4 == 0) draw_lanes(at, PLUGMC_PURPOSE_TRIAL, (uint32_t)t / 4, at->words);
        EACH_LANE(l) {
            float dx, dy;
            cb_displacement_2(at->words[t % 4][l], step[0], step[1], &dx, &dy);
            move->new_x[l] = move->old_x[l] + dx;
            move->new_y[l] = move->old_y[l] + dy;
        }
    } else {
        draw_lanes(at, PLUGMC_PURPOSE_TRIAL, (uint32_t)t, at->words);
        EACH_LANE(l) {
            float dx, dy, dz;
            plugmc_random r = {
                {at->words[0][l], at->words[1][l], at->words[2][l], at->words[3][l]}};
            cb_displacement_3(r, step[0], step[1], step[2], &dx, &dy, &dz);
            move->new_x[l] = move->old_x[l] + dx;
            move->new_y[l] = move->old_y[l] + dy;
            move->new_z[l] = move->old_z[l] + dz;
        }
    }
    EACH_LANE(l) {
        const float x = move->new_x[l], y = move->new_y[l], z = move->new_z[l];
        move->reject[l] = (x < -0.5f) | (x >= 0.5f) | (y < -0.5f) | (y >= 0.5f);
        if (v.dim == 3) move->reject[l] |= (z < -0.5f) | (z >= 0.5f);
    }
}

/* Rejects trial t of a lane by its change of energy, as Metropolis do. If that is not a number, the
 * particle goes there and nobody after it, so that it is found. */
PLUGMC_FN void weigh(lanes *at, int t, const surroundings *near, const slot_list *list,
                     lane_trials *move, const variant v)
{
    const checkerboard *me = at->me;
    float change[LANES];
    uint8_t kinds[LANES];
    static const float nothing[27 * NARROW][3]; /* they are relative to this cell */
    EACH_LANE(l) kinds[l] = (uint8_t)move->kind[l];
    const plugmc_lanes asked = {.size = sizeof asked,
                                .lanes = LANES,
                                .slots = near->slots,
                                .scale = at->of->scale,
                                .ratio = {1, at->of->ratio[1], at->of->ratio[2]},
                                .x = list->x,
                                .y = list->y,
                                .z = list->z,
                                .offset = nothing,
                                .species = v.many ? list->species : NULL,
                                .charge = me->charge,
                                .diameter = me->diameter,
                                .old_x = move->old_x,
                                .old_y = move->old_y,
                                .old_z = v.dim == 3 ? move->old_z : move->new_z,
                                .new_x = move->new_x,
                                .new_y = move->new_y,
                                .new_z = move->new_z,
                                .probe_species = v.many ? kinds : NULL,
                                .change = change};
    change_energies(me, at->of->multiplier, asked);
    if (t % 4 == 0) draw_lanes(at, PLUGMC_PURPOSE_ACCEPT, (uint32_t)t / 4, at->accept_words);
    const float over_kt = at->of->multiplier ? 1 : (float)(1 / me->system->temperature);
    EACH_LANE(l) {
        const int32_t low =
            plugmc_uniform_float(at->accept_words[t % 4][l]) < plugmc_exp(-change[l] * over_kt);
        const int32_t unknown = !(change[l] > -INFINITY);
        const int32_t before = at->lost[l], rejected = move->reject[l];
        at->lost[l] = before | (unknown & !rejected);
        move->reject[l] = rejected | before | !(low | unknown);
    }
}

/* Each lane's particle at its new place, or where it came from. */
PLUGMC_FN void put_back(lanes *at, surroundings *near, lane_trials *move, const variant v)
{
    EACH_LANE(l) {
        const float x = move->new_x[l], y = move->new_y[l], z = move->new_z[l];
        at->accepted[l] += 1 - move->reject[l];
        const float from_x = move->old_x[l], from_y = move->old_y[l], from_z = move->old_z[l];
        move->new_x[l] = move->reject[l] ? from_x : x;
        move->new_y[l] = move->reject[l] ? from_y : y;
        if (v.dim == 3) move->new_z[l] = move->reject[l] ? from_z : z;
    }
    for (int k = 0; k < near->own; k++) {
        near_slot *own = &near->slot[k];
        EACH_LANE(l) {
            const int mine = move->slot[l] == k;
            const float x = own->x[l], y = own->y[l];
            const float to_x = move->new_x[l], to_y = move->new_y[l];
            own->x[l] = mine ? to_x : x;
            own->y[l] = mine ? to_y : y;
            if (v.dim == 3) {
                const float z = own->z[l], to_z = move->new_z[l];
                own->z[l] = mine ? to_z : z;
            }
        }
    }
}

/* Trial moves of the cells in all lanes, of which some may be empty; adds them to *result. */
PLUGMC_FN void make_moves(lanes *at, surroundings *near, const variant v, rows_result *result)
{
    const int trials = (int)at->me->set.trials;
    slot_list list;
    EACH_LANE(l) at->turn[l] = at->accepted[l] = at->lost[l] = 0;
    if (v.energies) list_slots(near, v.dim, &list);
    draw_order(at, near->own);
    for (int t = 0; t < trials; t++) {
        lane_trials move = {0};
        take_out(at, near, &move, v);
        displace(at, t, &move, v);
        reject_overlaps(at->me, at->of, near, v.dim, v.many, move.new_x, move.new_y, move.new_z,
                        move.kind, move.reject);
        if (v.energies) weigh(at, t, near, &list, &move, v);
        put_back(at, near, &move, v);
    }
    for (int l = 0; l < LANES; l++) {
        result->counts[0].trials += at->n[l] > 0 && at->counts[l] ? (uint64_t)trials : 0;
        result->counts[0].accepted += at->counts[l] ? (uint64_t)at->accepted[l] : 0;
        if (v.energies) result->lost |= at->lost[l];
    }
}

/* ---- Rows ------------------------------------------------------------------------------------------ */

/* n <= LANES floats, without what a call for any number costs. */
PLUGMC_FN void copy_floats(float *to, const float *from, int n)
{
    if (n == LANES) {
        memcpy(to, from, LANES * sizeof *to);
        return;
    }
    for (int left = 0; left < n;) {
        const int step = n - left >= 8 ? 8 : n - left >= 4 ? 4 : 1;
        if (step == 8)
            memcpy(to + left, from + left, 8 * sizeof *to);
        else if (step == 4)
            memcpy(to + left, from + left, 4 * sizeof *to);
        else
            to[left] = from[left];
        left += step;
    }
}

/* No word of another row is written, not even as it was: threads have other rows. */
PLUGMC_FN void write_lanes(const checkerboard *me, const lanes_view *view, const surroundings *near,
                           const variant v)
{
    for (int p = 0; p < view->pieces; p++) {
        const piece *of = &view->piece[p];
        for (int k = 0; k < near->own; k++) {
            const near_slot *own = &near->slot[k];
            const int64_t at = k * me->cells.plane + of->word[view->cells / 2] + of->first;
            const int n = of->end - of->first;
            copy_floats((float *)view->coordinate[0] + at, own->x + of->first, n);
            copy_floats((float *)view->coordinate[1] + at, own->y + of->first, n);
            if (v.dim == 3) copy_floats((float *)view->coordinate[2] + at, own->z + of->first, n);
        }
    }
}

/* Trial moves of the cells of all rows. */
PLUGMC_FN rows_result update(const checkerboard *me, const store *s, const rows_task *task,
                             const variant v)
{
    lanes_view view;
    surroundings near;
    rows_result result = {{{0, 0}}, 0};
    look_at(me, s, task->walker, &view);
    lanes at = {0};
    at.me = me;
    at.of = view.of;
    at.sweep = task->sweep;
    at.walker = task->walker;
    memcpy(at.step, view.of->step, sizeof at.step);
    for (int r = task->first, q = 0, busy;
         (busy = fill_lanes(me, task, &r, &q, &view, at.cell, at.counts, at.n)) >= 0;) {
        if (!busy) continue;
        gather_surroundings(&at, &view, v, &near);
        make_moves(&at, &near, v, &result);
        write_lanes(me, &view, &near, v);
    }
    for (int r = task->first; r < task->end; r++) {
        const active_row row = row_of(me, task, r);
        refresh_images(me, s, task->walker, word_of(me, row.x0, row.y, row.z) - PAD);
    }
    return result;
}

static PLUGMC_TARGETS rows_result update_disks(const checkerboard *me, const store *s,
                                               const rows_task *t)
{
    return update(me, s, t, (variant){2, 0, 0});
}

static PLUGMC_TARGETS rows_result update_spheres(const checkerboard *me, const store *s,
                                                 const rows_task *t)
{
    return update(me, s, t, (variant){3, 0, 0});
}

static PLUGMC_TARGETS rows_result update_any(const checkerboard *me, const store *s,
                                             const rows_task *t)
{
    const int many = me->cells.species > 1, energies = me->cells.energies > 0;
    return me->cells.dimension == 2 ? update(me, s, t, (variant){2, many, energies})
                                    : update(me, s, t, (variant){3, many, energies});
}

rows_result update_rows(const checkerboard *me, const store *s, const rows_task *t)
{
    return me->cells.species > 1 || me->cells.energies ? update_any(me, s, t)
           : me->cells.dimension == 2                  ? update_disks(me, s, t)
                                                       : update_spheres(me, s, t);
}
