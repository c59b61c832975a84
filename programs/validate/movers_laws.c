/* Means of a mover's chain against exact values. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "laws.h"
#include "movers.h"

/* A law is not covered if means of walkers vary by more than this part of what single samples do: with fewer than two
 * independent samples of each walker it is the law of where the run began. */
#define FROZEN 0.5
/* Nor is it if there is a bin that walkers neither enter nor leave: errors of other bins, which the rest of the walkers
 * visits, say nothing about how many of them began there. */
#define CLOSED 0.9

/* ---- Exact laws -------------------------------------------------------------------------------- */

struct law law_of(const char *name, const char *keys, ...)
{
    char text[400], *words[24], *rest = text, *word;
    int count = 0;
    va_list arguments;
    va_start(arguments, keys);
    vsnprintf(text, sizeof text, keys, arguments);
    va_end(arguments);
    while (count < 24 && (word = strsep(&rest, " ")))
        if (*word) words[count++] = word;
    return make_law(name, count, words);
}

/* ---- Bins -------------------------------------------------------------------------------------- */

void law_bins(law_test *t, const struct law *l, int bins)
{
    double in_bin = 0;
    t->dims = 0;
    for (int i = 0; i + 1 < l->count && t->dims < bins - 1 && t->dims < MOST_DIMS; i++) {
        in_bin += l->points[i].weight;
        const double here = l->points[i].value, next = l->points[i + 1].value;
        if (next - here <= 1e-9 * (1 + fabs(here)) || in_bin < 1.0 / bins) continue;
        t->ends[t->dims] = 0.5 * (here + next);
        t->expected[t->dims++] = in_bin;
        in_bin = 0;
    }
}

/* The bin of a value; t->dims for the last one, which is no number of the test. */
int law_bin(const law_test *t, double value)
{
    int bin = 0;
    while (bin < t->dims && !(value <= t->ends[bin])) bin++;
    return bin;
}

void law_count(const law_test *t, double value, double *out, double *samples)
{
    const int bin = law_bin(t, value);
    if (bin < t->dims) out[bin] += 1;
    *samples += 1;
}

void law_measure_volume(const law_test *t, const snapshot_of_run *now, int w, double *out,
                        double *samples)
{
    law_count(t, now->boxes[w].volume, out, samples);
}

void law_try_in_bins(subject *s, law_test *t, struct law l, int bins)
{
    law_bins(t, &l, bins);
    free(l.points);
    law_try(s, t);
}

void law_try_even(subject *s, law_test *t, bool volumes, double all)
{
    law_try_in_bins(s, t, law_of("even", volumes ? "from=0 to=%g" : "total=4", all),
                    volumes ? 12 : 5);
}

/* ---- A test ------------------------------------------------------------------------------------ */

static int unit_count(const law_test *t)
{
    return t->together < 0 ? t->runs : t->setting.walkers / (t->together > 1 ? t->together : 1);
}

static bool sample(const law_test *t, run *r, sums *sums, int of_run)
{
    snapshot_of_run now;
    const int together = t->together > 1 ? t->together : 1;
    if (run_look(r, &now)) return false;
    for (int w = 0; w < now.walkers; w += together) {
        const int unit = t->together < 0 ? of_run : w / together;
        const bool second = t->second && now.rungs[w] == 1;
        const law_test *own = second ? t->second : t;
        double numbers[2 * MOST_DIMS] = {0}, samples = 0;
        own->measure(own, &now, w, numbers + (second ? t->dims : 0), &samples);
        if (unit < sums->units) sums_add(sums, unit, numbers, samples);
    }
    return true;
}

static void describe(const law_test *t, int k, char *out, size_t size)
{
    if (t->second && k >= t->dims) {
        setting_append(out, size, "on the second rung ");
        const size_t used = strlen(out);
        return describe(t->second, k - t->dims, out + used, size - used);
    }
    if (t->names)
        snprintf(out, size, "%s", t->names[k]);
    else if (t->last && k == t->dims - 1)
        snprintf(out, size, "%s", t->last);
    else if (k == 0 || !(t->ends[k - 1] < t->ends[k]))
        snprintf(out, size, "the probability that %s is below %.3g", t->what, t->ends[k]);
    else
        snprintf(out, size, "the probability that %s is between %.3g and %.3g", t->what,
                 t->ends[k - 1], t->ends[k]);
}

static int dims_of(const law_test *t) { return t->dims + (t->second ? t->second->dims : 0); }

