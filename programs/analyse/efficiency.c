/* What people compare wave functions by: variance over |energy|, and how much a second of the run is worth,
 * 1 / (error^2 time). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "records/numbers.h"
#include "records/results.h"

static const number *beside(const number *all, int count, const number *of, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(all[i].observable, of->observable) && !strcmp(all[i].name, name))
            return &all[i];
    return NULL;
}

/* Wall time of the sweeps that the samples are from. */
static double seconds_of(const output_data *out, const number *energy)
{
    for (int i = 0; i < out->quantity_count; i++) {
        const quantity_record *q = &out->quantities[i];
        if (!strcmp(q->observable, energy->observable) && !strcmp(q->name, energy->name))
            return out->sweep ? out->seconds * (double)(q->samples * q->period) / (double)out->sweep
                              : 0;
    }
    return 0;
}

void print_efficiency(const output_data *out)
{
    int count;
    number *all = numbers_of(out, &count);
    for (const number *e = all; e < all + count; e++) {
        const number *variance = beside(all, count, e, "variance");
        const double seconds = seconds_of(out, e), size = fabs(e->value);
        char text[64];
        if (strcmp(e->name, "energy") || !variance || isnan(variance->value) || !(size > 0))
            continue;
        printf(
            "%s: variance/|energy| %s", e->observable,
            with_error(variance->value / size, variance->error / size, variance->converged, text));
        if (e->error > 0 && seconds > 0)
            printf(", 1/(error^2 time) %.3g/(%s^2 s) in %.3g s",
                   1 / (e->error * e->error * seconds), e->unit, seconds);
        putchar('\n');
    }
    free(all);
}
