/* plugmc/functions.h: exp, log and erfc for potentials, the same on the CPU and on a GPU. */
#ifndef PLUGMC_FUNCTIONS_H
#define PLUGMC_FUNCTIONS_H

#if defined(PLUGMC_PROPOSAL_H) && !defined(__CUDACC_RTC__)
#error                                                                                             \
    "plugmc/functions.h is for potentials: in propose of a mover write exp, log and sqrt, which are there on the CPU and on a GPU"
#endif
#include "plugmc/potential.h"

/* exp(-y) for y >= 0: 2^n exp(f) with |f| <= ln(2) / 2, by its power series. */
PLUGMC_FN real plugmc_exp_of_negative(real y)
{
    if (sizeof(real) == 4) return (real)plugmc_exp((float)-y);
    union {
        double value;
        uint64_t bits;
    } shifted, power;
    /* adding 3 * 2^51 leaves the integer in the last bits */
    const double leaves_integer = 6755399441055744.0;
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

/* exp(x) for x of either sign. Where it overflows, something beyond 1e38 in float and 1e304 in double. */
PLUGMC_FN real plugmc_exp_of(real x)
{
    if (sizeof(real) == 4) return (real)plugmc_exp((float)x);
    real e = plugmc_exp_of_negative(x < (real)0 ? -x : x);
    return x < (real)0 ? e : (real)1 / e;
}

/* ln(x) for normal x > 0; infinity counts as 2^128 or 2^1024. With x = 2^n m, m between sqrt(1/2) and sqrt(2), and
 * s = (m - 1) / (m + 1), it is n ln(2) + 2 (s + s^3 / 3 + s^5 / 5 + ...), where s^2 < 0.0295. */
PLUGMC_FN float plugmc_log_float(float x)
{
    uint32_t bits = plugmc_bits(x);
    int32_t n = (int32_t)(bits - 0x3f3504f3u) >> 23;
    float m = plugmc_float_of_bits(bits - ((uint32_t)n << 23));
    float s = (m - 1.0f) / (m + 1.0f), z = s * s;
    float p = fmaf(z, fmaf(z, fmaf(z, 0.1111111111f, 0.1428571429f), 0.2f), 0.3333333333f);
    return fmaf((float)n, 0.69314718056f, 2.0f * fmaf(p * z, s, s));
}

PLUGMC_FN double plugmc_log_double(double x)
{
    union {
        double value;
        uint64_t bits;
    } m;
    m.value = x;
    int64_t n = (int64_t)(m.bits - 0x3fe6a09e667f3bcdu) >> 52;
    m.bits -= (uint64_t)n << 52;
    double s = (m.value - 1.0) / (m.value + 1.0), z = s * s, p = 1.0 / 23;
    p = fma(z, p, 1.0 / 21);
    p = fma(z, p, 1.0 / 19);
    p = fma(z, p, 1.0 / 17);
    p = fma(z, p, 1.0 / 15);
    p = fma(z, p, 1.0 / 13);
    p = fma(z, p, 1.0 / 11);
    p = fma(z, p, 1.0 / 9);
    p = fma(z, p, 1.0 / 7);
    p = fma(z, p, 1.0 / 5);
    p = fma(z, p, 1.0 / 3);
    double small = fma((double)n, 1.9082149292705877e-10, 2.0 * p * z * s);
    return fma((double)n, 0.6931471803691238, 2.0 * s + small);
}

PLUGMC_FN real plugmc_log(real x)
{
    return sizeof(real) == 4 ? (real)plugmc_log_float((float)x)
                             : (real)plugmc_log_double((double)x);
}

/* erfc(x) = exp(-x^2) t P(1 - 2 t) with t = c / (x + c). P is our own Chebyshev fit over 0 <= x <= 8, relative
 * error 5e-8 (float, c = 2) or 4e-17 (double, c = 3). */
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

/* Returns erfc(alpha r) / r as a function of r^2: the potential of a point charge with a neutralising Gaussian
 * charge cloud. Also *gauss = exp(-(alpha r)^2) and *over = 1 / r, for derivatives. Accurate to the precision of
 * real for alpha r <= 8. A single division serves all quotients. */
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
#endif
