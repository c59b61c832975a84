/* Separable pseudopotentials without a Jastrow factor: the wave function is linear in the orbitals
 * of the electron that is looked at, so that its projections are those of the orbitals,
 *
 *     V Psi / Psi = sum_ij sum_m beta_i(r) Y_lm(Omega) D_ij sum_o M[e][o] <beta_j Y_lm | psi_o>,
 *
 * numbers that are found once by a fine quadrature. No random points are needed.
 */
#include "local_energy.h"

#include <math.h>
#include <stdlib.h>

enum { RADII = 24, POLAR = 10, AZIMUTHS = 2 * POLAR, POINTS = RADII * POLAR * AZIMUTHS };

/* Functions beta_j Y_lm of a pseudopotential. */
static int64_t functions_of(const pseudopotential *p)
{
    int64_t count = 0;
    for (int j = 0; j < p->projectors; j++) count += 2 * p->projector[j].l + 1;
    return count;
}

/* ---- Once ------------------------------------------------------------------------------------ */

/* Places around an ion, as directions [POINTS][3] and radii, with weights of an integral over
 * space. */
static void fine_quadrature(double reach, double (*direction)[3], double *radius, double *weight)
{
    double r[RADII], wr[RADII], cosine[POLAR], wc[POLAR];
    gauss_legendre(RADII, reach, r, wr);
    gauss_legendre(POLAR, 2, cosine, wc);
    for (int i = 0; i < POINTS; i++) {
        const int m = i / (POLAR * AZIMUTHS), t = i / AZIMUTHS % POLAR, a = i % AZIMUTHS;
        const double x = cosine[t] - 1, rho = sqrt(1 - x * x), phi = 2 * M_PI * a / AZIMUTHS;
        direction[i][0] = rho * cos(phi);
        direction[i][1] = rho * sin(phi);
        direction[i][2] = x;
        radius[i] = r[m];
        weight[i] = wr[m] * r[m] * r[m] * wc[t] * 2 * M_PI / AZIMUTHS;
    }
}

/* <beta_j Y_lm | psi_o> of one ion [functions][numbers], from values [POINTS][numbers]. */
static void project(const local_energy *le, const pseudopotential *p, double (*direction)[3],
                    const double *radius, const double *weight, const double *values, double *out)
{
    for (int j = 0; j < p->projectors; j++)
        for (int m = -p->projector[j].l; m <= p->projector[j].l; m++, out += le->wave.numbers)
            for (int i = 0; i < POINTS; i++) {
                const double factor = weight[i] * harmonic(p->projector[j].l, m, direction[i]) *
                                      radial_at(&p->projector[j].beta, radius[i]) / radius[i];
                for (int64_t o = 0; o < le->wave.numbers; o++)
                    out[o] += factor * values[i * le->wave.numbers + o];
            }
}

/* Complex numbers [count] times a phase. */
static void turn(double *values, int64_t count, const double phase[2])
{
    double complex *z = (double complex *)values;
    for (int64_t o = 0; o < count; o++) z[o] *= phase[0] + I * phase[1];
}

int prepare_projections(local_energy *le, const plugmc_host *host)
{
    plugmc_context *context = host->context;
    const int32_t ions = le->ions.count, spins = le->system->species_count;
    int64_t rows = 0, at = 0;
    le->projections.of =
        host->allocate(context, ((size_t)(ions * spins) + 1) * sizeof *le->projections.of);
    for (int32_t i = 0; i < ions; i++)
        if (le->v.kind_of[i] >= 0) rows += functions_of(&le->v.kind[le->v.kind_of[i]]);
    le->projections.row_count = rows * spins;
    double *memory = le->projections.rows =
        host->allocate(context, (size_t)(rows * spins * le->wave.numbers + 1) * sizeof *memory);
    double *work = malloc((size_t)(POINTS * (10 + le->wave.numbers)) * sizeof *work);
    int code = le->projections.of && memory && work
                   ? PLUGMC_OK
                   : host->fail(context, PLUGMC_ERROR_MEMORY, "no memory for the projections");
    double(*direction)[3] = (double(*)[3])work, *radius = work + 3 * POINTS,
    *weight = work + 4 * POINTS, *places = work + 5 * POINTS, *values = work + 10 * POINTS;
    double(*phase)[2] = (double(*)[2])(work + 8 * POINTS), edges[3];
    for (int32_t k = 0; k < spins * ions && !code; k++) {
        const int32_t spin = k / ions, ion = k % ions;
        if (le->v.kind_of[ion] < 0) continue;
        const pseudopotential *p = &le->v.kind[le->v.kind_of[ion]];
        fine_quadrature(le->v.nonlocal_reach[le->v.kind_of[ion]], direction, radius, weight);
        for (int i = 0; i < POINTS; i++) {
            for (int d = 0; d < 3; d++)
                places[3 * i + d] = le->ions.positions[ion][d] + radius[i] * direction[i][d];
            wrap_into(&le->sums.cell, places + 3 * i, edges);
            phase_over(&le->v, edges, phase[i]);
        }
        code = evaluate(le, host, spin, POINTS, places, values, NULL, NULL);
        for (int i = 0; i < POINTS && !code && le->v.twisted; i++)
            turn(values + i * le->wave.numbers, le->wave.pitch, phase[i]);
        le->projections.of[k] = memory + at * le->wave.numbers;
        at += functions_of(p);
        if (!code) project(le, p, direction, radius, weight, values, le->projections.of[k]);
    }
    free(work);
    return code;
}

/* ---- At each electron ------------------------------------------------------------------------ */

double projected_energy(const local_energy *le, const sample *s, int spin, const visit *v)
{
    const pseudopotential *p = &le->v.kind[le->v.kind_of[v->ion]];
    const double r = sqrt(square_of_length(v->from));
    const double direction[3] = {v->from[0] / r, v->from[1] / r, v->from[2] / r};
    const double *row = le->projections.of[spin * le->ions.count + v->ion];
    const int64_t own = v->electron - le->system->first[spin];
    const double place[3] = {s->x[v->electron], s->y[v->electron], s->z[v->electron]};
    double energy = 0, phase[2];
    phase_of_image(&le->v, &le->sums.cell, v, place, phase);
    for (int j = 0; j < p->projectors; j++) {
        const int l = p->projector[j].l;
        const double strength = strength_at(p, j, r);
        for (int m = -l; m <= l; m++, row += le->wave.numbers)
            energy += strength * harmonic(l, m, direction) *
                      creal((phase[0] + I * phase[1]) * slater_product(&s->spin[spin], own, row));
    }
    return energy;
}
