/* multiply.cu: products of matrices of many walkers, whose sizes differ by walker; draws.h stands in front.
 *
 * C = A B, or C -= A B, real or complex in double precision, by the tensor cores where there are such. A block of
 * threads makes a tile of C, each of its warps a quarter: VMC_PART_ROWS rows of VMC_PART_COLUMNS doubles, whose sums
 * are in registers. A complex product is a real one of twice the columns and twice the terms: with A as it lies in memory,
 * (re, im, re, im ...), a row b of B stands for two, b and i b, of which the second is made when it is read.
 *
 * Rows of A and B may be picked by a list, and how many rows or terms there are may differ by walker: what there is
 * too much costs nothing, where matrices of all walkers in one call of cuBLAS would have to be as large as the largest.
 */

enum { VMC_STRIP = 16, VMC_STRIPS = VMC_PART_ROWS / VMC_STRIP };

/* Shared memory of a factor; draws.h says what this is. */
template <int P, bool in_rows, int across> struct vmc_tile {
    static constexpr int lines = VMC_LINES(in_rows, across, P),
                         length = VMC_LENGTH(in_rows, across),
                         stride = VMC_LINE(in_rows, across, P),
                         doubles = VMC_FACTOR(in_rows, across, P);
};

/* P doubles at a time, without a register in between; zeros if not `there`. */
template <int P> PLUGMC_FN void copy_later(double *to, const double *from, bool there)
{
#if __CUDA_ARCH__ >= 800
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(to);
    const int32_t bytes = there ? 8 * P : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(8 * P),
                 "r"(bytes)
                 : "memory");
#else
    for (int p = 0; p < P; p++) to[p] = there ? from[p] : 0;
#endif
}

template <int left> PLUGMC_FN void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

PLUGMC_FN void end_of_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Sums c of 16 x 8 += a (16 x 16) b (16 x 8), spread over a warp as PTX has it for mma.m16n8k16 of f64. */
PLUGMC_FN void add_product(double c[4], const double a[8], const double b[4])
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
                 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
                   "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#elif __CUDA_ARCH__ >= 800
    for (int k = 0; k < 4; k++)
        for (int half = 0; half < 2; half++)
            asm volatile(
                "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
                : "d"(a[2 * k + half]), "d"(b[k]));
#else
    const int lane = threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2;
#pragma unroll 1 /* slow there in any case */
    for (int k = 0; k < 16; k++) {
        const double b0 = __shfl_sync(~0u, b[k / 4], 4 * column + k % 4),
                     b1 = __shfl_sync(~0u, b[k / 4], 4 * column + 4 + k % 4);
        for (int half = 0; half < 2; half++) {
            const double one = __shfl_sync(~0u, a[k / 4 * 2 + half], 4 * row + k % 4);
            c[2 * half] += one * b0;
            c[2 * half + 1] += one * b1;
        }
    }
#endif
}

/* A factor's part of a step to shared memory: `across` are rows of A or columns of B from `first` to `end`, `along` the
 * terms likewise, in numbers of P doubles. */
template <int P, class Tile, bool rows_are_lines>
PLUGMC_FN void fetch(const vmc_factor &f, int64_t w, int32_t first, int32_t end, int32_t term,
                     int32_t terms, double *to)
{
    constexpr int a_line = Tile::length / P;
    const int32_t line0 = rows_are_lines ? first : term, line_end = rows_are_lines ? end : terms,
                  place0 = rows_are_lines ? term : first, place_end = rows_are_lines ? terms : end;
    for (int i = threadIdx.x; i < Tile::lines * a_line; i += 32 * VMC_WARPS) {
        const int32_t line = i / a_line, place = i % a_line, row = line0 + line;
        const bool there = row < line_end && place0 + place < place_end;
        const double *from = f.numbers;
        if (there)
            from += w * f.walker + (f.list ? f.list[w * f.listed + row] : row) * f.row +
                    (place0 + place) * P;
        copy_later<P>(to + line * Tile::stride + place * P, from, there);
    }
}

/* a_rows: A is [rows][terms] in memory, or else [terms][rows]; b_rows: B is [columns][terms], or else [terms][columns].
 * x columns of C in tiles, y rows, z walkers. */
