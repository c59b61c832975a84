/* hard_ellipse: hard ellipses, in two dimensions.
 *
 * An ellipse is (x / a)^2 + (y / b)^2 <= 1 in the axes of the body; each species has its a and b. With the matrices A and B
 * of two ellipses (those of squared semi-axes, in space) and the way r from one to the other, the contact function of
 * J. W. Perram, M. S. Wertheim, J. Comput. Phys. 58, 409 (1985), is the maximum over l in (0, 1) of
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
    plugmc_list a, b;  /* as given */
    plugmc_list sizes; /* [species][5]: semi-axes, reach, core, area */
} parameters;

PLUGMC_FN real of_ellipse(const parameters *p, plugmc_site a, int what)
{
    return p->sizes.values[5 * a.species + what];
}

PLUGMC_FN real body_reach(const parameters *p, plugmc_site a) { return of_ellipse(p, a, 2); }
PLUGMC_FN real body_core(const parameters *p, plugmc_site a) { return of_ellipse(p, a, 3); }
PLUGMC_FN real body_volume(const parameters *p, plugmc_site a) { return of_ellipse(p, a, 4); }

/* A symmetric matrix. */
typedef struct matrix {
    real xx, xy, yy;
} matrix;

/* That of an ellipse, lengths in `unit`. */
PLUGMC_FN matrix of_axes(const parameters *p, plugmc_site site, const plugmc_pose *P, real unit)
{
    const real a = of_ellipse(p, site, 0) / unit, b = of_ellipse(p, site, 1) / unit, u = a * a,
               v = b * b;
    const matrix out = {u * P->x[0] * P->x[0] + v * P->y[0] * P->y[0],
                        u * P->x[0] * P->x[1] + v * P->y[0] * P->y[1],
                        u * P->x[1] * P->x[1] + v * P->y[1] * P->y[1]};
    return out;
}

/* m.A n */
PLUGMC_FN real between(const real *m, const matrix *A, const real *n)
{
    return m[0] * (A->xx * n[0] + A->xy * n[1]) + m[1] * (A->xy * n[0] + A->yy * n[1]);
}

PLUGMC_FN real body_gap(const parameters *p, plugmc_separation s, const plugmc_pose *P,
                        const plugmc_pose *Q, plugmc_site a, plugmc_site b, real enough,
                        real axis[3])
{
    const real unit = body_reach(p, a) + body_reach(p, b), x = -s.x / unit, y = -s.y / unit,
               near = sizeof(real) == 4 ? (real)0x1p-12 : (real)0x1p-26;
    const matrix A = of_axes(p, a, P, unit), B = of_axes(p, b, Q, unit);
    real least = 0, most = 1, l = body_reach(p, a) / unit, gap = -1;
    axis[0] = axis[1] = axis[2] = 0;
    for (int step = 0; step < 32; step++) {
        const real k = 1 - l, xx = k * A.xx + l * B.xx, xy = k * A.xy + l * B.xy,
                   yy = k * A.yy + l * B.yy, det = xx * yy - xy * xy;
        const real n[2] = {(yy * x - xy * y) / det, (xx * y - xy * x) / det};
        const real u2 = between(n, &A, n), v2 = between(n, &B, n), u = plugmc_sqrt(u2),
                   v = plugmc_sqrt(v2), length = plugmc_sqrt(n[0] * n[0] + n[1] * n[1]);
        if (!(length > 0)) break;
        axis[0] = n[0] / length;
        axis[1] = n[1] / length;
        gap = axis[0] * x + axis[1] * y - (u + v) / length;
        const real off = 2 * (k * u - l * v) / (k * u + l * v); /* about log(k u / (l v)) */
        if (gap * unit > enough || (off < near && off > -near)) break;
        if (k * u < 1 && l * v < 1 && enough < PLUGMC_NO_RANGE) break; /* they overlap */
        /* dn/dl = -[(1 - l) A + l B]^-1 (B - A) n */
        const real fx = (B.xx - A.xx) * n[0] + (B.xy - A.xy) * n[1],
                   fy = (B.xy - A.xy) * n[0] + (B.yy - A.yy) * n[1];
        const real turn[2] = {(xy * fy - yy * fx) / det, (xy * fx - xx * fy) / det};
        const real slope = between(n, &A, turn) / u2 - between(n, &B, turn) / v2 - 1 / k - 1 / l;
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

#define LONGEST 100 /* times the width: rounding to float spoils the axes of longer ones */

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t species = host->system->species_count;
    int any = 0, code;
    if (host->system->box.dimension != 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "ellipses are two-dimensional: set [box] dimension = 2, or take "
                          "[potential hard_ellipsoid]");
    code = plugmc_check_species_list(host, "a", &p->a, PLUGMC_PER_SPECIES);
    if (!code) code = plugmc_check_species_list(host, "b", &p->b, PLUGMC_PER_SPECIES);
    real *sizes = host->allocate(host->context, sizeof *sizes * 5 * (size_t)species);
    if (!code && !sizes) code = PLUGMC_ERROR_MEMORY;
    for (int32_t s = 0; s < species && !code; s++) {
        const double a = plugmc_species_value(&p->a, species, s),
                     b = plugmc_species_value(&p->b, species, s);
        const double row[5] = {a, b, fmax(a, b) * (1 + 1e-7), fmin(a, b) * (1 - 1e-6),
                               M_PI * a * b};
        if ((a > 0) != (b > 0) || fmax(a, b) > LONGEST * fmin(a, b))
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the semi-axes of species '%s' are %g and %g: the longer one may "
                              "be up to %d times the shorter one; set both to 0 if it has none",
                              plugmc_species_at(host->system, s)->name, a, b, LONGEST);
        for (int k = 0; k < 5; k++) sizes[5 * s + k] = (real)row[k];
        any |= a > 0;
    }
    if (!code && !any)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no species has an ellipse: set a and b above 0");
    p->sizes = (plugmc_list){sizes, 5 * species};
    return code;
}

static int body_shape(const void *instance, const plugmc_particle *particle, char *json,
                      size_t size)
{
    const parameters *p = instance;
    const plugmc_site site = plugmc_site_of_body(particle);
    const double a = (double)of_ellipse(p, site, 0), b = (double)of_ellipse(p, site, 1);
    return snprintf(json, size, "{\"type\": \"Ellipsoid\", \"a\": %.9g, \"b\": %.9g, \"c\": %.9g}",
                    a, b, fmin(a, b));
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, a, 0, NULL, 0, 1e6, "length",
                    "semi-axis along x of the body: one for all species, or one per species. 0: "
                    "the species has no ellipse"),
    PLUGMC_LIST_KEY(parameters, b, 0, NULL, 0, 1e6, "length", "semi-axis along y, likewise"),
    PLUGMC_LIST_DERIVED(parameters, sizes, "sizes of each ellipse"),
};

PLUGMC_PLUGIN(.name = "hard_ellipse", .summary = "hard ellipses",
              .reference = "Perram, Wertheim, J. Comput. Phys. 58, 409 (1985)",
              PLUGMC_KEYS(parameters, table), PLUGMC_BODIES_ALONE, .configure = configure);
#endif
