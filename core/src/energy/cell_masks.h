/* AVX-512 where it is there: its instructions pack what a mask selects, for which C has no words that a compiler would
 * recognise. Functions with them do, one by one, the operations of the loops that they stand for, so results are the same
 * on all processors. */
#ifndef PLUGMC_CELL_MASKS_H
#define PLUGMC_CELL_MASKS_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(PLUGMC_ONE_TARGET)
#include <immintrin.h>
#define CELLS_HAVE_MASKS 1
#define CELLS_WIDE target("avx512f,avx512vl,popcnt")
#define CELLS_WITHIN static inline __attribute__((always_inline, unused, CELLS_WIDE))

/* A component of separations, to the nearest image; inverse: 1/length, or 0 where there are no images. */
CELLS_WITHIN __m512d cells_nearest_images(__m512d x, double length, double inverse)
{
    const __m512d images = _mm512_roundscale_pd(x * _mm512_set1_pd(inverse),
                                                _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return x - _mm512_set1_pd(length) * images;
}

static inline int cells_have_masks(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}
#endif
#endif