template <int P, bool a_rows, bool b_rows> PLUGMC_FN void multiply(const vmc_product &d)
{
    typedef vmc_tile<P, a_rows, 2 * VMC_PART_ROWS * P> A;
    typedef vmc_tile<P, b_rows, 2 * VMC_PART_COLUMNS> B;
    extern __shared__ __align__(16) double tiles[];
    const int64_t w = blockIdx.z;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int32_t rows = d.counts_rows ? d.count[w] : d.rows,
                  terms = d.counts_terms ? d.count[w] : d.terms,
                  row0 = blockIdx.y * 2 * VMC_PART_ROWS,
                  column0 = blockIdx.x * (2 * VMC_PART_COLUMNS / P);
    const int mine = warp / 2 * VMC_PART_ROWS, side = warp % 2 * VMC_PART_COLUMNS;
    double sums[VMC_STRIPS][VMC_PART_COLUMNS / 8][4] = {};
    if (row0 >= rows) return;
    /* i b has (-im, re) where b has (re, im) */
    const int swap = P == 2 ? (g ^ t) & 1 : 0;
    const uint32_t sign = P == 2 && t & ~g & 1 ? 0x80000000u : 0;
    const int steps = (terms * P + VMC_STEP - 1) / VMC_STEP;
    for (int s = 1 - VMC_STAGES; s < steps; s++) {
        const int next = s + VMC_STAGES - 1;
        if (s >= 0) {
            wait_for_copies<VMC_STAGES - 2>();
            __syncthreads(); /* and all are done with the step whose place the next one takes */
        }
        if (next < steps) {
            double *a = tiles + next % VMC_STAGES * (A::doubles + B::doubles);
            fetch<P, A, a_rows>(d.a, w, row0, rows, next * (VMC_STEP / P), terms, a);
            fetch<P, B, b_rows>(d.b, w, column0, d.columns, next * (VMC_STEP / P), terms,
                                a + A::doubles);
        }
        end_of_copies();
        if (s < 0) continue;
        const double *a = tiles + s % VMC_STAGES * (A::doubles + B::doubles), *b = a + A::doubles;
        for (int k = 0; k < VMC_STEP; k += 16) {
            double left[VMC_STRIPS][8], right[4];
            if (s * VMC_STEP + k >= terms * P) break;
#pragma unroll
            for (int m = 0; m < VMC_STRIPS; m++)
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    const int row = mine + m * VMC_STRIP + g + i % 2 * 8, term = k + i / 2 * 4 + t;
                    left[m][i] = a_rows ? a[row * A::stride + term]
                                        : a[term / P * A::stride + row * P + term % P];
                }
#pragma unroll
            for (int n = 0; n < VMC_PART_COLUMNS / 8; n++) {
                const int column = (side + n * 8 + g) / P;
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const int term = (k + i * 4 + t) / P;
                    const double one = b_rows
                                           ? b[column * B::stride + term * P + swap]
                                           : b[term * B::stride + column * P + (P == 2 ? swap : 0)];
                    right[i] =
                        P == 2 ? __hiloint2double(__double2hiint(one) ^ sign, __double2loint(one))
                               : one;
                }
#pragma unroll
                for (int m = 0; m < VMC_STRIPS; m++)
                    if (row0 + mine + m * VMC_STRIP < rows) add_product(sums[m][n], left[m], right);
            }
        }
    }
#pragma unroll
    for (int m = 0; m < VMC_STRIPS; m++)
#pragma unroll
        for (int n = 0; n < VMC_PART_COLUMNS / 8; n++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int32_t row = row0 + mine + m * VMC_STRIP + g + half * 8,
                              at = side + n * 8 + 2 * t;
                double2 sum = {sums[m][n][2 * half], sums[m][n][2 * half + 1]};
                if (row >= rows) continue;
                double *to = d.c + w * d.walker + row * d.row + column0 * P + at;
                if (P == 2) {
                    if (column0 + at / 2 >= d.columns) continue;
                    if (d.less_one && column0 + at / 2 == d.a.list[w * d.a.listed + row])
                        sum.x -= 1;
                    double2 *pair = (double2 *)to;
                    if (d.subtract) {
                        const double2 old = *pair;
                        sum = {old.x - sum.x, old.y - sum.y};
                    }
                    *pair = sum;
                } else {
                    const double both[2] = {sum.x, sum.y};
                    for (int i = 0; i < 2; i++) {
                        if (column0 + at + i >= d.columns) continue;
                        const double one =
                            d.less_one && column0 + at + i == d.a.list[w * d.a.listed + row]
                                ? both[i] - 1
                                : both[i];
                        to[i] = d.subtract ? to[i] - one : one;
                    }
                }
            }
}

/* Both factors in rows; A in rows; neither. */
#define VMC_MULTIPLY(name, P, a_rows, b_rows)                                                      \
    extern "C" __global__ void __launch_bounds__(32 * VMC_WARPS)                                   \
        name(const __grid_constant__ vmc_product d)                                                \
    {                                                                                              \
        multiply<P, a_rows, b_rows>(d);                                                            \
    }
VMC_MULTIPLY(vmc_rows_by_rows_real, 1, true, true)
VMC_MULTIPLY(vmc_rows_by_rows_complex, 2, true, true)
VMC_MULTIPLY(vmc_rows_by_columns_real, 1, true, false)
VMC_MULTIPLY(vmc_rows_by_columns_complex, 2, true, false)
VMC_MULTIPLY(vmc_columns_by_columns_real, 1, false, false)
VMC_MULTIPLY(vmc_columns_by_columns_complex, 2, false, false)
