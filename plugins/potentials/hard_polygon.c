/* hard_polygon: hard convex polygons, also rounded, one for each species.
 *
 * In two dimensions. A species whose name is a key has the corners that follow it, counter-clockwise around the origin,
 * which lies inside and is the point about which the polygon turns. Other species are regular polygons of `sides` sides.
 * With a `radius` the polygon is what a disk covers whose centre is anywhere in it.
 *
 * Two polygons are apart if a line along an edge of one parts them (S. Gottschalk, M. C. Lin, D. Manocha, SIGGRAPH 96, 171
 * (1996)), and, rounded ones, if no corner comes close to an edge. Until it touches another, a polygon that slides along an
 * axis meets it first where a corner of one meets an edge of the other.
 */
#include <plugmc/potential.h>

typedef struct parameters {
    int64_t sides;
    real edge;
    plugmc_list radius, radii; /* as given; [species], length */
    const char *vertices;
    plugmc_list
        corners; /* [corners][5]: x, y, outward normal of the edge that begins there, its distance from 0 */
    plugmc_list shapes; /* [species][5]: first corner, corners, reach, core, area */
    /* Of the only species, which a kernel has as constants: its loops have a fixed length. Else `only` is 0. */
    int64_t only;
    real only_reach, only_core, only_radius;
} parameters;

PLUGMC_FN real of_shape(const parameters *p, plugmc_site a, int what)
{
    return p->shapes.values[5 * a.species + what];
}

PLUGMC_FN int32_t first_corner(const parameters *p, plugmc_site a)
{
    return p->only ? 0 : (int32_t)of_shape(p, a, 0);
}

PLUGMC_FN int32_t number_of_corners(const parameters *p, plugmc_site a)
{
    return p->only ? (int32_t)p->only : (int32_t)of_shape(p, a, 1);
}

PLUGMC_FN real body_reach(const parameters *p, plugmc_site a)
{
    return p->only ? p->only_reach : of_shape(p, a, 2);
}

PLUGMC_FN real body_core(const parameters *p, plugmc_site a)
{
    return p->only ? p->only_core : of_shape(p, a, 3);
}

/* Of the disk that rounds it. */
PLUGMC_FN real radius_of(const parameters *p, plugmc_site a)
{
    return p->only ? p->only_radius : p->radii.values[a.species];
}

PLUGMC_FN real body_volume(const parameters *p, plugmc_site a) { return of_shape(p, a, 4); }

/* A polygon as another one sees it: in the frame of that one. */
typedef struct seen {
    const real *corners;
    int32_t n;
    real c, s, x, y; /* cosine and sine of the angle by which it is turned, its centre */
} seen;

/* b as a sees it; r is the way from a to b. */
PLUGMC_FN seen seen_from(const parameters *p, const plugmc_pose *A, const plugmc_pose *B,
                         plugmc_site b, real rx, real ry)
{
    seen out = {p->corners.values + 5 * first_corner(p, b),
                number_of_corners(p, b),
                A->x[0] * B->x[0] + A->x[1] * B->x[1],
                A->x[0] * B->x[1] - A->x[1] * B->x[0],
                A->x[0] * rx + A->x[1] * ry,
                A->x[0] * ry - A->x[1] * rx};
    return out;
}

/* The largest distance of the other polygon from the lines along the edges of a, or one that is `enough`; anything up to
 * `margin` if none is larger. An edge is looked at if the other one would be more than `margin` apart from its line, were it
 * the disk inside of it, of radius `core`. */
