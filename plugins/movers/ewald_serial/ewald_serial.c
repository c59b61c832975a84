/* ewald_serial: one trial move after the other on a GPU, in systems with sums over waves.
 *
 * The chain is that of the mover serial with order = sequential, with the same random numbers: the
 * particles are tried one after the other, each displaced by a vector uniform in the disk or ball
 * of radius `step`. A trial move costs a sum over all particles and one over all waves of an Ewald
 * sum (plugmc_waves), too little to fill a GPU. So moves are prepared in batches of ES_BATCH
 * successive particles, all as if none of the others moved:
 *
 *     change of m  =  fields + pairs with everyone but those of the batch before m     (a)
 *                   + sum_k weight (|S + shift_m|^2 - |S|^2)                            (b)
 *
 * with the pairs of those after m at their old places. What a move i < m of the batch does to m is
 * known in advance, if i is accepted and if not: the pair (i, m) with i at its new or old place,
 * and
 *
 *     2 sum_k weight Re(conj(shift_i) shift_m)    if i has moved,                        (c)
 *
 * a product of matrices. The decisions are then taken one after the other by one block, which only
 * adds these numbers: the same decisions as if the sums had been made one move at a time, up to
 * rounding. Nothing comes back to the host within a sweep. Sequences of moves whose mutual effects
 * are precomputed: Liang, Xing, Li, J. Comput. Phys. 338, 252 (2017), for pairs.
 *
 * Everything is in double precision and in a fixed order.
 *
 * Compiled with ES_RIGID the same files are the mover ewald_rigid: what moves are rigid molecules, with
 * the random numbers of the mover rigid with order = sequential. A sweep displaces each of them, and
 * then turns each of them, in batches of one kind. Changes of structure factors and pairs are sums
 * over the sites of a molecule, and couplings those of all sites, so (a), (b) and (c) stay. Pairs
 * within a molecule, which have no energy, never meet: a molecule is a unit, and no unit is asked
 * for pairs with itself. ewald_serial leaves the sites of molecules where they are.
 */
#ifndef ES_RIGID
#define ES_RIGID 0
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/everything.h>

#include "../../join_texts.h"
#include "../speeds.h"
#include "ewald_serial.cu"

PLUGMC_EMBED(sum_of_block_text, SUM_OF_BLOCK_FILE);
PLUGMC_EMBED(ewald_serial_kernels, PLUGMC_KERNEL_FILE);

enum { PROPOSE, ALONE, COUPLE, BETWEEN, DECIDE, APPLY, STRUCTURE, ENERGIES, KERNELS };

typedef struct ewald_serial {
    real step, turn, target_acceptance; /* parameters: length, rad, 1; turn with ES_RIGID */

    const plugmc_system *system;
    plugmc_seed seed; /* of its random draws */
    es_task task;
    double *constant; /* [terms] kT: of the sums over waves */
    uint32_t *term;   /* [waves]: of which term */
    /* Of a ladder or couplings: by_walker. */
    int by_walker;
    int32_t rungs;
    int32_t *on_rung;       /* [walkers] */
    real *steps;            /* [kinds of move][rungs] length, rad */
    es_rung *rung;          /* [walkers] */
    double *coupling;       /* [walkers][terms]; NULL: 1 for all that are sampled */
    plugmc_counts *counted; /* [kinds of move][rungs]: of walkers that have left the rung since */
    double *weight;         /* [waves] */
    int32_t (*wave)[3];     /* [waves] */
    double *structure;      /* [walkers][2][waves], for the host */
    es_state *state;        /* [walkers], for the host */
    plugmc_kernel *kernel[KERNELS];
    plugmc_graph *graph; /* of one sweep */
} ewald_serial;

static plugmc_device_pointer device(const void *pointer)
{
    return (plugmc_device_pointer)(uintptr_t)pointer;
}

/* ---- Sweeps ---------------------------------------------------------------------------------- */

static uint32_t blocks_of(uint32_t n, uint32_t each) { return (n + each - 1) / each; }

static int launch(ewald_serial *s, const plugmc_host *host, int kernel, uint32_t x, uint32_t y,
                  uint32_t z, uint32_t threads)
{
    void *arguments[] = {&s->task, NULL};
    return host->gpu->launch(host->context, s->kernel[kernel], (uint32_t[3]){x, y, z},
                             (uint32_t[3]){threads, 1, 1}, 0, arguments);
}

