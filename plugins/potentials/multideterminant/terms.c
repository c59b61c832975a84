/* Lists of terms, whoever has read them: which determinants they share. */
#define _GNU_SOURCE /* qsort_r */
#include "terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../determinants/complex_numbers.h"

static int no_memory(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the terms");
}

int term_list_make(term_list *list, const plugmc_host *host, int64_t terms,
                   const int64_t electrons[2])
{
    *list = (term_list){.terms = terms, .electrons = {electrons[0], electrons[1]}};
    const size_t n = (size_t)terms;
    list->coefficients = host->allocate(host->context, 3 * n * sizeof *list->coefficients);
    list->sign = list->coefficients + n;
    list->imaginary = list->sign + n;
    int good = list->coefficients != NULL;
    for (int spin = 0; spin < 2; spin++) {
        const size_t count = n * (size_t)electrons[spin] + 1;
        list->occupied[spin] = host->allocate(host->context, count * sizeof(int32_t));
        good &= list->occupied[spin] != NULL;
    }
    for (size_t k = 0; k < n && good; k++) list->sign[k] = 1;
    return good ? PLUGMC_OK : no_memory(host);
}

static void swap_bytes(void *a, void *b, size_t bytes)
{
    char *x = a, *y = b;
    for (size_t i = 0; i < bytes; i++) {
        const char kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

static double magnitude(const term_list *list, int64_t k)
{
    return hypot(list->coefficients[k], list->imaginary[k]);
}

/* A phase that all coefficients have is lost. */
static void divide_by_first(term_list *list)
{
    const double complex first = CMPLX(list->coefficients[0], list->imaginary[0]);
    for (int64_t k = list->terms - 1; k >= 0; k--) {
        if (cimag(first) == 0 && list->imaginary[k] == 0) {
            list->coefficients[k] /= creal(first);
            continue;
        }
        const double complex c = CMPLX(list->coefficients[k], list->imaginary[k]) / first;
        list->coefficients[k] = creal(c);
        list->imaginary[k] = k ? cimag(c) : 0;
        list->is_complex |= fabs(list->imaginary[k]) > 1e-12;
    }
    if (!list->is_complex) memset(list->imaginary, 0, (size_t)list->terms * sizeof(double));
}

int term_list_put_largest_first(term_list *list, const plugmc_host *host, const char *what)
{
    int64_t largest = 0;
    for (int64_t k = 1; k < list->terms; k++)
        if (magnitude(list, k) > magnitude(list, largest)) largest = k;
    if (list->terms == 0 || magnitude(list, largest) == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s: there is no term with a coefficient other than 0", what);
    for (int64_t k = largest; k > 0; k--) {
        swap_bytes(&list->coefficients[k], &list->coefficients[k - 1], sizeof(double));
        swap_bytes(&list->imaginary[k], &list->imaginary[k - 1], sizeof(double));
        swap_bytes(&list->sign[k], &list->sign[k - 1], sizeof(double));
        for (int spin = 0; spin < 2; spin++) {
            const int64_t n = list->electrons[spin];
            swap_bytes(list->occupied[spin] + k * n, list->occupied[spin] + (k - 1) * n,
                       (size_t)n * sizeof(int32_t));
        }
    }
    divide_by_first(list);
    return PLUGMC_OK;
}

/* ---- Different determinants ---------------------------------------------------------------------- */

typedef struct rows {
    const int32_t *rows; /* [.][count] */
    int64_t count;
} rows;

/* Rows of integers, equal ones in the order of their numbers. */
static int compare_rows(const void *a, const void *b, void *data)
{
    const rows *r = data;
    const int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    for (int64_t k = 0; k < r->count; k++) {
        const int32_t x = r->rows[i * r->count + k], y = r->rows[j * r->count + k];
        if (x != y) return x < y ? -1 : 1;
    }
    return i < j ? -1 : i > j;
}

static int same_rows(const rows *r, int64_t i, int64_t j)
{
    return !memcmp(r->rows + i * r->count, r->rows + j * r->count,
                   (size_t)r->count * sizeof(int32_t));
}

/* first [terms]: the first term with the same row; order [terms] is work. */
static void find_first(const rows *r, int64_t terms, int64_t *order, int64_t *first)
{
    for (int64_t k = 0; k < terms; k++) order[k] = k;
    qsort_r(order, (size_t)terms, sizeof *order, compare_rows, (void *)r);
    for (int64_t k = 0; k < terms; k++)
        first[order[k]] =
            k && same_rows(r, order[k], order[k - 1]) ? first[order[k - 1]] : order[k];
}

/* Orbitals in which two ascending rows differ. */
static int32_t degree_between(const int32_t *a, const int32_t *b, int64_t n)
{
    int64_t i = 0, j = 0, same = 0;
    while (i < n && j < n) {
        same += a[i] == b[j];
        if (a[i] == b[j])
            i++, j++;
        else if (a[i] < b[j])
            i++;
        else
            j++;
    }
    return (int32_t)(n - same);
}

static int too_far(const term_list *list, const plugmc_host *host, const char *what, int spin,
                   int64_t term, int32_t degree)
{
    (void)list;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s: term %lld occupies %d orbitals of spin %s that term 1 does not, but %d "
                      "is the most that are supported",
                      what, (long long)term + 1, degree, spin ? "down" : "up",
                      EXPANSION_MOST_DEGREE / 2);
}

/* Places of orbitals among those that occur, and these: place [MOST_ORBITALS], -1 where one does not. */
static int32_t find_columns(const term_list *list, int spin, int32_t *place, int32_t *column)
{
    int32_t count = 0;
    for (int32_t o = 0; o < MOST_ORBITALS; o++) place[o] = -1;
    for (int64_t i = 0; i < list->terms * list->electrons[spin]; i++)
        place[list->occupied[spin][i]] = 0;
    for (int32_t o = 0; o < MOST_ORBITALS; o++)
        if (place[o] == 0) {
            place[o] = count;
            column[count++] = o;
        }
    return count;
}

/* One spin. first and order [terms] are work. */
static int make_spin(const term_list *list, const plugmc_host *host, const char *what, int spin,
                     int64_t *first, int64_t *order, expansion *out)
{
    const rows r = {list->occupied[spin], list->electrons[spin]};
    const size_t terms = (size_t)list->terms, n = (size_t)r.count;
    expansion_spin *set = &out->spin[spin];
    static const size_t MOST = MOST_ORBITALS;
    int32_t *of = host->allocate(host->context, terms * sizeof *of),
            *occupied = host->allocate(host->context, (terms * n + 1) * sizeof *occupied),
            *column = host->allocate(host->context, MOST * sizeof *column),
            *place = host->allocate(host->context, MOST * sizeof *place), count = 0, most = 0;
    if (!of || !occupied || !column || !place) return no_memory(host);
    set->orbitals = find_columns(list, spin, place, column);
    find_first(&r, list->terms, order, first);
    for (int64_t k = 0; k < list->terms; k++) {
        if (first[k] != k) {
            of[k] = of[first[k]];
            continue;
        }
        const int32_t degree = degree_between(r.rows, r.rows + k * r.count, r.count);
        if (degree > EXPANSION_MOST_DEGREE / 2) return too_far(list, host, what, spin, k, degree);
        if (degree > most) most = degree;
        for (size_t i = 0; i < n; i++)
            occupied[(size_t)count * n + i] = place[r.rows[(size_t)k * n + i]];
        of[k] = count++;
    }
    set->electrons = (int32_t)r.count;
    set->determinants = count;
    set->degree = 2 * most < set->electrons ? 2 * most : set->electrons;
    if (set->orbitals - set->electrons < set->degree) set->degree = set->orbitals - set->electrons;
    set->column = column;
    set->occupied = occupied;
    out->of[spin] = of;
    return PLUGMC_OK;
}

/* Two terms that are the same are one whose coefficient is their sum: more likely somebody has made a mistake. */
static int check_pairs(const term_list *list, const plugmc_host *host, const char *what,
                       const expansion *e, int64_t *first, int64_t *order)
{
    int32_t *pairs = malloc(2 * (size_t)list->terms * sizeof *pairs);
    if (!pairs) return no_memory(host);
    for (int64_t k = 0; k < list->terms; k++)
        for (int spin = 0; spin < 2; spin++) pairs[2 * k + spin] = e->of[spin][k];
    const rows r = {pairs, 2};
    int code = PLUGMC_OK;
    find_first(&r, list->terms, order, first);
    for (int64_t k = 0; k < list->terms && !code; k++)
        if (first[k] != k)
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%s: terms %lld and %lld have the same determinants", what,
                              (long long)first[k] + 1, (long long)k + 1);
    free(pairs);
    return code;
}

int terms_to_expansion(const term_list *list, const plugmc_host *host, const char *what,
                       double *coefficients, expansion *out)
{
    int64_t *first = malloc(2 * (size_t)list->terms * sizeof *first), *order = first + list->terms;
    int code = first ? PLUGMC_OK : no_memory(host);
    *out = (expansion){.terms = list->terms,
                       .coefficients = coefficients,
                       .imaginary = list->is_complex ? list->imaginary : NULL};
    for (int spin = 0; spin < 2 && !code; spin++)
        code = make_spin(list, host, what, spin, first, order, out);
    if (!code) code = check_pairs(list, host, what, out, first, order);
    free(first);
    return code;
}

/* ---- Words ------------------------------------------------------------------------------------------ */

static int bad_word(const plugmc_host *host, const char *word, const char *why)
{
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "excitations: '%.*s' %s; a word is like 2>3/2>3,1>4, substitutions of "
                      "orbitals of spin up, then of spin down, - for none",
                      (int)strcspn(word, " \t"), word, why);
}

