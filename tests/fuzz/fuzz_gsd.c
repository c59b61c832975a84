/* GSD: the initial state of three particles of two species in a box; a first byte of '2' stands for a run in the
 * plane. */
#include "fuzz.h"

#include <math.h>

#include "system/initial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const plugmc_species species[] = {{"A", 2, 1, 1, 1}, {"B", 1, 0.5, -2, 1}};
    static const int64_t first[] = {0, 2, 3};
    plugmc_system system = {.size = sizeof system,
                            .particles = 3,
                            .walkers = 1,
                            .species_count = 2,
                            .species = species,
                            .species_size = sizeof species[0],
                            .first = first,
                            .threads = 1,
                            .box = {.domain = PLUGMC_DOMAIN_PERIODIC,
                                    .dimension = 3,
                                    .length = {10, 10, 10},
                                    .volume = 1000,
                                    .vector = {{10, 0, 0}, {0, 10, 0}, {0, 0, 10}},
                                    .inverse = {{0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}}}};
    const size_t skip = size && data[0] == '2';
    if (skip) {
        system.box.dimension = 2;
        system.box.length[2] = system.box.vector[2][2] = system.box.inverse[2][2] = 1;
        system.box.volume = 100;
    }
    int64_t count = 0;
    double *positions;
    int32_t *kinds;
    report r = {0};
    const int code =
        gsd_read(fuzz_write(data + skip, size - skip), &system, &count, &positions, &kinds, &r);
    require((code != 0) == (r.errors > 0));
    require(!code == (positions && kinds));
    require(code || (count >= 0 && (uint64_t)count <= size)); /* each has bytes of its own */
    for (int64_t i = 0; i < count && !code; i++)
        require(kinds[i] >= 0 && kinds[i] < 2 && isfinite(positions[3 * i]) &&
                isfinite(positions[3 * i + 1]) && isfinite(positions[3 * i + 2]));
    free(positions);
    free(kinds);
    return 0;
}
