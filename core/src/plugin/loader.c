/* Opening plugins. Where they are looked for is in search.c; whose file it is in trust.c; whether
 * it is whole in elf.c; what is asked of a descriptor in descriptor.c.
 */
#include "plugin/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "plugin/descriptor.h"
#include "plugin/elf.h"
#include "plugin/search.h"
#include "plugin/trust.h"

static bool hash_file(const char *path, char hash[17]);

int plugin_load(const char *name, int kind, const char *file, int line, loaded *out, report *r)
{
    char why[1024];
    *out = (loaded){0};
    char *path = strchr(name, '/') ? checked(strdup(name)) : find_plugin(name);
    if (!path) {
        report_missing(name, file, line, r);
        return EXIT_PLUGIN;
    }
    if (plugin_open(path, kind, out, why, sizeof why)) {
        free(out->name);
        out->name = checked(strdup(name));
    } else {
        report_error(r, EXIT_PLUGIN, file, line, "plugin '%s': %s", name, why);
    }
    free(path);
    return out->plugin ? 0 : EXIT_PLUGIN;
}

static bool open_checked(const char *path, int kind, loaded *out, sentence why)
{
    if (!check_file(path, why) || !check_length(path, why)) return false;
    /* With a '/', so that dlopen does not search for it in places of its own. */
    char *full = realpath(path, NULL);
    if (!full || !hash_file(full, out->hash)) {
        free(full);
        return why_not(why, "%s cannot be read: %s", path, strerror(errno));
    }
    crash_calling(path, "dlopen"); /* of its constructors */
    out->handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);
    crash_called();
    free(full);
    if (!out->handle) return why_not(why, "cannot be loaded: %s", dlerror());

    /* POSIX has dlsym return functions as void *, ISO C has no such conversion. */
    plugmc_entry *entry = NULL;
    *(void **)&entry = dlsym(out->handle, "plugmc_plugin_entry");
    if (!entry)
        return why_not(why, "%s is no plugmc plugin: it has no function plugmc_plugin_entry", path);
    crash_calling(path, "plugmc_plugin_entry");
    const plugmc_plugin *plugin = entry();
    crash_called();
    char detail[768];
    if (!check_descriptor(plugin, kind, (sentence){detail, sizeof detail}))
        return why_not(why, "%s %s", path, detail);
    out->plugin = plugin;
    return true;
}

bool plugin_open(const char *path, int kind, loaded *out, char *why, size_t size)
{
    *out = (loaded){0};
    if (open_checked(path, kind, out, (sentence){why, size})) {
        out->name = checked(strdup(path));
        out->path = checked(strdup(path));
        return true;
    }
    plugin_unload(out);
    return false;
}

void plugin_unload(loaded *l)
{
    if (l->handle) dlclose(l->handle);
    free(l->name);
    free(l->path);
    *l = (loaded){0};
}

const char *plugin_kind_name(int kind)
{
    static const char *const names[] = {"plugin", "potential", "mover", "observable"};
    return kind >= 0 && kind < PLUGMC_COUNT(names) ? names[kind] : "unknown kind of plugin";
}

/* FNV-1a, 64 bits (draft-eastlake-fnv): tells builds apart in the provenance of a run, guards
 * against nothing. */
static bool hash_file(const char *path, char hash[17])
{
    unsigned char buffer[4096];
    uint64_t h = 0xcbf29ce484222325u;
    size_t n;
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
        for (size_t i = 0; i < n; i++) h = (h ^ buffer[i]) * 0x100000001b3u;
    bool good = !ferror(f);
    fclose(f);
    snprintf(hash, 17, "%016llx", (unsigned long long)h);
    return good;
}
