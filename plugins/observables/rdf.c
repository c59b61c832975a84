/* rdf: the radial distribution functions g(r) of all pairs of species.
 *
 * Pair distances up to r_max are counted in bins of equal width and divided by the number that
 * independent particles would give: with N_a and N_b particles in the volume V and a shell v(r)
 * between the edges of the bin,
 *
 *     g_ab(r) = n_ab(r) V / (pairs v(r)),   pairs = N_a N_b, or N_a (N_a - 1) / 2 for a = b,
 *
 * which makes g = 1 for the ideal gas whatever the number of particles (M. P. Allen,
 * D. J. Tildesley, Computer Simulation of Liquids, section 8.2). Shells are whole up to half the
 * smallest edge of the periodic box, so r_max may not be more.
 *
 * Neighbours come from cells of width r_max. That is a loop over all pairs where r_max is more than
 * a third of the edges, and less work else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/plugin.h>

#include PLUGMC_KERNEL_FILE

PLUGMC_EMBED(rdf_kernel, PLUGMC_KERNEL_FILE);

typedef struct rdf {
    real r_max;   /* parameter, length */
    int64_t bins; /* parameter */

    double range; /* length: r_max, or half the smallest edge */
    int32_t walkers, threads, rows;
    int64_t particles;
    char **names;      /* [rows] "disk-disk" */
    double *radius;    /* [bins] middle of the bin, length */
    double *factor;    /* [rows][bins]: g of one pair in a bin */
    int32_t *row;      /* [species][species]: histogram of a pair; those of pairs that cannot be
                          (of one particle with itself) are the last and left out */
    int32_t row_total; /* with the last one */
    uint16_t *species; /* [particles] */
    uint64_t *counts;  /* [walkers][row_total][bins] */
    size_t count_bytes;
    plugmc_kernel *kernel;
    plugmc_device_pointer device_row, device_species, device_counts;
} rdf;

/* ---- What is measured ---------------------------------------------------------------------- */

static rdf_task task_of(const rdf *g, const plugmc_system *system, const plugmc_view *view,
                        const plugmc_cells *cells)
{
    rdf_task t = {
        .start = cells->start,
        .order = cells->order,
        .positions = cells->positions,
        .species = g->species,
        .row = g->row,
        .particles = (uint32_t)g->particles,
        .cells = (uint32_t)cells->cells,
        .species_count = system->species_count,
        .rows = g->row_total,
        .bins = (int32_t)g->bins,
        .reach_square = (float)(g->range * g->range),
        .bins_per_length = (float)((double)g->bins / g->range),
    };
    for (int a = 0; a < 3; a++) {
        t.length[a] = system->box.length[a];
        t.width[a] = cells->width[a];
        t.count[a] = cells->count[a];
    }
    if (view->on_device) {
        t.species = (const uint16_t *)(uintptr_t)g->device_species;
        t.row = (const int32_t *)(uintptr_t)g->device_row;
    }
    return t;
}

/* Blocks are handed out as threads become free: counts are integers, the order is not seen. */
static void count_block(const rdf *g, const rdf_task *t, uint32_t walker, uint32_t block,
                        uint32_t *local)
{
    const size_t size = (size_t)g->row_total * (size_t)g->bins;
    const uint32_t first = block * RDF_BLOCK;
    const uint32_t end = t->particles - first < RDF_BLOCK ? t->particles : first + RDF_BLOCK;
    memset(local, 0, size * sizeof *local);
    for (uint32_t k = first; k < end; k++) count_distances(t, walker, k, local);
    for (size_t b = 0; b < size; b++)
        if (local[b] > 0)
            __atomic_fetch_add(&g->counts[walker * size + b], local[b], __ATOMIC_RELAXED);
}

