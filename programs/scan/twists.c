/* See twists.h. */
#include "twists.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "input/former_keys.h"
#include "input/parameters.h"
#include "system/system.h"
#include "words.h"

enum { MOST_TWISTS = 20000, MOST_DIVISIONS = 64, MOST_WAVE_INDEX = 200 };
enum { MISSING_REFUSE, MISSING_LEAVE_OUT };

typedef struct twists_section {
    const char *potential, *list;
    plugmc_list grid, weights;
    int32_t gamma, missing;
    double fermi_energy;
} twists_section;

static const plugmc_parameter twists_table[] = {
    PLUGMC_TEXT_KEY(twists_section, potential, NULL,
                    "label of the [potential] that has the key twist"),
    PLUGMC_LIST_KEY(twists_section, grid, 0, "", 1, MOST_DIVISIONS, "",
                    "Monkhorst-Pack divisions along each reciprocal vector of the box"),
    PLUGMC_FLAG_KEY(twists_section, gamma, "no",
                    "the grid contains twist 0, even if divisions are even"),
    PLUGMC_TEXT_KEY(twists_section, list, "",
                    "twists instead of a grid, each in quotes, in units of the reciprocal vectors"),
    PLUGMC_LIST_KEY(twists_section, weights, 0, "", -1e300, 1e300, "",
                    "weights of the twists of the list; empty: equal weights"),
    PLUGMC_REAL_KEY(twists_section, fermi_energy, "0", 0, 1e9, "hartree",
                    "each species occupies all plane waves with k^2/2 up to it; 0: the given "
                    "numbers of electrons"),
    PLUGMC_CHOICE_KEY(twists_section, missing, "refuse", "refuse|leave_out",
                      "if a twist is not finished: no average, or that of the other twists"),
};

/* The base of all points: box, species and counts. */
typedef struct base {
    ini_file ini;
    config config;
    plugmc_system system;
} base;

