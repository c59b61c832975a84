/* bodies.c: bodies in the cells, which are displaced and turned: their orientations, and sub-sweeps on the CPU, a cell at a
 * time, as bodies.cu makes them on a GPU. bodies_in_lanes.c has those of hard bodies.
 *
 * Trial t of a cell, of those that the sub-sweep makes in it, uses D(purpose, draw) = plugmc_draw(seed, sweep, walker, cell,
 * purpose, draw):
 *   kind          a turn if D(ORIENTATION, t / 4).word[t % 4] < rotations 2^32, else a displacement
 *   displacement  cb_displacement_2 by word 0 of D(TRIAL, t), or cb_displacement_3
 *   turn          plugmc_turn_by, by D(TRIAL, t)
 *   acceptance    D(ACCEPT, t / 4).word[t % 4], where there are energies
 */
#include "checkerboard.h"

/* ---- Orientations ------------------------------------------------------------------------------ */

static size_t bytes_of_orientations(const checkerboard *me)
{
    return sizeof(plugmc_orientation) * (size_t)me->system->particles * (size_t)me->cells.walkers;
}

static int find_terms(checkerboard *me, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    me->bodies.in_lanes = !me->cells.energies;
    for (int t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_body *body =
            term->sampled && term->plugin_single ? plugmc_body_of(term->plugin_single) : NULL;
        if (!body) continue;
        if (me->bodies.count == CB_MOST_TERMS)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "more than %d potentials of bodies: mover '" CB_NAME
                              "' takes no more",
                              CB_MOST_TERMS);
        if (!PLUGMC_HAS(body, meet) || !body->meet)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "potential '%s' was built for an older plugmc, whose bodies the "
                              "movers 'serial' and 'rotate' take: build it again",
                              term->label);
        me->bodies.facet[me->bodies.count] = body;
        me->bodies.instance[me->bodies.count] = term->instance_single;
        me->bodies.pairs[me->bodies.count] = plugmc_body_pairs_of(term->plugin_single);
        me->bodies.in_lanes &=
            system->box.dimension == 3 || me->bodies.pairs[me->bodies.count] != NULL;
        me->bodies.term[me->bodies.count++] = t;
    }
    return PLUGMC_OK;
}

int prepare_bodies(checkerboard *me, const plugmc_host *host)
{
    TRY(find_terms(me, host));
    me->bodies.orientation = host->allocate(host->context, bytes_of_orientations(me));
    me->bodies.saved = host->allocate(host->context, bytes_of_orientations(me));
    if (!me->bodies.orientation || !me->bodies.saved)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for orientations");
    if (!host->gpu) return PLUGMC_OK;
    TRY(host->gpu->allocate(host->context, bytes_of_orientations(me), &me->device.orientations));
    return host->gpu->allocate(host->context, bytes_of_orientations(me),
                               &me->device.saved_orientations);
}

int take_orientations(checkerboard *me, const plugmc_host *host, const plugmc_state *state)
{
    void *from;
    TRY(state->array(state, PLUGMC_STATE_ORIENTATION, host->gpu ? PLUGMC_ON_DEVICE : PLUGMC_ON_HOST,
                     PLUGMC_READ, &from, NULL));
    if (host->gpu)
        return host->gpu->copy(host->context, me->device.orientations,
                               (plugmc_device_pointer)(uintptr_t)from, bytes_of_orientations(me));
    memcpy(me->bodies.orientation, from, bytes_of_orientations(me));
    return PLUGMC_OK;
}

int give_orientations(const checkerboard *me, const plugmc_host *host, const plugmc_state *state)
{
    void *to;
    TRY(state->array(state, PLUGMC_STATE_ORIENTATION, host->gpu ? PLUGMC_ON_DEVICE : PLUGMC_ON_HOST,
                     PLUGMC_WRITE, &to, NULL));
    if (host->gpu)
        return host->gpu->copy(host->context, (plugmc_device_pointer)(uintptr_t)to,
                               me->device.orientations, bytes_of_orientations(me));
    memcpy(to, me->bodies.orientation, bytes_of_orientations(me));
    return PLUGMC_OK;
}

