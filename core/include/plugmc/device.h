/* plugmc/device.h: types and functions that plugins share on the CPU and on the GPU.
 *
 * This header is plain C17 and also CUDA C++. On the CPU plugmc/plugin.h includes it. On the GPU the core puts it
 * in front of every GPU source, where no other header exists. All arithmetic is exact IEEE arithmetic (no
 * contraction, no approximate intrinsics), so chains of hard particles are bit for bit the same on both. Lengths
 * are in the unit of the INI file. Energies are in the potentials' unit of energy, which is kT unless [run]
 * temperature is given. */
#ifndef PLUGMC_DEVICE_H
#define PLUGMC_DEVICE_H

#if defined(__cplusplus) && !defined(__CUDACC_RTC__)
#error                                                                                             \
    "a plugin is C17: name its file .c, and call C++ through functions that are extern \"C\", in a library (plugmc build FILE.c LIBRARY.a)"
#endif
#if !defined(__CUDACC_RTC__) && (defined(__FAST_MATH__) || (__FINITE_MATH_ONLY__ + 0))
#error                                                                                             \
    "plugins compute with infinities, and the same on every machine: compile without -ffast-math and -Ofast, e.g. by plugmc build FILE.c"
#endif

#ifdef __CUDACC_RTC__
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define PLUGMC_FN static __device__ __forceinline__
#define PLUGMC_UNROLL _Pragma("unroll")
#define PLUGMC_HOST 0
#else
#include <math.h>
#include <stdint.h>
#define PLUGMC_FN static inline __attribute__((always_inline, unused))
#define PLUGMC_UNROLL /* left to the compiler */
#define PLUGMC_HOST 1
#endif

/* The floating-point type of this compilation. A potential is compiled for double and for float on the CPU, and for
 * float on the GPU unless a mover requests double. */
#ifndef PLUGMC_REAL
#define PLUGMC_REAL double
#endif
typedef PLUGMC_REAL real;

/* Properties of a particle, apart from its position, that a potential can use. */
typedef struct plugmc_site {
    real charge;     /* valence, in elementary charges */
    real diameter;   /* hard-core diameter, length */
    int32_t species; /* index of its [species NAME] section, from 0 */
} plugmc_site;

/* Separation a - b of two particles, as minimum image. z is 0 in two dimensions. */
typedef struct plugmc_separation {
    real x, y, z; /* length */
    real r2;      /* x*x + y*y + z*z */
} plugmc_separation;

/* A list of numbers in a potential's parameters. In GPU source it is a constant table. */
typedef struct plugmc_list {
    const real *values; /* [count] */
    int32_t count;
} plugmc_list;

/* The particles of one process if several processes simulate one walker (plugmc/domain_decomposition.h): those with
 * begin <= coordinate < end along an axis, or, if begin >= end, with coordinate >= begin or coordinate < end.
 * Zeroed: all particles. */
typedef struct plugmc_share {
    int32_t axis;
    double begin, end; /* length */
} plugmc_share;

/* Whether a particle at this position is in the share; false for NaN. */
PLUGMC_FN int plugmc_is_yours(const plugmc_share *share, const double *place)
{
    const double x = place[share->axis];
    return share->begin < share->end ? x >= share->begin && x < share->end
                                     : x >= share->begin || x < share->end;
}

/* A position. */
typedef struct plugmc_position {
    real x, y, z; /* length */
} plugmc_position;

