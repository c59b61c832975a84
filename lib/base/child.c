/* See child.h. */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
const char *child_program;

enum { MOST_FILES = 8 };

/* A number that no process may have as there are too few is not allowed either, and says so in other words. */
static int duplicate(int file, int least)
{
    const int copy = fcntl(file, F_DUPFD_CLOEXEC, least);
    if (copy < 0 && errno == EINVAL) errno = EMFILE;
    return copy;
}

/* Descriptors above those of the child, so that none is replaced before it is used. */
static int lift(const int *files, int count, int lifted[MOST_FILES])
{
    for (int i = 0; i < count; i++) {
        lifted[i] =
            files[i] < 0 ? open("/dev/null", O_RDWR | O_CLOEXEC) : duplicate(files[i], count);
        if (lifted[i] >= 0 && lifted[i] < count) {
            int higher = duplicate(lifted[i], count);
            close(lifted[i]);
            lifted[i] = higher;
        }
        if (lifted[i] >= 0) continue;
        int code = errno;
        while (i-- > 0) close(lifted[i]);
        return code;
    }
    return 0;
}

static int set_files(posix_spawn_file_actions_t *actions, const int lifted[MOST_FILES], int count)
{
    int code = 0;
    for (int i = 0; i < count && !code; i++)
        code = posix_spawn_file_actions_adddup2(actions, lifted[i], i);
    return code ? code : posix_spawn_file_actions_addclosefrom_np(actions, count);
}

static int set_signals(posix_spawnattr_t *attributes, bool blocks)
{
    sigset_t all, mask;
    sigfillset(&all);
    sigemptyset(&mask);
    if (blocks) {
        sigfillset(&mask);
        static const int own[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
                                  SIGABRT, SIGCHLD, SIGALRM, SIGXCPU};
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&mask, own[i]);
    }
    int code = posix_spawnattr_setsigdefault(attributes, &all);
    if (!code) code = posix_spawnattr_setsigmask(attributes, &mask);
    if (!code)
        code = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    return code;
}

int child_start(pid_t *child, const int *files, int count, bool blocks_signals,
                char *const arguments[])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int lifted[MOST_FILES];
    int code = lift(files, count, lifted);
    if (code) return code;
    bool with_actions = !(code = posix_spawn_file_actions_init(&actions));
    bool with_attributes = with_actions && !(code = posix_spawnattr_init(&attributes));
    if (!code) code = set_files(&actions, lifted, count);
    if (!code) code = set_signals(&attributes, blocks_signals);
    if (!code) code = posix_spawn(child, child_program, &actions, &attributes, arguments, environ);
    if (with_attributes) posix_spawnattr_destroy(&attributes);
    if (with_actions) posix_spawn_file_actions_destroy(&actions);
    for (int i = 0; i < count; i++) close(lifted[i]);
    return code;
}

int child_converse(pid_t *child, int *socket, const int *files, int count, char *const arguments[])
{
    int ends[2], all[MOST_FILES] = {-1, -1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return errno;
    all[0] = ends[1];
    for (int i = 0; i < count; i++) all[3 + i] = files[i];
    const int code = child_start(child, all, 3 + count, true, arguments);
    close(ends[1]);
    if (code) close(ends[0]);
    *socket = ends[0];
    return code;
}

static bool is_ignored(const struct sigaction *a)
{
    return a->sa_flags & SA_NOCLDWAIT || (!(a->sa_flags & SA_SIGINFO) && a->sa_handler == SIG_IGN);
}

bool child_ends_are_known(struct sigaction *before)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    const bool ignored = sigaction(SIGCHLD, NULL, before) == 0 && is_ignored(before);
    if (ignored) sigaction(SIGCHLD, &plain, NULL);
    return ignored;
}

/* If SIGCHLD is ignored nobody learns how a child ended: -1, which is no end of a good one. */
int child_wait(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

void child_tell_end(int status, const char *what_it_does, const char *guess, char *words,
                    size_t size)
{
    if (status != -1 && WIFSIGNALED(status))
        snprintf(words, size, "the process that %s it was ended by a signal (%s): %s", what_it_does,
                 strsignal(WTERMSIG(status)), guess);
    else
        snprintf(words, size, "the process that %s it ended without an answer (exit code %d): %s",
                 what_it_does, status == -1 ? -1 : WEXITSTATUS(status), guess);
}

bool child_is_shortage(int error)
{
    return error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOMEM;
}
