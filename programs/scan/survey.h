/* A look at the points of a study, through plugmc check --json: is each a run that can be made, how far is it, what has
 * it found? */
#ifndef PLUGMC_SCAN_SURVEY_H
#define PLUGMC_SCAN_SURVEY_H

#include "study.h"

/* Points first ... end - 1. What is wrong with the INI of any of them is reported, each sentence once, and its code
 * returned; what is wrong with an output file makes the point POINT_FAILED. `results`: also takes the averages of the
 * points, and says nothing that an earlier survey has said. */
int survey(study *, int64_t first, int64_t end, bool results, report *);
#endif
