/* Steps of variational parameters: the linear method (J. Toulouse, C. J. Umrigar, J. Chem. Phys. 126, 084102 (2007); 128,
 * 174101 (2008)) and stochastic reconfiguration (S. Sorella, Phys. Rev. B 64, 024512 (2001)).
 *
 * Linear method. In the space of psi_0 = 1 and psi_k = O_k - <O_k> (over Psi) the lowest solution of H c = E S c,
 *
 *     S_kl = <psi_k psi_l>,    H_kl = <psi_k (psi_l E_L + dE_L/dp_l)>,    dE_L/dp_0 = 0,
 *
 * is the step c_k / c_0. H is not symmetric: so its errors vanish where Psi is an eigenfunction. To it comes, with
 * the weight w in the cost, the second order of the variance V,
 *
 *     V_00 = V,  V_0k = V_k0 = 1/2 dV/dp_k,  V_kl = cov(dE_L/dp_k, dE_L/dp_l) + V S_kl
 *
 * (C. J. Umrigar, C. Filippi, Phys. Rev. Lett. 94, 150201 (2005): the weights of samples held in the second
 * derivatives). Shifts on the diagonal of all psi_k, times 1 and times S, shorten the step. */
#include "optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lapacke.h>

/* ---- Matrices ---------------------------------------------------------------------------------- */

/* Means of everything that is centred. */
typedef struct means {
    double energy, variance;
    double *derivatives, *energies; /* [K] */
} means;

static means means_of(const samples *s)
{
    const int64_t k = s->numbers;
    means m = {.derivatives = checked(calloc((size_t)k, sizeof(double))),
               .energies = checked(calloc((size_t)k, sizeof(double)))};
    for (int64_t i = 0; i < s->count; i++) {
        m.energy += s->energy[i] / (double)s->count;
        for (int64_t a = 0; a < k; a++) {
            m.derivatives[a] += s->derivatives[i * k + a] / (double)s->count;
            m.energies[a] += s->energies[i * k + a] / (double)s->count;
        }
    }
    for (int64_t i = 0; i < s->count; i++)
        m.variance += (s->energy[i] - m.energy) * (s->energy[i] - m.energy) / (double)s->count;
    return m;
}

/* One sample, o and d [K] centred O_k and dE_L/dp_k, e = E_L less its mean, raw the mean of dE_L/dp_k. All in
 * units in which the mean energy is 0; it is put back in the end as E S. */
static void add_sample(matrices *m, const double *o, const double *d, const double *raw, double e,
                       double w, double variance)
{
    const int64_t n = m->n;
    const double we = 1 - w;
    m->h[0] += w * e * e;
    for (int64_t a = 0; a < n - 1; a++) {
        const double slope = e * d[a] + (e * e - variance) * o[a]; /* 1/2 dV/dp */
        m->gradient[a] += we * e * o[a] + w * slope;
        m->h[(a + 1) * n] += we * o[a] * e + w * slope;
        m->h[a + 1] += we * (o[a] * e + d[a] + raw[a]) + w * slope;
        for (int64_t b = 0; b < n - 1; b++) {
            m->s[(a + 1) * n + b + 1] += o[a] * o[b];
            m->h[(a + 1) * n + b + 1] +=
                we * o[a] * (o[b] * e + d[b] + raw[b]) + w * (d[a] * d[b] + variance * o[a] * o[b]);
        }
    }
}

static void finish(matrices *m, const means *mean, double count, double w)
{
    const int64_t n = m->n;
    for (int64_t i = 0; i < n * n; i++) {
        m->h[i] /= count;
        m->s[i] /= count;
    }
    m->s[0] = 1;
    for (int64_t i = 0; i < n * n; i++) m->h[i] += (1 - w) * mean->energy * m->s[i];
    for (int64_t a = 0; a < n - 1; a++) m->gradient[a] /= count;
    m->lowest = m->h[0] - 4 * sqrt(mean->variance);
}

