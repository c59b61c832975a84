/* See reservoir.h. */
#include "input/reservoir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/peng_robinson.h"
#include "input/reservoir_keys.h"

static const char ways[] = "activity, mu, chemical_potential, fugacity and pressure";

/* ---- Whose it is --------------------------------------------------------------------------------------- */

/* What a section says, and the mass of a particle or molecule. */
typedef struct keys {
    double activity, fugacity, pressure;
    plugmc_list mu, chemical_potential;
    const char *thermal_wavelength, *fugacity_coefficient;
    double critical_temperature, critical_pressure;
    plugmc_list acentric_factor;
    double mass;
} keys;

/* The species of which one is a site of molecule k; the next word of its sites is looked at from *text on. -1: there are no
 * more, or it is not known. */
static int32_t next_site(const config *c, const char **text)
{
    *text += strspn(*text, " \t");
    const size_t length = strcspn(*text, " \t");
    int32_t found = -1;
    for (int32_t s = 0; s < c->species_count && length; s++)
        if (strlen(c->species_names[s]) == length && !strncmp(c->species_names[s], *text, length))
            found = s;
    *text += length;
    return found;
}

#define KEYS_OF(section, of_mass)                                                                  \
    (keys)                                                                                         \
    {                                                                                              \
        (section)->activity, (section)->fugacity, (section)->pressure, (section)->mu,              \
            (section)->chemical_potential, (section)->thermal_wavelength,                          \
            (section)->fugacity_coefficient, (section)->critical_temperature,                      \
            (section)->critical_pressure, (section)->acentric_factor, of_mass                      \
    }

static keys keys_of(const config *c, int32_t owner)
{
    if (owner < c->species_count) return KEYS_OF(&c->species[owner], c->species[owner].mass);
    const molecule_section *m = &c->molecules[owner - c->species_count];
    const char *text = m->sites;
    double mass = 0;
    for (int32_t s; text && (s = next_site(c, &text)) >= 0;) mass += c->species[s].mass;
    return KEYS_OF(m, mass);
}

int32_t reservoir_owners(const config *c) { return c->species_count + c->molecule_count; }

const char *reservoir_name(const config *c, int32_t owner)
{
    return owner < c->species_count ? c->species_names[owner]
                                    : c->molecule_names[owner - c->species_count];
}

static const ini_section *section_of(const config *c, int32_t owner)
{
    const bool one = owner < c->species_count;
    int32_t n = one ? owner : owner - c->species_count;
    for (int i = 0; i < c->ini.count; i++)
        if (!strcmp(c->ini.sections[i].kind, one ? "species" : "molecule") && n-- == 0)
            return &c->ini.sections[i];
    return NULL;
}

const char *reservoir_section(const config *c, int32_t owner)
{
    const ini_section *s = section_of(c, owner);
    return s ? s->name : reservoir_name(c, owner);
}

int reservoir_line(const config *c, int32_t owner, const char *key)
{
    return owner < c->species_count ? config_line_of_species(c, owner, key)
                                    : config_line_of_molecule(c, owner - c->species_count, key);
}

/* ---- Which keys there are ------------------------------------------------------------------------------ */

/* Of reservoir_keys those that are there; NULL for the others. */
static void find_ways(const keys *s, const char *found[RESERVOIR_KEYS])
{
    const bool there[RESERVOIR_KEYS] = {s->activity > 0, s->mu.count > 0,
                                        s->chemical_potential.count > 0, s->fugacity > 0,
                                        s->pressure > 0};
    for (int k = 0; k < RESERVOIR_KEYS; k++) found[k] = there[k] ? reservoir_keys[k] : NULL;
}

const char *reservoir_key(const config *c, int32_t owner)
{
    const char *found[RESERVOIR_KEYS];
    const keys own = keys_of(c, owner);
    find_ways(&own, found);
    for (int k = 0; k < RESERVOIR_KEYS; k++)
        if (found[k]) return found[k];
    return NULL;
}

bool reservoir_is_given(const config *c, int32_t s)
{
    const char *name = reservoir_name(c, s);
    return reservoir_key(c, s) || is_mu_of(c->ladder.vary, name) ||
           is_mu_of(c->ladder.vary_2, name);
}

static bool is_set(const char *text) { return text && *text; }

static bool has_critical_point(const keys *s)
{
    return s->critical_temperature > 0 && s->critical_pressure > 0 && s->acentric_factor.count;
}

static bool by_equation(const keys *s)
{
    return is_set(s->fugacity_coefficient) && !strcmp(s->fugacity_coefficient, "peng_robinson");
}

static bool by_mass(const keys *s)
{
    return is_set(s->thermal_wavelength) && !strcmp(s->thermal_wavelength, "mass");
}

