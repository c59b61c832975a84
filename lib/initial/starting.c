/* The initial state, which all movers take. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sync.h"
#include "engine/not_a_number.h"
#include "engine/total_check.h"
#include "initial/initial.h"
#include "system/system.h"

/* Numbers of particles are those that have a place: a frame of a file says so, walker by walker. */
static int count_places(engine *engine, const double *positions)
{
    const plugmc_system *system = &engine->system;
    void *out;
    const int code = engine->current.state.face.array(
        &engine->current.state.face, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST, PLUGMC_WRITE, &out, NULL);
    int64_t *count = out;
    if (code) return context_exit_code(&engine_asking(engine)->context, code, "counting");
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t s = 0; s < system->species_count; s++) {
            int64_t *n = &count[w * system->species_count + s];
            *n = 0;
            for (int64_t i = system->first[s]; i < system->first[s + 1]; i++)
                *n += !isnan(positions[3 * (w * system->particles + i)]);
        }
    return 0;
}

/* The boxes of walkers where a file may say other ones than [box]; NULL: it may not. */
static int boxes_of_file(engine *engine, plugmc_box **boxes)
{
    void *out = NULL;
    *boxes = NULL;
    if (engine->config.initial.state != INITIAL_FILE ||
        !(engine->system.changes & PLUGMC_CHANGED_BOX))
        return 0;
    const int code =
        engine->current.state.face.array(&engine->current.state.face, PLUGMC_STATE_BOX,
                                         PLUGMC_ON_HOST, PLUGMC_READ | PLUGMC_WRITE, &out, NULL);
    *boxes = out;
    return context_exit_code(&engine_asking(engine)->context, code, "reading boxes");
}

/* Orientations of bodies; NULL: there are none. */
static int orientations_of(engine *engine, int access, plugmc_orientation **out)
{
    void *found = NULL;
    if (!engine->system.bodies) return 0;
    const int code =
        engine->current.state.face.array(&engine->current.state.face, PLUGMC_STATE_ORIENTATION,
                                         PLUGMC_ON_HOST, access, &found, NULL);
    *out = found;
    return context_exit_code(&engine_asking(engine)->context, code, "reading orientations");
}

/* In these every pair within range must have one image alone, as in [box]. */
static int check_boxes_of_file(engine *engine, const plugmc_box *boxes)
{
    for (int32_t w = 0; w < engine->system.walkers && boxes; w++)
        if (hamiltonian_finds_box_too_small(&engine->current.hamiltonian, &boxes[w]))
            return report_error(engine->report, EXIT_INPUT, engine->config.initial.file, 0,
                                "the box of walker %d is too small, with a volume of %g: the "
                                "range of a potential exceeds half of the box",
                                engine->processes.first_walker + w, boxes[w].volume);
    return 0;
}

int initial_begin(engine *engine)
{
    double *positions;
    plugmc_box *boxes;
    plugmc_orientation *orientations = NULL;
    int code = sync_write(engine, &positions);
    if (!code) code = orientations_of(engine, PLUGMC_WRITE, &orientations);
    if (!code) code = boxes_of_file(engine, &boxes);
    if (!code)
        code = initial_state(&engine->config, &engine->system, engine->processes.first_walker,
                             positions, orientations, boxes, engine->report);
    if (!code) code = check_boxes_of_file(engine, boxes);
    if (!code && engine->system.changes & PLUGMC_CHANGED_COUNT)
        code = count_places(engine, positions);
    if (code || !engine->mover_count) return code;
    code = check_initial_energy(engine, positions);
    if (!code && !engine->tests_plugin) code = check_totals(engine, positions);
    return code ? code : sync_load_all(engine);
}

static int check_given(engine *engine, double *positions)
{
    const plugmc_box *now;
    const size_t bytes = sizeof *now * (size_t)engine->system.walkers;
    plugmc_orientation *orientations = NULL;
    int code = sync_boxes(engine, &now);
    if (!code) code = orientations_of(engine, PLUGMC_READ, &orientations);
    plugmc_box *boxes = code ? NULL : malloc(bytes + 1);
    if (!code && !boxes)
        return report_error(engine->report, EXIT_MEMORY, NULL, 0, "no memory for boxes");
    if (!code)
        code = initial_check(&engine->config, &engine->system, engine->processes.first_walker,
                             positions, orientations, memcpy(boxes, now, bytes), engine->report);
    free(boxes);
    return code ? code : check_energy(engine, positions, "the positions that were given");
}

/* Sites would have to go together with an orientation. */
static int refuse_molecules(const engine *engine, const char *what)
{
    return report_error(engine->report, EXIT_INPUT, NULL, 0,
                        "%s of a run with rigid molecules cannot be replaced", what);
}

