/* wide.c: a sub-sweep on the CPU where many particles are near a cell, as in a fluid of Lennard-Jones
 * atoms in three dimensions: one cell after the other, and in it the sums of wide.cu side by side.
 *
 * So all lanes are filled, however few cells a set has, and a trial move that leaves its cell or
 * overlaps costs no energy. The list of particles near a cell and the order of sums are those of
 * wide.cu, and part of the chain.
 */
#include "checkerboard.h"
#include "wide_masks.h"

/* A round: an entry of the list for each of WARP sums. */
enum { OWN = (MOST + WARP - 1) / WARP, ROUNDS = OWN + (26 * MOST + WARP - 1) / WARP };
enum { ENTRIES = ROUNDS * WARP };
/* Trial moves that are drawn at once: the words of LANES blocks. */
enum { DRAWN = 4 * LANES };

/* Particles, relative to the centre of the cell, in units of its edges, which is exact; nobody is at
 * PLUGMC_NOWHERE. */
typedef struct cell_list {
    _Alignas(64) float x[ENTRIES + 16]; /* room for what wide_pack writes */
    float y[ENTRIES + 16], z[ENTRIES + 16];
    uint8_t species[ENTRIES];
    int rounds, pointed; /* rounds that have pointers */
    /* of each round, as potentials take them */
    const float *of_x[ROUNDS], *of_y[ROUNDS], *of_z[ROUNDS];
    const uint8_t *of_species[ROUNDS];
} cell_list;

/* Those near a cell: its own in the order of their slots, and others. Bytes are whole numbers, see cb_byte. */
typedef struct near_cell {
    cell_list own, others, looked_at; /* looked_at: others that a trial move may meet */
    _Alignas(64) float byte_x[ENTRIES];
    float byte_y[ENTRIES], byte_z[ENTRIES];
    float an_edge; /* bytes */
} near_cell;

/* A cell while it makes its trial moves. */
typedef struct wide_cell {
    const checkerboard *me;
    const conditions *of;
    uint64_t sweep;
    uint32_t walker, cell;
    int n, many, hard; /* particles; many: species; hard: there are cores */
    int masks;         /* of AVX-512 */
    int32_t order[MOST];
} wide_cell;

/* A trial move; potentials take its coordinates and species for each sum. */
typedef struct wide_trial {
    _Alignas(64) float old_x[WARP];
    float old_y[WARP], old_z[WARP], new_x[WARP], new_y[WARP], new_z[WARP];
    uint8_t species[WARP];
    float x, y, z; /* new */
    int kind;
} wide_trial;

typedef struct wide_draws {
    float dx[DRAWN], dy[DRAWN], dz[DRAWN], uniform[DRAWN];
} wide_draws;

/* The cells around one, c = dx + 3 dy + 9 dz, and what is stored of the walker. */
typedef struct wide_view {
    const float *coordinate[3];
    const uint32_t *id;
    const uint8_t *counts;
    float offset[27][3]; /* of its centre from that of the cell in the middle */
    int64_t row[9];      /* word of the first cell of each row */
    int64_t slot[27];    /* the first of each cell */
    int count[27];       /* of its particles */
    int cells;
} wide_view;

static wide_view look_at(const checkerboard *me, const store *s, int walker)
{
    wide_view v;
    v.cells = me->cells.dimension == 3 ? 27 : 9;
    for (int a = 0; a < 3; a++)
        v.coordinate[a] = s->coordinate + walker * me->cells.walker +
                          (a < me->cells.dimension ? a : 0) * me->cells.axis;
    v.id = s->id + walker * me->cells.axis;
    v.counts = s->count + walker * me->cells.plane;
    for (int c = 0; c < v.cells; c++) {
        v.offset[c][0] = (float)(c % 3 - 1);
        v.offset[c][1] = (float)(c / 3 % 3 - 1);
        v.offset[c][2] = v.cells == 27 ? (float)(c / 9 - 1) : 0;
    }
    return v;
}

static void look_along(const checkerboard *me, active_row row, wide_view *v)
{
    const int *m = me->cells.m;
    for (int r = 0; r < v->cells / 3; r++) {
        const int dy = r % 3 - 1, dz = v->cells == 27 ? r / 3 - 1 : 0;
        v->row[r] = word_of(me, 0, (row.y + dy + m[1]) % m[1], (row.z + dz + m[2]) % m[2]);
    }
}