/* "2>3" of *at, which moves behind it; numbers from 1. */
static int read_substitution(const char **at, long *from, long *to)
{
    char *end;
    *from = strtol(*at, &end, 10);
    if (end == *at || *end != '>') return 0;
    const char *second = end + 1;
    *to = strtol(second, &end, 10);
    if (end == second) return 0;
    *at = end;
    return 1;
}

/* Sorts n numbers; the sign of the order that they had. */
static double sort_with_sign(int32_t *numbers, int64_t n)
{
    double sign = 1;
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = i; j > 0 && numbers[j - 1] > numbers[j]; j--) {
            const int32_t kept = numbers[j];
            numbers[j] = numbers[j - 1];
            numbers[j - 1] = kept;
            sign = -sign;
        }
    return sign;
}

/* The half of a word that is for one spin; `row` [n] is the first determinant. */
static int read_half(const plugmc_host *host, const char *word, const char **at, char last,
                     int64_t n, int32_t *row)
{
    if (**at == '-')
        ++*at;
    else
        for (;; ++*at) {
            long from, to;
            if (!read_substitution(at, &from, &to))
                return bad_word(host, word, "is no pair of such lists");
            if (from < 1 || from > n)
                return bad_word(host, word,
                                "replaces an orbital that the first term does not have");
            if (to <= n || to > MOST_ORBITALS)
                return bad_word(host, word,
                                "uses an orbital that the first term has already, or "
                                "one beyond the largest number");
            if (row[from - 1] != from - 1) return bad_word(host, word, "replaces an orbital twice");
            for (int64_t i = 0; i < n; i++)
                if (row[i] == to - 1) return bad_word(host, word, "uses an orbital twice");
            row[from - 1] = (int32_t)(to - 1);
            if (**at != ',') break;
        }
    const int ended = last ? **at == last : **at == 0 || **at == ' ' || **at == '\t';
    return ended ? PLUGMC_OK : bad_word(host, word, "is no pair of such lists");
}

