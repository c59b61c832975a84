/* How lists of neighbours are made. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "lists.h"
#include "masks.h"
#include "neighbours.h"
#include "rigid.h"

/* The skin of the first list, in ranges, and of those that follow. */
static const double first_skin = 0.12, least_skin = 0.02, largest_skin = 0.4;

/* ---- The skin ------------------------------------------------------------------------------------ */

/* A wider skin means longer rows and fewer lists. In units of one visit of a pair in a row, making a list costs some
 * 3.4 visits for each pair of a row: (1 + s)^3 (1 + 3.4 * 2 v / s) is least, where s is the skin and v how
 * far the fastest particle moves from one force to the next, both in ranges. */
static double best_skin(double v)
{
    const double cost = 6.8 * v, linear = 2 * cost;
    const double s = (sqrt(linear * linear + 12 * cost) - linear) / 6;
    return fmin(fmax(s, least_skin), largest_skin);
}

/* ---- Cells --------------------------------------------------------------------------------------- */

typedef struct grid {
    int32_t count[3];
    int64_t cells;
} grid;

static grid grid_of(const hmc *h, int32_t w, double width)
{
    grid g;
    double all;
    for (width *= 1 + 1e-6;; width *= 1.1) {
        all = 1;
        for (int d = 0; d < 3; d++) {
            const double fits = d < h->dimension ? floor(h->box[w].length[d] / width) : 1;
            g.count[d] = (int32_t)fmin(fmax(fits, 1), 1e6);
            all *= g.count[d];
        }
        if (all <= most_cells(h)) break;
    }
    g.cells = (int64_t)all;
    return g;
}

/* By cell, and in a cell by number, hence by species. */
static void sort_into_slots(const hmc *h, int32_t w, const grid *g, hmc_list *list,
                            const hmc_list_work *work)
{
    const int64_t n = h->system->particles;
    int32_t *start = work->start, *cell = work->cell;
    memset(start, 0, (size_t)(g->cells + 1) * sizeof *start);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t *place = h->cpu->place + 3 * (w * n + i);
        int32_t at[3];
        for (int d = 0; d < 3; d++)
            at[d] = (int32_t)plugmc_mulhi((uint32_t)(place[d] >> 32), (uint32_t)g->count[d]);
        cell[i] = (at[2] * g->count[1] + at[1]) * g->count[0] + at[0];
        start[cell[i] + 1]++;
    }
    for (int64_t k = 0; k < g->cells; k++) start[k + 1] += start[k];
    for (int64_t i = 0; i < n; i++) {
        const int32_t slot = start[cell[i]]++;
        list->number[slot] = (int32_t)i;
        list->species[slot] = h->cpu->species[i];
    }
    for (int64_t k = g->cells; k > 0; k--) start[k] = start[k - 1];
    start[0] = 0;
}

double hmc_list_fill(const hmc *h, int32_t w, hmc_list_work *work)
{
    const hmc_cpu *c = h->cpu;
    const hmc_list *list = &c->lists->list[w];
    const int64_t n = h->system->particles;
    const double *length = h->box[w].length, unit = 0x1p-64;
    const double scale[3] = {unit * length[0], unit * length[1], unit * length[2]};
    double farthest = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = list->number[k], at = 3 * (w * n + i);
        const double *r = c->positions + at;
        const uint64_t *now = c->place + at, *then = list->reference + 3 * i;
        const double dx = (double)(int64_t)(now[0] - then[0]) * scale[0],
                     dy = (double)(int64_t)(now[1] - then[1]) * scale[1],
                     dz = (double)(int64_t)(now[2] - then[2]) * scale[2];
        const double square = dx * dx + dy * dy + dz * dz;
        work->x[k] = r[0];
        work->y[k] = r[1];
        work->z[k] = r[2];
        for (int d = 0; d < 3; d++) work->position[4 * k + d] = r[d];
        farthest = square > farthest ? square : farthest;
    }
    work->x[n] = work->y[n] = work->z[n] = work->position[4 * n] = NAN;
    return farthest;
}

/* ---- Rows ---------------------------------------------------------------------------------------- */

static int64_t add_candidates(const hmc_list_work *slots, int32_t begin, int32_t end,
                              hmc_list_work *own, int64_t n)
{
    for (int32_t k = begin; k < end; k++, n++) {
        own->candidate[n] = k;
        own->cx[n] = slots->x[k];
        own->cy[n] = slots->y[k];
        own->cz[n] = slots->z[k];
    }
    return n;
}

