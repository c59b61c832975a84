/* Distributions of a number at a point, and where two peaks of one have the same weight. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reweight.h"
#include "records/results.h"

enum { MOST_BINS = 100000 };

/* Bins of a number: one for each whole number if it is one, else `wanted` of equal width. */
typedef struct bins {
    int count;
    double low, width;
    bool whole;
} bins;

static int make_bins(bins *b, const samples *s, const measured *q, int wanted, report *r)
{
    double low = INFINITY, high = -INFINITY;
    *b = (bins){.whole = wanted == 0};
    for (int64_t n = 0; n < s->count; n++) {
        low = fmin(low, q->value[n]);
        high = fmax(high, q->value[n]);
        b->whole = b->whole && q->value[n] == floor(q->value[n]);
    }
    if (!isfinite(low) || !isfinite(high) || !(high > low))
        return report_error(r, EXIT_INPUT, NULL, 0, "'%s' does not vary", q->name);
    if (b->whole && high - low >= MOST_BINS) b->whole = false;
    b->count = b->whole ? (int)(high - low) + 1 : wanted ? wanted : 50;
    b->width = b->whole ? 1 : (high - low) / b->count;
    b->low = b->whole ? low - 0.5 : low;
    return 0;
}

static int bin_of(const bins *b, double x)
{
    const int k = (int)((x - b->low) / b->width);
    return k < b->count ? k : b->count - 1;
}

static double middle(const bins *b, int k) { return b->low + (k + 0.5) * b->width; }

int print_histogram(const reweighted *w, const measured *q, int wanted, report *r)
{
    const samples *s = w->from->of;
    bins b;
    const int code = make_bins(&b, s, q, wanted, r);
    if (code) return code;
    double *inside = checked(calloc((size_t)s->count, sizeof *inside));
    printf("# %s probability%s error error_is_lower_bound\n", q->name,
           b.whole ? "" : "_of_the_bin");
    for (int k = 0; k < b.count; k++) {
        for (int64_t n = 0; n < s->count; n++) inside[n] = bin_of(&b, q->value[n]) == k;
        const answer a = reweighted_mean(w, inside, NULL);
        printf("%.12g %.12g %.6g %d\n", middle(&b, k), a.value, a.error, !a.converged);
    }
    free(inside);
    return 0;
}

/* ---- Two phases ---------------------------------------------------------------------------------------- */

/* What is looked at for a value of the key. */
typedef struct search {
    const analysed *run;
    const mixture *from;
    const measured *q;
    const bins *b;
    point at; /* its last key is the one that is varied */
    double cut;
    double *p; /* [bins] */
    report *r;
} search;

static int weigh(search *s, double value, reweighted *w)
{
    const session *session = &s->run->session;
    s->at.value[s->at.count - 1] = value;
    const int code =
        ladder_multipliers(&session->engine.config, &session->engine.system, s->at.count, s->at.key,
                           s->at.value, s->at.multipliers, &s->at.kT, s->r);
    return code ? code : reweighted_make(w, s->from, s->at.multipliers, s->r);
}

/* Weight of what is above the cut. */
static int share_above(search *s, double value, double *share)
{
    reweighted w;
    const int code = weigh(s, value, &w);
    *share = 0;
    for (int64_t n = 0; n < s->from->of->count && !code; n++)
        if (s->q->value[n] > s->cut) *share += w.pi[n];
    reweighted_free(&w);
    return code;
}

/* The value in low ... high at which both sides have the same weight. */
static int halve(search *s, double low, double high, double *value)
{
    double at_low, at_high, share;
    int code = share_above(s, low, &at_low);
    if (!code) code = share_above(s, high, &at_high);
    if (code) return code;
    if ((at_low - 0.5) * (at_high - 0.5) > 0)
        return report_error(s->r, EXIT_INPUT, NULL, 0,
                            "between %s = %g and %g, the sampled values, two phases never "
                            "have the same weight",
                            s->at.key[s->at.count - 1], low, high);
    for (int k = 0; k < 100 && !code; k++) {
        *value = 0.5 * (low + high);
        code = share_above(s, *value, &share);
        *((share > 0.5) == (at_low > 0.5) ? &low : &high) = *value;
    }
    return code;
}

static int histogram_at(search *s, double value)
{
    reweighted w;
    const int code = weigh(s, value, &w);
    memset(s->p, 0, (size_t)s->b->count * sizeof *s->p);
    for (int64_t n = 0; n < s->from->of->count && !code; n++)
        s->p[bin_of(s->b, s->q->value[n])] += w.pi[n];
    reweighted_free(&w);
    return code;
}

/* The lowest bin between the largest one on each side of the cut; false where there is no valley. */
static bool find_valley(const search *s, int *cut)
{
    int left = 0, right = *cut, low;
    for (int k = 0; k < s->b->count; k++) {
        int *peak = k < *cut ? &left : &right;
        if (s->p[k] > s->p[*peak]) *peak = k;
    }
    low = left;
    for (int k = left; k <= right; k++)
        if (s->p[k] < s->p[low]) low = k;
    *cut = low;
    return low > left && low < right && s->p[low] < 0.6 * fmin(s->p[left], s->p[right]);
}

