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
#include "local_energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../determinants/matrices.h"

PLUGMC_EMBED(formulas_text, LOCAL_ENERGY_FORMULAS_FILE);
PLUGMC_EMBED(kernels_text, PLUGMC_KERNEL_FILE);

/* Of orbitals and matrices of a group, and of orbitals at points of quadratures. */
static const double GROUP_BYTES = 3e9, BATCH_BYTES = 1e9;

/* Device memory that grows. */
typedef struct room {
    device_pointer at;
    size_t bytes;
} room;

typedef struct local_energy_gpu {
    matrices matrices;
    plugmc_kernel *parts, *near, *far, *gather, *kinetic, *phase, *count, *list, *offsets, *places,
        *ratios, *visits, *projected, *add_visits, *walkers, *asked;
    walkers_task task;                         /* of a group of the first spin */
    int32_t group;                             /* walkers */
    int64_t far_warps;                         /* of a walker */
    double repulsion_constant, local_constant; /* Hartree: the same for all configurations */

    device_pointer parts_of, near_of, far_of, kinetic_of; /* [group][particles or far_warps][..] */
    device_pointer nonlocal, ln_square[2];                /* [group] */
    device_pointer points;                                /* [group][electrons of a spin][3] */
    device_pointer values, gradients, laplacians;         /* [group][electrons][.][numbers] */
    device_pointer counts; /* [group * electrons + 1] visits, and where they begin */
    device_pointer found;  /* [walkers][FOUND] */
    device_pointer phases; /* [walkers][2] */
    double *host_phases;
    device_pointer residuals; /* [walkers] of lent matrices */
    double *host_residuals;
    const plugmc_inverses *lent;         /* matrices of all walkers; NULL: they are made anew */
    device_pointer drift, wanted_phases; /* of the group at hand, as `task`; 0: not wanted */
    double *host_found;
    device_pointer projections, projection_rows[2]; /* [.][numbers], [spin][ions] */
    room list_of, energies;                         /* visits, and theirs */
    room batch_places, batch_change, batch_ratios, batch_values;
    room places_of; /* all places of a request, plugmc_nonlocal_point */
} local_energy_gpu;

/* ---- Measuring ------------------------------------------------------------------------------- */

static int measure_group(local_energy *, const plugmc_host *, walkers_task *);
static int measure_spin(local_energy *, const plugmc_host *, walkers_task *, int spin);

