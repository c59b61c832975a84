/* hmc.cu: the state on the GPU, and kernels of motion, forces and energies. It follows integers.h and rigid_step.h, as it
 * does in hmc.h for the structs alone; rigid.cu has the motion of rigid molecules, decide.cu sums and decisions.
 *
 * Shapes are [walkers][particles] unless said otherwise; grids are (particles, walkers). Forces and
 * energies of pairs are summed as integers, so that the order in which particles lie in a cell is
 * of no account: it depends on the hardware, the sums do not. */

enum {
    HMC_THREADS = 128,
    HMC_TILE = 1024, /* particles a block sums energies of */
    HMC_LIST = 32    /* neighbours that a thread lists */
};

/* A particle among those of its cell: the upper half of its position for forces in float, all of it
 * for those in double and for energies. */
typedef struct hmc_entry {
    uint32_t x, y, z;
    uint32_t particle; /* and species << 28 where there are few; see hmc_entry_species */
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
    uint32_t team; /* threads that share the neighbours of a particle: 1, 2, 4, ... 32 */
    double reach_square;
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

/* Before the forces of step k of a trajectory of `all` steps: half steps of the momentum, then the position moves;
 * then particles are counted by cell, if `bin`. k = all: the last half step; k = -1: nobody moves. */
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
    hmc_count_in_cell(&t, walker, at);
    hmc_position(HMC_BOX(walker), t.place + 3 * at, t.positions + 3 * at);
}

