/* domains.c: one system over several processes (plugmc/domain_decomposition.h).
 *
 * Each process has cells for the whole box and sweeps some layers of them, its domain: rows along the last axis in
 * two dimensions, planes in three. What happens in a cell depends on the cells next to it and on random numbers that
 * belong to it. So a process that also sweeps what is around its domain, as far as that matters, comes to the same
 * cells as one that sweeps all of them, bit for bit. How far that is follows from the sets of the sweep: a layer for
 * each sub-sweep whose set has the parity of the layer at the edge, and one for the shift: five at most in two
 * dimensions, nine in three. These layers are brought from the processes that they belong to, for one sweep or for
 * several that follow each other: that is fewer messages, and more layers that two processes sweep.
 */
#include "checkerboard.h"

/* Layers of a box. */
static int layers(const checkerboard *me) { return me->cells.m[me->cells.dimension - 1]; }

static int on_ring(int layer, int m) { return (layer % m + m) % m; }

static domain domain_of(const checkerboard *me, int part)
{
    const int64_t m = layers(me);
    const int first = (int)(m * part / me->others.spread->parts),
              end = (int)(m * (part + 1) / me->others.spread->parts);
    return (domain){first, end - first};
}

domain own_domain(const checkerboard *me)
{
    return me->others.spread ? domain_of(me, me->others.spread->part) : (domain){0, layers(me)};
}

/* So many sweeps that a hundredth or two of all layers are swept twice for them. A GPU has swept two hundred rows of
 * hard disks in the time of a message, and dozens of rows of hexagons: of those twentieths pay. Measured:
 * bench/results/2026-11-26-spread-two-h100.md, 2026-11-30-spread-bodies-h200.md. */
static int sweeps_at_once(const checkerboard *me, const plugmc_host *host)
{
    enum { ENOUGH = 8, DOMAIN = 40, OF_ROWS = 8 };
    const int rows = host->gpu && (tiled(me) || (CB_BODIES && me->cells.dimension == 2));
    const int around = (1 << me->cells.dimension) + 1, domain = rows ? OF_ROWS : DOMAIN;
    const int n = layers(me) / me->others.spread->parts / (domain * around);
    return n < 1 ? 1 : n < ENOUGH ? n : ENOUGH;
}

int check_domains(checkerboard *me, const plugmc_host *host)
{
    me->others.spread = plugmc_decomposition_of(host);
    me->others.at_once = me->set.exchange_every > 0 ? (int)me->set.exchange_every : 1;
    if (!me->others.spread) return PLUGMC_OK;
    if (!me->set.exchange_every) me->others.at_once = sweeps_at_once(me, host);
    if (layers(me) >= me->others.spread->parts) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "the box has %d layers of cells along its last edge, too few for %d "
                      "processes: start at most %d",
                      layers(me), me->others.spread->parts, layers(me));
}

/* ---- What sweeps need ---------------------------------------------------------------------------- */

/* Layers before and behind a domain that n sweeps from `first` on need, and which of them each sub-sweep and shift
 * takes, windows [n]. Back from the end: active layers at the edge of what is needed after a sub-sweep need the next
 * one before it. */
static void look_around(const checkerboard *me, domain own, uint64_t first, int n,
                        cb_window (*windows)[CB_WINDOWS], int *before, int *behind)
{
    const int axis = me->cells.dimension - 1, m = layers(me), end = own.first + own.layers;
    int low = own.first, high = end - 1;
    for (int i = n - 1; i >= 0; i--) {
        const cb_plan plan = plan_of(me, first + (uint64_t)i, 0);
        const int all = high - low + 1;
        windows[i][CB_OF_SHIFT] =
            (cb_window){on_ring(low, m), all < m ? all : m, own.first, own.layers};
        if (me->set.shift_cells && plan.axis == axis) {
            low -= plan.sign < 0;
            high += plan.sign > 0;
        }
        for (int part = (1 << me->cells.dimension) - 1; part >= 0; part--) {
            const int parity = plan.set[part] >> axis & 1;
            const int least = low + ((low ^ parity) & 1), last = high - ((high ^ parity) & 1);
            const int active = (last - least) / 2 + 1;
            windows[i][part] = (cb_window){on_ring(least, m), active < m / 2 ? active : m / 2,
                                           own.first, own.layers};
            low = low < least ? low : least - 1;
            high = high > last ? high : last + 1;
        }
    }
    *before = own.first - low;
    *behind = high - (end - 1);
}

