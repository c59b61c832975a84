/* The cost (1 - w) E + w V of samples, with jackknife errors. */
#include "optimise.h"

#include <math.h>

/* Sums over samples of a group; energies are counted from that of the first sample. */
typedef struct sums {
    double weight, squared, energy, energy_squared; /* w, w^2, w e, w e^2 */
} sums;

/* Walkers are independent; with few of them each is cut into stretches. */
int group_of(const samples *s, int64_t i)
{
    const int64_t walker = i % s->walkers, record = i / s->walkers;
    if (s->walkers >= GROUPS) return (int)(walker * GROUPS / s->walkers);
    const int64_t stretches = GROUPS / s->walkers;
    return (int)(walker * stretches + record * stretches / s->records);
}

static void add(sums *to, double w, double e)
{
    to->weight += w;
    to->squared += w * w;
    to->energy += w * e;
    to->energy_squared += w * e * e;
}

/* All groups but `without`; -1: all of them. */
static sums all_but(const sums group[GROUPS], int without)
{
    sums all = {0};
    for (int g = 0; g < GROUPS; g++) {
        if (g == without) continue;
        all.weight += group[g].weight;
        all.squared += group[g].squared;
        all.energy += group[g].energy;
        all.energy_squared += group[g].energy_squared;
    }
    return all;
}

static cost cost_of_sums(const sums *s, const choices *c, double base, double count)
{
    cost out = {0};
    const double mean = s->energy / s->weight;
    out.energy = base + mean;
    out.variance = fmax(0, s->energy_squared / s->weight - mean * mean);
    out.value = (1 - c->variance_weight) * out.energy + c->variance_weight * out.variance;
    out.effective = s->weight * s->weight / s->squared / count;
    return out;
}

double error_left_out(double squared, int groups) { return sqrt(squared * (groups - 1) / groups); }

cost cost_of(const samples *s, const choices *c)
{
    sums group[GROUPS] = {{0}};
    double energy = 0, variance = 0, value = 0;
    int used = 0;
    for (int64_t i = 0; i < s->count; i++)
        add(&group[group_of(s, i)], 1, s->energy[i] - s->energy[0]);
    const sums all = all_but(group, -1);
    cost out = cost_of_sums(&all, c, s->energy[0], (double)s->count);
    for (int g = 0; g < GROUPS; g++) {
        if (!group[g].weight) continue;
        const sums rest = all_but(group, g);
        const cost one = cost_of_sums(&rest, c, s->energy[0], (double)s->count);
        energy += (one.energy - out.energy) * (one.energy - out.energy);
        variance += (one.variance - out.variance) * (one.variance - out.variance);
        value += (one.value - out.value) * (one.value - out.value);
        used++;
    }
    out.energy_error = error_left_out(energy, used);
    out.variance_error = error_left_out(variance, used);
    out.error = error_left_out(value, used);
    out.effective = 1;
    return out;
}

cost cost_reweighted(const samples *s, const choices *c, const double *energy, const double *ln_psi,
                     double *change, double *error)
{
    sums before[GROUPS] = {{0}}, after[GROUPS] = {{0}};
    const double base = s->energy[0], count = (double)s->count;
    double largest = -INFINITY, squared = 0;
    int used = 0;
    for (int64_t i = 0; i < s->count; i++) largest = fmax(largest, ln_psi[i] - s->ln_psi[i]);
    for (int64_t i = 0; i < s->count; i++) {
        const int g = group_of(s, i);
        add(&before[g], 1, s->energy[i] - base);
        add(&after[g], exp(2 * (ln_psi[i] - s->ln_psi[i] - largest)), energy[i] - base);
    }
    const sums was = all_but(before, -1), is = all_but(after, -1);
    const cost out = cost_of_sums(&is, c, base, count);
    *change = out.value - cost_of_sums(&was, c, base, count).value;
    for (int g = 0; g < GROUPS; g++) {
        if (!before[g].weight) continue;
        const sums was_rest = all_but(before, g), is_rest = all_but(after, g);
        const double one = cost_of_sums(&is_rest, c, base, count).value -
                           cost_of_sums(&was_rest, c, base, count).value;
        squared += (one - *change) * (one - *change);
        used++;
    }
    *error = error_left_out(squared, used);
    return out;
}
