/* A mover alone: a system and a host made by hand around plugins that are opened from the folder
 * TEST_PLUGINS. There is no INI file, no loop and no output, so that a test sees exactly what the
 * callbacks of a mover do. Include after testing.h. */
#ifndef PLUGMC_TEST_MOVERS_H
#define PLUGMC_TEST_MOVERS_H

#include "boxes.h"
#include "energy/hamiltonian.h"
#include "engine/moves.h"
#include "open_plugin.h"
#include "plugin/descriptor.h"
#include "recorder.h"
#include "rehearsing.h"

enum { BENCH_TERMS = 4, BENCH_SPECIES = 4, BENCH_RUNGS = 8 };

typedef struct bench {
    RECORDER; /* parameters of the terms among its blocks */
    plugmc_system system;
    plugmc_species species[BENCH_SPECIES];
    int64_t first[BENCH_SPECIES + 1];
    plugmc_term terms[BENCH_TERMS];
    plugmc_host host;
    struct by_core *cores; /* of all its movers */
} bench;

/* A mover with its parameters. */
typedef struct test_mover {
    const plugmc_plugin *plugin;
    const plugmc_mover *calls;
    void *instance;
    struct by_core *core;      /* of one without a configuration of its own; else NULL */
    double steps[BENCH_RUNGS]; /* of its first kind of move, on each rung */
} test_mover;

/* What the core does for such a mover. */
typedef struct by_core {
    hamiltonian hamiltonian;
    plugmc_host host; /* of its messages */
    plugmc_counts made;
    struct by_core *next; /* of the bench */
} by_core;

/* The mover that sweeps at the moment. */
static test_mover *served;

static inline int bench_trials(plugmc_context *context, const plugmc_proposal *proposal,
                               uint64_t first, uint64_t n)
{
    plugmc_host host = served->core->host;
    (void)context;
    const plugmc_mover *m = served->calls;
    hamiltonian *h = &served->core->hamiltonian;
    for (int32_t w = 0; w < h->system->walkers; w++) h->walkers[w].step = served->steps[0];
    const int32_t moves = served->calls->move_count;
    const int code = hamiltonian_trials(h, &host, m, proposal, first, n);
    for (int32_t w = 0; w < h->system->walkers; w++)
        for (int32_t k = 0; k < moves; k++) {
            plugmc_counts *own = &h->walkers[w].counts[k];
            served->core->made.trials += own->trials;
            served->core->made.accepted += own->accepted;
            *own = (plugmc_counts){0, 0};
        }
    return code;
}

/* None: the movers that ask for some are tested in runs. */
static inline const void *bench_extension(plugmc_context *context, const char *name)
{
    (void)context, (void)name;
    return NULL;
}

/* Positions without cell lists. */
static inline int bench_view(plugmc_context *context, const double *positions, int32_t on_device,
                             plugmc_view *out)
{
    const bench *b = (const bench *)context;
    assert_int_equal(out->size, sizeof *out);
    *out = (plugmc_view){.size = sizeof *out,
                         .positions = positions,
                         .on_device = on_device,
                         .box = boxes_of(&b->system),
                         .count = numbers_of(&b->system),
                         .device_box = on_device ? device_boxes_of(&b->host) : NULL};
    return PLUGMC_OK;
}

/* ---- Plugins and their parameters ------------------------------------------------------------ */

/* Number of a word in "one|other|third", or -1. */
static inline int32_t number_of_choice(const char *choices, const char *word)
{
    size_t length = strlen(word);
    for (int32_t i = 0; choices; i++) {
        int ends = !strncmp(choices, word, length) && (choices[length] == '|' || !choices[length]);
        if (ends) return i;
        choices = strchr(choices, '|');
        if (choices) choices++;
    }
    return -1;
}

static inline void set_parameter(const plugmc_plugin *plugin, void *instance,
                                 const plugmc_parameter *p, const char *text)
{
    void *field = (char *)instance + p->offset;
    if (p->type == PLUGMC_TYPE_REAL) {
        double value = strtod(text, NULL);
        if (plugin->real_size == sizeof(float))
            *(float *)field = (float)value;
        else
            *(double *)field = value;
    } else if (p->type == PLUGMC_TYPE_INTEGER) {
        *(int64_t *)field = strtoll(text, NULL, 10);
    } else if (p->type == PLUGMC_TYPE_FLAG) {
        *(int32_t *)field = !strcmp(text, "yes");
    } else if (p->type == PLUGMC_TYPE_CHOICE) {
        *(int32_t *)field = number_of_choice(p->choices, text);
        if (*(int32_t *)field < 0) fail_msg("%s: no choice '%s'", p->name, text);
    } else {
        *(const char **)field = text;
    }
}

