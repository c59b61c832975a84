/* tables.c: from the file of orbitals to tables of B-spline coefficients. */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "blips.h"
#include "bspline_orbitals.h"

int choose_grid(bspline_orbitals *b)
{
    const orbital_file *f = &b->source;
    int32_t extent[3];
    if (f->waves) {
        blip_grid(f->extent, b->multiplicity, b->grid.points);
    } else {
        memcpy(b->grid.points, f->grid, sizeof b->grid.points);
        for (int d = 0; d < 3; d++) {
            const double *a = f->crystal.lattice[d];
            double edge = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
            extent[d] = (int32_t)(sqrt(2 * f->crystal.cutoff) * edge / (2 * M_PI));
        }
        double multiplicity = blip_multiplicity(extent, b->grid.points);
        if (multiplicity < 2)
            b->host->warn(
                b->host->context,
                "%s: its blip grid of %d x %d x %d is only %.2g times as fine as plane waves "
                "up to its cutoff of %g Hartree need; kinetic energies are good from 2",
                f->path, b->grid.points[0], b->grid.points[1], b->grid.points[2], multiplicity,
                f->crystal.cutoff);
    }
    int64_t points = (int64_t)b->grid.points[0] * b->grid.points[1] * b->grid.points[2];
    for (int d = 0; d < 3; d++)
        if (b->grid.points[d] > MOST_GRID) points = INT64_MAX;
    if (points <= MOST_GRID_POINTS) return PLUGMC_OK;
    return damaged(f, "a blip grid of %d x %d x %d is more than this plugin takes",
                   b->grid.points[0], b->grid.points[1], b->grid.points[2]);
}

/* The table of a spin without its coefficients: rows, phases. */
static int prepare_table(bspline_orbitals *b, spline_table *t, const occupied *orbitals)
{
    const orbital_file *f = &b->source;
    const int64_t points = (int64_t)b->grid.points[0] * b->grid.points[1] * b->grid.points[2];
    const int64_t a_pack = 32 / (int64_t)b->size;
    t->row = (t->count * b->parts + a_pack - 1) / a_pack * a_pack;
    if (points * (t->row * (int64_t)b->size / 16) > UINT32_MAX)
        return damaged(f, "%lld orbitals on a grid of %d x %d x %d are more than this plugin takes",
                       (long long)t->count, b->grid.points[0], b->grid.points[1],
                       b->grid.points[2]);
    t->k_of = take(f, (size_t)t->count, sizeof *t->k_of);
    t->single = take(f, 2 * (size_t)t->count, sizeof *t->single);
    t->phase = take(f, 2 * (size_t)f->k_points, sizeof *t->phase);
    t->wave = take(f, 2 * (size_t)f->k_points, sizeof *t->wave);
    int32_t *used = take(f, 2 * (size_t)f->k_points, sizeof *used);
    if (!t->k_of || !t->single || !t->phase || !t->wave || !used) return PLUGMC_ERROR_MEMORY;
    for (int64_t l = 0; l < t->count; l++) {
        if (orbitals[l].part) {
            t->single[2 * t->singles] = (int32_t)l;
            t->single[2 * t->singles++ + 1] = orbitals[l].part;
        }
        const int32_t k = f->state[orbitals[l].state].k, sign = orbitals[l].conjugate ? -1 : 1;
        int32_t *number = &used[2 * k + orbitals[l].conjugate];
        if (*number == 0) {
            *number = ++t->k_count;
            double *wave = t->wave[*number - 1];
            for (int e = 0; e < 3; e++) {
                t->phase[*number - 1][e] = sign * f->k[k][e];
                for (int d = 0; d < 3; d++)
                    wave[e] += 2 * M_PI * sign * f->k[k][d] * f->crystal.inverse[e][d];
                wave[3] += wave[e] * wave[e];
            }
        }
        t->k_of[l] = *number - 1;
    }
    const size_t numbers =
        b->layout == LAYOUT_PLAIN ? (size_t)(t->count * b->parts) : (size_t)t->row;
    const size_t huge = (size_t)1 << 21, bytes = (size_t)points * numbers * b->size;
    const size_t rounded = (bytes + huge - 1) / huge * huge;
    t->numbers = aligned_alloc(huge, rounded);
    if (!t->numbers)
        return b->host->fail(b->host->context, PLUGMC_ERROR_MEMORY,
                             "no memory for a table of orbitals of %.0f MiB",
                             (double)bytes / 1048576);
    madvise(t->numbers, rounded, MADV_HUGEPAGE); /* rows are far apart: fewer pages to look up */
    memset(t->numbers, 0, rounded);
    return PLUGMC_OK;
}