/* Of cell x of the row. */
static void look_around(const checkerboard *me, wide_view *v, int x)
{
    const int last = me->cells.m[0] - 1, along[3] = {x ? x - 1 : last, x, x < last ? x + 1 : 0};
    const int64_t beside = word_of(me, 1, 0, 0) - word_of(me, 0, 0, 0); /* the other half row */
    for (int c = 0; c < v->cells; c++) {
        const int64_t word = v->row[c / 3] + (along[c % 3] & 1) * beside + (along[c % 3] >> 1);
        v->slot[c] = place_of(me, word, 0);
        v->count[c] = v->counts[word];
    }
}

/* ---- The list of particles near a cell --------------------------------------------------------- */

PLUGMC_FN uint8_t kind_of(const checkerboard *me, uint32_t id)
{
    int kind = 0;
    for (int b = 1; b < me->cells.species; b++) kind += id >= (uint32_t)me->system->first[b];
    return (uint8_t)kind;
}

/* Ends a list of n entries: fills up its last round. */
PLUGMC_FN void end_list(cell_list *list, int n)
{
    for (; n % WARP; n++) {
        list->x[n] = PLUGMC_NOWHERE;
        list->y[n] = list->z[n] = 0;
        list->species[n] = 0;
    }
    list->rounds = n / WARP;
    for (int r = list->pointed; r < list->rounds; r++) {
        list->of_x[r] = list->x + r * WARP;
        list->of_y[r] = list->y + r * WARP;
        list->of_z[r] = list->z + r * WARP;
        list->of_species[r] = list->species + r * WARP;
    }
    if (list->rounds > list->pointed) list->pointed = list->rounds;
}

PLUGMC_FN void find_bytes(const conditions *of, const int dim, near_cell *near)
{
    const cell_list *list = &near->others;
    const float an_edge = near->an_edge, ratio_y = of->ratio[1], ratio_z = of->ratio[2];
#pragma omp simd
    for (int e = 0; e < list->rounds * WARP; e++) {
        /* nobody is far from all */
        const int there = list->x[e] < PLUGMC_NOWHERE;
        const float x = there ? list->x[e] : 0;
        near->byte_x[e] = there ? (float)(int32_t)cb_byte(x, 1, an_edge) : 1e5f;
        near->byte_y[e] = (float)(int32_t)cb_byte(list->y[e], ratio_y, an_edge);
        if (dim == 3) near->byte_z[e] = (float)(int32_t)cb_byte(list->z[e], ratio_z, an_edge);
    }
}

/* near [slots]: bit c is set where cell c has a particle in this slot within the range of the cell in
 * the middle. */
PLUGMC_FN void find_near(const conditions *of, const wide_view *v, const int dim, int slots,
                         uint32_t *near)
{
    const float ratio_y = of->ratio[1], ratio_z = of->ratio[2], reach = of->reach;
    memset(near, 0, sizeof *near * (size_t)slots);
    for (int c = 0; c < v->cells; c++) {
        const int dx = c % 3 - 1, dy = c / 3 % 3 - 1, dz = dim == 3 ? c / 9 - 1 : 0;
        const float *x = v->coordinate[0] + v->slot[c], *y = v->coordinate[1] + v->slot[c];
        const float *z = v->coordinate[2] + v->slot[c];
        const int n = c == v->cells / 2 ? 0 : v->count[c];
#pragma omp simd
        for (int k = 0; k < n; k++) {
            const float square = cb_square_outside(dim, x[k] + (float)dx, y[k] + (float)dy,
                                                   z[k] + (float)dz, dx, dy, dz, ratio_y, ratio_z);
            near[k] |= (uint32_t)(square < reach) << c;
        }
    }
}

/* As cb_gather. */
PLUGMC_FN void gather(const wide_cell *at, const wide_view *v, const int dim, near_cell *near)
{
    const checkerboard *me = at->me;
    const float *x = v->coordinate[0], *y = v->coordinate[1], *z = v->coordinate[2];
    const int64_t own = v->slot[v->cells / 2];
    cell_list *list = &near->own;
    uint32_t found[MOST];
    int slots = 0, e = 0;
    for (int c = 0; c < v->cells; c++) slots = v->count[c] > slots ? v->count[c] : slots;
    find_near(at->of, v, dim, slots, found);
    for (int k = 0; k < at->n; k++) {
        list->x[k] = x[own + k];
        list->y[k] = y[own + k];
        list->z[k] = dim == 3 ? z[own + k] : 0;
        if (at->many) list->species[k] = kind_of(me, v->id[own + k]);
    }
    end_list(list, at->n);
    list = &near->others;
    for (int k = 0; k < slots; k++)
        for (uint32_t left = found[k]; left; left &= left - 1, e++) {
            const int c = __builtin_ctz(left);
            const int64_t there = v->slot[c] + k;
            list->x[e] = x[there] + v->offset[c][0];
            list->y[e] = y[there] + v->offset[c][1];
            list->z[e] = dim == 3 ? z[there] + v->offset[c][2] : 0;
            if (at->many) list->species[e] = kind_of(me, v->id[there]);
        }
    end_list(list, e);
    if (me->cells.energies) find_bytes(at->of, dim, near);
}

