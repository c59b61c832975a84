/* brush.cu: the sequential Metropolis sweep of N particles that all interact, in one kernel.
 *
 * propose.cu has drawn the trial moves. Particles are decided in the order of their numbers, so the
 * energy change of particle i is a sum over j < i where they are by now and over j > i where they
 * were:
 *
 *     change_i = sum_{j<i} c(i, x'_j) + sum_{j>i} c(i, x_j),   c(i, y) = u(x~_i - y) - u(x_i - y)
 *
 * Nearly all of these terms are known long before i is decided. Particles are cut into panels of
 * BRUSH_PANEL. For panel g the terms of all j but those in panels g - BRUSH_LAG to g (below i) are
 * summed by the workers, one task for a range of j; the terms of these last ones by the decider.
 * There is one decider a walker, a block that goes through the panels in rows of 32: a warp decides
 * a row, one particle a lane. What each of them does to the others of the row and to those of the
 * next one has been worked out for both outcomes by a kernel before the sweep, so that nothing but
 * additions is left. The other warps of the block meanwhile add the terms of the row before to the
 * particles that the workers leave to them.
 *
 * Who waits for whom. Blocks take their walker and role, and workers their tasks, from counters, so
 * the first blocks that run are deciders and their workers, and a task waits only for decisions
 * that depend on tasks with smaller numbers, which somebody is working on: no deadlock, in whatever
 * order the hardware starts blocks, as long as two run at the same time. From the moment a row is
 * known until the decider needs what the workers make of it, BRUSH_LAG panels are decided: time
 * enough for the news to get there and back.
 *
 * Sums. Terms are summed in real over BRUSH_CHUNK consecutive j (aligned; one species), then in
 * fixed point, where the order does not matter: the chain is the same whatever the number of
 * blocks, the length of tasks and panels, and the GPU. Terms of a row for itself and for the next
 * one are summed in real, in an order of their own.
 *
 * BRUSH_PANEL threads make a team, one particle each; a block has BRUSH_TEAMS.
 *
 * How blocks tell each other what is done, those of other GPUs too, is in shares.cu.
 */
#define BRUSH_ROW 32
#define BRUSH_BLOCK (BRUSH_PANEL * BRUSH_TEAMS)
#define BRUSH_TILE BRUSH_BLOCK /* places in shared memory at a time */
#define BRUSH_RING (4 * BRUSH_PANEL)
#define BRUSH_NEAR 4 /* places a thread has of the row before its own */
/* Of a row, worked out before the sweep: for its own particles [j][i], then for those of the next one, by threads
 * [i][part][BRUSH_NEAR] of those that have it in the decider. */
#define BRUSH_OWN_OUTCOMES (BRUSH_ROW * BRUSH_ROW)
#define BRUSH_OUTCOMES (2 * BRUSH_OWN_OUTCOMES)

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* The terms of `count` places of a chunk that begins with particle j0, for the particle i at `place`:
 * those below `end`, and, if `above` is not negative, only j > above. */
PLUGMC_FN long long brush_chunk_sum(const brush_state *s, size_t place, const brush_probe *i,
                                    const brush_place *places, int count, int j0, int end,
                                    int above, int *overlaps)
{
    brush_chunk c;
    plugmc_sums_clear(&c.sums);
    c.overlaps = 0;
    const int species = (int)places[0].species;
    const bool whole = above < 0 && j0 + count <= end && (int)places[count - 1].species == species;
    if (whole) {
        const plugmc_site b = plugmc_site_of_species(species);
#pragma unroll 8
        for (int q = 0; q < BRUSH_CHUNK; q++) brush_add_pair(&c, i, &places[q], b);
    } else {
        for (int q = 0; q < count && j0 + q < end; q++)
            if (j0 + q > above)
                brush_add_pair(&c, i, &places[q], plugmc_site_of_species((int)places[q].species));
    }
    long long fixed = brush_fixed(s, place, brush_total(&c.sums, i), &c.overlaps);
    *overlaps |= c.overlaps;
    return fixed;
}

