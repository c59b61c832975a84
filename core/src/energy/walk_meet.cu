/* walk_meet.cu: what the move of one particle does to the energy, and how it is carried out. A block takes a walker; its
 * warps share the particles that one meets at its old and its new position.
 *
 * Stands behind walk_bodies.cu and behind the mover's own source, before walk_groups.cu and walk.cu. */

/* One particle goes from one place, where it was of one species, comes to another place, or both. */
typedef struct walk_part {
    int32_t was, comes; /* species; -1: nobody goes, or comes */
    double from[3], to[3];
    int64_t skip[2]; /* numbers of those that are not met; first of the one that goes */
    uint32_t centre; /* coarse: see walk_coarse */
    int32_t within;
#if WALK_BODIES
    plugmc_orientation turned; /* of the one that comes */
#endif
} walk_part;

/* What a thread has summed. */
typedef struct walk_sums {
    plugmc_sums gone, come;
#if WALK_MEETS_BODIES
    plugmc_body_sums bodies_gone, bodies_come;
#endif
    int overlap;
} walk_sums;

PLUGMC_FN walk_ends walk_ends_of(const walk_around *a, const walk_part *p)
{
    walk_ends e = {plugmc_site_of_species(p->was < 0 ? 0 : p->was),
                   plugmc_site_of_species(p->comes < 0 ? 0 : p->comes)};
#if WALK_MEETS_BODIES
    if (PLUGMC_BODY_ENERGIES > 0 && p->was >= 0)
        e.gone = walk_placed(e.was, a->orientations[p->skip[0]]);
    if (p->comes >= 0) e.come = walk_placed(e.comes, p->turned);
#endif
    return e;
}

#if WALK_MEETS_BODIES
/* Adds the energies with the body of particle k, at these separations from where one goes and comes. */
template <bool BOTH, bool POOLED>
PLUGMC_FN void walk_meet_body(const walk_around *a, const walk_part *p, const walk_ends *e,
                              plugmc_separation from, plugmc_separation to, int64_t k,
                              plugmc_site site, walk_sums *sums)
{
    plugmc_placed other = {};
    other.site = site;
    other.orientation = a->orientations[k];
    if (BOTH || p->comes >= 0)
        sums->overlap |= POOLED ? plugmc_meet(to, &e->come, &other, &sums->bodies_come)
                                : walk_meet_two(to, &e->come, &other, &sums->bodies_come);
    if (PLUGMC_BODY_ENERGIES > 0 && !sums->overlap && (BOTH || p->was >= 0))
        walk_add_bodies(from, &e->gone, &other, &sums->bodies_gone);
}
#endif

/* Adds the energies with particle k. BOTH: one particle goes and comes. POOLED: see walk_pool.cu. */
template <bool BOTH, bool POOLED = false>
PLUGMC_FN void walk_meet_one(const walk_around *a, const walk_part *p, const walk_ends *e,
                             int64_t k, walk_sums *sums)
{
    const double x = a->x[k], y = a->y[k], z = a->z[k];
    const int s = PLUGMC_SPECIES == 1 ? 0 : a->species[k];
    const plugmc_site site = plugmc_site_of_species(s);
    const plugmc_separation from = plugmc_separated(p->from[0] - x, p->from[1] - y, p->from[2] - z,
                                                    a->images),
                            to = plugmc_separated(p->to[0] - x, p->to[1] - y, p->to[2] - z,
                                                  a->images);
#if WALK_MEETS_BODIES
    walk_meet_body<BOTH, POOLED>(a, p, e, from, to, k, site, sums);
#endif
    if (BOTH || p->was >= 0)
        plugmc_sums_add_energy(&sums->gone,
                               plugmc_separate_at(p->from[0], p->from[1], p->from[2], from), e->was,
                               site);
    if (!BOTH && p->comes < 0) return;
    plugmc_sums_add_energy(&sums->come, plugmc_separate_at(p->to[0], p->to[1], p->to[2], to),
                           e->comes, site);
    sums->overlap |= PLUGMC_CONTACTS && to.r2 < plugmc_contact_square(p->comes, s);
}