/* Above 0; else 0. */
static double positive(const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    return end > text && !*end && value > 0 && isfinite(value) ? value : 0;
}

/* ---- Whether they go together -------------------------------------------------------------------------- */

#define refuse(c, s, key, ...)                                                                     \
    report_error(r, EXIT_INPUT, (c)->ini.path, reservoir_line(c, s, key), __VA_ARGS__)

static int check_ways(const config *c, int32_t s, report *r)
{
    const keys all = keys_of(c, s), *own = &all;
    const char *name = reservoir_section(c, s), *found[RESERVOIR_KEYS], *first = NULL;
    find_ways(own, found);
    for (int k = 0; k < RESERVOIR_KEYS; k++) {
        if (found[k] && first)
            return refuse(c, s, found[k], "[%s] has %s and %s: give one of %s", name, first,
                          found[k], ways);
        if (found[k]) first = found[k];
    }
    const plugmc_list *lists[] = {&own->mu, &own->chemical_potential, &own->acentric_factor};
    const char *const keys[] = {"mu", "chemical_potential", "acentric_factor"};
    for (int k = 0; k < 3; k++)
        if (lists[k]->count > 1)
            return refuse(c, s, keys[k], "[%s] %s: %d numbers stand here, and it is one", name,
                          keys[k], lists[k]->count);
    return 0;
}

/* A ladder of mu holds on all rungs, so that nothing would be left of another quantity; of mu it is other values. */
static int check_ladder(const config *c, int32_t s, report *r)
{
    const char *key = reservoir_key(c, s), *name = reservoir_name(c, s);
    if (!key || !strcmp(key, "mu") ||
        (!is_mu_of(c->ladder.vary, name) && !is_mu_of(c->ladder.vary_2, name)))
        return 0;
    return refuse(c, s, key, "[%s] has %s, and [ladder] varies %s.mu: give one of them",
                  reservoir_section(c, s), key, name);
}

static bool mass_is_in(const config *c, int32_t s)
{
    const ini_section *section = section_of(c, s);
    return section && ini_get(section, "mass") != NULL;
}

/* Of a molecule: of all its sites. */
static bool mass_is_given(const config *c, int32_t owner)
{
    if (owner < c->species_count) return mass_is_in(c, owner);
    const char *text = c->molecules[owner - c->species_count].sites;
    for (int32_t s; text && (s = next_site(c, &text)) >= 0;)
        if (!mass_is_in(c, s)) return false;
    return true;
}

static int check_wavelength(const config *c, int32_t s, report *r)
{
    const keys all = keys_of(c, s), *own = &all;
    const char *name = reservoir_section(c, s), key[] = "thermal_wavelength",
               *text = own->thermal_wavelength;
    if (!is_set(text))
        return own->chemical_potential.count
                   ? refuse(c, s, "chemical_potential",
                            "[%s] chemical_potential contains the de Broglie factor, so it needs "
                            "thermal_wavelength; without that factor it is mu = kT ln z",
                            name)
                   : 0;
    if (!by_mass(own) && !positive(text))
        return refuse(c, s, key, "[%s] %s = %s: is neither a length above 0 nor mass", name, key,
                      text);
    if (!by_mass(own)) return 0;
    if (!c->units.given)
        return refuse(c, s, key,
                      "[%s] %s = mass: Planck's constant is known with [units] only; give a "
                      "length instead",
                      name, key);
    if (!mass_is_given(c, s))
        return refuse(c, s, key, "[%s] %s = mass: `mass` must be given%s, in u", name, key,
                      s < c->species_count ? "" : " of all sites");
    return 0;
}

static int check_equation(const config *c, int32_t s, report *r)
{
    const keys all = keys_of(c, s), *own = &all;
    const char *name = reservoir_section(c, s), *phi = own->fugacity_coefficient,
               *missing = own->critical_temperature <= 0 ? "critical_temperature"
                          : own->critical_pressure <= 0  ? "critical_pressure"
                          : !own->acentric_factor.count  ? "acentric_factor"
                                                         : NULL,
               *given = own->critical_temperature > 0 ? "critical_temperature"
                        : own->critical_pressure > 0  ? "critical_pressure"
                        : own->acentric_factor.count  ? "acentric_factor"
                        : by_equation(own)            ? "fugacity_coefficient"
                                                      : NULL;
    if (is_set(phi) && !(own->pressure > 0))
        return refuse(c, s, "fugacity_coefficient",
                      "[%s] fugacity_coefficient belongs to pressure, which is not given", name);
    if (is_set(phi) && !by_equation(own) && !positive(phi))
        return refuse(c, s, "fugacity_coefficient",
                      "[%s] fugacity_coefficient = %s: is neither a number above 0 nor "
                      "peng_robinson",
                      name, phi);
    if (given && missing)
        return refuse(c, s, given, "[%s] the equation of Peng and Robinson also needs %s", name,
                      missing);
    if (given && c->box.dimension != 3)
        return refuse(c, s, given,
                      "[%s] the equation of Peng and Robinson is that of a fluid in three "
                      "dimensions",
                      name);
    return 0;
}

