/* Slater determinants; slater.h says what they are. Matrices are products of BLAS and LAPACK, in
 * double precision and on one thread: other threads have other walkers. */
#include "slater.h"
#include "spin_table.h"

#include <math.h>
#include <string.h>

#include <cblas.h>
#include <lapacke.h>

static size_t numbers(const slater *s, int64_t count)
{
    return (size_t)(s->is_complex ? 2 * count : count);
}

int64_t slater_length(const slater *s) { return s->sum ? s->sum->length : s->n; }

static const double *row_of(const slater *s, const double *matrix, int64_t row)
{
    return matrix + numbers(s, row * s->n);
}

int slater_find_orbitals(const plugmc_host *host, const plugmc_term **orbitals)
{
    const plugmc_system *system = host->system;
    *orbitals = NULL;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_potential *potential = term->plugin->potential;
        if (!term->sampled) continue;
        if (potential->total && plugmc_follows_positions(potential->total))
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "potential '%s' is a many-body term, which cannot be a factor of |Psi|^2 "
                "here; use role = measured to measure it",
                term->label);
        if (plugmc_orbitals_of(term->plugin) && *orbitals)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "potentials '%s' and '%s' both have orbitals, but there is only one "
                              "determinant per spin",
                              (*orbitals)->label, term->label);
        if (plugmc_orbitals_of(term->plugin)) *orbitals = term;
    }
    if (*orbitals) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "no potential has orbitals, which the determinants need");
}

int slater_pitch(const plugmc_host *host, const plugmc_term *term, int64_t *pitch)
{
    const plugmc_system *system = host->system;
    int64_t most = 0;
    for (int spin = 0; spin < system->species_count; spin++) {
        const plugmc_species *s = plugmc_species_at(system, spin);
        const int64_t count = plugmc_orbitals_of(term->plugin)->count(term->instance, spin);
        if (count < s->count)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "potential '%s' has only %lld orbitals for species '%s', which "
                              "has %lld electrons",
                              term->label, (long long)count, s->name, (long long)s->count);
        if (count > most) most = count;
    }
    *pitch = (most + 7) / 8 * 8;
    return PLUGMC_OK;
}

/* Numbers that LAPACK wants to work with when it inverts. */
static int64_t inverting_takes(int64_t n, int is_complex)
{
    double wanted[2] = {0}, matrix[2] = {0};
    const lapack_int size = (lapack_int)n;
    lapack_int pivot = 1;
    if (is_complex)
        LAPACKE_zgetri_work(LAPACK_COL_MAJOR, size, (lapack_complex_double *)matrix, size, &pivot,
                            (lapack_complex_double *)wanted, -1);
    else
        LAPACKE_dgetri_work(LAPACK_COL_MAJOR, size, matrix, size, &pivot, wanted, -1);
    const int64_t most = wanted[0] > (double)n ? (int64_t)wanted[0] : n;
    return (most + 1) / 2 * 2; /* what comes after it is aligned to two */
}

size_t slater_bytes(int64_t n, int is_complex, int64_t block)
{
    const slater s = {.is_complex = is_complex};
    const size_t b = (size_t)(block < n ? block : n);
    const size_t bytes = (2 * numbers(&s, n * n) + 4 * numbers(&s, (int64_t)b * n) +
                          numbers(&s, n + n % 2) + numbers(&s, inverting_takes(n, is_complex))) *
                             sizeof(double) +
                         (4 * b * b + b) * sizeof *s.raw + b * sizeof *s.chosen +
                         (size_t)n * sizeof *s.pivot_rows;
    return (bytes + 63) / 64 * 64;
}

void slater_prepare(slater *s, void *memory, int64_t n, int64_t pitch, int is_complex,
                    int64_t block)
{
    *s = (slater){.n = n,
                  .pitch = pitch,
                  .is_complex = is_complex,
                  .capacity = block < n ? block : n,
                  .inverting = inverting_takes(n, is_complex)};
    const size_t b = (size_t)s->capacity, square = b * b, matrix = numbers(s, n * n),
                 wide = numbers(s, (int64_t)b * n);
    s->inverse = memory;
    s->work = s->inverse + matrix;
    s->taken = s->work + matrix;
    s->old_rows = s->taken + wide;
    s->products = s->old_rows + wide; /* two of them */
    s->inverting_work = s->products + 2 * wide;
    s->changed_row = s->inverting_work + numbers(s, s->inverting);
    s->raw = (double complex *)(s->changed_row + numbers(s, n + n % 2));
    s->pivots = s->raw + square;
    s->small = s->pivots + square; /* two of them */
    s->row = s->small + 2 * square;
    s->chosen = (int64_t *)(s->row + b);
    s->pivot_rows = (int *)(s->chosen + b);
}

