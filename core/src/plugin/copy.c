/* Descriptors of plugins, copied into structs of this program. */
#include "plugin/copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"

_Static_assert(sizeof(plugmc_plugin) >= PLUGIN_1_0 && sizeof(plugmc_parameter) >= PARAMETER_1_0 &&
                   sizeof(plugmc_potential) >= POTENTIAL_1_0 && sizeof(plugmc_pair) >= PAIR_1_0 &&
                   sizeof(plugmc_field) >= FIELD_1_0 && sizeof(plugmc_total) >= TOTAL_1_0 &&
                   sizeof(plugmc_orbitals) >= ORBITALS_1_0 && sizeof(plugmc_mover) >= MOVER_1_0 &&
                   sizeof(plugmc_observable) >= OBSERVABLE_1_0 &&
                   sizeof(plugmc_local_energy) >= LOCAL_ENERGY_1_0 &&
                   sizeof(plugmc_free) >= FREE_1_0 && sizeof(plugmc_view) >= VIEW_1_0,
               "structs of the plugin interface only grow");

/* A descriptor and everything it points to. */
typedef struct half {
    plugmc_plugin plugin;
    plugmc_potential potential;
    plugmc_pair pair;
    plugmc_field field;
    plugmc_total total;
    plugmc_orbitals orbitals;
    plugmc_mover mover;
    plugmc_observable observable;
    plugmc_local_energy local_energy;
    plugmc_free free;
    plugmc_parameter *parameters;
    plugmc_move *moves;
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
                   PARAMETER_1_0, sizeof *h->parameters, "parameters", why);
    h->plugin.parameters = h->parameters;
    h->plugin.parameter_size = sizeof *h->parameters;
    return h->parameters != NULL;
}

static bool copy_moves(half *h, sentence why)
{
    if (!h->plugin.mover || !h->mover.moves) return true;
    h->moves = copy_table(h->mover.moves, h->mover.move_count, h->mover.move_size, MOVE_1_0,
                          sizeof *h->moves, "moves", why);
    h->mover.moves = h->moves;
    h->mover.move_size = sizeof *h->moves;
    return h->moves != NULL;
}

/* Magic comes before the size of a descriptor, which check_head has compared. */
static bool copy_half(half *h, const plugmc_plugin *from, sentence why)
{
    const uint32_t size = from->size < sizeof h->plugin ? from->size : sizeof h->plugin;
    memcpy(&h->plugin, from, size);
    h->plugin.size = size;
    return copy_parameters(h, why) && COPY_FACET(h, plugin, potential, POTENTIAL_1_0) &&
           COPY_FACET(h, potential, pair, PAIR_1_0) && COPY_FACET(h, potential, field, FIELD_1_0) &&
           COPY_FACET(h, potential, total, TOTAL_1_0) &&
           COPY_FACET(h, potential, orbitals, ORBITALS_1_0) &&
           COPY_FACET(h, potential, free, FREE_1_0) && COPY_FACET(h, plugin, mover, MOVER_1_0) &&
           copy_moves(h, why) && COPY_FACET(h, plugin, observable, OBSERVABLE_1_0) &&
           COPY_FACET(h, plugin, local_energy, LOCAL_ENERGY_1_0);
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
    free(copy->own.parameters);
    free(copy->own.moves);
    free(copy->single.parameters);
    free(copy->single.moves);
    free(copy);
}
