/* Particles of one walker in cells. */
#include "energy/configuration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int arrays_make(particle_arrays *c, int64_t n, bool bodies)
{
    double *numbers = malloc(5 * (size_t)(n + 1) * sizeof *numbers);
    int32_t *species = malloc((size_t)(n + 1) * sizeof *species);
    plugmc_orientation *orientation = bodies ? calloc((size_t)(n + 1), sizeof *orientation) : NULL;
    *c = (particle_arrays){numbers, NULL, NULL, NULL, NULL, species, orientation};
    if (!numbers || !species || (bodies && !orientation)) return -1;
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
    *c = (configuration){.system = system, .n = system->particles, .cells.reach = reach};
    c->slots = malloc((size_t)(c->n + CELL_LANES) * sizeof *c->slots);
    c->counts = calloc((size_t)system->species_count + 1, sizeof *c->counts);
    if (arrays_make(&c->all, c->n, system->bodies) || arrays_make(&c->near, c->n, system->bodies) ||
        !c->slots || !c->counts)
        return -1;
    for (int32_t k = 0; k < system->species_count; k++)
        for (int64_t i = system->first[k]; i < system->first[k + 1]; i++) {
            c->all.charge[i] = c->near.charge[i] = plugmc_species_at(system, k)->charge;
            c->all.diameter[i] = c->near.diameter[i] = plugmc_species_at(system, k)->diameter;
            c->all.species[i] = c->near.species[i] = k;
        }
    return 0;
}

void configuration_free(configuration *c)
{
    free(c->all.x), free(c->all.species), free(c->all.orientation);
    free(c->near.x), free(c->near.species), free(c->near.orientation);
    free(c->slots), free(c->counts);
    cells_free(&c->cells);
    *c = (configuration){0};
}

static void cell_add(configuration *c, int64_t i)
{
    const double at[3] = {c->all.x[i], c->all.y[i], c->all.z[i]};
    if (c->cells.reach > 0 && cells_add(&c->cells, &c->box, i, at)) c->no_memory = true;
}

static void cell_remove(configuration *c, int64_t i)
{
    const double at[3] = {c->all.x[i], c->all.y[i], c->all.z[i]};
    if (c->cells.reach > 0 && cells_remove(&c->cells, &c->box, i, at)) c->overwritten = true;
}

/* ---- Positions ------------------------------------------------------------------------------- */

static void set_position(configuration *c, int64_t i, const double r[3])
{
    c->all.x[i] = r[0];
    c->all.y[i] = r[1];
    c->all.z[i] = r[2];
}

static void put(configuration *c, int64_t i, const double r[3])
{
    set_position(c, i, r);
    cell_add(c, i);
}

void configuration_set_counts(configuration *c, const int64_t *count)
{
    c->present = 0;
    for (int32_t s = 0; s < c->system->species_count; s++) c->present += c->counts[s] = count[s];
}

static void put_all(configuration *c, const double *positions)
{
    const int64_t *first = c->system->first;
    for (int32_t s = 0; s < c->system->species_count; s++)
        for (int64_t i = first[s]; i < first[s + 1]; i++) {
            double r[3] = {positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]};
            if (i < first[s] + c->counts[s]) {
                plugmc_wrap(&c->box, r);
                put(c, i, r);
            } else {
                set_position(c, i, (const double[]){NAN, NAN, NAN});
            }
        }
}

int configuration_fill(configuration *c, const plugmc_box *box, const int64_t *count,
                       const double *positions, const plugmc_orientation *orientations)
{
    configuration_set_counts(c, count);
    c->box = *box;
    if (c->all.orientation && orientations != c->all.orientation)
        memcpy(c->all.orientation, orientations, (size_t)c->n * sizeof *orientations);
    c->no_memory = c->cells.reach > 0 && cells_arrange(&c->cells, box, c->present);
    if (!c->no_memory) put_all(c, positions);
    return c->no_memory ? -1 : 0;
}

void configuration_move(configuration *c, int64_t i, const double to[3])
{
    double from[3];
    configuration_place(c, i, from);
    const int code = c->cells.reach > 0 ? cells_move_within(&c->cells, &c->box, i, from, to) : 0;
    if (code < 0) c->overwritten = true;
    if (code <= 0) {
        set_position(c, i, to);
        return;
    }
    cell_remove(c, i);
    put(c, i, to);
}

const plugmc_orientation *configuration_orientation(const configuration *c, int64_t i)
{
    return c->all.orientation ? &c->all.orientation[i] : NULL;
}

void configuration_turn(configuration *c, int64_t i, const plugmc_orientation *orientation)
{
    c->all.orientation[i] = *orientation;
}

void configuration_insert(configuration *c, int32_t species, const double at[3],
                          const plugmc_orientation *orientation)
{
    const int64_t i = c->system->first[species] + c->counts[species]++;
    put(c, i, at);
    if (c->all.orientation) configuration_turn(c, i, orientation);
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
        if (c->all.orientation) configuration_turn(c, i, &c->all.orientation[last]);
    }
    set_position(c, last, (const double[]){NAN, NAN, NAN});
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

/* ---- Neighbours ------------------------------------------------------------------------------ */

bool configuration_is_step(const configuration *c, const double at[3], const double to[3])
{
    return c->cells.reach == 0 || cells_are_adjacent(&c->cells, &c->box, at, to);
}

plugmc_particles configuration_near(configuration *c, int64_t i, int64_t j, int64_t after,
                                    const double at[3], const double *to)
{
    const cell_arrays *cells = &c->cells;
    const particle_arrays *all = &c->all, *near = &c->near;
    const bool many_species = c->system->species_count > 1;
    if (cells->reach == 0) return arrays_slice(near, 0, 0);
    const int64_t candidates = cells_near(cells, &c->box, at, to, c->slots);
    int64_t n = 0;
    for (int64_t k = 0; k < candidates; k++) {
        const int32_t slot = c->slots[k], particle = cells->particle[slot];
        near->x[n] = cells->x[slot];
        near->y[n] = cells->y[slot];
        near->z[n] = cells->z[slot];
        if (many_species) { /* else they are the same for all */
            near->charge[n] = all->charge[particle];
            near->diameter[n] = all->diameter[particle];
            near->species[n] = all->species[particle];
        }
        if (all->orientation) near->orientation[n] = all->orientation[particle];
        n += particle != i && particle != j && particle > after;
    }
    return arrays_slice(near, 0, n);
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
            if (c->hidden[k] >= rest.first) rest.first = c->hidden[k] + 1;
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
