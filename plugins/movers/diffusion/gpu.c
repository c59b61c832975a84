/* Walkers on a GPU: places, matrices and slopes stay there; diffusion.cu has the kernels. Weights are told on the
 * host (population.c), from a few numbers a walker that are brought here after a sweep. */
#include "diffusion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../join_texts.h"
#include "gpu_sums.h"

PLUGMC_EMBED(task_text, DIFFUSION_TASK_FILE);
PLUGMC_EMBED(kernels_text, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(t_moves_text, DIFFUSION_T_MOVES_FILE);
PLUGMC_EMBED(sums_text, DIFFUSION_SUMS_FILE);

/* Electrons of a spin from which on a walker has a block of threads, and moves are gathered. */
enum { MANY_ELECTRONS = 64 };
static const double GROUP_BYTES = 4e9; /* of walkers whose matrices are made together */

/* ---- A sweep --------------------------------------------------------------------------------- */

int gpu_orbitals(const diffusion *d, const plugmc_host *host, int spin, int64_t points,
                 device_pointer positions, device_pointer values, device_pointer slopes)
{
    const plugmc_orbital_request request = {.size = sizeof request,
                                            .on_device = 1,
                                            .species = spin,
                                            .real_size = sizeof(double),
                                            .points = points,
                                            .positions = AT(positions, const double),
                                            .pitch = d->wave.pitch,
                                            .values = AT(values, void),
                                            .gradients = AT(slopes, void)};
    const int code = plugmc_orbitals_of(d->wave.orbitals->plugin)
                         ->evaluate(d->wave.orbitals->instance, &request);
    return code ? host->fail(host->context, code, "potential '%s' could not evaluate its orbitals",
                             d->wave.orbitals->label)
                : PLUGMC_OK;
}

/* Moves that were gathered are worked into the matrices of walkers first ... first + n - 1. cuBLAS counts columns
 * first: what is [i][j] here is its matrix (j, i). */
static int work_in(const diffusion *d, const plugmc_host *host, int spin, int32_t first, int32_t n)
{
    const diffusion_gpu *g = d->gpu;
    const int64_t electrons = electrons_of(d, spin), rows = g->capacity, wide = rows * electrons,
                  square = electrons * electrons;
    const device_pointer skip = (device_pointer)first * (device_pointer)g->number;
    const device_pointer inverse = g->inverse[spin] + skip * (device_pointer)square,
                         products = g->block.products + skip * (device_pointer)wide,
                         solved = g->block.solved + skip * (device_pointer)wide;
    int code = matrices_multiply(&g->matrices, host, KEEP_AS_IS, KEEP_AS_IS, electrons, rows, rows,
                                 1, products, electrons, wide,
                                 g->block.small + skip * (device_pointer)(rows * rows), rows,
                                 rows * rows, 0, solved, electrons, wide, n);
    return code
               ? code
               : matrices_multiply(&g->matrices, host, KEEP_AS_IS, TRANSPOSED, electrons, electrons,
                                   rows, -1, g->block.old + skip * (device_pointer)wide, electrons,
                                   wide, solved, electrons, wide, 1, inverse, electrons, square, n);
}

static int end_block(const diffusion *d, const plugmc_host *host, dmc_task *t)
{
    const diffusion_gpu *g = d->gpu;
    const int64_t n = t->electrons, rows = g->capacity;
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < t->walkers && !code; w += MOST_WALKERS) {
        const device_pointer skip = (device_pointer)w * (device_pointer)(n * g->number);
        const int32_t left = t->walkers - w;
        code = matrices_multiply(&g->matrices, host, TRANSPOSED, KEEP_AS_IS, n, rows, n, 1,
                                 g->inverse[t->spin] + skip * (device_pointer)n, n, n * n,
                                 g->block.taken + skip * (device_pointer)rows, n, rows * n, 0,
                                 g->block.products + skip * (device_pointer)rows, n, rows * n,
                                 left < MOST_WALKERS ? left : MOST_WALKERS);
    }
    if (!code)
        code = launch(host, g->kernels.close, (uint32_t)t->walkers, 1, 1, DMC_THREADS, 0,
                      (void *[]){t, (void *)&g->block.products});
    for (int32_t w = 0; w < t->walkers && !code; w += MOST_WALKERS) {
        const int32_t left = t->walkers - w;
        code = work_in(d, host, t->spin, w, left < MOST_WALKERS ? left : MOST_WALKERS);
    }
    return code;
}

