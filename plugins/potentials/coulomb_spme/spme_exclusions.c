/* spme_exclusions.c: which pairs of particles do not interact, from the composition of a molecule,
 * from a file of molecule numbers and from a file of pairs. They are stored once for each of the
 * two, so that each particle can add up its own. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../rigid_exclusions.h"
#include "spme.h"

/* Pairs i < j, as they are found. */
typedef struct pair_list {
    uint32_t (*pair)[2];
    size_t count, room;
    int short_of_memory;
} pair_list;

static void add_composed(const plugmc_system *, const spme_settings *, pair_list *);
static int check_composition(const plugmc_host *, const spme_settings *);
static int add_molecules(const plugmc_host *, const char *path, pair_list *);
static int add_pairs(const plugmc_host *, const char *path, pair_list *);
static int store_partners(const plugmc_host *, pair_list *, spme_exclusions *out);

int spme_read_exclusions(const plugmc_host *host, const spme_settings *set, spme_exclusions *out)
{
    pair_list list = {NULL, 0, 0, 0};
    int code = check_composition(host, set);
    if (!code) add_composed(host->system, set, &list);
    if (!code && *set->molecules) code = add_molecules(host, set->molecules, &list);
    if (!code && *set->exclusions) code = add_pairs(host, set->exclusions, &list);
    if (!code && list.short_of_memory)
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu excluded pairs",
                          list.count);
    if (!code && list.count) code = store_partners(host, &list, out);
    free(list.pair);
    return code;
}

static void add(pair_list *list, int64_t i, int64_t j)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 1024;
        void *larger = realloc(list->pair, room * sizeof *list->pair);
        if (!larger) {
            list->short_of_memory = 1;
            return;
        }
        list->pair = larger;
        list->room = room;
    }
    list->pair[list->count][0] = (uint32_t)(i < j ? i : j);
    list->pair[list->count++][1] = (uint32_t)(i < j ? j : i);
}

/* ---- Molecules by composition ------------------------------------------------------------ */

static int check_composition(const plugmc_host *host, const spme_settings *set)
{
    const plugmc_system *system = host->system;
    int64_t molecules = -1;
    if (set->molecule_species && set->molecule_species != system->species_count)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "molecule has %d numbers for %d species: give the number of atoms of each "
            "species in a molecule",
            set->molecule_species, system->species_count);
    for (int32_t s = 0; s < set->molecule_species; s++) {
        const int64_t atoms = (int64_t)set->molecule[s],
                      count = plugmc_species_at(system, s)->count;
        if ((double)atoms != set->molecule[s])
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "molecule = %g: must be a whole number", set->molecule[s]);
        if (atoms == 0) continue;
        if (count % atoms || (molecules >= 0 && molecules != count / atoms))
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "%lld particles of species '%s' do not make whole molecules with %lld of "
                "them in each",
                (long long)count, plugmc_species_at(system, s)->name, (long long)atoms);
        molecules = count / atoms;
    }
    return PLUGMC_OK;
}

/* Particle number k of a molecule; the count if `k` is past the last. */
static int64_t atom_of(const plugmc_system *system, const spme_settings *set, int64_t molecule,
                       int64_t k)
{
    for (int32_t s = 0; s < set->molecule_species; s++) {
        const int64_t atoms = (int64_t)set->molecule[s];
        if (k < atoms) return system->first[s] + molecule * atoms + k;
        k -= atoms;
    }
    return system->particles;
}

static void add_composed(const plugmc_system *system, const spme_settings *set, pair_list *list)
{
    int64_t molecules = 0, atoms = 0;
    for (int32_t s = 0; s < set->molecule_species; s++) {
        atoms += (int64_t)set->molecule[s];
        if (set->molecule[s] > 0)
            molecules = plugmc_species_at(system, s)->count / (int64_t)set->molecule[s];
    }
    for (int64_t m = 0; m < molecules; m++)
        for (int64_t a = 0; a < atoms; a++)
            for (int64_t b = 0; b < a && !list->short_of_memory; b++)
                add(list, atom_of(system, set, m, a), atom_of(system, set, m, b));
}

/* ---- Files ------------------------------------------------------------------------------- */

static FILE *open_file(const plugmc_host *host, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        host->fail(host->context, PLUGMC_ERROR_INPUT, "cannot read '%s': %s", path,
                   strerror(errno));
    return file;
}

/* Whole numbers of a line; what follows '#' is a comment. Returns how many, most + 1 if there are
 * more, or -1 if something else is written there. */
static int numbers_of(char *line, int most, long long *out)
{
    char *end;
    int count = 0;
    line[strcspn(line, "#\n\r")] = 0;
    for (char *at = line;; at = end) {
        at += strspn(at, " \t");
        if (!*at) return count;
        if (count == most) return most + 1;
        errno = 0;
        out[count++] = strtoll(at, &end, 10);
        if (end == at || errno) return -1;
    }
}

static int add_pairs(const plugmc_host *host, const char *path, pair_list *list)
{
    const long long particles = host->system->particles;
    FILE *file = open_file(host, path);
    char line[256];
    int code = file ? PLUGMC_OK : PLUGMC_ERROR_INPUT;
    for (int number = 1; !code && fgets(line, sizeof line, file); number++) {
        long long i[2] = {0, 0};
        const int count = numbers_of(line, 2, i);
        if (count == 0) continue;
        if (count != 2)
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%s:%d: the indices of two particles are expected", path, number);
        else if (i[0] < 0 || i[1] < 0 || i[0] >= particles || i[1] >= particles || i[0] == i[1])
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%s:%d: %lld and %lld are not two particles of 0 ... %lld", path,
                              number, i[0], i[1], particles - 1);
        else
            add(list, i[0], i[1]);
    }
    if (file) fclose(file);
    return code;
}

