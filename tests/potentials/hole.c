/* test_hole: a pair energy that is not a number where particles are near, for the tests. A soft
 * repulsion u(r) = strength (1 - r / cutoff)^2 for r < cutoff, and NaN (or infinity) for r < hole if
 * they are one above the other: within 45 degrees of y, where the trials before a run do not look;
 * and the same for r > beyond, if that is given: nobody in a sphere of that diameter comes so far. */
#include <plugmc/potential.h>

typedef struct parameters {
    real strength, cutoff, hole, beyond;
    int32_t inside;
} parameters;

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

/* 0 / 0, which no compiler works out beforehand. */
PLUGMC_FN real hole_in(const parameters *p, real x)
{
    if (p->inside) return p->inside == 1 ? PLUGMC_NO_RANGE : -PLUGMC_NO_RANGE;
    return (x - x) / (x - x);
}

PLUGMC_FN int in_hole(const parameters *p, plugmc_separation s)
{
    return (s.r2 < p->hole * p->hole && 2 * s.y * s.y > s.r2) ||
           (p->beyond > 0 && s.r2 > p->beyond * p->beyond);
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    real t = (real)1 - plugmc_sqrt(s.r2) / p->cutoff;
    (void)a, (void)b;
    if (in_hole(p, s)) return hole_in(p, t);
    return s.r2 < p->cutoff * p->cutoff ? p->strength * (t * t) : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    const real r = plugmc_sqrt(s.r2), t = (real)1 - r / p->cutoff;
    const int inside = s.r2 < p->cutoff * p->cutoff;
    (void)a, (void)b;
    *first = inside ? (real)-2 * p->strength * t / (p->cutoff * r) : (real)0;
    *second = inside ? (real)2 * p->strength / (p->cutoff * p->cutoff) : (real)0;
    if (in_hole(p, s)) *first = -hole_in(p, t);
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, strength, "1", 0, 1e6, "kT", "energy at full overlap"),
    PLUGMC_REAL_KEY(parameters, cutoff, "1", 1e-6, 1e6, "length", "range"),
    PLUGMC_REAL_KEY(parameters, hole, "0.3", 0, 1e6, "length", "below it there is no number"),
    PLUGMC_REAL_KEY(parameters, beyond, "0", 0, 1e6, "length", "nor above it; 0: there is one"),
    PLUGMC_CHOICE_KEY(parameters, inside, "nan", "nan|infinity|minus_infinity",
                      "energy and force there"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "test_hole",
              .summary = "a pair energy that is not a number", .reference = "",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
