/* hard_pressure: the pressure of hard disks and spheres, by two estimators that must agree.
 *
 * Scaling the periodic box along axis a moves every pair apart along a, and a state is lost where
 * a pair is in contact. With V the volume and r the separation of a pair (x along a), contact
 * distance s,
 *
 *     beta P_a V = N + < sum over pairs of delta(r - s+) x^2 / r >.                          (1)
 *
 * Rifts (`pressure`, `pressure_x`, ...). Move particle i along a and hold everything else: it is
 * uniform over the rift, its free path up plus that down, of length l, so the density of finding
 * it at either end is 1/l. There |dr/dx| = |x|/s, so each end gives |x|/l to (1), and each pair is
 * met from both of its particles:
 *
 *     beta P_a V = N + 1/2 < sum_i (|x_up| + |x_down|) / l >.                                (2)
 *
 * Exact for any N, any box and any mixture; a particle with nothing in its way along the whole
 * box adds nothing. See B. Li, Y. Nishikawa, P. Hoellmer, L. Carillo, A. C. Maggs, W. Krauth,
 * J. Chem. Phys. 157, 234111 (2022) on rifts and on estimators without a fit. Pressures are in kT a
 * volume, as everywhere; `pressure` is the mean over the axes. Where all contacts have one distance s,
 * `reduced_pressure` is beta P s^d with d the dimension, which the literature on hard particles
 * gives. A mixture with several contact distances has none: no one of them is the unit.
 *
 * What to know of its error bar: a rift of length l has a probability proportional to l where l is
 * small, so the mean of 1/l is finite, but its variance grows as the logarithm of the number of
 * samples. This is the border case of the central limit theorem: sums are still normal, and so is
 * (mean - exact) / (error bar from the samples), so error bars and z-scores mean what they always
 * do. But the variance of one sample is no fixed number: now and then a very short rift makes a
 * sample stand out, and the error bar falls a little slower than one over the root of their number.
 * Seen: N variance / mean^2 of one sample is 4 for disks at packing fraction 0.65, 2.5 for spheres
 * at density 0.6, 2 to 7 for rods.
 *
 * Extrapolation (`g_contact`, `pressure_fit`): fit.h.
 *
 * In a box that changes V is that of each sample. What is extrapolated is not linear in the mean density
 * and the mean g then, so `pressure_fit` is a number of each sample there, and not derived from means.
 */
#include <string.h>

#include <plugmc/everything.h>

#include "../kept_frames.h"
#include "contacts.h"
#include "fit.h"
#include CELL_STRIPS_FILE

#include PLUGMC_KERNEL_FILE

