/* Files of pseudopotentials. Compiled once for each format: others are passed over, so that the time
 * is spent on that one. */
#include "fuzz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "observables/local_energy/pseudopotential.h"
#include "recorder.h"

/* FUZZ_MARK: what tells the format. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!memmem(data, size, FUZZ_MARK, strlen(FUZZ_MARK))) return -1;
    recorder *r = calloc(1, sizeof *r);
    if (!r) abort();
    const plugmc_host host = {.size = sizeof host,
                              .context = &r->context,
                              .fail = bench_fail,
                              .warn = bench_warn,
                              .allocate = bench_allocate};
    pseudopotential p;
    const int code = pseudopotential_read(&p, &host, fuzz_write(data, size), 1e-5);
    require((code != 0) == (r->message[0] != 0));
    for (int l = 0; l < p.channels && !code; l++) radial_reach(&p.channel[l]);
    recorder_free(r);
    free(r);
    return 0;
}
