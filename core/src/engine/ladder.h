/* Temperature, pressure and couplings: what multiplies the parts of -ln p in each walker.
 *
 *     -ln p = sum_t m_t U_t + m_V V + sum_s m_s N_s
 *     m_t = coupling_t / kT, m_V = pressure / kT, m_s = -mu_s / kT = -ln of the activity
 *
 * A ladder gives one of them, or two, other values on each rung, and as many walkers to each rung. */
#ifndef PLUGMC_RUN_LADDER_H
#define PLUGMC_RUN_LADDER_H

#include "input/config.h"
#include "plugmc/everything.h"

enum { LADDER_RANK = 2 }; /* variables at most */

typedef struct ladder {
    int32_t rungs;                 /* 1: there is none */
    int32_t rank;                  /* variables; 0 without a ladder */
    int32_t shape[LADDER_RANK];    /* values of each; of the last one they are next to each other */
    int32_t width;                 /* multipliers of a rung: terms, that of the volume, species */
    const char *keys[LADDER_RANK]; /* "run.temperature", ... */
    double *values;                /* [rungs][rank]; NULL without a ladder */
    int digits[LADDER_RANK];       /* of values in names of rungs */
    double *multipliers;           /* [rungs][width]; those of measured terms are 0 */
    double *temperature;           /* [rungs] kT, in the unit of energy of the potentials */
} ladder;

/* Reads [run] temperature and pressure, [ladder], and the couplings of potentials, whose terms are in
 * the system already; sets temperature and rungs of the system. `walkers`: of all processes. 0 or an exit code,
 * with a message. */
int ladder_build(ladder *, const config *, int32_t walkers, plugmc_system *, report *);
void ladder_free(ladder *);
/* What multiplies the parts of -ln p where these keys ("run.temperature", ...; the same as in [ladder]) have
 * these values and all else is as in the configuration: multipliers [terms + 1 + species] and kT. 0 or an exit
 * code, with a message. */
int ladder_multipliers(const config *, const plugmc_system *, int count, const char *const *keys,
                       const double *values, double *multipliers, double *kT, report *);
/* What is wrong with a key, or NULL. */
const char *ladder_key_refused(const plugmc_system *, const char *key);
/* Behind names of what belongs to a rung: "@0.7", "@0.7@1.2" with two variables, or "" without a ladder. Of equal
 * values the second is "@0.7#2": no two rungs have the same. */
enum { LADDER_SUFFIX = 80 };
const char *ladder_suffix(const ladder *, int32_t rung, char text[LADDER_SUFFIX]);
#endif
