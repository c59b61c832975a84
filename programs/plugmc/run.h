/* What plugmc run and plugmc check share. */
#ifndef PLUGMC_CLI_RUN_H
#define PLUGMC_CLI_RUN_H

#include "session/session.h"

enum { MOST_SETS = 64, MOST_ARCHITECTURES = 16 };

typedef struct arguments {
    const char *file;
    bool resume, if_there, accept_changes, help;
    bool json, points, results; /* of check: programs/plugmc/points.h */
    int processes;              /* of a run that is checked; 0: one */
    int tells;                  /* TELLS_* */
    const char *sets[MOST_SETS];
    int set_count;
    int architectures[MOST_ARCHITECTURES];
    int architecture_count;
    bool again;    /* the run begins again with more room: session/room.h */
    int64_t *room; /* [species]; NULL: as the run has it by itself */
} arguments;

/* An exit code, after a sentence. */
int run_parse(int argc, char **argv, bool check, arguments *);
/* Reads the configuration from the INI file or, where a run is resumed, from its output (into `found`); its plugins are
 * loaded and checked. */
int run_read_configuration(session *, const arguments *, output_data *found);
/* Whether a file can be made at `output`, which the key names, and the table of [run] csv. */
int run_probe(const session *, const char *output, const char *key);
int run_prepare(session *);
#endif
