/* The reservoir of a species, or of a kind of rigid molecule: one quantity says what it is, and the others follow. With kT and the dimension D,
 *
 *     f = kT z = phi P,    mu = kT ln z,    mu with the de Broglie factor = kT ln(z Lambda^D),
 *
 * z is the activity of the ideal gas, z = N / V, with the orientations of bodies averaged to 1. */
#ifndef PLUGMC_INPUT_RESERVOIR_H
#define PLUGMC_INPUT_RESERVOIR_H

#include "input/config.h"

/* NaN stands for what is not known. */
typedef struct reservoir {
    double mu;          /* kT ln z, energy; NaN: there is no reservoir */
    double activity;    /* z, length^-D */
    double fugacity;    /* f, energy/length^D */
    double wavelength;  /* Lambda, length */
    double with_factor; /* kT ln(z Lambda^D), energy */
    double pressure;    /* P, energy/length^D */
    double coefficient; /* phi */
    double density;     /* of the fluid in the reservoir, length^-3, by Peng and Robinson */
} reservoir;

/* Whose reservoir it is: species number s, or s = species_count + k of the molecules number k. */
const char *reservoir_name(const config *, int32_t owner); /* NAME */
const char *reservoir_section(const config *,
                              int32_t owner); /* "species NAME" or "molecule NAME" */
int reservoir_line(const config *, int32_t owner, const char *key);
/* How many there may be. */
int32_t reservoir_owners(const config *);

/* The key that says what the reservoir is; NULL: none. */
const char *reservoir_key(const config *, int32_t owner);
/* Whether there is one, by a key of its own or on a ladder. */
bool reservoir_is_given(const config *, int32_t owner);
/* Whether the keys go together. Returns 0, or an exit code after a message. */
int reservoir_check(const config *, int32_t owner, report *);
/* At this temperature, energy. `mu`, unless NaN, stands in place of what the section says (a ladder's). NaN if what
 * follows is no number. */
reservoir reservoir_at(const config *, int32_t owner, double kT, double mu);
#endif
