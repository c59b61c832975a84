/* GSD, extended XYZ, PDB, GRO and data files of LAMMPS: the initial state of three particles of two species in a box.
 * FUZZ_ENDING is that of the name. A first byte of '2' stands for a run in the plane. */
#include "fuzz.h"

#include <math.h>

#include "start_from.h"

static int read_file(const char *path, int64_t which, file_frame *frame, report *r)
{
    if (!strcmp(FUZZ_ENDING, ".gsd")) return gsd_read(path, which, frame, r);
    if (!strcmp(FUZZ_ENDING, ".xyz")) return xyz_read(path, which, frame, r);
    if (!strcmp(FUZZ_ENDING, ".pdb")) return pdb_read(path, which, frame, r);
    if (!strcmp(FUZZ_ENDING, ".gro")) return gro_read(path, which, frame, r);
    return lammps_read(path, which, LAMMPS_UNKNOWN, frame, r);
}

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
    file_frame frame;
    report r = {0};
    const char *path = fuzz_write(data + skip, size - skip);
    for (int64_t which = -2; which < 2; which++) {
        const int errors = r.errors, code = read_file(path, which, &frame, &r);
        require((code != 0) == (r.errors > errors));
        require(code || (uint64_t)frame.count <= size); /* each has bytes of its own */
        for (int64_t i = 0; i < frame.count && !code; i++) {
            require(frame.species[i] >= 0 &&
                    frame.species[i] < (frame.types ? frame.types : frame.names));
            for (int d = 0; d < 3; d++) require(isfinite(frame.positions[3 * i + d]));
        }
        for (int k = 0; k < 9 && frame.boxes && !code; k++)
            require(isfinite(frame.box[0][k / 3][k % 3]));
        frame_free(&frame);
    }
    start_from(path, FUZZ_ENDING, &system, &r);
    return 0;
}
