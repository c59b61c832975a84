/* Determinants of an expansion; spin_table.h has the formulas. */
#include "spin_table.h"

#include <math.h>
#include <string.h>

#include "complex_numbers.h"

#define NUMBER_OF(x) ((NUMBER)(x))
#define NUMBER double
#define MAGNITUDE(a) fabs(a)
#define NAMED(f) f##_real
#include "minors.h"
#include "minors_of_all.h"
#undef NUMBER
#undef MAGNITUDE
#undef NAMED
#define NUMBER double complex
#define MAGNITUDE(a) cabs(a)
#define NAMED(f) f##_complex
#include "minors.h"
#include "minors_of_all.h"
#undef NUMBER
#undef MAGNITUDE
#undef NAMED

#define Z(pointer) ((double complex *)(pointer))
#define CZ(pointer) ((const double complex *)(pointer))

/* A minor beyond this makes its determinant the reference. Rounding errors of M and T grow as a reference becomes small
 * and large again: after 500 moves to random orbitals ratios are wrong by 2e-12 with 100, by 4e-9 with 1000. */
static const double LARGEST_MINOR = 100;

static size_t numbers(const spin_table *t, int64_t count)
{
    return (size_t)(t->is_complex ? 2 * count : count);
}

static double complex number_at(const spin_table *t, const double *from, int64_t i)
{
    return t->is_complex ? CZ(from)[i] : from[i];
}

static void put_number(const spin_table *t, double *to, int64_t i, double complex value)
{
    if (t->is_complex)
        Z(to)[i] = value;
    else
        to[i] = creal(value);
}

static void copy_number(const spin_table *t, double *to, int64_t i, const double *from, int64_t j)
{
    if (t->is_complex)
        Z(to)[i] = CZ(from)[j];
    else
        to[i] = from[j];
}

/* ---- Memory ------------------------------------------------------------------------------------ */

/* Takes `count` elements off the memory at *next, or only counts if that is NULL. */
static void *take(char **next, size_t *bytes, size_t count, size_t size)
{
    void *here = *next;
    const size_t wanted = (count * size + 15) / 16 * 16;
    *bytes += wanted;
    if (*next) *next += wanted;
    return here;
}

static size_t place_table(spin_table *t, char *memory, int64_t block)
{
    size_t bytes = 0;
    char *next = memory;
    const size_t n = (size_t)t->n, m = (size_t)t->m, orbitals = n + m,
                 count = (size_t)t->set->determinants, number = t->is_complex ? 16 : 8;
    t->lists.determinants = t->set->determinants;
    t->lists.stride = t->set->degree > 0 ? t->set->degree : 1;
    t->values = take(&next, &bytes, n * orbitals, number);
    t->table = take(&next, &bytes, n * m, number);
    t->minors = take(&next, &bytes, 2 * count, number); /* the second half: those before */
    t->weights = take(&next, &bytes, count, number);
    t->slopes = take(&next, &bytes, n * m, number);
    t->work.x = take(&next, &bytes, n, number);
    t->work.y = take(&next, &bytes, m, number);
    t->work.here = take(&next, &bytes, orbitals, number);
    t->work.square = take(&next, &bytes, n * n, number);
    t->work.rest = take(&next, &bytes, n * m, number);
    t->work.row = take(&next, &bytes, (size_t)t->length, number);
    t->work.rows = take(&next, &bytes, n * (size_t)t->length, number);
    t->order = take(&next, &bytes, 2 * orbitals, sizeof *t->order);
    t->lists.degree = take(&next, &bytes, count, sizeof *t->lists.degree);
    t->lists.sign = take(&next, &bytes, count, sizeof *t->lists.sign);
    t->lists.places =
        take(&next, &bytes, 2 * count * (size_t)t->lists.stride, sizeof *t->lists.places);
    if (n && memory) slater_prepare(&t->reference, next, t->n, t->n, t->is_complex, block);
    if (n) bytes = (bytes + 63) / 64 * 64 + slater_bytes(t->n, t->is_complex, block) + 64;
    return (bytes + 63) / 64 * 64;
}

