/* Three mistakes that a plugin's numbers do not show:
 *
 *   a list is read behind its end     as where a key has one number and there are two species. Other
 *                                     numbers are put there: no energy may change by that.
 *   a field that no table declares    is what `configure` has made it on the CPU, and 0 in the source for a
 *                                     GPU, which has what tables declare. It is made 0 here, too.
 *
 * Pointers are left as they are: what they point to may be for the CPU alone, which the source for a GPU leaves out
 * (`#if PLUGMC_HOST`). Where the source makes no such difference, a list that no table declares, a pointer and a number behind it,
 * gets other values.
 *
 *   a parameter that `prepare` sets   is what `configure` has made it in float and on a GPU, since `prepare` gets the
 *                                     struct in double alone. Energies are asked before and after it. */
#include "plugin/hidden_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input/config.h"
#include "input/lists.h"
#include "input/parameters.h"
#include "base/crash.h"

enum { SEPARATIONS = 24, MOST_PAIRS = 60, MOST_SPECIES = 60 };
/* Numbers of one pair of species: contact, then energies; of one species: energies of a field. */
enum {
    OF_PAIR = 1 + SEPARATIONS,
    OF_SPECIES = 8,
    NUMBERS = 1 + MOST_PAIRS * OF_PAIR + MOST_SPECIES * OF_SPECIES
};

typedef struct answers {
    double range, pair[MOST_PAIRS][OF_PAIR], field[MOST_SPECIES][OF_SPECIES];
} answers;

/* A potential in one of its precisions. */
typedef struct subject {
    const plugmc_system *system;
    const plugmc_plugin *plugin;
    const void *instance;
} subject;

/* ---- Answers --------------------------------------------------------------------------------- */

/* One particle as arrays of the precision of the plugin. */
typedef struct one {
    double real[5];
    float real_single[5];
    plugmc_particles list;
} one;

static const plugmc_particles *list_of(one *o, const plugmc_particle *p, size_t real_size)
{
    const double numbers[5] = {p->x, p->y, p->z, p->charge, p->diameter};
    const void *at[5];
    for (int k = 0; k < 5; k++) {
        o->real[k] = numbers[k];
        o->real_single[k] = (float)numbers[k];
        at[k] = real_size == sizeof(float) ? (const void *)&o->real_single[k] : &o->real[k];
    }
    o->list = (plugmc_particles){1, at[0], at[1], at[2], at[3], at[4], &p->species};
    return &o->list;
}

static plugmc_particle particle_of(const plugmc_system *system, int32_t species)
{
    const plugmc_species *s = plugmc_species_at(system, species);
    return (plugmc_particle){.charge = s->charge, .diameter = s->diameter, .species = species};
}

static double size_of_box(const plugmc_system *system)
{
    const plugmc_box *box = &system->box;
    return box->domain == PLUGMC_DOMAIN_SPHERE ? box->radius : 0.5 * box->length[0];
}

static void ask_pair(const subject *s, int32_t a, int32_t b, double range, double out[OF_PAIR])
{
    const plugmc_pair *pair = s->plugin->potential->pair;
    const double end = isfinite(range) && range > 0 ? range : size_of_box(s->system);
    plugmc_particle pa = particle_of(s->system, a);
    const plugmc_particle pb = particle_of(s->system, b);
    one o;
    crash_calling_its("contact");
    out[0] = pair->contact(s->instance, &pa, &pb);
    crash_calling_its("energy");
    for (int k = 0; k < SEPARATIONS; k++) {
        const double r = 1.1 * end * (k + 0.61) / SEPARATIONS;
        double u = 0;
        pa.x = 0.8 * r;
        pa.y = 0.6 * r;
        const int64_t overlaps = pair->energy(s->instance, &s->system->box, 0, &pa,
                                              list_of(&o, &pb, s->plugin->real_size), &u);
        out[1 + k] = overlaps ? INFINITY : u;
    }
}

static void ask_field(const subject *s, int32_t a, double out[OF_SPECIES])
{
    const plugmc_field *field = s->plugin->potential->field;
    plugmc_particle p = particle_of(s->system, a);
    one o;
    crash_calling_its("energy");
    for (int k = 0; k < OF_SPECIES; k++) {
        const double r = size_of_box(s->system) * (k + 0.39) / OF_SPECIES;
        double u = 0;
        p.x = 0.8 * r;
        p.y = 0.6 * r;
        out[k] =
            field->energy(s->instance, list_of(&o, &p, s->plugin->real_size), &u) ? INFINITY : u;
    }
}

