/* plugmc/potential.h: include it to write a potential. A potential is one C file:
 *
 *     #include <plugmc/potential.h>
 *
 *     typedef struct parameters { real strength, cutoff; } parameters;
 *
 *     PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s,
 *                                plugmc_site a, plugmc_site b) { ... }
 *     PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }
 *
 *     #define PLUGMC_PAIR PLUGMC_PAIR_ENERGY
 *     #include <plugmc/pair.h>
 *
 *     #if PLUGMC_HOST
 *     static const plugmc_parameter table[] = { PLUGMC_REAL_KEY(parameters, strength, ...), ... };
 *     PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "...", .potential = &potential, ...)
 *     #endif
 *
 * The file is compiled twice for the CPU, with real = double and real = float. Its source is also embedded in the
 * shared object: the core compiles it for the GPU, in a namespace of its own, into the kernels of a mover. So
 * everything outside `#if PLUGMC_HOST` has to be valid C and CUDA C++: static functions marked PLUGMC_FN, enums
 * instead of macros (macros leak into other files), no headers, plugmc_fma and plugmc_sqrt instead of fmaf and
 * sqrtf, no compound literals, no uint32_t *restrict.
 *
 * CMake's plugmc_add_potential does all this; docs/plugin-guide.md gives the plain compiler commands. */
#if !defined(__CUDACC_RTC__) && !defined(PLUGMC_POTENTIAL_H)
#ifndef PLUGMC_SOURCE
#error                                                                                             \
    "compile a potential through plugmc_add_potential, or as docs/plugin-guide.md says: the file travels in the shared object, and PLUGMC_SOURCE must name it"
#endif

#define PLUGMC_PLUGIN(...)                                                                         \
    PLUGMC_DESCRIPTOR = {PLUGMC_PLUGIN_HEAD, PLUGMC_DESCRIPTOR_SOURCE __VA_ARGS__};                \
    PLUGMC_DESCRIPTOR_ENTRY

#include "plugmc/facets.h"

#ifdef PLUGMC_FLOAT_UNIT
#define PLUGMC_DESCRIPTOR                                                                          \
    extern const plugmc_plugin plugmc_single __attribute__((visibility("hidden")));                \
    const plugmc_plugin plugmc_single
#define PLUGMC_DESCRIPTOR_SOURCE
#define PLUGMC_DESCRIPTOR_ENTRY _Static_assert(sizeof(real) == sizeof(float), "float unit")
#else
PLUGMC_EMBED(plugmc_source, PLUGMC_SOURCE);
extern const plugmc_plugin plugmc_single __attribute__((visibility("hidden")));
#define PLUGMC_DESCRIPTOR static const plugmc_plugin plugmc_double
#define PLUGMC_DESCRIPTOR_SOURCE                                                                   \
    .source = plugmc_source, .source_end = plugmc_source_end, .source_name = PLUGMC_SOURCE,        \
    .single = &plugmc_single,
#define PLUGMC_DESCRIPTOR_ENTRY                                                                    \
    PLUGMC_EXPORT const plugmc_plugin *plugmc_plugin_entry(void) { return &plugmc_double; }        \
    _Static_assert(sizeof(real) == sizeof(double), "double unit")
#endif
#endif

#ifndef PLUGMC_POTENTIAL_H
#define PLUGMC_POTENTIAL_H
/* Elementary functions in the precision of real. */
#ifdef __CUDACC_RTC__
#define PLUGMC_NO_RANGE ((real)__int_as_float(0x7f800000))
#else
#define PLUGMC_NO_RANGE ((real)INFINITY)
#endif
PLUGMC_FN real plugmc_sqrt(real x)
{
    return sizeof(real) == 4 ? (real)sqrtf((float)x) : (real)sqrt((double)x);
}
/* 1 / sqrt(x) for x > 0. In float on the GPU this is the hardware instruction, relative error below 2^-22. */
PLUGMC_FN real plugmc_rsqrt(real x)
{
#ifdef __CUDACC_RTC__
    if (sizeof(real) == 4) {
        float y;
        asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"((float)x));
        return (real)y;
    }
    return (real)rsqrt((double)x);
#else
    return 1 / plugmc_sqrt(x);
#endif
}
PLUGMC_FN real plugmc_fma(real a, real b, real c)
{
    return sizeof(real) == 4 ? (real)fmaf((float)a, (float)b, (float)c)
                             : (real)fma((double)a, (double)b, (double)c);
}
#endif
