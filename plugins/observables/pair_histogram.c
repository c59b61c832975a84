/* pair_histogram.c: see pair_histogram.h. */
#include "pair_histogram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "walker_boxes.h"

#define FRAMES_DIFFER 1
#include PLUGMC_KERNEL_FILE

PLUGMC_EMBED(pair_histogram_kernels, PLUGMC_KERNEL_FILE);

/* ---- Counting on the CPU ------------------------------------------------------------------- */

/* Histograms of one thread and walker, [rows + 1][bins], added up when a block of points is done.
 */
static void add_counts(const pair_task *t, uint32_t walker, uint32_t *histograms)
{
    const size_t size = (size_t)t->rows * (size_t)t->bins;
    for (size_t b = 0; b < size; b++)
        if (histograms[b] > 0)
            __atomic_fetch_add(&t->counts[walker * size + b], histograms[b], __ATOMIC_RELAXED);
    memset(histograms, 0, size * sizeof *histograms);
}

/* Bins of the distances of one point from n <= PAIR_BLOCK others; t->bins where there is none. */
static PLUGMC_TARGETS void bins_of(const pair_task *t, const pair_scale *s, pair_point a,
                                   const uint32_t *x, const uint32_t *y, const uint32_t *z,
                                   int32_t n, int32_t *bin)
{
    const pair_task task = *t;
    const pair_scale scale = *s;
    for (int32_t j = 0; j < n; j++) {
        const float square = square_between(&scale, task.oblique, a.x, a.y, a.z, x[j], y[j], z[j]);
        const int32_t found = bin_of(&task, square);
        bin[j] = square < task.reach_square && found < task.bins ? found : task.bins;
    }
}

/* Pairs of point k with all after it. */
static void count_all_after(const pair_task *t, uint32_t walker, uint32_t k, uint32_t *histograms)
{
    const uint32_t *fixed = t->fixed + (uint64_t)walker * FIXED_PARTS * t->points;
    const uint32_t *tags = fixed + (uint64_t)FIXED_TAG * t->points;
    const pair_point a = point_at(t, walker, k);
    const int32_t *row = rows_of(t, a);
    int32_t bin[PAIR_BLOCK];
    for (uint32_t first = k + 1; first < t->points; first += PAIR_BLOCK) {
        const uint32_t left = t->points - first;
        const int32_t n = (int32_t)(left < PAIR_BLOCK ? left : PAIR_BLOCK);
        bins_of(t, scale_of(t, walker), a, fixed + first,
                fixed + (uint64_t)FIXED_Y * t->points + first,
                fixed + (uint64_t)FIXED_Z * t->points + first, n, bin);
        for (int32_t j = 0; j < n; j++)
            if (bin[j] < t->bins)
                histograms[row[point_species(tags[first + j])] * t->bins + bin[j]] +=
                    is_reference(a.tag) + is_reference(tags[first + j]);
    }
}

static void place_on_host(const pair_task *t, int32_t walker)
{
    unsigned long long *references = t->references + (int64_t)walker * t->species_count;
    for (uint32_t k = 0; k < points_present(t, (uint32_t)walker); k++) {
        const pair_point p = make_point(t, (uint32_t)walker, k);
        store_point(t, (uint32_t)walker, k, p);
        if (is_reference(p.tag) && point_is_yours(t, (uint32_t)walker, k))
            references[point_species(p.tag)]++;
    }
}

/* Blocks are handed out as threads become free: counts are integers, the order is not seen. */
static int count_on_host(const pair_histogram *h, const plugmc_host *host, const pair_task *t)
{
    const int32_t walkers = h->system->walkers, threads = h->system->threads;
    const uint32_t blocks = (t->points + PAIR_BLOCK - 1) / PAIR_BLOCK;
    int short_of_memory = 0;
    memset(h->counts, 0, h->count_bytes);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int32_t walker = 0; walker < walkers; walker++) place_on_host(t, walker);
