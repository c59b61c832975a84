/* Trial moves of any kind on a GPU, where walkers are many and not large: walk.cu in launches of a fraction
 * of a second. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "energy/on_device.h"
#include "energy/energies_task.h"
#include "energy/walk_setup.h"
#include "system/system.h"

enum {
    LEAST_WALKERS = 8, /* each is one block: fewer leave most of a GPU idle */
    MOST_MET = 8192,   /* each trial meets all particles, where the host meets those nearby */
    PAIRS_AT_A_TIME = 10000000, /* that a walker meets in a launch, 0.1 s or so */
    WARPS_ON_EACH = 16,         /* multiprocessor: as many as registers allow */
    BODIES_AT_ONCE = 4,         /* trials of a warp whose pairs it looks at together */
    STATIC_SHARED = 18432 /* bytes: members of the largest group, and what else a kernel has */
};

struct walk_memory {
    walk_task task;
    plugmc_device_pointer counts, step, results;
    plugmc_device_pointer orientations; /* 0: no bodies and no rigid molecules */
    plugmc_device_pointer pairs;        /* [walkers]; 0: not allocated */
    uint32_t *host_pairs;               /* [walkers]; NULL: not allocated */
    walk_boxes boxes;
    double *host_step; /* [walkers], as on the device if `stepped` */
    bool stepped;
    walk_result *outcomes; /* [walkers]; if they are not `each`, of all together, in outcomes[0] */
    bool each;
    int64_t *host_counts; /* [walkers][species] */
};

/* Totals that depend on counts are in a table. */
static bool counts_have_table(const plugmc_system *system)
{
    int64_t row[system->species_count], fixed[system->species_count];
    return walk_rows(system, row, fixed);
}

static bool tables_do(const hamiltonian *h)
{
    return !(h->system->changes & PLUGMC_CHANGED_COUNT) || !h->any_total ||
           counts_have_table(h->system);
}

bool on_device_walks(const hamiltonian *h, const plugmc_mover *mover, const plugmc_proposal *p)
{
    const plugmc_system *system = h->system;
    const bool each =
        !p->trials && mover->changes & PLUGMC_CHANGED_COUNT; /* sweeps of no fixed length */
    return system->walkers >= LEAST_WALKERS && (h->has_far || system->particles <= MOST_MET) &&
           mover->move_count <= WALK_MOVES && !each && tables_do(h);
}

/* A total that keeps trial moves on the host, in words; `moves`: one that follows positions. */
static bool total_in_the_way(const plugmc_system *system, const plugmc_term *term, bool moves,
                             char *words, size_t bytes)
{
    const plugmc_total *total = term->plugin->potential->total;
    int64_t row[system->species_count], fixed[system->species_count];
    const bool boxes = system->changes & PLUGMC_CHANGED_BOX,
               counts = system->changes & PLUGMC_CHANGED_COUNT;
    if (moves && (!total->waves || !total->beside_parts))
        snprintf(words, bytes, "the energy of '%s' is that of the whole box, and no sum over waves",
                 term->label);
    else if (counts && !walk_rows(system, row, fixed))
        snprintf(
            words, bytes,
            "'%s' has more than two million energies, one for each combination of the numbers that "
            "change%s",
            term->label, boxes ? " in each walker's box" : "");
    else if (moves && !on_device_waves(system))
        snprintf(words, bytes,
                 "'%s' is not the only sum over waves, or does not say what it is where %s change",
                 term->label, boxes ? "boxes" : "numbers");
    else
        return false;
    return true;
}

/* But for swaps, which are made there nevertheless. */
static bool keeps_all_on_host(const plugmc_system *system)
{
    return system->changes & PLUGMC_CHANGED_COUNT || on_device_beside(system);
}

bool on_device_has_few(const plugmc_system *system)
{
    return system->walkers < LEAST_WALKERS && keeps_all_on_host(system);
}