PLUGMC_EMBED(cell_strips_text, CELL_STRIPS_FILE);
PLUGMC_EMBED(hard_pressure_kernel, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(strips_kernel, PRESSURE_STRIPS_FILE);

enum { FIT_AUTO, FIT_YES, FIT_NO };
enum { MOST_BINS = 10000 };

typedef struct hard_pressure_gpu {
    plugmc_kernel *rifts, *rifts_and_pairs, *left, *alone, *pairs;
    plugmc_device_pointer species, contact, counters[2], entries_left;
    int32_t set, clear[2]; /* which counters are used next; 1: they are 0 */
} hard_pressure_gpu;

typedef struct hard_pressure {
    /* parameters */
    int32_t fit;
    real delta_r, fit_range;
    int64_t degree;

    int32_t dimension, walkers, threads;
    int32_t reduced, fit_of_sample; /* one contact distance; a fit in a box that changes */
    int32_t scalars;                /* measured: the pressures, and what these two add */
    int64_t particles;
    double volume; /* of the box at the start */
    double range;  /* of the neighbours looked at */
    double reach;  /* how far from a share of the particles it sees */
    hard_contacts contacts;
    contact_fit at_contact;

    /* Counters: shares [walkers][3], then histogram [walkers][bins], then troubles [TROUBLES]. */
    size_t counter_bytes; /* of one copy */
    int32_t copies;       /* that blocks of a GPU share; the first is the sum of all in the end */
    char *counters;

    kept_frames frames;
    hard_pressure_gpu gpu;
} hard_pressure;

/* ---- What is measured ---------------------------------------------------------------------- */

static uint64_t *shares_of(char *counters) { return (uint64_t *)counters; }

static uint32_t *histogram_of(const hard_pressure *h, char *counters)
{
    return (uint32_t *)(counters + (size_t)h->walkers * 3 * sizeof(uint64_t));
}

static uint32_t *troubles_of(const hard_pressure *h, char *counters)
{
    return histogram_of(h, counters) + (size_t)h->walkers * (size_t)h->at_contact.bins;
}

/* The smallest of any walker. */
static double volume_of(const hard_pressure *h, const plugmc_view *view)
{
    double volume = INFINITY;
    for (int32_t w = 0; w < h->walkers; w++) volume = fmin(volume, view->box[w].volume);
    return volume;
}

/* How seldom a free path is as long as one contact distance, as -ln of that: its mean length is
 * 1 / (Z - 1) contact distances or less, Z by scaled-particle theory. */
static double rareness_of_long_paths(const hard_pressure *h, double volume)
{
    const double covered = fmin(h->contacts.covered / volume, 0.95);
    return 1 / ((1 - covered) * (1 - covered)) - 1;
}

/* So far, in contact distances, the strips along both axes hold ten others, for whom there is room in a list. */
static double crossed(const hard_pressure *h, double volume)
{
    const double density =
        (double)h->particles * h->contacts.largest * h->contacts.largest / volume;
    return (10 / density + 4) / 8;
}

/* In a plane: how far to look for whoever is touched first, in cells and in length, so that it is hardly
 * ever farther away. */
static void choose_surroundings(const hard_pressure *h, const plugmc_view *view,
                                const plugmc_cells *cells, pressure_task *t)
{
    double width = INFINITY, volume = INFINITY;
    for (int32_t w = 0; w < h->walkers; w++) volume = fmin(volume, view->box[w].volume);
    const double rare = rareness_of_long_paths(h, volume);
    for (int32_t w = 0; w < h->walkers; w++)
        for (int a = 0; a < 2; a++) width = fmin(width, view->box[w].length[a] / cells->count[a]);
    t->near = (width / h->contacts.largest - 1) * rare > 3 ? 1 : 2;
    t->around = fmax(1.01 * h->range,
                     h->contacts.largest * fmin(1 + 9 / rare, crossed(h, volume_of(h, view))));
    const double seen = fmin(t->around, (t->near + 0.5) * width) / h->contacts.largest;
    t->seldom = 4 * exp(-rare * (seen - 1)) < 0.1;
    if (t->share.begin != t->share.end) t->around = fmin(t->around, h->reach);
}

static pressure_task task_of(const hard_pressure *h, const plugmc_view *view,
                             const plugmc_cells *cells, int32_t species_count)
{
    pressure_task t = {
        .largest = h->contacts.largest,
        .reach = h->range,
        .bins_per_length =
            h->at_contact.bins > 0 ? h->at_contact.bins / (h->range - h->contacts.largest) : 0,
        .overlap = 1 - 1e-4, /* more than rounding, even that of positions in float */
        .start = cells->start,
        .order = cells->order,
        .positions = cells->positions,
        .species = h->contacts.species,
        .contact = h->contacts.distance,
        .particles = (uint32_t)h->particles,
        .cells = (uint32_t)cells->cells,
        .species_count = species_count,
        .bins = h->at_contact.bins,
        .share = plugmc_share_of(view),
        .seen = h->reach - h->contacts.largest,
    };
    memcpy(t.count, cells->count, sizeof t.count);
    choose_surroundings(h, view, cells, &t);
    if (view->on_device) {
        t.species = (const uint16_t *)(uintptr_t)h->gpu.species;
        t.contact = (const double *)(uintptr_t)h->gpu.contact;
    }
    return t;
}

static void count_on_host(const hard_pressure *h, const pressure_task *t)
{
    uint64_t *shares = shares_of(h->counters);
    uint32_t *histogram = histogram_of(h, h->counters), overlaps = 0, unseen = 0;
    for (int32_t walker = 0; walker < h->walkers; walker++) {
        pressure_walker w = pressure_walker_of(t, (uint32_t)walker);
        int64_t x = 0, y = 0, z = 0;
#pragma omp parallel for num_threads(h->threads) schedule(static) reduction(+ : x, y, z, overlaps, unseen)
        for (uint32_t k = 0; k < pressure_present(t, w); k++) {
            if (!pressure_is_yours(t, w, k)) continue;
            uint32_t troubles[TROUBLES] = {0};
            uint32_t *own =
                h->at_contact.bins > 0 ? histogram + (int64_t)walker * h->at_contact.bins : NULL;
            int64_t share[2];
            if (in_a_plane(t)) {
                const settled_shares s = shares_in_plane(t, w, k, own);
                memcpy(share, s.along, sizeof share);
                memcpy(troubles, s.troubles, sizeof troubles);
            } else {
                share[0] = rift_share(t, w, k, 0, troubles);
                share[1] = rift_share(t, w, k, 1, troubles);
                if (own) count_pairs(t, w, k, own, troubles);
            }
            x += share[0];
            y += share[1];
            if (h->dimension == 3) z += rift_share(t, w, k, 2, troubles);
            overlaps += troubles[OVERLAPS];
            unseen += troubles[UNSEEN];
        }
        shares[3 * walker] = (uint64_t)x;
        shares[3 * walker + 1] = (uint64_t)y;
        shares[3 * walker + 2] = (uint64_t)z;
    }
    troubles_of(h, h->counters)[OVERLAPS] = overlaps;
    troubles_of(h, h->counters)[UNSEEN] = unseen;
}

/* Of one of the two sets of counters on a GPU: all copies, then the number of those that are left. */
static size_t set_bytes(const hard_pressure *h)
{
    return h->counter_bytes * (size_t)h->copies + sizeof(uint32_t);
}

/* Strips of a plane, then what they have left, by as many warps as run at once. next: counters that are cleared. */
static int launch_strips(const hard_pressure *h, const plugmc_host *host, pressure_task *t,
                         pressure_counters *first, const pressure_left *left, uint32_t shared,
                         plugmc_device_pointer next)
{
    const plugmc_gpu *gpu = host->gpu;
    const uint32_t rest[3] = {4 * (uint32_t)gpu->multiprocessors, 1, 1};
    const uint32_t block[3] = {STRIP_BLOCK, 1, 1}, of_rest[3] = {128, 1, 1};
    uint32_t numbers = (uint32_t)(set_bytes(h) / sizeof(uint32_t));
    void *arguments[] = {t, first, (void *)left, &next, &numbers};
    uint32_t strips[3];
    grid_of_strips(&t->strips, t->count, h->walkers, strips);
    const int code =
        gpu->launch(host->context, h->gpu.rifts_and_pairs, strips, block, shared, arguments);
    return code ? code : gpu->launch(host->context, h->gpu.left, rest, of_rest, 0, arguments);
}

/* The sets of counters are used in turn: a kernel that counts into one clears the other, whose numbers have arrived. */
static int launch_counts(hard_pressure *h, const plugmc_host *host, pressure_task *t)
{
    const plugmc_gpu *gpu = host->gpu;
    const int set = h->gpu.set, other = !set;
    const plugmc_device_pointer counters = h->gpu.counters[set];
    const uintptr_t to = (uintptr_t)counters;
    pressure_counters first = {
        (void *)to, (void *)(to + (size_t)((char *)histogram_of(h, h->counters) - h->counters)),
        (void *)(to + (size_t)((char *)troubles_of(h, h->counters) - h->counters)),
        (uint32_t)h->counter_bytes, (uint32_t)h->copies};
    const size_t bytes = h->counter_bytes * (size_t)h->copies;
    const pressure_left left = {(void *)(to + bytes), (void *)(uintptr_t)h->gpu.entries_left};
    const uint32_t blocks = (t->particles + PRESSURE_BLOCK - 1) / PRESSURE_BLOCK;
    const uint32_t walkers = (uint32_t)h->walkers;
    const uint32_t room = (uint32_t)h->at_contact.bins * (uint32_t)sizeof(uint32_t),
                   lists = ((AROUND + 1) * STRIP_BLOCK + STRIP_BLOCK / 32 * PAIR_ROW) *
                           (uint32_t)sizeof(uint32_t);
    const uint32_t block[3] = {PRESSURE_BLOCK, 1, 1}, each[3] = {blocks, walkers, 1};
    int code = h->gpu.clear[set] ? PLUGMC_OK : gpu->fill(host->context, counters, 0, set_bytes(h));
    if (code) return code;
    h->gpu.set = other;
    h->gpu.clear[set] = h->gpu.clear[other] = 0;
    if (in_a_plane(t)) {
        t->strips = cut_into_strips(t->count, (double)t->particles / t->cells, t->near);
        t->strip_bytes = strip_bytes(&t->strips);
        h->gpu.clear[other] = t->strips.room > 0 && t->seldom;
        code = h->gpu.clear[other] ? launch_strips(h, host, t, &first, &left,
                                                   t->strip_bytes + lists, h->gpu.counters[other])
                                   : gpu->launch(host->context, h->gpu.alone, each, block, room,
                                                 (void *[]){t, &first});
    } else {
        code = gpu->launch(host->context, h->gpu.rifts,
                           (uint32_t[3]){blocks, walkers, (uint32_t)h->dimension}, block, 0,
                           (void *[]){t, &first});
        if (!code && h->at_contact.bins > 0)
            code =
                gpu->launch(host->context, h->gpu.pairs, each, block, room, (void *[]){t, &first});
    }
    return code ? code : gpu->download_later(host->context, h->counters, counters, bytes);
}

/* values [walkers][scalars + bins]: the mean over the axes, then along each axis, the reduced
 * pressure and that of the fit if there are any, g near contact. Here the sums over particles and pairs that they follow
 * from, shares of rifts along each axis and counts. */
static void write_sums(const hard_pressure *h, double *values)
{
    const int32_t width = h->scalars + h->at_contact.bins;
    memset(values, 0, (size_t)h->walkers * (size_t)width * sizeof *values);
    for (int32_t w = 0; w < h->walkers; w++) {
        const uint64_t *shares = shares_of(h->counters) + 3 * w;
        const uint32_t *histogram = histogram_of(h, h->counters) + (int64_t)w * h->at_contact.bins;
        double *out = values + w * width;
        for (int a = 0; a < h->dimension; a++) out[1 + a] = (double)shares[a];
        for (int32_t b = 0; b < h->at_contact.bins; b++) out[h->scalars + b] = histogram[b];
    }
}

static void complete(void *instance, const plugmc_view *view, double *values)
{
    const hard_pressure *h = instance;
    const double per_share = 0.5 / (double)(1 << PRESSURE_SHARE_BITS);
    for (int32_t w = 0; w < h->walkers; w++) {
        const double volume = view->box[w].volume;
        double *out = values + w * (h->scalars + h->at_contact.bins), *g = out + h->scalars;
        for (int a = 0; a < h->dimension; a++) {
            out[1 + a] = ((double)h->particles + per_share * out[1 + a]) / volume;
            out[0] += out[1 + a] / h->dimension;
        }
        if (h->reduced) out[1 + h->dimension] = out[0] * pow(h->contacts.largest, h->dimension);
        for (int32_t b = 0; b < h->at_contact.bins; b++)
            g[b] = h->at_contact.g_factor[b] * g[b] * (volume / h->volume);
        if (h->fit_of_sample) out[h->scalars - 1] = fitted_pressure(&h->at_contact, g, volume);
    }
}

/* Hardly any of all paths is so long that it ends farther from a share. */
static double reach(void *instance)
{
    const hard_pressure *h = instance;
    return h->reach;
}

/* The counters of a view, on the GPU not before they arrive. */
static int find_counters(hard_pressure *h, const plugmc_host *host, const plugmc_view *view)
{
    /* all sums are of integers, so larger cells that somebody else has asked for do as well */
    plugmc_cells cells = {.size = sizeof cells, .most = h->dimension == 2 ? 1.6 * h->range : 0};
    int code = h->at_contact.bins > 0 ? check_reach(host, view, h->range,
                                                    "the reach of the fit (fit = no does without)")
                                      : PLUGMC_OK;
    if (!code) code = view->cells(view, h->range, &cells);
    if (code) return code;
    pressure_task task = task_of(h, view, &cells, host->system->species_count);
    code = take_frames(&h->frames, host, view, &cells, &task.frames);
    if (code) return code;
    memset(h->counters, 0, h->counter_bytes);
    if (view->on_device) return launch_counts(h, host, &task);
    count_on_host(h, &task);
    return PLUGMC_OK;
}

static int launch(void *instance, const plugmc_host *host, const plugmc_view *view)
{
    return find_counters(instance, host, view);
}

/* All into the first. */
static void add_copies(hard_pressure *h)
{
    const size_t numbers =
        (size_t)h->walkers * (size_t)h->at_contact.bins + TROUBLES; /* these are behind */
    for (int32_t c = 1; c < h->copies; c++) {
        char *copy = h->counters + h->counter_bytes * (size_t)c;
        for (int32_t k = 0; k < 3 * h->walkers; k++)
            shares_of(h->counters)[k] += shares_of(copy)[k];
        for (size_t k = 0; k < numbers; k++)
            histogram_of(h, h->counters)[k] += histogram_of(h, copy)[k];
    }
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    hard_pressure *h = instance;
    const int code = view->on_device ? PLUGMC_OK : find_counters(h, host, view);
    if (code) return code;
    if (view->on_device) add_copies(h);
    if (troubles_of(h, h->counters)[OVERLAPS] > 0)
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "particles overlap in the configuration after sweep %llu, by more "
                          "than rounding errors",
                          (unsigned long long)view->sweep);
    if (troubles_of(h, h->counters)[UNSEEN] > 0) return PLUGMC_UNANSWERED;
    write_sums(h, values);
    return PLUGMC_OK;
}

