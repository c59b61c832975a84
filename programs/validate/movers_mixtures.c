/* Laws of the numbers of two species with forces: three particles at most, whose weights are known exactly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws.h"
#include "movers_numbers.h"

/* At most three particles; limits of the numbers of a species are below SIDE. */
enum { SIDE = 5, TOGETHER = 3 };

static const double kT = 1.3;
/* Of forces, as a part of the edge. */
#define RANGE 0.49

/* ---- Which numbers ------------------------------------------------------------------------------ */

static bool fits(int a, int b) { return a >= 0 && b >= 0 && a + b <= TOGETHER; }

/* How many numbers are on the line through n->start within n->most, and the sum of the largest. 0: there are some with more
 * particles than three. */
static int members_of(const reach *r, const numbers *n, int *largest)
{
    int members = 0;
    for (int k = -SIDE; k <= SIDE; k++) {
        const int a = n->start[0] + k * r->step[0], b = n->start[1] + k * r->step[1];
        if (a < 0 || b < 0 || a > n->most[0] || b > n->most[1]) continue;
        if (!fits(a, b)) return 0;
        members++;
        if (a + b > *largest) *largest = a + b;
    }
    return members;
}

/* The line with most members, and among them most particles. There is room for more than there are of each species whose number
 * changes, as movers ask for it, and one of a species whose number does not. false: no line has two members. */
static bool find_line(const reach *r, numbers *out)
{
    int best = 0;
    if (r->free) {
        *out = (numbers){.start = {1, 0}, .most = {2, 1}};
        return true;
    }
    for (int a = 0; a <= TOGETHER; a++)
        for (int b = 0; fits(a, b); b++) {
            numbers n = {.start = {a, b}, .most = {a, b}};
            int largest = 0;
            if ((r->step[0] == 0 && a != 1) || (r->step[1] == 0 && b != 1)) continue;
            for (int k = -TOGETHER; k <= TOGETHER; k++)
                for (int i = 0; i < 2; i++)
                    if (fits(a + k * r->step[0], b + k * r->step[1]) &&
                        n.start[i] + k * r->step[i] > n.most[i])
                        n.most[i] = n.start[i] + k * r->step[i];
            for (int i = 0; i < 2; i++)
                if (r->step[i] && n.most[i] == n.start[i]) n.most[i]++;
            const int members = members_of(r, &n, &largest),
                      score = members < 2 ? 0 : 100 * members + 10 * largest + a;
            if (score <= best) continue;
            best = score;
            *out = n;
        }
    return best > 0;
}

/* Which numbers any walker has had, [SIDE * SIDE]: those that the mover reaches. Returns how many. */
static int find_reached(const subject *s, const setting *of, const numbers *n, bool *reached)
{
    run r;
    snapshot_of_run now;
    char *text = setting_text(s, of);
    int code = run_open(&r, text), count = 0;
    free(text);
    memset(reached, 0, SIDE * SIDE * sizeof *reached);
    reached[n->start[0] * SIDE + n->start[1]] = true;
    for (int k = 0; k < 100 && !code; k++) {
        code = run_sweep(&r, 1);
        if (!code) code = run_look(&r, &now);
        for (int w = 0; w < now.walkers && !code; w++) {
            const int64_t *c = now.counts + 2 * w;
            if (c[0] < SIDE && c[1] < SIDE) reached[c[0] * SIDE + c[1]] = true;
        }
    }
    run_close(&r);
    for (int k = 0; k < SIDE * SIDE; k++) count += reached[k];
    return count;
}

/* ---- The law ------------------------------------------------------------------------------------ */

/* Which number of the test a pair of numbers is: its parameters are [SIDE * SIDE], as digits. */
static void measure_composition(const law_test *t, const snapshot_of_run *now, int w, double *out,
                                double *samples)
{
    const int64_t *c = now->counts + 2 * w;
    *samples += 1;
    for (int k = 0; k < t->dims; k++)
        if (t->ends[k] == (double)(c[0] * SIDE + c[1])) out[k] += 1;
}