static int move_electron(const diffusion *d, const plugmc_host *host, dmc_task *t, int64_t own)
{
    const diffusion_gpu *g = d->gpu;
    t->own = (int32_t)own;
    t->block = (int32_t)(own - own % g->capacity);
    int code = t->sums ? sums_row(d, host, t) : PLUGMC_OK;
    if (!code) code = launch_teams(d, host, g->kernels.propose, t);
    if (!code)
        code = gpu_orbitals(d, host, t->spin, t->walkers, g->block.there, g->block.values,
                            g->block.new_slopes);
    if (!code) code = launch_teams(d, host, g->kernels.decide, t);
    if (!code && t->sums) code = sums_work_in(d, host, t);
    if (code || g->capacity == 1) return code;
    const int is_last = own + 1 == t->electrons || (own + 1) % g->capacity == 0;
    return is_last ? end_block(d, host, t) : PLUGMC_OK;
}

/* Numbers of walkers after a sweep. */
static int bring_tally(diffusion *d, const plugmc_host *host)
{
    diffusion_gpu *g = d->gpu;
    const size_t walkers = (size_t)d->system->walkers;
    int code = host->gpu->download(host->context, g->host_tally, g->tally,
                                   walkers * sizeof *g->host_tally);
    for (size_t w = 0; w < walkers && !code; w++) {
        const dmc_tally *from = &g->host_tally[w];
        walker *to = &d->walkers[w];
        to->proposed = from->proposed;
        to->accepted = from->accepted;
        to->lost = from->lost;
        to->counts[STEP].trials += (uint64_t)(from->lost ? from->lost : d->system->particles);
        to->counts[STEP].accepted += (uint64_t)from->moves;
        if (from->lost)
            code = host->gpu->download(host->context, to->there, g->block.there + w * 24, 24);
    }
    return code;
}

static int moves(diffusion *d, const plugmc_host *host, uint64_t sweep, double tau, int crosses)
{
    int code = host->gpu->fill(host->context, d->gpu->tally, 0,
                               (size_t)d->system->walkers * sizeof(dmc_tally));
    for (int spin = 0; spin < d->system->species_count; spin++) {
        dmc_task t = task_of(d, spin);
        t.sweep = sweep;
        t.tau = tau;
        t.crosses = crosses;
        if (t.sums && t.electrons && !code) code = sums_begin(d, host, spin);
        for (int64_t e = 0; e < t.electrons && !code; e++) {
            if (host->stopping(host->context)) return PLUGMC_STOPPED;
            code = move_electron(d, host, &t, e);
        }
    }
    return code ? code : bring_tally(d, host);
}

/* ---- Copies of walkers ----------------------------------------------------------------------- */

static int copy_rows(const diffusion *d, const plugmc_host *host, device_pointer rows,
                     int64_t numbers)
{
    int code = PLUGMC_OK;
    const uint32_t x = blocks_for(numbers, 8 * DMC_THREADS);
    for (int32_t first = 0; first < d->system->walkers && !code; first += MOST_WALKERS) {
        const int32_t left = d->system->walkers - first;
        code = launch(host, d->gpu->kernels.copy, x,
                      (uint32_t)(left < MOST_WALKERS ? left : MOST_WALKERS), 1, DMC_THREADS, 0,
                      (void *[]){&numbers, &first, (void *)&d->gpu->from, &rows});
    }
    return code;
}

static int copies(diffusion *d, const plugmc_host *host)
{
    const diffusion_gpu *g = d->gpu;
    const int64_t particles = d->system->particles;
    int code = host->gpu->upload(host->context, g->from, d->population.from,
                                 (size_t)d->system->walkers * sizeof *d->population.from);
    if (!code) code = copy_rows(d, host, g->positions, 3 * particles);
    if (!code)
        code = copy_rows(d, host, g->numbers, (int64_t)(sizeof(dmc_numbers) / sizeof(double)));
    for (int spin = 0; spin < SPINS && !code; spin++) {
        const int64_t n = electrons_of(d, spin);
        if (!n) continue;
        if (!d->wave.sum)
            code = copy_rows(d, host, g->inverse[spin], n * n * (d->wave.is_complex ? 2 : 1));
        if (!code) code = copy_rows(d, host, g->slopes[spin], 3 * n * d->wave.numbers);
    }
    return code || !d->wave.sum ? code : sums_copies(d, host);
}

/* ---- Anew ------------------------------------------------------------------------------------ */

