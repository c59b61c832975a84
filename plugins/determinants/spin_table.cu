/* spin_table.cu: the determinants of an expansion on the GPU, a block of SUM_THREADS threads a walker; spin_table.h has
 * the formulas, minors.h stands in front for both kinds of numbers. Every thread of a block calls these functions, and
 * they begin and end with all threads at one place. Nothing here depends on the potentials that are sampled, so that a
 * test runs this text on the host. */

/* Of one walker. T is double or vmc_complex. */
template <class T> struct sum_walker {
    const sum_task *of;
    int32_t n, m, w;
    int32_t *chosen, *order, *degree, *sign, *places;
    T *inverse, *table, *values, *minors, *weights, *sum;
    T *x, *y, *v, *p, *square, *slopes; /* work */
    double *ln_reference;
};

template <class T> PLUGMC_FN sum_walker<T> walker_of(const sum_task *t, int32_t w)
{
    sum_walker<T> s;
    const int64_t n = t->n, m = t->m, det = t->determinants, k = w;
    s.of = t;
    s.n = t->n;
    s.m = t->m;
    s.w = w;
    s.chosen = t->chosen + k;
    s.order = t->order + k * 2 * (n + m);
    s.degree = t->degree + k * det;
    s.sign = t->sign + k * det;
    s.places = t->places + k * det * 2 * t->stride;
    s.inverse = (T *)t->inverse + k * n * n;
    s.table = (T *)t->table + k * n * m;
    s.values = (T *)t->values + k * n * (n + m);
    s.minors = (T *)t->minors + k * det;
    s.weights = (T *)t->weights + k * det;
    s.sum = (T *)t->sum + k;
    s.x = (T *)t->work + k * SUM_WORK(n, m);
    s.y = s.x + n;
    s.v = s.y + m;
    s.p = s.v + n + m;
    s.square = s.p + n;
    s.slopes = s.square + 2 * n * n;
    s.ln_reference = t->ln_reference + k;
    return s;
}

#define FOR_THREADS(i, count) for (int32_t i = threadIdx.x; i < (count); i += SUM_THREADS)

/* A minor beyond this makes its determinant the reference, as in spin_table.c. */
#define SUM_LARGEST_MINOR 100.0

/* ---- Over the threads of a block, in an order that is always the same ---- */

template <class T> PLUGMC_FN T sum_over_threads(T mine)
{
    __shared__ T parts[SUM_THREADS];
    __syncthreads();
    parts[threadIdx.x] = mine;
    for (int32_t half = SUM_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int32_t)threadIdx.x < half)
            parts[threadIdx.x] = parts[threadIdx.x] + parts[threadIdx.x + half];
    }
    __syncthreads();
    const T sum = parts[0];
    __syncthreads();
    return sum;
}

/* The largest of all, and the first place that has it. */
PLUGMC_FN double largest_of_threads(double mine, int32_t *where)
{
    __shared__ double parts[SUM_THREADS];
    __shared__ int32_t places[SUM_THREADS];
    __syncthreads();
    parts[threadIdx.x] = mine;
    places[threadIdx.x] = *where;
    for (int32_t half = SUM_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        const int32_t i = threadIdx.x, j = i + half;
        if (i >= half) continue;
        if (parts[j] > parts[i] || (parts[j] == parts[i] && places[j] < places[i])) {
            parts[i] = parts[j];
            places[i] = places[j];
        }
    }
    __syncthreads();
    const double largest = parts[0];
    *where = places[0];
    __syncthreads();
    return largest;
}

/* ---- Minors ---- */

PLUGMC_FN double minor_of(const double *t, int64_t m, int k, const int32_t *r, const int32_t *c)
{
    return minor_real(t, m, k, r, c);
}
PLUGMC_FN vmc_complex minor_of(const vmc_complex *t, int64_t m, int k, const int32_t *r,
                               const int32_t *c)
{
    return minor_complex(t, m, k, r, c);
}
PLUGMC_FN void cofactors_of(const double *t, int64_t m, int k, const int32_t *r, const int32_t *c,
                            double *out)
{
    cofactors_real(t, m, k, r, c, out);
}
PLUGMC_FN void cofactors_of(const vmc_complex *t, int64_t m, int k, const int32_t *r,
                            const int32_t *c, vmc_complex *out)
{
    cofactors_complex(t, m, k, r, c, out);
}

