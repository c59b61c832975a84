/* lennard_jones: the 12-6 potential, for one species or a mixture.
 *
 *     v(r) = 4 epsilon ((sigma / r)^12 - (sigma / r)^6)
 *
 *     truncation     u(r) for r < cutoff (r_c); 0 else
 *     cut            v(r)
 *     shift          v(r) - v(r_c)
 *     force_shift    v(r) - v(r_c) - (r - r_c) v'(r_c), so that force and energy are continuous
 *
 * epsilon is over kT: 1 / T in reduced units. Species mix by a rule, `mixing`, unless a value
 * is given for every pair. What
 * lies beyond the cutoff of a homogeneous fluid is the potential lennard_jones_tail.
 * J. E. Jones, Proc. R. Soc. A 106, 463 (1924).
 */
#include <plugmc/potential.h>

enum { CUT, SHIFT, FORCE_SHIFT };
/* Columns of `table`. */
enum { STRENGTH, SQUARE, OFFSET, SLOPE, COLUMNS };

typedef struct parameters {
    plugmc_list epsilon, sigma; /* kT, length */
    real cutoff;                /* length; 0: none */
    int32_t truncation, mixing;
    int64_t kinds;      /* number of species */
    plugmc_list table;  /* [kinds][kinds][COLUMNS]: 4 epsilon, sigma^2, and what is taken off:
                           OFFSET + SLOPE (r - cutoff) */
    real range, square; /* length, length^2: cutoff or infinity, and its square */
} parameters;

PLUGMC_FN const real *row_of(const parameters *p, plugmc_site a, plugmc_site b)
{
    return p->table.values + (a.species * (int32_t)p->kinds + b.species) * (int32_t)COLUMNS;
}

PLUGMC_FN real pair_range(const parameters *p) { return p->range; }

/* What is taken off in proportion to r costs a root. A kernel has the truncation as a constant; on
 * a CPU the root is cheaper than a branch, and the slope is 0 where there is none. */
PLUGMC_FN int has_slope(const parameters *p) { return PLUGMC_HOST || p->truncation == FORCE_SHIFT; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    const real *row = row_of(p, a, b);
    real ratio = row[SQUARE] / s.r2;
    real sixth = ratio * ratio * ratio;
    real u = row[STRENGTH] * (sixth * (sixth - (real)1)) - row[OFFSET];
    if (has_slope(p)) u -= row[SLOPE] * (plugmc_sqrt(s.r2) - p->cutoff);
    return s.r2 < p->square ? u : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    const real *row = row_of(p, a, b);
    real near = s.r2 < p->square ? (real)1 : (real)0;
    real over = (real)1 / s.r2, ratio = row[SQUARE] * over;
    real sixth = ratio * ratio * ratio, scale = near * row[STRENGTH] * sixth * over;
    *first = scale * ((real)6 - (real)12 * sixth);    /* u' / r */
    *second = scale * ((real)156 * sixth - (real)42); /* u'' */
    if (has_slope(p)) *first -= near * row[SLOPE] * plugmc_sqrt(over);
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#if PLUGMC_HOST
#define PLUGMC_PAIR_BY_SPECIES
#endif
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include "truncation.h"

static int check(const parameters *p, const plugmc_host *host)
{
    int code = plugmc_check_species_list(host, "epsilon", &p->epsilon, PLUGMC_PER_PAIR_OR_SPECIES);
    if (!code)
        code = plugmc_check_species_list(host, "sigma", &p->sigma, PLUGMC_PER_PAIR_OR_SPECIES);
    if (!code) code = truncation_check(host, (double)p->cutoff, p->truncation == CUT);
    return code;
}

/* A row of the table. Rounded to single precision once, at the end. */
static void put_row(const parameters *p, double epsilon, double sigma, real row[COLUMNS])
{
    const double rc = (double)p->cutoff, sixth = pow(sigma / rc, 6);
    const double v = 4 * epsilon * sixth * (sixth - 1);
    const double slope = 4 * epsilon * sixth * (6 - 12 * sixth) / rc;
    row[STRENGTH] = (real)(4 * epsilon);
    row[SQUARE] = (real)(sigma * sigma);
    row[OFFSET] = p->truncation == CUT ? 0 : (real)v;
    row[SLOPE] = p->truncation == FORCE_SHIFT ? (real)slope : 0;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    int code = check(p, host);
    if (code) return code;
    const int32_t n = host->system->species_count;
    p->range = p->cutoff > 0 ? p->cutoff : PLUGMC_NO_RANGE;
    p->square = p->range * p->range;
    p->kinds = n;
    real *table = plugmc_species_table(host, &p->table, COLUMNS);
    if (!table) return PLUGMC_ERROR_MEMORY;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            double epsilon, sigma;
            plugmc_mixed_well(&p->epsilon, &p->sigma, p->mixing, n, a, b, &epsilon, &sigma);
            put_row(p, epsilon, sigma, &table[(a * n + b) * COLUMNS]);
        }
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, epsilon, 0, NULL, 0, 1e9, "kT",
                    "depth of the well over kT: one value, one per species, or one per pair "
                    "of species"),
    PLUGMC_LIST_KEY(
        parameters, sigma, 0, "1", 1e-9, 1e9, "length",
        "distance at which the energy is 0: one value, one per species, or one per pair of "
        "species; required with [units]"),
    PLUGMC_REAL_KEY(parameters, cutoff, NULL, 0, 1e9, "length",
                    "distance from which the energy is 0; 0: none"),
    PLUGMC_CHOICE_KEY(parameters, truncation, "cut", "cut|shift|force_shift",
                      "cut: plain truncation; shift: the energy is continuous at the cutoff; "
                      "force_shift: the force too"),
    PLUGMC_MIXING_KEY(parameters),
    PLUGMC_INTEGER_DERIVED(parameters, kinds, "number of species"),
    PLUGMC_LIST_DERIVED(parameters, table,
                        "4 epsilon, sigma^2, offset and slope of what is taken off, a pair"),
    PLUGMC_REAL_DERIVED(parameters, range, "cutoff, or infinity"),
    PLUGMC_REAL_DERIVED(parameters, square, "its square"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "lennard_jones",
              .summary = "the 12-6 potential: cut, shifted or force-shifted; mixtures",
              .reference = "Jones, Proc. R. Soc. A 106, 463 (1924)", PLUGMC_KEYS(parameters, table),
              .configure = configure, .potential = &potential);
#endif