/* Which numbers are shares of samples: bins. */
static void find_shares(const law_test *t, bool *shares)
{
    for (int k = 0; k < t->dims; k++)
        shares[k] = (!t->names || t->named_shares) && !(t->last && k == t->dims - 1);
    if (t->second) find_shares(t->second, shares + t->dims);
}

/* Half of all walkers are on each of two rungs. */
static void judge(subject *s, const law_test *t, const sums *sums)
{
    char what[200] = "";
    double expected[2 * MOST_DIMS];
    const int dims = dims_of(t);
    for (int k = 0; k < dims; k++)
        expected[k] = !t->second    ? t->expected[k]
                      : k < t->dims ? 0.5 * t->expected[k]
                                    : 0.5 * t->second->expected[k - t->dims];
    const comparison c = sums_compare(sums, expected);
    const double times = t->second ? 2 : 1;
    describe(t, c.worst, what, sizeof what);
    if (c.frozen > FROZEN && (c.minus_log_p <= LIMIT_LOG_P || !sums->shares))
        return check_leave(
            s->findings,
            "the mover hardly changes it: only %.2g independent samples of each walker in %d sweeps, "
            "and so nothing but the law of the states in which the run begins",
            1 / c.frozen, t->samples * (t->interval > 0 ? t->interval : 1));
    if (c.most_frozen > CLOSED && sums->shares && c.minus_log_p > LIMIT_LOG_P)
        return check_leave(
            s->findings,
            "the mover hardly changes it in some of the states: walkers that are there "
            "never leave them in %d sweeps, and others do not get there",
            t->samples * (t->interval > 0 ? t->interval : 1));
    char all[80] = "which cannot be";
    if (isfinite(c.minus_log_p))
        snprintf(all, sizeof all, "all together have p = 10^-%.1f, where 10^-%d is allowed",
                 c.minus_log_p, LIMIT_LOG_P);
    check_value(s->findings, c.minus_log_p, "%s is %.5g(%.1g), exact is %.5g, %s; %s: %s", what,
                times * c.mean, times * c.error, times * expected[c.worst], deviation_of(c.z).text,
                all, t->advice);
}

/* One run. false: the check has failed or was left. */
static bool measure_run(subject *s, law_test *t, sums *sums, int number)
{
    run r;
    double *start = t->settled ? setting_settled(&t->setting) : t->begin ? t->begin(t) : NULL;
    if (!subject_open(s, &t->setting, &r)) {
        free(start);
        return false;
    }
    bool good = !start || !run_place(&r, start);
    if (!good) check_fail(s->findings, "positions of another run are refused: %s", r.error);
    free(start);
    good = good && subject_sweep(s, &r, (uint64_t)t->setting.equilibrate);
    for (int k = 0; good && k < t->samples; k++) {
        good = subject_sweep(s, &r, (uint64_t)(t->interval > 0 ? t->interval : 1));
        if (!good || sample(t, &r, sums, number)) continue;
        check_fail(s->findings, "the configuration cannot be read: %s", r.error);
        good = false;
    }
    run_close(&r);
    return good;
}

/* All findings of all child processes. */
static int count_tests(const findings *f)
{
    int count = 0;
    for (int k = 0; k < f->count; k++) count += f->list[k].limit == LIMIT_LOG_P;
    return count;
}

void law_try(subject *s, law_test *t)
{
    if (count_tests(s->findings) >= MOST_TESTS) {
        check_not_covered(s->findings, t->check, "there are %d tests already", MOST_TESTS);
        return;
    }
    if (t->samples == 0) t->samples = s->target->quick ? 400 : 1200;
    if (subject_is_slow(s, t->setting.dimension)) t->samples /= 4;
    if (t->together < 0 && t->runs == 0) t->runs = 60;
    check_begin(s->findings, t->check, LIMIT_LOG_P,
                "%s; what is allowed is a probability of 10^-6 for a right mover, here as -log10",
                t->compared);
    bool shares[2 * MOST_DIMS];
    find_shares(t, shares);
    sums sums = sums_new(unit_count(t), dims_of(t));
    if (shares[0]) sums.shares = shares;
    bool good = true;
    for (int number = 0; good && number < (t->together < 0 ? t->runs : 1); number++) {
        good = measure_run(s, t, &sums, number);
        t->setting.seed++;
    }
    if (good) judge(s, t, &sums);
    sums_free(&sums);
    check_end(s->findings);
}
