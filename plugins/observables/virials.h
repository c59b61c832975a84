/* virials: -sum over particles of r_d du/dr_d of all sampled potentials, each times its coupling, for the observables
 * that make a pressure of it; where pair energies jump, the part of the jumps too (pair_jumps.h). In a run on a GPU pairs are summed there, in double precision too, and so are the
 * sums over whole configurations that can be; positions come to the host only for those that cannot.
 * Sums run in a fixed order: the same for any number of threads.
 *
 * Rigid molecules follow a box with their first sites R alone. With the offset d = r - R of a site and the force f on it the
 * virial is then less by sum d f, where pairs within molecules have no force: that of molecules,
 * -sum R dU/dR (M. P. Allen, D. J. Tildesley, Computer Simulation of Liquids, section 2.4). */
#ifndef PLUGMC_VIRIALS_H
#define PLUGMC_VIRIALS_H

#include <plugmc/everything.h>

#include "pair_jumps.h"
#include "pair_sums.h"

/* What the sums over pairs on a GPU need. */
typedef struct pair_virials {
    plugmc_kernel *kernel;               /* NULL: they are not made there */
    plugmc_device_pointer species, sums; /* [particles] uint16_t; as `host` */
    uint32_t blocks;
    double range;               /* length, of all pairs */
    double *host;               /* [walkers][blocks][3] kT */
    plugmc_kernel *jump_kernel; /* NULL: no energy jumps, or the host does it */
    plugmc_device_pointer jump_lists, jumps;
} pair_virials;

typedef struct virials {
    const plugmc_system *system;
    int pair_count, total_count;
    int32_t *pairs, *totals; /* their numbers among the terms of the system */
    sorted_particles sorted;
    sorted_ranks ranks; /* where there are rigid molecules */
    double (*offset)
        [3]; /* [particles] of the walker at hand, as they are numbered; NULL: no molecules */
    double *forces;      /* [walkers][particles][3] of one total; likewise */
    double (*share)[3];  /* [particles] kT: virial of a particle's pairs with those after it */
    double (*virial)[3]; /* [walkers] kT: the result */
    double (*own)[3];    /* [walkers] kT: of one total, without its coupling */
    pair_jumps jumps;
    double *jump; /* [walkers] kT: part of the jumps in the sum of the virial over directions */

    pair_virials device_pairs;
    plugmc_device_pointer found; /* [walkers][3] kT: virials of sums that are made on the GPU */
    double *positions;           /* [walkers][particles][3]: from a GPU, for the host */
} virials;

/* In prepare of an observable. Hard cores have no virial: they are refused, as what is measured by
 * hard_pressure, or passed over if `with_cores`. So is all else that gives no forces. fit_range and degree are those of
 * pair_jumps_prepare. */
int virials_prepare(virials *, const plugmc_host *, int with_cores, double fit_range,
                    int64_t degree);

/* Finds v->virial of a configuration. */
int virials_measure(virials *, const plugmc_host *, const plugmc_view *);
/* gpu_source of an observable: the one text behind these sums is number 0. */
int virials_gpu_source(const plugmc_host *, int index, plugmc_gpu_source *out);

#endif
