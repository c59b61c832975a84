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
 * is given for every pair; cutoff and truncation may differ between pairs. What lies beyond the
 * cutoffs of a homogeneous fluid is the potential tail_correction.
 * J. E. Jones, Proc. R. Soc. A 106, 463 (1924).
 */
#include <plugmc/potential.h>

/* Columns of `table`. The last four are those of plugmc_ending. */
enum { STRENGTH, SQUARE, CUTOFF, END, OFFSET, SLOPE, COLUMNS };

typedef struct parameters {
    plugmc_list epsilon, sigma, cutoff, k_ij; /* kT, length, length (0: none), 1 */
    const char *truncation;
    int32_t mixing;
    int64_t kinds, sloped; /* number of species; whether a force is shifted */
    plugmc_list table;     /* [kinds][kinds][COLUMNS]: 4 epsilon, sigma^2, the cutoff, its square,
                              and what is taken off: OFFSET + SLOPE (r - cutoff) */
    real range;            /* length: the longest cutoff, or infinity */
} parameters;

PLUGMC_FN const real *row_of(const parameters *p, plugmc_site a, plugmc_site b)
{
    return p->table.values + (a.species * (int32_t)p->kinds + b.species) * (int32_t)COLUMNS;
}

PLUGMC_FN real pair_range(const parameters *p) { return p->range; }

/* What is taken off in proportion to r costs a root. In a kernel it is known whether there is a slope; on
 * a CPU the root is cheaper than a branch, and the slope is 0 where there is none. */
PLUGMC_FN int has_slope(const parameters *p) { return PLUGMC_HOST || p->sloped; }

/* a / b. On a GPU in float this is what a division does, rounding included, but for the look at exponents that would need more: b is
 * a square of a distance, and below 2^-100 energies are infinite in any case. */
PLUGMC_FN real quotient(real a, real b)
{
#ifdef __CUDACC_RTC__
    if (sizeof(real) == 4) {
        const float over = fmaxf((float)b, 0x1p-100f);
        float y;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(over));
        y = fmaf(fmaf(-over, y, 1.0f), y, y);
        if ((float)a == 1.0f) return (real)y;
        float q = (float)a * y;
        q = fmaf(fmaf(-over, q, (float)a), y, q);
        return (real)fmaf(fmaf(-over, q, (float)a), y, q);
    }
#endif
    return a / b;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    const real *row = row_of(p, a, b);
    real ratio = quotient(row[SQUARE], s.r2);
    real sixth = ratio * ratio * ratio;
    real u = row[STRENGTH] * (sixth * (sixth - (real)1)) - row[OFFSET];
    if (has_slope(p)) u -= row[SLOPE] * (plugmc_sqrt(s.r2) - row[CUTOFF]);
    return s.r2 < row[END] ? u : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    const real *row = row_of(p, a, b);
    real near = s.r2 < row[END] ? (real)1 : (real)0;
    real over = (real)1 / s.r2, ratio = row[SQUARE] * over;
    real sixth = ratio * ratio * ratio, scale = near * row[STRENGTH] * sixth * over;
    *first = scale * ((real)6 - (real)12 * sixth);    /* u' / r */
    *second = scale * ((real)156 * sixth - (real)42); /* u'' */
    if (has_slope(p)) *first -= near * row[SLOPE] * plugmc_sqrt(over);
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#if PLUGMC_HOST
#define PLUGMC_PAIR_BY_SPECIES
/* Sites without a well, epsilon = 0 with all others. */
static int has_no_well(const parameters *p, plugmc_site a)
{
    int well = 0;
    for (int32_t b = 0; b < (int32_t)p->kinds; b++)
        well |= row_of(p, a, (plugmc_site){0, 0, b})[STRENGTH] != 0;
    return !well;
}
#define PLUGMC_PAIR_SILENT has_no_well
#endif
#include <plugmc/pair.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>
#include <plugmc/tail.h>

static plugmc_wells wells_of(const parameters *p)
{
    return (plugmc_wells){&p->epsilon, &p->sigma, &p->k_ij, p->mixing, 12};
}

