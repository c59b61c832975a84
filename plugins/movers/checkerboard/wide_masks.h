/* What wide.c does with AVX-512 where it is there: its instructions pack what a mask selects, for which C has no expression that a
 * compiler would recognise. Results are the same on all processors. */
#ifndef CHECKERBOARD_WIDE_MASKS_H
#define CHECKERBOARD_WIDE_MASKS_H

#include <stdint.h>

/* Particles in order, of which some are selected by their distance from a place in bytes. */
typedef struct wide_choice {
    const float *byte[3]; /* NULL: this axis does not count */
    const float *x, *y, *z;
    float from[3], most; /* bytes, and their square */
} wide_choice;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(PLUGMC_ONE_TARGET)
#include <immintrin.h>

static inline int wide_masks(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("popcnt");
}

/* Copies those of so many entries, whole groups of 16, whose square is `most` or less; writes up to 16 more numbers behind them.
 * Returns how many there are. */
__attribute__((target("avx512f,popcnt"), unused)) static int wide_pack(const wide_choice *c,
                                                                       int entries, float *x,
                                                                       float *y, float *z)
{
    const __m512 most = _mm512_set1_ps(c->most), from_x = _mm512_set1_ps(c->from[0]),
                 from_y = _mm512_set1_ps(c->from[1]), from_z = _mm512_set1_ps(c->from[2]);
    int n = 0;
    for (int e = 0; e < entries; e += 16) {
        const __m512 dx = _mm512_loadu_ps(c->byte[0] + e) - from_x,
                     dy = _mm512_loadu_ps(c->byte[1] + e) - from_y;
        __m512 square = dx * dx + dy * dy; /* exact */
        if (c->byte[2]) {
            const __m512 dz = _mm512_loadu_ps(c->byte[2] + e) - from_z;
            square += dz * dz;
        }
        const __mmask16 met = _mm512_cmp_ps_mask(square, most, _CMP_LE_OQ);
        _mm512_storeu_ps(x + n, _mm512_maskz_compress_ps(met, _mm512_loadu_ps(c->x + e)));
        _mm512_storeu_ps(y + n, _mm512_maskz_compress_ps(met, _mm512_loadu_ps(c->y + e)));
        _mm512_storeu_ps(z + n, _mm512_maskz_compress_ps(met, _mm512_loadu_ps(c->z + e)));
        n += _mm_popcnt_u32(met);
    }
    return n;
}
#else
static inline int wide_masks(void) { return 0; }
static inline int wide_pack(const wide_choice *c, int entries, float *x, float *y, float *z)
{
    (void)c, (void)entries, (void)x, (void)y, (void)z;
    return 0;
}
#endif
#endif