static const char *unit_of(const hard_pressure *h)
{
    return h->dimension == 2 ? "kT/length^2" : "kT/length^3";
}

static int quantity_of_fit(const hard_pressure *h, plugmc_quantity *out)
{
    return plugmc_scalar(out, "pressure_fit", unit_of(h),
                         "pressure from g(r) extrapolated to contact");
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const hard_pressure *h = instance;
    static const char *const scalars[][2] = {
        {"pressure", "pressure from rifts, mean over the axes"},
        {"pressure_x", "pressure from rifts along x"},
        {"pressure_y", "pressure from rifts along y"},
        {"pressure_z", "pressure from rifts along z"},
    };
    if (index <= h->dimension)
        return plugmc_scalar(out, scalars[index][0], unit_of(h), scalars[index][1]);
    if (index < 1 + h->dimension + h->reduced)
        return plugmc_scalar(out, "reduced_pressure", "",
                             h->dimension == 2 ? "beta P d^2 from rifts, d the contact distance"
                                               : "beta P d^3 from rifts, d the contact distance");
    if (index < h->scalars) return quantity_of_fit(h, out);
    if (index > h->scalars || h->at_contact.bins == 0) return 0;
    return plugmc_array(out, "g_contact", "", "pair distribution near contact", h->at_contact.bins,
                        "r", h->at_contact.radius);
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    const hard_pressure *h = instance;
    return index == 0 && h->at_contact.bins > 0 && !h->fit_of_sample && quantity_of_fit(h, out);
}

