/* domains.c: one system over several processes, each of which sweeps a slab of rows of cells, along the last axis
 * of the box (in three dimensions these rows are planes).
 *
 * Every process has all cells in its store, and of these its own rows, and some around them, as they are. After a
 * sweep the cells of a row depend on those around it no farther than a row a sub-sweep, and one more for the
 * shift; which ones exactly follows from the order of the sets, from the last back (cb_rows_needed). So a process
 * that has these rows as they were can sweep its slab as if it had all: what it sweeps around it its neighbours
 * sweep too, and come to the same, since random numbers belong to cells. Rows are brought once for several sweeps,
 * as many as cost least: more of them are fewer messages, and more rows that two processes sweep. */
#include "checkerboard.h"

/* How far a sweep reaches at most: two rows for every two sub-sweeps of unlike sets, and one of the shift. */
int rows_of_a_sweep(const checkerboard *me) { return (1 << me->dimension) + 1; }

static int first_of(const checkerboard *me, int part)
{
    return (int)((int64_t)me->m[me->dimension - 1] * part / me->parts);
}

/* Sweeps for which rows are brought at once: so many that the time of these rows and that of messages are alike. A
 * GPU swaps stores in each sweep and records even numbers of them. Seconds: measured, for orders of magnitude. */
static int sweeps_together(const checkerboard *me, const plugmc_host *host)
{
    const double message = host->gpu ? 1e-4 : 2e-5;
    const double trial = (host->gpu ? 5e-11 : 2e-8) * (me->energies || me->dimension == 3 ? 20 : 1);
    double cells = 0.5 * me->m[0];
    for (int a = 1; a < me->dimension - 1; a++) cells *= me->m[a];
    int n = (int)sqrt(message / (rows_of_a_sweep(me) * cells * (double)me->trials * trial));
    const int most = me->rows / rows_of_a_sweep(me);
    if (n > most) n = most;
    if (n > BATCH) n = BATCH;
    return n < 2 ? 1 : n & ~1;
}

int divide_rows(checkerboard *me, const plugmc_host *host)
{
    const int all = me->m[me->dimension - 1];
    me->spread = PLUGMC_HAS(host, spread) ? host->spread : NULL;
    me->parts = me->spread ? me->spread->parts : 1;
    me->first_row = 0;
    me->rows = all;
    me->together = 1;
    if (!me->spread) return PLUGMC_OK;
    const int fewest = all / me->parts;
    if (fewest < rows_of_a_sweep(me))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%d %s of cells along %s cannot be spread over %d processes: a sweep "
                          "reaches %d beyond, so each needs as many",
                          all, me->dimension == 3 ? "planes" : "rows",
                          me->dimension == 3 ? "z" : "y", me->parts, rows_of_a_sweep(me));
    me->rows = fewest; /* so that all have the same number of sweeps together */
    me->together = sweeps_together(me, host);
    me->first_row = first_of(me, me->spread->part);
    me->rows = first_of(me, me->spread->part + 1) - me->first_row;
    return PLUGMC_OK;
}

cb_rows rows_to_sweep(const checkerboard *me, const cb_plan *plan, int left)
{
    const int beyond = left * rows_of_a_sweep(me);
    return cb_rows_needed(plan, me->dimension, me->m[me->dimension - 1], me->first_row - beyond,
                          me->first_row + me->rows - 1 + beyond);
}

int most_rows(const checkerboard *me)
{
    const int all = me->m[me->dimension - 1],
              most = me->rows + 2 * rows_of_a_sweep(me) * me->together;
    return most < all ? most : all;
}

/* ---- Which rows go where ------------------------------------------------------------------------ */

/* Rows of one process that another one needs. */
typedef struct piece {
    int part, row, rows; /* part: who else */
    int comes;           /* they are needed here */
} piece;

/* Whether a part needs a row that is not its own, `depth` rows around its slab. */
static int needs_row(const checkerboard *me, int part, int row, int depth)
{
    const int all = me->m[me->dimension - 1], first = first_of(me, part),
              own = first_of(me, part + 1) - first, from = cb_on_ring(row - first, all);
    return from >= own && (from < own + depth || from >= all - depth);
}

/* Rows of `owner` that `reader` needs, as pieces of rows that follow each other; returns the end. */
static piece *add_pieces(const checkerboard *me, int owner, int reader, int depth, piece *next)
{
    const int comes = reader == me->spread->part;
    piece *last = NULL;
    for (int row = first_of(me, owner); row < first_of(me, owner + 1); row++) {
        if (!needs_row(me, reader, row, depth)) continue;
        if (last && last->row + last->rows == row) {
            last->rows++;
            continue;
        }
        last = next++;
        *last = (piece){comes ? owner : reader, row, 1, comes};
    }
    return next;
}

enum { PIECES = 4 }; /* of a part at most: two go there, two come */

/* pieces [PIECES * parts], part by part, those that go first. */
static int find_pieces(const checkerboard *me, int depth, piece *pieces)
{
    piece *next = pieces;
    for (int part = 0; part < me->parts; part++) {
        if (part == me->spread->part) continue;
        next = add_pieces(me, me->spread->part, part, depth, next);
        next = add_pieces(me, part, me->spread->part, depth, next);
    }
    return (int)(next - pieces);
}

/* ---- On the CPU ----------------------------------------------------------------------------------- */

/* Words of a row in a slot. */
static int64_t words_of_row(const checkerboard *me)
{
    return (me->dimension == 3 ? me->m[1] : 1) * 2 * (int64_t)me->row;
}

static size_t bytes_of_row(const checkerboard *me)
{
    return (size_t)words_of_row(me) *
           ((size_t)me->capacity * ((size_t)me->dimension * sizeof(float) + sizeof(uint32_t)) + 1);
}

