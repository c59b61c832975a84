/* union_of_spheres: hard bodies made of spheres or disks, such as dumbbells and rings; they need not be convex.
 *
 * A species whose name is a key has the spheres that follow it: x, y, z of the centre and the radius of each (in two
 * dimensions x, y and the radius), in the axes of the body, which turns about the origin. Two bodies overlap if a sphere of
 * one overlaps with a sphere of the other. A body that slides along an axis goes as far as the pair of spheres lets it that
 * comes first.
 */
#include <plugmc/potential.h>

typedef struct parameters {
    const char *lines;
    plugmc_list spheres; /* [spheres][4]: x, y, z, radius of all bodies */
    plugmc_list shapes;  /* [species][5]: first sphere, spheres, reach, core, volume */
} parameters;

PLUGMC_FN real of_shape(const parameters *p, plugmc_site a, int what)
{
    return p->shapes.values[5 * a.species + what];
}

PLUGMC_FN real body_reach(const parameters *p, plugmc_site a) { return of_shape(p, a, 2); }
PLUGMC_FN real body_core(const parameters *p, plugmc_site a) { return of_shape(p, a, 3); }
PLUGMC_FN real body_volume(const parameters *p, plugmc_site a) { return of_shape(p, a, 4); }

/* The way from the centre of b to a sphere of a, in the frame of b. */
PLUGMC_FN void seen_from(plugmc_separation s, const plugmc_pose *A, const plugmc_pose *B,
                         const real *sphere, real *out)
{
    real at[3] = {s.x, s.y, s.z};
    for (int d = 0; d < 3; d++)
        at[d] += sphere[0] * A->x[d] + sphere[1] * A->y[d] + sphere[2] * A->z[d];
    out[0] = at[0] * B->x[0] + at[1] * B->x[1] + at[2] * B->x[2];
    out[1] = at[0] * B->y[0] + at[1] * B->y[1] + at[2] * B->y[2];
    out[2] = at[0] * B->z[0] + at[1] * B->z[1] + at[2] * B->z[2];
}

PLUGMC_FN int body_overlap(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                           const plugmc_pose *B, plugmc_site a, plugmc_site b)
{
    const real *mine = p->spheres.values + 4 * (int32_t)of_shape(p, a, 0),
               *others = p->spheres.values + 4 * (int32_t)of_shape(p, b, 0),
               margin = (PLUGMC_SURELY - 1) * (body_reach(p, a) + body_reach(p, b));
    for (int32_t i = 0; i < (int32_t)of_shape(p, a, 1); i++) {
        real at[3];
        seen_from(s, A, B, mine + 4 * i, at);
        for (int32_t j = 0; j < (int32_t)of_shape(p, b, 1); j++) {
            const real *o = others + 4 * j, x = at[0] - o[0], y = at[1] - o[1], z = at[2] - o[2],
                       contact = mine[4 * i + 3] + o[3] + margin;
            if (!(x * x + y * y + z * z > contact * contact)) return 1;
        }
    }
    return 0;
}

PLUGMC_FN real body_path(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                         const plugmc_pose *B, plugmc_site a, plugmc_site b, int32_t along)
{
    const real *mine = p->spheres.values + 4 * (int32_t)of_shape(p, a, 0),
               *others = p->spheres.values + 4 * (int32_t)of_shape(p, b, 0),
               e[3] = {B->x[along], B->y[along], B->z[along]},
               margin = (PLUGMC_SURELY - 1) * (body_reach(p, a) + body_reach(p, b));
    real nearest = PLUGMC_NO_RANGE;
    for (int32_t i = 0; i < (int32_t)of_shape(p, a, 1); i++) {
        real at[3];
        seen_from(s, A, B, mine + 4 * i, at);
        for (int32_t j = 0; j < (int32_t)of_shape(p, b, 1); j++) {
            const real *o = others + 4 * j, x = o[0] - at[0], y = o[1] - at[1], z = o[2] - at[2],
                       contact = mine[4 * i + 3] + o[3], ahead = x * e[0] + y * e[1] + z * e[2],
                       u = x - ahead * e[0], v = y - ahead * e[1], w = z - ahead * e[2],
                       square = contact * contact - (u * u + v * v + w * w);
            if (!(square > 0)) continue;
            const real half = plugmc_sqrt(square), way = ahead - half;
            if (!(ahead + half > margin)) continue; /* also two that have just touched */
            nearest = way < nearest ? (way > 0 ? way : 0) : nearest;
        }
    }
    return nearest;
}

#define PLUGMC_BODY (PLUGMC_BODY_OVERLAP | PLUGMC_BODY_PATH | PLUGMC_BODY_SHAPE)
#include <plugmc/body.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>
#include <stdio.h>

