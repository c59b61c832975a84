/* ewald_serial.cu: trial moves in batches of ES_BATCH, in double precision throughout. What they
 * are and how they are decided is said in ewald_serial.c, which includes the first part.
 *
 * What moves are *units*: with ES_RIGID the molecules, else the particles that are in none. With
 * ES_LISTED there are molecules in the run, and lists say which particles a unit has; without,
 * unit and particle are one and the same. A sweep has a *pass* through all units for each kind of
 * move.
 *
 * Sums run in an order that follows from the numbers of particles and waves alone. Shapes:
 * [walkers] first, then [ES_BATCH], the trial moves of a batch, then [most], the sites of a unit.
 */
#include <plugmc/molecule.h>

enum {
    ES_THREADS = 128,
    ES_BATCH = 64,
    ES_DECIDERS = 512,
    ES_TILE = 16 /* waves a block holds at a time, and pairs of trial moves along an edge */
};

/* Place of trial moves m > i in the lower triangle of a matrix. */
enum { ES_TRIANGLE = ES_BATCH * (ES_BATCH - 1) / 2 };
enum { ES_NOBODY = 0x7fffffff };

/* Kinds of move, a pass each. */
enum { ES_DISPLACEMENT, ES_TURN, ES_KINDS = ES_RIGID ? 2 : 1 };

/* Of one walker. */
typedef struct es_state {
    double energy; /* kT: running, all sampled potentials */
    uint64_t trials[ES_KINDS], accepted[ES_KINDS];
    int64_t astray; /* particle whose energy change was not a number, + 1; 0: none */
} es_state;

/* What a walker has of its rung. */
typedef struct es_rung {
    double kT, step[ES_KINDS]; /* energy; length, rad */
} es_rung;

/* What changes from batch to batch; kept by the device. */
typedef struct es_plan {
    plugmc_seed seed;
    uint64_t sweep;
    double step[ES_KINDS]; /* length, rad: of walkers that are alike */
    uint32_t first;        /* unit of the batch */
    uint32_t pass;
    uint64_t lost; /* 1 + the sweep in which an energy change was not a number; 0: none */
} es_plan;

typedef struct es_task {
    double length[3], vector[3][3], inverse[3][3]; /* of the box */
    int32_t dimension, oblique;
    uint32_t particles, walkers, waves;
    uint32_t units, most;                          /* most: sites of the largest unit */
    uint32_t wave_blocks, particle_blocks, chunks; /* blocks of sums */
    /* Particles that a block sums pairs of, and waves that one couples trial moves by: few of a small
     * system, so that all multiprocessors have some. */
    uint32_t block_particles, block_waves;
    double reach_square;
    es_plan *plan;
    es_state *state;         /* [walkers] */
    const uint32_t *species; /* [particles] */
    const int32_t *wave;     /* [waves][3] n */
    const double *weight;    /* [waves] kT */
    double *positions;       /* [walkers][particles][3] */
    double *structure;       /* [walkers][2][waves] sum of z exp(2 pi i n.f) */
    double *from, *to;       /* [walkers][batch][most][3] */
    double *alone;           /* [walkers][batch] kT: change by fields; infinite where forbidden */
    double *shift;           /* [walkers][batch][2][waves] change of the structure factors */
    double *wave_part;       /* [walkers][batch][wave_blocks] kT */
    double *pair_part;       /* [walkers][batch][particle_blocks] kT; infinite for an overlap */
    double *couple_part;     /* [walkers][chunks][batch][batch] kT */
    /* [walkers][2 most + 1][ES_TRIANGLE] kT: change of m if i < m stays, and if it has moved, by pairs
     * of each site of m; last by waves if i has moved. */
    double *between;
    uint8_t *accepted;         /* [walkers][batch] */
    double *share;             /* [walkers][particles] kT: pair energy with those after, fields */
    const es_rung *rung;       /* [walkers]; these two where walkers differ (ES_BY_WALKER) */
    const double *coupling;    /* [walkers][terms]: what a term counts by */
    const uint32_t *wave_term; /* [waves]: of which term it is */
    /* With ES_LISTED. */
    const uint32_t *member;  /* [units][most] the particles of a unit */
    const uint32_t *unit_of; /* [particles]; ES_NOBODY: of none */
    const int32_t *molecule; /* [particles]; negative: of none */
    /* With ES_RIGID. */
    const plugmc_box *box;
    const plugmc_molecule *kinds; /* [kinds] */
    const uint32_t *kind;         /* [units] */
    plugmc_orientation *turned;   /* [walkers][particles], at the number of the first site */
    plugmc_orientation *turn;     /* [walkers][batch] to which it would turn */
} es_task;

