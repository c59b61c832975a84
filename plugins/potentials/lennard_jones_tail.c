/* lennard_jones_tail: what Lennard-Jones particles of a homogeneous fluid feel beyond the cutoff.
 *
 * The long-range correction: beyond the cutoff r_c the density around a particle is taken for that
 * of the bulk. In D dimensions, with S = 2 pi or 4 pi and v as in lennard_jones,
 *
 *     U = S / (2 V) sum_ab N_a N_b integral from r_c of r^(D-1) v(r) dr
 *     W = -D V dU/dV = D U
 *
 * M. P. Allen, D. J. Tildesley, Computer Simulation of Liquids, Oxford (1987), section 2.8. Both
 * are constants of the box and the numbers of particles: they move nobody, and add to energy and
 * virial with every mover.
 *
 * In that book W is -S / (2 V) sum_ab N_a N_b integral from r_c of r^D v'(r) dr. It differs from D U by what the jump of
 * the cut energy at r_c adds to the virial where g(r_c) = 1. Observables measure that jump, with the g(r_c) that there is
 * (observables/pair_jumps.h), so that the two together are the pressure of what is sampled, and that of the whole
 * potential as far as g = 1 holds beyond r_c.
 *
 * This is a potential of its own since the constant belongs into the total facet (a virial has no
 * other place), and pairs of Lennard-Jones particles are to go with movers that move by pairs.
 * The fluid is that of the section [potential lennard_jones], or of the one that `of` names; its
 * epsilon, sigma and cutoff are taken from there.
 */
#include <math.h>
#include <string.h>

#include <plugmc/everything.h>
#include <plugmc/species_pairs.h>

typedef struct tail {
    const char *of;
    const plugmc_system *system;
    double *energy; /* [species][species]: U V of a pair of particles, energy */
} tail;

static double of_counts(const void *instance, const plugmc_box *box, const int64_t *count)
{
    const tail *t = instance;
    const int32_t n = t->system->species_count;
    double sum = 0;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++)
            sum += t->energy[a * n + b] * (double)count[a] * (double)count[b];
    return sum / box->volume;
}

static int tail_energy(void *instance, const plugmc_total_request *request)
{
    const tail *t = instance;
    for (int32_t w = 0; w < t->system->walkers; w++) {
        const plugmc_box *box = &request->view->box[w];
        const int64_t *count = request->view->count + w * t->system->species_count;
        const double energy = of_counts(t, box, count);
        if (request->energy) request->energy[w] += energy;
        for (int d = 0; request->virial && d < box->dimension; d++)
            request->virial[3 * w + d] += energy;
    }
    return PLUGMC_OK;
}

/* ---- The potential it belongs to ------------------------------------------------------------- */

/* What is taken from it. */
typedef struct fluid {
    const plugmc_list *epsilon, *sigma;
    double cutoff;
    int32_t truncation, mixing;
} fluid;

static const void *value_of(const plugmc_term *term, const char *name, int32_t type)
{
    for (int32_t i = 0; i < term->plugin->parameter_count; i++) {
        const plugmc_parameter *p = plugmc_parameter_at(term->plugin, i);
        if (!strcmp(p->name, name) && p->type == type)
            return (const char *)term->instance + p->offset;
    }
    return NULL;
}

static int find_fluid(const tail *t, const plugmc_host *host, fluid *out)
{
    const plugmc_term *term = NULL;
    for (int32_t i = 0; i < t->system->term_count && !term; i++)
        if (!strcmp(plugmc_term_at(t->system, i)->label, t->of))
            term = plugmc_term_at(t->system, i);
    if (!term)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "there is no [potential %s]", t->of);
    const double *cutoff = value_of(term, "cutoff", PLUGMC_TYPE_REAL);
    const int32_t *truncation = value_of(term, "truncation", PLUGMC_TYPE_CHOICE);
    const int32_t *mixing = value_of(term, "mixing", PLUGMC_TYPE_CHOICE);
    *out = (fluid){.epsilon = value_of(term, "epsilon", PLUGMC_TYPE_LIST),
                   .sigma = value_of(term, "sigma", PLUGMC_TYPE_LIST)};
    if (!out->epsilon || !out->sigma || !cutoff || !truncation || !mixing)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "[potential %s] is not a Lennard-Jones potential", t->of);
    out->cutoff = *cutoff;
    out->truncation = *truncation;
    out->mixing = *mixing;
    return PLUGMC_OK;
}

/* A shifted potential has shifted energies within the cutoff as well, so that adding what is
 * beyond gives no potential that anybody has named. */
static int check(const tail *t, const plugmc_host *host, const fluid *f)
{
    if (t->system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "a long-range correction needs a periodic box");
    if (f->truncation != 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "[potential %s] is shifted: a long-range correction needs "
                          "truncation = cut",
                          t->of);
    return PLUGMC_OK;
}

/* A coupling is a factor of one potential, and the tail is another one. */
static void warn_of_couplings(const tail *t, const plugmc_host *host)
{
    const plugmc_system *system = t->system;
    int32_t own = -1, fluid = -1;
    for (int32_t i = system->term_count - 1; i >= 0; i--) {
        const plugmc_term *term = plugmc_term_at(system, i);
        if (term->sampled && term->instance == t) own = i;
        if (term->sampled && !strcmp(term->label, t->of)) fluid = i;
    }
    for (int32_t k = 0; k < system->rungs && system->of_rungs && own >= 0 && fluid >= 0; k++) {
        const double *multipliers = &system->of_rungs[k * system->multipliers];
        if (multipliers[own] == multipliers[fluid]) continue;
        host->warn(host->context,
                   "coupling: differs from that of [potential %s], whose tail this is", t->of);
        return;
    }
}

/* With v = 4 epsilon (sigma^12 / r^12 - sigma^6 / r^6), the integral of r^(D-1) v from r_c is
 * 4 epsilon (high - low). */
static int tail_prepare(void *instance, const plugmc_host *host)
{
    tail *t = instance;
    fluid f = {0};
    t->system = host->system;
    int code = find_fluid(t, host, &f);
    if (!code) code = check(t, host, &f);
    if (code) return code;
    warn_of_couplings(t, host);
    const int32_t n = t->system->species_count;
    const int dimension = t->system->box.dimension;
    const double surface = dimension == 2 ? 2 * M_PI : 4 * M_PI;
    t->energy = host->allocate(host->context, sizeof(double) * (size_t)(n * n));
    if (!t->energy)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d species", n);
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            double epsilon, sigma;
            plugmc_mixed_well(f.epsilon, f.sigma, f.mixing, n, a, b, &epsilon, &sigma);
            double sixth = pow(sigma / f.cutoff, 6), volume = pow(f.cutoff, dimension);
            double high = sixth * sixth * volume / (12 - dimension);
            double low = sixth * volume / (6 - dimension);
            t->energy[a * n + b] = surface / 2 * 4 * epsilon * (high - low);
        }
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(tail, of, "lennard_jones", "label of the [potential] whose tail it is"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .energy = tail_energy,
                                   .unchanged_by = PLUGMC_CHANGED_POSITION,
                                   .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT,
                                   .of_counts = of_counts};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "lennard_jones_tail",
              .summary = "long-range correction of a cut Lennard-Jones fluid: a constant",
              .reference = "Allen, Tildesley, Computer Simulation of Liquids (1987)",
              PLUGMC_KEYS(tail, table), .prepare = tail_prepare, .potential = &potential)
