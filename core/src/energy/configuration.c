/* Particles of one walker in cells. */
#include "energy/configuration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int arrays_make(particle_arrays *c, int64_t n)
{
    double *numbers = malloc(5 * (size_t)(n + 1) * sizeof *numbers);
    int32_t *species = malloc((size_t)(n + 1) * sizeof *species);
    *c = (particle_arrays){numbers, NULL, NULL, NULL, NULL, species};
    if (!numbers || !species) return -1;
    c->y = c->x + n;
    c->z = c->y + n;
    c->charge = c->z + n;
    c->diameter = c->charge + n;
    return 0;
}

plugmc_particles arrays_slice(const particle_arrays *c, int64_t begin, int64_t end)
{
    return (plugmc_particles){end - begin,       c->x + begin,      c->y + begin,
                              c->z + begin,      c->charge + begin, c->diameter + begin,
                              c->species + begin};
}

int configuration_make(configuration *c, const plugmc_system *system, double reach)
{
    *c = (configuration){.system = system, .n = system->particles, .reach = reach};
    c->next = malloc((size_t)(c->n + 1) * sizeof *c->next);
    c->counts = calloc((size_t)system->species_count + 1, sizeof *c->counts);
    if (arrays_make(&c->all, c->n) || arrays_make(&c->near, c->n) || !c->next || !c->counts)
        return -1;
    for (int32_t k = 0; k < system->species_count; k++)
        for (int64_t i = system->first[k]; i < system->first[k + 1]; i++) {
            c->all.charge[i] = plugmc_species_at(system, k)->charge;
            c->all.diameter[i] = plugmc_species_at(system, k)->diameter;
            c->all.species[i] = k;
        }
    return 0;
}

void configuration_free(configuration *c)
{
    free(c->all.x), free(c->all.species);
    free(c->near.x), free(c->near.species);
    free(c->head), free(c->next), free(c->counts);
    *c = (configuration){0};
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void cell_coordinates(const configuration *c, const double r[3], int32_t cell[3])
{
    const double origin = c->box.domain == PLUGMC_DOMAIN_SPHERE ? -c->box.radius : 0;
    for (int d = 0; d < 3; d++) {
        double at = c->count[d] > 1 ? (r[d] - origin) / c->width[d] : 0;
        cell[d] = at < c->count[d] ? (int32_t)at : c->count[d] - 1;
    }
}

static int64_t cell_number(const configuration *c, const int32_t cell[3])
{
    return cell[0] + c->count[0] * (cell[1] + (int64_t)c->count[1] * cell[2]);
}

static int32_t *cell_of(configuration *c, int64_t i)
{
    int32_t cell[3];
    cell_coordinates(c, (double[]){c->all.x[i], c->all.y[i], c->all.z[i]}, cell);
    return &c->head[cell_number(c, cell)];
}

/* Kept in the order of the index. */
static void cell_add(configuration *c, int64_t i)
{
    if (c->reach == 0) return;
    int32_t *link = cell_of(c, i);
    while (*link >= 0 && *link < i) link = &c->next[*link];
    c->next[i] = *link;
    *link = (int32_t)i;
}

static void cell_remove(configuration *c, int64_t i)
{
    if (c->reach == 0) return;
    int32_t *link = cell_of(c, i);
    while (*link != i && *link >= 0) link = &c->next[*link];
    if (*link == i)
        *link = c->next[i];
    else
        c->overwritten = true;
}

/* ---- Places ---------------------------------------------------------------------------------- */

static void put(configuration *c, int64_t i, const double r[3])
{
    c->all.x[i] = r[0];
    c->all.y[i] = r[1];
    c->all.z[i] = r[2];
    cell_add(c, i);
}

void configuration_set_counts(configuration *c, const int64_t *count)
{
    c->present = 0;
    for (int32_t s = 0; s < c->system->species_count; s++) c->present += c->counts[s] = count[s];
}

/* Whoever is there, the largest number first, so that each goes to the front of its cell. */
static void put_all(configuration *c, const double *positions)
{
    const int64_t *first = c->system->first;
    for (int32_t s = c->system->species_count - 1; s >= 0; s--)
        for (int64_t i = first[s + 1] - 1; i >= first[s]; i--) {
            double r[3] = {positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]};
            if (i < first[s] + c->counts[s]) {
                plugmc_wrap(&c->box, r);
                put(c, i, r);
            } else {
                c->all.x[i] = c->all.y[i] = c->all.z[i] = NAN;
            }
        }
}

int configuration_fill(configuration *c, const plugmc_box *box, const int64_t *count,
                       const double *positions)
{
    configuration_set_counts(c, count);
    c->box = *box;
    /* a hair wider than the reach, for rounding */
    const double width = c->reach > 0 ? c->reach * (1 + 1e-12) : INFINITY;
    c->cells = plugmc_choose_cells(box, c->n, width, c->count, c->width);
    if (c->cells > c->room) {
        free(c->head);
        c->head = malloc((size_t)c->cells * sizeof *c->head);
        c->room = c->head ? c->cells : 0;
        if (!c->head) return -1;
    }
    for (int64_t k = 0; k < c->cells; k++) c->head[k] = -1;
    put_all(c, positions);
    return 0;
}

void configuration_move(configuration *c, int64_t i, const double to[3])
{
    cell_remove(c, i);
    put(c, i, to);
}

void configuration_insert(configuration *c, int32_t species, const double at[3])
{
    put(c, c->system->first[species] + c->counts[species]++, at);
    c->present++;
}