#ifdef __CUDACC_RTC__
#define ES_KERNEL extern "C" __global__ void __launch_bounds__(ES_THREADS)

#if ES_BY_WALKER
#define ES_STEP(walker, kind) (t.rung[walker].step[kind])
#define ES_OVER_KT(walker) (1 / t.rung[walker].kT)
#else
#define ES_STEP(walker, kind) (t.plan->step[kind])
#define ES_OVER_KT(walker) PLUGMC_OVER_KT
#endif
#define ES_COUPLING(t, walker) ((t)->coupling + (uint64_t)(walker)*PLUGMC_TERMS)

/* Of a wave in a walker. */
PLUGMC_FN double es_weight(const es_task *t, uint32_t walker, uint32_t k)
{
#if PLUGMC_WEIGHTED
    return t->weight[k] * ES_COUPLING(t, walker)[t->wave_term[k]];
#else
    return t->weight[k];
#endif
}

PLUGMC_FN double es_total(const es_task *t, uint32_t walker, const plugmc_sums *sums, plugmc_site a)
{
#if PLUGMC_WEIGHTED
    return plugmc_sums_weighted(sums, a, ES_COUPLING(t, walker));
#else
    return plugmc_sums_total(sums, a);
#endif
}

PLUGMC_FN double es_fields(const es_task *t, uint32_t walker, plugmc_position r, plugmc_site a,
                           int *outside)
{
#if PLUGMC_WEIGHTED
    return plugmc_fields_weighted(r, a, outside, ES_COUPLING(t, walker));
#else
    return plugmc_fields(r, a, outside);
#endif
}

/* ---- Units ----------------------------------------------------------------------------------- */

PLUGMC_FN uint32_t es_batch(const es_task *t)
{
    const uint32_t left = t->units - t->plan->first;
    return left < ES_BATCH ? left : ES_BATCH;
}

PLUGMC_FN uint32_t es_sites(const es_task *t, uint32_t unit)
{
#if ES_RIGID
    return (uint32_t)t->kinds[t->kind[unit]].sites;
#else
    return 1;
#endif
}

/* The particle that is site a of a unit. */
PLUGMC_FN uint32_t es_particle(const es_task *t, uint32_t unit, uint32_t a)
{
#if ES_LISTED
    return t->member[(uint64_t)unit * t->most + a];
#else
    return unit;
#endif
}

PLUGMC_FN uint32_t es_unit_of(const es_task *t, uint32_t particle)
{
#if ES_LISTED
    return t->unit_of[particle];
#else
    return particle;
#endif
}

PLUGMC_FN plugmc_site es_site_of(const es_task *t, uint32_t particle)
{
    return plugmc_site_of_species((int)t->species[particle]);
}

PLUGMC_FN bool es_same_molecule(const es_task *t, uint32_t i, uint32_t j)
{
#if ES_LISTED
    return t->molecule[i] >= 0 && t->molecule[i] == t->molecule[j];
#else
    return false;
#endif
}

/* Place of site a of move m of a batch in `from` and `to`. */
PLUGMC_FN uint64_t es_place_of(const es_task *t, uint32_t walker, uint32_t m, uint32_t a)
{
    return 3 * (((uint64_t)walker * ES_BATCH + m) * t->most + a);
}

