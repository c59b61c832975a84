/* The child's half of a survey. Its standard error is a file that the parent reads: sentences as the core says
 * them, and between them records, lines that begin with SURVEY_RECORD, words with tabs between them:
 *
 *   machine GPUS THREADS
 *   point K                     what follows is about it
 *   opened CODE                 its INI has been read; sentences from here on are about its output
 *   wants GPU OWN_GPU OWN_THREADS     0 or 1 each, as in `point`
 *   ini BYTES                   and on the next lines so many bytes
 *   result COLUMN UNIT THERE VALUE ERROR CONVERGED
 *   looked CODE THERE FINISHED SWEEP SWEEPS
 */
#ifndef PLUGMC_SCAN_SURVEYOR_H
#define PLUGMC_SCAN_SURVEYOR_H

#include "study.h"

enum { SURVEY_RECORD = '\x1e' };

/* Output files are read in this process, which a damaged one may end; the next surveyor has that one, its first,
 * read by a process of its own: first_apart. */
void surveyor(const study *, int64_t first, int64_t end, bool results, bool first_apart);
#endif