static int batch(ewald_serial *s, const plugmc_host *host)
{
    const es_task *t = &s->task;
    const struct {
        int kernel;
        uint32_t x, y, z, threads;
    } launches[] = {
        {PROPOSE, 1, t->walkers, 1, ES_THREADS},
        {ALONE, t->particle_blocks + t->wave_blocks, ES_BATCH, t->walkers, ES_THREADS},
        {COUPLE, t->chunks, t->walkers, 1, ES_TILE * ES_TILE},
        {BETWEEN, ES_BATCH * ES_BATCH / ES_THREADS, 2 * t->most + 1, t->walkers, ES_THREADS},
        {DECIDE, t->walkers, 1, 1, ES_DECIDERS},
        {APPLY, t->wave_blocks ? t->wave_blocks : 1, t->walkers, 1, ES_THREADS},
    };
    int code = PLUGMC_OK;
    for (int k = 0; k < PLUGMC_COUNT(launches) && !code; k++)
        if (launches[k].x > 0) /* there may be no waves */
            code = launch(s, host, launches[k].kernel, launches[k].x, launches[k].y, launches[k].z,
                          launches[k].threads);
    return code;
}

static int one_sweep(ewald_serial *s, const plugmc_host *host)
{
    int code = PLUGMC_OK;
    for (int kind = 0; kind < ES_KINDS; kind++)
        for (uint32_t first = 0; first < s->task.units && !code; first += ES_BATCH)
            code = host->stopping(host->context) ? PLUGMC_STOPPED : batch(s, host);
    return code;
}

static int record(ewald_serial *s, const plugmc_host *host)
{
    int code = host->gpu->graph_begin(host->context);
    if (code) return code;
    code = one_sweep(s, host);
    int ended = host->gpu->graph_end(host->context, &s->graph);
    return code ? code : ended;
}

static int fetch_states(ewald_serial *s, const plugmc_host *host)
{
    return host->gpu->download(host->context, s->state, device(s->task.state),
                               s->task.walkers * sizeof *s->state);
}

/* The particle has gone where its change of energy is not a number. */
static int check_astray(ewald_serial *s, const plugmc_host *host)
{
    es_plan plan;
    int code = host->gpu->download(host->context, &plan, device(s->task.plan), sizeof plan);
    if (!code) code = fetch_states(s, host);
    for (uint32_t w = 0; w < s->task.walkers && !code; w++) {
        const plugmc_not_a_number where = {.size = sizeof where,
                                           .walker = (int32_t)w,
                                           .particle = s->state[w].astray - 1,
                                           .sweep = plan.lost - 1};
        if (s->state[w].astray) code = host->not_a_number(host->context, &where);
    }
    return code;
}

static int set_rungs(ewald_serial *, const plugmc_host *);

/* Whether any has changed. */
static int update_steps(ewald_serial *s, const plugmc_sweeps *sweeps)
{
    int other = 0;
    for (int k = 0; k < ES_KINDS * s->rungs; k++) {
        other |= s->steps[k] != (real)sweeps->step[k];
        s->steps[k] = (real)sweeps->step[k];
    }
    return other;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    enum { LONGEST_GRAPH = 256 /* batches; longer sweeps keep the GPU busy without */ };
    ewald_serial *s = instance;
    const int other = update_steps(s, sweeps);
    const int recorded = s->task.units <= LONGEST_GRAPH / ES_KINDS * ES_BATCH;
    es_plan plan = {.seed = s->seed, .sweep = first};
    for (int kind = 0; kind < ES_KINDS; kind++) plan.step[kind] = s->steps[kind * s->rungs];
    int code = other ? set_rungs(s, host) : PLUGMC_OK;
    if (!code) code = host->gpu->upload(host->context, device(s->task.plan), &plan, sizeof plan);
    if (!code && recorded && !s->graph) code = record(s, host);
    for (uint64_t k = 0; k < n && !code; k++)
        code = host->stopping(host->context) ? PLUGMC_STOPPED
               : recorded                    ? host->gpu->graph_launch(host->context, s->graph)
                                             : one_sweep(s, host);
    return code ? code : check_astray(s, host);
}

/* ---- In and out ------------------------------------------------------------------------------ */

static size_t position_bytes(const ewald_serial *s)
{
    return (size_t)(3 * s->system->walkers * s->system->particles) * sizeof(double);
}

static size_t structure_bytes(const ewald_serial *s)
{
    return (size_t)s->system->walkers * 2 * s->task.waves * sizeof(double);
}

static size_t orientation_bytes(const ewald_serial *s)
{
    return (size_t)(s->system->walkers * s->system->particles) * sizeof(plugmc_orientation);
}

