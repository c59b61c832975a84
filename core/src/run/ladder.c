#include "run/ladder.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/initial.h"

/* Which multiplier a ladder varies. */
enum { TEMPERATURE = -1, PRESSURE = -2, UNKNOWN = -3, OF_SPECIES = -4 };
/* else: coupling of the term; OF_SPECIES - s: mu of species s */

static const plugin_section *section_of(const config *config, const char *label)
{
    for (int i = 0; i < config->plugin_count; i++)
        if (config->plugins[i].kind == PLUGMC_POTENTIAL &&
            !strcmp(config->plugins[i].section->label, label))
            return &config->plugins[i];
    return NULL;
}

/* Whether a key is "NAME" with this tail. */
static bool is_key_of(const char *key, const char *name, const char *tail)
{
    const size_t length = strlen(name);
    return !strncmp(key, name, length) && !strcmp(key + length, tail);
}

/* What "run.temperature", "run.pressure", "SPECIES.mu" or "LABEL.coupling" is. */
static int find_key(const plugmc_system *system, const char *key)
{
    if (!strcmp(key, "run.temperature")) return TEMPERATURE;
    if (!strcmp(key, "run.pressure")) return PRESSURE;
    for (int32_t s = 0; s < system->species_count; s++)
        if (is_key_of(key, plugmc_species_at(system, s)->name, ".mu")) return OF_SPECIES - s;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        if (term->sampled && is_key_of(key, term->label, ".coupling")) return t;
    }
    return UNKNOWN;
}

static int refuse(const config *config, report *r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int refuse(const config *config, report *r, const char *format, ...)
{
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    const ini_section *s = ini_find(&config->ini, "ladder");
    if (!s) s = ini_find(&config->ini, "run");
    return report_error(r, EXIT_INPUT, ini_source(&config->ini, s), s->line, "%s", why);
}

/* The values of the ladder, from [ladder] or from a temperature for each walker. */
static int take_values(ladder *l, const config *config, const plugmc_system *system,
                       int32_t walkers, report *r)
{
    const plugmc_list *list = &config->ladder.values, *t = &config->run.temperature;
    l->varies = config->ladder.vary;
    if (l->varies && *l->varies) {
        if (t->count > 1)
            return refuse(config, r,
                          "[ladder] and %d values of [run] temperature cannot be together",
                          t->count);
        if (find_key(system, l->varies) == UNKNOWN)
            return refuse(config, r,
                          "[ladder] vary = %s: possible are run.temperature, run.pressure, "
                          "SPECIES.mu and LABEL.coupling of a sampled potential",
                          l->varies);
    } else if (t->count > 1) {
        l->varies = "run.temperature";
        list = t;
    } else {
        l->varies = NULL;
        return 0;
    }
    l->rungs = list->count;
    if (l->rungs < 2 || walkers % l->rungs)
        return refuse(config, r,
                      "%s has %d values, and there are %d walkers: each value needs as many "
                      "walkers",
                      list == t ? "[run] temperature" : "[ladder]", l->rungs, walkers);
    l->values = checked(calloc((size_t)l->rungs, sizeof(double)));
    memcpy(l->values, list->values, (size_t)l->rungs * sizeof(double));
    return 0;
}

/* -ln of the activities of all species, 0 of those that have none: m [species]. */
static int fill_species(const ladder *l, const config *config, plugmc_system *system, int32_t rung,
                        int key, double *m, report *r)
{
    for (int32_t s = 0; s < system->species_count; s++) {
        const species_section *from = &config->species[s];
        plugmc_species *species = (plugmc_species *)plugmc_species_at(system, s);
        const double kT = l->temperature[rung];
        double mu = from->mu.count ? from->mu.values[0] : NAN;
        if (from->mu.count > 1 || (from->mu.count && from->activity > 0))
            return report_error(r, EXIT_INPUT, config->ini.path, line_of_species(config, s, "mu"),
                                "[species %s] takes one mu or an activity", species->name);
        if (from->activity > 0) mu = kT * log(from->activity);
        if (key == OF_SPECIES - s) mu = l->values[rung];
        m[s] = isnan(mu) ? 0 : -mu / kT;
        if (rung == 0) species->mu = mu;
    }
    return 0;
}

static bool system_has_waves(const plugmc_system *system)
{
    bool waves = false;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        waves |= term->sampled && term->plugin->potential->orbitals;
    }
    return waves;
}

