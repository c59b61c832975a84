/* Results as JSON (RFC 8259), an object on a line: for programs that watch runs. */
#ifndef PLUGMC_RUN_JSON_H
#define PLUGMC_RUN_JSON_H

#include "records/records.h"

/* On stdout, each behind a comma: a member of the object at hand. What is not finite is null. */
void json_real(const char *name, double value);
void json_text(const char *name, const char *value);
/* {"mean": , "error": , "error_is_lower_bound": , "samples": } */
void json_number(const char *name, const estimate *);
/* What print_results prints, as one line {"event": "results", ...}. */
void json_results(const records *, const char *path);
#endif
