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
