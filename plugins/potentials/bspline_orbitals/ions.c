/* ions.c: the ions of the simulation cell, with the charges that electrons feel. */
#include <math.h>
#include <string.h>

#include "bspline_orbitals.h"

/* Number of an element in the order in which the file first names them, from 0. */
static int32_t element_of(const orbital_file *f, int32_t atom, int32_t *elements)
{
    int32_t n = 0;
    for (int32_t i = 0; i <= atom; i++) {
        int32_t earlier = 0;
        while (earlier < i && f->crystal.atomic_number[earlier] != f->crystal.atomic_number[i])
            earlier++;
        if (earlier < i) continue;
        n++;
        if (f->crystal.atomic_number[i] == f->crystal.atomic_number[atom]) {
            *elements = n > *elements ? n : *elements;
            return n - 1;
        }
    }
    return 0;
}

/* Valence charges: of the user, who knows better than a program that writes atomic numbers in their place; else of
 * the file, or of the electrons if it gives none and there is but one element. */
int find_valence(bspline_orbitals *b)
{
    orbital_file *f = &b->source;
    int32_t elements = 0;
    double sum = 0;
    for (int32_t i = 0; i < f->crystal.atoms; i++) element_of(f, i, &elements);
    if (b->valence.count != 0 && b->valence.count != elements)
        return damaged(f, "valence has %d numbers, but the file has %d elements", b->valence.count,
                       elements);
    for (int32_t i = 0; i < f->crystal.atoms; i++) {
        if (b->valence.count)
            f->crystal.valence[i] = (double)b->valence.values[element_of(f, i, &elements)];
        else if (!f->crystal.valence[i] && elements == 1)
            f->crystal.valence[i] = (double)f->crystal.electrons / f->crystal.atoms;
        if (!(f->crystal.valence[i] > 0))
            return damaged(f,
                           "it does not say what valence charges its %d elements have: give them "
                           "as 'valence', in the order in which the atoms come",
                           elements);
        sum += f->crystal.valence[i];
    }
    if (fabs(sum - f->crystal.electrons) < 1e-6) return PLUGMC_OK;
    return damaged(
        f, "the atoms have %g valence charges, but there are %d electrons a primitive cell%s", sum,
        f->crystal.electrons,
        b->valence.count ? "" : ": give the right charges as 'valence', element by element");
}

/* The primitive cell at lattice vector n, in the simulation cell: whether its corner is in [0, 1) of the vectors of
 * that, by whole numbers. */
static int is_inside(const k_set *cells, const int32_t n[3])
{
    const int32_t(*t)[3] = (const int32_t(*)[3])cells->tile;
    const int64_t sign = tile_determinant(t) < 0 ? -1 : 1;
    for (int d = 0; d < 3; d++) { /* coordinate d is n . (T^-1), over the determinant */
        const int32_t *u = t[(d + 1) % 3], *v = t[(d + 2) % 3];
        int64_t share = 0;
        for (int e = 0; e < 3; e++)
            share += n[e] * ((int64_t)u[(e + 1) % 3] * v[(e + 2) % 3] -
                             (int64_t)u[(e + 2) % 3] * v[(e + 1) % 3]);
        share *= sign;
        if (share < 0 || share >= cells->cells) return 0;
    }
    return 1;
}

/* All of them [cells]. */
static int list_cells(const orbital_file *f, const k_set *cells, int32_t (**out)[3])
{
    int32_t low[3] = {0}, high[3] = {0}, n[3];
    int64_t at = 0;
    *out = take(f, (size_t)cells->cells, sizeof **out);
    if (!*out) return PLUGMC_ERROR_MEMORY;
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) {
            low[e] += cells->tile[d][e] < 0 ? cells->tile[d][e] : 0;
            high[e] += cells->tile[d][e] > 0 ? cells->tile[d][e] : 0;
        }
    for (n[0] = low[0]; n[0] <= high[0]; n[0]++)
        for (n[1] = low[1]; n[1] <= high[1]; n[1]++)
            for (n[2] = low[2]; n[2] <= high[2]; n[2]++)
                if (is_inside(cells, n) && at < cells->cells) memcpy((*out)[at++], n, sizeof n);
    return PLUGMC_OK;
}

int prepare_ions(bspline_orbitals *b, const plugmc_box *box)
{
    const orbital_file *f = &b->source;
    const int64_t cells = b->cells.cells, n = cells * f->crystal.atoms;
    int32_t(*copy)[3] = NULL;
    if (n > MOST_STATES)
        return damaged(f, "%lld ions are more than this plugin takes", (long long)n);
    double(*positions)[3] = take(f, (size_t)n, sizeof *positions);
    int32_t *atomic_number = take(f, (size_t)n, sizeof *atomic_number);
    double *valence = take(f, (size_t)n, sizeof *valence);
    if (!positions || !atomic_number || !valence || list_cells(f, &b->cells, &copy))
        return PLUGMC_ERROR_MEMORY;
    int64_t at = 0;
    for (int64_t cell = 0; cell < cells; cell++)
        for (int32_t i = 0; i < f->crystal.atoms; i++, at++) {
            for (int e = 0; e < 3; e++) {
                positions[at][e] = f->crystal.position[i][e];
                for (int d = 0; d < 3; d++)
                    positions[at][e] += (double)copy[cell][d] * f->crystal.lattice[d][e];
            }
            plugmc_wrap(box, positions[at]);
            atomic_number[at] = f->crystal.atomic_number[i];
            valence[at] = f->crystal.valence[i];
        }
    b->ions = (plugmc_ions){.size = sizeof b->ions,
                            .count = (int32_t)n,
                            .positions = (const double(*)[3])positions,
                            .atomic_number = atomic_number,
                            .valence = valence,
                            .primitive_cells = (int32_t)cells,
                            .energy_count = f->crystal.energies,
                            .energy_names = energy_names,
                            .energies = f->crystal.energy,
                            .charge = (double)b->keys.charge};
    return PLUGMC_OK;
}
