/* wrong_pair: a soft pair u(r) = height (1 - r^2/cutoff^2)^3 with one of many faults that authors make. `fault = none`
 * has none. tests/validate/faults.txt says what plugmc validate has to say about each. */
#include <plugmc/potential.h>

enum {
    NONE,
    RANGE_TOO_SHORT,
    NAN_INSIDE,
    ORDER_OF_SPECIES,
    OTHER_FLOAT,
    WRONG_CHANGE,
    WRONG_FIRST,
    WRONG_SECOND,
    ONE_SIDED_FACTOR,
    DIRECTION,
    ONE_SIDED_CONTACT,
    CALLS_BEFORE,
    UNDECLARED,
    SHORT_LIST,
    NULL_POINTER,
    ENDLESS,
    ABORTS,
    BEHIND_STRUCT,
    BEFORE_STRUCT,
    SLOPE_BEYOND,
    EXITS,
    FAILS_SILENTLY,
    ROOT_OF_RANGE,
    LARGE_FLOAT,
    WRONG_CHANGES,
    FINITE_CHANGES,
    WRONG_SLOPES,
    WRONG_SLOPE_ENERGY,
    FINITE_SLOPE_ENERGY,
    WRONG_LANES,
    CONFIGURED_TEMPERATURE,
    OTHER_ROW,
    SUM_OF_SPECIES,
    NAN_SLOPE,
    NAN_BEYOND
};

typedef struct parameters {
    real height, cutoff, diameter;
    int32_t fault;
    plugmc_list heights, depths;
    int64_t kinds;
    real hidden; /* in no table */
} parameters;

PLUGMC_FN int is(const parameters *p, int fault) { return p->fault == fault; }

/* Of the pairs 1-1, 1-2, ... 2-2, ... : a row too early from the second one on. */
PLUGMC_FN int32_t row_of(const parameters *p, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    if (p->depths.count == 1) return 0;
    if (is(p, SUM_OF_SPECIES)) return a + b; /* right for two species */
    return low * (int32_t)p->kinds - low * (low + 1) / 2 + high - low;
}

PLUGMC_FN real pair_range(const parameters *p)
{
    return is(p, RANGE_TOO_SHORT) ? (real)0.8 * p->cutoff : p->cutoff;
}

PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
    return is(p, ONE_SIDED_CONTACT) && a.species < b.species ? (real)0.5 : p->diameter;
}

#if PLUGMC_HOST
#include <stdlib.h>
/* What must not be done, and can be done on the CPU alone. */
static real misdeed(const parameters *p, plugmc_separation s)
{
    static int calls;
    if (is(p, CALLS_BEFORE)) return (real)1e-3 * (real)(calls++ % 7);
    if (is(p, NULL_POINTER) && s.r2 < (real)1)
        return *(volatile real *)(p->cutoff > 0 ? (size_t)16 : (size_t)p);
    if (is(p, ENDLESS))
        for (volatile int k = 1; k; k = 2) {}
    if (is(p, ABORTS)) abort();
    if (is(p, EXITS)) _Exit(0);
    return 0;
}
#else
PLUGMC_FN real misdeed(const parameters *p, plugmc_separation s)
{
    (void)p, (void)s;
    return 0;
}
#endif

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    const real w = (real)1 - s.r2 / (p->cutoff * p->cutoff);
    real height = p->height;
    if (is(p, ROOT_OF_RANGE) && s.r2 >= p->cutoff) return 0;
    if (s.r2 >= p->cutoff * p->cutoff) return 0;
    if (is(p, NAN_INSIDE) && s.r2 < (real)0.5) return plugmc_sqrt(s.r2 - (real)1);
    if (is(p, ORDER_OF_SPECIES) && a.species < b.species) height *= (real)1.01;
    if (is(p, OTHER_FLOAT) && sizeof(real) == 4) height *= (real)1.01;
    if (is(p, DIRECTION)) height *= (real)1 + (real)0.2 * s.x * s.x / (s.r2 + (real)1e-6);
    if (is(p, UNDECLARED)) height *= p->hidden;
    if (is(p, OTHER_ROW) || is(p, SUM_OF_SPECIES))
        height *= p->depths.values[row_of(p, a.species, b.species)];
    if (is(p, SHORT_LIST)) height *= p->heights.values[a.species + b.species];
    if (is(p, LARGE_FLOAT)) return (real)((float)((real)1e5 + height * w * w * w) - (float)1e5);
    return height * w * w * w + misdeed(p, s);
}

PLUGMC_FN real pair_change(const parameters *p, plugmc_separation from, plugmc_separation to,
                           plugmc_site a, plugmc_site b)
{
    const real change = pair_energy(p, to, a, b) - pair_energy(p, from, a, b);
    return is(p, WRONG_CHANGE) ? (real)0.98 * change : change;
}

