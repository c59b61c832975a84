/* widom_group: the chemical potential of an ion or of a neutral group of ions, by test groups that are never really inserted.
 *
 * A salt has a chemical potential, a single ion has one only up to the potential of the box, so what is put into the
 * configuration is a group: nu_s particles of each species s, each at a random place of its own (B. Widom, J. Chem. Phys. 39,
 * 2808 (1963); for electrolytes P. Sloth, T. S. Sorensen, Chem. Phys. Lett. 173, 51 (1990)). With
 *
 *     w = prod_s V^nu_s N_s! / (N_s + nu_s)!,       mu_excess = -kT ln ( < w exp(-dU/kT) > / < w > )
 *
 * is the excess chemical potential of the whole group, and mu_excess / (kT sum_s nu_s) the ln of the mean activity coefficient, with
 * respect to an ideal gas of the same densities. With reservoirs of activities z_s, sums over the numbers give
 *
 *     < w exp(-dU/kT) > = P(all N_s >= nu_s) / prod_s z_s^nu_s    exactly,
 *
 * w being 0 where a species has no room for its nu_s more; so ln_activity, the sum of nu_s ln z_s, is
 * ln P - ln < w exp(-dU/kT) >. dU is what an insertion by the mover insert_group would change, of all potentials: waves
 * and self energies of Ewald sums, tails. So this is a mover: it moves nothing, but only movers may ask for changes of energy.
 *
 * A group with a charge is allowed. Beside an Ewald sum a uniform background neutralises it, and the energy has that of the charge
 * with its images, so that mu_excess depends on the box by less than the bare image sum (G. Hummer, L. R. Pratt,
 * A. E. Garcia, J. Phys. Chem. 100, 1206 (1996)).
 *
 * Member k of group p of a measurement in sweep s is at the position of a trial 8 p + k (plugmc_draw_position). */
#include <string.h>

#include "widom_results.h"

typedef struct widom_group {
    const char *group; /* "Ca Cl Cl" */
    int64_t insertions;
    int32_t members;
    int32_t species[PLUGMC_MOST_TOGETHER]; /* [members] */
    const plugmc_system *system;
    /* Of the walker at hand: [insertions][members], then [insertions] and [insertions][terms]. */
    int32_t *kinds, *forbidden;
    double (*position)[3];
    double *change;
    char unit[32];
} widom_group;

static const plugmc_listing listing[] = {
    {"boltzmann_factor", "", "exp(-dU/kT) of test groups", 0, 0},
    {"numerator", "length^<dimension n>", "w exp(-dU/kT), w = prod V^nu N!/(N+nu)!, 0 without room",
     0, 0},
    {"denominator", "length^<dimension n>", "w; n particles are a group", 0, 0},
    {"occupied", "", "whether there is such a group", 0, 0},
    {"mu_excess", "<energy>", "excess chemical potential of the group", 0, 1},
    {"ln_activity", "", "ln of the product of the activities of the group", 0, 1},
    {"mu", "<energy>", "chemical potential of the group, without the de Broglie factors", 0, 1},
    {"ln_gamma", "", "ln of the mean activity coefficient, mu_excess / (n kT)", 0, 1},
};
enum { LN_GAMMA = WIDOM_FUGACITY };

/* ---- Test groups --------------------------------------------------------------------------------- */

static void put_groups(const widom_group *g, const plugmc_host *host, const plugmc_view *view,
                       int32_t w)
{
    for (int64_t p = 0; p < g->insertions; p++)
        for (int32_t k = 0; k < g->members; k++) {
            const plugmc_trial draws = {.size = sizeof draws,
                                        .walker = (uint32_t)w,
                                        .seed = host->seed,
                                        .sweep = view->sweep,
                                        .number = (uint32_t)(p * PLUGMC_MOST_TOGETHER + k),
                                        .dimension = g->system->box.dimension,
                                        .box = &view->box[w]};
            plugmc_draw_position(&draws, g->position[p * g->members + k]);
        }
}

/* w of a walker with `count` particles of each species; 0: no room. *occupied: whether a group could leave. */
static double weight_of(const widom_group *g, const int64_t *count, double volume, int *occupied)
{
    double weight = 1;
    *occupied = 1;
    for (int32_t k = 0, like = 0; k < g->members; k++) {
        const int32_t s = g->species[k];
        const plugmc_species *species = plugmc_species_at(g->system, s);
        like = k && g->species[k - 1] == s ? like + 1 : 0; /* of this species before */
        if (count[s] <= like) *occupied = 0;
        if (count[s] + like >= species->capacity && !species->grows) weight = 0;
        weight *= volume / (double)(count[s] + like + 1);
    }
    return weight;
}

static int measure_one(void *instance, const plugmc_host *host, const plugmc_view *view, int32_t w,
                       const double *multipliers, widom_walker *out)
{
    const widom_group *g = instance;
    const plugmc_changes changes = {.size = sizeof changes,
                                    .kind = PLUGMC_GROUP_INSERTED,
                                    .first = w,
                                    .walkers = 1,
                                    .per_walker = g->insertions,
                                    .group = g->members,
                                    .species = g->kinds,
                                    .position = (const double(*)[3])g->position,
                                    .change = g->change,
                                    .forbidden = g->forbidden};
    out->weight = weight_of(g, view->count + (int64_t)w * g->system->species_count,
                            view->box[w].volume, &out->occupied);
    put_groups(g, host, view, w);
    return out->weight > 0 ? widom_factor(host, &changes, multipliers, &out->factor) : PLUGMC_OK;
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    return widom_measure(instance, host, view, measure_one, values);
}