/* Keys that only say something of a reservoir. */
static int check_idle(const config *c, int32_t s, report *r)
{
    const keys all = keys_of(c, s), *own = &all;
    const char *idle = is_set(own->thermal_wavelength) ? "thermal_wavelength"
                       : own->critical_temperature > 0 ? "critical_temperature"
                                                       : NULL;
    if (!idle || reservoir_is_given(c, s)) return 0;
    return refuse(c, s, idle, "[%s] %s is of a reservoir, which none of %s gives",
                  reservoir_section(c, s), idle, ways);
}

int reservoir_check(const config *c, int32_t s, report *r)
{
    int code = check_ways(c, s, r);
    if (!code) code = check_ladder(c, s, r);
    if (!code) code = check_wavelength(c, s, r);
    if (!code) code = check_equation(c, s, r);
    return code ? code : check_idle(c, s, r);
}

/* ---- What they say ------------------------------------------------------------------------------------- */

/* Energy/length^D of the unit in which pressures stand in the file. */
static double pressure_unit(const config *c)
{
    return units_of_pressure(&c->units, (int)c->box.dimension);
}

/* T, P and f over those of the critical point. */
static double reduced_temperature(const config *c, const keys *s, double kT)
{
    return kT / (s->critical_temperature * c->units.kT);
}

static double reduced_pressure(const config *c, const keys *s, double pressure)
{
    return pressure / (s->critical_pressure * pressure_unit(c));
}

/* phi of the pressure that is given. */
static double coefficient_of(const config *c, const keys *s, double kT)
{
    if (!is_set(s->fugacity_coefficient)) return 1;
    if (!by_equation(s)) return positive(s->fugacity_coefficient);
    return exp(peng_robinson_at(reduced_temperature(c, s, kT),
                                reduced_pressure(c, s, s->pressure * pressure_unit(c)),
                                s->acentric_factor.values[0])
                   .ln_coefficient);
}

static double wavelength_of(const config *c, const keys *s, double kT)
{
    if (!is_set(s->thermal_wavelength)) return NAN;
    return by_mass(s) ? sqrt(c->units.of_wavelength / (s->mass * kT))
                      : positive(s->thermal_wavelength);
}

static double mu_of(const config *c, const keys *s, double kT, double wavelength)
{
    const double unit = pressure_unit(c);
    if (s->mu.count) return s->mu.values[0];
    if (s->activity > 0) return kT * log(s->activity);
    if (s->chemical_potential.count)
        return s->chemical_potential.values[0] - (double)c->box.dimension * kT * log(wavelength);
    if (s->fugacity > 0) return kT * log(s->fugacity * unit / kT);
    if (s->pressure > 0) return kT * log(coefficient_of(c, s, kT) * s->pressure * unit / kT);
    return NAN;
}

/* Pressure and density of the fluid in the reservoir, from one or the other. `replaced`: a ladder's mu holds instead
 * of what the section says. */
static void find_fluid(const config *c, const keys *s, double kT, bool replaced, reservoir *out)
{
    const bool given = s->pressure > 0 && !replaced;
    if (given) {
        out->pressure = s->pressure * pressure_unit(c);
        out->coefficient = coefficient_of(c, s, kT);
    }
    if (!has_critical_point(s)) return;
    const double t = reduced_temperature(c, s, kT), omega = s->acentric_factor.values[0],
                 unit = s->critical_pressure * pressure_unit(c);
    if (!given) {
        out->pressure = unit * peng_robinson_pressure(t, out->fugacity / unit, omega);
        out->coefficient = out->fugacity / out->pressure;
    }
    out->density =
        out->pressure / (kT * peng_robinson_at(t, out->pressure / unit, omega).compressibility);
}

reservoir reservoir_at(const config *c, int32_t s, double kT, double mu)
{
    const keys all = keys_of(c, s), *own = &all;
    reservoir out = {.wavelength = wavelength_of(c, own, kT),
                     .pressure = NAN,
                     .coefficient = NAN,
                     .density = NAN};
    out.mu = isnan(mu) ? mu_of(c, own, kT, out.wavelength) : mu;
    out.activity = exp(out.mu / kT);
    out.fugacity = kT * out.activity;
    out.with_factor = out.mu + (double)c->box.dimension * kT * log(out.wavelength);
    if (!isnan(out.mu)) find_fluid(c, own, kT, !isnan(mu), &out);
    return out;
}
