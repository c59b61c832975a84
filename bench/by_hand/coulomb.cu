/* coulomb.cu: the brush sweep of a 3:-1 electrolyte as one would write it for it alone, compiled by
 * nvcc ahead of time. compare.c puts it in the place of the kernel that plugmc fuses at run time
 * and NVRTC compiles, which must not be more than 3 % slower.
 *
 * What is the same: the algorithm and its data, which are the mover's text, and that
 * multiplications and additions may be contracted, as that text asks. What is not: the pair terms
 * are written out here in the most direct way, for ions of one diameter and two valences in a
 * sphere, with one reciprocal square root for the new and one for the old separation; there are no
 * potentials with parameters in namespaces, no tables of species and no sums over terms; and
 * another compiler. The root is the processor's own, as whoever wants speed would take it: rsqrtf()
 * of nvcc looks for denormal numbers first, which costs instructions that the fused kernel does not
 * have.
 *
 * The system is examples/electrolyte-3-1.ini cut to N = 131,072 (compare.c). */
#include "nvcc.h"

#define PLUGMC_REAL float
#include "plugmc/device.h"

#define PLUGMC_ENERGY_TERMS 1
#define PLUGMC_CONTACTS 1

#define BRUSH_PANEL 128
#define BRUSH_LAG 1
#define BRUSH_TEAMS 8
#define BRUSH_CHUNK 16
#define BRUSH_SHARED (64 << 10)
#define BRUSH_STORED float
#define BRUSH_MARGIN (1 + 0x1p-21) /* on squared contact distances, for rounding */

/* Species 0 are the cations. */
PLUGMC_FN plugmc_site plugmc_site_of_species(int species)
{
    plugmc_site ion;
    ion.charge = species == 0 ? 3.0f : -1.0f;
    ion.diameter = 7.5f;
    ion.species = species;
    return ion;
}

PLUGMC_FN float plugmc_contact_square(int, int) { return 7.5f * 7.5f; }

PLUGMC_FN plugmc_separation plugmc_separated(float x, float y, float z)
{
    plugmc_separation s;
    s.x = x;
    s.y = y;
    s.z = z;
    s.r2 = x * x + y * y + z * z;
    return s;
}

PLUGMC_FN float over_root(float x)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* The change of sum z_j / r_ij; what all j have in common, l_B z_i, comes last. */
typedef float plugmc_sums;

PLUGMC_FN void plugmc_sums_clear(plugmc_sums *sum) { *sum = 0; }

PLUGMC_FN void plugmc_sums_add_change(plugmc_sums *sum, plugmc_separation from,
                                      plugmc_separation to, plugmc_site, plugmc_site b)
{
    *sum += b.charge * (over_root(to.r2) - over_root(from.r2));
}

PLUGMC_FN float plugmc_sums_total(const plugmc_sums *sum, plugmc_site a)
{
    return *sum * (7.117f * a.charge);
}

#include "brush/state.h"
#include "brush/pairs.cu"
#include "brush/brush.cu"
