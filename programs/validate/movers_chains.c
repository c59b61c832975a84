/* Whether a mover's chain depends on nothing but the seed, and whether what it reports is what it does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "movers.h"

/* ---- Configurations kept and compared ---------------------------------------------------------- */

/* Everything of `walkers` walkers from walker `from` on, as one block of memory. */
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

static kept keep(const snapshot_of_run *now, int from, int walkers)
{
    kept k = {.walkers = walkers};
    const size_t first = (size_t)from, n = (size_t)walkers, row = 3 * (size_t)now->capacity;
    put(&k, now->positions + first * row, n * row * sizeof(double));
    k.positions = k.bytes;
    put(&k, now->counts + first * (size_t)now->species,
        n * (size_t)now->species * sizeof *now->counts);
    put(&k, now->rungs + first, n * sizeof *now->rungs);
    put(&k, now->weights + first, n * sizeof *now->weights);
    for (int w = from; w < from + walkers; w++) put(&k, &now->boxes[w].volume, sizeof(double));
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

/* The system after these two batches of sweeps, walkers from `from` on. false: a check has failed or was left. */
static bool make_chain(subject *s, setting *of, int first, int second, int from, int walkers,
                       kept *out)
{
    run r;
    snapshot_of_run now;
    if (!subject_open(s, of, &r)) return false;
    bool good = subject_sweep(s, &r, (uint64_t)first);
    if (good && second > 0) good = subject_sweep(s, &r, (uint64_t)second);
    if (good && run_look(&r, &now)) {
        check_fail(s->findings, "the configuration cannot be read: %s", r.error);
        good = false;
    }
    if (good) *out = keep(&now, from, walkers);
    run_close(&r);
    return good;
}

/* ---- One chain for each seed ------------------------------------------------------------------- */

enum { SWEEPS = 20, WALKERS = 4 };

static setting small(subject *s)
{
    setting of = setting_of_family(s, false);
    of.walkers = WALKERS;
    of.equilibrate = SWEEPS / 2;
    of.seed = 99;
    return of;
}

static void compare(subject *s, setting *of, int first, int second, int from, const kept *good,
                    const char *check, const char *compared, const char *advice)
{
    kept other = {0};
    check_begin(s->findings, check, 0, "%s", compared);
    if (make_chain(s, of, first, second, from, good->walkers, &other) && !is_same(good, &other))
        check_value(s->findings, (double)coordinates_apart(good, &other) + 1,
                    "%lld of %lld coordinates differ, or a number of particles, a box or a weight "
                    "does: %s",
                    (long long)coordinates_apart(good, &other),
                    (long long)(good->positions / sizeof(double)), advice);
    else if (check_running(s->findings))
        check_value(s->findings, 0, "same");
    free(other.data);
    check_end(s->findings);
}

static void compare_seeds(subject *s, const kept *good)
{
    setting of = small(s);
    kept other = {0};
    of.seed = 100;
    check_begin(s->findings, "another seed", 0, "positions after %d sweeps with two seeds", SWEEPS);
    /* the random initial states differ: so does every particle that has not been moved */
    if (make_chain(s, &of, SWEEPS, 0, 0, WALKERS, &other)) {
        if (is_same(good, &other))
            check_fail(s->findings, "two seeds give one chain: draw random numbers with "
                                    "plugmc_draw(host->seed, sweep, walker, ...)");
        else
            check_value(s->findings, 0, "different");
    }
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
    check_begin(s->findings, "walkers by number", 0,
                "walkers 2 and 3 of four with the same two made by a run with first_walker = 2");
    if (make_chain(s, &of, SWEEPS, 0, 0, WALKERS / 2, &other)) {
        if (memcmp(good->data + (WALKERS / 2) * row, other.data, (WALKERS / 2) * row) != 0)
            check_fail(s->findings,
                       "the same walkers have other chains in a run that begins with walker 2: draw "
                       "random numbers for the number of the walker (plugmc_draw adds "
                       "first_walker), and keep nothing from one walker to the next");
        else
            check_value(s->findings, 0, "same");
        if (!memcmp(good->data, good->data + row, row))
            check_fail(s->findings, "walkers 0 and 1 are the same: the number of the walker has to "
                                    "be in every random number");
    }
    free(other.data);
    check_end(s->findings);
}

int checks_of_chains(const target *target, findings *f, void *argument)
{
    subject *s = argument;
    kept good = {0};
    setting of = small(s);
    setting threads = of;
    threads.threads = 2;
    (void)target;
    check_begin(f, "sweeps", 0, "a run of %d sweeps ends well", SWEEPS);
    const bool there = make_chain(s, &of, SWEEPS, 0, 0, WALKERS, &good);
    if (there) check_value(f, 0, "well");
    check_end(f);
    if (!there) return 0;
    compare(s, &of, SWEEPS, 0, 0, &good, "same seed, same chain", "two runs with one seed",
            "something is not set at the start, or random numbers are not those of plugmc_draw");
    compare(s, &of, SWEEPS / 2, SWEEPS / 2, 0, &good, "sweeps in two calls",
            "20 sweeps with twice 10 sweeps",
            "how sweeps are divided among calls must not matter; count from sweeps->first, and keep "
            "nothing from call to call that is not in the configuration or archived");
    compare(s, &of, SWEEPS / 2 + 3, SWEEPS / 2 - 3, 0, &good, "sweeps in uneven calls",
            "20 sweeps with 13 and 7",
            "how sweeps are divided among calls must not matter; count from sweeps->first, and keep "
            "nothing from call to call that is not in the configuration or archived");
    compare(s, &threads, SWEEPS, 0, 0, &good, "threads", "one thread with two",
            "the chain must not depend on threads: let each walker have its own numbers and sums");
    compare_seeds(s, &good);
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
    if (good) *out = keep(&now, 0, WALKERS);
    run_close(&r);
    return good;
}

/* Undisturbed, and with a checkpoint after `first` sweeps from which a second run goes on. */
static void compare_resumed(subject *s, const char *check, int first)
{
    setting of = small(s);
    kept good = {0}, other = {0};
    run r;
    char path[100];
    snprintf(path, sizeof path, "%s/run%d.h5", s->folder, first);
    setting_add(of.run, "output = %s\n", path);
    check_begin(s->findings, check, 0, "a run of %d sweeps with one that is resumed after %d", SWEEPS,
                first);
    bool there = make_chain(s, &of, SWEEPS, 0, 0, WALKERS, &good) && subject_open(s, &of, &r);
    if (there) {
        there = subject_sweep(s, &r, (uint64_t)first);
        if (there && run_checkpoint(&r)) {
            check_fail(s->findings, "its checkpoint cannot be written: %s", r.error);
            there = false;
        }
        run_close(&r);
    }
    if (there && resume(s, path, SWEEPS - first, &other)) {
        if (!is_same(&good, &other))
            check_value(s->findings, (double)coordinates_apart(&good, &other) + 1,
                        "%lld of %lld coordinates differ, or a number of particles, a box or a weight "
                        "does: let 'archive' save what the mover keeps beyond the configuration and "
                        "the steps, and 'load' set all that follows from the configuration",
                        (long long)coordinates_apart(&good, &other),
                        (long long)(good.positions / sizeof(double)));
        else
            check_value(s->findings, 0, "same");
    }
    free(good.data);
    free(other.data);
    remove(path);
    check_end(s->findings);
}

int checks_of_resuming(const target *target, findings *f, void *argument)
{
    (void)target, (void)f;
    compare_resumed(argument, "resumed in equilibration", 7);
    compare_resumed(argument, "resumed in production", 14);
    return 0;
}
