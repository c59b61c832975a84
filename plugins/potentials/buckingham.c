/* buckingham: an exponential repulsion and dispersion, for one species or a mixture.
 *
 *     v(r) = a exp(-b r) - c / r^6
 *
 * u(r) is v(r) for r < cutoff and 0 else, less v(r_c) if shifted, less v(r_c) + (r - r_c) v'(r_c) if the force is shifted.
 *
 * As r goes to 0 v goes to minus infinity, behind a maximum. So nobody may be nearer than the distance of the maximum, the
 * guard of a pair of species: there the energy is 1e30. It is the smaller root of a b r^7 exp(-b r) = 6 c, whose left side
 * rises up to r = 7 / b; without a root the energy rises from minus infinity all the way, and such values are refused.
 * `plugmc check` prints the guard as the contact distance. It is no hard core, which movers that follow forces would refuse.
 *
 * Unlike species have one value of a key, one per pair, or mix by a rule. geometric: a and c are geometric means, b is an
 * arithmetic mean. kong: c is a geometric mean, and the repulsion is that of two atoms each of which gives way until both
 * press alike: 1 / b is an arithmetic mean, and (a b)^(2 / b) a product; C. L. Kong, M. R. Chakrabarty, J. Phys. Chem. 77,
 * 2668 (1973). What lies beyond the cutoffs of a homogeneous fluid is the potential tail_correction.
 * R. A. Buckingham, Proc. R. Soc. A 168, 264 (1938).
 */
#include <plugmc/potential.h>
#include <plugmc/functions.h>

/* Columns of `table`. The last four are those of plugmc_ending. */
enum { A, B, C, GUARD, CUTOFF, END, OFFSET, SLOPE, COLUMNS };

typedef struct parameters {
    plugmc_list a, b, c, cutoff, k_ij; /* kT, 1/length, kT length^6, length (0: none), 1 */
    const char *truncation;
    int32_t mixing;
    int64_t kinds; /* number of species */
    plugmc_list
        table; /* [kinds][kinds][COLUMNS]: a, b, c, square of the guard, the cutoff, its square, and what is taken
                          off: OFFSET + SLOPE (r - cutoff) */
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
    real r = plugmc_sqrt(s.r2), over = (real)1 / s.r2;
    real dispersion = row[C] > (real)0 ? row[C] * over * over * over : (real)0;
    real u = row[A] * plugmc_exp_of_negative(row[B] * r) - dispersion - row[OFFSET] -
             row[SLOPE] * (r - row[CUTOFF]);
    u = s.r2 < row[GUARD] ? (real)1e30 : u;
    return s.r2 < row[END] ? u : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    const real least = (real)1e-30; /* two particles on one point have no direction */
    const real *row = row_of(p, a, b);
    real r = plugmc_sqrt(s.r2), over = (real)1 / (s.r2 > least ? s.r2 : least);
    real e = row[A] * row[B] * plugmc_exp_of_negative(row[B] * r);
    real eighth = row[C] > (real)0 ? row[C] * over * over * over * over : (real)0;
    int there = s.r2 < row[END] && s.r2 >= row[GUARD];
    *first = there ? (real)6 * eighth - (e + row[SLOPE]) * r * over : (real)0; /* u' / r */
    *second = there ? row[B] * e - (real)42 * eighth : (real)0;                /* u'' */
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#if PLUGMC_HOST
#define PLUGMC_PAIR_BY_SPECIES
#endif
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>
#include <plugmc/tail.h>

enum { GEOMETRIC, KONG };

/* One pair of species. */
typedef struct law {
    double a, b, c;
} law;

static law law_of(const parameters *p, int32_t i, int32_t j)
{
    const int32_t n = (int32_t)p->kinds;
    const law one = {plugmc_species_value(&p->a, n, i), plugmc_species_value(&p->b, n, i),
                     plugmc_species_value(&p->c, n, i)},
              other = {plugmc_species_value(&p->a, n, j), plugmc_species_value(&p->b, n, j),
                       plugmc_species_value(&p->c, n, j)};
    law l = {sqrt(one.a * other.a), (one.b + other.b) / 2, sqrt(one.c * other.c)};
    if (p->mixing == KONG) {
        l.b = 2 / (1 / one.b + 1 / other.b);
        l.a = pow(one.a * one.b, l.b / (2 * one.b)) * pow(other.a * other.b, l.b / (2 * other.b)) /
              l.b;
    }
    if (i == j) l = one;
    if (!plugmc_is_per_species(&p->a, n)) l.a = plugmc_species_pair_value(&p->a, n, i, j);
    if (!plugmc_is_per_species(&p->b, n)) l.b = plugmc_species_pair_value(&p->b, n, i, j);
    if (!plugmc_is_per_species(&p->c, n)) l.c = plugmc_species_pair_value(&p->c, n, i, j);
    l.c *= 1 - plugmc_k_ij(&p->k_ij, n, i, j);
    return l;
}

static double energy(const law *l, double r) { return l->a * exp(-l->b * r) - l->c / pow(r, 6); }

static double slope(const law *l, double r)
{
    return -l->a * l->b * exp(-l->b * r) + 6 * l->c / pow(r, 7);
}

/* Where the energy has its maximum; 0 without attraction; -1 if it has none, and so no lower bound. */
static double guard(const law *l)
{
    double low = 0, high = 7 / l->b;
    if (l->c == 0) return 0;
    if (slope(l, high) >= 0) return -1;
    for (int k = 0; k < 100; k++) {
        const double middle = (low + high) / 2;
        *(slope(l, middle) >= 0 ? &low : &high) = middle;
    }
    return high;
}

static int check(const parameters *p, const plugmc_host *host)
{
    const int32_t n = host->system->species_count;
    const struct {
        const char *name;
        const plugmc_list *list;
    } lists[] = {{"a", &p->a}, {"b", &p->b}, {"c", &p->c}};
    int code = PLUGMC_OK, mixed = 1;
    for (int k = 0; k < 3 && !code; k++) {
        code = plugmc_check_species_list(host, lists[k].name, lists[k].list,
                                         PLUGMC_PER_PAIR_OR_SPECIES);
        if (k < 2) mixed &= plugmc_is_per_species(lists[k].list, n);
    }
    if (!code && p->mixing == KONG && n > 1 && !mixed)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "mixing = kong needs one a and one b per species");
    if (!code) code = plugmc_check_k_ij(host, &p->k_ij, plugmc_is_per_species(&p->c, n), "c");
    return code ? code : plugmc_check_truncation(host, &p->cutoff, p->truncation);
}

