/* plugmc doctor: one line for each thing that plugmc uses where it is there, and what to do where
 * it is not. */
#include "doctor.h"

#include <hdf5.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cache.h"
#include "gpu/gpu.h"
#include "gpu/links.h"
#include "gpu/nvrtc.h"
#include "plugin/search.h"
#include "base/report.h"
#include "engine/threads.h"
#include "parallel/team.h"

static void line(const char *topic, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(const char *topic, const char *format, ...)
{
    va_list arguments;
    printf("%-14s", topic);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static void show_gpus(void)
{
    char why[512];
    int version = 0, count = gpu_count(&version, why);
    if (version) line("driver", "NVIDIA, CUDA %d.%d", version / 1000, version % 1000 / 10);
    if (!count) line("GPU", "none: %s", why);
    for (int i = 0; i < count; i++) {
        gpu *g = gpu_open(i, false, why);
        printf("%-14s%d: ", "GPU", i);
        if (g)
            gpu_describe(stdout, g);
        else
            printf("cannot be used: %s\n", why);
        gpu_close(g);
    }
}

/* Compiles a small kernel for each architecture, so that a damaged installation shows. */
static void show_compiler(void)
{
    char why[512], words[256] = "";
    int major, minor;
    nvrtc *n = nvrtc_open(why);
    if (!n) {
        line("NVRTC", "none: %s", why);
        return;
    }
    nvrtc_version(n, &major, &minor);
    line("NVRTC", "%d.%d, %s", major, minor, nvrtc_path(n));
    for (int i = 0; i < GPU_ARCHITECTURES; i++) {
        bool good = nvrtc_compiles_for(n, gpu_architectures[i]);
        size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%ssm_%d %s", i ? ", " : "",
                 gpu_architectures[i], good ? "yes" : "no");
    }
    line("compiles for", "%s", words);
    nvrtc_close(n);
}

static void show_cache(void)
{
    char why[512];
    int files;
    const char *folder = cache_folder(why);
    if (!folder) {
        line("kernel cache", "none: %s", why);
        return;
    }
    uint64_t bytes = cache_size(folder, &files);
    line("kernel cache", "%s, %d files, %.1f of at most %.0f MiB", folder, files,
         (double)bytes / 1048576, (double)CACHE_CAP / 1048576);
}

static void show_plugins(void)
{
    printf("%-14s", "plugins");
    plugin_path_print(stdout);
    putchar('\n');
}

static void show_processor(void)
{
    char words[160];
    const thread_offer offer = threads_offered("");
    line("threads", "%d: %s", offer.threads, threads_why(&offer, words));
#if defined(__x86_64__)
    __builtin_cpu_init();
    line("CPU", "x86-64, AVX2 %s, FMA %s, AVX-512 %s",
         __builtin_cpu_supports("avx2") ? "yes" : "no",
         __builtin_cpu_supports("fma") ? "yes" : "no",
         __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
             ? "yes"
             : "no");
#elif defined(__aarch64__)
    line("CPU", "aarch64");
#else
    line("CPU", "neither x86-64 nor aarch64");
#endif
}

static void show_hdf5(void)
{
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    line("HDF5", "%u.%u.%u", major, minor, release);
}

int command_doctor(int argc, char **argv)
{
    static const char usage[] =
        "usage: plugmc doctor\n\n"
        "Shows the GPUs, the kernel compiler and its cache, processor, HDF5, plugin path, MPI\n"
        "and NCCL that plugmc finds on this machine.\n";
    if (argc > 0 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
        fputs(usage, stdout);
        return EXIT_DONE;
    }
    if (argc > 0) {
        fprintf(stderr, "plugmc doctor takes no argument '%s'\n%s", argv[0], usage);
        return EXIT_USAGE;
    }
    show_gpus();
    links_describe(stdout);
    show_compiler();
    show_cache();
    show_processor();
    show_hdf5();
    show_plugins();
    team_describe(stdout);
    return EXIT_DONE;
}
