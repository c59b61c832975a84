/* Random states of hard particles: random insertion at low density, then particles are given their
 * size and taken apart (relax.c). Where that leaves overlaps, close to jamming, the state after
 * insertion is compressed with Metropolis moves to the density wanted, as in J. A. Anderson et al.,
 * J. Comput. Phys. 254, 27 (2013), which takes its time.
 *
 * Instead of shrinking the box we let the particles grow in the final box, which is the same in
 * other units; walls and fields then are where they will be, and one grid of cells serves all
 * along. `scale` is the contact distances of the moment over those wanted.
 *
 * Growing until the first pair touches gains only the smallest of all gaps, which goes as 1 / N:
 * hopeless for large N. So they grow by some thousandths a sweep as long as no more than one in a
 * hundred is too close to another, and trial moves of one rule take these apart again: the new
 * position is accepted if no neighbour is too close there, or none as close as the closest one
 * was before. For all others this is Metropolis' rule for hard particles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "initial/initial.h"

enum {
    FEW = 100,     /* grow once fewer than 1 / FEW of the particles are too close */
    TOGETHER = 64, /* attempts that all threads make before it is one particle's turn */
    REPAIRS = 8,   /* passes over those after each sweep */
    PATIENCE = 500 /* sweeps without growth or fewer that are too close: it has come to rest */
};
#define LARGEST_GROWTH 0.004 /* relative, a sweep at most */
#define SMALLEST_GROWTH 2e-4
#define MARGIN 1e-6 /* so that positions rounded to float do not overlap */
#define WANTED_ACCEPTANCE 0.4

/* Who is too close tries steps of all sizes: to come apart a small one will do. */
static const double steps[4] = {1, 0.25, 0.0625, 0.015625};

/* Sweep numbers in the counter of random numbers: insertion counts attempts from 0. */
#define COMPRESSION_SWEEPS (1ull << 40)

typedef struct packing {
    const plugmc_system *system;
    const double *inverse; /* [species][species] 1 / contact^2; infinite without contact */
    uint32_t walker;
    cell_grid grid;
    double *x;        /* [particles][3], length, in the box */
    int32_t *species; /* [particles] */
    int32_t *head;    /* [cells]: first particle of a cell, or -1 */
    int32_t *next;    /* [particles]: next one in its cell, or -1 */
    uint8_t *close;   /* [particles]: has, or may have, a neighbour that is too close */
    int32_t *list;    /* [particles]: those of them that are */
    double wanted;    /* square of the scale of the moment */
    double step;      /* largest displacement in each direction, length */
    uint64_t sweep;   /* counter of random numbers */
} packing;

static int packing_make(packing *, const plugmc_system *, const contacts *, uint32_t walker,
                        double *positions);
static void packing_free(packing *);
static int insert_all(packing *, int64_t attempts, int64_t *inserted);
static int sort_by_cell(packing *);
static double compress(packing *, double scale);
static double contact_fraction(const plugmc_system *, const contacts *);

/* From the state after insertion to that of the size wanted. */
static int grow(packing *k, const contacts *contacts, double scale, double *reached)
{
    const size_t bytes = 3 * (size_t)k->system->particles * sizeof *k->x;
    double *inserted = malloc(bytes);
    int apart = 0, code = inserted ? EXIT_DONE : EXIT_MEMORY;
    if (inserted) memcpy(inserted, k->x, bytes);
    if (!code) code = relax(k->system, contacts, k->x, &apart);
    *reached = 1 + MARGIN;
    if (!code && !apart) {
        memcpy(k->x, inserted, bytes);
        *reached = compress(k, scale);
    }
    free(inserted);
    return code;
}

random_outcome random_state(const plugmc_system *system, const contacts *contacts,
                            double random_fraction, int64_t attempts, uint32_t walker,
                            double *positions)
{
    random_outcome out = {EXIT_DONE, 0, 1};
    packing k;
    double fraction = contact_fraction(system, contacts);
    double scale = fraction > random_fraction
                       ? pow(random_fraction / fraction, 1.0 / system->box.dimension)
                       : 1 + MARGIN;
    out.fraction = fmin(fraction, random_fraction);
    out.code = packing_make(&k, system, contacts, walker, positions);
    if (!out.code) {
        k.wanted = scale * scale;
        out.code = insert_all(&k, attempts, &out.inserted);
        if (!out.code && out.inserted < system->particles) out.code = EXIT_INPUT;
        if (!out.code && !long_ranged(system)) out.code = sort_by_cell(&k);
    }
    if (!out.code && scale < 1) out.code = grow(&k, contacts, scale, &out.scale);
    if (!out.code && out.scale < 1) out.code = EXIT_INPUT;
    packing_free(&k);
    return out;
}

