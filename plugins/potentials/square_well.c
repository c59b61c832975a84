/* square_well: a hard core in a well of constant depth, for one species or a mixture.
 *
 *     u(r) = infinity for r < sigma,    -epsilon for sigma <= r < lambda sigma,    0 else
 *
 * The simplest fluid with a gas and a liquid: R. W. Zwanzig, J. Chem. Phys. 22, 1420 (1954). A negative epsilon makes a
 * shoulder of the well. Without `sigma` cores have the diameters of the species. The pressure is measured by the
 * observable `pressure`: the cores push where they touch, the wells pull where they end.
 */
#include <plugmc/potential.h>

/* Columns of `table`. */
enum { CORE, END, DEPTH, COLUMNS };

typedef struct parameters {
    plugmc_list epsilon, sigma, lambda; /* kT, length (0: from the diameters), 1 */
    int64_t kinds;                      /* number of species */
    plugmc_list table; /* [kinds][kinds][COLUMNS]: sigma, (lambda sigma)^2, epsilon */
    real range;        /* length: the largest lambda sigma */
} parameters;

PLUGMC_FN const real *row_of(const parameters *p, plugmc_site a, plugmc_site b)
{
    return p->table.values + (a.species * (int32_t)p->kinds + b.species) * (int32_t)COLUMNS;
}

PLUGMC_FN real pair_range(const parameters *p) { return p->range; }

PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
    return row_of(p, a, b)[CORE];
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    const real *row = row_of(p, a, b);
    return s.r2 < row[END] ? -row[DEPTH] : (real)0;
}

/* Away from the steps. */
PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)p, (void)s, (void)a, (void)b;
    *first = *second = 0;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_CONTACT | PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#if PLUGMC_HOST
#define PLUGMC_PAIR_BY_SPECIES
#endif
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>

/* The hard core of species a and b: additive, unless there is one sigma per pair. */
static double core_of(const parameters *p, const plugmc_system *system, int32_t a, int32_t b)
{
    const int32_t n = system->species_count;
    if (plugmc_is_per_species(&p->sigma, n))
        return (double)(p->sigma.values[a] + p->sigma.values[b]) / 2;
    const double sigma = plugmc_species_pair_value(&p->sigma, n, a, b);
    return sigma > 0
               ? sigma
               : (plugmc_species_at(system, a)->diameter + plugmc_species_at(system, b)->diameter) /
                     2;
}

static int check(const parameters *p, const plugmc_host *host)
{
    int code = plugmc_check_species_list(host, "epsilon", &p->epsilon, PLUGMC_PER_PAIR);
    if (!code)
        code = plugmc_check_species_list(host, "sigma", &p->sigma, PLUGMC_PER_PAIR_OR_SPECIES);
    return code ? code : plugmc_check_species_list(host, "lambda", &p->lambda, PLUGMC_PER_PAIR);
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t n = host->system->species_count;
    int code = check(p, host);
    if (code) return code;
    p->kinds = n;
    real *table = plugmc_species_table(host, &p->table, COLUMNS);
    if (!table) return PLUGMC_ERROR_MEMORY;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            real *row = &table[(a * n + b) * COLUMNS];
            const double core = core_of(p, host->system, a, b);
            const real end = (real)(plugmc_species_pair_value(&p->lambda, n, a, b) * core);
            row[CORE] = (real)core;
            row[END] = end * end;
            row[DEPTH] = (real)plugmc_species_pair_value(&p->epsilon, n, a, b);
            p->range = end > p->range ? end : p->range;
        }
    const double half = plugmc_half_box(&host->system->box);
    if ((double)p->range <= half * (1 + 1e-12)) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "lambda sigma = %g exceeds half the box, %g: pairs would be missed",
                      (double)p->range, half);
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, epsilon, 0, NULL, -1e9, 1e9, "kT",
                    "depth of the well over kT: one value, or one per pair of species"),
    PLUGMC_LIST_KEY(parameters, sigma, 0, "0", 0, 1e9, "length",
                    "diameter of the hard core: one value, one per species (unlike ones have the "
                    "mean), or one per pair of species; 0: from the diameters of the species"),
    PLUGMC_LIST_KEY(parameters, lambda, 0, "1.5", 1, 1e6, "sigma",
                    "where the well ends: one value, or one per pair of species"),
    PLUGMC_INTEGER_DERIVED(parameters, kinds, "number of species"),
    PLUGMC_LIST_DERIVED(parameters, table, "sigma, (lambda sigma)^2 and epsilon, a pair"),
    PLUGMC_REAL_DERIVED(parameters, range, "the largest lambda sigma"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "square_well",
              .summary = "hard core in a square well, or with a square shoulder; mixtures",
              .reference = "Zwanzig, J. Chem. Phys. 22, 1420 (1954)",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