int copy_orientations(checkerboard *me, const plugmc_host *host, int back)
{
    plugmc_orientation *now = me->bodies.orientation, *saved = me->bodies.saved;
    if (host->gpu)
        return host->gpu->copy(host->context,
                               back ? me->device.orientations : me->device.saved_orientations,
                               back ? me->device.saved_orientations : me->device.orientations,
                               bytes_of_orientations(me));
    memcpy(back ? now : saved, back ? saved : now, bytes_of_orientations(me));
    return PLUGMC_OK;
}

/* Those of the bodies of a cell, slot after slot, between the array and a buffer; returns what is behind them. */
char *copy_orientations_of_cell(checkerboard *me, int64_t word, char *buffer, int comes)
{
    for (int k = 0; k < me->now.count[word]; k++) {
        plugmc_orientation *one = &me->bodies.orientation[me->now.id[place_of(me, word, k)]];
        memcpy(comes ? (void *)one : buffer, comes ? buffer : (void *)one, sizeof *one);
        buffer += sizeof *one;
    }
    return buffer;
}

int carry_orientations(checkerboard *me, const plugmc_host *host, const domain *pieces, int n,
                       int comes)
{
    const int layers = all_layers(me).layers;
    const int64_t slots = device_cells(me) / layers * me->cells.capacity; /* of a layer */
    for (int first = 0; first < n; first += CB_PIECES) {
        const int some = n - first < CB_PIECES ? n - first : CB_PIECES;
        cb_pieces which = {{0}, {0}};
        int most = 0;
        for (int k = 0; k < some; k++) {
            which.first[k] = pieces[first + k].first;
            which.layers[k] = pieces[first + k].layers;
            most = which.layers[k] > most ? which.layers[k] : most;
        }
        const uint32_t grid[3] = {blocks_for(most * slots, CB_CARRIERS), (uint32_t)some, 1},
                       block[3] = {CB_CARRIERS, 1, 1};
        void *arguments[] = {&which,
                             &comes,
                             &me->device.now.coordinate,
                             &me->device.now.id,
                             &me->device.now.count,
                             &me->device.orientations,
                             &me->device.next.coordinate};
        TRY(host->gpu->launch(host->context, me->kernels.carry, grid, block, 0, arguments));
    }
    return PLUGMC_OK;
}

/* ---- What is near a cell ------------------------------------------------------------------------ */

enum { MOST_NEAR = 27 * NARROW };

/* Bodies near a cell, as in bodies.cu. */
typedef struct near_cell {
    int n, m; /* of the cell itself, and of all */
    float x[MOST_NEAR], y[MOST_NEAR], z[MOST_NEAR];
    int32_t species[MOST_NEAR];
    plugmc_orientation orientation[MOST_NEAR];
} near_cell;

/* Those of them that a body can reach, with separations in place of positions, in as many lists as there are sums, or one if there are no
 * energies. */
enum { MOST_LISTED = MOST_NEAR + CB_MOST_LANES };
typedef struct reached {
    int lists, first[CB_MOST_LANES], n[CB_MOST_LANES];
    float x[MOST_LISTED], y[MOST_LISTED], z[MOST_LISTED];
    float charge[MOST_LISTED], diameter[MOST_LISTED];
    int32_t species[MOST_LISTED];
    plugmc_orientation orientation[MOST_LISTED];
} reached;

/* A cell at work. */
typedef struct body_cell {
    const checkerboard *me;
    const conditions *of;
    uint64_t sweep;
    int walker, x, y, z;
    plugmc_orientation *orientations; /* of the walker */
    float *coordinate;                /* likewise */
    const uint32_t *id;
    const uint8_t *count;
    near_cell near;
    reached reached;
} body_cell;

static int species_of(const checkerboard *me, uint32_t id)
{
    int s = 0;
    while (s + 1 < me->cells.species && id >= me->system->first[s + 1]) s++;
    return s;
}

static int wrapped(int x, int m) { return x < 0 ? x + m : x >= m ? x - m : x; }

