/* What hmc does with AVX-512 where it is there. Its instructions pack what a mask selects, and transpose, for which C has no
 * expression that a compiler would recognise. Each function says which loop it stands for; operations on numbers are the same,
 * one by one, so results are the same on all processors. */
#ifndef PLUGMC_HMC_MASKS_H
#define PLUGMC_HMC_MASKS_H

#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(PLUGMC_ONE_TARGET)
#include <immintrin.h>
#define HMC_HAS_MASKS 1
#define HMC_WIDE target("avx512f,avx512vl,popcnt")
#define HMC_WITHIN static inline __attribute__((always_inline, unused, HMC_WIDE))

/* Positions [4] of two slots. */
HMC_WITHIN __m512d hmc_two_of(const double (*position)[4], int32_t one, int32_t other)
{
    return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(position[one])),
                              _mm256_load_pd(position[other]), 1);
}

/* A component of separations, to the nearest image. */
HMC_WITHIN __m512d hmc_nearest_images(__m512d x, __m512d length, __m512d inverse)
{
    const __m512d images =
        _mm512_roundscale_pd(x * inverse, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return x - length * images;
}

/* To integers as `rounded` of list_forces.c; most: bound, of which NaN becomes the upper one. */
HMC_WITHIN __m512i hmc_rounded(__m512d g, double most, double rounder)
{
    g = _mm512_min_pd(g, _mm512_set1_pd(most));
    g = _mm512_max_pd(g, _mm512_set1_pd(-most));
    return _mm512_castpd_si512(g + _mm512_set1_pd(rounder)) -
           _mm512_castpd_si512(_mm512_set1_pd(rounder));
}

/* Writes the lower and the upper half of 2 vectors [4] to [0] and [2]. */
HMC_WITHIN void hmc_store_two(int64_t (*to)[4], __m512i both)
{
    _mm256_storeu_si256((__m256i_u *)to[0], _mm512_castsi512_si256(both));
    _mm256_storeu_si256((__m256i_u *)to[2], _mm512_extracti64x4_epi64(both, 1));
}

/* Writes 8 vectors with these components and one that is 0. */
HMC_WITHIN void hmc_store_vectors(int64_t (*to)[4], __m512i x, __m512i y, __m512i z)
{
    const __m512i lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                  upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15),
                  none = _mm512_setzero_si512();
    const __m512i even = _mm512_unpacklo_epi64(x, y), odd = _mm512_unpackhi_epi64(x, y),
                  even_z = _mm512_unpacklo_epi64(z, none), odd_z = _mm512_unpackhi_epi64(z, none);
    hmc_store_two(to, _mm512_permutex2var_epi64(even, lower, even_z));
    hmc_store_two(to + 1, _mm512_permutex2var_epi64(odd, lower, odd_z));
    hmc_store_two(to + 4, _mm512_permutex2var_epi64(even, upper, even_z));
    hmc_store_two(to + 5, _mm512_permutex2var_epi64(odd, upper, odd_z));
}

static inline int hmc_masks(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}
#else
static inline int hmc_masks(void) { return 0; }
#endif
#endif
