/* Lists with a value for each species, or for each pair of species: a value may change the energies of its own pair
 * alone. A list is taken for one of these if a run is refused that has one value more. Of two species the sum of both numbers
 * is a right index of a pair, and so a third one is added. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "checks.h"
#include "plugin/descriptor.h"

enum { POINTS = 24, MOST_SPECIES = 3, MOST_PAIRS = 6, MOST_LISTS = 24, LONGEST = 600 };

typedef struct energies {
    double of_pair[MOST_PAIRS][POINTS], of_species[MOST_SPECIES][POINTS];
} energies;

/* Up to where energies are asked; length. */
static double end_of(const stand *s)
{
    const plugmc_body *body = plugmc_body_of(s->own->plugin);
    const double range = stand_pair(s) ? stand_pair(s)->range(s->own->data)
                         : body        ? body->range(s->own->data)
                                       : INFINITY;
    return fmin(isfinite(range) && range > 0 ? range : INFINITY,
                stand_reach(&s->session.engine.system.box));
}

/* Of two bodies, at a place and with orientations of number k; +infinity: they overlap. */
static double body_energy_at(const stand *s, int32_t a, int32_t b, double r, int k)
{
    const plugmc_system *system = &s->session.engine.system;
    const int32_t dimension = system->box.dimension;
    const plugmc_seed seed = {.key = 0x6c69737473};
    const plugmc_particle one = particle_of(system, a, (double[3]){0.8 * r, 0.6 * r, 0}),
                          other = particle_of(system, b, (double[3]){0, 0, 0});
    const plugmc_orientation turned = plugmc_draw_orientation(seed, (uint64_t)k, 0, 1, dimension),
                             back = plugmc_draw_orientation(seed, (uint64_t)k, 0, 2, dimension);
    const plugmc_particles list = {
        1, &other.x, &other.y, &other.z, &other.charge, &other.diameter, &other.species};
    double energy = 0;
    return plugmc_body_of(s->own->plugin)
                   ->energy(s->own->data, &system->box, 0, &one, &turned, &list, &back, &energy)
               ? INFINITY
               : energy;
}

static void ask(stand *s, double end, energies *out)
{
    const plugmc_system *system = &s->session.engine.system;
    int pair = 0;
    *out = (energies){0};
    context_calling(&s->own->context, "energy");
    for (int32_t a = 0; a < system->species_count; a++) {
        for (int32_t b = a; b < system->species_count; b++, pair++)
            for (int k = 0; k < POINTS; k++)
                out->of_pair[pair][k] = stand_pair(s)
                                            ? pair_energy_at(s, a, b, end * (k + 0.61) / POINTS)
                                        : plugmc_body_of(s->own->plugin)
                                            ? body_energy_at(s, a, b, end * (k + 0.61) / POINTS, k)
                                            : 0;
        for (int k = 0; k < POINTS && stand_field(s); k++) {
            const double r = end * (k + 0.39) / POINTS, at[3] = {0.8 * r, 0.6 * r, 0};
            out->of_species[a][k] = field_energy_at(s, a, at);
        }
    }
    crash_called();
}

/* `finite`: overlaps do not count. */
static bool differ_where(const double *a, const double *b, bool finite)
{
    for (int k = 0; k < POINTS; k++) {
        if (finite ? !isfinite(a[k]) || !isfinite(b[k]) : isnan(a[k]) && isnan(b[k])) continue;
        if (a[k] != b[k] && !(fabs(a[k] - b[k]) <= 1e-9 * fabs(a[k]))) return true;
    }
    return false;
}

static bool differ(const double *a, const double *b) { return differ_where(a, b, false); }

/* The list of one key, and the numbers that are tried. */
typedef struct list_test {
    const target *target;
    stand *stand;
    const plugmc_parameter *key;
    int count;
    double values[MOST_PAIRS + 1];
    bool per_pair;
    /* Of the run, which may have one more than FILE.ini. */
    int species;
    /* All lists of one value get as many as this one, as some plugins want it. */
    bool together;
    findings *findings;
} list_test;

static int pairs_of(int species) { return species * (species + 1) / 2; }

static int own_species(const list_test *l) { return l->stand->session.engine.system.species_count; }

static const char *name_of(const list_test *l, int32_t species)
{
    const plugmc_system *system = &l->stand->session.engine.system;
    return species < system->species_count ? plugmc_species_at(system, species)->name
                                           : stand_another;
}

/* Values of a key that the run has, or its default: how many; those behind them are multiples of the last one, the same for
 * all keys, so that a smaller distance stays smaller. */
static int values_of(const list_test *l, const plugmc_parameter *key, double values[MOST_PAIRS + 1])
{
    const ini_entry *given = ini_get(l->stand->own->section->section, key->name);
    const char *at = given ? given->value : key->fallback ? key->fallback : "";
    int found = 0;
    for (char *end; found <= MOST_PAIRS; found++, at = end) {
        const double value = strtod(at, &end);
        if (end == at) break;
        values[found] = value;
    }
    for (int k = found; found && k <= MOST_PAIRS; k++)
        values[k] = values[found - 1] * (1 + 0.05 * (k - found + 1));
    return found;
}

static char *assignment(const list_test *l, const plugmc_parameter *key, const double *values,
                        int count)
{
    char *text = checked(malloc(LONGEST));
    int used = snprintf(text, LONGEST, "potential %s.%s=", l->target->label, key->name);
    for (int k = 0; k < count && used < LONGEST; k++)
        used += snprintf(text + used, (size_t)(LONGEST - used), " %.17g", values[k]);
    return text;
}