/* Those in the cell at (sx, sy, sz) from the one at work. */
static void gather_cell(body_cell *c, int sx, int sy, int sz)
{
    const checkerboard *me = c->me;
    const int *m = me->cells.m, itself = !sx && !sy && !sz;
    const int64_t word = word_of(me, wrapped(c->x + sx, m[0]), wrapped(c->y + sy, m[1]),
                                 wrapped(c->z + sz, m[2])),
                  axis = me->cells.axis;
    near_cell *near = &c->near;
    for (int k = 0; k < c->count[word]; k++) {
        const int64_t at = place_of(me, word, k);
        const float x = c->coordinate[at] + (float)sx, y = c->coordinate[axis + at] + (float)sy,
                    z = me->cells.dimension == 3 ? c->coordinate[2 * axis + at] + (float)sz : 0;
        if (!itself && !(cb_square_outside(me->cells.dimension, x, y, z, sx, sy, sz,
                                           c->of->ratio[1], c->of->ratio[2]) < c->of->reach))
            continue;
        near->x[near->m] = x;
        near->y[near->m] = y;
        near->z[near->m] = z;
        near->species[near->m] = species_of(me, c->id[at]);
        near->orientation[near->m++] = c->orientations[c->id[at]];
    }
}

static void gather(body_cell *c)
{
    const int cells = c->me->cells.dimension == 3 ? 27 : 9;
    c->near.m = 0;
    gather_cell(c, 0, 0, 0);
    c->near.n = c->near.m;
    for (int k = 0; k < cells; k++)
        if (k != cells / 2) gather_cell(c, k % 3 - 1, k / 3 % 3 - 1, cells == 27 ? k / 9 - 1 : 0);
}

/* Those that entry `own` can reach from (x, y, z), into c->reached. */
static PLUGMC_TARGETS void reach_out(body_cell *c, int own, float x, float y, float z)
{
    const near_cell *near = &c->near;
    const float ratio_y = c->of->ratio[1], ratio_z = c->of->ratio[2], scale = c->of->scale,
                reach = c->of->reach;
    const int flat = c->me->cells.dimension == 2;
    reached *r = &c->reached;
    float square[MOST_NEAR];
    for (int k = 0; k < near->m; k++) {
        const float ux = x - near->x[k], uy = (y - near->y[k]) * ratio_y,
                    uz = (z - near->z[k]) * ratio_z, flat_square = fmaf(uy, uy, ux * ux);
        square[k] = flat ? flat_square : fmaf(uz, uz, flat_square);
    }
    r->lists = c->me->cells.energies ? CB_LANES_IN(c->me->cells.dimension) : 1;
    for (int list = 0; list < r->lists; list++) {
        r->first[list] = list * ((near->m + r->lists - 1) / r->lists);
        r->n[list] = 0;
    }
    for (int k = 0, j = 0; k < near->m; k++) {
        if (!(square[k] < reach) || k == own) continue;
        const int list = j++ % r->lists, to = r->first[list] + r->n[list]++;
        r->x[to] = (x - near->x[k]) * scale;
        r->y[to] = (y - near->y[k]) * ratio_y * scale;
        r->z[to] = flat ? 0 : (z - near->z[k]) * ratio_z * scale;
        r->species[to] = near->species[k];
        r->charge[to] = c->me->charge[near->species[k]];
        r->diameter[to] = c->me->diameter[near->species[k]];
        r->orientation[to] = near->orientation[k];
    }
}

/* ---- Trial moves -------------------------------------------------------------------------------- */

/* Entry `own`, turned like that at (x, y, z), meets those around it. Returns whether it overlaps with one; if not, energies
 * of the terms are in sums, else they are 0. */