/* ---- Shared memory: see walk_shared_bytes ------------------------------------------------------------ */

/* [32]: the trials that are proposed at once. */
PLUGMC_FN struct walk_single *walk_batch(void)
{
    extern __shared__ uint4 walk_shared[];
    return (struct walk_single *)walk_shared;
}

/* [warps][WALK_LISTED]: who is near. */
PLUGMC_FN uint16_t *walk_listed(void)
{
    return (uint16_t *)((char *)walk_batch() +
                        (WALK_BODIES ? WALK_BODIES_BATCH_BYTES : WALK_BATCH_BYTES));
}

/* Walkers of a block. */
#ifdef PLUGMC_PARTNERS
enum { WALK_BOXES = 2 };
#else
enum { WALK_BOXES = 1 };
#endif

/* [WALK_BOXES][walk_coarse_row]: see walk_coarse. */
PLUGMC_FN uint32_t *walk_coarse_places(void)
{
    return (uint32_t *)(walk_listed() + blockDim.x / 32 * WALK_LISTED);
}

PLUGMC_FN uint32_t walk_coarse_row(const walk_task *t) { return (t->particles + 3) / 4 * 4; }

/* ---- Who is near ------------------------------------------------------------------------------------ */

/* Neighbours are picked by coordinates in 256ths of the box, one byte each, whose differences are periodic by themselves. A
 * particle within `reach` in the box differs by at most reach / unit + 1 along each direction, where the unit is 1/256 of
 * the shortest edge (in an oblique box: of a lower bound of what a fractional coordinate is long). */
PLUGMC_FN uint32_t walk_coarse(const walk_around *a, const double r[3])
{
    uint32_t bytes = 0;
    for (int d = 0; d < PLUGMC_DIMENSION; d++) {
        const double f = !PLUGMC_PERIODIC ? r[d] * (0.25 / plugmc_radius)
                         : PLUGMC_OBLIQUE
                             ? r[0] * a->images.inverse[0][d] + r[1] * a->images.inverse[1][d] +
                                   r[2] * a->images.inverse[2][d]
                             : r[d] * a->images.inverse_length[d];
        bytes |= ((uint32_t)__float2int_rd(256 * (float)f) & 255) << (8 * d);
    }
    return bytes;
}

PLUGMC_FN float walk_unit(const walk_around *a)
{
    float inverse = PLUGMC_PERIODIC ? 0 : 0.25f / (float)plugmc_radius;
    for (int d = 0; d < PLUGMC_DIMENSION && PLUGMC_PERIODIC && !PLUGMC_OBLIQUE; d++)
        inverse = fmaxf(inverse, (float)a->images.inverse_length[d]);
    for (int k = 0; k < 9 && PLUGMC_OBLIQUE; k++) {
        const float element = (float)a->images.inverse[k / 3][k % 3];
        inverse += element * element;
    }
    return 1 / (256 * (PLUGMC_OBLIQUE ? sqrtf(inverse) : inverse));
}

/* The largest square of a difference, in units, of who may be in reach of a particle at its place or where it goes. */
PLUGMC_FN int32_t walk_within(const walk_task *t, const walk_around *a, const walk_part *p)
{
    const plugmc_separation step = plugmc_separated(p->to[0] - p->from[0], p->to[1] - p->from[1],
                                                    p->to[2] - p->from[2], a->images);
    const float reach = t->reach + (p->was >= 0 && p->comes >= 0 ? sqrtf((float)step.r2) : 0),
                units = 1.0001f * reach / walk_unit(a) + 1.74f; /* sqrt(3) for rounding */
    return units < 256 ? (int32_t)(units * units) : 0x7fffffff;
}

