/* Opening plugins. Where they are looked for is in search.c; whose file it is in trust.c; whether
 * it is whole in elf.c; a trial in a child process in trial.c; what is asked of a descriptor in
 * descriptor.c. */
#include "plugin/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crash.h"
#include "plugin/descriptor.h"
#include "plugin/elf.h"
#include "plugin/trial.h"
#include "base/trust.h"

/* A file that has been looked at: the sections of an INI and the points of a study open the same ones. */
typedef struct known_file {
    struct stat info;
    char hash[17];
    bool survived; /* loading, for trial */
} known_file;

static bool stay; /* what was loaded */

static known_file *look_at_file(int file);

/* The file is trusted; is it a plugin? */
static bool open_trusted(const char *path, const trusted *file, int kind, loaded *out, sentence why)
{
    known_file *known = look_at_file(file->file);
    if (!known) return why_not(why, "%s cannot be read: %s", path, strerror(errno));
    memcpy(out->hash, known->hash, sizeof out->hash);
    if (!known->survived && !elf_is_whole(file->file, path, why)) return false;
    if (file->beside && elf_has_run_path(file->file))
        return why_not(why,
                       "%s has a run path of its own to look for libraries in, and others may "
                       "put files beside it: move it to a folder of yours",
                       path);
    if (!known->survived && !survives_loading(path, &out->shortage, why)) return false;
    known->survived = true;
    crash_calling(path, "dlopen"); /* of its constructors */
    out->handle = dlopen(file->path, RTLD_NOW | RTLD_LOCAL);
    crash_called();
    if (!out->handle) return why_not(why, "cannot be loaded: %s", dlerror());
    if (!trusted_unchanged(file))
        return why_not(why, "%s was replaced while it was being loaded: start again", path);

    /* POSIX has dlsym return functions as void *, ISO C has no such conversion. */
    plugmc_entry *entry = NULL;
    *(void **)&entry = dlsym(out->handle, "plugmc_plugin_entry");
    if (!entry)
        return why_not(why,
                       "%s is not a plugmc plugin: it has no function "
                       "plugmc_plugin_entry",
                       path);
    crash_calling(path, "plugmc_plugin_entry");
    const plugmc_plugin *plugin = entry();
    crash_called();
    char detail[768];
    out->copy = take_descriptor(plugin, kind, (sentence){detail, sizeof detail});
    if (!out->copy) return why_not(why, "%s %s", path, detail);
    out->plugin = plugin_copy_descriptor(out->copy);
    return true;
}

static bool open_checked(const char *path, int kind, loaded *out, sentence why)
{
    trusted file;
    if (!trusted_open(path, false, &file, why)) return false;
    bool good = open_trusted(path, &file, kind, out, why);
    trusted_close(&file);
    return good;
}

bool plugin_open(const char *path, int kind, loaded *out, char *why, size_t size)
{
    *out = (loaded){0};
    if (open_checked(path, kind, out, (sentence){why, size})) {
        out->name = checked(strdup(path));
        out->path = checked(strdup(path));
        return true;
    }
    const bool shortage = out->shortage;
    plugin_unload(out);
    out->shortage = shortage;
    return false;
}

void plugin_unload(loaded *l)
{
    plugin_copy_free(l->copy);
    if (l->handle && !stay) {
        crash_calling(l->path ? l->path : "plugin", "dlclose"); /* of its destructors */
        dlclose(l->handle);
        crash_called();
    }
    free(l->name);
    free(l->path);
    *l = (loaded){0};
}

void plugins_stay(void) { stay = true; }

/* FNV-1a, 64 bits (draft-eastlake-fnv): tells builds apart in the provenance of a run, guards
 * against nothing. */
static bool hash_file(int file, char hash[17])
{
    unsigned char buffer[4096];
    uint64_t h = 0xcbf29ce484222325u;
    ssize_t n;
    for (off_t at = 0; (n = pread(file, buffer, sizeof buffer, at)) > 0; at += n)
        for (ssize_t i = 0; i < n; i++) h = (h ^ buffer[i]) * 0x100000001b3u;
    snprintf(hash, 17, "%016llx", (unsigned long long)h);
    return n == 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* NULL, with errno, if it cannot be read. */
static known_file *look_at_file(int file)
{
    static known_file known[64];
    static int next;
    struct stat info;
    if (fstat(file, &info)) return NULL;
    for (int i = 0; i < PLUGMC_COUNT(known); i++)
        if (known[i].hash[0] && same_file(&known[i].info, &info)) return &known[i];
    known_file *new = &known[next];
    *new = (known_file){.info = info};
    if (!hash_file(file, new->hash)) {
        *new = (known_file){0};
        return NULL;
    }
    next = (next + 1) % PLUGMC_COUNT(known);
    return new;
}
