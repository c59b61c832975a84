/* disks.c: straight chains of equal disks, where there are many and dense ones: the mover's fast path.
 *
 * Places are 32 bits: fractional coordinates times 2^32. Their differences are exact, and those modulo 2^32 are
 * nearest images. "Along" is the axis of the chain, "across" the other one; quanta are edges of the box / 2^32.
 *
 * Cells. A row of cells is as high as the contact distance c or a little more, so disks of three rows can be met.
 * A cell is h high and w wide with w^2 + (h/2)^2 < c^2: its lower and its upper half have room for one disk each, the
 * two slots. So a place says which slot a disk is in, and nothing depends on how it came there. A window of four cells
 * is 3 w or more ahead, of which nobody outside is met before 3 w - c. Twelve cells, 192 bytes, are all that has to be
 * read to find who is met; the processor takes eight slots at a time, and its memory sees what comes next since chains
 * go along the rows. The first cells of each row have copies behind its end.
 *
 * No overlap is ever made. i stops so many whole quanta before j that their distance along the chain is at least
 * 1 + the integer part of sqrt(C - b^2), with C = (c^2)(1 + MARGIN) and b the distance across, in float. In units of
 * 2^-24 of C rounding takes at most: 7 in b^2 (conversion, ratio, product, square), 1 in C, 1 in the difference, and 2
 * in the root; MARGIN is 12. So what is kept is at least the exact sqrt(c^2 - b^2) along, hence c in all, for
 * everybody who is ahead, since who is met is the first one by this very number. Who is behind gets away, who is passed
 * is passed by C - b^2 <= 0, which is too far. All of that is by integers that have no rounding: what is true after one
 * step stays so. Disks are thus larger by 4e-7 of themselves plus a quantum at most (2e-7 in a box of 1,000).
 *
 * Disks that other movers, or the first state, put closer than a quantum may overlap when they are rounded. They are
 * parted by single quanta when they are taken (part).
 */
#include <stdlib.h>
#include <string.h>

#include "event_chain.h"

enum { COPIES = 4, LANE_BITS = 5 };
static const double MARGIN = 12 * 0x1p-24, ALL = 0x1p32;
static const uint32_t FAR = 0x80000000u; /* half a box */
static const uint32_t MOST_AHEAD = 1 << (31 - LANE_BITS);

/* Places of slots 0 and 1, quanta along and across. An empty slot is half a box away across. */
typedef struct disk_cell {
    uint32_t along[2], across[2];
} disk_cell;

static uint32_t part_of(uint32_t place, uint32_t parts)
{
    return (uint32_t)((uint64_t)place * parts >> 32);
}

static uint32_t pitch_of(const disks *d) { return d->columns[d->axis] + COPIES; }

static uint32_t slot_of(const disks *d, uint32_t along, uint32_t across)
{
    const uint32_t half = part_of(across, 2 * d->rows[d->axis]);
    return ((half >> 1) * pitch_of(d) + part_of(along, d->columns[d->axis])) * 2 + (half & 1);
}

static int is_empty(const disks *d, uint32_t slot)
{
    const uint32_t across = d->cells[slot >> 1].across[slot & 1];
    return part_of(across, d->rows[d->axis]) != (slot >> 1) / pitch_of(d);
}

/* ---- Geometry --------------------------------------------------------------------------------------- */

/* Cells for chains along an axis. */
static void choose_cells(const event_chain *e, const flock *f, int axis, disks *d)
{
    const double along = f->box.length[axis], across = f->box.length[1 - axis], c = e->largest;
    d->quantum[axis] = along / ALL;
    d->rows[axis] = (uint32_t)(across / (c * (1 + 1e-5)));
    const double half = 0.5 * across / d->rows[axis],
                 width = sqrt(fmax(0.25, c * c * (1 - 1e-5) - half * half));
    d->columns[axis] = (uint32_t)ceil(along / width);
    const double quantum = along / ALL, ahead = 3 * floor(ALL / d->columns[axis]) - c / quantum - 2;
    d->safe[axis] = (uint32_t)fmin(ahead, MOST_AHEAD - 1);
    d->square[axis] = (float)(c / quantum * (c / quantum) * (1 + MARGIN));
    d->ratio[axis] = (float)(across / along);
}

int are_disks(const event_chain *e, const flock *f)
{
    const double *length = f->box.length, c = e->largest;
    double cells = 0;
    if (e->kind != STRAIGHT || f->box.dimension != 2 || !e->equal) return 0;
    for (int d = 0; d < 2; d++)
        if (length[d] < 12 * c || length[d] > 4096 * c || e->length < 1e-3 * c ||
            e->length > 1e6 * length[d])
            return 0;
    cells = length[0] * length[1] / (0.8 * c * c);
    return cells < 8 * (double)f->count;
}

