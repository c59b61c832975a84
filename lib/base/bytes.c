/* See bytes.h. */
#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

bool bytes_read(int file, void *to, size_t bytes)
{
    for (char *at = to; bytes;) {
        const ssize_t n = read(file, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = 0;
        if (n <= 0) return false;
        at += n, bytes -= (size_t)n;
    }
    return true;
}

bool bytes_write(int file, const void *from, size_t bytes)
{
    for (const char *at = from; bytes;) {
        ssize_t n = send(file, at, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == ENOTSOCK) n = write(file, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = ENOSPC;
        if (n <= 0) return false;
        at += n, bytes -= (size_t)n;
    }
    return true;
}

void *bytes_take(size_t bytes)
{
    const size_t page = 2 << 20;
    if (bytes < 2 * page) return malloc(bytes);
    void *data = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (data) madvise(data, bytes, MADV_HUGEPAGE); /* where there are none it stays as it is */
    return data;
}
