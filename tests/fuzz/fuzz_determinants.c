/* QMCPACK's lists of determinants: XML as it is given, or, where FUZZ_STRUCTURE is set, HDF5 changed by structure. The
 * reader of HDF5 runs here as it does in the child process that goes first, and as it does after it. What is taken makes
 * an expansion whose determinants have as many orbitals as there are electrons, ascending, and in reach of each other. */
#ifdef FUZZ_STRUCTURE
#include "structure.h"
#else
#include "fuzz.h"
#endif

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "potentials/multideterminant/terms.h"
#include "recorder.h"

static const int64_t electrons[2] = {2, 2};

static void check_spin(const expansion *e, int spin)
{
    const expansion_spin *set = &e->spin[spin];
    require(set->electrons == 2 && set->determinants >= 1 && set->determinants <= e->terms);
    require(set->orbitals >= 2 && set->degree >= 0 && set->degree <= 2);
    for (int32_t o = 0; o < set->orbitals; o++)
        require(set->column[o] >= 0 && set->column[o] < MOST_ORBITALS &&
                (o == 0 || set->column[o] > set->column[o - 1]));
    for (int32_t u = 0; u < set->determinants; u++) {
        const int32_t *o = set->occupied + 2 * u;
        require(o[0] >= 0 && o[0] < o[1] && o[1] < set->orbitals);
    }
    for (int64_t k = 0; k < e->terms; k++)
        require(e->of[spin][k] >= 0 && e->of[spin][k] < set->determinants);
    require(e->of[spin][0] == 0);
}

static int make_expansion(const plugmc_host *host, term_list *list)
{
    expansion e;
    int code = term_list_put_largest_first(list, host, "file");
    if (!code) code = terms_to_expansion(list, host, "file", list->coefficients, &e);
    if (code) return code;
    require(e.terms >= 1 && e.coefficients[0] == 1);
    for (int64_t k = 0; k < e.terms; k++) require(fabs(e.coefficients[k]) <= 1);
    for (int spin = 0; spin < 2; spin++) check_spin(&e, spin);
    return 0;
}

#ifdef FUZZ_STRUCTURE
static int no_child(plugmc_context *context, const char *path)
{
    (void)context, (void)path;
    return PLUGMC_OK;
}

static uint8_t *sound;
static size_t sound_bytes;

static void load_sound_file(void)
{
    FILE *f = fopen(TEST_DATA "/qmcpack/beryllium.multidet.h5", "rb");
    if (!f || fseek(f, 0, SEEK_END)) abort();
    sound_bytes = (size_t)ftell(f);
    rewind(f);
    sound = malloc(sound_bytes);
    if (!sound || fread(sound, 1, sound_bytes, f) != sound_bytes) abort();
    fclose(f);
}

static int read_terms(plugmc_host *host, const uint8_t *data, size_t size, term_list *list)
{
    fuzz_bytes b = {data, data + size};
    if (!sound) load_sound_file();
    const char *path = fuzz_write(sound, sound_bytes);
    change_structure(path, &b);
    host->rehearse = no_child;
    int code = terms_rehearse(host, path);
    if (!code) code = terms_read_hdf5(list, host, path, 0, 0, electrons);
    require(size || code == 0);
    return code;
}
#else
static int read_terms(plugmc_host *host, const uint8_t *data, size_t size, term_list *list)
{
    return terms_read_xml(list, host, fuzz_write(data, size), 0, electrons);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifndef FUZZ_STRUCTURE
    if (!memmem(data, size, "<detlist", strlen("<detlist"))) return -1;
#endif
    recorder *r = calloc(1, sizeof *r);
    if (!r) abort();
    plugmc_host host = {.size = sizeof host,
                        .context = &r->context,
                        .fail = bench_fail,
                        .warn = bench_warn,
                        .allocate = bench_allocate};
    term_list list = {0};
    int code = read_terms(&host, data, size, &list);
    if (!code) code = make_expansion(&host, &list);
    require((code != 0) == (r->message[0] != 0));
    recorder_free(r);
    free(r);
#ifdef FUZZ_STRUCTURE
    all_is_closed();
#endif
    return 0;
}
