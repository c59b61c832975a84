/* Sums of 64 neighbouring coefficients on the CPU, for all orbitals of a point at once. Included
 * for TABLE = float and for TABLE = double.
 *
 * The coefficients of a point of the grid are a row, components one after another (orbitals, or
 * their real and imaginary parts), so that the loops over components vectorise and read memory in
 * order. Four rows along z are dealt with at a time: they are neighbours in memory too. The next
 * four are fetched meanwhile, which halves the time: rows are too short for the processor to guess.
 */
#define PASTE(name, type) name##_##type
#define NAME_OF(name, type) PASTE(name, type)
#define NAME(name) NAME_OF(name, TABLE)

/* u, the derivatives by the coordinates along the grid, and the Laplacian. */
typedef struct NAME(sums) {
    TABLE *u, *d[3], *laplacian; /* [components] */
} NAME(sums);

/* The first of four neighbouring rows at line i, j; past the last line, the first again. */
static inline const TABLE *NAME(line)(const TABLE *table, int64_t row, const spline_place *p,
                                      int ij)
{
    return table + (p->x[ij / 4 % 4] + p->y[ij % 4]) * row;
}

static PLUGMC_TARGETS void NAME(sum_values)(const TABLE *restrict table, int64_t row,
                                            const spline_place *p, int64_t components,
                                            TABLE *restrict u)
{
    enum { BLOCK = 256 / sizeof(TABLE), CACHE_LINE = 64 / sizeof(TABLE) };
    const int64_t z[4] = {p->z[0] * row, p->z[1] * row, p->z[2] * row, p->z[3] * row};
    for (int64_t c = 0; c < components; c++) u[c] = 0;
    for (int ij = 0; ij < 16; ij++) {
        const TABLE *a = NAME(line)(table, row, p, ij), *next = NAME(line)(table, row, p, ij + 1);
        const double xy = p->wx[0][ij / 4] * p->wy[0][ij % 4];
        const TABLE w0 = (TABLE)(xy * p->wz[0][0]), w1 = (TABLE)(xy * p->wz[0][1]),
                    w2 = (TABLE)(xy * p->wz[0][2]), w3 = (TABLE)(xy * p->wz[0][3]);
        for (int64_t first = 0; first < components; first += BLOCK) {
            const int64_t end = first + BLOCK < components ? first + BLOCK : components;
            for (int64_t c = first; c < end; c += CACHE_LINE)
                for (int k = 0; k < 4; k++) __builtin_prefetch(next + z[k] + c);
            for (int64_t c = first; c < end; c++)
                u[c] += w0 * a[z[0] + c] + w1 * a[z[1] + c] + w2 * a[z[2] + c] + w3 * a[z[3] + c];
        }
    }
}