/* Everyone in a cell, then those of the cells around it that come later. Slots of a cell are in the rows of all
 * earlier cells. */
static int64_t gather_candidates(const grid *g, int64_t cell, const hmc_list_work *slots,
                                 hmc_list_work *own)
{
    const int32_t *start = slots->start;
    int32_t x[3], y[3], z[3];
    const int nx = line_around((int32_t)(cell % g->count[0]), g->count[0], x);
    const int ny = line_around((int32_t)(cell / g->count[0] % g->count[1]), g->count[1], y);
    const int nz = line_around((int32_t)(cell / g->count[0] / g->count[1]), g->count[2], z);
    int64_t n = add_candidates(slots, start[cell], start[cell + 1], own, 0);
    for (int i = 0; i < nx * ny * nz; i++) {
        const int64_t other =
            ((int64_t)z[i / (nx * ny)] * g->count[1] + y[i / nx % ny]) * g->count[0] + x[i % nx];
        if (other > cell) n = add_candidates(slots, start[other], start[other + 1], own, n);
    }
    return n;
}

/* Fills a part of a row up; returns its length. */
static int32_t fill_up(const hmc *h, int32_t *part, int32_t length)
{
    while (length % HMC_LANES) part[length++] = (int32_t)h->system->particles;
    return length;
}

/* Writes the parts of a row: those of the near ones that are of each species. Returns their length. */
static int64_t sort_by_species(const hmc *h, const hmc_list *list, const int32_t *near,
                               int64_t found, int32_t *row, int32_t *length)
{
    int64_t all = 0;
    for (int32_t a = 0; a < h->system->species_count; a++) {
        int32_t *part = row + all, of_a = 0;
        for (int64_t k = 0; k < found; k++) {
            part[of_a] = near[k];
            of_a += list->species[near[k]] == a;
        }
        all += length[a] = fill_up(h, part, of_a);
    }
    return all;
}

#if HMC_HAS_MASKS
/* Those of n candidates whose squares are below that of the reach; room for HMC_LANES more. Returns how many. */
static __attribute__((HMC_WIDE)) int64_t pick_by_masks(const int32_t *candidate,
                                                       const double *square, int64_t n,
                                                       double reach_square, int32_t *near)
{
    int64_t found = 0;
    for (int64_t m = 0; m < n; m += HMC_LANES) {
        const __mmask8 there = (__mmask8)(n - m < 8 ? (1 << (n - m)) - 1 : 0xff);
        const __mmask8 in = _mm512_mask_cmp_pd_mask(there, _mm512_maskz_loadu_pd(there, square + m),
                                                    _mm512_set1_pd(reach_square), _CMP_LT_OQ);
        _mm256_storeu_si256(
            (__m256i_u *)(near + found),
            _mm256_maskz_compress_epi32(in, _mm256_maskz_loadu_epi32(there, candidate + m)));
        found += __builtin_popcount(in);
    }
    return found;
}
#endif

static int64_t pick(const int32_t *candidate, const double *square, int64_t n, double reach_square,
                    int32_t *near)
{
    int64_t found = 0;
#if HMC_HAS_MASKS
    if (hmc_masks()) return pick_by_masks(candidate, square, n, reach_square, near);
#endif
    for (int64_t m = 0; m < n; m++) { /* without a branch, which nobody could predict */
        near[found] = candidate[m];
        found += square[m] < reach_square;
    }
    return found;
}

/* Of `found` slots those that are not of the molecule of slot k; returns how many. */
static int64_t without_own_molecule(const hmc *h, const hmc_list *list, int64_t k, int32_t *near,
                                    int64_t found)
{
    int64_t kept = 0;
    for (int64_t m = 0; m < found; m++)
        if (!hmc_together(h, list->number[k], list->number[near[m]])) near[kept++] = near[m];
    return kept;
}

/* The rows of a cell, behind `used` entries of thread t; returns how many entries there are then, or -1 if there may
 * be no room for them. */
