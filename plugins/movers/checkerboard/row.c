/* row.c: a sub-sweep on the CPU where few particles are near a cell: LANES active cells at a time, side by
 * side in a row, or packed from several rows where rows are short. wide.c has the others. */
#include "checkerboard.h"

/* Which cells of the neighbourhood, as in the kernel: c = dx + 3 dy + 9 dz. */
typedef struct row_view {
    const conditions *of;       /* of the walker */
    const float *coordinate[3]; /* by axis */
    const uint32_t *id;
    const uint8_t *count;
    float offset[27][3]; /* of its centre from that of the cell in the middle */
    int cells;
    int64_t word[27]; /* of lane 0 of the whole row, for each neighbouring cell */
    /* Of each lane, where cells are packed: of the first cell in each neighbouring half row with cells of even and
     * of odd x, and what is added to it for x - 1, x and x + 1. */
    int32_t row[9][LANES], along[3][LANES];
} row_view;

static void look_at(const checkerboard *me, const store *s, int walker, row_view *v)
{
    v->of = &me->each.of[walker];
    v->cells = me->cells.dimension == 3 ? 27 : 9;
    for (int a = 0; a < 3; a++)
        v->coordinate[a] = s->coordinate + walker * me->cells.walker +
                           (a < me->cells.dimension ? a : 0) * me->cells.axis;
    v->id = s->id + walker * me->cells.axis;
    v->count = s->count + walker * me->cells.plane;
    for (int c = 0; c < v->cells; c++) {
        const float offset[3] = {(float)(c % 3 - 1), (float)(c / 3 % 3 - 1),
                                 v->cells == 27 ? (float)(c / 9 - 1) : 0};
        memcpy(v->offset[c], offset, sizeof offset);
    }
}

/* Word of the first cell of the half row of even x that is number r = (dy + 1) + 3 (dz + 1) around a row. */
static inline int64_t row_beside(const checkerboard *me, int y, int z, int r)
{
    const int dy = r % 3 - 1, dz = me->cells.dimension == 3 ? r / 3 - 1 : 0, *m = me->cells.m;
    y += dy + (y + dy < 0 ? m[1] : y + dy >= m[1] ? -m[1] : 0);
    z += dz + (z + dz < 0 ? m[2] : z + dz >= m[2] ? -m[2] : 0);
    return ((int64_t)z * m[1] + y) * 2 * me->cells.row + PAD;
}

static void look_around(const checkerboard *me, active_row task, row_view *v)
{
    for (int c = 0; c < v->cells; c++) {
        /* half-row index of cell x0 + dx: the image beyond either end lies in the padding */
        const int x = task.x0 + c % 3 - 1;
        v->word[c] = row_beside(me, task.y, task.z, c / 3) + (x & 1) * me->cells.row +
                     (x < 0 ? -1 : x >> 1);
    }
}

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
        plugmc_random r = plugmc_draw(at->me->seed, at->sweep, (uint32_t)at->walker, at->cell[l],
                                      purpose, draw);
        for (int k = 0; k < 4; k++) words[k][l] = r.word[k];
    }
}

/* A slot of the cells around LANES active cells: where its particles are, relative to the centres
 * of the active cells, which is exact (see checkerboard.cu). */
typedef struct near_slot {
    _Alignas(64) float x[LANES];
    float y[LANES], z[LANES];
} near_slot;

/* The slots around LANES cells, those of the cells themselves first, then those of their
 * neighbours in the order of cells: as many of each as one of the lanes needs. */
typedef struct surroundings {
    near_slot slot[27 * NARROW];
    uint8_t species[27 * NARROW][LANES];
    int own, slots;
} surroundings;

/* What lanes have in common: constants, once all of this is inlined into the variants below. */
typedef struct variant {
    int dim, many, energies, packed; /* many: species */
} variant;

/* Species of a particle in each lane. */
PLUGMC_FN void kinds_of(const checkerboard *me, const uint32_t *id, uint8_t *species)
{
    int32_t kind[LANES] = {0};
    for (int b = 1; b < me->cells.species; b++) {
        const uint32_t first = (uint32_t)me->system->first[b];
        EACH_LANE(l) kind[l] += id[l] >= first;
    }
    EACH_LANE(l) species[l] = (uint8_t)kind[l];
}

/* The slot of cell c that is at `at` in lane 0 of a row, or at at + place[l] in the lanes of packed cells. */
PLUGMC_FN void gather_slot(const checkerboard *me, const row_view *view, int c, int64_t at,
                           const int32_t *place, const variant v, surroundings *near)
{
    const float dx = view->offset[c][0], dy = view->offset[c][1], dz = view->offset[c][2];
    const float *x = view->coordinate[0] + at, *y = view->coordinate[1] + at;
    const float *z = view->coordinate[2] + at;
    near_slot *to = &near->slot[near->slots];
    EACH_LANE(l) {
        const int32_t p = v.packed ? place[l] : l;
        to->x[l] = x[p] + dx;
        to->y[l] = y[p] + dy;
        if (v.dim == 3) to->z[l] = z[p] + dz;
    }
    if (v.many) {
        const uint32_t *id = view->id + at;
        uint32_t ids[LANES];
        EACH_LANE(l) ids[l] = id[v.packed ? place[l] : l];
        kinds_of(me, ids, near->species[near->slots]);
    }
    near->slots++;
}

