/* union_of_polyhedra: hard bodies made of convex polyhedra, or in two dimensions of convex polygons; they need not be convex.
 *
 * A species whose name is a key has the parts that follow it: of each the number of its vertices, and their coordinates, in
 * the axes of the body, which turns about the origin. Corners of polygons run counter-clockwise. Parts may touch each other,
 * and not overlap. Two bodies overlap if a part of one overlaps with a part of the other.
 *
 * Two parts are apart if there is an empty slab along a face of one, or along an edge of each (S. Gottschalk, M. C. Lin,
 * D. Manocha, SIGGRAPH 96, 171 (1996)). While a body slides along an axis it does not turn, so each of these directions is a
 * pair of bounds on how far it may have gone for two parts to overlap; they do between the largest lower and the smallest
 * upper bound. A body goes as far as the pair of parts lets it that comes first.
 */
#include <plugmc/potential.h>

typedef struct parameters {
    const char *lines;
    plugmc_list points; /* [points][3]: vertices, normals and directions of edges of all parts */
    plugmc_list
        parts; /* [parts][10]: of vertices, normals, directions the first one and how many; a sphere around it */
    plugmc_list shapes; /* [species][5]: first part, parts, reach, core, volume */
} parameters;

enum { VERTEX = 0, NORMAL = 2, DIRECTION = 4, CENTRE = 6, RADIUS = 9, COLUMNS };

PLUGMC_FN real of_shape(const parameters *p, plugmc_site a, int what)
{
    return p->shapes.values[5 * a.species + what];
}

PLUGMC_FN real body_reach(const parameters *p, plugmc_site a) { return of_shape(p, a, 2); }
PLUGMC_FN real body_core(const parameters *p, plugmc_site a) { return of_shape(p, a, 3); }
PLUGMC_FN real body_volume(const parameters *p, plugmc_site a) { return of_shape(p, a, 4); }

PLUGMC_FN real dot_product(const real *u, const real *v)
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

PLUGMC_FN void from_frame(const plugmc_pose *P, const real *v, real *out)
{
    for (int d = 0; d < 3; d++) out[d] = v[0] * P->x[d] + v[1] * P->y[d] + v[2] * P->z[d];
}

PLUGMC_FN void to_frame(const plugmc_pose *P, const real *v, real *out)
{
    out[0] = dot_product(v, P->x);
    out[1] = dot_product(v, P->y);
    out[2] = dot_product(v, P->z);
}

/* A part of each of two bodies, in the frame of the first one. */
typedef struct two_parts {
    const real *points, *mine, *others; /* rows of `parts` */
    plugmc_pose pose;                   /* of the second body */
    real way[3];                        /* to its centre */
} two_parts;

PLUGMC_FN int32_t number_of(const real *part, int kind) { return (int32_t)part[kind + 1]; }

PLUGMC_FN const real *point_of(const two_parts *t, const real *part, int kind, int32_t k)
{
    return t->points + 3 * ((int32_t)part[kind] + k);
}

/* Direction k of those in which two parts can be parted, of any length; returns 0 behind the last. */
PLUGMC_FN int direction(const two_parts *t, int32_t k, real *out)
{
    const int32_t faces = number_of(t->mine, NORMAL), all = faces + number_of(t->others, NORMAL),
                  edges = number_of(t->mine, DIRECTION), others = number_of(t->others, DIRECTION);
    if (k >= all + edges * others) return 0;
    if (k < faces) {
        for (int d = 0; d < 3; d++) out[d] = point_of(t, t->mine, NORMAL, k)[d];
    } else if (k < all) {
        from_frame(&t->pose, point_of(t, t->others, NORMAL, k - faces), out);
    } else {
        const real *u = point_of(t, t->mine, DIRECTION, (k - all) / others);
        real v[3];
        from_frame(&t->pose, point_of(t, t->others, DIRECTION, (k - all) % others), v);
        for (int d = 0; d < 3; d++) {
            const int l = d == 2 ? 0 : d + 1, m = d == 0 ? 2 : d - 1;
            out[d] = u[l] * v[m] - u[m] * v[l];
        }
    }
    return 1;
}

