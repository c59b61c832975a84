/* NVRTC beyond what gpu/gpu.h promises to the rest of the core. */
#ifndef PLUGMC_NVRTC_H
#define PLUGMC_NVRTC_H

#include "gpu/cuda_api.h"
#include "gpu/gpu.h"

struct nvrtc {
    compiler_api api;
    int major, minor;
    char path[512];     /* of the library */
    int *architectures; /* what it compiles for, ascending: 75, 80, ... */
    int architecture_count;
    bool warned; /* that kernels cannot be cached: said once */
};

/* As nvrtc_open, but no newer than CUDA `major`: a driver refuses what a newer major compiles. */
nvrtc *nvrtc_open_up_to(int major, char why[512]);
void nvrtc_close(nvrtc *);
const char *nvrtc_path(const nvrtc *);
/* Whether a small kernel compiles for sm_<architecture>, now and without the cache. */
bool nvrtc_compiles_for(const nvrtc *, int architecture);
#endif
