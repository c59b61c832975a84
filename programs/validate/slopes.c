/* Forces and virials against differences of energies.
 *
 * Energies may bend and jump, and plugmc_exp rounds them to single precision. So differences of several widths are
 * taken: two neighbouring ones that agree, in slopes of both sides too, are believed. A derivative is wrong where it
 * departs from all that are believed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "checks.h"

const double slope_widths[WIDTHS] = {1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2};

bool slope_is_wrong(const two_sides *s, double derivative, double tolerance, double *found,
                    bool *settled)
{
    double nearest = INFINITY;
    *settled = false;
    for (int k = 0; k + 1 < WIDTHS; k++) {
        const double mean = (s->left[k] + s->right[k]) / 2,
                     wider = (s->left[k + 1] + s->right[k + 1]) / 2, away = fabs(derivative - mean),
                     bend = fabs(s->left[k] - s->right[k]);
        if (!(fabs(mean - wider) <= 0.3 * tolerance)) continue;
        /* A derivative is accused where slopes of both sides agree as closely as it should agree with them. There may be
         * ends of ranges on both sides, in a dense system, which change the mean of both slopes. */
        if (away > tolerance && bend > fmin(0.5 * away, tolerance)) continue;
        *settled = true;
        if (away >= nearest) continue;
        nearest = away;
        *found = mean;
    }
    return *settled && !(nearest <= tolerance);
}

/* ---- Configurations -------------------------------------------------------------------------- */

/* Positions that can be changed, with the counts and boxes of a view. */
typedef struct copy {
    plugmc_view view;
    double *positions;
    whole *whole;
} copy;

static int copy_now(stand *s, copy *c)
{
    const plugmc_system *system = &s->session.engine.system;
    const size_t numbers = 3 * (size_t)(system->walkers * system->particles);
    *c = (copy){.view.size = sizeof c->view};
    int code = hamiltonian_refresh(&s->session.engine.current.hamiltonian, s->host);
    if (!code) code = hamiltonian_view(&s->session.engine.current.hamiltonian, s->host, &c->view);
    c->positions = checked(calloc(numbers + 1, sizeof(double)));
    c->whole = checked(calloc((size_t)system->walkers, sizeof *c->whole));
    if (code) return code;
    memcpy(c->positions, c->view.positions, numbers * sizeof(double));
    c->view.positions = c->positions;
    return code;
}

static void free_copy(copy *c) { free(c->positions), free(c->whole); }

/* The service `view` makes cells of positions that are asked for, so each energy has a view of its own. */
static int ask_total(stand *s, const copy *c, double *energy, double *forces, double *virial)
{
    const plugmc_system *system = &s->session.engine.system;
    plugmc_view view = {.size = sizeof view};
    int code = s->host->view(s->host->context, c->positions, 0, &view);
    view.box = c->view.box;
    view.count = c->view.count;
    const plugmc_total_request request = {.size = sizeof request,
                                          .view = &view,
                                          .energy = energy,
                                          .forces = forces,
                                          .virial = virial};
    if (energy) memset(energy, 0, sizeof(double) * (size_t)system->walkers);
    if (virial) memset(virial, 0, 3 * sizeof(double) * (size_t)system->walkers);
    if (forces)
        memset(forces, 0, 3 * sizeof(double) * (size_t)(system->walkers * system->particles));
    context_calling(&s->own->context, "energy");
    if (!code) code = stand_total(s)->energy(s->own->data, &request);
    crash_called();
    return code;
}

/* The energy of a particle at a position: with its many-body term, of walker w as a whole. */
static int ask_one(stand *s, copy *c, int32_t w, int64_t i, const double at[3], double *sums,
                   whole *out)
{
    const plugmc_system *system = &s->session.engine.system;
    double *own = c->positions + 3 * (w * system->particles + i), before[3];
    int code = PLUGMC_OK;
    *out = stand_pair(s) || stand_field(s) ? energy_of_one(s, &c->view, w, i, at) : (whole){0, 0};
    if (!stand_total(s)) return code;
    memcpy(before, own, sizeof before);
    memcpy(own, at, sizeof before);
    code = ask_total(s, c, sums, NULL, NULL);
    memcpy(own, before, sizeof before);
    out->energy += sums[w];
    out->size += fabs(sums[w]) / (double)system->particles;
    return code;
}