/* Packing fraction of particles with their contact distance as diameter. */
static double contact_fraction(const plugmc_system *system, const contacts *contacts)
{
    double volume = 0;
    for (int32_t s = 0; s < contacts->species; s++)
        volume += (double)plugmc_species_at(system, s)->count *
                  ball_volume(system->box.dimension, contacts->between[s * contacts->species + s]);
    return volume / system->box.volume;
}

static int packing_make(packing *k, const plugmc_system *system, const contacts *contacts,
                        uint32_t walker, double *positions)
{
    const size_t n = (size_t)system->particles, kinds = (size_t)contacts->species;
    double *inverse = malloc(kinds * kinds * sizeof *inverse);
    *k = (packing){.system = system,
                   .inverse = inverse,
                   .walker = walker,
                   .x = positions,
                   .grid = cell_grid_make(&system->box, 1, system->particles, contacts->largest),
                   .sweep = COMPRESSION_SWEEPS};
    k->species = malloc(n * sizeof *k->species);
    k->head = malloc((size_t)k->grid.cells * sizeof *k->head);
    k->next = malloc(n * sizeof *k->next);
    k->close = calloc(n, 1);
    k->list = malloc(n * sizeof *k->list);
    if (!inverse || !k->species || !k->head || !k->next || !k->close || !k->list)
        return EXIT_MEMORY;
    for (size_t ab = 0; ab < kinds * kinds; ab++)
        inverse[ab] = 1 / (contacts->between[ab] * contacts->between[ab]);
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) k->species[i] = s;
    for (int64_t c = 0; c < k->grid.cells; c++) k->head[c] = -1;
    memset(positions, 0, 3 * n * sizeof *positions);
    k->step = 0.5 * contacts->largest;
    return EXIT_DONE;
}

static void packing_free(packing *k)
{
    free((void *)k->inverse);
    free(k->species);
    free(k->head);
    free(k->next);
    free(k->close);
    free(k->list);
}

/* ---- Neighbours ---- */

static double nearest_image(double x, double length)
{
    return x > 0.5 * length ? x - length : x < -0.5 * length ? x + length : x;
}

/* Smallest (distance / contact)^2 of a particle of the species of i at `at`, i itself left out;
 * may stop at the first one below `enough`. */
static double nearest_square(const packing *k, int64_t i, const double at[3], double enough)
{
    const plugmc_box *box = &k->system->box;
    const double *inverse = k->inverse + k->species[i] * k->system->species_count;
    const int periodic = k->grid.periodic, flat = box->dimension == 2;
    double nearest = INFINITY;
    int64_t around[27];
    int n = cells_around(&k->grid, cell_of(&k->grid, at), around);
    for (int c = 0; c < n; c++)
        for (int32_t j = k->head[around[c]]; j >= 0; j = k->next[j]) {
            if (j == i) continue;
            double x = at[0] - k->x[3 * j], y = at[1] - k->x[3 * j + 1], z = 0;
            if (!flat) z = at[2] - k->x[3 * j + 2];
            if (periodic) {
                x = nearest_image(x, box->length[0]);
                y = nearest_image(y, box->length[1]);
                if (!flat) z = nearest_image(z, box->length[2]);
            }
            double square = (x * x + y * y + z * z) * inverse[k->species[j]];
            if (square < nearest) nearest = square;
            if (nearest < enough) return nearest;
        }
    return nearest;
}

static void cell_add(packing *k, int64_t i)
{
    int32_t *head = &k->head[cell_of(&k->grid, &k->x[3 * i])];
    k->next[i] = *head;
    *head = (int32_t)i;
}

static void cell_remove(packing *k, int64_t i)
{
    int32_t *link = &k->head[cell_of(&k->grid, &k->x[3 * i])];
    while (*link != i) link = &k->next[*link];
    *link = k->next[i];
}

/* A number in (-1, 1), symmetric about 0. */
static double symmetric(uint32_t word) { return ((double)word + 0.5) * 0x1p-31 - 1; }

/* ---- Insertion ---- */

/* Particles of a batch: so few that it is rare that two of one meet. */
static int64_t batch_size(const plugmc_system *system)
{
    return system->particles / 64 > 1 ? system->particles / 64 : 1;
}

