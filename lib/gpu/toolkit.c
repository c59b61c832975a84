/* Finding libraries of the CUDA Toolkit. Their version numbers are not those of the toolkit (cuFFT
 * 12 belongs to CUDA 13), so names are looked for rather than made. */
#include "gpu/toolkit.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/trust.h"

/* Version numbers count as numbers: 12 comes before 9. */
static int newest_first(const void *a, const void *b)
{
    return strverscmp(*(char *const *)b, *(char *const *)a);
}

static void *first_matching(const char *pattern, void *(*open)(const char *, void *), void *data)
{
    glob_t files;
    void *found = NULL;
    if (glob(pattern, 0, NULL, &files)) return NULL;
    qsort(files.gl_pathv, files.gl_pathc, sizeof *files.gl_pathv, newest_first);
    for (size_t i = 0; i < files.gl_pathc && !found; i++) found = open(files.gl_pathv[i], data);
    globfree(&files);
    return found;
}

void *toolkit_search(const char *name, void *(*open)(const char *path, void *data), void *data)
{
    static const char *const folders[] = {"/usr/local/cuda*/lib64",
                                          "/usr/local/cuda*/targets/*/lib", "/opt/cuda*/lib64"};
    void *found = NULL;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && !found; i++) {
        char pattern[4096 + 64];
        snprintf(pattern, sizeof pattern, "%s/%s", folders[i], name);
        found = first_matching(pattern, open, data);
    }
    return found;
}

void *toolkit_open(const char *path, char why[512])
{
    trusted file = {.file = -1};
    if (strchr(path, '/') && !trusted_open(path, &file, (sentence){why, 512})) return NULL;
    trusted_close(&file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *reason = library ? NULL : dlerror();
    if (!library) snprintf(why, 512, "%.500s", reason ? reason : path);
    return library;
}

static void *open_library(const char *path, void *why) { return toolkit_open(path, why); }

void *toolkit_library(const char *nvrtc_path, const char *stem, char why[512])
{
    enum { NEWEST = 20, OLDEST = 8 }; /* major versions of any of them since CUDA 11 */
    char name[4096], refused[512] = "";
    void *library = NULL;
    const char *slash = strrchr(nvrtc_path, '/');
    if (slash) {
        snprintf(name, sizeof name, "%.*s/lib%s.so.*", (int)(slash - nvrtc_path), nvrtc_path, stem);
        library = first_matching(name, open_library, refused);
    }
    for (int version = NEWEST; version >= OLDEST && !library; version--) {
        snprintf(name, sizeof name, "lib%s.so.%d", stem, version);
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
        snprintf(name, sizeof name, "lib%s.so.*", stem);
        library = toolkit_search(name, open_library, refused);
    }
    if (!library && *refused)
        snprintf(why, 512, "lib%s of the CUDA Toolkit cannot be opened: %.400s", stem, refused);
    else if (!library)
        snprintf(why, 512,
                 "lib%s of the CUDA Toolkit is neither beside NVRTC (%.300s) nor in the "
                 "loader's path nor below /usr/local/cuda*",
                 stem, nvrtc_path);
    return library;
}
