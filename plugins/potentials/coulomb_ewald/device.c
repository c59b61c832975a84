/* The waves of an Ewald sum on a GPU: memory, and the order in which the kernels of coulomb_ewald.cu are launched. Nothing here
 * waits for the device. Kernels and memory are made when an energy is first asked for in device memory: movers that evaluate the
 * waves by themselves never do. */
#include <string.h>

#include "../../join_texts.h"
#include "sum_parts.h"
#include "device_task.h"

PLUGMC_EMBED(ewald_task_text, EWALD_TASK_FILE);
PLUGMC_EMBED(ewald_kernels, PLUGMC_KERNEL_FILE);

enum { PHASES, STRUCTURE, WEIGH, ADD_ENERGY, ADD_FORCES, KERNELS };

static const char *const names[KERNELS] = {"phases", "structure", "weigh", "add_energy",
                                           "add_forces"};

struct ewald_device {
    ewald_task task; /* but for what a request asks for */
    plugmc_kernel *kernel[KERNELS];
    double *constant; /* [walkers][2], for the host: ewald_task.constant */
    size_t together;  /* walkers that there is room for at a time */
};

int ewald_sum_gpu_source(const plugmc_host *host, plugmc_gpu_source *out)
{
    const char *text =
        join_texts(host, (const char *const[]){ewald_task_text, ewald_kernels, NULL});
    if (!text) return PLUGMC_ERROR_MEMORY;
    plugmc_set_gpu_source(out, &(plugmc_gpu_source){.name = "coulomb_ewald.cu",
                                                    .source = text,
                                                    .double_precision = 1,
                                                    .overlap = 1,
                                                    .contract = 1});
    return PLUGMC_OK;
}

static int prepare(ewald_sum *);
static int follow_boxes(ewald_sum *, ewald_task *, const plugmc_view *);
static int put_constants(ewald_sum *, const plugmc_view *);
static ewald_task from_walker(const ewald_task *, size_t walker);
static int find(const ewald_sum *, ewald_task *, uint32_t walkers);

int ewald_device_energy(ewald_sum *s, const plugmc_total_request *request)
{
    int code = s->device ? PLUGMC_OK : prepare(s);
    if (code) return code;
    ewald_task task = s->device->task;
    task.positions = request->view->positions;
    task.energy = request->energy;
    task.forces = request->forces;
    task.virial = request->virial;
    if (s->other.box) code = follow_boxes(s, &task, request->view);
    if (!code && (s->other.box || s->numbers_change)) code = put_constants(s, request->view);
    const size_t walkers = (size_t)s->system->walkers, together = s->device->together;
    for (size_t w = 0; w < walkers && !code; w += together) {
        ewald_task some = from_walker(&task, w);
        code = find(s, &some, (uint32_t)(walkers - w < together ? walkers - w : together));
    }
    return code;
}

/* Walkers from this one on; what the kernels keep meanwhile stays where it is. */
static ewald_task from_walker(const ewald_task *task, size_t walker)
{
    ewald_task t = *task;
    t.positions += 3 * walker * t.particles;
    t.constant += 2 * walker;
    if (t.own_boxes) t.box += walker;
    if (t.energy) t.energy += walker;
    if (t.virial) t.virial += 3 * walker;
    if (t.forces) t.forces += 3 * walker * t.particles;
    return t;
}

static int find(const ewald_sum *s, ewald_task *task, uint32_t walkers)
{
    const struct {
        int kernel;
        uint32_t x, z;
        int wanted;
    } launches[] = {
        {PHASES, (task->particles + EWALD_THREADS - 1) / EWALD_THREADS, 1, 1},
        {STRUCTURE, task->wave_blocks, task->parts, 1},
        {WEIGH, task->wave_blocks, 1, 1},
        {ADD_ENERGY, 1, 1, task->energy || task->virial},
        {ADD_FORCES, task->particles, 1, task->forces != NULL},
    };
    int code = PLUGMC_OK;
    for (int k = 0; k < PLUGMC_COUNT(launches) && !code; k++)
        if (launches[k].wanted)
            code = s->host->gpu->launch(s->host->context, s->device->kernel[launches[k].kernel],
                                        (uint32_t[3]){launches[k].x, walkers, launches[k].z},
                                        (uint32_t[3]){EWALD_THREADS, 1, 1}, 0, (void *[]){task});
    return code;
}

/* Those of the host are as they are when this is called. */
static int follow_boxes(ewald_sum *s, ewald_task *task, const plugmc_view *view)
{
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < s->system->walkers && !code; w++)
        code = waves_suffice(s, &view->box[w], w);
    task->own_boxes = 1;
    task->box = view->device_box;
    return code;
}

/* Energy, and virial along each axis, that do not depend on positions. count [species], or NULL: as at the start. */
static void constants_of(const ewald_sum *s, const plugmc_box *box, const int64_t *count,
                         double out[2])
{
    double self = s->self, net = s->net, squares;
    if (count) {
        charges_of(s, count, &squares, &net);
        self = self_energy(s, squares);
    }
    out[1] = background(s, box) * net * net;
    out[0] = self + out[1] + excluded_energy(s, count);
}

