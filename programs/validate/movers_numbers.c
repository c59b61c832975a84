/* Laws of numbers of particles: reservoirs, and particles that become others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws.h"
#include "movers_numbers.h"

const char advice_numbers[] =
    "look at log_factor: ln(V / (N + 1)) belongs to an insertion and ln(N / V) to a removal, for each particle with the N of "
    "its own species before the move; the activity is in -ln p already, every potential counts, and both have to be tried "
    "equally often";

/* ---- Systems ------------------------------------------------------------------------------------ */

/* Species begin with different numbers, so that one is not taken for the other. */
enum { MOST = 14 };
static const int start_of[2] = {3, 2};
const double activity_per_volume[2] = {4.2, 3.1};

void setting_reservoirs(const subject *s, setting *of, int species, numbers n, double diameter,
                        double volume)
{
    for (int k = 0; k < 2; k++) {
        setting_add(of->species, "[species %s]\ncount = %d\nmax_count = %d\ndiameter = %g\n",
                    s->names[k], n.start[k], n.most[k], diameter * (k ? 1.4 : 1));
        if (k < species)
            setting_add(of->species, "activity = %.9g\n", activity_per_volume[k] / volume);
    }
    if (subject_key(s, "trials")) snprintf(of->keys, sizeof of->keys, "trials = 12\n");
}

/* Free particles, with as many activities as the mover has a use for. */
static setting reservoir(subject *s, int dimension, double edge, int most, int *reservoirs)
{
    setting of = setting_new(s, dimension, edge, 1.3);
    for (int species = 2; species >= 0; species--) {
        *of.species = *of.keys = *of.potentials = 0;
        setting_reservoirs(s, &of, species,
                           (numbers){.start = {start_of[0], start_of[1]}, .most = {most, most}}, 0,
                           pow(edge, dimension));
        setting_add(of.potentials, "[potential hard_sphere]\n");
        *reservoirs = species;
        if (subject_can_open(s, &of)) break;
    }
    return of;
}

setting setting_of_reservoir(subject *s, int dimension, double edge)
{
    int reservoirs;
    return reservoir(s, dimension, edge, MOST, &reservoirs);
}

static void displace(setting *of)
{
    setting_add(of->after, "[mover serial]\nstep = %g\n", 0.4 * of->edge);
}

/* ---- Which numbers can be reached --------------------------------------------------------------- */

static int divisor(int a, int b) { return b ? divisor(b, a % b) : abs(a); }

static void note_change(reach *d, int a, int b)
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

/* What walkers do in 60 sweeps. */
static reach look(subject *s, const setting *of)
{
    reach d = {.least = {start_of[0], start_of[1]}};
    run r;
    snapshot_of_run now;
    char *text = setting_text(s, of);
    int code = run_open(&r, text);
    free(text);
    for (int k = 0; k < 60 && !code; k++) {
        code = run_sweep(&r, 1);
        if (!code) code = run_look(&r, &now);
        for (int w = 0; w < now.walkers && !code; w++) {
            const int n[2] = {(int)now.counts[2 * w], (int)now.counts[2 * w + 1]};
            note_change(&d, n[0] - start_of[0], n[1] - start_of[1]);
            for (int i = 0; i < 2; i++) d.least[i] = n[i] < d.least[i] ? n[i] : d.least[i];
        }
    }
    run_close(&r);
    return d;
}

/* ---- The ideal gas ------------------------------------------------------------------------------ */

/* Whether the numbers are on the line, or anywhere, from where the run begins. */
static bool is_possible(const reach *d, int a, int b)
{
    const int da = a - start_of[0], db = b - start_of[1];
    if (d->free) return true;
    if (da * d->step[1] != db * d->step[0]) return false;
    if (d->step[0] == 0 && d->step[1] == 0) return da == 0 && db == 0;
    return (d->step[0] ? da % d->step[0] : db % d->step[1]) == 0;
}

/* Probabilities of all numbers up to `most`, [2][most + 1], for z^N V^N factor^N / N! of both species. Returns that of the
 * numbers which are possible and below the least ones that were seen. */
static double find_numbers(const reach *d, int most, double factor, double *p)
{
    double sum = 0, below = 0;
    memset(p, 0, 2 * sizeof *p * (size_t)(most + 1));
    for (int a = 0; a <= most; a++)
        for (int b = 0; b <= most; b++) {
            const double weight =
                exp(a * log(activity_per_volume[0] * factor) +
                    b * log(activity_per_volume[1] * factor) - lgamma(a + 1) - lgamma(b + 1));
            if (!is_possible(d, a, b)) continue;
            if (a < d->least[0] || b < d->least[1]) below += weight;
            if (d->bounded && (a < d->least[0] || b < d->least[1])) continue;
            p[a] += weight;
            p[most + 1 + b] += weight;
            sum += weight;
        }
    for (int k = 0; k < 2 * (most + 1); k++) p[k] /= sum;
    return below / sum;
}

