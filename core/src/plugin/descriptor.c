/* Descriptors: versions, sizes, tables of parameters, and the functions that each facet needs. */
#include "plugin/descriptor.h"

#include <string.h>

#include "input/config.h"
#include "plugmc/description.h"
#include "plugmc/former_keys.h"

const char *plugin_kind_name(int kind)
{
    static const char *const names[] = {"plugin", "potential", "mover", "observable"};
    return kind >= 0 && kind < PLUGMC_COUNT(names) ? names[kind] : "unknown kind of plugin";
}

static const plugmc_parameter *real_named(const plugmc_plugin *d, const char *name)
{
    for (int k = 0; name && k < d->parameter_count; k++)
        if (d->parameters[k].type == PLUGMC_TYPE_REAL && !strcmp(d->parameters[k].name, name))
            return &d->parameters[k];
    return NULL;
}

bool parameter_is_real(const plugmc_plugin *d, const char *name) { return real_named(d, name); }

double parameter_real(const plugmc_plugin *d, const void *instance, const char *name)
{
    const plugmc_parameter *p = real_named(d, name);
    double value = 0;
    if (p) memcpy(&value, (const char *)instance + p->offset, sizeof value);
    return value;
}

/* Functions that a facet cannot do without, by where their pointers are. */
typedef struct required {
    const char *name;
    size_t offset;
} required;

#define REQUIRED(type, field)                                                                      \
    {                                                                                              \
#field, offsetof(type, field)                                                              \
    }

static bool check_facet(const void *facet, const char *what, const required *functions, int count,
                        sentence why)
{
    if (!facet) return why_not(why, "has no %s functions", what);
    for (int i = 0; i < count; i++) {
        void *function;
        memcpy(&function, (const char *)facet + functions[i].offset, sizeof function);
        if (!function) return why_not(why, "lacks the %s function '%s'", what, functions[i].name);
    }
    return true;
}

#define CHECK_FACET(facet, what, functions)                                                        \
    check_facet(facet, what, functions, PLUGMC_COUNT(functions), why)

/* Energies of single moves are offered as a whole or not at all. */
static bool check_total(const plugmc_total *total, sentence why)
{
    const bool moves[] = {total->start != NULL, total->change != NULL, total->settle != NULL};
    static const char *const names[] = {"start", "change", "settle"};
    for (int k = 0; k < 3; k++)
        if (!moves[k] && (moves[1] || moves[2]))
            return why_not(why, "has a many-body term with `%s`, but without `%s`",
                           moves[1] ? "change" : "settle", names[k]);
    return true;
}

static bool check_potential(const plugmc_plugin *d, sentence why)
{
    static const required pair[] = {REQUIRED(plugmc_pair, range), REQUIRED(plugmc_pair, contact),
                                    REQUIRED(plugmc_pair, energy), REQUIRED(plugmc_pair, change)};
    static const required field[] = {REQUIRED(plugmc_field, energy)};
    static const required total[] = {REQUIRED(plugmc_total, energy)};
    const plugmc_potential *p = d->potential;

    if (!check_facet(p, "potential", NULL, 0, why)) return false;
    if (!p->pair && !p->field && !p->total && !plugmc_orbitals_of(d) && !plugmc_body_of(d))
        return why_not(why,
                       "is a potential without a facet (pair, field, total, body or orbitals)");
    return (!p->pair || CHECK_FACET(p->pair, "pair", pair)) &&
           (!p->field || CHECK_FACET(p->field, "field", field)) &&
           (!p->total || (CHECK_FACET(p->total, "total", total) && check_total(p->total, why)));
}

static bool has_parameter(const plugmc_plugin *d, const char *name)
{
    for (int32_t k = 0; k < d->parameter_count; k++)
        if (!d->parameters[k].derived && !strcmp(d->parameters[k].name, name)) return true;
    return false;
}

static bool check_former_keys(const plugmc_plugin *d, sentence why)
{
    const plugmc_former_keys *former = plugmc_offered(d, PLUGMC_FORMER_KEYS);
    const int longest = 1000;
    for (int k = 0; former && k < longest; k++) {
        const plugmc_former_key *key = &former->keys[k];
        if (!key->before) return true;
        if (!key->now || !has_parameter(d, key->now) || has_parameter(d, key->before))
            return why_not(why, "says that its key '%s' was called '%s': %s",
                           key->now ? key->now : "", key->before,
                           key->now && has_parameter(d, key->now) ? "it still has this one, too"
                                                                  : "it has no such key");
    }
    return !former || why_not(why, "has a list of former keys without an end");
}

