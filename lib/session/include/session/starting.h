/* The start of a run: the input is read, files are locked, and the state is made or restored. The functions are in the
 * order in which they are called. They return exit codes. */
#ifndef PLUGMC_STARTING_H
#define PLUGMC_STARTING_H

#include "session/session.h"

/* The request. */
typedef struct asked {
    /* The INI file or, with `resume`, the output file to be continued. */
    const char *file;
    /* Contents of the INI file, for which `file` is then only a name. NULL: the file is read. */
    const char *text;
    bool resume, if_there, accept_changes;
    /* SECTION.KEY=VALUE */
    const char *const *sets;
    int set_count;
    /* The run begins again with a larger capacity: session/enlarging.h. */
    bool again;
    /* Capacities [species], malloc'ed. NULL: the run chooses them. */
    int64_t *capacity;
} asked;

/* Reads the configuration from the INI file or, for a resumed run, from its output file into `found`. Loads and
 * checks the plugins. */
int starting_read(session *, const asked *, output_data *found);

/* The file that is continued. `there` is false for a new run. */
typedef struct origin {
    /* Path of the output file. */
    const char *path;
    bool there, if_there, finished;
    /* Stamp of the file when it was compared. */
    char stamp[STAMP_SIZE];
} origin;

/* Collective: finds out whether there is a file to continue. */
int starting_find(session *, const asked *, output_data *found, origin *);
/* For an existing file: checks that program, plugins and files are still the same. `found` is read again once the
 * file is locked. */
int starting_go_on(session *, const asked *, output_data *found, origin *);
/* Checks early that a file can be created at `output`, the value of `key`, and likewise the table of [run] csv. */
int starting_probe(const session *, const char *output, const char *key);

/* Opens the file of [run] log, if requested, and writes the command line to it. */
int starting_log(session *);

/* Files that nobody else may write meanwhile. */
typedef struct own_locks {
    output_lock output, table;
} own_locks;

int starting_lock(session *, own_locks *, const origin *);
/* Locks that were not taken, all zero, are allowed. */
void starting_unlock(own_locks *);

/* Allocates memory and compiles kernels. Prints warnings about unwise input. */
int starting_prepare(session *);
/* Collective: the same, and makes the state. */
int starting_make_state(session *, const asked *, const origin *);
/* Collective: writes a first file and removes it again. */
int starting_rehearse(session *);

/* After ARRAYS_FULL, once the run has been saved: frees everything, and changes the request so that the run begins
 * again from its file with a larger capacity. */
void starting_again(asked *, session *, output_data *found);
#endif