/* The phases part at the lowest point between two peaks of one size. */
static int part(search *s, double low, double high, double *value)
{
    enum { MOST_ROUNDS = 50 };
    int cut = s->b->count / 2, before = -1, code = 0;
    bool two = true;
    for (int k = 0; k < MOST_ROUNDS && cut != before && two && !code; k++) {
        before = cut;
        s->cut = s->b->low + cut * s->b->width;
        code = halve(s, low, high, value);
        if (!code) code = histogram_at(s, *value);
        if (!code) two = find_valley(s, &cut);
    }
    if (code || two) return code;
    return report_error(s->r, EXIT_INPUT, NULL, 0,
                        "there are not two phases: the distribution of '%s' has no valley where "
                        "both sides have the same weight",
                        s->q->name);
}

/* Means of x over both phases at `value`; with influence [2][samples] and, of the share above, [samples]. */
static int phases(search *s, double value, const double *x, double mean[2], double *influence,
                  double *of_share)
{
    const samples *all = s->from->of;
    double *part = checked(calloc((size_t)all->count, 2 * sizeof *part)),
           *times = part + all->count;
    double *own = checked(calloc((size_t)all->count, sizeof *own));
    reweighted w;
    const int code = weigh(s, value, &w);
    for (int side = 0; side < 2 && !code; side++) {
        for (int64_t n = 0; n < all->count; n++) {
            part[n] = (s->q->value[n] > s->cut) == (side == 1);
            times[n] = part[n] * x[n];
        }
        double *to = influence ? influence + side * all->count : own;
        const double weight = reweighted_mean(&w, part, own).value;
        if (of_share && side == 1) memcpy(of_share, own, (size_t)all->count * sizeof *own);
        mean[side] = reweighted_mean(&w, times, influence ? to : part).value / weight;
        for (int64_t n = 0; n < all->count && influence; n++)
            to[n] = (to[n] - mean[side] * own[n]) / weight;
    }
    reweighted_free(&w);
    free(part);
    free(own);
    return code;
}

static void print_answer(const char *name, const answer *a, const char *unit, bool csv)
{
    char text[64];
    if (csv)
        printf("%s,%.17g,%.17g,%d,%s\n", name, a->value, a->error, !a->converged, unit);
    else
        printf("  %-28s %-20s %s\n", name, with_error(a->value, a->error, a->converged, text),
               unit);
}

/* What changes with a sample at fixed value, and what through the value at which shares are equal. */
static int print_phases(search *s, double value, double spread, bool csv)
{
    const samples *all = s->from->of;
    const size_t n = (size_t)all->count;
    double *influence = checked(calloc(4 * n, sizeof *influence)), *share = influence + 2 * n,
           *shift = share + n, above[2], mean[2], beside[2][2];
    const double by = 1e-4 * spread;
    int code = phases(s, value, s->q->value, mean, influence, share);
    for (int k = 0; k < 2 && !code; k++) {
        code = share_above(s, value + (k ? by : -by), &above[k]);
        if (!code) code = phases(s, value + (k ? by : -by), s->q->value, beside[k], NULL, NULL);
    }
    const double slope = (above[1] - above[0]) / (2 * by);
    for (size_t k = 0; k < n; k++) shift[k] = -share[k] / slope;
    for (int side = 0; side < 2 && !code; side++)
        for (size_t k = 0; k < n; k++)
            influence[(size_t)side * n + k] +=
                (beside[1][side] - beside[0][side]) / (2 * by) * shift[k];
    if (!code) {
        const answer at = influence_error(s->from, value, shift),
                     low = influence_error(s->from, mean[0], influence),
                     high = influence_error(s->from, mean[1], influence + n);
        char name[160];
        if (csv)
            printf("quantity,value,error,error_is_lower_bound,unit\n%s parted at,%.17g,,0,%s\n",
                   s->q->name, s->cut, s->q->unit);
        else
            printf("coexistence, parted at %s = %.10g:\n", s->q->name, s->cut);
        print_answer(s->at.key[s->at.count - 1], &at, "", csv);
        snprintf(name, sizeof name, "%s below", s->q->name);
        print_answer(name, &low, s->q->unit, csv);
        snprintf(name, sizeof name, "%s above", s->q->name);
        print_answer(name, &high, s->q->unit, csv);
    }
    free(influence);
    return code;
}

/* From the smallest to the largest value of the key among the rungs of all files. */
static int range_of_key(const analysed *run, const char *key, double *low, double *high, report *r)
{
    const ladder *l = &run->session.engine.ladder;
    *low = INFINITY, *high = -INFINITY;
    for (int d = 0; d < l->rank; d++)
        for (int32_t k = 0; k < l->rungs && !strcmp(l->keys[d], key); k++) {
            *low = fmin(*low, l->values[k * l->rank + d]);
            *high = fmax(*high, l->values[k * l->rank + d]);
        }
    if (*high > *low) return 0;
    return report_error(r, EXIT_INPUT, run->path, 0, "coexistence along %s needs a [ladder] of it",
                        key);
}

int print_coexistence(const analysed *first, const mixture *m, const measured *q, const char *key,
                      const point *at, bool csv, report *r)
{
    double low, high, value = 0;
    bins b;
    int code = range_of_key(first, key, &low, &high, r);
    if (!code) code = make_bins(&b, m->of, q, 0, r);
    if (code) return code;
    search s = {.run = first, .from = m, .q = q, .b = &b, .at = *at, .r = r};
    s.at.key[s.at.count++] = key;
    s.at.multipliers = checked(calloc((size_t)m->of->width, sizeof *s.at.multipliers));
    s.p = checked(calloc((size_t)b.count, sizeof *s.p));
    code = part(&s, low, high, &value);
    if (!code) code = print_phases(&s, value, high - low, csv);
    free(s.at.multipliers);
    free(s.p);
    return code;
}