/* ---- Workers --------------------------------------------------------------------------------- */

/* Terms of j in [begin, end) for the particles of panel g; begin is a multiple of BRUSH_PANEL. */
PLUGMC_FN void brush_range(const brush_state *s, int w, int g, int begin, int end,
                           brush_place *tile)
{
    const int lane = threadIdx.x % BRUSH_PANEL, team = threadIdx.x / BRUSH_PANEL;
    const int i = g * BRUSH_PANEL + lane;
    const size_t base = (size_t)w * s->padded;
    brush_probe probe;
    probe.old = brush_read_place(&s->place[base + i]);
    probe.moved = s->moved[base + i];
    probe.site = plugmc_site_of_species((int)probe.old.species);
    brush_know_walker(s, w, &probe);
    /* j > i only where the range reaches into the panel itself */
    const int above = begin >= g * BRUSH_PANEL && begin < (g + 1) * BRUSH_PANEL ? i : -1;
    const int most = i < s->particles ? (end < s->particles ? end : s->particles) : 0;
    long long sum = 0;
    int overlaps = 0;

    brush_place next = brush_read_place(&s->place[base + begin + threadIdx.x]);
    for (int j0 = begin; j0 < end; j0 += BRUSH_TILE) {
        tile[threadIdx.x] = next;
        __syncthreads();
        if (j0 + BRUSH_TILE < end)
            next = brush_read_place(&s->place[base + j0 + BRUSH_TILE + threadIdx.x]);
            /* teams take chunks in turn, so that a short range is shared too */
#pragma unroll 1
        for (int q = team * BRUSH_CHUNK; q < BRUSH_TILE; q += BRUSH_CHUNK * BRUSH_TEAMS)
            if (j0 + q < most)
                sum += brush_chunk_sum(s, base + i, &probe, &tile[q], BRUSH_CHUNK, j0 + q, most,
                                       j0 + q <= above ? above : -1, &overlaps);
        __syncthreads();
    }
    if (i < s->particles) {
        atomicAdd((unsigned long long *)&s->sum[base + i], (unsigned long long)sum);
        if (overlaps) s->hit[base + i] = 1;
    }
}

/* Task number `t` of a walker: panel g = t / (intervals + 2); of its tasks first those of later
 * particles, then those of earlier ones, and last those of the panel decided last. */
PLUGMC_FN void brush_task(const brush_state *s, int w, unsigned t, brush_place *tile)
{
    const int tasks = s->intervals + 2;
    const int g = t / tasks, k = t % tasks;
    const int here = g * BRUSH_PANEL / s->interval, upper = s->intervals - here;
    const int last = (g - 1 - BRUSH_LAG) * BRUSH_PANEL; /* first particle of the one decided last */
    const int lower = last > 0 ? (last + s->interval - 1) / s->interval : 0;
    int begin = 0, end = 0, panels = 0;
    if (k < upper) {
        begin = k == 0 ? g * BRUSH_PANEL : (here + k) * s->interval;
        end = (here + k + 1) * s->interval;
    } else if (k < upper + lower) {
        begin = (k - upper) * s->interval;
        end = begin + s->interval < last ? begin + s->interval : last;
        panels = end / BRUSH_PANEL;
    } else if (k == upper + lower && g > BRUSH_LAG) {
        begin = last;
        end = last + BRUSH_PANEL;
        panels = g - BRUSH_LAG;
    }
    /* what is decided last comes last: workers are many panels ahead of the decider */
    const int early = panels && end - 2 * BRUSH_PANEL > begin ? end - 2 * BRUSH_PANEL : begin;
    if (early > begin) {
        brush_wait_for(s, w, early / BRUSH_PANEL);
        brush_range(s, w, g, begin, early, tile);
    }
    if (panels) brush_wait_for(s, w, panels);
    if (early < end && early < s->particles) brush_range(s, w, g, early, end, tile);
    brush_finish(s, w, g);
}

