/* Laws of numbers of particles: reservoirs, and particles that become others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws.h"
#include "movers.h"

static const char advice[] =
    "look at log_factor: ln(V / (N + 1)) belongs to an insertion and ln(N / V) to a removal, with N before the move; the "
    "activity is in -ln p already, and both have to be tried equally often";

/* ---- Systems ------------------------------------------------------------------------------------ */

enum { MOST = 14, START = 3 };
static const double activity_per_volume[2] = {4.2, 3.1}; /* activity times volume */

/* Both species, or the first alone, exchange particles with reservoirs. */
static void add_reservoirs(subject *s, setting *of, int species, int start, int most,
                           double diameter, double volume)
{
    for (int k = 0; k < 2; k++) {
        setting_add(of->species, "[species %s]\ncount = %d\nmax_count = %d\ndiameter = %g\n",
                    s->names[k], start, most, diameter * (k ? 1.4 : 1));
        if (k < species)
            setting_add(of->species, "activity = %.9g\n", activity_per_volume[k] / volume);
    }
    if (subject_key(s, "trials")) snprintf(of->keys, sizeof of->keys, "trials = 12\n");
}

/* With as many activities as the mover has a use for. */
static setting reservoir(subject *s, int dimension, double edge, int start, int most,
                         double diameter)
{
    setting of = setting_new(s, dimension, edge, 1.3);
    for (int species = 2; species >= 0; species--) {
        *of.species = *of.keys = *of.potentials = 0;
        add_reservoirs(s, &of, species, start, most, diameter, pow(edge, dimension));
        setting_add(of.potentials, "[potential hard_sphere]\n");
        if (subject_can_open(s, &of)) break;
    }
    return of;
}

setting setting_of_reservoir(subject *s, int dimension, double edge)
{
    return reservoir(s, dimension, edge, START, MOST, 0);
}

/* ---- Which numbers can be reached --------------------------------------------------------------- */

/* All changes of numbers are multiples of `step`. */
typedef struct direction {
    bool free; /* no: they are not */
    int step[2];
} direction;

static int divisor(int a, int b) { return b ? divisor(b, a % b) : abs(a); }

static void note_change(direction *d, int a, int b)
{
    if (a == 0 && b == 0) return;
    if (d->step[0] == 0 && d->step[1] == 0) {
        d->step[0] = a, d->step[1] = b;
    } else if (a * d->step[1] != b * d->step[0]) {
        d->free = true;
    } else {
        const int before = divisor(d->step[0], d->step[1]), common = divisor(divisor(a, b), before);
        for (int i = 0; i < 2; i++) d->step[i] = d->step[i] / before * common;
    }
}

static direction find_direction(subject *s, const setting *of)
{
    direction d = {0};
    run r;
    snapshot_of_run now;
    char *text = setting_text(s, of);
    int code = run_open(&r, text);
    free(text);
    for (int k = 0; k < 60 && !code; k++) {
        code = run_sweep(&r, 1);
        if (!code) code = run_look(&r, &now);
        for (int w = 0; w < now.walkers && !code; w++)
            note_change(&d, (int)now.counts[2 * w] - START, (int)now.counts[2 * w + 1] - START);
    }
    run_close(&r);
    return d;
}

/* ---- The ideal gas ------------------------------------------------------------------------------ */

/* ln of z^N V^N / N! of both species, up to a constant. */
static double log_weight(int a, int b)
{
    return a * log(activity_per_volume[0]) + b * log(activity_per_volume[1]) - lgamma(a + 1) -
           lgamma(b + 1);
}

static void measure_numbers(const law_test *t, const snapshot_of_run *now, int w, double *out,
                            double *samples)
{
    const int which = (int)t->parameters[0];
    const int bin = law_bin(t, (double)now->counts[2 * w + which]);
    if (bin < t->dims) out[bin] += 1;
    *samples += 1;
}

/* Probability of each number of one species, among all numbers that can be reached from the start. */
static void expect_numbers(law_test *t, const direction *d, int which)
{
    double p[MOST + 1] = {0}, sum = 0, in_bin = 0;
    for (int a = 0; a <= MOST; a++)
        for (int b = 0; b <= MOST; b++) {
            const int da = a - START, db = b - START;
            if (!d->free && da * d->step[1] != db * d->step[0]) continue;
            if (!d->free && (d->step[0] ? da % d->step[0] : db % d->step[1]) != 0) continue;
            p[which ? b : a] += exp(log_weight(a, b));
            sum += exp(log_weight(a, b));
        }
    for (int n = 0; n < MOST; n++) {
        in_bin += p[n] / sum;
        if (in_bin < 0.01) continue;
        t->ends[t->dims] = n + 0.5;
        t->expected[t->dims++] = in_bin;
        in_bin = 0;
    }
    if (in_bin == 0) t->dims--; /* the last one follows from the others */
}

static void law_of_ideal_gas(subject *s, const setting *of, const direction *d, int which,
                             const char *check)
{
    law_test t = {.check = check,
                  .compared = "numbers of free particles with a reservoir against (zV)^N / N!",
                  .what = "the number of particles",
                  .setting = *of,
                  .measure = measure_numbers,
                  .advice = advice,
                  .parameters = {which}};
    t.setting.seed += 1000 + which;
    expect_numbers(&t, d, which);
    law_try(s, &t);
}

/* ---- In a field --------------------------------------------------------------------------------- */

static void measure_density(const law_test *t, const snapshot_of_run *now, int w, double *out,
                            double *samples)
{
    for (int64_t i = 0; i < now->counts[2 * w]; i++) {
        const int bin = law_bin(t, now->positions[3 * (w * now->capacity + i)]);
        if (bin < t->dims) out[bin] += 1;
    }
    *samples += 1;
}

