/* What keeps a mover from sampling a run, in words. See fitting.h. */
#include "engine/fitting.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/crash.h"
#include "plugin/movers_there.h"
#include "system/molecule_kinds.h"
#include "system/system.h"

__attribute__((format(printf, 2, 3))) static const char *say(char words[MISFIT], const char *format,
                                                             ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, MISFIT, format, arguments);
    va_end(arguments);
    return words;
}

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
    const char *names[] = {p->pair ? "an energy of pairs" : NULL, p->field ? "a field" : NULL,
                           p->total ? "a many-body term" : NULL,
                           plugmc_orbitals_of(plugin) ? "orbitals" : NULL,
                           plugmc_body_of(plugin) ? "energies of orientations" : NULL};
    for (int i = 0; i < PLUGMC_COUNT(names); i++)
        if (names[i])
            snprintf(words + strlen(words), 96 - strlen(words), "%s%s", words[0] ? ", " : "",
                     names[i]);
    return words;
}

static const char *uses_words(uint32_t needs, char words[96])
{
    static const struct {
        uint32_t bit;
        const char *name;
    } uses[] = {{PLUGMC_USES_PAIR, "energies of pairs"},
                {PLUGMC_USES_FIELD, "fields"},
                {PLUGMC_USES_TOTAL, "many-body terms"},
                {PLUGMC_USES_ORBITALS, "orbitals"},
                {PLUGMC_USES_BODY, "bodies"}};
    words[0] = 0;
    for (int i = 0; i < PLUGMC_COUNT(uses); i++)
        if (needs & uses[i].bit)
            snprintf(words + strlen(words), 96 - strlen(words), "%s%s", words[0] ? ", " : "",
                     uses[i].name);
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

/* ---- Potentials and the box ------------------------------------------------------------------- */

const char *misfit_of_term(const engine *engine, uint32_t needs, const plugmc_term *term,
                           char words[MISFIT])
{
    const plugmc_potential *p = term->plugin->potential;
    char has[96], can[96];
    if (!can_sample(needs, term->plugin))
        return say(words, "supports %s, but potential '%s' has %s", uses_words(needs, can),
                   term->label, facet_words(term->plugin, has));
    if (lacks_range(engine, needs, term))
        return say(words, "needs potentials of finite range, but the range of '%s' is infinite",
                   term->label);
    if (lacks_forces(needs, p))
        return say(words, "needs forces, but potential '%s' %s", term->label,
                   lacks_forces(needs, p));
    if (lacks_places(needs, p))
        return say(words,
                   "supports only pair energies of the separation, but potential '%s' depends on "
                   "both positions",
                   term->label);
    if (tears_molecules(engine, needs, term))
        return say(words,
                   "would break molecules: potential '%s' excludes pairs within molecules, and no "
                   "potential binds them",
                   term->label);
    return NULL;
}

/* Does it move single particles, and are there any that are in no molecule? */
static bool has_nobody_to_move(const engine *engine, const plugmc_mover *mover)
{
    int64_t free = engine->system.particles;
    for (int32_t k = 0; k < engine->system.molecules->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(engine->system.molecules, k);
        free -= kind->capacity * kind->sites;
    }
    return displaces(mover) && !(mover->needs & PLUGMC_KEEPS_MOLECULES) &&
           !(mover->changes & PLUGMC_CHANGED_ORIENTATION) && free == 0;
}

const char *misfit_of_molecules(const engine *engine, const plugmc_mover *mover, char words[MISFIT])
{
    const plugmc_molecules *all = engine->system.molecules;
    if (!all) return NULL;
    const char *name = plugmc_kind_of_molecule(all, 0)->name;
    if (!(mover->needs & PLUGMC_KEEPS_RIGID) && mover->changes & PLUGMC_CHANGED_COUNT)
        return say(words,
                   "does not support groups of particles beside rigid molecules, such as those of "
                   "[molecule %s]",
                   name);
    if (!(mover->needs & PLUGMC_KEEPS_RIGID))
        return say(words, "would break the rigid molecules of [molecule %s]", name);
    if (has_nobody_to_move(engine, mover))
        return say(
            words,
            "moves single particles, and all of this run are sites of molecules, as those of "
            "[molecule %s]",
            name);
    return NULL;
}

const char *misfit_of_box(const engine *engine, uint32_t needs)
{
    const plugmc_box *box = &engine->system.box;
    if (needs & PLUGMC_NEEDS_RECTANGULAR && box->oblique)
        return "needs a rectangular box, but the lattice vectors of [box] are not at right angles";
    if (needs & PLUGMC_NEEDS_PERIODIC && box->domain != PLUGMC_DOMAIN_PERIODIC)
        return "needs a periodic box, but [box] is a sphere";
    return NULL;
}

static bool uses_orbitals(const engine *engine)
{
    for (int t = 0; t < engine->system.term_count; t++)
        if (engine->terms[t].sampled && plugmc_orbitals_of(engine->terms[t].plugin)) return true;
    return false;
}

/* Does it bring particles from place to place? Swaps, exchanges and boxes go with such a mover. */
bool displaces(const plugmc_mover *mover)
{
    for (int32_t k = 0; k < mover->move_count; k++)
        if (mover->moves[k].step_unit &&
            !strncmp(mover->moves[k].step_unit, "length", strlen("length")))
            return true;
    return false;
}

static bool any_molecules(const engine *engine)
{
    for (int t = 0; t < engine->system.term_count; t++)
        if (molecules_of(&engine->terms[t]) != PLUGMC_MOLECULES_NONE) return true;
    return false;
}

/* What the potentials and the box have against it. */
static const char *misfit_of_system(const engine *engine, const plugmc_mover *mover,
                                    char words[MISFIT])
{
    const uint32_t needs = needs_of(mover);
    const char *why = NULL;
    for (int t = 0; t < engine->system.term_count && !why; t++)
        if (engine->terms[t].sampled) why = misfit_of_term(engine, needs, &engine->terms[t], words);
    if (!why) why = misfit_of_box(engine, needs);
    if (!why) why = misfit_of_molecules(engine, mover, words);
    if (why) return why;
    const bool orbitals = uses_orbitals(engine);
    if (orbitals != !!(needs & PLUGMC_USES_ORBITALS))
        return orbitals ? "does not sample wave functions with orbitals"
                        : "samples electrons in orbitals alone";
    const bool rigid = needs & PLUGMC_KEEPS_RIGID;
    if (needs & PLUGMC_KEEPS_MOLECULES && !engine->system.molecules &&
        (rigid || !any_molecules(engine)))
        return rigid ? "moves rigid molecules, and there are none"
                     : "moves groups of particles, and nothing holds them together as molecules: "
                       "single particles move faster";
    return NULL;
}

bool mover_fits(const engine *engine, const plugmc_mover *mover)
{
    char words[MISFIT];
    return displaces(mover) && !misfit_of_system(engine, mover, words);
}

const char *movers_for(const engine *engine, char words[256])
{
    plugin_names movers = movers_there();
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

/* ---- Other movers and the ladder -------------------------------------------------------------- */

/* What `other` changes and `mover` cannot follow. The core's energies follow some changes,
 * whoever asks for them. */
static uint32_t strange_to(const engine *engine, const plugmc_mover *mover,
                           const plugmc_mover *other)
{
    const uint32_t nobody_has = engine->system.bodies ? 0 : PLUGMC_CHANGED_ORIENTATION;
    const uint32_t by_core = PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_ORIENTATION |
                             PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG;
    return other->changes & ~(uint32_t)PLUGMC_CHANGED_WEIGHT & ~nobody_has &
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

const char *misfit_with(const engine *engine, const plugmc_mover *mover, const mover_slot *other,
                        char words[MISFIT])
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
    const uint32_t strange = strange_to(engine, mover, other->mover);
    return strange ? say(words, "does not support that '%s' changes %s",
                         other->instance->loaded.name, what[__builtin_ctz(strange)])
                   : NULL;
}

/* Factors of terms, and walkers of different temperature, are for movers that ask the core. */
const char *misfit_of_ladder(const engine *engine, const plugmc_mover *mover, char words[MISFIT])
{
    const ladder *l = &engine->ladder;
    if (!mover->driver || mover->follows & PLUGMC_CHANGED_MULTIPLIER) return NULL;
    if (l->rungs > 1)
        return say(words, "needs the same temperature and couplings in all walkers, but %s differs",
                   l->keys[0]);
    const plugmc_term *coupled = coupled_term(engine);
    return coupled ? say(words, "does not support the coupling of potential '%s'", coupled->label)
                   : NULL;
}

const char *misfit_of(const engine *engine, const plugmc_mover *mover, const mover_slot *but,
                      char words[MISFIT])
{
    const char *why = misfit_of_system(engine, mover, words);
    if (!why) why = misfit_of_ladder(engine, mover, words);
    for (int k = 0; k < engine->mover_count && !why; k++) {
        const mover_slot *other = &engine->movers[k];
        if (other == but) continue;
        why = misfit_with(engine, mover, other, words);
        if (!why && strange_to(engine, other->mover, mover))
            why = say(words, "moves particles, which '%s' does not follow",
                      other->instance->loaded.name);
    }
    return why;
}
