/* k points and the simulation cell, and the choice of orbitals.
 *
 * A periodic cell of n1 x n2 x n3 primitive cells has just that many k points: those whose phases
 * over the edges of the cell are all the same (0 but for twisted boundary conditions). A file must
 * have all of them; of a pair k, -k one is enough, since the orbitals of the other are the complex
 * conjugates.
 */
#include "occupation.h"

#include <math.h>
#include <stdlib.h>

static const double k_tolerance = 1e-5; /* turns */
static const double shell_width = 1e-5; /* Hartree: eigenvalues that count as equal */

static double from_integer(double x) { return fabs(x - rint(x)); }

/* The smallest number of cells along direction d that makes all k points equal. */
static int32_t cells_along(const orbital_file *f, int d)
{
    enum { MOST = 64 };
    for (int32_t n = 1; n <= MOST; n++) {
        double worst = 0;
        for (int32_t k = 1; k < f->k_points; k++)
            worst = fmax(worst, from_integer(n * (f->k[k][d] - f->k[0][d])));
        if (worst < n * k_tolerance) return n;
    }
    return 0;
}

static int check_members(const orbital_file *f, const int32_t tile[3])
{
    for (int32_t k = 0; k < f->k_points; k++)
        for (int d = 0; d < 3; d++)
            if (!(from_integer(tile[d] * (f->k[k][d] - f->k[0][d])) < tile[d] * k_tolerance))
                return damaged(
                    f,
                    "k point %d, (%.6g %.6g %.6g) in reciprocal vectors, does not belong "
                    "to a cell of %d x %d x %d primitive cells with k point 1, (%.6g "
                    "%.6g %.6g)",
                    k + 1, f->k[k][0], f->k[k][1], f->k[k][2], tile[0], tile[1], tile[2],
                    f->k[0][0], f->k[0][1], f->k[0][2]);
    return PLUGMC_OK;
}

/* -k belongs to the cell, and is no k point of the file. */
static int lacks_reverse(const orbital_file *f, const int32_t tile[3], int32_t k)
{
    for (int d = 0; d < 3; d++)
        if (from_integer(tile[d] * (-f->k[k][d] - f->k[0][d])) >= tile[d] * k_tolerance) return 0;
    for (int32_t j = 0; j < f->k_points; j++) {
        double apart = 0;
        for (int d = 0; d < 3; d++) apart = fmax(apart, from_integer(f->k[j][d] + f->k[k][d]));
        if (apart < k_tolerance) return 0;
    }
    return 1;
}

int find_tile(const orbital_file *f, const int32_t tile[3], k_set *out)
{
    int64_t cells = 1, found = f->k_points, reversed = 0;
    for (int d = 0; d < 3; d++) {
        out->tile[d] = tile[d] ? tile[d] : cells_along(f, d);
        if (out->tile[d] == 0)
            return damaged(f, "its k points make no grid along direction %d: give 'tile'", d + 1);
        cells *= out->tile[d];
    }
    int code = check_members(f, out->tile);
    if (code) return code;
    out->reversed = take(f, (size_t)f->k_points, sizeof *out->reversed);
    if (!out->reversed) return PLUGMC_ERROR_MEMORY;
    for (int32_t k = 0; k < f->k_points && found < cells; k++) {
        out->reversed[k] = (uint8_t)lacks_reverse(f, out->tile, k);
        reversed += out->reversed[k];
    }
    if (found + reversed == cells) return PLUGMC_OK;
    return damaged(f,
                   "a cell of %d x %d x %d primitive cells has %lld k points, but the file has "
                   "%lld, and time reversal adds %lld",
                   out->tile[0], out->tile[1], out->tile[2], (long long)cells, (long long)found,
                   (long long)reversed);
}

/* ---- The lowest orbitals ------------------------------------------------------------------- */

typedef struct candidate {
    occupied orbital;
    double eigenvalue;
} candidate;

static int by_energy(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->eigenvalue != y->eigenvalue) return x->eigenvalue < y->eigenvalue ? -1 : 1;
    if (x->orbital.state != y->orbital.state) return x->orbital.state < y->orbital.state ? -1 : 1;
    return x->orbital.conjugate - y->orbital.conjugate;
}

int occupy(const orbital_file *f, const k_set *set, int32_t spin, int64_t count, occupied *out)
{
    static const char *const names[] = {"up", "down"};
    const int32_t of_file = f->spins == 2 ? spin : SPIN_UP;
    candidate *all = malloc(2 * (size_t)f->states * sizeof *all);
    if (!all)
        return f->host->fail(f->host->context, PLUGMC_ERROR_MEMORY, "no memory for %d orbitals",
                             f->states);
    int64_t n = 0;
    for (int32_t i = 0; i < f->states; i++) {
        const orbital_state *s = &f->state[i];
        if (s->spin != of_file) continue;
        for (int32_t c = 0; c <= set->reversed[s->k]; c++)
            all[n++] = (candidate){{i, c}, s->eigenvalue};
    }
    if (n < count) {
        free(all);
        return damaged(f,
                       "it has %lld orbitals for spin %s, but the run has %lld such electrons: it "
                       "has too few bands",
                       (long long)n, names[spin], (long long)count);
    }
    qsort(all, (size_t)n, sizeof *all, by_energy);
    for (int64_t i = 0; i < count; i++) out[i] = all[i].orbital;
    double gap =
        n > count && count > 0 ? all[count].eigenvalue - all[count - 1].eigenvalue : INFINITY;
    if (gap < shell_width)
        f->host->warn(
            f->host->context,
            "%s: the %lld orbitals of lowest eigenvalue for spin %s end inside of a shell: "
            "the next one is only %.2g Hartree higher, and which of them is taken is chance",
            f->path, (long long)count, names[spin], gap);
    free(all);
    return PLUGMC_OK;
}
