/* Boxes of all walkers as a view gives them, where no core is there to keep them: those of the system.
 * A few calls later the memory is used again. */
#ifndef TESTS_BOXES_H
#define TESTS_BOXES_H

#include <stdlib.h>

#include <plugmc/plugin.h>

enum { BOXES_KEPT = 8 };

static inline const plugmc_box *boxes_of(const plugmc_system *system)
{
    static plugmc_box *kept[BOXES_KEPT];
    static int last;
    plugmc_box **boxes = &kept[last++ % BOXES_KEPT];
    *boxes = realloc(*boxes, (size_t)system->walkers * sizeof **boxes);
    for (int32_t w = 0; w < system->walkers; w++) (*boxes)[w] = system->box;
    return *boxes;
}

/* The same in device memory, which the GPU keeps until it is closed. */
static inline const plugmc_box *device_boxes_of(const plugmc_host *host)
{
    const size_t bytes = sizeof(plugmc_box) * (size_t)host->system->walkers;
    plugmc_device_pointer there = 0;
    if (host->gpu->allocate(host->context, bytes, &there) ||
        host->gpu->upload(host->context, there, boxes_of(host->system), bytes))
        return NULL;
    return (const plugmc_box *)(uintptr_t)there;
}

#endif
