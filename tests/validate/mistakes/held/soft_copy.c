/* mistake: the number of overlaps that `change` returns is ignored */
/* a user would see: hard cores overlap as soon as there is one: the energy that comes with an
 * overlap is meaningless */
/* soft_copy: displacements of particles with soft interactions. */
#include <math.h>
#include <plugmc/driver.h>
#include <string.h>

typedef struct soft_copy {
    real step, target_acceptance;
    double *r;       /* [walkers][particles][3] */
    double *list[5]; /* x, y, z, charge, diameter of the others */
    int32_t *species;
    plugmc_particles others;
    plugmc_counts counts;
} soft_copy;

static size_t bytes_of(const plugmc_host *host)
{
    return (size_t)host->system->walkers * (size_t)host->system->particles * 3 * sizeof(double);
}

static plugmc_particle particle_of(const plugmc_system *system, const double *r, int64_t i)
{
    int32_t s = 0;
    while (i >= system->first[s + 1]) s++;
    const plugmc_species *species = plugmc_species_at(system, s);
    return (plugmc_particle){r[3 * i],        r[3 * i + 1],      r[3 * i + 2],
                             species->charge, species->diameter, s};
}

static void list_others(soft_copy *m, const plugmc_system *system, const double *r, int64_t i)
{
    int64_t n = 0;
    for (int64_t j = 0; j < system->particles; j++) {
        if (j == i) continue;
        const plugmc_particle p = particle_of(system, r, j);
        const double row[5] = {p.x, p.y, p.z, p.charge, p.diameter};
        for (int k = 0; k < 5; k++) m->list[k][n] = row[k];
        m->species[n++] = p.species;
    }
    m->others = (plugmc_particles){n,          m->list[0], m->list[1], m->list[2],
                                   m->list[3], m->list[4], m->species};
}

static void try_one(soft_copy *m, const plugmc_host *host, uint64_t sweep, int32_t w, uint32_t t,
                    double step)
{
    const plugmc_system *system = host->system;
    double *r = m->r + 3 * w * system->particles, v[3], to[3], change = 0;
    const int64_t i = (int64_t)t;
    const plugmc_particle probe = particle_of(system, r, i);
    plugmc_draw_in_ball(host->seed, sweep, (uint32_t)w, t, system->box.dimension, v);
    const plugmc_random random =
        plugmc_draw(host->seed, sweep, (uint32_t)w, t, PLUGMC_PURPOSE_ACCEPT, 0);
    const double u = plugmc_uniform_double(random.word[0], random.word[1]);
    for (int d = 0; d < 3; d++) to[d] = r[3 * i + d] + step * v[d];
    plugmc_wrap(&system->box, to);
    list_others(m, system, r, i);
    for (int32_t k = 0; k < system->term_count; k++) {
        const plugmc_term *term = plugmc_term_at(system, k);
        if (!term->sampled || !term->plugin->potential->pair) continue;
        term->plugin->potential->pair->change(term->instance, &system->box, 1, &probe, to,
                                              &m->others, &change);
    }
    m->counts.trials++;
    if (u >= exp(-change / system->temperature)) return;
    m->counts.accepted++;
    memcpy(r + 3 * i, to, sizeof to);
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    for (uint64_t s = sweeps->first; s < sweeps->first + sweeps->n; s++) {
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        for (int32_t w = 0; w < host->system->walkers; w++)
            for (uint32_t t = 0; t < (uint32_t)host->system->particles; t++)
                try_one(instance, host, s, w, t, sweeps->step[0]);
    }
    return PLUGMC_OK;
}

static int load(void *instance, const plugmc_host *host, const plugmc_state *state,
                uint32_t changed)
{
    soft_copy *m = instance;
    double *r = NULL;
    const int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ, &r);
    (void)changed;
    if (!code) memcpy(m->r, r, bytes_of(host));
    return code;
}

static int store(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    const soft_copy *m = instance;
    double *r = NULL;
    const int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_WRITE, &r);
    if (!code) memcpy(r, m->r, bytes_of(host));
    return code;
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    soft_copy *m = instance;
    (void)host;
    *out = m->counts;
    if (clear) m->counts = (plugmc_counts){0, 0};
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    soft_copy *m = instance;
    const size_t n = (size_t)host->system->particles;
    m->r = host->allocate(host->context, bytes_of(host));
    m->species = host->allocate(host->context, n * sizeof *m->species);
    double *list = host->allocate(host->context, 5 * n * sizeof *list);
    for (int k = 0; k < 5; k++) m->list[k] = list + (size_t)k * n;
    return m->r && m->species && list
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
}

static const plugmc_driver driver = {.size = sizeof driver, .load = load, .store = store};

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(soft_copy, step, "0.3", -1e9, 1e9, "length", "largest displacement"),
    PLUGMC_REAL_KEY(soft_copy, target_acceptance, "0", -1e9, 1e9, "",
                    "acceptance that the step is tuned to; 0: fixed"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(.name = "soft_copy", .summary = "sequential displacements in a layout of its own",
              .reference = "", PLUGMC_KEYS(soft_copy, table), .prepare = prepare,
              PLUGMC_MOVER_WITH(
                  moves, .needs = PLUGMC_USES_PAIR | PLUGMC_NEEDS_PERIODIC | PLUGMC_RUNS_ON_CPU,
                  .changes = PLUGMC_CHANGED_POSITION, .follows = PLUGMC_CHANGED_POSITION,
                  .counts = counts, .driver = &driver, .sweep = sweep))