/* ---- Forces ---------------------------------------------------------------------------------- */

typedef struct forces_check {
    copy now;
    double *forces, *sums; /* of the many-body term: [walkers][particles][3], [walkers] */
    bool of_parts, of_total;
    int compared;
} forces_check;

static int find_sides(stand *s, forces_check *c, int32_t w, int64_t i, int d, two_sides *sides,
                      whole *here)
{
    const plugmc_system *system = &s->session.engine.system;
    const plugmc_box *box = &c->now.view.box[w];
    const double unit = stand_distance(system, box),
                 *at = c->now.positions + 3 * (w * system->particles + i);
    whole there;
    int code = ask_one(s, &c->now, w, i, at, c->sums, here);
    for (int k = 0; k < 2 * WIDTHS && !code; k++) {
        const double by = (k & 1 ? 1 : -1) * slope_widths[k / 2] * unit;
        double to[3] = {at[0], at[1], at[2]};
        to[d] += by;
        const double exact = to[d] - at[d];
        plugmc_wrap(box, to);
        code = ask_one(s, &c->now, w, i, to, c->sums, &there);
        (k & 1 ? sides->right : sides->left)[k / 2] = (there.energy - here->energy) / exact;
    }
    return code;
}

/* A term may refuse to give forces, or virials: then nobody hears why. */
static bool total_gives(stand *s, const copy *c, double *sums, double *forces, double *virial)
{
    s->own->context.tried = true;
    const int code = ask_total(s, c, sums, forces, virial);
    s->own->context.tried = false;
    return code == PLUGMC_OK;
}

/* A derivative by the potential, and the slope by differences that is nearest to it. */
typedef struct comparison_of_slopes {
    double energy, slope, found, tolerance;
    bool wrong, settled;
} comparison_of_slopes;

static int look_at_force(stand *s, forces_check *c, int32_t w, int64_t i, int d,
                         comparison_of_slopes *out)
{
    const plugmc_system *system = &s->session.engine.system;
    const double unit = stand_distance(system, &c->now.view.box[w]);
    plugmc_derivatives own = {0};
    two_sides sides;
    whole at;
    const int code = find_sides(s, c, w, i, d, &sides, &at);
    if (code) return code;
    if (c->of_parts) derivatives_of_one(s, &c->now.view, w, i, &own);
    *out = (comparison_of_slopes){.energy = at.energy, .slope = own.gradient[d]};
    if (c->of_total) out->slope -= c->forces[3 * (w * system->particles + i) + d];
    const double mean = (sides.left[3] + sides.right[3]) / 2,
                 relative = stand_total(s) ? 0.03 : 3e-3;
    out->tolerance = relative * fmax(fabs(out->slope), isfinite(mean) ? fabs(mean) : 0) +
                     relative * 1e-2 * at.size / unit + 1e-12;
    out->wrong = slope_is_wrong(&sides, out->slope, out->tolerance, &out->found, &out->settled);
    return code;
}

/* Whether the derivative is wrong a little to both sides, too. Where a pair is just at a range, of which the force jumps,
 * and another one is near its own, slopes of both sides agree with each other and not with the derivative. */
static int look_beside(stand *s, forces_check *c, int32_t w, int64_t i, int d, bool *wrong)
{
    static const double shifts[] = {1e-3, -2e-3, 4e-3};
    const plugmc_system *system = &s->session.engine.system;
    const plugmc_box *box = &c->now.view.box[w];
    double *at = c->now.positions + 3 * (w * system->particles + i), before[3];
    comparison_of_slopes there;
    int code = PLUGMC_OK;
    memcpy(before, at, sizeof before);
    for (int k = 0; k < 3 && *wrong && !code; k++) {
        memcpy(at, before, sizeof before);
        at[d] += shifts[k] * stand_distance(system, box);
        plugmc_wrap(box, at);
        if (c->of_total && !total_gives(s, &c->now, c->sums, c->forces, NULL)) break;
        code = look_at_force(s, c, w, i, d, &there);
        *wrong = !code && (there.wrong || !there.settled);
    }
    memcpy(at, before, sizeof before);
    if (c->of_total) total_gives(s, &c->now, c->sums, c->forces, NULL);
    return code;
}