/* 60 sweeps of 128 walkers do not miss numbers that are more probable than this. */
#define OFTEN 0.004

static reach find_reach(subject *s, const setting *of, int reservoirs)
{
    const char *key;
    double p[2 * (MOST + 1)];
    setting beside = *of;
    reach d = look(s, of);
    d.needs_company = subject_length(s, &key) > 0 || (!d.step[0] && !d.step[1]) ||
                      find_numbers(&d, MOST, 1, p) > OFTEN;
    if (d.needs_company) {
        displace(&beside);
        d = look(s, &beside);
        d.needs_company = true;
    }
    d.reservoirs = reservoirs;
    d.bounded = find_numbers(&d, MOST, 1, p) > OFTEN;
    return d;
}

static void measure_numbers(const law_test *t, const snapshot_of_run *now, int w, double *out,
                            double *samples)
{
    const int which = (int)t->parameters[0];
    law_count(t, (double)now->counts[2 * w + which], out, samples);
}

/* Probability of each number of one species, among all numbers that can be reached from the start. */
static void expect_numbers(law_test *t, const reach *d, int which)
{
    double p[2 * (MOST + 1)], in_bin = 0;
    find_numbers(d, MOST, 1, p);
    for (int n = 0; n < MOST; n++) {
        in_bin += p[which * (MOST + 1) + n];
        if (in_bin < 0.01) continue;
        t->ends[t->dims] = n + 0.5;
        t->expected[t->dims++] = in_bin;
        in_bin = 0;
    }
    if (in_bin == 0) t->dims--; /* the last one follows from the others */
}

static void law_of_ideal_gas(subject *s, const setting *of, const reach *d, int which,
                             const char *check)
{
    law_test t = {.check = check,
                  .compared = "numbers of free particles with a reservoir against (zV)^N / N!",
                  .what = which ? "the number of the second species"
                                : "the number of the first species",
                  .setting = *of,
                  .measure = measure_numbers,
                  .advice = advice_numbers,
                  .parameters = {which}};
    t.setting.seed += 1000 + which;
    expect_numbers(&t, d, which);
    law_try(s, &t);
}

/* With insertions of single particles, which reach all numbers. */
static void law_beside_insert(subject *s, const setting *of, const reach *d)
{
    reach all = {.free = d->step[0] && d->step[1] && d->reservoirs == 2,
                 .step = {d->step[0] != 0, d->step[1] != 0}};
    setting beside = *of;
    displace(&beside);
    for (int k = 0; k < 2; k++)
        if (d->step[k] && k < d->reservoirs)
            setting_add(beside.after,
                        "[mover insert_%d]\nplugin = insert\nspecies = %s\ntrials = 1\n", k,
                        s->names[k]);
    if (d->free) all.free = true;
    law_of_ideal_gas(s, &beside, &all, d->step[0] ? 0 : 1, "law: beside insert");
}

/* ---- In a field --------------------------------------------------------------------------------- */

enum { DENSE = 40 }; /* the largest number */

/* Bins of x of the first species, then of the second: of those that are compared. */
static void measure_density(const law_test *t, const snapshot_of_run *now, int w, double *out,
                            double *samples)
{
    const int bins = (int)t->parameters[0];
    int at = 0;
    for (int k = 0; k < 2; k++) {
        if (t->parameters[1 + k] == 0) continue;
        for (int64_t i = 0; i < now->counts[2 * w + k]; i++) {
            const double x = now->positions[3 * (w * now->capacity + now->first[k] + i)];
            int bin = 0;
            while (bin < bins && !(x <= t->ends[at + bin])) bin++;
            if (bin < bins) out[at + bin] += 1;
        }
        at += bins;
    }
    *samples += 1;
}

static double mean_number(const double *p, int most)
{
    double mean = 0;
    for (int n = 0; n <= most; n++) mean += n * p[n];
    return mean;
}

/* Free particles are independent, whatever their numbers are: each has the density exp(-U/kT). A species whose number does not
 * change stays where it is, unless there is another mover. */
