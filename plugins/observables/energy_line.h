/* energy_line: the steps of the energy along the line on which a body moves, and what they add to a pressure. */
#ifndef PLUGMC_ENERGY_LINE_H
#define PLUGMC_ENERGY_LINE_H

#include <math.h>
#include <stdlib.h>

/* Where the body would be, length from where it is; by how much its energy changes there, kT; and how far it is ahead of the
 * other body there, length. */
typedef struct energy_step {
    double at, change, ahead;
} energy_step;

typedef struct energy_line {
    energy_step *steps;
    int64_t count, room;
    int lost; /* there was no memory */
} energy_line;

static inline void energy_line_add(energy_line *l, energy_step step)
{
    if (l->count == l->room) {
        const int64_t room = 2 * l->room + 64;
        energy_step *more = realloc(l->steps, (size_t)room * sizeof *more);
        if (!more) {
            l->lost = 1;
            return;
        }
        l->steps = more;
        l->room = room;
    }
    l->steps[l->count++] = step;
}

static inline int energy_line_compare(const void *a, const void *b)
{
    const double x = ((const energy_step *)a)->at, y = ((const energy_step *)b)->at;
    return (x > y) - (x < y);
}

/* With w = exp(-u) along the line from `from` to `to`, the sum over steps of the change of w times `ahead`, plus w at the ends
 * times down and up, which are 0 of a line that closes; over the integral of w. */
static inline double energy_line_share(energy_line *l, double from, double to, double down,
                                       double up)
{
    double energy = 0, lowest = 0, sum = 0, integral = 0, at = from;
    qsort(l->steps, (size_t)l->count, sizeof *l->steps, energy_line_compare);
    for (int64_t k = 0; k < l->count; k++) {
        energy += l->steps[k].change;
        lowest = fmin(lowest, energy);
    }
    energy = 0;
    double weight = exp(lowest);
    sum = weight * down;
    for (int64_t k = 0; k < l->count; k++) {
        integral += weight * (l->steps[k].at - at);
        at = l->steps[k].at;
        energy += l->steps[k].change;
        const double next = exp(lowest - energy);
        sum += (next - weight) * l->steps[k].ahead;
        weight = next;
    }
    integral += weight * (to - at);
    return (sum + weight * up) / integral;
}

#endif
