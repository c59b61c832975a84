/* Descriptors of plugins, copied into structs of this program. */
#include "plugin/copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "plugmc/description.h"
#include "plugmc/former_keys.h"

#define SIZES(X)                                                                                   \
    X(plugmc_plugin, PLUGIN)                                                                       \
    X(plugmc_parameter, PARAMETER)                                                                 \
    X(plugmc_potential, POTENTIAL)                                                                 \
    X(plugmc_pair, PAIR)                                                                           \
    X(plugmc_field, FIELD)                                                                         \
    X(plugmc_total, TOTAL)                                                                         \
    X(plugmc_mover, MOVER)                                                                         \
    X(plugmc_move, MOVE)                                                                           \
    X(plugmc_driver, DRIVER)                                                                       \
    X(plugmc_observable, OBSERVABLE)                                                               \
    X(plugmc_orbitals, ORBITALS)                                                                   \
    X(plugmc_variational, FREE)                                                                    \
    X(plugmc_view, VIEW)
#define ONLY_GROWS(type, name)                                                                     \
    _Static_assert(sizeof(type) >= name##_2_0, "structs of the plugin interface only grow");
SIZES(ONLY_GROWS)

/* A descriptor and everything it points to. */
typedef struct half {
    plugmc_plugin plugin;
    plugmc_potential potential;
    plugmc_pair pair;
    plugmc_field field;
    plugmc_total total;
    plugmc_mover mover;
    plugmc_driver driver;
    plugmc_observable observable;
    plugmc_parameter *parameters;
    plugmc_move *moves;
    plugmc_extension *extensions;
    void **tables; /* of extensions that this program knows, copied; NULL: of others */
} half;

struct plugin_copy {
    half own, single;
};

enum { MOST_ENTRIES = 4096 };

/* A struct that begins with its size; `to` is cleared. */
static bool copy_sized(void *to, size_t room, const void *from, const char *what, uint32_t least,
                       sentence why)
{
    uint32_t size;
    memcpy(&size, from, sizeof size);
    if (size < least)
        return why_not(why, "has a table of %s functions of %u bytes: expected at least %u", what,
                       size, least);
    if (size > room) size = (uint32_t)room;
    memcpy(to, from, size);
    memcpy(to, &size, sizeof size);
    return true;
}

/* The facet `name` of a struct copied before: from there it points to the plugin's, from here to the
 * copy of it. */
#define COPY_FACET(h, owner, name, least)                                                          \
    (!(h)->owner.name ||                                                                           \
     (copy_sized(&(h)->name, sizeof(h)->name, (h)->owner.name, #name, least, why) &&               \
      ((h)->owner.name = &(h)->name)))

/* A table, copied with the stride of this program; NULL if there is something wrong with it. Entries
 * are as far apart as they are in the plugin's table. */
static void *copy_table(const void *from, int32_t n, uint32_t stride, uint32_t least, size_t ours,
                        const char *what, sentence why)
{
    if (n < 0 || n > MOST_ENTRIES) {
        why_not(why, "has a table of %d %s: at most %d are possible", n, what, MOST_ENTRIES);
        return NULL;
    }
    if (n && stride < least) {
        why_not(why, "has a table of %s of %u bytes each: expected at least %u", what, stride,
                least);
        return NULL;
    }
    char *to = checked(calloc((size_t)n + 1, ours));
    for (int32_t i = 0; i < n; i++)
        memcpy(to + (size_t)i * ours, (const char *)from + (size_t)i * stride,
               stride < ours ? stride : ours);
    return to;
}

/* Without a table nothing is copied: what is wrong with that is said with the rest of it. */
static bool copy_parameters(half *h, sentence why)
{
    if (!h->plugin.parameters && h->plugin.parameter_count >= 0 &&
        h->plugin.parameter_count <= MOST_ENTRIES)
        return true;
    h->parameters =
        copy_table(h->plugin.parameters, h->plugin.parameter_count, h->plugin.parameter_size,
                   PARAMETER_2_0, sizeof *h->parameters, "parameters", why);
    h->plugin.parameters = h->parameters;
    h->plugin.parameter_size = sizeof *h->parameters;
    return h->parameters != NULL;
}

static bool copy_moves(half *h, sentence why)
{
    if (!h->plugin.mover || !h->mover.moves) return true;
    h->moves = copy_table(h->mover.moves, h->mover.move_count, h->mover.move_size, MOVE_2_0,
                          sizeof *h->moves, "moves", why);
    h->mover.moves = h->moves;
    h->mover.move_size = sizeof *h->moves;
    return h->moves != NULL;
}

/* ---- Extensions ---------------------------------------------------------------------------------- */

/* Those that this program knows. Others are left as they are: plugins may have their own for each other. */
static const struct {
    const char *name;
    size_t ours;
    uint32_t least;
} known[] = {
    {PLUGMC_ORBITALS, sizeof(plugmc_orbitals), ORBITALS_2_0},
    {PLUGMC_BODY_FACET, sizeof(plugmc_body), BODY_2_1},
    {PLUGMC_VARIATIONAL_PARAMETERS, sizeof(plugmc_variational), FREE_2_0},
    {PLUGMC_LOCAL_ENERGY, sizeof(plugmc_local_energy), 16},
    {PLUGMC_LENDS_INVERSES, sizeof(plugmc_lends_inverses), 16},
    {PLUGMC_FILLS_CELLS, sizeof(plugmc_fills_cells), 16},
    {PLUGMC_GIVES_SHARES, sizeof(plugmc_gives_shares), 16},
    {PLUGMC_MEASURES_LATER, sizeof(plugmc_measures_later), 16},
    {PLUGMC_MEASURES_SHARES, sizeof(plugmc_measures_shares), 16},
    {PLUGMC_FORMER_KEYS, sizeof(plugmc_former_keys), 16},
    {PLUGMC_DESCRIPTION, sizeof(plugmc_description), 16},
};

static bool copy_extension(plugmc_extension *e, void **table, sentence why)
{
    if (!e->table) return why_not(why, "offers %s without a table of functions", e->name);
    for (int k = 0; k < PLUGMC_COUNT(known); k++) {
        if (strcmp(e->name, known[k].name) != 0) continue;
        *table = checked(calloc(1, known[k].ours));
        if (!copy_sized(*table, known[k].ours, e->table, e->name, known[k].least, why))
            return false;
        e->table = *table;
    }
    return true;
}

static bool copy_extensions(half *h, sentence why)
{
    const plugmc_extension *from = h->plugin.extensions;
    int n = 0;
    if (!from) return true;
    while (n < MOST_ENTRIES && from[n].name) n++;
    if (n == MOST_ENTRIES)
        return why_not(why, "has a list of extensions without an end (PLUGMC_OFFERS makes one)");
    h->extensions = checked(calloc((size_t)n + 1, sizeof *h->extensions));
    h->tables = checked(calloc((size_t)n + 1, sizeof *h->tables));
    memcpy(h->extensions, from, (size_t)n * sizeof *from);
    h->plugin.extensions = h->extensions;
    for (int k = 0; k < n; k++)
        if (!copy_extension(&h->extensions[k], &h->tables[k], why)) return false;
    return true;
}

/* ---- Copies -------------------------------------------------------------------------------------- */

/* Magic comes before the size of a descriptor, which check_head has compared. */
static bool copy_half(half *h, const plugmc_plugin *from, sentence why)
{
    const uint32_t size = from->size < sizeof h->plugin ? from->size : sizeof h->plugin;
    memcpy(&h->plugin, from, size);
    h->plugin.size = size;
    return copy_parameters(h, why) && COPY_FACET(h, plugin, potential, POTENTIAL_2_0) &&
           COPY_FACET(h, potential, pair, PAIR_2_0) && COPY_FACET(h, potential, field, FIELD_2_0) &&
           COPY_FACET(h, potential, total, TOTAL_2_0) && COPY_FACET(h, plugin, mover, MOVER_2_0) &&
           copy_moves(h, why) && COPY_FACET(h, mover, driver, DRIVER_2_0) &&
           COPY_FACET(h, plugin, observable, OBSERVABLE_2_0) && copy_extensions(h, why);
}

static void free_half(half *h)
{
    for (int k = 0; h->extensions && h->extensions[k].name; k++) free(h->tables[k]);
    free(h->tables);
    free(h->extensions);
    free(h->parameters);
    free(h->moves);
}

plugin_copy *plugin_copy_make(const plugmc_plugin *from, sentence why)
{
    plugin_copy *copy = checked(calloc(1, sizeof *copy));
    if (copy_half(&copy->own, from, why)) return copy;
    plugin_copy_free(copy);
    return NULL;
}

bool plugin_copy_single(plugin_copy *copy, const plugmc_plugin *from, sentence why)
{
    copy->own.plugin.single = &copy->single.plugin;
    return copy_half(&copy->single, from, why);
}

const plugmc_plugin *plugin_copy_descriptor(const plugin_copy *copy) { return &copy->own.plugin; }

void plugin_copy_free(plugin_copy *copy)
{
    if (!copy) return;
    free_half(&copy->own);
    free_half(&copy->single);
    free(copy);
}
