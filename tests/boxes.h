/* Boxes of all walkers as a view gives them, where no core is there to keep them: those of the system.
 * A few calls later the memory is used again. */
#ifndef TESTS_BOXES_H
#define TESTS_BOXES_H

#include <stdlib.h>

#include <plugmc/everything.h>

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

/* Numbers of particles [walkers][species], as plugmc_view wants them. */
static inline const int64_t *numbers_of(const plugmc_system *system)
{
    static int64_t *kept[BOXES_KEPT];
    static int last;
    int64_t **numbers = &kept[last++ % BOXES_KEPT];
    const int32_t species = system->species_count;
    *numbers = realloc(*numbers, (size_t)(system->walkers * species + 1) * sizeof **numbers);
    for (int32_t k = 0; k < system->walkers * species; k++)
        (*numbers)[k] = plugmc_species_at(system, k % species)->count;
    return *numbers;
}

/* The boxes in device memory, which the GPU keeps until it is closed. */
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
