/* hard_polyhedron: hard convex polyhedra, also rounded, one for each species.
 *
 * In three dimensions. A species whose name is a key has the vertices that follow it, around the origin, which lies inside
 * and is the point about which the polyhedron turns. Other species have the regular polyhedron `shape`. With a `radius`
 * the body is what a sphere covers whose centre is anywhere in the polyhedron.
 *
 * Two polyhedra are apart if there is an empty slab along a face of one, or along an edge of each (S. Gottschalk, M. C. Lin,
 * D. Manocha, SIGGRAPH 96, 171 (1996)). Most pairs are decided before by the method of G. Snethen, Game Programming Gems 7
 * (2008), which looks at few slabs. Rounded ones may also meet where an edge or a vertex of one is closest to a vertex of
 * the other.
 */
#include <plugmc/potential.h>

typedef struct parameters {
    int32_t shape;
    real edge;
    plugmc_list radius; /* as given */
    const char *vertices;
    plugmc_list points; /* [points][3]: vertices, normals and directions of all polyhedra */
    plugmc_list ends;   /* [edges][2]: vertices of the edges of all polyhedra */
    /* [species][12]: of vertices, normals of faces, directions of edges, edges: the first one and how many; radius, reach,
     * core, volume. Normals and directions that differ only in sign are there once. */
    plugmc_list shapes;
} parameters;

enum { VERTEX, NORMAL = 2, DIRECTION = 4, EDGE = 6, ROUND = 8, REACH, CORE, VOLUME, COLUMNS };

PLUGMC_FN real of_shape(const parameters *p, plugmc_site a, int what)
{
    return p->shapes.values[COLUMNS * a.species + what];
}

PLUGMC_FN real body_reach(const parameters *p, plugmc_site a) { return of_shape(p, a, REACH); }
PLUGMC_FN real body_core(const parameters *p, plugmc_site a) { return of_shape(p, a, CORE); }
PLUGMC_FN real body_volume(const parameters *p, plugmc_site a) { return of_shape(p, a, VOLUME); }

PLUGMC_FN real dot_product(const real *u, const real *v)
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

/* Points of one kind of a polyhedron. */
typedef struct points {
    const real *at; /* [n][3] */
    int32_t n;
} points;

PLUGMC_FN points points_of(const parameters *p, plugmc_site a, int kind)
{
    points out = {p->points.values + 3 * (int32_t)of_shape(p, a, kind),
                  (int32_t)of_shape(p, a, kind + 1)};
    return out;
}

/* Two polyhedra as the first one sees them: the axes of the second and the way to it in the frame of the first. */
typedef struct two_bodies {
    points mine, others;
    plugmc_pose pose;
    real way[3];
    real inside; /* sum of the radii of spheres inside of the two */
} two_bodies;

PLUGMC_FN void to_frame(const plugmc_pose *P, const real *v, real *out)
{
    out[0] = dot_product(v, P->x);
    out[1] = dot_product(v, P->y);
    out[2] = dot_product(v, P->z);
}

PLUGMC_FN void from_frame(const plugmc_pose *P, const real *v, real *out)
{
    for (int d = 0; d < 3; d++) out[d] = v[0] * P->x[d] + v[1] * P->y[d] + v[2] * P->z[d];
}

/* Width of the slab with the normal n, a unit vector, between the two; the vertices that bound it. */
PLUGMC_FN real slab(const two_bodies *t, const real *n, int32_t *mine, int32_t *others)
{
    real m[3], most = -PLUGMC_NO_RANGE, least = PLUGMC_NO_RANGE;
    to_frame(&t->pose, n, m);
    for (int32_t k = 0; k < t->mine.n; k++) {
        const real height = dot_product(n, t->mine.at + 3 * k);
        if (height > most) most = height, *mine = k;
    }
    for (int32_t k = 0; k < t->others.n; k++) {
        const real height = dot_product(m, t->others.at + 3 * k);
        if (height < least) least = height, *others = k;
    }
    return dot_product(n, t->way) + least - most;
}

/* The slab along v, which has any length, becomes the widest one if it is. Vertices are not looked at where the spheres inside of
 * the two leave no room for it. */
