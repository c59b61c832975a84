/* Local energies on a GPU: everything from the positions to a few numbers a walker stays there.
 * formulas.h has what is calculated, local_energy.cu the kernels.
 *
 * Walkers go in groups, and quadratures in batches, both as large as a fixed amount of memory, so
 * that they are the same on every GPU. The host waits once a spin and group, for the number of
 * electrons near ions.
 *
 * Orbitals are asked for in double precision, whatever their tables have: writing them is little
 * beside finding them.
 */
#include "gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of orbitals at points of quadratures. */
static const double BATCH_BYTES = 1e9;

/* ---- Measuring ------------------------------------------------------------------------------- */

static int measure_group(local_energy *, const plugmc_host *, walkers_task *);
static int measure_spin(local_energy *, const plugmc_host *, walkers_task *, int spin);

/* Matrices of walkers one behind the other, as cuBLAS wants them. */
static int are_in_line(const local_energy *le, const plugmc_inverses *lent, int32_t walkers)
{
    for (int spin = 0; spin < le->system->species_count; spin++) {
        const int64_t n = plugmc_species_at(le->system, spin)->count,
                      numbers = n * n * (le->wave.is_complex ? 2 : 1);
        if (n && !(lent->on_device && lent->inverse[spin] && lent->ln_square[spin])) return 0;
        for (int32_t w = 1; w < walkers && n; w++)
            if (lent->inverse[spin][w] != lent->inverse[spin][0] + w * numbers) return 0;
    }
    return 1;
}

static int find_with(local_energy *, const plugmc_host *, const plugmc_view *, double *drift,
                     int phases, int32_t first, int32_t n);

/* Elements of 1 - A M from which on a matrix is made anew: one step leaves about their squares. */
static const double LARGEST_RESIDUAL = 1e-3;

/* Walkers first ... first + n - 1, into their rows of host_found. With matrices that somebody lends it takes a step
 * towards the inverse instead of finding that anew; where they are too far off, it finds it anew. */
static int find_walkers(local_energy *le, const plugmc_host *host, const plugmc_view *view,
                        const plugmc_inverses *lent, double *drift, int phases, int32_t first,
                        int32_t n)
{
    local_energy_gpu *g = le->gpu;
    plugmc_inverses of_view = {.size = sizeof of_view};
    int code = PLUGMC_OK, good = 1;
    if (!lent && !le->wave.sum && PLUGMC_HAS(view, inverses) && view->inverses && !phases) {
        code = view->inverses(view, &of_view);
        lent = &of_view;
    }
    if (code) return code;
    g->lent = lent && !phases && are_in_line(le, lent, le->system->walkers) ? lent : NULL;
    if (!g->lent) return find_with(le, host, view, drift, phases, first, n);
    code = find_with(le, host, view, drift, phases, first, n);
    if (!code)
        code = host->gpu->download(host->context, g->host_residuals,
                                   g->residuals + (device_pointer)first * 8,
                                   (size_t)n * sizeof *g->host_residuals);
    for (int32_t w = 0; w < n; w++) good &= g->host_residuals[w] <= LARGEST_RESIDUAL;
    g->lent = NULL;
    if (code || good) return code;
    le->asked.count = 0;
    return find_with(le, host, view, drift, phases, first, n);
}

static int find_with(local_energy *le, const plugmc_host *host, const plugmc_view *view,
                     double *drift, int phases, int32_t first, int32_t n)
{
    local_energy_gpu *g = le->gpu;
    const int64_t row = 3 * le->system->particles;
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < n && !code; w += g->group) {
        walkers_task task = g->task;
        task.sweep = view->sweep;
        task.first_walker = first + w;
        task.walkers = n - w < g->group ? n - w : g->group;
        task.positions = view->positions + (first + w) * row;
        g->drift = drift ? (device_pointer)(uintptr_t)(drift + w * row) : 0;
        g->wanted_phases = phases ? g->phases + (device_pointer)(first + w) * 16 : 0;
        code = measure_group(le, host, &task);
    }
    const size_t bytes = FOUND * sizeof(double);
    if (!code)
        code = host->gpu->download(host->context, g->host_found + first * FOUND,
                                   g->found + (device_pointer)first * bytes, (size_t)n * bytes);
    for (int32_t w = first; w < first + n && !code; w++)
        if (g->host_found[w * FOUND + FOUND_SINGULAR] > 0)
            code = fail_singular(le, host, w, (int)g->host_found[w * FOUND + FOUND_SINGULAR] - 1);
    return code;
}

