/* Trajectories on the GPU: the launches of a trajectory, recorded as one graph unless a potential
 * with a total facet has launches that cannot be. Nothing comes back to the host in a sweep. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../join_texts.h"
#include "gpu_lists.h"
#include "gpu_rigid.h"

PLUGMC_EMBED(hmc_integers, HMC_INTEGERS_FILE);
PLUGMC_EMBED(hmc_rigid_step, HMC_RIGID_STEP_FILE);
PLUGMC_EMBED(hmc_kernels, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(hmc_forces, HMC_FORCES_FILE);
PLUGMC_EMBED(hmc_rigid_kernels, HMC_RIGID_FILE);
PLUGMC_EMBED(hmc_decide, HMC_DECIDE_FILE);

enum {
    START,
    MOVE,
    COUNT,
    ROWS,
    SORT,
    SORT_LONG,
    LIST,
    FORCES,
    ENERGIES,
    TALLY,
    TOTAL,
    DECIDE,
    TAKE_ENERGY,
    SETTLE,
    STORE,
    TURN,
    COMPARE,
    ADD_TOTAL, /* of weighted terms */
    KERNELS
};

/* Of one trajectory of this many steps, with these cells. */
typedef struct recording {
    plugmc_graph *graph; /* NULL: none */
    int64_t steps;
    int32_t count[3], span[3];
} recording;

enum { RECORDINGS = 8 }; /* a box that changes goes to and fro between a few numbers of cells */

struct hmc_gpu {
    hmc_task task;
    plugmc_kernel *kernel[KERNELS];
    plugmc_view view; /* of positions, for totals */
    recording recordings[RECORDINGS];
    int next; /* recording to be forgotten */
};

/* ---- Texts ----------------------------------------------------------------------------------- */

/* Number 0 has all kernels, in the precision of the forces; number 1 those for energies in double,
 * if that is another one. */
int hmc_gpu_gpu_source(hmc *h, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    if (index > 1) return 0;
    const int precise = h->precision == PRECISION_DOUBLE || index == 1,
              by_walker = host->system->weighted || host->system->rungs > 1,
              rigid = host->system->molecules != NULL;
    char(*define)[24] = h->defined[index];
    snprintf(define[0], sizeof define[0], "HMC_LONG=%d", precise);
    snprintf(define[1], sizeof define[1], "HMC_BY_WALKER=%d", by_walker);
    snprintf(define[2], sizeof define[2], "HMC_RIGID=%d", rigid);
    snprintf(define[3], sizeof define[3], "HMC_TEAM=%d", hmc_gpu_team(h, host));
    for (int k = 0; k < HMC_DEFINES; k++) h->defines[index][k] = define[k];
    if (!h->text)
        h->text = join_texts(host, (const char *const[]){hmc_integers, hmc_rigid_step, hmc_kernels,
                                                         hmc_forces, hmc_rigid_kernels, hmc_decide,
                                                         NULL});
    if (!h->text) return 0;
    out->name = "hmc.cu";
    out->source = h->text;
    out->defines = h->defines[index];
    out->fuse = PLUGMC_FUSE_SAMPLED;
    out->double_precision = precise;
    out->contract = !precise;
    return index == 0 || (index == 1 && h->precision == PRECISION_SINGLE);
}

