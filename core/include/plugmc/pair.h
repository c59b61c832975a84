/* plugmc/pair.h: makes the pair facet (plugmc_pair). Include it after the pair functions of a potential.
 *
 * PLUGMC_PAIR is the sum of the functions that the author has written. `p` are the parameters, `s` is the
 * separation a - b. Energies are in the potentials' unit of energy, which is kT unless [run] temperature is given.
 *
 *     PLUGMC_PAIR_ENERGY      real pair_energy(const parameters *p, plugmc_separation s,
 *                                              plugmc_site a, plugmc_site b)
 *                             real pair_range(const parameters *p)
 *                                 the separation from which the energy is exactly 0, or PLUGMC_NO_RANGE
 *     PLUGMC_PAIR_CONTACT     real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
 *                                 the distance below which a and b overlap
 *     PLUGMC_PAIR_CHANGE      real pair_change(const parameters *p, plugmc_separation from,
 *                                              plugmc_separation to, plugmc_site a, plugmc_site b)
 *                                 energy(to) - energy(from), if that is cheaper than two energies
 *     PLUGMC_PAIR_FACTOR      real pair_factor(const parameters *p, plugmc_site a)
 *                                 a factor of energy, change and derivatives that depends on the probe particle
 *                                 a alone; the other functions leave it out
 *     PLUGMC_PAIR_DERIVATIVE  void pair_derivative(const parameters *p, plugmc_separation s,
 *                                 plugmc_site a, plugmc_site b, real *first, real *second)
 *                                 du/dr / r and d2u/dr2
 *     PLUGMC_PAIR_POSITIONS   The energy also depends on the positions, e.g. on the distances from an ion. The
 *                             author then writes, in place of pair_energy and pair_derivative,
 *                             real pair_energy_at(const parameters *p, plugmc_position at,
 *                                                 plugmc_separation s, plugmc_site a, plugmc_site b)
 *                             void pair_derivative_at(const parameters *p, plugmc_position at,
 *                                 plugmc_separation s, plugmc_site a, plugmc_site b,
 *                                 real gradient[3], real *laplacian)
 *                             `at` is the position of a; b, or an image of it, is at `at` - s. The derivatives
 *                             are those by the position of a. Only movers with PLUGMC_USES_POSITIONS accept
 *                             such a potential. CHANGE and FACTOR cannot be combined with it. There is no
 *                             virial.
 *
 * Only ENERGY or CONTACT is required. A potential that looks up tables by species defines PLUGMC_PAIR_BY_SPECIES
 * inside `#if PLUGMC_HOST` before this header: neighbours of a single species then get loops without look-ups. One whose
 * particles may have no energy with anybody, as hydrogens of water models, defines there PLUGMC_PAIR_SILENT(p, a), which is
 * not 0 if all energies of site a are exactly 0: they are then not summed.
 *
 * On the CPU this header contains the loops over neighbours, so that the author's functions are inlined and
 * vectorised. On the GPU it defines the functions that the core calls. */
PLUGMC_FN real plugmc_pair_term(const parameters *p, plugmc_separation s, plugmc_site a,
                                plugmc_site b)
{
#if PLUGMC_PAIR & 1 && !(PLUGMC_PAIR & 64)
    return pair_energy(p, s, a, b);
#else
    (void)p, (void)s, (void)a, (void)b;
    return 0;
#endif
}

PLUGMC_FN real plugmc_pair_difference(const parameters *p, plugmc_separation from,
                                      plugmc_separation to, plugmc_site a, plugmc_site b)
{
#if PLUGMC_PAIR & 4
    return pair_change(p, from, to, a, b);
#else
    return plugmc_pair_term(p, to, a, b) - plugmc_pair_term(p, from, a, b);
#endif
}

PLUGMC_FN real plugmc_probe_factor(const parameters *p, plugmc_site a)
{
#if PLUGMC_PAIR & 8
    return pair_factor(p, a);
#else
    (void)p, (void)a;
    return 1;
#endif
}

PLUGMC_FN real plugmc_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
#if PLUGMC_PAIR & 2
    return pair_contact(p, a, b);
#else
    (void)p, (void)a, (void)b;
    return 0;
#endif
}