/* Between the store and a buffer; returns what is behind it. */
static char *copy_words(void *store, char *buffer, size_t bytes, int to_store)
{
    if (to_store)
        memcpy(store, buffer, bytes);
    else
        memcpy(buffer, store, bytes);
    return buffer + bytes;
}

static char *copy_piece(const checkerboard *me, const piece *p, char *buffer)
{
    const int64_t first = p->row * words_of_row(me);
    const size_t words = (size_t)(p->rows * words_of_row(me));
    for (int k = 0; k < me->capacity; k++) {
        const int64_t at = k * me->plane + first;
        for (int a = 0; a < me->dimension; a++)
            buffer = copy_words(me->now.coordinate + a * me->axis + at, buffer,
                                sizeof(float) * words, p->comes);
        buffer = copy_words(me->now.id + at, buffer, sizeof(uint32_t) * words, p->comes);
    }
    return copy_words(me->now.count + first, buffer, words, p->comes);
}

static int exchange_on_host(checkerboard *me, const plugmc_host *host, const piece *pieces, int n,
                            plugmc_parcel *parcels)
{
    size_t bytes = 1;
    for (int k = 0; k < n; k++) bytes += (size_t)pieces[k].rows * bytes_of_row(me);
    char *buffer = (char *)malloc(bytes), *next = buffer;
    if (!buffer)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for cells of others");
    for (int k = 0; k < n; k++) {
        const size_t size = (size_t)pieces[k].rows * bytes_of_row(me);
        parcels[k] = (plugmc_parcel){.size = sizeof *parcels, .part = pieces[k].part};
        if (pieces[k].comes) {
            parcels[k].receive = next;
            parcels[k].receive_bytes = size;
        } else {
            parcels[k].send = next;
            parcels[k].send_bytes = size;
            copy_piece(me, &pieces[k], next);
        }
        next += size;
    }
    const int code = me->spread->exchange(host->context, PLUGMC_OK, 0, parcels, n);
    next = buffer;
    for (int k = 0; k < n && !code; k++) {
        if (pieces[k].comes) copy_piece(me, &pieces[k], next);
        next += (size_t)pieces[k].rows * bytes_of_row(me);
    }
    free(buffer);
    return code;
}

/* ---- On the GPU ----------------------------------------------------------------------------------- */

/* Rows follow each other in each of the arrays of a store (checkerboard.cu). */
static int exchange_on_device(checkerboard *me, const plugmc_host *host, const piece *pieces, int n,
                              plugmc_parcel *parcels)
{
    const size_t cells = (me->dimension == 3 ? (size_t)me->m[1] : 1) * 2 * (size_t)pitch(me);
    const struct {
        plugmc_device_pointer at;
        size_t row; /* bytes */
    } arrays[] = {{me->on_now.count, cells},
                  {me->on_now.coordinate,
                   cells * (size_t)me->capacity * sizeof(float) * (me->dimension == 3 ? 4 : 2)},
                  {me->on_now.id, cells * (size_t)me->capacity * sizeof(uint32_t)}};
    const int kinds = me->ids && me->dimension == 2 ? 3 : 2;
    plugmc_parcel *next = parcels;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < kinds; i++) {
            const size_t bytes = (size_t)pieces[k].rows * arrays[i].row;
            void *at = (void *)(uintptr_t)(arrays[i].at + (size_t)pieces[k].row * arrays[i].row);
            *next = (plugmc_parcel){.size = sizeof *next, .part = pieces[k].part};
            if (pieces[k].comes) {
                next->receive = at;
                next->receive_bytes = bytes;
            } else {
                next->send = at;
                next->send_bytes = bytes;
            }
            next++;
        }
    return me->spread->exchange(host->context, PLUGMC_OK, 1, parcels, (int32_t)(next - parcels));
}

/* ---- Both ------------------------------------------------------------------------------------------ */

enum { ARRAYS = 3 }; /* of a store */

static int bring(checkerboard *me, const plugmc_host *host, int depth)
{
    const size_t most = (size_t)PIECES * (size_t)me->parts;
    piece *pieces = (piece *)malloc(most * sizeof *pieces);
    plugmc_parcel *parcels = (plugmc_parcel *)malloc(most * ARRAYS * sizeof *parcels);
    int code;
    if (!pieces || !parcels) {
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for lists of cells");
    } else {
        const int n = me->whole ? 0 : find_pieces(me, depth, pieces);
        code = (host->gpu ? exchange_on_device : exchange_on_host)(me, host, pieces, n, parcels);
    }
    free(pieces);
    free(parcels);
    return code;
}

int bring_around(checkerboard *me, const plugmc_host *host, int sweeps)
{
    if (!me->spread) return PLUGMC_OK;
    if (host->stopping(host->context))
        return me->spread->exchange(host->context, PLUGMC_STOPPED, 0, NULL, 0);
    TRY(bring(me, host, sweeps * rows_of_a_sweep(me)));
    me->whole = 0; /* once they have been swept */
    return PLUGMC_OK;
}

int bring_all(checkerboard *me, const plugmc_host *host)
{
    if (!me->spread || me->whole) return PLUGMC_OK;
    TRY(bring(me, host, me->m[me->dimension - 1]));
    me->whole = 1;
    return PLUGMC_OK;
}

int worst_of_all(checkerboard *me, const plugmc_host *host, int *overflow, uint64_t *lost)
{
    int64_t values[2] = {*overflow, (int64_t)*lost};
    if (!me->spread) return PLUGMC_OK;
    TRY(me->spread->largest(host->context, PLUGMC_OK, values, 2));
    *overflow = (int)values[0];
    *lost = (uint64_t)values[1];
    return PLUGMC_OK;
}