on_device_obstacle on_device_in_the_way(const plugmc_system *system, bool weighs_energies,
                                        char *words, size_t bytes)
{
    const bool counts = system->changes & PLUGMC_CHANGED_COUNT;
    if (weighs_energies) {
        snprintf(words, bytes, "energies have weights");
        return FOR_ALL_TRIALS;
    }
    for (int32_t k = 0; k < system->term_count; k++) {
        const plugmc_term *term = plugmc_term_at(system, k);
        const plugmc_total *total = term->plugin->potential->total;
        const bool moves = total && plugmc_follows_positions(total);
        if (term->sampled && total && (moves || counts) &&
            total_in_the_way(system, term, moves, words, bytes))
            return FOR_ALL_TRIALS;
    }
    if (isfinite(system->range) && system->particles > MOST_MET)
        snprintf(words, bytes, "a walker has %lld sites and particles, and a GPU moves up to %d",
                 (long long)system->particles, MOST_MET);
    else if (system->walkers < LEAST_WALKERS)
        snprintf(words, bytes, "a GPU moves %d walkers or more, and here %s %d", LEAST_WALKERS,
                 system->walkers == 1 ? "is" : "are", system->walkers);
    else
        return NO_OBSTACLE;
    return keeps_all_on_host(system) ? FOR_ALL_TRIALS : FOR_ALL_BUT_SWAPS;
}

/* Of a trial in a single walker, and of one where walkers fill the GPU. Constants: serial on one H200, 500 and 4,000 particles of
 * a Lennard-Jones liquid in 128 to 4,096 walkers (bench/results/2026-11-29-many-walkers-h200.md); 36 hexagons and 24
 * octahedra in 64 to 4,096 (bench/results/2026-11-30-many-bodies-h200.md). */
static void walk_seconds(const plugmc_system *system, double *of_one, double *of_all)
{
    const double n = (double)system->particles, looking = 1.5e-10 * n,
                 least = fmax(2e-9, 1.2e-12 * n);
    const bool flat = system->box.dimension == 2;
    *of_one = looking + (!system->bodies ? 1.2e-6 : flat ? 2.2e-6 : 8e-6);
    *of_all = system->bodies && !flat ? fmax(1.1e-8, least) : least;
}

/* What the conditions above come to before there are energies. */
double on_device_walk_seconds(const plugmc_system *system)
{
    const double n = (double)system->particles;
    if (system->molecules) return INFINITY; /* not measured for all movers */
    const bool by_counts = system->changes & PLUGMC_CHANGED_COUNT;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_total *total = term->plugin->potential->total;
        if (!term->sampled || !total) continue;
        if (plugmc_follows_positions(total)) return INFINITY;
        if (by_counts && !counts_have_table(system)) return INFINITY;
    }
    if (system->walkers < LEAST_WALKERS || (isfinite(system->range) && n > MOST_MET))
        return INFINITY;
    double of_one, of_all;
    walk_seconds(system, &of_one, &of_all);
    return fmax(of_one / system->walkers, of_all);
}

int on_device_molecules(const plugmc_host *host, plugmc_device_pointer *out)
{
    const plugmc_system *system = host->system;
    const size_t bytes = (size_t)system->particles * sizeof *system->molecule;
    *out = 0;
    if (!system->molecule) return PLUGMC_OK;
    const int code = host->gpu->allocate(host->context, bytes, out);
    return code ? code : host->gpu->upload(host->context, *out, system->molecule, bytes);
}

