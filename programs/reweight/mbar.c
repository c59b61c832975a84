/* The multistate Bennett acceptance ratio (M. R. Shirts, J. D. Chodera, J. Chem. Phys. 129, 124105 (2008)).
 *
 * Samples n of all states together are as if from the mixture of the states, D_n = sum_k c_k exp(f_k - u_kn),
 * with u_kn = sum m_k X_n, -ln p of sample n in state k, and c_k the samples of state k, each counted as one
 * over its statistical inefficiency. The f_k = -ln Z_k are where the convex function
 *
 *     F(f) = sum_n w_n ln D_n - sum_k c_k f_k
 *
 * is smallest: dF/df_k = c_k (sum_n w_n p_kn - 1) with p_kn = exp(f_k - u_kn) / D_n. At a point with the
 * multipliers m the mean of A is sum_n pi_n A_n with pi_n proportional to w_n exp(-m X_n) / D_n.
 *
 * Errors are those of the linearised estimate. A sample n adds to f, to first order, -H^-1 (c_k w_n p_kn), less the
 * mean of that over its rung, H the second derivatives of F; to a mean that depends on f it adds its own part
 * and that through f. Sums of this over all samples of one time are a series of each file, whose error is found
 * by the rule for all error bars of the core (statistics/blocking.h). So correlations in time, between walkers that
 * exchange rungs, and between what several rungs say are all in it. */
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reweight.h"
#include "statistics/blocking.h"
#include "archive/frozen.h"

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

static double *row_of(const mixture *m, int64_t n) { return m->share + n * m->states; }

/* ---- The mixture ----------------------------------------------------------------------------------------- */

/* ln D_n and the shares p_kn at f; returns F. shares are -u_kn before. */
static double mix(mixture *m, const double *f, const double *minus_u, bool shares)
{
    double sum = -dot(m->count, f, m->states);
    for (int64_t n = 0; n < m->of->count; n++) {
        const double *u = minus_u + n * m->states;
        double largest = -INFINITY, all = 0;
        for (int k = 0; k < m->states; k++) largest = fmax(largest, f[k] + u[k]);
        for (int k = 0; k < m->states; k++) all += m->count[k] * exp(f[k] + u[k] - largest);
        m->ln_mixed[n] = log(all) + largest;
        sum += m->of->weight[n] * m->ln_mixed[n];
        for (int k = 0; k < m->states && shares; k++)
            row_of(m, n)[k] = exp(f[k] + u[k] - m->ln_mixed[n]);
    }
    return sum;
}

/* sum_n w_n p_kn [states], and sum_n w_n p_kn p_ln [states][states]. */
static void add_up(const mixture *m, double *ones, double *pairs)
{
    const int K = m->states;
    memset(ones, 0, (size_t)K * sizeof *ones);
    memset(pairs, 0, (size_t)(K * K) * sizeof *pairs);
    for (int64_t n = 0; n < m->of->count; n++) {
        const double *p = row_of(m, n), w = m->of->weight[n];
        for (int k = 0; k < K; k++) {
            ones[k] += w * p[k];
            for (int l = 0; l <= k; l++) pairs[k * K + l] += w * p[k] * p[l];
        }
    }
    for (int k = 0; k < K; k++)
        for (int l = 0; l < k; l++) pairs[l * K + k] = pairs[k * K + l];
}

/* Second derivatives of F by all f but the first, which stays 0: [K - 1][K - 1]. */
static void second_derivatives(const mixture *m, const double *ones, const double *pairs,
                               double *out)
{
    const int K = m->states;
    for (int k = 1; k < K; k++)
        for (int l = 1; l < K; l++)
            out[(k - 1) * (K - 1) + l - 1] =
                (k == l ? m->count[k] * ones[k] : 0) - m->count[k] * m->count[l] * pairs[k * K + l];
}

/* How far apart two states are: the sum of both relative entropies, (m_k - m_l) (<X>_l - <X>_k), never negative but
 * for noise. `mean` [states][width]. */
static double apart(const samples *s, const double *mean, int k, int l)
{
    double sum = 0;
    for (int x = 0; x < s->width; x++)
        sum += (s->multipliers[k * s->width + x] - s->multipliers[l * s->width + x]) *
               (mean[l * s->width + x] - mean[k * s->width + x]);
    return sum;
}

/* Where f begins: differences by the trapezoidal rule between states that are near each other, each state from the
 * nearest one that is there already (Prim's tree). The order of states will not do: where a ladder in two variables
 * goes on to its next row it may go from a liquid to a vapour. */
