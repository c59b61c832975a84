/* How many threads: what the machine offers to this process, and what pays while others use it. */
#ifndef PLUGMC_RUN_THREADS_H
#define PLUGMC_RUN_THREADS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct thread_offer {
    int threads;  /* the least of these, at least 1 */
    int affinity; /* processors that this process may run on */
    double quota; /* processors' worth of time that its control group may use; INFINITY: all */
    int openmp;   /* OMP_NUM_THREADS or OMP_THREAD_LIMIT; 0: not set */
} thread_offer;

/* Quotas are those of control groups of version 1 and 2, of this process's group and all above it,
 * looked for below `root` ("" but in tests), and rounded up. */
thread_offer threads_offered(const char *root);
/* "2 processors, of which its control group may use 1.5": why so many. Returns words. */
const char *threads_why(const thread_offer *, char words[160]);

/* Threads of this process that can be at work at the same time, up to `wanted`, with room for the two that it starts
 * beside them and for a team that ends: OpenMP ends the program where one is refused. *error: why there are not as
 * many, or 0. */
int threads_startable(int wanted, int *error);

/* Processors of the machine that no program uses now, this thread's own not counted: below 0 where
 * programs wait for one. NAN: not known, or this process may not run on all of them. */
double threads_left(const char *root);

/* Whether many threads are faster than one depends on what else runs: at a barrier all wait for the
 * one whose processor another program has. So both are timed, at first and then again now and then,
 * sooner when sweeps get slower or when others have gone; what is lost in trying is 2 % of the time. A
 * run begins with one thread where others use the processors. Chains do not depend on the number of
 * threads. */
typedef struct thread_choice {
    int most, now;    /* threads; now is 1 or most */
    bool trying;      /* the other number is being timed */
    bool others;      /* one is faster, for all we know since others run */
    double rate[2];   /* seconds a sweep with 1, with most; 0: not known */
    double cpu;       /* seconds of all processors a sweep, with most */
    double best_rate; /* with `now`, when the two were last compared */
    double sweeps, seconds,
        cpu_seconds; /* since the last switch, but for a short time behind it: */
    double settling; /* seconds of that left */
    int stretches;   /* likewise, and the slowest of them: */
    double worst_sweeps, worst_seconds;
    double begin, pause, next; /* clock; seconds between tries; clock, at the next one */
    double lost;               /* seconds that tries with many threads have cost */
    double left, looked;       /* threads_left() of late; clock, when that was */
    int looks;                 /* how often, since the last switch */
    double sweeps_with[2];
} thread_choice;

/* most: 1 leaves nothing to choose. left: threads_left(). clock: seconds, now. */
void thread_choice_begin(thread_choice *, int most, double left, double clock);
/* Sweeps of the next stretch, at most: `wanted`, or fewer with many threads, which may at any moment
 * become a hundred times slower, while something is being tried, and so that others are noticed. */
uint64_t thread_choice_sweeps(const thread_choice *, uint64_t wanted);
/* What a stretch took: wall time and that of all processors. Sets `now` for the next one. */
void thread_choice_took(thread_choice *, uint64_t sweeps, double seconds, double cpu_seconds,
                        double clock);
/* Whether to look at what others leave, after a stretch; and what was seen, threads_left(). */
bool thread_choice_looks(const thread_choice *, double clock);
void thread_choice_saw(thread_choice *, double left, double clock);
#endif