PLUGMC_FN real pair_factor(const parameters *p, plugmc_site a)
{
    return is(p, ONE_SIDED_FACTOR) ? (real)1 + (real)0.1 * (real)a.species : (real)1;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    const real c2 = p->cutoff * p->cutoff, w = (real)1 - s.r2 / c2;
    const int near = s.r2 < c2 || is(p, SLOPE_BEYOND);
    real height = near ? p->height : (real)0;
    if (is(p, ORDER_OF_SPECIES) && a.species < b.species) height *= (real)1.01;
    *first = height * (real)-6 * w * w / c2;
    *second = height * ((real)-6 * w * w / c2 + (real)24 * w * s.r2 / (c2 * c2));
    if (is(p, WRONG_FIRST)) *first *= (real)1.05;
    if (is(p, NAN_SLOPE) && s.r2 > (real)1) *first *= plugmc_sqrt((real)1 - s.r2);
    if (is(p, NAN_BEYOND)) *first *= w / plugmc_sqrt(w * w + (s.r2 < c2 ? (real)1 : -w * w));
    if (is(p, WRONG_SECOND)) *second = height * (real)-6 * w * w / c2;
}

#define PLUGMC_PAIR                                                                                \
    (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_CONTACT | PLUGMC_PAIR_CHANGE | PLUGMC_PAIR_FACTOR |          \
     PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#if PLUGMC_HOST
/* A facet written by hand. */
static void changes_by_hand(const void *instance, const plugmc_box *box, int periodic,
                            const plugmc_particle *probe, const double moved[3],
                            const plugmc_particles *others, void *out)
{
    const parameters *p = instance;
    real *change = out;
    plugmc_pair_changes(instance, box, periodic, probe, moved, others, out);
    for (int64_t k = 0; k < others->n; k++) {
        if (is(p, WRONG_CHANGES)) change[k] *= (real)0.98;
        if (is(p, FINITE_CHANGES) && isinf(change[k])) change[k] = (real)1e6;
    }
}

static void slopes_by_hand(const void *instance, const plugmc_particle *a, const plugmc_particle *b,
                           int64_t n, const void *x, const void *y, const void *z, void *first,
                           void *energy)
{
    const parameters *p = instance;
    real *slope = first, *u = energy;
    plugmc_pairs_slopes(instance, a, b, n, x, y, z, first, energy);
    for (int64_t k = 0; k < n; k++) {
        if (is(p, WRONG_SLOPES)) slope[k] *= (real)1.02;
        if (u && is(p, WRONG_SLOPE_ENERGY)) u[k] *= (real)2;
        if (u && is(p, FINITE_SLOPE_ENERGY) && isinf(u[k])) u[k] = (real)1e6;
    }
}

#ifdef PLUGMC_FLOAT_UNIT
static void lanes_by_hand(const void *instance, const plugmc_lanes *b)
{
    plugmc_pair_lanes(instance, b);
    for (int32_t l = 0; l < b->lanes && is(instance, WRONG_LANES); l++) b->change[l] *= 1.02f;
}
#define LANES lanes_by_hand
#else
#define LANES NULL
#endif

static const plugmc_pair by_hand = {.size = sizeof plugmc_pair_facet,
                                    .functions = PLUGMC_PAIR,
                                    .range = plugmc_pair_range,
                                    .contact = plugmc_pair_contact,
                                    .energy = plugmc_pair_energy,
                                    .change = plugmc_pair_change,
                                    .lanes = LANES,
                                    .changes = changes_by_hand,
                                    .derivatives = PLUGMC_PAIR_DERIVATIVES,
                                    .slopes = slopes_by_hand};

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t n = host->system->species_count;
    p->kinds = n;
    if ((is(p, OTHER_ROW) || is(p, SUM_OF_SPECIES)) && p->depths.count != 1 &&
        p->depths.count != n * (n + 1) / 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "depths: one for each pair of species");
    if (is(p, CONFIGURED_TEMPERATURE)) p->height /= (real)host->system->temperature;
    if (is(p, FAILS_SILENTLY)) return PLUGMC_ERROR_STATE;
    if (is(p, UNDECLARED)) p->hidden = (real)2;
    if (is(p, BEHIND_STRUCT)) ((volatile unsigned char *)instance)[sizeof *p] = 1;
    if (is(p, BEFORE_STRUCT)) ((volatile unsigned char *)instance)[-8] = 1;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, height, "2", -1e6, 1e6, "kT", "energy at r = 0"),
    PLUGMC_REAL_KEY(parameters, cutoff, "1.9", 1e-6, 1e6, "length", "energy is 0 from there on"),
    PLUGMC_REAL_KEY(parameters, diameter, "0.4", 0, 1e6, "length", "of a hard core"),
    PLUGMC_CHOICE_KEY(
        parameters, fault, "none",
        "none|range_too_short|nan_inside|order_of_species|other_float|wrong_change|wrong_first|"
        "wrong_second|one_sided_factor|direction|one_sided_contact|calls_before|undeclared|short_list|"
        "null_pointer|endless|aborts|behind_struct|before_struct|slope_beyond|exits|"
        "fails_silently|root_of_range|large_float|wrong_changes|finite_changes|wrong_slopes|"
        "wrong_slope_energy|finite_slope_energy|wrong_lanes|configured_temperature|other_row|sum_of_species|nan_slope|nan_beyond",
        "what is wrong"),
    PLUGMC_LIST_KEY(parameters, heights, 0, "1", -1e6, 1e6, "kT",
                    "one value for each pair of species"),
    PLUGMC_LIST_KEY(parameters, depths, 0, "1", -1e6, 1e6, "",
                    "factors: one for all, or one for each pair of species"),
    PLUGMC_INTEGER_DERIVED(parameters, kinds, "number of species"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &by_hand};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "wrong_pair", .summary = "soft pair with a fault",
              .reference = "", PLUGMC_KEYS(parameters, table), .configure = configure,
              .potential = &potential);
#endif
