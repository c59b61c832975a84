/* Which movers can work with which potentials, and with each other. */
#include "engine/matching.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "system/system.h"
#include "parallel/team.h"
#include "plugin/search.h"

/* Of a mover: where its section is, and its name. */
typedef struct place {
    const char *file;
    int line;
    const char *name;
} place;

/* The Hamiltonian of the core knows all but orbitals. */
uint32_t needs_of(const plugmc_mover *mover)
{
    const uint32_t all = PLUGMC_USES_PAIR | PLUGMC_USES_FIELD | PLUGMC_USES_TOTAL |
                         PLUGMC_USES_POSITIONS | PLUGMC_USES_BODY;
    return mover->driver ? mover->needs : mover->needs | all;
}

/* What of a potential a mover would have to evaluate, as bits PLUGMC_USES_*; the pair and field
 * facets together are one way, total another, unless it comes on top of them. */
static bool can_sample(uint32_t needs, const plugmc_plugin *plugin)
{
    const plugmc_potential *p = plugin->potential;
    bool parts = p->pair || p->field;
    if (is_constant(plugin)) return true;
    if (plugmc_body_of(plugin)) return needs & PLUGMC_USES_BODY;
    if (p->total && p->total->beside_parts)
        return needs & PLUGMC_USES_TOTAL && (!p->pair || needs & PLUGMC_USES_PAIR) &&
               (!p->field || needs & PLUGMC_USES_FIELD);
    if (parts && (!p->pair || needs & PLUGMC_USES_PAIR) && (!p->field || needs & PLUGMC_USES_FIELD))
        return true;
    if (p->total && needs & PLUGMC_USES_TOTAL) return true;
    return plugmc_orbitals_of(plugin) && needs & PLUGMC_USES_ORBITALS;
}

static const char *facet_words(const plugmc_plugin *plugin, char words[96])
{
    const plugmc_potential *p = plugin->potential;
    words[0] = 0;
    const char *names[] = {
        p->pair ? "pair" : NULL, p->field ? "field" : NULL, p->total ? "total" : NULL,
        plugmc_orbitals_of(plugin) ? "orbitals" : NULL, plugmc_body_of(plugin) ? "body" : NULL};
    for (int i = 0; i < PLUGMC_COUNT(names); i++)
        if (names[i])
            snprintf(words + strlen(words), 96 - strlen(words), "%s%s", words[0] ? ", " : "",
                     names[i]);
    return words;
}

static const char *uses_words(uint32_t needs, char words[96])
{
    static const char *const names[] = {"pair", "field", "total", "orbitals"};
    words[0] = 0;
    for (int i = 0; i < 4; i++)
        if (needs & 1u << i)
            snprintf(words + strlen(words), 96 - strlen(words), "%s%s", words[0] ? ", " : "",
                     names[i]);
    return words;
}

static bool lacks_range(const engine *engine, uint32_t needs, const plugmc_term *term)
{
    return term->plugin->potential->pair && needs & PLUGMC_NEEDS_FINITE_RANGE &&
           isinf(reach_of_term(&engine->system, term));
}

/* What keeps a mover that follows forces from moving in this potential; NULL if nothing does. */
static const char *lacks_forces(uint32_t needs, const plugmc_potential *p)
{
    bool whole = p->total && !p->total->beside_parts;
    if (!(needs & PLUGMC_NEEDS_FORCES) || whole) return NULL;
    if (p->pair && p->pair->functions & PLUGMC_PAIR_CONTACT)
        return "has a hard core, which has no force";
    if (p->pair && !(p->pair->functions & PLUGMC_PAIR_DERIVATIVE))
        return "has no derivative of its pair energy";
    if (p->field && !(p->field->functions & PLUGMC_FIELD_DERIVATIVE))
        return "has no derivative of its field";
    return NULL;
}

