/* What processes of one machine bring each other from GPU to GPU (plugmc_decomposition.deliver). A process puts what is for
 * others into a mailbox in the memory of its GPU, which these have opened, and they copy from there: nobody writes into
 * the memory of another process, and no kernel waits for one. Who may read when is settled by messages between the
 * processes (parallel/decomposition.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device.h"

enum { LEAST = 1 << 22 }; /* bytes of a mailbox: the driver shares whole pieces of 2 MiB */

/* The mailbox of another part. */
typedef struct opened {
    uint64_t number; /* 0: none */
    driver_pointer at;
} opened;

struct gpu_mail {
    plugmc_device_pointer
        box;     /* the last one; those before it stay, since others may have them open */
    size_t half; /* bytes */
    uint64_t number, turns;
    driver_shared shared;
    opened *others;
    int32_t count;
};

static struct gpu_mail *mail_of(gpu *g)
{
    if (!g->traffic.mail) g->traffic.mail = checked(calloc(1, sizeof *g->traffic.mail));
    return g->traffic.mail;
}

/* Larger than is asked for, so that it is seldom another one. */
static int make_box(gpu *g, struct gpu_mail *m, size_t bytes)
{
    const size_t half = (bytes + bytes / 4 + LEAST) / LEAST * LEAST;
    int code = gpu_allocate(g, 2 * half, &m->box);
    if (code) return code;
    m->half = half;
    m->number++;
    return code;
}

void gpu_put_in_words(const gpu *g, driver_result result, char *why)
{
    const char *text = NULL;
    g->api.error_text(result, &text);
    snprintf(why, 512, "%s", text ? text : "unknown error");
}

bool gpu_mail_is_possible(gpu *g, char *why)
{
    driver_pointer box = 0;
    driver_shared shared;
    driver_result result = g->api.allocate(&box, LEAST);
    if (!result) result = g->api.share(&shared, box);
    if (result) gpu_put_in_words(g, result, why);
    if (box) g->api.release(box);
    return !result;
}

int gpu_mail_begin(gpu *g, size_t bytes, gpu_letter *letter)
{
    struct gpu_mail *m = mail_of(g);
    int code = g->broken ? PLUGMC_ERROR_DEVICE : PLUGMC_OK;
    if (!code && (!m->number || bytes > m->half)) {
        code = make_box(g, m, bytes);
        if (!code)
            code = gpu_checked(g, g->api.share(&m->shared, m->box), "sharing memory of the GPU");
    }
    if (code) return code;
    memcpy(letter->box, m->shared.reserved, sizeof letter->box);
    letter->number = m->number;
    letter->at = m->turns++ % 2 * m->half;
    return PLUGMC_OK;
}

int gpu_mail_put(gpu *g, uint64_t at, plugmc_device_pointer from, size_t bytes)
{
    const struct gpu_mail *m = mail_of(g);
    if (g->broken) return PLUGMC_ERROR_DEVICE;
    return bytes ? gpu_checked(g, g->api.copy(m->box + at, from, bytes, g->stream),
                               "a copy on the GPU")
                 : PLUGMC_OK;
}

bool gpu_mail_open(gpu *g, int32_t part, const gpu_letter *letter, char *why)
{
    struct gpu_mail *m = mail_of(g);
    driver_shared shared;
    if (part >= m->count) {
        m->others = checked(realloc(m->others, ((size_t)part + 1) * sizeof *m->others));
        memset(m->others + m->count, 0, (size_t)(part + 1 - m->count) * sizeof *m->others);
        m->count = part + 1;
    }
    opened *o = &m->others[part];
    if (o->number == letter->number) return true;
    if (o->number) g->api.close_shared(o->at);
    o->number = 0;
    memcpy(shared.reserved, letter->box, sizeof letter->box);
    const driver_result result = g->api.open_shared(&o->at, shared, DRIVER_SHARED_LAZY_PEER);
    if (result) {
        gpu_put_in_words(g, result, why);
        return false;
    }
    o->number = letter->number;
    return true;
}

int gpu_mail_take(gpu *g, int32_t part, uint64_t at, plugmc_device_pointer to, size_t bytes)
{
    const struct gpu_mail *m = mail_of(g);
    if (g->broken) return PLUGMC_ERROR_DEVICE;
    return bytes ? gpu_checked(g, g->api.copy(to, m->others[part].at + at, bytes, g->stream),
                               "a copy from another GPU")
                 : PLUGMC_OK;
}

void gpu_mail_free(gpu *g)
{
    for (int32_t k = 0; g->traffic.mail && k < g->traffic.mail->count; k++)
        if (g->traffic.mail->others[k].number) g->api.close_shared(g->traffic.mail->others[k].at);
    if (g->traffic.mail) free(g->traffic.mail->others);
    free(g->traffic.mail);
    g->traffic.mail = NULL;
}
