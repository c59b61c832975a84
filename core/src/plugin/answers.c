/* Answers of plugins. A plugin is code of somebody else, written last week: what it says is taken
 * as input and not as truth. What can be seen from outside is whether a number is possible, a
 * pointer is there and a list ends. */
#include "plugin/answers.h"
#include "plugin/descriptor.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/report.h"
#include "gpu/gpu_source.h"

enum { MOST_QUANTITIES = 1000, MOST_TEXTS = 1000, MOST_NAME = 200 };

/* ---- Quantities ------------------------------------------------------------------------------ */

static int (*list_of(const plugmc_observable *o, enum quantity_list which))(void *, int,
                                                                            plugmc_quantity *)
{
    crash_calling_its(which == QUANTITIES_MEASURED ? "quantity" : "derived");
    return which == QUANTITIES_MEASURED ? o->quantity : o->derived;
}

/* A name is that of a group in the output file and of a column. */
static bool is_name(const char *name)
{
    if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) return false;
    for (const char *c = name; *c; c++)
        if (c - name >= MOST_NAME || *c == '/' || iscntrl((unsigned char)*c)) return false;
    return true;
}

static bool check_quantity(const plugmc_quantity *q, sentence why)
{
    const int64_t most = INT64_C(1) << 30; /* 8 GiB a walker */
    if (!q->name) return why_not(why, "a quantity has no name");
    if (!is_name(q->name))
        return why_not(why, "a quantity is named '%.80s': names have 1 to %d bytes and no '/'",
                       q->name, MOST_NAME);
    if (!q->unit || !q->doc)
        return why_not(why, "quantity '%s' has no %s (use \"\" for none)", q->name,
                       q->unit ? "description" : "unit");
    if (q->rank < 0 || q->rank > PLUGMC_MOST_RANK)
        return why_not(why, "quantity '%s' has %d axes: expected are 0 to %d", q->name, q->rank,
                       PLUGMC_MOST_RANK);
    int64_t length = 1;
    for (int d = 0; d < q->rank; d++) {
        if (q->shape[d] < 1 || q->shape[d] > most / length)
            return why_not(why,
                           "quantity '%s' has %lld values along axis %d: expected are 1 to %lld",
                           q->name, (long long)q->shape[d], d, (long long)(most / length));
        length *= q->shape[d];
        for (int64_t i = 0; q->abscissa[d] && i < q->shape[d]; i++)
            if (!isfinite(q->abscissa[d][i]))
                return why_not(why, "quantity '%s' has an axis with the value %g at %lld", q->name,
                               q->abscissa[d][i], (long long)i);
    }
    return true;
}

/* Whether one of the first `count` of a list is called so. */
static bool is_there(const plugmc_observable *o, void *instance, enum quantity_list which,
                     int count, const char *name)
{
    int (*list)(void *, int, plugmc_quantity *) = list_of(o, which);
    for (int k = 0; list && k < count; k++) {
        plugmc_quantity other = {.size = sizeof other};
        if (!list(instance, k, &other)) return false;
        if (other.name && strcmp(other.name, name) == 0) return true;
    }
    return false;
}

int ask_quantity(const plugmc_observable *o, void *instance, enum quantity_list which, int index,
                 plugmc_quantity *out, sentence why)
{
    int (*list)(void *, int, plugmc_quantity *) = list_of(o, which);
    *out = (plugmc_quantity){.size = sizeof *out};
    if (!list || !list(instance, index, out)) return 0;
    if (index >= MOST_QUANTITIES)
        return why_not(why, "it has more than %d quantities, the limit, or their list has no end",
                       MOST_QUANTITIES) -
               1;
    if (!check_quantity(out, why)) return -1;
    char name[MOST_NAME + 1]; /* of its own: the plugin may use one buffer for all */
    strcpy(name, out->name);
    if (is_there(o, instance, which, index, name) ||
        (which == QUANTITIES_DERIVED &&
         is_there(o, instance, QUANTITIES_MEASURED, MOST_QUANTITIES, name)))
        return why_not(why, "two quantities are named '%s'", name) - 1;
    *out = (plugmc_quantity){.size = sizeof *out};
    list_of(o, which)(instance, index, out);
    return 1;
}

int64_t first_not_finite(const double *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i])) return i;
    return -1;
}

/* ---- GPU sources ---------------------------------------------------------------------------- */

int ask_gpu_source(const plugmc_plugin *plugin, void *instance, const plugmc_host *host, int index,
                   plugmc_gpu_source *out, sentence why)
{
    *out = (plugmc_gpu_source){.size = sizeof *out};
    if (!plugin->gpu_source || !plugin->gpu_source(instance, host, index, out)) return 0;
    if (index >= MOST_TEXTS) return why_not(why, "the list of its GPU sources has no end") - 1;
    return check_gpu_source(out, why) ? 1 : -1;
}

/* ---- Potentials ------------------------------------------------------------------------------ */

static plugmc_particle sample_of(const plugmc_system *system, int s)
{
    return (plugmc_particle){.charge = plugmc_species_at(system, s)->charge,
                             .diameter = plugmc_species_at(system, s)->diameter,
                             .species = s};
}

