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

/* The answers, all 0, travel to the device behind the conditions. */
static int find_on_gpu(checkerboard *me, const plugmc_host *host, int32_t *forbidden)
{
    const plugmc_gpu *gpu = host->gpu;
    const size_t flags = sizeof(int32_t) * (size_t)me->cells.walkers, bytes = conditions_bytes(me);
    char *packed = (char *)calloc(bytes + flags, 1);
    if (!packed)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for boxes of walkers");
    int code = me->device.proposed
                   ? PLUGMC_OK
                   : gpu->allocate(host->context, bytes + flags, &me->device.proposed);
    pack_conditions(me, me->each.proposed, packed);
    if (!code) code = gpu->upload(host->context, me->device.proposed, packed, bytes + flags);
    if (!code) code = find_touching(me, host, me->device.proposed, me->device.proposed + bytes, 1);
    if (!code) code = gpu->download(host->context, forbidden, me->device.proposed + bytes, flags);
    free(packed);
    return code;
}

/* Asked about boxes: who overlaps in them. In one that does not shrink nobody does. */
static int find_forbidden(checkerboard *me, const plugmc_host *host, const plugmc_changes *changes)
{
    int some = 0;
    for (int w = 0; w < me->cells.walkers; w++) {
        propose_box(me, w, &changes->box[w]);
        if (!cells_hold(me, &me->each.proposed[w])) return PLUGMC_UNANSWERED;
        changes->forbidden[w] = shrinks(&me->each.of[w], &me->each.proposed[w]);
        some |= changes->forbidden[w];
    }
    if (finer_cells_fit(me)) return PLUGMC_UNANSWERED;
    if (some && host->gpu) TRY(find_on_gpu(me, host, changes->forbidden));
    for (int w = 0; w < me->cells.walkers; w++)
        if (changes->forbidden[w])
            changes->forbidden[w] = shrinks(&me->each.of[w], &me->each.proposed[w]) &&
                                    (host->gpu || any_overlap(me, w, &me->each.proposed[w]));
    return PLUGMC_OK;
}

int rescale(void *instance, const plugmc_host *host, const plugmc_changes *changes,
            const int64_t *taken)
{
    checkerboard *me = (checkerboard *)instance;
    TRY(bring_all(me, host)); /* all processes look at all cells, and find the same */
    if (!taken) return find_forbidden(me, host, changes);
    for (int w = 0; w < me->cells.walkers; w++)
        if (taken[w] >= 0) take_box(me, w, &changes->box[w]);
    set_steps(me);
    bound_room(me);
    return PLUGMC_OK;
}
