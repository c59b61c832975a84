/* distribution: the series of a run against the law that its numbers should have, by chi^2.
 *
 *   distribution chi2 FILE SERIES LAW KEY=VALUE...     p above 1e-4, and samples that are independent
 *   distribution caught FILE SERIES LAW KEY=VALUE...   p below 1e-6: the run has a planted fault
 *   distribution exchanges FILE LAW vary=KEY values=A,B... KEY=VALUE...
 *                                                      acceptance of rungs with the next, |z| below 4
 *   distribution weights FILE MOVER LAW KEY=VALUE...   ln_p of a mover of flat histograms: every |z| below 5,
 *                                                      or the difference below 1e-9; weights_caught: one
 *                                                      |z| above 10
 *   distribution law LAW KEY=VALUE...                  mean and variance of the law
 *
 * FILE is the output of a run, SERIES what is below /plugmc/observables in it. Status 0 or 1; 2: bad use.
 * laws.c has the laws and their keys. Of a series `times=N` multiplies the numbers (an energy a particle
 * by N), `over=SERIES` takes the logarithm of the ratio to another series, `apart=N` takes every N-th walker.
 *
 * Bins are as equally probable as the points of a law allow. Samples are independent enough if neighbours
 * in the series of a walker are: their correlation r is asked to be zero within 4 of its errors
 * 1/sqrt(n), which leaves chi^2 with its mean within a few per cent of its standard deviation. Right
 * programs fail 1e-4 of tests by p and 6e-5 by r. */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "laws.h"

enum { BINS = 64 };

static void *good(void *pointer)
{
    if (!pointer) fprintf(stderr, "distribution: no memory\n"), exit(2);
    return pointer;
}

static void die(const char *what, const char *name)
{
    fprintf(stderr, "distribution: %s%s\n", what, name);
    exit(2);
}

/* ---- What the run has written ---------------------------------------------------------------- */

/* x[samples][walkers] */
typedef struct series {
    hsize_t samples, walkers;
    double *x;
} series;

static series read_series(const char *path, const char *name)
{
    char whole[512];
    hsize_t shape[2] = {0, 1};
    series s;
    snprintf(whole, sizeof whole, "/plugmc/%s", name);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) die("cannot read ", path);
    hid_t array = H5Dopen2(file, whole, H5P_DEFAULT);
    if (array < 0) die("there is no ", whole);
    hid_t space = H5Dget_space(array);
    if (H5Sget_simple_extent_ndims(space) > 2) die("too many dimensions: ", whole);
    H5Sget_simple_extent_dims(space, shape, NULL);
    s.samples = shape[0], s.walkers = shape[1];
    s.x = good(malloc(shape[0] * shape[1] * sizeof *s.x));
    if (H5Dread(array, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, s.x) < 0)
        die("cannot read ", whole);
    H5Sclose(space), H5Dclose(array), H5Fclose(file);
    return s;
}

static series read_observable(const char *path, const char *name)
{
    char whole[256];
    snprintf(whole, sizeof whole, "observables/%s/series", name);
    return read_series(path, whole);
}

static series observed(const char *path, const char *name, int count, char **keys)
{
    series s = read_observable(path, name);
    const char *over = text_of(count, keys, "over");
    const double times = number_of(count, keys, "times", 1);
    for (hsize_t i = 0; i < s.samples * s.walkers; i++) s.x[i] *= times;
    if (over) {
        series other = read_observable(path, over);
        if (other.samples != s.samples || other.walkers != s.walkers) die("another length: ", over);
        for (hsize_t i = 0; i < s.samples * s.walkers; i++) s.x[i] = log(s.x[i] / other.x[i]);
        free(other.x);
    }
    const hsize_t apart = (hsize_t)number_of(count, keys, "apart", 1), fewer = s.walkers / apart;
    for (hsize_t i = 0; i < s.samples * fewer; i++)
        s.x[i] = s.x[i / fewer * s.walkers + i % fewer * apart];
    s.walkers = fewer;
    return s;
}

/* ---- chi^2 ----------------------------------------------------------------------------------- */

/* ln of the probability that chi^2 of `dof` numbers is larger: the regularised incomplete gamma
 * function Q(a, x), by its series where x < a + 1, else by its continued fraction. */
