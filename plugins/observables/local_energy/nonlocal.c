/* The parts of pseudopotentials that depend on l, by quadrature around each ion.
 *
 * With r the electron's distance from the ion, Omega its direction and q(r') = Psi(.., r', ..) /
 * Psi,
 *
 *     semilocal   sum_l (2l+1) dv_l(r) sum_k w_k P_l(Omega.Omega_k) q(r Omega_k)
 *     separable   sum_ij (2l+1) beta_i(r) D_ij sum_m w_m r_m^2 beta_j(r_m)
 *                        sum_k w_k P_l(Omega.Omega_k) q(r_m Omega_k)
 *
 * (S. Fahy, X. W. Wang, S. G. Louie, Phys. Rev. B 42, 3503 (1990); L. Mitas, E. L. Shirley,
 * D. M. Ceperley, J. Chem. Phys. 95, 3467 (1991)). The points Omega_k are rotated at random for
 * each electron and ion, which makes the sums right on average whatever their number; the radii r_m
 * are those of Gauss and Legendre. `localisation = determinants` has the determinants alone in q (A. Zen, J. G. Brandenburg,
 * A. Michaelides, D. Alfe, J. Chem. Phys. 151, 134105 (2019)). (Without a Jastrow factor separable ones need no quadrature
 * here: projections.c.) Random numbers: D = plugmc_draw(seed, sweep, walker, electron * ions + ion,
 * OBSERVABLE, 0).
 */
#include "local_energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 4 << 20 }; /* numbers of orbitals evaluated in one call */

/* ---- Who is near whom ------------------------------------------------------------------------ */

int grow(const plugmc_host *host, void *array, int64_t *room, int64_t wanted, size_t size)
{
    void **place = array;
    if (wanted <= *room) return PLUGMC_OK;
    void *more = realloc(*place, (size_t)(2 * wanted) * size);
    if (!more)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the quadratures");
    *place = more;
    *room = 2 * wanted;
    return PLUGMC_OK;
}

static int find_visits(local_energy *le, const plugmc_host *host, const sample *s, int spin)
{
    const plugmc_system *system = le->system;
    int code = PLUGMC_OK;
    le->work.visit_count = 0;
    for (int64_t e = system->first[spin]; e < system->first[spin + 1]; e++)
        for (int64_t c = 0; c < le->v.centres && !code; c++) {
            const double r[3] = {s->x[e], s->y[e], s->z[e]};
            visit one = {.electron = (int32_t)e, .ion = le->v.ion_of[c]};
            if (!is_visited(&le->v, c, r, one.from)) continue;
            code = grow(host, &le->work.visits, &le->work.visit_room, le->work.visit_count + 1,
                        sizeof *le->work.visits);
            if (!code) le->work.visits[le->work.visit_count++] = one;
        }
    return code;
}

/* ---- Their energies -------------------------------------------------------------------------- */

static void place_points(const local_energy *le, const plugmc_view *view, int32_t walker,
                         const sample *s, const visit *at, double *out)
{
    const double r[3] = {s->x[at->electron], s->y[at->electron], s->z[at->electron]};
    double m[3][3], phase[2];
    visit_rotation(&le->v, le->system->seed, view->sweep, walker, at, m);
    for (int i = 0; i < le->v.radii; i++)
        for (int k = 0; k < le->v.sphere.points; k++, out += 3)
            visit_place(&le->v, &le->sums.cell, at, m, r, i, k, out, phase);
}

/* Energy of one electron at one ion; values are the orbitals at its points. */
static double energy_of(const local_energy *le, const plugmc_view *view, int32_t walker,
                        const sample *s, int spin, const visit *at, const double *places,
                        const double *values, plugmc_nonlocal_point *asked)
{
    const int64_t own = at->electron - le->system->first[spin];
    const double r[3] = {s->x[at->electron], s->y[at->electron], s->z[at->electron]};
    const int points = le->v.radii * le->v.sphere.points;
    double q[MOST_POINTS * MOST_RADII], m[3][3];
    visit_rotation(&le->v, le->system->seed, view->sweep, walker, at, m);
    for (int k = 0; k < points; k++) {
        double place[3], phase[2] = {1, 0};
        if (le->v.twisted)
            visit_place(&le->v, &le->sums.cell, at, m, r, k / le->v.sphere.points,
                        k % le->v.sphere.points, place, phase);
        q[k] = creal((phase[0] + I * phase[1]) *
                     slater_product(&s->spin[spin], own, values + k * le->wave.numbers));
        if (!le->v.of_determinants)
            q[k] *= exp(-0.5 * parts_change(le, s, at->electron, places + 3 * k));
        if (!asked) continue;
        const double factor = visit_factor(&le->v, at, m, k);
        asked[k] = (plugmc_nonlocal_point){.walker = walker,
                                           .electron = at->electron,
                                           .energy = factor * q[k],
                                           .factor = factor,
                                           .phase = {phase[0], phase[1]}};
        memcpy(asked[k].position, places + 3 * k, sizeof asked[k].position);
    }
    return visit_energy(&le->v, at, m, q);
}

