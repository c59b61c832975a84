/* Steps for many pairs of particles at once, and the pair facet that is made of them: included by
 * expression.c, in both precisions.
 *
 * Each step of a program is a loop over BLOCK separations, or over those within the cutoff, which are
 * gathered first where they are few: in a liquid in three dimensions one in six of those that a mover asks
 * about, so that reading steps costs no more than the pairs that compiled loops compute for nothing. Pairs are added up in the order in which they are
 * given, or by 16 partial sums: results do not depend on the instruction set.
 */
#ifndef PLUGMC_EXPRESSION_EVALUATE_H
#define PLUGMC_EXPRESSION_EVALUATE_H

#include <string.h>

#include "program.h"

enum { BLOCK = 256, LANES = 16 };

typedef struct machine {
    program programs[PROGRAM_MOST_OUTPUTS][2]; /* [outputs - 1][PROGRAM_UNIFORM or _MIXED] */
    const real *constants;                     /* [pairs of species][width] */
    real *core; /* [pairs of species] length^2: nearer, the energy stays what it is */
    int32_t width, kinds;
    int32_t uniform; /* 1: all pairs of species are alike */
    int32_t costly;  /* 1: it calls libm, a pair at a time */
    int32_t guarded; /* 1: nearer than `core` the energy is 1e30 instead */
} machine;

/* ---- Steps ----------------------------------------------------------------------------------- */

#define EACH(expression)                                                                           \
    for (int i = 0; i < n; i++) out[i] = (expression);                                             \
    break

static PLUGMC_TARGETS void call_function(graph_op op, int n, real *restrict out,
                                         const real *restrict a, const real *restrict b,
                                         const real *restrict c, const real *restrict d)
{
    switch (op) {
    case GRAPH_MIN: EACH(a[i] < b[i] ? a[i] : b[i]);
    case GRAPH_MAX: EACH(b[i] < a[i] ? a[i] : b[i]);
    case GRAPH_POW: EACH(power_of(a[i], b[i]));
    case GRAPH_LESS: EACH(a[i] < b[i] ? c[i] : d[i]);
    case GRAPH_SQRT: EACH(plugmc_sqrt(a[i]));
    case GRAPH_ABS: EACH(size_of(a[i]));
    case GRAPH_SIGN: EACH(sign_of(a[i]));
    case GRAPH_EXP: EACH(exponential_of(a[i]));
    case GRAPH_LOG: EACH(logarithm_of(a[i]));
    case GRAPH_SIN: EACH(sine_of(a[i]));
    case GRAPH_COS: EACH(cosine_of(a[i]));
    case GRAPH_TANH: EACH(tangent_of(a[i]));
    case GRAPH_ERF: EACH(error_of(a[i]));
    case GRAPH_ERFC: EACH(complement_of(a[i]));
    default: break;
    }
}

/* n: a multiple of LANES. pair [n]: pairs of species, for a mixed program. */
static PLUGMC_TARGETS void run_steps(const machine *m, const program *p, int32_t one_pair,
                                     const int32_t *pair, int n, real registers[][BLOCK])
{
    const real *const row = m->constants + one_pair * m->width;
    for (const step *s = p->steps; s < p->steps + p->count; s++) {
        real *restrict const out = registers[s->out];
        const real *restrict const a = registers[s->operand[0]];
        const real *restrict const b = registers[s->operand[1]];
        const real *const of_pair = m->constants + s->constant;
        const real x = row[s->constant];
        switch (s->op) {
        case STEP_FILL: EACH(x);
        case STEP_LOAD: EACH(of_pair[pair[i] * m->width]);
        case STEP_ADD: EACH(a[i] + b[i]);
        case STEP_ADD_CONSTANT: EACH(x + a[i]);
        case STEP_SUB: EACH(a[i] - b[i]);
        case STEP_SUB_CONSTANT: EACH(a[i] - x);
        case STEP_CONSTANT_SUB: EACH(x - a[i]);
        case STEP_MUL: EACH(a[i] * b[i]);
        case STEP_MUL_CONSTANT: EACH(x * a[i]);
        case STEP_DIV: EACH(a[i] / b[i]);
        case STEP_CONSTANT_DIV: EACH(x / a[i]);
        case STEP_FUNCTION:
            call_function(s->function, n, out, a, b, registers[s->operand[2]],
                          registers[s->operand[3]]);
        }
    }
}
#undef EACH

