/* row.c: a sub-sweep on the CPU: one row of active cells, LANES cells at a time. */
#include "checkerboard.h"

/* Which cells of the row's neighbourhood, as in the kernel: c = dx + 3 dy + 9 dz. */
typedef struct row_view {
    const conditions *of;       /* of the walker */
    const float *coordinate[3]; /* by axis */
    const uint32_t *id;
    const uint8_t *count;
    int64_t word[27];    /* of lane 0 of the whole row, for each neighbouring cell */
    float offset[27][3]; /* of its centre from that of the cell in the middle */
    int cells;
} row_view;

static row_view look_around(const checkerboard *me, const store *s, row_task task)
{
    row_view v;
    v.of = &me->each.of[task.walker];
    v.cells = me->cells.dimension == 3 ? 27 : 9;
    for (int a = 0; a < 3; a++)
        v.coordinate[a] = s->coordinate + task.walker * me->cells.walker +
                          (a < me->cells.dimension ? a : 0) * me->cells.axis;
    v.id = s->id + task.walker * me->cells.axis;
    v.count = s->count + task.walker * me->cells.plane;
    for (int c = 0; c < v.cells; c++) {
        int dx = c % 3 - 1, dy = c / 3 % 3 - 1, dz = me->cells.dimension == 3 ? c / 9 - 1 : 0;
        int y = (task.y + dy + me->cells.m[1]) % me->cells.m[1],
            z = (task.z + dz + me->cells.m[2]) % me->cells.m[2];
        /* half-row index of cell x0 + dx: the image beyond either end lies in the padding */
        int x = task.x0 + dx;
        const float offset[3] = {(float)dx, (float)dy, (float)dz};
        memcpy(v.offset[c], offset, sizeof offset);
        int64_t base = (((int64_t)z * me->cells.m[1] + y) * 2 + (x & 1)) * me->cells.row + PAD;
        v.word[c] = base + (x < 0 ? -1 : x >> 1);
    }
    return v;
}

PLUGMC_FN void draw_lanes(const checkerboard *me, row_task task, uint32_t cell0, uint32_t purpose,
                          uint32_t draw, uint32_t words[4][LANES])
{
    for (int l = 0; l < LANES; l++) {
        plugmc_random r = plugmc_draw(me->seed, task.sweep, (uint32_t)task.walker,
                                      cell0 + 2 * (uint32_t)l, purpose, draw);
        for (int k = 0; k < 4; k++) words[k][l] = r.word[k];
    }
}

/* A slot of the cells around LANES active cells: where its particles are, relative to the centres
 * of the active cells, which is exact (see checkerboard.cu). */
typedef struct near_slot {
    _Alignas(64) float x[LANES];
    float y[LANES], z[LANES];
} near_slot;

/* The slots around LANES cells, those of the cells themselves first, then those of their
 * neighbours in the order of cells: as many of each as one of the lanes needs. */
typedef struct surroundings {
    near_slot slot[27 * MOST];
    uint8_t species[27 * MOST][LANES];
    int own, slots;
} surroundings;

/* Species of the particles in a slot of LANES cells; at: of the first of them. */
PLUGMC_FN void kinds_of(const checkerboard *me, const row_view *view, int64_t at, uint8_t *species)
{
    int32_t kind[LANES] = {0};
    for (int b = 1; b < me->cells.species; b++) {
        const uint32_t first = (uint32_t)me->system->first[b];
        EACH_LANE(l) kind[l] += view->id[at + l] >= first;
    }
    EACH_LANE(l) species[l] = (uint8_t)kind[l];
}

/* After the active cells' own, those within the range of each lane's cell, one after the other and
 * filled up with nobody: slot 0 of all cells, in their order, then slot 1, and so on. */
