/* sums: the energy of each term in each walker, added up anew in double precision, for the observables that make
 * something of it.
 *
 * A term's energy is that of its total facet where that stands for the whole configuration; else the sum of its
 * pair energies, over cells where its range is finite and over all pairs where it is not, and of
 * its one-body energies. A hard core has no energy, so hard particles give 0; whether they
 * overlap is not asked here. Sums run in a fixed order: the same for any number of threads.
 *
 * In a run on a GPU the sums over pairs are made there (energy.cu): over all of them if a pair energy has no range or the
 * box no cells, or particles are few, else over cells. Fields, bodies and the pairs of an oblique box with many particles are
 * added up on the host, as is everything where several processes have a share of a walker. */
#ifndef PLUGMC_ENERGY_SUMS_H
#define PLUGMC_ENERGY_SUMS_H

#include "../pair_sums.h"

/* What the sums over pairs on a GPU need. */
typedef struct pair_sums {
    plugmc_kernel *kernel; /* NULL: they are not made there */
    plugmc_device_pointer species, sums;
    int32_t terms; /* pair terms with an energy, as the kernel counts them */
    int in_cells;  /* 0: over all pairs */
    uint32_t tiles, parts;
    double *host; /* [walkers][terms][parts][tiles] */
} pair_sums;

typedef struct energy {
    const plugmc_system *system;
    int32_t terms; /* of the system that have an energy */
    int32_t *term; /* [terms] their number in the system */
    char **names;  /* [terms] "energy_LABEL" */
    sorted_particles sorted;
    sorted_ranks ranks;         /* where there are rigid molecules */
    double *share;              /* [particles] energy of a particle with those after it */
    plugmc_orientation *turned; /* [particles] of bodies, as `sorted` */
    pair_sums pairs;
    plugmc_device_pointer totals; /* [walkers] energies of total facets */
    double *positions;            /* [walkers][particles][3]: from a GPU, for the host */
} energy;

/* In prepare of an observable; refused where no potential has an energy. */
int energy_sums_prepare(energy *, const plugmc_host *);
/* values [walkers][terms], energy: each term of each walker, without couplings. */
int energy_sums_measure(energy *, const plugmc_host *, const plugmc_view *, double *values);
/* plugmc_measures_shares.reach: the longest range, where all energies are sums over pairs in cells. */
double energy_sums_reach(const energy *);
/* gpu_source of an observable: the one text behind these sums is number 0. */
int energy_sums_gpu_source(const plugmc_host *, int index, plugmc_gpu_source *out);

#endif