/* ---- From the beginning ---------------------------------------------------------------------- */

/* work = A transposed, which LAPACK, counting columns first, sees as A. */
static void load_transposed(const slater *s, const double *values)
{
    const int64_t n = s->n;
    for (int64_t e = 0; e < n; e++)
        for (int64_t o = 0; o < n; o++) {
            if (s->is_complex)
                memcpy(&s->work[2 * (o * n + e)], &values[2 * (e * s->pitch + o)],
                       2 * sizeof(double));
            else
                s->work[o * n + e] = values[e * s->pitch + o];
        }
}

/* det / |det| from the factors in `work`: the phases of U's diagonal, and -1 for each exchange of rows. */
static double complex phase_of_factors(const slater *s)
{
    double complex phase = 1;
    for (int64_t i = 0; i < s->n; i++) {
        const double *u = row_of(s, s->work, i) + numbers(s, i);
        const double complex z = s->is_complex ? u[0] + I * u[1] : u[0];
        phase *= z / cabs(z);
        if (s->pivot_rows[i] != i + 1) phase = -phase;
    }
    return phase;
}

/* The factors L and U of A are left in `work`. */
int slater_determinant(slater *s, const double *values, double *ln_square)
{
    const lapack_int n = (lapack_int)s->n;
    lapack_complex_double *work = (lapack_complex_double *)s->work;
    load_transposed(s, values);
    lapack_int failed =
        s->is_complex ? LAPACKE_zgetrf_work(LAPACK_COL_MAJOR, n, n, work, n, s->pivot_rows)
                      : LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, s->work, n, s->pivot_rows);
    double sum = 0;
    for (int64_t i = 0; i < n && !failed; i++) {
        const double *u = row_of(s, s->work, i) + numbers(s, i);
        sum += s->is_complex ? log(u[0] * u[0] + u[1] * u[1]) : 2 * log(fabs(u[0]));
    }
    *ln_square = sum;
    if (failed || !isfinite(sum)) return 0;
    s->phase = phase_of_factors(s);
    return 1;
}

/* Largest difference of the new inverse, in `work`, to the old one; INFINITY if that has what is not a
 * number. */
static double drift_of(const slater *s)
{
    const size_t count = numbers(s, s->n * s->n);
    double largest = 0, difference = 0;
    for (size_t i = 0; i < count; i++) {
        const double d = fabs(s->inverse[i] - s->work[i]);
        if (!(d <= difference)) difference = isnan(d) ? INFINITY : d; /* which stays */
        largest = fmax(largest, fabs(s->work[i]));
    }
    return difference / largest;
}

/* The inverse from the factors in `work`. LAPACK is given its memory: what it fails to get by itself
 * would look like a matrix without an inverse. */
static int invert_factors(slater *s)
{
    const lapack_int n = (lapack_int)s->n, size = (lapack_int)s->inverting;
    const size_t count = numbers(s, s->n * s->n);
    for (size_t i = 0; i < count; i++)
        if (isnan(s->work[i])) return 0;
    if (s->is_complex)
        return !LAPACKE_zgetri_work(LAPACK_COL_MAJOR, n, (lapack_complex_double *)s->work, n,
                                    s->pivot_rows, (lapack_complex_double *)s->inverting_work,
                                    size);
    return !LAPACKE_dgetri_work(LAPACK_COL_MAJOR, n, s->work, n, s->pivot_rows, s->inverting_work,
                                size);
}

int slater_invert(slater *s, const double *values, double *drift)
{
    double ln_square;
    if (s->sum) return spin_table_invert(s, values, drift);
    if (!slater_determinant(s, values, &ln_square) || !invert_factors(s)) return 0;
    if (drift) *drift = drift_of(s);
    memcpy(s->inverse, s->work, numbers(s, s->n * s->n) * sizeof *s->work);
    s->ln_square = ln_square;
    s->size = s->accepted = 0;
    return 1;
}

int slater_settle(slater spin[2])
{
    return spin[0].sum || spin[1].sum ? spin_table_settle(spin) : 1;
}