#pragma omp parallel num_threads(threads) reduction(| : short_of_memory)
    {
        uint32_t *local = calloc((size_t)t->rows * (size_t)t->bins, sizeof *local);
        short_of_memory = local == NULL;
#pragma omp for schedule(dynamic) collapse(2)
        for (int32_t walker = 0; walker < walkers; walker++)
            for (uint32_t block = 0; block < blocks; block++) {
                const uint32_t first = block * PAIR_BLOCK,
                               all = points_present(t, (uint32_t)walker);
                const uint32_t end = first + PAIR_BLOCK < all ? first + PAIR_BLOCK : all;
                for (uint32_t k = first; k < end && local; k++)
                    if (!h->in_cells)
                        count_all_after(t, (uint32_t)walker, k, local);
                    else if (point_is_yours(t, (uint32_t)walker, k))
                        count_in_cells(t, (uint32_t)walker, k, local);
                if (local) add_counts(t, (uint32_t)walker, local);
            }
        free(local);
    }
    return short_of_memory ? host->fail(host->context, PLUGMC_ERROR_MEMORY,
                                        "no memory for the histograms of the threads")
                           : PLUGMC_OK;
}

/* ---- Counting on the GPU ------------------------------------------------------------------- */

/* Copies of the histograms of a block, as many as leave room for several blocks; the number of
 * words of a copy is odd. */
static void choose_copies(const plugmc_gpu *gpu, pair_task *t)
{
    enum { MOST = 8, BYTES = 24 << 10 };
    t->copy_size = t->rows * t->bins | 1;
    for (t->copies = MOST; t->copies > 1; t->copies /= 2)
        if (t->copies * t->copy_size * (int32_t)sizeof(uint32_t) <= BYTES) break;
    const int32_t tile = PAIR_BLOCK * sizeof(pair_point);
    if (t->copy_size * (int32_t)sizeof(uint32_t) + tile > gpu->shared_per_block)
        t->copy_size = t->rows * t->bins; /* prepare has seen that this fits */
}

static int count_on_device(const pair_histogram *h, const plugmc_host *host, pair_task *t)
{
    const plugmc_gpu *gpu = host->gpu;
    const uint32_t walkers = (uint32_t)h->system->walkers, block[3] = {PAIR_BLOCK, 1, 1};
    const uint32_t tiles = (t->points + PAIR_BLOCK - 1) / PAIR_BLOCK;
    choose_copies(gpu, t);
    int code = gpu->fill(host->context, h->gpu.counts, 0, h->count_bytes);
    if (!code && h->gpu.scales)
        code = gpu->upload(host->context, h->gpu.scales, h->scales, walkers * sizeof *h->scales);
    if (!code)
        code = gpu->launch(host->context, h->gpu.place_points, (uint32_t[3]){tiles, walkers, 1},
                           block, 0, (void *[]){t});
    const uint32_t shared = (uint32_t)(t->copies * t->copy_size) * (uint32_t)sizeof(uint32_t);
    if (!code && h->in_cells)
        code = gpu->launch(host->context, h->gpu.in_cells, (uint32_t[3]){tiles, walkers, 1}, block,
                           shared, (void *[]){t});
    if (!code && !h->in_cells) {
        /* enough blocks to fill the GPU, and counts of a block that fit in 32 bits */
        enum { BLOCKS_A_MULTIPROCESSOR = 64, POINTS_A_BLOCK = 1 << 22 };
        uint32_t parts =
            (uint32_t)gpu->multiprocessors * BLOCKS_A_MULTIPROCESSOR / (tiles * walkers) + 1;
        parts = parts > tiles / 2 + 1 ? tiles / 2 + 1 : parts;
        parts = parts < t->points / POINTS_A_BLOCK + 1 ? t->points / POINTS_A_BLOCK + 1 : parts;
        code = gpu->launch(host->context, h->gpu.all_pairs, (uint32_t[3]){tiles, parts, walkers},
                           block, shared, (void *[]){t});
    }
    return code ? code : gpu->download(host->context, h->counts, h->gpu.counts, h->count_bytes);
}

/* ---- One measurement ----------------------------------------------------------------------- */

/* Fractions of the box, of its edges or of the cube around the sphere; there a fraction of 1 is
 * 2^31, since differences do not wrap. */
static void set_scale(const plugmc_box *box, const plugmc_cells *cells, pair_scale *s)
{
    const int sphere = box->domain == PLUGMC_DOMAIN_SPHERE;
    const double one = sphere ? 0x1p31 : 0x1p32;
    for (int d = 0; d < box->dimension; d++) {
        s->offset[d] = sphere ? 0.5 * one : 0;
        for (int e = 0; e < box->dimension; e++) {
            const double inverse = box->oblique ? box->inverse[e][d]
                                   : e == d     ? 1 / box->length[d]
                                                : 0;
            const double vector = box->oblique ? box->vector[d][e] : e == d ? box->length[d] : 0;
            s->to_fixed[e][d] = inverse * one;
            s->to_length[d][e] = (float)(vector / one);
        }
    }
    for (int d = 0; d < 3; d++) s->width[d] = box->length[d] / cells->count[d];
}

