/* What a run tells while it runs: how far it is, how fast, what it has found so far. */
#ifndef PLUGMC_RUN_PROGRESS_H
#define PLUGMC_RUN_PROGRESS_H

#include "session/session.h"

enum { MOST_SHOWN = 2 }; /* quantities of [run] show */

typedef struct progress {
    bool terminal; /* one line, which is written over */
    double begin, last;
    uint64_t first; /* sweeps done when it began */
    const quantity_record *shown[MOST_SHOWN];
    int shown_count;
    double looked, took; /* at these quantities: when, and for how long */
    estimate found[MOST_SHOWN];
} progress;

/* Finds what [run] show names; 0, or EXIT_INPUT with the line of the INI for what is not there. */
int progress_find(progress *, const session *);
/* The same, and its clock starts. */
int progress_begin(progress *, const session *, double now);
/* Half a second after the last time on a terminal, 30 elsewhere, or at the end: a line on stderr that fits
 * the terminal; with session->tells == TELLS_JSON, every second, an object on a line of stdout. */
void progress_show(progress *, session *, uint64_t sweep, bool final);
/* Takes the line of a terminal away. */
void progress_end(const progress *);

/* "12 s", "3.4 min", "7.5 h", "2.1 d". Returns text. */
const char *duration_words(double seconds, char text[32]);
#endif