void slater_copy(const slater *from, slater *to)
{
    if (from->sum) {
        spin_table_copy(from, to);
        return;
    }
    memcpy(to->inverse, from->inverse, numbers(from, from->n * from->n) * sizeof *to->inverse);
    to->ln_square = from->ln_square;
}

/* ---- Moves ----------------------------------------------------------------------------------- */

double complex slater_dot(const slater *s, const double *row, const double *values)
{
    const int n = (int)slater_length(s);
    double complex sum;
    if (!s->is_complex) return cblas_ddot(n, values, 1, row, 1);
    cblas_zdotu_sub(n, values, 1, row, 1, &sum);
    return sum;
}

void slater_rows(slater *s)
{
    if (s->sum) spin_table_rows(s->sum);
}

double complex slater_product(const slater *s, int64_t e, const double *values)
{
    const double *rows = s->sum ? spin_table_rows(s->sum) : s->inverse;
    return slater_dot(s, rows + numbers(s, e * slater_length(s)), values);
}

void slater_begin(slater *s, int64_t first, int64_t size)
{
    if (s->sum) {
        spin_table_begin(s, first, size);
        return;
    }
    s->first = first;
    s->size = size;
    s->accepted = 0;
}

/* Without imaginary parts where there are none: to the same bits, and faster. */
static inline double complex product_of(int is_complex, double complex a, double complex b)
{
    return is_complex ? a * b : creal(a) * creal(b);
}

static inline double complex quotient_of(int is_complex, double complex a, double complex b)
{
    return is_complex ? a / b : creal(a) / creal(b);
}

/* Row e of G is left in `row`, eliminated. Columns before e are needed only where a move was
 * accepted. */
double complex slater_ratio(slater *s, int64_t e, const double *values)
{
    if (s->sum) return spin_table_ratio(s, e, values);
    const int64_t here = e - s->first;
    double complex *raw = s->raw + s->accepted * s->capacity; /* kept if accepted */
    for (int64_t j = 0; j < s->size; j++) raw[j] = slater_product(s, s->first + j, values);
    memcpy(s->row, raw, (size_t)s->size * sizeof *raw);
    for (int64_t i = 0; i < s->accepted; i++) {
        const double complex *pivot = s->pivots + i * s->capacity;
        const int64_t column = s->chosen[i];
        const double complex factor = quotient_of(s->is_complex, s->row[column], pivot[column]);
        for (int64_t j = column + 1; j < s->size; j++)
            s->row[j] -= product_of(s->is_complex, factor, pivot[j]);
    }
    return s->row[here];
}

void slater_accept(slater *s, int64_t e, const double *values)
{
    if (s->sum) {
        spin_table_accept(s, e, values);
        return;
    }
    const int64_t here = e - s->first, i = s->accepted++;
    const double complex q = s->row[here];
    s->chosen[i] = here;
    memcpy(s->pivots + i * s->capacity, s->row, (size_t)s->size * sizeof *s->row);
    memcpy(s->taken + numbers(s, i * s->n), values, numbers(s, s->n) * sizeof *values);
    s->ln_square += log(creal(q) * creal(q) + cimag(q) * cimag(q));
}

/* The rows in `pivots` are a triangular matrix in the columns of those accepted, and what belongs to e in its own:
 * X[.][e] by substitution from the last one on. */
const double *slater_row(slater *s, int64_t e)
{
    if (s->sum) return spin_table_row(s, e);
    const int n = (int)s->n;
    const int64_t here = e - s->first;
    double complex *x = s->small;
    if (s->accepted == 0) return row_of(s, s->inverse, e);
    memcpy(s->changed_row, row_of(s, s->inverse, e), numbers(s, n) * sizeof *s->changed_row);
    for (int64_t i = s->accepted - 1; i >= 0; i--) {
        const double complex *pivot = s->pivots + i * s->capacity;
        x[i] = pivot[here];
        for (int64_t j = i + 1; j < s->accepted; j++)
            x[i] -= product_of(s->is_complex, pivot[s->chosen[j]], x[j]);
        x[i] = quotient_of(s->is_complex, x[i], pivot[s->chosen[i]]);
        const double *row = row_of(s, s->inverse, s->first + s->chosen[i]);
        const double complex factor = -x[i];
        if (s->is_complex)
            cblas_zaxpy(n, &factor, row, 1, s->changed_row, 1);
        else
            cblas_daxpy(n, creal(factor), row, 1, s->changed_row, 1);
    }
    return s->changed_row;
}

