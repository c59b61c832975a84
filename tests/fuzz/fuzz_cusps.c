/* QMCPACK's files of functions in place of s functions at nuclei. What is taken is finite within its radius. */
#include "fuzz.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "potentials/gaussian_orbitals/cusp_file.h"
#include "recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!memmem(data, size, "<sposet", strlen("<sposet"))) return -1;
    recorder *r = calloc(1, sizeof *r);
    if (!r) abort();
    const plugmc_host host = {.size = sizeof host,
                              .context = &r->context,
                              .fail = bench_fail,
                              .warn = bench_warn,
                              .allocate = bench_allocate};
    const cusp_wanted wanted = {.nuclei = 2,
                                .nucleus = (int32_t[]){0, 1},
                                .largest_radius = (double[]){1, 0.5},
                                .orbitals = 2,
                                .orbital = (int32_t[]){0, 2}};
    gaussian_cusp cusp[4];
    const int code = cusp_file_read(&host, fuzz_write(data, size), &wanted, cusp);
    require((code != 0) == (r->message[0] != 0));
    for (int i = 0; i < 4 && !code; i++) {
        const gaussian_cusp *c = &cusp[i];
        require(c->radius >= 0 && c->radius <= wanted.largest_radius[i / 2]);
        require(c->sign == 1 || c->sign == -1);
        const double q = c->radius / 2,
                     p = c->p[0] + q * (c->p[1] + q * (c->p[2] + q * (c->p[3] + q * c->p[4])));
        require(isfinite(c->shift + c->sign * exp(p)));
    }
    recorder_free(r);
    free(r);
    return 0;
}
