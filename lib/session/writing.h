/* Checkpoints are written by a thread of their own while sweeps go on, from a copy of what the run is at that
 * moment. One at a time: whoever changes what it reads (averages, the file, what was written) waits for it. */
#ifndef PLUGMC_RUN_WRITING_H
#define PLUGMC_RUN_WRITING_H

#include "archive/trajectory.h"
#include "session/session.h"

enum { KEPT = 4096 };

/* How a write has ended: what there is to say about it, and to remember. */
typedef struct written {
    int code, table_code; /* EXIT_* */
    char why[OUTPUT_WHY], why_table[OUTPUT_WHY];
    char kept[KEPT]; /* the file that was in the way is there now; "": none was */
    /* what stood in place of the file where nothing could be added to it, and what is to say about that */
    enum output_found found;
    char why_found[OUTPUT_WHY];
    bool anew;            /* so another one was made */
    char elsewhere[KEPT]; /* under this name; "": under its own */
    lost_frames lost;     /* frames of a trajectory that was gone */
} written;

/* Writes output and table; may be called in any thread. */
typedef void write_function(const char *path, const char *csv_path, bool in_file, output_data *,
                            written *);

/* Starts to write session->records.output, whose frames go over to the writer. false: there is no memory for a copy, no
 * thread, or nothing that would write apart from this process; then nothing was done. None may be at work. */
bool writing_begin(session *, write_function *);
bool writing_goes_on(const session *);
/* Frames that are with the writer. */
int writing_frames(const session *);
/* Waits for it if `wait`. true: it has ended, and *out says how; session->records.output has what it has written, or the
 * frames again. false: none was at work, or it still is. */
bool writing_end(session *, bool wait, written *out);
#endif