static void energies_of(const local_energy *le, int32_t walker, double energy[COMPONENTS])
{
    const local_energy_gpu *g = le->gpu;
    const double *found = g->host_found + walker * FOUND;
    energy[KINETIC] = found[FOUND_KINETIC];
    energy[ELECTRON_ELECTRON] = found[FOUND_REPULSION] + g->repulsion_constant;
    energy[LOCAL] = found[FOUND_LOCAL] + g->local_constant;
    energy[NONLOCAL] = found[FOUND_NONLOCAL];
    energy[ION_ION] = le->constant;
}

int gpu_measure(local_energy *le, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const int32_t walkers = le->system->walkers;
    const int code = find_walkers(le, host, view, NULL, NULL, 0, 0, walkers);
    for (int32_t w = 0; w < walkers && !code; w++) {
        double energy[COMPONENTS];
        energies_of(le, w, energy);
        write_values(le, energy, le->gpu->host_found[w * FOUND + FOUND_LN_SQUARE],
                     values + w * QUANTITIES);
    }
    return code;
}

/* Places as they were found, spin by spin, in the order of walkers. */
static int sort_places(local_energy *le, const plugmc_host *host)
{
    const size_t walkers = (size_t)le->system->walkers, count = (size_t)le->asked.count;
    int64_t *next = calloc(walkers + 1, sizeof *next);
    plugmc_nonlocal_point *sorted = malloc((count + 1) * sizeof *sorted);
    const int code = next && sorted ? PLUGMC_OK : local_energy_no_memory(host);
    for (size_t k = 0; k < count && !code; k++) next[le->asked.list[k].walker + 1]++;
    for (size_t w = 0; w < walkers && !code; w++) next[w + 1] += next[w];
    for (size_t k = 0; k < count && !code; k++)
        sorted[next[le->asked.list[k].walker]++] = le->asked.list[k];
    if (!code && count) memcpy(le->asked.list, sorted, count * sizeof *sorted);
    free(next), free(sorted);
    return code;
}

/* All that were kept, to the host. */
static int bring_places(local_energy *le, const plugmc_host *host)
{
    const size_t count = (size_t)le->asked.count;
    if (count == 0) return PLUGMC_OK;
    const int code =
        grow(host, &le->asked.list, &le->asked.room, le->asked.count, sizeof *le->asked.list);
    return code
               ? code
               : host->gpu->download(host->context, le->asked.list, le->gpu->near_ions.places_of.at,
                                     count * sizeof *le->asked.list);
}

int gpu_request(local_energy *le, const plugmc_host *host,
                const plugmc_local_energy_request *request)
{
    local_energy_gpu *g = le->gpu;
    const int32_t first = request->first, n = request->walkers;
    const size_t bytes = 2 * (size_t)n * sizeof *g->host_phases;
    const device_pointer phases = g ? g->phases + (device_pointer)first * 16 : 0;
    int code = PLUGMC_OK;
    if (!g)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "a potential of the wave function supports only the CPU, but local "
                          "energies are needed on the GPU");
    if (request->phase && le->wave.sum)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "phases of sums of determinants are found on the CPU only");
    le->asked.count = 0;
    plugmc_nonlocal_point **const there =
        PLUGMC_HAS(request, device_points) ? request->device_points : NULL;
    le->asked.wanted = there             ? WANTS_PLACES_THERE
                       : request->points ? WANTS_PLACES_HERE
                                         : WANTS_NO_PLACES;
    for (int32_t w = 0; w < n; w++) {
        g->host_phases[2 * w] = 1;
        g->host_phases[2 * w + 1] = 0;
    }
    if (request->phase) code = host->gpu->upload(host->context, phases, g->host_phases, bytes);
    if (!code)
        code = find_walkers(le, host, request->view, request->inverses, request->drift,
                            request->phase != NULL, first, n);
    le->asked.wanted = WANTS_NO_PLACES;
    if (!code && request->points && !there) code = bring_places(le, host);
    if (!code && request->points && !there) code = sort_places(le, host);
    if (!code && request->phase)
        code = host->gpu->download(host->context, request->phase, phases, bytes);
    for (int32_t w = 0; w < n && !code; w++) {
        double energy[COMPONENTS], sum = 0;
        energies_of(le, first + w, energy);
        for (int c = 0; c < COMPONENTS; c++) sum += energy[c];
        if (request->energy) request->energy[w] = sum;
        if (request->parts) memcpy(request->parts + w * COMPONENTS, energy, sizeof energy);
        if (request->ln_psi)
            request->ln_psi[w] = 0.5 * g->host_found[(first + w) * FOUND + FOUND_LN_SQUARE];
    }
    if (request->points) *request->points = there ? NULL : le->asked.list;
    if (there) *there = AT(g->near_ions.places_of.at, plugmc_nonlocal_point);
    if (request->point_count) *request->point_count = le->asked.count;
    return code;
}

