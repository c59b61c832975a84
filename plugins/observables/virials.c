/* virials.c: the virial of pairs by their derivatives, of whole-configuration sums by their own. */
#include "virials.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../join_texts.h"

PLUGMC_EMBED(sum_of_block_text, SUM_OF_BLOCK_FILE);
PLUGMC_EMBED(jump_windows_text, JUMP_WINDOWS_FILE);
PLUGMC_EMBED(virial_kernel, VIRIAL_KERNEL_FILE);

enum { THREADS = 128 }; /* VIRIAL_THREADS of the kernel */

/* ---- Couplings ------------------------------------------------------------------------------- */

/* Rows of multipliers of all walkers. */
typedef struct weights {
    const uint8_t *rows; /* NULL: each term counts by 1 */
    size_t row;          /* bytes from one to the next */
} weights;

static int find_weights(const virials *v, const plugmc_host *host, weights *out)
{
    void *rows = NULL;
    *out = (weights){0};
    if (!v->system->weighted) return PLUGMC_OK;
    const int code = host->state->array(host->state, PLUGMC_STATE_MULTIPLIER, PLUGMC_ON_HOST,
                                        PLUGMC_READ, &rows, &out->row);
    out->rows = rows;
    return code;
}

/* Multipliers are couplings over kT. */
static double coupling_of(const virials *v, const weights *weights, int64_t walker, int32_t index)
{
    if (!weights->rows) return 1;
    const uint8_t *row = weights->rows + (size_t)walker * weights->row;
    return ((const double *)row)[index] * v->system->temperature;
}

/* ---- Pairs of one walker --------------------------------------------------------------------- */

/* Derivatives of particle k with those behind entry `after` in the cells around its own, itself and its molecule left out. */
static plugmc_derivatives derivatives_in_cells(const virials *v, const plugmc_box *box,
                                               const plugmc_term *term, const cells_around *around,
                                               int64_t k, int64_t after)
{
    const plugmc_particle probe = particle_at(&v->sorted, k);
    plugmc_derivatives sum = {0};
    int64_t siblings[PLUGMC_MOST_SITES];
    const int32_t n = siblings_after(&v->ranks, v->system, k, after, siblings);
    for (int32_t i = 0; i < around->count; i++) {
        const uint32_t *start = around->start + around->cell[i];
        for (int64_t first = start[0] > after ? start[0] : after + 1; first < start[1];) {
            const plugmc_particles others =
                next_without_siblings(&v->sorted, &first, start[1], siblings, n);
            if (others.n > 0)
                term->plugin->potential->pair->derivatives(term->instance, box, 1, 0, &probe,
                                                           &others, &sum);
        }
    }
    return sum;
}

/* The offset of entry k from the first site of its molecule. */
static const double *offset_of(const virials *v, int64_t k)
{
    return v->offset[v->ranks.number[k]];
}

static bool has_offset(const virials *v, int64_t k)
{
    const double *d = v->offset ? offset_of(v, k) : NULL;
    return d && (d[0] != 0 || d[1] != 0 || d[2] != 0);
}

/* Virial of particle k with those after it; where it has an offset, with the force of all on it. */
static void virial_in_cells(const virials *v, const plugmc_box *box, const plugmc_term *term,
                            const cells_around *around, int64_t k)
{
    const plugmc_derivatives sum = derivatives_in_cells(v, box, term, around, k, k);
    memcpy(v->share[k], sum.virial, sizeof sum.virial);
    if (!has_offset(v, k)) return;
    const plugmc_derivatives all = derivatives_in_cells(v, box, term, around, k, -1);
    for (int d = 0; d < 3; d++) v->share[k][d] += offset_of(v, k)[d] * all.gradient[d];
}

/* The particles of a walker as they are in cells. Returns how many there are. */
static int64_t take_walker(virials *v, const plugmc_view *view, const plugmc_cells *cells,
                           int64_t w)
{
    const int64_t n = take_sorted(&v->sorted, v->system, cells, w);
    take_ranks(&v->ranks, v->system, view, w, cells->order + w * v->system->particles);
    if (v->offset) take_offsets(v->system, view, w, v->offset);
    return n;
}

