/* places.c: hard cores, and places rounded to a quantum where pairs are summed in float. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sequential.h"

enum { FARTHEST_QUANTA = 8 };

/* The quantum is the smallest power of two whose multiples float holds exactly everywhere in the
 * domain, and their differences too. */
brush_domain domain_of(const plugmc_box *box, int precision)
{
    brush_domain d = {.radius2 = box->radius * box->radius,
                      .dimension = box->dimension,
                      .periodic = box->domain == PLUGMC_DOMAIN_PERIODIC,
                      .oblique = box->oblique};
    double extent = 0; /* of the coordinates on either side of their middle */
    memcpy(d.edge, box->length, sizeof d.edge);
    memcpy(d.vector, box->vector, sizeof d.vector);
    memcpy(d.inverse, box->inverse, sizeof d.inverse);
    for (int k = 0; k < box->dimension; k++) extent += box->oblique ? box->length[k] : 0;
    for (int k = 0; k < box->dimension; k++) extent = fmax(extent, 0.5 * box->length[k]);
    if (precision == SINGLE) d.quantum = exp2(ceil(log2(extent)) - 23);
    return d;
}

/* ---- Hard cores ------------------------------------------------------------------------------ */

/* Largest distance at which two particles overlap, in double precision. */
double largest_contact(const plugmc_system *system)
{
    double contact = 0;
    for (int32_t k = 0; k < system->species_count * system->species_count; k++) {
        const int32_t a = k / system->species_count, b = k % system->species_count;
        const plugmc_species *sa = plugmc_species_at(system, a), *sb = plugmc_species_at(system, b);
        const plugmc_particle pa = {0, 0, 0, sa->charge, sa->diameter, a},
                              pb = {0, 0, 0, sb->charge, sb->diameter, b};
        for (int32_t t = 0; t < system->term_count; t++) {
            const plugmc_pair *pair = plugmc_term_at(system, t)->plugin->potential->pair;
            if (plugmc_term_at(system, t)->sampled && pair)
                contact =
                    fmax(contact, pair->contact(plugmc_term_at(system, t)->instance, &pa, &pb));
        }
    }
    return contact;
}

/* Factor on contact distances, so that places that do not overlap in float do not overlap in double
 * either: the rounding of a distance, and in a periodic box the difference between its edges and
 * what float makes of them. */
double contact_margin(const plugmc_system *system, const plugmc_box *box, int precision)
{
    const double contact = largest_contact(system);
    double edges = 0;
    if (precision != SINGLE || !(contact > 0)) return 1;
    for (int d = 0; d < box->dimension && box->domain == PLUGMC_DOMAIN_PERIODIC; d++)
        edges += fabs(box->length[d] - (double)(float)box->length[d]);
    return 1 + 0x1p-22 + edges / contact;
}

void cell_coordinates(const grid *g, const double r[3], int32_t c[3])
{
    for (int d = 0; d < 3; d++) {
        const double at = g->count[d] > 1 ? (r[d] - g->origin) / g->width[d] : 0;
        c[d] = at < g->count[d] ? (int32_t)fmax(at, 0) : g->count[d] - 1;
    }
}

/* The cells around a place, each once. */
int cells_around(const grid *g, int periodic, const double r[3], int64_t out[27])
{
    int32_t c[3], line[3][3];
    int n[3] = {0, 0, 0}, found = 0;
    cell_coordinates(g, r, c);
    for (int d = 0; d < 3; d++)
        for (int32_t k = c[d] - 1; k <= c[d] + 1; k++)
            if ((periodic && g->count[d] >= 3) || (k >= 0 && k < g->count[d]))
                line[d][n[d]++] = (k + g->count[d]) % g->count[d];
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                out[found++] =
                    line[0][x] + g->count[0] * (line[1][y] + (int64_t)g->count[1] * line[2][z]);
    return found;
}

/* ---- Places that touch after rounding -------------------------------------------------------- */

static int32_t species_of(const plugmc_system *system, int64_t i)
{
    int32_t s = 0;
    while (i >= system->first[s + 1]) s++;
    return s;
}

static plugmc_particle particle_there(const sequential *me, int64_t i, const double r[3])
{
    const int32_t s = species_of(me->system, i);
    const plugmc_species *species = plugmc_species_at(me->system, s);
    return (plugmc_particle){r[0], r[1], r[2], species->charge, species->diameter, s};
}

/* With how many of a handful a particle overlaps, in double precision. */
static int64_t overlaps_with(const sequential *me, int32_t w, const plugmc_particle *p,
                             const handful *h)
{
    const plugmc_particles others = {h->n, h->x, h->y, h->z, h->charge, h->diameter, h->species};
    int64_t overlaps = 0;
    double unused = 0;
    for (int t = 0; t < me->term_count; t++) {
        const plugmc_term *of = me->terms[t].of;
        if (me->terms[t].pair)
            overlaps += of->plugin->potential->pair->energy(
                of->instance, &me->now.box[w], me->domain.periodic, p, &others, &unused);
    }
    return overlaps;
}