static void guess(const mixture *m, double *f)
{
    const samples *s = m->of;
    const int K = m->states, width = s->width;
    double mean[K * width], nearest[K];
    int from[K];
    bool there[K];
    memset(mean, 0, sizeof mean);
    for (int64_t n = 0; n < s->count; n++) {
        const int k = s->state[s->stratum[n]];
        for (int x = 0; x < width; x++)
            mean[k * width + x] += s->weight[n] * s->extensive[n * width + x] / m->count[k];
    }
    for (int k = 0; k < K; k++) {
        from[k] = 0, there[k] = k == 0;
        nearest[k] = apart(s, mean, k, 0);
    }
    f[0] = 0;
    for (int done = 1; done < K; done++) {
        int k = -1;
        for (int l = 0; l < K; l++)
            if (!there[l] && (k < 0 || nearest[l] < nearest[k])) k = l;
        const int old = from[k];
        f[k] = f[old];
        for (int x = 0; x < width; x++)
            f[k] += 0.5 * (s->multipliers[k * width + x] - s->multipliers[old * width + x]) *
                    (mean[k * width + x] + mean[old * width + x]);
        there[k] = true;
        for (int l = 0; l < K; l++)
            if (!there[l] && apart(s, mean, k, l) < nearest[l])
                nearest[l] = apart(s, mean, k, l), from[l] = k;
    }
}

/* Of |sum_n w_n p_kn - 1|: far below errors, and above the rounding of sums over many samples. */
static const double SOLVED = 1e-9;

/* Newton's step with `damping` counts added to the second derivatives, to *trial; false: there is none, or one too
 * large to be believed. */
static bool newton(mixture *m, const double *ones, const double *pairs, double damping,
                   double *change, double *trial)
{
    enum { FARTHEST = 20 }; /* kT; a valley of F is as narrow */
    const int K = m->states;
    second_derivatives(m, ones, pairs, m->hessian);
    for (int k = 1; k < K; k++) {
        m->hessian[(k - 1) * K] += damping * m->count[k];
        change[k - 1] = -m->count[k] * (ones[k] - 1);
    }
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', K - 1, 1, m->hessian, K - 1, change, 1)) return false;
    trial[0] = m->f[0];
    for (int k = 1; k < K; k++) {
        if (!(fabs(change[k - 1]) <= FARTHEST)) return false;
        trial[k] = m->f[k] + change[k - 1];
    }
    return true;
}

/* Goes on from f to *trial, twice as far each time, as long as F, which is `at` there, becomes smaller. */
static void extend(mixture *m, const double *minus_u, double at, double *further, double *trial)
{
    const int K = m->states;
    for (int doubling = 0; doubling < 20; doubling++) {
        for (int k = 0; k < K; k++) further[k] = 2 * trial[k] - m->f[k];
        const double there = mix(m, further, minus_u, false);
        if (!(there < at)) return;
        memcpy(trial, further, (size_t)K * sizeof *trial);
        at = there;
    }
}

/* One step: Newton's, damped until F is smaller; else that of self-consistency, after which it always is. Where
 * states hang together by few samples F is nearly flat far from its end, and steps without damping lead
 * anywhere. Returns the largest |sum_n w_n p_kn - 1| before it. */
static double step(mixture *m, const double *minus_u, double *ones, double *pairs, double *change,
                   double *trial)
{
    const int K = m->states;
    double off = 0;
    const double before = mix(m, m->f, minus_u, true);
    add_up(m, ones, pairs);
    for (int k = 0; k < K; k++) { /* not fmax, to which a number that is none is nothing */
        const double d = fabs(ones[k] - 1);
        if (isnan(d) || d > off) off = d;
    }
    if (off < SOLVED) return off;
    double damping = 0, at = NAN;
    for (; damping <= 1; damping = damping > 0 ? 10 * damping : 1e-6) {
        if (!newton(m, ones, pairs, damping, change, trial)) continue;
        /* near the end F is the same within its digits, and Newton's step is right as it is */
        if (off < 1e-3 || (at = mix(m, trial, minus_u, false)) <= before) break;
    }
    if (damping > 1) {
        for (int k = 0; k < K; k++)
            trial[k] = m->f[k] - log(fmax(ones[k], DBL_MIN) / fmax(ones[0], DBL_MIN));
        at = mix(m, trial, minus_u, false);
    }
    if (damping > 0 && off >= 1e-3) extend(m, minus_u, at, change, trial);
    memcpy(m->f, trial, (size_t)K * sizeof *trial);
    return off;
}

/* The states between which v / sqrt(count), an eigenvector of the overlap matrix, differs most; returns by how much. */
static double farthest(const mixture *m, const double *s, int column, int *low, int *high)
{
    const int K = m->states;
    *low = *high = 0;
    for (int k = 1; k < K; k++) {
        const double v = s[k * K + column] / sqrt(m->count[k]);
        if (v < s[*low * K + column] / sqrt(m->count[*low])) *low = k;
        if (v > s[*high * K + column] / sqrt(m->count[*high])) *high = k;
    }
    return s[*high * K + column] / sqrt(m->count[*high]) -
           s[*low * K + column] / sqrt(m->count[*low]);
}

