/* See cell_arrays.h. */
#include "energy/cell_arrays.h"
#include "energy/cell_masks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How the separation from the particles of a cell is found. */
enum {
    /* Each cell has one image that can be near. */
    SHIFTED,
    /* There are too few cells along an axis of a rectangular box: the minimum image. */
    WRAPPED,
    /* The same in an oblique box: all particles are taken. */
    UNFILTERED
};

/* Cells around a position along one axis: at most one more than three, as the second position may be in another. */
enum { MOST_ALONG = 4 };

/* Distances are computed for so many slots before neighbours are picked. */
enum { CELL_BLOCK = 64 };

/* As many or fewer particles in a cell are looked at one by one. */
enum { FEW = 2 };

typedef struct axis {
    int n;
    int32_t cell[MOST_ALONG];
    /* Lattice vectors by which the cell's image is shifted. */
    int32_t period[MOST_ALONG];
    /* Squares of the distance of both positions from the cell along this axis, or less. */
    double square[2][MOST_ALONG];
} axis;

typedef struct query {
    const cell_arrays *c;
    const plugmc_box *box;
    int mode;
    /* Along an axis there are fewer cells than there may be around the positions: all of them, once. */
    bool all[3];
    /* Positions; the second is not wrapped, so it is close to the first. */
    double at[3], to[3];
    /* Of the minimum image: 1/length; 0 along axes without images. */
    double inverse_length[3];
    axis axes[3];
    /* Square of the reach. */
    double square;
} query;

static double origin(const plugmc_box *box)
{
    return box->domain == PLUGMC_DOMAIN_SPHERE ? -box->radius : 0;
}

/* ---- Which cell ------------------------------------------------------------------------------ */

static int32_t clamped(double cell, int32_t count)
{
    const int32_t k = cell > 0 ? (int32_t)cell : 0;
    return k < count ? k : count - 1;
}

static void coordinates(const cell_arrays *c, const plugmc_box *box, const double r[3],
                        int32_t cell[3])
{
    const double from = origin(box);
    for (int d = 0; d < 3; d++) {
        double along = (r[d] - from) * c->inverse_width[d];
        if (box->oblique)
            along = (r[0] * box->inverse[0][d] + r[1] * box->inverse[1][d] +
                     r[2] * box->inverse[2][d]) *
                    c->count[d];
        cell[d] = c->count[d] > 1 ? clamped(along, c->count[d]) : 0;
    }
}

static int64_t number(const cell_arrays *c, const int32_t cell[3])
{
    return cell[0] + c->count[0] * (cell[1] + (int64_t)c->count[1] * cell[2]);
}

static int64_t cell_at(const cell_arrays *c, const plugmc_box *box, const double r[3])
{
    int32_t cell[3];
    coordinates(c, box, r, cell);
    return number(c, cell);
}

/* ---- Particles in cells ---------------------------------------------------------------------- */

/* As many cells as fit, but hardly more than there are particles. */
static void choose(cell_arrays *c, const plugmc_box *box, int64_t n)
{
    const double most = (double)n + 27;
    double width = c->reach * CELL_HAIR, cells;
    do {
        cells = 1;
        for (int d = 0; d < box->dimension; d++)
            cells *= fmax(1.0, floor(plugmc_height(box, d) / width));
        if (cells > most) width *= 1.1;
    } while (cells > most);
    for (int d = 0; d < 3; d++) {
        const double fit = d < box->dimension ? floor(plugmc_height(box, d) / width) : 1;
        c->count[d] = fit > 1 ? (int32_t)fit : 1;
        c->width[d] = box->length[d] / c->count[d];
        c->inverse_width[d] = c->count[d] / box->length[d];
    }
    c->cells = (int64_t)c->count[0] * c->count[1] * c->count[2];
}

static void clear(cell_arrays *c)
{
    memset(c->n, 0, (size_t)c->cells * sizeof *c->n);
    for (int64_t s = 0; s < c->cells * c->capacity; s++) c->x[s] = NAN;
}

static void free_candidates(cell_candidates *k)
{
    free(k->numbers), free(k->indices);
    *k = (cell_candidates){0};
}

