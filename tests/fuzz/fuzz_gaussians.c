/* Files of Gaussian orbitals, changed by structure: QMCPACK's by inputs whose first byte is even, TREXIO's by the others; with
 * FUZZ_ECP the pseudopotentials of a TREXIO file. The reader runs here as it does in the child process that goes first. */
#include "structure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#ifdef FUZZ_ECP
#include "observables/local_energy/pseudopotential.h"
#else
#include "potentials/gaussian_orbitals/molecule.h"
#endif
#include "recorder.h"

#ifdef FUZZ_ECP
static const char *const files[2] = {TEST_DATA "/lcao/c2.trexio.h5",
                                     TEST_DATA "/lcao/c2.trexio.h5"};
static int (*const read_file)(const plugmc_host *, const char *) = pseudopotentials_rehearse;
#else
static const char *const files[2] = {TEST_DATA "/lcao/twist.h5", TEST_DATA "/lcao/o2.trexio.h5"};
static int (*const read_file)(const plugmc_host *, const char *) = molecule_rehearse;
#endif

typedef struct sound_file {
    uint8_t *data;
    size_t bytes;
} sound_file;

static sound_file load(const char *path)
{
    sound_file s = {0};
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) abort();
    s.bytes = (size_t)ftell(f);
    rewind(f);
    s.data = malloc(s.bytes);
    if (!s.data || fread(s.data, 1, s.bytes, f) != s.bytes) abort();
    fclose(f);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sound_file sound[2];
    fuzz_bytes b = {data, data + size};
    recorder *r = calloc(1, sizeof *r);
    if (!r) abort();
    for (int k = 0; k < 2 && !sound[k].data; k++) sound[k] = load(files[k]);
    const plugmc_host host = {.size = sizeof host,
                              .context = &r->context,
                              .fail = bench_fail,
                              .warn = bench_warn,
                              .allocate = bench_allocate};
    const sound_file *chosen = &sound[fuzz_byte(&b) & 1];
    const char *path = fuzz_write(chosen->data, chosen->bytes);
    change_structure(path, &b);
    const int code = read_file(&host, path);
    require((code != 0) == (r->message[0] != 0));
    require(size > 1 || code == 0);
    recorder_free(r);
    free(r);
    all_is_closed();
    return 0;
}
