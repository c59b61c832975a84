/* SHA-256 (FIPS 180-4), for the names and checksums of the kernel cache. */
#ifndef PLUGMC_SHA256_H
#define PLUGMC_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct sha256 {
    uint32_t state[8];
    uint64_t bytes;    /* taken so far */
    uint8_t block[64]; /* the one being filled */
} sha256;

void sha256_start(sha256 *);
void sha256_add(sha256 *, const void *data, size_t bytes);
void sha256_finish(sha256 *, uint8_t digest[32]);
void sha256_of(const void *data, size_t bytes, uint8_t digest[32]);
#endif