/* ---- Preparation: coefficients ------------------------------------------------------------- */

enum { GROUP = 8 }; /* orbitals that are stored together */

typedef struct workplace {
    double complex *waves; /* of an orbital */
    double complex *blips; /* [GROUP][grid] */
    double complex *scratch;
    double *norms; /* [orbitals of the table] */
} workplace;

static void put(void *numbers, size_t size, int64_t i, double value)
{
    if (size == sizeof(float))
        ((float *)numbers)[i] = (float)value;
    else
        ((double *)numbers)[i] = value;
}

/* Coefficients of orbitals first ... first + n - 1 into their columns, normalised: several at a
 * time, since columns are far apart in memory. */
static void store_orbitals(bspline_orbitals *b, spline_table *t, int64_t first, int n,
                           const occupied *orbitals, const workplace *w)
{
    const int64_t points = (int64_t)b->grid.points[0] * b->grid.points[1] * b->grid.points[2];
    const int plain = b->layout == LAYOUT_PLAIN;
#pragma omp parallel for num_threads(b->threads)
    for (int64_t i = 0; i < points; i++)
        for (int o = 0; o < n; o++) {
            const int64_t l = first + o;
            const double scale = 1 / sqrt(w->norms[l]);
            const double complex a = w->blips[o * points + i];
            const int64_t at = plain ? (l * points + i) * b->parts : i * t->row + l * b->parts;
            put(t->numbers, b->size, at, scale * creal(a));
            if (b->parts == 2)
                put(t->numbers, b->size, at + 1,
                    (orbitals[l].conjugate ? -scale : scale) * cimag(a));
        }
}