/* ---- From places and back ----------------------------------------------------------------------------- */

static int has_room(disks *d, uint64_t capacity)
{
    uint64_t cells = 0;
    for (int a = 0; a < 2; a++) {
        const uint64_t n = (uint64_t)d->rows[a] * (d->columns[a] + COPIES);
        cells = n > cells ? n : cells;
    }
    if (cells <= d->room) return 1;
    disks_free(d);
    d->room = cells + cells / 8;
    d->cells = aligned_alloc(64, (d->room * sizeof(disk_cell) + 63) / 64 * 64);
    d->spare = aligned_alloc(64, (d->room * sizeof(disk_cell) + 63) / 64 * 64);
    d->id = malloc(2 * d->room * sizeof *d->id);
    d->spare_id = malloc(2 * d->room * sizeof *d->id);
    d->where = malloc(capacity * sizeof *d->where);
    return d->cells && d->spare && d->id && d->spare_id && d->where;
}

void disks_free(disks *d)
{
    free(d->cells), free(d->spare), free(d->id), free(d->spare_id), free(d->where);
    d->cells = d->spare = NULL;
    d->id = d->spare_id = NULL;
    d->where = NULL;
    d->room = 0;
}

static void clear_cells(disks *d)
{
    const uint32_t rows = d->rows[d->axis], pitch = pitch_of(d);
    for (uint32_t r = 0; r < rows; r++) {
        const uint32_t far = (uint32_t)((r + 0.5) / rows * ALL) + FAR;
        for (uint32_t c = 0; c < pitch; c++)
            d->cells[(uint64_t)r * pitch + c] = (disk_cell){{0, 0}, {far, far}};
    }
}

static void copy_first_cells(disks *d)
{
    const uint32_t pitch = pitch_of(d);
    for (uint32_t r = 0; r < d->rows[d->axis]; r++) {
        disk_cell *row = d->cells + (uint64_t)r * pitch;
        memcpy(row + d->columns[d->axis], row, COPIES * sizeof *row);
    }
}

static void put_disk(disks *d, uint32_t slot, uint32_t along, uint32_t across, int32_t id)
{
    d->cells[slot >> 1].along[slot & 1] = along;
    d->cells[slot >> 1].across[slot & 1] = across;
    d->id[slot] = id;
    d->where[id] = slot;
}

/* Turns the cells by tiles, so that reading and writing stay near by. */
void disks_turn(flock *f, int axis)
{
    enum { TILE = 32 };
    disks *d = &f->disks, from = *d;
    if (d->axis == axis) return;
    const uint32_t rows = from.rows[from.axis], columns = from.columns[from.axis];
    d->axis = axis;
    d->cells = from.spare, d->spare = from.cells;
    d->id = from.spare_id, d->spare_id = from.id;
    clear_cells(d);
    for (uint32_t r0 = 0; r0 < rows; r0 += TILE)
        for (uint32_t c0 = 0; c0 < columns; c0 += TILE)
            for (uint32_t r = r0; r < rows && r < r0 + TILE; r++)
                for (uint32_t c = c0; c < columns && c < c0 + TILE; c++) {
                    const uint64_t at = (uint64_t)r * pitch_of(&from) + c;
                    const disk_cell *cell = &from.cells[at];
                    for (int k = 0; k < 2; k++) {
                        if (part_of(cell->across[k], rows) != r) continue;
                        put_disk(d, slot_of(d, cell->across[k], cell->along[k]), cell->across[k],
                                 cell->along[k], from.id[2 * at + k]);
                    }
                }
    copy_first_cells(d);
}

/* ---- Disks that rounding has brought too close ---------------------------------------------------------- */

/* Whether disk `slot` overlaps with somebody, to the last bit but those of double; away: from whom, quanta. */
static int overlaps(const event_chain *e, const disks *d, uint32_t slot, int32_t away[2])
{
    const uint32_t rows = d->rows[0], columns = d->columns[0], pitch = pitch_of(d);
    const uint32_t row = (slot >> 1) / pitch, column = (slot >> 1) % pitch;
    const disk_cell *own = &d->cells[slot >> 1];
    for (uint32_t r = 0; r < 3; r++)
        for (uint32_t c = 0; c < 5; c++) {
            const uint32_t at =
                ((row + r + rows - 1) % rows) * pitch + (column + c + columns - 2) % columns;
            for (uint32_t k = 0; k < 2; k++) {
                if (2 * at + k == slot || is_empty(d, 2 * at + k)) continue;
                const int32_t x = (int32_t)(own->along[slot & 1] - d->cells[at].along[k]),
                              y = (int32_t)(own->across[slot & 1] - d->cells[at].across[k]);
                const double dx = x * d->quantum[0], dy = y * d->quantum[1];
                if (dx * dx + dy * dy >= e->largest * e->largest) continue;
                away[0] = x, away[1] = y;
                return 1;
            }
        }
    return 0;
}

