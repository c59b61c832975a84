/* dressed_ion: how ions look from afar in an electrolyte of two species: the renormalised inverse
 * Debye length kappa_R, charges q_R and dielectric constant eps_R.
 *
 * Y. Liang, X. Xing, Y. Li, "A GPU-based large-scale Monte Carlo simulation method for systems
 * with long-range interactions", section 5; R. Kjellander, D. J. Mitchell, J. Chem. Phys. 101, 603
 * (1994). Far from an ion of species a, with charges in elementary charges, energies in kT and the
 * Bjerrum length l_B of the bare solvent, the density of charge and the potentials of mean force
 * u_ab = -ln g_ab go as
 *
 *     r rho_a -> A_a exp(-kappa_R r),   A_a = -q_a^R kappa_R^2 / (4 pi eps_R)           (13)
 *     r u_ab -> B_ab exp(-kappa_R r),   B_ab = l_B q_a^R q_b^R / eps_R                  (15)
 *
 * with eps_R relative to the solvent. kappa_R is found from the two tails of r rho_a (14), together
 * and from each alone; then
 *
 *     q_b^R = -kappa_R^2 / (4 pi l_B)  B_ab / A_a     around ions a of either species   (17)
 *     eps_R = -kappa_R^2 / (4 pi)  q_a^R / A_a        likewise, q_a^R around a          (18)
 *
 * and (kappa_R / kappa)^2 = (q_+^R - q_-^R) / (q_+ - q_-), the exact relation (8), is tested.
 * rho_a is a sum over g_ab, so with both charges found around ions of the same species (8) is an
 * identity, up to u = -ln g against 1 - g. It is a test with q_+^R found around positive and q_-^R
 * around negative ions; that is the one made.
 *
 * The next terms of the tails decay about as exp(-2 kappa_R r) and are the larger the more charged
 * the ions. With terms = 2 a term of this form is fitted too, so that fits may begin nearer, where
 * there is less noise. docs/electrolyte.md says what that is worth.
 *
 * The fits are of exponentials to r rho and r u, not of straight lines to logarithms, which would
 * be biased where noise is as large as the tail. The noise of pair counts in bins of equal width
 * makes that of r rho and r u the same in all bins, so bins count alike; A and B are then linear
 * in the data. Errors are from the jackknife of the core, and so include how all this is
 * correlated.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pair_histogram.h"

enum { KINDS = 2, ROWS = 3 }; /* species, and pairs of them: aa, ab, bb */

/* Derived numbers; the arrays u of ROWS and rho of KINDS come after them. */
enum {
    DEBYE,
    DEBYE_R,
    KAPPA,
    KAPPA_R,
    KAPPA_R_OF,                                 /* [KINDS] around which ion */
    CHARGE = KAPPA_R_OF + KINDS,                /* [KINDS][KINDS] whose, around which ion */
    CHARGE_DIFFERENCE = CHARGE + KINDS * KINDS, /* [KINDS] of the two ways */
    EPSILON = CHARGE_DIFFERENCE + KINDS,        /* [KINDS] around which ion */
    EXACT_LEFT = EPSILON + KINDS,
    EXACT_RIGHT,
    EXACT_DIFFERENCE,
    NUMBERS
};

typedef struct dressed_ion {
    real bjerrum_length, r_max, margin, fit_from, fit_to; /* parameters, length */
    int64_t bins, terms;                                  /* parameters */
    int32_t method;                                       /* parameter, PAIR_* */

    pair_histogram pairs;
    double charge[KINDS];
    double kappa;               /* bare, 1/length, of the whole box: where to look */
    int64_t first_bin, end_bin; /* of the fit */
    char *names[NUMBERS + ROWS + KINDS];
    double *g;        /* [bins] */
    char reason[512]; /* why numbers are lacking */
} dressed_ion;

static int32_t row_of(const dressed_ion *d, int32_t a, int32_t b)
{
    return d->pairs.row[a * (KINDS + 1) + b];
}

/* ---- Fits of exponentials ------------------------------------------------------------------ */

/* A tail to be fitted. */
typedef struct tail {
    const double *y; /* [bins] r times what decays */
    double weight;   /* 1 / variance of its noise, relative to that of other tails */
} tail;

