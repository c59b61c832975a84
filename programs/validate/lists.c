/* Lists with a value for each species, or for each pair of species: a value may change the energies of its own pair
 * alone. A list is taken for one of these if a run is refused that has one value more. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "checks.h"
#include "plugin/descriptor.h"

enum { POINTS = 24, MOST_SPECIES = 3, MOST_PAIRS = 6 };

typedef struct energies {
    double of_pair[MOST_PAIRS][POINTS], of_species[MOST_SPECIES][POINTS];
} energies;

/* Up to where energies are asked; length. */
static double end_of(const stand *s)
{
    const double range = stand_pair(s) ? stand_pair(s)->range(s->own->data) : INFINITY;
    return fmin(isfinite(range) && range > 0 ? range : INFINITY,
                stand_reach(&s->session.engine.system.box));
}

static void ask(stand *s, double end, energies *out)
{
    const plugmc_system *system = &s->session.engine.system;
    int pair = 0;
    *out = (energies){0};
    context_calling(&s->own->context, "energy");
    for (int32_t a = 0; a < system->species_count; a++) {
        for (int32_t b = a; b < system->species_count; b++, pair++)
            for (int k = 0; k < POINTS && stand_pair(s); k++)
                out->of_pair[pair][k] = pair_energy_at(s, a, b, end * (k + 0.61) / POINTS);
        for (int k = 0; k < POINTS && stand_field(s); k++) {
            const double r = end * (k + 0.39) / POINTS, at[3] = {0.8 * r, 0.6 * r, 0};
            out->of_species[a][k] = field_energy_at(s, a, at);
        }
    }
    crash_called();
}

static bool differ(const double *a, const double *b)
{
    for (int k = 0; k < POINTS; k++)
        if (a[k] != b[k] && !(fabs(a[k] - b[k]) <= 1e-9 * fabs(a[k]))) return true;
    return false;
}

/* The list of one key, and the numbers that are tried. */
typedef struct list_test {
    const target *target;
    stand *stand;
    const plugmc_parameter *key;
    int count;
    double values[MOST_PAIRS + 1];
    bool per_pair;
    findings *findings;
} list_test;

/* Energies of a run with the first `count` values; false: it is refused. */
static bool try_values(const list_test *l, int count, energies *out)
{
    char text[600];
    stand other;
    int used = snprintf(text, sizeof text, "potential %s.%s=", l->target->label, l->key->name);
    for (int k = 0; k < count && used < (int)sizeof text; k++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %.17g", l->values[k]);
    const bool good = !stand_open_changed(l->target, l->stand->number, STAND_POSITIONS,
                                          (stand_change){.edge = 1, .assignment = text}, &other);
    if (good && out) ask(&other, end_of(l->stand), out); /* a longer cutoff has a longer range */
    stand_close(&other);
    return good;
}

/* Value `value` has been changed. */
static void compare(const list_test *l, int value, const energies *before, const energies *after)
{
    const plugmc_system *system = &l->stand->session.engine.system;
    int pair = 0;
    for (int32_t a = 0; a < system->species_count; a++) {
        const char *first = plugmc_species_at(system, a)->name;
        if (!l->per_pair && a != value && differ(before->of_species[a], after->of_species[a]))
            check_fail(
                l->findings,
                "value %d of '%s' changes the field of '%s': values for species are in the order of "
                "their sections",
                value + 1, l->key->name, first);
        for (int32_t b = a; b < system->species_count; b++, pair++) {
            const bool own = l->per_pair ? pair == value : a == value || b == value;
            if (own || !differ(before->of_pair[pair], after->of_pair[pair])) continue;
            check_fail(
                l->findings,
                "value %d of '%s' changes the energy of '%s' and '%s': values for %s are in the "
                "order %s",
                value + 1, l->key->name, first, plugmc_species_at(system, b)->name,
                l->per_pair ? "pairs of species" : "species",
                l->per_pair ? "1-1, 1-2, ... 1-n, 2-2, ... (plugmc_species_pair_value)"
                            : "of their sections");
        }
    }
}

/* Whether it is such a list. */
static bool try_list(list_test *l)
{
    energies before, after;
    if (try_values(l, l->count + 1, NULL) || !try_values(l, l->count, &before)) return false;
    for (int k = 0; k < l->count; k++) {
        const double value = l->values[k];
        l->values[k] = value == 0 ? 0.1 : 1.07 * value;
        if (try_values(l, l->count, &after)) compare(l, k, &before, &after);
        l->values[k] = value;
    }
    return true;
}

/* Its values are those of the run, or copies of the only one. */
static bool try_key(list_test *l, int count)
{
    const ini_entry *given = ini_get(l->stand->own->section->section, l->key->name);
    const char *at = given ? given->value : l->key->fallback ? l->key->fallback : "";
    int found = 0;
    for (char *end; found <= MOST_PAIRS; found++, at = end) {
        const double value = strtod(at, &end);
        if (end == at) break;
        l->values[found] = value;
    }
    if (found != 1 && found != count) return false;
    for (int k = found; k <= count; k++) l->values[k] = l->values[found - 1];
    l->count = count;
    return try_list(l);
}

int check_lists(const target *t, stand *s, findings *f)
{
    const int n = s->session.engine.system.species_count, pairs = n * (n + 1) / 2;
    const plugmc_plugin *plugin = s->own->plugin;
    int compared = 0;
    if (n < 2 || n > MOST_SPECIES || (!stand_pair(s) && !stand_field(s))) {
        check_not_covered(f, "lists",
                          n < 2 ? "there is one species" : "there are no values of species");
        return 0;
    }
    check_begin(f, "lists", NAN,
                "which energies change with each value of lists for species and pairs of species");
    for (int32_t k = 0; k < plugin->parameter_count; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(plugin, k);
        list_test l = {.target = t, .stand = s, .key = p, .per_pair = true, .findings = f};
        if (p->type != PLUGMC_TYPE_LIST || p->derived) continue;
        if (stand_pair(s)) compared += try_key(&l, pairs);
        l.per_pair = false;
        compared += try_key(&l, n);
    }
    if (!compared) check_leave(f, "no key has a value for each species or pair of species");
    return 0;
}
