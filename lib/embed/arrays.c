/* The configuration as the host sees it, and what it puts in its place. */
#include <stdlib.h>
#include <string.h>

#include "border.h"
#include "engine/sync.h"
#include "initial/initial.h"
#include "parallel/team.h"

/* ---- Names ------------------------------------------------------------------------------------ */

enum { BOXES = STATE_ARRAYS, VOLUMES };

static const struct {
    const char *name;
    int what; /* PLUGMC_STATE_*, or what is made of one */
    int32_t type;
} arrays[] = {{"positions", PLUGMC_STATE_POSITION, PLUGMC_ENGINE_DOUBLE},
              {"boxes", BOXES, PLUGMC_ENGINE_DOUBLE},
              {"volumes", VOLUMES, PLUGMC_ENGINE_DOUBLE},
              {"counts", PLUGMC_STATE_COUNT, PLUGMC_ENGINE_INT64},
              {"species", PLUGMC_STATE_SPECIES, PLUGMC_ENGINE_INT32},
              {"multipliers", PLUGMC_STATE_MULTIPLIER, PLUGMC_ENGINE_DOUBLE},
              {"rungs", PLUGMC_STATE_RUNG, PLUGMC_ENGINE_INT32},
              {"molecules", PLUGMC_STATE_MOLECULE, PLUGMC_ENGINE_INT32},
              {"weights", PLUGMC_STATE_WEIGHT, PLUGMC_ENGINE_DOUBLE}};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

const char *plugmc_engine_array_name(int32_t k)
{
    return k >= 0 && k < ARRAYS ? arrays[k].name : NULL;
}

const char *plugmc_engine_species(const plugmc_engine *e, int32_t k)
{
    const bool there = e && e->condition == IS_OPEN && k >= 0;
    if (!there || k >= e->session.engine.system.species_count) return NULL;
    return plugmc_species_at(&e->session.engine.system, k)->name;
}

const char *plugmc_engine_term(const plugmc_engine *e, int32_t k)
{
    const bool there = e && e->condition == IS_OPEN && k >= 0;
    if (!there || k >= e->session.engine.system.term_count) return NULL;
    return plugmc_term_at(&e->session.engine.system, k)->label;
}

static int find_array(plugmc_engine *e, const char *name)
{
    const char *names[ARRAYS], *near;
    for (int k = 0; k < ARRAYS; k++) {
        names[k] = arrays[k].name;
        if (name && !strcmp(name, arrays[k].name)) return k;
    }
    near = name ? nearest_name(name, names, ARRAYS) : NULL;
    report_error(&e->report, EXIT_USAGE, NULL, 0, "there is no array '%s'%s%s%s",
                 name ? excerpt(name).text : "", near ? "; did you mean '" : "", near ? near : "",
                 near ? "'?" : "");
    return -1;
}

/* ---- Reading ---------------------------------------------------------------------------------- */

static int find_boxes(plugmc_engine *e, bool volumes, const void **out)
{
    const plugmc_box *boxes;
    const size_t walkers = (size_t)e->session.engine.system.walkers;
    const int code = sync_boxes(&e->session.engine, &boxes);
    if (code) return code;
    if (!e->boxes) e->boxes = malloc(9 * walkers * sizeof *e->boxes);
    if (!e->volumes) e->volumes = malloc(walkers * sizeof *e->volumes);
    if (!e->boxes || !e->volumes)
        return report_error(&e->report, EXIT_MEMORY, NULL, 0, "no memory for boxes");
    for (size_t w = 0; w < walkers; w++) {
        e->volumes[w] = boxes[w].volume;
        for (int k = 0; k < 9; k++)
            e->boxes[9 * w + (size_t)k] = boxes[w].domain == PLUGMC_DOMAIN_PERIODIC
                                              ? boxes[w].vector[k / 3][k % 3]
                                          : k % 4 ? 0
                                                  : boxes[w].length[k / 4];
    }
    *out = volumes ? e->volumes : e->boxes;
    return 0;
}

static int read_state(plugmc_engine *e, int what, const void **out)
{
    engine *engine = &e->session.engine;
    void *data = NULL;
    if (what == PLUGMC_STATE_POSITION)
        return sync_positions(engine, PLUGMC_ON_HOST, (const double **)out);
    const int code = engine->current.state.face.array(&engine->current.state.face, what,
                                                      PLUGMC_ON_HOST, PLUGMC_READ, &data, NULL);
    *out = data;
    return context_exit_code(&engine_asking(engine)->context, code, "reading the configuration");
}

static void set_shape(plugmc_engine_array *out, int what, const engine *engine)
{
    const plugmc_system *system = &engine->system;
    const int64_t second = what == PLUGMC_STATE_COUNT        ? system->species_count
                           : what == PLUGMC_STATE_MULTIPLIER ? engine->ladder.width
                           : what == BOXES                   ? 3
                                                             : system->particles;
    const bool flat = what == VOLUMES || what == PLUGMC_STATE_RUNG || what == PLUGMC_STATE_WEIGHT;
    out->rank = flat ? 1 : what == BOXES || what == PLUGMC_STATE_POSITION ? 3 : 2;
    out->shape[0] = system->walkers;
    out->shape[1] = flat ? 0 : second;
    out->shape[2] = out->rank > 2 ? 3 : 0;
    out->shape[3] = 0;
}

typedef struct question {
    const char *name;
    plugmc_engine_array *out;
} question;

static int get(plugmc_engine *e, void *argument)
{
    const question *q = argument;
    const int k = find_array(e, q->name);
    if (k < 0) return EXIT_USAGE;
    const int what = arrays[k].what;
    *q->out = (plugmc_engine_array){.type = arrays[k].type};
    set_shape(q->out, what, &e->session.engine);
    return what >= STATE_ARRAYS ? find_boxes(e, what == VOLUMES, &q->out->data)
                                : read_state(e, what, &q->out->data);
}

int plugmc_engine_get(plugmc_engine *e, const char *name, plugmc_engine_array *out)
{
    question q = {name, out};
    if (e && !out) return border_say(e, EXIT_USAGE, "an array has no place to go");
    return border_cross(e, OPEN, get, &q);
}

/* ---- Writing ---------------------------------------------------------------------------------- */

typedef struct replacement {
    const char *name;
    const double *data;
    int64_t numbers;
} replacement;

static int replace(plugmc_engine *e, void *argument)
{
    const replacement *r = argument;
    engine *engine = &e->session.engine;
    const plugmc_system *system = &engine->system;
    const int k = find_array(e, r->name);
    if (k < 0) return EXIT_USAGE;
    const bool boxes = arrays[k].what == BOXES;
    const int64_t wanted = system->walkers * (boxes ? 9 : 3 * system->particles);
    if (!boxes && arrays[k].what != PLUGMC_STATE_POSITION)
        return report_error(&e->report, EXIT_USAGE, NULL, 0,
                            "'%s' cannot be replaced: positions and boxes can", r->name);
    if (!r->data || r->numbers != wanted)
        return report_error(&e->report, EXIT_USAGE, NULL, 0,
                            "%s: %lld numbers are given, and the run has %lld", r->name,
                            (long long)(r->data ? r->numbers : 0), (long long)wanted);
    return team_agree(boxes ? initial_replace_boxes(engine, r->data)
                            : initial_replace(engine, r->data));
}

int plugmc_engine_replace(plugmc_engine *e, const char *name, const double *data, int64_t numbers)
{
    replacement r = {name, data, numbers};
    return border_cross(e, OPEN, replace, &r);
}