/* Expectations of all numbers that are reached but the last one, which follows from the others. */
static void expect_composition(law_test *t, const bool *reached, const numbers *n,
                               const char **names)
{
    static char words[SIDE * SIDE][100];
    const double edge = t->setting.edge, volume = pow(edge, t->setting.dimension);
    double sum = 0;
    law l = law_of("composition",
                   "dimension=%d length=%.12g kT=%g most=%d,%d activities=%.12g,%.12g "
                   "strengths=1.6,-2.4,0.9 range=%.12g",
                   t->setting.dimension, edge, kT, n->most[0], n->most[1],
                   activity_per_volume[0] / volume, activity_per_volume[1] / volume, RANGE * edge);
    for (int k = 0; k < l.count; k++) {
        const int a = k / (n->most[1] + 1), b = k % (n->most[1] + 1);
        if (!reached[a * SIDE + b]) continue;
        sum += l.points[k].weight;
        t->ends[t->dims] = a * SIDE + b;
        snprintf(words[t->dims], sizeof words[0],
                 "the probability of %d of the first species and %d of the second", a, b);
        names[t->dims] = words[t->dims];
        t->expected[t->dims++] = l.points[k].weight;
    }
    for (int k = 0; k < t->dims; k++) t->expected[k] /= sum;
    t->dims--;
    free(l.points);
}

/* `wide`: lengths of keys are 0.6 of the edge. */
static void law_of_composition(subject *s, const reach *of, int dimension, bool wide)
{
    static const char *names[SIDE * SIDE];
    const double edge = dimension == 2 ? 3.4 : 2.6, volume = pow(edge, dimension);
    law_test t = {.check = wide             ? "law: numbers, lengths beyond half of the box"
                           : dimension == 2 ? "law: numbers and forces, 2 dimensions"
                                            : "law: numbers and forces, 3 dimensions",
                  .compared =
                      "numbers of two species with forces, three particles at most, against "
                      "sums over graphs",
                  .names = names,
                  .named_shares = true,
                  .measure = measure_composition,
                  .advice = advice_numbers};
    numbers n;
    bool reached[SIDE * SIDE];
    if (!find_line(of, &n))
        return check_not_covered(s->findings, t.check,
                                 "more than three particles come and go together: laws of so many "
                                 "are known of free ones only");
    t.setting = setting_new(s, dimension, edge, kT);
    if (wide) t.setting.reach = 0.6;
    setting_reservoirs(s, &t.setting, of->reservoirs, n, 0, volume);
    /* two potentials, of which a mover that decides itself needs both */
    for (int unlike = 0; unlike < 2; unlike++)
        setting_add(t.setting.potentials,
                    "[potential %s]\nplugin = expression\nenergy = s*(1 - r*r/%.12g)^3\n"
                    "cutoff = %.12g\ns = %s\n",
                    unlike ? "of_unlike" : "of_like", RANGE * RANGE * edge * edge, RANGE * edge,
                    unlike ? "0 -2.4 0" : "1.6 0 0.9");
    setting_add(t.setting.after, "[mover serial]\nstep = %g\n", 0.4 * edge);
    if (wide) t.advice = advice_wide;
    memset(reached, true, sizeof reached); /* where it is refused, which law_try tells */
    if (subject_can_open(s, &t.setting) && find_reached(s, &t.setting, &n, reached) < 2)
        return check_not_covered(s->findings, t.check,
                                 wide ? "the mover does nothing there"
                                      : "no number of particles has changed in 100 sweeps");
    expect_composition(&t, reached, &n, names);
    law_try(s, &t);
}

void laws_of_mixtures(subject *s, const reach *of, int dimension)
{
    const char *key;
    law_of_composition(s, of, dimension, false);
    if (dimension == 3 && subject_length(s, &key) > 0) law_of_composition(s, of, dimension, true);
}
