/* What a mover does in single sweeps: steps, counts, and what it says that it changes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "movers.h"

/* A copy of what was seen last. */
typedef struct memory {
    double *positions, *volumes;
    int64_t *counts;
} memory;

static memory remember(const snapshot_of_run *now)
{
    const size_t n = 3 * (size_t)now->walkers * (size_t)now->capacity,
                 counts = (size_t)now->walkers * (size_t)now->species;
    memory m = {checked(malloc((n + 1) * sizeof(double))),
                checked(malloc((size_t)now->walkers * sizeof(double))),
                checked(malloc((counts + 1) * sizeof(int64_t)))};
    memcpy(m.positions, now->positions, n * sizeof(double));
    memcpy(m.counts, now->counts, counts * sizeof(int64_t));
    for (int w = 0; w < now->walkers; w++) m.volumes[w] = now->boxes[w].volume;
    return m;
}

static void forget(memory *m)
{
    free(m->positions);
    free(m->counts);
    free(m->volumes);
}

/* ---- Configurations that there cannot be ------------------------------------------------------- */

static const char *fault_of_walker(const snapshot_of_run *now, int w)
{
    const plugmc_box *box = &now->boxes[w];
    if (!(box->volume > 0) || !isfinite(box->volume)) return "a volume that is no positive number";
    for (int32_t s = 0; s < now->species; s++) {
        const int64_t n = now->counts[w * now->species + s],
                      room = now->first[s + 1] - now->first[s];
        if (n < 0 || n > room) return "a number of particles that there is no room for";
        for (int64_t i = 0; i < n; i++)
            for (int d = 0; d < box->dimension; d++) {
                const double x = now->positions[3 * (w * now->capacity + now->first[s] + i) + d];
                if (!isfinite(x)) return "a coordinate that is no number";
                if (box->domain == PLUGMC_DOMAIN_PERIODIC && box->length[d] > 0 &&
                    !(x >= -1e-9 * box->length[d] && x <= (1 + 1e-9) * box->length[d]) &&
                    box->vector[1][0] == 0 && box->vector[2][0] == 0 && box->vector[2][1] == 0)
                    return "a coordinate outside of the box";
            }
    }
    return NULL;
}

/* Hundreds of sweeps: what cannot be the mover has made, if nobody else can have. */
static void look_for_faults(subject *s, setting of, const char *check)
{
    run r;
    snapshot_of_run now;
    const char *fault = NULL;
    of.walkers = 16;
    check_begin(
        s->findings, check, NAN,
        "positions, numbers of particles and boxes after each of 100 sweeps against what can be");
    if (subject_open(s, &of, &r)) {
        for (int k = 0; k < 100 && !fault && subject_sweep(s, &r, 1); k++) {
            if (run_look(&r, &now)) break;
            for (int w = 0; w < now.walkers && !fault; w++) fault = fault_of_walker(&now, w);
        }
        if (fault)
            check_fail(s->findings, "the mover has made %s: look at what it writes or proposes",
                       fault);
        run_close(&r);
    }
    check_end(s->findings);
}

/* Of free particles. */
static void check_configurations(subject *s)
{
    look_for_faults(s, setting_of_family(s, true), "configurations");
}

/* Numbers of the last particles of a species are free while another mover inserts and removes particles. */
static void check_free_places(subject *s)
{
    static const char check[] = "particles that come and go";
    if (s->family != FAMILY_POSITIONS)
        return check_not_covered(s->findings, check, "the mover changes more than positions");
    setting of = setting_new(s, 2, 6.5, 0.8);
    for (int k = 0; k < 2; k++)
        setting_add(of.species,
                    "[species %s]\ncount = 3\nmax_count = 16\ndiameter = 0.001\nactivity = 0.1\n",
                    s->names[k]);
    setting_add(of.potentials, "[potential hard_sphere]\n");
    for (int k = 0; k < 2; k++)
        setting_add(of.after, "[mover insert_%d]\nplugin = insert\nspecies = %s\ntrials = 8\n", k,
                    s->names[k]);
    look_for_faults(s, of, check);
}

/* ---- Counts and changes ------------------------------------------------------------------------ */

typedef struct seen {
    bool positions, counts, boxes;
} seen;

