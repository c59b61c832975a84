/* near_pairs: every pair of particles of a walker that are near each other, in a periodic, rectangular box on the host, for
 * observables. */
#ifndef PLUGMC_NEAR_PAIRS_H
#define PLUGMC_NEAR_PAIRS_H

#include <plugmc/everything.h>

/* One walker in cells that are at least `range` wide; half of the box is at least that. */
typedef struct near_pairs {
    const plugmc_box *box;
    const uint32_t *start, *order; /* first entry of a cell; particle of an entry */
    const double *positions;       /* [entries][3] */
    const int32_t *count;          /* of cells */
    int64_t cells;
    double range;
} near_pairs;

/* Of walker w, whose particles begin at `first` in arrays of all. */
static inline near_pairs near_pairs_of(const plugmc_view *view, const plugmc_cells *cells,
                                       int32_t w, int64_t first, double range)
{
    return (near_pairs){&view->box[w],
                        cells->start + w * (cells->cells + 1),
                        cells->order + first,
                        cells->positions + 3 * first,
                        cells->count,
                        cells->cells,
                        range};
}

/* How many entries there are. */
static inline uint32_t near_pairs_entries(const near_pairs *p) { return p->start[p->cells]; }

/* Cells beside one along a direction: as many as there are, three at most. */
static inline int32_t near_pairs_beside(int32_t cell, int32_t count, int32_t out[3])
{
    const int32_t n = count < 3 ? count : 3;
    for (int32_t k = 0; k < n; k++) out[k] = count < 3 ? k : (cell + count + k - 1) % count;
    return n;
}

/* Calls visit(data, i, j, r, square) for every particle j nearer than `range` to particle i at entry k; r is the way from i
 * to j, length, and `square` its square. */
static inline void near_pairs_visit(const near_pairs *p, uint32_t k,
                                    void (*visit)(void *data, uint32_t i, uint32_t j,
                                                  const double r[3], double square),
                                    void *data)
{
    const double *at = p->positions + 3 * (size_t)k;
    int32_t beside[3][3] = {{0}}, number[3] = {1, 1, 1};
    for (int d = 0; d < p->box->dimension; d++)
        number[d] = near_pairs_beside(
            plugmc_cell_along(at[d], p->box->length[d] / p->count[d], p->count[d]), p->count[d],
            beside[d]);
    for (int32_t c = 0; c < number[0] * number[1] * number[2]; c++) {
        const int32_t x = beside[0][c % number[0]], y = beside[1][c / number[0] % number[1]],
                      z = beside[2][c / number[0] / number[1]],
                      cell = (z * p->count[1] + y) * p->count[0] + x;
        for (uint32_t m = p->start[cell]; m < p->start[cell + 1]; m++) {
            double r[3] = {0, 0, 0}, square = 0;
            if (m == k) continue;
            for (int d = 0; d < p->box->dimension; d++) {
                r[d] = plugmc_nearest_image(p->positions[3 * (size_t)m + d] - at[d],
                                            p->box->length[d]);
                square += r[d] * r[d];
            }
            if (square < p->range * p->range) visit(data, p->order[k], p->order[m], r, square);
        }
    }
}

#endif
