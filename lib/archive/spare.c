/* See spare.h. Its name is in the list of leftovers as long as it is there. */
#include "archive/spare.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/leftovers.h"

/* ---- May it be written? ------------------------------------------------------------------------------------- */

/* On others a process of another machine may have it open. */
static bool is_of_this_machine(int fd)
{
    enum { XFS = 0x58465342, ZFS = 0x2fc12fc1 }; /* not in magic.h of all kernels */
    static const unsigned long known[] = {
        EXT4_SUPER_MAGIC,      XFS, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, TMPFS_MAGIC,
        OVERLAYFS_SUPER_MAGIC, ZFS};
    struct statfs info;
    if (fstatfs(fd, &info)) return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((unsigned long)info.f_type == known[i]) return true;
    return false;
}

/* The kernel gives a lease for writing on what nobody else has open. Should somebody open it just then, the signal
 * that says so is one that is ignored. */
static bool is_nobody_elses(int fd)
{
    const bool given = !fcntl(fd, F_SETSIG, SIGURG) && !fcntl(fd, F_SETLEASE, F_WRLCK);
    if (given) fcntl(fd, F_SETLEASE, F_UNLCK);
    fcntl(fd, F_SETSIG, 0);
    return given;
}

static bool is_as_it_was(const struct stat *now, const struct stat *was)
{
    return S_ISREG(now->st_mode) && now->st_dev == was->st_dev && now->st_ino == was->st_ino &&
           now->st_size == was->st_size && now->st_mtim.tv_sec == was->st_mtim.tv_sec &&
           now->st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

bool spare_is_worth(const spare *s, int fd, const struct stat *old, const touched *differs)
{
    return old->st_nlink == 1 && old->st_size >= s->least && !differs->unknown &&
           is_of_this_machine(fd) && is_nobody_elses(fd);
}

/* ---- Bringing it up to date --------------------------------------------------------------------------------- */

/* From the same place to the same place. */
static bool copy_range(int from, int to, off_t at, off_t end)
{
    while (at < end) {
        off_t in = at, out = at;
        const ssize_t n = copy_file_range(from, &in, to, &out, (size_t)(end - at), 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
    }
    return true;
}

static bool bring_up_to_date(const spare *s, int from, int to, off_t size)
{
    bool good = !ftruncate(to, size);
    for (uint64_t begin, end = 0; good && touched_next(&s->differs, &begin, &end);)
        good = copy_range(from, to, (off_t)begin, (off_t)end < size ? (off_t)end : size);
    return good;
}

static bool is_usable(const spare *s, int fd, int from, struct stat *now)
{
    struct stat own;
    return fd >= 0 && from >= 0 && !fstat(fd, &own) && !fstat(from, now) &&
           is_as_it_was(&own, &s->own) && own.st_nlink == 1 && is_as_it_was(now, &s->next) &&
           is_nobody_elses(fd);
}

/* ---- Keeping it --------------------------------------------------------------------------------------------- */

static void forget(spare *s)
{
    free(s->path);
    touched_free(&s->differs);
    *s = (spare){.least = s->least};
}

int spare_take(spare *s, const char *path, const char *target, struct stat *now)
{
    if (!s->path) return -1;
    if (strcmp(s->path, path)) {
        spare_drop(s);
        return -1;
    }
    int fd = open(s->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int from = open(target, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const bool good = is_usable(s, fd, from, now) && bring_up_to_date(s, from, fd, now->st_size) &&
                      !fchmod(fd, now->st_mode & 0777);
    if (from >= 0) close(from);
    if (good) {
        forget(s);
        return fd;
    }
    if (fd >= 0) close(fd);
    spare_drop(s);
    return -1;
}

bool spare_keep(spare *s, const char *path, const struct stat *old, const struct stat *next,
                touched *differs)
{
    forget(s);
    s->path = strdup(path);
    if (!s->path) return false;
    s->own = *old;
    s->next = *next;
    s->differs = *differs;
    *differs = (touched){0};
    return true;
}

void spare_drop(spare *s)
{
    if (s->path) {
        leftovers_hold();
        unlink(s->path);
        leftovers_forget(s->path);
        leftovers_let_go();
    }
    forget(s);
}