static int meets(body_cell *c, int own, float x, float y, float z, const plugmc_orientation *turned,
                 float sums[CB_MOST_TERMS])
{
    const checkerboard *me = c->me;
    const int species = c->near.species[own];
    const plugmc_particle probe = {.charge = (double)me->charge[species],
                                   .diameter = (double)me->diameter[species],
                                   .species = species};
    const reached *r = &c->reached;
    int overlap = 0;
    reach_out(c, own, x, y, z);
    for (int b = 0; b < me->bodies.count && !overlap; b++) {
        float part[CB_MOST_LANES] = {0};
        for (int list = 0; list < r->lists && !overlap; list++) {
            const int at = r->first[list];
            const plugmc_particles others = {r->n[list],     r->x + at,      r->y + at,
                                             r->z + at,      r->charge + at, r->diameter + at,
                                             r->species + at};
            overlap = r->n[list] &&
                      me->bodies.facet[b]->meet(me->bodies.instance[b], me->cells.dimension, &probe,
                                                turned, &others, r->orientation + at, &part[list]);
        }
        for (int step = 1; step < CB_MOST_LANES; step *= 2)
            for (int k = 0; k < CB_MOST_LANES; k += 2 * step) part[k] += part[k + step];
        sums[b] = part[0];
    }
    for (int b = 0; b < me->bodies.count && overlap; b++) sums[b] = 0;
    return overlap;
}

/* A trial move of entry i. */
typedef struct body_trial {
    int i, kind;
    float x, y, z;
    plugmc_orientation orientation;
} body_trial;

/* Returns 0 if it is not possible. */
static int propose(const body_cell *c, body_trial *t, plugmc_random random)
{
    const checkerboard *me = c->me;
    const float *step = c->of->step;
    float dx, dy, dz = 0;
    t->x = c->near.x[t->i];
    t->y = c->near.y[t->i];
    t->z = c->near.z[t->i];
    t->orientation = c->near.orientation[t->i];
    if (t->kind == CB_TURNED)
        return plugmc_turn_by(random, me->cells.dimension, c->of->turn, &t->orientation);
    if (me->cells.dimension == 2)
        cb_displacement_2(random.word[0], step[0], step[1], &dx, &dy);
    else
        cb_displacement_3(random, step[0], step[1], step[2], &dx, &dy, &dz);
    t->x += dx;
    t->y += dy;
    t->z += dz;
    return t->x >= -0.5f && t->x < 0.5f && t->y >= -0.5f && t->y < 0.5f &&
           (me->cells.dimension == 2 || (t->z >= -0.5f && t->z < 0.5f));
}

static float change_of(const body_cell *c, const float from[CB_MOST_TERMS],
                       const float to[CB_MOST_TERMS])
{
    const checkerboard *me = c->me;
    float change = 0;
    for (int b = 0; b < me->bodies.count; b++) {
        const double *multiplier = c->of->multiplier;
        if (!multiplier)
            change += to[b] - from[b];
        else if (multiplier[me->bodies.term[b]] != 0)
            change += (to[b] - from[b]) * (float)multiplier[me->bodies.term[b]];
    }
    return change;
}

/* Whether the trial move to energies `to` is accepted, by word t % 4 of `uniform`. */
static int weigh(body_cell *c, const body_trial *t, const float to[CB_MOST_TERMS], uint32_t word,
                 int *lost)
{
    float from[CB_MOST_TERMS];
    const near_cell *near = &c->near;
    meets(c, t->i, near->x[t->i], near->y[t->i], near->z[t->i], &near->orientation[t->i], from);
    const float change = change_of(c, from, to),
                over_kt = c->of->multiplier ? 1 : (float)(1 / c->me->system->temperature);
    const int unknown = !(change > -INFINITY);
    if (*lost || !(unknown || plugmc_uniform_float(word) < plugmc_exp(-change * over_kt))) return 0;
    *lost |= unknown;
    return 1;
}

static void shuffle(const body_cell *c, uint32_t cell, uint8_t permutation[NARROW])
{
    for (int k = 0; k < c->near.n; k++) permutation[k] = (uint8_t)k;
    if (!c->me->set.shuffle_particles) return;
    for (int k = c->near.n - 1; k > 0; k--) {
        const plugmc_random r = plugmc_draw(c->me->seed, c->sweep, (uint32_t)c->walker, cell,
                                            PLUGMC_PURPOSE_ORDER, (uint32_t)k >> 2);
        const uint32_t j = plugmc_below(r.word[k & 3], (uint32_t)k + 1);
        const uint8_t t = permutation[k];
        permutation[k] = permutation[j];
        permutation[j] = t;
    }
}

