/* Plugins: where they are looked for, what is asked of a file before its code may run, and what
 * of a descriptor before the rest of the program may trust it.
 */
#include "plugin/loader.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"

/* A sentence for the caller; always false, so that a check can `return why_not(...)`. */
typedef struct sentence {
    char *text;
    size_t size;
} sentence;

__attribute__((format(printf, 2, 3))) static bool why_not(sentence why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why.text, why.size, format, arguments);
    va_end(arguments);
    return false;
}

static char *find_plugin(const char *name);
static void report_missing(const char *name, const char *file, int line, report *);
static bool check_file(const char *path, sentence why);
static bool check_descriptor(const plugmc_plugin *, int kind, sentence why);
static bool check_length(const char *path, sentence why);
static bool hash_file(const char *path, char hash[17]);

/* ---- Opening --------------------------------------------------------------------------------- */

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
    out->handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);
    free(full);
    if (!out->handle) return why_not(why, "cannot be loaded: %s", dlerror());

    /* POSIX has dlsym return functions as void *, ISO C has no such conversion. */
    plugmc_entry *entry = NULL;
    *(void **)&entry = dlsym(out->handle, "plugmc_plugin_entry");
    if (!entry)
        return why_not(why, "%s is no plugmc plugin: it has no function plugmc_plugin_entry", path);
    const plugmc_plugin *plugin = entry();
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

/* ---- Files ----------------------------------------------------------------------------------- */

/* Code of others must not run with the user's rights, so nobody else may be able to change it;
 * nor to put another file in its place, which is why its folder counts as well. */
static bool check_owner(const char *path, const struct stat *status, sentence why)
{
    if (status->st_uid != 0 && status->st_uid != geteuid()) {
        const struct passwd *owner = getpwuid(status->st_uid);
        return why_not(why,
                       "%s belongs to user %s (%u): a plugin and its folder must belong to you "
                       "(%u) or to root",
                       path, owner ? owner->pw_name : "unknown", (unsigned)status->st_uid,
                       (unsigned)geteuid());
    }
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return why_not(why, "%s can be changed by others (mode %04o): run chmod go-w '%s'", path,
                       (unsigned)status->st_mode & 07777u, path);
    return true;
}

static bool check_folder(const char *file, sentence why)
{
    struct stat status;
    const char *slash = strrchr(file, '/');
    char *folder = checked(slash ? strndup(file, slash == file ? 1 : (size_t)(slash - file))
                                 : strdup("."));
    bool good = stat(folder, &status) == 0
                    ? check_owner(folder, &status, why)
                    : why_not(why, "%s cannot be opened: %s", folder, strerror(errno));
    free(folder);
    return good;
}

/* The file, its folder, and where they are links, the folder that they lead to. */
static bool check_file(const char *path, sentence why)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return why_not(why, "%s cannot be opened: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode)) return why_not(why, "%s is not a regular file", path);
    if (!check_owner(path, &status, why) || !check_folder(path, why)) return false;
    char *full = realpath(path, NULL);
    if (!full) return why_not(why, "%s cannot be opened: %s", path, strerror(errno));
    bool good = check_folder(full, why);
    free(full);
    return good;
}

/* dlopen maps a file that was cut short and then dies of SIGBUS. Is all there that its program
 * headers speak of? What is no ELF file is left for dlopen to name. */
static bool check_length(const char *path, sentence why)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    FILE *f = fopen(path, "rb");
    if (!f) return why_not(why, "%s cannot be opened: %s", path, strerror(errno));
    bool elf = fread(&head, sizeof head, 1, f) == 1 && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
               head.e_ident[EI_CLASS] == ELFCLASS64;
    bool whole = fseek(f, 0, SEEK_END) == 0;
    long length = ftell(f);
    for (int i = 0; elf && whole && i < head.e_phnum; i++) {
        whole = fseek(f, (long)head.e_phoff + i * (long)sizeof part, SEEK_SET) == 0 &&
                fread(&part, sizeof part, 1, f) == 1 && part.p_filesz <= (Elf64_Xword)length &&
                part.p_offset <= (Elf64_Xword)length - part.p_filesz;
    }
    fclose(f);
    return whole || why_not(why, "%s is damaged: it ends before its last part", path);
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

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* Functions that a facet cannot do without, by where their pointers are. */
typedef struct required {
    const char *name;
    size_t offset;
} required;

#define REQUIRED(type, field) {#field, offsetof(type, field)}