/* Where the second part begins along the unit vector n, less where the first one ends, and the other way round. */
PLUGMC_FN void extents(const two_parts *t, const real *n, real *gap, real *span)
{
    real m[3], least = PLUGMC_NO_RANGE, most = -PLUGMC_NO_RANGE, from = PLUGMC_NO_RANGE,
               to = -PLUGMC_NO_RANGE;
    to_frame(&t->pose, n, m);
    for (int32_t k = 0; k < number_of(t->mine, VERTEX); k++) {
        const real height = dot_product(n, point_of(t, t->mine, VERTEX, k));
        from = height < from ? height : from;
        to = height > to ? height : to;
    }
    for (int32_t k = 0; k < number_of(t->others, VERTEX); k++) {
        const real height = dot_product(m, point_of(t, t->others, VERTEX, k));
        least = height < least ? height : least;
        most = height > most ? height : most;
    }
    const real along = dot_product(n, t->way);
    *gap = along + least - to;
    *span = along + most - from;
}

/* The unit vector along direction k; 0 if edges are parallel, whose direction is that of no slab. */
PLUGMC_FN int unit_direction(const two_parts *t, int32_t k, real *n, int *last)
{
    *last = !direction(t, k, n);
    if (*last) return 0;
    const real length = plugmc_sqrt(dot_product(n, n));
    if (!(length > (real)1e-6)) return 0;
    for (int d = 0; d < 3; d++) n[d] /= length;
    return 1;
}

/* Whether two parts are surely apart. */
PLUGMC_FN int are_apart(const two_parts *t, real margin)
{
    real n[3], gap, span, r[3], centre[3];
    int last = 0;
    from_frame(&t->pose, t->others + CENTRE, centre);
    for (int d = 0; d < 3; d++) r[d] = t->way[d] + centre[d] - t->mine[CENTRE + d];
    const real around = t->mine[RADIUS] + t->others[RADIUS] + margin;
    if (dot_product(r, r) > around * around) return 1;
    for (int32_t k = 0; !last; k++) {
        if (!unit_direction(t, k, n, &last)) continue;
        extents(t, n, &gap, &span);
        if (gap > margin || span < -margin) return 1;
    }
    return 0;
}

PLUGMC_FN two_parts begin(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                          const plugmc_pose *B)
{
    const real way[3] = {-s.x, -s.y, -s.z};
    two_parts t = {p->points.values, p->parts.values, p->parts.values, {{0}, {0}, {0}}, {0}};
    to_frame(A, B->x, t.pose.x);
    to_frame(A, B->y, t.pose.y);
    to_frame(A, B->z, t.pose.z);
    to_frame(A, way, t.way);
    return t;
}

PLUGMC_FN int body_overlap(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                           const plugmc_pose *B, plugmc_site a, plugmc_site b)
{
    const real margin = (PLUGMC_SURELY - 1) * (body_reach(p, a) + body_reach(p, b));
    two_parts t = begin(p, s, A, B);
    for (int32_t i = 0; i < (int32_t)of_shape(p, a, 1); i++)
        for (int32_t j = 0; j < (int32_t)of_shape(p, b, 1); j++) {
            t.mine = p->parts.values + COLUMNS * ((int32_t)of_shape(p, a, 0) + i);
            t.others = p->parts.values + COLUMNS * ((int32_t)of_shape(p, b, 0) + j);
            if (!are_apart(&t, margin)) return 1;
        }
    return 0;
}

