/* QMCPACK's Jastrow factors. What is taken has as many finite numbers as it says; written with the same numbers it is
 * taken again, with these. */
#include "fuzz.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "potentials/jastrow_files/qmcpack_jastrow.h"
#include "recorder.h"

static void check(const qmcpack_values *at, int most, qmcpack_change *change, int *count)
{
    if (!at->given) return;
    require(at->count >= 0 && at->count <= most && at->cutoff >= 0 && isfinite(at->cutoff));
    for (int k = 0; k < at->count; k++) require(isfinite(at->values[k]));
    change[(*count)++] = (qmcpack_change){at, at->values, at->count, NULL, NULL};
}

static int all_values(const qmcpack_jastrow *j, qmcpack_change *change)
{
    int count = 0;
    for (int k = 0; k < 2; k++) check(&j->pair[k].at, j->pair[k].size, change, &count);
    for (int k = 0; k < j->elements; k++) check(&j->one[k].at, j->one[k].size, change, &count);
    for (int k = 0; k < 2 * j->three_elements; k++)
        check(&j->three[k / 2][k % 2].at, 600, change, &count);
    return count;
}

static void check_again(const plugmc_host *host, const char *text, const qmcpack_jastrow *j)
{
    static qmcpack_jastrow again;
    qmcpack_change change[2 + 3 * QMCPACK_MOST_ELEMENTS], other[2 + 3 * QMCPACK_MOST_ELEMENTS];
    const int count = all_values(j, change);
    char *written = qmcpack_jastrow_rewrite(text, change, count);
    require(written != NULL);
    require(!qmcpack_jastrow_parse(host, "written", written, &again));
    require(all_values(&again, other) == count);
    require(again.elements == j->elements && again.three_elements == j->three_elements);
    all_values(j, change); /* in the order of the other */
    for (int k = 0; k < count; k++)
        for (int i = 0; i < change[k].count; i++)
            require(fabs(other[k].values[i] - change[k].values[i]) <=
                    1e-11 * fabs(change[k].values[i]));
    free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static qmcpack_jastrow j;
    if (!memmem(data, size, "<jastrow", strlen("<jastrow"))) return -1;
    if (memchr(data, 0, size)) return -1;
    recorder *r = calloc(1, sizeof *r);
    char *text = calloc(1, size + 1);
    if (!r || !text) abort();
    memcpy(text, data, size);
    const plugmc_host host = {.size = sizeof host,
                              .context = &r->context,
                              .fail = bench_fail,
                              .warn = bench_warn,
                              .allocate = bench_allocate};
    const int code = qmcpack_jastrow_parse(&host, "file", text, &j);
    require((code != 0) == (r->message[0] != 0));
    if (!code) check_again(&host, text, &j);
    recorder_free(r);
    free(r);
    free(text);
    return 0;
}