static int count_on_host(const rdf *g, const plugmc_host *host, const rdf_task *t)
{
    const uint32_t blocks = (t->particles + RDF_BLOCK - 1) / RDF_BLOCK;
    int short_of_memory = 0;
    memset(g->counts, 0, g->count_bytes);
#pragma omp parallel num_threads(g->threads) reduction(| : short_of_memory)
    {
        uint32_t *local = malloc((size_t)g->row_total * (size_t)g->bins * sizeof *local);
        short_of_memory = local == NULL;
#pragma omp for schedule(dynamic) collapse(2)
        for (int32_t walker = 0; walker < g->walkers; walker++)
            for (uint32_t block = 0; block < blocks; block++)
                if (local) count_block(g, t, (uint32_t)walker, block, local);
        free(local);
    }
    return short_of_memory ? host->fail(host->context, PLUGMC_ERROR_MEMORY,
                                        "no memory for the histograms of the threads")
                           : PLUGMC_OK;
}

static int count_on_device(const rdf *g, const plugmc_host *host, rdf_task *t)
{
    const plugmc_gpu *gpu = host->gpu;
    plugmc_device_pointer counts = g->device_counts;
    uint32_t blocks = (t->particles + RDF_BLOCK - 1) / RDF_BLOCK;
    int code = gpu->fill(host->context, counts, 0, g->count_bytes);
    if (!code)
        code = gpu->launch(host->context, g->kernel,
                           (uint32_t[3]){blocks, (uint32_t)g->walkers, 1},
                           (uint32_t[3]){RDF_BLOCK, 1, 1},
                           (uint32_t)(t->rows * t->bins) * (uint32_t)sizeof(uint32_t),
                           (void *[]){t, &counts});
    return code ? code : gpu->download(host->context, g->counts, counts, g->count_bytes);
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    rdf *g = instance;
    plugmc_cells cells = {.size = sizeof cells};
    int code = view->cells(view, g->range, &cells);
    if (code) return code;
    rdf_task task = task_of(g, host->system, view, &cells);
    code = view->on_device ? count_on_device(g, host, &task) : count_on_host(g, host, &task);
    if (code) return code;
    const int64_t size = g->rows * g->bins, all = g->row_total * g->bins;
    for (int64_t w = 0; w < g->walkers; w++)
        for (int64_t b = 0; b < size; b++)
            values[w * size + b] = g->factor[b] * (double)g->counts[w * all + b];
    return PLUGMC_OK;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const rdf *g = instance;
    if (index >= g->rows) return 0;
    *out = (plugmc_quantity){g->names[index], g->bins, "", "radial distribution function",
                             g->radius, "r"};
    return 1;
}

/* ---- Preparation --------------------------------------------------------------------------- */

static double shell(int dimension, double low, double high)
{
    return dimension == 2 ? M_PI * (high * high - low * low)
                          : 4 * M_PI / 3 * (high * high * high - low * low * low);
}

/* The histogram of species a and b: its name, and what one pair in a bin is worth. */
static int prepare_row(rdf *g, const plugmc_host *host, int32_t a, int32_t b, double pairs)
{
    const plugmc_box *box = &host->system->box;
    const char *name_a = host->system->species[a].name, *name_b = host->system->species[b].name;
    const size_t bytes = strlen(name_a) + strlen(name_b) + 2;
    const double width = g->range / (double)g->bins;
    char *name = host->allocate(host->context, bytes);
    if (!name) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a name");
    snprintf(name, bytes, "%s-%s", name_a, name_b);
    g->names[g->rows] = name;
    for (int64_t i = 0; i < g->bins; i++) {
        double low = width * (double)i;
        g->factor[g->rows * g->bins + i] =
            box->volume / (pairs * shell(box->dimension, low, low + width));
    }
    g->row[a * host->system->species_count + b] = g->rows;
    g->row[b * host->system->species_count + a] = g->rows;
    g->rows++;
    return PLUGMC_OK;
}

static int prepare_rows(rdf *g, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const int32_t n = system->species_count;
    int code = PLUGMC_OK;
    for (int32_t ab = 0; ab < n * n; ab++) g->row[ab] = n * (n + 1) / 2;
    for (int32_t a = 0; a < n && !code; a++) {
        for (int32_t b = a; b < n && !code; b++) {
            double count_a = (double)system->species[a].count;
            double pairs = a == b ? count_a * (count_a - 1) / 2
                                  : count_a * (double)system->species[b].count;
            if (pairs > 0) code = prepare_row(g, host, a, b, pairs);
        }
    }
    /* pairs that cannot be were given the row after the last */
    for (int32_t ab = 0; ab < n * n; ab++)
        if (g->row[ab] > g->rows) g->row[ab] = g->rows;
    g->row_total = g->rows + 1;
    return code;
}

