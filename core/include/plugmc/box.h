/* plugmc/box.h: the simulation box, positions in it and the minimum image, for C and CUDA C++. Part of
 * plugmc/device.h, so available in every GPU source. */
#ifndef PLUGMC_BOX_H
#define PLUGMC_BOX_H

enum plugmc_domain {
    PLUGMC_DOMAIN_PERIODIC, /* fractional coordinates in [0, 1); rectangular unless `oblique` */
    PLUGMC_DOMAIN_SPHERE    /* particle centres at most `radius` from the origin */
};

typedef struct plugmc_box {
    int32_t domain;    /* enum plugmc_domain */
    int32_t dimension; /* 2 or 3 */
    /* Periodic: edges; length[2] is 1 in two dimensions. Sphere: 2 radius. */
    double length[3];
    double radius; /* of the sphere, else 0 */
    double volume; /* area in two dimensions */
    /* 1: periodic and not rectangular; `length` is then |a|, |b|, |c|. */
    int32_t oblique;
    double vector[3][3]; /* periodic: lattice vectors a, b, c as rows, for any shape */
    /* Of that matrix: fractional coordinate d of r is sum_e r_e inverse[e][d]. */
    double inverse[3][3];
    /* 1: no periodic images along this axis of a rectangular box, e.g. across a slit. 0 in all boxes of this
     * version; pair loops compiled for the CPU respect it already (plugmc_images_of). */
    int32_t closed[3];
    int32_t unused;
    double reserved[4]; /* 0; for later members, as boxes are members of other structs */
} plugmc_box;

/* ---- Positions ---------------------------------------------------------------------------- */

/* x shifted by whole periods into [0, period). Unchanged if it is there already, or NaN. */
PLUGMC_FN double plugmc_wrapped(double x, double period)
{
    if (x >= 0 && x < period) return x;
    x -= period * floor(x / period);
    return x >= period ? 0 : x; /* a tiny negative x rounds to the edge */
}

/* Wraps r into a rectangular box: [0, length) along each direction. */
PLUGMC_FN void plugmc_wrap_rectangular(const double length[3], int32_t dimension, double r[3])
{
    for (int d = 0; d < dimension; d++) r[d] = plugmc_wrapped(r[d], length[d]);
}

/* Wraps r into a box with these lattice vectors (rows) and this inverse, as in plugmc_box: fractional coordinates
 * in [0, 1). */
PLUGMC_FN void plugmc_wrap_oblique(const double vector[3][3], const double inverse[3][3],
                                   double r[3])
{
    double f[3];
    int inside = 1;
    for (int d = 0; d < 3; d++) {
        f[d] = r[0] * inverse[0][d] + r[1] * inverse[1][d] + r[2] * inverse[2][d];
        inside &= f[d] >= 0 && f[d] < 1;
        f[d] = plugmc_wrapped(f[d], 1);
    }
    for (int d = 0; d < 3 && !inside; d++)
        r[d] = f[0] * vector[0][d] + f[1] * vector[1][d] + f[2] * vector[2][d];
}

/* Wraps r into the box: [0, length) if it is rectangular, fractional coordinates in [0, 1) if it is oblique. In a
 * sphere r is unchanged. */
PLUGMC_FN void plugmc_wrap(const plugmc_box *box, double r[3])
{
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) return;
    if (box->oblique)
        plugmc_wrap_oblique(box->vector, box->inverse, r);
    else
        plugmc_wrap_rectangular(box->length, box->dimension, r);
}

/* Multiplies each lattice vector by a factor. */
PLUGMC_FN void plugmc_scale_box(plugmc_box *box, const double factor[3])
{
    for (int i = 0; i < box->dimension; i++) {
        box->length[i] *= factor[i];
        box->volume *= factor[i];
        for (int d = 0; d < 3; d++) {
            box->vector[i][d] *= factor[i];
            box->inverse[d][i] /= factor[i];
        }
    }
}

/* Adds `amount` times lattice vector e to lattice vector d. The volume stays the same. */
PLUGMC_FN void plugmc_shear_box(plugmc_box *box, int d, int e, double amount)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        box->vector[d][k] += amount * box->vector[e][k];
        box->inverse[k][e] -= amount * box->inverse[k][d];
        square += box->vector[d][k] * box->vector[d][k];
    }
    box->length[d] = sqrt(square);
}

