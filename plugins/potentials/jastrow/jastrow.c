/* jastrow: a Jastrow factor exp(-J) of a many-electron wave function,
 *
 *     J = sum_{i<j} u(r_ij) + sum_{i,I} chi(r_iI),
 *
 * as a term of -ln |Psi|^2: the energy over kT of a pair is 2 u, that of an electron 2 chi.
 *
 * u (one function for like and one for unlike spins, which are species) and chi are cubic B-splines
 * of the distance with evenly spaced knots, and vanish smoothly at their cutoffs (J. Kim et al.,
 * J. Phys.: Condens. Matter 30, 195901 (2018), section 5). n coefficients p_0 ... p_{n-1} sit at
 * the knots 0 ... n-1 of spacing cutoff / (n + 1); one more before the origin is chosen so that the
 * slope there is the cusp of T. Kato, Commun. Pure Appl. Math. 10, 151 (1957): du/dr = -1/4 for
 * like and -1/2 for unlike spins in atomic units. So coefficients can be taken over from QMCPACK.
 *
 * Each kind of ion has a chi of its own. It is summed over all periodic images of an ion, which are
 * listed once: those that are within the cutoff of the cell. Electrons have to be in the cell, as
 * all movers have them.
 *
 * On the CPU and on the GPU a spline is a table of cubic polynomials, one a knot interval, and a
 * last row of zeros for everything beyond the cutoff.
 */
#include <plugmc/potential.h>
#include <plugmc/tally.h>

typedef struct parameters {
    plugmc_list like, unlike, chi;         /* coefficients; of chi those of all kinds of ions */
    real like_cusp, unlike_cusp, chi_cusp; /* 1/length */
    real u_cutoff, chi_cutoff;             /* length */
    plugmc_list ions, tile;                /* [ions][3] length; [3] */
    const char *file, *elements;
    plugmc_list u_table;   /* [like, unlike][intervals + 1][4] */
    plugmc_list chi_table; /* [kinds][intervals + 1][4] */
    plugmc_list centres;   /* [images of ions][3], length, one kind after the other */
    plugmc_list kinds;     /* [kinds][KIND_NUMBERS] */
    real u_reach;          /* length */
    real like_intervals, unlike_intervals, like_per_length, unlike_per_length; /* 1, 1/length */
    const struct jastrow_form *form; /* for the host alone */
} parameters;

/* What belongs to a kind of ion: its images among the centres and its rows of the table (as numbers of values), its
 * knot intervals, 1 / their length, and the first of its coefficients. */
enum { KIND_BEGIN, KIND_END, KIND_ROWS, KIND_INTERVALS, KIND_PER_LENGTH, KIND_FIRST, KIND_NUMBERS };

/* Where in a table the polynomial of x = r/spacing begins, and how far x is into its interval. */
PLUGMC_FN int32_t interval(real x, real intervals, real *t)
{
    real inside = x < intervals ? x : intervals;
    int32_t k = (int32_t)inside;
    *t = inside - (real)k;
    return 4 * k;
}

/* Of the polynomial that begins at c[k]. GCC gathers c[k + 1] but not (c + k)[1]. */
PLUGMC_FN real cubic(const real *c, int32_t k, real t)
{
    return c[k] + t * (c[k + 1] + t * (c[k + 2] + t * c[k + 3]));
}

/* Slope over r and curvature; d is 1/spacing. */
PLUGMC_FN void cubic_slopes(const real *c, int32_t k, real t, real r, real d, real *first,
                            real *second)
{
    real floor = (real)1e-30;
    *first = d * (c[k + 1] + t * (2 * c[k + 2] + t * 3 * c[k + 3])) / (r > floor ? r : floor);
    *second = d * d * (2 * c[k + 2] + t * 6 * c[k + 3]);
}

/* A product and no condition, or GCC does not vectorise loops over pairs. */
PLUGMC_FN int32_t u_of(const parameters *p, int same)
{
    return !same * 4 * ((int32_t)p->like_intervals + 1);
}

PLUGMC_FN real u_per_length(const parameters *p, int same)
{
    return same ? p->like_per_length : p->unlike_per_length;
}

PLUGMC_FN real u_intervals(const parameters *p, int same)
{
    return same ? p->like_intervals : p->unlike_intervals;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    const int same = a.species == b.species;
    real t;
    int32_t k = interval(plugmc_sqrt(s.r2) * u_per_length(p, same), u_intervals(p, same), &t);
    return cubic(p->u_table.values, u_of(p, same) + k, t);
}

PLUGMC_FN real pair_range(const parameters *p) { return p->u_reach; }

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    const int same = a.species == b.species;
    real t, r = plugmc_sqrt(s.r2);
    int32_t k = interval(r * u_per_length(p, same), u_intervals(p, same), &t);
    cubic_slopes(p->u_table.values, u_of(p, same) + k, t, r, u_per_length(p, same), first, second);
}