/* Matrices of walkers one behind the other, as cuBLAS wants them. */
static int are_in_line(const local_energy *le, const plugmc_inverses *lent, int32_t walkers)
{
    for (int spin = 0; spin < le->system->species_count; spin++) {
        const int64_t n = plugmc_species_at(le->system, spin)->count,
                      numbers = n * n * (le->is_complex ? 2 : 1);
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
    if (!lent && PLUGMC_HAS(view, inverses) && view->inverses && !phases) {
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
    le->asked_count = 0;
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
    const size_t walkers = (size_t)le->system->walkers, count = (size_t)le->asked_count;
    int64_t *next = calloc(walkers + 1, sizeof *next);
    plugmc_nonlocal_point *sorted = malloc((count + 1) * sizeof *sorted);
    const int code = next && sorted ? PLUGMC_OK : local_energy_no_memory(host);
    for (size_t k = 0; k < count && !code; k++) next[le->asked[k].walker + 1]++;
    for (size_t w = 0; w < walkers && !code; w++) next[w + 1] += next[w];
    for (size_t k = 0; k < count && !code; k++) sorted[next[le->asked[k].walker]++] = le->asked[k];
    if (!code && count) memcpy(le->asked, sorted, count * sizeof *sorted);
    free(next), free(sorted);
    return code;
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
                          "a potential of the wave function is for the CPU alone, and local "
                          "energies are wanted on the GPU");
    le->asked_count = 0;
    plugmc_nonlocal_point **const there =
        PLUGMC_HAS(request, device_points) ? request->device_points : NULL;
    le->wants_places = there             ? WANTS_PLACES_THERE
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
    le->wants_places = WANTS_NO_PLACES;
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
    if (request->points) *request->points = there ? NULL : le->asked;
    if (there) *there = AT(g->places_of.at, plugmc_nonlocal_point);
    if (request->point_count) *request->point_count = le->asked_count;
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

static int measure_group(local_energy *le, const plugmc_host *host, walkers_task *task)
{
    local_energy_gpu *g = le->gpu;
    const int64_t walkers = task->walkers, electrons = walkers * task->particles;
    device_pointer ln[2] = {0}, out = g->found + (device_pointer)task->first_walker * FOUND * 8;
    int code = host->gpu->fill(host->context, g->nonlocal, 0, (size_t)walkers * 8);
    if (!code) code = launch_warps(host, g->parts, electrons, (void *[]){task, &g->parts_of});
    if (!code) code = launch_warps(host, g->near, electrons, (void *[]){task, &g->near_of});
    if (!code && g->far_warps)
        code = launch_warps(host, g->far, walkers * g->far_warps, (void *[]){task, &g->far_of});
    for (int spin = 0; spin < le->system->species_count && !code; spin++) {
        task->first = (int32_t)le->system->first[spin];
        task->electrons = (int32_t)plugmc_species_at(le->system, spin)->count;
        if (!task->electrons) continue;
        code = measure_spin(le, host, task, spin);
        ln[spin] = g->ln_square[spin];
    }
    return code ? code
                : launch_warps(host, g->walkers, walkers,
                               (void *[]){task, &g->parts_of, &g->near_of, &g->far_of,
                                          &g->kinetic_of, &g->nonlocal, &ln[0], &ln[1], &out});
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
                                            .pitch = le->pitch,
                                            .values = AT(values, void),
                                            .gradients = AT(gradients, void),
                                            .laplacians = AT(laplacians, void)};
    int code = plugmc_orbitals_of(le->orbitals->plugin)->evaluate(le->orbitals->instance, &request);
    return code ? host->fail(host->context, code, "potential '%s' could not evaluate its orbitals",
                             le->orbitals->label)
                : PLUGMC_OK;
}

static int measure_visits(local_energy *, const plugmc_host *, walkers_task *, int spin);

/* Inverse matrices and ln |det|^2 from the orbitals. */
static int invert(local_energy *le, const plugmc_host *host, walkers_task *task, int spin)
{
    local_energy_gpu *g = le->gpu;
    matrices *m = &g->matrices;
    int code = matrices_factorise(m, host, task->electrons, le->pitch, g->values, task->walkers,
                                  g->ln_square[spin]);
    if (!code && g->wanted_phases)
        code = launch_warps(host, g->phase, task->walkers,
                            (void *[]){task, &m->factors, &m->pivots, &g->wanted_phases});
    return code ? code : matrices_invert(m, host, task->electrons, task->walkers);
}

/* The same from those that are lent. */
static int polish(local_energy *le, const plugmc_host *host, walkers_task *task, int spin)
{
    local_energy_gpu *g = le->gpu;
    const int32_t w = task->first_walker;
    const int code =
        host->gpu->upload(host->context, g->ln_square[spin], g->lent->ln_square[spin] + w,
                          (size_t)task->walkers * sizeof(double));
    return code ? code
                : matrices_polish(&g->matrices, host, task->electrons, le->pitch, g->values,
                                  (device_pointer)(uintptr_t)g->lent->inverse[spin][w],
                                  task->walkers, g->ln_square[spin],
                                  g->residuals + (device_pointer)w * 8, task->first > 0);
}

static int measure_spin(local_energy *le, const plugmc_host *host, walkers_task *task, int spin)
{
    local_energy_gpu *g = le->gpu;
    matrices *m = &g->matrices;
    const int64_t points = (int64_t)task->walkers * task->electrons;
    int code = launch_threads(host, g->gather, 3 * points, (void *[]){task, &g->points});
    if (!code)
        code = evaluate_there(le, host, spin, points, g->points, g->values, g->gradients,
                              g->laplacians);
    if (!code) code = g->lent ? polish(le, host, task, spin) : invert(le, host, task, spin);
    if (!code)
        code = launch_warps(host, g->kinetic, points,
                            (void *[]){task, &m->inverses, &g->gradients, &g->laplacians,
                                       &g->parts_of, &g->kinetic_of, &g->drift});
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
    int code = grow_room(host, &g->places_of, (le->asked_count + points) * size);
    if (code) return code;
    device_pointer out = g->places_of.at + (device_pointer)(le->asked_count * size);
    le->asked_count += points;
    return launch_threads(
        host, g->asked, points,
        (void *[]){task, &n, &list, &g->batch_ratios.at, &g->batch_places.at, &out});
}

/* The places of n visits and what is found there, for whoever asked. */
static int bring_places(local_energy *le, const plugmc_host *host, const walkers_task *task,
                        device_pointer list, int32_t n)
{
    const local_energy_gpu *g = le->gpu;
    const size_t each = (size_t)(le->v.sphere.points * le->v.radii), points = (size_t)n * each;
    int code = grow(host, &le->asked, &le->asked_room, le->asked_count + (int64_t)points,
                    sizeof *le->asked);
    if (code) return code;
    plugmc_nonlocal_point *out = le->asked + le->asked_count;
    visit *visits = malloc((size_t)n * sizeof *visits);
    double *ratios = malloc(points * sizeof *ratios), *places = malloc(3 * points * sizeof *places);
    if (!visits || !ratios || !places) code = local_energy_no_memory(host);
    if (!code) code = host->gpu->download(host->context, visits, list, (size_t)n * sizeof *visits);
    if (!code)
        code =
            host->gpu->download(host->context, ratios, g->batch_ratios.at, points * sizeof *ratios);
    if (!code)
        code = host->gpu->download(host->context, places, g->batch_places.at,
                                   3 * points * sizeof *places);
    for (size_t k = 0; k < points && !code; k++) {
        const visit *at = &visits[k / each];
        double m[3][3];
        visit_rotation(&le->v, task->seed, task->sweep, task->first_walker + at->walker, at, m);
        const double factor = visit_factor(&le->v, at, m, (int)(k % each));
        out[k] = (plugmc_nonlocal_point){.walker = task->first_walker + at->walker,
                                         .electron = at->electron,
                                         .energy = factor * ratios[k],
                                         .factor = factor};
        memcpy(out[k].position, places + 3 * k, sizeof out[k].position);
    }
    if (!code) le->asked_count += (int64_t)points;
    free(visits), free(ratios), free(places);
    return code;
}

/* Visits first ... first + n - 1. */
static int measure_batch(local_energy *le, const plugmc_host *host, walkers_task *task, int spin,
                         int64_t first, int32_t n)
{
    local_energy_gpu *g = le->gpu;
    matrices *m = &g->matrices;
    const int64_t points = (int64_t)n * le->v.sphere.points * le->v.radii;
    device_pointer visits = g->list_of.at + (device_pointer)first * sizeof(visit),
                   energies = g->energies.at + (device_pointer)first * sizeof(double);
    int code = need(host, &g->batch_places, points * 24);
    if (!code) code = need(host, &g->batch_change, points * 8);
    if (!code) code = need(host, &g->batch_ratios, points * 8);
    if (!code) code = need(host, &g->batch_values, points * le->numbers * 8);
    if (!code)
        code = launch_threads(
            host, g->places, points,
            (void *[]){task, &n, &visits, &g->parts_of, &g->batch_places.at, &g->batch_change.at});
    if (!code)
        code = evaluate_there(le, host, spin, points, g->batch_places.at, g->batch_values.at, 0, 0);
    if (!code)
        code = launch_warps(host, g->ratios, points,
                            (void *[]){task, &n, &visits, &m->inverses, &g->batch_values.at,
                                       &g->parts_of, &g->batch_places.at, &g->batch_change.at,
                                       &g->batch_ratios.at});
    if (!code)
        code = launch_threads(host, g->visits, n,
                              (void *[]){task, &n, &visits, &g->batch_ratios.at, &energies});
    if (!code && le->wants_places == WANTS_PLACES_HERE)
        code = bring_places(le, host, task, visits, n);
    if (!code && le->wants_places == WANTS_PLACES_THERE)
        code = keep_places(le, host, task, visits, n);
    return code;
}

static int measure_visits(local_energy *le, const plugmc_host *host, walkers_task *task, int spin)
{
    local_energy_gpu *g = le->gpu;
    int32_t electrons = task->walkers * task->electrons, visits = 0;
    const int projects = le->projection && !le->wants_places;
    const double bytes =
        (double)(le->v.sphere.points * le->v.radii) * (double)(le->numbers + 5) * 8;
    const int32_t together = (int32_t)fmax(1, fmin(BATCH_BYTES / bytes, 1 << 24));
    int code = launch_warps(host, g->count, electrons, (void *[]){task, &g->counts});
    if (!code)
        code = launch(host, g->offsets, 1, 1, 1, LE_SCAN, 0, (void *[]){&electrons, &g->counts});
    if (!code)
        code = host->gpu->download(host->context, &visits, g->counts + (uint64_t)electrons * 4,
                                   sizeof visits);
    if (code || !visits) return code;
    code = need(host, &g->list_of, visits * (int64_t)sizeof(visit));
    if (!code) code = need(host, &g->energies, visits * (int64_t)sizeof(double));
    if (!code)
        code = launch_warps(host, g->list, electrons, (void *[]){task, &g->counts, &g->list_of.at});
    if (!code && projects)
        code =
            launch_warps(host, g->projected, visits,
                         (void *[]){task, &visits, &g->list_of.at, &g->matrices.inverses,
                                    &g->projection_rows[spin], &g->projections, &g->energies.at});
    for (int32_t first = 0; first < visits && !projects && !code; first += together)
        code = measure_batch(le, host, task, spin, first,
                             visits - first < together ? visits - first : together);
    return code ? code
                : launch_warps(host, g->add_visits, task->walkers,
                               (void *[]){task, &g->counts, &g->energies.at, &g->nonlocal});
}

/* ---- Preparation ----------------------------------------------------------------------------- */

int gpu_gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance;
    if (index > 0) return index == 1 && matrices_factors_text(host, out);
    out->name = "local_energy.cu";
    out->source = matrices_text(host, formulas_text, kernels_text);
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
        {"le_parts", &g->parts},
        {"le_near", &g->near},
        {"le_far", &g->far},
        {"le_gather", &g->gather},
        {"le_kinetic", &g->kinetic},
        {"le_phase", &g->phase},
        {"le_count", &g->count},
        {"le_list", &g->list},
        {"le_offsets", &g->offsets},
        {"le_places", &g->places},
        {"le_ratios", &g->ratios},
        {"le_visits", &g->visits},
        {"le_projected", &g->projected},
        {"le_add_visits", &g->add_visits},
        {"le_walkers", &g->walkers},
        {"le_asked", &g->asked},
    };
    int code = gpu_gpu_source(le, host, 0, &text) ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0] && !code; i++)
        code = host->gpu->kernel(host->context, &text, kernels[i].name, kernels[i].kernel);
    return code ? code
                : matrices_prepare(&g->matrices, host, &text, g->group, most, le->is_complex,
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
    const size_t bytes = (size_t)(le->projection_rows * le->numbers) * sizeof(double);
    if (!code) code = host->gpu->allocate(host->context, bytes, &g->projections);
    if (!code) code = host->gpu->upload(host->context, g->projections, le->projected, bytes);
    for (int spin = 0; spin < spins && !code; spin++) {
        for (int32_t i = 0; i < ions; i++) {
            const double *at = le->projection[spin * ions + i];
            rows[i] = at ? (at - le->projected) / le->numbers : 0;
        }
        code = send(host, &g->projection_rows[spin], rows, (size_t)ions * sizeof *rows);
    }
    return code;
}

