/* A run of an engine: its loop, its files, checkpoints, signals and limits. */
#ifndef PLUGMC_SESSION_H
#define PLUGMC_SESSION_H

#include "archive/spare.h"
#include "engine/echo.h"
#include "records/records.h"

/* What a run says of itself: all; errors, warnings and the table alone; progress and results as JSON. */
enum { TELLS_ALL, TELLS_LITTLE, TELLS_JSON };

typedef struct session {
    engine engine;
    records records;
    int tells;                          /* TELLS_* */
    const char *command;                /* the command line, for the file */
    const char *output_path, *csv_path; /* output: of the file that is resumed, or by [run] */
    const char *before;                 /* history of the file that is resumed; NULL: none is */
    uint64_t resumed_at;                /* sweeps done when this process began */
    double limit_from; /* stop_clock from which [run] time_limit counts; 0: when the sweeps begin */
    double seconds_base;       /* wall time of the stretches before a resume */
    spare spare;               /* of the output file; output.spare is it while the file is locked */
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
/* The loop until the end, the time limit or a signal. Prints progress to stderr and the table of
 * results to stdout: session/loop.c. */
int session_run(session *);
void session_close(session *);
#endif
