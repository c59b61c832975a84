/* Local energies on a GPU: kernels, ions and sums as kernels read them, memory for a group of walkers. */
#include "../../join_texts.h"
#include "gpu.h"

#include <math.h>
#include <string.h>

PLUGMC_EMBED(formulas_text, LOCAL_ENERGY_FORMULAS_FILE);
PLUGMC_EMBED(kernels_text, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(sums_text, LOCAL_ENERGY_SUMS_FILE);

/* Of orbitals and matrices of a group. */
static const double GROUP_BYTES = 3e9;

int gpu_gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance;
    if (index > 0) return index == 1 && matrices_factors_text(host, out);
    const char *sums = expansion_is_there(host) ? device_sums_text(host, sums_text) : "",
               *own =
                   sums ? join_texts(host, (const char *const[]){kernels_text, sums, NULL}) : NULL;
    if (!own) return 0;
    out->name = "local_energy.cu";
    out->source = matrices_text(host, formulas_text, own);
    out->fuse = PLUGMC_FUSE_SAMPLED;
    out->double_precision = 1;
    out->contract = 1;
    return out->source != NULL;
}

static int load_kernels(local_energy *le, const plugmc_host *host, int64_t most)
{
    local_energy_gpu *g = le->gpu;
    plugmc_gpu_source text = {.size = sizeof text};
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } kernels[] = {
        {"le_parts", &g->kernels.parts},
        {"le_near", &g->kernels.near},
        {"le_far", &g->kernels.far},
        {"le_gather", &g->kernels.gather},
        {"le_kinetic", &g->kernels.kinetic},
        {"le_phase", &g->kernels.phase},
        {"le_count", &g->kernels.count},
        {"le_list", &g->kernels.list},
        {"le_offsets", &g->kernels.offsets},
        {"le_places", &g->kernels.places},
        {"le_ratios", &g->kernels.ratios},
        {"le_visits", &g->kernels.visits},
        {"le_projected", &g->kernels.projected},
        {"le_add_visits", &g->kernels.add_visits},
        {"le_walkers", &g->kernels.walkers},
        {"le_asked", &g->kernels.asked},
    };
    int code = gpu_gpu_source(le, host, 0, &text) ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0] && !code; i++)
        code = host->gpu->kernel(host->context, &text, kernels[i].name, kernels[i].kernel);
    if (!code && le->wave.sum) code = gpu_sums_prepare(le, host, &text);
    return code ? code
                : matrices_prepare(&g->matrices, host, &text, g->group, most, le->wave.is_complex,
                                   sizeof(double));
}

/* A copy of host memory on the GPU, in *place; nothing for nothing. */
static int send(const plugmc_host *host, void *place, const void *from, size_t bytes)
{
    device_pointer at = 0;
    int code = bytes ? host->gpu->allocate(host->context, bytes, &at) : PLUGMC_OK;
    if (!code && bytes) code = host->gpu->upload(host->context, at, from, bytes);
    const uintptr_t pointer = (uintptr_t)at;
    memcpy(place, &pointer, sizeof pointer);
    return code;
}

static int send_radial(const plugmc_host *host, radial *f)
{
    const size_t bytes = (size_t)f->n * sizeof(double);
    int code = send(host, &f->r, f->r, bytes);
    if (!code) code = send(host, &f->y, f->y, bytes);
    return code ? code : send(host, &f->curvature, f->curvature, bytes);
}

/* *v with all it points to. */
static int send_ions(const local_energy *le, const plugmc_host *host, ion_potentials *v)
{
    const size_t ions = (size_t)v->ions, kinds = (size_t)le->kinds, centres = (size_t)v->centres,
                 nodes = kinds * (size_t)v->radii;
    pseudopotential *kind = host->allocate(host->context, (kinds + 1) * sizeof *kind);
    int code =
        kind ? PLUGMC_OK : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for ions");
    if (!code && kinds) memcpy(kind, v->kind, kinds * sizeof *kind);
    for (size_t k = 0; k < kinds && !code; k++) {
        code = send_radial(host, &kind[k].local);
        for (int l = 0; l <= MOST_L && !code; l++) code = send_radial(host, &kind[k].channel[l]);
        for (int j = 0; j < kind[k].projectors && !code; j++)
            code = send_radial(host, &kind[k].projector[j].beta);
    }
    if (!code) code = send(host, &v->kind, kind, kinds * sizeof *kind);
    if (!code) code = send(host, &v->position, v->position, ions * sizeof *v->position);
    if (!code) code = send(host, &v->charge, v->charge, ions * sizeof *v->charge);
    if (!code) code = send(host, &v->kind_of, v->kind_of, ions * sizeof *v->kind_of);
    if (!code) code = send(host, &v->reach, v->reach, kinds * sizeof *v->reach);
    if (!code)
        code = send(host, &v->nonlocal_reach, v->nonlocal_reach, kinds * sizeof *v->nonlocal_reach);
    if (!code) code = send(host, &v->centre, v->centre, centres * sizeof *v->centre);
    if (!code) code = send(host, &v->ion_of, v->ion_of, centres * sizeof *v->ion_of);
    if (!code) code = send(host, &v->node, v->node, nodes * sizeof *v->node);
    return code ? code
                : send(host, &v->node_weight, v->node_weight, nodes * sizeof *v->node_weight);
}

