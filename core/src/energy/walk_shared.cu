/* walk_shared.cu: trial moves that all threads of a block share: of groups, in runs with rigid molecules, and beside sums over
 * waves; and of two walkers that are decided together.
 *
 * Stands behind walk.cu. */
#if defined(PLUGMC_GROUPS) || WALK_ONE_BY_ONE
/* Whether the trial, which may be of single particles, groups or molecules, can be. Molecules become groups of their sites. */
PLUGMC_FN bool walk_prepare(const walk_task &t, const walk_call &call, const walk_around *a,
                            plugmc_trial *trial, walk_result *result)
{
    const bool swapped = trial->kind == PLUGMC_MOLECULES_SWAPPED;
    if (trial->kind > PLUGMC_MOLECULES_SWAPPED || (swapped && !WALK_MOLECULES))
        result->stopped = WALK_UNKNOWN;
    if (trial->move < 0 || trial->move >= call.moves ||
        (trial->kind > PLUGMC_MOLECULE_DISPLACED && !swapped && call.last_kind < PLUGMC_INSERTED))
        result->stopped = WALK_UNKNOWN;
    if (result->stopped) return false;
#if WALK_MOLECULES
    const bool molecule = trial->kind == PLUGMC_MOLECULE_DISPLACED || swapped;
#if WALK_RESERVOIR
    if (walk_is_exchange(trial)) return walk_gather_sites(&t, a, trial, result);
#endif
    if (swapped)
        walk_make_swapped(&t, a, trial, result);
    else if (molecule)
        walk_make_sites(&t, a, trial, result);
    if (result->stopped) return false;
    const bool possible = walk_is_possible(&t, &call, trial, a, result);
    if (possible && !molecule && walk_breaks_molecules(&t, trial)) result->stopped = WALK_BROKEN;
    return possible;
#else
    return walk_is_possible(&t, &call, trial, a, result);
#endif
}

/* The change of -ln p by all but waves. */
PLUGMC_FN double walk_delta_of_one(const walk_task &t, const walk_around *a, bool reservoir,
                                   plugmc_trial *trial, walk_part part[2], int parts,
                                   const double *multipliers, double *room, int *forbidden)
{
#if WALK_RESERVOIR
    if (reservoir) return walk_exchange_delta(&t, a, trial, multipliers, room, forbidden);
#endif
    if (walk_is_group(trial)) return walk_group_delta(&t, trial, a, multipliers, room, forbidden);
#ifdef PLUGMC_TRIAL_POSITIONS
    if (trial->trial_positions > 1 && trial->kind == PLUGMC_INSERTED)
        return walk_come(&t, trial, a, part, multipliers, room, forbidden);
    if (trial->trial_positions > 1 && trial->kind == PLUGMC_REMOVED) {
        const double own = walk_delta(&t, trial, a, part, parts, multipliers, room, forbidden);
        return *forbidden ? 0 : own + walk_leave(&t, trial, a, multipliers, room);
    }
#endif
    return walk_delta(&t, trial, a, part, parts, multipliers, room, forbidden);
}

/* By all threads. */
PLUGMC_FN void walk_take_one(const walk_task &t, const walk_around *a, bool reservoir, bool turns,
                             plugmc_trial *trial, const walk_part part[2])
{
#if WALK_RESERVOIR
    if (reservoir) walk_take_exchange(&t, trial, a);
    if (reservoir) return;
#endif
    if (turns && threadIdx.x == 0) a->orientations[trial->particle] = trial->orientation;
    if (walk_is_group(trial))
        walk_take_group(trial, a);
    else if (threadIdx.x == 0)
        walk_take(trial, a, part);
}

/* What a trial would do. */
typedef struct walk_asked {
    walk_part part[2];
    walk_step step;
    double delta; /* of -ln p, without weights */
    int possible, forbidden;
    bool reservoir, turns;
} walk_asked;

