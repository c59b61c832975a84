/* A few particles are displaced by a tenth of their mean distance, in the initial state, one walker after the
 * other:
 *
 *   change    is the difference of two energies of whole configurations
 *   settle    of a move that is not taken leaves things as they are: the same change again; after one that
 *             is taken the way back has the opposite change
 *             A change is infinite where an energy of the whole configuration is, and a number elsewhere
 *   forces    are the differences of energies; a potential may give none
 *   virials   are given where somebody asks for them (total_forces.h)
 *
 * The energy of a configuration takes about as long as a sweep of trial moves. Some of them are asked for
 * at least, of few walkers where they are slow, and more as long as TOTAL_BUDGET lasts. */
#include "engine/total_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/sentence.h"
#include "base/stop.h"
#include "engine/refusals.h"
#include "engine/total_examination.h"
#include "engine/total_forces.h"

enum { WHY = 768 };

/* ---- Moves ----------------------------------------------------------------------------------- */

static int ask_change(examination *x, int32_t w, int64_t i, const double to[3], double *change)
{
    *change = 0;
    crash_calling_potential(x->term->label, "change");
    return x->total->change(x->term->instance, w, i, to, change);
}

static int settle(examination *x, int32_t w, int taken)
{
    crash_calling_potential(x->term->label, "settle");
    return x->total->settle(x->term->instance, w, taken);
}

static int start(examination *x)
{
    const plugmc_host *host = x->term->host;
    plugmc_view view = {.size = sizeof view};
    const int code = host->view(host->context, x->positions, 0, &view);
    if (code) return code;
    view.box = x->boxes;
    view.count = x->counts;
    view.walkers = x->walkers;
    crash_calling_potential(x->term->label, "start");
    return x->total->start(x->term->instance, &view);
}

/* Beyond it a double is as good as infinite. */
#define HUGE_ENERGY 1e30

/* What two numbers may differ by that should be one: the totals of meshes are not exact, and energies of
 * whole configurations are rounded. One that is infinite is another one than any that is not. */
static bool are_near(const examination *x, int32_t w, double a, double b)
{
    const double whole = fabs(x->before[w]), each = whole / (double)(examination_present(x, w) + 1);
    if (!isfinite(a) || !isfinite(b)) return a == b || fmin(fabs(a), fabs(b)) > HUGE_ENERGY;
    return fabs(a - b) <= 0.02 * fmax(fabs(a), fabs(b)) + 2e-3 * each + 1e-9 * whole + 1e-12;
}

/* A move that is not taken, the same again, taken, and asked about the way back. One to where nothing can be is not taken:
 * changes from there mean nothing. */
static int try_move(examination *x, examined_move *m, bool *good)
{
    double again, back = 0;
    const int32_t w = m->walker;
    int code = ask_change(x, w, m->particle, m->to, &m->change);
    if (!code) code = settle(x, w, 0);
    if (!code && isnan(m->change)) {
        *good = why_not(
            x->why,
            "`change` gives NaN when particle %lld of walker %d moves from %.6g %.6g %.6g to "
            "%.6g %.6g %.6g",
            (long long)m->particle, w, m->from[0], m->from[1], m->from[2], m->to[0], m->to[1],
            m->to[2]);
        return code;
    }
    if (!code) code = ask_change(x, w, m->particle, m->to, &again);
    m->taken = isfinite(m->change);
    if (!code) code = settle(x, w, m->taken);
    if (!code && m->taken) code = ask_change(x, w, m->particle, m->from, &back);
    if (!code && m->taken) code = settle(x, w, 0);
    if (code) return code;
    examination_put(x, m, m->to);
    if (!are_near(x, w, m->change, again))
        *good =
            why_not(x->why,
                    "the energy changes by %.9g when particle %lld of walker %d moves, but by "
                    "%.9g when the same move is evaluated again after a rejection: `settle` must "
                    "not change anything after a rejection",
                    m->change, (long long)m->particle, w, again);
    else if (m->taken && !are_near(x, w, again, -back))
        *good = why_not(x->why,
                        "the energy changes by %.9g when particle %lld of walker %d moves, "
                        "but by %.9g when it moves back: `settle` must keep the accepted "
                        "position",
                        again, (long long)m->particle, w, back);
    return PLUGMC_OK;
}

/* The change of a move with the energy of before and the one that there is now, of its walker. */
static void compare_energies(examination *x, const examined_move *m, bool *good)
{
    const int32_t w = m->walker;
    const double found = x->energy[w] - x->before[w];
    if (isnan(x->energy[w]))
        *good = why_not(
            x->why,
            "the energy of the whole configuration of walker %d is NaN when particle %lld has "
            "moved to %.6g %.6g %.6g",
            w, (long long)m->particle, m->to[0], m->to[1], m->to[2]);
    else if (!are_near(x, w, m->change, found))
        *good =
            why_not(x->why,
                    "`change` says %.9g when particle %lld of walker %d moves, but the energies "
                    "of the whole configurations before and after %s %.9g%s",
                    m->change, (long long)m->particle, w,
                    m->taken ? "differ by" : "are finite and differ by", found,
                    m->taken ? "" : ": all such moves would be refused");
}