/* Those that overlap, by no more than rounding does, part by single quanta. */
static int part(const event_chain *e, const plugmc_host *host, flock *f, int32_t walker)
{
    disks *d = &f->disks;
    int64_t touching = 1;
    for (int pass = 0; touching && pass < 1000; pass++) {
        touching = 0;
        for (int64_t k = 0; k < f->count; k++) {
            const int32_t i = f->number[k];
            const uint32_t slot = d->where[i];
            int32_t away[2];
            if (!overlaps(e, d, slot, away)) continue;
            touching++;
            disk_cell *own = &d->cells[slot >> 1];
            const uint32_t along = own->along[slot & 1] + (away[0] > 0) - (away[0] < 0),
                           across = own->across[slot & 1] + (away[1] > 0) - (away[1] < 0),
                           to = slot_of(d, along, across);
            if (to != slot && !is_empty(d, to)) continue;
            own->across[slot & 1] += FAR;
            put_disk(d, to, along, across, i);
        }
    }
    return touching ? host->fail(host->context, PLUGMC_ERROR_INPUT,
                                 "the disks of walker %d are so dense that rounding to %.1e makes "
                                 "%lld of them overlap",
                                 walker, d->quantum[0], (long long)touching)
                    : PLUGMC_OK;
}

/* Places that disks_give made are the same again, to the last bit, in any box: they are not looked at. */
int disks_take(const event_chain *e, const plugmc_host *host, flock *f, int32_t walker)
{
    disks *d = &f->disks;
    int others = 0, code = PLUGMC_OK;
    choose_cells(e, f, 0, d);
    choose_cells(e, f, 1, d);
    if (!has_room(d, (uint64_t)e->system->particles))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld disks",
                          (long long)f->count);
    d->axis = 0;
    clear_cells(d);
    for (int64_t k = 0; k < f->count; k++) {
        const int32_t i = f->number[k];
        uint32_t place[2];
        for (int a = 0; a < 2; a++) {
            const double exact = f->r[a][i] / f->box.length[a] * ALL, rounded = rint(exact);
            others |= fabs(exact - rounded) > 1e-3;
            place[a] = (uint32_t)(int64_t)rounded;
        }
        const uint32_t slot = slot_of(d, place[0], place[1]);
        if (!is_empty(d, slot))
            return host->fail(host->context, PLUGMC_ERROR_STATE,
                              "disks %d and %d of walker %d overlap", (int)d->id[slot], (int)i,
                              walker);
        put_disk(d, slot, place[0], place[1], i);
    }
    if (others) code = part(e, host, f, walker);
    copy_first_cells(d);
    return code;
}

void disks_give(flock *f)
{
    const disks *d = &f->disks;
    for (int64_t k = 0; k < f->count; k++) {
        const int32_t i = f->number[k];
        const disk_cell *cell = &d->cells[d->where[i] >> 1];
        const int slot = d->where[i] & 1;
        f->r[d->axis][i] = cell->along[slot] * d->quantum[d->axis];
        f->r[1 - d->axis][i] = cell->across[slot] * d->quantum[1 - d->axis];
    }
}

/* ---- Chains ------------------------------------------------------------------------------------------- */

typedef int32_t lanes __attribute__((vector_size(32)));
/* Sums and shifts that may leave the range of int32_t are made modulo 2^32. */
typedef uint32_t wrapping_lanes __attribute__((vector_size(32)));
typedef uint32_t loaded_lanes __attribute__((vector_size(32), aligned(4)));
typedef float float_lanes __attribute__((vector_size(32)));

/* The cell of each lane, from that where the window begins: the order in which processors unpack slots. */
static const uint8_t cell_of_lane[8] = {0, 0, 2, 2, 1, 1, 3, 3};

/* What the loop needs. */
typedef struct window {
    uint32_t along, across;
    int32_t safe;
    float square, ratio;
} window;

PLUGMC_FN lanes smaller(lanes a, lanes b)
{
    const lanes less = a < b;
    return (a & less) | (b & ~less);
}

/* Of the eight slots of four cells: after how many quanta a disk is met, times 32, plus its number; INT32_MAX where
 * none is, or not before `safe`. */