/* As many values as another list needs where this one has `count`; 0: it stays. */
static int other_count(const list_test *l, int found, int count)
{
    const int own = own_species(l);
    if (found == 1) return l->together ? count : 0;
    if (l->species == own) return 0;
    return found == pairs_of(own) ? pairs_of(l->species) : found == own ? l->species : 0;
}

/* Energies of a run with the first `count` values; false: it is refused. */
static bool try_values(const list_test *l, int count, energies *out)
{
    const plugmc_plugin *plugin = l->stand->own->plugin;
    char *assignments[MOST_LISTS + 1] = {0};
    int lists = 0;
    stand other;
    assignments[lists++] = assignment(l, l->key, l->values, count);
    for (int32_t k = 0; k < plugin->parameter_count && lists < MOST_LISTS; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(plugin, k);
        double values[MOST_PAIRS + 1];
        if (p == l->key || p->type != PLUGMC_TYPE_LIST || p->derived) continue;
        const int found = values_of(l, p, values), needed = other_count(l, found, count);
        if (needed && needed <= MOST_PAIRS + 1)
            assignments[lists++] = assignment(l, p, values, needed);
    }
    const bool good = !stand_open_changed(
        l->target, l->stand->number, STAND_POSITIONS,
        (stand_change){
            .edge = 1, .assignments = assignments, .another_species = l->species > own_species(l)},
        &other);
    if (good && out) ask(&other, end_of(l->stand), out); /* a longer cutoff has a longer range */
    stand_close(&other);
    for (int k = 0; k < lists; k++) free(assignments[k]);
    return good;
}

static int pair_number(const list_test *l, int a, int b)
{
    const int low = a < b ? a : b, high = a < b ? b : a;
    return low * l->species - low * (low - 1) / 2 + high - low;
}

/* A value for a species that its own pair feels, but no pair with another species; of energies, since few pairs of bodies are where
 * one value decides about an overlap. */
static void look_for_missing(const list_test *l, int value, const energies *before,
                             const energies *after)
{
    const int own = pair_number(l, value, value);
    int others = 0;
    for (int32_t a = 0; a < l->species; a++)
        others += a != value && differ_where(before->of_pair[pair_number(l, a, value)],
                                             after->of_pair[pair_number(l, a, value)], true);
    if (l->per_pair || l->species < 2 || others ||
        !differ_where(before->of_pair[own], after->of_pair[own], true))
        return;
    check_warn(
        l->findings,
        "value %d of '%s' changes the energy of two '%s', and of no '%s' with another species: is "
        "that meant? Look at which particle's species is taken",
        value + 1, l->key->name, name_of(l, value), name_of(l, value));
}

/* Value `value` has been changed. */
static void compare(const list_test *l, int value, const energies *before, const energies *after)
{
    int pair = 0;
    for (int32_t a = 0; a < l->species; a++) {
        if (!l->per_pair && a != value && differ(before->of_species[a], after->of_species[a]))
            check_fail(
                l->findings,
                "value %d of '%s' changes the field of '%s': values for species are in the order of "
                "their sections",
                value + 1, l->key->name, name_of(l, a));
        for (int32_t b = a; b < l->species; b++, pair++) {
            /* of three species there are as many pairs of unlike ones, which a list may be for as well */
            const bool unlike = l->species == 3 && a < b && a + b - 1 == value,
                       own = l->per_pair ? pair == value : a == value || b == value || unlike;
            if (own || !differ(before->of_pair[pair], after->of_pair[pair])) continue;
            check_fail(
                l->findings,
                "value %d of '%s' changes the energy of '%s' and '%s'%s: values for %s are in the "
                "order %s",
                value + 1, l->key->name, name_of(l, a), name_of(l, b),
                l->species > own_species(l) ? ", with one species more than are given" : "",
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
        if (try_values(l, l->count, &after)) {
            compare(l, k, &before, &after);
            look_for_missing(l, k, &before, &after);
        }
        l->values[k] = value;
    }
    return true;
}

/* With one value, or as many as there are pairs of species, or species, in the run that is given. */
static bool try_key(list_test *l)
{
    const int own = own_species(l), found = values_of(l, l->key, l->values),
              many = l->per_pair ? pairs_of(own) : own;
    bool is_list = false;
    if (found != 1 && found != many) return false;
    if (found == 1)
        for (int k = 1; k <= MOST_PAIRS; k++) l->values[k] = l->values[0];
    const int most = l->per_pair ? MOST_SPECIES : own < 2 ? 2 : own;
    for (l->species = own < 2 ? 2 : own; l->species <= most; l->species++) {
        l->count = l->per_pair ? pairs_of(l->species) : l->species;
        l->together = false;
        bool taken = try_list(l);
        l->together = true;
        if (!taken) taken = try_list(l);
        is_list |= taken;
    }
    return is_list;
}

int check_lists(const target *t, stand *s, findings *f)
{
    const int n = s->session.engine.system.species_count;
    const plugmc_plugin *plugin = s->own->plugin;
    int compared = 0;
    const bool pairs = stand_pair(s) || plugmc_body_of(plugin);
    if (n > MOST_SPECIES || (!pairs && !stand_field(s))) {
        check_not_covered(f, "lists",
                          n > MOST_SPECIES ? "there are more than three species"
                                           : "there are no energies of pairs or of a field");
        return 0;
    }
    check_begin(f, "lists", NAN,
                "which energies change with each value of lists for species and pairs of species");
    for (int32_t k = 0; k < plugin->parameter_count; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(plugin, k);
        list_test l = {.target = t, .stand = s, .key = p, .per_pair = true, .findings = f};
        if (p->type != PLUGMC_TYPE_LIST || p->derived) continue;
        if (pairs) compared += try_key(&l);
        l.per_pair = false;
        compared += try_key(&l);
    }
    if (!compared) check_leave(f, "no key has a value for each species or pair of species");
    return 0;
}