/* What a cell holds after its trial moves. */
static void write_back(const body_cell *c)
{
    const checkerboard *me = c->me;
    const int64_t word = word_of(me, c->x, c->y, c->z), axis = me->cells.axis;
    for (int k = 0; k < c->near.n; k++) {
        const int64_t at = place_of(me, word, k);
        c->coordinate[at] = c->near.x[k];
        c->coordinate[axis + at] = c->near.y[k];
        if (me->cells.dimension == 3) c->coordinate[2 * axis + at] = c->near.z[k];
        c->orientations[c->id[at]] = c->near.orientation[k];
    }
}

/* counts: 1 if the trial moves are counted here, and not by another process. */
static void make_trials(body_cell *c, int counts, rows_result *result)
{
    const checkerboard *me = c->me;
    const int *m = me->cells.m;
    const uint32_t cell = (uint32_t)((c->z * m[1] + c->y) * m[0] + c->x),
                   walker = (uint32_t)c->walker;
    uint8_t permutation[NARROW];
    plugmc_random kinds = {{0}}, uniform = {{0}};
    int lost = 0;
    gather(c);
    shuffle(c, cell, permutation);
    for (uint32_t t = 0; t < (uint32_t)me->set.trials; t++) {
        float to[CB_MOST_TERMS];
        if (t % 4 == 0) {
            kinds =
                plugmc_draw(me->seed, c->sweep, walker, cell, PLUGMC_PURPOSE_ORIENTATION, t / 4);
            if (me->cells.energies)
                uniform =
                    plugmc_draw(me->seed, c->sweep, walker, cell, PLUGMC_PURPOSE_ACCEPT, t / 4);
        }
        body_trial trial = {.i = permutation[t % (uint32_t)c->near.n],
                            .kind = kinds.word[t % 4] < rotations_threshold(me) ? CB_TURNED
                                                                                : CB_DISPLACED};
        int accept = propose(
            c, &trial, plugmc_draw(me->seed, c->sweep, walker, cell, PLUGMC_PURPOSE_TRIAL, t));
        accept = accept && !meets(c, trial.i, trial.x, trial.y, trial.z, &trial.orientation, to);
        if (accept && me->cells.energies) accept = weigh(c, &trial, to, uniform.word[t % 4], &lost);
        result->counts[trial.kind].trials += (uint64_t)counts;
        if (!accept) continue;
        result->counts[trial.kind].accepted += (uint64_t)counts;
        c->near.x[trial.i] = trial.x;
        c->near.y[trial.i] = trial.y;
        c->near.z[trial.i] = trial.z;
        c->near.orientation[trial.i] = trial.orientation;
    }
    result->lost |= lost;
    write_back(c);
}

rows_result update_rows_of_bodies(const checkerboard *me, const store *s, const rows_task *task)
{
    const int w = task->walker;
    rows_result result = {{{0, 0}}, 0};
    body_cell cell, *c = &cell;
    if (me->bodies.in_lanes) return update_rows_in_lanes(me, s, task);
    c->me = me;
    c->of = &me->each.of[w];
    c->sweep = task->sweep;
    c->walker = w;
    c->orientations = me->bodies.orientation + (int64_t)w * me->system->particles;
    c->coordinate = s->coordinate + w * me->cells.walker;
    c->id = s->id + w * me->cells.axis;
    c->count = s->count + w * me->cells.plane;
    for (int r = task->first; r < task->end; r++) {
        const active_row row = row_of(me, task, r);
        c->y = row.y;
        c->z = row.z;
        for (c->x = row.x0; c->x < me->cells.m[0]; c->x += 2)
            if (c->count[word_of(me, c->x, c->y, c->z)]) make_trials(c, row.counts, &result);
        refresh_images(me, s, w, word_of(me, row.x0, row.y, row.z) - PAD);
    }
    return result;
}
