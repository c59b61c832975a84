/* See molecule_kinds.h. */
#include "system/molecule_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/reservoir.h"

int64_t room_for(int64_t count, int64_t capacity)
{
    const int64_t guess = count + count / 2 + 32;
    return capacity > guess ? capacity : guess;
}

/* ---- Reading ----------------------------------------------------------------------------------- */

static int32_t species_named(const config *config, const char *name, size_t length)
{
    for (int32_t s = 0; s < config->species_count; s++)
        if (strlen(config->species_names[s]) == length &&
            !strncmp(config->species_names[s], name, length))
            return s;
    return -1;
}

static int read_sites(const config *config, int32_t k, plugmc_molecule *out, report *report)
{
    const char *text = config->molecules[k].sites, *blanks = " \t";
    const int line = config_line_of_molecule(config, k, "sites");
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        const size_t length = strcspn(text, blanks);
        if (out->sites == PLUGMC_MOST_SITES)
            return report_error(report, EXIT_INPUT, config->ini.path, line,
                                "[molecule %s] sites: a molecule can have at most %d sites",
                                out->name, PLUGMC_MOST_SITES);
        const int32_t s = species_named(config, text, length);
        if (s < 0)
            return report_error(report, EXIT_INPUT, config->ini.path, line,
                                "[molecule %s] sites: there is no [species %.*s]", out->name,
                                (int)length, text);
        out->species[out->sites++] = s;
        text += length;
    }
    return out->sites > 1
               ? EXIT_DONE
               : report_error(
                     report, EXIT_INPUT, config->ini.path, line,
                     "[molecule %s] sites: a molecule has at least two sites; particles of "
                     "one site are those of [species NAME]",
                     out->name);
}

static int read_places(const config *config, int32_t k, plugmc_molecule *out, report *report)
{
    const molecule_section *in = &config->molecules[k];
    double extent = 0;
    if (in->places.count != 3 * out->sites)
        return report_error(
            report, EXIT_INPUT, config->ini.path, config_line_of_molecule(config, k, "places"),
            "[molecule %s] places has %lld numbers, and %d sites need %d: x y z each", out->name,
            (long long)in->places.count, out->sites, 3 * out->sites);
    if (in->centre.count && in->centre.count != 3)
        return report_error(report, EXIT_INPUT, config->ini.path,
                            config_line_of_molecule(config, k, "centre"),
                            "[molecule %s] centre needs three numbers: x y z", out->name);
    for (int32_t a = 0; a < out->sites; a++) {
        double square = 0;
        for (int d = 0; d < 3; d++) {
            out->place[a][d] = in->places.values[3 * a + d] - in->places.values[d];
            square += out->place[a][d] * out->place[a][d];
        }
        extent = fmax(extent, square);
    }
    for (int d = 0; d < 3 && in->centre.count; d++)
        out->centre[d] = in->centre.values[d] - in->places.values[d];
    return extent > 0
               ? EXIT_DONE
               : report_error(report, EXIT_INPUT, config->ini.path,
                              config_line_of_molecule(config, k, "places"),
                              "[molecule %s] places: all sites are at the same point, so the "
                              "molecule has no orientation",
                              out->name);
}

/* Sites of a species in a molecule before site a. */
static int64_t before(const plugmc_molecule *kind, int32_t a, int32_t species)
{
    int64_t n = 0;
    for (int32_t b = 0; b < a; b++) n += kind->species[b] == species;
    return n;
}

/* What keeps the number of the molecules of kind k from being changed: whoever stands behind their sites in the block of a
 * species would have to give way. NULL: nothing. */
static const char *others_behind(const config *config, const plugmc_molecules *all, int32_t k,
                                 int32_t *species)
{
    const plugmc_molecule *kind = plugmc_kind_of_molecule(all, k);
    for (int32_t a = 0; a < kind->sites; a++) {
        const species_section *s = &config->species[ *species = kind->species[a]];
        if (s->count) return "there are particles of it that are in no molecule";
        for (int32_t l = 0; l < all->kinds; l++) {
            const plugmc_molecule *other = plugmc_kind_of_molecule(all, l);
            if (l == k || !before(other, other->sites, *species)) continue;
            if (other->changes) return "the number of another kind with such sites may change, too";
            if (l > k) return "another kind with such sites is described behind it";
        }
    }
    return NULL;
}

