/* Starting the child of a rehearsal and listening to it. See rehearsal.h. */
#include "output/rehearsal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
const char *rehearsal_program;

/* ---- Files that were good ------------------------------------------------------------------- */

/* The last one: a resumed run reads its file more than once. */
typedef struct known {
    char kind[16], detail[256];
    struct stat info;
} known;

static known last_good;

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static void describe(known *k, const char *kind, const char *path, const char *detail)
{
    *k = (known){0};
    snprintf(k->kind, sizeof k->kind, "%s", kind);
    snprintf(k->detail, sizeof k->detail, "%s", detail);
    if (stat(path, &k->info)) k->kind[0] = 0;
}

static bool is_known(const known *k)
{
    return k->kind[0] && !strcmp(k->kind, last_good.kind) &&
           !strcmp(k->detail, last_good.detail) && same_file(&k->info, &last_good.info);
}

/* ---- The child ------------------------------------------------------------------------------ */

/* Its words come through the pipe; it has no other file of ours, and signals as they are in a new
 * program. 0 or errno. */
static int start(pid_t *child, int to_parent, char *const arguments[])
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int code = posix_spawn_file_actions_init(&files);
    if (code) return code;
    code = posix_spawnattr_init(&attributes);
    if (!code) {
        code = posix_spawn_file_actions_adddup2(&files, to_parent, STDOUT_FILENO);
        if (!code)
            code = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (!code)
            code = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        if (!code) code = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
        if (!code) code = posix_spawnattr_setsigdefault(&attributes, &all);
        if (!code) code = posix_spawnattr_setsigmask(&attributes, &none);
        if (!code)
            code = posix_spawnattr_setflags(&attributes,
                                            POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        if (!code)
            code = posix_spawn(child, rehearsal_program, &files, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return code;
}

/* What the child has to say, until it ends. */
static void listen_to(int pipe, char sentence[REHEARSAL_REASON])
{
    size_t n = 0;
    char rest[256];
    for (;;) {
        bool full = n == REHEARSAL_REASON - 1;
        ssize_t got = full ? read(pipe, rest, sizeof rest)
                           : read(pipe, sentence + n, REHEARSAL_REASON - 1 - n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (!full) n += (size_t)got;
    }
    sentence[n] = 0;
}

/* How the child ended, in an exit code and the sentence that it left or one of ours. */
static int judge(int status, enum exit_code damaged, char reason[REHEARSAL_REASON])
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE) return EXIT_DONE;
    if (WIFEXITED(status) && reason[0]) return WEXITSTATUS(status);
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM))
        snprintf(reason, REHEARSAL_REASON, "reading it takes longer than a file of its size should");
    else if (WIFSIGNALED(status))
        snprintf(reason, REHEARSAL_REASON,
                 "the library of HDF5 breaks down on it (%s): it is damaged",
                 strsignal(WTERMSIG(status)));
    else
        snprintf(reason, REHEARSAL_REASON,
                 "the library of HDF5 gives up on it without a reason (exit code %d)",
                 WEXITSTATUS(status));
    return damaged;
}

static int run_child(char *const arguments[], enum exit_code damaged, char reason[REHEARSAL_REASON])
{
    int ends[2], status = 0;
    pid_t child;
    if (pipe2(ends, O_CLOEXEC)) {
        snprintf(reason, REHEARSAL_REASON, "there is no pipe to a child process that reads it: %s",
                 strerror(errno));
        return EXIT_MEMORY;
    }
    int code = start(&child, ends[1], arguments);
    close(ends[1]);
    if (code) {
        close(ends[0]);
        snprintf(reason, REHEARSAL_REASON, "there is no child process that reads it: %s",
                 strerror(code));
        return code == ENOMEM || code == EAGAIN ? EXIT_MEMORY : EXIT_INTERNAL;
    }
    listen_to(ends[0], reason);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return judge(status, damaged, reason);
}

int rehearse(const char *kind, const char *path, const char *detail, enum exit_code damaged,
             char reason[REHEARSAL_REASON])
{
    struct sigaction kept, plain = {.sa_handler = SIG_DFL};
    known now;
    reason[0] = 0;
    if (!rehearsal_program) return EXIT_DONE;
    describe(&now, kind, path, detail);
    if (is_known(&now)) return EXIT_DONE;
    char *const arguments[] = {(char *)"plugmc", (char *)"rehearse", (char *)kind, (char *)path,
                               (char *)detail, NULL};
    sigaction(SIGCHLD, &plain, &kept); /* if it were ignored, nobody would know how the child ended */
    int code = run_child(arguments, damaged, reason);
    sigaction(SIGCHLD, &kept, NULL);
    if (!code) last_good = now;
    return code;
}
