/* See cell_pairs.h. */
#include "energy/cell_pairs.h"
#include "energy/cell_masks.h"

#include <math.h>
#include <string.h>

/* ---- Candidates ------------------------------------------------------------------------------ */

/* Cells next to one along an axis, itself included; lattice vectors by which their images are shifted. */
typedef struct line {
    int n;
    int32_t cell[3], period[3];
} line;

/* Whether there is more than one image of a cell next to another, so that the nearest one is found pair by pair. */
static bool is_short(const cell_arrays *c, const plugmc_box *box, int d)
{
    return cells_have_images(box, d) && c->count[d] < 3;
}

static line line_around(const cell_arrays *c, const plugmc_box *box, int d, int32_t at)
{
    const int32_t count = c->count[d];
    line l = {0};
    if (is_short(c, box, d)) {
        for (; l.n < count; l.n++) l.cell[l.n] = l.n;
        return l;
    }
    for (int32_t k = at - 1; k <= at + 1; k++) {
        const int32_t period = k < 0 ? -1 : k >= count ? 1 : 0;
        if (period && !cells_have_images(box, d)) continue;
        l.cell[l.n] = k - period * count;
        l.period[l.n++] = period;
    }
    return l;
}

static int64_t append(cell_arrays *c, const plugmc_box *box, int64_t cell, const int32_t period[3],
                      int64_t found)
{
    cell_candidates *to = &c->candidates;
    const int64_t first = cell * c->capacity, n = c->n[cell];
    const double *from[3] = {c->x + first, c->y + first, c->z + first};
    for (int d = 0; d < 3; d++) {
        const double by = cells_shift(box, period, d);
        double *at = to->at[d] + found, *beside = to->beside[d] + found;
        for (int64_t k = 0; k < n; k++) {
            at[k] = from[d][k];
            beside[k] = from[d][k] + by;
        }
    }
    memcpy(to->particle + found, c->particle + first, (size_t)n * sizeof *to->particle);
    return found + n;
}

int64_t cells_gather(cell_arrays *c, const plugmc_box *box, int64_t cell)
{
    const line x = line_around(c, box, 0, (int32_t)(cell % c->count[0])),
               y = line_around(c, box, 1, (int32_t)(cell / c->count[0] % c->count[1])),
               z = line_around(c, box, 2, (int32_t)(cell / c->count[0] / c->count[1]));
    int64_t found = append(c, box, cell, (int32_t[3]){0}, 0);
    for (int k = 0; k < z.n; k++)
        for (int j = 0; j < y.n; j++)
            for (int i = 0; i < x.n; i++) {
                const int64_t other =
                    x.cell[i] + c->count[0] * (y.cell[j] + (int64_t)c->count[1] * z.cell[k]);
                if (other > cell)
                    found = append(c, box, other,
                                   (int32_t[]){x.period[i], y.period[j], z.period[k]}, found);
            }
    for (int l = 0; l < CELL_LANES; l++) c->candidates.beside[0][found + l] = NAN;
    return found;
}

/* ---- Which are near -------------------------------------------------------------------------- */

/* Whose distances are asked. */
typedef struct query {
    const cell_candidates *among;
    int64_t begin, end;
    double at[3];
    /* Of the minimum image: the box, and 1/length, which is 0 along axes without images; wrapped: it is used. */
    double length[3], inverse[3];
    bool wrapped;
    double square;
} query;

/* wrapped is a constant after inlining. */
static inline __attribute__((always_inline)) int64_t pick(const query *q, int wrapped)
{
    const cell_candidates *c = q->among;
    const double *bx = c->beside[0], *by = c->beside[1], *bz = c->beside[2];
    int64_t found = 0;
    for (int64_t begin = q->begin; begin < q->end; begin += CELL_LANES) {
        double square[CELL_LANES];
        for (int l = 0; l < CELL_LANES; l++) {
            double x = bx[begin + l] - q->at[0], y = by[begin + l] - q->at[1],
                   z = bz[begin + l] - q->at[2];
            if (wrapped) {
                x -= q->length[0] * rint(x * q->inverse[0]);
                y -= q->length[1] * rint(y * q->inverse[1]);
                z -= q->length[2] * rint(z * q->inverse[2]);
            }
            square[l] = x * x + y * y + z * z;
        }
        for (int l = 0; l < CELL_LANES; l++) { /* without a branch, which nobody could predict */
            for (int d = 0; d < 3; d++) c->near[d][found] = c->at[d][begin + l];
            c->near_particle[found] = c->particle[begin + l];
            found += square[l] < q->square;
        }
    }
    return found;
}

static PLUGMC_TARGETS int64_t pick_by_loops(const query *q)
{
    return q->wrapped ? pick(q, 1) : pick(q, 0);
}

#if CELLS_HAVE_MASKS
/* The same. */
CELLS_WITHIN __m512d component(const query *q, int d, int64_t begin, int wrapped)
{
    const __m512d x = _mm512_loadu_pd(q->among->beside[d] + begin) - _mm512_set1_pd(q->at[d]);
    return wrapped ? cells_nearest_images(x, q->length[d], q->inverse[d]) : x;
}

CELLS_WITHIN int64_t pick_wide(const query *q, int wrapped)
{
    const cell_candidates *c = q->among;
    int64_t found = 0;
    for (int64_t begin = q->begin; begin < q->end; begin += 8) {
        const __m512d x = component(q, 0, begin, wrapped), y = component(q, 1, begin, wrapped),
                      z = component(q, 2, begin, wrapped);
        const __mmask8 near =
            _mm512_cmp_pd_mask(x * x + y * y + z * z, _mm512_set1_pd(q->square), _CMP_LT_OQ);
        for (int d = 0; d < 3; d++)
            _mm512_storeu_pd(c->near[d] + found,
                             _mm512_maskz_compress_pd(near, _mm512_loadu_pd(c->at[d] + begin)));
        _mm256_storeu_si256(
            (__m256i_u *)(c->near_particle + found),
            _mm256_maskz_compress_epi32(
                near, _mm256_loadu_si256((const __m256i_u *)(c->particle + begin))));
        found += __builtin_popcount(near);
    }
    return found;
}

static __attribute__((CELLS_WIDE)) int64_t pick_by_masks(const query *q)
{
    return q->wrapped ? pick_wide(q, 1) : pick_wide(q, 0);
}
#endif

/* In oblique boxes that are short, everyone counts as near. */
static int64_t pick_all(const cell_candidates *c, int64_t begin, int64_t end)
{
    const size_t n = (size_t)(end - begin);
    for (int d = 0; d < 3; d++) memcpy(c->near[d], c->at[d] + begin, n * sizeof *c->near[d]);
    memcpy(c->near_particle, c->particle + begin, n * sizeof *c->near_particle);
    return end - begin;
}

int64_t cells_pick(cell_arrays *c, const plugmc_box *box, int64_t k, int64_t candidates)
{
    const cell_candidates *among = &c->candidates;
    const double reach = c->reach * CELL_HAIR;
    query q = {.among = among, .begin = k + 1, .end = candidates, .square = reach * reach};
    for (int d = 0; d < 3; d++) {
        q.at[d] = among->at[d][k];
        q.length[d] = box->length[d];
        q.inverse[d] = cells_have_images(box, d) ? 1 / box->length[d] : 0;
        q.wrapped |= is_short(c, box, d);
    }
    if (q.wrapped && box->oblique) return pick_all(among, k + 1, candidates);
#if CELLS_HAVE_MASKS
    if (cells_have_masks()) return pick_by_masks(&q);
#endif
    return pick_by_loops(&q);
}