PLUGMC_FN void brush_work(const brush_state *s, int w, brush_place *tile, unsigned *shared)
{
    const unsigned tasks = (unsigned)s->panels * (unsigned)(s->intervals + 2);
    for (;;) {
        if (threadIdx.x == 0) *shared = brush_next(s, w);
        __syncthreads();
        const unsigned t = *shared;
        __syncthreads();
        if (t >= tasks) return;
        brush_task(s, w, t, tile);
    }
}

/* ---- The decider ----------------------------------------------------------------------------- */

/* Its warps: one decides; those that are near have the row that is decided next; those that are far
 * the rows behind it, up to where the workers take over; the last ones deal with the rest of the
 * world; all others fetch what has been worked out beforehand. */
#define BRUSH_WARPS (BRUSH_BLOCK / 32)
#define BRUSH_NEAR_WARPS (BRUSH_ROW / BRUSH_NEAR)
#define BRUSH_FAR_WARPS                                                                            \
    (((BRUSH_LAG + 1) * BRUSH_PANEL - 2 * BRUSH_ROW) / 32 * (BRUSH_ROW / BRUSH_CHUNK))
#define BRUSH_WORLD_WARPS 4
#define BRUSH_FIRST_FAR (1 + BRUSH_NEAR_WARPS)
#define BRUSH_FIRST_FETCHING (BRUSH_FIRST_FAR + BRUSH_FAR_WARPS)
#define BRUSH_FIRST_WORLD (BRUSH_WARPS - BRUSH_WORLD_WARPS)
#define BRUSH_ROWS (BRUSH_PANEL / BRUSH_ROW) /* of a panel */

/* Who of a row was accepted, a bit a particle. Those of two rows lie apart, since one is written
 * while the other is read. */
struct __align__(16) brush_verdict { unsigned accepted; };

/* A ring of the panels that the decider has to do with. sum: terms of rows that the decider has
 * added, but for those of the row just before; bulk: what the workers have. */
typedef struct brush_desk {
    brush_place old[BRUSH_RING], moved[BRUSH_RING];
    brush_trial trial[BRUSH_RING];
    long long sum[BRUSH_RING], bulk[BRUSH_RING];
    int hit[BRUSH_RING];
    brush_verdict verdict[2];                       /* [row % 2] */
    brush_outcome outcome[2][BRUSH_ROW][BRUSH_ROW]; /* [row % 2][j][i] */
    real near[BRUSH_ROW]; /* terms of the row before for the one that is decided */
} brush_desk;
static_assert(sizeof(brush_desk) <= BRUSH_SHARED, "brush.c asks for too little shared memory");
static_assert(BRUSH_RING >= (BRUSH_LAG + 2) * BRUSH_PANEL, "the decider has that many particles");

/* Where particle i lies in the ring. */
PLUGMC_FN int brush_slot(int i) { return i & (BRUSH_RING - 1); }

PLUGMC_FN brush_probe brush_probe_at(const brush_state *s, const brush_desk *d, int w, int slot)
{
    brush_probe p;
    brush_know_walker(s, w, &p);
    p.old = d->old[slot];
    p.moved = d->moved[slot];
    p.site = plugmc_site_of_species((int)p.old.species);
    return p;
}

/* ---- One decides ---- */

/* What the deciding warp keeps of a row: change - threshold of its lanes, negative if accepted. */
typedef struct brush_margin {
    real margin;
    double threshold;
} brush_margin;

/* Those who decide and those who have the next row wait for each other. */
PLUGMC_FN void brush_meet(void)
{
    asm volatile("bar.sync 1, %0;" ::"n"(32 * BRUSH_FIRST_FAR) : "memory");
}

