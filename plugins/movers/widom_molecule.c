/* widom_molecule: the chemical potential of rigid molecules, by test molecules that are never really inserted.
 *
 * As observable widom does it for particles (B. Widom, J. Chem. Phys. 39, 2808 (1963)): a molecule put at a random position with
 * a random orientation into a configuration of N molecules of its kind in the volume V would change -ln p by dU/kT, and
 *
 *     mu_excess = -kT ln ( < w exp(-dU/kT) > / < w > ),    ln z = ln P(N > 0) - ln < w exp(-dU/kT) >,    w = V / (N + 1),
 *
 * w being 0 where N is max_count. z is the activity of [molecule NAME]. dU is what an insertion by the mover insert_molecule
 * would change, of all potentials: waves, self and excluded energies of an Ewald sum, tails. So this is a mover: it moves nothing, but
 * only movers may ask for changes of energy, and max_count of [molecule NAME] has to leave room for one more molecule.
 *
 * Position p of a measurement in sweep s is that of a trial p (plugmc_draw_position), orientation j = p k + a of k at each
 * position is plugmc_draw_orientation(seed, s, walker, j). */
#include "molecule_kind.h"
#include "widom_results.h"

typedef struct widom_molecule {
    const char *molecule;
    int64_t insertions, orientations;
    int32_t number;
    const plugmc_molecule *kind;
    const plugmc_system *system;
    /* [insertions orientations] of the walker at hand */
    int32_t *kinds, *forbidden;
    double (*position)[3];
    plugmc_orientation *orientation;
    double *change; /* [][terms] */
    char unit_of_fugacity[24];
} widom_molecule;

static const plugmc_listing listing[] = {
    {"boltzmann_factor", "", "exp(-dU/kT) of test molecules", 0, 0},
    {"numerator", "length^3", "w exp(-dU/kT), w = V/(N+1), or 0 at max_count", 0, 0},
    {"denominator", "length^3", "w = V/(N+1), or 0 at max_count", 0, 0},
    {"occupied", "", "whether there is any molecule of the kind", 0, 0},
    {"mu_excess", "<energy>", "excess chemical potential", 0, 1},
    {"ln_activity", "", "ln of the activity", 0, 1},
    {"mu", "<energy>", "chemical potential kT ln z, without the de Broglie factor", 0, 1},
    {"fugacity", "<energy>/length^3", "kT z", 0, 1},
};

/* ---- Test molecules ---------------------------------------------------------------------------- */

static void put_molecules(const widom_molecule *m, const plugmc_host *host, const plugmc_view *view,
                          int32_t w)
{
    for (int64_t p = 0; p < m->insertions; p++) {
        const plugmc_trial draws = {.size = sizeof draws,
                                    .walker = (uint32_t)w,
                                    .seed = host->seed,
                                    .sweep = view->sweep,
                                    .number = (uint32_t)p,
                                    .dimension = 3,
                                    .box = &view->box[w]};
        double at[3];
        plugmc_draw_position(&draws, at);
        for (int64_t j = p * m->orientations; j < (p + 1) * m->orientations; j++) {
            memcpy(m->position[j], at, sizeof at);
            m->orientation[j] =
                plugmc_draw_orientation(host->seed, view->sweep, (uint32_t)w, (uint32_t)j, 3);
        }
    }
}

static int find_factor(const widom_molecule *m, const plugmc_host *host, int32_t w,
                       const double *multipliers, double *factor)
{
    const plugmc_changes changes = {.size = sizeof changes,
                                    .kind = PLUGMC_MOLECULE_INSERTED,
                                    .first = w,
                                    .walkers = 1,
                                    .per_walker = m->insertions * m->orientations,
                                    .species = m->kinds,
                                    .position = (const double(*)[3])m->position,
                                    .orientation = m->orientation,
                                    .change = m->change,
                                    .forbidden = m->forbidden};
    return widom_factor(host, &changes, multipliers, factor);
}