/* May particle i be at r, as far as those in the cells around are concerned? The cells were made
 * before anybody was parted, and are wider than contact by more than anybody was moved. */
static int is_free(const sequential *me, const plugmc_cells *cells, int32_t w, int64_t i,
                   const plugmc_particle *p, const double *positions)
{
    const uint32_t *start = cells->start + w * (cells->cells + 1);
    const uint32_t *order = cells->order + w * me->system->particles;
    const double *length = me->now.box[w].length;
    const grid g = {
        {cells->count[0], cells->count[1], cells->count[2]},
        {length[0] / cells->count[0], length[1] / cells->count[1], length[2] / cells->count[2]},
        me->domain.periodic ? 0 : -me->now.box[w].radius,
        cells->cells};
    const double r[3] = {p->x, p->y, p->z};
    int64_t around[27], overlaps = 0;
    handful h = {0};
    const int count = cells_around(&g, me->domain.periodic, r, around);
    for (int c = 0; c < count && !overlaps; c++)
        for (uint32_t e = start[around[c]]; e < start[around[c] + 1] && !overlaps; e++) {
            const int64_t j = order[e];
            if (j == i) continue;
            const plugmc_particle q = particle_there(me, j, &positions[3 * j]);
            h.x[h.n] = q.x, h.y[h.n] = q.y, h.z[h.n] = q.z;
            h.charge[h.n] = q.charge, h.diameter[h.n] = q.diameter, h.species[h.n++] = q.species;
            if (h.n < HANDFUL) continue;
            overlaps = overlaps_with(me, w, p, &h);
            h.n = 0;
        }
    return !overlaps && (h.n == 0 || !overlaps_with(me, w, p, &h));
}

/* May particle i be at r? cells: NULL if there are no hard cores. */
static int fits(const sequential *me, const plugmc_cells *cells, int32_t w, int64_t i,
                const double r[3], const double *positions)
{
    int64_t forbidden = 0;
    if (!me->domain.periodic && r[0] * r[0] + r[1] * r[1] + r[2] * r[2] > me->domain.radius2)
        return 0;
    const plugmc_particle p = particle_there(me, i, r);
    sequential_fields(me, w, &p, &forbidden);
    return !forbidden && (!cells || is_free(me, cells, w, i, &p, positions));
}

/* Particle i goes to the nearest place of a few quanta where it fits; 0 if there is none. */
static int find_place(const sequential *me, const plugmc_cells *cells, int32_t w, int64_t i,
                      double *positions)
{
    const brush_domain *domain = &me->now.of[w].domain;
    const double q = domain->quantum;
    double *here = positions + 3 * i, r[3];
    const int flat = me->domain.dimension == 2;
    for (int reach = 0; reach <= FARTHEST_QUANTA; reach++)
        for (int x = -reach; x <= reach; x++)
            for (int y = -reach; y <= reach; y++)
                for (int z = flat ? 0 : -reach; z <= (flat ? 0 : reach); z++) {
                    if (abs(x) < reach && abs(y) < reach && abs(z) < reach) continue;
                    r[0] = here[0] + x * q;
                    r[1] = here[1] + y * q;
                    r[2] = here[2] + z * q;
                    brush_wrap(domain, r);
                    brush_round(domain, r);
                    if (!fits(me, cells, w, i, r, positions)) continue;
                    memcpy(here, r, sizeof r);
                    return 1;
                }
    return 0;
}

/* Rounding may bring together what just did not touch, or push out of the domain: such particles go
 * to the nearest quanta where they fit. Those that rounding has left alone stay where they are, so
 * that a resumed run begins with the places that it ended with, whatever the last bit of a distance
 * says about them. */
int part_touching(const sequential *me, const plugmc_host *host, const char *rounded,
                  double *positions)
{
    const plugmc_system *system = me->system;
    const double contact = largest_contact(system);
    const int64_t n = system->particles;
    plugmc_view view = {.size = sizeof view};
    plugmc_cells cells = {.size = sizeof cells};
    double quantum = 0;
    for (int32_t w = 0; w < system->walkers; w++)
        quantum = fmax(quantum, me->now.of[w].domain.quantum);
    if (contact > 0) {
        TRY(host->view(host->context, positions, 0, &view));
        TRY(view.cells(&view, contact + 4 * FARTHEST_QUANTA * quantum, &cells));
    }
    for (int32_t w = 0; w < system->walkers; w++)
        for (int64_t i = 0; i < n; i++)
            if (rounded[w * n + i] &&
                !find_place(me, contact > 0 ? &cells : NULL, w, i, positions + 3 * w * n))
                return host->fail(
                    host->context, PLUGMC_ERROR_INPUT,
                    "particle %lld of walker %d overlaps, or is in a forbidden region, when "
                    "positions are rounded to %g: use precision = double",
                    (long long)i, w, me->now.of[w].domain.quantum);
    return PLUGMC_OK;
}
