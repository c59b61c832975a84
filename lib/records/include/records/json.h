/* Results as JSON (RFC 8259), an object on a line: for programs that watch runs. */
#ifndef PLUGMC_RUN_JSON_H
#define PLUGMC_RUN_JSON_H

#include "records/records.h"

/* Each behind a comma: a member of the object at hand. What is not finite is null. */
void json_real(FILE *, const char *name, double value);
void json_text(FILE *, const char *name, const char *value);
/* {"mean": , "error": , "error_is_lower_bound": , "samples": } */
void json_number(FILE *, const char *name, const estimate *);
/* "numbers": a list of all averages and derived numbers. */
void json_numbers(FILE *, const output_data *);
/* What print_results prints, as one line {"event": "results", ...}. */
void json_results(const records *, const char *path);
#endif
