/* A thread that sees to it that a run ends when it is told to: after a signal, or at the time
 * limit, it first lets the stretch at hand end, then tells the mover to give it up, and if nothing
 * comes back in five seconds, as from a pair function that loops or a kernel that hangs, it saves
 * the last snapshot and ends the process. */
#ifndef PLUGMC_RUN_WATCHDOG_H
#define PLUGMC_RUN_WATCHDOG_H

#include <stdbool.h>

/* Starts it. Times are seconds of stop_clock; limit: INFINITY without one. `save` is called in the
 * watchdog's thread while a plugin is at work in the main thread, to which it never returns; its
 * result is the exit code of the process. Returns non-zero if there is no thread to be had. */
int watchdog_begin(double limit, int (*save)(void *argument, bool at_limit), void *argument);
/* The run has come to its end by itself. */
void watchdog_end(void);

/* Around the time that plugins may take: only then may the watchdog save. */
void watchdog_plugin_begins(void);
void watchdog_plugin_ended(void);
/* The first sweep is over: how long one takes is known. */
void watchdog_first_sweep_done(void);
#endif