/* Rigid molecules move in double, whatever the forces are in. */
static int load_kernels(hmc *h, const plugmc_host *host)
{
    enum { OF_FORCES, OF_ENERGIES, EITHER };
    static const struct {
        const char *name, *with_molecules; /* NULL: the same */
        int text;
    } kernels[KERNELS] = {
        [START] = {"hmc_start", "hmc_start_rigid", EITHER},
        [MOVE] = {"hmc_move", "hmc_move_rigid", EITHER},
        [COUNT] = {"hmc_count", NULL, OF_FORCES},
        [ROWS] = {"hmc_rows", NULL, OF_FORCES},
        [SORT] = {"hmc_sort", NULL, OF_FORCES},
        [SORT_LONG] = {"hmc_sort", NULL, OF_ENERGIES},
        [LIST] = {"hmc_list", NULL, OF_FORCES},
        [FORCES] = {"hmc_forces", NULL, OF_FORCES},
        [ENERGIES] = {"hmc_energies", NULL, OF_ENERGIES},
        [TALLY] = {"hmc_tally", NULL, EITHER},
        [TOTAL] = {"hmc_total", NULL, OF_FORCES},
        [DECIDE] = {"hmc_decide", NULL, OF_FORCES},
        [TAKE_ENERGY] = {"hmc_take_energy", NULL, OF_FORCES},
        [SETTLE] = {"hmc_settle", NULL, OF_FORCES},
        [STORE] = {"hmc_store", "hmc_store_rigid", EITHER},
        [TURN] = {"hmc_turn", NULL, OF_FORCES},
        [COMPARE] = {"hmc_compare", NULL, OF_FORCES},
        [ADD_TOTAL] = {"hmc_add_total", NULL, OF_FORCES},
    };
    plugmc_gpu_source text[2] = {{.size = sizeof text[0]}, {.size = sizeof text[1]}};
    hmc_gpu_gpu_source(h, host, 0, &text[0]);
    hmc_gpu_gpu_source(h, host, 1, &text[1]);
    int code = h->text ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (int k = 0; k < (h->ladder.weight ? KERNELS : ADD_TOTAL) && !code; k++) {
        const int other = h->rigid && kernels[k].with_molecules,
                  precise =
                      kernels[k].text == OF_ENERGIES || (kernels[k].text == EITHER && h->rigid);
        code = host->gpu->kernel(host->context, &text[precise],
                                 other ? kernels[k].with_molecules : kernels[k].name,
                                 &h->gpu->kernel[k]);
    }
    return code;
}

/* ---- Launches -------------------------------------------------------------------------------- */

static uint32_t blocks_of(uint32_t n, uint32_t each) { return (n + each - 1) / each; }

/* Blocks (x, y) of the kernel; `extra` are arguments after the task, NULL at the end. */
static int launch(hmc *h, const plugmc_host *host, int kernel, uint32_t x, uint32_t y, void *a,
                  void *b, void *c)
{
    void *arguments[] = {&h->gpu->task, a, b, c};
    return host->gpu->launch(host->context, h->gpu->kernel[kernel], (uint32_t[3]){x, y, 1},
                             (uint32_t[3]){HMC_THREADS, 1, 1}, 0, arguments);
}

/* One thread a particle. */
static int launch_particles(hmc *h, const plugmc_host *host, int kernel, void *a, void *b, void *c)
{
    const hmc_task *t = &h->gpu->task;
    return launch(h, host, kernel, blocks_of(t->particles, HMC_THREADS), t->walkers, a, b, c);
}

/* One team a particle. */
static int launch_teams(hmc *h, const plugmc_host *host, int kernel)
{
    const hmc_task *t = &h->gpu->task;
    const uint32_t threads = t->particles * (uint32_t)hmc_gpu_team(h, host);
    return launch(h, host, kernel, blocks_of(threads, HMC_THREADS), t->walkers, NULL, NULL, NULL);
}

/* Of `all` steps, where walkers are alike, step number k: see hmc_move. */
static int move(hmc *h, const plugmc_host *host, int64_t k, int64_t all, int bin)
{
    int step = (int)k, steps = (int)all;
    return launch_particles(h, host, MOVE, &step, &steps, &bin);
}

static int clear(hmc *h, const plugmc_host *host, double *numbers, size_t n)
{
    (void)h;
    return host->gpu->fill(host->context, hmc_device(numbers), 0, n * sizeof *numbers);
}

/* One of whole configurations, where terms count by more or less than 1: found apart. */
static int add_weighted_total(hmc *h, const plugmc_host *host, const plugmc_total_request *request,
                              const plugmc_term *term, int with_energy)
{
    const hmc_task *t = &h->gpu->task;
    int number = (int)(((const char *)term - (const char *)h->system->terms) /
                       (ptrdiff_t)h->system->term_size);
    int code = clear(h, host, t->own_force, (size_t)h->count);
    if (!code) code = clear(h, host, t->own_energy, t->walkers);
    if (!code) code = term->plugin->potential->total->energy(term->instance, request);
    return code ? code : launch_particles(h, host, ADD_TOTAL, &number, &with_energy, NULL);
}