static int make_candidates(cell_candidates *k, int64_t room)
{
    const int64_t each = room + 2 * CELL_LANES;
    if (room <= k->room) return 0;
    free_candidates(k);
    k->numbers = malloc(9 * (size_t)each * sizeof *k->numbers);
    k->indices = malloc(2 * (size_t)each * sizeof *k->indices);
    if (!k->numbers || !k->indices) return -1;
    for (int d = 0; d < 3; d++) {
        k->at[d] = k->numbers + d * each;
        k->beside[d] = k->numbers + (3 + d) * each;
        k->near[d] = k->numbers + (6 + d) * each;
    }
    k->particle = k->indices;
    k->near_particle = k->indices + each;
    k->room = room;
    return 0;
}

static int allocate(cell_arrays *c)
{
    const int64_t slots = c->cells * c->capacity;
    if (c->cells > c->cells_allocated) {
        free(c->n);
        c->n = malloc((size_t)c->cells * sizeof *c->n);
        c->cells_allocated = c->n ? c->cells : 0;
        if (!c->n) return -1;
    }
    if (slots > c->slots_allocated) {
        free(c->x), free(c->particle);
        c->x = calloc(3 * (size_t)slots, sizeof *c->x);
        c->particle = calloc((size_t)slots, sizeof *c->particle);
        c->slots_allocated = c->x && c->particle ? slots : 0;
        if (!c->slots_allocated) return -1;
    }
    c->y = c->x + slots;
    c->z = c->y + slots;
    return make_candidates(&c->candidates, c->capacity * (c->cells < 27 ? c->cells : 27));
}

int cells_arrange(cell_arrays *c, const plugmc_box *box, int64_t n)
{
    choose(c, box, n);
    const double mean = (double)n / (double)c->cells;
    const int32_t usual = ((int32_t)(1.3 * mean + 4) / CELL_LANES + 1) * CELL_LANES;
    /* what was enough before is enough for the same cells */
    if (c->capacity < usual || c->capacity > 4 * usual) c->capacity = usual;
    if (allocate(c)) return -1;
    clear(c);
    return 0;
}

void cells_free(cell_arrays *c)
{
    free(c->n), free(c->x), free(c->particle);
    free_candidates(&c->candidates);
    *c = (cell_arrays){.reach = c->reach};
}

/* Cells with twice as many slots. */
static int enlarge(cell_arrays *c)
{
    cell_arrays larger = *c;
    larger.n = NULL, larger.x = NULL, larger.particle = NULL;
    larger.cells_allocated = larger.slots_allocated = 0;
    larger.candidates = (cell_candidates){0};
    larger.capacity = 2 * c->capacity;
    if (allocate(&larger)) {
        cells_free(&larger);
        return -1;
    }
    clear(&larger);
    for (int64_t k = 0; k < c->cells; k++) {
        const int64_t from = k * c->capacity, to = k * larger.capacity;
        const size_t n = (size_t)c->n[k];
        memcpy(larger.x + to, c->x + from, n * sizeof *c->x);
        memcpy(larger.y + to, c->y + from, n * sizeof *c->y);
        memcpy(larger.z + to, c->z + from, n * sizeof *c->z);
        memcpy(larger.particle + to, c->particle + from, n * sizeof *c->particle);
        larger.n[k] = c->n[k];
    }
    cells_free(c);
    *c = larger;
    return 0;
}

static void put(cell_arrays *c, int64_t slot, int64_t i, const double r[3])
{
    c->x[slot] = r[0];
    c->y[slot] = r[1];
    c->z[slot] = r[2];
    c->particle[slot] = (int32_t)i;
}

static void copy(cell_arrays *c, int64_t to, int64_t from)
{
    put(c, to, c->particle[from], (double[]){c->x[from], c->y[from], c->z[from]});
}

int cells_add(cell_arrays *c, const plugmc_box *box, int64_t i, const double at[3])
{
    const int64_t cell = cell_at(c, box, at);
    if (c->n[cell] == c->capacity && enlarge(c)) return -1;
    const int64_t first = cell * c->capacity;
    int64_t slot = first + c->n[cell]++;
    for (; slot > first && c->particle[slot - 1] > i; slot--) copy(c, slot, slot - 1);
    put(c, slot, i, at);
    return 0;
}

/* Slot of particle i in a cell, or -1. */
static int64_t slot_of(const cell_arrays *c, int64_t cell, int64_t i)
{
    const int64_t first = cell * c->capacity, end = first + c->n[cell];
    for (int64_t slot = first; slot < end; slot++)
        if (c->particle[slot] == i) return slot;
    return -1;
}