/* Descriptors and facets of ABI 1.0; later ones are longer. */
enum {
    HEAD_SIZE = offsetof(plugmc_plugin, kind),
    PLUGIN_SIZE = offsetof(plugmc_plugin, archive) + sizeof(void *),
};

static bool check_facet(const void *facet, const char *what, size_t size, const required *functions,
                        int count, sentence why)
{
    if (!facet) return why_not(why, "has no %s functions", what);
    uint32_t given = *(const uint32_t *)facet; /* `size` comes first in all of them */
    if (given < size)
        return why_not(why, "has a table of %s functions of %u bytes: expected at least %zu", what,
                       given, size);
    for (int i = 0; i < count; i++) {
        void *function;
        memcpy(&function, (const char *)facet + functions[i].offset, sizeof function);
        if (!function) return why_not(why, "lacks the %s function '%s'", what, functions[i].name);
    }
    return true;
}

/* `last` is the last member of ABI 1.0. */
#define CHECK_FACET(type, facet, what, last, functions)                                            \
    check_facet(facet, what, offsetof(type, last) + sizeof(facet)->last, functions,                \
                PLUGMC_COUNT(functions), why)

static bool check_potential(const plugmc_plugin *d, sentence why)
{
    static const required pair[] = {
        REQUIRED(plugmc_pair, range), REQUIRED(plugmc_pair, contact),
        REQUIRED(plugmc_pair, energy), REQUIRED(plugmc_pair, change)};
    static const required field[] = {REQUIRED(plugmc_field, energy)};
    static const required total[] = {REQUIRED(plugmc_total, energy)};
    static const required orbitals[] = {
        REQUIRED(plugmc_orbitals, count), REQUIRED(plugmc_orbitals, complex_valued),
        REQUIRED(plugmc_orbitals, evaluate)};
    const plugmc_potential *p = d->potential;

    if (!check_facet(p, "potential", sizeof *p, NULL, 0, why)) return false;
    if (!p->pair && !p->field && !p->total && !p->orbitals)
        return why_not(why, "is a potential without any facet: pair, field, total or orbitals");
    return (!p->pair || CHECK_FACET(plugmc_pair, p->pair, "pair", derivatives, pair)) &&
           (!p->field || CHECK_FACET(plugmc_field, p->field, "field", derivatives, field)) &&
           (!p->total || CHECK_FACET(plugmc_total, p->total, "total", settle, total)) &&
           (!p->orbitals || CHECK_FACET(plugmc_orbitals, p->orbitals, "orbitals", ions, orbitals));
}

static bool check_mover(const plugmc_plugin *d, sentence why)
{
    static const required functions[] = {
        REQUIRED(plugmc_mover, load), REQUIRED(plugmc_mover, sweep),
        REQUIRED(plugmc_mover, store), REQUIRED(plugmc_mover, counts)};
    if (!CHECK_FACET(plugmc_mover, d->mover, "mover", running_energy, functions)) return false;
    if (!d->prepare || !d->archive)
        return why_not(why, "is a mover that lacks the function '%s'",
                       d->prepare ? "archive" : "prepare");
    if (!(d->mover->needs & (PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU)))
        return why_not(why, "is a mover that runs neither on the CPU nor on the GPU");
    return true;
}

static bool check_observable(const plugmc_plugin *d, sentence why)
{
    static const required functions[] = {REQUIRED(plugmc_observable, quantity),
                                         REQUIRED(plugmc_observable, measure)};
    if (!CHECK_FACET(plugmc_observable, d->observable, "observable", writes_trajectory, functions)) return false;
    if (!d->observable->derived != !d->observable->derive)
        return why_not(why, "is an observable with only one of 'derived' and 'derive'");
    return true;
}

/* What can be read of a descriptor of any version. */
static bool check_head(const plugmc_plugin *d, uint32_t real_size, sentence why)
{
    if (!d) return why_not(why, "is no plugmc plugin: plugmc_plugin_entry returns NULL");
    if (d->magic != PLUGMC_MAGIC)
        return why_not(why, "is no plugmc plugin: its magic number is 0x%08x, expected 0x%08x",
                       d->magic, PLUGMC_MAGIC);
    if (d->size < HEAD_SIZE)
        return why_not(why, "has a descriptor of %u bytes: expected at least %u", d->size,
                       (unsigned)PLUGIN_SIZE);
    if (d->abi_major != PLUGMC_ABI_MAJOR || d->abi_minor > PLUGMC_ABI_MINOR)
        return why_not(why, "is built for plugin ABI %d.%d, but this plugmc has %d.%d: build it "
                       "again with the headers of this plugmc", d->abi_major, d->abi_minor,
                       PLUGMC_ABI_MAJOR, PLUGMC_ABI_MINOR);
    if (d->size < PLUGIN_SIZE)
        return why_not(why, "has a descriptor of %u bytes: expected at least %u", d->size,
                       (unsigned)PLUGIN_SIZE);
    if (d->real_size != real_size)
        return why_not(why, "has reals of %u bytes where %u are expected", d->real_size, real_size);
    return true;
}