/* What few plugins offer beside that. */
static bool check_extensions(const plugmc_plugin *d, sentence why)
{
    static const required orbitals[] = {REQUIRED(plugmc_orbitals, count),
                                        REQUIRED(plugmc_orbitals, complex_valued),
                                        REQUIRED(plugmc_orbitals, evaluate)},
                          numbers[] = {REQUIRED(plugmc_variational, count),
                                       REQUIRED(plugmc_variational, number),
                                       REQUIRED(plugmc_variational, get),
                                       REQUIRED(plugmc_variational, set),
                                       REQUIRED(plugmc_variational, derivatives),
                                       REQUIRED(plugmc_variational, at_points)},
                          of_text[] = {REQUIRED(plugmc_variational, sums),
                                       REQUIRED(plugmc_variational, combine)},
                          local_energy[] = {REQUIRED(plugmc_local_energy, evaluate)},
                          inverses[] = {REQUIRED(plugmc_lends_inverses, inverses)},
                          cells[] = {REQUIRED(plugmc_fills_cells, fill_cells)},
                          shares[] = {REQUIRED(plugmc_gives_shares, give_share)},
                          later[] = {REQUIRED(plugmc_measures_later, launch)},
                          reach[] = {REQUIRED(plugmc_measures_shares, reach)},
                          keys[] = {REQUIRED(plugmc_former_keys, keys)},
                          body[] = {REQUIRED(plugmc_body, reach), REQUIRED(plugmc_body, core),
                                    REQUIRED(plugmc_body, volume), REQUIRED(plugmc_body, range),
                                    REQUIRED(plugmc_body, energy)},
                          lines[] = {REQUIRED(plugmc_description, line)};
    static const struct {
        const char *name, *what;
        const required *functions;
        int count;
    } known[] = {
        {PLUGMC_ORBITALS, "orbitals", orbitals, PLUGMC_COUNT(orbitals)},
        {PLUGMC_BODY_FACET, "body", body, PLUGMC_COUNT(body)},
        {PLUGMC_VARIATIONAL_PARAMETERS, "free", numbers, PLUGMC_COUNT(numbers)},
        {PLUGMC_LOCAL_ENERGY, "local energy", local_energy, PLUGMC_COUNT(local_energy)},
        {PLUGMC_LENDS_INVERSES, "lent inverses", inverses, PLUGMC_COUNT(inverses)},
        {PLUGMC_FILLS_CELLS, "cells", cells, PLUGMC_COUNT(cells)},
        {PLUGMC_GIVES_SHARES, "shares", shares, PLUGMC_COUNT(shares)},
        {PLUGMC_MEASURES_LATER, "later measurement", later, PLUGMC_COUNT(later)},
        {PLUGMC_MEASURES_SHARES, "shared measurement", reach, PLUGMC_COUNT(reach)},
        {PLUGMC_FORMER_KEYS, "former keys", keys, PLUGMC_COUNT(keys)},
        {PLUGMC_DESCRIPTION, "description", lines, PLUGMC_COUNT(lines)},
    };
    for (int k = 0; k < PLUGMC_COUNT(known); k++) {
        const void *table = plugmc_offered(d, known[k].name);
        if (table && !check_facet(table, known[k].what, known[k].functions, known[k].count, why))
            return false;
    }
    const plugmc_variational *free = plugmc_variational_of(d);
    return (!free || !free->functions || CHECK_FACET(free, "free", of_text)) &&
           check_former_keys(d, why);
}

/* A step and its target are parameters, which the core reads. */
static bool check_step(const plugmc_plugin *d, const plugmc_move *move, sentence why)
{
    const char *const keys[] = {move->step_key, move->target_key};
    if (move->step_unit && !move->step_key)
        return why_not(why,
                       "has a step of '%s', but does not name the parameter with its "
                       "initial value",
                       move->name);
    if (move->step_unit && !strcmp(move->step_unit, "1"))
        return why_not(why, "has a step of '%s' in \"1\": the unit of a plain number is \"\"",
                       move->name);
    for (int k = 0; k < 2; k++)
        if (keys[k] && !parameter_is_real(d, keys[k]))
            return why_not(why,
                           "has a step of '%s' with the initial value '%s', which is "
                           "not one of its real parameters",
                           move->name, keys[k]);
    return true;
}

