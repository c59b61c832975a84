/* parallel_reduction.cu: one trial move, all of its pairs at once.
 *
 * Thread j of walker blockIdx.y has the pair of the particle that moves with particle j. The move
 * is number ticket[w], which propose.cu sets to 0; launches past the last particle do nothing. Sums
 * of blocks are added in fixed point, so that their order does not matter, and the block that
 * counts itself last decides.
 */

/* Sum over the block, in thread 0. */
PLUGMC_FN real block_sum(real x)
{
    __shared__ real warps[BLOCK / 32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 16; step; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
    if (lane == 0) warps[warp] = x;
    __syncthreads();
    if (warp > 0) return 0;
    x = lane < BLOCK / 32 ? warps[lane] : 0;
#pragma unroll
    for (int step = 16; step; step /= 2) x += __shfl_down_sync(0xffffffffu, x, step);
    return x;
}

/* All blocks have added what they have. */
PLUGMC_FN void decide(const brush_state *s, int w, int i, const brush_probe *probe)
{
    const size_t at = (size_t)w * s->padded + i;
    const brush_trial trial = s->trial[at];
    const long long sum = *(volatile long long *)&s->sum[at];
    const int hit = *(volatile int *)&s->hit[at];
    const double change = (double)sum * (1 / BRUSH_UNIT) + trial.change;
    if (!hit && !(change > -BRUSH_HUGE)) brush_lose(s, at); /* by a field */
    if (!hit && change < trial.threshold) {
        s->place[at] = probe->moved;
        s->energy[w] += __double2ll_rn(change * BRUSH_UNIT);
        atomicAdd(&s->accepted[w], 1ull);
    }
    s->ticket[w] = (unsigned)i + 1;
    s->done[w] = 0;
    if (w == 0 && i == s->particles - 1) *s->sweep += 1;
}

extern "C" __global__ void __launch_bounds__(BLOCK) parallel_reduction_move(brush_state s)
{
    const int w = blockIdx.y, i = (int)s.ticket[w], j = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= s.particles || s.failed[1]) return;
    const size_t base = (size_t)w * s.padded;
    brush_probe probe;
    probe.old = s.place[base + i];
    probe.moved = s.moved[base + i];
    probe.site = plugmc_site_of_species((int)probe.old.species);
    brush_know_walker(&s, w, &probe);
    real change = 0;
    int overlaps = 0;
    if (j < s.particles && j != i) {
        const brush_place other = s.place[base + j];
        brush_chunk c;
        plugmc_sums_clear(&c.sums);
        c.overlaps = 0;
        brush_add_pair(&c, &probe, &other, plugmc_site_of_species((int)other.species));
        overlaps = c.overlaps;
        change = brush_total(&c.sums, &probe);
    }
    overlaps = __syncthreads_or(overlaps);
    const real sum = block_sum(change);
    if (threadIdx.x > 0) return;
    const long long fixed = brush_fixed(&s, base + i, sum, &overlaps);
    atomicAdd((unsigned long long *)&s.sum[base + i], (unsigned long long)fixed);
    if (overlaps) s.hit[base + i] = 1;
    __threadfence();
    if (atomicAdd(&s.done[w], 1u) < gridDim.x - 1) return;
    __threadfence();
    decide(&s, w, i, &probe);
}