/* Least squares of a tail with the decay given: the amplitude of exp(-kappa r) at the first bin of
 * the fit. *gain: by how much the fit lowers the sum of squares. */
static double fit_amplitude(const dressed_ion *d, const double *y, double kappa, double *gain)
{
    const double *r = d->pairs.radius;
    double s11 = 0, s12 = 0, s22 = 0, y1 = 0, y2 = 0;
    for (int64_t k = d->first_bin; k < d->end_bin; k++) {
        const double decay = exp(-kappa * (r[k] - r[d->first_bin])), next = decay * decay;
        s11 += decay * decay;
        s12 += decay * next;
        s22 += next * next;
        y1 += y[k] * decay;
        y2 += y[k] * next;
    }
    if (d->terms == 1) {
        *gain = y1 * y1 / s11;
        return y1 / s11;
    }
    const double determinant = s11 * s22 - s12 * s12;
    const double a1 = (s22 * y1 - s12 * y2) / determinant, a2 = (s11 * y2 - s12 * y1) / determinant;
    *gain = a1 * y1 + a2 * y2;
    return a1;
}

static double amplitude(const dressed_ion *d, const double *y, double kappa)
{
    double unused;
    return fit_amplitude(d, y, kappa, &unused);
}

static double gain_of_all(const dressed_ion *d, const tail *tails, int count, double kappa)
{
    double sum = 0, gain;
    for (int t = 0; t < count; t++) {
        fit_amplitude(d, tails[t].y, kappa, &gain);
        sum += tails[t].weight * gain;
    }
    return sum;
}

/* The decay of least squares, all tails having the same: the best of a grid, then by golden
 * section. With two terms half the decay fits as well, the second term then being the first: it is
 * left out. NaN where the best is at an end. */
static double fit_decay(const dressed_ion *d, const tail *tails, int count)
{
    enum { GRID = 60, REFINEMENTS = 50 };
    const double least = d->kappa * (d->terms == 1 ? 1.0 / 3 : 0.6), most = d->kappa * 3;
    const double step = pow(most / least, 1.0 / GRID), section = 0.5 * (sqrt(5) - 1);
    double best = 0;
    int at = 0;
    for (int k = 0; k <= GRID; k++) {
        const double found = gain_of_all(d, tails, count, least * pow(step, k));
        if (!(found > best)) continue;
        best = found;
        at = k;
    }
    if (at == 0 || at == GRID) return NAN;
    double low = least * pow(step, at - 1), high = least * pow(step, at + 1);
    double left = high - section * (high - low), right = low + section * (high - low);
    double gain_left = gain_of_all(d, tails, count, left),
           gain_right = gain_of_all(d, tails, count, right);
    for (int k = 0; k < REFINEMENTS; k++) {
        if (gain_left > gain_right) {
            high = right;
            right = left;
            gain_right = gain_left;
            left = high - section * (high - low);
            gain_left = gain_of_all(d, tails, count, left);
        } else {
            low = left;
            left = right;
            gain_left = gain_right;
            right = low + section * (high - low);
            gain_right = gain_of_all(d, tails, count, right);
        }
    }
    return 0.5 * (low + high);
}

/* ---- What follows from the averages -------------------------------------------------------- */

/* u [ROWS][bins] and rho [KINDS][bins]; non-zero without references. */
static int functions(const dressed_ion *d, const double *means, double *u, double *rho)
{
    const pair_histogram *h = &d->pairs;
    for (int64_t row = 0; row < ROWS; row++) {
        if (pair_histogram_g_of_ions(h, means, row, d->g)) return 1;
        for (int64_t k = 0; k < h->bins; k++)
            u[row * h->bins + k] = d->g[k] > 0 ? -log(d->g[k]) : INFINITY;
    }
    for (int32_t a = 0; a < KINDS; a++)
        if (pair_histogram_charge(h, means, a, rho + a * h->bins)) return 1;
    return 0;
}

