/* shares.cu: how blocks tell each other what is done, on one GPU and on several; its text stands between pairs.cu and
 * brush.cu.
 *
 * Several GPUs of a host sweep one walker together (BRUSH_PARTS), each by a kernel of its own that runs at the same
 * time. All hold all places. Tasks are dealt out to the workers of all in turn (dealing.h). Part 0 has the decider; on
 * each other GPU one block waits in its place for the end of the sweep.
 *
 * - Whoever finishes the last task that a part has of a panel writes the sums of the part into the memory of part 0, and
 *   behind them (brush_mail) the number of the sweep. Sums are integers, so it does not matter who has added what.
 * - The decider writes each place that changes into the memory of all parts, and behind the last of a panel how many
 *   panels are decided (brush_news). So a task waits on its own GPU.
 *
 * No number is ever taken back: sweeps are counted on, and panels over all sweeps. So nothing has to be cleared while
 * another GPU may write it. A GPU begins with a sweep when it has all places of the one before; its mail of one
 * sweep has been read by then, and nobody decides anything of the next one before all have sent theirs.
 *
 * Where a process is gone, its kernel is, too. Whoever waits for tens of milliseconds looks at a word of the host that
 * says so; sooner would be no good, since all blocks of all GPUs that wait would read it over one bus. Then nobody waits
 * any longer; the kernel ends soon, and nobody looks at what it has made.
 */

/* ---- Memory that other blocks write ---------------------------------------------------------- */

/* Past the first-level cache, which does not see what other blocks have written. */
PLUGMC_FN brush_place brush_read_place(const brush_place *from)
{
    brush_place p;
#ifdef BRUSH_DOUBLE
    asm volatile("ld.global.cg.v2.f64 {%0, %1}, [%2];"
                 : "=d"(p.x), "=d"(p.y)
                 : "l"(from)
                 : "memory");
    asm volatile("ld.global.cg.v2.f64 {%0, %1}, [%2 + 16];"
                 : "=d"(p.z), "=d"(p.species)
                 : "l"(from)
                 : "memory");
#else
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(p.x), "=f"(p.y), "=f"(p.z), "=f"(p.species)
                 : "l"(from)
                 : "memory");
#endif
    return p;
}

/* Counters. What was written before one is released is seen by whoever acquires it; of a block's
 * other threads, what a barrier has ordered before or after. */
PLUGMC_FN unsigned brush_acquire(const unsigned *from)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

PLUGMC_FN void brush_release(unsigned *to, unsigned value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

PLUGMC_FN void brush_release_one_more(unsigned *to)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(to) : "memory");
}

#if BRUSH_PARTS > 1

/* ---- On several GPUs --------------------------------------------------------------------------- */

#define BRUSH_TRIES 64         /* between two looks at what is known here */
#define BRUSH_HOST_TRIES 65536 /* and at memory of the host: tens of ms, by estimate */
static_assert(BRUSH_PARTS <= 32, "a lane of a warp tells a part");

PLUGMC_FN unsigned long long brush_acquire_from_afar(const unsigned long long *from)
{
    unsigned long long value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}

PLUGMC_FN void brush_release_afar(unsigned long long *to, unsigned long long value)
{
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

/* The one that finds a task finished which others have worked at, too: what these wrote it sees. */
PLUGMC_FN unsigned brush_one_more(unsigned *to)
{
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                 : "=r"(before)
                 : "l"(to)
                 : "memory");
    return before + 1;
}

/* After so many looks in vain: whether a process is gone. */
PLUGMC_FN bool brush_is_lost(const brush_state *s, unsigned tries)
{
    if (tries % BRUSH_TRIES) return false;
    if (tries % BRUSH_HOST_TRIES == 0 && *(const volatile unsigned *)s->lost)
        *(volatile int *)s->gone = 1;
    return *(volatile int *)s->gone;
}

/* brush_news.decided when so many panels of this sweep are decided; one more than there are: all is told. */
PLUGMC_FN unsigned long long brush_stamp(const brush_state *s, unsigned panels)
{
    return *s->turn * (unsigned)(s->panels + 2) + panels;
}

/* One thread. */
PLUGMC_FN void brush_hear(const brush_state *s, unsigned panels)
{
    const unsigned long long least = brush_stamp(s, panels);
    unsigned tries = 0;
    while (brush_acquire_from_afar(&s->news[s->part]->decided) < least &&
           !brush_is_lost(s, ++tries))
        __nanosleep(20);
}

PLUGMC_FN void brush_wait_for(const brush_state *s, int w, unsigned panels)
{
    if (threadIdx.x == 0) brush_hear(s, panels);
    __syncthreads();
}

PLUGMC_FN unsigned brush_next(const brush_state *s, int w)
{
    const unsigned ticket = atomicAdd(s->ticket, 1u);
    return *(volatile int *)s->gone ? ~0u : brush_dealt(ticket, s->part, BRUSH_PARTS);
}

/* How many tasks of panel g this part has: one at least, since brush.c asks for enough. */
PLUGMC_FN unsigned brush_own_tasks(const brush_state *s, int g)
{
    const unsigned tasks = (unsigned)s->intervals + 2, first = (unsigned)g * tasks;
    return brush_dealt_below(first + tasks, s->part, BRUSH_PARTS) -
           brush_dealt_below(first, s->part, BRUSH_PARTS);
}