cb_window window_of(const checkerboard *me, const cb_plan *plan, int sweep, int part)
{
    const int m = layers(me);
    if (me->others.spread) return me->others.windows[sweep][part];
    if (part == CB_OF_SHIFT) return (cb_window){0, m, 0, m};
    return (cb_window){plan->set[part] >> (me->cells.dimension - 1) & 1, m / 2, 0, m};
}

/* ---- Which layers go where ----------------------------------------------------------------------- */

/* Layers in a row of one process that go to another part, or come from there. */
typedef struct piece {
    int part, comes, first, layers;
} piece;

static int owner_of(const checkerboard *me, int layer)
{
    int owner = (int)((int64_t)layer * me->others.spread->parts / layers(me));
    while (layer >= domain_of(me, owner).first + domain_of(me, owner).layers) owner++;
    return owner;
}

/* Pieces of n layers from `first` on, around the box, that a part needs and that come here or go from here; returns
 * the end. */
static piece *add_pieces(const checkerboard *me, int reader, int first, int n, piece *next)
{
    const int own = me->others.spread->part;
    int last_owner = -1, last_layer = -1;
    for (int k = 0; k < n; k++) {
        const int layer = on_ring(first + k, layers(me)), owner = owner_of(me, layer);
        const int goes_on = owner == last_owner && layer == last_layer + 1;
        last_owner = owner, last_layer = layer;
        if (reader != own && owner != own) continue;
        if (goes_on)
            next[-1].layers++;
        else
            *next++ = (piece){reader == own ? owner : reader, reader == own, layer, 1};
    }
    return next;
}

/* Why cells are brought: for n sweeps from `first` on or, for n = 0, `depth` layers each way. */
typedef struct purpose {
    uint64_t first;
    int n, depth;
} purpose;

/* All that two processes exchange so that each has the layers around its domain that it needs: pieces [4 parts + 4]. */
static int find_pieces(checkerboard *me, purpose to, piece *pieces)
{
    cb_window of_others[BATCH][CB_WINDOWS];
    piece *next = pieces;
    for (int part = 0; part < me->others.spread->parts; part++) {
        const domain d = domain_of(me, part);
        const int others = layers(me) - d.layers;
        int before = to.depth, behind = to.depth;
        if (to.n)
            look_around(me, d, to.first, to.n,
                        part == me->others.spread->part ? me->others.windows : of_others, &before,
                        &behind);
        if (before + behind > others) before = 0, behind = others;
        next = add_pieces(me, part, d.first - before, before, next);
        next = add_pieces(me, part, d.first + d.layers, behind, next);
    }
    return (int)(next - pieces);
}

static plugmc_message parcel_of(const piece *p, void *at, size_t bytes)
{
    plugmc_message parcel = {.size = sizeof parcel, .part = p->part};
    if (p->comes)
        parcel.receive = at, parcel.receive_bytes = bytes;
    else
        parcel.send = at, parcel.send_bytes = bytes;
    return parcel;
}

/* ---- On the CPU ---------------------------------------------------------------------------------- */

static int64_t words_of_layer(const checkerboard *me) { return me->cells.plane / layers(me); }

static size_t bytes_of_layer(const checkerboard *me)
{
    const size_t slot = (size_t)me->cells.dimension * sizeof(float) + sizeof(uint32_t) +
                        (CB_BODIES ? sizeof(plugmc_orientation) : 0);
    return (size_t)words_of_layer(me) * ((size_t)me->cells.capacity * slot + 1);
}

/* Between the store and a buffer; returns what is behind it. */
static char *copy_words(void *store, char *buffer, size_t bytes, int to_store)
{
    memcpy(to_store ? store : buffer, to_store ? buffer : store, bytes);
    return buffer + bytes;
}

