/* adsorption: what a species, or a kind of rigid molecules, in contact with a reservoir brings with it: loading, isosteric heat,
 * excess loading.
 *
 * With U the energy of all sampled potentials and N the number of particles of the species, or of molecules of the kind,
 *
 *     q_st = kT - ( <U N> - <U> <N> ) / ( <N^2> - <N>^2 ),
 *
 * the heat that is set free when a particle comes from the reservoir, which is taken to be an ideal gas (D. Nicholson,
 * N. G. Parsonage, Computer Simulation and the Statistical Mechanics of Adsorption, Academic Press (1982)). The fluctuations are those of one ensemble, so no
 * other species may come and go, walkers have one temperature, and couplings are 1. On a ladder in mu each rung is a point
 * of an isotherm.
 *
 * excess = N - rho V_free is what is there beyond the fluid of the reservoir, of density rho, in the volume V_free = free_fraction V
 * that is open to it. rho is `bulk_density`, or by the equation of state of Peng and Robinson where [species] gives the
 * critical point (plugmc/reservoir.h). */
#include <plugmc/reservoir.h>
#include <stdlib.h>
#include <string.h>

#include "energy/sums.h"
#include "walker_boxes.h"

enum { LOADING, ENERGY, ENERGY_LOADING, SQUARE, EXCESS, MEASURED };

typedef struct adsorption {
    const char *species;
    real bulk_density, free_fraction;
    int32_t
        number; /* of the species, or of the kind behind all species: as reservoirs are counted */
    const plugmc_molecule *kind; /* NULL: particles */
    double *density;             /* [rungs] of the reservoir; NULL: not known */
    const char *unit;
    energy sums;
} adsorption;

static const plugmc_listing listing[] = {
    {"loading", "", "number of particles of the species, or of molecules", 0, 0},
    {"total_energy", "<energy>", "energy of all sampled potentials", 0, 0},
    {"energy_times_loading", "<energy>", "product of both", 0, 0},
    {"loading_squared", "", "square of the number", 0, 0},
    {"excess_loading", "", "number beyond that of the reservoir's fluid in the free volume", 0, 0},
    {"isosteric_heat", "<energy>", "heat of adsorption from an ideal gas", 0, 1},
};

/* ---- Preparation ------------------------------------------------------------------------------------ */

static const plugmc_molecule *kind_of(const plugmc_system *system, int32_t reservoir)
{
    return reservoir < system->species_count
               ? NULL
               : plugmc_kind_of_molecule(system->molecules, reservoir - system->species_count);
}

/* A kind of molecules of this name, else a species. */
static int find_species(adsorption *a, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const int32_t kinds = system->molecules ? system->molecules->kinds : 0;
    for (int32_t k = 0; k < kinds && !a->kind; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
        if (strcmp(kind->name, a->species)) continue;
        a->kind = kind;
        a->number = system->species_count + k;
    }
    return a->kind ? PLUGMC_OK : plugmc_find_species(host, "species", a->species, &a->number);
}

static double mu_of(const plugmc_system *system, int32_t reservoir)
{
    const plugmc_molecule *kind = kind_of(system, reservoir);
    return kind ? kind->mu : plugmc_species_at(system, reservoir)->mu;
}

static int check_reservoirs(const adsorption *a, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const int32_t all = system->species_count + (system->molecules ? system->molecules->kinds : 0);
    if (isnan(mu_of(system, a->number)))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "species = %s: [%s %s] has no reservoir", a->species,
                          a->kind ? "molecule" : "species", a->species);
    for (int32_t s = 0; s < all; s++)
        if (s != a->number && !isnan(mu_of(system, s)))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "species = %s: the isosteric heat is that of one species with a "
                              "reservoir, and %s has one, too",
                              a->species,
                              kind_of(system, s) ? kind_of(system, s)->name
                                                 : plugmc_species_at(system, s)->name);
    return PLUGMC_OK;
}

static int check_ensemble(const adsorption *a, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const int code = check_reservoirs(a, host);
    if (code) return code;
    if (isnan(system->temperature))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "walkers have different temperatures: fluctuations are of one");
    for (int32_t r = 0; r < system->rungs; r++)
        for (int32_t t = 0; t < system->term_count; t++)
            if (plugmc_term_at(system, t)->sampled && system->weighted &&
                fabs(system->of_rungs[r * system->multipliers + t] * system->temperature - 1) >
                    1e-12)
                return host->fail(host->context, PLUGMC_ERROR_INPUT,
                                  "potential '%s' has a coupling: the fluctuations would not be "
                                  "those of its energy",
                                  plugmc_term_at(system, t)->label);
    return PLUGMC_OK;
}

