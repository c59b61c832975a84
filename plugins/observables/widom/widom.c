/* widom: the chemical potential of a species, by test particles that are never really inserted.
 *
 * B. Widom, J. Chem. Phys. 39, 2808 (1963). A particle put at a random place of a configuration of N of its
 * species in the volume V would change -ln p by dU/kT, and
 *
 *     mu_excess  = -kT ln ( < w exp(-dU/kT) > / < w > ),      w = V / (N + 1),
 *     ln z       = -ln < w exp(-dU/kT) >,
 *
 * where z is the activity, mu = kT ln z. With N and V fixed w is a constant: mu_excess is
 * -kT ln <exp(-dU/kT)>, and z belongs to the step from N to N + 1 particles. At constant pressure these are
 * the averages with V of D. Frenkel, B. Smit, Understanding Molecular Simulation, section 7.2. With a
 * reservoir that has the activity z and room for `max_count` particles, sums over N give
 *
 *     < w exp(-dU/kT) [N < most] > = P(N > 0) / z     exactly,
 *
 * [...] being 1 where that is so and 0 else; hence ln z = ln P(N > 0) - ln < w exp(-dU/kT) [N < most] >,
 * and < w > is taken where N < most too. mu_excess is over an ideal gas of the density 1 / < w >.
 *
 * Energies are those that movers see: pairs by their nearest image, fields, hard cores, each term by its multiplier, and totals
 * that follow from counts (lennard_jones_tail). What is averaged is one number a configuration, the mean
 * over its test particles, so that error bars rest on configurations and not on the number of insertions.
 *
 * A body that is inserted has a random orientation, uniform in all of them. Bodies are tried on the host, also in a run on a
 * GPU.
 *
 * Where places are and what is drawn for them: places.h. Which of them need no energy: hopeless.c. */
#include "../bring_to_host.h"
#include "widom.h"

#include <math.h>
#include <plugmc/former_keys.h>
#include <stdio.h>
#include <string.h>

/* What is measured, in this order; where neither N nor V changes only the first. */
enum { FACTOR, NUMERATOR, DENOMINATOR, OCCUPIED, MEASURED };
enum { MU_EXCESS, LN_ACTIVITY, MU, FUGACITY, DERIVED };

static const plugmc_listing listing[] = {
    {"boltzmann_factor", "", "exp(-dU/kT) of test particles", 0, 0},
    {"numerator", "length^<dimension>",
     "w exp(-dU/kT), w = V/(N+1), or 0 at max_count; if V or N changes", 0, 0},
    {"denominator", "length^<dimension>", "w = V/(N+1), or 0 at max_count; likewise", 0, 0},
    {"occupied", "", "whether there is any particle of the species; if N changes", 0, 0},
    {"mu_excess", "<energy>", "excess chemical potential", 0, 1},
    {"ln_activity", "", "ln of the activity", 0, 1},
    {"mu", "<energy>", "chemical potential kT ln z, without the de Broglie factor", 0, 1},
    {"fugacity", "<energy>/length^<dimension>", "kT z", 0, 1},
};

static int counts_change(const widom *w)
{
    return (w->system->changes & PLUGMC_CHANGED_COUNT) != 0;
}

static int measured(const widom *w)
{
    if (counts_change(w)) return MEASURED;
    return w->system->changes & PLUGMC_CHANGED_BOX ? OCCUPIED : NUMERATOR;
}

/* ---- Where test particles are tried ---------------------------------------------------------- */

/* Strata of a cell, all about as long as wide, until there are as many places as are wanted. */
static void cut_cells(widom_places *p, const plugmc_box *box, int64_t insertions)
{
    p->per_cell = 1;
    while ((int64_t)p->cells * p->per_cell < insertions) {
        int longest = 0;
        double length = 0;
        for (int d = 0; d < box->dimension; d++) {
            const double own = box->length[d] / ((double)p->count[d] * p->strata[d]);
            if (own > length * (1 + 1e-9)) longest = d, length = own;
        }
        p->strata[longest]++;
        p->per_cell = (uint32_t)(p->strata[0] * p->strata[1] * p->strata[2]);
    }
    p->places = p->cells * p->per_cell;
}

