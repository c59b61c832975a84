#include "base/own_folder.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"

static char folder[PATH_MAX];

/* When it is loaded: the name that the loader knows may be relative to the folder of that moment. */
__attribute__((constructor)) static void find(void)
{
    struct link_map *map = NULL;
    Dl_info info;
    if (!dladdr1(folder, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) return;
    const char *name = *map->l_name ? map->l_name : "/proc/self/exe"; /* the program has none */
    if (!realpath(name, folder)) folder[0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
}

const char *own_folder(void) { return folder[0] ? folder : NULL; }

char *own_place(const char *const *places)
{
    for (; folder[0] && *places; places++) {
        char *path;
        if (asprintf(&path, "%s/%s", folder, *places) < 0) checked(NULL);
        if (access(path, F_OK) == 0) return path;
        free(path);
    }
    return NULL;
}
