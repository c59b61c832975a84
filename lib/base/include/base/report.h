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

/* A message, for whoever tells them in a form of its own. */
enum report_kind { REPORT_NOTE, REPORT_WARNING, REPORT_ERROR };

typedef struct report_message {
    enum report_kind kind;
    int code;         /* of an error */
    const char *file; /* NULL: it is about none */
    int line;         /* 0: about none */
    const char *text; /* NULL: there was no memory for it */
} report_message;

typedef struct report {
    int errors, warnings;
    int code; /* that of the first error; EXIT_DONE without one */
    /* Takes the messages, and those that memory is short, instead of the standard error; NULL: they go there. */
    void (*hear)(void *listener, const report_message *);
    void *listener;
    FILE *log; /* where all of it is written as well, with the time; NULL: nowhere */
    bool quiet;
    FILE *held; /* of a process that does not speak: messages since it was asked last */
    char *held_text;
    size_t held_length;
} report;

/* A message as it is printed, with the end of its line. malloc'ed; NULL: there was no memory for it, which ends the
 * program unless somebody hears its messages. */
char *report_line(const report *, const report_message *);
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

/* Whatever a message quotes, a file's or a user's, does not reach the terminal as a command to it: such bytes, and what
 * is no UTF-8, are shown as \x1b. malloc'ed. */
char *report_printable(const char *text);

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
