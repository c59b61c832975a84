/* Forces and virials of many-body terms. See total_forces.h.
 *
 * Results are added to arrays that are -0 before. So a term that writes nothing, since it has no forces, is told from one
 * whose forces are 0. It is refused where its energy depends on positions: where all particles go a little along a random
 * direction, and twice and four times as far, the energy is a line or a parabola. Energies that jump are neither. */
#include "engine/total_forces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/stop.h"
#include "engine/fitting.h"
#include "engine/refusals.h"

/* ---- Who asks -------------------------------------------------------------------------------- */

const char *who_asks_totals(const engine *engine, uint32_t what)
{
    for (int i = 0; i < engine->instance_count; i++) {
        const plugmc_plugin *p = engine->instances[i].plugin;
        uint32_t asked = p->observable ? p->observable->of_totals : 0;
        if (p->kind == PLUGMC_MOVER && needs_of(p->mover) & PLUGMC_NEEDS_FORCES)
            asked |= PLUGMC_TOTAL_FORCES;
        if (asked & what) return engine->instances[i].context.section;
    }
    return NULL;
}

/* ---- Whether the energy depends on positions -------------------------------------------------- */

enum { WIDTHS = 3 }; /* 1, 2 and 4 times the smallest one */

/* Of one walker: energies at both sides of where it is, [side][width]. */
typedef struct line {
    double at[2][WIDTHS];
} line;

/* Of the three, which are in proportion to distances, or to their squares: each is `ratio` times the one before. */
static bool go_with(const double of[WIDTHS], double ratio, double rounding)
{
    for (int k = 0; k + 1 < WIDTHS; k++)
        if (!(fabs(of[k]) > rounding) || !(fabs(of[k + 1] / of[k] - ratio) < 0.1 * ratio))
            return false;
    return true;
}

/* Whether they are a smooth function of the distance other than a constant; here: the energy in the middle. */
static bool is_smooth(const line *l, double here)
{
    double odd[WIDTHS], even[WIDTHS];
    for (int k = 0; k < WIDTHS; k++) {
        odd[k] = l->at[1][k] - l->at[0][k];
        even[k] = (l->at[1][k] - here) + (l->at[0][k] - here);
    }
    const double rounding = 1e-13 * fabs(here);
    return go_with(odd, 2, rounding) || go_with(even, 4, rounding);
}

/* Particles of the walkers that are tried, from where they are by `far` times a vector each. */
static void go_along(examination *x, const double *from, const double *vectors, double far)
{
    const plugmc_system *system = &x->engine->system;
    for (int64_t i = 0; i < x->walkers * system->particles; i++) {
        double at[3];
        for (int d = 0; d < 3; d++) at[d] = from[3 * i + d] + far * vectors[3 * i + d];
        plugmc_wrap(&x->boxes[i / system->particles], at);
        memcpy(x->positions + 3 * i, at, sizeof at);
    }
}

/* *smooth: in some walker the energy is a smooth function along these vectors, [walkers][particles][3]. */
static int try_line(examination *x, const double *from, const double *vectors, double width,
                    bool *smooth)
{
    line lines[TOTAL_MOST_WALKERS];
    int code = PLUGMC_OK;
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < WIDTHS && !code; k++) {
            go_along(x, from, vectors, (side ? 1 : -1) * width * (1 << k));
            code = examination_ask(x, (question){.energy = x->energy});
            for (int32_t w = 0; w < x->walkers; w++) lines[w].at[side][k] = x->energy[w];
        }
    for (int32_t w = 0; w < x->walkers && !code; w++) *smooth |= is_smooth(&lines[w], x->before[w]);
    return code;
}

/* All particles go by up to some thousandths of their mean distance; they are put back. */
static int depends_on_positions(examination *x, bool *depends)
{
    const plugmc_system *system = &x->engine->system;
    const size_t n = 3 * (size_t)(x->walkers * system->particles);
    double *from = malloc(n * sizeof *from + 1), *vectors = malloc(n * sizeof *vectors + 1);
    const double widths[] = {1e-5, 1e-3};
    int code = from && vectors ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (int t = 0; t < PLUGMC_COUNT(widths) && !code && !*depends; t++) {
        const double apart = pow(x->boxes[0].volume / (double)(examination_present(x, 0) + 1),
                                 1.0 / system->box.dimension);
        if (!t) memcpy(from, x->positions, n * sizeof *from);
        for (size_t k = 0; k < n; k++)
            vectors[k] = (int)(k % 3) < system->box.dimension ? 2 * examination_draw(x) - 1 : 0;
        code = try_line(x, from, vectors, widths[t] * apart, depends);
        memcpy(x->positions, from, n * sizeof *from);
    }
    free(from), free(vectors);
    return code;
}