/* Between which ways along e, a unit vector, the first part overlaps with the second one; returns 0 if it never does. */
PLUGMC_FN int meets(const two_parts *t, const real *e, real margin, real *from, real *to)
{
    real n[3], gap, span;
    int last = 0;
    *from = -PLUGMC_NO_RANGE;
    *to = PLUGMC_NO_RANGE;
    for (int32_t k = 0; !last; k++) {
        if (!unit_direction(t, k, n, &last)) continue;
        extents(t, n, &gap, &span);
        const real along = dot_product(n, e), size = along < 0 ? -along : along;
        if (!(size > (real)1e-9)) {
            if (gap > margin || span < -margin) return 0;
            continue;
        }
        const real one = gap / along, other = span / along, first = along > 0 ? one : other,
                   second = along > 0 ? other : one;
        *from = first > *from ? first : *from;
        *to = second < *to ? second : *to;
    }
    return *to - *from > margin && *to > margin; /* also those that have just touched */
}

PLUGMC_FN real body_path(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                         const plugmc_pose *B, plugmc_site a, plugmc_site b, int32_t along)
{
    const real margin = (PLUGMC_SURELY - 1) * (body_reach(p, a) + body_reach(p, b)),
               e[3] = {A->x[along], A->y[along], A->z[along]};
    two_parts t = begin(p, s, A, B);
    real nearest = PLUGMC_NO_RANGE, from, to;
    for (int32_t i = 0; i < (int32_t)of_shape(p, a, 1); i++)
        for (int32_t j = 0; j < (int32_t)of_shape(p, b, 1); j++) {
            t.mine = p->parts.values + COLUMNS * ((int32_t)of_shape(p, a, 0) + i);
            t.others = p->parts.values + COLUMNS * ((int32_t)of_shape(p, b, 0) + j);
            if (meets(&t, e, margin, &from, &to) && from < nearest) nearest = from > 0 ? from : 0;
        }
    return nearest;
}

#define PLUGMC_BODY (PLUGMC_BODY_OVERLAP | PLUGMC_BODY_PATH | PLUGMC_BODY_SHAPE)
#include <plugmc/body.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 32, MOST_VERTICES = 64, MOST_NUMBERS = MOST_PARTS * (1 + 3 * MOST_VERTICES) };
enum { MOST_DIRECTIONS = 3 * MOST_VERTICES, ROOM = MOST_VERTICES + 2 * MOST_DIRECTIONS };
#define FLAT 1e-6 /* times the size of a part: vertices that are so close to a plane lie on it */

/* A part while it is made. */
typedef struct part {
    const char *species;
    int number, flat, vertices, normals, directions;
    double at[MOST_VERTICES][3], normal[MOST_DIRECTIONS][3], direction[MOST_DIRECTIONS][3];
    double centre[3], radius, volume, core; /* core: of a sphere about the origin, inside */
} part;

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

static void minus(const double *u, const double *v, double out[3])
{
    for (int d = 0; d < 3; d++) out[d] = u[d] - v[d];
}

static int fault(const plugmc_host *host, const part *h, const char *what)
{
    return host->fail(host->context, PLUGMC_ERROR_INPUT, "part %d of the body of species '%s' %s",
                      h->number, h->species, what);
}

/* Adds a direction unless it, or its negative, is there. More than there is room for are counted as one more. */
static void add_direction(double (*all)[3], int *n, const double *v)
{
    const double length = sqrt(dot(v, v));
    double w[3];
    for (int k = 0; k < *n && k < MOST_DIRECTIONS; k++)
        if (cross(all[k], v, w) < 1e-6 * length) return;
    if (*n > MOST_DIRECTIONS) return;
    if (*n < MOST_DIRECTIONS)
        for (int d = 0; d < 3; d++) all[*n][d] = v[d] / length;
    ++*n;
}

