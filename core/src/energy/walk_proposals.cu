/* walk_proposals.cu: trials as movers propose them. The threads of a warp propose 32 trials at once, one each, in the state that
 * they are in; those that an accepted one has made invalid are proposed again.
 *
 * Stands between walk_waves.cu and walk.cu. */

/* Particles of a group that the mover proposes, and of any, at most. Rigid molecules are groups of their sites, as are two of them. */
#ifdef PLUGMC_GROUPS
enum { WALK_PROPOSED_GROUPS = PLUGMC_GROUPS };
#else
enum { WALK_PROPOSED_GROUPS = 0 };
#endif
enum {
    WALK_GROUPS = !WALK_MOLECULES || 2 * PLUGMC_MOST_SITES < (int)WALK_PROPOSED_GROUPS
                      ? (WALK_PROPOSED_GROUPS ? (int)WALK_PROPOSED_GROUPS : 1)
                      : 2 * (int)PLUGMC_MOST_SITES
};

/* Movers whose proposals share the threads of a warp (plugmc/near.h) propose one trial at a time. */
#ifdef PLUGMC_NEAR_H
enum { WALK_TOGETHER = 1 };
#else
enum { WALK_TOGETHER = 0 };
#endif
/* Whether proposals read no position but that of the particle that they displace: see plugmc/proposal.h. */
#ifdef PLUGMC_READS_ITS_PARTICLE_ALONE
enum { WALK_READS_ITS_PARTICLE_ALONE = 1 };
#else
enum { WALK_READS_ITS_PARTICLE_ALONE = 0 };
#endif

/* A trial of one particle, or a swap, that waits for its turn. */
enum { WALK_PROPOSED = 1, WALK_POSSIBLE = 2, WALK_FORBIDDEN = 4 };
typedef struct walk_single {
    double from[3], to[3], log_factor, u, delta; /* u: uniform in [0, 1), for the decision */
    int32_t particle, other, within;
    uint32_t centre;
    short was, comes, full, trial_positions;
    signed char kind, move, state, stopped;
#if WALK_BODIES
    plugmc_orientation turned; /* of who comes, or of the one that is displaced */
#endif
} walk_single;
static_assert(sizeof(walk_single) * WALK_AT_ONCE ==
                  (WALK_BODIES ? WALK_BODIES_BATCH_BYTES : WALK_BATCH_BYTES),
              "bytes of a batch");

/* How far a batch has got. */
typedef struct walk_progress {
    uint32_t next, accepted, outdated; /* trial; bits of trials */
    int32_t stopped, full;
    int64_t particle; /* that of the trial where it stopped */
} walk_progress;

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
    if (!walk_turns_rightly(trial)) result->stopped = WALK_NO_ORIENTATION;
    if (result->stopped) return 0;
    if (trial->particle < 0) return 0; /* nobody is there */
    if (trial->kind == PLUGMC_SWAPPED && trial->particle == trial->other) return 0;
    if (trial->kind == PLUGMC_IDENTITY && a->species[trial->particle] == s) return 1;
    if (!comes || a->count[s] < a->first[s + 1] - a->first[s]) return 1;
    result->full = s + 1;
    return 0;
}

/* What a mover reads. */
PLUGMC_FN void walk_begin_trial(const walk_task &t, const walk_call &call, const walk_around *a,
                                uint64_t number, uint64_t a_sweep, plugmc_trial *trial)
{
    const uint64_t sweep = number / a_sweep;
    int64_t particles = 0;
    for (int s = 0; s < PLUGMC_SPECIES; s++) particles += a->of_mover[s];
    *trial = plugmc_trial();
    trial->size = sizeof *trial;
    trial->walker = trial->partner = a->walker;
    trial->seed = call.seed;
    trial->sweep = call.sweep + sweep;
    trial->number = call.from + (uint32_t)(number - sweep * a_sweep);
    trial->dimension = PLUGMC_DIMENSION;
    trial->particles = particles;
    trial->first = WALK_MOLECULES ? t.free_first : a->first;
    trial->x = a->x;
    trial->y = a->y;
    trial->z = a->z;
    trial->step = call.step[a->walker];
    trial->count = a->of_mover;
    trial->box = &t.boxes[a->walker];
    trial->move = call.move;
    trial->molecule = t.molecule;
#if WALK_MOLECULES
    trial->molecules = t.molecules;
    trial->with_sites = a->count;
#endif
    if (WALK_ORIENTED) trial->orientations = a->orientations;
}

