/* Energies of one particle at a place: pairs and fields. See parts.h. */
#include "energy/parts.h"

#include <math.h>
#include <string.h>

static bool periodic(const configuration *c) { return c->box.domain == PLUGMC_DOMAIN_PERIODIC; }

/* Adds energies of fields. Returns whether the position is forbidden. */
static bool field_energy(const hamiltonian *h, const plugmc_particle *p, double *energy)
{
    const plugmc_particles one = {1, &p->x, &p->y, &p->z, &p->charge, &p->diameter, &p->species};
    for (int k = 0; k < h->count; k++) {
        const energy_term *t = &h->terms[k];
        if (t->field && t->field->energy(t->of->instance, &one, &energy[t->index]) > 0) return true;
    }
    return false;
}

int64_t term_energy(const energy_term *t, const configuration *c, const plugmc_particle *one,
                    const plugmc_orientation *turned, const plugmc_particles *others,
                    const plugmc_orientation *orientations, double *energy)
{
    double *sum = &energy[t->index];
    int64_t overlaps = 0;
    if (t->close)
        overlaps = t->close->energy(t->of->instance, &c->box, periodic(c), one, others, sum);
    if (t->body)
        overlaps += t->body->energy(t->of->instance, &c->box, periodic(c), one, turned, others,
                                    orientations, sum);
    return overlaps;
}

bool close_energy(const hamiltonian *h, configuration *c, const probe *p, double *energy)
{
    const plugmc_particle particle = configuration_particle(c, p->species, p->at);
    if (field_energy(h, &particle, energy)) return true;
    const plugmc_particles near = configuration_near(c, p->i, p->j, p->after, p->at, NULL);
    for (int k = 0; k < h->count; k++)
        if (term_energy(&h->terms[k], c, &particle, p->turned, &near, c->near.orientation, energy) >
            0)
            return true;
    return false;
}

/* Change of the energy of a body. Bodies that overlap already have an energy, too. */
static bool body_change(const energy_term *t, const configuration *c, const plugmc_particle *from,
                        const plugmc_orientation *turned, const plugmc_particle *there,
                        const plugmc_orientation *turn, const plugmc_particles *near,
                        double *change)
{
    const plugmc_orientation *others = c->near.orientation;
    const void *instance = t->of->instance;
    double before = 0;
    if (t->body->energy(instance, &c->box, periodic(c), there, turn, near, others, change) > 0)
        return true;
    if (bodies_have_energy(t))
        t->body->energy(instance, &c->box, periodic(c), from, turned, near, others, &before);
    *change -= before;
    return false;
}

/* For a step to an adjacent cell: neighbours of both positions are found together. */
static bool step_change(const hamiltonian *h, walker_energy *e, const probe *p, const double to[3],
                        const plugmc_orientation *turn, double *change)
{
    configuration *c = &e->now;
    const plugmc_particle from = configuration_particle(c, p->species, p->at),
                          there = configuration_particle(c, p->species, to);
    double *before = e->proposed;
    if (field_energy(h, &there, change)) return true;
    memset(before, 0, sizeof *before * (size_t)h->system->term_count);
    field_energy(h, &from, before);
    for (int t = 0; t < h->system->term_count; t++) change[t] -= before[t];
    const plugmc_particles near = configuration_near(c, p->i, p->j, -1, p->at, to);
    for (int k = 0; k < h->count; k++) {
        const energy_term *t = &h->terms[k];
        const void *instance = t->of->instance;
        double *sum = &change[t->index];
        if (t->body && body_change(t, c, &from, p->turned, &there, turn, &near, sum)) return true;
        if (!t->close) continue;
        if ((t->has_energy
                 ? t->close->change(instance, &c->box, periodic(c), &from, to, &near, sum)
                 : t->close->energy(instance, &c->box, periodic(c), &there, &near, sum)) > 0)
            return true;
    }
    return false;
}

/* Hard particles have no energy at the old position that would have to be known. */
static bool far_step_change(const hamiltonian *h, walker_energy *e, const probe *p,
                            const double to[3], const plugmc_orientation *turn, double *change)
{
    double *before = e->proposed;
    if (close_energy(h, &e->now, &(probe){p->i, p->j, -1, p->species, to, turn}, change))
        return true;
    if (!h->old_energies) return false;
    memset(before, 0, sizeof *before * (size_t)h->system->term_count);
    close_energy(h, &e->now, p, before);
    for (int t = 0; t < h->system->term_count; t++) change[t] -= before[t];
    return false;
}

bool close_change(const hamiltonian *h, walker_energy *e, const probe *p, const double to[3],
                  const plugmc_orientation *turn, double *change)
{
    const bool step = h->old_energies && configuration_is_step(&e->now, p->at, to);
    return (step ? step_change : far_step_change)(h, e, p, to, turn, change);
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
    parts_of(h, e,
             &(probe){i, -1, -1, e->now.all.species[i], at, configuration_orientation(&e->now, i)},
             energy);
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
        overlaps += term_energy(t, c, &particle, a->turned, &one, b->turned, energy);
        if (t->far)
            overlaps += t->far->energy(t->of->instance, &c->box, periodic(c), &particle, &one,
                                       &energy[t->index]);
    }
    return overlaps > 0;
}

bool is_orientation(const plugmc_orientation *o, int32_t dimension)
{
    double square = 0;
    for (int k = 0; k < 4; k++) square += (double)o->part[k] * o->part[k] * 0x1p-60;
    if (dimension == 3) return square > 0.98 && square < 1.02;
    return o->part[0] >= 0 && o->part[0] < PLUGMC_WHOLE_TURN && !o->part[1] && !o->part[2] &&
           !o->part[3];
}

bool is_position(const double r[3]) { return isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]); }
