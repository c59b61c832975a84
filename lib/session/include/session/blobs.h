/* All of a run's state but positions, as the output file has it: named rows of bytes. */
#ifndef PLUGMC_BLOBS_H
#define PLUGMC_BLOBS_H

#include "session/session.h"

/* Of all plugins and of the state. malloc'ed. An exit code. */
int blobs_save(session *, blob **, int *count);
void blobs_free(blob *, int count);
/* Back from those of the output that was read; movers that lack something of the state take it before they go on, as
 * they would have. An exit code. */
int blobs_take_up(session *);
/* Of a file that was read to look at its results: the mover that weighs macrostates takes up its weights, on which what
 * it derives hangs. An exit code. */
int blobs_take_weights(session *);
/* Whether all rows were saved: of those that nobody has saved there would be zeros. An exit code. */
int blobs_check_rows(const session *, const blob *, int count);
#endif
