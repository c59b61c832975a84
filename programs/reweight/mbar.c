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
 * by the rule for all error bars of the core (run/blocking.h). So correlations in time, between walkers that
 * exchange rungs, and between what several rungs say are all in it. */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reweight.h"
#include "run/blocking.h"

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

/* Where f begins: differences along the order of the states, by the trapezoidal rule between them. */
static void guess(const mixture *m, const double *minus_u, double *f)
{
    f[0] = 0;
    for (int k = 1; k < m->states; k++) {
        double sum[2] = {0, 0}, weight[2] = {0, 0};
        for (int64_t n = 0; n < m->of->count; n++) {
            const int state = m->of->state[m->of->stratum[n]];
            if (state != k && state != k - 1) continue;
            const double *u = minus_u + n * m->states;
            sum[state == k] += m->of->weight[n] * (u[k - 1] - u[k]);
            weight[state == k] += m->of->weight[n];
        }
        f[k] = f[k - 1] + 0.5 * (sum[0] / weight[0] + sum[1] / weight[1]);
    }
}

/* Of |sum_n w_n p_kn - 1|: far below errors, and above the rounding of sums over many samples. */
static const double SOLVED = 1e-9;

/* One step: Newton's, halved until F is smaller; where second derivatives are not positive within rounding,
 * that of self-consistency. Returns the largest |sum_n w_n p_kn - 1| before it. */
static double step(mixture *m, const double *minus_u, double *ones, double *pairs, double *change,
                   double *trial)
{
    const int K = m->states;
    double off = 0;
    const double before = mix(m, m->f, minus_u, true);
    add_up(m, ones, pairs);
    second_derivatives(m, ones, pairs, m->hessian);
    change[0] = 0;
    for (int k = 0; k < K; k++) off = fmax(off, fabs(ones[k] - 1));
    for (int k = 1; k < K; k++) change[k] = -m->count[k] * (ones[k] - 1);
    if (off < SOLVED) return off;
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', K - 1, 1, m->hessian, K - 1, change + 1, 1))
        for (int k = 1; k < K; k++) change[k] = -log(ones[k] / ones[0]);
    /* near the end F is the same within its digits, and Newton's step is right as it is */
    for (int halving = 0; halving < 40; halving++) {
        for (int k = 0; k < K; k++) trial[k] = m->f[k] + ldexp(change[k], -halving);
        if (off < 1e-3 || mix(m, trial, minus_u, false) <= before) break;
    }
    memcpy(m->f, trial, (size_t)K * sizeof *trial);
    return off;
}

/* Second eigenvalue of the overlap matrix, whose largest one is 1: where it is 1 too, states fall into two groups
 * that have no samples in common; *side [K] tells which. */
static double second_eigenvalue(const mixture *m, const double *pairs, double *side)
{
    const int K = m->states;
    double *s = checked(calloc((size_t)(K * K + K), sizeof *s)), *values = s + K * K;
    for (int k = 0; k < K; k++)
        for (int l = 0; l < K; l++)
            s[k * K + l] = sqrt(m->count[k] * m->count[l]) * pairs[k * K + l];
    const int failed = LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', K, s, K, values);
    const double second = failed ? NAN : values[K - 2];
    for (int k = 0; k < K; k++) side[k] = s[k * K + K - 2];
    free(s);
    return second;
}

/* Fewer samples than this in common say nothing of the difference of two groups. */
enum { LEAST_IN_COMMON = 10 };

static int check_overlap(mixture *m, const double *pairs, report *r)
{
    double side[m->states], all = 0;
    int other = 0;
    m->overlap = 1 - second_eigenvalue(m, pairs, side);
    for (int k = 0; k < m->states; k++) all += m->count[k];
    if (m->overlap * all >= LEAST_IN_COMMON) return 0;
    while (other + 1 < m->states && side[other] * side[0] > 0) other++;
    return report_error(
        r, EXIT_INPUT, NULL, 0,
        "%s and %s have next to no configurations in common, nor through others between them: rungs "
        "or windows closer together, or longer runs, are needed",
        m->of->names[0], m->of->names[other]);
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
    guess(m, minus_u, m->f);
    for (int k = 0; k < MOST_STEPS && off >= SOLVED; k++)
        off = step(m, minus_u, ones, pairs, change, trial);
    m->overlap = 1;
    if (!(off < SOLVED))
        code = report_error(r, EXIT_INPUT, NULL, 0,
                            "free energies were not found: rungs or windows have next to no "
                            "configurations in common");
    if (!code && K > 1) code = check_overlap(m, pairs, r);
    second_derivatives(m, ones, pairs, m->hessian);
    if (!code && K > 1 && LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', K - 1, m->hessian, K - 1))
        code = report_error(r, EXIT_INPUT, NULL, 0, "states are not told apart by their samples");
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
    return fabs(a.value) < SOLVED && a.error < SOLVED ? (answer){0, 0, true} : a;
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