static double log_p(double chi2, int dof)
{
    const double a = 0.5 * dof, x = 0.5 * chi2, front = a * log(x) - x - lgamma(a);
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (double n = a + 1; term > 1e-17 * sum; n++) sum += term *= x / n;
        return log1p(-exp(front + log(sum)));
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d; /* Lentz */
    for (int n = 1; n < 10000; n++) {
        const double an = -n * (n - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        h *= c * d;
        if (fabs(c * d - 1) < 1e-16) break;
    }
    return front + log(h);
}

/* Upper ends of bins, and the probabilities of these bins; the last one has no end. At most BINS, each
 * at least as probable as 1 / BINS, but for atoms, which have bins of their own if `all`. */
static int bins_of(const law *l, int all, double *end, double *probability)
{
    const double least = 1.0 / BINS;
    double in_bin = 0, left = 1;
    int bins = 0;
    for (int i = 0; i + 1 < l->count; i++) {
        in_bin += l->points[i].weight;
        left -= l->points[i].weight;
        const double here = l->points[i].value, next = l->points[i + 1].value;
        if (next - here <= 1e-9 * (1 + fabs(here))) continue; /* one value */
        if (!all && (in_bin < least || left < least)) continue;
        if (bins == BINS - 1) break;
        end[bins] = 0.5 * (here + next);
        probability[bins++] = in_bin;
        in_bin = 0;
    }
    end[bins] = INFINITY;
    probability[bins] = 1;
    for (int b = 0; b < bins; b++) probability[bins] -= probability[b];
    return bins + 1;
}

static int bin_of(const double *end, double x)
{
    int bin = 0;
    while (x > end[bin]) bin++;
    return bin;
}

/* Correlation of neighbours in the series of walkers, of the number of the bin, in its errors. */
static double neighbours(const series *s, const double *end)
{
    const hsize_t n = s->samples * s->walkers;
    double mean = 0, square = 0, product = 0, pairs = 0;
    double *bin = good(malloc(n * sizeof *bin));
    for (hsize_t i = 0; i < n; i++) mean += bin[i] = bin_of(end, s->x[i]);
    mean /= (double)n;
    for (hsize_t i = 0; i < n; i++) {
        square += (bin[i] - mean) * (bin[i] - mean) / (double)n;
        if (i < s->walkers) continue;
        product += (bin[i] - mean) * (bin[i - s->walkers] - mean);
        pairs++;
    }
    free(bin);
    return product / square / sqrt(pairs);
}

static int chi2(const char *path, const char *name, const law *l, int caught, int count,
                char **keys)
{
    double end[BINS], probability[BINS], found[BINS] = {0}, sum = 0, mean = 0, exact = 0, least = 1;
    const series s = observed(path, name, count, keys);
    const double n = (double)(s.samples * s.walkers);
    const int bins = bins_of(l, l->discrete, end, probability);
    for (hsize_t i = 0; i < s.samples * s.walkers; i++) {
        if (!isfinite(s.x[i])) die("a number that is not finite in ", name);
        found[bin_of(end, s.x[i])]++;
        mean += s.x[i] / n;
    }
    for (int i = 0; i < l->count; i++) exact += l->points[i].weight * l->points[i].value;
    for (int b = 0; b < bins; b++) {
        sum += pow(found[b] - n * probability[b], 2) / (n * probability[b]);
        least = fmin(least, probability[b]);
    }
    if (!(bins > 1 && n * least >= 20)) die("too few samples for the bins: ", name);
    const double lp = log_p(sum, bins - 1) / log(10), z = neighbours(&s, end);
    printf("%s: chi^2 = %.1f of %d, ", name, sum, bins - 1);
    if (lp > -4)
        printf("p = %.4f", pow(10, lp));
    else
        printf("p = 10^%.1f", lp);
    printf("; %.0f samples, mean %.5g, exact %.5g; neighbours %+.1f\n", n, mean, exact, z);
    free(s.x);
    if (caught) {
        if (!(lp < -6)) printf("FAILED: the planted fault is not seen, p is not below 1e-6\n");
        return !(lp < -6);
    }
    if (!(lp > -4)) printf("FAILED: p is not above 1e-4\n");
    if (!(fabs(z) < 4)) printf("FAILED: samples are not independent\n");
    return !(lp > -4 && fabs(z) < 4);
}

/* ---- Acceptance of exchanges ----------------------------------------------------------------- */

/* Mean of min(1, exp((m_a - m_b) (x_a - x_b))) over two laws. */
static double acceptance(const law *a, const law *b)
{
    double sum = 0;
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++) {
            const double up =
                (a->multiplier - b->multiplier) * (a->points[i].value - b->points[j].value);
            sum += a->points[i].weight * b->points[j].weight * (up < 0 ? exp(up) : 1);
        }
    return sum;
}

