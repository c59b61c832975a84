/* plugmc check --json: many points of an INI file, a line of JSON each. */
#ifndef PLUGMC_CLI_POINTS_H
#define PLUGMC_CLI_POINTS_H

#include "run.h"

/* With a->points those of the standard input, else the file as it is. The exit code of the first point that is not good. */
int points_check(const arguments *);
#endif