static void law_of_density(subject *s)
{
    const double edge = 2.2, strength = 150;
    law_test t = {.check = "law: reservoir and field",
                  .compared = "numbers of free particles along x against z exp(-U/kT)",
                  .what = "a particle's x",
                  .measure = measure_density,
                  .advice =
                      "look at where particles are inserted (uniformly in the box), which one is "
                      "removed, and whether the energy of the field counts"};
    t.setting = reservoir(s, 2, edge, START, 40, 0);
    setting_field(&t.setting, strength);
    law l = law_of("field", "length=%g strength=%g kT=1.3", edge, strength);
    law_bins(&t, &l, 9);
    /* the mean of exp(-U/kT) along an axis */
    double sum = 0;
    for (int i = 0; i < 4000; i++) {
        const double f = (i + 0.5) / 4000, q = f * (1 - f);
        sum += exp(-strength * q * q * (f - 0.4) / 1.3) / 4000;
    }
    const double all = activity_per_volume[0] * sum * sum;
    for (int b = 0; b < t.dims; b++) t.expected[b] *= all;
    free(l.points);
    law_try(s, &t);
}

/* ---- Two particles with forces ------------------------------------------------------------------ */

static void law_of_two(subject *s, bool soft, int dimension)
{
    const double edge = dimension == 2 ? 3.3 : 3.2, volume = pow(edge, dimension),
                 z = activity_per_volume[0] / volume;
    law_test t = {.check = soft ? "law: reservoir, soft pair" : "law: reservoir, hard pair",
                  .compared = "P(2) P(0) / P(1)^2 of two particles at most against quadrature",
                  .what = "the number of particles",
                  .measure = measure_numbers,
                  .advice = advice};
    t.setting = setting_new(s, dimension, edge, soft ? 0.6 : 1.3);
    add_reservoirs(s, &t.setting, 1, 0, 2, soft ? 0 : 1, volume);
    if (soft)
        setting_add(t.setting.potentials,
                    "[potential lennard_jones]\nepsilon = 1\nsigma = 1\ncutoff = 1.5\n");
    else
        setting_add(t.setting.potentials, "[potential hard_sphere]\n");
    law l =
        soft ? law_of(
                   "number",
                   "dimension=%d length=%g activity=%.12g most=2 lennard_jones=1 cutoff=1.5 kT=0.6",
                   dimension, edge, z)
             : law_of("number", "dimension=%d length=%g activity=%.12g most=2 core=1", dimension,
                      edge, z);
    for (int n = 0; n < 2; n++) t.expected[n] = l.points[n].weight, t.ends[n] = n + 0.5;
    t.dims = 2;
    free(l.points);
    law_try(s, &t);
}

/* Two hard particles of which each may become the other kind. */
static void law_of_identities(subject *s)
{
    const double edge = 3.6;
    law_test t = {
        .check = "law: identities, hard pair",
        .compared = "numbers of two hard particles of two kinds against their volumes",
        .what = "the number of particles of the first species",
        .measure = measure_numbers,
        .advice =
            "look at log_factor: ln(N / (N' + 1)) belongs to a particle that leaves N of its kind and "
            "joins N' others; activities are in -ln p already"};
    t.setting = setting_new(s, 2, edge, 1.3);
    add_reservoirs(s, &t.setting, 2, 1, 2, 1, edge * edge);
    setting_add(t.setting.potentials, "[potential hard_disk]\n");
    setting_add(t.setting.after, "[mover serial]\nstep = 1\n");
    law l = law_of("mixture", "dimension=2 length=%g total=2 ratio=%.12g cores=1,1.2,1.4", edge,
                   activity_per_volume[0] / activity_per_volume[1]);
    for (int n = 0; n < 2; n++) t.expected[n] = l.points[n].weight, t.ends[n] = n + 0.5;
    t.dims = 2;
    free(l.points);
    law_try(s, &t);
}

int laws_of_numbers(const target *target, findings *f, void *argument)
{
    subject *s = argument;
    (void)target;
    for (int dimension = 2; dimension <= 3; dimension++) {
        const setting of = reservoir(s, dimension, dimension == 2 ? 2.2 : 1.7, START, MOST, 0);
        const direction d = find_direction(s, &of);
        if (d.step[0])
            law_of_ideal_gas(s, &of, &d, 0,
                             dimension == 2 ? "law: reservoir, 2 dimensions"
                                            : "law: reservoir, 3 dimensions");
        if (d.step[1])
            law_of_ideal_gas(s, &of, &d, 1,
                             dimension == 2 ? "law: second species, 2 dimensions"
                                            : "law: second species, 3 dimensions");
        setting beside = of;
        setting_beside_cells(&beside, 0.5);
        if (d.step[0] && dimension == 2)
            law_of_ideal_gas(s, &beside, &d, 0, "law: beside checkerboard");
        if (!d.step[0] && !d.step[1])
            check_not_covered(f, "law: reservoir",
                              "no number of particles has changed in 60 sweeps");
        if (!d.free && d.step[0] && !d.step[1])
            for (int soft = 0; soft < 2; soft++) law_of_two(s, soft, dimension);
        if (!d.free && d.step[0] && !d.step[1] && dimension == 2) law_of_density(s);
        if (!d.free && d.step[0] * d.step[1] < 0 && dimension == 2) law_of_identities(s);
        if (!d.free && !d.step[0] && d.step[1])
            check_not_covered(
                f, "law: pairs and a field",
                "where the second species alone changes its number, it is tried among free particles: "
                "who is near whom, and what that does to log_factor, is not seen; compare numbers "
                "with those by [mover insert]");
        if (d.free || d.step[0] * d.step[1] > 0)
            check_not_covered(f, "law: groups with forces", "laws are known of free groups only");
    }
    return 0;
}
