/* An H5MD file, changed by structure, read as an initial state. */
#include "structure.h"

#include "output_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes b = {data, data + size};
    report r = {0};
    const char *path = fresh_file(true);
    change_structure(path, &b);
    file_frame frame;
    const int most = 1 + (int)fuzz_below(&b, 3);
    const int code =
        h5md_read_frame(path, most, size ? (int)fuzz_below(&b, 4) - 2 : -1, &frame, &r);
    require(size || code == 0);
    all_is_closed();
    if (code) return 0;
    volatile double last = 0; /* touches all that is promised */
    const int64_t rows = frame.walkers * frame.count;
    for (int64_t i = 0; i < 3 * rows; i++) last = frame.positions[i];
    for (int64_t i = 0; i < rows && frame.species; i++) last = frame.species[i];
    for (int k = 0; k < FRAME_PROPERTIES; k++)
        for (int64_t i = 0; i < rows && frame.property[k]; i++) last = frame.property[k][i];
    for (int32_t k = 0; k < frame.names; k++) last = frame.name[k][0];
    for (int32_t k = 0; k < 9 * frame.boxes; k++) last = frame.box[k / 9][k / 3 % 3][k % 3];
    (void)last;
    size_t bytes;
    void *packed = frame_pack(&frame, &bytes);
    frame_free(&frame);
    require(packed && frame_unpack(&frame, packed, bytes) && rows == frame.walkers * frame.count);
    free(packed);
    frame_free(&frame);
    return 0;
}