/* ---- Random choices ------------------------------------------------------------------------------ */

/* LANES blocks from number `first` on. */
PLUGMC_FN void draw_blocks(const wide_cell *at, uint32_t purpose, uint32_t first,
                           uint32_t words[4][LANES])
{
    EACH_LANE(l) {
        const plugmc_random r = plugmc_draw(at->me->seed, at->sweep, at->walker, at->cell, purpose,
                                            first + (uint32_t)l);
        words[0][l] = r.word[0];
        words[1][l] = r.word[1];
        words[2][l] = r.word[2];
        words[3][l] = r.word[3];
    }
}

/* A random permutation of the cell's particles. */
PLUGMC_FN void draw_order(wide_cell *at)
{
    uint32_t words[4][LANES];
    int drawn = MOST; /* the first block that is there */
    for (int k = 0; k < at->n; k++) at->order[k] = k;
    if (!at->me->set.shuffle_particles) return;
    for (int k = at->n - 1; k > 0; k--) { /* Fisher-Yates */
        if (k / 4 < drawn) {
            drawn = k / 4 / LANES * LANES;
            draw_blocks(at, PLUGMC_PURPOSE_ORDER, (uint32_t)drawn, words);
        }
        const int j = (int)plugmc_below(words[k % 4][k / 4 - drawn], (uint32_t)k + 1);
        const int32_t other = at->order[j];
        at->order[j] = at->order[k];
        at->order[k] = other;
    }
}

/* For n <= DRAWN trial moves from number t on, a multiple of DRAWN. */
PLUGMC_FN void draw_trials(const wide_cell *at, const int dim, int t, int n, wide_draws *out)
{
    const float *step = at->of->step;
    uint32_t words[4][LANES];
    if (dim == 2) {
        draw_blocks(at, PLUGMC_PURPOSE_TRIAL, (uint32_t)t / 4, words);
        for (int i = 0; i < n; i++)
            cb_displacement_2(words[i % 4][i / 4], step[0], step[1], &out->dx[i], &out->dy[i]);
    }
    for (int i = 0; i < n && dim == 3; i += LANES) {
        draw_blocks(at, PLUGMC_PURPOSE_TRIAL, (uint32_t)(t + i), words);
        EACH_LANE(l) {
            const plugmc_random r = {{words[0][l], words[1][l], words[2][l], words[3][l]}};
            cb_displacement_3(r, step[0], step[1], step[2], &out->dx[i + l], &out->dy[i + l],
                              &out->dz[i + l]);
        }
    }
    if (!at->me->cells.energies) return;
    draw_blocks(at, PLUGMC_PURPOSE_ACCEPT, (uint32_t)t / 4, words);
    for (int i = 0; i < n; i++) out->uniform[i] = plugmc_uniform_float(words[i % 4][i / 4]);
}

/* ---- Trial moves --------------------------------------------------------------------------------- */

/* Whether the particle stays in its cell. */
PLUGMC_FN int stays(const wide_trial *move, const int dim)
{
    return (move->x >= -0.5f) & (move->x < 0.5f) & (move->y >= -0.5f) & (move->y < 0.5f) &
           (dim == 2 || ((move->z >= -0.5f) & (move->z < 0.5f)));
}

