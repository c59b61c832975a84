/* Liquids of two species for the tests of hmc, in boxes of many shapes. Include after forces.h. */
#ifndef PLUGMC_TEST_LIQUIDS_H
#define PLUGMC_TEST_LIQUIDS_H

typedef struct shape {
    const char *name;
    int dimension, side, walkers; /* side: particles along an edge */
    double vector[3][3];          /* lattice vectors */
} shape;

/* Two species, as many of each, one twice as heavy. */
static inline void bench_liquid(bench *b, const shape *s)
{
    static const double masses[2] = {1, 2};
    bench_begin(b, s->dimension, (double[3]){1, 1, 1}, s->walkers, 11);
    bench_vectors(b, s->vector);
    const int n = s->dimension == 3 ? s->side * s->side * s->side : s->side * s->side;
    bench_species(b, "A", n / 2, 1, 0);
    bench_species(b, "B", n - n / 2, 1, 0);
    bench_masses(b, masses);
}

#endif
