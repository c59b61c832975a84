/* host.c: orbitals on the CPU. Points are dealt with LANES at a time: every operation is one of vectors with a point in
 * each place, so that results do not depend on which points come together. Functions of a shell are added to all orbitals
 * as soon as they are known, which keeps them in the first cache. */
#define _GNU_SOURCE /* sincos */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "gaussian_orbitals.h"

enum { LANES = 8, MOST_ROWS = 2 * (MOST_L + 1) * (MOST_L + 2) / 2, ALL = 5 };

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef int64_t lane_bits __attribute__((vector_size(8 * LANES)));

typedef lanes number;
typedef double scalar;
#define GAUSSIAN_INLINE static inline __attribute__((always_inline))
#define GAUSSIAN_UNROLL /* left to the compiler */
#include GAUSSIAN_SHELL_FILE

/* A nucleus as it is seen from the points. */
typedef struct seen_nucleus {
    lanes d[3], cosine, sine; /* phase of the lattice vector that was subtracted */
} seen_nucleus;

/* ---- Radial sums ---------------------------------------------------------------------------- */

/* exp(-y) for 0 <= y <= 700, as plugmc_exp_of_negative has it. */
GAUSSIAN_INLINE void exp_of_negative(const lanes *y, lanes *out)
{
    const double leaves_integer = 6755399441055744.0;
    const lanes x = -*y, shifted = x * 1.4426950408889634 + leaves_integer;
    const lanes n = shifted - leaves_integer;
    const lanes f = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10;
    lanes s = f * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
    s = s * f + 1.0 / 39916800.0;
    s = s * f + 1.0 / 3628800.0;
    s = s * f + 1.0 / 362880.0;
    s = s * f + 1.0 / 40320.0;
    s = s * f + 1.0 / 5040.0;
    s = s * f + 1.0 / 720.0;
    s = s * f + 1.0 / 120.0;
    s = s * f + 1.0 / 24.0;
    s = s * f + 1.0 / 6.0;
    s = s * f + 0.5;
    s = (s * f * f + f) + 1.0;
    const lane_bits power = ((lane_bits)shifted + 1023) << 52;
    *out = s * (lanes)power;
}

GAUSSIAN_INLINE double least_of(const lanes *x)
{
    double least = (*x)[0];
    for (int i = 1; i < LANES; i++) least = (*x)[i] < least ? (*x)[i] : least;
    return least;
}

GAUSSIAN_INLINE void keep(lanes *x, lane_bits where) { *x = (lanes)((lane_bits)*x & where); }

/* The sums at points of which some are within reach. */
GAUSSIAN_INLINE void radial_sums(const gaussian_tables *t, const gaussian_entry *s, double nearest,
                                 gaussian_radial *g)
{
    const lanes zero = {0};
    const lane_bits here = (g->r2 < s->reach2) & (g->r2 >= s->inner2);
    g->R = g->R1 = g->R2 = zero;
    for (int32_t k = s->first; k < s->first + s->primitives; k++) {
        const double a = t->primitive[k][0];
        if (a * nearest > LARGEST_EXPONENT) continue;
        const lanes y = a * g->r2;
        lanes e;
        exp_of_negative(&y, &e);
        keep(&e, here & (y <= (double)LARGEST_EXPONENT));
        e *= t->primitive[k][1];
        const lanes slope = (-2 * a) * e;
        g->R += e;
        g->R1 += slope;
        g->R2 += (-2 * a) * slope;
    }
}

/* ---- Functions of a shell ------------------------------------------------------------------- */

GAUSSIAN_INLINE void any_shell(const gaussian_entry *s, const int derivatives,
                               const gaussian_radial *g, const int stride, lanes *out)
{
    if (s->l == 0)
        gaussian_spherical(0, derivatives, g, stride, out);
    else if (s->l == 1 && !s->cartesian)
        gaussian_spherical(1, derivatives, g, stride, out);
    else if (s->l == 2 && !s->cartesian)
        gaussian_spherical(2, derivatives, g, stride, out);
    else if (s->cartesian)
        gaussian_cartesian(s->l, derivatives, g, stride, out);
    else
        gaussian_spherical(s->l, derivatives, g, stride, out);
}

GAUSSIAN_INLINE void times(const gaussian_radial *g, const lanes *factor, gaussian_radial *out)
{
    *out = *g;
    out->R *= *factor;
    out->R1 *= *factor;
    out->R2 *= *factor;
}

