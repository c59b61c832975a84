/* walk.cu: trial moves of any kind that a mover proposes, one after the other in each walker. A block takes
 * a walker, and its threads share all the others that one particle meets where it goes from and to.
 *
 * Stands behind energies.cu and behind the mover's own text. Swaps among many particles are made by
 * trials.cu, which looks at those nearby alone. */

/* Positions [walkers][particles][3] apart, as proposals read them: one thread a particle. */
extern "C" __global__ void __launch_bounds__(ENERGIES_THREADS)
    walk_begin(walk_task t, const double *positions)
{
    const uint64_t k = (uint64_t)blockIdx.x * ENERGIES_THREADS + threadIdx.x;
    if (k >= (uint64_t)t.walkers * t.particles) return;
    t.x[k] = positions[3 * k];
    t.y[k] = positions[3 * k + 1];
    t.z[k] = positions[3 * k + 2];
    t.rounded[k] = make_float4((float)t.x[k], (float)t.y[k], (float)t.z[k], 0);
}

extern "C" __global__ void __launch_bounds__(ENERGIES_THREADS)
    walk_end(walk_task t, double *positions)
{
    const uint64_t k = (uint64_t)blockIdx.x * ENERGIES_THREADS + threadIdx.x;
    if (k >= (uint64_t)t.walkers * t.particles) return;
    positions[3 * k] = t.x[k];
    positions[3 * k + 1] = t.y[k];
    positions[3 * k + 2] = t.z[k];
}

/* ---- What a change does to the energy ---------------------------------------------------------- */

/* One particle goes from one place, where it was of one species, comes to another place, or both. */
typedef struct walk_part {
    int32_t was, comes; /* species; -1: nobody goes, or comes */
    double from[3], to[3];
    int64_t skip[2]; /* numbers of those that are not met */
} walk_part;

/* What a thread has summed. */
typedef struct walk_sums {
    plugmc_sums gone, come;
    int overlap;
} walk_sums;

/* Adds the energies with particle k. */
PLUGMC_FN void walk_meet_one(const walk_around *a, const walk_part *p, plugmc_site was,
                             plugmc_site comes, int64_t k, walk_sums *sums)
{
    const double x = a->x[k], y = a->y[k], z = a->z[k];
    const int s = PLUGMC_SPECIES == 1 ? 0 : a->species[k];
    const plugmc_site site = plugmc_site_of_species(s);
    if (p->was >= 0)
        plugmc_sums_add_energy(&sums->gone,
                               plugmc_separate_at(p->from[0], p->from[1], p->from[2],
                                                  plugmc_separated(p->from[0] - x, p->from[1] - y,
                                                                   p->from[2] - z, a->images)),
                               was, site);
    if (p->comes < 0) return;
    const plugmc_separation to =
        plugmc_separated(p->to[0] - x, p->to[1] - y, p->to[2] - z, a->images);
    plugmc_sums_add_energy(&sums->come, plugmc_separate_at(p->to[0], p->to[1], p->to[2], to), comes,
                           site);
    sums->overlap |= PLUGMC_CONTACTS && to.r2 < plugmc_contact_square(p->comes, s);
}

/* Neighbours are picked by distances in single precision, and are in reach of the one position or the other only if they
 * are within `square` of `centre`. */
typedef struct walk_sphere {
    float centre[3], length[3], inverse_length[3], square;
} walk_sphere;

PLUGMC_FN walk_sphere walk_sphere_of(const walk_task *t, const walk_around *a, const walk_part *p)
{
    const double *centre = p->was >= 0 ? p->from : p->to;
    const plugmc_separation step = plugmc_separated(p->to[0] - p->from[0], p->to[1] - p->from[1],
                                                    p->to[2] - p->from[2], a->images);
    walk_sphere s = {};
    float size = 0; /* for the margin, as coordinates are rounded */
    for (int d = 0; d < 3; d++) {
        s.centre[d] = (float)centre[d];
        s.length[d] = PLUGMC_PERIODIC ? (float)a->images.length[d] : 0;
        s.inverse_length[d] = PLUGMC_PERIODIC ? (float)a->images.inverse_length[d] : 0;
        size += PLUGMC_PERIODIC ? s.length[d] : 2 * (float)plugmc_radius;
    }
    const float reach = t->reach + (p->was >= 0 && p->comes >= 0 ? sqrtf((float)step.r2) : 0);
    const float radius = reach + 1e-6f * (size + reach);
    s.square = PLUGMC_OBLIQUE ? PLUGMC_NO_RANGE : radius * radius;
    return s;
}

/* The nearest integer. Adding 1.5 * 2^23 leaves it in the last bits; rintf takes four times as long. */
PLUGMC_FN float walk_round(float x) { return __fsub_rn(__fadd_rn(x, 12582912.0f), 12582912.0f); }

PLUGMC_FN bool walk_is_near(const walk_sphere *s, float4 at)
{
    float x = at.x - s->centre[0], y = at.y - s->centre[1], z = at.z - s->centre[2];
    if (PLUGMC_OBLIQUE) return true;
    if (PLUGMC_PERIODIC) {
        x -= s->length[0] * walk_round(x * s->inverse_length[0]);
        y -= s->length[1] * walk_round(y * s->inverse_length[1]);
        z -= s->length[2] * walk_round(z * s->inverse_length[2]);
    }
    return fmaf(x, x, fmaf(y, y, z * z)) < s->square;
}