/* A polygon: normals of its edges, area, the circle inside about the origin. */
static int finish_polygon(const plugmc_host *host, part *h)
{
    double around = 0;
    h->core = INFINITY;
    for (int k = 0; k < h->vertices; k++) {
        const double *a = h->at[k], *b = h->at[(k + 1) % h->vertices],
                     *c = h->at[(k + 2) % h->vertices];
        double e[3], f[3];
        minus(b, a, e);
        minus(c, b, f);
        const double turn = e[0] * f[1] - e[1] * f[0], length = sqrt(dot(e, e));
        if (!(turn > FLAT * length * sqrt(dot(f, f))))
            return fault(host, h, "is not convex, or its corners do not run counter-clockwise");
        const double normal[3] = {e[1], -e[0], 0};
        add_direction(h->normal, &h->normals, normal);
        h->core = fmin(h->core, dot(normal, a) / length);
        h->volume += (a[0] * b[1] - a[1] * b[0]) / 2;
        around += atan2(turn, dot(e, f));
    }
    return around < 2 * M_PI + 1e-6 ? PLUGMC_OK : fault(host, h, "goes around more than once");
}

/* The face of a polyhedron through three vertices, if it is one: outward normal n, and the vertices on it. */
static int is_face(const part *h, int i, int j, int k, double n[3], uint64_t *on)
{
    double u[3], v[3], r[3];
    int outside = 0, inside = 0;
    minus(h->at[j], h->at[i], u);
    minus(h->at[k], h->at[i], v);
    const double size = cross(u, v, n);
    if (!(size > FLAT * h->radius * h->radius)) return 0;
    *on = 0;
    for (int l = 0; l < h->vertices; l++) {
        minus(h->at[l], h->at[i], r);
        const double height = dot(n, r) / size;
        if (fabs(height) < FLAT * h->radius)
            *on |= (uint64_t)1 << l;
        else
            outside |= height > 0, inside |= height < 0;
    }
    if (outside && inside) return 0;
    for (int d = 0; d < 3; d++) n[d] *= (outside ? -1 : 1) / size;
    return outside || inside;
}

/* Area of a face as twice that of the triangles from its middle to its edges, which faces have in common. */
static double face_area(const part *h, uint64_t on, const uint64_t *faces, int count)
{
    double middle[3] = {0}, area = 0;
    const int n = __builtin_popcountll(on);
    for (int l = 0; l < h->vertices; l++)
        for (int d = 0; d < 3 && on >> l & 1; d++) middle[d] += h->at[l][d] / n;
    for (int i = 0; i < h->vertices; i++)
        for (int j = i + 1; j < h->vertices; j++) {
            const uint64_t both = (uint64_t)1 << i | (uint64_t)1 << j;
            int common = 0;
            double u[3], v[3], w[3];
            for (int f = 0; f < count; f++) common += (faces[f] & both) == both;
            if ((on & both) != both || common != 2) continue;
            minus(h->at[i], middle, u);
            minus(h->at[j], middle, v);
            area += cross(u, v, w) / 2;
        }
    return area;
}

/* A polyhedron: normals of its faces, directions of edges, volume, the sphere inside about the origin. */
static int finish_polyhedron(const plugmc_host *host, part *h)
{
    uint64_t faces[MOST_DIRECTIONS], covered = 0;
    double out[MOST_DIRECTIONS][3];
    int count = 0;
    for (int i = 0; i < h->vertices; i++)
        for (int j = i + 1; j < h->vertices; j++)
            for (int k = j + 1; k < h->vertices; k++) {
                double n[3];
                uint64_t on;
                if (!is_face(h, i, j, k, n, &on)) continue;
                int known = 0;
                for (int f = 0; f < count; f++) known |= faces[f] == on;
                if (known) continue;
                if (count == MOST_DIRECTIONS) return fault(host, h, "has too many faces");
                memcpy(out[count], n, sizeof n);
                faces[count++] = on;
                covered |= on;
                add_direction(h->normal, &h->normals, n);
            }
    if (count < 4) return fault(host, h, "lies in a plane");
    if (covered != (h->vertices == 64 ? ~(uint64_t)0 : ((uint64_t)1 << h->vertices) - 1))
        return fault(host, h, "has a vertex inside of the others' hull");
    h->core = INFINITY;
    for (int f = 0; f < count; f++) {
        const double *at = h->at[__builtin_ctzll(faces[f])];
        double r[3];
        minus(at, h->centre, r);
        h->volume += face_area(h, faces[f], faces, count) * dot(out[f], r) / 3;
        h->core = fmin(h->core, dot(out[f], at));
    }
    for (int f = 0; f < count; f++)
        for (int g = f + 1; g < count; g++) {
            double e[3];
            const uint64_t both = faces[f] & faces[g];
            if (__builtin_popcountll(both) < 2) continue;
            minus(h->at[63 - __builtin_clzll(both)], h->at[__builtin_ctzll(both)], e);
            add_direction(h->direction, &h->directions, e);
        }
    return h->directions <= MOST_DIRECTIONS ? PLUGMC_OK : fault(host, h, "has too many edges");
}