static int launch_threads(const plugmc_host *host, plugmc_kernel *kernel, int64_t threads,
                          void **arguments)
{
    return launch(host, kernel, blocks_for(threads, LE_THREADS), 1, 1, LE_THREADS, 0, arguments);
}

static int launch_warps(const plugmc_host *host, plugmc_kernel *kernel, int64_t warps,
                        void **arguments)
{
    return launch_threads(host, kernel, warps * LE_WARP, arguments);
}

static void take_spin(const local_energy *le, walkers_task *task, int spin)
{
    task->first = (int32_t)le->system->first[spin];
    task->electrons = (int32_t)plugmc_species_at(le->system, spin)->count;
    task->length = le->wave.sum ? (int32_t)gpu_sums_length(le, spin) : task->electrons;
}

static int measure_group(local_energy *le, const plugmc_host *host, walkers_task *task)
{
    local_energy_gpu *g = le->gpu;
    const int64_t walkers = task->walkers, electrons = walkers * task->particles;
    device_pointer ln[2] = {0}, out = g->found + (device_pointer)task->first_walker * FOUND * 8;
    int code = host->gpu->fill(host->context, g->arrays.nonlocal, 0, (size_t)walkers * 8);
    if (!code)
        code =
            launch_warps(host, g->kernels.parts, electrons, (void *[]){task, &g->arrays.parts_of});
    if (!code)
        code = launch_warps(host, g->kernels.near, electrons, (void *[]){task, &g->arrays.near_of});
    if (!code && g->far_warps)
        code = launch_warps(host, g->kernels.far, walkers * g->far_warps,
                            (void *[]){task, &g->arrays.far_of});
    if (!code && le->wave.sum) code = gpu_sums_find(le, host, task);
    for (int spin = 0; spin < le->system->species_count && !code; spin++) {
        take_spin(le, task, spin);
        if (!task->electrons) continue;
        code = measure_spin(le, host, task, spin);
        ln[spin] = g->arrays.ln_square[spin];
    }
    return code ? code
                : launch_warps(host, g->kernels.walkers, walkers,
                               (void *[]){task, &g->arrays.parts_of, &g->arrays.near_of,
                                          &g->arrays.far_of, &g->arrays.kinetic_of,
                                          &g->arrays.nonlocal, &ln[0], &ln[1], &out});
}

static int evaluate_there(const local_energy *le, const plugmc_host *host, int spin, int64_t n,
                          device_pointer points, device_pointer values, device_pointer gradients,
                          device_pointer laplacians)
{
    const plugmc_orbital_request request = {.size = sizeof request,
                                            .on_device = 1,
                                            .species = spin,
                                            .real_size = sizeof(double),
                                            .points = n,
                                            .positions = AT(points, const double),
                                            .pitch = le->wave.pitch,
                                            .values = AT(values, void),
                                            .gradients = AT(gradients, void),
                                            .laplacians = AT(laplacians, void)};
    int code = plugmc_orbitals_of(le->wave.orbitals->plugin)
                   ->evaluate(le->wave.orbitals->instance, &request);
    return code ? host->fail(host->context, code, "potential '%s' could not evaluate its orbitals",
                             le->wave.orbitals->label)
                : PLUGMC_OK;
}

static int measure_visits(local_energy *, const plugmc_host *, walkers_task *, int spin);

