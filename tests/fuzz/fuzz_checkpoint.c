/* The file of a run, changed by structure, read to go on from. The reader runs here, without the
 * child process that would go first. */
#include "structure.h"

#include "output_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes b = {data, data + size};
    report r = {0};
    char *ini = NULL;
    const char *path = fresh_file(false);
    change_structure(path, &b);
    output_data found = {0};
    if (output_read_ini(path, &ini, &r) == 0) free(ini);
    if (output_read(path, &found, &r) == 0) output_free(&found);
    all_is_closed();
    require(size || r.errors == 0); /* without changes it is sound */
    return 0;
}
