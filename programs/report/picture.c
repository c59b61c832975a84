/* A picture of the last configuration of walker 0: disks coloured by the direction of psi_6 of their six nearest
 * neighbours where there is one species, else particles by species; three dimensions are seen from the side, what
 * is far is faint. Few particles are circles of the page's own SVG, many an image by gnuplot. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "system/geometry.h"

enum { MOST_IN_SVG = 20000, WIDTH = 900, NEIGHBOURS = 6 };

/* A particle on the page: 0 to 1 in each direction of a square that holds all. */
typedef struct spot {
    double x, y, radius, depth; /* depth 0 (near) to 1 */
    int species, hue;           /* hue: degrees, -1 for colours of species */
} spot;

typedef struct picture {
    const shown *run;
    plugmc_box box;  /* of walker 0 */
    const double *r; /* [particles][3]; NaN for places that nobody has */
    spot *spots;
    int64_t count;
    double height;       /* of the picture over its width */
    double corner[8][2]; /* of the box */
} picture;

/* ---- psi_6 --------------------------------------------------------------------------------------------- */

static double separation(const plugmc_box *box, const double a[3], const double b[3], double d[3])
{
    for (int k = 0; k < 3; k++) d[k] = b[k] - a[k];
    if (box->domain == PLUGMC_DOMAIN_PERIODIC) {
        double f[3];
        for (int k = 0; k < 3; k++) {
            f[k] =
                d[0] * box->inverse[0][k] + d[1] * box->inverse[1][k] + d[2] * box->inverse[2][k];
            f[k] -= k < box->dimension ? rint(f[k]) : f[k];
        }
        for (int k = 0; k < 3; k++)
            d[k] = f[0] * box->vector[0][k] + f[1] * box->vector[1][k] + f[2] * box->vector[2][k];
    }
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* The nearest six so far, sorted. */
typedef struct nearest {
    double distance[NEIGHBOURS];
    double complex bond[NEIGHBOURS];
} nearest;

static void consider(nearest *n, double distance, const double d[3])
{
    int k = NEIGHBOURS;
    if (!(distance < n->distance[NEIGHBOURS - 1])) return;
    while (--k > 0 && n->distance[k - 1] > distance) {
        n->distance[k] = n->distance[k - 1];
        n->bond[k] = n->bond[k - 1];
    }
    n->distance[k] = distance;
    n->bond[k] = cpow((d[0] + I * d[1]) / distance, 6);
}

/* Particles by cell: the first of each cell, and the next one behind each; -1 at the end. */
typedef struct lists {
    cell_grid grid;
    int64_t *first, *next;
} lists;

static lists lists_of(const picture *p)
{
    const int64_t n = p->run->data.particles;
    lists l = {cell_grid_make(&p->box, 1, n, 2 * sqrt(p->box.volume / (double)(p->count + 1))),
               NULL, NULL};
    l.first = checked(malloc((size_t)l.grid.cells * sizeof *l.first));
    l.next = checked(malloc((size_t)(n + 1) * sizeof *l.next));
    for (int64_t c = 0; c < l.grid.cells; c++) l.first[c] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(p->r[3 * i])) continue;
        const int64_t c = cell_of(&l.grid, &p->r[3 * i]);
        l.next[i] = l.first[c];
        l.first[c] = i;
    }
    return l;
}

/* Degrees of the argument of psi_6; -1 without six neighbours in the cells around. */
static int hue_of(const picture *p, const lists *l, int64_t i)
{
    nearest n;
    int64_t around[27];
    for (int k = 0; k < NEIGHBOURS; k++) n.distance[k] = INFINITY, n.bond[k] = 0;
    const int count = cells_around(&l->grid, cell_of(&l->grid, &p->r[3 * i]), around);
    for (int c = 0; c < count; c++)
        for (int64_t j = l->first[around[c]]; j >= 0; j = l->next[j]) {
            double d[3];
            if (j != i) consider(&n, separation(&p->box, &p->r[3 * i], &p->r[3 * j], d), d);
        }
    if (!isfinite(n.distance[NEIGHBOURS - 1])) return -1;
    double complex sum = 0;
    for (int k = 0; k < NEIGHBOURS; k++) sum += n.bond[k];
    return (int)((carg(sum) / M_PI + 1) * 180) % 360;
}

/* ---- Projection ---------------------------------------------------------------------------------------- */

/* Seen from a little above and beside, along no axis; in two dimensions from above. y grows downwards. */
static void project(int dimension, const double r[3], double out[3])
{
    const double turn = 0.5, tilt = 0.35;
    if (dimension == 2) {
        out[0] = r[0], out[1] = -r[1], out[2] = 0;
        return;
    }
    const double x = cos(turn) * r[0] + sin(turn) * r[1],
                 back = -sin(turn) * r[0] + cos(turn) * r[1];
    out[0] = x;
    out[1] = -(cos(tilt) * r[2] + sin(tilt) * back);
    out[2] = cos(tilt) * back - sin(tilt) * r[2];
}

