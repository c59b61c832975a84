#include "engine/ladder.h"
#include "input/reservoir.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which multiplier a ladder varies. */
enum { TEMPERATURE = -1, PRESSURE = -2, UNKNOWN = -3, OF_SPECIES = -4 };
/* else: coupling of the term; OF_SPECIES - s: mu of species s, or of the molecules number s - species_count */

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
    for (int32_t k = 0; system->molecules && k < system->molecules->kinds; k++)
        if (is_key_of(key, plugmc_kind_of_molecule(system->molecules, k)->name, ".mu"))
            return OF_SPECIES - system->species_count - k;
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

const char *ladder_where(int count, const char *const *keys, const double *values,
                         char words[LADDER_WHERE])
{
    int used = 0;
    words[0] = 0;
    for (int k = 0; k < count && used < LADDER_WHERE; k++)
        used += snprintf(words + used, LADDER_WHERE - (size_t)used, "%s%s = %.9g",
                         k ? " and " : " where ", keys[k], values[k]);
    return words;
}

const char *ladder_key_refused(const plugmc_system *system, const char *key)
{
    return find_key(system, key) != UNKNOWN
               ? NULL
               : "possible keys are run.temperature, run.pressure, SPECIES.mu and "
                 "LABEL.coupling of a sampled potential";
}

/* One variable of a ladder. */
static int check_key(const config *config, const plugmc_system *system, const char *name,
                     const char *key, report *r)
{
    const char *why = ladder_key_refused(system, key);
    return why ? refuse(config, r, "[ladder] %s = %s: %s", name, key, why) : 0;
}

static int check_walkers(const ladder *l, const config *config, int32_t walkers, const char *whose,
                         report *r)
{
    if (l->rungs >= 2 && walkers % l->rungs == 0) return 0;
    return refuse(config, r,
                  "%s has %d values for %d walkers: each value needs the same number of "
                  "walkers",
                  whose, l->rungs, walkers);
}

/* All pairs of the values of two variables. */
static int take_second(ladder *l, const config *config, const plugmc_system *system, report *r)
{
    const ladder_section *from = &config->ladder;
    const bool given = from->vary_2 && *from->vary_2;
    if (given != (from->values_2.count > 0))
        return refuse(config, r, "[ladder] vary_2 and values_2 must be given together");
    if (!given) return 0;
    const int code = check_key(config, system, "vary_2", from->vary_2, r);
    if (code) return code;
    if (!strcmp(from->vary, from->vary_2))
        return refuse(config, r, "[ladder] vary and vary_2 are both %s", from->vary);
    l->keys[1] = from->vary_2;
    l->shape[1] = from->values_2.count;
    l->rank = 2;
    return 0;
}

/* The values of the ladder, from [ladder] or from a temperature for each walker. */
static int take_values(ladder *l, const config *config, const plugmc_system *system,
                       int32_t walkers, report *r)
{
    const plugmc_list *list = &config->ladder.values, *t = &config->run.temperature;
    const char *vary = config->ladder.vary;
    int code = 0;
    if (vary && *vary) {
        if (t->count > 1)
            return refuse(config, r,
                          "[ladder] and %d values of [run] temperature exclude each other",
                          t->count);
        code = check_key(config, system, "vary", vary, r);
    } else if (t->count > 1) {
        vary = "run.temperature";
        list = t;
    } else {
        return 0;
    }
    l->keys[0] = vary;
    l->rank = 1;
    l->shape[0] = list->count;
    l->shape[1] = 1;
    if (!code && list != t) code = take_second(l, config, system, r);
    if (code) return code;
    l->rungs = l->shape[0] * l->shape[1];
    code = check_walkers(l, config, walkers, list == t ? "[run] temperature" : "[ladder]", r);
    if (code) return code;
    l->values = checked(calloc((size_t)(l->rungs * l->rank), sizeof(double)));
    for (int32_t k = 0; k < l->rungs; k++) {
        l->values[k * l->rank] = list->values[k / l->shape[1]];
        if (l->rank > 1)
            l->values[k * l->rank + 1] = config->ladder.values_2.values[k % l->shape[1]];
    }
    return 0;
}

/* ---- Multipliers ------------------------------------------------------------------------------------ */

/* Where keys have other values than in the configuration. */
typedef struct point {
    const config *config;
    const plugmc_system *system;
    int count;
    const char *const *keys;
    const double *values;
} point;

