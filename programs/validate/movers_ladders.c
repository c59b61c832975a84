/* Laws on ladders, and with weights of macrostates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws.h"
#include "movers.h"

/* ---- Movers that exchange rungs ----------------------------------------------------------------- */

static const double temperatures[2] = {0.7, 1.2};

/* Four free particles in a field on two temperatures. */
static law_test test_of_rung(subject *s, int rung)
{
    law_test t = law_of_field(s, 2, temperatures[rung], 5);
    t.check = "law: two rungs";
    t.compared = "coordinates and energy of free particles in a field on a rung against exp(-U/kT)";
    t.together = -1;
    t.settled = false;
    t.setting.walkers = 12;
    t.setting.temperature = temperatures[0];
    t.samples = s->target->quick ? 200 : 600;
    t.advice =
        "look at the acceptance min(1, exp(-change of -ln p)) with the change that exchange_delta gives, and "
        "exchange rungs by exchange_rungs alone";
    setting_add(t.setting.before, "[mover serial]\nstep = 1.6\n");
    setting_add(t.setting.after, "[ladder]\nvary = run.temperature\nvalues = %g %g\n",
                temperatures[0], temperatures[1]);
    return t;
}

setting setting_of_rungs(subject *s) { return test_of_rung(s, 0).setting; }

int laws_of_rungs(const target *target, findings *f, void *argument)
{
    (void)target, (void)f;
    const law_test second = test_of_rung(argument, 1);
    law_test first = test_of_rung(argument, 0);
    first.second = &second;
    law_try(argument, &first);
    return 0;
}

/* ---- Weights of macrostates --------------------------------------------------------------------- */

/* For neighbouring numbers n and n + 1 whose weights are told now: what goes up is what comes down. */
static void measure_balance(const law_test *t, const snapshot_of_run *now, int w, double *out,
                            double *samples)
{
    const plugmc_macrostates *m = now->macrostates;
    const int n = (int)now->counts[w * now->species];
    if (!m) return;
    for (int k = 0; k < t->dims; k++) {
        const int bin = (int)floor((k - m->low) / m->width + 1e-9);
        if ((n != k && n != k + 1) || bin < 0 || bin + 1 >= m->bins) continue;
        const double ratio = t->parameters[0] / (k + 1) * exp(m->weight[bin] - m->weight[bin + 1]);
        if (n == k)
            out[k] += fmin(1, ratio);
        else
            out[k] -= fmin(1, 1 / ratio);
    }
    *samples += 1;
}

setting setting_of_weights(subject *s)
{
    const double edge = 2.2, zV = 4.2;
    setting of = setting_new(s, 2, edge, 1.3);
    of.walkers = 8;
    of.equilibrate = 400;
    setting_add(of.species,
                "[species %s]\ncount = 3\nmax_count = 10\ndiameter = 0\nactivity = %.9g\n",
                s->names[0], zV / edge / edge);
    setting_add(of.potentials, "[potential hard_sphere]\n");
    setting_add(of.before, "[mover insert]\nspecies = %s\ntrials = 8\n", s->names[0]);
    return of;
}

int laws_of_weights(const target *target, findings *f, void *argument)
{
    static const char *const names[] = {
        "what goes from 0 to 1 less what comes back", "what goes from 1 to 2 less what comes back",
        "what goes from 2 to 3 less what comes back", "what goes from 3 to 4 less what comes back",
        "what goes from 4 to 5 less what comes back", "what goes from 5 to 6 less what comes back",
        "what goes from 6 to 7 less what comes back", "what goes from 7 to 8 less what comes back"};
    subject *s = argument;
    (void)target, (void)f;
    law_test t = {
        .check = "law: weights of numbers",
        .compared =
            "balance between neighbouring numbers of free particles with a reservoir and weights",
        .names = names,
        .dims = 8,
        .together = -1,
        .samples = s->target->quick ? 200 : 600,
        .measure = measure_balance,
        .parameters = {4.2},
        .advice =
            "weights may change in production only so slowly that the chain follows; declare the same "
            "array that the core is to read"};
    t.setting = setting_of_weights(s);
    law_try(s, &t);
    return 0;
}
