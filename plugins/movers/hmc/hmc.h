/* What the parts of hmc share: hmc.c is the mover, cpu.c and gpu.c carry out its trajectories. */
#ifndef PLUGMC_HMC_H
#define PLUGMC_HMC_H

#include <plugmc/everything.h>

/* one after the other */
#include "integers.h"

#include "rigid_step.h"

#include "hmc.cu"

enum { PRECISION_SINGLE, PRECISION_DOUBLE };
enum { HMC_DEFINES = 4 }; /* of a text of kernels */

typedef struct hmc_cpu hmc_cpu;
typedef struct hmc_gpu hmc_gpu;
typedef struct hmc_rigid hmc_rigid;

/* Sampled terms that give energies and forces. */
typedef struct hmc_terms {
    double reach; /* of pairs, length; 0 without any */
    int pair_count, field_count, total_count;
    const plugmc_term **pairs, **fields, **totals;
} hmc_terms;

/* Where walkers are on a ladder, and what goes with it. */
typedef struct hmc_ladder {
    int32_t rungs;
    int by_walker;    /* walkers differ, by a ladder or couplings */
    int32_t *on_rung; /* [walkers] */
    hmc_rung *rung;   /* [walkers] */
    /* [walkers][terms]: what energies count by, coupling; NULL: 1 for all that are sampled */
    double *weight;
    double *step, *largest_step; /* [rungs] time: of the leapfrog, and what tuning may come to */
    plugmc_counts *counted;      /* [rungs]: of walkers that have left the rung since */
} hmc_ladder;

typedef struct hmc {
    /* parameters */
    real time_step, length, target_acceptance; /* time, time, 1 */
    int64_t steps;
    int32_t precision, check_reversal;

    const plugmc_system *system;
    plugmc_seed seed; /* of its random draws */
    int dimension;
    plugmc_box *box; /* [walkers]: as they were taken */
    double *mass;    /* [species] */
    int64_t count;   /* coordinates: 3 walkers particles */
    hmc_terms sampled;
    hmc_ladder ladder;
    const char *text; /* of the kernels; NULL: not joined yet */
    char defined[2][HMC_DEFINES][24];
    const char *defines[2][HMC_DEFINES + 1];
    hmc_rigid *rigid; /* of runs with rigid molecules (rigid.h); else NULL */
    hmc_cpu *cpu;     /* one of the two */
    hmc_gpu *gpu;
} hmc;

/* The box of coordinate number k of [walkers][particles][3]. */
static inline const plugmc_box *hmc_box_of(const hmc *h, int64_t k)
{
    return &h->box[k / (3 * h->system->particles)];
}

/* What term number t counts by in a walker. */
static inline double hmc_weight(const hmc *h, int32_t w, const plugmc_term *term)
{
    if (!h->ladder.weight) return 1;
    const int64_t t = ((const char *)term - (const char *)h->system->terms) / h->system->term_size;
    return h->ladder.weight[w * h->system->term_count + t];
}

/* Of the longest trajectory: at least 1. */
int64_t hmc_most_steps(const hmc *);

/* Longest time step that tuning may come to on a rung, time; pairs and masses are known. */
double hmc_largest_step(const hmc *, int32_t rung);

/* Cells along each edge, a range wide or more; `most` in all. */
void hmc_cells(const hmc *, double range, double most, int32_t count[3]);

/* Says that a force or an energy is not a number where the particles are; returns the code. */
int hmc_lost(const plugmc_host *, uint64_t sweep);

/* The same calls for both. Host arrays: place [walkers][particles][3] and state [walkers] as in
 * hmc.cu. After `load` forces and energies are those of the new positions; `states` with `write`
 * then puts in the energies of a checkpoint. */
int hmc_cpu_prepare(hmc *, const plugmc_host *);
void hmc_cpu_boxes(hmc *); /* h->box has changed; `load` comes next */
int hmc_cpu_load(hmc *, const plugmc_host *, const uint64_t *place); /* NULL: where they are */
int hmc_cpu_sweep(hmc *, const plugmc_host *, uint64_t first, uint64_t n);
int hmc_cpu_store(hmc *, const plugmc_host *, double *positions);
int hmc_cpu_places(hmc *, const plugmc_host *, uint64_t *place);
int hmc_cpu_states(hmc *, const plugmc_host *, hmc_state *, int write);

int hmc_gpu_gpu_source(hmc *, const plugmc_host *, int index, plugmc_gpu_source *);
int hmc_gpu_prepare(hmc *, const plugmc_host *);
int hmc_gpu_boxes(hmc *, const plugmc_host *, const plugmc_state *);
int hmc_gpu_rungs(hmc *, const plugmc_host *); /* h->rung, h->weight have changed */
int hmc_gpu_load(hmc *, const plugmc_host *, const uint64_t *place);
int hmc_gpu_sweep(hmc *, const plugmc_host *, uint64_t first, uint64_t n);
int hmc_gpu_store(hmc *, const plugmc_host *, const plugmc_state *, double *positions);
int hmc_gpu_turned(hmc *,
                   const plugmc_host *); /* orientations to h->rigid->turned; `load` brings them */
int hmc_gpu_places(hmc *, const plugmc_host *, uint64_t *place);
int hmc_gpu_states(hmc *, const plugmc_host *, hmc_state *, int write);

#endif
