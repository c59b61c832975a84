/* state.h: what the kernels of the brush share, in device memory; its text stands in front of
 * propose.cu and brush.cu. brush.c mirrors brush_state. */

/* A place and the particle's species, as they are stored: real in brush.cu, while propose.cu
 * calculates in double. The vector types of CUDA are not there for every real. */
struct __align__(4 * sizeof(BRUSH_STORED)) brush_place { BRUSH_STORED x, y, z, species; };

/* What the trial has apart from pairs. */
struct __align__(16) brush_trial
{
    double change;    /* of the fields, kT; infinite where the particle may not go */
    double threshold; /* -ln u */
};

struct brush_walker; /* of trial.h */

typedef struct brush_state {
    brush_place *place;  /* [walkers][padded] */
    brush_place *before; /* [walkers][padded]: when the sweep began */
    brush_place *moved;  /* [walkers][padded]: places of the trial moves */
    brush_trial *trial;  /* [walkers][padded] */
    long long *sum;      /* [walkers][padded]: change so far, in BRUSH_UNIT */
    int *hit;            /* [walkers][padded]: overlaps at the new place with j of other panels */
    unsigned *done;      /* [walkers][panels]: tasks finished */
    unsigned *decided;   /* [walkers]: panels decided */
    unsigned *ticket;    /* [walkers]: next task */
    unsigned *role;      /* [1] */
    unsigned long long *failed; /* [2]: 0, or the complement of the place of the first particle of a
                            sweep whose change of energy is not a number, or minus infinity; and how
                            many sweeps have begun since: these do nothing */
    unsigned long long *accepted; /* [walkers] */
    long long *energy;            /* [walkers]: accepted changes, in BRUSH_UNIT */
    unsigned long long *sweep;    /* [1]: number of the next one */
    double *step;                 /* [1]; of walkers that are alike */
    /* Where walkers differ (BRUSH_BY_WALKER), [walkers]: of trial.h; what their terms count by [terms]; a factor on
     * squares of contact distances; boxes. */
    const struct brush_walker *walker;
    const double *weight, *margin;
    const plugmc_box *boxes;
    int particles, padded, panels, walkers;
    int interval;  /* j's of a task, a multiple of BRUSH_TILE */
    int intervals; /* of them in padded */
    int blocks;    /* of a walker */
} brush_state;

/* Of several the first, in the order in which the CPU would meet them. Nobody after it matters, since
 * the host goes back to where the others were when it tried to move. Who may not go there is rejected,
 * whatever energies are there. */
PLUGMC_FN void brush_lose(const brush_state *s, size_t place)
{
    if (s->trial[place].change != __longlong_as_double(0x7ff0000000000000LL))
        atomicMax(s->failed, ~(unsigned long long)place);
}
