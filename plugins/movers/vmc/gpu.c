/* Walkers on a GPU: their positions, matrices and energies stay there; vmc.cu has the kernels and
 * says what a block of electrons is. Matrices are multiplied and inverted by cuBLAS, for all
 * walkers of a group in one call. Counts and energies are not copied to the host until somebody asks
 * (report); what a sweep asks the host for is in gpu_blocks.h.
 *
 * cuBLAS counts columns first: what is [i][j] here is its matrix (j, i), so M is its inverse of A,
 * P is its transposed inverse times V, and so on.
 */
#include "gpu_sums.h"

#include "../../join_texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PLUGMC_EMBED(vmc_kernels_text, PLUGMC_KERNEL_FILE);
PLUGMC_EMBED(vmc_decide_text, VMC_DECIDE_FILE);
PLUGMC_EMBED(vmc_decide_sum_text, VMC_DECIDE_SUM_FILE);

enum { MANY_ELECTRONS = 256, GATHERED = 192 };
static const double GROUP_BYTES = 8e9; /* of work memory for walkers that are dealt with together */

/* ---- Sweeps ---------------------------------------------------------------------------------- */

/* Calls of one group after another. */
typedef int group_sweep(vmc *, const plugmc_host *, vmc_draws *, int32_t n);

static int for_groups(vmc *v, const plugmc_host *host, uint64_t sweep, group_sweep *call)
{
    vmc_draws d = vmc_draws_of(v, sweep);
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < v->system->walkers && !code; w += v->gpu->group) {
        const int32_t left = v->system->walkers - w;
        d.walker = w;
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        code = call(v, host, &d, left < v->gpu->group ? left : v->gpu->group);
    }
    return code;
}

static void count_trials(vmc *v, uint64_t trials)
{
    for (int32_t w = 0; w < v->system->walkers; w++) v->walkers[w].trials += trials;
}

/* Proposals of a whole spin and the orbitals at them. */
static int draw_and_evaluate(vmc *v, const plugmc_host *host, vmc_draws *d, int32_t n, int spin,
                             device_pointer whole)
{
    const int64_t electrons = vmc_electrons(v, spin);
    vmc_block all = block_of(v, spin, 0, electrons, electrons, 0);
    int code = propose(v, host, d, &all, spin, n, whole);
    return code ? code : evaluate(v, host, spin, n * electrons, v->gpu->moves.to[spin]);
}

static int group_quasi_simultaneous(vmc *v, const plugmc_host *host, vmc_draws *d, int32_t n)
{
    int code = PLUGMC_OK;
    for (int spin = 0; spin < VMC_SPINS && !code; spin++) {
        const int64_t electrons = vmc_electrons(v, spin), step = v->gpu->gathered;
        vmc_block all = block_of(v, spin, 0, electrons, electrons, 0);
        if (electrons) code = draw_and_evaluate(v, host, d, n, spin, 0);
        if (electrons && !code) code = find_fields(v, host, d, &all, spin, n);
        if (electrons && !code && v->wave.sum) code = sums_decide_all(v, host, d, spin, n);
        for (int64_t first = 0; first < electrons && !code && !v->wave.sum; first += step) {
            const int64_t left = electrons - first, count = left < step ? left : step;
            vmc_block b = block_of(v, spin, first, count, electrons, first);
            code = step > v->gpu->capacity ? decide_gathered(v, host, d, spin, n, first, count)
                                           : decide_block(v, host, d, &b, spin, n, fields_found(v));
        }
    }
    return code;
}

int vmc_gpu_quasi_simultaneous(vmc *v, const plugmc_host *host, uint64_t sweep)
{
    count_trials(v, (uint64_t)v->system->particles);
    return for_groups(v, host, sweep, group_quasi_simultaneous);
}

/* Blocks of one electron, each with a call of its own for the orbitals at the places of all
 * walkers. */
