/* What free_numbers.cu is told, in C and CUDA C++. Pointers are device memory. */
#ifndef FREE_NUMBERS_TASK_H
#define FREE_NUMBERS_TASK_H

enum { FREE_WARP = 32, FREE_PARTS = 32 }; /* warps that share a walker */

/* A place of plugmc_nonlocal_place. */
typedef struct free_place {
    int32_t walker, electron;
    double position[3], energy, factor, phase[2];
} free_place;

/* Walkers first ... first + walkers - 1 of a view. */
typedef struct free_task {
    int32_t particles, first, walkers;
    int32_t sums;             /* of all potentials */
    int64_t place_count;      /* of all walkers of the view */
    const double *positions;  /* [walkers of the view][particles][3], length */
    const double *drift;      /* [walkers][particles][3], 1/length */
    const int32_t *species;   /* [particles], of the first walker: electrons keep theirs */
    const plugmc_box *boxes;  /* [walkers of the view] */
    const free_place *places; /* those of an electron side by side */
    int32_t *range; /* [walkers][particles][2]: its first place, and the one behind its last */
} free_task;

#endif