enum { MOST_SPHERES = 64 };

typedef struct disk {
    double x, y, radius;
} disk;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The arcs of disk i that other disks cover: where they begin and end, as angles in (-pi, pi]. Returns how many, -1 if all
 * of it is covered. */
static int covered_arcs(const disk *disks, int n, int i, double arcs[][2])
{
    int count = 0;
    for (int j = 0; j < n; j++) {
        const disk *a = &disks[i], *b = &disks[j];
        const double x = b->x - a->x, y = b->y - a->y, r = hypot(x, y);
        if (j == i || r >= a->radius + b->radius) continue;
        if (r <= b->radius - a->radius && (r > 0 || b->radius > a->radius || j < i)) return -1;
        if (r <= fabs(a->radius - b->radius)) continue;
        const double half = acos(
                         fmax(-1, fmin(1, (a->radius * a->radius + r * r - b->radius * b->radius) /
                                              (2 * a->radius * r)))),
                     middle = atan2(y, x), from = remainder(middle - half, 2 * M_PI),
                     to = remainder(middle + half, 2 * M_PI);
        arcs[count][0] = from, arcs[count++][1] = from <= to ? to : M_PI;
        if (from > to) arcs[count][0] = -M_PI, arcs[count++][1] = to;
    }
    return count;
}

/* Area of the union of disks: the integral of (x dy - y dx) / 2 along what no other disk covers. */
static double area_of(const disk *disks, int n)
{
    double area = 0, arcs[2 * MOST_SPHERES][2];
    for (int i = 0; i < n; i++) {
        const disk *a = &disks[i];
        const int count = covered_arcs(disks, n, i, arcs);
        double from = -M_PI;
        if (count > 0) qsort(arcs, (size_t)count, sizeof *arcs, compare);
        for (int k = 0; k <= count; k++) {
            const double to = k < count ? arcs[k][0] : M_PI;
            if (to > from)
                area += a->radius / 2 *
                        (a->radius * (to - from) + a->x * (sin(to) - sin(from)) -
                         a->y * (cos(to) - cos(from)));
            if (k < count) from = fmax(from, arcs[k][1]);
        }
    }
    return area;
}

static double slice(const double (*spheres)[4], int n, double z)
{
    disk disks[MOST_SPHERES];
    int count = 0;
    for (int i = 0; i < n; i++) {
        const double square = pow(spheres[i][3], 2) - pow(z - spheres[i][2], 2);
        if (square > 0) disks[count++] = (disk){spheres[i][0], spheres[i][1], sqrt(square)};
    }
    return area_of(disks, count);
}

/* Where slices through the union begin to differ in kind: at the ends of spheres and of the circles in which two meet. */
static int heights(const double (*spheres)[4], int n, double *out)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        const double *a = spheres[i];
        out[count++] = a[2] - a[3], out[count++] = a[2] + a[3];
        for (int j = 0; j < i; j++) {
            const double *b = spheres[j], x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2],
                         r = sqrt(x * x + y * y + z * z),
                         plane = (r * r + a[3] * a[3] - b[3] * b[3]) / (2 * r),
                         square = a[3] * a[3] - plane * plane;
            if (!(square > 0)) continue; /* they do not meet, or are in one place */
            const double half = sqrt(square) * hypot(x, y) / r, middle = a[2] + plane * z / r;
            out[count++] = middle - half, out[count++] = middle + half;
        }
    }
    qsort(out, (size_t)count, sizeof *out, compare);
    return count;
}

/* Volume of the union of spheres: slices between the heights, by the rule of H. Takahasi, M. Mori, Publ. RIMS 9, 721 (1974). */
static double volume_of(const double (*spheres)[4], int n)
{
    double volume = 0, at[MOST_SPHERES * (MOST_SPHERES + 1)];
    const int count = heights(spheres, n, at);
    for (int k = 0; k + 1 < count; k++) {
        const double middle = (at[k] + at[k + 1]) / 2, half = (at[k + 1] - at[k]) / 2;
        for (int i = -20; i <= 20 && half > 0; i++) {
            const double step = 0.15, t = M_PI / 2 * sinh(step * i),
                         weight = step * M_PI / 2 * cosh(step * i) / pow(cosh(t), 2);
            volume += half * weight * slice(spheres, n, middle + half * tanh(t));
        }
    }
    return volume;
}

