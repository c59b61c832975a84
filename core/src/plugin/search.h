/* Where plugins are looked for; see also loader.h. */
#ifndef PLUGMC_SEARCH_H
#define PLUGMC_SEARCH_H

#include "base/report.h"

/* The first NAME.so of the search path, malloc'ed, or NULL. */
char *find_plugin(const char *name);
/* That there is none of that kind (0: any), with the nearest name that is, the folders, and how to see all. */
void report_missing(const char *name, int kind, const char *file, int line, report *);
#endif