/* view: NULL for those of the start. */
static int put_constants(ewald_sum *s, const plugmc_view *view)
{
    double *constant = s->device->constant;
    for (int32_t w = 0; w < s->system->walkers; w++)
        constants_of(s, view && s->other.box ? &view->box[w] : &s->system->box,
                     view && s->numbers_change ? view->count + w * s->system->species_count : NULL,
                     &constant[2 * w]);
    return s->host->gpu->upload(s->host->context,
                                (plugmc_device_pointer)(uintptr_t)s->device->task.constant,
                                constant, 2 * (size_t)s->system->walkers * sizeof *constant);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static void fill_task(const ewald_sum *s, ewald_task *t)
{
    const uint32_t particles = (uint32_t)s->system->particles,
                   shortest = (particles + EWALD_PARTS - 1) / EWALD_PARTS,
                   length = shortest > EWALD_SHORTEST ? shortest : EWALD_SHORTEST;
    *t = (ewald_task){
        .bjerrum_length = s->bjerrum_length,
        .alpha = s->alpha,
        .most = {s->most[0], s->most[1], s->most[2]},
        .particles = particles,
        .waves = (uint32_t)s->waves,
        .phases = (uint32_t)(s->most[0] + s->most[1] + s->most[2] + 3),
        .parts = (particles + length - 1) / length,
        .length = length,
        .wave_blocks = (uint32_t)((s->waves + EWALD_THREADS - 1) / EWALD_THREADS),
        .numbers_change = s->numbers_change,
    };
}

/* As many walkers as fill EWALD_ROOM, so that thousands of them do not fill the device. */
static size_t walkers_together(const ewald_sum *s, const ewald_task *t)
{
    const size_t walkers = (size_t)s->system->walkers,
                 each = 2 * sizeof(double) *
                        ((size_t)t->particles * t->phases + (size_t)(t->parts + 1) * t->waves),
                 room = each < EWALD_ROOM ? EWALD_ROOM / each : 1,
                 some = room < EWALD_WALKERS ? room : EWALD_WALKERS;
    return some < walkers ? some : walkers;
}

static int take_memory(const ewald_sum *s, ewald_task *t, size_t together)
{
    const size_t walkers = (size_t)s->system->walkers, complex_size = 2 * sizeof(double);
    const struct {
        void *to;
        size_t bytes;
    } wanted[] = {
        {&t->charge, t->particles * sizeof(double)},
        {&t->wave, t->waves * sizeof(ewald_wave)},
        {&t->box, sizeof(plugmc_box)},
        {&t->constant, 2 * walkers * sizeof(double)},
        {&t->phase, together * t->particles * t->phases * complex_size},
        {&t->share, together * t->parts * t->waves * complex_size},
        {&t->pull, together * t->waves * complex_size},
        {&t->partial, together * t->wave_blocks * EWALD_SUMS * sizeof(double)},
    };
    int code = PLUGMC_OK;
    for (int i = 0; i < PLUGMC_COUNT(wanted) && !code; i++) {
        plugmc_device_pointer at = 0;
        code = s->host->gpu->allocate(s->host->context, wanted[i].bytes, &at);
        void *pointer = (void *)(uintptr_t)at;
        memcpy(wanted[i].to, &pointer, sizeof pointer);
    }
    return code;
}

static int put(const ewald_sum *s, const void *to, const void *from, size_t bytes)
{
    return s->host->gpu->upload(s->host->context, (plugmc_device_pointer)(uintptr_t)to, from,
                                bytes);
}

static int put_tables(const ewald_sum *s, const ewald_task *t)
{
    ewald_wave *wave = s->host->allocate(s->host->context, t->waves * sizeof *wave);
    if (!wave)
        return s->host->fail(s->host->context, PLUGMC_ERROR_MEMORY, "no memory for the waves");
    for (uint32_t k = 0; k < t->waves; k++)
        wave[k] = (ewald_wave){s->wave[k][0], s->wave[k][1], s->wave[k][2], 0};
    int code = put(s, t->wave, wave, t->waves * sizeof *wave);
    if (!code) code = put(s, t->charge, s->charge, t->particles * sizeof *s->charge);
    return code ? code : put(s, t->box, &s->system->box, sizeof s->system->box);
}

static int prepare(ewald_sum *s)
{
    const plugmc_host *host = s->host;
    struct ewald_device *d = host->allocate(host->context, sizeof *d);
    if (!d) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the waves");
    d->constant =
        host->allocate(host->context, 2 * (size_t)s->system->walkers * sizeof *d->constant);
    if (!d->constant)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the waves");
    plugmc_gpu_source text = {.size = sizeof text};
    int code = ewald_sum_gpu_source(host, &text);
    for (int k = 0; k < KERNELS && !code; k++)
        code = host->gpu->kernel(host->context, &text, names[k], &d->kernel[k]);
    fill_task(s, &d->task);
    d->together = walkers_together(s, &d->task);
    if (!code) code = take_memory(s, &d->task, d->together);
    if (!code) code = put_tables(s, &d->task);
    if (code) return code;
    s->device = d;
    return put_constants(s, NULL);
}