/* The two precisions may differ by the rounding of the shorter one. */
static bool are_near(double a, double b) { return a == b || fabs(a - b) <= 1e-5 * fabs(a); }

static bool check_contact(const plugmc_system *system, const plugmc_term *term, int a, int b,
                          sentence why)
{
    const plugmc_pair *pair = term->plugin->potential->pair;
    const plugmc_plugin *s = term->plugin_single;
    const char *first = plugmc_species_at(system, a)->name,
               *second = plugmc_species_at(system, b)->name;
    plugmc_particle pa = sample_of(system, a), pb = sample_of(system, b);
    crash_calling_its("contact");
    double d = pair->contact(term->instance, &pa, &pb),
           back = pair->contact(term->instance, &pb, &pa);
    if (!(d >= 0) || isinf(d))
        return why_not(why, "the contact distance of '%s' and '%s' is %g", first, second, d);
    if (!are_near(d, back))
        return why_not(why,
                       "the contact distance of '%s' and '%s' is %.9g, that of '%s' and '%s' %.9g",
                       first, second, d, second, first, back);
    if (!s || !s->potential || !s->potential->pair) return true;
    double single = s->potential->pair->contact(term->instance_single, &pa, &pb);
    return are_near(d, single) || why_not(why,
                                          "the contact distance of '%s' and '%s' is %.9g in double "
                                          "precision and %.9g in "
                                          "single",
                                          first, second, d, single);
}

bool check_distances(const plugmc_system *system, const plugmc_term *term, sentence why)
{
    const plugmc_pair *pair = term->plugin->potential->pair;
    const plugmc_plugin *s = term->plugin_single;
    if (!pair) return true;
    crash_calling_its("range");
    double range = pair->range(term->instance);
    if (!(range >= 0)) return why_not(why, "the range of its pair energy is %g", range);
    if (s && s->potential && s->potential->pair) {
        double single = s->potential->pair->range(term->instance_single);
        if (!are_near(range, single))
            return why_not(why,
                           "the range of its pair energy is %.9g in double precision and %.9g in "
                           "single",
                           range, single);
    }
    for (int a = 0; a < system->species_count; a++)
        for (int b = a; b < system->species_count; b++)
            if (!check_contact(system, term, a, b, why)) return false;
    return true;
}

static bool check_ions(const plugmc_orbitals *orbitals, const void *instance, sentence why)
{
    const int32_t most = 100000000, most_energies = 1000;
    plugmc_ions ions = {.size = sizeof ions};
    crash_calling_its("ions");
    if (!PLUGMC_HAS(orbitals, ions) || !orbitals->ions || orbitals->ions(instance, &ions))
        return true;
    if (ions.count < 0 || ions.count > most) return why_not(why, "it has %d ions", ions.count);
    if (ions.count && (!ions.positions || !ions.atomic_number || !ions.valence))
        return why_not(why, "its ions have no positions, atomic numbers or valences");
    for (int32_t i = 0; i < ions.count; i++)
        if (first_not_finite(ions.positions[i], 3) >= 0 || !isfinite(ions.valence[i]) ||
            ions.atomic_number[i] < 0)
            return why_not(why, "its ion %d has an invalid position, atomic number or valence",
                           i + 1);
    if (ions.energy_count < 0 || ions.energy_count > most_energies ||
        (ions.energy_count && (!ions.energy_names || !ions.energies)))
        return why_not(why, "its list of %d energies is invalid", ions.energy_count);
    for (int32_t i = 0; i < ions.energy_count; i++)
        if (!ions.energy_names[i]) return why_not(why, "its energy %d has no name", i + 1);
    return true;
}

static bool check_orbitals(const plugmc_system *system, const plugmc_term *term, sentence why)
{
    const int64_t most = 10000000;
    const plugmc_orbitals *orbitals = plugmc_orbitals_of(term->plugin);
    crash_calling_its("count");
    for (int s = 0; s < system->species_count; s++) {
        int64_t count = orbitals->count(term->instance, s);
        if (count < 0 || count > most)
            return why_not(why, "it has %lld orbitals for '%s'", (long long)count,
                           plugmc_species_at(system, s)->name);
    }
    return check_ions(orbitals, term->instance, why);
}

static bool check_waves(const plugmc_total *total, const void *instance, sentence why)
{
    const int64_t most = INT64_C(1) << 31;
    plugmc_waves waves = {.size = sizeof waves};
    crash_calling_its("waves");
    if (!PLUGMC_HAS(total, waves) || !total->waves || total->waves(instance, &waves)) return true;
    if (waves.count < 0 || waves.count > most || (waves.count && (!waves.n || !waves.weight)))
        return why_not(why, "its list of %lld waves is invalid", (long long)waves.count);
    int64_t wrong = first_not_finite(waves.weight, waves.count);
    if (wrong >= 0)
        return why_not(why, "its wave %lld has the weight %g", (long long)wrong,
                       waves.weight[wrong]);
    return isfinite(waves.constant) ||
           why_not(why, "the constant beside its waves is %g", waves.constant);
}