template <class T> PLUGMC_FN void find_minors(const sum_walker<T> &s)
{
    const int32_t stride = s.of->stride;
    FOR_THREADS(u, s.of->determinants)
    {
        const int32_t *rows = s.places + 2 * (int64_t)u * stride;
        const T minor = minor_of(s.table, s.m, s.degree[u], rows, rows + stride);
        s.minors[u] = s.sign[u] < 0 ? -minor : minor;
    }
    __syncthreads();
}

/* S from W and the minors. */
template <class T> PLUGMC_FN void find_sum(const sum_walker<T> &s)
{
    T mine = of(0, 0, T());
    FOR_THREADS(u, s.of->determinants) mine = mine + s.weights[u] * s.minors[u];
    const T sum = sum_over_threads(mine);
    if (threadIdx.x == 0) *s.sum = sum;
    __syncthreads();
}

/* W from the minors of the other spin, and S. */
template <class T> PLUGMC_FN void find_weights(const sum_walker<T> &s, const T *others)
{
    const sum_task *t = s.of;
    FOR_THREADS(u, t->determinants)
    {
        T sum = of(0, 0, T());
        for (int32_t k = t->begin[u]; k < t->begin[u + 1]; k++)
            sum = sum + of(t->coefficients[t->term[k]],
                           t->imaginary ? t->imaginary[t->term[k]] : 0.0, T()) *
                            others[t->partner[k]];
        s.weights[u] = sum;
    }
    __syncthreads();
    find_sum(s);
}

/* ---- The reference ---- */

/* The orbitals of determinant u, then the others, to order; one thread. */
template <class T> PLUGMC_FN void order_by(const sum_walker<T> &s, int32_t u, int32_t *order)
{
    const int32_t *occupied = s.of->occupied + (int64_t)u * s.n;
    int32_t next = 0, *others = order + s.n;
    for (int32_t o = 0; o < s.n + s.m; o++) {
        if (next < s.n && occupied[next] == o)
            order[next++] = o;
        else
            *others++ = o;
    }
}

/* Determinant u as substitutions of the reference r [n]. */
template <class T> PLUGMC_FN void list_one(const sum_walker<T> &s, const int32_t *r, int32_t u)
{
    const int32_t *of_u = s.of->occupied + (int64_t)u * s.n, n = s.n;
    int32_t *rows = s.places + 2 * (int64_t)u * s.of->stride, *columns = rows + s.of->stride;
    int32_t gone = 0, come = 0, parity = 0, i = 0, j = 0;
    while (i < n || j < n) {
        if (j == n || (i < n && r[i] < of_u[j])) {
            parity += i;
            rows[gone++] = i++;
        } else if (i == n || of_u[j] < r[i]) {
            parity += j;
            columns[come++] = of_u[j++] - i;
        } else {
            i++;
            j++;
        }
    }
    s.degree[u] = gone;
    s.sign[u] = parity % 2 ? -1 : 1;
}

/* The inverse of the orbitals `order` [n] at the electrons, beside them in `square` [n][2 n], and ln |det|^2; NaN if there
 * is none. */