PLUGMC_FN void plugmc_pair_slopes(const parameters *p, plugmc_separation s, plugmc_site a,
                                  plugmc_site b, real *first, real *second)
{
#if PLUGMC_PAIR & 16 && !(PLUGMC_PAIR & 64)
    pair_derivative(p, s, a, b, first, second);
#else
    (void)p, (void)s, (void)a, (void)b;
    *first = *second = 0;
#endif
}

/* The same where the position of a is known; works for every potential. */
PLUGMC_FN real plugmc_pair_term_at(const parameters *p, plugmc_position at, plugmc_separation s,
                                   plugmc_site a, plugmc_site b)
{
#if PLUGMC_PAIR & 64
    return pair_energy_at(p, at, s, a, b);
#else
    (void)at;
    return plugmc_pair_term(p, s, a, b);
#endif
}

PLUGMC_FN real plugmc_pair_difference_at(const parameters *p, plugmc_position at_first,
                                         plugmc_separation from, plugmc_position at_last,
                                         plugmc_separation to, plugmc_site a, plugmc_site b)
{
#if PLUGMC_PAIR & 64
    return pair_energy_at(p, at_last, to, a, b) - pair_energy_at(p, at_first, from, a, b);
#else
    (void)at_first, (void)at_last;
    return plugmc_pair_difference(p, from, to, a, b);
#endif
}

/* The part of the derivatives that plugmc_pair_slopes leaves out: 0 without PLUGMC_PAIR_POSITIONS. */
PLUGMC_FN void plugmc_pair_slopes_at(const parameters *p, plugmc_position at, plugmc_separation s,
                                     plugmc_site a, plugmc_site b, real gradient[3],
                                     real *laplacian)
{
#if PLUGMC_PAIR & 64 && PLUGMC_PAIR & 16
    pair_derivative_at(p, at, s, a, b, gradient, laplacian);
#else
    (void)p, (void)at, (void)s, (void)a, (void)b;
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
#endif
}

#if PLUGMC_HOST
enum { PLUGMC_BLOCK = 16, PLUGMC_FLUSH = 256 };

PLUGMC_FN plugmc_site plugmc_site_of(const plugmc_particle *a)
{
    return (plugmc_site){(real)a->charge, (real)a->diameter, a->species};
}

/* What the pairs of a batch have in common. */
typedef struct plugmc_batch {
    const parameters *p;
    const plugmc_images *images;
    plugmc_site probe;
    real from[3], to[3]; /* length; `from` is used for changes only */
    const plugmc_particles *others;
} plugmc_batch;

PLUGMC_FN plugmc_batch plugmc_batch_of(const parameters *p, const plugmc_images *images,
                                       const plugmc_particle *probe, const double moved[3],
                                       const plugmc_particles *others)
{
    const real from[3] = {(real)probe->x, (real)probe->y, (real)probe->z};
    plugmc_batch k = {p, images, plugmc_site_of(probe), {0}, {0}, others};
    for (int d = 0; d < 3; d++) {
        k.from[d] = from[d];
        k.to[d] = moved ? (real)moved[d] : from[d];
    }
    return k;
}

/* Neighbour j. If all neighbours are of one species, its index is a constant of the loop. */
PLUGMC_FN plugmc_site plugmc_other(const plugmc_batch *k, int one_species, int64_t j)
{
    const plugmc_particles *o = k->others;
    plugmc_site b = {((const real *)o->charge)[j], ((const real *)o->diameter)[j],
                     o->species[one_species ? 0 : j]};
    return b;
}

/* Separation of the probe at `at` from neighbour j. */
PLUGMC_FN plugmc_separation plugmc_apart(const plugmc_batch *k, int mode, const real at[3],
                                         int64_t j)
{
    const plugmc_particles *o = k->others;
    return plugmc_separate(at[0] - ((const real *)o->x)[j], at[1] - ((const real *)o->y)[j],
                           at[2] - ((const real *)o->z)[j], k->images, mode);
}

PLUGMC_FN plugmc_position plugmc_position_of(const real at[3])
{
    return (plugmc_position){at[0], at[1], at[2]};
}

PLUGMC_FN int plugmc_overlap(const plugmc_batch *k, plugmc_separation s, plugmc_site b)
{
    real contact = plugmc_contact(k->p, k->probe, b);
    return s.r2 < contact * contact;
}

