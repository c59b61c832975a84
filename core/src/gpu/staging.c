/* Small uploads: steps, boxes, numbers of sweeps. The caller may use its memory again when an upload returns, and to
 * wait until the GPU has read it would cost more than the copy, a dozen times a volume move. So they go by way of
 * pinned memory, which the GPU reads when it comes to it. */
#include <string.h>

#include "gpu/device.h"

enum { STAGE = 1 << 18, SMALL = 1 << 15, ALIGNMENT = 64 };

void *gpu_stage(gpu *g, const void *from, size_t bytes)
{
    const size_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > SMALL || g->staged_bytes + room > STAGE) return NULL;
    if (!g->staged) {
        void *memory;
        if (g->api.pin(&memory, STAGE)) return NULL; /* then uploads wait */
        g->staged = memory;
    }
    char *to = g->staged + g->staged_bytes;
    memcpy(to, from, bytes);
    g->staged_bytes += room;
    return to;
}

void gpu_stage_free(gpu *g)
{
    if (g->staged) g->api.unpin(g->staged);
    g->staged = NULL;
}
