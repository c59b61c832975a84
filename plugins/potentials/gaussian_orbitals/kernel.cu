/* kernel.cu: the kernels of gaussian_orbitals.cu, behind it and shell.cu. */
PLUGMC_FN real gaussian_exp(real x)
{
    return sizeof(real) == 4 ? (real)expf((float)x) : (real)exp((double)x);
}

/* r^2, rounded in the same way wherever it decides what is near a nucleus. */
PLUGMC_FN real gaussian_square(real x, real y, real z) { return fma(x, x, fma(y, y, z * z)); }

/* One shell at one displacement, added to out [functions][chi_parts][components][GAUSSIAN_POINTS] in shared memory. */
template <int COMPONENTS> struct gaussian_sheet {
    real of[GAUSSIAN_ROWS][COMPONENTS][GAUSSIAN_POINTS];
};

template <int COMPONENTS, int L, int CARTESIAN>
PLUGMC_FN void shell_of(const gaussian_radial &g, int stride, int row, int point,
                        gaussian_sheet<COMPONENTS> &sheet)
{
    constexpr int FUNCTIONS = CARTESIAN ? (L + 1) * (L + 2) / 2 : 2 * L + 1;
    real out[FUNCTIONS * COMPONENTS];
#pragma unroll
    for (int i = 0; i < FUNCTIONS * COMPONENTS; i++) out[i] = 0;
    if (CARTESIAN)
        gaussian_cartesian(L, COMPONENTS > 1, &g, COMPONENTS, out);
    else
        gaussian_spherical(L, COMPONENTS > 1, &g, COMPONENTS, out);
#pragma unroll
    for (int f = 0; f < FUNCTIONS; f++)
#pragma unroll
        for (int c = 0; c < COMPONENTS; c++)
            sheet.of[row + f * stride][c][point] += out[f * COMPONENTS + c];
}

/* Of any kind, in local memory: those that are rare, as code for each of them takes long to compile. */
template <int COMPONENTS>
__device__ __noinline__ void rare_shell(int l, int cartesian, const gaussian_radial &g, int stride,
                                        int row, int point, gaussian_sheet<COMPONENTS> &sheet)
{
    constexpr int MOST = (GAUSSIAN_MOST_L + 1) * (GAUSSIAN_MOST_L + 2) / 2;
    const int functions = cartesian ? (l + 1) * (l + 2) / 2 : 2 * l + 1;
    real out[MOST * COMPONENTS];
    for (int i = 0; i < functions * COMPONENTS; i++) out[i] = 0;
    if (cartesian)
        gaussian_cartesian(l, COMPONENTS > 1, &g, COMPONENTS, out);
    else
        gaussian_spherical(l, COMPONENTS > 1, &g, COMPONENTS, out);
    for (int f = 0; f < functions; f++)
        for (int c = 0; c < COMPONENTS; c++)
            sheet.of[row + f * stride][c][point] += out[f * COMPONENTS + c];
}

template <int COMPONENTS>
PLUGMC_FN void any_shell(int l, int cartesian, const gaussian_radial &g, int stride, int row,
                         int point, gaussian_sheet<COMPONENTS> &sheet)
{
    if (l == 0)
        shell_of<COMPONENTS, 0, 0>(g, stride, row, point, sheet);
    else if (l == 1 && !cartesian)
        shell_of<COMPONENTS, 1, 0>(g, stride, row, point, sheet);
    else if (l == 2 && !cartesian)
        shell_of<COMPONENTS, 2, 0>(g, stride, row, point, sheet);
    else if (l == 3 && !cartesian)
        shell_of<COMPONENTS, 3, 0>(g, stride, row, point, sheet);
    else
        rare_shell<COMPONENTS>(l, cartesian, g, stride, row, point, sheet);
}

/* All images of a shell that reach a point. */
template <int COMPONENTS>
PLUGMC_FN void put_shell(const gaussian_tables &t, const gaussian_entry &s, const double *r,
                         int row, int point, gaussian_sheet<COMPONENTS> &sheet)
{
    double d[3], n[3], cosine = 1, sine = 0;
    const int functions = s.cartesian ? (s.l + 1) * (s.l + 2) / 2 : 2 * s.l + 1;
    for (int f = 0; f < functions * t.chi_parts; f++)
        for (int c = 0; c < COMPONENTS; c++) sheet.of[row + f][c][point] = 0;
    gaussian_displacement(&t, s.nucleus, r, d, n);
    if (t.chi_parts == 2)
        sincospi(2 * (n[0] * t.turns[0] + n[1] * t.turns[1] + n[2] * t.turns[2]), &sine, &cosine);
    for (int i = 0; i < s.images; i++) {
        const double *image = t.image[i];
        gaussian_radial g;
        g.x = (real)(d[0] - image[0]);
        g.y = (real)(d[1] - image[1]);
        g.z = (real)(d[2] - image[2]);
        g.r2 = gaussian_square(g.x, g.y, g.z);
        if (g.r2 >= (real)s.reach2 || g.r2 < (real)s.inner2) continue;
        g.R = g.R1 = g.R2 = 0;
        for (int k = s.first; k < s.first + s.primitives; k++) {
            const real a = (real)__ldg(&t.primitive[k][0]);
            const real e = (real)__ldg(&t.primitive[k][1]) * gaussian_exp(-a * g.r2);
            g.R += e;
            g.R1 -= 2 * a * e;
            g.R2 += 4 * a * a * e;
        }
        if (t.chi_parts == 1) {
            any_shell<COMPONENTS>(s.l, s.cartesian, g, 1, row, point, sheet);
            continue;
        }
        const real re = (real)(cosine * image[3] - sine * image[4]),
                   im = (real)(cosine * image[4] + sine * image[3]);
        gaussian_radial part = g;
        part.R = re * g.R, part.R1 = re * g.R1, part.R2 = re * g.R2;
        any_shell<COMPONENTS>(s.l, s.cartesian, part, 2, row, point, sheet);
        part.R = im * g.R, part.R1 = im * g.R1, part.R2 = im * g.R2;
        any_shell<COMPONENTS>(s.l, s.cartesian, part, 2, row + 1, point, sheet);
    }
}

