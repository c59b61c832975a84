/* Errors and warnings: made where the knowledge is, shown here, counted, and turned into the
 * exit code of the program. */
#ifndef PLUGMC_REPORT_H
#define PLUGMC_REPORT_H

#include <stdbool.h>
#include <stdio.h>

/* Exit codes, documented in docs/usage.md and the man page. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_USAGE = 2,      /* command line */
    EXIT_INPUT = 3,      /* INI file, initial state, or a combination that cannot run */
    EXIT_PLUGIN = 4,     /* a plugin that is missing, damaged, of another ABI, or breaks its word */
    EXIT_OUTPUT = 5,     /* output cannot be written */
    EXIT_CHECKPOINT = 6, /* a checkpoint that is truncated, foreign or does not fit */
    EXIT_DEVICE = 7,     /* GPU, driver, kernel compiler */
    EXIT_MEMORY = 8,
    EXIT_INTERNAL = 9,     /* a bug in plugmc or a plugin */
    EXIT_INTERRUPTED = 10, /* by a signal: checkpoint written, run not finished */
    EXIT_TIME_LIMIT = 11,  /* time limit reached: checkpoint written, run not finished */
    EXIT_PEER = 12         /* another process of the same run is gone */
};

enum report_kind { REPORT_NOTE, REPORT_WARNING, REPORT_ERROR };

typedef struct report {
    int errors, warnings;
    int code; /* that of the first error; EXIT_DONE without one */
    /* Of a host program, on whose streams nothing is printed: hears each message, without the end of its line. NULL:
     * they go to stderr. */
    void (*hears)(void *listener, enum report_kind, const char *message);
    void *listener;
    FILE *log; /* where all of it is written as well, with the time; NULL: nowhere */
    bool quiet;
    FILE *held; /* of a process that does not speak: messages since it was asked last */
    char *held_text;
    size_t held_length;
} report;

/* What is neither: prints the sentence to stderr, unless quiet. */
void report_note(const report *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Of many processes one speaks (parallel/team.h): what the others say is kept back, and notes are not said at all. */
void report_hold(report *, bool);
/* What was kept back is printed, as said by this rank; or is forgotten. */
void report_let_go(report *, int rank);
void report_drop(report *);
/* Lines for the log alone, with the newline at their end. */
void report_log(const report *, const char *text);

/* Prints "FILE:LINE: sentence" to stderr (without FILE if NULL, without LINE if 0) and counts
 * it. Returns code. */
int report_error(report *, enum exit_code code, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void report_warning(report *, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The candidate nearest to `word` (edit distance at most a third of its length), or NULL. */
const char *nearest_name(const char *word, const char *const *candidates, int count);

/* A text as messages show it: what is longer than 80 bytes ends in "...". */
typedef struct short_text {
    char text[84];
} short_text;
short_text excerpt(const char *text);

/* For small pieces of memory: returns what it is given, and ends the program with EXIT_MEMORY if
 * that is NULL. In a thread that has named a function for it, that is called instead, and must not return. */
void *checked(void *memory);
void checked_leaves(void (*leave)(void));
#endif