PLUGMC_FN real widest_gap(const parameters *p, plugmc_site a, const seen *o, real core, real margin,
                          real enough)
{
    const real *edges = p->corners.values + 5 * first_corner(p, a);
    const int32_t n = number_of_corners(p, a);
    real widest = -PLUGMC_NO_RANGE, along = 0;
    for (int32_t e = -1; !(widest > enough);) {
        /* Threads of a GPU wait for each other behind this loop, not in it. */
        do {
            e++;
            along =
                e < n ? edges[5 * e + 2] * o->x + edges[5 * e + 3] * o->y - edges[5 * e + 4] : 0;
        } while (e < n && !(along - core > margin));
        if (e >= n) break;
        const real nx = edges[5 * e + 2], ny = edges[5 * e + 3];
        const real ux = nx * o->c + ny * o->s, uy = ny * o->c - nx * o->s; /* the other's frame */
        real least = PLUGMC_NO_RANGE;
        for (int32_t c = 0; c < o->n; c++) {
            const real out = ux * o->corners[5 * c] + uy * o->corners[5 * c + 1];
            least = out < least ? out : least;
        }
        const real gap = along + least;
        widest = gap > widest ? gap : widest;
    }
    return widest;
}

/* Square of the distance of the corners of the other one from the edges of a, the smallest one. */
PLUGMC_FN real corner_distance(const parameters *p, plugmc_site a, const seen *o)
{
    const real *edges = p->corners.values + 5 * first_corner(p, a);
    const int32_t n = number_of_corners(p, a);
    real least = PLUGMC_NO_RANGE;
    for (int32_t k = 0; k < o->n; k++) {
        const real u = o->corners[5 * k], v = o->corners[5 * k + 1], x = o->x + o->c * u - o->s * v,
                   y = o->y + o->s * u + o->c * v;
        for (int32_t e = 0; e < n; e++) {
            const int32_t f = e + 1 < n ? e + 1 : 0;
            const real ex = edges[5 * f] - edges[5 * e], ey = edges[5 * f + 1] - edges[5 * e + 1],
                       dx = x - edges[5 * e], dy = y - edges[5 * e + 1];
            const real along = (dx * ex + dy * ey) / (ex * ex + ey * ey),
                       t = along < 0 ? (real)0 : (along > 1 ? (real)1 : along), px = dx - t * ex,
                       py = dy - t * ey, square = px * px + py * py;
            least = square < least ? square : least;
        }
    }
    return least;
}

/* Whether the line along the edge of the first that is nearest to the other one parts two sharp polygons, as widest_gap finds
 * it. Edges are constants of a kernel, so this takes no branch and reads no table. *more: other edges have to be looked
 * at if it does not. */
PLUGMC_FN int nearest_edge_parts(const parameters *p, const seen *o, real core, real margin,
                                 int *more)
{
    const real *edges = p->corners.values;
    real along = -PLUGMC_NO_RANGE, nx = 0, ny = 0, least = PLUGMC_NO_RANGE;
    int looked_at = 0;
    PLUGMC_UNROLL
    for (int32_t e = 0; e < p->only; e++) {
        const real here = edges[5 * e + 2] * o->x + edges[5 * e + 3] * o->y - edges[5 * e + 4];
        const int farther = here > along;
        looked_at += here - core > margin;
        along = farther ? here : along;
        nx = farther ? edges[5 * e + 2] : nx;
        ny = farther ? edges[5 * e + 3] : ny;
    }
    const real ux = nx * o->c + ny * o->s, uy = ny * o->c - nx * o->s;
    PLUGMC_UNROLL
    for (int32_t c = 0; c < p->only; c++) {
        const real out = ux * edges[5 * c] + uy * edges[5 * c + 1];
        least = out < least ? out : least;
    }
    *more |= looked_at > 1;
    return looked_at > 0 && along + least > margin;
}

/* The same answer as body_overlap, for one kind of sharp polygons; -1: not known yet. */
PLUGMC_FN int overlap_by_nearest_edges(const parameters *p, const seen *other, const seen *first,
                                       real margin)
{
    int more = 0;
    const int parted = nearest_edge_parts(p, other, p->only_core, margin, &more),
              parted_back = nearest_edge_parts(p, first, p->only_core, margin, &more);
    return parted | parted_back ? 0 : more ? -1 : 1;
}