/* ---- The end of a block ---------------------------------------------------------------------- */

static inline double size_of(int is_complex, double complex a)
{
    return is_complex ? cabs(a) : fabs(creal(a));
}

/* The inverse of k x k numbers in place, by Gauss and Jordan with the largest pivot of each column. `is_complex` is a
 * constant after inlining. */
static inline __attribute__((always_inline)) void invert_small(int is_complex, double complex *a,
                                                               double complex *inverse, int64_t k)
{
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++) inverse[i * k + j] = i == j;
    for (int64_t c = 0; c < k; c++) {
        int64_t best = c;
        for (int64_t i = c + 1; i < k; i++)
            if (size_of(is_complex, a[i * k + c]) > size_of(is_complex, a[best * k + c])) best = i;
        for (int64_t j = 0; j < k && best != c; j++) {
            double complex x = a[c * k + j], y = inverse[c * k + j];
            a[c * k + j] = a[best * k + j];
            a[best * k + j] = x;
            inverse[c * k + j] = inverse[best * k + j];
            inverse[best * k + j] = y;
        }
        const double complex over = quotient_of(is_complex, 1, a[c * k + c]);
        for (int64_t j = 0; j < k; j++) {
            a[c * k + j] = product_of(is_complex, a[c * k + j], over);
            inverse[c * k + j] = product_of(is_complex, inverse[c * k + j], over);
        }
        for (int64_t i = 0; i < k; i++) {
            const double complex factor = a[i * k + c];
            if (i == c || factor == 0) continue;
            for (int64_t j = 0; j < k; j++) {
                a[i * k + j] -= product_of(is_complex, factor, a[c * k + j]);
                inverse[i * k + j] -= product_of(is_complex, factor, inverse[c * k + j]);
            }
        }
    }
}

/* G[C][C]^-1, real or complex as the matrices are, [k][k]. */
static const double *inverse_of_chosen(slater *s)
{
    const int64_t k = s->accepted;
    double complex *g = s->small, *inverse = s->small + s->capacity * s->capacity;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++) g[i * k + j] = s->raw[i * s->capacity + s->chosen[j]];
    if (s->is_complex) {
        invert_small(1, g, inverse, k);
        return (const double *)inverse;
    }
    invert_small(0, g, inverse, k);
    double *out = (double *)s->small;
    for (int64_t i = 0; i < k * k; i++) out[i] = creal(inverse[i]);
    return out;
}

/* c [rows][n] = a b + keep c, rows first, a and b transposed as said. */
static void multiply(const slater *s, int a_transposed, int b_transposed, int64_t rows,
                     int64_t inner, double scale, const double *a, const double *b, double keep,
                     double *c)
{
    const int m = (int)rows, n = (int)s->n, k = (int)inner, lda = a_transposed ? m : k,
              ldb = b_transposed ? k : n;
    const enum CBLAS_TRANSPOSE ta = a_transposed ? CblasTrans : CblasNoTrans,
                               tb = b_transposed ? CblasTrans : CblasNoTrans;
    const double complex z_scale = scale, z_keep = keep;
    if (s->is_complex)
        cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, &z_scale, a, lda, b, ldb, &z_keep, c, n);
    else
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, scale, a, lda, b, ldb, keep, c, n);
}

void slater_end(slater *s)
{
    if (s->sum) {
        spin_table_end(s);
        return;
    }
    const int64_t n = s->n, k = s->accepted;
    double *products = s->products, *solved = s->products + numbers(s, s->capacity * n);
    s->size = s->accepted = 0;
    if (!k) return;
    s->accepted = k;
    const double *inverse = inverse_of_chosen(s);
    s->accepted = 0;
    multiply(s, 0, 1, k, n, 1, s->taken, s->inverse, 0, products);
    for (int64_t i = 0; i < k; i++) {
        const int64_t e = s->first + s->chosen[i];
        products[numbers(s, i * n + e)] -= 1;
        memcpy(s->old_rows + numbers(s, i * n), row_of(s, s->inverse, e),
               numbers(s, n) * sizeof *s->old_rows);
    }
    multiply(s, 0, 0, k, k, 1, inverse, products, 0, solved);
    multiply(s, 1, 0, n, k, -1, solved, s->old_rows, 1, s->inverse);
}