/* A row of the table. Rounded to single precision once, at the end. */
static void put_row(double epsilon, double sigma, real cutoff, int truncation, real row[COLUMNS])
{
    const double rc = (double)cutoff, sixth = pow(sigma / rc, 6);
    const plugmc_ending ending =
        plugmc_ending_of(cutoff, truncation, 4 * epsilon * sixth * (sixth - 1),
                         4 * epsilon * sixth * (6 - 12 * sixth) / rc);
    row[STRENGTH] = (real)(4 * epsilon);
    row[SQUARE] = (real)(sigma * sigma);
    memcpy(row + CUTOFF, &ending, sizeof ending);
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const plugmc_wells wells = wells_of(p);
    int code = plugmc_check_wells(host, &wells);
    if (!code) code = plugmc_check_truncation(host, &p->cutoff, p->truncation);
    if (code) return code;
    const int32_t n = host->system->species_count;
    p->range = plugmc_longest_cutoff(&p->cutoff);
    p->sloped = plugmc_shifts_a_force(p->truncation, n);
    p->kinds = n;
    real *table = plugmc_species_table(host, &p->table, COLUMNS);
    if (!table) return PLUGMC_ERROR_MEMORY;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            double epsilon, sigma;
            plugmc_well_of(&wells, n, a, b, &epsilon, &sigma);
            put_row(epsilon, sigma, (real)plugmc_species_pair_value(&p->cutoff, n, a, b),
                    plugmc_truncation_of(p->truncation, n, a, b), &table[(a * n + b) * COLUMNS]);
        }
    return PLUGMC_OK;
}

/* With v = 4 epsilon (sigma^12 / r^12 - sigma^6 / r^6), the integral of r^(D-1) v from r_c is
 * 4 epsilon (high - low). */
static double tail(const void *instance, int32_t dimension, int32_t a, int32_t b)
{
    const parameters *p = instance;
    const int32_t n = (int32_t)p->kinds;
    const double rc = plugmc_species_pair_value(&p->cutoff, n, a, b);
    const plugmc_wells wells = wells_of(p);
    double epsilon, sigma;
    if (plugmc_truncation_of(p->truncation, n, a, b) != PLUGMC_CUT) return NAN;
    plugmc_well_of(&wells, n, a, b, &epsilon, &sigma);
    const double sixth = pow(sigma / rc, 6), volume = pow(rc, dimension);
    const double high = sixth * sixth * volume / (12 - dimension);
    const double low = sixth * volume / (6 - dimension);
    return plugmc_half_sphere(dimension) * 4 * epsilon * (high - low);
}

static const plugmc_tail tails = {.size = sizeof tails, .energy = tail};

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, epsilon, 0, NULL, 0, 1e9, "kT",
                    "depth of the well over kT: one value, one per species, or one per pair "
                    "of species"),
    PLUGMC_LIST_KEY(
        parameters, sigma, 0, "1", 1e-9, 1e9, "length",
        "distance at which the energy is 0: one value, one per species, or one per pair of "
        "species; required with [units]"),
    PLUGMC_TRUNCATION_KEYS(parameters),
    PLUGMC_MIXING_KEY(parameters),
    PLUGMC_K_IJ_KEY(parameters, "epsilon"),
    PLUGMC_INTEGER_DERIVED(parameters, kinds, "number of species"),
    PLUGMC_INTEGER_DERIVED(parameters, sloped, "whether the force of a pair is shifted"),
    PLUGMC_LIST_DERIVED(parameters, table,
                        "4 epsilon, sigma^2, cutoff, its square, and what is taken off, a pair"),
    PLUGMC_REAL_DERIVED(parameters, range, "the longest cutoff, or infinity"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "lennard_jones",
              .summary = "the 12-6 potential: cut, shifted or force-shifted; mixtures",
              .reference = "Jones, Proc. R. Soc. A 106, 463 (1924)", PLUGMC_KEYS(parameters, table),
              .configure = configure, .potential = &potential,
              PLUGMC_OFFERS({PLUGMC_TAIL, &tails}));
#endif
