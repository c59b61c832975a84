/* Whether a mover's chain depends on nothing but the seed, and whether what it reports is what it does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "movers.h"

/* ---- Configurations kept and compared ---------------------------------------------------------- */

/* Everything of the first `walkers` walkers as one block of memory. */
typedef struct kept {
    int32_t walkers;
    size_t positions, bytes;
    char *data;
} kept;

static void put(kept *k, const void *from, size_t bytes)
{
    k->data = checked(realloc(k->data, k->bytes + bytes + 1));
    memcpy(k->data + k->bytes, from, bytes);
    k->bytes += bytes;
}

static kept keep(const snapshot_of_run *now, int walkers)
{
    kept k = {.walkers = walkers};
    const size_t n = (size_t)walkers, row = 3 * (size_t)now->capacity;
    put(&k, now->positions, n * row * sizeof(double));
    k.positions = k.bytes;
    put(&k, now->counts, n * (size_t)now->species * sizeof *now->counts);
    put(&k, now->rungs, n * sizeof *now->rungs);
    put(&k, now->weights, n * sizeof *now->weights);
    for (int w = 0; w < walkers; w++) put(&k, &now->boxes[w].volume, sizeof(double));
    return k;
}

static bool is_same(const kept *a, const kept *b)
{
    return a->bytes == b->bytes && !memcmp(a->data, b->data, a->bytes);
}

static int64_t coordinates_apart(const kept *a, const kept *b)
{
    int64_t apart = 0;
    const size_t n = a->positions < b->positions ? a->positions : b->positions;
    for (size_t i = 0; i + sizeof(double) <= n; i += sizeof(double))
        apart += memcmp(a->data + i, b->data + i, sizeof(double)) != 0;
    return apart;
}

/* In one call; in two, the second of `second` sweeps; or one by one. */
enum { ONE_BY_ONE = -1 };

static bool sweep_in_calls(subject *s, run *r, int sweeps, int second)
{
    bool good = true;
    if (second >= 0)
        return subject_sweep(s, r, (uint64_t)(sweeps - second)) &&
               (second == 0 || subject_sweep(s, r, (uint64_t)second));
    for (int k = 0; k < sweeps && good; k++) good = subject_sweep(s, r, 1);
    return good;
}

/* The system after its sweeps. false: a check has failed or was left. */
static bool make_chain(subject *s, setting *of, int sweeps, int second, int walkers, kept *out)
{
    run r;
    snapshot_of_run now;
    if (!subject_open(s, of, &r)) return false;
    bool good = sweep_in_calls(s, &r, sweeps, second);
    if (good && run_look(&r, &now)) {
        check_fail(s->findings, "the configuration cannot be read: %s", r.error);
        good = false;
    }
    if (good) *out = keep(&now, walkers);
    run_close(&r);
    return good;
}

/* ---- One chain for each seed ------------------------------------------------------------------- */

/* As many sweeps of equilibration, unless the mover needs more, and of production. */
enum { PRODUCTION = 10, WALKERS = 4 };

static setting small(subject *s)
{
    setting of = setting_of_family(s, false);
    of.walkers = WALKERS;
    if (s->family != FAMILY_WEIGHTS) of.equilibrate = PRODUCTION;
    of.seed = 99;
    return of;
}

static int length_of(const setting *of) { return (int)of->equilibrate + PRODUCTION; }

static void compare(subject *s, setting *of, int second, const kept *good, const char *check,
                    const char *compared, const char *advice)
{
    kept other = {0};
    check_begin(s->findings, check, NAN, "%s", compared);
    if (make_chain(s, of, length_of(of), second, good->walkers, &other) && !is_same(good, &other))
        check_fail(s->findings,
                   "%lld of %lld coordinates differ, or a number of particles, a box or a weight "
                   "does: %s",
                   (long long)coordinates_apart(good, &other),
                   (long long)(good->positions / sizeof(double)), advice);
    free(other.data);
    check_end(s->findings);
}

/* From the same configuration, without other movers: what differs then the mover has drawn. */
static bool chain_from(subject *s, setting *of, const double *start, kept *out)
{
    run r;
    snapshot_of_run now;
    if (!subject_open(s, of, &r)) return false;
    bool good = !run_place(&r, start) && subject_sweep(s, &r, (uint64_t)length_of(of)) &&
                !run_look(&r, &now);
    if (good)
        *out = keep(&now, WALKERS);
    else if (check_running(s->findings))
        check_fail(s->findings, "the same configuration cannot be used again: %s", r.error);
    run_close(&r);
    return good;
}

