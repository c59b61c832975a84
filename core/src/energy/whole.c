/* See whole.h. Each pair once, cell by cell: the candidates around a cell are gathered once for all of its particles. */
#include "energy/whole.h"

#include <string.h>

#include "energy/cell_pairs.h"
#include "energy/parts.h"
#include "system/molecule_kinds.h"

/* Takes those out that are in the molecule of particle i. Returns how many are left of n. */
static int64_t without_siblings(const configuration *c, int64_t i, int64_t n)
{
    const cell_candidates *found = &c->cells.candidates;
    int64_t left = 0;
    if (!c->system->molecules || c->system->molecule[i] < 0) return n;
    for (int64_t m = 0; m < n; m++) {
        for (int d = 0; d < 3; d++) found->near[d][left] = found->near[d][m];
        found->near_particle[left] = found->near_particle[m];
        left += !in_same_molecule(c->system, i, found->near_particle[m]);
    }
    return left;
}

/* The candidates that are near particle k of a cell, as the pair functions want them. Arrays of a single species are the
 * same for any particles. */
static plugmc_particles neighbours(configuration *c, int64_t k, int64_t candidates)
{
    const cell_candidates *found = &c->cells.candidates;
    const particle_arrays *all = &c->all, *near = &c->near;
    const int64_t n =
        without_siblings(c, found->particle[k], cells_pick(&c->cells, &c->box, k, candidates));
    for (int64_t m = 0; m < n && c->system->species_count > 1; m++) {
        const int32_t particle = found->near_particle[m];
        near->charge[m] = all->charge[particle];
        near->diameter[m] = all->diameter[particle];
        near->species[m] = all->species[particle];
    }
    for (int64_t m = 0; m < n && all->orientation; m++)
        near->orientation[m] = all->orientation[found->near_particle[m]];
    return (plugmc_particles){n,
                              found->near[0],
                              found->near[1],
                              found->near[2],
                              near->charge,
                              near->diameter,
                              near->species};
}

/* Pairs whose first particle is in a cell. */
static bool pairs_of_cell(const hamiltonian *h, configuration *c, int64_t cell, double *energy)
{
    const int64_t candidates = cells_gather(&c->cells, &c->box, cell);
    const cell_candidates *found = &c->cells.candidates;
    for (int64_t k = 0; k < c->cells.n[cell]; k++) {
        const double at[3] = {found->at[0][k], found->at[1][k], found->at[2][k]};
        const plugmc_particle particle =
            configuration_particle(c, c->all.species[found->particle[k]], at);
        const plugmc_orientation *turned = configuration_orientation(c, found->particle[k]);
        const plugmc_particles near = neighbours(c, k, candidates);
        for (int t = 0; t < h->count && near.n; t++)
            if (term_energy(&h->terms[t], c, &particle, turned, &near, c->near.orientation,
                            energy) > 0)
                return true;
    }
    return false;
}

static bool fields(const hamiltonian *h, const configuration *c, const number_range *there,
                   int ranges, double *energy)
{
    for (int t = 0; t < h->count; t++) {
        const energy_term *term = &h->terms[t];
        for (int r = 0; r < ranges && term->field; r++) {
            const plugmc_particles all = arrays_slice(&c->all, there[r].first, there[r].end);
            if (term->field->energy(term->of->instance, &all, &energy[term->index]) > 0)
                return true;
        }
    }
    return false;
}

/* Pairs of any range. */
static bool all_pairs(const hamiltonian *h, const configuration *c, const number_range *there,
                      int ranges, double *energy)
{
    for (int r = 0; r < ranges; r++)
        for (int64_t i = there[r].first; i < there[r].end; i++) {
            double at[3];
            int64_t siblings[PLUGMC_MOST_SITES];
            configuration others = *c;
            others.hidden = siblings;
            others.hidden_count = sites_with(c->system, i, siblings);
            configuration_place(c, i, at);
            const probe p = {i, -1, i, c->all.species[i], at, NULL};
            if (far_energy(h, &others, &p, NULL, energy)) return true;
        }
    return false;
}

bool whole_energy(const hamiltonian *h, configuration *c, double *energy)
{
    number_range there[configuration_most_ranges(c)];
    const int ranges = configuration_ranges(c, -1, -1, -1, there);
    memset(energy, 0, sizeof *energy * (size_t)h->system->term_count);
    if (fields(h, c, there, ranges, energy)) return true;
    for (int64_t cell = 0; cell < c->cells.cells; cell++)
        if (c->cells.n[cell] && pairs_of_cell(h, c, cell, energy)) return true;
    return h->has_far && all_pairs(h, c, there, ranges, energy);
}
