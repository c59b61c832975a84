/* Trials that a mover proposes, on a GPU: swaps among many particles by trials.cu, in launches of a fraction of a second; all
 * others by walk_on_device.c. */
#include <stdlib.h>
#include <string.h>

#include "energy/on_device.h"
#include "energy/energies_task.h"
#include "energy/trials_task.h"
#include "energy/bias.h"

enum { AT_A_TIME = 20000 }; /* trials a walker and launch: 0.1 s */

/* Kernels of one mover. */
typedef struct mover_kernels {
    const plugmc_plugin *mover;
    plugmc_kernel *begin, *make, *end;
    plugmc_device_pointer parameters;
    size_t room; /* bytes for parameters */
    walk_kernels walk;
    bool walks;               /* it proposes more than swaps */
    const char *make_of_walk; /* several places of a trial, groups, or neither */
    struct mover_kernels *next;
} mover_kernels;

struct trials_memory {
    mover_kernels *kernels;
    trials_places places;
    plugmc_device_pointer step, first, results, molecule;
    double *host_step;       /* [walkers] */
    trials_result *outcomes; /* [walkers] */
};

static bool can(const hamiltonian *h, const plugmc_host *host, const plugmc_plugin *mover,
                const plugmc_proposal *proposal)
{
    const bool groups = PLUGMC_HAS(proposal, together) && proposal->together > 0;
    if (groups && on_device_beside(h->system) & BESIDE_BODIES) return false;
    return host->gpu && h->device && (!h->has_totals || on_device_waves(h->system)) &&
           !bias_is_of_energy(h) && mover->source && PLUGMC_HAS(proposal, parameters_size) &&
           proposal->parameters_size > 0;
}

static int make_memory(hamiltonian *h, const plugmc_host *host)
{
    const plugmc_system *system = h->system;
    const size_t walkers = (size_t)system->walkers, all = walkers * (size_t)system->particles;
    if (h->device->trials) return PLUGMC_OK;
    trials_memory *m = h->device->trials = calloc(1, sizeof *m);
    if (m) m->host_step = calloc(walkers, sizeof *m->host_step);
    if (m) m->outcomes = calloc(walkers, sizeof *m->outcomes);
    if (!m || !m->host_step || !m->outcomes)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for trial moves");
    plugmc_device_pointer places[7];
    const size_t bytes[7] = {8, 8, 8, 4, 4, 4, 4}; /* of the members of trials_places */
    int code = PLUGMC_OK;
    for (int k = 0; k < 7 && !code; k++)
        code = host->gpu->allocate(host->context, all * bytes[k], &places[k]);
    if (!code) code = host->gpu->allocate(host->context, walkers * sizeof(double), &m->step);
    if (!code)
        code = host->gpu->allocate(
            host->context, (2 * (size_t)system->species_count + 1) * sizeof(int64_t), &m->first);
    if (!code)
        code = host->gpu->allocate(host->context, walkers * sizeof *m->outcomes, &m->results);
    if (!code) code = on_device_molecules(host, &m->molecule);
    if (code) return code;
    m->places = (trials_places){at_device(places[0]), at_device(places[1]), at_device(places[2]),
                                at_device(places[3]), at_device(places[4]), at_device(places[5]),
                                at_device(places[6])};
    const int32_t species = system->species_count;
    int64_t numbers[2 * species + 1]; /* those of the first particles, then how many */
    memcpy(numbers, system->first, sizeof *numbers * (size_t)(species + 1));
    for (int32_t s = 0; s < species; s++)
        numbers[species + 1 + s] = plugmc_species_at(system, s)->count;
    return host->gpu->upload(host->context, m->first, numbers, sizeof numbers);
}

void on_device_close_trials(hamiltonian *h)
{
    trials_memory *m = h->device->trials;
    if (!m) return;
    for (mover_kernels *k = m->kernels, *next; k; k = next) {
        next = k->next;
        free(k);
    }
    free(m->host_step), free(m->outcomes), free(m);
}

static const char kernel_of_groups[] = "walk_make_groups", kernel_of_pairs[] = "walk_make_pairs";

static bool of_partners(const plugmc_proposal *p) { return PLUGMC_HAS(p, partner) && p->partner; }