PLUGMC_FN void gather_within_range(const checkerboard *me, const row_view *view, int q0,
                                   const int dim, const int many, surroundings *near)
{
    const int centre = view->cells / 2;
    const float ratio_y = view->of->ratio[1], ratio_z = view->of->ratio[2], reach = view->of->reach;
    const int lanes = me->cells.half - q0 < LANES ? me->cells.half - q0 : LANES; /* of the row */
    int32_t filled[LANES];
    int most[27], deepest = 0;
    for (int l = 0; l < LANES; l++) filled[l] = near->own;
    for (int c = 0; c < view->cells; c++) {
        most[c] = c == centre ? 0 : largest_of_lanes(view->count + view->word[c] + q0);
        deepest = most[c] > deepest ? most[c] : deepest;
    }
    for (int k = 0; k < deepest; k++)
        for (int c = 0; c < view->cells; c++) {
            if (k >= most[c]) continue;
            const float *d = view->offset[c];
            const int64_t at = k * me->cells.plane + view->word[c] + q0;
            const float *x = view->coordinate[0] + at, *y = view->coordinate[1] + at;
            const float *z = view->coordinate[2] + at;
            const uint8_t *count = view->count + view->word[c] + q0;
            near_slot from = {0};
            uint8_t species[LANES] = {0};
            int32_t is_near[LANES];
            EACH_LANE(l) {
                from.x[l] = x[l] + d[0];
                from.y[l] = y[l] + d[1];
                if (dim == 3) from.z[l] = z[l] + d[2];
                const float square =
                    cb_square_outside(dim, from.x[l], from.y[l], from.z[l], (int)d[0], (int)d[1],
                                      (int)d[2], ratio_y, ratio_z);
                is_near[l] = (k < count[l]) & (square < reach);
            }
            if (many) kinds_of(me, view, at, species);
            for (int l = 0; l < lanes; l++) { /* the next overwrites whoever is not near */
                near_slot *to = &near->slot[filled[l]];
                to->x[l] = from.x[l];
                to->y[l] = from.y[l];
                if (dim == 3) to->z[l] = from.z[l];
                if (many) near->species[filled[l]][l] = species[l];
                filled[l] += is_near[l];
            }
        }
    near->slots = near->own;
    for (int l = 0; l < LANES; l++) near->slots = filled[l] > near->slots ? filled[l] : near->slots;
    for (int l = 0; l < LANES; l++)
        for (int e = filled[l]; e < near->slots; e++) {
            near->slot[e].x[l] = PLUGMC_NOWHERE;
            near->slot[e].y[l] = near->slot[e].z[l] = 0;
            near->species[e][l] = 0;
        }
}

/* n [LANES]: particles of the active cells. */
PLUGMC_FN void gather_surroundings(const checkerboard *me, const row_view *view, int q0,
                                   const int32_t *n, const int dim, const int many, const int wide,
                                   surroundings *near)
{
    const int centre = view->cells / 2;
    int slots = 0;
    for (int nth = 0; nth < (wide ? 1 : view->cells); nth++) {
        const int c = nth == 0 ? centre : nth <= centre ? nth - 1 : nth;
        const float dx = view->offset[c][0], dy = view->offset[c][1], dz = view->offset[c][2];
        const int most = largest_of_lanes(view->count + view->word[c] + q0);
        for (int k = 0; k < most; k++) {
            const int64_t at = k * me->cells.plane + view->word[c] + q0;
            const float *x = view->coordinate[0] + at, *y = view->coordinate[1] + at;
            const float *z = view->coordinate[2] + at;
            near_slot *to = &near->slot[slots];
            EACH_LANE(l) {
                to->x[l] = x[l] + dx;
                to->y[l] = y[l] + dy;
                if (dim == 3) to->z[l] = z[l] + dz;
            }
            /* lanes past the end of the row must not move the particle of a periodic image */
            if (c == centre)
                EACH_LANE(l) {
                    const float there = to->x[l];
                    to->x[l] = k < n[l] ? there : PLUGMC_NOWHERE;
                }
            if (many) kinds_of(me, view, at, near->species[slots]);
            slots++;
        }
        if (c == centre) near->own = slots;
    }
    near->slots = slots;
    if (wide) gather_within_range(me, view, q0, dim, many, near);
}

/* The slots of each cell in the order of its trials: order[turn][lane], a random permutation of the
 * first n. */