/* Adds those of whole configurations to forces, and to `others` if the energy is wanted. */
static int add_totals(hmc *h, const plugmc_host *host, int with_energy)
{
    const hmc_task *t = &h->gpu->task;
    if (!h->sampled.total_count) return PLUGMC_OK;
    int code = with_energy ? clear(h, host, t->others, t->walkers) : PLUGMC_OK;
    double *energy = h->ladder.weight ? t->own_energy : t->others;
    const plugmc_total_request request = {.size = sizeof request,
                                          .view = &h->gpu->view,
                                          .energy = with_energy ? energy : NULL,
                                          .forces = h->ladder.weight ? t->own_force : t->force};
    for (int k = 0; k < h->sampled.total_count && !code; k++) {
        const plugmc_term *term = h->sampled.totals[k];
        code = h->ladder.weight ? add_weighted_total(h, host, &request, term, with_energy)
                                : term->plugin->potential->total->energy(term->instance, &request);
    }
    return code;
}

static int energies(hmc *h, const plugmc_host *host)
{
    int code = PLUGMC_OK;
    if (h->precision == PRECISION_SINGLE)
        code = launch_particles(h, host, SORT_LONG, NULL, NULL, NULL);
    return code ? code : launch_teams(h, host, ENERGIES);
}

/* Forces where the particles are, once they are counted by cell. */
static int forces(hmc *h, const plugmc_host *host, int with_energy)
{
    const hmc_task *t = &h->gpu->task;
    int code = launch_particles(h, host, COUNT, NULL, NULL, NULL);
    if (!code)
        code = launch(h, host, ROWS, blocks_of(t->rows, HMC_THREADS), t->walkers, NULL, NULL, NULL);
    if (!code) code = launch_particles(h, host, SORT, NULL, NULL, NULL);
    if (!code && t->list_rows) code = launch_teams(h, host, LIST);
    if (!code) code = launch_teams(h, host, FORCES);
    if (!code && with_energy) code = energies(h, host);
    return code ? code : add_totals(h, host, with_energy);
}

/* Sums of energies: before or after a trajectory. */
static int sum_energies(hmc *h, const plugmc_host *host, int after)
{
    const hmc_task *t = &h->gpu->task;
    int code = launch(h, host, TALLY, t->tiles, t->walkers, NULL, NULL, NULL);
    return code ? code : launch(h, host, TOTAL, t->walkers, 1, &after, NULL, NULL);
}

static int run_steps(hmc *h, const plugmc_host *host, int64_t steps, int with_energy)
{
    int code = PLUGMC_OK;
    for (int64_t k = 0; k < steps && !code; k++) {
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        code = move(h, host, k, steps, 1);
        if (!code) code = forces(h, host, with_energy && k == steps - 1);
    }
    return code ? code : move(h, host, steps, steps, 0);
}

static int reverse(hmc *h, const plugmc_host *host, int64_t steps)
{
    int at_end = 1;
    int code = launch_particles(h, host, TURN, &at_end, NULL, NULL);
    if (!code) code = run_steps(h, host, steps, 0);
    return code ? code : launch_particles(h, host, COMPARE, NULL, NULL, NULL);
}

static int trajectory(hmc *h, const plugmc_host *host, int64_t steps)
{
    const uint32_t of_walkers = blocks_of(h->gpu->task.walkers, HMC_THREADS);
    int at_end = 0;
    int code = launch_particles(h, host, START, NULL, NULL, NULL);
    if (!code && h->check_reversal) code = launch_particles(h, host, TURN, &at_end, NULL, NULL);
    if (!code) code = sum_energies(h, host, 0);
    if (!code) code = run_steps(h, host, steps, 1);
    if (!code) code = sum_energies(h, host, 1);
    if (!code && h->check_reversal) code = reverse(h, host, steps);
    if (!code) code = launch(h, host, DECIDE, of_walkers, 1, NULL, NULL, NULL);
    return code ? code : launch_particles(h, host, SETTLE, NULL, NULL, NULL);
}

