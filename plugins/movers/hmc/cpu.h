/* What the parts of hmc on the CPU share. cpu.c makes trajectories; forces of pairs come from lists.c and
 * list_forces.c, each pair once, or from cells.c, each pair twice, where lists do not serve. */
#ifndef PLUGMC_HMC_CPU_H
#define PLUGMC_HMC_CPU_H

#include "hmc.h"

typedef struct hmc_cell_forces hmc_cell_forces;
typedef struct hmc_lists hmc_lists;

struct hmc_cpu {
    int32_t threads;
    int32_t *species;       /* [particles] */
    hmc_lists *lists;       /* one of the two */
    hmc_cell_forces *cells; /* */

    uint64_t *place, *place_before,
        *place_checked; /* [walkers][particles][3], units of integers.h */
    int64_t *momentum, *momentum_checked;
    double *force, *force_before, *force_checked; /* kT/length */
    double *positions;                            /* length */
    double *own_force,
        *own_energy;     /* of one total, as force and potential; NULL where all count by 1 */
    double *share;       /* [walkers][particles] kT: of the energy, but for that in pair_energy */
    double *pair_energy; /* [walkers] kT: of pairs in lists */
    double *potential;   /* [walkers] kT, of where the particles are */
    double *kinetic;     /* [walkers] kT, at the start of a trajectory */
    int lost;            /* a force or an energy is not a number where the particles are */
    hmc_state *state;    /* [walkers] */
};

/* Zeroed memory for the length of the run; *code becomes an error if there is none, and stays one. */
void *hmc_cpu_take(const plugmc_host *, size_t numbers, size_t each, int *code);

/* Of a term, by what it counts in this walker. Where that is 0 it may be infinite. */
void hmc_cpu_add_weighted(const hmc *, int32_t walker, const plugmc_term *,
                          const plugmc_derivatives *one, plugmc_derivatives *sum);
/* Adds the fields of a particle; returns whether its position is forbidden. */
int hmc_cpu_add_fields(const hmc *, int32_t walker, const plugmc_particle *,
                       plugmc_derivatives *sum);

/* Forces of pairs and fields to force, their energies to share and pair_energy; all walkers, from positions. */
int hmc_cells_prepare(hmc *, const plugmc_host *);
void hmc_cells_boxes(hmc *); /* h->box has changed */
void hmc_cells_forces(hmc *);

/* The same by lists. They serve rectangular boxes and pairs of finite range whose potentials have `slopes`. */
int hmc_lists_serve(const hmc *);
int hmc_lists_prepare(hmc *, const plugmc_host *);
void hmc_lists_boxes(hmc *);
int hmc_lists_forces(hmc *, const plugmc_host *, int with_energy);

#endif
