/* Replacing a file whole: copy, flush, rename. See replacement.h. */
#include "output/replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* From the beginning of one file to the end of the other. Shared blocks where the file system
 * offers them; what copy_file_range leaves, for whatever reason, is read and written. */
static int copy_all(int from, int to)
{
    while (copy_file_range(from, NULL, to, NULL, (size_t)1 << 30, 0) > 0) continue;
    enum { PIECE = 1 << 20 };
    char *piece = malloc(PIECE);
    int code = piece ? 0 : ENOMEM;
    while (!code) {
        ssize_t got = read(from, piece, PIECE);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            code = got < 0 ? errno : 0;
            break;
        }
        for (ssize_t done = 0, n; done < got && !code; done += n > 0 ? n : 0) {
            n = write(to, piece + done, (size_t)(got - done));
            if (n < 0 && errno != EINTR) code = errno;
        }
    }
    free(piece);
    return code;
}

static int copy_old_file(const char *path, int to)
{
    struct stat old;
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for a writer */
    if (from < 0) return errno;
    int code = fstat(from, &old) || fchmod(to, old.st_mode & 0777) ? errno : copy_all(from, to);
    close(from);
    return code;
}

static void release(replacement *file)
{
    free(file->target);
    free(file->temporary);
    *file = (replacement){.fd = -1};
}

int replacement_begin(replacement *file, const char *path, bool copy_old)
{
    *file = (replacement){.fd = -1};
    file->target = realpath(path, NULL);
    if (!file->target) file->target = strdup(path); /* a new file */
    if (!file->target || asprintf(&file->temporary, "%s.tmp-%d", file->target, (int)getpid()) < 0) {
        file->temporary = NULL;
        release(file);
        return ENOMEM;
    }
    unlink(file->temporary); /* left by a killed run whose number the system used again */
    file->fd = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int code = file->fd < 0 ? errno : 0;
    if (code)
        release(file);
    else if (copy_old && (code = copy_old_file(file->target, file->fd)))
        replacement_abandon(file);
    return code;
}

/* The file is in place by now. If the machine fails before its folder reaches the disk, the old
 * file is found, which is whole too: hence no error where a file system cannot flush folders. */
static void flush_folder(const char *target)
{
    char *copy = strdup(target);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(copy);
}

int replacement_finish(replacement *file)
{
    int code = fsync(file->fd) ? errno : 0;
    if (close(file->fd) && !code) code = errno;
    file->fd = -1;
    if (!code && rename(file->temporary, file->target)) code = errno;
    if (code) {
        replacement_abandon(file);
        return code;
    }
    flush_folder(file->target);
    release(file);
    return 0;
}

void replacement_abandon(replacement *file)
{
    if (file->fd >= 0) close(file->fd);
    unlink(file->temporary);
    release(file);
}
