/* Minors of a table and their cofactors, for one kind of numbers: one text for C and CUDA, which is there once for reals
 * and once for complex numbers, with NUMBER the type, NUMBER_OF(x) one that is real, MAGNITUDE its absolute value and
 * NAMED(f) a name for that kind.
 *
 * A minor has k rows and k columns of t [.][m], k up to EXPANSION_MOST_DEGREE. */

/* The determinant of a [k][k], which is destroyed, by elimination with the largest element of each column. */
SUM_ONE_COPY NUMBER NAMED(determinant)(NUMBER *a, int k)
{
    NUMBER product = NUMBER_OF(1);
    for (int c = 0; c < k; c++) {
        int best = c;
        for (int i = c + 1; i < k; i++)
            if (MAGNITUDE(a[i * k + c]) > MAGNITUDE(a[best * k + c])) best = i;
        for (int j = c; j < k && best != c; j++) {
            const NUMBER swap = a[c * k + j];
            a[c * k + j] = a[best * k + j];
            a[best * k + j] = swap;
        }
        product = product * (best == c ? a[c * k + c] : -a[c * k + c]);
        if (MAGNITUDE(a[c * k + c]) == 0) return NUMBER_OF(0);
        for (int i = c + 1; i < k; i++) {
            const NUMBER factor = a[i * k + c] / a[c * k + c];
            for (int j = c + 1; j < k; j++) a[i * k + j] = a[i * k + j] - factor * a[c * k + j];
        }
    }
    return product;
}

PLUGMC_FN void NAMED(gather_minor)(const NUMBER *t, int64_t m, int k, const int32_t *rows,
                                   const int32_t *columns, NUMBER *a)
{
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) a[i * k + j] = t[rows[i] * m + columns[j]];
}

PLUGMC_FN NUMBER NAMED(minor)(const NUMBER *t, int64_t m, int k, const int32_t *rows,
                              const int32_t *columns)
{
    NUMBER a[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE];
    if (k == 0) return NUMBER_OF(1);
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
SUM_ONE_COPY void NAMED(cofactors_by_minors)(const NUMBER *a, int k, NUMBER *out)
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
SUM_ONE_COPY int NAMED(cofactors_by_inverse)(const NUMBER *minor, int k, NUMBER *out)
{
    NUMBER a[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE];
    NUMBER inverse[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE], product = NUMBER_OF(1);
    double largest = 0, least = 1e300;
    for (int i = 0; i < k * k; i++) {
        a[i] = minor[i];
        inverse[i] = NUMBER_OF(i / k == i % k);
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
        product = product * (best == c ? pivot : -pivot);
        for (int j = 0; j < k; j++) {
            a[c * k + j] = a[c * k + j] / pivot;
            inverse[c * k + j] = inverse[c * k + j] / pivot;
        }
        for (int i = 0; i < k; i++) {
            const NUMBER factor = a[i * k + c];
            for (int j = 0; j < k && i != c; j++) {
                a[i * k + j] = a[i * k + j] - factor * a[c * k + j];
                inverse[i * k + j] = inverse[i * k + j] - factor * inverse[c * k + j];
            }
        }
    }
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) out[i * k + j] = product * inverse[j * k + i];
    return 1;
}

/* Derivatives of a minor by its elements, out [k][k]. */
PLUGMC_FN void NAMED(cofactors)(const NUMBER *t, int64_t m, int k, const int32_t *rows,
                                const int32_t *columns, NUMBER *out)
{
    NUMBER a[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE];
    if (k == 1) out[0] = NUMBER_OF(1);
    if (k < 2) return;
    NAMED(gather_minor)(t, m, k, rows, columns, a);
    if (k == 2) {
        out[0] = a[3];
        out[1] = -a[2];
        out[2] = -a[1];
        out[3] = a[0];
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
