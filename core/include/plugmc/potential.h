/* plugmc/potential.h: how a potential is written. One C file:
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
 * The file is compiled twice for the CPU, with real = double and real = float, and its text
 * travels inside the shared object to be compiled for the GPU, in a namespace of its own,
 * between the particles of a mover. So what stands outside `#if PLUGMC_HOST` is C that is also
 * CUDA C++: static functions marked PLUGMC_FN, enums instead of macros (macros leak), no
 * headers, fmaf and sqrtf through the names below, no compound literals, no uint32_t *restrict.
 *
 * CMake's plugmc_add_potential does all this; docs/plugin-guide.md gives the bare commands.
 */
#if !defined(__CUDACC_RTC__)
#ifndef PLUGMC_SOURCE
#error                                                                                             \
    "compile a potential through plugmc_add_potential, or as docs/plugin-guide.md says: the file travels in the shared object, and PLUGMC_SOURCE must name it"
#endif

#define PLUGMC_PLUGIN(...)                                                                         \
    PLUGMC_DESCRIPTOR = {PLUGMC_PLUGIN_HEAD, PLUGMC_DESCRIPTOR_TEXT __VA_ARGS__};                  \
    PLUGMC_DESCRIPTOR_ENTRY

#include "plugmc/plugin.h"

#ifdef PLUGMC_FLOAT_UNIT
#define PLUGMC_DESCRIPTOR                                                                          \
    extern const plugmc_plugin plugmc_single __attribute__((visibility("hidden")));                \
    const plugmc_plugin plugmc_single
#define PLUGMC_DESCRIPTOR_TEXT
#define PLUGMC_DESCRIPTOR_ENTRY _Static_assert(sizeof(real) == sizeof(float), "float unit")
#else
PLUGMC_EMBED(plugmc_text, PLUGMC_SOURCE);
extern const plugmc_plugin plugmc_single __attribute__((visibility("hidden")));
#define PLUGMC_DESCRIPTOR static const plugmc_plugin plugmc_double
#define PLUGMC_DESCRIPTOR_TEXT                                                                     \
    .text = plugmc_text, .text_end = plugmc_text_end, .text_name = PLUGMC_SOURCE,                  \
    .single = &plugmc_single,
#define PLUGMC_DESCRIPTOR_ENTRY                                                                    \
    PLUGMC_EXPORT const plugmc_plugin *plugmc_plugin_entry(void) { return &plugmc_double; }        \
    _Static_assert(sizeof(real) == sizeof(double), "double unit")
#endif
#endif

#ifndef PLUGMC_POTENTIAL_H
#define PLUGMC_POTENTIAL_H
/* Functions of a real, in its own precision. */
#ifdef __CUDACC_RTC__
#define PLUGMC_NO_RANGE ((real)__int_as_float(0x7f800000))
#else
#define PLUGMC_NO_RANGE ((real)INFINITY)
#endif
PLUGMC_FN real plugmc_sqrt(real x)
{
    return sizeof(real) == 4 ? (real)sqrtf((float)x) : (real)sqrt((double)x);
}
/* 1 / sqrt(x) for x > 0. On the GPU in float the processor's own, with a relative error below 2^-22. */
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

/* exp(-y) for y >= 0: 2^n exp(f), |f| <= ln(2) / 2, by its power series. */
PLUGMC_FN real plugmc_exp_of_negative(real y)
{
    if (sizeof(real) == 4) return (real)plugmc_exp((float)-y);
    union {
        double value;
        uint64_t bits;
    } shifted, power;
    const double leaves_integer = 6755399441055744.0; /* 3 * 2^51: an integer is in the last bits */
    double x = y < (real)700 ? -(double)y : -700.0;
    shifted.value = x * 1.4426950408889634 + leaves_integer;
    double n = shifted.value - leaves_integer;
    double f = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10;
    double s = 1.0 / 6227020800.0;
    s = fma(s, f, 1.0 / 479001600.0);
    s = fma(s, f, 1.0 / 39916800.0);
    s = fma(s, f, 1.0 / 3628800.0);
    s = fma(s, f, 1.0 / 362880.0);
    s = fma(s, f, 1.0 / 40320.0);
    s = fma(s, f, 1.0 / 5040.0);
    s = fma(s, f, 1.0 / 720.0);
    s = fma(s, f, 1.0 / 120.0);
    s = fma(s, f, 1.0 / 24.0);
    s = fma(s, f, 1.0 / 6.0);
    s = fma(s, f, 0.5);
    s = fma(s * f, f, f) + 1.0;
    power.bits = (shifted.bits + 1023) << 52;
    return (real)(s * power.value);
}

/* With t = c / (x + c), erfc(x) = exp(-x^2) t P(1 - 2 t): Chebyshev fits of P over 0 <= x <= 8 with
 * relative errors of 5e-8 (float, c = 2) and 4e-17 (double, c = 3), of our own. */