PLUGMC_FN int overlaps(const wide_cell *at, const cell_list *list, const wide_trial *move,
                       const int dim)
{
    const float ratio_y = at->of->ratio[1], ratio_z = at->of->ratio[2];
    const float *contact = at->of->contact + move->kind * at->me->cells.species;
    for (int r = 0; r < list->rounds; r++) {
        const float *x = list->of_x[r], *y = list->of_y[r], *z = list->of_z[r];
        const uint8_t *species = list->of_species[r];
        int32_t found = 0;
#pragma omp simd reduction(| : found)
        for (int l = 0; l < WARP; l++) {
            const float ux = move->x - x[l], uy = (move->y - y[l]) * ratio_y;
            float r2 = fmaf(uy, uy, ux * ux);
            if (dim == 3) {
                const float uz = (move->z - z[l]) * ratio_z;
                r2 = fmaf(uz, uz, r2);
            }
            found |= r2 < contact[at->many ? species[l] : 0];
        }
        if (found) return 1;
    }
    return 0;
}

/* Which entries of a round are chosen: bit l is entry l. */
PLUGMC_FN uint32_t look(const wide_choice *c, const int dim, int round)
{
    const int64_t e = (int64_t)round * WARP;
    uint32_t met = 0;
#pragma omp simd reduction(| : met)
    for (int l = 0; l < WARP; l++) {
        const float dx = c->byte[0][e + l] - c->from[0], dy = c->byte[1][e + l] - c->from[1];
        float square = dx * dx + dy * dy; /* exact */
        if (dim == 3) {
            const float dz = c->byte[2][e + l] - c->from[2];
            square += dz * dz;
        }
        met |= (uint32_t)(square <= c->most) << l;
    }
    return met;
}

/* As wide_pack. */
PLUGMC_FN int pack(const wide_choice *c, const int dim, int many, const uint8_t *kinds, int rounds,
                   cell_list *to)
{
    int n = 0;
    for (int r = 0; r < rounds; r++)
        for (uint32_t met = look(c, dim, r); met; met &= met - 1, n++) {
            const int e = r * WARP + __builtin_ctz(met);
            to->x[n] = c->x[e];
            to->y[n] = c->y[e];
            to->z[n] = c->z[e];
            if (many) to->species[n] = kinds[e];
        }
    return n;
}

/* Lists the others that a move by (dx, dy, dz) of the particle at (x, y, z) looks at. As cb_meet_others. */
PLUGMC_FN void list_looked_at(const wide_cell *at, near_cell *near, const int dim, float x, float y,
                              float z, float dx, float dy, float dz)
{
    const float an_edge = near->an_edge, ratio_y = at->of->ratio[1], ratio_z = at->of->ratio[2];
    const cell_list *from = &near->others;
    cell_list *to = &near->looked_at;
    const wide_choice choice = {
        {near->byte_x, near->byte_y, dim == 3 ? near->byte_z : NULL},
        from->x,
        from->y,
        from->z,
        {(float)cb_byte(x + 0.5f * dx, 1, an_edge), (float)cb_byte(y + 0.5f * dy, ratio_y, an_edge),
         (float)cb_byte(z + 0.5f * dz, ratio_z, an_edge)},
        (float)cb_most_bytes(at->of->reach, ratio_y, ratio_z, an_edge, dx, dy, dz)};
    const int n = at->masks && !at->many
                      ? wide_pack(&choice, from->rounds * WARP, to->x, to->y, to->z)
                      : pack(&choice, dim, at->many, from->species, from->rounds, to);
    end_list(to, n);
}

/* Change of the energy by a list; with multipliers, each term times its own, of -ln p. Sums are added like the
 * leaves of a tree. */
PLUGMC_FN float change_of(const wide_cell *at, const cell_list *list, const wide_trial *move)
{
    static const float nothing[ROUNDS][3]; /* entries are relative to this cell */
    const plugmc_system *system = at->me->system;
    const double *multiplier = at->of->multiplier;
    float change[WARP] = {0}, of_term[WARP];
    plugmc_lanes asked = {.size = sizeof asked,
                          .lanes = WARP,
                          .slots = list->rounds,
                          .scale = at->of->scale,
                          .ratio = {1, at->of->ratio[1], at->of->ratio[2]},
                          .x = list->of_x,
                          .y = list->of_y,
                          .z = list->of_z,
                          .offset = nothing,
                          .species = at->many ? list->of_species : NULL,
                          .charge = at->me->charge,
                          .diameter = at->me->diameter,
                          .old_x = move->old_x,
                          .old_y = move->old_y,
                          .old_z = move->old_z,
                          .new_x = move->new_x,
                          .new_y = move->new_y,
                          .new_z = move->new_z,
                          .probe_species = at->many ? move->species : NULL,
                          .change = change};
    for (int i = 0; i < system->term_count; i++) {
        const plugmc_term *term = plugmc_term_at(system, i);
        if (!term->sampled || !term->plugin_single) continue; /* a constant has no float unit */
        const plugmc_pair *pair = term->plugin_single->potential->pair;
        if (!(pair->functions & PLUGMC_PAIR_ENERGY)) continue;
        if (multiplier && multiplier[i] == 0) continue; /* it may be infinite */
        if (multiplier) {
            memset(of_term, 0, sizeof of_term);
            asked.change = of_term;
        }
        pair->lanes(term->instance_single, &asked);
        if (!multiplier) continue;
        const float weight = (float)multiplier[i];
        for (int l = 0; l < WARP; l++) change[l] += of_term[l] * weight;
    }
    for (int half = WARP / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) change[l] += change[l + half];
    return change[0];
}

