/* The step of a mover that displaces particles, as the core sets it. */
#ifndef PLUGMC_DISPLACEMENT_STEP_H
#define PLUGMC_DISPLACEMENT_STEP_H

#include <plugmc/plugin.h>

/* Beyond half of the box a larger step changes nothing. */
static inline int take_step(const plugmc_host *host, double step, real *out)
{
    const plugmc_box *box = &host->system->box;
    double largest = 0;
    for (int d = 0; d < box->dimension; d++) largest = fmax(largest, 0.5 * box->length[d]);
    if (!(step > 0))
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "a step of %g is not possible", step);
    *out = fmin(step, largest);
    return PLUGMC_OK;
}

#endif
