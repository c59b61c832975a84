/* What the movers of variational Monte Carlo share between the CPU and the GPU: the displacement of
 * an electron, and what is handed to kernels. */
#ifndef PLUGMC_VMC_DRAWS_H
#define PLUGMC_VMC_DRAWS_H

enum { VMC_GAUSSIAN, VMC_BALL, VMC_CUBE };

/* Threads of a block of the kernels, and their places in a matrix; edges of a tile of one. */
enum { VMC_COLUMNS = 32, VMC_ROWS = 8, VMC_THREADS = VMC_COLUMNS * VMC_ROWS, VMC_LOOK = 128 };
enum {
    VMC_MOST_BLOCK = 64
}; /* electrons of a block, of which VMC_COLUMNS and VMC_ROWS are parts */
enum { VMC_DECIDERS = VMC_THREADS + VMC_MOST_BLOCK };
enum { VMC_TILE = 32, VMC_TILE_ROWS = 8, VMC_CLEARED = 96 };
/* Factors of a matrix: columns of a panel, threads that find them, rows each has; columns of a warp beside the panel. */
enum { VMC_PANEL = 64, VMC_PANEL_THREADS = 512, VMC_PANEL_ROWS = 2, VMC_BESIDE = 4 };
enum { VMC_MOST_FACTORED = VMC_PANEL_THREADS * VMC_PANEL_ROWS, VMC_MOVED = 2 * VMC_PANEL };

/* What a displacement depends on; vmc.h says how. */
typedef struct vmc_draws {
    plugmc_seed seed;
    uint64_t sweep;
    double step;                        /* length */
    int32_t moves;                      /* VMC_GAUSSIAN, ... */
    int32_t walker;                     /* first one of the launch */
    double vector[3][3], inverse[3][3]; /* of the box, as in plugmc_box */
    int32_t periodic, reserved;
} vmc_draws;

/* Electrons of a block in all walkers of a launch. */
typedef struct vmc_block {
    int32_t particles;   /* of a walker, both spins */
    int32_t electrons;   /* of the spin */
    int32_t spin_first;  /* number of its first electron */
    int32_t first, size; /* of the block, within the spin */
    int32_t capacity;    /* rows of the arrays of a block */
    int32_t rows, row;   /* proposals, values: rows of a walker, and that of the first electron */
    int32_t columns;     /* numbers of a row of products */
    int32_t column;      /* of them, the first one that belongs to the block */
    int32_t down;        /* number of the first electron of species 1 */
} vmc_block;

/* Electrons of several blocks that are accepted; M is updated for all of them together. */
typedef struct vmc_gathered {
    int32_t rows;     /* of a walker in arrays of what is gathered */
    int32_t *chosen;  /* [walkers][rows]: columns of products that are theirs, or NULL: none is */
    int32_t *before;  /* [walkers]: how many of them are of blocks before the one at hand */
    int32_t *count;   /* [walkers]: and how many there are with it */
    int32_t *largest; /* count of the walker that has most */
} vmc_gathered;

PLUGMC_FN void vmc_gaussian(const plugmc_random *u, double v[3])
{
    const double turn = 6.283185307179586;
    double r0 = sqrt(-2 * log((u->word[0] + 0.5) * 0x1p-32)),
           r1 = sqrt(-2 * log((u->word[2] + 0.5) * 0x1p-32));
    v[0] = r0 * cos(turn * (double)u->word[1] * 0x1p-32);
    v[1] = r0 * sin(turn * (double)u->word[1] * 0x1p-32);
    v[2] = r1 * cos(turn * (double)u->word[3] * 0x1p-32);
}

/* The displacement of electron e of a walker over the step. */
PLUGMC_FN void vmc_displacement(const vmc_draws *d, int32_t walker, int64_t e, double v[3])
{
    if (d->moves == VMC_BALL) {
        plugmc_draw_in_ball(d->seed, d->sweep, (uint32_t)walker, (uint32_t)e, 3, v);
        return;
    }
    plugmc_random u =
        plugmc_draw(d->seed, d->sweep, (uint32_t)walker, (uint32_t)e, PLUGMC_PURPOSE_TRIAL, 0);
    if (d->moves == VMC_GAUSSIAN)
        vmc_gaussian(&u, v);
    else
        for (int k = 0; k < 3; k++) v[k] = ((double)u.word[k] + 0.5) * 0x1p-31 - 1;
}

/* Where a probability of a walker was not a number first. */
typedef struct vmc_failure {
    uint64_t sweep;
    uint64_t electron; /* + 1; 0: there is none */
} vmc_failure;

/* Numbers of a walker: what is kept while sweeping. */
typedef struct vmc_state {
    double *ln_square;            /* [walkers], of the spin */
    double *parts;                /* [walkers] */
    unsigned long long *accepted; /* [walkers] */
    vmc_failure *failure;         /* [walkers] */
} vmc_state;

#endif