static int give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    ewald_serial *s = instance;
    double *positions;
    void *turned;
    int code = plugmc_state_positions(state, PLUGMC_ON_DEVICE, PLUGMC_WRITE, &positions);
    if (!code)
        code = host->gpu->copy(host->context, device(positions), device(s->task.positions),
                               position_bytes(s));
    if (code || !ES_RIGID) return code;
    code = state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_DEVICE, PLUGMC_WRITE, &turned,
                        NULL);
    return code ? code
                : host->gpu->copy(host->context, device(turned), device(s->task.turned),
                                  orientation_bytes(s));
}

/* What a term counts by in a walker. */
static double coupling_of(const ewald_serial *s, uint32_t w, int32_t term)
{
    return s->coupling ? s->coupling[(int64_t)w * s->system->term_count + term] : 1;
}

/* Energies of all walkers, from sums made on the device. */
static int take_energies(ewald_serial *s, const plugmc_host *host)
{
    const es_task *t = &s->task;
    const size_t n = (size_t)t->walkers * t->particles;
    double *share = malloc(n * sizeof *share);
    if (!share) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for energies");
    int code = host->gpu->download(host->context, share, device(t->share), n * sizeof *share);
    if (!code && t->waves)
        code = host->gpu->download(host->context, s->structure, device(t->structure),
                                   structure_bytes(s));
    memset(s->state, 0, t->walkers * sizeof *s->state);
    for (uint32_t w = 0; w < t->walkers && !code; w++) {
        double energy = 0;
        for (int32_t k = 0; k < s->system->term_count; k++)
            energy += coupling_of(s, w, k) * s->constant[k];
        const double *structure = s->structure + 2 * (size_t)w * t->waves;
        for (uint32_t i = 0; i < t->particles; i++) energy += share[(size_t)w * t->particles + i];
        for (uint32_t k = 0; k < t->waves; k++)
            energy +=
                coupling_of(s, w, (int32_t)s->term[k]) * s->weight[k] *
                (structure[k] * structure[k] + structure[t->waves + k] * structure[t->waves + k]);
        s->state[w].energy = energy;
    }
    free(share);
    return code ? code
                : host->gpu->upload(host->context, device(t->state), s->state,
                                    t->walkers * sizeof *s->state);
}

/* Moves so far belong to the rungs that walkers were on. */
static int keep_counts(ewald_serial *s, const plugmc_host *host)
{
    const int code = fetch_states(s, host);
    for (uint32_t w = 0; w < s->task.walkers && !code; w++) {
        for (int kind = 0; kind < ES_KINDS; kind++) {
            plugmc_counts *own = &s->counted[kind * s->rungs + s->on_rung[w]];
            own->trials += s->state[w].trials[kind];
            own->accepted += s->state[w].accepted[kind];
            s->state[w].trials[kind] = s->state[w].accepted[kind] = 0;
        }
    }
    return code ? code
                : host->gpu->upload(host->context, device(s->task.state), s->state,
                                    s->task.walkers * sizeof *s->state);
}

/* What follows from rungs and their steps. */
static int set_rungs(ewald_serial *s, const plugmc_host *host)
{
    const es_task *t = &s->task;
    const size_t terms = (size_t)s->system->term_count;
    if (!s->by_walker) return PLUGMC_OK;
    for (uint32_t w = 0; w < t->walkers; w++) {
        s->rung[w].kT = s->system->temperatures[s->on_rung[w]];
        for (int kind = 0; kind < ES_KINDS; kind++)
            s->rung[w].step[kind] = (double)s->steps[kind * s->rungs + s->on_rung[w]];
    }
    int code =
        host->gpu->upload(host->context, device(t->rung), s->rung, t->walkers * sizeof *s->rung);
    if (!code && s->coupling && terms)
        code = host->gpu->upload(host->context, device(t->coupling), s->coupling,
                                 t->walkers * terms * sizeof *s->coupling);
    return code;
}

static int take_rungs(ewald_serial *s, const plugmc_host *host, const plugmc_state *state)
{
    const int64_t terms = s->system->term_count;
    void *rungs, *rows;
    size_t row;
    int code = state->array(state, PLUGMC_STATE_RUNG, PLUGMC_ON_HOST, PLUGMC_READ, &rungs, NULL);
    if (!code)
        code =
            state->array(state, PLUGMC_STATE_MULTIPLIER, PLUGMC_ON_HOST, PLUGMC_READ, &rows, &row);
    for (uint32_t w = 0; w < s->task.walkers && !code; w++) {
        const double *m = (const double *)((const char *)rows + w * row);
        s->on_rung[w] = ((const int32_t *)rungs)[w];
        for (int64_t k = 0; k < terms && s->coupling; k++)
            s->coupling[w * terms + k] = m[k] * s->system->temperatures[s->on_rung[w]];
    }
    return code ? code : set_rungs(s, host);
}