/* For the decision. */
PLUGMC_FN double walk_random(const walk_call *call, const plugmc_trial *trial)
{
    const plugmc_random random = plugmc_draw(call->seed, trial->sweep, trial->walker, trial->number,
                                             PLUGMC_PURPOSE_ACCEPT, 0);
    return plugmc_uniform_double(random.word[0], random.word[1]);
}

PLUGMC_FN int walk_move_of(const walk_call *call, int32_t move)
{
    return move >= 0 && move < call->moves ? move : call->move;
}

/* A trial of its own for each thread. */
PLUGMC_FN walk_single walk_proposed(const walk_task &t, const walk_call &call, const walk_around *a,
                                    uint64_t a_sweep, const uint8_t *parameters, uint64_t number)
{
    walk_single one = {};
    walk_result verdict = {};
    walk_part part[2];
    plugmc_trial trial;
    walk_begin_trial(t, call, a, number, a_sweep, &trial);
    const int proposed = plugmc_mover::plugmc_propose(parameters, &trial);
    one.move = (signed char)walk_move_of(&call, trial.move);
    if (!proposed) return one;
    one.state = WALK_PROPOSED;
    if (walk_is_possible(&t, &call, &trial, a, &verdict)) one.state |= WALK_POSSIBLE;
    one.stopped = (signed char)verdict.stopped;
    one.full = (short)verdict.full;
    one.kind = (signed char)trial.kind;
    one.particle = trial.particle;
    one.other = trial.other;
    one.comes = (short)trial.species;
    if (!(one.state & WALK_POSSIBLE)) return one;
    if (trial.kind == PLUGMC_DISPLACED || trial.kind == PLUGMC_INSERTED)
        plugmc_wrap(trial.box, trial.position);
    walk_parts(&t, &trial, a, part);
    for (int d = 0; d < 3; d++) one.from[d] = part[0].from[d], one.to[d] = part[0].to[d];
    one.was = (short)part[0].was;
    one.comes = (short)part[0].comes;
    one.within = part[0].within;
    one.centre = part[0].centre;
#if WALK_BODIES
    one.turned = part[0].turned;
#endif
    one.trial_positions = (short)trial.trial_positions;
    one.log_factor = trial.log_factor;
    one.u = walk_random(&call, &trial);
    return one;
}

/* By the first warp: those trials of the batch from number `first` on that have a bit in `which`. */
PLUGMC_FN void walk_propose_batch(const walk_task &t, const walk_call &call, const walk_around *a,
                                  uint64_t a_sweep, const uint8_t *parameters, uint64_t first,
                                  uint32_t which)
{
    const uint32_t at = WALK_TOGETHER ? 0 : threadIdx.x;
    if (threadIdx.x < 32 && which >> at & 1) {
        const walk_single one = walk_proposed(t, call, a, a_sweep, parameters, first + at);
        if (!WALK_TOGETHER || threadIdx.x == 0) walk_batch()[at] = one;
    }
    walk_wait();
}

/* Trials after j that have to be proposed anew since `taken` was accepted. */
PLUGMC_FN uint32_t walk_outdated(const plugmc_trial *taken, uint32_t j, uint32_t n)
{
    const uint32_t lane = threadIdx.x % 32, later = lane > j && lane < n;
    if (!WALK_READS_ITS_PARTICLE_ALONE || taken->kind != PLUGMC_DISPLACED)
        return __ballot_sync(0xffffffffu, later);
    return __ballot_sync(0xffffffffu, later && walk_batch()[lane].particle == taken->particle);
}