/* One move of each walker. `before` is known. *good: nothing is wrong. */
static int try_moves(examination *x, bool *good)
{
    examined_move moves[TOTAL_MOST_WALKERS];
    int made = 0, code = PLUGMC_OK;
    for (int32_t w = 0; w < x->walkers && !code && *good; w++) {
        if (!isfinite(x->before[w]) || !examination_draw_move(x, w, &moves[made])) continue;
        code = try_move(x, &moves[made++], good);
    }
    if (code || !*good) return code;
    if (made) code = examination_ask(x, (question){.energy = x->energy});
    for (int k = 0; k < made && !code && *good; k++) {
        const examined_move *m = &moves[k];
        compare_energies(x, m, good);
        if (m->taken)
            x->before[m->walker] = x->energy[m->walker];
        else
            examination_put(x, m, m->from);
    }
    return code;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool takes_moves(const examination *x)
{
    return x->total->start && x->total->change && x->total->settle;
}

/* As few walkers as find what depends on their number, and more where they take no time. */
static int choose_walkers(examination *x)
{
    const int32_t walkers = x->engine->system.walkers;
    const double begin = stop_clock();
    x->walkers = walkers < TOTAL_LEAST_WALKERS ? walkers : TOTAL_LEAST_WALKERS;
    const int code = examine_energy_and_forces(x);
    if (code || walkers == x->walkers || stop_clock() - begin > TOTAL_BUDGET / 20) return code;
    x->walkers = walkers < TOTAL_MOST_WALKERS ? walkers : TOTAL_MOST_WALKERS;
    return examine_energy_and_forces(x);
}

/* One trial move as energy/totals.c makes it: the configuration of a walker is copied to where that of the first one is
 * expected, evaluated alone, and copied back if the move is accepted. A term that evaluates all walkers whatever the
 * view says takes that long for each move, too. */
static int make_trial(examination *x, const double *from, double *back)
{
    const size_t row = 3 * sizeof(double) * (size_t)x->engine->system.particles;
    memcpy(x->positions, from, row);
    const int code = examination_ask(x, (question){.energy = x->energy});
    memcpy(back, x->positions, row);
    return code;
}

/* The shortest of some trial moves is told, as the first ones find nothing in caches. */
static int time_trial(examination *x, double *seconds)
{
    enum { MOST_TRIALS = 20 };
    const double begin = stop_clock();
    double *own = x->positions;
    const int32_t walkers = x->walkers;
    int code = PLUGMC_OK;
    memcpy(x->forces, own,
           3 * sizeof *own * (size_t)(x->engine->system.walkers * x->engine->system.particles));
    x->positions = x->forces;
    x->walkers = 1;
    *seconds = INFINITY;
    for (int k = 0; k < MOST_TRIALS && !code; k++) {
        const double now = stop_clock();
        if (k && now - begin > TOTAL_BUDGET / 4) break;
        code = make_trial(x, own, own);
        *seconds = fmin(*seconds, stop_clock() - now);
    }
    x->positions = own;
    x->walkers = walkers;
    return code;
}

/* Without `change` each trial move takes an energy of the whole configuration (energy/totals.h). */
static int tell_cost(examination *x)
{
    const plugmc_host *host = x->term->host;
    const mover_slot *asking = NULL;
    double seconds;
    for (int k = 0; k < x->engine->mover_count && !asking; k++)
        if (x->engine->movers[k].by_core) asking = &x->engine->movers[k];
    if (!asking) return PLUGMC_OK;
    const int code = time_trial(x, &seconds);
    if (!code)
        host->warn(host->context,
                   "gives energies of whole configurations only, so each trial move of %s takes "
                   "about %.2g s; with `change` and `settle` it computes what one particle changes",
                   asking->instance->context.section, seconds);
    return code;
}

/* `before` is known. What a term keeps from call to call would be taken for a fault of `change`. */
static int ask_again(examination *x, bool *good)
{
    const int code = examination_ask(x, (question){.energy = x->energy});
    for (int32_t w = 0; w < x->walkers && !code && *good; w++) {
        const double a = x->before[w], b = x->energy[w];
        if (a != b && !(fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b)) + 1e-12))
            *good = why_not(x->why,
                            "the energy of the whole configuration of walker %d is %.9g, and %.9g "
                            "when the same configuration is asked for again: it must depend on the "
                            "configuration alone, not on earlier calls",
                            w, a, b);
    }
    return code;
}