/* The value of what a key stands for (find_key), or what it is otherwise. */
static double value_at(const point *p, int what, double otherwise)
{
    for (int k = 0; k < p->count; k++)
        if (find_key(p->system, p->keys[k]) == what) return p->values[k];
    return otherwise;
}

/* NaN: none is given. `s`: as for reservoir_at. */
static double mu_of(const point *p, int32_t s, double kT)
{
    return reservoir_at(p->config, s, kT, value_at(p, OF_SPECIES - s, NAN)).mu;
}

static const char too_small[] = "is too small for double precision";

/* Its line is that of the key of the section, or [ladder] where only that says what the activity is. */
static int refuse_activity(const point *p, int32_t owner, const char *why, report *r)
{
    char where[LADDER_WHERE];
    const char *key = reservoir_key(p->config, owner);
    ladder_where(p->count, p->keys, p->values, where);
    if (!key || !isnan(value_at(p, OF_SPECIES - owner, NAN)))
        return refuse(p->config, r, "the activity of [%s] %s%s",
                      reservoir_section(p->config, owner), why, where);
    return report_error(r, EXIT_INPUT, p->config->ini.path, reservoir_line(p->config, owner, key),
                        "[%s] the activity that follows from %s %s%s",
                        reservoir_section(p->config, owner), key, why, where);
}

/* -ln of an activity, 0 if there is none. */
static int find_multiplier(const point *p, int32_t owner, double kT, double *m, report *r)
{
    const bool given =
        reservoir_key(p->config, owner) || !isnan(value_at(p, OF_SPECIES - owner, NAN));
    const int code = reservoir_check(p->config, owner, r);
    *m = 0;
    if (code || !given) return code;
    *m = -mu_of(p, owner, kT) / kT;
    if (isfinite(*m)) return 0;
    return refuse_activity(p, owner, *m > 0 ? too_small : "is not finite", r);
}

/* A run fills its box by activities, of which mu, in units of kT, is but the logarithm. */
static int check_activity(const point *p, int32_t owner, double kT, report *r)
{
    const double mu = mu_of(p, owner, kT), activity = exp(mu / kT);
    if (isnan(mu) || (activity > 0 && isfinite(activity))) return 0;
    return refuse_activity(p, owner, activity > 0 ? "is not finite" : too_small, r);
}

/* Of all species: m [species]. That of a molecule is shared by its sites of the species of the first one. */
static int fill_species(const point *p, double kT, double *m, report *r)
{
    const plugmc_molecules *all = p->system->molecules;
    const int32_t species = p->system->species_count;
    int code = 0;
    for (int32_t s = 0; s < species && !code; s++) code = find_multiplier(p, s, kT, &m[s], r);
    for (int32_t k = 0; all && k < all->kinds && !code; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(all, k);
        double whole;
        code = find_multiplier(p, species + k, kT, &whole, r);
        if (!code && kind->changes) m[kind->species[0]] = whole / (double)kind->stride[0];
    }
    return code;
}

static bool system_has_waves(const plugmc_system *system)
{
    bool waves = false;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        waves |= term->sampled && plugmc_orbitals_of(term->plugin);
    }
    return waves;
}

/* One kelvin is nobody's temperature, so it has to be given; |Psi|^2 has none. */
static int check_units(const config *config, const plugmc_system *system, report *r)
{
    const units *u = &config->units;
    const ini_section *run = ini_find(&config->ini, "run");
    const bool waves = system_has_waves(system);
    const ladder_section *l = &config->ladder;
    const bool varies = (l->vary && !strcmp(l->vary, "run.temperature")) ||
                        (l->vary_2 && !strcmp(l->vary_2, "run.temperature"));
    if (waves && u->given && !u->atomic)
        return refuse(
            config, r,
            "[units] for wave functions must be length = bohr and energy = hartree, not %s "
            "and %s",
            u->length, u->energy);
    if (!waves && u->given && !varies && run && !ini_get(run, "temperature"))
        return refuse(config, r,
                      "with [units] a temperature must be given: [run] temperature, in %s",
                      u->kelvin ? u->kelvin : u->energy);
    return 0;
}