static void ask(const subject *s, answers *out)
{
    const plugmc_potential *p = s->plugin->potential;
    int pairs = 0;
    *out = (answers){0};
    for (int32_t a = 0; a < s->system->species_count && p->field && a < MOST_SPECIES; a++)
        ask_field(s, a, out->field[a]);
    if (!p->pair) return;
    crash_calling_its("range");
    out->range = p->pair->range(s->instance);
    for (int32_t a = 0; a < s->system->species_count; a++)
        for (int32_t b = a; b < s->system->species_count && pairs < MOST_PAIRS; b++)
            ask_pair(s, a, b, out->range, out->pair[pairs++]);
}

/* Whether nothing is another number. */
static bool are_equal(const answers *a, const answers *b)
{
    const double *x = (const double *)a, *y = (const double *)b;
    for (int k = 0; k < NUMBERS; k++)
        if (!(x[k] == y[k] || (isnan(x[k]) && isnan(y[k])))) return false;
    return true;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* The first entry behind the end that changes an answer; `with` are those where all of them are 1. */
static int64_t first_read(const subject *s, const plugmc_list *list, const answers *with,
                          answers *other)
{
    int64_t low = 0, high = LIST_BEHIND - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        list_put_first_behind(list, middle + 1, NAN);
        ask(s, other);
        if (are_equal(with, other))
            low = middle + 1;
        else
            high = middle;
    }
    list_put_behind(list, NAN);
    return low;
}

static bool check_list(const subject *s, const plugmc_parameter *p, answers *first, answers *second,
                       sentence why)
{
    plugmc_list list; /* the same size in both precisions */
    memcpy(&list, (const char *)s->instance + p->offset, sizeof list);
    if (!list_put_behind(&list, 1)) return true;
    ask(s, first);
    list_put_behind(&list, NAN);
    ask(s, second);
    if (are_equal(first, second)) return true;
    const long long entry = list.count + first_read(s, &list, first, second);
    return why_not(
        why,
        "key '%s' has %d number%s, and the plugin reads entry %lld, counted from 0, beyond "
        "the end of the list: its index is wrong, or it should refuse a list that is too "
        "short, with one number for each species or pair of species",
        p->name, list.count, list.count == 1 ? "" : "s", entry);
}

static bool check_lists(const subject *s, answers *first, answers *second, sentence why)
{
    for (int32_t k = 0; k < s->plugin->parameter_count; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(s->plugin, k);
        if (p->type == PLUGMC_TYPE_LIST && !p->derived && !check_list(s, p, first, second, why))
            return false;
    }
    return true;
}

/* ---- Fields that no table declares ----------------------------------------------------------- */

static bool is_pointer(uint64_t word)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return word >= page && !msync((void *)(uintptr_t)(word / page * page), page, MS_ASYNC);
}

/* declared [size]: 1 where a parameter is. */
static void find_declared(const plugmc_plugin *plugin, unsigned char *declared)
{
    for (int32_t k = 0; k < plugin->parameter_count; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(plugin, k);
        memset(declared + p->offset, 1, parameter_bytes(p, plugin->real_size));
    }
}

/* Clears what is not declared; *first: where there was something. Returns whether there was. */
static bool clear_undeclared(unsigned char *copy, const unsigned char *declared, size_t size,
                             size_t *first)
{
    bool any = false;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        const size_t end = at + sizeof(uint64_t) < size ? at + sizeof(uint64_t) : size;
        uint64_t word = 0;
        memcpy(&word, copy + at, end - at);
        if (!word || is_pointer(word)) continue;
        for (size_t k = at; k < end; k++) {
            if (declared[k] || !copy[k]) continue;
            if (!any) *first = k;
            any = true;
            copy[k] = 0;
        }
    }
    return any;
}

/* Behind which member the table declares the one at byte `at` of the struct is: its name, or NULL. */
static const char *declared_before(const plugmc_plugin *plugin, size_t at)
{
    const plugmc_parameter *last = NULL;
    for (int32_t k = 0; k < plugin->parameter_count; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(plugin, k);
        if ((size_t)p->offset < at && (!last || p->offset > last->offset)) last = p;
    }
    return last ? last->name : NULL;
}

static bool tell_undeclared(const subject *s, size_t at, const char *what, const char *remedy,
                            sentence why)
{
    const char *before = declared_before(s->plugin, at);
    return why_not(
        why,
        "the %s at byte %zu of its struct%s%s%s is set by 'configure', but not declared in the "
        "table of parameters: it would be 0 on a GPU, and energies would differ; declare it "
        "with %s",
        what, at, before ? ", behind '" : "", before ? before : "", before ? "'," : "", remedy);
}

static bool check_numbers(const subject *s, const unsigned char *declared, unsigned char *copy,
                          answers *first, answers *second, sentence why)
{
    size_t begin = 0;
    subject cleared = *s;
    cleared.instance = copy;
    memcpy(copy, s->instance, s->plugin->instance_size);
    if (!clear_undeclared(copy, declared, s->plugin->instance_size, &begin)) return true;
    ask(s, first);
    ask(&cleared, second);
    return are_equal(first, second) ||
           tell_undeclared(s, begin / s->plugin->real_size * s->plugin->real_size, "member",
                           "PLUGMC_REAL_DERIVED or the like", why);
}