static int examine_within(examination *x, bool *good)
{
    const double begin = stop_clock();
    int code = choose_walkers(x);
    for (int32_t w = 0; w < x->walkers && !code && *good; w++)
        if (isnan(x->before[w]))
            *good =
                why_not(x->why,
                        "the energy of the whole configuration of walker %d is NaN where the run "
                        "begins",
                        w);
    if (!code && *good) code = ask_again(x, good);
    if (!code && *good) code = examine_gifts(x, good);
    if (!code && *good) code = examine_forces(x, good);
    if (!code && *good && !x->total->change) return tell_cost(x);
    if (code || !*good || !takes_moves(x)) return code;
    code = start(x);
    for (int round = 0; round < TOTAL_ROUNDS && !code && *good; round++) {
        code = try_moves(x, good);
        if (stop_clock() - begin > TOTAL_BUDGET) break;
    }
    return code;
}

/* `change` is for the CPU alone, and on a GPU energies of large systems may take minutes here: there, only what somebody
 * needs is looked at, where it takes no time or where the run has it computed here, too. */
static int examine_on_gpu(examination *x, bool *good)
{
    const plugmc_system *system = &x->engine->system;
    const int64_t most = 100000;
    if (!x->forces_for && !x->virial_for) return PLUGMC_OK;
    if (x->total->on_device && system->walkers * system->particles > most) return PLUGMC_OK;
    x->walkers = system->walkers < TOTAL_LEAST_WALKERS ? system->walkers : TOTAL_LEAST_WALKERS;
    const int code = examine_energy_and_forces(x);
    return code ? code : examine_gifts(x, good);
}

static int examine_as_it_is(examination *x, bool *good)
{
    if (!plugmc_follows_positions(x->total)) return examine_virial_of_constant(x, good);
    return x->engine->device.gpu ? examine_on_gpu(x, good) : examine_within(x, good);
}

static int examine(engine *engine, const plugmc_term *term, const double *positions,
                   const int64_t *counts, const plugmc_box *boxes)
{
    const size_t walkers = (size_t)engine->system.walkers,
                 all = 3 * walkers * (size_t)engine->system.particles;
    instance *owner = instance_of_term(engine, term);
    char why[WHY];
    bool good = true;
    examination x = {.engine = engine,
                     .term = term,
                     .total = term->plugin->potential->total,
                     .counts = counts,
                     .boxes = boxes,
                     .positions = malloc(all * sizeof(double)),
                     .energy = calloc(walkers, sizeof(double)),
                     .before = calloc(walkers, sizeof(double)),
                     .forces = calloc(all, sizeof(double)),
                     .virial = calloc(3 * walkers, sizeof(double)),
                     .forces_for = who_asks_totals(engine, PLUGMC_TOTAL_FORCES),
                     .virial_for = who_asks_totals(engine, PLUGMC_TOTAL_VIRIAL),
                     .why = {why, sizeof why}};
    int code = PLUGMC_ERROR_MEMORY;
    if (x.positions && x.energy && x.before && x.forces && x.virial) {
        memcpy(x.positions, positions, all * sizeof(double));
        code = examine_as_it_is(&x, &good);
    }
    free(x.positions), free(x.energy), free(x.before), free(x.forces), free(x.virial);
    code = context_exit_code(&owner->context, code, "its energies were tried");
    return code || good ? code : refuse_answer(owner, EXIT_PLUGIN, why);
}

/* A term that positions do not change is looked at for its virial alone. */
static bool is_examined(const engine *engine, const plugmc_term *term)
{
    const plugmc_total *total = term->plugin->potential->total;
    if (!term->sampled || !total) return false;
    if (plugmc_follows_positions(total) && !engine->device.gpu) return true;
    return who_asks_totals(engine, PLUGMC_TOTAL_VIRIAL) ||
           (plugmc_follows_positions(total) && who_asks_totals(engine, PLUGMC_TOTAL_FORCES));
}

bool totals_are_checked(const engine *engine)
{
    for (int k = 0; k < engine->system.term_count; k++)
        if (is_examined(engine, &engine->terms[k])) return true;
    return false;
}

int check_totals(engine *engine, const double *positions)
{
    const plugmc_state *state = &engine->current.state.face;
    void *counts = NULL, *boxes = NULL;
    int code = 0;
    for (int k = 0; k < engine->system.term_count && !code; k++) {
        if (!is_examined(engine, &engine->terms[k])) continue;
        code = state->array(state, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST, PLUGMC_READ, &counts, NULL);
        if (!code)
            code = state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &boxes, NULL);
        if (code)
            return context_exit_code(&engine_asking(engine)->context, code, "taking the state");
        code = examine(engine, &engine->terms[k], positions, counts, boxes);
    }
    crash_called();
    return code;
}