PLUGMC_FN real plugmc_erfc_float(real s)
{
    real p = (real)-0.0002247727588;
    p = plugmc_fma(p, s, (real)-0.0003678530249);
    p = plugmc_fma(p, s, (real)0.001489022419);
    p = plugmc_fma(p, s, (real)0.003212982326);
    p = plugmc_fma(p, s, (real)-0.01074256581);
    p = plugmc_fma(p, s, (real)-0.01821659062);
    p = plugmc_fma(p, s, (real)0.1397349182);
    p = plugmc_fma(p, s, (real)-0.3435805336);
    return plugmc_fma(p, s, (real)0.5107913707);
}

PLUGMC_FN real plugmc_erfc_double(real s)
{
    real p = (real)-1.60540198327246228e-8;
    p = plugmc_fma(p, s, (real)-9.11876094667116763e-8);
    p = plugmc_fma(p, s, (real)-1.17920998615544625e-7);
    p = plugmc_fma(p, s, (real)3.52329185131032506e-7);
    p = plugmc_fma(p, s, (real)9.20914430173700308e-7);
    p = plugmc_fma(p, s, (real)-1.5911167208164261e-6);
    p = plugmc_fma(p, s, (real)-5.8252741493005291e-6);
    p = plugmc_fma(p, s, (real)0.0000101344011245459166);
    p = plugmc_fma(p, s, (real)0.0000358544218812857289);
    p = plugmc_fma(p, s, (real)-0.0000922594834476117397);
    p = plugmc_fma(p, s, (real)-0.000182769986037134923);
    p = plugmc_fma(p, s, (real)0.00101135401501752745);
    p = plugmc_fma(p, s, (real)-0.000404138868823850458);
    p = plugmc_fma(p, s, (real)-0.00894241154214869961);
    p = plugmc_fma(p, s, (real)0.0398425870954995471);
    p = plugmc_fma(p, s, (real)-0.103489087300172615);
    p = plugmc_fma(p, s, (real)0.196742785701371113);
    p = plugmc_fma(p, s, (real)-0.294464817723294691);
    return plugmc_fma(p, s, (real)0.358002302362779892);
}

/* erfc(alpha r) / r, the potential of a charge in a Gaussian cloud of the opposite one, from r^2;
 * and exp(-(alpha r)^2) and 1 / r, which its derivatives need. To the precision of real as long as
 * alpha r <= 8. One division for all quotients. */
PLUGMC_FN real plugmc_screened(real alpha, real r2, real *gauss, real *over)
{
    const real c = sizeof(real) == 4 ? (real)2 : (real)3;
    real r = plugmc_sqrt(r2), x = alpha * r;
    real quotient = (real)1 / ((x + c) * r), t = c * r * quotient;
    real p = sizeof(real) == 4 ? plugmc_erfc_float((real)1 - 2 * t)
                               : plugmc_erfc_double((real)1 - 2 * t);
    *gauss = plugmc_exp_of_negative(x * x);
    *over = (x + c) * quotient;
    return *gauss * p * c * quotient;
}

/* What functions of free numbers (plugmc/free.h) add to: sums over pairs, or over electrons, of a term of
 * O_k = d ln |Psi| / dp_k and of what the kinetic energy asks of it. */
typedef struct plugmc_tally {
    /* Sums of O_k times `factor`, and of -1/2 lap_i O_k - drift_i . grad_i O_k over the electrons i; NULL: not
     * wanted. */
    double *values, *kinetic;
    int32_t stride; /* from one sum to the next */
    int32_t dimension;
    double factor;
    double drift_a[3], drift_b[3]; /* Re grad ln Psi by the place of a, and of b; 1/length */
} plugmc_tally;

PLUGMC_FN void plugmc_tally_add(const plugmc_tally *t, int32_t k, real value, real kinetic)
{
    if (t->values) t->values[k * t->stride] += t->factor * (double)value;
    if (t->kinetic) t->kinetic[k * t->stride] += (double)kinetic;
}

/* How both drifts go along the separation a - b; of one electron and a place, its own. */
PLUGMC_FN real plugmc_tally_along(const plugmc_tally *t, plugmc_separation s)
{
    return (real)((t->drift_a[0] - t->drift_b[0]) * (double)s.x +
                  (t->drift_a[1] - t->drift_b[1]) * (double)s.y +
                  (t->drift_a[2] - t->drift_b[2]) * (double)s.z);
}

/* A function of a distance r that `electrons` (1, 2) have in their Laplacian: its value, slope over r and
 * curvature; `along` is plugmc_tally_along. */
PLUGMC_FN void plugmc_tally_radial(const plugmc_tally *t, int32_t k, int32_t electrons, real along,
                                   real value, real slope, real curvature)
{
    const real laplacian = curvature + (real)(t->dimension - 1) * slope;
    plugmc_tally_add(t, k, value, -(real)electrons / 2 * laplacian - along * slope);
}
#endif
