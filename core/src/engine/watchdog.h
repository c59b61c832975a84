/* A thread that makes sure that a run ends when it should.
 *
 * Before the first sweep there is nothing to save. After a signal the watchdog removes locks and temporary files
 * (leftovers.h) and ends the process at once, whatever the main thread is doing. So it does, with a sentence, if a
 * plugin's `configure` has not returned within ten minutes.
 *
 * Later, after a signal or at the time limit, it first lets the current batch of sweeps end. Then it tells the mover to
 * abandon the batch. If there is no answer within five seconds, it saves the last snapshot and ends the process. This
 * happens if a pair function loops forever or a kernel hangs. */
#ifndef PLUGMC_RUN_WATCHDOG_H
#define PLUGMC_RUN_WATCHDOG_H

#include <stdbool.h>

/* Starts the watchdog and installs the signal handlers (stop.h). Returns non-zero if no thread can be started. */
int watchdog_begin(void);
/* The file from which the run can be resumed if this process fails. The string must stay valid. */
void watchdog_resumes(const char *path);
/* What is being done before the first sweep. It is printed if it takes longer than two seconds. The string must stay
 * valid. */
void watchdog_doing(const char *what);
/* From now on there is something to save. `limit` is a time of stop_clock in seconds; INFINITY: no limit. The watchdog
 * calls `save` in its own thread while a plugin is running in the main thread. The main thread never continues: the
 * result of `save` is the exit code of the process. */
void watchdog_guard(double limit, int (*save)(void *argument, bool at_limit), void *argument);
/* The run has ended by itself. May be called more than once. */
void watchdog_end(void);

/* Call these before and after code of plugins. Only between them may the watchdog save. */
void watchdog_plugin_begins(void);
void watchdog_plugin_ended(void);
/* The first sweep has ended, so the duration of a sweep is known. */
void watchdog_first_sweep_done(void);
#endif
