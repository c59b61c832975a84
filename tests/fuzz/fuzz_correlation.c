/* CASINO's correlation.data. What is taken has numbers of as many as it says, which are finite. */
#include "fuzz.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "potentials/polynomial_jastrow/correlation_data.h"
#include "recorder.h"

static void check(const double *values, int count, double cutoff)
{
    require(cutoff > 0 && isfinite(cutoff));
    for (int k = 0; k < count; k++) require(isfinite(values[k]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!memmem(data, size, "START JASTROW", strlen("START JASTROW"))) return -1;
    recorder *r = calloc(1, sizeof *r);
    if (!r) abort();
    const plugmc_host host = {.size = sizeof host,
                              .context = &r->context,
                              .fail = bench_fail,
                              .warn = bench_warn,
                              .allocate = bench_allocate};
    correlation_data d;
    const int code = correlation_data_read(&host, fuzz_write(data, size), size % 3, size % 2, &d);
    require((code != 0) == (r->message[0] != 0));
    if (!code && d.u.given) check(d.u.values, d.u.spins * d.u.order, d.u.cutoff);
    if (!code && d.chi.given) check(d.chi.values, d.chi.spins * d.chi.order, d.chi.cutoff);
    if (!code && d.f.given) check(d.f.values, d.f.spins * d.f.form->free, d.f.cutoff);
    recorder_free(r);
    free(r);
    return 0;
}
