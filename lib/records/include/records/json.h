/* Results as JSON (RFC 8259), one object per line, for programs that watch runs. */
#ifndef PLUGMC_RUN_JSON_H
#define PLUGMC_RUN_JSON_H

#include "records/records.h"

/* Each prints a comma and a member of the current object. A value that is not finite is printed as null. */
void json_real(FILE *, const char *name, double value);
void json_text(FILE *, const char *name, const char *value);
/* {"mean": , "error": , "error_is_lower_bound": , "samples": } */
void json_number(FILE *, const char *name, const estimate *);
/* "numbers": a list of all averages and derived results. */
void json_numbers(FILE *, const output_data *);
/* The contents of print_results as one line {"event": "results", ...}. */
void json_results(const records *, const char *path);
#endif
