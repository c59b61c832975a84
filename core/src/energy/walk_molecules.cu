/* walk_molecules.cu: trials in runs with rigid molecules, as in trials.c: molecules go elsewhere, turn, trade places, come and leave,
 * become others, and particles that are in none go elsewhere.
 *
 * Stands between walk_groups.cu and walk_waves.cu. */
#if WALK_MOLECULES

/* Particles in no molecule as they are now, for the mover: count [PLUGMC_SPECIES]. By one thread. */
PLUGMC_FN void walk_count_free(const walk_task *t, const walk_around *a, int64_t *count)
{
    for (int s = 0; s < PLUGMC_SPECIES; s++)
        count[s] = t->free_count[s] < 0 ? a->count[s] : t->free_count[s];
}

/* The kind of the molecule of which particle i is the first site, and its number within the kind; NULL: of none. */
PLUGMC_FN const plugmc_molecule *walk_molecule_of(const walk_task *t, const walk_around *a,
                                                  int64_t i, int64_t *within)
{
    if (i < 0 || i >= (int64_t)t->particles || t->molecule[i] < 0) return 0;
    const plugmc_molecule *kind = plugmc_molecule_at(t->molecules, t->molecule[i], within);
    return plugmc_site_number(kind, *within, 0) == i &&
                   *within < plugmc_molecules_of_kind(kind, a->count)
               ? kind
               : 0;
}

/* Makes the trial of a molecule one of the group of its sites, the first one first. By all threads, for the group that
 * they share. */
PLUGMC_FN void walk_make_sites(const walk_task *t, const walk_around *a, plugmc_trial *trial,
                               walk_result *result)
{
    int64_t within;
    const plugmc_molecule *kind = walk_molecule_of(t, a, trial->particle, &within);
    double first[3] = {trial->position[0], trial->position[1], trial->position[2]};
    if (!kind) result->stopped = WALK_BROKEN;
    if (!walk_is_position(first)) result->stopped = WALK_NOWHERE;
    if (result->stopped) return;
    const plugmc_orientation *turned =
        trial->turns ? &trial->orientation : &trial->orientations[trial->particle];
    plugmc_wrap(trial->box, first);
    for (int32_t k = (int32_t)threadIdx.x; k < kind->sites; k += (int32_t)blockDim.x) {
        trial->group->members[k] = (int32_t)plugmc_site_number(kind, within, k);
        plugmc_place_site(kind, turned, trial->box, first, k, trial->group->positions[k]);
    }
    if (threadIdx.x == 0) trial->group->n = trial->group->capacity = kind->sites;
    trial->kind = PLUGMC_GROUP_DISPLACED;
    __syncthreads();
}

/* Likewise of two that trade places. */
PLUGMC_FN void walk_make_swapped(const walk_task *t, const walk_around *a, plugmc_trial *trial,
                                 walk_result *result)
{
    const int32_t who[2] = {trial->particle, trial->other};
    int32_t n = 0;
    for (int m = 0; m < 2 && !result->stopped; m++) {
        int64_t within;
        const plugmc_molecule *kind = walk_molecule_of(t, a, who[m], &within);
        const int64_t there = who[1 - m];
        if (!kind || who[0] == who[1] || there < 0 || there >= (int64_t)t->particles) {
            result->stopped = WALK_BROKEN;
            continue;
        }
        const double first[3] = {a->x[there], a->y[there], a->z[there]};
        for (int32_t k = (int32_t)threadIdx.x; k < kind->sites; k += (int32_t)blockDim.x) {
            trial->group->members[n + k] = (int32_t)plugmc_site_number(kind, within, k);
            plugmc_place_site(kind, &trial->orientations[who[m]], trial->box, first, k,
                              trial->group->positions[n + k]);
        }
        n += kind->sites;
    }
    __syncthreads();
    if (threadIdx.x == 0) trial->group->n = trial->group->capacity = n;
    trial->kind = PLUGMC_GROUP_DISPLACED;
    __syncthreads();
}

/* ---- Molecules that come and leave: as in molecule_trials.c -------------------------------------------- */

#if WALK_RESERVOIR

