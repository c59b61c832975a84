/* Joining the other processes of a run, and leaving them: MPI, and the watch over each other. */
#include "liveness.h"
#include "meeting.h"
#include "parallel/team.h"

int team_join(report *r, int code)
{
    code = team_meet(r, code);
    return code || !team_has_met() ? code : liveness_begin(r);
}

void team_leave(void)
{
    if (!team_has_met()) return;
    if (!team_is_guest()) liveness_end();
    team_part();
}