/* Of where everybody is, from the structure factors as they are. */
static int sum_energies(ewald_serial *s, const plugmc_host *host)
{
    const es_task *t = &s->task;
    const int code =
        launch(s, host, ENERGIES, blocks_of(t->particles, ES_THREADS), t->walkers, 1, ES_THREADS);
    return code ? code : take_energies(s, host);
}

static int take_orientations(ewald_serial *s, const plugmc_host *host, const plugmc_state *state)
{
    void *turned;
    const int code =
        state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_DEVICE, PLUGMC_READ, &turned, NULL);
    return code ? code
                : host->gpu->copy(host->context, device(s->task.turned), device(turned),
                                  orientation_bytes(s));
}

static int take(void *instance, const plugmc_host *host, const plugmc_state *state,
                uint32_t changed)
{
    const uint32_t of_rungs = PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG;
    ewald_serial *s = instance;
    const es_task *t = &s->task;
    double *positions;
    int code = keep_counts(s, host);
    if (!code && s->by_walker && changed & of_rungs) code = take_rungs(s, host, state);
    if (!code && !(changed & ~of_rungs)) return sum_energies(s, host);
    if (!code && ES_RIGID) code = take_orientations(s, host, state);
    if (!code) code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ, &positions);
    if (code) return code;
    double *wrapped = malloc(position_bytes(s));
    if (!wrapped) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
    memcpy(wrapped, positions, position_bytes(s));
    for (size_t i = 0; i < (size_t)t->walkers * t->particles; i++)
        plugmc_wrap(&s->system->box, wrapped + 3 * i);
    code = host->gpu->upload(host->context, device(t->positions), wrapped, position_bytes(s));
    free(wrapped);
    if (!code && t->waves) code = launch(s, host, STRUCTURE, t->waves, t->walkers, 1, ES_THREADS);
    return code ? code : sum_energies(s, host);
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    ewald_serial *s = instance;
    const size_t bytes = (size_t)(ES_KINDS * s->rungs) * sizeof *out;
    const int code = keep_counts(s, host);
    memcpy(out, s->counted, bytes);
    if (clear) memset(s->counted, 0, bytes);
    return code;
}

static int running_energy(void *instance, const plugmc_host *host, double *energy)
{
    ewald_serial *s = instance;
    int code = fetch_states(s, host);
    for (uint32_t w = 0; w < s->task.walkers && !code; w++) energy[w] = s->state[w].energy;
    return code;
}

/* Fresh structure factors and energies would be rounded otherwise than those that went through all
 * moves. */
static int archive(void *instance, const plugmc_host *host, plugmc_archive *archive)
{
    ewald_serial *s = instance;
    const es_task *t = &s->task;
    const size_t states = t->walkers * sizeof *s->state;
    int code = PLUGMC_OK;
    if (!archive->reading && t->waves)
        code = host->gpu->download(host->context, s->structure, device(t->structure),
                                   structure_bytes(s));
    if (!archive->reading && !code) code = fetch_states(s, host);
    if (!code && t->waves)
        code = plugmc_archive_walkers(archive, "structure factors", s->structure,
                                      structure_bytes(s) / t->walkers);
    if (!code) code = plugmc_archive_walkers(archive, "states", s->state, sizeof *s->state);
    if (code || !archive->reading) return code;
    if (t->waves)
        code = host->gpu->upload(host->context, device(t->structure), s->structure,
                                 structure_bytes(s));
    return code ? code : host->gpu->upload(host->context, device(t->state), s->state, states);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

/* Whether this term has a total facet that has to be summed; its waves if so. */
static int waves_of(const plugmc_host *host, const plugmc_term *term, int *there, plugmc_waves *out)
{
    const plugmc_potential *p = term->plugin->potential;
    *there = term->sampled && p->total && plugmc_follows_positions(p->total) &&
             (p->total->beside_parts || !(p->pair || p->field));
    if (!*there) return PLUGMC_OK;
    if (!PLUGMC_HAS(p->total, waves) || !p->total->waves)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "potential '%s' is not a sum over waves that this mover supports "
                          "on the GPU: use 'serial'",
                          term->label);
    *out = (plugmc_waves){.size = sizeof *out};
    return p->total->waves(term->instance, out);
}