PLUGMC_FN void look_along(const two_bodies *t, const real *v, real *widest, real *axis)
{
    const real length = plugmc_sqrt(dot_product(v, v)), over = 1 / length;
    int32_t mine, others;
    if (!(length > 0)) return;
    const real ahead = dot_product(v, t->way), sign = ahead < 0 ? -over : over;
    if (sign * ahead - t->inside <= *widest) return;
    const real n[3] = {sign * v[0], sign * v[1], sign * v[2]}, width = slab(t, n, &mine, &others);
    if (!(width > *widest)) return;
    *widest = width;
    for (int d = 0; d < 3; d++) axis[d] = n[d];
}

PLUGMC_FN void cross_product(const real *u, const real *v, real *out)
{
    out[0] = u[1] * v[2] - u[2] * v[1];
    out[1] = u[2] * v[0] - u[0] * v[2];
    out[2] = u[0] * v[1] - u[1] * v[0];
}

/* The normal of a triangle. */
PLUGMC_FN void normal_of(const real *u, const real *v, const real *w, real *out)
{
    real a[3], b[3];
    for (int d = 0; d < 3; d++) a[d] = v[d] - u[d], b[d] = w[d] - u[d];
    cross_product(a, b, out);
}

PLUGMC_FN void set_point(real *out, const real *v)
{
    for (int d = 0; d < 3; d++) out[d] = v[d];
}

/* The difference of a point of the second and one of the first that is farthest along v. Returns the width of the slab
 * whose normal n is against v. */
PLUGMC_FN real farthest_along(const two_bodies *t, const real *v, real *n, real *difference)
{
    const real length = plugmc_sqrt(dot_product(v, v));
    int32_t i = 0, j = 0;
    for (int d = 0; d < 3; d++) n[d] = length > 0 ? -v[d] / length : (real)(d == 0);
    const real width = slab(t, n, &i, &j);
    from_frame(&t->pose, t->others.at + 3 * j, difference);
    for (int d = 0; d < 3; d++) difference[d] += t->way[d] - t->mine.at[3 * i + d];
    return width;
}

/* Snethen's way to an answer that is often soon found. The differences of all points of the two are a convex body, which
 * contains the origin if they overlap. A ray from the difference of the centres to the origin leaves it through triangles of
 * such differences, farther and farther out. Returns 1 if the origin is inside of one by more than `margin`, -1 if the
 * slab with normal n is wider than `enough`, 0 if neither is found. */
PLUGMC_FN int look_quickly(const two_bodies *t, real enough, real margin, real *width, real *n)
{
    const real *centre = t->way;
    real u[3] = {0, 0, 0}, v[3] = {0, 0, 0}, w[3] = {0, 0, 0};
    real next[3], side[3], out[3] = {-centre[0], -centre[1], -centre[2]};
    int corners = 0; /* of the triangle; 3: the ray passes through it */
    for (int step = 0; step < 18; step++) {
        *width = farthest_along(t, out, n, next);
        if (*width > enough) return -1;
        if (corners == 0) {
            set_point(u, next);
            cross_product(u, centre, out);
            corners = 1;
            continue;
        }
        if (corners < 3) {
            cross_product(u, next, side);
            const int past_v = corners == 1 || dot_product(side, centre) < 0;
            cross_product(next, v, side);
            const int past_u = !past_v && dot_product(side, centre) < 0;
            set_point(past_v ? v : (past_u ? u : w), next);
            normal_of(centre, u, v, out);
            if (corners == 1 && dot_product(out, centre) > 0) {
                set_point(v, u), set_point(u, next);
                for (int d = 0; d < 3; d++) out[d] = -out[d];
            }
            corners = past_v || past_u ? 2 : 3;
            if (corners == 2) continue;
        } else {
            const real nearer[3] = {next[0] - w[0], next[1] - w[1], next[2] - w[2]};
            if (-dot_product(nearer, n) < margin) break; /* the triangle lies on a face */
            cross_product(next, centre, side);
            if (dot_product(u, side) > 0)
                set_point(dot_product(v, side) > 0 ? u : w, next);
            else
                set_point(dot_product(w, side) > 0 ? v : u, next);
        }
        normal_of(u, v, w, out);
        const real length = plugmc_sqrt(dot_product(out, out));
        if (dot_product(out, u) > 4 * margin * length && length > 0) return 1;
    }
    return 0;
}

