/* Replacing a file whole: write, flush, rename. See replacement.h. */
#include "archive/replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/leftovers.h"

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

/* What is there now is what may be replaced. */
static int note_present(replacement *file)
{
    if (stat(file->target, &file->old)) return errno;
    return fchmod(file->fd, file->old.st_mode & 0777) ? errno : 0;
}

static int make_temporary(replacement *file, bool of_present)
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
    else if (of_present && (code = note_present(file)))
        replacement_abandon(file);
    return code;
}

int replacement_begin(replacement *file, const char *path, const char *identity,
                      enum replaces replaces)
{
    const int code = name_files(file, path, identity, replaces != REPLACES_ANY);
    return code ? code : make_temporary(file, replaces == REPLACES_PRESENT);
}

/* Is there now what was there at the beginning? A file that is renamed over another has an inode
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

/* 0, errno or REPLACEMENT_CHANGED. */
static int put_in_place(const replacement *file)
{
    if (!file->guarded) return rename(file->temporary, file->target) ? errno : 0;
    if (!is_as_it_was(file)) return is_folder(file->target) ? EISDIR : REPLACEMENT_CHANGED;
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
void replacement_flush_folder(const char *target)
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
    leftovers_hold();
    if (!code) code = put_in_place(file);
    if (!code) leftovers_forget(file->temporary);
    leftovers_let_go();
    if (code) {
        replacement_abandon(file);
        return code;
    }
    replacement_flush_folder(file->target);
    release(file);
    return 0;
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
