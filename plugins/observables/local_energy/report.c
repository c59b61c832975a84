/* What is reported of local energies: components, their units, and how they differ from the calculation that the orbitals
 * come from. */
#include "local_energy.h"

#include <math.h>
#include <string.h>

enum { UNITS_HARTREE, UNITS_RYDBERG, UNITS_EV };
enum { PER_CELL, PER_ELECTRON, PER_PRIMITIVE_CELL };

static const struct component {
    const char *name, *doc, *in_file, *difference, *difference_doc;
} components[COMPONENTS] = {
    [KINETIC] = {"kinetic", "kinetic energy", "kinetic", "kinetic_less_file",
                 "difference from the calculation of the orbitals"},
    [ELECTRON_ELECTRON] = {"electron_electron", "repulsion of the electrons", NULL, NULL, NULL},
    [LOCAL] = {"local", "ions' charges and local pseudopotentials", "local", "local_less_file",
               "difference from the calculation of the orbitals"},
    [NONLOCAL] = {"nonlocal", "pseudopotentials that depend on the angular momentum", "nonlocal",
                  "nonlocal_less_file", "difference from the calculation of the orbitals"},
    [ION_ION] = {"ion_ion", "repulsion of the ions", "ion-ion", "ion_ion_less_file",
                 "difference from the calculation of the orbitals"},
};

static const char *const unit_words[] = {"hartree", "rydberg", "eV"};

void write_values(const local_energy *le, const double energy[COMPONENTS], double ln_square,
                  double *values)
{
    values[TOTAL] = 0;
    for (int c = 0; c < COMPONENTS; c++) {
        values[1 + c] = le->unit * energy[c];
        values[TOTAL] += values[1 + c];
    }
    values[TOTAL_SQUARED] = values[TOTAL] * values[TOTAL];
    values[DRIFT] = ln_square;
}

int prepare_comparison(local_energy *le, const plugmc_host *host)
{
    const double units[] = {1, 2, 27.211386245988};
    const int32_t cells = le->ions.primitive_cells;
    if (le->set.per == PER_PRIMITIVE_CELL && cells < 1)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "potential '%s' does not give the number of primitive cells of the "
                          "system",
                          le->wave.orbitals->label);
    le->unit = units[le->set.units] / (le->set.per == PER_ELECTRON ? (double)le->system->particles
                                       : le->set.per == PER_PRIMITIVE_CELL ? cells
                                                                           : 1);
    for (int c = 0; c < COMPONENTS; c++) {
        le->compared[c] = NAN;
        for (int32_t i = 0; i < le->ions.energy_count && components[c].in_file &&
                            !le->has_jastrow && !le->wave.sum;
             i++)
            if (!strcmp(le->ions.energy_names[i], components[c].in_file) && cells > 0)
                le->compared[c] = le->ions.energies[i] * cells * le->unit;
    }
    if (!le->set.electron_ion) le->compared[LOCAL] = le->compared[NONLOCAL] = NAN;
    if (!le->kinds) le->compared[NONLOCAL] = NAN;
    if (!le->set.ion_ion) le->compared[ION_ION] = NAN;
    return PLUGMC_OK;
}

int local_energy_quantity(void *instance, int index, plugmc_quantity *out)
{
    const local_energy *le = instance;
    const char *unit = unit_words[le->set.units];
    if (index >= QUANTITIES) return 0;
    if (index == TOTAL) return plugmc_scalar(out, "energy", unit, "local energy");
    if (index == TOTAL_SQUARED) return plugmc_scalar(out, "energy_squared", "", "its square");
    if (index == DRIFT) return plugmc_scalar(out, "drift", "", "error of the updated ln |Psi|^2");
    return plugmc_scalar(out, components[index - 1].name, unit, components[index - 1].doc);
}

/* The component of derived quantity `index`, from 1. */
static int compared_component(const local_energy *le, int index)
{
    for (int c = 0; c < COMPONENTS; c++)
        if (!isnan(le->compared[c]) && --index == 0) return c;
    return -1;
}

int local_energy_derived(void *instance, int index, plugmc_quantity *out)
{
    const local_energy *le = instance;
    const int c = index ? compared_component(le, index) : 0;
    if (c < 0) return 0;
    return index ? plugmc_scalar(out, components[c].difference, unit_words[le->set.units],
                                 components[c].difference_doc)
                 : plugmc_scalar(out, "variance", "", "variance of the local energy");
}

int local_energy_derive(void *instance, const double *means, double *out)
{
    const local_energy *le = instance;
    out[0] = means[TOTAL_SQUARED] - means[TOTAL] * means[TOTAL];
    for (int index = 1, c; (c = compared_component(le, index)) >= 0; index++)
        out[index] = means[1 + c] - le->compared[c];
    return 0;
}
