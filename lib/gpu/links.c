/* From GPU to GPU, of several processes, by NCCL. */
#include "gpu/links.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device.h"
#include "nccl_api.h"
#include "gpu/toolkit.h"

struct gpu_links {
    nccl_api api;
    nccl_communicator all; /* NULL: not joined */
    int version;
};

/* ---- The library --------------------------------------------------------------------------------- */

/* $PLUGMC_NCCL, which may be `off`, the loader's path, the usual folders of CUDA. */
static void *open_library(char why[512])
{
    const char *named = getenv("PLUGMC_NCCL");
    if (named && !strcmp(named, "off")) {
        snprintf(why, 512, "PLUGMC_NCCL = off");
        return NULL;
    }
    if (named && *named) return toolkit_open(named, why);
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = toolkit_library("", "nccl", why);
    if (!library)
        snprintf(why, 512,
                 "there is no libnccl.so.2 in the loader's path or below /usr/local/cuda*; "
                 "PLUGMC_NCCL may name it");
    return library;
}

/* NULL, or the name of the first function that is missing. */
static const char *resolve(void *library, nccl_api *api)
{
#define NCCL_SYMBOL(field, name, arguments) {name, offsetof(nccl_api, field)},
    static const struct {
        const char *name;
        size_t offset;
    } symbols[] = {
        NCCL_FUNCTIONS(NCCL_SYMBOL){"ncclGetErrorString", offsetof(nccl_api, error_text)}};
#undef NCCL_SYMBOL
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function) return symbols[i].name;
        memcpy((char *)api + symbols[i].offset, &function, sizeof function);
    }
    return NULL;
}

static bool open_api(nccl_api *api, int *version, char why[512])
{
    void *library = open_library(why);
    if (!library) return false;
    const char *missing = resolve(library, api);
    if (missing)
        snprintf(why, 512, "libnccl is older than NCCL 2.7: it has no %s", missing);
    else
        api->version(version);
    return !missing;
}

/* "2.28.9"; before 2.9 the number was made in another way. */
static char *version_words(int version, char words[32])
{
    const int major = version < 10000 ? 1000 : 10000;
    snprintf(words, 32, "%d.%d.%d", version / major, version % major / 100, version % 100);
    return words;
}

void links_describe(FILE *out)
{
    nccl_api api;
    int version;
    char why[512], words[32];
    fprintf(out, "%-14s", "NCCL");
    if (open_api(&api, &version, why))
        fprintf(out, "%s\n", version_words(version, words));
    else
        fprintf(out, "none: %s\n", why);
}

/* ---- Joining -------------------------------------------------------------------------------------- */

bool links_open(gpu *g, char why[512])
{
    struct gpu_links *l = checked(calloc(1, sizeof *l));
    if (open_api(&l->api, &l->version, why)) {
        g->neighbours.links = l;
        g->neighbours.close_links = links_close;
        return true;
    }
    free(l);
    return false;
}

static bool worked(const struct gpu_links *l, nccl_result result, char why[512])
{
    char words[32];
    if (result)
        snprintf(why, 512, "NCCL %s: %.400s", version_words(l->version, words),
                 l->api.error_text(result));
    return !result;
}

bool links_id(gpu *g, char id[LINKS_ID], char why[512])
{
    nccl_id made;
    const bool done = worked(g->neighbours.links, g->neighbours.links->api.get_id(&made), why);
    if (done) memcpy(id, made.bytes, LINKS_ID);
    return done;
}

bool links_join(gpu *g, const char id[LINKS_ID], int rank, int ranks, char why[512])
{
    nccl_id of_all;
    memcpy(of_all.bytes, id, LINKS_ID);
    return worked(g->neighbours.links,
                  g->neighbours.links->api.join(&g->neighbours.links->all, ranks, of_all, rank),
                  why);
}

void links_when_broken(gpu *g, void (*broken)(void)) { g->neighbours.when_broken = broken; }

/* Nobody waits for anybody in it. */
void links_close(gpu *g)
{
    if (!g->neighbours.links) return;
    if (g->neighbours.links->all) g->neighbours.links->api.abort(g->neighbours.links->all);
    free(g->neighbours.links);
    g->neighbours.links = NULL;
}

bool links_are_there(const gpu *g) { return g->neighbours.links != NULL; }

const char *links_words(const gpu *g, char words[64])
{
    char version[32];
    snprintf(words, 64, "NCCL %s", version_words(g->neighbours.links->version, version));
    return words;
}

void links_identity(const gpu *g, unsigned char identity[16])
{
    memset(identity, 0, 16);
    g->api.device_uuid(identity, g->chip.handle);
}

/* ---- Parcels -------------------------------------------------------------------------------------- */

int links_deliver(plugmc_context *context, const links_parcel *parcels, int n)
{
    gpu *g = context->gpu;
    const struct gpu_links *l = g->neighbours.links;
    char why[512];
    g->caller = context;
    if (g->broken) return PLUGMC_ERROR_DEVICE;
    nccl_result result = l->api.group_begin();
    for (int k = 0; k < n && !result; k++) {
        const links_parcel *p = &parcels[k];
        if (p->receive_bytes)
            result =
                l->api.receive(p->receive, p->receive_bytes, NCCL_BYTE, p->rank, l->all, g->stream);
        if (p->send_bytes && !result)
            result = l->api.send(p->send, p->send_bytes, NCCL_BYTE, p->rank, l->all, g->stream);
    }
    const nccl_result ended = l->api.group_end();
    if (worked(l, result ? result : ended, why)) return PLUGMC_OK;
    g->broken = true; /* the others have it in their streams */
    gpu_fail(g, PLUGMC_ERROR_DEVICE, "cells cannot be exchanged with other GPUs: %s", why);
    gpu_broken(g);
    return PLUGMC_ERROR_DEVICE;
}