static seen difference(const memory *before, const snapshot_of_run *now, int w)
{
    const size_t row = 3 * (size_t)now->capacity, first = (size_t)w * row,
                 species = (size_t)now->species;
    return (seen){memcmp(before->positions + first, now->positions + first, row * sizeof(double)) !=
                      0,
                  memcmp(before->counts + (size_t)w * species, now->counts + (size_t)w * species,
                         species * sizeof(int64_t)) != 0,
                  before->volumes[w] != now->boxes[w].volume};
}

typedef struct tally {
    int64_t changed;           /* walkers in all sweeps that are not as before */
    uint64_t trials, accepted; /* of all moves */
    seen ever;
} tally;

static void count_all(subject *s, run *r, uint64_t *trials, uint64_t *accepted)
{
    const mover_slot *m = run_mover(r, candidate);
    *trials = *accepted = 0;
    for (int k = 0; m && k < s->mover->move_count; k++) {
        const plugmc_counts c = run_counts(r, m, k);
        *trials += c.trials;
        *accepted += c.accepted;
    }
}

/* One sweep; the sentence if counts of it cannot be right. */
static bool count_sweep(subject *s, run *r, tally *t)
{
    uint64_t before[2], after[2];
    snapshot_of_run now;
    if (run_look(r, &now)) return false;
    memory was = remember(&now);
    count_all(s, r, &before[0], &before[1]);
    bool good = subject_sweep(s, r, 1) && !run_look(r, &now);
    count_all(s, r, &after[0], &after[1]);
    int64_t changed = 0;
    for (int w = 0; good && w < now.walkers; w++) {
        const seen d = difference(&was, &now, w);
        changed += d.positions || d.counts || d.boxes;
        t->ever.positions |= d.positions;
        t->ever.counts |= d.counts;
        t->ever.boxes |= d.boxes;
    }
    forget(&was);
    const uint64_t trials = after[0] - before[0], accepted = after[1] - before[1];
    t->changed += changed;
    t->trials += trials;
    t->accepted += accepted;
    if (!good || s->mover->move_count == 0) return good;
    const int64_t most = (int64_t)accepted * (s->family == FAMILY_SHARED_BOXES ? 2 : 1);
    if (accepted > trials)
        check_fail(s->findings, "a sweep has accepted %llu of %llu trial moves: count every trial",
                   (unsigned long long)accepted, (unsigned long long)trials);
    else if (changed > most && s->family != FAMILY_RUNGS)
        check_fail(
            s->findings,
            "in one sweep %lld walkers have changed, and %llu trial moves are counted as "
            "accepted: count each accepted move in 'counts', or leave the decision to the core",
            (long long)changed, (unsigned long long)accepted);
    return !(accepted > trials) && !(changed > most && s->family != FAMILY_RUNGS);
}

/* What the descriptor does not say others cannot follow. */
static void check_claims(subject *s, const tally *t)
{
    const uint32_t changes = s->mover->changes;
    const char *what = t->ever.counts && !(changes & PLUGMC_CHANGED_COUNT) ? "numbers of particles"
                       : t->ever.boxes && !(changes & PLUGMC_CHANGED_BOX)  ? "boxes"
                       : t->ever.positions && !(changes & (PLUGMC_CHANGED_POSITION)) ? "positions"
                                                                                     : NULL;
    if (what)
        check_fail(s->findings, "%s have changed, and '.changes' does not say so: add it", what);
}

static void judge_counts(subject *s, const tally *t, double edge)
{
    if (t->trials == 0 && s->mover->move_count > 0)
        check_fail(s->findings, "no trial moves are counted in 50 sweeps: fill in 'counts'");
    else if (t->changed == 0 && s->mover->move_count == 0 && s->plugin->observable)
        check_leave(s->findings, "it has no trial moves and changes nothing: it measures");
    else if (t->changed == 0)
        check_fail(
            s->findings,
            "nothing has changed in 50 sweeps of 64 walkers, in a box with edges of %g: the mover does nothing, "
            "or does not write what it does, or its keys leave it nothing to do there",
            edge);
    else if (s->family == FAMILY_POSITIONS && t->changed != (int64_t)t->accepted &&
             t->changed < 50 * 64 && /* without rejections a walker may make many moves */
             (int64_t)(t->trials - t->accepted) + t->changed == 50 * 64)
        check_fail(
            s->findings,
            "%llu trial moves are counted as rejected and %llu as accepted, but %lld walkers have "
            "changed, so %d trial moves were made: count each trial once; 'decide' counts, too",
            (unsigned long long)(t->trials - t->accepted), (unsigned long long)t->accepted,
            (long long)t->changed, 50 * 64);
    else if (t->trials == 50 * 64 && t->changed != (int64_t)t->accepted &&
             s->family == FAMILY_POSITIONS)
        check_fail(
            s->findings,
            "of %llu trial moves, one for each walker and sweep, %llu are counted as accepted, but %lld walkers "
            "have changed: count what is accepted, no more and no less",
            (unsigned long long)t->trials, (unsigned long long)t->accepted, (long long)t->changed);
}