/* The waves of all terms in one list. */
static int take_waves(ewald_serial *s, const plugmc_host *host)
{
    const plugmc_system *system = s->system;
    int64_t count = 0;
    for (int fill = 0; fill < 2; fill++) {
        int64_t at = 0;
        for (int32_t k = 0; k < system->term_count; k++) {
            plugmc_waves waves;
            int there;
            int code = waves_of(host, plugmc_term_at(system, k), &there, &waves);
            if (code) return code;
            if (!there) continue;
            if (fill) {
                memcpy(s->wave + at, waves.n, (size_t)waves.count * sizeof *s->wave);
                memcpy(s->weight + at, waves.weight, (size_t)waves.count * sizeof *s->weight);
                for (int64_t w = 0; w < waves.count; w++) s->term[at + w] = (uint32_t)k;
                s->constant[k] += waves.constant;
            }
            at += waves.count;
        }
        if (fill) break;
        count = at;
        s->wave = host->allocate(host->context, (size_t)count * sizeof *s->wave);
        s->weight = host->allocate(host->context, (size_t)count * sizeof *s->weight);
        s->term = host->allocate(host->context, (size_t)count * sizeof *s->term);
        s->constant =
            host->allocate(host->context, ((size_t)system->term_count + 1) * sizeof *s->constant);
        if (!s->wave || !s->weight || !s->term || !s->constant)
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld waves",
                              (long long)count);
    }
    if (count > 1 << 24 || system->walkers > 65535 || system->particles > 1 << 28)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there can be 2^24 waves, 65535 walkers and 2^28 particles, not %lld, %d "
                          "and %lld",
                          (long long)count, system->walkers, (long long)system->particles);
    s->task.waves = (uint32_t)count;
    return PLUGMC_OK;
}

/* Particles that are in no molecule, or with ES_RIGID molecules. */
static void count_units(ewald_serial *s)
{
    const plugmc_system *system = s->system;
    const plugmc_molecules *all = system->molecules;
    es_task *t = &s->task;
    t->units = ES_RIGID && all ? (uint32_t)all->count : 0;
    t->most = 1;
    for (int64_t i = 0; i < system->particles && !ES_RIGID; i++)
        t->units += !all || system->molecule[i] < 0;
    for (int32_t k = 0; ES_RIGID && all && k < all->kinds; k++) {
        const uint32_t sites = (uint32_t)plugmc_kind_of_molecule(all, k)->sites;
        if (sites > t->most) t->most = sites;
    }
}

static void describe_system(ewald_serial *s)
{
    const plugmc_system *system = s->system;
    const plugmc_box *box = &system->box;
    es_task *t = &s->task;
    double reach = 0;
    memcpy(t->length, box->length, sizeof t->length);
    memcpy(t->vector, box->vector, sizeof t->vector);
    memcpy(t->inverse, box->inverse, sizeof t->inverse);
    t->dimension = box->dimension;
    t->oblique = box->oblique;
    t->particles = (uint32_t)system->particles;
    t->walkers = (uint32_t)system->walkers;
    t->wave_blocks = blocks_of(t->waves, ES_THREADS);
    t->block_particles = t->particles <= 16384 ? 256 : 1024;
    t->block_waves = t->waves <= 8192 ? 2 * ES_TILE : 8 * ES_TILE;
    t->particle_blocks = blocks_of(t->particles, t->block_particles);
    count_units(s);
    t->chunks = blocks_of(t->waves, t->block_waves);
    for (int32_t k = 0; k < system->term_count; k++) {
        const plugmc_term *term = plugmc_term_at(system, k);
        const plugmc_pair *pair = term->plugin->potential->pair;
        if (term->sampled && pair) reach = fmax(reach, pair->range(term->instance));
    }
    t->reach_square = reach * reach * (1 + 1e-9);
}