/* The law with KEY=VALUE before the other keys. */
static law law_on_rung(const char *name, const char *key, double value, int count, char **keys)
{
    char first[128], *all[count + 1];
    snprintf(first, sizeof first, "%s=%.17g", key, value);
    all[0] = first;
    memcpy(all + 1, keys, (size_t)count * sizeof *keys);
    return make_law(name, count + 1, all);
}

static int exchanges(const char *path, const char *name, int count, char **keys)
{
    const char *vary = text_of(count, keys, "vary"), *rest = text_of(count, keys, "values");
    const series trials = read_series(path, "movers/exchange/exchange/trials");
    const series accepted = read_series(path, "movers/exchange/exchange/accepted");
    if (!vary || !rest) die("exchanges needs vary= and values=", "");
    int failed = 0, rung = 0;
    char *next;
    law here = law_on_rung(name, vary, strtod(rest, &next), count, keys);
    for (; *next == ','; rung++) {
        law above = law_on_rung(name, vary, strtod(next + 1, &next), count, keys);
        if ((hsize_t)rung + 1 >= trials.samples) die("more rungs than in ", path);
        const double p = acceptance(&here, &above), n = trials.x[rung], k = accepted.x[rung];
        const double z = (k / n - p) / sqrt(p * (1 - p) / n);
        printf("rungs %d and %d: %.0f of %.0f exchanges, %.5f, exact %.5f, z = %+.2f\n", rung,
               rung + 1, k, n, k / n, p, z);
        failed |= !(n > 1000 && fabs(z) < 4);
        free(here.points);
        here = above;
    }
    if ((hsize_t)rung + 1 != trials.samples) die("fewer rungs than in ", path);
    if (failed) printf("FAILED: |z| is not below 4, or there are too few exchanges\n");
    return failed;
}

/* ---- Weights of macrostates ------------------------------------------------------------------ */

/* Of right errors from a hundred blocks one of sixty is beyond 5 once in three thousand runs. */
static int weights(const char *path, const char *mover, const law *l, int caught)
{
    char name[256];
    snprintf(name, sizeof name, "observables/%s/ln_p/value", mover);
    const series value = read_series(path, name);
    snprintf(name, sizeof name, "observables/%s/ln_p/error", mover);
    const series error = read_series(path, name);
    double worst = 0, largest = 0, largest_error = 0;
    if ((int)value.samples != l->count) die("another number of bins: ", name);
    for (int b = 0; b < l->count; b++) {
        const double apart = fabs(value.x[b] - log(l->points[b].weight));
        largest_error = fmax(largest_error, error.x[b]);
        if (!(apart >= 0) || !(error.x[b] >= 0)) worst = largest = INFINITY; /* unknown */
        largest = fmax(largest, apart);
        if (apart > 1e-9) worst = fmax(worst, apart / error.x[b]);
    }
    printf("%s: %d bins, largest difference %.2g, largest error %.2g, largest |z| %.2f\n", mover,
           l->count, largest, largest_error, worst);
    const int good = caught ? worst > 10 && largest < INFINITY : worst < 5 && largest < INFINITY;
    if (!good) printf("FAILED: the largest |z| is not %s\n", caught ? "above 10" : "below 5");
    return !good;
}

static int tell_law(const law *l)
{
    double mean = 0, square = 0;
    for (int i = 0; i < l->count; i++) mean += l->points[i].weight * l->points[i].value;
    for (int i = 0; i < l->count; i++)
        square += l->points[i].weight * (l->points[i].value - mean) * (l->points[i].value - mean);
    printf("%.6g %.6g\n", mean, square);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "law") && argc > 2) {
        const law l = make_law(argv[2], argc - 3, argv + 3);
        return tell_law(&l);
    }
    if (!strcmp(what, "exchanges") && argc > 3)
        return exchanges(argv[2], argv[3], argc - 4, argv + 4);
    if ((!strcmp(what, "chi2") || !strcmp(what, "caught")) && argc > 4) {
        const law l = make_law(argv[4], argc - 5, argv + 5);
        return chi2(argv[2], argv[3], &l, !strcmp(what, "caught"), argc - 5, argv + 5);
    }
    if (!strncmp(what, "weights", 7) && argc > 4) {
        const law l = make_law(argv[4], argc - 5, argv + 5);
        return weights(argv[2], argv[3], &l, !strcmp(what, "weights_caught"));
    }
    die("chi2 | caught | exchanges | weights | law: see the first lines of distribution.c", "");
}
