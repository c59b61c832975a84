/* decide.cu: sums of energies, decisions, and the check of reversal. Stands behind hmc.cu and rigid.cu. */

/* ---- Sums and decisions: in a fixed order, whatever the GPU ---- */

/* a[0] and a[1] of all threads into those of thread 0. */
PLUGMC_FN void hmc_gather(double (*a)[HMC_THREADS])
{
    for (int half = HMC_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            for (int k = 0; k < 2; k++) a[k][threadIdx.x] += a[k][threadIdx.x + half];
    }
    __syncthreads();
}

/* Blocks (tiles, walkers). */
HMC_KERNEL hmc_tally(const hmc_task t)
{
    __shared__ double sum[2][HMC_THREADS];
    const uint32_t walker = blockIdx.y;
    double potential = 0, kinetic = 0;
    for (uint32_t k = threadIdx.x; k < HMC_TILE; k += HMC_THREADS) {
        const uint32_t particle = blockIdx.x * HMC_TILE + k;
        if (particle >= t.particles) break;
        const uint64_t at = (uint64_t)walker * t.particles + particle;
        potential += t.share[at];
#if HMC_RIGID
        kinetic += hmc_kinetic_of_member(t.member[particle].role, hmc_kind_of(&t, particle),
                                         t.mass[t.species[particle]], t.momentum + 3 * at);
#else
        kinetic += 0.5 * hmc_square(t.momentum + 3 * at) / t.mass[t.species[particle]];
#endif
    }
    sum[0][threadIdx.x] = potential;
    sum[1][threadIdx.x] = kinetic;
    hmc_gather(sum);
    if (threadIdx.x > 0) return;
    double *out = t.partial + 2 * ((uint64_t)walker * t.tiles + blockIdx.x);
    out[0] = sum[0][0];
    out[1] = sum[1][0];
}

/* One block a walker. After: 0 before a trajectory, 1 after it. */
HMC_KERNEL hmc_total(const hmc_task t, int after)
{
    __shared__ double sum[2][HMC_THREADS];
    const uint32_t walker = blockIdx.x;
    double both[2] = {0, 0};
    for (uint32_t k = threadIdx.x; k < t.tiles; k += HMC_THREADS)
        for (int q = 0; q < 2; q++) both[q] += t.partial[2 * ((uint64_t)walker * t.tiles + k) + q];
    for (int q = 0; q < 2; q++) sum[q][threadIdx.x] = both[q];
    hmc_gather(sum);
    if (threadIdx.x > 0) return;
    double *out = t.sums + 3 * walker;
    if (after) {
        out[1] = sum[0][0] + t.others[walker];
        out[2] = sum[1][0];
    } else {
        out[0] = sum[1][0];
    }
}

/* One thread a walker. */
HMC_KERNEL hmc_decide(const hmc_task t)
{
    const uint32_t walker = blockIdx.x * HMC_THREADS + threadIdx.x;
    if (walker >= t.walkers) return;
    hmc_state *s = t.state + walker;
    const double *sums = t.sums + 3 * walker;
    const double change = (sums[1] + sums[2]) - (s->potential + sums[0]);
    if (!(change > -(double)PLUGMC_NO_RANGE)) t.plan->lost = t.plan->sweep + 1;
    const plugmc_random random =
        plugmc_draw(t.plan->seed, t.plan->sweep, walker, 0, PLUGMC_PURPOSE_ACCEPT, 0);
    bool accepted = change <= 0 || plugmc_uniform_double(random.word[0], random.word[1]) <
                                       exp(-change * HMC_OVER_KT(walker));
#if HMC_RIGID
    accepted = accepted && !t.out_of_shape[walker];
#endif
    s->change = change;
    s->rejected = !accepted;
    s->trials++;
    s->accepted += accepted;
    if (accepted) s->potential = sums[1];
}

/* The energy of a configuration that was not reached by a trajectory. */
HMC_KERNEL hmc_take_energy(const hmc_task t)
{
    const uint32_t walker = blockIdx.x * HMC_THREADS + threadIdx.x;
    if (walker < t.walkers) t.state[walker].potential = t.sums[3 * walker + 1];
}

HMC_KERNEL hmc_settle(const hmc_task t)
{
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) t.plan->sweep++;
    HMC_PARTICLE
    if (!t.state[walker].rejected || t.plan->lost) return;
    for (int d = 0; d < 3; d++) {
        t.place[3 * at + d] = t.place_before[3 * at + d];
        t.force[3 * at + d] = t.force_before[3 * at + d];
    }
#if HMC_RIGID
    t.turned[at] = t.turned_before[at];
#endif
}

HMC_KERNEL hmc_store(const hmc_task t, double *positions)
{
    HMC_PARTICLE
    hmc_position(HMC_BOX(walker), t.place + 3 * at, positions + 3 * at);
}

/* ---- check_reversal ---- */

/* Keeps the end of a trajectory and turns its momenta, or keeps its beginning. */
HMC_KERNEL hmc_turn(const hmc_task t, int at_end)
{
    HMC_PARTICLE
    for (int d = 0; d < 3; d++) {
        if (at_end) {
            t.place_checked[3 * at + d] = t.place[3 * at + d];
            t.force_checked[3 * at + d] = t.force[3 * at + d];
            t.momentum[3 * at + d] = -t.momentum[3 * at + d];
        } else {
            t.momentum_checked[3 * at + d] = t.momentum[3 * at + d];
        }
    }
#if HMC_RIGID
    if (at_end) t.turned_checked[at] = t.turned[at];
#endif
}

/* Is this where the trajectory began? Then on from its end. */
HMC_KERNEL hmc_compare(const hmc_task t)
{
    HMC_PARTICLE
    uint64_t astray = 0;
    for (int d = 0; d < 3; d++) {
        astray += t.place[3 * at + d] != t.place_before[3 * at + d];
        astray += t.momentum[3 * at + d] != -t.momentum_checked[3 * at + d];
        t.place[3 * at + d] = t.place_checked[3 * at + d];
        t.force[3 * at + d] = t.force_checked[3 * at + d];
    }
#if HMC_RIGID
    for (int k = 0; k < 4; k++) astray += t.turned[at].part[k] != t.turned_before[at].part[k];
    t.turned[at] = t.turned_checked[at];
#endif
    if (astray)
        atomicAdd((unsigned long long *)&t.state[walker].astray, (unsigned long long)astray);
}