static spin_table table_of(const expansion *e, int spin, int64_t pitch, int is_complex)
{
    const expansion_spin *set = &e->spin[spin];
    return (spin_table){.whole = e,
                        .set = set,
                        .spin = spin,
                        .is_complex = is_complex,
                        .n = set->electrons,
                        .m = set->orbitals - set->electrons,
                        .pitch = pitch,
                        .length = set->orbitals ? set->column[set->orbitals - 1] + 1 : 0,
                        .chosen = -1,
                        .work.row_of = -1,
                        .version = 1};
}

enum { TABLE_BYTES = (sizeof(spin_table) + 63) / 64 * 64 };

size_t spin_tables_bytes(const expansion *e, int64_t pitch, int is_complex, int64_t block)
{
    size_t bytes = 0;
    for (int spin = 0; spin < 2; spin++) {
        spin_table t = table_of(e, spin, pitch, is_complex);
        bytes += TABLE_BYTES + place_table(&t, NULL, block);
    }
    return bytes;
}

void spin_tables_prepare(slater spin[2], void *memory, const expansion *e, int64_t pitch,
                         int is_complex, int64_t block)
{
    char *next = memory;
    for (int s = 0; s < 2; s++) {
        spin_table *t = (spin_table *)next;
        *t = table_of(e, s, pitch, is_complex);
        next += TABLE_BYTES;
        const size_t bytes = place_table(t, next, block);
        memset(t->work.row, 0, numbers(t, t->length) * sizeof *t->work.row);
        memset(t->work.rows, 0, numbers(t, t->n * t->length) * sizeof *t->work.rows);
        next += bytes;
        spin[s] = (slater){.n = t->n, .pitch = pitch, .is_complex = is_complex, .sum = t};
        if (t->n == 0) put_number(t, t->minors, 0, 1);
    }
    spin[0].sum->other = spin[1].sum;
    spin[1].sum->other = spin[0].sum;
}

/* ---- Another reference ------------------------------------------------------------------------- */

/* The orbitals of determinant u, then the others. */
static void order_by(const spin_table *t, int32_t u, int32_t *order)
{
    const int32_t *occupied = t->set->occupied + (int64_t)u * t->n;
    int64_t next = 0;
    memcpy(order, occupied, (size_t)t->n * sizeof *order);
    order += t->n;
    for (int32_t o = 0; o < t->set->orbitals; o++) {
        if (next < t->n && occupied[next] == o)
            next++;
        else
            *order++ = o;
    }
}

/* Determinant u from reference r: both ascending lists are gone through together. */
static void list_one(spin_table *t, const int32_t *r, int32_t u)
{
    const int32_t *of_u = t->set->occupied + (int64_t)u * t->n;
    int32_t *rows = t->lists.places + 2 * (int64_t)u * t->lists.stride,
            *columns = rows + t->lists.stride, gone = 0, come = 0, parity = 0;
    int64_t i = 0, j = 0;
    while (i < t->n || j < t->n) {
        if (j == t->n || (i < t->n && r[i] < of_u[j])) {
            parity += (int32_t)i;
            rows[gone++] = (int32_t)i++;
        } else if (i == t->n || of_u[j] < r[i]) {
            parity += (int32_t)j;
            /* orbitals below that are no others: i of the reference */
            columns[come++] = of_u[j] - (int32_t)i;
            j++;
        } else {
            i++, j++;
        }
    }
    t->lists.degree[u] = gone;
    t->lists.sign[u] = parity % 2 ? -1 : 1;
}

static void list_all(spin_table *t, int32_t u)
{
    const int32_t *reference = t->set->occupied + (int64_t)u * t->n;
    for (int32_t k = 0; k < t->set->determinants; k++) list_one(t, reference, k);
}

static void find_minors(spin_table *t)
{
    if (t->is_complex)
        all_minors_complex(&t->lists, t->m, CZ(t->table), Z(t->minors));
    else
        all_minors_real(&t->lists, t->m, t->table, t->minors);
    t->version++;
    t->slopes_known = t->work.rows_known = 0;
    t->work.row_of = -1;
}

/* Orbitals `order` of all electrons, from `from` on, [n][count] to `to`. */
static void gather_columns(const spin_table *t, const int32_t *order, int64_t count, double *to)
{
    for (int64_t e = 0; e < t->n; e++)
        for (int64_t i = 0; i < count; i++)
            copy_number(t, to, e * count + i, t->values, e * t->set->orbitals + order[i]);
}