/* The widest slab along a face or two edges, or one that is wider than `enough`. */
PLUGMC_FN real look_along_faces(const parameters *p, const two_bodies *t, plugmc_site a,
                                plugmc_site b, real enough, real *axis)
{
    const points faces = points_of(p, a, NORMAL), others = points_of(p, b, NORMAL),
                 edges = points_of(p, a, DIRECTION), others_edges = points_of(p, b, DIRECTION);
    const int32_t all_faces = faces.n + others.n, all = all_faces + edges.n * others_edges.n;
    real widest = -PLUGMC_NO_RANGE;
    for (int32_t k = 0; k < all && !(widest > enough); k++) {
        const int32_t i = k < all_faces ? 0 : (k - all_faces) / others_edges.n,
                      j = k - all_faces - i * others_edges.n;
        real v[3], cross[3];
        from_frame(&t->pose,
                   k < faces.n
                       ? others.at
                       : (k < all_faces ? others.at + 3 * (k - faces.n) : others_edges.at + 3 * j),
                   v);
        if (k < faces.n) set_point(v, faces.at + 3 * k);
        if (k >= all_faces) {
            const real *u = edges.at + 3 * i;
            cross_product(u, v, cross);
            /* rounding turns that of nearly parallel edges, which are long, towards them */
            const real along = dot_product(cross, u);
            for (int d = 0; d < 3; d++) v[d] = cross[d] - along * u[d];
        }
        look_along(t, v, &widest, axis);
    }
    return widest;
}

/* The way from the edge from u to v to the point at w, if it is shorter than the shortest one. */
PLUGMC_FN void from_edge(const real *u, const real *v, const real *w, real sign, real *shortest,
                         real *way)
{
    real e[3], r[3], t = 0;
    for (int d = 0; d < 3; d++) e[d] = v[d] - u[d], r[d] = w[d] - u[d];
    const real square = dot_product(e, e);
    /* the second time mends rounding errors, which are those of the distance from the vertex u */
    for (int twice = 0; twice < 2; twice++) {
        const real along = dot_product(r, e) / square, end = t + along,
                   step = end < 0 ? -t : (end > 1 ? 1 - t : along);
        for (int d = 0; d < 3; d++) r[d] -= step * e[d];
        t += step;
    }
    /* where a vertex is as close by rounding, it is the edge to which the way is perpendicular */
    const real distance = dot_product(r, r) * (t > 0 && t < 1 ? (real)1 : PLUGMC_SURELY);
    if (!(distance < *shortest)) return;
    *shortest = distance;
    for (int d = 0; d < 3; d++) way[d] = sign * r[d];
}

/* The shortest way from the first polyhedron to the second one between a vertex of one and an edge of the other. */
PLUGMC_FN void from_vertex_to_edge(const parameters *p, const two_bodies *t, plugmc_site a,
                                   plugmc_site b, real *way)
{
    const real *ends = p->ends.values + 2 * (int32_t)of_shape(p, a, EDGE),
               *others = p->ends.values + 2 * (int32_t)of_shape(p, b, EDGE);
    real shortest = PLUGMC_NO_RANGE, u[3], v[3];
    for (int32_t k = 0; k < t->others.n; k++) {
        from_frame(&t->pose, t->others.at + 3 * k, u);
        for (int d = 0; d < 3; d++) u[d] += t->way[d];
        for (int32_t e = 0; e < (int32_t)of_shape(p, a, EDGE + 1); e++)
            from_edge(t->mine.at + 3 * (int32_t)ends[2 * e],
                      t->mine.at + 3 * (int32_t)ends[2 * e + 1], u, 1, &shortest, way);
    }
    for (int32_t e = 0; e < (int32_t)of_shape(p, b, EDGE + 1); e++) {
        from_frame(&t->pose, t->others.at + 3 * (int32_t)others[2 * e], u);
        from_frame(&t->pose, t->others.at + 3 * (int32_t)others[2 * e + 1], v);
        for (int d = 0; d < 3; d++) u[d] += t->way[d], v[d] += t->way[d];
        for (int32_t k = 0; k < t->mine.n; k++)
            from_edge(u, v, t->mine.at + 3 * k, -1, &shortest, way);
    }
}

