/* kernel.cu: the kernels of gaussian_orbitals.cu, behind it, shell.cu and product.cu. */

PLUGMC_FN real power_of_2(real x)
{
    return sizeof(real) == 4 ? (real)exp2f((float)x) : (real)exp2((double)x);
}

/* r^2, rounded in the same way wherever it decides what is near a nucleus. */
PLUGMC_FN real gaussian_square(real x, real y, real z) { return fma(x, x, fma(y, y, z * z)); }

/* ---- Functions of shells ---------------------------------------------------------------------- */

/* A nucleus as it is seen from a point. */
struct seen_nucleus {
    int32_t nucleus;
    double d[3], cosine, sine; /* phase of the lattice vector that was subtracted */
};

PLUGMC_FN seen_nucleus see_nucleus(const gaussian_tables &t, int32_t nucleus, const double *r)
{
    seen_nucleus seen = {nucleus, {}, 1, 0};
    double n[3];
    gaussian_displacement(&t, nucleus, r, seen.d, n);
    if (t.chi_parts == 2)
        sincospi(2 * (n[0] * t.turns[0] + n[1] * t.turns[1] + n[2] * t.turns[2]), &seen.sine,
                 &seen.cosine);
    return seen;
}

/* Radial sums of an image of a shell; whether it reaches the point. */
PLUGMC_FN bool radial_sums(const gaussian_tables &t, const gaussian_entry &s,
                           const seen_nucleus &seen, const double *image, gaussian_radial &g)
{
    g.x = (real)(seen.d[0] - image[0]);
    g.y = (real)(seen.d[1] - image[1]);
    g.z = (real)(seen.d[2] - image[2]);
    g.r2 = gaussian_square(g.x, g.y, g.z);
    if (g.r2 >= (real)s.reach2 || g.r2 < (real)s.inner2) return false;
    g.R = g.R1 = g.R2 = 0;
    const real *radial = (const real *)t.radial + 4 * s.first;
#pragma unroll 3
    for (int k = 0; k < s.primitives; k++, radial += 4) {
        const gaussian_pack<4> p = four_of(radial);
        const real e = p.of[1] * power_of_2(p.of[0] * g.r2);
        g.R += e;
        g.R1 += p.of[2] * e;
        g.R2 += p.of[3] * e;
    }
    return true;
}

/* Sums over all images of a shell, out [parts][functions][components]; whether any reaches the point. */
template <int PARTS>
PLUGMC_FN bool add_images(const gaussian_tables &t, const gaussian_entry &s,
                          const seen_nucleus &seen, const int l, const int cartesian,
                          const int components, real *out, const int part)
{
    bool any = false;
    for (int i = 0; i < s.images; i++) {
        const double *image = t.image[i];
        gaussian_radial g;
        if (!radial_sums(t, s, seen, image, g)) continue;
        any = true;
        const real phase[2] = {(real)(seen.cosine * image[3] - seen.sine * image[4]),
                               (real)(seen.cosine * image[4] + seen.sine * image[3])};
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
            gaussian_radial own = g;
            if (PARTS == 2) own.R *= phase[p], own.R1 *= phase[p], own.R2 *= phase[p];
            if (cartesian)
                gaussian_cartesian(l, components > 1, &own, components, out + p * part);
            else
                gaussian_spherical(l, components > 1, &own, components, out + p * part);
        }
    }
    return any;
}

/* The functions of a shell at a point, to the sheet; l is that of the shell. */
template <int COMPONENTS, int GROUPS, int L, int PARTS>
PLUGMC_FN bool shell_of(const gaussian_tables &t, const gaussian_entry &s, const seen_nucleus &seen,
                        int row, int point, gaussian_sheet<COMPONENTS, GROUPS> &sheet)
{
    constexpr int FUNCTIONS = 2 * L + 1, PART = FUNCTIONS * COMPONENTS;
    real out[PARTS * PART] = {};
    const bool any = add_images<PARTS>(t, s, seen, L, 0, COMPONENTS, out, PART);
#pragma unroll
    for (int p = 0; p < PARTS; p++)
#pragma unroll
        for (int f = 0; f < FUNCTIONS; f++)
#pragma unroll
            for (int c = 0; c < COMPONENTS; c++)
                sheet.of[row + f * PARTS + p][c * sheet.POINTS + point] =
                    out[p * PART + f * COMPONENTS + c];
    return any;
}