/* Finds that, by all threads; result->stopped says what is wrong with the trial. */
PLUGMC_FN void walk_ask(const walk_task &t, const walk_call &call, const walk_bias &bias,
                        const walk_around *a, double *room, plugmc_trial *trial,
                        walk_result *result, walk_asked *asked)
{
    const double *multipliers = call.multipliers + (uint64_t)a->walker * call.width;
    asked->reservoir =
        trial->kind > PLUGMC_MOLECULE_DISPLACED && trial->kind < PLUGMC_MOLECULES_SWAPPED;
    asked->turns = trial->kind == PLUGMC_MOLECULE_DISPLACED && trial->turns;
    asked->possible = walk_prepare(t, call, a, trial, result);
    asked->forbidden = !asked->possible;
    asked->delta = 0;
    if (result->stopped) return;
    asked->step = walk_step_of(&bias, a, t.boxes[a->walker].volume, trial);
    const bool many = asked->possible && walk_is_group(trial), marked = many && !asked->reservoir;
    if (marked && walk_mark_group(trial, a)) result->stopped = WALK_TWICE;
    if (result->stopped || !asked->possible) return;
    result->particle = trial->kind == PLUGMC_INSERTED || many ? -1 : trial->particle;
    if (trial->kind == PLUGMC_DISPLACED || trial->kind == PLUGMC_INSERTED)
        plugmc_wrap(&t.boxes[a->walker], trial->position);
    const int parts = many ? 0 : walk_parts(&t, trial, a, asked->part);
    asked->delta = walk_delta_of_one(t, a, asked->reservoir, trial, asked->part, parts, multipliers,
                                     room, &asked->forbidden);
    if (marked) walk_unmark_group(trial, a);
#if WALK_WAVES
    if (!asked->forbidden)
        asked->delta += walk_wave_delta(&t, trial, a, asked->part, many ? trial->group->n : parts,
                                        multipliers[t.waves.term], room);
#endif
}

/* Carries it out. By all threads. */
PLUGMC_FN void walk_take_asked(const walk_task &t, const walk_around *a, plugmc_trial *trial,
                               const walk_asked *asked)
{
    walk_take_one(t, a, asked->reservoir, asked->turns, trial, asked->part);
#if WALK_WAVES
    walk_take_waves(&t, a);
#endif
}

/* One trial, shared by all threads. Returns whether it is accepted. */
PLUGMC_FN bool walk_one(const walk_task &t, const walk_call &call, const walk_bias &bias,
                        const walk_around *a, double *room, plugmc_trial *trial,
                        walk_result *result)
{
    walk_asked asked;
    walk_ask(t, call, bias, a, room, trial, result, &asked);
    if (result->stopped) return false;
    const bool taken =
        !asked.forbidden && walk_accepts(&asked.step, asked.delta, walk_random(&call, trial));
    if (!asked.forbidden && walk_is_lost(asked.delta)) result->stopped = WALK_LOST;
    if (bias.counted && threadIdx.x == 0)
        walk_note(&bias, a->walker, &asked.step, asked.forbidden ? 0 : fmin(1.0, exp(-asked.delta)),
                  taken);
    __syncthreads(); /* all have read the places */
    if (taken) walk_take_asked(t, a, trial, &asked);
    return taken;
}

#ifndef PLUGMC_PARTNERS
extern "C" __global__ void __launch_bounds__(WALK_THREADS)
    walk_make_groups(walk_task t, walk_call call, walk_bias bias, const uint8_t *parameters,
                     walk_result *results)
{
    __shared__ double room[WALK_THREADS / 32];
    walk_around a = walk_around_of(t, t.grouped, blockDim.x, blockIdx.x, 0);
#if WALK_MOLECULES
    __shared__ int64_t in_no_molecule[PLUGMC_SPECIES];
    a.of_mover = in_no_molecule;
    if (threadIdx.x == 0) walk_count_free(&t, &a, in_no_molecule);
    __syncthreads();
#endif
    const uint64_t a_sweep = walk_sweep_length(t, call, &a), all = call.sweeps * a_sweep,
                   end = call.end < all ? call.end : all;
    walk_result result = results[blockIdx.x];
    if (call.together > WALK_PROPOSED_GROUPS) result.stopped = WALK_CROWDED;
    for (; result.next < end && !result.stopped; result.next++) {
        plugmc_trial trial;
#if WALK_WAVES
        if (result.next % a_sweep == 0) walk_find_structure(&t, &a);
#endif
        walk_begin_trial(t, call, &a, result.next, a_sweep, &trial);
        const int proposed = walk_propose_group(parameters, &trial, call.together);
        walk_count_one(&call, trial.move, 1, 0, &result);
        if (!proposed) continue;
        result.sweep = trial.sweep;
        const bool taken = walk_one(t, call, bias, &a, room, &trial, &result);
        if (result.stopped && result.stopped != WALK_LOST) break;
        walk_count_one(&call, trial.move, 0, taken, &result);
#if WALK_MOLECULES
        if (taken && threadIdx.x == 0) walk_count_free(&t, &a, in_no_molecule);
#endif
        __syncthreads();
    }
    if (threadIdx.x == 0) results[blockIdx.x] = result;
}
#endif

#if defined(PLUGMC_PARTNERS) && WALK_RESERVOIR
/* What both partners propose, that of the lower one first: a molecule leaves one of them and comes to the other. Whether
 * it can be tried at all; then `from` is the one that it leaves. */