/* Keys that the core reads in the same sections. */
static bool check_names(const plugmc_plugin *d, sentence why)
{
    const char *const *reserved = d->kind == PLUGMC_POTENTIAL ? potential_keys
                                  : d->kind == PLUGMC_MOVER   ? mover_keys
                                                              : observable_keys;
    for (int i = 0; i < d->parameter_count; i++)
        for (int k = 0; reserved[k]; k++)
            if (strcmp(d->parameters[i].name, reserved[k]) == 0)
                return why_not(why, "has a parameter '%s': that key belongs to the core",
                               reserved[k]);
    return true;
}

static bool check_body(const plugmc_plugin *d, sentence why)
{
    static bool (*const check_kind[])(const plugmc_plugin *, sentence) = {
        [PLUGMC_POTENTIAL] = check_potential,
        [PLUGMC_MOVER] = check_mover,
        [PLUGMC_OBSERVABLE] = check_observable};
    char detail[512];
    if (d->kind < PLUGMC_POTENTIAL || d->kind > PLUGMC_OBSERVABLE)
        return why_not(why, "is of kind %d: expected 1 (potential), 2 (mover) or 3 (observable)",
                       d->kind);
    if (!d->name || !*d->name) return why_not(why, "has no name in its descriptor");
    if (d->parameter_count && d->parameter_size != sizeof(plugmc_parameter))
        return why_not(why, "has a table of parameters of %u bytes each: expected %zu",
                       d->parameter_size, sizeof(plugmc_parameter));
    if (!parameters_sane(d->parameters, d->parameter_count, d->real_size, d->instance_size, detail,
                         sizeof detail))
        return why_not(why, "cannot be used: %s", detail);
    return check_names(d, why) && check_kind[d->kind](d, why);
}

/* The float twin of a potential that has something for movers to call in float. */
static bool check_single(const plugmc_plugin *d, sentence why)
{
    char detail[512];
    const plugmc_plugin *s = d->single;
    if (!s && d->kind == PLUGMC_POTENTIAL && (d->potential->pair || d->potential->field))
        return why_not(why, "lacks its single-precision half: build it with plugmc_add_potential");
    if (!s) return true;
    sentence inner = {detail, sizeof detail};
    if (!check_head(s, sizeof(float), inner) || !check_body(s, inner))
        return why_not(why, "in its single-precision half %s", detail);
    if (s->kind != d->kind || s->parameter_count != d->parameter_count)
        return why_not(why, "has a single-precision half that is not its own: a %s with %d "
                       "parameters for a %s with %d", plugin_kind_name(s->kind), s->parameter_count,
                       plugin_kind_name(d->kind), d->parameter_count);
    return true;
}

static bool check_descriptor(const plugmc_plugin *d, int kind, sentence why)
{
    if (!check_head(d, sizeof(double), why) || !check_body(d, why)) return false;
    if (kind != 0 && d->kind != kind)
        return why_not(why, "is of kind %s ('%s'): expected here is kind %s",
                       plugin_kind_name(d->kind), d->name, plugin_kind_name(kind));
    return check_single(d, why);
}

/* ---- Searching ------------------------------------------------------------------------------- */

typedef struct folders {
    char **paths;
    int count;
} folders;

static void add_folder(folders *f, char *path)
{
    for (int i = 0; i < f->count; i++) {
        if (strcmp(f->paths[i], path) != 0) continue;
        free(path);
        return;
    }
    f->paths = checked(realloc(f->paths, ((size_t)f->count + 1) * sizeof *f->paths));
    f->paths[f->count++] = path;
}

/* The folder of plugins that belongs to the program; NULL if there is none. */
static char *folder_of_program(void)
{
    struct stat status;
    char program[PATH_MAX], *folder = NULL;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return NULL;
    program[length] = 0;
    *strrchr(program, '/') = 0;
    /* a build tree; an installation, wherever it was moved */
    static const char *const beside[] = {"plugins", "../lib/plugmc"};
    for (int i = 0; i < 2; i++) {
        if (asprintf(&folder, "%s/%s", program, beside[i]) < 0) checked(NULL);
        if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode)) return folder;
        free(folder);
    }
    return NULL;
}