/* Change of energy by all but the row before and its own, kT; infinite if there is no way. */
PLUGMC_FN double brush_change_before(const brush_state *s, const brush_desk *d, int i)
{
    const int slot = brush_slot(i);
    if (i >= s->particles || d->hit[slot]) return __longlong_as_double(0x7ff0000000000000LL);
    return (double)(d->sum[slot] + d->bulk[slot]) * (1 / BRUSH_UNIT) + d->trial[slot].change;
}

/* One warp decides row r, a lane a particle. It guesses all decisions, works out the margins that follow, takes
 * their signs as the next guess, and is done when a guess comes out as it went in: the margin of a lane depends on
 * the decisions before it alone, so that each guess is right for one lane more at least, and there is one set of
 * decisions that reproduces itself. Where particles hardly feel each other few guesses are enough. The margin is real:
 * what is large has gone into it before. */
PLUGMC_FN void brush_decide(const brush_state *s, brush_desk *d, int w, int r, brush_margin *own)
{
    const int lane = threadIdx.x % 32, i = r * BRUSH_ROW + lane;
    const brush_outcome(*outcome)[BRUSH_ROW] = d->outcome[r % 2];
    own->threshold = i < s->particles ? d->trial[brush_slot(i)].threshold : 0;
    real before = (real)(brush_change_before(s, d, i) - own->threshold), margin;
    brush_meet();
    before += d->near[lane];
    unsigned guess, accepted = __ballot_sync(0xffffffffu, before < 0);
    do {
        guess = accepted;
        margin = before;
#pragma unroll
        for (int j = 0; j < BRUSH_ROW; j++) {
            const brush_outcome o = outcome[j][lane];
            margin += guess >> j & 1 ? o.accepted : o.rejected;
        }
        accepted = __ballot_sync(0xffffffffu, margin < 0);
    } while (accepted != guess);
    if (lane == 0) d->verdict[r % 2].accepted = accepted;
    if (i < s->particles && !(margin > -(real)BRUSH_HUGE)) brush_lose(s, (size_t)w * s->padded + i);
    own->margin = margin;
}

/* The energy that the move of a lane has brought, in fixed point. */
PLUGMC_FN long long brush_gain(const brush_margin *own)
{
    if (!(own->margin < 0)) return 0;
    return __double2ll_rn(((double)own->margin + own->threshold) * BRUSH_UNIT);
}

/* ---- Those who have the next row ---- */

/* Row r and the row after it, which is decided next: a thread has one particle i of that row and BRUSH_NEAR places j
 * of row r, and both outcomes of these before it knows which it will be. */
struct __align__(16) brush_cross { brush_outcome of[BRUSH_NEAR]; };

/* The terms of row r for the next one; overlaps are infinite. */
PLUGMC_FN void brush_spread_near(brush_desk *d, int r, int thread, const brush_cross *cross)
{
    const int parts = BRUSH_ROW / BRUSH_NEAR;
    const unsigned accepted = d->verdict[r % 2].accepted >> (thread % parts * BRUSH_NEAR);
    real change = 0;
#pragma unroll
    for (int k = 0; k < BRUSH_NEAR; k++)
        change += accepted >> k & 1 ? cross->of[k].accepted : cross->of[k].rejected;
#pragma unroll
    for (int step = 1; step < parts; step *= 2)
        change += __shfl_xor_sync(0xffffffffu, change, step);
    if (thread % parts == 0) d->near[thread / parts] = change;
}

/* ---- Those who have the rows behind it ---- */

/* Terms of a chunk of decided particles, from `slot` on, for the particle i at `place`; bit q of
 * `mask`: the q-th was accepted. */