static int calls_libm(const program *p)
{
    int calls = 0;
    for (const step *s = p->steps; s < p->steps + p->count; s++)
        calls |= s->op == STEP_FUNCTION && (s->function == GRAPH_POW || s->function >= GRAPH_LOG);
    return calls;
}

/* Energy, u' / r and u'' of one pair. */
static void evaluate_at(const machine *m, int32_t pair, real square, real out[PROGRAM_MOST_OUTPUTS])
{
    const program *p = &m->programs[PROGRAM_MOST_OUTPUTS - 1][PROGRAM_UNIFORM];
    real registers[p->registers][BLOCK];
    for (int i = 0; i < LANES; i++) registers[0][i] = square;
    run_steps(m, p, pair, NULL, LANES, registers);
    for (int k = 0; k < PROGRAM_MOST_OUTPUTS; k++) out[k] = registers[p->output[k]][0];
}

/* Up to BLOCK pairs: what is asked, and what is found. */
typedef struct block {
    _Alignas(64) real square[BLOCK];
    _Alignas(64) real out[PROGRAM_MOST_OUTPUTS][BLOCK]; /* u, u' / r, u''; 0 beyond the cutoff */
    int32_t pair[BLOCK];   /* of species; unused where they are all one */
    int32_t inside[BLOCK]; /* which are within the cutoff, where they are few */
    int32_t count;         /* of these */
} block;

static const program *program_for(const machine *m, int outputs, int32_t one_pair)
{
    return &m->programs[outputs - 1][one_pair < 0 ? PROGRAM_MIXED : PROGRAM_UNIFORM];
}

/* All of the block, where many are within the cutoff. */
static PLUGMC_TARGETS void evaluate_all(const parameters *p, block *b, int n, int outputs,
                                        int32_t one_pair)
{
    const machine *m = p->machine;
    const program *program = program_for(m, outputs, one_pair);
    real registers[program->registers][BLOCK];
    const int full = (n + LANES - 1) / LANES * LANES;
    const real far = p->square, one_core = m->core[one_pair < 0 ? 0 : one_pair];
    for (int i = n; i < full; i++) b->square[i] = far, b->pair[i] = b->pair[0];
    for (int i = 0; i < full; i++) {
        const real core = one_pair < 0 ? m->core[b->pair[i]] : one_core, s = b->square[i];
        registers[0][i] = s < core ? core : (s < far ? s : far); /* no overflow far away */
    }
    run_steps(m, program, one_pair < 0 ? 0 : one_pair, b->pair, full, registers);
    for (int k = 0; k < outputs; k++) {
        const real *result = registers[program->output[k]];
        for (int i = 0; i < full; i++) {
            const real core = one_pair < 0 ? m->core[b->pair[i]] : one_core, s = b->square[i];
            b->out[k][i] = s < far && (!k || s >= core) ? result[i] : (real)0;
        }
    }
}

/* Those of b->inside, gathered. */
static PLUGMC_TARGETS void evaluate_gathered(const parameters *p, block *b, int n, int outputs,
                                             int32_t one_pair)
{
    const machine *m = p->machine;
    const program *program = program_for(m, outputs, one_pair);
    real registers[program->registers][BLOCK];
    int32_t pair[BLOCK];
    const int full = (b->count + LANES - 1) / LANES * LANES;
    for (int k = 0; k < outputs; k++) memset(b->out[k], 0, sizeof(real) * (size_t)n);
    for (int i = b->count; i < full; i++) b->inside[i] = b->inside[0];
    for (int i = 0; i < full; i++) {
        const int32_t k = b->inside[i];
        pair[i] = one_pair < 0 ? b->pair[k] : one_pair;
        const real core = m->core[pair[i]], s = b->square[k];
        registers[0][i] = s < core ? core : s;
    }
    run_steps(m, program, one_pair < 0 ? 0 : one_pair, pair, full, registers);
    for (int k = 0; k < outputs; k++) {
        const real *result = registers[program->output[k]];
        for (int i = 0; i < b->count; i++) {
            const int there = !k || b->square[b->inside[i]] >= m->core[pair[i]];
            b->out[k][b->inside[i]] = there ? result[i] : (real)0;
        }
    }
}