/* `second`, a constant after inlining: Laplacians too. Without them a third of the arithmetic is saved. */
static inline __attribute__((always_inline)) void NAME(sum_derivatives)(
    const TABLE *restrict table, int64_t row, const spline_place *p, const double metric[6],
    int64_t components, int second, NAME(sums) out)
{
    enum { BLOCK = 256 / sizeof(TABLE), CACHE_LINE = 64 / sizeof(TABLE) };
    TABLE *restrict u = out.u, *restrict dx = out.d[0], *restrict dy = out.d[1],
                    *restrict dz = out.d[2], *restrict laplacian = out.laplacian;
    const int64_t z[4] = {p->z[0] * row, p->z[1] * row, p->z[2] * row, p->z[3] * row};
    TABLE w[3][4];
    for (int m = 0; m < 3; m++)
        for (int k = 0; k < 4; k++) w[m][k] = (TABLE)p->wz[m][k];
    for (int64_t c = 0; c < components; c++) u[c] = dx[c] = dy[c] = dz[c] = 0;
    for (int64_t c = 0; c < components && second; c++) laplacian[c] = 0;
    for (int ij = 0; ij < 16; ij++) {
        const TABLE *a = NAME(line)(table, row, p, ij), *next = NAME(line)(table, row, p, ij + 1);
        const double x[3] = {p->wx[0][ij / 4], p->wx[1][ij / 4], p->wx[2][ij / 4]};
        const double y[3] = {p->wy[0][ij % 4], p->wy[1][ij % 4], p->wy[2][ij % 4]};
        const TABLE xy = (TABLE)(x[0] * y[0]), fx = (TABLE)(x[1] * y[0]), fy = (TABLE)(x[0] * y[1]);
        const TABLE l0 = (TABLE)(metric[0] * x[2] * y[0] + metric[1] * x[0] * y[2] +
                                 metric[3] * x[1] * y[1]),
                    l1 = (TABLE)(metric[4] * x[1] * y[0] + metric[5] * x[0] * y[1]),
                    l2 = (TABLE)(metric[2] * x[0] * y[0]);
        for (int64_t first = 0; first < components; first += BLOCK) {
            const int64_t end = first + BLOCK < components ? first + BLOCK : components;
            for (int64_t c = first; c < end; c += CACHE_LINE)
                for (int k = 0; k < 4; k++) __builtin_prefetch(next + z[k] + c);
            for (int64_t c = first; c < end; c++) {
                const TABLE a0 = a[z[0] + c], a1 = a[z[1] + c], a2 = a[z[2] + c], a3 = a[z[3] + c];
                const TABLE s0 = w[0][0] * a0 + w[0][1] * a1 + w[0][2] * a2 + w[0][3] * a3;
                const TABLE s1 = w[1][0] * a0 + w[1][1] * a1 + w[1][2] * a2 + w[1][3] * a3;
                u[c] += xy * s0;
                dx[c] += fx * s0;
                dy[c] += fy * s0;
                dz[c] += xy * s1;
                if (!second) continue;
                const TABLE s2 = w[2][0] * a0 + w[2][1] * a1 + w[2][2] * a2 + w[2][3] * a3;
                laplacian[c] += l0 * s0 + l1 * s1 + l2 * s2;
            }
        }
    }
}

static PLUGMC_TARGETS void NAME(sum_all)(const TABLE *restrict table, int64_t row,
                                         const spline_place *p, const double metric[6],
                                         int64_t components, NAME(sums) out)
{
    NAME(sum_derivatives)(table, row, p, metric, components, 1, out);
}

static PLUGMC_TARGETS void NAME(sum_slopes)(const TABLE *restrict table, int64_t row,
                                            const spline_place *p, const double metric[6],
                                            int64_t components, NAME(sums) out)
{
    NAME(sum_derivatives)(table, row, p, metric, components, 0, out);
}

/* The same where each orbital has a grid of its own (layout = plain): `points` of them, of `parts`
 * numbers each. */
static void NAME(sum_plain)(const TABLE *table, int64_t points, int parts, const spline_place *p,
                            const double metric[6], int64_t components, int derivatives,
                            NAME(sums) out)
{
    for (int64_t c = 0; c < components; c++) {
        const TABLE *a = table + c / parts * points * parts + c % parts;
        TABLE sum[5] = {0};
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                for (int k = 0; k < 4; k++) {
                    const TABLE v = a[(p->x[i] + p->y[j] + p->z[k]) * parts];
                    const double *x = p->wx[0], *y = p->wy[0], *z = p->wz[0];
                    sum[0] += (TABLE)(x[i] * y[j] * z[k]) * v;
                    if (!derivatives) continue;
                    sum[1] += (TABLE)(p->wx[1][i] * y[j] * z[k]) * v;
                    sum[2] += (TABLE)(x[i] * p->wy[1][j] * z[k]) * v;
                    sum[3] += (TABLE)(x[i] * y[j] * p->wz[1][k]) * v;
                    sum[4] += (TABLE)(metric[0] * p->wx[2][i] * y[j] * z[k] +
                                      metric[1] * x[i] * p->wy[2][j] * z[k] +
                                      metric[2] * x[i] * y[j] * p->wz[2][k] +
                                      metric[3] * p->wx[1][i] * p->wy[1][j] * z[k] +
                                      metric[4] * p->wx[1][i] * y[j] * p->wz[1][k] +
                                      metric[5] * x[i] * p->wy[1][j] * p->wz[1][k]) *
                              v;
                }
        out.u[c] = sum[0];
        if (!derivatives) continue;
        for (int d = 0; d < 3; d++) out.d[d][c] = sum[1 + d];
        out.laplacian[c] = sum[4];
    }
}
/* psi = exp(i k.r) u and its derivatives for all orbitals of a point, in the type of the results;
 * those that are NULL are not wanted. phase [k_count][2] is exp(i k.r), wave [k_count][4] is k and
 * its square, slope[e][d] makes Cartesian derivatives. */
