/* The state of a run except positions, as stored in the output file: named rows of bytes. */
#ifndef PLUGMC_BLOBS_H
#define PLUGMC_BLOBS_H

#include "session/session.h"

/* Saves the rows of all plugins and of the state. malloc'ed. Returns an exit code. */
int blobs_save(session *, blob **, int *count);
void blobs_free(blob *, int count);
/* Restores the state from the rows of the output that was read. Movers load what they lack of the state before they
 * continue, as they would have done without the interruption. Returns an exit code. */
int blobs_take_up(session *);
/* For a file that was read only for its results: restores the weights of macrostates in their mover, since its derived
 * results depend on them. Returns an exit code. */
int blobs_take_weights(session *);
/* Checks that all rows were saved. Rows that nobody has saved would be zero. Returns an exit code. */
int blobs_check_rows(const session *, const blob *, int count);
#endif
