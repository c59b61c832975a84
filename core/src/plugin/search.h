/* Where plugins are looked for; see also loader.h. */
#ifndef PLUGMC_SEARCH_H
#define PLUGMC_SEARCH_H

#include "base/report.h"

/* The first NAME.so of the search path, malloc'ed, or NULL. */
char *find_plugin(const char *name);
/* That there is none, with the nearest name and the folders. */
void report_missing(const char *name, const char *file, int line, report *);
#endif
