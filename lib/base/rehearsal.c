/* Starting the child of a rehearsal and listening to it. See rehearsal.h. */
#include "base/rehearsal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/regular_file.h"

/* ---- Files that were good ------------------------------------------------------------------- */

/* The last ones: a resumed run reads its file more than once, and many points have plugins and tables in common. */
enum { KNOWN = 64 };

typedef struct known {
    char kind[16], detail[256];
    struct stat info;
} known;

static known good[KNOWN];
static int next_good;

static void describe(known *k, const char *kind, const char *path, const char *detail)
{
    *k = (known){0};
    snprintf(k->kind, sizeof k->kind, "%s", kind);
    snprintf(k->detail, sizeof k->detail, "%s", detail);
    if (stat(path, &k->info)) k->kind[0] = 0;
}

static bool is_known(const known *k)
{
    for (int i = 0; i < KNOWN && k->kind[0]; i++)
        if (!strcmp(k->kind, good[i].kind) && !strcmp(k->detail, good[i].detail) &&
            file_is_unchanged(&k->info, &good[i].info))
            return true;
    return false;
}

static void remember(const known *k)
{
    if (!k->kind[0] || is_known(k)) return;
    good[next_good] = *k;
    next_good = (next_good + 1) % KNOWN;
}

void rehearsal_was_good(const char *kind, const char *path, const char *detail)
{
    known k;
    describe(&k, kind, path, detail);
    remember(&k);
}

/* ---- The child ------------------------------------------------------------------------------ */

/* All that the child has to say, until it ends. 0 or errno. */
static int listen_to(int pipe, findings *found)
{
    size_t room = 0;
    for (;;) {
        if (found->bytes == room) {
            room = 2 * room + 4096;
            char *more = realloc(found->data, room);
            if (!more) return ENOMEM;
            found->data = more;
        }
        ssize_t got = read(pipe, found->data + found->bytes, room - found->bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 ? errno : 0;
        found->bytes += (size_t)got;
    }
}

/* If it failed it has sent a sentence. */
static void take_sentence(const findings *found, char reason[REHEARSAL_REASON])
{
    size_t n = found->bytes < REHEARSAL_REASON ? found->bytes : REHEARSAL_REASON - 1;
    memcpy(reason, found->data, n);
    reason[n] = 0;
}

/* A sentence about a child that has not left one. */
static void tell_end(int status, const char *kind, char reason[REHEARSAL_REASON])
{
    const bool load = !strcmp(kind, "load"), plugin = !strcmp(kind, "plugin");
    const char *who = load     ? "the loader"
                      : plugin ? "the plugin's function 'rehearse'"
                               : "the library of HDF5";
    const char *verdict = load ? "it is damaged, or its code is wrong" : "it is damaged";
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == SIGXCPU || number == SIGALRM)
        snprintf(reason, REHEARSAL_REASON, "%s takes far too long to read it: %s", who, verdict);
    else if (number)
        snprintf(reason, REHEARSAL_REASON, "%s crashes on it (%s): %s", who, strsignal(number),
                 verdict);
    else
        snprintf(reason, REHEARSAL_REASON, "%s ends the program on it (exit code %d): %s", who,
                 WEXITSTATUS(status), verdict);
}

/* How the child ended, in an exit code and the sentence that it left or one of ours. Code that is
 * loaded may end it as if all were well. */
static int judge(int status, const char *kind, const findings *found, enum exit_code damaged,
                 char reason[REHEARSAL_REASON])
{
    const bool load = !strcmp(kind, "load"), exited = WIFEXITED(status);
    const int code = exited ? WEXITSTATUS(status) : 0;
    if (exited && code == EXIT_DONE && (!load || found->bytes)) return EXIT_DONE;
    if (exited && code != EXIT_DONE && (load ? code == EXIT_MEMORY : found->bytes != 0)) {
        take_sentence(found, reason);
        return code;
    }
    tell_end(status, kind, reason);
    return damaged;
}

static int run_child(char *const arguments[], const char *kind, enum exit_code damaged,
                     findings *found, char reason[REHEARSAL_REASON])
{
    int ends[2];
    pid_t child;
    if (pipe2(ends, O_CLOEXEC)) {
        snprintf(reason, REHEARSAL_REASON, "there is no pipe to a child process that reads it: %s",
                 strerror(errno));
        return EXIT_MEMORY;
    }
    int code = child_start(&child, (int[]){-1, ends[1], -1}, 3, true, arguments);
    close(ends[1]);
    if (code) {
        close(ends[0]);
        snprintf(reason, REHEARSAL_REASON, "there is no child process that reads it: %s",
                 strerror(code));
        return child_is_shortage(code) ? EXIT_MEMORY : EXIT_INTERNAL;
    }
    int listening = listen_to(ends[0], found);
    close(ends[0]); /* a child that is not listened to ends */
    int status = child_wait(child);
    if (listening) {
        snprintf(reason, REHEARSAL_REASON, "what was read cannot be transferred: %s",
                 strerror(listening));
        return EXIT_MEMORY;
    }
    if (status < 0) {
        snprintf(reason, REHEARSAL_REASON,
                 "another part of this process has waited for the child process that reads it");
        return EXIT_INTERNAL;
    }
    return judge(status, kind, found, damaged, reason);
}

int rehearse(const char *kind, const char *path, const char *detail, enum exit_code damaged,
             findings *wanted, char reason[REHEARSAL_REASON])
{
    struct sigaction before;
    findings found = {0};
    known now;
    reason[0] = 0;
    if (!child_program) return EXIT_DONE;
    describe(&now, kind, path, detail);
    if (!wanted && is_known(&now)) return EXIT_DONE;
    char *const arguments[] = {(char *)"plugmc", (char *)"rehearse", (char *)kind,
                               (char *)path,     (char *)detail,     NULL};
    const bool ignored = child_ends_are_known(&before);
    int code = run_child(arguments, kind, damaged, &found, reason);
    if (ignored) sigaction(SIGCHLD, &before, NULL);
    if (!code) remember(&now);
    if (!code && wanted)
        *wanted = found;
    else
        free(found.data);
    return code;
}