/* Of any kind, in local memory: those that are rare, as code for each of them takes long to compile. */
template <int COMPONENTS, int GROUPS, int PARTS>
__device__ __noinline__ bool rare_shell(const gaussian_tables &t, const gaussian_entry &s,
                                        seen_nucleus seen, int row, int point,
                                        gaussian_sheet<COMPONENTS, GROUPS> &sheet)
{
    constexpr int MOST = (GAUSSIAN_MOST_L + 1) * (GAUSSIAN_MOST_L + 2) / 2;
    const int functions = s.cartesian ? (s.l + 1) * (s.l + 2) / 2 : 2 * s.l + 1;
    real out[PARTS * MOST * COMPONENTS];
    for (int i = 0; i < PARTS * MOST * COMPONENTS; i++) out[i] = 0;
    const bool any =
        add_images<PARTS>(t, s, seen, s.l, s.cartesian, COMPONENTS, out, MOST * COMPONENTS);
    for (int p = 0; p < PARTS; p++)
        for (int f = 0; f < functions; f++)
            for (int c = 0; c < COMPONENTS; c++)
                sheet.of[row + f * PARTS + p][c * sheet.POINTS + point] =
                    out[(p * MOST + f) * COMPONENTS + c];
    return any;
}

/* Not inline, as the sums of a lane are in registers meanwhile. */
template <int COMPONENTS, int GROUPS, int L, int PARTS>
__device__ __noinline__ bool large_shell(const gaussian_tables &t, const gaussian_entry &s,
                                         seen_nucleus seen, int row, int point,
                                         gaussian_sheet<COMPONENTS, GROUPS> &sheet)
{
    return shell_of<COMPONENTS, GROUPS, L, PARTS>(t, s, seen, row, point, sheet);
}

template <int PARTS, int COMPONENTS, int GROUPS>
PLUGMC_FN bool any_shell(const gaussian_tables &t, const gaussian_entry &s,
                         const seen_nucleus &seen, int row, int point,
                         gaussian_sheet<COMPONENTS, GROUPS> &sheet)
{
    const int l = s.cartesian && s.l ? 4 : s.l;
    if constexpr (PARTS == 1) {
        if (l == 0) return shell_of<COMPONENTS, GROUPS, 0, 1>(t, s, seen, row, point, sheet);
        if (l == 1) return shell_of<COMPONENTS, GROUPS, 1, 1>(t, s, seen, row, point, sheet);
        if (l == 2) return shell_of<COMPONENTS, GROUPS, 2, 1>(t, s, seen, row, point, sheet);
    } else {
        if (l == 0) return large_shell<COMPONENTS, GROUPS, 0, 2>(t, s, seen, row, point, sheet);
        if (l == 1) return large_shell<COMPONENTS, GROUPS, 1, 2>(t, s, seen, row, point, sheet);
        if (l == 2) return large_shell<COMPONENTS, GROUPS, 2, 2>(t, s, seen, row, point, sheet);
    }
    if (l == 3) return large_shell<COMPONENTS, GROUPS, 3, PARTS>(t, s, seen, row, point, sheet);
    return rare_shell<COMPONENTS, GROUPS, PARTS>(t, s, seen, row, point, sheet);
}

PLUGMC_FN int padded_rows(const gaussian_chunk &chunk)
{
    return (chunk.rows + GAUSSIAN_STEP - 1) / GAUSSIAN_STEP * GAUSSIAN_STEP;
}

/* All functions of a chunk at all points of the block, and zeros up to the next GAUSSIAN_STEP; whether the shells of
 * this thread reach its point. Threads side by side have the same shell at different points. */
template <int COMPONENTS, int GROUPS>
PLUGMC_FN bool put_chunk(const gaussian_tables &t, const gaussian_chunk &chunk, const double *r,
                         gaussian_sheet<COMPONENTS, GROUPS> &sheet)
{
    const int point = threadIdx.x % sheet.POINTS, team = threadIdx.x / sheet.POINTS,
              teams = GAUSSIAN_THREADS / sheet.POINTS;
    seen_nucleus seen = {-1};
    bool any = false;
    for (int i = team * chunk.shells / teams; i < (team + 1) * chunk.shells / teams; i++) {
        const gaussian_entry &s = t.shell[chunk.shell + i];
        const int row = s.row - chunk.row;
        if (s.nucleus != seen.nucleus) seen = see_nucleus(t, s.nucleus, r);
        any |= t.chi_parts == 1 ? any_shell<1>(t, s, seen, row, point, sheet)
                                : any_shell<2>(t, s, seen, row, point, sheet);
    }
    for (int row = chunk.rows + team; row < padded_rows(chunk); row += teams)
        for (int c = 0; c < COMPONENTS; c++) sheet.of[row][c * sheet.POINTS + point] = 0;
    return any;
}

/* ---- What nuclei with cusps add ----------------------------------------------------------------- */

