/* Writing the output file and the table of scalars, and what becomes of a run whose output cannot
 * be written. */
#ifndef PLUGMC_SAVING_H
#define PLUGMC_SAVING_H

#include "session/session.h"

/* Writes session->records.output, complete for this moment. Where that fails, the run goes on and tries again
 * at its next checkpoint: a warning, and 0. With `last` there is no next one: the output goes into
 * another file, session->output_path is that if it could be written, and the exit code EXIT_OUTPUT. */
/* Unless it is the last one it goes on in a thread of its own (session/writing.h), and what becomes of it is said by the
 * next of these calls. */
int save(session *, bool last);
/* If a write has ended since, or (saving_wait) once it has: says so. An exit code as `save` gives it. */
int saving_look(session *);
int saving_wait(session *);
#endif