/* Beside no other mover, so that all changes are its own. `alone`: there is one particle, which a mover may leave where it
 * is; that it does nothing at all is seen with more of them. */
static void compare_counts(subject *s, const char *check, setting of, bool alone)
{
    run r;
    tally t = {0};
    of.walkers = 64;
    of.equilibrate = 0;
    *of.before = *of.after = 0;
    check_begin(s->findings, check, NAN,
                "accepted trial moves with walkers that have changed, by sweep");
    if (subject_open(s, &of, &r)) {
        bool good = true;
        for (int k = 0; k < 50 && good; k++) good = count_sweep(s, &r, &t);
        if (good && alone && t.changed == 0 && t.accepted == 0)
            check_leave(s->findings, "the mover does not move a particle that is alone");
        else if (good)
            judge_counts(s, &t, of.edge);
        check_claims(s, &t);
        run_close(&r);
    }
    check_end(s->findings);
}

/* With one particle the movers of single particles make one trial move in a sweep, of which it is known whether it was
 * accepted. */
static void check_counts(subject *s)
{
    if (s->family == FAMILY_RUNGS || s->family == FAMILY_WEIGHTS)
        return check_not_covered(s->findings, "counts", "the mover changes no configuration");
    if (s->family == FAMILY_DIFFUSION)
        return check_not_covered(s->findings, "counts",
                                 "walkers are copied, which is no trial move");
    compare_counts(s, "counts", setting_of_family(s, false), false);
    if (s->family != FAMILY_POSITIONS || !subject_uses(s, PLUGMC_USES_FIELD)) return;
    setting of = setting_new(s, 2, 5, 0.5);
    setting_species(s, &of, 1, -1, 0);
    setting_field(&of, 260);
    of.step = 2;
    compare_counts(s, "counts of one particle", of, true);
}

/* ---- Steps -------------------------------------------------------------------------------------- */

/* Displacements of one free particle per walker, over the step. */
typedef struct displacements {
    sums sums; /* per axis; squares in the first half of the sweeps less those in the second */
    double square, largest;
    int64_t count;
    /* Of components that are not 0: number, squares, fourth powers. */
    double moved, second, fourth;
} displacements;

static void add_displacements(const setting *of, const memory *was, const snapshot_of_run *now,
                              bool late, displacements *d)
{
    for (int w = 0; w < now->walkers; w++) {
        double *out = d->sums.sum + w * d->sums.dims, square = 0;
        const int64_t at = 3 * w * now->capacity;
        for (int k = 0; k < of->dimension; k++) {
            double x = now->positions[at + k] - was->positions[at + k];
            x = (x - of->edge * rint(x / of->edge)) / of->step;
            out[k] += x;
            square += x * x;
            d->largest = fmax(d->largest, fabs(x));
            d->moved += x != 0;
            d->second += x * x;
            d->fourth += x * x * x * x;
        }
        out[of->dimension] += late ? -square : square;
        d->square += square / of->dimension;
        d->count++;
        d->sums.samples[w] += 1;
    }
}

/* false: a check has failed or was left. */
static bool displace(subject *s, setting *of, int sweeps, displacements *d, double *trials,
                     double *step)
{
    run r;
    snapshot_of_run now;
    uint64_t all, accepted;
    if (!subject_open(s, of, &r)) return false;
    bool good = subject_sweep(s, &r, (uint64_t)of->equilibrate) && !run_look(&r, &now);
    for (int k = 0; k < sweeps && good; k++) {
        memory was = remember(&now);
        good = subject_sweep(s, &r, 1) && !run_look(&r, &now);
        if (good) add_displacements(of, &was, &now, 2 * k >= sweeps, d);
        forget(&was);
    }
    count_all(s, &r, &all, &accepted);
    *trials = (double)all / sweeps / of->walkers;
    const mover_slot *m = run_mover(&r, candidate);
    *step = m ? run_step(&r, m, 0) : of->step;
    run_close(&r);
    return good;
}