#define FINISH(result)                                                                             \
    static PLUGMC_TARGETS void NAME(finish_values_##result)(                                       \
        const TABLE *u, int64_t count, int parts, const int32_t *k_of, const double *phase,        \
        result *restrict out)                                                                      \
    {                                                                                              \
        for (int64_t l = 0; l < count && parts == 1; l++) out[l] = (result)u[l];                   \
        for (int64_t l = 0; l < count && parts == 2; l++) {                                        \
            const double c = phase[2 * k_of[l]], s = phase[2 * k_of[l] + 1];                       \
            const double re = (double)u[2 * l], im = (double)u[2 * l + 1];                         \
            out[2 * l] = (result)(c * re - s * im);                                                \
            out[2 * l + 1] = (result)(c * im + s * re);                                            \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static PLUGMC_TARGETS void NAME(finish_derivatives_##result)(                                  \
        const NAME(sums) * in, int64_t count, int parts, const int32_t *k_of, const double *phase, \
        const double(*wave)[4], const double slope[3][3], result *restrict gradients,              \
        int64_t pitch, result *restrict laplacians)                                                \
    {                                                                                              \
        for (int64_t l = 0; l < count && parts == 1; l++) {                                        \
            for (int e = 0; e < 3 && gradients; e++)                                               \
                gradients[e * pitch + l] = (result)(slope[e][0] * (double)in->d[0][l] +            \
                                                    slope[e][1] * (double)in->d[1][l] +            \
                                                    slope[e][2] * (double)in->d[2][l]);            \
            if (laplacians) laplacians[l] = (result)in->laplacian[l];                              \
        }                                                                                          \
        for (int64_t l = 0; l < count && parts == 2; l++) {                                        \
            const double c = phase[2 * k_of[l]], s = phase[2 * k_of[l] + 1], *k = wave[k_of[l]];   \
            const double re = (double)in->u[2 * l], im = (double)in->u[2 * l + 1];                 \
            double along_re = 0, along_im = 0; /* k . grad u */                                    \
            for (int e = 0; e < 3; e++) {                                                          \
                double ur = 0, ui = 0;                                                             \
                for (int d = 0; d < 3; d++) {                                                      \
                    ur += slope[e][d] * (double)in->d[d][2 * l];                                   \
                    ui += slope[e][d] * (double)in->d[d][2 * l + 1];                               \
                }                                                                                  \
                along_re += k[e] * ur;                                                             \
                along_im += k[e] * ui;                                                             \
                if (!gradients) continue;                                                          \
                const double gr = ur - k[e] * im, gi = ui + k[e] * re;                             \
                gradients[2 * (e * pitch + l)] = (result)(c * gr - s * gi);                        \
                gradients[2 * (e * pitch + l) + 1] = (result)(c * gi + s * gr);                    \
            }                                                                                      \
            if (!laplacians) continue;                                                             \
            const double lr = (double)in->laplacian[2 * l] - 2 * along_im - k[3] * re;             \
            const double li = (double)in->laplacian[2 * l + 1] + 2 * along_re - k[3] * im;         \
            laplacians[2 * l] = (result)(c * lr - s * li);                                         \
            laplacians[2 * l + 1] = (result)(c * li + s * lr);                                     \
        }                                                                                          \
    }
FINISH(float)
FINISH(double)
#undef FINISH
#undef PASTE
#undef NAME_OF
#undef NAME
#undef TABLE