/* M, T and all minors with determinant u as the reference; 0 if that is singular, with all left as it was. */
static int refer_to(spin_table *t, int32_t u, double *drift)
{
    int32_t *order = t->order + t->set->orbitals; /* work */
    order_by(t, u, order);
    gather_columns(t, order, t->n, t->work.square);
    if (!slater_invert(&t->reference, t->work.square, drift)) return 0;
    memcpy(t->order, order, (size_t)t->set->orbitals * sizeof *order);
    if (t->chosen != u) list_all(t, u);
    t->chosen = u;
    gather_columns(t, t->order + t->n, t->m, t->work.rest);
    if (t->is_complex)
        make_complex(t->n, t->m, CZ(t->reference.inverse), CZ(t->work.rest), Z(t->table));
    else
        make_real(t->n, t->m, t->reference.inverse, t->work.rest, t->table);
    find_minors(t);
    return 1;
}

/* The largest of all minors and whose it is; INFINITY where one is no number. */
static double largest_minor(const spin_table *t, int32_t *which)
{
    double largest = 0;
    *which = 0;
    for (int32_t u = 0; u < t->set->determinants; u++) {
        const double size = cabs(number_at(t, t->minors, u));
        if (!isfinite(size)) return INFINITY;
        if (size <= largest) continue;
        largest = size;
        *which = u;
    }
    return largest;
}

/* The largest determinant of all, each found by itself; 0 if all are singular. */
static int refer_to_largest(spin_table *t)
{
    int32_t best = -1;
    double largest = -INFINITY;
    for (int32_t u = 0; u < t->set->determinants; u++) {
        double ln_square;
        order_by(t, u, t->order + t->set->orbitals);
        gather_columns(t, t->order + t->set->orbitals, t->n, t->work.square);
        if (!slater_determinant(&t->reference, t->work.square, &ln_square) ||
            !(ln_square > largest))
            continue;
        largest = ln_square;
        best = u;
    }
    return best >= 0 && refer_to(t, best, NULL);
}

/* After the minors have changed: another reference, if one of them is far larger. */
static int keep_reference_large(spin_table *t)
{
    int32_t which;
    const double largest = largest_minor(t, &which);
    if (largest <= LARGEST_MINOR) return 1;
    return (isfinite(largest) && refer_to(t, which, NULL)) || refer_to_largest(t);
}

/* ---- From the beginning ------------------------------------------------------------------------ */

/* Largest difference of minors, before [determinants], over the largest of them. */
static double drift_of_minors(const spin_table *t, const double *before)
{
    double difference = 0, largest = 0;
    for (int32_t u = 0; u < t->set->determinants; u++) {
        const double complex now = number_at(t, t->minors, u);
        const double d = cabs(now - number_at(t, before, u));
        if (!(d <= difference)) difference = isnan(d) ? INFINITY : d;
        largest = fmax(largest, cabs(now));
    }
    return difference / largest;
}

int spin_table_invert(slater *s, const double *values, double *drift)
{
    spin_table *t = s->sum;
    const int64_t orbitals = t->set->orbitals;
    double *before = t->minors + numbers(t, t->set->determinants), of_inverse = 0;
    const int32_t reference = t->chosen;
    for (int64_t e = 0; e < t->n; e++)
        for (int64_t o = 0; o < orbitals; o++)
            copy_number(t, t->values, e * orbitals + o, values, e * t->pitch + t->set->column[o]);
    memcpy(before, t->minors, numbers(t, t->set->determinants) * sizeof *before);
    /* the first one, if it is no smaller than the others by far, so that nothing depends on what was before */
    const int good = refer_to(t, 0, &of_inverse) ? keep_reference_large(t) : refer_to_largest(t);
    if (!good) t->chosen = -1;
    if (drift) *drift = 0;
    if (drift && good && reference == t->chosen && reference == 0)
        *drift = fmax(of_inverse, drift_of_minors(t, before));
    t->seen = 0;
    return good;
}

/* ln of the square of S belongs to the first spin that has electrons, and so does its phase. */
int spin_table_settle(slater spin[2])
{
    const int first = spin[0].n > 0 ? 0 : 1;
    const double complex sum = spin_table_sum(spin[first].sum);
    for (int k = 0; k < 2; k++) {
        spin[k].ln_square = spin[k].n ? spin[k].sum->reference.ln_square : 0;
        spin[k].phase = spin[k].n ? spin[k].sum->reference.phase : 1;
    }
    spin[first].ln_square += 2 * log(cabs(sum));
    spin[first].phase *= sum / cabs(sum);
    return cabs(sum) > 0 && isfinite(spin[first].ln_square);
}