static pair_task task_of(const pair_histogram *h, const plugmc_view *view,
                         const plugmc_cells *cells)
{
    const plugmc_system *system = h->system;
    const plugmc_box *box = &system->box;
    const int sphere = box->domain == PLUGMC_DOMAIN_SPHERE;
    const double inner = box->radius - h->margin;
    const size_t sum_words = h->count_bytes / sizeof *h->counts -
                             (size_t)system->walkers * (size_t)system->species_count;
    pair_task t = {
        .positions = h->in_cells ? cells->positions : view->positions,
        .order = h->in_cells ? cells->order : NULL,
        .start = cells->start,
        .species = h->species,
        .row = h->row,
        .fixed = h->fixed,
        .counts = h->counts,
        .references = h->counts + sum_words,
        .scales = h->scales,
        .reference_square = sphere ? inner * inner : INFINITY,
        .origin = sphere ? -box->radius : 0,
        .reach_square = (float)(h->range * h->range),
        .bins_per_length = (float)((double)h->bins / h->range),
        .points = (uint32_t)system->particles,
        .cells = (uint32_t)cells->cells,
        .species_count = system->species_count,
        .rows = (int32_t)h->rows + 1,
        .bins = (int32_t)h->bins,
        .oblique = box->oblique,
        .periodic = !sphere,
        .copies = 1,
        .share = plugmc_share_of(view),
    };
    memcpy(t.count, cells->count, sizeof t.count);
    for (int32_t w = 0; w < system->walkers; w++) set_scale(&view->box[w], cells, &h->scales[w]);
    if (box->dimension == 2) t.count[2] = 1;
    if (view->on_device) {
        t.species = (const uint16_t *)(uintptr_t)h->gpu.species;
        t.row = (const int32_t *)(uintptr_t)h->gpu.row;
        t.fixed = (uint32_t *)(uintptr_t)h->gpu.fixed;
        t.counts = (unsigned long long *)(uintptr_t)h->gpu.counts;
        t.references = t.counts + sum_words;
        t.scales = (const pair_scale *)(uintptr_t)h->gpu.scales;
        t.scale = h->scales[0];
    }
    return t;
}

int pair_histogram_measure(pair_histogram *h, const plugmc_host *host, const plugmc_view *view,
                           double *values)
{
    plugmc_cells cells = {.size = sizeof cells};
    int code = check_reach(host, view, h->range, "r_max");
    if (!code && h->in_cells) code = view->cells(view, h->range, &cells);
    if (code) return code;
    pair_task task = task_of(h, view, &cells);
    code = view->on_device ? count_on_device(h, host, &task) : count_on_host(h, host, &task);
    if (code) return code;
    const int64_t size = h->rows * h->bins, all = size + h->bins, walkers = h->system->walkers;
    const int64_t kinds = h->system->species_count;
    for (int64_t w = 0; w < walkers; w++) {
        double *out = values + w * h->width;
        for (int64_t b = 0; b < size; b++) out[b] = (double)h->counts[w * all + b];
        for (int64_t s = 0; s < kinds; s++)
            out[size + s] = (double)h->counts[walkers * all + w * kinds + s];
    }
    return PLUGMC_OK;
}

double pair_histogram_reach(const pair_histogram *h) { return h->in_cells ? h->range : INFINITY; }

int pair_histogram_quantity(const pair_histogram *h, int index, plugmc_quantity *out)
{
    if (index < h->rows)
        return plugmc_array(out, h->pair_names[index], "",
                            "pairs in a bin, counted once per reference particle", h->bins, "r",
                            h->radius);
    if (index >= h->rows + h->system->species_count) return 0;
    return plugmc_scalar(out, h->reference_names[index - h->rows], "",
                         "number of reference particles");
}

/* ---- What follows from the counts ---------------------------------------------------------- */

static double references_of(const pair_histogram *h, const double *raw, int32_t species)
{
    return raw[h->rows * h->bins + species];
}

double pair_histogram_density(const pair_histogram *h, const double *raw, int32_t species)
{
    return references_of(h, raw, species) / h->volume;
}

