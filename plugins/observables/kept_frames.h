/* kept_frames: the frames of walkers (walker_frames.h) for an observable, brought up to date for each view.
 */
#ifndef PLUGMC_KEPT_FRAMES_H
#define PLUGMC_KEPT_FRAMES_H

#include "../join_texts.h"
#include "walker_boxes.h"

#define FRAMES_DIFFER 1
#include WALKER_FRAMES_FILE

PLUGMC_EMBED(walker_frames_text, WALKER_FRAMES_FILE);

typedef struct kept_frames {
    walker_frame *host;           /* [walkers] */
    plugmc_device_pointer device; /* the same; 0 where nobody changes boxes */
} kept_frames;

static inline int prepare_frames(kept_frames *k, const plugmc_host *host)
{
    const size_t bytes = (size_t)host->system->walkers * sizeof *k->host;
    k->host = host->allocate(host->context, bytes);
    if (!k->host)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu bytes", bytes);
    if (!host->gpu || !boxes_change(host->system)) return PLUGMC_OK;
    return host->gpu->allocate(host->context, bytes, &k->device);
}

/* Those of a view, in the memory that its positions are in. */
static inline int take_frames(const kept_frames *k, const plugmc_host *host,
                              const plugmc_view *view, const plugmc_cells *cells,
                              walker_frames *out)
{
    const int32_t walkers = host->system->walkers;
    for (int32_t w = 0; w < walkers; w++)
        for (int d = 0; d < 3; d++) {
            k->host[w].length[d] = view->box[w].length[d];
            k->host[w].width[d] = view->box[w].length[d] / cells->count[d];
        }
    out->same = k->host[0];
    out->of = view->on_device ? (const walker_frame *)(uintptr_t)k->device : k->host;
    if (!view->on_device || !k->device) return PLUGMC_OK;
    return host->gpu->upload(host->context, k->device, k->host, (size_t)walkers * sizeof *k->host);
}

/* A text that begins with that of frames and goes on with these three (NULL: fewer); no fusion. Returns 1, or 0 without
 * memory. */
static inline int set_text_with_frames(const plugmc_host *host, const char *name,
                                       const char *const texts[3], plugmc_gpu_source *out)
{
    const char *whole = join_texts(
        host, (const char *const[]){walker_frames_text, texts[0], texts[1], texts[2], NULL});
    plugmc_set_gpu_source(out, &(plugmc_gpu_source){.name = name,
                                                    .source = whole,
                                                    .defines = frame_defines(host->system),
                                                    .double_precision = 1});
    return whole != NULL;
}

#endif