static int group_particle_by_particle(vmc *v, const plugmc_host *host, vmc_draws *d, int32_t n)
{
    int code = PLUGMC_OK;
    for (int spin = 0; spin < VMC_SPINS; spin++)
        for (int64_t e = 0; e < vmc_electrons(v, spin) && !code; e++) {
            vmc_block b = block_of(v, spin, e, 1, 1, 0);
            if (host->stopping(host->context)) return PLUGMC_STOPPED;
            code = propose(v, host, d, &b, spin, n, 0);
            if (!code) code = evaluate(v, host, spin, n, v->gpu->moves.to[spin]);
            if (!code && v->wave.sum && e == 0) code = sums_weigh(v, host, spin, d->walker, n);
            if (!code)
                code = v->wave.sum ? sums_decide(v, host, d, &b, spin, n, 0)
                                   : decide_block(v, host, d, &b, spin, n, 0);
        }
    return code;
}

int vmc_gpu_particle_by_particle(vmc *v, const plugmc_host *host, uint64_t sweep)
{
    count_trials(v, (uint64_t)v->system->particles);
    return for_groups(v, host, sweep, group_particle_by_particle);
}

/* Positions of n walkers become those where their electrons were judged to go. */
static int settle(vmc *v, const plugmc_host *host, vmc_draws *d, int32_t n)
{
    vmc_gpu *g = v->gpu;
    int32_t particles = (int32_t)v->system->particles, up = (int32_t)vmc_electrons(v, 0);
    vmc_state state = state_of(v, d->walker, 0);
    device_pointer positions = positions_of(v, d->walker),
                   moved = from_walker(g->moved, d->walker, 3 * v->system->particles * 8);
    return launch(host, g->kernels.settle, (uint32_t)n, 1, 1, VMC_THREADS, 0,
                  (void *[]){d, &particles, &up, &state, &g->moves.to[0], &g->moves.to[1], &moved,
                             &positions});
}

static int group_simultaneous(vmc *v, const plugmc_host *host, vmc_draws *d, int32_t n)
{
    vmc_gpu *g = v->gpu;
    int code = PLUGMC_OK;
    for (int spin = 0; spin < VMC_SPINS && !code; spin++) {
        const int64_t electrons = vmc_electrons(v, spin);
        int64_t pitch = v->wave.pitch; /* of orbitals, whatever their kind */
        vmc_block all = block_of(v, spin, 0, electrons, electrons, 0);
        vmc_state state = state_of(v, d->walker, spin);
        device_pointer none = 0, fields = fields_found(v), positions = positions_of(v, d->walker),
                       to = g->moves.to[spin],
                       inverse = from_walker(g->inverse[spin], d->walker,
                                             electrons * electrons * g->number),
                       moved = from_walker(g->moved, d->walker, 3 * v->system->particles * 8);
        all.capacity = g->looked;
        if (!electrons) continue;
        code = draw_and_evaluate(v, host, d, n, spin, 0);
        if (!code) code = find_fields(v, host, d, &all, spin, n);
        if (!code)
            code = launch(host, g->kernels.look, (uint32_t)electrons, (uint32_t)n, 1, VMC_LOOK, 0,
                          (void *[]){&all, &positions, &to, &fields, &g->moves.change, &none});
        if (!code)
            code = launch(host, g->kernels.judge, (uint32_t)electrons, (uint32_t)n, 1, VMC_LOOK, 0,
                          (void *[]){d, &all, &state, &pitch, &to, &g->moves.change,
                                     &g->moves.values, &inverse, &moved});
    }
    return code ? code : settle(v, host, d, n);
}

static size_t bytes_of_positions(const vmc *v)
{
    return 3 * (size_t)(v->system->particles * v->system->walkers) * sizeof(double);
}

int vmc_gpu_simultaneous(vmc *v, const plugmc_host *host, uint64_t sweep)
{
    const plugmc_gpu *gpu = host->gpu;
    vmc_gpu *g = v->gpu;
    count_trials(v, (uint64_t)v->system->particles);
    int code = gpu->copy(host->context, g->moved, g->positions, bytes_of_positions(v));
    if (!code) code = for_groups(v, host, sweep, group_simultaneous);
    return code ? code : vmc_on_gpu.anew(v, host, 0);
}

/* ---- Matrices anew --------------------------------------------------------------------------- */