/* Second eigenvalue of the overlap matrix, whose largest one is 1: where it is 1 too, states fall into groups that
 * have no samples in common; *one and *other are of two such groups. With equal eigenvalues either vector may be the
 * one that is the same for all states, so the other tells. */
static double second_eigenvalue(const mixture *m, const double *pairs, int *one, int *other)
{
    const int K = m->states;
    double *s = checked(calloc((size_t)(K * K + K), sizeof *s)), *values = s + K * K;
    for (int k = 0; k < K; k++)
        for (int l = 0; l < K; l++)
            s[k * K + l] = sqrt(m->count[k] * m->count[l]) * pairs[k * K + l];
    const int failed = LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', K, s, K, values);
    const double second = failed ? NAN : values[K - 2];
    int low[2], high[2];
    const int column =
        farthest(m, s, K - 1, &low[1], &high[1]) > farthest(m, s, K - 2, &low[0], &high[0]);
    *one = low[column] < high[column] ? low[column] : high[column];
    *other = low[column] < high[column] ? high[column] : low[column];
    free(s);
    return second;
}

/* Fewer samples than this in common say nothing of the difference of two groups. */
enum { LEAST_IN_COMMON = 10 };

static int check_overlap(mixture *m, const double *pairs, report *r)
{
    double all = 0;
    int one, other;
    m->overlap = 1 - second_eigenvalue(m, pairs, &one, &other);
    for (int k = 0; k < m->states; k++) all += m->count[k];
    if (isnan(m->overlap)) return 0; /* nothing was found, which mixture_solve says */
    if (m->overlap * all >= LEAST_IN_COMMON) return 0;
    return report_error(
        r, EXIT_INPUT, NULL, 0,
        "%s and %s have almost no overlap, not even through states between them: use rungs "
        "or windows that are closer together, or longer runs",
        m->of->names[one], m->of->names[other]);
}

static int take_room(mixture *m, const samples *s, double **minus_u, report *r)
{
    const size_t K = (size_t)s->states, n = (size_t)s->count;
    *m = (mixture){.of = s, .states = s->states};
    m->count = calloc(K, sizeof *m->count);
    m->f = calloc(K, sizeof *m->f);
    m->hessian = calloc(K * K, sizeof *m->hessian);
    m->ln_mixed = calloc(n, sizeof *m->ln_mixed);
    m->share = calloc(n * K, sizeof *m->share);
    *minus_u = calloc(n * K, sizeof **minus_u);
    if (m->count && m->f && m->hessian && m->ln_mixed && m->share && *minus_u) return 0;
    return report_error(r, EXIT_MEMORY, NULL, 0, "no memory for %zu samples of %zu states", n, K);
}