/* ---- Whether forces and virials are given ----------------------------------------------------- */

static size_t numbers_of_forces(const examination *x)
{
    return 3 * (size_t)(x->walkers * x->engine->system.particles);
}

int examine_energy_and_forces(examination *x)
{
    instance *owner = instance_of_term(x->engine, x->term);
    owner->context.tried = !x->forces_for;
    const int refused = examination_ask(x, (question){.energy = x->before, .forces = x->forces});
    owner->context.tried = 0;
    x->wrote_forces = !refused && examination_wrote(x->forces, numbers_of_forces(x));
    if (!refused || x->forces_for) return refused;
    memset(x->forces, 0,
           sizeof *x->forces * 3 *
               (size_t)(x->engine->system.walkers * x->engine->system.particles));
    return examination_ask(x, (question){.energy = x->before});
}

int examine_gifts(examination *x, bool *good)
{
    bool no_forces = x->forces_for && !x->wrote_forces, no_virial = false, depends = false;
    int code = PLUGMC_OK;
    if (x->virial_for) {
        code = examination_ask(x, (question){.energy = x->energy, .virial = x->virial});
        no_virial = !code && !examination_wrote(x->virial, 3 * (size_t)x->walkers);
    }
    if (!code && (no_forces || no_virial)) code = depends_on_positions(x, &depends);
    if (code || !depends) return code;
    *good =
        no_forces
            ? why_not(x->why,
                      "gives no forces, which [%s] needs: its energy depends on positions, but "
                      "`energy` adds nothing to request->forces; add minus the derivative of "
                      "the energy by each coordinate",
                      x->forces_for)
            : why_not(x->why,
                      "gives no virial, which [%s] needs: its energy depends on positions, but "
                      "`energy` adds nothing to request->virial; add the sum over particles of "
                      "r_d f_d, over periodic images, for each direction d (0 where it is 0), or "
                      "return host->fail(...) there if no virial is known",
                      x->virial_for);
    return PLUGMC_OK;
}

int examine_virial_of_constant(examination *x, bool *good)
{
    const int32_t walkers = x->engine->system.walkers;
    const double factor[3] = {1.01, 1.01, 1.01};
    const plugmc_box *own = x->boxes;
    if (!x->virial_for || !(x->total->follows & PLUGMC_CHANGED_BOX)) return PLUGMC_OK;
    x->walkers = walkers < TOTAL_LEAST_WALKERS ? walkers : TOTAL_LEAST_WALKERS;
    int code = examination_ask(x, (question){.energy = x->before, .virial = x->virial});
    if (code || examination_wrote(x->virial, 3 * (size_t)x->walkers)) return code;
    plugmc_box *boxes = malloc((size_t)walkers * sizeof *boxes + 1);
    if (!boxes) return PLUGMC_ERROR_MEMORY;
    memcpy(boxes, own, (size_t)walkers * sizeof *boxes);
    for (int32_t w = 0; w < walkers; w++) plugmc_scale_box(&boxes[w], factor);
    x->boxes = boxes;
    code = examination_ask(x, (question){.energy = x->energy});
    x->boxes = own;
    free(boxes);
    for (int32_t w = 0; w < x->walkers && !code && *good; w++)
        if (fabs(x->energy[w] - x->before[w]) > 1e-12 * fabs(x->before[w]))
            *good =
                why_not(x->why,
                        "gives no virial, which [%s] needs: its energy depends on the box, but "
                        "`energy` adds nothing to request->virial; add minus its derivative by the "
                        "logarithm of each edge",
                        x->virial_for);
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
    int axis;
    double width, side[2][TOTAL_MOST_WALKERS];
} slopes;

static double mean_slope(const slopes *s, int k) { return (s->side[0][k] + s->side[1][k]) / 2; }