static PLUGMC_TARGETS void forbid_near(const machine *m, block *b, int n, int32_t one_pair)
{
    for (int i = 0; i < n; i++) {
        const real core = m->core[one_pair < 0 ? b->pair[i] : one_pair];
        b->out[0][i] = b->square[i] < core ? (real)1e30 : b->out[0][i];
    }
}

static PLUGMC_TARGETS void evaluate_formula(const parameters *p, block *b, int n, int outputs,
                                            int32_t one_pair)
{
    enum { FEW = sizeof(real) == 4 ? 16 : 8 }; /* one in so many */
    const real far = p->square;
    int inside = 0, count = 0;
    for (int i = 0; i < n; i++) count += b->square[i] < far;
    if (!p->machine->costly && FEW * count > n) {
        evaluate_all(p, b, n, outputs, one_pair);
        return;
    }
    for (int i = 0; i < n; i++) {
        b->inside[inside] = i;
        inside += b->square[i] < far;
    }
    b->count = inside;
    evaluate_gathered(p, b, n, outputs, one_pair);
}

/* one_pair: the pair of species of all, or -1. outputs: 1 ... 3. */
static void evaluate(const parameters *p, block *b, int n, int outputs, int32_t one_pair)
{
    evaluate_formula(p, b, n, outputs, one_pair);
    if (p->machine->guarded) forbid_near(p->machine, b, n, one_pair);
}

/* ---- Separations ----------------------------------------------------------------------------- */

/* A probe and others, as batch functions get them. */
typedef struct batch {
    const parameters *p;
    plugmc_images images;
    int mode;
    real from[3], to[3];
    int32_t species, one_pair; /* of the probe; pair of species of all, or -1 */
    const plugmc_particles *others;
} batch;

static batch batch_of(const parameters *p, const plugmc_box *box, int periodic,
                      const plugmc_particle *probe, const double moved[3],
                      const plugmc_particles *others)
{
    const real from[3] = {(real)probe->x, (real)probe->y, (real)probe->z};
    batch b = {.p = p, .species = probe->species, .others = others};
    const machine *m = p->machine;
    int32_t different = 0;
    b.mode = plugmc_images_of(box, periodic, &b.images);
    for (int d = 0; d < 3; d++) {
        b.from[d] = from[d];
        b.to[d] = moved ? (real)moved[d] : from[d];
    }
    if (m->uniform || others->n == 0) return b;
    for (int64_t j = 1; j < others->n; j++) different |= others->species[j] ^ others->species[0];
    b.one_pair = different ? -1 : b.species * m->kinds + others->species[0];
    return b;
}

/* Squared distances of others begin ... begin + n - 1 from `at`; vectors too if apart is given. */
PLUGMC_FN void measure_in(const batch *b, int mode, const real at[3], int64_t begin, int n,
                          block *out, plugmc_separation *apart)
{
    const real *x = (const real *)b->others->x + begin, *y = (const real *)b->others->y + begin,
               *z = (const real *)b->others->z + begin;
    const plugmc_images images = b->images;
    const real ax = at[0], ay = at[1], az = at[2];
    for (int i = 0; i < n; i++) {
        const plugmc_separation s = plugmc_separate(ax - x[i], ay - y[i], az - z[i], &images, mode);
        out->square[i] = s.r2;
        if (apart) apart[i] = s;
    }
}

