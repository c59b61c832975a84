/* The multipliers in -ln p of each walker, from temperature, pressure, chemical potentials and couplings:
 *
 *     -ln p = sum_t m_t U_t + m_V V + sum_s m_s N_s
 *     m_t = coupling_t / kT, m_V = pressure / kT, m_s = -mu_s / kT = -ln of the activity
 *
 * A ladder varies one or two of them from rung to rung. Each rung has the same number of walkers. */
#ifndef PLUGMC_RUN_LADDER_H
#define PLUGMC_RUN_LADDER_H

#include "input/config.h"
#include "plugmc/everything.h"

/* Largest number of variables. */
enum { LADDER_RANK = 2 };

typedef struct ladder {
    /* 1 without a ladder. */
    int32_t rungs;
    /* Number of variables; 0 without a ladder. */
    int32_t rank;
    /* Number of values of each variable. The last variable varies fastest. */
    int32_t shape[LADDER_RANK];
    /* Multipliers of a rung: one for each term, one for the volume, one for each species. */
    int32_t width;
    /* "run.temperature", ... */
    const char *keys[LADDER_RANK];
    /* [rungs][rank]; NULL without a ladder. */
    double *values;
    /* Digits of the values in names of rungs. */
    int digits[LADDER_RANK];
    /* [rungs][width]. Those of measured terms are 0. */
    double *multipliers;
    /* [rungs]: kT, in the unit of energy of the potentials. */
    double *temperature;
} ladder;

/* Reads [run] temperature and pressure, [ladder], and the couplings of potentials. Their terms must be in the system
 * already. Sets the temperature and the number of rungs of the system. `walkers` is their number in all processes.
 * Returns 0, or an exit code after a message. */
int ladder_build(ladder *, const config *, int32_t walkers, plugmc_system *, report *);
void ladder_free(ladder *);
/* Computes kT and multipliers [terms + 1 + species] for other values of some keys ("run.temperature", ...; the same
 * as in [ladder]). All other keys are as in the configuration. Returns 0, or an exit code after a message. */
int ladder_multipliers(const config *, const plugmc_system *, int count, const char *const *keys,
                       const double *values, double *multipliers, double *kT, report *);
/* Why a key cannot be in a ladder; NULL if it can. */
const char *ladder_key_refused(const plugmc_system *, const char *key);
/* " where hs.coupling = -1", of the values of these keys; nothing without keys. */
enum { LADDER_WHERE = 256 };
const char *ladder_where(int count, const char *const *keys, const double *values,
                         char words[LADDER_WHERE]);
/* A suffix for names that belong to a rung: "@0.7", "@0.7@1.2" with two variables, or "" without a ladder. It is
 * unique: a second rung with the same value has "@0.7#2". */
enum { LADDER_SUFFIX = 80 };
const char *ladder_suffix(const ladder *, int32_t rung, char text[LADDER_SUFFIX]);
#endif