/* The kernel for what may be proposed. */
static const char *name_of_make(const hamiltonian *h, const plugmc_proposal *proposal)
{
    if (of_partners(proposal)) return kernel_of_pairs;
    if (on_device_beside(h->system) & BESIDE_ONE_BY_ONE) return kernel_of_groups;
    if (PLUGMC_HAS(proposal, together) && proposal->together > 0) return kernel_of_groups;
    return PLUGMC_HAS(proposal, trial_positions) && proposal->trial_positions > 1
               ? "walk_make_several"
               : "walk_make";
}

/* Compiled when the mover asks for the first time. */
static int find_kernels(hamiltonian *h, const plugmc_host *host, const plugmc_plugin *mover,
                        const plugmc_proposal *proposal, mover_kernels **out)
{
    const char *make = name_of_make(h, proposal);
    trials_memory *m = h->device->trials;
    mover_kernels *k = m->kernels;
    plugmc_gpu_source text;
    char *joined;
    while (k && (k->mover != mover || k->make_of_walk != make)) k = k->next;
    *out = k;
    if (k) return PLUGMC_OK;
    k = calloc(1, sizeof *k);
    int code = k ? on_device_text(mover, on_device_beside(h->system), &text, &joined)
                 : PLUGMC_ERROR_MEMORY;
    if (code) {
        free(k);
        return host->fail(host->context, code, "no memory for a GPU source");
    }
    *k = (mover_kernels){.mover = mover, .make_of_walk = make, .next = m->kernels};
    m->kernels = k;
    *out = k;
    const bool swaps = !on_device_beside(h->system);
    if (swaps) code = host->gpu->kernel(host->context, &text, "trials_begin", &k->begin);
    if (swaps && !code) code = host->gpu->kernel(host->context, &text, "trials_make", &k->make);
    if (swaps && !code) code = host->gpu->kernel(host->context, &text, "trials_end", &k->end);
    if (!code) code = host->gpu->kernel(host->context, &text, "walk_begin", &k->walk.begin);
    if (!code) code = host->gpu->kernel(host->context, &text, make, &k->walk.make);
    if (!code) code = host->gpu->kernel(host->context, &text, "walk_total", &k->walk.total);
    if (!code) code = host->gpu->kernel(host->context, &text, "walk_end", &k->walk.end);
    free(joined);
    return code;
}

/* Onto the device; a call may have more of them than one before. */
static int put_parameters(const plugmc_host *host, mover_kernels *k, const plugmc_proposal *p)
{
    int code = PLUGMC_OK;
    if (p->parameters_size > k->room) {
        if (k->room) code = host->gpu->release(host->context, k->parameters);
        if (!code) code = host->gpu->allocate(host->context, p->parameters_size, &k->parameters);
        k->room = code ? 0 : p->parameters_size;
        k->walk.parameters = k->parameters;
    }
    return code
               ? code
               : host->gpu->upload(host->context, k->parameters, p->parameters, p->parameters_size);
}

/* All trials, in launches between which the run can be stopped. */
static int make(hamiltonian *h, const plugmc_host *host, const mover_kernels *k,
                const energies_task *task, trials_call *call, uint64_t n)
{
    trials_memory *m = h->device->trials;
    const size_t bytes = (size_t)h->system->walkers * sizeof *m->outcomes;
    int code = host->gpu->fill(host->context, m->results, 0, bytes);
    for (call->begin = 0; call->begin < n && !code; call->begin += call->count) {
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        call->count = n - call->begin < AT_A_TIME ? n - call->begin : AT_A_TIME;
        code = on_device_launch(
            host, k->make, (uint32_t)h->system->walkers, TRIALS_THREADS,
            (void *[]){(void *)task, &m->places, call, (void *)&k->parameters, &m->results});
    }
    return code ? code : host->gpu->download(host->context, m->outcomes, m->results, bytes);
}

/* What they come to: counts, and who stopped. */
static int take_results(hamiltonian *h, const plugmc_host *host, int32_t move)
{
    for (int32_t w = 0; w < h->system->walkers; w++) {
        const trials_result *r = &h->device->trials->outcomes[w];
        h->walkers[w].counts[move].trials += r->trials;
        h->walkers[w].counts[move].accepted += r->accepted;
    }
    for (int32_t w = 0; w < h->system->walkers; w++) {
        const trials_result *r = &h->device->trials->outcomes[w];
        const plugmc_not_a_number where = {
            .size = sizeof where, .walker = w, .particle = r->particle, .sweep = r->sweep};
        if (r->stopped) return host->not_a_number(host->context, &where);
    }
    return PLUGMC_OK;
}

