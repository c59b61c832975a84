/* SHA-256 as FIPS 180-4 defines it, sections 4.1.2, 5 and 6.2. */
#include "base/sha256.h"

#include <string.h>

/* Fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t x, int by) { return x >> by | x << (32 - by); }

/* 6.2.2: takes the filled block into the state. */
static void compress(sha256 *s)
{
    uint32_t w[64];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)s->block[4 * t] << 24 | (uint32_t)s->block[4 * t + 1] << 16 |
               (uint32_t)s->block[4 * t + 2] << 8 | s->block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = rotate_right(w[t - 15], 7) ^ rotate_right(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotate_right(w[t - 2], 17) ^ rotate_right(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }

    uint32_t v[8]; /* a ... h */
    memcpy(v, s->state, sizeof v);
    for (int t = 0; t < 64; t++) {
        uint32_t choose = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t sum0 = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
        uint32_t sum1 = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
        uint32_t t1 = v[7] + sum1 + choose + round_constant[t] + w[t];
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + sum0 + majority;
    }
    for (int i = 0; i < 8; i++) s->state[i] += v[i];
}

void sha256_start(sha256 *s)
{
    /* Fractional parts of the square roots of the first 8 primes. */
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->state, initial, sizeof initial);
    s->bytes = 0;
}

void sha256_add(sha256 *s, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    while (bytes > 0) {
        size_t at = s->bytes % 64, n = bytes < 64 - at ? bytes : 64 - at;
        memcpy(s->block + at, from, n);
        s->bytes += n;
        from += n;
        bytes -= n;
        if (at + n == 64) compress(s);
    }
}

void sha256_finish(sha256 *s, uint8_t digest[32])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = 8 * s->bytes;
    uint8_t length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(s, padding, 1 + (119 - s->bytes % 64) % 64);
    sha256_add(s, length, 8);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_of(const void *data, size_t bytes, uint8_t digest[32])
{
    sha256 s;
    sha256_start(&s);
    sha256_add(&s, data, bytes);
    sha256_finish(&s, digest);
}