void configuration_remove(configuration *c, int64_t i)
{
    const int32_t species = c->all.species[i];
    const int64_t last = c->system->first[species] + --c->counts[species];
    double at[3];
    configuration_place(c, last, at);
    cell_remove(c, i);
    if (last != i) {
        cell_remove(c, last);
        put(c, i, at);
    }
    c->all.x[last] = c->all.y[last] = c->all.z[last] = NAN;
    c->present--;
}

void configuration_hide(configuration *c, const int64_t *sorted, int32_t n)
{
    for (int32_t k = 0; k < n; k++) cell_remove(c, sorted[k]);
    c->hidden = sorted;
    c->hidden_count = n;
}

void configuration_show(configuration *c)
{
    for (int32_t k = 0; k < c->hidden_count; k++) cell_add(c, c->hidden[k]);
    c->hidden = NULL;
    c->hidden_count = 0;
}

/* ---- Who is there ---------------------------------------------------------------------------- */

/* Coordinates k - 1, k, k + 1 of the cells around in one direction, each cell once. */
static int line_around(const configuration *c, int d, int32_t k, int32_t out[3])
{
    const int32_t count = c->count[d];
    const int periodic = c->box.domain == PLUGMC_DOMAIN_PERIODIC && count >= 3;
    int n = 0;
    if (periodic || k > 0) out[n++] = k > 0 ? k - 1 : count - 1;
    out[n++] = k;
    if (periodic || k + 1 < count) out[n++] = k + 1 < count ? k + 1 : 0;
    return n;
}

/* Those of a cell, but i, j and whoever is not after `after`, behind the `found` that are there. */
static int64_t add_cell(configuration *c, int64_t cell, int64_t i, int64_t j, int64_t after,
                        int64_t found)
{
    const particle_arrays *all = &c->all, *out = &c->near;
    for (int32_t k = c->head[cell]; k >= 0; k = c->next[k]) {
        if (k == i || k == j || k <= after) continue;
        out->x[found] = all->x[k];
        out->y[found] = all->y[k];
        out->z[found] = all->z[k];
        out->charge[found] = all->charge[k];
        out->diameter[found] = all->diameter[k];
        out->species[found++] = all->species[k];
    }
    return found;
}

plugmc_particles configuration_near(configuration *c, int64_t i, int64_t j, int64_t after,
                                    const double place[3])
{
    int32_t at[3], around[3][3];
    int n[3];
    int64_t found = 0;
    if (c->reach == 0) return arrays_slice(&c->near, 0, 0);
    cell_coordinates(c, place, at);
    for (int d = 0; d < 3; d++) n[d] = line_around(c, d, at[d], around[d]);
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                const int32_t cell[3] = {around[0][x], around[1][y], around[2][z]};
                found = add_cell(c, cell_number(c, cell), i, j, after, found);
            }
    return arrays_slice(&c->near, 0, found);
}

void configuration_place(const configuration *c, int64_t i, double at[3])
{
    at[0] = c->all.x[i];
    at[1] = c->all.y[i];
    at[2] = c->all.z[i];
}

plugmc_particle configuration_particle(const configuration *c, int32_t species, const double r[3])
{
    const plugmc_species *s = plugmc_species_at(c->system, species);
    return (plugmc_particle){r[0], r[1], r[2], s->charge, s->diameter, species};
}

int configuration_most_ranges(const configuration *c)
{
    return c->system->species_count + 2 + c->hidden_count;
}

/* Splits n ranges at hidden particles; both are ascending. */
static int without_hidden(const configuration *c, int n, number_range *out)
{
    number_range all[c->system->species_count + 2];
    int count = 0;
    int32_t k = 0;
    memcpy(all, out, sizeof *out * (size_t)n);
    for (int r = 0; r < n; r++) {
        number_range rest = all[r];
        for (; k < c->hidden_count && c->hidden[k] < rest.end; k++) {
            if (c->hidden[k] > rest.first) out[count++] = (number_range){rest.first, c->hidden[k]};
            rest.first = c->hidden[k] + 1;
        }
        if (rest.end > rest.first) out[count++] = rest;
    }
    return count;
}

int configuration_ranges(const configuration *c, int64_t i, int64_t j, int64_t after,
                         number_range *out)
{
    const int64_t excluded[2] = {i < j ? i : j, i < j ? j : i};
    int n = 0;
    for (int32_t s = 0; s < c->system->species_count; s++) {
        const number_range own = {c->system->first[s], c->system->first[s] + c->counts[s]};
        if (n && out[n - 1].end == own.first)
            out[n - 1].end = own.end; /* as one, where all are there */
        else if (own.end > own.first)
            out[n++] = own;
    }
    for (int k = 0; k < n; k++) { /* `after` cuts off a beginning */
        if (out[k].first <= after) out[k].first = after + 1 < out[k].end ? after + 1 : out[k].end;
    }
    for (int l = 0; l < 2; l++)
        for (int k = 0; k < n && excluded[l] >= 0; k++) {
            if (excluded[l] < out[k].first || excluded[l] >= out[k].end) continue;
            memmove(&out[k + 1], &out[k], sizeof *out * (size_t)(n++ - k));
            out[k].end = excluded[l];
            out[++k].first = excluded[l] + 1;
        }
    return c->hidden_count ? without_hidden(c, n, out) : n;
}

int configuration_inside(const configuration *c, const double r[3])
{
    return c->box.domain == PLUGMC_DOMAIN_PERIODIC ||
           r[0] * r[0] + r[1] * r[1] + r[2] * r[2] <= c->box.radius * c->box.radius;
}