/* One has met something else than swaps, of which nothing was taken so far. */
static bool any_other(const hamiltonian *h)
{
    for (int32_t w = 0; w < h->system->walkers; w++)
        if (h->device->trials->outcomes[w].stopped == 2) return true;
    return false;
}

static bool any_accepted(const hamiltonian *h)
{
    for (int32_t w = 0; w < h->system->walkers; w++)
        if (h->device->trials->outcomes[w].accepted) return true;
    return false;
}

/* Swaps among those nearby; PLUGMC_UNANSWERED where something else is proposed: nothing has changed then. */
static int make_swaps(hamiltonian *h, const plugmc_host *host, const mover_kernels *k,
                      const plugmc_proposal *proposal, uint64_t first, uint64_t n)
{
    const plugmc_system *system = h->system;
    const uint32_t blocks = (uint32_t)system->walkers * h->device->tiles;
    const uint64_t trials = (uint64_t)(proposal->trials ? proposal->trials : system->particles);
    trials_memory *m = h->device->trials;
    energies_task task;
    plugmc_view view = {.size = sizeof view};
    void *multipliers = NULL;
    double *positions;
    size_t row = 0;
    int code = on_device_view(h, host, &view);
    if (!code) code = on_device_task(h, host, &view, true, &task);
    if (!code)
        code = h->state->array(h->state, PLUGMC_STATE_MULTIPLIER, PLUGMC_ON_DEVICE, PLUGMC_READ,
                               &multipliers, &row);
    if (code) return code;
    for (int32_t w = 0; w < system->walkers; w++) m->host_step[w] = h->walkers[w].step;
    code = host->gpu->upload(host->context, m->step, m->host_step,
                             (size_t)system->walkers * sizeof(double));
    if (!code)
        code = on_device_launch(host, k->begin, blocks, ENERGIES_THREADS,
                                (void *[]){&task, &m->places});
    trials_call call = {.seed = host->seed,
                        .sweep = first,
                        .a_sweep = trials,
                        .move = proposal->move,
                        .from = PLUGMC_HAS(proposal, from) ? proposal->from : 0,
                        .width = (int32_t)(row / sizeof(double)),
                        .multipliers = multipliers,
                        .step = at_device(m->step),
                        .first = at_device(m->first),
                        .counts = (const int64_t *)at_device(m->first) + system->species_count + 1,
                        .molecule = at_device(m->molecule)};
    if (!code) code = make(h, host, k, &task, &call, n * trials);
    if (!code && any_other(h)) return PLUGMC_UNANSWERED;
    /* nothing is written where nothing was taken, so that other movers keep what they have */
    if (!code && any_accepted(h)) {
        code = plugmc_state_positions(h->state, PLUGMC_ON_DEVICE, PLUGMC_WRITE, &positions);
        if (!code)
            code = on_device_launch(host, k->end, blocks, ENERGIES_THREADS,
                                    (void *[]){&task, &m->places, &positions});
        for (int32_t w = 0; w < system->walkers; w++) h->walkers[w].known = false;
        h->stale = true;
    }
    return code ? code : take_results(h, host, proposal->move);
}

int on_device_trials(hamiltonian *h, const plugmc_host *host, const plugmc_plugin *mover,
                     const plugmc_proposal *proposal, uint64_t first, uint64_t n)
{
    const bool counts = h->system->changes & PLUGMC_CHANGED_COUNT,
               walks = on_device_walks(h, mover->mover, proposal);
    mover_kernels *k;
    const bool only_walks = counts || on_device_beside(h->system);
    if (!host->gpu || !can(h, host, mover, proposal) || (only_walks && !walks))
        return PLUGMC_UNANSWERED;
    if (of_partners(proposal) && !(on_device_beside(h->system) & BESIDE_RESERVOIR))
        return PLUGMC_UNANSWERED;
    int code = make_memory(h, host);
    if (!code) code = find_kernels(h, host, mover, proposal, &k);
    if (!code) code = put_parameters(host, k, proposal);
    if (code) return code;
    k->walks |= k->make_of_walk == kernel_of_groups;
    k->walks |= on_device_beside(h->system) != 0;
    if (!counts && !k->walks) {
        code = make_swaps(h, host, k, proposal, first, n);
        k->walks = code == PLUGMC_UNANSWERED;
        if (!k->walks) return code;
    }
    return walks ? on_device_walk(h, host, mover->mover, &k->walk, proposal, first, n)
                 : PLUGMC_UNANSWERED;
}
