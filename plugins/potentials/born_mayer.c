/* born_mayer: repulsion and dispersion of ions, without their charges.
 *
 *     v(r) = A exp(B (sigma - r)) - C / r^6 - D / r^8,
 *
 * after M. Born, J. E. Mayer, Z. Phys. 75, 1 (1932), in the form of F. G. Fumi, M. P. Tosi,
 * J. Phys. Chem. Solids 25, 31 (1964), and M. P. Tosi, F. G. Fumi, ibid. 25, 45 (1964). The charges
 * are a potential of their own. u(r) is v(r) for r < cutoff and 0 else, less v(r_c) if shifted,
 * less v(r_c) + (r - r_c) v'(r_c) if the force is shifted.
 *
 * As r goes to 0 the formula goes to minus infinity, behind a barrier of some hundred kT that
 * nobody means to cross. Inside of the top of the barrier, at r_top, the energy is
 * v(r_top) (r_top / r)^2.
 *
 * Every number belongs to a pair of species: one for all, or one a pair, 1-1, 1-2, ... 2-2, ... For
 * NaCl, with Na+ the first species and Cl- the second, the papers give in kJ/mol and Angstrom
 *
 *                A        B = 1/0.317   sigma    C          D
 *     Na+ Na+    25.4435  3.1546        2.340    101.1719   48.1771
 *     Na+ Cl-    20.3548  3.1546        2.755    674.4793   837.0770
 *     Cl- Cl-    15.2661  3.1546        3.170    6985.6786  14031.5785
 *
 * (A is 1.25, 1 and 0.75 times 0.338e-19 J; C is 1.68, 11.2 and 116 e-79 J m^6; D is 0.8, 13.9 and
 * 233 e-99 J m^8.) An INI file has A, C and D over kT, which is 9.14591 kJ/mol at 1100 K:
 *
 *     [potential born_mayer]
 *     a = 2.78195 2.22556 1.66917
 *     b = 3.1546
 *     sigma = 2.340 2.755 3.170
 *     c = 11.0620 73.7465 763.803
 *     d = 5.26761 91.5247 1534.19
 *     cutoff = 10
 */
#include <plugmc/potential.h>

enum { CUT, SHIFT, FORCE_SHIFT };
/* Columns of `table`; TOP_SQUARE is r_top^2, TOP_ENERGY v(r_top) r_top^2. */
enum { A, B, SIGMA, C, D, TOP_SQUARE, TOP_ENERGY, OFFSET, SLOPE, COLUMNS };

typedef struct parameters {
    plugmc_list a, b, sigma, c, d; /* kT, 1/length, length, kT length^6, kT length^8 */
    real cutoff;                   /* length; 0: none */
    int32_t truncation;
    int64_t kinds;      /* number of species */
    plugmc_list table;  /* [kinds][kinds][COLUMNS] */
    real range, square; /* length, length^2: cutoff or infinity, and its square */
} parameters;

PLUGMC_FN real exponential(real x)
{
    return sizeof(real) == 4 ? (real)plugmc_exp((float)x) : (real)exp((double)x);
}

PLUGMC_FN const real *row_of(const parameters *p, plugmc_site a, plugmc_site b)
{
    return p->table.values + (a.species * (int32_t)p->kinds + b.species) * (int32_t)COLUMNS;
}

PLUGMC_FN real pair_range(const parameters *p) { return p->range; }

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    const real *row = row_of(p, a, b);
    real r = plugmc_sqrt(s.r2), over = (real)1 / s.r2, sixth = over * over * over;
    real outside =
        row[A] * exponential(row[B] * (row[SIGMA] - r)) - sixth * (row[C] + row[D] * over);
    real inside = row[TOP_ENERGY] * over;
    real u =
        (s.r2 >= row[TOP_SQUARE] ? outside : inside) - row[OFFSET] - row[SLOPE] * (r - p->cutoff);
    return s.r2 < p->square ? u : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    const real *row = row_of(p, a, b);
    real r = plugmc_sqrt(s.r2), over = (real)1 / s.r2, eighth = over * over * over * over;
    real e = row[A] * row[B] * exponential(row[B] * (row[SIGMA] - r));
    int outside = s.r2 >= row[TOP_SQUARE], near = s.r2 < p->square;
    real top = row[TOP_ENERGY] * over * over;
    real u1 =
        outside ? eighth * ((real)6 * row[C] + (real)8 * row[D] * over) - e / r : (real)-2 * top;
    real u2 = outside ? row[B] * e - eighth * ((real)42 * row[C] + (real)72 * row[D] * over)
                      : (real)6 * top;
    *first = near ? u1 - row[SLOPE] / r : (real)0; /* u' / r */
    *second = near ? u2 : (real)0;                 /* u'' */
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#if PLUGMC_HOST
#define PLUGMC_PAIR_BY_SPECIES
#endif
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include "ends_of_energies.h"

typedef struct ions {
    double a, b, sigma, c, d;
} ions;

static double energy(const ions *k, double r)
{
    return k->a * exp(k->b * (k->sigma - r)) - k->c / pow(r, 6) - k->d / pow(r, 8);
}

static double slope(const ions *k, double r)
{
    return -k->a * k->b * exp(k->b * (k->sigma - r)) + 6 * k->c / pow(r, 7) + 8 * k->d / pow(r, 9);
}

/* r_top: from 0 outwards, the first place where the energy stops rising; close to 0 where nothing
 * makes it fall there, and -1 if there is no repulsion that would stop it. */