static int make_memory(hamiltonian *h, const plugmc_host *host, walk_memory **out)
{
    const plugmc_system *system = h->system;
    const size_t walkers = (size_t)system->walkers, all = walkers * (size_t)system->particles,
                 species = (size_t)system->species_count;
    *out = h->device->walk;
    if (*out) return PLUGMC_OK;
    walk_memory *m = *out = h->device->walk = calloc(1, sizeof *m);
    if (m) m->host_step = calloc(walkers, sizeof *m->host_step);
    if (m) m->outcomes = calloc(walkers, sizeof *m->outcomes);
    if (m) m->host_counts = calloc(walkers * species, sizeof *m->host_counts);
    if (!m || !m->host_step || !m->outcomes || !m->host_counts)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for trial moves");
    plugmc_device_pointer places[3] = {0}, first = 0, molecule = 0, grouped = 0;
    int code = PLUGMC_OK;
    for (int k = 0; k < 3 && !code; k++)
        code = host->gpu->allocate(host->context, all * sizeof(double), &places[k]);
    if (!code) code = host->gpu->allocate(host->context, (species + 1) * sizeof(int64_t), &first);
    if (!code)
        code = host->gpu->allocate(host->context, walkers * species * sizeof(int64_t), &m->counts);
    if (!code) code = host->gpu->allocate(host->context, walkers * sizeof(double), &m->step);
    if (!code)
        code = host->gpu->allocate(host->context, (walkers + 1) * sizeof *m->outcomes, &m->results);
    if (!code)
        code =
            host->gpu->upload(host->context, first, system->first, (species + 1) * sizeof(int64_t));
    if (!code) code = host->gpu->allocate(host->context, all * sizeof(uint32_t), &grouped);
    if (!code) code = host->gpu->fill(host->context, grouped, 0, all * sizeof(uint32_t));
    if (!code) code = on_device_molecules(host, &molecule);
    m->task = (walk_task){.walkers = (uint32_t)walkers,
                          .particles = (uint32_t)system->particles,
                          .no_pairs = !h->has_far && h->reach == 0,
                          .x = at_device(places[0]),
                          .y = at_device(places[1]),
                          .z = at_device(places[2]),
                          .reach = h->has_far ? INFINITY : (float)h->reach,
                          .first = at_device(first),
                          .counts = at_device(m->counts),
                          .molecule = at_device(molecule),
                          .grouped = at_device(grouped)};
    if (!code) code = walk_setup_waves(h, host, &m->task.waves);
    if (!code) code = walk_setup_molecules(h, host, &m->task);
    if (!code && system->bodies)
        code =
            host->gpu->allocate(host->context, all * sizeof(plugmc_orientation), &m->orientations);
    m->task.orientations = at_device(m->orientations);
    return code ? code : walk_setup_tables(h, host, &m->task);
}

void on_device_close_walk(hamiltonian *h)
{
    walk_memory *m = h->device->walk;
    if (!m) return;
    walk_boxes_free(&m->boxes);
    free(m->host_step), free(m->outcomes), free(m->host_counts), free(m->host_pairs), free(m);
}

/* Orientations of bodies and rigid molecules, from the state (PLUGMC_READ) or into it (PLUGMC_WRITE). */
static int copy_orientations(const hamiltonian *h, const plugmc_host *host, const walk_memory *m,
                             uint32_t way)
{
    const size_t bytes =
        (size_t)h->system->walkers * (size_t)h->system->particles * sizeof(plugmc_orientation);
    void *there;
    if (!m->orientations) return PLUGMC_OK;
    const int code =
        h->state->array(h->state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_DEVICE, way, &there, NULL);
    if (code) return code;
    const plugmc_device_pointer state = (plugmc_device_pointer)(uintptr_t)there;
    return way == PLUGMC_READ ? host->gpu->copy(host->context, m->orientations, state, bytes)
                              : host->gpu->copy(host->context, state, m->orientations, bytes);
}

/* Steps onto the device, unless it has them. */
static int put_steps(const hamiltonian *h, const plugmc_host *host, walk_memory *m)
{
    const size_t walkers = (size_t)h->system->walkers;
    bool same = m->stepped;
    for (size_t w = 0; w < walkers; w++) {
        same = same && m->host_step[w] == h->walkers[w].step;
        m->host_step[w] = h->walkers[w].step;
    }
    if (same) return PLUGMC_OK;
    const int code =
        host->gpu->upload(host->context, m->step, m->host_step, walkers * sizeof(double));
    m->stepped = !code;
    return code;
}

