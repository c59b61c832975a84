/* Movers of the sequential Metropolis sweep on a GPU, for tests. Include after brush.h. */
#ifndef PLUGMC_TEST_BRUSH_GPU_H
#define PLUGMC_TEST_BRUSH_GPU_H

#include "place.h"

static inline size_t bytes_of(const bench *b) { return count_of(b) * sizeof(double); }

/* A mover over the potentials that are there, which have no preparation. */
static inline void start_mover(place *p, const char *mover, const char *precision, double step)
{
    char settings[128];
    snprintf(settings, sizeof settings, "precision=%s step=%.17g refresh=0", precision, step);
    place_mover(p, mover, settings, 1);
    bench_expect(&p->b, mover_prepare(&p->b, &p->mover));
}

static inline void start_electrolyte(place *p, const electrolyte *e, int walkers, const char *mover,
                                     const char *precision, double step)
{
    electrolyte_begin(&p->b, e, walkers, 2);
    start_mover(p, mover, precision, step);
}

static inline void energy_of(place *p, double *energy)
{
    bench_expect(&p->b,
                 p->mover.calls->driver->running_energy(p->mover.instance, &p->b.host, energy));
}

#endif