/* Blips of an orbital into place `o` of the group, and its norm. */
static int load_orbital(bspline_orbitals *b, int64_t l, int o, occupied orbital, workplace *w)
{
    orbital_file *f = &b->source;
    const orbital_state *s = &f->state[orbital.state];
    double complex *blips = w->blips + (size_t)o * (size_t)b->grid.points[0] *
                                           (size_t)b->grid.points[1] * (size_t)b->grid.points[2];
    int code = f->read(f, s, f->waves ? w->waves : blips);
    if (code) return code;
    if (f->waves)
        blips_from_waves(f->extent, w->waves, b->grid.points, blips, w->scratch, b->threads);
    w->norms[l] = blip_norm(b->grid.points, blips, w->scratch, b->threads);
    if (w->norms[l] > 1e-12 && w->norms[l] < 1e12) return PLUGMC_OK;
    return damaged(f, "k point %d, spin %d, band %d: the norm of the orbital is %g", s->k + 1,
                   s->spin + 1, s->band + 1, w->norms[l]);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Codes differ in how they normalise, but one file has one norm. */
static int check_norms(const bspline_orbitals *b, const spline_table *t, const occupied *orbitals,
                       const double *norms)
{
    const orbital_file *f = &b->source;
    double *sorted = malloc((size_t)t->count * sizeof *sorted);
    if (!sorted) return PLUGMC_ERROR_MEMORY;
    memcpy(sorted, norms, (size_t)t->count * sizeof *sorted);
    qsort(sorted, (size_t)t->count, sizeof *sorted, by_size);
    const double usual = sorted[t->count / 2];
    free(sorted);
    for (int64_t l = 0; l < t->count; l++) {
        const orbital_state *s = &f->state[orbitals[l].state];
        if (fabs(norms[l] / usual - 1) > 0.02)
            return damaged(f,
                           "k point %d, spin %d, band %d: the norm of the orbital is %.6g, where "
                           "most have %.6g",
                           s->k + 1, s->spin + 1, s->band + 1, norms[l], usual);
    }
    return PLUGMC_OK;
}

static int load_table(bspline_orbitals *b, spline_table *t, const occupied *orbitals)
{
    const orbital_file *f = &b->source;
    const size_t points =
        (size_t)b->grid.points[0] * (size_t)b->grid.points[1] * (size_t)b->grid.points[2];
    size_t scratch = 2 * points;
    if (f->waves && blip_scratch(f->extent, b->grid.points) > scratch)
        scratch = blip_scratch(f->extent, b->grid.points);
    workplace w = {
        .waves = malloc(orbital_file_coefficients(f) * sizeof *w.waves),
        .blips = malloc(GROUP * points * sizeof *w.blips),
        .scratch = malloc(scratch * sizeof *w.scratch),
        .norms = malloc((size_t)t->count * sizeof *w.norms),
    };
    int code = PLUGMC_OK;
    if (!w.waves || !w.blips || !w.scratch || !w.norms)
        code = b->host->fail(b->host->context, PLUGMC_ERROR_MEMORY, "no memory to read orbitals");
    for (int64_t first = 0; first < t->count && !code; first += GROUP) {
        const int n = t->count - first < GROUP ? (int)(t->count - first) : GROUP;
        for (int o = 0; o < n && !code; o++)
            code = load_orbital(b, first + o, o, orbitals[first + o], &w);
        if (!code) store_orbitals(b, t, first, n, orbitals, &w);
    }
    if (!code) code = check_norms(b, t, orbitals, w.norms);
    free(w.waves);
    free(w.blips);
    free(w.scratch);
    free(w.norms);
    return code;
}

/* How many orbitals of each k point are occupied, for plugmc check. */
static int count_filled(bspline_orbitals *b, int32_t spin, const occupied *orbitals)
{
    const orbital_file *f = &b->source;
    b->keys.filled[spin] = take(f, (size_t)f->k_points, sizeof *b->keys.filled[spin]);
    if (!b->keys.filled[spin]) return PLUGMC_ERROR_MEMORY;
    for (int32_t l = 0; l < b->keys.electrons[spin]; l++)
        b->keys.filled[spin][f->state[orbitals[l].state].k]++;
    return PLUGMC_OK;
}

/* What the keys say beside the numbers of electrons; "" twice: nothing. */
static int has_rules(const bspline_orbitals *b, int32_t spin)
{
    return *b->keys.occupied[spin] || *b->keys.promoted[spin];
}

/* The orbitals of a spin [wanted]. */
static int choose_orbitals(const bspline_orbitals *b, int32_t spin, occupied *out)
{
    const orbital_file *f = &b->source;
    const int64_t count = b->wanted[spin];
    int code = *b->keys.occupied[spin]
                   ? occupy_list(f, &b->cells, spin, b->keys.occupied[spin], count, out)
                   : occupy(f, &b->cells, spin, count,
                            !*b->keys.promoted[spin] && b->keys.beyond == 0, out);
    return code ? code : promote(f, &b->cells, spin, b->keys.promoted[spin], count, out);
}

/* One table for both spins, as long as the longer list, or one for each. Without rules orbitals are in the order
 * of their eigenvalues, so that a shorter list is the beginning of a longer one. */
int load_tables(bspline_orbitals *b)
{
    const orbital_file *f = &b->source;
    const int shared = f->spins == 1 && !has_rules(b, SPIN_UP) && !has_rules(b, SPIN_DOWN);
    const int32_t longer = b->wanted[SPIN_DOWN] > b->wanted[SPIN_UP] ? SPIN_DOWN : SPIN_UP;
    b->table_of[SPIN_DOWN] = shared ? 0 : 1;
    for (int32_t s = 0; s < 2; s++) {
        spline_table *t = &b->tables[b->table_of[s]];
        const int32_t other = 1 - s;
        if (b->wanted[s] == 0 || (shared && s != longer)) continue;
        t->count = b->wanted[s];
        occupied *orbitals = take(f, (size_t)t->count, sizeof *orbitals);
        if (!orbitals) return PLUGMC_ERROR_MEMORY;
        int code = PLUGMC_OK;
        if (shared && b->wanted[other] > 0 && b->wanted[other] < t->count)
            code = choose_orbitals(b, other, orbitals);
        if (!code) code = choose_orbitals(b, s, orbitals);
        for (int32_t spin = 0; spin < 2 && !code; spin++)
            if (shared || spin == s) code = count_filled(b, spin, orbitals);
        if (!code) code = prepare_table(b, t, orbitals);
        if (!code) code = load_table(b, t, orbitals);
        if (code) return code;
    }
    return PLUGMC_OK;
}