/* A warp picks neighbours among 32 particles at a time and meets them as soon as it has 32. ALONE: only those that are
 * in no group. */
template <bool ALONE>
PLUGMC_FN void walk_meet_near(const walk_task *t, const walk_around *a, const walk_part *p,
                              plugmc_site was, plugmc_site comes, walk_sums *sums)
{
    __shared__ uint32_t picked[WALK_THREADS / 32][64];
    uint32_t *mine = picked[threadIdx.x / 32];
    const uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1;
    const uint32_t skip = (uint32_t)p->skip[0], also = (uint32_t)p->skip[1];
    const walk_sphere sphere = walk_sphere_of(t, a, p);
    uint32_t n = 0;
    for (int s = 0; s < PLUGMC_SPECIES; s++) {
        const uint32_t first = (uint32_t)a->first[s], end = first + (uint32_t)a->count[s];
        for (uint32_t base = first + threadIdx.x - lane; base < end; base += blockDim.x) {
            const uint32_t k = base + lane;
            const bool near = k < end && walk_is_near(&sphere, a->rounded[k]) && k != skip &&
                              k != also && !(ALONE && a->grouped[k]);
            const uint32_t those = __ballot_sync(0xffffffffu, near);
            if (near) mine[n + __popc(those & below)] = k;
            n += __popc(those);
            __syncwarp();
            if (n < 32) continue;
            walk_meet_one(a, p, was, comes, mine[lane], sums);
            n -= 32;
            __syncwarp();
            if (lane < n) mine[lane] = mine[32 + lane];
        }
    }
    __syncwarp();
    if (lane < n) walk_meet_one(a, p, was, comes, mine[lane], sums);
    __syncwarp();
}

/* The share of a thread in the changes of all terms, added to change [PLUGMC_TERMS]; returns whether the
 * one that comes overlaps or may not be there. ALONE: with those alone that are in no group. */
template <bool ALONE>
PLUGMC_FN int walk_meet(const walk_task *t, const walk_around *a, const walk_part *p,
                        double *change)
{
    const plugmc_site was = plugmc_site_of_species(p->was < 0 ? 0 : p->was),
                      comes = plugmc_site_of_species(p->comes < 0 ? 0 : p->comes);
    walk_sums sums = {};
    plugmc_double_sums all = {}, gone = {};
    double energy[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {},
                                                    lost[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {};
    if (!t->no_pairs) walk_meet_near<ALONE>(t, a, p, was, comes, &sums);
    int overlap = sums.overlap;
    plugmc_sums_empty(&sums.come, &all);
    plugmc_sums_empty(&sums.gone, &gone);
    if (p->comes >= 0) plugmc_double_sums_by_term(&all, comes, energy);
    if (p->was >= 0) plugmc_double_sums_by_term(&gone, was, lost);
    if (threadIdx.x == 0) {
        const plugmc_position to = {p->to[0], p->to[1], p->to[2]},
                              from = {p->from[0], p->from[1], p->from[2]};
        int unused = 0;
        if (p->comes >= 0) {
            plugmc_fields_by_term(to, comes, &overlap, energy);
            overlap |= PLUGMC_IN_SPHERE &&
                       p->to[0] * p->to[0] + p->to[1] * p->to[1] + p->to[2] * p->to[2] >
                           plugmc_radius * plugmc_radius;
        }
        if (p->was >= 0) plugmc_fields_by_term(from, was, &unused, lost);
    }
    for (int term = 0; term < PLUGMC_TERMS; term++) change[term] += energy[term] - lost[term];
    return overlap;
}

/* Terms that depend on how many there are alone; asked of one species only. */
PLUGMC_FN double walk_by_count(const walk_task *t, const double *multipliers, int64_t before,
                               int64_t after)
{
    double delta = 0;
    for (int term = 0; term < PLUGMC_TERMS && t->by_count; term++) {
        const double *energy = t->by_count + (uint64_t)term * (t->particles + 1);
        if (multipliers[term] != 0) delta += multipliers[term] * (energy[after] - energy[before]);
    }
    return delta;
}

/* Sum over the block, in an order that depends on its size alone. */
PLUGMC_FN double walk_sum(double mine, double *room)
{
    for (int apart = 16; apart > 0; apart /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, apart);
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = mine;
    __syncthreads();
    double sum = 0;
    for (uint32_t k = 0; k < blockDim.x / 32; k++) sum += room[k];
    __syncthreads();
    return sum;
}

/* ---- A trial ------------------------------------------------------------------------------------- */

/* What is to be met, part by part; returns how many there are. */
PLUGMC_FN int walk_parts(const plugmc_trial *trial, const walk_around *a, walk_part part[2])
{
    const int64_t i = trial->particle, j = trial->other;
    part[0].skip[0] = part[0].skip[1] = -1;
    part[0].was = part[0].comes = -1;
    for (int d = 0; d < 3; d++) part[0].from[d] = part[0].to[d] = trial->position[d];
    if (trial->kind == PLUGMC_INSERTED) {
        part[0].comes = trial->species;
        return 1;
    }
    part[0].from[0] = a->x[i], part[0].from[1] = a->y[i], part[0].from[2] = a->z[i];
    part[0].was = a->species[i];
    part[0].skip[0] = i;
    if (trial->kind == PLUGMC_DISPLACED) part[0].comes = part[0].was;
    if (trial->kind == PLUGMC_DISPLACED || trial->kind == PLUGMC_REMOVED) return 1;
    for (int d = 0; d < 3; d++) part[0].to[d] = part[0].from[d];
    part[0].comes = trial->kind == PLUGMC_SWAPPED ? a->species[j] : trial->species;
    if (trial->kind == PLUGMC_IDENTITY) return 1;
    part[0].skip[1] = j;
    part[1].was = part[0].comes, part[1].comes = part[0].was;
    part[1].skip[0] = i, part[1].skip[1] = j;
    part[1].from[0] = part[1].to[0] = a->x[j];
    part[1].from[1] = part[1].to[1] = a->y[j];
    part[1].from[2] = part[1].to[2] = a->z[j];
    return 2;
}

PLUGMC_FN void walk_put(const walk_around *a, int64_t k, const double r[3])
{
    a->x[k] = r[0], a->y[k] = r[1], a->z[k] = r[2];
    a->rounded[k] = make_float4((float)r[0], (float)r[1], (float)r[2], 0);
}

PLUGMC_FN void walk_remove(const walk_around *a, int64_t i)
{
    const int32_t species = a->species[i];
    const int64_t last = a->first[species] + --a->count[species];
    const double at[3] = {a->x[last], a->y[last], a->z[last]}, nan = __longlong_as_double(~0ull);
    const double nowhere[3] = {nan, nan, nan};
    walk_put(a, i, at);
    walk_put(a, last, nowhere);
}

PLUGMC_FN void walk_take(const plugmc_trial *trial, const walk_around *a, const walk_part part[2])
{
    if (trial->kind == PLUGMC_IDENTITY && part[0].was == part[0].comes) return;
    if (trial->kind == PLUGMC_DISPLACED) walk_put(a, trial->particle, part[0].to);
    if (trial->kind == PLUGMC_SWAPPED) {
        walk_put(a, trial->particle, part[1].from);
        walk_put(a, trial->other, part[0].from);
    }
    if (trial->kind == PLUGMC_REMOVED || trial->kind == PLUGMC_IDENTITY)
        walk_remove(a, trial->particle);
    if (trial->kind == PLUGMC_INSERTED || trial->kind == PLUGMC_IDENTITY)
        walk_put(a, a->first[trial->species] + a->count[trial->species]++, part[0].to);
}

/* ---- Groups: as in insertions.c ------------------------------------------------------------------------ */

/* There is room for members only in kernels of movers that propose groups. */
PLUGMC_FN bool walk_is_group(const plugmc_trial *trial)
{
    return trial->group && trial->kind >= PLUGMC_GROUP_INSERTED;
}

/* Of who comes, leaves or moves, also where nobody is there. */
PLUGMC_FN int32_t walk_species_of(const plugmc_trial *trial, const walk_around *a, int32_t k)
{
    const int32_t who = trial->group->members[k];
    return trial->kind == PLUGMC_GROUP_INSERTED ? who : who < 0 ? -1 - who : a->species[who];
}

PLUGMC_FN int walk_is_position(const double r[3])
{
    return isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]);
}

