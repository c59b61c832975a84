/* Tables of minors on the CPU, for one kind of numbers: included behind minors.h, which says how, with `substitutions`
 * (spin_table.h). Matrices are rows first. */
/* y = v_B - v_A T of an electron's orbitals, v_A [n] and v_B [m]. */
static void NAMED(remainder)(int64_t n, int64_t m, const NUMBER *t, const NUMBER *a,
                             const NUMBER *b, NUMBER *y)
{
    for (int64_t j = 0; j < m; j++) y[j] = b[j];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) y[j] -= a[i] * t[i * m + j];
}

/* T += x y^T / q. */
static void NAMED(update)(int64_t n, int64_t m, const NUMBER *x, const NUMBER *y, NUMBER q,
                          NUMBER *t)
{
    for (int64_t i = 0; i < n; i++) {
        const NUMBER factor = x[i] / q;
        for (int64_t j = 0; j < m; j++) t[i * m + j] += factor * y[j];
    }
}

/* The row of the sum: x - T z to out_a [n], z = G^T x / S to out_b [m]. */
static void NAMED(row)(int64_t n, int64_t m, const NUMBER *t, const NUMBER *g, const NUMBER *x,
                       NUMBER over_s, NUMBER *out_a, NUMBER *out_b)
{
    for (int64_t j = 0; j < m; j++) out_b[j] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) out_b[j] += x[i] * g[i * m + j];
    for (int64_t j = 0; j < m; j++) out_b[j] *= over_s;
    for (int64_t i = 0; i < n; i++) {
        NUMBER sum = x[i];
        for (int64_t j = 0; j < m; j++) sum -= t[i * m + j] * out_b[j];
        out_a[i] = sum;
    }
}

/* T [n][m] = M^T B of M [n][n] and B [n][m]. */
static void NAMED(make)(int64_t n, int64_t m, const NUMBER *inverse, const NUMBER *b, NUMBER *t)
{
    for (int64_t i = 0; i < n * m; i++) t[i] = 0;
    for (int64_t e = 0; e < n; e++)
        for (int64_t i = 0; i < n; i++) {
            const NUMBER x = inverse[e * n + i];
            for (int64_t j = 0; j < m; j++) t[i * m + j] += x * b[e * m + j];
        }
}

/* All minors of the lists, d [determinants]. */
static void NAMED(all_minors)(const substitutions *lists, int64_t m, const NUMBER *t, NUMBER *d)
{
    for (int32_t u = 0; u < lists->determinants; u++) {
        const int32_t *rows = lists->places + 2 * (int64_t)u * lists->stride;
        const NUMBER minor = NAMED(minor)(t, m, lists->degree[u], rows, rows + lists->stride);
        d[u] = lists->sign[u] < 0 ? -minor : minor;
    }
}

/* G [n][m] = sum_u w_u dd_u/dT. */
static void NAMED(all_slopes)(const substitutions *lists, int64_t n, int64_t m, const NUMBER *t,
                              const NUMBER *w, NUMBER *g)
{
    NUMBER c[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE];
    for (int64_t i = 0; i < n * m; i++) g[i] = 0;
    for (int32_t u = 0; u < lists->determinants; u++) {
        const int32_t *rows = lists->places + 2 * (int64_t)u * lists->stride,
                      *columns = rows + lists->stride;
        const int k = lists->degree[u];
        const NUMBER factor = lists->sign[u] < 0 ? -w[u] : w[u];
        if (factor == 0) continue;
        NAMED(cofactors)(t, m, k, rows, columns, c);
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++) g[rows[i] * m + columns[j]] += factor * c[i * k + j];
    }
}

/* For each determinant sum_ia dd_u/dT[i][a] z[i][a], out [determinants]. */
static void NAMED(all_along)(const substitutions *lists, int64_t m, const NUMBER *t,
                             const NUMBER *z, NUMBER *out)
{
    NUMBER c[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE];
    for (int32_t u = 0; u < lists->determinants; u++) {
        const int32_t *rows = lists->places + 2 * (int64_t)u * lists->stride,
                      *columns = rows + lists->stride;
        const int k = lists->degree[u];
        NUMBER sum = 0;
        NAMED(cofactors)(t, m, k, rows, columns, c);
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++) sum += c[i * k + j] * z[rows[i] * m + columns[j]];
        out[u] = lists->sign[u] < 0 ? -sum : sum;
    }
}