/* Particles of a species that molecules have sites of stay as many as they are. */
static int check_free_particles(const config *config, const plugmc_molecule *kind, report *report)
{
    for (int32_t a = 0; a < kind->sites; a++) {
        const int32_t s = kind->species[a];
        const char *reservoir = reservoir_key(config, s),
                   *key = reservoir                       ? reservoir
                          : config->species[s].max_count  ? "max_count"
                          : reservoir_is_given(config, s) ? "mu"
                                                          : NULL;
        if (key)
            return report_error(
                report, EXIT_INPUT, config->ini.path, reservoir_line(config, s, key),
                "[species %s] %s: molecules have sites of this species, so the number of "
                "its particles cannot change by itself; give the particles that are "
                "in no molecule a species of their own",
                config->species_names[s], key);
    }
    return EXIT_DONE;
}

/* Numbers that may change, and the room that they take. */
static int read_numbers(const config *config, plugmc_system *system, int64_t *room, report *report)
{
    plugmc_molecules *all = (plugmc_molecules *)system->molecules;
    for (int32_t k = 0; k < all->kinds; k++) {
        plugmc_molecule *kind = (plugmc_molecule *)plugmc_kind_of_molecule(all, k);
        const molecule_section *in = &config->molecules[k];
        const bool reservoir = reservoir_is_given(config, config->species_count + k);
        int32_t s = 0;
        const int code = check_free_particles(config, kind, report);
        if (code) return code;
        if (in->max_count && in->count > in->max_count)
            return report_error(report, EXIT_INPUT, config->ini.path,
                                config_line_of_molecule(config, k, "count"),
                                "[molecule %s] count = %lld is more than max_count = %lld",
                                kind->name, (long long)in->count, (long long)in->max_count);
        kind->mu = NAN;
        kind->changes = reservoir || in->max_count;
        if (kind->changes && species_named(config, kind->name, strlen(kind->name)) >= 0)
            return report_error(
                report, EXIT_INPUT, config->ini.path, config_line_of_molecule(config, k, "sites"),
                "[molecule %s] a species has this name, too: molecules whose number "
                "may change need one of their own",
                kind->name);
        kind->grows = reservoir && !in->max_count;
        const char *why = kind->changes ? others_behind(config, all, k, &s) : NULL;
        if (why)
            return report_error(
                report, EXIT_INPUT, config->ini.path, config_line_of_molecule(config, k, "sites"),
                "[molecule %s] the number of these molecules may change, so their sites need "
                "species of their own, and [species %s] is shared: %s",
                kind->name, config->species_names[s], why);
        for (int32_t l = 0; l < k; l++) {
            const plugmc_molecule *other = plugmc_kind_of_molecule(all, l);
            kind->others += other->count * before(other, other->sites, kind->species[0]);
        }
        const int64_t stride = before(kind, kind->sites, kind->species[0]),
                      grown = config->species[kind->species[0]].capacity - kind->others;
        kind->capacity = in->max_count ? in->max_count
                         : kind->grows ? room_for(kind->count, grown / stride)
                                       : kind->count;
        for (int32_t a = 0; a < kind->sites; a++) room[kind->species[a]] += kind->capacity;
        kind->number = all->capacity;
        all->capacity += kind->capacity;
    }
    return EXIT_DONE;
}