int ladder_multipliers(const config *config, const plugmc_system *system, int count,
                       const char *const *keys, const double *values, double *m, double *of_kT,
                       report *r)
{
    const point p = {config, system, count, keys, values};
    const units *u = &config->units;
    double kT = value_at(&p, TEMPERATURE, config->run.temperature.values[0]);
    const double pressure =
        value_at(&p, PRESSURE, config->run.pressure) * units_of_pressure(u, system->box.dimension);
    if (!system_has_waves(system)) kT *= u->kT;
    *of_kT = kT;
    if (!(kT > 0) || !isfinite(kT))
        return refuse(config, r, "a temperature of %g is not possible", kT);
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const double coupling = value_at(&p, t, section_of(config, term->label)->coupling);
        m[t] = term->sampled ? coupling / kT : 0;
        if (term->sampled && plugmc_orbitals_of(term->plugin) && m[t] != 1)
            return refuse(config, r,
                          "potential '%s' is a wave function: its temperature and coupling "
                          "must be 1",
                          term->label);
    }
    m[system->term_count] = pressure / kT;
    return fill_species(&p, kT, &m[system->term_count + 1], r);
}

static int fill_rung(ladder *l, const config *config, plugmc_system *system, int32_t rung,
                     report *r)
{
    const double *values = l->values ? &l->values[rung * l->rank] : NULL;
    double *kT = &l->temperature[rung];
    const point p = {config, system, l->rank, l->keys, values};
    int code = ladder_multipliers(config, system, l->rank, l->keys, values,
                                  &l->multipliers[rung * l->width], kT, r);
    for (int32_t s = 0; s < reservoir_owners(config) && !code; s++)
        code = check_activity(&p, s, *kT, r);
    for (int32_t s = 0; s < system->species_count && rung == 0 && !code; s++)
        ((plugmc_species *)plugmc_species_at(system, s))->mu = mu_of(&p, s, *kT);
    for (int32_t k = 0; system->molecules && k < system->molecules->kinds && rung == 0 && !code;
         k++)
        ((plugmc_molecule *)plugmc_kind_of_molecule(system->molecules, k))->mu =
            mu_of(&p, system->species_count + k, *kT);
    return code;
}

/* ---- Names of rungs --------------------------------------------------------------------------------- */

static double value_of_variable(const ladder *l, int d, int32_t index)
{
    return l->values[(d ? index : index * l->shape[1]) * l->rank + d];
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Whether different values of a sorted list are different texts. */
static bool are_told_apart(const double *sorted, int32_t count, int digits)
{
    char text[2][32];
    for (int32_t k = 1; k < count; k++) {
        if (sorted[k] == sorted[k - 1]) continue;
        for (int i = 0; i < 2; i++)
            snprintf(text[i], sizeof text[i], "%.*g", digits, sorted[k - 1 + i]);
        if (!strcmp(text[0], text[1])) return false;
    }
    return true;
}

/* Six digits, or as many as tell the values of a variable apart. */
static int digits_of_names(const ladder *l, int d)
{
    const int32_t count = l->shape[d];
    double *sorted = checked(malloc(((size_t)count + 1) * sizeof *sorted));
    int digits = 6;
    for (int32_t k = 0; k < count; k++) sorted[k] = value_of_variable(l, d, k);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    while (digits < 17 && !are_told_apart(sorted, count, digits)) digits++;
    free(sorted);
    return digits;
}

/* How many rungs of the same value a variable has up to this one. */
static int place_among_equals(const ladder *l, int d, int32_t index)
{
    int place = 0;
    for (int32_t k = 0; k <= index; k++)
        place += value_of_variable(l, d, k) == value_of_variable(l, d, index);
    return place;
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
    system->ladder_rank = l->rank;
    for (int d = 0; d < l->rank; d++) system->ladder_shape[d] = l->shape[d];
    l->multipliers = checked(calloc((size_t)(l->rungs * l->width), sizeof(double)));
    l->temperature = checked(calloc((size_t)l->rungs, sizeof(double)));
    for (int32_t k = 0; k < l->rungs && !code; k++) code = fill_rung(l, config, system, k, r);
    for (int d = 0; d < l->rank; d++) l->digits[d] = digits_of_names(l, d);
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

const char *ladder_suffix(const ladder *l, int32_t rung, char text[LADDER_SUFFIX])
{
    char *end = text;
    *end = 0;
    for (int d = 0; d < l->rank; d++) {
        const int32_t index = d ? rung % l->shape[1] : rung / l->shape[1];
        const int place = place_among_equals(l, d, index);
        end += sprintf(end, "@%.*g", l->digits[d], value_of_variable(l, d, index));
        if (place > 1) end += sprintf(end, "#%d", place);
    }
    return text;
}
