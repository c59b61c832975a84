/* hopeless.c: within which distance of a particle a place can be given up at once.
 *
 * A hard core is exact: exp(-dU/kT) is 0 there. A soft core ends the matter too if the energy of one pair
 * alone is more than all the others together can make up for. With n particles near at most, each of which
 * attracts by `depth` at most,
 *
 *     v(r) > HOPELESS + n depth    makes    exp(-dU/kT) < exp(-80) = 2e-35,
 *
 * with HOPELESS = 80 and what totals may add. What is left out changes no mean above 1e-19 in its last bit; a
 * smaller one is never measured, since it would take as many insertions to see one that counts. v(r) is
 * looked at on the host, at many distances along a few directions, depth is taken half as large again, and the distance a hair smaller. Where bodies, a far
 * pair, a field or walkers of different weights are in it, hard cores alone are made use of. */
#include <math.h>

#include "widom.h"

enum { STEPS = 4000, DIRECTIONS = 3 };
static const double HOPELESS = 80 + WIDOM_ALLOWANCE, MARGIN = 1.5, FROM = 1e-4, HAIR = 0.005;

static plugmc_particle particle_of(const plugmc_system *system, int32_t s)
{
    const plugmc_species *species = plugmc_species_at(system, s);
    return (plugmc_particle){
        .charge = species->charge, .diameter = species->diameter, .species = s};
}

/* Energy over kT of the inserted species at a distance r from species s: the smallest along the
 * directions. */
static double smallest_energy(const widom *w, int32_t s, double r)
{
    static const double directions[DIRECTIONS][3] = {
        {1, 0, 0}, {0.6, 0.8, 0}, {0.28, 0.576, 0.768}};
    const plugmc_particle other = particle_of(w->system, s);
    const plugmc_particles others = {
        1, &other.x, &other.y, &other.z, &other.charge, &other.diameter, &other.species};
    double least = INFINITY;
    for (int i = 0; i < (w->system->box.dimension == 2 ? 2 : DIRECTIONS); i++) {
        plugmc_particle probe = particle_of(w->system, w->inserted);
        double energy = 0;
        probe.x = r * directions[i][0];
        probe.y = r * directions[i][1];
        probe.z = r * directions[i][2];
        for (int32_t k = 0; k < w->term_count; k++)
            if (w->terms[k].near)
                w->terms[k].near->energy(w->terms[k].of->instance, &w->system->box, 0, &probe,
                                         &others, &energy);
        if (!(energy >= least)) least = energy; /* NaN too */
    }
    return least / w->system->temperature;
}

static double distance(const widom *w, int step)
{
    return w->reach * pow(FROM, 1 - (double)step / STEPS);
}

/* How far a pair attracts at most, in kT; INFINITY if that cannot be said. */
static double find_depth(const widom *w)
{
    double least = 0;
    for (int32_t s = 0; s < w->system->species_count; s++)
        for (int step = 0; step <= STEPS; step++) {
            const double r = distance(w, step);
            if (r * r < w->square[WIDOM_OVERLAP][s]) continue;
            const double energy = smallest_energy(w, s, r);
            if (isnan(energy)) return INFINITY;
            least = fmin(least, energy);
        }
    return -MARGIN * least;
}

/* The spheres inside of two bodies; no more than what `energy` of the facet takes for an overlap. */
static double contact_of_cores(const plugmc_body *body, const void *instance,
                               const plugmc_particle *one, const plugmc_particle *other)
{
    if (!(body->reach(instance, one) > 0) || !(body->reach(instance, other) > 0)) return 0;
    return (body->core(instance, one) + body->core(instance, other)) * (1 - 1e-9);
}

static double contact_of(const widom *w, int32_t s)
{
    const plugmc_particle one = particle_of(w->system, w->inserted),
                          other = particle_of(w->system, s);
    double contact = 0;
    for (int32_t k = 0; k < w->term_count; k++) {
        const plugmc_potential *p = w->terms[k].of->plugin->potential;
        const plugmc_body *body = w->terms[k].body;
        if (body)
            contact = fmax(contact, contact_of_cores(body, w->terms[k].of->instance, &one, &other));
        if (p->pair)
            contact = fmax(contact, p->pair->contact(w->terms[k].of->instance, &one, &other));
    }
    return contact;
}

/* As many as may be within reach of a place in a cell, half the reach wide: the box at the start is as
 * full as it can become, and a third more. */
static int64_t usually_near(const widom *w)
{
    const plugmc_box *box = &w->system->box;
    const double volumes = box->dimension == 2 ? 5.7 : 11.4; /* in reach^dimension */
    const double density = (double)w->system->particles / box->volume;
    return 16 + (int64_t)fmin(1.33 * density * volumes * pow(w->reach, box->dimension), 1e9);
}

int widom_find_hopeless(widom *w, const plugmc_host *host)
{
    const int32_t n = w->system->species_count;
    for (int k = 0; k < WIDOM_SQUARES; k++) {
        w->square[k] = host->allocate(host->context, (size_t)n * sizeof(double));
        if (!w->square[k])
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d species", n);
    }
    for (int32_t s = 0; s < n; s++) {
        const double contact = contact_of(w, s);
        w->square[WIDOM_HOPELESS][s] = w->square[WIDOM_OVERLAP][s] = contact * contact;
    }
    w->most_near = -1;
    if (w->system->bodies || w->far_count || w->field_count || w->system->weighted ||
        !(w->reach > 0))
        return PLUGMC_OK;
    w->most_near = usually_near(w);
    const double enough = HOPELESS + (double)w->most_near * find_depth(w);
    for (int32_t s = 0; s < n; s++) {
        int step = 0;
        while (step <= STEPS && smallest_energy(w, s, distance(w, step)) > enough) step++;
        const double r = step > 0 ? distance(w, step - 1) * (1 - HAIR) : 0;
        w->square[WIDOM_HOPELESS][s] = fmax(w->square[WIDOM_HOPELESS][s], r * r);
    }
    return PLUGMC_OK;
}
