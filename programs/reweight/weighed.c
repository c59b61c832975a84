/* Runs with weights of macrostates: ln p of the bins at the point of the run is that at another one but for a
 * multiple of x, where that point differs in what multiplies x alone: the chemical potential of numbers, the
 * pressure of volumes, the temperature of energies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reweight.h"
#include "archive/frozen.h"
#include "records/results.h"

/* One run with its histogram. */
typedef struct weighed {
    const analysed *run;
    const measurement *m;
    const block_average *blocks;
    const double *x; /* [bins]: from the axis */
    int64_t bins;
    double slope; /* of ln p between the point and the run */
    double *out;  /* [derived_width]: room */
    double *p;    /* [bins]: room */
} weighed;

enum { FREE_ENERGY, MEAN, VARIANCE, NUMBERS };

/* Probabilities at the point [bins], 0 where nothing is known, and ln of what they add up to before that. */
static double shift(const weighed *h, const double *ln_p, double *p)
{
    double largest = -INFINITY, sum = 0;
    for (int64_t b = 0; b < h->bins; b++) {
        p[b] = isfinite(ln_p[b]) ? ln_p[b] + h->slope * h->x[b] : -INFINITY;
        largest = fmax(largest, p[b]);
    }
    for (int64_t b = 0; b < h->bins; b++) sum += p[b] = exp(p[b] - largest);
    for (int64_t b = 0; b < h->bins; b++) p[b] /= sum;
    return log(sum) + largest;
}

/* Means of the transition counts -> free energy, mean and variance of x, and p [bins]. */
static int derive(void *argument, const double *means, double *outputs)
{
    weighed *h = argument;
    const instance *i = h->m->instance;
    const int code = i->plugin->observable->derive(i->data, means, h->out);
    double mean = 0, square = 0;
    if (code) return code;
    outputs[FREE_ENERGY] = -shift(h, h->out, h->p);
    for (int64_t b = 0; b < h->bins; b++) mean += h->p[b] * h->x[b];
    for (int64_t b = 0; b < h->bins; b++) square += h->p[b] * (h->x[b] - mean) * (h->x[b] - mean);
    outputs[MEAN] = mean;
    outputs[VARIANCE] = square;
    memcpy(outputs + NUMBERS, h->p, (size_t)h->bins * sizeof *h->p);
    return 0;
}

/* What multiplies x at a point less that of the run; false if something else differs, too. */
static bool find_slope(const weighed *h, const point *p, double *slope)
{
    const session *session = &h->run->session;
    const plugmc_macrostates *of = session->engine.macrostates;
    const double *run = session->engine.ladder.multipliers, *at = p->multipliers;
    const int32_t terms = session->engine.system.term_count;
    double factor = 1;
    *slope = 0;
    if (PLUGMC_HAS(of, of_energy) && of->of_energy != 0) {
        for (int32_t t = 0; t < terms; t++)
            if (run[t] != 0) factor = at[t] / run[t];
        *slope += (1 - factor) / of->of_energy;
    }
    for (int32_t t = 0; t < terms; t++)
        if (fabs(at[t] - factor * run[t]) > 1e-12 * fabs(run[t])) return false;
    const bool boxes = session->engine.system.changes & PLUGMC_CHANGED_BOX;
    if (of->of_volume != 0)
        *slope += (run[terms] - at[terms]) / of->of_volume;
    else if (boxes && at[terms] != run[terms])
        return false;
    for (int32_t s = 0; s < session->engine.system.species_count; s++) {
        const double change = run[terms + 1 + s] - at[terms + 1 + s];
        if (of->of_count[s] != 0)
            *slope += change / of->of_count[s];
        else if (change != 0 && session->engine.system.changes & PLUGMC_CHANGED_COUNT)
            return false;
    }
    return true;
}

/* A point is too far where the first or the last bin that is known has a good part of the largest. */
static void warn_of_ends(const weighed *h, const double *p, report *r)
{
    static const double part = 0.02;
    int64_t first = 0, last = h->bins - 1;
    double largest = 0;
    while (first < last && p[first] == 0) first++;
    while (last > first && p[last] == 0) last--;
    for (int64_t b = first; b <= last; b++) largest = fmax(largest, p[b]);
    if (p[last] > part * largest)
        report_warning(r, h->run->path, 0,
                       "states beyond %g are as probable as those sampled there", h->x[last]);
    if (p[first] > part * largest && h->x[first] > 0)
        report_warning(r, h->run->path, 0, "states below %g are as probable as those sampled there",
                       h->x[first]);
}

