/* A few particles are displaced by a tenth of their mean distance, in the initial state, one walker after the
 * other:
 *
 *   change    is the difference of two energies of whole configurations
 *   settle    of a move that is not taken leaves things as they are: the same change again; after one that
 *             is taken the way back has the opposite change
 *             A change is infinite where an energy of the whole configuration is, and a number elsewhere
 *   forces    are the differences of energies; a potential may give none
 *
 * The energy of a configuration takes about as long as a sweep of trial moves. Some of them are asked for
 * at least, of few walkers where they are slow, and more as long as BUDGET lasts. */
#include "engine/total_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/sentence.h"
#include "engine/refusals.h"
#include "base/stop.h"

#define BUDGET 0.02 /* seconds, a potential */
enum { MOST_ROUNDS = 8, LEAST_WALKERS = 2, MOST_WALKERS = 4, WHY = 768 };

/* Of its members, energies are [walkers], forces [walkers][particles][3]. */
typedef struct examination {
    engine *engine;
    const plugmc_term *term;
    const plugmc_total *total;
    const int64_t *counts; /* [walkers][species] */
    const plugmc_box *boxes;
    double *positions; /* [walkers][particles][3] */
    double *energy, *before, *forces;
    int32_t walkers; /* that are tried: the first ones */
    uint64_t draws;
    sentence why;
} examination;

/* Any number below 1; it has nothing to do with those of the chain. */
static double next_draw(examination *x)
{
    const plugmc_random r = plugmc_draw((plugmc_seed){.key = 0x746f74616c73}, x->draws++, 0, 0,
                                        PLUGMC_PURPOSE_TRIAL, 0);
    return plugmc_uniform_double(r.word[0], r.word[1]);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* Of those walkers that are tried, on the host. A PLUGMC_* code. */
static int ask_energy(examination *x, double *energy, double *forces)
{
    const plugmc_system *system = &x->engine->system;
    const plugmc_host *host = x->term->host;
    plugmc_view view = {.size = sizeof view};
    int code = host->view(host->context, x->positions, 0, &view);
    if (code) return code;
    view.box = x->boxes;
    view.count = x->counts;
    view.walkers = x->walkers;
    const plugmc_total_request request = {
        .size = sizeof request, .view = &view, .energy = energy, .forces = forces};
    memset(energy, 0, sizeof *energy * (size_t)system->walkers);
    if (forces)
        memset(forces, 0, sizeof *forces * 3 * (size_t)(system->walkers * system->particles));
    crash_calling_potential(x->term->label, "energy");
    return x->total->energy(x->term->instance, &request);
}

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

/* ---- Moves ----------------------------------------------------------------------------------- */

typedef struct move {
    int32_t walker;
    int64_t particle;
    double from[3], to[3], change;
    bool taken;
} move;

static int64_t present(const examination *x, int32_t w)
{
    int64_t n = 0;
    for (int32_t s = 0; s < x->engine->system.species_count; s++)
        n += x->counts[w * x->engine->system.species_count + s];
    return n;
}

/* Of one that is there; false where nobody is, and where it would leave a sphere. */
static bool draw_move(examination *x, int32_t w, move *m)
{
    const plugmc_system *system = &x->engine->system;
    const int64_t n = present(x, w);
    int64_t k = (int64_t)(next_draw(x) * (double)n);
    int32_t s = 0;
    if (n < 1) return false;
    for (; k >= x->counts[w * system->species_count + s]; s++)
        k -= x->counts[w * system->species_count + s];
    m->walker = w;
    m->particle = system->first[s] + k;
    const double step = 0.1 * pow(x->boxes[w].volume / (double)n, 1.0 / system->box.dimension);
    const double *at = x->positions + 3 * (w * system->particles + m->particle);
    for (int d = 0; d < 3; d++) {
        m->from[d] = m->to[d] = at[d];
        if (d < system->box.dimension)
            m->to[d] += step * (0.5 + 0.5 * next_draw(x)) * (next_draw(x) < 0.5 ? -1 : 1);
    }
    plugmc_wrap(&x->boxes[w], m->to);
    /* out of a sphere nothing is asked */
    return system->box.domain != PLUGMC_DOMAIN_SPHERE ||
           m->to[0] * m->to[0] + m->to[1] * m->to[1] + m->to[2] * m->to[2] <=
               system->box.radius * system->box.radius;
}

static void put(examination *x, const move *m, const double at[3])
{
    memcpy(x->positions + 3 * (m->walker * x->engine->system.particles + m->particle), at,
           3 * sizeof *at);
}

/* Beyond it a double is as good as infinite. */
#define HUGE_ENERGY 1e30

/* What two numbers may differ by that should be one: the totals of meshes are not exact, and energies of
 * whole configurations are rounded. One that is infinite is another one than any that is not. */
static bool are_near(const examination *x, int32_t w, double a, double b)
{
    const double whole = fabs(x->before[w]), each = whole / (double)(present(x, w) + 1);
    if (!isfinite(a) || !isfinite(b)) return a == b || fmin(fabs(a), fabs(b)) > HUGE_ENERGY;
    return fabs(a - b) <= 0.02 * fmax(fabs(a), fabs(b)) + 2e-3 * each + 1e-9 * whole + 1e-12;
}

/* A move that is not taken, the same again, taken, and asked about the way back. One to where nothing can be is not taken:
 * changes from there mean nothing. */
static int try_move(examination *x, move *m, bool *good)
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
    put(x, m, m->to);
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
static void compare_energies(examination *x, const move *m, bool *good)
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
    move moves[MOST_WALKERS];
    int made = 0, code = PLUGMC_OK;
    for (int32_t w = 0; w < x->walkers && !code && *good; w++) {
        if (!isfinite(x->before[w]) || !draw_move(x, w, &moves[made])) continue;
        code = try_move(x, &moves[made++], good);
    }
    if (code || !*good) return code;
    if (made) code = ask_energy(x, x->energy, NULL);
    for (int k = 0; k < made && !code && *good; k++) {
        const move *m = &moves[k];
        compare_energies(x, m, good);
        if (m->taken)
            x->before[m->walker] = x->energy[m->walker];
        else
            put(x, m, m->from);
    }
    return code;
}

