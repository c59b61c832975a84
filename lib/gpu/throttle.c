/* How far the host runs ahead of the device: launches queue, and a run that is to end would wait for
 * all of them. Two events take turns behind what has been launched. */
#include "gpu/device.h"

enum { EVENT_WITHOUT_TIME = 2 };

void gpu_throttle(gpu *g)
{
    driver_event *now = &g->traffic.pace[g->traffic.paces & 1],
                 *before = &g->traffic.pace[~g->traffic.paces & 1];
    if (g->code.recording || g->broken) return;
    if (!*now && g->api.event_create(now, EVENT_WITHOUT_TIME)) {
        *now = NULL;
        return;
    }
    /* what has gone wrong on the device is said by the next call that waits for it */
    if (g->api.event_record(*now, g->stream) == DRIVER_SUCCESS && g->traffic.paces > 0)
        g->api.event_synchronize(*before);
    g->traffic.paces++;
}

void gpu_throttle_free(gpu *g)
{
    for (int i = 0; i < 2; i++)
        if (g->traffic.pace[i]) g->api.event_destroy(g->traffic.pace[i]);
}
