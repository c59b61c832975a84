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
 * Extrapolation (`g_contact`, `pressure_fit`): section 4 of J. A. Anderson, E. Jankowski, T. L.
 * Grubb, M. Engel, S. C. Glotzer, J. Comput. Phys. 254, 27 (2013). A histogram of pair distances in
 * (s, s (1 + fit_range)] gives g at points R_i (eqs. 5 and 6, and the same in three dimensions); a
 * polynomial through it is extrapolated to s and put into eq. 4. Its error bar is wider than that
 * of the rifts by a factor of 3.5 (disks at 0.65) to 7 (spheres): it is there to be compared with.
 * The first bin is left out: a mover that decides in single precision keeps particles apart by some
 * 1e-7 more than contact (checkerboard: 1.0(2) 10^-7 measured), so a thousandth of the pairs of that
 * bin is missing, and it would have the largest weight, a sixth. The pressure came out too low by
 * 1.5e-4 of itself.
 *
 * In a box that changes V is that of each sample. What is extrapolated is not linear in the mean density
 * and the mean g then, so `pressure_fit` is a number of each sample there, and not derived from means.
 */
#include <string.h>

#include <plugmc/everything.h>

#include "extrapolation.h"
#include "kept_frames.h"
#include CELL_STRIPS_FILE

#include PLUGMC_KERNEL_FILE