static int take_memory(ewald_serial *s, const plugmc_host *host)
{
    es_task *t = &s->task;
    const size_t n = t->particles, walkers = t->walkers, waves = t->waves,
                 moves = walkers * ES_BATCH, units = t->units,
                 listed = s->system->molecules != NULL, rigid = ES_RIGID,
                 kinds = rigid ? (size_t)s->system->molecules->kinds : 0;
    const struct {
        void *array; /* address of the pointer */
        size_t bytes;
    } wanted[] = {
        {&t->plan, sizeof *t->plan},
        {&t->state, walkers * sizeof *t->state},
        {&t->species, n * sizeof *t->species},
        {&t->wave, 3 * waves * sizeof *t->wave},
        {&t->weight, waves * sizeof *t->weight},
        {&t->positions, 3 * walkers * n * sizeof *t->positions},
        {&t->structure, 2 * walkers * waves * sizeof *t->structure},
        {&t->from, 3 * moves * t->most * sizeof *t->from},
        {&t->to, 3 * moves * t->most * sizeof *t->to},
        {&t->alone, moves * sizeof *t->alone},
        {&t->shift, 2 * moves * waves * sizeof *t->shift},
        {&t->wave_part, moves * t->wave_blocks * sizeof *t->wave_part},
        {&t->pair_part, moves * t->particle_blocks * sizeof *t->pair_part},
        {&t->couple_part, moves * ES_BATCH * t->chunks * sizeof *t->couple_part},
        {&t->between, walkers * (2 * t->most + 1) * ES_TRIANGLE * sizeof *t->between},
        {&t->accepted, moves * sizeof *t->accepted},
        {&t->share, walkers * n * sizeof *t->share},
        {&t->rung, (size_t)s->by_walker * walkers * sizeof *t->rung},
        {&t->coupling,
         (s->coupling ? walkers * (size_t)s->system->term_count : 0) * sizeof *t->coupling},
        {&t->wave_term, waves * sizeof *t->wave_term},
        {&t->member, listed * units * t->most * sizeof *t->member},
        {&t->unit_of, listed * n * sizeof *t->unit_of},
        {&t->molecule, listed * n * sizeof *t->molecule},
        {&t->box, rigid * sizeof *t->box},
        {&t->kinds, kinds * sizeof *t->kinds},
        {&t->kind, rigid * units * sizeof *t->kind},
        {&t->turned, rigid * walkers * n * sizeof *t->turned},
        {&t->turn, rigid * moves * sizeof *t->turn},
    };
    int code = PLUGMC_OK;
    for (int k = 0; k < PLUGMC_COUNT(wanted) && !code; k++) {
        plugmc_device_pointer at = 0;
        if (wanted[k].bytes) code = host->gpu->allocate(host->context, wanted[k].bytes, &at);
        memcpy(wanted[k].array, &(void *){(void *)(uintptr_t)at}, sizeof(void *));
    }
    s->structure = host->allocate(host->context, structure_bytes(s));
    s->state = host->allocate(host->context, walkers * sizeof *s->state);
    if (!code && (!s->structure || !s->state))
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu waves", waves);
    return code;
}

static int upload_constants(ewald_serial *s, const plugmc_host *host)
{
    const plugmc_system *system = s->system;
    const es_task *t = &s->task;
    const size_t bytes = (size_t)system->particles * sizeof(uint32_t);
    uint32_t *species = host->allocate(host->context, bytes);
    if (!species)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the species");
    for (int32_t a = 0; a < system->species_count; a++)
        for (int64_t i = system->first[a]; i < system->first[a + 1]; i++) species[i] = (uint32_t)a;
    int code = host->gpu->upload(host->context, device(t->species), species, bytes);
    if (!code && t->waves)
        code =
            host->gpu->upload(host->context, device(t->wave), s->wave, t->waves * sizeof *s->wave);
    if (!code && t->waves)
        code = host->gpu->upload(host->context, device(t->weight), s->weight,
                                 t->waves * sizeof *s->weight);
    if (!code && t->waves)
        code = host->gpu->upload(host->context, device(t->wave_term), s->term,
                                 t->waves * sizeof *s->term);
    return code;
}

/* Which unit has which particles: in `member` [units][most], `unit_of` [particles] and `kind` [units]. */
static void list_units(const ewald_serial *s, uint32_t *member, uint32_t *unit_of, uint32_t *kind)
{
    const plugmc_system *system = s->system;
    const plugmc_molecules *all = system->molecules;
    const es_task *t = &s->task;
    uint32_t unit = 0;
    for (int64_t i = 0; i < system->particles; i++) {
        unit_of[i] = ES_NOBODY;
        if (ES_RIGID || system->molecule[i] >= 0) continue;
        unit_of[i] = unit;
        member[unit++] = (uint32_t)i;
    }
    for (int32_t k = 0; ES_RIGID && k < all->kinds; k++) {
        const plugmc_molecule *own = plugmc_kind_of_molecule(all, k);
        for (int64_t m = 0; m < own->count; m++, unit++) {
            kind[unit] = (uint32_t)k;
            for (int32_t a = 0; a < own->sites; a++) {
                const int64_t i = plugmc_site_number(own, m, a);
                member[(size_t)unit * t->most + (size_t)a] = (uint32_t)i;
                unit_of[i] = unit;
            }
        }
    }
}