/* A thread gives a row of cells its entries: whichever row comes first gets the first ones. */
HMC_KERNEL hmc_rows(const hmc_task t)
{
    const uint32_t walker = blockIdx.y, row = blockIdx.x * HMC_THREADS + threadIdx.x;
    if (row >= t.rows) return;
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

/* HMC_LONG: 1 if this text computes in double. */
#if HMC_LONG
typedef hmc_long_entry hmc_neighbour;
#define HMC_ENTRIES(t) ((t).long_entry)
#else
typedef hmc_entry hmc_neighbour;
#define HMC_ENTRIES(t) ((t).entry)
#endif

/* Species beside the particle's number where both find room in 32 bits. */
PLUGMC_FN void hmc_pack(const hmc_task *t, const uint64_t *place, uint32_t particle,
                        hmc_neighbour *out)
{
#if HMC_LONG
    out->x = place[0];
    out->y = place[1];
    out->z = place[2];
    out->particle = particle;
    out->species = t->species[particle];
#else
    out->x = (uint32_t)(place[0] >> 32);
    out->y = (uint32_t)(place[1] >> 32);
    out->z = (uint32_t)(place[2] >> 32);
    out->particle = particle | (PLUGMC_SPECIES > 1 ? t->species[particle] << 28 : 0u);
#endif
}

PLUGMC_FN uint32_t hmc_particle_of(hmc_neighbour e)
{
#if HMC_LONG
    return e.particle;
#else
    return PLUGMC_SPECIES > 1 ? e.particle & 0xfffffffu : e.particle;
#endif
}

PLUGMC_FN plugmc_site hmc_site_of(hmc_neighbour e)
{
#if HMC_LONG
    return plugmc_site_of_species((int)e.species);
#else
    return plugmc_site_of_species(PLUGMC_SPECIES > 1 ? (int)(e.particle >> 28) : 0);
#endif
}

/* To its place among the entries of its cell. */
HMC_KERNEL hmc_sort(const hmc_task t)
{
    HMC_PARTICLE
    const uint32_t cell = t.cell[at], row = cell / t.count[0], x = cell % t.count[0];
    const uint32_t to =
        t.start[((uint64_t)walker * t.rows + row) * (t.count[0] + 1) + x] + t.rank[at];
    hmc_neighbour own;
    hmc_pack(&t, t.place + 3 * at, particle, &own);
    HMC_ENTRIES(t)[(uint64_t)walker * t.particles + to] = own;
}

/* The box in the precision of the text; constants where nobody changes it. */
#if PLUGMC_OBLIQUE
typedef plugmc_images hmc_edges;
#else
typedef struct hmc_edges {
    real length[3];
} hmc_edges;
#endif

PLUGMC_FN hmc_edges hmc_edges_of(const plugmc_box *boxes, uint32_t walker)
{
#if PLUGMC_OBLIQUE
    return plugmc_images_of_walker(boxes, (int)walker);
#else
    hmc_edges m;
    for (int d = 0; d < 3; d++)
#if PLUGMC_BOX_CHANGES
        m.length[d] = (real)boxes[walker].length[d];
#else
        m.length[d] = plugmc_edge[d];
#endif
    return m;
#endif
}

/* b seen from a, by the nearest image: differences of positions wrap around as the box does. */
PLUGMC_FN plugmc_separation hmc_separation(hmc_neighbour a, hmc_neighbour b, const hmc_edges &m)
{
#if HMC_LONG
    const real unit = (real)0x1p-64;
    const real x = (real)(int64_t)(a.x - b.x), y = (real)(int64_t)(a.y - b.y),
               z = (real)(int64_t)(a.z - b.z);
#else
    const real unit = (real)0x1p-32;
    const real x = (real)(int32_t)(a.x - b.x), y = (real)(int32_t)(a.y - b.y),
               z = (real)(int32_t)(a.z - b.z);
#endif
#if PLUGMC_OBLIQUE
    return plugmc_separated(unit * (x * m.vector[0][0] + y * m.vector[1][0] + z * m.vector[2][0]),
                            unit * (x * m.vector[0][1] + y * m.vector[1][1] + z * m.vector[2][1]),
                            unit * (x * m.vector[0][2] + y * m.vector[1][2] + z * m.vector[2][2]),
                            m);
#else
    plugmc_separation s;
    s.x = x * (unit * m.length[0]);
    s.y = y * (unit * m.length[1]);
    s.z = PLUGMC_DIMENSION == 3 ? z * (unit * m.length[2]) : (real)0;
    s.r2 = s.x * s.x + s.y * s.y + s.z * s.z;
    return s;
#endif
}

/* Energies stay where 512 of them cannot overflow; beyond, Boltzmann's factor is 0 anyway. */
PLUGMC_FN int64_t hmc_energy_quanta(real u)
{
    const double most = 4194304.0;
    double y = (double)u;
    return hmc_nearest((y < most ? (y > -most ? y : -most) : most) * HMC_ENERGY_UNIT);
}

PLUGMC_FN int64_t hmc_force_quanta(real f)
{
#if HMC_LONG
    return hmc_nearest(f * HMC_ENERGY_UNIT);
#else
    return __float2ll_rn(f * (float)HMC_ENERGY_UNIT);
#endif
}

/* In units of 1 / HMC_ENERGY_UNIT. */
typedef struct hmc_sum {
    int64_t force[3], energy;
    /* Plain sum of the same, no number or minus infinity if one of them is that: integers cannot say. */
    real known;
} hmc_sum;

/* A thread looks at many entries and finds few in reach. It lists them and computes them a layer of
 * cells at a time, so that the threads of a warp compute together. */
typedef struct hmc_list {
    uint32_t *entry; /* [HMC_LIST], HMC_THREADS apart: shared memory of the block */
    uint32_t n;
    hmc_edges edges;
    const double *weight; /* of the walker */
    int32_t molecule;     /* whose site looks; -1: none */
    real within_square;
} hmc_list;

/* Whether an entry at this distance is a site of the molecule of the one that looks. */
PLUGMC_FN bool hmc_together(const hmc_task *t, const hmc_list *list, real r2, hmc_neighbour other)
{
#if HMC_RIGID
    return r2 < list->within_square && list->molecule >= 0 &&
           t->member[hmc_particle_of(other)].molecule == list->molecule;
#else
    return false;
#endif
}

PLUGMC_FN void hmc_add_pair(plugmc_separation s, plugmc_site a, plugmc_site b, int with_energy,
                            const double *weight, hmc_sum *sum)
{
    if (with_energy) {
        plugmc_sums energies;
        plugmc_sums_clear(&energies);
        plugmc_sums_add_energy(&energies, s, a, b);
#if PLUGMC_WEIGHTED
        const real energy = plugmc_sums_weighted(&energies, a, weight);
#else
        const real energy = plugmc_sums_total(&energies, a);
#endif
        sum->energy += hmc_energy_quanta(energy);
        sum->known += energy;
    } else {
        real energy, first, second;
#if PLUGMC_WEIGHTED
        plugmc_pair_derivatives_weighted(s, a, b, weight, &energy, &first, &second);
#else
        plugmc_pair_derivatives(s, a, b, &energy, &first, &second);
#endif
        sum->force[0] -= hmc_force_quanta(first * s.x);
        sum->force[1] -= hmc_force_quanta(first * s.y);
        if (PLUGMC_DIMENSION == 3) sum->force[2] -= hmc_force_quanta(first * s.z);
        sum->known += first;
    }
}

/* It stands once in a kernel, and its loop is not unrolled: of two copies the compiler may contract the
 * products in two ways, and the force of a pair would depend on which of them computes it. */
PLUGMC_FN void hmc_empty(const hmc_neighbour *entry, hmc_neighbour me, int with_energy,
                         hmc_list *list, hmc_sum *sum)
{
    const plugmc_site a = hmc_site_of(me);
#pragma unroll 1
    for (uint32_t k = 0; k < list->n; k++) {
        const hmc_neighbour other = entry[list->entry[k * HMC_THREADS]];
        hmc_add_pair(hmc_separation(me, other, list->edges), a, hmc_site_of(other), with_energy,
                     list->weight, sum);
    }
    list->n = 0;
}

/* Cells to look at along one edge: `n` of them from `first`, modulo the count. */
PLUGMC_FN void hmc_around(int32_t cell, int32_t span, int32_t count, int32_t *first, int32_t *n)
{
    const int32_t whole = count < 2 * span + 1;
    *n = whole ? count : 2 * span + 1;
    *first = whole ? 0 : cell - span + (cell < span ? count : 0);
}

/* The rows of cells to look at in one layer: in each, cells x ... x + n - 1, and `beyond` of them at its
 * other end. Where the look has come to: entry k of those up to `end` in a piece of a row. */
typedef struct hmc_look {
    const uint32_t *start; /* of row 0 of the layer */
    int32_t x, n, beyond, y, ny;
    int32_t piece; /* 2 a row */
    uint32_t k, end;
    uint32_t lane; /* of the team, which takes entries in turn */
} hmc_look;

PLUGMC_FN void hmc_next_piece(const hmc_task *t, hmc_look *look)
{
    const int32_t i = ++look->piece / 2, y = look->y + i;
    const int32_t row = y < t->count[1] ? y : y - t->count[1];
    const uint32_t *start = look->start + row * (t->count[0] + 1);
    const int32_t behind = look->piece % 2;
    if (i >= look->ny) return;
    look->k = start[behind ? 0 : look->x] + look->lane;
    look->end = start[behind             ? (look->beyond > 0 ? look->beyond : 0)
                      : look->beyond > 0 ? t->count[0]
                                         : look->x + look->n];
}

/* Lists neighbours of entry `own` until the layer has ended, or the list is full: then returns 1. */
PLUGMC_FN int hmc_find(const hmc_task *t, const hmc_neighbour *entry, uint32_t own,
                       hmc_neighbour me, hmc_look *look, hmc_list *list)
{
    const real reach_square = (real)t->reach_square;
    while (look->piece < 2 * look->ny) {
        for (; look->k < look->end; look->k += t->team) {
            const real r2 = hmc_separation(me, entry[look->k], list->edges).r2;
            if (!(r2 < reach_square) || look->k == own || hmc_together(t, list, r2, entry[look->k]))
                continue;
            if (list->n == HMC_LIST) return 1;
            list->entry[list->n++ * HMC_THREADS] = look->k;
        }
        hmc_next_piece(t, look);
    }
    return 0;
}

PLUGMC_FN void hmc_add_neighbours(const hmc_task *t, uint32_t walker, uint32_t own, uint32_t lane,
                                  int with_energy, uint32_t *shared, hmc_sum *sum)
{
    const hmc_neighbour *entry = HMC_ENTRIES(*t) + (uint64_t)walker * t->particles;
    const hmc_neighbour me = entry[own];
    const uint32_t cell = t->cell[(uint64_t)walker * t->particles + hmc_particle_of(me)];
    const int32_t cx = (int32_t)(cell % t->count[0]), row = (int32_t)(cell / t->count[0]);
    int32_t z, nz;
    hmc_look look;
    hmc_around(cx, t->span[0], t->count[0], &look.x, &look.n);
    hmc_around(row % t->count[1], t->span[1], t->count[1], &look.y, &look.ny);
    hmc_around(row / t->count[1], t->span[2], t->count[2], &z, &nz);
    look.beyond = look.x + look.n - t->count[0];
    look.lane = lane;
    hmc_list list;
    list.entry = shared + threadIdx.x;
    list.n = 0;
    list.edges = hmc_edges_of(t->boxes, walker);
    list.weight = HMC_WEIGHT(*t, walker);
#if HMC_RIGID
    list.molecule = t->member[hmc_particle_of(me)].molecule;
    list.within_square = (real)t->within_square;
#endif
    int full = 0;
#pragma unroll 1
    for (int32_t j = 0; j < nz;) {
        const int32_t pz = z + j < t->count[2] ? z + j : z + j - t->count[2];
        if (!full) {
            look.start =
                t->start + ((uint64_t)walker * t->rows + pz * t->count[1]) * (t->count[0] + 1);
            look.piece = -1;
            hmc_next_piece(t, &look);
        }
        full = hmc_find(t, entry, own, me, &look, &list);
        hmc_empty(entry, me, with_energy, &list, sum);
        j += !full;
    }
}

/* Adds those of the team to those of its first thread. All threads of a warp call it. */
PLUGMC_FN void hmc_sum_team(const hmc_task *t, hmc_sum *sum)
{
    for (uint32_t half = t->team / 2; half > 0; half /= 2) {
        for (int d = 0; d < 3; d++)
            sum->force[d] += __shfl_down_sync(0xffffffffu, sum->force[d], half);
        sum->energy += __shfl_down_sync(0xffffffffu, sum->energy, half);
        sum->known += __shfl_down_sync(0xffffffffu, sum->known, half);
    }
}

/* Of the thread: the entry that its team looks at, and its number in the team. */
#define HMC_ENTRY_OF_TEAM                                                                          \
    const uint32_t walker = blockIdx.y, thread = blockIdx.x * HMC_THREADS + threadIdx.x,           \
                   own = thread / t.team, lane = thread % t.team;                                  \
    const bool there = own < t.particles;

PLUGMC_FN plugmc_position hmc_field_position(const double r[3])
{
    plugmc_position out;
    out.x = (real)r[0];
    out.y = (real)r[1];
    out.z = (real)r[2];
    return out;
}

/* One team an entry, so that the threads of a warp look at the same cells. */
HMC_KERNEL hmc_forces(const hmc_task t)
{
    __shared__ uint32_t lists[HMC_LIST * HMC_THREADS];
    HMC_ENTRY_OF_TEAM
    hmc_sum sum = {{0, 0, 0}, 0, 0};
    if (PLUGMC_ENERGY_TERMS > 0 && there) hmc_add_neighbours(&t, walker, own, lane, 0, lists, &sum);
    hmc_sum_team(&t, &sum);
    if (!there || lane > 0) return;
    const hmc_neighbour me = HMC_ENTRIES(t)[(uint64_t)walker * t.particles + own];
    const uint64_t at = (uint64_t)walker * t.particles + hmc_particle_of(me);
    if (sum.known != sum.known) t.plan->lost = t.plan->sweep + 1;
    real gradient[3] = {0, 0, 0}, laplacian;
    const plugmc_position place = hmc_field_position(t.positions + 3 * at);
    if (PLUGMC_FIELDS > 0)
#if PLUGMC_WEIGHTED
        plugmc_fields_derivatives_weighted(place, hmc_site_of(me), HMC_WEIGHT(t, walker), gradient,
                                           &laplacian);
#else
        plugmc_fields_derivatives(place, hmc_site_of(me), gradient, &laplacian);
#endif
    for (int d = 0; d < 3; d++)
        t.force[3 * at + d] = (double)sum.force[d] / HMC_ENERGY_UNIT - (double)gradient[d];
}

/* Half of the energies of a particle's pairs, and its energy in the fields; infinite where it may
 * not be. */
HMC_KERNEL hmc_energies(const hmc_task t)
{
    __shared__ uint32_t lists[HMC_LIST * HMC_THREADS];
    HMC_ENTRY_OF_TEAM
    hmc_sum sum = {{0, 0, 0}, 0, 0};
    int outside = 0;
    if (PLUGMC_ENERGY_TERMS > 0 && there) hmc_add_neighbours(&t, walker, own, lane, 1, lists, &sum);
    hmc_sum_team(&t, &sum);
    if (!there || lane > 0) return;
    const hmc_neighbour me = HMC_ENTRIES(t)[(uint64_t)walker * t.particles + own];
    const uint64_t at = (uint64_t)walker * t.particles + hmc_particle_of(me);
    if (!(sum.known > -PLUGMC_NO_RANGE)) t.plan->lost = t.plan->sweep + 1;
    double energy = 0.5 * (double)sum.energy / HMC_ENERGY_UNIT;
    const plugmc_position place = hmc_field_position(t.positions + 3 * at);
    if (PLUGMC_FIELDS > 0)
#if PLUGMC_WEIGHTED
        energy +=
            (double)plugmc_fields_weighted(place, hmc_site_of(me), &outside, HMC_WEIGHT(t, walker));
#else
        energy += (double)plugmc_fields(place, hmc_site_of(me), &outside);
#endif
    t.share[at] = outside ? (double)PLUGMC_NO_RANGE : energy;
}

#if PLUGMC_WEIGHTED
/* What total facet number `term` has written apart, by what it counts in each walker. */
HMC_KERNEL hmc_add_total(const hmc_task t, int term, int with_energy)
{
    HMC_PARTICLE
    const double weight = HMC_WEIGHT(t, walker)[term];
    if (weight == 0) return;
    for (int d = 0; d < 3; d++) t.force[3 * at + d] += weight * t.own_force[3 * at + d];
    if (particle == 0 && with_energy) t.others[walker] += weight * t.own_energy[walker];
}
#endif
#endif