/* ln |det|^2 of walkers first ... first + n - 1 as they were found, on the host. */
static void take_determinants(diffusion *d, int spin, int32_t first, int32_t n, int compare)
{
    for (int32_t k = 0; k < n; k++) {
        walker *w = &d->walkers[first + k];
        dmc_numbers *numbers = &d->gpu->host_numbers[first + k];
        const double now = d->gpu->host_found[k], before = numbers->ln_square[spin];
        if (!isfinite(now)) w->singular = 1 + spin;
        if (compare) note_drift(w, fabs(now - before) / (1 + fabs(before)));
        numbers->ln_square[spin] = now;
    }
}

/* The inverses of what was factorised; how far those kept were from them. */
static int take_inverses(diffusion *d, const plugmc_host *host, int spin, int32_t first, int32_t n,
                         int compare)
{
    diffusion_gpu *g = d->gpu;
    const int64_t electrons = electrons_of(d, spin), bytes = electrons * electrons * g->number;
    double *drift = g->host_found;
    const int code = matrices_renew(&g->matrices, host, (int32_t)electrons, n,
                                    g->inverse[spin] + (device_pointer)(first * bytes), drift);
    for (int32_t k = 0; k < n && !code && compare; k++)
        note_drift(&d->walkers[first + k], drift[2 * k] / drift[2 * k + 1]);
    return code;
}

static int spin_anew(diffusion *d, const plugmc_host *host, int spin, int32_t first, int32_t n,
                     int compare)
{
    diffusion_gpu *g = d->gpu;
    const int64_t electrons = electrons_of(d, spin);
    dmc_task t = task_of(d, spin);
    int code = launch(host, g->kernels.gather, blocks_for(3 * n * electrons, DMC_THREADS), 1, 1,
                      DMC_THREADS, 0, (void *[]){&t, &first, &n, &g->points});
    if (!code)
        code = gpu_orbitals(d, host, spin, n * electrons, g->points, g->group_values,
                            g->slopes[spin] +
                                (device_pointer)(first * electrons * 3 * d->wave.numbers * 8));
    if (d->wave.sum) return code ? code : sums_invert(d, host, spin, first, n);
    if (!code)
        code = matrices_factorise(&g->matrices, host, t.electrons, d->wave.pitch, g->group_values,
                                  n, g->found);
    if (!code) code = host->gpu->download(host->context, g->host_found, g->found, (size_t)n * 8);
    if (code) return code;
    take_determinants(d, spin, first, n, compare);
    return take_inverses(d, host, spin, first, n, compare);
}

static int parts_anew(diffusion *d, const plugmc_host *host, int compare)
{
    diffusion_gpu *g = d->gpu;
    const size_t walkers = (size_t)d->system->walkers;
    dmc_task t = task_of(d, 0);
    int code = launch(host, g->kernels.parts, (uint32_t)walkers, 1, 1, DMC_THREADS, 0,
                      (void *[]){&t, &g->found});
    if (!code) code = host->gpu->download(host->context, g->host_found, g->found, walkers * 8);
    for (size_t w = 0; w < walkers && !code; w++) {
        const double now = g->host_found[w], before = g->host_numbers[w].parts;
        if (compare) note_drift(&d->walkers[w], fabs(now - before) / (1 + fabs(now)));
        g->host_numbers[w].parts = now;
    }
    return code;
}

static int bring_numbers(diffusion *d, const plugmc_host *host)
{
    diffusion_gpu *g = d->gpu;
    const int code = host->gpu->download(host->context, g->host_numbers, g->numbers,
                                         (size_t)d->system->walkers * sizeof *g->host_numbers);
    for (int32_t w = 0; w < d->system->walkers && !code; w++) {
        d->walkers[w].parts = g->host_numbers[w].parts;
        for (int spin = 0; spin < SPINS; spin++)
            d->walkers[w].spin[spin].ln_square = g->host_numbers[w].ln_square[spin];
    }
    return code;
}

static int anew(diffusion *d, const plugmc_host *host, int compare)
{
    diffusion_gpu *g = d->gpu;
    const int32_t walkers = d->system->walkers;
    int code = bring_numbers(d, host);
    if (!code && d->wave.sum) code = device_sums_upload(&g->sums.device, host);
    for (int32_t w = 0; w < walkers; w++) d->walkers[w].drift = d->walkers[w].singular = 0;
    for (int spin = 0; spin < SPINS; spin++)
        for (int32_t w = 0; w < walkers && electrons_of(d, spin) && !code; w += g->group)
            code = spin_anew(d, host, spin, w, walkers - w < g->group ? walkers - w : g->group,
                             compare);
    if (!code && d->wave.sum) code = sums_settle(d, host, compare);
    if (!code) code = parts_anew(d, host, compare);
    if (!code)
        code = host->gpu->upload(host->context, g->numbers, g->host_numbers,
                                 (size_t)walkers * sizeof *g->host_numbers);
    return code ? code : bring_numbers(d, host);
}

