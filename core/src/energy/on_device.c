#include "energy/on_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "energy/energies_task.h"
#include "system/both_sides.h"
#include "system/geometry.h"
#include "system/system.h"

PLUGMC_EMBED(text_of_energies_task, PLUGMC_INCLUDE_PATH "/../../src/energy/energies_task.h");
PLUGMC_EMBED(text_of_energies, PLUGMC_INCLUDE_PATH "/../../src/energy/energies.cu");
PLUGMC_EMBED(text_of_energies_whole, PLUGMC_INCLUDE_PATH "/../../src/energy/energies_whole.cu");
PLUGMC_EMBED(text_of_trials_task, PLUGMC_INCLUDE_PATH "/../../src/energy/trials_task.h");
PLUGMC_EMBED(text_of_trials, PLUGMC_INCLUDE_PATH "/../../src/energy/trials.cu");
PLUGMC_EMBED(text_of_walk_task, PLUGMC_INCLUDE_PATH "/../../src/energy/walk_task.h");
PLUGMC_EMBED(text_of_walk_bodies, PLUGMC_INCLUDE_PATH "/../../src/energy/walk_bodies.cu");
PLUGMC_EMBED(text_of_walk_meet, PLUGMC_INCLUDE_PATH "/../../src/energy/walk_meet.cu");
PLUGMC_EMBED(text_of_walk_groups, PLUGMC_INCLUDE_PATH "/../../src/energy/walk_groups.cu");
PLUGMC_EMBED(text_of_walk_molecules, PLUGMC_INCLUDE_PATH "/../../src/energy/walk_molecules.cu");
PLUGMC_EMBED(text_of_walk_waves, PLUGMC_INCLUDE_PATH "/../../src/energy/walk_waves.cu");
PLUGMC_EMBED(text_of_walk_proposals, PLUGMC_INCLUDE_PATH "/../../src/energy/walk_proposals.cu");
PLUGMC_EMBED(text_of_walk_pool, PLUGMC_INCLUDE_PATH "/../../src/energy/walk_pool.cu");
PLUGMC_EMBED(text_of_walk, PLUGMC_INCLUDE_PATH "/../../src/energy/walk.cu");
PLUGMC_EMBED(text_of_walk_shared, PLUGMC_INCLUDE_PATH "/../../src/energy/walk_shared.cu");

/* ---- Opening ------------------------------------------------------------------------------------- */

/* A part of a GPU source; its name is that of its file in messages of the compiler. */
typedef struct source_part {
    const char *name, *text;
} source_part;

static void put_parts(FILE *out, const source_part *parts, size_t count)
{
    for (size_t k = 0; k < count; k++)
        fprintf(out, "#line 1 \"%s\"\n%s\n", parts[k].name, parts[k].text);
}

/* Trials as a mover proposes them. */
static void put_trials(FILE *out, const plugmc_plugin *mover, uint32_t beside)
{
    const bool one_by_one = beside & BESIDE_ONE_BY_ONE, bodies = beside & BESIDE_BODIES;
    const source_part swaps = {"trials.cu", text_of_trials},
                      walk[] = {{"walk_bodies.cu", text_of_walk_bodies},
                                {"walk_meet.cu", text_of_walk_meet},
                                {"walk_groups.cu", text_of_walk_groups},
                                {"walk_molecules.cu", text_of_walk_molecules},
                                {"walk_waves.cu", text_of_walk_waves},
                                {"walk_proposals.cu", text_of_walk_proposals},
                                {"walk_pool.cu", text_of_walk_pool},
                                {"walk.cu", text_of_walk},
                                {"walk_shared.cu", text_of_walk_shared}};
    fprintf(out,
            "#define WALK_MOLECULES %d\n#define WALK_WAVES %d\n#define WALK_RESERVOIR %d\n"
            "#define WALK_BODIES %d\n#define WALK_ONE_BY_ONE %d\n",
            (beside & BESIDE_MOLECULES) != 0, (beside & BESIDE_WAVES) != 0,
            (beside & BESIDE_RESERVOIR) != 0, bodies, one_by_one);
    fprintf(out, "%s%s#include \"plugmc/proposal.h\"\nnamespace plugmc_mover {\n",
            text_of_trials_task, text_of_walk_task);
    fprintf(out, "#line 1 \"%s\"\n%.*s\n}\n", mover->source_name ? mover->source_name : mover->name,
            (int)(mover->source_end - mover->source), mover->source);
    if (!one_by_one && !bodies) put_parts(out, &swaps, 1);
    put_parts(out, walk, sizeof walk / sizeof walk[0]);
}