static bool lacks_places(uint32_t needs, const plugmc_potential *p)
{
    return p->pair && p->pair->functions & PLUGMC_PAIR_POSITIONS &&
           !(needs & PLUGMC_USES_POSITIONS);
}

static int32_t molecules_of(const plugmc_term *term)
{
    const plugmc_total *total = term->sampled ? term->plugin->potential->total : NULL;
    if (!total || !PLUGMC_HAS(total, molecules) || !total->molecules) return PLUGMC_MOLECULES_NONE;
    crash_calling_potential(term->label, "molecules");
    const int32_t kind = total->molecules(term->instance);
    crash_called();
    return kind;
}

/* Whether this term leaves out what would hold molecules together, and nothing else does. */
static bool tears_molecules(const engine *engine, uint32_t needs, const plugmc_term *term)
{
    if (molecules_of(term) != PLUGMC_MOLECULES_LOOSE || needs & PLUGMC_KEEPS_MOLECULES)
        return false;
    for (int t = 0; t < engine->system.term_count; t++)
        if (molecules_of(&engine->terms[t]) == PLUGMC_MOLECULES_BOUND) return false;
    return true;
}

static bool can_move(const engine *engine, uint32_t needs, const plugmc_term *term)
{
    return can_sample(needs, term->plugin) && !lacks_range(engine, needs, term) &&
           !lacks_forces(needs, term->plugin->potential) &&
           !lacks_places(needs, term->plugin->potential) && !tears_molecules(engine, needs, term);
}

static bool fits_box(const engine *engine, uint32_t needs)
{
    return !(needs & PLUGMC_NEEDS_RECTANGULAR && engine->system.box.oblique) &&
           !(needs & PLUGMC_NEEDS_PERIODIC && engine->system.box.domain != PLUGMC_DOMAIN_PERIODIC);
}

static bool uses_orbitals(const engine *engine)
{
    for (int t = 0; t < engine->system.term_count; t++)
        if (engine->terms[t].sampled && plugmc_orbitals_of(engine->terms[t].plugin)) return true;
    return false;
}

/* Does it bring particles from place to place? Swaps, exchanges and boxes go with such a mover. */
static bool displaces(const plugmc_mover *mover)
{
    for (int32_t k = 0; k < mover->move_count; k++)
        if (mover->moves[k].step_unit &&
            !strncmp(mover->moves[k].step_unit, "length", strlen("length")))
            return true;
    return false;
}

/* The others, too, and the box: no advice that is refused in its turn. */
bool mover_fits(const engine *engine, const plugmc_mover *mover)
{
    const uint32_t needs = needs_of(mover);
    bool fits = displaces(mover), molecules = false;
    for (int t = 0; t < engine->system.term_count; t++) {
        molecules |= molecules_of(&engine->terms[t]) != PLUGMC_MOLECULES_NONE;
        if (engine->terms[t].sampled) fits &= can_move(engine, needs, &engine->terms[t]);
    }
    if (needs & PLUGMC_KEEPS_MOLECULES) fits &= molecules; /* else single particles move faster */
    return fits && fits_box(engine, needs) &&
           uses_orbitals(engine) == !!(needs & PLUGMC_USES_ORBITALS);
}

/* ": use 'a' or 'b'", the movers in the search path that can sample this system; "" if none can. */
static const char *movers_for(const engine *engine, char words[256])
{
    plugin_names movers = plugin_list(PLUGMC_MOVER);
    words[0] = 0;
    for (int i = 0; i < movers.count; i++) {
        loaded mover;
        char why[1024];
        if (!plugin_open(movers.paths[i], PLUGMC_MOVER, &mover, why, sizeof why)) continue;
        const size_t used = strlen(words);
        if (mover_fits(engine, mover.plugin->mover))
            snprintf(words + used, 256 - used, "%s'%s'", used ? " or " : ": use ", movers.names[i]);
        plugin_unload(&mover);
    }
    plugin_names_free(&movers);
    return words;
}

