/* OpenBLAS as determinants on the CPU use it: on one thread, since other threads have other walkers and would change the
 * order of sums. */
#ifndef PLUGMC_DETERMINANTS_BLAS_H
#define PLUGMC_DETERMINANTS_BLAS_H

#include <stdlib.h>
#include <strings.h>

#include <cblas.h>

#include <plugmc/everything.h>

enum { BLAS_MATTERS = 64 }; /* from so many electrons of a spin on */

/* A processor that OpenBLAS does not know gets its kernels of 2004 (Prescott), which take three times as long as those
 * it could have: what OPENBLAS_CORETYPE should say then, or NULL. */
static inline const char *blas_better_kernels(const char *taken, int has_avx2, int has_avx512)
{
    if (strcasecmp(taken, "Prescott") || !has_avx2) return NULL;
    return has_avx512 ? "SKYLAKEX" : "HASWELL";
}

/* Before the first matrix. */
static inline void blas_begin(void) { openblas_set_num_threads(1); }

/* The same of a mover, which warns where kernels are old. `most`: electrons of a spin. */
static inline void blas_begin_mover(const plugmc_host *host, int64_t most)
{
    blas_begin();
#ifdef __x86_64__
    const int avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl");
    const char *better =
        blas_better_kernels(openblas_get_corename(), __builtin_cpu_supports("avx2"), avx512);
    if (better && !host->gpu && most >= BLAS_MATTERS && !getenv("OPENBLAS_CORETYPE"))
        host->warn(host->context,
                   "OpenBLAS does not know this processor and uses its oldest kernels; with "
                   "OPENBLAS_CORETYPE=%s in the environment matrix operations may take a "
                   "third of the time",
                   better);
#endif
}
#endif
