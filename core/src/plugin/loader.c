/* Opening plugins. Where they are looked for is in search.c; whose file it is in trust.c; what is asked of a descriptor
 * in descriptor.c. */
#include "plugin/loader.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/regular_file.h"
#include "base/rehearsal.h"
#include "base/trust.h"
#include "plugin/descriptor.h"

/* A file that has been hashed: the sections of an INI and the points of a study open the same ones. */
typedef struct known_file {
    struct stat info;
    char hash[17];
} known_file;

/* The header of this program, by the linker. */
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
static bool stay; /* what was loaded */

static known_file *look_at_file(int file);
static bool is_object(int file, const char *path, off_t bytes, sentence why);
static bool survives_loading(const char *path, bool *shortage, sentence why);

/* The file is trusted; is it a plugin? It is loaded in a child process first, where a crash does no harm: the loader of
 * the operating system trusts tables that it cannot check, and constructors may do anything. */
static bool open_trusted(const char *path, const trusted *file, int kind, loaded *out, sentence why)
{
    known_file *known = look_at_file(file->file);
    if (!known) return why_not(why, "%s cannot be read: %s", path, strerror(errno));
    memcpy(out->hash, known->hash, sizeof out->hash);
    if (!is_object(file->file, path, known->info.st_size, why)) return false;
    if (!survives_loading(path, &out->shortage, why)) return false;
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
    if (!trusted_open(path, &file, why)) return false;
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

static size_t length_of_texts(const plugmc_plugin *d)
{
    size_t length = 0;
    const char *const texts[] = {d->name, d->summary, d->reference, d->source, d->source_name};
    for (int i = 0; i < PLUGMC_COUNT(texts); i++) length += texts[i] ? strlen(texts[i]) : 0;
    for (int i = 0; i < d->parameter_count; i++) {
        const plugmc_parameter *p = &d->parameters[i];
        const char *const words[] = {p->name, p->fallback, p->unit, p->choices, p->doc};
        for (int k = 0; k < PLUGMC_COUNT(words); k++) length += words[k] ? strlen(words[k]) : 0;
    }
    return length;
}

void plugin_read_texts(const plugmc_plugin *d)
{
    volatile size_t read = length_of_texts(d);
    (void)read;
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

/* False if the child that loads it crashes, ends or loops. *shortage: no child could be started, since processes, file
 * descriptors or memory are exhausted. */
static bool survives_loading(const char *path, bool *shortage, sentence why)
{
    char reason[REHEARSAL_REASON];
    const int code = rehearse("load", path, "", EXIT_PLUGIN, NULL, reason);
    /* short of memory, which this process will be, too, or not */
    *shortage = code == EXIT_MEMORY && reason[0];
    return !code || (code == EXIT_MEMORY && !reason[0]) || why_not(why, "%s: %s", path, reason);
}

/* Parts that are mapped have to be inside the file and one behind the other: the loader of the operating system maps
 * them over others else, and all that this program has loaded. The table of sections comes last in a file: without it
 * one has been cut short. */
static bool is_whole(int file, const Elf64_Ehdr *head, uint64_t bytes)
{
    enum { MOST_PARTS = 64 };
    Elf64_Phdr parts[MOST_PARTS];
    const size_t count = head->e_phnum < MOST_PARTS ? head->e_phnum : MOST_PARTS;
    uint64_t end = 0;
    if (head->e_shoff > bytes ||
        (uint64_t)head->e_shnum * head->e_shentsize > bytes - head->e_shoff)
        return false;
    if (pread(file, parts, count * sizeof *parts, (off_t)head->e_phoff) !=
        (ssize_t)(count * sizeof *parts))
        return false;
    for (const Elf64_Phdr *p = parts; p < parts + count; p++) {
        if (p->p_type != PT_LOAD) continue;
        if (p->p_filesz > bytes || p->p_offset > bytes - p->p_filesz || p->p_vaddr < end ||
            p->p_memsz < p->p_filesz)
            return false;
        end = p->p_vaddr + p->p_memsz;
    }
    return true;
}

/* What the loader of the operating system says in words for programmers, or dies of. */
static bool is_object(int file, const char *path, off_t bytes, sentence why)
{
    Elf64_Ehdr head = {0};
    const ssize_t got = pread(file, &head, sizeof head, 0);
    if (got < SELFMAG || memcmp(head.e_ident, ELFMAG, SELFMAG))
        return why_not(why, "%s is %s", path, bytes ? "no shared object, as plugins are" : "empty");
    if (got == sizeof head && (head.e_type != ET_DYN || head.e_machine != __ehdr_start.e_machine))
        return why_not(why, "%s is no shared object for this machine", path);
    return (got == sizeof head && is_whole(file, &head, (uint64_t)bytes)) ||
           why_not(why, "%s is damaged, or was cut short", path);
}

/* NULL, with errno, if it cannot be read. */
static known_file *look_at_file(int file)
{
    static known_file known[64];
    static int next;
    struct stat info;
    if (fstat(file, &info)) return NULL;
    for (int i = 0; i < PLUGMC_COUNT(known); i++)
        if (known[i].hash[0] && file_is_unchanged(&known[i].info, &info)) return &known[i];
    known_file *new = &known[next];
    *new = (known_file){.info = info};
    if (!hash_file(file, new->hash)) {
        *new = (known_file){0};
        return NULL;
    }
    next = (next + 1) % PLUGMC_COUNT(known);
    return new;
}