PLUGMC_FN bool walk_propose_pair(const walk_task &t, const walk_call &call, const walk_around a[2],
                                 const uint8_t *parameters, uint64_t number, uint64_t a_sweep,
                                 plugmc_trial trial[2], int *from, walk_result *result)
{
    int proposed = 1;
    for (int k = 0; k < 2; k++) {
        walk_begin_trial(t, call, &a[k], number, a_sweep, &trial[k]);
        trial[k].partner = a[1 - k].walker;
        proposed &= walk_propose_group(parameters, &trial[k], call.together);
    }
    *from = trial[0].kind == PLUGMC_MOLECULE_REMOVED ? 0 : 1;
    const plugmc_trial *leaves = &trial[*from], *comes = &trial[1 - *from];
    if (proposed &&
        (leaves->kind != PLUGMC_MOLECULE_REMOVED || comes->kind != PLUGMC_MOLECULE_INSERTED))
        result->stopped = WALK_UNKNOWN;
    result->sweep = trial[0].sweep;
    return proposed && leaves->particle >= 0 && !result->stopped;
}

/* The decision of both, which is that of decide.c: macrostates have no weights where walkers are coupled. */
PLUGMC_FN bool walk_decide_pair(const walk_call &call, const plugmc_trial *lower,
                                const walk_asked asked[2], walk_result *result)
{
    const walk_step unweighted = {};
    const double delta = asked[0].delta + asked[1].delta;
    if (asked[0].forbidden || asked[1].forbidden) return false;
    if (walk_is_lost(delta)) result->stopped = WALK_LOST;
    return walk_accepts(&unweighted, delta, walk_random(&call, lower));
}

/* A trial of both, by all threads. The removal comes first, and is gathered once more if it is accepted, as both have one group. */
PLUGMC_FN void walk_pair(const walk_task &t, const walk_call &call, const walk_bias &bias,
                         const walk_around a[2], double *room, plugmc_trial trial[2], int from,
                         walk_result *result)
{
    walk_asked asked[2];
    const int to = 1 - from, move = trial[0].move;
    plugmc_trial *leaves = &trial[from], *comes = &trial[to];
    if (walk_choices(comes) == 1) comes->walker = a[0].walker; /* for its orientation */
#pragma unroll 1
    for (int k = from, n = 0; n < 2 && !result->stopped; k = to, n++)
        walk_ask(t, call, bias, &a[k], room, &trial[k], result, &asked[k]);
    if (result->stopped) return;
    walk_count_one(&call, move, 1, 0, result);
    const bool taken = walk_decide_pair(call, &trial[0], asked, result);
    walk_count_one(&call, move, 0, taken, result);
    __syncthreads(); /* all have read the places */
#pragma unroll 1
    for (int k = to, n = 0; n < 2 && taken; k = from, n++) {
        if (k == from) leaves->kind = PLUGMC_MOLECULE_REMOVED;
        if (k == from) walk_gather_sites(&t, &a[from], leaves, result);
        walk_take_asked(t, &a[k], &trial[k], &asked[k]);
    }
}

/* A block takes two walkers, between which molecules go. */
extern "C" __global__ void __launch_bounds__(WALK_THREADS)
    walk_make_pairs(walk_task t, walk_call call, walk_bias bias, const uint8_t *parameters,
                    walk_result *results)
{
    __shared__ double room[WALK_THREADS / 32];
    __shared__ int64_t in_no_molecule[2][PLUGMC_SPECIES];
    walk_around a[2] = {
        walk_around_of(t, t.grouped, blockDim.x, call.pairs[2 * blockIdx.x], 0),
        walk_around_of(t, t.grouped, blockDim.x, call.pairs[2 * blockIdx.x + 1], 1)};
    for (int k = 0; k < 2; k++) {
        a[k].of_mover = in_no_molecule[k];
        if (threadIdx.x == 0) walk_count_free(&t, &a[k], in_no_molecule[k]);
    }
    __syncthreads();
    const uint64_t all = call.sweeps * call.a_sweep, end = call.end < all ? call.end : all;
    walk_result result = results[a[0].walker];
    if (call.together > WALK_PROPOSED_GROUPS) result.stopped = WALK_CROWDED;
    for (; result.next < end && !result.stopped; result.next++) {
        plugmc_trial trial[2];
        int from;
#if WALK_WAVES
        for (int k = 0; k < 2 && result.next % call.a_sweep == 0; k++)
            walk_find_structure(&t, &a[k]);
#endif
        if (walk_propose_pair(t, call, a, parameters, result.next, call.a_sweep, trial, &from,
                              &result))
            walk_pair(t, call, bias, a, room, trial, from, &result);
        if (result.stopped && result.stopped != WALK_LOST) break;
        __syncthreads();
    }
    if (threadIdx.x == 0) results[a[0].walker] = result;
}
#endif
#endif
