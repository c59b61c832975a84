/* Walkers on a GPU, for gpu.c, which says what it is about, and gpu_t_moves.c. */
#ifndef PLUGMC_DIFFUSION_GPU_H
#define PLUGMC_DIFFUSION_GPU_H

#include <string.h>

#include "../../determinants/device_sums.h"
#include "../../determinants/matrices.h"
#include "diffusion.h"
#include "task.h"

/* For T-moves: gpu_t_moves.c. */
typedef struct t_moves {
    plugmc_kernel *find_ranges, *choose, *destinations, *put, *find_later, *find_points, *energies;
    device_pointer ranges;                /* [walkers][particles][2] places of electrons */
    device_pointer next, electron, tried; /* [walkers] */
    device_pointer list, later,
        points; /* [walkers], .. [2], .. [3] of those where somebody moves */
    device_pointer which, place_points, place_values; /* places that are looked at again */
    int64_t which_room, points_room, values_room, most;
    int32_t *host_electron, *host_list; /* [walkers] */
    int64_t (*host_later)[2];           /* [walkers] */
} t_moves;

typedef struct dmc_kernels {
    plugmc_kernel *propose, *decide, *close, *copy, *gather, *parts;
} dmc_kernels;

/* Moves of an electron of each walker, and those of a block, as in dmc_task. */
typedef struct dmc_block {
    device_pointer move, there;               /* [walkers] */
    device_pointer values, new_slopes;        /* [walkers][row], [walkers][3][row] */
    device_pointer own_row;                   /* [walkers][n] */
    device_pointer chosen, taken, known, old; /* as there, */
    device_pointer small, mixed;              /* too */
    device_pointer products, solved;          /* [walkers][capacity][n] */
} dmc_block;

/* Of an expansion in determinants: gpu_sums.h. */
typedef struct dmc_sums {
    device_sums device;
    plugmc_kernel *anew, *begin, *row, *settle, *copy;
} dmc_sums;

typedef struct diffusion_gpu {
    matrices matrices;
    dmc_kernels kernels;
    int32_t capacity; /* moves that are gathered */
    int32_t lanes;    /* threads of a walker: DMC_FEW, DMC_WARP or DMC_TEAM */
    int32_t group;    /* walkers whose matrices are made together */
    int64_t number;   /* bytes of a number of a matrix */

    device_pointer positions, base;               /* [walkers][particles][3] */
    device_pointer inverse[SPINS], slopes[SPINS]; /* [walkers][n][n], [walkers][n][3][row] */
    device_pointer numbers, tally;                /* [walkers] */
    dmc_block block;
    device_pointer from;                 /* [walkers] */
    device_pointer points, group_values; /* [group][n][3], [group][n][row] */
    device_pointer found;                /* [walkers] */
    dmc_numbers *host_numbers;           /* [walkers] */
    dmc_tally *host_tally;               /* [walkers] */
    double *host_found;                  /* [walkers][2] */
    t_moves t_moves;
    dmc_sums sums;
} diffusion_gpu;

/* Orbitals of a row of the matrices of a spin. */
static inline int64_t row_length(const diffusion *d, int spin)
{
    const expansion_spin *set = d->wave.sum ? &d->wave.sum->spin[spin] : NULL;
    return !set ? electrons_of(d, spin) : set->orbitals ? set->column[set->orbitals - 1] + 1 : 0;
}

/* Of a spin; whose electron, which sweep and which step is still to be told. */
static inline dmc_task task_of(const diffusion *d, int spin)
{
    const diffusion_gpu *g = d->gpu;
    const plugmc_box *box = &d->system->box;
    dmc_task t = {.seed = d->seed,
                  .drift_limit = d->set.drift_limit,
                  .periodic = box->domain == PLUGMC_DOMAIN_PERIODIC,
                  .walkers = d->system->walkers,
                  .particles = (int32_t)d->system->particles,
                  .down = (int32_t)d->system->first[1],
                  .spin = spin,
                  .first = (int32_t)d->system->first[spin],
                  .electrons = (int32_t)electrons_of(d, spin),
                  .capacity = g->capacity,
                  .sums = d->wave.sum != NULL,
                  .length = (int32_t)row_length(d, spin),
                  .row = d->wave.numbers,
                  .positions = AT(g->positions, double),
                  .matrices = AT(g->inverse[spin], double),
                  .slopes = AT(g->slopes[spin], double),
                  .numbers = AT(g->numbers, dmc_numbers),
                  .tally = AT(g->tally, dmc_tally),
                  .move = AT(g->block.move, dmc_move),
                  .there = AT(g->block.there, double),
                  .values = AT(g->block.values, double),
                  .new_slopes = AT(g->block.new_slopes, double),
                  .own_row = AT(g->block.own_row, double),
                  .chosen = AT(g->block.chosen, int32_t),
                  .taken = AT(g->block.taken, double),
                  .known = AT(g->block.known, double),
                  .old = AT(g->block.old, double),
                  .small = AT(g->block.small, double),
                  .mixed = AT(g->block.mixed, double)};
    memcpy(t.vector, box->vector, sizeof t.vector);
    memcpy(t.inverse, box->inverse, sizeof t.inverse);
    return t;
}

static inline int launch_teams(const diffusion *d, const plugmc_host *host, plugmc_kernel *kernel,
                               dmc_task *t)
{
    const uint32_t walkers = (uint32_t)d->system->walkers, lanes = (uint32_t)d->gpu->lanes;
    return lanes == DMC_TEAM
               ? launch(host, kernel, walkers, 1, 1, DMC_TEAM, 0, (void *[]){t})
               : launch(host, kernel, (uint32_t)blocks_for(walkers, (int32_t)(DMC_SHARED / lanes)),
                        1, 1, DMC_SHARED, 0, (void *[]){t});
}

/* Orbitals of a spin at points [points][3], and their gradients unless that is 0. */
int gpu_orbitals(const diffusion *, const plugmc_host *, int spin, int64_t points,
                 device_pointer positions, device_pointer values, device_pointer slopes);

/* Kernels of the mover's text, and memory. */
int gpu_t_moves_prepare(diffusion *, const plugmc_host *, const plugmc_gpu_source *);

#endif