PLUGMC_FN real body_gap(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                        const plugmc_pose *B, plugmc_site a, plugmc_site b, real enough,
                        real axis[3])
{
    const real round = of_shape(p, a, ROUND) + of_shape(p, b, ROUND), way[3] = {-s.x, -s.y, -s.z};
    two_bodies t = {points_of(p, a, VERTEX),
                    points_of(p, b, VERTEX),
                    {{0}, {0}, {0}},
                    {0},
                    body_core(p, a) + body_core(p, b) - round};
    const real margin = (PLUGMC_SURELY - 1) * (body_reach(p, a) + body_reach(p, b));
    real found[3] = {0, 0, 0}, v[3] = {0, 0, 0};
    to_frame(A, B->x, t.pose.x);
    to_frame(A, B->y, t.pose.y);
    to_frame(A, B->z, t.pose.z);
    to_frame(A, way, t.way);
    enough += round;
    real width = 0;
    axis[0] = axis[1] = axis[2] = 0;
    if (enough < PLUGMC_NO_RANGE) {
        const int answer = look_quickly(&t, enough, margin, &width, found);
        if (answer > 0) return -body_core(p, a);
    }
    if (!(width > enough)) width = look_along_faces(p, &t, a, b, enough, found);
    if (round > 0 && width > 0 && !(width > enough)) {
        from_vertex_to_edge(p, &t, a, b, v);
        look_along(&t, v, &width, found);
    }
    from_frame(A, found, axis);
    return width - round;
}

#define PLUGMC_BODY (PLUGMC_BODY_GAP | PLUGMC_BODY_SHAPE)
#include <plugmc/body.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>
#include <stdio.h>

enum { MOST_VERTICES = 64, MOST_FACES = 2 * MOST_VERTICES, MOST_EDGES = 3 * MOST_VERTICES };
#define FLAT 1e-6 /* times the radius: vertices that are so close to a plane lie on it */

/* A polyhedron while it is made. */
typedef struct hull {
    const char *species;
    int vertices, faces, edges;
    double radius, reach; /* of the sphere that rounds it; of the sphere around it */
    double at[MOST_VERTICES][3], normal[MOST_FACES][3], height[MOST_FACES];
    int end[MOST_EDGES][2], face[MOST_EDGES][2];
} hull;

static double dot(const double *u, const double *v)
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

static double cross(const double *u, const double *v, double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
    return sqrt(dot(out, out));
}

static int fault(const plugmc_host *host, const hull *h, const char *what)
{
    return host->fail(host->context, PLUGMC_ERROR_INPUT, "the polyhedron of species '%s' %s",
                      h->species, what);
}

/* The regular polyhedra: triples of coordinates, all signs and cyclic permutations of them, and the length of edges. */
static void make_regular(hull *h, int shape, double edge)
{
    const double golden = (1 + sqrt(5)) / 2;
    const struct {
        double at[2][3], edge;
        int only_even; /* of the minus signs */
    } of[] = {{{{1, 1, 1}}, sqrt(8), 1},
              {{{1, 1, 1}}, 2, 0},
              {{{1, 0, 0}}, sqrt(2), 0},
              {{{1, 1, 1}, {0, 1 / golden, golden}}, 2 / golden, 0},
              {{{0, 1, golden}}, 2, 0}};
    h->vertices = 0;
    for (int which = 0; which < 48; which++) {
        const double *x = of[shape].at[which / 24];
        const int turned = which / 8 % 3, minus = which % 8;
        double v[3];
        int known =
            !(dot(x, x) > 0) || (of[shape].only_even && (minus ^ minus >> 1 ^ minus >> 2) & 1);
        for (int d = 0; d < 3; d++)
            v[d] = x[(d + turned) % 3] * (minus >> d & 1 ? -1 : 1) * edge / of[shape].edge;
        for (int k = 0; k < h->vertices && !known; k++)
            known = v[0] == h->at[k][0] && v[1] == h->at[k][1] && v[2] == h->at[k][2];
        if (known) continue;
        for (int d = 0; d < 3; d++) h->at[h->vertices][d] = v[d];
        h->vertices++;
    }
}