/* One mover and one term that is sampled. */
static int match_term(const engine *engine, const place *at, uint32_t needs,
                      const plugmc_term *term)
{
    const plugmc_potential *p = term->plugin->potential;
    char has[96], can[96], use[256];
    if (!can_sample(needs, term->plugin))
        return report_error(engine->report, EXIT_INPUT, at->file, at->line,
                            "mover '%s' supports the facets %s, but potential '%s' has %s%s",
                            at->name, uses_words(needs, can), term->label,
                            facet_words(term->plugin, has), movers_for(engine, use));
    if (lacks_range(engine, needs, term))
        return report_error(engine->report, EXIT_INPUT, at->file, at->line,
                            "mover '%s' needs potentials of finite range, but the range of "
                            "'%s' is infinite%s",
                            at->name, term->label, movers_for(engine, use));
    if (lacks_forces(needs, p))
        return report_error(engine->report, EXIT_INPUT, at->file, at->line,
                            "mover '%s' needs forces, but potential '%s' %s%s", at->name,
                            term->label, lacks_forces(needs, p), movers_for(engine, use));
    if (lacks_places(needs, p))
        return report_error(
            engine->report, EXIT_INPUT, at->file, at->line,
            "mover '%s' supports only pair energies of the separation, but potential '%s' "
            "depends on both positions%s",
            at->name, term->label, movers_for(engine, use));
    if (tears_molecules(engine, needs, term))
        return report_error(
            engine->report, EXIT_INPUT, at->file, at->line,
            "mover '%s' would break molecules: potential '%s' excludes pairs within "
            "molecules, and no potential binds them%s",
            at->name, term->label, movers_for(engine, use));
    return 0;
}

static int match_box(const engine *engine, const place *at, uint32_t needs)
{
    int code = 0;
    if (needs & PLUGMC_NEEDS_RECTANGULAR && engine->system.box.oblique)
        code = report_error(engine->report, EXIT_INPUT, at->file, at->line,
                            "mover '%s' needs a rectangular box, but the lattice vectors of "
                            "[box] are not at right angles",
                            at->name);
    if (needs & PLUGMC_NEEDS_PERIODIC && engine->system.box.domain != PLUGMC_DOMAIN_PERIODIC)
        code = report_error(engine->report, EXIT_INPUT, at->file, at->line,
                            "mover '%s' needs a periodic box, but [box] is a sphere", at->name);
    return code;
}

/* What `other` changes and `mover` cannot follow. The core's energies follow some changes,
 * whoever asks for them. */
static uint32_t strange_to(const plugmc_mover *mover, const plugmc_mover *other)
{
    const uint32_t by_core = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_ORIENTATION |
                             PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG;
    return other->changes & ~(uint32_t)PLUGMC_CHANGED_WEIGHT &
           ~(mover->follows | (mover->driver ? 0 : by_core));
}

/* The first term that counts by a factor of its own; NULL: none. */
static const plugmc_term *coupled_term(const engine *engine)
{
    for (int t = 0; t < engine->system.term_count; t++)
        if (engine->terms[t].sampled &&
            engine->ladder.multipliers[t] != 1 / engine->system.temperature)
            return &engine->terms[t];
    return NULL;
}

bool mover_follows(const engine *engine, const plugmc_mover *mover, const mover_slot *but)
{
    bool follows = !mover->driver || mover->follows & PLUGMC_CHANGED_MULTIPLIER ||
                   (engine->ladder.rungs <= 1 && !coupled_term(engine));
    for (int k = 0; k < engine->mover_count; k++)
        if (&engine->movers[k] != but) follows &= !strange_to(mover, engine->movers[k].mover);
    return follows;
}