/* One kelvin is nobody's temperature, so it has to be given; |Psi|^2 has none. */
static int check_units(const config *config, const plugmc_system *system, report *r)
{
    const units *u = &config->units;
    const ini_section *run = ini_find(&config->ini, "run");
    const bool waves = system_has_waves(system);
    const bool varies = config->ladder.vary && !strcmp(config->ladder.vary, "run.temperature");
    if (waves && u->given && !u->atomic)
        return refuse(
            config, r,
            "[units] of wave functions are length = bohr and energy = hartree, not %s and %s",
            u->length, u->energy);
    if (!waves && u->given && !varies && run && !ini_get(run, "temperature"))
        return refuse(config, r,
                      "with [units] a temperature must be given: [run] temperature, in %s",
                      u->kelvin ? u->kelvin : u->energy);
    return 0;
}

/* What one rung has. */
static int fill_rung(ladder *l, const config *config, plugmc_system *system, int32_t rung,
                     report *r)
{
    const int key = l->varies ? find_key(system, l->varies) : UNKNOWN;
    double *m = &l->multipliers[rung * l->width], kT = config->run.temperature.values[0],
           pressure = config->run.pressure;
    const units *u = &config->units;
    if (key == TEMPERATURE) kT = l->values[rung];
    if (key == PRESSURE) pressure = l->values[rung];
    if (!system_has_waves(system)) kT *= u->kT;
    pressure *= u->of_pressure;
    if (!(kT > 0) || !isfinite(kT))
        return refuse(config, r, "a temperature of %g is not possible", kT);
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        double coupling = section_of(config, term->label)->coupling;
        if (key == t) coupling = l->values[rung];
        m[t] = term->sampled ? coupling / kT : 0;
        if (term->sampled && term->plugin->potential->orbitals && m[t] != 1)
            return refuse(config, r,
                          "potential '%s' is a wave function, which takes no temperature or "
                          "coupling but 1",
                          term->label);
    }
    m[system->term_count] = pressure / kT;
    l->temperature[rung] = kT;
    return fill_species(l, config, system, rung, key, &m[system->term_count + 1], r);
}

/* Whether sampled terms count by other factors than one temperature. */
static bool is_weighted(const ladder *l, const plugmc_system *system)
{
    for (int32_t k = 0; k < l->rungs; k++)
        for (int32_t t = 0; t < system->term_count; t++)
            if (plugmc_term_at(system, t)->sampled &&
                l->multipliers[k * l->width + t] != 1 / system->temperature)
                return true;
    return false;
}

int ladder_build(ladder *l, const config *config, int32_t walkers, plugmc_system *system, report *r)
{
    *l = (ladder){.rungs = 1, .width = system->term_count + 1 + system->species_count};
    if (config->run.temperature.count < 1)
        return refuse(config, r, "[run] temperature has no value");
    int code = check_units(config, system, r);
    if (!code) code = take_values(l, config, system, walkers, r);
    if (code) return code;
    l->multipliers = checked(calloc((size_t)(l->rungs * l->width), sizeof(double)));
    l->temperature = checked(calloc((size_t)l->rungs, sizeof(double)));
    for (int32_t k = 0; k < l->rungs && !code; k++) code = fill_rung(l, config, system, k, r);
    system->rungs = l->rungs;
    system->multipliers = l->width;
    system->temperature = l->temperature[0];
    for (int32_t k = 1; k < l->rungs; k++)
        if (l->temperature[k] != l->temperature[0]) system->temperature = NAN;
    system->weighted = is_weighted(l, system);
    system->temperatures = l->temperature;
    system->of_rungs = l->multipliers;
    return code;
}

void ladder_free(ladder *l)
{
    free(l->values), free(l->multipliers), free(l->temperature);
    *l = (ladder){0};
}

const char *ladder_suffix(const ladder *l, int32_t rung, char text[40])
{
    text[0] = 0;
    if (l->rungs > 1) snprintf(text, 40, "@%g", l->values[rung]);
    return text;
}
