/* Points of --at. */
#include <stdlib.h>

#include "reweight.h"

static int find_multipliers(const session *session, point *p, report *r)
{
    for (int k = 0; k < p->count; k++) {
        const char *why = ladder_key_refused(&session->engine.system, p->key[k]);
        if (why) return report_error(r, EXIT_INPUT, NULL, 0, "--at %s: %s", p->key[k], why);
    }
    free(p->multipliers);
    p->multipliers = checked(calloc((size_t)session->engine.ladder.width, sizeof *p->multipliers));
    return ladder_multipliers(&session->engine.config, &session->engine.system, p->count, p->key,
                              p->value, p->multipliers, &p->kT, r);
}

int points_fill(const session *session, point *points, int count, report *r)
{
    int code = 0;
    for (int k = 0; k < count && !code; k++) code = find_multipliers(session, &points[k], r);
    return code;
}
