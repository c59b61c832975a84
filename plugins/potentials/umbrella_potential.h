/* What umbrella potentials have in common: an energy of one number x of a configuration,
 *
 *     U = strength (x - center)^2 / 2    (form = spring), or    U = strength (x - center)    (form = force).
 *
 * Windows with springs of one strength and many centres are a ladder: beside a spring at 0 the coupling of a
 * force of strength 1 is varied, -strength center of each window (G. M. Torrie, J. P. Valleau, J. Comput. Phys. 23,
 * 187 (1977)). */
#ifndef UMBRELLA_POTENTIAL_H
#define UMBRELLA_POTENTIAL_H

#include <plugmc/everything.h>

enum { UMBRELLA_SPRING, UMBRELLA_FORCE };

/* The first member of such a potential: parameters. */
typedef struct umbrella_form {
    real strength, center;
    int32_t form;
} umbrella_form;

#define UMBRELLA_KEYS(type, member, unit)                                                          \
    {"strength", PLUGMC_TYPE_REAL,                                                                 \
     0,          offsetof(type, member.strength),                                                  \
     NULL,       -1e12,                                                                            \
     1e12,       "",                                                                               \
     NULL,       "strength of the spring or the force",                                            \
     0},                                                                                           \
        {"center", PLUGMC_TYPE_REAL,                                                               \
         0,        offsetof(type, member.center),                                                  \
         "0",      -1e12,                                                                          \
         1e12,     unit,                                                                           \
         NULL,     "position of zero energy",                                                      \
         0},                                                                                       \
    {                                                                                              \
        "form", PLUGMC_TYPE_CHOICE, 0, offsetof(type, member.form), "spring", 0, 0, "",            \
            "spring|force",                                                                        \
            "spring: proportional to the square of the distance from the "                         \
            "centre; force: proportional to the distance",                                         \
            0                                                                                      \
    }

static inline double umbrella_energy(const umbrella_form *u, double x)
{
    x -= u->center;
    return u->strength * (u->form == UMBRELLA_SPRING ? 0.5 * x * x : x);
}

/* dU/dx */
static inline double umbrella_slope(const umbrella_form *u, double x)
{
    return u->strength * (u->form == UMBRELLA_SPRING ? x - u->center : 1);
}

#endif