/* Inverse matrices and ln |det|^2 from the orbitals. */
static int invert(local_energy *le, const plugmc_host *host, walkers_task *task, int spin)
{
    local_energy_gpu *g = le->gpu;
    matrices *m = &g->matrices;
    int code = matrices_factorise(m, host, task->electrons, le->wave.pitch, g->arrays.values,
                                  task->walkers, g->arrays.ln_square[spin]);
    if (!code && g->wanted_phases)
        code = launch_warps(host, g->kernels.phase, task->walkers,
                            (void *[]){task, &m->factors, &m->pivots, &g->wanted_phases});
    return code ? code : matrices_invert(m, host, task->electrons, task->walkers);
}

/* The same from those that are lent. */
static int polish(local_energy *le, const plugmc_host *host, walkers_task *task, int spin)
{
    local_energy_gpu *g = le->gpu;
    const int32_t w = task->first_walker;
    const int code =
        host->gpu->upload(host->context, g->arrays.ln_square[spin], g->lent->ln_square[spin] + w,
                          (size_t)task->walkers * sizeof(double));
    return code ? code
                : matrices_polish(&g->matrices, host, task->electrons, le->wave.pitch,
                                  g->arrays.values,
                                  (device_pointer)(uintptr_t)g->lent->inverse[spin][w],
                                  task->walkers, g->arrays.ln_square[spin],
                                  g->residuals + (device_pointer)w * 8, task->first > 0);
}

int gpu_spin_orbitals(local_energy *le, const plugmc_host *host, walkers_task *task, int spin,
                      int derivatives)
{
    local_energy_gpu *g = le->gpu;
    take_spin(le, task, spin);
    const int64_t points = (int64_t)task->walkers * task->electrons;
    const int code =
        launch_threads(host, g->kernels.gather, 3 * points, (void *[]){task, &g->arrays.points});
    return code ? code
                : evaluate_there(le, host, spin, points, g->arrays.points, g->arrays.values,
                                 derivatives ? g->arrays.gradients : 0,
                                 derivatives ? g->arrays.laplacians : 0);
}

static int measure_spin(local_energy *le, const plugmc_host *host, walkers_task *task, int spin)
{
    local_energy_gpu *g = le->gpu;
    const int64_t points = (int64_t)task->walkers * task->electrons;
    int code = gpu_spin_orbitals(le, host, task, spin, 1);
    if (!code && !le->wave.sum)
        code = g->lent ? polish(le, host, task, spin) : invert(le, host, task, spin);
    g->inverses = le->wave.sum ? g->sums.rows_of[spin] : g->matrices.inverses;
    if (!code)
        code =
            launch_warps(host, g->kernels.kinetic, points,
                         (void *[]){task, &g->inverses, &g->arrays.gradients, &g->arrays.laplacians,
                                    &g->arrays.parts_of, &g->arrays.kinetic_of, &g->drift});
    return code || !le->kinds ? code : measure_visits(le, host, task, spin);
}

/* ---- Electrons near ions --------------------------------------------------------------------- */

static int need(const plugmc_host *host, room *r, int64_t bytes)
{
    if ((size_t)bytes <= r->bytes) return PLUGMC_OK;
    int code = r->at ? host->gpu->release(host->context, r->at) : PLUGMC_OK;
    *r = (room){0, (size_t)bytes + (size_t)bytes / 2};
    return code ? code : host->gpu->allocate(host->context, r->bytes, &r->at);
}

/* The same, and what is there stays. */
static int grow_room(const plugmc_host *host, room *r, int64_t bytes)
{
    const room before = *r;
    if ((size_t)bytes <= r->bytes) return PLUGMC_OK;
    *r = (room){0, 0};
    int code = need(host, r, bytes);
    if (!code && before.at) code = host->gpu->copy(host->context, r->at, before.at, before.bytes);
    return code || !before.at ? code : host->gpu->release(host->context, before.at);
}

/* The places of n visits and what is found there stay on the GPU, for whoever asked. */
static int keep_places(local_energy *le, const plugmc_host *host, walkers_task *task,
                       device_pointer list, int32_t n)
{
    local_energy_gpu *g = le->gpu;
    const int64_t points = (int64_t)n * le->v.sphere.points * le->v.radii,
                  size = sizeof(plugmc_nonlocal_point);
    int code = grow_room(host, &g->near_ions.places_of, (le->asked.count + points) * size);
    if (code) return code;
    device_pointer out = g->near_ions.places_of.at + (device_pointer)(le->asked.count * size);
    le->asked.count += points;
    return launch_threads(host, g->kernels.asked, points,
                          (void *[]){task, &n, &list, &g->near_ions.batch_ratios.at,
                                     &g->near_ions.batch_places.at, &out});
}