/* The launches of one trajectory. */
static int record(hmc *h, const plugmc_host *host, int64_t steps, plugmc_graph **out)
{
    hmc_gpu *g = h->gpu;
    const hmc_task *t = &g->task;
    for (int k = 0; k < RECORDINGS; k++) {
        const recording *r = &g->recordings[k];
        *out = r->graph;
        if (r->graph && r->steps == steps && !memcmp(r->count, t->count, sizeof r->count) &&
            !memcmp(r->span, t->span, sizeof r->span))
            return PLUGMC_OK;
    }
    recording *r = &g->recordings[g->next];
    const int released = r->graph ? host->gpu->graph_release(host->context, r->graph) : PLUGMC_OK;
    if (released) return released;
    g->next = (g->next + 1) % RECORDINGS;
    *r = (recording){.steps = steps};
    memcpy(r->count, t->count, sizeof r->count);
    memcpy(r->span, t->span, sizeof r->span);
    int code = host->gpu->graph_begin(host->context);
    if (code) return code;
    code = trajectory(h, host, steps);
    const int ended = host->gpu->graph_end(host->context, &r->graph);
    *out = r->graph;
    return code ? code : ended;
}

/* Whether all that a trajectory launches can be recorded. */
static int is_recordable(const hmc *h)
{
    int all = 1;
    for (int k = 0; k < h->sampled.total_count; k++) {
        const plugmc_term *term = h->sampled.totals[k];
        const plugmc_total *total = term->plugin->potential->total;
        all &=
            PLUGMC_HAS(total, recordable) && total->recordable && total->recordable(term->instance);
    }
    return all;
}

static int look(hmc *h, const plugmc_host *host)
{
    h->gpu->view = (plugmc_view){.size = sizeof h->gpu->view};
    return host->view(host->context, h->gpu->task.positions, 1, &h->gpu->view);
}

static int check_astray(hmc *, const plugmc_host *);
static int check_lost(hmc *, const plugmc_host *);

int hmc_gpu_sweep(hmc *h, const plugmc_host *host, uint64_t first, uint64_t n)
{
    /* Steps, and steps of particles, which take about half a second. Beyond, launches hide behind
     * kernels anyway, and a run can be stopped between them. */
    enum { LONGEST_GRAPH = 2000, LARGEST_GRAPH = 400000000 };
    hmc_gpu *g = h->gpu;
    const int64_t steps = hmc_most_steps(h);
    const int recorded =
        is_recordable(h) && steps <= LONGEST_GRAPH && steps * (h->count / 3) <= LARGEST_GRAPH;
    const hmc_plan plan = {h->seed, first, h->ladder.rung[0].half_step, 0};
    int code = host->gpu->upload(host->context, (plugmc_device_pointer)(uintptr_t)g->task.plan,
                                 &plan, sizeof plan);
    if (!code) code = look(h, host);
    plugmc_graph *graph = NULL;
    if (!code && recorded) code = record(h, host, steps, &graph);
    for (uint64_t k = 0; k < n && !code; k++)
        code = host->stopping(host->context) ? PLUGMC_STOPPED
               : recorded                    ? host->gpu->graph_launch(host->context, graph)
                                             : trajectory(h, host, steps);
    if (!code) code = check_lost(h, host);
    return code || !h->check_reversal ? code : check_astray(h, host);
}

/* Particles are where a force or an energy is not a number. */
static int check_lost(hmc *h, const plugmc_host *host)
{
    hmc_plan plan;
    int code = host->gpu->download(
        host->context, &plan, (plugmc_device_pointer)(uintptr_t)h->gpu->task.plan, sizeof plan);
    return !code && plan.lost ? hmc_lost(host, plan.lost - 1) : code;
}

static int check_astray(hmc *h, const plugmc_host *host)
{
    const int32_t walkers = h->system->walkers;
    int code = PLUGMC_OK;
    uint64_t astray = 0;
    for (int32_t w = 0; w < walkers && !code; w++) {
        hmc_state state;
        code = host->gpu->download(host->context, &state,
                                   (plugmc_device_pointer)(uintptr_t)(h->gpu->task.state + w),
                                   sizeof state);
        astray += code ? 0 : state.astray;
    }
    if (astray)
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "a trajectory is not reversible: %llu coordinates differ, so a "
                          "potential does not reproduce its forces",
                          (unsigned long long)astray);
    return code;
}

/* ---- In and out ------------------------------------------------------------------------------ */

int hmc_gpu_rungs(hmc *h, const plugmc_host *host)
{
    const hmc_task *t = &h->gpu->task;
    const size_t walkers = t->walkers, terms = (size_t)h->system->term_count;
    int code = host->gpu->upload(host->context, hmc_device(t->rung), h->ladder.rung,
                                 walkers * sizeof *h->ladder.rung);
    if (!code && h->ladder.weight && terms)
        code = host->gpu->upload(host->context, hmc_device(t->weight), h->ladder.weight,
                                 walkers * terms * sizeof *h->ladder.weight);
    return code;
}