int molecule_kinds_read(const config *config, plugmc_system *system, int64_t *sites, int64_t *room,
                        report *report)
{
    const int32_t n = config->molecule_count;
    if (!n) return EXIT_DONE;
    plugmc_molecules *all = calloc(1, sizeof *all);
    plugmc_molecule *kind = calloc((size_t)n, sizeof *kind);
    system->molecules = all;
    if (all)
        *all = (plugmc_molecules){
            .size = sizeof *all, .kinds = n, .kind_size = sizeof *kind, .kind = kind};
    if (!all || !kind)
        return report_error(report, EXIT_MEMORY, NULL, 0, "not enough memory for %d molecules", n);
    for (int32_t k = 0; k < n; k++) {
        kind[k].name = config->molecule_names[k];
        kind[k].count = config->molecules[k].count;
        int code = read_sites(config, k, &kind[k], report);
        if (!code) code = read_places(config, k, &kind[k], report);
        if (code) return code;
        for (int32_t a = 0; a < kind[k].sites; a++) sites[kind[k].species[a]] += kind[k].count;
        all->count += kind[k].count;
        all->sites += kind[k].count * kind[k].sites;
    }
    return read_numbers(config, system, room, report);
}

bool molecule_kinds_grow(const plugmc_system *system, int32_t species)
{
    bool grow = false;
    for (int32_t k = 0; system->molecules && k < system->molecules->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
        grow |= kind->grows && kind->species[0] == species;
    }
    return grow;
}

void molecule_kinds_free(plugmc_system *system)
{
    if (system->molecules) {
        free((void *)system->molecules->kind);
        free((void *)system->molecule);
    }
    free((void *)system->molecules);
    system->molecules = NULL;
}

/* ---- Numbers ----------------------------------------------------------------------------------- */

/* Sites of the molecules that there is room for. */
static int number_sites(plugmc_system *system)
{
    const plugmc_molecules *all = system->molecules;
    int32_t *molecule = malloc(((size_t)system->particles + 1) * sizeof *molecule);
    int64_t *next = malloc(((size_t)system->species_count + 1) * sizeof *next);
    system->molecule = molecule;
    if (!molecule || !next) {
        free(next);
        return EXIT_MEMORY;
    }
    memcpy(next, system->first, (size_t)system->species_count * sizeof *next);
    for (int64_t i = 0; i < system->particles; i++) molecule[i] = -1;
    for (int32_t k = 0; k < all->kinds; k++) {
        plugmc_molecule *kind = (plugmc_molecule *)plugmc_kind_of_molecule(all, k);
        for (int32_t a = 0; a < kind->sites; a++) {
            const int32_t s = kind->species[a];
            kind->first[a] = next[s] + before(kind, a, s);
            kind->stride[a] = before(kind, kind->sites, s);
            for (int64_t m = 0; m < kind->capacity; m++)
                molecule[plugmc_site_number(kind, m, a)] = (int32_t)(kind->number + m);
        }
        for (int32_t a = 0; a < kind->sites; a++) next[kind->species[a]] += kind->capacity;
    }
    free(next);
    return EXIT_DONE;
}

int molecule_kinds_number(plugmc_system *system, report *report)
{
    if (!system->molecules || !number_sites(system)) return EXIT_DONE;
    return report_error(report, EXIT_MEMORY, NULL, 0, "not enough memory for molecules");
}

int molecule_kinds_pack(plugmc_system *packed, const int64_t *count)
{
    const plugmc_molecules *from = packed->molecules;
    if (!from) return EXIT_DONE;
    const size_t bytes = (size_t)from->kinds * from->kind_size;
    plugmc_molecules *all = malloc(sizeof *all);
    plugmc_molecule *kind = malloc(bytes);
    packed->molecule = NULL;
    packed->molecules = NULL;
    if (!all || !kind) {
        free(all), free(kind);
        return EXIT_MEMORY;
    }
    packed->molecules = all;
    *all = *from;
    memcpy(kind, from->kind, bytes);
    all->kind = kind;
    all->count = all->capacity = plugmc_molecules_present(from, count, &all->sites);
    for (int32_t k = 0, number = 0; k < all->kinds; k++) {
        kind[k].count = kind[k].capacity = plugmc_molecules_of_kind(&kind[k], count);
        kind[k].changes = 0;
        kind[k].number = number;
        number += (int32_t)kind[k].count;
    }
    return number_sites(packed);
}

int64_t sites_of_species(const plugmc_system *system, int32_t species)
{
    int64_t n = 0;
    for (int32_t k = 0; system->molecules && k < system->molecules->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
        n += kind->count * before(kind, kind->sites, species);
    }
    return n;
}

