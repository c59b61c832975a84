/* A thread that sees to it that a run ends when it is told to. Before the first sweep there is nothing
 * to save: after a signal it removes locks and temporary files (leftovers.h) and ends the process at
 * once, whatever the main thread is doing. From then on, after a signal or at the time limit, it first
 * lets the stretch at hand end, then tells the mover to give it up, and if nothing comes back in five
 * seconds, as from a pair function that loops or a kernel that hangs, it saves the last snapshot and
 * ends the process. */
#ifndef PLUGMC_RUN_WATCHDOG_H
#define PLUGMC_RUN_WATCHDOG_H

#include <stdbool.h>

/* Starts it, and takes signals (stop.h). Returns non-zero if there is no thread to be had. */
int watchdog_begin(void);
/* The file, in memory that stays, with which one can go on if nothing comes of this process. */
void watchdog_resumes(const char *path);
/* What is being done before the first sweep, in memory that stays: said if it takes longer than two
 * seconds. */
void watchdog_doing(const char *what);
/* Now there is something to save. Times are seconds of stop_clock; limit: INFINITY without one. `save`
 * is called in the watchdog's thread while a plugin is at work in the main thread, to which it never
 * returns; its result is the exit code of the process. */
void watchdog_guard(double limit, int (*save)(void *argument, bool at_limit), void *argument);
/* The run has come to its end by itself. May be called again. */
void watchdog_end(void);

/* Around the time that plugins may take: only then may the watchdog save. */
void watchdog_plugin_begins(void);
void watchdog_plugin_ended(void);
/* The first sweep is over: how long one takes is known. */
void watchdog_first_sweep_done(void);
#endif