PLUGMC_FN void draw_order(const checkerboard *me, row_task task, uint32_t cell0, const int32_t *n,
                          int own, int32_t order[][LANES])
{
    uint32_t words[4][LANES];
    int32_t j[LANES];
    for (int k = 0; k < own; k++)
        EACH_LANE(l) order[k][l] = k;
    if (!me->set.shuffle_particles) return;
    for (int k = own - 1; k > 0; k--) { /* Fisher-Yates in every lane */
        if (k == own - 1 || (k & 3) == 3)
            draw_lanes(me, task, cell0, PLUGMC_PURPOSE_ORDER, (uint32_t)k >> 2, words);
        EACH_LANE(l) {
            const int32_t drawn = (int32_t)plugmc_below(words[k & 3][l], (uint32_t)k + 1);
            j[l] = k < n[l] ? drawn : k;
        }
        for (int i = 0; i < k; i++)
            EACH_LANE(l) {
                const int32_t a = order[i][l], b = order[k][l];
                order[i][l] = j[l] == i ? b : a;
                order[k][l] = j[l] == i ? a : b;
            }
    }
}

/* Rejects the lanes in which the new position overlaps a particle. */
PLUGMC_FN void reject_overlaps(const checkerboard *me, const conditions *of,
                               const surroundings *near, const int dim, const int many,
                               const float *new_x, const float *new_y, const float *new_z,
                               const int32_t *kind, int32_t *reject)
{
    const float ratio_y = of->ratio[1], ratio_z = of->ratio[2];
    const float *contact = of->contact;
    const int slots = near->slots, species = me->cells.species;
    int32_t overlap[LANES] = {0};
    for (int e = 0; e < slots; e++) {
        const near_slot *j = &near->slot[e];
        EACH_LANE(l) {
            const float ux = new_x[l] - j->x[l], uy = (new_y[l] - j->y[l]) * ratio_y;
            float r2 = fmaf(uy, uy, ux * ux);
            if (dim == 3) {
                const float uz = (new_z[l] - j->z[l]) * ratio_z;
                r2 = fmaf(uz, uz, r2);
            }
            const int pair = many ? kind[l] * species + near->species[e][l] : 0;
            overlap[l] |= r2 < contact[pair];
        }
    }
    EACH_LANE(l) reject[l] |= overlap[l];
}

/* The slots in the order in which their energies are added: in one part, or, where a warp of the GPU
 * takes a cell, in a part for each of its lanes. */
typedef struct slot_order {
    const float *x[27 * MOST], *y[27 * MOST], *z[27 * MOST];
    const uint8_t *species[27 * MOST];
    int first[WARP + 1]; /* of each part */
    int parts;
} slot_order;

PLUGMC_FN void order_slots(const surroundings *near, const int dim, const int wide,
                           slot_order *order)
{
    static const float flat[LANES]; /* z in two dimensions */
    const int parts = wide ? WARP : 1;
    int n = 0;
    for (int part = 0; part < parts; part++) {
        order->first[part] = n;
        for (int outside = 0; outside < 2; outside++)
            for (int e = part + outside * near->own; e < (outside ? near->slots : near->own);
                 e += parts, n++) {
                order->x[n] = near->slot[e].x;
                order->y[n] = near->slot[e].y;
                order->z[n] = dim == 3 ? near->slot[e].z : flat;
                order->species[n] = near->species[e];
            }
    }
    order->first[parts] = n;
    order->parts = parts;
}

/* Changes of energy by the trial moves of `move`, in whose `change` they are found; each term times its
 * multiplier, where there are any. Sums of parts are
 * added like the leaves of a tree, as in wide.cu. */
