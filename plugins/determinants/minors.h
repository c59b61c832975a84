/* Minors of a table and their cofactors, for one kind of numbers: included once for reals and once for complex numbers,
 * with NUMBER the type, MAGNITUDE its absolute value and NAMED(f) a name for that kind.
 *
 * A minor has k rows and k columns of t [.][m]. */

/* The determinant of a [k][k], which is destroyed, by elimination with the largest element of each column. */
static NUMBER NAMED(determinant)(NUMBER *a, int k)
{
    NUMBER product = 1;
    for (int c = 0; c < k; c++) {
        int best = c;
        for (int i = c + 1; i < k; i++)
            if (MAGNITUDE(a[i * k + c]) > MAGNITUDE(a[best * k + c])) best = i;
        for (int j = c; j < k && best != c; j++) {
            const NUMBER swap = a[c * k + j];
            a[c * k + j] = a[best * k + j];
            a[best * k + j] = swap;
        }
        product *= best == c ? a[c * k + c] : -a[c * k + c];
        if (a[c * k + c] == 0) return 0;
        for (int i = c + 1; i < k; i++) {
            const NUMBER factor = a[i * k + c] / a[c * k + c];
            for (int j = c + 1; j < k; j++) a[i * k + j] -= factor * a[c * k + j];
        }
    }
    return product;
}

static void NAMED(gather_minor)(const NUMBER *t, int64_t m, int k, const int32_t *rows,
                                const int32_t *columns, NUMBER *a)
{
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) a[i * k + j] = t[rows[i] * m + columns[j]];
}

static NUMBER NAMED(minor)(const NUMBER *t, int64_t m, int k, const int32_t *rows,
                           const int32_t *columns)
{
    NUMBER a[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE];
    if (k == 0) return 1;
    if (k == 1) return t[rows[0] * m + columns[0]];
    if (k == 2)
        return t[rows[0] * m + columns[0]] * t[rows[1] * m + columns[1]] -
               t[rows[0] * m + columns[1]] * t[rows[1] * m + columns[0]];
    NAMED(gather_minor)(t, m, k, rows, columns, a);
    if (k == 3)
        return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
               a[2] * (a[3] * a[7] - a[4] * a[6]);
    return NAMED(determinant)(a, k);
}

/* det [.] as the sum over the elements of a minor would be by Laplace: cofactors of a [k][k] one by one, which singular
 * minors have as well. */
static void NAMED(cofactors_by_minors)(const NUMBER *a, int k, NUMBER *out)
{
    NUMBER less[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE];
    for (int row = 0; row < k; row++)
        for (int column = 0; column < k; column++) {
            NUMBER *to = less;
            for (int i = 0; i < k; i++)
                for (int j = 0; j < k && i != row; j++)
                    if (j != column) *to++ = a[i * k + j];
            const NUMBER d = NAMED(determinant)(less, k - 1);
            out[row * k + column] = (row + column) % 2 ? -d : d;
        }
}

/* The same from the inverse, where there is a good one; 0: there is none. */
static int NAMED(cofactors_by_inverse)(const NUMBER *minor, int k, NUMBER *out)
{
    NUMBER a[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE];
    NUMBER inverse[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE], product = 1;
    double largest = 0, least = INFINITY;
    for (int i = 0; i < k * k; i++) {
        a[i] = minor[i];
        inverse[i] = i / k == i % k;
    }
    for (int c = 0; c < k; c++) {
        int best = c;
        for (int i = c + 1; i < k; i++)
            if (MAGNITUDE(a[i * k + c]) > MAGNITUDE(a[best * k + c])) best = i;
        for (int j = 0; j < k && best != c; j++) {
            const NUMBER x = a[c * k + j], y = inverse[c * k + j];
            a[c * k + j] = a[best * k + j];
            a[best * k + j] = x;
            inverse[c * k + j] = inverse[best * k + j];
            inverse[best * k + j] = y;
        }
        const NUMBER pivot = a[c * k + c];
        const double size = MAGNITUDE(pivot);
        largest = fmax(largest, size);
        least = fmin(least, size);
        if (!(least > 1e-4 * largest)) return 0;
        product *= best == c ? pivot : -pivot;
        for (int j = 0; j < k; j++) {
            a[c * k + j] /= pivot;
            inverse[c * k + j] /= pivot;
        }
        for (int i = 0; i < k; i++) {
            const NUMBER factor = a[i * k + c];
            for (int j = 0; j < k && i != c; j++) {
                a[i * k + j] -= factor * a[c * k + j];
                inverse[i * k + j] -= factor * inverse[c * k + j];
            }
        }
    }
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) out[i * k + j] = product * inverse[j * k + i];
    return 1;
}

/* Derivatives of a minor by its elements, out [k][k]. */
static void NAMED(cofactors)(const NUMBER *t, int64_t m, int k, const int32_t *rows,
                             const int32_t *columns, NUMBER *out)
{
    NUMBER a[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE];
    if (k == 1) out[0] = 1;
    if (k < 2) return;
    NAMED(gather_minor)(t, m, k, rows, columns, a);
    if (k == 2) {
        out[0] = a[3], out[1] = -a[2];
        out[2] = -a[1], out[3] = a[0];
    } else if (k == 3) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const int p = (i + 1) % 3, q = (i + 2) % 3, r = (j + 1) % 3, s = (j + 2) % 3;
                out[3 * i + j] = a[3 * p + r] * a[3 * q + s] - a[3 * p + s] * a[3 * q + r];
            }
    } else if (!NAMED(cofactors_by_inverse)(a, k, out)) {
        NAMED(cofactors_by_minors)(a, k, out);
    }
}

/* ---- The table as a whole -------------------------------------------------------------------- */

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
