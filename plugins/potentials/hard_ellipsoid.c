/* hard_ellipsoid: hard ellipsoids, in three dimensions.
 *
 * An ellipsoid is (x / a)^2 + (y / b)^2 + (z / c)^2 <= 1 in the axes of the body; each species has its a, b and c. With the
 * matrices A and B of two ellipsoids (those of squared semi-axes, in space) and the way r from one to the other, the contact
 * function of J. W. Perram, M. S. Wertheim, J. Comput. Phys. 58, 409 (1985), is the maximum over l in (0, 1) of
 *
 *     F(l) = l (1 - l) r.n,   n = [(1 - l) A + l B]^-1 r,
 *
 * above 1 if they are apart. At the maximum (1 - l) sqrt(n.A n) = l sqrt(n.B n), which Newton's method finds, and n is the
 * normal of the slab between the two. For any n that slab is as wide as n.r - sqrt(n.A n) - sqrt(n.B n), over |n|. This
 * width, which is above 0 wherever F(l) > 1, is what shows that two are apart. They overlap if the point (1 - l) A n, as
 * seen from the first, is inside of both.
 */
#include <plugmc/potential.h>

typedef struct parameters {
    plugmc_list a, b, c; /* as given */
    plugmc_list sizes;   /* [species][6]: semi-axes, reach, core, volume */
} parameters;

PLUGMC_FN real of_ellipsoid(const parameters *p, plugmc_site a, int what)
{
    return p->sizes.values[6 * a.species + what];
}

PLUGMC_FN real body_reach(const parameters *p, plugmc_site a) { return of_ellipsoid(p, a, 3); }
PLUGMC_FN real body_core(const parameters *p, plugmc_site a) { return of_ellipsoid(p, a, 4); }
PLUGMC_FN real body_volume(const parameters *p, plugmc_site a) { return of_ellipsoid(p, a, 5); }

/* A symmetric matrix: xx, yy, zz, yz, zx, xy. */
typedef struct matrix {
    real of[6];
} matrix;

/* That of an ellipsoid, lengths in `unit`. */
PLUGMC_FN matrix of_axes(const parameters *p, plugmc_site site, const plugmc_pose *P, real unit)
{
    const real a = of_ellipsoid(p, site, 0) / unit, b = of_ellipsoid(p, site, 1) / unit,
               c = of_ellipsoid(p, site, 2) / unit;
    matrix out;
    for (int k = 0; k < 6; k++) {
        const int i = k < 3 ? k : (k == 3 ? 1 : (k == 4 ? 2 : 0)),
                  j = k < 3 ? k : (k == 3 ? 2 : (k == 4 ? 0 : 1));
        out.of[k] =
            a * a * P->x[i] * P->x[j] + b * b * P->y[i] * P->y[j] + c * c * P->z[i] * P->z[j];
    }
    return out;
}

PLUGMC_FN void times(const matrix *A, const real *n, real *out)
{
    const real *a = A->of;
    out[0] = a[0] * n[0] + a[5] * n[1] + a[4] * n[2];
    out[1] = a[5] * n[0] + a[1] * n[1] + a[3] * n[2];
    out[2] = a[4] * n[0] + a[3] * n[1] + a[2] * n[2];
}

PLUGMC_FN real dot_product(const real *u, const real *v)
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

/* The inverse of (1 - l) A + l B. */
PLUGMC_FN matrix inverse_of_mean(const matrix *A, const matrix *B, real l)
{
    real m[6];
    for (int k = 0; k < 6; k++) m[k] = (1 - l) * A->of[k] + l * B->of[k];
    const real xx = m[1] * m[2] - m[3] * m[3], xy = m[3] * m[4] - m[5] * m[2],
               zx = m[5] * m[3] - m[1] * m[4], over = 1 / (m[0] * xx + m[5] * xy + m[4] * zx);
    const matrix out = {{xx * over, (m[0] * m[2] - m[4] * m[4]) * over,
                         (m[0] * m[1] - m[5] * m[5]) * over, (m[5] * m[4] - m[0] * m[3]) * over,
                         zx * over, xy * over}};
    return out;
}