/* Whether all neighbours are of one species. Tested only for potentials with PLUGMC_PAIR_BY_SPECIES, because GCC
 * does not vectorise table look-ups. */
PLUGMC_FN int plugmc_one_species(const plugmc_particles *others)
{
#ifdef PLUGMC_PAIR_BY_SPECIES
    int32_t different = 0;
    for (int64_t j = 1; j < others->n; j++) different |= others->species[j] ^ others->species[0];
    return !different;
#else
    (void)others;
    return 0;
#endif
}

/* Adds neighbours begin ... begin + n - 1, each to a partial sum of its own. n is at most PLUGMC_BLOCK, and a
 * constant for full blocks. */
PLUGMC_FN void plugmc_pair_block(const plugmc_batch *k, int mode, int moving, int one_species,
                                 int64_t begin, int n, real sum[PLUGMC_BLOCK],
                                 int32_t overlaps[PLUGMC_BLOCK])
{
    for (int l = 0; l < n; l++) {
        plugmc_site b = plugmc_other(k, one_species, begin + l);
        plugmc_separation to = plugmc_apart(k, mode, k->to, begin + l);
        if (PLUGMC_PAIR & PLUGMC_PAIR_CONTACT) overlaps[l] += plugmc_overlap(k, to, b);
        if (!(PLUGMC_PAIR & PLUGMC_PAIR_ENERGY)) continue;
        if (moving) {
            plugmc_separation from = plugmc_apart(k, mode, k->from, begin + l);
            sum[l] += plugmc_pair_difference_at(k->p, plugmc_position_of(k->from), from,
                                                plugmc_position_of(k->to), to, k->probe, b);
        } else {
            sum[l] += plugmc_pair_term_at(k->p, plugmc_position_of(k->to), to, k->probe, b);
        }
    }
}

/* Fewer than PLUGMC_BLOCK neighbours, to the same partial sums as in a full block. GCC does not vectorise loops of a length
 * that varies, so the first eight are a loop of their own where short lists are frequent, as in sums over cells. */
PLUGMC_FN void plugmc_pair_rest(const plugmc_batch *k, int mode, int moving, int one_species,
                                int64_t begin, int n, real sum[PLUGMC_BLOCK],
                                int32_t overlaps[PLUGMC_BLOCK])
{
    const int first = !moving && n >= 8 ? 8 : 0;
    if (first) plugmc_pair_block(k, mode, moving, one_species, begin, 8, sum, overlaps);
    plugmc_pair_block(k, mode, moving, 0, begin + first, n - first, sum + first, overlaps + first);
}

/* The loop of energy and change; `moving`, `mode` and `one_species` are constants after inlining. There are
 * PLUGMC_BLOCK partial sums, added to double precision sums every PLUGMC_FLUSH neighbours, so the result does not
 * depend on the instruction set. */
PLUGMC_FN int64_t plugmc_pair_sum(const plugmc_batch *k, int mode, int moving, int one_species,
                                  double *energy)
{
    const int64_t n = k->others->n;
    double total[PLUGMC_BLOCK] = {0};
    int32_t overlaps[PLUGMC_BLOCK] = {0};

    for (int64_t i = 0; i < n;) {
        const int64_t end = i + PLUGMC_FLUSH < n ? i + PLUGMC_FLUSH : n;
        real sum[PLUGMC_BLOCK] = {0};
        for (; i + PLUGMC_BLOCK <= end; i += PLUGMC_BLOCK)
            plugmc_pair_block(k, mode, moving, one_species, i, PLUGMC_BLOCK, sum, overlaps);
        if (i < end)
            plugmc_pair_rest(k, mode, moving, one_species, i, (int)(end - i), sum, overlaps);
        i = end;
        for (int l = 0; l < PLUGMC_BLOCK; l++) total[l] += (double)sum[l];
    }
    double all = 0;
    int64_t hits = 0;
    for (int l = 0; l < PLUGMC_BLOCK; l++) {
        all += total[l];
        hits += overlaps[l];
    }
    *energy += all * (double)plugmc_probe_factor(k->p, k->probe);
    return hits;
}

