/* hexatic_order: how much the bonds between neighbours point in the same six directions.
 *
 *     psi_6(j) = 1/n_j sum over the n_j neighbours k of j of exp(6 i theta_jk)
 *     psi_6    = 1/N sum_j psi_6(j)
 *
 * theta_jk is the angle of the bond from j to k with the x axis; neighbours are all particles
 * closer than `cutoff` (first minimum of g(r) of dense hard disks: 1.4 to 1.5 diameters); a
 * particle without neighbours gives 0. The order parameter of two-dimensional melting:
 * D. R. Nelson, B. I. Halperin, Phys. Rev. B 19, 2457 (1979). Its susceptibility
 * N (<|psi_6|^2> - <|psi_6|>^2) is derived from the averages. Where particles come and go, N is that of the
 * moment in psi_6, which is 0 of nobody, and the mean in the susceptibility.
 */
#include <stddef.h>
#include <string.h>

#include <plugmc/everything.h>

#include "kept_frames.h"
#include CELL_STRIPS_FILE

#include PLUGMC_KERNEL_FILE

PLUGMC_EMBED(cell_strips_text, CELL_STRIPS_FILE);
PLUGMC_EMBED(hexatic_order_kernel, PLUGMC_KERNEL_FILE);

typedef struct hexatic_order {
    real cutoff; /* parameter, largest diameters */

    double range; /* length */
    kept_frames frames;
    int32_t walkers, threads;
    int64_t particles;
    int32_t species, numbers; /* numbers: how many there are is measured, too, since it changes */
    int64_t *sums; /* [ORDER_COPIES, on the CPU one][walkers][2], fixed point: to be added up */
    plugmc_kernel *kernel;
    plugmc_device_pointer device_sums[2];
    int32_t turn; /* which of them is added to next; it is 0 */
} hexatic_order;

static order_task task_of(const hexatic_order *h, const plugmc_view *view,
                          const plugmc_cells *cells)
{
    return (order_task){
        .cutoff_square = h->range * h->range,
        .cutoff = (float)h->range,
        .start = cells->start,
        .positions = cells->positions,
        .particles = (uint32_t)h->particles,
        .cells = (uint32_t)cells->cells,
        .count = {cells->count[0], cells->count[1]},
        .share = plugmc_share_of(view),
    };
}

static void sum_on_host(const hexatic_order *h, const order_task *t)
{
    for (int32_t w = 0; w < h->walkers; w++) {
        int64_t re = 0, im = 0;
#pragma omp parallel for num_threads(h->threads) schedule(static) reduction(+ : re, im)
        for (uint32_t k = 0; k < order_present(t, (uint32_t)w); k++) {
            if (!order_is_yours(t, (uint32_t)w, k)) continue;
            uint32_t who[MOST_BONDS];
            const order_share own = order_of(t, (uint32_t)w, k, who, 1);
            re += own.re;
            im += own.im;
        }
        h->sums[2 * w] = re;
        h->sums[2 * w + 1] = im;
    }
}

/* Two arrays of sums are used in turn: the kernel that adds to one clears the other, whose numbers have arrived. */
static int launch_sums(hexatic_order *h, const plugmc_host *host, order_task *t)
{
    const plugmc_gpu *gpu = host->gpu;
    const size_t bytes = (size_t)ORDER_COPIES * h->walkers * 2 * sizeof *h->sums;
    plugmc_device_pointer sums = h->device_sums[h->turn], next = h->device_sums[!h->turn];
    t->strips = cut_into_strips(t->count, (double)t->particles / t->cells, 1);
    t->strip_bytes = strip_bytes(&t->strips);
    const uint32_t lists = (MOST_BONDS + 1) * STRIP_BLOCK * (uint32_t)sizeof(uint32_t);
    uint32_t grid[3];
    grid_of_strips(&t->strips, t->count, h->walkers, grid);
    h->turn = !h->turn;
    const int code = gpu->launch(host->context, h->kernel, grid, (uint32_t[3]){STRIP_BLOCK, 1, 1},
                                 t->strip_bytes + lists, (void *[]){t, &sums, &next});
    return code ? code : gpu->download_later(host->context, h->sums, sums, bytes);
}

static int64_t particles_of(const hexatic_order *h, const plugmc_view *view, int32_t walker)
{
    int64_t n = h->numbers ? 0 : h->particles;
    for (int32_t s = 0; s < h->species && h->numbers; s++)
        n += view->count[(int64_t)walker * h->species + s];
    return n;
}

/* The sums of a view, on the GPU not before they arrive. */
static int find_sums(hexatic_order *h, const plugmc_host *host, const plugmc_view *view)
{
    plugmc_cells cells = {.size = sizeof cells};
    int code = check_reach(host, view, h->range, "the cutoff of neighbours");
    if (!code) code = view->cells(view, h->range, &cells);
    if (code) return code;
    order_task task = task_of(h, view, &cells);
    code = take_frames(&h->frames, host, view, &cells, &task.frames);
    if (code) return code;
    if (view->on_device) return launch_sums(h, host, &task);
    sum_on_host(h, &task);
    return PLUGMC_OK;
}

static int launch(void *instance, const plugmc_host *host, const plugmc_view *view)
{
    return find_sums(instance, host, view);
}