int initial_replace(engine *engine, const double *positions)
{
    if (engine->system.molecules) return refuse_molecules(engine, "positions");
    const size_t bytes =
        3 * sizeof(double) * (size_t)(engine->system.walkers * engine->system.particles);
    const double *now;
    double *to, *given = malloc(bytes + 1);
    if (!given)
        return report_error(engine->report, EXIT_MEMORY, NULL, 0, "no memory for positions");
    memcpy(given, positions, bytes);
    int code = sync_positions(engine, PLUGMC_ON_HOST, &now); /* nobody is ahead any more */
    if (!code) code = check_given(engine, given);
    if (!code) code = sync_write(engine, &to);
    if (!code) memcpy(to, given, bytes);
    if (!code && engine->system.changes & PLUGMC_CHANGED_COUNT) code = count_places(engine, given);
    free(given);
    return code;
}

/* ---- Other boxes ------------------------------------------------------------------------------- */

static int refuse_box(const engine *engine, int32_t w, const char *why)
{
    return report_error(engine->report, EXIT_INPUT, NULL, 0, "boxes: that of walker %d %s",
                        engine->processes.first_walker + w, why);
}

/* A rectangular one with other edges. */
static int change_box(const engine *engine, int32_t w, const double *vectors, plugmc_box *box)
{
    for (int k = 0; k < 9; k++) {
        const bool edge = k % 4 == 0, flat = box->dimension == 2 && k == 8;
        if (!isfinite(vectors[k]) || (edge && !(vectors[k] > 0)) || (!edge && vectors[k] != 0) ||
            (flat && vectors[k] != 1))
            return refuse_box(engine, w,
                              "has invalid vectors: edges must be positive, all other "
                              "elements 0, and in two dimensions the third edge 1");
    }
    for (int d = 0; d < 3; d++) box->length[d] = vectors[4 * d];
    box->volume = box->length[0] * box->length[1] * (box->dimension == 3 ? box->length[2] : 1);
    box_finish(box);
    if (hamiltonian_finds_box_too_small(&engine->current.hamiltonian, box))
        return refuse_box(engine, w, "is too small: the range of a potential exceeds half of it");
    return 0;
}

/* Boxes and places as they would be. */
static int try_boxes(engine *engine, const double *vectors, plugmc_box *boxes, double *positions)
{
    const plugmc_system *system = &engine->system;
    const plugmc_box *now;
    const double *at;
    plugmc_orientation *orientations = NULL;
    int code = sync_positions(engine, PLUGMC_ON_HOST, &at);
    if (!code) code = orientations_of(engine, PLUGMC_READ, &orientations);
    if (!code) code = sync_boxes(engine, &now);
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        boxes[w] = now[w];
        code = change_box(engine, w, vectors + 9 * w, &boxes[w]);
        for (int64_t i = 0; i < 3 * system->particles && !code; i++) {
            const int64_t k = 3 * w * system->particles + i;
            positions[k] = at[k] / now[w].length[i % 3] * boxes[w].length[i % 3];
        }
    }
    return code ? code
                : initial_check(&engine->config, system, engine->processes.first_walker, positions,
                                orientations, boxes, engine->report);
}

static int write_boxes(engine *engine, const plugmc_box *boxes, const double *positions)
{
    const plugmc_system *system = &engine->system;
    const plugmc_state *state = &engine->current.state.face;
    const size_t walkers = (size_t)system->walkers;
    void *box = NULL;
    double *at;
    int code = state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_WRITE, &box, NULL);
    code = context_exit_code(&engine_asking(engine)->context, code, "writing boxes");
    if (!code) code = sync_write(engine, &at);
    if (code) return code;
    memcpy(box, boxes, walkers * sizeof *boxes);
    memcpy(at, positions, 3 * walkers * (size_t)system->particles * sizeof *at);
    return 0;
}

int initial_replace_boxes(engine *engine, const double *vectors)
{
    const plugmc_system *system = &engine->system;
    const size_t walkers = (size_t)system->walkers;
    if (system->molecules) return refuse_molecules(engine, "boxes");
    if (!(system->changes & PLUGMC_CHANGED_BOX) || system->box.oblique)
        return report_error(engine->report, EXIT_INPUT, NULL, 0,
                            system->box.oblique ? "boxes: oblique ones cannot be replaced"
                                                : "boxes: no mover of this run changes them");
    plugmc_box *boxes = calloc(walkers, sizeof *boxes);
    double *positions = malloc(3 * walkers * (size_t)system->particles * sizeof *positions + 1);
    int code = boxes && positions
                   ? 0
                   : report_error(engine->report, EXIT_MEMORY, NULL, 0, "no memory for boxes");
    if (!code) code = try_boxes(engine, vectors, boxes, positions);
    if (!code) code = write_boxes(engine, boxes, positions);
    free(boxes), free(positions);
    return code;
}
