/* Results as text for other programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "archive/cell.h"
#include "records/numbers.h"

/* ---- CSV ---------------------------------------------------------------------------------------------- */

/* Units and names may have commas. */
static void put_text(const char *text) { cell_write(stdout, text, ""); }

/* Nothing where there is no number. */
static void put_value(double value)
{
    putchar(',');
    if (!isnan(value)) printf("%.17g", value);
}

void list_numbers(const output_data *out)
{
    int count;
    number *all = numbers_of(out, &count);
    puts("quantity,value,error,error_is_lower_bound,correlation_time_sweeps,samples,unit,"
         "correlation_time_is_upper_bound");
    for (const number *n = all; n < all + count; n++) {
        char *name;
        checked(asprintf(&name, "%s.%s", n->observable, n->name) < 0 ? NULL : name);
        put_text(name);
        free(name);
        put_value(n->value);
        put_value(n->error);
        printf(",%d", isfinite(n->error) && !n->converged);
        put_value(n->correlation_time);
        if (n->samples)
            printf(",%lld,", (long long)n->samples);
        else
            printf(",,");
        put_text(n->unit);
        printf(",%d\n", n->time_is_bound);
    }
    free(all);
}

/* ---- One quantity ------------------------------------------------------------------------------------- */

/* The places along the axes of value k; of an axis without values, the index from 0. */
static void put_place(const axes *a, int64_t k)
{
    int64_t at[PLUGMC_MOST_RANK];
    for (int d = a->rank - 1; d >= 0; d--) at[d] = k % a->shape[d], k /= a->shape[d];
    for (int d = 0; d < a->rank; d++)
        printf("%.17g ", a->values[d] ? a->values[d][at[d]] : (double)at[d]);
}

/* A blank line where all axes but the first begin anew, which gnuplot takes for the end of a line. */
static void put_array(const axes *a, const double *value, const double *error,
                      const bool *converged)
{
    const int64_t length = axes_length(a), line = a->rank > 1 ? length / a->shape[0] : length;
    printf("#");
    for (int d = 0; d < a->rank; d++) printf(" %s", a->names[d] ? a->names[d] : "index");
    puts(" value error error_is_lower_bound");
    for (int64_t k = 0; k < length; k++) {
        if (k && k % line == 0) putchar('\n');
        put_place(a, k);
        printf("%.17g %.17g %d\n", value[k], error[k], isfinite(error[k]) && !converged[k]);
    }
}

/* sweep, then a column a walker. */
static void put_series(const output_data *out, const quantity_record *q)
{
    const int64_t measured = (int64_t)(out->sweep - out->equilibrate) / q->period;
    puts("# sweep, then a column a walker");
    for (int64_t k = 0; k < q->samples; k++) {
        printf("%lld", (long long)((int64_t)out->equilibrate +
                                   (measured - q->samples + k + 1) * q->period));
        for (int32_t w = 0; w < q->walkers; w++) printf(" %.17g", q->series[k * q->walkers + w]);
        putchar('\n');
    }
}

static bool is_called(const char *observable, const char *name, const char *word)
{
    const size_t length = strlen(observable);
    return !strncmp(word, observable, length) && word[length] == '.' &&
           !strcmp(word + length + 1, name);
}

static int no_such(const output_data *out, const char *name, report *r)
{
    const int all = out->quantity_count + out->derived_count;
    char **names = checked(calloc((size_t)all + 1, sizeof *names));
    for (int i = 0; i < all; i++) {
        const quantity_record *q = i < out->quantity_count ? &out->quantities[i] : NULL;
        const derived_record *d = q ? NULL : &out->derived[i - out->quantity_count];
        checked(asprintf(&names[i], "%s.%s", q ? q->observable : d->observable,
                         q ? q->name : d->name) < 0
                    ? NULL
                    : names[i]);
    }
    const char *near = nearest_name(name, (const char *const *)names, all);
    const int code =
        report_error(r, EXIT_INPUT, NULL, 0, "there is no quantity '%s'%s%s%s", excerpt(name).text,
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    for (int i = 0; i < all; i++) free(names[i]);
    free(names);
    return code;
}

int list_values(const output_data *out, const char *name, report *r)
{
    for (int i = 0; i < out->quantity_count; i++) {
        const quantity_record *q = &out->quantities[i];
        if (!is_called(q->observable, q->name, name)) continue;
        if (q->length > 1)
            put_array(&q->axes, q->found.means, q->found.errors, q->found.each_converged);
        else
            put_series(out, q);
        return EXIT_DONE;
    }
    for (int i = 0; i < out->derived_count; i++) {
        const derived_record *d = &out->derived[i];
        if (!is_called(d->observable, d->name, name)) continue;
        if (d->length > 1)
            put_array(&d->axes, d->values, d->errors, d->each_converged);
        else
            printf("# value error error_is_lower_bound\n%.17g %.17g %d\n",
                   d->valid ? d->value : NAN, d->valid ? d->error : NAN,
                   d->valid && isfinite(d->error) && !d->converged);
        return EXIT_DONE;
    }
    return no_such(out, name, r);
}