/* Orbitals in `values` to the factors of the matrices, and to ln |det|^2 in found[spin]. */
static int factorise(const vmc *v, const plugmc_host *host, int spin, int32_t n)
{
    vmc_gpu *g = v->gpu;
    return matrices_factorise(&g->matrices, host, (int32_t)vmc_electrons(v, spin), v->wave.pitch,
                              g->moves.values, n, from_walker(g->moves.found, spin * g->group, 8));
}

/* ln |det|^2 of walkers first ... first + n - 1 as they were found, to the host and to the state.
 */
static int take_determinants(vmc *v, const plugmc_host *host, int spin, int32_t first, int32_t n,
                             int compare)
{
    const plugmc_gpu *gpu = host->gpu;
    vmc_gpu *g = v->gpu;
    double *numbers = g->host_numbers;
    const device_pointer found = from_walker(g->moves.found, spin * g->group, 8),
                         kept = from_walker(g->ln_square[spin], first, 8);
    int code = gpu->download(host->context, numbers, found, (size_t)n * 8);
    if (!code) code = gpu->download(host->context, numbers + n, kept, (size_t)n * 8);
    if (!code) code = gpu->copy(host->context, kept, found, (size_t)n * 8);
    for (int32_t k = 0; k < n && !code; k++) {
        vmc_walker *walker = &v->walkers[first + k];
        if (!isfinite(numbers[k])) walker->singular = 1 + spin;
        walker->no_numbers |= isnan(numbers[k]);
        if (compare)
            vmc_note_drift(walker, fabs(numbers[k] - numbers[n + k]) / (1 + fabs(numbers[k])));
    }
    return code;
}

/* The inverses of what was factorised; how far those kept were from them. */
static int take_inverses(vmc *v, const plugmc_host *host, int spin, int32_t first, int32_t n,
                         int compare)
{
    vmc_gpu *g = v->gpu;
    const int64_t electrons = vmc_electrons(v, spin), bytes = electrons * electrons * g->number;
    double *drift = g->host_numbers;
    const int code = matrices_renew(&g->matrices, host, (int32_t)electrons, n,
                                    from_walker(g->inverse[spin], first, bytes), drift);
    for (int32_t k = 0; k < n && !code && compare; k++)
        vmc_note_drift(&v->walkers[first + k], drift[2 * k] / drift[2 * k + 1]);
    return code;
}

/* Positions of a spin's electrons, side by side, are where its proposals were. */
static int gather_positions(const vmc *v, const plugmc_host *host, int32_t first, int32_t n,
                            int spin)
{
    vmc_draws d = vmc_draws_of(v, 0);
    const int64_t electrons = vmc_electrons(v, spin);
    vmc_block all = block_of(v, spin, 0, electrons, electrons, 0);
    d.walker = first;
    d.step = 0;
    return propose(v, host, &d, &all, spin, n, 0);
}

static int anew_group(vmc *v, const plugmc_host *host, int spin, int32_t first, int32_t n,
                      int compare)
{
    int code = gather_positions(v, host, first, n, spin);
    if (!code) code = evaluate(v, host, spin, n * vmc_electrons(v, spin), v->gpu->moves.to[spin]);
    if (v->wave.sum) return code ? code : sums_invert(v, host, spin, first, n);
    if (!code) code = factorise(v, host, spin, n);
    if (!code) code = take_determinants(v, host, spin, first, n, compare);
    if (!code && v->keeps & VMC_KEEPS_INVERSE)
        code = take_inverses(v, host, spin, first, n, compare);
    return code;
}

/* Pair and field energies of n walkers at `positions` [n][particles][3] to out [n]. */
static int sum_parts(const vmc *v, const plugmc_host *host, int32_t n, device_pointer positions,
                     device_pointer out)
{
    vmc_gpu *g = v->gpu;
    int32_t particles = (int32_t)v->system->particles;
    vmc_block all = block_of(v, 0, 0, 0, 0, 0);
    int code = launch(host, g->kernels.energy, (uint32_t)particles, (uint32_t)n, 1, VMC_LOOK, 0,
                      (void *[]){&all, &positions, &g->moves.rows});
    if (code) return code;
    return launch(host, g->kernels.energy_sum, (uint32_t)n, 1, 1, VMC_THREADS, 0,
                  (void *[]){&particles, &g->moves.rows, &out});
}