/* To four orbitals at a point, out [4][components]. */
template <int COMPONENTS>
__device__ __noinline__ void add_near(const gaussian_task &task, const double *r, int64_t column,
                                      real *out)
{
    const gaussian_tables &t = task.tables;
    for (int q = 0; q < t.corrected; q++) {
        const gaussian_corrected &c = t.correction[q];
        double d[3], n[3], sums[GAUSSIAN_MOST_S][3];
        gaussian_displacement(&t, c.nucleus, r, d, n);
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (gaussian_square((real)d[0], (real)d[1], (real)d[2]) >= (real)c.reach2) continue;
        for (int k = 0; k < c.shells; k++) gaussian_s(&t, &t.shell[c.shell[k]], r2, sums[k]);
        for (int m = 0; m < 4 && column + m < task.spin.columns; m++) {
            const int64_t j = column + m;
            real *sum = out + m * COMPONENTS;
            double found[3];
            gaussian_near(&t, &task.spin, &c, &task.spin.cusp[q * task.spin.columns + j], j, r2,
                          sums, found);
            sum[0] += (real)found[0];
            if constexpr (COMPONENTS > 1) {
                for (int e = 0; e < 3; e++) sum[1 + e] += (real)(found[1] * d[e]);
                sum[4] += (real)found[2];
            }
        }
    }
}

/* ---- Results ------------------------------------------------------------------------------------ */

/* Four columns of a row, as far as there are so many. */
PLUGMC_FN void store_four(void *to, int64_t at, const real four[4], int64_t columns)
{
    real *out = (real *)to + at;
    if (columns >= 4 && (uint64_t)out % 16 == 0) {
        *(gaussian_pack<4> *)out = {{four[0], four[1], four[2], four[3]}};
        return;
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
        if (j < columns) out[j] = four[j];
}

template <int COMPONENTS, int GROUPS>
PLUGMC_FN void store(const gaussian_task &task, int64_t first, int64_t column,
                     gaussian_sums<COMPONENTS, GROUPS> &sum)
{
    const int64_t left = task.spin.columns - column;
    if (left <= 0) return;
#pragma unroll
    for (int h = 0; h < GROUPS; h++) {
        const int64_t point = first + h;
        if (point >= task.points) break;
        if (task.tables.corrected) {
            real more[4 * COMPONENTS] = {};
            add_near<COMPONENTS>(task, task.positions + 3 * point, column, more);
#pragma unroll
            for (int c = 0; c < COMPONENTS; c++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum.of[c][h][j] += more[j * COMPONENTS + c];
        }
        if (task.values) store_four(task.values, point * task.pitch + column, sum.of[0][h], left);
        if constexpr (COMPONENTS > 1) {
            if (task.gradients)
#pragma unroll
                for (int e = 0; e < 3; e++)
                    store_four(task.gradients, (3 * point + e) * task.pitch + column,
                               sum.of[1 + e][h], left);
            if (task.laplacians)
                store_four(task.laplacians, point * task.pitch + column, sum.of[4][h], left);
        }
    }
}

/* Orbitals at the points of a block: chunk by chunk, functions to the sheet, then their products with coefficients. Strips
 * of columns are divided evenly between blocks of the same points; warps without a strip only work out functions. */
template <int COMPONENTS, int GROUPS> PLUGMC_FN void evaluate(const gaussian_task &task)
{
    typedef gaussian_sheet<COMPONENTS, GROUPS> sheet_type;
    __shared__ sheet_type sheet;
    const gaussian_tables &t = task.tables;
    const int warp = threadIdx.x / 32, pitch = (int)task.spin.pitch,
              strips = pitch / GAUSSIAN_STRIP, own = (strips + gridDim.y - 1) / gridDim.y,
              strip = blockIdx.y * own + warp;
    const bool multiplies = warp < own && strip < strips;
    const int64_t block = (int64_t)blockIdx.x * sheet.POINTS,
                  point = block + threadIdx.x % sheet.POINTS;
    /* those beyond the last point do the same as the last */
    const double *r = task.positions + 3 * (point < task.points ? point : task.points - 1);
    const real *coefficient = (const real *)task.spin.rounded + strip * GAUSSIAN_STRIP;
    gaussian_sums<COMPONENTS, GROUPS> sum = {};
    for (int k = 0; k < t.chunks; k++) {
        const gaussian_chunk chunk = t.chunk[k];
        /* the sheet of the chunk before has been read */
        __syncthreads();
        const bool any = put_chunk(t, chunk, r, sheet);
        if (!__syncthreads_or(any) || !multiplies) continue;
        add_products(sheet, padded_rows(chunk), coefficient + (int64_t)chunk.row * pitch, pitch,
                     sum);
    }
    if (!multiplies) return;
    const int lane = threadIdx.x % 32;
    store(task, block + lane / 4 * GROUPS, strip * GAUSSIAN_STRIP + lane % 4 * 4, sum);
}

extern "C" __global__ void __launch_bounds__(GAUSSIAN_THREADS)
    gaussian_values(const __grid_constant__ gaussian_task task)
{
    evaluate<1, GAUSSIAN_POINTS / 8>(task);
}

/* In single precision 128 registers are enough for two blocks a multiprocessor. */
extern "C" __global__ void __launch_bounds__(GAUSSIAN_THREADS, sizeof(real) == 4 ? 2 : 1)
    gaussian_everything(const __grid_constant__ gaussian_task task)
{
    evaluate<5, (sizeof(real) == 4 ? GAUSSIAN_POINTS_ALL : GAUSSIAN_POINTS_ALL_DOUBLE) / 8>(task);
}