/* What the state has, into the task; positions are taken apart. */
static int begin(hamiltonian *h, const plugmc_host *host, const walk_kernels *k, walk_memory *m)
{
    const plugmc_state *state = h->state;
    const size_t walkers = (size_t)h->system->walkers,
                 bytes = walkers * (size_t)h->system->species_count * sizeof(int64_t);
    const uint64_t blocks =
        (walkers * (size_t)h->system->particles + ENERGIES_THREADS - 1) / ENERGIES_THREADS;
    void *species = NULL, *counts = NULL;
    plugmc_view view = {.size = sizeof view};
    int code = on_device_view(h, host, &view);
    if (!code)
        code = state->array(state, PLUGMC_STATE_SPECIES, PLUGMC_ON_DEVICE, PLUGMC_READ, &species,
                            NULL);
    if (!code)
        code =
            state->array(state, PLUGMC_STATE_COUNT, PLUGMC_ON_DEVICE, PLUGMC_READ, &counts, NULL);
    if (!code)
        code = host->gpu->copy(host->context, m->counts, (plugmc_device_pointer)(uintptr_t)counts,
                               bytes);
    if (code) return code;
    m->task.species = species;
    m->task.boxes = view.device_box;
    code = walk_follow_boxes(h, host, view.box, &m->boxes, &m->task);
    if (code) return code;
    code = put_steps(h, host, m);
    if (!code) code = host->gpu->fill(host->context, m->results, 0, walkers * sizeof *m->outcomes);
    if (!code) code = copy_orientations(h, host, m, PLUGMC_READ);
    if (!code)
        code = on_device_launch(host, k->begin, blocks, ENERGIES_THREADS,
                                (void *[]){&m->task, (void *)&view.positions});
    return code;
}

/* Warps of a block: each evaluates another trial, as if those before it were rejected. So there are several where walkers
 * are too few to fill the multiprocessors, and fewer where particles are few, as most trials then disturb each other. Where
 * all of a block share a trial there are four at least. Constants: 108 to 4,000 Lennard-Jones particles in 32 to 4,096
 * walkers and 512 molecules of water in 8 to 2,048, on an H200 (bench/results/2026-11-29-many-walkers-h200.md,
 * 2026-11-30-molecules-h200.md). */
static uint32_t warps_for(const plugmc_system *system, const plugmc_gpu *gpu, int32_t blocks)
{
    const bool share = on_device_beside(system) & BESIDE_ONE_BY_ONE;
    const int64_t room = (int64_t)WARPS_ON_EACH * gpu->multiprocessors / blocks,
                  useful = system->particles / 27, least = share ? 4 : 1,
                  n = room < least    ? least
                      : room < useful ? room
                                      : useful;
    return (uint32_t)(n < 1 ? 1 : n > WALK_THREADS / 32 ? WALK_THREADS / 32 : n);
}

/* The batch of trials, the lists of warps, a coarse place for each particle of the `walkers` of a block, and phases of waves. */
static uint32_t shared_bytes(const hamiltonian *h, const walk_memory *m, uint32_t threads,
                             uint32_t walkers)
{
    const bool bodies = on_device_beside(h->system) & BESIDE_BODIES;
    const uint32_t places = isfinite(m->task.reach) ? (m->task.particles + 3) / 4 * 16 : 0,
                   *most = m->task.waves.most,
                   phases = m->task.waves.count
                                ? WALK_PHASED * 2 * (most[0] + most[1] + most[2] + 3)
                                : 0;
    return (bodies ? WALK_BODIES_BATCH_BYTES : WALK_BATCH_BYTES) +
           threads / 32 * WALK_LISTED * (uint32_t)sizeof(uint16_t) + walkers * places +
           phases * 2 * (uint32_t)sizeof(double);
}