/* The vertices of a species; none if it has no polyhedron. */
static int find_vertices(const parameters *p, const plugmc_host *host, hull *h)
{
    double xyz[3 * MOST_VERTICES + 1];
    const int given =
        plugmc_numbers_of_species(p->vertices, h->species, xyz, 3 * MOST_VERTICES + 1);
    h->vertices = given / 3;
    if (given > 3 * MOST_VERTICES) return fault(host, h, "has more than 64 vertices");
    if (given % 3)
        return fault(host, h,
                     "has coordinates that are no multiple of three: give x, y and z of "
                     "each vertex");
    if (given && given < 12) return fault(host, h, "has fewer than 4 vertices");
    for (int k = 0; k < given; k++) h->at[k / 3][k % 3] = xyz[k];
    if (!given && p->shape) make_regular(h, p->shape - 1, (double)p->edge);
    return PLUGMC_OK;
}

/* The faces: planes through three vertices with all others on one side. */
static int find_faces(const plugmc_host *host, hull *h)
{
    for (int i = 0; i < h->vertices; i++)
        for (int j = i + 1; j < h->vertices; j++)
            for (int k = j + 1; k < h->vertices; k++) {
                double u[3], v[3], n[3], most = -INFINITY, least = INFINITY;
                for (int d = 0; d < 3; d++)
                    u[d] = h->at[j][d] - h->at[i][d], v[d] = h->at[k][d] - h->at[i][d];
                const double size = cross(u, v, n);
                if (!(size > FLAT * h->reach * h->reach)) continue;
                for (int d = 0; d < 3; d++) n[d] /= size;
                const double height = dot(n, h->at[i]);
                for (int l = 0; l < h->vertices; l++) {
                    most = fmax(most, dot(n, h->at[l]) - height);
                    least = fmin(least, dot(n, h->at[l]) - height);
                }
                const double flat = FLAT * h->reach, sign = most < flat ? 1 : -1;
                int known = most > flat && least < -flat;
                if (most < flat && least > -flat) return fault(host, h, "lies in a plane");
                for (int f = 0; f < h->faces && !known; f++)
                    known = sign * dot(n, h->normal[f]) > 1 - 1e-8;
                if (known) continue;
                if (h->faces == MOST_FACES) return fault(host, h, "has too many faces");
                if (!(sign * height > FLAT * h->reach))
                    return fault(host, h, "does not contain the origin, about which it turns");
                for (int d = 0; d < 3; d++) h->normal[h->faces][d] = sign * n[d];
                h->height[h->faces++] = sign * height;
            }
    return PLUGMC_OK;
}

static int on_face(const hull *h, int vertex, int face)
{
    return h->height[face] - dot(h->normal[face], h->at[vertex]) < FLAT * h->reach;
}

/* The edges: two vertices on two faces. */
static int find_edges(const plugmc_host *host, hull *h)
{
    for (int i = 0; i < h->vertices; i++) {
        int faces = 0;
        for (int f = 0; f < h->faces; f++) faces += on_face(h, i, f);
        if (faces < 3)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the polyhedron of species '%s' has no corner at vertex %d (%g, %g, "
                              "%g), which is inside of the others' hull, on a face or on an edge",
                              h->species, i + 1, h->at[i][0], h->at[i][1], h->at[i][2]);
        for (int j = i + 1; j < h->vertices; j++) {
            int common[2], n = 0;
            for (int f = 0; f < h->faces && n < 2; f++)
                if (on_face(h, i, f) && on_face(h, j, f)) common[n++] = f;
            if (n < 2) continue;
            if (h->edges == MOST_EDGES) return fault(host, h, "has vertices too close together");
            h->end[h->edges][0] = i, h->end[h->edges][1] = j;
            h->face[h->edges][0] = common[0], h->face[h->edges++][1] = common[1];
        }
    }
    if (h->vertices - h->edges + h->faces != 2)
        return fault(host, h, "has vertices or faces too close together");
    return PLUGMC_OK;
}

