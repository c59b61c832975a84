/* hmc.cu: the state on the GPU, and kernels of motion and of sorting by cells. It follows integers.h and rigid_step.h, as it
 * does in hmc.h for the structs alone; forces.cu has lists, forces and energies, rigid.cu the motion of rigid molecules,
 * decide.cu sums and decisions.
 *
 * Shapes are [walkers][particles] unless said otherwise; grids are (particles, walkers). Forces and
 * energies of pairs are summed as integers, so that the order in which particles lie in a cell is
 * of no account: it depends on the hardware, the sums do not. */

enum {
    HMC_THREADS = 128,
    HMC_TILE = 1024 /* particles a block sums energies of */
};

/* A particle among those of its cell: the upper half of its position for forces in float, all of it
 * for those in double and for energies. */
typedef struct hmc_entry {
    uint32_t x, y, z;
    uint32_t particle; /* and species << 28 where there are few; see hmc_pack */
} hmc_entry;

typedef struct hmc_long_entry {
    uint64_t x, y, z;
    uint32_t particle, species;
} hmc_long_entry;

/* Of one walker. */
typedef struct hmc_state {
    double potential, change;  /* kT: energy, last change of H */
    uint64_t trials, accepted; /* trajectories */
    uint64_t astray;           /* coordinates that did not come back, see check_reversal */
    int32_t rejected, unused;  /* the last one */
} hmc_state;

/* What a walker has of its rung. */
typedef struct hmc_rung {
    double kT, half_step; /* energy, time */
    int64_t steps;        /* of a trajectory */
} hmc_rung;

/* What changes from call to call. */
typedef struct hmc_plan {
    plugmc_seed seed;
    uint64_t sweep;
    double half_step; /* in time, of walkers that are alike */
    uint64_t lost;    /* 1 + the sweep in which a force or an energy was not a number; 0: none. Then
                         nobody moves any more, so that it is found */
} hmc_plan;

typedef struct hmc_task {
    plugmc_box box;          /* of the start, where nobody changes boxes */
    const plugmc_box *boxes; /* [walkers], where somebody does */
    uint32_t particles, walkers, tiles;
    int32_t count[3], span[3]; /* cells along each edge; how many to look at on either side */
    uint32_t rows;             /* count[1] * count[2] */
    double reach_square;
    /* Neighbours are listed up to a distance that is longer than the reach. As long as nobody has moved by more than half of what it
     * is longer, all that are in reach are listed. */
    double listed_square, slack_square; /* that distance; how far anybody may move */
    uint32_t list_rows;                 /* a thread's room for neighbours; 0: none are listed */
    uint32_t *stale;                    /* [walkers] 1: somebody has moved further */
    uint64_t *listed;                   /* [3] each: place at that time */
    uint32_t *slot;                     /* number among the entries */
    uint32_t *list;                     /* [walkers][list_rows][HMC_TEAM][entries] */
    uint32_t *list_n; /* [walkers][HMC_TEAM][entries]; more than list_rows: no room */
    hmc_plan *plan;
    hmc_state *state;        /* [walkers] */
    const double *mass;      /* [species] */
    const uint32_t *species; /* [particles] */
    uint64_t *place;         /* [3] each */
    uint64_t *place_before;  /* [3] each */
    int64_t *momentum;       /* [3] each */
    double *force;           /* [3] each; kT/length */
    double *force_before;    /* [3] each */
    double *positions;       /* [3] each; length */
    double *share;           /* kT: of the energy */
    double *partial;         /* [walkers][tiles][2]: potential and kinetic energy */
    double *sums;            /* [walkers][3]: kinetic before; potential, kinetic after */
    double *others;          /* [walkers] kT: energy of the total facets */
    uint32_t *cell, *rank;   /* cell of a particle, its number there */
    uint32_t *filling;       /* [walkers][rows][count[0]]: particles in a cell; 0 between steps */
    uint32_t *start;         /* [walkers][rows][count[0] + 1] first entry; the last is the end */
    uint32_t *used;          /* [walkers] entries given out */
    hmc_entry *entry;        /* sorted by cell, row by row */
    hmc_long_entry *long_entry;
    uint64_t *place_checked;   /* [3] each; these three only with check_reversal */
    int64_t *momentum_checked; /* [3] each */
    double *force_checked;     /* [3] each */
    const hmc_rung *rung;      /* [walkers]; these four where walkers differ */
    const double *weight;      /* [walkers][terms]: coupling */
    double *own_force;         /* [3] each: of one total */
    double *own_energy;        /* [walkers]: of it */
    const hmc_kind *kind;      /* [kinds of molecules]; these only with rigid molecules */
    const hmc_member *member;  /* [particles] */
    /* By the numbers of first sites: now, before the trajectory, before it was reversed. */
    plugmc_orientation *turned, *turned_before, *turned_checked;
    uint32_t *out_of_shape; /* [walkers]: an orientation has left its shell; see hmc_lost_shape */
    double within_square;   /* sites of one molecule are closer, length^2 */
} hmc_task;

#ifdef __CUDACC_RTC__
#if PLUGMC_BOX_CHANGES
#define HMC_BOX(walker) (t.boxes + (walker))
#else
#define HMC_BOX(walker) (&t.box)
#endif