/* Names of moves are those of groups in the output file. */
static bool check_moves(const plugmc_plugin *d, sentence why)
{
    const plugmc_mover *m = d->mover;
    /* only weighs, or only measures what an insertion would change */
    const bool none = m->move_count == 0 && (m->changes == PLUGMC_CHANGED_WEIGHT ||
                                             (m->changes == PLUGMC_CHANGED_COUNT && d->observable));
    if ((!m->moves || m->move_count < 1) && !none)
        return why_not(why, "is a mover without a table of its moves");
    for (int32_t k = 0; k < m->move_count; k++) {
        const char *name = m->moves[k].name;
        if (!name || !*name || strpbrk(name, "/. \n"))
            return why_not(why, "has a move %d with the invalid name '%s'", k, name ? name : "");
        for (int32_t other = 0; other < k; other++)
            if (!strcmp(name, m->moves[other].name))
                return why_not(why, "has two moves called '%s'", name);
        if (!check_step(d, &m->moves[k], why)) return false;
    }
    return true;
}

/* All that this version knows. */
enum {
    CHANGES = (2 * PLUGMC_CHANGED_ORIENTATION - 1) | PLUGMC_CHANGED_WEIGHT,
    NEEDS = 2 * PLUGMC_KEEPS_MOLECULES - 1
};
#define ABILITIES_TO_COME 0xff000000u

static bool check_observable(const plugmc_plugin *d, sentence why)
{
    static const required functions[] = {REQUIRED(plugmc_observable, quantity),
                                         REQUIRED(plugmc_observable, measure)};
    if (!check_facet(d->observable, "observable", NULL, 0, why)) return false;
    const bool only_writes =
        d->observable->writes_trajectory && !d->observable->quantity && !d->observable->measure;
    if (!only_writes && !CHECK_FACET(d->observable, "observable", functions)) return false;
    if (!d->observable->derived != !d->observable->derive)
        return why_not(why, "is an observable with only one of 'derived' and 'derive'");
    const int32_t on = d->observable->depends_on;
    if (on < PLUGMC_ON_CONFIGURATION || on > PLUGMC_ON_HISTORY)
        return why_not(
            why,
            "is an observable with dependences that this plugmc does not know (depends_on = "
            "%d)",
            on);
    return true;
}

/* One that measures, too, has the facet of an observable. */
static bool check_mover(const plugmc_plugin *d, sentence why)
{
    static const required functions[] = {REQUIRED(plugmc_mover, sweep)},
                          counts[] = {REQUIRED(plugmc_mover, counts)},
                          own[] = {REQUIRED(plugmc_driver, load), REQUIRED(plugmc_driver, store)};
    if (!CHECK_FACET(d->mover, "mover", functions)) return false;
    if (d->mover->driver &&
        (!CHECK_FACET(d->mover->driver, "driver", own) || !CHECK_FACET(d->mover, "mover", counts)))
        return false;
    if (d->mover->driver && !d->prepare)
        return why_not(why, "is a mover without the function 'prepare'");
    if (!(d->mover->needs & (PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU)))
        return why_not(why, "is a mover that runs neither on the CPU nor on the GPU");
    if (!d->mover->changes) return why_not(why, "is a mover that declares no changes");
    if (d->mover->changes & ~(uint32_t)CHANGES || d->mover->follows & ~(uint32_t)CHANGES)
        return why_not(why,
                       "is a mover with changes that this plugmc does not know (changes = "
                       "0x%x, follows = 0x%x)",
                       d->mover->changes, d->mover->follows);
    if (d->mover->changes & PLUGMC_CHANGED_WALKER_WEIGHT && !d->mover->couples)
        return why_not(why, "is a mover that gives walkers weights without declaring that it "
                            "couples them");
    if (d->mover->needs & ~(uint32_t)NEEDS & ~ABILITIES_TO_COME)
        return why_not(why,
                       "is a mover with needs that this plugmc does not know (needs = "
                       "0x%x)",
                       d->mover->needs);
    return check_moves(d, why) && (!d->observable || check_observable(d, why));
}