PLUGMC_EMBED(cell_strips_text, CELL_STRIPS_FILE);
PLUGMC_EMBED(hard_pressure_kernel, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(strips_kernel, PRESSURE_STRIPS_FILE);

enum { FIT_AUTO, FIT_YES, FIT_NO };
enum { MOST_BINS = 10000 };

typedef struct hard_pressure {
    /* parameters */
    int32_t fit;
    real delta_r, fit_range;
    int64_t degree;

    int32_t dimension, walkers, threads, bins; /* bins: 0 without a fit */
    int32_t reduced, fit_of_sample; /* one contact distance; a fit in a box that changes */
    int32_t scalars;                /* measured: the pressures, and what these two add */
    int64_t particles;
    double volume;     /* of the box at the start */
    double covered;    /* area of the disks of a walker */
    double *contact;   /* [species][species], length */
    double largest;    /* of them */
    double range;      /* of the neighbours looked at */
    double reach;      /* how far from a share of the particles it sees */
    uint16_t *species; /* [particles] */
    double *radius;    /* [bins]: R_i, length */
    double *g_factor;  /* [bins]: g(R_i) of one pair of particles in bin i */
    double *weight;    /* [bins]: g at contact is the sum of weight[i] g(R_i), i > 0 */

    /* Counters: shares [walkers][3], then histogram [walkers][bins], then troubles [TROUBLES]. */
    size_t counter_bytes; /* of one copy */
    int32_t copies;       /* that blocks of a GPU share; the first is the sum of all in the end */
    char *counters;

    kept_frames frames;
    plugmc_kernel *rifts, *rifts_and_pairs, *left, *alone, *pairs;
    plugmc_device_pointer device_species, device_contact, device_counters[2], device_left;
    int32_t set, clear[2]; /* which counters are used next; 1: they are 0 */
} hard_pressure;

/* ---- What is measured ---------------------------------------------------------------------- */

static uint64_t *shares_of(char *counters) { return (uint64_t *)counters; }

static uint32_t *histogram_of(const hard_pressure *h, char *counters)
{
    return (uint32_t *)(counters + (size_t)h->walkers * 3 * sizeof(uint64_t));
}

static uint32_t *troubles_of(const hard_pressure *h, char *counters)
{
    return histogram_of(h, counters) + (size_t)h->walkers * (size_t)h->bins;
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
    const double covered = fmin(h->covered / volume, 0.95);
    return 1 / ((1 - covered) * (1 - covered)) - 1;
}

/* So far, in contact distances, the strips along both axes hold ten others, for whom there is room in a list. */
static double crossed(const hard_pressure *h, double volume)
{
    const double density = (double)h->particles * h->largest * h->largest / volume;
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
    t->near = (width / h->largest - 1) * rare > 3 ? 1 : 2;
    t->around =
        fmax(1.01 * h->range, h->largest * fmin(1 + 9 / rare, crossed(h, volume_of(h, view))));
    const double seen = fmin(t->around, (t->near + 0.5) * width) / h->largest;
    t->seldom = 4 * exp(-rare * (seen - 1)) < 0.1;
    if (t->share.begin != t->share.end) t->around = fmin(t->around, h->reach);
}

static pressure_task task_of(const hard_pressure *h, const plugmc_view *view,
                             const plugmc_cells *cells, int32_t species_count)
{
    pressure_task t = {
        .largest = h->largest,
        .reach = h->range,
        .bins_per_length = h->bins > 0 ? h->bins / (h->range - h->largest) : 0,
        .overlap = 1 - 1e-4, /* more than rounding, even that of positions in float */
        .start = cells->start,
        .order = cells->order,
        .positions = cells->positions,
        .species = h->species,
        .contact = h->contact,
        .particles = (uint32_t)h->particles,
        .cells = (uint32_t)cells->cells,
        .species_count = species_count,
        .bins = h->bins,
        .share = plugmc_share_of(view),
        .seen = h->reach - h->largest,
    };
    memcpy(t.count, cells->count, sizeof t.count);
    choose_surroundings(h, view, cells, &t);
    if (view->on_device) {
        t.species = (const uint16_t *)(uintptr_t)h->device_species;
        t.contact = (const double *)(uintptr_t)h->device_contact;
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
            uint32_t *own = h->bins > 0 ? histogram + (int64_t)walker * h->bins : NULL;
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
        gpu->launch(host->context, h->rifts_and_pairs, strips, block, shared, arguments);
    return code ? code : gpu->launch(host->context, h->left, rest, of_rest, 0, arguments);
}

/* The sets of counters are used in turn: a kernel that counts into one clears the other, whose numbers have arrived. */
static int launch_counts(hard_pressure *h, const plugmc_host *host, pressure_task *t)
{
    const plugmc_gpu *gpu = host->gpu;
    const int set = h->set, other = !set;
    const plugmc_device_pointer counters = h->device_counters[set];
    const uintptr_t to = (uintptr_t)counters;
    pressure_counters first = {
        (void *)to, (void *)(to + (size_t)((char *)histogram_of(h, h->counters) - h->counters)),
        (void *)(to + (size_t)((char *)troubles_of(h, h->counters) - h->counters)),
        (uint32_t)h->counter_bytes, (uint32_t)h->copies};
    const size_t bytes = h->counter_bytes * (size_t)h->copies;
    const pressure_left left = {(void *)(to + bytes), (void *)(uintptr_t)h->device_left};
    const uint32_t blocks = (t->particles + PRESSURE_BLOCK - 1) / PRESSURE_BLOCK;
    const uint32_t walkers = (uint32_t)h->walkers;
    const uint32_t room = (uint32_t)h->bins * (uint32_t)sizeof(uint32_t),
                   lists = ((AROUND + 1) * STRIP_BLOCK + STRIP_BLOCK / 32 * PAIR_ROW) *
                           (uint32_t)sizeof(uint32_t);
    const uint32_t block[3] = {PRESSURE_BLOCK, 1, 1}, each[3] = {blocks, walkers, 1};
    int code = h->clear[set] ? PLUGMC_OK : gpu->fill(host->context, counters, 0, set_bytes(h));
    if (code) return code;
    h->set = other;
    h->clear[set] = h->clear[other] = 0;
    if (in_a_plane(t)) {
        t->strips = cut_into_strips(t->count, (double)t->particles / t->cells, t->near);
        t->strip_bytes = strip_bytes(&t->strips);
        h->clear[other] = t->strips.room > 0 && t->seldom;
        code = h->clear[other]
                   ? launch_strips(h, host, t, &first, &left, t->strip_bytes + lists,
                                   h->device_counters[other])
                   : gpu->launch(host->context, h->alone, each, block, room, (void *[]){t, &first});
    } else {
        code = gpu->launch(host->context, h->rifts,
                           (uint32_t[3]){blocks, walkers, (uint32_t)h->dimension}, block, 0,
                           (void *[]){t, &first});
        if (!code && h->bins > 0)
            code = gpu->launch(host->context, h->pairs, each, block, room, (void *[]){t, &first});
    }
    return code ? code : gpu->download_later(host->context, h->counters, counters, bytes);
}

/* Eq. 4, from g near contact [bins]. */
static double fitted_pressure(const hard_pressure *h, const double *g, double volume)
{
    const double virial =
        (h->dimension == 2 ? M_PI / 2 : 2 * M_PI / 3) * pow(h->largest, h->dimension);
    const double density = (double)h->particles / volume;
    double contact = 0;
    for (int32_t b = 1; b < h->bins; b++) contact += h->weight[b] * g[b]; /* not the first bin */
    return density * (1 + virial * density * contact);
}

/* values [walkers][scalars + bins]: the mean over the axes, then along each axis, the reduced
 * pressure and that of the fit if there are any, g near contact. Here the sums over particles and pairs that they follow
 * from, shares of rifts along each axis and counts. */
static void write_sums(const hard_pressure *h, double *values)
{
    const int32_t width = h->scalars + h->bins;
    memset(values, 0, (size_t)h->walkers * (size_t)width * sizeof *values);
    for (int32_t w = 0; w < h->walkers; w++) {
        const uint64_t *shares = shares_of(h->counters) + 3 * w;
        const uint32_t *histogram = histogram_of(h, h->counters) + (int64_t)w * h->bins;
        double *out = values + w * width;
        for (int a = 0; a < h->dimension; a++) out[1 + a] = (double)shares[a];
        for (int32_t b = 0; b < h->bins; b++) out[h->scalars + b] = histogram[b];
    }
}

static void complete(void *instance, const plugmc_view *view, double *values)
{
    const hard_pressure *h = instance;
    const double per_share = 0.5 / (double)(1 << PRESSURE_SHARE_BITS);
    for (int32_t w = 0; w < h->walkers; w++) {
        const double volume = view->box[w].volume;
        double *out = values + w * (h->scalars + h->bins), *g = out + h->scalars;
        for (int a = 0; a < h->dimension; a++) {
            out[1 + a] = ((double)h->particles + per_share * out[1 + a]) / volume;
            out[0] += out[1 + a] / h->dimension;
        }
        if (h->reduced) out[1 + h->dimension] = out[0] * pow(h->largest, h->dimension);
        for (int32_t b = 0; b < h->bins; b++) g[b] = h->g_factor[b] * g[b] * (volume / h->volume);
        if (h->fit_of_sample) out[h->scalars - 1] = fitted_pressure(h, g, volume);
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
    int code = h->bins > 0 ? check_reach(host, view, h->range,
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
    const size_t numbers = (size_t)h->walkers * (size_t)h->bins + TROUBLES; /* these are behind */
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
                          "particles overlap in the configuration after sweep %llu, by more than "
                          "rounding can explain",
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
    if (index > h->scalars || h->bins == 0) return 0;
    return plugmc_array(out, "g_contact", "", "pair distribution near contact", h->bins, "r",
                        h->radius);
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    const hard_pressure *h = instance;
    return index == 0 && h->bins > 0 && !h->fit_of_sample && quantity_of_fit(h, out);
}

static int derive(void *instance, const double *means, double *out)
{
    const hard_pressure *h = instance;
    const double *g = means + h->scalars;
    double all = 0;
    for (int32_t b = 1; b < h->bins; b++) all += g[b];
    *out = fitted_pressure(h, g, h->volume);
    return all > 0 ? 0 : 1; /* nothing to extrapolate from */
}

/* ---- Preparation --------------------------------------------------------------------------- */

/* R_i, where g is read off if it is linear within a bin (eq. 6 and its analogue), what one pair in
 * the bin is worth (eq. 5, with the area of the ring as it is), and the weights of the fit. */
static int prepare_fit(hard_pressure *h, const plugmc_host *host)
{
    const int32_t n = h->bins, d = h->dimension;
    double *work = host->allocate(host->context, (size_t)n * 3 * sizeof *work);
    h->radius = host->allocate(host->context, (size_t)n * sizeof *h->radius);
    h->g_factor = host->allocate(host->context, (size_t)n * sizeof *h->g_factor);
    h->weight = host->allocate(host->context, (size_t)n * sizeof *h->weight);
    if (!work || !h->radius || !h->g_factor || !h->weight)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d bins", n);
    const double width = (h->range - h->largest) / n, density = (double)h->particles / h->volume;
    for (int32_t b = 0; b < n; b++) {
        double low = h->largest + width * b, high = low + width;
        double sum = d == 2 ? (low + high) / 2 : (low * low + low * high + high * high) / 3;
        double shell = width * sum * (d == 2 ? 2 * M_PI : 4 * M_PI);
        h->radius[b] = d == 2 ? (low * low + low * high + high * high) / (3 * sum)
                              : (low + high) * (low * low + high * high) / (4 * sum);
        h->g_factor[b] = 2 / ((double)h->particles * density * shell);
    }
    extrapolation_weights(h->radius + 1, n - 1, h->degree, h->largest, work, h->weight + 1);
    return PLUGMC_OK;
}

static int one_contact_distance(const hard_pressure *h, const plugmc_system *system)
{
    for (int32_t s = 0; s < system->species_count * system->species_count; s++)
        if (h->contact[s] != h->largest) return 0;
    return 1;
}

/* Why g(r) cannot be extrapolated here, or NULL. */
static const char *no_fit(const hard_pressure *h, const plugmc_system *system)
{
    if (!one_contact_distance(h, system)) return "the species have several contact distances";
    for (int a = 0; a < h->dimension; a++)
        if (system->box.length[a] < 2 * h->largest * (1 + h->fit_range))
            return "the box is so small that a pair can meet on two sides";
    return NULL;
}

static int choose_fit(hard_pressure *h, const plugmc_host *host)
{
    h->range = h->largest;
    const char *reason = h->fit == FIT_NO ? NULL : no_fit(h, host->system);
    if (reason && h->fit == FIT_YES)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "fit = yes cannot be done: %s",
                          reason);
    if (reason || h->fit == FIT_NO) return PLUGMC_OK;
    h->bins = (int32_t)lround(h->fit_range / h->delta_r);
    if (h->bins < 2 * (h->degree + 1) || h->bins > MOST_BINS)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "fit_range = %g and delta_r = %g make %d bins; a fit of degree %lld "
                          "needs from %lld to %d",
                          h->fit_range, h->delta_r, h->bins, (long long)h->degree,
                          2 * ((long long)h->degree + 1), MOST_BINS);
    h->range = h->largest * (1 + h->fit_range);
    return prepare_fit(h, host);
}

/* Only hard cores may be sampled: with another force the rifts are not filled evenly. */
static int check_terms(const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    int cores = 0;
    for (int32_t i = 0; i < system->term_count; i++) {
        const plugmc_term *term = plugmc_term_at(system, i);
        const plugmc_potential *p = term->plugin->potential;
        if (!term->sampled) continue;
        if (!p->pair || p->field || p->total || plugmc_orbitals_of(term->plugin) ||
            (p->pair->functions & PLUGMC_PAIR_ENERGY))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "this is the pressure of hard particles without other forces, but "
                              "potential '%s' is sampled too",
                              term->label);
        cores += (p->pair->functions & PLUGMC_PAIR_CONTACT) != 0;
    }
    if (cores == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no sampled potential has a hard core");
    return PLUGMC_OK;
}

/* Largest over the terms, and largest of all. */
static int find_contacts(hard_pressure *h, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const int32_t n = system->species_count;
    h->contact = host->allocate(host->context, (size_t)(n * n) * sizeof *h->contact);
    h->species = host->allocate(host->context, (size_t)h->particles * sizeof *h->species);
    if (!h->contact || !h->species)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld particles",
                          (long long)h->particles);
    for (int32_t ij = 0; ij < n * n; ij++) {
        const plugmc_species *a = plugmc_species_at(system, ij / n),
                             *b = plugmc_species_at(system, ij % n);
        plugmc_particle p = {.charge = a->charge, .diameter = a->diameter, .species = ij / n};
        plugmc_particle q = {.charge = b->charge, .diameter = b->diameter, .species = ij % n};
        for (int32_t t = 0; t < system->term_count; t++) {
            const plugmc_term *term = plugmc_term_at(system, t);
            if (!term->sampled) continue;
            double contact = term->plugin->potential->pair->contact(term->instance, &p, &q);
            if (contact > h->contact[ij]) h->contact[ij] = contact;
        }
        if (h->contact[ij] > h->largest) h->largest = h->contact[ij];
    }
    for (int32_t s = 0; s < n; s++)
        h->covered += M_PI / 4 * pow(h->contact[s * n + s], 2) *
                      (double)(system->first[s + 1] - system->first[s]);
    for (int32_t s = 0; s < n; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++)
            h->species[i] = (uint16_t)s;
    if (!(h->largest > 0))
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "all contact distances are 0");
    return PLUGMC_OK;
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
    const size_t species = (size_t)h->particles * sizeof *h->species;
    const size_t contacts =
        (size_t)(host->system->species_count * host->system->species_count) * sizeof *h->contact;
    plugmc_gpu_source text = {.size = sizeof text};
    if (!gpu_source(h, host, 0, &text)) return PLUGMC_ERROR_MEMORY;
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } wanted[] = {{"rifts", &h->rifts},
                  {"rifts_and_pairs", &h->rifts_and_pairs},
                  {"rifts_left", &h->left},
                  {"rifts_and_pairs_alone", &h->alone},
                  {"pairs", &h->pairs}};
    int code = PLUGMC_OK;
    for (size_t k = 0; k < PLUGMC_COUNT(wanted) && !code; k++)
        code = gpu->kernel(host->context, &text, wanted[k].name, wanted[k].kernel);
    if (!code) code = gpu->allocate(host->context, species, &h->device_species);
    if (!code) code = gpu->allocate(host->context, contacts, &h->device_contact);
    for (int set = 0; set < 2 && !code; set++)
        code = gpu->allocate(host->context, set_bytes(h), &h->device_counters[set]);
    if (!code && h->dimension == 2)
        code = gpu->allocate(host->context,
                             (size_t)h->walkers * (size_t)h->particles * sizeof(uint64_t),
                             &h->device_left);
    if (!code) code = gpu->upload(host->context, h->device_species, h->species, species);
    if (!code) code = gpu->upload(host->context, h->device_contact, h->contact, contacts);
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    hard_pressure *h = instance;
    const plugmc_system *system = host->system;
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the pressure is found by scaling a periodic box; this one is a sphere");
    h->dimension = system->box.dimension;
    h->walkers = system->walkers;
    h->threads = system->threads;
    h->particles = system->particles;
    h->volume = system->box.volume;
    int code = check_terms(host);
    if (!code) code = find_contacts(h, host);
    if (!code) code = choose_fit(h, host);
    if (!code) code = prepare_frames(&h->frames, host);
    if (code) return code;
    const double rare = rareness_of_long_paths(h, h->volume); /* one in 1e5 samples at most */
    h->reach = fmax(1.02 * h->range, h->largest * (2 + (12 + log((double)h->particles)) / rare));
    h->reduced = one_contact_distance(h, system);
    h->fit_of_sample = h->bins > 0 && boxes_change(system);
    h->scalars = 1 + h->dimension + h->reduced + h->fit_of_sample;

    const size_t walker_bytes = 3 * sizeof(uint64_t) + (size_t)h->bins * sizeof(uint32_t);
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
                      "extrapolate g(r) to contact beside the rifts; auto: where there is one "
                      "contact distance and the box is wider than two of them"),
    PLUGMC_REAL_KEY(hard_pressure, delta_r, "1e-4", 1e-7, 1, "contact distances",
                    "width of a bin of the histogram"),
    PLUGMC_REAL_KEY(hard_pressure, fit_range, "0.02", 1e-5, 1, "contact distances",
                    "the fit uses distances up to 1 + fit_range, without the first bin"),
    PLUGMC_INTEGER_KEY(hard_pressure, degree, "5", 0, 12, "", "of the polynomial"),
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
     "pressure from g(r) extrapolated to contact; in a box that changes", 0, 0},
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
                                     .follows = PLUGMC_CHANGED_BOX),
              .prepare = prepare, .gpu_source = gpu_source)