/* Adds all images of a shell to chi [rows][components]; whether any reaches a point. */
GAUSSIAN_INLINE int add_images(const gaussian_tables *t, const gaussian_entry *s,
                               const seen_nucleus *nucleus, const int components, lanes *chi)
{
    const int derivatives = components > 1;
    int any = 0;
    for (int32_t i = 0; i < s->images; i++) {
        const double *image = t->image[i];
        gaussian_radial g;
        g.x = nucleus->d[0] - image[0];
        g.y = nucleus->d[1] - image[1];
        g.z = nucleus->d[2] - image[2];
        g.r2 = g.x * g.x + g.y * g.y + g.z * g.z;
        const double nearest = least_of(&g.r2);
        if (nearest >= s->reach2) continue;
        any = 1;
        radial_sums(t, s, nearest, &g);
        if (t->chi_parts == 1) {
            any_shell(s, derivatives, &g, components, chi);
            continue;
        }
        const lanes re = nucleus->cosine * image[3] - nucleus->sine * image[4],
                    im = nucleus->cosine * image[4] + nucleus->sine * image[3];
        gaussian_radial part;
        times(&g, &re, &part);
        any_shell(s, derivatives, &part, 2 * components, chi);
        times(&g, &im, &part);
        any_shell(s, derivatives, &part, 2 * components, chi + components);
    }
    return any;
}

/* ---- Orbitals ------------------------------------------------------------------------------- */

/* Adds rows of functions, times their coefficients, to orbitals [columns][components], a few orbitals at a time. */
GAUSSIAN_INLINE void add_rows(const gaussian_spin *spin, const double *coefficient, int32_t rows,
                              const int components, const lanes *chi, lanes *sum)
{
    enum { SIDE_BY_SIDE = 2 };
    for (int64_t j = 0; j < spin->columns; j += SIDE_BY_SIDE) {
        lanes own[SIDE_BY_SIDE][ALL];
        for (int m = 0; m < SIDE_BY_SIDE; m++)
            for (int c = 0; c < components; c++) own[m][c] = sum[(j + m) * components + c];
        for (int32_t row = 0; row < rows; row++)
            for (int m = 0; m < SIDE_BY_SIDE; m++) {
                const double factor = coefficient[row * spin->pitch + j + m];
                for (int c = 0; c < components; c++)
                    own[m][c] += factor * chi[row * components + c];
            }
        for (int m = 0; m < SIDE_BY_SIDE; m++)
            for (int c = 0; c < components; c++) sum[(j + m) * components + c] = own[m][c];
    }
}

/* What nuclei with cusps add. */
static void add_near(const gaussian_tables *t, const gaussian_spin *spin,
                     const seen_nucleus *nucleus, int components, lanes *sum)
{
    for (int32_t q = 0; q < t->corrected; q++) {
        const gaussian_corrected *c = &t->correction[q];
        const seen_nucleus *n = &nucleus[c->nucleus];
        const lanes r2 = n->d[0] * n->d[0] + n->d[1] * n->d[1] + n->d[2] * n->d[2];
        for (int i = 0; i < LANES; i++) {
            double sums[GAUSSIAN_MOST_S][3], out[3];
            if (!(r2[i] < c->reach2)) continue;
            for (int32_t k = 0; k < c->shells; k++)
                gaussian_s(t, &t->shell[c->shell[k]], r2[i], sums[k]);
            for (int64_t j = 0; j < spin->columns; j++) {
                lanes *at = sum + j * components;
                gaussian_near(t, spin, c, &spin->cusp[q * spin->columns + j], j, r2[i],
                              (const double(*)[3])sums, out);
                at[0][i] += out[0];
                if (components == 1) continue;
                for (int e = 0; e < 3; e++) at[1 + e][i] += out[1] * n->d[e][i];
                at[4][i] += out[2];
            }
        }
    }
}

GAUSSIAN_INLINE void sum_all(const gaussian_tables *t, const gaussian_spin *spin,
                             const seen_nucleus *nucleus, const int components, lanes *sum)
{
    const lanes zero = {0};
    lanes chi[MOST_ROWS * ALL];
    for (int64_t j = 0; j < (spin->columns + 1) * components; j++) sum[j] = zero;
    for (int32_t k = 0; k < t->shells; k++) {
        const gaussian_entry *s = &t->shell[k];
        const int32_t rows = functions_of_shell(s->l, s->cartesian) * t->chi_parts;
        for (int32_t i = 0; i < rows * components; i++) chi[i] = zero;
        if (add_images(t, s, &nucleus[s->nucleus], components, chi))
            add_rows(spin, spin->coefficient + s->row * spin->pitch, rows, components, chi, sum);
    }
}