PLUGMC_FN int body_overlap(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                           const plugmc_pose *B, plugmc_site a, plugmc_site b)
{
    const real round = radius_of(p, a) + radius_of(p, b),
               margin = (PLUGMC_SURELY - 1) * (body_reach(p, a) + body_reach(p, b));
    const seen other = seen_from(p, A, B, b, -s.x, -s.y);
#if !PLUGMC_HOST /* a processor is faster if it stops at the first edge that parts two polygons */
    if (p->only && p->only_radius == 0) {
        const seen back = seen_from(p, B, A, a, s.x, s.y);
        const int known = overlap_by_nearest_edges(p, &other, &back, margin);
        if (known >= 0) return known;
    }
#endif
    const real gap =
        widest_gap(p, a, &other, body_core(p, b) - radius_of(p, b), margin, round + margin);
    if (gap > round + margin) return 0;
    const seen first = seen_from(p, B, A, a, s.x, s.y);
    const real back = widest_gap(p, b, &first, body_core(p, a) - radius_of(p, a), margin,
                                 round + margin),
               wider = gap > back ? gap : back;
    if (back > round + margin) return 0;
    if (wider <= margin) return 1;
    const real mine = corner_distance(p, a, &other), others = corner_distance(p, b, &first),
               least = mine < others ? mine : others;
    return !(least > (round + margin) * (round + margin));
}

/* What a corner at (along, across) meets as it goes along: an edge to (along, across) `to`, both from the corner. */
PLUGMC_FN void meets_edge(real along, real across, real to_along, real to_across, real *nearest,
                          real *farthest)
{
    if ((across > 0) == (to_across > 0) || across == to_across) return;
    const real t = along + (to_along - along) * (across / (across - to_across));
    *nearest = t < *nearest ? t : *nearest;
    *farthest = t > *farthest ? t : *farthest;
}

/* A disk whose centre is at (along, across). */
PLUGMC_FN void meets_disk(real along, real across, real radius, real *nearest, real *farthest)
{
    const real square = radius * radius - across * across;
    if (!(square > 0)) return;
    const real half = plugmc_sqrt(square);
    *nearest = along - half < *nearest ? along - half : *nearest;
    *farthest = along + half > *farthest ? along + half : *farthest;
}

PLUGMC_FN real body_path(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                         const plugmc_pose *B, plugmc_site a, plugmc_site b, int32_t axis)
{
    const int32_t first = first_corner(p, a), n = number_of_corners(p, a),
                  second = first_corner(p, b), m = number_of_corners(p, b);
    const int32_t other = 1 - axis;
    const real round = radius_of(p, a) + radius_of(p, b), apart[2] = {-s.x, -s.y};
    real nearest = PLUGMC_NO_RANGE, farthest = -PLUGMC_NO_RANGE;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < m; j++) {
            const real *v = p->corners.values + 5 * (first + i),
                       *w = p->corners.values + 5 * (second + j),
                       *v1 = p->corners.values + 5 * (first + (i + 1 < n ? i + 1 : 0)),
                       *w1 = p->corners.values + 5 * (second + (j + 1 < m ? j + 1 : 0));
            real from[2], along_w[2], along_v[2], out_w[2], out_v[2];
            for (int k = 0; k < 2; k++) {
                from[k] =
                    apart[k] + w[0] * B->x[k] + w[1] * B->y[k] - v[0] * A->x[k] - v[1] * A->y[k];
                along_w[k] = (w1[0] - w[0]) * B->x[k] + (w1[1] - w[1]) * B->y[k];
                along_v[k] = (v1[0] - v[0]) * A->x[k] + (v1[1] - v[1]) * A->y[k];
                out_w[k] = round * (w[2] * B->x[k] + w[3] * B->y[k]);
                out_v[k] = round * (v[2] * A->x[k] + v[3] * A->y[k]);
            }
            /* corner i on edge j, and edge i on corner j, which as seen from edge i goes backwards */
            meets_edge(from[axis] + out_w[axis], from[other] + out_w[other],
                       from[axis] + out_w[axis] + along_w[axis],
                       from[other] + out_w[other] + along_w[other], &nearest, &farthest);
            meets_edge(from[axis] - out_v[axis], from[other] - out_v[other],
                       from[axis] - out_v[axis] - along_v[axis],
                       from[other] - out_v[other] - along_v[other], &nearest, &farthest);
            meets_disk(from[axis], from[other], round, &nearest, &farthest);
        }
    /* those that have just touched may part */
    if (!(farthest > (PLUGMC_SURELY - 1) * (body_reach(p, a) + body_reach(p, b))))
        return PLUGMC_NO_RANGE;
    return nearest > 0 ? nearest : 0;
}

