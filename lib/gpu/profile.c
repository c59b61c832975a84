/* Where a GPU spends its time: events of the stream around every launch, for benchmarks. Libraries
 * launch kernels of their own; they show as the time from the end of one of ours to the next. */
#include <stdlib.h>
#include <string.h>

#include "gpu/device.h"

enum { MOST_LAUNCHES = 32768, MOST_NAMES = 256 };

typedef struct gpu_profile {
    const char *name[MOST_LAUNCHES];
    driver_event event[2 * MOST_LAUNCHES + 1]; /* before and behind each; the last is the end */
    int launches, events;                      /* events that have been made */
    bool open;                                 /* between a launch and the event behind it */
} gpu_profile;

int gpu_profile_begin(gpu *g)
{
    gpu_profile_free(g);
    g->profile = calloc(1, sizeof *g->profile);
    return g->profile ? PLUGMC_OK
                      : gpu_fail(g, PLUGMC_ERROR_MEMORY, "no memory for a profile of launches");
}

/* The next event in the stream. Without one there are no more launches in the profile. */
static bool mark(gpu *g)
{
    gpu_profile *p = g->profile;
    if (g->api.event_create(&p->event[p->events], 0)) return false;
    p->events++;
    return g->api.event_record(p->event[p->events - 1], g->stream) == DRIVER_SUCCESS;
}

/* What is recorded into a graph does not run. */
void gpu_profile_mark(gpu *g, const char *name)
{
    gpu_profile *p = g->profile;
    if (g->code.recording || p->launches == MOST_LAUNCHES || p->events != 2 * p->launches) return;
    p->open = mark(g);
    p->name[p->launches] = name;
}

void gpu_profile_mark_end(gpu *g)
{
    gpu_profile *p = g->profile;
    if (!p->open) return;
    p->open = false;
    if (mark(g)) p->launches++;
}

static double elapsed(const gpu *g, int from)
{
    float ms = 0;
    g->api.event_elapsed(&ms, g->profile->event[from], g->profile->event[from + 1]);
    return 1e-3 * (double)ms;
}

int gpu_profile_end(gpu *g, gpu_share **out, int *count)
{
    gpu_profile *p = g->profile;
    gpu_share *shares = calloc(MOST_NAMES, sizeof *shares);
    int n = 0;
    if (!p || !shares) {
        free(shares);
        return gpu_fail(g, PLUGMC_ERROR_MEMORY, "no memory for a profile of launches");
    }
    const bool closed = p->events == 2 * p->launches && mark(g);
    if (g->api.stream_synchronize(g->stream)) {
        free(shares);
        gpu_profile_free(g);
        return gpu_fail(g, PLUGMC_ERROR_DEVICE, "the GPU failed while launches were timed");
    }
    for (int k = 0; k < p->launches; k++) {
        int i = 0;
        while (i < n && strcmp(shares[i].name, p->name[k])) i++;
        if (i == MOST_NAMES) continue;
        if (i == n) shares[n++].name = p->name[k];
        shares[i].launches++;
        shares[i].seconds += elapsed(g, 2 * k);
        if (k + 1 < p->launches || closed) shares[i].behind += elapsed(g, 2 * k + 1);
    }
    gpu_profile_free(g);
    *out = shares;
    *count = n;
    return PLUGMC_OK;
}

void gpu_profile_free(gpu *g)
{
    gpu_profile *p = g->profile;
    for (int i = 0; p && i < p->events; i++) g->api.event_destroy(p->event[i]);
    free(p);
    g->profile = NULL;
}