static setting free_particle(subject *s, int dimension)
{
    setting of = setting_new(s, dimension, 5, 1.3);
    of.equilibrate = 0;
    of.step = 0.7;
    of.target = 0.5; /* tuned in equilibration alone, and there is none */
    if (subject_key(s, "trials")) snprintf(of.keys, sizeof of.keys, "trials = 1\n");
    setting_species(s, &of, 1, -1, 1);
    setting_add(of.potentials, "[potential hard_sphere]\n");
    return of;
}

/* Whether displacements in one trial are those of a law without a longest one, as a Gaussian: its ratio of moments is 3, that of
 * a cube 1.8, of a disk 2, of a ball 15/7. Its width is then the step, or whatever is in proportion to it. */
static bool is_unbounded(const displacements *d, double trials)
{
    return trials == 1 && d->moved * d->fourth > 2.5 * d->second * d->second;
}

/* The root mean square of a component over the step, by displacements of one walker in a sweep of `trials` trials. */
static void judge_sizes(subject *s, const displacements *d, double trials)
{
    const double rms = sqrt(d->square / (double)d->count);
    if (is_unbounded(d, trials)) return;
    if (rms > 1.05 * sqrt(fmax(1, trials)))
        check_fail(
            s->findings,
            "components of displacements have the root mean square %.3g of the step in a sweep of "
            "%.3g trial moves for each particle: use the step that 'sweep' or the trial is given",
            rms, trials);
    if (trials == 1 && rms < 0.62 && d->largest > 1 + 1e-5)
        check_fail(
            s->findings,
            "a component of a displacement is %.4g times the step, with a root mean square of %.3g: no "
            "displacement may be longer than the step that the mover is given",
            d->largest, rms);
}

/* Root mean square of a component over the step that the core has told, after equilibration in which it was tuned. */
static bool find_size(subject *s, setting *of, double *size, double *trials, double *told)
{
    displacements d = {.sums = sums_new(of->walkers, of->dimension + 1)};
    *told = of->step;
    const bool good = displace(s, of, 100, &d, trials, told);
    *size = sqrt(d.square / (double)d.count) * of->step / *told;
    sums_free(&d.sums);
    return good;
}

/* The core doubles the step of a particle whose moves are all accepted, again and again, up to half of the edge. It is compared
 * as soon as it has grown: a displacement is known but for multiples of the edge, and those of a Gaussian step of a quarter of
 * the edge are not. */
static void check_tuned_step(subject *s)
{
    setting fixed = free_particle(s, 2), tuned = fixed;
    double size[2], trials[2], told;
    bool there;
    fixed.target = 0;
    fixed.step = tuned.step = 0.02 * fixed.edge;
    check_begin(s->findings, "tuned step", NAN,
                "displacements over the step, with a step that the core has tuned and "
                "one that it has not");
    there = find_size(s, &fixed, &size[0], &trials[0], &told);
    tuned.step = fixed.step; /* which may have been too long for it */
    for (tuned.equilibrate = 1; there && tuned.equilibrate <= 1600; tuned.equilibrate *= 2) {
        there = find_size(s, &tuned, &size[1], &trials[1], &told);
        if (told > 1.5 * tuned.step) break;
    }
    if (there && (told <= 1.5 * tuned.step || told > 0.125 * fixed.edge))
        check_leave(s->findings,
                    "the step is %.3g after tuning from %.3g, which shows nothing in a box of %.3g",
                    told, tuned.step, fixed.edge);
    else if (there && size[0] == 0 && size[1] == 0)
        check_leave(s->findings, "the mover does not move a particle that is alone");
    else if (there && (trials[0] != 1 || trials[1] != 1))
        check_leave(s->findings,
                    "the mover makes more than one trial move of a particle in a sweep");
    else if (there && fabs(size[1] - size[0]) > 0.1 * size[0])
        check_fail(
            s->findings,
            "components of displacements have a root mean square of %.3g of the step in 'step', and of %.3g of a "
            "step that the core has tuned: use the step that 'sweep' or the trial is given, not the parameter",
            size[0], size[1]);
    check_end(s->findings);
}