template <class T> PLUGMC_FN double invert_columns(const sum_walker<T> &s, const int32_t *order)
{
    __shared__ int32_t pivot;
    const int32_t n = s.n, wide = 2 * n;
    double ln = 0;
    FOR_THREADS(i, n * wide)
    {
        const int32_t e = i / wide, c = i % wide;
        s.square[i] = c < n ? s.values[e * (n + s.m) + order[c]] : of(c - n == e, 0, T());
    }
    __syncthreads();
    for (int32_t c = 0; c < n; c++) {
        if (threadIdx.x == 0) {
            pivot = c;
            for (int32_t i = c + 1; i < n; i++)
                if (square_of(s.square[i * wide + c]) > square_of(s.square[pivot * wide + c]))
                    pivot = i;
        }
        __syncthreads();
        const int32_t best = pivot;
        FOR_THREADS(j, wide)
        {
            const T kept = s.square[c * wide + j];
            s.square[c * wide + j] = s.square[best * wide + j];
            if (best != c) s.square[best * wide + j] = kept;
        }
        __syncthreads();
        const T at = s.square[c * wide + c], over = one_over(at);
        const double size = square_of(at);
        if (!(size > 0)) return 0.0 / 0.0;
        ln += log(size);
        __syncthreads();
        FOR_THREADS(j, wide) s.square[c * wide + j] = s.square[c * wide + j] * over;
        FOR_THREADS(i, n) s.p[i] = s.square[i * wide + c];
        __syncthreads();
        FOR_THREADS(i, n * wide)
        {
            const int32_t row = i / wide;
            if (row != c) s.square[i] = s.square[i] - s.p[row] * s.square[c * wide + i % wide];
        }
        __syncthreads();
    }
    return ln;
}

/* M, T and minors with determinant u as the reference; false if it is singular, with all left as it was. */
template <class T> SUM_ONE_COPY bool refer_to(const sum_walker<T> &s, int32_t u)
{
    const int32_t n = s.n, m = s.m;
    int32_t *order = s.order + n + m;
    if (threadIdx.x == 0) order_by(s, u, order);
    __syncthreads();
    const double ln = invert_columns(s, order);
    if (!(ln > -1e300 && ln < 1e300)) return false;
    FOR_THREADS(i, n * n) s.inverse[i] = s.square[i % n * 2 * n + n + i / n]; /* transposed */
    FOR_THREADS(i, n + m) s.order[i] = order[i];
    const bool other = *s.chosen != u;
    __syncthreads();
    if (threadIdx.x == 0) {
        *s.chosen = u;
        *s.ln_reference = ln;
    }
    if (other) FOR_THREADS(k, s.of->determinants) list_one(s, order, k);
    FOR_THREADS(i, n * m)
    {
        const int32_t row = i / m, column = s.order[n + i % m];
        T sum = of(0, 0, T());
        for (int32_t e = 0; e < n; e++)
            sum = sum + s.inverse[e * n + row] * s.values[e * (n + m) + column];
        s.table[i] = sum;
    }
    __syncthreads();
    find_minors(s);
    return true;
}

/* The largest determinant of all, each found by itself; false: all are zero. */
template <class T> SUM_ONE_COPY bool refer_to_largest(const sum_walker<T> &s)
{
    int32_t best = -1;
    double largest = 0;
    for (int32_t u = 0; u < s.of->determinants; u++) {
        if (threadIdx.x == 0) order_by(s, u, s.order + s.n + s.m);
        __syncthreads();
        const double ln = invert_columns(s, s.order + s.n + s.m);
        __syncthreads();
        if (!(ln > -1e300 && ln < 1e300) || (best >= 0 && !(ln > largest))) continue;
        largest = ln;
        best = u;
    }
    return best >= 0 && refer_to(s, best);
}

/* Another reference, if a minor is far larger than that of the present one. */
template <class T> PLUGMC_FN bool keep_reference_large(const sum_walker<T> &s)
{
    double largest = 0;
    int32_t where = 0;
    bool wrong = false;
    FOR_THREADS(u, s.of->determinants)
    {
        const double size = square_of(s.minors[u]);
        if (!(size < 1e300)) wrong = true;
        if (size > largest) {
            largest = size;
            where = u;
        }
    }
    largest = largest_of_threads(wrong ? 1e301 : largest, &where);
    if (largest <= SUM_LARGEST_MINOR * SUM_LARGEST_MINOR) return true;
    return (largest < 1e300 && refer_to(s, where)) || refer_to_largest(s);
}