/* ---- Forces ---------------------------------------------------------------------------------- */

static bool gives_forces(const examination *x)
{
    const size_t n = 3 * (size_t)(x->engine->system.walkers * x->engine->system.particles);
    for (size_t k = 0; k < n; k++)
        if (x->forces[k] != 0) return true;
    return false;
}

/* Of one particle of each walker: slopes of the energy to both sides of where it is, [made]. */
typedef struct slopes {
    double width, side[2][MOST_WALKERS];
} slopes;

static double mean_slope(const slopes *s, int k) { return (s->side[0][k] + s->side[1][k]) / 2; }

/* Of its walker: a tenth of the mean distance. */
static double reach_of(const examination *x, const move *m)
{
    return 0.1 * pow(x->boxes[m->walker].volume / (double)present(x, m->walker),
                     1.0 / x->engine->system.box.dimension);
}

static int find_slopes(examination *x, const move *moves, int made, slopes *out)
{
    int code = PLUGMC_OK;
    for (int way = 0; way < 2 && !code; way++) {
        for (int k = 0; k < made; k++) {
            const move *m = &moves[k];
            double at[3] = {m->from[0], m->from[1], m->from[2]};
            at[0] += (way ? -1 : 1) * out->width * reach_of(x, m);
            plugmc_wrap(&x->boxes[m->walker], at);
            put(x, m, at);
        }
        code = ask_energy(x, x->energy, NULL);
        for (int k = 0; k < made && !code; k++) {
            const int32_t w = moves[k].walker;
            out->side[way][k] = (way ? 1 : -1) * (x->energy[w] - x->before[w]) /
                                (out->width * reach_of(x, &moves[k]));
        }
    }
    for (int k = 0; k < made; k++) put(x, &moves[k], moves[k].from);
    return code;
}

/* What a force and a slope may differ by. */
static double slack_of(const examination *x, const move *m, double slope)
{
    const double whole = fabs(x->before[m->walker]), reach = reach_of(x, m),
                 rounding = 1e-13 * whole / (0.01 * reach);
    return 0.05 * fabs(slope) + 100 * rounding +
           2e-3 * whole / (double)present(x, m->walker) / (10 * reach);
}

static double force_on(const examination *x, const move *m)
{
    return x->forces[3 * (m->walker * x->engine->system.particles + m->particle)];
}

/* One particle of each walker goes to both sides. Where the difference is not the force it does so once more, twice
 * as far: the slopes of both have to agree, and so have those of both sides, to what is wrong with the force. Where they do
 * not, energies are not smooth enough to tell: on a lattice a partner may be exactly half a box away, where its nearest
 * image changes. */