/* Visits first ... first + n - 1. */
static int measure_batch(local_energy *le, const plugmc_host *host, walkers_task *task, int spin,
                         int64_t first, int32_t n)
{
    local_energy_gpu *g = le->gpu;
    const int64_t points = (int64_t)n * le->v.sphere.points * le->v.radii;
    device_pointer visits = g->near_ions.list_of.at + (device_pointer)first * sizeof(visit),
                   energies = g->near_ions.energies.at + (device_pointer)first * sizeof(double);
    int code = need(host, &g->near_ions.batch_places, points * 24);
    if (!code) code = need(host, &g->near_ions.batch_change, points * 8);
    if (!code) code = need(host, &g->near_ions.batch_ratios, points * 8);
    if (!code) code = need(host, &g->near_ions.batch_values, points * le->wave.numbers * 8);
    if (!code)
        code = launch_threads(host, g->kernels.places, points,
                              (void *[]){task, &n, &visits, &g->arrays.parts_of,
                                         &g->near_ions.batch_places.at,
                                         &g->near_ions.batch_change.at});
    if (!code)
        code = evaluate_there(le, host, spin, points, g->near_ions.batch_places.at,
                              g->near_ions.batch_values.at, 0, 0);
    if (!code)
        code =
            launch_warps(host, g->kernels.ratios, points,
                         (void *[]){task, &n, &visits, &g->inverses, &g->near_ions.batch_values.at,
                                    &g->arrays.parts_of, &g->near_ions.batch_places.at,
                                    &g->near_ions.batch_change.at, &g->near_ions.batch_ratios.at});
    if (!code)
        code =
            launch_threads(host, g->kernels.visits, n,
                           (void *[]){task, &n, &visits, &g->near_ions.batch_ratios.at, &energies});
    if (!code && le->asked.wanted) code = keep_places(le, host, task, visits, n);
    return code;
}

static int measure_visits(local_energy *le, const plugmc_host *host, walkers_task *task, int spin)
{
    local_energy_gpu *g = le->gpu;
    int32_t electrons = task->walkers * task->electrons, visits = 0;
    const int projects = le->projections.of && !le->asked.wanted;
    const double bytes =
        (double)(le->v.sphere.points * le->v.radii) * (double)(le->wave.numbers + 5) * 8;
    const int32_t together = (int32_t)fmax(1, fmin(BATCH_BYTES / bytes, 1 << 24));
    int code = launch_warps(host, g->kernels.count, electrons, (void *[]){task, &g->arrays.counts});
    if (!code)
        code = launch(host, g->kernels.offsets, 1, 1, 1, LE_SCAN, 0,
                      (void *[]){&electrons, &g->arrays.counts});
    if (!code)
        code = host->gpu->download(host->context, &visits,
                                   g->arrays.counts + (uint64_t)electrons * 4, sizeof visits);
    if (code || !visits) return code;
    code = need(host, &g->near_ions.list_of, visits * (int64_t)sizeof(visit));
    if (!code) code = need(host, &g->near_ions.energies, visits * (int64_t)sizeof(double));
    if (!code)
        code = launch_warps(host, g->kernels.list, electrons,
                            (void *[]){task, &g->arrays.counts, &g->near_ions.list_of.at});
    if (!code && projects)
        code = launch_warps(host, g->kernels.projected, visits,
                            (void *[]){task, &visits, &g->near_ions.list_of.at, &g->inverses,
                                       &g->projection_rows[spin], &g->projections,
                                       &g->near_ions.energies.at});
    for (int32_t first = 0; first < visits && !projects && !code; first += together)
        code = measure_batch(le, host, task, spin, first,
                             visits - first < together ? visits - first : together);
    return code ? code
                : launch_warps(host, g->kernels.add_visits, task->walkers,
                               (void *[]){task, &g->arrays.counts, &g->near_ions.energies.at,
                                          &g->arrays.nonlocal});
}
