/* Replacing a file whole: copy, flush, rename. See replacement.h. */
#include "archive/replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/leftovers.h"

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

static int copy_old_file(const char *path, replacement *file)
{
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for a writer */
    if (from < 0) return errno;
    int code = fstat(from, &file->old) || fchmod(file->fd, file->old.st_mode & 0777) ? errno : 0;
    file->shared = !code && !ioctl(file->fd, FICLONE, from);
    if (!code && !file->shared) code = copy_all(from, file->fd);
    close(from);
    return code;
}

static void release(replacement *file)
{
    free(file->target);
    free(file->temporary);
    *file = (replacement){.fd = -1};
}

char *replacement_target(const char *path)
{
    char *target = realpath(path, NULL);
    return target ? target : strdup(path); /* a new file */
}

static int name_files(replacement *file, const char *path, const char *identity, bool guarded)
{
    *file = (replacement){.fd = -1, .guarded = guarded, .target = replacement_target(path)};
    if (file->target && asprintf(&file->temporary, "%s.tmp-%s", file->target, identity) >= 0)
        return 0;
    file->temporary = NULL;
    release(file);
    return ENOMEM;
}

static int make_temporary(replacement *file, const char *from)
{
    leftovers_hold();
    int code = leftovers_add(file->temporary) ? 0 : ENOMEM;
    if (!code &&
        (file->fd = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) < 0) {
        code = errno;
        leftovers_forget(file->temporary);
    }
    leftovers_let_go();
    if (code)
        release(file);
    else if (from && (code = copy_old_file(from, file)))
        replacement_abandon(file);
    return code;
}

int replacement_begin(replacement *file, const char *path, const char *from, const char *identity,
                      bool guarded)
{
    int code = name_files(file, path, identity, guarded);
    return code ? code : make_temporary(file, from);
}

int replacement_begin_again(replacement *file, const char *path, const char *identity, spare *spare)
{
    int code = name_files(file, path, identity, true);
    if (!code) file->fd = spare_take(spare, file->temporary, file->target, &file->old);
    return code || file->fd >= 0 ? code : make_temporary(file, path);
}

/* Is there now what was there when it was copied? A file that is renamed over another has an inode
 * of its own, one that is written to another time. */
static bool is_as_it_was(const replacement *file)
{
    struct stat now;
    if (stat(file->target, &now)) return errno == ENOENT && !file->old.st_nlink;
    return file->old.st_nlink && now.st_dev == file->old.st_dev && now.st_ino == file->old.st_ino &&
           now.st_size == file->old.st_size && now.st_mtim.tv_sec == file->old.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == file->old.st_mtim.tv_nsec;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* 0, errno or REPLACEMENT_CHANGED. With *keep the old file has the temporary name then, unless the file system
 * cannot do that. */
static int put_in_place(const replacement *file, bool *keep)
{
    const bool wanted = *keep;
    *keep = false;
    if (!file->guarded) return rename(file->temporary, file->target) ? errno : 0;
    if (!is_as_it_was(file)) return is_folder(file->target) ? EISDIR : REPLACEMENT_CHANGED;
    if (wanted && !renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->target, RENAME_EXCHANGE)) {
        *keep = true;
        return 0;
    }
    if (file->old.st_nlink) return rename(file->temporary, file->target) ? errno : 0;
    if (!renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->target, RENAME_NOREPLACE)) return 0;
    if (errno == EEXIST) return REPLACEMENT_CHANGED;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    return rename(file->temporary, file->target) ? errno : 0; /* looked at a moment ago */
}

const char *replacement_words(int code)
{
    return code == REPLACEMENT_CHANGED ? "another program has written this file in the meantime"
                                       : strerror(code);
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

static int finish(replacement *file, spare *spare, touched *touched)
{
    struct stat next;
    int code = fsync(file->fd) || fstat(file->fd, &next) ? errno : 0;
    bool keep = !code && spare && file->guarded && !file->shared &&
                spare_is_worth(spare, file->fd, &file->old, touched);
    if (close(file->fd) && !code) code = errno;
    file->fd = -1;
    leftovers_hold();
    if (!code) code = put_in_place(file, &keep);
    if (!code && keep && !spare_keep(spare, file->temporary, &file->old, &next, touched)) {
        unlink(file->temporary);
        keep = false;
    }
    if (!code && !keep) leftovers_forget(file->temporary);
    leftovers_let_go();
    if (code) {
        replacement_abandon(file);
        return code;
    }
    flush_folder(file->target);
    release(file);
    return 0;
}

int replacement_finish(replacement *file) { return finish(file, NULL, NULL); }

int replacement_finish_keeping(replacement *file, spare *spare, touched *touched)
{
    return finish(file, spare, touched);
}

void replacement_abandon(replacement *file)
{
    if (file->fd >= 0) close(file->fd);
    leftovers_hold();
    unlink(file->temporary);
    leftovers_forget(file->temporary);
    leftovers_let_go();
    release(file);
}
