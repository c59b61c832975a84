/* A look at the points of a study with the core's own means: is each a run that can be made, how far is
 * it, what has it found? */
#ifndef PLUGMC_SCAN_SURVEY_H
#define PLUGMC_SCAN_SURVEY_H

#include "study.h"

/* Points first ... end - 1. In child processes (plugins are loaded, files are read, and either may break
 * down on it) each INI is parsed, its plugins are loaded, configured and matched, and its output file, if
 * there is one, is compared with it and read. What is wrong with the INI of any of them is reported, each
 * sentence once, and its code returned; what is wrong with an output file makes the point POINT_FAILED.
 * `results`: also takes the averages of the points, and says nothing that an earlier survey has said. */
int survey(study *, int64_t first, int64_t end, bool results, report *);
#endif
