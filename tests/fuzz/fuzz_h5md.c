/* An H5MD file, changed by structure, read as an initial state. */
#include "structure.h"

#include "output_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes b = {data, data + size};
    report r = {0};
    const char *path = fresh_output_file();
    change_structure(path, &b);
    int walkers = 0;
    int64_t count = 0;
    double *positions, edges[3][3];
    int32_t *species;
    const int code = h5md_read_positions(path, 1 + (int)fuzz_below(&b, 3), &walkers, &count,
                                         &positions, &species, edges, &r);
    require(size || code == 0);
    all_is_closed();
    if (code) return 0;
    volatile double last = 0; /* touches all that is promised */
    for (int64_t i = 0; i < 3 * walkers * count; i++) last = positions[i];
    for (int64_t i = 0; i < count; i++) last = species[i];
    (void)last;
    free(positions);
    free(species);
    return 0;
}
