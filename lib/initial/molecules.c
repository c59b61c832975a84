/* Initial states of rigid molecules: reference points on a lattice with orientations at random, or all from the sites of a file.
 * random_molecules.c has those at random. See initial.h. */
#include "initial/initial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "system/molecule_kinds.h"
#include "system/system.h"

/* By how much sites of a file may differ from those at rest, in parts of the size of the molecule. */
static const double rounding = 2e-3;

int64_t centres_in(const plugmc_system *system)
{
    const plugmc_molecules *all = system->molecules;
    return system->particles - (all ? all->sites - all->count : 0);
}

/* First site of molecule m, counted through all kinds. */
static int64_t first_site(const plugmc_system *system, int64_t m)
{
    int64_t within;
    const plugmc_molecule *kind = plugmc_molecule_at(system->molecules, m, &within);
    return plugmc_site_number(kind, within, 0);
}

/* The sites of a molecule go where its first site and its orientation put them. */
static void put_molecule(const plugmc_system *system, const plugmc_box *box, int64_t i,
                         const double first[3], const plugmc_orientation *orientation,
                         double *positions, plugmc_orientation *orientations)
{
    double at[PLUGMC_MOST_SITES][3];
    int64_t number[PLUGMC_MOST_SITES];
    const int32_t n = place_sites(system, box, i, first, orientation, at, number);
    orientations[i] = *orientation;
    for (int32_t a = 0; a < n; a++) memcpy(&positions[3 * number[a]], at[a], sizeof at[a]);
}

void molecules_at(const plugmc_system *system, uint32_t walker, const double *centres,
                  double *positions, plugmc_orientation *orientations)
{
    const int64_t molecules = system->molecules->count;
    for (int64_t m = 0; m < molecules; m++) {
        const plugmc_orientation o =
            plugmc_draw_orientation(system->seed, 0, walker, (uint32_t)m, system->box.dimension);
        put_molecule(system, &system->box, first_site(system, m), &centres[3 * m], &o, positions,
                     orientations);
    }
    for (int64_t i = 0, k = molecules; i < system->particles; i++)
        if (system->molecule[i] < 0)
            memcpy(&positions[3 * i], &centres[3 * k++], 3 * sizeof *centres);
}

/* ---- From the sites of a file ------------------------------------------------------------------- */

/* The eigenvector of the largest eigenvalue of a symmetric matrix, by Jacobi's rotations. */
static void largest_eigenvector(double m[4][4], double out[4])
{
    double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int sweep = 0; sweep < 50; sweep++)
        for (int p = 0; p < 3; p++)
            for (int q = p + 1; q < 4; q++) {
                if (m[p][q] == 0) continue;
                const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]),
                             t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)),
                             c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 4; k++) {
                    const double a = m[k][p], b = m[k][q];
                    m[k][p] = c * a - s * b, m[k][q] = s * a + c * b;
                }
                for (int k = 0; k < 4; k++) {
                    const double a = m[p][k], b = m[q][k];
                    m[p][k] = c * a - s * b, m[q][k] = s * a + c * b;
                }
                for (int k = 0; k < 4; k++) {
                    const double a = v[k][p], b = v[k][q];
                    v[k][p] = c * a - s * b, v[k][q] = s * a + c * b;
                }
            }
    int best = 0;
    for (int k = 1; k < 4; k++)
        if (m[k][k] > m[best][best]) best = k;
    for (int k = 0; k < 4; k++) out[k] = v[k][best];
}

/* The rotation that takes places [n] at rest nearest to offsets [n], from first sites both: B. K. P. Horn, J. Opt. Soc. Am. A 4, 629
 * (1987), with the first site in place of the centroid. */
static plugmc_orientation nearest_rotation(const double (*places)[3], const double (*offsets)[3],
                                           int32_t n)
{
    double s[3][3] = {{0}}, q[4];
    plugmc_orientation o;
    for (int32_t a = 0; a < n; a++)
        for (int i = 0; i < 9; i++) s[i / 3][i % 3] += places[a][i / 3] * offsets[a][i % 3];
    double m[4][4] = {
        {s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
        {0, s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
        {0, 0, s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]},
        {0, 0, 0, s[2][2] - s[0][0] - s[1][1]}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) m[i][j] = m[j][i];
    largest_eigenvector(m, q);
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; k++) o.part[k] = (int32_t)rint(q[k] / length * 0x1p30);
    return o;
}

/* Offsets of the sites of a molecule from the first one, by nearest images. */
static void offsets_of(const plugmc_box *box, const plugmc_molecule *kind, int64_t m,
                       const double *positions, double (*out)[3])
{
    const double *first = &positions[3 * plugmc_site_number(kind, m, 0)];
    for (int32_t a = 0; a < kind->sites; a++) {
        const double *at = &positions[3 * plugmc_site_number(kind, m, a)],
                     u[3] = {at[0] - first[0], at[1] - first[1], at[2] - first[2]};
        memcpy(out[a], u, sizeof u);
        for (int d = 0; d < 3; d++) {
            const double f =
                u[0] * box->inverse[0][d] + u[1] * box->inverse[1][d] + u[2] * box->inverse[2][d];
            for (int e = 0; e < 3; e++) out[a][e] -= rint(f) * box->vector[d][e];
        }
    }
}

/* How far the farthest site is from where the orientation puts it; *size: of the molecule. */
static double largest_misfit(const plugmc_molecule *kind, const plugmc_orientation *o,
                             const double (*offsets)[3], double *size)
{
    double largest = 0;
    *size = 0;
    for (int32_t a = 0; a < kind->sites; a++) {
        double turned[3], misfit = 0, extent = 0;
        plugmc_turn_vector(o, kind->place[a], turned);
        for (int d = 0; d < 3; d++) {
            misfit += (turned[d] - offsets[a][d]) * (turned[d] - offsets[a][d]);
            extent += turned[d] * turned[d];
        }
        largest = fmax(largest, sqrt(misfit));
        *size = fmax(*size, sqrt(extent));
    }
    return largest;
}

int64_t fit_molecules(const plugmc_system *system, const plugmc_box *box, double *positions,
                      plugmc_orientation *orientations, double *misfit)
{
    for (int64_t m = 0; m < system->molecules->capacity; m++) {
        int64_t within;
        const plugmc_molecule *kind = plugmc_molecule_at(system->molecules, m, &within);
        const int64_t i = plugmc_site_number(kind, within, 0);
        if (isnan(positions[3 * i])) continue; /* it is not there */
        double offsets[PLUGMC_MOST_SITES][3], size;
        offsets_of(box, kind, within, positions, offsets);
        const plugmc_orientation o =
            nearest_rotation(kind->place, (const double(*)[3])offsets, kind->sites);
        *misfit = largest_misfit(kind, &o, (const double(*)[3])offsets, &size);
        if (!(*misfit <= rounding * size)) return m;
        const double first[3] = {positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]};
        put_molecule(system, box, i, first, &o, positions, orientations);
    }
    return -1;
}