static void law_of_density(subject *s, const reach *d)
{
    const double edge = 2.2, strength = 150;
    const bool moves = d->needs_company || d->step[0] * d->step[1] < 0;
    int reservoirs;
    double p[2 * (DENSE + 1)], sum = 0;
    law_test t = {
        .check = "law: reservoir and field",
        .compared = "numbers of free particles along x against z exp(-U/kT)",
        .what = "a particle's x",
        .measure = measure_density,
        .advice =
            "look at where particles are inserted (uniformly in the box, and two of a trial from "
            "other numbers: trial->number), which one is removed, how often each neighbour "
            "is drawn, and whether the energy of the field counts"};
    t.setting = reservoir(s, 2, edge, DENSE, &reservoirs);
    if (moves) displace(&t.setting);
    setting_field(&t.setting, strength);
    law l = law_of("field", "length=%g strength=%g kT=1.3", edge, strength);
    law_bins(&t, &l, 9);
    /* the mean of exp(-U/kT) along an axis */
    for (int i = 0; i < 4000; i++) {
        const double f = (i + 0.5) / 4000, q = f * (1 - f);
        sum += exp(-strength * q * q * (f - 0.4) / 1.3) / 4000;
    }
    find_numbers(d, DENSE, sum * sum, p);
    const int bins = t.dims;
    const law_test of_one = t;
    t.dims = 0;
    t.parameters[0] = bins;
    for (int k = 0; k < 2; k++) {
        t.parameters[1 + k] = d->step[k] != 0;
        for (int b = 0; b < bins && d->step[k]; b++) {
            t.ends[t.dims] = of_one.ends[b];
            t.expected[t.dims++] = of_one.expected[b] * mean_number(p + k * (DENSE + 1), DENSE);
        }
    }
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
                  .advice = advice_numbers};
    t.setting = setting_new(s, dimension, edge, soft ? 0.6 : 1.3);
    setting_reservoirs(s, &t.setting, 1, (numbers){.start = {0, 0}, .most = {2, 2}}, soft ? 0 : 1,
                       volume);
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
    setting_reservoirs(s, &t.setting, 2, (numbers){.start = {1, 1}, .most = {2, 2}}, 1,
                       edge * edge);
    setting_add(t.setting.potentials, "[potential hard_disk]\n");
    setting_add(t.setting.after, "[mover serial]\nstep = 1\n");
    law l = law_of("mixture", "dimension=2 length=%g total=2 ratio=%.12g cores=1,1.2,1.4", edge,
                   activity_per_volume[0] / activity_per_volume[1]);
    for (int n = 0; n < 2; n++) t.expected[n] = l.points[n].weight, t.ends[n] = n + 0.5;
    t.dims = 2;
    free(l.points);
    law_try(s, &t);
}

static void tell_reach(subject *s, const reach *d)
{
    if (d->bounded)
        check_not_covered(
            s->findings, "all numbers",
            "by itself the mover reaches no fewer than %d of the first and %d of the second species, which "
            "are compared among larger numbers; is that meant, since there is nobody to be near to?",
            d->least[0], d->least[1]);
}

static void laws_in(subject *s, int dimension)
{
    static const char *const checks[2][2] = {
        {"law: reservoir, 2 dimensions", "law: reservoir, 3 dimensions"},
        {"law: second species, 2 dimensions", "law: second species, 3 dimensions"}};
    int reservoirs;
    const setting of = reservoir(s, dimension, dimension == 2 ? 2.2 : 1.7, MOST, &reservoirs);
    const reach d = find_reach(s, &of, reservoirs);
    const bool first_alone = !d.free && d.step[0] && !d.step[1], plane = dimension == 2,
               exchanged = !d.free && d.step[0] * d.step[1] == -1;
    setting alone = of, beside = of;
    if (!d.step[0] && !d.step[1]) {
        check_not_covered(s->findings, "law: reservoir",
                          "no number of particles has changed in 60 sweeps");
        return;
    }
    if (plane) tell_reach(s, &d);
    if (d.needs_company) displace(&alone);
    for (int k = 0; k < 2; k++)
        if (d.step[k]) law_of_ideal_gas(s, &alone, &d, k, checks[k][dimension - 2]);
    setting_beside_cells(&beside, 0.5);
    if (plane) law_of_ideal_gas(s, &beside, &d, d.step[0] ? 0 : 1, "law: beside checkerboard");
    if (plane && d.needs_company && d.reservoirs) law_beside_insert(s, &of, &d);
    if (plane) law_of_density(s, &d);
    for (int soft = 0; soft < 2 && first_alone && !d.needs_company; soft++)
        law_of_two(s, soft, dimension);
    if (exchanged && plane) law_of_identities(s);
    laws_of_mixtures(s, &d, dimension);
}

int laws_of_numbers(const target *target, findings *f, void *argument)
{
    (void)target, (void)f;
    for (int dimension = 2; dimension <= 3; dimension++) laws_in(argument, dimension);
    return 0;
}