int on_device_text(const plugmc_plugin *mover, uint32_t beside, plugmc_gpu_source *out,
                   char **joined)
{
    const source_part energies[] = {{"energies_task.h", text_of_energies_task},
                                    {"energies.cu", text_of_energies}},
                      whole = {"energies_whole.cu", text_of_energies_whole};
    size_t length;
    *joined = NULL;
    *out = (plugmc_gpu_source){.size = sizeof *out,
                               .name = mover ? mover->name : "energies.cu",
                               .fuse = PLUGMC_FUSE_SAMPLED,
                               .double_precision = 1};
    FILE *text = open_memstream(joined, &length);
    if (!text) return PLUGMC_ERROR_MEMORY;
    put_parts(text, energies, 2);
    if (mover)
        put_trials(text, mover, beside);
    else
        put_parts(text, &whole, 1);
    const bool failed = ferror(text) | fclose(text);
    if (failed) {
        free(*joined);
        *joined = NULL;
    }
    out->source = *joined;
    return failed ? PLUGMC_ERROR_MEMORY : PLUGMC_OK;
}

static int find_kernels(device_energies *d, const plugmc_host *host)
{
    plugmc_gpu_source text;
    char *joined;
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } wanted[] = {{"energies_whole", &d->whole},
                  {"energies_sum_tiles", &d->sum_tiles},
                  {"energies_rescale", &d->rescale},
                  {"energies_take", &d->take}};
    int code = on_device_text(NULL, 0, &text, &joined);
    if (code) return host->fail(host->context, code, "no memory for a GPU source");
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && !code; i++)
        code = host->gpu->kernel(host->context, &text, wanted[i].name, wanted[i].kernel);
    free(joined);
    return code;
}

/* Threads that share a particle where everyone is met. */
static uint32_t shares_of(const hamiltonian *h)
{
    const int64_t shares = h->system->particles / 2 / ENERGIES_MET;
    return (uint32_t)(shares < 1 ? 1 : shares < ENERGIES_SHARES ? shares : ENERGIES_SHARES);
}

/* Blocks a walker. */
static uint32_t tiles_of(const hamiltonian *h, uint32_t shares)
{
    return (uint32_t)((h->system->particles * shares + ENERGIES_THREADS - 1) / ENERGIES_THREADS);
}

int on_device_open(hamiltonian *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    const size_t walkers = (size_t)system->walkers, terms = (size_t)system->term_count;
    if (h->device) return PLUGMC_OK;
    device_energies *d = h->device = calloc(1, sizeof *d);
    if (d) d->host_energy = calloc(walkers * (terms + 1), sizeof(double));
    if (!d || !d->host_energy)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for energies");
    d->tiles = tiles_of(h, 1);
    const size_t tiles = tiles_of(h, shares_of(h));
    const struct {
        plugmc_device_pointer *at;
        size_t bytes;
    } buffers[] = {{&d->parts, walkers * (terms + 1) * tiles * sizeof(double)},
                   {&d->energy, walkers * (terms + 1) * sizeof(double)},
                   {&d->sums, walkers * sizeof(double)},
                   {&d->taken, walkers * sizeof(int32_t)}};
    int code = find_kernels(d, host);
    if (!code && system->molecules) code = on_device_molecules(host, &d->molecule);
    if (!code) code = on_device_kinds(host, &d->molecules);
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0] && !code; i++)
        code = host->gpu->allocate(host->context, buffers[i].bytes, buffers[i].at);
    return code;
}