/* The defaults, then the settings of a text like "trials=4 step=0.1"; no texts among them. */
static inline void set_parameters(const plugmc_plugin *plugin, void *instance, const char *settings)
{
    const plugmc_parameter *p = plugin->parameters, *end = p + plugin->parameter_count;
    for (; p < end; p++)
        if (!p->derived && p->fallback) set_parameter(plugin, instance, p, p->fallback);
    char copy[512], *rest = copy;
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *equals = strchr(word, '=');
        if (!equals) fail_msg("'%s' is not a setting", word);
        *equals = 0;
        for (p = plugin->parameters; p < end && strcmp(p->name, word); p++) continue;
        if (p == end || p->type == PLUGMC_TYPE_TEXT || p->type == PLUGMC_TYPE_FILE)
            fail_msg("plugin '%s' has no parameter '%s' that tests can set", plugin->name, word);
        set_parameter(plugin, instance, p, equals + 1);
    }
}

/* ---- The system ------------------------------------------------------------------------------ */

static inline int bench_stopping(plugmc_context *context)
{
    (void)context;
    return 0;
}

/* A periodic box. The bench must not move afterwards. */
static inline void bench_begin(bench *b, int dimension, const double length[3], int walkers,
                               uint64_t seed)
{
    memset(b, 0, sizeof *b);
    plugmc_box box = {.domain = PLUGMC_DOMAIN_PERIODIC, .dimension = dimension, .volume = 1};
    for (int a = 0; a < 3; a++) {
        box.length[a] = a < dimension ? length[a] : 1;
        box.volume *= box.length[a];
    }
    b->system = (plugmc_system){.size = sizeof b->system,
                                .box = box,
                                .walkers = walkers,
                                .species = b->species,
                                .species_size = sizeof(plugmc_species),
                                .term_size = sizeof(plugmc_term),
                                .first = b->first,
                                .terms = b->terms,
                                .seed = {seed},
                                .threads = 1,
                                .rungs = 1,
                                .multipliers = 1,
                                .temperature = 1};
    b->host = (plugmc_host){.size = sizeof b->host,
                            .abi_major = PLUGMC_ABI_MAJOR,
                            .abi_minor = PLUGMC_ABI_MINOR,
                            .every = 1,
                            .context = &b->context,
                            .fail = bench_fail,
                            .warn = bench_warn,
                            .allocate = bench_allocate,
                            .system = &b->system,
                            .seed = {seed},
                            .view = bench_view,
                            .rehearse = bench_rehearse,
                            .stopping = bench_stopping,
                            .not_a_number = bench_not_a_number,
                            .extension = bench_extension,
                            .trials = bench_trials};
}

static inline void bench_species(bench *b, const char *name, int64_t count, double diameter,
                                 double charge)
{
    int s = b->system.species_count++;
    b->species[s] = (plugmc_species){name, count, diameter, charge};
    b->system.particles += count;
    b->first[s + 1] = b->system.particles;
}

/* Adds a sampled term; the species must be known. */
static inline void bench_potential(bench *b, const char *name, const char *settings)
{
    const plugmc_plugin *plugin = open_plugin(name);
    plugmc_term *term = &b->terms[b->system.term_count++];
    *term = (plugmc_term){name,
                          plugin,
                          bench_allocate(b->host.context, plugin->instance_size),
                          plugin->single,
                          bench_allocate(b->host.context, plugin->single->instance_size),
                          1};
    set_parameters(plugin, term->instance, settings);
    set_parameters(plugin->single, term->instance_single, settings);
    const plugmc_pair *pair = plugin->potential->pair;
    b->system.range = fmax(b->system.range, pair->range(term->instance));
    for (int i = 0; i < b->system.species_count; i++)
        for (int j = 0; j < b->system.species_count; j++) {
            plugmc_particle pi = {.diameter = b->species[i].diameter, .species = i};
            plugmc_particle pj = {.diameter = b->species[j].diameter, .species = j};
            b->system.range = fmax(b->system.range, pair->contact(term->instance, &pi, &pj));
        }
}