/* Begins a trial move of entry i by (dx, dy, dz). */
PLUGMC_FN void begin(const wide_cell *at, const cell_list *list, int i, float dx, float dy,
                     float dz, wide_trial *move)
{
    move->x = list->x[i] + dx;
    move->y = list->y[i] + dy;
    move->z = list->z[i] + dz;
    move->kind = at->many ? list->species[i] : 0;
}

/* The same for each sum. */
PLUGMC_FN void spread(const wide_cell *at, float x, float y, float z, wide_trial *move)
{
    for (int l = 0; l < WARP; l++) {
        move->old_x[l] = x;
        move->old_y[l] = y;
        move->old_z[l] = z;
        move->new_x[l] = move->x;
        move->new_y[l] = move->y;
        move->new_z[l] = move->z;
    }
    if (at->many) memset(move->species, move->kind, sizeof move->species);
}

/* Whether own particle i goes by (dx, dy, dz) to its new place, where it stays in the cell. It does not
 * meet itself. *lost: the change of energy is not a number, or minus infinity. */
PLUGMC_FN int accepts(const wide_cell *at, near_cell *near, const int dim, int i, float dx,
                      float dy, float dz, float uniform, wide_trial *move, int *lost)
{
    cell_list *own = &near->own;
    const float x = own->x[i], y = own->y[i], z = own->z[i];
    own->x[i] = PLUGMC_NOWHERE;
    int accepted =
        !(at->hard && (overlaps(at, own, move, dim) || overlaps(at, &near->others, move, dim)));
    if (accepted && at->me->cells.energies) {
        spread(at, x, y, z, move);
        list_looked_at(at, near, dim, x, y, z, dx, dy, dz);
        const float change = change_of(at, own, move) + change_of(at, &near->looked_at, move);
        const float over_kt = at->of->multiplier ? 1 : (float)(1 / at->me->system->temperature);
        *lost = !(change > -INFINITY);
        accepted = *lost || uniform < plugmc_exp(-change * over_kt);
    }
    own->x[i] = accepted ? move->x : x;
    own->y[i] = accepted ? move->y : y;
    own->z[i] = accepted ? move->z : z;
    return accepted;
}

/* Trial moves; returns how many are accepted. If a change of energy is not a number the
 * particle goes there and nobody after it, so that it is found. */
PLUGMC_FN int make_moves(const wide_cell *at, near_cell *near, const int dim, int *lost)
{
    wide_draws drawn;
    wide_trial move;
    int accepted = 0, turn = 0;
    const int trials = (int)at->me->set.trials;
    for (int t = 0; t < trials && !*lost; t++) {
        if (t % DRAWN == 0)
            draw_trials(at, dim, t, trials - t < DRAWN ? trials - t : DRAWN, &drawn);
        const int d = t % DRAWN, i = at->order[turn];
        const float dx = drawn.dx[d], dy = drawn.dy[d], dz = dim == 3 ? drawn.dz[d] : 0;
        turn = turn + 1 == at->n ? 0 : turn + 1;
        begin(at, &near->own, i, dx, dy, dz, &move);
        if (stays(&move, dim))
            accepted += accepts(at, near, dim, i, dx, dy, dz, drawn.uniform[d], &move, lost);
    }
    return accepted;
}

/* All of a cell. */
PLUGMC_FN int update_cell(wide_cell *at, const wide_view *v, near_cell *near, const int dim,
                          int *any_lost)
{
    const int64_t own = v->slot[v->cells / 2];
    int lost = 0;
    near->an_edge = cb_bytes_an_edge(at->of->reach, at->of->ratio[1], at->of->ratio[2]);
    gather(at, v, dim, near);
    draw_order(at);
    const int accepted = make_moves(at, near, dim, &lost);
    *any_lost |= lost;
    const float *from[3] = {near->own.x, near->own.y, near->own.z};
    for (int a = 0; a < dim; a++)
        memcpy((float *)v->coordinate[a] + own, from[a], sizeof *from[a] * (size_t)at->n);
    return accepted;
}

