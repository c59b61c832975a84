/* rescale.c: other boxes for hard particles that are in cells.
 *
 * Places are in units of the cells, and fractional coordinates stay. So with the box only the distances of
 * contact change, in those units: nothing moves, and nothing leaves the cells. All that has to be known is
 * whether somebody overlaps.
 */
#include "checkerboard.h"

static int shrinks(const conditions *from, const conditions *to)
{
    int any = 0;
    for (int a = 0; a < 3; a++) any |= to->length[a] < from->length[a];
    return any;
}

static int find_on_gpu(checkerboard *me, const plugmc_host *host, int32_t *forbidden)
{
    const plugmc_gpu *gpu = host->gpu;
    const size_t bytes = sizeof(int32_t) * (size_t)me->walkers;
    if (!me->d_proposed) {
        TRY(gpu->allocate(host->context, conditions_bytes(me), &me->d_proposed));
        TRY(gpu->allocate(host->context, bytes, &me->d_touching));
    }
    TRY(upload_conditions(me, host, me->proposed, me->d_proposed));
    TRY(gpu->fill(host->context, me->d_touching, 0, bytes));
    TRY(find_touching(me, host, me->d_proposed, me->d_touching, 1));
    return gpu->download(host->context, forbidden, me->d_touching, bytes);
}

/* Asked about boxes: who overlaps in them. In one that does not shrink nobody does. */
static int find_forbidden(checkerboard *me, const plugmc_host *host, const plugmc_changes *changes)
{
    int some = 0;
    for (int w = 0; w < me->walkers; w++) {
        propose_box(me, w, &changes->box[w]);
        if (!cells_hold(me, &me->proposed[w])) return PLUGMC_UNANSWERED;
        changes->forbidden[w] = shrinks(&me->of[w], &me->proposed[w]);
        some |= changes->forbidden[w];
    }
    if (finer_cells_fit(me)) return PLUGMC_UNANSWERED;
    if (some && host->gpu) TRY(find_on_gpu(me, host, changes->forbidden));
    for (int w = 0; w < me->walkers; w++)
        if (changes->forbidden[w])
            changes->forbidden[w] = shrinks(&me->of[w], &me->proposed[w]) &&
                                    (host->gpu || any_overlap(me, w, &me->proposed[w]));
    return PLUGMC_OK;
}

int rescale(void *instance, const plugmc_host *host, const plugmc_changes *changes,
            const int64_t *taken)
{
    checkerboard *me = (checkerboard *)instance;
    if (!taken) return find_forbidden(me, host, changes);
    for (int w = 0; w < me->walkers; w++)
        if (taken[w] >= 0) take_box(me, w, &changes->box[w]);
    set_steps(me);
    bound_room(me);
    return PLUGMC_OK;
}