/* Returns from a sum over the neighbours of a particle that has no energy with anybody. */
#if defined(PLUGMC_PAIR_SILENT) && !(PLUGMC_PAIR & 2)
#define PLUGMC_RETURN_IF_SILENT                                                                    \
    if (PLUGMC_PAIR_SILENT((const parameters *)instance, plugmc_site_of(probe))) return 0;
#else
#define PLUGMC_RETURN_IF_SILENT
#endif

/* CALL with `mode` and `one_species` as constants: each kind of box gets its own loop, and so do neighbours of one
 * species if that is faster. */
#define PLUGMC_FOR_SPECIES(kind, CALL)                                                             \
    {                                                                                              \
        enum { mode = kind };                                                                      \
        if (plugmc_one_species(others)) {                                                          \
            enum { one_species = 1 };                                                              \
            return CALL;                                                                           \
        }                                                                                          \
        enum { one_species = 0 };                                                                  \
        return CALL;                                                                               \
    }
#define PLUGMC_FOR_BOXES(moved, CALL)                                                              \
    const parameters p = *(const parameters *)instance;                                            \
    plugmc_images images;                                                                          \
    const int kind_of_box = plugmc_images_of(box, periodic, &images);                              \
    const plugmc_batch batch = plugmc_batch_of(&p, &images, probe, moved, others);                 \
    switch (kind_of_box) {                                                                         \
    case PLUGMC_IMAGES_NONE: PLUGMC_FOR_SPECIES(PLUGMC_IMAGES_NONE, CALL)                          \
    case PLUGMC_IMAGES_RECTANGULAR: PLUGMC_FOR_SPECIES(PLUGMC_IMAGES_RECTANGULAR, CALL)            \
    default: PLUGMC_FOR_SPECIES(PLUGMC_IMAGES_OBLIQUE, CALL)                                       \
    }

static PLUGMC_TARGETS int64_t plugmc_pair_energy(const void *instance, const plugmc_box *box,
                                                 int periodic, const plugmc_particle *probe,
                                                 const plugmc_particles *others, double *energy)
{
    PLUGMC_RETURN_IF_SILENT
    PLUGMC_FOR_BOXES(NULL, plugmc_pair_sum(&batch, mode, 0, one_species, energy))
}

static PLUGMC_TARGETS int64_t plugmc_pair_change(const void *instance, const plugmc_box *box,
                                                 int periodic, const plugmc_particle *probe,
                                                 const double moved[3],
                                                 const plugmc_particles *others, double *change){
    PLUGMC_RETURN_IF_SILENT PLUGMC_FOR_BOXES(moved,
                                             plugmc_pair_sum(&batch, mode, 1, one_species, change))}

/* The changes of the moved probe's pairs, one by one. */
PLUGMC_FN int plugmc_pair_each(const plugmc_batch *k, int mode, int one_species, real *out)
{
    const real factor = plugmc_probe_factor(k->p, k->probe);
    for (int64_t j = 0; j < k->others->n; j++) {
        plugmc_site b = plugmc_other(k, one_species, j);
        plugmc_separation to = plugmc_apart(k, mode, k->to, j);
        plugmc_separation from = plugmc_apart(k, mode, k->from, j);
        real change =
            factor * plugmc_pair_difference_at(k->p, plugmc_position_of(k->from), from,
                                               plugmc_position_of(k->to), to, k->probe, b);
        out[j] = plugmc_overlap(k, to, b) ? (real)INFINITY : change;
    }
    return 0;
}

static PLUGMC_TARGETS int plugmc_pair_changes_in(const void *instance, const plugmc_box *box,
                                                 int periodic, const plugmc_particle *probe,
                                                 const double moved[3],
                                                 const plugmc_particles *others, real *out)
{
    PLUGMC_FOR_BOXES(moved, plugmc_pair_each(&batch, mode, one_species, out))
}

static void plugmc_pair_changes(const void *instance, const plugmc_box *box, int periodic,
                                const plugmc_particle *probe, const double moved[3],
                                const plugmc_particles *others, void *out)
{
    plugmc_pair_changes_in(instance, box, periodic, probe, moved, others, (real *)out);
}

