#include "plugin/movers_there.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rehearsal.h"

/* ---- In the child ----------------------------------------------------------------------------- */

static int write_all(int out, const char *bytes, size_t count)
{
    while (count) {
        const ssize_t done = write(out, bytes, count);
        if (done <= 0) return EXIT_INTERNAL;
        bytes += done, count -= (size_t)done;
    }
    return EXIT_DONE;
}

int movers_there_serve(int out)
{
    plugin_names all = plugin_list(0);
    int code = EXIT_DONE;
    for (int i = 0; i < all.count && !code; i++) {
        char why[1024];
        loaded mover;
        if (!plugin_open(all.paths[i], PLUGMC_MOVER, &mover, why, sizeof why)) continue;
        plugin_read_texts(mover.plugin);
        plugin_unload(&mover);
        code = write_all(out, all.paths[i], strlen(all.paths[i]) + 1);
    }
    plugin_names_free(&all);
    return code ? code : write_all(out, "", 1);
}

/* ---- Here ------------------------------------------------------------------------------------- */

static void add(plugin_names *list, const char *name, const char *path)
{
    const size_t bytes = ((size_t)list->count + 1) * sizeof(char *);
    list->names = checked(realloc(list->names, bytes));
    list->paths = checked(realloc(list->paths, bytes));
    list->names[list->count] = checked(strdup(name));
    list->paths[list->count++] = checked(strdup(path));
}

static plugin_names copy_of(const plugin_names *list)
{
    plugin_names copy = {0};
    for (int i = 0; i < list->count; i++) add(&copy, list->names[i], list->paths[i]);
    return copy;
}

static bool are_same(const plugin_names *a, const plugin_names *b)
{
    bool same = a->count == b->count;
    for (int i = 0; i < a->count && same; i++) same = !strcmp(a->paths[i], b->paths[i]);
    return same;
}

/* Whether the child has lived to its end, and its paths are among `all`, which is sorted as they are. */
static bool take(const findings *found, const plugin_names *all, plugin_names *movers)
{
    const char *at = found->data, *end = at + found->bytes;
    if (found->bytes < 1 || end[-1] || (found->bytes > 1 && end[-2])) return false;
    for (int i = 0; i < all->count && at < end - 1; i++) {
        if (strcmp(at, all->paths[i])) continue;
        add(movers, all->names[i], at);
        at += strlen(at) + 1;
    }
    return at == end - 1;
}

/* Without a child, or where it fails, each plugin is tried by itself. */
static plugin_names ask(const plugin_names *all)
{
    char reason[REHEARSAL_REASON];
    findings found = {0};
    plugin_names movers = {0};
    const int code = rehearse("movers", "", "", EXIT_PLUGIN, &found, reason);
    const bool good = !code && found.data && take(&found, all, &movers);
    free(found.data);
    for (int i = 0; i < movers.count && good; i++) rehearsal_was_good("load", movers.paths[i], "");
    if (good) return movers;
    plugin_names_free(&movers);
    return plugin_list(PLUGMC_MOVER);
}

plugin_names movers_there(void)
{
    static plugin_names known, known_movers;
    plugin_names all = plugin_list(0);
    if (all.count && are_same(&all, &known)) {
        plugin_names_free(&all);
        return copy_of(&known_movers);
    }
    plugin_names_free(&known);
    plugin_names_free(&known_movers);
    known = all;
    known_movers = ask(&all);
    return copy_of(&known_movers);
}
