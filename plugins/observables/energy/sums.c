/* See sums.h. */
#include "sums.h"

#include <stdlib.h>
#include <string.h>

#include "../../join_texts.h"
#include "../walker_boxes.h"

PLUGMC_EMBED(sum_of_block_text, SUM_OF_BLOCK_FILE);
PLUGMC_EMBED(energy_kernel, PLUGMC_KERNEL_FILE);

enum { TILE = 256 }; /* ENERGY_TILE of the kernel */
/* Particles up to which a GPU takes all pairs, even where there are cells. */
enum { FEW = 8192 };

static int has_pair_energy(const plugmc_potential *p)
{
    return p->pair && (p->pair->functions & PLUGMC_PAIR_ENERGY);
}

static int has_energy(const plugmc_plugin *plugin)
{
    const plugmc_potential *p = plugin->potential;
    return p->pair || p->field || p->total || plugmc_body_of(plugin);
}

static int bodies_have_energy(const plugmc_plugin *plugin)
{
    const plugmc_body *body = plugmc_body_of(plugin);
    return body && body->functions & PLUGMC_BODY_ENERGY;
}

/* Whether a total facet stands for the pair and field energies too. */
static int is_whole(const plugmc_potential *p) { return p->total && !p->total->beside_parts; }

static int in_cells(const plugmc_system *system, const plugmc_term *term)
{
    return isfinite(term->plugin->potential->pair->range(term->instance)) &&
           system->box.domain == PLUGMC_DOMAIN_PERIODIC;
}

/* The longest range of pairs; INFINITY: one has none. */
static double longest_range(const plugmc_system *system)
{
    double longest = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_potential *p = term->plugin->potential;
        if (has_pair_energy(p) && !is_whole(p))
            longest =
                fmax(longest, in_cells(system, term) ? p->pair->range(term->instance) : INFINITY);
    }
    return longest;
}

/* ---- One walker ---------------------------------------------------------------------------- */

/* Energy of particle k with those after it in the cells around its own. */
static double energy_in_cells(const energy *e, const plugmc_box *box, const plugmc_term *term,
                              const cells_around *around, int64_t k)
{
    const plugmc_particle probe = particle_at(&e->sorted, k);
    const plugmc_pair *pair = term->plugin->potential->pair;
    double sum = 0;
    int64_t siblings[PLUGMC_MOST_SITES];
    const int32_t n = siblings_after(&e->ranks, e->system, k, k, siblings);
    for (int32_t i = 0; i < around->count; i++) {
        const uint32_t *start = around->start + around->cell[i];
        for (int64_t first = start[0] > k ? start[0] : k + 1; first < start[1];) {
            const plugmc_particles others =
                next_without_siblings(&e->sorted, &first, start[1], siblings, n);
            if (others.n > 0) pair->energy(term->instance, box, 1, &probe, &others, &sum);
        }
    }
    return sum;
}

static double sum_in_order(const double *share, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += share[i];
    return sum;
}

/* Of the pairs whose first particle, in the order of cells, is in the share. */
static double pair_energy_by_cells(energy *e, const plugmc_system *system, const plugmc_box *box,
                                   const plugmc_term *term, const plugmc_view *view,
                                   const plugmc_cells *cells, plugmc_share share, int64_t walker)
{
    const double *places = cells->positions + 3 * walker * system->particles;
    const uint32_t *start = cells->start + walker * (cells->cells + 1);
    const int64_t n = take_sorted(&e->sorted, system, cells, walker);
    take_ranks(&e->ranks, system, view, walker, cells->order + walker * system->particles);
#pragma omp parallel for num_threads(system->threads) schedule(dynamic, 16)
    for (int64_t cell = 0; cell < cells->cells; cell++) {
        const cells_around around = cells_around_one(cells, start, cell);
        for (int64_t k = start[cell]; k < start[cell + 1]; k++)
            e->share[k] = plugmc_is_yours(&share, places + 3 * k)
                              ? energy_in_cells(e, box, term, &around, k)
                              : 0;
    }
    return sum_in_order(e->share, n);
}

