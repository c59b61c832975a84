/* untrue: a repulsion (1 - r / 2)^2 within r = 2 that breaks one promise of pair potentials, which
 * the program has to notice before it runs. */
#include <plugmc/potential.h>

typedef struct parameters {
    int32_t lie;
} parameters;

enum {
    NONE,
    RANGE,
    NOT_A_NUMBER,
    MINUS_INFINITY,
    ORDER,
    SINGLE,
    CHANGE,
    SLOPE,
    CURVATURE,
    CONTACT,
    NO_RANGE,
    CORE
};

PLUGMC_FN real pair_range(const parameters *p)
{
    return p->lie == NO_RANGE ? plugmc_sqrt((real)-1) : p->lie == RANGE ? (real)1.8 : (real)2;
}

PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
    return p->lie == CONTACT && a.species < b.species ? (real)0.6
           : p->lie == CORE                           ? (real)-1
                                                      : (real)0.5;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    real r = plugmc_sqrt(s.r2), t = 1 - (real)0.5 * r, u = t * t;
    if (p->lie == NOT_A_NUMBER && r < (real)0.7) u = plugmc_sqrt(-u);
    if (p->lie == MINUS_INFINITY && r < (real)0.7) u = -1 / (u - u);
    if (p->lie == ORDER && a.species < b.species) u *= (real)1.01;
    if (p->lie == SINGLE && sizeof(real) == 4) u *= (real)1.01;
    return r < 2 ? u : (real)0;
}

PLUGMC_FN real pair_change(const parameters *p, plugmc_separation from, plugmc_separation to,
                           plugmc_site a, plugmc_site b)
{
    real change = pair_energy(p, to, a, b) - pair_energy(p, from, a, b);
    return p->lie == CHANGE ? (real)0.99 * change : change;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    real r = plugmc_sqrt(s.r2);
    (void)a, (void)b;
    *first = r < 2 ? ((real)0.5 * r - 1) / r : (real)0;
    *second = r < 2 ? (real)0.5 : (real)0;
    if (p->lie == SLOPE) *first *= (real)1.05;
    if (p->lie == CURVATURE) *second *= (real)1.5;
}

#define PLUGMC_PAIR                                                                                \
    (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_CONTACT | PLUGMC_PAIR_CHANGE | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(parameters, lie, "none",
                      "none|range|nan|infinity|order|float|change|slope|curvature|contact|no_range|"
                      "core",
                      "which promise is broken"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "untrue", .summary = "breaks a promise",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
