/* tail_correction: what the particles of a homogeneous fluid feel beyond the cutoff of their pair energy.
 *
 * The long-range correction: beyond the cutoff r_c the density around a particle is taken for that
 * of the bulk. In D dimensions, with S = 2 pi or 4 pi and v the pair energy without a cutoff,
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
 * other place), and pairs of particles are to go with movers that move by pairs. The fluid is that of
 * the section [potential lennard_jones], or of the one that `of` names, which gives the integrals
 * (plugmc/tail.h). It is also called lennard_jones_tail.
 */
#include <math.h>
#include <string.h>

#include <plugmc/everything.h>
#include <plugmc/tail.h>

typedef struct tail {
    const char *of;
    const plugmc_system *system;
    double *energy; /* [species][species]: U V of a pair of particles, energy length^D */
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

static const plugmc_term *term_of_label(const plugmc_system *system, const char *label)
{
    for (int32_t i = 0; i < system->term_count; i++)
        if (!strcmp(plugmc_term_at(system, i)->label, label)) return plugmc_term_at(system, i);
    return NULL;
}

/* There is none of this label: which other one has a tail. */
static void refuse(const tail *t, const plugmc_host *host)
{
    const plugmc_term *other = NULL;
    for (int32_t i = t->system->term_count - 1; i >= 0; i--)
        if (plugmc_offered(plugmc_term_at(t->system, i)->plugin, PLUGMC_TAIL))
            other = plugmc_term_at(t->system, i);
    if (other)
        host->fail(host->context, PLUGMC_ERROR_INPUT,
                   "of = %s: there is no [potential %s], but [potential %s] has a long-range "
                   "correction: set of = %s",
                   t->of, t->of, other->label, other->label);
    else
        host->fail(host->context, PLUGMC_ERROR_INPUT,
                   "of = %s: there is no [potential %s], and no potential of the run has a "
                   "long-range correction: lennard_jones, mie and buckingham have one",
                   t->of, t->of);
}

static const plugmc_term *find_fluid(const tail *t, const plugmc_host *host,
                                     const plugmc_tail **offered)
{
    const plugmc_term *term = term_of_label(t->system, t->of);
    if (!term) {
        refuse(t, host);
        return NULL;
    }
    *offered = plugmc_offered(term->plugin, PLUGMC_TAIL);
    if (*offered) return term;
    host->fail(host->context, PLUGMC_ERROR_INPUT,
               "the long-range correction of [potential %s] is not known: its plugin gives none",
               t->of);
    return NULL;
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

/* A shifted potential has shifted energies within the cutoff as well, so that adding what is
 * beyond gives no potential that anybody has named. */
static int check(const tail *t, const plugmc_host *host, double energy)
{
    if (isnan(energy))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "[potential %s] is shifted: a long-range correction needs "
                          "truncation = cut",
                          t->of);
    if (isinf(energy))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the energy of [potential %s] falls too slowly with the distance for its "
                          "integral beyond the cutoff to converge",
                          t->of);
    return PLUGMC_OK;
}

static int tail_prepare(void *instance, const plugmc_host *host)
{
    tail *t = instance;
    const plugmc_tail *offered = NULL;
    t->system = host->system;
    const plugmc_term *fluid = find_fluid(t, host, &offered);
    if (!fluid) return PLUGMC_ERROR_INPUT;
    if (t->system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "a long-range correction needs a periodic box");
    warn_of_couplings(t, host);
    const int32_t n = t->system->species_count;
    t->energy = host->allocate(host->context, sizeof(double) * (size_t)(n * n));
    if (!t->energy)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d species", n);
    for (int32_t k = 0; k < n * n; k++) {
        t->energy[k] = offered->energy(fluid->instance, t->system->box.dimension, k / n, k % n);
        const int code = check(t, host, t->energy[k]);
        if (code) return code;
    }
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(tail, of, "lennard_jones", "label of the [potential] whose tail it is"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .energy = tail_energy,
                                   .unchanged_by = PLUGMC_CHANGED_POSITION,
                                   .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                              PLUGMC_CHANGED_MOLECULE,
                                   .of_counts = of_counts};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "tail_correction",
              .summary = "long-range correction of a fluid whose pair energy is cut: a constant",
              .reference = "Allen, Tildesley, Computer Simulation of Liquids (1987)",
              PLUGMC_KEYS(tail, table), .prepare = tail_prepare, .potential = &potential)
