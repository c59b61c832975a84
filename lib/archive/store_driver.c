/* The driver of HDF5 that survives failures. See store.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/store.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

typedef struct driver_file {
    H5FD_t base; /* of HDF5, first */
    store *owner;
    haddr_t allocated, size; /* size: as HDF5 is to see it, whatever could be written */
} driver_file;

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t largest)
{
    (void)name, (void)flags, (void)largest;
    store *const *owner = H5Pget_driver_info(access);
    driver_file *file = calloc(1, sizeof *file);
    struct stat info;
    if (!owner || !file || fstat((*owner)->fd, &info)) {
        if (owner && !(*owner)->error) (*owner)->error = errno;
        free(file);
        return NULL;
    }
    file->owner = *owner;
    file->size = (haddr_t)info.st_size;
    return &file->base;
}

static herr_t driver_close(H5FD_t *base)
{
    const driver_file *file = (driver_file *)base;
    file->owner->size = file->size;
    free(base);
    return 0;
}

static herr_t driver_query(const H5FD_t *base, unsigned long *flags)
{
    (void)base;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t driver_allocated(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return ((const driver_file *)base)->allocated;
}

static herr_t driver_allocate(H5FD_t *base, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((driver_file *)base)->allocated = end;
    return 0;
}

static haddr_t driver_size(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return ((const driver_file *)base)->size;
}

/* A request in pieces that lie in one block of what is changed, or behind all of it. */
static size_t piece_at(const store *s, haddr_t at, size_t bytes)
{
    const size_t left = CHANGES_BLOCK - (size_t)(at % CHANGES_BLOCK);
    return at / CHANGES_BLOCK >= s->changes.count || bytes < left ? bytes : left;
}

static char *block_at(const store *s, haddr_t at)
{
    const haddr_t k = at / CHANGES_BLOCK;
    return k < s->changes.count ? s->changes.blocks[k] : NULL;
}

/* Past the end of the file there are zeros, as HDF5 expects. */
static bool read_disk(store *s, haddr_t from, size_t bytes, char *to)
{
    while (bytes) {
        ssize_t n = pread(s->fd, to, bytes, (off_t)from);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            if (!s->error) s->error = errno;
            return false;
        }
        if (n == 0) memset(to, 0, n = (ssize_t)bytes);
        to += n, from += (haddr_t)n, bytes -= (size_t)n;
    }
    return true;
}

static void write_disk(store *s, haddr_t to, size_t bytes, const char *from)
{
    while (bytes && !s->error) {
        ssize_t n = pwrite(s->fd, from, bytes, (off_t)to);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            s->error = n < 0 ? errno : ENOSPC;
            break;
        }
        from += n, to += (haddr_t)n, bytes -= (size_t)n;
    }
}

/* A copy of the block that is changed instead of the disk; NULL with an error. */
static char *changed_block(store *s, haddr_t at)
{
    char **block = &s->changes.blocks[at / CHANGES_BLOCK];
    if (*block) return *block;
    char *copy = malloc(CHANGES_BLOCK);
    if (!copy && !s->error) s->error = ENOMEM;
    if (copy && !read_disk(s, at - at % CHANGES_BLOCK, CHANGES_BLOCK, copy)) {
        free(copy);
        copy = NULL;
    }
    return *block = copy;
}

static bool read_file(store *s, haddr_t from, size_t bytes, char *to)
{
    for (size_t n; bytes; to += n, from += n, bytes -= n) {
        const char *block = block_at(s, from);
        n = piece_at(s, from, bytes);
        if (block)
            memcpy(to, block + from % CHANGES_BLOCK, n);
        else if (!read_disk(s, from, n, to))
            return false;
    }
    return true;
}

static void write_file(store *s, haddr_t to, size_t bytes, const char *from)
{
    for (size_t n; bytes && !s->error; from += n, to += n, bytes -= n) {
        n = piece_at(s, to, bytes);
        if (to / CHANGES_BLOCK >= s->changes.count) {
            write_disk(s, to, n, from);
        } else {
            char *block = changed_block(s, to);
            if (block) memcpy(block + to % CHANGES_BLOCK, from, n);
        }
    }
}

static herr_t driver_read(H5FD_t *base, H5FD_mem_t type, hid_t access, haddr_t from, size_t bytes,
                          void *data)
{
    (void)type, (void)access;
    return read_file(((driver_file *)base)->owner, from, bytes, data) ? 0 : -1;
}

static herr_t driver_write(H5FD_t *base, H5FD_mem_t type, hid_t access, haddr_t to, size_t bytes,
                           const void *data)
{
    (void)type, (void)access;
    driver_file *file = (driver_file *)base;
    if (to + bytes > file->size) file->size = to + bytes;
    write_file(file->owner, to, bytes, data);
    return 0;
}

static herr_t driver_truncate(H5FD_t *base, hid_t access, hbool_t closing)
{
    (void)access, (void)closing;
    driver_file *file = (driver_file *)base;
    if (file->size == file->allocated) return 0;
    store *s = file->owner;
    if (!s->error && !s->changes.blocks && ftruncate(s->fd, (off_t)file->allocated))
        s->error = errno;
    file->size = file->allocated;
    return 0;
}

static const H5FD_class_t driver_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)511,
#endif
    .name = "plugmc",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(store *),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_allocated,
    .set_eoa = driver_allocate,
    .get_eof = driver_size,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t store_driver(void) { return H5FDregister(&driver_class); }

void store_driver_leave(hid_t driver) { H5FDunregister(driver); }
