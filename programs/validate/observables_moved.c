/* Checks of observables by configurations that are changed where results may not change, and by other runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sync.h"
#include "measuring.h"

enum { SHIFTS = 6 };

static const plugmc_system *system_of(const subject *o) { return &o->s->session.engine.system; }

static size_t width_of(const subject *o) { return (size_t)(system_of(o)->walkers * o->width); }

/* The box of a walker as it is now: a mover of the run may have changed it. */
static const plugmc_box *box_of(const subject *o, int32_t walker)
{
    const plugmc_state *state = &o->s->session.engine.current.state.face;
    void *box = NULL;
    if (o->boxes) return &o->boxes[walker];
    if (state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &box, NULL))
        return &system_of(o)->box;
    return &((const plugmc_box *)box)[walker];
}

/* Likewise, of particle k of all walkers. */
static const plugmc_box *box_around(const subject *o, int64_t k)
{
    return box_of(o, (int32_t)(k / system_of(o)->particles));
}

/* The largest size of each value of all walkers: what rounding refers to. */
static double size_at(const subject *o, const double *values, int64_t i)
{
    double size = 0;
    for (int32_t w = 0; w < system_of(o)->walkers; w++)
        size = fmax(size, fabs(values[w * o->width + i]));
    return size;
}

/* The first value that differs; -1: none does. */
static int64_t first_other(const subject *o, const double *a, const double *b, double tolerance)
{
    for (int64_t k = 0; k < (int64_t)width_of(o); k++)
        if (fabs(a[k] - b[k]) > tolerance * size_at(o, a, k % o->width) + 1e-300) return k;
    return -1;
}

/* Results of one configuration in sweep 5, and again in sweep 6: they may depend on random numbers. `positions` are of all
 * walkers. */
static int reference(subject *o, const double *positions, double *values, bool *drawn)
{
    double *again = checked(malloc(width_of(o) * sizeof *again + 8));
    int code = measure(o, positions, false, 5, values);
    if (!code) code = measure(o, positions, false, 6, again);
    *drawn = !code && all_finite(o, values) && first_other(o, values, again, 1e-9) >= 0;
    free(again);
    return code;
}

static const char *not_comparable(const subject *o)
{
    return o->observable->depends_on == PLUGMC_ON_HISTORY ? "it depends on the history of walkers"
                                                          : NULL;
}

/* ---- A configuration that moves as a whole ------------------------------------------------------- */

/* How far all particles of all walkers can go along vector d before the first one leaves the box, back and forth, in parts of
 * the vector. */
static void find_room(const subject *o, const double *positions, int d, double room[2])
{
    const plugmc_system *system = system_of(o);
    double least = INFINITY, most = 0, part[3];
    for (int64_t k = 0; k < system->walkers * system->particles; k++) {
        stand_fractions(box_around(o, k), positions + 3 * k, part);
        least = fmin(least, part[d]);
        most = fmax(most, part[d]);
    }
    room[0] = -0.99 * least;
    room[1] = 0.99 * (1 - most);
}

static void shift(const subject *o, const double *from, int d, double by, double *to)
{
    const plugmc_system *system = system_of(o);
    for (int64_t k = 0; k < system->walkers * system->particles; k++) {
        const plugmc_box *box = box_around(o, k);
        for (int e = 0; e < 3; e++) to[3 * k + e] = from[3 * k + e] + by * box->vector[d][e];
        plugmc_wrap(box, to + 3 * k);
    }
}

/* Away from both faces along d, so that there is room. */
static void squeeze(const subject *o, double *positions, int d)
{
    const plugmc_system *system = system_of(o);
    for (int64_t k = 0; k < system->walkers * system->particles; k++) {
        const plugmc_box *box = box_around(o, k);
        double part[3], *at = positions + 3 * k;
        stand_fractions(box, at, part);
        for (int e = 0; e < 3; e++) at[e] += (0.2 - 0.4 * part[d]) * box->vector[d][e];
    }
}