#if PLUGMC_HOST
#include <plugmc/body_pairs.h>

/* The other one of two polygons, as in `seen`, in each lane. */
typedef struct lanes_seen {
    real c[PLUGMC_LANE_BLOCK], s[PLUGMC_LANE_BLOCK], x[PLUGMC_LANE_BLOCK], y[PLUGMC_LANE_BLOCK];
} lanes_seen;

/* Whether a line along one of n edges parts the two, into apart: as widest_gap does it, but all edges of all lanes are looked
 * at. n is a constant where this is inlined, so that loops over corners disappear. */
PLUGMC_FN void part_lanes(const parameters *p, const int n, real core, real margin,
                          const lanes_seen *o, int32_t apart[PLUGMC_LANE_BLOCK])
{
    const real *edges = p->corners.values;
    for (int e = 0; e < n; e++) {
        const real nx = edges[5 * e + 2], ny = edges[5 * e + 3], distance = edges[5 * e + 4];
        PLUGMC_EACH_LANE(l)
        {
            const real along = nx * o->x[l] + ny * o->y[l] - distance;
            const real ux = nx * o->c[l] + ny * o->s[l], uy = ny * o->c[l] - nx * o->s[l];
            real least = PLUGMC_NO_RANGE;
            _Pragma("GCC unroll 8") for (int c = 0; c < n; c++)
            {
                const real out = ux * edges[5 * c] + uy * edges[5 * c + 1];
                least = out < least ? out : least;
            }
            apart[l] |= (along - core > margin) & (along + least > margin);
        }
    }
}

PLUGMC_FN void overlap_of_alike(const parameters *p, const int n, const plugmc_body_lanes *of,
                                int32_t overlap[PLUGMC_LANE_BLOCK])
{
    const real margin = (PLUGMC_SURELY - 1) * (body_reach(p, of->site) + body_reach(p, of->site)),
               core = body_core(p, of->site);
    lanes_seen other, first;
    int32_t apart[PLUGMC_LANE_BLOCK] = {0};
    PLUGMC_EACH_LANE(l)
    {
        const real a = of->cosine_a[l], b = of->sine_a[l], c = of->cosine_b[l], d = of->sine_b[l],
                   x = of->x[l], y = of->y[l];
        other.c[l] = first.c[l] = a * c + b * d;
        other.s[l] = a * d - b * c;
        first.s[l] = c * b - d * a;
        other.x[l] = a * -x + b * -y;
        other.y[l] = a * -y - b * -x;
        first.x[l] = c * x + d * y;
        first.y[l] = c * y - d * x;
    }
    part_lanes(p, n, core, margin, &other, apart);
    part_lanes(p, n, core, margin, &first, apart);
    PLUGMC_EACH_LANE(l) overlap[l] = !apart[l];
}

/* Sharp polygons of few corners. */
PLUGMC_FN int body_overlap_lanes(const parameters *p, const plugmc_body_lanes *lanes,
                                 int32_t overlap[PLUGMC_LANE_BLOCK])
{
    if (p->only_radius != 0) return 0;
    switch (p->only) {
    case 3: overlap_of_alike(p, 3, lanes, overlap); break;
    case 4: overlap_of_alike(p, 4, lanes, overlap); break;
    case 5: overlap_of_alike(p, 5, lanes, overlap); break;
    case 6: overlap_of_alike(p, 6, lanes, overlap); break;
    default: return 0;
    }
    return 1;
}
#endif