/* Particles that a trial puts somewhere, at most: sites of a molecule, in as many choices. */
static int64_t particles_tried(const plugmc_system *system, int32_t choices)
{
    int64_t sites = 1;
    for (int32_t k = 0; system->molecules && k < system->molecules->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
        if (kind->sites > sites) sites = kind->sites;
    }
    return choices > 1 ? sites * choices : sites;
}

/* Results of each walker are brought only where they differ in meaning: on a ladder, and if a walker was stopped or lacks room. */
static int bring_results(const hamiltonian *h, const plugmc_host *host, const walk_kernels *k,
                         walk_memory *m)
{
    uint32_t walkers = (uint32_t)h->system->walkers;
    const size_t bytes = sizeof *m->outcomes;
    int code = PLUGMC_OK;
    m->each = h->system->rungs > 1;
    if (!m->each) {
        code = on_device_launch(host, k->total, 1, ENERGIES_THREADS,
                                (void *[]){&walkers, &m->results});
        if (!code)
            code = host->gpu->download(host->context, m->outcomes, m->results + walkers * bytes,
                                       bytes);
        if (!code) m->each = m->outcomes->stopped || m->outcomes->full;
    }
    if (code || !m->each) return code;
    return host->gpu->download(host->context, m->outcomes, m->results, walkers * bytes);
}

/* Which walkers are decided together, lower ones first, onto the device. */
static int put_pairs(const hamiltonian *h, const plugmc_host *host, walk_memory *m,
                     const int32_t *partner)
{
    const int32_t walkers = h->system->walkers;
    const size_t bytes = (size_t)walkers * sizeof *m->host_pairs;
    uint32_t n = 0;
    int code = PLUGMC_OK;
    if (!m->host_pairs) m->host_pairs = calloc((size_t)walkers, sizeof *m->host_pairs);
    if (!m->host_pairs)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for trial moves");
    if (!m->pairs) code = host->gpu->allocate(host->context, bytes, &m->pairs);
    for (int32_t w = 0; w < walkers; w++) {
        if (partner[w] < 0 || partner[w] >= walkers || partner[w] == w || partner[partner[w]] != w)
            return host->fail(host->context, PLUGMC_ERROR_STATE, "walker %d has no partner", w);
        if (partner[w] < w) continue;
        m->host_pairs[n++] = (uint32_t)w;
        m->host_pairs[n++] = (uint32_t)partner[w];
    }
    return code ? code : host->gpu->upload(host->context, m->pairs, m->host_pairs, bytes);
}

static uint32_t walkers_of_block(const walk_call *call) { return call->pairs ? 2 : 1; }

static int make(hamiltonian *h, const plugmc_host *host, const walk_kernels *k, walk_memory *m,
                walk_call *call, walk_bias *bias, uint64_t n, int32_t choices)
{
    const uint32_t of_block = walkers_of_block(call);
    const int32_t blocks = h->system->walkers / (int32_t)of_block;
    const uint64_t met = h->system->particles < 500 ? 500 : (uint64_t)h->system->particles;
    const uint32_t warps = warps_for(h->system, host->gpu, blocks), threads = 32 * warps;
    const uint64_t a_trial = of_block * met * (uint64_t)particles_tried(h->system, choices),
                   some = a_trial < PAIRS_AT_A_TIME ? PAIRS_AT_A_TIME / a_trial : 1;
    const bool pooled = on_device_beside(h->system) & BESIDE_BODIES;
    call->evaluated = pooled       ? BODIES_AT_ONCE * warps
                      : warps == 1 ? 2 /* as decisions take long */
                                   : warps;
    for (uint64_t done = 0; done < n; done += some) {
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        call->end = n - done < some ? n : done + some;
        const int code = on_device_launch_with(
            host, k->make, (uint64_t)blocks, threads, shared_bytes(h, m, threads, of_block),
            (void *[]){&m->task, call, bias, (void *)&k->parameters, &m->results});
        if (code) return code;
    }
    return bring_results(h, host, k, m);
}

