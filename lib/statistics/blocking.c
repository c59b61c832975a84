/* The error of a mean from blocks: how long must a block be?
 *
 * Blocks are joined in pairs, again and again (H. Flyvbjerg, H. G. Petersen, J. Chem. Phys. 91, 461
 * (1989)), down to few. With N blocks of variance V, whose neighbours have the covariance C, the
 * squared error of the mean is
 *
 *     (V + 2 C) / N,                                                                          (1)
 *
 * both divided by N and corrected for the mean being that of the same numbers, 1 - (3 - 2/n)/N for
 * n blocks a walker. Of exponential correlations with a decay time of one block this misses 23 %, of
 * half a block 6 %, V/N alone 63 and 43 %. It is known as well as from N/3 independent blocks.
 *
 * A short time is easy to see. The danger is a small part that forgets itself slowly (what acts along
 * one axis of a small box follows how the crystal lies): for short blocks it is lost among the rest,
 * for long ones it may be most of the error. So an error is taken from blocks only if these and all
 * longer ones, down to FEW, look independent: correlation of neighbours below LIMIT standard errors,
 * and no longer ones with a larger spread than by one standard error. These limits are low. Of
 * independent blocks some fail, and errors are then taken from longer blocks: what that costs is
 * noise of the error, while the limits of a usual test of significance would leave half of the slow
 * parts undetected. Where it has to go to longer blocks, the largest estimate on the way is taken.
 *
 * Three lengths are tried, with at least MANY, SOME and LAST blocks (twice as many at most). Deviations are distributed like
 * Student's t, so errors are multiplied by its standard deviation, of as many degrees of freedom as
 * (1) has at the first of these lengths, or the second if the third is needed. A star, for a run that is too short: fewer than FEW blocks, or
 * those of the last length still correlated, or of the first by more than MOST_AT_FIRST.
 */
#include "statistics/blocking.h"

#include <math.h>

enum { LEVELS = 62, MANY = 64, SOME = 44, LAST = 22, FEW = 16 };
static const double LIMIT = 1.3, LIMIT_OF_SHORTER = 1.6, GROWTH = 1.0, GROWTH_OF_SHORTER = 1.5,
                    MOST_AT_FIRST = 0.6, MOST_BEFORE_LAST = 0.2;
/* Standard errors of the correlation of neighbours, where somebody else chose the blocks. */
static const double INDEPENDENT = 2;

/* Blocks of one length. */
typedef struct level {
    int64_t count;      /* of all walkers */
    double freedom;     /* as many independent numbers would know `square` as well, plus one */
    double alone;       /* squared error if blocks were independent */
    double square;      /* by (1) */
    double correlation; /* of neighbours; its noise is 1 / count^(1/2) */
} level;

/* joined: how many of the given blocks one of these is; total: how many were given. */
static level measure(const double *x, int64_t n, int64_t walkers, double joined, double total)
{
    const int64_t count = n * walkers;
    double mean = 0, squares = 0, products = 0;
    for (int64_t i = 0; i < count; i++) mean += (x[i] - x[0]) / (double)count;
    for (int64_t i = 0; i < count; i++) {
        const double deviation = x[i] - x[0] - mean;
        squares += deviation * deviation;
        if (i >= walkers) products += deviation * (x[i - walkers] - x[0] - mean);
    }
    const double N = (double)count, scale = joined / total / N;
    level out = {.count = count, .alone = scale * squares / (1 - 1 / N)};
    out.correlation = squares > 0 ? products / squares + 1 / N : 0;
    out.square = out.alone;
    if (n > 1) { /* not below what chance alone would hardly make of independent ones */
        const double by_neighbours =
            scale * (squares + 2 * products) / (1 - (3 - 2 / (double)n) / N);
        out.square = fmax(by_neighbours, 0.25 * out.alone);
    }
    out.freedom = n > 1 ? N / 3 : N - 1;
    return out;
}

/* All lengths of blocks with at least 4 of them, the last whole walkers; returns how many. A block
 * without a second to be joined with is left out, but whole walkers are whole. */
