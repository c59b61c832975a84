/* See key_units.h. */
#include "key_units.h"

#include <stdlib.h>
#include <string.h>

static const ini_section *section_of(const ini_file *ini, const ini_entry *entry)
{
    for (int i = 0; i < ini->count; i++) {
        const ini_section *s = &ini->sections[i];
        if (entry >= s->entries && entry < s->entries + s->count) return s;
    }
    return NULL;
}

/* The unit as its table has it: of the core's keys, or of the plugin in this section. */
static const char *unit_in_tables(const session *session, const ini_section *section,
                                  const char *key)
{
    for (int i = 0; i < section_kind_count; i++) {
        const section_kind *kind = &section_kinds[i];
        for (int k = 0; !strcmp(kind->name, section->kind) && k < *kind->count; k++)
            if (!strcmp(kind->table[k].name, key)) return kind->table[k].unit;
    }
    for (int i = 0; i < session->engine.instance_count; i++) {
        const plugmc_plugin *plugin = session->engine.instances[i].plugin;
        if (session->engine.instances[i].section->section != section || !plugin) continue;
        for (int32_t k = 0; k < plugin->parameter_count; k++)
            if (!strcmp(plugmc_parameter_at(plugin, k)->name, key))
                return plugmc_parameter_at(plugin, k)->unit;
    }
    return "";
}

/* Temperatures and pressures come in as [units] says, not in units of energy. */
static const char *unit_of_input(const units *u, int dimension, const ini_section *section,
                                 const char *key)
{
    static const char *const temperatures[] = {"temperature", "critical_temperature"},
                             *const pressures[] = {"pressure", "fugacity", "critical_pressure"};
    if (!u->given || (strcmp(section->kind, "run") && strcmp(section->kind, "species") &&
                      strcmp(section->kind, "molecule")))
        return NULL;
    for (int i = 0; i < PLUGMC_COUNT(temperatures); i++)
        if (!strcmp(key, temperatures[i])) return u->kelvin;
    for (int i = 0; i < PLUGMC_COUNT(pressures) && dimension == 3; i++)
        if (!strcmp(key, pressures[i])) return u->pressure;
    return NULL;
}

/* "length^-D" with the dimension of the box for D. */
static char *with_dimension(const char *unit, int dimension)
{
    char *text = checked(strdup(unit));
    for (char *at = text; (at = strchr(at, '^')); at++) {
        char *power = at + 1 + (at[1] == '-');
        if (*power == 'D') *power = (char)('0' + dimension);
    }
    return text;
}

char *key_unit(const session *session, const char *key)
{
    const ini_file *ini = &session->engine.config.ini;
    const int dimension = session->engine.system.box.dimension;
    const ini_entry *entry = ini_at(ini, key);
    const ini_section *section = entry ? section_of(ini, entry) : NULL;
    if (!section) return checked(strdup(""));
    const char *own = unit_of_input(&session->engine.config.units, dimension, section, entry->key);
    if (own) return checked(strdup(own));
    char *told = with_dimension(unit_in_tables(session, section, entry->key), dimension);
    double scale;
    char *unit = units_words(&session->engine.config.units, told, 0,
                             session->engine.system.temperature, &scale);
    free(told);
    return unit;
}