/* tails [ROWS + KINDS][bins]: r times u and rho. */
static void numbers(const dressed_ion *d, const double *means, const double *tails, double *out)
{
    const pair_histogram *h = &d->pairs;
    const double *q = d->charge;
    double density[KINDS], charge[KINDS][KINDS], square = 0;
    tail rho[KINDS];
    for (int32_t a = 0; a < KINDS; a++) {
        density[a] = pair_histogram_density(h, means, a);
        square += 4 * M_PI * d->bjerrum_length * density[a] * q[a] * q[a]; /* (5) */
        rho[a] = (tail){tails + (ROWS + a) * h->bins, density[a]};
    }
    const double bare = sqrt(square), kappa = fit_decay(d, rho, KINDS);
    for (int32_t a = 0; a < KINDS; a++) {
        const double around = amplitude(d, rho[a].y, kappa);
        for (int32_t b = 0; b < KINDS; b++)
            charge[b][a] = -kappa * kappa / (4 * M_PI * d->bjerrum_length) *
                           amplitude(d, tails + row_of(d, a, b) * h->bins, kappa) / around;
        const double whole = around * exp(kappa * h->radius[d->first_bin]);
        out[EPSILON + a] = -kappa * kappa / (4 * M_PI) * charge[a][a] / whole;
        out[KAPPA_R_OF + a] = fit_decay(d, &rho[a], 1);
    }
    for (int32_t b = 0; b < KINDS; b++) {
        for (int32_t a = 0; a < KINDS; a++) out[CHARGE + b * KINDS + a] = charge[b][a];
        out[CHARGE_DIFFERENCE + b] = charge[b][b] - charge[b][1 - b];
    }
    out[DEBYE] = 1 / bare;
    out[DEBYE_R] = 1 / kappa;
    out[KAPPA] = bare;
    out[KAPPA_R] = kappa;
    out[EXACT_LEFT] = kappa * kappa / square;
    out[EXACT_RIGHT] = (charge[0][0] - charge[1][1]) / (q[0] - q[1]);
    out[EXACT_DIFFERENCE] = out[EXACT_LEFT] - out[EXACT_RIGHT];
}

/* Of the bins of the fit, those in which u of this row is infinite. */
static int64_t bins_without_a_pair(const dressed_ion *d, const double *u, int64_t row)
{
    int64_t count = 0;
    for (int64_t k = d->first_bin; k < d->end_bin; k++)
        count += !isfinite(u[row * d->pairs.bins + k]);
    return count;
}

/* out: NUMBERS, then u [ROWS][bins], rho [KINDS][bins]. Numbers are NaN where there is no fit. */
static int derive(void *instance, const double *means, double *out)
{
    const dressed_ion *d = instance;
    const pair_histogram *h = &d->pairs;
    double *u = out + NUMBERS, *rho = u + ROWS * h->bins;
    double *tails = malloc((size_t)((ROWS + KINDS) * h->bins) * sizeof *tails);
    if (!tails || functions(d, means, u, rho)) {
        free(tails);
        return 1;
    }
    int complete = 1;
    for (int64_t t = 0; t < ROWS + KINDS; t++)
        for (int64_t k = 0; k < h->bins; k++)
            tails[t * h->bins + k] = h->radius[k] * u[t * h->bins + k];
    for (int64_t row = 0; row < ROWS; row++) complete &= !bins_without_a_pair(d, u, row);
    for (int n = 0; n < NUMBERS; n++) out[n] = NAN;
    if (complete) numbers(d, means, tails, out);
    free(tails);
    return 0;
}

/* The sentence of `lacking` for what derive has found, NULL if nothing is lacking. */
static const char *reason(dressed_ion *d, const double *out)
{
    const pair_histogram *h = &d->pairs;
    const size_t room = sizeof d->reason;
    const double from = h->radius[d->first_bin], to = h->radius[d->end_bin - 1];
    for (int64_t row = 0; row < ROWS; row++) {
        const int64_t empty = bins_without_a_pair(d, out + NUMBERS, row);
        if (!empty) continue;
        snprintf(d->reason, room,
                 "%lld of the %lld bins of the tail of %s, from r = %.4g to %.4g, have no "
                 "pair: use a longer run, fewer bins or a larger system",
                 (long long)empty, (long long)(d->end_bin - d->first_bin), d->names[NUMBERS + row],
                 from, to);
        return d->reason;
    }
    for (int n = DEBYE_R; n < NUMBERS; n++) {
        if (!isnan(out[n])) continue;
        snprintf(d->reason, room,
                 "between %s and 3 times %.4g, the bare inverse Debye length, there is no best "
                 "fit of the tails from r = %.4g to %.4g: use a longer run or a smaller fit_from",
                 d->terms == 1 ? "1/3" : "0.6", d->kappa, from, to);
        return d->reason;
    }
    return NULL;
}