/* Everything from the orbitals at the electrons in s.values; false: all determinants are zero. */
template <class T> PLUGMC_FN bool begin_anew(const sum_walker<T> &s)
{
    if (threadIdx.x == 0) *s.chosen = -1;
    __syncthreads();
    const bool good = refer_to(s, 0) ? keep_reference_large(s) : refer_to_largest(s);
    if (!good && threadIdx.x == 0) *s.ln_reference = 0.0 / 0.0;
    __syncthreads();
    return good;
}

/* ---- Moves ---- */

/* The ratio of Psi if electron e goes to where the orbitals are `values` [pitch]; *q: that of the reference. x, y and v are
 * left for sum_accept. */
template <class T, class V>
PLUGMC_FN T sum_ratio(const sum_walker<T> &s, int32_t e, const V *values, T *q)
{
    const int32_t n = s.n, m = s.m, stride = s.of->stride;
    T mine = of(0, 0, T());
    __syncthreads();
    FOR_THREADS(o, n + m) s.v[o] = orbital_at(values, s.of->column[s.order[o]], T());
    FOR_THREADS(i, n) s.x[i] = s.inverse[e * n + i];
    __syncthreads();
    FOR_THREADS(i, n) mine = mine + s.v[i] * s.x[i];
    *q = sum_over_threads(mine);
    FOR_THREADS(a, m)
    {
        T sum = s.v[n + a];
        for (int32_t i = 0; i < n; i++) sum = sum - s.v[i] * s.table[i * m + a];
        s.y[a] = sum;
    }
    __syncthreads();
    mine = of(0, 0, T());
    FOR_THREADS(u, s.of->determinants)
    {
        const int32_t *rows = s.places + 2 * (int64_t)u * stride, k = s.degree[u];
        T c[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE], change = of(0, 0, T());
        cofactors_of(s.table, m, k, rows, rows + stride, c);
        for (int32_t i = 0; i < k; i++)
            for (int32_t j = 0; j < k; j++)
                change = change + c[i * k + j] * s.x[rows[i]] * s.y[rows[stride + j]];
        if (s.sign[u] < 0) change = -change;
        mine = mine + s.weights[u] * (*q * s.minors[u] + change);
    }
    return sum_over_threads(mine) * one_over(*s.sum);
}

/* The move that sum_ratio has looked at. */
template <class T, class V>
PLUGMC_FN void sum_accept(const sum_walker<T> &s, int32_t e, const V *values, T q)
{
    const int32_t n = s.n, m = s.m;
    const T over = one_over(q);
    FOR_THREADS(k, n)
    {
        T sum = of(k == e ? -1 : 0, 0, T());
        for (int32_t i = 0; i < n; i++) sum = sum + s.v[i] * s.inverse[k * n + i];
        s.p[k] = sum * over;
    }
    FOR_THREADS(o, n + m) s.values[e * (n + m) + o] = orbital_at(values, s.of->column[o], T());
    __syncthreads();
    FOR_THREADS(i, n * n) s.inverse[i] = s.inverse[i] - s.p[i / n] * s.x[i % n];
    FOR_THREADS(i, n * m) s.table[i] = s.table[i] + s.x[i / m] * over * s.y[i % m];
    if (threadIdx.x == 0) *s.ln_reference += log(square_of(q));
    __syncthreads();
    find_minors(s);
    if (!keep_reference_large(s) && threadIdx.x == 0) *s.ln_reference = 0.0 / 0.0;
    __syncthreads();
    find_sum(s);
}

/* ---- For kernels: a block a walker of the launch ---- */

/* Orbitals at the electrons, values [walkers][n][pitch], to the tables, and all that follows from them. */
template <class T, class V> PLUGMC_FN void sum_anew(const sum_task &t, const V *values)
{
    const int32_t w = blockIdx.x, orbitals = t.n + t.m, parts = sizeof(T) / sizeof(double);
    const sum_walker<T> s = walker_of<T>(&t, t.walker + w);
    FOR_THREADS(i, t.n * orbitals)
    {
        const int32_t e = i / orbitals, o = i % orbitals;
        s.values[i] =
            orbital_at(values + ((int64_t)w * t.n + e) * t.pitch * parts, t.column[o], T());
    }
    __syncthreads();
    begin_anew(s);
}