/* The bytes of what a pointer and a number at `at` say is a list of reals; 0: it is none that could be read. */
static size_t bytes_of_list(const subject *s, const unsigned char *declared, size_t at,
                            plugmc_list *list)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (at + sizeof *list > s->plugin->instance_size || declared[at]) return 0;
    memcpy(list, (const char *)s->instance + at, sizeof *list);
    const uint64_t begin = (uint64_t)(uintptr_t)list->values;
    if (list->count < 1 || list->count > 1 << 24 || !is_pointer(begin)) return 0;
    const size_t bytes = (size_t)list->count * s->plugin->real_size;
    for (uint64_t other = begin / page + 1; other <= (begin + bytes - 1) / page; other++)
        if (!is_pointer(other * page)) return 0;
    return bytes;
}

/* A source with one `#if PLUGMC_HOST` begins the part for the CPU by it; others may choose between two ways there. */
static bool chooses_by_host(const plugmc_plugin *plugin)
{
    static const char word[] = "PLUGMC_HOST";
    int found = 0;
    for (const char *at = plugin->source; found < 2; found++, at++) {
        at = memmem(at, (size_t)(plugin->source_end - at), word, sizeof word - 1);
        if (!at) break;
    }
    return found == 2;
}

static bool check_pointers(const subject *s, const unsigned char *declared, unsigned char *copy,
                           answers *first, answers *second, sentence why)
{
    if (chooses_by_host(s->plugin)) return true;
    for (size_t at = 0; at < s->plugin->instance_size; at += sizeof(void *)) {
        plugmc_list list;
        const size_t bytes = bytes_of_list(s, declared, at, &list);
        unsigned char *others = bytes ? malloc(bytes) : NULL;
        if (!others) continue;
        subject changed = *s;
        changed.instance = copy;
        memset(others, 0xff, bytes); /* NaN */
        memcpy(copy, s->instance, s->plugin->instance_size);
        memcpy(copy + at, &others, sizeof others);
        ask(s, first);
        ask(&changed, second);
        free(others);
        if (!are_equal(first, second))
            return tell_undeclared(s, at, "list", "PLUGMC_LIST_DERIVED", why);
    }
    return true;
}

static bool check_undeclared(const subject *s, answers *first, answers *second, sentence why)
{
    const size_t room = s->plugin->instance_size + sizeof(uint64_t);
    unsigned char *copy = aligned_alloc(64, (room + 63) / 64 * 64), *declared = calloc(1, room);
    bool good = true;
    if (copy && declared) {
        find_declared(s->plugin, declared);
        good = check_numbers(s, declared, copy, first, second, why) &&
               check_pointers(s, declared, copy, first, second, why);
    }
    free(copy);
    free(declared);
    return good;
}

bool check_hidden_inputs(const plugmc_system *system, const plugmc_term *term, sentence why)
{
    const plugmc_plugin *both[2] = {term->plugin, term->plugin_single};
    const void *instances[2] = {term->instance, term->instance_single};
    answers *room = checked(calloc(2, sizeof *room));
    bool good = true;
    for (int k = 0; k < 2 && good; k++) {
        const plugmc_plugin *plugin = both[k];
        const subject s = {system, plugin, instances[k]};
        if (!plugin || !plugin->potential ||
            (!plugin->potential->pair && !plugin->potential->field))
            continue;
        good = check_lists(&s, &room[0], &room[1], why) &&
               (!term->plugin->source || check_undeclared(&s, &room[0], &room[1], why));
    }
    free(room);
    return good;
}

/* ---- Parameters that `prepare` changes --------------------------------------------------------- */

static bool has_energies(const plugmc_plugin *plugin)
{
    return plugin->potential && (plugin->potential->pair || plugin->potential->field);
}

struct answers *answers_before_prepare(const plugmc_system *system, const plugmc_term *term)
{
    const subject s = {system, term->plugin, term->instance};
    if (!term->plugin->prepare || !has_energies(term->plugin)) return NULL;
    answers *out = checked(calloc(1, sizeof *out));
    ask(&s, out);
    return out;
}

bool check_prepare_keeps(const plugmc_system *system, const plugmc_term *term,
                         const answers *before, sentence why)
{
    const subject s = {system, term->plugin, term->instance};
    answers *after = checked(calloc(1, sizeof *after));
    ask(&s, after);
    const bool good = are_equal(before, after);
    free(after);
    return good || why_not(why,
                           "`prepare` changes what energies of %s depend on, of which float and a "
                           "GPU have no part: they would go on with what `configure` has set; "
                           "compute there what follows from the parameters",
                           term->plugin->potential->pair ? "pairs" : "single particles");
}