/* What nuclei with cusps add to the orbitals of a thread. */
template <int COMPONENTS>
PLUGMC_FN void add_near(const gaussian_task &task, const double *r, int64_t column,
                        real sum[GAUSSIAN_OWN][COMPONENTS])
{
    const gaussian_tables &t = task.tables;
    for (int q = 0; q < t.corrected; q++) {
        const gaussian_corrected &c = t.correction[q];
        double d[3], n[3], sums[GAUSSIAN_MOST_S][3];
        gaussian_displacement(&t, c.nucleus, r, d, n);
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (gaussian_square((real)d[0], (real)d[1], (real)d[2]) >= (real)c.reach2) continue;
        for (int k = 0; k < c.shells; k++) gaussian_s(&t, &t.shell[c.shell[k]], r2, sums[k]);
        for (int m = 0; m < GAUSSIAN_OWN; m++) {
            const int64_t j = column + m * GAUSSIAN_SLOTS;
            double out[3];
            if (j >= task.spin.columns) break;
            gaussian_near(&t, &task.spin, &c, &task.spin.cusp[q * task.spin.columns + j], j, r2,
                          sums, out);
            sum[m][0] += (real)out[0];
            if constexpr (COMPONENTS > 1) {
                for (int e = 0; e < 3; e++) sum[m][1 + e] += (real)(out[1] * d[e]);
                sum[m][4] += (real)out[2];
            }
        }
    }
}

template <int COMPONENTS>
PLUGMC_FN void store(const gaussian_task &task, int64_t point, int64_t column,
                     const real sum[GAUSSIAN_OWN][COMPONENTS])
{
#pragma unroll
    for (int m = 0; m < GAUSSIAN_OWN; m++) {
        const int64_t j = column + m * GAUSSIAN_SLOTS;
        if (j >= task.spin.columns) break;
        if (task.values) ((real *)task.values)[point * task.pitch + j] = sum[m][0];
        if constexpr (COMPONENTS > 1) {
            if (task.gradients)
                for (int e = 0; e < 3; e++)
                    ((real *)task.gradients)[(3 * point + e) * task.pitch + j] = sum[m][1 + e];
            if (task.laplacians) ((real *)task.laplacians)[point * task.pitch + j] = sum[m][4];
        }
    }
}

template <int COMPONENTS> PLUGMC_FN void evaluate(const gaussian_task &task)
{
    __shared__ gaussian_sheet<COMPONENTS> sheet;
    const gaussian_tables &t = task.tables;
    const int at = threadIdx.x % GAUSSIAN_POINTS, slot = threadIdx.x / GAUSSIAN_POINTS;
    const int64_t point = (int64_t)blockIdx.x * GAUSSIAN_POINTS + at,
                  column = (int64_t)blockIdx.y * GAUSSIAN_SLOTS * GAUSSIAN_OWN + slot;
    /* those beyond the last point do the same as the last */
    const double *r = task.positions + 3 * (point < task.points ? point : task.points - 1);
    const real *coefficient = (const real *)task.spin.rounded;
    real sum[GAUSSIAN_OWN][COMPONENTS] = {};
    for (int k = 0; k < t.chunks; k++) {
        const gaussian_chunk chunk = t.chunk[k];
        __syncthreads(); /* the sheet has been read */
        if (slot < chunk.shells) {
            const gaussian_entry &s = t.shell[chunk.shell + slot];
            put_shell<COMPONENTS>(t, s, r, s.row - chunk.row, at, sheet);
        }
        __syncthreads();
        if (column >= task.spin.columns) continue;
        for (int row = 0; row < chunk.rows; row++) {
            /* padded, so that all columns of a thread may be read */
            const real *c = coefficient + (chunk.row + row) * task.spin.pitch + column;
#pragma unroll
            for (int m = 0; m < GAUSSIAN_OWN; m++) {
                const real factor = __ldg(c + m * GAUSSIAN_SLOTS);
#pragma unroll
                for (int i = 0; i < COMPONENTS; i++) sum[m][i] += factor * sheet.of[row][i][at];
            }
        }
    }
    if (point >= task.points || column >= task.spin.columns) return;
    if (t.corrected) add_near<COMPONENTS>(task, r, column, sum);
    store<COMPONENTS>(task, point, column, sum);
}

extern "C" __global__ void gaussian_values(const __grid_constant__ gaussian_task task)
{
    evaluate<1>(task);
}

extern "C" __global__ void gaussian_everything(const __grid_constant__ gaussian_task task)
{
    evaluate<5>(task);
}
