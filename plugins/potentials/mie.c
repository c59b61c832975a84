/* mie: a repulsion and an attraction that are powers of the distance, for one species or a mixture.
 *
 *     v(r) = C epsilon ((sigma / r)^n - (sigma / r)^m),    C = n / (n - m) (n / m)^(m / (n - m))
 *
 * so that -epsilon is the least energy, at (n / m)^(1 / (n - m)) sigma; n = 12 and m = 6 are the Lennard-Jones potential.
 * u(r) is v(r) for r < cutoff and 0 else, less v(r_c) if shifted, less v(r_c) + (r - r_c) v'(r_c) if the force is shifted.
 * Unlike species mix by a rule, `mixing`, unless a value is given for every pair; exponents are not mixed. What lies beyond
 * the cutoffs of a homogeneous fluid is the potential tail_correction.
 * G. Mie, Ann. Phys. 316, 657 (1903).
 */
#include <plugmc/potential.h>
#include <plugmc/functions.h>

/* Columns of `table`. The last four are those of plugmc_ending. */
enum { STRENGTH, SQUARE, HALF_M, HALF_REST, CUTOFF, END, OFFSET, SLOPE, COLUMNS };

typedef struct parameters {
    plugmc_list epsilon, sigma, n, m, cutoff, k_ij; /* kT, length, 1, 1, length (0: none), 1 */
    const char *truncation;
    int32_t mixing;
    int64_t kinds; /* number of species */
    plugmc_list
        table; /* [kinds][kinds][COLUMNS]: C epsilon, sigma^2, m / 2, (n - m) / 2, the cutoff, its square, and
                          what is taken off: OFFSET + SLOPE (r - cutoff) */
    real range; /* length: the longest cutoff, or infinity */
} parameters;

PLUGMC_FN const real *row_of(const parameters *p, plugmc_site a, plugmc_site b)
{
    return p->table.values + (a.species * (int32_t)p->kinds + b.species) * (int32_t)COLUMNS;
}

PLUGMC_FN real pair_range(const parameters *p) { return p->range; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    const real *row = row_of(p, a, b);
    real x = plugmc_log(row[SQUARE] / s.r2); /* (sigma / r)^m is exp(m x / 2) */
    real u = row[STRENGTH] * plugmc_exp_of(row[HALF_M] * x) *
             (plugmc_exp_of(row[HALF_REST] * x) - (real)1);
    u -= row[OFFSET] + row[SLOPE] * (plugmc_sqrt(s.r2) - row[CUTOFF]);
    return s.r2 < row[END] ? u : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    const real *row = row_of(p, a, b);
    real over = (real)1 / s.r2, x = plugmc_log(row[SQUARE] * over);
    real m = (real)2 * row[HALF_M], n = m + (real)2 * row[HALF_REST];
    real rest = plugmc_exp_of(row[HALF_REST] * x);
    real scale = row[STRENGTH] * plugmc_exp_of(row[HALF_M] * x) * over;
    real u1 = scale * (m - n * rest) - row[SLOPE] * plugmc_rsqrt(s.r2);
    real u2 = scale * (n * (n + (real)1) * rest - m * (m + (real)1));
    *first = s.r2 < row[END] ? u1 : (real)0;  /* u' / r */
    *second = s.r2 < row[END] ? u2 : (real)0; /* u'' */
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#if PLUGMC_HOST
#define PLUGMC_PAIR_BY_SPECIES
#endif
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>
#include <plugmc/tail.h>

/* One pair of species: C epsilon, length, exponents. */
typedef struct law {
    double strength, sigma, n, m;
} law;

static law law_of(const parameters *p, int32_t a, int32_t b)
{
    const int32_t kinds = (int32_t)p->kinds;
    const plugmc_wells wells = {&p->epsilon, &p->sigma, &p->k_ij, p->mixing,
                                (double)p->n.values[0]};
    double epsilon;
    law l = {.n = plugmc_species_pair_value(&p->n, kinds, a, b),
             .m = plugmc_species_pair_value(&p->m, kinds, a, b)};
    plugmc_well_of(&wells, kinds, a, b, &epsilon, &l.sigma);
    l.strength = epsilon * l.n / (l.n - l.m) * pow(l.n / l.m, l.m / (l.n - l.m));
    return l;
}

static int check_exponents(const parameters *p, const plugmc_host *host)
{
    const int32_t kinds = host->system->species_count;
    const int of_dispersion = p->mixing == PLUGMC_WALDMAN_HAGLER || p->mixing == PLUGMC_KONG;
    int code = plugmc_check_species_list(host, "n", &p->n, PLUGMC_PER_PAIR);
    if (!code) code = plugmc_check_species_list(host, "m", &p->m, PLUGMC_PER_PAIR);
    for (int32_t k = 0; k < kinds * kinds && !code; k++) {
        const double n = plugmc_species_pair_value(&p->n, kinds, k / kinds, k % kinds),
                     m = plugmc_species_pair_value(&p->m, kinds, k / kinds, k % kinds);
        if (!(n > m))
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "n = %g must be larger than m = %g: the repulsion is the steeper one",
                              n, m);
        else if (kinds > 1 && of_dispersion && m != 6)
            code = host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "this mixing rule is for an attraction by dispersion, r^-6: m must be 6");
        else if (kinds > 1 && p->mixing == PLUGMC_KONG && n != (double)p->n.values[0])
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "mixing = kong needs one n for all pairs of species");
    }
    return code;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t kinds = host->system->species_count;
    const plugmc_wells wells = {&p->epsilon, &p->sigma, &p->k_ij, p->mixing, 12};
    int code = plugmc_check_wells(host, &wells);
    if (!code) code = check_exponents(p, host);
    if (!code) code = plugmc_check_truncation(host, &p->cutoff, p->truncation);
    if (code) return code;
    p->range = plugmc_longest_cutoff(&p->cutoff);
    p->kinds = kinds;
    real *table = plugmc_species_table(host, &p->table, COLUMNS);
    if (!table) return PLUGMC_ERROR_MEMORY;
    for (int32_t a = 0; a < kinds; a++)
        for (int32_t b = 0; b < kinds; b++) {
            const law l = law_of(p, a, b);
            const real cutoff = (real)plugmc_species_pair_value(&p->cutoff, kinds, a, b);
            const double rc = (double)cutoff, high = pow(l.sigma / rc, l.n),
                         low = pow(l.sigma / rc, l.m);
            const plugmc_ending ending = plugmc_ending_of(
                cutoff, plugmc_truncation_of(p->truncation, kinds, a, b), l.strength * (high - low),
                l.strength * (l.m * low - l.n * high) / rc);
            real *row = &table[(a * kinds + b) * COLUMNS];
            row[STRENGTH] = (real)l.strength;
            row[SQUARE] = (real)(l.sigma * l.sigma);
            row[HALF_M] = (real)(l.m / 2);
            row[HALF_REST] = (real)((l.n - l.m) / 2);
            memcpy(row + CUTOFF, &ending, sizeof ending);
        }
    return PLUGMC_OK;
}