/* What has been seen of configurations that move as a whole. */
typedef struct shifts {
    int compared;
    /* Results are random; are no numbers; change within the box, and there is a warning about it. */
    bool drawn, not_finite, placed;
    char warning[600];
} shifts;

static void note_place(const subject *o, int d, double by, const double *values,
                       const double *other, shifts *seen)
{
    const int64_t at = first_other(o, values, other, 1e-6);
    int64_t i;
    if (at < 0 || seen->placed) return;
    const plugmc_quantity *q = quantity_at(o, at % o->width, &i);
    seen->placed = true;
    snprintf(
        seen->warning, sizeof seen->warning,
        "value %lld of '%s' in walker %lld changes from %.9g to %.9g when all particles are shifted "
        "together by %.3g along %s, within the box; is that meant? A position in the box does not matter "
        "in a homogeneous system: look at squares of complex sums (re^2 + im^2), and at sums that are "
        "not set to 0 for each walker and each value",
        (long long)i, q->name, (long long)(at / o->width), values[at], other[at],
        by * system_of(o)->box.length[d], stand_axis(&system_of(o)->box, d));
}

/* Results that stay as long as no particle leaves the box depend on separations alone, so they may not change when one
 * does. Particles are squeezed at first, if results can be had with them so near to each other. */
static int try_direction(subject *o, int d, bool squeezed, double *values, double *other,
                         findings *f, shifts *seen)
{
    const plugmc_system *system = system_of(o);
    const size_t numbers = 3 * (size_t)(system->walkers * system->particles);
    double *positions = checked(malloc(2 * numbers * sizeof *positions)),
           *moved = positions + numbers, room[2];
    bool drawn;
    memcpy(positions, o->positions, numbers * sizeof *positions);
    if (squeezed) squeeze(o, positions, d);
    find_room(o, positions, d, room);
    int code = reference(o, positions, values, &drawn);
    const bool numbered = !code && all_finite(o, values);
    bool stays = numbered && !drawn;
    seen->drawn |= drawn && numbered;
    seen->not_finite |= !code && !numbered;
    for (int k = 0; k < SHIFTS && stays && !code; k++) {
        const double by = room[0] + (room[1] - room[0]) * k / (SHIFTS - 1);
        shift(o, positions, d, by, moved);
        code = measure(o, moved, false, 5, other);
        stays = !code && first_other(o, values, other, 1e-6) < 0;
        if (!code && !stays) note_place(o, d, by, values, other, seen);
    }
    for (int k = 1; k <= SHIFTS && stays && !code; k++) {
        shift(o, positions, d, room[1] + 0.137 * k * (1 - room[1]), moved);
        code = measure(o, moved, false, 5, other);
        const int64_t at = code ? -1 : first_other(o, values, other, 1e-6);
        int64_t i;
        seen->compared += 1;
        if (at < 0) continue;
        const plugmc_quantity *q = quantity_at(o, at % o->width, &i);
        check_fail(
            f,
            "value %lld of '%s' in walker %lld is %.9g, also when the configuration moves along %s "
            "within the box, but %.9g when particles leave it there and enter it on the other "
            "side: take the nearest image of each separation (plugmc_separate); of waves, let a whole number "
            "be in the box: component e of k is 2 pi sum_d n_d inverse[e][d] with integers n_d",
            (long long)i, q->name, (long long)(at / o->width), values[at],
            stand_axis(&system->box, d), other[at]);
    }
    free(positions);
    return code;
}

/* Why nothing was compared. */
static void conclude_shifts(const shifts *seen, findings *f)
{
    if (seen->placed)
        check_warn(f, "%s", seen->warning);
    else if (seen->not_finite && !seen->compared)
        check_leave(f, "%s", not_finite);
    else if (seen->drawn && !seen->compared)
        check_leave(f, "results change with the number of the sweep, as random numbers do");
}