PLUGMC_FN void change_energies(const checkerboard *me, const double *multiplier,
                               const slot_order *order, plugmc_lanes move)
{
    float change[WARP][LANES], of_term[LANES];
    const int many = move.species != NULL;
    float *total = move.change;
    for (int part = 0; part < order->parts; part++) {
        const int first = order->first[part];
        EACH_LANE(l) change[part][l] = 0;
        move.x = order->x + first;
        move.y = order->y + first;
        move.z = order->z + first;
        move.species = many ? order->species + first : NULL;
        move.slots = order->first[part + 1] - first;
        move.change = change[part];
        for (int i = 0; i < me->system->term_count; i++) {
            const plugmc_term *term = plugmc_term_at(me->system, i);
            if (!term->sampled || !term->plugin_single) continue; /* a constant has no float unit */
            const plugmc_pair *pair = term->plugin_single->potential->pair;
            if (!(pair->functions & PLUGMC_PAIR_ENERGY)) continue;
            if (multiplier && multiplier[i] == 0) continue; /* it may be infinite */
            if (multiplier) {
                EACH_LANE(l) of_term[l] = 0;
                move.change = of_term;
            }
            pair->lanes(term->instance_single, &move);
            if (!multiplier) continue;
            const float weight = (float)multiplier[i];
            EACH_LANE(l) change[part][l] += of_term[l] * weight;
        }
    }
    for (int half = order->parts / 2; half > 0; half /= 2)
        for (int part = 0; part < half; part++)
            EACH_LANE(l) change[part][l] += change[part + half][l];
    EACH_LANE(l) total[l] = change[0][l];
}

/* What a row has in common: constants, once all of this is inlined into the variants below, but for
 * the step. */
typedef struct variant {
    int dim, many, energies, wide; /* many: species */
} variant;

/* LANES cells of a row while they make their trial moves. */
typedef struct lanes {
    const checkerboard *me;
    const conditions *of;
    row_task task;
    float step[3];
    uint32_t cell0;
    int32_t n[LANES], order[MOST][LANES], turn[LANES], accepted[LANES];
    int32_t lost[LANES]; /* 1: a change of energy was not a number; it was the last move accepted */
    uint32_t words[4][LANES], accept_words[4][LANES];
} lanes;

/* A trial move a lane. */
typedef struct lane_trials {
    int32_t slot[LANES], kind[LANES], reject[LANES];
    float old_x[LANES], old_y[LANES], old_z[LANES], new_x[LANES], new_y[LANES], new_z[LANES];
} lane_trials;

/* Whose turn it is in every lane. Its place in `near` is nowhere until put_back, so that it does not
 * meet itself. */
PLUGMC_FN void take_out(lanes *at, surroundings *near, lane_trials *move, const variant v)
{
    for (int k = 0; k < near->own; k++)
        EACH_LANE(l) {
            const int32_t there = at->order[k][l];
            move->slot[l] = at->turn[l] == k ? there : move->slot[l];
        }
    EACH_LANE(l) {
        const int32_t next = at->turn[l] + 1;
        at->turn[l] = next < at->n[l] ? next : 0;
    }
    for (int k = 0; k < near->own; k++) {
        near_slot *own = &near->slot[k];
        EACH_LANE(l) {
            const int mine = move->slot[l] == k;
            const float x = own->x[l], y = own->y[l];
            move->old_x[l] = mine ? x : move->old_x[l];
            move->old_y[l] = mine ? y : move->old_y[l];
            own->x[l] = mine ? PLUGMC_NOWHERE : x;
            if (v.dim == 3) {
                const float z = own->z[l];
                move->old_z[l] = mine ? z : move->old_z[l];
            }
            if (v.many) {
                const int32_t species = near->species[k][l];
                move->kind[l] = mine ? species : move->kind[l];
            }
        }
    }
}

/* Displacements of trial t; those that leave the cell are rejected. */
PLUGMC_FN void displace(lanes *at, int t, lane_trials *move, const variant v)
{
    const float *step = at->step;
    if (v.dim == 2) {
        if (t % 4 == 0)
            draw_lanes(at->me, at->task, at->cell0, PLUGMC_PURPOSE_TRIAL, (uint32_t)t / 4,
                       at->words);
        EACH_LANE(l) {
            float dx, dy;
            cb_displacement_2(at->words[t % 4][l], step[0], step[1], &dx, &dy);
            move->new_x[l] = move->old_x[l] + dx;
            move->new_y[l] = move->old_y[l] + dy;
        }
    } else {
        draw_lanes(at->me, at->task, at->cell0, PLUGMC_PURPOSE_TRIAL, (uint32_t)t, at->words);
        EACH_LANE(l) {
            float dx, dy, dz;
            plugmc_random r = {
                {at->words[0][l], at->words[1][l], at->words[2][l], at->words[3][l]}};
            cb_displacement_3(r, step[0], step[1], step[2], &dx, &dy, &dz);
            move->new_x[l] = move->old_x[l] + dx;
            move->new_y[l] = move->old_y[l] + dy;
            move->new_z[l] = move->old_z[l] + dz;
        }
    }
    EACH_LANE(l) {
        const float x = move->new_x[l], y = move->new_y[l], z = move->new_z[l];
        move->reject[l] = (x < -0.5f) | (x >= 0.5f) | (y < -0.5f) | (y >= 0.5f);
        if (v.dim == 3) move->reject[l] |= (z < -0.5f) | (z >= 0.5f);
    }
}