#if PLUGMC_PAIR & PLUGMC_PAIR_DERIVATIVE
/* Energy, gradient, virial and Laplacian of the probe's pairs, in partial sums as above. The Laplacian of u(r) in D
 * dimensions is u'' + (D - 1) u' / r. */
enum {
    PLUGMC_SUM_ENERGY,
    PLUGMC_SUM_GRADIENT,
    PLUGMC_SUM_VIRIAL = PLUGMC_SUM_GRADIENT + 3,
    PLUGMC_SUM_LAPLACIAN = PLUGMC_SUM_VIRIAL + 3,
    PLUGMC_SUMS
};

PLUGMC_FN void plugmc_derivatives_block(const plugmc_batch *k, int mode, int second, int dimension,
                                        int one_species, int64_t begin, int n,
                                        real sum[PLUGMC_SUMS][PLUGMC_BLOCK],
                                        int32_t overlaps[PLUGMC_BLOCK])
{
    for (int l = 0; l < n; l++) {
        plugmc_site b = plugmc_other(k, one_species, begin + l);
        plugmc_separation s = plugmc_apart(k, mode, k->from, begin + l);
        real u1, u2;
        if (PLUGMC_PAIR & PLUGMC_PAIR_CONTACT) overlaps[l] += plugmc_overlap(k, s, b);
        plugmc_pair_slopes(k->p, s, k->probe, b, &u1, &u2);
        sum[PLUGMC_SUM_ENERGY][l] +=
            plugmc_pair_term_at(k->p, plugmc_position_of(k->from), s, k->probe, b);
#if PLUGMC_PAIR & PLUGMC_PAIR_POSITIONS
        real g[3], laplacian;
        plugmc_pair_slopes_at(k->p, plugmc_position_of(k->from), s, k->probe, b, g, &laplacian);
        for (int d = 0; d < 3; d++) sum[PLUGMC_SUM_GRADIENT + d][l] += g[d];
        sum[PLUGMC_SUM_LAPLACIAN][l] += laplacian;
#endif
        sum[PLUGMC_SUM_GRADIENT][l] += u1 * s.x;
        sum[PLUGMC_SUM_GRADIENT + 1][l] += u1 * s.y;
        sum[PLUGMC_SUM_GRADIENT + 2][l] += u1 * s.z;
        sum[PLUGMC_SUM_VIRIAL][l] -= u1 * s.x * s.x;
        sum[PLUGMC_SUM_VIRIAL + 1][l] -= u1 * s.y * s.y;
        sum[PLUGMC_SUM_VIRIAL + 2][l] -= u1 * s.z * s.z;
        if (second) sum[PLUGMC_SUM_LAPLACIAN][l] += u2 + (real)(dimension - 1) * u1;
    }
}

PLUGMC_FN int64_t plugmc_derivatives_sum(const plugmc_batch *k, int mode, int second, int dimension,
                                         int one_species, plugmc_derivatives *out)
{
    const int64_t n = k->others->n;
    double total[PLUGMC_SUMS][PLUGMC_BLOCK] = {{0}}, all[PLUGMC_SUMS] = {0};
    int32_t overlaps[PLUGMC_BLOCK] = {0};

    for (int64_t i = 0; i < n;) {
        const int64_t end = i + PLUGMC_FLUSH < n ? i + PLUGMC_FLUSH : n;
        real sum[PLUGMC_SUMS][PLUGMC_BLOCK] = {{0}};
        for (; i + PLUGMC_BLOCK <= end; i += PLUGMC_BLOCK)
            plugmc_derivatives_block(k, mode, second, dimension, one_species, i, PLUGMC_BLOCK, sum,
                                     overlaps);
        if (i < end)
            plugmc_derivatives_block(k, mode, second, dimension, 0, i, (int)(end - i), sum,
                                     overlaps);
        i = end;
        for (int q = 0; q < PLUGMC_SUMS; q++)
            for (int l = 0; l < PLUGMC_BLOCK; l++) total[q][l] += (double)sum[q][l];
    }
    int64_t hits = 0;
    const double factor = (double)plugmc_probe_factor(k->p, k->probe);
    for (int l = 0; l < PLUGMC_BLOCK; l++) {
        for (int q = 0; q < PLUGMC_SUMS; q++) all[q] += total[q][l];
        hits += overlaps[l];
    }
    out->energy += factor * all[PLUGMC_SUM_ENERGY];
    for (int d = 0; d < 3; d++) out->gradient[d] += factor * all[PLUGMC_SUM_GRADIENT + d];
    for (int d = 0; d < 3; d++) out->virial[d] += factor * all[PLUGMC_SUM_VIRIAL + d];
    out->laplacian += factor * all[PLUGMC_SUM_LAPLACIAN];
    return hits;
}

