/* What the Hamiltonian keeps of macrostates: bias.h works on it. */
#ifndef PLUGMC_ENERGY_MACROSTATES_H
#define PLUGMC_ENERGY_MACROSTATES_H

#include <stdbool.h>

#include "plugmc/everything.h"

/* What is kept of a bin: the columns of plugmc_macrostates.collected, and visits. */
enum { BIAS_COLLECTED = PLUGMC_UP_TRIALS + 1, BIAS_VISITS = BIAS_COLLECTED, BIAS_BOOKS };

typedef struct bias {
    plugmc_macrostates *of; /* NULL: there are no macrostates */
    double *books;          /* [walkers][bins][BIAS_BOOKS]: since they were gathered, on the host */
    bool written;           /* there is something in them */
    double *energy;         /* [walkers]: sum_t m_t U_t as it is, where weights are of energies */
    /* Likewise on the device; 0: never was. */
    plugmc_device_pointer on_device, sums, weight, window, of_count;
    struct plugmc_kernel *gather;
    bool written_on_device;
} bias;
#endif