static double pair_energy_of_all(energy *e, const plugmc_system *system, const plugmc_term *term,
                                 const plugmc_view *view, int64_t walker)
{
    const plugmc_pair *pair = term->plugin->potential->pair;
    const plugmc_box *box = &view->box[walker];
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const int64_t n = take_numbered(&e->sorted, system, view, walker);
    take_ranks(&e->ranks, system, view, walker, NULL);
#pragma omp parallel for num_threads(system->threads) schedule(dynamic, 16)
    for (int64_t k = 0; k < n; k++) {
        plugmc_particle probe = particle_at(&e->sorted, k);
        int64_t siblings[PLUGMC_MOST_SITES];
        const int32_t inside = siblings_after(&e->ranks, system, k, k, siblings);
        e->share[k] = 0;
        for (int64_t first = k + 1; first < n;) {
            const plugmc_particles others =
                next_without_siblings(&e->sorted, &first, n, siblings, inside);
            if (others.n > 0)
                pair->energy(term->instance, box, periodic, &probe, &others, &e->share[k]);
        }
    }
    return sum_in_order(e->share, n);
}

/* Bodies of a walker, in cells. */
static double body_energy(const energy *e, const plugmc_system *system, const plugmc_term *term,
                          const plugmc_view *view, const plugmc_cells *cells, int64_t walker)
{
    const plugmc_body *body = plugmc_body_of(term->plugin);
    const plugmc_orientation *turned = view->orientations + walker * system->particles;
    const uint32_t *start = cells->start + walker * (cells->cells + 1),
                   *order = cells->order + walker * system->particles;
    const int64_t n = take_sorted(&e->sorted, system, cells, walker);
    for (int64_t k = 0; k < n; k++) e->turned[k] = turned[order[k]];
#pragma omp parallel for num_threads(system->threads) schedule(dynamic, 16)
    for (int64_t cell = 0; cell < cells->cells; cell++) {
        const cells_around around = cells_around_one(cells, start, cell);
        for (int64_t k = start[cell]; k < start[cell + 1]; k++) {
            const plugmc_particle probe = particle_at(&e->sorted, k);
            e->share[k] = 0;
            for (int32_t i = 0; i < around.count; i++) {
                const plugmc_particles others = particles_after(&e->sorted, &around, i, k);
                if (others.n > 0)
                    body->energy(term->instance, &view->box[walker], 1, &probe, &e->turned[k],
                                 &others, e->turned + ((const double *)others.x - e->sorted.x),
                                 &e->share[k]);
            }
        }
    }
    return sum_in_order(e->share, n);
}

static double field_energy(const energy *e, const plugmc_system *system, const plugmc_term *term,
                           const plugmc_view *view, int64_t walker)
{
    double sum = 0;
    const int64_t n = take_numbered(&e->sorted, system, view, walker);
    plugmc_particles all = particles_from(&e->sorted, 0, n);
    term->plugin->potential->field->energy(term->instance, &all, &sum);
    return sum;
}

/* ---- All walkers --------------------------------------------------------------------------- */

static int add_pairs(energy *e, const plugmc_host *host, const views *views,
                     const plugmc_term *term, double *sums)
{
    const plugmc_view *view = views->on_host;
    const plugmc_system *system = host->system;
    const double range = term->plugin->potential->pair->range(term->instance);
    const int by_cells = in_cells(system, term);
    plugmc_cells cells = {.size = sizeof cells};
    int code = by_cells ? check_reach(host, view, range, "the range of a potential") : PLUGMC_OK;
    if (!code && by_cells) code = view->cells(view, range, &cells);
    for (int64_t w = 0; w < system->walkers && !code; w++) {
        const plugmc_box *box = &view->box[w];
        sums[w] += by_cells ? pair_energy_by_cells(e, system, box, term, view, &cells,
                                                   plugmc_share_of(views->given), w)
                            : pair_energy_of_all(e, system, term, view, w);
    }
    return code;
}

