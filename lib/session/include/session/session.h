/* A run of an engine: its loop, its files, checkpoints, signals and limits. */
#ifndef PLUGMC_SESSION_H
#define PLUGMC_SESSION_H

#include "archive/spare.h"
#include "engine/echo.h"
#include "engine/threads.h"
#include "records/records.h"

/* What a run says of itself: all; errors, warnings and the table alone; progress and results as JSON. */
enum { TELLS_ALL, TELLS_LITTLE, TELLS_JSON };

/* How the sweeps of this process come along. */
typedef struct course {
    uint64_t first;   /* sweeps that were done before */
    uint64_t stretch; /* sweeps a call, doubled while they take less than a quarter second */
    double expected;  /* seconds a sweep; INFINITY: nobody knows yet */
    double begin, last_checkpoint; /* stop_clock */
    thread_choice threads;
} course;

typedef struct session {
    engine engine;
    records records;
    int tells;                          /* TELLS_* */
    const char *command;                /* the command line, for the file */
    const char *output_path, *csv_path; /* output: of the file that is resumed, or by [run] */
    const char *before;                 /* history of the file that is resumed; NULL: none is */
    uint64_t resumed_at;                /* sweeps done when this process began */
    double limit_from; /* stop_clock from which [run] time_limit counts; 0: when the sweeps begin */
    uint64_t sweep;    /* sweeps done */
    course course;
    bool embedded;       /* a host program says when the file is written, and prints by itself */
    double seconds_base; /* wall time of the stretches before a resume */
    spare spare;         /* of the output file; output.spare is it while the file is locked */
    struct snapshot *snapshot; /* the state to go back to: session/snapshot.h */
    struct writing *writing;   /* of a checkpoint, at work: session/writing.h; NULL: none is */
    const char *displaced;     /* the output whose place another file has taken; NULL: none */
    bool in_file;      /* the file at output_path is this run's: what is written is added to it */
    int failed_writes; /* one after the other, up to now */
    const char *why_failed, *why_table_failed; /* of the last one that did; texts are kept once */
} session;

/* As the functions of the engine of these names (engine/engine.h), with what is recorded and written. */
int session_open(session *);
int session_prepare(session *);
/* Positions and all else from the file of a run that is resumed: session/checkpointing.c. */
int session_resume(session *, const char *path);
/* All: before the first sweep of this process. */
int session_begin(session *);
/* All: sweeps until so many are done. *ended: EXIT_DONE, or why there are fewer: EXIT_INTERRUPTED, EXIT_TIME_LIMIT, or
 * ROOM_IS_SHORT (session/room.h), after which session_save_for_room has to come. SWEEP_GIVEN_UP: the last stretch is
 * not done, and the state is of no use. What is measured and tuned does not depend on where the calls end. `shown`:
 * progress that is told; NULL: none is. */
struct progress;
int session_advance(session *, uint64_t until, struct progress *shown, int *ended);
/* Writes the output as it is now. An exit code. */
int session_checkpoint(session *);
/* Back to the last snapshot, which is written. An exit code. */
int session_save_for_room(session *);
/* The loop until the end, the time limit or a signal. Prints progress to stderr and the table of
 * results to stdout: session/loop.c. */
int session_run(session *);
void session_close(session *);
#endif