static PLUGMC_TARGETS void measure(const batch *b, const real at[3], int64_t begin, int n,
                                   block *out, plugmc_separation *apart)
{
    const int32_t *species = b->others->species + begin;
    for (int i = 0; b->one_pair < 0 && i < n; i++)
        out->pair[i] = b->species * b->p->machine->kinds + species[i];
    if (apart)
        measure_in(b, b->mode, at, begin, n, out, apart);
    else if (b->mode == PLUGMC_IMAGES_NONE)
        measure_in(b, PLUGMC_IMAGES_NONE, at, begin, n, out, NULL);
    else if (b->mode == PLUGMC_IMAGES_RECTANGULAR)
        measure_in(b, PLUGMC_IMAGES_RECTANGULAR, at, begin, n, out, NULL);
    else
        measure_in(b, PLUGMC_IMAGES_OBLIQUE, at, begin, n, out, NULL);
}

static int block_length(const batch *b, int64_t begin)
{
    return b->others->n - begin < BLOCK ? (int)(b->others->n - begin) : BLOCK;
}

/* ---- The facet ------------------------------------------------------------------------------- */

static double range_of(const void *instance)
{
    return (double)((const parameters *)instance)->range;
}

static double contact_of(const void *instance, const plugmc_particle *a, const plugmc_particle *b)
{
    (void)instance, (void)a, (void)b;
    return 0;
}

/* Adds the energies of a block with a sign. */
static PLUGMC_TARGETS void add_block(const block *b, int n, double sign, double *total)
{
    double sum[LANES] = {0}, all = 0;
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) sum[l] += (double)b->out[0][i + l];
    for (int l = 0; i + l < n; l++) sum[l] += (double)b->out[0][i + l];
    for (int l = 0; l < LANES; l++) all += sum[l];
    *total += sign * all;
}

static int64_t energy_of(const void *instance, const plugmc_box *box, int periodic,
                         const plugmc_particle *probe, const plugmc_particles *others,
                         double *energy)
{
    const batch b = batch_of(instance, box, periodic, probe, NULL, others);
    block k;
    double total = 0;
    for (int64_t begin = 0; begin < others->n; begin += BLOCK) {
        const int n = block_length(&b, begin);
        measure(&b, b.from, begin, n, &k, NULL);
        evaluate(b.p, &k, n, 1, b.one_pair);
        add_block(&k, n, 1, &total);
    }
    *energy += total;
    return 0;
}

static int64_t change_of(const void *instance, const plugmc_box *box, int periodic,
                         const plugmc_particle *probe, const double moved[3],
                         const plugmc_particles *others, double *change)
{
    const batch b = batch_of(instance, box, periodic, probe, moved, others);
    block k;
    double total = 0;
    for (int64_t begin = 0; begin < others->n; begin += BLOCK) {
        const int n = block_length(&b, begin);
        measure(&b, b.to, begin, n, &k, NULL);
        evaluate(b.p, &k, n, 1, b.one_pair);
        add_block(&k, n, 1, &total);
        measure(&b, b.from, begin, n, &k, NULL);
        evaluate(b.p, &k, n, 1, b.one_pair);
        add_block(&k, n, -1, &total);
    }
    *change += total;
    return 0;
}

static void changes_of(const void *instance, const plugmc_box *box, int periodic,
                       const plugmc_particle *probe, const double moved[3],
                       const plugmc_particles *others, void *out)
{
    const batch b = batch_of(instance, box, periodic, probe, moved, others);
    block to, from;
    for (int64_t begin = 0; begin < others->n; begin += BLOCK) {
        const int n = block_length(&b, begin);
        measure(&b, b.to, begin, n, &to, NULL);
        evaluate(b.p, &to, n, 1, b.one_pair);
        measure(&b, b.from, begin, n, &from, NULL);
        evaluate(b.p, &from, n, 1, b.one_pair);
        for (int i = 0; i < n; i++) ((real *)out)[begin + i] = to.out[0][i] - from.out[0][i];
    }
}

