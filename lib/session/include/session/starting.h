/* How a run comes from what is asked for to its first sweep: input read, its files locked, its state made or taken up.
 * In the order in which these are called; all return exit codes. */
#ifndef PLUGMC_STARTING_H
#define PLUGMC_STARTING_H

#include "session/session.h"

/* What is asked for. */
typedef struct asked {
    const char *file; /* the INI file or, with `resume`, the output file that is gone on with */
    const char *text; /* the INI, of which `file` is only the name; NULL: it is read */
    bool resume, if_there, accept_changes;
    const char *const *sets; /* SECTION.KEY=VALUE */
    int set_count;
    bool again;    /* the run begins again with more room: session/room.h */
    int64_t *room; /* [species], malloc'ed; NULL: as the run has it by itself */
} asked;

/* Reads the configuration from the INI or, where a run is resumed, from its output (into `found`); its plugins are
 * loaded and checked. */
int starting_read(session *, const asked *, output_data *found);

/* What is gone on with; `there` is false for a new run. */
typedef struct origin {
    const char *path; /* of the output file */
    bool there, if_there, finished;
    char stamp[STAMP_SIZE]; /* of what was compared */
} origin;

/* All: whether there is a file to go on with. */
int starting_find(session *, const asked *, output_data *found, origin *);
/* Of one that is there: whether program, plugins and files are still those. `found` is read again once it is locked. */
int starting_go_on(session *, const asked *, output_data *found, origin *);
/* Before hours are spent: whether a file can be made at `output`, which the key names, and the table of [run] csv. */
int starting_probe(const session *, const char *output, const char *key);

/* Opens the file of [run] log, if there is to be one, and begins with the command line. */
int starting_log(session *);

/* What nobody else may write meanwhile. */
typedef struct own_locks {
    output_lock output, table;
} own_locks;

int starting_lock(session *, own_locks *, const origin *);
void starting_unlock(own_locks *); /* also of locks that were not taken, all zero */

/* Memory and kernels; what is unwise in the input is said. */
int starting_prepare(session *);
/* All: that, and the state. */
int starting_make_state(session *, const asked *, const origin *);
/* All: a first file is written and removed again. */
int starting_rehearse(session *);

/* After ROOM_IS_SHORT, where the run has been saved: all that it holds is given back, and the same command begins it
 * again from its file, with more room. */
void starting_again(asked *, session *, output_data *found);
#endif
