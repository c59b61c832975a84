/* Arrays of several axes as quantities of an observable. */
#ifndef PLUGINS_QUANTITY_AXES_H
#define PLUGINS_QUANTITY_AXES_H

#include <plugmc/everything.h>

/* `rank` axes: how many places each has, what it is called, and where its places are. */
static inline void put_axes(plugmc_quantity *out, int rank, const int64_t count[],
                            const char *const axis[], const double *const places[])
{
    out->rank = rank;
    for (int k = 0; k < rank; k++) {
        out->shape[k] = count[k];
        out->axis[k] = axis[k];
        out->abscissa[k] = places[k];
    }
}

#endif