/* Whether slot k of a cell of packed lanes has a particle in any of them. */
PLUGMC_FN int any_there(const float *x, const int32_t *place)
{
    int32_t any = 0;
#pragma omp simd reduction(| : any)
    for (int l = 0; l < LANES; l++) any |= x[place[l]] < PLUGMC_NOWHERE;
    return any;
}

/* q0: cells of the row before lane 0. */
PLUGMC_FN void gather_surroundings(const lanes *at, const row_view *view, int q0, const variant v,
                                   surroundings *near)
{
    const checkerboard *me = at->me;
    const int centre = view->cells / 2;
    near->slots = near->own = 0;
    for (int nth = 0; nth < view->cells; nth++) {
        const int c = nth == 0 ? centre : nth <= centre ? nth - 1 : nth;
        int32_t place[LANES];
        if (v.packed) EACH_LANE(l) place[l] = view->row[c / 3][l] + view->along[c % 3][l];
        const int most = v.packed ? me->cells.capacity
                                  : largest_of_lanes(view->count + view->word[c] + q0);
        for (int k = 0; k < most; k++) {
            const int64_t word = k * me->cells.plane + (v.packed ? 0 : view->word[c] + q0);
            if (v.packed && !any_there(view->coordinate[0] + word, place)) break;
            gather_slot(me, view, c, word, place, v, near);
        }
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
        if (t % 4 == 0)
            draw_lanes(at, PLUGMC_PURPOSE_TRIAL, (uint32_t)t / 4, at->words);
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
    if (t % 4 == 0)
        draw_lanes(at, PLUGMC_PURPOSE_ACCEPT, (uint32_t)t / 4, at->accept_words);
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
        result->counts.trials += at->n[l] > 0 && at->counts[l] ? (uint64_t)trials : 0;
        result->counts.accepted += at->counts[l] ? (uint64_t)at->accepted[l] : 0;
        if (v.energies) result->lost |= at->lost[l];
    }
}

static lanes begin_lanes(const checkerboard *me, const row_view *view, uint64_t sweep, int walker)
{
    lanes at;
    at.me = me;
    at.of = view->of;
    at.sweep = sweep;
    at.walker = walker;
    memcpy(at.step, view->of->step, sizeof at.step);
    return at;
}

/* ---- Cells side by side ------------------------------------------------------------------------- */

/* Particles of LANES cells from q0 on; returns how many cells have any. */
PLUGMC_FN int count_lanes(const checkerboard *me, const row_view *view, int q0, int32_t *n)
{
    const uint8_t *count = view->count + view->word[view->cells / 2] + q0;
    const int half = me->cells.half;
    int busy = 0;
#pragma omp simd reduction(+ : busy)
    for (int l = 0; l < LANES; l++) {
        const int32_t there = count[l];
        n[l] = q0 + l < half ? there : 0;
        busy += n[l] > 0;
    }
    return busy;
}

PLUGMC_FN void write_lanes(const checkerboard *me, const row_view *view, int q0,
                           const surroundings *near, const variant v)
{
    for (int k = 0; k < near->own; k++) {
        const int64_t at = k * me->cells.plane + view->word[view->cells / 2] + q0;
        const near_slot *own = &near->slot[k];
        memcpy((float *)view->coordinate[0] + at, own->x, sizeof own->x);
        memcpy((float *)view->coordinate[1] + at, own->y, sizeof own->y);
        if (v.dim == 3) memcpy((float *)view->coordinate[2] + at, own->z, sizeof own->z);
    }
}

PLUGMC_FN rows_result update_side_by_side(const checkerboard *me, const store *s,
                                         const rows_task *task, const variant v)
{
    row_view view;
    surroundings near;
    rows_result result = {{0, 0}, 0};
    look_at(me, s, task->walker, &view);
    lanes at = begin_lanes(me, &view, task->sweep, task->walker);
    for (int r = task->first; r < task->end; r++) {
        const active_row row = row_of(me, task, r);
        look_around(me, row, &view);
        EACH_LANE(l) at.counts[l] = row.counts;
        for (int q0 = 0; q0 < me->cells.half; q0 += LANES) {
            if (!count_lanes(me, &view, q0, at.n)) continue;
            const int first = (row.z * me->cells.m[1] + row.y) * me->cells.m[0] + row.x0 + 2 * q0;
            EACH_LANE(l) at.cell[l] = (uint32_t)(first + 2 * l);
            gather_surroundings(&at, &view, q0, v, &near);
            make_moves(&at, &near, v, &result);
            write_lanes(me, &view, q0, &near, v);
        }
        refresh_images(me, s, task->walker,
                       row_beside(me, row.y, row.z, 4) - PAD + row.x0 * me->cells.row);
    }
    return result;
}

/* ---- Cells packed from several rows ----------------------------------------------------------- */