/* The integral of r^(D-1) (sigma / r)^k from r_c is r_c^D (sigma / r_c)^k / (k - D). */
static double tail(const void *instance, int32_t dimension, int32_t a, int32_t b)
{
    const parameters *p = instance;
    const law l = law_of(p, a, b);
    const double rc = plugmc_species_pair_value(&p->cutoff, (int32_t)p->kinds, a, b);
    if (plugmc_truncation_of(p->truncation, (int32_t)p->kinds, a, b) != PLUGMC_CUT) return NAN;
    if (l.m <= dimension) return INFINITY;
    return plugmc_half_sphere(dimension) * l.strength * pow(rc, dimension) *
           (pow(l.sigma / rc, l.n) / (l.n - dimension) -
            pow(l.sigma / rc, l.m) / (l.m - dimension));
}

static const plugmc_tail tails = {.size = sizeof tails, .energy = tail};

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, epsilon, 0, NULL, 0, 1e9, "kT",
                    "depth of the well over kT: one value, one per species, or one per pair of "
                    "species"),
    PLUGMC_LIST_KEY(
        parameters, sigma, 0, "1", 1e-9, 1e9, "length",
        "distance at which the energy is 0: one value, one per species, or one per pair of "
        "species; required with [units]"),
    PLUGMC_LIST_KEY(parameters, n, 0, "12", 1, 200, "",
                    "exponent of the repulsion: one value, or one per pair of species"),
    PLUGMC_LIST_KEY(parameters, m, 0, "6", 0.5, 199, "",
                    "exponent of the attraction: one value, or one per pair of species"),
    PLUGMC_TRUNCATION_KEYS(parameters),
    PLUGMC_MIXING_KEY(parameters),
    PLUGMC_K_IJ_KEY(parameters, "epsilon"),
    PLUGMC_INTEGER_DERIVED(parameters, kinds, "number of species"),
    PLUGMC_LIST_DERIVED(parameters, table,
                        "C epsilon, sigma^2, m / 2, (n - m) / 2, cutoff, its square, and what is "
                        "taken off, a pair"),
    PLUGMC_REAL_DERIVED(parameters, range, "the longest cutoff, or infinity"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "mie",
              .summary = "powers of the distance: cut, shifted or force-shifted; mixtures",
              .reference = "Mie, Ann. Phys. 316, 657 (1903)", PLUGMC_KEYS(parameters, table),
              .configure = configure, .potential = &potential,
              PLUGMC_OFFERS({PLUGMC_TAIL, &tails}));
#endif