int check_shifted(subject *o, findings *f)
{
    const plugmc_box *box = &system_of(o)->box;
    const char *why = not_comparable(o);
    shifts seen = {0};
    int code = 0;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) why = "the box is not periodic";
    if (why) {
        check_not_covered(f, "across the faces", "%s", why);
        return 0;
    }
    double *values = checked(malloc(2 * width_of(o) * sizeof *values + 8)),
           *other = values + width_of(o);
    check_begin(
        f, "across the faces", NAN,
        "results of a configuration that moves as a whole, within the box and across its faces");
    o->s->own->context.tried = true; /* overlaps may be refused */
    for (int d = 0; d < box->dimension; d++) {
        if (box->closed[d]) continue;
        code = try_direction(o, d, true, values, other, f, &seen);
        if (code) code = try_direction(o, d, false, values, other, f, &seen);
    }
    o->s->own->context.tried = false;
    if (!code) conclude_shifts(&seen, f);
    if (code) check_leave(f, "it refuses such configurations");
    check_end(f);
    free(values);
    return 0;
}

/* ---- Particles that change places ---------------------------------------------------------------- */

static void swap_places(double *positions, int64_t a, int64_t b)
{
    for (int d = 0; d < 3; d++) {
        const double at = positions[3 * a + d];
        positions[3 * a + d] = positions[3 * b + d];
        positions[3 * b + d] = at;
    }
}

/* Some particles change places with those of their species whose number is larger by `by`. 0: all are shuffled. */
static void exchange(const subject *o, int64_t by, double *out)
{
    const plugmc_system *system = system_of(o);
    memcpy(out, o->positions, 3 * sizeof *out * (size_t)(system->walkers * system->particles));
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t s = 0; s < system->species_count; s++) {
            const int64_t first = w * system->particles + system->first[s],
                          count = plugmc_species_at(system, s)->count;
            for (int64_t k = count - 1; by == 0 && k > 0; k--)
                swap_places(out, first + k, first + stand_below(o->s, k + 1));
            for (int64_t k = 0; by > 0 && k + by < count; k += 2 * by + 1)
                swap_places(out, first + k, first + k + by);
        }
}

/* Particles of a species are alike, but where they are numbered on purpose, as in a chain. Then results depend on all
 * exchanges, not only on those that change the remainder of numbers. With one species there is no such difference. */
int check_alike(subject *o, findings *f)
{
    const plugmc_system *system = system_of(o);
    const char *why =
        system->bodies ? "particles have orientations, which stay" : not_comparable(o);
    double *values, *other, *positions;
    bool drawn = false;
    int64_t at = -1, kept = -1, i;
    if (why) {
        check_not_covered(f, "particles of a species", "%s", why);
        return 0;
    }
    values = checked(malloc(2 * width_of(o) * sizeof *values + 8)), other = values + width_of(o);
    positions =
        checked(malloc(3 * sizeof *positions * (size_t)(system->walkers * system->particles)));
    check_begin(f, "particles of a species", NAN,
                "results after particles of each species have changed places");
    int code = reference(o, o->positions, values, &drawn);
    exchange(o, system->species_count > 1, positions);
    if (!code) code = measure(o, positions, false, 5, other);
    if (!code) at = first_other(o, values, other, 1e-6);
    const double found = at < 0 ? 0 : other[at];
    exchange(o, system->species_count, positions);
    if (!code && at >= 0) code = measure(o, positions, false, 5, other);
    if (!code && at >= 0 && system->species_count > 1) kept = first_other(o, values, other, 1e-6);
    if (system->species_count == 1) kept = at;
    if (drawn)
        check_leave(f, "results change with the number of the sweep, as random numbers do");
    else if (at >= 0 && kept >= 0)
        check_warn(
            f,
            "results depend on which number a particle has: right for chains and molecules, wrong for "
            "particles of a species that are alike; is something kept from one particle to the next?");
    else if (at >= 0 && !code) {
        const plugmc_quantity *q = quantity_at(o, at % o->width, &i);
        check_fail(
            f,
            "value %lld of '%s' in walker %lld changes from %.9g to %.9g when particles of each "
            "species change places, but not if their numbers differ by %d: particles of species s are "
            "system->first[s] ... first[s + 1] - 1, one species after the other",
            (long long)i, q->name, (long long)(at / o->width), values[at], found,
            system->species_count);
    }
    check_end(f);
    free(values), free(positions);
    return code;
}

