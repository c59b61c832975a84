/* What the fuzzing programs share. Each is a file fuzz_FORMAT.c with the function that libFuzzer
 * calls, again and again, with bytes that it changes such that they reach new code; without libFuzzer,
 * standalone.c calls it with the files of a folder. It may refuse the bytes, with messages, as often
 * as it likes; it may not crash, hang, leak or break a promise (`require`). */
#ifndef PLUGMC_FUZZ_H
#define PLUGMC_FUZZ_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise of the code; a broken one is found as a crash is. */
#define require(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static char fuzz_folder[64], fuzz_path[96];

static inline void fuzz_remove(void)
{
    unlink(fuzz_path);
    rmdir(fuzz_folder);
}

/* The path of a file of this process, in memory where the system has a place for that. */
static inline const char *fuzz_file(void)
{
    if (fuzz_folder[0]) return fuzz_path;
    const char *place = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(fuzz_folder, sizeof fuzz_folder, "%s/plugmc_fuzz_XXXXXX", place);
    if (!mkdtemp(fuzz_folder)) abort();
    snprintf(fuzz_path, sizeof fuzz_path, "%s/input", fuzz_folder);
    atexit(fuzz_remove);
    return fuzz_path;
}

/* The same with these bytes in it. */
static inline const char *fuzz_write(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file();
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f)) abort();
    return path;
}

/* ---- Bytes as decisions ---------------------------------------------------------------------- */

/* What is left of the input of a program that decides by it; zeros when nothing is left. */
typedef struct fuzz_bytes {
    const uint8_t *at, *end;
} fuzz_bytes;

static inline uint8_t fuzz_byte(fuzz_bytes *b) { return b->at < b->end ? *b->at++ : 0; }

static inline uint32_t fuzz_below(fuzz_bytes *b, uint32_t n)
{
    const uint32_t word = fuzz_byte(b) | (uint32_t)(n > 256 ? fuzz_byte(b) : 0) << 8;
    return n ? word % n : 0;
}

static inline uint64_t fuzz_word(fuzz_bytes *b)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word |= (uint64_t)fuzz_byte(b) << 8 * i;
    return word;
}

/* A text with its 0, at most `most` characters and no 0 else; to be freed. */
static inline char *fuzz_text(fuzz_bytes *b, size_t most)
{
    size_t n = fuzz_below(b, (uint32_t)most + 1), left = (size_t)(b->end - b->at);
    if (n > left) n = left;
    char *text = malloc(n + 1);
    if (!text) abort();
    memcpy(text, b->at, n);
    text[n] = 0;
    b->at += n;
    return text;
}

#endif