static double *start_of(subject *s, setting *of)
{
    run r;
    snapshot_of_run now;
    double *copy = NULL;
    if (!subject_open(s, of, &r)) return NULL;
    if (!run_look(&r, &now)) {
        const size_t bytes = 3 * sizeof(double) * (size_t)(now.walkers * now.capacity);
        copy = checked(malloc(bytes + 1));
        memcpy(copy, now.positions, bytes);
    }
    run_close(&r);
    return copy;
}

static void compare_seeds(subject *s)
{
    setting of = small(s);
    kept one = {0}, other = {0};
    if (s->family == FAMILY_RUNGS || s->family == FAMILY_WEIGHTS)
        return check_not_covered(s->findings, "another seed", "other movers move the particles");
    if (s->family == FAMILY_MOLECULES)
        return check_not_covered(s->findings, "another seed",
                                 "two runs cannot be given the same rigid molecules");
    check_begin(s->findings, "another seed", NAN,
                "two runs of %d sweeps from one configuration with two seeds", length_of(&of));
    *of.before = *of.after = 0;
    double *start = start_of(s, &of);
    bool there = start && chain_from(s, &of, start, &one);
    of.seed++;
    if (there && !memcmp(one.data, start, one.positions))
        check_leave(s->findings, "the mover has changed nothing");
    else if (there && chain_from(s, &of, start, &other)) {
        if (is_same(&one, &other))
            check_fail(s->findings, "two seeds give one chain: draw random numbers with "
                                    "plugmc_draw(host->seed, sweep, walker, ...)");
    }
    free(start);
    free(one.data);
    free(other.data);
    check_end(s->findings);
}

static void compare_walkers(subject *s, const kept *good)
{
    setting of = small(s);
    const size_t row = good->positions / WALKERS;
    if (s->mover->couples || s->family == FAMILY_RUNGS || s->family == FAMILY_WEIGHTS) {
        check_not_covered(s->findings, "walkers by number", "walkers of this mover are coupled");
        return;
    }
    kept other = {0};
    of.walkers = WALKERS / 2;
    of.first_walker = WALKERS / 2;
    check_begin(s->findings, "walkers by number", NAN,
                "walkers 2 and 3 of four with the same two made by a run with first_walker = 2");
    if (make_chain(s, &of, length_of(&of), 0, WALKERS / 2, &other)) {
        if (memcmp(good->data + (WALKERS / 2) * row, other.data, (WALKERS / 2) * row) != 0)
            check_fail(
                s->findings,
                "the same walkers have other chains in a run that begins with walker 2: draw "
                "random numbers for the number of the walker (plugmc_draw adds "
                "first_walker), and keep nothing from one walker to the next");
        if (!memcmp(good->data, good->data + row, row))
            check_fail(s->findings, "walkers 0 and 1 are the same: the number of the walker has to "
                                    "be in every random number");
    }
    free(other.data);
    check_end(s->findings);
}

/* Sweeps from `first`, then as many from `second`. */
static bool chain_through(subject *s, setting *of, const double *first, const double *second,
                          kept *out)
{
    run r;
    snapshot_of_run now;
    if (!subject_open(s, of, &r)) return false;
    bool good = !run_place(&r, first) && subject_sweep(s, &r, PRODUCTION) &&
                !run_place(&r, second) && subject_sweep(s, &r, PRODUCTION) && !run_look(&r, &now);
    if (good)
        *out = keep(&now, WALKERS);
    else if (check_running(s->findings))
        check_fail(s->findings, "positions cannot be changed between sweeps: %s", r.error);
    run_close(&r);
    return good;
}

/* `one` and `other` differ before positions were replaced, `one` and `none` in what they were replaced by. */
static void judge_placed(subject *s, const kept *one, const kept *other, const kept *none)
{
    static const char advice[] =
        "let 'load' take all positions that others have changed, every time it is called, and keep "
        "none beside them";
    if (is_same(one, none))
        check_fail(s->findings, "positions that others have changed have no effect: %s", advice);
    else if (!is_same(one, other))
        check_fail(
            s->findings,
            "%lld of %lld coordinates depend on what positions were before others have changed them: %s",
            (long long)coordinates_apart(one, other), (long long)(one->positions / sizeof(double)),
            advice);
}