static int measure_one(void *instance, const plugmc_host *host, const plugmc_view *view, int32_t w,
                       const double *multipliers, widom_walker *out)
{
    const widom_molecule *m = instance;
    const int64_t n =
        plugmc_molecules_of_kind(m->kind, view->count + (int64_t)w * m->system->species_count);
    const int room = n < m->kind->capacity || m->kind->grows;
    out->weight = room ? view->box[w].volume / (double)(n + 1) : 0;
    out->occupied = n > 0;
    put_molecules(m, host, view, w);
    return room ? find_factor(m, host, w, multipliers, &out->factor) : PLUGMC_OK;
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    return widom_measure(instance, host, view, measure_one, values);
}

/* ---- Results ------------------------------------------------------------------------------------- */

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index < WIDOM_MEASURED &&
           plugmc_scalar(out, listing[index].name, listing[index].unit, listing[index].doc);
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    const widom_molecule *m = instance;
    const plugmc_listing *line = &listing[WIDOM_MEASURED + index];
    const char *unit = index == WIDOM_LN_ACTIVITY ? ""
                       : index == WIDOM_FUGACITY  ? m->unit_of_fugacity
                                                  : widom_energy_unit(m->system);
    return index < WIDOM_DERIVED && plugmc_scalar(out, line->name, unit, line->doc);
}

static int derive(void *instance, const double *means, double *out)
{
    const widom_molecule *m = instance;
    const int none = widom_derive(m->system, means, out);
    if (!none) out[WIDOM_FUGACITY] = widom_temperature(m->system) * exp(out[WIDOM_LN_ACTIVITY]);
    return none;
}

static const char *lacking(void *instance, const double *means)
{
    (void)instance;
    return widom_lacking(means,
                         "no test molecule could be inserted: use more insertions or more sweeps",
                         "there was never a molecule of the kind, so its activity is unknown");
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static int prepare(void *instance, const plugmc_host *host)
{
    widom_molecule *m = instance;
    const plugmc_system *system = m->system = host->system;
    const size_t n = (size_t)(m->insertions * m->orientations);
    const int code = find_molecules_that_change(host, "molecule", m->molecule, &m->number);
    if (code) return code;
    m->kind = plugmc_kind_of_molecule(system->molecules, m->number);
    snprintf(m->unit_of_fugacity, sizeof m->unit_of_fugacity, "%s/length^3",
             widom_energy_unit(system));
    m->kinds = host->allocate(host->context, n * sizeof *m->kinds);
    m->forbidden = host->allocate(host->context, n * sizeof *m->forbidden);
    m->position = host->allocate(host->context, n * sizeof *m->position);
    m->orientation = host->allocate(host->context, n * sizeof *m->orientation);
    m->change =
        host->allocate(host->context, n * ((size_t)system->term_count + 1) * sizeof *m->change);
    if (!m->kinds || !m->forbidden || !m->position || !m->orientation || !m->change)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu test molecules",
                          n);
    for (size_t j = 0; j < n; j++) m->kinds[j] = m->number;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(widom_molecule, molecule, NULL,
                    "kind of the test molecules: NAME of [molecule NAME]"),
    PLUGMC_INTEGER_KEY(widom_molecule, insertions, "100", 1, 1e6, "",
                       "random positions per walker and measurement"),
    PLUGMC_INTEGER_KEY(widom_molecule, orientations, "1", 1, 1000, "",
                       "random orientations at each of them"),
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
    .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_KEEPS_RIGID,
    .changes = PLUGMC_CHANGED_COUNT,
    .follows = PLUGMC_CHANGED_COUNT,
    .sweep = widom_sweep,
    .good_for = "the chemical potential of rigid molecules; combine it with rigid"};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "widom_molecule",
              .summary = "chemical potential of rigid molecules, by test insertions",
              .reference = "Widom, J. Chem. Phys. 39, 2808 (1963)",
              PLUGMC_KEYS(widom_molecule, table), .mover = &mover, .observable = &observable,
              .prepare = prepare)
