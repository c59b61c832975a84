/* waves.h: what an energy that is a sum over waves tells a mover that sums them itself.
 *
 *     U = constant + sum_k weight_k |S_k|^2,    S_k = sum_i z_i exp(2 pi i n_k.f_i)
 *
 * with the charges z and the fractional coordinates f (plugmc_box.inverse) of the particles. When a
 * particle moves, S_k changes by z (exp(2 pi i n_k.f') - exp(2 pi i n_k.f)), whoever sums: on a GPU
 * a mover need not come back to the host for each trial move.
 *
 * It is a total facet with a member more; its size and a magic number say that it is there.
 */
#ifndef PLUGMC_WAVES_H
#define PLUGMC_WAVES_H

#include <plugmc/plugin.h>

#define PLUGMC_WAVES_MAGIC 0x45564157u /* "WAVE" */

typedef struct plugmc_waves {
    uint32_t size;
    int64_t count;
    const int32_t (*n)[3]; /* [count] */
    const double *weight;  /* [count] kT */
    double constant;       /* kT, of a configuration */
} plugmc_waves;

typedef struct plugmc_wave_total {
    plugmc_total total;
    uint32_t magic;
    /* After prepare. Arrays live as long as the instance. */
    int (*waves)(const void *instance, plugmc_waves *out);
} plugmc_wave_total;

/* NULL if the potential does not tell. */
static inline const plugmc_wave_total *plugmc_wave_total_of(const plugmc_total *total)
{
    const plugmc_wave_total *more = (const plugmc_wave_total *)total;
    return total && total->size >= sizeof *more && more->magic == PLUGMC_WAVES_MAGIC ? more : NULL;
}

#endif