PLUGMC_FN int walk_is_exchange(const plugmc_trial *trial)
{
    return trial->kind == PLUGMC_MOLECULE_INSERTED || trial->kind == PLUGMC_MOLECULE_REMOVED ||
           trial->kind == PLUGMC_MOLECULE_IDENTITY;
}

PLUGMC_FN int32_t walk_at_least_one(int32_t n) { return n > 1 ? n : 1; }

PLUGMC_FN int32_t walk_choices(const plugmc_trial *trial)
{
    return walk_at_least_one(trial->trial_positions) * walk_at_least_one(trial->trial_orientations);
}

PLUGMC_FN const plugmc_molecule *walk_kind(const walk_task *t, int32_t k)
{
    return k >= 0 && k < t->molecules->kinds ? plugmc_kind_of_molecule(t->molecules, k) : 0;
}

/* Members of a group that leave: particles, the one with the largest number first, or -1 - species where nobody is there. By
 * one thread. */
PLUGMC_FN void walk_list_leaving(plugmc_group *g, const plugmc_molecule *kind, bool nobody,
                                 int64_t within)
{
    for (int32_t k = 0; k < kind->sites; k++) {
        int32_t l = k;
        const int32_t who =
            nobody ? -1 - kind->species[k] : (int32_t)plugmc_site_number(kind, within, k);
        for (; l > 0 && g->members[l - 1] < who; l--) g->members[l] = g->members[l - 1];
        g->members[l] = who;
    }
}

/* Makes the trial one of the group of the sites that leave, which are listed as above, or that come, which are given as species in
 * their order. Where a molecule becomes another one those that leave are first, and those that come are -1 - species. Returns
 * whether it can be. */
WALK_ONCE int walk_gather_sites(const walk_task *t, const walk_around *a, plugmc_trial *trial,
                                walk_result *result)
{
    const bool comes = trial->kind != PLUGMC_MOLECULE_REMOVED,
               leaves = trial->kind != PLUGMC_MOLECULE_INSERTED, both = comes && leaves,
               nobody = leaves && trial->particle < 0;
    int64_t within = 0;
    const plugmc_molecule *own = !leaves  ? 0
                                 : nobody ? walk_kind(t, trial->other)
                                          : walk_molecule_of(t, a, trial->particle, &within),
                          *other = comes ? walk_kind(t, trial->species) : 0;
    if ((leaves && (!own || !own->changes)) || (comes && (!other || !other->changes)) ||
        own == other)
        result->stopped = WALK_NO_KIND;
    if (comes && !both && !walk_is_position(trial->position)) result->stopped = WALK_NOWHERE;
    if ((both && trial->trial_positions > 1) ||
        (1 + both) * walk_choices(trial) > PLUGMC_MOST_TRIAL_POSITIONS)
        result->stopped = WALK_CHOICES;
    if (result->stopped) return 0;
    const bool full = comes && plugmc_molecules_of_kind(other, a->count) >= other->capacity;
    if (full) result->full = other->species[0] + 1;
    __syncthreads(); /* all have read the group of the mover */
    if (threadIdx.x == 0) {
        plugmc_group *g = trial->group;
        const int32_t leaving = leaves ? own->sites : 0, coming = comes ? other->sites : 0;
        if (leaves) walk_list_leaving(g, own, nobody, within);
        for (int32_t k = 0; k < coming; k++)
            g->members[leaving + k] = both ? -1 - other->species[k] : other->species[k];
        g->n = leaving + coming;
        g->capacity = both ? leaving : g->n;
    }
    trial->kind = both    ? PLUGMC_MOLECULE_IDENTITY
                  : comes ? PLUGMC_GROUP_INSERTED
                          : PLUGMC_GROUP_REMOVED;
    __syncthreads();
    return !nobody && !full;
}

/* Puts the sites of a molecule that comes to choice j of a trial, at `position`. */
PLUGMC_FN void walk_put_sites(const plugmc_molecule *kind, plugmc_trial *trial, int32_t j,
                              const double position[3])
{
    const plugmc_orientation o = walk_orientation(trial, j);
    double first[3] = {position[0], position[1], position[2]};
    plugmc_wrap(trial->box, first);
    __syncthreads(); /* all are done with the choice before */
    for (int32_t k = (int32_t)threadIdx.x; k < kind->sites; k += (int32_t)blockDim.x)
        plugmc_place_site(kind, &o, trial->box, first, k, trial->group->positions[k]);
    trial->orientation = o;
    __syncthreads();
}