/* HMC_BY_WALKER: 1 if walkers differ, by a ladder or couplings. */
#if HMC_BY_WALKER
#define HMC_KT(walker) (t.rung[walker].kT)
#define HMC_OVER_KT(walker) (1 / t.rung[walker].kT)
#define HMC_HALF_STEP(walker) (t.rung[walker].half_step)
#define HMC_STEPS(walker, alike) (t.rung[walker].steps)
#else
#define HMC_KT(walker) PLUGMC_KT
#define HMC_OVER_KT(walker) PLUGMC_OVER_KT
#define HMC_HALF_STEP(walker) (t.plan->half_step)
#define HMC_STEPS(walker, alike) (alike)
#endif
#define HMC_WEIGHT(t, walker) ((t).weight + (uint64_t)(walker)*PLUGMC_TERMS)

#define HMC_KERNEL extern "C" __global__ void __launch_bounds__(HMC_THREADS)

/* Leaves the kernel beyond the last particle. */
#define HMC_PARTICLE                                                                               \
    const uint32_t walker = blockIdx.y, particle = blockIdx.x * HMC_THREADS + threadIdx.x;         \
    if (particle >= t.particles) return;                                                           \
    const uint64_t at = (uint64_t)walker * t.particles + particle;

HMC_KERNEL hmc_start(const hmc_task t)
{
    HMC_PARTICLE
    hmc_momentum(t.plan->seed, t.plan->sweep, walker, particle, PLUGMC_DIMENSION,
                 t.mass[t.species[particle]] * HMC_KT(walker), t.momentum + 3 * at);
    for (int d = 0; d < 3; d++) {
        t.place_before[3 * at + d] = t.place[3 * at + d];
        t.force_before[3 * at + d] = t.force[3 * at + d];
    }
}

/* Finds the cell of a particle, and its number there. */
PLUGMC_FN void hmc_count_in_cell(const hmc_task *t, uint32_t walker, uint64_t at)
{
    uint32_t c[3];
    for (int d = 0; d < 3; d++)
        c[d] = plugmc_mulhi((uint32_t)(t->place[3 * at + d] >> 32), (uint32_t)t->count[d]);
    const uint32_t cell = (c[2] * t->count[1] + c[1]) * t->count[0] + c[0];
    t->cell[at] = cell;
    t->rank[at] = atomicAdd(&t->filling[(uint64_t)walker * t->rows * t->count[0] + cell], 1u);
}

/* Whether lists have to be made anew, as the particle has moved too far; with `anew` in any case. */
PLUGMC_FN void hmc_check_list(const hmc_task &t, uint32_t walker, uint64_t at, bool anew)
{
    const plugmc_box *box = HMC_BOX(walker);
    double f[3], square = 0;
    for (int d = 0; d < 3; d++)
        f[d] = (double)(int64_t)(t.place[3 * at + d] - t.listed[3 * at + d]) * 0x1p-64;
    for (int d = 0; d < PLUGMC_DIMENSION; d++) {
        double r = f[d] * box->vector[d][d];
        if (box->oblique)
            r = f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
        square += r * r;
    }
    if (anew || !(square <= t.slack_square)) t.stale[walker] = 1;
}

/* Before the forces of step k of a trajectory of `all` steps: half steps of the momentum, then the position moves;
 * then, if `bin`, forces there are to follow. k = all: the last half step; k = -1: nobody moves, and lists are made anew. */
HMC_KERNEL hmc_move(const hmc_task t, int k, int all, int bin)
{
    HMC_PARTICLE
    const int64_t steps = HMC_STEPS(walker, all);
    int kick = hmc_half_steps(steps, k), drift = k >= 0 && k < steps;
    const double half_step = HMC_HALF_STEP(walker), *force = t.force + 3 * at;
    bool lost = t.plan->lost != 0; /* read early: forces are on their way meanwhile */
    const double mass = t.mass[t.species[particle]];
    if (particle == 0 && bin) t.used[walker] = 0;
    if (kick && (force[0] != force[0] || force[1] != force[1] || force[2] != force[2])) {
        t.plan->lost = t.plan->sweep + 1;
        lost = true;
    }
    if (lost) kick = drift = 0;
    if (kick) hmc_kick(PLUGMC_DIMENSION, kick, half_step, force, t.momentum + 3 * at);
    if (drift)
        hmc_drift(HMC_BOX(walker), 2 * half_step / mass, t.momentum + 3 * at, t.place + 3 * at);
    if (!bin) return;
    hmc_check_list(t, walker, at, k < 0);
    hmc_position(HMC_BOX(walker), t.place + 3 * at, t.positions + 3 * at);
}

/* Where lists are stale, these three sort the particles by cells. */
HMC_KERNEL hmc_count(const hmc_task t)
{
    HMC_PARTICLE
    if (t.stale[walker]) hmc_count_in_cell(&t, walker, at);
}

/* A thread gives a row of cells its entries: whichever row comes first gets the first ones. */
HMC_KERNEL hmc_rows(const hmc_task t)
{
    const uint32_t walker = blockIdx.y, row = blockIdx.x * HMC_THREADS + threadIdx.x;
    if (row >= t.rows || !t.stale[walker]) return;
    uint32_t *filling = t.filling + ((uint64_t)walker * t.rows + row) * t.count[0];
    uint32_t *start = t.start + ((uint64_t)walker * t.rows + row) * (t.count[0] + 1);
    uint32_t all = 0;
    for (int32_t x = 0; x < t.count[0]; x++) all += filling[x];
    uint32_t next = atomicAdd(&t.used[walker], all);
    for (int32_t x = 0; x < t.count[0]; x++) {
        start[x] = next;
        next += filling[x];
        filling[x] = 0;
    }
    start[t.count[0]] = next;
}
#endif