/* That what an optimisation finds can be written down: each number has a key of its own, or a place in one. */
static bool check_variational_parameter(const plugmc_plugin *plugin,
                                        const plugmc_variational_parameter *n, int64_t k,
                                        sentence why)
{
    if (!n->key) return why_not(why, "its variational parameter %lld has no key", (long long)k);
    for (int32_t i = 0; i < plugin->parameter_count; i++) {
        const plugmc_parameter *p = plugmc_parameter_at(plugin, i);
        if (p->derived || strcmp(p->name, n->key)) continue;
        if (n->place == -1 ? p->type == PLUGMC_TYPE_REAL
                           : n->place >= 0 && p->type == PLUGMC_TYPE_LIST)
            return true;
        return why_not(why,
                       "its variational parameter %lld has index %lld in '%s', which is invalid",
                       (long long)k, (long long)n->place, n->key);
    }
    return why_not(why,
                   "its variational parameter %lld belongs to '%.80s', which is not one "
                   "of its keys",
                   (long long)k, n->key);
}

static bool check_tables(const plugmc_plugin *plugin, const char *const *table, sentence why)
{
    for (; table && *table; table++) {
        bool found = false;
        for (int32_t i = 0; i < plugin->parameter_count && !found; i++)
            found = plugin->parameters[i].type == PLUGMC_TYPE_LIST &&
                    !strcmp(plugin->parameters[i].name, *table);
        if (!found)
            return why_not(why,
                           "its variational parameters are in '%.80s', which is not one "
                           "of its lists",
                           *table);
    }
    return true;
}

/* Of a text that gives derivatives. */
static bool check_sums(const plugmc_variational *f, const void *instance, int64_t most,
                       sentence why)
{
    if (!f->functions) return true;
    if (f->functions & ~(PLUGMC_VARIATIONAL_PAIR | PLUGMC_VARIATIONAL_FIELD))
        return why_not(why,
                       "its variational parameters are in functions of an unknown kind "
                       "(%d)",
                       f->functions);
    crash_calling_its("sums");
    const int64_t sums = f->sums(instance);
    return (sums >= 0 && sums <= most) ||
           why_not(why, "its variational parameters are made of %lld sums", (long long)sums);
}

static bool check_free(const plugmc_term *term, sentence why)
{
    const int64_t most = 100000;
    const plugmc_variational *f = plugmc_variational_of(term->plugin);
    if (!check_tables(term->plugin, f->tables, why)) return false;
    if (!check_sums(f, term->instance, most, why)) return false;
    crash_calling_its("count");
    const int64_t count = f->count(term->instance);
    if (count < 0 || count > most)
        return why_not(why, "it has %lld variational parameters", (long long)count);
    crash_calling_its("number");
    const char *list = "";
    for (int64_t k = 0, next = 0; k < count; k++) {
        plugmc_variational_parameter n = {.size = sizeof n};
        if (f->number(term->instance, k, &n))
            return why_not(why, "it does not give the value of its variational parameter %lld",
                           (long long)k);
        if (!check_variational_parameter(term->plugin, &n, k, why)) return false;
        next = strcmp(n.key, list) ? 0 : next + 1;
        list = n.key;
        if (n.place != (n.place < 0 && !next ? -1 : next))
            return why_not(why, "its variational parameter %lld has index %lld in '%s', not %lld",
                           (long long)k, (long long)n.place, n.key, (long long)next);
    }
    double *values = checked(calloc((size_t)count + 1, sizeof *values));
    crash_calling_its("get");
    const bool told = !f->get(term->instance, values);
    const int64_t wrong = told ? first_not_finite(values, count) : -1;
    const double what = wrong >= 0 ? values[wrong] : 0;
    free(values);
    if (!told) return why_not(why, "it does not give the values of its variational parameters");
    return wrong < 0 ||
           why_not(why, "its variational parameter %lld is %g", (long long)wrong, what);
}

bool check_potential_answers(const plugmc_system *system, const plugmc_term *term, sentence why)
{
    const plugmc_potential *p = term->plugin->potential;
    return (!plugmc_orbitals_of(term->plugin) || check_orbitals(system, term, why)) &&
           (!p->total || check_waves(p->total, term->instance, why)) &&
           (!plugmc_variational_of(term->plugin) || check_free(term, why));
}

/* ---- Movers ---------------------------------------------------------------------------------- */

bool check_mover_answers(const plugmc_plugin *plugin, const void *instance, sentence why)
{
    for (int32_t k = 0; k < plugin->mover->move_count; k++) {
        const plugmc_move *move = &plugin->mover->moves[k];
        const double step = parameter_real(plugin, instance, move->step_key),
                     target = parameter_real(plugin, instance, move->target_key);
        if (move->step_unit && (!(step >= 0) || isinf(step)))
            return why_not(why, "the size of its trial moves is %g", step);
        if (!(target >= 0 && target <= 1))
            return why_not(why, "its target acceptance is %g", target);
    }
    return true;
}

bool check_counts(const plugmc_counts *counts, sentence why)
{
    return counts->accepted <= counts->trials ||
           why_not(why, "it has accepted %llu of %llu trial moves",
                   (unsigned long long)counts->accepted, (unsigned long long)counts->trials);
}
