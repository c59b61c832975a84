/* Lattices with a given number of sites in a given box, as far apart as possible.
 *
 * A periodic box seldom holds a perfect lattice of N sites. In two dimensions every arrangement
 * of R equal rows of C = ceil(N / R) sites is tried, along x and along y, each row displaced
 * against the one below by a fraction k / R of the distance of its sites: k = 0 is the square
 * lattice, k = floor(R / 2) the triangular one, exact for even R and periodic for odd R too. In
 * three dimensions all numbers of cells of the simple and the face-centred cubic lattice are.
 * The arrangement with the largest distance of neighbours wins; its RC - N vacancies are spread
 * evenly. In a sphere it is the N sites nearest to the centre, for several centres.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "initial/initial.h"

static int lattice_sphere(const plugmc_box *, int kind, int64_t n, double *sites, double *nearest);
static double rows_sites(const plugmc_box *, int kind, int64_t n, double *sites);
static double cubic_sites(const plugmc_box *, int kind, int64_t n, double *sites);
static void oblique_sites(const plugmc_box *, int kind, int64_t n, double *sites);

int lattice_sites(const plugmc_box *box, int kind, int64_t n, double *sites, double *nearest)
{
    if (box->domain == PLUGMC_DOMAIN_SPHERE) return lattice_sphere(box, kind, n, sites, nearest);
    if (box->oblique) {
        oblique_sites(box, kind, n, sites);
        *nearest = 0; /* nobody asks: there are no hard cores in an oblique box */
        return EXIT_DONE;
    }
    *nearest =
        box->dimension == 2 ? rows_sites(box, kind, n, sites) : cubic_sites(box, kind, n, sites);
    return EXIT_DONE;
}

/* ---- Two dimensions ---- */

typedef struct rows {
    int along;                    /* direction of the rows: 0 for x, 1 for y */
    int64_t rows, columns, shift; /* each row is displaced by shift / rows sites */
    double spacing, step;         /* in a row, between rows; length */
    double nearest;               /* smallest distance between two sites */
} rows;

/* Smallest distance between sites, or any number below `enough` once it is known to be less. */
static double rows_nearest(const rows *r, double enough)
{
    double nearest = r->columns > 1 ? r->spacing : INFINITY;
    for (int64_t j = 1; j <= r->rows / 2 && nearest > enough; j++) {
        double height = (double)j * r->step;
        double turn = (double)(j * r->shift % r->rows) / (double)r->rows;
        if (height >= nearest) break;
        nearest = fmin(nearest, hypot(fmin(turn, 1 - turn) * r->spacing, height));
    }
    return nearest;
}

static double rows_sites(const plugmc_box *box, int kind, int64_t n, double *sites)
{
    rows best = {.nearest = -1};
    for (int along = 0; along < 2; along++)
        for (int64_t count = 1; count <= n; count++)
            for (int staggered = 0; staggered < 2; staggered++) {
                rows r = {.along = along,
                          .rows = count,
                          .columns = (n + count - 1) / count,
                          .shift = staggered ? count / 2 : 0};
                if (staggered ? kind == LATTICE_SQUARE : kind == LATTICE_TRIANGULAR) continue;
                r.spacing = box->length[along] / (double)r.columns;
                r.step = box->length[1 - along] / (double)r.rows;
                r.nearest = rows_nearest(&r, best.nearest);
                if (r.nearest > best.nearest) best = r;
            }

    const int64_t all = best.rows * best.columns;
    for (int64_t p = 0; p < n; p++) {
        int64_t site = (int64_t)((__int128)p * all / n);
        int64_t row = site / best.columns, column = site % best.columns;
        double turn = (double)(row * best.shift % best.rows) / (double)best.rows;
        double *at = &sites[3 * p];
        at[best.along] = ((double)column + 0.25 + turn) * best.spacing;
        at[1 - best.along] = ((double)row + 0.5) * best.step;
        at[2] = 0;
        plugmc_wrap(box, at);
    }
    return best.nearest;
}

/* ---- Cubic cells ---- */

/* Sites of a cell, in parts of its edges, and the edges where neighbours are at distance 1. */
static const struct crystal {
    int dimension, sites;
    double edges[3], site[4][3];
} crystals[] = {
    [LATTICE_SQUARE] = {2, 1, {1, 1, 1}, {{0}}},
    [LATTICE_TRIANGULAR] = {2, 2, {1, 1.7320508075688772, 1}, {{0}, {0.5, 0.5, 0}}},
    [LATTICE_SC] = {3, 1, {1, 1, 1}, {{0}}},
    [LATTICE_FCC] = {3,
                     4,
                     {M_SQRT2, M_SQRT2, M_SQRT2},
                     {{0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}}},
};

typedef struct cubic {
    int kind;
    int64_t count[3]; /* of cells */
    double edge[3];   /* of a cell, length */
    double nearest;
} cubic;

static double cubic_nearest(const cubic *c)
{
    double nearest = INFINITY;
    for (int d = 0; d < 3; d++) {
        if (c->count[d] > 1) nearest = fmin(nearest, c->edge[d]);
        if (c->kind == LATTICE_FCC)
            nearest = fmin(nearest, 0.5 * hypot(c->edge[d], c->edge[(d + 1) % 3]));
    }
    return nearest;
}