static int parts_anew(vmc *v, const plugmc_host *host, int32_t first, int32_t n, int compare)
{
    double *numbers = v->gpu->host_numbers;
    const device_pointer parts = from_walker(v->gpu->parts, first, 8);
    int code = host->gpu->download(host->context, numbers, parts, (size_t)n * 8);
    if (!code) code = sum_parts(v, host, n, positions_of(v, first), parts);
    if (!code) code = host->gpu->download(host->context, numbers + n, parts, (size_t)n * 8);
    for (int32_t k = 0; k < n && !code; k++) {
        vmc_walker *walker = &v->walkers[first + k];
        walker->parts = numbers[n + k];
        if (compare)
            vmc_note_drift(walker, fabs(numbers[n + k] - numbers[k]) / (1 + fabs(numbers[n + k])));
    }
    return code;
}

static int anew(vmc *v, const plugmc_host *host, int compare)
{
    const int32_t walkers = v->system->walkers;
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < walkers; w++) {
        v->walkers[w].drift = 0; /* what was no number stays known: the run ends for that */
        v->walkers[w].singular = 0;
    }
    if (v->wave.sum) code = device_sums_upload(&v->gpu->sums, host);
    for (int spin = 0; spin < VMC_SPINS && !code; spin++) {
        if (!vmc_electrons(v, spin)) continue;
        for (int32_t w = 0; w < walkers && !code; w += v->gpu->group)
            code = anew_group(v, host, spin, w,
                              walkers - w < v->gpu->group ? walkers - w : v->gpu->group, compare);
    }
    for (int32_t w = 0; w < walkers && !code; w += v->gpu->group) {
        const int32_t n = walkers - w < v->gpu->group ? walkers - w : v->gpu->group;
        if (v->wave.sum) code = sums_settle(v, host, w, n, compare);
        if (!code) code = parts_anew(v, host, w, n, compare);
    }
    return code;
}

/* ---- All at once ----------------------------------------------------------------------------- */

static int group_configuration(vmc *v, const plugmc_host *host, vmc_draws *d, int32_t n)
{
    vmc_gpu *g = v->gpu;
    vmc_block all = block_of(v, 0, 0, 0, 0, 0);
    vmc_state state = state_of(v, d->walker, 0);
    device_pointer positions = positions_of(v, d->walker),
                   parts = from_walker(g->moves.found, 2 * g->group, 8), up = g->moves.found,
                   down = from_walker(g->moves.found, g->group, 8),
                   ln_down = from_walker(g->ln_square[1], d->walker, 8);
    int code = PLUGMC_OK;
    for (int spin = 0; spin < VMC_SPINS && !code; spin++) {
        const int64_t electrons = vmc_electrons(v, spin);
        if (!electrons) continue;
        code = draw_and_evaluate(v, host, d, n, spin, g->moved);
        if (!code) code = factorise(v, host, spin, n);
    }
    if (!code) code = sum_parts(v, host, n, g->moved, parts);
    if (!vmc_electrons(v, 1)) down = 0;
    return code ? code
                : launch(host, g->kernels.decide_configuration, (uint32_t)n, 1, 1, VMC_THREADS, 0,
                         (void *[]){d, &all, &state, &g->moved, &up, &down, &parts, &ln_down,
                                    &positions});
}

int vmc_gpu_configuration(vmc *v, const plugmc_host *host, uint64_t sweep)
{
    count_trials(v, 1);
    return for_groups(v, host, sweep, group_configuration);
}

/* ---- In and out ------------------------------------------------------------------------------ */