static int compare_force(stand *s, forces_check *c, int32_t w, int64_t i, int d, findings *f)
{
    comparison_of_slopes here;
    int code = look_at_force(s, c, w, i, d, &here);
    bool wrong = !code && here.wrong;
    if (!code && isnan(here.slope) && isfinite(here.energy)) {
        const double *at = c->now.positions + 3 * (w * s->session.engine.system.particles + i);
        check_fail(
            f,
            "the %s particle %lld of walker %d along %c is not a number, where it is at %.6g %.6g "
            "%.6g and the energy is %.9g: 0 / 0, as of a distance or a density that is 0",
            c->of_total ? "force on" : "derivative of the energy of", (long long)i, w, "xyz"[d],
            at[0], at[1], at[2], here.energy);
        return code;
    }
    if (wrong) code = look_beside(s, c, w, i, d, &wrong);
    if (code || !here.settled || (here.wrong && !wrong)) return code;
    c->compared++;
    const double away = fabs(here.slope - here.found) / here.tolerance;
    check_value(f, wrong ? fmax(1.01, away) : away,
                "the derivative of the energy by coordinate %c of particle %lld of walker %d is "
                "%.9g by the potential, but finite differences give %.9g: correct %s",
                "xyz"[d], (long long)i, w, here.slope, here.found,
                c->of_total ? "the forces of the many-body term (the force is minus the derivative)"
                            : "pair_derivative or field_derivative");
    return code;
}

static bool any_force(const stand *s, const double *forces)
{
    const plugmc_system *system = &s->session.engine.system;
    for (int64_t k = 0; k < 3 * system->walkers * system->particles; k++)
        if (forces[k] != 0) return true;
    return false;
}

/* Draws the particles of a configuration together about a corner of the periodic box. */
static int gather_copy(const stand *s, copy *c, double factor)
{
    const plugmc_box *box = c->view.box;
    const int64_t *const count = c->view.count;
    stand_gather(&s->session.engine.system, box, factor, c->positions);
    const int code = s->host->view(s->host->context, c->positions, 0, &c->view);
    c->view.box = box, c->view.count = count;
    return code;
}

/* Forces of the many-body term; particles are drawn together as long as nobody is within its range. */
static int find_forces(stand *s, forces_check *c)
{
    const bool periodic = s->session.engine.system.box.domain == PLUGMC_DOMAIN_PERIODIC;
    int code = 0;
    for (int k = 0; k < 4 && !c->of_total && !code; k++) {
        if (k && !periodic) break;
        if (k) code = gather_copy(s, &c->now, 0.6);
        if (!code)
            c->of_total =
                total_gives(s, &c->now, c->sums, c->forces, NULL) && any_force(s, c->forces);
    }
    return code;
}

/* All forces are numbers where the energy is one: in this configuration, and with one particle of each walker in the middle and
 * the others near the corners, so that most terms have nobody near it. */
static int look_for_no_numbers(stand *s, forces_check *c, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    copy now;
    int code = copy_now(s, &now);
    for (int alone = 0; alone < 2 && !code; alone++) {
        if (alone && system->box.domain != PLUGMC_DOMAIN_PERIODIC) break;
        if (alone) code = gather_copy(s, &now, 0.5);
        for (int32_t w = 0; w < system->walkers && alone; w++)
            stand_at_fractions(&now.view.box[w], (double[3]){0.5, 0.5, 0.5},
                               now.positions + 3 * w * system->particles);
        if (code || whole_energies(s, &now.view, now.whole) ||
            !total_gives(s, &now, c->sums, c->forces, NULL))
            break;
        for (int64_t k = 0; k < 3 * system->walkers * system->particles; k++) {
            const int64_t particle = k / 3, w = particle / system->particles;
            const double *at = now.positions + 3 * particle;
            if (!isnan(c->forces[k]) || !isfinite(now.whole[w].energy)) continue;
            check_fail(
                f,
                "the force on particle %lld of walker %lld along %c is not a number, where it is at "
                "%.6g %.6g %.6g%s and the energy is %.9g: 0 / 0, as of a distance or a density "
                "that is 0",
                (long long)(particle % system->particles), (long long)w, "xyz"[k % 3], at[0], at[1],
                at[2], alone && particle % system->particles == 0 ? ", far from all others," : "",
                now.whole[w].energy);
        }
    }
    free_copy(&now);
    return code;
}

