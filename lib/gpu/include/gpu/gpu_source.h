/* What a plugin says of a text for the GPU, checked before it is compiled. */
#ifndef PLUGMC_GPU_KERNEL_TEXT_H
#define PLUGMC_GPU_KERNEL_TEXT_H

#include "base/sentence.h"
#include "plugmc/everything.h"

/* Has it a name, a text and a list of definitions that ends, and does it ask for what there is? */
bool check_gpu_source(const plugmc_gpu_source *, sentence why);
#endif