static int take_memory(local_energy *le, const plugmc_host *host, int64_t most)
{
    local_energy_gpu *g = le->gpu;
    const size_t group = (size_t)g->group, particles = (size_t)le->system->particles,
                 points = group * (size_t)most, row = (size_t)le->numbers,
                 walkers = (size_t)le->system->walkers;
    const struct {
        device_pointer *place;
        size_t numbers;
    } arrays[] = {
        {&g->parts_of, group * particles * PARTS},
        {&g->near_of, group * particles * 2},
        {&g->far_of, group * (size_t)g->far_warps * 2 + 1},
        {&g->kinetic_of, group * particles},
        {&g->nonlocal, group},
        {&g->ln_square[0], group},
        {&g->ln_square[1], group},
        {&g->points, points * 3},
        {&g->values, points * row},
        {&g->gradients, points * row * 3},
        {&g->laplacians, points * row},
        {&g->counts, points / 2 + 1},
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
    const double bytes = 8 * (5 * n * (double)le->numbers + 4 * n + (PARTS + 3) * particles) +
                         16 * (double)le->gpu->far_warps + matrices_bytes(most, le->is_complex);
    const double fits = fmin(GROUP_BYTES / bytes, MOST_WALKERS);
    return fits < 1 ? 1 : fits < le->system->walkers ? (int32_t)fits : le->system->walkers;
}

int gpu_prepare(local_energy *le, const plugmc_host *host)
{
    const plugmc_system *system = le->system;
    local_energy_gpu *g = le->gpu = host->allocate(host->context, sizeof *g);
    const double electrons = (double)system->particles;
    double charge = 0;
    int64_t most = 0;
    if (!g) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the GPU");
    for (int spin = 0; spin < system->species_count; spin++)
        if (plugmc_species_at(system, spin)->count > most)
            most = plugmc_species_at(system, spin)->count;
    g->far_warps = (le->sums.waves + LE_WARP - 1) / LE_WARP;
    g->group = choose_group(le, most);
    g->task = (walkers_task){
        .seed = system->seed,
        .particles = (int32_t)system->particles,
        .down = (int32_t)system->first[1],
        .repulsion = le->electron_electron,
        .attraction = le->electron_ion && le->has_ions,
        .parts = le->is_complex ? 2 : 1,
        .row = le->numbers,
        .sums = le->sums,
        .v = le->v,
    };
    for (int32_t i = 0; i < le->v.ions; i++) charge += le->v.charge[i];
    if (g->task.repulsion)
        g->repulsion_constant = coulomb_constant(&le->sums, electrons, electrons);
    if (g->task.attraction) g->local_constant = le->sums.background * electrons * charge;
    int code = send_ions(le, host, &g->task.v);
    if (!code) code = send_sums(le, host, &g->task);
    if (!code && le->projection) code = send_projections(le, host);
    if (!code) code = load_kernels(le, host, most);
    return code ? code : take_memory(le, host, most);
}

void gpu_release(local_energy *le)
{
    if (le->gpu) matrices_release(&le->gpu->matrices);
}
