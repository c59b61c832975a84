/* For tests of the kernel compiler: a folder for its cache, and what is printed to stderr, to look
 * at messages as a user sees them. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s, (void)kind, (void)at;
    return remove(path);
}

static inline void remove_folder(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

typedef struct capture {
    FILE *file;
    int saved;
} capture;

static inline capture capture_begin(void)
{
    capture c = {tmpfile(), -1};
    fflush(stderr);
    c.saved = dup(STDERR_FILENO);
    if (!c.file || c.saved < 0 || dup2(fileno(c.file), STDERR_FILENO) < 0) abort();
    return c;
}

/* The text; freed by the caller. */
static inline char *capture_end(capture *c)
{
    fflush(stderr);
    long bytes = lseek(fileno(c->file), 0, SEEK_END);
    char *text = calloc(1, (size_t)bytes + 1);
    if (!text || pread(fileno(c->file), text, (size_t)bytes, 0) != bytes) abort();
    dup2(c->saved, STDERR_FILENO);
    close(c->saved);
    fclose(c->file);
    return text;
}
#endif