/* ---- In and out ------------------------------------------------------------------------------ */

static size_t bytes_of_positions(const diffusion *d)
{
    return 3 * (size_t)(d->system->particles * d->system->walkers) * sizeof(double);
}

static int take(diffusion *d, const plugmc_host *host, const double *positions)
{
    return host->gpu->upload(host->context, d->gpu->positions, positions, bytes_of_positions(d));
}

static int give(const diffusion *d, const plugmc_host *host, double *positions)
{
    return host->gpu->copy(host->context, (device_pointer)(uintptr_t)positions, d->gpu->positions,
                           bytes_of_positions(d));
}

static int fetch(const diffusion *d, const plugmc_host *host, double *positions)
{
    return host->gpu->download(host->context, positions, d->gpu->positions, bytes_of_positions(d));
}

static int keep_base(diffusion *d, const plugmc_host *host)
{
    return host->gpu->copy(host->context, d->gpu->base, d->gpu->positions, bytes_of_positions(d));
}

static int fetch_base(const diffusion *d, const plugmc_host *host, double *positions)
{
    return host->gpu->download(host->context, positions, d->gpu->base, bytes_of_positions(d));
}

static int view(diffusion *d, const plugmc_host *host, plugmc_view *out)
{
    return host->view(host->context, AT(d->gpu->positions, const double), 1, out);
}

static int lend(diffusion *d, const plugmc_host *host, plugmc_inverses *out)
{
    const diffusion_gpu *g = d->gpu;
    const int code = bring_numbers(d, host);
    out->on_device = 1;
    for (int spin = 0; spin < SPINS && !code; spin++) {
        const int64_t n = electrons_of(d, spin);
        for (int32_t w = 0; w < d->system->walkers && n; w++)
            d->lent[spin][w] =
                AT(g->inverse[spin] + (device_pointer)(w * n * n * g->number), const double);
    }
    return code;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

int diffusion_gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance;
    if (index > 0) return index == 1 && matrices_factors_text(host, out);
    const char *sums = expansion_is_there(host) ? device_sums_text(host, sums_text) : "",
               *own = sums ? join_texts(host, (const char *const[]){task_text, kernels_text,
                                                                    t_moves_text, sums, NULL})
                           : NULL;
    if (!own) return 0;
    out->name = "diffusion.cu";
    out->source = matrices_text(host, own, NULL);
    out->fuse = PLUGMC_FUSE_SAMPLED;
    out->double_precision = 1;
    out->contract = 1;
    return out->source != NULL;
}

static int load_kernels(diffusion *d, const plugmc_host *host)
{
    diffusion_gpu *g = d->gpu;
    plugmc_gpu_source text = {.size = sizeof text};
    const char *const number = d->wave.is_complex ? "complex" : "real", *team = "few";
    if (g->lanes == DMC_WARP) team = "warp";
    if (g->lanes == DMC_TEAM) team = "block";
    char propose[48], decide[48], close[48];
    snprintf(propose, sizeof propose, "dmc_propose_%s_%s", team, number);
    snprintf(decide, sizeof decide, "dmc_decide_%s_%s", team, number);
    snprintf(close, sizeof close, "dmc_close_%s", number);
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } kernels[] = {
        {propose, &g->kernels.propose},     {decide, &g->kernels.decide},
        {close, &g->kernels.close},         {"dmc_copy", &g->kernels.copy},
        {"dmc_gather", &g->kernels.gather}, {"dmc_parts", &g->kernels.parts},
    };
    int code = diffusion_gpu_source(d, host, 0, &text) ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0] && !code; i++)
        code = host->gpu->kernel(host->context, &text, kernels[i].name, kernels[i].kernel);
    if (!code && d->wave.sum) code = sums_prepare(d, host, &text);
    if (!code && d->set.nonlocal == T_MOVES) code = gpu_t_moves_prepare(d, host, &text);
    return code ? code
                : matrices_prepare(&g->matrices, host, &text, g->group, d->wave.most,
                                   d->wave.is_complex, sizeof(double));
}