static int take(vmc *v, const plugmc_host *host, const double *positions)
{
    for (int32_t w = 0; w < v->system->walkers; w++) v->walkers[w].no_numbers = 0;
    const int cleared = host->gpu->fill(host->context, v->gpu->failure, 0,
                                        (size_t)v->system->walkers * sizeof(vmc_failure));
    if (cleared) return cleared;
    const int64_t count = v->system->particles * v->system->walkers;
    double *wrapped = malloc(bytes_of_positions(v));
    if (!wrapped) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
    memcpy(wrapped, positions, bytes_of_positions(v));
    for (int64_t i = 0; i < count; i++) plugmc_wrap(&v->system->box, wrapped + 3 * i);
    int code = host->gpu->upload(host->context, v->gpu->positions, wrapped, bytes_of_positions(v));
    free(wrapped);
    return code;
}

static int give(const vmc *v, const plugmc_host *host, double *positions)
{
    return host->gpu->copy(host->context, (device_pointer)(uintptr_t)positions, v->gpu->positions,
                           bytes_of_positions(v));
}

static const double *lend(const vmc *v, int spin, int32_t w)
{
    const int64_t n = vmc_electrons(v, spin);
    return AT(from_walker(v->gpu->inverse[spin], w, n * n * v->gpu->number), const double);
}

static int keep_base(vmc *v, const plugmc_host *host)
{
    return host->gpu->copy(host->context, v->gpu->base, v->gpu->positions, bytes_of_positions(v));
}

static int give_base(vmc *v, const plugmc_host *host, double *positions)
{
    return host->gpu->download(host->context, positions, v->gpu->base, bytes_of_positions(v));
}

static int take_base(vmc *v, const plugmc_host *host, const double *positions)
{
    return host->gpu->upload(host->context, v->gpu->base, positions, bytes_of_positions(v));
}

static int report(vmc *v, const plugmc_host *host)
{
    const vmc_gpu *g = v->gpu;
    const size_t walkers = (size_t)v->system->walkers, bytes = walkers * 8;
    const plugmc_gpu *gpu = host->gpu;
    double *numbers = g->host_numbers;
    uint64_t *counts = g->host_numbers;
    const vmc_failure *failures = g->host_numbers;
    int code = gpu->download(host->context, numbers, g->parts, bytes);
    for (size_t w = 0; w < walkers && !code; w++) v->walkers[w].parts = numbers[w];
    for (int spin = 0; spin < VMC_SPINS && !code; spin++) {
        code = gpu->download(host->context, numbers, g->ln_square[spin], bytes);
        for (size_t w = 0; w < walkers && !code; w++) v->walkers[w].ln_square[spin] = numbers[w];
    }
    if (!code) code = gpu->download(host->context, counts, g->accepted, bytes);
    for (size_t w = 0; w < walkers && !code; w++) v->walkers[w].accepted = counts[w];
    if (!code)
        code =
            gpu->download(host->context, g->host_numbers, g->failure, walkers * sizeof *failures);
    for (size_t w = 0; w < walkers && !code; w++) {
        v->walkers[w].not_a_number = failures[w].electron != 0;
        v->walkers[w].electron = (int64_t)failures[w].electron - 1;
        v->walkers[w].sweep = failures[w].sweep;
    }
    return code;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

int vmc_gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance;
    if (index > 0) return index == 1 && matrices_factors_text(host, out);
    const char *decide = expansion_is_there(host) ? sums_text(host, vmc_decide_sum_text) : "",
               *own = decide
                          ? join_texts(host, (const char *const[]){vmc_decide_text, decide, NULL})
                          : NULL,
               *text = own ? matrices_text(host, vmc_kernels_text, own) : NULL;
    if (!text) return 0;
    out->name = vmc_text_name;
    out->source = text;
    out->fuse = PLUGMC_FUSE_SAMPLED;
    out->double_precision = 1;
    out->contract = 1;
    return 1;
}

