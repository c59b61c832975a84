/* What plugmc run and plugmc check share. */
#ifndef PLUGMC_CLI_RUN_H
#define PLUGMC_CLI_RUN_H

#include "session/starting.h"

enum { MOST_SETS = 64, MOST_ARCHITECTURES = 16 };

typedef struct arguments {
    asked asked;
    bool help;
    bool json, points, results; /* of check: programs/plugmc/points.h */
    int processes;              /* of a run that is checked; 0: one */
    int tells;                  /* TELLS_* */
    const char *sets[MOST_SETS];
    int architectures[MOST_ARCHITECTURES];
    int architecture_count;
} arguments;

/* An exit code, after a sentence. */
int run_parse(int argc, char **argv, bool check, arguments *);
#endif