/* As the core does it: calls prepare and, if the mover has no configuration of its own, makes one. */
static inline int mover_prepare(bench *b, test_mover *mover)
{
    for (int r = 0; r < BENCH_RUNGS && mover->calls->move_count; r++)
        mover->steps[r] =
            parameter_real(mover->plugin, mover->instance, mover->calls->moves[0].step_key);
    const int code =
        mover->plugin->prepare ? mover->plugin->prepare(mover->instance, &b->host) : PLUGMC_OK;
    mover->core = NULL;
    if (code || mover->calls->driver) return code;
    mover->core = bench_allocate(b->host.context, sizeof *mover->core);
    mover->core->host = b->host;
    mover->core->next = b->cores;
    b->cores = mover->core;
    b->host.trials = bench_trials;
    return hamiltonian_open(&mover->core->hamiltonian, &b->host);
}

/* A mover with its parameters, configured and prepared; returns the code of that. */
static inline int mover_try(bench *b, test_mover *out, const char *name, const char *settings)
{
    *out = (test_mover){.plugin = open_plugin(name)};
    out->calls = out->plugin->mover;
    out->instance = bench_allocate(b->host.context, out->plugin->instance_size);
    set_parameters(out->plugin, out->instance, settings);
    int code = out->plugin->configure ? out->plugin->configure(out->instance, &b->host) : PLUGMC_OK;
    return code ? code : mover_prepare(b, out);
}

