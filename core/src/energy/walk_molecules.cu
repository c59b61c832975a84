/* walk_molecules.cu: trials in runs with rigid molecules, as in trials.c: molecules go elsewhere or turn, and so do particles that are
 * in none.
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

/* Makes the trial of a molecule one of the group of its sites, the first one first. By all threads, for the group that they share. */
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

/* Whether the trial would move single sites of a molecule. */
PLUGMC_FN int walk_breaks_molecules(const walk_task *t, const plugmc_trial *trial)
{
    if (trial->kind != PLUGMC_DISPLACED && trial->kind != PLUGMC_SWAPPED) return 1;
    return t->molecule[trial->particle] >= 0 ||
           (trial->kind == PLUGMC_SWAPPED && t->molecule[trial->other] >= 0);
}
#endif
