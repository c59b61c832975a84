/* Ewald sums; coulomb.h has the formulas. */
#include "coulomb.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Both sums end where their terms are below about exp(-REACH^2). */
static const double REACH = 5.2;
enum { MOST_INDEX = 256 };

/* ---- Preparation ----------------------------------------------------------------------------- */

/* Distance between the lattice planes of direction d, length. */
static double plane_distance(const plugmc_box *box, int d)
{
    double square = 0;
    for (int e = 0; e < 3; e++) square += box->inverse[e][d] * box->inverse[e][d];
    return 1 / sqrt(square);
}

/* A separation, reduced to fractional coordinates within 1/2, is no longer than this. */
static double longest_reduced(const plugmc_box *box)
{
    double longest = 0;
    for (int i = 0; i < 8; i++) {
        double square = 0;
        for (int d = 0; d < 3; d++) {
            double x = 0;
            for (int v = 0; v < 3; v++) x += (i >> v & 1 ? 0.5 : -0.5) * box->vector[v][d];
            square += x * x;
        }
        longest = fmax(longest, square);
    }
    return sqrt(longest);
}

static int compare_squares(const void *a, const void *b)
{
    const double *p = a, *q = b;
    const double x = p[0] * p[0] + p[1] * p[1] + p[2] * p[2],
                 y = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
    return (x > y) - (x < y);
}

/* Lattice vectors no longer than `length`, counted, and written if `out` is given. */
static int64_t lattice_vectors(const plugmc_box *box, double length, double (*out)[3])
{
    int32_t most[3];
    int64_t count = 0;
    for (int d = 0; d < 3; d++) most[d] = (int32_t)(length / plane_distance(box, d)) + 1;
    for (int32_t i = -most[0]; i <= most[0]; i++)
        for (int32_t j = -most[1]; j <= most[1]; j++)
            for (int32_t k = -most[2]; k <= most[2]; k++) {
                double r[3], square = 0;
                for (int d = 0; d < 3; d++) {
                    r[d] = i * box->vector[0][d] + j * box->vector[1][d] + k * box->vector[2][d];
                    square += r[d] * r[d];
                }
                if (square > length * length) continue;
                for (int d = 0; d < 3 && out; d++) out[count][d] = r[d];
                count++;
            }
    return count;
}

/* One of each pair of reciprocal vectors up to a length, likewise. */
static int64_t waves_up_to(const coulomb *c, const plugmc_box *box, double length,
                           int32_t (*index)[3], double *weight)
{
    int64_t count = 0;
    for (int32_t i = 0; i <= c->most[0]; i++)
        for (int32_t j = -c->most[1]; j <= c->most[1]; j++)
            for (int32_t k = -c->most[2]; k <= c->most[2]; k++) {
                double square = 0;
                if (i == 0 && (j < 0 || (j == 0 && k <= 0))) continue;
                for (int e = 0; e < 3; e++) {
                    const double g =
                        2 * M_PI *
                        (box->inverse[e][0] * i + box->inverse[e][1] * j + box->inverse[e][2] * k);
                    square += g * g;
                }
                if (square > length * length) continue;
                if (index) {
                    index[count][0] = i;
                    index[count][1] = j;
                    index[count][2] = k;
                    weight[count] = 8 * M_PI / (box->volume * square) *
                                    exp(-square / (4 * c->kappa * c->kappa));
                }
                count++;
            }
    return count;
}

/* Seconds, roughly, of the two sums for a cutoff of the first one. */
static double cost(const plugmc_box *box, int64_t charges, double cutoff)
{
    const double n = (double)charges, kappa = REACH / cutoff, g = 2 * kappa * REACH;
    const double images = 4 * M_PI / 3 * pow(cutoff, 3) / box->volume;
    const double looked_at = 4 * M_PI / 3 * pow(cutoff + longest_reduced(box), 3) / box->volume;
    const double waves = box->volume * g * g * g / (12 * M_PI * M_PI);
    return 0.5 * n * n * (30e-9 * images + 2e-9 * looked_at) + n * waves * 3e-9;
}

