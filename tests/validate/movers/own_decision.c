/* own_decision: displacements that the mover decides itself, with one of the faults that authors make: -DFAULT=NAME. With
 * FAULT=NONE it is right. Also NAN_PLACE and WRONG_INDEX of proposing movers, after a collection of such mistakes. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <plugmc/changes.h>
#include <plugmc/everything.h>

enum {
    NONE,
    COLD,           /* temperature off by 2 % */
    NO_TEMPERATURE, /* kT = 1 whatever the temperature is */
    LOPSIDED,       /* a step drawn by BIAS of its length to one side */
    NO_HARD_CORES,  /* forbidden moves are accepted */
    ONE_TERM,       /* only the first potential counts */
    NO_COUNTS,      /* accepted moves are not counted */
    ALL_COUNTED,    /* rejected moves are counted as accepted */
    ADAPTS,         /* the step grows in production */
    OWN_STEP,       /* the parameter for the step that is told */
    LONG_STEPS,     /* twice the step */
    REMEMBERS,      /* draws from a counter of calls */
    FIRST_OF_CALL,  /* draws by the number of the sweep in its call */
    LIBRARY_RANDOM, /* draws from the C library */
    ONE_STREAM,     /* the same random numbers in all walkers */
    SEEDED,         /* a seed of its own */
    FAR_AWAY,       /* now and then no number as position */
    OUT_OF_RANGE,   /* the number of a particle that is not there */
    CRASHES,
    LEAVES,   /* exit(0) */
    STAYS,    /* never returns */
    IDLE,     /* accepts nothing */
    TWICE,    /* accepted moves are counted twice */
    MEASURED, /* potentials that are only measured count */
    UPHILL,   /* moves uphill are accepted FACTOR times as often */
    KEEPS     /* positions of the beginning are kept for the first particle of each walker */
};

#ifndef FACTOR
#define FACTOR 1.1
#endif
#ifndef BIAS
#define BIAS 0.03
#endif

typedef struct own_decision {
    real step, target_acceptance;
    uint64_t calls;
    double grown; /* factor of the step */
    double kept[64][3];
} own_decision;

static uint32_t word_of(const plugmc_random *r, int k)
{
    return FAULT == LIBRARY_RANDOM ? (uint32_t)random() << 1 : r->word[k];
}

static double step_of(own_decision *m, const plugmc_host *host, int32_t w)
{
    const double told = plugmc_hamiltonian_of(host)->step(host->context, 0, w);
    if (FAULT == ADAPTS) m->grown *= 1 + 1e-5;
    return FAULT == OWN_STEP     ? (double)m->step
           : FAULT == LONG_STEPS ? 2 * told
           : FAULT == ADAPTS     ? told * m->grown
                                 : told;
}

static void draw(own_decision *m, const plugmc_host *host, uint64_t sweep, int32_t w,
                 uint32_t number, plugmc_random *to_move, plugmc_random *to_decide)
{
    const uint64_t when = FAULT == REMEMBERS ? m->calls++ : sweep;
    const uint32_t walker = FAULT == ONE_STREAM ? 0 : (uint32_t)w;
    plugmc_seed seed = host->seed;
    if (FAULT == SEEDED) memset(&seed, 7, sizeof seed);
    *to_move = plugmc_draw(seed, when, walker, number, PLUGMC_PURPOSE_TRIAL, 0);
    *to_decide = plugmc_draw(seed, when, walker, number, PLUGMC_PURPOSE_TRIAL, 1);
}

static plugmc_particle particle_of(const plugmc_system *system, const double *r, int64_t i)
{
    int32_t kind = 0;
    while (i >= system->first[kind + 1]) kind++;
    const plugmc_species *s = plugmc_species_at(system, kind);
    return (plugmc_particle){r[3 * i], r[3 * i + 1], r[3 * i + 2], s->charge, s->diameter, kind};
}

/* Of pair potentials that are only measured, when particle i of a walker with positions r moves. */
static double measured_change(const plugmc_system *system, const double *r, int32_t i,
                              const double to[3])
{
    const plugmc_particle moved = particle_of(system, r, i);
    double change = 0;
    for (int64_t j = 0; j < system->particles; j++) {
        plugmc_particle p = particle_of(system, r, j);
        const plugmc_particles other = {1, &p.x, &p.y, &p.z, &p.charge, &p.diameter, &p.species};
        for (int32_t t = 0; t < system->term_count && j != i; t++) {
            const plugmc_term *term = plugmc_term_at(system, t);
            const plugmc_pair *pair = term->plugin->potential->pair;
            if (!term->sampled && pair)
                pair->change(term->instance, &system->box, 1, &moved, to, &other, &change);
        }
    }
    return change;
}