static void copy_piece(checkerboard *me, const piece *p, char *buffer)
{
    const int64_t first = p->first * words_of_layer(me);
    const size_t words = (size_t)(p->layers * words_of_layer(me));
    const int wide = me->cells.wide; /* then all slots of a layer are one piece */
    const size_t slots = words * (size_t)(wide ? me->cells.capacity : 1);
    for (int k = 0; k < (wide ? 1 : me->cells.capacity); k++) {
        const int64_t at = place_of(me, first, k);
        for (int a = 0; a < me->cells.dimension; a++)
            buffer = copy_words(me->now.coordinate + a * me->cells.axis + at, buffer,
                                sizeof(float) * slots, p->comes);
        buffer = copy_words(me->now.id + at, buffer, sizeof(uint32_t) * slots, p->comes);
    }
    buffer = copy_words(me->now.count + first, buffer, words, p->comes);
    for (size_t k = 0; CB_BODIES && k < words; k++)
        buffer = copy_orientations_of_cell(me, first + (int64_t)k, buffer, p->comes);
}

static int exchange_on_host(checkerboard *me, const plugmc_host *host, int code,
                            const piece *pieces, int n, plugmc_message *parcels)
{
    size_t bytes = 1, at = 0;
    for (int k = 0; k < n; k++) bytes += (size_t)pieces[k].layers * bytes_of_layer(me);
    char *buffer = (char *)malloc(bytes);
    if (!buffer)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for cells of others");
    for (int k = 0; k < n; at += (size_t)pieces[k++].layers * bytes_of_layer(me)) {
        parcels[k] =
            parcel_of(&pieces[k], buffer + at, (size_t)pieces[k].layers * bytes_of_layer(me));
        if (!pieces[k].comes) copy_piece(me, &pieces[k], buffer + at);
    }
    code = me->others.spread->deliver(host->context, code, 0, parcels, n);
    for (int k = 0; k < n && !code; k++)
        if (pieces[k].comes) copy_piece(me, &pieces[k], (char *)parcels[k].receive);
    free(buffer);
    return code;
}

/* ---- On the GPU ---------------------------------------------------------------------------------- */

enum { ARRAYS = 4 }; /* that are sent, at most */

/* An array of the device in which layers follow each other. */
typedef struct layered {
    plugmc_device_pointer at;
    size_t layer; /* bytes */
} layered;

/* Those of a store (checkerboard.cu), and orientations in the order of its slots; returns how many. */
static int find_arrays(const checkerboard *me, layered arrays[ARRAYS])
{
    const size_t cells = (size_t)device_cells(me) / (size_t)layers(me); /* with padding */
    const size_t slots = cells * (size_t)me->cells.capacity;
    int n = 0;
    arrays[n++] = (layered){me->device.now.count, cells};
    arrays[n++] =
        (layered){me->device.now.coordinate, slots * sizeof(float) * (size_t)vector_floats(me)};
    if (device_ids(me)) arrays[n++] = (layered){me->device.now.id, slots * sizeof(uint32_t)};
    if (CB_BODIES)
        arrays[n++] = (layered){me->device.next.coordinate, slots * orientation_bytes(me)};
    return n;
}

/* Orientations of all pieces that come, or of all that go. */
static int carry(checkerboard *me, const plugmc_host *host, const piece *pieces, int n, int comes)
{
    domain *some = (domain *)malloc(((size_t)n + 1) * sizeof *some);
    int count = 0;
    if (!some)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for lists of cells");
    for (int k = 0; k < n; k++)
        if (!pieces[k].comes == !comes) some[count++] = (domain){pieces[k].first, pieces[k].layers};
    const int code = carry_orientations(me, host, some, count, comes);
    free(some);
    return code;
}

static int exchange_on_device(checkerboard *me, const plugmc_host *host, int code,
                              const piece *pieces, int n, plugmc_message *parcels)
{
    layered arrays[ARRAYS];
    const int of_each = find_arrays(me, arrays);
    plugmc_message *next = parcels;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < of_each; i++) {
            const plugmc_device_pointer at =
                arrays[i].at + (size_t)pieces[k].first * arrays[i].layer;
            *next++ = parcel_of(&pieces[k], (void *)(uintptr_t)at,
                                (size_t)pieces[k].layers * arrays[i].layer);
        }
    if (CB_BODIES && !code) code = carry(me, host, pieces, n, 0);
    TRY(me->others.spread->deliver(host->context, code, 1, parcels, (int32_t)(next - parcels)));
    return CB_BODIES ? carry(me, host, pieces, n, 1) : PLUGMC_OK;
}