int coulomb_prepare(coulomb *c, const plugmc_host *host, int64_t charges)
{
    const plugmc_box *box = &host->system->box;
    *c = (coulomb){.cell = {.periodic = box->domain == PLUGMC_DOMAIN_PERIODIC}};
    memcpy(c->cell.vector, box->vector, sizeof c->cell.vector);
    memcpy(c->cell.inverse, box->inverse, sizeof c->cell.inverse);
    if (!c->cell.periodic) return PLUGMC_OK;
    const double unit = cbrt(box->volume);
    double cutoff = 0.5 * unit;
    for (double other = 0.3 * unit; other < 3 * unit; other *= 1.1)
        if (cost(box, charges, other) < cost(box, charges, cutoff)) cutoff = other;
    c->kappa = REACH / cutoff;
    c->cutoff_square = cutoff * cutoff;
    c->background = M_PI / (c->kappa * c->kappa * box->volume);
    const double reach = cutoff + longest_reduced(box), longest_wave = 2 * c->kappa * REACH;
    for (int d = 0; d < 3; d++) {
        double square = 0;
        for (int e = 0; e < 3; e++) square += box->vector[d][e] * box->vector[d][e];
        c->most[d] = (int32_t)(longest_wave * sqrt(square) / (2 * M_PI));
        if (c->most[d] > MOST_INDEX)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the cell is too flat or too elongated for Ewald sums");
    }
    c->vectors = lattice_vectors(box, reach, NULL);
    c->waves = waves_up_to(c, box, longest_wave, NULL, NULL);
    c->vector = host->allocate(host->context, (size_t)c->vectors * sizeof *c->vector);
    c->index = host->allocate(host->context, (size_t)c->waves * sizeof *c->index);
    c->weight = host->allocate(host->context, (size_t)c->waves * sizeof *c->weight);
    if (!c->vector || !c->index || !c->weight)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for Ewald sums");
    lattice_vectors(box, reach, c->vector);
    qsort(c->vector, (size_t)c->vectors, sizeof *c->vector, compare_squares);
    waves_up_to(c, box, longest_wave, c->index, c->weight);
    c->xi = -c->background - 2 * c->kappa / sqrt(M_PI);
    for (int64_t g = 0; g < c->waves; g++) c->xi += c->weight[g];
    for (int64_t v = 1; v < c->vectors; v++) {
        const double *r = c->vector[v], length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
        c->xi += erfc(c->kappa * length) / length;
    }
    return PLUGMC_OK;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

void coulomb_factors(const coulomb *c, int64_t n, const double *positions, const double *z,
                     double *re, double *im)
{
    double complex power[3][2 * MOST_INDEX + 1]; /* exp(2 pi i m f_d), m from -MOST_INDEX */
    for (int64_t g = 0; g < c->waves; g++) re[g] = im[g] = 0;
    for (int64_t i = 0; i < n && c->cell.periodic; i++) {
        const double *r = positions + 3 * i, charge = z ? z[i] : 1;
        double f[3];
        fractional_of(&c->cell, r, f);
        for (int d = 0; d < 3; d++) {
            const double complex step = cexp(2 * M_PI * I * f[d]);
            power[d][MOST_INDEX] = 1;
            for (int32_t m = 1; m <= c->most[d]; m++) {
                power[d][MOST_INDEX + m] = power[d][MOST_INDEX + m - 1] * step;
                power[d][MOST_INDEX - m] = conj(power[d][MOST_INDEX + m]);
            }
        }
        for (int64_t g = 0; g < c->waves; g++) {
            const double complex a = power[0][MOST_INDEX + c->index[g][0]],
                                 b = power[1][MOST_INDEX + c->index[g][1]],
                                 e = power[2][MOST_INDEX + c->index[g][2]];
            const double x = creal(a) * creal(b) - cimag(a) * cimag(b),
                         y = creal(a) * cimag(b) + cimag(a) * creal(b);
            re[g] += charge * (x * creal(e) - y * cimag(e));
            im[g] += charge * (x * cimag(e) + y * creal(e));
        }
    }
}

double coulomb_far(const coulomb *c, const double *re_a, const double *im_a, const double *re_b,
                   const double *im_b)
{
    double sum = 0;
    for (int64_t g = 0; g < c->waves; g++)
        sum += c->weight[g] * (re_a[g] * re_b[g] + im_a[g] * im_b[g]);
    return sum;
}

double coulomb_constant(const coulomb *c, double total, double squares)
{
    double itself = -c->background; /* what a charge does to itself in the sum over G */
    for (int64_t g = 0; g < c->waves; g++) itself += c->weight[g];
    return 0.5 * (squares * (c->xi - itself) - c->background * total * total);
}

double coulomb_self(const coulomb *c, int64_t n, const double *positions, const double *z,
                    double *re, double *im)
{
    double pairs = 0, total = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        const double charge = z ? z[i] : 1, *r = positions + 3 * i;
        double sum = 0;
        for (int64_t j = 0; j < i; j++) {
            const double *q = positions + 3 * j, s[3] = {r[0] - q[0], r[1] - q[1], r[2] - q[2]};
            sum += (z ? z[j] : 1) * coulomb_near(c, s);
        }
        pairs += charge * sum;
        total += charge;
        squares += charge * charge;
    }
    coulomb_factors(c, n, positions, z, re, im);
    return pairs + 0.5 * coulomb_far(c, re, im, re, im) + coulomb_constant(c, total, squares);
}