PLUGMC_FN rows_result update(const checkerboard *me, const store *s, const rows_task *task,
                             const int dim)
{
    rows_result result = {{{0, 0}}, 0};
    wide_view v = look_at(me, s, task->walker);
    near_cell near;
    wide_cell at = {.me = me,
                    .of = &me->each.of[task->walker],
                    .sweep = task->sweep,
                    .walker = (uint32_t)task->walker,
                    .many = me->cells.species > 1,
                    .masks = wide_masks()};
    near.own.pointed = near.others.pointed = near.looked_at.pointed = 0;
    for (int pair = 0; pair < me->cells.species * me->cells.species; pair++)
        at.hard |= at.of->contact[pair] > 0;
    for (int r = task->first; r < task->end; r++) {
        const active_row row = row_of(me, task, r);
        look_along(me, row, &v);
        for (int x = row.x0; x < me->cells.m[0]; x += 2) {
            look_around(me, &v, x);
            at.n = v.count[v.cells / 2];
            at.cell = (uint32_t)((row.z * me->cells.m[1] + row.y) * me->cells.m[0] + x);
            if (!at.n) continue;
            const int accepted = update_cell(&at, &v, &near, dim, &result.lost);
            if (!row.counts) continue;
            result.counts[0].trials += (uint64_t)me->set.trials;
            result.counts[0].accepted += (uint64_t)accepted;
        }
    }
    return result;
}

static PLUGMC_TARGETS rows_result update_flat(const checkerboard *me, const store *s,
                                              const rows_task *t)
{
    return update(me, s, t, 2);
}

static PLUGMC_TARGETS rows_result update_solid(const checkerboard *me, const store *s,
                                               const rows_task *t)
{
    return update(me, s, t, 3);
}

rows_result update_wide_rows(const checkerboard *me, const store *s, const rows_task *t)
{
    return me->cells.dimension == 2 ? update_flat(me, s, t) : update_solid(me, s, t);
}

/* ---- The cell shift ------------------------------------------------------------------------------ */

/* Adds those of the n particles of an old cell that stay in it or (edge != 0) that leave it, to a new
 * cell with `filled`; returns how many that has then. */
PLUGMC_FN int take_over(const checkerboard *me, int walker, const cb_plan *p, int64_t from, int n,
                        float edge, int64_t to, int filled)
{
    const float s = (float)(p->sign * p->quanta) * CB_QUANTUM;
    const int64_t base = walker * me->cells.walker, ids = walker * me->cells.axis;
    const float *along = me->now.coordinate + base + p->axis * me->cells.axis + from;
    for (int k = 0; k < n; k++) {
        const float c = along[k] - s;
        if (((c < -0.5f) | (c >= 0.5f)) != (edge != 0)) continue;
        if (filled++ >= me->cells.capacity) continue;
        for (int a = 0; a < me->cells.dimension; a++) {
            const int64_t axis = base + a * me->cells.axis;
            me->next.coordinate[axis + to + filled - 1] =
                a == p->axis ? c + edge : me->now.coordinate[axis + from + k];
        }
        if (me->cells.ids) me->next.id[ids + to + filled - 1] = me->now.id[ids + from + k];
    }
    return filled;
}

int shift_wide_row(const checkerboard *me, int walker, const cb_plan *p, int64_t here,
                   int64_t there, int ahead)
{
    const int half = me->cells.half, capacity = me->cells.capacity;
    const uint8_t *count = me->now.count + walker * me->cells.plane;
    int largest = 0;
    for (int q = 0; q < half; q++) {
        const int64_t stay = here + q, come = there + (q + ahead + half) % half;
        const int64_t to = place_of(me, stay, 0);
        int filled = take_over(me, walker, p, to, count[stay], 0, to, 0);
        filled = take_over(me, walker, p, place_of(me, come, 0), count[come],
                           p->sign > 0 ? 1.0f : -1.0f, to, filled);
        largest = filled > largest ? filled : largest;
        me->next.count[walker * me->cells.plane + stay] =
            (uint8_t)(filled < capacity ? filled : capacity);
    }
    return largest;
}