static int add_bodies(const energy *e, const plugmc_host *host, const plugmc_view *view,
                      const plugmc_term *term, double *sums)
{
    const double range = plugmc_body_of(term->plugin)->range(term->instance);
    plugmc_cells cells = {.size = sizeof cells};
    if (host->system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the energy of bodies is summed in periodic boxes only");
    int code = check_reach(host, view, range, "the range of a potential");
    if (!code) code = view->cells(view, range, &cells);
    for (int64_t w = 0; w < host->system->walkers && !code; w++)
        sums[w] += body_energy(e, host->system, term, view, &cells, w);
    return code;
}

/* Number of a term among those that the kernel sums. */
static int32_t kernel_index(const plugmc_system *system, int32_t term)
{
    int32_t index = 0;
    for (int32_t t = 0; t < term; t++)
        index += has_pair_energy(plugmc_term_at(system, t)->plugin->potential);
    return index;
}

/* Whether the kernel makes the sums of this view. It knows no shares of a system. */
static int sums_on_device(const energy *e, const plugmc_view *view)
{
    const plugmc_share share = plugmc_share_of(view);
    return view->on_device && e->pairs.kernel && share.begin == share.end;
}

static int add_kernel_sums(const energy *e, const plugmc_host *host, const plugmc_view *view,
                           int32_t t, double *sums)
{
    const pair_sums *p = &e->pairs;
    const plugmc_system *system = host->system;
    const plugmc_term *term = plugmc_term_at(system, t);
    const int64_t blocks = (int64_t)p->parts * p->tiles, index = kernel_index(system, t);
    for (int64_t w = 0; w < system->walkers; w++)
        sums[w] += sum_in_order(p->host + (w * p->terms + index) * blocks, blocks);
    return in_cells(system, term)
               ? check_reach(host, view, term->plugin->potential->pair->range(term->instance),
                             "the range of a potential")
               : PLUGMC_OK;
}

static int add_total(const energy *e, const plugmc_host *host, const views *views,
                     const plugmc_term *term, double *sums)
{
    const plugmc_total *total = term->plugin->potential->total;
    const plugmc_view nowhere = {.size = sizeof nowhere,
                                 .sweep = views->given->sweep,
                                 .box = views->given->box,
                                 .count = views->given->count};
    plugmc_total_request request = {.size = sizeof request, .view = views->on_host, .energy = sums};
    if (!plugmc_follows_positions(total)) request.view = &nowhere; /* for which none are brought */
    if (!views->given->on_device || !total->on_device || !plugmc_follows_positions(total))
        return total->energy(term->instance, &request);
    const size_t bytes = (size_t)host->system->walkers * sizeof *sums;
    double *found = malloc(bytes);
    if (!found) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for energies");
    request.view = views->given;
    request.energy = (double *)(uintptr_t)e->totals;
    int code = host->gpu->fill(host->context, e->totals, 0, bytes);
    if (!code) code = total->energy(term->instance, &request);
    if (!code) code = host->gpu->download(host->context, found, e->totals, bytes);
    for (int32_t w = 0; w < host->system->walkers && !code; w++) sums[w] += found[w];
    free(found);
    return code;
}

/* Adds the energy of term number t in every walker to sums [walkers]. */
static int add_term(energy *e, const plugmc_host *host, const views *views, int32_t t, double *sums)
{
    const plugmc_system *system = host->system;
    const plugmc_term *term = plugmc_term_at(system, t);
    const plugmc_potential *p = term->plugin->potential;
    int code = p->total ? add_total(e, host, views, term, sums) : PLUGMC_OK;
    if (code || is_whole(p)) return code;
    if (has_pair_energy(p) && sums_on_device(e, views->given))
        code = add_kernel_sums(e, host, views->given, t, sums);
    else if (has_pair_energy(p))
        code = add_pairs(e, host, views, term, sums);
    if (bodies_have_energy(term->plugin) && !code)
        code = add_bodies(e, host, views->on_host, term, sums);
    for (int64_t w = 0; w < system->walkers && p->field && !code; w++)
        sums[w] += field_energy(e, system, term, views->on_host, w);
    return code;
}

static int sum_all_pairs(const energy *e, const plugmc_host *host, const plugmc_view *view)
{
    const pair_sums *p = &e->pairs;
    plugmc_device_pointer positions = (plugmc_device_pointer)(uintptr_t)view->positions,
                          boxes = (plugmc_device_pointer)(uintptr_t)view->device_box,
                          species = p->species, sums = p->sums;
    uint32_t particles = (uint32_t)host->system->particles;
    double range = longest_range(host->system);
    return host->gpu->launch(host->context, p->kernel,
                             (uint32_t[3]){p->tiles, p->parts, (uint32_t)host->system->walkers},
                             (uint32_t[3]){TILE, 1, 1}, 0,
                             (void *[]){&positions, &boxes, &species, &particles, &range, &sums});
}

static int sum_pairs_in_cells(const energy *e, const plugmc_host *host, const plugmc_view *view)
{
    const pair_sums *p = &e->pairs;
    plugmc_cells cells = {.size = sizeof cells};
    uint32_t particles = (uint32_t)host->system->particles;
    const double range = longest_range(host->system);
    int code = check_reach(host, view, range, "the range of a potential");
    if (!code) code = view->cells(view, range, &cells);
    if (code) return code;
    plugmc_device_pointer start = (plugmc_device_pointer)(uintptr_t)cells.start,
                          order = (plugmc_device_pointer)(uintptr_t)cells.order,
                          positions = (plugmc_device_pointer)(uintptr_t)cells.positions,
                          boxes = (plugmc_device_pointer)(uintptr_t)view->device_box,
                          species = p->species, sums = p->sums;
    return host->gpu->launch(host->context, p->kernel,
                             (uint32_t[3]){p->tiles, (uint32_t)host->system->walkers, 1},
                             (uint32_t[3]){TILE, 1, 1}, 0,
                             (void *[]){&cells.count[0], &cells.count[1], &cells.count[2], &start,
                                        &order, &positions, &boxes, &species, &particles, &sums});
}

/* All pair terms on the GPU, to pairs.host. */
static int sum_pairs_on_device(const energy *e, const plugmc_host *host, const plugmc_view *view)
{
    const pair_sums *p = &e->pairs;
    const size_t bytes =
        (size_t)host->system->walkers * (size_t)p->terms * p->parts * p->tiles * sizeof(double);
    const int code = (p->in_cells ? sum_pairs_in_cells : sum_all_pairs)(e, host, view);
    return code ? code : host->gpu->download(host->context, p->host, p->sums, bytes);
}

/* Whether anything of a view on the device is summed on the host. */
static int needs_host(const energy *e, const plugmc_view *view)
{
    for (int32_t t = 0; t < e->terms; t++) {
        const plugmc_potential *p = plugmc_term_at(e->system, e->term[t])->plugin->potential;
        if ((p->total && !p->total->on_device && plugmc_follows_positions(p->total)) ||
            bodies_have_energy(plugmc_term_at(e->system, e->term[t])->plugin))
            return 1;
        if (is_whole(p)) continue;
        if (p->field || (has_pair_energy(p) && !sums_on_device(e, view))) return 1;
    }
    return 0;
}

int energy_sums_measure(energy *e, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const plugmc_system *system = host->system;
    plugmc_view copy = {.size = sizeof copy};
    views views = {view, view->on_device ? &copy : view};
    double *sums = malloc((size_t)system->walkers * sizeof *sums);
    int code = sums ? PLUGMC_OK
                    : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d energies",
                                 system->walkers);
    if (!code && view->on_device && needs_host(e, view))
        code = bring_to_host(host, view, e->positions, &copy);
    if (!code && sums_on_device(e, view)) code = sum_pairs_on_device(e, host, view);
    for (int32_t t = 0; t < e->terms && !code; t++) {
        memset(sums, 0, (size_t)system->walkers * sizeof *sums);
        code = add_term(e, host, &views, e->term[t], sums);
        for (int64_t w = 0; w < system->walkers && !code; w++) values[w * e->terms + t] = sums[w];
    }
    free(sums);
    return code;
}

