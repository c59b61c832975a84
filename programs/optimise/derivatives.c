/* Derivatives of the variational energy by parameters (J. Toulouse, C. J. Umrigar, J. Chem. Phys.
 * 126, 084102 (2007)):
 *
 *     dE/dp_k = 2 (<E_L O_k> - <E_L> <O_k>),    O_k = d ln |Psi| / dp_k,
 *
 * whose error vanishes where Psi is an eigenfunction. */
#include "optimise.h"

#include <math.h>
#include <stdlib.h>

/* Sums over samples of a group, energies counted from that of the first sample. */
typedef struct sums {
    double count, energy, derivative, product;
} sums;

static double slope_of(const sums *s)
{
    return 2 * (s->product - s->energy * s->derivative / s->count) / s->count;
}

static sums all_but(const sums group[GROUPS], int without)
{
    sums all = {0};
    for (int g = 0; g < GROUPS; g++) {
        if (g == without) continue;
        all.count += group[g].count;
        all.energy += group[g].energy;
        all.derivative += group[g].derivative;
        all.product += group[g].product;
    }
    return all;
}

/* Of parameter k, with its jackknife error. */
static double derivative_of(const samples *s, int64_t k, double *error)
{
    sums group[GROUPS] = {{0}};
    double squared = 0;
    int used = 0;
    for (int64_t i = 0; i < s->count; i++) {
        sums *to = &group[group_of(s, i)];
        const double e = s->energy[i] - s->energy[0], o = s->derivatives[i * s->numbers + k];
        to->count++;
        to->energy += e;
        to->derivative += o;
        to->product += e * o;
    }
    const sums all = all_but(group, -1);
    const double found = slope_of(&all);
    for (int g = 0; g < GROUPS; g++) {
        if (!group[g].count) continue;
        const sums rest = all_but(group, g);
        const double one = slope_of(&rest) - found;
        squared += one * one;
        used++;
    }
    *error = error_left_out(squared, used);
    return found;
}

void derivatives_print(FILE *out, const samples *s, const variational_parameters *f)
{
    fprintf(out, "# parameter, derivative of the energy by it, error (Hartree over its unit)\n");
    for (int64_t k = 0; k < f->count; k++) {
        char *name = checked(variational_name(f, k));
        double error;
        const double value = derivative_of(s, k, &error);
        fprintf(out, "%s %.9g %.3g\n", name, value, error);
        free(name);
    }
}

/* ---- Against differences ----------------------------------------------------------------------- */

/* Steps of parameters: differences of local energies lose 1e-10 / STEP to rounding. */
static const double STEP = 1e-4, MOST = 1e-3;

/* Differences of what samples_again finds with parameter k changed by STEP up and down, over 2 STEP; [count] each. */
static int differences(session *session, const samples *s, const variational_parameters *f,
                       double *values, int64_t k, double *of_energy, double *of_ln_psi)
{
    double *there = checked(calloc(2 * (size_t)s->count, sizeof *there)), *here = there + s->count;
    const double value = values[k];
    int finite = 1, code = 0;
    for (int64_t i = 0; i < s->count; i++) of_energy[i] = of_ln_psi[i] = 0;
    for (int sign = -1; sign < 2 && !code && finite; sign += 2) {
        values[k] = value + sign * STEP;
        code = variational_set(f, values);
        if (!code) code = samples_again(session, s, there, here, &finite);
        for (int64_t i = 0; i < s->count && !code; i++) {
            of_energy[i] += sign * there[i] / (2 * STEP);
            of_ln_psi[i] += sign * here[i] / (2 * STEP);
        }
    }
    values[k] = value;
    const int back = variational_set(f, values);
    free(there);
    if (!code && !finite)
        code =
            report_error(session->engine.report, EXIT_INPUT, NULL, 0,
                         "Psi is 0 or no number in a sample with a parameter changed by %g", STEP);
    return code ? code : back;
}

/* The largest difference of column k of a [count][numbers] from b [count], over the root mean square of the former. */
static double deviation(const samples *s, const double *a, const double *b, int64_t k)
{
    double largest = 0, squares = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const double own = a[i * s->numbers + k];
        largest = fmax(largest, fabs(own - b[i]));
        squares += own * own / (double)s->count;
    }
    return largest / fmax(sqrt(squares), 1e-6);
}

int derivatives_check(FILE *out, session *session, const samples *s,
                      const variational_parameters *f, double *values)
{
    double *energy = checked(calloc(2 * (size_t)s->count, sizeof *energy)),
           *ln_psi = energy + s->count;
    int code = 0, wrong = 0;
    fprintf(out, "# parameter, deviations of derivatives of ln |Psi| and of the local energy\n");
    for (int64_t k = 0; k < f->count && !code; k++) {
        code = differences(session, s, f, values, k, energy, ln_psi);
        if (code) break;
        char *name = checked(variational_name(f, k));
        const double of_ln_psi = deviation(s, s->derivatives, ln_psi, k),
                     of_energy = deviation(s, s->energies, energy, k);
        fprintf(out, "%s %.2g %.2g\n", name, of_ln_psi, of_energy);
        wrong += !(of_ln_psi <= MOST && of_energy <= MOST);
        free(name);
    }
    free(energy);
    if (code || !wrong) return code;
    return report_error(session->engine.report, EXIT_PLUGIN, NULL, 0,
                        "derivatives by %d of %lld parameters are not those of differences, to %g",
                        wrong, (long long)f->count, MOST);
}
