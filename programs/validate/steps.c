/* Jumps of pair energies. A potential of steps has a few; one whose energy is rounded to single precision where it should
 * not be has thousands, as if the distance had only some values. */
#include <math.h>
#include <string.h>

#include "base/crash.h"
#include "checks.h"

enum { POINTS = 400, MOST_JUMPS = 32, MOST_ASKED = 200000, DEEPEST = 200 };

/* Of exp(-u/kT), beside the larger one of 1 and its value: rounding of a float is 10^-4 of it at most. */
static const double least_jump = 1e-3;

typedef struct pair_of {
    const stand *stand;
    int32_t kind[2];
    int asked, jumps;
    /* The jump that was met first: where, and energies over kT on its sides. */
    double at, before, behind;
} pair_of;

/* Over kT; from -20 to 700, where nobody is sampled otherwise. */
static double energy_at(pair_of *p, double r)
{
    const double u = pair_energy_at(p->stand, p->kind[0], p->kind[1], r);
    p->asked++;
    return isnan(u) ? 700 : fmax(-20, fmin(700, u / p->stand->session.engine.system.temperature));
}

typedef struct interval {
    double low, high;
    /* exp(-u) at low, in the middle and at high */
    double at[3];
} interval;

/* Halves an interval as long as the fourth difference of five points matters, which falls with the width where the energy is
 * continuous. false: there are too many jumps. */
static bool look_in(pair_of *p, interval whole)
{
    interval stack[DEEPEST + 2];
    int depth = 0;
    stack[depth++] = whole;
    while (depth > 0) {
        const interval i = stack[--depth];
        const double middle = i.low + (i.high - i.low) / 2, near = i.low + (middle - i.low) / 2,
                     far = middle + (i.high - middle) / 2,
                     least = least_jump * fmax(1, fmax(i.at[0], i.at[2]));
        if (near <= i.low || near >= middle || far <= middle || far >= i.high) {
            if (fabs(i.at[2] - i.at[0]) <= least) continue;
            if (p->jumps == 0) p->at = i.high, p->before = -log(i.at[0]), p->behind = -log(i.at[2]);
            if (++p->jumps > MOST_JUMPS) return false;
            continue;
        }
        const double at_near = exp(-energy_at(p, near)), at_far = exp(-energy_at(p, far));
        if (fabs(i.at[0] - 4 * at_near + 6 * i.at[1] - 4 * at_far + i.at[2]) <= least) continue;
        if (p->asked > MOST_ASKED || depth > DEEPEST) return true; /* nothing is known */
        stack[depth++] = (interval){middle, i.high, {i.at[1], at_far, i.at[2]}};
        stack[depth++] = (interval){i.low, middle, {i.at[0], at_near, i.at[1]}};
    }
    return true;
}

static bool look_between(pair_of *p, double low, double high)
{
    const double middle = low + (high - low) / 2;
    return look_in(p, (interval){low,
                                 high,
                                 {exp(-energy_at(p, low)), exp(-energy_at(p, middle)),
                                  exp(-energy_at(p, high))}});
}

/* The lowest energy between two distances, where there is one minimum. */
static double minimum_between(pair_of *p, double low, double high)
{
    for (int k = 0; k < 80; k++) {
        const double left = low + (high - low) / 3, right = high - (high - low) / 3;
        if (energy_at(p, left) <= energy_at(p, right))
            high = right;
        else
            low = left;
    }
    return low + (high - low) / 2;
}

/* A well may be narrower than the distance of points, so it is looked for. */
static bool look_everywhere(pair_of *p, double end)
{
    double u[POINTS + 1];
    for (int k = 0; k <= POINTS; k++) u[k] = energy_at(p, end * fmax(k, 0.125) / POINTS);
    for (int k = 1; k <= POINTS; k++) {
        const double here = end * k / POINTS, last = end * fmax(k - 1, 0.125) / POINTS;
        if (k < POINTS && u[k] < u[k - 1] && u[k] <= u[k + 1]) {
            const double well = minimum_between(p, last, end * (k + 1) / POINTS);
            if (!look_between(p, last, well) || !look_between(p, well, end * (k + 1) / POINTS))
                return false;
        }
        if (!look_between(p, last, here)) return false;
    }
    return true;
}

int check_steps(const target *t, stand *s, findings *f)
{
    (void)t;
    const plugmc_system *system = &s->session.engine.system;
    const double range = stand_pair(s) ? stand_pair(s)->range(s->own->data) : 0,
                 end = fmin(range, stand_reach(&system->box));
    if (!(end > 0)) {
        check_not_covered(f, "jumps",
                          stand_pair(s) ? "there is no range" : "there is no pair energy");
        return 0;
    }
    check_begin(f, "jumps", NAN,
                "where energies of all pairs of species jump: at %d distances at most", MOST_JUMPS);
    context_calling(&s->own->context, "energy");
    for (int32_t i = 0; i < system->species_count; i++)
        for (int32_t j = i; j < system->species_count; j++) {
            pair_of p = {.stand = s, .kind = {i, j}};
            if (look_everywhere(&p, end * (1 + 1e-6))) continue;
            check_fail(
                f,
                "the pair energy of '%s' and '%s' jumps at more than %d distances, first from %.6g kT to "
                "%.6g kT at %.9g: let the arithmetic be in 'real', not in 'float', and do not subtract "
                "large numbers from each other",
                plugmc_species_at(system, i)->name, plugmc_species_at(system, j)->name, MOST_JUMPS,
                p.before, p.behind, p.at);
        }
    crash_called();
    return 0;
}