PLUGMC_FN long long brush_decided_sum(const brush_state *s, const brush_desk *d, size_t place,
                                      const brush_probe *i, int slot, unsigned mask, int *overlaps)
{
    const brush_place *old = &d->old[slot], *moved = &d->moved[slot];
    brush_chunk c;
    plugmc_sums_clear(&c.sums);
    c.overlaps = 0;
    if (old[BRUSH_CHUNK - 1].species == old[0].species) { /* numbered species by species */
        const plugmc_site b = plugmc_site_of_species((int)old[0].species);
#pragma unroll
        for (int q = 0; q < BRUSH_CHUNK; q++)
            brush_add_pair(&c, i, (mask >> q & 1 ? moved : old) + q, b);
    } else {
#pragma unroll 1
        for (int q = 0; q < BRUSH_CHUNK; q++)
            brush_add_pair(&c, i, (mask >> q & 1 ? moved : old) + q,
                           plugmc_site_of_species((int)old[q].species));
    }
    long long fixed = brush_fixed(s, place, brush_total(&c.sums, i), &c.overlaps);
    *overlaps |= c.overlaps;
    return fixed;
}

/* Terms of row r for the rows behind the next one, up to where the workers take over: one thread a
 * particle and chunk. */
PLUGMC_FN void brush_spread_far(const brush_state *s, brush_desk *d, int w, int r, int thread)
{
    const int chunks = BRUSH_ROW / BRUSH_CHUNK, begin = (r + 2) * BRUSH_ROW;
    const int end = (r / BRUSH_ROWS + 1 + BRUSH_LAG) * BRUSH_PANEL;
    const int i = begin + thread / chunks, slot = brush_slot(i);
    const int j0 = r * BRUSH_ROW + thread % chunks * BRUSH_CHUNK;
    long long sum = 0;
    int overlaps = 0;
    if (i >= end) return; /* whole warps */
    if (i < s->particles) {
        const brush_probe probe = brush_probe_at(s, d, w, slot);
        sum = brush_decided_sum(s, d, (size_t)w * s->padded + i, &probe, brush_slot(j0),
                                d->verdict[r % 2].accepted >> (j0 % BRUSH_ROW), &overlaps);
    }
    /* the chunks of one particle lie in neighbouring lanes */
#pragma unroll
    for (int step = 1; step < chunks; step *= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
        overlaps |= __shfl_xor_sync(0xffffffffu, overlaps, step);
    }
    if (thread % chunks) return;
    d->sum[slot] += sum;
    if (overlaps) atomicOr(&d->hit[slot], 1);
}

/* ---- Outcomes ---- */

PLUGMC_FN brush_outcome *brush_outcomes_of(const brush_state *s, int w, int r)
{
    const size_t rows = (size_t)s->panels * (BRUSH_PANEL / BRUSH_ROW);
    return s->outcome + ((size_t)w * rows + r) * BRUSH_OUTCOMES;
}

/* The pair of i with j, if there are both. */
PLUGMC_FN brush_outcome brush_outcome_of(const brush_state *s, int w, int i, int j)
{
    const brush_outcome none = {0, 0};
    if (j >= i || i >= s->particles) return none;
    const size_t base = (size_t)w * s->padded;
    brush_probe probe;
    brush_know_walker(s, w, &probe);
    probe.old = s->place[base + i];
    probe.moved = s->moved[base + i];
    probe.site = plugmc_site_of_species((int)probe.old.species);
    const brush_place old = s->place[base + j], moved = s->moved[base + j];
    const plugmc_site b = plugmc_site_of_species((int)old.species);
    const brush_outcome both = {brush_pair_change(&probe, &old, b),
                                brush_pair_change(&probe, &moved, b)};
    return both;
}

/* Before a sweep: what each decision of a row would change for the particles after it in the row and for those of the
 * next one. A block a row, of BRUSH_ROW * BRUSH_ROW / BRUSH_NEAR threads. */
