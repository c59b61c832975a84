/* A system with a mover, on the CPU or on the GPU, for tests that compare the two. Include after
 * testing.h. */
#ifndef PLUGMC_PLACE_H
#define PLUGMC_PLACE_H

#include "own_state.h"
#include "movers.h"
#include "forces.h"
#include "on_gpu.h"

typedef struct place {
    bench b;
    test_mover mover;
    int on_gpu;
} place;

/* The bench's own host makes parameters; from here on the core's does the rest: with a GPU, and
 * with cells for the potentials. */
static inline void onto_core(bench *b, int on_gpu)
{
    b->context = (plugmc_context){.report = &device_messages,
                                  .gpu = on_gpu ? device : NULL,
                                  .file = "test",
                                  .section = "test"};
    if (on_gpu) gpu_bind(device, &b->system, &device_messages);
    b->host = context_host(&b->context, &b->system);
    own_state(&b->context, &b->host);
    for (int t = 0; t < b->system.term_count; t++) b->terms[t].host = &b->host;
}

/* A mover with its parameters, on the core's host, not prepared yet. */
static inline void place_mover(place *p, const char *mover, const char *settings, int on_gpu)
{
    bench *b = &p->b;
    p->mover = (test_mover){.plugin = open_plugin(mover)};
    p->mover.calls = p->mover.plugin->mover;
    p->mover.instance = bench_allocate(b->host.context, p->mover.plugin->instance_size);
    set_all(b, p->mover.plugin, p->mover.instance, settings);
    p->on_gpu = on_gpu;
    onto_core(b, on_gpu);
}

/* A mover over the potentials that are there, all prepared, at these positions. */
static inline void start(place *p, const char *mover, const char *settings, int on_gpu,
                         const double *positions)
{
    bench *b = &p->b;
    place_mover(p, mover, settings, on_gpu);
    bench_expect(b, bench_prepare(b));
    bench_expect(b, mover_prepare(b, &p->mover));
    mover_load(b, &p->mover, positions);
}

static inline void finish(place *p)
{
    bench *b = &p->b;
    mover_end(&p->mover);
    for (int t = 0; t < b->system.term_count; t++)
        if (b->terms[t].plugin->release) b->terms[t].plugin->release(b->terms[t].instance);
    context_release(&b->context);
    bench_end(b);
}

static inline size_t count_of(const bench *b)
{
    return (size_t)(3 * b->system.particles * b->system.walkers);
}

/* positions [walkers][particles][3] */
static inline void fetch(place *p, double *positions)
{
    const size_t bytes = count_of(&p->b) * sizeof(double);
    const plugmc_gpu *services = p->b.host.gpu;
    plugmc_device_pointer at;
    if (!p->on_gpu) {
        mover_store(&p->b, &p->mover, positions);
        return;
    }
    assert_int_equal(services->allocate(p->b.host.context, bytes, &at), PLUGMC_OK);
    bench_expect(&p->b, mover_give(&p->mover, &p->b.host, (double *)(uintptr_t)at));
    assert_int_equal(services->download(p->b.host.context, positions, at, bytes), PLUGMC_OK);
    assert_int_equal(services->release(p->b.host.context, at), PLUGMC_OK);
}

static inline void synchronize(place *p)
{
    if (p->on_gpu) assert_int_equal(p->b.host.gpu->synchronize(p->b.host.context), PLUGMC_OK);
}

static inline plugmc_counts counts_of(place *p)
{
    plugmc_counts counts;
    bench_expect(&p->b, mover_counts(&p->mover, &p->b.host, &counts, 0));
    return counts;
}

#endif