int pair_histogram_g(const pair_histogram *h, const double *raw, int64_t row, double volume,
                     double *g)
{
    const int32_t a = h->first[row], b = h->second[row];
    const double pairs = references_of(h, raw, a) * references_of(h, raw, b) * (a == b ? 1 : 2);
    if (!(pairs > 0)) return 1;
    for (int64_t i = 0; i < h->bins; i++)
        g[i] = raw[row * h->bins + i] * volume / (pairs * h->shell[i]);
    return 0;
}

int pair_histogram_g_of_ions(const pair_histogram *h, const double *raw, int64_t row, double *g)
{
    const double all = (double)h->system->particles;
    const int numbers_change = (h->system->changes & PLUGMC_CHANGED_COUNT) != 0;
    int code = pair_histogram_g(h, raw, row, h->volume, g);
    for (int64_t i = 0; i < h->bins && !code && !numbers_change; i++) g[i] *= all / (all - 1);
    return code;
}

int pair_histogram_charge(const pair_histogram *h, const double *raw, int32_t species, double *rho)
{
    const plugmc_system *system = h->system;
    double *g = malloc((size_t)h->bins * sizeof *g);
    int code = g == NULL;
    memset(rho, 0, (size_t)h->bins * sizeof *rho);
    for (int32_t b = 0; b < system->species_count && !code; b++) {
        const int32_t row = h->row[species * (system->species_count + 1) + b];
        const double charge =
            plugmc_species_at(system, b)->charge * pair_histogram_density(h, raw, b);
        if (row == h->rows || charge == 0) continue;
        code = pair_histogram_g_of_ions(h, raw, row, g);
        for (int64_t i = 0; i < h->bins && !code; i++) rho[i] += charge * g[i];
    }
    free(g);
    return code;
}

/* ---- Preparation --------------------------------------------------------------------------- */

static double ball(int dimension, double radius)
{
    return dimension == 2 ? M_PI * radius * radius : 4 * M_PI / 3 * radius * radius * radius;
}

/* Whether a sampled field keeps a particle of a species away from a place on an axis. */
static int is_kept_out(const plugmc_system *system, int32_t s, int axis, double at)
{
    double r[3] = {0, 0, 0}, unused = 0;
    r[axis] = at;
    const plugmc_species *of = plugmc_species_at(system, s);
    const plugmc_particles one = {1, &r[0], &r[1], &r[2], &of->charge, &of->diameter, &s};
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_field *field = term->sampled ? term->plugin->potential->field : NULL;
        if (field && field->energy(term->instance, &one, &unused) > 0) return 1;
    }
    return 0;
}

/* How far in from the surface of a sphere walls keep the centres of some species: half of its diameter, say. */
static double kept_free(const plugmc_system *system)
{
    const double radius = system->box.radius;
    double most = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int axis = 0; axis < system->box.dimension; axis++) {
            double free = 0, taken = radius;
            if (plugmc_species_at(system, s)->count == 0 || is_kept_out(system, s, axis, 0) ||
                !is_kept_out(system, s, axis, radius * (1 - 1e-9)))
                continue;
            for (int k = 0; k < 50; k++) {
                const double middle = 0.5 * (free + taken);
                *(is_kept_out(system, s, axis, middle) ? &taken : &free) = middle;
            }
            most = fmax(most, radius - free);
        }
    return most;
}

static int choose_range(pair_histogram *h, const plugmc_host *host, double r_max, double margin)
{
    const plugmc_box *box = &h->system->box;
    if (box->domain == PLUGMC_DOMAIN_PERIODIC) {
        const double half = narrowest(box) / 2;
        if (margin > 0)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "margin = %g needs a sphere, but the box is periodic", margin);
        if (r_max > half)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "r_max = %g exceeds half the smallest %s of the box, %g", r_max,
                              box->oblique ? "height" : "edge", half);
        if (!(r_max > 0) && boxes_change(h->system))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "r_max must be given, since a mover changes the box");
        h->range = r_max > 0 ? r_max : half;
        h->volume = box->volume;
        return PLUGMC_OK;
    }
    const double kept = kept_free(h->system);
    h->range = r_max > 0 ? r_max : box->radius / 3;
    h->margin = margin > 0 ? margin : h->range + kept;
    if (h->range > h->margin)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "r_max = %g exceeds margin = %g: the wall would cut shells around "
                          "particles close to it",
                          h->range, h->margin);
    if (h->range > h->margin * (1 + 1e-9) - kept)
        host->warn(host->context,
                   "a wall excludes particles within %g of the surface, so shells beyond %g "
                   "are cut for some reference particles, and g is too small there: margin "
                   "should be %g",
                   kept, h->margin - kept, h->range + kept);
    if (h->margin >= box->radius)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "margin = %g leaves nothing of a sphere of radius %g: use a "
                          "smaller margin or a larger system",
                          h->margin, box->radius);
    h->volume = ball(box->dimension, box->radius - h->margin);
    return PLUGMC_OK;
}