static int add_pairs(virials *v, const plugmc_view *view, const weights *weights, int32_t index)
{
    const plugmc_system *system = v->system;
    const plugmc_term *term = plugmc_term_at(system, index);
    const double range = term->plugin->potential->pair->range(term->instance);
    plugmc_cells cells = {.size = sizeof cells};
    int code = view->cells(view, fmin(range, 1e300), &cells);
    for (int64_t w = 0; w < system->walkers && !code; w++) {
        const uint32_t *start = cells.start + w * (cells.cells + 1);
        const int64_t n = take_walker(v, view, &cells, w);
        const double coupling = coupling_of(v, weights, w, index);
        if (coupling == 0) continue; /* it may be infinite */
#pragma omp parallel for num_threads(system->threads) schedule(dynamic, 16)
        for (int64_t cell = 0; cell < cells.cells; cell++) {
            const cells_around around = cells_around_one(&cells, start, cell);
            for (int64_t k = start[cell]; k < start[cell + 1]; k++)
                virial_in_cells(v, &view->box[w], term, &around, k);
        }
        for (int64_t k = 0; k < n; k++)
            for (int d = 0; d < 3; d++) v->virial[w][d] += coupling * v->share[k][d];
    }
    return code;
}

/* ---- Jumps of one walker --------------------------------------------------------------------- */

enum { BLOCK = 64 };

/* Squares of the distances of a place from n <= BLOCK particles, in a loop that the compiler vectorises. */
static PLUGMC_TARGETS void find_squares(const plugmc_particle *here, const double *x,
                                        const double *y, const double *z, int64_t n,
                                        const plugmc_images *images, int mode, double *squares)
{
    const plugmc_images own = *images;
    if (mode == PLUGMC_IMAGES_RECTANGULAR)
        for (int64_t j = 0; j < n; j++)
            squares[j] = plugmc_separate(here->x - x[j], here->y - y[j], here->z - z[j], &own,
                                         PLUGMC_IMAGES_RECTANGULAR)
                             .r2;
    else
        for (int64_t j = 0; j < n; j++)
            squares[j] =
                plugmc_separate(here->x - x[j], here->y - y[j], here->z - z[j], &own, mode).r2;
}

static bool are_siblings(const virials *v, int64_t k, int64_t j)
{
    if (!v->offset) return false;
    const int32_t *molecule = v->system->molecule, own = molecule[v->ranks.number[k]];
    return own >= 0 && own == molecule[v->ranks.number[j]];
}

/* Of particle k with those after it. */
static void jumps_in_cells(const virials *v, const jump_task *task, const plugmc_images *images,
                           int mode, double limit, const cells_around *around, int64_t k)
{
    const sorted_particles *s = &v->sorted;
    const plugmc_particle here = particle_at(s, k);
    double sum[3] = {0, 0, 0}, squares[BLOCK];
    for (int32_t i = 0; i < around->count; i++) {
        const uint32_t *start = around->start + around->cell[i];
        for (int64_t first = start[0] > k ? start[0] : k + 1; first < start[1]; first += BLOCK) {
            const int64_t n = start[1] - first < BLOCK ? start[1] - first : BLOCK;
            find_squares(&here, s->x + first, s->y + first, s->z + first, n, images, mode, squares);
            for (int64_t j = first; j < first + n; j++) {
                const double virial =
                    jump_virial(task, here.species, s->species[j], limit, squares[j - first]);
                if (virial == 0 || are_siblings(v, k, j)) continue;
                const plugmc_separation r = plugmc_separate(here.x - s->x[j], here.y - s->y[j],
                                                            here.z - s->z[j], images, mode);
                double apart[3] = {r.x, r.y, r.z}; /* of their first sites */
                for (int d = 0; d < 3 && v->offset; d++)
                    apart[d] += offset_of(v, j)[d] - offset_of(v, k)[d];
                sum[0] += virial * r.x * apart[0] / r.r2;
                sum[1] += virial * r.y * apart[1] / r.r2;
                sum[2] += virial * r.z * apart[2] / r.r2;
            }
        }
    }
    memcpy(v->share[k], sum, sizeof sum);
}

