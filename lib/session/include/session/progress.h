/* Progress of a run: how far it is, its speed, and its results so far. */
#ifndef PLUGMC_RUN_PROGRESS_H
#define PLUGMC_RUN_PROGRESS_H

#include "session/session.h"

/* Largest number of quantities in [run] show. */
enum { MOST_SHOWN = 2 };

typedef struct progress {
    /* stderr is a terminal: one line, which is overwritten. */
    bool terminal;
    double begin, last;
    /* Sweeps done when it began. */
    uint64_t first;
    const quantity_record *shown[MOST_SHOWN];
    int shown_count;
    /* When these quantities were last computed, and how long that took. */
    double looked, took;
    estimate found[MOST_SHOWN];
} progress;

/* Finds the quantities of [run] show. 0, or EXIT_INPUT with the line of the INI file if one does not exist. */
int progress_find(progress *, const session *);
/* The same, and starts the clock. */
int progress_begin(progress *, const session *, double now);
/* Prints a line on stderr, which fits the terminal, at the end and if the last one is old enough: half a second on a
 * terminal, else 30 seconds. With session->tells == TELLS_JSON it prints a JSON object on a line of stdout every
 * second. */
void progress_show(progress *, session *, uint64_t sweep, bool final);
/* Clears the line on a terminal. */
void progress_end(const progress *);

/* "12 s", "3.4 min", "7.5 h", "2.1 d". Returns text. */
const char *duration_words(double seconds, char text[32]);
#endif
