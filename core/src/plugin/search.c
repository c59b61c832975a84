/* Searching for plugins: the folders, and the names of what is in them. */
#include "plugin/search.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own_folder.h"
#include "input/config.h"
#include "plugin/descriptor.h"

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
    /* a build tree; an installation, wherever it was moved, of a library and of a program */
    static const char *const beside[] = {"plugins/.", "plugmc/.", "../lib/plugmc/.", NULL};
    char *folder = own_place(beside);
    if (folder) folder[strlen(folder) - 2] = 0;
    return folder;
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

/* Without links. */
static bool is_below(const char *folder, const char *file)
{
    char *real = folder ? realpath(folder, NULL) : NULL;
    const size_t n = real ? strlen(real) : 0;
    const bool below = n && !strncmp(file, real, n) && file[n] == '/';
    free(real);
    return below;
}

bool plugin_is_own(const char *path)
{
    char *beside = folder_of_program(), *file = realpath(path, NULL);
    const bool own = file && (is_below(beside, file) || is_below(PLUGMC_PLUGIN_FOLDER, file));
    free(beside), free(file);
    return own;
}

void plugin_path_print(FILE *out)
{
    folders f = search_path();
    for (int i = 0; i < f.count; i++) fprintf(out, "%s%s", i ? ", " : "", f.paths[i]);
    free_folders(&f);
}

char *find_plugin(const char *name)
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

/* Names are cheap and plugins are not: of the nearest name it is asked whether it is of the kind, then of the next. */
static const char *nearest_of_kind(const char *name, int kind, plugin_names *known)
{
    int count = known->count;
    const char *nearest;
    while ((nearest = nearest_name(name, (const char *const *)known->names, count))) {
        int i = 0;
        char why[1024];
        loaded plugin;
        while (known->names[i] != nearest) i++;
        const bool good = !kind || plugin_open(known->paths[i], kind, &plugin, why, sizeof why);
        if (good && kind) plugin_unload(&plugin);
        if (good) return nearest;
        count--; /* behind those that are still to be asked */
        char *passed = known->names[i], *path = known->paths[i];
        known->names[i] = known->names[count], known->paths[i] = known->paths[count];
        known->names[count] = passed, known->paths[count] = path;
    }
    return NULL;
}

static void report_missing(const char *name, int kind, const char *file, int line, report *r)
{
    char *searched = NULL;
    size_t length;
    FILE *text = checked(open_memstream(&searched, &length));
    plugin_path_print(text);
    fclose(text);
    plugin_names known = plugin_list(0);
    const char *nearest = nearest_of_kind(name, kind, &known);
    /* a path has to have a '/' */
    const size_t n = strlen(name);
    const bool ends = n > 3 && !strcmp(name + n - 3, ".so");
    char here[300];
    if (snprintf(here, sizeof here, "./%s%s", name, ends ? "" : ".so") < (int)sizeof here &&
        access(here, R_OK) == 0)
        nearest = here;
    report_error(r, EXIT_PLUGIN, file, line,
                 "there is no plugin '%s'%s%s%s (searched %s; plugmc list%s%s shows what is there)",
                 name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                 nearest ? "'?" : "", searched, kind ? " " : "",
                 kind == PLUGMC_POTENTIAL    ? "potentials"
                 : kind == PLUGMC_MOVER      ? "movers"
                 : kind == PLUGMC_OBSERVABLE ? "observables"
                                             : "");
    plugin_names_free(&known);
    free(searched);
}

int plugin_load(const char *name, int kind, const char *file, int line, loaded *out, report *r)
{
    char why[1024];
    *out = (loaded){0};
    char *path = strchr(name, '/') ? checked(strdup(name)) : find_plugin(name);
    if (!path) {
        report_missing(name, kind, file, line, r);
        return EXIT_PLUGIN;
    }
    if (plugin_open(path, kind, out, why, sizeof why)) {
        free(out->name);
        out->name = checked(strdup(name));
    } else {
        report_error(r, out->shortage ? EXIT_MEMORY : EXIT_PLUGIN, file, line, "plugin '%s': %s",
                     name, why);
    }
    free(path);
    return out->plugin ? 0 : out->shortage ? EXIT_MEMORY : EXIT_PLUGIN;
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
