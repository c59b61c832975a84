/* What the potentials between charges ask of the species: included inside their PLUGMC_HOST part.
 * Checks are made once, with the double precision instance. */
#ifndef PLUGMC_CHARGED_SPECIES_H
#define PLUGMC_CHARGED_SPECIES_H

#include <plugmc/body_facet.h>
#include <plugmc/species_pairs.h>

/* Keys of a struct with members bjerrum_length and permittivity. */
#define CHARGES_KEYS(type)                                                                         \
    PLUGMC_REAL_KEY(                                                                               \
        type, bjerrum_length, "0", 0, 1e9, "length",                                               \
        "distance at which two elementary charges have the energy 1, that is kT at [run] "         \
        "temperature = 1; required without [units]"),                                              \
        PLUGMC_REAL_KEY(type, permittivity, "0", 0, 1e9, "",                                       \
                        "with [units]: relative permittivity of the medium; 0: 1")

/* The energy of two elementary charges, times their distance. With [units] that is known but for the
 * permittivity, and a Bjerrum length would be one of a temperature. */
static inline int charges_strength(const plugmc_host *host, real *bjerrum_length, real permittivity)
{
    const double vacuum = host->system->of_charges;
    if (vacuum > 0 && *bjerrum_length > 0)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT, "%s",
            "bjerrum_length is only for runs without [units]: give permittivity, or nothing "
            "for a vacuum");
    if (vacuum > 0)
        *bjerrum_length = (real)(vacuum / (permittivity > 0 ? (double)permittivity : 1));
    else if (permittivity > 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s",
                          "permittivity needs [units]: give bjerrum_length instead");
    else if (!(*bjerrum_length > 0))
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT, "%s",
            "bjerrum_length must be given: the distance at which two elementary charges have "
            "the energy 1, that is kT at temperature = 1");
    else if (isfinite(host->system->temperature) && host->system->temperature != 1)
        host->warn(
            host->context,
            "bjerrum_length = %g is that of temperature 1: at temperature = %g two elementary "
            "charges have the energy kT at a distance of %g",
            (double)*bjerrum_length, host->system->temperature,
            (double)*bjerrum_length / host->system->temperature);
    return PLUGMC_OK;
}

/* An error if nobody has a charge; a warning for each species without one. */
static inline int charges_are_there(const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    int charged = 0;
    for (int32_t k = 0; k < system->species_count; k++)
        charged += plugmc_species_at(system, k)->charge != 0;
    if (!charged)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no species has a charge: set 'charge' in [species ...], or remove "
                          "this potential");
    for (int32_t k = 0; k < system->species_count; k++)
        if (plugmc_species_at(system, k)->charge == 0)
            host->warn(host->context,
                       "species '%s' has charge 0, so this potential does not affect it",
                       plugmc_species_at(system, k)->name);
    return PLUGMC_OK;
}

/* Of all particles; 0 if it is only rounding. */
static inline double net_charge(const plugmc_system *system)
{
    double net = 0, gross = 0;
    for (int32_t k = 0; k < system->species_count; k++) {
        const plugmc_species *s = plugmc_species_at(system, k);
        net += s->charge * (double)s->count;
        gross += fabs(s->charge) * (double)s->count;
    }
    return fabs(net) > 1e-9 * gross ? net : 0;
}

static inline void charges_warn_net(const plugmc_host *host)
{
    const double net = net_charge(host->system);
    if (net != 0)
        host->warn(host->context, "the charges of all particles add up to %g, not to 0", net);
}

/* The term that an instance belongs to. */
static inline const plugmc_term *term_of(const plugmc_system *system, const void *instance)
{
    for (int32_t t = 0; t < system->term_count; t++)
        if (plugmc_term_at(system, t)->instance == instance) return plugmc_term_at(system, t);
    return NULL;
}

/* Whether a term other than `own` may keep species a and b apart: a core does, and hard bodies with a sphere inside; of another
 * energy we do not know, and trust its author. */
static inline int kept_apart(const plugmc_system *system, const plugmc_term *own, int32_t a,
                             int32_t b)
{
    const plugmc_particle pa = plugmc_particle_of_species(system, a, 0),
                          pb = plugmc_particle_of_species(system, b, 0);
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_pair *pair = term->plugin->potential->pair;
        const plugmc_body *body = plugmc_body_of(term->plugin);
        if (term == own || !term->sampled) continue;
        if (body && body->functions & PLUGMC_BODY_OVERLAP && body->core(term->instance, &pa) > 0 &&
            body->core(term->instance, &pb) > 0)
            return 1;
        if (!pair) continue;
        if (pair->functions & PLUGMC_PAIR_ENERGY || pair->contact(term->instance, &pa, &pb) > 0)
            return 1;
    }
    return 0;
}

/* exp(l_B / r) cannot be normalised, so opposite point charges are no system to be sampled. Other
 * terms must be configured: this is for `prepare`. */
static inline int charges_cannot_collapse(const void *instance, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const plugmc_term *own = term_of(system, instance);
    if (!own || !own->sampled) return PLUGMC_OK;
    for (int32_t a = 0; a < system->species_count; a++)
        for (int32_t b = 0; b < a; b++) {
            const plugmc_species *sa = plugmc_species_at(system, a),
                                 *sb = plugmc_species_at(system, b);
            if (sa->charge * sb->charge < 0 && !kept_apart(system, own, a, b))
                return host->fail(host->context, PLUGMC_ERROR_INPUT,
                                  "species '%s' and '%s' attract each other without a core, "
                                  "so they would collapse: add a potential with a core, such "
                                  "as hard_sphere with diameters above 0",
                                  sb->name, sa->name);
        }
    return PLUGMC_OK;
}

#endif