/* The change of -ln p by pairs and fields with choice j. */
PLUGMC_FN double walk_choice(const walk_task *t, const walk_around *a, const plugmc_molecule *kind,
                             plugmc_trial *trial, int32_t j, const double position[3],
                             const double *multipliers, double *room)
{
    int forbidden;
    walk_put_sites(kind, trial, j, position);
    const double delta = walk_group_parts(t, trial, a, multipliers, room, &forbidden);
    return forbidden ? PLUGMC_NO_RANGE : delta;
}

/* Where a molecule comes: the change of -ln p by pairs and fields, corrected for the selection of one choice. The
 * molecule is left in that. `stays`: all orientations are at trial->position. */
WALK_ONCE double walk_select(const walk_task *t, const walk_around *a, plugmc_trial *trial,
                             bool stays, const double *multipliers, double *room, int *forbidden)
{
    const plugmc_molecule *kind = plugmc_kind_of_molecule(t->molecules, trial->species);
    const int32_t m = walk_at_least_one(trial->trial_orientations), n = walk_choices(trial);
    const bool drawn = n > 1 && !stays;
    double deltas[PLUGMC_MOST_TRIAL_POSITIONS], position[3], least = PLUGMC_NO_RANGE, sum = 0,
                                                             below = 0;
    int32_t chosen = -1;
    for (int32_t k = 0; k < n; k++) {
        if (k % m == 0) plugmc_draw_trial_position(trial, k / m, position);
        deltas[k] = walk_choice(t, a, kind, trial, k, drawn ? position : trial->position,
                                multipliers, room);
        if (chosen < 0 && !(deltas[k] > -PLUGMC_NO_RANGE)) chosen = k; /* so that it is found */
        least = fmin(least, deltas[k]);
    }
    *forbidden = least == PLUGMC_NO_RANGE && chosen < 0;
    if (*forbidden) return 0;
    const bool lost = chosen >= 0;
    for (int32_t k = 0; k < n; k++) sum += exp(least - deltas[k]);
    const plugmc_random random = plugmc_draw(trial->seed, trial->sweep, trial->walker,
                                             trial->number, PLUGMC_PURPOSE_ACCEPT, 1);
    const double u = plugmc_uniform_double(random.word[0], random.word[1]) * sum;
    for (int32_t k = 0; k < n && !lost && (chosen < 0 || u >= below); k++) {
        if (deltas[k] == PLUGMC_NO_RANGE) continue;
        chosen = k;
        below += exp(least - deltas[k]);
    }
    if (n > 1) {
        if (drawn) plugmc_draw_trial_position(trial, chosen / m, trial->position);
        walk_put_sites(kind, trial, chosen, trial->position);
    }
    return lost ? deltas[chosen] : least - log(sum / n);
}

/* The same where one leaves: it is put back in thought, into a configuration without it. Its sites are marked. Its own choice has
 * the number `first`, and the others follow. */
WALK_ONCE double walk_deselect(const walk_task *t, const walk_around *a, plugmc_trial *trial,
                               int32_t first, const double *multipliers, double *room)
{
    int64_t within;
    int forbidden;
    const plugmc_molecule *kind = walk_molecule_of(t, a, trial->particle, &within);
    const int32_t m = walk_at_least_one(trial->trial_orientations), n = walk_choices(trial);
    const double pairs = walk_group_parts(t, trial, a, multipliers, room, &forbidden);
    double sum = 1,
           position[3] = {a->x[trial->particle], a->y[trial->particle], a->z[trial->particle]};
    if (n == 1) return pairs;
    const plugmc_orientation own = trial->orientation;
    __syncthreads();
    for (int32_t k = (int32_t)threadIdx.x; k < kind->sites; k += (int32_t)blockDim.x)
        trial->group->members[k] = kind->species[k];
    trial->kind = PLUGMC_GROUP_INSERTED;
    for (int32_t k = 1; k < n; k++) {
        if (k % m == 0) plugmc_draw_trial_position(trial, k / m, position);
        const double delta = walk_choice(t, a, kind, trial, first + k, position, multipliers, room);
        if (delta < PLUGMC_NO_RANGE) sum += exp(-(delta + pairs)); /* its own has -pairs */
    }
    trial->orientation = own;
    trial->kind = PLUGMC_MOLECULE_REMOVED;
    walk_result unused = {};
    walk_gather_sites(t, a, trial, &unused);
    return pairs + log(sum / n);
}

