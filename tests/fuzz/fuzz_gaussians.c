/* Files of Gaussian orbitals, changed by structure: QMCPACK's by inputs whose first byte is even, TREXIO's by the others. The
 * reader runs here as it does in the child process that goes first. */
#include "structure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "potentials/gaussian_orbitals/molecule.h"
#include "recorder.h"

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
    if (!sound[0].data) {
        sound[0] = load(TEST_DATA "/lcao/twist.h5");
        sound[1] = load(TEST_DATA "/lcao/o2.trexio.h5");
    }
    const plugmc_host host = {.size = sizeof host,
                              .context = &r->context,
                              .fail = bench_fail,
                              .warn = bench_warn,
                              .allocate = bench_allocate};
    const sound_file *chosen = &sound[fuzz_byte(&b) & 1];
    const char *path = fuzz_write(chosen->data, chosen->bytes);
    change_structure(path, &b);
    const int code = molecule_rehearse(&host, path);
    require((code != 0) == (r->message[0] != 0));
    require(size > 1 || code == 0);
    recorder_free(r);
    free(r);
    all_is_closed();
    return 0;
}
