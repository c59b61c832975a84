/* Contact distances, over all potentials that are sampled. */
#include "contacts.h"

#include <math.h>

static int check_terms(const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    int cores = 0;
    for (int32_t i = 0; i < system->term_count; i++) {
        const plugmc_term *term = plugmc_term_at(system, i);
        const plugmc_potential *p = term->plugin->potential;
        if (!term->sampled) continue;
        if (plugmc_body_of(term->plugin))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "hard_pressure is for hard disks or spheres, but potential '%s' is "
                              "of bodies, whose pressure body_pressure measures",
                              term->label);
        if (!p->pair || p->field || p->total || plugmc_orbitals_of(term->plugin) ||
            (p->pair->functions & PLUGMC_PAIR_ENERGY))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "hard_pressure is for hard particles without other forces, but "
                              "potential '%s' is sampled too",
                              term->label);
        cores += (p->pair->functions & PLUGMC_PAIR_CONTACT) != 0;
    }
    if (cores == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no sampled potential has a hard core");
    return PLUGMC_OK;
}

/* Largest over the terms. */
static double contact_of(const plugmc_system *system, int32_t i, int32_t j)
{
    const plugmc_species *a = plugmc_species_at(system, i), *b = plugmc_species_at(system, j);
    plugmc_particle p = {.charge = a->charge, .diameter = a->diameter, .species = i};
    plugmc_particle q = {.charge = b->charge, .diameter = b->diameter, .species = j};
    double largest = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        if (!term->sampled) continue;
        double contact = term->plugin->potential->pair->contact(term->instance, &p, &q);
        if (contact > largest) largest = contact;
    }
    return largest;
}

int find_contacts(hard_contacts *c, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const int32_t n = system->species_count;
    const int code = check_terms(host);
    if (code) return code;
    c->distance = host->allocate(host->context, (size_t)(n * n) * sizeof *c->distance);
    c->species = host->allocate(host->context, (size_t)system->particles * sizeof *c->species);
    if (!c->distance || !c->species)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld particles",
                          (long long)system->particles);
    for (int32_t ij = 0; ij < n * n; ij++) {
        c->distance[ij] = contact_of(system, ij / n, ij % n);
        if (c->distance[ij] > c->largest) c->largest = c->distance[ij];
    }
    c->one = 1;
    for (int32_t ij = 0; ij < n * n; ij++) c->one &= c->distance[ij] == c->largest;
    for (int32_t s = 0; s < n; s++)
        c->covered += M_PI / 4 * pow(c->distance[s * n + s], 2) *
                      (double)(system->first[s + 1] - system->first[s]);
    for (int32_t s = 0; s < n; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++)
            c->species[i] = (uint16_t)s;
    if (!(c->largest > 0))
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "all contact distances are 0");
    return PLUGMC_OK;
}