static PLUGMC_TARGETS void sum_values(const gaussian_tables *t, const gaussian_spin *spin,
                                      const seen_nucleus *nucleus, lanes *sum)
{
    sum_all(t, spin, nucleus, 1, sum);
}

static PLUGMC_TARGETS void sum_everything(const gaussian_tables *t, const gaussian_spin *spin,
                                          const seen_nucleus *nucleus, lanes *sum)
{
    sum_all(t, spin, nucleus, ALL, sum);
}

/* ---- Points --------------------------------------------------------------------------------- */

static void see_nuclei(const gaussian_tables *t, const double *const r[LANES], seen_nucleus *out)
{
    for (int32_t k = 0; k < t->nuclei; k++)
        for (int i = 0; i < LANES; i++) {
            double d[3], n[3], cosine = 1, sine = 0;
            gaussian_displacement(t, k, r[i], d, n);
            for (int e = 0; e < 3; e++) out[k].d[e][i] = d[e];
            if (t->chi_parts == 2) {
                const double turns = n[0] * t->turns[0] + n[1] * t->turns[1] + n[2] * t->turns[2];
                sincos(2 * M_PI * (turns - rint(turns)), &sine, &cosine);
            }
            out[k].cosine[i] = cosine;
            out[k].sine[i] = sine;
        }
}

static void store(const plugmc_orbital_request *q, void *out, int64_t row, int64_t pitch,
                  int64_t columns, const lanes *sum, int components, int lane)
{
    if (!out) return;
    if (q->real_size == sizeof(float))
        for (int64_t j = 0; j < columns; j++)
            ((float *)out)[row * pitch + j] = (float)sum[j * components][lane];
    else
        for (int64_t j = 0; j < columns; j++)
            ((double *)out)[row * pitch + j] = sum[j * components][lane];
}

/* LANES points from `first` on, or as many as there are. */
static void evaluate_points(const gaussian_orbitals *g, const plugmc_orbital_request *q,
                            int64_t first, char *scratch)
{
    const gaussian_spin *spin = &g->spin[q->species];
    const int components = q->gradients || q->laplacians ? ALL : 1;
    const int64_t pitch = q->pitch * g->tables.parts;
    seen_nucleus *nucleus = (seen_nucleus *)scratch;
    lanes *sum = (lanes *)(nucleus + g->tables.nuclei);
    const double *r[LANES];
    for (int i = 0; i < LANES; i++)
        r[i] = q->positions + 3 * (first + i < q->points ? first + i : q->points - 1);
    see_nuclei(&g->tables, r, nucleus);
    if (components == 1)
        sum_values(&g->tables, spin, nucleus, sum);
    else
        sum_everything(&g->tables, spin, nucleus, sum);
    if (g->tables.corrected) add_near(&g->tables, spin, nucleus, components, sum);
    for (int i = 0; i < LANES && first + i < q->points; i++) {
        const int64_t point = first + i;
        store(q, q->values, point, pitch, spin->columns, sum, components, i);
        for (int e = 0; e < 3; e++)
            store(q, q->gradients, 3 * point + e, pitch, spin->columns, sum + 1 + e, components, i);
        store(q, q->laplacians, point, pitch, spin->columns, sum + 4, components, i);
    }
}

size_t gaussian_scratch_bytes(const gaussian_orbitals *g)
{
    const int64_t most =
        g->spin[0].columns > g->spin[1].columns ? g->spin[0].columns : g->spin[1].columns;
    return (size_t)g->tables.nuclei * sizeof(seen_nucleus) +
           (size_t)(most + 1) * ALL * sizeof(lanes);
}

void gaussian_on_host(const gaussian_orbitals *g, const plugmc_orbital_request *q)
{
    const int now = g->host->system->threads;
    const int threads = now > 0 && now < g->threads ? now : g->threads; /* there may be fewer now */
    const int64_t blocks = (q->points + LANES - 1) / LANES;
#pragma omp parallel num_threads(threads) if (blocks >= 2 * threads)
    {
        char *scratch = g->scratch + (size_t)omp_get_thread_num() * g->scratch_bytes;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < blocks; i++) evaluate_points(g, q, i * LANES, scratch);
    }
}
