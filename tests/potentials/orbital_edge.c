/* test_orbital_edge: orbitals in a periodic box, for the tests: 1, cos, sin, ... of x, and not a number
 * for x >= edge. */
#include <plugmc/everything.h>

#include "orbital_edge.cu"

#include "../../plugins/potentials/by_formula.h"

typedef struct orbital_edge {
    formulas waves;
    double edge;
} orbital_edge;

static int prepare(void *instance, const plugmc_host *host)
{
    orbital_edge *p = instance;
    formulas *f = &p->waves;
    f->host = host;
    for (int32_t s = 0; s < host->system->species_count; s++)
        if (plugmc_species_at(host->system, s)->count > f->count)
            f->count = plugmc_species_at(host->system, s)->count;
    f->orbitals = host->allocate(host->context, (size_t)f->count * sizeof *f->orbitals);
    if (!f->orbitals) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for waves");
    for (int64_t k = 0; k < f->count; k++)
        f->orbitals[k] = (orbital){(int32_t)(k + 1) / 2, k % 2 == 0 && k > 0, p->edge};
    return formulas_prepare(f, host);
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(orbital_edge, edge, "1", -1e6, 1e6, "length", "beyond it there is no number"),
};

static const plugmc_orbitals orbitals = {.size = sizeof orbitals,
                                         .on_device = 1,
                                         .count = formulas_count,
                                         .complex_valued = formulas_complex,
                                         .evaluate = formulas_evaluate};

static const plugmc_potential potential = {.size = sizeof potential};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "test_orbital_edge",
              .summary = "orbitals that are not a number", .reference = "",
              PLUGMC_KEYS(orbital_edge, table), PLUGMC_OFFERS({PLUGMC_ORBITALS, &orbitals}),
              .potential = &potential, .prepare = prepare, .gpu_source = formulas_gpu_source)
