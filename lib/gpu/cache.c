/* The kernel cache. A file is header, then image: the header holds the key it was written for and a
 * SHA-256 of the image, both compared on load. It is written under another name, flushed to disk
 * and renamed, so that several processes may write the same kernel at once and a crash leaves no
 * half of one. All names begin with 64 hexadecimal digits: no other file is ever deleted. */
#include "gpu/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "base/bytes.h"
#include "base/sha256.h"
#include "base/leftovers.h"

typedef struct file_header {
    cache_key key;
    uint64_t bytes; /* of the image */
    uint8_t checksum[32];
} file_header;

void cache_name(const cache_key *key, char name[CACHE_NAME])
{
    uint8_t digest[32];
    sha256_of(key, sizeof *key, digest);
    for (int i = 0; i < 32; i++) sprintf(name + 2 * i, "%02x", digest[i]);
}

static void file_path(const char *folder, const cache_key *key, char path[CACHE_PATH])
{
    char name[CACHE_NAME];
    cache_name(key, name);
    snprintf(path, CACHE_PATH, "%s/%s.cubin", folder, name);
}

/* ---- Folder ---- */

static int make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int failed = mkdir(path, 0700) && errno != EEXIST;
        *slash = '/';
        if (failed) return -1;
    }
    return mkdir(path, 0700) && errno != EEXIST ? -1 : 0;
}

/* A kernel is code: nobody else may have put it there, or may put another in its place. */
static bool folder_is_ours(const char *path, char why[512])
{
    struct stat s;
    const char *wrong = stat(path, &s) || access(path, R_OK | W_OK | X_OK) ? strerror(errno)
                        : s.st_uid != geteuid()           ? "it belongs to another user"
                        : s.st_mode & (S_IWGRP | S_IWOTH) ? "others may write to it (chmod go-w)"
                                                          : NULL;
    if (wrong)
        snprintf(
            why, 512,
            "'%.300s' cannot have the cache of kernels: %s; PLUGMC_CACHE_DIR may name another folder",
            path, wrong);
    return !wrong;
}

const char *cache_folder(char why[512])
{
    static char path[CACHE_PATH - 128]; /* leaves room for a file's name */
    const char *own = getenv("PLUGMC_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    int length;
    if (own && *own)
        length = snprintf(path, sizeof path, "%s", own);
    else if (xdg && *xdg == '/')
        length = snprintf(path, sizeof path, "%s/plugmc", xdg);
    else if (home && *home == '/')
        length = snprintf(path, sizeof path, "%s/.cache/plugmc", home);
    else {
        snprintf(why, 512, "none of PLUGMC_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
        return NULL;
    }
    if (length >= (int)sizeof path) {
        snprintf(why, 512, "its path is longer than %zu characters", sizeof path - 1);
        return NULL;
    }
    if (make_folders(path)) {
        snprintf(why, 512, "'%.300s' cannot be made: %s", path, strerror(errno));
        return NULL;
    }
    return folder_is_ours(path, why) ? path : NULL;
}

/* ---- Load ---- */

static bool read_image(int file, const cache_key *key, char **image, size_t *bytes)
{
    file_header header;
    struct stat s;
    uint8_t checksum[32];
    if (fstat(file, &s) || !S_ISREG(s.st_mode) || s.st_uid != geteuid() ||
        s.st_mode & (S_IWGRP | S_IWOTH))
        return false;
    if (!bytes_read(file, &header, sizeof header) || memcmp(&header.key, key, sizeof *key))
        return false;
    if ((uint64_t)s.st_size != sizeof header + header.bytes) return false;
    *bytes = header.bytes;
    *image = malloc(*bytes + 1);
    if (!*image || !bytes_read(file, *image, *bytes)) return false;
    sha256_of(*image, *bytes, checksum);
    (*image)[*bytes] = 0;
    return memcmp(checksum, header.checksum, sizeof checksum) == 0;
}

bool cache_load(const char *folder, const cache_key *key, void **image, size_t *bytes)
{
    char path[CACHE_PATH], *data = NULL;
    file_path(folder, key, path);
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return false;
    bool good = read_image(file, key, &data, bytes);
    if (good)
        futimens(file, NULL); /* used just now: last to be deleted */
    else
        free(data);
    close(file);
    *image = good ? data : NULL;
    return good;
}

/* ---- Store ---- */

typedef struct cached_file {
    char name[256];
    uint64_t bytes;
    struct timespec used;
} cached_file;

static int older_first(const void *a, const void *b)
{
    const struct timespec *s = &((const cached_file *)a)->used,
                          *t = &((const cached_file *)b)->used;
    if (s->tv_sec != t->tv_sec) return s->tv_sec < t->tv_sec ? -1 : 1;
    return (s->tv_nsec > t->tv_nsec) - (s->tv_nsec < t->tv_nsec);
}

static bool name_is_ours(const char *name)
{
    return strspn(name, "0123456789abcdef") == 64 && name[64] == '.' && strlen(name) < 256;
}

/* Our files in the folder, malloc'ed. */
static cached_file *list_files(const char *folder, int *count)
{
    cached_file *files = NULL;
    int capacity = 0;
    *count = 0;
    DIR *d = opendir(folder);
    if (!d) return NULL;
    for (struct dirent *e; (e = readdir(d));) {
        struct stat s;
        if (!name_is_ours(e->d_name) || fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(s.st_mode))
            continue;
        if (*count == capacity) {
            capacity = 2 * capacity + 64;
            cached_file *more = realloc(files, (size_t)capacity * sizeof *files);
            if (!more) break;
            files = more;
        }
        cached_file *f = &files[(*count)++];
        strcpy(f->name, e->d_name);
        f->bytes = (uint64_t)s.st_size;
        f->used = s.st_mtim;
    }
    closedir(d);
    return files;
}

uint64_t cache_size(const char *folder, int *count)
{
    cached_file *files = list_files(folder, count);
    uint64_t total = 0;
    for (int i = 0; i < *count; i++) total += files[i].bytes;
    free(files);
    return total;
}

static void trim(const char *folder, uint64_t cap)
{
    int count;
    uint64_t total = 0;
    cached_file *files = list_files(folder, &count);
    for (int i = 0; i < count; i++) total += files[i].bytes;
    if (total > cap) qsort(files, (size_t)count, sizeof *files, older_first);
    for (int i = 0; i < count && total > cap; i++) {
        char path[CACHE_PATH];
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        if (unlink(path) == 0 || errno == ENOENT) total -= files[i].bytes;
    }
    free(files);
}

int cache_store(const char *folder, const cache_key *key, const void *image, size_t bytes,
                uint64_t cap)
{
    char path[CACHE_PATH], temporary[CACHE_PATH + 8];
    file_header header;
    memset(&header, 0, sizeof header);
    header.key = *key;
    header.bytes = bytes;
    sha256_of(image, bytes, header.checksum);

    file_path(folder, key, path);
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    leftovers_hold();
    int file = mkostemp(temporary, O_CLOEXEC), code = file < 0 ? errno : 0; /* mode 0600 */
    if (!code && !leftovers_add(temporary)) {
        code = ENOMEM;
        unlink(temporary);
        close(file);
    }
    leftovers_let_go();
    if (code) return code;
    bool written = bytes_write(file, &header, sizeof header) && bytes_write(file, image, bytes) &&
                   fsync(file) == 0;
    if (!written) code = errno;
    if (close(file) && !code) code = errno;
    leftovers_hold();
    if (!code && rename(temporary, path)) code = errno;
    if (code) unlink(temporary);
    leftovers_forget(temporary);
    leftovers_let_go();
    if (!code) trim(folder, cap);
    return code;
}
