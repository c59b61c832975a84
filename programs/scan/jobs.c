/* See jobs.h. */
#include "jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "files.h"
#include "logs.h"
#include "base/stop.h"

#define POLL 0.2     /* seconds between looks at points that others run */
#define PATIENCE 15. /* seconds for these: runs whose scan was killed end by then */
#define TOGETHER                                                                                   \
    0.2 /* seconds: two signals within are one, from a terminal and whoever passes it on */

typedef struct job {
    pid_t pid; /* 0: nothing runs here */
    int log;
    int64_t point;
    double begin;
} job;

typedef struct scheduler {
    study *study;
    report *report;
    int64_t first, end, next; /* next: the first point that has not been looked at */
    int64_t *elsewhere;       /* points that another process was running; -1: no more */
    int64_t elsewhere_count, elsewhere_next;
    job *jobs;
    int room, running;
    int64_t done, todo;
    int *codes;           /* [end - first] */
    double waiting_since; /* 0: nothing is waited for */
    double stopped;       /* when the first signal came; 0: none */
    bool leave;
    sigset_t signals;
} scheduler;

/* ---- Starting a run --------------------------------------------------------------------------- */

static void say(const scheduler *s, int64_t point, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(const scheduler *s, int64_t point, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%" PRId64 " of %" PRId64 ": %s ", s->done, s->todo,
            s->study->points[point].name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static void become_run(const scheduler *s, const point *p, int slot, char *ini, int log)
{
    const study *study = s->study;
    const bool gpu = p->wants_gpu && study->gpus > 0;
    char device[64], threads[64];
    char *arguments[10] = {(char *)"plugmc", (char *)"run", ini, (char *)"--resume-if-there"};
    int count = 4, none = open("/dev/null", O_RDONLY);
    snprintf(device, sizeof device, "run.gpu=%d", gpu ? slot % study->gpus : 0);
    snprintf(threads, sizeof threads, "run.threads=%d",
             study->threads > s->room ? study->threads / s->room : 1);
    if (study->accept_changes) arguments[count++] = (char *)"--accept-changed-plugins";
    if (gpu && study->gpus > 1 && !p->own_gpu)
        arguments[count++] = (char *)"--set", arguments[count++] = device;
    if (!gpu && s->room > 1 && !p->own_threads)
        arguments[count++] = (char *)"--set", arguments[count++] = threads;
    dup2(none, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    dprintf(log, "plugmc scan:");
    for (int i = 0; i < count; i++) dprintf(log, " %s", arguments[i]);
    dprintf(log, "\n");
    execv(child_program, arguments);
    dprintf(log, "%s cannot be started: %s\n", child_program, strerror(errno));
    _exit(EXIT_USAGE);
}

/* A run that outlives its scan would be in the way of the next one: it is told to end, as by a signal. */
static pid_t start_child(const scheduler *s, const point *p, int slot, char *ini, int log)
{
    const pid_t parent = getpid(), child = fork();
    if (child) return child;
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(EXIT_INTERRUPTED);
    sigprocmask(SIG_SETMASK, &none, NULL);
    become_run(s, p, slot, ini, log);
    return -1;
}

static void fail(scheduler *s, int64_t k, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void fail(scheduler *s, int64_t k, int code, const char *format, ...)
{
    point *p = &s->study->points[k];
    va_list arguments;
    va_start(arguments, format);
    free(p->sentence);
    if (vasprintf(&p->sentence, format, arguments) < 0) checked(NULL);
    va_end(arguments);
    s->codes[k - s->first] = code;
    s->done++;
    say(s, k, "failed with code %d", code);
}

/* False: another process runs it. */
static bool start(scheduler *s, int64_t k)
{
    point *p = &s->study->points[k];
    char *log_path = study_file(s->study, k, "log"), *ini = study_file(s->study, k, "ini"),
         why[FILES_WHY], *text = study_text(s->study, k, s->report);
    int slot = 0, code = 0;
    while (s->jobs[slot].pid) slot++;
    job *job = &s->jobs[slot];
    *job = (struct job){.log = log_open(log_path), .point = k, .begin = stop_clock()};
    const bool held = job->log < 0 && errno == EWOULDBLOCK;
    if (job->log < 0 && !held)
        fail(s, k, EXIT_OUTPUT, "cannot write %s: %s", log_path, strerror(errno));
    else if (!held && !text)
        fail(s, k, code = s->report->code, "its values cannot be set");
    else if (!held && (code = files_write_text(ini, text, why)))
        fail(s, k, code, "cannot write %s: %s", ini, why);
    if (job->log >= 0 && !code) {
        job->pid = start_child(s, p, slot + (s->end - s->first == 1 ? (int)k : 0), ini, job->log);
        if (job->pid < 0) fail(s, k, EXIT_MEMORY, "no process: %s", strerror(errno));
    }
    if (job->pid > 0) {
        s->running++;
    } else {
        job->pid = 0;
        if (job->log >= 0) close(job->log);
    }
    free(log_path), free(ini), free(text);
    return !held;
}

/* ---- Its end ---------------------------------------------------------------------------------- */

static void finish(scheduler *s, job *job, int status)
{
    const int64_t k = job->point;
    point *p = &s->study->points[k];
    const int by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    /* told to stop before it listened */
    const bool had_not_begun = s->stopped && (by == SIGTERM || by == SIGINT);
    const int number = had_not_begun ? 0 : by;
    int code = WEXITSTATUS(status);
    if (by) code = had_not_begun ? EXIT_INTERRUPTED : EXIT_INTERNAL;
    const double seconds = stop_clock() - job->begin;
    if (!s->leave) log_end(job->log, number ? 128 + number : code);
    close(job->log);
    job->pid = 0;
    s->running--;
    if (s->leave) { /* it was killed here */
        s->codes[k - s->first] = EXIT_INTERRUPTED;
        return;
    }
    if (code == EXIT_DONE || code == EXIT_INTERRUPTED || code == EXIT_TIME_LIMIT) {
        s->codes[k - s->first] = code;
        s->done++;
        say(s, k, "%s (%.1f s)",
            code == EXIT_DONE         ? "finished"
            : code == EXIT_TIME_LIMIT ? "has reached its time limit"
                                      : "was stopped",
            seconds);
        free(p->sentence);
        p->sentence = NULL;
        return;
    }
    char *log = study_file(s->study, k, "log"), *words = log_last_words(log);
    if (number)
        fail(s, k, code, "ended by signal %d, see %s", number, log);
    else
        fail(s, k, code, "%s, see %s", words ? words : "it has printed nothing", log);
    free(log), free(words);
}

static void reap(scheduler *s)
{
    int status;
    for (int i = 0; i < s->room; i++)
        if (s->jobs[i].pid && waitpid(s->jobs[i].pid, &status, WNOHANG) > 0)
            finish(s, &s->jobs[i], status);
}

/* ---- Signals ---------------------------------------------------------------------------------- */

static void tell_runs(const scheduler *s, int number)
{
    for (int i = 0; i < s->room; i++)
        if (s->jobs[i].pid) kill(s->jobs[i].pid, number);
}

/* Runs have Ctrl-C from the terminal, too, and take a second one for a reason to leave: so they are told
 * by another signal. */
static void take_signal(scheduler *s, int number)
{
    const double now = stop_clock();
    if (!s->stopped) {
        fprintf(stderr, "stopped by signal %d: runs write their checkpoints\n", number);
        s->stopped = now;
        tell_runs(s, SIGTERM);
    } else if (number == SIGINT && now - s->stopped > TOGETHER) {
        fputs("second interrupt: stopped at once; files are those of the last checkpoints\n",
              stderr);
        s->leave = true;
        tell_runs(s, SIGKILL);
    }
}

static void choose_signals(sigset_t *set)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGCHLD};
    struct sigaction hangup;
    sigemptyset(set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(set, numbers[i]);
    if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN) sigaddset(set, SIGHUP);
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, nobody would know how a run ended */
}

static void wait_for_news(scheduler *s)
{
    const struct timespec poll = {0, (long)(1e9 * POLL)};
    const bool polls = s->elsewhere_next < s->elsewhere_count;
    const int number =
        polls ? sigtimedwait(&s->signals, NULL, &poll) : sigwaitinfo(&s->signals, NULL);
    if (number > 0 && number != SIGCHLD) take_signal(s, number);
    reap(s);
}

/* ---- Which is next ---------------------------------------------------------------------------- */

/* Points that others run come last, and are waited for a while: it may be the end of runs whose scan was
 * killed. Returns whether one was started, or given up. */
static bool start_elsewhere(scheduler *s)
{
    if (s->elsewhere_next == s->elsewhere_count) return false;
    const int64_t k = s->elsewhere[s->elsewhere_next];
    if (start(s, k)) {
        s->elsewhere_next++;
        return true;
    }
    if (s->running) return false;
    if (!s->waiting_since) s->waiting_since = stop_clock();
    if (stop_clock() - s->waiting_since < PATIENCE) return false;
    s->elsewhere_next++;
    fail(s, k, EXIT_OUTPUT, "another process is running it");
    return true;
}

static bool start_next(scheduler *s)
{
    while (s->next < s->end && s->study->points[s->next].state == POINT_FINISHED) s->next++;
    if (s->next == s->end) return start_elsewhere(s);
    if (!start(s, s->next)) s->elsewhere[s->elsewhere_count++] = s->next;
    s->next++;
    return true;
}

static bool has_more(const scheduler *s)
{
    return !s->stopped && (s->next < s->end || s->elsewhere_next < s->elsewhere_count);
}

/* ---- All of them ------------------------------------------------------------------------------ */

static int room_for(const study *s, int64_t first, int64_t end)
{
    bool gpu = false;
    for (int64_t k = first; k < end; k++) gpu |= s->points[k].wants_gpu;
    int64_t room = s->jobs ? s->jobs : gpu && s->gpus ? s->gpus : 1;
    return (int)(room < end - first ? room : end - first);
}

/* Failed ones are named, with what they said last. */
static int tell_end(const scheduler *s)
{
    int first_failed = 0, stopped = s->stopped > 0, limited = 0;
    for (int64_t k = s->first; k < s->end; k++) {
        const point *p = &s->study->points[k];
        const int code = s->codes[k - s->first];
        stopped |= code == EXIT_INTERRUPTED;
        limited |= code == EXIT_TIME_LIMIT;
        if (!code || code == EXIT_INTERRUPTED || code == EXIT_TIME_LIMIT) continue;
        if (!first_failed) first_failed = code;
        report_error(s->report, (enum exit_code)code, NULL, 0, "point %" PRId64 " (%s) failed: %s",
                     k, p->name, p->sentence ? p->sentence : "");
    }
    return first_failed ? first_failed
           : stopped    ? EXIT_INTERRUPTED
           : limited    ? EXIT_TIME_LIMIT
                        : EXIT_DONE;
}

int jobs_run(study *study, int64_t first, int64_t end, report *r, bool *leave)
{
    scheduler s = {.study = study,
                   .report = r,
                   .first = first,
                   .end = end,
                   .next = first,
                   .room = room_for(study, first, end)};
    char why[FILES_WHY];
    sigset_t before;
    int code = files_make_folder(study->folder, why);
    if (code) return report_error(r, code, NULL, 0, "cannot make %s: %s", study->folder, why);
    s.jobs = checked(calloc((size_t)s.room, sizeof *s.jobs));
    s.codes = checked(calloc((size_t)(end - first), sizeof *s.codes));
    s.elsewhere = checked(calloc((size_t)(end - first), sizeof *s.elsewhere));
    for (int64_t k = first; k < end; k++) s.todo += study->points[k].state != POINT_FINISHED;
    if (!s.todo)
        fprintf(stderr, "%s: all %" PRId64 " points are finished\n", study->path, end - first);
    choose_signals(&s.signals);
    sigprocmask(SIG_BLOCK, &s.signals, &before);
    while (!s.leave && (s.running || has_more(&s))) {
        while (has_more(&s) && s.running < s.room && start_next(&s)) continue;
        if (s.running || has_more(&s)) wait_for_news(&s);
    }
    while (s.leave && s.running) wait_for_news(&s);
    sigprocmask(SIG_SETMASK, &before, NULL);
    code = tell_end(&s);
    *leave = s.leave;
    free(s.jobs), free(s.codes), free(s.elsewhere);
    return code;
}