/* What can be read of a descriptor of any version. */
static bool check_head(const plugmc_plugin *d, uint32_t real_size, sentence why)
{
    if (!d) return why_not(why, "is not a plugmc plugin: plugmc_plugin_entry returns NULL");
    if (d->magic != PLUGMC_MAGIC)
        return why_not(why,
                       "is not a plugmc plugin: its magic number is 0x%08x, expected "
                       "0x%08x",
                       d->magic, PLUGMC_MAGIC);
    if (d->size < offsetof(plugmc_plugin, kind))
        return why_not(why, "has a descriptor of %u bytes: expected at least %d", d->size,
                       PLUGIN_2_0);
    if (d->abi_major != PLUGMC_ABI_MAJOR || d->abi_minor > PLUGMC_ABI_MINOR)
        return why_not(why,
                       "was built for plugin ABI %d.%d, but this plugmc has %d.%d: rebuild "
                       "it with the headers of this plugmc",
                       d->abi_major, d->abi_minor, PLUGMC_ABI_MAJOR, PLUGMC_ABI_MINOR);
    if (d->size < PLUGIN_2_0)
        return why_not(why, "has a descriptor of %u bytes: expected at least %d", d->size,
                       PLUGIN_2_0);
    if (d->real_size != real_size)
        return why_not(why, "has reals of %u bytes, expected %u", d->real_size, real_size);
    return true;
}

/* Keys that the core reads in the same sections. */
static bool check_names(const plugmc_plugin *d, sentence why)
{
    const char *const *reserved = d->kind == PLUGMC_POTENTIAL ? potential_keys
                                  : d->kind == PLUGMC_MOVER   ? mover_keys
                                  : d->observable && d->observable->writes_trajectory
                                      ? writer_keys
                                      : observable_keys;
    for (int i = 0; i < d->parameter_count; i++)
        for (int k = 0; reserved[k]; k++)
            if (strcmp(d->parameters[i].name, reserved[k]) == 0)
                return why_not(why, "has a parameter '%s', which is a key of the core",
                               reserved[k]);
    return true;
}

enum { MOST_INSTANCE = 1 << 30 }; /* larger tables are taken in prepare */

static bool check_body(const plugmc_plugin *d, sentence why)
{
    static bool (*const check_kind[])(const plugmc_plugin *,
                                      sentence) = {[PLUGMC_POTENTIAL] = check_potential,
                                                   [PLUGMC_MOVER] = check_mover,
                                                   [PLUGMC_OBSERVABLE] = check_observable};
    char detail[512];
    if (d->kind < PLUGMC_POTENTIAL || d->kind > PLUGMC_OBSERVABLE)
        return why_not(why,
                       "is of kind %d, expected 1 (potential), 2 (mover) or 3 "
                       "(observable)",
                       d->kind);
    if (!d->name || !*d->name) return why_not(why, "has no name in its descriptor");
    if (!parameters_sane(d->parameters, d->parameter_count, d->real_size, d->instance_size, detail,
                         sizeof detail))
        return why_not(why, "cannot be used: %s", detail);
    if (d->instance_size > MOST_INSTANCE)
        return why_not(why, "has a struct of %zu bytes: at most %d are given", d->instance_size,
                       MOST_INSTANCE);
    return check_names(d, why) && check_kind[d->kind](d, why) && check_extensions(d, why);
}

/* The float twin of a potential that has something for movers to call in float. */
static bool check_single(plugin_copy *copy, sentence why)
{
    char detail[512];
    const plugmc_plugin *d = plugin_copy_descriptor(copy), *s = d->single;
    if (!s && d->kind == PLUGMC_POTENTIAL && (d->potential->pair || d->potential->field))
        return why_not(why, "lacks its single-precision half: build it with plugmc_add_potential");
    if (!s) return true;
    sentence inner = {detail, sizeof detail};
    if (!check_head(s, sizeof(float), inner) || !plugin_copy_single(copy, s, inner) ||
        !check_body(d->single, inner))
        return why_not(why, "in its single-precision half %s", detail);
    s = d->single;
    if (s->kind != d->kind || s->parameter_count != d->parameter_count)
        return why_not(why,
                       "has a single-precision half that does not match: a %s with %d "
                       "parameters for a %s with %d",
                       plugin_kind_name(s->kind), s->parameter_count, plugin_kind_name(d->kind),
                       d->parameter_count);
    return true;
}

static bool check_copy(plugin_copy *copy, int kind, sentence why)
{
    const plugmc_plugin *d = plugin_copy_descriptor(copy);
    if (!check_body(d, why)) return false;
    if (kind != 0 && d->kind != kind)
        return why_not(why, "is of kind %s ('%s'), but kind %s is expected here",
                       plugin_kind_name(d->kind), d->name, plugin_kind_name(kind));
    return check_single(copy, why);
}

plugin_copy *take_descriptor(const plugmc_plugin *given, int kind, sentence why)
{
    if (!check_head(given, sizeof(double), why)) return NULL;
    plugin_copy *copy = plugin_copy_make(given, why);
    if (!copy || check_copy(copy, kind, why)) return copy;
    plugin_copy_free(copy);
    return NULL;
}
