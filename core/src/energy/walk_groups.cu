/* walk_groups.cu: groups of particles that are inserted, removed or displaced together, as in insertions.c and
 * groups.c. In runs with rigid molecules a group is all sites of one, which have no energy with each other.
 *
 * Stands between walk_meet.cu and walk_molecules.cu. */

/* There is room for members only in kernels of movers that propose groups. */
PLUGMC_FN bool walk_is_group(const plugmc_trial *trial)
{
    return trial->group && trial->kind >= PLUGMC_GROUP_INSERTED;
}

/* How many members leave where a molecule becomes another one, before those that come: that is where the capacity is no longer asked
 * for. */
PLUGMC_FN int32_t walk_leaving(const plugmc_trial *trial) { return trial->group->capacity; }

/* Whether member k is one that comes, and not one that leaves or moves. */
PLUGMC_FN bool walk_comes(const plugmc_trial *trial, int32_t k)
{
    return trial->kind == PLUGMC_GROUP_INSERTED ||
           (trial->kind == PLUGMC_MOLECULE_IDENTITY && k >= walk_leaving(trial));
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
    const bool comes = walk_comes(trial, k), goes = trial->kind == PLUGMC_GROUP_DISPLACED;
    const int64_t i = comes ? -1 : trial->group->members[k];
    walk_part part;
    part.was = comes ? -1 : a->species[i];
    part.comes = comes ? walk_species_of(trial, a, k) : goes ? part.was : -1;
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

/* What several places ask of molecules is compiled once. */
#if WALK_ONE_BY_ONE
#define WALK_ONCE static __device__ __noinline__
#else
#define WALK_ONCE PLUGMC_FN
#endif

/* Pairs within the group, in turn one a thread: of those who come they are not among those who are there, of those
 * who leave each was taken off twice, and those who move have not met each other. Sites of one molecule do not meet. Returns whether
 * any overlap. */
WALK_ONCE int walk_meet_within(const walk_task *t, const plugmc_trial *trial, const walk_around *a,
                               double *change)
{
    const int32_t *molecule = WALK_MOLECULES ? t->molecule : 0, *who = trial->group->members;
    double lost[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {};
    uint32_t number = 0;
    int overlap = 0;
    for (int32_t k = 1; k < trial->group->n; k++)
        for (int32_t l = 0; l < k; l++) {
            if (molecule && molecule[who[k]] == molecule[who[l]]) continue;
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

/* Whether who comes overlaps with anybody outside of the group, or a thread knows so already. Distances alone cost
 * little beside energies, and where particles are hard most trials end here. */
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

/* Warps that share the members first, first + teams, ... of a group. */
typedef struct walk_team {
    walk_around around;
    int32_t first, teams;
} walk_team;

/* As many teams as there are members, so that all warps have enough neighbours to list. */
PLUGMC_FN walk_team walk_team_of(const walk_around *a, int32_t members)
{
    const uint32_t warps = blockDim.x / 32, warp = threadIdx.x / 32,
                   teams = (uint32_t)members < warps ? (uint32_t)members : warps;
    walk_team team = {*a, (int32_t)(warp % teams), (int32_t)teams};
    team.around.thread = warp / teams * 32 + threadIdx.x % 32;
    team.around.threads = (warps - warp % teams + teams - 1) / teams * 32;
    return team;
}

/* Whether members may meet each other: in runs with rigid molecules two that trade places. */
PLUGMC_FN bool walk_is_of_several(const walk_task *t, const plugmc_trial *trial)
{
    const plugmc_group *g = trial->group;
    return !WALK_MOLECULES || (trial->kind == PLUGMC_GROUP_DISPLACED &&
                               t->molecule[g->members[0]] != t->molecule[g->members[g->n - 1]]);
}

/* The change of -ln p by pairs and fields, and whether it is forbidden. */
WALK_ONCE double walk_group_parts(const walk_task *t, plugmc_trial *trial, const walk_around *a,
                                  const double *multipliers, double *room, int *forbidden)
{
    const int comes = trial->kind == PLUGMC_GROUP_INSERTED,
              moves = trial->kind == PLUGMC_GROUP_DISPLACED;
    double change[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {}, delta = 0;
    int overlap = 0;
    __syncthreads(); /* all have looked at the positions */
    for (int32_t k = (int32_t)threadIdx.x; (comes || moves) && k < trial->group->n;
         k += (int32_t)blockDim.x)
        plugmc_wrap(trial->box, trial->group->positions[k]);
    __syncthreads();
    if (!t->no_pairs && walk_is_of_several(t, trial))
        overlap |= walk_meet_within(t, trial, a, change);
    if (PLUGMC_CONTACTS && PLUGMC_ENERGY_TERMS > 0 && (comes || moves)) {
        *forbidden = walk_group_overlaps(trial, a, overlap);
        if (*forbidden) return 0;
    }
    const walk_team team = walk_team_of(a, trial->group->n);
    for (int32_t k = team.first; k < trial->group->n; k += team.teams) {
        walk_part part = walk_member(trial, a, k);
        walk_look_around(t, a, &part);
        overlap |= moves || WALK_MOLECULES ? walk_meet<true>(t, &team.around, &part, change)
                                           : walk_meet<false>(t, &team.around, &part, change);
    }
    *forbidden = walk_any(a, overlap);
    if (*forbidden) return 0;
    for (int term = 0; term < PLUGMC_TERMS; term++)
        if (multipliers[term] != 0) delta += multipliers[term] * change[term];
    return walk_sum(a, delta, room);
}

/* The same by what depends on how many there are. */
PLUGMC_FN double walk_group_counts(const walk_task *t, const plugmc_trial *trial,
                                   const walk_around *a, const double *multipliers)
{
    const double *of_species = multipliers + PLUGMC_TERMS + 1;
    double delta = 0;
    int64_t added = 0;
    if (trial->kind == PLUGMC_GROUP_DISPLACED) return 0;
    for (int32_t k = 0; k < trial->group->n; k++) {
        const int32_t species = walk_species_of(trial, a, k);
        const int sign = walk_comes(trial, k) ? 1 : -1;
        delta += sign * of_species[species];
        added += sign * walk_row(t, species);
    }
    return delta + walk_by_count(t, a, multipliers, added);
}

/* The change of -ln p by all of it. */
PLUGMC_FN double walk_group_delta(const walk_task *t, plugmc_trial *trial, const walk_around *a,
                                  const double *multipliers, double *room, int *forbidden)
{
    const double parts = walk_group_parts(t, trial, a, multipliers, room, forbidden);
    return *forbidden ? 0 : parts - trial->log_factor + walk_group_counts(t, trial, a, multipliers);
}

/* How many members are marked, as they must not be met. */
PLUGMC_FN int32_t walk_marked(const plugmc_trial *trial)
{
    const bool all = trial->kind == PLUGMC_GROUP_DISPLACED ||
                     (WALK_MOLECULES && trial->kind == PLUGMC_GROUP_REMOVED);
    return all                                       ? trial->group->n
           : trial->kind == PLUGMC_MOLECULE_IDENTITY ? walk_leaving(trial)
                                                     : 0;
}

/* Returns whether one is there twice. */
PLUGMC_FN int walk_mark_group(const plugmc_trial *trial, const walk_around *a)
{
    const plugmc_group *g = trial->group;
    const int32_t n = walk_marked(trial);
    int twice = 0;
    if (!n) return 0;
    for (int32_t k = (int32_t)threadIdx.x; k < n; k += (int32_t)blockDim.x)
        twice |= (int)atomicExch(&a->grouped[g->members[k]], 1u);
    return __syncthreads_or(twice);
}

PLUGMC_FN void walk_unmark_group(const plugmc_trial *trial, const walk_around *a)
{
    const plugmc_group *g = trial->group;
    const int32_t n = walk_marked(trial);
    for (int32_t k = (int32_t)threadIdx.x; k < n; k += (int32_t)blockDim.x)
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
        const int32_t s = walk_species_of(trial, a, k);
        if (walk_comes(trial, k))
            walk_put(a, a->first[s] + a->count[s]++, trial->group->positions[k]);
        else
            walk_remove(a, trial->group->members[k]);
    }
}
