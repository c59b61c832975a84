/* Writes the output file and the table of scalars, and handles output that cannot be written. */
#ifndef PLUGMC_SAVING_H
#define PLUGMC_SAVING_H

#include "session/session.h"

/* Writes session->records.output, which is complete for this moment. If that fails, there is a warning, 0 is
 * returned, and the run tries again at its next checkpoint. With `last` there is no next checkpoint. After a failure
 * the output is then written to another file, session->output_path becomes the name of that file if it could be
 * written, and EXIT_OUTPUT is returned. Without `last` a thread of its own does the writing (session/writing.h), and
 * the next call of these functions reports the result. */
int save(session *, bool last);
/* Reports the result of a write if it has ended; saving_wait first waits for it. Both return an exit code as `save`
 * does. */
int saving_look(session *);
int saving_wait(session *);
#endif
