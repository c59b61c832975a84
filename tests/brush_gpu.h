/* A mover of the sequential Metropolis sweep on a GPU, for tests. Include after brush.h and
 * run/context.h. */
#ifndef PLUGMC_TEST_BRUSH_GPU_H
#define PLUGMC_TEST_BRUSH_GPU_H

#include "on_gpu.h"

typedef struct place {
    bench b;
    plugmc_context context;
    test_mover mover;
    plugmc_device_pointer positions;
} place;

static inline size_t bytes_of(const bench *b)
{
    return (size_t)(3 * b->system.particles * b->system.walkers) * sizeof(double);
}

/* The bench's own host makes the parameters; from here on the core's does the rest, on the GPU. */
static inline void start_mover(place *p, const char *mover, const char *precision, double step)
{
    char settings[128];
    bench *b = &p->b;
    p->mover.plugin = open_plugin(mover);
    p->mover.calls = p->mover.plugin->mover;
    p->mover.instance = bench_allocate(b->host.context, p->mover.plugin->instance_size);
    snprintf(settings, sizeof settings, "precision=%s step=%.17g refresh=0", precision, step);
    set_parameters(p->mover.plugin, p->mover.instance, settings);
    p->context =
        (plugmc_context){.report = &messages, .gpu = device, .file = "test", .section = "test"};
    gpu_bind(device, &b->system, &messages);
    b->host = context_host(&p->context, &b->system);
    for (int t = 0; t < b->system.term_count; t++) b->terms[t].host = &b->host;
    bench_expect(b, p->mover.plugin->prepare(p->mover.instance, &b->host));
}

static inline void start(place *p, const electrolyte *e, int walkers, const char *mover,
                  const char *precision, double step)
{
    bench *b = &p->b;
    electrolyte_begin(b, e, walkers, 2);
    start_mover(p, mover, precision, step);
    assert_int_equal(b->host.gpu->allocate(b->host.context, bytes_of(b), &p->positions), PLUGMC_OK);
}

static inline void finish(place *p)
{
    assert_int_equal(p->b.host.gpu->release(p->b.host.context, p->positions), PLUGMC_OK);
    context_release(&p->context);
    electrolyte_end(&p->b);
}

static inline void fetch(place *p, double *positions)
{
    const plugmc_host *host = &p->b.host;
    bench_expect(&p->b,
                 p->mover.calls->store(p->mover.instance, host, (double *)(uintptr_t)p->positions));
    assert_int_equal(host->gpu->download(host->context, positions, p->positions, bytes_of(&p->b)),
                     PLUGMC_OK);
}

static inline plugmc_counts counts_of(place *p)
{
    plugmc_counts counts;
    bench_expect(&p->b, p->mover.calls->counts(p->mover.instance, &p->b.host, &counts, 1));
    return counts;
}

static inline void energy_of(place *p, double *energy)
{
    bench_expect(&p->b, p->mover.calls->running_energy(p->mover.instance, &p->b.host, energy));
}

#endif
