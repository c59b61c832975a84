/* gpu.c: test insertions on a GPU. Walkers go in groups, so that the numbers of all their places fit into
 * a fixed amount of memory; the kernels are in widom.cu. */
#include <math.h>
#include <string.h>

#include "../../join_texts.h"
#include "widom.h"

PLUGMC_EMBED(sum_of_block_text, SUM_OF_BLOCK_FILE);
PLUGMC_EMBED(places_text, WIDOM_PLACES_FILE);
PLUGMC_EMBED(kernels_text, PLUGMC_KERNEL_FILE);

enum { MOST_PARTS = 64, MOST_ROWS = 32768 };
static const size_t GROUP_PLACES = (size_t)1 << 25;

typedef struct buffer {
    plugmc_device_pointer at;
    size_t bytes;
} buffer;

typedef struct widom_device {
    plugmc_kernel *count, *begin, *list, *insert, *sum;
    plugmc_device_pointer species; /* [particles] uint16_t */
    plugmc_device_pointer square;  /* [WIDOM_SQUARES][species] */
    buffer begins, nexts;          /* [rows][cells + 1] */
    buffer lists, values;          /* [rows][places] */
    plugmc_device_pointer parts;   /* [walkers][MOST_PARTS] */
    double *host_parts;
    double widest; /* length^2 */
} widom_device;

int widom_gpu_source(const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    if (index > 0) return 0;
    const char *text =
        join_texts(host, (const char *const[]){sum_of_block_text, places_text, kernels_text, NULL});
    plugmc_set_gpu_source(out, &(plugmc_gpu_source){.name = "widom.cu",
                                                    .source = text,
                                                    .fuse = PLUGMC_FUSE_SAMPLED,
                                                    .double_precision = 1,
                                                    .contract = 1});
    return text != NULL;
}

/* ---- A measurement --------------------------------------------------------------------------- */

static int grow(const plugmc_host *host, buffer *b, size_t bytes)
{
    if (b->bytes >= bytes) return PLUGMC_OK;
    int code = b->at ? host->gpu->release(host->context, b->at) : PLUGMC_OK;
    *b = (buffer){0, 0};
    if (!code) code = host->gpu->allocate(host->context, bytes, &b->at);
    if (!code) b->bytes = bytes;
    return code;
}

static void *on_device(plugmc_device_pointer p) { return (void *)(uintptr_t)p; }

static int make_room(widom_device *g, const plugmc_host *host, const widom_places *p, size_t rows,
                     widom_task *task)
{
    const size_t starts = rows * ((size_t)p->cells + 1) * sizeof(uint32_t),
                 places = rows * p->places;
    const int sorted = !p->per_cell;
    int code = grow(host, &g->values, places * sizeof(double));
    if (!code && sorted) code = grow(host, &g->begins, starts);
    if (!code && sorted) code = grow(host, &g->nexts, starts);
    if (!code && sorted) code = grow(host, &g->lists, places * sizeof(uint32_t));
    task->value = on_device(g->values.at);
    task->begin = on_device(g->begins.at);
    task->next = on_device(g->nexts.at);
    task->list = on_device(g->lists.at);
    return code;
}

static int launch(const plugmc_host *host, plugmc_kernel *kernel, uint32_t x, uint32_t y,
                  uint32_t threads, void **arguments)
{
    return host->gpu->launch(host->context, kernel, (uint32_t[3]){x, y, 1},
                             (uint32_t[3]){threads, 1, 1}, 0, arguments);
}

/* Uniform places of a group, by cell. */
static int sort_places(const widom_device *g, const plugmc_host *host, widom_task *t, uint32_t rows)
{
    const uint32_t blocks = (t->places.places + WIDOM_ADDING - 1) / WIDOM_ADDING;
    int code = host->gpu->fill(host->context, g->begins.at, 0,
                               rows * ((size_t)t->places.cells + 1) * sizeof(uint32_t));
    if (!code) code = launch(host, g->count, blocks, rows, WIDOM_ADDING, (void *[]){t});
    if (!code) code = launch(host, g->begin, rows, 1, WIDOM_ADDING, (void *[]){t});
    if (!code) code = launch(host, g->list, blocks, rows, WIDOM_ADDING, (void *[]){t});
    return code;
}

static widom_task task_of(const widom *w, const plugmc_view *view, const plugmc_cells *cells,
                          const widom_places *places)
{
    return (widom_task){.places = *places,
                        .boxes = view->device_box,
                        .start = cells->start,
                        .order = cells->order,
                        .positions = cells->positions,
                        .species = on_device(w->device->species),
                        .square = on_device(w->device->square),
                        .widest = w->device->widest * (1 + 1e-9), /* for rounding */
                        .near_limit = w->near_limit,
                        .particles = (uint32_t)w->system->particles,
                        .species_count = w->system->species_count,
                        .inserted = w->inserted,
                        .all = w->far_count > 0 || w->system->box.oblique};
}

