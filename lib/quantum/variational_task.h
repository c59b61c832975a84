/* What variational.cu is told, in C and CUDA C++. Pointers are device memory. */
#ifndef VARIATIONAL_NUMBERS_TASK_H
#define VARIATIONAL_NUMBERS_TASK_H

enum { VARIATIONAL_WARP = 32, VARIATIONAL_PARTS = 32 }; /* warps that share a walker */

/* A place of plugmc_nonlocal_point. */
typedef struct variational_place {
    int32_t walker, electron;
    double position[3], energy, factor, phase[2];
} variational_place;

/* Walkers first ... first + walkers - 1 of a view. */
typedef struct variational_task {
    int32_t particles, first, walkers;
    int32_t sums;                    /* of all potentials */
    int64_t place_count;             /* of all walkers of the view */
    const double *positions;         /* [walkers of the view][particles][3], length */
    const double *drift;             /* [walkers][particles][3], 1/length */
    const int32_t *species;          /* [particles], of the first walker: electrons keep theirs */
    const plugmc_box *boxes;         /* [walkers of the view] */
    const variational_place *places; /* those of an electron side by side */
    int32_t *range; /* [walkers][particles][2]: its first place, and the one behind its last */
} variational_task;

#endif
