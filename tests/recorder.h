/* The services of a host that a test sees through: what a plugin says and takes is kept. Include
 * after testing.h. */
#ifndef PLUGMC_RECORDER_H
#define PLUGMC_RECORDER_H

#include <stdlib.h>
#include <string.h>

#include "engine/services.h"

enum { RECORDED_BLOCKS = 4096 };

/* The first members of a struct that is to be the context of these services. The core's own context
 * comes first, so that its services for a GPU can be given the same struct. */
#define RECORDER                                                                                   \
    plugmc_context context;                                                                        \
    void *blocks[RECORDED_BLOCKS]; /* given out */                                                 \
    int block_count, warnings;                                                                     \
    char message[2048] /* the last one of fail or warn */

typedef struct recorder {
    RECORDER;
} recorder;

static inline int bench_fail(plugmc_context *context, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline int bench_fail(plugmc_context *context, int code, const char *format, ...)
{
    recorder *r = (recorder *)context;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->message, sizeof r->message, format, arguments);
    va_end(arguments);
    return code;
}

static inline void bench_warn(plugmc_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void bench_warn(plugmc_context *context, const char *format, ...)
{
    recorder *r = (recorder *)context;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->message, sizeof r->message, format, arguments);
    va_end(arguments);
    r->warnings++;
}

/* The core would ask the potentials; a test sees what the mover knows. */
static inline int bench_not_a_number(plugmc_context *context, const plugmc_not_a_number *where)
{
    return bench_fail(context, PLUGMC_ERROR_STATE,
                      "not a number: walker %d, particle %lld, sweep %llu", where->walker,
                      (long long)where->particle, (unsigned long long)where->sweep);
}

/* Refuses what no test needs, so that a plugin that believes a damaged file is seen. */
static inline void *bench_allocate(plugmc_context *context, size_t bytes)
{
    recorder *r = (recorder *)context;
    if (r->block_count == RECORDED_BLOCKS || bytes > (size_t)1 << 32) return NULL;
    size_t rounded = (bytes + 63) / 64 * 64 + 64;
    void *block = aligned_alloc(64, rounded);
    if (!block) return NULL;
    memset(block, 0, rounded);
    return r->blocks[r->block_count++] = block;
}

static inline void recorder_free(recorder *r)
{
    for (int i = 0; i < r->block_count; i++) free(r->blocks[i]);
}

#endif