#define PLUGMC_BODY (PLUGMC_BODY_OVERLAP | PLUGMC_BODY_PATH | PLUGMC_BODY_SHAPE | PLUGMC_BODY_LANES)
#include <plugmc/body.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>
#include <stdio.h>

enum { MOST_CORNERS = 64 };

/* Corners [n][2] of a species. Returns n, 0 if it has none, -1 after an error. */
static int corners_of(const parameters *p, const plugmc_host *host, const char *species,
                      double xy[2 * MOST_CORNERS + 2])
{
    const int given = plugmc_numbers_of_species(p->vertices, species, xy, 2 * MOST_CORNERS + 2);
    const int n = given ? given / 2 : (int)p->sides;
    const char *why = NULL;
    if (!n) return 0;
    if (given % 2) why = "has an odd number of coordinates: give x and y of each corner";
    if (!why && (n < 3 || n > MOST_CORNERS))
        why = "has too few or too many corners: 3 to 64 are possible";
    if (why) {
        host->fail(host->context, PLUGMC_ERROR_INPUT, "the polygon of species '%s' %s", species,
                   why);
        return -1;
    }
    const double around = (double)p->edge / (2 * sin(M_PI / n));
    for (int k = 0; k < n && !given; k++) {
        xy[2 * k] = around * cos(M_PI * (2 * k + 1) / n);
        xy[2 * k + 1] = around * sin(M_PI * (2 * k + 1) / n);
    }
    return n;
}

/* Sets the corners [n][5] and the shape [5] of a polygon. */
static int make_polygon(const plugmc_host *host, const char *species, int n, const double *xy,
                        double radius, real *corners, real *shape)
{
    double reach = 0, core = INFINITY, area = 0, around = 0;
    for (int k = 0; k < n; k++) {
        const double *a = &xy[2 * k], *b = &xy[2 * ((k + 1) % n)], *c = &xy[2 * ((k + 2) % n)];
        const double ex = b[0] - a[0], ey = b[1] - a[1], fx = c[0] - b[0], fy = c[1] - b[1],
                     length = hypot(ex, ey), distance = (a[0] * ey - a[1] * ex) / length,
                     turn = (ex * fy - ey * fx) / (length * hypot(fx, fy));
        if (!(turn > 1e-6))
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "the polygon of species '%s' is not convex at corner %d (%g, %g), or its "
                "corners do not run counter-clockwise, or three lie on a line",
                species, (k + 1) % n + 1, b[0], b[1]);
        if (!(distance > 0))
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "the polygon of species '%s' does not contain the origin, about which it turns",
                species);
        const double row[5] = {a[0], a[1], ey / length, -ex / length, distance};
        for (int d = 0; d < 5; d++) corners[5 * k + d] = (real)row[d];
        reach = fmax(reach, hypot(a[0], a[1]));
        core = fmin(core, distance);
        area += 0.5 * (a[0] * b[1] - a[1] * b[0]) + radius * length;
        around += atan2(ex * fy - ey * fx, ex * fx + ey * fy);
    }
    if (around > 2 * M_PI + 1e-6)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the polygon of species '%s' goes around more than once", species);
    shape[2] = (real)((reach + radius) * (1 + 1e-7));
    shape[3] = (real)((core + radius) * (1 - 1e-6));
    shape[4] = (real)(area + M_PI * radius * radius);
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t species = host->system->species_count;
    double xy[2 * MOST_CORNERS + 2];
    int total = 0;
    if (host->system->box.dimension != 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "polygons are two-dimensional: set [box] dimension = 2");
    int code = plugmc_check_species_list(host, "radius", &p->radius, PLUGMC_PER_SPECIES);
    if (!code) code = plugmc_check_names_of_species(host, p->vertices);
    real *corners =
        host->allocate(host->context, sizeof *corners * 5 * MOST_CORNERS * (size_t)species);
    real *shapes = host->allocate(host->context, sizeof *shapes * 5 * (size_t)species);
    real *radii = host->allocate(host->context, sizeof *radii * (size_t)species);
    if (!code && (!corners || !shapes || !radii)) code = PLUGMC_ERROR_MEMORY;
    for (int32_t s = 0; s < species && !code; s++) {
        const char *name = plugmc_species_at(host->system, s)->name;
        const int n = corners_of(p, host, name, xy);
        if (n < 0) return PLUGMC_ERROR_INPUT;
        radii[s] = (real)plugmc_species_value(&p->radius, species, s);
        shapes[5 * s] = (real)total;
        shapes[5 * s + 1] = (real)n;
        if (n)
            code = make_polygon(host, name, n, xy, (double)radii[s], corners + 5 * total,
                                shapes + 5 * s);
        total += n;
    }
    if (!code && !total)
        code = host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "no species has a polygon: give `sides`, or the corners of a species under its name");
    p->corners = (plugmc_list){corners, 5 * total};
    p->shapes = (plugmc_list){shapes, 5 * species};
    p->radii = (plugmc_list){radii, species};
    if (species == 1 && !code) {
        p->only = total;
        p->only_reach = shapes[2];
        p->only_core = shapes[3];
        p->only_radius = radii[0];
    }
    return code;
}