/* ---- Results that are always 0 ------------------------------------------------------------------- */

/* Each particle goes by up to a third of the mean distance of particles. */
static void spread(const subject *o, double *out)
{
    const plugmc_system *system = system_of(o);
    const double step = stand_distance(system, &system->box) / 3;
    for (int64_t k = 0; k < system->walkers * system->particles; k++) {
        for (int d = 0; d < 3; d++)
            out[3 * k + d] = o->positions[3 * k + d] +
                             (d < system->box.dimension ? step * stand_symmetric(o->s) : 0);
        plugmc_wrap(box_around(o, k), out + 3 * k);
    }
}

/* The quantity to which value i of a walker belongs has a value that is not 0: *seen, by quantity. */
static void note_values(const subject *o, const double *values, bool *seen)
{
    int64_t inside;
    for (int64_t k = 0; k < (int64_t)width_of(o); k++)
        if (values[k] != 0)
            seen[quantity_at(o, k % o->width, &inside) - quantity_at(o, 0, &inside)] = true;
}

/* A branch that is never taken, or a result that is never written but for the 0 that it begins with. */
int check_zeros(subject *o, findings *f)
{
    enum { CONFIGURATIONS = 6 };
    const plugmc_system *system = system_of(o);
    const char *why = not_comparable(o);
    if (why) {
        check_not_covered(f, "results that are 0", "%s", why);
        return 0;
    }
    const size_t numbers = 3 * (size_t)(system->walkers * system->particles);
    double *values = checked(malloc(width_of(o) * sizeof *values + 8)),
           *positions = checked(malloc(numbers * sizeof *positions + 8));
    bool *seen = checked(calloc((size_t)o->width + 1, sizeof *seen));
    int code = 0, measured = 0;
    int64_t inside;
    check_begin(f, "results that are 0", NAN, "results of %d random configurations",
                CONFIGURATIONS);
    o->s->own->context.tried = true; /* overlaps may be refused */
    for (int k = 0; k < CONFIGURATIONS && !code; k++) {
        memcpy(positions, o->positions, numbers * sizeof *positions);
        if (k) spread(o, positions);
        code = measure(o, positions, false, 5, values);
        if (!code) note_values(o, values, seen), measured++;
    }
    o->s->own->context.tried = false;
    const plugmc_quantity *first = quantity_at(o, 0, &inside),
                          *last = quantity_at(o, o->width - 1, &inside);
    for (const plugmc_quantity *q = first; measured > 1 && q <= last; q++)
        if (!seen[q - first])
            check_warn(f, "'%s' is 0 in all of %d configurations: is that meant?", q->name,
                       measured);
    if (measured < 2) check_leave(f, "it refuses such configurations");
    check_end(f);
    free(values), free(positions), free(seen);
    return 0;
}

/* ---- Other runs ---------------------------------------------------------------------------------- */

static int open_other(const subject *o, stand_change change, stand *s, subject *other)
{
    const double *now;
    int code = stand_open_changed(o->target, o->s->number, STAND_POSITIONS, change, s);
    if (!code) code = session_begin(&s->session);
    if (!code) code = engine_sweep(&s->session.engine, 0, 1, true);
    if (!code) code = sync_positions(&s->session.engine, PLUGMC_ON_HOST, &now);
    *other = *o;
    other->s = s;
    other->positions = code ? NULL : now;
    return code;
}

