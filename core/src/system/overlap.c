/* Contact distances of the sampled terms, and the search for overlapping particles. */
#include <math.h>
#include <stdlib.h>

#include "base/crash.h"
#include "base/report.h"
#include "system/geometry.h"
#include "system/molecule_kinds.h"
#include "system/system.h"

double ball_volume(int dimension, double diameter)
{
    return dimension == 2 ? M_PI / 4 * diameter * diameter
                          : M_PI / 6 * diameter * diameter * diameter;
}

double close_packing(int dimension)
{
    return dimension == 2 ? M_PI / (2 * sqrt(3)) : M_PI / (3 * sqrt(2));
}

int32_t species_of(const plugmc_system *system, int64_t i)
{
    int32_t s = 0;
    while (i >= system->first[s + 1]) s++;
    return s;
}

/* The facets of a term that is part of -ln p; NULL for one that is only measured. */
static const plugmc_potential *sampled(const plugmc_term *term)
{
    return term->sampled ? term->plugin->potential : NULL;
}

static plugmc_particle particle_of(const plugmc_system *system, int32_t species)
{
    return (plugmc_particle){.charge = plugmc_species_at(system, species)->charge,
                             .diameter = plugmc_species_at(system, species)->diameter,
                             .species = species};
}

/* Twice the radius of the largest body, or the range of the energy of bodies. */
static double reach_of_bodies(const plugmc_system *system, const plugmc_term *term)
{
    const plugmc_body *body = plugmc_body_of(term->plugin);
    double reach = body->range(term->instance);
    for (int32_t a = 0; a < system->species_count; a++) {
        const plugmc_particle of_species = particle_of(system, a);
        reach = fmax(reach, 2 * body->reach(term->instance, &of_species));
    }
    return reach;
}

double particle_volume(const plugmc_system *system, int32_t species)
{
    const plugmc_particle one = particle_of(system, species);
    double volume = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_body *body = sampled(term) ? plugmc_body_of(term->plugin) : NULL;
        if (!body) continue;
        const crash_record outer = crash_calling_potential(term->label, "volume");
        if (body->reach(term->instance, &one) > 0)
            volume = fmax(volume, body->volume(term->instance, &one));
        crash_called_within(outer);
    }
    return volume > 0 ? volume : ball_volume(system->box.dimension, one.diameter);
}

double reach_of_term(const plugmc_system *system, const plugmc_term *term)
{
    const plugmc_pair *pair = term->plugin->potential->pair;
    const crash_record outer = crash_calling_potential(term->label, "range");
    double reach = plugmc_body_of(term->plugin) ? reach_of_bodies(system, term) : 0;
    if (!pair) {
        crash_called_within(outer);
        return reach;
    }
    reach = fmax(reach, pair->range(term->instance));
    crash_calling_potential(term->label, "contact");
    for (int32_t a = 0; a < system->species_count; a++)
        for (int32_t b = 0; b < system->species_count; b++) {
            plugmc_particle pa = particle_of(system, a), pb = particle_of(system, b);
            reach = fmax(reach, pair->contact(term->instance, &pa, &pb));
        }
    crash_called_within(outer);
    return reach;
}

int contacts_make(const plugmc_system *system, contacts *out)
{
    const int32_t n = system->species_count;
    *out = (contacts){.species = n, .between = calloc((size_t)n * (size_t)n, sizeof(double))};
    if (!out->between) return EXIT_MEMORY;
    for (int t = 0; t < system->term_count; t++) {
        const plugmc_potential *potential = sampled(plugmc_term_at(system, t));
        const plugmc_pair *pair = potential ? potential->pair : NULL;
        if (!pair) continue;
        crash_calling_potential(plugmc_term_at(system, t)->label, "contact");
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++) {
                plugmc_particle pa = particle_of(system, a), pb = particle_of(system, b);
                double contact = pair->contact(plugmc_term_at(system, t)->instance, &pa, &pb);
                out->between[a * n + b] = fmax(out->between[a * n + b], contact);
                out->largest = fmax(out->largest, contact);
            }
        crash_called();
    }
    return EXIT_DONE;
}

void contacts_free(contacts *contacts)
{
    free(contacts->between);
    contacts->between = NULL;
}