extern "C" __global__ void __launch_bounds__(BRUSH_OWN_OUTCOMES / BRUSH_NEAR)
    brush_outcomes(brush_state s)
{
    const int parts = BRUSH_ROW / BRUSH_NEAR, r = (int)blockIdx.x, w = (int)blockIdx.y;
    const int first = r * BRUSH_ROW, thread = (int)threadIdx.x;
    brush_outcome *out = brush_outcomes_of(&s, w, r);
    for (int at = thread; at < BRUSH_OWN_OUTCOMES; at += blockDim.x)
        out[at] = brush_outcome_of(&s, w, first + at % BRUSH_ROW, first + at / BRUSH_ROW);
    brush_cross *cross = (brush_cross *)(out + BRUSH_OWN_OUTCOMES);
#pragma unroll
    for (int k = 0; k < BRUSH_NEAR; k++)
        cross[thread].of[k] = brush_outcome_of(&s, w, first + BRUSH_ROW + thread / parts,
                                               first + thread % parts * BRUSH_NEAR + k);
}

/* Those of row r for itself into shared memory; some threads of the block share it. */
PLUGMC_FN void brush_fetch_own(const brush_state *s, brush_desk *d, int w, int r, int thread,
                               int threads)
{
    const float4 *from = (const float4 *)brush_outcomes_of(s, w, r);
    float4 *to = (float4 *)&d->outcome[r % 2][0][0];
    const int many = (int)(sizeof d->outcome[0] / sizeof *to);
    for (int at = thread; at < many; at += threads) to[at] = from[at];
}

/* Those of row r for the next one. */
PLUGMC_FN void brush_fetch_cross(const brush_state *s, int w, int r, int thread, brush_cross *out)
{
    *out = ((const brush_cross *)(brush_outcomes_of(s, w, r) + BRUSH_OWN_OUTCOMES))[thread];
}

/* ---- Those who deal with the rest of the world ---- */

/* Places, trial moves and thresholds of panel g into the ring: one thread a particle. */
PLUGMC_FN void brush_fetch(const brush_state *s, brush_desk *d, int w, int g, int thread)
{
    if (g >= s->panels || thread >= BRUSH_PANEL) return;
    const size_t at = (size_t)w * s->padded + (size_t)g * BRUSH_PANEL + thread;
    const int slot = brush_slot(g * BRUSH_PANEL + thread);
    d->old[slot] = s->place[at];
    d->moved[slot] = s->moved[at];
    d->trial[slot] = s->trial[at];
    d->sum[slot] = 0;
    d->hit[slot] = 0;
}

/* The workers' sums of panel g, as soon as they are complete: one thread a particle. */
PLUGMC_FN void brush_collect(const brush_state *s, brush_desk *d, int w, int g, int thread)
{
    if (g >= s->panels || thread >= BRUSH_PANEL) return;
    const size_t at = (size_t)w * s->padded + (size_t)g * BRUSH_PANEL + thread;
    const int slot = brush_slot(g * BRUSH_PANEL + thread);
    int hit;
    d->bulk[slot] = brush_await_sum(s, w, g, at, &hit);
    if (hit) atomicOr(&d->hit[slot], 1);
}

/* Row r's new places, for the workers; behind the last row of a panel also that it is decided. One
 * warp calls it, after the block has seen the decisions. */
PLUGMC_FN void brush_publish(const brush_state *s, const brush_desk *d, int w, int r, int lane)
{
    const int i = r * BRUSH_ROW + lane;
    if (d->verdict[r % 2].accepted >> lane & 1)
        brush_put(s, (size_t)w * s->padded + i, d->moved[brush_slot(i)]);
    if ((r + 1) % BRUSH_ROWS) return;
    __syncwarp();
    brush_tell(s, w, (unsigned)(r + 1) / BRUSH_ROWS, lane);
}

/* While row r is decided. In a short panel some threads fetch while others collect. */
PLUGMC_FN void brush_world(const brush_state *s, brush_desk *d, int w, int r, int thread)
{
    const int last = 32 * BRUSH_WORLD_WARPS - 1, g = r / BRUSH_ROWS;
    if (r > 0 && thread < 32) brush_publish(s, d, w, r - 1, thread);
    if (r % BRUSH_ROWS == 1) brush_fetch(s, d, w, g + 1 + BRUSH_LAG, thread);
    if (r % BRUSH_ROWS == BRUSH_ROWS - 1) brush_collect(s, d, w, g + 1, last - thread);
}

