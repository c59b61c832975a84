/* Inputs of QMCPACK with orbitals of Gaussian functions, XML. What is taken has as many coefficients as it says. */
#include "fuzz.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "potentials/gaussian_orbitals/molecule.h"
#include "recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 9 || *data != '<' || !memmem(data, size, "<basisset", strlen("<basisset")))
        return -1;
    recorder *r = calloc(1, sizeof *r);
    if (!r) abort();
    const plugmc_host host = {.size = sizeof host,
                              .context = &r->context,
                              .fail = bench_fail,
                              .warn = bench_warn,
                              .allocate = bench_allocate};
    molecule m;
    const int code = molecule_read(&m, &host, fuzz_write(data, size), ORDER_OF_ENERGY);
    require((code != 0) == (r->message[0] != 0));
    for (int32_t s = 0; s < m.shells && !code; s++) {
        require(m.shell[s].nucleus >= 0 && m.shell[s].nucleus < m.nuclei);
        require(m.shell[s].l >= 0 && m.shell[s].l <= MOST_L && m.shell[s].primitives > 0);
        require(m.shell[s].first >= 0 && m.shell[s].first + m.shell[s].primitives <= m.primitives);
    }
    for (int s = 0; s < 2 && !code; s++)
        for (int64_t i = 0; i < (int64_t)m.spin[s].orbitals * m.functions; i++)
            require(isfinite(m.spin[s].real[i]));
    recorder_free(r);
    free(r);
    return 0;
}
