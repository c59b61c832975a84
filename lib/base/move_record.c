#include "base/move_record.h"

#include <stdlib.h>

void move_records_free(move_record *moves, int count)
{
    for (int i = 0; i < count; i++) {
        move_record *m = &moves[i];
        free(m->mover), free(m->name), free(m->doc), free(m->step_unit);
        free(m->counts), free(m->steps), free(m->tunings);
    }
    free(moves);
}