static int body_shape(const void *instance, const plugmc_particle *a, char *json, size_t size)
{
    const parameters *p = instance;
    const plugmc_site site = plugmc_site_of_body(a);
    const int32_t first = first_corner(p, site), n = number_of_corners(p, site);
    size_t length = 0;
    for (int32_t k = -1; k <= n; k++) { /* what is before the corners, each, what is behind them */
        char *to = length < size ? json + length : NULL;
        const size_t room = to ? size - length : 0;
        const real *corner = p->corners.values + 5 * (first + (k < 0 || k == n ? 0 : k));
        const int more =
            k < 0   ? snprintf(to, room,
                               "{\"type\": \"Polygon\", \"rounding_radius\": %.9g, \"vertices\": [",
                               (double)p->radii.values[a->species])
            : k < n ? snprintf(to, room, "%s[%.9g, %.9g]", k ? ", " : "", (double)corner[0],
                               (double)corner[1])
                    : snprintf(to, room, "]}");
        length += (size_t)more;
    }
    return (int)length;
}

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(
        parameters, sides, "0", 0, MOST_CORNERS, "",
        "sides of the regular polygons of all species without corners of their own; 0: these have none"),
    PLUGMC_REAL_KEY(parameters, edge, "1", 1e-6, 1e6, "length", "length of their edges"),
    PLUGMC_LIST_KEY(
        parameters, radius, 0, "0", 0, 1e6, "length",
        "radius of the disk that rounds the polygon: one for all species, or one per species"),
    PLUGMC_LIST_DERIVED(parameters, radii, "radius of each species"),
    PLUGMC_LIST_DERIVED(parameters, corners, "corners and edges of all polygons"),
    PLUGMC_LIST_DERIVED(parameters, shapes, "corners and size of each polygon"),
    PLUGMC_INTEGER_DERIVED(parameters, only, "corners of the only species; 0: there are several"),
    PLUGMC_REAL_DERIVED(parameters, only_reach, "its reach"),
    PLUGMC_REAL_DERIVED(parameters, only_core, "radius of a disk inside of it"),
    PLUGMC_REAL_DERIVED(parameters, only_radius, "radius of the disk that rounds it"),
    PLUGMC_NUMBERS_KEY(
        parameters, vertices, -1e6, 1e6,
        "NAME is a species: x and y of the corners of its polygon, counter-clockwise"),
};

PLUGMC_PLUGIN(.name = "hard_polygon", .summary = "hard convex polygons, also rounded ones",
              .reference =
                  "Anderson, Antonaglia, Millan, Engel, Glotzer, Phys. Rev. X 7, 021001 (2017)",
              PLUGMC_KEYS(parameters, table), PLUGMC_BODIES_ALONE, .configure = configure);
#endif