int hmc_gpu_load(hmc *h, const plugmc_host *host, const uint64_t *place)
{
    const hmc_task *t = &h->gpu->task;
    int code = place ? host->gpu->upload(host->context, hmc_device(t->place), place,
                                         (size_t)h->count * sizeof *place)
                     : PLUGMC_OK;
    if (!code && place && h->rigid) code = hmc_gpu_upload_turned(h, host, t);
    if (!code) code = look(h, host);
    if (!code) code = move(h, host, -1, 0, 1);
    if (!code) code = forces(h, host, 1);
    if (!code) code = sum_energies(h, host, 1);
    return code ? code
                : launch(h, host, TAKE_ENERGY, blocks_of(t->walkers, HMC_THREADS), 1, NULL, NULL,
                         NULL);
}

int hmc_gpu_store(hmc *h, const plugmc_host *host, const plugmc_state *state, double *positions)
{
    void *orientations = NULL;
    const int code = h->rigid ? state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_DEVICE,
                                             PLUGMC_READ | PLUGMC_WRITE, &orientations, NULL)
                              : PLUGMC_OK;
    return code ? code
                : launch_particles(h, host, STORE, &positions, h->rigid ? &orientations : NULL,
                                   NULL);
}

int hmc_gpu_places(hmc *h, const plugmc_host *host, uint64_t *place)
{
    return host->gpu->download(host->context, place, hmc_device(h->gpu->task.place),
                               (size_t)h->count * sizeof *place);
}

int hmc_gpu_turned(hmc *h, const plugmc_host *host)
{
    return hmc_gpu_download_turned(h, host, &h->gpu->task);
}

int hmc_gpu_states(hmc *h, const plugmc_host *host, hmc_state *state, int write)
{
    const plugmc_device_pointer at = hmc_device(h->gpu->task.state);
    const size_t bytes = (size_t)h->system->walkers * sizeof *state;
    return write ? host->gpu->upload(host->context, at, state, bytes)
                 : host->gpu->download(host->context, state, at, bytes);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static int check_terms(const hmc *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    for (int t = 0; t < h->sampled.total_count; t++) {
        const plugmc_potential *p = h->sampled.totals[t]->plugin->potential;
        if (!p->total->on_device)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "potential '%s' cannot be evaluated on a GPU: set [run] device = cpu",
                              h->sampled.totals[t]->label);
        if (!p->total->beside_parts && (p->pair || p->field))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "potential '%s' has both pair energies and a many-body term, "
                              "which is not supported on a GPU: set [run] device = cpu",
                              h->sampled.totals[t]->label);
    }
    if (system->species_count > 16 || system->particles >= 1 << 28 || system->walkers > 65535)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "on a GPU there can be 16 species, 2^28 particles and 65535 walkers, not "
                          "%d, %lld and %d",
                          system->species_count, (long long)system->particles, system->walkers);
    return PLUGMC_OK;
}

