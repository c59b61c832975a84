/* What the files of the movers ewald_serial and ewald_rigid share. */
#ifndef PLUGMC_EWALD_SERIAL_H
#define PLUGMC_EWALD_SERIAL_H

#ifndef ES_RIGID
#define ES_RIGID 0 /* 1: the mover ewald_rigid */
#endif
#if ES_RIGID
#define ES_NAME "ewald_rigid"
#define ES_WITHOUT "rigid" /* which makes the same chain without a GPU */
#define ES_WHAT "ES_RIGID=1"
#else
#define ES_NAME "ewald_serial"
#define ES_WITHOUT "serial"
#define ES_WHAT "ES_RIGID=0"
#endif

#include <plugmc/everything.h>

#include "ewald_serial.cu"

enum { PROPOSE, PAIRS, WAVES, COUPLE, BETWEEN, DECIDE, APPLY, STRUCTURE, ENERGIES, KERNELS };

typedef struct ewald_serial {
    real step, turn, target_acceptance; /* parameters: length, rad, 1; turn with ES_RIGID */

    const plugmc_system *system;
    plugmc_seed seed; /* of its random draws */
    es_task task;
    double *constant; /* [terms] kT: of the sums over waves */
    uint32_t *term;   /* [waves]: of which term */
    /* Of a ladder or couplings: by_walker. */
    int by_walker;
    int32_t rungs;
    int32_t *on_rung;       /* [walkers] */
    real *steps;            /* [kinds of move][rungs] length, rad */
    es_rung *rung;          /* [walkers] */
    double *coupling;       /* [walkers][terms]; NULL: 1 for all that are sampled */
    plugmc_counts *counted; /* [kinds of move][rungs]: of walkers that have left the rung since */
    double *weight;         /* [waves] */
    int32_t (*wave)[3];     /* [waves] */
    double *structure;      /* [walkers][2][waves], for the host */
    es_state *state;        /* [walkers], for the host */
    plugmc_kernel *kernel[KERNELS];
    plugmc_graph *graph; /* of one sweep */
} ewald_serial;

static inline plugmc_device_pointer es_device(const void *pointer)
{
    return (plugmc_device_pointer)(uintptr_t)pointer;
}

static inline size_t es_structure_bytes(const ewald_serial *s)
{
    return (size_t)s->system->walkers * 2 * s->task.waves * sizeof(double);
}

static inline uint32_t es_blocks_of(uint32_t n, uint32_t each) { return (n + each - 1) / each; }

/* prepare.c */
int es_prepare(void *, const plugmc_host *);
int es_gpu_source(void *, const plugmc_host *, int index, plugmc_gpu_source *out);

#endif