/* Functions of a pair potential: see plugmc/pair.h. Macros, because #if uses them. */
#define PLUGMC_PAIR_ENERGY 1      /* pair_energy */
#define PLUGMC_PAIR_CONTACT 2     /* pair_contact: a hard core */
#define PLUGMC_PAIR_CHANGE 4      /* pair_change */
#define PLUGMC_PAIR_FACTOR 8      /* pair_factor */
#define PLUGMC_PAIR_DERIVATIVE 16 /* pair_derivative */
#define PLUGMC_PAIR_POSITIONS 64  /* pair_energy_at: depends on positions, too */
/* Functions of a one-body field: see plugmc/field.h. */
#define PLUGMC_FIELD_ENERGY 1     /* field_energy */
#define PLUGMC_FIELD_DERIVATIVE 2 /* field_derivative */
/* Functions of a body: see plugmc/body.h. */
#define PLUGMC_BODY_OVERLAP 1 /* body_overlap: a hard body */
#define PLUGMC_BODY_ENERGY 2  /* body_energy */
#define PLUGMC_BODY_PATH 4    /* body_path */
#define PLUGMC_BODY_SHAPE 8   /* body_shape: in host code alone */
#define PLUGMC_BODY_STEPS 32  /* body_steps: in host code alone */
#define PLUGMC_BODY_BY_GAP 16 /* body_gap of convex bodies; */
#define PLUGMC_BODY_GAP 21    /* ... with overlap and path, which follow from it */
#define PLUGMC_BODY_APART 128 /* body_apart; 64 is PLUGMC_BODY_LANES */
/* Functions of variational parameters: see plugmc/variational.h. */
#define PLUGMC_VARIATIONAL_PAIR 1  /* pair_variational */
#define PLUGMC_VARIATIONAL_FIELD 2 /* field_variational */

/* A coordinate that no particle has: marks empty slots. */
#define PLUGMC_NOWHERE 1e9f

#ifdef __CUDACC_RTC__
/* Waits until all kernels launched before have ended and their results can be read, and allows the next kernel to
 * start launching. For sources with plugmc_gpu_source.overlap. */
