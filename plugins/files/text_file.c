/* See text_file.h. */
#include "text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20 };

static char *fault(const plugmc_host *host, const char *path, const char *what)
{
    host->fail(host->context, PLUGMC_ERROR_INPUT, "file '%s' %s", path, what);
    return NULL;
}

/* `fd` is open; the caller closes it. */
static char *read_open(const plugmc_host *host, const char *path, int fd)
{
    struct stat info;
    if (fstat(fd, &info) || !S_ISREG(info.st_mode))
        return fault(host, path, "is not a regular file");
    if (info.st_size > MOST_BYTES) return fault(host, path, "is larger than 64 MiB");
    const size_t bytes = (size_t)info.st_size;
    char *text = host->allocate(host->context, bytes + 1);
    if (!text) {
        host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for file '%s'", path);
        return NULL;
    }
    size_t have = 0;
    for (ssize_t n = 1; n > 0 && have<bytes; have += n> 0 ? (size_t)n : 0)
        n = read(fd, text + have, bytes - have);
    if (have != bytes) return fault(host, path, "cannot be read");
    return strlen(text) == bytes ? text : fault(host, path, "has binary data in it");
}

char *text_file_read(const plugmc_host *host, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        host->fail(host->context, PLUGMC_ERROR_INPUT, "file '%s' cannot be opened: %s", path,
                   strerror(errno));
        return NULL;
    }
    char *text = read_open(host, path, fd);
    close(fd);
    return text;
}