/* What other movers change, a mover must be able to follow. */
static int match_others(const engine *engine, const place *at, const mover_slot *m)
{
    static const char *const what[STATE_ARRAYS] = {"the box",
                                                   "the number of particles",
                                                   "positions",
                                                   "species",
                                                   "temperatures, pressures or couplings",
                                                   "rungs",
                                                   "molecules",
                                                   "weights of walkers",
                                                   "orientations"};
    int first_error = 0;
    for (int k = 0; k < engine->mover_count; k++) {
        const mover_slot *other = &engine->movers[k];
        const uint32_t strange = strange_to(m->mover, other->mover);
        if (other == m || !strange) continue;
        const int code = report_error(engine->report, EXIT_INPUT, at->file, at->line,
                                      "mover '%s' does not support that '%s' changes %s", at->name,
                                      other->instance->loaded.name, what[__builtin_ctz(strange)]);
        if (!first_error) first_error = code;
    }
    return first_error;
}

/* Factors of terms, and walkers of different temperature, are for movers that ask the core. */
static int match_ladder(const engine *engine, const place *at, const mover_slot *m)
{
    const ladder *l = &engine->ladder;
    if (m->by_core || m->mover->follows & PLUGMC_CHANGED_MULTIPLIER) return 0;
    if (l->rungs > 1)
        return report_error(
            engine->report, EXIT_INPUT, at->file, at->line,
            "mover '%s' needs the same temperature and couplings in all walkers, but %s "
            "differs",
            at->name, l->keys[0]);
    const plugmc_term *coupled = coupled_term(engine);
    return coupled ? report_error(engine->report, EXIT_INPUT, at->file, at->line,
                                  "mover '%s' does not support the coupling of potential '%s'",
                                  at->name, coupled->label)
                   : 0;
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
    for (int i = 0; i < engine->instance_count && engine->system.bodies; i++) {
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
        const char *key = config->species[s].max_count > species->count ? "max_count"
                          : config->species[s].mu.count                 ? "mu"
                          : config->species[s].activity > 0             ? "activity"
                                                                        : NULL;
        if (key)
            return report_error(engine->report, EXIT_INPUT, config->ini.path,
                                config_line_of_species(config, s, key),
                                "[species %s] %s: no mover of the run changes the number of %s",
                                species->name, key, species->name);
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

/* "SPECIES.mu", of any species. */
static bool is_mu(const engine *engine, const char *key, int32_t *species)
{
    for (int32_t s = 0; s < engine->system.species_count; s++) {
        const char *name = plugmc_species_at(&engine->system, s)->name;
        const size_t length = strlen(name);
        if (strncmp(key, name, length) || strcmp(key + length, ".mu")) continue;
        *species = s;
        return true;
    }
    return false;
}

/* Rungs that differ in what nobody in the run looks at are one and the same. */
static int match_rungs(const engine *engine)
{
    const ini_section *section = ini_find(&engine->config.ini, "ladder");
    for (int d = 0; d < engine->ladder.rank && section; d++) {
        const char *key = engine->ladder.keys[d], *name = d ? "vary_2" : "vary", *why = NULL;
        int32_t s;
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
        const plugmc_species *species = plugmc_species_at(&engine->system, s);
        if (species->grows)
            return report_error(engine->report, EXIT_INPUT, config->ini.path,
                                config_line_of_species(config, s, "count"),
                                "[species %s] needs max_count: runs of several processes cannot "
                                "enlarge their arrays",
                                species->name);
    }
    for (int32_t s = 0; s < engine->system.species_count && engine->reservoirs; s++) {
        const plugmc_species *species = plugmc_species_at(&engine->system, s);
        if (engine->reservoirs[s] || isnan(species->mu)) continue;
        const char *key = config->species[s].mu.count ? "mu" : "activity";
        return report_error(engine->report, EXIT_INPUT, config->ini.path,
                            config_line_of_species(config, s, key),
                            "[species %s] %s: no mover exchanges %s with a reservoir",
                            species->name, key, species->name);
    }
    return match_pressure(engine);
}
