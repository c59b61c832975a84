/* describe.c: what plugmc check prints of a file of orbitals. */
#include <math.h>

#include "../../files/element_symbols.h"
#include "gaussian_orbitals.h"

static void say_basis(const gaussian_orbitals *g, char *out, size_t bytes)
{
    const molecule *m = &g->source;
    int32_t most = 0, cartesian = 0;
    for (int32_t s = 0; s < m->shells; s++) {
        most = m->shell[s].l > most ? m->shell[s].l : most;
        cartesian += m->shell[s].cartesian;
    }
    snprintf(out, bytes,
             "%s%s%s, %d %s functions in %d shells up to l = %d, %d primitives, %s orbitals%s",
             m->format, *m->writer ? " by " : "", m->writer, m->functions,
             cartesian ? "cartesian" : "spherical", m->shells, most, m->primitives,
             g->tables.parts == 2 ? "complex" : "real",
             m->unrestricted ? " of their own for each spin" : ", the same for both spins");
}

static void say_spin(const gaussian_orbitals *g, int s, char *out, size_t bytes)
{
    const molecule_spin *spin = &g->source.spin[s];
    const int32_t n = g->electrons[s];
    char energies[80] = "", beyond[40] = "";
    if (spin->energy && n)
        snprintf(energies, sizeof energies, ", energies %.6g to %.6g Hartree",
                 spin->energy[g->occupied[s][0]], spin->energy[g->occupied[s][n - 1]]);
    if (g->keys.beyond)
        snprintf(beyond, sizeof beyond, " and %lld more", (long long)g->keys.beyond);
    snprintf(out, bytes, "spin %s: %d%s of %d orbitals occupied%s", s ? "down" : "up", n, beyond,
             spin->orbitals, energies);
}

static void say_cell(const gaussian_orbitals *g, char *out, size_t bytes)
{
    int32_t images = 1;
    for (int32_t i = 0; i < g->tables.shells; i++)
        images = g->tables.shell[i].images > images ? g->tables.shell[i].images : images;
    snprintf(out, bytes, "twist %g %g %g, functions above %g in up to %d images of the cell",
             g->tables.turns[0], g->tables.turns[1], g->tables.turns[2], (double)g->keys.tolerance,
             images);
}

static void say_cusps(const gaussian_orbitals *g, char *out, size_t bytes)
{
    const gaussian_tables *t = &g->tables;
    double near = INFINITY, far = 0;
    for (int s = 0; s < 2; s++)
        for (int64_t i = 0; i < t->corrected * g->spin[s].columns; i++) {
            const double r = g->spin[s].cusp[i].radius;
            far = fmax(far, r);
            near = r > 0 ? fmin(near, r) : near;
        }
    snprintf(out, bytes, "cusps at %d nuclei, within %.3g to %.3g bohr", t->corrected, near, far);
}

/* The number of nuclei of the element that nucleus i is the first of; 0: it is not the first. */
static int32_t first_of_element(const molecule *m, int32_t i)
{
    int32_t count = 0;
    for (int32_t j = 0; j < m->nuclei; j++) {
        if (m->atomic_number[j] != m->atomic_number[i]) continue;
        if (j < i) return 0;
        count++;
    }
    return count;
}

int32_t gaussian_describe(const void *instance, int32_t index, char *out, size_t bytes)
{
    const gaussian_orbitals *g = instance;
    const molecule *m = &g->source;
    if (index == 0) return say_basis(g, out, bytes), 1;
    if (index < 3) return say_spin(g, index - 1, out, bytes), 1;
    index -= 3;
    if (m->periodic && !index--) return say_cell(g, out, bytes), 1;
    if (g->tables.corrected && !index--) return say_cusps(g, out, bytes), 1;
    for (int32_t i = 0; i < m->nuclei; i++) {
        const int32_t count = first_of_element(m, i);
        if (!count || index--) continue;
        snprintf(out, bytes, "%d nuclei of %s, charge %g", count,
                 element_symbol(m->atomic_number[i]), m->charge[i]);
        return 1;
    }
    return 0;
}