/* Cells are half as wide as the reach, so that fewer are looked at in vain; wider if there would be more of
 * them than places that are drawn cell by cell. */
int widom_lay_out(const widom *w, const plugmc_host *host, const plugmc_view *view,
                  plugmc_cells *cells, widom_places *out)
{
    const plugmc_box *box = view->box;
    double width = w->reach > 0 ? w->reach / 2 * (1 + 1e-6) : 1e300;
    if (w->placement == WIDOM_CELLS) {
        const double share = pow(box->volume / (double)w->insertions, 1.0 / box->dimension);
        width = w->reach > 0 ? fmax(width, share) : share;
    }
    int code = view->cells(view, width, cells);
    *out = (widom_places){.seed = host->seed,
                          .sweep = view->sweep,
                          .reach = w->reach,
                          .strata = {1, 1, 1},
                          .cells = (uint32_t)cells->cells,
                          .places = (uint32_t)w->insertions};
    memcpy(out->count, cells->count, sizeof out->count);
    if (code || w->placement == WIDOM_UNIFORM) return code;
    cut_cells(out, box, w->insertions);
    return PLUGMC_OK;
}

/* ---- One measurement ------------------------------------------------------------------------- */

int widom_multipliers(const widom *w, const plugmc_host *host, int side, const double **out,
                      size_t *row)
{
    void *rows = NULL;
    *out = NULL;
    if (!w->system->weighted) return PLUGMC_OK;
    const int code =
        host->state->array(host->state, PLUGMC_STATE_MULTIPLIER, side, PLUGMC_READ, &rows, row);
    *out = rows;
    return code;
}

/* What totals add, which is the same at all places: w->constant. */
static int find_constants(widom *w, const plugmc_host *host, const plugmc_view *view)
{
    const int32_t species = w->system->species_count;
    const double *multipliers;
    size_t row = 0;
    const int code = widom_multipliers(w, host, PLUGMC_ON_HOST, &multipliers, &row);
    w->near_limit = w->most_near;
    for (int32_t k = 0; k < w->system->walkers && !code; k++) {
        const double *own =
            multipliers ? (const double *)((const char *)multipliers + (size_t)k * row) : NULL;
        const int64_t *count = view->count + k * species;
        memcpy(w->counts, count, (size_t)species * sizeof *w->counts);
        w->counts[w->inserted]++;
        w->constant[k] = 0;
        for (int32_t t = 0; t < w->term_count; t++) {
            const widom_term *term = &w->terms[t];
            if (!term->total) continue;
            const double more =
                             term->total->of_counts(term->of->instance, &view->box[k], w->counts),
                         less = term->total->of_counts(term->of->instance, &view->box[k], count);
            w->constant[k] += widom_multiplier(w, own, term->index) * (more - less);
        }
        if (!(w->constant[k] > -WIDOM_ALLOWANCE)) w->near_limit = -1;
    }
    return code;
}

/* values [walkers][measured] */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    widom *w = instance;
    const plugmc_system *system = w->system;
    const int64_t most = plugmc_species_at(system, w->inserted)->capacity;
    const int n = measured(w);
    plugmc_view there = {.size = sizeof there};
    int code = find_constants(w, host, view);
    if (!code && view->on_device && system->bodies) {
        code = bring_to_host(host, view, w->on_host, &there);
        view = &there;
    }
    if (!code)
        code = view->on_device ? widom_insert_gpu(w, host, view) : widom_insert_cpu(w, host, view);
    for (int32_t k = 0; k < system->walkers && !code; k++) {
        const int64_t count = view->count[k * system->species_count + w->inserted];
        const double room = counts_change(w) && count >= most ? 0 : 1;
        const double weight = room * view->box[k].volume / (double)(count + 1);
        const double factor = w->found[k] * exp(-w->constant[k]);
        const double all[MEASURED] = {factor, weight * factor, weight, count > 0};
        memcpy(values + (size_t)k * (size_t)n, all, (size_t)n * sizeof *values);
    }
    return code;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const widom *w = instance;
    if (index >= measured(w)) return 0;
    const char *unit = index == NUMERATOR || index == DENOMINATOR ? w->unit : "";
    return plugmc_scalar(out, listing[index].name, unit, listing[index].doc);
}

