/* Runs side by side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "archive/frozen.h"
#include "records/numbers.h"
#include "records/results.h"

typedef struct found {
    number *all;
    int count;
} found;

/* Sum of squared deviations from the weighted mean over squared errors: (number of runs - 1) on average where
 * all are equal. NaN where an error is missing or zero. */
static double chi_square(const number *const *of, int runs)
{
    double weights = 0, sum = 0, square = 0;
    for (int r = 0; r < runs; r++) {
        const double weight = 1 / (of[r]->error * of[r]->error);
        if (!isfinite(weight) || !isfinite(of[r]->value)) return NAN;
        weights += weight;
        sum += weight * of[r]->value;
    }
    for (int r = 0; r < runs; r++) square += pow((of[r]->value - sum / weights) / of[r]->error, 2);
    return square;
}

/* Probability that a normal number is further out than z on either side. */
static double beyond(double z) { return erfc(z / M_SQRT2); }

/* The z that the largest of `count` numbers exceeds once in twenty times. */
static double limit_of_largest(int count)
{
    double low = 0, high = 40;
    while (high - low > 1e-6) {
        const double z = 0.5 * (low + high);
        *(1 - pow(1 - beyond(z), count) > 0.05 ? &low : &high) = z;
    }
    return high;
}

/* As many standard errors of one difference as this chi^2 of k differences is improbable (the cube root of
 * chi^2/k is nearly normal: E. B. Wilson, M. M. Hilferty, Proc. Natl. Acad. Sci. 17, 684 (1931)). */
static double deviation_of(double square, int k)
{
    const double spread = 2.0 / (9 * k);
    return (cbrt(square / k) - (1 - spread)) / sqrt(spread);
}

/* One line; z, or NaN. */
static double compare_number(const number *const *of, int runs, int wide)
{
    char text[64], *name;
    checked(asprintf(&name, "%s.%s", of[0]->observable, of[0]->name) < 0 ? NULL : name);
    printf("%-*s", wide, name);
    free(name);
    for (int r = 0; r < runs; r++)
        printf(" %-18s", isnan(of[r]->value)
                             ? "none"
                             : with_error(of[r]->value, of[r]->error, of[r]->converged, text));
    const double square = chi_square(of, runs);
    const double z = runs > 2 ? deviation_of(square, runs - 1)
                              : (of[1]->value - of[0]->value) / hypot(of[0]->error, of[1]->error);
    if (isnan(square))
        printf(" %8s\n", "");
    else
        printf(" %8.2f\n", z);
    return isnan(square) ? NAN : z;
}

static int width_of(const found *f)
{
    size_t wide = 24;
    for (int i = 0; i < f->count; i++) {
        const size_t length = strlen(f->all[i].observable) + 1 + strlen(f->all[i].name);
        if (length > wide) wide = length;
    }
    return (int)wide;
}

static void compare_all(const found *f, int runs)
{
    const number **of = checked(calloc((size_t)runs, sizeof *of));
    const int wide = width_of(&f[0]);
    int compared = 0, left_out = 0;
    double largest = 0;
    bool bounds = false, unknown = false;
    printf("%-*s", wide, "quantity");
    for (int r = 0; r < runs; r++) printf(" %-18d", r + 1);
    printf(" %8s\n", "z");
    for (int i = 0; i < f[0].count; i++) {
        bool everywhere = true;
        for (int r = 0; r < runs; r++) {
            of[r] = number_like(f[r].all, f[r].count, &f[0].all[i]);
            everywhere = everywhere && of[r];
        }
        left_out += !everywhere;
        if (!everywhere) continue;
        for (int r = 0; r < runs; r++) {
            bounds = bounds || (isfinite(of[r]->error) && !of[r]->converged);
            unknown = unknown || (isfinite(of[r]->value) && isnan(of[r]->error));
        }
        const double z = compare_number(of, runs, wide);
        if (isnan(z)) continue;
        compared++;
        largest = fmax(largest, runs > 2 ? z : fabs(z));
    }
    if (bounds) printf("* the error is a lower bound, so z is an upper bound\n");
    if (unknown) printf("* without an error bar: the error is unknown, and so is z\n");
    if (left_out) printf("%d quantities of the first file are missing in others\n", left_out);
    if (compared)
        printf("largest z: %.2f; without differences the largest of %d exceeds %.2f with "
               "probability 1/20\n",
               largest, compared, limit_of_largest(compared));
    free(of);
}

static void say_what_is_frozen(const output_data *out, int run)
{
    char words[FROZEN_WORDS];
    int count;
    frozen_moves *all = frozen_find(out, &count);
    for (int i = 0; i < count; i++) printf("run %d: %s\n", run, frozen_words(&all[i], words));
    free(all);
}

int compare_runs(const analysed *runs, int count)
{
    found *f = checked(calloc((size_t)count, sizeof *f));
    for (int r = 0; r < count; r++)
        f[r].all = numbers_of(&runs[r].session.records.output, &f[r].count);
    compare_all(f, count);
    for (int r = 0; r < count; r++) say_what_is_frozen(&runs[r].session.records.output, r + 1);
    for (int r = 0; r < count; r++) free(f[r].all);
    free(f);
    return EXIT_DONE;
}