static int take_memory(diffusion *d, const plugmc_host *host)
{
    diffusion_gpu *g = d->gpu;
    const size_t walkers = (size_t)d->system->walkers, group = (size_t)g->group,
                 most = (size_t)d->wave.most, row = (size_t)d->wave.numbers * sizeof(double),
                 number = (size_t)g->number, rows = (size_t)g->capacity,
                 longest = (size_t)fmax((double)row_length(d, 0), (double)row_length(d, 1)),
                 wide = walkers * rows * most * number;
    const struct {
        device_pointer *place;
        size_t bytes;
    } arrays[] = {
        {&g->positions, bytes_of_positions(d)},
        {&g->base, bytes_of_positions(d)},
        {&g->numbers, walkers * sizeof(dmc_numbers)},
        {&g->tally, walkers * sizeof(dmc_tally)},
        {&g->block.move, walkers * sizeof(dmc_move)},
        {&g->block.there, walkers * 24},
        {&g->block.values, walkers * row},
        {&g->block.new_slopes, walkers * 3 * row},
        {&g->block.own_row, walkers * longest * number},
        {&g->block.chosen, walkers * (rows + 1) * sizeof(int32_t)},
        {&g->block.taken, wide},
        {&g->block.known, walkers * rows * rows * number},
        {&g->block.old, wide},
        {&g->block.small, walkers * rows * rows * number},
        {&g->block.mixed, walkers * rows * number},
        {&g->block.products, wide},
        {&g->block.solved, wide},
        {&g->from, walkers * sizeof(int32_t)},
        {&g->points, group * most * 24},
        {&g->group_values, group * most * row},
        {&g->found, walkers * 8},
    };
    int code = PLUGMC_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && !code; i++)
        code = host->gpu->allocate(host->context, arrays[i].bytes, arrays[i].place);
    for (int spin = 0; spin < SPINS && !code; spin++) {
        const size_t n = (size_t)electrons_of(d, spin);
        if (!n) continue;
        code = host->gpu->allocate(host->context, walkers * n * n * number, &g->inverse[spin]);
        if (!code)
            code = host->gpu->allocate(host->context, walkers * n * 3 * row, &g->slopes[spin]);
    }
    g->host_numbers = host->allocate(host->context, walkers * sizeof *g->host_numbers);
    g->host_tally = host->allocate(host->context, walkers * sizeof *g->host_tally);
    g->host_found = host->allocate(host->context, 2 * walkers * sizeof *g->host_found);
    if (!code && !(g->host_numbers && g->host_tally && g->host_found))
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers", walkers);
    return code;
}

static int prepare(diffusion *d, const plugmc_host *host)
{
    diffusion_gpu *g = d->gpu = host->allocate(host->context, sizeof *g);
    if (!g) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the mover");
    if (!plugmc_orbitals_of(d->wave.orbitals->plugin)->on_device)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "potential '%s' evaluates its orbitals only on the CPU: set [run] device = cpu",
            d->wave.orbitals->label);
    g->number = (int64_t)sizeof(double) * (d->wave.is_complex ? 2 : 1);
    g->capacity = d->set.block > 0                ? (int32_t)d->set.block
                  : d->wave.most < MANY_ELECTRONS ? 1
                                                  : DMC_MOST_BLOCK;
    if (d->wave.sum) g->capacity = 1; /* tables take each move at once */
    if (g->capacity > d->wave.most) g->capacity = (int32_t)d->wave.most;
    g->lanes = g->capacity > 1 || d->wave.most >= MANY_ELECTRONS ? DMC_TEAM
               : d->system->particles > DMC_FEW_ELECTRONS        ? DMC_WARP
                                                                 : DMC_FEW;
    const double bytes = (double)(d->wave.most * d->wave.numbers) * sizeof(double) +
                         matrices_bytes(d->wave.most, d->wave.is_complex);
    const double fits = fmin(GROUP_BYTES / bytes, MOST_WALKERS);
    g->group = fits < 1 ? 1 : fits < d->system->walkers ? (int32_t)fits : d->system->walkers;
    int code = load_kernels(d, host);
    return code ? code : take_memory(d, host);
}

static void release(diffusion *d)
{
    if (d->gpu) matrices_release(&d->gpu->matrices);
}

const diffusion_engine diffusion_on_gpu = {.prepare = prepare,
                                           .take = take,
                                           .give = give,
                                           .fetch = fetch,
                                           .anew = anew,
                                           .moves = moves,
                                           .copies = copies,
                                           .keep_base = keep_base,
                                           .fetch_base = fetch_base,
                                           .view = view,
                                           .t_moves = t_moves_there,
                                           .lend = lend,
                                           .report = bring_numbers,
                                           .release = release};
