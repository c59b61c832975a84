/* What the files of `plugmc bench` share. A benchmark is an INI file with sections [bench] or
 * [bench NAME], each of which becomes a table: keys of the configuration take several values, and
 * for each such case the subjects (movers, or potentials) are timed on the same system. */
#ifndef PLUGMC_CLI_BENCH_H
#define PLUGMC_CLI_BENCH_H

#include "session/session.h"

/* What is timed: sweeps of movers, or a facet of potentials. */
enum { TIME_SWEEPS, TIME_TOTAL, TIME_ORBITALS };

/* A section [bench]. */
typedef struct bench_section {
    int32_t time;       /* TIME_* */
    const char *vary;   /* section.key, ... that take the values; "" for none */
    const char *values; /* of one key: separated by blanks; of several: cases separated by commas */
    const char *which, *one_core, *one_by_one, *single; /* labels of subjects */
    int32_t pairs, profile;
    int64_t warmup, sweeps, repeat, places;
    double limit; /* seconds */
} bench_section;

enum { MOST_SUBJECTS = 16, MOST_KEYS = 8, MOST_CASES = 64 };

/* What is timed: a mover or a potential of the file. */
typedef struct subject {
    const char *label; /* "" if there is only one */
    bool one_core, one_by_one, single;
    bool counts;        /* a mover that changes particle numbers */
    const char *unable; /* why it cannot be timed here; NULL */
    struct {
        double particles, seconds;
    } done[2]; /* the last two cases that were timed, the last one first; seconds of a walker */
} subject;

/* One case of a subject. A call is a sweep, or an evaluation for all walkers. */
typedef struct timing {
    long long particles; /* or places */
    long long orbitals;
    int walkers;
    bool on_gpu;
    int64_t calls, repeat;     /* as many as there was time for */
    double seconds;            /* a call, median */
    double forces, energy;     /* total: a call for forces alone, for energies alone */
    double derivatives;        /* orbitals: a call for values, gradients and Laplacians */
    double trials, acceptance; /* a second; of them accepted */
    double spread;             /* of the timings, of the median */
    double prepare, first;     /* seconds: until kernels are ready; the first call */
    double too_long;           /* not timed: a sweep would take about so many seconds; 0: timed */
    gpu_share *shares;         /* where the GPU's time goes, malloc'ed; NULL if not asked for */
    int share_count;
    int64_t share_calls;
} timing;

/* A line of the table: a value for every key that varies. */
typedef struct bench_case {
    char *value[MOST_KEYS];
} bench_case;

/* One table. */
typedef struct benchmark {
    const char *path;
    const char *table; /* label of its section; "" for [bench] */
    const char *name;  /* of its section */
    char **sets;
    int set_count;
    bench_section section;
    char *keys[MOST_KEYS];
    int key_count;
    bench_case cases[MOST_CASES];
    int case_count;
    subject subjects[MOST_SUBJECTS];
    int subject_count;
    const char *counting; /* label of a mover that changes particle numbers; NULL: there is none */
    report *report;
} benchmark;

/* ---- bench_file.c ---------------------------------------------------------------------------- */

/* Labels of the sections [bench] of a file, at most `room`; malloc'ed. */
int bench_tables(const char *path, char **sets, int set_count, report *, char **labels, int room,
                 int *count);
/* The section `table` with its cases and subjects. */
int bench_read(benchmark *);
/* The configuration of one case and subject, and the section as it is in this case. */
int bench_configure(const benchmark *, const bench_case *, const subject *, bench_section *,
                    config *);

/* ---- bench_clock.c --------------------------------------------------------------------------- */

double bench_now(void); /* seconds */

/* Makes n calls, the first of which is number `first`, and waits until they are done. */
typedef int bench_calls(void *what, uint64_t first, uint64_t n);

typedef struct bench_clock {
    uint64_t next;                /* number of the next call */
    int (*ready)(void *);         /* called before the clock runs, after warm-up; NULL: nothing */
    int64_t calls, repeat, timed; /* of each timing; timings; calls in all timings */
    double seconds, spread;       /* a call, median; of the timings, of the median */
} bench_clock;

/* Times calls as the section says, fewer if the first call, which took `first` seconds, says that
 * the limit would be passed. `next` must be set. Returns an exit code. */
int bench_measure(const bench_section *, double first, bench_calls *, void *what, bench_clock *);
/* Some more calls, looking at every launch. Does nothing unless there is a GPU. */
int bench_profile(const bench_section *, gpu *, bench_calls *, void *what, bench_clock *, timing *);
void bench_print_profile(const timing *);

/* ---- bench_sweeps.c, bench_facets.c ---------------------------------------------------------- */

int bench_time_mover(const benchmark *, const bench_case *, subject *, timing *);
int bench_time_total(const benchmark *, const bench_case *, subject *, timing *);
int bench_time_orbitals(const benchmark *, const bench_case *, subject *, timing *);
#endif
