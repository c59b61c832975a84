/* Small copies that nobody waits for.
 *
 * Uploads: steps, boxes, numbers of sweeps. The caller may use its memory again when an upload returns, and to
 * wait until the GPU has read it would cost more than the copy, a dozen times a volume move. So they go by way of
 * pinned memory, which the GPU reads when it comes to it.
 *
 * Downloads: the results of a measurement. While the host waits for them the GPU has nothing to do, which is a
 * tenth of the time of a measurement. So they arrive in pinned memory, and the sweeps that follow are launched
 * before the host looks at them. */
#include <string.h>

#include "gpu/device.h"

enum { STAGE = 1 << 18, SMALL = 1 << 15, ALIGNMENT = 64 };
/* The boxes of 4,096 walkers are 1 MB: the driver would copy them, too, and wait for the GPU after that. */
enum { STAGE_OF_UPLOADS = 1 << 22, LARGEST_UPLOAD = 1 << 20 };

void *gpu_stage(gpu *g, const void *from, size_t bytes)
{
    const size_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > LARGEST_UPLOAD || g->traffic.staged_bytes + room > STAGE_OF_UPLOADS) return NULL;
    if (!g->traffic.staged) {
        void *memory;
        if (g->api.pin(&memory, STAGE_OF_UPLOADS)) return NULL; /* then uploads wait */
        g->traffic.staged = memory;
    }
    char *to = g->traffic.staged + g->traffic.staged_bytes;
    memcpy(to, from, bytes);
    g->traffic.staged_bytes += room;
    return to;
}

char *gpu_pinned(plugmc_context *context, size_t bytes)
{
    gpu *g = context->gpu;
    void *memory;
    g->caller = context;
    if (g->broken) return NULL;
    if (g->traffic.parcels && bytes <= g->traffic.parcel_bytes) return g->traffic.parcels;
    if (g->traffic.parcels) g->api.unpin(g->traffic.parcels);
    g->traffic.parcels = NULL;
    if (gpu_checked(g, g->api.pin(&memory, bytes + bytes / 4 + 1), "allocating pinned memory"))
        return NULL;
    g->traffic.parcel_bytes = bytes + bytes / 4;
    return g->traffic.parcels = memory;
}

int gpu_bring(plugmc_context *context, plugmc_device_pointer there, void *here, size_t bytes,
              bool to_device)
{
    gpu *g = context->gpu;
    g->caller = context;
    if (g->broken) return PLUGMC_ERROR_DEVICE;
    if (!bytes) return PLUGMC_OK;
    return to_device
               ? gpu_checked(g, g->api.upload(there, here, bytes, g->stream), "a copy to the GPU")
               : gpu_checked(g, g->api.download(here, there, bytes, g->stream),
                             "a copy from the GPU");
}

enum { EVENT_WITHOUT_TIME = 2 };

/* What downloads that nobody waits for need. */
static bool begin_late(gpu *g)
{
    gpu_late *l = &g->traffic.late;
    void *memory;
    if (!l->stream && g->api.stream_create(&l->stream, DRIVER_STREAM_NON_BLOCKING))
        l->stream = NULL;
    if (!l->event && g->api.event_create(&l->event, EVENT_WITHOUT_TIME)) l->event = NULL;
    if (!l->begun && g->api.event_create(&l->begun, EVENT_WITHOUT_TIME)) l->begun = NULL;
    if (!l->pinned && !g->api.pin(&memory, STAGE)) l->pinned = memory;
    return l->stream && l->event && l->begun && l->pinned;
}

bool gpu_put_off(gpu *g, void *to, plugmc_device_pointer from, size_t bytes, driver_result *result)
{
    gpu_late *l = &g->traffic.late;
    const size_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *result = DRIVER_SUCCESS;
    if (bytes > SMALL || l->bytes + room > STAGE || l->count == MOST_LATE) return false;
    if (!begin_late(g)) return false;
    *result = g->api.event_record(l->begun, g->stream);
    if (!*result) *result = g->api.stream_wait(l->stream, l->begun, 0);
    if (!*result) *result = g->api.download(l->pinned + l->bytes, from, bytes, l->stream);
    if (!*result) *result = g->api.event_record(l->event, l->stream);
    if (*result) return true;
    l->of[l->count].to = to;
    l->of[l->count].at = l->bytes;
    l->of[l->count++].bytes = bytes;
    l->bytes += room;
    return true;
}

driver_result gpu_hand_out(gpu *g)
{
    gpu_late *l = &g->traffic.late;
    const driver_result result = l->count ? g->api.event_synchronize(l->event) : DRIVER_SUCCESS;
    for (int k = 0; k < l->count && !result; k++)
        memcpy(l->of[k].to, l->pinned + l->of[k].at, l->of[k].bytes);
    l->count = 0;
    l->bytes = 0;
    return result;
}

/* The copies under way end before the pinned memory is used again. */
void gpu_forget_downloads(gpu *g)
{
    gpu_late *l = &g->traffic.late;
    if (l->count && !g->broken) g->api.event_synchronize(l->event);
    l->count = 0;
    l->bytes = 0;
}

void gpu_stage_free(gpu *g)
{
    if (g->traffic.late.pinned) g->api.unpin(g->traffic.late.pinned);
    if (g->traffic.late.event) g->api.event_destroy(g->traffic.late.event);
    if (g->traffic.late.begun) g->api.event_destroy(g->traffic.late.begun);
    if (g->traffic.late.stream) g->api.stream_destroy(g->traffic.late.stream);
    g->traffic.late = (gpu_late){0};
    if (g->traffic.staged) g->api.unpin(g->traffic.staged);
    g->traffic.staged = NULL;
    if (g->traffic.parcels) g->api.unpin(g->traffic.parcels);
    g->traffic.parcels = NULL;
}
