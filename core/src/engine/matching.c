/* Which movers can work with which potentials, and with each other. */
#include "engine/matching.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "engine/fitting.h"
#include "input/reservoir.h"
#include "parallel/team.h"
#include "system/system.h"

/* Of a mover: where its section is, and its name. */
typedef struct place {
    const char *file;
    int line;
    const char *name;
} place;

/* One mover and one term that is sampled. */
static int match_term(const engine *engine, const place *at, uint32_t needs,
                      const plugmc_term *term)
{
    char words[MISFIT], use[256];
    if (!misfit_of_term(engine, needs, term, words)) return 0;
    return report_error(engine->report, EXIT_INPUT, at->file, at->line, "mover '%s' %s%s", at->name,
                        words, movers_for(engine, use));
}

static int match_box(const engine *engine, const place *at, uint32_t needs)
{
    const char *why = misfit_of_box(engine, needs);
    return why ? report_error(engine->report, EXIT_INPUT, at->file, at->line, "mover '%s' %s",
                              at->name, why)
               : 0;
}

/* What other movers change, a mover must be able to follow. */
static int match_others(const engine *engine, const place *at, const mover_slot *m)
{
    int first_error = 0;
    for (int k = 0; k < engine->mover_count; k++) {
        const mover_slot *other = &engine->movers[k];
        char words[MISFIT];
        if (other == m || !misfit_with(engine, m->mover, other, words)) continue;
        const int code = report_error(engine->report, EXIT_INPUT, at->file, at->line,
                                      "mover '%s' %s", at->name, words);
        if (!first_error) first_error = code;
    }
    return first_error;
}

static int match_ladder(const engine *engine, const place *at, const mover_slot *m)
{
    char words[MISFIT];
    if (!misfit_of_ladder(engine, m->mover, words)) return 0;
    return report_error(engine->report, EXIT_INPUT, at->file, at->line, "mover '%s' %s", at->name,
                        words);
}

static int match_molecules_of_mover(const engine *engine, const place *at, const mover_slot *m)
{
    char words[MISFIT], use[256];
    if (!misfit_of_molecules(engine, m->mover, words)) return 0;
    return report_error(engine->report, EXIT_INPUT, at->file, at->line, "mover '%s' %s%s", at->name,
                        words, displaces(m->mover) ? movers_for(engine, use) : "");
}

static int match_mover(const engine *engine, const mover_slot *m)
{
    const ini_section *section = m->instance->section->section;
    const place at = {ini_source(&engine->config.ini, section), section->line,
                      m->instance->loaded.name};
    const uint32_t needs = needs_of(m->mover);
    int first_error = 0;
    for (int t = 0; t < engine->system.term_count; t++) {
        const int code =
            engine->terms[t].sampled ? match_term(engine, &at, needs, &engine->terms[t]) : 0;
        if (!first_error) first_error = code;
    }
    int code = match_box(engine, &at, needs);
    if (!first_error) first_error = code;
    code = match_molecules_of_mover(engine, &at, m);
    if (!first_error) first_error = code;
    code = match_others(engine, &at, m);
    if (!first_error) first_error = code;
    code = match_ladder(engine, &at, m);
    return first_error ? first_error : code;
}

/* The first mover that changes one of these; NULL: none. */
static const mover_slot *who_changes(const engine *engine, uint32_t what)
{
    for (int k = 0; k < engine->mover_count; k++)
        if (engine->movers[k].mover->changes & what) return &engine->movers[k];
    return NULL;
}

/* What of these changes a potential or an observable follows. Energies of pairs and fields follow all;
 * where particles come and go, a total may depend on counts alone. */
static uint32_t followed(const plugmc_plugin *p)
{
    const plugmc_total *total = p->potential ? p->potential->total : NULL;
    if (p->kind == PLUGMC_MOVER) return ~0u;
    if (p->observable) return PLUGMC_HAS(p->observable, follows) ? p->observable->follows : 0;
    if (plugmc_orbitals_of(p)) return PLUGMC_CHANGED_WEIGHT | PLUGMC_CHANGED_WALKER_WEIGHT;
    if (!total) return ~0u;
    const uint32_t follows = (PLUGMC_HAS(total, follows) ? total->follows : 0) |
                             PLUGMC_CHANGED_WEIGHT | PLUGMC_CHANGED_WALKER_WEIGHT;
    const bool counts =
        plugmc_follows_positions(total)
            ? !total->change || (PLUGMC_HAS(total, insert_remove) && total->insert_remove)
            : PLUGMC_HAS(total, of_counts) && total->of_counts;
    return counts ? follows : follows & ~(uint32_t)PLUGMC_CHANGED_COUNT;
}