static int64_t make_rows(const hmc *h, int32_t w, const grid *g, int64_t cell, int32_t t,
                         int64_t used, const hmc_list_work *slots, hmc_list_work *own)
{
    hmc_list *list = &h->cpu->lists->list[w];
    const int32_t species = h->system->species_count;
    const double reach = h->sampled.reach + list->skin, reach_square = reach * reach * (1 + 1e-9);
    const int64_t begin = slots->start[cell], end = slots->start[cell + 1],
                  around = gather_candidates(g, cell, slots, own),
                  most = (end - begin) * (around + 1 + species * HMC_LANES);
    if (used + most > list->capacity[t]) return -1;
    for (int64_t k = begin; k < end; k++) {
        const int64_t first = k - begin + 1, n = around - first;
        const double r[3] = {slots->x[k], slots->y[k], slots->z[k]};
        int32_t *row = list->entry[t] + used, *near = species > 1 ? own->near : row;
        squares(h->box[w].length, r, own->cx + first, own->cy + first, own->cz + first, n,
                own->square);
        int64_t found = pick(own->candidate + first, own->square, n, reach_square, near);
        if (h->rigid) found = without_own_molecule(h, list, k, near, found);
        list->row[k] = row;
        if (species > 1)
            found = sort_by_species(h, list, near, found, row, list->length + k * species);
        else
            found = list->length[k] = fill_up(h, row, (int32_t)found);
        used += found;
    }
    return used;
}

/* Slots whose rows have as many pairs for each thread. */
static void share_rows(const hmc *h, hmc_list *list)
{
    const int64_t n = h->system->particles, species = h->system->species_count;
    int64_t all = 0, met = 0;
    for (int64_t k = 0; k < n * species; k++) all += list->length[k];
    list->bound[0] = 0;
    int32_t t = 1;
    for (int64_t k = 0; k < n && t < list->threads; k++) {
        for (int64_t a = 0; a < species; a++) met += list->length[k * species + a];
        while (t < list->threads && met * list->threads >= all * t) list->bound[t++] = k + 1;
    }
    while (t <= list->threads) list->bound[t++] = n;
}

static void make_all_rows(const hmc *h, int32_t w, const grid *g, hmc_list_work *work)
{
    const hmc_list *list = &h->cpu->lists->list[w];
    const int32_t *start = work[0].start, threads = list->threads;
    const int64_t n = h->system->particles;
#pragma omp parallel num_threads(threads)
    {
        const int32_t t = omp_get_thread_num();
        int64_t used = 0;
        for (int64_t cell = 0; cell < g->cells && used >= 0; cell++)
            if (start[cell] < start[cell + 1] && (int64_t)start[cell] * threads / n == t)
                used = make_rows(h, w, g, cell, t, used, &work[0], &work[t]);
        list->used[t] = used;
    }
}

int hmc_list_make(const hmc *h, int32_t w, int32_t threads, hmc_list_work *work)
{
    hmc_list *list = &h->cpu->lists->list[w];
    const int64_t n = h->system->particles;
    const double reach = h->sampled.reach;
    if (list->made && list->served > 0)
        list->skin = reach * best_skin(0.5 * list->skin / reach / (double)list->served);
    if (!(list->skin > 0)) list->skin = reach * first_skin;
    const grid g = grid_of(h, w, reach + list->skin);
    sort_into_slots(h, w, &g, list, work);
    memcpy(list->reference, h->cpu->place + 3 * w * n, 3 * (size_t)n * sizeof *list->reference);
    hmc_list_fill(h, w, work);
    list->threads = threads;
    list->served = 0;
    make_all_rows(h, w, &g, work);
    list->made = 1;
    for (int32_t t = 0; t < threads; t++) list->made &= list->used[t] >= 0;
    if (list->made) share_rows(h, list);
    return list->made;
}

/* As many pairs as a homogeneous system has within reach + skin at first, then twice as many each time. */
int hmc_list_enlarge(const hmc *h, const plugmc_host *host, int32_t w)
{
    hmc_list *list = &h->cpu->lists->list[w];
    const double n = (double)h->system->particles, width = h->sampled.reach + list->skin;
    double volume = 1;
    int code = PLUGMC_OK;
    for (int d = 0; d < h->dimension; d++) volume *= 2 * width / h->box[w].length[d];
    const double row = fmin(n, 0.35 * n * volume + 64), first = n / list->threads * row + 4096;
    for (int32_t t = 0; t < list->threads && !code; t++) {
        if (list->used[t] >= 0) continue;
        list->capacity[t] = list->capacity[t] > 0 ? 2 * list->capacity[t] : (int64_t)first;
        list->entry[t] = hmc_cpu_take(host, (size_t)list->capacity[t], sizeof **list->entry, &code);
        if (code) list->capacity[t] = 0;
    }
    return code;
}