/* The corners of the box, or of a cube around the sphere. */
static void corner_of(const plugmc_box *box, int k, double r[3])
{
    const int in[3] = {k & 1, k >> 1 & 1, k >> 2 & 1};
    for (int d = 0; d < 3; d++) {
        r[d] = 0;
        if (box->domain == PLUGMC_DOMAIN_SPHERE)
            r[d] = in[d] ? box->radius : -box->radius;
        else
            for (int e = 0; e < box->dimension; e++) r[d] += in[e] * box->vector[e][d];
    }
}

/* Of particles without a diameter: a fraction of their distances. */
static double radius_of(const picture *p, int species)
{
    const double diameter = plugmc_species_at(&p->run->system, species)->diameter;
    if (diameter > 0) return 0.5 * diameter;
    return 0.25 * pow(p->box.volume / (double)(p->count + 1), 1.0 / p->box.dimension);
}

/* Of the picture: what is at its edge is seen as a whole, as those are whose centres are at a face of the box. */
static double margin_of(const picture *p)
{
    double largest = 0;
    for (int k = 0; k < p->run->system.species_count; k++) largest = fmax(largest, radius_of(p, k));
    return largest;
}

static void place_spots(picture *p)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY},
           out[8][3];
    for (int k = 0; k < 8; k++) {
        double r[3];
        corner_of(&p->box, k, r);
        project(p->box.dimension, r, out[k]);
        for (int d = 0; d < 3; d++)
            low[d] = fmin(low[d], out[k][d]), high[d] = fmax(high[d], out[k][d]);
    }
    for (int d = 0; d < 3 && p->box.domain == PLUGMC_DOMAIN_SPHERE; d++)
        low[d] = -p->box.radius, high[d] = p->box.radius;
    const double margin = margin_of(p);
    for (int d = 0; d < 2; d++) low[d] -= margin, high[d] += margin;
    const double scale = 1 / (high[0] - low[0]), deep = high[2] > low[2] ? high[2] - low[2] : 1;
    p->height = (high[1] - low[1]) * scale;
    for (int k = 0; k < 8; k++)
        for (int d = 0; d < 2; d++) p->corner[k][d] = (out[k][d] - low[d]) * scale;
    for (int64_t i = 0; i < p->count; i++) {
        spot *s = &p->spots[i];
        double seen[3];
        project(p->box.dimension, (double[3]){s->x, s->y, s->depth}, seen);
        s->radius = radius_of(p, s->species) * scale;
        s->x = (seen[0] - low[0]) * scale;
        s->y = (seen[1] - low[1]) * scale;
        s->depth = (seen[2] - low[2]) / deep;
    }
}

static int far_first(const void *a, const void *b)
{
    const spot *one = a, *two = b;
    return (one->depth < two->depth) - (one->depth > two->depth);
}

/* ---- Drawing ------------------------------------------------------------------------------------------- */

/* What is far takes the colour of the paper. */
enum { DEPTHS = 10 };
static void put_depths(page *p)
{
    put_html(
        p,
        "<style>.spheres circle{stroke:var(--card);stroke-width:1}.spheres circle.box{stroke:var(--line)}");
    for (int k = 0; k < MOST_RUNS; k++)
        for (int d = 1; d < DEPTHS; d++)
            fprintf(p->out, ".f%d.d%d{fill:color-mix(in srgb,var(--c%d) %d%%,var(--card))}", k, d,
                    k, 100 - 80 * d / (DEPTHS - 1));
    put_html(p, "</style>\n");
}