/* Densities of the reservoir on all rungs: given, or of the fluid that the core knows. */
static int find_densities(adsorption *a, const plugmc_host *host)
{
    const int32_t rungs = host->system->rungs;
    const plugmc_reservoirs *all = plugmc_reservoirs_of(host);
    double *density = host->allocate(host->context, (size_t)rungs * sizeof *density);
    if (!density) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for densities");
    if (a->bulk_density > 0 && rungs > 1)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "bulk_density is of one reservoir, and the ladder has %d", rungs);
    for (int32_t r = 0; r < rungs; r++) {
        plugmc_reservoir one = {.size = sizeof one, .density = NAN};
        if (all) all->of(host->context, a->number, r, &one);
        density[r] = a->bulk_density > 0 ? a->bulk_density : one.density;
        if (isnan(density[r])) return PLUGMC_OK;
    }
    a->density = density;
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    adsorption *a = instance;
    a->unit = plugmc_energy_unit(host->system);
    int code = find_species(a, host);
    if (!code) code = check_ensemble(a, host);
    if (!code) code = find_densities(a, host);
    return code ? code : energy_sums_prepare(&a->sums, host);
}

/* ---- Measurements ----------------------------------------------------------------------------------- */

static int measured(const adsorption *a) { return a->density ? MEASURED : EXCESS; }

static double sampled_energy(const adsorption *a, const double *terms)
{
    double sum = 0;
    for (int32_t t = 0; t < a->sums.terms; t++)
        if (plugmc_term_at(a->sums.system, a->sums.term[t])->sampled) sum += terms[t];
    return sum;
}

/* values [walkers][measured] */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    adsorption *a = instance;
    const plugmc_system *system = host->system;
    const int n = measured(a);
    void *rungs = NULL;
    double *found = malloc(((size_t)(system->walkers * a->sums.terms) + 1) * sizeof *found);
    int code = found ? energy_sums_measure(&a->sums, host, view, found)
                     : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d energies",
                                  system->walkers);
    if (!code && system->rungs > 1)
        code = host->state->array(host->state, PLUGMC_STATE_RUNG, PLUGMC_ON_HOST, PLUGMC_READ,
                                  &rungs, NULL);
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        const int64_t *count = view->count + w * system->species_count;
        const double loading = (double)(a->kind ? plugmc_molecules_of_kind(a->kind, count)
                                                : count[a->number]),
                     energy = sampled_energy(a, found + (int64_t)w * a->sums.terms);
        double *to = values + (int64_t)w * n;
        to[LOADING] = loading;
        to[ENERGY] = energy;
        to[ENERGY_LOADING] = energy * loading;
        to[SQUARE] = loading * loading;
        if (n > EXCESS)
            to[EXCESS] = loading - a->density[rungs ? ((const int32_t *)rungs)[w] : 0] *
                                       a->free_fraction * view->box[w].volume;
    }
    free(found);
    return code;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const adsorption *a = instance;
    if (index >= measured(a)) return 0;
    const int energy = index == ENERGY || index == ENERGY_LOADING;
    return plugmc_scalar(out, listing[index].name, energy ? a->unit : "", listing[index].doc);
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    const plugmc_listing *line = &listing[MEASURED];
    if (index > 0) return 0;
    return plugmc_scalar(out, line->name, ((const adsorption *)instance)->unit, line->doc);
}

static int derive(void *instance, const double *means, double *out)
{
    const adsorption *a = instance;
    const double variance = means[SQUARE] - means[LOADING] * means[LOADING];
    /* Fewer than the digits of both carry nothing. */
    if (!(variance > 1e-12 * means[SQUARE])) return 1;
    *out = a->sums.system->temperature -
           (means[ENERGY_LOADING] - means[ENERGY] * means[LOADING]) / variance;
    return 0;
}

static const char *lacking(void *instance, const double *means)
{
    (void)instance;
    return means[SQUARE] > means[LOADING] * means[LOADING] * (1 + 1e-12)
               ? NULL
               : "the number of particles has not changed, so its fluctuations are unknown";
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance;
    return energy_sums_gpu_source(host, index, out);
}

/* ---- The tables ------------------------------------------------------------------------------------- */

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(adsorption, species, NULL,
                    "species with a reservoir, or NAME of [molecule NAME]"),
    PLUGMC_REAL_KEY(
        adsorption, bulk_density, "0", 0, 1e30, "length^-D",
        "density of the fluid in the reservoir, for excess_loading; 0: by the equation of "
        "Peng and Robinson, where [species] gives the critical point"),
    PLUGMC_REAL_KEY(
        adsorption, free_fraction, "1", 0, 1, "",
        "share of the volume that is open to the fluid, for excess_loading: the helium void "
        "fraction"),
};

PLUGMC_PLUGIN(
        .name = "adsorption",
        .summary = "loading, isosteric heat and excess loading of a species with a reservoir",
        .reference =
            "Nicholson, Parsonage, Computer Simulation and the Statistical Mechanics of Adsorption (1982)",
        PLUGMC_KEYS(adsorption, table),
        PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                               .derived = derived, .derive = derive, .lacking = lacking,
                               .listing = listing, .listing_count = PLUGMC_COUNT(listing),
                               .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                          PLUGMC_CHANGED_ORIENTATION | PLUGMC_CHANGED_MOLECULE),
        .prepare = prepare, .gpu_source = gpu_source)
