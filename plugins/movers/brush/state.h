/* state.h: what the kernels of the brush share, in device memory; its text stands in front of
 * propose.cu and brush.cu. brush.c mirrors brush_state. */

/* A place and the particle's species, as they are stored: real in brush.cu, while propose.cu
 * calculates in double. The vector types of CUDA are not there for every real. */
typedef struct __align__(4 * sizeof(BRUSH_STORED)) brush_place {
    BRUSH_STORED x, y, z, species;
} brush_place;

/* What the trial has apart from pairs. */
typedef struct __align__(16) brush_trial {
    double change;    /* of the fields, kT; infinite where the particle may not go */
    double threshold; /* -ln u */
} brush_trial;

typedef struct brush_state {
    brush_place *place;  /* [walkers][padded] */
    brush_place *moved;  /* [walkers][padded]: places of the trial moves */
    brush_trial *trial;  /* [walkers][padded] */
    long long *sum;      /* [walkers][padded]: change so far, in BRUSH_UNIT */
    int *hit;            /* [walkers][padded]: overlaps at the new place with j of other panels */
    unsigned *done;      /* [walkers][panels]: tasks finished */
    unsigned *decided;   /* [walkers]: panels decided */
    unsigned *ticket;    /* [walkers]: next task */
    unsigned *role;      /* [1] */
    unsigned *failed;    /* [2]: 1 after an energy that is not a number, or minus infinity; and how
                            many sweeps have begun since: then nobody moves any more */
    unsigned long long *accepted; /* [1] */
    long long *energy;   /* [walkers]: accepted changes, in BRUSH_UNIT */
    unsigned long long *sweep; /* [1]: number of the next one */
    double *step;        /* [1] */
    int particles, padded, panels, walkers;
    int interval;        /* j's of a task, a multiple of BRUSH_TILE */
    int intervals;       /* of them in padded */
    int blocks;          /* of a walker */
} brush_state;