static PLUGMC_TARGETS int64_t plugmc_pair_first(const void *instance, const plugmc_box *box,
                                                int periodic, const plugmc_particle *probe,
                                                const plugmc_particles *others,
                                                plugmc_derivatives *out)
{
    PLUGMC_FOR_BOXES(NULL,
                     plugmc_derivatives_sum(&batch, mode, 0, box->dimension, one_species, out))
}

static PLUGMC_TARGETS int64_t plugmc_pair_second(const void *instance, const plugmc_box *box,
                                                 int periodic, const plugmc_particle *probe,
                                                 const plugmc_particles *others,
                                                 plugmc_derivatives *out)
{
    PLUGMC_FOR_BOXES(NULL,
                     plugmc_derivatives_sum(&batch, mode, 1, box->dimension, one_species, out))
}

static int64_t plugmc_pair_derivatives(const void *instance, const plugmc_box *box, int periodic,
                                       int second, const plugmc_particle *probe,
                                       const plugmc_particles *others, plugmc_derivatives *out)
{
    return (second ? plugmc_pair_second : plugmc_pair_first)(instance, box, periodic, probe, others,
                                                             out);
}
#define PLUGMC_PAIR_DERIVATIVES plugmc_pair_derivatives

#if !(PLUGMC_PAIR & PLUGMC_PAIR_POSITIONS)
PLUGMC_FN plugmc_separation plugmc_separation_of(real x, real y, real z)
{
    return (plugmc_separation){x, y, z, x * x + y * y + z * z};
}

/* Two loops, since energies are wanted less often. The sites are the same for all pairs, so that what depends on
 * them is looked up once. */
static PLUGMC_TARGETS void plugmc_pairs_first(const void *instance, plugmc_site a, plugmc_site b,
                                              int64_t n, const real *restrict x,
                                              const real *restrict y, const real *restrict z,
                                              real *restrict first)
{
    const parameters p = *(const parameters *)instance;
    const real factor = plugmc_probe_factor(&p, a);
    for (int64_t k = 0; k < n; k++) {
        real u1, u2;
        plugmc_pair_slopes(&p, plugmc_separation_of(x[k], y[k], z[k]), a, b, &u1, &u2);
        first[k] = factor * u1;
    }
}

static PLUGMC_TARGETS void plugmc_pairs_energy(const void *instance, plugmc_site a, plugmc_site b,
                                               int64_t n, const real *restrict x,
                                               const real *restrict y, const real *restrict z,
                                               real *restrict energy)
{
    const parameters p = *(const parameters *)instance;
    const real factor = plugmc_probe_factor(&p, a), contact = plugmc_contact(&p, a, b);
    for (int64_t k = 0; k < n; k++) {
        const plugmc_separation s = plugmc_separation_of(x[k], y[k], z[k]);
        const real u = factor * plugmc_pair_term(&p, s, a, b);
        energy[k] = s.r2 < contact * contact ? (real)INFINITY : u;
    }
}

static void plugmc_pairs_slopes(const void *instance, const plugmc_particle *a,
                                const plugmc_particle *b, int64_t n, const void *x, const void *y,
                                const void *z, void *first, void *energy)
{
    const plugmc_site of_a = plugmc_site_of(a), of_b = plugmc_site_of(b);
    plugmc_pairs_first(instance, of_a, of_b, n, (const real *)x, (const real *)y, (const real *)z,
                       (real *)first);
    if (energy)
        plugmc_pairs_energy(instance, of_a, of_b, n, (const real *)x, (const real *)y,
                            (const real *)z, (real *)energy);
}
#define PLUGMC_PAIR_SLOPES plugmc_pairs_slopes
#endif
#else
#define PLUGMC_PAIR_DERIVATIVES NULL
#endif
#ifndef PLUGMC_PAIR_SLOPES
#define PLUGMC_PAIR_SLOPES NULL
#endif