double energy_sums_reach(const energy *e)
{
    double farthest = 0;
    for (int32_t t = 0; t < e->terms; t++) {
        const plugmc_term *term = plugmc_term_at(e->system, e->term[t]);
        const plugmc_potential *p = term->plugin->potential;
        if (p->total || p->field || bodies_have_energy(term->plugin) ||
            (has_pair_energy(p) && !in_cells(e->system, term)))
            return INFINITY;
        if (has_pair_energy(p)) farthest = fmax(farthest, p->pair->range(term->instance));
    }
    return farthest;
}

/* ---- Preparation --------------------------------------------------------------------------- */

static int find_terms(energy *e, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    e->term = host->allocate(host->context, (size_t)system->term_count * sizeof *e->term);
    e->names = host->allocate(host->context, (size_t)system->term_count * sizeof *e->names);
    if (!e->term || !e->names)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d terms",
                          system->term_count);
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        if (!has_energy(term->plugin)) continue;
        const size_t bytes = strlen(term->label) + sizeof "energy_";
        char *name = host->allocate(host->context, bytes);
        if (!name) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a name");
        strcpy(name, "energy_");
        strcat(name, term->label);
        e->names[e->terms] = name;
        e->term[e->terms++] = t;
    }
    return e->terms > 0 ? PLUGMC_OK
                        : host->fail(host->context, PLUGMC_ERROR_INPUT,
                                     "no potential of this run has an energy that can be "
                                     "measured");
}

