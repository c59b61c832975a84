/* Energies of one particle at a place: pairs and fields. See parts.h. */
#include "energy/parts.h"

#include <math.h>
#include <string.h>

static bool periodic(const configuration *c) { return c->box.domain == PLUGMC_DOMAIN_PERIODIC; }

bool close_energy(const hamiltonian *h, configuration *c, const probe *p, double *energy)
{
    const plugmc_particle particle = configuration_particle(c, p->species, p->at);
    const plugmc_particles near = configuration_near(c, p->i, p->j, p->after, p->at),
                           one = {1,
                                  &p->at[0],
                                  &p->at[1],
                                  &p->at[2],
                                  &particle.charge,
                                  &particle.diameter,
                                  &particle.species};
    int64_t forbidden = 0;
    for (int k = 0; k < h->count && !forbidden; k++) {
        const energy_term *t = &h->terms[k];
        if (t->field) forbidden += t->field->energy(t->of->instance, &one, &energy[t->index]);
    }
    for (int k = 0; k < h->count && !forbidden; k++) {
        const energy_term *t = &h->terms[k];
        if (t->close)
            forbidden += t->close->energy(t->of->instance, &c->box, periodic(c), &particle, &near,
                                          &energy[t->index]);
    }
    return forbidden > 0;
}

bool far_energy(const hamiltonian *h, const configuration *c, const probe *p, const double *to,
                double *energy)
{
    const plugmc_particle particle = configuration_particle(c, p->species, p->at);
    number_range ranges[configuration_most_ranges(c)];
    const int n = configuration_ranges(c, p->i, p->j, p->after, ranges);
    int64_t overlaps = 0;
    for (int k = 0; k < h->count; k++)
        for (int r = 0; r < n && h->terms[k].far; r++) {
            const energy_term *t = &h->terms[k];
            const plugmc_particles others = arrays_slice(&c->all, ranges[r].first, ranges[r].end);
            double *sum = &energy[t->index];
            if (!others.n) continue;
            overlaps +=
                to ? t->far->change(t->of->instance, &c->box, periodic(c), &particle, to, &others,
                                    sum)
                   : t->far->energy(t->of->instance, &c->box, periodic(c), &particle, &others, sum);
        }
    return overlaps > 0;
}

bool parts_of(const hamiltonian *h, walker_energy *e, const probe *p, double *energy)
{
    return !configuration_inside(&e->now, p->at) || close_energy(h, &e->now, p, energy) ||
           (h->has_far && far_energy(h, &e->now, p, NULL, energy));
}

void take_parts_off(const hamiltonian *h, walker_energy *e, int64_t i, double *change)
{
    double at[3], *energy = e->proposed;
    configuration_place(&e->now, i, at);
    if (!h->old_energies && !h->has_far) return;
    memset(energy, 0, sizeof *energy * (size_t)h->system->term_count);
    parts_of(h, e, &(probe){i, -1, -1, e->now.all.species[i], at}, energy);
    for (int t = 0; t < h->system->term_count; t++) change[t] -= energy[t];
}

bool parts_between(const hamiltonian *h, const configuration *c, const probe *a, const probe *b,
                   double *energy)
{
    const plugmc_particle particle = configuration_particle(c, a->species, a->at),
                          other = configuration_particle(c, b->species, b->at);
    const plugmc_particles one = {
        1, &b->at[0], &b->at[1], &b->at[2], &other.charge, &other.diameter, &other.species};
    int64_t overlaps = 0;
    for (int k = 0; k < h->count; k++) {
        const energy_term *t = &h->terms[k];
        const plugmc_pair *pairs[] = {t->close, t->far};
        for (int l = 0; l < 2; l++)
            if (pairs[l])
                overlaps += pairs[l]->energy(t->of->instance, &c->box, periodic(c), &particle, &one,
                                             &energy[t->index]);
    }
    return overlaps > 0;
}

bool is_position(const double r[3]) { return isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]); }
