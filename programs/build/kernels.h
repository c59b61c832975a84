/* The GPU source of a plugin, compiled without an INI file and without a GPU. */
#ifndef PLUGMC_BUILD_KERNELS_H
#define PLUGMC_BUILD_KERNELS_H

#include "base/report.h"
#include "plugin/loader.h"

/* Compiles whatever the plugin has for GPUs, for the first `count` of gpu_architectures, with its default parameters in
 * a box with two species, and prints for which. An exit code: EXIT_DEVICE after errors of the compiler, with the
 * author's lines. Only a note is made where that is not possible: without NVRTC, or if the plugin refuses its default
 * parameters. */
int kernels_compile(const loaded *, int count, report *);
#endif
