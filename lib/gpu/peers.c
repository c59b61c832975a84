/* Memory of a GPU that kernels of other processes of the machine write into while they run (plugmc_decomposition.memory). Other
 * than with a mailbox (mail.c) the kernels settle among themselves who may read when. */
#include <stdlib.h>
#include <string.h>

#include "gpu/device.h"

/* Bytes: the driver shares whole pieces, so nothing else should lie in them. */
enum { PIECE = 1 << 21 };

int gpu_lend(gpu *g, size_t bytes, plugmc_device_pointer *out, gpu_key *key)
{
    driver_shared shared;
    int code = gpu_allocate(g, (bytes / PIECE + 1) * PIECE, out);
    if (!code) code = gpu_checked(g, g->api.share(&shared, *out), "sharing memory of the GPU");
    if (!code) memcpy(key->how, shared.reserved, sizeof key->how);
    return code;
}

bool gpu_borrow(gpu *g, const gpu_key *key, plugmc_device_pointer *out, char *why)
{
    driver_shared shared;
    driver_pointer at;
    memcpy(shared.reserved, key->how, sizeof key->how);
    const driver_result result = g->api.open_shared(&at, shared, DRIVER_SHARED_LAZY_PEER);
    if (result) {
        gpu_put_in_words(g, result, why);
        return false;
    }
    g->neighbours.borrowed =
        checked(realloc(g->neighbours.borrowed, (size_t)(g->neighbours.borrowed_count + 1) *
                                                    sizeof *g->neighbours.borrowed));
    g->neighbours.borrowed[g->neighbours.borrowed_count++] = at;
    *out = at;
    return true;
}

volatile uint32_t *gpu_word(gpu *g)
{
    if (!g->traffic.word &&
        gpu_checked(g, g->api.pin(&g->traffic.word, sizeof(uint32_t)), "allocating pinned memory"))
        g->traffic.word = NULL;
    else
        *(volatile uint32_t *)g->traffic.word = 0;
    return g->traffic.word;
}

void gpu_peers_free(gpu *g)
{
    for (int k = 0; k < g->neighbours.borrowed_count; k++)
        g->api.close_shared(g->neighbours.borrowed[k]);
    free(g->neighbours.borrowed);
    if (g->traffic.word) g->api.unpin(g->traffic.word);
    g->neighbours.borrowed = NULL, g->neighbours.borrowed_count = 0, g->traffic.word = NULL;
}