static int refuse(const study *s, const char *key, report *r, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int refuse(const study *s, const char *key, report *r, const char *format, ...)
{
    char sentence[512];
    const ini_entry *entry = ini_get(&s->twist_section, key);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return report_error(r, EXIT_INPUT, s->path, entry ? entry->line : s->twist_section.line,
                        "[twists] %s", sentence);
}

/* ---- Which twists --------------------------------------------------------------------------- */

static char *twist_text(const double *twist, int dimension)
{
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    for (int d = 0; d < dimension; d++) fprintf(out, "%s%.12g", d ? " " : "", twist[d]);
    fclose(out);
    return checked(text);
}

/* Whole numbers t with theta = t / (2 q), of -theta too, both in (-q, q]. */
static void grid_place(int64_t r, const int64_t q[3], int dimension, int gamma, int64_t t[3],
                       int64_t opposite[3])
{
    for (int d = dimension - 1; d >= 0; d--) {
        const int64_t at = r % q[d], twice = 2 * q[d];
        t[d] = gamma ? 2 * at : 2 * at + 1 - q[d];
        t[d] = ((t[d] + q[d] - 1) % twice + twice) % twice - q[d] + 1;
        opposite[d] = t[d] == q[d] ? t[d] : -t[d];
        r /= q[d];
    }
}

/* The grid of H. J. Monkhorst and J. D. Pack, Phys. Rev. B 13, 5188 (1976), theta = (2 r - q - 1) / (2 q) with r = 1
 * ... q, or r / q. Energies at theta and -theta are equal by time reversal: one of them stands for both. */
static int take_grid(study *s, const twists_section *own, int dimension, scanned_key *key,
                     report *r)
{
    int64_t all = 1, q[3];
    if (own->grid.count != dimension)
        return refuse(s, "grid", r,
                      "grid has %d numbers but needs %d, one for each dimension of the box",
                      own->grid.count, dimension);
    for (int d = 0; d < dimension; d++) {
        q[d] = (int64_t)own->grid.values[d];
        if ((double)q[d] != own->grid.values[d])
            return refuse(s, "grid", r, "grid: %g is not a whole number", own->grid.values[d]);
        all *= q[d];
    }
    if (all > MOST_TWISTS)
        return refuse(s, "grid", r, "grid: %lld twists are more than %d", (long long)all,
                      MOST_TWISTS);
    key->values = checked(calloc((size_t)all + 1, sizeof *key->values));
    s->twists.weights = checked(calloc((size_t)all, sizeof *s->twists.weights));
    for (int64_t n = 0; n < all; n++) {
        int64_t t[3], opposite[3];
        double twist[3];
        int order = 0;
        grid_place(n, q, dimension, own->gamma, t, opposite);
        for (int d = 0; d < dimension && !order; d++)
            order = (t[d] > opposite[d]) - (t[d] < opposite[d]);
        if (order < 0) continue;
        for (int d = 0; d < dimension; d++) twist[d] = (double)t[d] / (2 * (double)q[d]);
        s->twists.weights[key->count] = order ? 2 : 1;
        key->values[key->count++] = twist_text(twist, dimension);
    }
    return 0;
}

/* Each word of the list becomes the numbers that it has, as texts. */
static int take_list(study *s, const twists_section *own, int dimension, scanned_key *key,
                     report *r)
{
    key->count = words_split(own->list, &key->values);
    if (key->count < 0) return refuse(s, "list", r, "list: a quote has no end");
    if (key->count > MOST_TWISTS)
        return refuse(s, "list", r, "list: %lld twists are more than %d", (long long)key->count,
                      MOST_TWISTS);
    for (int64_t n = 0; n < key->count; n++) {
        char **numbers, *end = NULL;
        bool sound = true;
        const int64_t count = words_split(key->values[n], &numbers);
        for (int64_t d = 0; d < count; d++) {
            const double value = strtod(numbers[d], &end);
            sound &= end != numbers[d] && !*end && fabs(value) <= 1;
        }
        words_free(numbers);
        if (count != dimension || !sound)
            return refuse(s, "list", r,
                          "list: twist %lld is '%s' but must be %d numbers in quotes, from "
                          "-1 to 1",
                          (long long)n + 1, excerpt(key->values[n]).text, dimension);
    }
    s->twists.weights = checked(calloc((size_t)key->count + 1, sizeof *s->twists.weights));
    for (int64_t n = 0; n < key->count; n++) s->twists.weights[n] = 1;
    return 0;
}

static int take_weights(study *s, const twists_section *own, int64_t count, report *r)
{
    double sum = 0;
    if (own->weights.count && own->grid.count)
        return refuse(s, "weights", r, "weights: they can only be given for list");
    if (own->weights.count && own->weights.count != count)
        return refuse(s, "weights", r, "weights: there are %d for %lld twists", own->weights.count,
                      (long long)count);
    for (int64_t n = 0; n < own->weights.count; n++) {
        if (!(own->weights.values[n] >= 0))
            return refuse(s, "weights", r,
                          "weights: weight %lld is %g, but must not be "
                          "negative",
                          (long long)n + 1, own->weights.values[n]);
        s->twists.weights[n] = own->weights.values[n];
    }
    for (int64_t n = 0; n < count; n++) sum += s->twists.weights[n];
    if (!(sum > 0)) return refuse(s, "weights", r, "weights: all of them are 0");
    s->twists.sum_of_weights = sum;
    return 0;
}

static int take_twists(study *s, const twists_section *own, int dimension, scanned_key *key,
                       report *r)
{
    if (!own->grid.count == !*own->list)
        return refuse(s, "grid", r,
                      own->grid.count ? "has both grid and list: give one of them"
                                      : "has no twists: give grid or list");
    int code = own->grid.count ? take_grid(s, own, dimension, key, r)
                               : take_list(s, own, dimension, key, r);
    return code ? code : take_weights(s, own, key->count, r);
}

/* ---- How many electrons ----------------------------------------------------------------------- */

/* Waves k = G + theta with k^2/2 up to the energy. k.a_d = 2 pi n_d bounds n. -1: too many. */
static int64_t waves_below(const plugmc_box *box, const double theta[3], double energy)
{
    const double longest = sqrt(2 * energy * (1 + 1e-9));
    int64_t bound[3], n[3], found = 0;
    for (int d = 0; d < 3; d++) {
        bound[d] = d < box->dimension ? (int64_t)(longest * box->length[d] / (2 * M_PI)) + 2 : 0;
        if (bound[d] > MOST_WAVE_INDEX) return -1;
    }
    for (n[0] = -bound[0]; n[0] <= bound[0]; n[0]++)
        for (n[1] = -bound[1]; n[1] <= bound[1]; n[1]++)
            for (n[2] = -bound[2]; n[2] <= bound[2]; n[2]++) {
                double square = 0;
                for (int e = 0; e < box->dimension; e++) {
                    double k = 0;
                    for (int d = 0; d < box->dimension; d++)
                        k += 2 * M_PI * ((double)n[d] + theta[d]) * box->inverse[e][d];
                    square += k * k;
                }
                found += square <= longest * longest;
            }
    return found;
}

static void read_twist(const char *text, double theta[3])
{
    char *end = (char *)text;
    for (int d = 0; d < 3; d++) theta[d] = strtod(end, &end); /* 0 where there are no more */
}

/* Nothing that makes the box may depend on the numbers, or differ between points. */
static int check_box(const study *s, const base *b, report *r)
{
    const box_section *box = &b->config.box;
    if (b->system.box.domain != PLUGMC_DOMAIN_PERIODIC)
        return refuse(s, "fermi_energy", r, "fermi_energy: the box must be periodic");
    if (box->density > 0 || box->packing_fraction > 0)
        return refuse(s, "fermi_energy", r,
                      "fermi_energy: give [box] by its lengths, since the density depends on the "
                      "numbers of electrons");
    for (int i = 0; i < s->key_count; i++)
        if (!strncmp(s->keys[i].name, "box.", 4))
            return refuse(s, "fermi_energy", r,
                          "fermi_energy: %s is scanned, but the numbers of electrons follow "
                          "from one box",
                          s->keys[i].name);
    return 0;
}

/* A key `species NAME.count` for each species that has particles, beside that of the twist. */
static int take_counts(study *s, double energy, const base *b, report *r)
{
    const scanned_key twist = s->keys[s->key_count - 1];
    int code = check_box(s, b, r), made = 1;
    for (int32_t a = 0; a < b->system.species_count && !code; a++) {
        if (b->system.species[a].count == 0) continue;
        scanned_key *key = &s->keys[s->key_count++];
        char **name = &s->twists.names[made++];
        if (asprintf(name, "species %s.count", b->system.species[a].name) < 0) checked(NULL);
        *key =
            (scanned_key){.name = *name,
                          .line = twist.line,
                          .group = GROUP_TWISTS,
                          .unnamed = true,
                          .count = twist.count,
                          .values = checked(calloc((size_t)twist.count + 1, sizeof *key->values))};
        for (int i = 0; i < s->key_count - 1; i++)
            if (!strcmp(s->keys[i].name, *name))
                return refuse(s, "fermi_energy", r, "fermi_energy: %s is scanned, too", *name);
        for (int64_t n = 0; n < twist.count && !code; n++) {
            double theta[3];
            read_twist(twist.values[n], theta);
            const int64_t count = waves_below(&b->system.box, theta, energy);
            if (asprintf(&key->values[n], "%lld", (long long)count) < 0) checked(NULL);
            if (count < 1)
                code = refuse(s, "fermi_energy", r,
                              "fermi_energy = %g: twist %s has %s waves up to it", energy,
                              twist.values[n], count ? "too many" : "no");
        }
    }
    return code;
}

/* ---- The section -------------------------------------------------------------------------------- */

static int read_own(study *s, twists_section *own, report *r)
{
    const int before = r->errors;
    ini_section *section = &s->twist_section;
    parameters_fill(twists_table, PLUGMC_COUNT(twists_table), sizeof(double), own, s->path, section,
                    r);
    former_keys_warn(&s->ini, section, r);
    parameters_unused(twists_table, PLUGMC_COUNT(twists_table), NULL, s->path, section, r);
    return r->errors > before ? r->code : 0;
}

static int check_potential(const study *s, const char *label, report *r)
{
    for (int i = 0; i < s->ini.count; i++)
        if (!strcmp(s->ini.sections[i].kind, "potential") &&
            !strcmp(s->ini.sections[i].label, label))
            return 0;
    return refuse(s, "potential", r, "potential = %s: there is no [potential %s]",
                  excerpt(label).text, excerpt(label).text);
}

/* Box and species as the first point has them. */
static int base_open(const study *s, base *b, report *r)
{
    int code = study_assign(s, 0, &b->config.ini, r);
    if (!code) code = config_read(&b->config, r);
    return code ? code : system_build(&b->config, &b->system, r);
}

static void base_close(base *b)
{
    system_free(&b->system);
    config_free(&b->config);
}

void twists_describe(FILE *out, bool markdown)
{
    fputs(markdown ? "### [twists]\n\nRepeats each point of a study at each twist, and averages "
                     "over them.\n\n"
                   : "[twists]: repeats each point of a study at each twist, and averages over "
                     "them\n\n",
          out);
    parameters_describe(out, twists_table, PLUGMC_COUNT(twists_table), markdown);
    fputs("\n", out);
    if (!markdown) parameters_ini_block(out, "twists", twists_table, PLUGMC_COUNT(twists_table));
}

int twists_read(study *s, report *r)
{
    twists_section own = {0};
    base b = {.config.without_mover = true};
    int code = read_own(s, &own, r);
    if (!code) code = check_potential(s, own.potential, r);
    if (!code) code = base_open(s, &b, r);
    s->twists.names = checked(calloc((size_t)b.system.species_count + 2, sizeof(char *)));
    if (!code) {
        scanned_key *key = &s->keys[s->key_count++];
        if (asprintf(&s->twists.names[0], "potential %s.twist", own.potential) < 0) checked(NULL);
        const ini_entry *entry = ini_get(&s->twist_section, own.grid.count ? "grid" : "list");
        *key = (scanned_key){.name = s->twists.names[0],
                             .line = entry ? entry->line : s->twist_section.line,
                             .group = GROUP_TWISTS};
        for (int i = 0; i < s->key_count - 1 && !code; i++)
            if (!strcmp(s->keys[i].name, key->name))
                code = refuse(s, "of", r, "%s is scanned in [scan], too", key->name);
        if (!code) code = take_twists(s, &own, b.system.box.dimension, key, r);
        s->twists.count = key->count > 0 ? key->count : 0;
    }
    if (!code && own.fermi_energy > 0) code = take_counts(s, own.fermi_energy, &b, r);
    s->twists.leave_out = own.missing == MISSING_LEAVE_OUT;
    base_close(&b);
    return code;
}

void twists_free(study *s)
{
    for (char **name = s->twists.names; name && *name; name++) free(*name);
    free(s->twists.names), free(s->twists.weights);
}