/* Of its walker: a tenth of the mean distance. */
static double reach_of(const examination *x, const examined_move *m)
{
    return 0.1 * pow(x->boxes[m->walker].volume / (double)examination_present(x, m->walker),
                     1.0 / x->engine->system.box.dimension);
}

static int find_slopes(examination *x, const examined_move *moves, int made, slopes *out)
{
    int code = PLUGMC_OK;
    for (int way = 0; way < 2 && !code; way++) {
        for (int k = 0; k < made; k++) {
            const examined_move *m = &moves[k];
            double at[3] = {m->from[0], m->from[1], m->from[2]};
            at[out->axis] += (way ? -1 : 1) * out->width * reach_of(x, m);
            plugmc_wrap(&x->boxes[m->walker], at);
            examination_put(x, m, at);
        }
        code = examination_ask(x, (question){.energy = x->energy});
        for (int k = 0; k < made && !code; k++) {
            const int32_t w = moves[k].walker;
            out->side[way][k] = (way ? 1 : -1) * (x->energy[w] - x->before[w]) /
                                (out->width * reach_of(x, &moves[k]));
        }
    }
    for (int k = 0; k < made; k++) examination_put(x, &moves[k], moves[k].from);
    return code;
}

/* What a force and a slope may differ by. */
static double slack_of(const examination *x, const examined_move *m, double slope)
{
    const double whole = fabs(x->before[m->walker]), reach = reach_of(x, m),
                 rounding = 1e-13 * whole / (0.01 * reach);
    return 0.05 * fabs(slope) + 100 * rounding +
           2e-3 * whole / (double)examination_present(x, m->walker) / (10 * reach);
}

static double force_on(const examination *x, const examined_move *m, int axis)
{
    return x->forces[3 * (m->walker * x->engine->system.particles + m->particle) + axis];
}

/* One particle of each walker goes to both sides. Where the difference is not the force it does so once more, twice
 * as far: the slopes of both have to agree, and so have those of both sides, to what is wrong with the force. Where they do
 * not, energies are not smooth enough to tell: on a lattice a partner may be exactly half a box away, where its nearest
 * image changes. */
static int try_forces(examination *x, int axis, bool *good)
{
    examined_move moves[TOTAL_MOST_WALKERS] = {{0}};
    slopes near = {.axis = axis, .width = 0.01}, far = {.axis = axis, .width = 0.02};
    int made = 0;
    bool suspect = false;
    for (int32_t w = 0; w < x->walkers; w++) made += examination_draw_move(x, w, &moves[made]);
    int code = find_slopes(x, moves, made, &near);
    for (int k = 0; k < made && !code; k++) {
        const double slope = mean_slope(&near, k), force = force_on(x, &moves[k], axis);
        suspect |= isfinite(force) && !(fabs(force - slope) <= slack_of(x, &moves[k], slope));
    }
    if (!suspect || code) return code;
    code = find_slopes(x, moves, made, &far);
    for (int k = 0; k < made && !code && *good; k++) {
        const double force = force_on(x, &moves[k], axis), slope = mean_slope(&near, k),
                     slack = slack_of(x, &moves[k], slope),
                     bend = fabs(near.side[0][k] - near.side[1][k]),
                     steep = fabs(near.side[0][k]) + fabs(near.side[1][k]);
        if (!isfinite(force) || !(fabs(mean_slope(&far, k) - slope) <= 0.2 * slack) ||
            bend > 0.5 * steep || bend > fabs(force - slope) || fabs(force - slope) <= slack)
            continue;
        *good =
            why_not(x->why,
                    "the force on particle %lld of walker %d along %c is %.9g, but finite "
                    "differences of the energy give %.9g",
                    (long long)moves[k].particle, moves[k].walker, "xyz"[axis], force + 0.0, slope);
    }
    return code;
}

int examine_forces(examination *x, bool *good)
{
    const double begin = stop_clock();
    const int dimension = x->engine->system.box.dimension;
    int code = PLUGMC_OK;
    if (!gives_forces(x) && !x->forces_for) return PLUGMC_OK;
    for (int round = 0; round < TOTAL_ROUNDS && !code && *good; round++) {
        code = try_forces(x, round % dimension, good);
        if (stop_clock() - begin > TOTAL_BUDGET / 2) break;
    }
    return code;
}