/* ---- What follows from means ----------------------------------------------------------------- */

/* Walkers of different temperature have no unit of energy in common but kT. */
static double temperature_of(const widom *w)
{
    return isnan(w->system->temperature) ? 1 : w->system->temperature;
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    const widom *w = instance;
    const plugmc_listing *line = &listing[MEASURED + index];
    if (index >= DERIVED) return 0;
    const char *energy = isnan(w->system->temperature) ? "kT" : plugmc_energy_unit(w->system),
               *unit = index == LN_ACTIVITY ? ""
                       : index == FUGACITY  ? w->unit_of_fugacity
                                            : energy;
    return plugmc_scalar(out, line->name, unit, line->doc);
}

static int derive(void *instance, const double *means, double *out)
{
    const widom *w = instance;
    const int64_t count = plugmc_species_at(w->system, w->inserted)->count;
    const int n = measured(w);
    const double weight =
        n > DENOMINATOR ? means[DENOMINATOR] : w->system->box.volume / (double)(count + 1);
    const double weighted = n > NUMERATOR ? means[NUMERATOR] : weight * means[FACTOR];
    const double occupied = n > OCCUPIED ? means[OCCUPIED] : 1;
    if (!(weighted > 0)) return 1;
    out[MU_EXCESS] = temperature_of(w) * log(weight / weighted);
    out[LN_ACTIVITY] = occupied > 0 ? log(occupied / weighted) : NAN;
    out[MU] = temperature_of(w) * out[LN_ACTIVITY];
    out[FUGACITY] = temperature_of(w) * exp(out[LN_ACTIVITY]);
    return 0;
}

static const char *lacking(void *instance, const double *means)
{
    const widom *w = instance;
    if (!(means[measured(w) > NUMERATOR ? NUMERATOR : FACTOR] > 0))
        return "no test particle could be inserted: use more insertions or more sweeps";
    return measured(w) > OCCUPIED && !(means[OCCUPIED] > 0)
               ? "there was never a particle of the species, so its activity is unknown"
               : NULL;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

/* Largest distance at which a pair is felt; INFINITY if there is none. */
static double reach_of(const plugmc_system *system, const plugmc_term *term)
{
    const plugmc_pair *pair = term->plugin->potential->pair;
    double reach = pair->range(term->instance);
    for (int32_t a = 0; a < system->species_count; a++)
        for (int32_t b = 0; b < system->species_count; b++) {
            const plugmc_species *sa = plugmc_species_at(system, a),
                                 *sb = plugmc_species_at(system, b);
            const plugmc_particle one = {
                .charge = sa->charge, .diameter = sa->diameter, .species = a};
            const plugmc_particle other = {
                .charge = sb->charge, .diameter = sb->diameter, .species = b};
            reach = fmax(reach, pair->contact(term->instance, &one, &other));
        }
    return reach;
}

/* Likewise of bodies. */
static double reach_of_bodies(const plugmc_system *system, const plugmc_term *term,
                              const plugmc_body *body)
{
    double largest = 0;
    for (int32_t s = 0; s < system->species_count; s++) {
        const plugmc_species *species = plugmc_species_at(system, s);
        const plugmc_particle one = {
            .charge = species->charge, .diameter = species->diameter, .species = s};
        largest = fmax(largest, body->reach(term->instance, &one));
    }
    return fmax(2 * largest * (1 + 1e-9), body->range(term->instance));
}

/* The same facets that movers sample (a total that stands for its parts is left to them). */
static int take_term(widom *w, const plugmc_host *host, int32_t index)
{
    const plugmc_term *of = plugmc_term_at(w->system, index);
    const plugmc_potential *p = of->plugin->potential;
    const plugmc_body *body = plugmc_body_of(of->plugin);
    const int parts = p->pair || p->field || body;
    const plugmc_total *total = p->total && (!parts || p->total->beside_parts) ? p->total : NULL;
    if (p->pair && p->pair->functions & PLUGMC_PAIR_POSITIONS)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "potential '%s' depends on positions, but only pair energies of "
                          "the separation are supported",
                          of->label);
    if (!parts && !total)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "potential '%s' is not an energy of particles that could be "
                          "inserted",
                          of->label);
    if (total &&
        (plugmc_follows_positions(total) || !PLUGMC_HAS(total, of_counts) || !total->of_counts))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "potential '%s' is a many-body term without the energy of an "
                          "inserted particle",
                          of->label);
    widom_term *term = &w->terms[w->term_count++];
    *term = (widom_term){.of = of, .index = index, .field = p->field, .total = total, .body = body};
    w->field_count += p->field != NULL;
    if (body) w->reach = fmax(w->reach, reach_of_bodies(w->system, of, body));
    if (!p->pair) return PLUGMC_OK;
    const double reach = reach_of(w->system, of);
    *(isfinite(reach) ? &term->near : &term->far) = p->pair;
    w->far_count += !isfinite(reach);
    if (isfinite(reach)) w->reach = fmax(w->reach, reach);
    return PLUGMC_OK;
}