/* W and S; others [walkers][count] are the minors of the other spin. */
template <class T> PLUGMC_FN void sum_weigh(const sum_task &t, const double *others, int32_t count)
{
    const int32_t w = t.walker + blockIdx.x;
    find_weights(walker_of<T>(&t, w), (const T *)others + (int64_t)w * count);
}

/* ---- Rows of all electrons ---- */

/* G, each column by one thread, so that sums are in one order. */
template <class T> PLUGMC_FN void find_slopes(const sum_walker<T> &s)
{
    const int32_t m = s.m, stride = s.of->stride;
    FOR_THREADS(a, m)
    {
        T c[EXPANSION_MOST_DEGREE * EXPANSION_MOST_DEGREE];
        for (int32_t i = 0; i < s.n; i++) s.slopes[i * m + a] = of(0, 0, T());
        for (int32_t u = 0; u < s.of->determinants; u++) {
            const int32_t *rows = s.places + 2 * (int64_t)u * stride, k = s.degree[u];
            int32_t j = 0;
            while (j < k && rows[stride + j] != a) j++;
            if (j == k) continue;
            const T weight = s.sign[u] < 0 ? -s.weights[u] : s.weights[u];
            cofactors_of(s.table, m, k, rows, rows + stride, c);
            for (int32_t i = 0; i < k; i++)
                s.slopes[rows[i] * m + a] = s.slopes[rows[i] * m + a] + weight * c[i * k + j];
        }
    }
    __syncthreads();
}

/* The row of electron e over all orbitals that occur, once there is G; other places of out [length] are left alone. */
template <class T> PLUGMC_FN void find_row_of(const sum_walker<T> &s, int32_t e, T *row)
{
    const int32_t n = s.n, m = s.m;
    const T over = one_over(*s.sum), *x = s.inverse + e * n;
    FOR_THREADS(a, m)
    {
        T z = of(0, 0, T());
        for (int32_t i = 0; i < n; i++) z = z + x[i] * s.slopes[i * m + a];
        s.y[a] = z * over;
        row[s.of->column[s.order[n + a]]] = z * over;
    }
    __syncthreads();
    FOR_THREADS(i, n)
    {
        T sum = x[i];
        for (int32_t a = 0; a < m; a++) sum = sum - s.table[i * m + a] * s.y[a];
        row[s.of->column[s.order[i]]] = sum;
    }
    __syncthreads();
}

/* Rows of all electrons over all orbitals, out [n][length], as spin_table_rows. */
template <class T> PLUGMC_FN void find_rows(const sum_walker<T> &s, T *out, int32_t length)
{
    find_slopes(s);
    FOR_THREADS(i, s.n * length) out[i] = of(0, 0, T());
    __syncthreads();
    for (int32_t e = 0; e < s.n; e++) find_row_of(s, e, out + e * length);
}

/* Another walker becomes this one; W, S and G are found anew. */
template <class T> PLUGMC_FN void copy_walker(const sum_walker<T> &from, const sum_walker<T> &to)
{
    const int32_t n = from.n, m = from.m, det = from.of->determinants, wide = 2 * from.of->stride;
    FOR_THREADS(i, n + m) to.order[i] = from.order[i];
    FOR_THREADS(u, det)
    {
        to.degree[u] = from.degree[u];
        to.sign[u] = from.sign[u];
        to.minors[u] = from.minors[u];
    }
    FOR_THREADS(i, det * wide) to.places[i] = from.places[i];
    FOR_THREADS(i, n * n) to.inverse[i] = from.inverse[i];
    FOR_THREADS(i, n * m) to.table[i] = from.table[i];
    FOR_THREADS(i, n * (n + m)) to.values[i] = from.values[i];
    if (threadIdx.x == 0) {
        *to.chosen = *from.chosen;
        *to.ln_reference = *from.ln_reference;
    }
    __syncthreads();
}
