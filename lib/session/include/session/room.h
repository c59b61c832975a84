/* Room for particles of species that come and go without a largest number ([species] most). It begins with a guess
 * and grows: where somebody finds no room, the run goes back to its last snapshot, is saved, and begins again from
 * that with more room, in the same process. So nothing that happened for want of room is in the chain. */
#ifndef PLUGMC_RUN_ROOM_H
#define PLUGMC_RUN_ROOM_H

#include "session/session.h"

/* What session_run returns where the run has been saved and has to begin again. */
enum { ROOM_IS_SHORT = -2 };

/* Whether somebody of such a species has found no room. */
bool room_is_short(const session *);
/* What the run should begin again with, [species]; 0 where room does not grow. Says so. */
void room_more(session *, int64_t *room);
/* Room of a file's configuration, for the config of whoever builds its system. Nothing if it has none. */
void room_of_file(config *, const output_data *);
/* The positions of a file [walkers][its particles][3] into those of the run. ROOM_IS_SHORT where a walker of the
 * file has more particles than there is room for here; an exit code else. */
int room_spread(session *, const output_data *, double *positions);
#endif