/* How the sums of pairs are made on a GPU. */
enum { ON_HOST, ALL_PAIRS, IN_CELLS };

/* Over all pairs, where one potential has no range or there are few particles; cells of an oblique box are none. */
static int way_of(const plugmc_system *system)
{
    int way = ON_HOST;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_potential *p = term->plugin->potential;
        if (!has_pair_energy(p) || is_whole(p)) continue;
        if (system->particles <= FEW || !in_cells(system, term)) return ALL_PAIRS;
        if (!system->box.oblique) way = IN_CELLS;
    }
    return way;
}

/* Whether distances can be looked at in single precision first. */
static int can_sieve(const plugmc_system *system)
{
    return system->box.domain == PLUGMC_DOMAIN_PERIODIC && !system->box.oblique &&
           isfinite(longest_range(system));
}

int energy_sums_gpu_source(const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    static const char *const defines[2][2][3] = {
        {{"ENERGY_CELLS=0", "ENERGY_SIEVE=0", NULL}, {"ENERGY_CELLS=0", "ENERGY_SIEVE=1", NULL}},
        {{"ENERGY_CELLS=1", "ENERGY_SIEVE=0", NULL}, {"ENERGY_CELLS=1", "ENERGY_SIEVE=0", NULL}}};
    const int way = way_of(host->system);
    if (index > 0 || way == ON_HOST) return 0;
    const char *text =
        join_texts(host, (const char *const[]){sum_of_block_text, energy_kernel, NULL});
    plugmc_set_gpu_source(
        out, &(plugmc_gpu_source){.name = "energy.cu",
                                  .source = text,
                                  .defines = defines[way == IN_CELLS][can_sieve(host->system)],
                                  .fuse = PLUGMC_FUSE_SAMPLED | PLUGMC_FUSE_MEASURED,
                                  .double_precision = 1,
                                  .contract = 1});
    return text != NULL;
}

/* Blocks for any GPU: their number decides the order of sums, so it does not depend on which it is.
 */
static int prepare_pairs(energy *e, const plugmc_host *host)
{
    enum { BLOCKS = 8192 };
    const plugmc_system *system = host->system;
    pair_sums *p = &e->pairs;
    plugmc_gpu_source text = {.size = sizeof text};
    const int way = way_of(system);
    if (way == ON_HOST) return PLUGMC_OK;
    if (!energy_sums_gpu_source(host, 0, &text)) return PLUGMC_ERROR_MEMORY;
    p->in_cells = way == IN_CELLS;
    p->terms = kernel_index(system, system->term_count);
    p->tiles = (uint32_t)((system->particles + TILE - 1) / TILE);
    p->parts = BLOCKS / p->tiles + 1;
    if (p->parts > p->tiles / 2 + 1) p->parts = p->tiles / 2 + 1;
    if (p->in_cells) p->parts = 1;
    const size_t bytes =
        (size_t)system->walkers * (size_t)p->terms * p->parts * p->tiles * sizeof *p->host;
    return prepare_sums(host, &text, p->in_cells ? "pair_energies_in_cells" : "pair_energies",
                        bytes, &p->kernel, &p->species, &p->sums, &p->host);
}

static int prepare_device(energy *e, const plugmc_host *host)
{
    const size_t walkers = (size_t)host->system->walkers;
    e->positions = host->allocate(host->context, walkers * 3 * (size_t)host->system->particles *
                                                     sizeof *e->positions);
    if (!e->positions)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
    const int code = host->gpu->allocate(host->context, walkers * sizeof(double), &e->totals);
    /* the kernel does not know the pairs within rigid molecules, which have no energy */
    return code || host->system->molecules ? code : prepare_pairs(e, host);
}

int energy_sums_prepare(energy *e, const plugmc_host *host)
{
    e->system = host->system;
    const size_t n = (size_t)host->system->particles;
    int code = prepare_particles(&e->sorted, host);
    if (!code) code = prepare_ranks(&e->ranks, host);
    if (code) return code;
    e->share = host->allocate(host->context, n * sizeof *e->share);
    if (host->system->bodies) e->turned = host->allocate(host->context, n * sizeof *e->turned);
    if (!e->share || (host->system->bodies && !e->turned))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu particles", n);
    code = find_terms(e, host);
    return !code && host->gpu ? prepare_device(e, host) : code;
}