static void put_box(page *p, const picture *of)
{
    static const int edges[12][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3},
                                     {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
    const int count = of->box.dimension == 2 ? 12 - 4 : 12;
    if (of->box.domain == PLUGMC_DOMAIN_SPHERE) {
        fprintf(p->out, "<circle class=\"box\" cx=\"500\" cy=\"%.1f\" r=\"%.1f\"/>",
                500 * of->height, 500 * of->box.radius / (of->box.radius + margin_of(of)));
        return;
    }
    for (int e = 0; e < count; e++) {
        const double *a = of->corner[edges[e][0]], *b = of->corner[edges[e][1]];
        fprintf(p->out, "<line class=\"box\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
                1000 * a[0], 1000 * a[1], 1000 * b[0], 1000 * b[1]);
    }
}

static void put_as_svg(page *p, const picture *of, const char *words)
{
    const bool spheres = of->box.dimension == 3;
    if (spheres) put_depths(p);
    fprintf(
        p->out,
        "<figure class=\"picture\"><svg viewBox=\"-10 -10 1020 %.0f\" role=\"img\" class=\"%s\">",
        1000 * of->height + 20, spheres ? "spheres" : "disks");
    put_box(p, of);
    for (const spot *s = of->spots; s < of->spots + of->count; s++) {
        fprintf(p->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", 1000 * s->x, 1000 * s->y,
                1000 * s->radius);
        if (s->hue >= 0)
            fprintf(p->out, " fill=\"hsl(%d,65%%,58%%)\"", s->hue);
        else
            fprintf(p->out, " class=\"f%d d%d\"", s->species % MOST_RUNS,
                    (int)(s->depth * 0.999 * DEPTHS));
        put_html(p, "/>");
    }
    put_html(p, "</svg><figcaption>");
    put_text(p, "%s", words);
    put_html(p, "</figcaption></figure>\n");
}

/* A colour of that hue, or of the species as the light style has them. */
static unsigned colour_of(const spot *s)
{
    static const unsigned of_species[] = {0x0b62c4, 0xc2410c, 0x15803d, 0x7e22ce,
                                          0xa16207, 0x0e7490, 0xbe185d, 0x4b5563};
    if (s->hue < 0) return of_species[s->species % 8];
    unsigned rgb = 0;
    for (int k = 0; k < 3; k++) {
        const double part = 0.58 + 0.3 * cos((s->hue - 120.0 * k) * M_PI / 180);
        rgb = rgb << 8 | (unsigned)(255 * fmin(part, 1));
    }
    return rgb;
}

static void put_as_image(page *p, const picture *of, const char *words)
{
    char *script;
    size_t size;
    FILE *out = checked(open_memstream(&script, &size));
    fprintf(
        out,
        "unset border\nunset tics\nunset key\nset lmargin 0\nset rmargin 0\nset tmargin 0\nset bmargin 0\n"
        "set style fill solid noborder\nset xrange [0:1]\nset yrange [%.6f:0]\n$d << EOD\n",
        of->height);
    for (const spot *s = of->spots; s < of->spots + of->count; s++)
        fprintf(out, "%.5f %.5f %.6f %u\n", s->x, s->y, s->radius, colour_of(s));
    fprintf(out, "EOD\nplot $d using 1:2:3:4 with circles lc rgb variable\n");
    fclose(out);
    put_image(p, words, WIDTH, (int)(WIDTH * of->height), checked(script));
    free(script);
}

/* ---- What is drawn ------------------------------------------------------------------------------------- */

/* That of walker 0 now, where movers change boxes. */
static plugmc_box box_of(const shown *run)
{
    for (int i = 0; i < run->data.blob_count; i++) {
        const blob *b = &run->data.blobs[i];
        if (!strcmp(b->name, "run/boxes") && b->row == sizeof(plugmc_box) &&
            b->bytes >= sizeof(plugmc_box))
            return *(const plugmc_box *)b->data;
    }
    return run->system.box;
}

static void take_particles(picture *p)
{
    const plugmc_system *system = &p->run->system;
    p->spots = checked(calloc((size_t)p->run->data.particles + 1, sizeof *p->spots));
    for (int k = 0; k < system->species_count; k++)
        for (int64_t i = system->first[k]; i < system->first[k + 1]; i++) {
            const double *r = &p->r[3 * i];
            if (isnan(r[0])) continue;
            p->spots[p->count++] =
                (spot){.x = r[0], .y = r[1], .depth = r[2], .species = k, .hue = -1};
        }
}

static void colour_disks(picture *p)
{
    const lists l = lists_of(p);
    int64_t at = 0;
    for (int64_t i = 0; i < p->run->data.particles; i++)
        if (!isnan(p->r[3 * i])) p->spots[at++].hue = hue_of(p, &l, i);
    free(l.first);
    free(l.next);
}

static void put_species(page *p, const shown *run)
{
    put_html(p, "<p class=\"faint\">");
    for (int k = 0; k < run->system.species_count; k++) {
        fprintf(p->out, "<span class=\"key k%d\"></span>", k % MOST_RUNS);
        put_text(p, "%s  ", plugmc_species_at(&run->system, k)->name);
    }
    put_html(p, "</p>\n");
}

void put_configuration(page *p)
{
    const shown *run = &p->runs[0];
    picture of = {.run = run, .box = box_of(run), .r = run->data.positions};
    const bool disks = of.box.dimension == 2 && run->system.species_count == 1 &&
                       of.box.domain == PLUGMC_DOMAIN_PERIODIC;
    char words[256];
    take_particles(&of);
    if (disks) colour_disks(&of);
    place_spots(&of);
    if (of.box.dimension == 3) qsort(of.spots, (size_t)of.count, sizeof *of.spots, far_first);
    snprintf(words, sizeof words, "%s after sweep %llu%s: %lld particles%s",
             p->count > 1 ? "The first run" : "Walker 0", (unsigned long long)run->data.sweep,
             p->count > 1 ? ", walker 0" : "", (long long)of.count,
             disks ? ", coloured by the direction of psi_6 of the six nearest neighbours" : "");
    put_html(p, "<h2>Configuration</h2>\n");
    if (run->system.species_count > 1) put_species(p, run);
    if (of.count <= MOST_IN_SVG)
        put_as_svg(p, &of, words);
    else
        put_as_image(p, &of, words);
    free(of.spots);
}