/* Cells where those around a particle are less than a quarter of all. */
static void choose_method(pair_histogram *h, int32_t method)
{
    const plugmc_box *box = &h->system->box;
    double cells = 1, around = 1;
    for (int d = 0; d < box->dimension; d++) {
        cells *= fmax(1, floor(box->length[d] / h->range));
        around *= 3;
    }
    h->in_cells = method == PAIR_CELLS || (method == PAIR_AUTO && cells >= 4 * around);
    if (box->oblique) h->in_cells = 0; /* there would be only one */
    if (h->system->changes & PLUGMC_CHANGED_COUNT) h->in_cells = 0;
}

static char *joined(const plugmc_host *host, const char *before, const char *a, const char *between,
                    const char *b)
{
    const size_t bytes = strlen(before) + strlen(a) + strlen(between) + strlen(b) + 1;
    char *out = host->allocate(host->context, bytes);
    if (out) snprintf(out, bytes, "%s%s%s%s", before, a, between, b);
    return out;
}

static int64_t most_of(const plugmc_system *system, int32_t s)
{
    const plugmc_species *species = plugmc_species_at(system, s);
    return species->capacity > species->count ? species->capacity : species->count;
}

/* Numbers and names the pairs of species; those that are not wanted or cannot be get the number after the last. */
static int number_rows(pair_histogram *h, const plugmc_host *host, const unsigned char *wanted)
{
    const plugmc_system *system = h->system;
    const int32_t n = h->system->species_count, stride = n + 1;
    int complete = 1;
    for (int pass = 0; pass < 2; pass++) {
        int32_t rows = 0;
        for (int32_t a = 0; a < n; a++) {
            for (int32_t b = a; b < n; b++) {
                const int possible = (!wanted || wanted[a * n + b]) &&
                                     (a == b ? most_of(system, a) > 1
                                             : most_of(system, a) > 0 && most_of(system, b) > 0);
                h->row[a * stride + b] = h->row[b * stride + a] =
                    possible ? rows : (int32_t)h->rows;
                if (!possible) continue;
                h->first[rows] = a;
                h->second[rows] = b;
                if (pass == 0) {
                    h->names[rows] = joined(host, "", plugmc_species_at(system, a)->name, "-",
                                            plugmc_species_at(system, b)->name);
                    h->pair_names[rows] = joined(host, "pairs_", plugmc_species_at(system, a)->name,
                                                 "-", plugmc_species_at(system, b)->name);
                    complete &= h->names[rows] && h->pair_names[rows];
                }
                rows++;
            }
        }
        h->rows = rows;
        for (int32_t a = 0; a <= n; a++) h->row[a * stride + n] = h->row[n * stride + a] = rows;
    }
    for (int32_t s = 0; s < n; s++) {
        h->reference_names[s] =
            joined(host, "references_", plugmc_species_at(system, s)->name, "", "");
        complete &= h->reference_names[s] != NULL;
    }
    return complete ? PLUGMC_OK
                    : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for names");
}

static int allocate_host(pair_histogram *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    const size_t n = (size_t)system->species_count, bins = (size_t)h->bins,
                 walkers = (size_t)system->walkers, particles = (size_t)system->particles;
    const size_t most = n * (n + 1) / 2;
    const struct {
        void *at;
        size_t bytes;
    } wanted[] = {
        {&h->radius, bins * sizeof *h->radius},
        {&h->shell, bins * sizeof *h->shell},
        {&h->names, most * sizeof *h->names},
        {&h->pair_names, most * sizeof *h->pair_names},
        {&h->reference_names, n * sizeof *h->reference_names},
        {&h->first, most * sizeof *h->first},
        {&h->second, most * sizeof *h->second},
        {&h->row, (n + 1) * (n + 1) * sizeof *h->row},
        {&h->species, particles * sizeof *h->species},
        {&h->scales, walkers * sizeof *h->scales},
        {&h->fixed, host->gpu ? 1 : walkers * FIXED_PARTS * particles * sizeof *h->fixed},
        {&h->counts, walkers * ((most + 1) * bins + n) * sizeof *h->counts},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *memory = host->allocate(host->context, wanted[i].bytes);
        if (!memory)
            return host->fail(host->context, PLUGMC_ERROR_MEMORY,
                              "no memory for %zu bins of %zu "
                              "pairs of species and %zu particles",
                              bins, most, particles);
        memcpy(wanted[i].at, &memory, sizeof memory);
    }
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++)
            h->species[i] = (uint16_t)s;
    return PLUGMC_OK;
}