static int derive(void *instance, const double *means, double *out)
{
    const hard_pressure *h = instance;
    const double *g = means + h->scalars;
    double all = 0;
    for (int32_t b = 1; b < h->at_contact.bins; b++) all += g[b];
    *out = fitted_pressure(&h->at_contact, g, h->volume);
    return all > 0 ? 0 : 1; /* nothing to extrapolate from */
}

/* ---- Preparation --------------------------------------------------------------------------- */

/* Why g(r) cannot be extrapolated here, or NULL. */
static const char *no_fit(const hard_pressure *h, const plugmc_system *system)
{
    if (!h->contacts.one) return "the species have several contact distances";
    for (int a = 0; a < h->dimension; a++)
        if (system->box.length[a] < 2 * h->contacts.largest * (1 + h->fit_range))
            return "the box is too small: a pair can be in contact on two sides";
    return NULL;
}

static int choose_fit(hard_pressure *h, const plugmc_host *host)
{
    h->range = h->contacts.largest;
    const char *reason = h->fit == FIT_NO ? NULL : no_fit(h, host->system);
    if (reason && h->fit == FIT_YES)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "fit = yes is not possible: %s",
                          reason);
    if (reason || h->fit == FIT_NO) return PLUGMC_OK;
    h->at_contact.bins = (int32_t)lround(h->fit_range / h->delta_r);
    if (h->at_contact.bins < 2 * (h->degree + 1) || h->at_contact.bins > MOST_BINS)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "fit_range = %g and delta_r = %g give %d bins, but a fit of degree "
                          "%lld needs %lld to %d",
                          h->fit_range, h->delta_r, h->at_contact.bins, (long long)h->degree,
                          2 * ((long long)h->degree + 1), MOST_BINS);
    h->range = h->contacts.largest * (1 + h->fit_range);
    return prepare_fit(&h->at_contact, host, h->range, h->volume, h->degree);
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance;
    const char *const texts[3] = {cell_strips_text, hard_pressure_kernel, strips_kernel};
    if (index > 0 || !set_text_with_frames(host, "hard_pressure.cu", texts, out)) return 0;
    out->overlap = 1;
    return 1;
}