/* Volume, by J. Steiner's formula of what a sphere covers; its mean curvature needs the angles between faces. */
static double volume_of(const hull *h)
{
    double volume = 0, surface = 0, curvature = 0;
    for (int f = 0; f < h->faces; f++) {
        double middle[3] = {0}, area = 0, n = 0;
        for (int i = 0; i < h->vertices; i++) {
            if (!on_face(h, i, f)) continue;
            for (int d = 0; d < 3; d++) middle[d] += h->at[i][d];
            n++;
        }
        for (int e = 0; e < h->edges; e++) {
            double u[3], v[3], w[3];
            if (h->face[e][0] != f && h->face[e][1] != f) continue;
            for (int d = 0; d < 3; d++) {
                u[d] = h->at[h->end[e][0]][d] - middle[d] / n;
                v[d] = h->at[h->end[e][1]][d] - middle[d] / n;
            }
            area += cross(u, v, w) / 2;
        }
        surface += area;
        volume += area * h->height[f] / 3;
    }
    for (int e = 0; e < h->edges; e++) {
        const double *u = h->normal[h->face[e][0]], *v = h->normal[h->face[e][1]];
        double w[3], edge[3];
        for (int d = 0; d < 3; d++) edge[d] = h->at[h->end[e][1]][d] - h->at[h->end[e][0]][d];
        curvature += sqrt(dot(edge, edge)) * atan2(cross(u, v, w), dot(u, v)) / 2;
    }
    const double r = h->radius;
    return volume + surface * r + curvature * r * r + 4 * M_PI / 3 * r * r * r;
}

/* Adds a vector to those from `first` on, unless it, or its negative, is there. Returns how many there are. */
static int add_axis(real *points, int first, int n, const double *v)
{
    const double length = sqrt(dot(v, v));
    for (int k = first; k < n; k++) {
        const double one[3] = {(double)points[3 * k], (double)points[3 * k + 1],
                               (double)points[3 * k + 2]};
        double w[3];
        if (cross(one, v, w) < 1e-5 * length) return n;
    }
    for (int d = 0; d < 3; d++) points[3 * n + d] = (real)(v[d] / length);
    return n + 1;
}

