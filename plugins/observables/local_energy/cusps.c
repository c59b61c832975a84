/* cusps.c: whether the wave function has what makes local energies finite where charges meet. Where an electron meets
 * a bare nucleus of charge Z, Psi falls as exp(-Z r) (T. Kato, Commun. Pure Appl. Math. 10, 151 (1957)), or the kinetic
 * energy does not balance -Z/r. Plane waves and splines on a grid are smooth there. Where two electrons meet, it rises
 * as exp(r/2), and of those of like spin, whose determinant is 0 there, what it is multiplied by as exp(r/4) (R. T. Pack,
 * W. B. Brown, J. Chem. Phys. 45, 556 (1966)); determinants have none of it. */
#include "local_energy.h"

#include <math.h>
#include <stdlib.h>

enum { AROUND = 6 };

/* The square of all orbitals and of the one-body Jastrow factor, averaged over six places at a distance from an
 * ion; electrons of a species feel what the first of them does. */
static int density_at(const local_energy *le, const plugmc_host *host, int32_t ion, double distance,
                      double *values, double *out)
{
    double points[3 * AROUND];
    int code = PLUGMC_OK;
    *out = 0;
    for (int k = 0; k < AROUND; k++) {
        for (int d = 0; d < 3; d++)
            points[3 * k + d] =
                le->ions.positions[ion][d] + (k / 2 == d ? k % 2 ? -distance : distance : 0);
        plugmc_wrap(&le->system->box, points + 3 * k);
    }
    for (int spin = 0; spin < le->system->species_count && !code; spin++) {
        const int64_t first = le->system->first[spin],
                      count = plugmc_species_at(le->system, spin)->count,
                      numbers = le->wave.is_complex ? 2 * count : count;
        if (!count) continue;
        code = evaluate(le, host, spin, AROUND, points, values, NULL, NULL);
        for (int k = 0; k < AROUND && !code; k++) {
            double square = 0;
            for (int64_t i = 0; i < numbers; i++)
                square += values[k * le->wave.numbers + i] * values[k * le->wave.numbers + i];
            *out += square * exp(-fields_energy(le, first, points + 3 * k)) / AROUND;
        }
    }
    return code;
}

static int check_nuclei(const local_energy *le, const plugmc_host *host)
{
    double *values = malloc(AROUND * (size_t)le->wave.numbers * sizeof *values);
    int32_t lacking = 0, worst = 0;
    double slope = 0;
    int code = values ? PLUGMC_OK : local_energy_no_memory(host);
    for (int32_t i = 0; i < le->ions.count && !code && le->set.electron_ion; i++) {
        const double z = le->v.charge[i], near = 0.01 / z;
        double at[2];
        if (le->v.kind_of[i] >= 0) continue;
        code = density_at(le, host, i, near, values, &at[0]);
        if (!code) code = density_at(le, host, i, 2 * near, values, &at[1]);
        if (code || at[1] > 1.5 * at[0]) continue; /* Psi is 0 at the nucleus */
        const double falls = -0.5 * log(at[1] / at[0]) / near;
        if (falls > 0.5 * z || !(at[0] > 0)) continue;
        if (!lacking++) {
            worst = i;
            slope = falls;
        }
    }
    free(values);
    if (lacking && !code)
        host->warn(host->context,
                   "at ion %d, a bare nucleus, the wave function falls as exp(%.2g r) and not as "
                   "exp(-%g r)%s: without that cusp local energies diverge there; it takes a "
                   "pseudopotential, orbitals that have it, or chi_cusp of a Jastrow factor",
                   worst + 1, slope == 0 ? 0 : -slope, le->v.charge[worst],
                   lacking > 1 ? ", and so at others" : "");
    return code;
}

/* ---- Two electrons --------------------------------------------------------------------------- */

/* d ln Psi / dr of all pair functions at a distance of two electrons, a mean over six directions, in which slopes of
 * what depends on places as well cancel. */
static double slope_at(const local_energy *le, const double centre[3], int64_t one, int64_t other,
                       double distance)
{
    const plugmc_box *box = &le->system->box;
    const plugmc_particles fixed = {1,
                                    &centre[0],
                                    &centre[1],
                                    &centre[2],
                                    le->wave.charge + other,
                                    le->wave.diameter + other,
                                    le->wave.species + other};
    double sum = 0;
    for (int k = 0; k < AROUND; k++) {
        const int d = k / 2, sign = k % 2 ? -1 : 1;
        double r[3] = {centre[0], centre[1], centre[2]};
        plugmc_derivatives out = {0};
        r[d] += sign * distance;
        const plugmc_particle probe = {
            r[0], r[1], r[2], le->wave.charge[one], le->wave.diameter[one], le->wave.species[one]};
        for (int t = 0; t < le->wave.term_count; t++) {
            const plugmc_pair *pair = le->wave.terms[t]->plugin->potential->pair;
            if (pair)
                pair->derivatives(le->wave.terms[t]->instance, box,
                                  box->domain == PLUGMC_DOMAIN_PERIODIC, 1, &probe, &fixed, &out);
        }
        sum -= 0.5 * sign * out.gradient[d] / AROUND;
    }
    return sum;
}

/* Of two electrons of these species, where a Jastrow factor has pairs: without one there is none to be wrong. */
static void check_pair(const local_energy *le, const plugmc_host *host, int32_t one, int32_t other)
{
    const double off_by = 0.02, near = 1e-3; /* bohr^-1 and bohr */
    const plugmc_system *system = le->system;
    const plugmc_box *box = &system->box;
    const double right = !le->set.electron_electron ? 0 : one == other ? 0.25 : 0.5;
    const int64_t i = system->first[one], j = system->first[other] + (one == other);
    double centre[3] = {0.1, 0.2, 0.3};
    for (int d = 0; d < 3 && box->domain == PLUGMC_DOMAIN_PERIODIC; d++)
        centre[d] = 0.31 * box->vector[0][d] + 0.43 * box->vector[1][d] + 0.57 * box->vector[2][d];
    /* at contact, from two distances */
    const double slope =
        2 * slope_at(le, centre, i, j, near) - slope_at(le, centre, i, j, 2 * near);
    if (fabs(slope - right) <= off_by) return;
    host->warn(host->context,
               "where electrons of species '%s' and '%s' meet, the Jastrow factor goes as "
               "exp(%.3g r) and not as exp(%g r)%s: local energies diverge there. A pair potential "
               "u enters |Psi|^2 as exp(-u): its slope at contact has to be %g",
               plugmc_species_at(system, one)->name, plugmc_species_at(system, other)->name, slope,
               right, le->set.electron_electron ? "" : ", as they do not repel each other",
               right > 0 ? -2 * right : 0);
}

int check_cusps(const local_energy *le, const plugmc_host *host)
{
    const plugmc_system *system = le->system;
    int pairs = 0;
    for (int t = 0; t < le->wave.term_count; t++)
        pairs |= le->wave.terms[t]->plugin->potential->pair != NULL;
    for (int32_t s = 0; s < system->species_count && pairs; s++)
        for (int32_t t = 0; t <= s; t++)
            if (plugmc_species_at(system, s)->count > (s == t) &&
                plugmc_species_at(system, t)->count > 0)
                check_pair(le, host, t, s);
    return check_nuclei(le, host);
}