/* Rejects trial t of a lane by its change of energy, as Metropolis do. If that is not a number, the
 * particle goes there and nobody after it, so that it is found. */
PLUGMC_FN void weigh(lanes *at, int t, const slot_order *summed, lane_trials *move, const variant v)
{
    const checkerboard *me = at->me;
    float change[LANES];
    uint8_t kinds[LANES];
    static const float nothing[27 * MOST][3]; /* they are relative to this cell */
    EACH_LANE(l) kinds[l] = (uint8_t)move->kind[l];
    const plugmc_lanes asked = {.size = sizeof asked,
                                .lanes = LANES,
                                .scale = at->of->scale,
                                .ratio = {1, at->of->ratio[1], at->of->ratio[2]},
                                .offset = nothing,
                                .species = v.many ? summed->species : NULL,
                                .charge = me->charge,
                                .diameter = me->diameter,
                                .old_x = move->old_x,
                                .old_y = move->old_y,
                                .old_z = v.dim == 3 ? move->old_z : move->new_z,
                                .new_x = move->new_x,
                                .new_y = move->new_y,
                                .new_z = move->new_z,
                                .probe_species = v.many ? kinds : NULL,
                                .change = change};
    change_energies(me, at->of->multiplier, summed, asked);
    if (t % 4 == 0)
        draw_lanes(me, at->task, at->cell0, PLUGMC_PURPOSE_ACCEPT, (uint32_t)t / 4,
                   at->accept_words);
    const float over_kt = at->of->multiplier ? 1 : (float)(1 / me->system->temperature);
    EACH_LANE(l) {
        const int32_t low =
            plugmc_uniform_float(at->accept_words[t % 4][l]) < plugmc_exp(-change[l] * over_kt);
        const int32_t unknown = !(change[l] > -INFINITY);
        const int32_t before = at->lost[l], rejected = move->reject[l];
        at->lost[l] = before | (unknown & !rejected);
        move->reject[l] = rejected | before | !(low | unknown);
    }
}

/* Each lane's particle at its new place, or where it came from. */
PLUGMC_FN void put_back(lanes *at, surroundings *near, lane_trials *move, const variant v)
{
    EACH_LANE(l) {
        const float x = move->new_x[l], y = move->new_y[l], z = move->new_z[l];
        at->accepted[l] += 1 - move->reject[l];
        const float from_x = move->old_x[l], from_y = move->old_y[l], from_z = move->old_z[l];
        move->new_x[l] = move->reject[l] ? from_x : x;
        move->new_y[l] = move->reject[l] ? from_y : y;
        if (v.dim == 3) move->new_z[l] = move->reject[l] ? from_z : z;
    }
    for (int k = 0; k < near->own; k++) {
        near_slot *own = &near->slot[k];
        EACH_LANE(l) {
            const int mine = move->slot[l] == k;
            const float x = own->x[l], y = own->y[l];
            const float to_x = move->new_x[l], to_y = move->new_y[l];
            own->x[l] = mine ? to_x : x;
            own->y[l] = mine ? to_y : y;
            if (v.dim == 3) {
                const float z = own->z[l], to_z = move->new_z[l];
                own->z[l] = mine ? to_z : z;
            }
        }
    }
}

/* Particles of LANES cells from q0 on; returns how many cells have any. */
PLUGMC_FN int count_lanes(const checkerboard *me, const row_view *view, int q0, int32_t *n)
{
    const uint8_t *count = view->count + view->word[view->cells / 2] + q0;
    const int half = me->cells.half;
    int busy = 0;
#pragma omp simd reduction(+ : busy)
    for (int l = 0; l < LANES; l++) {
        const int32_t there = count[l];
        n[l] = q0 + l < half ? there : 0;
        busy += n[l] > 0;
    }
    return busy;
}

