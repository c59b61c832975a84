/* row_lanes.h: LANES active cells side by side in the lanes of vectors, of as many rows as that takes, and what is around them:
 * for row.c and bodies_in_lanes.c. */
#ifndef CHECKERBOARD_ROW_LANES_H
#define CHECKERBOARD_ROW_LANES_H

#include "checkerboard.h"

/* What lanes have in common: constants, once all of this is inlined into the variants below. */
typedef struct variant {
    int dim, many, energies; /* many: species */
} variant;

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

/* A slot of the cells around LANES active cells: where its particles are, relative to the centres
 * of the active cells, which is exact (see checkerboard.cu). */
typedef struct near_slot {
    _Alignas(64) float x[LANES];
    float y[LANES], z[LANES];
} near_slot;

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
 * there are no cells. cells, counts, found: number of the cell in each lane, whether its trial moves are counted here, and how many
 * particles it has. */
PLUGMC_FN int fill_lanes(const checkerboard *me, const rows_task *task, int *r, int *q,
                         lanes_view *view, uint32_t cells[LANES], int32_t counts[LANES],
                         int32_t found[LANES])
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
            const uint32_t other_cell = cells[l];
            const int32_t other_counts = counts[l];
            cells[l] = is_ours[l] ? (uint32_t)(cell + 2 * l) : other_cell;
            counts[l] = is_ours[l] ? row.counts : other_counts;
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
        found[l] = l < filled ? n[l] : 0;
        busy += found[l] > 0;
    }
    return busy;
}

#endif
