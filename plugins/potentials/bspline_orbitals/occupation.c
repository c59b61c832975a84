/* k points and the simulation cell, and the choice of orbitals.
 *
 * A periodic cell of n primitive cells has just that many k points: those whose phases
 * over the edges of the cell are all the same, 0 or those of a twist. A file must have all of them; of a
 * pair k, -k one is enough, since the orbitals of the other are the complex conjugates. It may have those
 * of several twists: then `twist` says which are meant.
 */
#include "occupation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double k_tolerance = 1e-5; /* turns */
static const double shell_width = 1e-5; /* Hartree: eigenvalues that count as equal */

static double from_integer(double x) { return fabs(x - rint(x)); }

/* ---- The cell ---------------------------------------------------------------------------------- */

int64_t tile_determinant(const tiling t)
{
    int64_t sum = 0;
    for (int d = 0; d < 3; d++)
        sum += (int64_t)t[0][d] * ((int64_t)t[1][(d + 1) % 3] * t[2][(d + 2) % 3] -
                                   (int64_t)t[1][(d + 2) % 3] * t[2][(d + 1) % 3]);
    return sum;
}

const char *tile_words(const tiling t, char words[TILE_WORDS])
{
    int diagonal = 1;
    for (int d = 0; d < 3; d++) diagonal &= !t[d][(d + 1) % 3] && !t[d][(d + 2) % 3] && t[d][d] > 0;
    if (diagonal)
        snprintf(words, TILE_WORDS, "%d x %d x %d", t[0][0], t[1][1], t[2][2]);
    else
        snprintf(words, TILE_WORDS, "(%d %d %d, %d %d %d, %d %d %d)", t[0][0], t[0][1], t[0][2],
                 t[1][0], t[1][1], t[1][2], t[2][0], t[2][1], t[2][2]);
    return words;
}

/* Of k point k over edge d of the cell; of -k where sign is -1. */
static double turns_over(const orbital_file *f, const tiling tile, int d, int32_t k, int sign)
{
    double turns = 0;
    for (int e = 0; e < 3; e++) turns += sign * tile[d][e] * f->k[k][e];
    return turns;
}

/* How far these may be from those of a twist. */
static double tolerance_over(const tiling tile, int d)
{
    return (abs(tile[d][0]) + abs(tile[d][1]) + abs(tile[d][2])) * k_tolerance;
}

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

/* Turns of k point k, or of -k, over the edges of the cell are those of the twist. */
static int belongs(const orbital_file *f, const tiling tile, const double twist[3], int32_t k,
                   int sign)
{
    for (int d = 0; d < 3; d++)
        if (!(from_integer(turns_over(f, tile, d, k, sign) - twist[d]) < tolerance_over(tile, d)))
            return 0;
    return 1;
}

static int has_opposite(const orbital_file *f, int32_t k)
{
    for (int32_t j = 0; j < f->k_points; j++) {
        double apart = 0;
        for (int d = 0; d < 3; d++) apart = fmax(apart, from_integer(f->k[j][d] + f->k[k][d]));
        if (apart < k_tolerance) return 1;
    }
    return 0;
}

/* Which k points of the file make those of a cell with this twist: how many do by themselves, and how many
 * by time reversal, where -k is no k point of the file. `member` may be NULL. */
static void find_members(const orbital_file *f, const tiling tile, const double twist[3],
                         uint8_t *member, int64_t *found, int64_t *reversed)
{
    *found = *reversed = 0;
    for (int32_t k = 0; k < f->k_points; k++) {
        const int itself = belongs(f, tile, twist, k, 1),
                  opposite = belongs(f, tile, twist, k, -1) && !has_opposite(f, k);
        if (member) member[k] = (uint8_t)((itself ? BY_ITSELF : 0) | (opposite ? REVERSED : 0));
        *found += itself;
        *reversed += opposite;
    }
}

static void twist_of(const orbital_file *f, const tiling tile, int32_t k, int sign, double twist[3])
{
    for (int d = 0; d < 3; d++) {
        const double turns = turns_over(f, tile, d, k, sign);
        twist[d] = turns - rint(turns);
        if (fabs(twist[d]) < tolerance_over(tile, d)) twist[d] = 0; /* not -0 */
        if (twist[d] + 0.5 < tolerance_over(tile, d)) twist[d] = 0.5;
    }
}

