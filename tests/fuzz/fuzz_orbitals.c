/* Files of orbitals in CASINO's formats, text and binary: opened, and all that they promise read. */
#include "fuzz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "potentials/bspline_orbitals/orbital_file.h"
#include "recorder.h"

static void read_states(orbital_file *f)
{
    const size_t n = orbital_file_coefficients(f);
    if (n > 100000) return; /* a large grid is no fault; it takes time */
    double complex *out = malloc(n * sizeof *out);
    if (!out) abort();
    for (int32_t i = 0; i < f->states && i < 20; i++)
        if (f->read(f, &f->state[i], out)) break;
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 3 && !memcmp(data + 1, "HDF", 3)) return -1; /* fuzz_eshdf makes better ones */
    recorder *r = calloc(1, sizeof *r);
    if (!r) abort();
    const plugmc_host host = {.size = sizeof host,
                              .context = &r->context,
                              .fail = bench_fail,
                              .warn = bench_warn,
                              .allocate = bench_allocate};
    orbital_file f;
    const int code = orbital_file_open(&f, &host, fuzz_write(data, size));
    require((code != 0) == (r->message[0] != 0));
    if (!code) {
        read_states(&f);
        orbital_file_close(&f);
    }
    recorder_free(r);
    free(r);
    return 0;
}