static int load_kernels(vmc *v, const plugmc_host *host)
{
    vmc_gpu *g = v->gpu;
    plugmc_gpu_source text = {.size = sizeof text};
    const char *const number = v->wave.is_complex ? "complex" : "real", *const value =
                                                                            v->is_single ? "float"
                                                                                         : "double";
    char decide[32], gather[32], coefficients[32], orbitals[32], judge[48];
    snprintf(decide, sizeof decide, "vmc_decide_%s", number);
    snprintf(gather, sizeof gather, "vmc_gather_%s", value);
    snprintf(coefficients, sizeof coefficients, "vmc_coefficients_%s", number);
    snprintf(orbitals, sizeof orbitals, "vmc_chosen_orbitals_%s", value);
    snprintf(judge, sizeof judge, "vmc_judge_%s_%s", value, number);
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } kernels[] = {
        {"vmc_propose", &g->kernels.propose},
        {"vmc_fields", &g->kernels.fields},
        {"vmc_look", &g->kernels.look},
        {"vmc_energy", &g->kernels.energy},
        {"vmc_energy_sum", &g->kernels.energy_sum},
        {decide, &g->kernels.decide},
        {gather, &g->kernels.gather},
        {judge, &g->kernels.judge},
        {"vmc_settle", &g->kernels.settle},
        {"vmc_decide_configuration", &g->kernels.decide_configuration},
        {"vmc_overlaps", &g->kernels.find_overlaps},
        {coefficients, &g->kernels.coefficients},
        {"vmc_chosen_rows", &g->kernels.chosen_rows},
        {orbitals, &g->kernels.chosen_orbitals},
    };
    int code = vmc_gpu_source(v, host, 0, &text) ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0] && !code; i++)
        code = host->gpu->kernel(host->context, &text, kernels[i].name, kernels[i].kernel);
    if (!code && v->wave.sum) code = sums_load_kernels(v, host, &text);
    return code ? code
                : matrices_prepare(&g->matrices, host, &text, g->group, v->wave.most,
                                   v->wave.is_complex, g->real_size);
}

/* Walkers that are dealt with together: as many as their work memory allows. */
static void choose_group(vmc *v)
{
    vmc_gpu *g = v->gpu;
    const double n = (double)v->wave.most, b = (double)g->capacity, number = (double)g->number,
                 arrays = 2 + (double)vmc_numbers(v, 1); /* of what is gathered */
    const double bytes = n * (double)v->wave.numbers * (double)g->real_size +
                         matrices_bytes(v->wave.most, v->wave.is_complex) +
                         (arrays * (double)g->gathered + b) * n * number +
                         b * (2 * b + (double)g->gathered) * number;
    const double fits = fmin(GROUP_BYTES / bytes, MOST_WALKERS);
    g->group = fits < 1 ? 1 : fits < v->system->walkers ? (int32_t)fits : v->system->walkers;
}

static int take_memory(vmc *v, const plugmc_host *host)
{
    vmc_gpu *g = v->gpu;
    const size_t walkers = (size_t)v->system->walkers, group = (size_t)g->group,
                 most = (size_t)v->wave.most, particles = (size_t)v->system->particles,
                 number = (size_t)g->number, capacity = (size_t)g->capacity;
    const size_t wide = group * (size_t)g->gathered * most * number;
    const struct {
        device_pointer *place;
        size_t bytes;
    } arrays[] = {
        {&g->positions, bytes_of_positions(v)},
        {&g->base, bytes_of_positions(v)},
        {&g->moved, bytes_of_positions(v)},
        {&g->ln_square[0], walkers * 8},
        {&g->ln_square[1], walkers * 8},
        {&g->parts, walkers * 8},
        {&g->accepted, walkers * 8},
        {&g->failure, walkers * sizeof(vmc_failure)},
        {&g->moves.to[0], group * most * 24},
        {&g->moves.to[1], group * most * 24},
        {&g->moves.values, group * most * (size_t)v->wave.numbers * g->real_size},
        {&g->moves.taken, wide * (size_t)vmc_numbers(v, 1)},
        {&g->moves.products, wide},
        {&g->moves.solved, wide},
        {&g->moves.fresh, group * capacity * most * number},
        {&g->moves.field, group * most * 16},
        {&g->moves.chosen, group * (size_t)g->gathered * sizeof(int32_t)},
        {&g->moves.counts, (2 * group + 1) * sizeof(int32_t)},
        {&g->moves.overlaps, group * capacity * (size_t)g->gathered * number},
        {&g->moves.small, group * capacity * capacity * number},
        {&g->moves.others, group * capacity * capacity * 8},
        {&g->moves.change, group * (size_t)g->looked * 8},
        {&g->moves.rows, group * particles * 8},
        {&g->moves.found, (VMC_SPINS + 1) * group * 8},
    };
    int code = PLUGMC_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && !code; i++)
        code = host->gpu->allocate(host->context, arrays[i].bytes, arrays[i].place);
    for (int spin = 0; spin < VMC_SPINS && !code && v->keeps & VMC_KEEPS_INVERSE; spin++) {
        const size_t n = (size_t)vmc_electrons(v, spin);
        if (n)
            code = host->gpu->allocate(host->context, walkers * n * n * number, &g->inverse[spin]);
    }
    g->host_numbers = host->allocate(host->context, walkers * 16);
    if (!code && !g->host_numbers)
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers", walkers);
    return code;
}

