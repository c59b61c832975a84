/* near_bodies.h: LANES cells at work on the CPU, and the bodies near each, for bodies_in_lanes.c. */
#ifndef CHECKERBOARD_NEAR_BODIES_H
#define CHECKERBOARD_NEAR_BODIES_H

#include "row_lanes.h"

enum { MOST_NEAR = 27 * NARROW };

/* Bodies near the cells, [entry][lane], those of the cell itself first; where there is none x is PLUGMC_NOWHERE. */
typedef struct near_bodies {
    near_slot slot[MOST_NEAR];
    int32_t place[MOST_NEAR][LANES];   /* in an axis of the walker */
    uint8_t species[MOST_NEAR][LANES]; /* where there are several */
    /* Whom the trial move of a lane has to look at: bit k % 32 of [k / 32][lane] is entry k. */
    uint32_t close[MOST_NEAR / 32][LANES];
    int32_t part[4][NARROW][LANES]; /* orientations of those of the cell itself */
    int own, most;                  /* entries of the cell itself, and of all, in any lane */
} near_bodies;

/* LANES cells at work. */
typedef struct body_lanes {
    const checkerboard *me;
    const conditions *of;
    uint64_t sweep;
    int walker, filled;               /* filled: lanes that have a cell */
    plugmc_orientation *orientations; /* of the walker */
    float *coordinate;                /* likewise */
    const uint32_t *id;
    const uint8_t *count;
    uint32_t cell[LANES];
    int32_t counts[LANES]; /* 1: trial moves are counted here, not by another process */
    int32_t n[LANES];      /* bodies of the cell */
    int32_t m[LANES];      /* entries, where cells are gathered one by one */
    int32_t order[NARROW][LANES], turn[LANES];
    int32_t tried[2][LANES], accepted[2][LANES]; /* by kind */
    near_bodies near;
} body_lanes;

/* ---- Cells one by one ---------------------------------------------------------------------------- */

PLUGMC_FN int kind_of(const checkerboard *me, uint32_t id)
{
    int s = 0;
    while (s + 1 < me->cells.species && id >= me->system->first[s + 1]) s++;
    return s;
}

/* Bodies of the cell at `word`, which is at (sx, sy, sz) from that of lane l; m are there already. Returns how many there are
 * then. */
PLUGMC_FN int gather_cell(body_lanes *c, int l, int64_t word, int sx, int sy, int sz, int m,
                          const variant v)
{
    const checkerboard *me = c->me;
    near_bodies *near = &c->near;
    const int itself = !sx && !sy && !sz, n = c->count[word];
    for (int k = 0; k < n; k++) {
        const int64_t at = place_of(me, word, k);
        const float x = c->coordinate[at] + (float)sx,
                    y = c->coordinate[me->cells.axis + at] + (float)sy,
                    z = v.dim == 3 ? c->coordinate[2 * me->cells.axis + at] + (float)sz : 0;
        const float outside =
            cb_square_outside(v.dim, x, y, z, sx, sy, sz, c->of->ratio[1], c->of->ratio[2]);
        /* it is written in any case, and again if it is not near */
        near->slot[m].x[l] = x;
        near->slot[m].y[l] = y;
        if (v.dim == 3) near->slot[m].z[l] = z;
        near->place[m][l] = (int32_t)at;
        if (v.many) near->species[m][l] = (uint8_t)kind_of(me, c->id[at]);
        m += itself | (outside < c->of->reach);
    }
    return m;
}

PLUGMC_FN int wrapped(int x, int m) { return x < 0 ? x + m : x >= m ? x - m : x; }

/* The cell number x of a row into the next lane. */
PLUGMC_FN void fill_lane(body_lanes *c, int x, active_row row, const variant v)
{
    const checkerboard *me = c->me;
    const int *m = me->cells.m, l = c->filled++, cells = v.dim == 3 ? 27 : 9;
    int64_t words[27];
    for (int k = 0; k < cells; k++)
        words[k] = word_of(me, wrapped(x + k % 3 - 1, m[0]), wrapped(row.y + k / 3 % 3 - 1, m[1]),
                           v.dim == 3 ? wrapped(row.z + k / 9 - 1, m[2]) : 0);
    c->cell[l] = (uint32_t)((row.z * m[1] + row.y) * m[0] + x);
    c->counts[l] = row.counts;
    c->n[l] = c->m[l] = gather_cell(c, l, words[cells / 2], 0, 0, 0, 0, v);
    for (int k = 0; k < cells; k++)
        if (k != cells / 2)
            c->m[l] = gather_cell(c, l, words[k], k % 3 - 1, k / 3 % 3 - 1,
                                  v.dim == 3 ? k / 9 - 1 : 0, c->m[l], v);
}

