/* Where rungs should be.
 *
 * Both ways give each interval between neighbouring rungs a length, of which the new rungs get equal parts;
 * within an interval it is uniform in the value, or in its logarithm where all are positive.
 *
 * By acceptance: where -ln p of two rungs differ by a normal number, exchanges are accepted with probability
 * erfc(L / 2), and lengths L add up (C. Predescu, M. Predescu, C. V. Ciobanu, J. Chem. Phys. 120, 4119 (2004)).
 *
 * By the flow of walkers (H. G. Katzgraber, S. Trebst, D. A. Huse, M. Troyer, J. Stat. Mech. P03018 (2006)): their
 * current is largest where the share that is on its way up falls by the same in each interval, and a fall grows
 * with the square of the distance of two rungs, so its square root is the length. Exchanges are tried in turn,
 * even pairs and odd ones, and who was exchanged is tried in the same direction next time. So the shares that
 * count are those of walkers that head up, R_k; with the current J of walkers heading up less those heading
 * down, which is the same everywhere, R_k = f_k + J / 2, but R = 1 on the lowest rung and J on the highest. It falls
 * by J rho_k, and J = 1 / (1 + sum rho_k). Where walkers forget all between two turns rho = (1 - A) / A, A the
 * acceptance; where they are slow it is larger. */
#include "ladders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"

/* L with erfc(L / 2) = p; erfc falls, and is below 1e-300 at 26. */
static double length_of(double p)
{
    double low = 0, high = 26;
    for (int k = 0; k < 100; k++) {
        const double middle = 0.5 * (low + high);
        *(erfc(middle) > p ? &low : &high) = middle;
    }
    return 2 * high;
}

static bool all_positive(const travelled *t)
{
    for (int k = 0; k < t->rungs; k++)
        if (!(t->values[k] > 0)) return false;
    return true;
}

/* Rungs at equal parts of the sum of lengths [rungs - 1]; the ends stay where they are. */
static void place(const travelled *t, const double *length, proposal *p)
{
    const bool in_logs = all_positive(t);
    double all = 0, before = 0;
    int k = 0;
    for (int i = 0; i + 1 < t->rungs; i++) all += length[i];
    for (int n = 0; n < p->rungs; n++) {
        const double wanted = all * n / (p->rungs - 1);
        while (k + 2 < t->rungs && before + length[k] < wanted) before += length[k++];
        double part = length[k] > 0 ? (wanted - before) / length[k] : 0;
        if (part > 1) part = 1;
        const double low = t->values[k], high = t->values[k + 1];
        p->values[n] = in_logs ? low * pow(high / low, part) : low + part * (high - low);
    }
    p->values[0] = t->values[0];
    p->values[p->rungs - 1] = t->values[t->rungs - 1];
}

static double *start(const travelled *t, int rungs, proposal *p)
{
    *p = (proposal){.rungs = rungs, .acceptance = NAN, .gain = NAN};
    p->values = checked(calloc((size_t)rungs, sizeof *p->values));
    return checked(calloc((size_t)t->rungs, sizeof(double)));
}

/* A pair without an exchange is taken to have had half of one. */
static double all_lengths(const travelled *t, double *length, bool *bounded)
{
    double all = 0;
    for (int k = 0; k + 1 < t->rungs; k++) {
        const bool none = !(t->accepted[k] > 0);
        *bounded |= none;
        length[k] = length_of(none ? 0.5 / fmax(t->trials[k], 1) : t->accepted[k]);
        all += length[k];
    }
    return all;
}

void propose_equal(const travelled *t, int rungs, proposal *p)
{
    double *length = start(t, rungs, p);
    const double all = all_lengths(t, length, &p->bounded);
    place(t, length, p);
    p->acceptance = erfc(all / (rungs - 1) / 2);
    free(length);
}

/* f that never rises: neighbours that do are averaged until none is left (least squares under that condition). */
static void make_monotone(const double *f, int n, double *out)
{
    int *count = checked(calloc((size_t)n, sizeof *count)), pools = 0;
    double *mean = checked(calloc((size_t)n, sizeof *mean));
    for (int k = 0; k < n; k++) {
        mean[pools] = f[k];
        count[pools++] = 1;
        while (pools > 1 && mean[pools - 1] > mean[pools - 2]) {
            const int a = count[pools - 2], b = count[pools - 1];
            mean[pools - 2] = (a * mean[pools - 2] + b * mean[pools - 1]) / (a + b);
            count[--pools - 1] = a + b;
        }
    }
    for (int i = 0, k = 0; i < pools; i++)
        for (int c = 0; c < count[i]; c++) out[k++] = mean[i];
    free(count);
    free(mean);
}

/* rho [rungs - 1] and their sum. */
static double resistances(const travelled *t, double *rho)
{
    const int last = t->rungs - 1;
    double *heading = checked(calloc(2 * (size_t)t->rungs, sizeof *heading)),
           *falling = heading + t->rungs, sum = 0;
    for (int k = 1; k < last; k++) heading[k] = t->upward[k] + 0.5 * t->current;
    heading[0] = 1;
    heading[last] = t->current;
    make_monotone(heading, t->rungs, falling);
    for (int k = 0; k < last; k++) sum += rho[k] = (falling[k] - falling[k + 1]) / t->current;
    free(heading);
    return sum;
}

/* Below this sum of all resistances walkers run up and down almost without a halt. */
static const double NEXT_TO_NOTHING = 0.1;

void propose_by_flow(const travelled *t, int rungs, proposal *p)
{
    double *length = start(t, rungs, p), sum = 0;
    const double rho = resistances(t, length);
    for (int k = 0; k + 1 < t->rungs; k++) {
        length[k] = rho < NEXT_TO_NOTHING ? 1 : sqrt(length[k]);
        sum += length[k];
    }
    place(t, length, p);
    p->gain = (1 + rho) / (1 + (rho < NEXT_TO_NOTHING ? rho : sum * sum / (rungs - 1)));
    free(length);
}