static int send_sums(const local_energy *le, const plugmc_host *host, walkers_task *task)
{
    coulomb *c = &task->sums;
    const size_t vectors = (size_t)c->vectors, waves = (size_t)c->waves;
    int code = send(host, &c->vector, c->vector, vectors * sizeof *c->vector);
    if (!code) code = send(host, &c->index, c->index, waves * sizeof *c->index);
    if (!code) code = send(host, &c->weight, c->weight, waves * sizeof *c->weight);
    return code ? code
                : send(host, &task->ion_wave, le->ion_wave, 2 * waves * sizeof *le->ion_wave);
}

/* All projections, one after another, and the first row of each ion. */
static int send_projections(local_energy *le, const plugmc_host *host)
{
    local_energy_gpu *g = le->gpu;
    const int32_t ions = le->v.ions, spins = le->system->species_count;
    int64_t *rows = host->allocate(host->context, (size_t)ions * sizeof *rows);
    int code = rows ? PLUGMC_OK
                    : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for projections");
    const size_t bytes = (size_t)(le->projections.row_count * le->wave.numbers) * sizeof(double);
    if (!code) code = host->gpu->allocate(host->context, bytes, &g->projections);
    if (!code) code = host->gpu->upload(host->context, g->projections, le->projections.rows, bytes);
    for (int spin = 0; spin < spins && !code; spin++) {
        for (int32_t i = 0; i < ions; i++) {
            const double *at = le->projections.of[spin * ions + i];
            rows[i] = at ? (at - le->projections.rows) / le->wave.numbers : 0;
        }
        code = send(host, &g->projection_rows[spin], rows, (size_t)ions * sizeof *rows);
    }
    return code;
}

static int take_memory(local_energy *le, const plugmc_host *host, int64_t most)
{
    local_energy_gpu *g = le->gpu;
    const size_t group = (size_t)g->group, particles = (size_t)le->system->particles,
                 points = group * (size_t)most, row = (size_t)le->wave.numbers,
                 walkers = (size_t)le->system->walkers;
    const struct {
        device_pointer *place;
        size_t numbers;
    } arrays[] = {
        {&g->arrays.parts_of, group * particles * PARTS},
        {&g->arrays.near_of, group * particles * 2},
        {&g->arrays.far_of, group * (size_t)g->far_warps * 2 + 1},
        {&g->arrays.kinetic_of, group * particles},
        {&g->arrays.nonlocal, group},
        {&g->arrays.ln_square[0], group},
        {&g->arrays.ln_square[1], group},
        {&g->arrays.points, points * 3},
        {&g->arrays.values, points * row},
        {&g->arrays.gradients, points * row * 3},
        {&g->arrays.laplacians, points * row},
        {&g->arrays.counts, points / 2 + 1},
        {&g->found, walkers * FOUND},
        {&g->phases, walkers * 2},
        {&g->residuals, walkers},
    };
    int code = PLUGMC_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && !code; i++)
        code = host->gpu->allocate(host->context, arrays[i].numbers * 8, arrays[i].place);
    g->host_found = host->allocate(host->context, walkers * FOUND * sizeof *g->host_found);
    g->host_phases = host->allocate(host->context, walkers * 2 * sizeof *g->host_phases);
    g->host_residuals = host->allocate(host->context, walkers * sizeof *g->host_residuals);
    if (!code && !(g->host_found && g->host_phases && g->host_residuals))
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers", walkers);
    return code;
}

/* Walkers that are measured together: as many as their memory allows. */
static int32_t choose_group(const local_energy *le, int64_t most)
{
    const double n = (double)most, particles = (double)le->system->particles;
    const double bytes = 8 * (5 * n * (double)le->wave.numbers + 4 * n + (PARTS + 3) * particles) +
                         16 * (double)le->gpu->far_warps +
                         matrices_bytes(most, le->wave.is_complex) +
                         (le->wave.sum ? gpu_sums_bytes(le) : 0);
    const double fits = fmin(GROUP_BYTES / bytes, MOST_WALKERS);
    return fits < 1 ? 1 : fits < le->system->walkers ? (int32_t)fits : le->system->walkers;
}

int gpu_prepare(local_energy *le, const plugmc_host *host)
{
    const plugmc_system *system = le->system;
    local_energy_gpu *g = le->gpu = host->allocate(host->context, sizeof *g);
    const double electrons = (double)system->particles;
    const int64_t most = le->wave.most;
    double charge = 0;
    if (!g) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the GPU");
    g->far_warps = (le->sums.waves + LE_WARP - 1) / LE_WARP;
    g->group = choose_group(le, most);
    g->task = (walkers_task){
        .seed = system->seed,
        .particles = (int32_t)system->particles,
        .down = (int32_t)system->first[1],
        .repulsion = le->set.electron_electron,
        .attraction = le->set.electron_ion && le->has_ions,
        .parts = le->wave.is_complex ? 2 : 1,
        .row = le->wave.numbers,
        .sums = le->sums,
        .v = le->v,
    };
    for (int32_t i = 0; i < le->v.ions; i++) charge += le->v.charge[i];
    if (g->task.repulsion)
        g->repulsion_constant = coulomb_constant(&le->sums, electrons, electrons);
    if (g->task.attraction) g->local_constant = le->sums.background * electrons * charge;
    int code = send_ions(le, host, &g->task.v);
    if (!code) code = send_sums(le, host, &g->task);
    if (!code && le->projections.of) code = send_projections(le, host);
    if (!code) code = load_kernels(le, host, most);
    return code ? code : take_memory(le, host, most);
}

void gpu_release(local_energy *le)
{
    if (le->gpu) matrices_release(&le->gpu->matrices);
}