static int take_memory(hmc *h, const plugmc_host *host)
{
    hmc_task *t = &h->gpu->task;
    const size_t n = t->particles, walkers = t->walkers, all = n * walkers;
    size_t cells = (size_t)t->rows * (size_t)t->count[0], starts = cells + t->rows;
    if (h->system->changes & PLUGMC_CHANGED_BOX) { /* which may come to be cut into more */
        cells = hmc_gpu_most_cells(h);
        starts = 2 * cells;
    }
    const size_t checked = h->check_reversal ? all : 0, terms = (size_t)h->system->term_count,
                 apart = h->ladder.weight && h->sampled.total_count ? all : 0,
                 shares = t->list_rows ? all * (size_t)hmc_gpu_team(h, host) : 0;
    const struct {
        void *array; /* address of the pointer */
        size_t bytes;
    } wanted[] = {
        {&t->plan, sizeof *t->plan},
        {&t->state, walkers * sizeof *t->state},
        {&t->mass, (size_t)h->system->species_count * sizeof *t->mass},
        {&t->species, n * sizeof *t->species},
        {&t->place, 3 * all * sizeof *t->place},
        {&t->place_before, 3 * all * sizeof *t->place},
        {&t->momentum, 3 * all * sizeof *t->momentum},
        {&t->force, 3 * all * sizeof *t->force},
        {&t->force_before, 3 * all * sizeof *t->force},
        {&t->positions, 3 * all * sizeof *t->positions},
        {&t->share, all * sizeof *t->share},
        {&t->partial, 2 * walkers * t->tiles * sizeof *t->partial},
        {&t->sums, 3 * walkers * sizeof *t->sums},
        {&t->others, walkers * sizeof *t->others},
        {&t->cell, all * sizeof *t->cell},
        {&t->rank, all * sizeof *t->rank},
        {&t->filling, walkers * cells * sizeof *t->filling},
        {&t->start, walkers * starts * sizeof *t->start},
        {&t->used, walkers * sizeof *t->used},
        {&t->stale, walkers * sizeof *t->stale},
        {&t->listed, 3 * all * sizeof *t->listed},
        {&t->slot, all * sizeof *t->slot},
        {&t->list, t->list_rows * shares * sizeof *t->list},
        {&t->list_n, shares * sizeof *t->list_n},
        {&t->entry, (h->precision == PRECISION_SINGLE ? all : 0) * sizeof *t->entry},
        {&t->long_entry, all * sizeof *t->long_entry},
        {&t->place_checked, 3 * checked * sizeof *t->place},
        {&t->momentum_checked, 3 * checked * sizeof *t->momentum},
        {&t->force_checked, 3 * checked * sizeof *t->force},
        {&t->rung, (h->ladder.by_walker ? walkers : 0) * sizeof *t->rung},
        {&t->weight, (h->ladder.weight ? walkers * terms : 0) * sizeof *t->weight},
        {&t->own_force, 3 * apart * sizeof *t->force},
        {&t->own_energy, (apart ? walkers : 0) * sizeof *t->own_energy},
    };
    int code = PLUGMC_OK;
    for (int k = 0; k < PLUGMC_COUNT(wanted) && !code; k++) {
        plugmc_device_pointer at = 0;
        if (wanted[k].bytes) code = host->gpu->allocate(host->context, wanted[k].bytes, &at);
        memcpy(wanted[k].array, &(void *){(void *)(uintptr_t)at}, sizeof(void *));
    }
    return code;
}

static int upload_species(hmc *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    const hmc_task *t = &h->gpu->task;
    const size_t bytes = (size_t)system->particles * sizeof(uint32_t);
    uint32_t *species = host->allocate(host->context, bytes);
    if (!species)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the species");
    for (int32_t a = 0; a < system->species_count; a++)
        for (int64_t i = system->first[a]; i < system->first[a + 1]; i++) species[i] = (uint32_t)a;
    int code = host->gpu->upload(host->context, hmc_device(t->species), species, bytes);
    return code ? code
                : host->gpu->upload(host->context, hmc_device(t->mass), h->mass,
                                    (size_t)system->species_count * sizeof *h->mass);
}

int hmc_gpu_boxes(hmc *h, const plugmc_host *host, const plugmc_state *state)
{
    hmc_task *t = &h->gpu->task;
    void *boxes;
    const int code =
        state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_DEVICE, PLUGMC_READ, &boxes, NULL);
    if (code) return code;
    (void)host;
    hmc_gpu_choose_cells(h, t);
    t->boxes = boxes; /* always the same */
    return PLUGMC_OK;
}

int hmc_gpu_prepare(hmc *h, const plugmc_host *host)
{
    int code = check_terms(h, host);
    if (code) return code;
    h->gpu = host->allocate(host->context, sizeof *h->gpu);
    if (!h->gpu)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the launches");
    hmc_task *t = &h->gpu->task;
    t->box = h->system->box;
    t->particles = (uint32_t)h->system->particles;
    t->walkers = (uint32_t)h->system->walkers;
    t->tiles = blocks_of(t->particles, HMC_TILE);
    hmc_gpu_choose_lists(h, t, hmc_gpu_team(h, host));
    hmc_gpu_choose_cells(h, t);
    code = take_memory(h, host);
    if (!code) code = upload_species(h, host);
    if (!code && h->rigid) code = hmc_gpu_prepare_rigid(h, host, t);
    return code ? code : load_kernels(h, host);
}