/* ---- The sum over determinants ------------------------------------------------------------------- */

static void find_weights(spin_table *t)
{
    const expansion *e = t->whole;
    const spin_table *other = t->other;
    const int32_t *own = e->of[t->spin], *others = e->of[1 - t->spin];
    memset(t->weights, 0, numbers(t, t->set->determinants) * sizeof *t->weights);
    for (int64_t k = 0; k < e->terms; k++) {
        if (!t->is_complex) {
            t->weights[own[k]] += e->coefficients[k] * other->minors[others[k]];
            continue;
        }
        const double complex minor = CZ(other->minors)[others[k]];
        double complex *weight = &Z(t->weights)[own[k]];
        *weight += e->imaginary ? CMPLX(e->coefficients[k], e->imaginary[k]) * minor
                                : e->coefficients[k] * minor;
    }
    t->seen = other->version;
}

double complex spin_table_sum(spin_table *t)
{
    const int stale = t->seen != t->other->version;
    if (!stale && t->slopes_known) return t->sum;
    if (stale) find_weights(t);
    t->sum = 0;
    for (int32_t u = 0; u < t->set->determinants; u++)
        t->sum += number_at(t, t->weights, u) * number_at(t, t->minors, u);
    if (t->is_complex)
        all_slopes_complex(&t->lists, t->n, t->m, CZ(t->table), CZ(t->weights), Z(t->slopes));
    else
        all_slopes_real(&t->lists, t->n, t->m, t->table, t->weights, t->slopes);
    t->slopes_known = 1;
    t->work.rows_known = 0;
    t->work.row_of = -1;
    return t->sum;
}

/* The row of electron e to `to` [length]; x is left in t->work.x. */
static void find_row(spin_table *t, int64_t e, double *to)
{
    const double complex over = 1 / spin_table_sum(t);
    double *a = t->work.here, *b = t->work.here + numbers(t, t->n);
    memcpy(t->work.x, slater_row(&t->reference, e), numbers(t, t->n) * sizeof *t->work.x);
    if (t->is_complex)
        row_complex(t->n, t->m, CZ(t->table), CZ(t->slopes), CZ(t->work.x), over, Z(a), Z(b));
    else
        row_real(t->n, t->m, t->table, t->slopes, t->work.x, creal(over), a, b);
    for (int64_t o = 0; o < t->set->orbitals; o++)
        copy_number(t, to, t->set->column[t->order[o]], t->work.here, o);
}

const double *spin_table_row(slater *s, int64_t e)
{
    spin_table *t = s->sum;
    spin_table_sum(t);
    if (t->work.row_of != e) find_row(t, e, t->work.row);
    t->work.row_of = e;
    return t->work.row;
}

const double *spin_table_rows(spin_table *t)
{
    spin_table_sum(t);
    if (t->work.rows_known) return t->work.rows;
    for (int64_t e = 0; e < t->n; e++) find_row(t, e, t->work.rows + numbers(t, e * t->length));
    t->work.row_of = -1; /* t->work.x is of another electron */
    t->work.rows_known = 1;
    return t->work.rows;
}

/* ---- Moves ----------------------------------------------------------------------------------------- */

void spin_table_begin(slater *s, int64_t first, int64_t size)
{
    slater_begin(&s->sum->reference, first, size);
    s->sum->work.row_of = -1;
}

double complex spin_table_ratio(slater *s, int64_t e, const double *values)
{
    return s->sum->ratio = slater_dot(s, spin_table_row(s, e), values);
}

/* Orbitals of a row of values in the order of the reference, to t->work.here, and of set->column, to row e of t->values. */
static void take_orbitals(spin_table *t, int64_t e, const double *values)
{
    const int64_t orbitals = t->set->orbitals;
    for (int64_t o = 0; o < orbitals; o++) {
        copy_number(t, t->work.here, o, values, t->set->column[t->order[o]]);
        copy_number(t, t->values, e * orbitals + o, values, t->set->column[o]);
    }
}