static int try_forces(examination *x, bool *good)
{
    move moves[MOST_WALKERS];
    slopes near = {.width = 0.01}, far = {.width = 0.02};
    int made = 0;
    bool suspect = false;
    for (int32_t w = 0; w < x->walkers; w++) made += draw_move(x, w, &moves[made]);
    int code = find_slopes(x, moves, made, &near);
    for (int k = 0; k < made && !code; k++) {
        const double slope = mean_slope(&near, k), force = force_on(x, &moves[k]);
        suspect |= isfinite(force) && !(fabs(force - slope) <= slack_of(x, &moves[k], slope));
    }
    if (!suspect || code) return code;
    code = find_slopes(x, moves, made, &far);
    for (int k = 0; k < made && !code && *good; k++) {
        const double force = force_on(x, &moves[k]), slope = mean_slope(&near, k),
                     slack = slack_of(x, &moves[k], slope),
                     bend = fabs(near.side[0][k] - near.side[1][k]),
                     steep = fabs(near.side[0][k]) + fabs(near.side[1][k]);
        if (!isfinite(force) || !(fabs(mean_slope(&far, k) - slope) <= 0.2 * slack) ||
            bend > 0.5 * steep || bend > fabs(force - slope) || fabs(force - slope) <= slack)
            continue;
        *good = why_not(x->why,
                        "the force on particle %lld of walker %d along x is %.9g, but finite "
                        "differences of the energy give %.9g",
                        (long long)moves[k].particle, moves[k].walker, force, slope);
    }
    return code;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool takes_moves(const examination *x)
{
    return x->total->start && x->total->change && x->total->settle;
}

/* Energy as it is, and forces where it gives them: a potential may have none and refuse to be asked. */
static int ask_forces(examination *x)
{
    instance *owner = instance_of_term(x->engine, x->term);
    owner->context.tried = 1;
    const int refused = ask_energy(x, x->before, x->forces);
    owner->context.tried = 0;
    if (!refused) return PLUGMC_OK;
    memset(x->forces, 0,
           sizeof *x->forces * 3 *
               (size_t)(x->engine->system.walkers * x->engine->system.particles));
    return ask_energy(x, x->before, NULL);
}

/* As few walkers as find what depends on their number, and more where they take no time. */
static int choose_walkers(examination *x)
{
    const int32_t walkers = x->engine->system.walkers;
    const double begin = stop_clock();
    x->walkers = walkers < LEAST_WALKERS ? walkers : LEAST_WALKERS;
    const int code = ask_forces(x);
    if (code || walkers == x->walkers || stop_clock() - begin > BUDGET / 20) return code;
    x->walkers = walkers < MOST_WALKERS ? walkers : MOST_WALKERS;
    return ask_forces(x);
}

/* One trial move as energy/totals.c makes it: the configuration of a walker is copied to where that of the first one is
 * expected, evaluated alone, and copied back if the move is accepted. A term that evaluates all walkers whatever the
 * view says takes that long for each move, too. */
static int make_trial(examination *x, const double *from, double *back)
{
    const size_t row = 3 * sizeof(double) * (size_t)x->engine->system.particles;
    memcpy(x->positions, from, row);
    const int code = ask_energy(x, x->energy, NULL);
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
        if (k && now - begin > BUDGET / 4) break;
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
    for (int round = 0; round < MOST_ROUNDS && !code && *good && gives_forces(x); round++) {
        code = try_forces(x, good);
        if (stop_clock() - begin > BUDGET / 2) break;
    }
    if (!code && *good && !x->total->change) return tell_cost(x);
    if (code || !*good || !takes_moves(x)) return code;
    code = start(x);
    for (int round = 0; round < MOST_ROUNDS && !code && *good; round++) {
        code = try_moves(x, good);
        if (stop_clock() - begin > BUDGET) break;
    }
    return code;
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
                     .why = {why, sizeof why}};
    int code = PLUGMC_ERROR_MEMORY;
    if (x.positions && x.energy && x.before && x.forces) {
        memcpy(x.positions, positions, all * sizeof(double));
        code = examine_within(&x, &good);
    }
    free(x.positions), free(x.energy), free(x.before), free(x.forces);
    code = context_exit_code(&owner->context, code, "its energies were tried");
    return code || good ? code : refuse_answer(owner, EXIT_PLUGIN, why);
}

bool totals_are_checked(const engine *engine)
{
    bool any = false;
    for (int k = 0; k < engine->system.term_count && !engine->device.gpu; k++) {
        const plugmc_total *total = engine->terms[k].plugin->potential->total;
        any |= engine->terms[k].sampled && total && plugmc_follows_positions(total);
    }
    return any;
}

int check_totals(engine *engine, const double *positions)
{
    const plugmc_state *state = &engine->current.state.face;
    void *counts = NULL, *boxes = NULL;
    int code = 0;
    if (engine->device.gpu)
        return 0; /* `change` is for the CPU alone, where its energies may take minutes */
    for (int k = 0; k < engine->system.term_count && !code; k++) {
        const plugmc_term *term = &engine->terms[k];
        const plugmc_total *total = term->plugin->potential->total;
        if (!term->sampled || !total || !plugmc_follows_positions(total)) continue;
        code = state->array(state, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST, PLUGMC_READ, &counts, NULL);
        if (!code)
            code = state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &boxes, NULL);
        if (code)
            return context_exit_code(&engine_asking(engine)->context, code, "taking the state");
        code = examine(engine, term, positions, counts, boxes);
    }
    crash_called();
    return code;
}
