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
#include <stdlib.h>
#include <string.h>

#include "../speeds.h"
#include "ewald_serial.h"

/* ---- Sweeps ---------------------------------------------------------------------------------- */

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
        {PAIRS, t->particle_blocks, ES_BATCH, t->walkers, ES_THREADS},
        {WAVES, t->wave_blocks, ES_BATCH, t->walkers, ES_THREADS},
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
    return host->gpu->download(host->context, s->state, es_device(s->task.state),
                               s->task.walkers * sizeof *s->state);
}

/* The particle has gone where its change of energy is not a number. */
static int check_astray(ewald_serial *s, const plugmc_host *host)
{
    es_plan plan;
    int code = host->gpu->download(host->context, &plan, es_device(s->task.plan), sizeof plan);
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
    if (!code) code = host->gpu->upload(host->context, es_device(s->task.plan), &plan, sizeof plan);
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
        code = host->gpu->copy(host->context, es_device(positions), es_device(s->task.positions),
                               position_bytes(s));
    if (code || !ES_RIGID) return code;
    code = state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_DEVICE, PLUGMC_WRITE, &turned,
                        NULL);
    return code ? code
                : host->gpu->copy(host->context, es_device(turned), es_device(s->task.turned),
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
    int code = host->gpu->download(host->context, share, es_device(t->share), n * sizeof *share);
    if (!code && t->waves)
        code = host->gpu->download(host->context, s->structure, es_device(t->structure),
                                   es_structure_bytes(s));
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
                : host->gpu->upload(host->context, es_device(t->state), s->state,
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
                : host->gpu->upload(host->context, es_device(s->task.state), s->state,
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
        host->gpu->upload(host->context, es_device(t->rung), s->rung, t->walkers * sizeof *s->rung);
    if (!code && s->coupling && terms)
        code = host->gpu->upload(host->context, es_device(t->coupling), s->coupling,
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
    const int code = launch(s, host, ENERGIES, es_blocks_of(t->particles, ES_THREADS), t->walkers,
                            1, ES_THREADS);
    return code ? code : take_energies(s, host);
}

static int take_orientations(ewald_serial *s, const plugmc_host *host, const plugmc_state *state)
{
    void *turned;
    const int code =
        state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_DEVICE, PLUGMC_READ, &turned, NULL);
    return code ? code
                : host->gpu->copy(host->context, es_device(s->task.turned), es_device(turned),
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
    code = host->gpu->upload(host->context, es_device(t->positions), wrapped, position_bytes(s));
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
        code = host->gpu->download(host->context, s->structure, es_device(t->structure),
                                   es_structure_bytes(s));
    if (!archive->reading && !code) code = fetch_states(s, host);
    if (!code && t->waves)
        code = plugmc_archive_walkers(archive, "structure factors", s->structure,
                                      es_structure_bytes(s) / t->walkers);
    if (!code) code = plugmc_archive_walkers(archive, "states", s->state, sizeof *s->state);
    if (code || !archive->reading) return code;
    if (t->waves)
        code = host->gpu->upload(host->context, es_device(t->structure), s->structure,
                                 es_structure_bytes(s));
    return code ? code : host->gpu->upload(host->context, es_device(t->state), s->state, states);
}

/* ---- The movers ------------------------------------------------------------------------------- */

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
              .prepare = es_prepare, .gpu_source = es_gpu_source, .archive = archive);
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
              .prepare = es_prepare, .gpu_source = es_gpu_source, .archive = archive);
#endif