/* Trials before `end` that have met, or may have met, a particle where it no longer is, or missed it where it is now. */
template <bool SEVERAL>
PLUGMC_FN uint32_t walk_disturbed(const walk_around *a, const walk_single *taken,
                                  const walk_part *part, uint32_t j, uint32_t end)
{
    const uint32_t lane = threadIdx.x % 32;
    const bool later = lane > j && lane < end;
    const walk_single *one = &walk_batch()[later ? lane : j];
    const bool far = !SEVERAL && a->picks && taken->kind == PLUGMC_DISPLACED &&
                     one->kind == PLUGMC_DISPLACED && one->particle != taken->particle &&
                     walk_square(one->centre, taken->centre) > one->within &&
                     walk_square(one->centre, walk_coarse(a, part->to)) > one->within;
    return __ballot_sync(0xffffffffu, later && !far);
}

/* A trial that has its turn, and its first part. */
PLUGMC_FN void walk_read(const walk_single *one, plugmc_trial *trial, walk_part *part)
{
    trial->kind = one->kind;
    trial->particle = one->particle;
    trial->other = one->other;
    trial->species = one->comes;
    trial->log_factor = one->log_factor;
    trial->trial_positions = one->trial_positions;
    for (int d = 0; d < 3; d++) {
        part->from[d] = one->from[d];
        part->to[d] = trial->position[d] = one->to[d];
    }
    part->was = one->was;
    part->comes = one->comes;
    part->skip[0] = one->was < 0 ? -1 : one->particle;
    part->skip[1] = one->kind == PLUGMC_SWAPPED ? one->other : -1;
    part->centre = one->centre;
    part->within = one->within;
#if WALK_BODIES
    part->turned = one->turned;
    trial->turns =
        one->kind == PLUGMC_DISPLACED; /* its orientation is known, also where it stays */
#endif
}

/* Adds the trials of a batch of n to the result. */
PLUGMC_FN void walk_count(const walk_progress *progress, uint32_t n, walk_result *result)
{
    const uint32_t lane = threadIdx.x % 32;
    PLUGMC_UNROLL
    for (int move = 0; move < WALK_MOVES; move++) {
        const uint32_t those =
            __ballot_sync(0xffffffffu, lane < n && walk_batch()[lane].move == move);
        result->trials[move] += __popc(those);
        result->accepted[move] += __popc(those & progress->accepted);
    }
    result->next += progress->stopped ? progress->next - 1 : n;
    result->stopped = progress->stopped;
    result->full = progress->full;
    result->particle = progress->particle;
}

PLUGMC_FN void walk_count_one(const walk_call *call, int32_t move, int trials, int accepted,
                              walk_result *result)
{
    PLUGMC_UNROLL
    for (int m = 0; m < WALK_MOVES; m++) {
        result->trials[m] += m == walk_move_of(call, move) ? trials : 0;
        result->accepted[m] += m == walk_move_of(call, move) ? accepted : 0;
    }
}

#if defined(PLUGMC_GROUPS) || WALK_ONE_BY_ONE
/* Asks the mover for a trial that may be of a group. One warp proposes: functions that threads of a warp share (plugmc/near.h)
 * are called by all of it. Small groups are made in memory of each thread, where members may be sorted and the like, and
 * large ones in memory that all share. */
PLUGMC_FN int walk_propose_group(const uint8_t *parameters, plugmc_trial *trial, int32_t together)
{
    const bool small = WALK_PROPOSED_GROUPS <= PLUGMC_MOST_TOGETHER;
    __syncthreads(); /* all are done with the group before */
    __shared__ int32_t members[WALK_GROUPS];
    __shared__ double positions[WALK_GROUPS][3];
    __shared__ plugmc_group group;
    __shared__ plugmc_trial of_warp;
    __shared__ int proposed;
    if (threadIdx.x < 32) {
        int32_t own_members[small ? PLUGMC_MOST_TOGETHER : 1];
        double own_positions[small ? PLUGMC_MOST_TOGETHER : 1][3];
        plugmc_group own = {0, together, small ? own_members : members,
                            small ? own_positions : positions};
        trial->group = &own;
        const int answer = plugmc_mover::plugmc_propose(parameters, trial);
        __syncwarp();
        if (threadIdx.x == 0) {
            for (int32_t k = 0; small && k < own.n && k < WALK_PROPOSED_GROUPS; k++) {
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
#endif