static void check_displacements(subject *s, int dimension)
{
    static const char *const names[] = {"the mean step along x", "the mean step along y",
                                        "the mean step along z"};
    static const double expected[4] = {0};
    setting of = free_particle(s, dimension);
    double trials, step;
    displacements d = {.sums = sums_new(of.walkers, dimension + 1)};
    check_begin(
        s->findings, dimension == 2 ? "steps, 2 dimensions" : "steps, 3 dimensions", LIMIT_LOG_P,
        "displacements of a free particle with the step: size, direction, and the same size early and "
        "late in production; as -log10 of p");
    const int sweeps = (s->target->quick ? 400 : 1200) / (subject_is_slow(s, dimension) ? 4 : 1);
    if (displace(s, &of, sweeps, &d, &trials, &step)) {
        const comparison c = sums_compare(&d.sums, expected);
        judge_sizes(s, &d, trials);
        if (d.square == 0)
            check_leave(s->findings, "the mover does not move a particle that is alone");
        else if (c.worst == dimension)
            check_value(
                s->findings, c.minus_log_p,
                "displacements are of another size late in production than early, %s: a step may be tuned "
                "in equilibration alone, which the core does",
                deviation_of(-c.z).text);
        else
            check_value(
                s->findings, c.minus_log_p,
                "%s of a free particle is %+.4f(%.1g) of the step instead of 0, %s: draw each "
                "displacement as often as its reverse",
                names[c.worst], c.mean, c.error, deviation_of(c.z).text);
    }
    sums_free(&d.sums);
    check_end(s->findings);
}

/* ---- The acceptance follows the step ------------------------------------------------------------ */

static bool find_acceptance(subject *s, setting *of, double *acceptance)
{
    run r;
    uint64_t trials, accepted;
    if (!subject_open(s, of, &r)) return false;
    const bool good = subject_sweep(s, &r, 200);
    count_all(s, &r, &trials, &accepted);
    *acceptance = trials > 0 ? (double)accepted / (double)trials : 0;
    run_close(&r);
    return good;
}

static bool has_step(const subject *s, bool of_length)
{
    for (int k = 0; k < s->mover->move_count; k++) {
        const plugmc_move *m = &s->mover->moves[k];
        if (!m->step_unit || !subject_key(s, m->step_key)) continue;
        if (!strcmp(m->step_unit, "length") || (!of_length && !*m->step_unit)) return true;
    }
    return false;
}

static void check_acceptance(subject *s)
{
    setting of = setting_of_family(s, false);
    double whole, half;
    of.walkers = 64;
    of.equilibrate = 0;
    check_begin(s->findings, "acceptance and step", NAN,
                "the acceptance with a step and with half of it");
    bool there = find_acceptance(s, &of, &whole);
    of.step *= 0.5;
    of.part *= 0.5;
    there = there && find_acceptance(s, &of, &half);
    if (there && fabs(half - whole) < 0.005 && whole > 0.999)
        check_fail(
            s->findings,
            "%.4f of all trial moves are counted as accepted, whatever the step is: count what is "
            "accepted",
            whole);
    else if (there && fabs(half - whole) < 0.005)
        check_fail(
            s->findings,
            "the acceptance is %.4f with a step and %.4f with half of it: use the step that 'sweep' or the "
            "trial is given, not the parameter",
            whole, half);
    check_end(s->findings);
}

int checks_of_configurations(const target *target, findings *f, void *argument)
{
    (void)target, (void)f;
    check_configurations(argument);
    return 0;
}

int checks_of_steps(const target *target, findings *f, void *argument)
{
    subject *s = argument;
    (void)target;
    check_free_places(s);
    check_counts(s);
    if (!has_step(s, false)) {
        check_not_covered(f, "steps", "no move has a step that is a length or a number");
        return 0;
    }
    check_acceptance(s);
    for (int dimension = 2; dimension <= 3; dimension++)
        if (s->family == FAMILY_POSITIONS && has_step(s, true)) check_displacements(s, dimension);
    if (s->family == FAMILY_POSITIONS && has_step(s, true) && subject_is_tuned(s))
        check_tuned_step(s);
    return 0;
}
