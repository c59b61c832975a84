/* QMCPACK's ES-HDF, changed by structure. The reader runs here as it does in the child process that
 * goes first. */
#include "structure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "potentials/bspline_orbitals/orbital_file.h"
#include "recorder.h"

static uint8_t *sound;
static size_t sound_bytes;

static void load_sound_file(void)
{
    FILE *f = fopen(TEST_DATA "/qmc/diamondC.pwscf.h5", "rb");
    if (!f || fseek(f, 0, SEEK_END)) abort();
    sound_bytes = (size_t)ftell(f);
    rewind(f);
    sound = malloc(sound_bytes);
    if (!sound || fread(sound, 1, sound_bytes, f) != sound_bytes) abort();
    fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes b = {data, data + size};
    recorder *r = calloc(1, sizeof *r);
    if (!r) abort();
    if (!sound) load_sound_file();
    const plugmc_host host = {.size = sizeof host,
                              .context = &r->context,
                              .fail = bench_fail,
                              .warn = bench_warn,
                              .allocate = bench_allocate};
    const char *path = fuzz_write(sound, sound_bytes);
    change_structure(path, &b);
    const int code = orbital_file_rehearse(&host, path);
    require((code != 0) == (r->message[0] != 0));
    require(size || code == 0);
    recorder_free(r);
    free(r);
    all_is_closed();
    return 0;
}
