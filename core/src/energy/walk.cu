/* walk.cu: trial moves of any kind that a mover proposes, one after the other in each walker. A block takes
 * a walker, and its threads share all the others that one particle meets where it goes from and to.
 *
 * Stands behind the other walk_*.cu, but for walk_shared.cu. Swaps among many particles are made by
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

/* results[walkers]: the sums of trials and accepted ones over all walkers; whether any was stopped, or had no free slot. By one
 * block. */
extern "C" __global__ void __launch_bounds__(ENERGIES_THREADS)
    walk_total(uint32_t walkers, walk_result *results)
{
    __shared__ unsigned long long sums[2 * WALK_MOVES];
    walk_result mine = {};
    if (threadIdx.x < 2 * WALK_MOVES) sums[threadIdx.x] = 0;
    for (uint32_t w = threadIdx.x; w < walkers; w += ENERGIES_THREADS) {
        const walk_result *r = &results[w];
        for (int move = 0; move < WALK_MOVES; move++) {
            mine.trials[move] += r->trials[move];
            mine.accepted[move] += r->accepted[move];
        }
        mine.stopped |= r->stopped;
        mine.full |= r->full;
    }
    const int stopped = __syncthreads_or(mine.stopped), full = __syncthreads_or(mine.full);
    for (int move = 0; move < WALK_MOVES; move++) {
        atomicAdd(&sums[move], (unsigned long long)mine.trials[move]);
        atomicAdd(&sums[WALK_MOVES + move], (unsigned long long)mine.accepted[move]);
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int move = 0; move < WALK_MOVES; move++) {
        mine.trials[move] = sums[move];
        mine.accepted[move] = sums[WALK_MOVES + move];
    }
    mine.stopped = stopped != 0;
    mine.full = full != 0;
    results[walkers] = mine;
}

/* ---- A trial ------------------------------------------------------------------------------------- */