/* A molecule becomes another one: while it is marked it is weighed as one that leaves, and the other one where it is. Then
 * the group is that of both again. */
PLUGMC_FN double walk_become(const walk_task *t, const walk_around *a, plugmc_trial *trial,
                             const double *multipliers, double *room, int *forbidden)
{
    const plugmc_molecule *kind = plugmc_kind_of_molecule(t->molecules, trial->species);
    walk_result unused = {};
    trial->position[0] = a->x[trial->particle];
    trial->position[1] = a->y[trial->particle];
    trial->position[2] = a->z[trial->particle];
    trial->kind = PLUGMC_MOLECULE_REMOVED;
    walk_gather_sites(t, a, trial, &unused);
    walk_mark_group(trial, a);
    double delta = walk_deselect(t, a, trial, walk_choices(trial), multipliers, room);
    trial->kind = PLUGMC_MOLECULE_INSERTED;
    walk_gather_sites(t, a, trial, &unused);
    delta += walk_select(t, a, trial, true, multipliers, room, forbidden);
    trial->kind = PLUGMC_MOLECULE_IDENTITY;
    walk_gather_sites(t, a, trial, &unused);
    for (int32_t k = (int32_t)threadIdx.x; k < kind->sites; k += (int32_t)blockDim.x)
        plugmc_place_site(kind, &trial->orientation, trial->box, trial->position, k,
                          trial->group->positions[walk_leaving(trial) + k]);
    walk_unmark_group(trial, a);
    __syncthreads();
    return delta;
}

/* The change of -ln p by all but waves. */
PLUGMC_FN double walk_exchange_delta(const walk_task *t, const walk_around *a, plugmc_trial *trial,
                                     const double *multipliers, double *room, int *forbidden)
{
    double delta;
    *forbidden = 0;
    if (trial->kind == PLUGMC_GROUP_INSERTED) {
        delta = walk_select(t, a, trial, false, multipliers, room, forbidden);
    } else if (trial->kind == PLUGMC_MOLECULE_IDENTITY) {
        delta = walk_become(t, a, trial, multipliers, room, forbidden);
    } else {
        walk_mark_group(trial, a);
        delta = walk_deselect(t, a, trial, 0, multipliers, room);
        walk_unmark_group(trial, a);
        __syncthreads();
    }
    return *forbidden ? 0 : delta - trial->log_factor + walk_group_counts(t, trial, a, multipliers);
}

/* By all threads. Orientations of all but the first sites have no meaning. */
PLUGMC_FN void walk_take_exchange(const walk_task *t, plugmc_trial *trial, const walk_around *a)
{
    const int32_t begin = trial->kind == PLUGMC_MOLECULE_IDENTITY ? walk_leaving(trial) : 0;
    for (int32_t k = begin; k < trial->group->n && threadIdx.x == 0; k++) {
        if (!walk_comes(trial, k)) continue;
        const int32_t s = walk_species_of(trial, a, k);
        int64_t before = 0; /* of its species */
        for (int32_t l = begin; l < k; l++) before += walk_species_of(trial, a, l) == s;
        a->orientations[a->first[s] + a->count[s] + before] =
            k > begin ? plugmc_upright(3) : trial->orientation;
    }
    walk_take_group(trial, a);
}

#endif

/* ---- Others ------------------------------------------------------------------------------------------ */

/* Whether the trial would move, add or take away single sites of a molecule. */
PLUGMC_FN int walk_breaks_molecules(const walk_task *t, const plugmc_trial *trial)
{
    const int32_t kind = trial->kind;
    const bool comes = kind == PLUGMC_INSERTED || kind == PLUGMC_IDENTITY;
    if (kind > PLUGMC_IDENTITY || (comes && t->free_count[trial->species] >= 0)) return 1;
    return (kind != PLUGMC_INSERTED && t->molecule[trial->particle] >= 0) ||
           (kind == PLUGMC_SWAPPED && t->molecule[trial->other] >= 0);
}
#endif
