/* cusps.c: whether the wave function has what makes local energies finite at bare nuclei. Where an electron meets one
 * of charge Z, Psi falls as exp(-Z r) (T. Kato, Commun. Pure Appl. Math. 10, 151 (1957)), or the kinetic
 * energy does not balance -Z/r. Plane waves and splines on a grid are smooth there. */
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
                      numbers = le->is_complex ? 2 * count : count;
        if (!count) continue;
        code = evaluate(le, host, spin, AROUND, points, values, NULL, NULL);
        for (int k = 0; k < AROUND && !code; k++) {
            double square = 0;
            for (int64_t i = 0; i < numbers; i++)
                square += values[k * le->numbers + i] * values[k * le->numbers + i];
            *out += square * exp(-fields_energy(le, first, points + 3 * k)) / AROUND;
        }
    }
    return code;
}

int check_cusps(const local_energy *le, const plugmc_host *host)
{
    double *values = malloc(AROUND * (size_t)le->numbers * sizeof *values);
    int32_t lacking = 0, worst = 0;
    double slope = 0;
    int code = values ? PLUGMC_OK : local_energy_no_memory(host);
    for (int32_t i = 0; i < le->ions.count && !code && le->electron_ion; i++) {
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