PLUGMC_FN int walk_square(uint32_t a, uint32_t b)
{
    const int apart = (int)__vabsdiffu4(a, b); /* as signed bytes: 255 is -1 */
    return __dp4a(apart, apart, 0);
}

/* Who is near among 16 particles of each thread: bits of those at k, k + 1, k + 2, k + 3, k + 4 * threads ... */
PLUGMC_FN uint32_t walk_near(const walk_around *a, uint32_t centre, int32_t within, uint32_t k,
                             uint32_t end)
{
    const uint32_t *coarse = walk_coarse_places() + a->coarse;
    uint32_t near = 0;
    PLUGMC_UNROLL
    for (int row = 0; row < WALK_ROWS; row++, k += 4 * a->threads) {
        if (k >= end) continue;
        const uint4 four = *(const uint4 *)(coarse + k);
        near |= (walk_square(four.x, centre) <= within ? 1u : 0) << (4 * row);
        near |= (walk_square(four.y, centre) <= within ? 2u : 0) << (4 * row);
        near |= (walk_square(four.z, centre) <= within ? 4u : 0) << (4 * row);
        near |= (walk_square(four.w, centre) <= within ? 8u : 0) << (4 * row);
    }
    return near;
}

/* Writes the numbers of those that a warp has found into its list; returns how many there are. */
PLUGMC_FN uint32_t walk_list(const walk_around *a, uint16_t *list, uint32_t near, uint32_t k)
{
    const uint32_t lane = threadIdx.x % 32, mine = __popc(near);
    uint32_t upto = mine;
    for (int apart = 1; apart < 32; apart *= 2) {
        const uint32_t before = __shfl_up_sync(0xffffffffu, upto, apart);
        if (lane >= apart) upto += before;
    }
    for (uint32_t at = upto - mine; near; near &= near - 1) {
        const uint32_t bit = __ffs(near) - 1;
        list[at++] = (uint16_t)(k + bit / 4 * 4 * a->threads + bit % 4);
    }
    return __shfl_sync(0xffffffffu, upto, 31);
}

/* Warps meet who is near: they pick among some at a time and share those among their threads. ALONE: only those that are
 * in no group. */
template <bool ALONE, bool BOTH>
PLUGMC_FN void walk_meet_near(const walk_around *a, const walk_part *p, const walk_ends *e,
                              walk_sums *sums)
{
    uint16_t *list = walk_listed() + threadIdx.x / 32 * WALK_LISTED;
    for (int s = 0; s < PLUGMC_SPECIES; s++) {
        const uint32_t first = (uint32_t)a->first[s], end = first + (uint32_t)a->count[s];
        for (uint32_t base = first & ~3u; base < end; base += 4 * WALK_ROWS * a->threads) {
            const uint32_t k = base + 4 * a->thread,
                           n = walk_list(a, list, walk_near(a, p->centre, p->within, k, end), k);
            __syncwarp();
            for (uint32_t l = threadIdx.x % 32; l < n; l += 32) {
                const uint32_t i = list[l];
                if (i >= first && i < end && i != (uint32_t)p->skip[0] &&
                    i != (uint32_t)p->skip[1] && !(ALONE && a->grouped[i]))
                    walk_meet_one<BOTH>(a, p, e, i, sums);
            }
            __syncwarp();
        }
    }
}

/* The same where everybody is in reach. */
template <bool ALONE, bool BOTH>
PLUGMC_FN void walk_meet_all(const walk_around *a, const walk_part *p, const walk_ends *e,
                             walk_sums *sums)
{
    for (int s = 0; s < PLUGMC_SPECIES; s++) {
        const uint32_t end = (uint32_t)(a->first[s] + a->count[s]);
        for (uint32_t i = (uint32_t)a->first[s] + a->thread; i < end; i += a->threads)
            if (i != (uint32_t)p->skip[0] && i != (uint32_t)p->skip[1] && !(ALONE && a->grouped[i]))
                walk_meet_one<BOTH>(a, p, e, i, sums);
    }
}

