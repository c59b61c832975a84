/* walk_pool.cu: bodies that are displaced and turned. Few others are near each, and pairs of bodies take long: so a warp looks
 * at the pairs of several trials together, each thread at another pair.
 *
 * Stands between walk_proposals.cu and walk.cu. */
#if WALK_BODIES && !WALK_ONE_BY_ONE

/* Entries of a warp's pool of pairs: number of the trial in the batch, and the particle that it may meet. */
enum { WALK_POOLED = WALK_LISTED / 2, WALK_PARTICLE_BITS = 24 };

/* In the memory of walk_listed. */
PLUGMC_FN uint32_t *walk_pool(void)
{
    return (uint32_t *)walk_listed() + threadIdx.x / 32 * WALK_POOLED;
}

PLUGMC_FN bool walk_is_pooled(const walk_around *a, const walk_single *one)
{
    return a->picks && one->kind == PLUGMC_DISPLACED && one->state & WALK_POSSIBLE && !one->stopped;
}

/* The bits of all threads of a warp together. */
PLUGMC_FN uint32_t walk_bits_of_warp(uint32_t bits)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(0xffffffffu, bits);
#else
    for (int apart = 16; apart > 0; apart /= 2) bits |= __shfl_xor_sync(0xffffffffu, bits, apart);
    return bits;
#endif
}

PLUGMC_FN double walk_weighed(const double *energy, const double *lost, const double *multipliers)
{
    double delta = 0;
    for (int term = 0; term < PLUGMC_TERMS; term++)
        if (multipliers[term] != 0) delta += multipliers[term] * (energy[term] - lost[term]);
    return delta;
}

/* The change of -ln p by the pair of a trial with particle i, and whether they overlap. */
PLUGMC_FN double walk_meet_entry(const walk_around *a, const walk_single *one, uint32_t i,
                                 const double *multipliers, int *overlap)
{
    double energy[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {},
                                                    lost[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {};
    plugmc_trial trial = {};
    walk_part part;
    walk_sums sums = {};
    walk_read(one, &trial, &part);
    const walk_ends e = walk_ends_of(a, &part);
    walk_meet_one<true, true>(a, &part, &e, i, &sums);
    walk_pairs_by_term(&part, &e, &sums, energy, lost);
    *overlap = sums.overlap;
    return walk_weighed(energy, lost, multipliers);
}

/* Adds what the threads have of their trials k to these trials; those without have k = 32. */
PLUGMC_FN void walk_add_up(uint32_t k, double mine)
{
    for (uint32_t left = walk_bits_of_warp(k < 32 ? 1u << k : 0); left; left &= left - 1) {
        const uint32_t j = __ffs(left) - 1;
        double sum = k == j ? mine : 0;
        for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        if (threadIdx.x % 32 == 0) walk_batch()[j].delta += sum;
    }
}

/* The pairs in the pool of a warp. Trials that overlap are bits of *overlapping. */
PLUGMC_FN void walk_meet_pool(const walk_around *a, uint32_t count, const double *multipliers,
                              uint32_t *overlapping)
{
    const uint32_t lane = threadIdx.x % 32, *pool = walk_pool();
    __syncwarp();
    for (uint32_t first = 0; first < count; first += 32) {
        const bool own = first + lane < count;
        const uint32_t entry = own ? pool[first + lane] : 0, k = entry >> WALK_PARTICLE_BITS;
        double delta = 0;
        int overlap = 0;
        if (own && !(*overlapping >> k & 1))
            delta = walk_meet_entry(a, &walk_batch()[k], entry & ((1u << WALK_PARTICLE_BITS) - 1),
                                    multipliers, &overlap);
        *overlapping |= walk_bits_of_warp(overlap ? 1u << k : 0);
        if (PLUGMC_BODY_ENERGIES > 0 || PLUGMC_ENERGY_TERMS > 0) walk_add_up(own ? k : 32, delta);
    }
    __syncwarp();
}

/* Trial k of the batch: the bodies that it may meet, into the pool behind `count` entries, which are looked at where it is full.
 * Returns the number of entries. */
PLUGMC_FN uint32_t walk_fill_pool(const walk_around *a, uint32_t k, uint32_t count,
                                  const double *multipliers, uint32_t *overlapping)
{
    const uint32_t lane = threadIdx.x % 32;
    const walk_single *one = &walk_batch()[k];
    for (int s = 0; s < PLUGMC_SPECIES; s++) {
        const uint32_t first = (uint32_t)a->first[s], end = first + (uint32_t)a->count[s];
        for (uint32_t base = first; base < end; base += 32) {
            const uint32_t i = base + lane;
            if (count > WALK_POOLED - 32) {
                walk_meet_pool(a, count, multipliers, overlapping);
                count = 0;
            }
            const bool near =
                i < end && i != (uint32_t)one->particle &&
                walk_square(walk_coarse_places()[a->coarse + i], one->centre) <= one->within;
            const uint32_t all = __ballot_sync(0xffffffffu, near);
            if (near)
                walk_pool()[count + __popc(all & ((1u << lane) - 1))] = k << WALK_PARTICLE_BITS | i;
            count += __popc(all);
        }
    }
    return count;
}

/* A trial whose pairs are summed, by one thread. */
PLUGMC_FN void walk_finish_pooled(const walk_around *a, walk_single *one, bool overlap,
                                  const double *multipliers)
{
    double delta = one->delta - one->log_factor;
    if (PLUGMC_FIELDS > 0 || PLUGMC_IN_SPHERE) {
        double energy[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {},
                                                        lost[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] =
                                                            {};
        plugmc_trial trial = {};
        walk_part part;
        walk_read(one, &trial, &part);
        const walk_ends e = walk_ends_of(a, &part);
        overlap |= walk_fields_by_term(&part, &e, energy, lost);
        delta += walk_weighed(energy, lost, multipliers);
    }
    one->delta = delta;
    one->state = overlap ? one->state | WALK_FORBIDDEN : one->state & ~WALK_FORBIDDEN;
}

/* Of the trials next ... end - 1 of a batch each warp takes some, and finds what they change, as if none before them were
 * accepted: of those that displace a body. */
static __device__ __forceinline__ void walk_evaluate_pooled(const walk_call &call,
                                                            const walk_around *a, uint32_t next,
                                                            uint32_t end)
{
    const uint32_t warps = blockDim.x / 32, own = next + threadIdx.x / 32,
                   mine = own + threadIdx.x % 32 * warps;
    const double *multipliers = call.multipliers + (uint64_t)a->walker * call.width;
    uint32_t count = 0, overlapping = 0;
    const bool finishes = mine < end && walk_is_pooled(a, &walk_batch()[mine]);
    if (finishes) walk_batch()[mine].delta = 0;
    for (uint32_t k = own; k < end; k += warps)
        if (walk_is_pooled(a, &walk_batch()[k]))
            count = walk_fill_pool(a, k, count, multipliers, &overlapping);
    walk_meet_pool(a, count, multipliers, &overlapping);
    if (finishes) walk_finish_pooled(a, &walk_batch()[mine], overlapping >> mine & 1, multipliers);
    __syncwarp();
}
#endif