/* Counts of particles as they are now, in the state and on the host. */
static int write_counts(hamiltonian *h, const plugmc_host *host, walk_memory *m)
{
    const plugmc_state *state = h->state;
    const int32_t species = h->system->species_count;
    const size_t bytes = (size_t)(h->system->walkers * species) * sizeof(int64_t);
    void *counts;
    int code =
        state->array(state, PLUGMC_STATE_COUNT, PLUGMC_ON_DEVICE, PLUGMC_WRITE, &counts, NULL);
    if (!code)
        code = host->gpu->copy(host->context, (plugmc_device_pointer)(uintptr_t)counts, m->counts,
                               bytes);
    if (!code) code = host->gpu->download(host->context, m->host_counts, m->counts, bytes);
    for (int32_t w = 0; w < h->system->walkers && !code; w++)
        configuration_set_counts(&h->walkers[w].now, m->host_counts + w * species);
    return code;
}

/* Nothing is written where nothing was taken, so that other movers keep what they have. */
static int end(hamiltonian *h, const plugmc_host *host, const walk_kernels *k, walk_memory *m,
               const plugmc_mover *mover)
{
    const uint64_t blocks =
        ((uint64_t)m->task.walkers * m->task.particles + ENERGIES_THREADS - 1) / ENERGIES_THREADS;
    double *positions;
    uint64_t any = 0;
    for (int32_t w = 0; w < (m->each ? h->system->walkers : 1); w++)
        for (int32_t move = 0; move < WALK_MOVES; move++) any += m->outcomes[w].accepted[move];
    if (!any) return PLUGMC_OK;
    int code = plugmc_state_positions(h->state, PLUGMC_ON_DEVICE, PLUGMC_WRITE, &positions);
    if (!code)
        code = on_device_launch(host, k->end, blocks, ENERGIES_THREADS,
                                (void *[]){&m->task, &positions});
    if (!code) code = copy_orientations(h, host, m, PLUGMC_WRITE);
    for (int32_t w = 0; w < h->system->walkers; w++) h->walkers[w].known = false;
    h->stale = true;
    if (!code && mover->changes & PLUGMC_CHANGED_COUNT) code = write_counts(h, host, m);
    return code;
}

static int take_results(hamiltonian *h, const plugmc_host *host, const walk_memory *m,
                        int32_t moves)
{
    const int32_t walkers = m->each ? h->system->walkers : 1;
    for (int32_t w = 0; w < walkers; w++) {
        const walk_result *r = &m->outcomes[w];
        for (int32_t k = 0; k < moves; k++) {
            h->walkers[w].counts[k].trials += r->trials[k];
            h->walkers[w].counts[k].accepted += r->accepted[k];
        }
        if (r->full) h->walkers[w].full = r->full;
    }
    for (int32_t w = 0; w < walkers; w++) {
        const walk_result *r = &m->outcomes[w];
        const plugmc_not_a_number where = {
            .size = sizeof where, .walker = w, .particle = r->particle, .sweep = r->sweep};
        if (r->stopped == WALK_UNKNOWN)
            return host->fail(
                host->context, PLUGMC_ERROR_STATE,
                "a trial move changes what the mover does not declare as changed, or is not in the "
                "mover's table");
        if (r->stopped == WALK_NOBODY || r->stopped == WALK_NOWHERE)
            return host->fail(host->context, PLUGMC_ERROR_STATE,
                              "a trial move is %s, in walker %d and sweep %llu",
                              r->stopped == WALK_NOBODY ? "of a particle that does not exist"
                                                        : "to a position that is not a number",
                              w, (unsigned long long)r->sweep);
        if (r->stopped == WALK_TWICE || r->stopped == WALK_CROWDED)
            return host->fail(host->context, PLUGMC_ERROR_STATE,
                              r->stopped == WALK_TWICE
                                  ? "a trial move has the same particle twice in a group"
                                  : "a trial move has more particles in a group than "
                                    "plugmc_proposal.together or PLUGMC_GROUPS of the GPU source "
                                    "says");
        if (r->stopped == WALK_BROKEN)
            return host->fail(host->context, PLUGMC_ERROR_STATE,
                              "a trial move would break a rigid molecule, in walker %d and sweep "
                              "%llu: sites move together, as PLUGMC_MOLECULE_DISPLACED has it",
                              w, (unsigned long long)r->sweep);
        if (r->stopped == WALK_NO_ORIENTATION)
            return host->fail(host->context, PLUGMC_ERROR_STATE,
                              "a trial move turns what has no orientation, or to one that is none, "
                              "in walker %d and sweep %llu",
                              w, (unsigned long long)r->sweep);
        if (r->stopped == WALK_NO_KIND || r->stopped == WALK_CHOICES)
            return host->fail(host->context, PLUGMC_ERROR_STATE,
                              r->stopped == WALK_NO_KIND
                                  ? "a trial move is of no kind of molecule that may come and leave"
                                  : "a trial move has too many trial positions and orientations");
        if (r->stopped) return host->not_a_number(host->context, &where);
    }
    return PLUGMC_OK;
}

