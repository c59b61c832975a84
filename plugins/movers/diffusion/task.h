/* What gpu.c hands to the kernels of diffusion.cu: one text for C and CUDA. */
#ifndef PLUGMC_DIFFUSION_TASK_H
#define PLUGMC_DIFFUSION_TASK_H

/* A walker of up to DMC_FEW_ELECTRONS electrons has DMC_FEW threads; one of more a warp; one whose matrices are large
 * DMC_TEAM, which is a block of them. Others share blocks of DMC_SHARED threads. */
enum { DMC_FEW = 8, DMC_WARP = 32, DMC_TEAM = 512, DMC_SHARED = 128 };
enum { DMC_FEW_ELECTRONS = 16, DMC_THREADS = 256, DMC_MOST_BLOCK = 32 };
/* Threads of a team for each electron of a block. */
enum { DMC_SUMMING = DMC_TEAM / DMC_MOST_BLOCK };

/* Of a walker: kept while it moves. */
typedef struct dmc_numbers {
    double parts;        /* kT: energy of the pair and field terms */
    double ln_square[2]; /* of the determinants */
} dmc_numbers;

/* Of a walker: counted in a sweep. */
typedef struct dmc_tally {
    double proposed, accepted; /* length^2 */
    int32_t moves;             /* accepted */
    int32_t lost;              /* 1 + electron where a probability was no number; 0: none */
} dmc_tally;

/* Of a walker: the move at hand. */
typedef struct dmc_move {
    double here[3], random[3]; /* drift and random part, length */
    double parts;              /* kT: energy of the electron where it is */
    int32_t taken, reserved;   /* whether it is made */
} dmc_move;

/* Electron `own` of a spin, in all walkers. Matrices are of double or of re, im; `row` doubles lie between rows of
 * orbitals. */
typedef struct dmc_task {
    plugmc_seed seed;
    uint64_t sweep;
    double tau, drift_limit;
    double vector[3][3], inverse[3][3]; /* of the box, as in plugmc_box */
    int32_t periodic, crosses;          /* crosses: a real Psi may change its sign */
    int32_t walkers, particles, down;   /* down: number of the first electron of species 1 */
    int32_t spin, first, electrons;     /* the spin, its first electron and how many it has */
    int32_t own, block, capacity;       /* block: its first electron; capacity: how many it has */
    int32_t sums,
        length; /* Psi is a sum of determinants; orbitals of a row of M, or of such a sum */
    int64_t row;

    double *positions;    /* [walkers][particles][3] */
    double *matrices;     /* [walkers][electrons][electrons] M, as it was when the block began */
    double *slopes;       /* [walkers][electrons][3][row] of the orbitals where electrons are */
    dmc_numbers *numbers; /* [walkers] */
    dmc_tally *tally;     /* [walkers] */
    dmc_move *move;       /* [walkers] */
    double *there;        /* [walkers][3] where electrons would go, */
    double *values;       /* [walkers][row] orbitals there, */
    double *new_slopes;   /* [walkers][3][row] and their gradients */
    double *own_row;      /* [walkers][length] of M as it is, of the electron at hand */

    /* Of the moves accepted in a block; diffusion.cu says what they are. */
    int32_t *chosen; /* [walkers][capacity + 1]: numbers in the spin; how many */
    double *taken;   /* [walkers][capacity][electrons] orbitals */
    double *known;   /* [walkers][capacity][capacity] G: of those accepted with rows of the block */
    double *old;     /* [walkers][capacity][electrons] rows of M */
    double *small;   /* [walkers][capacity][capacity] the inverse of G, 0 elsewhere */
    double *mixed;   /* [walkers][capacity] of the electron at hand */
} dmc_task;

#endif