template <bool ALONE, bool BOTH>
PLUGMC_FN void walk_meet_others(const walk_around *a, const walk_part *p, const walk_ends *e,
                                walk_sums *sums)
{
    if (a->picks)
        walk_meet_near<ALONE, BOTH>(a, p, e, sums);
    else
        walk_meet_all<ALONE, BOTH>(a, p, e, sums);
}

/* ---- Changes of energy ------------------------------------------------------------------------------- */

/* Adds the sums over others to the energies [PLUGMC_TERMS] of who comes, and of who goes. */
PLUGMC_FN void walk_pairs_by_term(const walk_part *p, const walk_ends *e, walk_sums *sums,
                                  double *energy, double *lost)
{
    plugmc_double_sums all = {}, gone = {};
    plugmc_sums_empty(&sums->come, &all);
    plugmc_sums_empty(&sums->gone, &gone);
    if (p->comes >= 0) plugmc_double_sums_by_term(&all, e->comes, energy);
    if (p->was >= 0) plugmc_double_sums_by_term(&gone, e->was, lost);
#if WALK_MEETS_BODIES
    walk_bodies_by_term(&sums->bodies_come, energy);
    walk_bodies_by_term(&sums->bodies_gone, lost);
#endif
}

/* Adds fields to the energies; returns whether the one that comes may not be there. */
PLUGMC_FN int walk_fields_by_term(const walk_part *p, const walk_ends *e, double *energy,
                                  double *lost)
{
    const plugmc_position to = {p->to[0], p->to[1], p->to[2]},
                          from = {p->from[0], p->from[1], p->from[2]};
    int outside = 0, unused = 0;
    if (p->comes >= 0) {
        plugmc_fields_by_term(to, e->comes, &outside, energy);
        outside |=
            PLUGMC_IN_SPHERE && p->to[0] * p->to[0] + p->to[1] * p->to[1] + p->to[2] * p->to[2] >
                                    plugmc_radius * plugmc_radius;
    }
    if (p->was >= 0) plugmc_fields_by_term(from, e->was, &unused, lost);
    return outside;
}

/* The share of a thread in the changes of all terms, added to change [PLUGMC_TERMS]; returns whether the
 * one that comes overlaps or may not be there. ALONE: with those alone that are in no group. */
