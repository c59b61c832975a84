/* spherocylinder: hard rods with round ends, in two dimensions (discorectangles) and three.
 *
 * A rod is what a disk or sphere covers whose centre goes along a segment: along the axis x of the body, with its middle at
 * the centre. Each species has its length (without the ends) and its diameter. Two rods overlap if their segments come
 * closer than the mean of their diameters (C. Vega, S. Lago, Computers Chem. 18, 55 (1994)). The line between the points at
 * which they are closest is the axis that shows that two are apart.
 */
#include <plugmc/potential.h>

typedef struct parameters {
    plugmc_list length, diameter; /* as given */
    plugmc_list sizes;            /* [species][5]: half length, radius, reach, core, volume */
} parameters;

PLUGMC_FN real of_rod(const parameters *p, plugmc_site a, int what)
{
    return p->sizes.values[5 * a.species + what];
}

PLUGMC_FN real body_reach(const parameters *p, plugmc_site a) { return of_rod(p, a, 2); }
PLUGMC_FN real body_core(const parameters *p, plugmc_site a) { return of_rod(p, a, 3); }
PLUGMC_FN real body_volume(const parameters *p, plugmc_site a) { return of_rod(p, a, 4); }

PLUGMC_FN real dot_product(const real *u, const real *v)
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

/* The number in [-h - from, h - from] that is nearest to x. */
PLUGMC_FN real on_segment(real x, real h, real from)
{
    const real least = -h - from, most = h - from;
    return x < least ? least : (x > most ? most : x);
}

/* Where |r + m v - l u|^2 is smallest, for points l0 + l and m0 + m of two segments of half lengths h and k. Is added to l0
 * and m0, and to r. */
PLUGMC_FN void approach(const real *u, const real *v, real h, real k, real *l0, real *m0, real *r)
{
    const real cross[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                           u[0] * v[1] - u[1] * v[0]};
    const real ru = dot_product(r, u), rv = dot_product(r, v), uv = dot_product(u, v),
               sine2 = dot_product(cross, cross);
    /* parallel ones are as close everywhere on the part where they are side by side */
    real l = sine2 > 0 ? on_segment((ru - uv * rv) / sine2, h, *l0) : on_segment(0, h, *l0);
    const real m = on_segment(uv * l - rv, k, *m0);
    l = on_segment(uv * m + ru, h, *l0);
    for (int d = 0; d < 3; d++) r[d] += m * v[d] - l * u[d];
    *l0 += l;
    *m0 += m;
}

PLUGMC_FN real body_gap(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                        const plugmc_pose *B, plugmc_site a, plugmc_site b, real enough,
                        real axis[3])
{
    const real h = of_rod(p, a, 0), k = of_rod(p, b, 0), round = of_rod(p, a, 1) + of_rod(p, b, 1),
               way[3] = {-s.x, -s.y, -s.z};
    real l = 0, m = 0, r[3] = {-s.x, -s.y, -s.z};
    (void)enough;
    /* the second time mends rounding errors, which are those of the length */
    approach(A->x, B->x, h, k, &l, &m, r);
    approach(A->x, B->x, h, k, &l, &m, r);
    const real distance = plugmc_sqrt(dot_product(r, r));
    axis[0] = axis[1] = axis[2] = 0;
    if (!(distance > 0)) return -round;
    for (int d = 0; d < 3; d++) axis[d] = r[d] / distance;
    const real u = dot_product(axis, A->x), v = dot_product(axis, B->x);
    return dot_product(axis, way) - h * (u < 0 ? -u : u) - k * (v < 0 ? -v : v) - round;
}

/* Whether there is an empty slab across the shortest line from the segment u to the centre of the other, at `way` from its own. Along
 * n, from the point l of the segment to that centre, no point of the segment is beyond l, and the other one ends k |v n| before
 * its centre. */