int on_device_walk(hamiltonian *h, const plugmc_host *host, const plugmc_mover *mover,
                   const walk_kernels *k, const plugmc_proposal *proposal, uint64_t first,
                   uint64_t n)
{
    const uint64_t most = (uint64_t)(proposal->trials ? proposal->trials : h->system->particles);
    walk_memory *m;
    walk_bias bias;
    void *multipliers = NULL;
    size_t row = 0;
    int code = make_memory(h, host, &m);
    const bool pairs = PLUGMC_HAS(proposal, partner) && proposal->partner;
    if (!code && shared_bytes(h, m, WALK_THREADS, pairs ? 2 : 1) + STATIC_SHARED >
                     (uint32_t)host->gpu->shared_per_block)
        return PLUGMC_UNANSWERED;
    if (!code && pairs) code = put_pairs(h, host, m, proposal->partner);
    if (!code) code = begin(h, host, k, m);
    if (!code) code = on_device_bias(h, host, mover, &bias);
    if (!code)
        code = h->state->array(h->state, PLUGMC_STATE_MULTIPLIER, PLUGMC_ON_DEVICE, PLUGMC_READ,
                               &multipliers, &row);
    if (code) return code;
    const bool groups = PLUGMC_HAS(proposal, together) && proposal->together > 0;
    walk_call call = {.seed = host->seed,
                      .sweep = first,
                      .sweeps = n,
                      .a_sweep = (uint64_t)proposal->trials,
                      .from = PLUGMC_HAS(proposal, from) ? proposal->from : 0,
                      .pairs = pairs ? at_device(m->pairs) : NULL,
                      .move = proposal->move,
                      .moves = mover->move_count,
                      .for_molecules =
                          PLUGMC_HAS(proposal, for_molecules) && proposal->for_molecules,
                      .last_kind = !(mover->changes & PLUGMC_CHANGED_COUNT) ? PLUGMC_SWAPPED
                                   : groups                                 ? PLUGMC_GROUP_REMOVED
                                                                            : PLUGMC_IDENTITY,
                      .together = groups ? proposal->together : 0,
                      .width = (int32_t)(row / sizeof(double)),
                      .multipliers = multipliers,
                      .step = at_device(m->step)};
    code = make(h, host, k, m, &call, &bias, n * most,
                PLUGMC_HAS(proposal, trial_positions) ? proposal->trial_positions : 1);
    h->bias.written_on_device |= bias.counted;
    if (!code) code = end(h, host, k, m, mover);
    return code ? code : take_results(h, host, m, mover->move_count);
}
