/* libcuda.so.1 of a machine with two GPUs, neither of which can be opened: a program that looks how many
 * there are finds two, and a run with device = auto goes to the CPU. */
#include <string.h>

#include "gpu/cuda_api.h"

enum { NOT_INITIALIZED = 3 };

static int answer(const char *function, int *first)
{
    if (!strcmp(function, "cuInit")) return 0;
    if (!strcmp(function, "cuDriverGetVersion")) return *first = 13000, 0;
    if (!strcmp(function, "cuDeviceGetCount")) return *first = 2, 0;
    return NOT_INITIALIZED;
}

#define ANSWER(name, exported, arguments)                                                          \
    int fake_##name(int *first) __asm__(exported);                                                 \
    int fake_##name(int *first) { return answer(exported, first); }

DRIVER_FUNCTIONS(ANSWER)