/* The twists of which a cell has all k points, "(0 0 0), (0.5 0 0)", to be freed; NULL: none, or no memory. */
static char *list_twists(const orbital_file *f, const tiling tile)
{
    enum { MOST_LOOKED_AT = 1000, MOST_SHOWN = 16 };
    const int64_t cells = llabs(tile_determinant(tile));
    char *text = NULL;
    size_t size;
    int shown = 0, more = 0;
    FILE *out = open_memstream(&text, &size);
    for (int32_t k = 0; out && k < f->k_points && k < MOST_LOOKED_AT; k++)
        for (int sign = 1; sign >= -1; sign -= 2) {
            double twist[3];
            int64_t found, reversed;
            int seen = 0;
            twist_of(f, tile, k, sign, twist);
            for (int32_t j = 0; j < k && !seen; j++)
                seen = belongs(f, tile, twist, j, 1) || belongs(f, tile, twist, j, -1);
            seen |= sign < 0 && belongs(f, tile, twist, k, 1);
            if (seen) continue;
            find_members(f, tile, twist, NULL, &found, &reversed);
            if (found + reversed != cells) continue;
            if (shown < MOST_SHOWN)
                fprintf(out, "%s(%.6g %.6g %.6g)", shown++ ? ", " : "", twist[0], twist[1],
                        twist[2]);
            else
                more++;
        }
    if (more) fprintf(out, " and %d more", more);
    if (out) fclose(out);
    if (text && !*text) {
        free(text);
        text = NULL;
    }
    return text;
}

static int refuse_twist(const orbital_file *f, const tiling tile, const double twist[3])
{
    char *held = list_twists(f, tile), words[TILE_WORDS];
    int code = f->host->fail(
        f->host->context, PLUGMC_ERROR_INPUT,
        "twist: %s does not hold (%.6g %.6g %.6g); of a cell of %s primitive cells it holds %s",
        f->path, twist[0], twist[1], twist[2], tile_words(tile, words),
        held ? held : "no twist with all of its k points");
    free(held);
    return code;
}

/* Without a `twist` all k points have to be those of one cell. */
static int check_members(const orbital_file *f, const k_set *set)
{
    char words[TILE_WORDS];
    for (int32_t k = 0; k < f->k_points; k++)
        if (!belongs(f, set->tile, set->twist, k, 1))
            return damaged(
                f,
                "k point %d, (%.6g %.6g %.6g) in reciprocal vectors, does not belong "
                "to a cell of %s primitive cells with k point 1, (%.6g "
                "%.6g %.6g); where a file has those of several twists, 'twist' says which",
                k + 1, f->k[k][0], f->k[k][1], f->k[k][2], tile_words(set->tile, words), f->k[0][0],
                f->k[0][1], f->k[0][2]);
    return PLUGMC_OK;
}

/* The grid of the k points as a cell. */
static int find_tile(const orbital_file *f, tiling tile)
{
    for (int d = 0; d < 3; d++) {
        tile[d][d] = cells_along(f, d);
        if (tile[d][d] == 0)
            return damaged(f, "its k points make no grid along direction %d: give 'tile'", d + 1);
    }
    return PLUGMC_OK;
}

int find_k_points(const orbital_file *f, const tiling tile, const double *twist, k_set *out)
{
    int64_t found, reversed;
    char words[TILE_WORDS];
    memcpy(out->tile, tile, sizeof out->tile);
    int code = tile_determinant(tile) ? PLUGMC_OK : find_tile(f, out->tile);
    if (code) return code;
    out->cells = llabs(tile_determinant((const int32_t(*)[3])out->tile));
    twist_of(f, (const int32_t(*)[3])out->tile, 0, 1, out->twist);
    if (twist) memcpy(out->twist, twist, sizeof out->twist);
    code = twist ? PLUGMC_OK : check_members(f, out);
    if (code) return code;
    out->member = take(f, (size_t)f->k_points, sizeof *out->member);
    if (!out->member) return PLUGMC_ERROR_MEMORY;
    find_members(f, (const int32_t(*)[3])out->tile, out->twist, out->member, &found, &reversed);
    if (found + reversed == out->cells) return PLUGMC_OK;
    if (twist) return refuse_twist(f, (const int32_t(*)[3])out->tile, twist);
    return damaged(f,
                   "a cell of %s primitive cells has %lld k points, but the file has "
                   "%lld, and time reversal adds %lld",
                   tile_words((const int32_t(*)[3])out->tile, words), (long long)out->cells,
                   (long long)found, (long long)reversed);
}

int k_has_opposite(const orbital_file *f, const k_set *set, int32_t k)
{
    for (int32_t j = 0; j < f->k_points; j++) {
        double apart = 0;
        for (int d = 0; d < 3; d++) apart = fmax(apart, from_integer(f->k[j][d] + f->k[k][d]));
        if (j != k && set->member[j] && apart < k_tolerance) return 1;
    }
    return 0;
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

int occupy(const orbital_file *f, const k_set *set, int32_t spin, int64_t count, int whole,
           occupied *out)
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
        for (int32_t c = 0; c < 2; c++)
            if (set->member[s->k] & (c ? REVERSED : BY_ITSELF))
                all[n++] = (candidate){{i, c, WHOLE_ORBITAL}, s->eigenvalue};
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
    if (gap < shell_width && whole)
        f->host->warn(
            f->host->context,
            "%s: the %lld orbitals of lowest eigenvalue for spin %s end inside of a shell: "
            "the next one is only %.2g Hartree higher, and which of them is taken is chance",
            f->path, (long long)count, names[spin], gap);
    free(all);
    return PLUGMC_OK;
}
