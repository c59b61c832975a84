/* The kernel cache: a file as it may be found under the name of a kernel. After a first byte that
 * says so, the rest is an image for which the header is made, but for bytes changed in the whole; the
 * image that is given back has to be one that was written for this key. */
#include "fuzz.h"

#include "gpu/cache.h"

static cache_key key_of(void)
{
    cache_key key;
    memset(&key, 0, sizeof key);
    memcpy(key.magic, CACHE_MAGIC, sizeof key.magic);
    key.abi = 1 << 16;
    key.architecture = 90;
    return key;
}

/* The one file of the folder. */
static const char *file_of(const char *folder, const cache_key *key)
{
    static char path[CACHE_PATH + CACHE_NAME];
    char name[CACHE_NAME];
    cache_name(key, name);
    snprintf(path, sizeof path, "%s/%s.cubin", folder, name);
    return path;
}

/* Changes as many bytes as are asked for; whether the file is still what was written. */
static int spoil(const char *path, fuzz_bytes *b, size_t written)
{
    uint8_t *bytes = malloc(written + 1), *before = malloc(written + 1);
    FILE *f = fopen(path, "r+b");
    if (!bytes || !before || !f || fread(bytes, 1, written, f) != written) abort();
    memcpy(before, bytes, written);
    for (uint32_t n = fuzz_below(b, 4); n > 0; n--)
        bytes[fuzz_below(b, (uint32_t)written)] ^= fuzz_byte(b);
    rewind(f);
    if (fwrite(bytes, 1, written, f) != written) abort();
    fclose(f);
    const int same = !memcmp(bytes, before, written);
    free(bytes);
    free(before);
    return same;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes b = {data, data + size};
    fuzz_file();
    const cache_key key = key_of();
    const char *path = file_of(fuzz_folder, &key);
    void *image = NULL;
    size_t bytes = 0, head = 0;
    int same = 0;
    if (fuzz_byte(&b) & 1) {
        const uint32_t length = fuzz_below(&b, 200);
        uint8_t content[200];
        for (uint32_t i = 0; i < length; i++) content[i] = fuzz_byte(&b);
        require(cache_store(fuzz_folder, &key, content, length, CACHE_CAP) == 0);
        FILE *f = fopen(path, "rb");
        if (!f || fseek(f, 0, SEEK_END)) abort();
        head = (size_t)ftell(f);
        fclose(f);
        same = spoil(path, &b, head);
        require(cache_load(fuzz_folder, &key, &image, &bytes) == (same != 0));
        require(!same || (bytes == length && !memcmp(image, content, length)));
        if (same) free(image);
    } else {
        FILE *f = fopen(path, "wb");
        if (!f || fwrite(b.at, 1, (size_t)(b.end - b.at), f) != (size_t)(b.end - b.at)) abort();
        fclose(f);
        if (cache_load(fuzz_folder, &key, &image, &bytes)) free(image);
    }
    unlink(path);
    return 0;
}