PLUGMC_FN plugmc_separation es_separation(const double *a, const double *b)
{
    return plugmc_separated(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/* Phase factor exp(2 pi i n.f) of a place. */
PLUGMC_FN void es_phase(const es_task *t, const int32_t *n, const double *r, double *re, double *im)
{
    double turns = 0;
    for (int d = 0; d < 3; d++)
        turns +=
            n[d] * (r[0] * t->inverse[0][d] + r[1] * t->inverse[1][d] + r[2] * t->inverse[2][d]);
    sincospi(2 * (turns - rint(turns)), im, re);
}

PLUGMC_FN plugmc_position es_place(const double *r)
{
    plugmc_position p;
    p.x = r[0];
    p.y = r[1];
    p.z = r[2];
    return p;
}

PLUGMC_FN double es_infinite() { return (double)PLUGMC_NO_RANGE; }

/* ---- A batch --------------------------------------------------------------------------------- */

#if ES_RIGID
/* The molecule is displaced, or turns about its centre, with the random numbers of the mover rigid.
 * Returns 0 where it has to stay. */
PLUGMC_FN int es_move(const es_task &t, uint32_t walker, uint32_t unit, const double *from,
                      double *to, plugmc_orientation *turn)
{
    const plugmc_molecule *kind = &t.kinds[t.kind[unit]];
    double first[3] = {from[0], from[1], from[2]}, before[3], after[3];
    int possible = 1;
    *turn = t.turned[(uint64_t)walker * t.particles + es_particle(&t, unit, 0)];
    if (t.plan->pass == ES_TURN) {
        plugmc_turn_vector(turn, kind->centre, before);
        possible = plugmc_draw_turn(t.plan->seed, t.plan->sweep, walker, 2 * t.units + unit, 3,
                                    ES_STEP(walker, ES_TURN), turn);
        plugmc_turn_vector(turn, kind->centre, after);
        for (int d = 0; d < 3; d++) first[d] += before[d] - after[d];
    } else {
        plugmc_draw_in_ball(t.plan->seed, t.plan->sweep, walker, unit, 3, after);
        for (int d = 0; d < 3; d++) first[d] += ES_STEP(walker, ES_DISPLACEMENT) * after[d];
    }
    plugmc_wrap(t.box, first);
    for (int a = 0; a < kind->sites; a++)
        plugmc_place_site(kind, turn, t.box, first, a, to + 3 * a);
    return possible;
}
#else
PLUGMC_FN void es_move(const es_task &t, uint32_t walker, uint32_t unit, double *to)
{
    double v[3];
    plugmc_draw_in_ball(t.plan->seed, t.plan->sweep, walker, unit, t.dimension, v);
    for (int d = 0; d < t.dimension; d++) to[d] += ES_STEP(walker, ES_DISPLACEMENT) * v[d];
    if (t.oblique)
        plugmc_wrap_oblique(t.vector, t.inverse, to);
    else
        plugmc_wrap_rectangular(t.length, t.dimension, to);
}
#endif

/* Number of the trial of a unit among the random numbers of a sweep. */
PLUGMC_FN uint32_t es_number(const es_task *t, uint32_t unit)
{
    return t->plan->pass == ES_DISPLACEMENT ? unit : 2 * t->units + unit;
}

/* Where they want to go. Blocks (1, walkers). */
ES_KERNEL es_propose(const es_task t)
{
    const uint32_t walker = blockIdx.y, m = threadIdx.x;
    if (m >= es_batch(&t)) return;
    const uint32_t unit = t.plan->first + m, sites = es_sites(&t, unit);
    const uint64_t at = (uint64_t)walker * ES_BATCH + m;
    double *from = t.from + es_place_of(&t, walker, m, 0),
           *to = t.to + es_place_of(&t, walker, m, 0), change = 0;
    int outside = 0, unused = 0;
    for (uint32_t a = 0; a < sites; a++) {
        const double *r =
            t.positions + 3 * ((uint64_t)walker * t.particles + es_particle(&t, unit, a));
        for (int d = 0; d < 3; d++) from[3 * a + d] = to[3 * a + d] = r[d];
    }
#if ES_RIGID
    outside = !es_move(t, walker, unit, from, to, t.turn + at);
#else
    es_move(t, walker, unit, to);
#endif
    for (uint32_t a = 0; a < sites && PLUGMC_FIELDS > 0; a++) {
        const plugmc_site site = es_site_of(&t, es_particle(&t, unit, a));
        change += es_fields(&t, walker, es_place(to + 3 * a), site, &outside);
        change -= es_fields(&t, walker, es_place(from + 3 * a), site, &unused);
    }
    t.alone[at] = outside ? es_infinite() : change;
}

/* How the energy of wave k changes if move m goes alone. */
PLUGMC_FN double es_change_of_wave(const es_task &t, uint32_t walker, uint32_t m, uint32_t k)
{
    const uint64_t at = (uint64_t)walker * ES_BATCH + m;
    const uint32_t unit = t.plan->first + m, sites = es_sites(&t, unit);
    const double *structure = t.structure + 2 * (uint64_t)walker * t.waves;
    double re = 0, im = 0;
    for (uint32_t a = 0; a < sites; a++) {
        const double charge = es_site_of(&t, es_particle(&t, unit, a)).charge;
        const uint64_t place = es_place_of(&t, walker, m, a);
        double to_re, to_im, from_re, from_im;
        if (ES_RIGID && charge == 0) continue;
        es_phase(&t, t.wave + 3 * (uint64_t)k, t.to + place, &to_re, &to_im);
        es_phase(&t, t.wave + 3 * (uint64_t)k, t.from + place, &from_re, &from_im);
        re += charge * (to_re - from_re);
        im += charge * (to_im - from_im);
    }
    t.shift[2 * at * t.waves + k] = re;
    t.shift[(2 * at + 1) * t.waves + k] = im;
    return es_weight(&t, walker, k) *
           (re * (2 * structure[k] + re) + im * (2 * structure[t.waves + k] + im));
}

/* Adds what particle b of a species feels when `a` goes; false if they overlap then. */
PLUGMC_FN bool es_add_pair(const es_task *t, const double *from, const double *to, plugmc_site a,
                           const double *other, plugmc_site b, plugmc_sums *sums)
{
    const plugmc_separation near = es_separation(to, other), far = es_separation(from, other);
    if (PLUGMC_CONTACTS && near.r2 < plugmc_contact_square(a.species, b.species)) return false;
    if (PLUGMC_ENERGY_TERMS > 0 && (near.r2 < t->reach_square || far.r2 < t->reach_square))
        plugmc_sums_add_change(sums, far, near, a, b);
    return true;
}

/* How the pairs of move m change with the particles of a block, but those of its unit, and of units
 * of the batch that come before. */
PLUGMC_FN double es_change_of_pairs(const es_task &t, uint32_t walker, uint32_t m, uint32_t block)
{
    const uint32_t first = t.plan->first, own = first + m, sites = es_sites(&t, own);
    const double *positions = t.positions + 3 * (uint64_t)walker * t.particles;
    double change = 0;
    bool free = true;
    for (uint32_t a = 0; a < sites; a++) {
        const plugmc_site site = es_site_of(&t, es_particle(&t, own, a));
        const uint64_t place = es_place_of(&t, walker, m, a);
        plugmc_sums sums;
        plugmc_sums_clear(&sums);
        for (uint32_t k = threadIdx.x; k < t.block_particles; k += ES_THREADS) {
            const uint32_t j = block * t.block_particles + k;
            if (j >= t.particles) continue;
            const uint32_t unit = es_unit_of(&t, j);
            if (unit >= first && unit <= own) continue;
            free &= es_add_pair(&t, t.from + place, t.to + place, site, positions + 3 * (uint64_t)j,
                                es_site_of(&t, j), &sums);
        }
        change += es_total(&t, walker, &sums, site);
    }
    return free ? change : es_infinite();
}

/* How the pairs change if one moves alone. Blocks (particle_blocks, batch, walkers). */
ES_KERNEL es_pairs(const es_task t)
{
    const uint32_t m = blockIdx.y, walker = blockIdx.z;
    const uint64_t at = (uint64_t)walker * ES_BATCH + m;
    double change = m < es_batch(&t) ? es_change_of_pairs(t, walker, m, blockIdx.x) : 0;
    change = sum_of_block<ES_THREADS>(change);
    if (threadIdx.x == 0) t.pair_part[at * t.particle_blocks + blockIdx.x] = change;
}

/* Likewise the waves. Blocks (wave_blocks, batch, walkers), a thread a wave. */
ES_KERNEL es_waves(const es_task t)
{
    const uint32_t m = blockIdx.y, walker = blockIdx.z, k = blockIdx.x * ES_THREADS + threadIdx.x;
    const uint64_t at = (uint64_t)walker * ES_BATCH + m;
    double change = m < es_batch(&t) && k < t.waves ? es_change_of_wave(t, walker, m, k) : 0;
    change = sum_of_block<ES_THREADS>(change);
    if (threadIdx.x == 0) t.wave_part[at * t.wave_blocks + blockIdx.x] = change;
}

/* What moves i and m do to each other by the waves, 2 sum weight Re(conj(shift_i) shift_m): a
 * product of matrices, a chunk of waves a block. Blocks (chunks, walkers) of ES_TILE x ES_TILE
 * threads, each with 4 x 4 of the sums. */
extern "C" __global__ void __launch_bounds__(ES_TILE *ES_TILE) es_couple(const es_task t)
{
    enum { EACH = ES_BATCH / ES_TILE };
    __shared__ double re[ES_TILE][ES_BATCH + 1], im[ES_TILE][ES_BATCH + 1];
#if PLUGMC_WEIGHTED
    __shared__ double factor[ES_TILE]; /* what the term of a wave counts by */
#endif
    const uint32_t walker = blockIdx.y, n = es_batch(&t);
    const uint32_t row = threadIdx.x / ES_TILE, column = threadIdx.x % ES_TILE;
    const double *shift = t.shift + 2 * (uint64_t)walker * ES_BATCH * t.waves;
    double sum[EACH][EACH] = {{0}};
    for (uint32_t tile = 0; tile < t.block_waves; tile += ES_TILE) {
        __syncthreads();
#if PLUGMC_WEIGHTED
        const uint32_t mine = blockIdx.x * t.block_waves + tile + threadIdx.x;
        if (threadIdx.x < ES_TILE)
            factor[threadIdx.x] = mine < t.waves ? ES_COUPLING(&t, walker)[t.wave_term[mine]] : 0;
#endif
        const uint32_t w = blockIdx.x * t.block_waves + tile + column;
        const double root = w < t.waves ? sqrt(2 * t.weight[w]) : 0;
        for (uint32_t m = row; m < ES_BATCH; m += ES_TILE) {
            const bool there = m < n && w < t.waves;
            re[column][m] = there ? root * shift[2 * (uint64_t)m * t.waves + w] : 0;
            im[column][m] = there ? root * shift[(2 * (uint64_t)m + 1) * t.waves + w] : 0;
        }
        __syncthreads();
        for (uint32_t v = 0; v < ES_TILE; v++)
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j <= i; j++) { /* all others are above the diagonal */
                    const double both = re[v][row + ES_TILE * i] * re[v][column + ES_TILE * j] +
                                        im[v][row + ES_TILE * i] * im[v][column + ES_TILE * j];
#if PLUGMC_WEIGHTED
                    sum[i][j] += factor[v] * both;
#else
                    sum[i][j] += both;
#endif
                }
    }
    double *out = t.couple_part + ((uint64_t)walker * t.chunks + blockIdx.x) * ES_BATCH * ES_BATCH;
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            out[(row + ES_TILE * i) * ES_BATCH + column + ES_TILE * j] = sum[i][j];
}

/* What the change of m has to be given for move i < m: by the pairs of a site of m, and by waves if i
 * has moved. Blocks (batch^2 / threads, 2 most + 1, walkers). */
ES_KERNEL es_between(const es_task t)
{
    const uint32_t walker = blockIdx.z, slice = blockIdx.y;
    const uint32_t k = blockIdx.x * ES_THREADS + threadIdx.x;
    const uint32_t m = k / ES_BATCH, i = k % ES_BATCH, first = t.plan->first;
    if (m >= es_batch(&t) || i >= m) return;
    const uint32_t a = slice / 2, others = es_sites(&t, first + i);
    double out = 0;
    if (a == t.most) {
        const double *part = t.couple_part + (uint64_t)walker * t.chunks * ES_BATCH * ES_BATCH;
#pragma unroll 16 /* or each waits for the one before to come from memory */
        for (uint32_t c = 0; c < t.chunks; c++)
            out += part[((uint64_t)c * ES_BATCH + m) * ES_BATCH + i];
    } else if (a < es_sites(&t, first + m)) {
        const plugmc_site site = es_site_of(&t, es_particle(&t, first + m, a));
        const uint64_t place = es_place_of(&t, walker, m, a);
        const double *there = slice % 2 ? t.to : t.from;
        bool free = true;
        plugmc_sums sums;
        plugmc_sums_clear(&sums);
        for (uint32_t b = 0; b < others; b++)
            free &= es_add_pair(&t, t.from + place, t.to + place, site,
                                there + es_place_of(&t, walker, i, b),
                                es_site_of(&t, es_particle(&t, first + i, b)), &sums);
        out = free ? es_total(&t, walker, &sums, site) : es_infinite();
    }
    t.between[((uint64_t)walker * (2 * t.most + 1) + slice) * ES_TRIANGLE + m * (m - 1) / 2 + i] =
        out;
}

/* The configuration after move m of the batch. */
PLUGMC_FN void es_take(const es_task &t, uint32_t walker, uint32_t m)
{
    const uint32_t unit = t.plan->first + m, sites = es_sites(&t, unit);
    const uint64_t of_walker = (uint64_t)walker * t.particles;
    for (uint32_t a = 0; a < sites; a++)
        for (int d = 0; d < 3; d++)
            t.positions[3 * (of_walker + es_particle(&t, unit, a)) + d] =
                t.to[es_place_of(&t, walker, m, a) + d];
#if ES_RIGID
    t.turned[of_walker + es_particle(&t, unit, 0)] = t.turn[(uint64_t)walker * ES_BATCH + m];
#endif
}

/* Whether limit < exp(-x). The logarithm is known before x is, and tells it unless they are equal but for rounding. */
PLUGMC_FN bool es_accepts(double x, double limit, double minus_log)
{
    return fabs(x - minus_log) > 1e-9 * (1 + minus_log) ? x < minus_log : limit < exp(-x);
}

/* One after the other. A block of ES_DECIDERS threads a walker, which gather what moves do to each
 * other; then thread m keeps the change of move m. A move whose change is not a number, or minus
 * infinity, is made, and none after it, so that it is found. */
extern "C" __global__ void __launch_bounds__(ES_DECIDERS) es_decide(const es_task t)
{
    __shared__ double before[ES_TRIANGLE], after[ES_TRIANGLE];
    __shared__ double changes[ES_BATCH];
    __shared__ uint8_t accepted[ES_BATCH]; /* 2: its change was not a number */
    const uint32_t walker = blockIdx.x, m = threadIdx.x, n = es_batch(&t), first = t.plan->first;
    const uint64_t at = (uint64_t)walker * ES_BATCH + m;
    const double *between = t.between + (uint64_t)walker * (2 * t.most + 1) * ES_TRIANGLE;
    for (uint32_t k = m; k < n * (n - 1) / 2; k += ES_DECIDERS) {
        double stays = 0, moved = between[2 * t.most * ES_TRIANGLE + k];
        for (uint32_t a = 0; a < t.most; a++) {
            stays += between[2 * a * ES_TRIANGLE + k];
            moved += between[(2 * a + 1) * ES_TRIANGLE + k];
        }
        before[k] = stays;
        after[k] = moved;
    }
    double change = 0, limit = 0, minus_log = 0;
    bool lost = t.state[walker].astray != 0;
    if (m < n) {
        const plugmc_random random =
            plugmc_draw(t.plan->seed, t.plan->sweep, walker, es_number(&t, first + m),
                        PLUGMC_PURPOSE_ACCEPT, 0);
        limit = plugmc_uniform_double(random.word[0], random.word[1]);
        minus_log = -log(limit);
        change = t.alone[at];
#pragma unroll 8
        for (uint32_t k = 0; k < t.particle_blocks; k++)
            change += t.pair_part[at * t.particle_blocks + k];
#pragma unroll 16
        for (uint32_t k = 0; k < t.wave_blocks; k++) change += t.wave_part[at * t.wave_blocks + k];
    }
    __syncthreads();
    if (m >= ES_BATCH) return;
    for (uint32_t i = 0; i < n; i++) {
        const bool later = m > i && m < n;
        const uint32_t place = later ? m * (m - 1) / 2 + i : 0;
        const double if_moved = after[place], if_not = before[place];
        if (m == i) {
            const bool unknown = !(change > -es_infinite());
            accepted[i] = lost      ? 0
                          : unknown ? 2
                                    : change <= 0 ||
                                          es_accepts(change * ES_OVER_KT(walker), limit, minus_log);
            changes[i] = change;
        }
        __syncthreads();
        const uint32_t decision = accepted[i];
        lost = lost || decision == 2;
        if (later) change += decision ? if_moved : if_not;
    }
    t.accepted[at] = m < n && accepted[m];
    if (m < n && accepted[m]) es_take(t, walker, m);
    if (m > 0) return;
    es_state *s = t.state + walker;
    const uint32_t pass = ES_KINDS > 1 ? t.plan->pass : 0;
    double energy = s->energy;
    uint64_t taken = 0;
    s->trials[pass] += n;
    for (uint32_t i = 0; i < n; i++) {
        if (!(changes[i] > -es_infinite()) && !s->astray) {
            s->astray = (int64_t)es_particle(&t, first + i, 0) + 1;
            t.plan->lost = t.plan->sweep + 1;
        }
        if (!accepted[i]) continue;
        taken++;
        energy += changes[i];
    }
    s->accepted[pass] += taken;
    s->energy = energy;
}

PLUGMC_FN void es_advance(const es_task &t)
{
    t.plan->first += ES_BATCH;
    if (t.plan->first < t.units) return;
    t.plan->first = 0;
    if (++t.plan->pass < ES_KINDS) return;
    t.plan->pass = 0;
    t.plan->sweep++;
}

/* Structure factors of those that moved, in their order; and on to the next batch. Blocks (wave_blocks, at least 1,
 * walkers). */
ES_KERNEL es_apply(const es_task t)
{
    /* A list, since a loop that looks whether each has moved cannot read ahead. */
    __shared__ uint8_t moved[ES_BATCH];
    __shared__ uint32_t count;
    const uint32_t walker = blockIdx.y, k = blockIdx.x * ES_THREADS + threadIdx.x;
    const uint64_t batch = (uint64_t)walker * ES_BATCH;
    if (threadIdx.x < 32) {
        uint32_t before = 0;
        for (uint32_t m = threadIdx.x; m < ES_BATCH; m += 32) {
            const bool accepted = t.accepted[batch + m];
            const uint32_t all = __ballot_sync(~0u, accepted);
            if (accepted) moved[before + __popc(all & ((1u << threadIdx.x) - 1))] = (uint8_t)m;
            before += __popc(all);
        }
        count = before;
    }
    __syncthreads();
    if (k == 0 && walker == 0) es_advance(t); /* which nobody looks at here */
    if (k >= t.waves) return;
    double *re = t.structure + 2 * (uint64_t)walker * t.waves + k, *im = re + t.waves;
    const double *shift = t.shift + 2 * batch * t.waves + k;
    double sum_re = *re, sum_im = *im;
#pragma unroll 8
    for (uint32_t i = 0; i < count; i++) {
        sum_re += shift[2 * (uint64_t)moved[i] * t.waves];
        sum_im += shift[(2 * (uint64_t)moved[i] + 1) * t.waves];
    }
    *re = sum_re;
    *im = sum_im;
}

/* ---- From scratch ---------------------------------------------------------------------------- */

/* Structure factor of a wave. Blocks (waves, walkers). */
ES_KERNEL es_structure(const es_task t)
{
    const uint32_t k = blockIdx.x, walker = blockIdx.y;
    const double *positions = t.positions + 3 * (uint64_t)walker * t.particles;
    double re = 0, im = 0;
    for (uint32_t i = threadIdx.x; i < t.particles; i += ES_THREADS) {
        const double charge = plugmc_site_of_species((int)t.species[i]).charge;
        double own_re, own_im;
        es_phase(&t, t.wave + 3 * (uint64_t)k, positions + 3 * (uint64_t)i, &own_re, &own_im);
        re += charge * own_re;
        im += charge * own_im;
    }
    re = sum_of_block<ES_THREADS>(re);
    im = sum_of_block<ES_THREADS>(im);
    if (threadIdx.x > 0) return;
    t.structure[2 * (uint64_t)walker * t.waves + k] = re;
    t.structure[(2 * (uint64_t)walker + 1) * t.waves + k] = im;
}

/* Energy of a particle with those after it, and in the fields. Blocks (particles / threads,
 * walkers). */
ES_KERNEL es_energies(const es_task t)
{
    const uint32_t walker = blockIdx.y, i = blockIdx.x * ES_THREADS + threadIdx.x;
    if (i >= t.particles) return;
    const double *positions = t.positions + 3 * (uint64_t)walker * t.particles;
    const plugmc_site a = plugmc_site_of_species((int)t.species[i]);
    plugmc_sums sums;
    int outside = 0;
    plugmc_sums_clear(&sums);
    for (uint32_t j = i + 1; j < t.particles; j++) {
        if (es_same_molecule(&t, i, j)) continue;
        const plugmc_separation s =
            es_separation(positions + 3 * (uint64_t)i, positions + 3 * (uint64_t)j);
        if (s.r2 < t.reach_square)
            plugmc_sums_add_energy(&sums, s, a, plugmc_site_of_species((int)t.species[j]));
    }
    double energy = es_total(&t, walker, &sums, a);
    if (PLUGMC_FIELDS > 0)
        energy += es_fields(&t, walker, es_place(positions + 3 * (uint64_t)i), a, &outside);
    t.share[(uint64_t)walker * t.particles + i] = energy;
}
#endif
