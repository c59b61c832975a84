/* What the tests that compile kernels share: NVRTC, a folder for its cache and other files, and a
 * main that opens them. Include after testing.h. */
#ifndef PLUGMC_COMPILING_H
#define PLUGMC_COMPILING_H

#include "gpu/nvrtc.h"
#include "scratch.h"

static nvrtc *compiler;
static char folder[] = "/tmp/plugmc-test-XXXXXX";

/* 0, or what main has to return: 77, which is skipped, without NVRTC. */
static inline int compiler_open(void)
{
    char why[512];
    compiler = nvrtc_open(why);
    if (!compiler) {
        printf("skipped: %s\n", why);
        return 77;
    }
    if (mkdtemp(folder) && !setenv("PLUGMC_CACHE_DIR", folder, 1)) return 0;
    nvrtc_close(compiler);
    return 1;
}

/* main of a test executable, as TEST_MAIN. */
#define COMPILER_TEST_MAIN(...)                                                                    \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        const int without = compiler_open();                                                       \
        if (without) return without;                                                               \
        const int failed = cmocka_run_group_tests(tests, NULL, NULL) != 0;                         \
        remove_folder(folder);                                                                     \
        nvrtc_close(compiler);                                                                     \
        return failed;                                                                             \
    }

#endif
