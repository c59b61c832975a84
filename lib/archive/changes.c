/* See archive/changes.h. */
#include "archive/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"

/* A file of changes: this, then each block behind its place. */
typedef struct header {
    char magic[8];
    uint64_t size, blocks; /* size: of the file with these changes */
} header;

typedef struct block {
    uint64_t place; /* byte */
    char bytes[CHANGES_BLOCK];
} block;

/* The last one is the version. */
static const char magic[8] = "h5mdchg2";

bool changes_begin(changes *c, uint64_t bytes)
{
    c->count = (bytes + CHANGES_BLOCK - 1) / CHANGES_BLOCK;
    c->blocks = calloc(c->count + 1, sizeof *c->blocks);
    return c->blocks;
}

void changes_free(changes *c)
{
    for (uint64_t k = 0; k < c->count && c->blocks; k++) free(c->blocks[k]);
    free(c->blocks);
    *c = (changes){0};
}

int changes_write(const changes *c, int fd, uint64_t size)
{
    header h = {.size = size};
    block b;
    memcpy(h.magic, magic, sizeof magic);
    for (uint64_t k = 0; k < c->count; k++) h.blocks += c->blocks[k] != NULL;
    bool good = bytes_write(fd, &h, sizeof h);
    for (uint64_t k = 0; k < c->count && good; k++) {
        if (!c->blocks[k]) continue;
        b.place = k * CHANGES_BLOCK;
        memcpy(b.bytes, c->blocks[k], sizeof b.bytes);
        good = bytes_write(fd, &b, sizeof b);
    }
    return good ? 0 : errno;
}

static int read_header(int fd, header *h)
{
    struct stat info;
    if (fstat(fd, &info)) return errno;
    if (!bytes_read(fd, h, sizeof *h)) return errno ? errno : EBADMSG;
    const uint64_t left = (uint64_t)info.st_size - sizeof *h;
    const bool whole = !memcmp(h->magic, magic, sizeof magic) && left % sizeof(block) == 0 &&
                       left / sizeof(block) == h->blocks;
    return whole ? 0 : EBADMSG;
}

static int apply(int from, int to)
{
    header h;
    block b;
    const int code = read_header(from, &h);
    if (code) return code;
    for (uint64_t k = 0; k < h.blocks; k++) {
        if (!bytes_read(from, &b, sizeof b)) return errno ? errno : EBADMSG;
        if (lseek(to, (off_t)b.place, SEEK_SET) < 0 || !bytes_write(to, b.bytes, sizeof b.bytes))
            return errno;
    }
    return ftruncate(to, (off_t)h.size) || fsync(to) ? errno : 0;
}

int changes_apply(const char *name, const char *path)
{
    const int from = open(name, O_RDONLY | O_CLOEXEC);
    if (from < 0) return errno;
    const int to = open(path, O_WRONLY | O_CLOEXEC);
    int code = to < 0 ? errno : apply(from, to);
    if (!code && unlink(name)) code = errno;
    close(from);
    if (to >= 0) close(to);
    return code;
}

int changes_version(const char *name)
{
    char found[sizeof magic] = {0};
    const int last = sizeof magic - 1, fd = open(name, O_RDONLY | O_CLOEXEC);
    const bool is_one = fd >= 0 && bytes_read(fd, found, sizeof found) &&
                        !memcmp(found, magic, (size_t)last) && found[last] > '0' &&
                        found[last] <= '9';
    if (fd >= 0) close(fd);
    return is_one ? found[last] - '0' : 0;
}

int changes_own_version(void) { return magic[sizeof magic - 1] - '0'; }