/* values [walkers][4, or 5]: the sums of psi_6(j) over particles, in fixed point; the rest follows from these. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    hexatic_order *h = instance;
    const int code = view->on_device ? PLUGMC_OK : find_sums(h, host, view);
    if (code) return code;
    const int32_t width = 4 + h->numbers;
    memset(values, 0, (size_t)(width * h->walkers) * sizeof *values);
    for (int32_t w = 0; w < h->walkers; w++) {
        int64_t sum[2] = {0, 0};
        for (int32_t c = 0; c < (view->on_device ? ORDER_COPIES : 1); c++)
            for (int k = 0; k < 2; k++) sum[k] += h->sums[2 * (c * h->walkers + w) + k];
        for (int k = 0; k < 2; k++) values[width * w + k] = (double)sum[k];
    }
    return PLUGMC_OK;
}

/* psi_6, its modulus and the square of that, from the sums over all particles. */
static void complete(void *instance, const plugmc_view *view, double *values)
{
    const hexatic_order *h = instance;
    for (int32_t w = 0; w < h->walkers; w++) {
        const double n = (double)particles_of(h, view, w),
                     unit = n > 0 ? 1 / ((double)((int64_t)1 << ORDER_BITS) * n) : 0;
        double *out = values + (4 + h->numbers) * w;
        const double re = unit * out[0], im = unit * out[1];
        out[0] = re;
        out[1] = im;
        out[2] = sqrt(re * re + im * im);
        out[3] = re * re + im * im;
        if (h->numbers) out[4] = n;
    }
}

static double reach(void *instance) { return ((const hexatic_order *)instance)->range; }

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    static const char *const all[][2] = {
        {"psi6_real", "real part of the global psi_6"},
        {"psi6_imaginary", "imaginary part of the global psi_6"},
        {"psi6_modulus", "modulus of the global psi_6"},
        {"psi6_squared", "squared modulus of the global psi_6"},
        {"particles", "number of particles"},
    };
    const hexatic_order *h = instance;
    if (index >= 4 + h->numbers) return 0;
    return plugmc_scalar(out, all[index][0], "", all[index][1]);
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    if (index > 0) return 0;
    return plugmc_scalar(out, "susceptibility", "", "N times the variance of the modulus of psi_6");
}

static int derive(void *instance, const double *means, double *out)
{
    const hexatic_order *h = instance;
    const double n = h->numbers ? means[4] : (double)h->particles;
    *out = n * (means[3] - means[2] * means[2]);
    return 0;
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance;
    const char *const texts[3] = {cell_strips_text, hexatic_order_kernel};
    if (index > 0 || !set_text_with_frames(host, "hexatic_order.cu", texts, out)) return 0;
    out->overlap = 1;
    return 1;
}

static int check_system(const hexatic_order *h, const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC || box->dimension != 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "hexatic order needs two dimensions and a periodic box");
    double edge = fmin(box->length[0], box->length[1]);
    if (!(h->range > 0))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "cutoff is in units of the largest diameter, which is 0");
    if (edge < 2 * h->range)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "cutoff = %g diameters exceeds half the edge %g of the box: a pair "
                          "could be neighbours on two sides",
                          h->cutoff, edge);
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    hexatic_order *h = instance;
    const plugmc_system *system = host->system;
    h->walkers = system->walkers;
    h->threads = system->threads;
    h->particles = system->particles;
    h->species = system->species_count;
    h->numbers = (system->changes & PLUGMC_CHANGED_COUNT) != 0;
    for (int32_t s = 0; s < system->species_count; s++)
        h->range = fmax(h->range, h->cutoff * plugmc_species_at(system, s)->diameter);
    int code = check_system(h, host);
    if (code) return code;
    const size_t bytes = (size_t)ORDER_COPIES * h->walkers * 2 * sizeof *h->sums;
    h->sums = host->allocate(host->context, bytes);
    if (!h->sums)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d walkers",
                          h->walkers);
    code = prepare_frames(&h->frames, host);
    if (code || !host->gpu) return code;
    plugmc_gpu_source text = {.size = sizeof text};
    if (!gpu_source(h, host, 0, &text)) return PLUGMC_ERROR_MEMORY;
    code = host->gpu->kernel(host->context, &text, "order_sums", &h->kernel);
    for (int k = 0; k < 2 && !code; k++)
        code = host->gpu->allocate(host->context, bytes, &h->device_sums[k]);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(hexatic_order, cutoff, "1.45", 0.5, 100, "largest diameters",
                    "particles closer than this are neighbours"),
};

/* All that it can give. */
static const plugmc_listing listing[] = {
    {"psi6_real", "", "real part of the global psi_6", 0, 0},
    {"psi6_imaginary", "", "imaginary part of the global psi_6", 0, 0},
    {"psi6_modulus", "", "modulus of the global psi_6", 0, 0},
    {"psi6_squared", "", "squared modulus of the global psi_6", 0, 0},
    {"particles", "", "number of particles; where it changes", 0, 0},
    {"susceptibility", "", "N times the variance of the modulus of psi_6", 0, 1},
};

static const plugmc_measures_later later = {
    .size = sizeof later, .launch = launch, .reads_cells_alone = 1};

static const plugmc_measures_shares shares = {
    .size = sizeof shares, .reach = reach, .complete = complete};

PLUGMC_PLUGIN(.name = "hexatic_order",
              .summary = "bond-orientational order psi_6 in two dimensions",
              .reference = "Nelson, Halperin, Phys. Rev. B 19, 2457 (1979)",
              PLUGMC_KEYS(hexatic_order, table),
              PLUGMC_OFFERS({PLUGMC_MEASURES_LATER, &later}, {PLUGMC_MEASURES_SHARES, &shares}),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .derived = derived, .derive = derive, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_ORIENTATION),
              .prepare = prepare, .gpu_source = gpu_source)