int64_t room_of_sites(const plugmc_system *system, int32_t species)
{
    int64_t n = 0;
    for (int32_t k = 0; system->molecules && k < system->molecules->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
        n += kind->capacity * before(kind, kind->sites, species);
    }
    return n;
}

bool has_sites(const plugmc_system *system, int32_t species)
{
    for (int32_t k = 0; system->molecules && k < system->molecules->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
        if (before(kind, kind->sites, species)) return true;
    }
    return false;
}

const plugmc_molecule *molecule_with(const plugmc_system *system, int64_t i, int64_t *m)
{
    if (!system->molecules || system->molecule[i] < 0) return NULL;
    return plugmc_molecule_at(system->molecules, system->molecule[i], m);
}

int32_t sites_with(const plugmc_system *system, int64_t i, int64_t *out)
{
    int64_t m = 0;
    const plugmc_molecule *kind = molecule_with(system, i, &m);
    const int32_t n = kind ? kind->sites : 0;
    for (int32_t a = 0; a < n; a++) {
        const int64_t number = plugmc_site_number(kind, m, a);
        int32_t k = a;
        for (; k > 0 && out[k - 1] > number; k--) out[k] = out[k - 1];
        out[k] = number;
    }
    return n;
}

bool is_first_site(const plugmc_system *system, int64_t i)
{
    int64_t m = 0;
    const plugmc_molecule *kind = molecule_with(system, i, &m);
    return kind && plugmc_site_number(kind, m, 0) == i;
}

/* ---- Geometry ---------------------------------------------------------------------------------- */

void place_kind(const plugmc_molecule *kind, const plugmc_box *box, const double first[3],
                const plugmc_orientation *orientation, double (*at)[3])
{
    double wrapped[3] = {first[0], first[1], first[2]};
    plugmc_wrap(box, wrapped);
    for (int32_t a = 0; a < kind->sites; a++)
        plugmc_place_site(kind, orientation, box, wrapped, a, at[a]);
}

int32_t place_sites(const plugmc_system *system, const plugmc_box *box, int64_t i,
                    const double first[3], const plugmc_orientation *orientation, double (*at)[3],
                    int64_t *number)
{
    int64_t m = 0;
    const plugmc_molecule *kind = molecule_with(system, i, &m);
    place_kind(kind, box, first, orientation, at);
    for (int32_t a = 0; a < kind->sites; a++) number[a] = plugmc_site_number(kind, m, a);
    return kind->sites;
}

static double extent_of(const plugmc_molecule *kind)
{
    double extent = 0;
    for (int32_t a = 0; a < kind->sites; a++) {
        const double *r = kind->place[a];
        extent = fmax(extent, sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
    }
    return extent;
}

double molecules_extent(const plugmc_system *system)
{
    double extent = 0;
    for (int32_t k = 0; system->molecules && k < system->molecules->kinds; k++)
        extent = fmax(extent, extent_of(plugmc_kind_of_molecule(system->molecules, k)));
    return extent;
}

int molecule_kinds_check_box(const config *config, const plugmc_system *system, report *report)
{
    const plugmc_box *box = &system->box;
    double least = INFINITY;
    if (!system->molecules) return EXIT_DONE;
    if (box->dimension != 3 || box->domain != PLUGMC_DOMAIN_PERIODIC)
        return report_error(report, EXIT_INPUT, config->ini.path,
                            config_line_of_molecule(config, 0, "sites"),
                            "[molecule %s] molecules need a three-dimensional periodic box",
                            plugmc_kind_of_molecule(system->molecules, 0)->name);
    for (int d = 0; d < 3; d++) least = fmin(least, plugmc_height(box, d));
    for (int32_t k = 0; k < system->molecules->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
        if (2 * extent_of(kind) < least) continue;
        return report_error(
            report, EXIT_INPUT, config->ini.path, config_line_of_molecule(config, k, "places"),
            "[molecule %s] a site is %g away from the first one, and that must be less "
            "than half of the smallest height of the box, %g",
            kind->name, extent_of(kind), least);
    }
    return EXIT_DONE;
}
