/* ewald_serial.cu: trial moves in batches of ES_BATCH, in double precision throughout. What they
 * are and how they are decided is said in ewald_serial.c, which includes the first part.
 *
 * Sums run in an order that follows from the numbers of particles and waves alone. Shapes:
 * [walkers] first, then [ES_BATCH], the trial moves of a batch.
 */
enum {
    ES_THREADS = 128,
    ES_BATCH = 64,
    ES_PARTICLES = 1024, /* a block sums pairs of */
    ES_TILE = 16,        /* waves a block holds at a time, and pairs of trial moves along an edge */
    ES_CHUNK = 128       /* waves that a block couples trial moves by */
};

/* Place of trial moves m > i in the lower triangle of a matrix. */
enum { ES_TRIANGLE = ES_BATCH * (ES_BATCH - 1) / 2 };

/* Of one walker. */
typedef struct es_state {
    double energy; /* kT: running, all sampled potentials */
    uint64_t trials, accepted;
    int64_t astray; /* particle whose energy change was not a number, + 1; 0: none */
} es_state;

/* What a walker has of its rung. */
typedef struct es_rung {
    double kT, step; /* energy, length */
} es_rung;

/* What changes from batch to batch; kept by the device. */
typedef struct es_plan {
    plugmc_seed seed;
    uint64_t sweep;
    double step;    /* length, of walkers that are alike */
    uint32_t first; /* particle of the batch */
    uint32_t unused;
    uint64_t lost; /* 1 + the sweep in which an energy change was not a number; 0: none */
} es_plan;

typedef struct es_task {
    double length[3], vector[3][3], inverse[3][3]; /* of the box */
    int32_t dimension, oblique;
    uint32_t particles, walkers, waves;
    uint32_t wave_blocks, particle_blocks, chunks; /* blocks of sums */
    double reach_square;
    es_plan *plan;
    es_state *state;         /* [walkers] */
    const uint32_t *species; /* [particles] */
    const int32_t *wave;     /* [waves][3] n */
    const double *weight;    /* [waves] kT */
    double *positions;       /* [walkers][particles][3] */
    double *structure;       /* [walkers][2][waves] sum of z exp(2 pi i n.f) */
    double *from, *to;       /* [walkers][batch][3] */
    double *alone;           /* [walkers][batch] kT: change by fields; infinite where forbidden */
    double *shift;           /* [walkers][batch][2][waves] change of the structure factors */
    double *wave_part;       /* [walkers][batch][wave_blocks] kT */
    double *pair_part;       /* [walkers][batch][particle_blocks] kT; infinite for an overlap */
    double *couple_part;     /* [walkers][chunks][batch][batch] kT */
    double *before,
        *after;          /* [walkers][ES_TRIANGLE] kT: change of m if i < m stays, or has moved */
    uint8_t *accepted;   /* [walkers][batch] */
    double *share;       /* [walkers][particles] kT: pair energy with those after, fields */
    const es_rung *rung; /* [walkers]; these two where walkers differ (ES_BY_WALKER) */
    const double *coupling;    /* [walkers][terms]: what a term counts by */
    const uint32_t *wave_term; /* [waves]: of which term it is */
} es_task;

#ifdef __CUDACC_RTC__
#define ES_KERNEL extern "C" __global__ void __launch_bounds__(ES_THREADS)

#if ES_BY_WALKER
#define ES_STEP(walker) (t.rung[walker].step)
#define ES_OVER_KT(walker) (1 / t.rung[walker].kT)
#else
#define ES_STEP(walker) (t.plan->step)
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

