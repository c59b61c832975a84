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

/* What is written is read again, with the same numbers. */
static void check_again(const plugmc_host *host, const char *text, const correlation_data *d)
{
    correlation_data again;
    char *written = correlation_data_rewrite(text, d);
    require(written != NULL);
    require(!correlation_data_parse(host, "written", written, &again));
    require(again.truncation == d->truncation && again.u.given == d->u.given);
    for (int k = 0; k < d->u.spins * d->u.order; k++)
        require(fabs(again.u.values[k] - d->u.values[k]) <= 1e-14 * fabs(d->u.values[k]));
    for (int set = 0; set < d->f_sets; set++) {
        const correlation_f *f = &d->f[set], *g = &again.f[set];
        require(f->given == g->given);
        for (int k = 0; f->given && k < f->spins * f->form->free; k++)
            require(fabs(g->values[k] - f->values[k]) <= 1e-14 * fabs(f->values[k]));
    }
    free(written);
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
    char *text = calloc(1, size + 1);
    if (!text) abort();
    memcpy(text, data, size);
    const int code = correlation_data_parse(&host, "file", text, &d);
    require((code != 0) == (r->message[0] != 0));
    if (!code && d.u.given) check(d.u.values, d.u.spins * d.u.order, d.u.cutoff);
    for (int k = 0; k < d.chi_sets && !code; k++)
        if (d.chi[k].given)
            check(d.chi[k].values, d.chi[k].spins * d.chi[k].order, d.chi[k].cutoff);
    for (int k = 0; k < d.f_sets && !code; k++)
        if (d.f[k].given) check(d.f[k].values, d.f[k].spins * d.f[k].form->free, d.f[k].cutoff);
    if (!code) check_again(&host, text, &d);
    free(text);
    recorder_free(r);
    free(r);
    return 0;
}
