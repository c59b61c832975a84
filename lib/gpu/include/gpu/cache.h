/* Cache of compiled kernels on disk, one file for each. If anything is wrong with the folder or a file, the kernel is
 * compiled again. So the cache never affects whether a run is possible or correct. */
#ifndef PLUGMC_CACHE_H
#define PLUGMC_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest size of the whole folder, in bytes. */
#define CACHE_CAP ((uint64_t)256 << 20)

/* What a kernel was compiled from. Zero it before filling it in, since it is compared bytewise. */
typedef struct cache_key {
    char magic[8];                           /* CACHE_MAGIC */
    uint32_t abi;                            /* of plugmc/plugin.h: major << 16 | minor */
    uint32_t compiler_major, compiler_minor; /* of NVRTC */
    uint32_t architecture;                   /* 90 for sm_90 */
    uint8_t digest[32];                      /* SHA-256 of all texts and options */
} cache_key;
#define CACHE_MAGIC "PGMCKRN1"

/* A name has 64 hexadecimal digits and a terminating 0. */
enum { CACHE_PATH = 4096, CACHE_NAME = 64 + 1 };

/* File name for a key, without folder and extension. */
void cache_name(const cache_key *, char name[CACHE_NAME]);

/* Loads the image of `key`, malloc'ed and followed by one 0. False if there is no complete image. */
bool cache_load(const char *folder, const cache_key *, void **image, size_t *bytes);
/* Writes an image. Then deletes the least recently used files until the folder has at most `cap` bytes. Returns 0 or an
 * errno. */
int cache_store(const char *folder, const cache_key *, const void *image, size_t bytes,
                uint64_t cap);
/* Size in bytes and number of plugmc's files in the folder. */
uint64_t cache_size(const char *folder, int *files);
#endif