/* From image number i / 3 of an ion. */
PLUGMC_FN plugmc_separation from_ion(const parameters *p, plugmc_position r, int32_t i)
{
    plugmc_separation s;
    s.x = r.x - p->centres.values[i];
    s.y = r.y - p->centres.values[i + 1];
    s.z = r.z - p->centres.values[i + 2];
    s.r2 = s.x * s.x + s.y * s.y + s.z * s.z;
    return s;
}

/* The square of a distance from which chi is exactly 0, whatever the rounding: most images are beyond it. */
PLUGMC_FN real chi_reach_square(const real *kind)
{
    const real reach = kind[KIND_INTERVALS] / kind[KIND_PER_LENGTH];
    return (real)1.0001 * reach * reach;
}

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real sum = 0;
    (void)a, (void)outside;
    for (int32_t m = 0; m < p->kinds.count; m += KIND_NUMBERS) {
        const real *kind = p->kinds.values + m, far = chi_reach_square(kind);
        const int32_t end = (int32_t)kind[KIND_END];
        for (int32_t i = (int32_t)kind[KIND_BEGIN]; i < end; i += 3) {
            const plugmc_separation s = from_ion(p, r, i);
            real t;
            if (s.r2 >= far) continue;
            int32_t k =
                interval(plugmc_sqrt(s.r2) * kind[KIND_PER_LENGTH], kind[KIND_INTERVALS], &t);
            sum += cubic(p->chi_table.values, (int32_t)kind[KIND_ROWS] + k, t);
        }
    }
    return sum;
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    (void)a;
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
    for (int32_t m = 0; m < p->kinds.count; m += KIND_NUMBERS) {
        const real *kind = p->kinds.values + m, far = chi_reach_square(kind);
        const int32_t end = (int32_t)kind[KIND_END];
        for (int32_t i = (int32_t)kind[KIND_BEGIN]; i < end; i += 3) {
            const plugmc_separation s = from_ion(p, r, i);
            real t, first, second;
            if (s.r2 >= far) continue;
            real distance = plugmc_sqrt(s.r2);
            int32_t k = interval(distance * kind[KIND_PER_LENGTH], kind[KIND_INTERVALS], &t);
            cubic_slopes(p->chi_table.values, (int32_t)kind[KIND_ROWS] + k, t, distance,
                         kind[KIND_PER_LENGTH], &first, &second);
            gradient[0] += first * s.x;
            gradient[1] += first * s.y;
            gradient[2] += first * s.z;
            *laplacian += second + 2 * first;
        }
    }
}

/* ---- What coefficients have to do with it ---- */

/* Adds the four B-splines that are not 0 at r to the sums of their coefficients, of which there are `count` from
 * `first` on; `d` is 1/spacing. J is linear in them, so d ln Psi / dp is minus a sum of these. The knot before the
 * origin takes part in the coefficient at 1 and keeps the cusp as it is. */
PLUGMC_FN void add_splines(const plugmc_tally *t, int32_t first, int32_t count, real d, real r,
                           int32_t electrons, real along)
{
    const real x = r * d, floor = (real)1e-30;
    if (count < 2 || !(x < (real)(count + 1))) return;
    const int32_t k = (int32_t)x;
    const real s = x - (real)k, u = 1 - s, over = d / (r > floor ? r : floor);
    const real value[4] = {u * u * u / 6, (s * s * (3 * s - 6) + 4) / 6,
                           (u * u * (3 * u - 6) + 4) / 6, s * s * s / 6};
    const real slope[4] = {-u * u / 2, s * (3 * s - 4) / 2, -u * (3 * u - 4) / 2, s * s / 2};
    const real curvature[4] = {u, 3 * s - 2, 3 * u - 2, s};
    for (int32_t j = 0; j < 4; j++) {
        const int32_t knot = k - 1 + j;
        if (knot < count)
            plugmc_tally_radial(t, first + (knot < 0 ? 1 : knot), electrons, along, -value[j],
                                -slope[j] * over, -curvature[j] * d * d);
    }
}

/* Coefficients are numbered through like, unlike and chi of one kind after the other. */
PLUGMC_FN void pair_variational(const parameters *p, plugmc_position at, plugmc_separation s,
                                plugmc_site a, plugmc_site b, const plugmc_tally *t)
{
    const int same = a.species == b.species;
    (void)at;
    add_splines(t, same ? 0 : p->like.count, same ? p->like.count : p->unlike.count,
                u_per_length(p, same), plugmc_sqrt(s.r2), 2, plugmc_tally_along(t, s));
}