/* What was before positions were changed must not matter: they are then all that there is. */
static void compare_placed(subject *s)
{
    setting of = small(s);
    kept one = {0}, other = {0}, none = {0};
    if (s->family != FAMILY_POSITIONS || s->mover->couples)
        return check_not_covered(s->findings, "positions changed by others",
                                 "the mover changes more than positions");
    of.equilibrate = 0;
    *of.before = *of.after = 0;
    check_begin(s->findings, "positions changed by others", NAN,
                "runs that differ before all positions were replaced, or in what replaced them");
    double *first = start_of(s, &of);
    of.seed++;
    double *second = first ? start_of(s, &of) : NULL;
    if (second && chain_through(s, &of, first, second, &one) &&
        chain_through(s, &of, second, second, &other) && chain_through(s, &of, first, first, &none))
        judge_placed(s, &one, &other, &none);
    free(first), free(second), free(one.data), free(other.data), free(none.data);
    check_end(s->findings);
}

static const char division[] =
    "how sweeps are divided among calls must not matter; count from sweeps->first, and keep nothing from call to "
    "call that is not in the configuration or archived";

int checks_of_chains(const target *target, findings *f, void *argument)
{
    subject *s = argument;
    kept good = {0};
    setting of = small(s);
    setting threads = of;
    threads.threads = 2;
    (void)target;
    check_begin(f, "sweeps", NAN, "a run of %d sweeps ends well", length_of(&of));
    const bool there = make_chain(s, &of, length_of(&of), 0, WALKERS, &good);
    check_end(f);
    if (!there) return 0;
    compare(s, &of, 0, &good, "same seed, same chain", "two runs with one seed",
            "something is not set at the start, or random numbers are not those of plugmc_draw");
    compare(s, &of, PRODUCTION / 2, &good, "sweeps in two calls",
            "all sweeps with all but five and five", division);
    compare(s, &of, ONE_BY_ONE, &good, "sweeps one by one", "all sweeps with single ones",
            division);
    compare(s, &threads, 0, &good, "threads", "one thread with two",
            "the chain must not depend on threads: let each walker have its own numbers and sums");
    compare_seeds(s);
    compare_placed(s);
    compare_walkers(s, &good);
    free(good.data);
    return 0;
}

/* ---- Resumed runs ------------------------------------------------------------------------------ */

static bool resume(subject *s, const char *path, int sweeps, kept *out)
{
    run r;
    snapshot_of_run now;
    const int code = run_resume(&r, path);
    if (code) {
        check_fail(s->findings, "its checkpoint cannot be resumed: %s", r.error);
        run_close(&r);
        return false;
    }
    bool good = subject_sweep(s, &r, (uint64_t)sweeps);
    if (good && run_look(&r, &now)) {
        check_fail(s->findings, "the configuration cannot be read: %s", r.error);
        good = false;
    }
    if (good) *out = keep(&now, WALKERS);
    run_close(&r);
    return good;
}

/* Undisturbed, and with a checkpoint so many sweeps after equilibration from which a second run goes on. */
static void compare_resumed(subject *s, const char *check, int after)
{
    setting of = small(s);
    const int first = (int)of.equilibrate + after, all = length_of(&of);
    kept good = {0}, other = {0};
    run r;
    char path[100];
    snprintf(path, sizeof path, "%s/run%d.h5", s->folder, first);
    setting_add(of.run, "output = %s\n", path);
    check_begin(s->findings, check, NAN, "a run of %d sweeps with one that is resumed after %d",
                all, first);
    bool there = make_chain(s, &of, all, 0, WALKERS, &good) && subject_open(s, &of, &r);
    if (there) {
        there = subject_sweep(s, &r, (uint64_t)first);
        if (there && run_checkpoint(&r)) {
            check_fail(s->findings, "its checkpoint cannot be written: %s", r.error);
            there = false;
        }
        run_close(&r);
    }
    if (there && resume(s, path, all - first, &other)) {
        if (!is_same(&good, &other))
            check_fail(
                s->findings,
                "%lld of %lld coordinates differ, or a number of particles, a box or a weight "
                "does: let 'archive' save what the mover keeps beyond the configuration and "
                "the steps, and 'load' set all that follows from the configuration",
                (long long)coordinates_apart(&good, &other),
                (long long)(good.positions / sizeof(double)));
    }
    free(good.data);
    free(other.data);
    remove(path);
    check_end(s->findings);
}

int checks_of_resuming(const target *target, findings *f, void *argument)
{
    (void)target, (void)f;
    compare_resumed(argument, "resumed in equilibration", -3);
    compare_resumed(argument, "resumed in production", 4);
    return 0;
}