static int accepts(const plugmc_host *host, const plugmc_changes *c, double u)
{
    const double kT = host->system->temperature;
    const double delta = FAULT == COLD             ? 0.98 * *c->delta
                         : FAULT == NO_TEMPERATURE ? *c->delta * kT
                         : FAULT == ONE_TERM       ? c->change[0] / kT
                                                   : *c->delta;
    if (FAULT == IDLE || (*c->forbidden && FAULT != NO_HARD_CORES)) return 0;
    return *c->forbidden || delta <= 0 || u < (FAULT == UPHILL ? FACTOR : 1) * exp(-delta);
}

static int break_down(void)
{
    if (FAULT == CRASHES) *(volatile int *)8 = 1;
    if (FAULT == LEAVES) exit(0);
    for (volatile int k = 0; FAULT == STAYS; k++) continue;
    return PLUGMC_OK;
}

static int try_one(own_decision *m, const plugmc_host *host, uint64_t sweep, int32_t w,
                   uint32_t number)
{
    const plugmc_hamiltonian *h = plugmc_hamiltonian_of(host);
    const int dimension = host->system->box.dimension;
    double position[1][3] = {{0}}, change[8], delta, *x;
    int32_t forbidden, i;
    int64_t taken;
    plugmc_random to_move, to_decide;
    draw(m, host, sweep, w, number, &to_move, &to_decide);
    i = (int32_t)plugmc_below(word_of(&to_move, 0), (uint32_t)host->system->particles);
    int code = plugmc_state_positions(host->state, PLUGMC_ON_HOST, PLUGMC_READ, &x);
    if (code) return code;
    const double *from = x + 3 * (w * host->system->particles + i);
    const double step = step_of(m, host, w);
    double *kept = m->kept[w % 64];
    if (FAULT == KEEPS && i == 0 && kept[0] == 0) memcpy(kept, from, sizeof m->kept[0]);
    if (FAULT == KEEPS && i == 0) from = kept;
    for (int d = 0; d < 3; d++) position[0][d] = from[d];
    for (int d = 0; d < dimension; d++) {
        const double u =
            plugmc_uniform_float(d < 2 ? word_of(&to_move, d + 1) : word_of(&to_decide, 2));
        position[0][d] += step * (2 * u - 1 + (FAULT == LOPSIDED ? BIAS : 0)) /
                          (FAULT == LOPSIDED ? 1 + BIAS : 1);
    }
    if (FAULT == FAR_AWAY)
        position[0][0] += 0 * log(plugmc_uniform_float(to_decide.word[3]) - 0.01);
    if (FAULT == OUT_OF_RANGE) i += 60;
    const plugmc_changes c = {.size = sizeof c,
                              .kind = PLUGMC_DISPLACED,
                              .first = w,
                              .walkers = 1,
                              .per_walker = 1,
                              .particle = &i,
                              .position = position,
                              .change = change,
                              .forbidden = &forbidden,
                              .delta = &delta};
    code = h->energies(host->context, &c);
    if (code) return code;
    if (FAULT == MEASURED)
        delta +=
            measured_change(host->system, x + 3 * w * host->system->particles, i, position[0]) /
            host->system->temperature;
    const double u = plugmc_uniform_double(word_of(&to_decide, 0), word_of(&to_decide, 1));
    const int taken_up = accepts(host, &c, u);
    taken = taken_up ? 0 : -1;
    h->count(host->context, 0, w, FAULT == NO_COUNTS ? 0 : FAULT == ALL_COUNTED ? 1 : taken_up);
    if (FAULT == TWICE && taken_up) h->count(host->context, 0, w, 1);
    return h->settle(host->context, &c, &taken);
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    own_decision *m = instance;
    int code = break_down();
    if (m->grown == 0) m->grown = 1;
    for (uint64_t s = 0; s < sweeps->n && !code; s++)
        for (int32_t w = 0; w < host->system->walkers; w++)
            for (int64_t i = 0; i < host->system->particles && !code; i++)
                code = try_one(m, host, FAULT == FIRST_OF_CALL ? s : sweeps->first + s, w,
                               (uint32_t)i);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(own_decision, step, "0.1", 1e-12, 1e12, "length", "half of the edge of a cube"),
    PLUGMC_REAL_KEY(own_decision, target_acceptance, "0", 0, 1, "", "to which the step is tuned"),
};

static const plugmc_move moves[] = {PLUGMC_DISPLACEMENT};

PLUGMC_PLUGIN(.name = "own_decision", .summary = "displacements in cubes", .reference = "",
              PLUGMC_KEYS(own_decision, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU,
                                .changes = PLUGMC_CHANGED_POSITION, .follows = 0, .sweep = sweep))
