/* Capacity for species whose number of particles varies without a limit ([species] most).
 *
 * The first capacity is a guess. If an insertion finds no free slot, the run goes back to its last snapshot, which
 * is saved, and begins again from it with a larger capacity, in the same process. So the chain does not depend on
 * the capacity. */
#ifndef PLUGMC_RUN_ROOM_H
#define PLUGMC_RUN_ROOM_H

#include "session/session.h"

/* Returned by session_run if the run has been saved and must begin again. */
enum { ARRAYS_FULL = -2 };

/* Whether an insertion of such a species has found no free slot. */
bool arrays_are_full(const session *);
/* Capacities with which the run should begin again, capacity [species]; 0 if that of a species does not grow. Prints a
 * message. */
void enlarge_arrays(session *, int64_t *capacity);
/* Copies the capacities of a file's configuration to the config from which its system will be built. Does nothing if
 * the file has none. */
void capacity_of_file(config *, const output_data *);
/* Copies the positions of a file [walkers][its particles][3] to those of the run. ARRAYS_FULL if a walker of the
 * file has more particles than the capacity of the run; else an exit code. */
int spread_over_capacity(session *, const output_data *, double *positions);
/* Copies orientations of a file [all walkers][its particles] likewise, once its positions have been. */
int spread_orientations(session *, const output_data *, const plugmc_orientation *from,
                        plugmc_orientation *to);
#endif
