/* Signals noted, and the word that a sweep is to be given up. */
#include "base/stop.h"

#include <errno.h>
#include <math.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_int first_signal;
static atomic_int given_up;
static _Atomic double interrupted_at; /* of the first SIGINT, stop_clock */
static bool slow;                     /* of the main thread */
static sem_t news;

double stop_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Only what is safe in a handler. A program that starts plugmc may pass one Ctrl-C on while the
 * terminal sends it too (timeout does): two within a fifth of a second are one. */
static void take_signal(int number)
{
    static const char leaving[] = "\nsecond interrupt: stopped at once; the file is that of "
                                  "the last checkpoint\n";
    const int error = errno;
    int none = 0;
    if (number == SIGINT) {
        const double now = stop_clock(), before = interrupted_at;
        if (before > 0 && now - before > 0.2) {
            if (write(STDERR_FILENO, leaving, sizeof leaving - 1) < 0) errno = error;
            signal(SIGINT, SIG_DFL);
            raise(SIGINT); /* taken when this handler returns */
        }
        if (before == 0) interrupted_at = now;
    }
    atomic_compare_exchange_strong(&first_signal, &none, number);
    sem_post(&news);
    errno = error;
}

static void take(int number)
{
    const struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART};
    sigaction(number, &action, NULL);
}

void stop_forget(void)
{
    first_signal = 0;
    given_up = 0;
    interrupted_at = 0;
    slow = false;
    sem_init(&news, 0, 0);
}

void stop_take_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
    struct sigaction hangup;
    stop_forget();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) take(numbers[i]);
    if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN) take(SIGHUP);
}

void stop_take_broken_pipes(void) { take(SIGPIPE); }

int stop_signal(void) { return first_signal; }

void stop_as_if(int signal)
{
    int none = 0;
    atomic_compare_exchange_strong(&first_signal, &none, signal);
    sem_post(&news);
}

void stop_wait(double deadline)
{
    if (isinf(deadline)) {
        sem_wait(&news);
        return;
    }
    const struct timespec until = {(time_t)deadline,
                                   (long)(1e9 * (deadline - (double)(time_t)deadline))};
    sem_clockwait(&news, CLOCK_MONOTONIC, &until);
}

void stop_wake(void) { sem_post(&news); }

void stop_give_up(void) { given_up = 1; }
bool stop_given_up(void) { return atomic_load_explicit(&given_up, memory_order_relaxed) != 0; }

void stop_expect_slow(bool is) { slow = is; }
bool stop_expects_slow(void) { return slow; }
