/* describe.c: what plugmc check prints of a file of orbitals. */
#include "../../files/element_symbols.h"
#include "bspline_orbitals.h"

static void say_cell(const bspline_orbitals *b, char *out, size_t bytes)
{
    const k_set *cells = &b->cells;
    char words[TILE_WORDS];
    snprintf(out, bytes, "%s, %d k points, %s primitive cells, twist %g %g %g, %s",
             b->source.format, b->source.k_points,
             tile_words((const int32_t(*)[3])cells->tile, words), cells->twist[0], cells->twist[1],
             cells->twist[2],
             b->source.spins == 2 ? "orbitals of their own for each spin"
                                  : "the same orbitals for both spins");
}

static void say_grid(const bspline_orbitals *b, char *out, size_t bytes)
{
    char cutoff[80] = "";
    if (b->source.crystal.cutoff > 0)
        snprintf(cutoff, sizeof cutoff, ", plane waves up to %g Hartree", b->source.crystal.cutoff);
    snprintf(out, bytes, "grid of %d x %d x %d, %s, in %s precision%s", b->grid.points[0],
             b->grid.points[1], b->grid.points[2], b->parts == 2 ? "complex" : "real",
             b->size == sizeof(float) ? "single" : "double", cutoff);
}

/* Bands of a k point and spin: their number and the range of their eigenvalues, Hartree. */
static void say_k_point(const bspline_orbitals *b, int32_t k, char *out, size_t bytes)
{
    const orbital_file *f = &b->source;
    int32_t bands = 0;
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < f->states; i++) {
        const orbital_state *s = &f->state[i];
        if (s->k != k) continue;
        bands += s->spin == 0;
        low = s->eigenvalue < low ? s->eigenvalue : low;
        high = s->eigenvalue > high ? s->eigenvalue : high;
    }
    snprintf(out, bytes,
             "k point %d (%.6g %.6g %.6g)%s: %d bands from %.6g to %.6g Hartree, occupied up %d, "
             "down %d",
             k + 1, f->k[k][0], f->k[k][1], f->k[k][2],
             b->cells.member[k] == (BY_ITSELF | REVERSED) ? " and its opposite"
             : b->cells.member[k] == REVERSED             ? " as its opposite"
             : b->cells.member[k] == 0                    ? ", not of this twist"
                                                          : "",
             bands, low, high, b->keys.filled[0] ? b->keys.filled[0][k] : 0,
             b->keys.filled[1] ? b->keys.filled[1][k] : 0);
}

/* The number of ions of the element that ion i is the first of; 0: it is not the first. */
static int32_t first_of_element(const plugmc_ions *ions, int32_t i)
{
    int32_t count = 0;
    for (int32_t j = 0; j < ions->count; j++) {
        if (ions->atomic_number[j] != ions->atomic_number[i]) continue;
        if (j < i) return 0;
        count++;
    }
    return count;
}

int32_t describe_orbitals(const void *instance, int32_t index, char *out, size_t bytes)
{
    const bspline_orbitals *b = instance;
    const plugmc_ions *ions = &b->ions;
    const int32_t k_points = b->source.k_points;
    if (index == 0) return say_cell(b, out, bytes), 1;
    if (index == 1) return say_grid(b, out, bytes), 1;
    if (index - 2 < k_points) return say_k_point(b, index - 2, out, bytes), 1;
    index -= 2 + k_points;
    if (b->keys.charge != 0 && !index--) {
        snprintf(out, bytes,
                 "charge of the cell %+g, neutralised by a uniform background in which the "
                 "potential is 0 on average",
                 (double)b->keys.charge);
        return 1;
    }
    for (int32_t i = 0; i < ions->count; i++) {
        const int32_t count = first_of_element(ions, i);
        if (!count || index--) continue;
        snprintf(out, bytes, "%d ions of %s, charge %g", count,
                 element_symbol(ions->atomic_number[i]), ions->valence[i]);
        return 1;
    }
    return 0;
}