/* A part from its vertices. */
static int make_part(const plugmc_host *host, part *h, const double *numbers)
{
    const int columns = h->flat ? 2 : 3;
    for (int k = 0; k < h->vertices; k++)
        for (int d = 0; d < columns; d++) {
            h->at[k][d] = numbers[columns * k + d];
            h->centre[d] += h->at[k][d] / h->vertices;
        }
    for (int k = 0; k < h->vertices; k++) {
        double r[3];
        minus(h->at[k], h->centre, r);
        h->radius = fmax(h->radius, sqrt(dot(r, r)));
    }
    return h->flat ? finish_polygon(host, h) : finish_polyhedron(host, h);
}

/* ---- Tables ------------------------------------------------------------------------------------- */

/* All parts so far. */
typedef struct tables {
    real *points, *parts, *shapes;
    int point_count, part_count;
} tables;

static void put_points(tables *t, real *row, int kind, double (*from)[3], int n)
{
    row[kind] = (real)t->point_count;
    row[kind + 1] = (real)n;
    for (int k = 0; k < n; k++, t->point_count++)
        for (int d = 0; d < 3; d++) t->points[3 * t->point_count + d] = (real)from[k][d];
}

static void put_part(tables *t, part *h, real *shape)
{
    real *row = t->parts + COLUMNS * t->part_count++;
    double reach = (double)shape[2];
    put_points(t, row, VERTEX, h->at, h->vertices);
    put_points(t, row, NORMAL, h->normal, h->normals);
    put_points(t, row, DIRECTION, h->direction, h->directions);
    for (int d = 0; d < 3; d++) row[CENTRE + d] = (real)h->centre[d];
    row[RADIUS] = (real)(h->radius * (1 + 1e-6));
    for (int k = 0; k < h->vertices; k++)
        reach = fmax(reach, sqrt(dot(h->at[k], h->at[k])) * (1 + 1e-7));
    shape[1]++;
    shape[2] = (real)reach;
    shape[3] = (real)fmax((double)shape[3], h->core * (1 - 1e-6));
    shape[4] += (real)h->volume;
}

/* An error if two parts of a body overlap: its volume would be less than theirs. */
static int check_parts(const plugmc_host *host, const parameters *p, const char *species,
                       const real *shape)
{
    const plugmc_pose upright = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    two_parts t = begin(p, (plugmc_separation){0, 0, 0, 0}, &upright, &upright);
    for (int i = 0; i < (int)shape[1]; i++)
        for (int j = i + 1; j < (int)shape[1]; j++) {
            t.mine = p->parts.values + COLUMNS * ((int)shape[0] + i);
            t.others = p->parts.values + COLUMNS * ((int)shape[0] + j);
            if (!are_apart(&t, (real)-1e-5 * shape[2]))
                return host->fail(host->context, PLUGMC_ERROR_INPUT,
                                  "parts %d and %d of the body of species '%s' overlap: they may "
                                  "only touch",
                                  i + 1, j + 1, species);
        }
    return PLUGMC_OK;
}