/* A double has 16 digits: half of them are left at 10^8 boxes. */
int far_away(const plugmc_box *box, const double r[3])
{
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) return 0; /* nothing is wrapped */
    for (int d = 0; d < box->dimension; d++)
        if (!(fabs(r[d]) <= 1e8 * box->length[d])) return 1;
    return 0;
}

int forbidden(const plugmc_system *system, int32_t species, const double r[3])
{
    const plugmc_box *box = &system->box;
    if (box->domain == PLUGMC_DOMAIN_SPHERE &&
        r[0] * r[0] + r[1] * r[1] + r[2] * r[2] > box->radius * box->radius)
        return 1;
    const plugmc_particle a = particle_of(system, species);
    const plugmc_particles one = {1, &r[0], &r[1], &r[2], &a.charge, &a.diameter, &a.species};
    for (int t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_field *field = sampled(term) ? term->plugin->potential->field : NULL;
        double energy = 0;
        if (!field) continue;
        crash_calling_potential(term->label, "energy");
        const int64_t outside = field->energy(term->instance, &one, &energy);
        crash_called();
        if (outside) return 1;
    }
    return 0;
}

/* Square of the distance of the nearest images, with the operations of plugmc/pair.h. */
static double distance_square(const plugmc_box *box, const double a[3], const double b[3])
{
    double square = 0;
    for (int d = 0; d < 3; d++) {
        double x = a[d] - b[d];
        if (box->domain == PLUGMC_DOMAIN_PERIODIC)
            x -= box->length[d] * rint(x * (1 / box->length[d]));
        square += x * x;
    }
    return square;
}

/* The first j > i that overlaps with i, or -1. */
static int64_t first_partner(const plugmc_system *system, const contacts *contacts,
                             const plugmc_cells *cells, const cell_grid *grid, int64_t i,
                             const double at[3], overlap *out)
{
    const double *between = contacts->between + species_of(system, i) * contacts->species;
    int64_t around[27], found = -1;
    int n = cells_around(grid, cell_of(grid, at), around);
    for (int k = 0; k < n; k++) {
        for (uint32_t e = cells->start[around[k]]; e < cells->start[around[k] + 1]; e++) {
            int64_t j = cells->order[e];
            if (j <= i || (found >= 0 && j >= found) || in_same_molecule(system, i, j)) continue;
            double r2 = distance_square(&system->box, at, &cells->positions[3 * e]);
            double contact = between[species_of(system, j)];
            if (r2 < contact * contact) {
                found = j;
                *out = (overlap){i, j, sqrt(r2), contact};
            }
        }
    }
    return found;
}

/* Particle i is where it may not be, or overlaps with one behind it. */
static bool is_out_of_place(const plugmc_system *system, const contacts *contacts,
                            const plugmc_cells *cells, const cell_grid *grid, int64_t i,
                            const double position[3], overlap *out)
{
    double at[3] = {position[0], position[1], position[2]};
    const double distance = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
    plugmc_wrap(&system->box, at);
    if (!isfinite(distance) || forbidden(system, species_of(system, i), at)) {
        *out = (overlap){i, -1, distance, 0};
        return true;
    }
    return contacts->largest > 0 && first_partner(system, contacts, cells, grid, i, at, out) >= 0;
}

int find_overlap(const plugmc_system *system, const double *positions, overlap *out)
{
    plugmc_system one = *system;
    contacts contacts = {0};
    plugmc_cells cells = {0};
    one.walkers = 1;
    if (contacts_make(system, &contacts)) return -1;
    const cell_grid grid = cell_grid_make(&system->box, 1, system->particles, contacts.largest);
    if (host_cells_build(&one, &one.box, positions, contacts.largest, &cells)) {
        contacts_free(&contacts);
        return -1;
    }
    int64_t first = system->particles; /* of those found */
#pragma omp parallel for schedule(static) num_threads(system->threads)                             \
    reduction(min                                                                                  \
              : first) if (system->particles >= FEW_FOR_THREADS)
    for (int64_t i = 0; i < system->particles; i++) {
        overlap unused;
        if (i < first &&
            is_out_of_place(system, &contacts, &cells, &grid, i, &positions[3 * i], &unused))
            first = i;
    }
    const int found = first < system->particles;
    if (found) is_out_of_place(system, &contacts, &cells, &grid, first, &positions[3 * first], out);
    host_cells_free(&cells);
    contacts_free(&contacts);
    return found;
}