static double plugmc_pair_range(const void *instance)
{
#if PLUGMC_PAIR & 1
    return (double)pair_range((const parameters *)instance);
#else
    (void)instance;
    return 0;
#endif
}

static double plugmc_pair_contact(const void *instance, const plugmc_particle *a,
                                  const plugmc_particle *b)
{
    return (double)plugmc_contact((const parameters *)instance, plugmc_site_of(a),
                                  plugmc_site_of(b));
}

#if defined(PLUGMC_FLOAT_UNIT) && (PLUGMC_PAIR & 1) && !(PLUGMC_PAIR & PLUGMC_PAIR_POSITIONS)
/* The slots of a lane are added in order and the factor is applied last, as in GPU source: CPU and GPU get the same
 * float. */
PLUGMC_FN void plugmc_lanes_sum(const parameters *p, const plugmc_lanes *b, int many_species)
{
    for (int l0 = 0; l0 < b->lanes; l0 += PLUGMC_LANE_BLOCK) {
        float sum[PLUGMC_LANE_BLOCK] = {0};
        for (int s = 0; s < b->slots; s++) {
            const float *x = b->x[s] + l0, *y = b->y[s] + l0, *z = b->z[s] + l0;
            for (int l = 0; l < PLUGMC_LANE_BLOCK; l++) {
                int ka = many_species ? b->probe_species[l0 + l] : 0;
                int kb = many_species ? b->species[s][l0 + l] : 0;
                plugmc_site sa = {b->charge[ka], b->diameter[ka], ka};
                plugmc_site sb = {b->charge[kb], b->diameter[kb], kb};
                plugmc_separation to, from;
                to.x = ((b->new_x[l0 + l] - b->offset[s][0]) - x[l]) * b->scale;
                to.y = ((b->new_y[l0 + l] - b->offset[s][1]) - y[l]) * b->ratio[1] * b->scale;
                to.z = ((b->new_z[l0 + l] - b->offset[s][2]) - z[l]) * b->ratio[2] * b->scale;
                to.r2 = fmaf(to.z, to.z, fmaf(to.y, to.y, to.x * to.x));
                from.x = ((b->old_x[l0 + l] - b->offset[s][0]) - x[l]) * b->scale;
                from.y = ((b->old_y[l0 + l] - b->offset[s][1]) - y[l]) * b->ratio[1] * b->scale;
                from.z = ((b->old_z[l0 + l] - b->offset[s][2]) - z[l]) * b->ratio[2] * b->scale;
                from.r2 = fmaf(from.z, from.z, fmaf(from.y, from.y, from.x * from.x));
                float d = plugmc_pair_difference(p, from, to, sa, sb);
                sum[l] += x[l] < PLUGMC_NOWHERE ? d : 0.0f;
            }
        }
        for (int l = 0; l < PLUGMC_LANE_BLOCK; l++) {
            int ka = many_species ? b->probe_species[l0 + l] : 0;
            plugmc_site sa = {b->charge[ka], b->diameter[ka], ka};
            b->change[l0 + l] += sum[l] * plugmc_probe_factor(p, sa);
        }
    }
}

static PLUGMC_TARGETS void plugmc_pair_lanes(const void *instance, const plugmc_lanes *b)
{
    const parameters p = *(const parameters *)instance;
    if (b->species)
        plugmc_lanes_sum(&p, b, 1);
    else
        plugmc_lanes_sum(&p, b, 0);
}
#define PLUGMC_PAIR_LANES plugmc_pair_lanes
#else
#define PLUGMC_PAIR_LANES NULL
#endif

static const plugmc_pair plugmc_pair_facet = {
    .size = sizeof(plugmc_pair),
    .functions = PLUGMC_PAIR,
    .range = plugmc_pair_range,
    .contact = plugmc_pair_contact,
    .energy = plugmc_pair_energy,
    .change = plugmc_pair_change,
    .lanes = PLUGMC_PAIR_LANES,
    .changes = plugmc_pair_changes,
    .derivatives = PLUGMC_PAIR_DERIVATIVES,
    .slopes = PLUGMC_PAIR_SLOPES,
};
#endif
