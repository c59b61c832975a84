#include "engine/watchdog.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/leftovers.h"
#include "base/report.h"
#include "base/stop.h"
#include "parallel/team.h"

#define GRACE 0.3    /* seconds for a stretch to end by itself: most take less than half a second */
#define PATIENCE 5.0 /* seconds for a mover to give up its sweep */
#define SILENCE 2.0  /* seconds before the first sweep in which nothing need be said */
#define LONG 30.0    /* seconds of one callback, where it has been said what is done */
#define MOST 600.0   /* seconds of a plugin that checks its parameters */
#define SLOW 10.0    /* seconds: a sweep that takes longer is worth a word */

typedef struct watchdog {
    pthread_t thread;
    pthread_mutex_t core;  /* held by the main thread but while plugins are at work */
    pthread_mutex_t phase; /* of on_guard */
    _Atomic(const char *) resumed, doing;
    _Atomic(double) doing_since;
    double begin, limit;
    int (*save)(void *, bool);
    void *argument;
    bool on_guard; /* there is something to save */
    atomic_bool finished, swept, running;
} watchdog;

static watchdog dog = {.core = PTHREAD_MUTEX_INITIALIZER, .phase = PTHREAD_MUTEX_INITIALIZER};

/* Until then, or until the run has ended. */
static void sleep_until(double deadline)
{
    while (!dog.finished && stop_clock() < deadline) stop_wait(deadline);
}

/* A callback that the main thread is in. */
typedef struct call_at_work {
    crash_record in;
    unsigned long number;
    double since; /* when it was seen first */
} call_at_work;

static call_at_work call_now(void)
{
    call_at_work c = {.since = stop_clock()};
    c.in = crash_of_main(&c.number);
    return c;
}

/* A job would wait for ever where nobody reads the word. */
static void give_up(const call_at_work *call)
{
    leftovers_remove();
    dprintf(STDERR_FILENO, "the callback '%s' of [%s%s] has not returned within %.0f s\n",
            call->in.callback, call->in.kind, call->in.plugin, MOST);
    _exit(EXIT_INTERNAL);
}

/* A word about a callback that does not come back; *told: its number. */
static void tell_call(call_at_work *call, unsigned long *told)
{
    const call_at_work now = call_now();
    const double patience = dog.doing ? LONG : SILENCE;
    if (now.number != call->number) *call = now;
    if (call->in.plugin && !strcmp(call->in.callback, "configure") &&
        now.since - call->since >= MOST)
        give_up(call);
    if (!call->in.plugin || *told == call->number || now.since - call->since < patience) return;
    *told = call->number;
    if (team_leads())
        fprintf(stderr, "the callback '%s' of [%s%s] has been running for %.0f s ...\n",
                call->in.callback, call->in.kind, call->in.plugin, now.since - call->since);
}

/* There is nothing to save. Not by stdio, which the main thread may hold. */
static void leave(void)
{
    char sentence[8400];
    const char *file = dog.resumed;
    leftovers_remove();
    if (file)
        snprintf(sentence, sizeof sentence,
                 "stopped by signal %d before the first sweep; the file is unchanged, "
                 "continue with: plugmc run --resume %s\n",
                 stop_signal(), file);
    else
        snprintf(sentence, sizeof sentence,
                 "stopped by signal %d before the first sweep; nothing was saved\n", stop_signal());
    const call_at_work call = call_now();
    if (call.in.plugin) {
        const size_t used = strlen(sentence);
        snprintf(sentence + used, sizeof sentence - used,
                 "It was in the callback '%s' of [%s%s].\n", call.in.callback, call.in.kind,
                 call.in.plugin);
    }
    if (team_leads() &&
        write(STDERR_FILENO, sentence, strlen(sentence)) < 0) { /* nobody reads it */
    }
    _exit(EXIT_INTERRUPTED);
}

/* Until it is on guard, or the run has ended; or never, after a signal. Each thing that takes long is told
 * once. */