/* The test ends here if a call fails, with its message. */
#define bench_expect(b, call)                                                                      \
    do {                                                                                           \
        if ((call) != PLUGMC_OK) fail_msg("%s: %s", #call, (b)->message);                          \
    } while (0)

static inline test_mover mover_new(bench *b, const char *name, const char *settings)
{
    test_mover mover = {0};
    bench_expect(b, mover_try(b, &mover, name, settings));
    return mover;
}

/* What a state consists of: positions on the side where they are, boxes on the host. */
typedef struct lent {
    double *positions;
    plugmc_box *boxes; /* [walkers] */
    int64_t *counts;   /* [walkers][species] */
} lent;

static inline int lent_array(const plugmc_state *state, int what, int side, int access, void **out,
                             size_t *row)
{
    const lent *l = state->core;
    (void)side, (void)access, (void)row;
    assert_true(what == PLUGMC_STATE_POSITION || what == PLUGMC_STATE_BOX ||
                what == PLUGMC_STATE_COUNT);
    *out = what == PLUGMC_STATE_POSITION ? (void *)l->positions
           : what == PLUGMC_STATE_COUNT  ? (void *)l->counts
                                         : (void *)l->boxes;
    return PLUGMC_OK;
}

/* positions [walkers][particles][3], on the device if the mover runs there. Takes them, or gives them
 * back. Returns the code. */
static inline int mover_borrows(const test_mover *mover, const plugmc_host *host, double *positions,
                                int giving)
{
    const plugmc_system *system = host->system;
    const int32_t species = system->species_count;
    lent l = {positions, calloc((size_t)system->walkers, sizeof(plugmc_box)),
              calloc((size_t)(system->walkers * species), sizeof(int64_t))};
    for (int32_t w = 0; w < system->walkers; w++) {
        l.boxes[w] = system->box;
        for (int32_t k = 0; k < species; k++)
            l.counts[w * species + k] = plugmc_species_at(system, k)->count;
    }
    const plugmc_state state = {.size = sizeof state,
                                .walkers = system->walkers,
                                .capacity = system->particles,
                                .array = lent_array,
                                .core = &l};
    int code;
    for (int32_t w = 0; giving && mover->core && w < system->walkers; w++)
        mover->core->hamiltonian.walkers[w].moved = true; /* everything is to be given */
    if (giving)
        code = mover->core ? hamiltonian_store(&mover->core->hamiltonian, &state)
                           : mover->calls->driver->store(mover->instance, host, &state);
    else
        code = mover->core ? hamiltonian_load(&mover->core->hamiltonian, host, &state,
                                              PLUGMC_CHANGED_POSITION)
                           : mover->calls->driver->load(mover->instance, host, &state,
                                                        PLUGMC_CHANGED_POSITION);
    if (!giving && !code && mover->core) /* the state is gone when this returns */
        code = hamiltonian_refresh(&mover->core->hamiltonian, host);
    free(l.boxes);
    free(l.counts);
    return code;
}

static inline int mover_take(const test_mover *mover, const plugmc_host *host,
                             const double *positions)
{
    return mover_borrows(mover, host, (double *)positions, 0);
}

static inline int mover_give(const test_mover *mover, const plugmc_host *host, double *positions)
{
    return mover_borrows(mover, host, positions, 1);
}

/* As the core calls it; returns the code. */
static inline int mover_sweeps(test_mover *mover, const plugmc_host *host, uint64_t first,
                               uint64_t n)
{
    served = mover;
    const plugmc_sweeps sweeps = {sizeof sweeps, first, n, mover->steps};
    return mover->calls->sweep(mover->instance, host, &sweeps);
}

/* As the core tunes it: what of a step is possible. */
static inline void mover_set_step(const bench *b, test_mover *mover, double step)
{
    for (int32_t r = 0; r < b->system.rungs; r++)
        mover->steps[r] =
            moves_possible(mover->calls->moves, mover->instance, &b->system.box, r, step);
}

/* Counts of the only kind of move. Returns the code. */
static inline int mover_counts(test_mover *mover, const plugmc_host *host, plugmc_counts *out,
                               int clear)
{
    if (!mover->core) return mover->calls->counts(mover->instance, host, out, clear);
    *out = mover->core->made;
    if (clear) mover->core->made = (plugmc_counts){0, 0};
    return PLUGMC_OK;
}

static inline void mover_load(bench *b, test_mover *mover, const double *positions)
{
    bench_expect(b, mover_take(mover, &b->host, positions));
}

static inline void mover_sweep(bench *b, test_mover *mover, uint64_t first, uint64_t n)
{
    bench_expect(b, mover_sweeps(mover, &b->host, first, n));
}

/* positions [walkers][particles][3]; a particle that the mover forgets is NaN. */
static inline void mover_store(bench *b, test_mover *mover, double *positions)
{
    int64_t n = 3 * b->system.particles * b->system.walkers;
    for (int64_t i = 0; i < n; i++) positions[i] = NAN;
    bench_expect(b, mover_give(mover, &b->host, positions));
    for (int64_t i = 0; i < n; i++)
        if (isnan(positions[i])) fail_msg("particle %lld was lost", (long long)(i / 3));
}

static inline void mover_end(test_mover *mover)
{
    if (mover->plugin->release) mover->plugin->release(mover->instance);
    if (mover->core) hamiltonian_close(&mover->core->hamiltonian);
}

static inline void bench_end(bench *b)
{
    for (by_core *core = b->cores; core; core = core->next) hamiltonian_close(&core->hamiltonian);
    recorder_free((recorder *)b);
}

/* [walkers][particles][3], to be freed. */
static inline double *bench_positions(const bench *b)
{
    return (double *)calloc((size_t)(3 * b->system.particles * b->system.walkers), sizeof(double));
}

/* Smallest squared distance over squared contact distance of any two particles, in double
 * precision; contacts are means of the diameters. */
static inline double closest_pair(const bench *b, const double *positions)
{
    const plugmc_system *s = &b->system;
    double closest = INFINITY;
    for (int w = 0; w < s->walkers; w++)
        for (int64_t i = 0; i < s->particles; i++)
            for (int64_t j = 0; j < i; j++) {
                const double *p = positions + 3 * (w * s->particles + i);
                const double *q = positions + 3 * (w * s->particles + j);
                int ki = 0, kj = 0;
                while (i >= s->first[ki + 1]) ki++;
                while (j >= s->first[kj + 1]) kj++;
                double contact = 0.5 * (s->species[ki].diameter + s->species[kj].diameter), r2 = 0;
                for (int a = 0; a < s->box.dimension; a++) {
                    double d = p[a] - q[a];
                    d -= s->box.length[a] * rint(d / s->box.length[a]);
                    r2 += d * d;
                }
                closest = fmin(closest, r2 / (contact * contact));
            }
    return closest;
}

/* ---- An archive in memory -------------------------------------------------------------------- */

typedef struct test_archive {
    plugmc_archive base;
    struct {
        char name[32];
        void *data;
        size_t bytes;
    } blob[16];
    int blobs;
    double step;
    double *
        positions; /* [walkers][particles][3] at that moment; NULL: of a mover on a GPU, or without a driver */
} test_archive;

static inline int test_archive_has(plugmc_archive *base, const char *name)
{
    const test_archive *a = (test_archive *)base;
    for (int i = 0; i < a->blobs; i++)
        if (!strcmp(a->blob[i].name, name)) return 1;
    return 0;
}

static inline int test_archive_bytes(plugmc_archive *base, const char *name, void *data,
                                     size_t bytes)
{
    test_archive *a = (test_archive *)base;
    if (!base->reading) {
        snprintf(a->blob[a->blobs].name, sizeof a->blob[0].name, "%s", name);
        a->blob[a->blobs].data = malloc(bytes);
        memcpy(a->blob[a->blobs].data, data, bytes);
        a->blob[a->blobs++].bytes = bytes;
        return PLUGMC_OK;
    }
    for (int i = 0; i < a->blobs; i++)
        if (!strcmp(a->blob[i].name, name) && a->blob[i].bytes == bytes) {
            memcpy(data, a->blob[i].data, bytes);
            return PLUGMC_OK;
        }
    return PLUGMC_ERROR_STATE;
}

static inline int test_archive_rows(plugmc_archive *base, const char *name, void *data, size_t row,
                                    int64_t first, int64_t n, int64_t all)
{
    if (!base->reading && first == 0) test_archive_bytes(base, name, data, 0);
    test_archive *a = (test_archive *)base;
    for (int i = 0; i < a->blobs; i++) {
        if (strcmp(a->blob[i].name, name)) continue;
        const size_t whole = row * (size_t)all;
        char *at;
        if (!base->reading && first == 0) {
            free(a->blob[i].data);
            a->blob[i].data = calloc(whole, 1);
            a->blob[i].bytes = whole;
        }
        if (a->blob[i].bytes != whole) return PLUGMC_ERROR_STATE;
        at = (char *)a->blob[i].data + row * (size_t)first;
        memcpy(base->reading ? data : at, base->reading ? at : data, row * (size_t)n);
        return PLUGMC_OK;
    }
    return PLUGMC_ERROR_STATE;
}

static inline test_archive archive_begin(const bench *b)
{
    const int32_t walkers = b->system.walkers;
    return (test_archive){.base = {.size = sizeof(plugmc_archive),
                                   .bytes = test_archive_bytes,
                                   .rows = test_archive_rows,
                                   .has = test_archive_has,
                                   .walkers = walkers,
                                   .all_walkers = walkers}};
}

/* As the core does it: positions, what the mover archives, and its step. */
static inline void mover_save(bench *b, test_mover *mover, test_archive *a)
{
    *a = archive_begin(b);
    if (mover->plugin->archive && mover->calls->driver && !b->host.gpu) {
        a->positions = bench_positions(b);
        bench_expect(b, mover_give(mover, &b->host, a->positions));
    }
    if (mover->plugin->archive)
        bench_expect(b, mover->plugin->archive(mover->instance, &b->host, &a->base));
    a->step = mover->steps[0];
}

static inline void mover_restore(bench *b, test_mover *mover, test_archive *a)
{
    lent l = {.positions = a->positions};
    const plugmc_state state = {.size = sizeof state,
                                .walkers = b->system.walkers,
                                .capacity = b->system.particles,
                                .array = lent_array,
                                .core = &l};
    a->base.reading = 1;
    a->base.state = &state;
    if (a->positions) mover_load(b, mover, a->positions);
    if (mover->plugin->archive)
        bench_expect(b, mover->plugin->archive(mover->instance, &b->host, &a->base));
    a->base.state = NULL;
    for (int32_t r = 0; r < b->system.rungs; r++) mover->steps[r] = a->step;
}

static inline void archive_end(test_archive *a)
{
    for (int i = 0; i < a->blobs; i++) free(a->blob[i].data);
    free(a->positions);
}
#endif
