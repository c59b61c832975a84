/* propose.cu: the trial moves of a sweep, and positions out. Apart from brush.cu because this is
 * compiled to the arithmetic of the CPU, bit for bit, in double precision. */

/* Draws all trial moves and clears what the sweep adds up. After an energy that is no number the last
 * ones stay, for the host to look at. */
extern "C" __global__ void brush_propose(brush_state s, brush_domain domain, plugmc_seed seed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, w = blockIdx.y;
    const unsigned long long sweep = *s.sweep;
    if (s.failed[0]) {
        if (i == 0 && w == 0) s.failed[1]++;
        return;
    }
    if (i == 0) {
        s.decided[w] = s.ticket[w] = 0;
        if (w == 0) *s.role = 0;
#if BRUSH_PARTS > 1
        *s.turn += 1;
#endif
    }
    if (i < s.panels) s.done[(size_t)w * s.panels + i] = 0;
    if (i >= s.particles) return;
    const size_t at = (size_t)w * s.padded + i;
    s.sum[at] = 0;
    s.hit[at] = 0;
    const brush_place old = s.place[at];
    s.before[at] = old;
    double to[3] = {(double)old.x, (double)old.y, (double)old.z};
#if BRUSH_BY_WALKER
    const double kT = s.walker[w].kT, step = s.walker[w].step;
    domain = s.walker[w].domain;
#else
    const double kT = PLUGMC_KT, step = *s.step;
#endif
    int outside = !brush_displace(&domain, seed, sweep, (uint32_t)w, (uint32_t)i, step, to);
    brush_place moved;
    moved.x = (BRUSH_STORED)to[0];
    moved.y = (BRUSH_STORED)to[1];
    moved.z = (BRUSH_STORED)to[2];
    moved.species = old.species;
    brush_trial trial;
    trial.change = 0;
#if PLUGMC_FIELDS
    const plugmc_site a = plugmc_site_of_species((int)old.species);
    plugmc_position from, there;
    from.x = old.x, from.y = old.y, from.z = old.z;
    there.x = moved.x, there.y = moved.y, there.z = moved.z;
    int unused = 0;
#if PLUGMC_WEIGHTED
    const double *weight = s.weight + (size_t)w * PLUGMC_TERMS;
    trial.change = plugmc_fields_weighted(there, a, &outside, weight) -
                   plugmc_fields_weighted(from, a, &unused, weight);
#else
    trial.change = plugmc_fields(there, a, &outside) - plugmc_fields(from, a, &unused);
#endif
#endif
    if (outside) trial.change = __longlong_as_double(0x7ff0000000000000LL);
    trial.threshold = kT * brush_threshold(seed, sweep, (uint32_t)w, (uint32_t)i);
    s.moved[at] = moved;
    s.trial[at] = trial;
}

/* Canonical positions [walkers][particles][3] from places. */
extern "C" __global__ void brush_store(brush_state s, double *positions)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, w = blockIdx.y;
    if (i >= s.particles) return;
    const brush_place p = s.place[(size_t)w * s.padded + i];
    double *to = positions + 3 * ((size_t)w * s.particles + i);
    to[0] = (double)p.x;
    to[1] = (double)p.y;
    to[2] = (double)p.z;
}