int check_forces(const target *t, stand *s, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    const double budget = t->quick ? 0.5 : 30;
    const int rounds = t->quick ? 40 : 2000, least = 12;
    plugmc_derivatives unused;
    forces_check c = {0};
    check_begin(
        f, "forces", 1,
        "derivatives by positions with differences of energies of %d widths; allowed 0.3 %% "
        "of them, 3 %% beside a many-body term",
        WIDTHS);
    int code = scramble(s);
    if (!code) code = copy_now(s, &c.now);
    if (code) return code;
    c.forces =
        checked(calloc(3 * (size_t)(system->walkers * system->particles) + 1, sizeof(double)));
    c.sums = checked(calloc((size_t)system->walkers, sizeof(double)));
    c.of_parts = derivatives_of_one(s, &c.now.view, 0, 0, &unused);
    if (stand_total(s)) code = find_forces(s, &c);
    const bool parts = stand_pair(s) || stand_field(s);
    const bool can = (c.of_parts || !parts) && (c.of_total || !stand_total(s));
    if (!code && c.of_total) code = look_for_no_numbers(s, &c, f);
    if (!code && c.of_total) total_gives(s, &c.now, c.sums, c.forces, NULL);
    const double begin = stand_clock();
    for (int k = 0; k < rounds && can && !code; k++) {
        if (k >= least && stand_clock() - begin > budget) break;
        const int32_t w = k % system->walkers;
        const int64_t i = stand_below(s, system->particles);
        code = compare_force(s, &c, w, i, k % system->box.dimension, f);
    }
    if (!code && !can)
        check_leave(f, stand_total(s)
                           ? "the many-body term gives no forces, or they are all 0 in these "
                             "configurations: then give FILE.ini more particles"
                           : "the potential has no derivatives");
    if (!code && can && !c.compared)
        check_leave(f, "energies are not smooth enough: differences of no two widths agree");
    free_copy(&c.now), free(c.forces), free(c.sums);
    return code;
}

/* ---- Faces of the box ------------------------------------------------------------------------ */

/* Energies of walker w with a particle at positions on a line along d: beside both faces, a little inside, and between. */
static int look_along(stand *s, copy *c, int32_t w, int64_t i, int d, double *sums, double u[10])
{
    const plugmc_box *box = &c->view.box[w];
    const double *at = c->positions + 3 * (w * s->session.engine.system.particles + i);
    const double places[4] = {1e-7, 0.02, 1 - 1e-7, 0.98};
    double part[3];
    int code = PLUGMC_OK;
    stand_fractions(box, at, part);
    for (int k = 0; k < 10 && !code; k++) {
        double to[3];
        whole out;
        part[d] = k < 4 ? places[k] : (k - 3.5) / 6;
        stand_at_fractions(box, part, to);
        code = ask_one(s, c, w, i, to, sums, &out);
        u[k] = sums[w];
    }
    return code;
}

