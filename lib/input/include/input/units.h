/* [units]: what numbers of the INI file and of the table are told in.
 *
 * Within a run lengths are in the unit of length and energies in the unit of energy that the file names, so
 * nothing is converted but temperatures and pressures where they come in, and pressures where they
 * go out. Without [units] energies are in whatever unit k_B T is given in. */
#ifndef PLUGMC_UNITS_H
#define PLUGMC_UNITS_H

#include <stdbool.h>

#include "input/parameters.h"
#include "base/report.h"

typedef struct units_section { /* [units]; choices in the order of the tables of units.c */
    int32_t length, energy, temperature, pressure;
} units_section;

extern const plugmc_parameter units_table[];
extern const int units_count;

typedef struct units {
    bool given;
    bool atomic;                 /* bohr and hartree */
    const char *length, *energy; /* "angstrom", "kJ/mol"; without [units] "length", "energy" */
    const char *kelvin,
        *pressure;      /* names of the units of temperature and pressure; NULL: those are told
                                      in `energy`, and energy / length^dimension */
    double metre;       /* unit of length; 0 without [units] */
    double kT;          /* energy of k_B times the unit of temperature */
    double of_pressure; /* energy / length^3 of the unit of pressure */
    double of_charges;  /* e^2 / (4 pi epsilon_0), energy length; 0 without [units] */
    double
        of_wavelength; /* h^2 / (2 pi u), energy length^2, u the atomic mass unit; 0 without [units] */
} units;

/* Of a run without [units]: the numbers are those of the file. */
units units_reduced(void);
units units_of(const units_section *);

/* Energy/length^dimension of the unit in which pressures stand in the file. */
double units_of_pressure(const units *, int dimension);

/* The unit `told` by a plugin ("length^-3", "kT/length^3", "energy") in those of the run; the caller frees
 * it. A value of it times *scale is one in the unit returned. kT: of the run in the unit of energy;
 * NaN where walkers differ. */
char *units_words(const units *, const char *told, int dimension, double kT, double *scale);
#endif