static int upload_units(const ewald_serial *s, const plugmc_host *host)
{
    const plugmc_molecules *all = s->system->molecules;
    const es_task *t = &s->task;
    const plugmc_gpu *gpu = host->gpu;
    const size_t n = t->particles, units = t->units;
    int code = PLUGMC_OK;
    if (!all) return PLUGMC_OK;
    uint32_t *member = calloc(units * t->most + 1, sizeof *member),
             *unit_of = calloc(n, sizeof *unit_of), *kind = calloc(units + 1, sizeof *kind);
    plugmc_molecule *kinds = calloc((size_t)all->kinds, sizeof *kinds);
    if (!member || !unit_of || !kind || !kinds)
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the molecules");
    if (!code) list_units(s, member, unit_of, kind);
    for (int32_t k = 0; k < all->kinds && !code; k++) {
        kinds[k] = *plugmc_kind_of_molecule(all, k);
        kinds[k].name = NULL;
    }
    const struct {
        const void *to, *from;
        size_t bytes;
    } arrays[] = {
        {t->member, member, units * t->most * sizeof *member},
        {t->unit_of, unit_of, n * sizeof *unit_of},
        {t->molecule, s->system->molecule, n * sizeof *t->molecule},
        {t->box, &s->system->box, sizeof *t->box},
        {t->kinds, kinds, (size_t)all->kinds * sizeof *kinds},
        {t->kind, kind, units * sizeof *kind},
    };
    for (int k = 0; k < (ES_RIGID ? PLUGMC_COUNT(arrays) : 3) && !code; k++)
        code = gpu->upload(host->context, device(arrays[k].to), arrays[k].from, arrays[k].bytes);
    free(member), free(unit_of), free(kind), free(kinds);
    return code;
}

#if ES_RIGID
#define ES_NAME "ewald_rigid"
#define ES_ARE "ES_RIGID=1"
#else
#define ES_NAME "ewald_serial"
#define ES_ARE "ES_RIGID=0"
#endif

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    static const char *const defines[2][2][4] = {{{ES_ARE, "ES_LISTED=0", "ES_BY_WALKER=0", NULL},
                                                  {ES_ARE, "ES_LISTED=0", "ES_BY_WALKER=1", NULL}},
                                                 {{ES_ARE, "ES_LISTED=1", "ES_BY_WALKER=0", NULL},
                                                  {ES_ARE, "ES_LISTED=1", "ES_BY_WALKER=1", NULL}}};
    (void)instance;
    if (index > 0) return 0;
    out->name = ES_NAME ".cu";
    out->defines =
        defines[host->system->molecules != NULL][host->system->weighted || host->system->rungs > 1];
    out->source =
        join_texts(host, (const char *const[]){sum_of_block_text, ewald_serial_kernels, NULL});
    out->fuse = PLUGMC_FUSE_SAMPLED;
    out->double_precision = 1;
    out->overlap = 1;
    return out->source != NULL;
}

static int load_kernels(ewald_serial *s, const plugmc_host *host)
{
    static const char *const names[KERNELS] = {
        [PROPOSE] = "es_propose",     [ALONE] = "es_alone",      [COUPLE] = "es_couple",
        [BETWEEN] = "es_between",     [DECIDE] = "es_decide",    [APPLY] = "es_apply",
        [STRUCTURE] = "es_structure", [ENERGIES] = "es_energies"};
    plugmc_gpu_source text = {.size = sizeof text};
    int code = gpu_source(s, host, 0, &text) ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (int k = 0; k < KERNELS && !code; k++)
        code = host->gpu->kernel(host->context, &text, names[k], &s->kernel[k]);
    return code;
}