void on_device_close(hamiltonian *h)
{
    if (!h->device) return;
    on_device_close_trials(h);
    on_device_close_walk(h);
    free(h->device->host_energy);
    free(h->device); /* memory on the device goes with it */
    h->device = NULL;
}

/* Without orientations, which a view has in host memory: they would be copied there with each sweep. */
enum { VIEW_OF_DEVICE = offsetof(plugmc_view, orientations) };

/* ---- Energies of a view ---------------------------------------------------------------------------- */

int on_device_view(hamiltonian *h, const plugmc_host *host, plugmc_view *view)
{
    double *positions;
    int code = hamiltonian_store(h, h->state);
    if (!code) code = plugmc_state_positions(h->state, PLUGMC_ON_DEVICE, PLUGMC_READ, &positions);
    view->size = VIEW_OF_DEVICE;
    return code ? code : host->view(host->context, positions, 1, view);
}

/* Cells spare nobody a pair where all of them are around each of them. To sort a few hard cores into them takes longer than to
 * look at all pairs, and what these answer does not depend on their order. */
static bool all_are_near(const hamiltonian *h, const plugmc_view *view)
{
    if (hamiltonian_is_of_hard_cores(h) && h->system->particles <= ENERGIES_THREADS) return true;
    const cell_grid grid =
        cell_grid_make(view->box, h->system->walkers, h->system->particles, h->reach);
    return grid.count[0] <= 3 && grid.count[1] <= 3 && grid.count[2] <= 3;
}

int on_device_task(hamiltonian *h, const plugmc_host *host, const plugmc_view *view,
                   bool cells_wanted, energies_task *t)
{
    const plugmc_state *state = h->state;
    plugmc_cells cells = {.size = sizeof cells};
    void *species = NULL, *orientations = NULL;
    const bool some =
        h->system->changes & PLUGMC_CHANGED_COUNT; /* are not there: no cells of them */
    const bool everyone = some || (!cells_wanted && h->reach > 0 && all_are_near(h, view));
    *t = (energies_task){.particles = (uint32_t)h->system->particles,
                         .tiles = h->device->tiles,
                         .shares = 1,
                         .all_pairs = h->has_far || (everyone && h->reach > 0),
                         .some = some,
                         .no_pairs = !h->has_far && h->reach == 0,
                         .positions = view->positions,
                         .boxes = view->device_box,
                         .molecule = at_device(h->device->molecule)};
    int code =
        state->array(state, PLUGMC_STATE_SPECIES, PLUGMC_ON_DEVICE, PLUGMC_READ, &species, NULL);
    if (!code && any_bodies(h->system))
        code = state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_DEVICE, PLUGMC_READ,
                            &orientations, NULL);
    t->species = species;
    t->orientations = orientations;
    if (code || t->all_pairs || t->no_pairs) return code;
    /* a hair wider than the reach, for rounding, as on the host */
    code = view->cells(view, h->reach * (1 + 1e-12), &cells);
    memcpy(t->count, cells.count, sizeof t->count);
    t->cells = (uint32_t)cells.cells;
    t->start = cells.start;
    t->order = cells.order;
    t->positions = cells.positions;
    (void)host;
    return code;
}

int on_device_launch(const plugmc_host *host, plugmc_kernel *kernel, uint64_t blocks,
                     uint32_t threads, void **arguments)
{
    return on_device_launch_with(host, kernel, blocks, threads, 0, arguments);
}

int on_device_launch_with(const plugmc_host *host, plugmc_kernel *kernel, uint64_t blocks,
                          uint32_t threads, uint32_t shared, void **arguments)
{
    const uint32_t grid[3] = {(uint32_t)blocks, 1, 1}, block[3] = {threads, 1, 1};
    if (blocks > INT32_MAX)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY,
                          "too many particles and walkers for energies on a GPU");
    return host->gpu->launch(host->context, kernel, grid, block, shared, arguments);
}

