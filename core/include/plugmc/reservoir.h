/* The reservoir of a species, or since 2.1 of a kind of molecule, in all words that the field has for it.
 *
 * A species has a reservoir if [species NAME] gives one of activity, mu, chemical_potential, fugacity and pressure, or a
 * ladder varies its mu. The core derives the other quantities. */
#ifndef PLUGMC_RESERVOIR_H
#define PLUGMC_RESERVOIR_H

#include "plugmc/plugin.h"

/* NaN stands for what is not known. D is the dimension; orientations of bodies are averaged to 1. */
typedef struct plugmc_reservoir {
    uint32_t size;
    double activity;           /* z, length^-D */
    double mu;                 /* kT ln z, energy */
    double fugacity;           /* kT z, energy/length^D */
    double thermal_wavelength; /* Lambda, length */
    double chemical_potential; /* kT ln(z Lambda^D), energy */
    double pressure;           /* energy/length^D; where the section gives it or a critical point */
    double fugacity_coefficient; /* fugacity / pressure */
    /* Density of the fluid in the reservoir by the equation of state of Peng and Robinson, length^-3; where the section
     * gives the critical point. */
    double density;
} plugmc_reservoir;

/* The core's extension, for all plugins, in `prepare` or later. */
#define PLUGMC_RESERVOIRS "plugmc.reservoirs/1"
typedef struct plugmc_reservoirs {
    uint32_t size;
    /* The reservoir of a species on a rung, from 0; since 2.1 with species_count + k of molecules of kind k. The caller sets
     * out->size. Returns 1; 0: it has none. */
    int (*of)(plugmc_context *, int32_t species, int32_t rung, plugmc_reservoir *out);
} plugmc_reservoirs;

/* NULL in a program that does not know reservoirs. */
static inline const plugmc_reservoirs *plugmc_reservoirs_of(const plugmc_host *host)
{
    return (const plugmc_reservoirs *)host->extension(host->context, PLUGMC_RESERVOIRS);
}

#endif
