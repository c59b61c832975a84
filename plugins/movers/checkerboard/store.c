/* store.c: the memory of cells on the host. */
#include "checkerboard.h"

size_t coordinate_bytes(const checkerboard *me)
{
    return sizeof(float) * me->cells.walkers * me->cells.walker;
}
size_t id_bytes(const checkerboard *me)
{
    return sizeof(uint32_t) * me->cells.walkers * me->cells.axis;
}
size_t count_bytes(const checkerboard *me) { return (size_t)me->cells.walkers * me->cells.plane; }

void free_store(store *s)
{
    free(s->coordinate);
    free(s->id);
    free(s->count);
    *s = (store){0};
}

int allocate_store(const checkerboard *me, store *s)
{
    const size_t behind = LANES * sizeof(float); /* which row.c reads there, but for nothing */
    *s = (store){(float *)calloc(coordinate_bytes(me) + behind, 1),
                 (uint32_t *)calloc(id_bytes(me) + behind, 1),
                 (uint8_t *)calloc(count_bytes(me) + behind, 1)};
    if (s->coordinate && s->id && s->count) return 1;
    free_store(s);
    return 0;
}

void copy_store(const checkerboard *me, store *to, const store *from)
{
    memcpy(to->coordinate, from->coordinate, coordinate_bytes(me));
    memcpy(to->id, from->id, id_bytes(me));
    memcpy(to->count, from->count, count_bytes(me));
}

/* wide.c goes round the box by itself. */
void refresh_images(const checkerboard *me, const store *s, int walker, int64_t base)
{
    if (me->cells.wide) return;
    int64_t first = base + PAD, last = base + PAD + me->cells.half - 1;
    uint8_t *count = s->count + walker * me->cells.plane;
    count[first - 1] = count[last];
    count[last + 1] = count[first];
    int filled = count[last] > count[first] ? count[last] : count[first];
    if (filled > me->cells.capacity) filled = me->cells.capacity; /* while cells grow */
    for (int a = 0; a < me->cells.dimension; a++)
        for (int k = 0; k < (a ? filled : me->cells.capacity); k++) { /* x says who is there */
            float *v = s->coordinate + walker * me->cells.walker + a * me->cells.axis +
                       k * me->cells.plane;
            v[first - 1] = v[last];
            v[last + 1] = v[first];
        }
    for (int k = 0; k < filled && me->cells.ids; k++) {
        uint32_t *v = s->id + walker * me->cells.axis + k * me->cells.plane;
        v[first - 1] = v[last];
        v[last + 1] = v[first];
    }
}

void normalise(const checkerboard *me, store *s)
{
    const int end = PAD + me->cells.half, wide = me->cells.wide;
#pragma omp parallel for collapse(2) num_threads(me->system->threads)
    for (int w = 0; w < me->cells.walkers; w++)
        for (int64_t row = 0; row < (int64_t)me->cells.m[1] * me->cells.m[2] * 2; row++) {
            for (int k = 0; k < (wide ? 1 : me->cells.capacity); k++) {
                const int64_t at = place_of(me, row * me->cells.row + end, k);
                const size_t words =
                    (size_t)(me->cells.row - end) * (size_t)(wide ? me->cells.capacity : 1);
                for (int a = 0; a < me->cells.dimension; a++)
                    memset(s->coordinate + w * me->cells.walker + a * me->cells.axis + at, 0,
                           sizeof(float) * words);
                memset(s->id + w * me->cells.axis + at, 0, sizeof(uint32_t) * words);
            }
            for (int q = 0; q < me->cells.half; q++) {
                int64_t word = row * me->cells.row + PAD + q;
                for (int k = s->count[w * me->cells.plane + word]; k < me->cells.capacity; k++) {
                    for (int a = 0; a < me->cells.dimension; a++)
                        s->coordinate[w * me->cells.walker + a * me->cells.axis +
                                      place_of(me, word, k)] = a ? 0 : PLUGMC_NOWHERE;
                    s->id[w * me->cells.axis + place_of(me, word, k)] = 0;
                }
            }
            refresh_images(me, s, w, row * me->cells.row);
        }
}

int lay_out(checkerboard *me, const plugmc_host *host)
{
    free_store(&me->now);
    free_store(&me->next);
    set_strides(me);
    TRY(check_slots(me, host));
    if (allocate_store(me, &me->now) && allocate_store(me, &me->next)) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the cells (%.0f MiB)",
                      2 * (double)(coordinate_bytes(me) + id_bytes(me)) / 1048576);
}

/* An array of all slots of a walker, 4 bytes each, into a wider one. */
static void copy_slots(const checkerboard *me, const checkerboard *wider, const void *from,
                       void *to)
{
    const size_t piece = 4 * (size_t)(me->cells.wide ? me->cells.capacity : me->cells.axis);
    const size_t stride = 4 * (size_t)(me->cells.wide ? wider->cells.capacity : wider->cells.axis);
    const int64_t pieces = me->cells.wide ? me->cells.plane : 1;
    for (int64_t i = 0; i < pieces; i++)
        memcpy((char *)to + (size_t)i * stride, (const char *)from + (size_t)i * piece, piece);
}

int grow(checkerboard *me, const plugmc_host *host)
{
    checkerboard wider = *me;
    wider.cells.capacity += wider.cells.capacity / 2 > 2 ? wider.cells.capacity / 2 : 2;
    if (wider.cells.capacity > most_slots(me)) wider.cells.capacity = most_slots(me);
    if (me->cells.capacity == most_slots(me)) {
        char depth[32] = "";
        if (me->cells.dimension == 3)
            snprintf(depth, sizeof depth, " x %g", me->each.of[0].width[2]);
        return host->fail(
            host->context, PLUGMC_ERROR_STATE,
            "more than %d particles in one cell of %g x %g%s, where the average is %.3g: the "
            "system has collapsed, or the cells or the range of the potential are too large "
            "for mover '" CB_NAME "'",
            most_slots(me), me->each.of[0].width[0], me->each.of[0].width[1], depth,
            (double)me->system->particles / me->cells.m[0] / me->cells.m[1] / me->cells.m[2]);
    }
    set_strides(&wider);
    int code = check_slots(&wider, host);
    if (code) return code;
    const int now = allocate_store(&wider, &wider.now), next = allocate_store(&wider, &wider.next);
    if (!now || !next) {
        free_store(&wider.now);
        free_store(&wider.next);
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d slots a cell",
                          wider.cells.capacity);
    }
    memcpy(wider.now.count, me->now.count, count_bytes(me));
    for (int w = 0; w < me->cells.walkers; w++) {
        for (int a = 0; a < me->cells.dimension; a++)
            copy_slots(me, &wider, me->now.coordinate + w * me->cells.walker + a * me->cells.axis,
                       wider.now.coordinate + w * wider.cells.walker + a * wider.cells.axis);
        copy_slots(me, &wider, me->now.id + w * me->cells.axis,
                   wider.now.id + w * wider.cells.axis);
    }
    free_store(&me->now);
    free_store(&me->next);
    *me = wider;
    normalise(me, &me->now);
    return PLUGMC_OK;
}
