/* What |Psi|^2 is made of, found once when a plugin is prepared. */
#include "wave_function.h"

#include "slater.h"

static const plugmc_expansion *expansion_of(const plugmc_term *term)
{
    return term->sampled ? plugmc_offered(term->plugin, PLUGMC_EXPANSION) : NULL;
}

int expansion_is_there(const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    for (int32_t t = 0; t < system->term_count; t++)
        if (expansion_of(plugmc_term_at(system, t))) return 1;
    return 0;
}

int expansion_find(const plugmc_host *host, const expansion **out)
{
    const plugmc_system *system = host->system;
    const plugmc_term *found = NULL;
    *out = NULL;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_expansion *offered = expansion_of(term);
        if (!offered) continue;
        if (found)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "potentials '%s' and '%s' are both expansions in determinants, but "
                              "there is only one wave function",
                              found->label, term->label);
        found = term;
        *out = offered->get(term->instance);
    }
    return PLUGMC_OK;
}

int wave_function_measures(wave_function *wave, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const plugmc_term *term = wave->orbitals;
    for (int spin = 0; spin < system->species_count; spin++)
        if (plugmc_species_at(system, spin)->count > wave->most)
            wave->most = plugmc_species_at(system, spin)->count;
    wave->is_complex = plugmc_orbitals_of(term->plugin)->complex_valued(term->instance) != 0;
    int code = expansion_find(host, &wave->sum);
    if (!code) code = slater_pitch(host, term, &wave->pitch);
    wave->numbers = wave->is_complex ? 2 * wave->pitch : wave->pitch;
    return code;
}

int wave_function_terms(wave_function *wave, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    wave->terms =
        host->allocate(host->context, ((size_t)system->term_count + 1) * sizeof *wave->terms);
    if (!wave->terms)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the terms");
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_potential *potential = term->plugin->potential;
        if (term->sampled && (potential->pair || potential->field))
            wave->terms[wave->term_count++] = term;
    }
    return PLUGMC_OK;
}

int wave_function_electrons(wave_function *wave, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const size_t electrons = (size_t)system->particles;
    wave->charge = host->allocate(host->context, 2 * electrons * sizeof *wave->charge);
    wave->species = host->allocate(host->context, electrons * sizeof *wave->species);
    if (!wave->charge || !wave->species)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu electrons",
                          electrons);
    wave->diameter = wave->charge + electrons;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            wave->charge[i] = plugmc_species_at(system, s)->charge;
            wave->diameter[i] = plugmc_species_at(system, s)->diameter;
            wave->species[i] = s;
        }
    return PLUGMC_OK;
}

/* ---- Factors that are no determinants ---------------------------------------------------------- */

double wave_function_field(const wave_function *wave, const plugmc_term *term, int64_t e,
                           const double r[3])
{
    const plugmc_particles one = {
        1, &r[0], &r[1], &r[2], wave->charge + e, wave->diameter + e, wave->species + e};
    double energy = 0;
    term->plugin->potential->field->energy(term->instance, &one, &energy);
    return energy;
}

double wave_function_change(const wave_function *wave, const plugmc_system *system, const double *x,
                            const double *y, const double *z, int64_t e, const double to[3])
{
    const plugmc_box *box = &system->box;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const int64_t n = system->particles;
    const double from[3] = {x[e], y[e], z[e]};
    const plugmc_particle probe = {from[0],         from[1],           from[2],
                                   wave->charge[e], wave->diameter[e], wave->species[e]};
    const plugmc_particles before = {e, x, y, z, wave->charge, wave->diameter, wave->species};
    const plugmc_particles after = {n - e - 1,
                                    x + e + 1,
                                    y + e + 1,
                                    z + e + 1,
                                    wave->charge + e + 1,
                                    wave->diameter + e + 1,
                                    wave->species + e + 1};
    double change = 0;
    for (int t = 0; t < wave->term_count; t++) {
        const plugmc_term *term = wave->terms[t];
        const plugmc_potential *p = term->plugin->potential;
        if (p->pair) p->pair->change(term->instance, box, periodic, &probe, to, &before, &change);
        if (p->pair) p->pair->change(term->instance, box, periodic, &probe, to, &after, &change);
        if (p->field)
            change +=
                wave_function_field(wave, term, e, to) - wave_function_field(wave, term, e, from);
    }
    return change;
}
