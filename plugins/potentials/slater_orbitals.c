/* slater_orbitals: exp(-zeta |r - R|) around nuclei, for atoms with known energies (hydrogen:
 * -1/2 Hartree and no variance with zeta = 1; helium: -(27/16)^2 Hartree with zeta = 27/16) and for
 * molecules of such orbitals (J. C. Slater, Phys. Rev. 36, 57 (1930)).
 *
 * The box is open: [box] shape = sphere, so large that nothing of the orbitals is left at its edge.
 * Orbital l has exponent zeta[l] and belongs to nucleus on[l]; every species takes the first ones,
 * as many as it has particles. Lengths are bohr.
 */
#include <math.h>

#include <plugmc/plugin.h>

#include "slater_orbitals.cu"

#include "by_formula.h"

typedef struct slater_orbitals {
    formulas formulas;
    plugmc_list nuclei, zeta, on; /* parameters */
    plugmc_ions ions;
} slater_orbitals;

static int ions(const void *instance, plugmc_ions *out)
{
    *out = ((const slater_orbitals *)instance)->ions;
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    const slater_orbitals *p = instance;
    if (p->nuclei.count == 0 || p->nuclei.count % 4)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "nuclei has %d numbers: it takes x y z Z of each nucleus",
                          p->nuclei.count);
    if (p->zeta.count == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "zeta is empty: it takes one exponent an orbital");
    if (p->on.count != 0 && p->on.count != p->zeta.count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "on has %d numbers for %d exponents of zeta", p->on.count, p->zeta.count);
    for (int32_t l = 0; l < p->zeta.count; l++) {
        if (!(p->zeta.values[l] > 0))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "zeta %d is %g: it must be above 0", l + 1,
                              (double)p->zeta.values[l]);
        const double on = p->on.count ? (double)p->on.values[l] : 1;
        if (on != rint(on) || on < 1 || on > p->nuclei.count / 4)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "orbital %d is on nucleus %g, but there are nuclei 1 to %d", l + 1,
                              on, p->nuclei.count / 4);
    }
    return PLUGMC_OK;
}

static int prepare_ions(slater_orbitals *p, const plugmc_host *host)
{
    const int32_t n = p->nuclei.count / 4;
    double(*positions)[3] = host->allocate(host->context, (size_t)n * sizeof *positions);
    int32_t *number = host->allocate(host->context, (size_t)n * sizeof *number);
    double *valence = host->allocate(host->context, (size_t)n * sizeof *valence);
    if (!positions || !number || !valence)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d nuclei", n);
    for (int32_t i = 0; i < n; i++) {
        const real *nucleus = p->nuclei.values + 4 * i;
        for (int e = 0; e < 3; e++) positions[i][e] = (double)nucleus[e];
        valence[i] = (double)nucleus[3];
        number[i] = (int32_t)rint(valence[i]);
        if (!(valence[i] > 0))
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "nucleus %d has charge %g", i + 1,
                              valence[i]);
    }
    p->ions = (plugmc_ions){.size = sizeof p->ions,
                            .count = n,
                            .positions = (const double(*)[3])positions,
                            .atomic_number = number,
                            .valence = valence,
                            .primitive_cells = 1};
    return PLUGMC_OK;
}

/* Each orbital must be gone at the edge of the sphere, which cuts it off. */
static int check_sphere(const formulas *f, const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    if (box->domain != PLUGMC_DOMAIN_SPHERE || box->dimension != 3)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "atoms are in open space: [box] dimension = 3, shape = sphere with a large "
            "radius");
    for (int64_t l = 0; l < f->count; l++) {
        const double *c = f->orbitals[l].centre;
        double from_edge = box->radius - sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
        if (!(f->orbitals[l].zeta * from_edge > 12))
            host->warn(
                host->context,
                "the sphere of radius %g cuts off orbital %lld, which falls only to exp(-%.2g) "
                "at its edge",
                box->radius, (long long)l + 1, f->orbitals[l].zeta * from_edge);
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    slater_orbitals *p = instance;
    formulas *f = &p->formulas;
    const plugmc_system *system = host->system;
    f->host = host;
    f->count = p->zeta.count;
    for (int32_t s = 0; s < system->species_count; s++)
        if (plugmc_species_at(system, s)->count > f->count)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "species '%s' has %lld electrons, but zeta gives only %lld orbitals",
                              plugmc_species_at(system, s)->name,
                              (long long)plugmc_species_at(system, s)->count, (long long)f->count);
    f->orbitals = host->allocate(host->context, (size_t)f->count * sizeof *f->orbitals);
    if (!f->orbitals)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for orbitals");
    for (int64_t l = 0; l < f->count; l++) {
        const int32_t nucleus = p->on.count ? (int32_t)p->on.values[l] - 1 : 0;
        for (int e = 0; e < 3; e++)
            f->orbitals[l].centre[e] = (double)p->nuclei.values[4 * nucleus + e];
        f->orbitals[l].zeta = (double)p->zeta.values[l];
    }
    int code = check_sphere(f, host);
    if (!code) code = prepare_ions(p, host);
    return code ? code : formulas_prepare(f, host);
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(slater_orbitals, nuclei, 0, NULL, -1e6, 1e6, "length, e",
                    "x y z Z of each nucleus, one after another"),
    PLUGMC_LIST_KEY(slater_orbitals, zeta, 0, NULL, 0, 1e3, "1/length", "exponent of each orbital"),
    PLUGMC_LIST_KEY(slater_orbitals, on, 0, "", 1, 1e6, "",
                    "nucleus that each orbital belongs to, from 1; empty: all to the first"),
};

static const plugmc_orbitals orbitals = {.size = sizeof orbitals,
                                         .on_device = 1,
                                         .count = formulas_count,
                                         .complex_valued = formulas_complex,
                                         .evaluate = formulas_evaluate,
                                         .ions = ions};

static const plugmc_potential potential = {.size = sizeof potential, .orbitals = &orbitals};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "slater_orbitals",
              .summary = "orbitals exp(-zeta r) around nuclei, for atoms and molecules",
              .reference = "Slater, Phys. Rev. 36, 57 (1930)",
              .instance_size = sizeof(slater_orbitals), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .configure = configure,
              .potential = &potential, .prepare = prepare, .kernel_text = formulas_kernel_text)
