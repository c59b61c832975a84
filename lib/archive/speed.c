/* /plugmc/volatile/pace_sweep, pace_seconds [points]: how far the run was at which wall time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "archive/parts.h"

/* Every second one goes; the last one stays. */
static void thin(speed_record *p)
{
    int kept = 0;
    for (int k = 1; k < p->count; k += 2, kept++) {
        p->sweep[kept] = p->sweep[k];
        p->seconds[kept] = p->seconds[k];
    }
    p->count = kept;
    p->interval *= 2;
}

void speed_add(speed_record *p, uint64_t sweep, double seconds, bool anyway)
{
    const int last = p->count - 1;
    if (!(p->interval > 0)) p->interval = 0.05;
    /* a run that is resumed goes on with what there is */
    while (p->count > 2 && p->interval < p->seconds[last] / SPEED_POINTS) p->interval *= 2;
    if (last >= 0 && (sweep <= p->sweep[last] || seconds <= p->seconds[last])) return;
    if (last >= 0 && !anyway && seconds - p->seconds[last] < p->interval) return;
    if (p->count == SPEED_POINTS) thin(p);
    p->sweep[p->count] = sweep;
    p->seconds[p->count++] = seconds;
}

void speed_go_back(speed_record *p, uint64_t sweep)
{
    while (p->count && p->sweep[p->count - 1] > sweep) p->count--;
}

void speed_write(draft *d, const speed_record *p)
{
    const hsize_t count = (hsize_t)p->count;
    if (!count) return; /* arrays without elements are not comparable, says h5diff */
    draft_array(d, "pace_sweep", STORE_UINT64, 1, &count, p->sweep);
    draft_array(d, "pace_seconds", STORE_DOUBLE, 1, &count, p->seconds);
}

static bool makes_sense(const speed_record *p)
{
    for (int k = 0; k < p->count; k++) {
        if (!(p->seconds[k] >= 0) || !isfinite(p->seconds[k])) return false;
        if (k && (p->sweep[k] <= p->sweep[k - 1] || p->seconds[k] <= p->seconds[k - 1]))
            return false;
    }
    return true;
}

void speed_read(store *s, hid_t group, speed_record *p)
{
    hsize_t sweeps = 0, times = 0;
    *p = (speed_record){0};
    if (!store_has(s, group, "pace_sweep")) return; /* of an earlier version */
    uint64_t *sweep = store_get_array(s, group, "pace_sweep", STORE_UINT64, 1, &sweeps);
    double *seconds = store_get_array(s, group, "pace_seconds", STORE_DOUBLE, 1, &times);
    if (!s->failed && (sweeps != times || sweeps > SPEED_POINTS))
        store_fail(s, "what it says of its speed has a wrong shape");
    if (!s->failed) {
        p->count = (int)sweeps;
        memcpy(p->sweep, sweep, sizeof *sweep * (size_t)sweeps);
        memcpy(p->seconds, seconds, sizeof *seconds * (size_t)sweeps);
        if (!makes_sense(p)) store_fail(s, "what it says of its speed makes no sense");
    }
    free(sweep);
    free(seconds);
}