/* ---- Both ---------------------------------------------------------------------------------------- */

static int bring(checkerboard *me, const plugmc_host *host, int code, purpose to)
{
    const size_t most = 4 * (size_t)me->others.spread->parts + 4;
    piece *pieces = (piece *)malloc(most * sizeof *pieces);
    plugmc_message *parcels = (plugmc_message *)malloc(most * ARRAYS * sizeof *parcels);
    if (!pieces || !parcels) {
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for lists of cells");
    } else {
        const int found = find_pieces(me, to, pieces);
        code = (host->gpu ? exchange_on_device : exchange_on_host)(me, host, code, pieces, found,
                                                                   parcels);
    }
    free(pieces);
    free(parcels);
    return code;
}

int bring_around(checkerboard *me, const plugmc_host *host, uint64_t first, int n)
{
    if (!me->others.spread) return PLUGMC_OK;
    me->others.apart = 1; /* once they have been swept */
    return bring(me, host, host->stopping(host->context) ? PLUGMC_STOPPED : PLUGMC_OK,
                 (purpose){.first = first, .n = n});
}

int bring_all(checkerboard *me, const plugmc_host *host)
{
    if (!me->others.apart) return PLUGMC_OK;
    TRY(bring(me, host, PLUGMC_OK, (purpose){.depth = layers(me)}));
    me->others.apart = 0;
    return PLUGMC_OK;
}

domain all_layers(const checkerboard *me) { return (domain){0, layers(me)}; }

/* Where layer `first` begins, as positions.c and cb_store have it. */
static double beginning_of(const checkerboard *me, int layer)
{
    const int axis = me->cells.dimension - 1;
    const int64_t edge = (int64_t)CB_QUANTA * layers(me);
    const int64_t at = ((int64_t)CB_QUANTA * layer + me->origin[axis]) % edge;
    return (double)(at < 0 ? at + edge : at) * (me->each.of[0].width[axis] / CB_QUANTA);
}

/* PLUGMC_GIVES_SHARES. What is brought here does not make the cells of others whole: `apart` stays as it is. */
int give_share(void *instance, const plugmc_host *host, double reach, double *positions,
               plugmc_share *share)
{
    checkerboard *me = (checkerboard *)instance;
    const int axis = me->cells.dimension - 1, m = layers(me);
    const double most = reach / me->each.of[0].width[axis];
    const int depth = most < m ? (int)most + 1 : m;
    const domain own = own_domain(me);
    domain seen = {on_ring(own.first - depth, m), own.layers + 2 * depth};
    if (seen.layers >= m) seen = all_layers(me);
    if (me->others.apart) TRY(bring(me, host, PLUGMC_OK, (purpose){.depth = depth}));
    if (host->gpu)
        TRY(host->gpu->download(host->context, me->origin, me->device.origin,
                                3 * sizeof *me->origin));
    *share =
        (plugmc_share){axis, beginning_of(me, own.first), beginning_of(me, own.first + own.layers)};
    const size_t bytes = 3 * sizeof(double) * (size_t)me->system->particles;
    if (!host->gpu) {
        memset(positions, 0xff, bytes); /* NaN: nobody */
        return store_on_host(me, host, seen, positions);
    }
    const plugmc_device_pointer there = (plugmc_device_pointer)(uintptr_t)positions;
    TRY(host->gpu->fill(host->context, there, 0xff, bytes));
    return store_on_gpu(me, host, seen, there);
}

int of_all(const checkerboard *me, const plugmc_host *host, int64_t *values, int n)
{
    if (!me->others.spread) return PLUGMC_OK;
    const int code = host->stopping(host->context) ? PLUGMC_STOPPED : PLUGMC_OK;
    return me->others.spread->largest(host->context, code, values, n);
}

int stops_here(const checkerboard *me, const plugmc_host *host)
{
    return !me->others.spread && host->stopping(host->context);
}
