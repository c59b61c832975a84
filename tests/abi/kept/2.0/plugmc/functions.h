/* plugmc/functions.h: exp and erfc for potentials of charges, the same on the CPU and on a GPU. Include it after
 * plugmc/potential.h. */
#ifndef PLUGMC_FUNCTIONS_H
#define PLUGMC_FUNCTIONS_H

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