/* Pairs and fields: out [walkers][terms] in host_energy; forbidden [walkers]. */
static int find_parts(hamiltonian *h, const plugmc_host *host, const plugmc_view *view,
                      int32_t *forbidden)
{
    device_energies *d = h->device;
    const plugmc_gpu *gpu = host->gpu;
    const size_t walkers = (size_t)h->system->walkers, terms = (size_t)h->system->term_count,
                 energies = walkers * terms * sizeof(double), flags = walkers * sizeof *forbidden;
    plugmc_device_pointer on_device = d->energy + energies;
    energies_task task;
    int code = on_device_task(h, host, view, false, &task);
    if (task.all_pairs) task.shares = shares_of(h);
    task.tiles = tiles_of(h, task.shares);
    if (!code) code = gpu->fill(host->context, on_device, 0, flags);
    if (!code)
        code = on_device_launch(host, d->whole, walkers * task.tiles, ENERGIES_THREADS,
                                (void *[]){&task, &d->parts, &on_device});
    if (!code && terms)
        code = on_device_launch(host, d->sum_tiles, walkers * terms, ENERGIES_SUMMED,
                                (void *[]){&task.tiles, &d->parts, &d->energy});
    if (!code) code = gpu->download(host->context, d->host_energy, d->energy, energies + flags);
    if (!code) memcpy(forbidden, (const char *)d->host_energy + energies, flags);
    return code;
}

/* A total that takes host memory alone gets it. */
static int ask_on_host(hamiltonian *h, const plugmc_host *host, const plugmc_view *view,
                       const energy_term *t)
{
    const size_t bytes =
        (size_t)h->system->walkers * (size_t)h->system->particles * 3 * sizeof(double);
    plugmc_view here = {.size = sizeof here, .box = view->box, .count = view->count};
    int code = PLUGMC_OK;
    if (t->total_moves) { /* else it is asked of boxes alone */
        code = host->gpu->download(host->context, h->positions,
                                   (plugmc_device_pointer)(uintptr_t)view->positions, bytes);
        if (!code) code = host->view(host->context, h->positions, 0, &here);
        here.box = view->box;
    }
    const plugmc_total_request request = {.size = sizeof request, .view = &here, .energy = h->sums};
    memset(h->sums, 0, sizeof(double) * (size_t)h->system->walkers);
    return code ? code : t->total->energy(t->of->instance, &request);
}

/* Energies of a total into h->sums. */
static int ask_total(hamiltonian *h, const plugmc_host *host, const plugmc_view *view,
                     const energy_term *t)
{
    device_energies *d = h->device;
    const size_t bytes = (size_t)h->system->walkers * sizeof(double);
    const plugmc_total_request request = {
        .size = sizeof request, .view = view, .energy = at_device(d->sums)};
    if (!t->total->on_device || !t->total_moves) return ask_on_host(h, host, view, t);
    int code = host->gpu->fill(host->context, d->sums, 0, bytes);
    if (!code) code = t->total->energy(t->of->instance, &request);
    return code ? code : host->gpu->download(host->context, h->sums, d->sums, bytes);
}

/* All sampled terms of a view: energies into those that walkers have, or into those proposed. */
static int find(hamiltonian *h, const plugmc_host *host, const plugmc_view *view, bool proposed,
                int32_t *forbidden)
{
    const int32_t terms = h->system->term_count;
    int code = find_parts(h, host, view, forbidden);
    for (int32_t w = 0; w < h->system->walkers && !code; w++)
        memcpy(proposed ? h->walkers[w].proposed : h->walkers[w].energy,
               h->device->host_energy + (size_t)w * (size_t)terms, sizeof(double) * (size_t)terms);
    for (int k = 0; k < h->count && !code; k++) {
        const energy_term *t = &h->terms[k];
        if (!t->total) continue;
        code = ask_total(h, host, view, t);
        for (int32_t w = 0; w < h->system->walkers && !code; w++) {
            walker_energy *e = &h->walkers[w];
            (proposed ? e->proposed : e->energy)[t->index] += h->sums[w];
        }
    }
    return code;
}