/* Trial moves of the first `filled` lanes. */
PLUGMC_FN void update_packed_lanes(lanes *at, row_view *view, int filled, const variant v,
                                   rows_result *result)
{
    const int64_t plane = at->me->cells.plane;
    surroundings near;
    for (int l = filled; l < LANES; l++) { /* nobody, in a cell that is there */
        at->n[l] = 0;
        at->cell[l] = at->cell[0];
        for (int r = 0; r < view->cells / 3; r++) view->row[r][l] = view->row[r][0];
        for (int d = 0; d < 3; d++) view->along[d][l] = view->along[d][0];
    }
    gather_surroundings(at, view, 0, v, &near);
    make_moves(at, &near, v, result);
    for (int k = 0; k < near.own; k++)
        for (int l = 0; l < filled; l++) {
            if (k >= at->n[l]) continue;
            const int64_t to =
                k * plane + view->row[view->cells / 6][l] + view->along[1][l];
            ((float *)view->coordinate[0])[to] = near.slot[k].x[l];
            ((float *)view->coordinate[1])[to] = near.slot[k].y[l];
            if (v.dim == 3) ((float *)view->coordinate[2])[to] = near.slot[k].z[l];
        }
}

/* Fills lanes with the cells from number *q of row *r on that have particles; returns how many. */
static int fill_lanes(const checkerboard *me, const rows_task *task, int *r, int *q, row_view *view,
                      lanes *at)
{
    const int half = me->cells.half, rows = view->cells / 3;
    int filled = 0;
    for (; *r < task->end; *q = 0, ++*r) {
        const active_row row = row_of(me, task, *r);
        int32_t beside[9];
        for (int b = 0; b < rows; b++) beside[b] = (int32_t)row_beside(me, row.y, row.z, b);
        const int32_t own = (int32_t)(row.x0 * me->cells.row), other = (int32_t)me->cells.row - own;
        const uint8_t *count = view->count + beside[rows / 2] + own;
        const int first = (row.z * me->cells.m[1] + row.y) * me->cells.m[0] + row.x0;
        for (; *q < half; ++*q) {
            if (!count[*q]) continue;
            if (filled == LANES) return filled;
            at->n[filled] = count[*q];
            at->counts[filled] = row.counts;
            at->cell[filled] = (uint32_t)(first + 2 * *q);
            for (int b = 0; b < rows; b++) view->row[b][filled] = beside[b];
            const int before = row.x0 ? *q : *q ? *q - 1 : half - 1; /* the cells at x - 1, x + 1 */
            const int behind = !row.x0 ? *q : *q + 1 < half ? *q + 1 : 0;
            view->along[0][filled] = other + before;
            view->along[1][filled] = own + *q;
            view->along[2][filled++] = other + behind;
        }
    }
    return filled;
}

/* Periodic images are neither read nor kept. */
PLUGMC_FN rows_result update_packed(const checkerboard *me, const store *s, const rows_task *task,
                                    const variant v)
{
    row_view view;
    rows_result result = {{0, 0}, 0};
    int r = task->first, q = 0, filled;
    look_at(me, s, task->walker, &view);
    lanes at = begin_lanes(me, &view, task->sweep, task->walker);
    while ((filled = fill_lanes(me, task, &r, &q, &view, &at)))
        update_packed_lanes(&at, &view, filled, v, &result);
    return result;
}

/* ---- Variants ------------------------------------------------------------------------------------- */

#define VARIANT(NAME, UPDATE, ...)                                                                 \
    static PLUGMC_TARGETS rows_result NAME(const checkerboard *me, const store *s,                  \
                                          const rows_task *t)                                      \
    {                                                                                              \
        return UPDATE(me, s, t, (variant){__VA_ARGS__});                                           \
    }

VARIANT(update_disks, update_side_by_side, 2, 0, 0, 0)
VARIANT(update_spheres, update_side_by_side, 3, 0, 0, 0)
VARIANT(update_flat, update_side_by_side, 2, me->cells.species > 1, me->cells.energies > 0, 0)
VARIANT(update_solid, update_side_by_side, 3, me->cells.species > 1, me->cells.energies > 0, 0)
VARIANT(pack_disks, update_packed, 2, 0, 0, 1)
VARIANT(pack_spheres, update_packed, 3, 0, 0, 1)
VARIANT(pack_flat, update_packed, 2, me->cells.species > 1, me->cells.energies > 0, 1)
VARIANT(pack_solid, update_packed, 3, me->cells.species > 1, me->cells.energies > 0, 1)

rows_result update_rows(const checkerboard *me, const store *s, const rows_task *t)
{
    static rows_result (*const variants[2][2][2])(const checkerboard *, const store *,
                                                 const rows_task *) = {
        {{update_disks, update_spheres}, {update_flat, update_solid}},
        {{pack_disks, pack_spheres}, {pack_flat, pack_solid}}};
    const int soft = me->cells.species > 1 || me->cells.energies;
    return variants[me->cells.packed][soft][me->cells.dimension == 3](me, s, t);
}
