/* Lists of neighbours (Verlet lists), and forces from them.
 *
 * L. Verlet, Phys. Rev. 159, 98 (1967). A list has all pairs within reach + skin, each once; it has all within reach
 * until a particle has moved by half the skin. When lists are made, and in which order they are, is no matter of
 * the result: what a pair contributes to a force is rounded to an integer, energies are summed by exact_sum.h, so
 * sums depend on the positions alone. Trajectories run back over the same states, on any number of threads.
 *
 * Slots are particles in the order of their cells when the list was made, and of their numbers within a cell. A pair
 * is in the row of its lower slot. */
#ifndef PLUGMC_HMC_LISTS_H
#define PLUGMC_HMC_LISTS_H

#include "cpu.h"
#include "exact_sum.h"

/* Pairs that are worked on together, of these from one row at once, and whereof the parts of rows are multiples: they
 * are filled up with a slot of nobody, behind the last, whose distance is not a number. */
enum { HMC_BATCH = 256, HMC_CHUNK = 128, HMC_LANES = 8 };

typedef struct hmc_list {
    int made, done;      /* as the particles are near enough to where they were; forces computed */
    int32_t threads;     /* that have made it */
    double skin;         /* length */
    int64_t served;      /* forces computed since it was made */
    uint64_t *reference; /* [particles][3] where they were then, units of integers.h */
    int32_t *number;     /* [particles]: which particle is in a slot */
    int32_t *species;    /* [particles] of a slot */
    int32_t **row;       /* [particles]: slots of the others, by species */
    int32_t *length;     /* [particles][species] of the parts of a row */
    int32_t **entry;     /* [threads][capacity]: rows that a thread has made */
    int64_t *capacity;   /* [threads] */
    int64_t *used;       /* [threads] entries; negative where there was no room for all */
    int64_t *
        bound; /* [threads + 1]: slots of which each thread computes the pairs, about as many each */
} hmc_list;

/* Room of a thread. */
typedef struct hmc_list_work {
    double *x, *y,
        *z; /* [particles] length, of slots; those of the first thread of a walker are read */
    double *
        position; /* [particles + 1][4]: the same, and one that is 0; from a multiple of 32 bytes */
    int32_t *cell, *start;         /* [particles], [cells + 1] */
    double *cx, *cy, *cz, *square; /* [particles]: candidates for the rows of a cell */
    int32_t *candidate, *near;     /* [particles + HMC_LANES] slots */
    int64_t *gradient;             /* [particles][4] of slots, in quanta of list_forces.c */
    int64_t end;                   /* of the slots that it has added to */
    int32_t *broken;               /* [particles]: a force on a slot is not a number */
    exact_sum energy;              /* kT */
} hmc_list_work;

struct hmc_lists {
    int32_t threads;     /* room for */
    hmc_list *list;      /* [walkers] */
    hmc_list_work *work; /* [threads] */
};

/* Makes a walker's list anew, by `threads` threads that have `work`. Returns 0 if there is no room for it. */
int hmc_list_make(const hmc *, int32_t walker, int32_t threads, hmc_list_work *work);
/* Makes room for the list that had none; by the main thread. */
int hmc_list_enlarge(const hmc *, const plugmc_host *, int32_t walker);
/* Puts a walker's positions into its slots; returns the square of the farthest that one has moved, length^2. */
double hmc_list_fill(const hmc *, int32_t walker, hmc_list_work *work);

#endif
