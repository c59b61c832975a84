/* Who may write an output file. See lock.h. */
#include "archive/lock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/leftovers.h"
#include "archive/replacement.h"

void identity_make(char identity[IDENTITY_SIZE])
{
    unsigned char bytes[(IDENTITY_SIZE - 1) / 2];
    for (size_t got = 0; got < sizeof bytes;) {
        ssize_t n = getrandom(bytes + got, sizeof bytes - got, 0);
        if (n < 0 &&
            errno != EINTR) { /* a kernel before 3.17: two processes never agree in these */
            struct timespec t;
            clock_gettime(CLOCK_REALTIME, &t);
            const uint64_t words[2] = {(uint64_t)t.tv_nsec << 32 | (uint32_t)getpid(),
                                       (uint64_t)t.tv_sec};
            memcpy(bytes, words, sizeof bytes);
            break;
        }
        if (n > 0) got += (size_t)n;
    }
    for (size_t i = 0; i < sizeof bytes; i++) sprintf(identity + 2 * i, "%02x", bytes[i]);
}

/* ---- What dead runs have left --------------------------------------------------------------- */

/* "NAME.tmp-" and hexadecimal digits: of the process numbers of earlier versions, too. */
static bool is_temporary(const char *entry, const char *name)
{
    static const char middle[] = ".tmp-";
    size_t length = strlen(name);
    if (strncmp(entry, name, length) || strncmp(entry + length, middle, strlen(middle)))
        return false;
    const char *digits = entry + length + strlen(middle);
    return *digits && strspn(digits, "0123456789abcdef") == strlen(digits);
}

/* The lock is held: nobody is writing them. */
void lock_remove_strays(const char *target)
{
    const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
    char *folder =
        slash ? strndup(target, slash == target ? 1 : (size_t)(slash - target)) : strdup(".");
    DIR *all = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; all && (entry = readdir(all));) {
        struct stat info;
        if (!is_temporary(entry->d_name, name)) continue;
        if (fstatat(dirfd(all), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(info.st_mode))
            unlinkat(dirfd(all), entry->d_name, 0);
    }
    if (all) closedir(all);
    free(folder);
}

/* ---- The lock ------------------------------------------------------------------------------- */

/* What the holder has written, as "process 17 on HOST, since DATE"; it may be anything. */
static void read_holder(int fd, char *words, size_t size)
{
    char text[256] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    char *line = strchr(text, '\n'); /* behind the identity */
    snprintf(words, size, "%s", line ? line + 1 : "somebody");
    for (char *c = words; *c; c++) {
        if (*c == '\n') *c = 0;
        if (!*c) break;
        if (!isprint((unsigned char)*c)) *c = '?';
    }
}

static void write_holder(int fd, const char *identity)
{
    char host[128] = "", date[32], text[256];
    time_t now = time(NULL);
    struct tm utc;
    gethostname(host, sizeof host - 1);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    int n = snprintf(text, sizeof text, "%s\nprocess %d on %s, since %s\n", identity, (int)getpid(),
                     host, date);
    /* For people: the lock itself does not depend on it. */
    if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)n, 0) != n) return;
}

/* Does the name still lead to the file that is open? Its last holder may have removed it between
 * our opening and our locking it. */
static bool is_in_place(const output_lock *lock)
{
    struct stat open, named;
    return fstat(lock->fd, &open) == 0 && stat(lock->path, &named) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

static int open_lock(output_lock *lock)
{
    struct stat info;
    lock->fd = open(lock->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (lock->fd < 0) return errno;
    return fstat(lock->fd, &info) ? errno : S_ISREG(info.st_mode) ? 0 : EEXIST;
}

/* 0 with the lock held, or the errno of what kept us from it. */
static int try_lock(output_lock *lock)
{
    for (;;) {
        int code = open_lock(lock);
        if (code) return code;
        while (flock(lock->fd, LOCK_EX | LOCK_NB))
            if (errno != EINTR) return errno;
        if (is_in_place(lock)) return 0;
        close(lock->fd);
    }
}

int output_lock_take(output_lock *lock, const char *path, const char *identity, report *r)
{
    char *target = checked(replacement_target(path)), holder[256];
    *lock = (output_lock){.fd = -1};
    if (asprintf(&lock->path, "%s.lock", target) < 0) checked(NULL);
    leftovers_hold();
    const bool noted = leftovers_add(lock->path);
    int code = noted ? try_lock(lock) : 0, result = 0;
    lock->held = lock->fd >= 0 && !code;
    if (!lock->held) leftovers_forget(lock->path);
    leftovers_let_go();
    if (!noted) checked(NULL);
    if (lock->fd < 0 && (code == ENOENT || code == ENOTDIR || code == EROFS)) {
        /* it is the folder, in which nothing can be made */
        result = report_error(r, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s", path, strerror(code));
    } else if (lock->fd < 0) {
        result = report_error(r, EXIT_OUTPUT, NULL, 0, "cannot write %s: its lock file %s: %s",
                              path, lock->path, strerror(code));
    } else if (code == EWOULDBLOCK) {
        read_holder(lock->fd, holder, sizeof holder);
        result = report_error(r, EXIT_OUTPUT, NULL, 0,
                              "cannot write %s: another plugmc is writing it (%s)", path, holder);
    } else if (code == EEXIST) {
        result = report_error(r, EXIT_OUTPUT, NULL, 0,
                              "cannot write %s: its lock file %s is not a regular file", path,
                              lock->path);
    } else if (code) {
        report_warning(r, lock->path, 0,
                       "cannot be locked here (%s): do not start a second run with this output; "
                       "each would notice only when it writes",
                       strerror(code));
    } else {
        lock_remove_strays(target);
    }
    if (!result && lock->held) write_holder(lock->fd, identity);
    free(target);
    if (result) output_lock_release(lock);
    return result;
}

int output_lock_take_plain(output_lock *lock, const char *path, report *r)
{
    char identity[IDENTITY_SIZE];
    identity_make(identity);
    return output_lock_take(lock, path, identity, r);
}

void output_lock_release(output_lock *lock)
{
    if (!lock->path) return;
    leftovers_hold();
    if (lock->held) unlink(lock->path); /* while it is held, so that nobody else has it */
    if (lock->held) leftovers_forget(lock->path);
    leftovers_let_go();
    if (lock->fd >= 0) close(lock->fd);
    free(lock->path);
    *lock = (output_lock){.fd = -1};
}