static int read_body(const parameters *p, const plugmc_host *host, const char *species, tables *t,
                     real *shape, double *numbers)
{
    const int flat = host->system->box.dimension == 2, columns = flat ? 2 : 3;
    const int given = plugmc_numbers_of_species(p->lines, species, numbers, MOST_NUMBERS);
    int number = 0;
    shape[0] = (real)t->part_count;
    for (int at = 0; at < given;) {
        const int vertices =
            numbers[at] >= columns + 1 && numbers[at] <= MOST_VERTICES ? (int)numbers[at] : 0;
        part *h = calloc(1, sizeof *h);
        if (!h) return PLUGMC_ERROR_MEMORY;
        *h = (part){.species = species, .number = ++number, .flat = flat, .vertices = vertices};
        int code = PLUGMC_OK;
        if (number > MOST_PARTS)
            code = fault(host, h, "is one too many: 32 are possible");
        else if (vertices != numbers[at])
            code = fault(host, h,
                         flat ? "must begin with the number of its corners, 3 to 64"
                              : "must begin with the number of its vertices, 4 to 64");
        else if (at + 1 + columns * vertices > given)
            code = fault(host, h, "has fewer coordinates than its vertices need");
        if (!code) code = make_part(host, h, numbers + at + 1);
        if (!code) put_part(t, h, shape);
        free(h);
        if (code) return code;
        at += 1 + columns * vertices;
    }
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const size_t species = (size_t)host->system->species_count, most = species * MOST_PARTS;
    int code = plugmc_check_names_of_species(host, p->lines);
    double *numbers = host->allocate(host->context, MOST_NUMBERS * sizeof *numbers);
    tables t = {.points = host->allocate(host->context, 3 * ROOM * most * sizeof(real)),
                .parts = host->allocate(host->context, COLUMNS * most * sizeof(real)),
                .shapes = host->allocate(host->context, 5 * species * sizeof(real))};
    if (!code && (!t.points || !t.parts || !t.shapes || !numbers)) code = PLUGMC_ERROR_MEMORY;
    for (size_t s = 0; s < species && !code; s++) {
        memset(t.shapes + 5 * s, 0, 5 * sizeof(real));
        code = read_body(p, host, plugmc_species_at(host->system, (int32_t)s)->name, &t,
                         t.shapes + 5 * s, numbers);
    }
    if (!code && !t.part_count)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no species has a body: give the parts of one under its name");
    p->points = (plugmc_list){t.points, 3 * t.point_count};
    p->parts = (plugmc_list){t.parts, COLUMNS * t.part_count};
    p->shapes = (plugmc_list){t.shapes, 5 * (int32_t)species};
    for (size_t s = 0; s < species && !code; s++)
        code = check_parts(host, p, plugmc_species_at(host->system, (int32_t)s)->name,
                           t.shapes + 5 * s);
    return code;
}

/* ---- Drawing ------------------------------------------------------------------------------------ */

/* Corners of a face in their order around its normal. Returns how many. */
static int around_face(const part *h, uint64_t on, const double n[3], int out[MOST_VERTICES])
{
    double angle[MOST_VERTICES], x[3], y[3], r[3];
    const int first = __builtin_ctzll(on), last = 63 - __builtin_clzll(on);
    int count = 0;
    minus(h->at[last], h->at[first], x);
    cross(n, x, y);
    double middle[3] = {0};
    for (int l = 0; l < h->vertices; l++)
        for (int d = 0; d < 3 && on >> l & 1; d++)
            middle[d] += h->at[l][d] / __builtin_popcountll(on);
    for (int l = 0; l < h->vertices; l++) {
        if (!(on >> l & 1)) continue;
        minus(h->at[l], middle, r);
        const double own = atan2(dot(r, y), dot(r, x));
        int k = count++;
        for (; k > 0 && angle[k - 1] > own; k--) angle[k] = angle[k - 1], out[k] = out[k - 1];
        angle[k] = own, out[k] = l;
    }
    return count;
}

