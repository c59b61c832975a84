/* NVRTC: more than gpu/gpu.h offers to the rest of the core. */
#ifndef PLUGMC_NVRTC_H
#define PLUGMC_NVRTC_H

#include "gpu/cuda_api.h"
#include "gpu/gpu.h"

struct nvrtc {
    compiler_api api;
    int major, minor;
    /* Path of the library. */
    char path[512];
    /* Architectures for which it compiles, ascending: 75, 80, ... */
    int *architectures;
    int architecture_count;
    /* Compiled, or being compiled, before they are asked for. */
    struct early_text *early;
    int early_count;
    /* The warning that kernels cannot be cached has been printed. */
    bool warned;
};

/* As nvrtc_open, but at most CUDA version `major`. A driver refuses code compiled by a newer major version. */
nvrtc *nvrtc_open_up_to(int major, char why[512]);
void nvrtc_close(nvrtc *);
const char *nvrtc_path(const nvrtc *);
/* Tries to compile a small kernel for sm_<architecture>, without the cache. */
bool nvrtc_compiles_for(const nvrtc *, int architecture);
/* Begins to compile, in a thread, what `compile` will be asked for with the same arguments, unless the cache has it. Takes `fused`.
 * Does nothing if that cannot be, or if a thread for each processor is there. */
void compile_ahead(nvrtc *, char *fused, const char *name, int architecture, enum arithmetic);
#endif
