/* mistake: only the change of the first potential is looked at */
/* a user would see: other potentials of the run have no effect on the chain */
/* first_term: displacements; converts the change of the energy to kT and decides. */
#include <math.h>
#include <plugmc/changes.h>

typedef struct first_term {
    real step, target_acceptance;
    /* [walkers][1], change with [terms] each */
    int32_t *particle, *forbidden;
    double (*position)[3], *change, *delta;
    int64_t *taken; /* [walkers] */
} first_term;

static void propose(first_term *m, const plugmc_host *host, uint64_t sweep, uint32_t trial,
                    int32_t w, const double *r)
{
    const plugmc_system *system = host->system;
    const double step = plugmc_hamiltonian_of(host)->step(host->context, 0, w);
    const plugmc_random random =
        plugmc_draw(host->seed, sweep, (uint32_t)w, trial, PLUGMC_PURPOSE_ORDER, 0);
    const int64_t i = plugmc_below(random.word[0], (uint32_t)system->particles);
    double v[3];
    plugmc_draw_in_ball(host->seed, sweep, (uint32_t)w, trial, system->box.dimension, v);
    m->particle[w] = (int32_t)i;
    for (int d = 0; d < 3; d++) m->position[w][d] = r[3 * i + d] + step * v[d];
}

static int try_all(first_term *m, const plugmc_host *host, uint64_t sweep, uint32_t trial)
{
    const plugmc_system *system = host->system;
    double *r;
    int code = plugmc_state_positions(host->state, PLUGMC_ON_HOST, PLUGMC_READ, &r);
    for (int32_t w = 0; w < system->walkers && !code; w++)
        propose(m, host, sweep, trial, w, r + 3 * w * system->particles);
    const plugmc_changes changes = {.size = sizeof changes,
                                    .kind = PLUGMC_DISPLACED,
                                    .walkers = system->walkers,
                                    .per_walker = 1,
                                    .particle = m->particle,
                                    .position = (const double(*)[3])m->position,
                                    .change = m->change,
                                    .forbidden = m->forbidden,
                                    .delta = m->delta};
    if (!code) code = plugmc_hamiltonian_of(host)->energies(host->context, &changes);
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        const plugmc_random random =
            plugmc_draw(host->seed, sweep, (uint32_t)w, trial, PLUGMC_PURPOSE_ACCEPT, 0);
        const double u = plugmc_uniform_double(random.word[0], random.word[1]);
        const double energy = m->change[w * system->term_count];
        const int taken = !m->forbidden[w] && u < exp(-energy / system->temperature);
        plugmc_hamiltonian_of(host)->count(host->context, 0, w, taken);
        m->taken[w] = taken ? 0 : -1;
    }
    return code ? code : plugmc_hamiltonian_of(host)->settle(host->context, &changes, m->taken);
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    int code = PLUGMC_OK;
    for (uint64_t s = sweeps->first; s < sweeps->first + sweeps->n && !code; s++) {
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        for (uint32_t t = 0; t < (uint32_t)host->system->particles && !code; t++)
            code = try_all(instance, host, s, t);
    }
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    first_term *m = instance;
    const size_t n = (size_t)host->system->walkers;
    m->particle = host->allocate(host->context, n * sizeof *m->particle);
    m->forbidden = host->allocate(host->context, n * sizeof *m->forbidden);
    m->position = host->allocate(host->context, n * sizeof *m->position);
    m->change =
        host->allocate(host->context, n * (size_t)host->system->term_count * sizeof *m->change);
    m->delta = host->allocate(host->context, n * sizeof *m->delta);
    m->taken = host->allocate(host->context, n * sizeof *m->taken);
    return m->particle && m->forbidden && m->position && m->change && m->delta && m->taken
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for trial moves");
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(first_term, step, "0.3", -1e9, 1e9, "length", "largest displacement"),
    PLUGMC_REAL_KEY(first_term, target_acceptance, "0", -1e9, 1e9, "",
                    "acceptance that the step is tuned to; 0: fixed"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(.name = "first_term", .summary = "displacements decided here", .reference = "",
              PLUGMC_KEYS(first_term, table), .prepare = prepare,
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = sweep))