/* [walkers]; NULL where all have the same jumps, so that none is asked for. */
static int find_rungs(const virials *v, const plugmc_host *host, const int32_t **rungs)
{
    void *found = NULL;
    *rungs = NULL;
    if (!v->system->weighted || v->system->rungs == 1) return PLUGMC_OK;
    const int code = host->state->array(host->state, PLUGMC_STATE_RUNG, PLUGMC_ON_HOST, PLUGMC_READ,
                                        &found, NULL);
    *rungs = found;
    return code;
}

static void add_jumps_of_walker(virials *v, const plugmc_view *view, const plugmc_cells *cells,
                                int64_t w, int32_t rung)
{
    const uint32_t *start = cells->start + w * (cells->cells + 1);
    const plugmc_box *box = &view->box[w];
    const jump_task task = pair_jumps_task(&v->jumps, v->system, rung);
    const int64_t n = take_walker(v, view, cells, w);
    const double limit = jump_limit(box);
    plugmc_images images;
    const int mode = plugmc_images_of(box, 1, &images);
#pragma omp parallel for num_threads(v->system->threads) schedule(dynamic, 16)
    for (int64_t cell = 0; cell < cells->cells; cell++) {
        const cells_around around = cells_around_one(cells, start, cell);
        for (int64_t k = start[cell]; k < start[cell + 1]; k++)
            jumps_in_cells(v, &task, &images, mode, limit, &around, k);
    }
    for (int64_t k = 0; k < n; k++)
        for (int d = 0; d < 3; d++) {
            v->virial[w][d] += v->share[k][d];
            v->jump[w] += v->share[k][d];
        }
}

static int add_jumps(virials *v, const plugmc_host *host, const plugmc_view *view)
{
    plugmc_cells cells = {.size = sizeof cells};
    const int32_t *rungs = NULL;
    int code = find_rungs(v, host, &rungs);
    if (!code) code = view->cells(view, v->jumps.reach, &cells);
    for (int64_t w = 0; w < v->system->walkers && !code; w++)
        add_jumps_of_walker(v, view, &cells, w, rungs ? rungs[w] : 0);
    return code;
}

/* ---- All walkers ----------------------------------------------------------------------------- */

/* Sums of blocks of a kernel, of all walkers; to jump [walkers] too, unless NULL. */
static int add_sums(const virials *v, const plugmc_host *host, double *jump)
{
    const pair_virials *p = &v->device_pairs;
    const size_t rows = (size_t)v->system->walkers * p->blocks;
    const int code =
        host->gpu->download(host->context, p->host, p->sums, 3 * rows * sizeof *p->host);
    for (size_t k = 0; k < rows && !code; k++)
        for (int d = 0; d < 3; d++) {
            v->virial[k / p->blocks][d] += p->host[3 * k + d];
            if (jump) jump[k / p->blocks] += p->host[3 * k + d];
        }
    return code;
}

static int add_pairs_on_device(const virials *v, const plugmc_host *host, const plugmc_view *view)
{
    const pair_virials *p = &v->device_pairs;
    plugmc_cells cells = {.size = sizeof cells};
    int code = view->cells(view, p->range, &cells);
    if (code) return code;
    plugmc_device_pointer boxes = (plugmc_device_pointer)(uintptr_t)view->device_box,
                          species = p->species, sums = p->sums;
    uint32_t particles = (uint32_t)v->system->particles;
    code = host->gpu->launch(
        host->context, p->kernel, (uint32_t[3]){p->blocks, (uint32_t)v->system->walkers, 1},
        (uint32_t[3]){THREADS, 1, 1}, 0,
        (void *[]){&cells.positions, &cells.order, &cells.start, &boxes, &species, &particles,
                   &cells.count[0], &cells.count[1], &cells.count[2], &sums});
    return code ? code : add_sums(v, host, NULL);
}

