/* Files that a process must not leave behind: locks, and what is written under a name of its own to be
 * renamed. They are listed, so that a thread can remove them all and end the process, wherever the
 * others are. */
#ifndef PLUGMC_LEFTOVERS_H
#define PLUGMC_LEFTOVERS_H

#include <stdbool.h>

/* Between these two nobody removes them: for making, renaming or removing one together with its entry
 * in the list. */
void leftovers_hold(void);
void leftovers_let_go(void);
/* A copy of the path is kept. false: memory is short. Where the name is known, it is noted before the file
 * is made, so that no file is there that nobody would remove. */
bool leftovers_add(const char *path);
void leftovers_forget(const char *path);

/* Removes all, and forgets them: whoever would have done so has been left in the middle of his work. */
void leftovers_clear(void);
/* Removes all. Whoever holds the list from then on waits for the end of the process. */
void leftovers_remove(void);
#endif