/* The tables of one polyhedron, appended to those of the species before. */
static void put_polyhedron(const hull *h, real *points, int *n, real *ends, int *edges,
                           real shape[COLUMNS])
{
    double core = INFINITY;
    shape[VERTEX] = (real)*n, shape[VERTEX + 1] = (real)h->vertices;
    for (int k = 0; k < h->vertices; k++, ++*n)
        for (int d = 0; d < 3; d++) points[3 * *n + d] = (real)h->at[k][d];
    const int normals = *n;
    for (int f = 0; f < h->faces; f++) {
        *n = add_axis(points, normals, *n, h->normal[f]);
        core = fmin(core, h->height[f]);
    }
    const int directions = *n;
    for (int e = 0; e < h->edges; e++) {
        double v[3];
        for (int d = 0; d < 3; d++) v[d] = h->at[h->end[e][1]][d] - h->at[h->end[e][0]][d];
        *n = add_axis(points, directions, *n, v);
        for (int k = 0; k < 2; k++) ends[2 * (*edges + e) + k] = (real)h->end[e][k];
    }
    shape[NORMAL] = (real)normals, shape[NORMAL + 1] = (real)(directions - normals);
    shape[DIRECTION] = (real)directions, shape[DIRECTION + 1] = (real)(*n - directions);
    shape[EDGE] = (real)*edges, shape[EDGE + 1] = (real)h->edges;
    shape[ROUND] = (real)h->radius;
    shape[REACH] = (real)((h->reach + h->radius) * (1 + 1e-7));
    shape[CORE] = (real)((core + h->radius) * (1 - 3 * FLAT));
    shape[VOLUME] = (real)volume_of(h);
    *edges += h->edges;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t species = host->system->species_count;
    const size_t most = (MOST_VERTICES + MOST_FACES + MOST_EDGES) * (size_t)species;
    int n = 0, edges = 0, code;
    if (host->system->box.dimension != 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "polyhedra are three-dimensional: set [box] dimension = 3");
    code = plugmc_check_species_list(host, "radius", &p->radius, PLUGMC_PER_SPECIES);
    if (!code) code = plugmc_check_names_of_species(host, p->vertices);
    real *points = host->allocate(host->context, sizeof *points * 3 * most),
         *ends = host->allocate(host->context, sizeof *ends * 2 * MOST_EDGES * (size_t)species),
         *shapes = host->allocate(host->context, sizeof *shapes * COLUMNS * (size_t)species);
    if (!code && (!points || !ends || !shapes)) code = PLUGMC_ERROR_MEMORY;
    for (int32_t s = 0; s < species && !code; s++) {
        hull h = {.species = plugmc_species_at(host->system, s)->name,
                  .radius = plugmc_species_value(&p->radius, species, s)};
        for (int k = 0; k < COLUMNS; k++) shapes[COLUMNS * s + k] = 0;
        code = find_vertices(p, host, &h);
        for (int k = 0; k < h.vertices && !code; k++)
            h.reach = fmax(h.reach, sqrt(dot(h.at[k], h.at[k])));
        if (code || !h.vertices) continue;
        code = find_faces(host, &h);
        if (!code) code = find_edges(host, &h);
        if (!code) put_polyhedron(&h, points, &n, ends, &edges, shapes + COLUMNS * s);
    }
    if (!code && !n)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no species has a polyhedron: give `shape`, or the vertices of a "
                          "species under its name");
    p->points = (plugmc_list){points, 3 * n};
    p->ends = (plugmc_list){ends, 2 * edges};
    p->shapes = (plugmc_list){shapes, COLUMNS * species};
    return code;
}

static int body_shape(const void *instance, const plugmc_particle *a, char *json, size_t size)
{
    const parameters *p = instance;
    const plugmc_site site = plugmc_site_of_body(a);
    const points corners = points_of(p, site, VERTEX);
    size_t length = (size_t)snprintf(
        json, size, "{\"type\": \"ConvexPolyhedron\", \"rounding_radius\": %.9g, \"vertices\": [",
        (double)of_shape(p, site, ROUND));
    for (int32_t k = 0; k < corners.n; k++) {
        const real *v = corners.at + 3 * k;
        const size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room ? json + length : NULL, room, "[%.9g, %.9g, %.9g]%s",
                                   (double)v[0], (double)v[1], (double)v[2],
                                   k + 1 < corners.n ? ", " : "]}");
    }
    return (int)length;
}

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(parameters, shape, "none",
                      "none|tetrahedron|cube|octahedron|dodecahedron|icosahedron",
                      "the regular polyhedron of all species without vertices of their own"),
    PLUGMC_REAL_KEY(parameters, edge, "1", 1e-6, 1e6, "length", "length of its edges"),
    PLUGMC_LIST_KEY(parameters, radius, 0, "0", 0, 1e6, "length",
                    "radius of the sphere that rounds the polyhedron: one for all species, or "
                    "one per species"),
    PLUGMC_LIST_DERIVED(parameters, points, "vertices, normals and edges of all polyhedra"),
    PLUGMC_LIST_DERIVED(parameters, ends, "vertices at the ends of their edges"),
    PLUGMC_LIST_DERIVED(parameters, shapes, "size of each polyhedron"),
    PLUGMC_NUMBERS_KEY(parameters, vertices, -1e6, 1e6,
                       "NAME is a species: x, y and z of the vertices of its polyhedron"),
};

PLUGMC_PLUGIN(.name = "hard_polyhedron", .summary = "hard convex polyhedra, also rounded ones",
              .reference = "Gottschalk, Lin, Manocha, SIGGRAPH 96, 171 (1996)",
              PLUGMC_KEYS(parameters, table), PLUGMC_BODIES_ALONE, .configure = configure);
#endif