static int add_jumps_on_device(const virials *v, const plugmc_host *host, const plugmc_view *view)
{
    const pair_virials *p = &v->device_pairs;
    plugmc_cells cells = {.size = sizeof cells};
    int code = view->cells(view, v->jumps.reach, &cells);
    if (code) return code;
    plugmc_device_pointer boxes = (plugmc_device_pointer)(uintptr_t)view->device_box,
                          species = p->species, sums = p->sums;
    uint32_t particles = (uint32_t)v->system->particles;
    jump_task task = pair_jumps_task(&v->jumps, v->system, 0);
    task.lists = (const jump_list *)(uintptr_t)p->jump_lists;
    task.jumps = (const pair_jump *)(uintptr_t)p->jumps;
    code = host->gpu->launch(
        host->context, p->jump_kernel, (uint32_t[3]){p->blocks, (uint32_t)v->system->walkers, 1},
        (uint32_t[3]){THREADS, 1, 1}, 0,
        (void *[]){&task, &cells.positions, &cells.order, &cells.start, &boxes, &species,
                   &particles, &cells.count[0], &cells.count[1], &cells.count[2], &sums});
    return code ? code : add_sums(v, host, v->jump);
}

/* Of all walkers, to v->own. */
static int find_total(const virials *v, const plugmc_host *host, const views *views,
                      const plugmc_term *term)
{
    const plugmc_total *total = term->plugin->potential->total;
    const size_t bytes = (size_t)v->system->walkers * sizeof *v->own;
    const int there = views->given->on_device && total->on_device;
    plugmc_total_request request = {.size = sizeof request,
                                    .view = there ? views->given : views->on_host,
                                    .virial = there ? (double *)(uintptr_t)v->found : v->own[0],
                                    .forces = plugmc_follows_positions(total) ? v->forces : NULL};
    memset(v->own, 0, bytes);
    if (v->forces)
        memset(v->forces, 0,
               3 * (size_t)(v->system->walkers * v->system->particles) * sizeof *v->forces);
    int code = there ? host->gpu->fill(host->context, v->found, 0, bytes) : PLUGMC_OK;
    if (!code) code = total->energy(term->instance, &request);
    return code || !there ? code : host->gpu->download(host->context, v->own, v->found, bytes);
}

/* Takes sum d f of the offsets d and the forces of a total on all sites from its virial. */
static void take_off_offsets(virials *v, const plugmc_view *view)
{
    const int64_t n = v->system->particles;
    for (int64_t w = 0; w < v->system->walkers; w++) {
        take_offsets(v->system, view, w, v->offset);
        for (int64_t i = 0; i < n; i++)
            for (int d = 0; d < 3; d++)
                if (v->offset[i][d] != 0) /* forces on who is not there are not known */
                    v->own[w][d] -= v->offset[i][d] * v->forces[3 * (w * n + i) + d];
    }
}

static int add_total(virials *v, const plugmc_host *host, const views *views,
                     const weights *weights, int32_t index)
{
    const int code = find_total(v, host, views, plugmc_term_at(v->system, index));
    if (!code && v->offset) take_off_offsets(v, views->on_host);
    for (int32_t w = 0; w < v->system->walkers && !code; w++)
        for (int d = 0; d < 3; d++)
            v->virial[w][d] += coupling_of(v, weights, w, index) * v->own[w][d];
    return code;
}