/* Visits first ... end - 1 of a spin, whose points are evaluated in one call. */
static int sum_visits(local_energy *le, const plugmc_host *host, const plugmc_view *view,
                      int32_t walker, sample *s, int spin, int64_t first, int64_t end)
{
    const int64_t each = (int64_t)le->v.sphere.points * le->v.radii, n = (end - first) * each;
    plugmc_nonlocal_point *asked = NULL;
    int code = grow(host, &le->work.places, &le->work.place_room, 3 * n, sizeof *le->work.places);
    if (!code)
        code = grow(host, &le->work.at_places, &le->work.at_room, n * le->wave.numbers,
                    sizeof *le->work.at_places);
    for (int64_t v = first; v < end && !code; v++)
        place_points(le, view, walker, s, &le->work.visits[v],
                     le->work.places + 3 * (v - first) * each);
    if (!code) code = evaluate(le, host, spin, n, le->work.places, le->work.at_places, NULL, NULL);
    if (code) return code;
    if (le->asked.wanted) {
        code = grow(host, &le->asked.list, &le->asked.room, le->asked.count + n,
                    sizeof *le->asked.list);
        if (!code)
            code = grow(host, &le->asked.ions, &le->asked.ion_room, le->asked.count + n,
                        sizeof *le->asked.ions);
        if (code) return code;
        asked = le->asked.list + le->asked.count;
        for (int64_t k = 0; k < n; k++)
            le->asked.ions[le->asked.count + k] = le->work.visits[first + k / each].ion;
        le->asked.count += n;
    }
    double *energy = malloc((size_t)(end - first) * sizeof *energy);
    if (!energy)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the quadratures");
#pragma omp parallel for schedule(dynamic, 4) num_threads(le->threads) if (le->threads > 1)
    for (int64_t v = first; v < end; v++)
        energy[v - first] = energy_of(le, view, walker, s, spin, &le->work.visits[v],
                                      le->work.places + 3 * (v - first) * each,
                                      le->work.at_places + (v - first) * each * le->wave.numbers,
                                      asked ? asked + (v - first) * each : NULL);
    for (int64_t v = first; v < end; v++) {
        s->energy[NONLOCAL] += energy[v - first];
        share_pair(le, s, le->work.visits[v].electron, le->work.visits[v].ion, energy[v - first]);
    }
    free(energy);
    return PLUGMC_OK;
}

int measure_nonlocal(local_energy *le, const plugmc_host *host, const plugmc_view *view,
                     int32_t walker, sample *s)
{
    const int64_t most =
        MOST_VALUES / ((int64_t)le->v.sphere.points * le->v.radii * le->wave.numbers);
    const int64_t together = most < 1 ? 1 : most;
    const int projects = le->projections.of && !le->asked.wanted;
    int code = PLUGMC_OK;
    s->energy[NONLOCAL] = 0;
    for (int spin = 0; spin < le->system->species_count && !code; spin++) {
        code = find_visits(le, host, s, spin);
        for (int64_t v = 0; v < le->work.visit_count && !code && projects; v++) {
            const double energy = projected_energy(le, s, spin, &le->work.visits[v]);
            s->energy[NONLOCAL] += energy;
            share_pair(le, s, le->work.visits[v].electron, le->work.visits[v].ion, energy);
        }
        for (int64_t v = 0; v < le->work.visit_count && !code && !projects; v += together) {
            const int64_t end =
                v + together < le->work.visit_count ? v + together : le->work.visit_count;
            code = sum_visits(le, host, view, walker, s, spin, v, end);
        }
    }
    return code;
}
