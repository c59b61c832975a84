/* product.cu: functions at points times coefficients, by one warp; behind gaussian_orbitals.cu.
 *
 * A warp has all points of its block and GAUSSIAN_STRIP columns. Lane 4 g + t has the points g GROUPS ... g GROUPS +
 * GROUPS - 1 of 8 GROUPS and the columns 4 t ... 4 t + 3, which is also how tensor cores hand out their results. */

/* Functions of a chunk, [row][component][point]. Rows are padded such that lanes that read side by side meet different
 * banks of shared memory. */
template <int COMPONENTS, int GROUPS> struct gaussian_sheet {
    static constexpr int POINTS = 8 * GROUPS, PITCH = COMPONENTS * POINTS + 32 / (int)sizeof(real);
    alignas(16) real of[GAUSSIAN_ROWS][PITCH];
};

/* Orbitals of a lane. */
template <int COMPONENTS, int GROUPS> struct gaussian_sums {
    real of[COMPONENTS][GROUPS][4];
};

/* What is read at once. */
template <int N> struct alignas(N * sizeof(real) < 16 ? N * sizeof(real) : 16) gaussian_pack {
    real of[N];
};

PLUGMC_FN gaussian_pack<4> four_of(const float *from)
{
    const float4 v = __ldg((const float4 *)from);
    return {{(real)v.x, (real)v.y, (real)v.z, (real)v.w}};
}

PLUGMC_FN gaussian_pack<4> four_of(const double *from)
{
    const double2 u = __ldg((const double2 *)from), v = __ldg((const double2 *)from + 1);
    return {{(real)u.x, (real)u.y, (real)v.x, (real)v.y}};
}

template <int COMPONENTS, int GROUPS>
PLUGMC_FN void add_by_lanes(const gaussian_sheet<COMPONENTS, GROUPS> &sheet, int rows,
                            const real *coefficient, int pitch,
                            gaussian_sums<COMPONENTS, GROUPS> &sum)
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    coefficient += 4 * t;
#pragma unroll 4
    for (int row = 0; row < rows; row++) {
        const gaussian_pack<4> factor = four_of(coefficient + row * pitch);
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            const gaussian_pack<GROUPS> chi =
                *(const gaussian_pack<GROUPS> *)&sheet.of[row][c * sheet.POINTS + g * GROUPS];
#pragma unroll
            for (int h = 0; h < GROUPS; h++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum.of[c][h][j] += factor.of[j] * chi.of[h];
        }
    }
}

#if __CUDA_ARCH__ >= 800
/* Tensor cores multiply numbers with 11 bits and ignore what is behind these. With numbers in two parts, x = big + small,
 * three of the four products are nearly as good as single precision: K. Ootomo and R. Yokota, Int. J. High Perform. Comput.
 * Appl. 36, 475 (2022). Sums here are off by up to three times as much as by lanes. */
struct gaussian_split {
    uint32_t big, small;
};

/* The small part is positive or negative; it has 12 bits, of which the last is lost. */
PLUGMC_FN gaussian_split split_to_nearest(float x)
{
    const uint32_t big = (__float_as_uint(x) + 0x1000u) & ~0x1fffu;
    return {big, __float_as_uint(x - __uint_as_float(big))};
}

/* Quicker, but up to two bits of 13 are lost. */
PLUGMC_FN gaussian_split split_downwards(float x)
{
    const uint32_t big = __float_as_uint(x) & ~0x1fffu;
    return {big, __float_as_uint(x - __uint_as_float(big))};
}

/* Adds 16 rows times 8 columns, of 8 products each. */
PLUGMC_FN void add_tile(const uint32_t a[4], uint32_t b0, uint32_t b1, float &c0, float &c1,
                        float &c2, float &c3)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Tensor cores cut off what they add, so they add no more than a chunk. */
template <int COMPONENTS, int GROUPS>
PLUGMC_FN void add_by_tensor_cores(const gaussian_sheet<COMPONENTS, GROUPS> &sheet, int rows,
                                   const float *coefficient, int pitch,
                                   gaussian_sums<COMPONENTS, GROUPS> &sum)
{
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float part[COMPONENTS][GROUPS][4] = {};
    coefficient += t * pitch + 2 * g;
#pragma unroll 2
    for (int row = 0; row < rows; row += GAUSSIAN_STEP) {
        const float2 near = __ldg((const float2 *)(coefficient + row * pitch)),
                     far = __ldg((const float2 *)(coefficient + (row + 4) * pitch));
        /* the tile of even columns, and that of odd ones */
        const gaussian_split b[2][2] = {{split_to_nearest(near.x), split_to_nearest(far.x)},
                                        {split_to_nearest(near.y), split_to_nearest(far.y)}};
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++) {
            const int at = c * sheet.POINTS + g * GROUPS;
            typedef gaussian_pack<GROUPS> pack;
            const pack first = *(const pack *)&sheet.of[row + t][at],
                       second = *(const pack *)&sheet.of[row + t + 4][at];
#pragma unroll
            for (int h = 0; h < GROUPS; h += 2) {
                const float x[4] = {first.of[h], first.of[h + 1], second.of[h], second.of[h + 1]};
                uint32_t big[4], small[4];
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const gaussian_split a = split_downwards(x[i]);
                    big[i] = a.big;
                    small[i] = a.small;
                }
                float(*to)[4] = &part[c][h];
#pragma unroll
                for (int f = 0; f < 2; f++) {
                    const gaussian_split &b0 = b[f][0], &b1 = b[f][1];
                    float &c0 = to[0][f], &c1 = to[0][2 + f], &c2 = to[1][f], &c3 = to[1][2 + f];
                    add_tile(small, b0.big, b1.big, c0, c1, c2, c3);
                    add_tile(big, b0.small, b1.small, c0, c1, c2, c3);
                    add_tile(big, b0.big, b1.big, c0, c1, c2, c3);
                }
            }
        }
    }
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
#pragma unroll
        for (int h = 0; h < GROUPS; h++)
#pragma unroll
            for (int j = 0; j < 4; j++) sum.of[c][h][j] += part[c][h][j];
}
#endif

/* Adds rows, a multiple of GAUSSIAN_STEP, of the sheet times those of coefficients, which begin with the first column of
 * the warp. */
template <int COMPONENTS, int GROUPS>
PLUGMC_FN void add_products(const gaussian_sheet<COMPONENTS, GROUPS> &sheet, int rows,
                            const real *coefficient, int pitch,
                            gaussian_sums<COMPONENTS, GROUPS> &sum)
{
#if __CUDA_ARCH__ >= 800
    if constexpr (sizeof(real) == sizeof(float)) {
        add_by_tensor_cores(sheet, rows, coefficient, pitch, sum);
        return;
    }
#endif
    add_by_lanes(sheet, rows, coefficient, pitch, sum);
}