static void print_numbers(const weighed *h, const point *p, const double *value,
                          const double *error, const bool *converged, bool csv)
{
    static const char *const names[NUMBERS] = {"free_energy", "mean", "variance"};
    const quantity_record *q = &h->run->session.records.output.quantities[h->m->first_quantity];
    char text[64], at[512] = "";
    for (int k = 0; p && k < p->count; k++)
        snprintf(at + strlen(at), sizeof at - strlen(at), "%s%s=%.10g", k ? "," : "", p->key[k],
                 p->value[k]);
    if (!csv) printf("at %s: %s\n", p ? at : "the point of the run", q->axes.names[0]);
    for (int k = 0; k < NUMBERS; k++)
        if (csv)
            printf("\"%s\",%s.%s,%.17g,%.17g,%d\n", at, q->observable, names[k], value[k], error[k],
                   !converged[k]);
        else
            printf("  %-28s %s\n", names[k], with_error(value[k], error[k], converged[k], text));
}

static void print_bins(const weighed *h, const double *value, const double *error,
                       const bool *converged)
{
    puts("# x probability_of_the_bin error error_is_lower_bound");
    for (int64_t b = 0; b < h->bins; b++)
        printf("%.12g %.12g %.6g %d\n", h->x[b], value[NUMBERS + b], error[NUMBERS + b],
               !converged[NUMBERS + b]);
}

static int reweigh(weighed *h, const point *p, bool bins, bool csv, report *r)
{
    const int64_t outputs = NUMBERS + h->bins;
    h->slope = 0;
    if (p && !find_slope(h, p, &h->slope))
        return report_error(r, EXIT_INPUT, h->run->path, 0,
                            "has weights of one variable, but the point differs in the "
                            "multiplier of another");
    double *value = checked(calloc(2 * (size_t)outputs, sizeof *value)), *error = value + outputs;
    bool *converged = checked(calloc((size_t)outputs, sizeof *converged));
    int code = 0;
    if (block_average_jackknife(h->blocks, derive, h, outputs, value, error, converged))
        code = report_error(r, EXIT_INPUT, h->run->path, 0,
                            "has too few data for the probabilities of its bins");
    const bool frozen = !code && reweight_is_frozen(h->run);
    for (int64_t i = 0; frozen && i < outputs; i++)
        frozen_doubt(value[i], &error[i], &converged[i]);
    if (!code) warn_of_ends(h, value + NUMBERS, r);
    if (!code && bins) print_bins(h, value, error, converged);
    if (!code && !bins) print_numbers(h, p, value, error, converged, csv);
    free(value);
    free(converged);
    return code;
}

static const measurement *measurement_of(const session *session)
{
    for (int i = 0; i < session->records.measurement_count; i++)
        if (session->records.measurements[i].instance == session->engine.weighing->instance)
            return &session->records.measurements[i];
    return NULL;
}

int reweigh_histogram(const analysed *run, const point *points, int count, bool bins, bool csv,
                      report *r)
{
    const session *session = &run->session;
    weighed h = {.run = run, .m = measurement_of(session)};
    if (!h.m || !h.m->derived_count)
        return report_error(r, EXIT_INPUT, run->path, 0,
                            "has weights from which no result is derived");
    const quantity_record *q = &session->records.output.quantities[h.m->first_quantity];
    h.blocks = &q->blocks;
    h.x = q->axes.values[0];
    h.bins = q->axes.shape[0];
    h.out = checked(calloc((size_t)h.m->derived_width + 1, sizeof *h.out));
    h.p = checked(calloc((size_t)h.bins, sizeof *h.p));
    int code = 0;
    if (csv && !bins) puts("at,quantity,value,error,error_is_lower_bound");
    for (int k = 0; k < (count ? count : 1) && !code; k++)
        code = reweigh(&h, count ? &points[k] : NULL, bins, csv, r);
    free(h.out);
    free(h.p);
    return code;
}