/* Observables that take particles for points, or for spheres. */
static int match_bodies(const engine *engine)
{
    int first_error = 0;
    for (int i = 0; i < engine->instance_count && any_bodies(&engine->system); i++) {
        const instance *instance = &engine->instances[i];
        if (!instance->plugin->observable ||
            followed(instance->plugin) & PLUGMC_CHANGED_ORIENTATION)
            continue;
        const int code =
            report_error(engine->report, EXIT_INPUT, instance->context.file, instance->context.line,
                         "[%s] does not support particles with orientations, as bodies are",
                         instance->section->section->name);
        if (!first_error) first_error = code;
    }
    return first_error;
}

/* Observables and many-body terms that count pairs within molecules. */
static int match_molecules(const engine *engine)
{
    int first_error = 0;
    for (int i = 0; i < engine->instance_count && engine->system.molecules; i++) {
        const instance *instance = &engine->instances[i];
        if (followed(instance->plugin) & PLUGMC_CHANGED_MOLECULE &&
            !plugmc_body_of(instance->plugin))
            continue;
        const int code =
            report_error(engine->report, EXIT_INPUT, instance->context.file, instance->context.line,
                         "[%s] does not support rigid molecules, such as those of [molecule %s]",
                         instance->section->section->name,
                         plugmc_kind_of_molecule(engine->system.molecules, 0)->name);
        if (!first_error) first_error = code;
    }
    return first_error;
}

/* Potentials and observables that take the box, or the numbers of particles, as at the start. */
static int match_changes(const engine *engine)
{
    static const struct {
        uint32_t what;
        const char *words;
    } kinds[] = {
        {PLUGMC_CHANGED_BOX, "needs a fixed box, but mover '%s' changes it"},
        {PLUGMC_CHANGED_COUNT, "needs a fixed number of particles, but mover '%s' changes it"},
        {PLUGMC_CHANGED_WEIGHT,
         "would average over the biased ensemble of mover '%s', not over that of -ln p"},
        {PLUGMC_CHANGED_WALKER_WEIGHT,
         "does not support weighted averages, but mover '%s' gives walkers weights"}};
    int first_error = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const mover_slot *changing = who_changes(engine, kinds[k].what);
        for (int i = 0; i < engine->instance_count && changing; i++) {
            const instance *instance = &engine->instances[i];
            char words[256];
            if (followed(instance->plugin) & kinds[k].what) continue;
            snprintf(words, sizeof words, kinds[k].words, changing->instance->loaded.name);
            const int code = report_error(engine->report, EXIT_INPUT, instance->context.file,
                                          instance->context.line, "[%s] %s",
                                          instance->section->section->name, words);
            if (!first_error) first_error = code;
        }
    }
    return first_error;
}

/* Room for more particles than a run begins with, and a reservoir, are for runs in which some come. */
static int match_room(const engine *engine)
{
    const config *config = &engine->config;
    if (who_changes(engine, PLUGMC_CHANGED_COUNT)) return 0;
    for (int32_t s = 0; s < engine->system.species_count; s++) {
        const plugmc_species *species = plugmc_species_at(&engine->system, s);
        const char *key =
            config->species[s].max_count > species->count ? "max_count" : reservoir_key(config, s);
        if (key)
            return report_error(engine->report, EXIT_INPUT, config->ini.path,
                                config_line_of_species(config, s, key),
                                "[species %s] %s: no mover of the run changes the number of %s",
                                species->name, key, species->name);
    }
    for (int32_t k = 0; k < config->molecule_count; k++) {
        const molecule_section *in = &config->molecules[k];
        const char *key = in->max_count > in->count
                              ? "max_count"
                              : reservoir_key(config, config->species_count + k);
        if (key)
            return report_error(engine->report, EXIT_INPUT, config->ini.path,
                                config_line_of_molecule(config, k, key),
                                "[molecule %s] %s: no mover of the run changes the number of %s",
                                config->molecule_names[k], key, config->molecule_names[k]);
    }
    return 0;
}

