/* The number of threads: how many the machine offers to this process, and how many pay while other programs run. */
#ifndef PLUGMC_RUN_THREADS_H
#define PLUGMC_RUN_THREADS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct thread_offer {
    /* The smallest of the following, at least 1. */
    int threads;
    /* Processors on which this process may run. */
    int affinity;
    /* Processor time that its control group may use, in processors. INFINITY: no limit. */
    double quota;
    /* OMP_NUM_THREADS or OMP_THREAD_LIMIT. 0: not set. */
    int openmp;
} thread_offer;

/* Quotas are those of control groups, version 1 and 2: of the group of this process and of all groups above it. They
 * are read below `root`, which is "" except in tests, and rounded up. */
thread_offer threads_offered(const char *root);
/* Why there are so many: "2 processors, of which its control group may use 1.5". Returns `words`. */
const char *threads_why(const thread_offer *, char words[160]);

/* How many threads of this process can run at the same time, up to `wanted`. OpenMP ends the program if it cannot
 * start a thread. So this leaves room for the two threads that the process starts besides, and for a team that is
 * ending. *error: why there are fewer than wanted, or 0. */
int threads_startable(int wanted, int *error);

/* Idle processors of the machine, not counting the one that this thread uses. Negative if programs wait for a
 * processor. NAN: not known, or this process may not run on all of them. */
double threads_left(const char *root);

/* Whether many threads are faster than one depends on the other programs: at a barrier all threads wait for the one
 * whose processor is taken by another program. So both are timed, at first and again from time to time. This happens
 * sooner if sweeps become slower or if other programs have ended. These tries cost 2 % of the time. A run begins
 * with one thread if other programs use the processors. Chains do not depend on the number of threads. */
typedef struct thread_choice {
    /* Numbers of threads. `now` is 1 or `most`. */
    int most, now;
    /* The other number is being timed. */
    bool trying;
    /* One thread is faster, as far as is known because other programs run. */
    bool others;
    /* Seconds per sweep with 1 thread and with `most`. 0: not known. */
    double rate[2];
    /* Processor time per sweep, in seconds, with `most` threads. */
    double cpu;
    /* Seconds per sweep with `now` threads, when the two were last compared. */
    double best_rate;
    /* Since the last switch, except for a short time directly after it. */
    double sweeps, seconds, cpu_seconds;
    /* What is left of this short time, in seconds. */
    double settling;
    /* Batches of sweeps in the same time, and the slowest of them. */
    int stretches;
    double worst_sweeps, worst_seconds;
    /* Clock at the beginning; seconds between tries; clock at the next try. */
    double begin, pause, next;
    /* Seconds that tries with many threads have cost. */
    double lost;
    /* The last value of threads_left(), and the clock at that time. */
    double left, looked;
    /* How often that was called since the last switch. */
    int looks;
    double sweeps_with[2];
} thread_choice;

/* If `most` is 1 there is nothing to choose. `left`: threads_left(). `clock`: the time now, in seconds. */
void thread_choice_begin(thread_choice *, int most, double left, double clock);
/* Largest number of sweeps in the next batch: `wanted`, or fewer. It is fewer with many threads, since these may
 * become a hundred times slower at any moment; during a try; and to notice other programs in time. */
uint64_t thread_choice_sweeps(const thread_choice *, uint64_t wanted);
/* Reports the wall time and the processor time of a batch. Sets `now` for the next one. */
void thread_choice_took(thread_choice *, uint64_t sweeps, double seconds, double cpu_seconds,
                        double clock);
/* After a batch: whether to call threads_left() again; and what it has returned. */
bool thread_choice_looks(const thread_choice *, double clock);
void thread_choice_saw(thread_choice *, double left, double clock);
#endif