/* Whether a potential that is sampled has a field. */
static int has_fields(const vmc *v)
{
    int any = 0;
    for (int32_t t = 0; t < v->system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(v->system, t);
        any |= term->sampled && term->plugin->potential->field;
    }
    return any;
}

/* Hard cores would need the chain to know who overlaps with whom. */
static int refuse_hard_cores(const vmc *v, const plugmc_host *host)
{
    for (int32_t t = 0; t < v->system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(v->system, t);
        const plugmc_pair *pair = term->plugin->potential->pair;
        if (term->sampled && pair && pair->functions & PLUGMC_PAIR_CONTACT)
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "potential '%s' has a hard core, which this mover supports only on the CPU: "
                "set [run] device = cpu",
                term->label);
    }
    return PLUGMC_OK;
}

/* Where matrices are small, more columns at a time would save nothing. */
static int32_t electrons_gathered(const vmc *v, int32_t capacity)
{
    int64_t blocks = v->gather;
    if (blocks == 0)
        blocks = v->wave.most >= MANY_ELECTRONS && capacity < GATHERED ? GATHERED / capacity : 1;
    return (int32_t)(blocks * capacity < v->wave.most ? blocks * capacity : v->wave.most);
}

static int prepare(vmc *v, const plugmc_host *host)
{
    vmc_gpu *g = v->gpu = host->allocate(host->context, sizeof *g);
    if (!g) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the mover");
    if (!plugmc_orbitals_of(v->wave.orbitals->plugin)->on_device)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "potential '%s' evaluates its orbitals only on the CPU: set [run] device = cpu",
            v->wave.orbitals->label);
    const int64_t block = v->delayed < VMC_MOST_BLOCK ? v->delayed : VMC_MOST_BLOCK;
    const int one_by_one = v->one_sweep == vmc_gpu_particle_by_particle || block < 1;
    g->has_fields = has_fields(v);
    g->number = (int64_t)sizeof(double) * (v->wave.is_complex ? 2 : 1);
    g->capacity = one_by_one ? 1 : (int32_t)(block < v->wave.most ? block : v->wave.most);
    while (g->capacity > 1 &&
           shared_to_decide(v, g->capacity) > (uint32_t)host->gpu->shared_per_block)
        g->capacity /= 2;
    g->gathered = one_by_one ? 1 : electrons_gathered(v, g->capacity);
    g->looked = v->one_sweep == vmc_gpu_simultaneous ? (int32_t)v->wave.most : g->capacity;
    g->real_size = v->is_single ? sizeof(float) : sizeof(double);
    choose_group(v);
    int code = refuse_hard_cores(v, host);
    if (!code) code = load_kernels(v, host);
    if (!code) code = take_memory(v, host);
    if (!code && v->wave.sum) code = sums_prepare(v, host);
    return code;
}

static void release(vmc *v)
{
    if (v->gpu) matrices_release(&v->gpu->matrices);
}

const vmc_engine vmc_on_gpu = {
    .prepare = prepare,
    .take = take,
    .give = give,
    .anew = anew,
    .lend = lend,
    .keep_base = keep_base,
    .give_base = give_base,
    .take_base = take_base,
    .report = report,
    .release = release,
};
