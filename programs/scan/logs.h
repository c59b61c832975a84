/* The log of a run, NAME.log: all that it says, one part a submission. Whoever runs the point holds a lock
 * on it, and so does the run itself, which has it from there. */
#ifndef PLUGMC_SCAN_LOGS_H
#define PLUGMC_SCAN_LOGS_H

#include <stdbool.h>

/* Opens it to be added to, and takes the lock. The descriptor, or -1 with errno; EWOULDBLOCK: somebody
 * else has it. */
int log_open(const char *path);
/* Its last line: how the run ended. `code` is 128 + the number of a signal that it died of. */
void log_end(int log, int code);
/* The code in that line; -1 without one, as in the log of a run that goes on or was cut off. */
int log_last_code(const char *path);
/* What the run said last, malloc'ed; NULL: nothing. */
char *log_last_words(const char *path);
bool log_is_held(const char *path);
#endif
