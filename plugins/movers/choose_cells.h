/* The cells in which movers on the CPU look for neighbours. */
#ifndef PLUGMC_CHOOSE_CELLS_H
#define PLUGMC_CHOOSE_CELLS_H

#include <math.h>

#include <plugmc/plugin.h>

/* Cells at least `width` wide, and wider where there would be more than 4 N + 8 of them; one in an
 * oblique box, whose cells would be oblique too. A sphere is cut as the cube [-radius, radius].
 * Returns how many there are in all. */
static inline int64_t choose_cells(const plugmc_system *system, double width, int32_t count[3],
                                   double widths[3])
{
    const plugmc_box *box = &system->box;
    const double most = 4.0 * (double)system->particles + 8;
    double cells;
    if (box->oblique) width = INFINITY;
    do {
        cells = 1;
        for (int d = 0; d < box->dimension; d++) cells *= fmax(1, floor(box->length[d] / width));
        if (cells > most) width *= 1.1;
    } while (cells > most);
    for (int d = 0; d < 3; d++) {
        count[d] = d < box->dimension ? (int32_t)fmax(1, floor(box->length[d] / width)) : 1;
        widths[d] = box->length[d] / count[d];
    }
    return (int64_t)cells;
}

#endif
