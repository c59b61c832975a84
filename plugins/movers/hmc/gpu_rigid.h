/* Rigid molecules on the GPU: what the kernels of rigid.cu find in the task. gpu.c launches them. */
#ifndef PLUGMC_HMC_GPU_RIGID_H
#define PLUGMC_HMC_GPU_RIGID_H

#include "rigid.h"

static inline plugmc_device_pointer hmc_device(const void *pointer)
{
    return (plugmc_device_pointer)(uintptr_t)pointer;
}

/* Kinds and members to the device, and memory for orientations. */
int hmc_gpu_prepare_rigid(const hmc *, const plugmc_host *, hmc_task *);
/* h->rigid->turned to the device, and back. */
int hmc_gpu_upload_turned(const hmc *, const plugmc_host *, const hmc_task *);
int hmc_gpu_download_turned(hmc *, const plugmc_host *, const hmc_task *);

#endif