static folders search_path(void)
{
    folders f = {0};
    const char *variable = getenv("PLUGMC_PLUGIN_PATH");
    char *copy = checked(strdup(variable ? variable : "")), *rest = copy, *word;
    while ((word = strsep(&rest, ":")))
        if (*word) add_folder(&f, checked(strdup(word)));
    free(copy);
    char *beside = folder_of_program();
    if (beside) add_folder(&f, beside);
    add_folder(&f, checked(strdup(PLUGMC_PLUGIN_FOLDER)));
    return f;
}

static void free_folders(folders *f)
{
    for (int i = 0; i < f->count; i++) free(f->paths[i]);
    free(f->paths);
}

void plugin_path_print(FILE *out)
{
    folders f = search_path();
    for (int i = 0; i < f.count; i++) fprintf(out, "%s%s", i ? ", " : "", f.paths[i]);
    free_folders(&f);
}

/* The first NAME.so of the search path, or NULL. */
static char *find_plugin(const char *name)
{
    folders f = search_path();
    char *path = NULL;
    for (int i = 0; i < f.count && !path; i++) {
        if (asprintf(&path, "%s/%s.so", f.paths[i], name) < 0) checked(NULL);
        if (access(path, F_OK) == 0) continue;
        free(path);
        path = NULL;
    }
    free_folders(&f);
    return path;
}

static void report_missing(const char *name, const char *file, int line, report *r)
{
    char *searched = NULL;
    size_t length;
    FILE *text = checked(open_memstream(&searched, &length));
    plugin_path_print(text);
    fclose(text);
    plugin_names known = plugin_list(0);
    const char *nearest = nearest_name(name, (const char *const *)known.names, known.count);
    report_error(r, EXIT_PLUGIN, file, line, "there is no plugin '%s'%s%s%s (searched %s)", name,
                 nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
                 searched);
    plugin_names_free(&known);
    free(searched);
}

/* A plugin of a folder, unless one of that name comes earlier in the search path or it is not of
 * the kind wanted. */
static void add_plugin(plugin_names *list, const char *folder, const char *file, int kind)
{
    size_t length = strlen(file);
    char why[1024], *name, *path;
    loaded plugin;
    if (length <= 3 || *file == '.' || strcmp(file + length - 3, ".so") != 0) return;
    name = checked(strndup(file, length - 3));
    if (asprintf(&path, "%s/%s", folder, file) < 0) checked(NULL);

    bool wanted = true;
    for (int i = 0; i < list->count; i++) wanted = wanted && strcmp(list->names[i], name) != 0;
    if (wanted && kind != 0) {
        wanted = plugin_open(path, kind, &plugin, why, sizeof why);
        plugin_unload(&plugin);
    }
    if (!wanted) {
        free(name);
        free(path);
        return;
    }
    size_t bytes = ((size_t)list->count + 1) * sizeof(char *);
    list->names = checked(realloc(list->names, bytes));
    list->paths = checked(realloc(list->paths, bytes));
    list->names[list->count] = name;
    list->paths[list->count++] = path;
}

/* By insertion: names and paths move together, and there are a few dozen. */
static void sort_names(plugin_names *list)
{
    for (int i = 1; i < list->count; i++)
        for (int k = i; k > 0 && strcmp(list->names[k - 1], list->names[k]) > 0; k--) {
            char *name = list->names[k], *path = list->paths[k];
            list->names[k] = list->names[k - 1];
            list->paths[k] = list->paths[k - 1];
            list->names[k - 1] = name;
            list->paths[k - 1] = path;
        }
}

plugin_names plugin_list(int kind)
{
    plugin_names list = {0};
    folders f = search_path();
    for (int i = 0; i < f.count; i++) {
        DIR *folder = opendir(f.paths[i]);
        struct dirent *entry;
        while (folder && (entry = readdir(folder)))
            add_plugin(&list, f.paths[i], entry->d_name, kind);
        if (folder) closedir(folder);
    }
    free_folders(&f);
    sort_names(&list);
    return list;
}

void plugin_names_free(plugin_names *list)
{
    for (int i = 0; i < list->count; i++) {
        free(list->names[i]);
        free(list->paths[i]);
    }
    free(list->names);
    free(list->paths);
    *list = (plugin_names){0};
}