/* Whether all members are there and their positions are numbers. Each thread looks at some. */
PLUGMC_FN int walk_displacement_is_possible(const walk_task *t, const plugmc_trial *trial,
                                            const walk_around *a, walk_result *result)
{
    const plugmc_group *g = trial->group;
    int nobody = 0, nowhere = 0;
    for (int32_t k = (int32_t)threadIdx.x; k < g->n; k += (int32_t)blockDim.x) {
        const int64_t i = g->members[k];
        const bool there = i >= 0 && i < (int64_t)t->particles;
        const int32_t s = there ? a->species[i] : 0;
        nobody |= !there || i >= a->first[s] + a->count[s];
        nowhere |= !walk_is_position(g->positions[k]);
    }
    if (__syncthreads_or(nowhere)) result->stopped = WALK_NOWHERE;
    if (__syncthreads_or(nobody)) result->stopped = WALK_NOBODY;
    if (g->n < 1) result->stopped = WALK_UNKNOWN;
    return !result->stopped;
}

/* Whether it can be; see walk_is_possible. */
PLUGMC_FN int walk_group_is_possible(const walk_task *t, const plugmc_trial *trial,
                                     const walk_around *a, walk_result *result)
{
    const plugmc_group *g = trial->group;
    int missing = 0;
    if (trial->kind == PLUGMC_GROUP_DISPLACED)
        return walk_displacement_is_possible(t, trial, a, result);
    if (g->n < 1 || g->n > PLUGMC_MOST_TOGETHER) result->stopped = WALK_UNKNOWN;
    for (int32_t k = 0; k < g->n && !result->stopped; k++) {
        const int32_t who = g->members[k];
        const bool comes = trial->kind == PLUGMC_GROUP_INSERTED;
        if (comes ? who < 0 || who >= PLUGMC_SPECIES : who >= (int64_t)t->particles)
            result->stopped = WALK_UNKNOWN;
        if (comes && !walk_is_position(trial->group->positions[k])) result->stopped = WALK_NOWHERE;
        if (result->stopped) break;
        const int32_t s = walk_species_of(trial, a, k);
        int64_t before = 0; /* of its species */
        for (int32_t l = 0; l < k; l++) {
            if (walk_species_of(trial, a, l) != s) continue;
            before++;
            if (!comes && who >= 0 && g->members[l] <= who) result->stopped = WALK_UNKNOWN;
        }
        missing |= !comes && who < 0;
        if (!comes || a->count[s] + before < a->first[s + 1] - a->first[s]) continue;
        if (!missing) result->full = s + 1;
        missing = 1;
    }
    return !missing && !result->stopped;
}