static int prepare_device(hard_pressure *h, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    const size_t species = (size_t)h->particles * sizeof *h->contacts.species;
    const size_t contacts = (size_t)(host->system->species_count * host->system->species_count) *
                            sizeof *h->contacts.distance;
    plugmc_gpu_source text = {.size = sizeof text};
    if (!gpu_source(h, host, 0, &text)) return PLUGMC_ERROR_MEMORY;
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } wanted[] = {{"rifts", &h->gpu.rifts},
                  {"rifts_and_pairs", &h->gpu.rifts_and_pairs},
                  {"rifts_left", &h->gpu.left},
                  {"rifts_and_pairs_alone", &h->gpu.alone},
                  {"pairs", &h->gpu.pairs}};
    int code = PLUGMC_OK;
    for (size_t k = 0; k < PLUGMC_COUNT(wanted) && !code; k++)
        code = gpu->kernel(host->context, &text, wanted[k].name, wanted[k].kernel);
    if (!code) code = gpu->allocate(host->context, species, &h->gpu.species);
    if (!code) code = gpu->allocate(host->context, contacts, &h->gpu.contact);
    for (int set = 0; set < 2 && !code; set++)
        code = gpu->allocate(host->context, set_bytes(h), &h->gpu.counters[set]);
    if (!code && h->dimension == 2)
        code = gpu->allocate(host->context,
                             (size_t)h->walkers * (size_t)h->particles * sizeof(uint64_t),
                             &h->gpu.entries_left);
    if (!code) code = gpu->upload(host->context, h->gpu.species, h->contacts.species, species);
    if (!code) code = gpu->upload(host->context, h->gpu.contact, h->contacts.distance, contacts);
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    hard_pressure *h = instance;
    const plugmc_system *system = host->system;
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the pressure needs a periodic box, but the box is a sphere");
    h->dimension = system->box.dimension;
    h->walkers = system->walkers;
    h->threads = system->threads;
    h->particles = system->particles;
    h->volume = system->box.volume;
    int code = find_contacts(&h->contacts, host);
    h->at_contact = (contact_fit){.dimension = h->dimension,
                                  .particles = (double)h->particles,
                                  .contact = h->contacts.largest};
    if (!code) code = choose_fit(h, host);
    if (!code) code = prepare_frames(&h->frames, host);
    if (code) return code;
    const double rare = rareness_of_long_paths(h, h->volume); /* one in 1e5 samples at most */
    h->reach =
        fmax(1.02 * h->range, h->contacts.largest * (2 + (12 + log((double)h->particles)) / rare));
    h->reduced = h->contacts.one;
    h->fit_of_sample = h->at_contact.bins > 0 && boxes_change(system);
    h->scalars = 1 + h->dimension + h->reduced + h->fit_of_sample;

    const size_t walker_bytes =
        3 * sizeof(uint64_t) + (size_t)h->at_contact.bins * sizeof(uint32_t);
    h->counter_bytes =
        ((size_t)h->walkers * walker_bytes + TROUBLES * sizeof(uint32_t) + 7) / 8 * 8;
    /* on a GPU as many as can be downloaded without waiting */
    h->copies = 1; /* a power of two */
    while (host->gpu && h->copies < 32 && 2 * (size_t)h->copies * h->counter_bytes <= 32768)
        h->copies *= 2;
    h->counters = host->allocate(host->context, h->counter_bytes * (size_t)h->copies);
    if (!h->counters)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d walkers",
                          h->walkers);
    return host->gpu ? prepare_device(h, host) : PLUGMC_OK;
}

