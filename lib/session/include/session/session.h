/* A run of an engine: its loop, its files, checkpoints, signals and limits. */
#ifndef PLUGMC_SESSION_H
#define PLUGMC_SESSION_H

#include "engine/echo.h"
#include "engine/threads.h"
#include "records/records.h"

/* What a run prints: everything; only errors, warnings and the table; progress and results as JSON. */
enum { TELLS_ALL, TELLS_LITTLE, TELLS_JSON };

/* Timing of the sweeps of this process. */
typedef struct course {
    /* Sweeps that were done before. */
    uint64_t first;
    /* Sweeps of a batch. Doubled while a batch takes less than a quarter of a second. */
    uint64_t stretch;
    /* Seconds per sweep. INFINITY: not known yet. */
    double expected;
    /* Times of stop_clock. */
    double begin, last_checkpoint;
    thread_choice threads;
} course;

typedef struct session {
    engine engine;
    records records;
    /* TELLS_* */
    int tells;
    /* The command line, for the output file. */
    const char *command;
    /* `output_path` is the file that is resumed, or that of [run] output. */
    const char *output_path, *csv_path;
    /* History of the file that is resumed. NULL: a new run. */
    const char *before;
    /* Sweeps done when this process began. */
    uint64_t resumed_at;
    /* Time of stop_clock from which [run] time_limit counts. 0: from the first sweep. */
    double limit_from;
    /* Sweeps done. */
    uint64_t sweep;
    course course;
    /* A host program decides when the file is written, and does its own printing. */
    bool embedded;
    /* Wall time of the parts of the run before a resume. */
    double seconds_base;
    /* The state to which the run can go back: session/snapshot.h. */
    struct snapshot *snapshot;
    /* The checkpoint that is being written: session/writing.h. NULL: none. */
    struct writing *writing;
    /* The output that another file has replaced. NULL: none. */
    const char *displaced;
    /* The file at output_path belongs to this run, so data are appended to it. */
    bool in_file;
    /* Number of consecutive failed writes up to now. */
    int failed_writes;
    /* Reasons of the last failure. Each string is stored once. */
    const char *why_failed, *why_table_failed;
} session;

/* As engine_open and engine_prepare (engine/engine.h), and also prepare what is recorded and written. */
int session_open(session *);
int session_prepare(session *);
/* Restores positions and everything else from the file of a run that is resumed: session/checkpointing.c. */
int session_resume(session *, const char *path);
/* Collective, before the first sweep of this process. */
int session_begin(session *);
/* Collective. Sweeps until `until` sweeps are done. *ended: EXIT_DONE, or why there are fewer: EXIT_INTERRUPTED,
 * EXIT_TIME_LIMIT, or ARRAYS_FULL (session/enlarging.h). After ARRAYS_FULL call session_save_to_enlarge. Returns
 * SWEEP_GIVEN_UP if the last batch was abandoned; the state can then no longer be used. Measurements and tuning do
 * not depend on where the calls end. `shown`: progress to be printed; NULL: none. */
struct progress;
int session_advance(session *, uint64_t until, struct progress *shown, int *ended);
/* Writes the output as it is now. Returns an exit code. */
int session_checkpoint(session *);
/* Goes back to the last snapshot and writes it. Returns an exit code. */
int session_save_to_enlarge(session *);
/* Sweeps until the end, the time limit or a signal. Prints progress to stderr and the table of results to stdout:
 * session/loop.c. */
int session_run(session *);
void session_close(session *);
#endif