/* As `compare_faces` of a field (surroundings.c). */
int check_total_faces(const target *t, stand *s, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    const plugmc_box *box = &system->box;
    copy now;
    if (!stand_total(s) || box->domain != PLUGMC_DOMAIN_PERIODIC) {
        check_not_covered(f, "many-body term at faces",
                          stand_total(s) ? "the box is not periodic"
                                         : "there is no many-body term");
        return 0;
    }
    check_begin(
        f, "many-body term at faces", 1,
        "the energy with a particle at opposite faces of the periodic box; allowed 1e-3 of its "
        "differences between them");
    int code = scramble(s);
    if (!code) code = copy_now(s, &now);
    if (code) return code;
    double *sums = checked(calloc((size_t)system->walkers, sizeof *sums)), u[10];
    for (int k = 0; k < (t->quick ? 12 : 60) && !code; k++) {
        const int32_t w = k % system->walkers;
        const int d = k % box->dimension;
        double least = INFINITY, most = -INFINITY;
        if (box->closed[d]) continue;
        code = look_along(s, &now, w, k / 2 % system->particles, d, sums, u);
        for (int i = 0; i < 10 && !code; i++) least = fmin(least, u[i]), most = fmax(most, u[i]);
        if (code || !isfinite(most - least)) continue;
        check_value(
            f, fabs(u[2] - u[0]) / (1e-3 * (most - least) + 1e-9 * fabs(u[0]) + 1e-12),
            "the energy jumps from %.9g to %.9g where a particle leaves the periodic box along %s "
            "and enters it on the other side: take the nearest image of each separation, or let a whole "
            "number of waves be in the box: component e of k is 2 pi sum_d n_d inverse[e][d]",
            u[2], u[0], stand_axis(box, d));
    }
    free_copy(&now), free(sums);
    return code;
}

/* ---- Virials --------------------------------------------------------------------------------- */

/* Of an oblique box not a vector is stretched but a direction, which the virial is along. */
static void stretch(plugmc_box *box, int d, double factor)
{
    for (int i = 0; i < 3; i++) {
        double square = 0;
        box->vector[i][d] *= factor;
        box->inverse[d][i] /= factor;
        for (int e = 0; e < 3; e++) square += box->vector[i][e] * box->vector[i][e];
        if (box->oblique) box->length[i] = sqrt(square);
    }
    if (!box->oblique) box->length[d] *= factor;
    box->volume *= factor;
}

/* Energies of all walkers with direction d stretched: box and positions. */
static int stretched(stand *s, const copy *now, int d, double factor, copy *to, plugmc_box *boxes)
{
    const plugmc_system *system = &s->session.engine.system;
    double factors[3] = {1, 1, 1};
    factors[d] = factor;
    for (int32_t w = 0; w < system->walkers; w++) {
        boxes[w] = now->view.box[w];
        stretch(&boxes[w], d, factor);
        for (int64_t i = 0; i < system->particles; i++)
            for (int e = 0; e < 3; e++) {
                const int64_t k = 3 * (w * system->particles + i) + e;
                to->positions[k] = now->positions[k] * factors[e];
            }
    }
    int code = s->host->view(s->host->context, to->positions, 0, &to->view);
    to->view.box = boxes;
    to->view.count = now->view.count;
    return code ? code : whole_energies(s, &to->view, to->whole);
}

/* Sum over pairs of -s_d du/ds_d: each is in the derivatives of both particles. */
static double virial_of_pairs(const stand *s, const copy *now, int32_t w, int d)
{
    double sum = 0;
    for (int64_t i = 0; i < s->session.engine.system.particles; i++) {
        plugmc_derivatives own;
        derivatives_of_one(s, &now->view, w, i, &own);
        sum += own.virial[d] / 2;
    }
    return sum;
}

/* Why virials are not compared; NULL: they are. */
static const char *no_virial(const stand *s, bool of_total)
{
    const plugmc_pair *pair = stand_pair(s);
    if (stand_field(s)) return "a field has no virial";
    if (pair && pair->functions & PLUGMC_PAIR_POSITIONS) return "it depends on positions";
    if (pair && (!PLUGMC_HAS(pair, derivatives) || !pair->derivatives))
        return "the potential has no derivatives";
    if (stand_total(s) && !of_total)
        return "the many-body term gives no virial, or it is 0 in these configurations: then "
               "give FILE.ini more particles";
    return NULL;
}