static double top(const ions *k)
{
    double inner = 1e-3 / k->b, outer = inner;
    if (k->c == 0 && k->d == 0) return inner;
    while (outer * k->b < 1e4 && slope(k, outer) >= 0) {
        inner = outer;
        outer *= 1.01;
    }
    if (slope(k, outer) >= 0) return -1;
    for (int i = 0; i < 60; i++) {
        double middle = (inner + outer) / 2;
        *(slope(k, middle) >= 0 ? &inner : &outer) = middle;
    }
    return outer;
}

static void put_row(const parameters *p, const ions *k, real row[COLUMNS])
{
    const double rt = top(k), rc = (double)p->cutoff;
    const double v1 = p->truncation == FORCE_SHIFT ? slope(k, rc) : 0;
    row[A] = (real)k->a;
    row[B] = (real)k->b;
    row[SIGMA] = (real)k->sigma;
    row[C] = (real)k->c;
    row[D] = (real)k->d;
    row[TOP_SQUARE] = (real)(rt * rt);
    row[TOP_ENERGY] = (real)(energy(k, rt) * rt * rt);
    row[OFFSET] = p->truncation == CUT ? 0 : (real)energy(k, rc);
    row[SLOPE] = (real)v1;
}

/* The numbers of one pair of species. */
static ions ions_of(const parameters *p, int32_t n, int32_t a, int32_t b)
{
    return (ions){
        plugmc_species_pair_value(&p->a, n, a, b), plugmc_species_pair_value(&p->b, n, a, b),
        plugmc_species_pair_value(&p->sigma, n, a, b), plugmc_species_pair_value(&p->c, n, a, b),
        plugmc_species_pair_value(&p->d, n, a, b)};
}

/* A barrier keeps every pair apart, and lies within the cutoff. */
static int check_cores(const parameters *p, const plugmc_host *host)
{
    const int32_t n = host->system->species_count;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = a; b < n; b++) {
            const ions k = ions_of(p, n, a, b);
            const double rt = top(&k);
            if (rt > 0 && energy(&k, rt) >= 0 && rt < (double)p->range) continue;
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "species '%s' and '%s' would collapse: a exp(b (sigma - r)) - "
                              "c/r^6 - d/r^8 has no barrier within the cutoff",
                              plugmc_species_at(host->system, a)->name,
                              plugmc_species_at(host->system, b)->name);
        }
    return PLUGMC_OK;
}

static int check(const parameters *p, const plugmc_host *host)
{
    const struct {
        const char *name;
        const plugmc_list *list;
    } lists[] = {{"a", &p->a}, {"b", &p->b}, {"sigma", &p->sigma}, {"c", &p->c}, {"d", &p->d}};
    for (int i = 0; i < PLUGMC_COUNT(lists); i++) {
        int code = plugmc_check_species_list(host, lists[i].name, lists[i].list, PLUGMC_PER_PAIR);
        if (code) return code;
    }
    return truncation_check(host, (double)p->cutoff, p->truncation == CUT);
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t n = host->system->species_count;
    int code = check(p, host);
    if (code) return code;
    p->range = p->cutoff > 0 ? p->cutoff : PLUGMC_NO_RANGE;
    p->square = p->range * p->range;
    if ((code = check_cores(p, host))) return code;
    p->kinds = n;
    real *table = plugmc_species_table(host, &p->table, COLUMNS);
    if (!table) return PLUGMC_ERROR_MEMORY;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            const ions k = ions_of(p, n, a, b);
            put_row(p, &k, &table[(a * n + b) * COLUMNS]);
        }
    return PLUGMC_OK;
}

#define FOR_PAIRS ": one value, or one per pair of species"
static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, a, 0, NULL, 0, 1e12, "kT", "repulsion at r = sigma" FOR_PAIRS),
    PLUGMC_LIST_KEY(parameters, b, 0, NULL, 1e-6, 1e6, "1/length",
                    "steepness of the repulsion" FOR_PAIRS),
    PLUGMC_LIST_KEY(parameters, sigma, 0, NULL, 0, 1e6, "length",
                    "sum of the ionic radii" FOR_PAIRS),
    PLUGMC_LIST_KEY(parameters, c, 0, "0", 0, 1e12, "kT length^6",
                    "dipole-dipole dispersion" FOR_PAIRS),
    PLUGMC_LIST_KEY(parameters, d, 0, "0", 0, 1e12, "kT length^8",
                    "dipole-quadrupole dispersion" FOR_PAIRS),
    PLUGMC_REAL_KEY(parameters, cutoff, NULL, 0, 1e9, "length",
                    "distance from which the energy is 0; 0: none"),
    PLUGMC_CHOICE_KEY(parameters, truncation, "cut", "cut|shift|force_shift",
                      "cut: plain truncation; shift: the energy is continuous at the cutoff; "
                      "force_shift: the force too"),
    PLUGMC_INTEGER_DERIVED(parameters, kinds, "number of species"),
    PLUGMC_LIST_DERIVED(parameters, table, "numbers of a pair of species, as in the source"),
    PLUGMC_REAL_DERIVED(parameters, range, "cutoff, or infinity"),
    PLUGMC_REAL_DERIVED(parameters, square, "its square"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "born_mayer",
              .summary = "repulsion and dispersion of ions (Born-Mayer-Huggins, Tosi-Fumi)",
              .reference = "Tosi, Fumi, J. Phys. Chem. Solids 25, 45 (1964)",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
