/* See apart.h. The parent has neither threads nor a GPU, so a fork is safe. */
#include "stand.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/crash.h"
#include "base/guarded_memory.h"
#include "base/stop.h"

enum {
    TICK = 100000, /* microseconds between looks at the callback */
    WORDS = 1024,
    COMPILING = 100 /* seconds of processor time that kernels may take */
};

/* What a child leaves to its parent, in memory of both. */
typedef struct remains {
    volatile int finished, result, endless;
    /* Of an endless callback. */
    char kind[32], plugin[96], callback[64];
    /* Where it has read or written. */
    char block[240];
} remains;

static struct {
    remains *remains;
    double seconds;
    /* There is a GPU, for which callbacks that prepare compile kernels. */
    bool compiles;
    /* Of the call that is running. */
    unsigned long calls;
    double cpu, wall;
    /* The check that was running then. */
    const findings *findings;
    int check;
    struct sigaction before[2];
} child;

void *shared_new(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return checked(memory == MAP_FAILED ? NULL : memory);
}

double apart_patience(const target *t) { return t->quick ? 5 : 60; }

/* ---- In the child: endless callbacks --------------------------------------------------------- */

static void tick(int signal)
{
    (void)signal;
    unsigned long calls;
    const crash_record in = crash_of_main(&calls);
    const double cpu = stand_clock(), wall = stop_clock();
    if (calls != child.calls || child.check != child.findings->count || !in.plugin) {
        child.calls = calls;
        child.check = child.findings->count;
        child.cpu = cpu;
        child.wall = wall;
    }
    const bool prepares = child.compiles && in.callback && strcmp(in.callback, "measure");
    const double limit = prepares ? COMPILING + child.seconds : child.seconds;
    if (cpu - child.cpu < limit && wall - child.wall < 4 * limit) return;
    child.remains->endless = 1;
    strncpy(child.remains->kind, in.kind, sizeof child.remains->kind - 1);
    strncpy(child.remains->plugin, in.plugin, sizeof child.remains->plugin - 1);
    strncpy(child.remains->callback, in.callback ? in.callback : "?",
            sizeof child.remains->callback - 1);
    _exit(EXIT_INTERNAL);
}

/* Notes what is behind the address, and leaves the rest to the handler of crash.h. */
static void fault(int number, siginfo_t *info, void *context)
{
    guarded_memory_describe(info->si_addr, child.remains->block, sizeof child.remains->block);
    const struct sigaction *before = &child.before[number == SIGBUS];
    before->sa_sigaction(number, info, context);
}

static void watch(findings *f, remains *left, double seconds)
{
    child.remains = left;
    child.seconds = seconds;
    child.findings = f;
    child.cpu = stand_clock();
    child.wall = stop_clock();
    const struct sigaction on_fault = {.sa_sigaction = fault,
                                       .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    const struct sigaction on_tick = {.sa_handler = tick, .sa_flags = SA_RESTART};
    const int numbers[2] = {SIGSEGV, SIGBUS};
    for (int k = 0; k < 2; k++) {
        sigaction(numbers[k], NULL, &child.before[k]);
        if (child.before[k].sa_flags & SA_SIGINFO) sigaction(numbers[k], &on_fault, NULL);
    }
    const struct itimerval every = {{0, TICK}, {0, TICK}};
    sigaction(SIGALRM, &on_tick, NULL);
    if (isfinite(seconds)) setitimer(ITIMER_REAL, &every, NULL);
}

static void live(const target *t, findings *f, double seconds, apart_work *work, void *argument,
                 remains *left, int errors)
{
    dup2(errors, STDERR_FILENO);
    guarded_memory_begin();
    child.compiles = !*t->why_no_gpu;
    watch(f, left, seconds);
    left->result = work(t, f, argument);
    crash_called();
    left->finished = 1;
    fflush(NULL);
    _exit(EXIT_DONE);
}

/* ---- In the parent: how it ended ------------------------------------------------------------- */

/* What the child has printed, without the words for runs. */
static void read_words(int errors, char words[WORDS])
{
    static const char *const cuts[] = {"; an output file is", "\n"};
    const off_t end = lseek(errors, 0, SEEK_END), from = end > WORDS - 1 ? end - (WORDS - 1) : 0;
    const ssize_t n = pread(errors, words, WORDS - 1, from);
    words[n > 0 ? n : 0] = 0;
    for (char *at; (at = strchr(words, '\n')) && at[1];) memmove(words, at + 1, strlen(at + 1) + 1);
    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
        char *at = strstr(words, cuts[k]);
        if (at) *at = 0;
    }
}

static void tell_death(findings *f, const char *group, const remains *left, int status,
                       double seconds, int errors)
{
    char words[WORDS];
    if (!check_running(f)) check_begin(f, group, NAN, "the plugin comes back from its callbacks");
    finding *now = check_running(f);
    *now->sentence = 0;
    read_words(errors, words);
    if (left->endless)
        check_fail(f,
                   "the callback '%s' of [%s%s] had not returned after %g seconds: look for a loop "
                   "without an end, or try a smaller system",
                   left->callback, left->kind, left->plugin, seconds);
    else if (WIFSIGNALED(status))
        check_fail(f, "the process was ended by signal %d (%s)", WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
    else if (*left->block)
        check_fail(f,
                   "it %s: it reads or writes %s; look at indices and sizes there, and refuse what "
                   "does not fit in 'configure' or 'prepare'",
                   words, left->block);
    else if (*words)
        check_fail(f, "%s%s", strncmp(words, "crashed", 7) ? "" : "it ", words);
    else
        check_fail(f,
                   "the process was ended with code %d: a callback must return, and never call "
                   "exit, _exit or abort",
                   WEXITSTATUS(status));
    check_end(f);
}

int apart(const target *t, findings *f, const char *group, double seconds, apart_work *work,
          void *argument)
{
    remains *left = shared_new(sizeof *left);
    FILE *errors = tmpfile();
    checked(errors);
    fflush(NULL);
    const pid_t process = fork();
    if (process < 0) checked(NULL);
    if (!process) live(t, f, seconds, work, argument, left, fileno(errors));
    const int status = child_wait(process);
    const int result = left->finished ? left->result : APART_DIED;
    if (!left->finished) tell_death(f, group, left, status, seconds, fileno(errors));
    fclose(errors);
    munmap(left, sizeof *left);
    return result;
}

/* ---- Reports --------------------------------------------------------------------------------- */

/* Sentences one after the other, as far as there is room. */
static void hear(void *listener, const report_message *m)
{
    heard *h = listener;
    const size_t used = strlen(h->text);
    if (m->kind != REPORT_ERROR || !m->text) return;
    snprintf(h->text + used, sizeof h->text - used, "%s%s", used ? "; " : "", m->text);
}

void heard_begin(heard *h) { *h = (heard){.report = {.hear = hear, .listener = h}}; }

const char *heard_or(const heard *h, const char *other) { return *h->text ? h->text : other; }

void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder) closedir(folder);
    rmdir(path);
}
