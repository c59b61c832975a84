/* The walk from / to a file, folder by folder, each opened in the one before it and looked at
 * through its descriptor: what is checked is what the next step starts from, however quickly
 * somebody exchanges names meanwhile. */
#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "owner.h"
#include "base/report.h"

enum { MOST_LINKS = 40 }; /* as the kernel allows */

typedef struct walk {
    const char *asked;
    int at;        /* the folder reached, as a descriptor */
    char *reached; /* its path; "" for / */
    bool sticky;   /* others may put files into it */
    char *rest;    /* what is still to be walked */
    int links;
} walk;

static bool start(walk *, sentence why);
static char *next_name(walk *);
static bool step(walk *, const char *name, bool folder, trusted *out, sentence why);
static bool open_folder(walk *, trusted *out, sentence why);

bool trusted_open(const char *path, bool folder, trusted *out, sentence why)
{
    walk w = {.asked = path, .at = -1};
    *out = (trusted){.file = -1};
    bool good = start(&w, why);
    for (char *name; good && out->file < 0 && (name = next_name(&w)); free(name))
        good = step(&w, name, folder, out, why);
    if (good && out->file < 0)
        good = folder ? open_folder(&w, out, why) : why_not(why, "%s is not a regular file", path);
    if (w.at >= 0) close(w.at);
    free(w.reached);
    free(w.rest);
    if (!good) trusted_close(out);
    return good;
}

void trusted_close(trusted *t)
{
    if (t->file >= 0) close(t->file);
    free(t->path);
    *t = (trusted){.file = -1};
}

bool trusted_unchanged(const trusted *t)
{
    struct stat opened, named;
    return fstat(t->file, &opened) == 0 && stat(t->path, &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino &&
           opened.st_size == named.st_size && opened.st_mtim.tv_sec == named.st_mtim.tv_sec &&
           opened.st_mtim.tv_nsec == named.st_mtim.tv_nsec;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static bool cannot_open(const walk *w, sentence why)
{
    return why_not(why, "%s cannot be opened: %s", w->asked, strerror(errno));
}

/* The next part of the path, malloc'ed, taken off what is left; NULL at its end. */
static char *next_name(walk *w)
{
    char *name = w->rest + strspn(w->rest, "/");
    size_t length = strcspn(name, "/");
    if (!length) return NULL;
    char *copy = checked(strndup(name, length));
    memmove(w->rest, name + length, strlen(name + length) + 1);
    return copy;
}

/* Takes over the folder `at`, whose path is `reached`, as the one that the next step starts from.
 */
static bool enter(walk *w, int at, char *reached, sentence why)
{
    struct stat status;
    if (w->at >= 0) close(w->at);
    free(w->reached);
    w->at = at;
    w->reached = reached;
    if (fstat(at, &status) != 0) return cannot_open(w, why);
    w->sticky = status.st_mode & S_ISVTX && status.st_mode & (S_IWGRP | S_IWOTH);
    return check_owner(at, *reached ? reached : "/", &status, why);
}

static bool enter_root(walk *w, sentence why)
{
    int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return at < 0 ? cannot_open(w, why) : enter(w, at, checked(strdup("")), why);
}

static bool start(walk *w, sentence why)
{
    char *here = *w->asked == '/' ? checked(strdup("")) : getcwd(NULL, 0);
    if (!here) return cannot_open(w, why);
    if (asprintf(&w->rest, "%s/%s", here, w->asked) < 0) checked(NULL);
    free(here);
    return enter_root(w, why);
}

static bool enter_parent(walk *w, sentence why)
{
    int at = openat(w->at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) return cannot_open(w, why);
    char *slash = strrchr(w->reached, '/');
    return enter(w, at, checked(strndup(w->reached, slash ? (size_t)(slash - w->reached) : 0)),
                 why);
}

/* A link leads on from the folder that it is in. */
static bool follow(walk *w, int link, sentence why)
{
    char target[PATH_MAX + 1], *rest;
    errno = ELOOP;
    ssize_t length = ++w->links > MOST_LINKS ? -1 : readlinkat(link, "", target, PATH_MAX);
    if (length <= 0) return cannot_open(w, why);
    target[length] = 0;
    if (asprintf(&rest, "%s%s", target, w->rest) < 0) checked(NULL); /* rest begins with a '/' */
    free(w->rest);
    w->rest = rest;
    return *target != '/' || enter_root(w, why);
}

/* The file itself. It is opened for reading only now that it is known to be none that waits. */
static bool arrive(walk *w, const char *name, char *path, trusted *out, sentence why)
{
    struct stat status;
    out->path = path;
    out->beside = w->sticky;
    out->file = openat(w->at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (out->file < 0 || fstat(out->file, &status) != 0) return cannot_open(w, why);
    if (!S_ISREG(status.st_mode)) return why_not(why, "%s is not a regular file", w->asked);
    return check_owner(out->file, w->asked, &status, why);
}

static bool step(walk *w, const char *name, bool folder, trusted *out, sentence why)
{
    struct stat status;
    char *path;
    if (strcmp(name, ".") == 0) return true;
    if (strcmp(name, "..") == 0) return enter_parent(w, why);
    int at = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (at < 0 || fstat(at, &status) != 0) {
        bool failed = cannot_open(w, why);
        if (at >= 0) close(at);
        return failed;
    }
    if (asprintf(&path, "%s/%s", w->reached, name) < 0) checked(NULL);
    if (S_ISDIR(status.st_mode)) return enter(w, at, path, why);

    bool good, more = *w->rest != 0; /* if only a '/' */
    if (S_ISLNK(status.st_mode)) {
        good = check_owner(at, path, &status, why) && follow(w, at, why);
    } else if (more || folder) {
        errno = ENOTDIR;
        good = cannot_open(w, why);
    } else if (!S_ISREG(status.st_mode)) {
        good = why_not(why, "%s is not a regular file", w->asked);
    } else {
        close(at);
        return arrive(w, name, path, out, why);
    }
    close(at);
    free(path);
    return good;
}

static bool open_folder(walk *w, trusted *out, sentence why)
{
    out->path = checked(strdup(*w->reached ? w->reached : "/"));
    out->beside = w->sticky;
    out->file = openat(w->at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return out->file >= 0 || cannot_open(w, why);
}
