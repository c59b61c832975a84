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
 * are those of Gauss and Legendre. (Without a Jastrow factor separable ones need no quadrature
 * here: projections.c.) Random numbers: D = plugmc_draw(seed, sweep, walker, electron * ions + ion,
 * OBSERVABLE, 0).
 */
#include "local_energy.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_VALUES = 4 << 20 }; /* numbers of orbitals evaluated in one call */

/* ---- Who is near whom ------------------------------------------------------------------------ */

static int radii_of(const local_energy *le)
{
    return le->nonlocal == SEPARABLE ? (int)le->radial_points : 1;
}

static int grow(const plugmc_host *host, void *array, int64_t *room, int64_t wanted, size_t size)
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

static int note_visit(local_energy *le, const plugmc_host *host, int64_t electron, int32_t ion,
                      const double from[3])
{
    int code = grow(host, &le->visits, &le->visit_room, le->visit_count + 1, sizeof *le->visits);
    if (code) return code;
    le->visits[le->visit_count++] = (visit){electron, ion, {from[0], from[1], from[2]},
                                            (int64_t)le->sphere.points * radii_of(le), 0};
    return PLUGMC_OK;
}

static int find_visits(local_energy *le, const plugmc_host *host, const sample *s, int spin)
{
    const plugmc_system *system = le->system;
    int code = PLUGMC_OK;
    le->visit_count = 0;
    for (int64_t e = system->first[spin]; e < system->first[spin + 1]; e++)
        for (int64_t c = 0; c < le->centres && !code; c++) {
            const int32_t ion = le->ion_of[c], kind = le->kind_of[ion];
            if (kind < 0) continue;
            const double *r = le->centre[c], reach = le->nonlocal_reach[kind];
            const double from[3] = {s->x[e] - r[0], s->y[e] - r[1], s->z[e] - r[2]};
            if (from[0] * from[0] + from[1] * from[1] + from[2] * from[2] >= reach * reach)
                continue;
            code = note_visit(le, host, e, ion, from);
        }
    return code;
}

/* ---- Where the orbitals are wanted ----------------------------------------------------------- */

static void rotated(const local_energy *le, const plugmc_view *view, int32_t walker, const visit *v,
                    double direction[MOST_POINTS][3])
{
    double u[3], m[3][3];
    const plugmc_random random = plugmc_draw(le->system->seed, view->sweep, (uint32_t)walker,
                                             (uint32_t)(v->electron * le->ions.count + v->ion),
                                             PLUGMC_PURPOSE_OBSERVABLE, 0);
    for (int d = 0; d < 3; d++) u[d] = ((double)random.word[d] + 0.5) * 0x1p-32;
    random_rotation(u, m);
    for (int k = 0; k < le->sphere.points; k++)
        for (int d = 0; d < 3; d++)
            direction[k][d] = m[d][0] * le->sphere.direction[k][0] +
                              m[d][1] * le->sphere.direction[k][1] +
                              m[d][2] * le->sphere.direction[k][2];
}

static double length_of(const double r[3]) { return sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]); }

/* Radius number m around an ion. */
static double radius(const local_energy *le, const visit *v, int m)
{
    return le->nonlocal == SEPARABLE ? le->node[le->kind_of[v->ion] * le->radial_points + m]
                                     : length_of(v->from);
}

static void place_points(const local_energy *le, const plugmc_view *view, int32_t walker,
                         const sample *s, const visit *v, double *out)
{
    double direction[MOST_POINTS][3];
    const double centre[3] = {s->x[v->electron] - v->from[0], s->y[v->electron] - v->from[1],
                              s->z[v->electron] - v->from[2]};
    rotated(le, view, walker, v, direction);
    for (int m = 0; m < radii_of(le); m++)
        for (int k = 0; k < le->sphere.points; k++, out += 3) {
            for (int d = 0; d < 3; d++) out[d] = centre[d] + radius(le, v, m) * direction[k][d];
            plugmc_wrap(&le->system->box, out);
        }
}

/* ---- The sums -------------------------------------------------------------------------------- */

/* (2l+1) sum_k w_k P_l q at radius m. */
static double complex projection(const local_energy *le, const visit *v, int l, int m,
                                 double direction[MOST_POINTS][3], const double complex *q)
{
    const double r = length_of(v->from);
    double complex sum = 0;
    for (int k = 0; k < le->sphere.points; k++) {
        const double cosine = (v->from[0] * direction[k][0] + v->from[1] * direction[k][1] +
                               v->from[2] * direction[k][2]) / r;
        sum += le->sphere.weight[k] * legendre(l, cosine) * q[m * le->sphere.points + k];
    }
    return (2 * l + 1) * sum;
}