/* ---- Results ------------------------------------------------------------------------------------- */

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const widom_group *g = instance;
    const int is_weight = index == WIDOM_NUMERATOR || index == WIDOM_DENOMINATOR;
    return index < WIDOM_MEASURED &&
           plugmc_scalar(out, listing[index].name, is_weight ? g->unit : "", listing[index].doc);
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    const widom_group *g = instance;
    const plugmc_listing *line = &listing[WIDOM_MEASURED + index];
    const char *unit =
        index == WIDOM_LN_ACTIVITY || index == LN_GAMMA ? "" : widom_energy_unit(g->system);
    return index < WIDOM_DERIVED && plugmc_scalar(out, line->name, unit, line->doc);
}

static int derive(void *instance, const double *means, double *out)
{
    const widom_group *g = instance;
    const int none = widom_derive(g->system, means, out);
    if (!none) out[LN_GAMMA] = out[WIDOM_MU_EXCESS] / (widom_temperature(g->system) * g->members);
    return none;
}

static const char *lacking(void *instance, const double *means)
{
    (void)instance;
    return widom_lacking(means,
                         "no test group could be inserted: use more insertions or more sweeps",
                         "there was never such a group, so its activity is unknown");
}

/* ---- Preparation --------------------------------------------------------------------------------- */

/* Into ascending order, so that those of one species stand together. */
static int add_member(widom_group *g, const plugmc_host *host, const char *name)
{
    int32_t species, at = g->members;
    const int code = plugmc_find_species(host, "group", name, &species);
    if (code) return code;
    if (g->members == PLUGMC_MOST_TOGETHER)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "group = %s: the limit is %d particles in a group", g->group,
                          PLUGMC_MOST_TOGETHER);
    for (; at > 0 && g->species[at - 1] > species; at--) g->species[at] = g->species[at - 1];
    g->species[at] = species;
    g->members++;
    return PLUGMC_OK;
}

/* Energies of nu_s more than there are at the start have to be known. */
static int check_room(const widom_group *g, const plugmc_host *host)
{
    for (int32_t k = 0, like = 1; k < g->members; k++) {
        const plugmc_species *species = plugmc_species_at(g->system, g->species[k]);
        like = k && g->species[k - 1] == g->species[k] ? like + 1 : 1;
        const int is_last = k + 1 == g->members || g->species[k + 1] != g->species[k];
        if (is_last && species->capacity < species->count + like)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "group = %s: [species %s] needs max_count, the largest number in a "
                              "walker, of at least %lld: room for the test particles",
                              g->group, species->name, (long long)(species->count + like));
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    widom_group *g = instance;
    const plugmc_system *system = g->system = host->system;
    char name[256];
    int used = 0, code = PLUGMC_OK;
    for (const char *at = g->group; !code && sscanf(at, " %255s%n", name, &used) == 1; at += used)
        code = add_member(g, host, name);
    if (!code && !g->members)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT, "group: names no species");
    if (!code) code = check_room(g, host);
    if (code) return code;
    const size_t groups = (size_t)g->insertions, n = groups * (size_t)g->members;
    snprintf(g->unit, sizeof g->unit, "length^%d", system->box.dimension * g->members);
    g->kinds = host->allocate(host->context, n * sizeof *g->kinds);
    g->position = host->allocate(host->context, n * sizeof *g->position);
    g->forbidden = host->allocate(host->context, groups * sizeof *g->forbidden);
    g->change = host->allocate(host->context,
                               groups * ((size_t)system->term_count + 1) * sizeof *g->change);
    if (!g->kinds || !g->position || !g->forbidden || !g->change)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu test particles",
                          n);
    for (size_t j = 0; j < n; j++) g->kinds[j] = g->species[j % (size_t)g->members];
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(widom_group, group, NULL, "species of all particles of the group: Ca Cl Cl"),
    PLUGMC_INTEGER_KEY(widom_group, insertions, "100", 1, 1e7, "",
                       "test groups per walker and measurement"),
};

static const plugmc_observable observable = {.size = sizeof observable,
                                             .quantity = quantity,
                                             .measure = measure,
                                             .derived = derived,
                                             .derive = derive,
                                             .lacking = lacking,
                                             .listing = listing,
                                             .listing_count = PLUGMC_COUNT(listing),
                                             .listing_size = sizeof(plugmc_listing),
                                             .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT,
                                             .depends_on = PLUGMC_ON_MULTIPLIERS};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_RUNS_ON_CPU,
    .changes = PLUGMC_CHANGED_COUNT,
    .follows = PLUGMC_CHANGED_COUNT,
    .sweep = widom_sweep,
    .good_for = "the activity coefficient of a salt; combine it with a mover that displaces"};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "widom_group",
              .summary = "chemical potential of ions and neutral groups, by test insertions",
              .reference = "Widom, J. Chem. Phys. 39, 2808 (1963)", PLUGMC_KEYS(widom_group, table),
              .mover = &mover, .observable = &observable, .prepare = prepare)
