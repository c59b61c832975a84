/* kept_keeper: one particle after the other, in a configuration of its own.
 *
 * A mover with take and give as it was written for version 2.0 of the interface: all pairs, in double, one
 * box for ever. It draws as the mover serial does in the order `sequential`, so their chains are the same.
 */
#include <math.h>
#include <plugmc/driver.h>

typedef struct keeper {
    real step; /* length */
    int64_t n;
    double *x, *y, *z; /* [walkers][n] */
    double *charge, *diameter;
    int32_t *species; /* [n] */
    double *energy;   /* [walkers]: over kT, less that of the beginning */
    plugmc_counts counts;
} keeper;

static int take(void *instance, const plugmc_host *host, const plugmc_state *state,
                uint32_t changed)
{
    keeper *k = instance;
    double *r;
    const int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ, &r);
    (void)changed;
    for (int64_t i = 0; i < k->n * host->system->walkers && !code; i++) {
        k->x[i] = r[3 * i];
        k->y[i] = r[3 * i + 1];
        k->z[i] = r[3 * i + 2];
    }
    return code;
}

static int give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    const keeper *k = instance;
    double *r;
    const int code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_WRITE, &r);
    for (int64_t i = 0; i < k->n * host->system->walkers && !code; i++) {
        r[3 * i] = k->x[i];
        r[3 * i + 1] = k->y[i];
        r[3 * i + 2] = k->z[i];
    }
    return code;
}

/* Particles begin ... end - 1 of those from `base` on. */
static plugmc_particles slice(const keeper *k, int64_t base, int64_t begin, int64_t end)
{
    return (plugmc_particles){end - begin,         &k->x[base + begin], &k->y[base + begin],
                              &k->z[base + begin], &k->charge[begin],   &k->diameter[begin],
                              &k->species[begin]};
}

/* Of -ln p when particle i of a walker goes to r; returns how many overlap there. */
static int64_t growth_of(const keeper *k, const plugmc_system *system, int64_t base, int64_t i,
                         const double r[3], double *growth)
{
    const plugmc_particle probe = {k->x[base + i], k->y[base + i], k->z[base + i],
                                   k->charge[i],   k->diameter[i], k->species[i]};
    const plugmc_particles others[2] = {slice(k, base, 0, i), slice(k, base, i + 1, k->n)};
    double change = 0;
    int64_t overlaps = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        for (int part = 0; part < 2 && term->sampled; part++)
            overlaps += term->plugin->potential->pair->change(term->instance, &system->box, 1,
                                                              &probe, r, &others[part], &change);
    }
    *growth = change / system->temperature;
    return overlaps;
}

static int try_particle(keeper *k, const plugmc_host *host, uint64_t sweep, int32_t w, int64_t i)
{
    const plugmc_system *system = host->system;
    const int64_t base = w * k->n;
    double v[3], growth, r[3] = {k->x[base + i], k->y[base + i], k->z[base + i]};
    plugmc_draw_in_ball(host->seed, sweep, (uint32_t)w, (uint32_t)i, system->box.dimension, v);
    for (int d = 0; d < system->box.dimension; d++) r[d] += (double)k->step * v[d];
    plugmc_wrap(&system->box, r);
    k->counts.trials++;
    if (growth_of(k, system, base, i, r, &growth)) return PLUGMC_OK;
    if (isnan(growth)) {
        const plugmc_not_a_number lost = {
            .size = sizeof lost, .walker = w, .particle = i, .sweep = sweep, .trial = r};
        return host->not_a_number(host->context, &lost);
    }
    const plugmc_random random =
        plugmc_draw(host->seed, sweep, (uint32_t)w, (uint32_t)i, PLUGMC_PURPOSE_ACCEPT, 0);
    const double u = plugmc_uniform_double(random.word[0], random.word[1]);
    if (growth > 0 && u >= exp(-growth)) return PLUGMC_OK;
    k->counts.accepted++;
    k->energy[w] += growth;
    k->x[base + i] = r[0];
    k->y[base + i] = r[1];
    k->z[base + i] = r[2];
    return PLUGMC_OK;
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    keeper *k = instance;
    int code = PLUGMC_OK;
    k->step = (real)sweeps->step[0];
    for (uint64_t s = sweeps->first; s < sweeps->first + sweeps->n; s++) {
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        for (int32_t w = 0; w < host->system->walkers; w++)
            for (int64_t i = 0; i < k->n && !code; i++) code = try_particle(k, host, s, w, i);
    }
    return code;
}

static int counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    keeper *k = instance;
    (void)host;
    *out = k->counts;
    if (clear) k->counts = (plugmc_counts){0};
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    keeper *k = instance;
    const plugmc_system *system = host->system;
    k->n = system->particles;
    const size_t one = (size_t)k->n * sizeof(double), all = one * (size_t)system->walkers;
    k->x = host->allocate(host->context, all);
    k->y = host->allocate(host->context, all);
    k->z = host->allocate(host->context, all);
    k->charge = host->allocate(host->context, one);
    k->diameter = host->allocate(host->context, one);
    k->species = host->allocate(host->context, one);
    k->energy = host->allocate(host->context, (size_t)system->walkers * sizeof(double));
    if (!k->x || !k->y || !k->z || !k->charge || !k->diameter || !k->species || !k->energy)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for particles");
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            k->charge[i] = plugmc_species_at(system, s)->charge;
            k->diameter[i] = plugmc_species_at(system, s)->diameter;
            k->species[i] = s;
        }
    return PLUGMC_OK;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    keeper *k = instance;
    return a->bytes(a, "energy", k->energy, (size_t)host->system->walkers * sizeof *k->energy);
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(keeper, step, "0.2", 1e-12, 1e12, "length", "largest displacement"),
};

static const plugmc_move moves[] = {{.name = "displacement",
                                     .doc = "one particle goes elsewhere",
                                     .step_unit = "length",
                                     .step_key = "step"}};

static const plugmc_driver driver = {.size = sizeof driver, .load = take, .store = give};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_USES_PAIR | PLUGMC_NEEDS_PERIODIC | PLUGMC_RUNS_ON_CPU,
    .changes = PLUGMC_CHANGED_POSITION,
    .follows = PLUGMC_CHANGED_POSITION,
    .sweep = sweep,
    .driver = &driver,
    .moves = moves,
    .move_count = PLUGMC_COUNT(moves),
    .move_size = sizeof(plugmc_move),
    .counts = counts,
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "kept_keeper",
              .summary = "one particle after the other, in a configuration of its own",
              .reference = "", .instance_size = sizeof(keeper), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .mover = &mover, .prepare = prepare,
              .archive = archive)