void spin_table_accept(slater *s, int64_t e, const double *values)
{
    spin_table *t = s->sum;
    slater *reference = &t->reference;
    const double complex ratio = t->ratio;
    const double *others = t->work.here + numbers(t, t->n);
    spin_table_row(s, e); /* whose x there is */
    take_orbitals(t, e, values);
    const double complex q = slater_ratio(reference, e, t->work.here);
    if (t->is_complex) {
        remainder_complex(t->n, t->m, CZ(t->table), CZ(t->work.here), CZ(others), Z(t->work.y));
        update_complex(t->n, t->m, CZ(t->work.x), CZ(t->work.y), q, Z(t->table));
    } else {
        remainder_real(t->n, t->m, t->table, t->work.here, others, t->work.y);
        update_real(t->n, t->m, t->work.x, t->work.y, creal(q), t->table);
    }
    slater_accept(reference, e, t->work.here);
    s->ln_square += log(creal(ratio) * creal(ratio) + cimag(ratio) * cimag(ratio));
    find_minors(t);
    const int32_t before = t->chosen;
    const int64_t first = reference->first, size = reference->size;
    if (!keep_reference_large(t))
        t->chosen = -1; /* Psi is 0 or not a number there, which its ratio has told */
    t->exchanges += t->chosen != before;
    if (reference->size != size)
        slater_begin(reference, first, size); /* its matrices were made anew */
}

void spin_table_end(slater *s)
{
    if (s->sum->chosen >= 0) slater_end(&s->sum->reference);
    s->sum->work.row_of = -1;
    s->sum->work.rows_known = 0;
}

void spin_table_copy(const slater *from, slater *to)
{
    const spin_table *a = from->sum;
    spin_table *b = to->sum;
    if (b->chosen != a->chosen && a->chosen >= 0) list_all(b, a->chosen);
    b->chosen = a->chosen;
    memcpy(b->order, a->order, (size_t)a->set->orbitals * sizeof *a->order);
    memcpy(b->values, a->values, numbers(a, a->n * a->set->orbitals) * sizeof *a->values);
    memcpy(b->table, a->table, numbers(a, a->n * a->m) * sizeof *a->table);
    memcpy(b->minors, a->minors, numbers(a, a->set->determinants) * sizeof *a->minors);
    if (a->n) slater_copy(&a->reference, &b->reference);
    b->version++;
    b->slopes_known = b->work.rows_known = 0;
    b->work.row_of = -1;
    to->ln_square = from->ln_square;
}

/* ---- Derivatives of each determinant --------------------------------------------------------------- */

/* With B the vectors' orbitals of the reference and C the others: tr(M^T B) d_u + sum_ia dd_u/dT[i][a] Z[i][a],
 * Z = M^T (C - B T). */
void spin_table_along(const spin_table *t, const double *vectors, double *work, double *out)
{
    const int64_t n = t->n, m = t->m;
    double *b = work, *z = work + numbers(t, n * t->set->orbitals);
    double complex trace = 0;
    for (int64_t e = 0; e < n; e++) {
        double *c = b + numbers(t, e * (n + m));
        for (int64_t o = 0; o < n + m; o++)
            copy_number(t, c, o, vectors, e * t->pitch + t->set->column[t->order[o]]);
        for (int64_t i = 0; i < n; i++)
            trace += number_at(t, t->reference.inverse, e * n + i) * number_at(t, c, i);
    }
    memset(z, 0, numbers(t, n * m) * sizeof *z);
    for (int64_t e = 0; e < n; e++) {
        const double *c = b + numbers(t, e * (n + m)), *others = c + numbers(t, n),
                     *inverse = t->reference.inverse + numbers(t, e * n);
        /* one electron after the other: Z += M[e] (C[e] - B[e] T) */
        if (t->is_complex) {
            remainder_complex(n, m, CZ(t->table), CZ(c), CZ(others), Z(t->work.y));
            update_complex(n, m, CZ(inverse), CZ(t->work.y), 1, Z(z));
        } else {
            remainder_real(n, m, t->table, c, others, t->work.y);
            update_real(n, m, inverse, t->work.y, 1, z);
        }
    }
    if (t->is_complex)
        all_along_complex(&t->lists, m, CZ(t->table), CZ(z), Z(out));
    else
        all_along_real(&t->lists, m, t->table, z, out);
    for (int32_t u = 0; u < t->set->determinants; u++)
        put_number(t, out, u, number_at(t, out, u) + trace * number_at(t, t->minors, u));
}
