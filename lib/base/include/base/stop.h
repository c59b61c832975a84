/* How a run is asked to end: by signals, which are only noted, and by the word that the sweep at
 * hand is to be given up, which movers ask for through plugmc_host.stopping. */
#ifndef PLUGMC_RUN_STOP_H
#define PLUGMC_RUN_STOP_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM, SIGHUP (unless nohup has it ignored), SIGUSR1, SIGUSR2 and SIGXCPU are
 * noted. A second SIGINT, a fifth of a second or more after the first, ends the process as if it had
 * not been caught. */
void stop_take_signals(void);
/* SIGPIPE, too: until there is something to save, it is of no concern that nobody reads messages. */
void stop_take_broken_pipes(void);
/* Nothing was noted so far. */
void stop_forget(void);
/* The first signal that was noted; 0 if none was. */
int stop_signal(void);
/* As if it had come here: another process of the run has got it. Safe in a handler of signals. */
void stop_as_if(int signal);

/* Waits for a signal, for stop_wake, or until `deadline` (seconds of stop_clock; INFINITY: for
 * ever). May return early. */
void stop_wait(double deadline);
void stop_wake(void);
double stop_clock(void); /* seconds, monotonic */

/* Sweeps are to be given up from now on; movers hear it from any thread. */
void stop_give_up(void);
bool stop_given_up(void);

/* A stretch that will take longer than half a second, or nobody knows how long: then a mover that
 * asks between launches waits for those before the last one. Else there is nothing to wait for. */
void stop_expect_slow(bool slow);
bool stop_expects_slow(void);
#endif