PLUGMC_FN lanes meet_row(const disk_cell *cell, window w, lanes number)
{
    const wrapping_lanes a = *(const loaded_lanes *)cell, b = *(const loaded_lanes *)(cell + 2);
    const lanes along = (lanes)(__builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) - w.along),
                across =
                    (lanes)(__builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15) - w.across);
    const float_lanes beside = __builtin_convertvector(across, float_lanes) * w.ratio,
                      square = w.square - beside * beside;
    const lanes near = square > 0;
    float_lanes apart;
    for (int l = 0; l < 8; l++) apart[l] = sqrtf(square[l]);
    const wrapping_lanes least = (wrapping_lanes) __builtin_convertvector(apart, lanes) + 1;
    lanes gap = (lanes)((wrapping_lanes)along - least);
    const lanes met = near & (along > 0) & (gap < w.safe);
    gap &= gap > 0;
    return (((lanes)((wrapping_lanes)gap << LANE_BITS) | number) & met) | (INT32_MAX & ~met);
}

/* The smallest of three rows, beginning in column `c`. */
PLUGMC_FN int32_t first_met(const disk_cell *below, const disk_cell *own, const disk_cell *above,
                            window w)
{
    const lanes number = {0, 1, 2, 3, 4, 5, 6, 7};
    lanes k = smaller(smaller(meet_row(below, w, number), meet_row(above, w, number + 16)),
                      meet_row(own, w, number + 8));
    k = smaller(k, __builtin_shufflevector(k, k, 4, 5, 6, 7, 0, 1, 2, 3));
    k = smaller(k, __builtin_shufflevector(k, k, 2, 3, 0, 1, 6, 7, 4, 5));
    k = smaller(k, __builtin_shufflevector(k, k, 1, 0, 3, 2, 5, 4, 7, 6));
    return k[0];
}

PLUGMC_FN void write_slot(disk_cell *cells, uint32_t slot, uint32_t column, uint32_t columns,
                          uint32_t along, uint32_t across)
{
    cells[slot >> 1].along[slot & 1] = along;
    cells[slot >> 1].across[slot & 1] = across;
    if (column >= COPIES) return;
    cells[(slot >> 1) + columns].along[slot & 1] = along;
    cells[(slot >> 1) + columns].across[slot & 1] = across;
}

static PLUGMC_TARGETS void chain(disks *d, uint32_t slot, int64_t left, int64_t *events,
                                 uint64_t *apart)
{
    const uint32_t columns = d->columns[d->axis], rows = d->rows[d->axis], pitch = columns + COPIES;
    disk_cell *const cells = d->cells;
    window w = {.safe = (int32_t)d->safe[d->axis],
                .square = d->square[d->axis],
                .ratio = d->ratio[d->axis]};
    uint32_t row = (slot >> 1) / pitch, column = (slot >> 1) % pitch;
    for (;;) {
        const uint32_t beside[3] = {row ? row - 1 : rows - 1, row, row + 1 < rows ? row + 1 : 0};
        w.along = cells[slot >> 1].along[slot & 1], w.across = cells[slot >> 1].across[slot & 1];
        const int32_t first = first_met(cells + ((uint64_t)beside[0] * pitch + column),
                                        cells + ((uint64_t)beside[1] * pitch + column),
                                        cells + ((uint64_t)beside[2] * pitch + column), w);
        const int met = first != INT32_MAX;
        const int64_t free = met ? first >> LANE_BITS : w.safe, step = free < left ? free : left;
        const uint32_t to = w.along + (uint32_t)step, next = part_of(to, columns);
        const uint32_t from = slot, left_column = column;
        if (next != column) {
            slot = (row * pitch + next) * 2 + (slot & 1);
            write_slot(cells, from, column, columns, w.along, w.across + FAR);
            d->id[slot] = d->id[from];
            d->where[d->id[slot]] = slot;
        }
        write_slot(cells, slot, next, columns, to, w.across);
        left -= step;
        column = next;
        if (free > step || left == 0) return;
        if (!met) continue;
        const int lane = first & 7, which = first >> 3 & 3;
        column = left_column + cell_of_lane[lane];
        if (column >= columns) column -= columns;
        row = beside[which];
        slot = (row * pitch + column) * 2 + (lane & 1);
        *apart += cells[slot >> 1].along[slot & 1] - to;
        ++*events;
    }
}

void disks_chain(const event_chain *e, flock *f, int32_t i, met *m)
{
    disks *d = &f->disks;
    uint64_t apart = 0;
    chain(d, d->where[i], (int64_t)(e->length / d->quantum[d->axis]), &m->events, &apart);
    m->sum[d->axis] += (double)apart * d->quantum[d->axis];
}
