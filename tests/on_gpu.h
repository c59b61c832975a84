/* What the tests on a GPU share: the device, and a main that opens it. Include after testing.h. */
#ifndef PLUGMC_ON_GPU_H
#define PLUGMC_ON_GPU_H

#include <time.h>

#include "gpu/gpu.h"
#include "gpu/nvrtc.h"
#include "base/report.h"

static gpu *device;
static report device_messages; /* what the core says about it */

static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 0, or what main has to return: 77, which is skipped, without a GPU or a compiler for it, and 1 if
 * there is one that does not open. */
static inline int device_open(void)
{
    char why[512];
    int version;
    nvrtc *compiler = nvrtc_open(why);
    const bool found = compiler && gpu_count(&version, why) > 0;
    if (compiler) nvrtc_close(compiler); /* gpu_open chooses one for the driver */
    if (!found) {
        printf("skipped: %s\n", why);
        return 77;
    }
    device = gpu_open(0, false, why);
    if (!device) {
        printf("failed: %s\n", why);
        return 1;
    }
    gpu_describe(stdout, device);
    gpu_bind(device, NULL, &device_messages);
    return 0;
}

/* main of a test executable, as TEST_MAIN. */
/* With names as arguments ('*' for anything) the tests of those names alone. */
#define GPU_TEST_MAIN(...)                                                                         \
    int main(int count, char **names)                                                              \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        const int without = device_open();                                                         \
        int failed = 0;                                                                            \
        if (without) return without;                                                               \
        if (count < 2) failed = cmocka_run_group_tests(tests, NULL, NULL) != 0;                    \
        for (int k = 1; k < count; k++) {                                                          \
            cmocka_set_test_filter(names[k]);                                                      \
            failed |= cmocka_run_group_tests(tests, NULL, NULL) != 0;                              \
        }                                                                                          \
        gpu_close(device);                                                                         \
        return failed;                                                                             \
    }

#endif