/* All groups; parts of the sums of each walker come to the host. */
static int insert_groups(widom *w, const plugmc_host *host, widom_task *t, uint32_t parts)
{
    widom_device *g = w->device;
    const uint32_t walkers = (uint32_t)w->system->walkers, places = t->places.places;
    size_t most = GROUP_PLACES / places + 1;
    if (most > MOST_ROWS) most = MOST_ROWS;
    if (most > walkers) most = walkers;
    int code = make_room(g, host, &t->places, most, t);
    for (uint32_t first = 0; first < walkers && !code; first += (uint32_t)most) {
        const uint32_t rows = walkers - first < most ? walkers - first : (uint32_t)most;
        t->first = first;
        if (!t->places.per_cell) code = sort_places(g, host, t, rows);
        if (!code)
            code = launch(host, g->insert, t->places.cells, rows, WIDOM_THREADS, (void *[]){t});
        if (!code) code = launch(host, g->sum, parts, rows, WIDOM_ADDING, (void *[]){t, &g->parts});
    }
    return code ? code
                : host->gpu->download(host->context, g->host_parts, g->parts,
                                      (size_t)walkers * parts * sizeof(double));
}

int widom_insert_gpu(widom *w, const plugmc_host *host, const plugmc_view *view)
{
    plugmc_cells cells = {.size = sizeof cells};
    widom_places places;
    const double *multipliers;
    size_t row = 0;
    int code = widom_lay_out(w, host, view, &cells, &places);
    if (!code) code = widom_multipliers(w, host, PLUGMC_ON_DEVICE, &multipliers, &row);
    if (code) return code;
    widom_task task = task_of(w, view, &cells, &places);
    task.multipliers = (const uint8_t *)multipliers;
    task.row = row;
    uint32_t parts = places.places / (4 * WIDOM_ADDING) + 1;
    if (parts > MOST_PARTS) parts = MOST_PARTS;
    code = insert_groups(w, host, &task, parts);
    for (int32_t k = 0; k < w->system->walkers && !code; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < parts; i++) sum += w->device->host_parts[(size_t)k * parts + i];
        w->found[k] = sum / places.places;
    }
    return code;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static int find_kernels(widom_device *g, const plugmc_host *host)
{
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } wanted[] = {{"widom_count", &g->count},
                  {"widom_begin", &g->begin},
                  {"widom_list", &g->list},
                  {"widom_insert", &g->insert},
                  {"widom_sum", &g->sum}};
    plugmc_gpu_source text = {.size = sizeof text};
    int code = widom_gpu_source(host, 0, &text) ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && !code; i++)
        code = host->gpu->kernel(host->context, &text, wanted[i].name, wanted[i].kernel);
    return code;
}

static int upload_new(const plugmc_host *host, const void *from, size_t bytes,
                      plugmc_device_pointer *to)
{
    const int code = host->gpu->allocate(host->context, bytes, to);
    return code ? code : host->gpu->upload(host->context, *to, from, bytes);
}

int widom_prepare_gpu(widom *w, const plugmc_host *host)
{
    const plugmc_system *system = w->system;
    const int32_t n = system->species_count;
    const size_t parts = (size_t)system->walkers * MOST_PARTS * sizeof(double);
    widom_device *g = w->device = host->allocate(host->context, sizeof *g);
    uint16_t *species = host->allocate(host->context, (size_t)system->particles * sizeof *species);
    double *square = host->allocate(host->context, (size_t)(WIDOM_SQUARES * n) * sizeof *square);
    if (g) g->host_parts = host->allocate(host->context, parts);
    if (!g || !species || !square || !g->host_parts)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld particles",
                          (long long)system->particles);
    for (int32_t s = 0; s < n; s++) {
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) species[i] = (uint16_t)s;
        for (int k = 0; k < WIDOM_SQUARES; k++) square[k * n + s] = w->square[k][s];
        g->widest = fmax(g->widest, w->square[WIDOM_HOPELESS][s]);
    }
    int code = find_kernels(g, host);
    if (!code)
        code = upload_new(host, species, (size_t)system->particles * sizeof *species, &g->species);
    if (!code)
        code = upload_new(host, square, (size_t)(WIDOM_SQUARES * n) * sizeof *square, &g->square);
    return code ? code : host->gpu->allocate(host->context, parts, &g->parts);
}