/* Tilt of lattice vector d along an earlier one, e: the component of d along the part of e that is perpendicular to
 * the vectors before e, in units of the length of that part. 0 in a rectangular box. Tilts that differ by integers
 * describe the same lattice. */
PLUGMC_FN double plugmc_tilt(const plugmc_box *box, int d, int e)
{
    double across[3], along = 0, square = 0;
    const double *a = box->vector[0];
    for (int k = 0; k < 3; k++) across[k] = box->vector[e][k];
    if (e == 1) {
        const double part = (a[0] * across[0] + a[1] * across[1] + a[2] * across[2]) /
                            (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        for (int k = 0; k < 3; k++) across[k] -= part * a[k];
    }
    for (int k = 0; k < 3; k++) {
        along += box->vector[d][k] * across[k];
        square += across[k] * across[k];
    }
    return along / square;
}

/* Distance between the two faces of the box that lattice vector d connects. */
PLUGMC_FN double plugmc_height(const plugmc_box *box, int d)
{
    double square = 0;
    if (!box->oblique) return box->length[d];
    for (int e = 0; e < 3; e++) square += box->inverse[e][d] * box->inverse[e][d];
    return 1 / sqrt(square);
}

/* ---- The minimum image ---------------------------------------------------------------------- */

/* The difference of two coordinates of a rectangular box, as nearest image. */
PLUGMC_FN double plugmc_nearest_image(double difference, double length)
{
    if (difference > 0.5 * length) return difference - length;
    return difference < -0.5 * length ? difference + length : difference;
}

/* Data for the minimum image: a box in the precision of the computation. */
typedef struct plugmc_images {
    real length[3], inverse_length[3]; /* rectangular */
    real vector[3][3], inverse[3][3];  /* oblique, as in plugmc_box */
} plugmc_images;

enum { PLUGMC_IMAGES_NONE, PLUGMC_IMAGES_RECTANGULAR, PLUGMC_IMAGES_OBLIQUE };

PLUGMC_FN int plugmc_images_of(const plugmc_box *box, int periodic, plugmc_images *out)
{
    for (int d = 0; d < 3; d++) {
        out->length[d] = (real)box->length[d];
        out->inverse_length[d] = 1 / out->length[d];
#if PLUGMC_HOST
        if (box->closed[d]) out->inverse_length[d] = 0;
#endif
        for (int e = 0; e < 3; e++) {
            out->vector[d][e] = (real)box->vector[d][e];
            out->inverse[d][e] = (real)box->inverse[d][e];
        }
    }
    return !periodic      ? PLUGMC_IMAGES_NONE
           : box->oblique ? PLUGMC_IMAGES_OBLIQUE
                          : PLUGMC_IMAGES_RECTANGULAR;
}

/* The nearest integer of |x| < 2^21. On a GPU rint runs at a quarter of the speed of an addition; added to 1.5 times 2^23
 * (2^52), x is rounded in the same way. */
PLUGMC_FN real plugmc_round(real x)
{
#if defined(__CUDACC_RTC__)
    return sizeof(real) == 4
               ? (real)__fadd_rn(__fadd_rn((float)x, 12582912.0f), -12582912.0f)
               : (real)__dadd_rn(__dadd_rn((double)x, 6755399441055744.0), -6755399441055744.0);
#endif
    return sizeof(real) == 4 ? (real)rintf((float)x) : (real)rint((double)x);
}

PLUGMC_FN real plugmc_dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Half of the 26 lattice vectors around the origin, one of each pair v, -v. Number q = 1 ... 13 is i a + j b + k c
 * with 9 i + 3 j + k = q. Computes a linear function of all of them from its values for a, b and c. */
enum { PLUGMC_AROUND = 13 };
PLUGMC_FN void plugmc_along_around(real a, real b, real c, real out[PLUGMC_AROUND + 1])
{
    const real less = b - c, more = b + c;
    const real all[PLUGMC_AROUND + 1] = {
        0, c, less, b, more, a - more, a - b, a - less, a - c, a, a + c, a + less, a + b, a + more};
    PLUGMC_UNROLL
    for (int q = 0; q <= PLUGMC_AROUND; q++) out[q] = all[q];
}

/* Half of their squared lengths. */
PLUGMC_FN void plugmc_half_squares_around(const plugmc_images *m, real out[PLUGMC_AROUND + 1])
{
    PLUGMC_UNROLL
    for (int q = 0; q <= PLUGMC_AROUND; q++) {
        const int i = q > 4, rest = q - 9 * i,
                  j = rest > 1    ? 1
                      : rest < -1 ? -1
                                  : 0,
                  k = rest - 3 * j;
        real v[3];
        for (int d = 0; d < 3; d++)
            v[d] =
                (real)i * m->vector[0][d] + (real)j * m->vector[1][d] + (real)k * m->vector[2][d];
        out[q] = plugmc_dot(v, v) / 2;
    }
}

/* Nearest image in an oblique box. The image s with the smallest fractional coordinates need not be the nearest, so
 * s and the images around it are compared. This is exact for all lattice vectors that [box] accepts
 * (core/src/system/skew.c). Of s + v and s - v the nearer one is that whose v points against s; half of its squared
 * length is less than that of s by |s.v| - |v|^2 / 2. */
PLUGMC_FN plugmc_separation plugmc_nearest_oblique(real x, real y, real z, const plugmc_images *m)
{
    const real *a = m->vector[0], *b = m->vector[1], *c = m->vector[2];
    real f[3], s[3], half[PLUGMC_AROUND + 1], along[PLUGMC_AROUND + 1], best = 0, number = 0;
    PLUGMC_UNROLL
    for (int d = 0; d < 3; d++) {
        f[d] = x * m->inverse[0][d] + y * m->inverse[1][d] + z * m->inverse[2][d];
        f[d] -= plugmc_round(f[d]);
    }
    PLUGMC_UNROLL
    for (int d = 0; d < 3; d++) s[d] = f[0] * a[d] + f[1] * b[d] + f[2] * c[d];
    plugmc_half_squares_around(m, half);
    plugmc_along_around(plugmc_dot(s, a), plugmc_dot(s, b), plugmc_dot(s, c), along);
    PLUGMC_UNROLL
    for (int q = 1; q <= PLUGMC_AROUND; q++) {
        const real by = half[q] - (along[q] < 0 ? -along[q] : along[q]);
        const int nearer = by < best;
        best = nearer ? by : best;
        number = nearer ? along[q] < 0 ? (real)q : (real)-q : number;
    }
    const real i = plugmc_round(number / 9), rest = number - 9 * i, j = plugmc_round(rest / 3),
               k = rest - 3 * j;
    f[0] += i;
    f[1] += j;
    f[2] += k;
    PLUGMC_UNROLL
    for (int d = 0; d < 3; d++) s[d] = f[0] * a[d] + f[1] * b[d] + f[2] * c[d];
    plugmc_separation out = {s[0], s[1], s[2], plugmc_dot(s, s)};
    return out;
}

PLUGMC_FN plugmc_separation plugmc_separate(real x, real y, real z, const plugmc_images *m,
                                            int mode)
{
    if (mode == PLUGMC_IMAGES_OBLIQUE) return plugmc_nearest_oblique(x, y, z, m);
    if (mode == PLUGMC_IMAGES_RECTANGULAR) {
        x -= m->length[0] * plugmc_round(x * m->inverse_length[0]);
        y -= m->length[1] * plugmc_round(y * m->inverse_length[1]);
        z -= m->length[2] * plugmc_round(z * m->inverse_length[2]);
    }
    plugmc_separation s = {x, y, z, x * x + y * y + z * z};
    return s;
}

/* ---- Cells ---------------------------------------------------------------------------------- */

/* Chooses cells at least `width` wide along each direction, and wider if there were more than 4 N + 8 of them. An
 * oblique box has one cell, since cells would be oblique too. A sphere is divided as the cube [-radius, radius].
 * widths: length. Returns the total number of cells. */
PLUGMC_FN int64_t plugmc_choose_cells(const plugmc_box *box, int64_t particles, double width,
                                      int32_t count[3], double widths[3])
{
    const double most = 4.0 * (double)particles + 8;
    double cells;
    do {
        cells = 1;
        for (int d = 0; d < box->dimension && !box->oblique; d++)
            cells *= fmax(1.0, floor(box->length[d] / width));
        if (cells > most) width *= 1.1;
    } while (cells > most);
    for (int d = 0; d < 3; d++) {
        const double fit = floor(box->length[d] / width);
        count[d] = d < box->dimension && !box->oblique && fit > 1 ? (int32_t)fit : 1;
        widths[d] = box->length[d] / count[d];
    }
    return (int64_t)cells;
}

#endif