PLUGMC_FN real body_gap(const parameters *p, plugmc_separation s, const plugmc_pose *P,
                        const plugmc_pose *Q, plugmc_site a, plugmc_site b, real enough,
                        real axis[3])
{
    const real unit = body_reach(p, a) + body_reach(p, b),
               r[3] = {-s.x / unit, -s.y / unit, -s.z / unit},
               near = sizeof(real) == 4 ? (real)0x1p-12 : (real)0x1p-26;
    const matrix A = of_axes(p, a, P, unit), B = of_axes(p, b, Q, unit);
    real least = 0, most = 1, l = body_reach(p, a) / unit, gap = -1, n[3], an[3], bn[3], turn[3];
    axis[0] = axis[1] = axis[2] = 0;
    for (int step = 0; step < 32; step++) {
        const matrix inverse = inverse_of_mean(&A, &B, l);
        times(&inverse, r, n);
        times(&A, n, an);
        times(&B, n, bn);
        const real k = 1 - l, u2 = dot_product(n, an), v2 = dot_product(n, bn), u = plugmc_sqrt(u2),
                   v = plugmc_sqrt(v2), length = plugmc_sqrt(dot_product(n, n));
        if (!(length > 0)) break;
        for (int d = 0; d < 3; d++) axis[d] = n[d] / length;
        gap = dot_product(axis, r) - (u + v) / length;
        const real off = 2 * (k * u - l * v) / (k * u + l * v); /* about log(k u / (l v)) */
        if (gap * unit > enough || (off < near && off > -near)) break;
        if (k * u < 1 && l * v < 1 && enough < PLUGMC_NO_RANGE) break; /* they overlap */
        /* -dn/dl = [(1 - l) A + l B]^-1 (B - A) n */
        const real forth[3] = {bn[0] - an[0], bn[1] - an[1], bn[2] - an[2]};
        times(&inverse, forth, turn);
        const real slope = dot_product(bn, turn) / v2 - dot_product(an, turn) / u2 - 1 / k - 1 / l;
        if (off > 0)
            least = l;
        else
            most = l;
        l -= off / slope;
        if (!(l > least && l < most)) l = (least + most) / 2;
    }
    return gap * unit;
}

#define PLUGMC_BODY (PLUGMC_BODY_GAP | PLUGMC_BODY_SHAPE)
#include <plugmc/body.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>
#include <stdio.h>

#define LONGEST 100 /* times the shortest: rounding to float spoils the axes of longer ones */

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t species = host->system->species_count;
    int any = 0, code;
    if (host->system->box.dimension != 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "ellipsoids are three-dimensional: set [box] dimension = 3, or take "
                          "[potential hard_ellipse]");
    code = plugmc_check_species_list(host, "a", &p->a, PLUGMC_PER_SPECIES);
    if (!code) code = plugmc_check_species_list(host, "b", &p->b, PLUGMC_PER_SPECIES);
    if (!code) code = plugmc_check_species_list(host, "c", &p->c, PLUGMC_PER_SPECIES);
    real *sizes = host->allocate(host->context, sizeof *sizes * 6 * (size_t)species);
    if (!code && !sizes) code = PLUGMC_ERROR_MEMORY;
    for (int32_t s = 0; s < species && !code; s++) {
        const double a = plugmc_species_value(&p->a, species, s),
                     b = plugmc_species_value(&p->b, species, s),
                     c = plugmc_species_value(&p->c, species, s), most = fmax(fmax(a, b), c),
                     least = fmin(fmin(a, b), c);
        const double row[6] = {
            a, b, c, most * (1 + 1e-7), least * (1 - 1e-6), 4 * M_PI / 3 * a * b * c};
        if (most > LONGEST * least)
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the semi-axes of species '%s' are %g, %g and %g: the longest may "
                              "be up to %d times the shortest; set all to 0 if it has none",
                              plugmc_species_at(host->system, s)->name, a, b, c, LONGEST);
        for (int k = 0; k < 6; k++) sizes[6 * s + k] = (real)row[k];
        any |= a > 0;
    }
    if (!code && !any)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no species has an ellipsoid: set a, b and c above 0");
    p->sizes = (plugmc_list){sizes, 6 * species};
    return code;
}

static int body_shape(const void *instance, const plugmc_particle *particle, char *json,
                      size_t size)
{
    const parameters *p = instance;
    const plugmc_site site = plugmc_site_of_body(particle);
    return snprintf(json, size, "{\"type\": \"Ellipsoid\", \"a\": %.9g, \"b\": %.9g, \"c\": %.9g}",
                    (double)of_ellipsoid(p, site, 0), (double)of_ellipsoid(p, site, 1),
                    (double)of_ellipsoid(p, site, 2));
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, a, 0, NULL, 0, 1e6, "length",
                    "semi-axis along x of the body: one for all species, or one per species. 0: "
                    "the species has no ellipsoid"),
    PLUGMC_LIST_KEY(parameters, b, 0, NULL, 0, 1e6, "length", "semi-axis along y, likewise"),
    PLUGMC_LIST_KEY(parameters, c, 0, NULL, 0, 1e6, "length", "semi-axis along z, likewise"),
    PLUGMC_LIST_DERIVED(parameters, sizes, "sizes of each ellipsoid"),
};

PLUGMC_PLUGIN(.name = "hard_ellipsoid", .summary = "hard ellipsoids",
              .reference = "Perram, Wertheim, J. Comput. Phys. 58, 409 (1985)",
              PLUGMC_KEYS(parameters, table), PLUGMC_BODIES_ALONE, .configure = configure);
#endif