int cells_remove(cell_arrays *c, const plugmc_box *box, int64_t i, const double at[3])
{
    const int64_t cell = cell_at(c, box, at);
    int64_t slot = slot_of(c, cell, i);
    if (slot < 0) return -1;
    const int64_t last = cell * c->capacity + --c->n[cell];
    for (; slot < last; slot++) copy(c, slot, slot + 1);
    c->x[last] = NAN;
    return 0;
}

int cells_move_within(cell_arrays *c, const plugmc_box *box, int64_t i, const double from[3],
                      const double to[3])
{
    const int64_t cell = cell_at(c, box, from);
    if (cell_at(c, box, to) != cell) return 1;
    const int64_t slot = slot_of(c, cell, i);
    if (slot < 0) return -1;
    put(c, slot, i, to);
    return 0;
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

/* How many cells `to` is farther than `at`, by the shorter way; *period: lattice vectors that this way crosses. */
static int32_t steps(const cell_arrays *c, const plugmc_box *box, int d, int32_t at, int32_t to,
                     int32_t *period)
{
    const int32_t count = c->count[d], step = to - at;
    *period = 0;
    if (!cells_have_images(box, d) || (step >= -1 && step <= 1)) return step;
    if (step == count - 1) return *period = -1;
    if (step == 1 - count) return *period = 1;
    return step;
}

bool cells_are_adjacent(const cell_arrays *c, const plugmc_box *box, const double a[3],
                        const double b[3])
{
    int32_t of_a[3], of_b[3], period;
    coordinates(c, box, a, of_a);
    coordinates(c, box, b, of_b);
    for (int d = 0; d < 3; d++)
        if (abs(steps(c, box, d, of_a[d], of_b[d], &period)) > 1) return false;
    return true;
}

/* Square of the distance of x from an interval. */
static double outside(double x, double low, double high)
{
    const double by = x < low ? low - x : x > high ? x - high : 0;
    return by * by;
}

/* The cells around two positions along axis d, `step` cells apart. */
static void find_axis(query *q, int d, int32_t at, int32_t step)
{
    const int32_t count = q->c->count[d], begin = step < 0 ? -2 : -1, end = step > 0 ? 2 : 1;
    const bool images = cells_have_images(q->box, d);
    axis *a = &q->axes[d];
    q->all[d] = images && count < end - begin + 1;
    a->n = 0;
    for (int32_t k = 0; k < count && q->all[d]; k++, a->n++) {
        a->cell[k] = k;
        a->period[k] = 0;
        a->square[0][k] = a->square[1][k] = 0;
    }
    for (int32_t o = begin; o <= end && !q->all[d]; o++) {
        int32_t cell = at + o;
        const double low = origin(q->box) + cell * q->c->width[d], high = low + q->c->width[d];
        if (!images && (cell < 0 || cell >= count)) continue;
        const int32_t period = cell < 0 ? -1 : cell >= count ? 1 : 0;
        a->cell[a->n] = cell - period * count;
        a->period[a->n] = period;
        a->square[0][a->n] = q->box->oblique || count == 1 ? 0 : outside(q->at[d], low, high);
        a->square[1][a->n] = q->box->oblique || count == 1 ? 0 : outside(q->to[d], low, high);
        a->n++;
    }
}

static void make_query(query *q, const cell_arrays *c, const plugmc_box *box, const double at[3],
                       const double *to)
{
    int32_t cell[3], other[3], step[3] = {0}, period[3] = {0};
    q->c = c, q->box = box;
    q->square = c->reach * CELL_HAIR * c->reach * CELL_HAIR;
    memcpy(q->at, at, sizeof q->at);
    memcpy(q->to, to ? to : at, sizeof q->to);
    coordinates(c, box, at, cell);
    if (to) coordinates(c, box, to, other);
    for (int d = 0; d < 3 && to; d++) step[d] = steps(c, box, d, cell[d], other[d], &period[d]);
    for (int d = 0; d < 3; d++) q->to[d] += cells_shift(box, period, d);
    for (int d = 0; d < 3; d++) {
        q->inverse_length[d] = cells_have_images(box, d) ? 1 / box->length[d] : 0;
        find_axis(q, d, cell[d], step[d]);
    }
    q->mode = !(q->all[0] || q->all[1] || q->all[2]) ? SHIFTED
              : box->oblique                         ? UNFILTERED
                                                     : WRAPPED;
}

static inline __attribute__((always_inline)) double square_of(const query *q, int mode, double x,
                                                              double y, double z)
{
    if (mode == WRAPPED) {
        x -= q->box->length[0] * rint(x * q->inverse_length[0]);
        y -= q->box->length[1] * rint(y * q->inverse_length[1]);
        z -= q->box->length[2] * rint(z * q->inverse_length[2]);
    }
    return x * x + y * y + z * z;
}

/* Appends those of the n particles from slot `first` on that are near, one by one. */
static inline __attribute__((always_inline)) int64_t append_few(const query *q, int mode, int two,
                                                                int64_t first, int32_t n,
                                                                const double at[3],
                                                                const double to[3], int32_t *slots,
                                                                int64_t found)
{
    for (int64_t s = first; s < first + n; s++) {
        const double x = q->c->x[s], y = q->c->y[s], z = q->c->z[s];
        int near = square_of(q, mode, x - at[0], y - at[1], z - at[2]) < q->square;
        if (two) near |= square_of(q, mode, x - to[0], y - to[1], z - to[2]) < q->square;
        slots[found] = (int32_t)s;
        found += near;
    }
    return found;
}

/* Appends the slots of a cell whose particles are near. `at` and `to` are relative to the cell's image. */
static inline __attribute__((always_inline)) int64_t append_near(const query *q, int mode, int two,
                                                                 int64_t cell, const double at[3],
                                                                 const double to[3], int32_t *slots,
                                                                 int64_t found)
{
    const int32_t few = q->c->n[cell];
    if (few <= FEW)
        return append_few(q, mode, two, cell * q->c->capacity, few, at, to, slots, found);
    /* a multiple of what vectors hold, so that loops have no remainder */
    const int32_t n = (q->c->n[cell] + CELL_LANES - 1) & -CELL_LANES;
    const int64_t first = cell * q->c->capacity;
    for (int32_t begin = 0; begin < n; begin += CELL_BLOCK) {
        const double *x = q->c->x + first + begin, *y = q->c->y + first + begin,
                     *z = q->c->z + first + begin;
        const int32_t end = n - begin < CELL_BLOCK ? n - begin : CELL_BLOCK;
        double nearer[CELL_BLOCK];
        for (int32_t l = 0; l < (end & -CELL_LANES); l++) {
            const double r2 = square_of(q, mode, x[l] - at[0], y[l] - at[1], z[l] - at[2]);
            nearer[l] = r2;
            if (!two) continue;
            const double s2 = square_of(q, mode, x[l] - to[0], y[l] - to[1], z[l] - to[2]);
            nearer[l] = s2 < r2 ? s2 : r2;
        }
        for (int32_t l = 0; l < end; l += CELL_LANES)
            for (int32_t k = l; k < l + CELL_LANES; k++) {
                slots[found] = (int32_t)(first + begin) + k;
                found += nearer[k] < q->square;
            }
    }
    return found;
}

/* A cell that may have near particles; positions relative to its image. */
typedef struct near_cell {
    int64_t cell;
    double at[3], to[3];
} near_cell;

enum { MOST_NEAR_CELLS = MOST_ALONG * MOST_ALONG * MOST_ALONG };

/* Cell i, j, k of those around. Returns whether somebody there may be near. */
static inline __attribute__((always_inline)) bool may_be_near(const query *q, int two, int i, int j,
                                                              int k, near_cell *out)
{
    const axis *ax = &q->axes[0], *ay = &q->axes[1], *az = &q->axes[2];
    const double near_at = az->square[0][k] + ay->square[0][j] + ax->square[0][i],
                 near_to = az->square[1][k] + ay->square[1][j] + ax->square[1][i];
    if (near_at >= q->square && (!two || near_to >= q->square)) return false;
    out->cell = number(q->c, (int32_t[]){ax->cell[i], ay->cell[j], az->cell[k]});
    if (!q->c->n[out->cell]) return false;
    const int32_t period[3] = {ax->period[i], ay->period[j], az->period[k]};
    for (int d = 0; d < 3; d++) {
        const double by = cells_shift(q->box, period, d);
        out->at[d] = q->at[d] - by;
        out->to[d] = q->to[d] - by;
    }
    return true;
}

/* `mode` and `two` are constants after inlining. */
static inline __attribute__((always_inline)) int64_t visit(const query *q, int mode, int two,
                                                           int32_t *slots)
{
    int64_t found = 0;
    for (int k = 0; k < q->axes[2].n; k++)
        for (int j = 0; j < q->axes[1].n; j++)
            for (int i = 0; i < q->axes[0].n; i++) {
                near_cell c;
                if (may_be_near(q, two, i, j, k, &c))
                    found = append_near(q, mode, two, c.cell, c.at, c.to, slots, found);
            }
    return found;
}

static PLUGMC_TARGETS int64_t find_near(const query *q, bool two, int32_t *slots)
{
    if (q->mode == SHIFTED) return two ? visit(q, SHIFTED, 1, slots) : visit(q, SHIFTED, 0, slots);
    return two ? visit(q, WRAPPED, 1, slots) : visit(q, WRAPPED, 0, slots);
}

#if CELLS_HAVE_MASKS
/* The same where cells have many particles, in two steps, as a function for AVX-512 inlines no other. out
 * [MOST_NEAR_CELLS]; returns how many. */
static int find_cells(const query *q, bool two, near_cell *out)
{
    int n = 0;
    for (int k = 0; k < q->axes[2].n; k++)
        for (int j = 0; j < q->axes[1].n; j++)
            for (int i = 0; i < q->axes[0].n; i++) n += may_be_near(q, two, i, j, k, &out[n]);
    return n;
}

CELLS_WITHIN __m512d square_by_masks(const query *q, int mode, const double *const slots[3],
                                     int64_t s, const double at[3])
{
    __m512d sum = _mm512_setzero_pd();
    for (int d = 0; d < 3; d++) {
        __m512d x = _mm512_loadu_pd(slots[d] + s) - _mm512_set1_pd(at[d]);
        if (mode == WRAPPED) x = cells_nearest_images(x, q->box->length[d], q->inverse_length[d]);
        sum = d ? sum + x * x : x * x;
    }
    return sum;
}

CELLS_WITHIN int64_t visit_by_masks(const query *q, int mode, int two, const near_cell *cells,
                                    int n, int32_t *slots)
{
    const double *const columns[3] = {q->c->x, q->c->y, q->c->z};
    const __m512d reach = _mm512_set1_pd(q->square);
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    int64_t found = 0;
    for (int k = 0; k < n; k++) {
        const int64_t first = cells[k].cell * q->c->capacity, end = first + q->c->n[cells[k].cell];
        for (int64_t s = first; s < end; s += CELL_LANES) {
            const __m512d r2 = square_by_masks(q, mode, columns, s, cells[k].at);
            __mmask8 near = _mm512_cmp_pd_mask(r2, reach, _CMP_LT_OQ);
            if (two)
                near |= _mm512_cmp_pd_mask(square_by_masks(q, mode, columns, s, cells[k].to), reach,
                                           _CMP_LT_OQ);
            _mm256_storeu_si256((__m256i_u *)(slots + found),
                                _mm256_maskz_compress_epi32(
                                    near, _mm256_add_epi32(lanes, _mm256_set1_epi32((int32_t)s))));
            found += __builtin_popcount(near);
        }
    }
    return found;
}

static __attribute__((CELLS_WIDE)) int64_t find_near_by_masks(const query *q, bool two,
                                                              int32_t *slots)
{
    near_cell cells[MOST_NEAR_CELLS + 1];
    const int n = find_cells(q, two, cells);
    if (q->mode == SHIFTED)
        return two ? visit_by_masks(q, SHIFTED, 1, cells, n, slots)
                   : visit_by_masks(q, SHIFTED, 0, cells, n, slots);
    return two ? visit_by_masks(q, WRAPPED, 1, cells, n, slots)
               : visit_by_masks(q, WRAPPED, 0, cells, n, slots);
}
#endif

static int64_t take_all(const query *q, int32_t *slots)
{
    int64_t found = 0;
    for (int64_t cell = 0; cell < q->c->cells; cell++)
        for (int32_t k = 0; k < q->c->n[cell]; k++)
            slots[found++] = (int32_t)(cell * q->c->capacity + k);
    return found;
}

int64_t cells_near(const cell_arrays *c, const plugmc_box *box, const double at[3],
                   const double *to, int32_t *slots)
{
    query q;
    make_query(&q, c, box, at, to);
    if (q.mode == UNFILTERED) return take_all(&q, slots);
#if CELLS_HAVE_MASKS
    if (c->capacity > CELL_LANES && cells_have_masks())
        return find_near_by_masks(&q, to != NULL, slots);
#endif
    return find_near(&q, to != NULL, slots);
}