template <bool ALONE>
PLUGMC_FN int walk_meet(const walk_task *t, const walk_around *a, const walk_part *p,
                        double *change)
{
    const walk_ends e = walk_ends_of(a, p);
    walk_sums sums = {};
    double energy[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {},
                                                    lost[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {};
    if (!t->no_pairs && p->was >= 0 && p->comes >= 0)
        walk_meet_others<ALONE, true>(a, p, &e, &sums);
    else if (!t->no_pairs)
        walk_meet_others<ALONE, false>(a, p, &e, &sums);
    int overlap = sums.overlap;
    walk_pairs_by_term(p, &e, &sums, energy, lost);
    if (a->thread == 0) overlap |= walk_fields_by_term(p, &e, energy, lost);
    for (int term = 0; term < PLUGMC_TERMS; term++) change[term] += energy[term] - lost[term];
    return overlap;
}

/* What one particle of a species more adds to the entry of walk_task.by_count. */
PLUGMC_FN int64_t walk_row(const walk_task *t, int32_t species)
{
    return t->by_count ? t->row[species] : 0;
}

/* The change of -ln p by terms that depend on how many there are alone, where `added` comes to the entry. */
PLUGMC_FN double walk_by_count(const walk_task *t, const walk_around *a, const double *multipliers,
                               int64_t added)
{
    double delta = 0;
    int64_t before = 0;
    if (!t->by_count || added == 0) return 0;
    for (int s = 0; s < PLUGMC_SPECIES; s++) before += t->row[s] * (a->count[s] - t->fixed[s]);
    if (before + added < 0 || before + added >= t->entries)
        return 0; /* there is no room, or nobody */
    for (int term = 0; term < PLUGMC_TERMS; term++) {
        const double *energy = t->by_count + a->walker * t->count_row + term * t->entries + before;
        if (multipliers[term] != 0) delta += multipliers[term] * (energy[added] - energy[0]);
    }
    return delta;
}

/* Whether any of the threads says so. */
PLUGMC_FN int walk_any(const walk_around *a, int mine)
{
    return a->threads == 32 ? __any_sync(0xffffffffu, mine) : __syncthreads_or(mine);
}

/* Before any thread writes what others may read, and before they read it. */
PLUGMC_FN void walk_wait(void)
{
    if (blockDim.x == 32)
        __syncwarp();
    else
        __syncthreads();
}

/* Sum over the threads, in an order that depends on their number alone. */
PLUGMC_FN double walk_sum(const walk_around *a, double mine, double *room)
{
    for (int apart = 16; apart > 0; apart /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, apart);
    if (a->threads == 32) return mine;
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = mine;
    __syncthreads();
    double sum = 0;
    for (uint32_t k = 0; k < blockDim.x / 32; k++) sum += room[k];
    __syncthreads();
    return sum;
}

/* ---- A trial ------------------------------------------------------------------------------------- */

/* Whom a part may meet. */
PLUGMC_FN void walk_look_around(const walk_task *t, const walk_around *a, walk_part *part)
{
    if (!a->picks) return;
    part->centre = walk_coarse(a, part->was >= 0 ? part->from : part->to);
    part->within = walk_within(t, a, part);
}

/* The orientation of who comes. */
PLUGMC_FN void walk_orient(const plugmc_trial *trial, const walk_around *a, walk_part part[2])
{
#if WALK_BODIES
    const bool swaps = trial->kind == PLUGMC_SWAPPED;
    part[0].turned = trial->kind == PLUGMC_INSERTED ? walk_orientation(trial, 0)
                     : trial->turns                 ? trial->orientation
                                    : a->orientations[swaps ? trial->other : trial->particle];
    if (swaps) part[1].turned = a->orientations[trial->particle];
#endif
}

/* What is to be met, part by part; returns how many there are. */
PLUGMC_FN int walk_parts(const walk_task *t, const plugmc_trial *trial, const walk_around *a,
                         walk_part part[2])
{
    const int64_t i = trial->particle, j = trial->other;
    walk_orient(trial, a, part);
    part[0].skip[0] = part[0].skip[1] = -1;
    part[0].was = part[0].comes = -1;
    for (int d = 0; d < 3; d++) part[0].from[d] = part[0].to[d] = trial->position[d];
    if (trial->kind == PLUGMC_INSERTED) {
        part[0].comes = trial->species;
        walk_look_around(t, a, &part[0]);
        return 1;
    }
    part[0].from[0] = a->x[i], part[0].from[1] = a->y[i], part[0].from[2] = a->z[i];
    part[0].was = PLUGMC_SPECIES == 1 ? 0 : a->species[i];
    part[0].skip[0] = i;
    if (trial->kind == PLUGMC_DISPLACED)
        part[0].comes = part[0].was;
    else
        for (int d = 0; d < 3; d++) part[0].to[d] = part[0].from[d];
    walk_look_around(t, a, &part[0]);
    if (trial->kind == PLUGMC_DISPLACED || trial->kind == PLUGMC_REMOVED) return 1;
    part[0].comes = trial->kind == PLUGMC_SWAPPED ? a->species[j] : trial->species;
    if (trial->kind == PLUGMC_IDENTITY) return 1;
    part[0].skip[1] = j;
    part[1].was = part[0].comes, part[1].comes = part[0].was;
    part[1].skip[0] = j, part[1].skip[1] = i;
    part[1].from[0] = part[1].to[0] = a->x[j];
    part[1].from[1] = part[1].to[1] = a->y[j];
    part[1].from[2] = part[1].to[2] = a->z[j];
    walk_look_around(t, a, &part[1]);
    return 2;
}

/* The same at trial position j of a trial with several. */
PLUGMC_FN void walk_orient_at(const plugmc_trial *trial, int32_t j, walk_part *part)
{
#if WALK_BODIES
    part->turned = walk_orientation(trial, j);
#endif
}

/* What the pair of two bodies that take each other's positions adds to the changes of all terms; returns whether they
 * overlap. Of particles without orientations it stays as it is. By one thread. */
PLUGMC_FN int walk_meet_swapped(const walk_around *a, const plugmc_trial *trial,
                                const walk_part part[2], double *change)
{
    int overlap = 0;
#if WALK_MEETS_BODIES
    if (trial->kind != PLUGMC_SWAPPED || a->thread != 0) return 0;
    const double *x = part[0].from, *y = part[1].from;
    const plugmc_separation s = plugmc_separated(x[0] - y[0], x[1] - y[1], x[2] - y[2], a->images);
    const plugmc_site site = plugmc_site_of_species(part[0].was),
                      other = plugmc_site_of_species(part[1].was);
    double lost[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {};
    plugmc_body_sums before = {}, after = {};
    plugmc_placed at_x = walk_placed(other, part[0].turned),
                  at_y = walk_placed(site, part[1].turned);
    overlap = walk_meet_two(s, &at_x, &at_y, &after);
    plugmc_placed was_at_x = walk_placed(site, part[1].turned),
                  was_at_y = walk_placed(other, part[0].turned);
    walk_add_bodies(s, &was_at_x, &was_at_y, &before);
    walk_bodies_by_term(&after, change);
    walk_bodies_by_term(&before, lost);
    for (int term = 0; term < PLUGMC_TERMS; term++) change[term] -= lost[term];
#endif
    return overlap;
}

PLUGMC_FN void walk_put(const walk_around *a, int64_t k, const double r[3])
{
    a->x[k] = r[0], a->y[k] = r[1], a->z[k] = r[2];
    if (a->picks) walk_coarse_places()[a->coarse + k] = walk_coarse(a, r);
}

PLUGMC_FN void walk_remove(const walk_around *a, int64_t i)
{
    const int32_t species = PLUGMC_SPECIES == 1 ? 0 : a->species[i];
    const int64_t last = a->first[species] + --a->count[species];
    const double at[3] = {a->x[last], a->y[last], a->z[last]}, nan = __longlong_as_double(~0ull);
    const double nowhere[3] = {nan, nan, nan};
    walk_put(a, i, at);
    walk_put(a, last, nowhere);
    if (WALK_ORIENTED) a->orientations[i] = a->orientations[last];
}

PLUGMC_FN void walk_take(const plugmc_trial *trial, const walk_around *a, const walk_part part[2])
{
    if (trial->kind == PLUGMC_IDENTITY && part[0].was == part[0].comes) return;
    if (trial->kind == PLUGMC_DISPLACED) walk_put(a, trial->particle, part[0].to);
    if (trial->kind == PLUGMC_SWAPPED) {
        walk_put(a, trial->particle, part[1].from);
        walk_put(a, trial->other, part[0].from);
    }
    plugmc_orientation turned = plugmc_upright(3); /* has no meaning where there are no bodies */
    if (WALK_MOLECULES && trial->kind == PLUGMC_IDENTITY) turned = a->orientations[trial->particle];
#if WALK_BODIES
    turned = part[0].turned;
    if (trial->turns) a->orientations[trial->particle] = turned;
#endif
    if (trial->kind == PLUGMC_REMOVED || trial->kind == PLUGMC_IDENTITY)
        walk_remove(a, trial->particle);
    if (trial->kind == PLUGMC_INSERTED || trial->kind == PLUGMC_IDENTITY) {
        const int64_t i = a->first[trial->species] + a->count[trial->species]++;
        walk_put(a, i, part[0].to);
        if (WALK_ORIENTED) a->orientations[i] = turned;
    }
}