PLUGMC_FN void field_variational(const parameters *p, plugmc_position r, plugmc_site a,
                                 const plugmc_tally *t)
{
    (void)a;
    for (int32_t m = 0; m < p->kinds.count; m += KIND_NUMBERS) {
        const real *kind = p->kinds.values + m, far = chi_reach_square(kind);
        const int32_t end = (int32_t)kind[KIND_END],
                      first = p->like.count + p->unlike.count + (int32_t)kind[KIND_FIRST];
        for (int32_t i = (int32_t)kind[KIND_BEGIN]; i < end; i += 3) {
            const plugmc_separation s = from_ion(p, r, i);
            if (s.r2 < far)
                add_splines(t, first, (int32_t)kind[KIND_INTERVALS] - 1, kind[KIND_PER_LENGTH],
                            plugmc_sqrt(s.r2), 1, plugmc_tally_along(t, s));
        }
    }
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>
#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
#include <plugmc/description.h>
#include <plugmc/everything.h>
#include <plugmc/species_pairs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../files/element_symbols.h"
#include "../../files/text_file.h"
#include "../box_default.h"
#include "../ions_of_orbitals.h"
#include "../jastrow_files/qmcpack_jastrow.h"

#include "from_file.h"

#include "preparation.h"

#include "variational.h"

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, like, 0, "", -1e6, 1e6, "",
                    "B-spline coefficients of u, like spins"),
    PLUGMC_LIST_KEY(parameters, unlike, 0, "", -1e6, 1e6, "",
                    "B-spline coefficients of u, unlike spins"),
    PLUGMC_LIST_KEY(parameters, chi, 0, "", -1e6, 1e6, "", "B-spline coefficients of chi"),
    PLUGMC_REAL_KEY(parameters, like_cusp, "-0.25", -1e6, 1e6, "1/length",
                    "slope of u at contact, like spins"),
    PLUGMC_REAL_KEY(parameters, unlike_cusp, "-0.5", -1e6, 1e6, "1/length",
                    "slope of u at contact, unlike spins"),
    PLUGMC_REAL_KEY(
        parameters, chi_cusp, "0", -1e6, 1e6, "1/length",
        "slope of chi at an ion: its charge, if it is bare and the orbitals have no cusp"),
    PLUGMC_REAL_KEY(parameters, u_cutoff, "0", 0, 1e12, "length",
                    "cutoff of u; 0: the radius of the largest sphere in the Wigner-Seitz "
                    "cell"),
    PLUGMC_REAL_KEY(parameters, chi_cutoff, "0", 0, 1e12, "length", "cutoff of chi; 0: likewise"),
    PLUGMC_LIST_KEY(parameters, ions, 0, "", -1e12, 1e12, "length",
                    "x y z of the ions that chi belongs to; empty: those of the orbitals"),
    PLUGMC_LIST_KEY(parameters, tile, 3, "1 1 1", 1, 1000, "",
                    "copies of the ions along a, b and c that fill the cell"),
    PLUGMC_FILE_KEY(parameters, file, "",
                    "QMCPACK's XML with one-body and two-body splines, or a file with lines 'like "
                    "...', 'unlike ...', 'chi ...', 'ions ...'"),
    PLUGMC_TEXT_KEY(parameters, elements, "",
                    "symbols of the elements that chi is for, whose coefficients follow each "
                    "other; empty: those of the file, or that of the orbitals"),
    PLUGMC_LIST_DERIVED(parameters, u_table, "polynomials of 2 u"),
    PLUGMC_LIST_DERIVED(parameters, chi_table, "polynomials of 2 chi"),
    PLUGMC_LIST_DERIVED(parameters, centres, "places of ions"),
    PLUGMC_LIST_DERIVED(parameters, kinds, "numbers of each kind of ion"),
    PLUGMC_REAL_DERIVED(parameters, u_reach, "cutoff of u"),
    PLUGMC_REAL_DERIVED(parameters, like_intervals, "knot intervals of u, like spins"),
    PLUGMC_REAL_DERIVED(parameters, unlike_intervals, "likewise, unlike spins"),
    PLUGMC_REAL_DERIVED(parameters, like_per_length, "1 / spacing of the knots of u, like spins"),
    PLUGMC_REAL_DERIVED(parameters, unlike_per_length, "likewise, unlike spins"),
};

static const plugmc_potential potential = {
    .size = sizeof potential, .pair = &plugmc_pair_facet, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "jastrow",
              .summary =
                  "Jastrow factor of a wave function: u and chi as B-splines of the distance",
              .reference = "Kim et al., J. Phys.: Condens. Matter 30, 195901 (2018)",
              PLUGMC_KEYS(parameters, table),
              PLUGMC_OFFERS({PLUGMC_VARIATIONAL_PARAMETERS, &free_facet},
                            {PLUGMC_DESCRIPTION, &description}),
              .configure = configure, .prepare = prepare, .potential = &potential);
#endif