/* Whether a hard core between this species and itself depends on its diameter. */
static bool needs_diameter(const engine *engine, const plugmc_term *term, int32_t s)
{
    const plugmc_pair *pair = term->sampled ? term->plugin->potential->pair : NULL;
    const plugmc_species *species = plugmc_species_at(&engine->system, s);
    double contact[2] = {0, 0};
    for (int k = 0; pair && k < 2; k++) {
        const plugmc_particle p = {
            .charge = species->charge, .diameter = (k + 1) * species->diameter, .species = s};
        const crash_record outer = crash_calling_potential(term->label, "contact");
        contact[k] = pair->contact(term->instance, &p, &p);
        crash_called_within(outer);
    }
    return contact[0] != contact[1];
}

static const ini_section *section_of_species(const ini_file *ini, int32_t s)
{
    for (int i = 0; i < ini->count; i++)
        if (!strcmp(ini->sections[i].kind, "species") && s-- == 0) return &ini->sections[i];
    return NULL;
}

/* One angstrom is nobody's diameter; without units it is the unit. */
static int match_diameters(const engine *engine)
{
    const config *config = &engine->config;
    for (int32_t s = 0; s < engine->system.species_count && config->units.given; s++) {
        const ini_section *section = section_of_species(&config->ini, s);
        for (int32_t t = 0;
             t < engine->system.term_count && section && !ini_get(section, "diameter"); t++)
            if (needs_diameter(engine, &engine->terms[t], s))
                return report_error(engine->report, EXIT_INPUT, ini_source(&config->ini, section),
                                    section->line,
                                    "[%s] with [units] the diameter must be given, in %s: "
                                    "potential '%s' uses it as a hard core",
                                    section->name, config->units.length, engine->terms[t].label);
    }
    return 0;
}

/* A length of 1 is the unit where there are no units, and nobody's else: that of a potential has to be given. */
static int match_lengths(const engine *engine)
{
    for (int i = 0; i < engine->instance_count && engine->config.units.given; i++) {
        const instance *instance = &engine->instances[i];
        const plugmc_plugin *plugin = instance->plugin;
        for (int32_t k = 0; k < plugin->parameter_count && plugin->kind == PLUGMC_POTENTIAL; k++) {
            const plugmc_parameter *p = plugmc_parameter_at(plugin, k);
            if (p->derived || !p->fallback || strcmp(p->unit, "length") ||
                strtod(p->fallback, NULL) == 0 || ini_get(instance->section->section, p->name))
                continue;
            return report_error(engine->report, EXIT_INPUT, instance->context.file,
                                instance->context.line, "[%s] with [units] %s must be given, in %s",
                                instance->context.section, p->name, engine->config.units.length);
        }
    }
    return 0;
}

int match(const engine *engine)
{
    int first_error = match_changes(engine), code = match_room(engine);
    if (!first_error) first_error = code;
    code = match_bodies(engine);
    if (!first_error) first_error = code;
    code = match_molecules(engine);
    if (!first_error) first_error = code;
    code = match_diameters(engine);
    if (!first_error) first_error = code;
    code = match_lengths(engine);
    if (!first_error) first_error = code;
    for (int k = 0; k < engine->mover_count; k++) {
        code = match_mover(engine, &engine->movers[k]);
        if (!first_error) first_error = code;
    }
    return first_error;
}

static bool has_pressure(const engine *engine)
{
    const config *config = &engine->config;
    const ladder_section *ladder = &config->ladder;
    const ini_section *run = ini_find(&config->ini, "run");
    const plugmc_macrostates *weighed = engine->weighing ? engine->macrostates : NULL;
    return (run && ini_get(run, "pressure")) || (weighed && weighed->of_volume != 0) ||
           (ladder->vary && !strcmp(ladder->vary, "run.pressure")) ||
           (ladder->vary_2 && !strcmp(ladder->vary_2, "run.pressure"));
}

/* At a pressure of 0 that nobody has meant a box grows for ever. */
static int match_pressure(const engine *engine)
{
    for (int k = 0; k < engine->mover_count; k++) {
        const plugmc_context *at = &engine->movers[k].instance->context;
        if (engine->movers[k].takes_volume && !has_pressure(engine))
            return report_error(engine->report, EXIT_INPUT, at->file, at->line,
                                "[%s] changes the volume, so [run] pressure must be given: "
                                "at pressure 0 the box would expand without limit",
                                at->section);
    }
    return 0;
}