/* This part's sums of panel g to the decider, by the block that has finished the last task of them. */
PLUGMC_FN void brush_send(const brush_state *s, int g)
{
    const size_t at = (size_t)g * BRUSH_PANEL + threadIdx.x,
                 there = (size_t)s->part * s->padded + at;
    if (threadIdx.x < BRUSH_PANEL) {
        s->mail_sum[there] = *(volatile long long *)&s->sum[at];
        s->mail_hit[there] = *(volatile int *)&s->hit[at];
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    brush_mail *mail = &s->mail[(size_t)s->part * s->panels + g];
    mail->failed = *(volatile unsigned long long *)s->failed;
    brush_release_afar(&mail->turn, *s->turn);
}

/* A block has added what a task of panel g has to add. */
PLUGMC_FN void brush_finish(const brush_state *s, int w, int g)
{
    __shared__ bool was_last;
    __syncthreads();
    if (threadIdx.x == 0) was_last = brush_one_more(&s->done[g]) == brush_own_tasks(s, g);
    __syncthreads();
    if (was_last && s->part > 0) brush_send(s, g);
}

/* What the workers of all parts have for the particle at `at` of panel g, once it is complete; *hit: whether it overlaps
 * with one of theirs. */
PLUGMC_FN long long brush_await_sum(const brush_state *s, int w, int g, size_t at, int *hit)
{
    unsigned tries = 0;
    while (brush_acquire(&s->done[g]) < brush_own_tasks(s, g) && !brush_is_lost(s, ++tries)) {}
    long long sum = *(volatile long long *)&s->sum[at];
    *hit = *(volatile int *)&s->hit[at];
#pragma unroll 1
    for (int part = 1; part < BRUSH_PARTS; part++) {
        const brush_mail *mail = &s->mail[(size_t)part * s->panels + g];
        const size_t there = (size_t)part * s->padded + at;
        while (brush_acquire_from_afar(&mail->turn) < *s->turn && !brush_is_lost(s, ++tries)) {}
        sum += *(volatile long long *)&s->mail_sum[there];
        *hit |= *(volatile int *)&s->mail_hit[there];
        const unsigned long long failed = *(const volatile unsigned long long *)&mail->failed;
        if (failed) atomicMax(s->failed, failed);
    }
    return sum;
}

/* The decider: a place that has changed. */
PLUGMC_FN void brush_put(const brush_state *s, size_t at, brush_place place)
{
#pragma unroll
    for (int part = 0; part < BRUSH_PARTS; part++) s->places[part][at] = place;
}

/* The decider: so many panels are decided, whose places a warp has put before. */
PLUGMC_FN void brush_tell(const brush_state *s, int w, unsigned panels, int lane)
{
    if (lane < BRUSH_PARTS) brush_release_afar(&s->news[lane]->decided, brush_stamp(s, panels));
}

/* The decider at the end of a sweep, one thread: what all have to know, so that each holds the system as if it were
 * alone. */
PLUGMC_FN void brush_tell_end(const brush_state *s, long long energy)
{
    for (int part = 1; part < BRUSH_PARTS; part++) {
        s->news[part]->failed = *(volatile unsigned long long *)s->failed;
        s->news[part]->energy = energy;
        brush_release_afar(&s->news[part]->decided, brush_stamp(s, s->panels + 1));
    }
}

/* Elsewhere a block in the decider's stead: the kernel does not end before all places are here. */
PLUGMC_FN void brush_hear_end(const brush_state *s)
{
    if (threadIdx.x > 0) return;
    brush_hear(s, s->panels + 1);
    const brush_news *news = s->news[s->part];
    *s->failed = *(const volatile unsigned long long *)&news->failed;
    *s->energy += *(const volatile long long *)&news->energy;
    *s->sweep += 1;
}

#else

/* ---- On one GPU ---------------------------------------------------------------------------------- */

/* Waits until so many panels are decided; the whole block calls it. */
PLUGMC_FN void brush_wait_for(const brush_state *s, int w, unsigned panels)
{
    if (threadIdx.x == 0)
        while (brush_acquire(&s->decided[w]) < panels) __nanosleep(20);
    __syncthreads();
}

/* The next task, for the block of the thread that asks. */
PLUGMC_FN unsigned brush_next(const brush_state *s, int w) { return atomicAdd(&s->ticket[w], 1u); }

/* A block has added what a task of panel g has to add. */
PLUGMC_FN void brush_finish(const brush_state *s, int w, int g)
{
    __syncthreads();
    if (threadIdx.x == 0) brush_release_one_more(&s->done[(size_t)w * s->panels + g]);
}

/* What the workers have for the particle at `at` of panel g, once it is complete; *hit: whether it overlaps with one of
 * theirs. */
PLUGMC_FN long long brush_await_sum(const brush_state *s, int w, int g, size_t at, int *hit)
{
    while (brush_acquire(&s->done[(size_t)w * s->panels + g]) < (unsigned)s->intervals + 2) {}
    *hit = *(volatile int *)&s->hit[at];
    return *(volatile long long *)&s->sum[at];
}

/* A place that has changed. */
PLUGMC_FN void brush_put(const brush_state *s, size_t at, brush_place place)
{
    s->place[at] = place;
}

/* So many panels are decided, whose places a warp has put before. */
PLUGMC_FN void brush_tell(const brush_state *s, int w, unsigned panels, int lane)
{
    if (lane == 0) brush_release(&s->decided[w], panels);
}

#endif
