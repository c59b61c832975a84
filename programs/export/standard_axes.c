/* See standard_axes.h. */
#include "standard_axes.h"

#include <math.h>
#include <string.h>

standard_axes standard_axes_of(const exported *e, const snapshot *s, double metre)
{
    const plugmc_box *box = &s->state->box;
    const units *u = &e->run->config.units;
    standard_axes a = {.periodic = box->domain == PLUGMC_DOMAIN_PERIODIC,
                       .scale = u->given ? u->metre / metre : 1};
    for (int k = 0; k < 9; k++) a.leaning |= a.periodic && k % 4 && box->vector[k / 3][k % 3] != 0;
    if (!a.periodic) return a;
    memcpy(a.vector, box->vector, sizeof a.vector);
    if (a.leaning) {
        a.axes = gsd_box_of(box, 0);
        gsd_vectors(a.axes.size, a.vector);
    }
    for (int k = 0; k < 9; k++) a.vector[k / 3][k % 3] *= a.scale;
    if (box->dimension == 2) a.vector[2][2] = 1;
    return a;
}

void standard_position(const standard_axes *a, const snapshot *s, int64_t i, double out[3])
{
    const double *r = &s->state->positions[3 * i];
    for (int d = 0; d < 3; d++) out[d] = r[d] * a->scale;
    if (!a->leaning) return;
    for (int d = 0; d < 3; d++) {
        out[d] = 0;
        for (int e = 0; e < 3; e++)
            out[d] += (r[e] - a->axes.centre[e]) * a->axes.axis[d][e] * a->scale;
        for (int e = 0; e < s->state->box.dimension; e++) out[d] += 0.5 * a->vector[e][d];
    }
    if (s->state->box.dimension == 2) out[2] = 0;
}

int64_t residue_of(const snapshot *s, int64_t i, const char **name)
{
    const plugmc_molecules *all = s->system->molecules;
    const int64_t number = s->state->number[i];
    for (int32_t k = 0; all && k < all->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(all, k);
        for (int32_t a = 0; a < kind->sites; a++) {
            const int64_t m = (number - kind->first[a]) / kind->stride[a];
            if (number < kind->first[a] || m >= kind->capacity ||
                number != plugmc_site_number(kind, m, a))
                continue;
            *name = kind->name;
            return kind->number + m + 1;
        }
    }
    *name = plugmc_species_at(s->system, s->state->species[i])->name;
    return (all ? all->capacity : 0) + number + 1;
}

bool standard_holds(exported *e, const char *format, size_t longest)
{
    const plugmc_system *system = &e->run->system;
    if (e->run->turned && !system->molecules) /* those of rigid molecules follow from their sites */
        snprintf(e->why, sizeof e->why, "%s has no orientations, and the particles are bodies",
                 format);
    for (int32_t s = 0; s < system->species_count && !*e->why; s++) {
        const char *name = plugmc_species_at(system, s)->name;
        if (strlen(name) > longest)
            snprintf(e->why, sizeof e->why,
                     "names in %s have at most %zu characters, and a species is called %.60s",
                     format, longest, name);
    }
    return !*e->why;
}