int terms_read_words(term_list *list, const plugmc_host *host, const char *words,
                     const int64_t electrons[2])
{
    int64_t count = 1;
    for (const char *w = words + strspn(words, " \t"); *w; w += strspn(w, " \t")) {
        w += strcspn(w, " \t");
        count++;
    }
    if (count > MOST_TERMS)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "excitations: there are more than %d terms", MOST_TERMS);
    int code = term_list_make(list, host, count, electrons);
    for (int64_t k = 0; k < count && !code; k++)
        for (int spin = 0; spin < 2; spin++)
            for (int64_t i = 0; i < electrons[spin]; i++)
                list->occupied[spin][k * electrons[spin] + i] = (int32_t)i;
    const char *w = words + strspn(words, " \t");
    for (int64_t k = 1; k < count && !code; k++, w += strspn(w, " \t")) {
        const char *word = w;
        int32_t *up = list->occupied[0] + k * electrons[0],
                *down = list->occupied[1] + k * electrons[1];
        code = read_half(host, word, &w, '/', electrons[0], up);
        if (!code) {
            w++;
            code = read_half(host, word, &w, 0, electrons[1], down);
        }
        if (!code)
            list->sign[k] = sort_with_sign(up, electrons[0]) * sort_with_sign(down, electrons[1]);
    }
    if (list->terms > 0 && !code) list->coefficients[0] = 1;
    return code;
}