/* "SPECIES.mu", of any species or kind of molecule. */
static bool is_mu(const engine *engine, const char *key, int32_t *species)
{
    for (int32_t s = 0; s < reservoir_owners(&engine->config); s++) {
        const char *name = reservoir_name(&engine->config, s);
        const size_t length = strlen(name);
        if (strncmp(key, name, length) || strcmp(key + length, ".mu")) continue;
        *species = s;
        return true;
    }
    return false;
}

/* Whether all that a term knows of energies is that overlaps are forbidden, with any coupling. */
static bool is_hard_alone(const plugmc_plugin *plugin)
{
    const plugmc_potential *p = plugin->potential;
    const plugmc_body *body = plugmc_body_of(plugin);
    const bool hard_pair = p->pair && p->pair->functions == PLUGMC_PAIR_CONTACT,
               hard_body = body && body->functions & PLUGMC_BODY_OVERLAP &&
                           !(body->functions & PLUGMC_BODY_ENERGY);
    return (hard_pair || hard_body) && (!p->pair || hard_pair) && (!body || hard_body) &&
           !p->field && !p->total;
}

static void warn_of_hard_couplings(const engine *engine, const ini_section *section,
                                   const char *name, const char *key)
{
    const ini_entry *entry = ini_get(section, name);
    for (int t = 0; t < engine->system.term_count; t++) {
        const char *label = engine->terms[t].label;
        const size_t length = strlen(label);
        if (!is_hard_alone(engine->terms[t].plugin) || strncmp(key, label, length) ||
            strcmp(key + length, ".coupling"))
            continue;
        report_warning(engine->report, ini_source(&engine->config.ini, section),
                       entry ? entry->line : section->line,
                       "[ladder] %s = %s: hard particles must not overlap whatever the coupling "
                       "is, so it makes no difference",
                       name, key);
    }
}

/* Rungs that differ in what nobody in the run looks at are one and the same. */
static int match_rungs(const engine *engine)
{
    const ini_section *section = ini_find(&engine->config.ini, "ladder");
    for (int d = 0; d < engine->ladder.rank && section; d++) {
        const char *key = engine->ladder.keys[d], *name = d ? "vary_2" : "vary", *why = NULL;
        int32_t s;
        warn_of_hard_couplings(engine, section, name, key);
        if (!strcmp(key, "run.pressure") && !who_changes(engine, PLUGMC_CHANGED_BOX))
            why = "no mover changes the volume";
        if (is_mu(engine, key, &s) && (!who_changes(engine, PLUGMC_CHANGED_COUNT) ||
                                       (engine->reservoirs && !engine->reservoirs[s])))
            why = "no mover exchanges this species with a reservoir";
        if (!why) continue;
        const ini_entry *entry = ini_get(section, name);
        return report_error(engine->report, EXIT_INPUT, ini_source(&engine->config.ini, section),
                            entry ? entry->line : section->line,
                            "[ladder] %s = %s: %s, so all rungs would be the same", name, key, why);
    }
    return 0;
}

int match_reservoirs(const engine *engine)
{
    const config *config = &engine->config;
    const int code = match_rungs(engine);
    if (code) return code;
    for (int32_t s = 0; s < engine->system.species_count && team_now()->ranks > 1; s++) {
        int32_t owner = s;
        for (int32_t k = 0; k < config->molecule_count; k++) {
            const plugmc_molecule *kind = plugmc_kind_of_molecule(engine->system.molecules, k);
            if (kind->grows && kind->species[0] == s) owner = engine->system.species_count + k;
        }
        if (plugmc_species_at(&engine->system, s)->grows)
            return report_error(engine->report, EXIT_INPUT, config->ini.path,
                                reservoir_line(config, owner, "count"),
                                "[%s] needs max_count: runs of several processes cannot enlarge "
                                "their arrays",
                                reservoir_section(config, owner));
    }
    for (int32_t s = 0; s < reservoir_owners(config) && engine->reservoirs; s++) {
        if (engine->reservoirs[s] || !reservoir_is_given(config, s)) continue;
        const char *key = reservoir_key(config, s), *name = reservoir_name(config, s);
        if (!key) key = "mu";
        return report_error(engine->report, EXIT_INPUT, config->ini.path,
                            reservoir_line(config, s, key),
                            "[%s] %s: no mover exchanges %s with a reservoir",
                            reservoir_section(config, s), key, name);
    }
    return match_pressure(engine);
}