/* With another box in `system`, which is that of the beginning where boxes change; that of the view stays. */
int check_other_box(subject *o, findings *f)
{
    plugmc_system *system = &o->s->session.engine.system;
    const plugmc_box first = system->box;
    const double factors[3] = {1.03, 1.04, 1.05};
    const char *why = !(o->observable->follows & PLUGMC_CHANGED_BOX) ? "it does not follow boxes"
                                                                     : not_comparable(o);
    bool drawn;
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC) why = "the box is not periodic";
    if (why) {
        check_not_covered(f, "box of the beginning", "%s", why);
        return 0;
    }
    double *values = checked(malloc(2 * width_of(o) * sizeof *values + 8)),
           *other = values + width_of(o);
    check_begin(f, "box of the beginning", NAN,
                "results of one configuration in one box, with two boxes of the beginning");
    int code = reference(o, o->positions, values, &drawn);
    plugmc_scale_box(&system->box, factors);
    if (!code && !drawn) code = measure(o, o->positions, false, 5, other);
    system->box = first;
    const int64_t at = code || drawn ? -1 : first_other(o, values, other, 1e-9);
    if (at >= 0) {
        int64_t i;
        const plugmc_quantity *q = quantity_at(o, at % o->width, &i);
        check_fail(
            f,
            "value %lld of '%s' in walker %lld is %.9g, and %.9g if the run has begun with another "
            "box: use view->box, as system->box is that of the beginning, or leave out `.follows = "
            "PLUGMC_CHANGED_BOX`",
            (long long)i, q->name, (long long)(at / o->width), values[at], other[at]);
    }
    if (drawn) check_leave(f, "results change with the number of the sweep, as random numbers do");
    check_end(f);
    free(values);
    return code;
}

/* Two runs, one with walkers turned round from the beginning: what is kept of each walker must go with it. */
int check_histories(subject *o, findings *f)
{
    const plugmc_system *system = system_of(o);
    const size_t row = 3 * (size_t)system->particles, numbers = row * (size_t)system->walkers;
    if (o->observable->depends_on != PLUGMC_ON_HISTORY || system->walkers < 2 || system->bodies ||
        system->rungs > 1 || system->changes & (PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_BOX)) {
        check_not_covered(f, "histories of walkers",
                          o->observable->depends_on == PLUGMC_ON_HISTORY
                              ? "there is one walker, or walkers differ in more than positions"
                              : "results depend on the configuration alone");
        return 0;
    }
    double *values = checked(malloc(2 * width_of(o) * sizeof *values + 8)), *here = values,
           *turned = values + width_of(o),
           *positions = checked(malloc(numbers * sizeof *positions));
    check_begin(
        f, "histories of walkers", 1,
        "three measurements of walkers with those of a run in which each has the configurations of "
        "the next one; allowed 1e-9");
    int code = 0;
    for (int which = 0; which < 2 && !code; which++) {
        stand s;
        subject *other = checked(calloc(1, sizeof *other));
        code = open_other(o, (stand_change){.edge = 1}, &s, other);
        for (int step = 0; step < 3 && !code; step++) {
            for (size_t k = 0; k < numbers; k++) {
                const size_t w = k / row, from = which ? (w + 1) % (size_t)system->walkers : w;
                positions[k] = o->positions[from * row + k % row] +
                               (from % 2 ? 0.11 : 0.07) * step * (k % 3 == 0);
            }
            for (size_t k = 0; k < numbers / 3; k++) plugmc_wrap(&system->box, positions + 3 * k);
            code = measure(other, positions, false, (uint64_t)step + 1, which ? turned : here);
        }
        stand_close(&s);
        free(other);
    }
    for (int64_t k = 0; k < (int64_t)width_of(o) && !code; k++) {
        int64_t i;
        const int64_t w = k / o->width, from = (w + 1) % system->walkers;
        const double before = here[from * o->width + k % o->width];
        const plugmc_quantity *q = quantity_at(o, k % o->width, &i);
        check_value(
            f,
            turned[k] == before
                ? 0
                : fabs(turned[k] - before) / (1e-9 * size_at(o, here, k % o->width) + 1e-300),
            "value %lld of '%s' in walker %lld is %.9g with the history for which it was %.9g in "
            "walker %lld: keep what is remembered for each walker by itself, in the struct and "
            "not in static variables",
            (long long)i, q->name, (long long)w, turned[k], before, (long long)from);
    }
    check_end(f);
    free(values), free(positions);
    return code;
}