int virials_measure(virials *v, const plugmc_host *host, const plugmc_view *view)
{
    memset(v->virial, 0, (size_t)v->system->walkers * sizeof *v->virial);
    memset(v->jump, 0, (size_t)v->system->walkers * sizeof *v->jump);
    plugmc_view copy = {.size = sizeof copy};
    weights weights;
    const plugmc_view *on_host = v->positions && view->on_device ? &copy : view;
    const views views = {v->offset ? on_host : view,
                         on_host}; /* of molecules forces are needed here */
    const int pairs_there = view->on_device && v->device_pairs.kernel;
    int code = pair_jumps_check(&v->jumps, host, view);
    if (!code && views.on_host == &copy) code = bring_to_host(host, view, v->positions, &copy);
    if (!code) code = find_weights(v, host, &weights);
    for (int t = 0; t < v->total_count && !code; t++)
        code = add_total(v, host, &views, &weights, v->totals[t]);
    if (!code && pairs_there) code = add_pairs_on_device(v, host, view);
    for (int t = 0; t < v->pair_count && !code && !pairs_there; t++)
        code = add_pairs(v, views.on_host, &weights, v->pairs[t]);
    if (code || v->jumps.count == 0) return code;
    return pairs_there ? add_jumps_on_device(v, host, view) : add_jumps(v, host, views.on_host);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

/* What is in the way of the virial of a term; NULL if nothing is. */
static const char *lacks(const plugmc_potential *p, int with_cores)
{
    const int core = p->pair && p->pair->functions & PLUGMC_PAIR_CONTACT;
    if (p->total && !p->total->beside_parts) return NULL;
    if (p->field) return "is a field, in which the pressure is not uniform";
    if (p->pair && p->pair->functions & PLUGMC_PAIR_POSITIONS)
        return "depends on positions, so its pairs have no virial";
    if (core && !with_cores)
        return "has a hard core, which has no virial: 'pressure' measures both";
    if (core && !(p->pair->functions & PLUGMC_PAIR_ENERGY)) return NULL;
    if (p->pair && !(p->pair->functions & PLUGMC_PAIR_DERIVATIVE))
        return "gives no derivative of its pair energy";
    return p->pair || p->total ? NULL : "has no forces";
}

static int sort_terms(virials *v, const plugmc_host *host, int with_cores)
{
    const plugmc_system *system = v->system;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_potential *p = term->plugin->potential;
        if (!term->sampled) continue;
        if (lacks(p, with_cores))
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "potential '%s' %s", term->label,
                              lacks(p, with_cores));
        if (p->total) v->totals[v->total_count++] = t;
        if (p->pair && p->pair->functions & PLUGMC_PAIR_ENERGY &&
            !(p->total && !p->total->beside_parts))
            v->pairs[v->pair_count++] = t;
    }
    return PLUGMC_OK;
}

/* Whether the pairs that count are those that a fused kernel sums. */
static int sums_in_kernel(const plugmc_system *system)
{
    int pairs = 0;
    if (system->changes & PLUGMC_CHANGED_COUNT) return 0; /* it takes all numbers */
    if (system->weighted) return 0;                       /* it knows no couplings */
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_potential *p = plugmc_term_at(system, t)->plugin->potential;
        if (!plugmc_term_at(system, t)->sampled || !p->pair ||
            !(p->pair->functions & PLUGMC_PAIR_ENERGY))
            continue;
        if (p->total && !p->total->beside_parts) return 0;
        pairs++;
    }
    return pairs > 0;
}

int virials_gpu_source(const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    if (index > 0 || !sums_in_kernel(host->system)) return 0;
    const char *text = join_texts(
        host, (const char *const[]){sum_of_block_text, jump_windows_text, virial_kernel, NULL});
    plugmc_set_gpu_source(out, &(plugmc_gpu_source){.name = "virials.cu",
                                                    .source = text,
                                                    .fuse = PLUGMC_FUSE_SAMPLED,
                                                    .double_precision = 1,
                                                    .contract = 1});
    return text != NULL;
}

