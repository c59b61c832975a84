/* See device_sums.h. */
#include "device_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../join_texts.h"

PLUGMC_EMBED(sum_task_text, SUM_TASK_FILE);
PLUGMC_EMBED(sum_minors_text, SUM_MINORS_FILE);
PLUGMC_EMBED(sum_operators_text, SUM_OPERATORS_FILE);
PLUGMC_EMBED(sum_tables_text, SUM_TABLES_FILE);

static const char for_reals[] = "#define NUMBER double\n#define NUMBER_OF(x) ((double)(x))\n"
                                "#define MAGNITUDE(a) fabs(a)\n#define NAMED(f) f##_real\n",
                  for_complex[] =
                      "#undef NUMBER\n#undef NUMBER_OF\n#undef MAGNITUDE\n#undef NAMED\n"
                      "#define NUMBER vmc_complex\n#define NUMBER_OF(x) of((double)(x), 0, "
                      "vmc_complex())\n#define MAGNITUDE(a) sqrt(square_of(a))\n"
                      "#define NAMED(f) f##_complex\n";

char *device_sums_text(const plugmc_host *host, const char *own)
{
    return join_texts(host, (const char *const[]){sum_operators_text, sum_task_text, for_reals,
                                                  sum_minors_text, for_complex, sum_minors_text,
                                                  sum_tables_text, own, NULL});
}

/* ---- Memory ---------------------------------------------------------------------------------------- */

static int no_memory(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the determinants");
}

/* Device memory with these bytes in it; *place is where. */
static int put(const plugmc_host *host, const void *from, size_t bytes, const int32_t **place)
{
    device_pointer at;
    int code = host->gpu->allocate(host->context, bytes + 16, &at);
    if (!code && bytes) code = host->gpu->upload(host->context, at, from, bytes);
    *place = AT(at, const int32_t);
    return code;
}

/* Terms sorted by the determinant of a spin: counted, then filled in. */
static int sort_terms(const expansion *e, int spin, const plugmc_host *host, sum_task *t)
{
    const size_t terms = (size_t)e->terms, count = (size_t)t->determinants + 1;
    int32_t *begin = calloc(count + 1 + 2 * terms, sizeof *begin);
    if (!begin) return no_memory(host);
    int32_t *term = begin + count + 1, *partner = term + terms;
    for (size_t k = 0; k < terms; k++) begin[e->of[spin][k] + 2]++;
    for (size_t u = 1; u <= count; u++) begin[u] += begin[u - 1];
    for (size_t k = 0; k < terms; k++) { /* begin[u + 1] moves on to where those of u end */
        const int32_t at = begin[e->of[spin][k] + 1]++;
        term[at] = (int32_t)k;
        partner[at] = e->of[1 - spin][k];
    }
    int code = put(host, begin, count * sizeof *begin, &t->begin);
    if (!code) code = put(host, term, terms * sizeof *term, &t->term);
    if (!code) code = put(host, partner, terms * sizeof *partner, &t->partner);
    free(begin);
    return code;
}

static int take_arrays(const device_sums *s, const plugmc_host *host, sum_task *t)
{
    const size_t walkers = (size_t)s->walkers, n = (size_t)t->n, m = (size_t)t->m,
                 det = (size_t)t->determinants, number = s->is_complex ? 16 : 8;
    const struct {
        void *place;
        size_t bytes;
    } arrays[] = {
        {&t->chosen, sizeof(int32_t)},
        {&t->order, 2 * (n + m) * sizeof(int32_t)},
        {&t->degree, det * sizeof(int32_t)},
        {&t->sign, det * sizeof(int32_t)},
        {&t->places, det * 2 * (size_t)t->stride * sizeof(int32_t)},
        {&t->inverse, n * n * number},
        {&t->table, n * m * number},
        {&t->values, n * (n + m) * number},
        {&t->minors, det * number},
        {&t->weights, det * number},
        {&t->work, SUM_WORK(n, m) * number},
        {&t->sum, number},
        {&t->ln_reference, sizeof(double)},
    };
    int code = PLUGMC_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && !code; i++) {
        device_pointer at;
        code = host->gpu->allocate(host->context, walkers * arrays[i].bytes + 16, &at);
        void *const pointer = AT(at, void);
        memcpy(arrays[i].place, &pointer, sizeof pointer);
    }
    return code;
}