PLUGMC_FN uint32_t es_batch(const es_task *t)
{
    const uint32_t left = t->particles - t->plan->first;
    return left < ES_BATCH ? left : ES_BATCH;
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

/* Where they want to go. Blocks (1, walkers). */
ES_KERNEL es_propose(const es_task t)
{
    const uint32_t walker = blockIdx.y, m = threadIdx.x;
    if (m >= es_batch(&t)) return;
    const uint32_t particle = t.plan->first + m;
    const uint64_t at = (uint64_t)walker * ES_BATCH + m;
    const double *r = t.positions + 3 * ((uint64_t)walker * t.particles + particle);
    double *from = t.from + 3 * at, *to = t.to + 3 * at, change = 0;
    for (int d = 0; d < 3; d++) from[d] = to[d] = r[d];
    double v[3];
    plugmc_draw_in_ball(t.plan->seed, t.plan->sweep, walker, particle, t.dimension, v);
    for (int d = 0; d < t.dimension; d++) to[d] += ES_STEP(walker) * v[d];
    if (t.oblique)
        plugmc_wrap_oblique(t.vector, t.inverse, to);
    else
        plugmc_wrap_rectangular(t.length, t.dimension, to);
    if (PLUGMC_FIELDS > 0) {
        const plugmc_site a = plugmc_site_of_species((int)t.species[particle]);
        int outside = 0, unused = 0;
        change = es_fields(&t, walker, es_place(to), a, &outside);
        change -= es_fields(&t, walker, es_place(from), a, &unused);
        if (outside) change = es_infinite();
    }
    t.alone[at] = change;
}

/* How the waves change if one moves alone. Blocks (wave_blocks, batch, walkers), a thread a wave.
 */
ES_KERNEL es_waves(const es_task t)
{
    const uint32_t m = blockIdx.y, walker = blockIdx.z, k = blockIdx.x * ES_THREADS + threadIdx.x;
    const uint64_t at = (uint64_t)walker * ES_BATCH + m;
    double change = 0;
    if (m < es_batch(&t) && k < t.waves) {
        const double charge = plugmc_site_of_species((int)t.species[t.plan->first + m]).charge;
        const double *structure = t.structure + 2 * (uint64_t)walker * t.waves;
        double to_re, to_im, from_re, from_im;
        es_phase(&t, t.wave + 3 * (uint64_t)k, t.to + 3 * at, &to_re, &to_im);
        es_phase(&t, t.wave + 3 * (uint64_t)k, t.from + 3 * at, &from_re, &from_im);
        const double re = charge * (to_re - from_re), im = charge * (to_im - from_im);
        t.shift[2 * at * t.waves + k] = re;
        t.shift[(2 * at + 1) * t.waves + k] = im;
        change = es_weight(&t, walker, k) *
                 (re * (2 * structure[k] + re) + im * (2 * structure[t.waves + k] + im));
    }
    change = sum_of_block<ES_THREADS>(change);
    if (threadIdx.x == 0) t.wave_part[at * t.wave_blocks + blockIdx.x] = change;
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

/* How the pairs change with all particles but those of the batch that come before. Blocks
 * (particle_blocks, batch, walkers). */
ES_KERNEL es_pairs(const es_task t)
{
    const uint32_t m = blockIdx.y, walker = blockIdx.z, first = t.plan->first;
    const uint64_t at = (uint64_t)walker * ES_BATCH + m;
    double change = 0;
    if (m < es_batch(&t)) {
        const uint32_t own = first + m;
        const plugmc_site a = plugmc_site_of_species((int)t.species[own]);
        const double *positions = t.positions + 3 * (uint64_t)walker * t.particles;
        plugmc_sums sums;
        bool free = true;
        plugmc_sums_clear(&sums);
        for (uint32_t k = threadIdx.x; k < ES_PARTICLES; k += ES_THREADS) {
            const uint32_t j = blockIdx.x * ES_PARTICLES + k;
            if (j >= t.particles || (j >= first && j <= own)) continue;
            free &= es_add_pair(&t, t.from + 3 * at, t.to + 3 * at, a, positions + 3 * (uint64_t)j,
                                plugmc_site_of_species((int)t.species[j]), &sums);
        }
        change = free ? es_total(&t, walker, &sums, a) : es_infinite();
    }
    change = sum_of_block<ES_THREADS>(change);
    if (threadIdx.x == 0) t.pair_part[at * t.particle_blocks + blockIdx.x] = change;
}

/* What moves i and m do to each other by the waves, 2 sum weight Re(conj(shift_i) shift_m): a
 * product of matrices, a chunk of waves a block. Blocks (chunks, walkers) of ES_TILE x ES_TILE
 * threads, each with 4 x 4 of the sums. */
extern "C" __global__ void __launch_bounds__(ES_TILE *ES_TILE) es_couple(const es_task t)
{
    enum { EACH = ES_BATCH / ES_TILE, NUMBERS = ES_BATCH * ES_TILE };
    __shared__ double re[ES_TILE][ES_BATCH + 1], im[ES_TILE][ES_BATCH + 1];
#if PLUGMC_WEIGHTED
    __shared__ double factor[ES_TILE]; /* what the term of a wave counts by */
#endif
    const uint32_t walker = blockIdx.y, n = es_batch(&t);
    const uint32_t row = threadIdx.x / ES_TILE, column = threadIdx.x % ES_TILE;
    const double *shift = t.shift + 2 * (uint64_t)walker * ES_BATCH * t.waves;
    double sum[EACH][EACH] = {{0}};
    for (uint32_t tile = 0; tile < ES_CHUNK; tile += ES_TILE) {
        __syncthreads();
#if PLUGMC_WEIGHTED
        const uint32_t mine = blockIdx.x * ES_CHUNK + tile + threadIdx.x;
        if (threadIdx.x < ES_TILE)
            factor[threadIdx.x] = mine < t.waves ? ES_COUPLING(&t, walker)[t.wave_term[mine]] : 0;
#endif
        for (uint32_t k = threadIdx.x; k < NUMBERS; k += ES_TILE * ES_TILE) {
            const uint32_t m = k / ES_TILE, w = blockIdx.x * ES_CHUNK + tile + k % ES_TILE;
            const bool there = m < n && w < t.waves;
            const double root = there ? sqrt(2 * t.weight[w]) : 0;
            re[k % ES_TILE][m] = there ? root * shift[2 * (uint64_t)m * t.waves + w] : 0;
            im[k % ES_TILE][m] = there ? root * shift[(2 * (uint64_t)m + 1) * t.waves + w] : 0;
        }
        __syncthreads();
        for (uint32_t w = 0; w < ES_TILE; w++)
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++) {
                    const double both = re[w][row + ES_TILE * i] * re[w][column + ES_TILE * j] +
                                        im[w][row + ES_TILE * i] * im[w][column + ES_TILE * j];
#if PLUGMC_WEIGHTED
                    sum[i][j] += factor[w] * both;
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

/* What the change of m has to be given for move i < m: by pairs, and by waves if i has moved.
 * Blocks (batch^2 / threads, walkers). */
ES_KERNEL es_between(const es_task t)
{
    const uint32_t walker = blockIdx.y, k = blockIdx.x * ES_THREADS + threadIdx.x;
    const uint32_t m = k / ES_BATCH, i = k % ES_BATCH, first = t.plan->first;
    if (m >= es_batch(&t) || i >= m) return;
    const uint64_t batch = (uint64_t)walker * ES_BATCH;
    const double *from = t.from + 3 * (batch + m), *to = t.to + 3 * (batch + m);
    const plugmc_site a = plugmc_site_of_species((int)t.species[first + m]),
                      b = plugmc_site_of_species((int)t.species[first + i]);
    double out[2];
    for (int moved = 0; moved < 2; moved++) {
        plugmc_sums sums;
        plugmc_sums_clear(&sums);
        const double *other = (moved ? t.to : t.from) + 3 * (batch + i);
        const bool free = es_add_pair(&t, from, to, a, other, b, &sums);
        out[moved] = free ? es_total(&t, walker, &sums, a) : es_infinite();
    }
    const double *part = t.couple_part + (uint64_t)walker * t.chunks * ES_BATCH * ES_BATCH;
    for (uint32_t c = 0; c < t.chunks; c++)
        out[1] += part[((uint64_t)c * ES_BATCH + m) * ES_BATCH + i];
    const uint64_t place = (uint64_t)walker * ES_TRIANGLE + m * (m - 1) / 2 + i;
    t.before[place] = out[0];
    t.after[place] = out[1];
}

/* One after the other. A block of ES_BATCH threads a walker; thread m keeps the change of move m. A
 * move whose change is not a number, or minus infinity, is made, and none after it, so that it is
 * found. */
extern "C" __global__ void __launch_bounds__(ES_BATCH) es_decide(const es_task t)
{
    __shared__ double before[ES_TRIANGLE], after[ES_TRIANGLE];
    __shared__ double changes[ES_BATCH];
    __shared__ uint8_t accepted[ES_BATCH]; /* 2: its change was not a number */
    const uint32_t walker = blockIdx.x, m = threadIdx.x, n = es_batch(&t), first = t.plan->first;
    const uint64_t at = (uint64_t)walker * ES_BATCH + m, triangle = (uint64_t)walker * ES_TRIANGLE;
    for (uint32_t k = m; k < n * (n - 1) / 2; k += ES_BATCH) {
        before[k] = t.before[triangle + k];
        after[k] = t.after[triangle + k];
    }
    double change = 0, limit = 0;
    bool lost = t.state[walker].astray != 0;
    if (m < n) {
        const plugmc_random random =
            plugmc_draw(t.plan->seed, t.plan->sweep, walker, first + m, PLUGMC_PURPOSE_ACCEPT, 0);
        limit = plugmc_uniform_double(random.word[0], random.word[1]);
        change = t.alone[at];
        for (uint32_t k = 0; k < t.particle_blocks; k++)
            change += t.pair_part[at * t.particle_blocks + k];
        for (uint32_t k = 0; k < t.wave_blocks; k++) change += t.wave_part[at * t.wave_blocks + k];
    }
    for (uint32_t i = 0; i < n; i++) {
        if (m == i) {
            const bool unknown = !(change > -es_infinite());
            accepted[i] = lost      ? 0
                          : unknown ? 2
                                    : change <= 0 || limit < exp(-change * ES_OVER_KT(walker));
            changes[i] = change;
        }
        __syncthreads();
        const uint32_t place = m * (m - 1) / 2 + i, decision = accepted[i];
        lost = lost || decision == 2;
        if (m > i && m < n) change += decision ? after[place] : before[place];
    }
    if (m < n) t.accepted[at] = accepted[m] != 0;
    if (m < n && accepted[m])
        for (int d = 0; d < 3; d++)
            t.positions[3 * ((uint64_t)walker * t.particles + first + m) + d] = t.to[3 * at + d];
    if (m > 0) return;
    es_state *s = t.state + walker;
    s->trials += n;
    for (uint32_t i = 0; i < n; i++) {
        if (!(changes[i] > -es_infinite()) && !s->astray) {
            s->astray = (int64_t)(first + i) + 1;
            t.plan->lost = t.plan->sweep + 1;
        }
        if (!accepted[i]) continue;
        s->accepted++;
        s->energy += changes[i];
    }
}

/* Structure factors of those that moved, in their order; then on to the next batch. Blocks
 * (wave_blocks or 1, walkers). */
ES_KERNEL es_apply(const es_task t)
{
    const uint32_t walker = blockIdx.y, k = blockIdx.x * ES_THREADS + threadIdx.x;
    const uint64_t batch = (uint64_t)walker * ES_BATCH;
    if (k >= t.waves) return;
    double *re = t.structure + 2 * (uint64_t)walker * t.waves + k, *im = re + t.waves;
    const uint32_t n = es_batch(&t);
    double sum_re = *re, sum_im = *im;
    for (uint32_t m = 0; m < n; m++) {
        if (!t.accepted[batch + m]) continue;
        sum_re += t.shift[2 * (batch + m) * t.waves + k];
        sum_im += t.shift[(2 * (batch + m) + 1) * t.waves + k];
    }
    *re = sum_re;
    *im = sum_im;
}

ES_KERNEL es_advance(const es_task t)
{
    if (threadIdx.x > 0) return;
    t.plan->first += ES_BATCH;
    if (t.plan->first < t.particles) return;
    t.plan->first = 0;
    t.plan->sweep++;
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
