/* Data of macrostates in the Hamiltonian, for the functions of bias.h. */
#ifndef PLUGMC_ENERGY_MACROSTATES_H
#define PLUGMC_ENERGY_MACROSTATES_H

#include <stdbool.h>

#include "plugmc/everything.h"

/* Counts of a bin: the columns of plugmc_macrostates.collected, and visits. */
enum { BIAS_COLLECTED = PLUGMC_UP_TRIALS + 1, BIAS_VISITS = BIAS_COLLECTED, BIAS_TRANSITIONS };

typedef struct bias {
    /* NULL: there are no macrostates. */
    plugmc_macrostates *of;
    /* [walkers][bins][BIAS_TRANSITIONS]: counts on the host since they were last gathered. */
    double *transitions;
    /* They are not all zero. */
    bool written;
    /* [walkers]: current sum_t m_t U_t, if macrostates are bins of the energy. */
    double *energy;
    /* The same on the device. 0: not allocated. */
    plugmc_device_pointer on_device, sums, weight, window, of_count;
    struct plugmc_kernel *gather;
    bool written_on_device;
} bias;
#endif