static int measure_levels(double *x, int64_t n, int64_t walkers, level levels[LEVELS])
{
    const int64_t all = n;
    double *whole = x + n * walkers, joined = 1;
    int count = 0;
    for (int64_t w = 0; w < walkers; w++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += x[i * walkers + w] - x[w];
        whole[w] = x[w] + sum / (double)n;
    }
    do {
        if (n == 1) joined = (double)all;
        levels[count++] = measure(n == 1 ? whole : x, n, walkers, joined, (double)(all * walkers));
        n /= 2;
        joined *= 2;
        for (int64_t i = 0; i < n; i++)
            for (int64_t w = 0; w < walkers; w++)
                x[i * walkers + w] = 0.5 * (x[2 * i * walkers + w] + x[(2 * i + 1) * walkers + w]);
    } while (count < LEVELS && n * walkers >= 4);
    return count;
}

/* Whether blocks k and all longer ones look independent. */
static bool independent(const level *levels, int count, int k, double limit, double growth)
{
    for (int j = k; j < count && levels[j].count >= FEW; j++) {
        const double N = (double)levels[j].count;
        if (levels[j].correlation * sqrt(N) > limit) return false;
        if (j > k && levels[j].alone > levels[k].alone * (1 + growth * sqrt(2 / N))) return false;
    }
    return true;
}

/* The longest blocks of which there are `least` or more, or the shortest. */
static int with_at_least(const level *levels, int count, int64_t least)
{
    int k = 0;
    while (k + 1 < count && levels[k + 1].count >= least) k++;
    return k;
}

/* The last blocks, 0.42 for 31 and 0.48 for 22, and to be less often mistaken those before them. */
static bool still_correlated(const level *before, const level *last)
{
    return last->correlation > 0.1 + 1.8 / sqrt((double)last->count) &&
           before->correlation > MOST_BEFORE_LAST;
}

/* The least wrong of errors that are all too small, perhaps. */
static double largest_of(const level *levels, int count)
{
    double largest = 0;
    for (int k = 0; k < count; k++) {
        largest = fmax(largest, levels[k].alone);
        if (levels[k].count >= FEW) largest = fmax(largest, levels[k].square);
    }
    return largest;
}

/* Neighbours are joined in place; those behind the last whole block are left out. */
static block_error of_so_many(double *x, int64_t n, int64_t walkers, int64_t blocks)
{
    const int64_t count = n < blocks ? n : blocks, length = n / count;
    for (int64_t b = 0; b < count * walkers; b++) {
        const int64_t w = b % walkers, from = b / walkers * length;
        double sum = 0;
        for (int64_t i = 0; i < length; i++) sum += x[(from + i) * walkers + w];
        x[b] = sum / (double)length;
    }
    const level found = measure(x, count, walkers, 1, (double)(count * walkers));
    const double limit = INDEPENDENT / sqrt((double)found.count);
    return (block_error){sqrt(found.alone), !(found.correlation > limit)};
}

block_error error_of_blocks(double *x, int64_t n, int64_t walkers, int64_t blocks)
{
    if (n * walkers < 2) return (block_error){NAN, false};
    if (blocks) return of_so_many(x, n, walkers, blocks);
    level levels[LEVELS];
    const int count = measure_levels(x, n, walkers, levels);
    if (isnan(levels[0].alone)) return (block_error){NAN, false};
    if (levels[0].count < FEW) return (block_error){sqrt(largest_of(levels, count)), false};
    const int many = with_at_least(levels, count, MANY), some = with_at_least(levels, count, SOME),
              few = with_at_least(levels, count, LAST);
    double square = levels[many].square, freedom = levels[many].freedom;
    bool converged = true;
    if (!independent(levels, count, many, LIMIT, GROWTH) ||
        !independent(levels, count, 0, LIMIT_OF_SHORTER, GROWTH_OF_SHORTER)) {
        square = fmax(square, levels[some].square);
        if (!independent(levels, count, some, LIMIT, GROWTH)) {
            square = fmax(square, levels[few].square);
            freedom = levels[some].freedom;
            converged = !still_correlated(&levels[some], &levels[few]);
        }
        converged = converged && levels[many].correlation <= MOST_AT_FIRST;
    }
    if (!converged) return (block_error){sqrt(fmax(square, largest_of(levels, count))), false};
    return (block_error){sqrt(square * freedom / (freedom - 2)), true};
}