/* ---- The tables ---------------------------------------------------------------------------- */

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(hard_pressure, fit, "auto", "auto|yes|no",
                      "also extrapolate g(r) to contact; auto: if there is a single contact "
                      "distance and the box is wider than two of them"),
    PLUGMC_REAL_KEY(hard_pressure, delta_r, "1e-4", 1e-7, 1, "contact distances",
                    "width of a bin of the histogram"),
    PLUGMC_REAL_KEY(hard_pressure, fit_range, "0.02", 1e-5, 1, "contact distances",
                    "the fit uses distances up to 1 + fit_range, without the first bin"),
    PLUGMC_INTEGER_KEY(hard_pressure, degree, "5", 0, 12, "", "degree of the polynomial"),
};

/* All that it can give. */
static const plugmc_listing listing[] = {
    {"pressure", "kT/length^<dimension>", "pressure from rifts, mean over the axes", 0, 0},
    {"pressure_<axis>", "kT/length^<dimension>", "pressure from rifts along x, y, z", 0, 0},
    {"reduced_pressure", "",
     "beta P d^2 (disks) or beta P d^3 (spheres), d the contact distance, if there is only one", 0,
     0},
    {"g_contact", "", "pair distribution near contact against r", 1, 0},
    {"pressure_fit", "kT/length^<dimension>", "pressure from g(r) extrapolated to contact", 0, 1},
    {"pressure_fit", "kT/length^<dimension>",
     "pressure from g(r) extrapolated to contact; in a changing box", 0, 0},
};

static const plugmc_measures_later later = {
    .size = sizeof later, .launch = launch, .reads_cells_alone = 1};

static const plugmc_measures_shares shares = {
    .size = sizeof shares, .reach = reach, .complete = complete};

PLUGMC_PLUGIN(.name = "hard_pressure",
              .summary = "pressure of hard disks or spheres, from rifts and from g(r) at contact",
              .reference = "Li et al., J. Chem. Phys. 157, 234111 (2022); Anderson et al., "
                           "J. Comput. Phys. 254, 27 (2013)",
              PLUGMC_KEYS(hard_pressure, table),
              PLUGMC_OFFERS({PLUGMC_MEASURES_LATER, &later}, {PLUGMC_MEASURES_SHARES, &shares}),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .derived = derived, .derive = derive, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_ORIENTATION),
              .prepare = prepare, .gpu_source = gpu_source)