/* What member k does. */
PLUGMC_FN walk_part walk_member(const plugmc_trial *trial, const walk_around *a, int32_t k)
{
    const bool comes = trial->kind == PLUGMC_GROUP_INSERTED,
               goes = trial->kind == PLUGMC_GROUP_DISPLACED;
    const int64_t i = comes ? -1 : trial->group->members[k];
    walk_part part;
    part.was = comes ? -1 : a->species[i];
    part.comes = comes ? trial->group->members[k] : goes ? part.was : -1;
    part.skip[0] = i, part.skip[1] = -1;
    for (int d = 0; d < 3; d++) {
        part.from[d] = comes    ? trial->group->positions[k][d]
                       : d == 0 ? a->x[i]
                       : d == 1 ? a->y[i]
                                : a->z[i];
        part.to[d] = goes ? trial->group->positions[k][d] : part.from[d];
    }
    return part;
}

/* Adds the energy of particles of two species at two positions, and returns the square of their distance. */
PLUGMC_FN double walk_pair(const walk_around *a, int32_t s, const double x[3], int32_t r,
                           const double y[3], double *energy)
{
    const plugmc_site site = plugmc_site_of_species(s);
    const plugmc_separation apart =
        plugmc_separated(x[0] - y[0], x[1] - y[1], x[2] - y[2], a->images);
    plugmc_sums sums;
    plugmc_double_sums all = {};
    plugmc_sums_clear(&sums);
    plugmc_sums_add_energy(&sums, plugmc_separate_at(x[0], x[1], x[2], apart), site,
                           plugmc_site_of_species(r));
    plugmc_sums_empty(&sums, &all);
    plugmc_double_sums_by_term(&all, site, energy);
    return apart.r2;
}

/* Pairs within the group, in turn one a thread: of those who come they are not among those who are there, of those
 * who leave each was taken off twice, and those who move have not met each other. Returns whether any overlap. */
