/* Children of the program: it starts itself (posix_spawn: fork would copy what CUDA and MPI hold)
 * for what HDF5 or the loader of plugins might break down on. */
#ifndef PLUGMC_CHILD_H
#define PLUGMC_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The program to start. NULL: everything is done in this process, as in the child itself and in
 * tests of readers and writers. main says "/proc/self/exe". */
extern const char *child_program;

/* Starts `plugmc COMMAND ...` with the files 0 ... count - 1 (-1: /dev/null) and no others. Signals
 * are as in a new program, or all that might end it are blocked: what is sent to a whole job is for
 * the parent. 0 or errno. */
int child_start(pid_t *, const int *files, int count, bool blocks_signals, char *const arguments[]);
/* The same with a socket as file 0, of which the parent gets the other end, nothing as 1 and 2, and `files` from 3 on. */
int child_converse(pid_t *, int *socket, const int *files, int count, char *const arguments[]);
/* Whether something failed for what another program may give back soon: processes, descriptors, memory. */
bool child_is_shortage(int error);
/* Where SIGCHLD is ignored nobody learns how a child has ended: from here on it is not. True if it was, with what is to be
 * restored. */
bool child_ends_are_known(struct sigaction *before);
/* Waits for its end: the status of waitpid. */
int child_wait(pid_t);
/* A sentence about a child that "reads" or "writes" something and has ended without an answer, and what it may be. */
void child_tell_end(int status, const char *what_it_does, const char *guess, char *words,
                    size_t size);
#endif