/* The spheres of a species. Returns how many, 0 if it has none, -1 after an error. */
static int spheres_of(const parameters *p, const plugmc_host *host, const char *species,
                      double spheres[MOST_SPHERES][4])
{
    double numbers[4 * MOST_SPHERES + 1];
    const int flat = host->system->box.dimension == 2, columns = flat ? 3 : 4,
              most = columns * MOST_SPHERES,
              given = plugmc_numbers_of_species(p->lines, species, numbers, most + 1);
    const char *why = NULL;
    if (given > most) why = "has more than 64 spheres";
    if (!why && given % columns)
        why = flat ? "has numbers that are no multiple of three: give x, y and the radius of each "
                     "disk"
                   : "has numbers that are no multiple of four: give x, y, z and the radius of "
                     "each sphere";
    for (int k = 0; k < given / columns && !why; k++) {
        for (int d = 0; d < 3; d++) spheres[k][d] = d < columns - 1 ? numbers[columns * k + d] : 0;
        spheres[k][3] = numbers[columns * k + columns - 1];
        if (!(spheres[k][3] > 0)) why = "has a radius that is not above 0";
    }
    if (!why) return given / columns;
    host->fail(host->context, PLUGMC_ERROR_INPUT, "the body of species '%s' %s", species, why);
    return -1;
}

static void put_body(const plugmc_system *system, int n, const double (*spheres)[4], int first,
                     real *table, real shape[5])
{
    double reach = 0, core = 0;
    disk disks[MOST_SPHERES];
    for (int k = 0; k < n; k++) {
        const double *s = spheres[k], r = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
        for (int d = 0; d < 4; d++) table[4 * (first + k) + d] = (real)s[d];
        reach = fmax(reach, r + s[3]);
        core = fmax(core, s[3] - r);
        disks[k] = (disk){s[0], s[1], s[3]};
    }
    shape[0] = (real)first, shape[1] = (real)n;
    shape[2] = (real)(reach * (1 + 1e-7));
    shape[3] = (real)(core * (1 - 1e-6));
    shape[4] = (real)(system->box.dimension == 2 ? area_of(disks, n) : volume_of(spheres, n));
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t species = host->system->species_count;
    double spheres[MOST_SPHERES][4];
    int total = 0, code = plugmc_check_names_of_species(host, p->lines);
    real *table = host->allocate(host->context, sizeof *table * 4 * MOST_SPHERES * (size_t)species);
    real *shapes = host->allocate(host->context, sizeof *shapes * 5 * (size_t)species);
    if (!code && (!table || !shapes)) code = PLUGMC_ERROR_MEMORY;
    for (int32_t s = 0; s < species && !code; s++) {
        const int n = spheres_of(p, host, plugmc_species_at(host->system, s)->name, spheres);
        if (n < 0) return PLUGMC_ERROR_INPUT;
        put_body(host->system, n, (const double(*)[4])spheres, total, table, shapes + 5 * s);
        total += n;
    }
    if (!code && !total)
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no species has a body: give the spheres of one under its name");
    p->spheres = (plugmc_list){table, 4 * total};
    p->shapes = (plugmc_list){shapes, 5 * species};
    return code;
}

static int body_shape(const void *instance, const plugmc_particle *a, char *json, size_t size)
{
    const parameters *p = instance;
    const plugmc_site site = plugmc_site_of_body(a);
    const real *spheres = p->spheres.values + 4 * (int32_t)of_shape(p, site, 0);
    const int32_t n = (int32_t)of_shape(p, site, 1);
    size_t length = (size_t)snprintf(json, size, "{\"type\": \"SphereUnion\", \"centers\": [");
    for (int32_t k = 0; k < 2 * n; k++) { /* all centres, then all diameters */
        const real *s = spheres + 4 * (k % n);
        const size_t room = length < size ? size - length : 0;
        char *to = room ? json + length : NULL;
        length +=
            (size_t)(k < n ? snprintf(to, room, "[%.9g, %.9g, %.9g]%s", (double)s[0], (double)s[1],
                                      (double)s[2], k + 1 < n ? ", " : "], \"diameters\": [")
                           : snprintf(to, room, "%.9g%s", 2 * (double)s[3],
                                      k + 1 < 2 * n ? ", " : "]}"));
    }
    return (int)length;
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_DERIVED(parameters, spheres, "spheres of all bodies"),
    PLUGMC_LIST_DERIVED(parameters, shapes, "spheres and size of each body"),
    PLUGMC_NUMBERS_KEY(parameters, lines, -1e6, 1e6,
                       "NAME is a species: x, y, z and radius of each sphere of its body; in two "
                       "dimensions x, y and radius"),
};

PLUGMC_PLUGIN(.name = "union_of_spheres",
              .summary = "hard bodies made of spheres or disks, such as dumbbells",
              PLUGMC_KEYS(parameters, table), PLUGMC_BODIES_ALONE, .configure = configure);
#endif
