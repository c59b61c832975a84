/* walker_boxes: what observables share that follow the boxes of walkers where a mover changes them. */
#ifndef PLUGMC_WALKER_BOXES_H
#define PLUGMC_WALKER_BOXES_H

#include <math.h>

#include <plugmc/everything.h>

static inline int boxes_change(const plugmc_system *system)
{
    return (system->changes & PLUGMC_CHANGED_BOX) != 0;
}

/* For plugmc_gpu_source.defines, of texts that ask FRAMES_DIFFER. */
static inline const char *const *frame_defines(const plugmc_system *system)
{
    static const char *const defines[][2] = {{"FRAMES_DIFFER=0", NULL}, {"FRAMES_DIFFER=1", NULL}};
    return defines[boxes_change(system)];
}

/* Smallest distance of opposite faces of a periodic box. */
static inline double narrowest(const plugmc_box *box)
{
    double least = INFINITY;
    for (int d = 0; d < box->dimension; d++) least = fmin(least, plugmc_height(box, d));
    return least;
}

/* Ends a run in which a box has become so small that a pair within `reach` could meet on two sides. At
 * the start observables see to that themselves. `what` is what reaches so far, in the user's words. */
static inline int check_reach(const plugmc_host *host, const plugmc_view *view, double reach,
                              const char *what)
{
    for (int32_t w = 0; w < host->system->walkers && boxes_change(host->system); w++)
        if (view->box[w].domain == PLUGMC_DOMAIN_PERIODIC && narrowest(&view->box[w]) < 2 * reach)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the box of walker %d has shrunk to a width of %g: %s, %g, "
                              "exceeds half of it",
                              w, narrowest(&view->box[w]), what, reach);
    return PLUGMC_OK;
}

#endif
