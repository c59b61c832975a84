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

/* What the pair of i with an earlier particle j adds to the change of i, kT, if the move of j is rejected and if it is
 * accepted. */
struct __align__(2 * sizeof(BRUSH_STORED)) brush_outcome { BRUSH_STORED rejected, accepted; };

struct brush_walker; /* of trial.h */

#if BRUSH_PARTS > 1 /* see shares.cu */
/* What the decider writes into the memory of a part, beside places. */
struct brush_news {
    unsigned long long decided; /* brush_stamp */
    unsigned long long failed;  /* of the sweep that is over, as brush_state.failed */
    long long energy;           /* that it has brought */
};

/* Of a part and a panel, in the memory of the decider. */
struct __align__(16) brush_mail
{
    unsigned long long turn;   /* of the sums that are there */
    unsigned long long failed; /* of the part so far */
};
#endif

typedef struct brush_state {
    brush_place *place;            /* [walkers][padded] */
    brush_place *before;           /* [walkers][padded]: when the sweep began */
    brush_place *moved;            /* [walkers][padded]: places of the trial moves */
    brush_trial *trial;            /* [walkers][padded] */
    struct brush_outcome *outcome; /* [walkers][rows of 32 particles][BRUSH_OUTCOMES]: brush.cu */
    long long *sum;                /* [walkers][padded]: change so far, in BRUSH_UNIT */
    int *hit;          /* [walkers][padded]: overlaps at the new place with j of other panels */
    unsigned *done;    /* [walkers][panels]: tasks finished */
    unsigned *decided; /* [walkers]: panels decided */
    unsigned *ticket;  /* [walkers]: next task */
    unsigned *role;    /* [1] */
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
#if BRUSH_PARTS > 1
    int part; /* of this GPU */
    unsigned long long
        *turn;            /* [1]: number of this sweep, from 1, by the kernels that were launched */
    brush_place **places; /* [parts]: `place` of each, as it is seen from here */
    struct brush_news **news; /* [parts] */
    struct brush_mail *mail;  /* [parts][panels], in the memory of part 0 */
    long long *mail_sum;      /* [parts][padded], there: `sum` of each part */
    int *mail_hit;            /* [parts][padded], there */
    int *gone;                /* [1]: a process is gone */
    const unsigned *lost;     /* [1], in memory of the host: the same, before it is known here */
#endif
} brush_state;

/* Of several the first, in the order in which the CPU would meet them. Nobody after it matters, since
 * the host goes back to where the others were when it tried to move. Who may not go there is rejected,
 * whatever energies are there. */
PLUGMC_FN void brush_lose(const brush_state *s, size_t place)
{
    if (s->trial[place].change != __longlong_as_double(0x7ff0000000000000LL))
        atomicMax(s->failed, ~(unsigned long long)place);
}
