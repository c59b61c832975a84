/* wca: the repulsive part of the 12-6 potential, for one species or a mixture.
 *
 *     u(r) = 4 epsilon ((sigma / r)^12 - (sigma / r)^6) + epsilon    for r < 2^(1/6) sigma
 *     u(r) = 0                                                       else
 *
 * The 12-6 potential up to its minimum, raised by its depth, so that energy and force are continuous. Unlike species mix
 * by a rule, `mixing`, unless a value is given for every pair.
 * J. D. Weeks, D. Chandler, H. C. Andersen, J. Chem. Phys. 54, 5237 (1971).
 */
#include <plugmc/potential.h>

/* Columns of `table`. */
enum { STRENGTH, SQUARE, DEPTH, END, COLUMNS };

typedef struct parameters {
    plugmc_list epsilon, sigma, k_ij; /* kT, length, 1 */
    int32_t mixing;
    int64_t kinds; /* number of species */
    plugmc_list
        table; /* [kinds][kinds][COLUMNS]: 4 epsilon, sigma^2, epsilon, square of the distance of the minimum */
    real range; /* length: the largest distance of a minimum */
} parameters;

PLUGMC_FN const real *row_of(const parameters *p, plugmc_site a, plugmc_site b)
{
    return p->table.values + (a.species * (int32_t)p->kinds + b.species) * (int32_t)COLUMNS;
}

PLUGMC_FN real pair_range(const parameters *p) { return p->range; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    const real *row = row_of(p, a, b);
    real ratio = row[SQUARE] / s.r2, sixth = ratio * ratio * ratio;
    real u = row[STRENGTH] * (sixth * (sixth - (real)1)) + row[DEPTH];
    return s.r2 < row[END] ? u : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    const real *row = row_of(p, a, b);
    real over = (real)1 / s.r2, ratio = row[SQUARE] * over, sixth = ratio * ratio * ratio;
    real scale = s.r2 < row[END] ? row[STRENGTH] * sixth * over : (real)0;
    *first = scale * ((real)6 - (real)12 * sixth);    /* u' / r */
    *second = scale * ((real)156 * sixth - (real)42); /* u'' */
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#if PLUGMC_HOST
#define PLUGMC_PAIR_BY_SPECIES
#endif
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t n = host->system->species_count;
    const plugmc_wells wells = {&p->epsilon, &p->sigma, &p->k_ij, p->mixing, 12};
    int code = plugmc_check_wells(host, &wells);
    if (code) return code;
    p->kinds = n;
    real *table = plugmc_species_table(host, &p->table, COLUMNS);
    if (!table) return PLUGMC_ERROR_MEMORY;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            real *row = &table[(a * n + b) * COLUMNS];
            double epsilon, sigma;
            plugmc_well_of(&wells, n, a, b, &epsilon, &sigma);
            const real minimum = (real)(pow(2, 1.0 / 6) * sigma);
            row[STRENGTH] = (real)(4 * epsilon);
            row[SQUARE] = (real)(sigma * sigma);
            row[DEPTH] = (real)epsilon;
            row[END] = minimum * minimum;
            p->range = minimum > p->range ? minimum : p->range;
        }
    const double half = plugmc_half_box(&host->system->box);
    if ((double)p->range <= half * (1 + 1e-12)) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "2^(1/6) sigma = %g exceeds half the box, %g: pairs would be missed",
                      (double)p->range, half);
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, epsilon, 0, NULL, 0, 1e9, "kT",
                    "energy at r = sigma over kT: one value, one per species, or one per pair of "
                    "species"),
    PLUGMC_LIST_KEY(
        parameters, sigma, 0, "1", 1e-9, 1e9, "length",
        "diameter; the energy is 0 from 2^(1/6) sigma on: one value, one per species, or "
        "one per pair of species; required with [units]"),
    PLUGMC_MIXING_KEY(parameters),
    PLUGMC_K_IJ_KEY(parameters, "epsilon"),
    PLUGMC_INTEGER_DERIVED(parameters, kinds, "number of species"),
    PLUGMC_LIST_DERIVED(
        parameters, table,
        "4 epsilon, sigma^2, epsilon, square of the distance of the minimum, a pair"),
    PLUGMC_REAL_DERIVED(parameters, range, "the largest distance of a minimum"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "wca",
              .summary = "the repulsion of Weeks, Chandler and Andersen; mixtures",
              .reference = "Weeks, Chandler, Andersen, J. Chem. Phys. 54, 5237 (1971)",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