static double complex separable(const local_energy *le, const pseudopotential *p, const visit *v,
                                double direction[MOST_POINTS][3], const double complex *q)
{
    const int32_t kind = le->kind_of[v->ion];
    const double r = length_of(v->from);
    double complex sum = 0;
    for (int j = 0; j < p->projectors; j++) {
        double strength = 0; /* sum_i beta_i(r) D_ij */
        double complex integral = 0;
        for (int i = 0; i < p->projectors; i++)
            if (p->projector[i].l == p->projector[j].l)
                strength += radial_at(&p->projector[i].beta, r) / r * p->strength[i][j];
        for (int m = 0; m < le->radial_points; m++) {
            const double at = le->node[kind * le->radial_points + m];
            integral += le->node_weight[kind * le->radial_points + m] * at *
                        radial_at(&p->projector[j].beta, at) *
                        projection(le, v, p->projector[j].l, m, direction, q);
        }
        sum += strength * integral;
    }
    return sum;
}

static double complex semilocal(const local_energy *le, const pseudopotential *p, const visit *v,
                                double direction[MOST_POINTS][3], const double complex *q)
{
    double complex sum = 0;
    for (int l = 0; l < p->channels; l++)
        if (p->channel[l].n)
            sum += radial_at(&p->channel[l], length_of(v->from)) *
                   projection(le, v, l, 0, direction, q);
    return sum;
}

/* Energy of one electron at one ion; values are the orbitals at its points. */
static double visit_energy(const local_energy *le, const plugmc_view *view, int32_t walker,
                           const sample *s, int spin, const visit *v, const double *places,
                           const double *values)
{
    double complex q[MOST_POINTS * MOST_RADII];
    double direction[MOST_POINTS][3];
    const int64_t own = v->electron - le->system->first[spin];
    const pseudopotential *p = &le->kind[le->kind_of[v->ion]];
    for (int64_t k = 0; k < v->points; k++)
        q[k] = slater_product(&s->spin[spin], own, values + k * le->numbers) *
               exp(-0.5 * parts_change(le, s, v->electron, places + 3 * k));
    rotated(le, view, walker, v, direction);
    return creal(le->nonlocal == SEPARABLE ? separable(le, p, v, direction, q)
                                           : semilocal(le, p, v, direction, q));
}

/* Visits first ... end - 1 of a spin, whose points are evaluated in one call. */
static int sum_visits(local_energy *le, const plugmc_host *host, const plugmc_view *view,
                      int32_t walker, sample *s, int spin, int64_t first, int64_t end)
{
    const int64_t each = (int64_t)le->sphere.points * radii_of(le), n = (end - first) * each;
    int code = grow(host, &le->places, &le->place_room, 3 * n, sizeof *le->places);
    if (!code)
        code = grow(host, &le->at_places, &le->at_room, n * le->numbers, sizeof *le->at_places);
    for (int64_t v = first; v < end && !code; v++)
        place_points(le, view, walker, s, &le->visits[v], le->places + 3 * (v - first) * each);
    if (!code) code = evaluate(le, host, spin, n, le->places, le->at_places, NULL, NULL);
    if (code) return code;
    double *energy = malloc((size_t)(end - first) * sizeof *energy);
    if (!energy)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the quadratures");
#pragma omp parallel for schedule(dynamic, 4) num_threads(le->threads) if (le->threads > 1)
    for (int64_t v = first; v < end; v++)
        energy[v - first] = visit_energy(le, view, walker, s, spin, &le->visits[v],
                                         le->places + 3 * (v - first) * each,
                                         le->at_places + (v - first) * each * le->numbers);
    for (int64_t v = first; v < end; v++) s->energy[NONLOCAL] += energy[v - first];
    free(energy);
    return PLUGMC_OK;
}

int measure_nonlocal(local_energy *le, const plugmc_host *host, const plugmc_view *view,
                     int32_t walker, sample *s)
{
    const int64_t most = MOST_VALUES / ((int64_t)le->sphere.points * radii_of(le) * le->numbers);
    const int64_t together = most < 1 ? 1 : most;
    int code = PLUGMC_OK;
    s->energy[NONLOCAL] = 0;
    for (int spin = 0; spin < le->system->species_count && !code; spin++) {
        code = find_visits(le, host, s, spin);
        for (int64_t v = 0; v < le->visit_count && !code && le->projection; v++)
            s->energy[NONLOCAL] += projected_energy(le, s, spin, &le->visits[v]);
        for (int64_t v = 0; v < le->visit_count && !code && !le->projection; v += together) {
            const int64_t end = v + together < le->visit_count ? v + together : le->visit_count;
            code = sum_visits(le, host, view, walker, s, spin, v, end);
        }
    }
    return code;
}