PLUGMC_FN void write_lanes(const checkerboard *me, const row_view *view, int q0,
                           const surroundings *near, const variant v)
{
    for (int k = 0; k < near->own; k++) {
        const int64_t at = k * me->cells.plane + view->word[view->cells / 2] + q0;
        const near_slot *own = &near->slot[k];
        memcpy((float *)view->coordinate[0] + at, own->x, sizeof own->x);
        memcpy((float *)view->coordinate[1] + at, own->y, sizeof own->y);
        if (v.dim == 3) memcpy((float *)view->coordinate[2] + at, own->z, sizeof own->z);
    }
}

/* Trial moves of the cells of one row. */
PLUGMC_FN row_result update(const checkerboard *me, const store *s, row_task task, const variant v)
{
    const row_view view = look_around(me, s, task);
    row_result result = {{0, 0}, 0};
    surroundings near;
    slot_order summed;
    lanes at;
    at.me = me;
    at.task = task;
    at.of = view.of;
    memcpy(at.step, view.of->step, sizeof at.step);

    for (int q0 = 0; q0 < me->cells.half; q0 += LANES) {
        const int busy = count_lanes(me, &view, q0, at.n);
        if (!busy) continue;
        at.cell0 =
            (uint32_t)((task.z * me->cells.m[1] + task.y) * me->cells.m[0] + task.x0 + 2 * q0);
        EACH_LANE(l) at.turn[l] = at.accepted[l] = at.lost[l] = 0;
        gather_surroundings(me, &view, q0, at.n, v.dim, v.many, v.wide, &near);
        if (v.energies) order_slots(&near, v.dim, v.wide, &summed);
        draw_order(me, task, at.cell0, at.n, near.own, at.order);
        for (int t = 0; t < me->set.trials; t++) {
            lane_trials move = {0};
            take_out(&at, &near, &move, v);
            displace(&at, t, &move, v);
            reject_overlaps(me, view.of, &near, v.dim, v.many, move.new_x, move.new_y, move.new_z,
                            move.kind, move.reject);
            if (v.energies) weigh(&at, t, &summed, &move, v);
            put_back(&at, &near, &move, v);
        }
        result.counts.trials += (uint64_t)busy * (uint64_t)me->set.trials;
        for (int l = 0; l < LANES; l++) result.counts.accepted += (uint64_t)at.accepted[l];
        for (int l = 0; l < LANES && v.energies; l++) result.lost |= at.lost[l];
        write_lanes(me, &view, q0, &near, v);
    }
    return result;
}

static PLUGMC_TARGETS row_result update_disks(const checkerboard *me, const store *s, row_task t)
{
    return update(me, s, t, (variant){2, 0, 0, 0});
}

static PLUGMC_TARGETS row_result update_spheres(const checkerboard *me, const store *s, row_task t)
{
    return update(me, s, t, (variant){3, 0, 0, 0});
}

static PLUGMC_TARGETS row_result update_any(const checkerboard *me, const store *s, row_task t)
{
    const int many = me->cells.species > 1, energies = me->cells.energies > 0;
    return me->cells.dimension == 2 ? update(me, s, t, (variant){2, many, energies, 0})
                                    : update(me, s, t, (variant){3, many, energies, 0});
}

static PLUGMC_TARGETS row_result update_wide(const checkerboard *me, const store *s, row_task t)
{
    const int many = me->cells.species > 1;
    return me->cells.dimension == 2 ? update(me, s, t, (variant){2, many, 1, 1})
                                    : update(me, s, t, (variant){3, many, 1, 1});
}

row_result update_row(const checkerboard *me, const store *s, row_task t)
{
    return me->cells.wide && me->cells.energies          ? update_wide(me, s, t)
           : me->cells.species > 1 || me->cells.energies ? update_any(me, s, t)
           : me->cells.dimension == 2                    ? update_disks(me, s, t)
                                                         : update_spheres(me, s, t);
}
