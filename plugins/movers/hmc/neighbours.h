/* What both ways of finding neighbours on the CPU need: by cells (cells.c) and by lists (lists.c). */
#ifndef PLUGMC_HMC_NEIGHBOURS_H
#define PLUGMC_HMC_NEIGHBOURS_H

#include <math.h>

#include "hmc.h"

/* Largest number of cells. */
static inline double most_cells(const hmc *h) { return 4.0 * (double)h->system->particles + 8; }

/* Cells around in one direction, each once. */
static inline int line_around(int32_t cell, int32_t count, int32_t out[3])
{
    if (count < 3) {
        for (int32_t k = 0; k < count; k++) out[k] = k;
        return count;
    }
    for (int32_t k = 0; k < 3; k++) out[k] = (cell + k + count - 1) % count;
    return 3;
}

/* Squared distances of r from n positions, nearest images in a rectangular box. */
static PLUGMC_TARGETS void squares(const double length[3], const double r[3],
                                   const double *restrict x, const double *restrict y,
                                   const double *restrict z, int64_t n, double *restrict out)
{
    const double lx = length[0], ly = length[1], lz = length[2];
    const double px = 1 / lx, py = 1 / ly, pz = 1 / lz, rx = r[0], ry = r[1], rz = r[2];
    for (int64_t k = 0; k < n; k++) {
        double dx = rx - x[k], dy = ry - y[k], dz = rz - z[k];
        dx -= lx * rint(dx * px);
        dy -= ly * rint(dy * py);
        dz -= lz * rint(dz * pz);
        out[k] = dx * dx + dy * dy + dz * dz;
    }
}

#endif
