/* exact_sum.h: sums of doubles that do not depend on the order of their terms.
 *
 * A double is an integer of 53 bits times a power of two. Integers whose powers are alike are added up exactly,
 * 32 powers to a bucket: 2^43 terms may be added before one overflows. Only the 64 buckets are added up in floating
 * point, in a fixed order, so the sum is as accurate as its last operations.
 * U. Kulisch, Computer Arithmetic and Validity, 2nd ed. (2013), chapter 8, has the idea of a long accumulator. */
#ifndef PLUGMC_HMC_EXACT_SUM_H
#define PLUGMC_HMC_EXACT_SUM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { EXACT_BUCKETS = 64 };

typedef struct exact_sum {
    __int128 bucket[EXACT_BUCKETS]; /* units of 2^(32 k - 1074) */
    double special;                 /* sum of what is infinite or not a number; 0 without */
} exact_sum;

static inline void exact_add(exact_sum *s, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = (int)(bits >> 52 & 0x7ff), power = exponent ? exponent - 1 : 0;
    if (exponent == 0x7ff) {
        s->special += x;
        return;
    }
    const uint64_t integer = (bits & 0xfffffffffffffull) | (uint64_t)(exponent != 0) << 52;
    const __int128 term = (__int128)integer << (power & 31);
    s->bucket[power >> 5] += bits >> 63 ? -term : term;
}

static inline void exact_merge(exact_sum *s, const exact_sum *more)
{
    for (int k = 0; k < EXACT_BUCKETS; k++) s->bucket[k] += more->bucket[k];
    s->special += more->special;
}

static inline double exact_total(const exact_sum *s)
{
    double sum = s->special;
    for (int k = 0; k < EXACT_BUCKETS; k++)
        if (s->bucket[k]) sum += ldexp((double)s->bucket[k], 32 * k - 1074);
    return sum;
}

#endif
