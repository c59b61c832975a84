/* row.c: a sub-sweep on the CPU where few particles are near a cell: LANES active cells at a time, of as many rows
 * as that takes. wide.c has the others. */
#include "checkerboard.h"

/* Cells of one row in neighbouring lanes. */
typedef struct piece {
    int first, end;   /* lanes */
    int64_t word[27]; /* of what would be lane 0, for each cell of the neighbourhood */
} piece;

/* 1 for lanes from `first` on: from_lane + LANES - first. */
static const int32_t from_lane[2 * LANES] = {[LANES] = 1, 1, 1, 1, 1, 1, 1, 1,
                                             1,           1, 1, 1, 1, 1, 1, 1};
static const uint8_t from_lane_8[2 * LANES] = {[LANES] = 255, 255, 255, 255, 255, 255, 255, 255,
                                               255,           255, 255, 255, 255, 255, 255, 255};

/* Which cells there are around those of the lanes; as in the kernel, c = dx + 3 dy + 9 dz. */
typedef struct lanes_view {
    const conditions *of;       /* of the walker */
    const float *coordinate[3]; /* by axis */
    const uint32_t *id;
    const uint8_t *count;
    float offset[27][3]; /* of the centre of each from that of the cell in the middle */
    int cells, pieces;
    active_row row; /* of the last piece */
    piece piece[LANES];
} lanes_view;

static void look_at(const checkerboard *me, const store *s, int walker, lanes_view *v)
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
    int dim, many, energies; /* many: species */
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

/* What is in slot k of cell c. Each piece is read for the lanes behind it, too, before the next is. They read what belongs to others, too, which is there: at most LANES words before
 * the first cell of a row, or behind the last one. */
PLUGMC_FN void gather_slot(const checkerboard *me, const lanes_view *view, int c, int k,
                           const variant v, near_slot *to, uint8_t *species)
{
    const float dx = view->offset[c][0], dy = view->offset[c][1], dz = view->offset[c][2];
    for (int p = 0; p < view->pieces; p++) {
        const piece *of = &view->piece[p];
        const int64_t at = k * me->cells.plane + of->word[c];
        const float *x = view->coordinate[0] + at, *y = view->coordinate[1] + at;
        const float *z = view->coordinate[2] + at;
        if (p == 0) {
            EACH_LANE(l) {
                to->x[l] = x[l] + dx;
                to->y[l] = y[l] + dy;
                if (v.dim == 3) to->z[l] = z[l] + dz;
            }
            continue;
        }
        const int32_t *is_ours = from_lane + LANES - of->first;
        EACH_LANE(l) {
            const float new_x = x[l] + dx, new_y = y[l] + dy;
            const float old_x = to->x[l], old_y = to->y[l];
            to->x[l] = is_ours[l] ? new_x : old_x;
            to->y[l] = is_ours[l] ? new_y : old_y;
            if (v.dim == 3) {
                const float new_z = z[l] + dz, old_z = to->z[l];
                to->z[l] = is_ours[l] ? new_z : old_z;
            }
        }
    }
    if (!v.many) return;
    uint32_t ids[LANES];
    for (int p = 0; p < view->pieces; p++)
        for (int l = view->piece[p].first; l < LANES; l++)
            ids[l] = view->id[k * me->cells.plane + view->piece[p].word[c] + l];
    kinds_of(me, ids, species);
}

/* Particles of cell c of each lane; anything in lanes without a cell. */
PLUGMC_FN void counts_of(const lanes_view *view, int c, uint8_t counts[LANES])
{
    memcpy(counts, view->count + view->piece[0].word[c], LANES);
    for (int p = 1; p < view->pieces; p++) {
        const piece *of = &view->piece[p];
        const uint8_t *count = view->count + of->word[c],
                      *is_ours = from_lane_8 + LANES - of->first;
        for (int l = 0; l < LANES; l++)
            counts[l] = (uint8_t)((count[l] & is_ours[l]) | (counts[l] & ~is_ours[l]));
    }
}

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

/* Words of what would be lane 0, where lane `first` has cell number q of a row. Periodic images of the first and
 * the last cell of half a row are beside them. */
static void place_piece(const checkerboard *me, active_row row, int q, int first, lanes_view *view)
{
    const int *m = me->cells.m, rows = view->cells / 3;
    const int64_t other = row.x0 ? 0 : me->cells.row, own = me->cells.row - other;
    piece *p = &view->piece[view->pieces++];
    p->first = first;
    p->end = first + me->cells.half - q < LANES ? first + me->cells.half - q : LANES;
    for (int r = 0; r < rows; r++) {
        int y = row.y + r % 3 - 1, z = rows == 9 ? row.z + r / 3 - 1 : 0;
        y += y < 0 ? m[1] : y >= m[1] ? -m[1] : 0;
        z += z < 0 ? m[2] : z >= m[2] ? -m[2] : 0;
        const int64_t base = word_of(me, 0, y, z) + q - first;
        p->word[3 * r] = base + other + row.x0 - 1;
        p->word[3 * r + 1] = base + own;
        p->word[3 * r + 2] = base + other + row.x0;
    }
}

/* Fills the lanes with the cells from number *q of row *r on; returns how many of them have particles, and -1 if
 * there are no cells. */
PLUGMC_FN int fill_lanes(const checkerboard *me, const rows_task *task, int *r, int *q,
                         lanes_view *view, lanes *at)
{
    uint8_t n[LANES];
    int filled = 0, busy = 0;
    view->pieces = 0;
    while (filled < LANES && *r < task->end) {
        if (*q == 0) view->row = row_of(me, task, *r);
        const active_row row = view->row;
        const int cell =
            (row.z * me->cells.m[1] + row.y) * me->cells.m[0] + row.x0 + 2 * (*q - filled);
        const int32_t *is_ours = from_lane + LANES - filled;
        place_piece(me, row, *q, filled, view);
        EACH_LANE(l) {
            const uint32_t other_cell = at->cell[l];
            const int32_t other_counts = at->counts[l];
            at->cell[l] = is_ours[l] ? (uint32_t)(cell + 2 * l) : other_cell;
            at->counts[l] = is_ours[l] ? row.counts : other_counts;
        }
        const int end = view->piece[view->pieces - 1].end;
        *q += end - filled;
        filled = end;
        if (*q == me->cells.half) *q = 0, ++*r;
        if (!me->cells.packed) break;
    }
    if (!filled) return -1;
    counts_of(view, view->cells / 2, n);
#pragma omp simd reduction(+ : busy)
    for (int l = 0; l < LANES; l++) {
        at->n[l] = l < filled ? n[l] : 0;
        busy += at->n[l] > 0;
    }
    return busy;
}

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
         (busy = fill_lanes(me, task, &r, &q, &view, &at)) >= 0;) {
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