/* Behind the last entry of a lane. Lanes without a cell have one with nothing near it, and a body that no trial move reaches. */
PLUGMC_FN void end_lists(body_lanes *c)
{
    near_bodies *near = &c->near;
    near->own = near->most = 1;
    for (int l = 0; l < LANES; l++) {
        if (l >= c->filled) {
            c->cell[l] = 0;
            c->n[l] = c->m[l] = c->counts[l] = 0;
        }
        if (c->n[l] > near->own) near->own = c->n[l];
        if (c->m[l] > near->most) near->most = c->m[l];
    }
    for (int l = 0; l < LANES; l++)
        for (int k = c->m[l]; k < near->most; k++) {
            near->slot[k].x[l] = PLUGMC_NOWHERE;
            near->slot[k].y[l] = near->slot[k].z[l] = 0;
            near->species[k][l] = 0;
        }
}

/* ---- Cells side by side ------------------------------------------------------------------------------ */

/* Where slot k of cell c of each lane is; anything in lanes without a cell. */
PLUGMC_FN void places_of(const checkerboard *me, const lanes_view *view, int c, int k,
                         int32_t place[LANES])
{
    for (int p = 0; p < view->pieces; p++) {
        const piece *of = &view->piece[p];
        const int32_t at = (int32_t)(of->word[c] + k * me->cells.plane),
                      *is_ours = from_lane + LANES - of->first;
        EACH_LANE(l) place[l] = is_ours[l] | !p ? at + l : place[l];
    }
}

/* As many slots of each cell as one of the lanes needs. */
PLUGMC_FN void gather_side_by_side(body_lanes *c, const lanes_view *view, const variant v)
{
    near_bodies *near = &c->near;
    const int centre = view->cells / 2;
    near->most = near->own = 0;
    for (int nth = 0; nth < view->cells; nth++) {
        const int cell = nth == 0 ? centre : nth <= centre ? nth - 1 : nth;
        uint8_t counts[LANES];
        counts_of(view, cell, counts);
        const int most = largest_of_lanes(counts);
        for (int k = 0; k < most; k++) {
            near_slot *slot = &near->slot[near->most];
            gather_slot(c->me, view, cell, k, v, slot, near->species[near->most]);
            places_of(c->me, view, cell, k, near->place[near->most]);
            near->most++;
        }
        if (nth) continue;
        near->own = near->most;
        /* a lane without a cell must not move the particle of another or of a periodic image */
        for (int k = 0; k < near->own; k++)
            EACH_LANE(l) {
                const float there = near->slot[k].x[l];
                near->slot[k].x[l] = k < c->n[l] ? there : PLUGMC_NOWHERE;
            }
    }
}

/* ---- Their own --------------------------------------------------------------------------------------- */

/* Orientations of the bodies of the cells, into their lanes or out of them. */
PLUGMC_FN void carry_parts(body_lanes *c, int back, const variant v)
{
    near_bodies *near = &c->near;
    for (int l = 0; l < LANES; l++)
        for (int k = 0; k < c->n[l]; k++) {
            int32_t *part = c->orientations[c->id[near->place[k][l]]].part;
            for (int d = 0; d < (v.dim == 3 ? 4 : 1); d++)
                if (back)
                    part[d] = near->part[d][k][l];
                else
                    near->part[d][k][l] = part[d];
        }
}

/* What the cells hold after their trial moves. */
PLUGMC_FN void write_back(body_lanes *c, const variant v)
{
    const int64_t axis = c->me->cells.axis;
    const near_bodies *near = &c->near;
    for (int l = 0; l < LANES; l++)
        for (int k = 0; k < c->n[l]; k++) {
            const int64_t at = near->place[k][l];
            c->coordinate[at] = near->slot[k].x[l];
            c->coordinate[axis + at] = near->slot[k].y[l];
            if (v.dim == 3) c->coordinate[2 * axis + at] = near->slot[k].z[l];
        }
    if (rotations_threshold(c->me)) carry_parts(c, 1, v);
}

/* That of an entry as it is. */
PLUGMC_FN plugmc_orientation orientation_of(const body_lanes *c, int k, int l, const variant v)
{
    const near_bodies *near = &c->near;
    if (k >= near->own || k >= c->n[l]) return c->orientations[c->id[near->place[k][l]]];
    plugmc_orientation o = {{near->part[0][k][l], 0, 0, 0}};
    for (int d = 1; v.dim == 3 && d < 4; d++) o.part[d] = near->part[d][k][l];
    return o;
}

#endif