static double cubic_sites(const plugmc_box *box, int kind, int64_t n, double *sites)
{
    cubic best = {.nearest = -1};
    for (int k = LATTICE_SC; k <= LATTICE_FCC; k++) {
        const int64_t cells = (n + crystals[k].sites - 1) / crystals[k].sites;
        if (kind != LATTICE_AUTO && kind != k) continue;
        for (int64_t x = 1; x <= cells; x++)
            for (int64_t y = 1; y <= (cells + x - 1) / x; y++) {
                cubic c = {.kind = k, .count = {x, y, (cells + x * y - 1) / (x * y)}};
                for (int d = 0; d < 3; d++) c.edge[d] = box->length[d] / (double)c.count[d];
                c.nearest = cubic_nearest(&c);
                if (c.nearest > best.nearest) best = c;
            }
    }

    const struct crystal *crystal = &crystals[best.kind];
    const int64_t all = best.count[0] * best.count[1] * best.count[2] * crystal->sites;
    for (int64_t p = 0; p < n; p++) {
        int64_t site = (int64_t)((__int128)p * all / n), cell = site / crystal->sites;
        const double *in = crystal->site[site % crystal->sites];
        const int64_t c[3] = {cell % best.count[0], cell / best.count[0] % best.count[1],
                              cell / best.count[0] / best.count[1]};
        for (int d = 0; d < 3; d++) sites[3 * p + d] = ((double)c[d] + 0.25 + in[d]) * best.edge[d];
        plugmc_wrap(box, &sites[3 * p]);
    }
    return best.nearest;
}

/* ---- Sphere ---- */

typedef struct site {
    double r2, at[3];
} site;

static int by_distance(const void *a, const void *b)
{
    const site *s = a, *t = b;
    if (s->r2 != t->r2) return s->r2 < t->r2 ? -1 : 1;
    for (int d = 0; d < 3; d++)
        if (s->at[d] != t->at[d]) return s->at[d] < t->at[d] ? -1 : 1;
    return 0;
}

/* All sites, neighbours at distance 1, in a cube around `centre` (in parts of a cell) that holds
 * a ball with more than n sites; nearest first. NULL if memory is short. */
static site *sites_around(const struct crystal *crystal, const double centre[3], int64_t n)
{
    double cell = 1;
    int64_t reach[3] = {0}, cells = 1, found = 0;
    for (int d = 0; d < crystal->dimension; d++) cell *= crystal->edges[d];
    double ball = (double)n * cell / crystal->sites / ball_volume(crystal->dimension, 2);
    double radius = pow(ball, 1.0 / crystal->dimension) + 2;
    for (int d = 0; d < crystal->dimension; d++) {
        reach[d] = (int64_t)ceil(radius / crystal->edges[d]) + 1;
        cells *= 2 * reach[d] + 1;
    }
    site *sites = malloc((size_t)(cells * crystal->sites) * sizeof *sites);
    if (!sites) return NULL;
    for (int64_t z = -reach[2]; z <= reach[2]; z++)
        for (int64_t y = -reach[1]; y <= reach[1]; y++)
            for (int64_t x = -reach[0]; x <= reach[0]; x++)
                for (int s = 0; s < crystal->sites; s++) {
                    const double c[3] = {(double)x, (double)y, (double)z};
                    site *new = &sites[found++];
                    *new = (site){0};
                    for (int d = 0; d < crystal->dimension; d++) {
                        new->at[d] = (c[d] + crystal->site[s][d] - centre[d]) * crystal->edges[d];
                        new->r2 += new->at[d] * new->at[d];
                    }
                }
    qsort(sites, (size_t)found, sizeof *sites, by_distance);
    return sites;
}

/* The outermost of the n sites nearest to the centre is put on the surface, a hair inside. */
static int lattice_sphere(const plugmc_box *box, int kind, int64_t n, double *out, double *nearest)
{
    static const double centres[][3] = {{0, 0, 0},       {0.5, 0.5, 0.5}, {0.25, 0.25, 0.25},
                                        {0.25, 0.25, 0}, {0.5, 0, 0},     {0.5, 1.0 / 6, 0}};
    *nearest = -1;
    for (int k = LATTICE_SQUARE; k <= LATTICE_FCC; k++) {
        if (crystals[k].dimension != box->dimension) continue;
        if (kind != LATTICE_AUTO && kind != k) continue;
        for (size_t c = 0; c < sizeof centres / sizeof *centres; c++) {
            site *sites = sites_around(&crystals[k], centres[c], n);
            if (!sites) return EXIT_MEMORY;
            double outermost = sqrt(sites[n - 1].r2);
            double scale = outermost > 0 ? box->radius / outermost * (1 - 1e-6) : box->radius;
            if (scale > *nearest) {
                *nearest = scale;
                for (int64_t p = 0; p < n; p++)
                    for (int d = 0; d < 3; d++) out[3 * p + d] = sites[p].at[d] * scale;
            }
            free(sites);
        }
    }
    return EXIT_DONE;
}

/* ---- Oblique boxes ---- */

/* A cubic lattice of the rectangular box with the same edges, sheared. */
static void oblique_sites(const plugmc_box *box, int kind, int64_t n, double *sites)
{
    plugmc_box upright = *box;
    upright.oblique = 0;
    cubic_sites(&upright, kind, n, sites);
    for (int64_t i = 0; i < n; i++) {
        double f[3], *r = &sites[3 * i];
        for (int d = 0; d < 3; d++) f[d] = r[d] / box->length[d];
        for (int d = 0; d < 3; d++)
            r[d] = f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
        plugmc_wrap(box, r);
    }
}