static int allocate_host(rdf *g, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const size_t n = (size_t)system->species_count, bins = (size_t)g->bins;
    const size_t most = n * (n + 1) / 2;
    g->names = host->allocate(host->context, most * sizeof *g->names);
    g->radius = host->allocate(host->context, bins * sizeof *g->radius);
    g->factor = host->allocate(host->context, most * bins * sizeof *g->factor);
    g->row = host->allocate(host->context, n * n * sizeof *g->row);
    g->species = host->allocate(host->context, (size_t)g->particles * sizeof *g->species);
    g->count_bytes = (size_t)g->walkers * (most + 1) * bins * sizeof *g->counts;
    g->counts = host->allocate(host->context, g->count_bytes);
    if (!g->names || !g->radius || !g->factor || !g->row || !g->species || !g->counts)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld bins",
                          (long long)g->bins);
    for (size_t i = 0; i < bins; i++) g->radius[i] = g->range * ((double)i + 0.5) / (double)g->bins;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++)
            g->species[i] = (uint16_t)s;
    return PLUGMC_OK;
}

static int kernel_text(void *instance, const plugmc_host *host, int index, plugmc_kernel_text *out)
{
    (void)instance, (void)host;
    *out = (plugmc_kernel_text){.size = sizeof(plugmc_kernel_text), .name = "rdf.cu", .text = rdf_kernel, .double_precision = 1};
    return index == 0;
}

static int prepare_device(rdf *g, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    const size_t n = (size_t)host->system->species_count;
    const size_t species = (size_t)g->particles * sizeof *g->species, row = n * n * sizeof *g->row;
    const int64_t shared = g->row_total * g->bins * (int64_t)sizeof(uint32_t);
    if (shared > gpu->shared_per_block)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%d histograms of %lld bins need %lld bytes of shared memory, and a "
                          "block of this GPU has %d: take fewer bins",
                          g->row_total, (long long)g->bins, (long long)shared,
                          gpu->shared_per_block);
    plugmc_kernel_text text;
    kernel_text(g, host, 0, &text);
    int code = gpu->kernel(host->context, &text, "distances", &g->kernel);
    if (!code) code = gpu->allocate(host->context, species, &g->device_species);
    if (!code) code = gpu->allocate(host->context, row, &g->device_row);
    if (!code) code = gpu->allocate(host->context, g->count_bytes, &g->device_counts);
    if (!code) code = gpu->upload(host->context, g->device_species, g->species, species);
    if (!code) code = gpu->upload(host->context, g->device_row, g->row, row);
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    rdf *g = instance;
    const plugmc_system *system = host->system;
    const plugmc_box *box = &system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "g(r) is normalised by whole shells, which a confining sphere cuts: it "
                          "needs a periodic box");
    double half = fmin(box->length[0], box->length[1]) / 2;
    if (box->dimension == 3) half = fmin(half, box->length[2] / 2);
    if (g->r_max > half)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "r_max = %g is more than half the smallest edge of the box, %g", g->r_max,
                          half);
    g->range = g->r_max > 0 ? g->r_max : half;
    g->walkers = system->walkers;
    g->threads = system->threads;
    g->particles = system->particles;
    int code = allocate_host(g, host);
    if (!code) code = prepare_rows(g, host);
    if (!code && host->gpu) code = prepare_device(g, host);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(rdf, r_max, "0", 0, 1e300, "length",
                    "largest distance; 0: half the smallest edge of the box"),
    PLUGMC_INTEGER_KEY(rdf, bins, "200", 1, 100000, "", "bins of each function"),
};

static const plugmc_observable observable = {
    .size = sizeof observable,
    .on_device = 1,
    .quantity = quantity,
    .measure = measure,
};

PLUGMC_PLUGIN(.kind = PLUGMC_OBSERVABLE, .name = "rdf",
              .summary = "radial distribution functions of all pairs of species",
              .reference = "Allen, Tildesley, Computer Simulation of Liquids, section 8.2",
              .instance_size = sizeof(rdf), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .observable = &observable,
              .prepare = prepare, .kernel_text = kernel_text)
