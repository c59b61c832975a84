/* Compiled kernels on disk, one file each. Whatever is wrong with the folder or a file, the answer
 * is to compile again: nothing of the cache decides whether a run is possible or right. */
#ifndef PLUGMC_CACHE_H
#define PLUGMC_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_CAP ((uint64_t)256 << 20) /* bytes of the whole folder */

/* What a kernel was compiled from. Zeroed before it is filled, since it is compared whole. */
typedef struct cache_key {
    char magic[8];                           /* CACHE_MAGIC */
    uint32_t abi;                            /* of plugmc/plugin.h: major << 16 | minor */
    uint32_t compiler_major, compiler_minor; /* of NVRTC */
    uint32_t architecture;                   /* 90 for sm_90 */
    uint8_t digest[32];                      /* SHA-256 of all texts and options */
} cache_key;
#define CACHE_MAGIC "PGMCKRN1"

enum { CACHE_PATH = 4096, CACHE_NAME = 64 + 1 }; /* 64 hexadecimal digits and a 0 */

/* Name of the key's files, without folder and ending. */
void cache_name(const cache_key *, char name[CACHE_NAME]);

/* The image of `key`, malloc'ed, with one 0 behind it. False if there is none that is whole. */
bool cache_load(const char *folder, const cache_key *, void **image, size_t *bytes);
/* Writes it, then deletes the files used longest ago until the folder holds `cap` bytes at most.
 * 0, or an errno. */
int cache_store(const char *folder, const cache_key *, const void *image, size_t bytes,
                uint64_t cap);
/* Bytes and number of files of plugmc in the folder. */
uint64_t cache_size(const char *folder, int *files);
#endif