PLUGMC_FN int slab_across(const real *u, const real *v, const real *way, real h, real k, real wide)
{
    const real l = on_segment(dot_product(way, u), h, 0);
    const real n[3] = {way[0] - l * u[0], way[1] - l * u[1], way[2] - l * u[2]};
    const real square = dot_product(n, n), vn = dot_product(v, n),
               rest = square - k * (vn < 0 ? -vn : vn);
    return rest > 0 && rest * rest > wide * wide * square;
}

/* It has to be wider than 0 by a thousandth of the bodies: body_gap finds it, too, and is wrong by less than a hundredth of that. */
PLUGMC_FN int body_apart(const parameters *p, plugmc_separation s, const real *x_a, const real *x_b,
                         plugmc_site a, plugmc_site b)
{
    const real h = of_rod(p, a, 0), k = of_rod(p, b, 0),
               wide = of_rod(p, a, 1) + of_rod(p, b, 1) +
                      (real)0x1p-10 * (body_reach(p, a) + body_reach(p, b)),
               way[3] = {-s.x, -s.y, -s.z};
    return slab_across(x_a, x_b, way, h, k, wide) | slab_across(x_b, x_a, way, k, h, wide);
}

#define PLUGMC_BODY (PLUGMC_BODY_GAP | PLUGMC_BODY_APART | PLUGMC_BODY_SHAPE)
#include <plugmc/body.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>
#include <stdio.h>

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t species = host->system->species_count, flat = host->system->box.dimension == 2;
    int any = 0, code = plugmc_check_species_list(host, "length", &p->length, PLUGMC_PER_SPECIES);
    if (!code) code = plugmc_check_species_list(host, "diameter", &p->diameter, PLUGMC_PER_SPECIES);
    real *sizes = host->allocate(host->context, sizeof *sizes * 5 * (size_t)species);
    if (!code && !sizes) code = PLUGMC_ERROR_MEMORY;
    for (int32_t s = 0; s < species && !code; s++) {
        const double length = plugmc_species_value(&p->length, species, s),
                     d = plugmc_species_value(&p->diameter, species, s);
        const double volume =
            flat ? length * d + M_PI / 4 * d * d : M_PI / 4 * d * d * length + M_PI / 6 * d * d * d;
        const double row[5] = {length / 2, d / 2, (length + d) / 2 * (1 + 1e-7), d / 2 * (1 - 1e-6),
                               volume};
        if (length > 0 && d == 0)
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "rods of species '%s' have length %g but diameter 0: set both to 0 "
                              "if it has none",
                              plugmc_species_at(host->system, s)->name, length);
        for (int k = 0; k < 5; k++) sizes[5 * s + k] = (real)(d > 0 ? row[k] : 0);
        any |= d > 0;
    }
    if (!code && !any)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no species has a rod: set a diameter above 0");
    p->sizes = (plugmc_list){sizes, 5 * species};
    return code;
}

static int body_shape(const void *instance, const plugmc_particle *a, char *json, size_t size)
{
    const parameters *p = instance;
    const plugmc_site site = plugmc_site_of_body(a);
    const double half = (double)of_rod(p, site, 0);
    return snprintf(
        json, size,
        "{\"type\": \"ConvexPolyhedron\", \"rounding_radius\": %.9g, \"vertices\": [[%.9g, 0, "
        "0], [%.9g, 0, 0]]}",
        (double)of_rod(p, site, 1), -half, half);
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, length, 0, NULL, 0, 1e6, "length",
                    "length of the rod without its round ends, along x of the body: one for all "
                    "species, or one per species"),
    PLUGMC_LIST_KEY(parameters, diameter, 0, "1", 0, 1e6, "length",
                    "its diameter: one for all species, or one per species. 0: the species has "
                    "no rod"),
    PLUGMC_LIST_DERIVED(parameters, sizes, "sizes of each rod"),
};

PLUGMC_PLUGIN(.name = "spherocylinder",
              .summary = "hard rods with round ends, in two and three dimensions",
              .reference = "Vega, Lago, Computers Chem. 18, 55 (1994)",
              PLUGMC_KEYS(parameters, table), PLUGMC_BODIES_ALONE, .configure = configure);
#endif