/* Walkers as they begin. */
static int take_walkers(ewald_serial *s, const plugmc_host *host)
{
    const plugmc_system *system = s->system;
    const size_t walkers = (size_t)system->walkers, terms = (size_t)system->term_count;
    s->rungs = system->rungs > 1 ? system->rungs : 1;
    s->by_walker = system->weighted || s->rungs > 1;
    const size_t rungs = (size_t)s->rungs;
    s->on_rung = host->allocate(host->context, walkers * sizeof *s->on_rung);
    s->rung = host->allocate(host->context, walkers * sizeof *s->rung);
    s->steps = host->allocate(host->context, ES_KINDS * rungs * sizeof *s->steps);
    s->counted = host->allocate(host->context, ES_KINDS * rungs * sizeof *s->counted);
    if (system->weighted)
        s->coupling = host->allocate(host->context, walkers * terms * sizeof *s->coupling);
    if (!s->on_rung || !s->rung || !s->steps || !s->counted || (system->weighted && !s->coupling))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers", walkers);
    for (size_t k = 0; k < ES_KINDS * rungs; k++) s->steps[k] = k < rungs ? s->step : s->turn;
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    ewald_serial *s = instance;
    s->system = host->system;
    s->seed = host->seed;
    if (ES_RIGID && !s->system->molecules)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there are no rigid molecules to move: describe them in a section "
                          "[molecule NAME]");
    int code = take_walkers(s, host);
    if (!code) code = take_waves(s, host);
    if (code) return code;
    describe_system(s);
    code = take_memory(s, host);
    if (!code) code = upload_constants(s, host);
    if (!code) code = upload_units(s, host);
    return code ? code : load_kernels(s, host);
}

static const plugmc_driver driver = {
    .size = sizeof driver, .load = take, .store = give, .running_energy = running_energy};

#if ES_RIGID
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(ewald_serial, step, "0.1", 1e-12, 1e12, "length",
                    "largest displacement of a molecule, uniform in the ball"),
    PLUGMC_REAL_KEY(ewald_serial, turn, "0.2", 1e-6, 3.141592653589793, "rad",
                    "largest angle of a trial rotation"),
    PLUGMC_REAL_KEY(ewald_serial, target_acceptance, "0", 0, 1, "",
                    "target acceptance of the tuning of step and turn during equilibration; 0: "
                    "fixed"),
};

static const plugmc_move moves[] = {{.name = "displacement",
                                     .doc = "a molecule goes elsewhere",
                                     .step_unit = "length",
                                     .step_key = "step",
                                     .target_key = "target_acceptance"},
                                    {.name = "rotation",
                                     .doc = "a molecule turns about its centre",
                                     .step_unit = "rad",
                                     .step_key = "turn",
                                     .target_key = "target_acceptance",
                                     .largest = 3.141592653589793}};

PLUGMC_PLUGIN(.name = ES_NAME,
              .summary = "displaces and turns rigid molecules on a GPU, with sums over waves",
              .reference = "Liang, Xing, Li, J. Comput. Phys. 338, 252 (2017), for pairs",
              PLUGMC_KEYS(ewald_serial, table),
              PLUGMC_MOVER_WITH(moves,
                                .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD | PLUGMC_USES_TOTAL |
                                         PLUGMC_NEEDS_PERIODIC | PLUGMC_RUNS_ON_GPU |
                                         PLUGMC_KEEPS_MOLECULES | PLUGMC_KEEPS_RIGID,
                                .changes = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_ORIENTATION,
                                .follows = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_ORIENTATION |
                                           PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG,
                                .sweep = sweep, .counts = counts,
                                .good_for = "few walkers of rigid molecules with Ewald sums on a "
                                            "GPU",
                                .driver = &driver),
              .prepare = prepare, .gpu_source = gpu_source, .archive = archive);
#else
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(ewald_serial, step, "0.1", 1e-12, 1e12, "length",
                    "largest displacement of a trial move, uniform in the disk or ball"),
    PLUGMC_REAL_KEY(ewald_serial, target_acceptance, "0", 0, 1, "",
                    "target acceptance of the tuning of step during equilibration; 0: fixed "
                    "step"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(.name = ES_NAME,
              .summary = "one trial move after the other on a GPU, with sums over waves",
              .reference = "Liang, Xing, Li, J. Comput. Phys. 338, 252 (2017), for pairs",
              PLUGMC_KEYS(ewald_serial, table),
              PLUGMC_MOVER_WITH(moves,
                                .needs = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD | PLUGMC_USES_TOTAL |
                                         PLUGMC_NEEDS_PERIODIC | PLUGMC_RUNS_ON_GPU |
                                         PLUGMC_KEEPS_RIGID,
                                .changes = PLUGMC_CHANGED_POSITION,
                                .follows = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_ORIENTATION |
                                           PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG,
                                .sweep = sweep, .counts = counts,
                                .good_for = "charges with Ewald sums on a GPU",
                                .same_moves = "serial", .speed = speed_of_waves, .driver = &driver),
              .prepare = prepare, .gpu_source = gpu_source, .archive = archive);
#endif
