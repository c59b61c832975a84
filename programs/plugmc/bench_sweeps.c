/* `plugmc bench`, time = sweeps: how long the sweeps of a mover take. */
#include <math.h>

#include "bench.h"
#include "engine/moves.h"
#include "initial/initial.h"

/* Seconds that a sweep of this many particles in this many walkers will take, by the last two cases. Work grows no
 * faster than the number of pairs, and with the number of walkers. 0: not known. */
static double expected(const subject *s, double particles, double walkers)
{
    double power = 2;
    if (s->done[0].seconds <= 0) return 0;
    if (s->done[1].seconds > 0 && s->done[0].particles > s->done[1].particles)
        power = log(s->done[0].seconds / s->done[1].seconds) /
                log(s->done[0].particles / s->done[1].particles);
    return s->done[0].seconds * walkers *
           pow(particles / s->done[0].particles, power < 2 ? power : 2);
}

static int sweep(void *what, uint64_t first, uint64_t n)
{
    return engine_sweep(what, first, n, true);
}

static int clear_counts(void *what) { return moves_clear(what); }

/* Of all moves and rungs. */
static int counts_of(session *session, plugmc_counts *all)
{
    const int code = moves_refresh(&session->engine);
    for (int k = 0; k < session->records.output.move_count; k++)
        for (int32_t r = 0; r < session->records.output.moves[k].rungs; r++) {
            all->trials += session->records.output.moves[k].counts[r].trials;
            all->accepted += session->records.output.moves[k].counts[r].accepted;
        }
    return code;
}

static int time_sweeps(session *session, const bench_section *bench, timing *t)
{
    plugmc_counts counts = {0, 0};
    bench_clock clock = {.next = 1, .ready = clear_counts};
    int code = bench_measure(bench, t->first, sweep, session, &clock);
    if (!code) code = counts_of(session, &counts);
    t->calls = clock.calls;
    t->repeat = clock.repeat;
    t->seconds = clock.seconds;
    t->spread = clock.spread;
    t->trials = (double)counts.trials / (double)clock.timed / t->seconds;
    t->acceptance = counts.trials ? (double)counts.accepted / (double)counts.trials : 0;
    return code ? code
                : bench_profile(bench, session->engine.device.gpu, sweep, session, &clock, t);
}

/* Times one mover in one case, unless a sweep would take longer than there is time. */
int bench_time_mover(const benchmark *b, const bench_case *c, subject *s, timing *t)
{
    session session = {.engine.report = b->report};
    bench_section section;
    const double begin = bench_now();
    int code = bench_configure(b, c, s, &section, &session.engine.config);
    if (!code) code = session_open(&session);
    t->particles = (long long)session.engine.system.particles;
    t->walkers = session.engine.system.walkers;
    const double particles = (double)t->particles, walkers = t->walkers,
                 seconds = expected(s, particles, walkers);
    const bool too_long = !code && section.limit > 0 && seconds > section.limit;
    if (too_long) {
        t->too_long = seconds;
    } else {
        if (!code) code = session_prepare(&session);
        t->prepare = bench_now() - begin;
        t->on_gpu = session.engine.device.gpu != NULL;
        if (!code) code = initial_begin(&session.engine);
        const double started = bench_now();
        if (!code) code = engine_sweep(&session.engine, 0, 1, true);
        t->first = bench_now() - started;
        if (!code) code = time_sweeps(&session, &section, t);
        s->done[1] = s->done[0];
        s->done[0].particles = particles;
        s->done[0].seconds = t->seconds / walkers;
    }
    session_close(&session);
    return code;
}