PLUGMC_FN void plugmc_wait(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
#endif

/* ---- Random numbers: Philox4x32-10 -------------------------------------------------------
 * Counter-based: the key is the seed, the counter says what the numbers are for, and no state is kept.
 * J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC11 (2011). */

/* What random numbers are used for; keeps the streams of different uses apart. */
enum {
    PLUGMC_PURPOSE_INITIAL = 1,    /* initial states */
    PLUGMC_PURPOSE_SWEEP = 2,      /* once per sweep: order of sets, shift of cells */
    PLUGMC_PURPOSE_ORDER = 3,      /* order of particles */
    PLUGMC_PURPOSE_TRIAL = 4,      /* trial moves */
    PLUGMC_PURPOSE_ACCEPT = 5,     /* acceptance */
    PLUGMC_PURPOSE_OBSERVABLE = 6, /* random directions, quadratures */
    PLUGMC_PURPOSE_ORIENTATION = 7 /* orientations of bodies and their turns */
};

typedef struct plugmc_random {
    uint32_t word[4];
} plugmc_random;

PLUGMC_FN uint32_t plugmc_mulhi(uint32_t a, uint32_t b)
{
#ifdef __CUDACC_RTC__
    return __umulhi(a, b);
#else
    return (uint32_t)(((uint64_t)a * b) >> 32);
#endif
}

/* One Philox4x32-10 block for a raw counter and key. */
PLUGMC_FN plugmc_random plugmc_philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3,
                                      uint32_t k0, uint32_t k1)
{
    plugmc_random out;
#ifdef __CUDACC_RTC__
#pragma unroll
#else
#pragma GCC unroll 10
#endif
    for (int round = 0; round < 10; round++) {
        uint32_t h0 = plugmc_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
        uint32_t h1 = plugmc_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
        c0 = h1 ^ c1 ^ k0;
        c1 = l1;
        c2 = h0 ^ c3 ^ k1;
        c3 = l0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out.word[0] = c0;
    out.word[1] = c1;
    out.word[2] = c2;
    out.word[3] = c3;
    return out;
}

/* Seed of a plugin's random numbers. first_walker is the number of this process's first walker among the walkers of
 * all runs and processes that belong together, so that no two walkers draw the same numbers. In GPU source it is a
 * constant: as a variable it made sweeps of hard disks 4.7 % slower. */
typedef struct plugmc_seed {
    uint64_t key; /* [run] seed, for the first mover, potentials and observables */
    uint32_t first_walker;
    uint32_t unused;
} plugmc_seed;

/* Random numbers that do not depend on how walkers are divided among processes: `number` counts something global,
 * e.g. the k-th walker of each of two rungs.
 *     sweep    below 2^48
 *     index    particle, cell or 0
 *     purpose  PLUGMC_PURPOSE_*
 *     draw     below 256: number of the block for this use
 */
PLUGMC_FN plugmc_random plugmc_draw_of_all(plugmc_seed seed, uint64_t sweep, uint32_t number,
                                           uint32_t index, uint32_t purpose, uint32_t draw)
{
    return plugmc_philox(index, (uint32_t)sweep,
                         ((uint32_t)(sweep >> 32) << 16) | (purpose << 8) | draw, number,
                         (uint32_t)seed.key, (uint32_t)(seed.key >> 32));
}

/* Random numbers of a walker; `walker` is its index in this process. Other arguments as above. */
PLUGMC_FN plugmc_random plugmc_draw(plugmc_seed seed, uint64_t sweep, uint32_t walker,
                                    uint32_t index, uint32_t purpose, uint32_t draw)
{
#ifndef __CUDACC_RTC__
    walker += seed.first_walker;
#elif defined PLUGMC_FIRST_WALKER
    walker += PLUGMC_FIRST_WALKER;
#endif
    return plugmc_draw_of_all(seed, sweep, walker, index, purpose, draw);
}

/* An integer in [0, n) from 32 random bits, by multiplication. Relative bias below n / 2^32. */
PLUGMC_FN uint32_t plugmc_below(uint32_t word, uint32_t n) { return plugmc_mulhi(word, n); }

/* A float in [0, 1) from 32 random bits: a multiple of 2^-24. */
PLUGMC_FN float plugmc_uniform_float(uint32_t word) { return (float)(word >> 8) * 0x1p-24f; }

/* A double in [0, 1) from 64 random bits: a multiple of 2^-53. */
PLUGMC_FN double plugmc_uniform_double(uint32_t high, uint32_t low)
{
    return (double)((((uint64_t)high << 32) | low) >> 11) * 0x1p-53;
}

/* ---- Trial moves -------------------------------------------------------------------------- */

/* A vector v uniform in the disk or ball of radius 1, by rejection from the square or cube: the first of draw = 0,
 * 1, ... 255, with purpose TRIAL, for which v.v <= 1,
 *     v[d] = (word[d] + 0.5) / 2^31 - 1,    d < dimension.
 * The numbers are symmetric about 0, so a move and its reverse are equally probable. Movers that use it with the
 * same sweep, walker and index make the same trial moves. */
PLUGMC_FN void plugmc_draw_in_ball(plugmc_seed seed, uint64_t sweep, uint32_t walker,
                                   uint32_t index, int32_t dimension, double v[3])
{
    double square = 2;
    v[0] = v[1] = v[2] = 0;
    for (uint32_t draw = 0; draw < 256 && square > 1; draw++) {
        plugmc_random random = plugmc_draw(seed, sweep, walker, index, PLUGMC_PURPOSE_TRIAL, draw);
        square = 0;
        for (int d = 0; d < dimension; d++) {
            v[d] = ((double)random.word[d] + 0.5) * 0x1p-31 - 1;
            square += v[d] * v[d];
        }
    }
}

/* ---- Neighbours in plugmc_cells ------------------------------------------------------------ */

/* Index of the cell of coordinate x along one direction; x is measured from the lower edge of the cells. */
PLUGMC_FN int32_t plugmc_cell_along(double x, double width, int32_t count)
{
    int32_t c = count > 1 ? (int32_t)(x / width) : 0;
    return c < count ? c : count - 1;
}

/* The same for 0 <= x <= length and cells of width length / count; `over` is count / length to within 3e-7. It
 * divides only near the edge of a cell: a division in double precision takes as long as thirty products. */
PLUGMC_FN int32_t plugmc_cell_quickly(double x, double length, float over, int32_t count)
{
    const float at = (float)x * over, unsure = 2e-6f * (float)count;
    const int32_t c = (int32_t)at;
    const float behind = at - (float)c;
    if (behind > unsure && behind < 1 - unsure) return c;
    return plugmc_cell_along(x, length / count, count);
}

/* Number of neighbour cells to search along one direction for everything within one cell width: all cells if there
 * are one or two, so that none is searched twice. */
PLUGMC_FN int32_t plugmc_cells_around(int32_t count) { return count < 3 ? count : 3; }

/* Neighbour cell `number`, counted from 0, of `cell` along one direction of a periodic box. */
PLUGMC_FN int32_t plugmc_cell_around(int32_t cell, int32_t number, int32_t count)
{
    int32_t c = count < 3 ? number : cell + number - 1;
    return c < 0 ? c + count : (c >= count ? c - count : c);
}

/* The cell of entry k of particles sorted by cell: the last one that begins at or before it. start [cells + 1]. */
PLUGMC_FN uint32_t plugmc_cell_of_entry(const uint32_t *start, uint32_t cells, uint32_t k)
{
    uint32_t low = 0, high = cells;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (start[middle] <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Entries of the cells x - reach ... x + reach in a row of `count` cells of a periodic box, or of the whole row if
 * it has no more cells than that. `row` is the index of the first cell of the row. The entries are contiguous
 * except at the ends of the row, so there are two runs [begin, end); the second one is mostly empty. */
typedef struct plugmc_runs {
    uint32_t begin[2], end[2];
} plugmc_runs;

PLUGMC_FN plugmc_runs plugmc_cells_in_row(const uint32_t *start, int32_t row, int32_t x,
                                          int32_t reach, int32_t count)
{
    plugmc_runs r;
    const uint32_t *at = start + row;
    int32_t low = x - reach, high = x + reach + 1;
    if (count <= 2 * reach) low = 0, high = count;
    r.begin[0] = at[low < 0 ? 0 : low];
    r.end[0] = at[high > count ? count : high];
    r.begin[1] = r.end[1] = 0;
    if (low < 0) r.begin[1] = at[low + count], r.end[1] = at[count];
    if (high > count) r.begin[1] = at[0], r.end[1] = at[high - count];
    return r;
}

/* ---- Elementary functions from IEEE operations only --------------------------------------- */

PLUGMC_FN uint32_t plugmc_bits(float x)
{
    union {
        float value;
        uint32_t bits;
    } u;
    u.value = x;
    return u.bits;
}

PLUGMC_FN float plugmc_float_of_bits(uint32_t bits)
{
    union {
        uint32_t bits;
        float value;
    } u;
    u.bits = bits;
    return u.value;
}

/* sin and cos of 2 pi t for t in [0, 1), absolute error below 2e-7. Polynomials on the first octant and the
 * symmetries of the circle; adding 1/2 to t changes both signs exactly. */
PLUGMC_FN void plugmc_sincos_turn(float t, float *sine, float *cosine)
{
    /* 4 t = quadrant + f, |f| <= 1/2; adding 3 * 2^22 leaves the quadrant in the last bits */
    float shifted = 4.0f * t + 12582912.0f;
    uint32_t quadrant = plugmc_bits(shifted);
    float f = (4.0f * t - (shifted - 12582912.0f)) * 1.57079632679f;
    float g = f * f;
    float s =
        fmaf(fmaf(fmaf(-1.9515295891e-4f, g, 8.3321608736e-3f), g, -1.6666654611e-1f) * g, f, f);
    float c = fmaf(
        fmaf(fmaf(fmaf(2.443315711809948e-5f, g, -1.388731625493765e-3f), g, 4.166664568298827e-2f),
             g, -0.5f),
        g, 1.0f);
    float a = quadrant & 1u ? c : s, b = quadrant & 1u ? s : c;
    *sine = plugmc_float_of_bits(plugmc_bits(a) ^ (quadrant & 2u) << 30);
    *cosine = plugmc_float_of_bits(plugmc_bits(b) ^ ((quadrant + 1u) & 2u) << 30);
}

/* exp(x) in float, relative error below 3e-7. 0 for x < -87; x > 88 is treated as 88. The CPU compiler vectorises
 * it, unlike expf. */
PLUGMC_FN float plugmc_exp(float x)
{
    float y = x > 88.0f ? 88.0f : (x < -87.0f ? -87.0f : x);
    float n = fmaf(y, 1.44269504089f, 12582912.0f) - 12582912.0f;
    float f = fmaf(n, 2.12194440e-4f, fmaf(n, -0.693359375f, y));
    float p = fmaf(1.9875691500e-4f, f, 1.3981999507e-3f);
    p = fmaf(p, f, 8.3334519073e-3f);
    p = fmaf(p, f, 4.1665795894e-2f);
    p = fmaf(p, f, 1.6666665459e-1f);
    p = fmaf(p, f, 5.0000001201e-1f);
    p = fmaf(p * f, f, f) + 1.0f;
    float scale = plugmc_float_of_bits((uint32_t)((int32_t)n + 127) << 23);
    return x < -87.0f ? 0.0f : p * scale;
}

#include "plugmc/box.h"
#include "plugmc/orientation.h"

#endif
