/* What checks have found. Findings are in memory that a child process shares with its parent, so what a child has found
 * remains if a plugin crashes it. */
#ifndef PLUGMC_VALIDATE_FINDINGS_H
#define PLUGMC_VALIDATE_FINDINGS_H

#include <stdbool.h>
#include <stdio.h>

/* A warning is about what may be meant; it does not change the exit code. */
enum verdict { CHECK_RUNS, CHECK_PASSED, CHECK_FAILED, CHECK_NOT_COVERED, CHECK_WARNING };

typedef struct finding {
    /* The check, in few words, and what it compares. */
    char check[96], compared[240];
    int verdict;
    /* The largest deviation that was met, and what is allowed. NaN: nothing was measured. */
    double worst, limit;
    double begin, seconds;
    /* What is wrong and what to do about it; for a check that is not covered: why. "": nothing. */
    char sentence[1200];
} finding;

enum { MOST_FINDINGS = 200 };

typedef struct findings {
    finding list[MOST_FINDINGS];
    int count;
    /* Behind the name of each check that begins, such as ", oblique box". "": nothing. */
    char where[48];
    /* Which of our boxes was taken. "": that of FILE.ini. */
    char box[96];
    /* Seconds by stop_clock: when the first check began, and when progress was told last. */
    double begun, told;
} findings;

/* NULL: no memory. */
findings *findings_new(void);
void findings_free(findings *);
int findings_failed(const findings *);
/* From now on a line is written there as a check begins, if none has been for ten seconds. */
void findings_tell(int file);

/* One check begins; check_end ends it. `compared` is what is compared with what. */
void check_begin(findings *, const char *check, double limit, const char *compared, ...)
    __attribute__((format(printf, 4, 5)));
/* A deviation was met. If it is the largest so far, and above the limit or not a number, the sentence is kept. Returns
 * whether it is within the limit. */
bool check_value(findings *, double deviation, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));
/* The check fails with this sentence, unless it has failed already. */
void check_fail(findings *, const char *sentence, ...) __attribute__((format(printf, 2, 3)));
/* The running check turns out to be impossible here. */
void check_leave(findings *, const char *why, ...) __attribute__((format(printf, 2, 3)));
/* The running check ends in a warning, unless it has failed. */
void check_warn(findings *, const char *sentence, ...) __attribute__((format(printf, 2, 3)));
/* The check has passed, unless it has failed or was left. */
void check_end(findings *);
/* A check that is not made at all. */
void check_not_covered(findings *, const char *check, const char *why, ...)
    __attribute__((format(printf, 3, 4)));
/* The check that is running; NULL: none. */
finding *check_running(findings *);

void findings_print(FILE *, const findings *);
/* Members of one JSON object: "checks", "passed", "failed", "warnings", "not_covered". */
void findings_json(FILE *, const findings *);
#endif