/* Triangles of a part, as numbers of its vertices behind `base`. */
static void put_triangles(FILE *out, const part *h, int base, const char **comma)
{
    uint64_t seen[MOST_DIRECTIONS];
    int faces = 0;
    for (int k = 1; h->flat && k + 1 < h->vertices; k++, *comma = ", ")
        fprintf(out, "%s[%d, %d, %d]", *comma, base, base + k, base + k + 1);
    for (int i = 0; !h->flat && i < h->vertices; i++)
        for (int j = i + 1; j < h->vertices; j++)
            for (int k = j + 1; k < h->vertices && faces < MOST_DIRECTIONS; k++) {
                double n[3];
                uint64_t on;
                int corners[MOST_VERTICES], known = 0;
                if (!is_face(h, i, j, k, n, &on)) continue;
                for (int f = 0; f < faces; f++) known |= seen[f] == on;
                if (known) continue;
                seen[faces++] = on;
                const int count = around_face(h, on, n, corners);
                for (int c = 1; c + 1 < count; c++, *comma = ", ")
                    fprintf(out, "%s[%d, %d, %d]", *comma, base + corners[0], base + corners[c],
                            base + corners[c + 1]);
            }
}

/* A mesh of triangles, all vertices first. */
static void put_mesh(FILE *out, const parameters *p, plugmc_site site)
{
    const char *comma = "";
    fputs("{\"type\": \"Mesh\", \"vertices\": [", out);
    for (int pass = 0; pass < 2; pass++) {
        int base = 0;
        for (int i = 0; i < (int)of_shape(p, site, 1); i++) {
            const real *row = p->parts.values + COLUMNS * ((int)of_shape(p, site, 0) + i);
            part h = {.flat = number_of(row, DIRECTION) == 0,
                      .vertices = number_of(row, VERTEX),
                      .radius = (double)row[RADIUS]};
            for (int k = 0; k < h.vertices; k++)
                for (int d = 0; d < 3; d++)
                    h.at[k][d] = (double)p->points.values[3 * ((int)row[VERTEX] + k) + d];
            for (int k = 0; k < h.vertices && !pass; k++, comma = ", ")
                fprintf(out, "%s[%.9g, %.9g, %.9g]", comma, h.at[k][0], h.at[k][1], h.at[k][2]);
            if (pass) put_triangles(out, &h, base, &comma);
            base += h.vertices;
        }
        comma = "";
        fputs(pass ? "]}" : "], \"indices\": [", out);
    }
}

static int body_shape(const void *instance, const plugmc_particle *a, char *json, size_t size)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) return 0;
    put_mesh(out, instance, plugmc_site_of_body(a));
    if (fclose(out)) length = 0;
    if (size) snprintf(json, size, "%s", text);
    free(text);
    return (int)length;
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_DERIVED(parameters, points, "vertices, normals and edges of all parts"),
    PLUGMC_LIST_DERIVED(parameters, parts, "size of each part"),
    PLUGMC_LIST_DERIVED(parameters, shapes, "parts and size of each body"),
    PLUGMC_NUMBERS_KEY(parameters, lines, -1e6, 1e6,
                       "NAME is a species: of each part of its body the number of vertices, then "
                       "x, y (and z) of each, in two dimensions counter-clockwise"),
};

PLUGMC_PLUGIN(.name = "union_of_polyhedra",
              .summary =
                  "hard bodies made of convex polyhedra or polygons, which need not be convex",
              .reference = "Gottschalk, Lin, Manocha, SIGGRAPH 96, 171 (1996)",
              PLUGMC_KEYS(parameters, table), PLUGMC_BODIES_ALONE, .configure = configure);
#endif