/* From the upright box with the same edges to the oblique one. */
static void shear(const plugmc_box *box, double at[3])
{
    double f[3];
    for (int d = 0; d < 3; d++) f[d] = at[d] / box->length[d];
    for (int d = 0; d < 3; d++)
        at[d] = f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
}

/* The first of its attempts, from `attempt` on, at which particle i is free of all that have a place;
 * `attempts` if there is none. It is left at that place. */
static int64_t first_free(packing *k, int64_t i, int64_t attempt, int64_t attempts)
{
    const plugmc_box *box = &k->system->box;
    for (; attempt < attempts; attempt++) {
        plugmc_random random = plugmc_draw(k->system->seed, (uint64_t)attempt, k->walker,
                                           (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
        double *at = &k->x[3 * i];
        for (int d = 0; d < box->dimension; d++)
            at[d] = 0.5 * box->length[d] * (symmetric(random.word[d]) + k->grid.periodic);
        if (box->oblique) shear(box, at);
        plugmc_wrap(box, at);
        if (forbidden(k->system, k->species[i], at)) continue;
        if (nearest_square(k, i, at, k->wanted) >= k->wanted) break;
    }
    return attempt;
}

/* Whether a cell around a place got a particle of this batch. */
static bool is_fresh(const packing *k, const int32_t *batch_of, int32_t batch, const double at[3])
{
    int64_t around[27];
    const int n = cells_around(&k->grid, cell_of(&k->grid, at), around);
    bool fresh = false;
    for (int c = 0; c < n; c++) fresh |= batch_of[around[c]] == batch;
    return fresh;
}

/* Particles first ... end - 1, one after the other, each at the first of its attempts at which it is
 * free. Those of a batch are free of all before the batch at first, which all threads find out; then in
 * their order, where another of the batch has come near, they look on from there. Returns how many found
 * a place. batch_of [cells]: which batch came to a cell last; *batches so far. */
static int64_t insert_some(packing *k, int64_t first, int64_t end, int64_t attempts,
                           int32_t *batch_of, int64_t *found, int32_t *batches)
{
    const int64_t size = batch_size(k->system), few = attempts < TOGETHER ? attempts : TOGETHER;
    for (int64_t begin = first; begin < end; begin += size) {
        const int64_t after = begin + size < end ? begin + size : end;
        const int32_t batch = ++*batches;
#pragma omp parallel for schedule(dynamic, 64) num_threads(k->system->threads)
        for (int64_t i = begin; i < after; i++) found[i - begin] = first_free(k, i, 0, few);
        for (int64_t i = begin; i < after; i++) {
            int64_t attempt = found[i - begin];
            const double *at = &k->x[3 * i];
            if (attempt == few || is_fresh(k, batch_of, batch, at))
                attempt = first_free(k, i, attempt, attempts);
            if (attempt == attempts) return i - first;
            batch_of[cell_of(&k->grid, at)] = batch;
            cell_add(k, i);
        }
    }
    return end - first;
}

/* Large species first. *inserted is how many found a place. EXIT_DONE or EXIT_MEMORY. */
static int insert_all(packing *k, int64_t attempts, int64_t *inserted)
{
    const plugmc_system *system = k->system;
    const int32_t kinds = system->species_count;
    int32_t *batch_of = calloc((size_t)k->grid.cells, sizeof *batch_of), batches = 0;
    int64_t *found = malloc((size_t)batch_size(system) * sizeof *found);
    const int code = batch_of && found ? EXIT_DONE : EXIT_MEMORY;
    bool full = code != EXIT_DONE;
    *inserted = 0;
    for (int32_t rank = 0; rank < kinds; rank++)
        for (int32_t s = 0; s < kinds; s++) {
            int32_t larger = 0;
            for (int32_t t = 0; t < kinds; t++) {
                double own = k->inverse[s * kinds + s], other = k->inverse[t * kinds + t];
                larger += other < own || (other == own && t < s);
            }
            if (larger != rank || full) continue;
            const int64_t own = insert_some(k, system->first[s], system->first[s + 1], attempts,
                                            batch_of, found, &batches);
            *inserted += own;
            full = own < system->first[s + 1] - system->first[s];
        }
    free(batch_of);
    free(found);
    return code;
}

/* Numbers the particles anew, within their species in the order of their cells: neighbours in
 * space are neighbours in memory. Not for long_ranged systems. */
static int sort_by_cell(packing *k)
{
    const plugmc_system *system = k->system;
    const size_t bytes = 3 * (size_t)system->particles * sizeof *k->x;
    double *sorted = malloc(bytes);
    int64_t *next = malloc((size_t)(system->species_count + 1) * sizeof *next);
    if (sorted && next) {
        memcpy(next, system->first, (size_t)(system->species_count + 1) * sizeof *next);
        for (int64_t c = 0; c < k->grid.cells; c++) {
            for (int32_t j = k->head[c]; j >= 0; j = k->next[j])
                memcpy(&sorted[3 * next[k->species[j]]++], &k->x[3 * j], 3 * sizeof *k->x);
            k->head[c] = -1;
        }
        memcpy(k->x, sorted, bytes);
        for (int64_t i = 0; i < system->particles; i++) cell_add(k, i);
    }
    int code = sorted && next ? EXIT_DONE : EXIT_MEMORY;
    free(sorted);
    free(next);
    return code;
}

/* ---- Compression ---- */

/* One trial move by the rule above. */
static int trial(packing *k, int64_t i, double step)
{
    const plugmc_box *box = &k->system->box;
    plugmc_random random =
        plugmc_draw(k->system->seed, k->sweep, k->walker, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
    double at[3] = {0}, *old = &k->x[3 * i], enough = k->wanted;
    if (k->close[i]) step *= steps[random.word[3] & 3];
    for (int d = 0; d < box->dimension; d++) at[d] = old[d] + step * symmetric(random.word[d]);
    plugmc_wrap(box, at);
    if (k->close[i]) enough = fmin(enough, nearest_square(k, i, old, 0));
    double nearest = nearest_square(k, i, at, enough);
    if (nearest < enough || forbidden(k->system, k->species[i], at)) return 0;
    cell_remove(k, i);
    memcpy(old, at, sizeof at);
    cell_add(k, i);
    k->close[i] = nearest < k->wanted;
    return 1;
}

/* One trial a particle; the step follows the acceptance. */
static void sweep_all(packing *k)
{
    const double largest = 0.5 * fmin(k->system->box.length[0], k->system->box.length[1]);
    int64_t accepted = 0;
    for (int64_t i = 0; i < k->system->particles; i++) accepted += trial(k, i, k->step);
    k->sweep++;
    k->step *= (double)accepted > WANTED_ACCEPTANCE * (double)k->system->particles ? 1.05 : 0.95;
    k->step = fmin(k->step, largest);
}

/* Marks and lists the particles that are too close to one another, returns how many. *nearest is
 * the smallest (distance / contact)^2 of all pairs. */
static int64_t find_close(packing *k, double *nearest)
{
    int64_t count = 0;
    *nearest = INFINITY;
    for (int64_t i = 0; i < k->system->particles; i++) {
        double own = nearest_square(k, i, &k->x[3 * i], 0);
        k->close[i] = own < k->wanted;
        if (k->close[i]) k->list[count++] = (int32_t)i;
        *nearest = fmin(*nearest, own);
    }
    return count;
}

/* Further trial moves of the `count` particles in the list, while they are too close. Returns how
 * many may still be. */
static int64_t repair(packing *k, int64_t count)
{
    for (int pass = 0; pass < REPAIRS && count; pass++, k->sweep++) {
        int64_t left = 0;
        for (int64_t e = 0; e < count; e++) {
            const int32_t i = k->list[e];
            if (k->close[i]) trial(k, i, k->step);
            if (k->close[i]) k->list[left++] = i;
        }
        count = left;
    }
    return count;
}

/* Returns the scale reached: that of the target, or less if compression comes to rest. */
static double compress(packing *k, double scale)
{
    const double target = 1 + MARGIN;
    const int64_t few = k->system->particles / FEW;
    double nearest = 0, growth = LARGEST_GROWTH;
    int64_t close = 0, fewest = 0; /* too close to another; the least at this scale */
    for (int waited = 0; waited < PATIENCE; waited++) {
        if (close <= few && scale < target) {
            growth *= waited > 1 ? 0.9 : 1.05; /* slower where they need time to make room */
            growth = fmin(fmax(growth, SMALLEST_GROWTH), LARGEST_GROWTH);
            scale = fmin(scale * (1 + growth), target);
            k->wanted = scale * scale;
            fewest = INT64_MAX;
        }
        close = find_close(k, &nearest);
        if (!close && scale >= target) return scale;
        if (close < fewest) {
            fewest = close;
            waited = 0;
        }
        sweep_all(k);
        close = repair(k, close);
    }
    return sqrt(nearest);
}
