#include "objects.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own_folder.h"
#include "base/trust.h"
#include "base/report.h"

/* The object, and names of the library that it belongs to. */
static const struct {
    const char *object, *title, *libraries[3];
} abis[ABIS] = {
    [ABI_OPEN_MPI] = {"plugmc_open_mpi.so", "Open MPI", {"libmpi.so.40"}},
    [ABI_MPICH] = {"plugmc_mpich.so", "MPICH, Intel, Cray", {"libmpi.so.12", "libmpich.so.12"}},
};

/* In $PLUGMC_MPI_PATH, beside the program, in an installation. malloc'ed; NULL if it is nowhere. */
static char *find_object(int abi)
{
    const char *given = getenv("PLUGMC_MPI_PATH"), *own = own_folder();
    char *path;
    const struct {
        const char *folder, *below;
    } places[] = {{given, ""},
                  {own, "/mpi"},
                  {own, "/plugmc/mpi"},
                  {own, "/../lib/plugmc/mpi"},
                  {PLUGMC_PLUGIN_FOLDER, "/mpi"}};
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
        if (!places[k].folder || !*places[k].folder) continue;
        if (asprintf(&path, "%s%s/%s", places[k].folder, places[k].below, abis[abi].object) < 0)
            checked(NULL);
        if (access(path, F_OK) == 0) return path;
        free(path);
    }
    return NULL;
}

/* The library has to be there for its own parts, which it opens by itself, too. */
static const mpi_calls *open_abi(int abi, char *why, size_t size)
{
    char *path = find_object(abi);
    trusted file = {.file = -1};
    void *library = NULL, *object = NULL;
    const mpi_calls *calls = NULL;
    if (!path) {
        snprintf(why, size,
                 "there is no %s, which is built with the MPI of this machine by scripts/mpi.sh",
                 abis[abi].object);
        return NULL;
    }
    /* where /sys is not there, as in a chroot, hwloc would say so in each process; MPI asks it where to bind them, and
       HWLOC_HIDE_ERRORS=0 shows what it says */
    setenv("HWLOC_HIDE_ERRORS", "2", 0);
    for (int k = 0; k < 3 && abis[abi].libraries[k] && !library; k++)
        library = dlopen(abis[abi].libraries[k], RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        snprintf(why, size, "%s is not in the loader's path (is the module of MPI loaded?)",
                 abis[abi].libraries[0]);
    else if (trusted_open(path, &file, (sentence){why, size}))
        object = dlopen(file.path, RTLD_NOW | RTLD_LOCAL);
    const char *reason = library && !object && file.path ? dlerror() : NULL;
    if (reason) snprintf(why, size, "%s", reason);
    mpi_calls_entry *entry = NULL;
    if (object) *(void **)&entry = dlsym(object, "plugmc_mpi_calls");
    if (entry) calls = entry();
    if (object && (!calls || calls->version != PLUGMC_MPI_CALLS)) {
        snprintf(why, size, "%s is of another version: rebuild it with scripts/mpi.sh", path);
        calls = NULL;
    }
    trusted_close(&file);
    free(path);
    return calls;
}

const mpi_calls *objects_open(int first, char *why, size_t size)
{
    const mpi_calls *calls = open_abi(first, why, size);
    char other[512];
    return calls ? calls : open_abi(!first, other, sizeof other);
}

const mpi_calls *objects_open_loaded(char *why, size_t size)
{
    for (int abi = 0; abi < ABIS; abi++)
        for (int k = 0; k < 3 && abis[abi].libraries[k]; k++) {
            void *there = dlopen(abis[abi].libraries[k], RTLD_NOW | RTLD_NOLOAD);
            if (!there) continue;
            dlclose(there);
            return open_abi(abi, why, size);
        }
    snprintf(why, size, "this program has loaded no libmpi that plugmc knows (%s, %s)",
             abis[ABI_OPEN_MPI].libraries[0], abis[ABI_MPICH].libraries[0]);
    return NULL;
}

void objects_describe(FILE *out)
{
    for (int abi = 0; abi < ABIS; abi++) {
        char *path = find_object(abi);
        void *library = NULL;
        fprintf(out, "%-14s%s: ", "MPI", abis[abi].title);
        fputs(path ? path : "no object (scripts/mpi.sh builds it)", out);
        for (int k = 0; k < 3 && abis[abi].libraries[k] && !library; k++)
            library = dlopen(abis[abi].libraries[k], RTLD_LAZY | RTLD_LOCAL);
        fputs(library ? ", with its library\n" : ", no library of it\n", out);
        if (library) dlclose(library);
        free(path);
    }
}
