/* How long a time step may be, so that what is tuned stays an integrator.
 *
 * Acceptance does not tell: two particles in a large box hardly ever meet, nearly every trajectory is
 * accepted, and a step that is tuned by acceptance alone grows until a trajectory is a leap across the
 * box, which no longer finds its way into the well of a potential or out of it. Three bounds:
 *
 * - Leapfrog is stable for omega dt < 2 (M. P. Allen, D. J. Tildesley, Computer Simulation of Liquids,
 *   2nd ed., sections 3.2 and 3.4). omega^2 = u'' (1/m_a + 1/m_b) is taken from the stiffest place
 *   that a pair reaches with 1 kT above the least energy, and omega dt <= 1 leaves room for
 *   particles with several neighbours.
 * - A trajectory of a given length has at least LEAST_STEPS steps.
 * - A step takes the lightest species, at its thermal velocity sqrt(kT/m), no farther than a
 *   twentieth of the way across the box.
 *
 * A site of a rigid molecule has the mass of all of it here, and a step turns a molecule by at most half a radian at its
 * thermal velocity. */
#include "rigid.h"

enum { LEAST_STEPS = 2, PLACES = 2000 };
static const double part_of_box = 0.05, part_of_turn = 0.5; /* rad */

static double temperature_of(const hmc *h, int32_t rung)
{
    return h->ladder.by_walker ? h->system->temperatures[rung] : h->system->temperature;
}

/* What a term counts by on a rung. */
static double coupling_of(const hmc *h, int32_t rung, const plugmc_term *term)
{
    const plugmc_system *s = h->system;
    const int64_t t = ((const char *)term - (const char *)s->terms) / s->term_size;
    return s->weighted ? s->of_rungs[rung * s->multipliers + t] * s->temperatures[rung] : 1;
}

/* Energy and its slope along the line between two particles, all pair terms, energy and energy/length. */
static plugmc_derivatives along(const hmc *h, int32_t rung, int32_t a, int32_t b, double r)
{
    const plugmc_species *sa = plugmc_species_at(h->system, a),
                         *sb = plugmc_species_at(h->system, b);
    const double zero = 0;
    const plugmc_particle probe = {r, 0, 0, sa->charge, sa->diameter, a};
    const plugmc_particles other = {1, &zero, &zero, &zero, &sb->charge, &sb->diameter, &b};
    plugmc_derivatives out = {0};
    for (int t = 0; t < h->sampled.pair_count; t++) {
        const double coupling = coupling_of(h, rung, h->sampled.pairs[t]);
        plugmc_derivatives own = {0};
        h->sampled.pairs[t]->plugin->potential->pair->derivatives(
            h->sampled.pairs[t]->instance, &h->system->box, 0, 0, &probe, &other, &own);
        if (coupling == 0) continue; /* it may be infinite */
        out.energy += coupling * own.energy;
        out.gradient[0] += coupling * own.gradient[0];
    }
    return out;
}

/* Largest second derivative where a pair is within 1 kT of its least energy; differences of slopes,
 * over so small a distance that a cutoff hardly ever falls between. */
static double stiffest(const hmc *h, int32_t rung, int32_t a, int32_t b, double farthest)
{
    double least = INFINITY, most = 0;
    int innermost = 0, lowest = 0;
    for (int k = 1; k <= PLACES; k++) {
        const double energy = along(h, rung, a, b, farthest * k / PLACES).energy;
        if (!isfinite(energy)) continue;
        if (!innermost) innermost = k;
        if (energy < least) least = energy, lowest = k;
    }
    /* a charge without a core, which other sites of its molecule keep away */
    if (h->rigid && lowest == innermost &&
        along(h, rung, a, b, farthest * lowest / PLACES).gradient[0] > 0)
        return 0;
    for (int k = 1; k <= PLACES; k++) {
        const double r = farthest * k / PLACES, little = 1e-5 * r;
        if (!(along(h, rung, a, b, r).energy <= least + temperature_of(h, rung))) continue;
        const double slope[2] = {along(h, rung, a, b, r - little).gradient[0],
                                 along(h, rung, a, b, r + little).gradient[0]};
        const double second = (slope[1] - slope[0]) / (2 * little);
        if (isfinite(second)) most = fmax(most, second);
    }
    return most;
}

/* Least distance between opposite faces, as the run begins. */
static double across(const hmc *h)
{
    const plugmc_box *box = &h->system->box;
    double least = INFINITY;
    for (int d = 0; d < box->dimension; d++) least = fmin(least, plugmc_height(box, d));
    return least;
}

double hmc_largest_step(const hmc *h, int32_t rung)
{
    const double width = across(h), farthest = fmin(h->sampled.reach, 0.5 * width);
    double step = INFINITY, lightest = INFINITY;
    if (h->length > 0) step = h->length / LEAST_STEPS;
    for (int32_t a = 0; a < h->system->species_count; a++) {
        lightest = fmin(lightest, hmc_rigid_mass(h, a));
        for (int32_t b = a; b < h->system->species_count && farthest > 0; b++) {
            const double square = stiffest(h, rung, a, b, farthest) *
                                  (1 / hmc_rigid_mass(h, a) + 1 / hmc_rigid_mass(h, b));
            if (square > 0) step = fmin(step, 1 / sqrt(square));
        }
    }
    step = fmin(step, part_of_turn * hmc_rigid_period(h, temperature_of(h, rung)));
    /* a particle of energy kT crosses its length in this time */
    return fmin(step, part_of_box * width * sqrt(lightest / temperature_of(h, rung)));
}