static int compare_virial(stand *s, const copy *now, copy *to, plugmc_box *boxes,
                          const double *of_total, int d, findings *f, int *compared)
{
    const plugmc_system *system = &s->session.engine.system;
    two_sides sides[system->walkers];
    int code = whole_energies(s, &now->view, now->whole);
    for (int k = 0; k < 2 * WIDTHS && !code; k++) {
        const double by = (k & 1 ? 1 : -1) * slope_widths[k / 2] * 0.3;
        code = stretched(s, now, d, exp(by), to, boxes);
        for (int32_t w = 0; w < system->walkers; w++)
            (k & 1 ? sides[w].right : sides[w].left)[k / 2] =
                (to->whole[w].energy - now->whole[w].energy) / by;
    }
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        const double virial = (stand_pair(s) ? virial_of_pairs(s, now, w, d) : 0) +
                              (of_total ? of_total[3 * w + d] : 0),
                     relative = stand_total(s) ? 0.03 : 3e-3,
                     tolerance =
                         relative * fabs(virial) + relative * 0.03 * now->whole[w].size + 1e-12;
        double found = 0;
        bool settled;
        if (isnan(virial) && isfinite(now->whole[w].energy))
            check_fail(
                f,
                "the virial along %c of walker %d is not a number, and the energy is %.9g: 0 / 0, as "
                "of a distance or a density that is 0",
                "xyz"[d], w, now -> whole[w].energy);
        const bool wrong = slope_is_wrong(&sides[w], -virial, tolerance, &found, &settled);
        if (!settled) continue;
        ++*compared;
        const double away = fabs(virial + found) / tolerance;
        check_value(f, wrong ? fmax(1.01, away) : away,
                    "the virial along %c of walker %d is %.9g by the potential, but the energy in "
                    "stretched boxes gives %.9g: correct %s",
                    "xyz"[d], w, virial, -found,
                    of_total ? "the virial of the many-body term" : "pair_derivative");
    }
    return code;
}

/* At the positions of `now`, along all directions. */
static int compare_virials(stand *s, const copy *now, copy *to, findings *f, const char **why,
                           int *compared)
{
    const plugmc_system *system = &s->session.engine.system;
    const size_t walkers = (size_t)system->walkers;
    double *sums = checked(calloc(4 * walkers, sizeof *sums)), *virial = sums + walkers;
    plugmc_box *boxes = checked(calloc(walkers, sizeof *boxes));
    int code = 0;
    const bool of_total = stand_total(s) && total_gives(s, now, sums, NULL, virial) &&
                          (virial[0] != 0 || virial[1] != 0);
    const char *reason = no_virial(s, of_total);
    for (int d = 0; d < system->box.dimension && !reason && !code; d++)
        code = compare_virial(s, now, to, boxes, of_total ? virial : NULL, d, f, compared);
    if (reason) *why = reason;
    free(sums), free(boxes);
    return code;
}

/* Particles are drawn together about a corner, too: those of a dilute FILE.ini may not meet across a face. */
int check_virials(const target *t, stand *s, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    const char *why = NULL;
    int compared = 0;
    (void)t;
    copy now, to;
    check_begin(f, "virials", 1,
                "virials with differences of energies in stretched boxes; allowed 0.3 %% of them, "
                "3 %% with a many-body term");
    int code = scramble(s);
    if (!code) code = copy_now(s, &now);
    if (!code) code = copy_now(s, &to);
    if (code) return code;
    const size_t bytes = (size_t)system->walkers * sizeof *now.view.box;
    plugmc_box *before = memcpy(checked(malloc(bytes)), now.view.box, bytes);
    now.view.box = before;
    for (int k = 0; k < 4 && !code; k++) {
        const char *not_here = NULL;
        const int had = compared;
        if (k && system->box.domain != PLUGMC_DOMAIN_PERIODIC) break;
        if (k) code = gather_copy(s, &now, 0.6);
        if (!code) code = compare_virials(s, &now, &to, f, &not_here, &compared);
        why = compared ? NULL : not_here;
        if (k && compared > had) break; /* pairs have met across the faces */
    }
    if (!code && !why && !compared)
        why = "energies are not smooth enough: differences of no two widths agree";
    if (!code && why) check_leave(f, "%s", why);
    free_copy(&now), free_copy(&to), free(before);
    return code;
}