/* Without electrons the one determinant is 1. */
static int fill_empty(const device_sums *s, const plugmc_host *host, const sum_task *t)
{
    const size_t parts = s->is_complex ? 2 : 1, count = (size_t)s->walkers * parts;
    double *ones = calloc(count, sizeof *ones);
    if (!ones) return no_memory(host);
    for (size_t w = 0; w < count; w += parts) ones[w] = 1;
    int code = host->gpu->upload(host->context, (device_pointer)(uintptr_t)t->minors, ones,
                                 count * sizeof *ones);
    if (!code)
        code = host->gpu->fill(host->context, (device_pointer)(uintptr_t)t->ln_reference, 0,
                               (size_t)s->walkers * sizeof(double));
    free(ones);
    return code;
}

static int prepare_spin(device_sums *s, const plugmc_host *host, int spin, int64_t pitch)
{
    const expansion_spin *set = &s->sum->spin[spin];
    sum_task *t = &s->task[spin];
    *t = (sum_task){.n = set->electrons,
                    .m = set->orbitals - set->electrons,
                    .determinants = set->determinants,
                    .stride = set->degree > 0 ? set->degree : 1,
                    .pitch = pitch,
                    .coefficients = AT(s->coefficients, const double),
                    .imaginary = AT(s->imaginary, const double)};
    const size_t occupied = (size_t)set->determinants * (size_t)set->electrons;
    int code = put(host, set->column, (size_t)set->orbitals * sizeof(int32_t), &t->column);
    if (!code) code = put(host, set->occupied, occupied * sizeof(int32_t), &t->occupied);
    if (!code) code = sort_terms(s->sum, spin, host, t);
    if (!code) code = take_arrays(s, host, t);
    return code || t->n > 0 ? code : fill_empty(s, host, t);
}

static int put_imaginary(device_sums *s, const plugmc_host *host)
{
    const size_t bytes = (size_t)s->sum->terms * sizeof(double);
    const int code = host->gpu->allocate(host->context, bytes, &s->imaginary);
    return code ? code : host->gpu->upload(host->context, s->imaginary, s->sum->imaginary, bytes);
}

int device_sums_prepare(device_sums *s, const plugmc_host *host, const expansion *sum,
                        int32_t walkers, int64_t pitch, int is_complex)
{
    *s = (device_sums){.sum = sum, .walkers = walkers, .is_complex = is_complex};
    s->host_numbers = host->allocate(host->context, 4 * (size_t)walkers * sizeof(double));
    if (!s->host_numbers) return no_memory(host);
    int code =
        host->gpu->allocate(host->context, (size_t)sum->terms * sizeof(double), &s->coefficients);
    if (sum->imaginary && !code) code = put_imaginary(s, host);
    for (int spin = 0; spin < 2 && !code; spin++) code = prepare_spin(s, host, spin, pitch);
    return code;
}

int device_sums_upload(device_sums *s, const plugmc_host *host)
{
    return host->gpu->upload(host->context, s->coefficients, s->sum->coefficients,
                             (size_t)s->sum->terms * sizeof(double));
}

int device_sums_squares(device_sums *s, const plugmc_host *host, int32_t first, int32_t n,
                        double *ln)
{
    const int with = s->task[0].n > 0 ? 0 : 1, parts = s->is_complex ? 2 : 1;
    const size_t bytes = (size_t)n * sizeof(double);
    double *up = s->host_numbers, *down = up + n, *sums = down + n;
    const double *const from[3] = {s->task[0].ln_reference + first, s->task[1].ln_reference + first,
                                   s->task[with].sum + parts * first};
    int code = PLUGMC_OK;
    for (int k = 0; k < 3 && !code; k++)
        code = host->gpu->download(host->context, s->host_numbers + (size_t)k * (size_t)n,
                                   (device_pointer)(uintptr_t)from[k],
                                   k < 2 ? bytes : bytes * (size_t)parts);
    for (int32_t w = 0; w < n && !code; w++) {
        const double *z = sums + parts * w;
        ln[w] = up[w] + down[w] + log(parts == 2 ? z[0] * z[0] + z[1] * z[1] : z[0] * z[0]);
    }
    return code;
}