static void wait_for_sweeps(void)
{
    const char *told = NULL;
    unsigned long told_call = 0;
    call_at_work call = call_now();
    for (;;) {
        const char *doing = dog.doing;
        const double word = dog.doing_since + SILENCE;
        const bool waiting = doing && doing != told;
        pthread_mutex_lock(&dog.phase); /* until the end of the process, if it leaves */
        const bool over = dog.on_guard || dog.finished;
        if (!over && stop_signal()) leave();
        pthread_mutex_unlock(&dog.phase);
        if (over) return;
        if (waiting && stop_clock() >= word) {
            if (team_leads()) fprintf(stderr, "%s ...\n", doing);
            told = doing;
        }
        tell_call(&call, &told_call);
        const double again = stop_clock() + SILENCE / 2;
        stop_wait(waiting && doing != told && word < again ? word : again);
    }
}

/* Until the run is told to end; meanwhile, a word about a first sweep that takes long. */
static void wait_for_request(void)
{
    bool told = false;
    for (;;) {
        const double now = stop_clock(), word = dog.begin + SLOW;
        const bool waiting = !told && !dog.swept && team_leads();
        if (dog.finished || stop_signal() || now >= dog.limit) return;
        if (waiting && now >= word) {
            fprintf(stderr,
                    "the first sweep has been running for %.0f s; if the run is stopped, an "
                    "unfinished sweep is repeated when it is resumed\n",
                    SLOW);
            told = true;
            continue;
        }
        stop_wait(waiting && word < dog.limit ? word : dog.limit);
    }
}

/* The main thread may come back from its plugin at any moment; from when the lock is taken it waits
 * there until the process ends. While it is in the core, as when it writes a checkpoint, it will
 * see by itself that it has to end. */
static void *watch(void *unused)
{
    (void)unused;
    wait_for_sweeps();
    wait_for_request();
    const double asked = stop_clock();
    sleep_until(asked + GRACE);
    if (dog.finished) return NULL;
    stop_give_up();
    sleep_until(asked + PATIENCE);
    while (!dog.finished && pthread_mutex_trylock(&dog.core)) sleep_until(stop_clock() + 0.1);
    if (dog.finished) return NULL;
    const int code = dog.save(dog.argument, !stop_signal());
    leftovers_remove();
    _exit(code);
}

int watchdog_begin(void)
{
    sigset_t all, before;
    dog.on_guard = false;
    dog.finished = false;
    dog.swept = false;
    dog.resumed = dog.doing = NULL;
    stop_take_signals();
    sigfillset(&all); /* signals are for the other threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&dog.thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    dog.running = !failed;
    return failed;
}

void watchdog_resumes(const char *path) { dog.resumed = path; }

void watchdog_doing(const char *what)
{
    dog.doing_since = stop_clock();
    dog.doing = what;
    if (dog.running) stop_wake();
}

void watchdog_guard(double limit, int (*save)(void *, bool), void *argument)
{
    if (!dog.running) return;
    pthread_mutex_lock(&dog.core);
    pthread_mutex_lock(&dog.phase);
    dog.begin = stop_clock();
    dog.limit = limit;
    dog.save = save;
    dog.argument = argument;
    dog.on_guard = true;
    pthread_mutex_unlock(&dog.phase);
    stop_take_broken_pipes();
    stop_wake();
}

void watchdog_end(void)
{
    if (!dog.running) return;
    dog.finished = true;
    stop_wake();
    pthread_join(dog.thread, NULL);
    if (dog.on_guard) pthread_mutex_unlock(&dog.core);
    dog.running = false;
}

void watchdog_plugin_begins(void)
{
    if (dog.running) pthread_mutex_unlock(&dog.core);
}

void watchdog_plugin_ended(void)
{
    if (dog.running) pthread_mutex_lock(&dog.core);
}

void watchdog_first_sweep_done(void)
{
    dog.swept = true;
    if (dog.running) stop_wake();
}