static const char *lacking(void *instance, const double *means)
{
    dressed_ion *d = instance;
    double *out = malloc((size_t)(NUMBERS + (ROWS + KINDS) * d->pairs.bins) * sizeof *out);
    if (!out) return NULL;
    const char *sentence = "no ion of one species was farther than margin from the surface: "
                           "use a smaller margin or a larger system";
    if (!derive(d, means, out)) sentence = reason(d, out);
    free(out);
    return sentence;
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    static const struct {
        int index;
        const char *unit, *doc;
    } table[] = {
        {DEBYE, "length", "Debye length of the bulk, eq. 5"},
        {DEBYE_R, "length", "renormalised Debye length"},
        {KAPPA, "1/length", "inverse Debye length of the bulk, eq. 5"},
        {KAPPA_R, "1/length", "renormalised, from both charge densities, eq. 14"},
        {KAPPA_R_OF, "1/length", "renormalised, from the charge density around one, eq. 14"},
        {CHARGE, "e", "renormalised charge, eq. 17"},
        {CHARGE_DIFFERENCE, "e", "difference of its two estimates, eq. 17"},
        {EPSILON, "", "renormalised dielectric constant over that of the solvent, eq. 18"},
        {EXACT_LEFT, "", "(kappa_R / kappa)^2, eq. 8"},
        {EXACT_RIGHT, "", "the same from the charges, each around its own species, eq. 8"},
        {EXACT_DIFFERENCE, "", "eq. 8, left minus right side"},
        {NUMBERS, "kT", "potential of mean force, eq. 11"},
        {NUMBERS + ROWS, "e/length^3", "charge density around a particle of this species, eq. 12"},
    };
    const dressed_ion *d = instance;
    const pair_histogram *h = &d->pairs;
    int k = PLUGMC_COUNT(table) - 1;
    if (index >= NUMBERS + ROWS + KINDS) return 0;
    while (table[k].index > index) k--;
    if (index < NUMBERS) return plugmc_scalar(out, d->names[index], table[k].unit, table[k].doc);
    return plugmc_array(out, d->names[index], table[k].unit, table[k].doc, h->bins, "r", h->radius);
}

/* ---- What is measured ---------------------------------------------------------------------- */

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    dressed_ion *d = instance;
    return pair_histogram_measure(&d->pairs, host, view, values);
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const dressed_ion *d = instance;
    return pair_histogram_quantity(&d->pairs, index, out);
}

/* ---- Preparation --------------------------------------------------------------------------- */

/* The names of derived quantities, with those of the species. */
static int name_all(dressed_ion *d, const plugmc_host *host)
{
    enum { LENGTH = 128 };
    static const char *const patterns[NUMBERS + ROWS + KINDS] = {
        [DEBYE] = "debye_length",
        [DEBYE_R] = "debye_length_R",
        [KAPPA] = "kappa",
        [KAPPA_R] = "kappa_R",
        [KAPPA_R_OF] = "kappa_R_around_%1",
        [KAPPA_R_OF + 1] = "kappa_R_around_%2",
        [CHARGE] = "q_R_%1_around_%1",
        [CHARGE + 1] = "q_R_%1_around_%2",
        [CHARGE + 2] = "q_R_%2_around_%1",
        [CHARGE + 3] = "q_R_%2_around_%2",
        [CHARGE_DIFFERENCE] = "q_R_%1_difference",
        [CHARGE_DIFFERENCE + 1] = "q_R_%2_difference",
        [EPSILON] = "eps_R_around_%1",
        [EPSILON + 1] = "eps_R_around_%2",
        [EXACT_LEFT] = "eq8_left",
        [EXACT_RIGHT] = "eq8_right",
        [EXACT_DIFFERENCE] = "eq8_difference",
        [NUMBERS] = "u_%1-%1",
        [NUMBERS + 1] = "u_%1-%2",
        [NUMBERS + 2] = "u_%2-%2",
        [NUMBERS + 3] = "rho_%1",
        [NUMBERS + 4] = "rho_%2",
    };
    for (int k = 0; k < NUMBERS + ROWS + KINDS; k++) {
        d->names[k] = host->allocate(host->context, LENGTH);
        if (!d->names[k])
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for names");
        char *at = d->names[k], *end = at + LENGTH;
        for (const char *p = patterns[k]; *p && at < end - 1; p++) {
            if (*p == '%') /* %1, %2: a species */
                at += snprintf(at, (size_t)(end - at), "%s",
                               plugmc_species_at(host->system, *++p - '1')->name);
            else
                *at++ = *p;
            if (at > end - 1) at = end - 1;
        }
        *at = '\0';
    }
    return PLUGMC_OK;
}