static int take_terms(widom *w, const plugmc_host *host)
{
    int code = PLUGMC_OK;
    w->terms =
        host->allocate(host->context, ((size_t)w->system->term_count + 1) * sizeof *w->terms);
    if (!w->terms)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for potentials");
    for (int32_t t = 0; t < w->system->term_count && !code; t++)
        if (plugmc_term_at(w->system, t)->sampled) code = take_term(w, host, t);
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    widom *w = instance;
    const plugmc_system *system = w->system = host->system;
    int code = plugmc_find_species(host, "species", w->species, &w->inserted);
    if (!code && w->placement == WIDOM_CELLS && system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "placement = cells needs a periodic box, but [box] is a sphere");
    if (!code) code = take_terms(w, host);
    if (!code) code = widom_find_hopeless(w, host);
    if (code) return code;
    snprintf(w->unit, sizeof w->unit, "length^%d", system->box.dimension);
    snprintf(w->unit_of_fugacity, sizeof w->unit_of_fugacity, "%s/length^%d",
             isnan(system->temperature) ? "kT" : plugmc_energy_unit(system), system->box.dimension);
    w->constant = host->allocate(host->context, (size_t)system->walkers * sizeof *w->constant);
    w->found = host->allocate(host->context, (size_t)system->walkers * sizeof *w->found);
    w->counts = host->allocate(host->context, (size_t)system->species_count * sizeof *w->counts);
    if (!w->constant || !w->found || !w->counts)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d walkers",
                          system->walkers);
    if (!host->gpu || system->bodies) {
        const size_t numbers = 3 * (size_t)system->walkers * (size_t)system->particles;
        if (host->gpu) w->on_host = host->allocate(host->context, numbers * sizeof *w->on_host);
        if (host->gpu && !w->on_host)
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d walkers",
                              system->walkers);
        return widom_prepare_cpu(w, host);
    }
    return widom_prepare_gpu(w, host);
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance;
    return host->system->bodies ? 0 : widom_gpu_source(host, index, out);
}

/* ---- The tables ------------------------------------------------------------------------------ */

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(widom, species, NULL, "species of the test particles"),
    PLUGMC_INTEGER_KEY(widom, insertions, "1000", 1, 1e8, "",
                       "test particles per walker and measurement; placement = cells may use more"),
    PLUGMC_CHOICE_KEY(widom, placement, "uniform", "uniform|cells",
                      "uniform: random positions; cells: one random position in each of many "
                      "equal cells (stratified), for smaller errors"),
};

static const plugmc_former_keys former_keys = {
    sizeof former_keys, (const plugmc_former_key[]){{"drawn", "placement"}, {NULL, NULL}}};

PLUGMC_PLUGIN(.name = "widom",
              .summary = "excess chemical potential and activity, by test insertions",
              .reference = "Widom, J. Chem. Phys. 39, 2808 (1963)", PLUGMC_KEYS(widom, table),
              PLUGMC_OFFERS({PLUGMC_FORMER_KEYS, &former_keys}),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .derived = derived, .derive = derive, .lacking = lacking,
                                     .listing = listing, .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_ORIENTATION,
                                     .depends_on = PLUGMC_ON_MULTIPLIERS),
              .prepare = prepare, .gpu_source = gpu_source)