static int64_t derivatives_of(const void *instance, const plugmc_box *box, int periodic, int second,
                              const plugmc_particle *probe, const plugmc_particles *others,
                              plugmc_derivatives *out)
{
    const batch b = batch_of(instance, box, periodic, probe, NULL, others);
    plugmc_separation apart[BLOCK];
    block k;
    for (int64_t begin = 0; begin < others->n; begin += BLOCK) {
        const int n = block_length(&b, begin);
        measure(&b, b.from, begin, n, &k, apart);
        evaluate(b.p, &k, n, second ? 3 : 2, b.one_pair);
        for (int j = 0; j < n; j++) {
            if (!(k.square[j] < b.p->square)) continue;
            const double u1 = (double)k.out[1][j];
            const double s[3] = {(double)apart[j].x, (double)apart[j].y, (double)apart[j].z};
            out->energy += (double)k.out[0][j];
            for (int d = 0; d < 3; d++) {
                out->gradient[d] += u1 * s[d];
                out->virial[d] -= u1 * s[d] * s[d];
            }
            if (second) out->laplacian += (double)k.out[2][j] + (box->dimension - 1) * u1;
        }
    }
    return 0;
}

#ifdef PLUGMC_FLOAT_UNIT
enum { SLOTS = BLOCK / LANES };
_Static_assert((int)PLUGMC_LANE_BLOCK == (int)LANES, "a row of lanes is a row of a block");

/* Squares of the separations of lanes l0 ... from the neighbours in slot s, at a place of the probes; empty
 * slots are out of reach. The arithmetic is that of plugmc/pair.h. */
PLUGMC_FN void measure_lanes(const plugmc_lanes *b, int s, int l0, const float *px, const float *py,
                             const float *pz, float *restrict out)
{
    const float *x = b->x[s] + l0, *y = b->y[s] + l0, *z = b->z[s] + l0, *o = b->offset[s];
    for (int l = 0; l < LANES; l++) {
        const float dx = ((px[l] - o[0]) - x[l]) * b->scale;
        const float dy = ((py[l] - o[1]) - y[l]) * b->ratio[1] * b->scale;
        const float dz = ((pz[l] - o[2]) - z[l]) * b->ratio[2] * b->scale;
        const float square = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
        out[l] = x[l] < PLUGMC_NOWHERE ? square : INFINITY;
    }
}

static PLUGMC_TARGETS void lanes_of(const void *instance, const plugmc_lanes *b)
{
    const parameters *p = instance;
    const machine *m = p->machine;
    const int mixed = b->species && !m->uniform;
    block to, from;
    for (int l0 = 0; l0 < b->lanes; l0 += LANES) {
        float sum[LANES] = {0};
        for (int s0 = 0; s0 < b->slots; s0 += SLOTS) {
            const int slots = b->slots - s0 < SLOTS ? b->slots - s0 : SLOTS;
            for (int s = 0; s < slots; s++) {
                measure_lanes(b, s0 + s, l0, b->new_x + l0, b->new_y + l0, b->new_z + l0,
                              (float *)to.square + s * LANES);
                measure_lanes(b, s0 + s, l0, b->old_x + l0, b->old_y + l0, b->old_z + l0,
                              (float *)from.square + s * LANES);
                for (int l = 0; mixed && l < LANES; l++)
                    to.pair[s * LANES + l] = from.pair[s * LANES + l] =
                        b->probe_species[l0 + l] * m->kinds + b->species[s0 + s][l0 + l];
            }
            evaluate(p, &to, slots * LANES, 1, mixed ? -1 : 0);
            evaluate(p, &from, slots * LANES, 1, mixed ? -1 : 0);
            for (int s = 0; s < slots; s++)
                for (int l = 0; l < LANES; l++)
                    sum[l] += (float)(to.out[0][s * LANES + l] - from.out[0][s * LANES + l]);
        }
        for (int l = 0; l < LANES; l++) b->change[l0 + l] += sum[l];
    }
}
#else
#define lanes_of NULL
#endif

static const plugmc_pair expression_facet = {
    .size = sizeof(plugmc_pair),
    .functions = PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE,
    .range = range_of,
    .contact = contact_of,
    .energy = energy_of,
    .change = change_of,
    .lanes = lanes_of,
    .changes = changes_of,
    .derivatives = derivatives_of,
};

#endif