/* By what a term of -ln p is multiplied; NaN where rungs differ. */
static double multiplier_of(const plugmc_system *system, int32_t term)
{
    if (!system->weighted) return 1 / system->temperature;
    for (int32_t k = 1; k < system->rungs; k++)
        if (system->of_rungs[k * system->multipliers + term] != system->of_rungs[term]) return NAN;
    return system->of_rungs[term];
}

/* The parameter bjerrum_length of the sampled potential that has one, which is that of kT = 1, at the
 * temperature of the run and times the coupling; 0 if there is none, or several that differ. */
static double bjerrum_of_potential(const plugmc_system *system)
{
    double found = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_plugin *plugin = plugmc_term_at(system, t)->plugin;
        for (int32_t k = 0; k < plugin->parameter_count && plugmc_term_at(system, t)->sampled;
             k++) {
            const plugmc_parameter *p = plugmc_parameter_at(plugin, k);
            if (p->type != PLUGMC_TYPE_REAL || strcmp(p->name, "bjerrum_length")) continue;
            const char *instance = plugmc_term_at(system, t)->instance;
            const double own =
                multiplier_of(system, t) * *(const double *)(const void *)(instance + p->offset);
            if (isnan(own) || (found > 0 && own != found)) return 0;
            found = own;
        }
    }
    return found;
}

/* Two species that attract each other; the Debye length of the whole box. */
static int check_ions(dressed_ion *d, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const plugmc_species *species[KINDS];
    if (system->box.dimension != 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "screening is described in three dimensions, and this run has two");
    for (int32_t a = 0; a < KINDS; a++)
        species[a] = plugmc_species_at(system, a < system->species_count ? a : 0);
    if (system->species_count != KINDS || !(species[0]->charge * species[1]->charge < 0) ||
        species[0]->count < 2 || species[1]->count < 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "dressed ions need exactly two species, of opposite charge, with "
                          "at least two ions each");
    if (isnan(system->temperature))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "walkers at different temperatures have different screening");
    if (!(d->bjerrum_length > 0)) d->bjerrum_length = bjerrum_of_potential(system);
    if (!(d->bjerrum_length > 0))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no unique bjerrum_length in the potentials of this run: give it "
                          "here");
    double square = 0;
    for (int32_t a = 0; a < KINDS; a++) {
        d->charge[a] = species[a]->charge;
        square += 4 * M_PI * d->bjerrum_length * species[a]->charge * species[a]->charge *
                  (double)species[a]->count / system->box.volume;
    }
    d->kappa = sqrt(square);
    return PLUGMC_OK;
}