int mixture_solve(mixture *m, const samples *s, report *r)
{
    enum { MOST_STEPS = 200 };
    double *minus_u;
    int code = take_room(m, s, &minus_u, r);
    if (code) {
        free(minus_u);
        return code;
    }
    const int K = s->states;
    double *room = checked(calloc((size_t)(K * K + 3 * K), sizeof *room));
    double *pairs = room, *ones = room + K * K, *change = ones + K, *trial = change + K, off = 1;
    for (int64_t n = 0; n < s->count; n++) {
        m->count[s->state[s->stratum[n]]] += s->weight[n];
        for (int k = 0; k < K; k++)
            minus_u[n * K + k] =
                -dot(&s->multipliers[k * s->width], &s->extensive[n * s->width], s->width);
    }
    guess(m, m->f);
    for (int k = 0; k < MOST_STEPS && off >= SOLVED; k++)
        off = step(m, minus_u, ones, pairs, change, trial);
    m->overlap = 1;
    if (K > 1) code = check_overlap(m, pairs, r);
    if (!code && !(off < SOLVED && !isnan(m->overlap)))
        code = report_error(r, EXIT_INPUT, NULL, 0,
                            "free energies were not found: rungs or windows have almost no "
                            "overlap");
    second_derivatives(m, ones, pairs, m->hessian);
    if (!code && K > 1 && LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', K - 1, m->hessian, K - 1))
        code = report_error(r, EXIT_INPUT, NULL, 0, "the samples do not distinguish the states");
    free(room);
    free(minus_u);
    return code;
}

void mixture_free(mixture *m)
{
    free(m->count), free(m->f), free(m->share), free(m->ln_mixed), free(m->hessian);
    *m = (mixture){0};
}

/* ---- Errors ------------------------------------------------------------------------------------------------ */

/* Less the mean of each stratum: how many samples a state has is no accident. */
static void centre(const samples *s, double *influence)
{
    double *sum = checked(calloc(2 * (size_t)s->strata, sizeof *sum)), *count = sum + s->strata;
    for (int64_t n = 0; n < s->count; n++) {
        sum[s->stratum[n]] += influence[n];
        count[s->stratum[n]]++;
    }
    for (int64_t n = 0; n < s->count; n++)
        influence[n] -= sum[s->stratum[n]] / count[s->stratum[n]];
    free(sum);
}

answer influence_error(const mixture *m, double value, double *influence)
{
    const samples *s = m->of;
    const int64_t slices = s->first_slice[s->files];
    double *sums = checked(calloc((size_t)(2 * slices + 1), sizeof *sums)), square = 0;
    double *x = sums + slices; /* room for one more than there are, as the rule needs */
    answer a = {value, NAN, true};
    centre(s, influence);
    for (int64_t n = 0; n < s->count; n++) sums[s->slice[n]] += influence[n];
    for (int f = 0; f < s->files; f++) {
        const int64_t n = s->first_slice[f + 1] - s->first_slice[f];
        memcpy(x, sums + s->first_slice[f], (size_t)n * sizeof *x);
        const block_error e = error_of_blocks(x, n, 1, 0);
        square += (double)n * (double)n * e.error * e.error;
        a.converged = a.converged && e.converged;
    }
    a.error = sqrt(square);
    if (s->frozen) frozen_doubt(value, &a.error, &a.converged);
    free(sums);
    return a;
}

/* Adds what samples do through f to a number whose derivatives by f [states] are `by_f`. */
static void add_through_f(const mixture *m, const double *by_f, double *influence)
{
    const int K = m->states;
    double y[K];
    if (K == 1) return;
    y[0] = 0;
    for (int k = 1; k < K; k++) y[k] = by_f[k];
    LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', K - 1, 1, m->hessian, K - 1, y + 1, 1);
    for (int k = 1; k < K; k++) y[k] *= m->count[k];
    for (int64_t n = 0; n < m->of->count; n++)
        influence[n] -= m->of->weight[n] * dot(y, row_of(m, n), K);
}

/* ---- A point ------------------------------------------------------------------------------------------------- */

int reweighted_make(reweighted *w, const mixture *m, const double *multipliers, report *r)
{
    const samples *s = m->of;
    double largest = -INFINITY, sum = 0, squares = 0;
    *w = (reweighted){.from = m, .pi = calloc((size_t)s->count, sizeof *w->pi)};
    if (!w->pi) return report_error(r, EXIT_MEMORY, NULL, 0, "no memory for weights");
    for (int64_t n = 0; n < s->count; n++) {
        w->pi[n] = log(s->weight[n]) - m->ln_mixed[n] -
                   dot(multipliers, &s->extensive[n * s->width], s->width);
        largest = fmax(largest, w->pi[n]);
    }
    for (int64_t n = 0; n < s->count; n++) sum += w->pi[n] = exp(w->pi[n] - largest);
    for (int64_t n = 0; n < s->count; n++) {
        w->pi[n] /= sum;
        squares += w->pi[n] * w->pi[n] / s->weight[n];
    }
    w->ln_z = log(sum) + largest;
    w->effective = 1 / squares;
    return 0;
}

void reweighted_free(reweighted *w)
{
    free(w->pi);
    *w = (reweighted){0};
}

static double *room_for(const samples *s)
{
    return checked(calloc((size_t)s->count, sizeof(double)));
}

answer reweighted_free_energy(const reweighted *w)
{
    const mixture *m = w->from;
    double by_f[m->states], *influence = room_for(m->of);
    memset(by_f, 0, sizeof by_f);
    for (int64_t n = 0; n < m->of->count; n++) {
        influence[n] = -w->pi[n];
        for (int k = 0; k < m->states; k++) by_f[k] += m->count[k] * w->pi[n] * row_of(m, n)[k];
    }
    add_through_f(m, by_f, influence);
    const answer a = influence_error(m, -w->ln_z, influence);
    free(influence);
    /* that of the first state, to which it is relative */
    return fabs(a.value) < SOLVED && !(a.error >= SOLVED) ? (answer){0, 0, true} : a;
}

answer reweighted_mean(const reweighted *w, const double *a, double *influence)
{
    const mixture *m = w->from;
    double by_f[m->states], mean = 0, *own = influence ? influence : room_for(m->of);
    memset(by_f, 0, sizeof by_f);
    for (int64_t n = 0; n < m->of->count; n++) mean += w->pi[n] * a[n];
    for (int64_t n = 0; n < m->of->count; n++) {
        own[n] = w->pi[n] * (a[n] - mean);
        for (int k = 0; k < m->states; k++) by_f[k] -= m->count[k] * own[n] * row_of(m, n)[k];
    }
    add_through_f(m, by_f, own);
    answer out = {mean, NAN, true};
    if (!influence) {
        out = influence_error(m, mean, own);
        free(own);
    }
    return out;
}
