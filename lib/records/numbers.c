/* Means and derived numbers in one list. See numbers.h. */
#include "records/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

number *numbers_of(const output_data *out, int *count)
{
    number *all =
        checked(calloc((size_t)(out->quantity_count + out->derived_count) + 1, sizeof *all));
    *count = 0;
    for (int i = 0; i < out->quantity_count; i++) {
        const quantity_record *q = &out->quantities[i];
        const estimate *e = &q->found.scalar;
        if (q->length != 1) continue;
        all[(*count)++] = (number){q->observable,
                                   q->name,
                                   q->unit ? q->unit : "",
                                   q->samples ? e->mean : NAN,
                                   q->samples ? e->error : NAN,
                                   e->converged,
                                   e->correlation_time * (double)q->period,
                                   e->correlation_time <= 0.5,
                                   q->samples};
    }
    for (int i = 0; i < out->derived_count; i++) {
        const derived_record *d = &out->derived[i];
        if (d->length > 1) continue;
        all[(*count)++] = (number){d->observable,
                                   d->name,
                                   d->unit ? d->unit : "",
                                   d->valid ? d->value : NAN,
                                   d->valid ? d->error : NAN,
                                   d->converged,
                                   NAN,
                                   false,
                                   0};
    }
    return all;
}

const number *number_like(const number *all, int count, const number *like)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(all[i].observable, like->observable) && !strcmp(all[i].name, like->name))
            return &all[i];
    return NULL;
}