/* Defaults in Debye lengths, and the bins of the fit. */
static int choose_ranges(dressed_ion *d, const plugmc_host *host)
{
    enum { FEWEST = 8 };
    const plugmc_box *box = &host->system->box;
    const double debye = 1 / d->kappa;
    const int sphere = box->domain == PLUGMC_DOMAIN_SPHERE;
    double r_max = d->r_max, margin = d->margin;
    if (sphere && !(margin > 0) && r_max < 10 * debye) margin = 10 * debye;
    if (!(r_max > 0) && d->fit_to > 0) r_max = d->fit_to;
    if (!(r_max > 0) && sphere) r_max = fmin(8 * debye, margin);
    int code = pair_histogram_prepare(&d->pairs, host, r_max, d->bins, margin, d->method, NULL);
    if (code) return code;
    const pair_histogram *h = &d->pairs;
    const double from = d->fit_from > 0 ? d->fit_from : (d->terms == 1 ? 4 : 2.5) * debye;
    const double to = d->fit_to > 0 ? d->fit_to : fmin(8 * debye, h->range);
    if (to > h->range)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "fit_to = %g is more than r_max = %g",
                          to, h->range);
    while (d->first_bin < h->bins && h->radius[d->first_bin] < from) d->first_bin++;
    d->end_bin = d->first_bin;
    while (d->end_bin < h->bins && h->radius[d->end_bin] <= to) d->end_bin++;
    if (d->end_bin - d->first_bin < FEWEST)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "between fit_from = %g and fit_to = %g there are %lld bins, too few "
                          "for a fit; the Debye length is %g",
                          from, to, (long long)(d->end_bin - d->first_bin), debye);
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    dressed_ion *d = instance;
    int code = check_ions(d, host);
    if (!code) code = choose_ranges(d, host);
    if (!code) code = name_all(d, host);
    d->g = code ? NULL : host->allocate(host->context, (size_t)d->bins * sizeof *d->g);
    if (!code && !d->g)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld bins",
                          (long long)d->bins);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(dressed_ion, bjerrum_length, "0", 0, 1e9, "length",
                    "Bjerrum length; 0: that of the potential between the charges"),
    PLUGMC_REAL_KEY(dressed_ion, fit_from, "0", 0, 1e300, "length",
                    "beginning of the fit of the tails; 0: 4 Debye lengths, or 2.5 with two "
                    "terms"),
    PLUGMC_REAL_KEY(dressed_ion, fit_to, "0", 0, 1e300, "length",
                    "end of the fit; 0: 8 Debye lengths, or r_max if that is less"),
    PLUGMC_INTEGER_KEY(dressed_ion, terms, "1", 1, 2, "",
                       "exponentials in a tail: exp(-kappa_R r), and exp(-2 kappa_R r) if 2"),
    PAIR_HISTOGRAM_KEYS(
        dressed_ion, "fit_to, or half the smallest distance between faces of a periodic box", "240",
        "ions closer than this to its surface are not reference particles; 0: 10 Debye "
        "lengths, or r_max if that is more"),
};

/* All that it can give. */
static const plugmc_listing listing[] = {
    {"pairs_<species>-<species>", "",
     "pairs in a bin against r, counted once per reference "
     "particle",
     1, 0},
    {"references_<species>", "", "number of reference particles", 0, 0},
    {"debye_length", "length", "Debye length of the bulk, eq. 5", 0, 1},
    {"debye_length_R", "length", "renormalised Debye length", 0, 1},
    {"kappa", "1/length", "inverse Debye length of the bulk, eq. 5", 0, 1},
    {"kappa_R", "1/length", "renormalised, from both charge densities, eq. 14", 0, 1},
    {"kappa_R_around_<species>", "1/length",
     "renormalised, from the charge density around one, eq. 14", 0, 1},
    {"q_R_<species>_around_<species>", "e", "renormalised charge, eq. 17", 0, 1},
    {"q_R_<species>_difference", "e", "difference of its two estimates, eq. 17", 0, 1},
    {"eps_R_around_<species>", "",
     "renormalised dielectric constant over that of the solvent, eq. 18", 0, 1},
    {"eq8_left", "", "(kappa_R / kappa)^2, eq. 8", 0, 1},
    {"eq8_right", "", "the same from the charges, each around its own species, eq. 8", 0, 1},
    {"eq8_difference", "", "eq. 8, left minus right side", 0, 1},
    {"u_<species>-<species>", "kT", "potential of mean force against r, eq. 11", 1, 1},
    {"rho_<species>", "e/length^3",
     "charge density against r around a particle of this species, eq. 12", 1, 1},
};

PLUGMC_PLUGIN(.name = "dressed_ion",
              .summary = "renormalised Debye length, charges and dielectric constant of ions",
              .reference = "Kjellander, Mitchell, J. Chem. Phys. 101, 603 (1994)",
              PLUGMC_KEYS(dressed_ion, table),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .derived = derived, .derive = derive, .lacking = lacking,
                                     .listing = listing, .listing_count = PLUGMC_COUNT(listing)),
              .prepare = prepare, .gpu_source = pair_histogram_gpu_source)
