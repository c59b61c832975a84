/* walk.cu: trial moves of any kind that a mover proposes, one after the other in each walker. A block takes
 * a walker, and its threads share all the others that one particle meets where it goes from and to.
 *
 * Stands behind walk_meet.cu and walk_groups.cu. Swaps among many particles are made by
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

/* ---- A trial ------------------------------------------------------------------------------------- */

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