/* Of the one rung that there is where a kernel sums. */
static int prepare_jumps(virials *v, const plugmc_host *host, const plugmc_gpu_source *text)
{
    const plugmc_gpu *gpu = host->gpu;
    const pair_jumps *j = &v->jumps;
    pair_virials *p = &v->device_pairs;
    const size_t n = (size_t)v->system->species_count, lists = n * n * sizeof *j->lists,
                 jumps = (size_t)j->count * sizeof *j->jumps;
    int code = gpu->kernel(host->context, text, "pair_jumps", &p->jump_kernel);
    if (!code) code = gpu->allocate(host->context, lists, &p->jump_lists);
    if (!code) code = gpu->allocate(host->context, jumps, &p->jumps);
    if (!code) code = gpu->upload(host->context, p->jump_lists, j->lists, lists);
    return code ? code : gpu->upload(host->context, p->jumps, j->jumps, jumps);
}

static int prepare_pairs(virials *v, const plugmc_host *host)
{
    const plugmc_system *system = v->system;
    pair_virials *p = &v->device_pairs;
    plugmc_gpu_source text = {.size = sizeof text};
    if (!sums_in_kernel(system)) return PLUGMC_OK;
    if (!virials_gpu_source(host, 0, &text)) return PLUGMC_ERROR_MEMORY;
    for (int t = 0; t < v->pair_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, v->pairs[t]);
        p->range = fmax(p->range, term->plugin->potential->pair->range(term->instance));
    }
    p->range = fmin(p->range, 1e300);
    p->blocks = (uint32_t)((system->particles + THREADS - 1) / THREADS);
    const size_t bytes = 3 * (size_t)system->walkers * p->blocks * sizeof *p->host;
    const int code = prepare_sums(host, &text, "pair_virials", bytes, &p->kernel, &p->species,
                                  &p->sums, &p->host);
    return code || v->jumps.count == 0 ? code : prepare_jumps(v, host, &text);
}

static int prepare_device(virials *v, const plugmc_host *host)
{
    const size_t walkers = (size_t)v->system->walkers;
    int code = host->gpu->allocate(host->context, walkers * sizeof *v->virial, &v->found);
    if (!code && !v->offset) code = prepare_pairs(v, host);
    int on_host = (v->pair_count > 0 && !v->device_pairs.kernel) || v->offset;
    for (int t = 0; t < v->total_count; t++) {
        const plugmc_total *total =
            plugmc_term_at(v->system, v->totals[t])->plugin->potential->total;
        on_host |= !total->on_device && plugmc_follows_positions(total);
    }
    if (code || !on_host) return code;
    v->positions = host->allocate(host->context, 3 * walkers * (size_t)v->system->particles *
                                                     sizeof *v->positions);
    return v->positions ? PLUGMC_OK
                        : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
}

int virials_prepare(virials *v, const plugmc_host *host, int with_cores, double fit_range,
                    int64_t degree)
{
    const plugmc_system *system = v->system = host->system;
    const size_t n = (size_t)system->particles, terms = (size_t)system->term_count + 1;
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the pressure needs a periodic box, but [box] is a sphere");
    int code = prepare_particles(&v->sorted, host);
    if (code) return code;
    v->share = host->allocate(host->context, n * sizeof *v->share);
    v->virial = host->allocate(host->context, (size_t)system->walkers * sizeof *v->virial);
    v->own = host->allocate(host->context, (size_t)system->walkers * sizeof *v->own);
    v->jump = host->allocate(host->context, (size_t)system->walkers * sizeof *v->jump);
    v->pairs = host->allocate(host->context, terms * sizeof *v->pairs);
    v->totals = host->allocate(host->context, terms * sizeof *v->totals);
    if (!v->share || !v->virial || !v->own || !v->jump || !v->pairs || !v->totals)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu particles", n);
    code = prepare_ranks(&v->ranks, host);
    if (!code && system->molecules) {
        v->offset = host->allocate(host->context, n * sizeof *v->offset);
        v->forces =
            host->allocate(host->context, 3 * n * (size_t)system->walkers * sizeof *v->forces);
        if (!v->offset || !v->forces)
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu sites", n);
    }
    if (!code) code = sort_terms(v, host, with_cores);
    if (!code) code = pair_jumps_prepare(&v->jumps, host, fit_range, degree);
    return code || !host->gpu ? code : prepare_device(v, host);
}
