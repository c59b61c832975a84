/* The child is this program once more, not a fork of it: a copy of a process that has begun to use
 * a GPU or MPI is good for nothing. It is told what to do by an environment variable that is looked
 * at before main, so that every program with the core in it can do it. */
#include "plugin/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/loader.h"

#define VARIABLE "PLUGMC_TRIAL" /* holds the path */

enum {
    ANSWER = 3,        /* descriptor on which the child says that it has survived */
    MOST_SECONDS = 60, /* of a child that waits for something */
    MOST_CPU_SECONDS = 10
};

static bool on_trial; /* this is the child */

/* ---- The child ------------------------------------------------------------------------------- */

/* Reads every text of a descriptor to its end. */
static size_t read_texts(const plugmc_plugin *d)
{
    size_t length = 0;
    const char *const texts[] = {d->name, d->summary, d->reference, d->text, d->text_name};
    for (int i = 0; i < PLUGMC_COUNT(texts); i++) length += texts[i] ? strlen(texts[i]) : 0;
    for (int i = 0; i < d->parameter_count; i++) {
        const plugmc_parameter *p = &d->parameters[i];
        const char *const words[] = {p->name, p->fallback, p->unit, p->choices, p->doc};
        for (int k = 0; k < PLUGMC_COUNT(words); k++) length += words[k] ? strlen(words[k]) : 0;
    }
    return length;
}

__attribute__((constructor)) static void load_and_leave(void)
{
    const char *path = getenv(VARIABLE);
    const struct rlimit none = {0, 0}, short_time = {MOST_CPU_SECONDS, MOST_CPU_SECONDS};
    char why[1024];
    loaded plugin;
    if (!path) return;
    on_trial = true;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &short_time);
    alarm(MOST_SECONDS);
    if (plugin_open(path, 0, &plugin, why, sizeof why)) {
        volatile size_t read = read_texts(plugin.plugin);
        (void)read;
        plugin_unload(&plugin);
    }
    _exit(write(ANSWER, "", 1) == 1 ? EXIT_DONE : EXIT_INTERNAL);
}

/* ---- The parent ------------------------------------------------------------------------------ */

/* The environment with VARIABLE; the caller frees the list and its first entry. */
static char **environment_with(const char *path)
{
    size_t count = 0;
    while (environ[count]) count++;
    char **list = checked(malloc((count + 2) * sizeof *list));
    if (asprintf(&list[0], VARIABLE "=%s", path) < 0) checked(NULL);
    memcpy(list + 1, environ, (count + 1) * sizeof *list);
    return list;
}

/* 0, or an errno. Nothing that the plugin prints is shown, and Ctrl-C at the terminal is for the
 * parent. */
static int start_child(const char *path, int answer, pid_t *child)
{
    char *arguments[] = {"plugmc", NULL}, **environment = environment_with(path);
    const char *program = "/proc/self/exe";
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t all;
    if (access(program, X_OK) != 0) program = (const char *)getauxval(AT_EXECFN);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&files, answer, ANSWER);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes, &all);
    sigemptyset(&all);
    posix_spawnattr_setsigmask(&attributes, &all);
    int code = posix_spawn(child, program, &files, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    free(environment[0]);
    free(environment);
    return code;
}

/* How the child ended, if it has said nothing. `status` is -1 where nobody knows. */
static bool tell_end(const char *path, int status, sentence why)
{
    if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_MEMORY)
        return true; /* short of memory, which the parent will be, too, or not */
    if (status != -1 && WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        if (number == SIGALRM || number == SIGXCPU || number == SIGKILL)
            return why_not(why, "%s is damaged, or its code is wrong: loading it does not end",
                           path);
        return why_not(why,
                       "%s is damaged, or its code is wrong: loading it ends in signal %d (%s)",
                       path, number, strsignal(number));
    }
    return why_not(why, "%s is damaged, or its code is wrong: loading it ends the program", path);
}

bool survives_loading(const char *path, sentence why)
{
    int ends[2], status = -1;
    char answer;
    pid_t child;
    if (on_trial) return true;
    int code = pipe2(ends, O_CLOEXEC) ? errno : 0;
    if (code)
        return why_not(why, "%s cannot be tried in a child process: %s", path, strerror(code));
    code = start_child(path, ends[1], &child);
    close(ends[1]);
    ssize_t got = 0;
    while (!code && (got = read(ends[0], &answer, 1)) < 0 && errno == EINTR) continue;
    while (!code && waitpid(child, &status, 0) < 0)
        if (errno != EINTR) { /* who ignores SIGCHLD is not told */
            status = -1;
            break;
        }
    close(ends[0]);
    if (code)
        return why_not(why, "%s cannot be tried in a child process: %s", path, strerror(code));
    return got == 1 || tell_end(path, status, why);
}
