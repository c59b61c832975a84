/* Checks a GPU source of a plugin before it is compiled. */
#ifndef PLUGMC_GPU_KERNEL_TEXT_H
#define PLUGMC_GPU_KERNEL_TEXT_H

#include "base/sentence.h"
#include "plugmc/everything.h"

/* Whether it has a name, a text and a terminated list of definitions, and requests only what exists. */
bool check_gpu_source(const plugmc_gpu_source *, sentence why);
#endif