int on_device_find(hamiltonian *h, const plugmc_host *host)
{
    int32_t forbidden[h->system->walkers];
    plugmc_view view = {.size = sizeof view};
    int code = on_device_view(h, host, &view);
    if (!code) code = find(h, host, &view, false, forbidden);
    for (int32_t w = 0; w < h->system->walkers && !code; w++) h->walkers[w].known = true;
    return code;
}

/* ---- Other boxes ------------------------------------------------------------------------------------ */

/* Room for what is proposed. */
static int make_places(hamiltonian *h, const plugmc_host *host)
{
    device_energies *d = h->device;
    const size_t walkers = (size_t)h->system->walkers;
    if (d->places) return PLUGMC_OK;
    const int code = host->gpu->allocate(
        host->context, walkers * (size_t)h->system->particles * 3 * sizeof(double), &d->places);
    return code ? code
                : host->gpu->allocate(host->context, walkers * sizeof(plugmc_box), &d->boxes);
}

int on_device_rescale(hamiltonian *h, const plugmc_host *host, const plugmc_box *boxes,
                      int32_t *forbidden)
{
    device_energies *d = h->device;
    const size_t walkers = (size_t)h->system->walkers;
    uint32_t particles = (uint32_t)h->system->particles;
    plugmc_view view = {.size = sizeof view}, other = {.size = VIEW_OF_DEVICE};
    void *orientations = NULL;
    int code = make_places(h, host);
    if (!code) code = on_device_view(h, host, &view);
    if (!code && d->molecules)
        code = h->state->array(h->state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_DEVICE, PLUGMC_READ,
                               &orientations, NULL);
    if (code) return code;
    code = host->gpu->upload(host->context, d->boxes, boxes, walkers * sizeof *boxes);
    if (!code)
        code = on_device_launch(host, d->rescale, walkers * d->tiles, ENERGIES_THREADS,
                                (void *[]){&particles, &d->tiles, &view.device_box, &d->boxes,
                                           &view.positions, &d->molecule, &d->molecules,
                                           &orientations, &d->places});
    if (!code) code = host->view(host->context, at_device(d->places), 1, &other);
    other.box = boxes;
    other.device_box = at_device(d->boxes);
    return code ? code : find(h, host, &other, true, forbidden);
}

int on_device_take_boxes(hamiltonian *h, const plugmc_host *host, const plugmc_box *boxes,
                         const int64_t *taken)
{
    device_energies *d = h->device;
    const plugmc_state *state = h->state;
    const int32_t walkers = h->system->walkers;
    uint32_t particles = (uint32_t)h->system->particles;
    const int threads = hamiltonian_threads(h);
    int32_t yes[walkers], any = 0;
    double *positions;
    void *all, *there;
    for (int32_t w = 0; w < walkers; w++) any |= yes[w] = taken[w] >= 0;
    if (!any) return PLUGMC_OK;
    int code =
        plugmc_state_positions(state, PLUGMC_ON_DEVICE, PLUGMC_READ | PLUGMC_WRITE, &positions);
    if (!code)
        code = state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_DEVICE, PLUGMC_READ, &there, NULL);
    if (!code)
        code = state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST,
                            PLUGMC_READ | PLUGMC_WRITE | ON_BOTH_SIDES, &all, NULL);
    if (!code) code = host->gpu->upload(host->context, d->taken, yes, sizeof yes);
    if (!code)
        code = on_device_launch(host, d->take, (uint64_t)walkers * d->tiles, ENERGIES_THREADS,
                                (void *[]){&particles, &d->tiles, &d->taken, &d->places, &d->boxes,
                                           &positions, &there});
    if (code) return code;
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int32_t w = 0; w < walkers; w++) {
        walker_energy *e = &h->walkers[w];
        e->known =
            false; /* in cells that fit all boxes: their sums are no longer the same to the bit */
        if (yes[w]) ((plugmc_box *)all)[w] = e->now.box = boxes[w];
    }
    h->stale = true;
    h->boxes_taken = false; /* totals are started again when something brings the particles */
    return code;
}