static int put_row(const parameters *p, const plugmc_host *host, int32_t i, int32_t j,
                   real row[COLUMNS])
{
    const law l = law_of(p, i, j);
    const int32_t n = (int32_t)p->kinds;
    const real cutoff = (real)plugmc_species_pair_value(&p->cutoff, n, i, j);
    const plugmc_ending ending =
        plugmc_ending_of(cutoff, plugmc_truncation_of(p->truncation, n, i, j),
                         energy(&l, (double)cutoff), slope(&l, (double)cutoff));
    const double nearest = guard(&l);
    const char *const one = plugmc_species_at(host->system, i)->name,
                      *const other = plugmc_species_at(host->system, j)->name;
    if (nearest < 0)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "the energy of '%s' and '%s' has no lower bound: a exp(-b r) - c / r^6 has "
            "no maximum that would keep them apart",
            one, other);
    if (nearest * nearest >= (double)ending.end)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "cutoff = %g of '%s' and '%s' is below %g, where the energy has its maximum",
            (double)cutoff, one, other, nearest);
    row[A] = (real)l.a;
    row[B] = (real)l.b;
    row[C] = (real)l.c;
    row[GUARD] = (real)(nearest * nearest);
    memcpy(row + CUTOFF, &ending, sizeof ending);
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t n = host->system->species_count;
    int code = check(p, host);
    if (code) return code;
    p->range = plugmc_longest_cutoff(&p->cutoff);
    p->kinds = n;
    real *table = plugmc_species_table(host, &p->table, COLUMNS);
    if (!table) return PLUGMC_ERROR_MEMORY;
    for (int32_t k = 0; k < n * n && !code; k++)
        code = put_row(p, host, k / n, k % n, &table[k * COLUMNS]);
    return code;
}

/* The integrals of r^2 exp(-b r) and r exp(-b r) from r_c, by parts. */
static double tail(const void *instance, int32_t dimension, int32_t i, int32_t j)
{
    const parameters *p = instance;
    const law l = law_of(p, i, j);
    const double rc = plugmc_species_pair_value(&p->cutoff, (int32_t)p->kinds, i, j), x = l.b * rc;
    const double repulsion =
        dimension == 2 ? (x + 1) / pow(l.b, 2) : (x * x + 2 * x + 2) / pow(l.b, 3);
    if (plugmc_truncation_of(p->truncation, (int32_t)p->kinds, i, j) != PLUGMC_CUT) return NAN;
    return plugmc_half_sphere(dimension) *
           (l.a * exp(-x) * repulsion - l.c * pow(rc, dimension - 6) / (6 - dimension));
}

static const plugmc_tail tails = {.size = sizeof tails, .energy = tail};

#define FOR_PAIRS ": one value, one per species, or one per pair of species"
static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, a, 0, NULL, 0, 1e15, "kT", "repulsion at r = 0" FOR_PAIRS),
    PLUGMC_LIST_KEY(parameters, b, 0, NULL, 1e-6, 1e6, "1/length",
                    "steepness of the repulsion" FOR_PAIRS),
    PLUGMC_LIST_KEY(parameters, c, 0, NULL, 0, 1e15, "kT length^6", "dispersion" FOR_PAIRS),
    PLUGMC_TRUNCATION_KEYS(parameters),
    PLUGMC_CHOICE_KEY(
        parameters, mixing, "geometric", "geometric|kong",
        "mixing rule for values per species. geometric: geometric means of a and c, "
        "arithmetic mean of b; kong: geometric mean of c, arithmetic mean of 1/b, and "
        "(a b)^(2/b) is the product of (a b)^(1/b) of the two species"),
    PLUGMC_K_IJ_KEY(parameters, "c"),
    PLUGMC_INTEGER_DERIVED(parameters, kinds, "number of species"),
    PLUGMC_LIST_DERIVED(
        parameters, table,
        "a, b, c, square of the guard, cutoff, its square, and what is taken off, a "
        "pair"),
    PLUGMC_REAL_DERIVED(parameters, range, "the longest cutoff, or infinity"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "buckingham",
              .summary = "exponential repulsion and dispersion (exp-6): cut, shifted or "
                         "force-shifted; mixtures",
              .reference = "Buckingham, Proc. R. Soc. A 168, 264 (1938)",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential,
              PLUGMC_OFFERS({PLUGMC_TAIL, &tails}));
#endif
