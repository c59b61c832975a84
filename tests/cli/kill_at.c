/* For LD_PRELOAD: kills the program and the process that writes for it at call number $KILL_AT, of both, of what changes
 * files or tells the other one of it. Of bytes that were to be written then, half are. $CALLS is a file of 8 zeros, which
 * has their count. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static long *calls, last;
static pid_t program; /* the one that was started first */

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("CALLS"), *at = getenv("KILL_AT"), *first = getenv("KILL_PROGRAM");
    char number[24];
    const int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    void *map = file < 0 ? MAP_FAILED
                         : mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    program = first ? (pid_t)atol(first) : getpid();
    snprintf(number, sizeof number, "%ld", (long)program);
    setenv("KILL_PROGRAM", number, 1);
    last = at ? atol(at) : 0;
    if (map != MAP_FAILED) calls = map;
}

static int is_last(void) { return calls && __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED) == last; }

static void end(void)
{
    kill(program, SIGKILL);
    kill(getpid(), SIGKILL);
}

/* The function of the C library behind one of this name. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *data, size_t bytes)
{
    const int dies = file != STDOUT_FILENO && file != STDERR_FILENO && is_last();
    const ssize_t written = REAL(write)(file, data, dies ? bytes / 2 : bytes);
    if (dies) end();
    return written;
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t at)
{
    const int dies = is_last();
    const ssize_t written = REAL(pwrite)(file, data, dies ? bytes / 2 : bytes, at);
    if (dies) end();
    return written;
}

/* Questions about a file that is read are shorter. */
ssize_t send(int to, const void *data, size_t bytes, int flags)
{
    if (bytes > 1000 && is_last()) end();
    return REAL(send)(to, data, bytes, flags);
}

int rename(const char *from, const char *to)
{
    if (is_last()) end();
    return REAL(rename)(from, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    if (is_last()) end();
    return REAL(renameat2)(a, from, b, to, flags);
}

int unlink(const char *path)
{
    if (is_last()) end();
    return REAL(unlink)(path);
}

int ftruncate(int file, off_t bytes)
{
    if (is_last()) end();
    return REAL(ftruncate)(file, bytes);
}

int fsync(int file)
{
    if (is_last()) end();
    return REAL(fsync)(file);
}

int fdatasync(int file)
{
    if (is_last()) end();
    return REAL(fdatasync)(file);
}