PLUGMC_FN int walk_meet_within(const plugmc_trial *trial, const walk_around *a, double *change)
{
    double lost[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {};
    uint32_t number = 0;
    int overlap = 0;
    for (int32_t k = 1; k < trial->group->n; k++)
        for (int32_t l = 0; l < k; l++) {
            if (number++ % blockDim.x != threadIdx.x) continue;
            const walk_part one = walk_member(trial, a, l), other = walk_member(trial, a, k);
            const int32_t s = walk_species_of(trial, a, l), r = walk_species_of(trial, a, k);
            const double square = walk_pair(a, s, one.to, r, other.to, change);
            if (trial->kind == PLUGMC_GROUP_DISPLACED)
                walk_pair(a, s, one.from, r, other.from, lost);
            overlap |= PLUGMC_CONTACTS && trial->kind != PLUGMC_GROUP_REMOVED &&
                       square < plugmc_contact_square(s, r);
        }
    for (int term = 0; term < PLUGMC_TERMS; term++) change[term] -= lost[term];
    return overlap;
}

/* Whether who comes overlaps with anybody outside of the group, or a thread knows so already. Distances alone cost little beside energies,
 * and where particles are hard most trials end here. */
PLUGMC_FN int walk_group_overlaps(const plugmc_trial *trial, const walk_around *a, int overlap)
{
    for (int32_t m = 0; m < trial->group->n; m++) {
        const double *to = trial->group->positions[m];
        const int32_t own = walk_species_of(trial, a, m);
        for (int s = 0; s < PLUGMC_SPECIES; s++) {
            const double square = plugmc_contact_square(own, s);
            const int64_t end = a->first[s] + a->count[s];
            for (int64_t k = a->first[s] + threadIdx.x; k < end; k += blockDim.x)
                overlap |= !a->grouped[k] && plugmc_separated(to[0] - a->x[k], to[1] - a->y[k],
                                                              to[2] - a->z[k], a->images)
                                                     .r2 < square;
        }
    }
    return __syncthreads_or(overlap);
}

/* Growth of -ln p, and whether it is forbidden. */
PLUGMC_FN double walk_group_delta(const walk_task *t, plugmc_trial *trial, const walk_around *a,
                                  const double *multipliers, double *room, int *forbidden)
{
    const double *of_species = multipliers + PLUGMC_TERMS + 1;
    const int comes = trial->kind == PLUGMC_GROUP_INSERTED,
              moves = trial->kind == PLUGMC_GROUP_DISPLACED;
    const int64_t n = a->count[0];
    double change[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {}, delta = 0;
    int overlap = 0;
    for (int32_t k = (int32_t)threadIdx.x; (comes || moves) && k < trial->group->n;
         k += (int32_t)blockDim.x)
        plugmc_wrap(trial->box, trial->group->positions[k]);
    __syncthreads();
    if (!t->no_pairs) overlap |= walk_meet_within(trial, a, change);
    if (PLUGMC_CONTACTS && PLUGMC_ENERGY_TERMS > 0 && (comes || moves)) {
        *forbidden = walk_group_overlaps(trial, a, overlap);
        if (*forbidden) return 0;
    }
    for (int32_t k = 0; k < trial->group->n; k++) {
        const walk_part part = walk_member(trial, a, k);
        overlap |=
            moves ? walk_meet<true>(t, a, &part, change) : walk_meet<false>(t, a, &part, change);
    }
    *forbidden = __syncthreads_or(overlap);
    if (*forbidden) return 0;
    for (int term = 0; term < PLUGMC_TERMS; term++)
        if (multipliers[term] != 0) delta += multipliers[term] * change[term];
    delta = walk_sum(delta, room) - trial->log_factor;
    if (moves) return delta;
    for (int32_t k = 0; k < trial->group->n; k++)
        delta += (comes ? 1 : -1) * of_species[walk_species_of(trial, a, k)];
    return delta +
           walk_by_count(t, multipliers, n, comes ? n + trial->group->n : n - trial->group->n);
}

/* Marks the members of a group that is to be displaced. Returns whether one is there twice. */
PLUGMC_FN int walk_mark_group(const plugmc_trial *trial, const walk_around *a)
{
    const plugmc_group *g = trial->group;
    int twice = 0;
    if (trial->kind != PLUGMC_GROUP_DISPLACED) return 0;
    for (int32_t k = (int32_t)threadIdx.x; k < g->n; k += (int32_t)blockDim.x)
        twice |= (int)atomicExch(&a->grouped[g->members[k]], 1u);
    return __syncthreads_or(twice);
}

PLUGMC_FN void walk_unmark_group(const plugmc_trial *trial, const walk_around *a)
{
    const plugmc_group *g = trial->group;
    if (trial->kind != PLUGMC_GROUP_DISPLACED) return;
    for (int32_t k = (int32_t)threadIdx.x; k < g->n; k += (int32_t)blockDim.x)
        a->grouped[g->members[k]] = 0;
}

/* By all threads. */
PLUGMC_FN void walk_take_group(const plugmc_trial *trial, const walk_around *a)
{
    if (trial->kind == PLUGMC_GROUP_DISPLACED) {
        for (int32_t k = (int32_t)threadIdx.x; k < trial->group->n; k += (int32_t)blockDim.x)
            walk_put(a, trial->group->members[k], trial->group->positions[k]);
        return;
    }
    for (int32_t k = 0; k < trial->group->n && threadIdx.x == 0; k++) {
        const int32_t who = trial->group->members[k];
        if (trial->kind == PLUGMC_GROUP_REMOVED)
            walk_remove(a, who);
        else
            walk_put(a, a->first[who] + a->count[who]++, trial->group->positions[k]);
    }
}

/* Whether it can be tried; else *stopped says that it is not known, or *full who has no room. */
PLUGMC_FN int walk_is_possible(const walk_task *t, const walk_call *call, const plugmc_trial *trial,
                               const walk_around *a, walk_result *result)
{
    const bool comes = trial->kind == PLUGMC_INSERTED || trial->kind == PLUGMC_IDENTITY;
    const int32_t s = trial->species;
    if (trial->move < 0 || trial->move >= call->moves || trial->kind == PLUGMC_RESCALED ||
        trial->kind < 0 || trial->kind > PLUGMC_GROUP_DISPLACED ||
        (trial->kind > call->last_kind && trial->kind != PLUGMC_GROUP_DISPLACED) ||
        (trial->kind >= PLUGMC_GROUP_INSERTED && !trial->group))
        result->stopped = WALK_UNKNOWN;
    if (trial->group && trial->group->n > trial->group->capacity) result->stopped = WALK_CROWDED;
    if (result->stopped) return 0;
    if (walk_is_group(trial)) return walk_group_is_possible(t, trial, a, result);
    if (trial->trial_positions > PLUGMC_MOST_TRIAL_POSITIONS ||
        (trial->trial_positions > 1 && trial->kind != PLUGMC_INSERTED &&
         trial->kind != PLUGMC_REMOVED))
        result->stopped = WALK_UNKNOWN;
    if (result->stopped) return 0;
    if (trial->kind != PLUGMC_INSERTED && (trial->particle >= (int64_t)t->particles ||
                                           (trial->particle < 0 && trial->kind < PLUGMC_INSERTED)))
        result->stopped = WALK_NOBODY;
    if (trial->kind == PLUGMC_SWAPPED &&
        (trial->other < 0 || trial->other >= (int64_t)t->particles))
        result->stopped = WALK_NOBODY;
    if ((trial->kind == PLUGMC_DISPLACED || trial->kind == PLUGMC_INSERTED) &&
        !walk_is_position(trial->position))
        result->stopped = WALK_NOWHERE;
    if (result->stopped) return 0;
    if (trial->particle < 0) return 0; /* nobody is there */
    if (trial->kind == PLUGMC_SWAPPED && trial->particle == trial->other) return 0;
    if (trial->kind == PLUGMC_IDENTITY && a->species[trial->particle] == s) return 1;
    if (!comes || a->count[s] < a->first[s + 1] - a->first[s]) return 1;
    result->full = s + 1;
    return 0;
}

/* Growth of -ln p, and whether it is forbidden. */
PLUGMC_FN double walk_delta(const walk_task *t, const plugmc_trial *trial, const walk_around *a,
                            const walk_part part[2], int parts, const double *multipliers,
                            double *room, int *forbidden)
{
    const double *of_species = multipliers + PLUGMC_TERMS + 1;
    double change[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {}, delta = 0;
    int overlap = 0;
    for (int k = 0; k < parts; k++) overlap |= walk_meet<false>(t, a, &part[k], change);
    *forbidden = __syncthreads_or(overlap);
    if (*forbidden) return 0;
    for (int term = 0; term < PLUGMC_TERMS; term++)
        if (multipliers[term] != 0) delta += multipliers[term] * change[term];
    delta = walk_sum(delta, room) - trial->log_factor;
    const int64_t n = a->count[0];
    if (trial->kind == PLUGMC_INSERTED)
        delta += of_species[part[0].comes] + walk_by_count(t, multipliers, n, n + 1);
    if (trial->kind == PLUGMC_REMOVED)
        delta += walk_by_count(t, multipliers, n, n - 1) - of_species[part[0].was];
    if (trial->kind == PLUGMC_IDENTITY)
        delta += of_species[part[0].comes] - of_species[part[0].was];
    return delta;
}

/* ---- Several places: as in places.c ----------------------------------------------------------------- */

/* The delta at place j of a trial: of who comes there, or of who goes there instead of leaving. */
PLUGMC_FN double walk_delta_at(const walk_task *t, plugmc_trial *trial, int32_t j, int32_t kind,
                               const walk_around *a, walk_part part[2], const double *multipliers,
                               double *room, int *forbidden)
{
    plugmc_draw_trial_position(trial, j, trial->position);
    plugmc_wrap(trial->box, trial->position);
    trial->kind = kind;
    const int parts = walk_parts(trial, a, part);
    const double delta = walk_delta(t, trial, a, part, parts, multipliers, room, forbidden);
    return *forbidden ? PLUGMC_NO_RANGE : delta;
}

/* Who comes: leaves the place that is chosen in trial and part. Places are met twice, once for the sum of their
 * weights and once to choose one, so that nothing has to be kept of them. */
PLUGMC_FN double walk_come(const walk_task *t, plugmc_trial *trial, const walk_around *a,
                           walk_part part[2], const double *multipliers, double *room,
                           int *forbidden)
{
    const int32_t k = trial->trial_positions;
    double deltas[PLUGMC_MOST_TRIAL_POSITIONS], least = PLUGMC_NO_RANGE, sum = 0, below = 0;
    int32_t chosen = -1;
    int none = 1;
    for (int32_t j = 0; j < k; j++) {
        int hit;
        deltas[j] = walk_delta_at(t, trial, j, PLUGMC_INSERTED, a, part, multipliers, room, &hit);
        if (hit) continue;
        none = 0;
        if (!(deltas[j] > -PLUGMC_NO_RANGE)) { /* goes there, so that it is found */
            *forbidden = 0;
            return deltas[j];
        }
        least = fmin(least, deltas[j]);
    }
    *forbidden = none || least == PLUGMC_NO_RANGE;
    if (*forbidden) return 0;
    for (int32_t j = 0; j < k; j++)
        if (deltas[j] < PLUGMC_NO_RANGE) sum += exp(least - deltas[j]);
    const plugmc_random random = plugmc_draw(trial->seed, trial->sweep, trial->walker,
                                             trial->number, PLUGMC_PURPOSE_ACCEPT, 1);
    const double u = plugmc_uniform_double(random.word[0], random.word[1]) * sum;
    for (int32_t j = 0; j < k && (chosen < 0 || u >= below); j++) {
        if (!(deltas[j] < PLUGMC_NO_RANGE)) continue;
        chosen = j;
        below += exp(least - deltas[j]);
    }
    plugmc_draw_trial_position(trial, chosen, trial->position);
    plugmc_wrap(trial->box, trial->position);
    walk_parts(trial, a, part);
    return least - log(sum / k);
}

/* Who leaves: what is to be added to the delta. */
PLUGMC_FN double walk_leave(const walk_task *t, plugmc_trial *trial, const walk_around *a,
                            const double *multipliers, double *room)
{
    const double factor = trial->log_factor;
    double sum = 1;
    walk_part part[2];
    trial->log_factor = 0;
    for (int32_t j = 1; j < trial->trial_positions; j++) {
        int hit;
        const double delta =
            walk_delta_at(t, trial, j, PLUGMC_DISPLACED, a, part, multipliers, room, &hit);
        if (!hit) sum += exp(-delta);
    }
    trial->kind = PLUGMC_REMOVED;
    trial->log_factor = factor;
    return log(sum / trial->trial_positions);
}

/* ---- Macrostates: as in bias.c --------------------------------------------------------------------- */

/* What a trial means for the walker's place among the bins. */
typedef struct walk_step {
    int64_t before, after;
    double delta;
    int leads_out;
} walk_step;

PLUGMC_FN int64_t walk_bin(const walk_bias *b, double x)
{
    return (int64_t)floor((x - b->low) / b->width);
}

PLUGMC_FN double walk_weight(const walk_bias *b, int64_t bin)
{
    return b->weight[bin < 0 ? 0 : bin < b->bins ? bin : b->bins - 1];
}

PLUGMC_FN int64_t walk_outside(const walk_bias *b, uint32_t walker, int64_t bin)
{
    const int64_t first = b->window ? b->window[2 * walker] : 0,
                  last = b->window ? b->window[2 * walker + 1] : b->bins - 1;
    return bin < first ? first - bin : bin > last ? bin - last : 0;
}

PLUGMC_FN walk_step walk_step_of(const walk_bias *b, const walk_around *a, uint32_t walker,
                                 double volume, const plugmc_trial *trial)
{
    walk_step s = {};
    double x = b->of_volume * volume, change = 0;
    if (!b->bins) return s;
    for (int k = 0; k < PLUGMC_SPECIES; k++) x += b->of_count[k] * (double)a->count[k];
    const bool changes_counts = walk_is_group(trial) && trial->kind != PLUGMC_GROUP_DISPLACED;
    for (int32_t k = 0; changes_counts && k < trial->group->n; k++)
        change += (trial->kind == PLUGMC_GROUP_INSERTED ? 1 : -1) *
                  b->of_count[walk_species_of(trial, a, k)];
    if (trial->kind == PLUGMC_INSERTED || trial->kind == PLUGMC_IDENTITY)
        change += b->of_count[trial->species];
    if (trial->kind == PLUGMC_REMOVED || trial->kind == PLUGMC_IDENTITY)
        change -= b->of_count[trial->particle < 0 ? trial->other : a->species[trial->particle]];
    s.before = walk_bin(b, x);
    s.after = change == 0 ? s.before : walk_bin(b, x + change);
    s.delta = walk_weight(b, s.after) - walk_weight(b, s.before);
    const int64_t outside = walk_outside(b, walker, s.after);
    s.leads_out =
        outside > 0 && outside >= walk_outside(b, walker, s.before) && s.after != s.before;
    return s;
}

/* By one thread of the block, whose walker alone has this part of the transition counts. */
PLUGMC_FN void walk_note(const walk_bias *b, uint32_t walker, const walk_step *s,
                         double probability, int taken)
{
    const int64_t at = taken ? s->after : s->before;
    const int way = s->after < s->before ? WALK_DOWN : WALK_UP,
              next = s->after == s->before - 1 || s->after == s->before + 1;
    double *transitions = b->transitions + (uint64_t)walker * b->bins * WALK_TRANSITIONS;
    if (!b->counted || threadIdx.x != 0) return;
    if (s->before >= 0 && s->before < b->bins && next) {
        transitions[s->before * WALK_TRANSITIONS + way] += probability;
        transitions[s->before * WALK_TRANSITIONS + way + 1] += 1;
    }
    if (at >= 0 && at < b->bins) transitions[at * WALK_TRANSITIONS + WALK_VISITS] += 1;
}

/* ---- All trials -------------------------------------------------------------------------------------- */

/* Asks the mover for a trial. One warp proposes groups: functions that threads of a warp share (plugmc/near.h) are called by
 * all of it. Small groups are made in memory of each thread, where members may be sorted and the like, and large ones in
 * memory that all share. */
template <int GROUPS>
static __device__ __forceinline__ int walk_propose(const uint8_t *parameters, plugmc_trial *trial,
                                                   int32_t together)
{
    if (!GROUPS) return plugmc_mover::plugmc_propose(parameters, trial);
    __shared__ int32_t members[GROUPS ? GROUPS : 1];
    __shared__ double positions[GROUPS ? GROUPS : 1][3];
    __shared__ plugmc_group group;
    __shared__ plugmc_trial of_warp;
    __shared__ int proposed;
    const bool small = GROUPS <= PLUGMC_MOST_TOGETHER;
    if (threadIdx.x < 32) {
        int32_t own_members[small && GROUPS ? GROUPS : 1];
        double own_positions[small && GROUPS ? GROUPS : 1][3];
        plugmc_group own = {0, together, small ? own_members : members,
                            small ? own_positions : positions};
        trial->group = &own;
        const int answer = plugmc_mover::plugmc_propose(parameters, trial);
        __syncwarp();
        if (threadIdx.x == 0) {
            for (int32_t k = 0; small && k < own.n && k < GROUPS; k++) {
                members[k] = own_members[k];
                for (int d = 0; d < 3; d++) positions[k][d] = own_positions[k][d];
            }
            group = own;
            group.members = members, group.positions = positions;
            of_warp = *trial, proposed = answer;
        }
    }
    __syncthreads();
    *trial = of_warp;
    trial->group = &group;
    const int answer = proposed;
    __syncthreads();
    return answer;
}

/* One block a walker: trials from result.next on. SEVERAL: with several trial positions; GROUPS: capacity of groups, 0
 * where the mover proposes none. */
template <bool SEVERAL, int GROUPS>
static __device__ __forceinline__ void walk_all(const walk_task &t, const walk_call &call,
                                                const walk_bias &bias, const uint8_t *parameters,
                                                walk_result *results)
{
    __shared__ double room[WALK_THREADS / 32];
    const uint32_t walker = blockIdx.x;
    const uint64_t row = (uint64_t)walker * t.particles;
    const double *multipliers = call.multipliers + (uint64_t)walker * call.width;
    const walk_around a = {t.x + row,
                           t.y + row,
                           t.z + row,
                           t.rounded + row,
                           t.species + row,
                           t.first,
                           t.counts + (uint64_t)walker * PLUGMC_SPECIES,
                           plugmc_images_of_walker(t.boxes, walker),
                           GROUPS ? t.grouped + row : 0};
    walk_result result = results[walker];
    uint64_t a_sweep = call.a_sweep;
    for (int s = 0; s < PLUGMC_SPECIES && !call.a_sweep; s++) a_sweep += a.count[s];
    const uint64_t all = call.sweeps * a_sweep, end = call.end < all ? call.end : all;
    for (; result.next < end && !result.stopped; result.next++) {
        const uint64_t sweep = result.next / a_sweep;
        int64_t particles = 0;
        for (int s = 0; s < PLUGMC_SPECIES; s++) particles += a.count[s];
        plugmc_trial trial = {};
        trial.size = sizeof trial;
        trial.walker = walker;
        trial.seed = call.seed;
        trial.sweep = call.sweep + sweep;
        trial.number = call.from + (uint32_t)(result.next - sweep * a_sweep);
        trial.dimension = PLUGMC_DIMENSION;
        trial.particles = particles;
        trial.first = a.first;
        trial.x = a.x;
        trial.y = a.y;
        trial.z = a.z;
        trial.step = call.step[walker];
        trial.count = a.count;
        trial.box = &t.boxes[walker];
        trial.move = call.move;
        trial.molecule = t.molecule;
        const int proposed = walk_propose<GROUPS>(parameters, &trial, call.together);
        const int move = trial.move >= 0 && trial.move < call.moves ? trial.move : call.move;
        result.trials[move]++;
        if (!proposed) continue;
        result.sweep = trial.sweep;
        const bool possible = walk_is_possible(&t, &call, &trial, &a, &result);
        if (result.stopped) break;
        const walk_step step = walk_step_of(&bias, &a, walker, t.boxes[walker].volume, &trial);
        if (!possible) {
            walk_note(&bias, walker, &step, 0, 0);
            continue;
        }
        const bool many = walk_is_group(&trial);
        if (many && walk_mark_group(&trial, &a)) {
            result.stopped = WALK_TWICE;
            break;
        }
        result.particle = trial.kind == PLUGMC_INSERTED || many ? -1 : trial.particle;
        if (trial.kind == PLUGMC_DISPLACED || trial.kind == PLUGMC_INSERTED)
            plugmc_wrap(&t.boxes[walker], trial.position);
        walk_part part[2];
        const int parts = many ? 0 : walk_parts(&trial, &a, part);
        const bool several = SEVERAL && trial.trial_positions > 1;
        int forbidden;
        double delta = many ? walk_group_delta(&t, &trial, &a, multipliers, room, &forbidden)
                       : several && trial.kind == PLUGMC_INSERTED
                           ? walk_come(&t, &trial, &a, part, multipliers, room, &forbidden)
                           : walk_delta(&t, &trial, &a, part, parts, multipliers, room, &forbidden);
        if (many) walk_unmark_group(&trial, &a);
        if (several && trial.kind == PLUGMC_REMOVED && !forbidden)
            delta += walk_leave(&t, &trial, &a, multipliers, room);
        if (forbidden) {
            walk_note(&bias, walker, &step, 0, 0);
            continue;
        }
        const double weighted = delta + step.delta;
        const bool lost = !(delta > -PLUGMC_NO_RANGE);
        const plugmc_random random =
            plugmc_draw(call.seed, trial.sweep, walker, trial.number, PLUGMC_PURPOSE_ACCEPT, 0);
        /* what is not a number goes there, so that it is found */
        const bool taken =
            lost || (!step.leads_out &&
                     (weighted <= 0 ||
                      plugmc_uniform_double(random.word[0], random.word[1]) < exp(-weighted)));
        if (lost) result.stopped = WALK_LOST;
        if (bias.counted) walk_note(&bias, walker, &step, fmin(1.0, exp(-delta)), taken);
        __syncthreads(); /* all have read the places */
        if (taken && many) walk_take_group(&trial, &a);
        if (taken && !many && threadIdx.x == 0) walk_take(&trial, &a, part);
        result.accepted[move] += taken;
        __syncthreads();
    }
    if (threadIdx.x == 0) results[walker] = result;
}

extern "C" __global__ void __launch_bounds__(WALK_THREADS)
    walk_make(walk_task t, walk_call call, walk_bias bias, const uint8_t *parameters,
              walk_result *results)
{
    walk_all<false, 0>(t, call, bias, parameters, results);
}

#ifdef PLUGMC_TRIAL_POSITIONS
extern "C" __global__ void __launch_bounds__(WALK_THREADS)
    walk_make_several(walk_task t, walk_call call, walk_bias bias, const uint8_t *parameters,
                      walk_result *results)
{
    walk_all<true, 0>(t, call, bias, parameters, results);
}
#endif

#ifdef PLUGMC_GROUPS
extern "C" __global__ void __launch_bounds__(WALK_THREADS)
    walk_make_groups(walk_task t, walk_call call, walk_bias bias, const uint8_t *parameters,
                     walk_result *results)
{
    if (call.together > PLUGMC_GROUPS) {
        if (threadIdx.x == 0) results[blockIdx.x].stopped = WALK_CROWDED;
        return;
    }
    walk_all<false, PLUGMC_GROUPS>(t, call, bias, parameters, results);
}
#endif