typedef struct member {
    long long molecule;
    int64_t particle;
} member;

static int by_molecule(const void *a, const void *b)
{
    const member *x = a, *y = b;
    if (x->molecule != y->molecule) return x->molecule < y->molecule ? -1 : 1;
    return (x->particle > y->particle) - (x->particle < y->particle);
}

static int read_members(const plugmc_host *host, const char *path, member *members)
{
    const int64_t particles = host->system->particles;
    FILE *file = open_file(host, path);
    char line[256];
    int64_t found = 0;
    int code = file ? PLUGMC_OK : PLUGMC_ERROR_INPUT;
    for (int number = 1; !code && fgets(line, sizeof line, file); number++) {
        long long molecule;
        const int count = numbers_of(line, 1, &molecule);
        if (count == 0) continue;
        if (count != 1)
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%s:%d: the index of one molecule is expected", path, number);
        else if (found < particles)
            members[found] = (member){molecule, found};
        found += count == 1;
    }
    if (file) fclose(file);
    if (!code && found != particles)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "'%s' lists %lld particles, but there are %lld", path, (long long)found,
                          (long long)particles);
    return code;
}

static int add_molecules(const plugmc_host *host, const char *path, pair_list *list)
{
    const int64_t particles = host->system->particles;
    member *members = malloc((size_t)particles * sizeof *members);
    int code = members ? read_members(host, path, members)
                       : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for molecules");
    if (!code) qsort(members, (size_t)particles, sizeof *members, by_molecule);
    for (int64_t i = 0; i < particles && !code; i++)
        for (int64_t j = i + 1; j < particles && members[j].molecule == members[i].molecule; j++) {
            if (members[i].molecule < 0 || list->short_of_memory) break;
            add(list, members[i].particle, members[j].particle);
        }
    free(members);
    return code;
}

int spme_molecules(const spme *m, int32_t *out)
{
    const plugmc_system *system = m->host->system;
    const spme_settings *set = &m->set;
    for (int32_t s = 0; s < set->molecule_species; s++) {
        const int64_t atoms = (int64_t)set->molecule[s];
        for (int64_t i = system->first[s]; i < system->first[s + 1] && atoms > 0; i++)
            out[i] = (int32_t)((i - system->first[s]) / atoms);
    }
    if (!*set->molecules) return PLUGMC_OK;
    member *members = malloc((size_t)system->particles * sizeof *members);
    int code =
        members ? read_members(m->host, set->molecules, members)
                : m->host->fail(m->host->context, PLUGMC_ERROR_MEMORY, "no memory for molecules");
    for (int64_t i = 0; i < system->particles && !code; i++)
        out[i] = members[i].molecule < 0 ? -1 : (int32_t)members[i].molecule;
    free(members);
    return code;
}

/* ---- Partners ---------------------------------------------------------------------------- */

static int by_particles(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

/* Both ways round, sorted, each once. */
static int store_partners(const plugmc_host *host, pair_list *list, spme_exclusions *out)
{
    const size_t particles = (size_t)host->system->particles, pairs = list->count;
    for (size_t p = 0; p < pairs; p++) add(list, list->pair[p][0], list->pair[p][1]);
    out->first = host->allocate(host->context, (particles + 1) * sizeof *out->first);
    out->partner = host->allocate(host->context, 2 * pairs * sizeof *out->partner);
    if (!out->first || !out->partner || list->short_of_memory)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu excluded pairs",
                          pairs);
    for (size_t p = pairs; p < 2 * pairs; p++) {
        uint32_t i = list->pair[p][0];
        list->pair[p][0] = list->pair[p][1];
        list->pair[p][1] = i;
    }
    qsort(list->pair, 2 * pairs, sizeof *list->pair, by_particles);
    uint32_t kept = 0;
    for (size_t p = 0; p < 2 * pairs; p++) {
        if (p > 0 && by_particles(list->pair[p - 1], list->pair[p]) == 0) continue;
        out->partner[kept++] = list->pair[p][1];
        out->first[list->pair[p][0] + 1] = kept;
    }
    for (size_t i = 0; i < particles; i++)
        if (out->first[i + 1] < out->first[i]) out->first[i + 1] = out->first[i];
    return PLUGMC_OK;
}

/* ---- Rigid molecules ------------------------------------------------------------------------ */

int spme_exclude_rigid(spme *m)
{
    const plugmc_system *system = m->host->system;
    const plugmc_molecules *all = system->molecules;
    if (!all) return PLUGMC_OK;
    m->excluded = m->host->allocate(m->host->context, (size_t)all->kinds * sizeof *m->excluded);
    if (!m->excluded)
        return m->host->fail(m->host->context, PLUGMC_ERROR_MEMORY, "no memory for molecules");
    for (int32_t k = 0; k < all->kinds; k++)
        m->excluded[k] = smooth_part_within(system, plugmc_kind_of_molecule(all, k), m->set.alpha);
    return PLUGMC_OK;
}

double spme_rigid_energy(const spme *m, const int64_t *count)
{
    const plugmc_molecules *all = m->host->system->molecules;
    double sum = 0;
    for (int32_t k = 0; m->excluded && k < all->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(all, k);
        const int64_t n = count ? plugmc_molecules_of_kind(kind, count) : kind->count;
        sum += m->excluded[k] * (double)n;
    }
    return -m->set.bjerrum_length * sum;
}
