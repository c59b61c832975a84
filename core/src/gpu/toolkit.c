/* Finding libraries of the CUDA Toolkit. Their version numbers are not those of the toolkit (cuFFT 12
 * belongs to CUDA 13), so names are looked for rather than made. */
#include "gpu/toolkit.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last of the files that match and open. */
static void *open_matching(const char *pattern)
{
    glob_t files;
    void *library = NULL;
    if (glob(pattern, 0, NULL, &files)) return NULL;
    for (size_t i = files.gl_pathc; i > 0 && !library; i--)
        library = dlopen(files.gl_pathv[i - 1], RTLD_NOW | RTLD_LOCAL);
    globfree(&files);
    return library;
}

void *toolkit_library(const char *nvrtc_path, const char *stem, char why[512])
{
    enum { NEWEST = 20, OLDEST = 8 }; /* major versions of any of them since CUDA 11 */
    static const char *const folders[] = {"/usr/local/cuda*/lib64",
                                          "/usr/local/cuda*/targets/*/lib", "/opt/cuda*/lib64"};
    char name[4096];
    void *library = NULL;
    const char *slash = strrchr(nvrtc_path, '/');
    if (slash) {
        snprintf(name, sizeof name, "%.*s/lib%s.so.*", (int)(slash - nvrtc_path), nvrtc_path, stem);
        library = open_matching(name);
    }
    for (int version = NEWEST; version >= OLDEST && !library; version--) {
        snprintf(name, sizeof name, "lib%s.so.%d", stem, version);
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && !library; i++) {
        snprintf(name, sizeof name, "%s/lib%s.so.*", folders[i], stem);
        library = open_matching(name);
    }
    if (!library)
        snprintf(why, 512, "lib%s of the CUDA Toolkit is neither beside NVRTC (%.300s) nor in the "
                 "loader's path nor below /usr/local/cuda*", stem, nvrtc_path);
    return library;
}
