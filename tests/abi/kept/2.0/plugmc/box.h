/* plugmc/box.h: the domain of particles, places in it and the minimum image, once for C and CUDA C++.
 * Part of plugmc/device.h, and so of every text. */
#ifndef PLUGMC_BOX_H
#define PLUGMC_BOX_H

enum plugmc_domain {
    PLUGMC_DOMAIN_PERIODIC, /* fractional coordinates in [0, 1); rectangular unless `oblique` */
    PLUGMC_DOMAIN_SPHERE    /* particle centres within `radius` of the origin */
};

typedef struct plugmc_box {
    int32_t domain;      /* enum plugmc_domain */
    int32_t dimension;   /* 2 or 3 */
    double length[3];    /* periodic: edges; length[2] is 1 in two dimensions. sphere: 2 radius */
    double radius;       /* sphere; 0 else */
    double volume;       /* area in two dimensions */
    int32_t oblique;     /* 1: periodic, a parallelepiped; `length` then holds |a|, |b|, |c| */
    double vector[3][3]; /* periodic: lattice vectors a, b, c as rows, whatever the shape */
    double inverse[3]
                  [3]; /* of that matrix: fractional coordinate d of r: sum_e r_e inverse[e][d] */
    /* 1: no images along this axis of a rectangular box, as across a slit; 0 in all boxes of this version. Loops of pair
     * potentials that are compiled today take it already (plugmc_images_of). */
    int32_t closed[3];
    int32_t unused;
    double reserved[4]; /* 0; room to grow, since boxes are members of other structs */
} plugmc_box;

/* ---- Places --------------------------------------------------------------------------------- */

/* x moved by whole periods into [0, period). What is there already is left as it is, and so is NaN. */
PLUGMC_FN double plugmc_wrapped(double x, double period)
{
    if (x >= 0 && x < period) return x;
    x -= period * floor(x / period);
    return x >= period ? 0 : x; /* a tiny negative x rounds up to the edge */
}

/* The image of r in a rectangular box: [0, length) in each direction. */
PLUGMC_FN void plugmc_wrap_rectangular(const double length[3], int32_t dimension, double r[3])
{
    for (int d = 0; d < dimension; d++) r[d] = plugmc_wrapped(r[d], length[d]);
}

/* The image of r in a box of lattice vectors (rows) with this inverse, as in plugmc_box: fractional
 * coordinates in [0, 1). */
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

/* The image of r in the box: [0, length) in a rectangular one, fractional coordinates in [0, 1) in
 * an oblique one; in a sphere r stays. */
PLUGMC_FN void plugmc_wrap(const plugmc_box *box, double r[3])
{
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) return;
    if (box->oblique)
        plugmc_wrap_oblique(box->vector, box->inverse, r);
    else
        plugmc_wrap_rectangular(box->length, box->dimension, r);
}

/* Its lattice vectors, each times a factor. */
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

/* Lattice vector d plus `amount` times lattice vector e, which leaves the volume as it is. */
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

/* How far lattice vector d leans along a vector before it, e: its component along that part of e which is
 * perpendicular to those before e, in units of that part. 0 in a rectangular box; lattices whose tilts differ
 * by whole numbers are the same. */
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

/* Distance between the faces that lattice vector d leads from and to. */
PLUGMC_FN double plugmc_height(const plugmc_box *box, int d)
{
    double square = 0;
    if (!box->oblique) return box->length[d];
    for (int e = 0; e < 3; e++) square += box->inverse[e][d] * box->inverse[e][d];
    return 1 / sqrt(square);
}

/* ---- The minimum image ---------------------------------------------------------------------- */

/* The nearest image of a difference of two coordinates of a rectangular box. */
PLUGMC_FN double plugmc_nearest_image(double difference, double length)
{
    if (difference > 0.5 * length) return difference - length;
    return difference < -0.5 * length ? difference + length : difference;
}

/* How the minimum image is taken: a box in the precision of a computation. */
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

PLUGMC_FN real plugmc_round(real x)
{
    return sizeof(real) == 4 ? (real)rintf((float)x) : (real)rint((double)x);
}

PLUGMC_FN real plugmc_dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Of each pair v, -v of the 26 lattice vectors around the origin one: number q, from 1 on, is i a + j b + k c with
 * 9 i + 3 j + k = q. What is linear in v, from what it is along a, b and c. */
enum { PLUGMC_AROUND = 13 };
PLUGMC_FN void plugmc_along_around(real a, real b, real c, real out[PLUGMC_AROUND + 1])
{
    const real less = b - c, more = b + c;
    const real all[PLUGMC_AROUND + 1] = {
        0, c, less, b, more, a - more, a - b, a - less, a - c, a, a + c, a + less, a + b, a + more};
    PLUGMC_UNROLL
    for (int q = 0; q <= PLUGMC_AROUND; q++) out[q] = all[q];
}

/* Half of their squares. */
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

/* In an oblique box the image s with the nearest fractional coordinates need not be the nearest: it is looked for
 * among that one and those around it, which is exact for all vectors that [box] takes (core/src/system/skew.c). That one of s + v and s - v is the
 * nearer whose v points against s; half of its square is less than that of s by |s.v| - |v|^2 / 2. */
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

/* Numbers of cells at least `width` wide along each direction, and wider where there would be more
 * than 4 N + 8 of them; one in an oblique box, whose cells would be oblique too. A sphere is cut as
 * the cube [-radius, radius]. widths: length. Returns how many there are in all. */
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