int matrices_make(const samples *s, const choices *c, matrices *m, report *report)
{
    const int64_t k = s->numbers, n = k + 1;
    *m = (matrices){.n = n,
                    .h = checked(calloc((size_t)(n * n), sizeof(double))),
                    .s = checked(calloc((size_t)(n * n), sizeof(double))),
                    .gradient = checked(calloc((size_t)n, sizeof(double)))};
    means mean = means_of(s);
    double *o = checked(calloc((size_t)k, sizeof *o)), *d = checked(calloc((size_t)k, sizeof *d));
    for (int64_t i = 0; i < s->count; i++) {
        for (int64_t a = 0; a < k; a++) {
            o[a] = s->derivatives[i * k + a] - mean.derivatives[a];
            d[a] = s->energies[i * k + a] - mean.energies[a];
        }
        add_sample(m, o, d, mean.energies, s->energy[i] - mean.energy, c->variance_weight,
                   mean.variance);
    }
    finish(m, &mean, (double)s->count, c->variance_weight);
    free(o), free(d), free(mean.derivatives), free(mean.energies);
    for (int64_t i = 0; i < n * n; i++)
        if (!isfinite(m->h[i]) || !isfinite(m->s[i]))
            return report_error(report, EXIT_INPUT, NULL, 0,
                                "averages of derivatives are not finite: this wave function "
                                "cannot be optimised from these parameters");
    return 0;
}

void matrices_free(matrices *m) { free(m->h), free(m->s), free(m->gradient); }

/* ---- Steps --------------------------------------------------------------------------------------- */

/* Of a real solution v [n]: whether it is one that the present wave function may go to, and the step there. */
static int take_solution(const matrices *m, const double *v, double *step)
{
    const int64_t n = m->n;
    double norm = 0;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++) norm += v[a] * m->s[a * n + b] * v[b];
    if (!(norm > 0) || v[0] * v[0] < 0.1 * norm) return 0; /* hardly any of the present one in it */
    for (int64_t a = 1; a < n; a++) step[a - 1] = v[a] / v[0];
    return 1;
}

static int linear_step(const matrices *m, double identity, double overlap, double *step)
{
    const int64_t n = m->n;
    const lapack_int size = (lapack_int)n;
    const size_t square = (size_t)(n * n);
    double *h = checked(calloc(3 * square, sizeof *h)), *s = h + square, *right = s + square;
    double *real = checked(calloc(4 * (size_t)n, sizeof *real)), *imaginary = real + n,
           *beta = imaginary + n, *vector = beta + n;
    double best = INFINITY;
    int found = 0;
    memcpy(h, m->h, square * sizeof *h);
    memcpy(s, m->s, square * sizeof *s);
    for (int64_t a = 1; a < n; a++) {
        h[a * n + a] += identity;
        for (int64_t b = 1; b < n; b++) h[a * n + b] += overlap * s[a * n + b];
    }
    const lapack_int failed = LAPACKE_dggev(LAPACK_ROW_MAJOR, 'N', 'V', size, h, size, s, size,
                                            real, imaginary, beta, NULL, size, right, size);
    for (int64_t k = 0; k < n && !failed; k++) {
        const double value = real[k] / beta[k];
        if (fabs(imaginary[k]) > 1e-10 * fabs(real[k]) || !isfinite(value)) continue;
        if (value < m->lowest || value >= best) continue;
        for (int64_t a = 0; a < n; a++) vector[a] = right[a * n + k];
        if (!take_solution(m, vector, step)) continue;
        best = value;
        found = 1;
    }
    free(h), free(real);
    return found;
}

/* (S + damping) step = -time_step gradient */
static int reconfiguration_step(const matrices *m, double time_step, double damping, double *step)
{
    const int64_t n = m->n, k = n - 1;
    double *s = checked(calloc((size_t)(k * k), sizeof *s));
    for (int64_t a = 0; a < k; a++) {
        for (int64_t b = 0; b < k; b++) s[a * k + b] = m->s[(a + 1) * n + b + 1];
        s[a * k + a] += damping;
        step[a] = -time_step * m->gradient[a];
    }
    const lapack_int failed =
        LAPACKE_dposv(LAPACK_ROW_MAJOR, 'U', (lapack_int)k, 1, s, (lapack_int)k, step, 1);
    free(s);
    return !failed;
}

int step_at(const matrices *m, const choices *c, double level, double *step)
{
    const double grown = pow(10, level);
    const int found = c->method == LINEAR
                          ? linear_step(m, c->identity * grown, c->overlap * grown, step)
                          : reconfiguration_step(m, c->time_step / sqrt(grown), c->damping, step);
    for (int64_t a = 0; a < m->n - 1 && found; a++)
        if (!isfinite(step[a])) return 0;
    return found;
}