/* The change of -ln p, and whether it is forbidden. */
PLUGMC_FN double walk_delta(const walk_task *t, const plugmc_trial *trial, const walk_around *a,
                            const walk_part part[2], int parts, const double *multipliers,
                            double *room, int *forbidden)
{
    const double *of_species = multipliers + PLUGMC_TERMS + 1;
    double change[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {}, delta = 0;
    int overlap = walk_meet_swapped(a, trial, part, change);
    walk_part now = part[0];
#pragma unroll 1
    for (int k = 0; k < parts; k++) {
        overlap |= walk_meet<false>(t, a, &now, change);
        now = part[1];
    }
    *forbidden = walk_any(a, overlap);
    if (*forbidden) return 0;
    for (int term = 0; term < PLUGMC_TERMS; term++)
        if (multipliers[term] != 0) delta += multipliers[term] * change[term];
    delta = walk_sum(a, delta, room) - trial->log_factor;
    int64_t added = 0;
    if (trial->kind == PLUGMC_INSERTED || trial->kind == PLUGMC_IDENTITY) {
        delta += of_species[part[0].comes];
        added += walk_row(t, part[0].comes);
    }
    if (trial->kind == PLUGMC_REMOVED || trial->kind == PLUGMC_IDENTITY) {
        delta -= of_species[part[0].was];
        added -= walk_row(t, part[0].was);
    }
    return delta + walk_by_count(t, a, multipliers, added);
}

/* ---- Several places: as in trial_positions.c ----------------------------------------------------------------- */

/* The delta at place j of a trial: of who comes there, or of who goes there instead of leaving. */
PLUGMC_FN double walk_delta_at(const walk_task *t, plugmc_trial *trial, int32_t j, int32_t kind,
                               const walk_around *a, walk_part part[2], const double *multipliers,
                               double *room, int *forbidden)
{
    plugmc_draw_trial_position(trial, j, trial->position);
    plugmc_wrap(trial->box, trial->position);
    trial->kind = kind;
    const int parts = walk_parts(t, trial, a, part);
    walk_orient_at(trial, j, part);
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
    walk_parts(t, trial, a, part);
    walk_orient_at(trial, chosen, part);
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

PLUGMC_FN walk_step walk_step_of(const walk_bias *b, const walk_around *a, double volume,
                                 const plugmc_trial *trial)
{
    walk_step s = {};
    double x = b->of_volume * volume, change = 0;
    if (!b->bins) return s;
    for (int k = 0; k < PLUGMC_SPECIES; k++) x += b->of_count[k] * (double)a->count[k];
    const bool changes_counts = walk_is_group(trial) && trial->kind != PLUGMC_GROUP_DISPLACED;
    for (int32_t k = 0; changes_counts && k < trial->group->n; k++)
        change += (walk_comes(trial, k) ? 1 : -1) * b->of_count[walk_species_of(trial, a, k)];
    if (trial->kind == PLUGMC_INSERTED || trial->kind == PLUGMC_IDENTITY)
        change += b->of_count[trial->species];
    if (trial->kind == PLUGMC_REMOVED || trial->kind == PLUGMC_IDENTITY)
        change -= b->of_count[trial->particle < 0 ? trial->other : a->species[trial->particle]];
    s.before = walk_bin(b, x);
    s.after = change == 0 ? s.before : walk_bin(b, x + change);
    s.delta = walk_weight(b, s.after) - walk_weight(b, s.before);
    const int64_t outside = walk_outside(b, a->walker, s.after);
    s.leads_out =
        outside > 0 && outside >= walk_outside(b, a->walker, s.before) && s.after != s.before;
    return s;
}

/* By one thread at a time: the block's walker alone has this part of the transition counts. */
PLUGMC_FN void walk_note(const walk_bias *b, uint32_t walker, const walk_step *s,
                         double probability, int taken)
{
    const int64_t at = taken ? s->after : s->before;
    const int way = s->after < s->before ? WALK_DOWN : WALK_UP,
              next = s->after == s->before - 1 || s->after == s->before + 1;
    double *transitions = b->transitions + (uint64_t)walker * b->bins * WALK_TRANSITIONS;
    if (!b->counted) return;
    if (s->before >= 0 && s->before < b->bins && next) {
        transitions[s->before * WALK_TRANSITIONS + way] += probability;
        transitions[s->before * WALK_TRANSITIONS + way + 1] += 1;
    }
    if (at >= 0 && at < b->bins) transitions[at * WALK_TRANSITIONS + WALK_VISITS] += 1;
}

/* ---- All trials -------------------------------------------------------------------------------------- */

/* Walker number `box` of the block, of which so many threads at a time look at one particle's neighbours. */
PLUGMC_FN walk_around walk_around_of(const walk_task &t, uint32_t *grouped, uint32_t threads,
                                     uint32_t walker, uint32_t box)
{
    const uint64_t row = (uint64_t)walker * t.particles;
    const walk_around a = {t.x + row,
                           t.y + row,
                           t.z + row,
                           t.species + row,
                           t.first,
                           t.counts + (uint64_t)walker * PLUGMC_SPECIES,
                           t.counts + (uint64_t)walker * PLUGMC_SPECIES,
                           plugmc_images_of_walker(t.boxes, walker),
                           grouped ? grouped + row : 0,
                           t.orientations + row,
                           isfinite(t.reach),
                           walker,
                           box * walk_coarse_row(&t),
                           threadIdx.x % threads,
                           threads};
    for (uint32_t k = threadIdx.x; k < t.particles && a.picks; k += blockDim.x) {
        const double r[3] = {a.x[k], a.y[k], a.z[k]};
        walk_coarse_places()[a.coarse + k] = walk_coarse(&a, r);
    }
    __syncthreads();
    return a;
}

PLUGMC_FN uint64_t walk_sweep_length(const walk_task &t, const walk_call &call,
                                     const walk_around *a)
{
    uint64_t particles = 0;
    if (call.a_sweep) return call.a_sweep;
    if (WALK_MOLECULES && call.for_molecules)
        return (uint64_t)plugmc_molecules_present(t.molecules, a->count, 0);
    for (int s = 0; s < PLUGMC_SPECIES; s++) particles += a->of_mover[s];
    return particles;
}

/* A change that is not a number. It is accepted, so that it is found. */
PLUGMC_FN bool walk_is_lost(double delta) { return !(delta > -PLUGMC_NO_RANGE); }

/* Whether a change is accepted. u: uniform in [0, 1). */
PLUGMC_FN bool walk_accepts(const walk_step *step, double delta, double u)
{
    const double weighted = delta + step->delta;
    return walk_is_lost(delta) || (!step->leads_out && (weighted <= 0 || u < exp(-weighted)));
}

#if !WALK_ONE_BY_ONE
/* A warp finds what a trial changes, as if none before it were accepted. */
template <bool SEVERAL>
static __device__ __forceinline__ void walk_evaluate(const walk_task &t, const walk_call &call,
                                                     const walk_around *a, uint64_t number,
                                                     uint64_t a_sweep, walk_single *one)
{
    const double *multipliers = call.multipliers + (uint64_t)a->walker * call.width;
    plugmc_trial trial = {};
    walk_part part[2];
    int forbidden;
    if (!(one->state & WALK_POSSIBLE) || one->stopped) return;
#if WALK_BODIES
    if (walk_is_pooled(a, one)) return;
#endif
    if (SEVERAL) walk_begin_trial(t, call, a, number, a_sweep, &trial);
    walk_read(one, &trial, &part[0]);
    const int parts = trial.kind == PLUGMC_SWAPPED ? walk_parts(&t, &trial, a, part) : 1;
    const bool several = SEVERAL && trial.trial_positions > 1;
    double delta = several && trial.kind == PLUGMC_INSERTED
                       ? walk_come(&t, &trial, a, part, multipliers, 0, &forbidden)
                       : walk_delta(&t, &trial, a, part, parts, multipliers, 0, &forbidden);
    if (several && trial.kind == PLUGMC_REMOVED && !forbidden)
        delta += walk_leave(&t, &trial, a, multipliers, 0);
    __syncwarp();
    if (a->thread != 0) return;
    one->delta = delta;
    one->state = forbidden ? one->state | WALK_FORBIDDEN : one->state & ~WALK_FORBIDDEN;
    for (int d = 0; d < 3 && several; d++) one->to[d] = part[0].to[d];
#if WALK_BODIES
    if (several) one->turned = part[0].turned;
#endif
}

/* The first warp decides the trials j ... end - 1 of a batch, each lane its own, and carries out in turn what is accepted, up to
 * the first trial that one before it has disturbed. */
template <bool SEVERAL>
static __device__ __forceinline__ void walk_decide(const walk_task &t, const walk_bias &bias,
                                                   const walk_around *a, uint32_t n, uint32_t end,
                                                   walk_progress *progress)
{
    const uint32_t lane = threadIdx.x, j = progress->next;
    const walk_single *mine = &walk_batch()[lane];
    const bool own = lane >= j && lane < end && mine->state & WALK_PROPOSED,
               possible = own && !mine->stopped &&
                          (mine->state & (WALK_POSSIBLE | WALK_FORBIDDEN)) == WALK_POSSIBLE;
    plugmc_trial trial = {};
    walk_part part[2];
    walk_step step = {};
    if (own) walk_read(mine, &trial, &part[0]);
    if (own) step = walk_step_of(&bias, a, t.boxes[a->walker].volume, &trial);
    const bool taken = possible && walk_accepts(&step, mine->delta, mine->u),
               lost = possible && walk_is_lost(mine->delta);
    const uint32_t stops = __ballot_sync(0xffffffffu, (own && mine->stopped) || lost);
    if (stops) end = __ffs(stops);
    uint32_t accepted = 0, outdated = 0;
    for (uint32_t left = __ballot_sync(0xffffffffu, taken); left; left &= left - 1) {
        const uint32_t k = __ffs(left) - 1;
        if (k >= end) break;
        const walk_single *one = &walk_batch()[k];
        walk_read(one, &trial, &part[0]);
        if (trial.kind == PLUGMC_SWAPPED) walk_parts(&t, &trial, a, part);
        const uint32_t anew = walk_outdated(&trial, k, n),
                       disturbed = anew | walk_disturbed<SEVERAL>(a, one, part, k, end);
        if (disturbed && __ffs(disturbed) <= end) end = __ffs(disturbed) - 1;
        accepted |= 1u << k;
        outdated |= anew;
        if (lane == 0) walk_take(&trial, a, part);
    }
    for (uint32_t k = j; k < end && bias.counted; k++) {
        if (lane == k && own && !mine->stopped)
            walk_note(&bias, a->walker, &step, possible ? fmin(1.0, exp(-mine->delta)) : 0, taken);
        __syncwarp();
    }
    if (lane >= j && lane < end && own) {
        if (mine->full) progress->full = mine->full;
        if (mine->stopped || lost) {
            progress->stopped = mine->stopped ? mine->stopped : WALK_LOST;
            progress->particle = mine->kind == PLUGMC_INSERTED ? -1 : mine->particle;
        }
    }
    __syncwarp();
    if (lane > 0) return;
    progress->next = end;
    progress->accepted |= accepted;
    progress->outdated = end < 32 ? outdated & ~0u << end : 0;
}

/* A batch of n trials. All are proposed first, and those that are left after one was accepted anew if they may have read
 * what it changed. Each warp evaluates another trial. */
template <bool SEVERAL>
static __device__ __forceinline__ void walk_through(const walk_task &t, const walk_call &call,
                                                    const walk_bias &bias, const walk_around *a,
                                                    uint64_t a_sweep, const uint8_t *parameters,
                                                    uint64_t first, uint32_t n,
                                                    walk_progress *progress)
{
    uint32_t proposing = ~0u >> (32 - n), next = 0;
    while (next < n && !progress->stopped) {
        if (proposing) walk_propose_batch(t, call, a, a_sweep, parameters, first, proposing);
        const uint32_t end = next + call.evaluated < n ? next + call.evaluated : n;
        for (uint32_t k = next + threadIdx.x / 32; k < end; k += blockDim.x / 32)
            walk_evaluate<SEVERAL>(t, call, a, first + k, a_sweep, &walk_batch()[k]);
#if WALK_BODIES
        walk_evaluate_pooled(call, a, next, end);
#endif
        walk_wait();
        if (threadIdx.x < 32) walk_decide<SEVERAL>(t, bias, a, n, end, progress);
        walk_wait();
        next = progress->next;
        proposing = progress->outdated;
    }
}

/* Trials of single particles and pairs, from result.next on. */
template <bool SEVERAL>
static __device__ __forceinline__ void walk_singles(const walk_task &t, const walk_call &call,
                                                    const walk_bias &bias,
                                                    const uint8_t *parameters, walk_result *results)
{
    const walk_around a = walk_around_of(t, 0, 32, blockIdx.x, 0);
    const uint64_t a_sweep = walk_sweep_length(t, call, &a), all = call.sweeps * a_sweep,
                   end = call.end < all ? call.end : all;
    __shared__ walk_progress progress;
    walk_result result = results[blockIdx.x];
    if (threadIdx.x == 0) progress = walk_progress();
    __syncthreads();
    while (result.next < end && !result.stopped) {
        const uint64_t left = end - result.next;
        const uint32_t n = WALK_TOGETHER ? 1 : left < WALK_AT_ONCE ? (uint32_t)left : WALK_AT_ONCE;
        walk_through<SEVERAL>(t, call, bias, &a, a_sweep, parameters, result.next, n, &progress);
        walk_count(&progress, n, &result);
        __syncthreads(); /* all have read it */
        if (threadIdx.x == 0) progress.next = progress.accepted = 0;
        __syncthreads();
        if (result.stopped) result.sweep = call.sweep + result.next / a_sweep;
    }
    if (threadIdx.x == 0) results[blockIdx.x] = result;
}

extern "C" __global__ void __launch_bounds__(WALK_THREADS)
    walk_make(walk_task t, walk_call call, walk_bias bias, const uint8_t *parameters,
              walk_result *results)
{
    walk_singles<false>(t, call, bias, parameters, results);
}

#ifdef PLUGMC_TRIAL_POSITIONS
extern "C" __global__ void __launch_bounds__(WALK_THREADS)
    walk_make_several(walk_task t, walk_call call, walk_bias bias, const uint8_t *parameters,
                      walk_result *results)
{
    walk_singles<true>(t, call, bias, parameters, results);
}
#endif
#endif /* trials of which several are evaluated at once */