static void make_bins(pair_histogram *h)
{
    const double width = h->range / (double)h->bins;
    const int dimension = h->system->box.dimension;
    for (int64_t i = 0; i < h->bins; i++) {
        h->radius[i] = h->range * ((double)i + 0.5) / (double)h->bins;
        h->shell[i] = ball(dimension, width * (double)(i + 1)) - ball(dimension, width * (double)i);
    }
}

int pair_histogram_gpu_source(void *instance, const plugmc_host *host, int index,
                              plugmc_gpu_source *out)
{
    (void)instance;
    plugmc_set_gpu_source(out, &(plugmc_gpu_source){.name = "pair_histogram.cu",
                                                    .source = pair_histogram_kernels,
                                                    .defines = frame_defines(host->system),
                                                    .double_precision = 1});
    return index == 0;
}

static int prepare_device(pair_histogram *h, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    const plugmc_system *system = h->system;
    const size_t n = (size_t)system->species_count + 1, row = n * n * sizeof *h->row,
                 particles = (size_t)system->particles, species = particles * sizeof *h->species;
    const int64_t tile = PAIR_BLOCK * sizeof(pair_point),
                  shared = tile + (h->rows + 1) * h->bins * (int64_t)sizeof(uint32_t);
    if (shared > gpu->shared_per_block)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%lld histograms of %lld bins need %lld bytes of shared memory, "
                          "but a block of this GPU has %d: use fewer bins",
                          (long long)h->rows + 1, (long long)h->bins, (long long)shared,
                          gpu->shared_per_block);
    plugmc_gpu_source text = {.size = sizeof text};
    pair_histogram_gpu_source(NULL, host, 0, &text);
    int code = gpu->kernel(host->context, &text, "place_points", &h->gpu.place_points);
    if (!code) code = gpu->kernel(host->context, &text, "in_cells", &h->gpu.in_cells);
    if (!code) code = gpu->kernel(host->context, &text, "all_pairs", &h->gpu.all_pairs);
    if (!code) code = gpu->allocate(host->context, species, &h->gpu.species);
    if (!code) code = gpu->allocate(host->context, row, &h->gpu.row);
    if (!code)
        code = gpu->allocate(host->context,
                             (size_t)system->walkers * FIXED_PARTS * particles * sizeof *h->fixed,
                             &h->gpu.fixed);
    if (!code) code = gpu->allocate(host->context, h->count_bytes, &h->gpu.counts);
    if (!code && boxes_change(system))
        code = gpu->allocate(host->context, (size_t)system->walkers * sizeof *h->scales,
                             &h->gpu.scales);
    if (!code) code = gpu->upload(host->context, h->gpu.species, h->species, species);
    if (!code) code = gpu->upload(host->context, h->gpu.row, h->row, row);
    return code;
}

int pair_histogram_prepare(pair_histogram *h, const plugmc_host *host, double r_max, int64_t bins,
                           double margin, int32_t method, const unsigned char *wanted)
{
    const plugmc_system *system = host->system;
    h->system = system;
    h->bins = bins;
    int code = choose_range(h, host, r_max, margin);
    if (!code) code = allocate_host(h, host);
    if (!code) code = number_rows(h, host, wanted);
    if (!code && (h->rows + 1) * h->bins > INT32_MAX)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%lld histograms of %lld bins are too many: use fewer bins",
                          (long long)h->rows + 1, (long long)h->bins);
    if (code) return code;
    make_bins(h);
    choose_method(h, method);
    h->width = h->rows * h->bins + system->species_count;
    h->count_bytes = (size_t)system->walkers * sizeof *h->counts *
                     (size_t)((h->rows + 1) * h->bins + system->species_count);
    return host->gpu ? prepare_device(h, host) : PLUGMC_OK;
}