/* ---- All together ---- */

/* What the block does from the decisions of row r - 1 to those of row r. */
PLUGMC_FN void brush_row(const brush_state *s, brush_desk *d, int w, int r, brush_cross *cross,
                         brush_margin *own, long long *energy, unsigned *accepted)
{
    const int warp = threadIdx.x / 32, rows = s->panels * BRUSH_ROWS;
    if (warp == 0) {
        *energy += brush_gain(own); /* of the row before */
        *accepted += own->margin < 0;
        brush_decide(s, d, w, r, own);
    } else if (warp < BRUSH_FIRST_FAR) {
        if (r > 0) brush_spread_near(d, r - 1, threadIdx.x - 32, cross);
        brush_meet();
        if (r + 1 < rows) brush_fetch_cross(s, w, r, threadIdx.x - 32, cross);
    } else if (warp < BRUSH_FIRST_FETCHING) {
        if (r > 0) brush_spread_far(s, d, w, r - 1, threadIdx.x - 32 * BRUSH_FIRST_FAR);
    } else if (warp < BRUSH_FIRST_WORLD) {
        if (r + 1 < rows)
            brush_fetch_own(s, d, w, r + 1, threadIdx.x - 32 * BRUSH_FIRST_FETCHING,
                            32 * (BRUSH_FIRST_WORLD - BRUSH_FIRST_FETCHING));
    } else {
        brush_world(s, d, w, r, threadIdx.x - 32 * BRUSH_FIRST_WORLD);
    }
}

PLUGMC_FN void brush_decider(const brush_state *s, int w, brush_desk *d)
{
    const int rows = s->panels * BRUSH_ROWS, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned accepted = 0;
    long long energy = 0;
    brush_cross cross;
    brush_margin own = {1, 0};
    for (int g = 0; g <= BRUSH_LAG; g++) brush_fetch(s, d, w, g, threadIdx.x);
    if (warp == 0) d->near[lane] = 0;
    __syncthreads();
    brush_fetch_own(s, d, w, 0, threadIdx.x, BRUSH_BLOCK);
    brush_collect(s, d, w, 0, threadIdx.x);
    __syncthreads();
    for (int r = 0; r < rows; r++) {
        brush_row(s, d, w, r, &cross, &own, &energy, &accepted);
        __syncthreads(); /* what a row writes the next one reads: docs/brush.md has the list */
    }
    if (warp > 0) return;
    brush_publish(s, d, w, rows - 1, lane);
    energy += brush_gain(&own);
    accepted += own.margin < 0;
    for (int step = 16; step; step /= 2) {
        energy += __shfl_xor_sync(0xffffffffu, energy, step);
        accepted += __shfl_xor_sync(0xffffffffu, accepted, step);
    }
    if (lane > 0) return;
    atomicAdd(&s->accepted[w], (unsigned long long)accepted);
    s->energy[w] += energy;
    if (w == 0) *s->sweep += 1;
#if BRUSH_PARTS > 1
    brush_tell_end(s, energy);
#endif
}

extern "C" __global__ void __launch_bounds__(BRUSH_BLOCK, 1) brush_sweep(brush_state s)
{
    extern __shared__ __align__(32) unsigned char memory[];
    __shared__ unsigned shared;
    if (s.failed[1]) return;
    if (threadIdx.x == 0) shared = atomicAdd(s.role, 1u);
    __syncthreads();
    const unsigned role = shared;
    __syncthreads();
    const int w = (int)(role / (unsigned)s.blocks);
    brush_place *tile = (brush_place *)memory;
#if BRUSH_PARTS > 1
    if (role == 0 && s.part > 0) {
        brush_hear_end(&s);
        return;
    }
#endif
    if (role % (unsigned)s.blocks == 0)
        brush_decider(&s, w, (brush_desk *)memory);
    else
        brush_work(&s, w, tile, &shared);
}
